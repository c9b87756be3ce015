package tape

import (
	"math"

	"botd/exchange"
)

// Generate generates synthetic candles: calm and volatile periods alternate, trends last for some
// days' worth of candles, and now and then the price jumps. The same arguments give the same
// candles on every machine: it uses only operations with a unique IEEE 754 result, and none that a
// compiler may fuse.
func Generate(seed uint64, symbol *exchange.Symbol, interval exchange.Interval, startMS int64, count int) *exchange.Candles {
	m := newMarket(seed, symbol, interval)
	candles := exchange.NewCandles(interval, count)
	at := interval.OpenOf(startMS)
	for range count {
		candles.Append(m.candle(at))
		at += int64(interval)
	}
	return candles
}

// market is the state between candles. Prices are in the symbol's ticks.
type market struct {
	symbol *exchange.Symbol
	random uint64

	start, last float64
	usual       float64 // a candle's typical move, as a share of the price
	wild        float64 // current volatility, as a multiple of the usual one
	drift       float64 // a candle's trend, as a share of the price
	trendLeft   int     // candles until the trend changes
	lots        float64 // a candle's typical volume, in quantity ticks
}

// startPrices are the first prices of the built-in market's symbols, in USDT.
var startPrices = map[string]exchange.Amount{
	"BTC": exchange.AmountOf(50_000), "ETH": exchange.AmountOf(2_500), "SOL": exchange.AmountOf(100), "PEPE": exchange.MustAmount("0.00001"),
}

func newMarket(seed uint64, symbol *exchange.Symbol, interval exchange.Interval) *market {
	const unknown = 10_000 // ticks, for a symbol that is not in the list
	m := &market{symbol: symbol, random: seed, start: unknown, wild: 1}
	if price, known := startPrices[symbol.Base]; known {
		m.start = max(1, math.Floor(price.Float()/symbol.PriceFloat(symbol.PriceTick)))
	}
	m.last = m.start
	// About 60 % a year: 0.0008 a minute, growing with the square root of time.
	minutes := float64(interval) / float64(exchange.Minute1)
	m.usual = float64(0.0008 * math.Sqrt(minutes))
	const usualUSDT = 400_000 // a minute
	m.lots = usualUSDT * minutes / (symbol.PriceFloat(symbol.PriceTick) * m.start * symbol.QuantityFloat(symbol.QuantityTick))
	return m
}

// next is SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, 2014).
func (m *market) next() uint64 {
	m.random += 0x9e3779b97f4a7c15
	z := m.random
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// uniform returns a number from 0 to 1, 1 excluded.
func (m *market) uniform() float64 { return float64(float64(m.next()>>11) / (1 << 53)) }

// normal returns a number with mean 0 and deviation 1: the sum of twelve uniform numbers minus six.
// Its tails end at six deviations.
func (m *market) normal() float64 {
	sum := -6.0
	for range 6 {
		word := m.next()
		sum += float64(float64(word>>32)/(1<<32)) + float64(float64(word&0xffffffff)/(1<<32))
	}
	return sum
}

func (m *market) candle(atMS int64) exchange.Candle {
	open := m.last
	move := m.move()
	closes := m.wholeTicks(open + float64(open*move))
	reach := float64(open * float64(m.usual*m.wild))
	high := max(open, closes) + math.Floor(float64(reach*float64(m.uniform()*0.6)))
	low := max(1, min(open, closes)-math.Floor(float64(reach*float64(m.uniform()*0.6))))
	m.last = closes
	candle := exchange.Candle{OpenMS: atMS, Open: m.price(open), High: m.price(high), Low: m.price(low), Close: m.price(closes)}
	m.trade(&candle, math.Abs(move), float64(float64(open+closes)/2))
	return candle
}

// move returns a candle's move as a share of the price, and ages the market.
func (m *market) move() float64 {
	if m.trendLeft--; m.trendLeft <= 0 {
		m.trendLeft = 100 + int(m.next()%1_900)
		m.drift = float64(m.usual * float64(m.normal()*0.06))
	}
	shock := m.normal()
	size := float64(m.usual * m.wild)
	move := m.drift + float64(size*shock)
	if m.next()%2_000 == 0 {
		move += float64(m.usual * float64(m.normal()*8))
	}
	// Volatility persists for a while: GARCH(1,1) of the deviation.
	m.wild = min(8, float64(0.06)+float64(0.87*m.wild)+float64(0.0875*float64(m.wild*math.Abs(shock))))
	// Far from its first price the market drifts back, so that prices stay in bounds.
	switch {
	case m.last > 8*m.start:
		move -= float64(m.usual * 0.05)
	case m.last < m.start/8:
		move += float64(m.usual * 0.05)
	}
	return max(-0.3, min(0.3, move))
}

// wholeTicks rounds a price to whole ticks and keeps it within bounds that no order and no sum can
// overflow.
func (m *market) wholeTicks(ticks float64) float64 {
	return max(1, math.Floor(min(ticks, 64*m.start)+0.5))
}

func (m *market) price(ticks float64) exchange.Price {
	return exchange.Price(ticks) * m.symbol.PriceTick
}

// trade fills in the volume: more when the price moves.
func (m *market) trade(c *exchange.Candle, move, meanTicks float64) {
	busy := 0.3 + float64(0.7*float64(m.uniform()+float64(move/m.usual)))
	tick := m.symbol.QuantityTick
	lots := exchange.Quantity(min(float64(m.lots*busy), float64(math.MaxInt64/2/tick))) + 1
	taken := exchange.Quantity(float64(lots) * float64(0.35+float64(0.3*m.uniform())))
	mean := float64(meanTicks * m.symbol.PriceFloat(m.symbol.PriceTick))
	c.Volume, c.TakerBase = m.symbol.QuantityFloat(lots*tick), m.symbol.QuantityFloat(taken*tick)
	c.QuoteVolume, c.TakerQuote = float64(c.Volume*mean), float64(c.TakerBase*mean)
	c.Trades = 1 + int64(busy*200)
}
