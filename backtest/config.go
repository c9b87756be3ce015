package backtest

import (
	"fmt"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/runtime/engine"
	"botd/strategy"
)

// Config is one backtest: strategies with their candles, one account, and the costs of trading.
type Config struct {
	Legs         []Leg
	Cash         exchange.Amount // USDT in the wallet of each market that a leg trades on
	Costs        Costs
	Limits       risk.Limits   // of the account
	RiskFree     exchange.Rate // annual interest, subtracted from each return of the ratios
	ConfigSHA256 string
	Version      string
	Inputs       *Inputs   // the inputs of the run, for the report; nil for none
	Signals      []Signal  // from outside, in order of time, each given to its strategy at its time
	Warnings     []Warning // about the inputs, for the report

	// For a sweep with a split: the time omitted before it, and the time omitted after it.
	PurgeMS, EmbargoMS int64

	StopWhen StopWhen              // ends the run early; its figures cover the time until then
	Progress func(done, total int) // in candles, called from time to time
	Pace     func(done, total int) // called in every run, auxiliary ones included; it may wait, to leave processor time to others
	Rest     bool                  // each trial of a sweep pauses for as long as it works
	MaxFills int                   // maximum fills of a run; more is an error. 0 for no limit but memory
	InTurn   bool                  // RunColumns and RunStudy run one after the other, on the caller's goroutine
	Record   func(*record.Record)  // every journal record; nil for none
	Ledger   bool                  // the engine also books the account's money, as it does live; it costs time per fill and changes nothing
	Note     func(*engine.Note)    // every fact but those of fills and positions; nil for none

	FiguresOnly bool // the result has no rows, no curve and no hash, for a caller who reads none of them

	decided *[]decision // receives every decision; nil for none

	auxiliary bool // a secondary run, whose curve is not stored
	choosing  bool // of a walk's trials: only the part before the split, and only its figures
	walk      bool // tests: play every candle's path, even where nothing can happen on it
	engine    bool // use the engine even where the direct machine suffices
}

// summary reports whether nobody reads a run's curve and rows.
func (c *Config) summary() bool { return c.auxiliary || c.FiguresOnly }

// Leg is one strategy on one symbol of the account.
type Leg struct {
	Strategy engine.StrategyConfig // the tape's symbol, which may have finer scales, replaces Symbol
	Kind     string                // the strategy's registry name
	Tape     *tape.Tape
	Funding  []tape.FundingRow // of the symbol, in time order; without any, the costs' constant rate applies
	Detail   *tape.Tape        // a finer series of the same symbol and scale; nil for none
	Trades   *exchange.Trades  // of the symbol, in the tape's units, replacing the guessed path; nil for none
	Plots    []strategy.Plot   // the indicators that the strategy reads, for the report's chart; nil for none

	// Make returns a fresh strategy over a tape, for repeated runs. It is nil when Strategy.Strategy is set and one
	// run is enough.
	Make func(*tape.Tape) (strategy.Strategy, error)
}

// Fees are shares of a fill's value.
type Fees struct{ Maker, Taker exchange.Rate }

// Costs are the costs of trading and the assumptions about the market.
type Costs struct {
	Futures, Spot Fees
	FeeFromQuote  bool          // spot: fees in USDT on both sides; else from the asset received, as the exchange takes them
	Slippage      exchange.Rate // share of the price that a taker pays more
	Impact        exchange.Rate // additional share, times the order's share of the candle's volume
	VolumeCap     exchange.Rate // share of a candle's volume that orders may fill; 0 for no limit
	LatencyMS     int64         // from placement to the order book
	LaterMS       int64         // a delay of the decision on top of the latency; nothing before it counts
	Through       bool          // a resting order fills when the price goes a tick through it; else on a touch
	Queue         exchange.Rate // share of a recorded trade at a resting order's price that reaches the order
	Path          sim.PathOrder // through a candle
	Funding       exchange.Rate // of each payment, where no rates are recorded
}

func (c *Costs) of(market exchange.Market) Fees {
	if market == exchange.Spot {
		return c.Spot
	}
	return c.Futures
}

// check validates a configuration before a run.
func (c *Config) check() error {
	switch {
	case c.Cash.Sign() <= 0:
		return fmt.Errorf("cash %s: a backtest needs money to begin with; set backtest.cash above 0", c.Cash)
	case len(c.Legs) == 0:
		return fmt.Errorf("a backtest needs a strategy")
	case c.Costs.Slippage < 0 || c.Costs.Slippage > exchange.RateOne/2:
		return fmt.Errorf("slippage %s is outside 0..0.5 of the price", c.Costs.Slippage)
	case c.Costs.Impact < 0 || c.Costs.Impact > exchange.RateOne:
		return fmt.Errorf("slippage by volume %s is outside 0..1 of the price", c.Costs.Impact)
	case c.Costs.VolumeCap < 0 || c.Costs.VolumeCap > exchange.RateOne:
		return fmt.Errorf("volume cap %s is outside 0..1 of a candle's volume", c.Costs.VolumeCap)
	}
	for i := range c.Legs {
		if err := c.Legs[i].check(); err != nil {
			return err
		}
	}
	return nil
}

func (l *Leg) check() error {
	candles := l.Tape.Candles
	if candles.Len() == 0 {
		return &tape.DataError{What: "the tape holds no candles"}
	}
	if candles.Interval != l.Strategy.Interval {
		return &tape.DataError{What: fmt.Sprintf("the candles are of %s, the strategy decides on %s", candles.Interval, l.Strategy.Interval),
			Hint: "set interval in the strategy file, or give candles of its interval"}
	}
	if l.Detail == nil {
		return nil
	}
	fine := l.Detail.Candles
	switch {
	case l.Detail.Symbol.PriceScale != l.Tape.Symbol.PriceScale:
		return &tape.DataError{
			What: fmt.Sprintf("the detail's prices have %d places, the candles' %d", l.Detail.Symbol.PriceScale, l.Tape.Symbol.PriceScale),
		}
	case fine.Len() == 0 || fine.Interval >= candles.Interval || candles.Interval%fine.Interval != 0:
		return &tape.DataError{
			What: fmt.Sprintf("%s: a detail of %s does not divide candles of %s", l.Strategy.Name, fine.Interval, candles.Interval),
			Hint: "give a series of a shorter interval",
		}
	}
	return nil
}

// bounds returns how long an order may be on its way unseen. A taker waits for the next price, which may lie behind
// the longest gap of its record.
func (c *Config) bounds() placement.Bounds {
	window := c.Costs.LatencyMS + c.Costs.LaterMS
	if window > 0 || c.Costs.VolumeCap > 0 || len(c.Legs) > 1 || c.Legs[0].Trades != nil {
		longest := int64(0)
		for i := range c.Legs {
			candles := c.Legs[i].Tape.Candles
			longest = max(longest, int64(candles.Interval))
			for j := 1; j < candles.Len(); j++ {
				longest = max(longest, candles.OpenMS[j]-candles.OpenMS[j-1])
			}
			if trades := c.Legs[i].Trades; trades != nil {
				longest = max(longest, longestGap(trades.TimeMS))
			}
		}
		window += longest
	}
	return placement.Bounds{WindowMS: window, VisibilityMS: 1, StalenessMS: 1}
}

func longestGap(timeMS []int64) (longest int64) {
	for i := 1; i < len(timeMS); i++ {
		longest = max(longest, timeMS[i]-timeMS[i-1])
	}
	return longest
}

// made gives every leg a strategy: a fresh one if the leg has a Make.
func (c *Config) made() error {
	legs := make([]Leg, len(c.Legs))
	copy(legs, c.Legs)
	for i := range legs {
		l := &legs[i]
		if l.Make == nil {
			continue
		}
		fresh, err := l.Make(l.Tape)
		if err != nil {
			return fmt.Errorf("strategy %s: %w", l.Strategy.Name, err)
		}
		l.Strategy.Strategy = fresh
	}
	c.Legs = legs
	return nil
}
