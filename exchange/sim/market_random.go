package sim

import (
	"math"
	"math/bits"

	"botd/exchange"
)

// The random market: one trade of every symbol each randomStepMS, so that each trades at least once
// in 5 s (docs/exchange.md, the order book).
const (
	randomStepMS = 2_000
	randomPastMS = 14*int64(exchange.Day1) + 2*int64(exchange.Hour1)
	randomTrades = int64(exchange.Minute1) / randomStepMS   // per minute
	pastTrades   = randomPastMS/randomStepMS + randomTrades // at most, before the start
	billion      = 1_000_000_000
)

// random is a seeded synthetic market. Every price, quantity and side is a function of seed, symbol
// and time alone, so the same seed gives the same candles, and futures and spot of a symbol move
// alike.
type random struct {
	unmoved
	seed   uint64
	walk   walk
	anchor exchange.Price // the price to which it reverts
	unit   uint64         // prices times quantities in one USDT; 0 if that number is too large
	last   exchange.Price // as last set
	// The walk's prices are multiplied by part / whole, which is 1 until another price is set.
	part, whole int64
	nextMS      int64
}

// Random returns a seeded synthetic market: a random walk with trends, calm and volatile periods
// and jumps that keeps reverting to its first price. It has trades and candles from before the
// start, so that strategies need not wait for their indicators; they are computed on demand. Its
// order book has finite depth: an order larger than a level continues at the next, and the next move
// renews the quotes.
func Random(seed uint64) Market { return &random{seed: seed} }

func (m *random) begin(b *orderBook) int64 {
	b.quoteFrom(1)
	m.walk = newWalk(m.seed, b.symbol.Name)
	b.liquiditySeed = m.walk.seed | 1
	m.anchor, m.part, m.whole, m.unit = startPrice(b.symbol), 1, 1, unitOf(b.symbol)
	nowMS := floorTo(b.exchange.nowMS, randomStepMS)
	switch {
	case b.restored || b.tradeID > 0:
		m.continueFrom(b, nowMS)
	default:
		b.last = m.price(b, nowMS)
		b.mark = b.last
	}
	if b.restored || b.tradeID == 0 {
		m.recall(b, nowMS)
	}
	b.restored, b.stale = false, true
	m.last = b.last
	return m.seek(b)
}

// continueFrom scales the walk so that it continues at the order book's price.
func (m *random) continueFrom(b *orderBook, timeMS int64) {
	m.part, m.whole = 1, 1
	if m.price(b, timeMS) != b.last {
		m.part, m.whole = int64(b.last), m.exact(timeMS)
	}
}

// recall provides the order book with its history before the start and the past part of the current
// minute.
func (m *random) recall(b *orderBook, nowMS int64) {
	b.tradeID = max(b.tradeID, pastTrades)
	openMS := exchange.Minute1.OpenOf(b.exchange.nowMS)
	b.past = &past{market: *m, fromMS: openMS - randomPastMS, toMS: openMS, lastMS: nowMS, lastID: b.tradeID}
	b.past.spread(int64(len(b.exchange.orderBooks)))
	b.trades = nil
	b.candles = builder{last: b.last, base: exchange.Candles{Interval: exchange.Minute1}}
	if nowMS >= openMS {
		b.candles.base.Append(b.past.present(b))
	}
	b.candles.tick(b.exchange.nowMS, b.last)
}

func (m *random) seek(b *orderBook) int64 {
	m.nextMS = floorTo(b.exchange.nowMS, randomStepMS) + randomStepMS
	return m.nextMS
}

func (m *random) move(b *orderBook) int64 {
	timeMS := m.nextMS
	if b.last != m.last { // the price was set externally
		m.continueFrom(b, timeMS-randomStepMS)
	}
	trade := m.trade(b, timeMS)
	b.jump(trade.Price, trade.Price, false)
	m.last = trade.Price
	b.publishAt(timeMS, trade.Price, trade.Quantity, trade.BuyerIsMaker)
	m.nextMS += randomStepMS
	return m.nextMS
}

// price returns the price at a time that is a multiple of randomStepMS.
func (m *random) price(b *orderBook, timeMS int64) exchange.Price {
	price, tick := m.exact(timeMS), int64(b.symbol.PriceTick)
	if m.part != m.whole {
		price = proportion(price, m.part, m.whole)
	}
	return exchange.Price(max((price+tick/2)/tick*tick, tick))
}

// exact returns the walk's price, neither scaled nor rounded to a tick. A minute opens at the
// previous minute's close.
func (m *random) exact(timeMS int64) int64 {
	step := timeMS / randomStepMS
	if step%randomTrades == 0 {
		step--
	}
	return max(proportion(int64(m.anchor), max(billion+m.walk.at(step), billion/10), billion), 1)
}

// trade draws the market's own trade at a time: of 50 to about 30000 USDT, more in volatile periods.
func (m *random) trade(b *orderBook, timeMS int64) exchange.Trade {
	draw := mix(m.walk.seed ^ uint64(timeMS) ^ 0x27d4eb2f)
	size := int64(50) << (draw & 7)
	size += size * int64(draw>>8&0xff) / 64
	size = size * (100 + m.walk.widthAt(timeMS/randomStepMS)) / 400
	price := m.price(b, timeMS)
	return exchange.Trade{Price: price, Quantity: m.worth(b.symbol, size, price), TimeMS: timeMS, BuyerIsMaker: draw>>16&1 == 0}
}

func unitOf(s *exchange.Symbol) uint64 {
	if places := s.PriceScale + s.QuantityScale; places < 20 {
		return uint64(math.Pow10(places))
	}
	return 0
}

// worth returns the quantity that an amount of USDT buys, at least a quantityTick.
func (m *random) worth(s *exchange.Symbol, usdt int64, price exchange.Price) exchange.Quantity {
	high, low := bits.Mul64(uint64(usdt), m.unit)
	if m.unit == 0 || high >= uint64(price) {
		return max(quantityFor(s, exchange.AmountOf(usdt), price), s.QuantityTick)
	}
	quantity, _ := bits.Div64(high, low, uint64(price))
	return max(s.FloorQuantity(exchange.Quantity(min(quantity, 1<<60))), s.QuantityTick)
}

// fundingRate draws from -0.005 % to +0.02 %.
func (m *random) fundingRate(timeMS int64) exchange.Rate {
	return exchange.Rate(mix(m.walk.seed^uint64(timeMS))%25_001) - 5_000
}
