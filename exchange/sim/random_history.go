package sim

import (
	"slices"

	"botd/exchange"
)

// past is a random market's history before the exchange began. It is the same walk that continues
// afterwards, computed on demand and not stored, because two thousand symbols have one.
type past struct {
	market       random // with its own scale: later price changes do not affect the past
	fromMS, toMS int64  // its minutes; toMS is the minute in which the exchange began
	every        int64  // minutes between two minutes with trades
	perMinute    int64  // trades in such a minute
	lastMS       int64  // of its last trade
	lastID       int64
	hours        map[int64]exchange.Candle // hours of the last day, for the ticker
	dayMS        int64                     // where day begins
	day          exchange.Candle           // all trades from then on
}

// With many symbols, only few minutes of the past have trades, and only few of them: each ticker
// sums a day, and one request returns all tickers.
const (
	maxDayTrades = 350_000 // of all symbols
	fewTrades    = 6       // trades in a minute with trades
	lastTradeMS  = int64(exchange.Minute1) - randomStepMS
)

// spread sets which minutes have trades, and how many, depending on the number of symbols.
func (p *past) spread(orderBooks int64) {
	p.every, p.perMinute = 1, randomTrades
	if orderBooks*int64(exchange.Day1)/randomStepMS <= maxDayTrades {
		return
	}
	p.perMinute = fewTrades
	for orderBooks*int64(exchange.Day1)/int64(exchange.Minute1)*fewTrades/p.every > maxDayTrades {
		p.every *= 2
	}
}

// tradeAt returns a trade of a minute with trades: the first is at the last price before, the last
// in the minute's last step.
func (p *past) tradeAt(b *orderBook, minuteMS, number int64) exchange.Trade {
	timeMS := minuteMS + number*(int64(exchange.Minute1)/p.perMinute)
	if number == p.perMinute-1 {
		timeMS = minuteMS + lastTradeMS
	}
	trade := p.market.trade(b, timeMS)
	if number == 0 && p.every > 1 {
		trade.Price = p.market.price(b, minuteMS-p.every*int64(exchange.Minute1)+lastTradeMS)
	}
	return trade
}

// tradedFrom returns the first minute with trades from a time on. The last minute of the past has
// some.
func (p *past) tradedFrom(timeMS int64) int64 {
	last, step := p.toMS-int64(exchange.Minute1), p.every*int64(exchange.Minute1)
	return last - (last-timeMS)/step*step
}

// candle sums up the trades from openMS, the start of a minute, until before untilMS. Without a trade it is flat.
func (p *past) candle(b *orderBook, openMS, untilMS int64) exchange.Candle {
	c := exchange.Candle{OpenMS: openMS}
	for minuteMS := p.tradedFrom(openMS); minuteMS < untilMS; minuteMS += p.every * int64(exchange.Minute1) {
		for number := range p.perMinute {
			addTrade(b, &c, new(p.tradeAt(b, minuteMS, number)))
		}
	}
	if c.Trades == 0 {
		price := p.market.price(b, p.tradedFrom(openMS)-p.every*int64(exchange.Minute1)+lastTradeMS)
		c.Open, c.High, c.Low, c.Close = price, price, price, price
	}
	return c
}

// present sums up the trades of the minute in which the exchange began.
func (p *past) present(b *orderBook) exchange.Candle {
	c := exchange.Candle{OpenMS: p.toMS}
	for timeMS := p.toMS; timeMS <= p.lastMS; timeMS += randomStepMS {
		addTrade(b, &c, new(p.market.trade(b, timeMS)))
	}
	return c
}

// addTrade adds a trade to a candle.
func addTrade(b *orderBook, c *exchange.Candle, trade *exchange.Trade) {
	if c.Trades == 0 {
		c.Open, c.High, c.Low = trade.Price, trade.Price, trade.Price
	}
	c.High, c.Low, c.Close = max(c.High, trade.Price), min(c.Low, trade.Price), trade.Price
	base := b.symbol.QuantityFloat(trade.Quantity)
	quote := float64(base * b.symbol.PriceFloat(trade.Price))
	c.Volume, c.QuoteVolume, c.Trades = c.Volume+base, c.QuoteVolume+quote, c.Trades+1
	if !trade.BuyerIsMaker {
		c.TakerBase, c.TakerQuote = c.TakerBase+base, c.TakerQuote+quote
	}
}

// pastMinutes caches the last computed minutes of one past: a reader of a symbol's candles reads
// several intervals, each built from minutes.
type pastMinutes struct {
	of *past
	exchange.Candles
}

// minutes appends the minutes that open from fromMS to untilMS, both inclusive.
func (p *past) minutes(b *orderBook, into *exchange.Candles, fromMS, untilMS int64) {
	first := exchange.Minute1.OpenOf(max(fromMS, p.fromMS) + int64(exchange.Minute1) - 1)
	end := min(p.toMS, exchange.Minute1.OpenOf(untilMS)+int64(exchange.Minute1))
	if first >= end {
		return
	}
	known := &b.exchange.pastMinutes
	if known.of != p {
		*known = pastMinutes{of: p}
	}
	all := exchange.Candles{Interval: exchange.Minute1}
	for openMS := first; openMS < end; openMS += int64(exchange.Minute1) {
		if i, found := slices.BinarySearch(known.OpenMS, openMS); found {
			all.Append(known.At(i))
		} else {
			all.Append(p.candle(b, openMS, openMS+int64(exchange.Minute1)))
		}
	}
	for i := range all.Len() {
		into.Append(all.At(i))
	}
	if all.Len() > known.Len() {
		known.Candles = all
	}
}

// trades returns the last count trades.
func (p *past) trades(b *orderBook, count int) []exchange.Trade {
	list := make([]exchange.Trade, 0, count)
	add := func(trade exchange.Trade) {
		trade.ID = p.lastID - int64(len(list))
		trade.QuoteAmount = b.symbol.Notional(trade.Price, trade.Quantity)
		list = append(list, trade)
	}
	for timeMS := p.lastMS; timeMS >= p.toMS && len(list) < count; timeMS -= randomStepMS {
		add(p.market.trade(b, timeMS))
	}
	for minuteMS := p.toMS - int64(exchange.Minute1); minuteMS >= p.fromMS && len(list) < count; minuteMS -= p.every * int64(exchange.Minute1) {
		for number := p.perMinute - 1; number >= 0 && len(list) < count; number-- {
			add(p.tradeAt(b, minuteMS, number))
		}
	}
	slices.Reverse(list)
	return list
}

// since sums the minutes that open from fromMS on. Whole hours are cached for a day.
func (p *past) since(b *orderBook, fromMS int64) (sum exchange.Candle) {
	openMS := exchange.Minute1.OpenOf(max(fromMS, p.fromMS) + int64(exchange.Minute1) - 1)
	if openMS == p.dayMS {
		return p.day
	}
	p.dayMS = openMS
	base, quote := marketData{b}.volumeSteps(false)
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
