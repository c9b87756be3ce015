package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
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

// line is a connection to the exchange.
type line struct {
	http.RoundTripper
	roundTripMS int64  // from a request to its answer
	refused     string // the path that the exchange does not have
}

func (l line) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(time.Duration(l.roundTripMS) * time.Millisecond)
	if l.refused != "" && strings.HasSuffix(r.URL.Path, l.refused) {
		body := io.NopCloser(strings.NewReader(`{"code":-1000,"msg":"there is no such list"}`))
		return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Body: body, Request: r}, nil
	}
	return l.RoundTripper.RoundTrip(r)
}

// launch runs one strategy on each symbol, at that many requests a second, or without a bound for 0.
func launch(t *testing.T, symbols []*exchange.Symbol, budget float64, over line, what strategy.Strategy) *fleet {
	return launchOn(t, symbols, budget, over, what, nil)
}

// launchOn is launch with the account that the client is turned into, nil for the exchange's own.
func launchOn(t *testing.T, symbols []*exchange.Symbol, budget float64, over line, what strategy.Strategy,
	account func(*rest.Client) runtime.Venue) *fleet {
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
	over.RoundTripper = wire.Transport
	f := &fleet{venue: venue, seen: &sightings{fromMS: time.Now().UnixMilli(), requests: map[exchange.Operation]int{}}}
	client, err := rest.New(rest.Config{BaseURL: "http://127.0.0.1", Key: "one", Secret: []byte("a secret of this test"),
		Transport: over, Budget: budget, Observe: f.seen.observe})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.RefreshSymbols(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := client.SyncClock(t.Context()); err != nil {
		t.Fatal(err)
	}
	config := engine.Config{Instance: "live", Epoch: 1, Random: "00000", BusyRoundMS: 1000, IdleRoundMS: 15_000, CloseLagMS: 2000, TimeToLiveMS: 5000,
		Bounds: placement.Bounds{WindowMS: 5000, VisibilityMS: 1000, StalenessMS: 1000}}
	for _, symbol := range symbols {
		wired, _ := client.Symbols().Symbol(symbol.Key())
		config.Strategies = append(config.Strategies, engine.StrategyConfig{Name: symbol.Base, Symbol: wired, Interval: exchange.Minute1, Strategy: what})
	}
	machine, err := engine.New(config, reconcile.NewTracker(config.Bounds))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	trading := runtime.Venue(client)
	if account != nil {
		trading = account(client)
	}
	driver := runtime.New(runtime.Config{Machine: machine, Venue: trading, Journal: unwritten{}, Clock: client, Notes: f.seen.note})
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

// TestFiveHundredStrategiesSeeTheirCandlesInTime runs 500 strategies with positions on 500 symbols of 1m candles. A candle counts as closed
// 2 s after its close, and reading 500 of them takes 10 s at 50 requests a second.
func TestFiveHundredStrategiesSeeTheirCandlesInTime(t *testing.T) {
	if testing.Short() {
		t.Skip("half an hour of virtual time takes half a minute")
	}
	t.Parallel()
	for _, c := range []struct {
		name           string
		budget         float64
		over           line
		prices         int // requests for them in 5 minutes, at most
		medianMS, most int64
	}{
		{"one ticker for each open symbol", 50, line{roundTripMS: 20, refused: tickersPath}, 15_000, 60_000, 120_000},
		{"the list of tickers", 50, line{roundTripMS: 20}, 25, 7_000, 12_000},
		{"no bound of requests, 20 ms to an answer", 0, line{roundTripMS: 20}, 25, 2_500, 2_600},
		{"no bound of requests, 1 ms to an answer", 0, line{roundTripMS: 1}, 25, 2_500, 2_500},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const count = 500
				symbols := fleetSymbols(t, count)
				f := launch(t, symbols, c.budget, c.over, buyer{})
				time.Sleep(4*time.Minute + 30*time.Second)
				warm, _ := f.seen.take()
				t.Logf("%s: while all warm up, buy and are filled: %s", c.name, summary(warm))
				time.Sleep(5 * time.Minute)
				delays, requests := f.seen.take()
				f.stop()
				prices, total := requests[exchange.FuturesTicker]+requests[exchange.FuturesTickers], 0
				for _, n := range requests {
					total += n
				}
				t.Logf("%s: %d requests, %d of prices, %d of candles: %s", c.name, total, prices, requests[exchange.FuturesCandles], summary(delays))
				if c.over.refused == "" && len(delays) < 5*count {
					t.Fatalf("want %d candles seen, have %d", 5*count, len(delays))
				}
				if delays[len(delays)/2] > c.medianMS || delays[len(delays)-1] > c.most || prices > c.prices {
					t.Errorf("want p50 at most %d ms and all within %d ms, by %d requests for prices", c.medianMS, c.most, c.prices)
				}
				for _, symbol := range symbols {
					if p, _ := f.venue.Position("one", symbol.Name); p.Signed() != 1 && c.over.refused == "" {
						t.Fatalf("%s: want a position of 1, have %d", symbol.Name, p.Signed())
					}
				}
			})
		})
	}
}

// tickersPath ends the path of the lists of tickers.
const tickersPath = "/ticker"

// summary describes sorted times from the close of candles to their sight.
func summary(delays []int64) string {
	at := func(share float64) float64 { return float64(delays[int(share*float64(len(delays)-1))]) / 1_000 }
	return fmt.Sprintf("%d candles seen after their close: p50 %.1f s, p90 %.1f s, at most %.1f s", len(delays), at(0.5), at(0.9), at(1))
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

// TestLadderOfTwoHundredOrders measures how long a ladder takes to stand. Its openings are acknowledged one after the other (exactly-once.md), so 200
// of them take 200 round trips, or 4 s at 50 requests a second; the rest is rounds of reads.
func TestLadderOfTwoHundredOrders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		roundTripMS int64
		budget      float64
		most        time.Duration
	}{
		{1, 50, 10 * time.Second},
		{1, 0, 10 * time.Second},
		{20, 50, 10 * time.Second},
		{50, 50, 18 * time.Second},
		{100, 50, 30 * time.Second},
	} {
		t.Run(fmt.Sprintf("%d ms, %g a second", c.roundTripMS, c.budget), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { ladderStands(t, line{roundTripMS: c.roundTripMS}, c.budget, c.most) })
		})
	}
}

func ladderStands(t *testing.T, over line, budget float64, most time.Duration) {
	const orders = 200
	f := launch(t, fleetSymbols(t, 1), budget, over, rungs(orders))
	for i := 0; f.seen.count(exchange.FuturesPlace) == 0 && i < 20_000; i++ {
		time.Sleep(10 * time.Millisecond)
	}
	began := time.Now()
	for f.seen.count(exchange.FuturesPlace) < orders && time.Since(began) < time.Minute {
		time.Sleep(10 * time.Millisecond)
	}
	took := time.Since(began)
	_, requests := f.seen.take()
	f.stop()
	stand, placed := f.venue.OpenOrders("one", exchange.Futures), requests[exchange.FuturesPlace]
	t.Logf("%d orders stand after %.2f s, after %d rounds", stand, took.Seconds(), requests[exchange.FuturesOpenOrders])
	if took > most || placed != orders || stand != orders {
		t.Errorf("want %d orders within %s, by as many requests; have %d by %d requests", orders, most, stand, placed)
	}
}
