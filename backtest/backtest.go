// Package backtest runs the engine on recorded candles, measures the result, and sweeps parameters.
//
// It runs the same engine as live trading, over recorded candles on a simulated exchange in
// the same process. With next_open, a decision at a candle's close reaches the market at the
// next candle's open.
package backtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/runtime/engine"
)

const (
	account      = "backtest"
	progress     = 1 << 12 // candles between two calls of Progress and StopWhen
	instance     = "bt"
	random       = "00000" // of client order ids: every run uses the same value
	storedOrders = 5_000   // finished orders that the exchange still reports: the engine fetches them at once
	storedDirect = 64      // the same for the direct machine, which reads only its last order
	maxRounds    = 10_000  // at one moment: more indicate a loop that does not converge
)

// Run runs one backtest. It returns the context's error when the context ends first.
func Run(ctx context.Context, config Config) (*Result, error) {
	began := time.Now()
	r, err := config.played(ctx)
	if err != nil {
		return nil, err
	}
	result, err := r.result(time.Since(began))
	if config.summary() {
		r.ledger.recycleRows()
	}
	return result, err
}

// played runs a configuration to its end. If the direct machine meets a case that it does not cover, the run
// starts over with the engine.
func (c Config) played(ctx context.Context) (*run, error) {
	r, err := newRun(&c)
	if err != nil {
		return nil, err
	}
	if err = r.loop(ctx); !errors.Is(err, errUncovered) {
		return r, err
	}
	why := r.direct.uncovered
	c.engine = true
	if c.decided != nil {
		*c.decided = (*c.decided)[:0]
	}
	if r, err = newRun(&c); err != nil {
		return nil, err
	}
	r.indirect = why
	return r, r.loop(ctx)
}

func newRun(config *Config) (*run, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	if err := config.made(); err != nil {
		return nil, err
	}
	venue, err := newVenue(config)
	if err != nil {
		return nil, err
	}
	r := &run{config: config, venue: venue}
	r.legs = make([]leg, len(config.Legs))
	for i := range config.Legs {
		r.legs[i].begin(&config.Legs[i], venue)
	}
	if err := r.put(); err != nil {
		return nil, err
	}
	r.ledger.begin(r)
	return r, nil
}

// machineConfig returns the engine's configuration.
func (r *run) machineConfig() engine.Config {
	config := r.config
	machine := engine.Config{
		Instance: instance, Epoch: 1, Random: random, Limits: config.Limits, TimeToLiveMS: 5_000, Feed: true, Quiet: true, Ledger: config.Ledger,
		TakerFee:  config.Costs.of(config.Legs[0].Tape.Symbol.Market).Taker,
		QuoteFees: config.Costs.FeeFromQuote,
		Read:      func(request *exchange.Request) (exchange.Answer, error) { return r.venue.Do(account, request) },
	}
	for i := range config.Legs {
		given := &config.Legs[i]
		given.Strategy.Symbol = given.Tape.Symbol
		machine.Strategies = append(machine.Strategies, given.Strategy)
		if given.Tape.Symbol.Market == exchange.Spot {
			machine.TakerFee = config.Costs.Spot.Taker // reserved where fees are paid from the same balance
		}
	}
	return machine
}

// newVenue returns the exchange with one account and a tape on every leg's symbol.
func newVenue(config *Config) (*sim.Exchange, error) {
	startMS := config.Legs[0].Tape.Candles.OpenMS[0]
	costs := sim.Costs{Slippage: config.Costs.Slippage, Impact: config.Costs.Impact, VolumeCap: config.Costs.VolumeCap, Bounded: true,
		Through: config.Costs.Through, LaterMS: config.Costs.LaterMS}
	fees := config.Costs
	settings := sim.AccountConfig{Name: account, FuturesMaker: fees.Futures.Maker, FuturesTaker: fees.Futures.Taker,
		SpotMaker: fees.Spot.Maker, SpotTaker: fees.Spot.Taker, Leverage: config.Legs[0].Strategy.Leverage, FeeFromQuote: fees.FeeFromQuote}
	var symbols []*exchange.Symbol
	for i := range config.Legs {
		symbol := config.Legs[i].Tape.Symbol
		symbols = append(symbols, symbol)
		startMS = min(startMS, config.Legs[i].Tape.Candles.OpenMS[0])
		if symbol.Market == exchange.Spot {
			settings.Spot = map[string]exchange.Amount{symbol.Quote: config.Cash}
		} else {
			settings.FuturesUSDT = config.Cash
		}
	}
	stored := storedOrders
	if config.indirect() == "" {
		stored = storedDirect
	}
	venue, err := sim.New(
		sim.Config{Symbols: symbols, StartMS: startMS - 1, OrderDelayMS: config.Costs.LatencyMS + config.Costs.LaterMS, MaxHistory: stored,
			ReuseLists: true},
	)
	if err != nil {
		return nil, err
	}
	if err := venue.AddAccount(settings); err != nil {
		return nil, err
	}
	for i := range config.Legs {
		given := &config.Legs[i]
		played := sim.TapeConfig{Order: fees.Path, Costs: costs, Funding: fees.Funding}
		if given.Detail != nil {
			played.Detail = given.Detail.Candles
		}
		market := sim.Tape(given.Tape.Candles, played)
		if given.Trades != nil {
			market = sim.Trades(given.Trades, sim.TradesConfig{Costs: costs, Queue: fees.Queue, Funding: fees.Funding})
		}
		venue.SetMarket(given.Tape.Symbol.Key(), market)
		if given.Tape.Symbol.Market == exchange.Futures {
			venue.SetFunding(given.Tape.Symbol.Name, fundingOf(given.Funding))
		}
		if given.Strategy.Leverage == settings.Leverage {
			continue
		}
		if err := setLeverage(venue, given); err != nil {
			return nil, err
		}
	}
	return venue, nil
}

// setLeverage sets the strategy's leverage on a symbol before any trading. A live account has it set and confirmed by
// then.
func setLeverage(venue *sim.Exchange, leg *Leg) error {
	symbol := leg.Tape.Symbol
	if symbol.Market != exchange.Futures || leg.Strategy.Leverage == 0 {
		return nil
	}
	request := exchange.Request{Operation: exchange.FuturesSetLeverage, Symbol: symbol.Name, Leverage: leg.Strategy.Leverage}
	if _, err := venue.Do(account, &request); err != nil {
		return fmt.Errorf("leverage of %s: %w", symbol.Name, err)
	}
	return nil
}

func fundingOf(rows []tape.FundingRow) []sim.FundingPoint {
	points := make([]sim.FundingPoint, len(rows))
	for i, row := range rows {
		points[i] = sim.FundingPoint{TimeMS: row.TimeMS, Rate: row.Rate}
	}
	return points
}
