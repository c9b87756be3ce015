package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Where botd stands down, another botd trades under its prefix, or did: its twin. On spot both have one wallet, and a
// stop of either sells of the same asset. What is held is then what all orders under the prefix have bought and not
// sold, as far as the wallet shows it; what no stop of either covers is protected. None of the twin's is adopted, and
// no exit is for it.

// twinStopMS is how long the twin has for the stop of what it has just bought.
const twinStopMS = 1_500

// maxTwinOrders bounds how many of its orders are remembered: a page of the history.
const maxTwinOrders = 1_000

// twinOrder is what an order of the twin has bought, or, where net is negative, sold.
type twinOrder struct {
	orderID int64
	net     exchange.Quantity
	seenMS  int64
}

// noteTwinOrders takes what orders of the twin have filled.
func (s *survey) noteTwinOrders(orders []exchange.Order) {
	for i := range orders {
		o := &orders[i]
		if o.Market != exchange.Spot || o.Filled == 0 && !o.Status.Final() {
			continue
		}
		symbol := s.book.Symbol(o.Key())
		symbol.decideUnlisted(o, s.fetched.EndedMS)
		if o.Filled > 0 && o.ID > symbol.spot.resolvedID && s.isTwinOrder(o) {
			symbol.noteTwinOrder(o, s.fetched.EndedMS, s.book.SpotFee)
		}
	}
}

// isTwinOrder reports whether an order under this prefix is the twin's: the journal does not
// know it, and has not sent it before botd stood down for that one.
func (e *evidence) isTwinOrder(o *exchange.Order) bool {
	id, ours := placement.ParseSerial(o.ClientOrderID)
	if !ours || o.Market != exchange.Spot || !e.book.prefixed(o.ClientOrderID) || e.book.Known(o.ClientOrderID) || e.book.Known(duplicateID(o)) {
		return false
	}
	if !e.book.Sent(o.Key(), id) {
		return true
	}
	found, standing := placement.ParseSerial(e.book.UnknownOrder())
	return standing && found.Start == id.Start
}

func (s *SymbolState) noteTwinOrder(o *exchange.Order, atMS int64, fee exchange.Rate) {
	if s.Rules == nil {
		return
	}
	net := -o.Filled
	if o.Side == exchange.Buy {
		net = o.Filled - ceilUnit(s.Rules, s.Rules.QuantityAmount(o.Filled).MulRate(fee))
	}
	t := &s.spot
	if i := slices.IndexFunc(t.twinOrders, func(one twinOrder) bool { return one.orderID == o.ID }); i >= 0 {
		if abs(net) > abs(t.twinOrders[i].net) {
			t.twinOrders[i].net, t.twinOrders[i].seenMS = net, atMS
		}
		return
	}
	if len(t.twinOrders) < maxTwinOrders {
		t.twinOrders = append(t.twinOrders, twinOrder{o.ID, net, atMS})
	}
}

// TwinPosition is what of a spot symbol's asset the twin has bought and not sold, as far as the wallet shows it, and since when
// botd has seen it; zero for none. It is protected while botd stands down; a person says whose it is.
func (b *Book) TwinPosition(symbol *SymbolState) (quantity exchange.Quantity, sinceMS int64) {
	if symbol.Key().Market != exchange.Spot || symbol.Rules == nil || !b.StandsDown() || len(symbol.spot.twinOrders) == 0 {
		return 0, 0
	}
	quantity = symbol.Rules.FloorQuantity(symbol.heldWithTwin() - max(0, symbol.ownOnSpot()))
	return max(0, quantity), symbol.spot.twinOrders[0].seenMS
}

// adoptTwin says how what the twin has bought becomes botd's. What the wallet held before botd bought may be that.
func (b *Book) adoptTwin(symbol *SymbolState, quantity exchange.Quantity, emit func(record.Record)) {
	before := b.inWallet(symbol) - max(0, symbol.ownOnSpot()) - quantity
	if before < symbol.Baseline() {
		emit(symbol.about(record.Baseline{Quantity: max(0, before)}))
	}
}

// resolveTwin takes that a person decided what the twin's orders did.
func (s *SymbolState) resolveTwin() {
	for _, one := range s.spot.twinOrders {
		s.spot.resolvedID = max(s.spot.resolvedID, one.orderID)
	}
	s.spot.twinOrders, s.spot.twinSold = nil, 0
}

// heldWithTwin is what all orders under the prefix have bought and not sold, as far as the wallet shows it. What the
// wallet held before botd bought may be what the twin had bought by then.
func (s *SymbolState) heldWithTwin() exchange.Quantity {
	own, others := s.ownOnSpot(), s.netOfTwin()
	if own, others = own+min(0, others), max(0, others); !s.spot.early {
		own = s.ownOnSpot() // a wallet that proves something shows what of it was sold
	}
	return max(0, min(max(0, min(own, s.spot.inWallet-s.Baseline()))+others, s.spot.inWallet))
}

// netOfTwin is what the twin's orders have bought and not sold, as lists show them, without what own sales have sold of it.
func (s *SymbolState) netOfTwin() exchange.Quantity {
	net := -s.spot.twinSold
	for _, one := range s.spot.twinOrders {
		net += one.net
	}
	return net
}

// boughtWithTwin is heldWithTwin, whatever the wallet shows of it.
func (s *SymbolState) boughtWithTwin() exchange.Quantity {
	net := s.netOfTwin()
	return max(0, s.ownOnSpot()+min(0, net)) + max(0, net)
}

// ownOnSpot is what botd's own purchases have bought and not sold: what fills explain, and what a wallet shows of one that no list shows.
func (s *SymbolState) ownOnSpot() exchange.Quantity { return s.Known() - s.Fees() + s.spot.presumed }

// twinBought is what the twin has bought so recently that its own stop may be on its way.
func (s *SymbolState) twinBought(nowMS int64) (sum exchange.Quantity) {
	for _, one := range s.spot.twinOrders {
		if nowMS-one.seenMS < twinStopMS {
			sum += max(0, one.net)
		}
	}
	return sum
}

// yieldMS is how long an exit on spot is left to a twin that holds the same coins: until then a wallet
// shows what that one has sold. It may not know of this one, and yield to nobody.
const yieldMS = 3_500

// younger reports whether botd stands down for one that began before it. Both compare the starts in which
// they found each other, so that a start since changes nothing.
func (b *Book) younger() bool {
	id, standing := placement.ParseSerial(b.UnknownOrder())
	own := b.Start()
	if halted := b.Halted(); halted.Unknown != "" {
		own = halted.Start
	}
	return standing && id.Start.Compare(own) < 0
}

// YieldMS is until when an exit on spot that was decided then is left to the twin; 0 where it is not. Of two that
// found each other the elder sells first. Where it placed nothing on spot since the other one began, that one may not
// have found it: then it yields too, though not for as long.
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

// How long stops of two botds together sell more than is held before one takes its own off: the botd of
// the later start first, the other one where that does not happen.
const (
	excessMS     = 1_500
	excessLastMS = 10_000
)

// sellsWithTwin is what the live orders of both would sell.
func (b *Book) sellsWithTwin(symbol *SymbolState) exchange.Quantity {
	sells := b.sellsUnknown(symbol)
	for _, p := range symbol.live {
		if p.Side() == exchange.Sell {
			sells += p.Remaining()
		}
	}
	return sells
}

// noteExcess notes since when own stops and the twin's sell more than is held. An old list may show one that has
// ended: the wallet must freeze the asset for all of them.
func (s *survey) noteExcess(symbol *SymbolState) {
	t := &symbol.spot
	sells := s.book.sellsWithTwin(symbol)
	t.excess = sells - symbol.heldWithTwin()
	frozen := symbol.Rules.QuantityOf(s.book.Balance(symbol.Rules.Base).Frozen)
	switch {
	case t.excess <= 0 || !s.book.StandsDown() || frozen < sells || symbol.worthless(t.excess):
		t.excess, t.excessMS = 0, 0
	case t.excessMS == 0:
		t.excessMS = s.fetched.EndedMS
	}
}

// worthless reports whether no order is for so little.
func (s *SymbolState) worthless(quantity exchange.Quantity) bool {
	return s.Rules.Notional(s.Last, quantity).Less(s.Rules.MinNotional)
}

// shrinks reports whether an own stop may be taken off, since stops of the twin stand in its place, as the
// newest whole read shows: not more of them than sell too much, of which it takes off what it sells.
func (d *derivation) shrinks(i *Intent, excess *exchange.Quantity) bool {
	t, after, p := &d.symbol.spot, int64(excessLastMS), d.book.Placement(i.ClientID)
	if d.book.younger() {
		after = excessMS
	}
	if p == nil || !slices.Contains(d.shrunk, p) || t.excessMS == 0 || d.symbol.unread || d.desired.Unread || d.unsettled || d.nowMS-t.excessMS < after {
		return false
	}
	left := *excess - p.Remaining()
	if left < 0 && !d.symbol.worthless(-left) {
		return false
	}
	*excess = left
	return true
}

// TwinUncovered reports whether botd stands down and no stop covers part of what is held: the next round
// must be soon.
func (b *Book) TwinUncovered(symbol *SymbolState) bool {
	if symbol.Key().Market != exchange.Spot || symbol.Rules == nil || !b.StandsDown() {
		return false
	}
	left := symbol.heldWithTwin() - b.sellsWithTwin(symbol)
	return symbol.spot.excessMS != 0 || left > 0 && !symbol.worthless(left)
}

// noteTwinSold takes what an own sale has sold beyond what fills explain, out of what the twin bought.
func (s *SymbolState) noteTwinSold(p *account.Placement, grown, before exchange.Quantity) {
	if p.Order().Side == exchange.Sell && len(s.spot.twinOrders) > 0 {
		s.spot.twinSold += max(0, grown-before)
	}
}
