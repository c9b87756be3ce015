package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// A condition of a longer interval has the history of that interval, and one of two intervals that of the strategy's own candles.
// The four hours close at 120, 140, 90 and 150; each hour opens at the close before.
func TestAConditionHasTheHistoryOfItsInterval(t *testing.T) {
	t.Parallel()
	prices := []float64{100, 110, 105, 120, 130, 125, 115, 140, 95, 95, 95, 90, 100, 120, 130, 150}
	for expression, want := range map[string]string{
		"day.close > 100":                          "1.0 0.0 1.0 1.0",
		"100 < day.close":                          "1.0 0.0 1.0 1.0",
		"day.close > day.open":                     "1.0 0.0 1.0 1.0",
		"cross_above(day.close, 100)":              "1.0 0.0 0.0 0.0",
		"cross_above(day.close, day.open - 1)":     "1.0 0.0 0.0 0.0",
		"rising(day.close)":                        "1.0 0.0 1.0 0.0",
		"known(day.close[1])":                      "1.0 1.0 1.0 0.0",
		"since(day.close < 100)":                   "1.0 0.0 nan nan",
		"value_when(day.close < 100, day.open)":    "140.0 140.0 nan nan",
		"where(day.close < 100, 1, 2)":             "2.0 1.0 2.0 2.0",
		"where(day.close < 100, day.open, 2)":      "2.0 140.0 2.0 2.0",
		"max(day.close, 100)":                      "150.0 100.0 140.0 120.0",
		"max(100, day.close)":                      "150.0 100.0 140.0 120.0",
		"sum(day.close, 2)":                        "240.0 230.0 260.0 nan",
		"day.close - day.open":                     "60.0 -50.0 20.0 20.0",
		"-day.close":                               "-150.0 -90.0 -140.0 -120.0",
		"not (day.close < 100)":                    "1.0 0.0 1.0 1.0",
		"day.close > 100 and day.open > 100":       "0.0 0.0 1.0 0.0",
		"day.close > 100 and True":                 "1.0 0.0 1.0 1.0",
		"sma(day.close, 2)":                        "120.0 115.0 130.0 nan",
		"correlation(day.close, day.open, 2)":      "-1.0 -1.0 1.0 nan",
		"day.close[1]":                             "90.0 140.0 120.0 nan",
		"close > day.close":                        "0.0 1.0 1.0 1.0", // of the last hours: 150, 130, 120 and 100, over 150, 90, 90 and 90
		"day.close < close":                        "0.0 1.0 1.0 1.0",
		"cross_above(close, day.close)":            "0.0 0.0 0.0 1.0",
		"close - day.close":                        "0.0 40.0 30.0 10.0",
		"where(close > 125, day.close, 2)":         "150.0 90.0 2.0 2.0",
		"where(day.close < 100, close, 2)":         "2.0 130.0 120.0 100.0",
		"max(close, day.close)":                    "150.0 130.0 120.0 100.0",
		"value_when(day.close < 100, close)":       "130.0 130.0 120.0 100.0",
		"day.close > 100 and close > 140":          "1.0 0.0 0.0 0.0",
		"anchored_vwap(close < 100) > 0":           "1.0 1.0 1.0 1.0",
		"correlation(day.close, close, 2) * 0 + 1": "1.0 1.0 1.0 1.0",
	} {
		s := written(t, exchange.Futures, nil, "day = candles(\"4h\")", "x = "+expression, "def decide(view):",
			"    return plan(reason = \" \".join([str(x[n]) for n in range(4)]))")
		w := newWorld(setting(t, exchange.Futures))
		have := ""
		for _, price := range prices {
			have = w.close(s, price).Reason
		}
		if have != want {
			t.Errorf("%s: want %s, have %s", expression, want, have)
		}
	}
}

// A cross of two intervals is that of one candle of the strategy: between its closes the longer series stays as it is, and it was the same at the
// candle before. The four hours close at 120, 140, 90 and 150.
func TestACrossOfTwoIntervalsIsOfOneCandle(t *testing.T) {
	t.Parallel()
	prices := []float64{100, 110, 105, 120, 130, 125, 115, 140, 95, 95, 95, 90, 100, 120, 130, 150}
	const top = "day = candles(\"4h\")\nup, down = cross_above(close, day.close), cross_below(close, day.close)\nother = cross_above(day.close, close)\n"
	for name, returns := range map[string]string{
		"at the top": "[int(up[0]), int(down[0]), int(other[0])]",
		"in decide":  "[int(bool(x)) for x in [cross_above(close, day.close), cross_below(close, day.close), cross_above(day.close, close)]]",
	} {
		s := written(t, exchange.Futures, nil, top+"def decide(view):\n    return plan(reason = str("+returns+"))")
		w := newWorld(setting(t, exchange.Futures))
		for i, price := range prices {
			want := map[int]string{4: "[1, 0, 0]", 12: "[1, 0, 0]", 6: "[0, 1, 1]", 8: "[0, 1, 1]"}[i]
			if want == "" {
				want = "[0, 0, 0]"
			}
			if have := w.close(s, price).Reason; have != want {
				t.Errorf("%s, candle %d: want %s, have %s", name, i, want, have)
			}
		}
	}
	made, err := Rules().New(setting(t, exchange.Futures), strategy.Values{"entry_long": `cross_above(close, candles("4h").close)`,
		"exit_long": `cross_below(close, candles("4h").close)`})
	if err != nil {
		t.Fatal(err)
	}
	w, have := newWorld(setting(t, exchange.Futures)), ""
	for _, price := range prices {
		plan := w.close(made, price)
		have += fmt.Sprint(plan.Target.Sign(), "@", plan.SignalMS/int64(exchange.Hour1), " ")
	}
	if want := "0@0 0@0 0@0 0@0 1@5 1@5 0@0 0@0 0@0 0@0 0@0 0@0 1@13 1@13 1@13 1@13 "; have != want {
		t.Errorf("rules: want the signals of two candles, %s, have %s", want, have)
	}
}

// Candles of one symbol in two intervals are those of that symbol, also if it is not the first.
func TestAScriptReadsTwoOtherSymbols(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil, `a = candles("1h", symbol = "A-USDT").close`, `b = candles("1h", symbol = "B-USDT").close`,
		`b4 = candles("4h", symbol = "B-USDT").close`, `a4 = candles("4h", symbol = "A-USDT").close`, "def decide(view):",
		"    return plan(reason = str([a[0], b[0], b4[0], a4[0]]))")
	keys := strategy.OthersOf(s)
	if names := fmt.Sprint(keys); len(keys) != 2 || !strings.Contains(names, "A-USDT") || !strings.Contains(names, "B-USDT") {
		t.Fatalf("want two symbols, have %s", names)
	}
	w := newWorld(setting(t, exchange.Futures))
	var reason string
	for i := range 4 {
		w.view.Others = nil
		for n, key := range keys {
			symbol := *w.view.Symbol
			symbol.Name = key.Name
			candles := &exchange.Candles{Interval: exchange.Hour1}
			price := w.price(float64(10*(n+1) + i))
			candles.Append(exchange.Candle{OpenMS: int64(i) * int64(exchange.Hour1), Open: price, High: price, Low: price, Close: price})
			w.view.Others = append(w.view.Others, strategy.Other{Symbol: &symbol, Candles: candles})
		}
		reason = w.close(s, 100).Reason
	}
	if reason != "[13.0, 23.0, 23.0, 13.0]" {
		t.Errorf("want 13 and 23, have %s", reason)
	}
}

// minutes are columns: rate is the hour of a time, known at even hours, and none is never known.
type minutes struct{}

func (minutes) Names() []string { return []string{"none", "rate"} }

func (minutes) At(name string, atMS int64) (float64, bool) {
	hour := atMS / int64(exchange.Hour1)
	return float64(hour), name == "rate" && hour%2 == 0
}

func TestAScriptReadsColumnsAtTheCloseOfEachCandle(t *testing.T) {
	t.Parallel()
	place := setting(t, exchange.Futures)
	place.Columns = minutes{}
	source := "a, b, c = column(\"rate\"), column(\"none\"), column(\"rate\")\ndef decide(view):\n    return plan(reason = str([a[0], a[1], b[0], c[0]]))\n"
	compiled, err := Compile("my.star", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	s, err := compiled.Definition().New(place, nil)
	if err != nil {
		t.Fatal(err)
	}
	if have := s.(strategy.ColumnReader).ReadsColumns(); !slices.Equal(have, []string{"none", "rate"}) {
		t.Errorf("want each column once, have %v", have)
	}
	w := newWorld(place)
	for i, want := range []string{"[nan, nan, nan, nan]", "[2.0, nan, nan, 2.0]", "[nan, 2.0, nan, nan]"} {
		if have := w.close(s, 100).Reason; have != want {
			t.Errorf("candle %d: want %s, have %s", i+1, want, have)
		}
	}
	for _, c := range []struct {
		columns strategy.Columns
		want    string
	}{{minutes{}, `my.star: column("other"): unknown column (known: none, rate)`}, {nil, `column("rate"): there are no columns`}} {
		place.Columns = c.columns
		other, err := Compile("my.star", []byte("a, b = column(\"rate\"), column(\"other\")\ndef decide(view):\n    return None\n"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.Definition().New(place, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q, have %v", c.want, err)
		}
	}
}

// The rules and the script are in the registry by name; a script alone has no strategy.
func TestTheDefinitionsOfScriptsAndRules(t *testing.T) {
	t.Parallel()
	files := Files()
	if _, err := files.New(setting(t, exchange.Futures), nil); files.Name != "script" || files.Summary == "" || err == nil ||
		!strings.Contains(err.Error(), "needs its file: key") {
		t.Errorf("want a script refused without a file, have %+v, %v", files, err)
	}
	rules := Rules()
	var names []string
	for _, p := range rules.Parameters {
		names = append(names, p.Name)
		if p.Kind != "text" || p.Default != "False" || p.Help == "" {
			t.Errorf("want a text that is never true, have %+v", p)
		}
	}
	if rules.Name != "rules" || strings.Join(names, " ") != "entry_long exit_long entry_short exit_short" {
		t.Errorf("want four rules, have %s of %q", names, rules.Name)
	}
}

// The path of an error begins at the top of the file, or in the function that botd called.
func TestTheCallsOfAnErrorAreNamed(t *testing.T) {
	t.Parallel()
	const divides = "def f(x):\n    return 1 / x\n"
	for source, want := range map[string][]string{
		divides + "x = f(0)\ndef decide(view):\n    pass\n": {"my.star:3:6 in the top of the file", "my.star:2:14 in f"},
		divides + "def decide(view):\n    f(0)\n":           {"my.star:4:6 in decide", "my.star:2:14 in f"},
	} {
		var at *strategy.SourceError
		compiled, err := Compile("my.star", []byte(source))
		if err == nil {
			_, err = compiled.Definition().New(setting(t, exchange.Futures), nil)
		}
		if !errors.As(err, &at) {
			t.Errorf("%s: have %v", source, err)
			continue
		}
		if trace := slices.Clone(at.Trace); at.Line != 2 || fmt.Sprint(trace) != fmt.Sprint(want) {
			slices.Reverse(trace)
			if fmt.Sprint(trace) != fmt.Sprint(want) {
				t.Errorf("%s: want %q, have %q at line %d", source, want, at.Trace, at.Line)
			}
		}
	}
}

// A printed series is its name and its newest value.
func TestASeriesIsPrintedWithItsName(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil, "a = sma(close, 2)", "def decide(view):", "    print(close, a)")
	w := newWorld(setting(t, exchange.Futures))
	w.close(s, 100)
	if have := w.close(s, 101).Reason; have != "close=101 sma(close, 2)=100.5" {
		t.Errorf("have %q", have)
	}
}

// The best price since an entry is that of the candles that opened at it or later, and the entry price if none did.
func TestTheBestPriceSinceAnEntry(t *testing.T) {
	t.Parallel()
	symbol := setting(t, exchange.Futures).Symbol
	tick := symbol.PriceTick
	candles := &exchange.Candles{Interval: exchange.Hour1}
	hour := int64(exchange.Hour1)
	for i, high := range []exchange.Price{1_500, 1_200, 1_300, 1_100} {
		candles.Append(exchange.Candle{OpenMS: int64(i+1) * hour, Open: 1_000 * tick, High: high * tick, Low: (2_000 - high) * tick, Close: 1_000 * tick})
	}
	for _, c := range []struct {
		since     int64
		high, low exchange.Price
	}{{hour, 1_500, 500}, {hour + 1, 1_300, 700}, {3*hour + 1, 1_100, 900}, {4 * hour, 1_100, 900}, {4*hour + 1, 1_050, 1_050}} {
		v := &strategy.View{Symbol: symbol, Interval: exchange.Hour1,
			Position: strategy.Position{Quantity: 1, EntryPrice: exchange.AmountOf(105), SinceMS: c.since}}
		v.SetHistory(candles, 4)
		var trailed trail
		for range 2 {
			if trailed.follow(v); trailed.high != c.high*tick || trailed.low != c.low*tick {
				t.Errorf("since %d: want %d and %d, have %d and %d", c.since, c.high, c.low, trailed.high/tick, trailed.low/tick)
			}
		}
	}
}

// What has filled under the keys of former take-profits is no position.
func TestTakeProfitsWithoutAPosition(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil, "def decide(view):", "    return plan(exits = targets([(\"1%\", \"50%\"), (120, \"50%\")]))")
	w := newWorld(setting(t, exchange.Futures))
	w.view.Fills = []strategy.KeyFill{{Key: "target 1 long", Quantity: 50}, {Key: "target 2 long", Quantity: 50}}
	if plan := w.close(s, 100); !plan.ExitsSet || len(plan.Exits) != 0 {
		t.Errorf("want no exits, have %+v", plan.Exits)
	}
}
