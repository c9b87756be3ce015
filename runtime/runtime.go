// Package runtime drives the engine live: schedule, requests, journal, supervision, and shutdown.
//
// One goroutine owns the engine. A bounded number of workers performs calls, and one
// writer makes records durable in order; both answer by events. The package shadows the
// standard runtime: import that as goruntime.
package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"botd/exchange"
	"botd/exchange/polling"
	"botd/reconcile/record"
	"botd/runtime/engine"
	"botd/strategy"
)

// Bounds of the driver.
const (
	defaultWorkers     = polling.Readers + 2 // the two for urgent calls
	DefaultCallTimeout = 10 * time.Second
	DefaultStopTimeout = 10 * time.Second
	maxQueued          = 4_096            // calls that wait for a worker
	maxEvents          = 256              // answers that wait for the engine; beyond them workers wait
	longestWait        = time.Second      // a change of the clock is noticed within it
	shortestWait       = time.Millisecond // between wakes that changed nothing
)

// ErrStopped means that the driver does not run.
var ErrStopped = errors.New("botd is stopped")

// ErrNotDurable means that an event is in force but its record is not durable yet: a
// restart now would forget it.
var ErrNotDurable = errors.New("in force, but not written to the journal yet")

// Machine is the engine's interface to the driver.
type Machine interface {
	Handle(nowMS int64, event engine.Event, out *engine.Effects)
	NextMS() int64
	InFlight() bool
	OpenLeft() []string
}

// Venue performs requests. Its errors are those of package exchange.
type Venue interface {
	Do(ctx context.Context, request exchange.Request) (exchange.Answer, error)
}

// BudgetedVenue is a venue that waits for its request budget before it sends, and checks once
// more when it signs whether a placement may still be sent.
type BudgetedVenue interface {
	DoBefore(ctx context.Context, request exchange.Request, limit exchange.SendLimit) (exchange.Answer, error)
}

// Journal makes records durable, in order, all or none.
type Journal interface {
	Append(ctx context.Context, records []record.Record) error
}

// ReservingJournal is a journal with a disk reserve for facts and exits. Keep returns why nothing may open
// while the reserve is in use, and an empty text otherwise.
type ReservingJournal interface {
	Keep(ctx context.Context) (low string)
}

// MonitoredJournal is a journal whose files may be unlinked, replaced or truncated while botd runs.
// Watch returns what is wrong with them, and an empty text otherwise.
type MonitoredJournal interface {
	Watch() (lost string)
}

// StrategyCaller passes questions to strategies. Put returns at once; the answer is called once, from any
// goroutine, or never if a strategy hangs for good.
type StrategyCaller interface {
	Put(ask *engine.Ask, answer func(strategy.Result))
	Abandon(ask int64)
	End(strategy *engine.EndedStrategy)
}

// Clock returns the exchange's time.
type Clock interface {
	ServerNowMS() int64
}

// Config configures a driver.
type Config struct {
	Machine     Machine
	Venue       Venue
	Journal     Journal
	Clock       Clock
	Strategies  StrategyCaller      // nil if the engine calls strategies itself
	Notes       func(*engine.Note)  // called by the owning goroutine; must not block
	Beat        func(nowMS int64)   // called after every event, while the engine is at rest
	First       func() engine.Event // an event that the engine needs before the next one; nil for none
	Workers     int
	CallTimeout time.Duration
	StopTimeout time.Duration
	Shutdown    string // the action of a stop within StopTimeout: leave, cancel_orders or flatten
}

// Driver drives one engine, once.
type Driver struct {
	config  Config
	queue   *queue
	events  chan engine.Event
	writes  chan []record.Record
	queries chan func()

	ended chan struct{} // closed when Run returns

	// The rest belongs to the loop.
	effects engine.Effects
	refused []engine.Event // answers to calls that were never sent
	batches int64          // given to the writer
	writing bool           // the last of them is not answered yet
	failing error          // of the last append
	durable []durability
	left    []string
}

// InternalError is a broken invariant of botd: a bug, with its stack. It ends the run.
type InternalError struct {
	Cause any
	Stack string
}

// Error returns the cause and the stack.
func (e *InternalError) Error() string {
	return fmt.Sprintf("internal error: %v\n%s", e.Cause, e.Stack)
}

// catch turns a panic of a goroutine into its error.
func catch(err *error) {
	if cause := recover(); cause != nil {
		*err = &InternalError{cause, string(debug.Stack())}
	}
}

// New returns a driver.
func New(config Config) *Driver {
	config.Workers = cmp.Or(config.Workers, defaultWorkers)
	config.CallTimeout = cmp.Or(config.CallTimeout, DefaultCallTimeout)
	config.StopTimeout = cmp.Or(config.StopTimeout, DefaultStopTimeout)
	if config.Notes == nil {
		config.Notes = func(*engine.Note) {}
	}
	if config.First == nil {
		config.First = func() engine.Event { return nil }
	}
	if config.Beat == nil {
		config.Beat = func(int64) {}
	}
	return &Driver{
		config: config, queue: newQueue(maxQueued), events: make(chan engine.Event, maxEvents), writes: make(chan []record.Record, 1),
		queries: make(chan func()), ended: make(chan struct{}),
	}
}

// Run drives the engine until the context ends, and then stops: nothing new is sent, and
// Run waits for what is in flight within the stop timeout. An error is a reason to end the
// process; the next start replays the journal.
func (d *Driver) Run(ctx context.Context) error {
	defer close(d.ended)
	outer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(ErrStopped)
	group, work := errgroup.WithContext(outer)
	for i := range d.config.Workers {
		group.Go(func() error { return d.work(work, servedBy(i, d.config.Workers)) })
	}
	group.Go(func() error { return d.write(work) })
	group.Go(func() error {
		defer cancel(ErrStopped)
		defer d.queue.close()
		return d.loop(ctx, work)
	})
	return group.Wait()
}

// OpenLeft lists, line by line, what stays open on the exchange. It blocks until Run has
// returned, and is empty when the engine broke.
func (d *Driver) OpenLeft() []string {
	<-d.ended
	return d.left
}

// Query runs a function that reads the engine while the engine is at rest.
func (d *Driver) Query(ctx context.Context, read func()) error {
	done := make(chan struct{})
	select {
	case d.queries <- func() { defer close(done); read() }:
	case <-d.ended:
		return ErrStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	<-done // the loop has taken it: it runs to its end
	return nil
}

// loop owns the engine.
func (d *Driver) loop(ctx, work context.Context) (err error) {
	defer catch(&err)
	timer := time.NewTimer(0)
	defer timer.Stop()
	var giveUp <-chan time.Time
	stopping, woken := ctx.Done(), false
	d.handle(&engine.EventStart{})
	for {
		if len(d.refused) > 0 {
			event := d.refused[0]
			d.refused = d.refused[1:]
			d.handle(event)
			continue
		}
		if giveUp != nil && !d.config.Machine.InFlight() {
			d.left = d.config.Machine.OpenLeft()
			return nil
		}
		timer.Reset(d.wait(woken))
		woken = false
		select {
		case event := <-d.events:
			d.receive(event)
		case <-timer.C:
			woken = d.wake()
		case read := <-d.queries:
			read()
		case <-stopping:
			stopping = nil
			limit := time.NewTimer(d.config.StopTimeout)
			defer limit.Stop()
			giveUp = limit.C
			d.stop()
		case <-giveUp:
			d.left = d.config.Machine.OpenLeft()
			if d.failing != nil {
				return fmt.Errorf("stopped with records that are not in the journal, the next start determines their outcome: %w", unwritten(d.failing))
			}
			return nil
		case <-work.Done():
			return nil // a worker or the writer failed: its error ends the run
		}
	}
}

// wait returns the time until the engine is woken. An engine that was just woken and requests an
// immediate wake-up waits a moment, so that it never spins.
func (d *Driver) wait(woken bool) time.Duration {
	left := d.config.Machine.NextMS() - d.config.Clock.ServerNowMS()
	switch {
	case left >= longestWait.Milliseconds():
		return longestWait
	case left <= 0 && woken:
		return shortestWait
	}
	return time.Duration(max(0, left)) * time.Millisecond
}

// wake passes the engine its wake event when that is due.
func (d *Driver) wake() bool {
	now := d.config.Clock.ServerNowMS()
	if d.config.Machine.NextMS() > now {
		d.config.Beat(now)
		return false
	}
	d.first()
	d.handle(&engine.EventWake{})
	return true
}

// receive handles an answer of a worker or of the writer.
func (d *Driver) receive(event engine.Event) {
	journaled, _ := event.(*engine.EventJournaled)
	if journaled != nil {
		d.writing, d.failing = false, journaled.Err
	}
	if journaled == nil {
		d.first()
	}
	written := d.batches
	d.handle(event)
	if journaled != nil {
		d.answerDurable(written, journaled.Err)
	}
}

// first passes the engine the event that it needs before the next one.
func (d *Driver) first() {
	if event := d.config.First(); event != nil {
		d.handle(event)
	}
}

// stop passes the engine its stop event, and drops the openings and market reads that no worker has
// begun. Exits, protection and settling continue.
func (d *Driver) stop() {
	d.handle(&engine.EventStop{Shutdown: d.config.Shutdown})
	for _, call := range d.queue.drop(engine.PriorityOpening) {
		d.refuse(&call, "botd is stopping")
	}
}

// refuse answers a call that was certainly not sent.
func (d *Driver) refuse(call *engine.Call, why string) {
	d.refused = append(d.refused, &engine.EventAnswer{CallID: call.ID,
		Err: &exchange.Unavailable{Operation: call.Request.Operation, Reason: why}})
}

// handle passes one event to the engine and carries out its effects: recalls first, then records,
// so that no placement can overtake its own record.
func (d *Driver) handle(event engine.Event) {
	d.effects.Reset()
	now := d.config.Clock.ServerNowMS()
	d.config.Machine.Handle(now, event, &d.effects)
	for _, id := range d.effects.Recalls {
		if call, removed := d.queue.recall(id); removed {
			d.refuse(&call, "it was recalled")
		}
	}
	if len(d.effects.Records) > 0 {
		d.submit()
	}
	for i := range d.effects.Calls {
		if !d.queue.put(d.effects.Calls[i]) {
			d.refuse(&d.effects.Calls[i], "too many requests waiting")
		}
	}
	d.ask()
	for i := range d.effects.Notes {
		d.config.Notes(&d.effects.Notes[i])
	}
	d.config.Beat(now)
}

// ask passes the engine's questions to the strategies. Each answer arrives as an event; after Run
// has returned, answers are discarded.
func (d *Driver) ask() {
	for _, id := range d.effects.Abandoned {
		d.config.Strategies.Abandon(id)
	}
	for i := range d.effects.Ended {
		d.config.Strategies.End(&d.effects.Ended[i])
	}
	for _, ask := range slices.Clone(d.effects.Asks) {
		d.config.Strategies.Put(&ask, func(result strategy.Result) {
			select {
			case d.events <- &engine.EventDecision{AskID: ask.ID, Result: result}:
			case <-d.ended:
			}
		})
	}
}

// submit passes the engine's records to the writer. The engine hands out one batch at a time, which
// preserves their order when an append fails.
func (d *Driver) submit() {
	if d.writing {
		panic("runtime: the engine returned records while others are being written")
	}
	d.writing = true
	d.batches++
	d.writes <- slices.Clone(d.effects.Records)
}

// write makes batches durable, one after the other. An append that leaves the journal in
// doubt ends the run: nothing is sent until the next start has replayed it.
func (d *Driver) write(ctx context.Context) (err error) {
	defer catch(&err)
	uncanceled := context.WithoutCancel(ctx)
	disk := newDiskCheck(d.config.Journal)
	defer disk.stop()
	d.checkDisk(ctx, &disk) // before the first batch: a disk that is full from the start has no room for openings
	for {
		var next []record.Record
		select {
		case next = <-d.writes:
		case <-disk.due:
			d.checkDisk(ctx, &disk)
			continue
		case <-ctx.Done():
			select { // the last batch is still written
			case next = <-d.writes:
				return d.config.Journal.Append(uncanceled, next)
			default:
				return nil
			}
		}
		err := d.config.Journal.Append(uncanceled, next)
		if err != nil && broken(err) {
			return fmt.Errorf("the journal is in doubt, nothing more is sent: %w", err)
		}
		d.checkDisk(ctx, &disk) // the batch may have used the last space
		select {
		case d.events <- &engine.EventJournaled{Err: err}:
		case <-ctx.Done():
			return err
		}
	}
}

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
// recalled, is certainly not sent, and the error reports that.
func (d *Driver) perform(ctx context.Context, call *engine.Call, recalled <-chan struct{}) (exchange.Answer, error) {
	if now := d.config.Clock.ServerNowMS(); call.DeadlineMS != 0 && now > call.DeadlineMS {
		why := fmt.Sprintf("%s by %d ms", exchange.ReasonExpired, now-call.DeadlineMS)
		return exchange.Answer{}, &exchange.Unavailable{Operation: call.Request.Operation, Reason: why}
	}
	limited, cancel := context.WithTimeout(ctx, d.config.CallTimeout)
	defer cancel()
	if venue, ok := d.config.Venue.(BudgetedVenue); ok && call.DeadlineMS != 0 {
		return venue.DoBefore(limited, call.Request, exchange.SendLimit{NotAfterMS: call.DeadlineMS, Recalled: recalled})
	}
	return d.config.Venue.Do(limited, call.Request)
}
