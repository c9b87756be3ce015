package indicator

// OBV is Joseph Granville's on-balance volume (1963), as TA-Lib's.
//
// Formula: the first candle's volume; then plus the volume of a candle that closes above the one
// before, minus the volume of one that closes below. First value: at candle 1.
type OBV struct {
	before, value float64
	begun         bool
}

// Next takes a candle and returns the volume so far.
func (o *OBV) Next(closes, volume float64) float64 {
	switch {
	case !o.begun:
		o.begun, o.value = true, volume
	case closes > o.before:
		o.value += volume
	case closes < o.before:
		o.value -= volume
	}
	o.before = closes
	return o.value
}

// MFI is Quong's and Soudack's money flow index (Stocks & Commodities, 1989), as TA-Lib's with one
// exception: TA-Lib returns 0 if less than 1 was traded in the period, which is common for
// low-priced assets; MFI returns 0 only if nothing was traded.
//
// Formula: 100 x up / (up + down), where up and down are the sums over period candles of typical
// price x volume for rising and falling typical prices (high + low + close) / 3. First value: at
// candle period + 1.
type MFI struct {
	up, down line
	before   float64
	begun    bool
}

// NewMFI returns an index over period candles, at least 2.
func NewMFI(period int) *MFI {
	return &MFI{up: newLine(max(2, period)), down: newLine(max(2, period))}
}

// Next takes a candle and returns the index, once there is one.
func (m *MFI) Next(bar Bar) (index float64, ok bool) {
	typical := (bar.High + bar.Low + bar.Close) / 3
	before, begun := m.before, m.begun
	m.before, m.begun = typical, true
	if !begun {
		return 0, false
	}
	up, down := 0.0, 0.0
	switch {
	case typical > before:
		up = float64(typical * bar.Volume)
	case typical < before:
		down = float64(typical * bar.Volume)
	}
	m.up.add(up)
	ok = m.down.add(down)
	both := m.up.sum + m.down.sum
	if both <= 0 {
		return 0, ok
	}
	return float64(100 * (m.up.sum / both)), ok
}

// AD is Marc Chaikin's accumulation and distribution line, as TA-Lib's.
//
// Formula: sum of volume x ((close - low) - (high - close)) / (high - low), a candle
// without range adding nothing. First value: at candle 1.
type AD struct{ value float64 }

// Next takes a candle and returns the line.
func (a *AD) Next(bar Bar) float64 {
	a.value += flow(bar)
	return a.value
}

func flow(bar Bar) float64 {
	if span := bar.High - bar.Low; span > 0 {
		return float64(((bar.Close - bar.Low) - (bar.High - bar.Close)) / span * bar.Volume)
	}
	return 0
}

// ADOSC is Chaikin's oscillator, as TA-Lib's: both averages begin with the line's
// first value.
//
// Formula: EMA(fast) - EMA(slow) of AD. First value: at candle slow.
type ADOSC struct {
	line                   AD
	fastWeight, slowWeight float64
	fast, slow             float64
	seen, warm             int
}

// NewADOSC returns an oscillator over fast and slow candles, at least 2.
func NewADOSC(fast, slow int) *ADOSC {
	fast, slow = max(2, fast), max(2, slow)
	return &ADOSC{fastWeight: 2 / float64(fast+1), slowWeight: 2 / float64(slow+1), warm: max(fast, slow)}
}

// Next takes a candle and returns the oscillator, once there is one.
func (a *ADOSC) Next(bar Bar) (value float64, ok bool) {
	line := a.line.Next(bar)
	if a.seen++; a.seen == 1 {
		a.fast, a.slow = line, line
	} else {
		a.fast = float64(a.fastWeight*line) + float64((1-a.fastWeight)*a.fast)
		a.slow = float64(a.slowWeight*line) + float64((1-a.slowWeight)*a.slow)
	}
	return a.fast - a.slow, a.seen >= a.warm
}

// CMF is Chaikin's money flow.
//
// Formula: sum of volume x ((close - low) - (high - close)) / (high - low), divided by the
// sum of volumes, over period candles. First value: at candle period.
type CMF struct{ flow, volume line }

// NewCMF returns a flow over period candles, at least 1.
func NewCMF(period int) *CMF { return &CMF{newLine(period), newLine(period)} }

// Next takes a candle and returns the flow, once there is one.
func (c *CMF) Next(bar Bar) (value float64, ok bool) {
	c.flow.add(flow(bar))
	if ok = c.volume.add(bar.Volume); c.volume.sum <= 0 {
		return 0, ok
	}
	return c.flow.sum / c.volume.sum, ok
}

// VWAP is the volume-weighted average price of a session. A session lasts a number of days and
// begins a number of hours after 00:00 UTC. Sessions of 7 days begin on Mondays.
//
// Formula: sum of typical price x volume / sum of volumes since the session began, with typical =
// (high + low + close) / 3; the typical price itself while nothing has been traded. First value: at
// candle 1.
type VWAP struct {
	offsetMS, lengthMS int64
	session            int64
	money, volume      float64
}

// mondayMS is 1970-01-05, a Monday.
const mondayMS = 4 * dayMS

// NewVWAP returns the price of sessions of a number of days, at least 1, which begin offset hours
// after 00:00 UTC.
func NewVWAP(offset float64, days int) *VWAP {
	return &VWAP{offsetMS: mondayMS + int64(offset*3_600_000), lengthMS: int64(max(1, days)) * dayMS}
}

// Next takes a candle and returns the price.
func (v *VWAP) Next(bar Bar) float64 {
	since := bar.OpenMS - v.offsetMS
	session := since / v.lengthMS
	if since%v.lengthMS < 0 {
		session--
	}
	if session != v.session {
		v.Anchor()
		v.session = session
	}
	return v.Add(bar)
}

// Anchor starts a new session.
func (v *VWAP) Anchor() { v.money, v.volume = 0, 0 }

// Add takes a candle of the same session and returns the price.
func (v *VWAP) Add(bar Bar) float64 {
	typical := (bar.High + bar.Low + bar.Close) / 3
	v.money += float64(typical * bar.Volume)
	if v.volume += bar.Volume; v.volume == 0 {
		return typical
	}
	return v.money / v.volume
}

// VWMA is the volume-weighted moving average.
//
// Formula: sum of close x volume / sum of volumes over period candles; the mean of closes if
// nothing was traded. First value: at candle period.
type VWMA struct {
	money, volume line
	mean          *Mean
}

// NewVWMA returns an average over period candles, at least 1.
func NewVWMA(period int) *VWMA { return &VWMA{newLine(period), newLine(period), NewMean(period)} }

// Next takes a candle and returns the average, once there is one.
func (v *VWMA) Next(closes, volume float64) (mean float64, ok bool) {
	v.money.add(float64(closes * volume))
	v.volume.add(volume)
	mean, ok = v.mean.Next(closes)
	if v.volume.sum <= 0 {
		return mean, ok
	}
	return v.money.sum / v.volume.sum, ok
}

// BOP is Igor Livshin's balance of power (Stocks & Commodities, 2001), as TA-Lib's.
//
// Formula: (close - open) / (high - low), 0 without a range. First value: at candle 1.
func BOP(bar Bar) float64 {
	if span := bar.High - bar.Low; span > 0 {
		return (bar.Close - bar.Open) / span
	}
	return 0
}
