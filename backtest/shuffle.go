package backtest

import (
	"math/rand/v2"
	"slices"

	"botd/exchange"
)

// Shuffles reorders the round trips. Every order leads to the same end, but on a different path, and the actual order
// is one of many possible ones.
type Shuffles struct {
	Count    int     `json:"count"`
	Seed     uint64  `json:"seed"`
	Trips    int     `json:"round_trips"`
	Happened float64 `json:"happened_pct"` // the maximum drawdown by round trips, in their actual order
	Fifth    float64 `json:"p5_pct"`
	Quarter  float64 `json:"p25_pct"`
	Median   float64 `json:"median_pct"`
	Third    float64 `json:"p75_pct"`
	Worst    float64 `json:"p95_pct"` // one order in twenty has a deeper drawdown
}

const (
	shuffles     = 1_000
	shuffleSteps = 20_000_000 // in total: with very many round trips there are fewer shuffles
	shuffleSeed  = 1
	minShuffle   = 10 // round trips
)

// shuffle measures the maximum drawdown over round trips in random order. Each counts as its share of the equity at
// the time.
func shuffle(result *Result) *Shuffles {
	returns := tripReturns(result)
	if len(returns) < minShuffle {
		return nil
	}
	s := &Shuffles{Count: max(100, min(shuffles, shuffleSteps/len(returns))), Seed: shuffleSeed, Trips: len(returns),
		Happened: rounded(float64(100 * deepest(returns)))}
	random := rand.New(rand.NewPCG(shuffleSeed, shuffleSeed))
	falls := make([]float64, s.Count)
	for i := range falls {
		random.Shuffle(len(returns), func(a, b int) { returns[a], returns[b] = returns[b], returns[a] })
		falls[i] = float64(100 * deepest(returns))
	}
	slices.Sort(falls)
	at := func(share float64) float64 { return rounded(quantile(falls, share)) }
	s.Fifth, s.Quarter, s.Median, s.Third, s.Worst = at(0.05), at(0.25), at(0.5), at(0.75), at(0.95)
	return s
}

// tripReturns returns the round trips as shares of the equity at their end, in the order of their ends. It returns
// none if the equity was lost.
func tripReturns(result *Result) []float64 {
	trips := slices.Clone(result.Trips)
	slices.SortStableFunc(trips, func(a, b TripRow) int { return int(a.LeftMS - b.LeftMS) })
	equity, returns := exchange.MustAmount(result.InitialEquity).Float(), make([]float64, 0, len(trips))
	for _, t := range trips {
		if equity <= 0 {
			return nil
		}
		profit := exchange.MustAmount(t.PNL).Float()
		returns, equity = append(returns, profit/equity), equity+profit
	}
	return returns
}

// deepest returns the maximum drawdown of a value that grows by returns.
func deepest(returns []float64) float64 {
	equity, peak, depth := 1.0, 1.0, 0.0
	for _, r := range returns {
		equity = float64(equity * (1 + r))
		if equity > peak {
			peak = equity
			continue
		}
		depth = max(depth, 1-equity/peak)
	}
	return depth
}
