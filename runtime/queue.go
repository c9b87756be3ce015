package runtime

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"botd/exchange"
	"botd/runtime/engine"
)

// queue holds calls that wait for a worker, the urgent ones first. Safe for
// several goroutines.
type queue struct {
	most int

	mu     sync.Mutex // guards all below
	some   *sync.Cond
	calls  [engine.PriorityMarket][]engine.Call // by priority, each in order
	size   int
	closed bool
	begun  map[int64]chan struct{} // of the openings a worker has: closed when called back
}

func newQueue(most int) *queue {
	q := &queue{most: most, begun: map[int64]chan struct{}{}}
	q.some = sync.NewCond(&q.mu)
	return q
}

// put adds a call; it reports false when the queue is full.
func (q *queue) put(call engine.Call) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.size == q.most {
		return false
	}
	lane := &q.calls[call.Priority-engine.PriorityExit]
	*lane = append(*lane, call)
	q.size++
	q.some.Broadcast()
	return true
}

// take waits for the most urgent call of the priorities served, and tells by a
// channel when it is called back, until it is done. It reports false when the queue
// was closed.
func (q *queue) take(served engine.Priority) (engine.Call, <-chan struct{}, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed {
		for i := range q.calls[:served] {
			if lane := &q.calls[i]; len(*lane) > 0 {
				call := (*lane)[0]
				*lane = (*lane)[1:]
				q.size--
				return call, q.begin(&call), true
			}
		}
		q.some.Wait()
	}
	return engine.Call{}, nil, false
}

// begin notes that a worker has a call: nil for one that is never called back.
func (q *queue) begin(call *engine.Call) <-chan struct{} {
	if call.Priority != engine.PriorityEntry {
		return nil
	}
	calledBack := make(chan struct{})
	q.begun[call.ID] = calledBack
	return calledBack
}

// done notes that a call is over.
func (q *queue) done(call *engine.Call) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.begun, call.ID)
}

// recall takes a call back: out of the queue, or its worker is told, and sends it
// only if it has begun to.
func (q *queue) recall(id int64) (call engine.Call, waited bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if calledBack, begun := q.begun[id]; begun {
		close(calledBack)
		delete(q.begun, id)
		return engine.Call{}, false
	}
	lane := &q.calls[engine.PriorityEntry-engine.PriorityExit]
	i := slices.IndexFunc(*lane, func(c engine.Call) bool { return c.ID == id })
	if i < 0 {
		return engine.Call{}, false
	}
	call = (*lane)[i]
	*lane = slices.Delete(*lane, i, i+1)
	q.size--
	return call, true
}

// drop takes out all calls of the priority and those below it.
func (q *queue) drop(from engine.Priority) []engine.Call {
	q.mu.Lock()
	defer q.mu.Unlock()
	var dropped []engine.Call
	for i := from - engine.PriorityExit; i < engine.PriorityMarket; i++ {
		dropped = append(dropped, q.calls[i]...)
		q.calls[i] = nil
	}
	q.size -= len(dropped)
	return dropped
}

// close ends every take.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.some.Broadcast()
}

// servedBy returns the least urgent priority a worker serves. One worker is kept
// for exits and one for exits and settling, so that an exchange slow to tell
// prices never keeps an exit waiting.
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
		call, calledBack, open := d.queue.take(served)
		if !open {
			return nil
		}
		answer, err := d.perform(ctx, &call, calledBack)
		d.queue.done(&call)
		select {
		case d.events <- &engine.EventAnswer{CallID: call.ID, Answer: answer, Err: err}:
		case <-ctx.Done():
			return nil
		}
	}
}

// perform sends one request. A placement whose time to live has passed, or that was
// called back, is not sent: that is certain, so it says so.
func (d *Driver) perform(ctx context.Context, call *engine.Call, calledBack <-chan struct{}) (exchange.Answer, error) {
	if now := d.config.Clock.ServerNowMS(); call.DeadlineMS != 0 && now > call.DeadlineMS {
		why := fmt.Sprintf("its time to live had passed by %d ms", now-call.DeadlineMS)
		return exchange.Answer{}, &exchange.Unavailable{Operation: call.Request.Operation, Reason: why}
	}
	limited, cancel := context.WithTimeout(ctx, d.config.CallTimeout)
	defer cancel()
	if venue, ok := d.config.Venue.(Punctual); ok && call.DeadlineMS != 0 {
		return venue.DoBefore(limited, call.Request, exchange.SendLimit{NotAfterMS: call.DeadlineMS, Recalled: calledBack})
	}
	return d.config.Venue.Do(limited, call.Request)
}
