package sim

import (
	"sort"

	"botd/exchange"
)

// PathOrder says which of low and high a candle's path takes first.
type PathOrder uint8

// The path orders. The zero value guesses from the candle: a rising one went
// down first, a falling one up first.
const (
	ByDirection PathOrder = iota
	LowFirst
	HighFirst
)

// TapeConfig is how recorded candles are played.
type TapeConfig struct {
	SpreadTicks int // as StillConfig's
	Order       PathOrder
}

// Step is one price of a candle's path, OffsetMS after its open time.
type Step struct {
	OffsetMS int64
	Price    exchange.Price
}

// Path returns the prices that playback takes through a candle: the open at its
// beginning, low and high after a quarter and a half of the interval, the close
// in its last millisecond. From the open on, the price slides through every one
// between.
func Path(candle exchange.Candle, interval exchange.Interval) [4]Step {
	return PathBy(ByDirection, candle, interval)
}

// PathBy is Path with a chosen order.
func PathBy(order PathOrder, candle exchange.Candle, interval exchange.Interval) [4]Step {
	second, third := candle.Low, candle.High
	if order == HighFirst || order == ByDirection && candle.Close < candle.Open {
		second, third = third, second
	}
	return [4]Step{
		{0, candle.Open}, {int64(interval) / 4, second}, {int64(interval) / 2, third}, {int64(interval) - 1, candle.Close},
	}
}

// tape plays recorded candles.
type tape struct {
	candles *exchange.Candles
	config  TapeConfig
	candle  int // of the next step
	step    int

	shown map[exchange.Interval]*shown
}

// shown is what is shown of an interval: recorded candles put together as they
// close.
type shown struct {
	candles  exchange.Candles
	consumed int // recorded candles that are closed
}

// Tape returns a market that plays recorded candles of one interval, whose
// prices are in the symbol's units. Candles shown are the recorded ones; the one
// under way is made of the steps so far. A tape serves one symbol of one exchange.
func Tape(candles *exchange.Candles, config TapeConfig) Market {
	return &tape{candles: candles, config: config, shown: map[exchange.Interval]*shown{}}
}

func (m *tape) begin(b *book) int64 {
	b.quoteFrom(m.config.SpreadTicks)
	b.candles.off = m.candles.Interval == exchange.Minute1
	next := m.seek(b)
	if m.candles.Len() == 0 {
		return next
	}
	// The price is that of the last step passed; before the first candle its open.
	candle, step := m.candle, m.step-1
	if step < 0 {
		candle, step = candle-1, 3
	}
	if candle < 0 {
		candle, step = 0, 0
	}
	price := m.path(candle)[step].Price
	b.jump(price, price, true)
	return next
}

func (m *tape) path(candle int) [4]Step {
	return PathBy(m.config.Order, m.candles.At(candle), m.candles.Interval)
}

// nextMS returns the time of the step the cursor stands at.
func (m *tape) nextMS() int64 {
	if m.candle >= m.candles.Len() {
		return never
	}
	interval := int64(m.candles.Interval)
	return m.candles.OpenMS[m.candle] + [4]int64{0, interval / 4, interval / 2, interval - 1}[m.step]
}

// seek puts the cursor behind the clock's time.
func (m *tape) seek(b *book) int64 {
	now, opens := b.exchange.nowMS, m.candles.OpenMS
	if m.candle >= len(opens) || m.candle > 0 && opens[m.candle-1] > now {
		m.candle = 0
	}
	// The clock mostly stands a few candles further on.
	from, span := m.candle, 1
	for from+span < len(opens) && opens[from+span] <= now {
		from, span = from+span, span*2
	}
	end := min(from+span, len(opens))
	m.candle = from + sort.Search(end-from, func(i int) bool { return opens[from+i] > now })
	if m.candle > 0 {
		m.candle--
	}
	m.step = 0
	for next := m.nextMS(); next <= now; next = m.nextMS() {
		m.forward()
	}
	return m.nextMS()
}

func (m *tape) forward() {
	if m.step++; m.step == 4 {
		m.candle, m.step = m.candle+1, 0
	}
}

func (m *tape) move(b *book) int64 {
	candle, at, opens := m.candle, m.path(m.candle)[m.step], m.step == 0
	m.forward()
	if opens {
		// A gap fills at the open: what lies between was never traded.
		b.jump(at.Price, at.Price, true)
	} else {
		b.slide(at.Price)
	}
	if m.config.SpreadTicks > 0 {
		m.trade(b, candle)
	}
	return m.nextMS()
}

// trade shows a quarter of the candle's volume as the trade of a step. A
// backtest, which has no spread, has nobody to look at it.
func (m *tape) trade(b *book, candle int) {
	scale := b.symbol.QuantityFloat(1)
	quantity := b.symbol.FloorQuantity(exchange.Quantity(min(m.candles.Volume[candle]/4/scale, 1<<50)))
	b.publish(b.last, max(quantity, b.symbol.QuantityTick), m.step&1 == 0)
}

func (m *tape) openAt(timeMS int64) (exchange.Price, bool) {
	opens := m.candles.OpenMS
	at := sort.Search(len(opens), func(i int) bool { return opens[i] >= timeMS })
	if at < len(opens) && opens[at] == timeMS {
		return m.candles.Open[at], true
	}
	return 0, false
}

func (m *tape) fundingRate(int64) exchange.Rate { return 0 }

// candlesOf returns the recorded candles up to now, those of a longer interval
// put together from them; nil for intervals that the recorded one does not divide.
func (m *tape) candlesOf(b *book, interval exchange.Interval) (closed *exchange.Candles, last exchange.Candle, forming bool) {
	if interval < m.candles.Interval || interval%m.candles.Interval != 0 {
		return nil, last, false
	}
	now, s := b.exchange.nowMS, m.shown[interval]
	if s == nil {
		s = &shown{candles: exchange.Candles{Interval: interval}}
		m.shown[interval] = s
	}
	for s.consumed < m.candles.Len() && m.candles.CloseMS(s.consumed) <= now {
		if interval > m.candles.Interval {
			merge(&s.candles, m.candles.At(s.consumed))
		}
		s.consumed++
	}
	closed = &s.candles
	if interval == m.candles.Interval {
		closed = m.candles.Slice(0, s.consumed)
	}
	under := &exchange.Candles{Interval: interval}
	if n := closed.Len() - 1; n >= 0 && closed.CloseMS(n) > now {
		under.Append(closed.At(n))
		closed = closed.Slice(0, n)
	}
	if s.consumed < m.candles.Len() && m.candles.OpenMS[s.consumed] <= now {
		merge(under, m.forming(s.consumed, now))
	}
	if under.Len() == 0 {
		return closed, last, false
	}
	return closed, under.At(0), true
}

// forming returns the candle under way: the steps so far, and as large a share
// of the recorded volume.
func (m *tape) forming(at int, now int64) exchange.Candle {
	whole, path := m.candles.At(at), m.path(at)
	candle := exchange.Candle{OpenMS: whole.OpenMS, Open: whole.Open, High: whole.Open, Low: whole.Open, Close: whole.Open}
	steps := 0
	for steps < 4 && whole.OpenMS+path[steps].OffsetMS <= now {
		price := path[steps].Price
		candle.High, candle.Low, candle.Close = max(candle.High, price), min(candle.Low, price), price
		steps++
	}
	share := float64(steps) / 4
	candle.Volume, candle.QuoteVolume = whole.Volume*share, whole.QuoteVolume*share
	candle.TakerBase, candle.TakerQuote = whole.TakerBase*share, whole.TakerQuote*share
	candle.Trades = whole.Trades * int64(steps) / 4
	return candle
}
