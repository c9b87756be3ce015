package strategy

import (
	"fmt"

	"botd/exchange"
)

// Coarser makes candles of a longer interval of a strategy's own, as they close: a
// strategy on hours that looks at days too sees a day when its last hour has
// closed, never before. It needs no other data than the strategy has.
type Coarser struct {
	own, interval exchange.Interval
	forming       exchange.Candle
	begun         bool
}

// NewCoarser makes candles of an interval, which is a multiple of the strategy's own.
func NewCoarser(own, interval exchange.Interval) (*Coarser, error) {
	if own <= 0 || interval <= own || interval%own != 0 {
		return nil, fmt.Errorf("candles of %s can not be made of candles of %s: it must be a longer one, a multiple", interval, own)
	}
	return &Coarser{own: own, interval: interval}, nil
}

// Next takes the strategy's newest closed candle and calls closed for each longer
// one that is complete with it. What came before the first whole one is left out;
// where candles are missing, one closes when a later candle shows that it is over.
func (c *Coarser) Next(candle exchange.Candle, closed func(exchange.Candle)) {
	at := c.interval.OpenOf(candle.OpenMS)
	switch {
	case c.begun && at == c.forming.OpenMS:
		c.join(candle)
	case c.begun:
		closed(c.forming)
		c.begin(candle, at)
	case at == candle.OpenMS:
		c.begin(candle, at)
	default:
		return // in the middle of one whose beginning was not seen
	}
	if candle.OpenMS+int64(c.own) == at+int64(c.interval) {
		closed(c.forming)
		c.begun = false
	}
}

func (c *Coarser) begin(candle exchange.Candle, openMS int64) {
	c.forming, c.begun = candle, true
	c.forming.OpenMS = openMS
}

func (c *Coarser) join(next exchange.Candle) {
	all := &c.forming
	all.High, all.Low, all.Close = max(all.High, next.High), min(all.Low, next.Low), next.Close
	all.Volume += next.Volume
	all.QuoteVolume += next.QuoteVolume
	all.Trades += next.Trades
	all.TakerBase += next.TakerBase
	all.TakerQuote += next.TakerQuote
}
