package runtime_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/paper"
	"botd/exchange/polling"
	"botd/exchange/rest"
	"botd/exchange/sim"
	"botd/runtime"
	"botd/strategy"
	"botd/strategy/library"
)

// reader is a buyer that also watches the order book.
type reader struct{ buyer }

func (reader) Watches() strategy.Watching { return strategy.Watching{OrderBook: true} }

// costOf returns what botd check computes for a strategy on each symbol, and what it warns of.
func costOf(t *testing.T, mode configs.Mode, symbols []*exchange.Symbol, books bool, budget int) (cost configs.RequestCost, warning string) {
	t.Helper()
	files := fstest.MapFS{"botd.yaml": {Data: fmt.Appendf(nil,
		"mode: %s\nexchange: {base_url: https://v.example, key_file: /k, secret_file: /s, requests_per_second: %d}\n", mode, budget)}}
	what := "strategy: buy_and_hold\nsize: {quantity: 1}\n"
	if books {
		what = "strategy: market_making\nparams: {spread: 0.4%, quantity: 1, max_position: 2}\n"
	}
	for _, symbol := range symbols {
		files["strategies/"+symbol.Base+".yaml"] = &fstest.MapFile{Data: fmt.Appendf(nil,
			"name: %s\n%smarket: futures\nsymbol: %s\ninterval: 1m\nleverage: 1\n", strings.ToLower(symbol.Base), what, symbol.Name)}
	}
	config, problems := configs.Load(files, "", configs.Options{Mode: mode, Registry: strategy.NewRegistry(library.All()...)})
	if config == nil {
		t.Fatal(problems)
	}
	for _, p := range problems {
		if p.Severity == configs.Warning && strings.Contains(p.What, "series of candles") {
			warning += p.What + " (" + p.Hint + ") "
		}
	}
	costs := config.Requests()
	if len(costs) != 1 {
		t.Fatalf("want the cost of one market, have %+v", costs)
	}
	return costs[0], warning
}

// measured is what a fleet did in some minutes.
type measured struct {
	perMinute  int
	lastSeenMS int64 // the longest time from a close to the sight of its candle, without the two seconds after which it counts as closed
	stale      int64 // how often paper's data became too old
}

// measure runs a fleet as a daemon does, on the exchange or on a paper account.
func measure(t *testing.T, mode configs.Mode, symbols []*exchange.Symbol, books bool, budget int) (m measured) {
	t.Helper()
	var stale atomic.Int64
	var background sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	account := func(client *rest.Client) runtime.Venue {
		background.Go(func() { client.TrackClock(ctx, polling.ClockMS*time.Millisecond, func(rest.ClockReading) {}) })
		if mode == configs.Live {
			return client
		}
		var watch []exchange.SymbolKey
		for _, symbol := range symbols {
			watch = append(watch, symbol.Key())
		}
		venue, err := paper.New(paper.Config{Public: client, Clock: client, Symbols: client.Symbols().All(), Watch: watch,
			Deposit: sim.AccountConfig{FuturesUSDT: exchange.AmountOf(10_000_000), Leverage: 1},
			OnStale: func(s paper.Staleness) {
				if s.Stale {
					stale.Add(1)
				}
			}})
		if err != nil {
			t.Fatal(err)
		}
		background.Go(func() { venue.Run(ctx) })
		return venue
	}
	var what strategy.Strategy = buyer{}
	if books {
		what = reader{}
	}
	f := launchOn(t, symbols, float64(budget), line{roundTripMS: 1}, what, account)
	time.Sleep(90 * time.Second)
	f.seen.take()
	stale.Store(0)
	const minutes = 2
	time.Sleep(minutes * time.Minute)
	delays, requests := f.seen.take()
	cancel()
	background.Wait()
	f.stop()
	for _, n := range requests {
		m.perMinute += n
	}
	m.perMinute /= minutes
	m.lastSeenMS, m.stale = delays[len(delays)-1]-2_000, stale.Load()
	t.Logf("%s, %d symbols, books %t, at %d: %+v, %v", mode, len(symbols), books, budget, m, requests)
	return m
}

// TestCheckCountsTheRequestsThatAFleetMakes compares botd check with the requests of the driver, the client and the paper account. Without a
// bound the counts agree; with one, no candle is seen later than computed, and paper's data become too old only where it warns of it.
func TestCheckCountsTheRequestsThatAFleetMakes(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes of virtual time take many seconds")
	}
	t.Parallel()
	for _, c := range []struct {
		mode   configs.Mode
		count  int
		books  bool
		budget int
		warned string
		stale  bool
	}{
		{configs.Live, 1, false, 0, "", false},
		{configs.Live, 3, false, 0, "", false},
		{configs.Live, 4, true, 0, "", false},
		{configs.Paper, 1, false, 0, "", false},
		{configs.Paper, 4, false, 0, "", false},
		{configs.Paper, 30, false, 0, "", false},
		{configs.Paper, 4, true, 0, "", false},
		{configs.Live, 100, false, 50, "", false},
		{configs.Live, 50, true, 50, "", false},
		{configs.Live, 100, true, 50, "are needed and 3000 are allowed", false},
		{configs.Live, 150, true, 50, "are needed and 3000 are allowed", false},
		{configs.Paper, 16, false, 50, "", false},
		{configs.Paper, 30, false, 50, "are needed and 3000 are allowed", false},
		{configs.Paper, 30, true, 50, "are needed and 3000 are allowed", false},
		{configs.Paper, 100, false, 50, "data becomes stale", true},
	} {
		name := fmt.Sprintf("%s, %d, books %t, at %d", c.mode, c.count, c.books, c.budget)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				symbols := fleetSymbols(t, c.count)
				cost, warning := costOf(t, c.mode, symbols, c.books, c.budget)
				have := measure(t, c.mode, symbols, c.books, c.budget)
				t.Logf("check: %s; %s", cost.String(), warning)
				if c.warned == "" && have.perMinute != cost.RequestsMinute || c.warned != "" && have.perMinute < 59*c.budget {
					t.Errorf("want %d requests a minute, or the whole budget, have %d", cost.RequestsMinute, have.perMinute)
				}
				if (c.warned == "") != (warning == "") || !strings.Contains(warning, c.warned) || c.stale != (have.stale > 0) {
					t.Errorf("want a warning %q, data too old %t; have %q, %d times", c.warned, c.stale, warning, have.stale)
				}
				const round = 4 // requests that go first
				if late := have.lastSeenMS; c.budget > 0 && (late > cost.CandleDelayMS+round*1_000/int64(c.budget) || cost.CandleDelayMS > late*3/2+2_000) {
					t.Errorf("the last candle is seen after %d ms, and computed are %d ms", late, cost.CandleDelayMS)
				}
			})
		})
	}
}
