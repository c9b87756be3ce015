package timeline

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/runtime/ops"
	"botd/runtime/view"
)

// shown are the events of a story: seconds after night, source and event.
func shown(s *Story) string {
	var all []string
	for _, e := range s.Events() {
		all = append(all, fmt.Sprintf("%g %s %s", e.At.Sub(night).Seconds(), e.Source, e.Event))
	}
	return strings.Join(all, ", ")
}

// TestARecordNearTheBoundsOfAStoryIsShownOnce uses a line of the log 5 seconds from its record at most: the clocks of machine and
// exchange may differ by that.
func TestARecordNearTheBoundsOfAStoryIsShownOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		length         int // of the story, in seconds
		line, recorded float64
		want           string
	}{
		{"both within", 60, 10, 11, "10 log order.fill"},
		{"the line just before the story", 60, -5, 1, ""},
		{"the line further before it", 60, -5.5, 1, "1 journal fill"},
		{"the line just after the story", 60, 65, 59, ""},
		{"the line further after it", 60, 65.5, 59, "59 journal fill"},
		{"a story shorter than the clocks differ", 2, 1, 1, "1 log order.fill"},
		{"the record just before the story", 60, 1, -1, "1 log order.fill"},
		{"at its first moment", 60, 0, 0, "0 log order.fill"},
		{"at its last moment", 60, 60, 60, "60 log order.fill"},
	} {
		s := &Story{Since: night, Until: night.Add(time.Duration(c.length) * time.Second)}
		moment := func(seconds float64) time.Time { return night.Add(time.Duration(seconds * float64(time.Second))) }
		s.Line(&ops.LogLine{Time: moment(c.line).Format(time.RFC3339Nano), Event: "order.fill", ClientOrderID: "bx-1-1"})
		r := stored(0, "trend", "bx-1-1", record.Fill{Filled: 1})
		r.AtMS = moment(c.recorded).UnixMilli()
		s.Record(r)
		if have := shown(s); have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
	s := &Story{}
	s.Line(&ops.LogLine{Time: "yesterday", Event: "order.fill"})
	if have := shown(s); have != "" {
		t.Errorf("a line without a time: want it left out, have %q", have)
	}
}

// TestARecordWithoutAnOrderIsComparedByTimeAndEvent uses a halt and lines of the log.
func TestARecordWithoutAnOrderIsComparedByTimeAndEvent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event string
		at    int
		want  string
	}{
		{"trading.halted", 15, "15 log trading.halted"},
		{"trading.halted", 5, "5 log trading.halted"},
		{"trading.halted", 16, "10 journal halt, 16 log trading.halted"},
		{"trading.halted", 4, "4 log trading.halted, 10 journal halt"},
		{"order.fill", 10, "10 log order.fill, 10 journal halt"},
	} {
		s := &Story{}
		s.Line(&ops.LogLine{Time: at(c.at), Event: c.event})
		s.Record(stored(10, "", "", record.Halt{Level: record.LevelPause}))
		if have := shown(s); have != c.want {
			t.Errorf("%s at %d: want %q, have %q", c.event, c.at, c.want, have)
		}
	}
}

// TestWhatAnEntryShows covers an order's record, a person's action and an incident.
func TestWhatAnEntryShows(t *testing.T) {
	t.Parallel()
	s := &Story{}
	order := stored(1, "trend", "bx-1-2", record.Uncertain{Reason: "timeout"})
	order.Symbol = exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}
	s.Record(order)
	s.Record(stored(2, "", "", record.Audit{Actor: "phone", Role: "operator", Action: "POST /api/v1/halt", Detail: "pause:  night"}))
	s.Incident(&view.Incident{ID: "3", Kind: "blind", Severity: "critical", Cause: "EOF", Strategy: "trend", Market: "spot", Symbol: "BTC-USDT",
		Opened: night.Add(3 * time.Second).In(time.FixedZone("east", 7_200))})
	want := []Event{
		{At: night.Add(time.Second), Source: "journal", Event: "unknown", Strategy: "trend", Market: "spot", Symbol: "BTC-USDT", ClientOrderID: "bx-1-2",
			Text: order.Summary()},
		{At: night.Add(2 * time.Second), Source: "audit", Event: "POST /api/v1/halt", Text: "phone operator pause: night"},
		{At: night.Add(3 * time.Second), Source: "incident", Event: "incident.opened", Strategy: "trend", Market: "spot", Symbol: "BTC-USDT",
			Text: "3, critical: BLIND: EOF"},
	}
	have := s.Events()
	if fmt.Sprintf("%+v", have) != fmt.Sprintf("%+v", want) {
		t.Errorf("want\n%+v, have\n%+v", want, have)
	}
}

// TestAnOutageThatReturnsAfterTwoMinutesIsAnEntryOfItsOwn covers two requests without an answer.
func TestAnOutageThatReturnsAfterTwoMinutesIsAnEntryOfItsOwn(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[int]int{119: 1, 120: 2, 121: 2} {
		s := &Story{}
		for _, second := range []int{0, seconds} {
			s.Line(&ops.LogLine{Time: at(second), Event: "exchange.unavailable", Message: "no account"})
		}
		if have := len(s.Events()); have != want {
			t.Errorf("%d seconds later: want %d events, have %d", seconds, want, have)
		}
	}
}

func TestAStoryIsBounded(t *testing.T) {
	t.Parallel()
	s := &Story{}
	for range 20_003 {
		s.Line(&ops.LogLine{Time: at(1), Event: "order.fill"})
	}
	if have := len(s.Events()); have != 20_000 || s.Left != 3 {
		t.Errorf("want 20,000 events and 3 left, have %d and %d", have, s.Left)
	}
}
