package library

import "botd/strategy"

// buyAndHold buys once and holds. It is the benchmark for every other strategy and loses as much as
// the market loses.
func buyAndHold() strategy.Definition {
	return strategy.Define("buy_and_hold", "buys once and holds the position",
		func(setting strategy.Setting, _ struct{}) (strategy.Strategy, error) {
			return &holding{sized(setting).Target(1)}, nil
		})
}

type holding struct{ target strategy.Target }

func (holding) Warmup() int           { return 0 }
func (holding) Candle(*strategy.View) {}

func (h holding) Decide(_ *strategy.View, plan *strategy.Plan) {
	plan.Hold(h.target, "buys once and holds")
}
