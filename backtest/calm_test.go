package backtest_test

import (
	"math/rand/v2"
	"slices"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/strategy"
)

// seer is a strategy with a hash of everything that it sees.
type seer interface {
	strategy.Strategy
	note(values ...any)
	count() int // counts a candle, and returns their number
	saw() uint64
}

// positionOf returns the position that a strategy sees. Next to another strategy, the time since which it is flat depends on the
// rounds of both, and on when the view was filled: it is left out.
func positionOf(v *strategy.View, several bool) strategy.Position {
	p := v.Position
	if several && p.Quantity == 0 {
		p.SinceMS = 0
	}
	return p
}

// calmly is a seer that reports that most candles change nothing. At these it repeats its plan if it is
// asked, and sees only the candle's time and close. At the other candles it sees everything that a seer sees.
type calmly struct {
	seer
	seed    uint64
	each    int // candles between two decisions, about
	seen    int
	decided bool
	last    strategy.Plan
}

func (c *calmly) Candle(v *strategy.View) { c.take(v.NowMS, v.Candle().Close) }

func (c *calmly) take(closeMS int64, last exchange.Price) {
	c.seen = c.count()
	c.note("candle", closeMS, last)
}

// Stays is the same for a candle in every run.
func (c *calmly) Stays() bool {
	return rand.New(rand.NewPCG(c.seed, uint64(c.seen))).IntN(c.each) != 0
}

func (c *calmly) Decide(v *strategy.View, plan *strategy.Plan) {
	if c.decided && c.Stays() {
		plan.Merge(&c.last)
		return
	}
	c.seer.Decide(v, plan)
	c.decided, c.last = true, strategy.Plan{}
	c.last.Merge(plan)
}

// passing is a calmly that takes candles by column.
type passing struct{ calmly }

func (p *passing) Pass(candles *exchange.Candles, from, to int) (end int) {
	for at := from; at < to; at++ {
		if p.take(candles.CloseMS(at), candles.Close[at]); !p.Stays() {
			return at + 1
		}
	}
	return to
}

// calmed returns a function that wraps each strategy of a leg: not at all, in a calmly, or in a passing.
func calmed(draw *rand.Rand) func(seer) strategy.Strategy {
	kind, seed, each := draw.IntN(3), draw.Uint64(), 1+draw.IntN(12)
	return func(one seer) strategy.Strategy {
		switch kind {
		case 0:
			return one
		case 1:
			return &calmly{seer: one, seed: seed, each: each}
		}
		return &passing{calmly{seer: one, seed: seed, each: each}}
	}
}

// asked returns the configuration with its strategies asked at every candle, because they do not report that
// a candle changes nothing.
func asked(config backtest.Config) backtest.Config {
	config.Legs = slices.Clone(config.Legs)
	for i := range config.Legs {
		made := config.Legs[i].Make
		config.Legs[i].Make = func(over *tape.Tape) (strategy.Strategy, error) {
			one, err := made(over)
			return struct{ strategy.Strategy }{one}, err
		}
	}
	return config
}

// joined adds a leg of another symbol to a configuration in one of ten cases.
func joined(draw *rand.Rand, config *backtest.Config, other func() backtest.Config) {
	if draw.IntN(10) != 0 {
		return
	}
	leg := other().Legs[0]
	own := *leg.Tape.Symbol
	own.Name, own.Base = "ETH-USDT", "ETH"
	leg.Tape = &tape.Tape{Symbol: &own, Candles: leg.Tape.Candles}
	leg.Strategy.Name, leg.Strategy.Symbol, leg.Strategy.Leverage = "other", &own, config.Legs[0].Strategy.Leverage
	leg.Funding = slices.Clone(leg.Funding)
	for i := range leg.Funding {
		leg.Funding[i].Symbol = own.Name
	}
	config.Legs = append(config.Legs, leg)
}
