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
	settle       placement.Settle
}

// note stores a snapshot's wallet.
func (w *spotWallet) note(s *Snapshot) {
	if w.walletRead = s.Balances.Done(); w.walletRead {
		w.balances, w.walletMS, w.walletFromMS = s.Balances.Items(), s.EndedMS, s.BeganMS
	}
}

// Balances yields the spot wallet's entries, as last read.
func (w *spotWallet) Balances() iter.Seq[exchange.Balance] { return slices.Values(w.balances) }

// WalletMS returns when the wallet was read; 0 for never.
func (w *spotWallet) WalletMS() int64 { return w.walletMS }

// ForgetWallet drops the wallet's read: it must be read again before anything relies on it.
func (w *spotWallet) ForgetWallet() { w.walletMS = 0 }

// Balance returns the spot wallet's entry for an asset, or zero if there is none.
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

// WalletOf returns what the wallet last showed of a spot symbol's two assets.
func (w *spotWallet) WalletOf(symbol *SymbolState) record.Wallet {
	if symbol.Key().Market != exchange.Spot || symbol.rules == nil {
		return record.Wallet{}
	}
	money := w.Balance(symbol.rules.Quote)
	return record.Wallet{Asset: w.baseBalance(symbol), Money: money.Free.Add(money.Frozen), ReadMS: w.walletFromMS}
}

// showsBeforeSale reports whether the wallet shows asset and money as they were before the last sale: then it is older than the sale, however long
// ago that was. A sale brings money, so a later wallet could be equal only if somebody had withdrawn exactly that amount and deposited exactly that
// quantity.
func (w *spotWallet) showsBeforeSale(symbol *SymbolState) bool {
	return w.unchanged(symbol, symbol.spot.beforeSale)
}

// unchanged reports whether the wallet shows exactly the asset and the money of an earlier read.
func (w *spotWallet) unchanged(symbol *SymbolState, before priorBalance) bool {
	money := w.Balance(symbol.rules.Quote)
	return before.atMS != 0 && w.baseBalance(symbol) == before.asset && money.Free.Add(money.Frozen) == before.amount
}

// noteShown remembers the wallet before an own order was sent.
func (t *spotEvidence) noteShown(w record.Wallet) {
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
		same := one.Asset == w.baseBalance(symbol) && one.Money == money.Free.Add(money.Frozen)
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
		if w.walletFromMS <= one.atMS+w.settle.StalenessMS {
			sum += one.quantity
		}
	}
	return sum
}
