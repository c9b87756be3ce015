package reconcile

import (
	"cmp"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// A spot stop is an order for a quantity and holds the asset. A later purchase gets an additional stop,
// so that the existing ones stay. Once there are this many stops, the smallest one is merged with the
// new quantity, because that interrupts the least protection. Merging waits until nothing is uncertain.
const maxStops = 8

// spotStops places, moves and removes the stops of a spot position. No quantity is for sale twice: an exit sells nothing that a stop covers.
type spotStops struct{ *safeguards }

func (d *safeguards) spotStops() spotStops { return spotStops{d} }

// converge keeps STOP_LIMIT orders for the whole quantity that no exit sells. They hold the asset, so
// a stop that blocks an exit is canceled first, and the exit waits for the answer.
func (d spotStops) converge() {
	if d.positionExit().cancelPassedExits(d.stops) {
		return
	}
	protection := d.desired.Protection
	if !protection.Set || protection.StopLoss.IsZero() {
		for _, p := range d.stops {
			if d.symbol.contradicted == "" && d.symbol.Quarantine() == "" {
				d.cancel(p, "no longer desired")
			}
		}
		return
	}
	price := d.protectionPrice(placement.StopLoss, protection.StopLoss)
	if price <= 0 {
		return
	}
	d.cancelForgotten(price)
	position, uncovered := d.spotPosition(), d.uncovered()
	if d.tracker.StandsDown() {
		uncovered = max(min(0, uncovered), uncovered-position.peerStopPending())
	}
	uncovered = max(min(0, uncovered), uncovered-position.recentlyCanceled()-position.unclaimedSales())
	// a wallet from before may lack the last fill
	if d.saleEvidence().historyUnread() && d.tracker.walletFromMS >= d.tracker.bootMS+d.tracker.Bounds().StalenessMS {
		uncovered = min(uncovered, position.ownBalance()-position.selling(d.leavesUncovered))
	}
	missing := d.symbol.rules.FloorQuantity(d.withinMaximum(d.stoppable(d.withoutRefused(uncovered - position.restingExits()))))
	moved := slices.ContainsFunc(d.stops, func(p *account.Placement) bool { return p.Order().StopPrice != price })
	switch {
	case d.desired.Unread && d.tooSmall(missing) && (uncovered >= 0 || !d.allShown()): // existing stops stay
	case uncovered < 0:
		d.shrinkStops()
	case d.tooSmall(uncovered) && moved:
		d.moveStops(price)
	case d.tooSmall(missing):
	case len(d.stops) >= maxStops && !d.desired.Unread && !d.tracker.StandsDown() && d.mayMoveStop(): // while botd stands down, no stop is removed to merge it
		d.mergeStops(0)
	case d.pricePassed(placement.StopLoss, price) && len(d.stops) == 0 && d.tooSmall(d.ownPosition) && !d.tracker.StandsDown():
		// an earlier wallet lacked it: what the newest one shows of it is sold
		d.positionExit().stopNow(min(missing, d.symbol.rules.FloorQuantity(position.ownBalance())))
		if d.symbol.tooSmallToTrade(d.tracker.baseBalance(d.symbol)) { // it shows nobody's: if it is right, the exchange refuses the stop
			d.addStop(missing, d.stopFromLast(price))
		}
	case d.pricePassed(placement.StopLoss, price) && d.tracker.precedesPresentStart():
		d.addStop(missing, d.stopFromLast(price)) // the other botd, which holds the same units, may be selling them
	case d.pricePassed(placement.StopLoss, price):
		sold := d.exitPassed()
		switch {
		case d.tracker.StandsDown(): // nothing of another botd's is sold at market
			d.addStop(missing-max(0, position.unsoldByPeer()-position.selling(d.leavesUncovered)), d.stopFromLast(price))
		case !d.saleEvidence().mayHaveSold():
			d.addStop(missing-sold, d.stopFromLast(price))
		}
	case d.lacksForMinimum(missing, price) > 0 && !d.desired.Unread && !d.tracker.StandsDown() && d.mayMoveStop():
		d.mergeStops(d.lacksForMinimum(missing, price))
	default:
		d.addStop(missing, price)
	}
}

// lacksForMinimum returns what a quantity that is large enough to be sold at the last price lacks to be sold at a stop price, which is lower.
func (d spotStops) lacksForMinimum(quantity exchange.Quantity, stop exchange.Price) exchange.Quantity {
	rules := d.symbol.rules
	least := rules.QuantityFor(rules.MinNotional, stop)
	if rules.BelowMinimum(stop, least) { // it is rounded down
		least += rules.QuantityTick
	}
	return max(0, least-quantity)
}

// exitPassed sells the uncovered quantity at once, because the price has passed the stop's, and returns the quantity that it sells or is about to sell.
// What it withholds, because another order may have sold it or the wallet does not show it, needs a stop all the same.
func (d spotStops) exitPassed() (sold exchange.Quantity) {
	before := len(d.intents)
	if len(d.stops) == 0 {
		d.positionExit().exitNow()
	} else {
		d.exitPart()
	}
	for i := range d.intents[before:] {
		if one := &d.intents[before:][i]; one.Purpose != placement.Cancel && one.Order.Side == exchange.Sell {
			sold += one.Order.Quantity
		}
	}
	return sold + d.reserved
}

// addStop adds a stop for a quantity, unless that is too small to be sold at all, or at its stop price: no order can protect it.
func (d spotStops) addStop(quantity exchange.Quantity, price exchange.Price) {
	order := exchange.NewOrder{Type: exchange.StopLimit, Side: exchange.Sell, Quantity: quantity, StopPrice: price}
	order.Price = stopLimit(d.symbol.rules, price, quantity, d.desired.Collar)
	order.Price += min(d.startMark().sale(order.Price), max(0, price-order.Price))
	if order.Price <= price && price > 0 && !d.tooSmall(quantity) && !d.deniedStopsRest() {
		d.add(Intent{Purpose: placement.StopLoss, Reason: "protects the position", Order: order})
	}
}

// stopLimit returns the limit price of a spot stop: below its stop price by the collar, or higher if the quantity would be too small to be sold at
// that price.
func stopLimit(rules *exchange.Symbol, stop exchange.Price, quantity exchange.Quantity, collar exchange.Rate) exchange.Price {
	return rules.AtLeastMinimum(rules.FloorPrice(stop-stop.Share(collar)), quantity)
}

// stopHasAsset reports whether a spot stop must reserve the asset, so that no resting exit can hold it.
func (s *inputs) stopHasAsset() bool {
	return s.symbol.Key().Market == exchange.Spot && s.desired.Protection.Set && !s.desired.Protection.StopLoss.IsZero()
}

// allShown reports whether the exchange has shown every stop as open.
func (s *inputs) allShown() bool {
	return len(s.stops) > 1 && !slices.ContainsFunc(s.stops, func(p *account.Placement) bool { return p.State().OutcomeUncertain() || !p.Seen() })
}

// uncovered returns the part of the position that neither a stop nor an exit sells; it is negative if
// they sell more than the position.
func (d spotStops) uncovered() exchange.Quantity {
	position := d.spotPosition()
	return d.withoutExits(position.toProtect() - position.selling(d.leavesUncovered))
}

// withoutExits subtracts the quantity that this derivation already sells and rounds down to whole steps.
func (d spotStops) withoutExits(left exchange.Quantity) exchange.Quantity {
	for i := range d.intents {
		if d.intents[i].Purpose == placement.Exit {
			left -= d.intents[i].Order.Quantity
		}
	}
	left -= d.reserved
	if left > 0 {
		return d.symbol.rules.FloorQuantity(left)
	}
	return left
}

// exitPart sells the quantity that no stop covers and whose stop price has been passed; the other stops
// stay. Stops with an unknown end may have executed at that price. Unlike another stop, an immediate
// sale cannot be undone, so these stops count as sold unless a fresh wallet shows that they sold
// nothing. A wallet that freezes nothing for them and shows a partial sale determines the remainder.
func (d spotStops) exitPart() {
	position, ended := d.spotPosition(), exchange.Quantity(0)
	left, shown := position.toProtect(), position.ownBalance()-d.symbol.Unattributed()
	sold := shown < left
	if d.tracker.StandsDown() {
		left = position.unsoldByPeer()
	}
	for _, p := range slices.Concat(d.stops, d.targetOrders) {
		lost := d.leavesUncovered(p) && (p.Purpose() != placement.StopLoss || !d.desired.Unread && d.saleEvidence().repeatable(p))
		switch {
		case p.Purpose() == placement.Entry || lost:
		case d.tracker.walletRead && !d.desired.Unread && d.tracker.delivery(p).unfrozen && d.tracker.Unlisted(p):
			ended += p.Remaining()
		default:
			left, shown = left-p.Remaining(), shown-p.Remaining()
		}
	}
	switch {
	case ended != 0 && sold:
		left = min(left, shown)
	default:
		left -= ended
	}
	if d.saleEvidence().walletHoldsOnlyOwn() && d.tracker.walletRead && !d.desired.Unread { // if it is wrong about them, the exchange refuses the sale
		left = max(left, d.uncovered())
	}
	left -= d.tracker.frozenThoughRefused(d.symbol.Key(), true) + d.symbol.spot.unlisted.second
	d.positionExit().stopNow(d.withinMaximum(d.stoppable(d.withoutExits(left))))
}

// stoppable returns the quantity that a stop may sell: the wallet's free balance. A wallet that may be
// older than the last fill, that shows less than the fills explain, or that freezes what no order sells,
// does not prevent a stop: if it is right after all, the exchange refuses the stop, and nothing is lost.
func (d spotStops) stoppable(quantity exchange.Quantity) exchange.Quantity {
	symbol, sold := d.symbol, d.spotPosition().missingInWallet()
	clipped := d.saleQuantity().withinFree(quantity, func(p *account.Placement) bool {
		if p.Symbol() == symbol.Key() && d.tracker.hasEnded(p) && p.Remaining() <= sold { // the wallet no longer contains the quantity it sold
			sold -= p.Remaining()
			return false
		}
		return !p.Seen() && !d.leavesUncovered(p)
	})
	young := symbol.spot.walletInconclusive || d.tracker.walletMS <= symbol.FilledMS()+d.tracker.Bounds().StalenessMS
	bounded := d.spotPosition().walletBounds()
	untrusted := d.spotPosition().missingInWallet() > 0 || d.tooSmall(clipped) && symbol.frozenUnexplained > 0
	if d.tracker.StandsDown() { // another botd may have sold some
		untrusted = d.tracker.walletUntrusted(symbol)
		bounded = !untrusted
	}
	if clipped >= quantity || !young && !untrusted || bounded || symbol.spot.overdrawn && !d.tooSmall(clipped) {
		return clipped
	}
	fees := symbol.rules.QuantityOf(symbol.rules.QuantityAmount(symbol.Bought()).MulRate(spotFeeBound)) + symbol.rules.QuantityTick
	for _, p := range symbol.live {
		if p.Order().Side == exchange.Sell && (p.State().OutcomeUncertain() || !p.Seen()) && !d.leavesUncovered(p) {
			return clipped // it may hold, or have sold, the missing quantity
		}
	}
	if quantity-clipped <= fees {
		return clipped
	}
	return quantity
}

// mergeStops makes room for another stop: it removes the smallest one of at least a quantity, and the next stop covers its
// quantity together with the uncovered one.
func (d spotStops) mergeStops(least exchange.Quantity) {
	var smallest *account.Placement
	for _, p := range d.stops {
		if p.Order().Type != exchange.StopLimit || p.State().OutcomeUncertain() {
			return
		}
		if p.Remaining() >= least && (smallest == nil || p.Remaining() < smallest.Remaining()) {
			smallest = p
		}
	}
	if smallest != nil && d.symbol.rules.Tradable {
		d.cancel(smallest, "one stop replaces two")
	}
}

// stopRefusedWaitMS is the time for which no stop moves after the exchange has refused one, because a replacement
// might be refused as well.
const stopRefusedWaitMS = 60_000

// mayMoveStop reports whether a stop may be canceled to be placed again elsewhere: nothing on the symbol
// is uncertain or contradicted, no other stop is being moved, and the exchange has not just refused one.
func (s *inputs) mayMoveStop() bool {
	canceled := func(p *account.Placement) bool { return s.tracker.CancelMS(p.ClientOrderID()) != 0 }
	refused := slices.ContainsFunc(s.tracker.RefusedIntents(), func(r account.RefusedIntent) bool {
		return r.Symbol == s.symbol.Key() && r.Purpose == placement.StopLoss && s.nowMS-r.LastMS < stopRefusedWaitMS
	})
	recent := s.symbol.spot.stopRefusedMS != 0 && s.nowMS-s.symbol.spot.stopRefusedMS < stopRefusedWaitMS
	return !refused && !recent && s.symbol.settled && !s.unsettled && s.symbol.contradicted == "" && s.symbol.missedFor.sinceMS == 0 &&
		!slices.ContainsFunc(s.stops, canceled)
}

// moveStops cancels stops to place them again at the price, each at most once per interval: only the
// oldest one, so that the others keep protecting. If answers take no time, it moves all.
func (d spotStops) moveStops(price exchange.Price) {
	var off []*account.Placement
	for _, p := range d.stops {
		if p.Order().Type != exchange.StopLimit || p.State().OutcomeUncertain() {
			return
		}
		if p.Order().StopPrice != price && d.nowMS-p.SentMS() >= int64(d.desired.Interval) && d.placeable(p.Remaining()) {
			off = append(off, p)
		}
	}
	if d.desired.Bridge && (len(off) == 0 || !d.mayMoveStop()) {
		return
	}
	if d.desired.Bridge {
		off = off[:1] // the oldest
	} else if len(off) < len(d.stops) {
		return
	}
	for _, p := range off {
		d.cancel(p, "the protection moves")
	}
}

// placeable reports whether the symbol's current rules accept an order of that quantity. If they do not, a standing stop is not canceled, because
// nothing could replace it.
func (s *inputs) placeable(quantity exchange.Quantity) bool {
	rules := s.symbol.rules
	return rules.Tradable && rules.FloorQuantity(quantity) == quantity && !s.tooSmall(quantity)
}

// shrinkStops removes stops that sell more than the position. A canceled stop no longer sells anything.
// An unanswered stop never displaces a resting one: the exchange may have refused it, and if not, a list
// will show it.
func (d spotStops) shrinkStops() {
	released := func(p *account.Placement) bool {
		unanswered := p.Purpose() == placement.StopLoss && p.OrderID() == 0
		unread := p.State() == placement.Uncertain && !d.tracker.walletRead && d.tracker.delivery(p).unfrozen // as the last wallet showed
		return d.tracker.delivery(p).releasedMS != 0 || unanswered || unread || d.leavesUncovered(p)
	}
	position := d.spotPosition()
	explained := position.toProtect()
	if position.walletDecides() && !position.soldByOthers() && d.tracker.freezesLess(d.symbol) { // such a wallet, old or wrong, removes no stop
		explained = position.explainedByFills() + d.symbol.spot.unlisted.inferred
	}
	if !d.exiting { // the part of a purchase that only the newest wallet lacks keeps its stop
		explained += d.symbol.spot.unlisted.vanished()
	}
	if accepted := min(position.acceptedPurchases(), position.confirmedByExchange()); accepted > 0 {
		explained = max(explained, position.explainedByFills()+accepted)
	}
	resting := position.selling(released)
	if d.tracker.walletRead && slices.ContainsFunc(d.stops, d.tracker.Unlisted) { // a stop for which the exchange freezes nothing sells nothing
		resting = min(resting, d.symbol.rules.QuantityOf(d.tracker.Balance(d.symbol.rules.Base).Frozen))
	}
	excess := resting + d.reserved - explained
	for i := range d.intents {
		if d.intents[i].Purpose == placement.Exit {
			excess += d.intents[i].Order.Quantity
		}
	}
	if d.symbol.contradicted == "" && excess > 0 {
		d.shrunk = d.cancelStops(excess, "the stop would sell more than the position")
	}
}

// releaseForExit removes enough stops to release the quantity of an exit, and reports whether to wait for
// their ends. The other stops stay.
func (d spotStops) releaseForExit(quantity exchange.Quantity) (wait bool) {
	wait = d.positionExit().clearOrders()
	if short := d.symbol.rules.FloorQuantity(quantity) - d.uncovered(); short > 0 {
		wait = len(d.cancelStops(short, reasonRoomForExit)) > 0 || wait
	}
	wait = wait || slices.ContainsFunc(d.stops, func(p *account.Placement) bool {
		return d.tracker.delivery(p).releasedMS != 0 && d.positionExit().blocksExit(p)
	})
	if wait {
		d.reserved = quantity
	}
	return wait
}

// cancelStops cancels stops that together hold at least a quantity, and returns them: first those already
// being canceled, then those that the open list does not show, then the smallest stop that alone holds
// the rest, otherwise the largest.
func (d spotStops) cancelStops(quantity exchange.Quantity, reason string) (taken []*account.Placement) {
	stops := slices.DeleteFunc(slices.Clone(d.stops), d.mayRepeat)
	for quantity > 0 && len(stops) > 0 {
		next := slices.MaxFunc(stops, func(a, b *account.Placement) int {
			return cmp.Or(
				compareBool(d.tracker.CancelMS(a.ClientOrderID()) != 0, d.tracker.CancelMS(b.ClientOrderID()) != 0),
				compareBool(d.tracker.Unlisted(a), d.tracker.Unlisted(b)),
				compareBool(a.Remaining() >= quantity, b.Remaining() >= quantity),
				cmp.Compare(a.Remaining(), b.Remaining())*(quantity-max(a.Remaining(), b.Remaining())).Sign(),
				cmp.Compare(a.OrderID(), b.OrderID()), // of two equal stops, two botds remove the same one: the newer
			)
		})
		d.cancel(next, reason)
		quantity -= next.Remaining()
		stops = slices.DeleteFunc(stops, func(p *account.Placement) bool { return p == next })
		taken = append(taken, next)
	}
	return taken
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// leavesUncovered reports whether the quantity of a spot sale still needs a stop: the sale may be
// repeated, or it is uncertain, no list shows it, and the wallet still shows the asset without freezing
// any. If the sale executes later, the superfluous stop appears in the next list and is canceled.
func (d spotStops) leavesUncovered(p *account.Placement) bool {
	if d.mayRepeat(p) {
		return true
	}
	order := p.Order()
	switch {
	case !answerLost(p, d.nowMS) || p.OrderID() != 0 || !d.tracker.delivery(p).unfrozen || !d.tracker.walletRead:
		return false
	case d.saleEvidence().unpaid(&order, p.Remaining(), d.tracker.delivery(p).before, p.SentMS()):
		return true
	case d.tracker.StandsDown(): // the other botd's purchases may have replaced what the sale has sold
		return d.tracker.stillInWallet(p, d.symbol, d.symbol.jointFills())
	}
	return d.saleEvidence().stillInWallet(p) || d.tracker.freezesLess(d.symbol)
}

const (
	refusedShownMS = 500   // after the refusal of a spot exit: a wallet read later than this shows the sale if the exchange executed it despite the refusal
	refusedWaitMS  = 2_000 // the maximum time for which a new stop waits for such a wallet
)

// withoutRefused returns the part of a quantity that a new spot stop may sell alongside an exit whose refusal no read has confirmed: nothing until
// the wallet can show the sale, after that at most the wallet's balance beyond foreign holdings.
func (d spotStops) withoutRefused(quantity exchange.Quantity) exchange.Quantity {
	if d.desired.Flatten {
		return quantity
	}
	if !d.saleEvidence().walletHoldsOnlyOwn() {
		quantity = max(0, quantity-d.tracker.frozenThoughRefused(d.symbol.Key(), false)) // a wallet alone prevents no stop
	}
	if d.tracker.soldThoughRefused(d.symbol.Key()) > 0 {
		quantity = min(quantity, max(0, d.spotPosition().ownBalance()-d.spotPosition().selling(d.leavesUncovered)))
	}
	for _, r := range d.tracker.Refused() {
		age := d.nowMS - r.atMS
		if r.Symbol != d.symbol.Key() || r.order.Side != exchange.Sell || r.purpose == placement.StopLoss || age >= confirmMS {
			continue
		}
		switch {
		case d.tracker.readAfter(r.atMS + refusedShownMS):
			if !d.saleEvidence().unpaid(&r.order, r.order.Quantity, r.before, r.SentMS) {
				quantity = min(quantity, max(0, d.spotPosition().ownBalance()-d.spotPosition().selling(d.leavesUncovered)))
			}
		case age < refusedWaitMS:
			quantity = min(quantity, max(0, quantity-r.order.Quantity))
		}
	}
	return quantity
}
