package strategy

import "botd/exchange"

// Resampler builds candles of a longer interval from the strategy's own candles. A strategy on hourly
// candles that also uses daily ones receives a day when its last hour has closed, never earlier.
type Resampler struct {
	own, interval exchange.Interval
	forming       exchange.Candle
	begun         bool
}

// NewResampler returns a builder of candles of the interval, which must be a multiple of the
// strategy's own.
func NewResampler(own, interval exchange.Interval) (*Resampler, error) {
	if err := own.CheckBuilds(interval); err != nil {
		return nil, err
	}
	return &Resampler{own: own, interval: interval}, nil
}

// Next takes the newest closed candle and calls closed for each longer candle that it completes.
// Candles before the first whole interval are skipped. If candles are missing, a longer candle
// closes when a later candle shows that its interval has ended.
func (c *Resampler) Next(candle exchange.Candle, closed func(exchange.Candle)) {
	at := c.interval.OpenOf(candle.OpenMS)
	switch {
	case c.begun && at == c.forming.OpenMS:
		c.forming.Join(&candle)
	case c.begun:
		closed(c.forming)
		c.begin(candle, at)
	case at == candle.OpenMS:
		c.begin(candle, at)
	default:
		return // in the middle of an interval whose beginning is missing
	}
	if candle.OpenMS+int64(c.own) == at+int64(c.interval) {
		closed(c.forming)
		c.begun = false
	}
}

func (c *Resampler) begin(candle exchange.Candle, openMS int64) {
	c.forming, c.begun = candle, true
	c.forming.OpenMS = openMS
}
