package benchmark

import "botd/strategy"

// noTarget is a strategy without a target.
type noTarget struct{}

func (noTarget) Warmup() int                           { return 0 }
func (noTarget) Candle(*strategy.View)                 {}
func (noTarget) Decide(*strategy.View, *strategy.Plan) {}

// turning is long for 37 candles, then flat for as many.
type turning struct {
	size strategy.Size
	seen int
}

func (*turning) Warmup() int             { return 0 }
func (t *turning) Candle(*strategy.View) { t.seen++ }
func (t *turning) Decide(_ *strategy.View, plan *strategy.Plan) {
	if sign := int64(t.seen / 37 % 2); t.seen%37 == 0 {
		plan.Hold(t.size.Target(sign), "its turn")
	}
}
