// Package runtime the live driver: schedule, requests, journal, supervision, shutdown.
//
// One goroutine owns the engine. Calls are performed by a bounded number of
// workers, records are made durable by one writer in order; both answer by
// events. The package shadows the standard runtime: import that as goruntime.
package runtime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"botd/exchange"
	"botd/reconcile"
	"botd/runtime/engine"
)

// Bounds of the driver.
const (
	DefaultWorkers     = 8
	DefaultCallTimeout = 10 * time.Second
	DefaultStopTimeout = 10 * time.Second
	maxQueued          = 4_096 // calls waiting for a worker
	longestWait        = time.Second
)

// Machine is the engine, as the driver needs it.
type Machine interface {
	Handle(nowMS int64, event *engine.Event, out *engine.Effects)
	NextMS() int64
	InFlight() bool
}

// Venue performs requests. Its errors are of package exchange's taxonomy.
type Venue interface {
	Do(ctx context.Context, request exchange.Request) (exchange.Answer, error)
}

// Journal makes records durable, in order, all or none.
type Journal interface {
	Append(ctx context.Context, records []reconcile.Record) error
}

// Clock tells the exchange's time.
type Clock interface {
	ServerNowMS() int64
}

// Config is what a driver is made of.
type Config struct {
	Machine     Machine
	Venue       Venue
	Journal     Journal
	Clock       Clock
	Notes       func(*engine.Note) // called by the owning goroutine; must not block
	Beat        func(nowMS int64)  // called after every event, with the engine at rest
	Workers     int
	CallTimeout time.Duration
	StopTimeout time.Duration
}

// Driver drives one engine.
type Driver struct {
	config  Config
	events  chan engine.Event
	calls   chan engine.Call
	urgent  chan engine.Call
	writes  chan write
	queries chan func()
	effects engine.Effects
}

// write is one batch for the journal.
type write struct {
	records  []reconcile.Record
	sequence int64
}

// InternalError is a broken invariant of the engine: a bug, with its stack.
type InternalError struct {
	Cause any
	Stack string
}

// Error says what broke.
func (e *InternalError) Error() string {
	return fmt.Sprintf("internal error: %v\n%s", e.Cause, e.Stack)
}

// New returns a driver.
func New(config Config) *Driver {
	if config.Workers == 0 {
		config.Workers = DefaultWorkers
	}
	if config.CallTimeout == 0 {
		config.CallTimeout = DefaultCallTimeout
	}
	if config.StopTimeout == 0 {
		config.StopTimeout = DefaultStopTimeout
	}
	if config.Notes == nil {
		config.Notes = func(*engine.Note) {}
	}
	if config.Beat == nil {
		config.Beat = func(int64) {}
	}
	return &Driver{
		config: config, events: make(chan engine.Event, maxQueued), calls: make(chan engine.Call, maxQueued),
		urgent: make(chan engine.Call, maxQueued), writes: make(chan write, 1), queries: make(chan func()),
	}
}

// Run drives the engine until the context ends, then stops: nothing new is
// sent, and what is in flight is waited for, within the stop timeout. An error
// is a reason to end the process; the next start replays the journal.
func (d *Driver) Run(ctx context.Context) error {
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	group, work := errgroup.WithContext(work)
	for range d.config.Workers {
		group.Go(func() error { d.work(work); return nil })
	}
	group.Go(func() error { return d.write(work) })
	group.Go(func() error {
		err := d.loop(ctx, work)
		cancel(errStopped)
		return err
	})
	return group.Wait()
}

var errStopped = errors.New("stopped")

// Send gives the engine an event from outside, such as a halt.
func (d *Driver) Send(ctx context.Context, event engine.Event) error {
	select {
	case d.events <- event:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Query runs a function while the engine is at rest, for reading it. It fails
// when the driver does not run.
func (d *Driver) Query(ctx context.Context, read func()) error {
	done := make(chan struct{})
	select {
	case d.queries <- func() { read(); close(done) }:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// loop owns the engine.
func (d *Driver) loop(ctx, work context.Context) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &InternalError{cause, string(debug.Stack())}
		}
	}()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var giveUp <-chan time.Time
	stopping := ctx.Done()
	d.handle(&engine.Event{Kind: engine.EventStart})
	for {
		if giveUp != nil && !d.config.Machine.InFlight() {
			return nil
		}
		timer.Reset(d.wait())
		select {
		case event := <-d.events:
			d.handle(&event)
		case <-timer.C:
			if d.config.Machine.NextMS() <= d.config.Clock.ServerNowMS() {
				d.handle(&engine.Event{Kind: engine.EventWake})
			} else {
				d.config.Beat(d.config.Clock.ServerNowMS())
			}
		case read := <-d.queries:
			read()
		case <-stopping:
			stopping = nil
			limit := time.NewTimer(d.config.StopTimeout)
			defer limit.Stop()
			giveUp = limit.C
			d.handle(&engine.Event{Kind: engine.EventStop})
		case <-giveUp:
			return nil
		case <-work.Done():
			return nil // the writer failed: its error ends the run
		}
	}
}

// wait is how long until the engine wants to be woken, a second at most so that
// a clock that was set is noticed.
func (d *Driver) wait() time.Duration {
	next := d.config.Machine.NextMS()
	if next == math.MaxInt64 {
		return longestWait
	}
	return min(longestWait, max(0, time.Duration(next-d.config.Clock.ServerNowMS())*time.Millisecond))
}

// handle gives the engine one event and puts its effects on their way.
func (d *Driver) handle(event *engine.Event) {
	d.effects.Reset()
	now := d.config.Clock.ServerNowMS()
	d.config.Machine.Handle(now, event, &d.effects)
	if len(d.effects.Records) > 0 {
		d.writes <- write{append([]reconcile.Record(nil), d.effects.Records...), d.effects.Sequence}
	}
	for _, call := range d.effects.Calls {
		queue := d.calls
		if call.Priority <= engine.PrioritySettle {
			queue = d.urgent
		}
		select {
		case queue <- call:
		default: // the queue is full: the exchange answers too slowly
			d.events <- engine.Event{Kind: engine.EventAnswer, CallID: call.ID,
				Err: &exchange.Unavailable{Operation: call.Request.Operation, Why: "too many requests waiting"}}
		}
	}
	for i := range d.effects.Notes {
		d.config.Notes(&d.effects.Notes[i])
	}
	d.config.Beat(now)
}

// work performs calls, the urgent ones first.
func (d *Driver) work(ctx context.Context) {
	for {
		var call engine.Call
		select {
		case call = <-d.urgent:
		default:
			select {
			case call = <-d.urgent:
			case call = <-d.calls:
			case <-ctx.Done():
				return
			}
		}
		answer, err := d.perform(ctx, &call)
		select {
		case d.events <- engine.Event{Kind: engine.EventAnswer, CallID: call.ID, Answer: answer, Err: err}:
		case <-ctx.Done():
			return
		}
	}
}

// perform sends one request. A placement whose time to live has passed is not
// sent: that is certain, so it says so.
func (d *Driver) perform(ctx context.Context, call *engine.Call) (exchange.Answer, error) {
	if call.DeadlineMS != 0 && d.config.Clock.ServerNowMS() > call.DeadlineMS {
		return exchange.Answer{}, &exchange.Unavailable{Operation: call.Request.Operation, Why: "its time to live had passed"}
	}
	limited, cancel := context.WithTimeout(ctx, d.config.CallTimeout)
	defer cancel()
	return d.config.Venue.Do(limited, call.Request)
}

// write makes batches durable, one after the other.
func (d *Driver) write(ctx context.Context) error {
	for {
		var batch write
		select {
		case batch = <-d.writes:
		case <-ctx.Done():
			select { // what was handed over last is still written
			case batch = <-d.writes:
				return d.config.Journal.Append(context.WithoutCancel(ctx), batch.records)
			default:
				return nil
			}
		}
		err := d.config.Journal.Append(context.WithoutCancel(ctx), batch.records)
		if err != nil && broken(err) {
			return fmt.Errorf("the journal is in doubt, nothing more is sent: %w", err)
		}
		select {
		case d.events <- engine.Event{Kind: engine.EventJournaled, Sequence: batch.sequence, Err: err}:
		case <-ctx.Done():
			return err
		}
	}
}

// broken reports whether the journal asks for the process to end.
func broken(err error) bool {
	var b interface{ Broken() bool }
	return errors.As(err, &b) && b.Broken()
}
