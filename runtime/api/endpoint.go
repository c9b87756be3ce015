package api

import (
	"net/http"
	"reflect"
	"strings"
)

// endpoint answers the requests to a route. The API document is derived from its types.
type endpoint struct {
	serve   func(*Server, http.ResponseWriter, *request) error
	body    reflect.Type // nil: none
	answer  reflect.Type // nil: none that is JSON
	media   string       // of an answer that is not JSON
	paged   bool         // takes limit and after
	changes bool         // takes dry_run and Idempotency-Key
	later   bool         // is carried out after the answer, which is 202
}

// read answers with a document and its tag: a client with a current copy gets 304 instead.
func read[A any](get func(*Server, *request) (A, error)) endpoint {
	return endpoint{answer: reflect.TypeFor[A](), serve: func(s *Server, w http.ResponseWriter, r *request) error {
		value, err := get(s, r)
		if err == nil {
			answer(w, r.Request, value)
		}
		return err
	}}
}

// list answers a page of a list, newest first.
func list[T any](get func(*Server, *request) ([]T, string)) endpoint {
	e := read(func(s *Server, r *request) (List[T], error) { return listOf(get(s, r)), nil })
	e.paged = true
	return e
}

// all answers a whole list.
func all[T any](get func(*Server, *request) ([]T, error)) endpoint {
	return read(func(s *Server, r *request) (List[T], error) {
		items, err := get(s, r)
		return listOf(items, ""), err
	})
}

// change answers with the effects of a change. A dry run returns the effects without performing them.
func change[B, A any](do func(*Server, *request, *B) (A, error)) endpoint {
	return changing(http.StatusOK, do)
}

// order answers with the requests that a change will send to the exchange.
func order[B, A any](do func(*Server, *request, *B) (A, error)) endpoint {
	e := changing(http.StatusAccepted, do)
	e.later = true
	return e
}

func changing[B, A any](status int, do func(*Server, *request, *B) (A, error)) endpoint {
	return endpoint{body: reflect.TypeFor[B](), answer: reflect.TypeFor[A](), changes: true, serve: func(s *Server, w http.ResponseWriter, r *request) error {
		var given B
		r.writer = w
		if err := r.read(&given); err != nil {
			return err
		}
		value, err := do(s, r, &given)
		if err != nil {
			return err
		}
		if r.dryRun {
			answerAs(w, http.StatusOK, value)
		} else {
			answerAs(w, status, value)
		}
		return nil
	}}
}

// secret answers with a value that must not be repeated or stored: the request has no dry run and
// no idempotency key.
func secret[B, A any](do func(*Server, *request, *B) (A, error)) endpoint {
	e := changing(http.StatusOK, do)
	e.changes = false
	return e
}

// raw returns an endpoint that writes its own answer.
func raw(media string, serve func(*Server, http.ResponseWriter, *request) error) endpoint {
	return endpoint{media: media, serve: serve}
}

// of reads from a part of the server; by has that part perform a change.
func of[P, A, B any](part func(*Server) *P, get func(*P, *request) (A, B)) func(*Server, *request) (A, B) {
	return func(s *Server, r *request) (A, B) { return get(part(s), r) }
}

func by[P, B, A any](part func(*Server) *P, do func(*P, *request, *B) (A, error)) func(*Server, *request, *B) (A, error) {
	return func(s *Server, r *request, body *B) (A, error) { return do(part(s), r, body) }
}

// nothing is the body of a change without parameters.
type nothing struct{}

// ReasonRequest is the group of fields of every change: its reason, and whether it is a dry run.
type ReasonRequest struct {
	Reason string `json:"reason,omitempty"`  // the reason that the journal records; required unless it is a dry run
	DryRun bool   `json:"dry_run,omitempty"` // whether to answer with the effects, and do nothing
}

func (b *ReasonRequest) given() *ReasonRequest { return b }

// need refuses a change without a reason, unless it is a dry run.
func (b *ReasonRequest) need(r *request, want string) error {
	if !r.dryRun && strings.TrimSpace(b.Reason) == "" {
		return badBody(want)
	}
	return nil
}
