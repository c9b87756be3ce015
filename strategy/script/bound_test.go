package script

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

// A call may take a million steps (docs/strategies.md). The interpreter counts them; a loop takes the same number in each turn.
func TestACallTakesAMillionSteps(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil, "def decide(view):", "    n = 0", "    for _ in range(view.missed):", "        n += 1", "    return None")
	w, r := newWorld(setting(t, exchange.Futures)), s.(*running)
	stepsOf := func(turns int) (steps uint64, failure error) {
		before := r.thread.ExecutionSteps()
		w.view.Missed = turns
		defer func() {
			failure, _ = recover().(error)
			steps = r.thread.ExecutionSteps() - before
		}()
		w.close(s, 100)
		return 0, nil
	}
	few, _ := stepsOf(1_000)
	many, _ := stepsOf(2_000)
	turn := int(many-few) / 1_000
	if turn < 1 {
		t.Fatalf("want steps for each turn, have %d and %d", few, many)
	}
	if steps, err := stepsOf(990_000 / turn); err != nil || steps < 980_000 || steps > 1_000_000 {
		t.Errorf("want it to decide within a million steps, have %d, %v", steps, err)
	}
	if steps, err := stepsOf(990_000 / turn); err != nil { // each call has its own
		t.Errorf("want the next call to take as many, have %d, %v", steps, err)
	}
	if steps, err := stepsOf(1_010_000 / turn); err == nil || !strings.Contains(err.Error(), "took too many steps") {
		t.Errorf("want it ended, have %d, %v", steps, err)
	}
}

func TestTheTopTakesTenMillionSteps(t *testing.T) {
	t.Parallel()
	have := faultOf(t, exchange.Futures, "x = [1 for _ in range(100000000)]\ndef decide(view):\n    pass\n")
	if !strings.Contains(have, "took too many steps") {
		t.Errorf("want it ended, have %s", have)
	}
}

func TestTheTopTakesMoreStepsThanACall(t *testing.T) {
	t.Parallel()
	if have := faultOf(t, exchange.Futures, "x = [1 for _ in range(250000)]\ndef decide(view):\n    pass\n"); have != "" {
		t.Errorf("want more than a million steps taken, have %s", have)
	}
}

// State has ten thousand entries; a key that is there can be written again.
func TestTheEntriesOfStateAreBounded(t *testing.T) {
	t.Parallel()
	const script = "def candle(view):\n    for i in range(%d):\n        state[i] = i\ndef decide(view):\n    return plan(reason = str(len(state.keys())))\n"
	s := written(t, exchange.Futures, nil, fmt.Sprintf(script, 10_000))
	w := newWorld(setting(t, exchange.Futures))
	for range 2 {
		if have := w.close(s, 100).Reason; have != "10000" {
			t.Errorf("want 10000, have %s", have)
		}
	}
	if have := faultOf(t, exchange.Futures, fmt.Sprintf(script, 10_001)); !strings.Contains(have, "state already has 10000 entries") {
		t.Errorf("want one more refused, have %s", have)
	}
}

// A price that the symbol's units cannot hold is refused, not another price.
func TestAPriceBeyondTheUnitsOfItsSymbolIsRefused(t *testing.T) {
	t.Parallel()
	place := setting(t, exchange.Futures)
	finest := exchange.SymbolSpec{Market: exchange.Futures, Name: "BTC-USDT", Base: "BTC", Quote: "USDT", PriceTick: decimal.New(1, -8),
		QuantityTick: decimal.New(1, -3), MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000_000)}
	ticked, err := exchange.NewSymbol(finest)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		symbol         *exchange.Symbol
		highest, above string
	}{
		{place.Symbol, "92233720368.5", "92233720368.6"}, // 2^63 units of a hundred-millionth, and a step of 0.1
		{place.Symbol, "92233720368.5", "200000000000"},
		{ticked, "11258999.06842624", "11258999.06842625"}, // 2^50 steps
	} {
		place.Symbol = c.symbol
		for _, price := range []string{c.highest, c.above} {
			compiled, err := Compile("my.star", []byte("def decide(view):\n    return plan(take_profit = \""+price+"\")\n"))
			if err != nil {
				t.Fatal(err)
			}
			_, err = compiled.Definition().New(place, nil)
			if price == c.highest && err != nil || price == c.above && (err == nil || !strings.Contains(err.Error(), price+" is not a price of BTC-USDT")) {
				t.Errorf("at most %s: %s has %v", c.highest, price, err)
			}
		}
	}
}

// Every value can be printed, and all but empty, zero and false ones are true. A value that changes cannot be a key.
func TestTheValuesOfAScriptAsTextsAndKeys(t *testing.T) {
	t.Parallel()
	const top = "bands = donchian(2)\nday = candles(\"4h\")\n"
	for expression, want := range map[string]string{
		"bands": "donchian(upper=120, middle=112.5, lower=105)", "day": "candles(4h)", "view": "view", "hold(\"long\")": "plan", "size(1)": "target",
		"order(\"a\", \"buy\", 100, 1)": "order", "plan()": "plan", "close": "120.0", "state": "{}",
		"[bool(x) for x in [bands, day, view, hold(\"long\"), size(1), close]]":        "[True, True, True, True, True, True]",
		"[type(x) for x in [bands, day, view, hold(\"long\"), size(1), close, state]]": `["donchian", "candles", "view", "plan", "target", "series", "state"]`,
		"[bool(close - close), bool(close[9] > 1), bool(state), type(bands.upper)]":    `[False, False, False, "series"]`,
		"dir(bands)": `["lower", "middle", "upper"]`, "dir(day)[:3]": `["close", "high", "hl2"]`, "dir(state)": `["get", "items", "keys", "values"]`,
		"dir(view)[:3]": `["ask", "asks", "bid"]`, "(bands.upper[1], day.close[0])": "(110.0, 120.0)",
	} {
		if have := output(t, nil, top, expression); have != want {
			t.Errorf("%s: want %s, have %s", expression, want, have)
		}
	}
	for expression, want := range map[string]string{
		"bands": "donchian cannot be a key", "day": "candles cannot be a key", "view": "a view cannot be a key", "hold(\"long\")": "plan cannot be a key",
		"size(1)": "target cannot be a key", "order(\"a\", \"buy\", 100, 1)": "order cannot be a key", "close": "a series cannot be a key",
		"state": "state cannot be a key",
	} {
		if have := faultOf(t, exchange.Futures, top+"def decide(view):\n    x = {"+expression+": 1}\n"); !strings.Contains(have, want) {
			t.Errorf("%s: want %q, have %s", expression, want, have)
		}
	}
}

// A quantity at risk is fixed at its entry. Each step is what the account holds, since when, and what the strategy desires at the current price.
func TestAQuantityAtRiskIsThatOfItsEntry(t *testing.T) {
	t.Parallel()
	type step struct {
		held    exchange.Quantity
		sinceMS int64
		now     exchange.Quantity
		want    exchange.Quantity
	}
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"it follows the price while nothing is held", []step{{0, 0, 5, 5}, {0, 0, 7, 7}}},
		{"a part fills, then the rest", []step{{0, 0, 5, 5}, {1, 9, 3, 5}, {5, 9, 2, 5}, {5, 9, 8, 5}}},
		{"a part of a short one fills", []step{{0, 0, -5, -5}, {-1, 9, -3, -5}, {-5, 9, -8, -5}}},
		{"the smallest quantity", []step{{0, 0, 1, 1}, {1, 9, 1, 1}, {1, 9, 4, 1}}},
		{"the smallest short quantity", []step{{0, 0, -1, -1}, {-1, 9, -4, -1}}},
		{"a position from before the start", []step{{7, 9, 3, 7}, {7, 9, 1, 7}, {6, 9, 1, 7}}},
		{"the smallest position from before the start", []step{{1, 9, 5, 1}, {1, 9, 6, 1}}},
		{"a larger position than was desired", []step{{0, 0, 5, 5}, {8, 9, 3, 8}}},
		{"it ends, and the next has its own", []step{{0, 0, 5, 5}, {5, 9, 3, 5}, {0, 0, 4, 4}, {4, 11, 2, 4}}},
		{"another position follows at once", []step{{0, 0, 5, 5}, {5, 9, 3, 5}, {2, 10, 3, 2}, {2, 10, 9, 2}}},
		{"the other side", []step{{0, 0, 5, 5}, {5, 9, -3, -3}, {-1, 10, -2, -3}, {-3, 10, -9, -3}}},
		{"a position that was not desired", []step{{0, 0, -5, -5}, {1, 9, 2, 1}}},
		{"a short position that was not desired", []step{{0, 0, 5, 5}, {-1, 9, -2, -1}}},
	} {
		s := sized{}
		for i, step := range c.steps {
			v := &strategy.View{Position: strategy.Position{Quantity: step.held, SinceMS: step.sinceMS}}
			if have := s.at(v, step.now); have != step.want {
				t.Errorf("%s, step %d: want %d, have %d", c.name, i+1, step.want, have)
			}
		}
	}
}

// A rule that is a number only while a position is short fails in the rehearsal. Rules cannot declare long_only().
func TestARuleThatIsNoConditionWhileShort(t *testing.T) {
	t.Parallel()
	_, err := Rules().New(setting(t, exchange.Futures), strategy.Values{"entry_long": "view.position if view.position < 0 else close > 1"})
	var wrong *strategy.ValueError
	if !errors.As(err, &wrong) || wrong.Parameter != "entry_long" || wrong.Err.Error() != "is a float, not a condition: compare it with something" {
		t.Errorf("want the parameter and no other text, have %v", err)
	}
}

// The reason of a plan is the rule that was true last.
func TestThePlanOfRulesNamesItsRule(t *testing.T) {
	t.Parallel()
	s, err := Rules().New(setting(t, exchange.Futures), strategy.Values{"entry_long": "close > 100", "exit_long": "close < 95", "entry_short": "close < 80",
		"exit_short": "close > 90"})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(setting(t, exchange.Futures))
	for i, c := range []struct {
		price    float64
		reason   string
		side     int
		signalMS int64
	}{
		{98, "", 0, 0}, {101, "entry_long: close > 100", 1, 2 * 3_600_000}, {99, "entry_long: close > 100", 1, 2 * 3_600_000},
		{94, "exit_long: close < 95", 0, 0}, {79, "entry_short: close < 80", -1, 5 * 3_600_000}, {85, "entry_short: close < 80", -1, 5 * 3_600_000},
		{91, "exit_short: close > 90", 0, 0}, {102, "entry_long: close > 100", 1, 8 * 3_600_000},
	} {
		p := w.close(s, c.price)
		if p.Reason != c.reason || p.Target.Sign() != c.side || p.SignalMS != c.signalMS {
			t.Errorf("candle %d: want %+v, have %q, %d, %d", i+1, c, p.Reason, p.Target.Sign(), p.SignalMS)
		}
	}
}

// The smallest part of a position is an order, and a remainder too small for one is left to the last of all parts alone.
func TestTheSmallestTakeProfits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		targets string
		held    exchange.Quantity // in steps
		want    string
	}{
		{`[("1%", "50%"), ("2%", "50%")]`, 2, "target 1 long 1 at 101, target 2 long 1 at 102"},
		{`[("1%", "50%"), ("2%", "50%")]`, 3, "target 1 long 1 at 101, target 2 long 2 at 102"},
		{`[("1%", "50%"), ("2%", "50%")]`, 1, "target 2 long 1 at 102"},
		{`[("1%", "50%"), ("2%", "49%")]`, 1, ""},
		{`[("1%", "50%"), ("2%", "49%")]`, -200, "target 1 short 100 at 99, target 2 short 98 at 98"},
		{`[(0.5, 0.25), ("130", 0.25)]`, 8, "target 1 long 2 at 0.5, target 2 long 2 at 130"},
		{`[]`, 8, ""},
	} {
		s := written(t, exchange.Futures, nil, "def decide(view):", "    return plan(exits = targets("+c.targets+"))")
		w := newWorld(setting(t, exchange.Futures))
		symbol := w.view.Symbol
		w.view.Position = strategy.Position{Quantity: c.held * symbol.QuantityTick, EntryPrice: exchange.AmountOf(100), SinceMS: 1}
		var have []string
		for _, o := range w.close(s, 100).Exits {
			have = append(have, fmt.Sprintf("%s %d at %s", o.Key, o.Quantity/symbol.QuantityTick, symbol.PriceDecimal(o.Price)))
		}
		if text := strings.Join(have, ", "); text != c.want {
			t.Errorf("%s of %d: want %q, have %q", c.targets, c.held, c.want, text)
		}
	}
}
