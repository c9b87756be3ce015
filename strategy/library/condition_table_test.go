package library

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/exchange"
	"botd/strategy"
)

// shownMS is 2001-09-09 01:46:40 UTC.
const shownMS = 1_000_000_000_000

// conditionRow is what one strategy shows of a view: "name: value", and for a requirement " | what" and " | met" or " | not met".
type conditionRow struct {
	name   string
	with   strategy.Values // in addition to the strategy's
	fees   strategy.Fees
	memory map[string]int64
	last   float64
	view   func(v *strategy.View)
	want   []string
}

// The lines are compared at the bounds of each comparison.
func TestStrategyConditions(t *testing.T) {
	t.Parallel()
	none := map[string]int64(nil)
	quoted := strategy.Values{"quantity": "0.1", "max_position": "1", "refresh": "30s", "tolerance": "0.05%", "filled_delay": "10s"}
	holds := func(quantity exchange.Quantity, entry int64) func(v *strategy.View) {
		return func(v *strategy.View) {
			v.Position = strategy.Position{Quantity: quantity, EntryPrice: exchange.AmountOf(entry)}
		}
	}
	for _, of := range []struct {
		strategy string
		values   strategy.Values
		rows     []conditionRow
	}{
		{"twap", strategy.Values{"quantity": "0.1", "slices": "4", "every": "1m"}, []conditionRow{
			{"before the first tick", nil, strategy.Fees{}, none, 1000, nil, []string{"began: not yet: the first slice is due at the first tick"}},
			{"at its start", nil, strategy.Fees{}, map[string]int64{began: shownMS}, 1000, nil, []string{
				"began: 2001-09-09 01:46:40", "slices due: 1 | of 4 | met", "next slice: 2001-09-09 01:47:40"}},
			{"just before the second", nil, strategy.Fees{}, map[string]int64{began: shownMS - 59_999}, 1000, nil, []string{
				"began: 2001-09-09 01:45:40", "slices due: 1 | of 4 | met", "next slice: 2001-09-09 01:46:40"}},
			{"at the second", nil, strategy.Fees{}, map[string]int64{began: shownMS - 60_000}, 1000, nil, []string{
				"began: 2001-09-09 01:45:40", "slices due: 2 | of 4 | met", "next slice: 2001-09-09 01:47:40"}},
			{"a clock that was set back", nil, strategy.Fees{}, map[string]int64{began: shownMS + 5_000}, 1000, nil, []string{
				"began: 2001-09-09 01:46:45", "slices due: 0 | of 4 | not met", "next slice: 2001-09-09 01:46:45"}},
			{"at the last", nil, strategy.Fees{}, map[string]int64{began: shownMS - 180_000}, 1000, nil, []string{
				"began: 2001-09-09 01:43:40", "slices due: 4 | of 4 | met"}},
			{"at its price bound", strategy.Values{"price_bound": "1000"}, strategy.Fees{}, map[string]int64{began: shownMS - 180_000}, 1000, nil, []string{
				"began: 2001-09-09 01:43:40", "slices due: 4 | of 4 | met", "price: 1000 | within price_bound 1000 | met"}},
			{"beyond it", strategy.Values{"price_bound": "1000"}, strategy.Fees{}, map[string]int64{began: shownMS - 180_000}, 1000.1, nil, []string{
				"began: 2001-09-09 01:43:40", "slices due: 4 | of 4 | met", "price: 1000.1 | within price_bound 1000 | not met"}},
		}},
		{"dca", strategy.Values{"amount": "100", "every": "1h"}, []conditionRow{
			{"before the first tick", nil, strategy.Fees{}, none, 1000, nil, []string{"began: not yet: the first buy is due at the first tick"}},
			{"at its start", nil, strategy.Fees{}, map[string]int64{dcaBegan: shownMS}, 1000, nil, []string{
				"scheduled buys due: 1 | above the buys made, 0 | met", "next scheduled buy: 2001-09-09 02:46:40"}},
			{"when it has bought", nil, strategy.Fees{}, map[string]int64{dcaBegan: shownMS, dcaBought: 1}, 1000, nil, []string{
				"scheduled buys due: 1 | above the buys made, 1 | not met", "next scheduled buy: 2001-09-09 02:46:40"}},
			{"three hours later", nil, strategy.Fees{}, map[string]int64{dcaBegan: shownMS - 3*3_600_000, dcaBought: 3}, 1000, nil, []string{
				"scheduled buys due: 4 | above the buys made, 3 | met", "next scheduled buy: 2001-09-09 02:46:40"}},
			{"a clock that was set back", nil, strategy.Fees{}, map[string]int64{dcaBegan: shownMS + 5_000}, 1000, nil, []string{
				"scheduled buys due: 1 | above the buys made, 0 | met", "next scheduled buy: 2001-09-09 02:46:45"}},
			{"of two, both made", strategy.Values{"buys": "2"}, strategy.Fees{},
				map[string]int64{dcaBegan: shownMS - 3*3_600_000, dcaBought: 2}, 1000, nil, []string{
					"scheduled buys due: 2 | above the buys made, 2 | not met", "next scheduled buy: 2001-09-09 02:46:40"}},
			{"of one, made", strategy.Values{"buys": "1"}, strategy.Fees{}, map[string]int64{dcaBegan: shownMS - 3*3_600_000, dcaBought: 1}, 1000, nil,
				[]string{
					"scheduled buys due: 1 | above the buys made, 1 | not met", "next scheduled buy: 2001-09-09 02:46:40"}},
			{"without buys on dips", nil, strategy.Fees{}, map[string]int64{dcaBegan: shownMS, dcaPrice: 1000e8}, 900, nil, []string{
				"scheduled buys due: 1 | above the buys made, 0 | met", "next scheduled buy: 2001-09-09 02:46:40"}},
			{"fallen by a very small share", strategy.Values{"fall": "0.00000001"}, strategy.Fees{}, map[string]int64{dcaBegan: shownMS, dcaPrice: 1000e8},
				1000,
				nil, []string{"scheduled buys due: 1 | above the buys made, 0 | met", "next scheduled buy: 2001-09-09 02:46:40",
					"price: 1000 | at or below 999.99999 for a buy on a dip | not met"}},
			{"fallen by its share", strategy.Values{"fall": "10%", "falls": "1"}, strategy.Fees{},
				map[string]int64{dcaBegan: shownMS, dcaPrice: 1000e8}, 900, nil, []string{
					"scheduled buys due: 1 | above the buys made, 0 | met", "next scheduled buy: 2001-09-09 02:46:40",
					"price: 900 | at or below 900 for a buy on a dip | met"}},
			{"not quite", strategy.Values{"fall": "10%", "falls": "1"}, strategy.Fees{},
				map[string]int64{dcaBegan: shownMS, dcaPrice: 1000e8}, 900.1, nil, []string{
					"scheduled buys due: 1 | above the buys made, 0 | met", "next scheduled buy: 2001-09-09 02:46:40",
					"price: 900.1 | at or below 900 for a buy on a dip | not met"}},
			{"all buys on dips made", strategy.Values{"fall": "10%", "falls": "1"}, strategy.Fees{},
				map[string]int64{dcaBegan: shownMS, dcaPrice: 1000e8, dcaFallen: 1}, 900, nil, []string{
					"scheduled buys due: 1 | above the buys made, 0 | met", "next scheduled buy: 2001-09-09 02:46:40",
					"price: 900 | at or below 900 for a buy on a dip | not met"}},
			{"nothing bought that could have fallen", strategy.Values{"fall": "10%"}, strategy.Fees{}, map[string]int64{dcaBegan: shownMS}, 900, nil, []string{
				"scheduled buys due: 1 | above the buys made, 0 | met", "next scheduled buy: 2001-09-09 02:46:40"}},
			{"at its take-profit", strategy.Values{"take_profit": "5%"}, strategy.Fees{}, map[string]int64{dcaBegan: shownMS, dcaQuantity: 100}, 1050,
				holds(100, 1000), []string{"scheduled buys due: 1 | above the buys made, 0 | met", "next scheduled buy: 2001-09-09 02:46:40",
					"price: 1050 | at or above 1050 to sell all | met"}},
			{"at a very small take-profit of the smallest quantity", strategy.Values{"take_profit": "0.00000001"}, strategy.Fees{},
				map[string]int64{dcaBegan: shownMS, dcaQuantity: 1}, 1000, holds(1, 1000), []string{
					"scheduled buys due: 1 | above the buys made, 0 | met", "next scheduled buy: 2001-09-09 02:46:40",
					"price: 1000 | at or above 1000.00001 to sell all | not met"}},
			{"at its take-profit, before the fees of both ways", strategy.Values{"take_profit": "5%"}, strategy.Fees{Taker: exchange.RateOne / 1000},
				map[string]int64{dcaBegan: shownMS, dcaQuantity: 100}, 1051.9, holds(100, 1000), []string{
					"scheduled buys due: 1 | above the buys made, 0 | met", "next scheduled buy: 2001-09-09 02:46:40",
					"price: 1051.9 | at or above 1052 to sell all | not met"}},
			{"with a take-profit, and nothing held", strategy.Values{"take_profit": "5%"}, strategy.Fees{}, map[string]int64{dcaBegan: shownMS}, 1050, nil,
				[]string{"scheduled buys due: 1 | above the buys made, 0 | met", "next scheduled buy: 2001-09-09 02:46:40"}},
			{"without one, and something held", nil, strategy.Fees{}, map[string]int64{dcaBegan: shownMS, dcaQuantity: 100}, 1050, holds(100, 1000),
				[]string{"scheduled buys due: 1 | above the buys made, 0 | met", "next scheduled buy: 2001-09-09 02:46:40"}},
		}},
		{"rebalance", strategy.Values{"weight": "40%", "band": "5%"}, []conditionRow{
			{"no equity", nil, strategy.Fees{}, none, 1000, func(v *strategy.View) { v.Equity = exchange.Amount{} }, []string{
				"share held: none yet: no equity or no price"}},
			{"no price", nil, strategy.Fees{}, none, 0, nil, []string{"share held: none yet: no equity or no price"}},
			{"half", nil, strategy.Fees{}, none, 1000, holds(5_000, 0), []string{"share held: 50.00 % | more than 5.00 % away from 40.00 % | met"}},
			{"within its band", nil, strategy.Fees{}, none, 1000, holds(4_400, 0),
				[]string{"share held: 44.00 % | more than 5.00 % away from 40.00 % | not met"}},
			{"too little", nil, strategy.Fees{}, none, 1000, holds(3_400, 0), []string{"share held: 34.00 % | more than 5.00 % away from 40.00 % | met"}},
			{"at its band", strategy.Values{"weight": "50%", "band": "25%"}, strategy.Fees{}, none, 1000, holds(7_500, 0), []string{
				"share held: 75.00 % | more than 25.00 % away from 50.00 % | not met"}},
			{"nothing", nil, strategy.Fees{}, none, 1000, nil, []string{"share held: 0.00 % | more than 5.00 % away from 40.00 % | met"}},
		}},
		{"grid", strategy.Values{"lower": "100", "upper": "140", "lines": "5", "quantity": "0.1"}, []conditionRow{
			{"at its lowest line, with nothing", nil, strategy.Fees{}, none, 100, nil, gridShows("100", true, 0, false, "0", "0")},
			{"below it", nil, strategy.Fees{}, none, 99.9, nil, gridShows("99.9", false, 0, false, "0", "0")},
			{"at its highest line", nil, strategy.Fees{}, none, 140, nil, gridShows("140", true, 0, false, "0", "0")},
			{"above it", nil, strategy.Fees{}, none, 140.1, nil, gridShows("140.1", false, 0, false, "0", "0")},
			{"with two lines and a profit", nil, strategy.Fees{}, map[string]int64{heldKeys[0]: 0b1010, gridPairs: 7, gridProfit: 123_450_000}, 115, nil,
				gridShows("115", true, 2, false, "7", "1.2345")},
			{"with one line", nil, strategy.Fees{}, map[string]int64{heldKeys[0]: 0b0100}, 115, nil, []string{"price: 115 | between 100 and 140 | met",
				"lines held: 1 | of 4 | met", "resting after a stop: false | false | met", "closed pairs: 0", "profit of the pairs after fees: 0 USDT"}},
			{"after a stop", nil, strategy.Fees{}, map[string]int64{gridStopped: 1}, 115, nil, gridShows("115", true, 0, true, "0", "0")},
			{"of two hundred lines", strategy.Values{"lines": "201"}, strategy.Fees{}, map[string]int64{heldKeys[0]: 1 << 61, heldKeys[1]: 0b11,
				heldKeys[3]: 0b101},
				115, nil, []string{"price: 115 | between 100 and 140 | met", "lines held: 5 | of 200 | met", "resting after a stop: false | false | met",
					"closed pairs: 0", "profit of the pairs after fees: 0 USDT"}},
		}},
		{"market_making", quoted, []conditionRow{
			{"before the first tick", nil, strategy.Fees{}, none, 1000, nil, []string{"quotes: none yet: computed at the next tick"}},
			{"old enough, and moved by the tolerance", nil, strategy.Fees{}, map[string]int64{"center": 1000e8, "at": shownMS - 30_000}, 1000.5, nil, []string{
				"age of the quotes: 30s | at least 30s | met", "mid price has moved: 0.0500 % | more than 0.0500 % | not met"}},
			{"too young, and moved by more", nil, strategy.Fees{}, map[string]int64{"center": 1000e8, "at": shownMS - 29_999}, 999.4, nil, []string{
				"age of the quotes: 29.999s | at least 30s | not met", "mid price has moved: 0.0600 % | more than 0.0500 % | met"}},
			{"a fill long enough ago", nil, strategy.Fees{}, map[string]int64{"center": 1000e8, "at": shownMS, "filled": shownMS - 10_000}, 1000, nil, []string{
				"age of the quotes: 0s | at least 30s | not met", "mid price has moved: 0.0000 % | more than 0.0500 % | not met",
				"since the first fill: 10s | at least 10s | met"}},
			{"a fill a moment ago", nil, strategy.Fees{}, map[string]int64{"center": 1000e8, "at": shownMS, "filled": shownMS - 9_999}, 1000, nil, []string{
				"age of the quotes: 0s | at least 30s | not met", "mid price has moved: 0.0000 % | more than 0.0500 % | not met",
				"since the first fill: 9.999s | at least 10s | not met"}},
		}},
		{"signal", strategy.Values{}, []conditionRow{
			{"before one", nil, strategy.Fees{}, none, 1000, nil, []string{"last signal: no signal yet"}},
			{"one in force", nil, strategy.Fees{}, map[string]int64{signalSide: 1, signalShare: int64(exchange.RateOne) / 2, signalAt: shownMS}, 1000, nil,
				[]string{"last signal: long, 0.5 of the size, 2001-09-09 01:46:40 |  | met"}},
			{"a short one until a time", nil, strategy.Fees{},
				map[string]int64{signalSide: -1, signalShare: int64(exchange.RateOne), signalAt: shownMS - 60_000,
					signalExpires: shownMS + 1}, 1000, nil,
				[]string{"last signal: short, 1 of the size, 2001-09-09 01:45:40 | until 2001-09-09 01:46:40 | met"}},
			{"one that has expired", nil, strategy.Fees{}, map[string]int64{signalSide: 0, signalShare: int64(exchange.RateOne), signalAt: shownMS - 60_000,
				signalExpires: shownMS}, 1000, nil, []string{"last signal: flat, 1 of the size, 2001-09-09 01:45:40 | until 2001-09-09 01:46:40 | not met"}},
		}},
		{"funding_carry", strategy.Values{"quantity": "0.1", "enter": "0.01%", "leave": "0%"}, []conditionRow{
			{"nothing is known", nil, strategy.Fees{}, none, 1000, nil, []string{
				"funding rate: none yet | at least 0.0001 to enter, 0 to stay | not met",
				"the other leg: not known | as large as this one, on the other side | not met"}},
			{"the rate is enough", nil, strategy.Fees{}, none, 1000, func(v *strategy.View) {
				v.Funding = strategy.Funding{Known: true, Rate: exchange.RateOne / 10_000}
				v.Pair = strategy.Pair{Known: true, Symbol: v.Symbol, Position: 100}
				v.Position.Quantity = -50
			}, []string{"funding rate: 0.0001 | at least 0.0001 to enter, 0 to stay | met",
				"the other leg: 0.1 beside -0.05 | as large as this one, on the other side | met"}},
			{"the rate is not enough", nil, strategy.Fees{}, none, 1000, func(v *strategy.View) {
				v.Funding = strategy.Funding{Known: true, Rate: exchange.RateOne/10_000 - 1}
			}, []string{"funding rate: 0.00009999 | at least 0.0001 to enter, 0 to stay | not met",
				"the other leg: not known | as large as this one, on the other side | not met"}},
		}},
	} {
		for _, row := range of.rows {
			t.Run(of.strategy+", "+row.name, func(t *testing.T) {
				t.Parallel()
				made := setting(t, exchange.Futures)
				made.Fees, made.Size = row.fees, strategy.Size{Quantity: 10}
				values := strategy.Values{}
				for _, some := range []strategy.Values{of.values, row.with} {
					for name, value := range some {
						values[name] = value
					}
				}
				definition, _ := strategy.NewRegistry(All()...).Find(of.strategy)
				s, err := definition.New(made, values)
				if err != nil {
					t.Fatal(err)
				}
				var entries []strategy.MemoryVariable
				for key, value := range row.memory {
					entries = append(entries, strategy.MemoryVariable{Key: key, Value: value})
				}
				slices.SortFunc(entries, func(a, b strategy.MemoryVariable) int { return strings.Compare(a.Key, b.Key) })
				view := strategy.View{Symbol: made.Symbol, NowMS: shownMS, Last: exchange.Price(row.last*10+0.5) * 1e7, Equity: exchange.AmountOf(10_000),
					Memory: strategy.MemoryOf(entries...)}
				if row.view != nil {
					row.view(&view)
				}
				if diff := cmp.Diff(row.want, conditionLines(s, &view)); diff != "" {
					t.Errorf("-want +have\n%s", diff)
				}
			})
		}
	}
}

// gridShows returns the lines of a grid of five lines from 100 to 140.
func gridShows(price string, within bool, held int, stopped bool, pairs, profit string) []string {
	met := map[bool]string{true: " | met", false: " | not met"}
	lines := map[int]string{0: "lines held: 0 | of 4 | not met", 2: "lines held: 2 | of 4 | met"}[held]
	rests := map[bool]string{true: "resting after a stop: true | false | not met", false: "resting after a stop: false | false | met"}[stopped]
	return []string{"price: " + price + " | between 100 and 140" + met[within], lines, rests, "closed pairs: " + pairs,
		"profit of the pairs after fees: " + profit + " USDT"}
}

// conditionLines returns what a strategy shows of a view.
func conditionLines(s strategy.Strategy, view *strategy.View) (lines []string) {
	for _, c := range s.(strategy.Conditional).Conditions(view) {
		line := c.Name + ": " + c.Value
		switch {
		case c.Met:
			line += " | " + c.Requires + " | met"
		case c.Requires != "":
			line += " | " + c.Requires + " | not met"
		}
		lines = append(lines, line)
	}
	return lines
}

// The conditions show the newest figures, what each is compared with, and the last requested side.
func TestCandleSignalConditions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		strategy string
		values   strategy.Values
		closes   []float64 // one candle each, with this price alone
		want     []string
	}{
		{"sma_cross", strategy.Values{"fast": "1", "slow": "2"}, []float64{100}, []string{"slow average: none yet"}},
		{"sma_cross", strategy.Values{"fast": "1", "slow": "2"}, []float64{100, 110}, []string{
			"fast average: 110 | above the slow one 105 | met", "crossed last: not yet | above | not met"}},
		{"sma_cross", strategy.Values{"fast": "1", "slow": "2"}, []float64{100, 110, 90}, []string{
			"fast average: 90 | above the slow one 100 | not met", "crossed last: below | above | not met"}},
		{"sma_cross", strategy.Values{"fast": "1", "slow": "2"}, []float64{100, 110, 90, 95}, []string{
			"fast average: 95 | above the slow one 92.5 | met", "crossed last: above | above | met"}},
		{"sma_cross", strategy.Values{"fast": "1", "slow": "2"}, []float64{100, 110, 90, 95, 95}, []string{
			"fast average: 95 | above the slow one 95 | not met", "crossed last: above | above | met"}},
		{"rsi", strategy.Values{"period": "2"}, []float64{100, 110},
			[]string{"RSI: none yet | below low 30 | not met", "RSI: none yet | above high 70 | not met",
				"bound crossed last: neither yet | below low | not met"}},
		{"rsi", strategy.Values{"period": "2"}, []float64{100, 110, 120}, []string{"RSI: 100 | below low 30 | not met", "RSI: 100 | above high 70 | met",
			"bound crossed last: above high | below low | not met"}},
		{"rsi", strategy.Values{"period": "2"}, []float64{100, 90, 80}, []string{"RSI: 0 | below low 30 | met", "RSI: 0 | above high 70 | not met",
			"bound crossed last: below low | below low | met"}},
		{"ema_cross", strategy.Values{"fast": "1", "slow": "3"}, []float64{100, 100}, []string{"fast average: 100 | above the slow one none yet | not met",
			"last target: nothing yet: waits for a change of side"}},
		{"ema_cross", strategy.Values{"fast": "1", "slow": "3"}, []float64{100, 100, 100, 112}, []string{ // 100, then half the way to 112
			"fast average: 112 | above the slow one 106 | met", "last target: long"}},
		{"macd", strategy.Values{"fast": "2", "slow": "3", "signal": "3"}, []float64{100, 100, 100, 100}, []string{
			"MACD: none yet | above its signal none yet | not met", "last target: nothing yet: waits for a change of side"}},
		// The fast average moves two thirds of the way to 112, the slow one half of it: 108 less 106. Its signal moves half of the way from
		// 0 to 2.
		{"macd", strategy.Values{"fast": "2", "slow": "3", "signal": "3"}, []float64{100, 100, 100, 100, 100, 112}, []string{
			"MACD: 2 | above its signal 1 | met", "last target: long"}},
		// The close of 90 is below 110, the lower band after 120; the upper band was 120 since 110.
		{"supertrend", strategy.Values{"period": "1", "multiplier": "1", "mode": "long_short"}, []float64{100, 110, 120, 90}, []string{
			"close: 90 | above the trend line 120 | not met", "last target: short"}},
		{"bollinger", strategy.Values{"period": "2", "deviations": "0.5", "mode": "long_short"}, []float64{90}, []string{
			"close: none yet | below the lower band none yet | not met", "close: none yet | above the upper band none yet | not met", "mean: none yet",
			"last target: nothing yet: waits for a change of side"}},
		{"bollinger", strategy.Values{"period": "2", "deviations": "0.5", "mode": "long_short"}, []float64{90, 110}, []string{
			"close: 110 | below the lower band 95 | not met", "close: 110 | above the upper band 105 | met", "mean: 100", "last target: short"}},
		{"zscore", strategy.Values{"period": "2", "enter": "0.5", "mode": "long_short"}, []float64{110}, []string{
			"score: none yet | below minus enter -0.5 | not met", "score: none yet | above enter 0.5 | not met",
			"last target: nothing yet: waits for a change of side"}},
		{"zscore", strategy.Values{"period": "2", "enter": "0.5", "mode": "long_short"}, []float64{110, 90}, []string{
			"score: -1 | below minus enter -0.5 | met", "score: -1 | above enter 0.5 | not met", "last target: long"}},
		{"donchian", strategy.Values{"entry": "2", "exit": "1", "mode": "long_short"}, []float64{100}, []string{
			"close: 100 | above the highest high before none yet | not met", "close: 100 | below the lowest low before none yet | not met",
			"last target: nothing yet: waits for a change of side"}},
		{"donchian", strategy.Values{"entry": "2", "exit": "1", "mode": "long_short"}, []float64{100, 101, 102}, []string{
			"close: 102 | above the highest high before 101 | met", "close: 102 | below the lowest low before 100 | not met",
			"close: 102 | below the exit low 101 | not met", "last target: long"}},
		{"donchian", strategy.Values{"entry": "2", "exit": "1", "mode": "long_short"}, []float64{100, 101, 102, 101.5}, []string{
			"close: 101.5 | above the highest high before 102 | not met", "close: 101.5 | below the lowest low before 101 | not met",
			"last target: no position"}},
		{"donchian", strategy.Values{"entry": "2", "exit": "2", "mode": "long_short"}, []float64{100, 101, 99}, []string{
			"close: 99 | above the highest high before 101 | not met", "close: 99 | below the lowest low before 100 | met",
			"close: 99 | above the exit high 101 | not met", "last target: short"}},
		{"donchian", strategy.Values{"entry": "2", "exit": "2", "mode": "long_short"}, []float64{100, 101, 102}, []string{
			"close: 102 | above the highest high before 101 | met", "close: 102 | below the lowest low before 100 | not met",
			"close: 102 | below the exit low 100 | not met", "last target: long"}},
		{"donchian", strategy.Values{"entry": "2", "exit": "1", "mode": "long_short"}, []float64{100, 101, 99}, []string{
			"close: 99 | above the highest high before 101 | not met", "close: 99 | below the lowest low before 100 | met",
			"close: 99 | above the exit high 101 | not met", "last target: short"}},
	} {
		b := newBook(t, newStrategy(t, c.strategy, exchange.Futures, c.values), exchange.Futures)
		for _, price := range c.closes {
			b.candle(price, price, price)
		}
		if diff := cmp.Diff(c.want, conditionLines(b.strategy, &b.view)); diff != "" {
			t.Errorf("%s after %v: -want +have\n%s", c.strategy, c.closes, diff)
		}
	}
}
