package reconcile

import (
	"iter"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// spotWallet is the spot wallet as last read.
type spotWallet struct {
	balances     []exchange.Balance
	walletMS     int64
	walletFromMS int64 // begin of the read
	walletRead   bool  // read with the newest snapshot
	bounds       placement.Bounds
}

// note stores a snapshot's wallet.
func (w *spotWallet) note(s *Snapshot) {
	if w.walletRead = s.Balances.Done(); w.walletRead {
		w.balances, w.walletMS, w.walletFromMS = s.Balances.Items(), s.EndedMS, s.BeganMS
	}
}

// Balances yields the spot wallet's balances, as last read.
func (w *spotWallet) Balances() iter.Seq[exchange.Balance] { return slices.Values(w.balances) }

// WalletMS returns when the wallet was read; 0 for never.
func (w *spotWallet) WalletMS() int64 { return w.walletMS }

// ForgetWallet drops the wallet's read: it must be read again before anything relies on it.
func (w *spotWallet) ForgetWallet() { w.walletMS = 0 }

// Balance returns the spot wallet's balance of an asset, or zero if there is none.
func (w *spotWallet) Balance(asset string) exchange.Balance {
	for _, balance := range w.balances {
		if balance.Asset == asset {
			return balance
		}
	}
	return exchange.Balance{Asset: asset}
}

// readAfter reports whether the wallet was read with the newest snapshot, after a given time.
func (w *spotWallet) readAfter(atMS int64) bool { return w.walletRead && w.walletFromMS > atMS }

func (w *spotWallet) fundsOf(symbol *SymbolState) record.Funds {
	money := w.Balance(symbol.rules.Quote)
	return record.Funds{Asset: w.baseBalance(symbol), Amount: money.Free.Add(money.Frozen), ReadMS: w.walletFromMS}
}

// FundsBefore returns what the account last showed before an order is sent: of a spot symbol's two assets, or on futures, if the order opens, the margin in
// use that nothing known needs.
func (t *Tracker) FundsBefore(symbol *SymbolState, opens bool) record.Funds {
	switch {
	case symbol.rules == nil:
		return record.Funds{}
	case symbol.Key().Market == exchange.Spot:
		return t.fundsOf(symbol)
	case opens:
		if beyond, known := t.marginUse().beyond(true); known {
			return record.Funds{Amount: beyond, ReadMS: t.accountMS}
		}
	}
	return record.Funds{}
}

// showsBeforeSale reports whether the wallet shows asset and money as they were before the last sale: then it is older than the sale, however long
// ago that was. A sale brings money, so a later wallet could be equal only if somebody had withdrawn exactly that amount and deposited exactly that
// quantity.
func (w *spotWallet) showsBeforeSale(symbol *SymbolState) bool {
	return w.unchanged(symbol, symbol.spot.beforeSale)
}

// unchanged reports whether the wallet shows exactly the asset and the money of an earlier read.
func (w *spotWallet) unchanged(symbol *SymbolState, before priorBalance) bool {
	return w.unspent(symbol, before) && w.baseBalance(symbol) == before.asset
}

// unspent reports whether the wallet shows exactly the money of an earlier read: it is older than a purchase sent since, or that purchase bought nothing.
func (w *spotWallet) unspent(symbol *SymbolState, before priorBalance) bool {
	money := w.Balance(symbol.rules.Quote)
	return before.atMS != 0 && money.Free.Add(money.Frozen) == before.amount
}

// noteShown remembers the wallet before botd's own order was sent.
func (t *spotEvidence) noteShown(w record.Funds) {
	if w.ReadMS == 0 {
		return
	}
	t.shownBefore = append(t.shownBefore[max(0, len(t.shownBefore)-maxRemembered+1):], w)
}

// showsEarlier reports whether the wallet shows exactly the asset and the money of a read since which another read has shown others: then it is as old
// as that read.
func (w *spotWallet) showsEarlier(symbol *SymbolState) bool {
	money, equal := w.Balance(symbol.rules.Quote), false
	for _, one := range symbol.spot.shownBefore {
		same := one.Asset == w.baseBalance(symbol) && one.Amount == money.Free.Add(money.Frozen)
		if equal && !same {
			return true
		}
		equal = equal || same
	}
	return false
}

// baseBalance returns the account's balance of a spot symbol's base asset.
func (w *spotWallet) baseBalance(symbol *SymbolState) exchange.Quantity {
	balance := w.Balance(symbol.rules.Base)
	return symbol.rules.QuantityOf(balance.Free.Add(balance.Frozen)) // not in steps, because the step may change
}

// stillInWallet reports whether the wallet still shows most of what a sale would have sold, given the position before that sale.
func (w *spotWallet) stillInWallet(p *account.Placement, symbol *SymbolState, position exchange.Quantity) bool {
	return w.baseBalance(symbol)-symbol.Baseline()-symbol.Unattributed() > position.Abs()-p.Remaining()/2
}

// freed returns the quantity that own orders have released and that the newest wallet may not show as
// free yet.
func (w *spotWallet) freed(symbol *SymbolState) (sum exchange.Quantity) {
	for _, one := range symbol.spot.freed {
		if w.walletFromMS <= one.atMS+w.bounds.StalenessMS {
			sum += one.quantity
		}
	}
	return sum
}

// walletLag records whether a spot wallet and the fills are of two moments: the wallet shows a fill that no list shows yet, or is older than one.
type walletLag struct {
	excess   exchange.Quantity // the wallet's excess over the fills when the two were last of one moment
	bought   exchange.Quantity // quantity bought by then whose fees are not yet reconciled with the wallet
	fees     exchange.Quantity // the most that purchases since then may have cost beyond the expected fees, whether or not their position has ended
	compared bool              // since the start
	fromMS   int64             // since when the excess has been another one; 0 if it is not
	rounds   int               // number of complete reads since then
}

// These bound how long limits wait for a lagging wallet, in complete reads of the symbol and in time. An excess that lasts longer has another cause.
const (
	maxLagging = 10
	lagWaitMS  = 60_000
)

// walletLags reports whether the newest wallet's excess over a spot symbol's fills is another one than when the two were last of one moment. What
// has been bought since then may have cost fees that botd does not expect.
func (o *observedAccount) walletLags(symbol *SymbolState) bool {
	if !o.walletRead || symbol.rules == nil {
		return false
	}
	t := &symbol.spot.lag
	by := (o.balanceOverFills(symbol) - t.excess).Abs()
	if !t.compared {
		by = o.balanceBeyondFills(symbol).Abs()
	}
	if !t.compared && symbol.last > 0 && symbol.tooSmallToTrade(by) { // what rounded fees left before the start
		return false
	}
	return by > max(t.fees, t.unexpectedFees(symbol))
}

// balanceOverFills returns the quantity that the newest wallet shows beyond the fills, whoever owns it: whose it is may be decided, wrongly or rightly,
// before the fill is booked that explains it.
func (o *observedAccount) balanceOverFills(symbol *SymbolState) exchange.Quantity {
	return o.baseBalance(symbol) - symbol.Known() + symbol.Fees()
}

// unexpectedFees returns the largest amount by which the fees of purchases since then may exceed the expected ones.
func (t *walletLag) unexpectedFees(symbol *SymbolState) exchange.Quantity {
	bought := symbol.Bought()
	if bought >= t.bought { // not reconciled since
		bought -= t.bought
	}
	if bought <= 0 {
		return 0
	}
	return symbol.rules.QuantityOf(symbol.rules.QuantityAmount(bought).MulRate(spotFeeBound)) + symbol.rules.QuantityTick
}

// note records whether the wallet lags. A wallet that proves something is not older than the last fill, but a resting order may have filled after the
// list was read.
func (t *walletLag) note(e *evidence, symbol *SymbolState, lags, proves bool) {
	if !e.tracker.walletRead || symbol.rules == nil {
		return
	}
	waited := t.rounds >= maxLagging || t.fromMS != 0 && e.fetched.EndedMS >= t.fromMS+lagWaitMS
	switch {
	case waited, proves && (!lags || len(symbol.live) == 0 || !t.compared):
		*t = walletLag{excess: e.tracker.balanceOverFills(symbol), bought: symbol.Bought(), compared: true}
		return
	case !lags:
		t.fromMS, t.rounds, t.fees = 0, 0, max(t.fees, t.unexpectedFees(symbol))
		return
	case t.fromMS == 0:
		t.fromMS = e.fetched.EndedMS
	}
	if !symbol.unread {
		t.rounds++
	}
}

// BoughtUnbooked returns the quantity of a spot symbol that purchases have bought according to the wallet, and that no list shows: their money has gone,
// and the position does not contain it yet. Of what only a stop from before the start explains, that is the part that the newest wallet shows.
func (o *observedAccount) BoughtUnbooked(symbol *SymbolState) exchange.Quantity {
	bought := symbol.spot.unlisted.inferred
	if symbol.spot.inherited.quantity != 0 {
		return min(bought, max(0, o.balanceBeyondFills(symbol)))
	}
	return bought
}

// WalletAhead reports whether the wallet and the fills of a spot symbol are of two moments: a change of money without a change of the asset, or
// vice versa, is then neither a loss nor a gain. A difference worth an order ends once the order history has been read about it often enough.
func (o *observedAccount) WalletAhead(symbol *SymbolState) bool {
	if symbol.Key().Market != exchange.Spot {
		return false
	}
	t := &symbol.spot
	by := o.walletDiffers(symbol)
	differs := by.Abs() > symbol.FeeRounding()
	return t.lag.fromMS != 0 || !symbol.unread && differs && (by != t.difference || symbol.Suspect())
}
