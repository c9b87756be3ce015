package benchmark

import (
	"botd/exchange"
	"botd/strategy"
)

// noTarget is a strategy without a target.
type noTarget struct{}

func (noTarget) Warmup() int                           { return 0 }
func (noTarget) Candle(*strategy.View)                 {}
func (noTarget) Decide(*strategy.View, *strategy.Plan) {}

// passing is a noTarget that takes candles by column.
type passing struct{ noTarget }

func (passing) Stays() bool                                   { return true }
func (passing) Pass(_ *exchange.Candles, _, to int) (end int) { return to }

// turning is long for 37 candles, then flat for as many. It takes candles by column.
type turning struct {
	size strategy.Size
	seen int
}

// aTurn is the length of a turn in candles.
const aTurn = 37

func (*turning) Warmup() int             { return 0 }
func (t *turning) Candle(*strategy.View) { t.seen++ }
func (t *turning) Stays() bool           { return t.seen%aTurn != 0 }

func (t *turning) Pass(_ *exchange.Candles, from, to int) (end int) {
	taken := min(to-from, aTurn-t.seen%aTurn)
	t.seen += taken
	return from + taken
}

func (t *turning) Decide(_ *strategy.View, plan *strategy.Plan) {
	if turn := t.seen / aTurn; turn > 0 {
		plan.Hold(t.size.Target(int64(turn%2)), "its turn")
	}
}
