package sim

import (
	"cmp"

	"botd/exchange"
)

// With Costs.Bounded a tape's price moves gradually from step to step: in a straight line, and
// events on the way happen at the time the price reaches them. The account can then act on a fill
// while the price is still where it happened, and an order that arrives a millisecond later finds
// nearly the same price. Served over HTTP, a tape jumps from step to step.

// sliding reports whether the price is moving between two steps.
func (m *tape) sliding() bool { return m.config.Costs.Bounded && m.step > 0 }

// pass moves the price to its value at the clock's time.
func (m *tape) pass(b *orderBook) {
	m.reconsider(b)
	b.slide(m.priceAt(b.exchange.nowMS))
	m.watch(b)
}

// reconsider chooses the path again while it has reached neither extreme, because Worst and Best
// depend on the account's current position and orders. After turning, the path has the same time
// again that was left to the second extreme; otherwise it would become steeper the later it turns,
// and a millisecond could cost a whole candle.
func (m *tape) reconsider(b *orderBook) {
	if m.step != 1 {
		return
	}
	if order := m.chosen(b, m.candle, m.bar); order != m.order {
		m.order, m.from = order, Step{b.exchange.nowMS, b.last}
		m.turned = (b.exchange.nowMS - m.barMS()) / 2
	}
}

// target returns the next step, at a time of the clock.
func (m *tape) target() Step {
	return Step{m.nextMS(), m.stepOf(m.candle, m.bar, m.step).Price}
}

// priceAt returns the price on the way to the next step.
func (m *tape) priceAt(nowMS int64) exchange.Price {
	to := m.target()
	if nowMS <= m.from.OffsetMS || to.OffsetMS <= m.from.OffsetMS {
		return m.from.Price
	}
	moved := exchange.Price(proportion(int64(max(to.Price-m.from.Price, m.from.Price-to.Price)), nowMS-m.from.OffsetMS, to.OffsetMS-m.from.OffsetMS))
	if to.Price < m.from.Price {
		moved = -moved
	}
	return m.from.Price + moved
}

// dueMS returns the time of the next event: the price reaches something on its way, or the next
// step.
func (m *tape) dueMS(b *orderBook) int64 {
	if !m.sliding() {
		return m.nextMS()
	}
	m.reconsider(b)
	to := m.target()
	b.fresh()
	bound, falls := b.ceiling, to.Price < b.last
	if falls {
		bound = b.floor
	}
	free := to.Price == b.last || bound == b.last || (bound < b.last) != falls || (bound < to.Price) == falls && bound != to.Price
	if pause := m.pause(b, to.Price); pause != to.Price && (free || (pause > bound) == falls) {
		bound, free = pause, false
	}
	if free {
		return to.OffsetMS // nothing is in the way
	}
	way, whole := max(bound-m.from.Price, m.from.Price-bound), max(to.Price-m.from.Price, m.from.Price-to.Price)
	at := m.from.OffsetMS + proportion(int64(way), to.OffsetMS-m.from.OffsetMS, int64(whole)) + 1
	return min(max(at, b.exchange.nowMS+1), to.OffsetMS)
}

// pauses is the maximum number of moves of a trailing stop on the way to an extreme.
const pauses = 32

// pause returns the next price on the way to a step at which a trailing stop is checked: where it
// starts, every tenth of a percent on the way to the first extreme, and at its target price,
// whether it has been moved there or not. On the worse path the price reverses as soon as the
// stop's target is within the candle.
func (m *tape) pause(b *orderBook, to exchange.Price) exchange.Price {
	if !b.trails {
		return to
	}
	falls := to < b.last
	if m.step == 1 && m.config.Order == Worst {
		step := max(b.last/1_000, max(to-m.from.Price, m.from.Price-to)/pauses, b.symbol.PriceTick)
		if falls {
			to = max(to, b.last-step)
		} else {
			to = min(to, b.last+step)
		}
	}
	at := cmp.Or(b.trailing, b.trailsFrom)
	if at != b.last && (at < b.last) == falls && (at > to) == falls {
		return at
	}
	return to
}
