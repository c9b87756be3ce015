package view

import (
	"cmp"

	"botd/reconcile"
)

// Audit is one change that somebody, or botd itself, made: an entry of the journal.
type Audit struct {
	n int64

	ID        string `json:"id"`
	AtMS      int64  `json:"at_ms"`
	Kind      string `json:"kind"` // audit: asked for; halt, breach, quarantined, adopted, ignored, found, withdrawn, breaker, config, boot: what followed, or botd's own
	Actor     string `json:"actor"`
	Role      string `json:"role,omitempty"`
	From      string `json:"from,omitempty"`
	Action    string `json:"action"`
	Target    string `json:"target,omitempty"`
	Detail    string `json:"detail,omitempty"`
	RequestID string `json:"request_id,omitempty"`
}

// audited keeps the records that are about who changed what.
func (h *History) audited(r *reconcile.Record) {
	a := Audit{AtMS: r.AtMS, Kind: r.Kind.String(), Actor: "botd", Target: targetOf(r), Detail: r.Why}
	switch r.Kind {
	case reconcile.RecordAudit:
		a.Actor, a.Role, a.From, a.Action = r.Audit.Actor, r.Audit.Role, r.Audit.From, r.Audit.Action
		a.Target, a.Detail, a.RequestID = r.Audit.Target, r.Audit.Detail, r.Audit.RequestID
	case reconcile.RecordHalt:
		a.Action = "halt " + r.Level.String()
		if r.Level == reconcile.LevelNone {
			a.Action = "rearm"
		}
	case reconcile.RecordLimit:
		a.Action, a.Detail = "limit "+r.Rule+" "+cmp.Or(r.Limit, "as configured"), r.Why
	case reconcile.RecordBreach:
		a.Action = "limit " + r.Rule + " breached"
		if r.Why == "" {
			a.Action = "limit " + r.Rule + " holds again"
		}
	case reconcile.RecordQuarantined:
		a.Action = "quarantine"
	case reconcile.RecordAdopted, reconcile.RecordIgnored, reconcile.RecordFound:
		a.Action, a.Detail = r.Kind.String(), r.Evidence
	case reconcile.RecordWithdrawn:
		a.Action, a.Target = "cancel", "order "+r.ClientOrderID
	case reconcile.RecordBreaker:
		a.Action = "breaker"
	case reconcile.RecordBoot:
		a.Action, a.Detail = "start", "epoch "+number(r.Epoch)
	case reconcile.RecordConfig:
		if r.Hash == "" {
			return // a strategy's symbol
		}
		a.Action, a.Detail = "configuration", r.Hash
	default:
		return
	}
	if len(h.audit) == maxAudit {
		h.audit = h.audit[:copy(h.audit, h.audit[maxAudit/10:])]
	}
	a.n, a.ID = h.taken, number(h.taken)
	h.audit = append(h.audit, a)
	h.publish("audit", a)
}

func targetOf(r *reconcile.Record) string {
	return reconcile.Scope{Strategy: r.Strategy, Symbol: r.Symbol}.String()
}

// Audits returns changes, newest first.
func (h *History) Audits(page Page, keep func(*Audit) bool) ([]Audit, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Newest(h.audit, page, func(a *Audit) int64 { return a.n }, keep, func(a *Audit) Audit { return *a })
}

// Marks are the starts, halts, breakers and limits of a time, oldest first.
func (h *History) Marks(fromMS, toMS int64) []Audit {
	h.mu.Lock()
	defer h.mu.Unlock()
	marks := []Audit{}
	for i := range h.audit {
		a := &h.audit[i]
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
// run or one before.
func (h *History) Journaled(requestID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(h.audit) - 1; i >= 0; i-- {
		if h.audit[i].RequestID == requestID {
			return true
		}
	}
	return false
}
