package indicator

import "math"

// Correlation is Pearson's coefficient of two series, as TA-Lib's CORREL. Its cost grows with the
// period: a running sum of squares would lose the small differences of two series that move little
// to rounding.
//
// Formula: covariance / (deviation x deviation) over the last period pairs, 0 if either is
// constant. First value: at candle period.
type Correlation struct{ pairs pairs }

// NewCorrelation returns a coefficient over period pairs, at least 2.
func NewCorrelation(period int) *Correlation { return &Correlation{newPairs(max(2, period))} }

// Next takes a pair and returns the coefficient, once there is one.
func (c *Correlation) Next(x, y float64) (coefficient float64, ok bool) {
	if !c.pairs.add(x, y) {
		return 0, false
	}
	covariance, ofX, ofY := c.pairs.moments()
	if ofX == 0 || ofY == 0 {
		return 0, true
	}
	return max(-1, min(1, covariance/math.Sqrt(ofX*ofY))), true
}

// Beta measures how much a series moves with the market, as TA-Lib's BETA: the slope of the
// regression of its returns on the market's.
//
// Formula: covariance of the returns / variance of the market's, over the last period returns, 0 if
// the market is constant. First value: at candle period + 1.
type Beta struct {
	pairs       pairs
	market, own float64
	begun       bool
}

// NewBeta returns a slope over period returns, at least 2.
func NewBeta(period int) *Beta { return &Beta{pairs: newPairs(max(2, period))} }

// Next takes the prices of the market and of the series and returns the slope, once there is one.
func (b *Beta) Next(market, own float64) (slope float64, ok bool) {
	beforeMarket, before, begun := b.market, b.own, b.begun
	b.market, b.own, b.begun = market, own, true
	if !begun || !b.pairs.add(gain(beforeMarket, market), gain(before, own)) {
		return 0, false
	}
	covariance, variance, _ := b.pairs.moments()
	if variance == 0 {
		return 0, true
	}
	return covariance / variance, true
}

func gain(before, now float64) float64 {
	if before == 0 {
		return 0
	}
	return (now - before) / before
}

// pairs keeps the last values of two series.
type pairs struct {
	x, y []float64
	next int
	full bool
}

func newPairs(period int) pairs { return pairs{x: make([]float64, period), y: make([]float64, period)} }

func (p *pairs) add(x, y float64) bool {
	p.x[p.next], p.y[p.next] = x, y
	if p.next++; p.next == len(p.x) {
		p.next, p.full = 0, true
	}
	return p.full
}

// moments returns the sums of products of the distances from the means. A sum that is only rounding
// error becomes 0.
func (p *pairs) moments() (both, ofX, ofY float64) {
	n, meanX, meanY := float64(len(p.x)), 0.0, 0.0
	for i, x := range p.x {
		meanX += x / n
		meanY += p.y[i] / n
	}
	for i, x := range p.x {
		both += float64((x - meanX) * (p.y[i] - meanY))
		ofX += float64((x - meanX) * (x - meanX))
		ofY += float64((p.y[i] - meanY) * (p.y[i] - meanY))
	}
	if limit := float64(negligible * meanX); ofX <= n*limit*limit {
		ofX = 0
	}
	if limit := float64(negligible * meanY); ofY <= n*limit*limit {
		ofY = 0
	}
	return both, ofX, ofY
}

// PercentRank is the share of the values before that are at most the newest one, as Pine's
// ta.percentrank. Its cost grows with the period.
//
// Formula: 100 x number of the last period values before the newest that are at most it / period.
// First value: at candle period + 1.
type PercentRank struct {
	ring []float64
	next int
	full bool
}

// NewPercentRank returns a rank among period values, at least 1.
func NewPercentRank(period int) *PercentRank {
	return &PercentRank{ring: make([]float64, max(1, period))}
}

// Next takes a value and returns its rank, once there is one.
func (p *PercentRank) Next(value float64) (rank float64, ok bool) {
	ok = p.full
	for _, before := range p.ring {
		if before <= value {
			rank++
		}
	}
	p.ring[p.next] = value
	if p.next++; p.next == len(p.ring) {
		p.next, p.full = 0, true
	}
	return 100 * rank / float64(len(p.ring)), ok
}

// Fractals are Bill Williams' (Trading Chaos, 1995): a high above those of wing candles on both
// sides, and a low below them. A fractal is known wing candles after it.
//
// Formula: the price of the newest known fractal. First value of each: with its first fractal.
type Fractals struct {
	wing     int
	ring     []Bar // the last 2 x wing + 1 candles
	count    int
	up, down float64
}

// NewFractals returns fractals with wing candles on each side, at least 1.
func NewFractals(wing int) *Fractals {
	wing = max(1, wing)
	return &Fractals{wing: wing, ring: make([]Bar, 2*wing+1), up: math.NaN(), down: math.NaN()}
}

// Next takes a candle and returns the prices of the newest fractals, NaN before the first.
func (f *Fractals) Next(bar Bar) (up, down float64) {
	f.ring[f.count%len(f.ring)] = bar
	if f.count++; f.count < len(f.ring) {
		return f.up, f.down
	}
	at := (f.count - 1 - f.wing) % len(f.ring)
	middle, above, below := &f.ring[at], true, true
	for i := range f.ring {
		if i != at {
			above = above && f.ring[i].High < middle.High
			below = below && f.ring[i].Low > middle.Low
		}
	}
	if above {
		f.up = middle.High
	}
	if below {
		f.down = middle.Low
	}
	return f.up, f.down
}
