package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

// Limits of sessions and links.
const (
	sessionIdle  = 12 * time.Hour
	sessionLimit = 7 * 24 * time.Hour // however busy
	maxSessions  = 100
	linkLife     = 10 * time.Minute
	maxLinks     = 20
)

// sessions are the open sessions of browsers. A session is known by the hash of its
// cookie alone.
type sessions struct {
	mu    sync.Mutex // guards all below
	open  map[[32]byte]*session
	links map[[32]byte]time.Time // one-time codes and when they end
}

type session struct {
	role          Role
	key           string // hash of the named token that opened it; empty for the directory's own
	linked        bool   // a one-time link opened it, which is made over the socket
	began, active time.Time
}

func (s *session) expired(now time.Time) bool {
	return now.Sub(s.active) > sessionIdle || now.Sub(s.began) > sessionLimit
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
		if one.expired(now) {
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

// find returns the session of a cookie, and when it ends if it is not used.
func (s *sessions) find(value string, now time.Time) (session, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sha256.Sum256([]byte(value))
	one := s.open[key]
	if one == nil || one.expired(now) {
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
