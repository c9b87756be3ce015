// Package lane gives the kill switch its own way to the exchange, for when the engine or the
// journal does not answer.
//
// A halt goes to the engine first. If the engine does not accept it within a second, or cannot make
// it durable, the lane acts: it cancels the journalled orders by id, closes futures positions with
// reduceOnly, sells the free spot balance, reads again, and repeats this until nothing is left. It
// opens nothing. Its client order ids are in the record of the start, and it writes each order to a
// preallocated file, so that neither a full nor a slow disk delays it and a restart knows its
// orders. As soon as the engine answers, it takes everything into the journal and continues from
// there; until then its own exits are held where the lane closes (Gate).
package lane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/engine"
)

// Times of the lane.
const (
	patience    = time.Second            // for the engine and the journal before the lane acts
	durableWait = 300 * time.Millisecond // for the lane's file before an order is sent without it
	callTimeout = 4 * time.Second        // of a placement
	readTimeout = 2 * time.Second
	takeOver    = 5 * time.Second // of one attempt to pass everything to the engine
	timeToLive  = 5_000           // ms from an order's record to its first byte
)

// errActing refuses to rearm while the lane acts.
var errActing = errors.New("the kill switch acts without the engine, which does not answer: rearm when it has taken over")

// Driver passes events to the engine.
type Driver interface {
	Query(ctx context.Context, read func()) error
	Send(ctx context.Context, event engine.Event) error
}

// Config configures a lane.
type Config struct {
	Venue     runtime.Venue
	Driver    Driver
	NowMS     func() int64 // the exchange's time
	Urgent    func(context.Context) context.Context
	File      *File
	Instance  string
	Start     placement.Start // of its ids
	Log       func(event, format string, arguments ...any)
	Activated func(Activation) // called when the engine has taken over; nil for none
}

// Lane is the kill switch independent of the engine. It is safe for concurrent use.
type Lane struct {
	config Config
	wake   chan struct{}

	mu         sync.Mutex // guards all below
	exposures  []engine.Exposure
	placing    map[exchange.SymbolKey]int  // placements of the engine in progress
	passed     map[string]*passedPlacement // placements of the engine that passed the gate, by client order id
	sequence   int64
	acting     *action     // nil while the engine answers
	activation *Activation // the last one; nil for none
}

// New returns an idle lane.
func New(config Config) *Lane {
	if config.Urgent == nil {
		config.Urgent = func(ctx context.Context) context.Context { return ctx }
	}
	return &Lane{config: config, wake: make(chan struct{}, 1), placing: map[exchange.SymbolKey]int{}, passed: map[string]*passedPlacement{}}
}

// Show stores the engine's newest orders and positions.
func (l *Lane) Show(exposures []engine.Exposure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.exposures = exposures
	l.forget(time.Now())
}

// Scopes returns the valid scopes of a halt, by the newest list.
func (l *Lane) Scopes() (known []account.Scope) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.exposures {
		known = append(known, account.Scope{Strategy: l.exposures[i].Strategy, Symbol: l.exposures[i].Symbol.Key()})
	}
	return known
}

// Query calls the driver's Query.
func (l *Lane) Query(ctx context.Context, read func()) error { return l.config.Driver.Query(ctx, read) }

// Send passes an event to the engine. If the engine does not accept a halt, or make it durable,
// within a second, the lane carries it out. ErrNotDurable then means that not even the lane's own
// file is durable.
func (l *Lane) Send(ctx context.Context, event engine.Event) error {
	halt, audit := haltOf(event)
	if halt == nil {
		return l.config.Driver.Send(ctx, event)
	}
	if halt.Level == record.LevelNone {
		if l.Acting() {
			return errActing
		}
		return l.config.Driver.Send(ctx, event)
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	sent := make(chan error, 1)
	go func() { sent <- l.config.Driver.Send(limited, event) }() // it ends with the turn that accepted it, whatever the context
	select {
	case err := <-sent:
		if err == nil || errors.Is(err, runtime.ErrStopped) {
			return err
		}
		return l.engage(haltRequest{halt: *halt, audit: audit, accepted: errors.Is(err, runtime.ErrNotDurable)}, err)
	case <-limited.Done():
		return l.engage(haltRequest{halt: *halt, audit: audit, sent: sent}, context.Cause(limited))
	}
}

// haltOf returns the halt in an event and its audit, or nil for any other event.
func haltOf(event engine.Event) (*engine.EventHalt, *record.Audit) {
	var audit *record.Audit
	if audited, is := event.(*engine.EventAudited); is {
		event, audit = audited.Event, audited.Audit
	}
	halt, _ := event.(*engine.EventHalt)
	return halt, audit
}

// Acting reports whether the lane acts.
func (l *Lane) Acting() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acting != nil
}

// engage starts acting, or adds a halt to the current action.
func (l *Lane) engage(p haltRequest, cause error) error {
	nowMS := l.config.NowMS()
	l.mu.Lock()
	a := l.acting
	if a == nil {
		a = newAction(nowMS, l.exposures, l.passed, cause.Error())
		l.acting = a
		l.config.Log("lane.engaged", "HALT      the engine or the journal does not answer (%v): the kill switch acts without it", cause)
	}
	a.add(p)
	l.noteBegin(a, &p)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default: // it is already awake
	}
	if !l.config.File.write(p.records(nowMS), durableWait) {
		return runtime.ErrNotDurable
	}
	return nil
}

// Run acts whenever a halt requires it, until the context ends.
func (l *Lane) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		}
		l.mu.Lock()
		a := l.acting
		l.mu.Unlock()
		if a != nil {
			l.serve(ctx, a)
		}
	}
}

// serve acts until the engine has durably taken everything over.
func (l *Lane) serve(ctx context.Context, a *action) {
	var group sync.WaitGroup
	group.Go(func() { l.act(ctx, a, exchange.Futures, l.actByList, l.settleFutures) })
	group.Go(func() { l.act(ctx, a, exchange.Spot, l.cancelListed, l.settleSpot) })
	for ctx.Err() == nil && !l.deliver(ctx, a) {
		pause(ctx, 100*time.Millisecond)
	}
	a.end.Store(true)
	group.Wait() // a request in progress is answered or times out
	for ctx.Err() == nil && !(l.deliver(ctx, a) && l.release(a)) {
		pause(ctx, 100*time.Millisecond)
	}
}

// act cancels and closes on a market: at once by the journalled list, then by its own reads.
func (l *Lane) act(ctx context.Context, a *action, market exchange.Market, byList func(context.Context, *action, []*exposure),
	settle func(context.Context, *action, []*exposure) progress) {
	first := true
	for ctx.Err() == nil && !a.end.Load() {
		exposures := l.exposuresOn(a, market)
		if len(exposures) == 0 {
			l.report(a, market, progress{read: true})
			pause(ctx, soon)
			continue
		}
		if first {
			first = false
			byList(ctx, a, exposures)
			continue
		}
		p := settle(ctx, a, exposures)
		l.report(a, market, p)
		if p.read && len(p.left) == 0 {
			pause(ctx, later)
		} else {
			pause(ctx, soon)
		}
	}
}

// both performs two reads at once. It returns a progress that names those that failed.
func (l *Lane) both(ctx context.Context, names [2]string, operations [2]exchange.Operation) (answers [2]exchange.Answer, p progress) {
	var failed [2]error
	var group sync.WaitGroup
	for i, operation := range operations {
		group.Go(func() { answers[i], failed[i] = l.read(ctx, exchange.Request{Operation: operation}) })
	}
	group.Wait()
	for i, err := range failed {
		if err != nil {
			p.blind = append(p.blind, fmt.Sprintf("%s cannot be read: %v", names[i], err))
		}
	}
	p.read = len(p.blind) == 0
	return answers, p
}

// deliver passes the halts and all sent orders to the engine. It reports whether everything is in
// the journal.
func (l *Lane) deliver(ctx context.Context, a *action) bool {
	limited, cancel := context.WithTimeout(ctx, takeOver)
	defer cancel()
	l.mu.Lock()
	requests := slices.Clone(a.requests)
	l.mu.Unlock()
	for i := range requests {
		if requests[i].accepted {
			continue
		}
		answered, err := l.sendAgain(limited, &requests[i])
		taken := err == nil || errors.Is(err, runtime.ErrNotDurable)
		l.mu.Lock()
		a.requests[i].accepted = taken
		if answered {
			a.requests[i].sent = nil
		}
		l.mu.Unlock()
		if !taken {
			return false
		}
	}
	l.mu.Lock()
	orders := slices.Clone(a.orders)
	l.mu.Unlock()
	return l.config.Driver.Send(limited, &engine.EventLane{Orders: orders}) == nil
}

// sendAgain passes a halt to the engine, or waits for the end of the first attempt.
func (l *Lane) sendAgain(ctx context.Context, p *haltRequest) (answered bool, err error) {
	if p.sent == nil {
		return true, l.config.Driver.Send(ctx, p.event())
	}
	select {
	case err = <-p.sent:
		return true, err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// First returns the event that the engine must handle before the next one: a read shows the effects
// of the lane's orders, which nothing else explains.
func (l *Lane) First() engine.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.acting == nil || !l.acting.news {
		return nil
	}
	l.acting.news = false
	return &engine.EventLane{Orders: slices.Clone(l.acting.orders)}
}

// release ends acting, unless another halt has arrived meanwhile.
func (l *Lane) release(a *action) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.ContainsFunc(a.requests, func(p haltRequest) bool { return !p.accepted }) {
		return false
	}
	l.acting = nil
	l.noteEnd(a)
	l.config.File.reset()
	l.config.Log("lane.released", "engine    has taken over the kill switch's %d orders, all in the journal", len(a.orders))
	return true
}

// pause waits for a time, or until the context ends.
func pause(ctx context.Context, duration time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(duration):
	}
}
