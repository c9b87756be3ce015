package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/strategy"
)

// reasonRoomForExit is the reason for canceling an order that would block an exit.
const reasonRoomForExit = "makes room for the exit"

// positionExit closes or reduces a position: for its plan, or instead of a stop whose price was passed.
type positionExit struct{ *safeguards }

func (d *safeguards) positionExit() positionExit { return positionExit{d} }

// closeWhole closes the whole position, whatever else is unknown: reducing is never blocked. Resting
// reduceOnly orders are canceled first, because the exchange would refuse the exit for their sum; the
// closePosition stop stays until the exchange removes it.
func (d positionExit) closeWhole(position exchange.Quantity, target strategy.Target) {
	position = d.spotPosition().leftByPeer(position)
	if position == 0 || d.postpones(position) || d.saleEvidence().mayHaveSold() || d.saleEvidence().cancelJustRefused() {
		return
	}
	if d.symbol.Key().Market == exchange.Spot && d.tooSmall(d.symbol.rules.FloorQuantity(position.Abs())) {
		return // under the current rules no order can close it: protection stays
	}
	d.exiting = true
	for _, p := range d.targetOrders {
		if p.Purpose() == placement.Exit && !d.mayRepeat(p) {
			return // one exit at a time: the next is derived once this one has ended or its answer counts as lost (case 20)
		}
	}
	if p := d.exitForProtection(); p != nil && !d.mayRepeat(p) {
		return
	}
	if d.tracker.StandsDown() && d.symbol.Key().Market == exchange.Spot {
		if d.spotStops().releaseForExit(position.Abs()) { // another owner's quantity keeps its stops
			return
		}
	} else if d.clearResting() {
		return
	}
	d.reduceNow(position.Abs(), ExitReason(target, d.reason))
}

// ExitOutdated reports whether the plan in force desires at least the current position, so that an
// exit for the previous plan is no longer needed.
func (t *Tracker) ExitOutdated(desired *Desired) bool {
	target, symbol := desired.Strategy.Plan().Target(), desired.Symbol
	position := t.inputs(desired, symbol, 0).ownPosition
	if target.Sign() == 0 || symbol.rules == nil || target.Sign() != position.Sign() {
		return false
	}
	quantity, priced := desired.Strategy.Priced(target)
	switch {
	case priced:
	case target.Kind == strategy.ByQuantity:
		quantity = target.Quantity
	default:
		return false // the desired quantity is not known yet
	}
	return position.Abs()+symbol.Fees() <= quantity.Abs()
}

// postpones reports whether an exit waits: after refusals, or on spot for another botd that sells first, for
// a history that may show its sale, or until the symbol is tradable again. A stop with a quantity blocks the
// exit and would have to be canceled, so it stays while the exit waits.
func (d positionExit) postpones(quantity exchange.Quantity) bool {
	untraded := d.symbol.Key().Market == exchange.Spot && !d.symbol.rules.Tradable && len(d.stops) > 0
	if untraded || d.nowMS < max(d.desired.ExitFromMS, d.desired.YieldMS) || d.saleEvidence().awaitsSaleOfOthers(quantity) {
		d.postponed = true
	}
	return d.postponed
}

// clearOrders cancels the resting exits and reports whether to wait for their ends.
func (d positionExit) clearOrders() (wait bool) {
	for _, p := range d.keyedOrders {
		if p.Order().ReduceOnly || d.symbol.Key().Market == exchange.Spot && p.Order().Side == exchange.Sell {
			d.cancel(p, reasonRoomForExit)
			wait = wait || d.blocksExit(p)
		}
	}
	return wait
}

// clearResting cancels the orders that block a full exit and reports whether to wait for their ends.
func (d positionExit) clearResting() bool {
	wait := d.clearOrders()
	// A spot stop holds the asset, and a stop with a quantity counts in the sum: their cancels must be
	// confirmed before any other exit.
	for _, p := range slices.Concat(d.stops, d.profits) {
		if d.symbol.Key().Market == exchange.Spot || p.Order().ReduceOnly && p.Order().Type != exchange.MarketOrder {
			d.cancel(p, reasonRoomForExit)
			wait = wait || d.blocksExit(p)
		}
	}
	if wait {
		d.reserved = max(d.ownPosition.Abs(), d.spotPosition().toProtect())
	}
	return wait
}

// blocksExit reports whether a full exit must wait for a resting order to end. On futures it does not
// wait for an order that cannot be canceled, or for which the kill switch has already waited: a market
// order for the whole position removes it (rule 6).
func (d positionExit) blocksExit(p *account.Placement) bool {
	if d.symbol.Key().Market == exchange.Spot {
		at := d.tracker.delivery(p).releasedMS
		return !d.mayRepeat(p) || d.nowMS-at < d.saleEvidence().exitReleaseMS()
	}
	canceled := d.tracker.CancelMS(p.ClientOrderID())
	waited := d.desired.Flatten && canceled != 0 && d.nowMS-canceled >= RepeatMS
	return p.State() != placement.Uncertain && !d.tracker.EndUnread(p) && d.symbol.rules.Cancelable && !waited
}

// reduce reduces the position by a quantity.
func (d positionExit) reduce(quantity exchange.Quantity) {
	quantity = d.spotPosition().leftByPeer(quantity)
	if quantity <= 0 || d.postpones(quantity) || d.saleEvidence().mayHaveSold() || d.saleEvidence().cancelJustRefused() {
		return
	}
	spot, whole := d.symbol.Key().Market == exchange.Spot, d.ownPosition.Abs()
	quantity = min(quantity, whole)
	if (spot || quantity < whole) && d.tooSmall(d.symbol.rules.FloorQuantity(quantity)) {
		return // no order can reduce it: exits and protection stay
	}
	if spot {
		d.exiting = true // the stop holds the asset to be sold; it is placed again afterwards
	}
	for _, p := range d.targetOrders {
		if p.Purpose() == placement.Exit {
			return // repeating a partial sale could sell more than the plan desires: wait for its outcome
		}
	}
	if unread := d.symbol.unread || d.desired.Unread; !spot && quantity < whole && d.tracker.refusedExit(d.symbol.Key(), !unread) {
		return // no list shows whether the refused part was executed all the same (exactly-once.md, case 3); the exchange caps the exit of a whole position
	}
	if d.exitForProtection() != nil || spot && d.spotStops().releaseForExit(quantity) {
		return
	}
	if _, bridge, _ := d.stopsOf(d.stops); bridge != nil && !d.positionShared() && !spot {
		return // a stop is moving and its bridge uses the reduceOnly sum for one or two rounds
	}
	if !spot && d.reductions().room() < quantity && d.clearOrders() {
		return // resting exits use up the sum; they are placed again for the remainder
	}
	if d.positionShared() && d.reductions().room() < quantity && d.clearResting() {
		d.exiting = true // the protection is placed again afterwards
		return
	}
	d.reduceNow(quantity, SmallerTarget)
}

func (d positionExit) reduceNow(quantity exchange.Quantity, reason string) {
	rules, whole := d.symbol.rules, quantity >= d.ownPosition.Abs()
	quantity = d.withinMaximum(d.saleQuantity().sellable(rules.FloorQuantity(quantity)))
	if d.tooSmall(quantity) {
		d.closeDust(whole, reason)
		return
	}
	if d.saleEvidence().fitsWithUncertain(quantity) {
		return
	}
	order := exchange.NewOrder{Type: exchange.MarketOrder, Quantity: quantity, ReduceOnly: true}
	if d.symbol.Key().Market == exchange.Futures {
		order.Side = exchange.SideOf(-d.ownPosition)
	} else {
		// A spot MARKET sale is specified by USDT amount, so a base quantity is sold with a limit order
		// at the collar.
		order.Type, order.Side, order.ReduceOnly = exchange.Limit, exchange.Sell, false
		order.Price = rules.SalePrice(d.symbol.last, d.desired.Collar, quantity)
		order.Price += d.startMark().sale(order.Price)
	}
	d.add(Intent{Purpose: placement.Exit, Order: order, Reason: reason})
}

// dustKey is the key of an order that closes a quantity too small for an order of its own.
const dustKey = "dust"

// closeDust closes a whole position that is too small for an order of its own, or smaller than a step that has grown, with a closePosition order one tick
// from the price, at most once per interval (case 36).
func (d positionExit) closeDust(whole bool, reason string) {
	if d.symbol.Key().Market == exchange.Spot || d.ownPosition == 0 || !whole || d.symbol.Ignored() != 0 {
		return
	}
	d.closingDust = true
	for _, p := range slices.Concat(d.stops, d.profits) {
		if p.Key() == dustKey && d.nowMS-p.SentMS() < int64(d.desired.Interval) {
			return
		}
	}
	order := exchange.NewOrder{Type: exchange.StopMarket, Side: exchange.SideOf(-d.ownPosition), ClosePosition: true, WorkingType: exchange.ContractPrice}
	tick := -d.symbol.rules.PriceTick
	switch arrived := func(p *account.Placement) bool { return !d.mayRepeat(p) }; {
	case !slices.ContainsFunc(d.stops, arrived):
	case !slices.ContainsFunc(d.profits, arrived):
		order.Type, tick = exchange.TakeProfitMarket, -tick
	default:
		return // both already rest: whichever triggers first closes the position
	}
	if d.ownPosition < 0 {
		tick = -tick
	}
	order.StopPrice = d.symbol.rules.FloorPrice(d.symbol.last) + tick
	if order.StopPrice <= 0 {
		return
	}
	purpose := placement.StopLoss
	if order.Type == exchange.TakeProfitMarket {
		purpose = placement.TakeProfit
	}
	d.add(Intent{Purpose: purpose, Key: dustKey, Order: order, Reason: reason + "; too small for an order of its own"})
}

// exitNow exits at market instead of placing a stop whose price was passed, unless an exit is already in flight.
func (d positionExit) exitNow() {
	if d.exiting {
		return
	}
	for _, p := range d.targetOrders {
		if p.Purpose() == placement.Exit && !d.mayRepeat(p) {
			return
		}
	}
	d.exiting = true
	if d.clearResting() {
		return // the whole exit follows after the exchange has confirmed
	}
	d.intents = slices.DeleteFunc(d.intents, func(i Intent) bool { return i.Purpose == placement.Exit }) // this exit includes them
	d.stopNow(d.spotPosition().unsoldByPeer().Abs())
}

// stopNow sells or buys back a quantity instead of placing a stop.
func (d positionExit) stopNow(quantity exchange.Quantity) {
	before := len(d.intents)
	d.reduceNow(quantity, "the price has already passed the stop")
	for i := before; i < len(d.intents); i++ {
		if d.intents[i].Purpose == placement.Exit {
			d.intents[i].Purpose = placement.StopLoss
		}
	}
}

// cancelPassedExits cancels a resting spot exit whose limit the price has passed, and reports whether
// one blocks the next exit, which uses the price of that time.
func (d positionExit) cancelPassedExits(live []*account.Placement) (stuck bool) {
	for _, p := range live {
		o := p.Order()
		if o.Market == exchange.Spot && o.Side == exchange.Sell && o.Type == exchange.Limit && p.Seen() &&
			!p.State().OutcomeUncertain() && d.nowMS-p.SentMS() >= RepeatMS {
			d.cancel(p, "it rests because the price has passed its limit")
			stuck = true
		}
	}
	return stuck
}
