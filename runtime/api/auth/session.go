package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"maps"
	"sync"
	"time"
)

// Limits of sessions and links.
const (
	sessionIdle  = 12 * time.Hour
	sessionLimit = 7 * 24 * time.Hour // however busy
	maxViewers   = 60                 // sessions of viewers
	maxOperators = 40                 // sessions of operators, which a viewer's login does not end
	maxOfOne     = 20                 // sessions of one credential
	linkLife     = 10 * time.Minute
	maxLinks     = 20
)

// sessions are the open sessions of browsers. A session is identified by the hash of its cookie
// alone.
type sessions struct {
	mu    sync.Mutex // guards all below
	open  map[[32]byte]*session
	links map[[32]byte]time.Time // one-time codes and when they end
	store store                  // restored after a restart
}

type session struct {
	role          Role
	key           string // hash of the named token that opened it; empty for the directory's own
	linked        bool   // opened through a one-time link, which is created over the socket
	host          string // the name and port at which it was opened, the only ones at which it is valid
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
	maps.DeleteFunc(s.open, func(_ [32]byte, each *session) bool { return each.expired(now) })
	s.limit(maxOfOne, func(each *session) bool { return each.role == one.role && each.key == one.key })
	most := maxViewers
	if one.role == Operator {
		most = maxOperators
	}
	s.limit(most, func(each *session) bool { return each.role == one.role })
	value := rand.Text()
	one.began, one.active = now, now
	s.open[sha256.Sum256([]byte(value))] = &one
	s.store.save(s.open, now)
	return value
}

// limit makes room for one more of the matching sessions: the one that was idle longest ends.
func (s *sessions) limit(most int, of func(*session) bool) {
	var oldest [32]byte
	count := 0
	for key, each := range s.open {
		if !of(each) {
			continue
		}
		count++
		if first := s.open[oldest]; first == nil || each.active.Before(first.active) {
			oldest = key
		}
	}
	if count >= most {
		delete(s.open, oldest)
	}
}

// find returns the session of a cookie, and its expiry if it stays unused.
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
	if now.Sub(s.store.saved) > saveEvery {
		s.store.save(s.open, now)
	}
	return *one, now.Add(sessionIdle)
}

func (s *sessions) end(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, sha256.Sum256([]byte(value)))
	s.store.save(s.open, time.Now())
}

// link creates a one-time code that logs an operator in.
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

// redeem consumes a one-time code, and reports whether it was valid.
func (s *sessions) redeem(code string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sha256.Sum256([]byte(code))
	until, found := s.links[key]
	delete(s.links, key)
	return found && !now.After(until)
}
