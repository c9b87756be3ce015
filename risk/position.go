package risk

import (
	"math"

	"botd/exchange"
	"botd/reconcile"
)

// The rules of this file are the exchange's own about positions (interface,
// Rules 4 to 9), with everything that is in the book, in flight or uncertain at
// its worst case.
//
// Uncertainty never blocks what reduces: an exit or a protection whose fate is
// unknown is not counted against the next one, which the exchange refuses if
// the first did arrive, and never doubles (class I and R of the protocol).

// repeats reports whether the intent may be sent beside one of unknown fate.
func repeats(purpose reconcile.Purpose) bool {
	return purpose == reconcile.Exit || purpose.Protects()
}

// reduceOnly: a position must be open and the side opposite to it (rule 5).
func (g *Gate) reduceOnly(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	if !intent.Order.Reduces() {
		return true
	}
	position := facts.Truth.Position // without what is ignored: that is not botd's to reduce
	if position == 0 || facts.Truth.AtVenue() == 0 {
		return f.refuse("no position", "an open position", "reduceOnly needs a position to reduce (rule 5)")
	}
	if (position > 0) == (intent.Order.Side == exchange.Buy) {
		return f.refuse(intent.Order.Side, intent.Order.Side.Opposite(), "a reducing order is opposite to the position (rule 5)")
	}
	if (facts.Truth.AtVenue() > 0) == (intent.Order.Side == exchange.Buy) { // what is ignored outweighs what is botd's
		return f.refuse(intent.Order.Side, intent.Order.Side.Opposite(), "the exchange's one position, with what others hold of it, is on the other side (rule 5)")
	}
	if intent.Order.ClosePosition {
		return true
	}
	held := min(max(position, -position), max(facts.Truth.AtVenue(), -facts.Truth.AtVenue()))
	return f.compare(sizeOf(facts.Truth.Rules, intent.Order.Quantity), sizeOf(facts.Truth.Rules, held), intent.Order.Quantity <= held,
		"more than the position's remaining quantity (rule 5)")
}

// reduceOnlySum: all reducing quantities together, this one, those in flight and
// strangers' counted, stay within the position (rule 5). A resting exit waits
// for uncertain ones; one that must get out does not. Strangers' do not count
// against a market order of all there is, which takes them with it (rule 6):
// nobody's order may keep botd in a position.
func (g *Gate) reduceOnlySum(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	if !intent.Order.ReduceOnly {
		return true
	}
	held := max(facts.Truth.AtVenue(), -facts.Truth.AtVenue())
	sum, sweeps := intent.Order.Quantity, intent.Order.Type == exchange.MarketOrder && intent.Order.Quantity == held
	for _, p := range facts.Book.Live() {
		if p.Order.Key() == facts.Truth.Key && p.Order.ReduceOnly && (p.State != reconcile.Uncertain || !repeats(intent.Purpose)) {
			sum = plus(sum, p.Remaining())
		}
	}
	for i := range facts.Truth.Foreign {
		if o := &facts.Truth.Foreign[i]; o.Reduces() && !o.ClosePosition && !sweeps {
			sum = plus(sum, o.Remaining())
		}
	}
	return f.compare(sizeOf(facts.Truth.Rules, sum), sizeOf(facts.Truth.Rules, held), sum <= held, "open reduceOnly orders already cover the position (rule 5)")
}

// closePosition: one active per symbol and type (rule 8), on its side of the
// current price (rule 9).
func (g *Gate) closePosition(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	if !intent.Order.ClosePosition {
		return true
	}
	rules, order := facts.Truth.Rules, &intent.Order
	if order.Type != exchange.StopMarket && order.Type != exchange.TakeProfitMarket {
		return f.refuse(order.Type, "STOP_MARKET or TAKE_PROFIT_MARKET", "closePosition belongs to these types (rule 8)")
	}
	for _, p := range facts.Book.Live() {
		if p.Order.Key() == facts.Truth.Key && p.Order.ClosePosition && p.Order.Type == order.Type && p.State != reconcile.Uncertain {
			return f.refuse("a second one", "one per symbol and type", "the first is canceled before (rule 8)")
		}
	}
	for i := range facts.Truth.Foreign {
		if o := &facts.Truth.Foreign[i]; o.ClosePosition && o.Type == order.Type {
			return f.refuse("a second one beside order "+o.ClientOrderID+" that botd did not make", "one per symbol and type", "cancel it, or let it protect the position (rule 8)")
		}
	}
	current := working(order, facts.Truth)
	side, fits := "above", order.StopPrice > current
	if (facts.Truth.AtVenue() > 0) == (order.Type == exchange.StopMarket) {
		side, fits = "below", order.StopPrice < current
	}
	return f.compare(priceOf(rules, order.StopPrice), priceOf(rules, current).prefixed(side), fits, "the price has passed it already (rule 9)")
}

// opposite: an order against an open position without reduceOnly is never sent;
// its meaning is not documented. An opening in the book or in flight may have
// become a position by now, so nothing opens against it either.
func (g *Gate) opposite(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	truth, side := facts.Truth, intent.Order.Side
	if truth.Key.Market == exchange.Spot {
		return true
	}
	if held := truth.AtVenue(); held != 0 && (held > 0) != (side == exchange.Buy) {
		return f.refuse(side, side.Opposite(), "against an open position only reduceOnly orders are sent (rule 4)")
	}
	for _, p := range facts.Book.Live() {
		if p.Order.Key() == truth.Key && p.Purpose.Opens() && p.Order.Side != side {
			return f.refuse(side, side.Opposite(), "opening order "+p.ClientOrderID+" of the other side may fill first; it is canceled before (rule 4)")
		}
	}
	return true
}

// worst is the size the exchange's position can reach on a side with every
// opening of that side filled, strangers' included, and nothing that reduces.
func worst(truth *reconcile.SymbolTruth, book *reconcile.Book, side exchange.Side) exchange.Quantity {
	size := plus(max(0, truth.AtVenue()*exchange.Quantity(side.Sign())), opening(truth, book, side))
	for i := range truth.Foreign {
		if o := &truth.Foreign[i]; !o.Reduces() && o.Side == side && truth.Key.Market == exchange.Futures {
			size = plus(size, o.Remaining())
		}
	}
	return size
}

// own is the size botd's part of it can reach.
func own(truth *reconcile.SymbolTruth, book *reconcile.Book, side exchange.Side) exchange.Quantity {
	return plus(max(0, truth.Position*exchange.Quantity(side.Sign())), opening(truth, book, side))
}

// opening is what botd's openings of a side may still fill.
func opening(truth *reconcile.SymbolTruth, book *reconcile.Book, side exchange.Side) (size exchange.Quantity) {
	for _, p := range book.Live() {
		if p.Order.Key() != truth.Key || !p.Purpose.Opens() || p.Order.Side != side {
			continue
		}
		size = plus(size, p.Remaining())
		if truth.Rules != nil && !p.Order.QuoteAmount.IsZero() {
			size = plus(size, max(0, truth.Rules.QuantityFor(p.Order.QuoteAmount, max(truth.Last, 1))-p.Filled))
		}
	}
	return size
}

// plus adds two sizes; a sum that would overflow is the largest size there is.
func plus(a, b exchange.Quantity) exchange.Quantity {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// exposure is a symbol's value with everything in flight filled, on the side that
// is larger, and whether it is known: a size needs a price.
func exposure(truth *reconcile.SymbolTruth, book *reconcile.Book) (exchange.Amount, bool) {
	size := max(worst(truth, book, exchange.Buy), worst(truth, book, exchange.Sell))
	if size == 0 {
		return exchange.Amount{}, true
	}
	if truth.Rules == nil || truth.Last <= 0 {
		return exchange.Amount{}, false
	}
	return notionalOf(truth.Rules, truth.Last, size)
}

// orderCount: a limit on everything. The interface names none for open orders;
// strangers' orders count.
func (g *Gate) orderCount(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	count := 1
	for _, p := range facts.Book.Live() {
		if p.Order.Market == facts.Truth.Key.Market {
			count++
		}
	}
	for _, truth := range facts.Book.Symbols() {
		if truth.Key.Market == facts.Truth.Key.Market {
			count += len(truth.Foreign)
		}
	}
	most := mostOrders
	if intent.Purpose.Opens() {
		most -= keptForExits
	}
	return f.compare(countOf(count), countOf(most), count <= most, "cancel orders: an account and market holds no more")
}

// Orders of one account and market, and how many of them openings leave free.
const (
	mostOrders   = 10_000
	keptForExits = 200
)
