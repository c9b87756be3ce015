package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/strategy"
)

// convergeStop leads to the stop that a plan desires. The cases are in order of precedence.
func (d positionProtection) convergeStop(protection strategy.Protection) {
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
		d.detectUnnamedStop(price)
	}
	switch {
	case price <= 0:
	case d.positionShared():
		d.partProtection().convergeStop(price)
	default:
		positionStop{d.safeguards, main, bridging, price}.converge()
	}
}

// positionStop is a position's closePosition STOP_MARKET, which does not use up the reduceOnly sum that exits need.
type positionStop struct {
	*safeguards
	main, bridging *account.Placement // the stop, and the reduceOnly STOP_MARKET that protects while it moves; nil for none
	price          exchange.Price     // the desired price
}

// converge leads to one stop at its price. The cases are in order of precedence: if the price has already been passed, the position exits at market;
// a missing stop is placed; an uncertain stop is waited for; a stop at its price needs no bridge; a move that has begun continues; otherwise
// a move begins.
func (s positionStop) converge() {
	missing, passed := s.main == nil || s.replaceable(s.main), s.pricePassed(placement.StopLoss, s.price)
	switch {
	case passed && (missing || s.main.Order().StopPrice != s.price && !s.main.State().OutcomeUncertain()):
		s.positionExit().exitNow()
	case missing:
		s.protectBy(placement.StopLoss, exchange.NewOrder{Type: exchange.StopMarket, StopPrice: s.price, ClosePosition: true}, "protects the position")
	case s.main.State().OutcomeUncertain() || passed:
	case s.main.Order().StopPrice == s.price:
		if s.bridging != nil && !mayHaveEnded(s.tracker, s.main) {
			s.cancel(s.bridging, "the stop rests at its new price")
		}
	case s.bridging != nil:
		s.continueMove()
	case s.mayMove():
		s.beginMove()
	}
}

// mayMove reports whether the stop may move: its interval has passed, the symbol is tradable, the end of the stop can be read, the new stop would
// cover the whole position that the exchange shows, and no exit is due. An exit leaves no room for a bridge, and may be refused.
func (s positionStop) mayMove() bool {
	return s.nowMS-s.main.SentMS() >= int64(s.desired.Interval) && s.symbol.rules.Tradable && !s.symbol.unread &&
		s.ownPosition == s.symbol.position && !s.reductions().exits()
}

// beginMove places a bridge if the sum allows one; otherwise the stop is canceled, confirmed and placed again.
func (s positionStop) beginMove() {
	if !s.desired.Bridge || len(s.targetOrders) != 0 || s.reductions().uncovered() != s.ownPosition.Abs() {
		s.cancel(s.main, "the protection moves")
		return
	}
	bridge := exchange.NewOrder{Type: exchange.StopMarket, StopPrice: s.price, Quantity: s.ownPosition.Abs(), ReduceOnly: true}
	s.protectBy(placement.StopLoss, bridge, "protects while the stop moves")
}

// continueMove cancels the stop once the bridge covers the position, and cancels a bridge that has become smaller than the position. It cancels neither
// while nothing shows that the other rests.
func (s positionStop) continueMove() {
	switch covers := s.bridging.Remaining() >= s.symbol.position.Abs(); {
	case s.bridging.State().OutcomeUncertain():
	case covers && !mayHaveEnded(s.tracker, s.bridging): // only now, so that the position is never without a stop
		s.cancel(s.main, "the protection moves")
	case !covers && s.ownPosition == s.symbol.position && !mayHaveEnded(s.tracker, s.main): // the position has grown since
		s.cancel(s.bridging, "it no longer covers the whole position")
	}
}

// stopsOf sorts protective orders of one kind: the closePosition order, the bridge alongside it, and a market exit; if there are several, the newest
// of each. An order of the other side belonged to an earlier position: a stale list may still show it.
func (s *inputs) stopsOf(live []*account.Placement) (main, bridging, urgent *account.Placement) {
	for _, p := range live {
		switch {
		case s.ownPosition != 0 && p.Order().Side == exchange.SideOf(s.ownPosition):
		case p.Order().ClosePosition:
			if main == nil || main.State() == placement.Uncertain || p.State() != placement.Uncertain {
				main = p
			}
		case p.Order().Type == exchange.MarketOrder || p.Order().Type == exchange.Limit: // on spot a market exit is a limit order at the collar
			urgent = p
		default:
			bridging = p
		}
	}
	return main, bridging, urgent
}

// cancelOpposite cancels the protection of an earlier position on the other side, because the exchange
// accepts no second closePosition order of a type. The list must show no more than the fills explain,
// and on the same side, because an old list may show an earlier position.
func (d positionProtection) cancelOpposite() {
	if known := d.symbol.Known(); d.symbol.Quarantine() != "" || d.ownPosition.Sign() != known.Sign() || d.symbol.position.Abs() > known.Abs() {
		return
	}
	for _, p := range slices.Concat(d.stops, d.profits) {
		if p.Order().ClosePosition && p.Order().Side == exchange.SideOf(d.ownPosition) {
			d.cancel(p, "it protects a position on the other side")
		}
	}
}

// detectUnnamedStop looks for a foreign stop at the price that botd's own is about to get: another botd with a copy of the journal has protected the position
// first.
func (d positionProtection) detectUnnamedStop(price exchange.Price) {
	for i := range d.symbol.foreign {
		o := &d.symbol.foreign[i]
		if o.Market == exchange.Futures && o.ClientOrderID == "" && o.Type.StopLoss() && o.Side == exchange.SideOf(-d.ownPosition) && o.StopPrice == price &&
			!d.tracker.futuresIDs.showsEveryID() {
			d.tracker.noteUnnamed(o.ID)
		}
	}
}
