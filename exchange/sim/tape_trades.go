package sim

import (
	"slices"
	"sort"

	"botd/exchange"
)

// The public trades of a recorded candle, if something reads them (a backtest, which has no spread,
// does not): one trade at each of its four prices, which together have its volume to the
// quantityTick, plus the accounts' trades in it.

// tradeOf returns the trade of a step of a candle, and whether there is one. The volume is divided
// evenly.
func (m *tape) tradeOf(b *orderBook, candle int, step int64) (trade exchange.Trade, some bool) {
	whole := exchange.Quantity(min(m.candles.Volume[candle]/b.symbol.QuantityFloat(1), 1<<50))
	until := func(step int64) exchange.Quantity { return b.symbol.FloorQuantity(whole / 4 * exchange.Quantity(step)) }
	quantity := until(step+1) - until(step)
	if step == 3 {
		quantity = b.symbol.FloorQuantity(whole) - until(3)
	}
	at := m.stepOf(candle, 0, int(step))
	return exchange.Trade{Price: at.Price, Quantity: quantity, TimeMS: m.candles.OpenMS[candle] + at.OffsetMS, BuyerIsMaker: step&1 == 1}, quantity > 0
}

// traded sums the trades of a candle's first steps.
func (m *tape) traded(b *orderBook, candle int, steps int64) (sum exchange.Candle) {
	for step := range steps {
		if trade, some := m.tradeOf(b, candle, step); some {
			addTrade(b, &sum, &trade)
		}
	}
	return sum
}

// complete fills in the quote volume, count and taker volumes of recorded candles without them,
// from their trades.
func (m *tape) complete(b *orderBook) {
	c := *m.candles
	lacks := func(at int) bool {
		return c.Volume[at] > 0 && (len(c.Trades) <= at || c.Trades[at] == 0 && c.QuoteVolume[at] == 0)
	}
	if m.config.SpreadTicks == 0 || !slices.ContainsFunc([]int{0, c.Len() - 1}, lacks) {
		return
	}
	fillColumns(&c)
	c.QuoteVolume, c.Trades = slices.Clone(c.QuoteVolume), slices.Clone(c.Trades)
	c.TakerBase, c.TakerQuote = slices.Clone(c.TakerBase), slices.Clone(c.TakerQuote)
	for at := range c.Len() {
		if lacks(at) {
			sum := m.traded(b, at, 4)
			c.QuoteVolume[at], c.Trades[at], c.TakerBase[at], c.TakerQuote[at] = sum.QuoteVolume, sum.Trades, sum.TakerBase, sum.TakerQuote
		}
	}
	m.candles, m.seen, m.counts = &c, &c, true
}

// recall publishes the trades of the current candle up to the last passed step.
func (m *tape) recall(b *orderBook, last cursor) {
	if m.config.SpreadTicks == 0 || b.exchange.nowMS >= m.candles.CloseMS(last.candle) || b.exchange.nowMS < m.candles.OpenMS[last.candle] {
		return
	}
	for step := range last.step + 1 {
		b.last = m.stepOf(last.candle, 0, step).Price
		m.trade(b, last.candle, step)
	}
}

// trade publishes the trade of a step.
func (m *tape) trade(b *orderBook, candle, step int) {
	if trade, some := m.tradeOf(b, candle, int64(step)); some {
		m.plays = true
		b.publishAt(trade.TimeMS, trade.Price, trade.Quantity, trade.BuyerIsMaker)
		m.plays = false
	}
}

// reach adds an account's trade to the visible candle of its time. The recorded candles, which the
// price follows, stay unchanged.
func (m *tape) reach(b *orderBook, trade *exchange.Trade) {
	if m.plays || m.config.SpreadTicks == 0 {
		return
	}
	opens := m.candles.OpenMS
	at := sort.Search(len(opens), func(i int) bool { return opens[i] > trade.TimeMS }) - 1
	if at < 0 || trade.TimeMS >= m.candles.CloseMS(at) {
		return
	}
	if r := &m.reached; r.candle != at || r.high == 0 {
		*r = reached{at, trade.Price, trade.Price}
	} else {
		r.low, r.high = min(r.low, trade.Price), max(r.high, trade.Price)
	}
	if m.seen == m.candles {
		m.seen = m.candles.Clone()
		fillColumns(m.seen)
	}
	one := exchange.Candle{}
	addTrade(b, &one, trade)
	s := m.seen
	s.Low[at], s.High[at] = min(s.Low[at], trade.Price), max(s.High[at], trade.Price)
	s.Volume[at], s.QuoteVolume[at], s.Trades[at] = s.Volume[at]+one.Volume, s.QuoteVolume[at]+one.QuoteVolume, s.Trades[at]+1
	s.TakerBase[at], s.TakerQuote[at] = s.TakerBase[at]+one.TakerBase, s.TakerQuote[at]+one.TakerQuote
}

// forming returns the current candle: the steps so far with their part of the recorded volume, plus
// the accounts' trades.
func (m *tape) forming(b *orderBook, at int, now int64) exchange.Candle {
	whole, shown := m.candles.At(at), m.seen.At(at)
	candle := exchange.Candle{OpenMS: whole.OpenMS, Open: whole.Open, High: whole.Open, Low: whole.Open, Close: whole.Open}
	steps := int64(0)
	for ; steps < 4; steps++ {
		next := stepOf(m.order, m.candles, at, int(steps))
		if whole.OpenMS+next.OffsetMS > now {
			break
		}
		candle.High, candle.Low, candle.Close = max(candle.High, next.Price), min(candle.Low, next.Price), next.Price
	}
	if m.reached.candle == at && m.reached.high > 0 {
		candle.High, candle.Low = max(candle.High, m.reached.high), min(candle.Low, m.reached.low)
	}
	share := float64(float64(steps) / 4)
	candle.Volume, candle.QuoteVolume = float64(whole.Volume*share), float64(whole.QuoteVolume*share)
	candle.TakerBase, candle.TakerQuote = float64(whole.TakerBase*share), float64(whole.TakerQuote*share)
	candle.Trades = whole.Trades * steps / 4
	if m.config.SpreadTicks > 0 { // the trades are visible
		sum := m.traded(b, at, steps)
		if candle.Volume = sum.Volume; m.counts {
			candle.QuoteVolume, candle.TakerBase, candle.TakerQuote, candle.Trades = sum.QuoteVolume, sum.TakerBase, sum.TakerQuote, sum.Trades
		}
	}
	candle.Volume, candle.QuoteVolume = candle.Volume+shown.Volume-whole.Volume, candle.QuoteVolume+shown.QuoteVolume-whole.QuoteVolume
	candle.TakerBase, candle.TakerQuote = candle.TakerBase+shown.TakerBase-whole.TakerBase, candle.TakerQuote+shown.TakerQuote-whole.TakerQuote
	candle.Trades += shown.Trades - whole.Trades
	for _, number := range []*float64{&candle.Volume, &candle.QuoteVolume, &candle.TakerBase, &candle.TakerQuote} {
		*number = snapped(*number, recordedGrain) // subtracting left rounding errors
	}
	return candle
}
