package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/strategy"
)

// exit closes the whole position, whatever is unknown: reducing is never
// blocked. Resting reduceOnly quantities go first, since their sum would refuse
// it; the closePosition stop stays until the exchange sweeps it.
func (d *derivation) exit(position exchange.Quantity, target strategy.Target) {
	if position == 0 || d.postpones() || d.mayHaveSold() || d.taken() {
		return
	}
	if d.symbol.Key().Market == exchange.Spot && len(d.stops) > 0 && d.tooSmall(d.symbol.Rules.FloorQuantity(abs(position))) {
		return // no order can do it by the rules of now: what protects stays
	}
	d.exiting = true
	d.cancelPassedExits(d.targetOrders)
	for _, p := range d.targetOrders {
		if p.Purpose() == placement.Exit && !d.mayRepeat(p) {
			return // one exit at a time: derived again when it has ended, or its answer was lost (case 20)
		}
	}
	if p := d.exitForProtection(); p != nil && !d.mayRepeat(p) {
		return
	}
	if d.book.StandsDown() && d.symbol.Key().Market == exchange.Spot {
		if d.makeRoom(abs(position)) { // what another bought keeps its stops
			return
		}
	} else if d.clearResting() {
		return
	}
	reason := "the target is flat"
	if target.Sign() != 0 {
		reason = "the target changed side: first flat, then the other side"
	}
	if d.plan.Reason != "" {
		reason += ": " + d.plan.Reason
	}
	d.reduceNow(abs(position), reason)
}

// ExitOutdated reports whether the plan in force asks for no less than is held: an exit that the
// one before it asked for has no reason any more.
func (b *Book) ExitOutdated(desired *Desired) bool {
	target, symbol := desired.Strategy.Plan().Target, desired.Symbol
	held := b.situation(desired, symbol, 0).held
	if target.Sign() == 0 || symbol.Rules == nil || target.Sign() != signOf(held) {
		return false
	}
	quantity, priced := desired.Strategy.Priced(target)
	switch {
	case priced:
	case target.Kind == strategy.ByQuantity:
		quantity = target.Quantity
	default:
		return false // how much it asks for is not known yet
	}
	return abs(held)+symbol.Fees() <= abs(quantity)
}

// postpones reports whether an exit on spot waits after refusals, or until the symbol is traded again. A stop would be in its
// way and is canceled for it: while the exit waits, the stop stands.
func (d *derivation) postpones() bool {
	if d.symbol.Key().Market == exchange.Spot && (d.nowMS < max(d.desired.ExitFromMS, d.desired.YieldMS) || !d.symbol.Rules.Tradable && len(d.stops) > 0) {
		d.postponed = true
	}
	return d.postponed
}

// clearOrders cancels the resting exits, and reports whether to wait for that.
func (d *derivation) clearOrders() (wait bool) {
	for _, p := range d.keyedOrders {
		if p.Order().ReduceOnly || d.symbol.Key().Market == exchange.Spot && p.Order().Side == exchange.Sell {
			d.cancel(p, "makes room for the exit")
			wait = wait || d.blocksExit(p)
		}
	}
	return wait
}

// clearResting cancels what would stand in the way of a full exit, and reports
// whether to wait for that.
func (d *derivation) clearResting() bool {
	wait := d.clearOrders()
	// A spot stop holds the asset, one with a quantity counts in the sum: their cancel is
	// confirmed before any other exit.
	for _, p := range slices.Concat(d.stops, d.profits) {
		if d.symbol.Key().Market == exchange.Spot || p.Order().ReduceOnly && p.Order().Type != exchange.MarketOrder {
			d.cancel(p, "makes room for the exit")
			wait = wait || d.blocksExit(p)
		}
	}
	if wait {
		d.reserved = max(abs(d.held), d.explainedOnSpot())
	}
	return wait
}

// blocksExit reports whether a full exit waits for the end of a resting order. On futures it
// does not where that cannot be canceled, or the kill switch has waited for it: a market
// order of the whole position takes it along (rule 6).
func (d *derivation) blocksExit(p *account.Placement) bool {
	if d.symbol.Key().Market == exchange.Spot {
		at := d.book.released[p.ClientOrderID()]
		return !d.mayRepeat(p) || at != 0 && d.nowMS-at < ExitReleaseMS
	}
	canceled := d.book.CancelMS(p.ClientOrderID())
	waited := d.desired.Flatten && canceled != 0 && d.nowMS-canceled >= repeatMS
	return p.State() != placement.Uncertain && !d.book.EndUnread(p) && d.symbol.Rules.Cancelable && !waited
}

// reduce makes the position smaller by part of it.
func (d *derivation) reduce(quantity exchange.Quantity) {
	if quantity <= 0 || d.postpones() || d.mayHaveSold() || d.taken() {
		return
	}
	if d.symbol.Key().Market == exchange.Spot {
		if d.tooSmall(d.symbol.Rules.FloorQuantity(min(quantity, abs(d.held)))) {
			return // no order can do it: what protects stays
		}
		d.exiting = true // the stop holds the asset that is sold: it comes back when that is done
	}
	for _, p := range d.targetOrders {
		if p.Purpose() == placement.Exit {
			return // a part that is sent again could take more than the plan says: wait for its fate
		}
	}
	if d.exitForProtection() != nil {
		return
	}
	if d.symbol.Key().Market == exchange.Spot && d.makeRoom(min(quantity, abs(d.held))) {
		return
	}
	if _, bridge, _ := d.stopsOf(d.stops); bridge != nil && !d.positionShared() && d.symbol.Key().Market == exchange.Futures {
		return // a stop is moving, and its bridge holds the reduceOnly sum: a round or two
	}
	if d.symbol.Key().Market == exchange.Futures && d.reducingRoom() < min(quantity, abs(d.held)) && d.clearOrders() {
		return // resting exits fill the sum: they come back for what is left
	}
	if d.positionShared() && d.reducingRoom() < min(quantity, abs(d.held)) && d.clearResting() {
		d.exiting = true // what protects comes back when that is done
		return
	}
	d.reduceNow(min(quantity, abs(d.held)), "the target is smaller")
}

func (d *derivation) reduceNow(quantity exchange.Quantity, reason string) {
	rules := d.symbol.Rules
	quantity = d.capped(d.clipToWallet(rules.FloorQuantity(quantity)))
	if d.tooSmall(quantity) {
		d.closeDust(quantity, reason)
		return
	}
	if d.fitsWithUnknown(quantity) {
		return
	}
	order := exchange.NewOrder{Type: exchange.MarketOrder, Quantity: quantity, ReduceOnly: true}
	if d.symbol.Key().Market == exchange.Futures {
		order.Side = exchange.SideOf(-d.held)
	} else {
		// Spot MARKET sells are by USDT amount: base is sold by a limit through the collar. What a
		// purchase of unknown fate has bought is sold too, where fills explain nothing.
		order.Type, order.Side, order.ReduceOnly = exchange.Limit, exchange.Sell, false
		order.Price = d.sellable(rules.CeilPrice(d.symbol.Last-share(d.symbol.Last, d.desired.Collar)), quantity)
	}
	d.add(Intent{Purpose: placement.Exit, Order: order, Reason: reason})
}

// dust is the key of an order that closes what is too little for one of its own.
const dust = "dust"

// closeDust closes what is too small for an order of its own with a closePosition
// order a tick from the price; it is not looped on (case 36).
func (d *derivation) closeDust(quantity exchange.Quantity, reason string) {
	if d.symbol.Key().Market == exchange.Spot || d.held == 0 || quantity < abs(d.held) || d.symbol.Ignored() != 0 {
		return
	}
	d.dusting = true
	for _, p := range slices.Concat(d.stops, d.profits) {
		if p.Key() == dust && d.nowMS-p.SentMS() < int64(d.desired.Interval) {
			return
		}
	}
	order := exchange.NewOrder{Type: exchange.StopMarket, Side: exchange.SideOf(-d.held), ClosePosition: true, WorkingType: exchange.ContractPrice}
	tick := -d.symbol.Rules.PriceTick
	switch {
	case len(d.stops) == 0:
	case len(d.profits) == 0:
		order.Type, tick = exchange.TakeProfitMarket, -tick
	default:
		return // both stand already: whichever comes first closes it
	}
	if d.held < 0 {
		tick = -tick
	}
	order.StopPrice = d.symbol.Rules.FloorPrice(d.symbol.Last) + tick
	if order.StopPrice <= 0 {
		return
	}
	purpose := placement.StopLoss
	if order.Type == exchange.TakeProfitMarket {
		purpose = placement.TakeProfit
	}
	d.add(Intent{Purpose: purpose, Key: dust, Order: order, Reason: reason + "; too little for an order of its own"})
}
