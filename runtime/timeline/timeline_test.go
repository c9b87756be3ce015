package timeline

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"botd/reconcile/journal"
	"botd/reconcile/record"
	"botd/runtime/incident"
	"botd/runtime/ops"
	"botd/runtime/view"
)

var night = time.Date(2026, 11, 23, 3, 12, 0, 0, time.UTC)

func at(second int) string {
	return night.Add(time.Duration(second) * time.Second).Format(time.RFC3339Nano)
}

func stored(second int, strategy, order string, body record.Body) *journal.Stored {
	return &journal.Stored{Record: record.Record{AtMS: night.Add(time.Duration(second) * time.Second).UnixMilli(), Strategy: strategy,
		ClientOrderID: order, Body: body}}
}

// TestFactsAreShownOnceInOrder covers a fill that is in log and journal, a halt by a person, an order whose log line is
// lost, and an incident.
func TestFactsAreShownOnceInOrder(t *testing.T) {
	t.Parallel()
	s := &Story{Since: night, Until: night.Add(time.Minute)}
	for _, l := range []ops.LogLine{
		{Time: at(-60), Event: "order.placed", Message: "too early"},
		{Time: at(1), Event: "order.fill", ClientOrderID: "bx-1-1", Strategy: "trend", Message: "fill trend BUY 0.01"},
		{Time: at(2), Event: "risk.approved", Message: "routine"},
		{Time: at(30), Event: "trading.halted", Level: "error", Message: "HALTED pause: night"},
	} {
		s.Line(&l)
	}
	s.Record(stored(31, "", "", record.Halt{Level: record.LevelPause, Reason: "night"}))
	s.Record(stored(29, "", "", record.Audit{Actor: "phone", Role: "operator", Action: "POST /api/v1/risk/halt", Detail: "pause: night"}))
	s.Record(stored(1, "trend", "bx-1-1", record.Fill{}))
	s.Record(stored(10, "trend", "bx-1-2", record.Uncertain{Reason: "timeout"}))
	s.Record(stored(11, "trend", "", record.Memory{}))
	s.Record(stored(12, "trend", "bx-1-3", record.Fill{OrderID: 3})) // it rests: nothing has filled
	closed := night.Add(50 * time.Second)
	s.Incident(&view.Incident{ID: "3", Kind: "blind", Severity: incident.Critical, Cause: "EOF", Opened: night.Add(20 * time.Second), Closed: &closed})
	var have []string
	for _, e := range s.Events() {
		have = append(have, fmt.Sprintf("%d %s %s", int(e.At.Sub(night).Seconds()), e.Source, e.Event))
	}
	want := "1 log order.fill, 10 journal unknown, 20 incident incident.opened, 29 audit POST /api/v1/risk/halt, 30 log trading.halted, " +
		"50 incident incident.closed"
	if text := strings.Join(have, ", "); text != want {
		t.Errorf("want %s\nhave %s", want, text)
	}
}

func TestAStoryOfAStrategyHasTheAccountsFactsToo(t *testing.T) {
	t.Parallel()
	s := &Story{Strategy: "trend"}
	for _, strategy := range []string{"trend", "grid", ""} {
		s.Line(&ops.LogLine{Time: at(1), Event: "strategy.decision", Strategy: strategy})
	}
	if have := s.Events(); len(have) != 2 || have[0].Strategy != "trend" || have[1].Strategy != "" {
		t.Errorf("want trend's and the account's, have %+v", have)
	}
}

// TestRepeatedOutageLinesAreMerged has an exchange silent twice. Two hundred lines of a night were once requests without an answer, and no
// line gave the reason.
func TestRepeatedOutageLinesAreMerged(t *testing.T) {
	t.Parallel()
	short, long := &Story{Since: night}, &Story{Since: night, All: true}
	fails := func(second int, text, why string) {
		for _, s := range []*Story{short, long} {
			s.Line(&ops.LogLine{Time: at(second), Event: "exchange.unavailable", Message: text, Fields: map[string]any{"err": why}})
		}
	}
	for second := -5; second < 250; second += 5 { // the first one is too early
		fails(second, "no candles", "timeout")
		if second == 100 {
			fails(second+1, "no account", "EOF")
		}
	}
	fails(600, "no candles", "refused")
	var have []string
	for _, e := range short.Events() {
		line := fmt.Sprintf("%d %s", int(e.At.Sub(night).Seconds()), e.Text)
		if e.Until != nil {
			line += fmt.Sprintf(", %d more until %d", e.Again, int(e.Until.Sub(night).Seconds()))
		}
		have = append(have, line)
	}
	want := "0 no candles: timeout, 49 more until 245; 101 no account: EOF; 600 no candles: refused"
	if text := strings.Join(have, "; "); text != want {
		t.Errorf("want %s\nhave %s", want, text)
	}
	if have := len(long.Events()); have != 52 {
		t.Errorf("want each line of all, have %d", have)
	}
}
