package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// Spot stops are orders of a quantity, which hold the asset. What is bought later is
// covered by one more, so that what stands stays; when there are many, the smallest is
// joined with what comes, since that takes off no other.
const mostStops = 8

// protectSpot keeps STOP_LIMITs over the whole quantity. They hold the asset, so
// their cancel is confirmed before any other exit.
func (d *derivation) protectSpot() {
	if d.cancelPassedExits(d.stops) {
		return
	}
	for _, p := range d.targetOrders {
		if p.Purpose() == placement.Exit && !d.mayRepeat(p) {
			return // it sells the asset a stop would sell too: the stop comes back when it has ended
		}
	}
	if d.symbol.Contradicted != "" && len(d.stops) > 0 {
		return // what stands, stays, until the wallet is understood
	}
	if protection := d.desired.Protection; !protection.Set || protection.StopLoss.IsZero() {
		for _, p := range d.stops {
			d.cancel(p, "no longer desired")
		}
		return
	}
	rules := d.symbol.Rules
	price, missing := d.protectionPrice(placement.StopLoss, d.desired.Protection.StopLoss), rules.FloorQuantity(abs(d.held))
	if price <= 0 {
		return
	}
	for _, p := range d.stops {
		if !d.mayRepeat(p) {
			missing -= p.Remaining()
		}
	}
	uncovered := missing
	missing = d.capped(d.stoppable(missing))
	moved := slices.ContainsFunc(d.stops, func(p *account.Placement) bool { return p.Order().StopPrice != price })
	switch {
	case uncovered < 0:
		d.replaceStops(0, "what is held is less than the stop would sell")
	case d.tooSmall(uncovered) && moved:
		d.replaceStops(int64(d.desired.Interval), "the protection moves")
	case d.tooSmall(missing):
	case len(d.stops) >= mostStops:
		d.joinStops()
	case d.pricePassed(placement.StopLoss, price) && len(d.stops) == 0:
		d.exitNow(placement.StopLoss, "the stop's price was passed already")
	case !d.pricePassed(placement.StopLoss, price):
		order := exchange.NewOrder{Type: exchange.StopLimit, Side: exchange.SideOf(-d.held), Quantity: missing, StopPrice: price}
		order.Price = d.sellable(rules.FloorPrice(price-share(price, d.desired.Collar)), missing)
		if order.Price <= price { // else it is too little to be sold at its stop price: no order can do it
			d.add(Intent{Purpose: placement.StopLoss, Reason: "protects the position", Order: order})
		}
	}
}

// stoppable is how much a stop may sell: what the wallet has free. A wallet that
// may be older than the last fill does not keep the stop of what was bought away: if it is right, the exchange refuses the stop, and nothing is lost.
func (d *derivation) stoppable(quantity exchange.Quantity) exchange.Quantity {
	clipped := d.clipToWallet(quantity)
	young := d.book.WalletMS <= d.symbol.FilledMS()+d.book.Settle().StalenessMS
	if clipped >= quantity || !young || d.symbol.Contradicted != "" || d.symbol.Quarantine() != "" {
		return clipped
	}
	fees := d.symbol.Rules.QuantityOf(d.symbol.Rules.QuantityAmount(d.symbol.Bought()).MulRate(spotFeeBound)) + d.symbol.Rules.QuantityTick
	for _, p := range d.book.Live() {
		if p.Symbol() == d.symbol.Key() && p.Order().Side == exchange.Sell && (p.State().Unresolved() || !p.Seen()) {
			return clipped // it may hold, or have sold, what the wallet lacks
		}
	}
	if quantity-clipped <= fees {
		return clipped
	}
	return quantity
}

// joinStops makes room for one more stop: the smallest one goes, and its quantity comes
// back together with what is not covered yet.
func (d *derivation) joinStops() {
	var smallest *account.Placement
	for _, p := range d.stops {
		if p.Order().Type != exchange.StopLimit || p.State().Unresolved() {
			return
		}
		if smallest == nil || p.Remaining() < smallest.Remaining() {
			smallest = p
		}
	}
	d.cancel(smallest, "one stop takes the place of two")
}

// replaceStops takes all stops off, to be placed anew, unless the newest is younger
// than that, or one is something else or unresolved.
func (d *derivation) replaceStops(leastMS int64, reason string) {
	for _, p := range d.stops {
		if p.Order().Type != exchange.StopLimit || p.State().Unresolved() || d.nowMS-p.SentMS() < leastMS {
			return
		}
	}
	for _, p := range d.stops {
		d.cancel(p, reason)
	}
}
