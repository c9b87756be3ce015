package benchmark

import "botd/strategy"

// noTarget is a strategy without a target.
type noTarget struct{}

func (noTarget) Warmup() int                           { return 0 }
func (noTarget) Candle(*strategy.View)                 {}
func (noTarget) Decide(*strategy.View, *strategy.Plan) {}
