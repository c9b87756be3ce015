package runtime

import (
	"context"
	"fmt"

	"botd/exchange"
	"botd/runtime/engine"
)

// servedBy returns the least urgent priority that a worker serves. One worker is reserved
// for exits and one for exits and settling, so that an exit never waits for an exchange
// that is slow with prices.
func servedBy(worker, workers int) engine.Priority {
	switch {
	case workers < 3:
		return engine.PriorityMarket
	case worker == 0:
		return engine.PriorityExit
	case worker == 1:
		return engine.PrioritySettle
	}
	return engine.PriorityMarket
}

// work performs calls, the urgent ones first.
func (d *Driver) work(ctx context.Context, served engine.Priority) (err error) {
	defer catch(&err)
	for {
		call, recalled, open := d.queue.take(served)
		if !open {
			return nil
		}
		answer, err := d.perform(ctx, &call, recalled)
		d.queue.done(&call)
		select {
		case d.events <- &engine.EventAnswer{CallID: call.ID, Answer: answer, Err: err}:
		case <-ctx.Done():
			return nil
		}
	}
}

// perform sends one request. A placement whose time to live has passed, or that was
// recalled, is certainly not sent, and the error says so.
func (d *Driver) perform(ctx context.Context, call *engine.Call, recalled <-chan struct{}) (exchange.Answer, error) {
	if now := d.config.Clock.ServerNowMS(); call.DeadlineMS != 0 && now > call.DeadlineMS {
		why := fmt.Sprintf("its time to live had passed by %d ms", now-call.DeadlineMS)
		return exchange.Answer{}, &exchange.Unavailable{Operation: call.Request.Operation, Reason: why}
	}
	limited, cancel := context.WithTimeout(ctx, d.config.CallTimeout)
	defer cancel()
	if venue, ok := d.config.Venue.(Punctual); ok && call.DeadlineMS != 0 {
		return venue.DoBefore(limited, call.Request, exchange.SendLimit{NotAfterMS: call.DeadlineMS, Recalled: recalled})
	}
	return d.config.Venue.Do(limited, call.Request)
}
