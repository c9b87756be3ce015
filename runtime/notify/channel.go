package notify

import (
	"botd/internal/printable"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// channel is one running route.
type channel struct {
	route   Route
	title   string
	pace    *rate.Limiter
	count   func(channel, result string, count int)
	log     func(event, text string)
	queue   chan Event
	digest  digest
	held    digest     // events of the quiet hours
	hanging chan error // of an attempt that did not return in time
	failing atomic.Bool
}

func newChannel(route Route, config *Config) *channel {
	return &channel{route: route, title: config.Title, pace: rate.NewLimiter(rate.Every(config.Every), burst),
		count: config.Count, log: config.Log, queue: make(chan Event, maxQueue)}
}

// offer never blocks: an event that finds the queue full is counted as dropped.
func (c *channel) offer(e Event) {
	e.Text = printable.Lines(e.Text)
	select {
	case c.queue <- e:
	default:
		c.count(c.route.Name, Dropped, 1)
	}
}

// add adds an event to the next message, or during quiet hours, unless it is an error, to the first message after them.
func (c *channel) add(e Event) {
	if e.Severity < Error && c.route.Quiet.left(time.Now()) > 0 {
		c.held.add(e)
		return
	}
	c.digest.add(e)
}

// morning adds the events of the quiet hours to the next message once these hours have ended; it returns
// a channel for that time.
func (c *channel) morning() (over <-chan time.Time, stop func()) {
	if c.held.empty() {
		return nil, func() {}
	}
	left := c.route.Quiet.left(time.Now())
	if left <= 0 {
		c.held.join(&c.digest)
		c.digest, c.held = c.held, digest{}
		return nil, func() {}
	}
	timer := time.NewTimer(min(left, time.Minute)) // the clock may be set meanwhile
	return timer.C, func() { timer.Stop() }
}

// run turns events into messages until the context ends.
func (c *channel) run(ctx context.Context) {
	for ctx.Err() == nil {
		over, stop := c.morning()
		if c.digest.empty() {
			select {
			case e := <-c.queue:
				c.add(e)
			case <-over:
			case <-ctx.Done():
			}
			stop()
			if c.digest.empty() {
				continue
			}
			c.collect(ctx, gather)
		} else if stop(); c.failing.Load() {
			c.collect(ctx, again)
		} else { // it arrived while a message was being sent
			c.collect(ctx, gather)
		}
		c.collect(ctx, c.pace.Reserve().Delay())
		if ctx.Err() == nil {
			c.deliver(ctx)
		}
	}
	c.last()
}

// last sends the remaining events in one attempt.
func (c *channel) last() {
	for {
		select {
		case e := <-c.queue:
			c.add(e)
			continue
		default:
		}
		break
	}
	c.held.join(&c.digest)
	if c.held.empty() {
		return
	}
	c.ended(c.try(context.Background(), c.held.message(c.title), lastTries))
}

// collect adds events to the message for a given time.
func (c *channel) collect(ctx context.Context, wait time.Duration) {
	if wait <= 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case e := <-c.queue:
			c.add(e)
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// deliver sends the message, with retries. Events that arrive meanwhile form the next message,
// which also includes the events that could not be sent.
func (c *channel) deliver(ctx context.Context) {
	unsent := c.digest
	c.digest = digest{}
	text := unsent.message(c.title)
	err := c.try(ctx, text, perSend)
	for _, wait := range backoff {
		if err == nil || ctx.Err() != nil {
			break
		}
		c.collect(ctx, wait)
		err = c.try(ctx, text, perSend)
	}
	if err != nil {
		unsent.join(&c.digest)
		c.digest = unsent
	}
	c.ended(err)
}

// ended counts the outcome of a message, and logs when it changes.
func (c *channel) ended(err error) {
	if err == nil {
		c.count(c.route.Name, Sent, 1)
		if c.failing.Load() {
			c.log("notify.works", c.route.Name+" works again")
		}
		c.failing.Store(false)
		return
	}
	c.count(c.route.Name, Failed, 1)
	if !c.failing.Load() {
		c.log("notify.failed", c.route.Name+": "+err.Error())
	}
	c.failing.Store(true)
}

// errHanging means that an earlier attempt has not returned: there is only one at a time, so that a
// service that hangs blocks only one goroutine.
var errHanging = errors.New("the service has not answered an earlier message yet")

// errSlow means that the service took too long to answer.
var errSlow = errors.New("the service did not answer in time")

// try makes one attempt to send, and takes events while it waits.
func (c *channel) try(ctx context.Context, m message, within time.Duration) error {
	if c.hanging != nil {
		select {
		case <-c.hanging: // it returned after all; it is unknown whether the message arrived
			c.hanging = nil
		default:
			return errHanging
		}
	}
	done := make(chan error, 1)
	go func() { done <- c.route.Sender.Send(m.subject, m.text) }()
	timer := time.NewTimer(within)
	defer timer.Stop()
	stopping := ctx.Done()
	for {
		select {
		case err := <-done:
			return err
		case e := <-c.queue:
			c.add(e)
		case <-timer.C:
			c.hanging = done
			return errSlow
		case <-stopping: // wait a little longer, then give up
			stopping = nil
			timer.Reset(min(within, lastTries))
		}
	}
}
