package risk

import (
	"math"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// The rules of this file are the exchange's rules about positions (interface, rules 4 to 9). Every
// order that rests, is in flight or is uncertain is counted at its worst case.
//
// Uncertainty never blocks an exit or a protective order: an earlier one whose outcome is uncertain is not
// counted against it. If the earlier one did arrive, the exchange executes at most what is left of the
// position, or refuses (exactly-once.md, classes I and R). A plan's resting exit orders do wait.

// mayRepeat reports whether an intent may be sent although an earlier one of its kind has an uncertain
// outcome.
func mayRepeat(purpose placement.Purpose) bool {
	return purpose == placement.Exit || purpose.Protects()
}

// unanswered reports whether a placement's answer was lost or is late. Exits and protective orders do not
// wait for it.
func unanswered(p *account.Placement, facts *Facts) bool {
	return p.State() == placement.Uncertain || p.State() == placement.Sending && facts.NowMS-p.SentMS() >= reconcile.RepeatMS
}

// reduceOnly requires an open position and the opposite side (rule 5).
func (g *Gate) reduceOnly(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	if !intent.Order.Reduces() {
		return true
	}
	position, whole := reducible(intent, facts.State) // botd must not reduce the ignored part
	if position == 0 || whole == 0 {
		return f.refuse("no position", "an open position", "reduceOnly needs a position to reduce (rule 5)")
	}
	if (position > 0) == (intent.Order.Side == exchange.Buy) {
		return f.refuse(intent.Order.Side, intent.Order.Side.Opposite(), "a reducing order is opposite to the position (rule 5)")
	}
	if (whole > 0) == (intent.Order.Side == exchange.Buy) { // the ignored part outweighs botd's
		return f.refuse(intent.Order.Side, intent.Order.Side.Opposite(),
			"the exchange's single position, including the foreign part, is on the other side (rule 5)")
	}
	if intent.Order.ClosePosition {
		return true
	}
	open := min(position.Abs(), whole.Abs())
	return f.compare(sizeOf(facts.State.Rules(), intent.Order.Quantity), sizeOf(facts.State.Rules(), open), intent.Order.Quantity <= open,
		"more than the position's remaining quantity (rule 5)")
}

// reducible returns botd's own part of the position and the whole position, as they count for an
// order. Exits and protective orders use the position that botd trusts, even if the newest list shows
// another; a plan's resting exit order uses the list's.
func reducible(intent *reconcile.Intent, state *reconcile.SymbolState) (own, whole exchange.Quantity) {
	if mayRepeat(intent.Purpose) {
		return state.TrustedPosition(), state.TrustedVenuePosition()
	}
	return state.Position(), state.AtVenue()
}

// reduceOnlySum keeps the sum of all reducing quantities within the position: this order, orders in
// flight and foreign orders (rule 5). A resting exit waits for uncertain orders; a market exit does
// not. Resting orders do not count against a market order for the whole position, which removes
// them (rule 6): no order may prevent botd from leaving a position.
func (g *Gate) reduceOnlySum(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	if !intent.Order.ReduceOnly {
		return true
	}
	_, whole := reducible(intent, facts.State)
	open := whole.Abs()
	sum, sweeps := intent.Order.Quantity, intent.Order.Type == exchange.MarketOrder && intent.Order.Quantity == open
	for p := range facts.State.Live() {
		swept := sweeps && p.Order().Type != exchange.MarketOrder
		if p.Order().ReduceOnly && !swept && !(mayRepeat(intent.Purpose) && unanswered(p, facts)) {
			sum = addSaturating(sum, p.Remaining())
		}
	}
	for _, o := range facts.State.Foreign() {
		if o.Reduces() && !o.ClosePosition && !sweeps {
			sum = addSaturating(sum, o.Remaining())
		}
	}
	return f.compare(sizeOf(facts.State.Rules(), sum), sizeOf(facts.State.Rules(), open), sum <= open,
		"open reduceOnly orders already cover the position (rule 5)")
}

// closePosition allows one active order per symbol and type (rule 8), on its side of
// the current price (rule 9).
func (g *Gate) closePosition(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	if !intent.Order.ClosePosition {
		return true
	}
	rules, order := facts.State.Rules(), &intent.Order
	if order.Type != exchange.StopMarket && order.Type != exchange.TakeProfitMarket {
		return f.refuse(order.Type, "STOP_MARKET or TAKE_PROFIT_MARKET", "closePosition is for these types (rule 8)")
	}
	for p := range facts.State.Live() {
		active := p.Order().ClosePosition && !unanswered(p, facts) && !facts.Tracker.EndUnread(p)
		if active && p.Order().Type == order.Type {
			return f.refuse("a second one", "one per symbol and type", "botd first cancels the one that rests (rule 8)")
		}
	}
	for _, o := range facts.State.Foreign() {
		if o.ClosePosition && o.Type == order.Type {
			return f.refuse("a second one besides order "+o.ClientOrderID+", not placed by botd", "one per symbol and type",
				"cancel it, or let it protect the position (rule 8)")
		}
	}
	current := triggerReference(order, facts.State)
	side, fits := "above", order.StopPrice > current
	if (facts.State.TrustedVenuePosition() > 0) == (order.Type == exchange.StopMarket) {
		side, fits = "below", order.StopPrice < current
	}
	return f.compare(priceOf(rules, order.StopPrice), priceOf(rules, current).prefixed(side), fits, "the price has already passed it (rule 9)")
}

// opposite refuses an order against an open position without reduceOnly, because the exchange does
// not document its meaning. An opening that rests or is in flight may already be a position, so
// nothing opens against it either. The only exception is the other side of a market maker's quotes.
func (g *Gate) opposite(intent *reconcile.Intent, facts *Facts, f *finding) bool {
	state, side := facts.State, intent.Order.Side
	if state.Key().Market == exchange.Spot {
		return true
	}
	for _, open := range [...]exchange.Quantity{state.AtVenue(), state.TrustedVenuePosition()} {
		if open != 0 && (open > 0) != (side == exchange.Buy) {
			return f.refuse(side, side.Opposite(), "against an open position only reduceOnly orders are sent (rule 4)")
		}
	}
	for p := range state.Live() {
		if p.Purpose().Opens() && p.Order().Side != side && !quotesBoth(intent, p, state) {
			return f.refuse(side, side.Opposite(), "opening order "+p.ClientOrderID()+" on the other side may fill first; botd first cancels it (rule 4)")
		}
	}
	return true
}

// quotesBoth reports whether an intent and a resting opening on the other side are the two sides of
// a market maker's quotes. Both are post-only orders of one strategy's plan, there is no position,
// and the first order is acknowledged, so the outcomes of two opposite orders are never uncertain at once.
// Whatever the exchange does with the second order after the first has filled (keep it, reject it
// or reduce with it: each symbol has one position, rule 4), the position is the sum of the fills,
// and the limits bound each side on its own. The planner cancels an order left against a position.
func quotesBoth(intent *reconcile.Intent, resting *account.Placement, state *reconcile.SymbolState) bool {
	known := resting.State() == placement.Acknowledged || resting.State() == placement.Working
	return known && state.AtVenue() == 0 && state.TrustedVenuePosition() == 0 && resting.Filled() == 0 &&
		intent.Purpose == placement.Order && resting.Purpose() == placement.Order && intent.Strategy == resting.Strategy() &&
		intent.Order.PostOnly && resting.Order().PostOnly
}

// worstCaseSize returns the size of the exchange's position if every opening on a side fills, foreign ones
// included, and nothing reduces it.
func worstCaseSize(state *reconcile.SymbolState, side exchange.Side) exchange.Quantity {
	size := addSaturating(max(0, state.AtVenue()*exchange.Quantity(side.Sign()), state.Traded(side)), opening(state, side))
	for _, o := range state.Foreign() {
		if !o.Reduces() && o.Side == side && state.Key().Market == exchange.Futures {
			size = addSaturating(size, o.Remaining())
		}
	}
	return size
}

// worstCaseOwnSize returns the size of botd's part of the position if every opening of its own on a side
// fills, and nothing reduces it.
func worstCaseOwnSize(state *reconcile.SymbolState, side exchange.Side) exchange.Quantity {
	return addSaturating(max(0, state.Position()*exchange.Quantity(side.Sign()), state.Traded(side)), opening(state, side))
}

// opening returns the quantity that botd's openings on a side may still fill.
func opening(state *reconcile.SymbolState, side exchange.Side) (size exchange.Quantity) {
	for p := range state.Live() {
		if !p.Purpose().Opens() || p.Order().Side != side {
			continue
		}
		size = addSaturating(size, p.Remaining())
		if rules := state.Rules(); rules != nil {
			size = addSaturating(size, max(0, rules.QuantityFor(p.Order().QuoteAmount, max(state.Last(), 1))-p.Filled()))
		}
	}
	return size
}

// addSaturating adds two sizes that are not negative. It returns the largest value instead of overflowing.
func addSaturating(a, b exchange.Quantity) exchange.Quantity {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// exposure returns a symbol's value on its larger side, with everything in flight filled, and
// whether the value is known. It is unknown without a price.
func exposure(state *reconcile.SymbolState) (exchange.Amount, bool) {
	size := max(worstCaseSize(state, exchange.Buy), worstCaseSize(state, exchange.Sell))
	if size == 0 {
		return exchange.Amount{}, true
	}
	if state.Rules() == nil || state.Last() <= 0 {
		return exchange.Amount{}, false
	}
	return notionalOf(state.Rules(), state.Last(), size)
}

// orderCount bounds the open orders of an account in one market, foreign ones included. The bound is
// botd's own: the interface documents none.
func (g *Gate) orderCount(_ *reconcile.Intent, facts *Facts, f *finding) bool {
	count := 1
	if in := g.pass(facts, g.collar(facts)); in != nil {
		count += in.orders[facts.State.Key().Market]
	} else {
		count += countOrders(facts.Tracker)[facts.State.Key().Market]
	}
	const maxResting = maxMarketOrders - reservedForExits
	return f.compare(countOf(count), countOf(maxResting), count <= maxResting, "cancel orders: the market accepts no more from one account")
}

// perMarket holds one number per market.
type perMarket [exchange.Spot + 1]int

// countOrders counts the open orders, foreign ones included.
func countOrders(tracker *reconcile.Tracker) (orders perMarket) {
	for p := range tracker.Live() {
		orders[p.Symbol().Market]++
	}
	for state := range tracker.Symbols() {
		orders[state.Key().Market] += state.ForeignCount()
	}
	return orders
}

// maxMarketOrders bounds the open orders of one account in a market; reservedForExits of them are
// reserved for exits.
const (
	maxMarketOrders  = 10_000
	reservedForExits = 200
)
