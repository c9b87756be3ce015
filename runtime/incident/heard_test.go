package incident

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/runtime/engine"
)

// promise is docs/operations.md's description of a kind of incident: its severity, and the seconds after which it opens and becomes
// critical; 0 for never.
type promise struct {
	severity         string
	opens, escalates int
}

// promises parses the table of incidents.
func promises(t *testing.T) map[string]promise {
	t.Helper()
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]promise{}
	_, table, _ := strings.Cut(string(text), "| incident | severity | opened | critical |\n|---|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	kinds, numbers := regexp.MustCompile("`([a-z_]+)`"), regexp.MustCompile(`\d+`)
	for row := range strings.SplitSeq(table, "\n") {
		cells := strings.Split(strings.Trim(row, "| "), "|")
		if len(cells) < 3 {
			t.Fatalf("a row of the table: %q", row)
		}
		opens, critical := numbers.FindAllString(cells[2], -1), ""
		if len(cells) > 3 {
			critical = numbers.FindString(cells[3])
		}
		for i, kind := range kinds.FindAllStringSubmatch(cells[0], -1) {
			p := promise{severity: strings.TrimSpace(cells[1])}
			if len(opens) > 0 {
				minutes, err := strconv.Atoi(opens[min(i, len(opens)-1)])
				if err != nil {
					t.Fatal(err)
				}
				p.opens = 60 * minutes
			}
			if hours, err := strconv.Atoi(critical); err == nil {
				p.escalates = 3600 * hours
			}
			all[kind[1]] = p
		}
	}
	return all
}

// TestNotificationCountMatchesDocument has each declared state last for 30 hours. A person is notified of one opening, of
// reminders if documented, of its becoming critical, and of one end.
func TestNotificationCountMatchesDocument(t *testing.T) {
	t.Parallel()
	all := promises(t)
	for _, kind := range Kinds() {
		if _, promised := all[kind]; !promised {
			t.Errorf("docs/operations.md: want %s in the table of incidents", kind)
		}
	}
	const step, lasts = 10, 30 * 3600
	for kind, p := range all {
		if !slices.Contains(Kinds(), kind) {
			t.Errorf("docs/operations.md: %s is no kind of incident", kind)
			continue
		}
		want, severity, last := []string{fmt.Sprintf("%d opened %s", p.opens, p.severity)}, p.severity, p.opens
		if p.escalates > 0 {
			last, severity = p.opens+p.escalates, "critical"
			want = append(want, fmt.Sprintf("%d escalated critical", last))
		}
		waits := []int{4 * 3600, 24 * 3600}
		if severity == "critical" {
			waits = []int{900, 3600, 4 * 3600}
		}
		for n := 0; ; n++ {
			if last += waits[min(n, len(waits)-1)]; last >= lasts {
				break
			}
			want = append(want, fmt.Sprintf("%d reminder %s", last, severity))
		}
		want = append(want, fmt.Sprintf("%d closed %s", lasts+30, severity))
		tracker, heard := new(Tracker), []string{}
		for second := 0; second < lasts+600; second += step {
			for _, r := range tracker.Update(int64(second)*1000+1, within(kind, 0, lasts)(second), true) {
				heard = append(heard, fmt.Sprintf("%d %s %s", second, r.Change, r.Incident.Severity))
			}
		}
		if !slices.Equal(heard, want) {
			t.Errorf("%s:\nwant %s\nhave %s", kind, strings.Join(want, ", "), strings.Join(heard, ", "))
		}
	}
}

// declared returns a declared state of the account since a moment.
func declared(kind string, sinceMS int64, scope account.Scope) engine.Degraded {
	return engine.Degraded{State: kind, SinceMS: sinceMS, Scope: scope, Cause: "of " + kind}
}

// changes returns the notifications of a person at a moment.
func changes(t *Tracker, nowMS int64, states ...engine.Degraded) string {
	var all []string
	for _, r := range t.Update(nowMS, states, true) {
		all = append(all, fmt.Sprint(r.Change, " ", r.Incident.Kind, " ", r.Incident.ID))
	}
	return strings.Join(all, ", ")
}

// A state that returns later opens another incident.
func TestAnIncidentIsTheSameWithinHalfAnHourOfItsEnd(t *testing.T) {
	t.Parallel()
	for later, want := range map[int64]string{30 * 60_000: "returned quarantined 1", 30*60_000 + 1: "opened quarantined 2"} {
		tracker := new(Tracker)
		if have := changes(tracker, 1_000, declared("quarantined", 1_000, account.Scope{})); have != "opened quarantined 1" {
			t.Fatalf("have %q", have)
		}
		changes(tracker, 2_000) // its state has ended
		if have := changes(tracker, 31_999); have != "" {
			t.Errorf("before half a minute: have %q", have)
		}
		if have := changes(tracker, 32_000); have != "closed quarantined 1" {
			t.Errorf("after half a minute: have %q", have)
		}
		if one := tracker.All()[0]; one.ClosedMS != 2_000 || one.AbsentMS != 0 || one.Open() || one.InForce() {
			t.Errorf("want it ended when its state did, have %+v", one)
		}
		now := 2_000 + later
		if have := changes(tracker, now, declared("quarantined", now, account.Scope{})); have != want {
			t.Errorf("%d ms later: want %q, have %q", later, want, have)
		}
		newest := tracker.All()[len(tracker.All())-1]
		if !newest.InForce() || newest.RemindedMS != now || newest.Times != map[int64]int{1: 2, 2: 1}[newest.ID] {
			t.Errorf("%d ms later: have %+v", later, newest)
		}
	}
}

// The states are those that start within two minutes of its opening, or that a wider one covers, but not those of other kinds.
func TestStatesOfAnOutageAreOneIncident(t *testing.T) {
	t.Parallel()
	bitcoin := account.Scope{Symbol: exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}}
	ether := account.Scope{Symbol: exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}}
	for later, want := range map[int64]string{119_999: "", 120_000: "opened blind 2"} {
		tracker := new(Tracker)
		if have := changes(tracker, 1_000, declared("blind", 1_000, bitcoin)); have != "opened blind 1" {
			t.Fatalf("have %q", have)
		}
		now := 1_000 + later
		if have := changes(tracker, now, declared("blind", 1_000, bitcoin), declared("blind", now, ether)); have != want {
			t.Errorf("another symbol %d ms later: want %q, have %q", later, want, have)
		}
		if scope := tracker.All()[0].Scope; (scope == account.Scope{}) != (want == "") {
			t.Errorf("another symbol %d ms later: have the scope %s", later, scope)
		}
	}
	tracker := new(Tracker)
	have := changes(tracker, 61_000, declared("rate_limited", 1_000, account.Scope{}), declared("blind", 61_000, bitcoin))
	if have != "opened rate_limited 1, opened blind 2" {
		t.Errorf("a symbol beside an account that is rate limited: want both, have %q", have)
	}
	if have := changes(new(Tracker), 1_000, declared("blind", 1_000, bitcoin), declared("blind", 1_000, account.Scope{})); have != "opened blind 1" {
		t.Errorf("a symbol and the account: want the account's, have %q", have)
	}
	market := account.Scope{Symbol: exchange.SymbolKey{Market: exchange.Futures}}
	trend := account.Scope{Strategy: "trend", Symbol: exchange.SymbolKey{Market: exchange.Futures}}
	for _, c := range []struct {
		wide, narrow account.Scope
		want         bool
	}{
		{account.Scope{}, bitcoin, true}, {account.Scope{}, trend, true}, {bitcoin, bitcoin, true}, {market, bitcoin, true}, {market, ether, false},
		{bitcoin, market, false}, {trend, bitcoin, false}, {bitcoin, ether, false}, {bitcoin, account.Scope{}, false},
	} {
		if have := covers(c.wide, c.narrow); have != c.want {
			t.Errorf("%s covers %s: want %t, have %t", c.wide, c.narrow, c.want, have)
		}
	}
}

// The cases are a clock that becomes unreadable a minute after the account, and a breaker that outlives the outage in which it tripped.
func TestConsequencesOfOutageOpenNoIncident(t *testing.T) {
	t.Parallel()
	for sinceMS, want := range map[int64]string{60_000: "", 59_999: "opened clock 2"} { // start of the clock's state; the account is blind since 0
		tracker := new(Tracker)
		changes(tracker, 0, declared("blind", 0, account.Scope{}))
		if have := changes(tracker, sinceMS+60_000, declared("blind", 0, account.Scope{}), declared("clock", sinceMS, account.Scope{})); have != want {
			t.Errorf("a clock that is off %d ms after: want %q, have %q", sinceMS, want, have)
		}
	}
	for sinceMS, want := range map[int64]string{9_999: "opened breaker 2", 10_000: "", 15_000: "", 20_000: "", 20_001: "opened breaker 2"} {
		tracker := new(Tracker)
		changes(tracker, 10_000, declared("blind", 10_000, account.Scope{}))
		changes(tracker, 20_000)
		if have := changes(tracker, 50_000); have != "closed blind 1" {
			t.Fatalf("have %q", have)
		}
		breaker := declared("breaker", sinceMS, account.Scope{})
		breaker.UntilMS = 900_000
		if have := changes(tracker, 60_000, breaker); have != want {
			t.Errorf("a breaker since %d of an outage from 10000 to 20000: want %q, have %q", sinceMS, want, have)
		}
	}
}

// A start repeats a message of the last two minutes of the previous run, and, for a warning, one that quiet hours may have
// delayed.
func TestStartRepeatsUnconfirmedMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind     string
		severity Severity
		heldMS   int64
		ageMS    int64 // age of the newest message
		want     string
	}{
		{"quarantined", Critical, 0, 119_999, "reminder quarantined 4"}, {"quarantined", Critical, 0, 120_000, ""},
		{"quarantined", Critical, 600_000, 120_000, ""}, {"failed", Warning, 600_000, 599_999, "reminder failed 4"}, {"failed", Warning, 600_000, 600_000, ""},
		{"failed", Warning, 60_000, 119_999, "reminder failed 4"}, {"failed", Warning, 60_000, 120_000, ""},
	} {
		tracker := &Tracker{HeldMS: c.heldMS}
		const now = 10_000_000
		tracker.Restore([]Incident{{ID: 4, Kind: c.kind, Severity: c.severity, SinceMS: now - 700_000, OpenedMS: now - 700_000, Times: 1,
			RemindedMS: now - c.ageMS, AbsentMS: 5}})
		if one := tracker.All()[0]; one.InForce() || one.AbsentMS != 0 {
			t.Errorf("%+v: before anything is known: have %+v", c, one)
		}
		if have := changes(tracker, now, declared(c.kind, now-700_000, account.Scope{})); have != c.want {
			t.Errorf("%+v: have %q", c, have)
		}
		if have := changes(tracker, now+1, declared(c.kind, now-700_000, account.Scope{})); have != "" {
			t.Errorf("%+v: again: have %q", c, have)
		}
	}
	tracker := new(Tracker)
	good := Incident{ID: 1, Kind: "failed", Times: 1}
	tracker.Restore([]Incident{{ID: 9, Kind: "failed", Times: 1}, {Kind: "failed", Times: 1}, {ID: 2, Kind: "failed"}, {ID: 3, Times: 1},
		{ID: 5, Kind: "failed", Times: 1, Reminders: -1}, good})
	if all := tracker.All(); len(all) != 2 || all[0] != good || all[1].ID != 9 {
		t.Errorf("want what is no incident left out, and the oldest first, have %+v", all)
	}
	if have := changes(tracker, 1, declared("journal", 1, account.Scope{})); have != "opened journal 10" {
		t.Errorf("want the next number, have %q", have)
	}
}

// The incident opens in the millisecond of its declaration, as the table of docs/operations.md specifies. Each kind has a
// section there.
func TestOpeningDelayMatchesDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for kind, p := range promises(t) {
		have := changes(new(Tracker), 5_000_000+int64(p.opens)*1_000, declared(kind, 5_000_000, account.Scope{}))
		if have != "opened "+kind+" 1" {
			t.Errorf("%s: want it opened after %d s, have %q", kind, p.opens, have)
		}
		if section := (&Incident{Kind: kind}).Runbook(); !strings.Contains(string(text), "### "+section+"\n") {
			t.Errorf("%s: want a section %s of docs/operations.md", kind, section)
		}
	}
	tracker := new(Tracker)
	changes(tracker, 0, declared("new_kind", 0, account.Scope{}))
	for now, want := range map[int64]string{3_600_000: "escalated new_kind 1"} {
		if have := changes(tracker, now-1, declared("new_kind", 0, account.Scope{})); have != "" {
			t.Errorf("a kind that is not known, before an hour: have %q", have)
		}
		if have := changes(tracker, now, declared("new_kind", 0, account.Scope{})); have != want {
			t.Errorf("a kind that is not known, after an hour: want %q, have %q", want, have)
		}
	}
}

// The incident may follow from another one that started later. Another scope's state does not belong to it.
func TestAnIncidentHasTheNewestCauseAndRemedy(t *testing.T) {
	t.Parallel()
	tracker := new(Tracker)
	stale, trend := declared("stale", 0, account.Scope{}), declared("limit", 0, account.Scope{Strategy: "trend"})
	if have := changes(tracker, 60_000, stale, declared("limit", 0, account.Scope{}), trend); have != "opened stale 1, opened limit 2, opened limit 3" {
		t.Fatalf("have %q", have)
	}
	stale.Cause, stale.Remedy, trend.Cause, trend.Remedy = "another", "wait", "another", "raise it"
	if have := changes(tracker, 61_000, stale, declared("blind", 61_000, account.Scope{}), trend); have != "opened blind 4" {
		t.Errorf("have %q", have)
	}
	for i, want := range []string{"another, wait, since 61000", "of limit, , since 60000", "another, raise it, since 61000"} {
		if one := tracker.All()[i]; fmt.Sprintf("%s, %s, since %d", one.Cause, one.Remedy, one.UpdatedMS) != want {
			t.Errorf("%s: want %s, have %+v", one.Kind, want, one)
		}
	}
	if have := changes(tracker, 91_000, stale, declared("blind", 61_000, account.Scope{}), trend); have != "closed limit 2" {
		t.Errorf("want the account's limit closed though a strategy's is in force, have %q", have)
	}
}

// The incident is closed after half a minute, doubled with each return up to half an hour.
func TestRecurringIncidentIsClosedLate(t *testing.T) {
	t.Parallel()
	for times, want := range map[int]int64{1: 30, 2: 60, 3: 120, 6: 960, 7: 1800, 12: 1800, 1_000: 1800} {
		if have := closesAfter(&Incident{Times: times}); have != want*1_000 {
			t.Errorf("%d times: want %d s, have %d ms", times, want, have)
		}
	}
}

// Only ongoing ones are ended, and none of another kind.
func TestSettlingEndsEventsOfOneKind(t *testing.T) {
	t.Parallel()
	tracker := new(Tracker)
	lane, loss := declared("lane", 0, account.Scope{}), declared("liquidation", 0, account.Scope{})
	tracker.Raise(0, &lane)
	tracker.Raise(0, &loss)
	if have := changes(tracker, 1); have != "opened lane 1, opened liquidation 2" {
		t.Fatalf("have %q", have)
	}
	tracker.Close(1_000, "lane")
	changes(tracker, 1_000)
	if have := changes(tracker, 31_000); have != "closed lane 1" {
		t.Errorf("want the lane's alone ended, have %q", have)
	}
	tracker.Close(40_000, "lane")
	if one := tracker.All()[0]; one.UntilMS != 1_000 || one.ClosedMS != 1_000 {
		t.Errorf("want what has ended left, have %+v", one)
	}
	if one := tracker.All()[1]; one.UntilMS != 24*3_600_000 || !one.InForce() {
		t.Errorf("want the other one in force for a day, have %+v", one)
	}
}
