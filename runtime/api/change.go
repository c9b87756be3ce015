package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/engine"
)

// engineWithin bounds how long a request waits for the engine and the journal.
const engineWithin = 5 * time.Second

// maxReason bounds a reason, in bytes.
const maxReason = 500

// Change is the answer to a change that sends nothing to the exchange.
type Change struct {
	Schema int      `json:"schema"`
	DryRun bool     `json:"dry_run"` // nothing was done
	Does   []string `json:"does"`    // in words
}

// audit is what the journal keeps of who asked for a change.
func audit(r *http.Request, target, detail string) *record.Audit {
	who := who(r)
	return &record.Audit{Actor: who.Actor(), Role: who.Role.String(), From: who.From, Action: r.Method + " " + r.URL.Path, Target: target, Detail: detail, RequestID: requestID(r)}
}

// audited is an event with who asked for it; without one only that is written down.
func audited(r *http.Request, target, detail string, event engine.Event) engine.Event {
	return &engine.EventAudited{Audit: audit(r, target, detail), Event: event}
}

// sent gives the engine an event; what went wrong is answered.
func (s *Server) sent(ctx context.Context, w http.ResponseWriter, r *http.Request, event engine.Event) bool {
	return s.taken(w, r, s.config.Driver.Send(ctx, event))
}

// taken answers what went wrong when the engine was given an event.
func (s *Server) taken(w http.ResponseWriter, r *http.Request, err error) bool {
	switch {
	case err == nil:
		return true
	case errors.Is(err, runtime.ErrUnwritten):
		problem(w, r, http.StatusServiceUnavailable, "unwritten", "in force now, but not written to the journal yet: a restart would forget it")
	default:
		problem(w, r, http.StatusServiceUnavailable, "stopped", "the engine does not take events now: nothing was changed")
	}
	return false
}

// do gives the engine an event and answers, or on a trial only answers.
func (s *Server) do(w http.ResponseWriter, r *http.Request, event engine.Event, change Change) {
	ctx, cancel := context.WithTimeout(r.Context(), engineWithin)
	defer cancel()
	if change.DryRun || s.sent(ctx, w, r, event) {
		answerAs(w, http.StatusOK, change)
	}
}

// dryRun reads the one parameter every change has.
func dryRun(w http.ResponseWriter, r *http.Request) (dry, ok bool) {
	query, err := queryOf(r, "dry_run")
	text := query.Get("dry_run")
	if err == nil && query.Has("dry_run") && text != "true" && text != "false" {
		err = fmt.Errorf("dry_run %q is neither true nor false", text)
	}
	if err != nil {
		problem(w, r, http.StatusBadRequest, "parameter", err.Error())
	}
	return text == "true", err == nil
}

func symbolKey(market, symbol string) (key exchange.SymbolKey, err error) {
	key = exchange.SymbolKey{Market: exchange.Futures, Name: symbol}
	if market != "" {
		err = key.Market.UnmarshalText([]byte(market))
	}
	return key, err
}
