package view

import (
	"cmp"
	"slices"

	"botd/reconcile/account"
	"botd/reconcile/record"
)

// Audit is one change by a person or by botd itself: an entry of the journal.
type Audit struct {
	ID        string `json:"id"`
	AtMS      int64  `json:"at_ms"`
	Kind      string `json:"kind"` // audit for a request; halt, breach, adopted, boot, ... for its consequences, or for botd's own actions
	Actor     string `json:"actor"`
	Role      string `json:"role,omitempty"`
	From      string `json:"from,omitempty"`
	Action    string `json:"action"`
	Object    string `json:"target,omitempty"`
	Detail    string `json:"detail,omitempty"`
	RequestID string `json:"request_id,omitempty"`
}

// audited lists the records of changes.
func (h *History) audited(r *record.Record) {
	a := Audit{AtMS: r.AtMS, Kind: r.Kind().String(), Actor: "botd", Object: objectOf(r)}
	if !a.describe(r) {
		return
	}
	a.ID = number(h.recordCount)
	h.audits.addAs(h.recordCount, a)
	h.publish("audit", a)
}

// describe describes the change of a record; false for a record without one.
func (a *Audit) describe(r *record.Record) bool {
	switch body := r.Body.(type) {
	case record.Audit:
		a.Actor, a.Role, a.From, a.Action = body.Actor, body.Role, body.From, body.Action
		a.Object, a.Detail, a.RequestID = body.Object, body.Detail, body.RequestID
	case record.Halt:
		a.Action, a.Detail = "halt "+body.Level.String(), body.Reason
		if body.Level == record.LevelNone {
			a.Action = "rearm"
		}
	case record.Limit:
		a.Action, a.Detail = "limit "+body.Rule+" "+cmp.Or(body.Value, "as configured"), body.Reason
	case record.Breach:
		a.Action, a.Detail = "limit "+body.Rule+" breached", body.Reason
		if body.Reason == "" {
			a.Action = "limit " + body.Rule + " is no longer breached"
		}
	case record.Quarantined:
		a.Action, a.Detail = "quarantine", body.Reason
	case record.Adopted:
		a.Action, a.Detail = a.Kind, body.Evidence
	case record.Ignored:
		a.Action, a.Detail = a.Kind, body.Evidence
	case record.Found:
		a.Action, a.Detail = a.Kind, body.Evidence
	case record.Withdrawn:
		a.Action, a.Object, a.Detail = "cancel", "order "+r.ClientOrderID, body.Reason
	case record.Breaker:
		a.Action, a.Detail = "breaker", body.Reason
	case record.Boot:
		a.Action, a.Detail = "start", "epoch "+number(body.Epoch)
	case record.Config:
		a.Action, a.Detail = "configuration", body.Hash
	default:
		return false
	}
	return true
}

func objectOf(r *record.Record) string {
	return account.Scope{Strategy: r.Strategy, Symbol: r.Symbol}.String()
}

// Audits returns changes, newest first.
func (h *History) Audits(page Page, keep func(*Audit) bool) ([]Audit, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.audits.page(page, keep)
}

// Marks returns the starts, halts, breakers and limits of a time, oldest first.
func (h *History) Marks(fromMS, toMS int64) []Audit {
	h.mu.Lock()
	defer h.mu.Unlock()
	marks := []Audit{}
	for i := range h.audits.all {
		a := &h.audits.all[i].value
		switch a.Kind {
		case "boot", "halt", "breaker", "breach":
			if a.AtMS >= fromMS && a.AtMS < toMS {
				marks = append(marks, *a)
			}
		}
	}
	return marks
}

// Journaled reports whether a change under a request's id is in the journal, from this
// run or an earlier one.
func (h *History) Journaled(requestID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.audits.all, func(a numbered[Audit]) bool { return a.value.RequestID == requestID })
}
