package overlay

import (
	"fmt"
	"math"

	"botd/exchange"
	"botd/strategy"
)

// Sizing sets the size of a position by the distance of its stop, by the volatility of the price,
// or by the results of the strategy's trades. It replaces a target given as a share of equity,
// once, when the position is entered, and leaves targets in other units unchanged. The parts of an
// entry and the bound by free funds apply to targets in all units.
type Sizing struct {
	Risk       exchange.Rate     // share of equity that the stop may lose; 0 for another method
	Volatility exchange.Rate     // annual volatility of the position, as a share of equity
	Kelly      exchange.Rate     // share of the growth-optimal position
	Max        exchange.Rate     // maximum value as a share of the equity
	Steps      []Step            // parts of an entry: the first at once, the others by distance; empty for a single part
	Reduce     bool              // shrink a size that the free funds cannot pay for
	Stop       strategy.Distance // configured stop, used if the plan sets none
	TakeProfit strategy.Distance
}

// IsZero reports whether the strategy's own size applies.
func (s *Sizing) IsZero() bool { return !s.atEntry() && len(s.Steps) == 0 && !s.Reduce }

// atEntry reports whether the size is computed from risk, volatility or results.
func (s *Sizing) atEntry() bool { return s.Risk != 0 || s.Volatility != 0 || s.Kelly != 0 }

const (
	volatilityCandles = 30                     // number of candles whose deviation is used
	kellyTrades       = 20                     // number of trades required before they are used
	minKelly          = exchange.RateOne / 100 // traded while there are too few trades, or no edge
)

// Memory keys of the size. Journals hold them, so they cannot change.
const (
	sizeSide     = "size.side"     // of the position that was sized: +1, 0, -1
	sizeQuantity = "size.quantity" // of it
	sizeShare    = "size.share"    // share of the strategy's requested size
	sizeSignal   = "size.signal"   // time of the signal that the size follows
	sizeKind     = "size.kind"     // of the strategy's requested target; 0 for a share of equity
	sizeSteps    = "size.steps"    // parts of the entry that the price has reached
	sizeRisk     = "size.distance" // distance of the stop at the entry
	sizeSeen     = "size.seen"     // side of the last known position
	sizeEntry    = "size.entry"    // its entry price
	sizeWins     = "size.wins"     // positions that ended with a profit
	sizeWon      = "size.won"      // the sum of their profits, as shares of the price
	sizeLosses   = "size.losses"
	sizeLost     = "size.lost"
)

// sizing is one decision about a size.
type sizing struct {
	strategy.Decision
	rules *Sizing
}

func (s *sizing) apply() {
	s.observe()
	t := s.Plan.Target
	side := int64(t.Sign())
	switch {
	case t.Kind == strategy.NoTarget:
		if s.grow() {
			s.Plan.Hold(s.part(), "the price has reached the next part of the entry")
		}
		return
	case side == 0:
		s.Remember(sizeSide, 0)
		return
	case t.Kind != strategy.ByEquity && len(s.rules.Steps) == 0 && !s.rules.Reduce:
		return
	}
	share, kind := amountOf(t), int64(t.Kind)-int64(strategy.ByEquity)
	// While nothing is held or under way, either the size has had no effect yet or its position
	// opened and closed between two decisions.
	again := s.View.Position.Quantity == 0 && (s.Plan.SignalMS > s.Recall(sizeSignal) || len(s.View.Working) == 0)
	if s.Recall(sizeSide) != side || s.Recall(sizeShare) != share || s.Recall(sizeKind) != kind || again {
		quantity, why := s.whole(t, side)
		if s.Recall(sizeSide) != side {
			s.Remember(sizeSteps, 1)
		}
		if quantity = s.affordable(quantity, side); quantity <= 0 {
			s.Plan.Hold(strategy.Flat(), why)
			s.Plan.SignalMS = 0
			s.Remember(sizeSide, 0)
			return
		}
		s.Remember(sizeSide, side)
		s.Remember(sizeShare, share)
		s.Remember(sizeKind, kind)
		s.Remember(sizeQuantity, int64(quantity))
		s.Remember(sizeSignal, s.Plan.SignalMS)
	}
	s.grow()
	s.Plan.Target = s.part()
}

// amountOf returns a target's amount, to detect a change.
func amountOf(t strategy.Target) int64 {
	switch t.Kind {
	case strategy.ByEquity:
		return int64(max(t.Share, -t.Share))
	case strategy.ByQuote:
		return t.Quote.Abs().MulDiv(1_000_000, 1).Quo(exchange.AmountOf(1))
	}
	return int64(t.Quantity.Abs())
}

// whole returns the full size of a target, or the reason for none.
func (s *sizing) whole(t strategy.Target, side int64) (quantity exchange.Quantity, why string) {
	symbol := s.View.Symbol
	switch {
	case t.Kind == strategy.ByQuantity:
		return symbol.FloorQuantity(t.Quantity.Abs()), noneFits
	case s.View.Last <= 0:
		return 0, "no price to size by"
	case t.Kind == strategy.ByQuote:
		return symbol.FloorQuantity(symbol.QuantityFor(t.Quote.Abs(), s.View.Last)), noneFits
	case !s.rules.atEntry():
		return symbol.FloorQuantity(symbol.QuantityFor(s.View.Equity.MulRate(max(t.Share, -t.Share)), s.View.Last)), noneFits
	}
	quantity, why = s.compute(side)
	return symbol.FloorQuantity(symbol.QuantityOf(symbol.QuantityAmount(quantity).MulRate(max(t.Share, -t.Share)))), why
}

const noneFits = "the free balance is too small for the smallest order"

// affordable bounds a size by what the free funds can pay for, if Reduce is set: the due part may
// grow the position by no more. A position on the other side is closed first, which frees its own
// margin.
func (s *sizing) affordable(whole exchange.Quantity, side int64) exchange.Quantity {
	if !s.rules.Reduce || s.View.Last <= 0 {
		return whole
	}
	symbol, held := s.View.Symbol, s.View.Position.Quantity*exchange.Quantity(side)
	power := s.View.BuyingPower
	if held < 0 {
		power, held = power.Add(symbol.Notional(s.View.Last, -held)), 0
	}
	more := exchange.Quantity(0)
	power = power.MulRate(exchange.RateOne - powerSpared)
	if power.Sign() > 0 {
		more = symbol.FloorQuantity(symbol.QuantityFor(power, s.View.Last))
	}
	if symbol.BelowMinimum(s.View.Last, more) {
		more = 0
	}
	share := s.due()
	if portionOf(symbol, whole, share) <= held+more {
		return whole
	}
	return symbol.FloorQuantity(symbol.QuantityOf(symbol.QuantityAmount(held+more).MulDiv(int64(exchange.RateOne), int64(share))))
}

// powerSpared is the share of the free funds that is left unspent, so that a moving price does not
// make the order too large.
const powerSpared = exchange.RateOne / 200

// due returns the share of the position in the parts that the price has reached.
func (s *sizing) due() (share exchange.Rate) {
	if len(s.rules.Steps) == 0 {
		return exchange.RateOne
	}
	for i := range max(1, s.Recall(sizeSteps)) {
		if i < int64(len(s.rules.Steps)) {
			share += s.rules.Steps[i].Share
		}
	}
	return share
}

// part returns the target for the parts that the price has reached.
func (s *sizing) part() strategy.Target {
	quantity := portionOf(s.View.Symbol, exchange.Quantity(s.Recall(sizeQuantity)), s.due())
	return strategy.Target{Kind: strategy.ByQuantity, Quantity: exchange.Quantity(s.Recall(sizeSide)) * quantity}
}

func portionOf(symbol *exchange.Symbol, whole exchange.Quantity, share exchange.Rate) exchange.Quantity {
	if share == exchange.RateOne {
		return whole
	}
	return symbol.FloorQuantity(symbol.QuantityOf(symbol.QuantityAmount(whole).MulRate(share)))
}

// grow adds the next part of the entry once the price has reached it. A position that a profit target has
// partly closed does not grow again.
func (s *sizing) grow() bool {
	n, side := s.Recall(sizeSteps), s.Recall(sizeSide)
	held := s.View.Position.Quantity * exchange.Quantity(side)
	if side == 0 || held <= 0 || n >= int64(len(s.rules.Steps)) || s.Recall(profitTargetReached) != 0 {
		return false
	}
	entry := exchange.Price(s.Recall(sizeEntry))
	if s.Recall(sizeRisk) == 0 {
		s.Remember(sizeRisk, int64(s.stopDistance(entry)))
	}
	next := &s.rules.Steps[n]
	if at := next.price(s.View.Symbol, entry, side, exchange.Price(s.Recall(sizeRisk))); !next.reached(at, s.View.Last, side) {
		return false
	}
	s.Remember(sizeSteps, n+1)
	s.Remember(sizeQuantity, int64(s.affordable(exchange.Quantity(s.Recall(sizeQuantity)), side)))
	return true
}

// compute returns the size of a position at the last price, or the reason for none.
func (s *sizing) compute(side int64) (quantity exchange.Quantity, why string) {
	v := s.View
	most := v.Symbol.QuantityFor(v.Equity.MulRate(s.most()), v.Last)
	switch {
	case v.Equity.Sign() <= 0:
		return 0, "no equity to size by"
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
		quantity, why = s.worth(max(minKelly.Float(), s.rules.Kelly.Float()*s.kelly())), "the size by kelly is less than the smallest order"
	}
	return min(quantity.Abs(), most), why
}

// most returns the maximum value as a share of equity: the configured one, or the value that the
// equity can pay for if that is smaller. Otherwise a size at the bound would be refused each time
// the price moves.
func (s *sizing) most() exchange.Rate {
	leverage := s.View.Leverage
	if s.View.Symbol.Market == exchange.Spot {
		leverage = 1
	}
	if leverage == 0 { // as set on the exchange
		return s.rules.Max
	}
	return min(s.rules.Max, exchange.Rate(leverage)*(exchange.RateOne-powerSpared))
}

// worth returns the quantity of a share of equity, at most the maximum.
func (s *sizing) worth(share float64) exchange.Quantity {
	share = min(share, s.most().Float())
	return s.View.Symbol.QuantityFor(s.View.Equity.MulRate(exchange.Rate(share*float64(exchange.RateOne))), s.View.Last)
}

// stopDistance returns the distance of the stop from an entry price.
func (s *sizing) stopDistance(entry exchange.Price) exchange.Price {
	stop := s.rules.Stop
	if s.Plan.Protection.Set {
		stop = s.Plan.Protection.StopLoss
	}
	if stop.Price == 0 {
		return portion(entry, stop.Share)
	}
	return max(entry-stop.Price, stop.Price-entry)
}

// stopPrice returns the stop of a position entered at the last price, or 0 if there is none on its
// losing side.
func (s *sizing) stopPrice(side int64) exchange.Price {
	stop := s.rules.Stop
	if s.Plan.Protection.Set {
		stop = s.Plan.Protection.StopLoss
	}
	at := stop.Price
	if stop.Share > 0 {
		at = s.View.Last - exchange.Price(side)*portion(s.View.Last, stop.Share)
	}
	if at <= 0 || int64(s.View.Last-at)*side <= 0 {
		return 0
	}
	return at
}

// volatility returns the annualized deviation of the closes' changes.
func (s *sizing) volatility() (year float64, known bool) {
	v := s.View
	if v.Closed() <= volatilityCandles || v.Interval <= 0 {
		return 0, false
	}
	var sum, squares float64
	for i := range volatilityCandles {
		change := math.Log(float64(v.Back(i).Close) / float64(v.Back(i+1).Close))
		sum, squares = sum+change, squares+float64(change*change)
	}
	const n = float64(volatilityCandles)
	variance := squares/n - float64(sum/n*(sum/n))
	const yearMS = 365 * 86_400_000
	year = math.Sqrt(max(0, variance) * yearMS / float64(v.Interval))
	return year, year > 1e-9
}

// kelly returns the share of equity at which the equity would have grown fastest with the trades so
// far: p/loss - (1-p)/gain, of their mean loss and gain as shares of the price (E. O. Thorp). 0
// means that there are too few trades.
func (s *sizing) kelly() float64 {
	wins, losses := float64(s.Recall(sizeWins)), float64(s.Recall(sizeLosses))
	if wins+losses < kellyTrades || wins == 0 {
		return 0
	}
	if losses == 0 {
		return math.Inf(1) // the maximum allowed
	}
	gain, loss := float64(s.Recall(sizeWon))/wins/1e8, float64(s.Recall(sizeLost))/losses/1e8
	p := wins / (wins + losses)
	return p/max(loss, 1e-9) - (1-p)/max(gain, 1e-9)
}

// observe remembers the start of positions and the profit of ended ones: by the price at the
// decision that saw the end, or by the stop or take-profit if that lies in between.
func (s *sizing) observe() {
	now, before := int64(0), s.Recall(sizeSeen)
	if q := s.View.Position.Quantity; q > 0 {
		now = 1
	} else if q < 0 {
		now = -1
	}
	if now == before {
		return
	}
	if before != 0 {
		s.ended(before)
		if now == 0 && s.Recall(sizeSide) == before {
			s.Remember(sizeSide, 0) // the next entry is sized from scratch
		}
	}
	s.Remember(sizeSeen, now)
	if now == 0 {
		s.Remember(sizeRisk, 0)
		return
	}
	entry := s.View.Symbol.PriceOf(s.View.Position.EntryPrice)
	if entry == 0 {
		entry = s.View.Last
	}
	s.Remember(sizeEntry, int64(entry))
}

func (s *sizing) ended(side int64) {
	entry := s.Recall(sizeEntry)
	if s.rules.Kelly == 0 || entry <= 0 {
		return
	}
	gain := float64(float64(side) * (float64(s.View.Last)/float64(entry) - 1))
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
	s.Remember(count, s.Recall(count)+1)
	s.Remember(sum, s.Recall(sum)+int64(math.Abs(gain)*1e8))
}

// conditions adds the size in force.
func (s *sizing) conditions(all []strategy.Condition) []strategy.Condition {
	if s.Recall(sizeSide) == 0 {
		return all
	}
	return append(all, strategy.Condition{Name: "size, as of the entry",
		Value: s.View.Symbol.QuantityDecimal(exchange.Quantity(s.Recall(sizeQuantity))).String() + " " + s.View.Symbol.Base})
}
