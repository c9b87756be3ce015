package sim

import (
	"math"
	"slices"
	"sort"

	"botd/exchange"
)

// maxBaseCandles is the number of stored minutes: about 69 days.
const maxBaseCandles = 100_000

// builder builds one-minute candles from prices and trades as they arrive. All other intervals are
// built from them. A minute without a trade is flat at the last close.
type builder struct {
	base exchange.Candles
	last exchange.Price
	off  bool // the market has its own recorded minutes
}

// roll begins the minute of a time and all empty minutes before it.
func (c *builder) roll(timeMS int64, price exchange.Price) {
	c.base.Interval = exchange.Minute1
	open := exchange.Minute1.OpenOf(timeMS)
	n := c.base.Len()
	if n == 0 {
		c.last = price
		c.flat(open)
		return
	}
	next := c.base.OpenMS[n-1] + int64(exchange.Minute1)
	if next > open {
		return
	}
	if missed := (open - next) / int64(exchange.Minute1); missed > maxBaseCandles {
		c.base = exchange.Candles{Interval: exchange.Minute1}
		next = open - maxBaseCandles*int64(exchange.Minute1)
	}
	for ; next <= open; next += int64(exchange.Minute1) {
		c.flat(next)
	}
	if extra := c.base.Len() - maxBaseCandles; extra > maxBaseCandles {
		c.base = *c.base.Slice(extra, c.base.Len()).Clone()
	}
}

func (c *builder) flat(open int64) {
	c.base.Append(exchange.Candle{OpenMS: open, Open: c.last, High: c.last, Low: c.last, Close: c.last})
}

// tick adds a price to the current candle.
func (c *builder) tick(timeMS int64, price exchange.Price) {
	if c.off {
		return
	}
	n := c.base.Len()
	if n == 0 || timeMS >= c.base.OpenMS[n-1]+int64(exchange.Minute1) {
		c.roll(timeMS, price)
		n = c.base.Len()
	}
	c.base.High[n-1], c.base.Low[n-1] = max(c.base.High[n-1], price), min(c.base.Low[n-1], price)
	c.base.Close[n-1], c.last = price, price
}

// trade adds a trade's volume, but not its price, to the current candle.
func (c *builder) trade(timeMS int64, last exchange.Price, base, quote float64, buyerTakes bool) {
	if c.off {
		return
	}
	c.tick(timeMS, last)
	at := c.base.Len() - 1
	c.base.Volume[at] += base
	c.base.QuoteVolume[at] += quote
	c.base.Trades[at]++
	if buyerTakes {
		c.base.TakerBase[at] += base
		c.base.TakerQuote[at] += quote
	}
}

// reach widens the current candle to include a trade, because every trade lies within its candle.
func (c *builder) reach(price exchange.Price) {
	if n := c.base.Len(); !c.off && n > 0 {
		c.base.High[n-1], c.base.Low[n-1] = max(c.base.High[n-1], price), min(c.base.Low[n-1], price)
	}
}

// minutesFrom returns at least the minutes that open from fromMS to untilMS, inclusive.
func (b marketData) minutesFrom(fromMS, untilMS int64) *exchange.Candles {
	base := &b.candles.base
	if b.past == nil || fromMS >= b.past.toMS || base.OpenMS[0] != b.past.toMS { // the oldest minutes may have been dropped
		return base
	}
	all := &exchange.Candles{Interval: exchange.Minute1}
	b.past.minutes(b.orderBook, all, fromMS, untilMS)
	for i := 0; i < base.Len() && base.OpenMS[i] <= untilMS; i++ {
		all.Append(base.At(i))
	}
	return all
}

// builtFrom returns the candles of an interval for at least a period, oldest first, built from the
// minutes.
func (b marketData) builtFrom(interval exchange.Interval, fromMS, untilMS int64) *exchange.Candles {
	if b.last == 0 {
		return &exchange.Candles{Interval: interval}
	}
	b.candles.roll(b.exchange.nowMS, b.last)
	base := b.minutesFrom(interval.OpenOf(fromMS), untilMS)
	if interval == exchange.Minute1 {
		return base
	}
	start, _ := slices.BinarySearch(base.OpenMS, interval.OpenOf(fromMS))
	minutes := base.Slice(start, base.Len()).Clone()
	grain, quoteGrain := b.volumeSteps(false)
	snap(minutes, 0, grain, quoteGrain)
	all := &exchange.Candles{Interval: interval}
	for i := range minutes.Len() {
		all.Merge(minutes.At(i))
		snap(all, all.Len()-1, grain, quoteGrain)
	}
	return all
}

// window returns the candles with an open time within startMS..endMS, inclusive: the first ones if
// there is a start, otherwise the newest.
func (b marketData) window(interval exchange.Interval, startMS, endMS int64, fromStart bool, offset, limit int) *exchange.Candles {
	aboutMS, untilMS := startMS, b.exchange.nowMS
	if fromStart && b.past != nil {
		untilMS = min(untilMS, max(startMS, b.past.fromMS)+int64(interval)*int64(offset+limit+1))
	}
	if !fromStart {
		aboutMS = b.exchange.nowMS - int64(interval)*int64(limit+1)
		if endMS > 0 {
			aboutMS = min(aboutMS, endMS-int64(interval)*int64(limit+1))
		}
	}
	all, last, forming := b.market.candlesOf(b.orderBook, interval) // the current one may be separate
	recorded := all != nil
	if !recorded {
		all = b.builtFrom(interval, aboutMS, untilMS)
	}
	count := all.Len()
	if forming {
		count++
	}
	openOf := func(i int) int64 {
		if i < all.Len() {
			return all.OpenMS[i]
		}
		return last.OpenMS
	}
	from := sort.Search(count, func(i int) bool { return openOf(i) >= startMS })
	to := count
	if endMS > 0 {
		to = max(from, sort.Search(count, func(i int) bool { return openOf(i) > endMS }))
	}
	if fromStart {
		from += min(offset, to-from)
		to = from + min(limit, to-from)
	} else {
		from = max(from, to-limit)
	}
	part := all.Slice(min(from, all.Len()), min(to, all.Len())).Clone()
	fillColumns(part)
	base, quote := b.volumeSteps(recorded)
	snap(part, 0, base, quote)
	if to > all.Len() && from < to {
		part.Append(last)
	}
	return part
}

// snap rounds the volumes of candles, from a given one on, because adding floats made their last digits
// inexact.
func snap(c *exchange.Candles, from int, base, quote float64) {
	for i := from; i < c.Len(); i++ {
		c.Volume[i], c.TakerBase[i] = snapped(c.Volume[i], base), snapped(c.TakerBase[i], base)
		c.QuoteVolume[i], c.TakerQuote[i] = snapped(c.QuoteVolume[i], quote), snapped(c.TakerQuote[i], quote)
	}
}

// recordedGrain is the finest step of recorded volumes: 1e-8.
const recordedGrain = 1e8

// volumeSteps returns the number of volume steps in one unit: the power of ten of a quantityTick,
// and of a quantityTick times a priceTick. Recorded volumes may be finer.
func (b marketData) volumeSteps(recorded bool) (base, quote float64) {
	if recorded {
		return recordedGrain, recordedGrain
	}
	zeros := func(n int64) (count int) {
		for ; n > 0 && n%10 == 0; n /= 10 {
			count++
		}
		return count
	}
	places := b.symbol.QuantityScale - zeros(int64(b.symbol.QuantityTick))
	worth := places + b.symbol.PriceScale - zeros(int64(b.symbol.PriceTick))
	return math.Pow10(max(0, places)), math.Pow10(max(0, worth))
}

// snapped returns the nearest multiple of a step, unless the number is so large that its own
// precision is no better.
func snapped(number, grain float64) float64 {
	if number*grain >= 1<<50 {
		return number
	}
	return math.Round(number*grain) / grain
}

// fillColumns adds the missing optional columns to recorded candles.
func fillColumns(c *exchange.Candles) {
	n := c.Len()
	for _, column := range []*[]float64{&c.QuoteVolume, &c.TakerBase, &c.TakerQuote} {
		if len(*column) < n {
			*column = make([]float64, n)
		}
	}
	if len(c.Trades) < n {
		c.Trades = make([]int64, n)
	}
}
