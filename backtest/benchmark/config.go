package benchmark

import "botd/strategy"

// nothingWished wishes nothing.
type nothingWished struct{}

func (nothingWished) Warmup() int                           { return 0 }
func (nothingWished) Candle(*strategy.View)                 {}
func (nothingWished) Decide(*strategy.View, *strategy.Plan) {}
