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
