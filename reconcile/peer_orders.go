package reconcile

import (
	"cmp"
	"fmt"
	"slices"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// peerOrders records what a snapshot shows of the orders of other botds on the account, or of this one before it lost its journal: by their ids or, for an
// unnamed peer, by their form.
type peerOrders struct {
	*evidence
	*recorder
}

func (s *survey) peerOrders() peerOrders { return peerOrders{&s.evidence, &s.recorder} }

// notePeerOrders records the fills of the peer's orders.
func (s peerOrders) notePeerOrders(orders []exchange.Order) {
	for i := range orders {
		o := &orders[i]
		symbol := s.tracker.Track(o.Key())
		symbol.decideUnlisted(o, s.fetched.EndedMS)
		if o.Filled > 0 && o.ID > symbol.DecidedID() && s.isPeerOrder(o) {
			grown := symbol.notePeerOrder(o, s.fetched.EndedMS, s.tracker.spotFee)
			if id, _ := placement.ParseSerial(o.ClientOrderID); s.tracker.Booted(id.Start) {
				symbol.spot.peer.continued += grown
			}
		}
	}
}

// checkUnknownEnded checks, on each read of a spot symbol's history, whether it names an order with
// this instance's prefix that the journal does not account for: a purchase that filled at once is
// in no open list.
func (s peerOrders) checkUnknownEnded(orders []exchange.Order) {
	s.notePeerOrders(orders)
	for i := range orders {
		order := &orders[i]
		if id, ours := placement.ParseSerial(order.ClientOrderID); ours && s.tracker.prefixed(order.ClientOrderID) && !s.tracker.Sent(order.Key(), id) {
			s.tracker.Track(order.Key()).unknownEnded = order.ClientOrderID
		}
	}
}

// noteUnlisted records that spot sales with this instance's prefix that the journal does not know have left the open list, or that they are listed
// again. Only the wallet shows how much they sold, and it may be older by the maximum staleness of a read.
func (s peerOrders) noteUnlisted(symbol *SymbolState, orders []exchange.Order) {
	if symbol.Key().Market != exchange.Spot {
		return
	}
	listed := func(id int64) bool {
		return slices.ContainsFunc(orders, func(now exchange.Order) bool { return now.ID == id })
	}
	symbol.unlistedSales = slices.DeleteFunc(symbol.unlistedSales, func(one peerOrder) bool { return listed(one.orderID) })
	for i := range symbol.foreign {
		o := &symbol.foreign[i]
		if !listed(o.ID) && o.Side == exchange.Sell && s.tracker.prefixed(o.ClientOrderID) {
			symbol.unlistedSales = append(symbol.unlistedSales, peerOrder{o.ID, o.Remaining(), s.fetched.EndedMS})
			symbol.unlistedFor, symbol.spot.peer.saleListed = persistence{}, true
		}
	}
}

// noteRestingSales records sales with this instance's prefix that the journal does not know, that the history shows as resting, and that the open list
// omits, as far as the wallet freezes the asset for them beyond all known sales. The history may be old, and the wallet does not show whose orders those are.
func (s peerOrders) noteRestingSales(symbol *SymbolState) {
	if !s.fetched.Balances.Done() || symbol.rules == nil {
		return
	}
	on := s.tracker.inputs(&Desired{}, symbol, s.fetched.EndedMS)
	frozen := on.saleEvidence().frozenForOthers() - s.tracker.sellsOfOthers(symbol)
	known := func(id int64) bool {
		return slices.ContainsFunc(symbol.foreign, func(o exchange.Order) bool { return o.ID == id }) ||
			slices.ContainsFunc(symbol.unlistedSales, func(one peerOrder) bool { return one.orderID == id })
	}
	for _, one := range symbol.unlistedSales {
		frozen -= one.net
	}
	rows := s.fetched.Newest
	if s.fetched.History.Done() {
		rows = slices.Concat(rows, s.fetched.History.Items())
	}
	for i := range rows {
		o := &rows[i]
		if o.Key() == symbol.Key() && o.Side == exchange.Sell && !o.Status.Final() && !known(o.ID) && s.isPeerOrder(o) && o.Remaining() <= frozen {
			symbol.unlistedSales = append(symbol.unlistedSales, peerOrder{o.ID, o.Remaining(), s.fetched.EndedMS})
			symbol.unlistedFor, frozen = persistence{}, frozen-o.Remaining()
		}
	}
}

// forgetUnlisted drops the unlisted sales once the wallet has been read long enough after they left the list, except those for which the wallet still
// freezes the asset: they rest, and the list omits them. A wallet that lacks more than all of them have sold is wrong, and ends none.
func (s peerOrders) forgetUnlisted(symbol *SymbolState) {
	if !s.fetched.Balances.Done() || symbol.rules == nil {
		return
	}
	lacks := symbol.Baseline() + symbol.jointFills() - s.tracker.baseBalance(symbol)
	for _, one := range symbol.unlistedSales {
		lacks -= one.net
	}
	if !symbol.tooSmallToTrade(lacks) {
		return
	}
	if symbol.unlistedFor.extend(s.fetched); symbol.unlistedFor.exceeds(s.tracker.Bounds().StalenessMS) {
		on := s.tracker.inputs(&Desired{}, symbol, s.fetched.EndedMS)
		frozen := on.saleEvidence().balanceAfterSales(symbol.rules.QuantityOf(s.tracker.Balance(symbol.rules.Base).Frozen))
		symbol.unlistedSales = slices.DeleteFunc(symbol.unlistedSales, func(one peerOrder) bool {
			ended := frozen < one.net
			if !ended {
				frozen -= one.net
			}
			return ended
		})
	}
}

// noteSoldUnknown records sales in the order history by orders with this instance's prefix that no
// placement claims: the journal is older than they are.
func (s peerOrders) noteSoldUnknown(symbol *SymbolState) {
	rows := s.fetched.Newest
	if s.fetched.History.Done() {
		rows = slices.Concat(rows, s.fetched.History.Items())
	}
	var counted []int64
	sum := exchange.Quantity(0)
	for i := range rows {
		o := &rows[i]
		if o.Key() == symbol.Key() && o.Side == exchange.Sell && s.tracker.prefixed(o.ClientOrderID) && !slices.Contains(counted, o.ID) &&
			!s.tracker.claimed(o) {
			counted, sum = append(counted, o.ID), sum+o.Filled
		}
	}
	symbol.spot.soldUnknown = max(symbol.spot.soldUnknown, sum)
}

// stopExcess is by how much the stops of botd and of the peer together exceed a spot position.
type stopExcess struct {
	quantity exchange.Quantity // quantity by which they exceed it
	sinceMS  int64             // since when they exceed it; 0 if they do not
}

// noteExcess records since when the stops of botd and of the peer together exceed the position. An old list may
// show a stop that has ended, so the wallet must freeze the asset for all of them.
func (s peerOrders) noteExcess(symbol *SymbolState) {
	t := &symbol.spot
	sells := s.tracker.jointSales(symbol)
	t.excess.quantity = sells - symbol.jointPosition()
	frozen := symbol.rules.QuantityOf(s.tracker.Balance(symbol.rules.Base).Frozen)
	switch {
	case !s.tracker.StandsDown() || frozen < sells || symbol.tooSmallToTrade(t.excess.quantity):
		t.excess.quantity, t.excess.sinceMS = 0, 0
	case t.excess.sinceMS == 0:
		t.excess.sinceMS = s.fetched.EndedMS
	}
}

// detectUnnamedOrders looks for orders of botd's form in an open list. On futures that is a stop at the price of one of botd's own stops, and
// possibly a take-profit at the price of one of botd's, or an opening of the size of a planned one.
func (s peerOrders) detectUnnamedOrders(symbol *SymbolState) {
	t := &s.tracker.unnamedPeer
	for i := range symbol.foreign {
		o := &symbol.foreign[i]
		if o.Market == exchange.Futures && o.ClientOrderID == "" && symbol.rules != nil && !t.futuresIDs.showsEveryID() {
			sized, _ := s.tracker.planned(symbol, o)
			switch equal := symbol.triggersAt(o); {
			case equal && o.Type.StopLoss():
				t.noteUnnamed(o.ID)
			case equal || sized:
				t.suspectedID = max(t.suspectedID, o.ID)
			}
		}
		if !s.tracker.Resembles(symbol, o) {
			continue
		}
		t.noteUnnamed(o.ID)
		if o.ID > t.stopID {
			limit := stopLimit(symbol.rules, o.StopPrice, o.Quantity, symbol.collar)
			own := limit + markOf(s.tracker.Start(), symbol.rules, maxSaleMark(limit, symbol.collar))
			t.stopID, t.rank = o.ID, cmp.Compare(own, o.Price)
		}
	}
}

// noteReplacements records the foreign orders that have replaced such stops: they have the form of botd's stops, at most the same quantity, and were
// created since the last list that may have shown the stop. Each replaces one stop or part of one; once it has left the list, another replacement is
// expected.
func (s peerOrders) noteReplacements(symbol *SymbolState) {
	if !s.fetched.SpotOrders.Done() {
		return
	}
	t := &symbol.spot.replaced
	agreedMS := symbol.spot.agreedMS - s.tracker.Bounds().StalenessMS
	t.left = slices.DeleteFunc(t.left, func(one leftReplacement) bool { return one.leftMS < agreedMS })
	t.orders = slices.DeleteFunc(t.orders, func(one replacementOrder) bool {
		open := slices.ContainsFunc(symbol.foreign, func(o exchange.Order) bool { return o.ID == one.orderID })
		if !open {
			t.left = append(t.left[max(0, len(t.left)-maxRemembered+1):], leftReplacement{one.orderID, one.createdMS, s.fetched.EndedMS})
			s.tracker.expectReplacement(symbol, one.quantity, s.fetched.EndedMS)
		}
		return !open
	})
	for i := range symbol.foreign {
		o := &symbol.foreign[i]
		at := slices.IndexFunc(t.canceled, func(one canceledStop) bool {
			return o.Quantity <= one.quantity && o.CreatedMS >= one.fromMS && o.CreatedMS <= one.untilMS
		})
		if at >= 0 && !t.includes(o.ID) && s.tracker.Resembles(symbol, o) {
			t.orders = append(t.orders, replacementOrder{o.ID, o.Quantity, o.CreatedMS})
			t.canceled[at].quantity -= o.Quantity
		}
	}
}

// measureUnclaimedSales records which part of the wallet's shortfall unclaimed sales explain, according to the newest history that was read about it.
func (s peerOrders) measureUnclaimedSales(symbol *SymbolState) {
	t := &symbol.spot
	if s.fetched.readHistory(symbol.Key()) {
		_, t.unclaimedSales = s.walletEvidence().salesOfOthers(symbol)
	}
	t.unclaimedSales = max(0, min(t.unclaimedSales, -t.difference))
}

// quarantineSecondBuyer quarantines a symbol if the newest unclaimed purchase by amount in its history has the form of botd's: if the history omits
// ids, nothing else shows that another botd buys there, or that the journal of earlier purchases was lost. A person decides once; nothing is adopted.
// A halt of the account because of another botd blocks openings everywhere, a quarantine because of one of its orders only on that symbol.
func (s peerOrders) quarantineSecondBuyer(rows []exchange.Order) {
	if anothers := s.tracker.Halted().Unknown != "" || !s.tracker.New() && s.tracker.ForeignPrefix() != ""; !s.tracker.omitsIDs() || anothers {
		return
	}
	for symbol := range s.tracker.Symbols() {
		newest := s.tracker.unclaimedRows().newestUnclaimed(symbol, rows)
		if newest == nil || !purchaseOfForm(symbol.rules, newest) {
			continue
		}
		symbol.spot.secondBuyer = newest.ID
		if !s.tracker.unclaimedRows().mayBeBotds(newest) {
			s.tracker.noteUnnamed(newest.ID)
			s.quarantine(symbol, fmt.Sprintf("order %d has no id but the form of botd's purchases: another botd runs here, or ran, or a journal was lost",
				newest.ID))
		}
	}
}

// reasonLostJournal is the quarantine reason for a symbol with a position or orders that an empty journal
// does not contain (case 35).
const reasonLostJournal = "the journal is new and does not contain the open orders or position: it was lost, or others use the account"

// guardLost quarantines, while the journal is new, every symbol with a position or an order of botd's
// (case 35). Nothing is adopted, whatever the policy is. If the account uses margin that neither futures list explains with any row, both lists are wrong,
// and every futures symbol may have one.
func (s peerOrders) guardLost() {
	orders, positions, use := s.fetched.FuturesOrders, s.fetched.Positions, s.fetched.Account
	unlisted := orders.Done() && len(orders.Items()) == 0 && positions.Done() && len(positions.Items()) == 0 &&
		use != nil && !use.OrderMargin.Add(use.PositionMargin).IsZero()
	for symbol := range s.tracker.Symbols() {
		id := symbol.unknownEnded
		if i := slices.IndexFunc(symbol.foreign, func(o exchange.Order) bool { return s.tracker.prefixed(o.ClientOrderID) }); id == "" && i >= 0 {
			id = symbol.foreign[i].ClientOrderID
		}
		if id != "" || symbol.AtVenue() != 0 || unlisted && symbol.Key().Market == exchange.Futures {
			s.quarantineLost(symbol, id)
		}
	}
}

// guardFirstRead does the same for a position that could not be read until now, though other records have followed the journal's start.
func (s peerOrders) guardFirstRead(symbol *SymbolState) {
	unknown := max(symbol.ChangedMS(), symbol.IgnoredMS()) == 0 && len(symbol.live) == 0
	if s.tracker.bornEmpty && unknown && symbol.read && symbol.AtVenue() != 0 {
		s.quarantineLost(symbol, "")
	}
}

// quarantineLost quarantines a symbol of a lost journal, with the id of an order that it lacks, if there is one: the next start then stands down before it
// has read that order.
func (s peerOrders) quarantineLost(symbol *SymbolState, id string) {
	if symbol.Quarantine() == "" {
		quarantined := symbol.about(record.Quarantined{Reason: reasonLostJournal, Cause: record.JournalLost})
		quarantined.ClientOrderID = id
		s.emit(quarantined)
	}
	symbol.settled = false
}
