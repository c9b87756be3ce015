package daemon

import (
	"fmt"
	"time"

	"botd/configs"
	"botd/exchange/rest"
	"botd/runtime/ops"
	"botd/runtime/view"
)

// clockwork reports the state of the exchange's clock to metrics, readiness and screen. One
// goroutine passes the readings.
type clockwork struct {
	metrics *ops.Metrics
	board   *view.Board
	console *ops.Console
	window  time.Duration // W: if the clock is uncertain by half of it or more, requests are refused
	good    time.Time     // of the last good reading
	failing bool
}

func newClockwork(config *configs.Config, metrics *ops.Metrics, board *view.Board, console *ops.Console, client *rest.Client) *clockwork {
	windowMS, _, _ := config.SettleBounds()
	c := &clockwork{metrics: metrics, board: board, console: console, window: time.Duration(windowMS) * time.Millisecond}
	offset, bound := client.Offset()
	c.observe(rest.ClockReading{Offset: offset, Bound: bound})
	return c
}

// observe reports one reading of the clock.
func (c *clockwork) observe(r rest.ClockReading) {
	c.metrics.Clock(r.Offset, r.Bound)
	if r.Jumped != 0 {
		c.metrics.ClockJumped()
		c.console.Warn(
			"clock.jumped",
			"clock     the local clock jumped by %s (it was set, or the machine slept); reading the exchange's clock again",
			r.Jumped.Round(time.Millisecond),
		)
	}
	if r.Err == nil {
		c.good = time.Now()
	}
	if failing := r.Err != nil; failing != c.failing {
		c.failing = failing
		if failing {
			c.console.Warn("clock.unread", "clock     the exchange's clock cannot be read: %v; the last reading stays in use", r.Err)
		} else {
			c.console.Warn("clock.read", "clock     the exchange's clock can be read again: off by %s within %s", r.Offset.Round(time.Millisecond),
				r.Bound.Round(time.Millisecond))
		}
	}
	c.board.Report(c.check(r))
}

func (c *clockwork) check(r rest.ClockReading) ops.Check {
	detail := fmt.Sprintf("off by %s within %s", r.Offset.Round(time.Millisecond), r.Bound.Round(time.Millisecond))
	age := time.Since(c.good)
	switch {
	case age > rest.ClockAge:
		return ops.Check{Name: "clock", Detail: fmt.Sprintf("%s, read %s ago: %v", detail, age.Round(time.Second), r.Err)}
	case c.window > 0 && 2*r.Bound > c.window:
		return ops.Check{Name: "clock", Detail: detail + ": too uncertain for a window of " + c.window.String()}
	}
	return ops.Check{Name: "clock", OK: true, Detail: detail}
}
