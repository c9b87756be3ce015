package sim

import (
	"math"

	"botd/exchange"
)

// The random market: one trade of every symbol each randomStepMS, so that each trades at least once
// in 5 s (decisions.md, random).
const (
	randomStepMS   = 2_000
	randomRegimeMS = 40 * int64(exchange.Minute1)  // duration of a drift and a width
	randomMoodMS   = 380 * int64(exchange.Minute1) // duration of a calm or volatile period
	randomFineMS   = 2 * int64(exchange.Hour1)     // before the start: the last hours, trade by trade
	randomDays     = 14                            // days of candles before the start
	randomTrades   = 30                            // per minute: one each randomStepMS
)

// moods scale every move, in percent.
var moods = [8]int64{50, 70, 90, 100, 110, 140, 190, 260}

// random is a seeded synthetic market. Every draw is a function of seed, symbol and time alone, so
// the same seed gives the same candles, and futures and spot of a symbol move alike.
type random struct {
	seed   uint64
	anchor exchange.Price // the price it returns to
	nextMS int64
}

// Random returns a seeded synthetic market: a random walk with trends, calm and volatile periods
// and jumps that returns to its first price again and again. It has candles from before the start,
// so that strategies need not wait for their indicators. Its book has finite depth: an order that
// takes more than a level has goes on to the next, and the next move renews the quotes.
func Random(seed uint64) Market { return &random{seed: seed} }

func (m *random) begin(b *book) int64 {
	b.quoteFrom(1)
	m.seed = mix(m.seed)
	for _, letter := range []byte(b.symbol.Name) {
		m.seed = mix(m.seed ^ uint64(letter))
	}
	b.liquiditySeed = m.seed | 1
	m.anchor = startPrice(b.symbol)
	if b.restored || b.tradeID == 0 {
		m.history(b)
	}
	b.restored = false
	return m.seek(b)
}

// history builds the candles of the days before the start. After a restart they are scaled to end
// at the restored price.
func (m *random) history(b *book) {
	restored, now := b.restored, b.exchange.nowMS
	restoredLast, mark := b.last, b.mark
	b.last = m.anchor
	b.candles = builder{}
	fineMS := exchange.Minute1.OpenOf(now - randomFineMS)
	for openMS := fineMS - randomDays*int64(exchange.Day1); openMS < fineMS; openMS += int64(exchange.Minute1) {
		m.minute(b, openMS)
	}
	for timeMS := floorTo(fineMS-1, randomStepMS) + randomStepMS; timeMS <= now; timeMS += randomStepMS {
		b.last = m.next(b, timeMS, 1)
		m.trade(b, timeMS, b.last)
	}
	if !restored {
		b.mark = b.last
		b.stale = true
		return
	}
	share := float64(restoredLast) / float64(b.last)
	for _, column := range [][]exchange.Price{b.candles.base.Open, b.candles.base.High, b.candles.base.Low, b.candles.base.Close} {
		for i, price := range column {
			column[i] = max(1, b.symbol.FloorPrice(exchange.Price(float64(price)*share)))
		}
	}
	b.trades = b.trades[:0]
	b.last, b.mark = restoredLast, mark
	b.candles.tick(now, restoredLast)
}

func (m *random) seek(b *book) int64 {
	m.nextMS = floorTo(b.exchange.nowMS, randomStepMS) + randomStepMS
	return m.nextMS
}

func (m *random) move(b *book) int64 {
	timeMS := m.nextMS
	price := m.next(b, timeMS, 1)
	b.jump(price, price, false)
	m.trade(b, timeMS, price)
	m.nextMS += randomStepMS
	return m.nextMS
}

// minute builds one past candle with the volume of its trades, which are not stored.
func (m *random) minute(b *book, openMS int64) {
	const parts = 5
	candle := exchange.Candle{OpenMS: openMS, Trades: randomTrades}
	for i := range int64(parts) {
		b.last = m.next(b, openMS+i*int64(exchange.Minute1)/parts, randomTrades/parts)
		if i == 0 {
			candle.Open, candle.High, candle.Low = b.last, b.last, b.last
		}
		candle.High, candle.Low, candle.Close = max(candle.High, b.last), min(candle.Low, b.last), b.last
		size := 2 * m.size(b, openMS+i*randomStepMS) * randomTrades / parts / 3 // the mean of several draws is smaller than one draw
		candle.QuoteVolume += float64(size)
	}
	base, quote := b.grains(false)
	candle.Volume = snapped(candle.QuoteVolume/b.symbol.PriceFloat(b.last), base)
	share := 0.3 + float64(mix(m.seed^uint64(openMS))%400)/1000
	candle.TakerBase, candle.TakerQuote = snapped(candle.Volume*share, base), snapped(candle.QuoteVolume*share, quote)
	b.candles.base.Interval = exchange.Minute1
	b.candles.base.Append(candle)
	b.candles.last = b.last
}

// next draws the price that follows b.last after a number of steps of randomStepMS. All arithmetic
// is on integers, in billionths: a bell curve from four uniform draws, a drift and a width that
// change with the regime, an occasional jump, and a pull back to the anchor.
func (m *random) next(b *book, timeMS, steps int64) exchange.Price {
	draw := mix(m.seed ^ uint64(timeMS))
	regime := mix(m.seed ^ uint64(timeMS/randomRegimeMS) ^ 0x5bd1e995)
	bell := int64(draw&0xffff) + int64(draw>>16&0xffff) + int64(draw>>32&0xffff) + int64(draw>>48&0xffff) - 2*0xffff
	drift := int64(regime&0xffff)%16_001 - 8_000  // -8..+8 millionths a step
	away := float64(b.last)/float64(m.anchor) - 1 // a share
	pull := -int64(away * 20_000)
	move := bell*m.width(timeMS)/100 + (drift+pull)*steps // the bell's deviation is about 38000
	if steps > 1 {
		move += bell * m.width(timeMS) / 100 * (rootOf(steps) - 1000) / 1000
	}
	if jump := mix(draw ^ 0x9e3779b9); jump%7_200 < uint64(steps) { // six a day: 0.2 % to 1 %, up or down
		move += (int64(jump>>32&1)*2 - 1) * (2_000_000 + int64(jump>>33)%8_000_000)
	}
	change := float64(b.last) * float64(move) / 1e9
	tick := b.symbol.PriceTick
	ticks := (float64(b.last) + change) / float64(tick)
	price := exchange.Price(ticks) * tick
	// A move below the tick size becomes a probability, or coarse symbols would stand still.
	if chance := ticks - math.Floor(ticks); float64(mix(draw)>>11) < chance*(1<<53) {
		price += tick
	}
	return max(price, tick)
}

// width is the width of the moves at a time, in percent: 2 to 5 by the regime, times the mood.
func (m *random) width(timeMS int64) int64 {
	regime := mix(m.seed ^ uint64(timeMS/randomRegimeMS) ^ 0x5bd1e995)
	mood := mix(m.seed ^ uint64(timeMS/randomMoodMS) ^ 0x2545f491)
	return (2 + int64(regime>>32&3)) * moods[mood&7]
}

// rootOf is the square root of a few steps, in thousandths.
func rootOf(steps int64) int64 { return int64(math.Sqrt(float64(steps)) * 1000) }

// size draws a trade's value: 50 to about 30000 USDT, more in volatile periods.
func (m *random) size(b *book, timeMS int64) int64 {
	draw := mix(m.seed ^ uint64(timeMS) ^ 0x27d4eb2f)
	size := int64(50) << (draw & 7)
	size += size * int64(draw>>8&0xff) / 64
	return size * (100 + m.width(timeMS)) / 400
}

// trade publishes the market's own trade.
func (m *random) trade(b *book, timeMS int64, price exchange.Price) {
	quantity := max(quantityFor(b.symbol, exchange.AmountOf(m.size(b, timeMS)), price), b.symbol.QuantityTick)
	b.publishAt(timeMS, price, quantity, mix(m.seed^uint64(timeMS)^0x27d4eb2f)>>16&1 == 0)
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
