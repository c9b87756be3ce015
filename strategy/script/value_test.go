package script

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// output is what decide writes of an expression, as text, after candles of an hour that close at 100, 110, 105 and 120.
// Each opens at the close before, has no wicks, and volumes of 10, 11, 12 and 13.
func output(t *testing.T, change func(v *strategy.View), top, expression string) string {
	t.Helper()
	s := written(t, exchange.Futures, nil, top, "def decide(view):", "    return plan(reason = str("+expression+"))")
	w := newWorld(setting(t, exchange.Futures))
	if change != nil {
		change(&w.view)
	}
	for _, price := range []float64{100, 110, 105} {
		w.close(s, price)
	}
	return w.close(s, 120).Reason
}

// The right side of each pair is computed manually, as docs/strategies.md describes the function.
func TestSeriesHaveTheValuesOfTheirDefinition(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"close": "120.0", "close[1]": "105.0", "close[3]": "100.0", "open": "105.0", "high": "120.0", "low": "105.0", "volume": "13.0",
		"hl2": "112.5", "hlc3": "115.0", "ohlc4": "112.5",
		"close + 1": "121.0", "1 + close": "121.0", "close - 20": "100.0", "20 - close": "-100.0", "close * 2": "240.0", "2 * close": "240.0",
		"240 / close": "2.0", "close / 60": "2.0", "close - open": "15.0", "open - close": "-15.0", "-close": "-120.0", "+close": "120.0",
		"close + open": "225.0", "(close - open)[1]": "-5.0",
		"abs(open - close)": "15.0", "max(close, 130)": "130.0", "max(open, close, 7)": "120.0", "max(7, open)": "105.0", "min(close, open)": "105.0",
		"min(open, 3, close)": "3.0", "log(close / close)": "0.0",
		"sum(close, 1)": "120.0", "sum(close, 2)": "225.0", "sum(close, 4)": "435.0", "sum(close, 5)": "nan", "sum(close > open, 4)": "2.0",
		"close > open": "1.0", "close > open and open > 110": "0.0", "open > 110 or close > 110": "1.0", "open > 110 and True": "0.0",
		"close > 110 and True": "1.0", "close > 110 and False": "0.0", "open > 110 or False": "0.0", "open > 110 or True": "1.0",
		"not (close > open)": "0.0", "not (close < open)": "1.0", "close[4] > 1": "0.0", "close[4] != 1": "0.0", "close != 1": "1.0",
		"close == 120":        "1.0",
		"since(close < open)": "1.0", "since(close > open)": "0.0", "since(close == 100)": "3.0",
		"value_when(close < open, volume)": "12.0", "value_when(close > open, high)": "120.0",
		"where(close > open, 1, 2)": "1.0", "where(close < open, high, low)": "105.0", "where(close < open, 1, close)": "120.0",
		// Typical prices of 106.67 and 115, weighted by 12 and 13: 2775 / 25.
		"anchored_vwap(close < open)": "111.0",
		"cross_above(close, 110)":     "1.0", "cross_above(close, 105)": "1.0", "cross_above(close, 104)": "0.0", "cross_above(close, 120)": "0.0",
		"cross_below(close, 110)": "0.0", "cross_below(-close, -105)": "1.0", "cross_below(-close, -120)": "0.0", "cross_above(close, open)": "1.0",
		"cross_above(open, close)": "0.0", "cross_below(open, close)": "1.0", "cross_above(110, close)": "0.0", "cross_below(110, close)": "1.0",
		"rising(close)": "1.0", "rising(close, 2)": "0.0", "rising(volume, 3)": "1.0", "rising(volume, 4)": "0.0", "falling(close)": "0.0",
		"falling(-volume, 3)": "1.0", "rising(close - close)": "0.0", "falling(close - close)": "0.0",
		"known(close)": "1.0", "known(close[3])": "1.0", "known(close[4])": "0.0",
		"hour()": "4.0", "minute()": "0.0", "weekday()": "3.0", "hour(offset = 2)": "6.0", "minute(offset = 0.5)": "30.0", "hour(-4)": "0.0",
		`hour(zone = "Asia/Tokyo")`: "13.0", `hour(0, "Asia/Kolkata")`: "9.0", `minute(zone = "Asia/Kolkata")`: "30.0", "weekday(offset = -4)": "3.0",
		`session("03:00", "04:00")`: "1.0", `session("03:00", "03:59")`: "0.0", `session("02:00", "03:30")`: "0.0", `session("03:01", "09:00")`: "0.0",
		`session("22:00", "05:00")`: "1.0", `session("22:00", "03:00")`: "0.0", `session("00:00", "24:00")`: "1.0", `session("04:00", "03:00")`: "0.0",
		`session("03:00", "04:00", offset = 1)`: "0.0", `session("04:00", "05:00", offset = 1)`: "1.0",
		`session("12:00", "13:00", zone = "Asia/Tokyo")`: "1.0",
		"sma(close, 2)": "112.5", "sma(close[1], 2)": "107.5", "sma(sma(close, 2), 2)": "110.0", `candles("4h").close`: "120.0",
		`candles("4h").high`:   "120.0",
		`candles("4h").volume`: "46.0", `candles("4h").low`: "100.0", `candles("4h").close[1]`: "nan", `close - candles("4h").open`: "20.0",
	} {
		if have := output(t, nil, "x = "+expression, "x[0]"); have != want {
			t.Errorf("%s: want %s, have %s", expression, want, have)
		}
	}
}

// Without a value on any candle of the rehearsal, the first of which alone would make it short: 100,000 candles, in one script.
func TestSeriesWithoutAValue(t *testing.T) {
	t.Parallel()
	all := []string{"close / 0", "log(close - close)", "since(close > 1000)", "value_when(close > 1000, high)", "anchored_vwap(close > 1000)",
		"anchored_vwap(close > 110)"}
	want := "[nan, nan, nan, nan, nan, 115.0]"
	if have := output(t, nil, "x = ["+strings.Join(all, ", ")+"]", "[s[0] for s in x]"); have != want {
		t.Errorf("%s: want %s, have %s", all, want, have)
	}
}

func TestDecideReadsTheNewestValues(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"close > open": "True", "close >= 120": "True", "close <= 119": "False", "close < 120": "False", "close == 120": "True", "close != 120": "False",
		"120 == close": "True", "close == close[1]": "False", "close[9] < 1": "False", "close[9] >= 1": "False", "close[9] != 1": "False",
		"1 != close[9]":     "False",
		"abs(open - close)": "15.0", "max(open, close)": "120.0", "min(open, close, 9)": "9.0", "log(close / close)": "0.0", "sum(close, 2)": "225.0",
		"abs(-3)": "3", "max(3, 7)": "7", "min([4, 2])": "2", "close - open": "15.0", "open - close": "-15.0", "130 - close": "10.0",
		"-close": "-120.0", "+close": "120.0",
		"cross_above(close, 110)": "True", "cross_below(close, 110)": "False", "cross_below(open, close)": "True", "rising(volume, 3)": "True",
		"rising(close, 2)": "False",
		"falling(close)":   "False", "known(close)": "True", "known(close[9])": "False", "known(3)": "True", `known("3")`: "False", "known(None)": "False",
		"round(close / 7, 2)": "17.14", "round(close / 7)": "17.0", "round(2.5)": "3.0", "int(close)": "120", "float(close)": "120.0",
		"str(close)":                           "120.0",
		"9007199254740993 == 9007199254740992": "False", "bool(close)": "True", "1 if close else 2": "1", "1 if close[9] > 0 else 2": "2",
		"1 if close > open and close > 110 else 2": "1", "[x for x in [1, 5] if x > 3]": "[5]", "{1: close > open}": "{1: True}",
		"(lambda x: x > 3)(4)":                 "True",
		"[1, 2, 3][0:(2 if close > 1 else 1)]": "[1, 2]", "math.sqrt(16)": "4.0", "7 % 4": "3", "view.closed == 4": "True", "not close > open": "False",
	} {
		if have := output(t, nil, "", expression); have != want {
			t.Errorf("%s: want %s, have %s", expression, want, have)
		}
	}
}

// place is a view of which nothing is empty.
func place(v *strategy.View) {
	tick, step := v.Symbol.PriceTick, v.Symbol.QuantityTick
	other := *v.Symbol
	other.Market = exchange.Spot
	v.Position = strategy.Position{Quantity: 1_500 * step, EntryPrice: exchange.MustAmount("100.5"), SinceMS: 7}
	v.Leverage, v.BuyingPower, v.Missed = 3, exchange.MustAmount("77.5"), 2
	v.Funding = strategy.Funding{Rate: exchange.RateOne / 10_000, NextMS: 99, Known: true}
	v.OrderBook = strategy.OrderBook{AtMS: 5, Bids: []exchange.Level{{Price: 1_199 * tick, Quantity: 2 * step}, {Price: 1_198 * tick, Quantity: 3 * step}},
		Asks: []exchange.Level{{Price: 1_201 * tick, Quantity: 4 * step}}}
	v.Pair = strategy.Pair{Symbol: &other, Position: -250 * step, Last: 1_195 * tick, Known: true}
	v.Memory = strategy.MemoryOf(strategy.MemoryVariable{Key: "a", Value: 7})
	v.Fills = []strategy.KeyFill{{Key: "k", Quantity: 20 * step}}
	v.Working = []strategy.WorkingOrder{{Key: "k", Side: exchange.Sell, Type: exchange.Limit, Price: 1_300 * tick, StopPrice: 1_250 * tick,
		Quantity: 9 * step, Filled: step}}
	v.Events = []strategy.Event{
		{AtMS: 8, Kind: strategy.EventFilled, Key: "k", Reduces: true, Side: exchange.Buy, Quantity: 2 * step, Price: exchange.MustAmount("100.25")},
		{AtMS: 9, Kind: strategy.EventRefused, Rule: "margin", Reason: "too little"},
	}
}

func TestTheViewShowsAllThatItHas(t *testing.T) {
	t.Parallel()
	const first = "[(e.at_ms, e.kind, e.key, e.reduces, e.side, e.quantity, e.price, e.rule, e.why) for e in view.events]"
	const orders = "[(o.key, o.side, o.type, o.price, o.stop_price, o.quantity, o.filled) for o in view.working]"
	for expression, want := range map[string]string{
		"view.now_ms": "14400000", "view.open_ms": "10800000", "view.symbol": "BTC-USDT", "view.market": "futures", "view.interval": "1h",
		"view.last":     "120.0",
		"view.position": "1.5", "view.entry_price": "100.5", "view.since_ms": "7", "view.equity": "10000.0", "view.leverage": "3", "view.closed": "4",
		"view.price_tick": "0.1", "view.quantity_tick": "0.001", "view.funding": "0.0001", "view.funding_ms": "99", "view.buying_power": "77.5",
		"view.bid": "119.9", "view.ask": "120.1", "view.bids": "((119.9, 0.002), (119.8, 0.003))", "view.asks": "((120.1, 0.004),)", "view.book_ms": "5",
		"view.pair_position": "-0.25", "view.pair_last": "119.5", "view.missed": "2", "view.memory": `{"a": 7}`, `view.filled("k")`: "0.02",
		`view.filled("x")`: "0.0",
		first:              `[(8, "filled", "k", True, "buy", 0.002, 100.25, "", ""), (9, "refused", "", False, None, 0.0, 0.0, "margin", "too little")]`,
		orders:             `[("k", "sell", "limit", 130.0, 125.0, 0.009, 0.001)]`, "view": "view", "bool(view)": "True", "type(view)": "view",
	} {
		if have := output(t, place, "", expression); !strings.EqualFold(want, have) {
			t.Errorf("%s: want %s, have %s", expression, want, have)
		}
	}
	for expression, want := range map[string]string{
		"view.funding": "nan", "view.bid": "nan", "view.ask": "nan", "view.bids": "()", "view.pair_position": "nan", "view.pair_last": "nan",
		"view.memory":  "{}",
		"view.working": "[]", "view.events": "[]", "view.position": "0.0", "view.bid > 0": "False", "view.funding < 0": "False",
	} {
		if have := output(t, nil, "", expression); have != want {
			t.Errorf("an empty view: %s: want %s, have %s", expression, want, have)
		}
	}
}

func TestStateIsReadLikeADictionary(t *testing.T) {
	t.Parallel()
	top := strings.Join([]string{"def candle(view):", "    state[\"last\"] = close", "    state[\"n\"] = state.get(\"n\", 0) + 1",
		"    state[\"pair\"] = (1, \"x\", None)"}, "\n")
	for expression, want := range map[string]string{
		`state["last"]`: "120.0", `state["n"]`: "4", `state.get("none", 5)`: "5", "state.keys()": `["last", "n", "pair"]`,
		"state.values()": `[120.0, 4, (1, "x", None)]`,
		"state.items()":  `[("last", 120.0), ("n", 4), ("pair", (1, "x", None))]`, "[key for key in state]": `["last", "n", "pair"]`,
		"bool(state)": "True",
		"state":       `{"last": 120.0, "n": 4, "pair": (1, "x", None)}`, `"n" in state`: "True", "type(state)": "state",
		"dict(state)": `{"last": 120.0, "n": 4, "pair": (1, "x", None)}`,
	} {
		if have := output(t, nil, top, expression); have != want {
			t.Errorf("%s: want %s, have %s", expression, want, have)
		}
	}
	if have := output(t, nil, "", "bool(state)"); have != "False" {
		t.Errorf("want a state without entries to be false, have %s", have)
	}
}
