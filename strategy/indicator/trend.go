package indicator

import "math"

// Choppiness is Bill Dreiss' index of sideways movement (about 1993).
//
// Formula: 100 x log10(sum of true ranges / (highest high - lowest low)) / log10(period) over
// period candles, 0 without a range. First value: at candle period + 1.
type Choppiness struct {
	span    TrueRange
	spans   line
	highest *Highest
	lowest  *Lowest
	log     float64
}

// NewChoppiness returns an index over period candles, at least 2.
func NewChoppiness(period int) *Choppiness {
	period = max(2, period)
	return &Choppiness{spans: newLine(period), highest: NewHighest(period), lowest: NewLowest(period), log: math.Log10(float64(period))}
}

// Next takes a candle and returns the index, once there is one.
func (c *Choppiness) Next(high, low, closes float64) (index float64, ok bool) {
	top, _ := c.highest.Next(high)
	bottom, _ := c.lowest.Next(low)
	span, begun := c.span.Next(high, low, closes)
	if !begun || !c.spans.add(span) {
		return 0, false
	}
	if top == bottom || c.spans.sum <= 0 {
		return 0, true
	}
	return 100 * math.Log10(c.spans.sum/(top-bottom)) / c.log, true
}

// PSAR is Wilder's parabolic stop and reverse (New Concepts in Technical Trading Systems, 1978), as
// TA-Lib's SAR: the first direction is the first candle's directional movement.
//
// Formula: the stop moves by a factor of its distance from the extreme; the factor grows by step at
// each new extreme, up to a maximum; the stop never enters the range of the last two candles; once
// passed, it jumps to the extreme and reverses. First value: at candle 2.
type PSAR struct {
	step, maximum float64
	high, low     float64
	seen          int
	rising        bool
	factor        float64
	extreme       float64
	stop          float64
}

// NewPSAR returns a stop with the factor's step and maximum.
func NewPSAR(step, maximum float64) *PSAR {
	step = min(step, maximum)
	return &PSAR{step: step, maximum: maximum, factor: step}
}

// Next takes a candle and returns the stop that applied to it, once there is one.
func (p *PSAR) Next(high, low float64) (stop float64, ok bool) {
	beforeHigh, beforeLow := p.high, p.low
	p.high, p.low = high, low
	p.seen++
	switch p.seen {
	case 1:
		return 0, false
	case 2:
		p.begin(beforeHigh, beforeLow)
		// TA-Lib treats the second candle as if it were its own predecessor.
		beforeHigh, beforeLow = high, low
	}
	if p.rising {
		return p.up(high, low, max(high, beforeHigh), min(low, beforeLow)), true
	}
	return p.down(high, low, max(high, beforeHigh), min(low, beforeLow)), true
}

func (p *PSAR) begin(beforeHigh, beforeLow float64) {
	up, down := p.high-beforeHigh, beforeLow-p.low
	p.rising = !(down > 0 && up < down)
	if p.rising {
		p.extreme, p.stop = p.high, beforeLow
	} else {
		p.extreme, p.stop = p.low, beforeHigh
	}
}

func (p *PSAR) up(high, low, top, bottom float64) (stop float64) {
	if low <= p.stop {
		p.rising = false
		stop = max(p.extreme, top)
		p.factor, p.extreme = p.step, low
		p.stop = max(stop+float64(p.factor*(p.extreme-stop)), top)
		return stop
	}
	stop = p.stop
	if high > p.extreme {
		p.extreme, p.factor = high, min(p.factor+p.step, p.maximum)
	}
	p.stop = min(stop+float64(p.factor*(p.extreme-stop)), bottom)
	return stop
}

func (p *PSAR) down(high, low, top, bottom float64) (stop float64) {
	if high >= p.stop {
		p.rising = true
		stop = min(p.extreme, bottom)
		p.factor, p.extreme = p.step, high
		p.stop = min(stop+float64(p.factor*(p.extreme-stop)), bottom)
		return stop
	}
	stop = p.stop
	if low < p.extreme {
		p.extreme, p.factor = low, min(p.factor+p.step, p.maximum)
	}
	p.stop = max(stop+float64(p.factor*(p.extreme-stop)), top)
	return stop
}

// Vortex is Botes' and Siepman's indicator (Stocks & Commodities, 2010).
//
// Formula: plus = sum of |high - low before|, minus = sum of |low - high before|, each
// divided by the sum of true ranges, over period candles. First value: at candle
// period + 1.
type Vortex struct {
	plus, minus, spans line
	span               TrueRange
	high, low          float64
}

// NewVortex returns an indicator over period candles, at least 1.
func NewVortex(period int) *Vortex {
	return &Vortex{plus: newLine(period), minus: newLine(period), spans: newLine(period)}
}

// Next takes a candle and returns both lines, once there are any.
func (v *Vortex) Next(high, low, closes float64) (plus, minus float64, ok bool) {
	beforeHigh, beforeLow := v.high, v.low
	v.high, v.low = high, low
	span, begun := v.span.Next(high, low, closes)
	if !begun {
		return 0, 0, false
	}
	v.plus.add(math.Abs(high - beforeLow))
	v.minus.add(math.Abs(low - beforeHigh))
	ok = v.spans.add(span)
	if v.spans.sum == 0 {
		return 0, 0, ok
	}
	return v.plus.sum / v.spans.sum, v.minus.sum / v.spans.sum, ok
}

// HeikinAshi are Munehisa Homma's averaged candles.
//
// Formula: close = (open + high + low + close) / 4; open = the middle of the averaged
// open and close before, at first (open + close) / 2; high and low = the extremes of the
// candle's and both. First value: at candle 1.
type HeikinAshi struct {
	open, close float64
	begun       bool
}

// Next takes a candle and returns the averaged one.
func (h *HeikinAshi) Next(bar Bar) Bar {
	open := float64((h.open + h.close) / 2)
	if !h.begun {
		open, h.begun = float64((bar.Open+bar.Close)/2), true
	}
	h.open, h.close = open, float64((bar.Open+bar.High+bar.Low+bar.Close)/4)
	return Bar{OpenMS: bar.OpenMS, Open: h.open, High: max(bar.High, h.open, h.close), Low: min(bar.Low, h.open, h.close), Close: h.close, Volume: bar.Volume}
}

const dayMS = 86_400_000

// Pivot computes the floor traders' pivot points from the previous day. Days begin at 00:00 UTC.
//
// Formula: pivot = (high + low + close) / 3 of the previous day, R1 = 2 pivot - low, S1 = 2 pivot -
// high, R2 and S2 = pivot +- (high - low), R3 = high + 2 (pivot - low), S3 = low - 2 (high -
// pivot). First value: at the first candle of the second day.
type Pivot struct {
	day         int64
	begun       bool
	today, last Bar
	ready       bool
}

// Points are the pivot levels of a day.
type Points struct{ Pivot, R1, S1, R2, S2, R3, S3 float64 }

// Next takes a candle and returns the pivot levels of its day, once there are any.
func (p *Pivot) Next(bar Bar) (levels Points, ok bool) {
	switch day := bar.OpenMS / dayMS; {
	case !p.begun:
		p.begun, p.day, p.today = true, day, bar
	case day != p.day:
		p.day, p.last, p.today, p.ready = day, p.today, bar, true
	default:
		p.today.High, p.today.Low, p.today.Close = max(p.today.High, bar.High), min(p.today.Low, bar.Low), bar.Close
	}
	high, low := p.last.High, p.last.Low
	middle := (high + low + p.last.Close) / 3
	twice, span := float64(2*middle), high-low
	return Points{middle, twice - low, twice - high, middle + span, middle - span, high + float64(2*(middle-low)), low - float64(2*(high-middle))}, p.ready
}
