package benchmark

import (
	"fmt"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/strategy"
)

// sweepTrials is the number of trials to measure, each over a fifth of the candles.
const sweepTrials, sweepShare = 4, 5

// sweep measures the trials of a sweep that trades often.
func (b *Benchmark) sweep(plain *measured) error {
	size := strategy.Size{Equity: exchange.RateOne}
	candles := b.Candles / sweepShare
	recorded := &tape.Tape{Symbol: b.recorded.Symbol, Candles: b.recorded.Candles.Slice(0, candles)}
	what := fmt.Sprintf("a sweep of %d trials over %d candles, sma_cross 10/50", sweepTrials, candles)
	m, err := b.best(what, sweepTrials*candles, func() (fills int, err error) {
		config := b.costs()
		trials := make([]backtest.Trial, sweepTrials)
		for i := range trials {
			leg, err := b.leg(recorded, "sma_cross", size, strategy.Values{"fast": "10", "slow": "50"})
			if err != nil {
				return 0, err
			}
			config.Legs, trials[i].Leg = []backtest.Leg{leg}, leg
		}
		if _, err = backtest.Sweep(b.Ctx, config, trials, 0, nil); err != nil {
			return 0, err
		}
		for i := range trials {
			fills += trials[i].Seen.Fills
		}
		return fills, nil
	})
	if err != nil {
		return err
	}
	m.Times = plain.Speed / m.Speed
	b.Result.Engine = append(b.Result.Engine, m)
	return nil
}
