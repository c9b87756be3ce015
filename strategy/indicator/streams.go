package indicator

import "math"

// Adapters from the typed indicators to streams.

// each is a stream with any number of outputs.
type each func(bar Bar, values outputs)

// Next takes a candle and writes the outputs.
func (e each) Next(bar Bar, values []float64) { e(bar, values) }

// outputs are the values of a stream at a candle: NaN for one that does not exist yet.
type outputs []float64

func (o outputs) set(ok bool, all ...float64) {
	for i, value := range all {
		if o[i] = value; !ok {
			o[i] = math.NaN()
		}
	}
}

func (o outputs) one(value float64, ok bool)                  { o.set(ok, value) }
func (o outputs) two(first, second float64, ok bool)          { o.set(ok, first, second) }
func (o outputs) three(first, second, third float64, ok bool) { o.set(ok, first, second, third) }

// ofClose returns a stream of an indicator that takes closes.
func ofClose[T interface {
	Next(value float64) (float64, bool)
}](indicator T) Stream {
	return each(func(bar Bar, values outputs) { values.one(indicator.Next(bar.Close)) })
}

// ofRange returns a stream of an indicator that takes high, low and close.
func ofRange[T interface {
	Next(high, low, closes float64) (float64, bool)
}](indicator T) Stream {
	return each(func(bar Bar, values outputs) { values.one(indicator.Next(bar.High, bar.Low, bar.Close)) })
}

// ofBar returns a stream of an indicator that takes the whole candle.
func ofBar[T interface {
	Next(bar Bar) (float64, bool)
}](indicator T) Stream {
	return each(func(bar Bar, values outputs) { values.one(indicator.Next(bar)) })
}

var (
	one   = []string{"value"}
	bands = []string{"upper", "middle", "lower"}
)

// simple returns a definition with one output and a period.
func simple(name, summary string, fallback, minimum float64, make func(period int) Stream) Definition {
	return Definition{name, summary, []Parameter{period(fallback, minimum)}, one, func(p []float64) Stream { return make(int(p[0])) }}
}

func averages() []Definition {
	return []Definition{
		simple("dema", "double exponential moving average", 30, 1, func(n int) Stream { return ofClose(NewDEMA(n)) }),
		simple("ema", "exponential moving average", 30, 1, func(n int) Stream { return ofClose(NewEMA(n)) }),
		simple("hma", "Hull's moving average", 16, 2, func(n int) Stream { return ofClose(NewHMA(n)) }),
		simple("kama", "Kaufman's adaptive moving average", 30, 2, func(n int) Stream { return ofClose(NewKAMA(n)) }),
		simple("linreg", "end of the regression line", 14, 2, func(n int) Stream {
			l := NewLinearRegression(n)
			return each(func(bar Bar, values outputs) { end, _, ok := l.Next(bar.Close); values.set(ok, end) })
		}),
		simple("linreg_slope", "slope of the regression line per candle", 14, 2, func(n int) Stream {
			l := NewLinearRegression(n)
			return each(func(bar Bar, values outputs) { _, slope, ok := l.Next(bar.Close); values.set(ok, slope) })
		}),
		simple("sma", "simple moving average", 30, 1, func(n int) Stream { return ofClose(NewMean(n)) }),
		{"t3", "Tillson's average", []Parameter{period(5, 1), factor("factor", 0.7, 0, 1)}, one,
			func(p []float64) Stream { return ofClose(NewT3(int(p[0]), p[1])) }},
		simple("tema", "triple exponential moving average", 30, 1, func(n int) Stream { return ofClose(NewTEMA(n)) }),
		simple("trima", "triangular moving average", 30, 1, func(n int) Stream { return ofClose(NewTRIMA(n)) }),
		simple("vwma", "volume-weighted moving average", 20, 1, func(n int) Stream {
			v := NewVWMA(n)
			return each(func(bar Bar, values outputs) { values.one(v.Next(bar.Close, bar.Volume)) })
		}),
		simple("wilder", "Wilder's smoothing, also called rma or smma", 14, 1, func(n int) Stream { return ofClose(NewWilder(n)) }),
		simple("wma", "linearly weighted moving average", 30, 1, func(n int) Stream { return ofClose(NewWMA(n)) }),
	}
}

func oscillators() []Definition {
	return []Definition{
		{"aroon", "time since the extremes, as a percentage", []Parameter{period(14, 2)}, []string{"down", "up"}, func(p []float64) Stream {
			a := NewAroon(int(p[0]))
			return each(func(bar Bar, values outputs) { values.two(a.Next(bar.High, bar.Low)) })
		}},
		simple("aroon_oscillator", "aroon's up minus down", 14, 2, func(n int) Stream {
			a := NewAroon(n)
			return each(func(bar Bar, values outputs) { down, up, ok := a.Next(bar.High, bar.Low); values.set(ok, up-down) })
		}),
		{"bop", "balance of power", nil, one, func([]float64) Stream {
			return each(func(bar Bar, values outputs) { values[0] = BOP(bar) })
		}},
		simple("cci", "commodity channel index", 14, 2, func(n int) Stream { return ofRange(NewCCI(n)) }),
		simple("cmo", "Chande's momentum oscillator", 14, 2, func(n int) Stream { return ofClose(NewCMO(n)) }),
		simple("fisher", "Ehlers' Fisher transform", 10, 2, func(n int) Stream {
			f := NewFisher(n)
			return each(func(bar Bar, values outputs) { values.one(f.Next(bar.High, bar.Low)) })
		}),
		{"macd", "convergence and divergence of two averages", []Parameter{named("fast", 12, 2), named("slow", 26, 2), named("signal", 9, 1)},
			[]string{"macd", "signal", "histogram"}, func(p []float64) Stream {
				m := NewMACD(int(p[0]), int(p[1]), int(p[2]))
				return each(func(bar Bar, values outputs) { values.three(m.Next(bar.Close)) })
			}},
		simple("momentum", "change over some candles", 10, 1, func(n int) Stream { return ofClose(NewMomentum(n)) }),
		simple("roc", "rate of change in percent", 10, 1, func(n int) Stream { return ofClose(NewROC(n)) }),
		simple("rsi", "relative strength index", 14, 2, func(n int) Stream { return ofClose(NewRSI(n)) }),
		{"stoch", "slow stochastic", []Parameter{named("k", 5, 1), named("k_smooth", 3, 1), named("d", 3, 1)}, []string{"k", "d"}, func(p []float64) Stream {
			s := NewStoch(int(p[0]), int(p[1]), int(p[2]))
			return each(func(bar Bar, values outputs) { values.two(s.Next(bar.High, bar.Low, bar.Close)) })
		}},
		{"stochrsi", "stochastic of the relative strength index", []Parameter{period(14, 2), named("k", 5, 1), named("d", 3, 1)}, []string{"k", "d"},
			func(p []float64) Stream {
				s := NewStochRSI(int(p[0]), int(p[1]), int(p[2]))
				return each(func(bar Bar, values outputs) { values.two(s.Next(bar.Close)) })
			}},
		simple("trix", "rate of change of a triple average", 30, 1, func(n int) Stream { return ofClose(NewTRIX(n)) }),
		{"tsi", "true strength index", []Parameter{named("long", 25, 1), named("short", 13, 1)}, one,
			func(p []float64) Stream { return ofClose(NewTSI(int(p[0]), int(p[1]))) }},
		{"ultimate", "ultimate oscillator", []Parameter{named("short", 7, 1), named("middle", 14, 1), named("long", 28, 1)}, one, func(p []float64) Stream {
			return ofRange(NewUltimateOscillator(int(p[0]), int(p[1]), int(p[2])))
		}},
		simple("williams_r", "Williams' percent range", 14, 2, func(n int) Stream { return ofRange(NewWilliamsR(n)) }),
		simple("zscore", "deviations from the mean", 20, 2, func(n int) Stream { return ofClose(NewZScore(n)) }),
	}
}

func channels() []Definition {
	return []Definition{
		simple("atr", "average true range", 14, 1, func(n int) Stream { return ofRange(NewATR(n)) }),
		{"bollinger", "a mean and bands of deviations around it", []Parameter{period(5, 2), factor("deviations", 2, -100, 100)}, bands,
			func(p []float64) Stream {
				b := NewBollinger(int(p[0]), p[1])
				return each(func(bar Bar, values outputs) { values.three(b.Next(bar.Close)) })
			}},
		{"chandelier", "trailing stops below and above the extremes", []Parameter{period(22, 1), factor("multiplier", 3, 0, 1_000)},
			[]string{"long", "short"}, func(p []float64) Stream {
				c := NewChandelier(int(p[0]), p[1])
				return each(func(bar Bar, values outputs) { values.two(c.Next(bar.High, bar.Low, bar.Close)) })
			}},
		{"donchian", "highest high and lowest low", []Parameter{period(20, 1)}, bands, func(p []float64) Stream {
			d := NewDonchian(int(p[0]))
			return each(func(bar Bar, values outputs) { values.three(d.Next(bar.High, bar.Low)) })
		}},
		simple("highest", "highest high", 30, 1, func(n int) Stream {
			h := NewHighest(n)
			return each(func(bar Bar, values outputs) { values.one(h.Next(bar.High)) })
		}),
		{"keltner", "an average and bands of true ranges around it", []Parameter{period(20, 1), named("atr_period", 10, 1),
			factor("multiplier", 2, 0, 1_000)}, bands, func(p []float64) Stream {
			k := NewKeltner(int(p[0]), int(p[1]), p[2])
			return each(func(bar Bar, values outputs) { values.three(k.Next(bar.High, bar.Low, bar.Close)) })
		}},
		simple("lowest", "lowest low", 30, 1, func(n int) Stream {
			l := NewLowest(n)
			return each(func(bar Bar, values outputs) { values.one(l.Next(bar.Low)) })
		}),
		simple("natr", "average true range in percent of the price", 14, 1, func(n int) Stream { return ofRange(NewNATR(n)) }),
		simple("stddev", "standard deviation of a population", 5, 2, func(n int) Stream { return ofClose(NewStdDev(n)) }),
		{"true_range", "the candle's range including the gap before it", nil, one, func([]float64) Stream { return ofRange(&TrueRange{}) }},
	}
}

func trends() []Definition {
	directions := func(n int, pick func(d Directions, values outputs)) Stream {
		index := NewADX(n)
		return each(func(bar Bar, values outputs) { d, _ := index.Next(bar.High, bar.Low, bar.Close); pick(d, values) })
	}
	return []Definition{
		{"adx", "average directional index and the two directions", []Parameter{period(14, 2)}, []string{"plus_di", "minus_di", "adx"},
			func(p []float64) Stream {
				return directions(int(p[0]), func(d Directions, values outputs) { values.set(true, d.Plus, d.Minus, d.Index) })
			}},
		simple("adxr", "Wilder's rating of directional movement", 14, 2, func(n int) Stream { return ofRange(NewADXR(n)) }),
		simple("choppiness", "degree of sideways movement", 14, 2, func(n int) Stream { return ofRange(NewChoppiness(n)) }),
		{"dmi", "the two directional indicators alone", []Parameter{period(14, 2)}, []string{"plus_di", "minus_di"}, func(p []float64) Stream {
			return directions(int(p[0]), func(d Directions, values outputs) { values.set(true, d.Plus, d.Minus) })
		}},
		{"fractals", "Williams' newest known highs and lows", []Parameter{named("wing", 2, 1)}, []string{"up", "down"}, func(p []float64) Stream {
			f := NewFractals(int(p[0]))
			return each(func(bar Bar, values outputs) { values[0], values[1] = f.Next(bar) })
		}},
		{"heikin_ashi", "averaged candles", nil, []string{"open", "high", "low", "close"}, func([]float64) Stream {
			h := &HeikinAshi{}
			return each(func(bar Bar, values outputs) { b := h.Next(bar); values.set(true, b.Open, b.High, b.Low, b.Close) })
		}},
		{"ichimoku", "the cloud, without its lagging line", []Parameter{named("conversion", 9, 1), named("base", 26, 1), named("span_b", 52, 1),
			named("displacement", 26, 1)}, []string{"conversion", "base", "span_a", "span_b"}, func(p []float64) Stream {
			i := NewIchimoku(int(p[0]), int(p[1]), int(p[2]), int(p[3]))
			return each(func(bar Bar, values outputs) {
				c, ok := i.Next(bar.High, bar.Low)
				values.set(ok, c.Conversion, c.Base, c.SpanA, c.SpanB)
			})
		}},
		{"pivot", "the floor traders' points of the previous day", nil, []string{"pivot", "r1", "s1", "r2", "s2", "r3", "s3"}, func([]float64) Stream {
			p := &Pivot{}
			return each(func(bar Bar, values outputs) {
				l, ok := p.Next(bar)
				values.set(ok, l.Pivot, l.R1, l.S1, l.R2, l.S2, l.R3, l.S3)
			})
		}},
		{"psar", "parabolic stop and reverse", []Parameter{factor("step", 0.02, 0, 10), factor("maximum", 0.2, 0, 10)}, one, func(p []float64) Stream {
			s := NewPSAR(p[0], p[1])
			return each(func(bar Bar, values outputs) { values.one(s.Next(bar.High, bar.Low)) })
		}},
		{"supertrend", "a trend line of average true ranges", []Parameter{period(10, 1), factor("multiplier", 3, 0, 1_000)}, one, func(p []float64) Stream {
			return ofRange(NewSupertrend(int(p[0]), p[1]))
		}},
		{"vortex", "Botes' and Siepman's two lines", []Parameter{period(14, 1)}, []string{"plus", "minus"}, func(p []float64) Stream {
			v := NewVortex(int(p[0]))
			return each(func(bar Bar, values outputs) { values.two(v.Next(bar.High, bar.Low, bar.Close)) })
		}},
	}
}

func volumes() []Definition {
	return []Definition{
		{"ad", "accumulation and distribution", nil, one, func([]float64) Stream {
			a := &AD{}
			return each(func(bar Bar, values outputs) { values[0] = a.Next(bar) })
		}},
		{"adosc", "Chaikin's oscillator of accumulation", []Parameter{named("fast", 3, 2), named("slow", 10, 2)}, one, func(p []float64) Stream {
			return ofBar(NewADOSC(int(p[0]), int(p[1])))
		}},
		simple("cmf", "Chaikin's money flow", 20, 1, func(n int) Stream { return ofBar(NewCMF(n)) }),
		simple("mfi", "money flow index", 14, 2, func(n int) Stream { return ofBar(NewMFI(n)) }),
		{"obv", "on-balance volume", nil, one, func([]float64) Stream {
			o := &OBV{}
			return each(func(bar Bar, values outputs) { values[0] = o.Next(bar.Close, bar.Volume) })
		}},
		{"vwap", "volume-weighted average price of a session", []Parameter{factor("offset", 0, -14, 14), {"days", 1, 1, 366, true}}, one,
			func(p []float64) Stream {
				v := NewVWAP(p[0], int(p[1]))
				return each(func(bar Bar, values outputs) { values[0] = v.Next(bar) })
			}},
	}
}

func relations() []Definition {
	ofTwo := func(next func(x, y float64) (float64, bool)) Stream {
		return each(func(bar Bar, values outputs) { values.one(next(bar.High, bar.Low)) })
	}
	return []Definition{
		simple("beta", "sensitivity of the second series to moves of the first", 5, 2, func(n int) Stream {
			return ofTwo(NewBeta(n).Next)
		}),
		simple("correlation", "Pearson's coefficient of two series", 30, 2, func(n int) Stream { return ofTwo(NewCorrelation(n).Next) }),
		simple("percent_rank", "percentage of the previous values that are not above the newest", 100, 1, func(n int) Stream {
			return ofClose(NewPercentRank(n))
		}),
		{"ppo", "macd in percent of the slow average", []Parameter{named("fast", 12, 2), named("slow", 26, 2), named("signal", 9, 1)},
			[]string{"ppo", "signal", "histogram"}, func(p []float64) Stream {
				m := NewPPO(int(p[0]), int(p[1]), int(p[2]))
				return each(func(bar Bar, values outputs) { values.three(m.Next(bar.Close)) })
			}},
	}
}

// Two reports whether an indicator takes two series. The defaults are high and low.
func (d *Definition) Two() bool { return d.Name == "beta" || d.Name == "correlation" }
