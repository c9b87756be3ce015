package script

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

func TestFunctionsOfSeriesAreSeries(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil,
		"span = max(close, open) - min(close, open, 1000)",
		"far = abs(close - 100)",
		"all = sum(close, 3)",
		"growth = log(close / close[1])",
		"late = hour()",
		"local = hour(offset = -5)",
		"def decide(view):",
		"    print(\"%g %g %g %g %g %g %g\" % (span + 0, far + 0, all + 0, growth + 0, late + 0, local + 0, max(far, 7)))",
		"    return plan(reason = \"%d %d\" % (max([1, 3]), abs(-2)))")
	w := newWorld(setting(t, exchange.Futures))
	for _, to := range []float64{100, 110, 90, 95} {
		plan := w.close(s, to)
		if to == 95 && !strings.HasPrefix(plan.Reason, "3 2") {
			t.Errorf("want Starlark's own max and abs of numbers, have %q", plan.Reason)
		}
		if to == 95 {
			var span, far, all, growth float64
			for i, part := range strings.Fields(strings.TrimPrefix(plan.Reason, "3 2 · "))[:4] {
				*[]*float64{&span, &far, &all, &growth}[i] = figure(t, part)
			}
			if far != 5 || all != 295 || math.Abs(growth-math.Log(95.0/90)) > 1e-5 || span < 0 {
				t.Errorf("want 5, 295 and the logarithm of 95/90, have %v", plan.Reason)
			}
		}
	}
}

// TestTheTimeOfTheCloseIsASeries checks three closes.
func TestTheTimeOfTheCloseIsASeries(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil, "day, late, east, past = weekday(), hour(), hour(5.5), minute(5.5)", "def decide(view):",
		"    return plan(reason = \"%d %d %d %d\" % (day + 0, late + 0, east + 0, past + 0))")
	symbol := setting(t, exchange.Futures).Symbol
	view, plan := strategy.View{Symbol: symbol, Interval: exchange.Minute1}, strategy.Plan{}
	for openMS, want := range map[int64]string{
		1767222000000: "3 0 5 30", // closes 2026-01-01 00:00 UTC, a Thursday
		1767304800000: "3 23 4 30",
		1767567600000: "0 0 5 30",
	} {
		candles := &exchange.Candles{}
		candles.Append(exchange.Candle{OpenMS: openMS, Open: 1e8, High: 1e8, Low: 1e8, Close: 1e8})
		view.SetHistory(candles, 1)
		view.NowMS, view.Last = openMS+60_000, 1e8
		s.Candle(&view)
		plan.Reset()
		s.Decide(&view, &plan)
		if plan.Reason != want {
			t.Errorf("a candle that opens at %d: want %q, have %q", openMS, want, plan.Reason)
		}
	}
}

func TestRulesCanUseTheTimeAndFunctions(t *testing.T) {
	t.Parallel()
	made, err := Rules().New(setting(t, exchange.Futures), strategy.Values{"entry_long": "abs(close - 100) > 5 and hour() >= 0 and max(close, open) > 0"})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(setting(t, exchange.Futures))
	w.close(made, 100)
	if plan := w.close(made, 120); plan.Target.Sign() != 1 {
		t.Errorf("want it long, have %+v", plan)
	}
}

// A call of state.pop once passed the check, and stopped the strategy when it was reached.
func TestAMemberThatDoesNotExistIsFoundOnEveryBranch(t *testing.T) {
	t.Parallel()
	const far = "def decide(view):\n    if close > 1000000:\n        "
	for source, want := range map[string]string{
		"def candle(view):\n    if close > 1:\n        state.pop(\"ups\")\ndef decide(view): return None\n":       "my.star:3:14: state has no .pop",
		"def decide(view):\n    if view.position > 99999:\n        return hold(\"flat\", reason = view.raeson)\n": "my.star:3:42: view has no .raeson",
		far + "print([1].push(2))\n":                                  "a list has no .push",
		far + "return hold(\"flat\", reason = str(math.sqroot(2)))\n": "math has no .sqroot",
	} {
		_, err := Compile("my.star", []byte(source))
		var at *strategy.SourceError
		if !errors.As(err, &at) || !strings.Contains(err.Error(), strings.TrimPrefix(want, "")) {
			t.Errorf("want %q, have %v\n%s", want, err, source)
		}
	}
	for _, source := range []string{
		"def decide(view):\n    seen = {}\n    seen.pop(\"a\", None)\n    return hold(\"flat\", reason = \", \".join([o.key for o in view.working]))\n",
		"bands = bollinger(close, 20)\nday = candles(\"1d\")\ndef decide(view):\n    if close > bands.upper and day.close > 1:\n        return None\n",
		"def decide(view):\n    return hold(\"flat\", reason = str([e.kind for e in view.events if e.rule != \"\"]))\n",
	} {
		if _, err := Compile("my.star", []byte(source)); err != nil {
			t.Errorf("want it taken, have %v\n%s", err, source)
		}
	}
}

func figure(t *testing.T, text string) float64 {
	t.Helper()
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestRehearsalErrorNamesSyntheticShort(t *testing.T) {
	t.Parallel()
	text := faultOf(t, exchange.Futures, "def decide(view):\n    if view.position < 0:\n        fail(\"never\")\n")
	if !strings.Contains(text, "synthetic short position") {
		t.Errorf("want it to say that it was short, have %q", text)
	}
	if text := faultOf(t, exchange.Futures, "def decide(view):\n    fail(\"always\")\n"); strings.Contains(text, "synthetic") {
		t.Errorf("want nothing of a position that has no part in it, have %q", text)
	}
}

// The candle is tried in each position, too; a failure there has nothing to do with a short one.
func TestAFailureOfACandleIsNotThatOfAShortPosition(t *testing.T) {
	t.Parallel()
	text := faultOf(t, exchange.Futures, "def candle(view):\n    if view.position == 0:\n        fail(\"never flat\")\ndef decide(view):\n    return None\n")
	if !strings.Contains(text, "never flat") || strings.Contains(text, "synthetic") {
		t.Errorf("want the failure alone, have %q", text)
	}
}

// A series and twice the same have the correlation 1 and, with equal returns, the beta 1. One series alone is
// refused.
func TestAnIndicatorOfTwoSeriesTakesBoth(t *testing.T) {
	t.Parallel()
	s := written(
		t,
		exchange.Futures,
		nil,
		"twice = close * 2",
		"same, away = correlation(close, twice, 3), correlation(close, -close, 3)",
		"slope = beta(close, twice, 3)",
		"def decide(view):",
		"    return plan(reason = \"%d %d %d\" % (round(same), round(away), round(slope)) if known(slope) else \"\")",
	)
	w := newWorld(setting(t, exchange.Futures))
	for i, to := range []float64{100, 110, 90, 95, 97} {
		if plan := w.close(s, to); i >= 3 && plan.Reason != "1 -1 1" {
			t.Errorf("candle %d: want 1, -1 and 1, have %q", i, plan.Reason)
		}
	}
	if _, err := Compile("two.star", []byte("c = correlation(close, 30)\ndef decide(view):\n    pass\n")); err == nil ||
		!strings.Contains(err.Error(), "two series") {
		t.Errorf("want it refused: correlation of one series, have %v", err)
	}
}

// A script that may go short gets an error that shows its input.
func TestLongOnlyScriptIsNotTestedShort(t *testing.T) {
	t.Parallel()
	refuses := "def decide(view):\n    if view.position < 0:\n        fail(\"never short\")\n    return hold(\"long\")\n"
	if have := faultOf(t, exchange.Futures, refuses); !strings.Contains(have, "never short") || !strings.Contains(have, "must call long_only()") {
		t.Errorf("want the short and long_only() named, have %q", have)
	}
	if have := faultOf(t, exchange.Futures, "long_only()\n"+refuses); have != "" {
		t.Errorf("want it accepted, have %q", have)
	}
	if have := faultOf(t, exchange.Futures, "long_only()\ndef decide(view):\n    return hold(\"short\")\n"); !strings.Contains(have, "calls long_only()") {
		t.Errorf("want its short refused, have %q", have)
	}
}

// Rules cannot call long_only(), so that no error advises it.
func TestRulesThatFailWhileShortAreNotAdvisedLongOnly(t *testing.T) {
	t.Parallel()
	_, err := Rules().New(setting(t, exchange.Futures), strategy.Values{"entry_long": "close > 1 if view.position >= 0 else [][0]"})
	if have := fmt.Sprint(err); !strings.Contains(have, "synthetic short position: a rule must be") || strings.Contains(have, "long_only") {
		t.Errorf("want the short position named, without long_only(), have %q", have)
	}
}

func TestAScriptNotifiesPeopleInDecideAlone(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil,
		"def decide(view):",
		"    notify(\"at %d\" % (close + 0))",
		"    return None if close < 105 else plan(reason = \"above\")")
	w := newWorld(setting(t, exchange.Futures))
	for _, to := range []float64{100, 110} {
		if notices := w.close(s, to).Notices(); len(notices) != 1 || notices[0] != "at "+strconv.Itoa(int(to)) {
			t.Errorf("at %g: want one text, with a plan and without, have %q", to, notices)
		}
	}
	for text, want := range map[string]string{
		"notify(\"top\")\ndef decide(view):\n    return None\n":                         "belongs in decide",
		"def candle(view):\n    notify(\"past\")\ndef decide(view):\n    return None\n": "belongs in a script's decide",
		"def decide(view):\n    notify(3)\n":                                            "want string",
		"def decide(view):\n    notify()\n":                                             "missing argument",
	} {
		made, err := Compile("a.star", []byte(text))
		if err == nil {
			_, err = made.Definition().New(setting(t, exchange.Futures), nil)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: want %q, have %v", text, want, err)
		}
	}
}
