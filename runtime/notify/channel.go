package notify

import (
	"botd/internal/printable"
	"context"
	"errors"
	"time"

	"golang.org/x/time/rate"
)

// channel is one route under way.
type channel struct {
	route   Route
	title   string
	pace    *rate.Limiter
	count   func(channel, result string, count int)
	log     func(event, text string)
	queue   chan Event
	digest  digest
	hanging chan error // of a try that did not return in time
	failing bool
}

func newChannel(route Route, config *Config) *channel {
	return &channel{route: route, title: config.Title, pace: rate.NewLimiter(rate.Every(config.Every), burst),
		count: config.Count, log: config.Log, queue: make(chan Event, maxQueue)}
}

// offer never waits: what finds the queue full is counted.
func (c *channel) offer(e Event) {
	e.Text = printable.Lines(e.Text)
	select {
	case c.queue <- e:
	default:
		c.count(c.route.Name, Dropped, 1)
	}
}

// run makes messages of events until the context ends.
func (c *channel) run(ctx context.Context) {
	for ctx.Err() == nil {
		if c.digest.empty() {
			select {
			case e := <-c.queue:
				c.digest.add(e)
			case <-ctx.Done():
				continue
			}
			c.collect(ctx, gather)
		} else {
			c.collect(ctx, again)
		}
		c.collect(ctx, c.pace.Reserve().Delay())
		if ctx.Err() == nil {
			c.deliver(ctx)
		}
	}
	c.last()
}

// last sends what is left, once.
func (c *channel) last() {
	for {
		select {
		case e := <-c.queue:
			c.digest.add(e)
			continue
		default:
		}
		break
	}
	if c.digest.empty() {
		return
	}
	c.ended(c.try(context.Background(), c.digest.text(c.title), lastTries))
}

// collect takes events into the message for so long.
func (c *channel) collect(ctx context.Context, wait time.Duration) {
	if wait <= 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case e := <-c.queue:
			c.digest.add(e)
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// deliver sends the message, with retries. Events that arrive meanwhile form the next message; what
// could not be sent goes out with it.
func (c *channel) deliver(ctx context.Context) {
	unsent := c.digest
	c.digest = digest{}
	text := unsent.text(c.title)
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
		if c.failing {
			c.log("notify.works", c.route.Name+" works again")
		}
		c.failing = false
		return
	}
	c.count(c.route.Name, Failed, 1)
	if !c.failing {
		c.log("notify.failed", c.route.Name+": "+err.Error())
	}
	c.failing = true
}

// errHanging means that an earlier try has not come back: there is one at a time,
// so that a service that hangs holds one goroutine and no more.
var errHanging = errors.New("the service has not answered an earlier message yet")

// errSlow means that the service took too long to answer.
var errSlow = errors.New("the service did not answer in time")

// try sends once, and goes on taking events while it waits.
func (c *channel) try(ctx context.Context, text string, within time.Duration) error {
	if c.hanging != nil {
		select {
		case <-c.hanging: // it came back after all; whether it arrived is unknown
			c.hanging = nil
		default:
			return errHanging
		}
	}
	done := make(chan error, 1)
	go func() { done <- c.route.Sender.Send(text) }()
	timer := time.NewTimer(within)
	defer timer.Stop()
	stopping := ctx.Done()
	for {
		select {
		case err := <-done:
			return err
		case e := <-c.queue:
			c.digest.add(e)
		case <-timer.C:
			c.hanging = done
			return errSlow
		case <-stopping: // a little more, then it ends
			stopping = nil
			timer.Reset(min(within, lastTries))
		}
	}
}
