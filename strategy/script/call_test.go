package script

import (
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"botd/exchange"
	"botd/strategy"
)

// Each call is on a branch that no rehearsal reaches.
func TestACallThatWouldFailIsFoundOnEveryBranch(t *testing.T) {
	t.Parallel()
	const top = "bands = bollinger(close, 20)\ndef both(a, b = 1):\n    return a + b\n"
	for call, want := range map[string]string{
		`hold("long", size = 2)`:                                                      `hold: unexpected keyword argument "size"`,
		`hold("buy")`:                                                                 `hold("buy"): the side is`,
		`hold("long" if close > open else "shrt")`:                                    `hold("shrt"): the side is`,
		`plan(target = size(1), stoploss = "2%")`:                                     `plan: unexpected keyword argument "stoploss"`,
		`plan(size(1))`:                                                               "plan(...) takes its parts by name",
		`plan(orders = [order("a", "bought", 1, 1)])`:                                 `order: side "bought" is not "buy" or "sell"`,
		`plan(orders = [order("a", "buy", 1)])`:                                       "order: missing argument for quantity",
		`plan(target = risk("1%"))`:                                                   "risk: missing argument for stop",
		`plan(target = quantity(1, 2))`:                                               "quantity takes 1 positional arguments, not 2",
		`hold("long") if cross_above(close) else None`:                                "cross_above takes 2 positional arguments, not 1",
		`hold("flat", reason = str(both()))`:                                          "both: missing argument for a",
		`hold("flat", reason = str(both(1, 2, 3)))`:                                   "both: got 3 arguments, want at most 2",
		`hold("flat", reason = str(both(1, a = 2)))`:                                  `both: got multiple values for parameter "a"`,
		`hold("flat", reason = str(both(1, c = 2)))`:                                  `both: unexpected keyword argument "c"`,
		`hold("flat", reason = str(view.filled()))`:                                   "filled: missing argument for key",
		`hold("long") if ema(close, 20) > 1 else None`:                                "ema(...) defines an indicator",
		`hold("long") if ema(close, len = 20) else None`:                              "ema(...) defines an indicator",
		`hold("flat") if view.market == "perp" else None`:                             `.market is never "perp": it is "futures" or "spot"`,
		`hold("flat") if "perp" != view.market else None`:                             `.market is never "perp"`,
		`[e for e in view.events if e.kind == "fill"]`:                                `.kind is never "fill": it is "filled", "stopped"`,
		`[o for o in view.working if o.side == "long"]`:                               `.side is never "long": it is "buy" or "sell"`,
		`[e for e in view.events if e.kind in ("stop",)]`:                             `.kind is never "stop"`,
		`hold(side = "buy")`:                                                          `hold("buy"): the side is`,
		`plan(orders = [order(key = "a", price = 1, quantity = 1, side = "bought")])`: `order: side "bought" is not`,
		`hold("long") if cross_above(close, 1, b = 2) else None`:                      "cross_above takes 2 positional arguments, not 3",
		`hold("flat", reason = str(abs()))`:                                           "abs takes 1 positional arguments, not 0",
		`hold("flat", reason = str(abs(close, 2)))`:                                   "abs takes 1 positional arguments, not 2",
		`hold("flat", reason = str(log()))`:                                           "log takes 1 positional arguments, not 0",
		`hold("flat", reason = str(log(close, 2)))`:                                   "log takes 1 positional arguments, not 2",
		`plan(target = equity())`:                                                     "equity takes 1 positional arguments, not 0",
		`plan(target = equity("1%", 2))`:                                              "equity takes 1 positional arguments, not 2",
		`plan(target = quote())`:                                                      "quote takes 1 positional arguments, not 0",
		`plan(target = quote(1, 2))`:                                                  "quote takes 1 positional arguments, not 2",
		`plan(target = quantity(quantity = 1))`:                                       "quantity takes 1 positional arguments",
		`hold("long") if known() else None`:                                           "known takes 1 positional arguments, not 0",
		`hold("long") if cross_below(close, 1, 2) else None`:                          "cross_below takes 2 positional arguments, not 3",
		`hold("long") if cross_below(close) else None`:                                "cross_below takes 2 positional arguments, not 1",
		`hold("long") if cross_above(close, b = 2) else None`:                         "cross_above takes 2 positional arguments",
	} {
		source := top + "def decide(view):\n    if view.last < 0:\n        return " + call + "\n"
		if _, err := Compile("my.star", []byte(source)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, have %v of %s", want, err, call)
		}
	}
}

// The number of arguments in a list is not known before the call: each of these may be right.
func TestCallsWithListsOfArgumentsAreLeftToTheirCall(t *testing.T) {
	t.Parallel()
	for _, call := range []string{`hold(*["long"])`, `hold("long", **{})`, `hold(*view.bids)`, `plan(orders = [order("a", *["buy", 100, 1])])`,
		`plan(target = equity(*["10%"]))`, `plan(target = quote(*[]))`, `many(1, 2, 3)`, `many()`, `named(a = 1)`} {
		source := "def many(*all):\n    return None\ndef named(**all):\n    return None\n" +
			"def decide(view):\n    if view.last < 0:\n        return " + call + "\n"
		if _, err := Compile("my.star", []byte(source)); err != nil {
			t.Errorf("want it compiled, have %v of %s", err, call)
		}
	}
}

func TestForbiddenCallsInDecideAreFoundOnEveryBranch(t *testing.T) {
	t.Parallel()
	_, err := Compile("my.star", []byte("def decide(view):\n    if view.last < 0:\n        state[\"n\"] = 1\n"))
	if err == nil || !strings.Contains(err.Error(), "my.star:3:14: state can be written only in candle(view)") {
		t.Errorf("want state to be candle's, have %v", err)
	}
}

func TestMembersFollowTheTypeOfTheirVariable(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`d = {"a": 1}; d.remove("a")`:                  "d is a dict, which has no .remove field or method",
		`l = [1]; l.keys()`:                            "l is a list, which has no .keys",
		`s = "a"; s.append("b")`:                       "s is a string, which has no .append",
		`s = "%d" % 3; s.append("b")`:                  "s is a string, which has no .append",
		`view.symbol.append("b")`:                      "a string has no .append",
		`x = 1.5; x.round()`:                           "x is a number, which has no .round",
		`x = close; x.upper`:                           "x is a series, which has no .upper",
		`x = bollinger(close, 20); x.signal`:           "bollinger has no .signal: write bollinger(...).upper",
		`x = candles("1d"); x.upper`:                   "candles has no .upper",
		`d = {"a": 1}; e = lambda: d.remove("a")`:      "d is a dict, which has no .remove",
		`l = [x for x in [1]]; l.items()`:              "l is a list, which has no .items",
		`l = sorted([2]) if 1 > 0 else [2]; l.items()`: "l is a list, which has no .items",
		`d = {}; d |= {"b": 2}; d.append(1)`:           "d is a dict, which has no .append",
		`state.pop("a")`:                               "state has no .pop",
		`math.sqroot(2)`:                               "math has no .sqroot",
		`[e.raeson for e in view.events]`:              "e has no .raeson",
	} {
		source := "def helper(view):\n    " + body + "\ndef decide(view):\n    return None\n"
		if _, err := Compile("my.star", []byte(source)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, have %v of %s", want, err, body)
		}
	}
	for _, body := range []string{
		`x = []; x = {}; x.keys()`,                            // of two kinds: it may be right
		`x = None; x = {"a": 1}; x.keys()`,                    //
		`x = [1]; y = x; y.append(2)`,                         //
		`x = "a,b".split(","); x.append("c")`,                 //
		`e = {}; e.keys(); f = [e.kind for e in view.events]`, // names of its own
		`x = 1; [x.keys() for x in [{}]]`,                     //
		`for k, v in {}.items(): k.upper()`,                   //
		`view.memory.get("a", 0); view.bids[0][1]`,            //
		`"a".join([e.rule for e in view.events]).upper()`,     //
	} {
		source := "def helper(view):\n    " + body + "\ndef decide(view):\n    return None\n"
		if _, err := Compile("my.star", []byte(source)); err != nil {
			t.Errorf("want it taken, have %v of %s", err, body)
		}
	}
}

func TestRulesAreExaminedOnEveryBranch(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		`close < 0 and view.postion > 0`:            "view has no .postion",
		`close < 0 and "%s %s" % (1,) == ""`:        "takes 2 values, not 1",
		`close < 0 and rising(close, candle = 3)`:   `rising: unexpected keyword argument "candle"`,
		`close < 0 and view.market == "perp"`:       `.market is never "perp"`,
		`close < 0 or bollinger(close).signal > 0`:  "bollinger has no .signal",
		`close > 0 or known(view.bid, view.ask)`:    "known takes 1 positional arguments, not 2",
		`close > 0 or cross_above(close, 3, 4) > 1`: "cross_above takes 2 positional arguments, not 3",
	} {
		_, err := Rules().New(setting(t, exchange.Futures), strategy.Values{"entry_long": rule})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, have %v of %s", want, err, rule)
		}
	}
}

// Each function with a signature exists, and each function of botd has one or is in a list of exceptions.
func TestEveryFunctionHasASignature(t *testing.T) {
	t.Parallel()
	without := map[string]bool{"max": true, "min": true, "float": true, "int": true, "str": true, // Starlark's own are included
		"filled": true} // a function of the view
	names := map[string]bool{}
	for name, value := range shared {
		_, calls := value.(*starlark.Builtin)
		if _, is := membersOf(name); !calls || name[0] < 'a' || without[name] || logic[name] != nil || is && resultOf(name) != "" {
			continue
		}
		names[name] = true
		_, named := signatures[name]
		if _, counted := positional[name]; named == counted {
			t.Errorf("%s has a signature: %t, and a number of arguments: %t", name, named, counted)
		}
	}
	for name := range signatures {
		if !names[name] && !without[name] && shared[name] == nil {
			t.Errorf("%s has a signature and does not exist", name)
		}
	}
}

// Williams' fractals need a high above its neighbors. Without one, a script that uses them would be rehearsed for 100,000 candles.
func TestTheRehearsalHasExtremes(t *testing.T) {
	t.Parallel()
	s, err := Compile("my.star", []byte("f = fractals()\ndef decide(view): return None\n"))
	if err != nil {
		t.Fatal(err)
	}
	made, err := s.Definition().New(setting(t, exchange.Futures), nil)
	if err != nil {
		t.Fatal(err)
	}
	if have := made.Warmup(); have > 100 {
		t.Errorf("want its first value among the first candles, have a warm-up of %d", have)
	}
}
