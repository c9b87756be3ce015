package server

import (
	"math"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxBuckets bounds how many keys or addresses are counted one by one; what
// comes beyond shares one bucket.
const maxBuckets = 4096

// budget counts requests by name in buckets of n, refilled n a second
// (decisions.md, --budget).
type budget struct {
	perSecond int // 0 is unlimited

	mu      sync.Mutex // guards all below
	buckets map[string]*rate.Limiter
	rest    *rate.Limiter
	forgot  time.Time // when full buckets were looked for
}

func newBudget(perSecond int) *budget {
	return &budget{
		perSecond: perSecond,
		buckets:   make(map[string]*rate.Limiter),
		rest:      rate.NewLimiter(rate.Limit(perSecond), perSecond),
	}
}

// spend takes one request from every name's bucket, or from none; then it
// returns after how many whole seconds to come back.
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
	if len(b.buckets) >= maxBuckets && now.Sub(b.forgot) >= time.Second {
		b.forgetFull(now)
	}
	if len(b.buckets) >= maxBuckets {
		return b.rest
	}
	limiter := rate.NewLimiter(rate.Limit(b.perSecond), b.perSecond)
	b.buckets[name] = limiter
	return limiter
}

// forgetFull drops the buckets that are full again: a new one would be the same.
// It looks at all of them, hence at most once a second.
func (b *budget) forgetFull(now time.Time) {
	b.forgot = now
	for name, limiter := range b.buckets {
		if limiter.TokensAt(now) >= float64(b.perSecond) {
			delete(b.buckets, name)
		}
	}
}

// budgetNames returns whose budget a request takes from: its address and, when
// the key is known, its key. An unknown key is not counted by itself, or guessing
// keys would fill the memory.
func (s *Server) budgetNames(r *http.Request) []string {
	if s.budget.perSecond == 0 {
		return nil
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	names := []string{"address " + host}
	if key := r.Header.Get("x-api-key"); s.accounts[key] != nil {
		names = append(names, "key "+key)
	}
	return names
}
