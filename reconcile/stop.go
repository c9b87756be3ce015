package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/strategy"
)

// convergeStop leads to the stop that a plan desires. The cases stand in order of precedence.
func (d *derivation) convergeStop(protection strategy.Protection) {
	main, bridging, urgent := d.stopsOf(d.stops)
	price := exchange.Price(0)
	switch {
	case urgent != nil && !d.mayRepeat(urgent): // the position is exiting
	case d.declared() && main != nil && !d.replaceable(main): // existing protection stays until the position is understood
	case !protection.Set || protection.StopLoss.IsZero():
		d.cancelStops()
	default:
		price = d.protectionPrice(placement.StopLoss, protection.StopLoss)
	}
	switch {
	case price <= 0:
	case d.positionShared():
		d.convergeStopPart(price)
	default:
		d.convergeWholeStop(price, main, bridging)
	}
}

// cancelStops cancels the stops of a plan that desires none.
func (d *derivation) cancelStops() {
	for _, p := range d.stops {
		d.cancel(p, "no longer desired")
	}
}

// convergeWholeStop keeps one closePosition STOP_MARKET, which leaves the reduceOnly sum to the exits. The cases stand in order of precedence:
// if the price has already been passed, the position exits at market; a missing stop is placed; one whose outcome is unknown is waited for;
// one at its price stays, without a bridge; a move that has begun is continued; another one begins.
func (d *derivation) convergeWholeStop(price exchange.Price, main, bridging *account.Placement) {
	missing, passed := main == nil || d.replaceable(main), d.pricePassed(placement.StopLoss, price)
	switch {
	case passed && (missing || main.Order().StopPrice != price && !main.State().OutcomeUnknown()):
		d.exitNow()
	case missing:
		d.protectBy(placement.StopLoss, exchange.NewOrder{Type: exchange.StopMarket, StopPrice: price, ClosePosition: true}, "protects the position")
	case main.State().OutcomeUnknown() || passed:
	case main.Order().StopPrice == price:
		if bridging != nil {
			d.cancel(bridging, "the stop stands at its new price")
		}
	case bridging != nil:
		d.continueMove(main, bridging)
	case d.mayBeginMove(main):
		d.beginMove(price, main)
	}
}

// beginMove moves a stop: a reduceOnly STOP_MARKET protects meanwhile if the sum allows one; otherwise the stop is canceled, confirmed and
// placed again.
func (d *derivation) beginMove(price exchange.Price, main *account.Placement) {
	if !d.desired.Bridge || len(d.targetOrders) != 0 || d.reducible() != d.ownPosition.Abs() {
		d.cancel(main, "the protection moves")
		return
	}
	bridge := exchange.NewOrder{Type: exchange.StopMarket, StopPrice: price, Quantity: d.ownPosition.Abs(), ReduceOnly: true}
	d.protectBy(placement.StopLoss, bridge, "stands while the protection moves")
}

// continueMove cancels a stop for which a bridge stands, or a bridge that the position has outgrown.
func (d *derivation) continueMove(main, bridging *account.Placement) {
	switch covers := bridging.Remaining() >= d.symbol.position.Abs(); {
	case bridging.State().OutcomeUnknown():
	case covers: // only then does its replacement rest
		d.cancel(main, "the protection moves")
	case d.ownPosition == d.symbol.position: // it has grown since
		d.cancel(bridging, "it covers less than the position")
	}
}

// mayBeginMove reports whether a stop may move: its interval has passed, the symbol is tradable, the end of the stop can be read, the new one
// would cover the whole position that the exchange shows, and no exit is due. An exit leaves a bridge no room, and may be refused.
func (d *derivation) mayBeginMove(main *account.Placement) bool {
	return d.nowMS-main.SentMS() >= int64(d.desired.Interval) && d.symbol.rules.Tradable && !d.symbol.unread && d.ownPosition == d.symbol.position && !d.exits()
}

// exits reports whether an exit is due.
func (d *derivation) exits() bool {
	return slices.ContainsFunc(d.intents, func(i Intent) bool { return i.Purpose == placement.Exit })
}

// stopsOf sorts protections of one kind: the closePosition order, the bridge
// beside it, and an exit at market; of several the newest. An order of the other side belonged to an earlier position: a stale
// list may still show it.
func (s *situation) stopsOf(live []*account.Placement) (main, bridging, urgent *account.Placement) {
	for _, p := range live {
		switch {
		case s.ownPosition != 0 && p.Order().Side == exchange.SideOf(s.ownPosition):
		case p.Order().ClosePosition:
			if main == nil || main.State() == placement.Uncertain || p.State() != placement.Uncertain {
				main = p
			}
		case p.Order().Type == exchange.MarketOrder || p.Order().Type == exchange.Limit: // on spot it is limited by the collar
			urgent = p
		default:
			bridging = p
		}
	}
	return main, bridging, urgent
}
