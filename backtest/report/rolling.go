package report

import (
	"math"
	"strconv"

	"botd/exchange"
)

// rollingDays is the window of the daily figures.
const rollingDays = 30

// rolling is the Sharpe ratio and volatility over the 30 days before each midnight.
type rolling struct {
	Time       []int64    `json:"t"`
	Sharpe     []*float64 `json:"s"`
	Volatility []float64  `json:"v"`
}

// rollingOf computes the figures from daily returns. The first day begins at firstMS.
func rollingOf(firstMS int64, returns []float64) rolling {
	var all rolling
	for i := rollingDays; i <= len(returns); i++ {
		mean, spread := 0.0, 0.0
		for _, r := range returns[i-rollingDays : i] {
			mean += r / rollingDays
		}
		for _, r := range returns[i-rollingDays : i] {
			spread += (r - mean) * (r - mean) / (rollingDays - 1)
		}
		spread = math.Sqrt(spread)
		var sharpe *float64
		if spread > 0 {
			sharpe = new(round(float64(mean/spread*math.Sqrt(365)), 3))
		}
		all.Time = append(all.Time, (firstMS+int64(i)*int64(exchange.Day1))/1000)
		all.Sharpe, all.Volatility = append(all.Sharpe, sharpe), append(all.Volatility, round(float64(100*spread*math.Sqrt(365)), 2))
	}
	return all
}

// dailyReturns returns the changes from midnight to midnight. They end when the equity is lost.
func dailyReturns(equity []float64) []float64 {
	var all []float64
	for i := 1; i < len(equity) && equity[i-1] > 0; i++ {
		all = append(all, equity[i]/equity[i-1]-1)
	}
	return all
}

func float(text string) float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return f
}

func round(f float64, places int) float64 {
	unit := math.Pow(10, float64(places))
	return math.Round(f*unit) / unit
}
