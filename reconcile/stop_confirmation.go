package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// Open list and wallet are two witnesses of a spot stop: the list shows it, and the wallet freezes its units. If only one of them does, either may be old
// or wrong. Then the exchange decides: botd sends another stop. Where the account holds nobody else's units, the exchange refuses it if the first one
// rests, or if the units have been sold. Where it holds a person's units too, the exchange would take those, so botd sends another stop only if neither
// witness shows the first one, and only for units that the wallet shows as free.

const (
	unconfirmedWaitMS = 2_000 // after which another stop is sent
	newOrderMS        = 1_000 // for which lists and wallet may not show an order yet
)

// UnconfirmedKey is the key of the other stop. Its refusal shows that the first one rests, and delays no other stop.
const UnconfirmedKey = "unconfirmed"

// noteUnconfirmed records since when a part of each spot position has been unconfirmed.
func (s *survey) noteUnconfirmed() {
	for symbol := range s.tracker.Symbols() {
		t := &symbol.spot
		switch {
		case symbol.Key().Market != exchange.Spot || symbol.rules == nil || symbol.last == 0:
		case symbol.tooSmallToTrade(s.unconfirmed(symbol)):
			t.unconfirmedMS = 0
		case t.unconfirmedMS == 0:
			t.unconfirmedMS = s.fetched.EndedMS
		}
	}
}

func (s *survey) unconfirmed(symbol *SymbolState) exchange.Quantity {
	on := s.tracker.inputs(&Desired{}, symbol, s.fetched.EndedMS)
	return on.spotPosition().unconfirmed()
}

// unconfirmed returns the part of the position whose sale open list and wallet do not both show; where the account holds others' units, the part whose
// sale neither shows.
func (s spotPosition) unconfirmed() exchange.Quantity {
	return s.withoutSale(s.saleEvidence().walletHoldsOnlyOwn())
}

// withoutSale returns the part of the position, by fills and accepted purchases, whose sale open list and wallet do not both show, or neither.
func (s spotPosition) withoutSale(both bool) exchange.Quantity {
	alone := s.saleEvidence().walletHoldsOnlyOwn()
	var recent, listed, uncertain exchange.Quantity
	for _, p := range s.symbol.live {
		switch {
		case p.Order().Side == exchange.Buy || s.tracker.delivery(p).releasedMS != 0:
		case s.isNew(p):
			recent += p.Remaining()
		case p.OrderID() == 0:
			uncertain += p.Remaining()
		case !s.tracker.Unlisted(p):
			listed += p.Remaining()
		}
	}
	rules, t := s.symbol.rules, &s.symbol.spot.unlisted
	held, frozen := s.explainedByFills()+t.inferred, rules.QuantityOf(s.tracker.Balance(rules.Base).Frozen)-s.tracker.sellsOfOthers(s.symbol)
	if alone {
		held = max(held, s.explainedByFills()+max(t.vanished(), s.acceptedPurchases()))
	}
	if s.soldByOthers() {
		held = min(held, s.symbol.heldOnSpot())
	}
	shown := max(listed, frozen)
	switch {
	case !alone:
		shown += uncertain
	case both && s.tracker.walletRead:
		shown = min(listed, frozen)
	case both:
		shown = listed
	}
	return held - shown - recent - s.paidSales() - s.unclaimedSales() - s.recentlyCanceled()
}

// isNew reports whether lists and wallet may not show an order yet.
func (s spotPosition) isNew(p *account.Placement) bool {
	arrivedMS := s.tracker.arrivedMS(p)
	return arrivedMS >= s.tracker.walletFromMS || p.OrderID() == 0 && s.nowMS-arrivedMS < newOrderMS
}

// paidSales returns the quantity that the wallet lacks and that sales without a listed outcome may have sold, because their money has come.
func (s spotPosition) paidSales() exchange.Quantity {
	sum := s.tracker.soldThoughRefused(s.symbol.Key())
	for _, p := range s.symbol.live {
		order, known := p.Order(), s.tracker.delivery(p)
		if order.Side == exchange.Sell && known.releasedMS == 0 && !s.isNew(p) && (p.OrderID() == 0 || s.tracker.Unlisted(p)) &&
			!s.saleEvidence().unpaid(&order, p.Remaining(), known.before, p.SentMS()) {
			sum += p.Remaining()
		}
	}
	for _, r := range s.tracker.Refused() {
		if r.Symbol == s.symbol.Key() && r.order.Side == exchange.Sell && !s.saleEvidence().unpaid(&r.order, r.order.Quantity, r.before, r.SentMS) {
			sum += r.order.Quantity
		}
	}
	return min(sum, s.missingInWallet())
}

// acceptedPurchases returns the least that purchases have bought which the exchange has accepted and the open list does not show: a market order is
// executed at once.
func (s spotPosition) acceptedPurchases() (sum exchange.Quantity) {
	for _, p := range s.symbol.live {
		market := p.Order().Type == exchange.MarketOrder
		if market && p.Order().Side == exchange.Buy && p.OrderID() != 0 && s.tracker.Unlisted(p) && s.nowMS-s.tracker.arrivedMS(p) > newOrderMS {
			bought := s.symbol.mayBuy(p)
			sum += bought - bought/32 // mayBuy is the most: the price may have been higher, and the fee comes from the units
		}
	}
	return sum
}

// confirmedByExchange returns the quantity of such stops that the exchange has accepted: where nobody else's units are held, it holds their units.
func (s spotPosition) confirmedByExchange() (sum exchange.Quantity) {
	for _, p := range s.stops {
		if p.Key() == UnconfirmedKey && p.OrderID() != 0 && s.saleEvidence().walletHoldsOnlyOwn() {
			sum += p.Remaining()
		}
	}
	return sum
}

// placeUnconfirmed sends another stop for what has been unconfirmed for too long, if nothing else is to be done for the position. Where answers take no
// time, as in a backtest, no read is old either.
func (d spotStops) placeUnconfirmed() {
	sinceMS, protection := d.symbol.spot.unconfirmedMS, d.desired.Protection
	if sinceMS == 0 || d.exitWaits() || !d.desired.Bridge || d.desired.Flatten || !protection.Set || protection.StopLoss.IsZero() || !d.symbol.rules.Tradable ||
		slices.ContainsFunc(d.intents, func(i Intent) bool { return !i.Purpose.Opens() }) {
		return
	}
	for _, p := range d.stops {
		sinceMS = max(sinceMS, p.SentMS())
	}
	if d.nowMS-sinceMS <= unconfirmedWaitMS {
		return
	}
	free := d.symbol.rules.QuantityOf(d.tracker.Balance(d.symbol.rules.Base).Free) - d.symbol.Baseline() - d.symbol.Unattributed()
	missing := d.spotPosition().withoutSale(false) // the likeliest part
	switch overdrawn := d.symbol.spot.unconfirmedOverdrawn && !d.tooSmall(free); {
	case !d.saleEvidence().walletHoldsOnlyOwn():
		missing = min(missing, free)
	case !overdrawn && !d.tooSmall(missing):
	case d.tooSmall(free):
		missing = d.spotPosition().unconfirmed()
	default:
		missing = min(d.spotPosition().unconfirmed(), free)
	}
	price := d.protectionPrice(placement.StopLoss, protection.StopLoss)
	if d.pricePassed(placement.StopLoss, price) {
		price = d.stopFromLast(price)
	}
	before := len(d.intents)
	d.addStop(d.symbol.rules.FloorQuantity(d.withinMaximum(max(0, missing))), price)
	for i := range d.intents[before:] {
		d.intents[before:][i].Key = UnconfirmedKey
	}
}

// exitWaits reports whether an exit is about to sell the position: it waits for the units of stops whose cancel was sent or answered just now. Another stop
// would take units from it.
func (d spotStops) exitWaits() bool {
	return d.reserved > 0 && slices.ContainsFunc(d.stops, func(p *account.Placement) bool {
		known := d.tracker.delivery(p)
		return d.nowMS-max(known.canceled.firstMS, known.releasedMS) < RepeatMS
	})
}
