package reconcile

import (
	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// saleLimit limits the quantity of one spot sale to the wallet's balance for it. It does not limit a futures order.
type saleLimit struct{ *derivation }

func (d *derivation) saleLimit() saleLimit { return saleLimit{d} }

// sellable limits a spot sale to the newest wallet's free balance, less the sales that no read has
// shown yet and those derived in this round. A reduction therefore never waits for the wallet to confirm
// the fills, and never requests more than exists. On futures only the exchange's sum limits it (room).
func (d saleLimit) sellable(quantity exchange.Quantity) exchange.Quantity {
	if d.spotSales().historyUnread() || d.spotSales().saleRefused() || d.desired.Unread && d.spotPosition().walletDecides() {
		quantity = min(quantity, max(0, d.spotPosition().ownBalance()-d.book.frozenThoughRefused(d.symbol.Key())))
	}
	return d.withinFree(quantity, func(p *account.Placement) bool { return !p.Seen() && !d.mayRepeat(p) })
}

// withinFree limits a sale to the free balance less those sales of botd's for which takes is true.
func (d saleLimit) withinFree(quantity exchange.Quantity, takes func(*account.Placement) bool) exchange.Quantity {
	rules := d.symbol.rules
	if rules.Market != exchange.Spot {
		return quantity
	}
	free := d.book.Balance(rules.Base).Free
	for p := range d.book.Live() {
		if p.Order().Market != exchange.Spot || p.Order().Side != exchange.Sell || !takes(p) {
			continue
		}
		if of := d.book.Symbol(p.Symbol()).rules; of != nil && of.Base == rules.Base {
			free = free.Sub(of.QuantityAmount(p.Remaining()))
		}
	}
	for i := range d.intents {
		if order := &d.intents[i].Order; d.intents[i].Purpose != placement.Cancel && order.Side == exchange.Sell {
			free = free.Sub(rules.QuantityAmount(order.Quantity))
		}
	}
	clipped := max(0, min(quantity, rules.FloorQuantity(rules.QuantityOf(free)+d.spotSales().freed())))
	if d.book.walletRead {
		return max(clipped, d.beyondOpenSales(quantity))
	}
	return max(clipped, d.freeWhileUnread(quantity)) // the wallet does not contain purchases made since it was read
}

// beyondOpenSales returns the part of a quantity that the wallet contains, free or frozen, beyond all open sales. A wallet that freezes more than these
// is old or wrong, and its small free balance does not prevent a reduction. If it is right after all, the exchange refuses the sale, and the next one
// is limited to the free balance. In a quarantine, and after a refusal, an open sale that botd does not know may hold some of it.
func (d saleLimit) beyondOpenSales(quantity exchange.Quantity) exchange.Quantity {
	unknown := d.symbol.Quarantine() != "" || d.spotSales().saleRefused()
	if d.desired.Unread || d.book.StandsDown() || d.symbol.spot.overdrawn || unknown && !d.spotSales().walletHoldsOnlyOwn() {
		return 0
	}
	rules := d.symbol.rules
	left := d.spotSales().balanceAfterSales(d.book.baseBalance(d.symbol))
	for i := range d.intents {
		if order := &d.intents[i].Order; d.intents[i].Purpose != placement.Cancel && order.Side == exchange.Sell {
			left -= order.Quantity
		}
	}
	return max(0, min(quantity, rules.FloorQuantity(left)))
}

// freeWhileUnread returns the part of a quantity that no sale of botd's needs, while the wallet cannot be
// read.
func (d saleLimit) freeWhileUnread(quantity exchange.Quantity) exchange.Quantity {
	free := d.symbol.rules.FloorQuantity(d.ownPosition.Abs())
	for _, p := range d.symbol.live {
		if p.Order().Side == exchange.Sell && !d.mayRepeat(p) {
			free -= p.Remaining()
		}
	}
	for i := range d.intents {
		if order := &d.intents[i].Order; d.intents[i].Purpose != placement.Cancel && order.Side == exchange.Sell {
			free -= order.Quantity
		}
	}
	return max(0, min(quantity, free))
}
