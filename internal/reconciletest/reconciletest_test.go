package reconciletest

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
)

func TestASymbolShowsWhatATestHasSet(t *testing.T) {
	t.Parallel()
	symbol := reconcile.NewBook(placement.Settle{}).Track(exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"})
	Set(symbol, func(o *Observed) { o.Position, o.Read, o.Foreign = 5, true, []exchange.Order{{ID: 7}} })
	Set(symbol, func(o *Observed) { o.Position++ })
	if symbol.Position() != 6 || !symbol.Read() || symbol.Settled() || symbol.ForeignCount() != 1 {
		t.Errorf("want 6 held, read and not settled, beside one order, have %d, %t, %t, %d",
			symbol.Position(), symbol.Read(), symbol.Settled(), symbol.ForeignCount())
	}
	symbol.Foreign()[0].ID = 8
	if have := append(symbol.Foreign(), exchange.Order{})[0].ID; have != 7 || symbol.ForeignCount() != 1 {
		t.Errorf("want what a caller changes in its copies to stay with it, have order %d of %d", have, symbol.ForeignCount())
	}
}

func TestAnAccountShowsWhatATestHasSet(t *testing.T) {
	t.Parallel()
	book := reconcile.NewBook(placement.Settle{})
	set := Of(book)
	set.Account.WalletBalance, *set.AccountMS, *set.WalletMS = exchange.AmountOf(5), 6, 7
	*set.OpenPositions, *set.Balances = []exchange.Position{{ID: 8}}, []exchange.Balance{{Asset: "BTC"}}
	if book.Account().WalletBalance != exchange.AmountOf(5) || book.AccountMS() != 6 || book.WalletMS() != 7 {
		t.Errorf("want what was set, have %+v at %d, the wallet at %d", book.Account(), book.AccountMS(), book.WalletMS())
	}
	if open, balances := slices.Collect(book.OpenPositions()), slices.Collect(book.Balances()); len(open) != 1 || len(balances) != 1 || open[0].ID != 8 {
		t.Errorf("want the lists that were set, have %+v and %+v", open, balances)
	}
	book.ForgetAccount()
	book.ForgetWallet()
	if book.AccountMS() != 0 || book.WalletMS() != 0 {
		t.Errorf("want no read remembered, have %d and %d", book.AccountMS(), book.WalletMS())
	}
}
