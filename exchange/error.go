package exchange

import (
	"errors"
	"fmt"
)

// A call of the exchange fails in four ways, each of which needs a different reaction. They are
// separate types, so that one cannot be mistaken for another and a failed read never looks like an
// empty answer.

// Refusal is the exchange's parsed answer that it refuses a request (risk.Rejection is botd's own): nothing was done. Code and Message are
// the venue's, Status is the HTTP status.
type Refusal struct {
	Operation Operation
	Status    int
	Code      int
	Message   string
}

// Error returns the refused operation and the reason.
func (r *Refusal) Error() string {
	return fmt.Sprintf("%s refused: %s (HTTP %d, code %d)", r.Operation, r.Message, r.Status, r.Code)
}

// Codes of the interface's Errors section and of docs/exchange.md (codes, error bodies).
const (
	CodeInvalidSignature     = -1022
	CodeInvalidTimestamp     = -1021
	CodeUnknownKey           = -2008
	CodeNotPermitted         = -2015
	CodeSpotInvalidSymbol    = 118
	CodeFuturesInvalidSymbol = 1118
)

// Unauthorized reports whether the refusal is about key, signature or permission.
func (r *Refusal) Unauthorized() bool {
	return r.Code == CodeInvalidSignature || r.Code == CodeUnknownKey || r.Code == CodeNotPermitted ||
		(r.Status == 401 || r.Status == 403) && r.Code != CodeInvalidTimestamp
}

// UnknownSymbol reports whether the exchange refused because it does not list the symbol.
func (r *Refusal) UnknownSymbol() bool {
	return r.Code == CodeSpotInvalidSymbol || r.Code == CodeFuturesInvalidSymbol
}

// Uncertain means that the outcome of a placement is not known: the order may be on the exchange. It
// is never sent again; only a fetch settles it.
type Uncertain struct {
	Reason string // short, from a closed set: timeout, reset, status 503, malformed answer, ...
	Err    error
}

// ReasonRateLimited is the reason for an answer "too many requests".
const ReasonRateLimited = "rate limited"

// ReasonExpired is the reason for a request that was not sent, because it was due too late.
const ReasonExpired = "its time to live had passed"

// Error returns why the outcome is not known.
func (u *Uncertain) Error() string { return "outcome uncertain: " + u.Reason }

// Unwrap returns the cause.
func (u *Uncertain) Unwrap() error { return u.Err }

// Unavailable means that a call got no answer, or the answer "not now". A read may be retried.
type Unavailable struct {
	Operation    Operation
	Reason       string
	RetryAfterMS int64 // as requested by the venue, 0 if it did not
	Err          error
}

// Error returns the unavailable operation and the reason.
func (u *Unavailable) Error() string { return fmt.Sprintf("%s unavailable: %s", u.Operation, u.Reason) }

// Unwrap returns the cause.
func (u *Unavailable) Unwrap() error { return u.Err }

// Malformed means that a successful answer could not be parsed.
type Malformed struct {
	Operation Operation
	What      string
	Err       error
}

// Error returns the operation and what could not be parsed.
func (m *Malformed) Error() string {
	return fmt.Sprintf("%s answer malformed: %s", m.Operation, m.What)
}

// Unwrap returns the cause.
func (m *Malformed) Unwrap() error { return m.Err }

// ErrorKind names the kind of an error from a closed set: refusal, uncertain,
// unavailable, malformed, other; empty for nil.
func ErrorKind(err error) string {
	var (
		refusal     *Refusal
		uncertain   *Uncertain
		unavailable *Unavailable
		malformed   *Malformed
	)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &uncertain):
		return "uncertain"
	case errors.As(err, &refusal):
		return "refusal"
	case errors.As(err, &unavailable):
		return "unavailable"
	case errors.As(err, &malformed):
		return "malformed"
	}
	return "other"
}
