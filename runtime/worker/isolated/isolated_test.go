package isolated

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/internal/confine"
	"botd/runtime/engine"
	"botd/runtime/worker"
	"botd/strategy"
	"botd/strategy/script"
)

// TestMain is also the process of a script: it starts this program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		var err error
		switch os.Args[1] {
		case confine.Verb:
			err = confine.Enter(os.Args[2:])
		case Verb:
			err = Serve()
		default:
			os.Exit(m.Run())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const crosses = `
quick = ema(close, 12)
steady = ema(close, 26)
def decide(view):
    if cross_above(quick, steady):
        return hold("long", reason="crossed above")
    if cross_below(quick, steady):
        return hold("short", reason="crossed below")
`

func setting(t testing.TB) strategy.Setting {
	t.Helper()
	symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Futures, Name: "BTC-USDT", Base: "BTC", Quote: "USDT",
		PriceTick: decimal.RequireFromString("0.1"), QuantityTick: decimal.RequireFromString("0.001"), MinNotional: decimal.NewFromInt(5),
		MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true})
	if err != nil {
		t.Fatal(err)
	}
	return strategy.Setting{Market: exchange.Futures, Symbol: symbol, Interval: exchange.Minute1, Size: strategy.Size{Equity: exchange.RateOne}}
}

// market is a market that moves up and down.
type market struct {
	setting strategy.Setting
	candles exchange.Candles
}

// next closes a candle, and requests a decision on it.
func (m *market) next() strategy.Task {
	i := m.candles.Len()
	at := exchange.Price(600_000+300*(i%97)-250*(i%61)) * m.setting.Symbol.PriceTick
	m.candles.Append(exchange.Candle{OpenMS: int64(i+1) * 60_000, Open: at, High: at + 9, Low: at - 9, Close: at, Volume: 1})
	view := strategy.View{Symbol: m.setting.Symbol, Interval: exchange.Minute1, Size: m.setting.Size, Last: at, Version: 1,
		Equity: exchange.MustAmount("10000")}
	return strategy.Task{Candles: m.candles, From: i, To: i + 1, Each: i + 1, AtMS: int64(i+2) * 60_000, Fresh: i == 0, View: view, Before: view}
}

// here and there are the same script, in this process and in a separate one.
func here(t testing.TB, place strategy.Setting) strategy.Strategy {
	t.Helper()
	compiled, err := script.Compile("crosses.star", []byte(crosses))
	if err != nil {
		t.Fatal(err)
	}
	return made(t, compiled.Definition(), place)
}

func there(t testing.TB, place strategy.Setting) strategy.Strategy {
	t.Helper()
	definition, err := new(Processes).Script(&strategy.Source{File: "crosses.star", Text: []byte(crosses)})
	if err != nil {
		t.Fatal(err)
	}
	s := made(t, definition, place)
	t.Cleanup(func() { s.(worker.Process).Kill("the test is over") })
	return s
}

func made(t testing.TB, definition strategy.Definition, place strategy.Setting) strategy.Strategy {
	t.Helper()
	s, err := definition.New(place, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestIsolatedScriptDecidesTheSame(t *testing.T) {
	t.Parallel()
	place := setting(t)
	one, two, reasons := here(t, place), there(t, place), map[string]int{}
	m := market{setting: place, candles: exchange.Candles{Interval: exchange.Minute1}}
	for i := range 500 {
		task := m.next()
		again := task
		want, have := task.Perform(one), again.Perform(two)
		if want.Plan.Reason != have.Plan.Reason || want.Plan.Target != have.Plan.Target || have.Lost != "" || have.Failure != "" {
			t.Fatalf("candle %d: want %+v, have %+v", i, want, have)
		}
		reasons[have.Plan.Reason]++
	}
	if len(reasons) < 2 {
		t.Errorf("want it to decide something, have %v", reasons)
	}
}

// BenchmarkDecision measures a decision on one new candle as the daemon requests it, alternating between this
// process and a separate one: the difference is the cost of the process.
func BenchmarkDecision(b *testing.B) {
	place := setting(b)
	strategies := []strategy.Strategy{here(b, place), there(b, place)}
	var (
		pool worker.Pool
		took [2][]time.Duration
		done = make(chan strategy.Result)
		m    = market{setting: place, candles: exchange.Candles{Interval: exchange.Minute1}}
	)
	for b.Loop() {
		task := m.next()
		for i, s := range strategies {
			began := time.Now()
			pool.Put(&engine.Ask{ID: int64(i + 1), Name: fmt.Sprint(i), Strategy: s, Task: task}, func(r strategy.Result) { done <- r })
			if r := <-done; r.Lost != "" || r.Failure != "" {
				b.Fatal(r.Lost, r.Failure)
			}
			took[i] = append(took[i], time.Since(began))
		}
	}
	for i, name := range []string{"here", "there"} {
		slices.Sort(took[i])
		for part, share := range map[string]int{"p50": 50, "p90": 90} {
			b.ReportMetric(float64(took[i][len(took[i])*share/100].Nanoseconds())/1e3, name+"-"+part+"-us")
		}
	}
	b.ReportMetric(float64((took[1][len(took[1])/2]-took[0][len(took[0])/2]).Nanoseconds())/1e3, "difference-p50-us")
}
