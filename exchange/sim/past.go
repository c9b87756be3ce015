package sim

import "botd/exchange"

// past is a random market's time before the exchange began. It is the same walk that continues
// afterwards, computed when it is asked for and not stored: two thousand symbols have one.
type past struct {
	market       random // with a scale of its own: what is set later does not change the past
	fromMS, toMS int64  // its minutes; toMS is the minute in which the exchange began
	lastMS       int64  // of its last trade
	lastID       int64
	hours        map[int64]exchange.Candle // those of the last day, for the ticker
	dayMS        int64                     // where day begins
	day          exchange.Candle           // from then on, in all
}

// candle sums up the trades from openMS to before untilMS.
func (p *past) candle(b *book, openMS, untilMS int64) exchange.Candle {
	c := exchange.Candle{OpenMS: openMS}
	for timeMS := openMS; timeMS < untilMS; timeMS += randomStepMS {
		trade := p.market.trade(b, timeMS)
		if c.Trades == 0 {
			c.Open, c.High, c.Low = trade.Price, trade.Price, trade.Price
		}
		c.High, c.Low, c.Close = max(c.High, trade.Price), min(c.Low, trade.Price), trade.Price
		base := b.symbol.QuantityFloat(trade.Quantity)
		quote := base * b.symbol.PriceFloat(trade.Price)
		c.Volume, c.QuoteVolume, c.Trades = c.Volume+base, c.QuoteVolume+quote, c.Trades+1
		if !trade.BuyerIsMaker {
			c.TakerBase, c.TakerQuote = c.TakerBase+base, c.TakerQuote+quote
		}
	}
	return c
}

// minutes appends the minutes that open from fromMS to untilMS, both inclusive.
func (p *past) minutes(b *book, into *exchange.Candles, fromMS, untilMS int64) {
	first := exchange.Minute1.OpenOf(max(fromMS, p.fromMS) + int64(exchange.Minute1) - 1)
	for openMS := first; openMS < p.toMS && openMS <= untilMS; openMS += int64(exchange.Minute1) {
		into.Append(p.candle(b, openMS, openMS+int64(exchange.Minute1)))
	}
}

// trades returns the last count trades.
func (p *past) trades(b *book, count int) []exchange.Trade {
	count = min(count, int((p.lastMS-p.fromMS)/randomStepMS)+1)
	list := make([]exchange.Trade, 0, count)
	for ago := int64(count) - 1; ago >= 0; ago-- {
		trade := p.market.trade(b, p.lastMS-ago*randomStepMS)
		trade.ID = p.lastID - ago
		trade.QuoteAmount = b.symbol.Notional(trade.Price, trade.Quantity)
		list = append(list, trade)
	}
	return list
}

// since sums up the minutes that open from fromMS on. Whole hours are remembered for a day.
func (p *past) since(b *book, fromMS int64) (sum exchange.Candle) {
	openMS := exchange.Minute1.OpenOf(max(fromMS, p.fromMS) + int64(exchange.Minute1) - 1)
	if openMS == p.dayMS {
		return p.day
	}
	p.dayMS = openMS
	base, quote := b.volumeSteps(false)
	hour := int64(exchange.Hour1)
	for openMS < p.toMS {
		endMS := min(openMS-openMS%hour+hour, p.toMS)
		part, known := p.hours[openMS]
		if !known {
			part = p.candle(b, openMS, endMS)
		}
		if whole := openMS%hour == 0; whole && !known {
			if p.hours == nil {
				p.hours = map[int64]exchange.Candle{}
			}
			p.hours[openMS] = part
		}
		addTo(&sum, &part, base, quote)
		openMS = endMS
	}
	for openMS := range p.hours {
		if openMS < fromMS {
			delete(p.hours, openMS)
		}
	}
	p.day = sum
	return sum
}

// addTo adds a candle to the ones before it.
func addTo(sum, part *exchange.Candle, base, quote float64) {
	if sum.Open == 0 {
		sum.OpenMS, sum.Open, sum.High, sum.Low = part.OpenMS, part.Open, part.High, part.Low
	}
	sum.High, sum.Low, sum.Close = max(sum.High, part.High), min(sum.Low, part.Low), part.Close
	sum.Volume, sum.QuoteVolume = snapped(sum.Volume+snapped(part.Volume, base), base), snapped(sum.QuoteVolume+snapped(part.QuoteVolume, quote), quote)
	sum.Trades += part.Trades
}
