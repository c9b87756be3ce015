package exchange

import (
	"errors"
	"fmt"
)

// A call of the exchange fails in four ways, and each needs another reaction. They are types, so
// that none can be mistaken for another and a failed read can never look like an empty answer.

// Refusal is a parsed "no" of the exchange: nothing was done. Code and Message are the venue's,
// Status is the HTTP status.
type Refusal struct {
	Operation Operation
	Status    int
	Code      int
	Message   string
}

// Error says what was refused and why.
func (r *Refusal) Error() string {
	return fmt.Sprintf("%s refused: %s (HTTP %d, code %d)", r.Operation, r.Message, r.Status, r.Code)
}

// Codes of the interface's Errors section and of decisions.md.
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

// UnknownSymbol reports whether the refusal is about a symbol that the exchange does not have.
func (r *Refusal) UnknownSymbol() bool {
	return r.Code == CodeSpotInvalidSymbol || r.Code == CodeFuturesInvalidSymbol
}

// Uncertain means that the outcome of a placement is not known: the order may be on the exchange.
// It is never sent again; only fetching decides.
type Uncertain struct {
	Reason string // short, from a closed set: timeout, reset, status 503, malformed answer, ...
	Err    error
}

// ReasonRateLimited is the reason when the answer was "too many requests".
const ReasonRateLimited = "rate limited"

// Error says why the outcome is unknown.
func (u *Uncertain) Error() string { return "outcome unknown: " + u.Reason }

// Unwrap returns the cause.
func (u *Uncertain) Unwrap() error { return u.Err }

// Unavailable means that a call got no answer, or the answer "not now". A read may be tried again.
type Unavailable struct {
	Operation    Operation
	Reason       string
	RetryAfterMS int64 // as asked by the venue, 0 when it did not
	Err          error
}

// Error says what was not available.
func (u *Unavailable) Error() string { return fmt.Sprintf("%s unavailable: %s", u.Operation, u.Reason) }

// Unwrap returns the cause.
func (u *Unavailable) Unwrap() error { return u.Err }

// Malformed means that a successful answer could not be understood.
type Malformed struct {
	Operation Operation
	What      string
	Err       error
}

// Error says what could not be understood.
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
