package runtime

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/engine"
	"botd/strategy"
)

// holder keeps one position and does nothing else.
type holder struct{ quantity exchange.Quantity }

func (holder) Warmup() int           { return 0 }
func (holder) Candle(*strategy.View) {}
func (h holder) Decide(_ *strategy.View, plan *strategy.Plan) {
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: h.quantity}, "a test")
}

// memory is a journal in memory, and a venue over the simulated exchange that sends nothing without a record.
type memory struct {
	t       *testing.T
	mu      sync.Mutex
	records []record.Record
	venue   *sim.Exchange
	placed  []string
	loses   bool // the next placement's answer
}

func (m *memory) Append(_ context.Context, records []record.Record) error {
	time.Sleep(20 * time.Millisecond)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records = append(m.records, records...)
	return nil
}

func (m *memory) Do(_ context.Context, request exchange.Request) (exchange.Answer, error) {
	time.Sleep(30 * time.Millisecond)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.venue.Advance(time.Now().UnixMilli())
	if request.Operation.Places() {
		id := request.Order.ClientOrderID
		if !slices.ContainsFunc(m.records, func(r record.Record) bool {
			return r.Kind() == record.KindSending && r.ClientOrderID == id
		}) {
			m.t.Errorf("order %s was sent before its record was durable", id)
		}
		m.placed = append(m.placed, id)
	}
	answer, err := m.venue.Do("one", &request)
	if request.Operation.Places() && m.loses {
		m.loses = false
		return exchange.Answer{}, &exchange.Uncertain{Reason: "timeout"}
	}
	return answer, err
}

// run drives a new engine over the journal, for a while, and stops it.
func (m *memory) run(quantity exchange.Quantity, takes time.Duration) *Driver {
	m.t.Helper()
	tracker := reconcile.NewTracker(placement.Bounds{WindowMS: 5_000, VisibilityMS: 1_000, StalenessMS: 1_000})
	for i := range m.records {
		tracker.Apply(&m.records[i])
	}
	machine, err := engine.New(engine.Config{
		Instance: "test", Epoch: tracker.Epoch() + 1, Random: "00000",
		Bounds: tracker.Bounds(), BusyRoundMS: 1_000, IdleRoundMS: 15_000, CloseLagMS: 2_000, TimeToLiveMS: 5_000,
		Strategies: []engine.StrategyConfig{{Name: "one", Strategy: holder{quantity}, Symbol: m.symbol(), Interval: exchange.Minute1, Leverage: 10}},
	}, tracker)
	if err != nil {
		m.t.Fatal(err)
	}
	driver := New(Config{Machine: machine, Venue: m, Journal: m, Clock: bubbleClock{}})
	ctx, cancel := context.WithTimeoutCause(m.t.Context(), takes, errInterrupted)
	defer cancel()
	if err := driver.Run(ctx); err != nil {
		m.t.Fatal(err)
	}
	return driver
}

func (m *memory) symbol() *exchange.Symbol {
	return m.venue.Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"})
}

func newMemory(t *testing.T) *memory {
	t.Helper()
	venue, err := sim.New(
		sim.Config{Symbols: sim.DefaultSymbols(), StartMS: time.Now().Add(-time.Hour).UnixMilli(), OrderDelayMS: sim.DefaultOrderDelayMS},
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := venue.AddAccount(sim.DefaultAccount("one")); err != nil {
		t.Fatal(err)
	}
	m := &memory{t: t, venue: venue}
	venue.SetMarket(m.symbol().Key(), sim.Random(1))
	return m
}

func (m *memory) holds(want exchange.Quantity) {
	m.t.Helper()
	position, _ := m.venue.Position("one", "BTC-USDT")
	if have := position.Signed(); want != have {
		m.t.Errorf("position: want %d steps, have %d after orders %q", want, have, m.placed)
	}
}

func TestEngineTradesThroughDriverAcrossRestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		step := m.symbol().QuantityTick
		driver := m.run(10*step, 3*time.Minute)
		m.holds(10 * step)
		if left := driver.OpenLeft(); len(left) != 1 {
			t.Errorf("left open: want the position, have %q", left)
		}
		m.run(10*step, 3*time.Minute)
		m.holds(10 * step)
		if len(m.placed) != 1 {
			t.Errorf("orders over two runs: want 1, have %q", m.placed)
		}
	})
}

func TestALostAnswerIsFoundOutAndNeverSentAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		m.loses = true
		step := m.symbol().QuantityTick
		m.run(10*step, 5*time.Minute)
		m.holds(10 * step)
		if len(m.placed) != 1 {
			t.Errorf("orders: want 1, have %q", m.placed)
		}
	})
}
