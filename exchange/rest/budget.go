package rest

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"botd/exchange"
)

// priority orders the requests that wait for the budget: first canceling and reducing, then
// settling, then opening, then the engine's market data, and last data for viewers.
type priority int

const (
	priorityExit priority = iota
	prioritySettle
	priorityEnter
	priorityWatch
	priorityGuest
	priorities
)

func priorityOf(request *exchange.Request) priority {
	switch operation := request.Operation; {
	case operation == exchange.FuturesPlace && !request.Order.Reduces(),
		operation == exchange.SpotPlace && request.Order.Side == exchange.Buy,
		operation == exchange.FuturesSetLeverage:
		return priorityEnter
	case operation.Changes():
		return priorityExit
	case operation.Signed(), operation == exchange.FuturesTime, // no request can be signed without the clock
		operation == exchange.FuturesTickers, operation == exchange.SpotTickers: // a round waits for the prices
		return prioritySettle
	}
	return priorityWatch
}

// reservedShare is the part of a burst reserved for exits, so that a kill switch sends its first
// requests at once, however busy everything else is.
const reservedShare = 5

// budget releases requests at a rate: the highest priority first, and in order of arrival within a
// priority.
type budget struct {
	reserve     float64    // requests reserved for exits
	mu          sync.Mutex // guards all below
	limiter     *rate.Limiter
	queued      [priorities][]chan struct{} // each channel is closed when its turn comes
	timer       *time.Timer                 // calls serve at the time of the next request
	pausedUntil time.Time
}

func newBudget(perSecond float64) *budget {
	if perSecond == 0 {
		return &budget{limiter: rate.NewLimiter(rate.Inf, 1)}
	}
	burst := max(1, int(perSecond))
	return &budget{limiter: rate.NewLimiter(rate.Limit(perSecond), burst), reserve: float64(burst / reservedShare)}
}

// wait returns nil on the caller's turn or when the request was recalled, or else the context's
// error.
func (b *budget) wait(ctx context.Context, p priority, recalled <-chan struct{}) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.mu.Lock()
	if !b.outranked(p) && b.take(time.Now(), p) {
		b.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	b.queued[p] = append(b.queued[p], turn)
	b.setTimer(time.Now())
	b.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-recalled:
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.queued[p], turn); i >= 0 {
		b.queued[p] = slices.Delete(b.queued[p], i, i+1)
	}
	return ctx.Err() // a turn that arrived at the same moment is lost, which costs one request
}

func (b *budget) outranked(p priority) bool {
	for _, queue := range b.queued[:p+1] {
		if len(queue) > 0 {
			return true
		}
	}
	return false
}

func (b *budget) take(now time.Time, p priority) bool {
	return !now.Before(b.pausedUntil) && b.limiter.TokensAt(now) >= b.needs(p) && b.limiter.AllowN(now, 1)
}

// needs returns the number of requests that the budget must have left for one of a priority.
func (b *budget) needs(p priority) float64 {
	if p == priorityExit || b.limiter.Limit() == rate.Inf {
		return 0 // the limiter itself requires one
	}
	return 1 + b.reserve
}

// setTimer schedules serve for the time of the next request.
func (b *budget) setTimer(now time.Time) {
	missing := max(0, 1+b.reserve-b.limiter.TokensAt(now))
	if len(b.queued[priorityExit]) > 0 {
		missing = max(0, 1-b.limiter.TokensAt(now))
	}
	delay := time.Duration(math.Ceil(missing / float64(b.limiter.Limit()) * float64(time.Second)))
	if delay = max(delay, b.pausedUntil.Sub(now)); b.timer == nil {
		b.timer = time.AfterFunc(delay, b.serve)
	} else {
		b.timer.Reset(delay)
	}
}

// serve releases the requests whose turn has come.
func (b *budget) serve() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for p := range b.queued {
		for len(b.queued[p]) > 0 {
			now := time.Now()
			if !b.take(now, priority(p)) {
				b.setTimer(now)
				return
			}
			close(b.queued[p][0])
			b.queued[p] = b.queued[p][1:]
		}
	}
}

// paused returns the time at which requests resume, or zero if there is no pause.
func (b *budget) paused() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !time.Now().Before(b.pausedUntil) {
		return time.Time{}
	}
	return b.pausedUntil
}

// pause holds all requests back for a while.
func (b *budget) pause(duration time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if until := time.Now().Add(duration); until.After(b.pausedUntil) {
		b.pausedUntil = until
	}
}
