package server

import (
	"math"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxBuckets bounds the number of keys and addresses with a bucket of their own; the others share
// one.
const maxBuckets = 4096

// budget counts requests by name in buckets of n tokens, refilled with n a second (docs/exchange.md,
// Settings).
type budget struct {
	perSecond int // 0 is unlimited

	mu      sync.Mutex // guards all below
	buckets map[string]*rate.Limiter
	rest    *rate.Limiter
	sweptAt time.Time // when sweep last ran
}

func newBudget(perSecond int) *budget {
	return &budget{perSecond: perSecond, buckets: make(map[string]*rate.Limiter), rest: rate.NewLimiter(rate.Limit(perSecond), perSecond)}
}

// spend takes one token from every name's bucket, or from none and returns the number of seconds
// until a retry.
func (b *budget) spend(names ...string) (retrySeconds int, ok bool) {
	if b.perSecond == 0 {
		return 0, true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	var wait time.Duration
	taken := make([]*rate.Reservation, 0, len(names))
	for _, name := range names {
		reservation := b.bucket(name, now).ReserveN(now, 1)
		taken = append(taken, reservation)
		wait = max(wait, reservation.DelayFrom(now))
	}
	if wait == 0 {
		return 0, true
	}
	for _, reservation := range taken {
		reservation.CancelAt(now)
	}
	return int(math.Ceil(wait.Seconds())), false
}

func (b *budget) bucket(name string, now time.Time) *rate.Limiter {
	if limiter, ok := b.buckets[name]; ok {
		return limiter
	}
	if len(b.buckets) >= maxBuckets && now.Sub(b.sweptAt) >= time.Second {
		b.sweep(now)
	}
	if len(b.buckets) >= maxBuckets {
		return b.rest
	}
	limiter := rate.NewLimiter(rate.Limit(b.perSecond), b.perSecond)
	b.buckets[name] = limiter
	return limiter
}

// sweep drops full buckets, which equal new ones. It checks all of them, so it runs at most once a
// second.
func (b *budget) sweep(now time.Time) {
	b.sweptAt = now
	for name, limiter := range b.buckets {
		if limiter.TokensAt(now) >= float64(b.perSecond) {
			delete(b.buckets, name)
		}
	}
}

// budgetNames returns the budgets that a request uses: its address's and, if the key is known, its
// key's. An unknown key has no bucket; otherwise guessed keys would fill the memory.
func (s *Server) budgetNames(r *http.Request) []string {
	if s.budget.perSecond == 0 {
		return nil
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	names := []string{"address " + host}
	if key := r.Header.Get("x-api-key"); s.account(key) != nil {
		names = append(names, "key "+key)
	}
	return names
}
