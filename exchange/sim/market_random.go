package sim

import (
	"math"

	"botd/exchange"
)

// The random market: one trade of every symbol each randomStepMS, so that each
// trades at least once in 5 s (decisions.md, random).
const (
	randomStepMS   = 2_000
	randomRegimeMS = 40 * int64(exchange.Minute1) // how long a drift lasts
	randomHistory  = 2 * int64(exchange.Day1)     // candles there are from before the start
)

// random is a seeded synthetic market. Every draw is a function of seed, symbol
// and time alone, so the same seed gives the same candles, and futures and spot
// of a symbol move alike.
type random struct {
	seed   uint64
	anchor exchange.Price // the price it keeps coming back to
	nextMS int64
}

// Random returns a seeded synthetic market: a random walk with changing drift
// and volatility that keeps coming back to where it began. Candles of the days
// before the start exist, so that strategies need not wait for their indicators.
func Random(seed uint64) Market { return &random{seed: seed} }

func (m *random) begin(b *book) int64 {
	b.quoteFrom(1)
	m.seed = mix(m.seed)
	for _, letter := range []byte(b.symbol.Name) {
		m.seed = mix(m.seed ^ uint64(letter))
	}
	m.anchor = startPrice(b.symbol)
	if b.restored || b.tradeID == 0 {
		m.history(b)
	}
	b.restored = false
	return m.seek(b)
}

// history makes the candles of the days before the start. After a restart they
// are scaled to end at the price there was.
func (m *random) history(b *book) {
	restored, now := b.restored, b.exchange.nowMS
	kept, mark := b.last, b.mark
	b.last = m.anchor
	b.candles = builder{}
	for timeMS := floorTo(now-randomHistory, randomStepMS) + randomStepMS; timeMS <= now; timeMS += randomStepMS {
		b.last = m.next(b, timeMS)
		m.trade(b, timeMS, b.last)
	}
	if !restored {
		b.mark = b.last
		b.stale = true
		return
	}
	share := float64(kept) / float64(b.last)
	for _, column := range [][]exchange.Price{b.candles.base.Open, b.candles.base.High, b.candles.base.Low, b.candles.base.Close} {
		for i, price := range column {
			column[i] = max(1, b.symbol.FloorPrice(exchange.Price(float64(price)*share)))
		}
	}
	b.trades = b.trades[:0]
	b.last, b.mark = kept, mark
	b.candles.tick(now, kept)
}

func (m *random) seek(b *book) int64 {
	m.nextMS = floorTo(b.exchange.nowMS, randomStepMS) + randomStepMS
	return m.nextMS
}

func (m *random) move(b *book) int64 {
	timeMS := m.nextMS
	price := m.next(b, timeMS)
	b.jump(price, price, false)
	m.trade(b, timeMS, price)
	m.nextMS += randomStepMS
	return m.nextMS
}

// next draws the price after b.last. All is whole numbers, in billionths: a bell
// of four even draws, a drift and a width that change with the regime, and a pull
// back to the anchor.
func (m *random) next(b *book, timeMS int64) exchange.Price {
	draw := mix(m.seed ^ uint64(timeMS))
	regime := mix(m.seed ^ uint64(timeMS/randomRegimeMS) ^ 0x5bd1e995)
	bell := int64(draw&0xffff) + int64(draw>>16&0xffff) + int64(draw>>32&0xffff) + int64(draw>>48&0xffff) - 2*0xffff
	width := 2 + int64(regime>>32&3)              // 2..5
	drift := int64(regime&0xffff)%16_001 - 8_000  // -8..+8 millionths a step
	away := float64(b.last)/float64(m.anchor) - 1 // a share
	pull := -int64(away * 20_000)
	move := bell*width + drift + pull // bell's deviation is about 38000
	change := float64(b.last) * float64(move) / 1e9
	tick := b.symbol.PriceTick
	ticks := (float64(b.last) + change) / float64(tick)
	price := exchange.Price(ticks) * tick
	// What is below a tick's size is a chance, or coarse symbols would stand still.
	if chance := ticks - math.Floor(ticks); float64(mix(draw)>>11) < chance*(1<<53) {
		price += tick
	}
	return max(price, tick)
}

// trade publishes the market's own trade of 50 to about 50000 USDT.
func (m *random) trade(b *book, timeMS int64, price exchange.Price) {
	draw := mix(m.seed ^ uint64(timeMS) ^ 0x27d4eb2f)
	size := int64(50) << (draw & 7)
	size += size * int64(draw>>8&0xff) / 64
	quantity := max(quantityFor(b.symbol, exchange.AmountOf(size), price), b.symbol.QuantityTick)
	b.publishAt(timeMS, price, quantity, draw>>16&1 == 0)
}

func (m *random) openAt(int64) (exchange.Price, bool) { return 0, false }

func (m *random) pricedMS(b *book) int64 { return b.exchange.nowMS }
func (m *random) opensMS(*book) int64    { return never }

// fundingRate draws from -0.005 % to +0.02 %.
func (m *random) fundingRate(timeMS int64) exchange.Rate {
	return exchange.Rate(mix(m.seed^uint64(timeMS))%25_001) - 5_000
}

func (m *random) candlesOf(*book, exchange.Interval) (*exchange.Candles, exchange.Candle, bool) {
	return nil, exchange.Candle{}, false
}
