package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"botd/exchange"
	"botd/runtime"
	"botd/runtime/api/auth"
)

// Problem is the answer to every request that failed (RFC 9457).
type Problem struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail"`
	Code      string `json:"code"` // the kind of failure, for programs
	RequestID string `json:"request_id"`
}

// Codes are the kinds of failure.
var Codes = []string{"host", "cross_origin", "credentials", "role", "login_delay", "rate_limit", "parameter", "body", "too_large", "not_found", "method",
	"not_quarantined", "not_possible", "idempotency_key",
	"exchange", "stopped", "unwritten", "stream", "internal"}

// failure is the reason that a request fails.
type failure struct {
	status       int
	code, detail string
}

func (f *failure) Error() string { return f.detail }

func badParameter(detail string) error {
	return &failure{http.StatusBadRequest, "parameter", detail}
}

func badBody(detail string) error { return &failure{http.StatusBadRequest, "body", detail} }

func notFound(what, name string) error {
	return &failure{http.StatusNotFound, "not_found", fmt.Sprintf("unknown %s %q", what, name)}
}

// notPossible refuses a change that the present state does not permit.
func notPossible(detail string) error {
	return &failure{http.StatusConflict, "not_possible", detail}
}

// stopped returns the failure of an engine that does not answer.
func stopped() error {
	return &failure{http.StatusServiceUnavailable, "stopped", "the engine is not answering: nothing was changed"}
}

// unwritten returns the failure of a change that could not be stored.
func unwritten(detail string) error {
	return &failure{http.StatusServiceUnavailable, "unwritten", detail}
}

// notTaken translates the engine's refusal of an event.
func notTaken(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, runtime.ErrNotDurable):
		return unwritten("in force now, but not yet written to the journal: a restart would forget it")
	}
	return stopped()
}

// unavailable returns the failure of an exchange that did not answer a read.
func unavailable(err error) error {
	var refusal *exchange.Refusal
	detail := "the exchange did not answer: " + exchange.ErrorKind(err)
	if errors.As(err, &refusal) {
		detail = "the exchange refused: " + refusal.Message
	}
	return &failure{http.StatusBadGateway, "exchange", detail}
}

// fail answers a request that failed.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	if denied, ok := errors.AsType[*auth.Denied](err); ok {
		deny(w, r, denied)
		return
	}
	var known *failure
	if !errors.As(err, &known) {
		known = &failure{http.StatusInternalServerError, "internal", err.Error()}
	}
	problem(w, r, known.status, known.code, known.detail)
}

func problem(w http.ResponseWriter, r *http.Request, status int, code, detail string) {
	text, err := json.Marshal(Problem{"about:blank", http.StatusText(status), status, detail, code, requestID(r)})
	if err != nil {
		panic("api: a problem that is not JSON: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a disconnected client gets no answer
}
