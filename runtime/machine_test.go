package runtime

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/runtime/engine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// machine is a test's engine: on defines the effect of an event.
type machine struct {
	on       func(nowMS int64, event engine.Event, out *engine.Effects)
	nextMS   int64
	inFlight bool
	seen     []engine.Event
}

func (m *machine) Handle(nowMS int64, event engine.Event, out *engine.Effects) {
	m.seen = append(m.seen, event)
	if m.on != nil {
		m.on(nowMS, event, out)
	}
}

func (m *machine) NextMS() int64      { return m.nextMS }
func (m *machine) InFlight() bool     { return m.inFlight }
func (m *machine) OpenLeft() []string { return []string{"position futures BTC-USDT 1"} }

// is reports whether an event has a type.
func is[E engine.Event](event engine.Event) bool {
	_, is := event.(E)
	return is
}

// given returns the events of a type that a machine received.
func given[E engine.Event](m *machine) (all []E) {
	for _, event := range m.seen {
		if event, is := event.(E); is {
			all = append(all, event)
		}
	}
	return all
}

// bubbleClock is the time of the synctest bubble.
type bubbleClock struct{}

func (bubbleClock) ServerNowMS() int64 { return time.Now().UnixMilli() }

// story lists the external events in order.
type story struct {
	mu    sync.Mutex
	lines []string
}

func (s *story) add(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line)
}

func (s *story) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.lines...)
}

// scriptedVenue writes requests to the story, and answers after a pause.
type scriptedVenue struct {
	story *story
	takes time.Duration
	do    func(context.Context, exchange.Request) (exchange.Answer, error)
}

func (v *scriptedVenue) Do(ctx context.Context, request exchange.Request) (exchange.Answer, error) {
	v.story.add("sent " + request.Symbol + request.Order.ClientOrderID)
	if v.do != nil {
		return v.do(ctx, request)
	}
	select {
	case <-time.After(v.takes):
		return exchange.Answer{Operation: request.Operation}, nil
	case <-ctx.Done():
		return exchange.Answer{}, &exchange.Uncertain{Reason: "canceled", Err: context.Cause(ctx)}
	}
}

// scriptedJournal writes durable records to the story, after a pause.
type scriptedJournal struct {
	story *story
	takes time.Duration
	fails func(batch int) error
	batch int
}

func (j *scriptedJournal) Append(_ context.Context, records []record.Record) error {
	j.batch++
	<-time.After(j.takes) // of the bubble
	if j.fails != nil {
		if err := j.fails(j.batch); err != nil {
			return err
		}
	}
	for i := range records {
		j.story.add("durable " + records[i].ClientOrderID)
	}
	return nil
}

// rig is a driver with everything around it.
type rig struct {
	machine *machine
	story   *story
	venue   *scriptedVenue
	journal *scriptedJournal
	config  Config
	driver  *Driver
	ended   chan error
	stop    context.CancelCauseFunc
}

var errInterrupted = errors.New("received interrupt")

func newRig() *rig {
	s := &story{}
	r := &rig{machine: &machine{nextMS: math.MaxInt64}, story: s, ended: make(chan error, 1)}
	r.venue, r.journal = &scriptedVenue{story: s}, &scriptedJournal{story: s}
	r.config = Config{Machine: r.machine, Venue: r.venue, Journal: r.journal, Clock: bubbleClock{}}
	return r
}

// start runs the driver in the background.
func (r *rig) start(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	r.stop = cancel
	r.driver = New(r.config)
	go func() { r.ended <- r.driver.Run(ctx) }()
}

// finish stops the driver and returns what Run returned.
func (r *rig) finish() error {
	r.stop(errInterrupted)
	return <-r.ended
}

func call(id int64, priority engine.Priority, symbol string) engine.Call {
	return engine.Call{ID: id, Priority: priority, Request: exchange.Request{Operation: exchange.FuturesTicker, Symbol: symbol}}
}

func sendingOf(clientOrderID string) record.Record {
	return record.Record{ClientOrderID: clientOrderID, Body: record.Sending{}}
}
