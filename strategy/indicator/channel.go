package indicator

// Highest is the highest of the last values, as TA-Lib's MAX. First value: at
// candle period.
type Highest struct{ values extreme }

// NewHighest returns a Highest over period values, at least 1.
func NewHighest(period int) *Highest { return &Highest{newExtreme(period)} }

// Next takes a value and returns the highest, once there are enough.
func (h *Highest) Next(value float64) (highest float64, ok bool) { return h.values.next(value) }

// Lowest is the lowest of the last values, as TA-Lib's MIN. First value: at candle
// period.
type Lowest struct{ values extreme }

// NewLowest returns a Lowest over period values, at least 1.
func NewLowest(period int) *Lowest { return &Lowest{newExtreme(period)} }

// Next takes a value and returns the lowest, once there are enough.
func (l *Lowest) Next(value float64) (lowest float64, ok bool) {
	lowest, ok = l.values.next(-value)
	return -lowest, ok
}

// Donchian is Richard Donchian's channel, the turtles' (about 1960).
//
// Formula: the highest high and the lowest low of the last period candles, the
// candle itself included, and their middle. First value: at candle period.
type Donchian struct {
	highest *Highest
	lowest  *Lowest
}

// NewDonchian returns a channel over period candles, at least 1.
func NewDonchian(period int) *Donchian { return &Donchian{NewHighest(period), NewLowest(period)} }

// Next takes a candle and returns the channel, once there is one.
func (d *Donchian) Next(high, low float64) (upper, middle, lower float64, ok bool) {
	upper, _ = d.highest.Next(high)
	lower, ok = d.lowest.Next(low)
	return upper, float64((upper + lower) / 2), lower, ok
}

// Keltner is Chester Keltner's channel in Linda Raschke's form (about 1990).
//
// Formula: EMA(period) of closes, and multiplier x ATR(atr_period) above and below it.
// First value: where both have one.
type Keltner struct {
	mean       *EMA
	span       *ATR
	multiplier float64
}

// NewKeltner returns a channel around an average of period closes.
func NewKeltner(period, atrPeriod int, multiplier float64) *Keltner {
	return &Keltner{NewEMA(period), NewATR(atrPeriod), multiplier}
}

// Next takes a candle and returns the channel, once there is one.
func (k *Keltner) Next(high, low, closes float64) (upper, middle, lower float64, ok bool) {
	middle, ready := k.mean.Next(closes)
	span, ok := k.span.Next(high, low, closes)
	span = float64(span * k.multiplier)
	return middle + span, middle, middle - span, ok && ready
}

// Chandelier is Charles Le Beau's exit (about 1990): a trailing stop that hangs from the extreme.
//
// Formula: long = highest high - multiplier x ATR, short = lowest low + multiplier x ATR, over
// period candles. First value: at candle period + 1.
type Chandelier struct {
	highest    *Highest
	lowest     *Lowest
	span       *ATR
	multiplier float64
}

// NewChandelier returns an exit over period candles.
func NewChandelier(period int, multiplier float64) *Chandelier {
	return &Chandelier{NewHighest(period), NewLowest(period), NewATR(period), multiplier}
}

// Next takes a candle and returns both exits, once there are any.
func (c *Chandelier) Next(high, low, closes float64) (long, short float64, ok bool) {
	top, _ := c.highest.Next(high)
	bottom, _ := c.lowest.Next(low)
	span, ok := c.span.Next(high, low, closes)
	span = float64(span * c.multiplier)
	return top - span, bottom + span, ok
}

// NATR is the average true range as a share of the price, as TA-Lib's.
//
// Formula: 100 x ATR / close, 0 at a close of 0. First value: at candle period + 1.
type NATR struct{ span *ATR }

// NewNATR returns an average over period ranges, at least 1.
func NewNATR(period int) *NATR { return &NATR{NewATR(period)} }

// Next takes a candle and returns the average in percent, once there is one.
func (n *NATR) Next(high, low, closes float64) (percent float64, ok bool) {
	span, ok := n.span.Next(high, low, closes)
	if closes == 0 {
		return 0, ok
	}
	return float64(100 * (span / closes)), ok
}

// TrueRange is Wilder's true range, as TA-Lib's TRANGE.
//
// Formula: the longest of high - low, |high - close before| and |low - close before|. First value:
// at candle 2.
type TrueRange struct {
	before float64
	begun  bool
}

// Next takes a candle and returns the range, once there is one.
func (t *TrueRange) Next(high, low, closes float64) (span float64, ok bool) {
	before, begun := t.before, t.begun
	t.before, t.begun = closes, true
	return trueRange(high, low, before), begun
}

// Ichimoku is Goichi Hosoda's cloud (1969), as drawn under the candle: the spans were computed
// displacement candles ago, so they contain no future data. The lagging line, which would, is
// omitted.
//
// Formula: conversion and base = middle of highest high and lowest low over their periods; span A =
// (conversion + base) / 2, span B = the middle over its period, both shifted displacement - 1
// candles ahead. First value: at candle span_b + displacement - 1.
type Ichimoku struct {
	conversion, base, long *Donchian
	a, b                   delay
	ahead                  int
}

// NewIchimoku returns a cloud over three periods, shifted ahead by displacement candles, counting
// the candle itself as the first.
func NewIchimoku(conversion, base, spanB, displacement int) *Ichimoku {
	return &Ichimoku{NewDonchian(conversion), NewDonchian(base), NewDonchian(spanB), newDelay(displacement - 1), newDelay(displacement - 1),
		max(0, displacement-1)}
}

// Cloud holds Ichimoku's values after a candle.
type Cloud struct{ Conversion, Base, SpanA, SpanB float64 }

// Next takes a candle and returns the cloud, once it is complete.
func (i *Ichimoku) Next(high, low float64) (c Cloud, ok bool) {
	_, c.Conversion, _, _ = i.conversion.Next(high, low)
	_, c.Base, _, _ = i.base.Next(high, low)
	_, far, _, ready := i.long.Next(high, low)
	if !ready {
		return c, false
	}
	near := float64((c.Conversion + c.Base) / 2)
	if i.ahead == 0 {
		c.SpanA, c.SpanB = near, far
		return c, true
	}
	c.SpanA, _ = i.a.swap(near)
	c.SpanB, ok = i.b.swap(far)
	return c, ok
}
