// Package incident groups declared problems by their cause, and decides when to notify a person.
//
// A Tracker receives all declared states repeatedly, with the time. A state that lasts opens an
// incident. A state that returns soon after its end continues the same incident, so a flickering
// cause is one incident. Reminders of an open incident become less frequent, and the incident
// becomes critical where waiting makes it worse.
package incident

import (
	"cmp"
	"slices"

	"botd/reconcile/account"
	"botd/runtime/engine"
)

// Severity is how soon a person must act.
type Severity string

// The severities.
const (
	Warning  Severity = "warning"  // on the next working day
	Critical Severity = "critical" // at once, at night too
)

// Incident is one malfunction.
type Incident struct {
	ID          int64         `json:"id"`
	Kind        string        `json:"kind"` // the declared state: blind, unprotected, quarantined, ...
	Scope       account.Scope `json:"-"`
	Severity    Severity      `json:"severity"`
	Cause       string        `json:"cause"` // the newest
	Remedy      string        `json:"way_out"`
	SinceMS     int64         `json:"since_ms"` // of the state
	OpenedMS    int64         `json:"opened_ms"`
	UpdatedMS   int64         `json:"updated_ms"` // its cause, severity or course changed
	Times       int           `json:"times"`      // how often the state has begun
	Reminders   int           `json:"reminders"`
	RemindedMS  int64         `json:"reminded_ms"` // when a person was last notified
	EscalatedMS int64         `json:"escalated_ms,omitempty"`
	ClosedMS    int64         `json:"closed_ms,omitempty"`
	AbsentMS    int64         `json:"absent_ms,omitempty"` // since then the state is not in force, and the incident open still
	UntilMS     int64         `json:"until_ms,omitempty"`  // of an event: it counts as a state until then
	seen        bool          // in this run: a state from the end of the last one proves nothing
}

// Open reports whether the incident is open.
func (i *Incident) Open() bool { return i.ClosedMS == 0 }

// InForce reports whether the state is known to be in force now.
func (i *Incident) InForce() bool { return i.Open() && i.AbsentMS == 0 && i.seen }

// Change is a change of an incident.
type Change string

// The changes that are reported to people.
const (
	Opened    Change = "opened"
	Reminded  Change = "reminder"
	Escalated Change = "escalated"
	Closed    Change = "closed"
	Returned  Change = "returned" // after its end
)

// Report is a change, with the incident as it is now.
type Report struct {
	Change   Change
	Incident Incident
}

// Bounds in milliseconds, and how many closed incidents are stored.
const (
	closesAfterMS   = 30_000         // without the state; doubled with each return
	closesAtMostMS  = 30 * 60_000    // the same
	returnsWithinMS = 30 * 60_000    // within this time after its end the same incident continues
	maxClosed       = 500            // stored
	eventForMS      = 24 * 3_600_000 // an event counts as a state
	sameOutageMS    = 120_000        // states of an outage that begin so soon after its opening or its end are parts of it
	unsureMS        = 120_000        // before the end of a run: whether the last message of an incident arrived is not known
)

// Tracker holds the incidents. Its zero value is ready; it is not safe for several goroutines.
type Tracker struct {
	HeldMS int64 // bounds how long before the end of the previous run warnings may have been held for quiet hours, and lost

	all     []Incident // oldest first
	last    int64      // the newest id
	reports []Report   // since the last Update
}

// Restore continues with the incidents of an earlier run.
func (t *Tracker) Restore(all []Incident) {
	t.all = slices.DeleteFunc(slices.Clone(all), func(one Incident) bool { return one.ID <= 0 || one.Times <= 0 || one.Reminders < 0 || one.Kind == "" })
	slices.SortFunc(t.all, func(a, b Incident) int { return cmp.Compare(a.ID, b.ID) })
	for i := range t.all {
		t.last = max(t.last, t.all[i].ID)
		t.all[i].AbsentMS, t.all[i].seen = 0, false
	}
}

// All returns every incident, the oldest first.
func (t *Tracker) All() []Incident { return slices.Clone(t.all) }

// Raise opens an incident for a single event, or continues it.
func (t *Tracker) Raise(nowMS int64, d *engine.Degraded) {
	one := t.begin(nowMS, d)
	one.UntilMS = nowMS + eventForMS
}

// Close ends the incidents of a kind that were raised.
func (t *Tracker) Close(nowMS int64, kind string) {
	for i := range t.all {
		if one := &t.all[i]; one.Open() && one.Kind == kind && one.UntilMS > nowMS {
			one.UntilMS = nowMS
		}
	}
}

// Update takes all declared states in force, and returns the reports for people. The first state of a kind and a scope counts, and of an outage
// the one with the widest scope. If whole is false, some states are unknown, as before the first complete round of a start: no incident ends then.
func (t *Tracker) Update(nowMS int64, states []engine.Degraded, whole bool) []Report {
	for i := range states {
		d := &states[i]
		same := func(other engine.Degraded) bool { return other.State == d.State && other.Scope == d.Scope }
		if nowMS-d.SinceMS >= policyOf(d.State).afterMS && !slices.ContainsFunc(states[:i], same) && !part(d, states) && !t.follows(d, states) {
			t.begin(nowMS, d)
		}
	}
	for i := range t.all {
		one := &t.all[i]
		if !one.Open() {
			continue
		}
		if present(one, nowMS, states) {
			if !one.seen && nowMS-one.RemindedMS < t.unsure(one) && !t.raised(one) {
				one.RemindedMS = nowMS
				t.report(Reminded, one)
			}
			one.AbsentMS, one.seen = 0, true
		} else if one.AbsentMS == 0 {
			one.AbsentMS = nowMS
		}
		if !whole {
			one.AbsentMS = 0
		}
		if one.AbsentMS != 0 && nowMS-one.AbsentMS >= closesAfter(one) {
			one.ClosedMS, one.UpdatedMS, one.AbsentMS = one.AbsentMS, nowMS, 0
			t.report(Closed, one)
			continue
		}
		t.continues(nowMS, one)
	}
	t.forget()
	reports := t.reports
	t.reports = nil
	return reports
}

// unsure bounds the age of an incident's newest message at a start, below which a person may not have received it.
func (t *Tracker) unsure(one *Incident) int64 {
	if one.Severity == Critical { // quiet hours do not hold it back
		return unsureMS
	}
	return max(unsureMS, t.HeldMS)
}

// part reports whether a state of an outage is a part of a wider one, which has the cause and the remedy.
func part(d *engine.Degraded, states []engine.Degraded) bool {
	return slices.Contains(outages, d.State) && slices.ContainsFunc(states, func(other engine.Degraded) bool {
		return other.State == d.State && other.Scope != d.Scope && covers(other.Scope, d.Scope)
	})
}

// follows reports whether a state is a consequence of another one and has no incident of its own, so that none is opened. A state that ends by
// the clock outlives its cause.
func (t *Tracker) follows(d *engine.Degraded, states []engine.Degraded) bool {
	causes := consequences[d.State]
	before := func(sinceMS int64) bool { return d.State != "clock" || sinceMS <= d.SinceMS-minute } // without a clock an account is blind, too
	there := func(one *Incident) bool {
		return one.Open() || d.UntilMS > 0 && one.SinceMS <= d.SinceMS && d.SinceMS <= one.ClosedMS
	}
	return (slices.ContainsFunc(states, func(other engine.Degraded) bool { return slices.Contains(causes, other.State) && before(other.SinceMS) }) ||
		slices.ContainsFunc(t.all, func(one Incident) bool {
			return there(&one) && slices.Contains(causes, one.Kind) && before(one.SinceMS)
		})) &&
		!slices.ContainsFunc(t.all, func(one Incident) bool { return one.Open() && one.Kind == d.State && one.Scope == d.Scope })
}

// begin finds the incident of a state, reopens it if its end is recent, or opens one.
func (t *Tracker) begin(nowMS int64, d *engine.Degraded) *Incident {
	for i := len(t.all) - 1; i >= 0; i-- {
		one := &t.all[i]
		if !continued(nowMS, one, d) {
			continue
		}
		if !covers(one.Scope, d.Scope) {
			one.Scope = account.Scope{} // another part of the same outage
		}
		ended := !one.Open()
		if ended || one.AbsentMS != 0 {
			one.Times++
			one.UpdatedMS, one.ClosedMS, one.AbsentMS = nowMS, 0, 0
		}
		if one.Cause != d.Cause {
			one.Cause, one.UpdatedMS = d.Cause, nowMS
		}
		one.Remedy = d.Remedy
		if ended { // a person was notified of its end
			one.RemindedMS = nowMS
			t.report(Returned, one)
		}
		return one
	}
	t.last++
	t.all = append(t.all, Incident{ID: t.last, Kind: d.State, Scope: d.Scope, Severity: policyOf(d.State).severity, Cause: d.Cause, Remedy: d.Remedy,
		SinceMS: d.SinceMS, OpenedMS: nowMS, UpdatedMS: nowMS, Times: 1, RemindedMS: nowMS})
	one := &t.all[len(t.all)-1]
	t.report(Opened, one)
	return one
}

// outages are the kinds for which one cause declares several states, of symbols, markets or the account, at once or in
// turn.
var outages = []string{"blind", "rate_limited"}

// continued reports whether a state belongs to an incident: it is the same, or a part of the same outage.
func continued(nowMS int64, one *Incident, d *engine.Degraded) bool {
	if one.Kind != d.State || !one.Open() && nowMS-one.ClosedMS > returnsWithinMS {
		return false
	}
	if !slices.Contains(outages, one.Kind) {
		return one.Scope == d.Scope
	}
	return covers(one.Scope, d.Scope) || nowMS-max(one.OpenedMS, one.ClosedMS) < sameOutageMS
}

// covers reports whether a scope is the account, the market of another scope, or the same.
func covers(wide, narrow account.Scope) bool {
	switch {
	case wide == account.Scope{} || wide == narrow:
		return true
	case wide.Strategy != "" || wide.Symbol.Name != "":
		return false
	}
	return wide.Symbol.Market == narrow.Symbol.Market
}

// continues sends the reminders of an open incident, and makes it critical when it has lasted too
// long.
func (t *Tracker) continues(nowMS int64, one *Incident) {
	p := policyOf(one.Kind)
	switch {
	case one.AbsentMS != 0:
	case p.escalatesMS > 0 && one.Severity != Critical && nowMS-one.OpenedMS >= p.escalatesMS:
		one.Severity, one.EscalatedMS, one.RemindedMS, one.UpdatedMS = Critical, nowMS, nowMS, nowMS
		t.report(Escalated, one)
	case nowMS-one.RemindedMS >= waitOf(one):
		one.Reminders++
		one.RemindedMS = nowMS
		t.report(Reminded, one)
	}
}

// raised reports whether a person is notified of an incident in this update anyway.
func (t *Tracker) raised(one *Incident) bool {
	return slices.ContainsFunc(t.reports, func(r Report) bool { return r.Incident.ID == one.ID })
}

func (t *Tracker) report(change Change, one *Incident) {
	t.reports = append(t.reports, Report{change, *one})
}

// present reports whether an incident's state is in force, or counts as such.
func present(one *Incident, nowMS int64, states []engine.Degraded) bool {
	return nowMS < one.UntilMS ||
		slices.ContainsFunc(states, func(d engine.Degraded) bool {
			return d.State == one.Kind && (d.Scope == one.Scope || slices.Contains(outages, one.Kind) &&
				(covers(one.Scope, d.Scope) || covers(d.Scope, one.Scope)))
		})
}

// closesAfter returns how long a state must be absent: the longer, the more often it has returned.
func closesAfter(one *Incident) int64 {
	return min(closesAtMostMS, int64(closesAfterMS)<<min(one.Times-1, 10))
}

// forget drops the oldest closed incidents beyond the bound.
func (t *Tracker) forget() {
	closed := 0
	for i := range t.all {
		if !t.all[i].Open() {
			closed++
		}
	}
	t.all = slices.DeleteFunc(t.all, func(one Incident) bool {
		if closed <= maxClosed || one.Open() {
			return false
		}
		closed--
		return true
	})
}
