package library

import (
	"fmt"
	"math"

	"github.com/shopspring/decimal"

	"botd/strategy"
	"botd/strategy/indicator"
)

type bollingerParams struct {
	Period     int             `param:"period" default:"20" min:"2" max:"5000" help:"candles of the mean"`
	Deviations decimal.Decimal `param:"deviations" default:"2" min:"0.1" max:"20" help:"deviations between the mean and the bands"`
	Mode       string          `param:"mode" default:"long_only" oneof:"long_only|long_short" help:"long_short: a close above the upper band sells short"`
}

// bollinger buys a close below the lower band and exits at the mean; short is the mirror image.
//
// It loses in a long fall, where the price follows the band down: use it with a stop.
func bollinger() strategy.Definition {
	return strategy.Define("bollinger", "buys a close below the lower band, exits at the mean",
		func(setting strategy.Setting, p bollingerParams) (strategy.Strategy, error) {
			bands := indicator.NewBollinger(p.Period, p.Deviations.InexactFloat64())
			reasons := [4]string{long: "the close is below the lower band", short: "the close is above the upper band", flat: "the close is back at the mean"}
			side := unchanged
			saw := [4]float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
			made, err := follow(setting, p.Mode, p.Period, reasons, func(view *strategy.View) desired {
				price := view.Symbol.PriceFloat(view.Close())
				upper, middle, lower, ok := bands.Next(price)
				if !ok {
					return unchanged
				}
				saw = [4]float64{price, upper, middle, lower}
				side = reverted(side, price < lower, price > upper, price >= middle, price <= middle)
				return side
			})
			return explain(made, err, func(*strategy.View) []strategy.Condition {
				return []strategy.Condition{
					strategy.Comparison("close", saw[0], "below", "the lower band", saw[3]),
					strategy.Comparison("close", saw[0], "above", "the upper band", saw[1]),
					{Name: "mean", Value: strategy.Figure(saw[2])},
				}
			})
		})
}

// reverted returns the side after a candle: enter at an extreme, exit when the price is back on the
// other half, otherwise unchanged.
func reverted(side desired, low, high, upperHalf, lowerHalf bool) desired {
	switch {
	case low:
		return long
	case high:
		return short
	case side == long && upperHalf, side == short && lowerHalf:
		return flat
	}
	return side
}

type zscoreParams struct {
	Period int             `param:"period" default:"50" min:"2" max:"5000" help:"candles of the mean"`
	Enter  decimal.Decimal `param:"enter" default:"2" min:"0.1" max:"20" help:"deviations from the mean at which to enter"`
	Leave  decimal.Decimal `param:"leave" default:"0" min:"-20" max:"20" help:"deviations, on the entry's side, at which to exit"`
	Mode   string          `param:"mode" default:"long_only" oneof:"long_only|long_short" help:"long_short: a high score sells short"`
}

// zscore buys when the close is a number of deviations below the mean and exits when it is back near it;
// short is the mirror image.
//
// It loses when the mean itself moves away: a score can return to zero because the mean fell to the
// price.
func zscore() strategy.Definition {
	return strategy.Define("zscore", "buys many deviations below the mean, exits near it",
		func(setting strategy.Setting, p zscoreParams) (strategy.Strategy, error) {
			if p.Leave.GreaterThanOrEqual(p.Enter) {
				return nil, &strategy.ValueError{Parameter: "leave", Err: fmt.Errorf("%s is not below enter %s", p.Leave, p.Enter)}
			}
			score, enter, leave := indicator.NewZScore(p.Period), p.Enter.InexactFloat64(), p.Leave.InexactFloat64()
			reasons := [4]string{long: "the score is far below the mean", short: "the score is far above the mean", flat: "the score is back near the mean"}
			side := unchanged
			last := math.NaN()
			made, err := follow(setting, p.Mode, p.Period, reasons, func(view *strategy.View) desired {
				value, ok := score.Next(view.Symbol.PriceFloat(view.Close()))
				if !ok {
					return unchanged
				}
				last = value
				side = reverted(side, value < -enter, value > enter, value >= -leave, value <= leave)
				return side
			})
			return explain(made, err, func(*strategy.View) []strategy.Condition {
				return []strategy.Condition{
					strategy.Comparison("score", last, "below", "minus enter", -enter),
					strategy.Comparison("score", last, "above", "enter", enter),
				}
			})
		})
}
