package api

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Bounds of logging in.
const (
	sessionIdle  = 12 * time.Hour
	sessionLimit = 7 * 24 * time.Hour // however busy
	maxSessions  = 100
	linkLife     = 10 * time.Minute
	maxLinks     = 20
	firstDelay   = time.Second // after a wrong token, doubled with each
	longestDelay = 30 * time.Second
	maxSources   = 1_000 // whose failures are counted one by one
)

// sessions are who is logged in by a browser. A session is known by the hash of
// its cookie alone.
type sessions struct {
	name string // of the cookie

	mu     sync.Mutex // guards all below
	open   map[[32]byte]*session
	links  map[[32]byte]time.Time // one-time codes and when they end
	failed map[string]*failures   // by source address
}

type session struct {
	role          Role
	key           string // hash of the named token that opened it; empty for the directory's own
	linked        bool   // a one-time link opened it, which is made over the socket
	began, active time.Time
}

// failures are wrong tokens of one source.
type failures struct {
	count int
	until time.Time // a wrong token before then is answered 429
	last  time.Time
}

// begin opens a session and returns its cookie's value.
func (s *sessions) begin(one session, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[[32]byte]*session{}
	}
	var oldest [32]byte
	for key, one := range s.open {
		if one.over(now) {
			delete(s.open, key)
		} else if first := s.open[oldest]; first == nil || one.active.Before(first.active) {
			oldest = key
		}
	}
	if len(s.open) >= maxSessions {
		delete(s.open, oldest)
	}
	value := rand.Text()
	one.began, one.active = now, now
	s.open[sha256.Sum256([]byte(value))] = &one
	return value
}

func (s *session) over(now time.Time) bool {
	return now.Sub(s.active) > sessionIdle || now.Sub(s.began) > sessionLimit
}

// find returns the session of a cookie, and when it ends if it rests.
func (s *sessions) find(value string, now time.Time) (session, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sha256.Sum256([]byte(value))
	one := s.open[key]
	if one == nil || one.over(now) {
		delete(s.open, key)
		return session{}, time.Time{}
	}
	one.active = now
	return *one, now.Add(sessionIdle)
}

func (s *sessions) end(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, sha256.Sum256([]byte(value)))
}

// link makes a one-time code that logs an operator in.
func (s *sessions) link(now time.Time) (code string, ends time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.links == nil {
		s.links = map[[32]byte]time.Time{}
	}
	for key, until := range s.links {
		if now.After(until) || len(s.links) >= maxLinks {
			delete(s.links, key)
		}
	}
	code, ends = rand.Text(), now.Add(linkLife)
	s.links[sha256.Sum256([]byte(code))] = ends
	return code, ends
}

// redeem uses a one-time code up.
func (s *sessions) redeem(code string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sha256.Sum256([]byte(code))
	until, found := s.links[key]
	delete(s.links, key)
	return found && !now.After(until)
}

// wrong counts a wrong token of a source. It returns how long the source has to
// wait when it did not wait for what the one before cost.
func (s *sessions) wrong(source string, now time.Time) (wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = map[string]*failures{}
	}
	for name, f := range s.failed {
		if now.Sub(f.last) > time.Hour {
			delete(s.failed, name)
		}
	}
	if s.failed[source] == nil && len(s.failed) >= maxSources {
		source = "" // the many share one delay
	}
	f := s.failed[source]
	if f == nil {
		f = &failures{}
		s.failed[source] = f
	}
	wait = max(0, f.until.Sub(now))
	if wait == 0 {
		f.until = now.Add(min(longestDelay, firstDelay<<min(f.count, 10)))
		f.count++
	}
	f.last = now
	return wait
}

func (s *sessions) right(source string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.failed, source)
}

// Session says who one is.
type Session struct {
	Schema   int        `json:"schema"`
	Role     string     `json:"role"`
	By       string     `json:"by"`   // socket, token, session
	Ends     *time.Time `json:"ends"` // of a session that rests; null for a token
	Mode     string     `json:"mode"`
	Instance string     `json:"instance"`
	Makes    bool       `json:"makes_tokens"` // it may make named tokens
}

func (s *Server) sessionOf(who identity) Session {
	out := Session{Schema: 1, Role: who.role.String(), By: who.by, Mode: s.config.Board.Mode(), Instance: s.config.Board.Instance(), Makes: s.config.Keyring != nil && who.makes()}
	if !who.ends.IsZero() {
		ends := who.ends.UTC()
		out.Ends = &ends
	}
	return out
}

// whoAmI serves GET /api/v1/session.
func (s *Server) whoAmI(w http.ResponseWriter, r *http.Request) { answer(w, r, s.sessionOf(who(r))) }

// login serves POST /api/v1/session: a token, or a one-time code, for a cookie.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Token, Code string }
	if err := body(r, &asked); err != nil {
		problemOfBody(w, r, err)
		return
	}
	now, source := time.Now(), sourceOf(r)
	one := session{role: s.config.Tokens.role(asked.Token)}
	if found, named := s.config.Keyring.find(asked.Token, now); named && one.role == nobody {
		one.role, one.key = found.role(), found.Hash
	}
	if asked.Code != "" && s.sessions.redeem(asked.Code, now) {
		one = session{role: Operator, linked: true}
	}
	if one.role == nobody {
		if wait := s.sessions.wrong(source, now); wait > 0 {
			tooMany(w, r, wait)
			return
		}
		problem(w, r, http.StatusUnauthorized, "credentials", "the token is wrong, or the link was used already or is older than 10 minutes; botd login makes a new one")
		return
	}
	s.sessions.right(source)
	value := s.sessions.begin(one, now)
	http.SetCookie(w, &http.Cookie{Name: s.sessions.name, Value: value, Path: "/", HttpOnly: true, Secure: s.config.Access.secure(), SameSite: http.SameSiteStrictMode, MaxAge: int(sessionLimit.Seconds())})
	w.Header().Set("Cache-Control", "no-store")
	answer(w, r, s.sessionOf(identity{role: one.role, by: "session", ends: now.Add(sessionIdle), linked: one.linked}))
}

// logout serves DELETE /api/v1/session.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(s.sessions.name); err == nil {
		s.sessions.end(cookie.Value)
	}
	http.SetCookie(w, &http.Cookie{Name: s.sessions.name, Path: "/", HttpOnly: true, Secure: s.config.Access.secure(), SameSite: http.SameSiteStrictMode, MaxAge: -1})
	w.WriteHeader(http.StatusNoContent)
}

// Link is a one-time code that logs an operator in.
type Link struct {
	Schema  int       `json:"schema"`
	Code    string    `json:"code"`
	Address string    `json:"address"` // of the dashboard; empty when it is not served
	Path    string    `json:"path"`    // behind it; the code is a fragment, which browsers do not send
	Ends    time.Time `json:"ends"`
}

// NewLink makes a one-time link.
func (s *Server) NewLink() Link {
	code, ends := s.sessions.link(time.Now())
	return Link{1, code, s.config.Address, "/login#" + code, ends.UTC()}
}

// makeLink serves POST /api/v1/session/link, over the socket alone.
func (s *Server) makeLink(w http.ResponseWriter, r *http.Request) {
	if who(r).by != "socket" {
		problem(w, r, http.StatusForbidden, "role", "a link is made over the unix socket alone: botd login")
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	answer(w, r, s.NewLink())
}

func tooMany(w http.ResponseWriter, r *http.Request, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())+1))
	problem(w, r, http.StatusTooManyRequests, "login_delay", fmt.Sprintf("too many wrong tokens from here: try again in %d s", int(wait.Seconds())+1))
}

// sourceOf is where a request comes from, without its port.
func sourceOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
