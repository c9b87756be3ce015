package script

import (
	"errors"
	"fmt"
	"math"

	"botd/exchange"
	"botd/strategy"
)

// Bounds of the measured warm-up, in candles.
const (
	warmupTimes  = 3       // times the first value; averages with infinite memory have settled by then
	warmupBeyond = 1_000   // but at most this many after the first value, of the longest interval
	warmupTried  = 100_000 // a series without a value by then is ignored
	rehearsed    = 64      // number of decisions tried
)

// rehearse runs synthetic candles through a strategy that will not trade: first until each of its
// series has a value, which determines the warm-up, then through some decisions with and without a
// position. It finds a misspelled name when the configuration is checked, before money is at stake.
func rehearse(r *running, as strategy.Strategy) (warmup int, err error) {
	stage := newStage(r.setting)
	stage.long = r.long
	for _, key := range r.others {
		symbol := *r.setting.Symbol
		symbol.Market, symbol.Name = key.Market, key.Name
		stage.view.Others = append(stage.view.Others, strategy.Other{Symbol: &symbol, Candles: &exchange.Candles{}})
	}
	defer func() {
		if cause := recover(); cause != nil {
			failed, is := cause.(error)
			if !is {
				failed = fmt.Errorf("%v", cause)
			}
			if err = failed; stage.view.Position.Quantity < 0 && stage.decides(as) {
				err = rehearsedWith(as, failed)
			}
		}
	}()
	r.setting.Columns = rehearsedColumns{}
	var nodes []*node
	for _, c := range r.clocks {
		nodes = append(nodes, c.nodes...)
	}
	first, has, missing := 1, make([]bool, len(nodes)), len(nodes)
	for n := 1; n <= warmupTried && missing > 0; n++ {
		as.Candle(stage.next())
		for i, node := range nodes {
			if !has[i] && !math.IsNaN(node.wrote[len(node.wrote)-1].at(0)) {
				has[i], first = true, n
				missing--
			}
		}
	}
	var plan strategy.Plan
	for range rehearsed {
		view := stage.next()
		as.Candle(view)
		plan.Reset()
		as.Decide(view, &plan)
	}
	if first == 1 {
		return 1, nil
	}
	longest := r.setting.Interval
	for _, c := range r.clocks[1:] {
		longest = max(longest, c.interval)
	}
	return min(warmupTimes*first, first+warmupBeyond*int(longest/r.setting.Interval)), nil
}

// decides reports whether a strategy decides without an error while it has no position.
func (s *stage) decides(as strategy.Strategy) (sound bool) {
	defer func() { sound = recover() == nil }()
	view, plan := s.view, strategy.Plan{}
	view.Position = strategy.Position{}
	as.Decide(&view, &plan)
	return sound
}

// rehearsedWith adds to an error that the rehearsal showed a short position, which a long-only script does not expect.
func rehearsedWith(as strategy.Strategy, failed error) error {
	var at *strategy.SourceError
	if !errors.As(failed, &at) {
		return failed
	}
	with, advice := *at, "a script that never sells short must call long_only() at its top; any other must handle the position or return None"
	if _, rules := as.(*ruled); rules { // which have no top
		advice = "a rule must be true or false while short too, as a position adopted from a person may be"
	}
	with.Err = fmt.Errorf("%w (rehearsed on load with a synthetic short position: %s)", at.Err, advice)
	return &with
}

// stage is a synthetic market.
type stage struct {
	view    strategy.View
	candles *exchange.Candles
	setting strategy.Setting
	at      int
	price   exchange.Price
	long    bool // shows no short positions
}

func newStage(setting strategy.Setting) *stage {
	s := &stage{setting: setting, price: 1000 * setting.Symbol.PriceTick, candles: &exchange.Candles{}}
	s.view = strategy.View{Symbol: setting.Symbol, Interval: setting.Interval, Equity: exchange.AmountOf(10_000), Size: setting.Size, Leverage: 1}
	return s
}

// candle returns the current candle, from one price to another.
func (s *stage) candle(from, to exchange.Price) exchange.Candle {
	tick, wick := s.setting.Symbol.PriceTick, exchange.Price(s.at%3) // neighbors differ, otherwise no extreme would stand out
	return exchange.Candle{OpenMS: int64(s.at) * int64(s.setting.Interval), Open: from, Close: to,
		High: max(from, to) + (1+wick)*tick, Low: min(from, to) - (3-wick)*tick, Volume: 10 + float64(3*math.Sin(float64(s.at)))}
}

// next returns the market one candle later: flat, long and short in turn.
func (s *stage) next() *strategy.View {
	s.at++
	n, tick := float64(s.at), s.setting.Symbol.PriceTick
	open := s.price
	s.price = max(100, s.price/tick+exchange.Price(20*math.Sin(n*1.7)*math.Cos(n*0.31))) * tick
	c := s.candle(open, s.price)
	s.candles.Append(c)
	v := &s.view
	for i := range v.Others { // at about half the price, each with its own variation
		at := func(n float64) exchange.Price {
			return (500 + exchange.Price(20*math.Sin(n*(0.9+float64(0.1*float64(i)))))) * tick
		}
		v.Others[i].Candles.Append(s.candle(at(n-1), at(n)))
	}
	v.Last, v.NowMS = c.Close, c.OpenMS+int64(s.setting.Interval)
	v.SetHistory(s.candles, s.at)
	v.BuyingPower = v.Equity
	v.OrderBook = strategy.OrderBook{}
	if s.at%2 == 0 { // recorded candles have none
		level := func(p exchange.Price) []exchange.Level {
			return []exchange.Level{{Price: p, Quantity: 10 * s.setting.Symbol.QuantityTick}}
		}
		v.OrderBook = strategy.OrderBook{Bids: level(s.price - tick), Asks: level(s.price + tick), AtMS: v.NowMS}
	}
	v.Events = nil
	if s.at%4 == 1 {
		for kind := strategy.EventFilled; kind <= strategy.EventReleased; kind++ {
			v.Events = append(v.Events, strategy.Event{AtMS: v.NowMS, Kind: kind, Side: exchange.Sell, Quantity: s.setting.Symbol.QuantityTick, Reduces: true})
		}
	}
	v.Position = strategy.Position{}
	side := s.at%3 - 1
	if side > 0 || side < 0 && s.setting.Market == exchange.Futures && !s.long {
		v.Position = strategy.Position{Quantity: exchange.Quantity(side) * s.setting.Symbol.QuantityTick * 10,
			EntryPrice: s.setting.Symbol.PriceAmount(open), SinceMS: c.OpenMS}
	}
	return v
}
