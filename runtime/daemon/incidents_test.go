package daemon

import (
	"strings"
	"testing"
	"time"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/runtime/incident"
	"botd/runtime/notify"
)

func TestPausesThatFollowEachOtherAreOneState(t *testing.T) {
	t.Parallel()
	var until time.Time
	logged := 0
	p := &pauses{warn: func(string, string, ...any) { logged++ }, until: func(m exchange.Market) time.Time {
		if m == exchange.Spot {
			return until
		}
		return time.Time{}
	}}
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var since []int64
	for second := range 200 {
		now := began.Add(time.Duration(second) * time.Second)
		if second >= 10 && second < 100 && second%20 == 10 { // a pause of two seconds, each 20 seconds, five times
			until = now.Add(2 * time.Second)
		}
		for _, d := range p.states(now, int64(second)*1000) {
			want := "asked to wait until " + until.Format(time.TimeOnly) + "; openings"
			if d.State != "rate_limited" || d.Scope.Symbol.Market != exchange.Spot || !strings.Contains(d.Cause, want) {
				t.Fatalf("want spot limited, have %+v", d)
			}
			since = append(since, d.SinceMS)
		}
	}
	if logged != 1 || len(since) == 0 || since[0] != 10_000 || since[len(since)-1] != 10_000 || len(since) != 113 {
		t.Errorf("want one state from second 10 until 30 s after the last pause ended at 92, logged once, have %d seconds from %v, logged %d times",
			len(since), since, logged)
	}
}

func TestIncidentTexts(t *testing.T) {
	t.Parallel()
	one := incident.Incident{ID: 7, Kind: "rate_limited", Severity: incident.Warning, Scope: account.Scope{Strategy: "grid"}, Cause: "429",
		Remedy: "wait", OpenedMS: 1_000, RemindedMS: 3_601_000, EscalatedMS: 61_000, ClosedMS: 31_000, Times: 3}
	for change, want := range map[incident.Change]string{
		incident.Opened:    "7, warning: RATE LIMITED (strategy grid): 429. Runbook: BotdRateLimited. Remedy: wait",
		incident.Reminded:  "7 continues after 1h0m0s, warning: RATE LIMITED (strategy grid): 429. Runbook: BotdRateLimited. Remedy: wait",
		incident.Escalated: "7 has become critical after 1m0s: RATE LIMITED (strategy grid): 429. Runbook: BotdRateLimited. Remedy: wait",
		incident.Closed:    "7 is over: RATE LIMITED (strategy grid), after 30s; it began 3 times",
	} {
		if have := incidentText(&incident.Report{Change: change, Incident: one}); have != want {
			t.Errorf("%s: want %s\nhave %s", change, want, have)
		}
	}
	one.Times = 2
	if have := incidentText(&incident.Report{Change: incident.Closed, Incident: one}); !strings.HasSuffix(have, "; it began 2 times") {
		t.Errorf("have %s", have)
	}
	if one.Severity = incident.Critical; severityOf(&one) != notify.Error {
		t.Error("want what is critical an error")
	}
}
