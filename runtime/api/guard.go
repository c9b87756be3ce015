package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"botd/runtime/api/auth"
)

type contextKey int

const requestKey contextKey = iota // the request's id

func requestID(r *http.Request) string {
	id, _ := r.Context().Value(requestKey).(string)
	return id
}

// requester returns the sender of a request.
func requester(r *http.Request) auth.Identity { return auth.IdentityOf(r.Context()) }

// policy lets a page of botd load only resources that botd serves.
const policy = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// guarded numbers and counts requests, and admits only those that name one of botd's hosts and do
// not come from another site.
func (s *Server) guarded(next http.Handler, mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, recorder := time.Now(), &statusWriter{ResponseWriter: w, status: http.StatusOK}
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Content-Security-Policy", policy)
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		id := rand.Text()[:16]
		if caller, inside := auth.CallerOf(r.Context()); inside && caller.RequestID != "" {
			id = caller.RequestID
		}
		header.Set("X-Request-ID", id)
		r = r.WithContext(context.WithValue(r.Context(), requestKey, id))
		r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
		denied := s.guard.Check(r)
		if denied == nil {
			requester := s.guard.Identify(r, began)
			denied = s.guard.Pace(r, &requester, began)
			r = r.WithContext(auth.WithIdentity(r.Context(), requester))
		}
		if denied != nil {
			deny(recorder, r, denied)
		} else {
			next.ServeHTTP(recorder, r)
		}
		_, pattern := mux.Handler(r)
		if pattern == fallback {
			pattern = ""
		}
		s.metrics.Served(pattern, recorder.status, time.Since(began))
	})
}

// admitted wraps a route so that only a role, or a higher one, is admitted.
func (s *Server) admitted(minimum auth.Role, serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		requester := requester(r)
		if denied := requester.Admit(minimum); denied != nil {
			deny(w, r, denied)
			return
		}
		serve(w, r)
	}
}

// once wraps a change so that a repeated Idempotency-Key gets the first answer.
func (m *idempotency) once(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		if key == "" {
			serve(w, r)
			return
		}
		text, err := io.ReadAll(r.Body)
		if err == nil && len(key) > maxRepeatID {
			err = fmt.Errorf("Idempotency-Key is longer than %d bytes", maxRepeatID)
		}
		if err != nil {
			fail(w, r, bodyError(err))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(text))
		name := requester(r).By + " " + requester(r).From + " " + key
		digest := sha256.Sum256(append([]byte(r.Method+" "+r.URL.RequestURI()+"\n"), text...))
		known, first := m.begin(name, digest, time.Now())
		if !first {
			known.again(w, r, digest)
			return
		}
		m.save(known.line(name, false))
		recorder := &recorder{ResponseWriter: w, status: http.StatusOK}
		serve(recorder, r)
		known.status, known.header, known.body = recorder.status, w.Header().Clone(), recorder.body.Bytes()
		line := known.line(name, true)
		close(known.done)
		if recorder.status >= http.StatusInternalServerError {
			m.forget(name)
		}
		m.save(line)
	}
}

// deny answers a rejected request.
func deny(w http.ResponseWriter, r *http.Request, denied *auth.Denied) {
	if denied.Wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(denied.Wait.Seconds())))
	} else if denied.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	problem(w, r, denied.Status, denied.Code, denied.Detail)
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the underlying writer for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
