package reconcile

import (
	"cmp"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Spot stops are orders for a quantity and hold the asset. A later purchase gets an additional
// stop, so that existing ones stay. When there are many, the smallest is merged with the new
// quantity, because that removes no other. Merging waits until nothing is uncertain.
const mostStops = 8

// protectSpot keeps STOP_LIMITs over the whole quantity that no exit sells. They hold the asset, so
// a stop that blocks an exit is canceled first, and the answer awaited.
func (d *derivation) protectSpot() {
	if d.cancelPassedExits(d.stops) {
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
	uncovered := d.uncovered()
	if d.book.StandsDown() {
		uncovered = max(min(0, uncovered), uncovered-d.peerStopPending())
	}
	uncovered = max(min(0, uncovered), uncovered-recentlyTaken(&d.situation)-soldElsewhere(d))
	if d.historyUnread() && d.book.walletFromMS >= d.book.bootMS+d.book.Settle().StalenessMS { // before that a wallet may be older than the last fill
		uncovered = min(uncovered, d.ownBalance()-d.selling(d.leavesUncovered))
	}
	missing := d.symbol.rules.FloorQuantity(d.capped(d.stoppable(d.withoutRefused(uncovered - d.restingExits()))))
	moved := slices.ContainsFunc(d.stops, func(p *account.Placement) bool { return p.Order().StopPrice != price })
	switch {
	case d.desired.Unread && d.tooSmall(missing) && (uncovered >= 0 || !d.allShown()): // existing stops stay
	case uncovered < 0:
		d.shrinkStops()
	case d.tooSmall(uncovered) && moved:
		d.moveStops(price)
	case d.tooSmall(missing):
	case len(d.stops) >= mostStops && !d.desired.Unread && !d.book.StandsDown() && d.mayMoveStop(): // while it stands down, no stop is removed for another
		d.joinStops()
	case d.pricePassed(placement.StopLoss, price) && len(d.stops) == 0:
		d.exitNow()
	case d.pricePassed(placement.StopLoss, price):
		d.exitPart()
	case !d.pricePassed(placement.StopLoss, price):
		order := exchange.NewOrder{Type: exchange.StopLimit, Side: exchange.Sell, Quantity: missing, StopPrice: price}
		order.Price = stopLimit(d.symbol.rules, price, missing, d.desired.Collar)
		order.Price += min(saleMark(&d.situation, order.Price), max(0, price-order.Price))
		if order.Price <= price { // otherwise the quantity is too small to be sold at its stop price: no order can do it
			d.add(Intent{Purpose: placement.StopLoss, Reason: "protects the position", Order: order})
		}
	}
}

// stopLimit returns the limit of a spot stop: the collar below its stop price, or above that if the quantity would be too small to be sold there.
func stopLimit(rules *exchange.Symbol, stop exchange.Price, quantity exchange.Quantity, collar exchange.Rate) exchange.Price {
	return rules.AtLeastMinimum(rules.FloorPrice(stop-stop.Share(collar)), quantity)
}

// stopHasAsset reports whether a spot stop must reserve the asset, so that no resting exit can.
func (s *situation) stopHasAsset() bool {
	return s.symbol.Key().Market == exchange.Spot && s.desired.Protection.Set && !s.desired.Protection.StopLoss.IsZero()
}

// restingExits is what exits of the plan still hold of the asset: a stop waits for their cancels.
func (s *situation) restingExits() (sum exchange.Quantity) {
	for _, p := range s.keyedOrders {
		if p.Purpose() == placement.ExitOrder {
			sum += p.Remaining()
		}
	}
	return sum
}

// soldByOthers reports whether the symbol is quarantined and the order history, too, shows that others have sold.
func (s *situation) soldByOthers() bool {
	return s.symbol.Quarantine() != "" && (s.symbol.Cause() == record.SoldByOthers || s.symbol.spot.confirmed > 0)
}

// peerStopPending returns the quantity that another botd has bought so recently that its stop may not be visible yet. Its sell orders count
// against its older position first.
func (s *situation) peerStopPending() exchange.Quantity {
	recent := s.symbol.recentPeerPurchases(s.nowMS)
	before := max(0, s.book.jointStopQuantity(s.symbol)-max(0, s.symbol.ownOnSpot())-recent)
	return max(0, recent-max(0, s.book.sellsUnknown(s.symbol)-before))
}

// allShown reports whether each stop is confirmed open: the exchange has shown all of them.
func (s *situation) allShown() bool {
	return len(s.stops) > 1 && !slices.ContainsFunc(s.stops, func(p *account.Placement) bool { return p.State().OutcomeUnknown() || !p.Seen() })
}

// explainedOnSpot is the spot position that stops protect: while a wallet is contradicted it is
// what the fills explain, since only that wallet shows that some of it was sold. What a
// purchase has bought that no list shows counts as far as the wallet shows it.
func (s *situation) explainedOnSpot() exchange.Quantity {
	if s.book.StandsDown() {
		return s.book.jointStopQuantity(s.symbol) - s.book.sellsUnknown(s.symbol) - s.unnamedStops()
	}
	switch {
	case s.walletBounds():
		return s.backed(s.explainedByFills() + s.symbol.spot.presumed)
	case s.walletDecides():
		return s.explainedByFills() + s.symbol.spot.presumed
	case s.symbol.contradicted == "" && s.symbol.Quarantine() == "":
		return s.ownPosition + s.symbol.spot.presumed
	}
	return s.explainedByFills()
}

// unnamedStops returns the quantity of stops without a client order id that may belong to another botd: lists that omit ids do not show
// whose they are. A protective order is not placed again, whoever placed it.
func (s *situation) unnamedStops() (sum exchange.Quantity) {
	for i := range s.symbol.foreign {
		if o := &s.symbol.foreign[i]; o.Side == exchange.Sell && o.ClientOrderID == "" && o.Type.StopLoss() && !s.symbol.spot.standsIn(o.ID) {
			sum += o.Remaining()
		}
	}
	return min(sum, max(0, s.book.jointStopQuantity(s.symbol)-max(0, s.symbol.ownOnSpot())-s.book.sellsUnknown(s.symbol)))
}

// walletDecides reports whether the wallet bounds what is protected: in a quarantine, since fills may be missing from the
// journal. It does not after ExecutedBeyond, because no fill is missing then.
func (s *situation) walletDecides() bool {
	return s.symbol.Quarantine() != "" && s.symbol.Cause() != record.ExecutedBeyond
}

// walletBounds reports whether a new stop is for no more than the wallet shows. A wallet that freezes less than the open orders require is wrong,
// unless sales by others confirm it.
func (s *situation) walletBounds() bool {
	return s.walletDecides() && (s.soldByOthers() || !s.book.walletWrong(s.symbol))
}

// explainedByFills is what fills explain of a spot position, without what orders that the
// journal does not know may sell of it, or have sold according to wallet and order history.
func (s *situation) explainedByFills() exchange.Quantity {
	return max(0, s.symbol.Known()-s.symbol.Fees()-s.book.sellsUnknown(s.symbol)-s.symbol.spot.confirmed)
}

// backed caps a quantity at the newest wallet's balance beyond foreign assets. The wallet may be older than the
// last sale, whose quantity the fills already contain.
func (s *situation) backed(quantity exchange.Quantity) exchange.Quantity {
	baseBalance := s.symbol.rules.FloorQuantity(s.book.baseBalance(s.symbol))
	return max(0, min(quantity, baseBalance-s.symbol.Baseline()-s.book.sellsUnknown(s.symbol)))
}

// uncovered returns the part of the position that neither a stop nor an exit sells; below zero they
// sell more.
func (d *derivation) uncovered() exchange.Quantity {
	return d.withoutExits(d.explainedOnSpot() - d.selling(d.leavesUncovered))
}

// withoutExits subtracts the quantity that this derivation already sells, in whole steps.
func (d *derivation) withoutExits(left exchange.Quantity) exchange.Quantity {
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

// selling is what stops and exits may still sell, without those that another may take the place
// of. What the wallet misses of the fills, those may have sold that the open list does not
// show: it is not counted twice.
func (s *situation) selling(replaced func(*account.Placement) bool) (sum exchange.Quantity) {
	unlisted, finished := exchange.Quantity(0), exchange.Quantity(0)
	for _, p := range slices.Concat(s.stops, s.targetOrders) {
		switch {
		case p.Purpose() == placement.Entry || replaced(p):
		case s.book.hasEnded(p):
			finished += p.Remaining()
		case s.book.Unlisted(p):
			unlisted += p.Remaining()
		default:
			sum += p.Remaining()
		}
	}
	missing := s.walletMisses()
	if s.walletDecides() { // what is missing is no part of what is to be protected
		return sum + unlisted - min(unlisted, max(0, missing-s.book.soldThoughRefused(s.symbol.Key())))
	}
	return sum + unlisted + min(finished, max(0, missing-unlisted))
}

// walletMisses returns the quantity that fills explain, or that an unlisted purchase has bought, and that the wallet does not show.
func (s *situation) walletMisses() exchange.Quantity {
	all := s.explainedByFills()
	if s.symbol.contradicted == "" {
		all += s.symbol.spot.presumed
	}
	missing := all - s.backed(all)
	if s.walletDecides() {
		return missing
	}
	own := s.book.baseBalance(s.symbol) - s.symbol.Baseline() - s.symbol.Unattributed() // a purchase of others does not show what is left of the own position
	return max(missing, min(all, all-own))
}

// exitPart sells the quantity that no stop covers and whose price was passed; the other stops stay.
// Stops with an unknown end may have executed at that price. Unlike another stop, an immediate sale
// cannot be undone, so they count as sold unless a fresh wallet shows that they sold nothing. A
// wallet that freezes nothing for them and shows a partial sale shows the rest.
func (d *derivation) exitPart() {
	left, shown, ended := d.explainedOnSpot(), d.ownBalance(), exchange.Quantity(0)
	sold := shown < left
	if d.book.StandsDown() {
		left = d.ownPosition
	}
	for _, p := range slices.Concat(d.stops, d.targetOrders) {
		lost := d.leavesUncovered(p) && (p.Purpose() != placement.StopLoss || !d.desired.Unread && d.repeatable(p))
		switch {
		case p.Purpose() == placement.Entry || lost:
		case d.book.walletRead && !d.desired.Unread && d.book.delivery(p).unfrozen && d.book.Unlisted(p):
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
	left -= d.book.frozenThoughRefused(d.symbol.Key())
	d.stopNow(d.capped(d.stoppable(d.withoutExits(left))))
}

// stoppable returns the quantity that a stop may sell: the wallet's free balance. A wallet that may
// be older than the last fill, or that shows less than the fills explain, does not prevent a stop:
// if it is right, the exchange refuses the stop, and nothing is lost.
func (d *derivation) stoppable(quantity exchange.Quantity) exchange.Quantity {
	symbol, sold := d.symbol, d.walletMisses()
	clipped := d.clip(quantity, func(p *account.Placement) bool {
		if p.Symbol() == symbol.Key() && d.book.hasEnded(p) && p.Remaining() <= sold { // the wallet no longer contains the quantity it sold
			sold -= p.Remaining()
			return false
		}
		return !p.Seen() && !d.leavesUncovered(p)
	})
	young := symbol.spot.inconclusive || d.book.walletMS <= symbol.FilledMS()+d.book.Settle().StalenessMS
	untrusted := symbol.missedFor.sinceMS != 0
	if d.book.StandsDown() { // another botd may have sold some
		untrusted = d.book.walletUntrusted(symbol)
	}
	if clipped >= quantity || !young && !untrusted || d.walletBounds() || symbol.spot.overdrawn && !d.tooSmall(clipped) {
		return clipped
	}
	fees := symbol.rules.QuantityOf(symbol.rules.QuantityAmount(symbol.Bought()).MulRate(spotFeeBound)) + symbol.rules.QuantityTick
	for _, p := range symbol.live {
		if p.Order().Side == exchange.Sell && (p.State().OutcomeUnknown() || !p.Seen()) && !d.leavesUncovered(p) {
			return clipped // it may hold, or have sold, the missing quantity
		}
	}
	if quantity-clipped <= fees {
		return clipped
	}
	return quantity
}

// joinStops makes room for another stop: it removes the smallest one, whose quantity is then
// covered together with the uncovered one.
func (d *derivation) joinStops() {
	var smallest *account.Placement
	for _, p := range d.stops {
		if p.Order().Type != exchange.StopLimit || p.State().OutcomeUnknown() {
			return
		}
		if smallest == nil || p.Remaining() < smallest.Remaining() {
			smallest = p
		}
	}
	if d.symbol.rules.Tradable {
		d.cancel(smallest, "one stop takes the place of two")
	}
}

// restMS is the time for which no stop moves after the exchange has refused one, because its
// replacement would have to wait.
const restMS = 60_000

// mayMoveStop reports whether a stop may be taken off to be placed again: nothing on the symbol
// is unknown or contradicted, no other stop is off, and the exchange takes stops.
func (s *situation) mayMoveStop() bool {
	canceled := func(p *account.Placement) bool { return s.book.CancelMS(p.ClientOrderID()) != 0 }
	refused := slices.ContainsFunc(s.book.Refusals(), func(r account.Refusal) bool {
		return r.Symbol == s.symbol.Key() && r.Purpose == placement.StopLoss && s.nowMS-r.LastMS < restMS
	})
	return !refused && s.symbol.settled && !s.unsettled && s.symbol.contradicted == "" && s.symbol.missedFor.sinceMS == 0 &&
		!slices.ContainsFunc(s.stops, canceled)
}

// moveStops removes a stop to place it again at the price, at most once per interval: only the
// oldest, so that the others protect meanwhile. If answers take no time, it moves all.
func (d *derivation) moveStops(price exchange.Price) {
	var off []*account.Placement
	for _, p := range d.stops {
		if p.Order().Type != exchange.StopLimit || p.State().OutcomeUnknown() {
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

// placeable reports whether the symbol's current rules accept an order of that quantity. Otherwise a standing stop is not
// canceled, since nothing could replace it.
func (s *situation) placeable(quantity exchange.Quantity) bool {
	rules := s.symbol.rules
	return rules.Tradable && rules.FloorQuantity(quantity) == quantity && !s.tooSmall(quantity)
}

// shrinkStops removes stops that sell more than the position. A canceled stop no longer sells
// anything, and an unanswered stop does not remove a resting one: the exchange may have refused it,
// and a list shows it otherwise.
func (d *derivation) shrinkStops() {
	released := func(p *account.Placement) bool {
		unanswered := p.Purpose() == placement.StopLoss && p.OrderID() == 0
		unread := p.State() == placement.Uncertain && !d.book.walletRead && d.book.delivery(p).unfrozen // as the last wallet showed
		return d.book.delivery(p).releasedMS != 0 || unanswered || unread || d.leavesUncovered(p)
	}
	explained := d.explainedOnSpot()
	if d.walletDecides() && !d.soldByOthers() && d.book.freezesLess(d.symbol) { // that wallet removes no stop
		explained = d.explainedByFills() + d.symbol.spot.presumed
	}
	if !d.exiting { // the part of a purchase that only the newest wallet lacks keeps its stop
		explained += d.symbol.vanished()
	}
	resting := d.selling(released)
	if d.book.walletRead && slices.ContainsFunc(d.stops, d.book.Unlisted) { // what the exchange freezes nothing for, no stop sells
		resting = min(resting, d.symbol.rules.QuantityOf(d.book.Balance(d.symbol.rules.Base).Frozen))
	}
	excess := resting + d.reserved - explained
	for i := range d.intents {
		if d.intents[i].Purpose == placement.Exit {
			excess += d.intents[i].Order.Quantity
		}
	}
	if d.symbol.contradicted == "" && excess > 0 {
		d.shrunk = d.takeOff(excess, "what is held is less than the stop would sell")
	}
}

// makeRoom removes enough stops to release the quantity of an exit, and reports whether to wait for
// that. The others stay.
func (d *derivation) makeRoom(quantity exchange.Quantity) (wait bool) {
	wait = d.clearOrders()
	if short := d.symbol.rules.FloorQuantity(quantity) - d.uncovered(); short > 0 {
		wait = len(d.takeOff(short, roomForExit)) > 0 || wait
	}
	wait = wait || slices.ContainsFunc(d.stops, func(p *account.Placement) bool { return d.book.delivery(p).releasedMS != 0 && d.blocksExit(p) })
	if wait {
		d.reserved = quantity
	}
	return wait
}

// takeOff cancels stops that together hold at least a quantity, and returns them: first those
// already being canceled, then those that the open list does not show, then the smallest that holds
// all of it, else the largest.
func (d *derivation) takeOff(quantity exchange.Quantity, reason string) (taken []*account.Placement) {
	stops := slices.DeleteFunc(slices.Clone(d.stops), d.mayRepeat)
	for quantity > 0 && len(stops) > 0 {
		next := slices.MaxFunc(stops, func(a, b *account.Placement) int {
			return cmp.Or(
				compareBool(d.book.CancelMS(a.ClientOrderID()) != 0, d.book.CancelMS(b.ClientOrderID()) != 0),
				compareBool(d.book.Unlisted(a), d.book.Unlisted(b)),
				compareBool(a.Remaining() >= quantity, b.Remaining() >= quantity),
				cmp.Compare(a.Remaining(), b.Remaining())*(quantity-max(a.Remaining(), b.Remaining())).Sign(),
				cmp.Compare(a.OrderID(), b.OrderID()), // of two equal stops another botd removes the younger one too
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
