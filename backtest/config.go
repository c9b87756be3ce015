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

// Config is one backtest: strategies on their candles, one account, and what
// trading costs.
type Config struct {
	Legs         []Leg
	Cash         exchange.Amount // USDT in the wallet of each market that a leg trades on
	Costs        Costs
	Limits       risk.Limits   // of the account
	RiskFree     exchange.Rate // a year's interest, taken off each return of the ratios
	ConfigSHA256 string
	Version      string
	Inputs       *Inputs   // what the run was made of, for the report; nil for none
	Signals      []Signal  // from outside, in order of time, each given to its strategy at its time
	Warnings     []Warning // of what it was made of, for the report

	// Of a sweep with a split: what is left out of the part before it, and of the part after it.
	PurgeMS, EmbargoMS int64

	StopWhen StopWhen              // the run ends early; its figures are those until then
	Progress func(done, total int) // candles, called now and then
	Pace     func(done, total int) // the same in every run, those beside the configured one too; it may wait, to leave the machine to others
	Rest     bool                  // each trial of a sweep rests as long as it works
	Most     int                   // fills of a run; more is an error. 0 for as many as the memory holds
	InTurn   bool                  // the runs of RunColumns and RunStudy one after the other, by the goroutine that asked
	Record   func(*record.Record)  // every journal record; nil for none
	Ledger   bool                  // the engine books the account's money too, as it does live; it costs time by the fill and changes nothing
	Note     func(*engine.Note)    // every fact but those of fills and positions; nil for none

	auxiliary bool // a run beside the main one, of which no curve is stored
	walk      bool // tests: play every candle's path, also where nothing can happen on it
	engine    bool // the engine is the machine, whatever the direct one covers
}

// Leg is one strategy on one symbol of the account.
type Leg struct {
	Strategy engine.StrategyConfig // Symbol is replaced by the tape's, which may have finer scales
	Kind     string                // the strategy's registry name
	Tape     *tape.Tape
	Funding  []tape.FundingRow // of the symbol, in time order; none is the costs' constant rate
	Detail   *tape.Tape        // a finer series of the same symbol and scale; nil for none
	Trades   *exchange.Trades  // of the symbol, in the tape's units, in place of the guessed path; nil for none
	Plots    []strategy.Plot   // the indicators that the strategy reads, for the report's chart; nil for none

	// Make returns a fresh strategy over a tape, for runs that are repeated; nil
	// when Strategy.Strategy is there and one run is all that is wanted.
	Make func(*tape.Tape) (strategy.Strategy, error)
}

// Fees are shares of a fill's value.
type Fees struct{ Maker, Taker exchange.Rate }

// Costs are what trading costs, and what is assumed of the market.
type Costs struct {
	Futures, Spot Fees
	FeeFromQuote  bool          // spot: fees in USDT on both sides; else from the asset received, as the exchange takes them
	Slippage      exchange.Rate // share of the price that a taker pays more
	Impact        exchange.Rate // as much more, times the order's share of the candle's volume
	VolumeCap     exchange.Rate // share of a candle's volume that orders fill; 0 is no bound
	LatencyMS     int64         // from placement to the book
	LaterMS       int64         // on top of the latency: a delay of the decision, before which nothing counts
	Through       bool          // a resting order fills when the price has gone a tick through it; else on a touch
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

// check says what is wrong with a configuration, before anything is made of it.
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

// settle is how long an order may be on its way unseen: what takes waits for the
// next price, and that may be behind the longest hole of its record.
func (c *Config) settle() placement.Settle {
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
	return placement.Settle{WindowMS: window, VisibilityMS: 1, StalenessMS: 1}
}

func longestGap(timeMS []int64) (longest int64) {
	for i := 1; i < len(timeMS); i++ {
		longest = max(longest, timeMS[i]-timeMS[i-1])
	}
	return longest
}

// made gives every leg a strategy: a fresh one where the leg can make it.
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
