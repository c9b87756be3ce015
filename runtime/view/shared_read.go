package view

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// Limits of shared reads.
const (
	sharedLife   = 2 * time.Second // how old an answer may be
	maxShared    = 200             // answers held
	sharedWithin = 8 * time.Second
)

// shared answers equal requests that arrive at once, or soon after one another, with one read of
// the exchange: a hundred people who watch a symbol cost as much as one.
type shared[K comparable, V any] struct {
	flight singleflight.Group

	mu    sync.Mutex // guards known
	known map[K]cached[V]
}

// cached is an answer and when it was read, by the machine's clock.
type cached[V any] struct {
	value V
	at    time.Time
}

// get returns the answer to a request. A read continues after the first caller has left.
func (s *shared[K, V]) get(ctx context.Context, key K, read func(context.Context) (V, error)) (V, error) {
	if value, fresh := s.held(key); fresh {
		return value, nil
	}
	answers := s.flight.DoChan(fmt.Sprint(key), func() (any, error) {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), sharedWithin)
		defer cancel()
		value, err := read(detached)
		if err == nil {
			s.hold(key, value)
		}
		return value, err
	})
	var none V
	select {
	case answer := <-answers:
		value, _ := answer.Val.(V)
		return value, answer.Err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

func (s *shared[K, V]) held(key K) (V, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, found := s.known[key]
	return one.value, found && time.Since(one.at) < sharedLife
}

func (s *shared[K, V]) hold(key K, value V) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[K]cached[V]{}
	}
	for other, one := range s.known {
		if len(s.known) >= maxShared || time.Since(one.at) >= sharedLife {
			delete(s.known, other)
		}
	}
	s.known[key] = cached[V]{value, time.Now()}
}
