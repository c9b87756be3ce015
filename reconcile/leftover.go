package reconcile

import (
	"fmt"

	"botd/exchange"
	"botd/reconcile/account"
)

// A list proves that an order is absent only if it would show that order. The interface does not promise
// the client order id in any list: a row that could be the order and that no placement claims is left
// over, and as long as there is one, nothing counts as absent (exactly-once.md, case 42).

// createdSlackMS is the maximum time by which an order's date may precede its journalled time: futures
// dates are in whole seconds.
const createdSlackMS = 1_000

// quarantineLeftOver reports whether a leftover row exists, or may exist, that could be an
// uncertain placement. If one exists, it quarantines the symbol.
func (s uncertainOrders) quarantineLeftOver(p *account.Placement) bool {
	symbol := s.book.Symbol(p.Symbol())
	o := s.unclaimedRows().leftOver(p)
	if p.Order().Side == exchange.Buy {
		symbol.leftOver = s.unclaimedRows().boughtBy(o, p, symbol)
	}
	if o != nil {
		s.quarantine(symbol, fmt.Sprintf("order %d, which no placement claims, could be the unknown placement %s", o.ID, p.ClientOrderID()))
		return true
	}
	moved, persistent := s.walletMoved(symbol, p)
	if moved && persistent {
		s.quarantine(symbol, "the wallet has changed as the unknown placement "+p.ClientOrderID()+" would have changed it, and no list shows the cause")
	}
	return moved
}

// leftOver returns a row that could be the placement's order: it has the same symbol and side, is not
// older, has had an effect, and is claimed by no placement. A row that shows any client order id must
// also have the same quantity. The lists must have been read.
func (e unclaimedRows) leftOver(p *account.Placement) *exchange.Order {
	lists := []exchange.Fetched[exchange.Order]{e.fetched.Orders(p.Order().Market)}
	if p.Order().Market == exchange.Spot {
		lists = append(lists, e.fetched.History)
	}
	for _, list := range lists {
		for i := range list.Items() {
			if o := &list.Items()[i]; couldBe(o, p.Order(), p.SentMS()) && !e.claimed(o) {
				return o
			}
		}
	}
	return nil
}

// noteIDs records whether a spot list shows client order ids, and that it omits them if a row that is
// botd's by its order id shows none.
func (s orderRows) noteIDs(orders []exchange.Order) {
	for i := range orders {
		switch o := &orders[i]; {
		case o.ClientOrderID != "":
			s.book.idsShown = true
		case !s.book.idsLeftOut && s.claimed(o):
			s.book.idsLeftOut = true
		}
	}
}

// boughtBy returns how much a leftover row has bought for a placement. A row without an id proves
// nothing: a person's orders have none either. It counts as botd's only if the list omits the ids of
// botd's own rows too, and the placement could have bought that much.
func (e unclaimedRows) boughtBy(o *exchange.Order, p *account.Placement, symbol *SymbolState) exchange.Quantity {
	if o == nil || o.ClientOrderID != "" || o.Filled == 0 || !e.book.idsLeftOut || symbol.rules == nil {
		return 0
	}
	order := p.Order()
	switch {
	case order.QuoteAmount.IsZero() && o.Filled > order.Quantity:
		return 0
	case !order.QuoteAmount.IsZero() && !o.QuoteAmount.IsZero() && o.QuoteAmount != order.QuoteAmount:
		return 0
	case !order.QuoteAmount.IsZero() && symbol.rules.AverageCost(order.QuoteAmount, o.Filled).Less(o.AveragePrice): // it cost more than the placement's amount
		return 0
	}
	return o.Filled
}

// heldInQuarantine returns the quantity that the kill switch closes on a quarantined spot symbol: the
// explained quantity plus the result of an uncertain purchase, as far as the wallet shows it.
func (b *Book) heldInQuarantine(symbol *SymbolState) exchange.Quantity {
	own := symbol.heldOnSpot()
	if b.buysUnknown(symbol) {
		own += max(0, symbol.leftOver-symbol.leftSold)
	}
	return max(0, min(own, b.baseBalance(symbol)-symbol.Baseline()))
}

// couldBe reports whether a row may be the given order, sent at a given time, whatever its id.
func couldBe(o *exchange.Order, order exchange.NewOrder, sentMS int64) bool {
	if o.Key() != order.Key() || o.Side != order.Side || o.CreatedMS < sentMS-createdSlackMS || o.Status.Final() && o.Filled == 0 {
		return false
	}
	if o.ClientOrderID == "" {
		return o.ClosePosition == order.ClosePosition || order.Market == exchange.Spot
	}
	if !order.QuoteAmount.IsZero() { // placed by amount: the list's quantity cannot be predicted
		return o.Type == order.Type
	}
	return o.Quantity == order.Quantity && o.ClosePosition == order.ClosePosition && o.Type.Conditional() == order.Type.Conditional()
}

// claimed reports whether a row is the order of a placement, live or ended.
func (e *evidence) claimed(o *exchange.Order) bool {
	if e.match(o) != nil {
		return true
	}
	if former, ended := e.book.Ended(o.ClientOrderID); ended && o.ClientOrderID != "" {
		return former.OrderID == 0 || former.OrderID == o.ID
	}
	_, _, ended := e.book.EndedAs(o.Key(), o.ID)
	return ended
}

// walletMoved reports whether the wallet's balance of a spot symbol's asset deviates from the fills in
// the placement's direction, and whether the deviation has persisted. A wallet that may be older than
// the last fill proves nothing.
func (s uncertainOrders) walletMoved(symbol *SymbolState, p *account.Placement) (moved, persistent bool) {
	if symbol.Key().Market != exchange.Spot || symbol.rules == nil || !s.fetched.Balances.Done() || s.mayPredateFill(symbol) {
		return false, false
	}
	tolerance := symbol.rules.QuantityOf(symbol.rules.QuantityAmount(symbol.Bought()).MulRate(spotFeeBound)) + 2*symbol.rules.QuantityTick
	by := s.walletEvidence().shownInWallet(symbol) - symbol.Baseline() - symbol.Known() + symbol.Fees()
	if by*exchange.Quantity(p.Order().Side.Sign()) <= tolerance {
		symbol.walletChangeFor.reset()
		return false, false
	}
	if by != symbol.walletChange {
		symbol.walletChangeFor.reset()
	}
	symbol.walletChange = by
	symbol.walletChangeFor.extend(s.fetched)
	others := s.book.AnyLive(func(q *account.Placement) bool { return q != p && q.Symbol() == symbol.Key() })
	return true, !others || symbol.walletChangeFor.exceeds(s.book.Settle().StalenessMS)
}

// shownInWallet returns how much of a spot symbol's base asset a snapshot shows.
func (e walletEvidence) shownInWallet(symbol *SymbolState) exchange.Quantity {
	for _, balance := range e.fetched.Balances.Items() {
		if balance.Asset == symbol.rules.Base {
			return symbol.rules.FloorQuantity(symbol.rules.QuantityOf(balance.Free.Add(balance.Frozen)))
		}
	}
	return 0
}

// Unclaimed returns by how much the wallet's balance of a spot symbol's asset exceeds the quantity that
// the kill switch would close plus the balance before botd bought; zero if the excess is not larger than
// fees can explain.
func (b *Book) Unclaimed(symbol *SymbolState) exchange.Quantity {
	if symbol.Key().Market != exchange.Spot || symbol.rules == nil || b.WalletMS() == 0 {
		return 0
	}
	more := b.baseBalance(symbol) - symbol.Baseline() - b.ToClose(symbol)
	if more <= symbol.ExpectedFees()+symbol.rules.QuantityTick {
		return 0
	}
	return more
}
