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
		for _, p := range d.stops {
			d.cancel(p, "no longer desired")
		}
	default:
		price = d.protectionPrice(placement.StopLoss, protection.StopLoss)
	}
	switch {
	case price <= 0:
	case d.positionShared():
		d.convergeStopPart(price)
	default:
		positionStop{d, main, bridging, price}.converge()
	}
}

// positionStop is the closePosition STOP_MARKET of a position, which leaves the reduceOnly sum to the exits.
type positionStop struct {
	*derivation
	main, bridging *account.Placement // the stop, and the reduceOnly STOP_MARKET that protects while it moves; nil for none
	price          exchange.Price     // where the plan desires it
}

// converge leads to one stop at its price. The cases stand in order of precedence: if the price has already been passed, the position exits at
// market; a missing stop is placed; one whose outcome is unknown is waited for; one at its price needs no bridge; a move that has begun
// continues; another one begins.
func (s positionStop) converge() {
	missing, passed := s.main == nil || s.replaceable(s.main), s.pricePassed(placement.StopLoss, s.price)
	switch {
	case passed && (missing || s.main.Order().StopPrice != s.price && !s.main.State().OutcomeUnknown()):
		s.exitNow()
	case missing:
		s.protectBy(placement.StopLoss, exchange.NewOrder{Type: exchange.StopMarket, StopPrice: s.price, ClosePosition: true}, "protects the position")
	case s.main.State().OutcomeUnknown() || passed:
	case s.main.Order().StopPrice == s.price:
		if s.bridging != nil {
			s.cancel(s.bridging, "the stop stands at its new price")
		}
	case s.bridging != nil:
		s.continueMove()
	case s.mayMove():
		s.beginMove()
	}
}

// mayMove reports whether the stop may move: its interval has passed, the symbol is tradable, the end of the stop can be read, the new one
// would cover the whole position that the exchange shows, and no exit is due. An exit leaves a bridge no room, and may be refused.
func (s positionStop) mayMove() bool {
	return s.nowMS-s.main.SentMS() >= int64(s.desired.Interval) && s.symbol.rules.Tradable && !s.symbol.unread &&
		s.ownPosition == s.symbol.position && !s.exits()
}

// beginMove places a bridge if the sum allows one; otherwise the stop is canceled, confirmed and placed again.
func (s positionStop) beginMove() {
	if !s.desired.Bridge || len(s.targetOrders) != 0 || s.reducible() != s.ownPosition.Abs() {
		s.cancel(s.main, "the protection moves")
		return
	}
	bridge := exchange.NewOrder{Type: exchange.StopMarket, StopPrice: s.price, Quantity: s.ownPosition.Abs(), ReduceOnly: true}
	s.protectBy(placement.StopLoss, bridge, "stands while the protection moves")
}

// continueMove cancels the stop once the bridge covers the position, or a bridge that the position has outgrown.
func (s positionStop) continueMove() {
	switch covers := s.bridging.Remaining() >= s.symbol.position.Abs(); {
	case s.bridging.State().OutcomeUnknown():
	case covers: // only then does its replacement rest
		s.cancel(s.main, "the protection moves")
	case s.ownPosition == s.symbol.position: // it has grown since
		s.cancel(s.bridging, "it covers less than the position")
	}
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
