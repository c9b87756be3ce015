package reload

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/reconcile/record"
	"botd/strategy"
	"botd/strategy/library"
)

// substitute stands in for a strategy, and fails.
type substitute struct{}

func (*substitute) Substitutes() {}

func (*substitute) Warmup() int { return 0 }

func (*substitute) Candle(*strategy.View) {}

func (*substitute) Decide(*strategy.View, *strategy.Plan) { panic("it has not answered") }

// A strategy whose process answers after the start replaces its substitute, which runs until then. The files have not changed.
func TestStrategyThatHasLoadedReplacesItsSubstitute(t *testing.T) {
	t.Parallel()
	signalsBegin()
	for _, requested := range []bool{false, true} {
		if fault := loadsLate(t, requested); fault != "" {
			t.Error(fault)
		}
	}
}

// loadsLate runs a daemon whose strategy answers after the start, and returns what is wrong with its reload; empty for nothing.
func loadsLate(t *testing.T, requested bool) (fault string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var answers bool
		standIn := &substitute{}
		late, _ := strategy.NewRegistry(library.All()...).Find("buy_and_hold")
		create := late.New
		late.Name = "late"
		late.New = func(setting strategy.Setting, values strategy.Values) (strategy.Strategy, error) {
			if answers {
				return create(setting, values)
			}
			return standIn, nil
		}
		directory := t.TempDir()
		put(t, directory, map[string]string{"botd.yaml": demo, "strategies/one.yaml": one,
			"strategies/two.yaml": strings.Replace(two, "buy_and_hold", "late", 1)})
		d := start(t, directory, nil, late)
		defer d.stop()
		_ = d.after(10 * time.Second)
		load := func() string {
			if !requested {
				d.loaded <- struct{}{}
			} else if _, err := d.Reload(t.Context(), false, &record.Audit{Actor: "a person"}); err != nil {
				t.Fatal(err)
			}
			return d.after(10 * time.Second)
		}
		if logged := load(); strings.Contains(logged, "config.strategy_reloaded") || d.position("BTC-USDT") != 0 {
			fault = "want the same substitute left alone, have " + logged
			return
		}
		answers = true
		if logged := load(); strings.Count(logged, "config.strategy_reloaded") != 1 || d.position("BTC-USDT") == 0 {
			fault = "want the strategy alone loaded, and a position, have " + logged
			return
		}
		d.loaded <- struct{}{}
		if logged := d.after(10 * time.Second); logged != "" {
			fault = "want nothing read where no strategy is awaited, have " + logged
		}
	})
	return fault
}
