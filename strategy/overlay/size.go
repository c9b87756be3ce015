package overlay

import (
	"fmt"
	"math"

	"botd/exchange"
	"botd/strategy"
)

// Sizing says how large a position is: by the distance of its stop, by how much the price moves, or by
// what the strategy's trades have earned. It replaces a target given as a share of the equity, sized once
// when the position is entered, and leaves targets in other units as they are.
type Sizing struct {
	Risk       exchange.Rate     // of the equity, that the stop loses; 0 for another way
	Volatility exchange.Rate     // of the equity in a year, that the position moves
	Kelly      exchange.Rate     // share of the growth-optimal position
	Max        exchange.Rate     // maximum value as a share of the equity
	Stop       strategy.Distance // the configured one, where the plan sets none
	TakeProfit strategy.Distance
}

// IsZero reports whether the size is the strategy's.
func (s *Sizing) IsZero() bool { return s.Risk == 0 && s.Volatility == 0 && s.Kelly == 0 }

const (
	volatilityCandles = 30                     // of which the deviation is taken
	kellyTrades       = 20                     // before which nothing is concluded from them
	leastKelly        = exchange.RateOne / 100 // is traded while they say nothing, or that there is no edge
)

// Memory keys of the size. Journals hold them, so they cannot change.
const (
	sizeSide     = "size.side"     // of the position that was sized: +1, 0, -1
	sizeQuantity = "size.quantity" // of it
	sizeShare    = "size.share"    // of the size that the strategy asked for
	sizeSignal   = "size.signal"   // when the signal was given that it follows
	sizeSeen     = "size.seen"     // side of the position that was seen last
	sizeEntry    = "size.entry"    // its entry price
	sizeWins     = "size.wins"     // positions that ended with a profit
	sizeWon      = "size.won"      // the sum of their profits, as shares of the price
	sizeLosses   = "size.losses"
	sizeLost     = "size.lost"
)

// sizing is one decision about a size.
type sizing struct {
	decision
	rules *Sizing
}

func (s *sizing) apply() {
	s.observe()
	t := s.plan.Target
	if t.Kind == strategy.NoTarget {
		return
	}
	side := int64(t.Sign())
	if side == 0 {
		s.set(sizeSide, 0)
		return
	}
	if t.Kind != strategy.ByEquity {
		return
	}
	share := max(t.Share, -t.Share)
	again := s.view.Position.Quantity == 0 && s.plan.SignalMS > s.get(sizeSignal) // a new signal on the same side
	if s.get(sizeSide) != side || s.get(sizeShare) != int64(share) || again {
		quantity, why := s.compute(side)
		quantity = s.view.Symbol.FloorQuantity(s.view.Symbol.QuantityOf(s.view.Symbol.QuantityAmount(quantity).MulRate(share)))
		if quantity <= 0 {
			s.plan.Hold(strategy.Flat(), why)
			s.plan.SignalMS = 0
			s.set(sizeSide, 0)
			return
		}
		s.set(sizeSide, side)
		s.set(sizeShare, int64(share))
		s.set(sizeQuantity, int64(quantity))
		s.set(sizeSignal, s.plan.SignalMS)
	}
	s.plan.Target = strategy.Target{Kind: strategy.ByQuantity, Quantity: exchange.Quantity(side * s.get(sizeQuantity))}
}

// compute returns how large a position is now, and why it is none.
func (s *sizing) compute(side int64) (quantity exchange.Quantity, why string) {
	v := s.view
	most := v.Symbol.QuantityFor(v.Equity.MulRate(s.rules.Max), max(1, v.Last))
	switch {
	case v.Equity.Sign() <= 0 || v.Last <= 0:
		return 0, "no equity or no price to size by"
	case s.rules.Risk > 0:
		stop := s.stopPrice(side)
		if stop <= 0 {
			return 0, "size.risk needs a stop-loss on the losing side of the price"
		}
		quantity, why = v.QuantityAtRisk(s.rules.Risk, stop), "the size by risk is less than the smallest order"
	case s.rules.Volatility > 0:
		moves, known := s.volatility()
		if !known {
			return 0, fmt.Sprintf("size.volatility needs %d candles whose closes differ", volatilityCandles+1)
		}
		quantity, why = s.worth(s.rules.Volatility.Float()/moves), "the size by volatility is less than the smallest order"
	default:
		quantity, why = s.worth(max(leastKelly.Float(), s.rules.Kelly.Float()*s.kelly())), "the size by kelly is less than the smallest order"
	}
	return min(max(quantity, -quantity), most), why
}

// worth is the quantity of a share of the equity, at most the maximum.
func (s *sizing) worth(share float64) exchange.Quantity {
	share = min(share, s.rules.Max.Float())
	return s.view.Symbol.QuantityFor(s.view.Equity.MulRate(exchange.Rate(share*float64(exchange.RateOne))), s.view.Last)
}

// stopPrice is the stop of a position that is entered at the last price; 0 where there is none on its losing side.
func (s *sizing) stopPrice(side int64) exchange.Price {
	stop := s.rules.Stop
	if s.plan.Protection.Set {
		stop = s.plan.Protection.StopLoss
	}
	at := stop.Price
	if stop.Share > 0 {
		at = s.view.Last - exchange.Price(side)*portion(s.view.Last, stop.Share)
	}
	if at <= 0 || int64(s.view.Last-at)*side <= 0 {
		return 0
	}
	return at
}

// volatility is the deviation of the closes' changes, over a year.
func (s *sizing) volatility() (year float64, known bool) {
	v := s.view
	if v.Closed() <= volatilityCandles || v.Interval <= 0 {
		return 0, false
	}
	var sum, squares float64
	for i := range volatilityCandles {
		change := math.Log(float64(v.Back(i).Close) / float64(v.Back(i+1).Close))
		sum, squares = sum+change, squares+change*change
	}
	const n = float64(volatilityCandles)
	variance := squares/n - sum/n*(sum/n)
	const yearMS = 365 * 86_400_000
	year = math.Sqrt(max(0, variance) * yearMS / float64(v.Interval))
	return year, year > 1e-9
}

// kelly is the share of the equity at which the equity would have grown fastest with the trades so far:
// p/loss - (1-p)/gain, of their mean loss and gain as shares of the price (E. O. Thorp). 0 says nothing.
func (s *sizing) kelly() float64 {
	wins, losses := float64(s.get(sizeWins)), float64(s.get(sizeLosses))
	if wins+losses < kellyTrades || wins == 0 {
		return 0
	}
	if losses == 0 {
		return math.Inf(1) // as much as is allowed
	}
	gain, loss := float64(s.get(sizeWon))/wins/1e8, float64(s.get(sizeLost))/losses/1e8
	p := wins / (wins + losses)
	return p/max(loss, 1e-9) - (1-p)/max(gain, 1e-9)
}

// observe remembers where positions began, and what those that ended earned: by the price at the
// decision that saw the end, or by the stop or take-profit where that lies between.
func (s *sizing) observe() {
	now, before := int64(0), s.get(sizeSeen)
	if q := s.view.Position.Quantity; q > 0 {
		now = 1
	} else if q < 0 {
		now = -1
	}
	if now == before {
		return
	}
	if before != 0 {
		s.ended(before)
		if now == 0 && s.get(sizeSide) == before {
			s.set(sizeSide, 0) // what is entered next is sized anew
		}
	}
	if s.set(sizeSeen, now); now == 0 {
		return
	}
	entry := s.view.Symbol.PriceOf(s.view.Position.EntryPrice)
	if entry == 0 {
		entry = s.view.Last
	}
	s.set(sizeEntry, int64(entry))
}

func (s *sizing) ended(side int64) {
	entry := s.get(sizeEntry)
	if s.rules.Kelly == 0 || entry <= 0 {
		return
	}
	gain := float64(side) * (float64(s.view.Last)/float64(entry) - 1)
	if stop := s.rules.Stop.Share.Float(); stop > 0 {
		gain = max(gain, -stop)
	}
	if profit := s.rules.TakeProfit.Share.Float(); profit > 0 {
		gain = min(gain, profit)
	}
	count, sum := sizeWins, sizeWon
	if gain <= 0 {
		count, sum = sizeLosses, sizeLost
	}
	s.set(count, s.get(count)+1)
	s.set(sum, s.get(sum)+int64(math.Abs(gain)*1e8))
}

// conditions adds the size in force.
func (s *sizing) conditions(all []strategy.Condition) []strategy.Condition {
	if s.get(sizeSide) == 0 {
		return all
	}
	return append(all, strategy.Condition{Name: "size, as of the entry",
		Value: s.view.Symbol.QuantityDecimal(exchange.Quantity(s.get(sizeQuantity))).String() + " " + s.view.Symbol.Base})
}
