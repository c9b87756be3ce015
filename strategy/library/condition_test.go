package library

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/strategy"
)

// TestEveryStrategyExplainsItselfWithoutEffect reads each strategy's conditions on every candle of a falling
// and rising price. Reading them changes no decision.
func TestEveryStrategyExplainsItselfWithoutEffect(t *testing.T) {
	t.Parallel()
	symbol := sim.DefaultSymbols()[0]
	setting := strategy.Setting{Market: exchange.Futures, Symbol: symbol, Interval: exchange.Minute1, Size: strategy.Size{Quantity: 10 * symbol.QuantityTick}}
	values := map[string]strategy.Values{
		"twap": {"quantity": "1"}, "grid": {"lower": "40000", "upper": "60000", "quantity": "0.01"},
		"dca":       {"amount": "100", "fall": "0.01", "take_profit": "0.01"},
		"rebalance": {"weight": "0.4"}, "funding_carry": {"quantity": "1"}, "market_making": {"quantity": "0.01", "max_position": "0.1"},
		"avellaneda": {"quantity": "0.01", "max_position": "0.1"},
	}
	for _, definition := range All() {
		t.Run(definition.Name, func(t *testing.T) {
			t.Parallel()
			run := func(ask bool) (plans []strategy.Plan, shown int, names []string) {
				made, err := definition.New(setting, values[definition.Name])
				if err != nil {
					t.Fatal(err)
				}
				view := &strategy.View{Symbol: symbol, Interval: exchange.Minute1, Equity: exchange.AmountOf(10_000), Size: setting.Size,
					Funding: strategy.Funding{Known: true}}
				for i := range 300 {
					price := exchange.Price(50_000+200*((i/7)%13-6)+i) * 1e8
					show(view, exchange.Candle{OpenMS: int64(i) * 60_000, Open: price, High: price + 5e8, Low: price - 5e8, Close: price, Volume: 1})
					view.NowMS, view.Last = int64(i+1)*60_000, price
					made.Candle(view)
					if conditional, is := made.(strategy.Conditional); is && ask {
						for _, c := range conditional.Conditions(view) {
							if shown++; c.Name == "" || c.Value == "" {
								t.Fatalf("candle %d: want a name and a value, have %+v", i, c)
							}
							if i > 200 && strings.Contains(c.Value+c.Requires, "none yet") {
								t.Errorf("candle %d: want figures by now, have %+v", i, c)
							}
							if !slices.Contains(names, c.Name) {
								names = append(names, c.Name)
							}
						}
					}
					var plan strategy.Plan
					made.Decide(view, &plan)
					view.Memory, _ = view.Memory.With(plan.Remembered())
					plans = append(plans, *plan.Clone())
				}
				return plans, shown, names
			}
			quiet, _, _ := run(false)
			asked, shown, names := run(true)
			if definition.Name != "buy_and_hold" && (shown < 300 || len(names) < 1) {
				t.Errorf("want conditions on every candle, have %d of %v", shown, names)
			}
			if diff := cmp.Diff(quiet, asked, cmp.AllowUnexported(strategy.Plan{}, strategy.Memory{}, exchange.Amount{})); diff != "" {
				t.Errorf("plans with and without asking: want the same\n%s", diff)
			}
		})
	}
}

func TestTheConditionOfACrossFollowsTheAverages(t *testing.T) {
	t.Parallel()
	symbol := sim.DefaultSymbols()[0]
	definition, _ := strategy.NewRegistry(All()...).Find("sma_cross")
	made, err := definition.New(strategy.Setting{Market: exchange.Futures, Symbol: symbol, Size: strategy.Size{Quantity: symbol.QuantityTick}},
		strategy.Values{"fast": "1", "slow": "2"})
	if err != nil {
		t.Fatal(err)
	}
	view := &strategy.View{Symbol: symbol}
	for i, c := range []struct {
		close int64
		want  string
		holds bool
	}{{100, "none yet", false}, {110, "above the slow one 105", true}, {90, "above the slow one 100", false}} {
		show(view, exchange.Candle{Close: exchange.Price(c.close * 1e8)})
		made.Candle(view)
		condition := made.(strategy.Conditional).Conditions(view)[0]
		if condition.Requires+condition.Value == "" || !strings.Contains(condition.Requires+condition.Value, c.want) || condition.Met != c.holds {
			t.Errorf("candle %d: want %q, %v; have %+v", i, c.want, c.holds, condition)
		}
	}
}
