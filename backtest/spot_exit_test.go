package backtest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
	"botd/strategy/overlay"
	"botd/strategy/script"
)

// Spot reports none, but the paid price is known. Each rule ends two trips. The second one counts from its
// own entry although the fee of the first left dust.
func TestExitRulesKnowTheEntryPriceOnBothMarkets(t *testing.T) {
	t.Parallel()
	const percent = exchange.RateOne / 100
	for _, c := range []struct {
		name, rows string
		rules      overlay.Exit
		want       []string
	}{
		{
			"returns rest at 2 % beyond the entry", `
			100 100 100 100
			100 100 100 100
			100 103 100 103
			103 103 103 103
			200 200 200 200
			200 203 200 203
			203 205 203 205
			205 205 205 205`,
			overlay.Exit{Returns: []overlay.Return{{AgeMS: 0, Profit: 2 * percent}}},
			[]string{"102", "204"},
		},
		{
			"a take-profit of 2 %, with a stop that is not met", `
			100 100 100 100
			100 100 100 100
			100 102 100 102
			102 102 102 102
			200 200 200 200
			200 204 200 204
			204 204 204 204
			204 204 204 204`,
			overlay.Exit{Base: strategy.Protection{Set: true, TakeProfit: strategy.Distance{Share: 2 * percent},
				StopLoss: strategy.Distance{Share: 5 * percent}}},
			[]string{"102", "204"},
		},
		{
			"a take-profit of 2 %", `
			100 100 100 100
			100 100 100 100
			100 103 100 103
			103 103 103 103
			200 200 200 200
			200 205 200 205
			205 205 205 205
			205 205 205 205`,
			overlay.Exit{Base: strategy.Protection{Set: true, TakeProfit: strategy.Distance{Share: 2 * percent}}},
			[]string{"102", "204"},
		},
		{
			"the stop trails 1 % behind, from 2 % on", `
			100 100 100 100
			100 100 100 100
			100 110 100 110
			110 110 105 105
			200 200 200 200
			200 220 200 220
			220 220 200 200
			200 200 200 200`,
			overlay.Exit{Trailing: overlay.Trailing{Distance: percent, After: 2 * percent}},
			[]string{"108.9", "217.8"},
		},
	} {
		for _, run := range []struct {
			market         exchange.Market
			step, quantity string
		}{
			{exchange.Futures, "0.00001", "9.87654"},
			{exchange.Spot, "0.00001", "9.87654"}, // the fee leaves dust
			{exchange.Spot, "0.001", "10"},        // the fee is ten steps, and nothing is left
		} {
			t.Run(fmt.Sprint(c.name, " ", run), func(t *testing.T) {
				t.Parallel()
				market := run.market
				symbol := symbol(t, market, "0.1", run.step)
				config := caseConfig(candlesOf(t, symbol, exchange.Hour1, midnight, c.rows), &scripted{})
				leg := &config.Legs[0].Strategy
				leg.Protection = c.rules.Base
				rules := c.rules
				rules.SellsProfit = market == exchange.Spot && !rules.Base.TakeProfit.IsZero()
				targets := hold(t, symbol, strings.ReplaceAll("Q . . 0 Q . . .", "Q", run.quantity))
				leg.Strategy = overlay.Wrap(&scripted{targets: targets}, overlay.TradeSettings{Exit: rules})
				result := mustRun(t, config)
				have := []string{}
				for _, trip := range result.Trips {
					have = append(have, trip.Exit)
				}
				if !slices.Equal(have, c.want) {
					t.Errorf("want exits at %q, have %q: %+v", c.want, have, result.Executions)
				}
			})
		}
	}
}

// The script takes its profit 2 % above the entry price.
func TestAScriptSeesTheEntryPriceOnBothMarkets(t *testing.T) {
	t.Parallel()
	const text = `
def decide(view):
    if view.position == 0:
        return hold("long") if close < 103 else None
    return hold("flat") if view.last > view.entry_price * 1.02 else None
`
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		symbol := symbol(t, market, "0.1", "0.00001")
		recorded := candlesOf(t, symbol, exchange.Hour1, midnight, `
			100 100 100 100
			100 101 100 101
			101 102 101 102
			102 103 102 103
			103 103 103 103`)
		compiled, err := script.Compile("entry.star", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		setting := strategy.Setting{Market: market, Symbol: symbol, Interval: exchange.Hour1, Size: strategy.Size{Equity: exchange.RateOne / 2}}
		made, err := compiled.Definition().New(setting, nil)
		if err != nil {
			t.Fatal(err)
		}
		config := caseConfig(recorded, nil)
		config.Legs[0].Strategy.Strategy = made
		if result := mustRun(t, config); len(result.Trips) != 1 || result.Trips[0].Exit != "103" {
			t.Errorf("%s: want one trip that ends at 103, have %+v", market, result.Executions)
		}
	}
}

// Spot has no take-profit orders, so a sale rests at its price. Next to a stop, which holds the asset, a decision
// sells.
func TestAScriptsOwnTakeProfitSellsOnSpot(t *testing.T) {
	t.Parallel()
	const rows = `
		100 100 100 100
		100 101 100 101
		101 105 101 105
		105 105 104 104
		104 104 104 104
		104 104 104 104`
	for _, c := range []struct{ name, plan, exit string }{
		{"a share of the entry price", `take_profit = "3%"`, "103"},
		{"a price", `take_profit = 104`, "104"},
		{"beside a stop, at the close that finds it", `take_profit = "3%", stop_loss = "5%"`, "105"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			symbol := symbol(t, exchange.Spot, "0.1", "0.001")
			compiled, err := script.Compile("own.star",
				[]byte("def decide(view):\n    return plan(target = quantity(10), "+c.plan+") if close < 101 else None\n"))
			if err != nil {
				t.Fatal(err)
			}
			made, err := compiled.Definition().New(strategy.Setting{Market: exchange.Spot, Symbol: symbol, Interval: exchange.Hour1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			config := caseConfig(candlesOf(t, symbol, exchange.Hour1, midnight, rows), nil)
			config.Legs[0].Strategy.Strategy = overlay.Wrap(made, overlay.TradeSettings{Exit: overlay.Exit{SellsProfit: strategy.TakesProfit(made)}})
			if result := mustRun(t, config); len(result.Trips) != 1 || result.Trips[0].Exit != c.exit {
				t.Errorf("want one trip that ends at %s, have %+v", c.exit, result.Executions)
			}
		})
	}
}
