package reconcile

import (
	"botd/exchange"
	"botd/reconcile/account"
)

// The exchange may execute a purchase on spot twice (exactly-once.md, case 41), and the order history may show only one of the executions. The
// purchase has then ended, but the wallet still shows the other one: since it was sent, the wallet has paid for two and received the coins of two.

// formerPurchase is the newest purchase on a symbol that has ended. Only of a purchase by amount does it know the wallet before, from which a second
// execution can be recognized.
type formerPurchase struct {
	clientOrderID string
	order         exchange.NewOrder
	sentMS        int64
	filledMS      int64 // of the symbol's last fill at its end
	before        priorBalance
	shownMS       int64             // when a wallet first showed a second execution; 0 for not yet
	again         exchange.Quantity // its quantity
	shownFor      persistence       // for how long the wallet has shown it
}

// follow returns a purchase that has ended after this one; its own fill explains nothing that the wallet has shown since. A wallet older than this
// one's fill proves nothing about the next one.
func (t *formerPurchase) follow(p *account.Placement, before priorBalance, filledMS int64) formerPurchase {
	if t.filledMS >= before.atMS {
		before = priorBalance{}
	}
	before.booked = p.Symbol()
	return formerPurchase{clientOrderID: p.ClientOrderID(), order: p.Order(), sentMS: p.SentMS(), filledMS: filledMS, before: before}
}

// executedAgain returns the quantity that a second execution of the newest ended purchase has bought according to the wallet, although a history read
// later shows no purchase of others. It counts until a fill is booked on the symbol, which may be that execution. If it persists, a person must check.
// Another botd with the same plan buys the same amount in the same second: while lists omit ids, or one is known, the wallet proves nothing.
func (s unlistedOrders) executedAgain(symbol *SymbolState) exchange.Quantity {
	t := &symbol.spot.ended
	if t.before.atMS == 0 {
		return 0
	}
	others := s.unclaimedPurchases(symbol, t.sentMS)
	switch {
	case symbol.FilledMS() != t.filledMS || t.again != 0 && others >= t.again:
		symbol.spot.ended = formerPurchase{}
		return 0
	case t.again != 0:
		if t.shownFor.extend(s.fetched); t.shownFor.exceeds(s.book.Settle().StalenessMS) {
			s.quarantine(symbol, "the wallet change matches a second execution of "+t.clientOrderID+", but no list shows it")
		}
		return t.again
	case s.book.omitsIDs() || s.book.twin.HasTwin() || s.book.boughtSince(nil, t.before):
		return 0
	}
	bought, times := s.walletEvidence().boughtTimes(&t.order, t.before, symbol)
	switch beyond := min(s.book.balanceBeyondFills(symbol)-others, bought/maxTimes); {
	case times < maxTimes || symbol.tooSmallToTrade(beyond): // the quantity beyond the fills of one execution is a remainder of rounded fees
		t.shownMS = 0
	case t.shownMS == 0:
		t.shownMS = s.fetched.EndedMS
	case s.fetched.History.Done() && s.fetched.BeganMS > t.shownMS:
		t.again = beyond
	}
	return t.again
}
