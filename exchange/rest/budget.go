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
	priorityPrice // waits in order of arrival with priorityWatch, but a round waits for it: protected
)

// queue returns the queue of a priority.
func (p priority) queue() priority {
	if p == priorityPrice {
		return priorityWatch
	}
	return p
}

// protected reports whether the kill switch or a round waits for such a request.
func (p priority) protected() bool { return p <= prioritySettle || p == priorityPrice }

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
	case operation == exchange.FuturesTicker, operation == exchange.SpotTicker:
		return priorityPrice // one for each symbol: before the candles, they would delay those by minutes
	}
	return priorityWatch
}

// reservedShare is the part of a burst reserved for exits, so that a kill switch sends its first
// requests at once, however busy everything else is.
const reservedShare = 5

// After an answer 429, one request at a time is sent until one is answered otherwise. Openings and market data wait
// as long as the venue asks. Exits, cancels and the reads that they need do not: a wrong Retry-After must not
// silence the kill switch. They wait only if one of them was limited: firstProbe, and probeEvery after each further
// 429. So a venue that answers only 429 for T seconds receives, after what was in flight at its first 429 to either
// kind, at most 1 + T/2 requests of each kind and market.
const (
	firstProbe = time.Second
	probeEvery = 2 * time.Second
)

const never = time.Duration(math.MaxInt64)

// brake holds requests back after a 429.
type brake struct {
	limited bool      // the last conclusive answer was 429
	probing bool      // while limited: a request is in flight
	until   time.Time // while limited: the earliest time of the next request
}

// pause returns the time between a 429 and the next request.
func (k *brake) pause() time.Duration {
	if k.limited {
		return probeEvery
	}
	return firstProbe
}

func (k *brake) ready(now time.Time) bool { return !k.limited || !k.probing && !now.Before(k.until) }

// turn is a request that waits.
type turn struct {
	comes  chan bool // receives whether the request is a probe
	level  priority
	places bool
}

// budget releases requests at a rate: the highest priority first, and in order of arrival within a
// priority.
type budget struct {
	reserve   float64    // requests reserved for exits
	mu        sync.Mutex // guards all below
	limiter   *rate.Limiter
	queued    [priorities][]*turn
	timer     *time.Timer // calls serve at the time of the next request
	protected brake       // of exits, settling and prices
	ordinary  brake       // of the others
}

func newBudget(perSecond float64) *budget {
	if perSecond == 0 {
		return &budget{limiter: rate.NewLimiter(rate.Inf, 1)}
	}
	burst := max(1, int(perSecond))
	return &budget{limiter: rate.NewLimiter(rate.Limit(perSecond), burst), reserve: float64(burst / reservedShare)}
}

// wait returns nil on the caller's turn or when the request was recalled, or else the context's
// error. The caller must pass the outcome of each request to answered.
func (b *budget) wait(ctx context.Context, p priority, places bool, recalled <-chan struct{}) (probe bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	b.mu.Lock()
	if !b.outranked(p) && b.take(time.Now(), p) {
		defer b.mu.Unlock()
		return b.brakeOf(p).probing, nil
	}
	mine := &turn{make(chan bool, 1), p, places}
	b.queued[p.queue()] = append(b.queued[p.queue()], mine)
	b.setTimer(time.Now())
	b.mu.Unlock()
	select {
	case probe := <-mine.comes:
		return probe, nil
	case <-recalled:
	case <-ctx.Done():
	}
	b.leave(mine)
	return false, ctx.Err()
}

// leave gives a turn up. One that arrived at the same moment is lost, which costs one request.
func (b *budget) leave(mine *turn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	queue := &b.queued[mine.level.queue()]
	if i := slices.Index(*queue, mine); i >= 0 {
		*queue = slices.Delete(*queue, i, i+1)
	} else if <-mine.comes {
		b.brakeOf(mine.level).probing = false
		b.setTimer(time.Now())
	}
}

func (b *budget) outranked(p priority) bool {
	for _, queue := range b.queued[:p.queue()+1] {
		if len(queue) > 0 {
			return true
		}
	}
	return false
}

func (b *budget) brakeOf(p priority) *brake {
	if p.protected() {
		return &b.protected
	}
	return &b.ordinary
}

func (b *budget) take(now time.Time, p priority) bool {
	k := b.brakeOf(p)
	if b.protected.probing || !k.ready(now) || b.limiter.TokensAt(now) < b.needs(p) || !b.limiter.AllowN(now, 1) {
		return false
	}
	k.probing = k.limited
	return true
}

// needs returns the number of requests that the budget must have left for one of a priority.
func (b *budget) needs(p priority) float64 {
	if p == priorityExit || b.limiter.Limit() == rate.Inf {
		return 0 // the limiter itself requires one
	}
	return 1 + b.reserve
}

// setTimer schedules serve for the time of the next request. What waits for the answer to a probe is scheduled by that.
func (b *budget) setTimer(now time.Time) {
	delay := never
	if one := b.next(now); one != nil {
		missing := max(0, max(1, b.needs(one.level))-b.limiter.TokensAt(now))
		delay = time.Duration(math.Ceil(missing / float64(b.limiter.Limit()) * float64(time.Second)))
	}
	for _, k := range []*brake{&b.protected, &b.ordinary} {
		if k.limited && !k.probing && now.Before(k.until) && b.first(k) != nil {
			delay = min(delay, k.until.Sub(now))
		}
	}
	switch {
	case delay == never || b.protected.probing:
	case b.timer == nil:
		b.timer = time.AfterFunc(delay, b.serve)
	default:
		b.timer.Reset(delay)
	}
}

// serve releases the requests whose turn has come.
func (b *budget) serve() {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for one := b.next(now); one != nil && b.take(now, one.level); one = b.next(now) {
		one.comes <- b.brakeOf(one.level).probing
		queue := &b.queued[one.level.queue()]
		*queue = slices.DeleteFunc(*queue, func(other *turn) bool { return other == one })
	}
	b.setTimer(now)
}

// next returns the first request that no brake holds back, or nil.
func (b *budget) next(now time.Time) *turn {
	for _, queue := range b.queued {
		for _, one := range queue {
			if k := b.brakeOf(one.level); k.ready(now) {
				return b.first(k)
			}
		}
	}
	return nil
}

// first returns the first request of a brake, or nil. A probe is a request that places no order, if one waits: a limited placement is uncertain until it
// has settled, which delays an exit by more than a probe.
func (b *budget) first(k *brake) (first *turn) {
	for _, queue := range b.queued {
		for _, one := range queue {
			switch {
			case b.brakeOf(one.level) != k:
			case !one.places || !k.limited && first == nil:
				return one
			case first == nil:
				first = one
			}
		}
	}
	return first
}

// paused returns the time until which the venue asked to wait, or zero if openings and market data do not wait.
func (b *budget) paused() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ordinary.limited || !time.Now().Before(b.ordinary.until) {
		return time.Time{}
	}
	return b.ordinary.until
}

// answered notes the outcome of a request.
func (b *budget) answered(p priority, probe bool, o *outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, k := time.Now(), b.brakeOf(p)
	switch {
	case o.limited:
		asked := min(max(o.retryAfter, k.pause(), b.ordinary.pause()), maxPause)
		if k == &b.protected && (probe || !k.limited) { // the others were in flight at the first 429
			k.until = now.Add(k.pause())
		}
		k.limited, b.ordinary.limited = true, true
		if until := now.Add(asked); until.After(b.ordinary.until) {
			b.ordinary.until = until
		}
	case probe && o.ended.IsZero(): // without an answer
		k.until = now.Add(k.pause())
	case probe:
		k.limited = false
	}
	if probe {
		k.probing = false
		b.setTimer(now)
	}
}
