package api

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

type contextKey int

const (
	overSocket contextKey = iota // the connection is the unix socket's
	identified                   // identity
	numbered                     // request id
	vouched                      // Asker
)

// identity is who asks.
type identity struct {
	role   Role
	by     string    // socket, token, session, telegram
	key    Key       // the named token, where it is one
	from   string    // address
	ends   time.Time // of a session that rests
	linked bool      // a session that a one-time link opened
}

// makes reports whether he may make tokens: who reached the socket, himself or by a
// link that was made there. A stolen token makes no others.
func (i *identity) makes() bool { return i.by == "socket" || i.linked && i.role == Operator }

func who(r *http.Request) identity {
	who, _ := r.Context().Value(identified).(identity)
	return who
}

func requestID(r *http.Request) string {
	id, _ := r.Context().Value(numbered).(string)
	return id
}

// policy lets a page of botd load what botd serves, and nothing else.
const policy = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// guard lets only requests in that name a host of ours, so that no web page can
// reach the API by a name it controls; it numbers and counts them.
func (s *Server) guard(next http.Handler, mux *http.ServeMux) http.Handler {
	protection := http.NewCrossOriginProtection()
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
		if asker, inside := r.Context().Value(vouched).(Asker); inside && asker.RequestID != "" {
			id = asker.RequestID
		}
		header.Set("X-Request-ID", id)
		r = r.WithContext(context.WithValue(r.Context(), numbered, id))
		r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
		switch {
		case !s.ours(r):
			problem(recorder, r, http.StatusMisdirectedRequest, "host", "the Host header names no host of this botd; add it to access.hosts, if it is one")
		case protection.Check(r) != nil:
			problem(recorder, r, http.StatusForbidden, "cross_origin", "the request comes from another site's page")
		default:
			next.ServeHTTP(recorder, r)
		}
		_, pattern := mux.Handler(r)
		if pattern == fallback {
			pattern = ""
		}
		s.metrics.Served(pattern, recorder.status, time.Since(began))
	})
}

// ours reports whether a request is for a name of this daemon.
func (s *Server) ours(r *http.Request) bool {
	if r.Context().Value(overSocket) != nil {
		return true // no web page can speak to a unix socket
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback() || slices.ContainsFunc(s.config.Access.Hosts, func(name string) bool { return strings.EqualFold(name, host) })
}

// identify finds out who asks. A wrong token delays the next wrong one, never a
// right one: who can send from this machine must not lock the kill switch.
func (s *Server) identify(r *http.Request) (who identity, wait time.Duration) {
	if asker, inside := r.Context().Value(vouched).(Asker); inside {
		return identity{role: asker.Role, by: asker.By, from: asker.From}, 0
	}
	who.from = sourceOf(r)
	if r.Context().Value(overSocket) != nil {
		return identity{role: Operator, by: "socket", from: "unix socket"}, 0
	}
	now := time.Now()
	if given, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); found {
		who.by, who.role = "token", s.config.Tokens.role(given)
		if key, named := s.config.Keyring.find(given, now); named && who.role == nobody {
			who.key, who.role = key, key.role()
		}
		if who.role == nobody {
			wait = s.sessions.wrong(who.from, now)
		}
		return who, wait
	}
	if cookie, err := r.Cookie(s.sessions.name); err == nil {
		who.by = "session"
		var one session
		one, who.ends = s.sessions.find(cookie.Value, now)
		who.role, who.linked = one.role, one.linked
		if one.key != "" {
			key, held := s.config.Keyring.held(one.key, now)
			if !held { // revoked, or at its end
				s.sessions.end(cookie.Value)
				return identity{from: who.from}, 0
			}
			who.key = key
		}
	}
	return who, 0
}

// admitted wraps a route so that only a role, or a higher one, gets in.
func (s *Server) admitted(least Role, serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, wait := s.identify(r)
		switch {
		case wait > 0 && least > nobody:
			tooMany(w, r, wait)
			return
		case who.role == nobody && least > nobody:
			w.Header().Set("WWW-Authenticate", "Bearer")
			problem(w, r, http.StatusUnauthorized, "credentials", "log in: botd login prints a link; or send Authorization: Bearer with the token in data_dir")
			return
		case who.role < least:
			problem(w, r, http.StatusForbidden, "role", fmt.Sprintf("a %s may look, and change nothing", who.role))
			return
		}
		serve(w, r.WithContext(context.WithValue(r.Context(), identified, who)))
	}
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

// Unwrap is what http.ResponseController looks for.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
