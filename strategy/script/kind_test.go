package script

import (
	"fmt"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// The kind of a name is that of all its values; a name with several kinds has any member.
func TestAVariableHasTheMembersOfItsValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lines []string // of decide
		want  string
	}{
		{[]string{"for e in view.events:", "    x = e.clos"}, "e has no .clos"},
		{[]string{"for e in view.events:", "    x = e.kind"}, ""},
		{[]string{"for o in view.working:", "    x = o.kind"}, "o has no .kind"},
		{[]string{"x = [e.clos for e in view.events]"}, "e has no .clos"},
		{[]string{"a = [1]", "x = a.keys()"}, "a is a list, which has no .keys"},
		{[]string{"a = {}", "x = a.keys()"}, ""},
		{[]string{"a = [1]", "a = {}", "x = a.keys()"}, ""},
		{[]string{"a = {}", "a = [1]", "x = {}.keys() if len(a) > 3 else a.keys() if False else 1"}, ""},
		{[]string{"a = {}", "a, b = [1], 2", "a.append(3)"}, ""},
		{[]string{"a = {}", "[a, b] = [[1], 2]", "a.append(3)"}, ""},
		{[]string{"a = 2 * [1]", "a.append(3)"}, ""},
		{[]string{"a = [1] + [2]", "x = a.keys()"}, "a is a list, which has no .keys"},
		{[]string{"a = [1] + 2 * [1]", "a.append(3)"}, ""},
		{[]string{"a = \"x\"", "a += \"y\"", "x = a.keys()"}, "a is a string, which has no .keys"},
		{[]string{"(a) = [1]", "x = a.keys()"}, "a is a list, which has no .keys"},
		{[]string{"a, b = [1], {}", "x = b.keys()"}, ""},
		{[]string{"[a, b] = [[1], {}]", "x = b.keys()"}, ""},
		{[]string{"f = lambda a, b = {}, *c: b.keys()", "x = f(1)"}, ""},
		{[]string{"f = lambda view: view.keys", "x = 1"}, "view has no .keys"},
		{[]string{"x = (\"a\" + [1][0].keys) if False else 1"}, ""},
		{[]string{"x = (1 + len(\"a\")).keys"}, "has no .keys"},
	} {
		err := made(t, exchange.Futures, nil, "def decide(view):", "    "+strings.Join(c.lines, "\n    "))
		if have := fmt.Sprint(err); (err == nil) != (c.want == "") || err != nil && !strings.Contains(have, c.want) {
			t.Errorf("%q: want %q, have %s", c.lines, c.want, have)
		}
	}
}

// A parameter has the kind of its argument: the view of decide and of candle under any name, elsewhere only under its own.
func TestTheKindsOfParameters(t *testing.T) {
	t.Parallel()
	const decide = "def decide(view):\n    return None\n"
	for source, want := range map[string]string{
		"def decide(v):\n    return v.postion\n":                                                   "v is a view, which has no .postion",
		"def candle(v):\n    x = v.postion\n" + decide:                                             "v is a view, which has no .postion",
		"def helper(view):\n    return view.postion\n" + decide:                                    "view has no .postion",
		"def helper(v):\n    return v.keys()\n" + decide:                                           "",
		"def helper(a = {}):\n    return a.keys()\n" + decide:                                      "",
		"def helper(a = {}):\n    if len(a) > 3:\n        a = [1]\n    return a.keys()\n" + decide: "",
		// A dict of the named arguments, unless it becomes a text.
		"def helper(**a):\n    if len(a) > 3:\n        a = \"x\"\n        return a\n    return a.keys()\n" + decide: "",
		"def helper(*, a):\n    return a.keys()\n" + decide:                                                         "",
		"f = lambda v: v.keys()\n" + decide:                                                                         "",
	} {
		_, err := Compile("my.star", []byte(source))
		if have := fmt.Sprint(err); (err == nil) != (want == "") || err != nil && !strings.Contains(have, want) {
			t.Errorf("%q: want %q, have %s", source, want, have)
		}
	}
}

// Conditions at the top are series in a function, too, that the top calls; decide and candle read the newest values.
func TestAFunctionThatTheTopCallsMakesSeries(t *testing.T) {
	t.Parallel()
	top := strings.Join([]string{"def both(a, b):", "    return a > 100 and b > 100", "x = both(close, open)"}, "\n")
	if have := output(t, nil, top, "[x[0], x[1], x[3]]"); have != "[1.0, 1.0, 0.0]" {
		t.Errorf("want a series that was first false, have %s", have)
	}
}

// TestADecisionHasFiveNotices uses a script with more to report than a decision may.
func TestADecisionHasFiveNotices(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil, "def decide(view):", "    for n in range(7):", "        notify(\"n%d\" % n)", "    return None")
	if have := fmt.Sprint(newWorld(setting(t, exchange.Futures)).close(s, 100).Notices()); have != "[n0 n1 n2 n3 n4]" {
		t.Errorf("want the first five, have %s", have)
	}
}

// What a script prints is in its reason, at most 500 bytes of it, and not in the next one.
func TestWhatAScriptPrintsIsInItsReason(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil, "def candle(view):", "    print(\"of a candle\")", "def decide(view):",
		"    if close > 100:", "        print(\"a\")", "        print(\"b\" * 600)", "    return hold(\"long\", \"r\" if close > 90 else \"\")")
	w := newWorld(setting(t, exchange.Futures))
	for _, c := range []struct {
		price float64
		want  string
	}{{101, "r · a; " + strings.Repeat("b", 497)}, {95, "r"}, {80, ""}} {
		if have := w.close(s, c.price).Reason; have != c.want {
			t.Errorf("at %g: want %q, have %q", c.price, c.want, have)
		}
	}
}

func TestTheStagesOfARehearsalAreMarkets(t *testing.T) {
	t.Parallel()
	place := setting(t, exchange.Futures)
	finer, err := place.Symbol.WithScales(9, 5) // a step of many units
	if err != nil {
		t.Fatal(err)
	}
	place.Symbol = finer
	tick, step := place.Symbol.PriceTick, place.Symbol.QuantityTick
	s := newStage(place)
	others := []strategy.Other{{Symbol: place.Symbol, Candles: &exchange.Candles{}}, {Symbol: place.Symbol, Candles: &exchange.Candles{}}}
	s.view.Others = others
	held, books, events := map[exchange.Quantity]int{}, 0, 0
	for range 60 {
		v := s.next()
		c := v.Candle()
		if c.Low >= min(c.Open, c.Close) || c.High <= max(c.Open,
			c.Close) || c.Low < 90*tick || c.Volume < 7 || c.Volume > 13 || v.Last != c.Close || v.Equity != v.BuyingPower {
			t.Fatalf("want a candle with wicks, have %+v", c)
		}
		held[v.Position.Quantity]++
		if v.OrderBook.AtMS != 0 {
			if books++; v.OrderBook.Bids[0].Price != v.Last-tick || v.OrderBook.Asks[0].Price != v.Last+tick || v.OrderBook.Bids[0].Quantity != 10*step {
				t.Fatalf("want a book around %d, have %+v", v.Last, v.OrderBook)
			}
		}
		events += len(v.Events)
	}
	if held[0] != 20 || held[10*step] != 20 || held[-10*step] != 20 || books != 30 || events != 15*int(strategy.EventReleased-strategy.EventFilled+1) {
		t.Errorf("want each side in turn, a book every other time, and each event every fourth, have %v, %d, %d", held, books, events)
	}
	one, two := others[0].Candles, others[1].Candles
	if one.Len() != 60 || two.Len() != 60 {
		t.Fatalf("want a candle of each other symbol each time, have %d and %d", one.Len(), two.Len())
	}
	differ := 0
	for i := 1; i < 60; i++ {
		if one.Open[i] != one.Close[i-1] || one.Close[i] < 480*tick || one.Close[i] > 520*tick || one.OpenMS[i] != s.candles.OpenMS[i] {
			t.Fatalf("candle %d: want prices of about 500 ticks that continue, have %+v", i, one.At(i))
		}
		if one.Close[i] != two.Close[i] {
			differ++
		}
	}
	if differ < 40 {
		t.Errorf("want two markets that move differently, have %d of 59 candles", differ)
	}
	place.Market = exchange.Spot
	for _, stage := range []*stage{newStage(place),
		{setting: setting(t, exchange.Futures), price: s.price, long: true, candles: &exchange.Candles{}, view: s.view}} {
		stage.view.Others = nil
		for range 6 {
			if v := stage.next(); v.Position.Quantity < 0 {
				t.Errorf("want no short position where none may be, have %d", v.Position.Quantity)
			}
		}
	}
}
