package reconcile

import (
	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// saleQuantity bounds the quantity of one spot sale by what the wallet holds for it. It does not bound a futures order.
type saleQuantity struct {
	*inputs
	derived []Intent // in this round
}

func (c *changes) saleQuantity() saleQuantity { return saleQuantity{c.of, c.intents} }

// sellable limits a spot sale to the newest wallet's free balance, less the sales that no read has
// shown yet and those derived in this round. A reduction therefore never waits for the wallet to confirm
// the fills, and never requests more than exists. On futures only the exchange's sum limits it (room).
func (s saleQuantity) sellable(quantity exchange.Quantity) exchange.Quantity {
	if s.saleEvidence().historyUnread() || s.saleEvidence().saleRefused(true) || s.desired.Unread && s.spotPosition().walletDecides() {
		quantity = min(quantity, max(0, s.spotPosition().ownBalance()-s.tracker.frozenThoughRefused(s.symbol.Key(), true)))
	}
	return s.withinFree(quantity, func(p *account.Placement) bool { return !p.Seen() && !s.repetitionDue(p, len(s.derived)) })
}

// withinFree limits a sale to the free balance less those sales of botd's for which takes is true.
func (s saleQuantity) withinFree(quantity exchange.Quantity, takes func(*account.Placement) bool) exchange.Quantity {
	rules := s.symbol.rules
	if rules.Market != exchange.Spot {
		return quantity
	}
	free := s.tracker.Balance(rules.Base).Free
	for p := range s.tracker.Live() {
		if p.Order().Market != exchange.Spot || p.Order().Side != exchange.Sell || !takes(p) {
			continue
		}
		if of := s.tracker.Symbol(p.Symbol()).rules; of != nil && of.Base == rules.Base {
			free = free.Sub(of.QuantityAmount(p.Remaining()))
		}
	}
	for i := range s.derived {
		if order := &s.derived[i].Order; s.derived[i].Purpose != placement.Cancel && order.Side == exchange.Sell {
			free = free.Sub(rules.QuantityAmount(order.Quantity))
		}
	}
	freed := s.saleEvidence().freed()
	if s.symbol.spot.overdrawn && !s.tooSmall(rules.QuantityOf(free)) { // the exchange has just refused as much
		freed = 0
	}
	clipped := max(0, min(quantity, rules.FloorQuantity(rules.QuantityOf(free)+freed)))
	if s.tracker.walletRead {
		return max(clipped, s.beyondOpenSales(quantity))
	}
	return max(clipped, s.freeWhileUnread(quantity)) // the wallet does not contain purchases made since it was read
}

// beyondOpenSales returns the part of a quantity that the wallet contains, free or frozen, beyond all open sales. A wallet that freezes more than these
// is old or wrong, and its small free balance does not prevent a reduction. If it is right after all, the exchange refuses the sale, and the next one
// is limited to the free balance. In a quarantine, and after a refusal, an open sale that botd does not know may hold some of it.
func (s saleQuantity) beyondOpenSales(quantity exchange.Quantity) exchange.Quantity {
	unknown := s.symbol.Quarantine() != "" || s.saleEvidence().saleRefused(false)
	if s.desired.Unread || s.tracker.StandsDown() || s.symbol.spot.overdrawn || unknown && !s.saleEvidence().walletHoldsOnlyOwn() {
		return 0
	}
	rules := s.symbol.rules
	left := s.saleEvidence().balanceAfterSales(s.tracker.baseBalance(s.symbol))
	for i := range s.derived {
		if order := &s.derived[i].Order; s.derived[i].Purpose != placement.Cancel && order.Side == exchange.Sell {
			left -= order.Quantity
		}
	}
	return max(0, min(quantity, rules.FloorQuantity(left)))
}

// freeWhileUnread returns the part of a quantity that no sale of botd's needs, while the wallet cannot be
// read.
func (s saleQuantity) freeWhileUnread(quantity exchange.Quantity) exchange.Quantity {
	free := s.symbol.rules.FloorQuantity(s.ownPosition.Abs())
	for _, p := range s.symbol.live {
		if p.Order().Side == exchange.Sell && !s.repetitionDue(p, len(s.derived)) {
			free -= p.Remaining()
		}
	}
	for i := range s.derived {
		if order := &s.derived[i].Order; s.derived[i].Purpose != placement.Cancel && order.Side == exchange.Sell {
			free -= order.Quantity
		}
	}
	return max(0, min(quantity, free))
}
