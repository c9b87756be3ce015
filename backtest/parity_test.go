package backtest_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/rest"
	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/exchange/tape"
	"botd/internal/pipe"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/runtime"
	"botd/runtime/engine"
	"botd/strategy"
	"botd/strategy/overlay"
)

// wave is a price that swings, with gaps between candles, so that averages cross often.
func wave(symbol *exchange.Symbol, startMS int64, count int) *exchange.Candles {
	candles := &exchange.Candles{Interval: exchange.Minute1}
	at := func(i int, phase float64) exchange.Price {
		x := 50_000 + 900*math.Sin(float64(i)/7+phase) + 300*math.Sin(float64(i)/2.3)
		return symbol.FloorPrice(exchange.Price(x * 1e8))
	}
	for i := range count {
		open, closes := at(i, 0.01), at(i, 0.12)
		candles.Append(exchange.Candle{OpenMS: startMS + int64(i)*int64(exchange.Minute1), Open: open, Close: closes,
			High: max(open, closes) + 20*symbol.PriceTick*10, Low: min(open, closes) - 20*symbol.PriceTick*10, Volume: 10})
	}
	return candles
}

// story lists a run's decisions, intents, placements and settlements, line by line.
type story struct {
	lines    []string
	untilMS  int64
	recorder *tape.Recorder // nil records no candles
}

func (s *story) note(n *engine.Note) {
	if polled, is := n.Fact.(engine.NoteCandles); is && s.recorder != nil {
		s.recorder.Candles(n.Symbol, polled.Candles)
	}
	if n.AtMS >= s.untilMS {
		return
	}
	switch fact := n.Fact.(type) {
	case engine.NoteDecision:
		s.lines = append(s.lines, fmt.Sprintf("decision %+v %s", fact.Plan.Target, fact.Reason))
	case engine.NoteIntent:
		s.order(n, fact.Intent)
	case engine.NoteApproved:
		s.order(n, fact.Intent)
	case engine.NoteRejection:
		s.order(n, fact.Intent)
	case engine.NotePlaced:
		s.order(n, &reconcile.Intent{Purpose: fact.Purpose, Order: fact.Order})
	case engine.NoteSettled:
		s.lines = append(s.lines, fmt.Sprintf("settled %s %s %d", fact.Purpose, fact.State, fact.Filled))
	}
}

func (s *story) order(n *engine.Note, intent *reconcile.Intent) {
	order := intent.Order
	order.ClientOrderID = ""
	s.lines = append(s.lines, fmt.Sprintf("%T %s leverage %d %+v", n.Fact, intent.Purpose, intent.Leverage, order))
}

const parityAccount = "parity"

// settingOf makes the strategy of the stories with exit rules.
func settingOf(rules overlay.Exit) func(*testing.T, *exchange.Symbol) engine.StrategyConfig {
	return func(t *testing.T, symbol *exchange.Symbol) engine.StrategyConfig {
		return paritySetting(t, symbol, rules)
	}
}

func paritySetting(t *testing.T, symbol *exchange.Symbol, rules overlay.Exit) engine.StrategyConfig {
	size := strategy.Size{Equity: 2 * exchange.RateOne}
	rules.Base = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 900_000}, TakeProfit: strategy.Distance{Share: 2_500_000}}
	built := build(t, "sma_cross", strategy.Setting{Market: exchange.Futures, Symbol: symbol, Interval: exchange.Minute1, Size: size},
		strategy.Values{"fast": "3", "slow": "8", "mode": "long_short"})
	return engine.StrategyConfig{Name: "parity", Symbol: symbol, Interval: exchange.Minute1, Leverage: 3, Size: size,
		Protection: rules.Base, Strategy: overlay.Wrap(built, overlay.TradeSettings{Exit: rules})}
}

// TestBacktestOfRecordingEqualsDaemon lets the live driver trade a market that has a past, with a
// recorder, and runs the backtest over the recorder's files. Candles, plans, orders and money are the same.
func TestBacktestOfRecordingEqualsDaemon(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		const count, past = 240, 63 // no target at the start: an earlier one lapses live, while a backtest enters it
		symbol := symbol(t, exchange.Futures, "0.1", "0.001")
		startMS := time.Now().UnixMilli() - past*int64(exchange.Minute1)
		candles := wave(symbol, startMS, count)
		untilMS := candles.CloseMS(count - 1)
		time.Sleep(3 * time.Second) // a start at another moment decides late, on the previous candle
		store := tape.Store{Directory: directory}
		recorder := tape.NewRecorder(tape.RecorderConfig{Store: store, Notify: func(err error) { t.Error(err) }, Count: func(int, int) {}})
		live := story{untilMS: untilMS, recorder: recorder}
		money := runLive(t, symbol, candles, &live, untilMS, settingOf(overlay.Exit{}))
		recorder.Close()

		stored, err := store.Load(symbol, exchange.Minute1)
		if err != nil {
			t.Fatal(err)
		}
		recorded := story{untilMS: untilMS}
		result, err := backtest.Run(t.Context(), backtest.Config{Cash: exchange.AmountOf(10_000), Costs: fees(20_000, 50_000), Note: recorded.note,
			Legs: []backtest.Leg{{Strategy: paritySetting(t, stored.Symbol, overlay.Exit{}), Kind: "sma_cross", Tape: stored}}})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d candles, the first %d before the start", stored.Candles.Len(), (time.Now().UnixMilli()-stored.Candles.OpenMS[0])/60_000)
		compare(t, &recorded, &live, "stop_loss", "take_profit")
		if have := money.Wallet.String(); have != result.Wallet {
			t.Errorf("wallet: backtest %s, live %s", result.Wallet, have)
		}
		t.Logf("%d lines equal, %d fills, wallet %s", len(live.lines), result.Fills, result.Wallet)
	})
}

// outcomes returns the decisions of the strategy, and the fills.
func (s *story) outcomes() (lines []string) {
	for _, line := range s.lines {
		if strings.HasPrefix(line, "decision") && !strings.HasSuffix(line, "} ") || strings.Contains(line, " filled ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// compare expects two stories to be equal, and long enough to prove something.
func compare(t *testing.T, recorded, live *story, fills ...string) {
	t.Helper()
	if len(recorded.lines) < 60 {
		t.Fatalf("the story is too short to prove anything: %d lines", len(recorded.lines))
	}
	for _, purpose := range fills {
		if !strings.Contains(strings.Join(recorded.lines, "\n"), "settled "+purpose+" filled") {
			t.Errorf("the story holds no %s that was filled", purpose)
		}
	}
	for i := range max(len(recorded.lines), len(live.lines)) {
		want, have := lineAt(recorded.lines, i), lineAt(live.lines, i)
		if want != have {
			t.Fatalf("line %d differs:\nbacktest %s\nlive     %s\nbefore: %s", i, want, have, lineAt(recorded.lines, i-1))
		}
	}
}

type noJournal struct{}

func (noJournal) Append(context.Context, []record.Record) error { return nil }

// TestLiveAndBacktestRecordTheSameStory runs one strategy over the same candles with the live driver (virtual
// time, real net/http client and server of the simulated exchange in memory) and in the backtest, and
// compares every plan, intent, verdict, placement, settlement and the final money.
func TestLiveAndBacktestRecordTheSameStory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		exits overlay.Exit
		fills []string
	}{
		{"protection", overlay.Exit{}, []string{"stop_loss", "take_profit"}},
		{"returns that rest", overlay.Exit{Returns: []overlay.Return{{Profit: 1_200_000}, {AgeMS: 150_000, Profit: 800_000}}},
			[]string{"stop_loss", "exit_order"}},
		{"a stop that trails", overlay.Exit{Trailing: overlay.Trailing{Distance: 400_000, After: 600_000}}, []string{"stop_loss"}},
	} {
		t.Run(c.name, func(t *testing.T) { sameStory(t, c.exits, c.fills) })
	}
}

func sameStory(t *testing.T, rules overlay.Exit, fills []string) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const count = 240
		symbol := symbol(t, exchange.Futures, "0.1", "0.001")
		startMS := time.Now().UnixMilli() + int64(exchange.Minute1)
		candles := wave(symbol, startMS, count)
		untilMS := candles.CloseMS(count - 1)

		recorded := story{untilMS: untilMS}
		result, err := backtest.Run(t.Context(), backtest.Config{Cash: exchange.AmountOf(10_000), Costs: fees(20_000, 50_000), Note: recorded.note,
			Legs: []backtest.Leg{{Strategy: paritySetting(t, symbol, rules), Kind: "sma_cross", Tape: &tape.Tape{Symbol: symbol, Candles: candles}}}})
		if err != nil {
			t.Fatal(err)
		}

		live := story{untilMS: untilMS}
		money := runLive(t, symbol, candles, &live, untilMS, settingOf(rules))
		if have := money.Wallet.String(); have != result.Wallet {
			t.Errorf("wallet: backtest %s, live %s", result.Wallet, have)
		}
		if result.RoundTrips < 10 {
			t.Fatalf("the story is too short to prove anything: %d round trips", result.RoundTrips)
		}
		if rules.Trailing.Distance != 0 { // live a moving stop is bridged, since answers take time there
			recorded.lines, live.lines = recorded.outcomes(), live.outcomes()
		}
		compare(t, &recorded, &live, fills...)
		t.Logf("%d lines equal, %d fills, wallet %s", len(live.lines), result.Fills, result.Wallet)
	})
}

func lineAt(lines []string, i int) string {
	if i < 0 || i >= len(lines) {
		return "(nothing)"
	}
	return lines[i]
}

// runLive runs the live driver until just before the last candle is seen closed.
func runLive(t *testing.T, symbol *exchange.Symbol, candles *exchange.Candles, live *story, untilMS int64,
	setting func(*testing.T, *exchange.Symbol) engine.StrategyConfig) sim.Money {
	money, _ := runBooked(t, symbol, candles, live, untilMS, setting, 0, noJournal{})
	return money
}

// runBooked is runLive with funding payments at a rate, and returns the journal and the status, too.
func runBooked(t *testing.T, symbol *exchange.Symbol, candles *exchange.Candles, live *story, untilMS int64,
	setting func(*testing.T, *exchange.Symbol) engine.StrategyConfig, funding exchange.Rate, journal runtime.Journal) (sim.Money, engine.Status) {
	venue, err := sim.New(sim.Config{Symbols: []*exchange.Symbol{symbol}, StartMS: time.Now().UnixMilli()})
	if err != nil {
		t.Fatal(err)
	}
	if err := venue.AddAccount(sim.AccountConfig{Name: parityAccount, FuturesUSDT: exchange.AmountOf(10_000), FuturesMaker: 20_000,
		FuturesTaker: 50_000, Leverage: 3, Spot: map[string]exchange.Amount{"USDT": exchange.AmountOf(10_000)}, SpotMaker: 20_000,
		SpotTaker: 50_000}); err != nil {
		t.Fatal(err)
	}
	venue.SetMarket(symbol.Key(), sim.Tape(candles, sim.TapeConfig{Funding: funding}))
	served, err := server.New(server.Config{Exchange: venue, Accounts: []server.Account{{Key: parityAccount, Secret: "a secret of this test"}}})
	if err != nil {
		t.Fatal(err)
	}
	listener := pipe.NewListener()
	serving, stopServing := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- served.Serve(serving, listener) }()
	pipe := listener.Client()
	client, err := rest.New(rest.Config{BaseURL: "http://127.0.0.1", Key: parityAccount, Secret: []byte("a secret of this test"),
		Transport: pipe.Transport})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.RefreshSymbols(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := client.SyncClock(t.Context()); err != nil {
		t.Fatal(err)
	}
	wired, found := client.Symbols().Symbol(symbol.Key())
	if !found {
		t.Fatal("the venue does not list the symbol")
	}
	machine, err := engine.New(
		engine.Config{
			Instance:   "live",
			Epoch:      1,
			Random:     "00000",
			Strategies: []engine.StrategyConfig{setting(t, wired)},
			Limits:     risk.Limits{},
			Bounds: placement.Bounds{
				WindowMS:     5000,
				VisibilityMS: 1000,
				StalenessMS:  1000,
			},
			BusyRoundMS:  1000,
			IdleRoundMS:  15_000,
			CloseLagMS:   2000,
			TimeToLiveMS: 5000,
			TakerFee:     50_000,
			Ledger:       true,
		},
		reconcile.NewTracker(placement.Bounds{WindowMS: 5000, VisibilityMS: 1000, StalenessMS: 1000}),
	)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Until(time.UnixMilli(untilMS)))
	defer cancel()
	driver := runtime.New(runtime.Config{Machine: machine, Venue: client, Journal: journal, Clock: client, Notes: live.note})
	if err := driver.Run(ctx); err != nil {
		t.Fatal(err)
	}
	stopServing()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	pipe.CloseIdleConnections()
	return venue.Money(parityAccount), machine.Status()
}
