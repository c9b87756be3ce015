package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/rest"
	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/internal/pipe"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/engine"
	"botd/strategy"
)

// buyer buys at its first decision, and keeps the position.
type buyer struct{}

func (buyer) Warmup() int           { return 1 }
func (buyer) Candle(*strategy.View) {}
func (buyer) Decide(_ *strategy.View, plan *strategy.Plan) {
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: 1}, "a test")
}

type unwritten struct{}

func (unwritten) Append(context.Context, []record.Record) error { return nil }

// fleetSymbols returns that many futures symbols.
func fleetSymbols(t *testing.T, count int) (all []*exchange.Symbol) {
	t.Helper()
	for i := range count {
		symbol, err := exchange.NewSymbol(exchange.SymbolSpec{
			Market: exchange.Futures, Name: fmt.Sprintf("C%03d-USDT", i), Base: fmt.Sprintf("C%03d", i), Quote: "USDT",
			PriceTick: decimal.New(1, -1), QuantityTick: decimal.New(1, 0), MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000_000),
			Tradable: true, Cancelable: true, FundingIntervalHours: 8, Brackets: sim.DefaultBrackets(),
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, symbol)
	}
	return all
}

// sightings measures how long after their close candles were seen, and the requests made meanwhile.
type sightings struct {
	mu       sync.Mutex // guards all below
	fromMS   int64
	delays   []int64
	requests map[exchange.Operation]int
}

func (s *sightings) note(n *engine.Note) {
	polled, is := n.Fact.(engine.NoteCandles)
	if !is {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range polled.Candles.Len() {
		if closeMS := polled.Candles.CloseMS(i); closeMS >= s.fromMS {
			s.delays = append(s.delays, n.AtMS-closeMS)
		}
	}
}

func (s *sightings) observe(o rest.Observation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[o.Operation]++
}

// count returns the number of answered requests for an operation.
func (s *sightings) count(operation exchange.Operation) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[operation]
}

// take returns the measurements, and starts over with candles that close from now on.
func (s *sightings) take() (delays []int64, requests map[exchange.Operation]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delays, requests = s.delays, s.requests
	s.fromMS, s.delays, s.requests = time.Now().UnixMilli(), nil, map[exchange.Operation]int{}
	slices.Sort(delays)
	return delays, requests
}

// fleet is a driver on the simulated exchange, over HTTP in memory and in virtual time.
type fleet struct {
	venue *sim.Exchange
	seen  *sightings
	stop  func()
}

// roundTripMS is the duration of a request and its answer.
const roundTripMS = 20

// slow is a slow connection to the exchange.
type slow struct{ http.RoundTripper }

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(roundTripMS * time.Millisecond)
	return s.RoundTripper.RoundTrip(r)
}

// launch runs one strategy on each symbol, at that many requests a second.
func launch(t *testing.T, symbols []*exchange.Symbol, budget float64, what strategy.Strategy) *fleet {
	t.Helper()
	venue, err := sim.New(sim.Config{Symbols: symbols, StartMS: time.Now().UnixMilli()})
	if err != nil {
		t.Fatal(err)
	}
	if err := venue.AddAccount(sim.AccountConfig{Name: "one", FuturesUSDT: exchange.AmountOf(10_000_000), Leverage: 1}); err != nil {
		t.Fatal(err)
	}
	served, err := server.New(server.Config{Exchange: venue, Accounts: []server.Account{{Key: "one", Secret: "a secret of this test"}}})
	if err != nil {
		t.Fatal(err)
	}
	listener := pipe.NewListener()
	serving, stopServing := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- served.Serve(serving, listener) }()
	wire := listener.Client()
	f := &fleet{venue: venue, seen: &sightings{requests: map[exchange.Operation]int{}}}
	client, err := rest.New(rest.Config{BaseURL: "http://127.0.0.1", Key: "one", Secret: []byte("a secret of this test"),
		Transport: slow{wire.Transport}, Budget: budget, Observe: f.seen.observe})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.RefreshSymbols(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := client.SyncClock(t.Context()); err != nil {
		t.Fatal(err)
	}
	config := engine.Config{Instance: "live", Epoch: 1, Random: "00000", BusyRoundMS: 1000, IdleRoundMS: 15_000, CloseLagMS: 2000, TimeToLive: 5000,
		Settle: placement.Settle{WindowMS: 5000, VisibilityMS: 1000, StalenessMS: 1000}}
	for _, symbol := range symbols {
		wired, _ := client.Symbols().Symbol(symbol.Key())
		config.Strategies = append(config.Strategies, engine.StrategyConfig{Name: symbol.Base, Symbol: wired, Interval: exchange.Minute1, Strategy: what})
	}
	machine, err := engine.New(config, reconcile.NewBook(config.Settle))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	driver := runtime.New(runtime.Config{Machine: machine, Venue: client, Journal: unwritten{}, Clock: client, Notes: f.seen.note})
	go func() { ended <- driver.Run(ctx) }()
	f.stop = func() {
		cancel()
		stopServing()
		if err := errors.Join(<-ended, <-done); err != nil {
			t.Error(err)
		}
		wire.CloseIdleConnections()
	}
	return f
}

// TestFiveHundredStrategiesSeeTheirCandlesInTime runs 500 strategies with positions on 500 symbols of 1m candles,
// at 50 requests a second. A candle counts as closed 2 s after its close, and reading 500 of them takes 10 s.
func TestFiveHundredStrategiesSeeTheirCandlesInTime(t *testing.T) {
	if testing.Short() {
		t.Skip("seven minutes of virtual time take six seconds, and half a minute with the race detector")
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const count = 500
		symbols := fleetSymbols(t, count)
		f := launch(t, symbols, 50, buyer{})
		time.Sleep(4*time.Minute + 30*time.Second) // all warm up, buy, and are filled
		f.seen.take()
		time.Sleep(3 * time.Minute)
		delays, requests := f.seen.take()
		f.stop()
		prices := requests[exchange.FuturesTicker] + requests[exchange.FuturesTickers]
		total := 0
		for _, n := range requests {
			total += n
		}
		if len(delays) < 3*count {
			t.Fatalf("want %d candles seen, have %d", 3*count, len(delays))
		}
		median, last := delays[len(delays)/2], delays[len(delays)-1]
		t.Logf("%d requests, %d of candles, %d of prices; candles seen after their close: p50 %d ms, at most %d ms", total, requests[exchange.FuturesCandles],
			prices, median, last)
		if median > 7_000 || last > 12_000 {
			t.Errorf("candles seen after their close: want p50 at most 7 s and all within 12 s, have %d ms and %d ms", median, last)
		}
		if prices > 15 {
			t.Errorf("want a request for all prices a round, have %d in 3 minutes", prices)
		}
		for _, symbol := range symbols {
			if p, _ := f.venue.Position("one", symbol.Name); p.Signed() != 1 {
				t.Fatalf("%s: want a position of 1, have %d", symbol.Name, p.Signed())
			}
		}
	})
}

// rungs rests that many purchases below the price.
type rungs int

func (rungs) Warmup() int           { return 1 }
func (rungs) Candle(*strategy.View) {}
func (r rungs) Decide(_ *strategy.View, plan *strategy.Plan) {
	plan.OrdersSet = true
	for i := range int(r) {
		plan.Orders = append(plan.Orders, strategy.DesiredOrder{Key: strconv.Itoa(i), Side: exchange.Buy, Price: 90e8 - exchange.Price(i)*1e7, Quantity: 1})
	}
}

// TestLadderOfTwoHundredOrdersIsPlacedInTenSeconds has 50 requests a second, and 20 ms from a request to its answer.
func TestLadderOfTwoHundredOrdersIsPlacedInTenSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const orders = 200
		f := launch(t, fleetSymbols(t, 1), 50, rungs(orders))
		for i := 0; f.seen.count(exchange.FuturesPlace) == 0 && i < 20_000; i++ {
			time.Sleep(10 * time.Millisecond)
		}
		began := time.Now()
		for f.seen.count(exchange.FuturesPlace) < orders && time.Since(began) < time.Minute {
			time.Sleep(10 * time.Millisecond)
		}
		took := time.Since(began)
		f.stop()
		stand, requests := f.venue.OpenOrders("one", exchange.Futures), f.seen.count(exchange.FuturesPlace)
		t.Logf("%d orders stand after %d ms, %d requests to place them", stand, took.Milliseconds(), requests)
		if took > 10*time.Second || requests != orders || stand != orders {
			t.Errorf("want %d orders within 10 s, by as many requests; have %d, %d requests, and %d ms", orders, stand, requests, took.Milliseconds())
		}
	})
}
