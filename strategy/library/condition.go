package library

import (
	"fmt"
	"math"
	"time"

	"botd/exchange"
	"botd/strategy"
)

// The conditions of each strategy. A signal strategy shows the last values of its signal.

// explained adds conditions to a signal strategy.
type explained struct {
	*following
	conditions func(view *strategy.View) []strategy.Condition
}

// explain adds conditions to a signal strategy.
func explain(made strategy.Strategy, err error, saw func(view *strategy.View) []strategy.Condition) (strategy.Strategy, error) {
	if err != nil {
		return nil, err
	}
	return &explained{made.(*following), saw}, nil
}

// Conditions returns the signal's values and the last side it requested.
func (s *explained) Conditions(view *strategy.View) []strategy.Condition {
	words := [4]string{unchanged: "nothing yet: waits for a change of side", long: "long", flat: "no position", short: "short"}
	return append(s.conditions(view), strategy.Condition{Name: "last target", Value: words[s.last]})
}

// Conditions returns both averages. A cross happens between two candles: staying on one side enters
// nothing.
func (s *smaCrossing) Conditions(view *strategy.View) []strategy.Condition {
	if !s.slow.Ready() {
		return []strategy.Condition{{Name: "slow average", Value: "none yet"}}
	}
	scale := math.Pow10(-view.Symbol.PriceScale)
	fast, slow := float64(s.fast.Value()*scale), float64(s.slow.Value()*scale)
	crossed := map[int]string{1: "above", -1: "below", 0: "not yet"}[s.crossed]
	return []strategy.Condition{
		{Name: "fast average", Value: strategy.Figure(fast), Requires: "above the slow one " + strategy.Figure(slow), Met: s.fast.Compare(s.slow) > 0},
		{Name: "crossed last", Value: crossed, Requires: "above", Met: s.crossed > 0},
	}
}

// Conditions compares the index with both bounds.
func (s *rsiReversal) Conditions(*strategy.View) []strategy.Condition {
	side := map[int]string{1: "below low", -1: "above high", 0: "neither yet"}[s.side]
	return []strategy.Condition{
		strategy.Comparison("RSI", s.last, "below", "low", s.low),
		strategy.Comparison("RSI", s.last, "above", "high", s.high),
		{Name: "bound crossed last", Value: side, Requires: "below low", Met: s.side > 0},
	}
}

// Conditions returns the slice that is due and the time of the next one.
func (s *slicing) Conditions(view *strategy.View) []strategy.Condition {
	begin, known := view.Memory.Get(began)
	if !known {
		return []strategy.Condition{{Name: "began", Value: "not yet: the first slice is due at the first tick"}}
	}
	due, next := s.due(begin, view.NowMS)
	all := []strategy.Condition{
		{Name: "began", Value: moment(begin)},
		{Name: "slices due", Value: fmt.Sprint(due), Requires: fmt.Sprint("of ", s.slices), Met: due > 0},
	}
	if due < s.slices {
		all = append(all, strategy.Condition{Name: "next slice", Value: moment(next)})
	}
	if s.bound > 0 {
		at := func(p exchange.Price) string { return view.Symbol.PriceDecimal(p).String() }
		all = append(all, strategy.Condition{Name: "price", Value: at(view.Last), Requires: "within price_bound " + at(s.bound), Met: !s.outside(view.Last)})
	}
	return all
}

func moment(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05") }

// Conditions returns the price's position in the grid and the held lines.
func (m *mesh) Conditions(view *strategy.View) []strategy.Condition {
	price := func(p exchange.Price) string { return m.symbol.PriceDecimal(p).String() }
	held, all := m.heldNow(view, heldBefore(view)), cellsFrom(0, m.cells)
	held = held.and(&all)
	cells := held.count()
	stopped, _ := view.Memory.Get(gridStopped)
	pairs, _ := view.Memory.Get(gridPairs)
	profit, _ := view.Memory.Get(gridProfit)
	lower, upper := m.prices[0], m.prices[m.cells]
	return []strategy.Condition{
		{Name: "price", Value: price(view.Last), Requires: "between " + price(lower) + " and " + price(upper), Met: view.Last >= lower && view.Last <= upper},
		{Name: "lines held", Value: fmt.Sprint(cells), Requires: fmt.Sprint("of ", m.cells), Met: cells > 0},
		{Name: "resting after a stop", Value: fmt.Sprint(stopped != 0), Requires: "false", Met: stopped == 0},
		{Name: "closed pairs", Value: fmt.Sprint(pairs)},
		{Name: "profit of the pairs after fees", Value: hundredMillionth.Mul(profit).Decimal().String() + " USDT"},
	}
}

// Conditions returns when the next buy is due, and the price of the next buy on a dip.
func (a *averaging) Conditions(view *strategy.View) []strategy.Condition {
	at := func(key string) int64 { n, _ := view.Memory.Get(key); return n }
	price := func(amount exchange.Amount) string {
		return amount.Decimal().Round(int32(a.symbol.PriceScale)).String()
	}
	begin, begun := view.Memory.Get(dcaBegan)
	if !begun {
		return []strategy.Condition{{Name: "began", Value: "not yet: the first buy is due at the first tick"}}
	}
	due := max(0, view.NowMS-begin)/a.everyMS + 1
	if a.buys > 0 {
		due = min(due, a.buys)
	}
	all := []strategy.Condition{
		{Name: "scheduled buys due", Value: fmt.Sprint(due), Requires: fmt.Sprint("above the buys made, ", at(dcaBought)), Met: due > at(dcaBought)},
		{Name: "next scheduled buy", Value: moment(begin + (max(0, view.NowMS-begin)/a.everyMS+1)*a.everyMS)},
	}
	if last := a.symbol.PriceAmount(exchange.Price(at(dcaPrice))); a.fall > 0 && !last.IsZero() {
		goal := last.Sub(last.MulRate(a.step(at(dcaFallen))))
		all = append(all, strategy.Condition{Name: "price", Value: price(a.symbol.PriceAmount(view.Last)),
			Requires: "at or below " + price(goal) + " for a buy on a dip",
			Met:      at(dcaFallen) < a.falls && a.fallen(view.Last, exchange.Price(at(dcaPrice)), at(dcaFallen))})
	}
	if a.profit > 0 && view.Position.Quantity > 0 {
		mean := a.mean(view, at(dcaSpent), exchange.Quantity(at(dcaQuantity)))
		goal := mean.Add(mean.MulRate(a.profit + a.fees))
		all = append(all, strategy.Condition{Name: "price", Value: price(a.symbol.PriceAmount(view.Last)),
			Requires: "at or above " + price(goal) + " to sell all",
			Met:      !a.symbol.PriceAmount(view.Last).Less(goal)})
	}
	return all
}

// Conditions compares the current share of equity with the target weight.
func (r *rebalancing) Conditions(view *strategy.View) []strategy.Condition {
	if view.Equity.Sign() <= 0 || view.Last <= 0 {
		return []strategy.Condition{{Name: "share held", Value: "none yet: no equity or no price"}}
	}
	now := view.Symbol.Notional(view.Last, view.Position.Quantity).Float() / view.Equity.Float()
	return []strategy.Condition{{Name: "share held", Value: fmt.Sprintf("%.2f %%", 100*now),
		Requires: fmt.Sprintf("more than %.2f %% away from %.2f %%", 100*r.band, 100*r.weight.Float()), Met: math.Abs(now-r.weight.Float()) > r.band}}
}

// Conditions returns how long the quotes have been in the book.
func (q *quoter) Conditions(view *strategy.View) []strategy.Condition {
	var now turn
	for i, name := range turnNames {
		now[i], _ = view.Memory.Get(name)
	}
	if now[quoteCenter] == 0 {
		return []strategy.Condition{{Name: "quotes", Value: "none yet: computed at the next tick"}}
	}
	moved := math.Abs(float64(int64(q.middle(view))-now[quoteCenter])) / float64(now[quoteCenter])
	all := []strategy.Condition{
		{Name: "age of the quotes", Value: (time.Duration(view.NowMS-now[quoteAt]) * time.Millisecond).String(),
			Requires: "at least " + (time.Duration(q.refreshMS) * time.Millisecond).String(), Met: view.NowMS-now[quoteAt] >= q.refreshMS},
		{Name: "mid price has moved", Value: fmt.Sprintf("%.4f %%", 100*moved), Requires: fmt.Sprintf("more than %.4f %%", 100*q.tolerance),
			Met: moved > q.tolerance},
	}
	if filled := now[quoteFilled]; filled != 0 {
		all = append(all, strategy.Condition{Name: "since the first fill", Value: (time.Duration(view.NowMS-filled) * time.Millisecond).String(),
			Requires: "at least " + (time.Duration(q.delayMS) * time.Millisecond).String(), Met: view.NowMS-filled >= q.delayMS})
	}
	return all
}
