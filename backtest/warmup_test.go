package backtest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"botd/exchange"
)

func TestThePlanInForceIsAStrategysLastOne(t *testing.T) {
	t.Parallel()
	list := []decision{{"a", 10, "x"}, {"b", 20, "y"}, {"a", 30, "z"}, {"a", 30, "last"}}
	for _, c := range []struct {
		strategy string
		atMS     int64
		want     string
	}{{"a", 9, ""}, {"a", 10, "x"}, {"a", 29, "x"}, {"a", 30, "last"}, {"a", 99, "last"}, {"b", 19, ""}, {"b", 99, "y"}, {"c", 99, ""}} {
		if have := inForce(list, c.strategy, c.atMS); have != c.want {
			t.Errorf("%s at %d: want %q, have %q", c.strategy, c.atMS, c.want, have)
		}
	}
	legs := make([]Leg, 2)
	legs[0].Strategy.Name, legs[1].Strategy.Name = "a", "b"
	for atMS, want := range map[int64]bool{9: true, 15: true, 25: false, 35: false} { // b and the second of a differ
		if have := sameInForce(legs, list, []decision{{"a", 10, "x"}, {"b", 20, "other"}}, atMS); have != want {
			t.Errorf("at %d: want %v, have %v", atMS, want, have)
		}
	}
}

// A trial that was canceled because of it is not named.
func TestTheFirstTrialThatFailedByItselfIsNamed(t *testing.T) {
	t.Parallel()
	trials := []Trial{{Params: map[string]string{"n": "0"}}, {Params: map[string]string{"n": "1"}}, {Params: map[string]string{"n": "2"}},
		{Params: map[string]string{"n": "3"}}}
	for want, errs := range map[string][]error{
		"":                                {nil, nil, nil, nil},
		"with map[n:2]: broken":           {nil, context.Canceled, errors.New("broken"), errors.New("later")},
		"with map[n:1]: broken":           {nil, errors.New("broken"), context.Canceled, nil},
		"with map[n:3]: context canceled": {nil, nil, nil, context.Canceled},
	} {
		have := ""
		if err := firstFailure(trials, errs); err != nil {
			have = err.Error()
		}
		if have != want {
			t.Errorf("want %q, have %q", want, have)
		}
	}
}

// Cuts are at decisions and at even distances, at each time once, in order.
func TestRunCutPoints(t *testing.T) {
	t.Parallel()
	config := sound()
	config.Legs[0].Tape.Candles = barsAt(exchange.Minute5, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	var decisions []decision
	for i := range int64(4) {
		decisions = append(decisions, decision{"trend", i * 10 * minute, "x"})
	}
	var have []string
	for _, count := range []int{1, 2, 4, 20} {
		var words []string
		for _, ms := range config.cuts(decisions, count) {
			words = append(words, (time.Duration(ms) * time.Millisecond).String())
		}
		have = append(have, strings.Join(words, " "))
	}
	// One cut: at the first decision. Two: also at the close of the sixth of ten candles. Four: at two decisions, and at the candles 3
	// and 6.
	want := []string{"0s", "0s 30m0s", "0s 20m0s 35m0s"}
	for i, w := range want {
		if have[i] != w {
			t.Errorf("want %s, have %s", w, have[i])
		}
	}
	if have := config.unexamined(decisions, 5*minute); len(have) != 0 {
		t.Errorf("it decided at once: have %v", have)
	}
	if have := config.unexamined(decisions[1:], 5*minute); len(have) != 1 || have[0] != "trend" {
		t.Errorf("it decided later: have %v", have)
	}
	for atMS, want := range map[int64]int64{14 * minute: 10 * minute, 15 * minute: 15 * minute} {
		if have := config.closed(atMS); have != want {
			t.Errorf("closed by %d: want %d, have %d", atMS, want, have)
		}
	}
}
