package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// While botd stands down, another botd trades, or has traded, under its prefix: a peer. On spot both
// share one wallet, and a stop of either sells the same asset. There the position is the quantity that
// all orders under the prefix have bought and not sold, as far as the wallet shows it, and the part that
// neither botd's stops cover gets a stop. No part of the peer's position is adopted, and no exit sells
// it.

// peerStopMS is how long the peer may take to place the stop of its latest purchase.
const peerStopMS = 1_500

// maxPeerOrders limits the number of remembered orders of the peer: one page of the history.
const maxPeerOrders = 1_000

// peerOrder is the quantity that an order of the peer has bought or, if negative, sold.
type peerOrder struct {
	orderID int64
	net     exchange.Quantity
	seenMS  int64
}

// peerTrades is what the orders of the peer have bought and sold on a spot symbol, according to the lists.
type peerTrades struct {
	orders     []peerOrder       // filled, oldest first
	sold       exchange.Quantity // the part of these that botd's sales have sold
	saleListed bool              // an open list has shown a sale of the peer and then no more
	continued  exchange.Quantity // quantity that they have bought or, if negative, sold in starts that the journal knows
}

// newest returns the highest order id among the peer's noted orders; 0 for none.
func (t *peerTrades) newest() (id int64) {
	for _, one := range t.orders {
		id = max(id, one.orderID)
	}
	return id
}

// drop drops the orders, because an adoption has decided their effect.
func (t *peerTrades) drop() {
	t.orders, t.sold, t.continued = nil, 0, 0
}

// net returns the quantity that the peer's orders have bought and not sold according to the lists,
// less the part that botd's own sales have sold.
func (t *peerTrades) net() exchange.Quantity {
	net := -t.sold
	for _, one := range t.orders {
		net += one.net
	}
	return net
}

// purchases returns the quantity that the peer's orders have bought, sold or not.
func (t *peerTrades) purchases() (sum exchange.Quantity) {
	for _, one := range t.orders {
		sum += max(0, one.net)
	}
	return sum
}

// sales returns the quantity that the peer's orders have sold.
func (t *peerTrades) sales() exchange.Quantity { return t.purchases() - t.sold - t.net() }

// heldByPersons returns the part of a quantity that others held beyond the baseline when botd began to stand down, less what the peer has bought.
func (t *peerTrades) heldByPersons(held exchange.Quantity) exchange.Quantity {
	return max(0, held-max(0, t.net()))
}

// hiddenSales returns the part of botd's own quantity that the peer has sold, according to the lists, while the wallet shows only a part of it beyond the
// units of others: those hide the sale.
func (t *peerTrades) hiddenSales(own, shown exchange.Quantity) exchange.Quantity {
	return max(0, min(own-shown, own, t.sales()))
}

// recentPurchases returns the quantity that the peer bought so recently that its own stop may still
// be on its way.
func (t *peerTrades) recentPurchases(nowMS int64) (sum exchange.Quantity) {
	for _, one := range t.orders {
		if nowMS-one.seenMS < peerStopMS {
			sum += max(0, one.net)
		}
	}
	return sum
}

// noteOwnSale records the part of botd's own sale that exceeds the quantity explained by fills as a
// sale of the peer's purchases.
func (t *peerTrades) noteOwnSale(p *account.Placement, grown, before exchange.Quantity) {
	if p.Order().Side == exchange.Sell && len(t.orders) > 0 {
		t.sold += max(0, grown-before)
	}
}

// peer finds the open orders and the holdings of another botd under this instance's prefix.
type peer struct {
	instance string // whose prefix botd's client order ids carry

	account      *tracked
	unnamed      *unnamedPeer
	pass         *pass
	unknownOrder passSum[string]
	placedMS     int64 // send time of the last spot order that the exchange accepted
}

// identify sets the instance whose prefix botd's client order ids carry.
func (p *peer) identify(instance string) { p.instance = instance }

// notePlaced records the send time of a spot order that the exchange accepted.
func (p *peer) notePlaced(sentMS int64) { p.placedMS = sentMS }

// isPeerOrder reports whether an order under this prefix is the peer's: the journal does not know it, and botd did not send it before standing down
// because of it. An order that was booked by its order id, before any list showed another client order id for it, is not counted twice.
func (e *evidence) isPeerOrder(o *exchange.Order) bool {
	id, ours := placement.ParseSerial(o.ClientOrderID)
	if !ours || o.Market != exchange.Spot || !e.tracker.prefixed(o.ClientOrderID) || e.tracker.Known(o.ClientOrderID) ||
		e.tracker.Known(duplicateID(o)) || e.tracker.claimed(o) {
		return false
	}
	if !e.tracker.Sent(o.Key(), id) {
		return true
	}
	found, standing := placement.ParseSerial(e.tracker.UnknownOrder())
	return standing && (found.Start == id.Start || e.tracker.OnlyReported(o.Key(), id))
}

// notePeerOrder remembers the quantity that an order has bought or sold, and returns the part that is new.
func (s *SymbolState) notePeerOrder(o *exchange.Order, atMS int64, fee exchange.Rate) (grown exchange.Quantity) {
	if s.rules == nil {
		return 0
	}
	net := -o.Filled
	if o.Side == exchange.Buy {
		net = o.Filled - ceilUnit(s.rules, s.rules.QuantityAmount(o.Filled).MulRate(fee))
	}
	t := &s.spot
	if i := slices.IndexFunc(t.peer.orders, func(one peerOrder) bool { return one.orderID == o.ID }); i >= 0 {
		if net.Abs() > t.peer.orders[i].net.Abs() {
			grown = net - t.peer.orders[i].net
			t.peer.orders[i].net, t.peer.orders[i].seenMS = net, atMS
		}
		return grown
	}
	if len(t.peer.orders) == 0 {
		t.peer.sold = s.Oversold() // botd's own orders, in this start and earlier ones, have sold this much of the peer's purchases
	}
	if len(t.peer.orders) < maxPeerOrders {
		t.peer.orders, grown = append(t.peer.orders, peerOrder{o.ID, net, atMS}), net
	}
	return grown
}

// PeerPosition returns the part of a spot symbol's asset that the peer has bought and not sold, as far
// as the wallet shows it, and since when botd has seen it; zero for none. It is protected while botd
// stands down; a person decides who owns it.
func (p *peer) PeerPosition(symbol *SymbolState) (quantity exchange.Quantity, sinceMS int64) {
	if symbol.Key().Market != exchange.Spot || symbol.rules == nil || !p.StandsDown() || len(symbol.spot.peer.orders) == 0 {
		return 0, 0
	}
	quantity = symbol.rules.FloorQuantity(symbol.jointPosition() - max(0, symbol.ownOnSpot()))
	return max(0, quantity), symbol.spot.peer.orders[0].seenMS
}

// jointPosition returns the quantity that all orders under the prefix have bought and not sold, as far as the wallet shows it. The wallet's balance
// before botd bought may include earlier purchases of the peer. A conclusive wallet shows how much of botd's own quantity the peer sold, unless a
// person's holdings hide it. If the peer's orders come from a start that this journal knows, they sold quantity that the journal holds, or that they
// bought later. Once a wallet has shown that the peer sold some of botd's quantity, this holds for all its orders: a later deposit is not botd's.
func (s *SymbolState) jointPosition() exchange.Quantity {
	own, others := s.ownOnSpot(), s.spot.peer.net()
	sold := min(0, others)
	if !s.spot.walletInconclusive && s.Cause() != record.SoldByOthers {
		sold = max(sold, min(0, s.spot.peer.continued))
	}
	own, others = own+sold, max(0, others)
	shown := s.spot.baseBalance - s.Baseline()
	own -= s.spot.peer.hiddenSales(own, shown-s.spot.peer.heldByPersons(s.Unattributed()))
	return max(0, min(max(0, min(own, shown))+others, s.spot.baseBalance))
}

// jointFills returns jointPosition regardless of the wallet.
func (s *SymbolState) jointFills() exchange.Quantity {
	net := s.spot.peer.net()
	return max(0, s.ownOnSpot()+min(0, net)) + max(0, net)
}

// ownOnSpot returns the quantity that botd's own purchases have bought and not sold: explained by
// fills, or shown by a wallet for a purchase that no list shows.
func (s *SymbolState) ownOnSpot() exchange.Quantity {
	return s.Known() - s.Fees() + s.spot.unlisted.inferred
}

// jointStopQuantity returns the quantity that the stops of both are to cover: jointPosition or, if the wallet does not limit stops, jointFills. If
// that wallet is right after all, the exchange refuses the stop, and nothing is lost; if it is wrong, the position gets its stop.
func (o *observedAccount) jointStopQuantity(symbol *SymbolState) exchange.Quantity {
	if o.walletUntrusted(symbol) {
		return symbol.jointFills()
	}
	return symbol.jointPosition()
}

// walletUntrusted reports whether the newest wallet does not limit stops while botd stands down: it was read before the newest lists, may be older
// than the last fill, shows none of a spot symbol's asset or less than the balance from before botd bought, or freezes less of it than the sales in the
// open list require.
func (o *observedAccount) walletUntrusted(symbol *SymbolState) bool {
	old := !o.walletRead || o.walletFromMS <= symbol.FilledMS()+o.bounds.StalenessMS
	shown := o.baseBalance(symbol)
	lacks := symbol.tooSmallToTrade(shown) || !symbol.tooSmallToTrade(symbol.Baseline()-shown)
	return o.walletMS != 0 && (old || lacks || o.freezesLess(symbol))
}

// yieldMS is the time for which a spot exit is left to a peer that holds the same units. When it ends,
// a wallet shows the peer's sale. The peer may not know of this botd and may not yield.
const yieldMS = 3_500

// startedLater reports whether botd stands down for a botd that began earlier. Both compare the starts at
// which they found each other, so a later start changes nothing.
func (p *peer) startedLater() bool {
	id, standing := placement.ParseSerial(p.UnknownOrder())
	own := p.account.Start()
	if halted := p.account.Halted(); halted.Unknown != "" {
		own = halted.Start
	}
	return standing && id.Start.Compare(own) < 0
}

// precedesPresentStart reports whether botd stands down for a botd that began before the present start. Even if this one began first, at an earlier start,
// the other one may have found it only by an order of the present start: then it takes itself for the earlier one too.
func (p *peer) precedesPresentStart() bool {
	id, standing := placement.ParseSerial(p.UnknownOrder())
	return standing && id.Start.Compare(p.account.Start()) < 0
}

// YieldMS returns the time until which a spot exit decided at a given time is left to the peer; 0 for no
// wait. Of two botds that found each other, the older one sells first. If the older one has placed
// nothing on spot since the other began, the peer may not have found it, so the older one also yields,
// for a shorter time. If starts do not decide, because the older one has started again, it yields longest.
// A wallet that shows the position again, after others have shown none, begins the time for both.
func (p *peer) YieldMS(symbol *SymbolState, decidedMS int64) int64 {
	if symbol.Key().Market != exchange.Spot {
		return 0
	}
	decidedMS = max(decidedMS, symbol.spot.positionShownMS)
	id, standing := placement.ParseSerial(p.UnknownOrder())
	switch {
	case !standing && p.unnamed.mayHaveUnnamedPeer():
		return decidedMS + p.unnamed.exitDelayMS()
	case !standing:
		return 0
	case p.startedLater():
		return decidedMS + 2*yieldMS
	case p.precedesPresentStart():
		return decidedMS + 3*yieldMS
	case p.placedMS >= (id.Start.Epoch+1)*1000:
		return 0
	}
	return decidedMS + yieldMS
}

// jointSales returns the total quantity that the live orders of both botds would sell.
func (p *peer) jointSales(symbol *SymbolState) exchange.Quantity {
	sells := p.sellsUnknown(symbol)
	for _, p := range symbol.live {
		if p.Side() == exchange.Sell {
			sells += p.Remaining()
		}
	}
	return sells
}

// tooSmallToTrade reports whether a quantity is too small for any order.
func (s *SymbolState) tooSmallToTrade(quantity exchange.Quantity) bool {
	return quantity <= 0 || s.rules.BelowMinimum(s.last, quantity)
}

// JointUncovered reports whether botd stands down and no stop covers part of the position. Then the next
// round must come soon.
func (t *Tracker) JointUncovered(symbol *SymbolState) bool {
	if symbol.Key().Market != exchange.Spot || symbol.rules == nil || !t.StandsDown() {
		return false
	}
	left := t.jointStopQuantity(symbol) - t.jointSales(symbol)
	return symbol.spot.excess.sinceMS != 0 || !symbol.tooSmallToTrade(left)
}

// If lists omit client order ids, only the form of its orders reveals a peer: an unnamed peer. If both botds have copies of one journal, both sell the
// same holdings, and the second sale takes a person's. As with a peer that its ids reveal, one yields to the other.

// unnamedPeer records which orders of that form were seen since the start, on any symbol, and the last own order by which the peer may have recognized
// this botd.
type unnamedPeer struct {
	firstID, lastID int64 // lowest and highest order id of the peer's orders; 0 for none
	stopID          int64 // the peer's newest stop
	rank            int   // 1 if this botd's mark is larger than that stop's, -1 if it is smaller, 0 if unknown or equal
	ownID           int64 // the newest own order of that form
	suspectedID     int64 // the newest futures row that may be the peer's: it has the size of a planned opening, or is at the price of a take-profit
	ownSuspectID    int64 // the newest own order that may have looked like that to the peer
	futuresIDs      rowIDs
}

// noteUnnamed records an order that has the form of botd's and that no placement claims.
func (t *unnamedPeer) noteUnnamed(orderID int64) {
	if t.firstID == 0 || orderID < t.firstID {
		t.firstID = orderID
	}
	t.lastID = max(t.lastID, orderID)
}

// noteOwn records botd's own order by whose form an unnamed peer may recognize this botd.
func (t *unnamedPeer) noteOwn(p *account.Placement) {
	order := p.Order()
	switch {
	case p.Purpose() == placement.StopLoss, !order.QuoteAmount.IsZero():
		t.ownID = max(t.ownID, p.OrderID())
	case order.Market == exchange.Futures && (p.Purpose() == placement.Order || p.Purpose() == placement.TakeProfit):
		t.ownSuspectID = max(t.ownSuspectID, p.OrderID())
	}
}

// HasUnnamedPeer reports whether such orders have revealed another botd since the start.
func (t *unnamedPeer) HasUnnamedPeer() bool { return t.firstID != 0 }

// mayHaveUnnamedPeer reports whether orders have revealed another botd since the start, or may have. An order that only may have decides nothing but how
// long a spot exit waits, and how much it sells.
func (t *unnamedPeer) mayHaveUnnamedPeer() bool { return t.HasUnnamedPeer() || t.suspectedID != 0 }

// exitDelayMS returns for how long an exit is left to the peer. Of the two botds, the one with the smaller mark sells first. If marks do not decide, it
// is the one whose newest order is older; because the peer may have seen marks, the waiting times differ from those by marks. A botd that since then has
// placed nothing by which the peer may have recognized it also yields, because the peer does not wait at all.
func (t *unnamedPeer) exitDelayMS() int64 {
	switch {
	case t.firstID == 0 && t.suspectedID != 0 && t.ownSuspectID > t.suspectedID:
		return 4 * yieldMS
	case t.firstID == 0 && t.suspectedID != 0:
		return 2 * yieldMS
	case t.firstID == 0, t.ownID > t.firstID && t.rank < 0:
		return 0
	case t.ownID > t.firstID && t.rank > 0:
		return 2 * yieldMS
	case t.ownID > t.lastID:
		return 3 * yieldMS
	}
	return yieldMS
}

// triggersAt reports whether one of botd's orders on futures has the type and the stop price of a conditional order.
func (s *SymbolState) triggersAt(o *exchange.Order) bool {
	return o.Market == exchange.Futures && o.Type.Conditional() && slices.ContainsFunc(s.live, func(p *account.Placement) bool {
		order := p.Order()
		return p.OrderID() != 0 && order.Side == o.Side && order.Type == o.Type && order.StopPrice == o.StopPrice
	})
}

// rowIDs records which client order ids the futures open list has shown since the start.
type rowIDs struct {
	rows    int  // rows with an id
	omitted bool // a row of one of botd's orders had none
}

// minRowsWithID is the number of rows with an id after which the list counts as one that shows every id, if it has omitted none: it may omit ids at random.
const minRowsWithID = 10

func (r *rowIDs) showsEveryID() bool { return !r.omitted && r.rows >= minRowsWithID }

// note records the rows of a list; matched are their placements.
func (r *rowIDs) note(orders []exchange.Order, matched []*account.Placement) {
	for i := range orders {
		switch {
		case orders[i].ClientOrderID != "":
			r.rows++
		case matched[i] != nil:
			r.omitted = true
		}
	}
}
