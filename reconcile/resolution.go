package reconcile

import (
	"cmp"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// resolution is a person's decision about a quarantined symbol, with the records that carry it out.
type resolution struct {
	account            *tracked
	refusals           *refusals
	wallet             *spotWallet
	peer               *peer
	symbol             *SymbolState
	adopt              bool
	strategy, evidence string
	records            []record.Record
}

// Resolve returns the records by which a person ends a symbol's quarantine: adopt books the difference
// and botd's own orders to the strategy, ignore leaves them to their owner. It also ends uncertain
// placements. The records are not applied.
func (t *Tracker) Resolve(key exchange.SymbolKey, adopt bool, strategy, reason string) []record.Record {
	r := &resolution{account: &t.tracked, refusals: &t.refusals, wallet: &t.spotWallet, peer: &t.peer, symbol: t.Symbol(key),
		adopt: adopt, strategy: strategy, evidence: "resolved by a person: " + reason}
	for _, p := range t.uncertainOn(key) {
		r.emit(p.About(record.Ended{State: placement.Absent, Filled: p.Filled(), Evidence: r.evidence}))
	}
	r.decideForeign()
	if key.Market == exchange.Spot {
		r.decideBalance()
	} else {
		r.decidePosition()
	}
	return r.records
}

func (r *resolution) emit(one record.Record) { r.records = append(r.records, one) }

// decideForeign decides the open orders with this instance's prefix that the journal does not know.
func (r *resolution) decideForeign() {
	for i := range r.symbol.foreign {
		order := &r.symbol.foreign[i]
		switch {
		case !r.peer.prefixed(order.ClientOrderID):
		case r.adopt:
			r.emit(found(order, r.strategy, order.ClientOrderID, record.Found{Evidence: r.evidence}))
		default:
			r.emit(record.Record{
				Symbol:        r.symbol.Key(),
				ClientOrderID: order.ClientOrderID,
				Body:          record.Ignored{Quantity: r.symbol.Ignored(), OrderID: order.ID, Evidence: r.evidence},
			})
		}
	}
}

// decideBalance decides what the wallet holds of a spot symbol's asset beyond the fills, or lacks.
func (r *resolution) decideBalance() {
	symbol, quantity := r.symbol, r.symbol.walletShortfall
	if r.adopt {
		theirs, _ := r.peer.PeerPosition(symbol)
		quantity = cmp.Or(quantity, r.unclaimed(), theirs)
		if quantity == theirs && theirs != 0 {
			r.adoptPeerPosition(theirs)
		}
	}
	r.emit(record.Record{
		Symbol:        symbol.Key(),
		ClientOrderID: symbol.unknownEnded,
		Body:          record.Adopted{Quantity: quantity, Decided: max(symbol.spot.peer.newest(), symbol.spot.secondBuyer), Evidence: r.evidence},
	})
}

// unclaimed returns the wallet's excess of a spot symbol's asset over the fills, if an uncertain
// placement may have bought it or a refused one has.
func (r *resolution) unclaimed() exchange.Quantity {
	symbol := r.symbol
	if !r.account.purchaseUncertain(symbol) && !r.refusals.paidFor(symbol) && symbol.spot.endedPurchase.secondFill == 0 || symbol.rules == nil {
		return 0
	}
	return max(0, r.wallet.baseBalance(symbol)-symbol.Baseline()-symbol.Known()+symbol.Fees())
}

// adoptPeerPosition emits the record by which the peer's position becomes botd's. It may include the
// wallet's balance before botd bought.
func (r *resolution) adoptPeerPosition(quantity exchange.Quantity) {
	before := r.wallet.baseBalance(r.symbol) - max(0, r.symbol.ownOnSpot()) - quantity
	if before < r.symbol.Baseline() {
		r.emit(r.symbol.about(record.Baseline{Quantity: max(0, before)}))
	}
}

// decidePosition decides by how much a futures position differs from the fills.
func (r *resolution) decidePosition() {
	residual := r.symbol.position - r.symbol.Known()
	if !r.adopt && residual != 0 {
		r.symbol.ignore(r.evidence, r.emit)
		return
	}
	r.emit(r.symbol.about(record.Adopted{Quantity: residual, Evidence: r.evidence}))
}

// found returns the record that enters an exchange order into the journal under an id. The payload
// carries the facts that the order itself does not contain.
func found(order *exchange.Order, strategy, id string, body record.Found) record.Record {
	switch {
	case body.Purpose != 0:
	case order.ClosePosition && order.Type == exchange.TakeProfitMarket:
		body.Purpose = placement.TakeProfit
	case order.ClosePosition, order.Market == exchange.Spot && order.Side == exchange.Sell && order.Type.StopLoss():
		body.Purpose = placement.StopLoss
	case order.Reduces(), order.Market == exchange.Spot && order.Side == exchange.Sell:
		body.Purpose = placement.ExitOrder
	default:
		body.Purpose = placement.Order
	}
	body.OrderID, body.Key = order.ID, "found"
	body.Order = exchange.NewOrder{
		Market:        order.Market,
		Symbol:        order.Symbol,
		Side:          order.Side,
		Type:          order.Type,
		Quantity:      order.Quantity,
		Price:         order.Price,
		StopPrice:     order.StopPrice,
		WorkingType:   order.WorkingType,
		ReduceOnly:    order.Reduces() && !order.ClosePosition,
		ClosePosition: order.ClosePosition,
		PostOnly:      order.PostOnly,
		ClientOrderID: order.ClientOrderID,
	}
	return record.Record{ClientOrderID: id, Strategy: strategy, Symbol: order.Key(), Body: body}
}
