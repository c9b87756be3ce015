package auth

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"botd/internal/privatefile"
)

// sessionsFile holds the open sessions, identified only by the hashes of their cookies.
const sessionsFile = "sessions.json"

// saveEvery is how often the times of use of sessions are saved: after a restart a session may seem
// idle for that much longer.
const saveEvery = 5 * time.Minute

// store saves sessions across restarts.
type store struct {
	path   string // empty for none
	tokens Tokens
	saved  time.Time
	writes chan []byte // to one writer: a login does not wait for a disk
}

// stored is a session in the file. Voucher is a hash of the directory's own token that
// opened it, or makes its links: a session ends with that token.
type stored struct {
	Hash    string    `json:"hash"` // SHA-256 of the cookie, in hex
	Role    string    `json:"role"`
	Key     string    `json:"key,omitempty"` // hash of the named token that opened it
	Linked  bool      `json:"linked,omitempty"`
	Host    string    `json:"host"`
	Voucher string    `json:"voucher"`
	Began   time.Time `json:"began"`
	Active  time.Time `json:"active"`
}

func (s *store) voucher(role Role) string {
	if role == Operator {
		return hashOf("voucher " + s.tokens.Operator)
	}
	return hashOf("voucher " + s.tokens.Viewer)
}

// save has the sessions written.
func (s *store) save(open map[[32]byte]*session, now time.Time) {
	if s.path == "" {
		return
	}
	s.saved = now
	all := []stored{}
	for hash, one := range open {
		all = append(all, stored{hex.EncodeToString(hash[:]), one.role.String(), one.key, one.linked, one.host, s.voucher(one.role), one.began.UTC(),
			one.active.UTC()})
	}
	slices.SortFunc(all, func(a, b stored) int { return cmp.Compare(a.Hash, b.Hash) })
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		panic(err) // a session that does not marshal to JSON
	}
	text = append(text, '\n')
	for { // only the newest is useful
		select {
		case s.writes <- text:
			return
		default:
		}
		select {
		case <-s.writes:
		default:
		}
	}
}

// parse reads the sessions that have not ended, and whose token is still this directory's.
func (s *store) parse(text []byte, now time.Time) (map[[32]byte]*session, error) {
	var found []stored
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, err
	}
	open := map[[32]byte]*session{}
	for i := range found {
		one := &found[i]
		role, known := ParseRole(one.Role)
		hash, err := hex.DecodeString(one.Hash)
		if known && err == nil && len(hash) == 32 && one.Voucher == s.voucher(role) {
			open[[32]byte(hash)] = &session{role, one.Key, one.Linked, one.Host, one.Began, one.Active}
		}
	}
	maps.DeleteFunc(open, func(_ [32]byte, each *session) bool { return each.expired(now) || each.began.After(now) })
	return open, nil
}

// OpenSessions restores the sessions of a data directory that have not ended, and saves them from
// now on until the channel is closed. An unreadable file ends all sessions.
func (g *Guard) OpenSessions(directory string, now time.Time, warn func(error)) (closing func()) {
	s := &g.sessions
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store = store{path: filepath.Join(directory, sessionsFile), tokens: g.config.Tokens, saved: now, writes: make(chan []byte, 1)}
	text, err := privatefile.Read(s.store.path, maxStore)
	if err == nil {
		s.open, err = s.store.parse(text, now)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		warn(fmt.Errorf("the sessions of the previous run cannot be read, and have ended: %w", err))
	}
	done := make(chan struct{})
	writes, path := s.store.writes, s.store.path
	go func() {
		defer close(done)
		privatefile.Keep(path, writes, func(err error) { warn(fmt.Errorf("sessions cannot be saved: %w", err)) })
	}()
	return func() {
		s.mu.Lock()
		s.store.path = ""
		s.mu.Unlock()
		close(writes)
		<-done
	}
}
