package lane

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/internal/enginetest"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/engine"
)

// venue is a simulated exchange at the test's clock. It stores the requests that change something, and fails chosen ones.
type venue struct {
	mu       sync.Mutex // guards all below
	exchange *sim.Exchange
	name     string                       // of the account
	fails    map[exchange.Operation]error // answers without performing
	lost     map[exchange.Operation]error // performs, and answers this
	changes  []string                     // "second: operation order"
	since    []int64                      // from when histories were read, in ms of the test
	reads    map[exchange.Operation]int
}

func (v *venue) Do(_ context.Context, request exchange.Request) (exchange.Answer, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.exchange.Advance(time.Now().UnixMilli())
	o := &request.Order
	if request.Operation.Changes() {
		line := fmt.Sprintf("%.1fs %s", float64(time.Now().UnixMilli()-epochMS)/1000, request.Operation)
		if request.Operation.Places() {
			line += fmt.Sprintf(" %s %s %s %d", o.Symbol, o.Side, o.Type, o.Quantity)
			if o.ReduceOnly {
				line += " reduce"
			}
			if o.Price != 0 {
				line += fmt.Sprintf(" at %d", o.Price)
			}
		} else {
			line += fmt.Sprintf(" %s %d", request.Symbol, request.OrderID)
		}
		v.changes = append(v.changes, line)
	}
	if v.reads == nil {
		v.reads = map[exchange.Operation]int{}
	}
	v.reads[request.Operation]++
	if request.Operation == exchange.SpotOrderHistory {
		v.since = append(v.since, request.StartMS-epochMS)
	}
	if err := v.fails[request.Operation]; err != nil {
		return exchange.Answer{}, err
	}
	answer, err := v.exchange.Do(v.name, &request)
	if lost := v.lost[request.Operation]; lost != nil {
		return exchange.Answer{}, lost
	}
	return answer, err
}

// epochMS is when a bubble's clock starts: 2000-01-01.
const epochMS = 946_684_800_000

// set changes what fails.
func (v *venue) set(operation exchange.Operation, fails, lost error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fails[operation], v.lost[operation] = fails, lost
}

// count returns how often an operation was called since the last count.
func (v *venue) count(operation exchange.Operation) (n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	n, v.reads[operation] = v.reads[operation], 0
	return n
}

// done returns the changes since the last call.
func (v *venue) done() (all []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	all, v.changes = v.changes, nil
	return all
}

// hung is a driver of an engine that accepts nothing, until it is set to answer.
type hung struct {
	mu       sync.Mutex    // guards all below
	answers  chan struct{} // closed once it answers
	answer   error
	received []string
	orders   []engine.LaneOrder // of the last event of the lane
}

func (h *hung) Query(ctx context.Context, read func()) error {
	read()
	return ctx.Err()
}

func (h *hung) Send(ctx context.Context, event engine.Event) error {
	select {
	case <-h.answers:
	case <-ctx.Done():
		return ctx.Err()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	line := ""
	if audited, is := event.(*engine.EventAudited); is {
		line, event = "audit of "+audited.Audit.Actor+" ", audited.Event
	}
	switch e := event.(type) {
	case *engine.EventHalt:
		line += fmt.Sprintf("halt %s of %s: %s", e.Level, e.Scope, e.Reason)
	case *engine.EventLane:
		line += fmt.Sprintf("%d orders", len(e.Orders))
		h.orders = e.Orders
	}
	h.received = append(h.received, line)
	return h.answer
}

// heard returns the events since the last call.
func (h *hung) heard() (all []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all, h.received = h.received, nil
	return all
}

// scene is a lane with a venue on which an account trades, and an engine that does not answer.
type scene struct {
	*Lane
	t      *testing.T
	venue  *venue
	driver *hung
	path   string
	logged []string
	used   []Activation
	start  time.Time
	stop   func()
	known  []engine.Exposure
}

var (
	bitcoin = exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	spot    = exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}
)

// symbolOf returns a symbol of the simulated exchange.
func symbolOf(key exchange.SymbolKey) *exchange.Symbol {
	i := slices.IndexFunc(sim.DefaultSymbols(), func(s *exchange.Symbol) bool { return s.Key() == key })
	return sim.DefaultSymbols()[i]
}

// pass lets virtual time pass, and everything that is due at its end happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// newScene begins at the bubble's time.
func newScene(t *testing.T) *scene {
	t.Helper()
	x, err := sim.New(sim.Config{Symbols: sim.DefaultSymbols(), StartMS: time.Now().UnixMilli()})
	if err == nil {
		err = x.AddAccount(sim.AccountConfig{Name: "one", FuturesUSDT: exchange.AmountOf(1_000_000), Leverage: 10,
			Spot: map[string]exchange.Amount{"USDT": exchange.AmountOf(100_000)}})
	}
	if err != nil {
		t.Fatal(err)
	}
	for key, price := range map[exchange.SymbolKey]string{bitcoin: "50000", spot: "2500"} {
		x.SetMarket(key, sim.Still(sim.StillConfig{Price: enginetest.Price(t, symbolOf(key), price)}))
	}
	s := &scene{t: t, venue: &venue{exchange: x, name: "one", fails: map[exchange.Operation]error{}, lost: map[exchange.Operation]error{}},
		driver: &hung{answers: make(chan struct{})}, path: filepath.Join(t.TempDir(), FileName), start: time.Now()}
	file, _, err := OpenFile(s.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Lane = New(Config{Venue: s.venue, Driver: s.driver, NowMS: func() int64 { return time.Now().UnixMilli() }, File: file, Instance: "main",
		Start: placement.Start{Epoch: 1_700_000_000, Random: "abcde"}, Activated: func(u Activation) { s.used = append(s.used, u) },
		Log: func(event, format string, arguments ...any) {
			s.logged = append(s.logged, event+" "+fmt.Sprintf(format, arguments...))
		}})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	s.stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// place places an order on the venue and returns its placement, as the engine journalled it.
func (s *scene) place(purpose placement.Purpose, order exchange.NewOrder) account.Placement {
	s.t.Helper()
	operation := exchange.FuturesPlace
	if order.Market == exchange.Spot {
		operation = exchange.SpotPlace
	}
	order.ClientOrderID = fmt.Sprintf("b-%d", time.Now().UnixMilli())
	answer, err := s.venue.Do(s.t.Context(), exchange.Request{Operation: operation, Order: order})
	if err != nil {
		s.t.Fatal(err)
	}
	time.Sleep(10 * time.Millisecond) // it arrives
	s.venue.done()
	return enginetest.Placement(record.Record{AtMS: time.Now().UnixMilli(), Strategy: "one", Symbol: order.Key(), ClientOrderID: order.ClientOrderID,
		Body: record.Sending{Purpose: purpose, Order: order}}, placement.Working, answer.Order.ID)
}

// ordered returns an order for a symbol.
func ordered(key exchange.SymbolKey, side exchange.Side, kind exchange.OrderType, quantity exchange.Quantity, price exchange.Price) exchange.NewOrder {
	return exchange.NewOrder{Market: key.Market, Symbol: key.Name, Side: side, Type: kind, Quantity: quantity, Price: price}
}

// show shows the lane a strategy's orders and position.
func (s *scene) show(strategy string, key exchange.SymbolKey, held exchange.Quantity, last exchange.Price, orders ...account.Placement) *engine.Exposure {
	s.known = append(s.known, engine.Exposure{Strategy: strategy, Symbol: symbolOf(key), Close: held, Last: last, Collar: exchange.RateOne / 100,
		Orders: orders})
	s.Show(s.known)
	return &s.known[len(s.known)-1]
}

// halt sends a halt, audited.
func (s *scene) halt(level record.HaltLevel, scope account.Scope) error {
	return s.Send(s.t.Context(), &engine.EventAudited{Audit: &record.Audit{Actor: "ann", From: "unix"}, Event: &engine.EventHalt{Level: level, Scope: scope,
		Reason: "a test"}})
}

// answer has the engine answer from now on.
func (s *scene) answer(err error) {
	s.driver.mu.Lock()
	defer s.driver.mu.Unlock()
	s.driver.answer = err
	select {
	case <-s.driver.answers:
	default:
		close(s.driver.answers)
	}
}

// position returns the futures position.
func (s *scene) position() exchange.Quantity {
	s.venue.mu.Lock()
	defer s.venue.mu.Unlock()
	s.venue.exchange.Advance(time.Now().UnixMilli())
	p, _ := s.venue.exchange.Position("one", bitcoin.Name)
	return p.Signed()
}

// want compares lines.
func want(t *testing.T, what string, have []string, lines ...string) {
	t.Helper()
	if !slices.Equal(have, lines) {
		t.Errorf("%s: want\n%s\nhave\n%s", what, strings.Join(lines, "\n"), strings.Join(have, "\n"))
	}
}

var errBusy = errors.New("busy")
