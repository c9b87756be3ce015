package api

import (
	"context"
	"net/http"
	"time"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/runtime/engine"
)

// engineTimeout bounds how long a request waits for the engine and the journal.
const engineTimeout = 5 * time.Second

// Change is the answer to a change that sends nothing to the exchange.
type Change struct {
	Schema  int      `json:"schema"`
	DryRun  bool     `json:"dry_run"`            // whether nothing was done
	Effects []string `json:"effects" was:"does"` // the effects in words
}

// audit returns the journal's entry for the sender of a change.
func (r *request) audit(object, detail string) *record.Audit {
	requester := requester(r.Request)
	return &record.Audit{Actor: requester.Actor(), Role: requester.Role.String(), From: requester.From,
		Action: r.Method + " " + r.URL.Path, Object: object, Detail: detail,
		RequestID: requestID(r.Request)}
}

// audited wraps an event with its audit entry; without an event only the entry is journalled.
func (r *request) audited(object, detail string, event engine.Event) engine.Event {
	return &engine.EventAudited{Audit: r.audit(object, detail), Event: event}
}

// controls pass events to the engine and read it, each within a time.
type controls struct{ driver Driver }

// query reads the engine while it rests.
func (c controls) query(r *request, read func()) error { return c.queryWithin(r, engineTimeout, read) }

// queryWithin is query within a time.
func (c controls) queryWithin(r *request, within time.Duration, read func()) error {
	ctx, cancel := context.WithTimeout(r.Context(), within)
	defer cancel()
	if c.driver.Query(ctx, read) != nil {
		return stopped()
	}
	return nil
}

// send passes an event to the engine, and returns once it is in the journal.
func (c controls) send(r *request, event engine.Event) error {
	ctx, cancel := context.WithTimeout(r.Context(), engineTimeout)
	defer cancel()
	return notTaken(c.driver.Send(ctx, event))
}

// record journals the sender of a change that is not the engine's. The change waits for the record.
func (c controls) record(r *request, object, detail string) error {
	if c.send(r, r.audited(object, detail, nil)) != nil {
		return &failure{http.StatusServiceUnavailable, "stopped", "the request cannot be journalled now: nothing was done"}
	}
	return nil
}

// do passes an event to the engine unless the request is a dry run, and returns its effects.
func (c controls) do(r *request, event engine.Event, does ...string) (Change, error) {
	change := Change{1, r.dryRun, does}
	if r.dryRun {
		return change, nil
	}
	return change, c.send(r, event)
}

// knownMarket refuses an unknown market.
func knownMarket(market string) error {
	if _, err := exchange.ParseSymbolKey(market, ""); err != nil {
		return badBody("market: " + err.Error())
	}
	return nil
}
