package rest

import (
	"context"
	"sync"
	"time"

	"botd/exchange"
	"botd/exchange/polling"
)

// Bounds of the clock.
const (
	ClockAge     = 15 * time.Minute // the maximum age of a reading: a read refreshes an older one
	clockJump    = time.Second      // minimum difference between the local clock and the elapsed time that counts as a jump
	noRoundTrips = time.Duration(1<<63 - 1)
)

// serverClock is the server's time. It advances with the elapsed time, so a step of the local clock
// does not affect it.
type serverClock struct {
	now func() time.Time

	mu       sync.Mutex // guards all below
	synced   bool
	local    time.Time // when the clock was read
	server   time.Time // the server's time at that moment
	bound    time.Duration
	doubtful bool
}

// set stores a reading.
func (s *serverClock) set(local, server time.Time, bound time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.synced, s.local, s.server, s.bound, s.doubtful = true, local, server, bound, false
}

// invalidate makes the next signature read the clock first.
func (s *serverClock) invalidate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubtful = true
}

// stale reports whether the clock must be read before a signature. A request that cannot wait uses
// an old reading.
func (s *serverClock) stale(canWait bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.synced || s.doubtful {
		return true
	}
	now := s.now()
	passed := now.Sub(s.local)
	jumped := (now.Round(0).Sub(s.local.Round(0)) - passed).Abs() // Round(0) strips the monotonic reading
	return passed < 0 || jumped > clockJump || canWait && passed > ClockAge
}

func (s *serverClock) read() (server, local time.Time, bound time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	local = s.now()
	if !s.synced {
		return local, local, 0
	}
	return s.server.Add(local.Sub(s.local)), local, s.bound
}

// SyncClock reads the server's time (interface, Authentication 6). It uses the middle of the round
// trip, so the error is at most half of it.
func (c *Client) SyncClock(ctx context.Context) error { return c.synchronize(ctx, true) }

// synchronize reads the clock. If must is false, it skips the read if another goroutine has just
// done it.
func (c *Client) synchronize(ctx context.Context, must bool) error {
	if err := c.syncing.enter(ctx); err != nil {
		return err
	}
	defer c.syncing.leave()
	if !must && !c.clock.stale(true) {
		return nil
	}
	best := noRoundTrips
	var middle, server time.Time
	for range polling.ClockReads {
		answer, outcome := c.read(ctx, &exchange.Request{Operation: exchange.FuturesTime})
		if outcome.err != nil {
			return outcome.err
		}
		if half := outcome.ended.Sub(outcome.began) / 2; half < best {
			best, middle, server = half, outcome.began.Add(half), time.UnixMilli(answer.ServerTimeMS)
		}
	}
	c.clock.set(middle, server, best+time.Millisecond) // the server truncates its time to the millisecond
	return nil
}

// Offset returns the server's time minus the local time, and its maximum error. Both are 0 before
// the clock was read.
func (c *Client) Offset() (offset, bound time.Duration) {
	server, local, bound := c.clock.read()
	return server.Sub(local), bound
}

// ClockReading is one reading of the exchange's clock by TrackClock.
type ClockReading struct {
	Offset, Bound time.Duration // as Offset returns them
	Jumped        time.Duration // the step of the local clock, or the machine's sleep, that triggered the reading; 0 for none
	Err           error         // the clock could not be read: the last successful reading stays in use
}

// Intervals of TrackClock.
const (
	jumpEvery = time.Second // interval of the checks for a jump
	syncAgain = 5 * time.Second
)

// TrackClock reads the exchange's clock at an interval, and at once after the local clock was set
// or the machine has slept, until the context ends. It reports each reading. The elapsed time stops
// while a machine sleeps: without TrackClock, everything unsigned would use an old time until the
// next signature.
func (c *Client) TrackClock(ctx context.Context, every time.Duration, report func(ClockReading)) {
	ticker := time.NewTicker(jumpEvery)
	defer ticker.Stop()
	wall, passed, due := c.config.Clock(), time.Now(), time.Now().Add(every)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now, here := c.config.Clock(), time.Now()
		jumped := now.Round(0).Sub(wall.Round(0)) - here.Sub(passed) // Round(0) strips the monotonic reading
		wall, passed = now, here
		if jumped.Abs() <= clockJump {
			jumped = 0
		} else {
			c.clock.invalidate()
		}
		if jumped == 0 && here.Before(due) {
			continue
		}
		reading := ClockReading{Jumped: jumped, Err: c.SyncClock(ctx)}
		due = time.Now().Add(every)
		if reading.Err != nil {
			due = time.Now().Add(min(every, syncAgain))
		}
		if ctx.Err() != nil {
			return
		}
		reading.Offset, reading.Bound = c.Offset()
		report(reading)
	}
}

// ServerNowMS returns the server's time now, in Unix milliseconds.
func (c *Client) ServerNowMS() int64 {
	server, _, _ := c.clock.read()
	return server.UnixMilli()
}
