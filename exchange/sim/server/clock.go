package server

import (
	"cmp"
	"fmt"
	"math"
	"sync"
	"time"
)

// defaultWindowMS is the maximum difference of x-timestamp from the exchange's time at speed 1
// (docs/exchange.md, clock window).
const defaultWindowMS = 5000

// manualStartMS is the start of a manual clock unless configured: 2026-01-01T00:00:00Z.
const manualStartMS = 1_767_225_600_000

// maxSpeed bounds Clock.Speed: a day passes in less than a tenth of a second.
const maxSpeed = 1e6

// Clock configures the exchange's time. The zero value is the wall clock.
type Clock struct {
	Manual  bool    // moved only by the control interface
	StartMS int64   // start time; 0 is now, or manualStartMS when manual
	Speed   float64 // factor of real time; 0 is 1

	WindowMS int64 // maximum difference of x-timestamp at speed 1; 0 is 5000
}

// start returns when the clock starts.
func (c Clock) start() int64 {
	switch {
	case c.StartMS != 0:
		return c.StartMS
	case c.Manual:
		return manualStartMS
	}
	return time.Now().UnixMilli()
}

// clock is a running Clock: start + (wall - wall at start) x speed.
type clock struct {
	manual  bool
	speed   float64
	startMS int64
	window  int64 // at speed 1
	began   time.Time

	mu       sync.Mutex    // guards the two below
	manualMS int64         // time of a manual clock
	moved    chan struct{} // closed when a manual clock moves
}

// newClock starts a clock, not before the given time, so that a restored exchange continues where
// it stopped.
func newClock(settings Clock, earliestMS int64) (*clock, error) {
	settings.Speed = cmp.Or(settings.Speed, 1)
	if !(settings.Speed > 0 && settings.Speed <= maxSpeed) {
		return nil, fmt.Errorf("clock speed %v is not above 0 and at most %g", settings.Speed, maxSpeed)
	}
	if settings.StartMS < 0 {
		return nil, fmt.Errorf("clock start %d ms is before 1970", settings.StartMS)
	}
	settings.WindowMS = cmp.Or(settings.WindowMS, defaultWindowMS)
	if settings.WindowMS < 0 {
		return nil, fmt.Errorf("clock window %d ms is below 0", settings.WindowMS)
	}
	began, startMS := time.Now(), max(settings.start(), earliestMS)
	return &clock{
		manual: settings.Manual, speed: settings.Speed, startMS: startMS, window: settings.WindowMS, began: began,
		manualMS: startMS, moved: make(chan struct{}),
	}, nil
}

// nowMS returns the exchange's time. It never goes back: the real clock uses the machine's
// monotonic clock.
func (c *clock) nowMS() int64 {
	if c.manual {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.manualMS
	}
	elapsed := time.Since(c.began)
	if c.speed == 1 {
		return c.startMS + elapsed.Milliseconds()
	}
	return c.startMS + int64(float64(elapsed)/float64(time.Millisecond)*c.speed)
}

// windowMS returns the maximum difference of a timestamp in the exchange's time: the same real time
// at every speed.
func (c *clock) windowMS() int64 {
	if c.manual {
		return c.window
	}
	return int64(math.Ceil(float64(c.window) * c.speed))
}

// until returns the real time until the exchange's time is reached, or false if only a control call
// can reach it.
func (c *clock) until(timeMS int64) (time.Duration, bool) {
	if c.manual {
		return 0, false
	}
	wall := float64(float64(timeMS-c.startMS) / c.speed * float64(time.Millisecond))
	if wall > float64(math.MaxInt64/2) {
		return 0, false
	}
	return max(0, time.Duration(math.Ceil(wall))-time.Since(c.began)), true
}

// move sets a manual clock.
func (c *clock) move(timeMS int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.manualMS = timeMS
	close(c.moved)
	c.moved = make(chan struct{})
}

// movement returns a channel that is closed at a manual clock's next move.
func (c *clock) movement() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.moved
}

// wait delays a request that arrived at fromMS by delayMS of real time. On a manual clock it ends
// early once the clock has moved that far, so that tests need not wait. It returns false if stop
// ended it.
func (c *clock) wait(fromMS, delayMS int64, stop <-chan struct{}) bool {
	timer := time.NewTimer(time.Duration(delayMS) * time.Millisecond)
	defer timer.Stop()
	for {
		moved := c.movement()
		if c.manual && c.nowMS() >= fromMS+delayMS {
			return true
		}
		select {
		case <-timer.C:
			return true
		case <-stop:
			return false
		case <-moved:
		}
	}
}
