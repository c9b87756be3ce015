package library

import (
	"fmt"
	"math"

	"github.com/shopspring/decimal"

	"botd/strategy"
	"botd/strategy/indicator"
)

type emaCrossParams struct {
	Fast int    `param:"fast" default:"12" min:"1" max:"5000" help:"candles of the fast average"`
	Slow int    `param:"slow" default:"26" min:"2" max:"10000" help:"candles of the slow average"`
	Mode string `param:"mode" default:"long_only" oneof:"long_only|long_short" help:"long_short: a cross below also sells short"`
}

func slower(fast, slow int) error {
	if fast >= slow {
		return &strategy.ValueError{Parameter: "fast", Err: fmt.Errorf("%d is not below slow %d", fast, slow)}
	}
	return nil
}

// emaCross follows the trend like smaCross, with exponential averages, which turn sooner.
//
// It loses in a sideways market: each small swing is a cross that pays fees and gives back a part
// of the move.
func emaCross() strategy.Definition {
	return strategy.Define("ema_cross", "long while a fast exponential average is above a slow one, decided at their crosses",
		func(setting strategy.Setting, p emaCrossParams) (strategy.Strategy, error) {
			if err := slower(p.Fast, p.Slow); err != nil {
				return nil, err
			}
			fast, slow, cross := indicator.NewEMA(p.Fast), indicator.NewEMA(p.Slow), crossing{}
			reasons := [4]string{long: "the fast average crossed above the slow one", short: "the fast average crossed below the slow one"}
			quick, lazy := math.NaN(), math.NaN()
			// An exponential average never forgets its past. It begins with the mean of its first values; after
			// three times its length, less than 2 % of that mean remains.
			made, err := follow(setting, p.Mode, 3*p.Slow, reasons, func(view *strategy.View) desired {
				price := view.Symbol.PriceFloat(view.Close())
				quick, _ = fast.Next(price)
				value, ok := slow.Next(price)
				if !ok {
					return unchanged
				}
				lazy = value
				return cross.next(quick - lazy)
			})
			return explain(made, err, func(*strategy.View) []strategy.Condition {
				return []strategy.Condition{strategy.Comparison("fast average", quick, "above", "the slow one", lazy)}
			})
		})
}

type macdParams struct {
	Fast   int    `param:"fast" default:"12" min:"2" max:"5000" help:"candles of the fast average"`
	Slow   int    `param:"slow" default:"26" min:"3" max:"10000" help:"candles of the slow average"`
	Signal int    `param:"signal" default:"9" min:"1" max:"5000" help:"candles of the signal's average"`
	Mode   string `param:"mode" default:"long_only" oneof:"long_only|long_short" help:"long_short: a cross below also sells short"`
}

// macd enters when the MACD crosses above its signal line and exits on the cross below.
//
// It loses in a sideways market, and late in a trend that slows without turning: the signal crosses
// although the price continues.
func macd() strategy.Definition {
	return strategy.Define("macd", "long while the MACD is above its signal line, decided at their crosses",
		func(setting strategy.Setting, p macdParams) (strategy.Strategy, error) {
			if err := slower(p.Fast, p.Slow); err != nil {
				return nil, err
			}
			lines, cross := indicator.NewMACD(p.Fast, p.Slow, p.Signal), crossing{}
			reasons := [4]string{long: "the MACD crossed above its signal", short: "the MACD crossed below its signal"}
			line, signal := math.NaN(), math.NaN()
			made, err := follow(setting, p.Mode, 3*p.Slow+p.Signal, reasons, func(view *strategy.View) desired {
				value, average, histogram, ok := lines.Next(view.Symbol.PriceFloat(view.Close()))
				if !ok {
					return unchanged
				}
				line, signal = value, average
				return cross.next(histogram)
			})
			return explain(made, err, func(*strategy.View) []strategy.Condition {
				return []strategy.Condition{strategy.Comparison("MACD", line, "above", "its signal", signal)}
			})
		})
}

type supertrendParams struct {
	Period     int             `param:"period" default:"10" min:"1" max:"5000" help:"candles of the average true range"`
	Multiplier decimal.Decimal `param:"multiplier" default:"3" min:"0.1" max:"100" help:"true ranges between price and line"`
	Mode       string          `param:"mode" default:"long_only" oneof:"long_only|long_short" help:"long_short: a falling trend is sold short"`
}

// supertrend holds while the trend line is below the price. It enters when the trend turns, not in
// a trend that already existed at the start.
//
// It loses when the price swings by about the line's distance and back.
func supertrend() strategy.Definition {
	return strategy.Define("supertrend", "long while the supertrend line rises below the price, decided where it turns",
		func(setting strategy.Setting, p supertrendParams) (strategy.Strategy, error) {
			line, cross := indicator.NewSupertrend(p.Period, p.Multiplier.InexactFloat64()), crossing{}
			reasons := [4]string{long: "the trend turned up", short: "the trend turned down"}
			at, closed := math.NaN(), math.NaN()
			made, err := follow(setting, p.Mode, 5*p.Period, reasons, func(view *strategy.View) desired {
				b := bar(view)
				value, ok := line.Next(b.High, b.Low, b.Close)
				if !ok {
					return unchanged
				}
				at, closed = value, b.Close
				if line.Rising() {
					return cross.next(1)
				}
				return cross.next(-1)
			})
			return explain(made, err, func(*strategy.View) []strategy.Condition {
				return []strategy.Condition{strategy.Comparison("close", closed, "above", "the trend line", at)}
			})
		})
}

type donchianParams struct {
	Entry int    `param:"entry" default:"20" min:"1" max:"5000" help:"number of candles whose extreme must be broken to enter"`
	Exit  int    `param:"exit" default:"10" min:"1" max:"5000" help:"number of candles whose opposite extreme must be broken to exit"`
	Mode  string `param:"mode" default:"long_only" oneof:"long_only|long_short" help:"long_short: breaking the low sells short"`
}

// donchian is the turtles' breakout: it enters on a close above the highest high of the previous
// entry candles, and exits on a close below the lowest low of the previous exit candles; short is the mirror
// image.
//
// It loses often and a little: most breakouts fail, and the few that succeed must pay for them.
func donchian() strategy.Definition {
	return strategy.Define("donchian", "the turtles' breakout: enters on a new extreme, exits on an opposite one of fewer candles",
		func(setting strategy.Setting, p donchianParams) (strategy.Strategy, error) {
			b := &breakout{entryHigh: indicator.NewHighest(p.Entry), entryLow: indicator.NewLowest(p.Entry), exitHigh: indicator.NewHighest(p.Exit),
				exitLow: indicator.NewLowest(p.Exit)}
			reasons := [4]string{long: "the close broke the highest high", short: "the close broke the lowest low",
				flat: "the close broke the exit extreme"}
			made, err := follow(setting, p.Mode, max(p.Entry, p.Exit)+1, reasons, b.next)
			if err == nil {
				made.(*following).repeats = true // after a stop the next new extreme enters again
			}
			return explain(made, err, b.conditions)
		})
}

type breakout struct {
	entryHigh, exitHigh *indicator.Highest
	entryLow, exitLow   *indicator.Lowest
	top, bottom         float64 // of the previous entry candles
	near, far           float64 // highest and lowest of the previous exit candles
	ready               bool
	side                desired
	saw                 [5]float64 // the newest close and the values it was compared with
}

// conditions returns the comparisons of the newest close.
func (b *breakout) conditions(*strategy.View) []strategy.Condition {
	all := []strategy.Condition{
		strategy.Comparison("close", b.saw[0], "above", "the highest high before", b.saw[1]),
		strategy.Comparison("close", b.saw[0], "below", "the lowest low before", b.saw[2]),
	}
	switch b.side {
	case long:
		all = append(all, strategy.Comparison("close", b.saw[0], "below", "the exit low", b.saw[4]))
	case short:
		all = append(all, strategy.Comparison("close", b.saw[0], "above", "the exit high", b.saw[3]))
	}
	return all
}

func (b *breakout) next(view *strategy.View) desired {
	candle := bar(view)
	signal := unchanged
	b.saw = [5]float64{candle.Close, math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	if b.ready {
		b.saw = [5]float64{candle.Close, b.top, b.bottom, b.near, b.far}
		switch {
		case candle.Close > b.top:
			signal = long
		case candle.Close < b.bottom:
			signal = short
		case b.side == long && candle.Close < b.far, b.side == short && candle.Close > b.near:
			signal = flat
		}
	}
	if signal != unchanged {
		b.side = signal
	}
	b.top, _ = b.entryHigh.Next(candle.High)
	b.bottom, b.ready = b.entryLow.Next(candle.Low)
	var enough bool
	b.near, _ = b.exitHigh.Next(candle.High)
	b.far, enough = b.exitLow.Next(candle.Low)
	b.ready = b.ready && enough
	return signal
}
