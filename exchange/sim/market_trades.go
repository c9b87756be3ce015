package sim

import (
	"sort"

	"botd/exchange"
)

// TradesConfig sets how recorded trades are played.
type TradesConfig struct {
	Costs   Costs
	Queue   exchange.Rate // share of a trade at an order's price that reaches the order; the rest was ahead in the queue
	Funding exchange.Rate // of payments without a recorded rate
}

// tradeTape plays recorded trades. It guesses nothing: the price is that of the last trade. A trade
// through a resting order's price fills it up to the trade's quantity. A trade at its price fills
// it by its share of the queue, if the trade met orders of its side. A taking order waits for the
// next trade and pays the worst price of the trades since its placement, each up to its quantity,
// so a delay never favors it.
type tradeTape struct {
	unmoved
	trades *exchange.Trades
	config TradesConfig
	at     int   // index of the next trade
	lastMS int64 // time of the last trade
}

// Trades returns a market that plays recorded trades, whose prices are in the symbol's units.
func Trades(trades *exchange.Trades, config TradesConfig) Market {
	return &tradeTape{trades: trades, config: config, lastMS: -1}
}

func (m *tradeTape) begin(b *orderBook) int64 {
	b.quoteFrom(0)
	b.costs = m.config.Costs
	b.costs.Bounded, b.costs.Through = false, false // the price is known, and the trades show what they passed
	if b.costs.VolumeCap == 0 {
		b.costs.VolumeCap = exchange.RateOne
	}
	b.candles.off = true
	next := m.seek(b)
	if m.trades.Len() > 0 {
		price := m.trades.Price[max(0, m.at-1)]
		b.jump(price, price, true)
	}
	return next
}

func (m *tradeTape) nextMS() int64 {
	if m.at < m.trades.Len() {
		return m.trades.TimeMS[m.at]
	}
	return never
}

func (m *tradeTape) seek(b *orderBook) int64 {
	m.at = sort.Search(m.trades.Len(), func(i int) bool { return m.trades.TimeMS[i] > b.exchange.nowMS })
	return m.nextMS()
}

func (m *tradeTape) move(b *orderBook) int64 {
	for ; m.nextMS() <= b.exchange.nowMS; m.at++ {
		m.trade(b, m.at)
	}
	m.lastMS = b.exchange.nowMS
	return m.nextMS()
}

// trade plays one trade: it fills the orders it passes, then those at its price, then triggers
// stops. Orders that take at its time get the rest.
func (m *tradeTape) trade(b *orderBook, at int) {
	price, whole := m.trades.Price[at], m.trades.Quantity[at]
	b.renew(b.symbol.QuantityFloat(whole))
	b.setPrice(price, price)
	b.fillPassed(price)
	left := b.allowance
	share := min(left, exchange.Quantity(float64(left)*m.config.Queue.Float()))
	b.allowance = share
	b.fillAt(price, m.trades.Sold[at])
	left -= share - b.allowance
	b.allowance = 0
	b.react(false)
	b.allowance = left
}

// fillPassed fills the resting orders that a trade passed.
func (b *orderBook) fillPassed(price exchange.Price) {
	for o := b.bids.best(); o != nil && o.Price > price && b.executeResting(o, false); o = b.bids.best() {
	}
	for o := b.asks.best(); o != nil && o.Price < price && b.executeResting(o, false); o = b.asks.best() {
	}
}

// fillAt fills the resting orders at a trade's price, on the side that it met.
func (b *orderBook) fillAt(price exchange.Price, sold bool) {
	side := &b.asks
	if sold {
		side = &b.bids
	}
	for o := side.best(); o != nil && o.Price == price && b.executeResting(o, false); o = side.best() {
	}
}

// worst returns the worst price for a side and the smallest quantity of the trades from a time to
// now.
func (m *tradeTape) worst(b *orderBook, side exchange.Side, sinceMS int64) (price exchange.Price, volume float64) {
	at := m.at // the trade being played, and afterwards the next one
	if at >= m.trades.Len() || m.trades.TimeMS[at] > b.exchange.nowMS {
		at = max(0, at-1)
	}
	price, least := m.trades.Price[at], m.trades.Quantity[at]
	for at--; at >= 0 && m.trades.TimeMS[at] >= sinceMS; at-- {
		price, least = worse(side, price, m.trades.Price[at]), min(least, m.trades.Quantity[at])
	}
	return price, b.symbol.QuantityFloat(least)
}

func (m *tradeTape) fundingRate(int64) exchange.Rate { return m.config.Funding }
func (m *tradeTape) opensMS(*orderBook) int64        { return m.nextMS() }

// pricedMS returns the current time during a trade, otherwise the time of the next trade.
func (m *tradeTape) pricedMS(b *orderBook) int64 {
	if b.exchange.nowMS == m.lastMS {
		return m.lastMS
	}
	return m.nextMS()
}
