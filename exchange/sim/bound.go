package sim

import (
	"math"
	"slices"

	"botd/exchange"
)

// A recorded candle has four known prices, of which two have a known time: the open and the close.
// The path in between is a guess (path.go). It is good enough to decide which stop, target or
// resting order the price passed, but not for the price that a market order would have paid at a
// given moment. With Costs.Bounded such an order pays the worst price that the market can have had
// between its placement and its fill:
//
//	buy  at t: open + (high - open) * sqrt((t - open time) / interval), and the largest of these on the way
//	sell at t: open - (open - low)  * sqrt((t - open time) / interval), and the smallest
//
// The root is how far a price without a trend moves with time, so the same delay costs as much on
// one-minute candles as on hourly ones. At the open itself the price is the open. More delay never
// improves the price, and slightly more costs slightly more. The bound depends only on the candle,
// not on the guessed path, so it orders the columns of a backtest.

// worse returns the price that is worse for an order on the side.
func worse(side exchange.Side, one, other exchange.Price) exchange.Price {
	if side == exchange.Buy {
		return max(one, other)
	}
	return min(one, other)
}

// takesSince returns the time from which an order can take.
func (b *orderBook) takesSince(o *order) int64 { return max(o.sinceMS, o.CreatedMS+b.costs.LaterMS) }

// bounded returns the price, before slippage, that a taking order pays in a recorded market. ok is
// false if its limit excludes that price.
func (b *orderBook) bounded(o *order) (price exchange.Price, ok bool) {
	now := b.exchange.nowMS
	triggered := o.triggeredMS == now && o.worst != 0
	if price = o.worst; !triggered {
		price, _ = b.tape.worst(o.Side, b.takesSince(o), now)
		if o.worst != 0 {
			price = worse(o.Side, price, o.worst)
		}
	}
	if !o.priced() {
		return price, b.last > 0
	}
	// If the known price is within the limit, the order takes, at the limit at worst. Otherwise it
	// rests: the price that just met one of the account's orders is better known than the path from
	// the open.
	if worse(o.Side, price, o.Price) == price {
		price = o.Price
	}
	known := b.tape.known
	switch {
	case triggered && o.triggered:
		known = o.met
	case b.tape.revealed:
		known = b.last
	case known == o.Price && b.costs.Through && b.tape.openedMS() > b.takesSince(o):
		return price, false // an order that was there before the bar would have rested without being passed
	}
	return price, worse(o.Side, known, o.Price) == o.Price
}

// follow follows an order on its way to the order book: a stop that the path triggers meanwhile, or an
// order placed while the path is revealed. Such an order meets the path, so the worst price on it
// since the placement applies.
func (m *tape) follow(b *orderBook, o *order) {
	if m.revealed {
		o.worst, o.watched = b.last, true
	}
	if m.revealed || o.delayed && o.Type.StopLoss() {
		m.followed = append(m.followed, o)
		m.watch(b)
	}
}

func (m *tape) watch(b *orderBook) {
	if len(m.followed) == 0 {
		return
	}
	m.followed = slices.DeleteFunc(m.followed, func(o *order) bool { return o.visible || o.Status.Final() })
	for _, o := range m.followed {
		if o.watched {
			o.worst = worse(o.Side, o.worst, b.last)
		}
		o.passed = o.passed || o.Type.StopLoss() && b.exchange.nowMS >= b.takesSince(o) && b.reached(o)
	}
}

// worst returns the worst price for a side and the smallest volume of a bar in a period within the
// current bar.
func (m *tape) worst(side exchange.Side, sinceMS, nowMS int64) (price exchange.Price, volume float64) {
	at := cursor{m.candle, m.bar, m.step}
	if !at.back(m) {
		return m.candles.Open[0], m.candles.Volume[0]
	}
	openMS, bar, interval := m.bounds(at)
	if nowMS >= openMS+interval && sinceMS+1 >= openMS+interval {
		return bar.Close, bar.Volume // in a gap in the record
	}
	part := min(1, float64(max(nowMS-openMS, 0))/float64(interval))
	price, volume = reach(side, &bar, math.Sqrt(part)), bar.Volume
	for openMS > sinceMS {
		at.step = 0
		if !at.back(m) {
			break
		}
		openMS, bar, interval = m.bounds(at)
		if openMS+interval <= sinceMS+1 { // the last millisecond is the close, which is known
			break
		}
		price, volume = worse(side, price, reach(side, &bar, 1)), min(volume, bar.Volume)
	}
	return price, volume
}

// reach returns the open moved by a share of the distance to the extreme that is worse for the
// side.
func reach(side exchange.Side, bar *exchange.Candle, part float64) exchange.Price {
	if side == exchange.Buy {
		return bar.Open + exchange.Price(math.Ceil(float64(max(0, bar.High-bar.Open))*part))
	}
	return bar.Open - exchange.Price(math.Ceil(float64(max(0, bar.Open-bar.Low))*part))
}

// bounds returns the bar at a cursor: its open time, its prices and volume, and its interval. It reads no other
// column, since most of the time of a read goes into waiting for memory.
func (m *tape) bounds(at cursor) (openMS int64, bar exchange.Candle, interval int64) {
	c, i, detailed := m.candles, at.candle, m.detail.covers(at.candle)
	if detailed {
		c, i = m.detail.candles, m.detail.from[at.candle]+at.bar
	}
	bar = exchange.Candle{OpenMS: c.OpenMS[i], Open: c.Open[i], High: c.High[i], Low: c.Low[i], Close: c.Close[i], Volume: c.Volume[i]}
	if detailed && at.bar == 0 {
		bar.Open = m.candles.Open[at.candle]
	}
	return bar.OpenMS, bar, int64(c.Interval)
}

// openedMS returns the open time of the current bar.
func (m *tape) openedMS() int64 {
	at := cursor{m.candle, m.bar, m.step}
	if !at.back(m) {
		return m.candles.OpenMS[0]
	}
	openMS, _, _ := m.bounds(at)
	return openMS
}

// restsLate reports whether an order reaches the order book when an extreme of the bar may already be
// over. The rest of the bar is unknown, so the order can fill from the bar's close on.
func (m *tape) restsLate(nowMS int64) (closeMS int64, late bool) {
	at := cursor{m.candle, m.bar, m.step}
	if !at.back(m) {
		return 0, false
	}
	openMS, _, interval := m.bounds(at)
	return openMS + interval - 1, nowMS-openMS >= interval/4 && nowMS < openMS+interval-1
}
