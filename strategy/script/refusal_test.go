package script

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// made compiles a script and makes a strategy of it.
func made(t *testing.T, market exchange.Market, values strategy.Values, lines ...string) error {
	t.Helper()
	s, err := Compile("my.star", []byte(strings.Join(lines, "\n")+"\n"))
	if err != nil {
		return err
	}
	_, err = s.Definition().New(setting(t, market), values)
	return err
}

func TestArgumentsOutsideTheirBoundsAreRefusedAtTheTop(t *testing.T) {
	t.Parallel()
	for top, want := range map[string]string{
		"x = sum(close, 0)": "from 1 to 256 candles", "x = sum(close, 257)": "from 1 to 256 candles", "x = sum(3, 2)": "a series",
		"x = sum(close, 256)":  "",
		"x = rising(close, 0)": "from 1 to 255 candles", "x = rising(close, 256)": "from 1 to 255 candles", "x = falling(3)": "a series",
		"x = rising(close, 255)": "",
		"x = close[256]":         "to 255 candles back", "x = close[-1]": "to 255 candles back", "x = close[1.5]": "must be an integer", "x = close[255]": "",
		"x = abs(close, 2)": "takes", "x = log(*[close, 2])": "log takes from 1 to 1 series", "x = abs(*[close, 2])": "abs takes from 1 to 1 series",
		"x = candles(4)": "candles: for parameter interval: got int", "x = anchored_vwap(3)": "anchored_vwap: for parameter condition: got int",
		"x = value_when(3, close)": "value_when: for parameter condition", "x = where(3, 1, 2)": "where: for parameter condition",
		"x = since(3)": "since: for parameter condition", "x = session(9, 10)": "session: for parameter begin: got int",
		"x = session(\"09:00\", \"10:00\", offset = 20)": "from -14 to 14", "x = correlation(close)": "correlation needs two series",
		"x = correlation(close, 5)": "correlation needs two series", "x = cross_above(*[close])": "cross_above takes two series",
		"x = cross_above(*[close, 2], **{\"a\": 1})": "cross_above takes two series", "x = rising(*[])": "rising: missing argument for series",
		"x = known(*[])": "known: got 0 arguments, want 1", "x = sum(*[])": "sum: missing argument", "x = round(*[])": "round: missing argument",
		"x = plan()": "plan(...) belongs in decide", "x = order(\"a\", \"buy\", 1, 1)": "order(...) belongs in decide",
		"x = targets([])": "targets(...) belongs in decide", "x = trailing(\"3%\")": "trailing(...) belongs in decide",
		"x = risk(1, 2)": "risk(...) belongs in decide", "x = quantity(1)": "quantity(...) belongs in decide", "x = quote(1)": "quote(...) belongs in decide",
		"x = equity(1)": "equity(...) belongs in decide", "notify(\"a\")": "notify(...) belongs in decide",
		"def f(x):\n    return x.format(1)\nx = f(3)":  "int has no .format field or method",
		"def candle(view):\n    state[\"a\"] = ([1],)": "state stores numbers", "def candle(view):\n    state[\"a\"] = (1, (close,))": "state stores numbers",
		"def candle(view):\n    state[\"a\"] = (1, (\"x\", None))": "", "def candle(view):\n    state[\"a\"] = {}": "state stores numbers",
		"x = max(*[close] * 16)": "", "x = max(*[close] * 17)": "max takes from 2 to 16", "x = min(*[close] * 16)": "",
		"x = min(*[close] * 17)": "min takes from 2 to 16", "x = min(close)": "min takes from 2 to 16", "x = close > 1 and [][0]": "out of range",
		"x = close > 1 or [][0]": "out of range", "warmup(1)": "", "param(\"a\", 1)\nreentry(\"x\")": "reentry",
		"x = max(close)": "max takes from 2 to 16", "x = max(close, \"a\")": "needs series or numbers, not a string",
		"x = where(close > 1, \"a\", 2)": "needs series or numbers, not a string", "x = cross_above(close, \"a\")": "needs a series or a number",
		"x = cross_above(1, 2)": "takes two series", "x = cross_above(close)": "takes", "x = candles(\"7m\")": "7m",
		"x = candles(\"1h\", market = \"spot\")":      "symbol names whose candles",
		"x = candles(\"1h\", \"ETH-USDT\", \"moon\")": "market is spot or futures",
		"x = hour(15)": "from -14 to 14", "x = hour(-15)": "from -14 to 14", "x = hour(14)": "", "x = hour(close)": "hours from UTC",
		"x = hour(1, \"UTC\")":      "mutually exclusive",
		"x = hour(zone = \"Mars\")": "unknown time zone", "x = hour(zone = \"Local\")": "unknown time zone",
		"x = session(\"9\", \"10:00\")": "not a time of day", "x = session(\"09:00\", \"25:00\")": "not a time of day",
		"x = session(\"09:00\", \"09:00\")": "no length",
		"x = ema(close, 5, 7)":              "2 parameters given, it has 1", "x = ema(close, close)": "is a number, not series",
		"x = ema(close, 5, period = 5)": "given twice",
		"x = ema(close, \"5\")":         "is a number, not string", "warmup(0)": "from 1 to 100000",
		"warmup(100001)": "from 1 to 100000", "warmup(100000)": "",
		"reentry(\"maybe\")": "maybe", "pair(\"ETH-USDT\", \"moon\")": "not spot or futures", "pair(\"A-USDT\")\npair(\"B-USDT\")": "once",
		"x = hold(\"long\")": "belongs in decide", "x = size()": "belongs in decide", "x = if_(1)": "if_",
		"x = float(close)": "has no value yet", "x = 1 if close > 1 else 2": "no value yet at the top of the file",
		"x = round(1.5, 13)": "0 to 12 digits", "x = round(1.5, -1)": "0 to 12 digits", "x = round(\"a\")": "a number", "x = round(1.5, 12)": "",
		"x = column(\"a\")": "", "p = param(\"A\", 1)": "a-z, 0-9 and _", "p = param(\"\", 1)": "a-z",
		"p = param(\"" + strings.Repeat("a", 65) + "\", 1)": "a-z",
		"p = param(\"" + strings.Repeat("a", 64) + "\", 1)": "", "p = param(\"a\", 1)\nq = param(\"a\", 2)": "already used",
		"p = param(\"a\", None)":           "not a NoneType",
		"p = param(\"a\", 1, min = \"x\")": "min and max must be numbers", "p = param(\"a\", 1, min = 2)": "its default",
		"p = param(\"a\", 3, max = 2)":             "its default",
		"p = param(\"a\", \"x\", oneof = [\"y\"])": "its default", "p = param(\"a\", 2, min = 2, max = 2)": "",
	} {
		err := made(t, exchange.Futures, nil, top, "def decide(view):", "    return None")
		if top == "x = column(\"a\")" {
			want = "there are no columns"
		}
		if have := fmt.Sprint(err); (err == nil) != (want == "") || err != nil && !strings.Contains(have, want) {
			t.Errorf("%.70s: want %q, have %s", top, want, have)
		}
	}
}

func TestADecisionThatTheMarketDoesNotHaveIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		market             exchange.Market
		top, returns, want string
	}{
		{exchange.Futures, "", `hold("up")`, "the side is"}, {exchange.Spot, "", `hold("short")`, "spot has no short positions"},
		{exchange.Spot, "", `hold("flat")`, ""},
		{exchange.Futures, "long_only()", `hold("short")`, "long_only()"},
		{exchange.Futures, "long_only()", `plan(target = quantity(-1))`, "long_only()"},
		{exchange.Futures, "long_only()", `plan(target = quantity(0))`, ""}, {exchange.Futures, "", `plan(target = size(2))`, "the sign is 1"},
		{exchange.Futures, "", `plan(target = size(-2))`, "the sign is 1"}, {exchange.Futures, "", `plan(target = size(-1))`, ""},
		{exchange.Futures, "", `plan(target = 3)`, "target is size(...)"},
		{exchange.Futures, "", `plan(target = size(1), orders = [])`, "mutually exclusive"},
		{exchange.Futures, "", `plan(orders = 3)`, "orders must be a list"}, {exchange.Futures, "", `plan(exits = [3])`, "contains a int"},
		{exchange.Futures, "", `plan(orders = [order("a", "buy", 100, 1), order("a", "sell", 101, 1)])`, `two orders have the key "a"`},
		{exchange.Futures, "", `plan(orders = [order("a", "buy", 100, 1), order("b", "sell", 101, 1)])`, ""},
		{exchange.Futures, "", `plan(leverage = -1)`, "leverage -1"}, {exchange.Futures, "", `plan(stop_loss = "0%")`, "not a percentage above zero"},
		{exchange.Futures, "", `plan(take_profit = "-1%")`, "not a percentage above zero"},
		{exchange.Futures, "", `plan(stop_loss = "x%")`, "not a percentage"},
		{exchange.Futures, "", `plan(stop_loss = -5)`, "is not a price of BTC-USDT"},
		{exchange.Futures, "", `plan(stop_loss = 0.04)`, "is not a price of BTC-USDT"},
		{exchange.Futures, "", `plan(stop_loss = 0.06)`, ""}, {exchange.Futures, "", `plan(stop_loss = "1e29")`, "is not a price"},
		{exchange.Futures, "", `plan(stop_loss = "1e31")`, "is not a number"},
		{exchange.Futures, "", `plan(remember = {"a": 1.5})`, "remember stores integers"},
		{exchange.Futures, "", `plan(remember = {1: 1})`, "remember stores integers"},
		{exchange.Futures, "", `plan(remember = {"a": 1 << 63})`, "remember stores integers"},
		{exchange.Futures, "", `plan(remember = {"a": 1 << 62})`, ""}, {exchange.Futures, "", `plan(target = quantity("x"))`, "is not a number"},
		{exchange.Futures, "", `plan(target = quantity(1 << 80))`, "is too large"},
		{exchange.Futures, "", `plan(target = quantity(close[200]))`, "has no value yet"},
		{exchange.Futures, "", `plan(target = equity([]))`, "needs a number, not a list"},
		{exchange.Futures, "", `plan(target = risk(0, 90))`, "is not between 0 and 1"},
		{exchange.Futures, "", `plan(target = risk("101%", 90))`, "is not between 0 and 1"},
		{exchange.Futures, "", `plan(target = risk("100%", 90))`, ""}, {exchange.Futures, "", `plan(target = risk("x", 90))`, "risk: share"},
		{exchange.Futures, "", `plan(target = risk(0.01, "x"))`, "risk: stop"},
		{exchange.Spot, "", `plan(orders = [order("a", "buy", 100, 1, post_only = True)])`, "spot has no post-only orders"},
		{exchange.Futures, "", `plan(orders = [order("", "buy", 100, 1)])`, "needs a key"},
		{exchange.Futures, "", `plan(orders = [order("a", "buy", 100, 0.0009)])`, "at least a tick"},
		{exchange.Futures, "", `plan(orders = [order("a", "buy", 100, -1)])`, "at least a tick"},
		{exchange.Futures, "", `plan(orders = [order("a", "buy", 0, 1)])`, "order: price"},
		{exchange.Futures, "", `plan(orders = [order("a", "up", 100, 1)])`, "is not \"buy\" or \"sell\""},
		{exchange.Futures, "", `plan(orders = [order("a", "buy", 100, "x")])`, `quantity: "x" is not a number`},
		{exchange.Futures, "", `plan(orders = [order("a", "buy", 100, 1, stop_price = 0)])`, "stop_price"},
		{exchange.Futures, "", `plan(stop_loss = trailing("3"))`, "want a share"},
		{exchange.Futures, "", `plan(stop_loss = trailing("0%"))`, "want a share"},
		{exchange.Futures, "", `plan(stop_loss = trailing("100%"))`, "want a share"},
		{exchange.Futures, "", `plan(exits = targets([("2%", "50%", 1)]))`, "want a list of"},
		{exchange.Futures, "", `plan(exits = targets([3]))`, "want a list of"},
		{exchange.Futures, "", `plan(exits = targets([("2%", "0%")]))`, "shares must be above 0"},
		{exchange.Futures, "", `plan(exits = targets([("0%", "50%")]))`, "not a distance above 0"},
		{exchange.Futures, "", `plan(exits = targets([("2%", "60%"), (130, "40%")]))`, ""},
		{exchange.Futures, "", `plan(exits = targets([("110", "50%")]))`, ""}, {exchange.Futures, "", `hold("lo" + "ngish")`, `hold("longish"): the side is`},
		{exchange.Futures, "", `plan(orders = [order("a", "b" + "y", 100, 1)])`, `order("a"): side "by" is not "buy" or "sell"`},
		{exchange.Futures, "", `plan(target = quantity(*[]))`, "quantity: got 0 arguments, want 1"},
		{exchange.Futures, "", `plan(leverage = "x")`, "plan: for parameter \"leverage\": got string, want int"},
		{exchange.Futures, "", `plan(target = equity("1e-30"))`, ""}, {exchange.Futures, "", `plan(target = equity("1e-31"))`, "is not a number"},
		{exchange.Futures, "", `plan(target = quantity("1e30"))`, "is too large"}, {exchange.Futures, "", `plan(target = quantity("1e31"))`, "is not a number"},
		{exchange.Futures, "", `plan(stop_loss = trailing("0.000001%"))`, ""},
		{exchange.Futures, "", `plan(exits = targets(3))`, "targets: for parameter targets: got int"},
		{exchange.Futures, "", `view.memory.clear()`, "frozen"}, {exchange.Futures, "", `view.events.append(1)`, "frozen"},
		{exchange.Futures, "", `view.working.append(1)`, "frozen"},
		{exchange.Futures, "", `plan(target = size("x"))`, "size: for parameter sign: got string, want int"},
		{exchange.Futures, "", `reentry("never")`, "belongs at the top of the file"}, {exchange.Futures, "", `long_only()`, "belongs at the top of the file"},
		{exchange.Futures, "", `warmup(3)`, "belongs at the top of the file"}, {exchange.Futures, "", `pair("ETH-USDT")`, "belongs at the top of the file"},
		{exchange.Futures, "", `param("a", 1)`, "belongs at the top of the file"}, {exchange.Futures, "", `column("a")`, "belongs at the top of the file"},
		{exchange.Futures, "", `since(close)`, "defines a series"}, {exchange.Futures, "", `hour()`, "defines a series"},
		{exchange.Futures, "", `cross_above(close, "a")`, "cross_above: needs a series or a number, not string"},
		{exchange.Futures, "", `cross_above("a", close)`, "cross_above: needs a series or a number, not string"},
		{exchange.Futures, "def helper():\n    return ema(close, 5)", `helper()`, "ema(...) defines an indicator"},
		{exchange.Futures, "", `3`, "must return hold(...), plan(...) or None"}, {exchange.Futures, "", `close[300]`, "to 255 candles back"},
	} {
		err := made(t, c.market, nil, c.top, "def decide(view):", "    return "+c.returns)
		if have := fmt.Sprint(err); (err == nil) != (c.want == "") || err != nil && !strings.Contains(have, c.want) {
			t.Errorf("%s: want %q, have %s", c.returns, c.want, have)
		}
	}
}

// A comparison with a word that an event, an order or a view never has is always false, so it is refused when the
// script is loaded.
func TestWordsThatNothingEqualsAreFound(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`[e for e in view.events if e.kind == "fill"]`: `.kind is never "fill"`, `[e for e in view.events if e.kind == "filled"]`: "",
		`[e for e in view.events if "fill" != e.kind]`:             `.kind is never "fill"`,
		`[e for e in view.events if e.kind in ["filled", "lost"]]`: `.kind is never "lost"`,
		`[e for e in view.events if e.side == "BUY"]`:              `.side is never "BUY": it is "buy"`, `[e for e in view.events if e.key == "BUY"]`: "",
		`[o for o in view.working if o.side not in ("buy", "left")]`: `.side is never "left"`, `[o for o in view.working if o.type == "left"]`: "",
		`view.market == "moon"`:                            `.market is never "moon": it is "futures" or "spot"`,
		`view.market == ("moon" if close > 1 else "spot")`: `.market is never "moon"`,
		`view.symbol == "moon"`:                            "", `view.market != "spot"`: "", `view.market + "moon"`: "",
	} {
		err := made(t, exchange.Futures, nil, "def decide(view):", "    x = "+line)
		if have := fmt.Sprint(err); (err == nil) != (want == "") || err != nil && !strings.Contains(have, want) {
			t.Errorf("%s: want %q, have %s", line, want, have)
		}
	}
}

// The kinds of an expression show which members exist.
func TestMembersOfExpressionsAreChecked(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`("a" + "b").upper()`: "", `("a" + "b").close`: "a string has no .close", `("%d" % 3).upper()`: "", `("%d" % 3).close`: "a string has no .close",
		`("a" if close > 1 else "b").close`: "a string has no .close", `[1].close`: "a list has no .close", `{}.close`: "a dict has no .close",
		`(1, 2).close`:              "has no .close",
		`{1: x for x in [1]}.close`: "a dict has no .close", `[x for x in [1]].close`: "a list has no .close", `str(1).close`: "has no .close",
		`sorted([1]).close`: "has no .close",
		`math.abs(1)`:       "has no .abs", `math.pi`: "", `view.clos`: "has no .clos", `view.last.x`: "has no .x", `view.symbol.upper()`: "",
		`view.symbol.x`: "has no .x",
		`state.set`:     "has no .set", `state.get("a")`: "", `close.open`: "has no .open", `True.x`: "has no .x", `b"a".x`: "has no .x",
		`bands.x`: "no .x", `bands.upper`: "", `bands.upper.x`: "a series has no .x", `longer.close.x`: "a series has no .x",
		`longer.x`: "has no .x", `longer.close`: "",
	} {
		err := made(t, exchange.Futures, nil, "bands = bollinger(close, 20)", "longer = candles(\"4h\")", "def decide(view):", "    x = "+line)
		if have := fmt.Sprint(err); (err == nil) != (want == "") || err != nil && !strings.Contains(have, want) {
			t.Errorf("%s: want %q, have %s", line, want, have)
		}
	}
}

func TestAScriptWatchesWhatItNames(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]strategy.Watching{
		"view.funding": {Funding: true}, "view.funding_ms": {Funding: true}, "view.events": {Events: true}, "view.missed": {Events: true},
		"view.bid":     {OrderBook: true},
		"view.book_ms": {OrderBook: true}, "view.buying_power": {Funds: true}, "view.last": {},
	} {
		s := written(t, exchange.Futures, nil, "def decide(view):", "    x = "+line)
		if have := strategy.WatchingOf(s); have != want {
			t.Errorf("%s: want %+v, have %+v", line, want, have)
		}
	}
	s := written(t, exchange.Futures, nil, `pair("ETH-USDT", "spot")`, `reentry("never")`, "warmup(77)", "def decide(view):", "    return None")
	want := strategy.Watching{Pair: exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}}
	if have := strategy.WatchingOf(s); have != want || s.Warmup() != 77 || strategy.ReentryOf(s) != strategy.ReentryNever || !strategy.TakesProfit(s) {
		t.Errorf("want what it declares, have %+v, %d, %v", have, s.Warmup(), strategy.ReentryOf(s))
	}
}

// Rules: the candles close at these prices, and each is followed by the side that the rules hold.
func TestRulesEnterLeaveAndReverse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		values strategy.Values
		held   exchange.Quantity // by the account, before the rules decide anything
		prices []float64
		want   string
	}{
		{"nothing is true", strategy.Values{"entry_long": "close > 100"}, 0, []float64{90, 100}, "- -"},
		{"it holds until its exit", strategy.Values{"entry_long": "close > 100", "exit_long": "close < 95"}, 0, []float64{101, 99, 94, 93, 101},
			"long@1 long@1 flat flat long@5"},
		{"each true candle is a signal", strategy.Values{"entry_long": "close > 100"}, 0, []float64{101, 102, 99, 103}, "long@1 long@2 long@2 long@4"},
		{"an entry of the other side reverses", strategy.Values{"entry_long": "close > 100", "entry_short": "close < 90"}, 0,
			[]float64{101, 89, 95, 101}, "long@1 short@2 short@2 long@4"},
		{"both at once are nothing", strategy.Values{"entry_long": "close > 100", "entry_short": "close > 100"}, 0, []float64{101}, "-"},
		{"the exit of the other side is none", strategy.Values{"entry_long": "close > 100", "exit_short": "close < 95"}, 0, []float64{101, 94},
			"long@1 long@1"},
		{"a short position's exit", strategy.Values{"entry_short": "close < 90", "exit_short": "close > 95", "exit_long": "close > 91"}, 0,
			[]float64{89, 92, 96}, "short@1 short@1 flat"},
		{"an exit without an entry", strategy.Values{"entry_long": "close > 100", "exit_long": "close < 95"}, 0, []float64{94}, "-"},
		{"a position from before", strategy.Values{"entry_long": "close > 100", "exit_long": "close < 95"}, 5, []float64{97, 94}, "- flat"},
		{"a short position from before", strategy.Values{"entry_short": "close < 80", "exit_short": "close < 95"}, -5, []float64{97, 94}, "- flat"},
		{"a short position from before and a long exit", strategy.Values{"entry_short": "close < 80", "exit_long": "close < 95"}, -5,
			[]float64{97, 94}, "- -"},
		{"an entry before the exit", strategy.Values{"entry_long": "close < 95", "exit_long": "close < 95"}, 0, []float64{94, 94}, "long@1 long@2"},
	} {
		s, err := Rules().New(setting(t, exchange.Futures), c.values)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		w := newWorld(setting(t, exchange.Futures))
		w.view.Position.Quantity = c.held
		var have []string
		for _, price := range c.prices {
			plan := w.close(s, price)
			side := "-"
			switch {
			case plan.Target == strategy.Target{}:
			case plan.Target.Sign() > 0:
				side = fmt.Sprint("long@", plan.SignalMS/3_600_000)
			case plan.Target.Sign() < 0:
				side = fmt.Sprint("short@", plan.SignalMS/3_600_000)
			default:
				side = "flat"
			}
			have = append(have, side)
		}
		if text := strings.Join(have, " "); text != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, text)
		}
	}
}

func TestRulesThatCannotTradeAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		market exchange.Market
		values strategy.Values
		want   string
	}{
		{exchange.Futures, strategy.Values{"exit_long": "close > 1"}, "neither entry_long nor entry_short is set"},
		{exchange.Spot, strategy.Values{"entry_short": "close > 1"}, "spot has no short positions"},
		{exchange.Spot, strategy.Values{"entry_long": "close > 1"}, ""},
		{exchange.Futures, strategy.Values{"entry_short": "close > 1"}, ""},
		{exchange.Futures, strategy.Values{"entry_long": "ema(close, 5)"}, "is a value, not a condition"},
		{exchange.Futures, strategy.Values{"entry_long": "close - open"}, "is a value, not a condition"},
		{exchange.Futures, strategy.Values{"entry_long": "-close"}, "is a value"},
		{exchange.Futures, strategy.Values{"entry_long": "close[1]"}, "is a value"},
		{exchange.Futures, strategy.Values{"entry_long": "(close)"}, "is a value"},
		{exchange.Futures, strategy.Values{"entry_long": "bollinger(close, 5).upper"}, "is a value"},
		{exchange.Futures, strategy.Values{"entry_long": "3"}, "is a value"},
		{exchange.Futures, strategy.Values{"entry_long": "view.last"}, "not a condition"},
		{exchange.Futures, strategy.Values{"entry_long": "session(\"09:00\", \"10:00\")"}, ""},
		{exchange.Futures, strategy.Values{"entry_long": "since(close > open) < 3 and not sum(close > open, 3) > 2"}, ""},
		{exchange.Futures, strategy.Values{"entry_long": "hour(zone = \"Asia/Tokyo\") == 9"}, ""},
		{exchange.Futures, strategy.Values{"entry_long": "rising(ema(close, 3))"}, ""},
		{exchange.Futures, strategy.Values{"entry_long": "close >"}, "entry_long"},
		{exchange.Futures, strategy.Values{"entry_long": "True", "exit_long": "foo > 1"}, "exit_long"},
	} {
		_, err := Rules().New(setting(t, c.market), c.values)
		if have := fmt.Sprint(err); (err == nil) != (c.want == "") || err != nil && !strings.Contains(have, c.want) {
			t.Errorf("%v: want %q, have %s", c.values, c.want, have)
		}
	}
}

// Names are those of the prices, state and each function, and no internal ones.
func TestTheNamesOfAScriptAreListed(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{}
	for _, name := range Names() {
		if listed[name] || !identifier(name) {
			t.Errorf("%q is listed twice, or is no name", name)
		}
		listed[name] = true
	}
	for _, name := range []string{"state", "close", "hl2", "ema", "param", "hold", "cross_above", "known", "math", "float", "where", "session"} {
		if !listed[name] {
			t.Errorf("%s is not listed", name)
		}
	}
	for _, name := range []string{"<", ".format", "%"} {
		if listed[name] {
			t.Errorf("%s is listed", name)
		}
	}
}

func TestAPlanOfAScriptHasItsParts(t *testing.T) {
	t.Parallel()
	price := func(tenths int64) exchange.Price {
		return exchange.Price(tenths) * setting(t, exchange.Futures).Symbol.PriceTick
	}
	step := setting(t, exchange.Futures).Symbol.QuantityTick
	for _, c := range []struct {
		returns string
		want    strategy.Plan
	}{
		{`hold("long", "r")`, strategy.Plan{Target: strategy.Target{Kind: strategy.ByEquity, Share: exchange.RateOne / 2}, Reason: "r"}},
		{`hold("short")`, strategy.Plan{Target: strategy.Target{Kind: strategy.ByEquity, Share: -exchange.RateOne / 2}}},
		{`hold("flat")`, strategy.Plan{Target: strategy.Flat()}}, {`plan(target = size(0))`, strategy.Plan{Target: strategy.Flat()}},
		{`plan(target = quantity(-0.0019))`, strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: -step}}},
		{`plan(target = quantity(0.0009))`, strategy.Plan{Target: strategy.Flat()}},
		{`plan(target = equity("12.5%"))`, strategy.Plan{Target: strategy.Target{Kind: strategy.ByEquity, Share: exchange.RateOne / 8}}},
		{`plan(target = quote(-99.5))`, strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuote, Quote: exchange.MustAmount("-99.5")}}},
		// 1 % of 10000 between 100 and 90.
		{`plan(target = risk("1%", 90))`, strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 10_000 * step}}},
		{`plan(target = risk(0.01, 110))`, strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: -10_000 * step}}},
		{`plan(orders = [], exits = [], leverage = 3)`, strategy.Plan{OrdersSet: true, ExitsSet: true, Leverage: 3}},
		{`plan(orders = [order("a", "buy", 99.99, 0.0029, post_only = True), order("b", "sell", 101.01, quote(-202.2), stop_price = 101.06)])`,
			strategy.Plan{OrdersSet: true,
				Orders: []strategy.DesiredOrder{{Key: "a", Side: exchange.Buy, Price: price(999), Quantity: 2 * step, PostOnly: true},
					{Key: "b", Side: exchange.Sell, Price: price(1_011), Quantity: 2_000 * step, StopPrice: price(1_011)}}}},
		{`plan(exits = [order("a", "sell", 200, equity("-10%")), order("b", "sell", 200, quantity(-0.5))])`,
			strategy.Plan{ExitsSet: true, Exits: []strategy.DesiredOrder{{Key: "a", Side: exchange.Sell, Price: price(2_000), Quantity: 5_000 * step},
				{Key: "b", Side: exchange.Sell, Price: price(2_000), Quantity: 500 * step}}}},
		{`plan(stop_loss = "2%", take_profit = 110.04)`, strategy.Plan{Protection: strategy.Protection{Set: true,
			StopLoss: strategy.Distance{Share: exchange.RateOne / 50}, TakeProfit: strategy.Distance{Price: price(1_100)}}}},
		{`plan(stop_loss = trailing("3%"))`,
			strategy.Plan{Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 100 * 3}}}},
		{`plan(exits = targets([("2%", "100%")]))`, strategy.Plan{ExitsSet: true}}, {`None`, strategy.Plan{}},
	} {
		s := written(t, exchange.Futures, nil, "def decide(view):", "    return "+c.returns)
		have := newWorld(setting(t, exchange.Futures)).close(s, 100)
		if len(have.Orders)+len(have.Exits) == 0 {
			have.Orders, have.Exits = nil, nil
		}
		if !reflect.DeepEqual(fmt.Sprintf("%+v", c.want), fmt.Sprintf("%+v", *have)) {
			t.Errorf("%s:\nwant %+v\nhave %+v", c.returns, c.want, *have)
		}
	}
}
