// Package backtest the recorded driver: measures, reports, sweeps.
//
// It drives the very engine that trades live, over recorded candles, on the
// simulated exchange in process. Under next_open what a strategy decides on a
// candle's close reaches the market at the next candle's open.
package backtest

import (
	"context"
	"fmt"
	"time"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/reconcile"
	"botd/risk"
	"botd/runtime/engine"
)

// Config is one backtest: a strategy, its candles, and what trading costs.
type Config struct {
	Strategy     engine.StrategyConfig // Symbol is replaced by the tape's, which may have finer scales
	Kind         string                // the strategy's registry name
	Tape         *tape.Tape
	Cash         exchange.Amount // USDT
	Maker, Taker exchange.Rate
	FeeFromQuote bool // spot: fees in USDT on both sides; else from the asset received, as the exchange takes them
	Slippage     exchange.Rate
	LatencyMS    int64 // an order reaches the book this much later
	Limits       risk.Limits
	Funding      []tape.FundingRow // of the symbol, in time order; none is rate 0
	ConfigSHA256 string
	Version      string

	Progress func(done, total int)   // candles, called now and then
	Record   func(*reconcile.Record) // every journal record; nil for none
	Note     func(*engine.Note)      // every fact; nil for none

	walk bool // tests: play every candle's path, also where nothing can happen on it
}

const (
	account   = "backtest"
	progress  = 1 << 12 // candles between two calls of Progress
	instance  = "bt"
	maxRounds = 10_000 // at one moment: more is a loop that does not converge
)

// Run runs one backtest. It ends early with the context's error.
func Run(ctx context.Context, config Config) (*Result, error) {
	began := time.Now()
	r, err := newRun(&config)
	if err != nil {
		return nil, err
	}
	if err := r.loop(ctx); err != nil {
		return nil, err
	}
	return r.result(time.Since(began))
}

func newRun(config *Config) (*run, error) {
	if config.Slippage != 0 {
		return nil, fmt.Errorf("slippage %s: this version models no slippage; set backtest.slippage to 0 (fees and latency are modelled)", config.Slippage)
	}
	symbol, candles := config.Tape.Symbol, config.Tape.Candles
	if config.Cash.Sign() <= 0 {
		return nil, fmt.Errorf("cash %s: a backtest needs money to begin with; set backtest.cash above 0", config.Cash)
	}
	if candles.Len() == 0 {
		return nil, &tape.DataError{What: "the tape holds no candles"}
	}
	if candles.Interval != config.Strategy.Interval {
		return nil, &tape.DataError{What: fmt.Sprintf("the candles are of %s, the strategy decides on %s", candles.Interval, config.Strategy.Interval),
			Hint: "set interval in the strategy file, or give candles of its interval"}
	}
	venue, err := sim.New(sim.Config{Symbols: []*exchange.Symbol{symbol}, StartMS: candles.OpenMS[0] - 1, OrderDelayMS: config.LatencyMS})
	if err != nil {
		return nil, err
	}
	settings := sim.AccountConfig{Name: account, FuturesMaker: config.Maker, FuturesTaker: config.Taker, SpotMaker: config.Maker, SpotTaker: config.Taker,
		Leverage: config.Strategy.Leverage, FeeFromQuote: config.FeeFromQuote}
	if symbol.Market == exchange.Spot {
		settings.Spot = map[string]exchange.Amount{symbol.Quote: config.Cash}
	} else {
		settings.FuturesUSDT = config.Cash
	}
	if err := venue.AddAccount(settings); err != nil {
		return nil, err
	}
	venue.SetMarket(symbol.Key(), sim.Tape(candles, sim.TapeConfig{}))
	if symbol.Market == exchange.Futures {
		venue.SetFunding(symbol.Name, fundingOf(config.Funding))
	}
	config.Strategy.Symbol = symbol
	machine, err := engine.New(engine.Config{
		Instance: instance, Epoch: 1, Strategies: []engine.StrategyConfig{config.Strategy}, Limits: config.Limits, TimeToLive: 5_000,
		TakerFee: config.Taker, Feed: true, Quiet: true,
	}, reconcile.NewBook(reconcile.Settle{WindowMS: config.LatencyMS, VisibilityMS: 1, StalenessMS: 1}))
	if err != nil {
		return nil, err
	}
	r := &run{config: config, symbol: symbol, key: symbol.Key(), candles: candles, venue: venue, machine: machine}
	r.ledger.begin(config, r)
	return r, nil
}

func fundingOf(rows []tape.FundingRow) []sim.FundingPoint {
	points := make([]sim.FundingPoint, len(rows))
	for i, row := range rows {
		points[i] = sim.FundingPoint{TimeMS: row.TimeMS, Rate: row.Rate}
	}
	return points
}
