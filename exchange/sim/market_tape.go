package sim

import (
	"sort"

	"botd/exchange"
)

// TapeConfig sets how recorded candles are played.
type TapeConfig struct {
	SpreadTicks int // like StillConfig's; with 0, as in a backtest, no minutes are built inside longer candles
	Order       PathOrder
	Costs       Costs
	Funding     exchange.Rate     // of payments without a recorded rate
	Detail      *exchange.Candles // candles of a shorter interval, which replace the guessed path of candles that they cover without a gap
}

// tape plays recorded candles, each as one bar, or as the bars of the detail.
type tape struct {
	candles  *exchange.Candles
	config   TapeConfig
	detail   *detail // nil for none
	candle   int     // of the next step
	bar      int     // within the candle
	step     int
	order    PathOrder      // of the current bar
	turned   int64          // additional time to the first extreme after the path reversed on the way
	known    exchange.Price // the last price whose time is known
	followed []*order       // orders on their way to the order book (follow)
	revealed bool           // the account's exits follow the path
	from     Step           // with Costs.Bounded: start of the way to the next step, at a time of the clock

	seen      *exchange.Candles // the visible candles: as recorded, plus the accounts' trades
	plays     bool              // the published trades are the market's own
	counts    bool              // quote volume, count and taker volumes come from its own trades
	reached   reached
	intervals map[exchange.Interval]*visibleCandles
}

// reached is the price range of the accounts' trades in the current candle.
type reached struct {
	candle    int
	low, high exchange.Price // 0: no trade yet
}

// visibleCandles holds the visible candles of an interval: recorded candles, merged as they close.
type visibleCandles struct {
	candles  exchange.Candles
	consumed int // number of closed recorded candles
}

// Tape returns a market that plays recorded candles of one interval, whose prices are in the symbol's units. It shows
// the recorded candles, and builds the current one from the steps so far. A tape serves one symbol of one exchange.
func Tape(candles *exchange.Candles, config TapeConfig) Market {
	m := &tape{candles: candles, seen: candles, config: config, order: config.Order, intervals: map[exchange.Interval]*visibleCandles{}}
	if config.Detail != nil {
		m.detail = newDetail(candles, config.Detail)
	}
	return m
}

func (m *tape) begin(b *orderBook) int64 {
	b.quoteFrom(m.config.SpreadTicks)
	b.costs = m.config.Costs
	// Minutes are built from steps only if something reads them: a backtest has no spread and reads
	// no candles shorter than the recorded ones. Building the half a million minutes of a year took
	// nine tenths of a backtest on hourly candles.
	b.candles.off = m.candles.Interval == exchange.Minute1 || m.config.SpreadTicks == 0
	next := m.seek(b)
	if m.candles.Len() == 0 {
		return next
	}
	m.complete(b)
	// The price is that of the last passed step, or the open before the first candle.
	at := cursor{m.candle, m.bar, m.step}
	at.back(m)
	price := m.stepOf(at.candle, at.bar, at.step).Price
	m.recall(b, at)
	b.renew(m.volumeOf(at.candle, at.bar))
	b.jump(price, price, true)
	m.known = price
	return next
}

// stepOf returns a step of a bar.
func (m *tape) stepOf(candle, bar, step int) Step {
	if !m.detail.covers(candle) {
		return stepOf(m.order, m.candles, candle, step)
	}
	bar += m.detail.from[candle]
	at := stepOf(m.order, m.detail.candles, bar, step)
	at.OffsetMS += m.detail.candles.OpenMS[bar] - m.candles.OpenMS[candle]
	return at
}

// nextMS returns the time of the cursor's step.
func (m *tape) nextMS() int64 {
	if m.candle >= m.candles.Len() {
		return never
	}
	interval := m.candles.Interval
	if m.detail.covers(m.candle) {
		interval = m.detail.candles.Interval
	}
	offset := offsetOf(m.step, interval)
	if m.step == 1 {
		offset += m.turned
	}
	return m.barMS() + offset
}

// barMS returns the open time of the cursor's bar.
func (m *tape) barMS() int64 {
	if m.detail.covers(m.candle) {
		return m.detail.candles.OpenMS[m.detail.from[m.candle]+m.bar]
	}
	return m.candles.OpenMS[m.candle]
}

// seek moves the cursor past the clock's time.
func (m *tape) seek(b *orderBook) int64 {
	now, opens := b.exchange.nowMS, m.candles.OpenMS
	if m.candle >= len(opens) || m.candle > 0 && opens[m.candle-1] > now {
		m.candle = 0
	}
	// Usually the clock is only a few candles ahead.
	from, span := m.candle, 1
	for from+span < len(opens) && opens[from+span] <= now {
		from, span = from+span, span*2
	}
	end := min(from+span, len(opens))
	m.candle = from + sort.Search(end-from, func(i int) bool { return opens[from+i] > now })
	if m.candle > 0 {
		m.candle--
	}
	m.bar, m.step, m.turned = 0, 0, 0
	if m.candle < len(opens) && m.detail.covers(m.candle) && opens[m.candle] <= now {
		m.bar = int(min(int64(m.detail.bars-1), (now-opens[m.candle])/int64(m.detail.candles.Interval)))
	}
	for next := m.nextMS(); next <= now; next = m.nextMS() {
		m.forward()
	}
	m.from, m.known = Step{now, b.last}, b.last
	return m.nextMS()
}

func (m *tape) forward() {
	m.turned = 0
	if m.step++; m.step < 4 {
		return
	}
	m.step = 0
	if m.bar++; m.bar >= m.detail.barsOf(m.candle) {
		m.candle, m.bar = m.candle+1, 0
	}
}

func (m *tape) move(b *orderBook) int64 {
	if m.config.Costs.Bounded && b.exchange.nowMS < m.nextMS() {
		m.pass(b)
		return m.dueMS(b)
	}
	candle, bar, step := m.candle, m.bar, m.step
	switch step {
	case 0:
		m.order = m.config.Order
		b.renew(m.volumeOf(candle, bar))
	case 1:
		m.order = m.chosen(b, candle, bar)
	}
	at := m.stepOf(candle, bar, step)
	if step == 0 || step == 3 {
		if m.known = at.Price; bar == 0 && step == 0 {
			m.known = m.candles.Open[candle]
		}
	}
	m.forward()
	m.from = Step{b.exchange.nowMS, at.Price}
	switch {
	case step > 0:
		b.slide(at.Price)
	case bar == 0:
		// A gap fills at the open, because nothing traded in between. The candle's own open
		// applies, because the detail may begin later.
		open := m.candles.Open[candle]
		b.jump(open, open, true)
	default:
		b.jump(at.Price, at.Price, true)
	}
	m.watch(b)
	if m.config.SpreadTicks > 0 {
		m.trade(b, candle, step)
	}
	return m.dueMS(b)
}

// chosen returns the path order of the current bar once the positions and orders in it are known.
func (m *tape) chosen(b *orderBook, candle, bar int) PathOrder {
	if m.config.Order != Worst && m.config.Order != Best {
		return m.config.Order
	}
	low, high := m.candles.Low[candle], m.candles.High[candle]
	if m.detail.covers(candle) {
		at := m.detail.from[candle] + bar
		low, high = m.detail.candles.Low[at], m.detail.candles.High[at]
	}
	b.fresh()
	order := b.adverse(low, high)
	if m.config.Order == Best {
		order = order.mirrored()
	}
	return order
}

func (m *tape) volumeOf(candle, bar int) float64 {
	if m.detail.covers(candle) {
		return m.detail.candles.Volume[m.detail.from[candle]+bar]
	}
	return m.candles.Volume[candle]
}

func (m *tape) openAt(timeMS int64) (exchange.Price, bool) {
	opens := m.candles.OpenMS
	at := sort.Search(len(opens), func(i int) bool { return opens[i] >= timeMS })
	if at < len(opens) && opens[at] == timeMS {
		return m.candles.Open[at], true
	}
	return 0, false
}

func (m *tape) fundingRate(int64) exchange.Rate { return m.config.Funding }

// pricedMS returns the time at which an arriving order meets a price: now within a candle,
// otherwise at the next one.
func (m *tape) pricedMS(b *orderBook) int64 {
	now := b.exchange.nowMS
	last := cursor{m.candle, m.bar, m.step}
	// The step before the cursor is the last one passed.
	if !last.back(m) || now >= m.candles.CloseMS(last.candle) {
		return m.nextMS()
	}
	return now
}

func (m *tape) opensMS(*orderBook) int64 {
	next := tape{candles: m.candles, detail: m.detail, candle: m.candle, bar: m.bar, step: m.step}
	for next.step > 0 {
		next.forward()
	}
	return next.nextMS()
}

// cursor is a step of a tape.
type cursor struct{ candle, bar, step int }

// back moves to the previous step and reports whether there is one.
func (c *cursor) back(m *tape) bool {
	switch {
	case c.step > 0:
		c.step--
	case c.bar > 0:
		c.bar, c.step = c.bar-1, 3
	case c.candle > 0:
		c.candle, c.step = c.candle-1, 3
		c.bar = m.detail.barsOf(c.candle) - 1
	default:
		return false
	}
	return true
}

// candlesOf returns the recorded candles up to now, those of a longer interval built from them; nil
// for intervals that are not a multiple of the recorded one.
func (m *tape) candlesOf(b *orderBook, interval exchange.Interval) (closed *exchange.Candles, last exchange.Candle, forming bool) {
	if interval < m.candles.Interval || interval%m.candles.Interval != 0 {
		return nil, last, false
	}
	now, s := b.exchange.nowMS, m.intervals[interval]
	if s == nil {
		s = &visibleCandles{candles: exchange.Candles{Interval: interval}}
		m.intervals[interval] = s
	}
	for s.consumed < m.candles.Len() && m.candles.CloseMS(s.consumed) <= now {
		if interval > m.candles.Interval {
			s.candles.Merge(m.seen.At(s.consumed))
		}
		s.consumed++
	}
	closed = &s.candles
	if interval == m.candles.Interval {
		closed = m.seen.Slice(0, s.consumed)
	}
	under := &exchange.Candles{Interval: interval}
	if n := closed.Len() - 1; n >= 0 && closed.CloseMS(n) > now {
		under.Append(closed.At(n))
		closed = closed.Slice(0, n)
	}
	if s.consumed < m.candles.Len() && m.candles.OpenMS[s.consumed] <= now {
		under.Merge(m.forming(b, s.consumed, now))
	}
	if under.Len() == 0 {
		return closed, last, false
	}
	return closed, under.At(0), true
}
