package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// If botd stands down, another botd trades, or has traded, under its prefix: its twin. On spot both share
// one wallet, and a stop of either sells the same asset. The position then is the quantity that all
// orders under the prefix have bought and not sold, as far as the wallet shows it, and the part
// that no stop of either covers is protected. None of the twin's position is adopted, and no exit
// sells it.

// twinStopMS is the time that the twin has for the stop of its latest purchase.
const twinStopMS = 1_500

// maxTwinOrders bounds the number of its remembered orders: one page of the history.
const maxTwinOrders = 1_000

// twinOrder is the quantity that an order of the twin has bought or, if negative, sold.
type twinOrder struct {
	orderID int64
	net     exchange.Quantity
	seenMS  int64
}

// noteTwinOrders records the fills of the twin's orders.
func (s *survey) noteTwinOrders(orders []exchange.Order) {
	for i := range orders {
		o := &orders[i]
		symbol := s.book.Symbol(o.Key())
		symbol.decideUnlisted(o, s.fetched.EndedMS)
		if o.Filled > 0 && o.ID > symbol.spot.resolvedID && s.isTwinOrder(o) {
			grown := symbol.noteTwinOrder(o, s.fetched.EndedMS, s.book.SpotFee)
			if id, _ := placement.ParseSerial(o.ClientOrderID); s.book.Booted(id.Start) {
				symbol.spot.continued += grown
			}
		}
	}
}

// isTwinOrder reports whether an order under this prefix is the twin's: the journal does not
// know it, and has not sent it before botd stood down for that one. What it booked by the exchange's id, before any list showed
// another id, is not counted twice.
func (e *evidence) isTwinOrder(o *exchange.Order) bool {
	id, ours := placement.ParseSerial(o.ClientOrderID)
	if !ours || o.Market != exchange.Spot || !e.book.prefixed(o.ClientOrderID) || e.book.Known(o.ClientOrderID) ||
		e.book.Known(duplicateID(o)) || e.claimed(o) {
		return false
	}
	if !e.book.Sent(o.Key(), id) {
		return true
	}
	found, standing := placement.ParseSerial(e.book.UnknownOrder())
	return standing && found.Start == id.Start
}

// noteTwinOrder remembers what an order has bought or sold, and returns the part that is new.
func (s *SymbolState) noteTwinOrder(o *exchange.Order, atMS int64, fee exchange.Rate) (grown exchange.Quantity) {
	if s.Rules == nil {
		return 0
	}
	net := -o.Filled
	if o.Side == exchange.Buy {
		net = o.Filled - ceilUnit(s.Rules, s.Rules.QuantityAmount(o.Filled).MulRate(fee))
	}
	t := &s.spot
	if i := slices.IndexFunc(t.twinOrders, func(one twinOrder) bool { return one.orderID == o.ID }); i >= 0 {
		if abs(net) > abs(t.twinOrders[i].net) {
			grown = net - t.twinOrders[i].net
			t.twinOrders[i].net, t.twinOrders[i].seenMS = net, atMS
		}
		return grown
	}
	if len(t.twinOrders) < maxTwinOrders {
		t.twinOrders, grown = append(t.twinOrders, twinOrder{o.ID, net, atMS}), net
	}
	return grown
}

// TwinPosition returns the part of a spot symbol's asset that the twin has bought and not sold, as
// far as the wallet shows it, and since when botd has seen it; zero for none. It is protected while
// botd stands down; a person decides its owner.
func (b *Book) TwinPosition(symbol *SymbolState) (quantity exchange.Quantity, sinceMS int64) {
	if symbol.Key().Market != exchange.Spot || symbol.Rules == nil || !b.StandsDown() || len(symbol.spot.twinOrders) == 0 {
		return 0, 0
	}
	quantity = symbol.Rules.FloorQuantity(symbol.heldWithTwin() - max(0, symbol.ownOnSpot()))
	return max(0, quantity), symbol.spot.twinOrders[0].seenMS
}

// adoptTwin emits the records by which the twin's position becomes botd's. It may include the
// wallet's balance before botd bought.
func (b *Book) adoptTwin(symbol *SymbolState, quantity exchange.Quantity, emit func(record.Record)) {
	before := b.inWallet(symbol) - max(0, symbol.ownOnSpot()) - quantity
	if before < symbol.Baseline() {
		emit(symbol.about(record.Baseline{Quantity: max(0, before)}))
	}
}

// resolveTwin records that a person decided the effect of the twin's orders.
func (s *SymbolState) resolveTwin() {
	for _, one := range s.spot.twinOrders {
		s.spot.resolvedID = max(s.spot.resolvedID, one.orderID)
	}
	s.spot.twinOrders, s.spot.twinSold, s.spot.continued = nil, 0, 0
}

// heldWithTwin returns the quantity that all orders under the prefix have bought and not sold, as
// far as the wallet shows it. The wallet's balance before botd bought may include earlier purchases
// of the twin. A conclusive wallet shows how much of botd's own the twin sold, unless a person's coins make up for it: orders of
// a start that this journal knows sold what the journal holds, or what they bought since.
func (s *SymbolState) heldWithTwin() exchange.Quantity {
	own, others := s.ownOnSpot(), s.netOfTwin()
	sold := min(0, others)
	if !s.spot.early {
		sold = max(sold, min(0, s.spot.continued))
	}
	own, others = own+sold, max(0, others)
	return max(0, min(max(0, min(own, s.spot.inWallet-s.Baseline()))+others, s.spot.inWallet))
}

// netOfTwin returns the quantity that the twin's orders have bought and not sold by the lists, less
// the part that own sales have sold.
func (s *SymbolState) netOfTwin() exchange.Quantity {
	net := -s.spot.twinSold
	for _, one := range s.spot.twinOrders {
		net += one.net
	}
	return net
}

// twinPurchases returns the quantity that the twin's orders have bought, sold or not.
func (s *SymbolState) twinPurchases() (sum exchange.Quantity) {
	for _, one := range s.spot.twinOrders {
		sum += max(0, one.net)
	}
	return sum
}

// boughtWithTwin returns heldWithTwin regardless of the wallet.
func (s *SymbolState) boughtWithTwin() exchange.Quantity {
	net := s.netOfTwin()
	return max(0, s.ownOnSpot()+min(0, net)) + max(0, net)
}

// ownOnSpot returns the quantity that botd's own purchases have bought and not sold: explained by
// fills, or shown by a wallet for a purchase that no list shows.
func (s *SymbolState) ownOnSpot() exchange.Quantity { return s.Known() - s.Fees() + s.spot.presumed }

// stoppedWithTwin returns the quantity that stops of both are to cover: heldWithTwin or, if the wallet shows none of the asset at all,
// boughtWithTwin. If that wallet is right, the exchange refuses the stop, and nothing is lost; if it is wrong, the position gets its stop.
func (s *situation) stoppedWithTwin() exchange.Quantity {
	if s.shownNone() {
		return s.symbol.boughtWithTwin()
	}
	return s.symbol.heldWithTwin()
}

// shownNone reports whether the newest wallet shows none of a spot symbol's asset, not even the balance from before botd bought.
func (s *situation) shownNone() bool {
	return s.book.WalletMS != 0 && s.symbol.worthless(s.book.inWallet(s.symbol))
}

// twinBought returns the quantity that the twin bought so recently that its own stop may be on the
// way.
func (s *SymbolState) twinBought(nowMS int64) (sum exchange.Quantity) {
	for _, one := range s.spot.twinOrders {
		if nowMS-one.seenMS < twinStopMS {
			sum += max(0, one.net)
		}
	}
	return sum
}

// yieldMS is the time for which a spot exit is left to a twin that holds the same coins: by its end
// a wallet shows the twin's sale. The twin may not know of this botd and may not yield.
const yieldMS = 3_500

// younger reports whether botd stands down for a botd that began earlier. Both compare the starts
// in which they found each other, so a later start changes nothing.
func (b *Book) younger() bool {
	id, standing := placement.ParseSerial(b.UnknownOrder())
	own := b.Start()
	if halted := b.Halted(); halted.Unknown != "" {
		own = halted.Start
	}
	return standing && id.Start.Compare(own) < 0
}

// YieldMS returns the time until which a spot exit decided at a given time is left to the twin; 0
// for no wait. Of two botds that found each other, the elder sells first. If the elder has placed
// nothing on spot since the other began, the twin may not have found it, so the elder also yields,
// though for a shorter time.
func (b *Book) YieldMS(symbol *SymbolState, decidedMS int64) int64 {
	if symbol.Key().Market != exchange.Spot {
		return 0
	}
	id, standing := placement.ParseSerial(b.UnknownOrder())
	switch {
	case !standing:
		return 0
	case b.younger():
		return decidedMS + 2*yieldMS
	case b.placedMS >= (id.Start.Epoch+1)*1000:
		return 0
	}
	return decidedMS + yieldMS
}

// The time for which the stops of two botds together may exceed the position before one removes its
// own: first the botd with the later start, then the other if the first does not act.
const (
	excessMS     = 1_500
	excessLastMS = 10_000
)

// sellsWithTwin returns the total quantity that the live orders of both would sell.
func (b *Book) sellsWithTwin(symbol *SymbolState) exchange.Quantity {
	sells := b.sellsUnknown(symbol)
	for _, p := range symbol.live {
		if p.Side() == exchange.Sell {
			sells += p.Remaining()
		}
	}
	return sells
}

// noteExcess records since when own and the twin's stops exceed the position. An old list may show
// a stop that has ended, so the wallet must freeze the asset for all of them.
func (s *survey) noteExcess(symbol *SymbolState) {
	t := &symbol.spot
	sells := s.book.sellsWithTwin(symbol)
	t.excess = sells - symbol.heldWithTwin()
	frozen := symbol.Rules.QuantityOf(s.book.Balance(symbol.Rules.Base).Frozen)
	switch {
	case !s.book.StandsDown() || frozen < sells || symbol.worthless(t.excess):
		t.excess, t.excessMS = 0, 0
	case t.excessMS == 0:
		t.excessMS = s.fetched.EndedMS
	}
}

// worthless reports whether a quantity is too small for any order.
func (s *SymbolState) worthless(quantity exchange.Quantity) bool {
	return quantity <= 0 || s.Rules.Notional(s.Last, quantity).Less(s.Rules.MinNotional)
}

// shrinks reports whether an own stop may be removed because stops of the twin replace it, as the
// newest complete read shows. The removed stops never exceed the excess, which is reduced by each
// of them.
func (d *derivation) shrinks(i *Intent, excess *exchange.Quantity) bool {
	t, after, p := &d.symbol.spot, int64(excessLastMS), d.book.Placement(i.ClientID)
	if d.book.younger() {
		after = excessMS
	}
	if p == nil || !slices.Contains(d.shrunk, p) || t.excessMS == 0 || d.symbol.unread || d.desired.Unread || d.unsettled || d.nowMS-t.excessMS < after {
		return false
	}
	left := *excess - p.Remaining()
	if !d.symbol.worthless(-left) {
		return false
	}
	*excess = left
	return true
}

// TwinUncovered reports whether botd stands down and no stop covers part of the position, so the
// next round must come soon.
func (b *Book) TwinUncovered(symbol *SymbolState) bool {
	if symbol.Key().Market != exchange.Spot || symbol.Rules == nil || !b.StandsDown() {
		return false
	}
	left := symbol.heldWithTwin() - b.sellsWithTwin(symbol)
	return symbol.spot.excessMS != 0 || !symbol.worthless(left)
}

// noteTwinSold records the part of an own sale that exceeds the quantity explained by fills as a
// sale of the twin's purchases.
func (s *SymbolState) noteTwinSold(p *account.Placement, grown, before exchange.Quantity) {
	if p.Order().Side == exchange.Sell && len(s.spot.twinOrders) > 0 {
		s.spot.twinSold += max(0, grown-before)
	}
}
