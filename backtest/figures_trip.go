package backtest

import (
	"math"
	"slices"
)

// TripFigures are the statistics of the round trips, net of fees and funding.
type TripFigures struct {
	WinRate       *float64 `json:"win_rate_pct"`
	AverageWin    *float64 `json:"average_win"`
	AverageLoss   *float64 `json:"average_loss"` // negative
	Payoff        *float64 `json:"payoff"`
	ExpectancyR   *float64 `json:"expectancy_r"` // in average losses
	SQNTrips      int      `json:"sqn_trips"`    // number of round trips that count in SQN
	SQN           *float64 `json:"sqn"`          // with the root of the count, capped at 100
	Kelly         *float64 `json:"kelly"`
	LongestWins   int      `json:"longest_wins"`
	LongestLosses int      `json:"longest_losses"`
	Best          *float64 `json:"best"`
	Worst         *float64 `json:"worst"`
	Holding       *Spread  `json:"holding_s"`
	Adverse       *Spread  `json:"mae_pct"`
	Favorable     *Spread  `json:"mfe_pct"`
}

// Spread describes the distribution of values.
type Spread struct {
	Minimum float64 `json:"least"`
	Tenth   float64 `json:"p10"`
	Median  float64 `json:"median"`
	Ninth   float64 `json:"p90"`
	Maximum float64 `json:"most"`
}

func spreadOf(values []float64) *Spread {
	if len(values) == 0 {
		return nil
	}
	all := sorted(values)
	return &Spread{all[0], rounded(quantile(all, 0.1)), rounded(quantile(all, 0.5)), rounded(quantile(all, 0.9)), all[len(all)-1]}
}

// sqnTrips is the maximum number of round trips that count in SQN. Beyond it, SQN would measure their number rather
// than their quality.
const sqnTrips = 100

func (l *measurement) tripFigures() (f TripFigures) {
	n := len(l.trips)
	if n == 0 {
		return f
	}
	profits, holding, adverse, favorable := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range l.trips {
		t := &l.trips[i]
		against, in := t.excursions(l.run.legs[t.leg].symbol)
		profits[i], holding[i] = t.PNL.Float(), float64(t.LeftMS-t.EnteredMS)/1000
		adverse[i], favorable[i] = rounded(float64(against*100)), rounded(float64(in*100))
	}
	f.Holding, f.Adverse, f.Favorable = spreadOf(holding), spreadOf(adverse), spreadOf(favorable)
	f.ofProfits(profits)
	return f
}

// ofProfits adds the figures that depend on the profits in order. A round trip with a profit of exactly zero is no
// win.
func (f *TripFigures) ofProfits(profits []float64) {
	n := len(profits)
	won, lost, wins, streakWon, streakLost := 0.0, 0.0, 0, 0, 0
	for _, p := range profits {
		if p > 0 {
			won, wins, streakWon, streakLost = won+p, wins+1, streakWon+1, 0
		} else {
			lost, streakWon, streakLost = lost-p, 0, streakLost+1
		}
		f.LongestWins, f.LongestLosses = max(f.LongestWins, streakWon), max(f.LongestLosses, streakLost)
	}
	f.Worst, f.Best = finite(slices.Min(profits)), finite(slices.Max(profits))
	rate := float64(wins) / float64(n)
	f.WinRate = finite(float64(100 * rate))
	if wins > 0 {
		f.AverageWin = finite(won / float64(wins))
	}
	mean, deviation := meanDeviation(profits)
	if losses := n - wins; losses > 0 && lost > 0 {
		loss := lost / float64(losses)
		f.AverageLoss, f.ExpectancyR = finite(-loss), finite(mean/loss)
		if wins > 0 {
			payoff := won / float64(wins) / loss
			f.Payoff, f.Kelly = finite(payoff), finite(rate-(1-rate)/payoff)
		}
	}
	if deviation > 0 {
		f.SQNTrips = min(n, sqnTrips)
		f.SQN = finite(math.Sqrt(float64(f.SQNTrips)) * mean / deviation)
	}
}

// meanEquity returns the mean over the closes.
func (l *measurement) meanEquity() float64 {
	if l.slots == 0 {
		return 0
	}
	return l.equities / float64(l.slots)
}
