package backtest_test

import (
	"testing"

	"botd/backtest"
	"botd/exchange"
)

// TestAnOrderWaitsForVolumeInTheBook covers candles without trades, as records of small symbols have by the
// thousand. Under a volume cap an order waits for the first candle with volume, and the exchange shows it
// from its arrival on. If it were hidden all that time, it would count as lost.
func TestAnOrderWaitsForVolumeInTheBook(t *testing.T) {
	t.Parallel()
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		for _, latencyMS := range []int64{0, 1_500} {
			recorded := flatTape(t, market, 60, "100")
			for i := 2; i < 50; i++ {
				recorded.Candles.Volume[i] = 0
			}
			config := caseConfig(recorded, &scripted{targets: hold(t, recorded.Symbol, ". 0.4 . . . . .")})
			config.Costs.VolumeCap, config.Costs.LatencyMS = exchange.RateOne/2, latencyMS
			result := mustRun(t, config)
			for _, code := range []string{backtest.StrategyFailed, backtest.Quarantined, backtest.Halted} {
				if coded(result, code) {
					t.Errorf("%s, latency %d: want no %s, have %v", market, latencyMS, code, result.Warnings)
				}
			}
			at := recorded.Candles.OpenMS[50]
			if len(result.Executions) != 1 || result.Executions[0].TimeMS < at || result.Executions[0].TimeMS > at+latencyMS {
				t.Errorf("%s, latency %d: want one fill with the first volume, at %d, have %+v", market, latencyMS, at, result.Executions)
			}
		}
	}
}
