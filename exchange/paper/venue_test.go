package paper

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/exchange/sim"
)

// venue serves a real venue's public data in process. The test sets the data.
type venue struct {
	mu     sync.Mutex // guards all below
	last   exchange.Price
	depth  exchange.Depth
	trades []exchange.Trade
	rate   exchange.Rate
	fault  error
	frozen int64 // when its own times stop; 0 for never
	asked  map[exchange.Operation]int
}

func newVenue() *venue {
	v := &venue{asked: map[exchange.Operation]int{}}
	v.set(50_000, btc)
	return v
}

// set changes the price and the order book: a level of the quantity a dollar away, another one ten dollars further.
func (v *venue) set(price exchange.Price, quantity exchange.Quantity) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last = price * usd
	v.depth = exchange.Depth{
		Bids: []exchange.Level{{Price: (price - 1) * usd, Quantity: quantity}, {Price: (price - 11) * usd, Quantity: quantity}},
		Asks: []exchange.Level{{Price: (price + 1) * usd, Quantity: quantity}, {Price: (price + 11) * usd, Quantity: quantity}},
	}
}

func (v *venue) trade(price exchange.Price, quantity exchange.Quantity) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.trades = append(v.trades, exchange.Trade{ID: int64(len(v.trades) + 1), Price: price * usd, Quantity: quantity, TimeMS: time.Now().UnixMilli()})
}

func (v *venue) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fault = err
}

func (v *venue) freeze() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.frozen = time.Now().UnixMilli()
}

func (v *venue) Do(_ context.Context, request exchange.Request) (exchange.Answer, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked[request.Operation]++
	if request.Operation.Signed() {
		panic("a signed request went to the venue")
	}
	if v.fault != nil {
		return exchange.Answer{}, v.fault
	}
	now := time.Now().UnixMilli()
	if v.frozen > 0 {
		now = v.frozen
	}
	hours := int64(8 * time.Hour / time.Millisecond)
	return exchange.Answer{
		Operation: request.Operation, Status: "the venue's own",
		Tickers: exchange.FetchedOf([]exchange.Ticker{{Symbol: request.Symbol, Last: v.last, CloseMS: now}}),
		Depth:   v.depth, Trades: exchange.FetchedOf(v.trades),
		Funding: exchange.FundingRate{Symbol: request.Symbol, Rate: v.rate, NextMS: now - now%hours + hours},
	}, nil
}

// clock is the test's own clock.
type clock struct{}

func (clock) ServerNowMS() int64 { return time.Now().UnixMilli() }

// bench is a paper venue under test.
type bench struct {
	*Venue
	real *venue

	mu    sync.Mutex // guards all below
	state []byte
	full  error // of the disk
	notes []string
	stale Staleness // as last reported
}

func newBench(t *testing.T, real *venue, state []byte) *bench {
	t.Helper()
	b := &bench{real: real}
	made, err := New(Config{
		Public: real, Clock: clock{}, Symbols: sim.DefaultSymbols(), Watch: []exchange.SymbolKey{btcFutures},
		Deposit: sim.DefaultAccount(""), DelayMS: 5, State: state,
		Store:   b,
		Notify:  func(event, _ string) { b.mu.Lock(); b.notes = append(b.notes, event); b.mu.Unlock() },
		OnStale: func(s Staleness) { b.mu.Lock(); b.stale = s; b.mu.Unlock() },
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Venue = made
	return b
}

// run starts the feed; it ends with the test.
func (b *bench) run(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); b.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	pass(time.Millisecond)
}

// pass lets virtual time pass, with everything due in it.
func pass(wait time.Duration) {
	<-time.After(wait)
	synctest.Wait()
}

// Save stores to a disk that may be full.
func (b *bench) Save(_ uint64, source func(bool) ([]byte, []byte, uint64, error)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full != nil {
		return b.full
	}
	_, snapshot, _, err := source(true)
	b.state = snapshot
	return err
}

// disk makes writes fail, or succeed again.
func (b *bench) disk(fault error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.full = fault
}

func (b *bench) stored() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state
}

func (b *bench) money() sim.Money {
	b.Venue.mu.Lock()
	defer b.Venue.mu.Unlock()
	return b.exchange.Money(Account)
}

func (b *bench) heard(event string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Count(strings.Join(b.notes, " ")+" ", event+" ")
}

func (b *bench) place(t *testing.T, order exchange.NewOrder) int64 {
	t.Helper()
	id, err := b.tryPlace(order)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (b *bench) tryPlace(order exchange.NewOrder) (int64, error) {
	order.Market, order.Symbol = exchange.Futures, "BTC-USDT"
	answer, err := b.Do(context.Background(), exchange.Request{Operation: exchange.FuturesPlace, Order: order})
	return answer.Order.ID, err
}

func (b *bench) want(t *testing.T, id int64, status exchange.OrderStatus, filled exchange.Quantity) {
	t.Helper()
	answer, err := b.Do(t.Context(), exchange.Request{Operation: exchange.FuturesOrder, OrderID: id})
	if err != nil {
		t.Fatal(err)
	}
	if o := answer.Order; o.Status != status || o.Filled != filled {
		t.Errorf("order %d: want %s with %d filled, have %s with %d", id, status, filled, o.Status, o.Filled)
	}
}
