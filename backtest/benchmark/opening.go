package benchmark

import (
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/runtime/engine"
	"botd/strategy"
)

// Opening is the cost of acknowledgments when all strategies of an account open in one round. The engine and the
// simulated exchange share a process; there is no request budget and no disk.
type Opening struct {
	Strategies   int     `json:"strategies"`
	Median       int64   `json:"p50_ms"` // from the deriving round to the acknowledgment; the clock follows processor time
	Last         int64   `json:"last_ms"`
	Microseconds float64 `json:"us"` // of processor time per opening: derivation, the exchange's part, acknowledgment
}

// openings lists the numbers of strategies to measure.
var openings = []int{1, 500, 2_000}

// opening measures acknowledgments.
func (b *Benchmark) opening() error {
	numbers, used := b.strategies, b.used
	if numbers == nil {
		numbers = openings
	}
	if used == nil {
		used = spent
	}
	for _, strategies := range numbers {
		best := Opening{}
		for i := range b.Runs {
			fmt.Fprintln(b.Progress, "measuring the openings of", strategies, "strategies in one round")
			o, err := measureOpening(strategies, used)
			if err != nil {
				return err
			}
			if i == 0 || o.Microseconds < best.Microseconds {
				best = o
			}
		}
		b.Result.Opening = append(b.Result.Opening, best)
	}
	return nil
}

// buyer buys the minimum quantity at its first decision, and holds it.
type buyer struct{}

func (buyer) Warmup() int           { return 1 }
func (buyer) Candle(*strategy.View) {}
func (buyer) Decide(_ *strategy.View, plan *strategy.Plan) {
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: 1}, "it holds")
}

// account is an engine on the simulated exchange. Its clock follows processor time, and skips idle time.
type account struct {
	venue   *sim.Exchange
	machine *engine.Engine
	calls   []engine.Call
	used    func() time.Duration // of the processor
	ahead   int64                // of processor time, in milliseconds
	from    time.Duration
	opened  time.Duration // start of the round that derived the first opening
	delays  []int64       // of acknowledgments, in milliseconds
	effects engine.Effects
}

// openingConfig returns the pace, the bounds and the breaker of a live account.
func openingConfig() engine.Config {
	return engine.Config{Instance: "bench", Epoch: 1, Random: "00000", BusyRoundMS: 1_000, IdleRoundMS: 15_000, CloseLagMS: 2_000, TimeToLiveMS: 5_000,
		Breaker: engine.BreakerConfig{Uncertain: 3, WithinMS: 600_000, PauseMS: 600_000},
		Bounds:  placement.Bounds{WindowMS: 5_000, VisibilityMS: 1_000, StalenessMS: 1_000}}
}

// newAccount returns an account with one strategy on each of that many symbols.
func newAccount(strategies int, used func() time.Duration) (*account, error) {
	config := openingConfig()
	var symbols []*exchange.Symbol
	for i := range strategies {
		name := fmt.Sprintf("C%04d", i)
		symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Futures, Name: name + "-USDT", Base: name, Quote: "USDT",
			PriceTick: decimal.New(1, -1), QuantityTick: decimal.NewFromInt(1), MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000_000),
			Tradable: true, Cancelable: true, FundingIntervalHours: 8, Brackets: sim.DefaultBrackets()})
		if err != nil {
			return nil, err
		}
		symbols = append(symbols, symbol)
		config.Strategies = append(config.Strategies, engine.StrategyConfig{Name: name, Symbol: symbol, Interval: exchange.Minute1, Strategy: buyer{}})
	}
	venue, err := sim.New(sim.Config{Symbols: symbols, StartMS: benchStartMS})
	if err != nil {
		return nil, err
	}
	if err := venue.AddAccount(sim.AccountConfig{Name: "one", FuturesUSDT: exchange.AmountOf(10_000_000), Leverage: 1}); err != nil {
		return nil, err
	}
	machine, err := engine.New(config, reconcile.NewTrackerWithoutLedger(config.Bounds))
	return &account{venue: venue, machine: machine, used: used, from: used()}, err
}

// began is the start of this measurement, for systems that do not report processor time.
var began = time.Now()

// spent returns the processor time used so far, or the elapsed time where the system does not report it.
func spent() time.Duration {
	if used := processorTime(); used != 0 {
		return used
	}
	return time.Since(began)
}

func (a *account) nowMS() int64 { return benchStartMS + a.ahead + (a.used() - a.from).Milliseconds() }

// handle gives the engine an event. Its records are durable at once; its calls are queued.
func (a *account) handle(event engine.Event) {
	for event != nil {
		a.effects.Reset()
		began := a.used()
		a.machine.Handle(a.nowMS(), event, &a.effects)
		event = nil
		if len(a.effects.Records) > 0 {
			event = &engine.EventJournaled{}
		}
		a.calls = append(a.calls, a.effects.Calls...)
		for i := range a.effects.Notes {
			switch taken := a.effects.Notes[i].Fact.(type) {
			case engine.NoteApproved:
				if a.opened == 0 {
					a.opened = began
				}
			case engine.NoteAcknowledged:
				a.delays = append(a.delays, taken.DurationMS)
			}
		}
	}
}

// step performs the oldest call, or advances the clock to the engine's next wake-up.
func (a *account) step() {
	if len(a.calls) == 0 {
		a.ahead += max(0, a.machine.NextMS()-a.nowMS())
		a.handle(&engine.EventWake{})
		return
	}
	call := a.calls[0]
	a.calls = a.calls[1:]
	a.venue.Advance(a.nowMS())
	answer, err := a.venue.Do("one", &call.Request)
	a.handle(&engine.EventAnswer{CallID: call.ID, Answer: answer, Err: err})
}

// stepsEach is the maximum number of steps that a strategy needs until its opening is acknowledged.
const stepsEach = 100

func measureOpening(strategies int, used func() time.Duration) (Opening, error) {
	a, err := newAccount(strategies, used)
	if err != nil {
		return Opening{}, err
	}
	a.handle(&engine.EventStart{})
	for range strategies * stepsEach {
		if len(a.delays) == strategies {
			return openingOf(a.delays, used()-a.opened), nil
		}
		a.step()
	}
	return Opening{}, fmt.Errorf("%d of %d openings were acknowledged", len(a.delays), strategies)
}

// openingOf returns the figures of openings with these delays, in milliseconds, that used this processor time together.
func openingOf(delays []int64, used time.Duration) Opening {
	n := len(delays)
	slices.Sort(delays)
	return Opening{n, delays[n/2], delays[n-1], float64(used.Microseconds()) / float64(n)}
}
