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
	symbol := reconcile.NewTracker(placement.Bounds{}).Track(exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"})
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
	tracker := reconcile.NewTracker(placement.Bounds{})
	set := Of(tracker)
	set.Account.WalletBalance, *set.AccountMS, *set.WalletMS = exchange.AmountOf(5), 6, 7
	*set.OpenPositions, *set.Balances = []exchange.Position{{ID: 8}}, []exchange.Balance{{Asset: "BTC"}}
	if tracker.Account().WalletBalance != exchange.AmountOf(5) || tracker.AccountMS() != 6 || tracker.WalletMS() != 7 {
		t.Errorf("want what was set, have %+v at %d, the wallet at %d", tracker.Account(), tracker.AccountMS(), tracker.WalletMS())
	}
	if open, balances := slices.Collect(tracker.OpenPositions()), slices.Collect(tracker.Balances()); len(open) != 1 || len(balances) != 1 || open[0].ID != 8 {
		t.Errorf("want the lists that were set, have %+v and %+v", open, balances)
	}
	tracker.ForgetAccount()
	tracker.ForgetWallet()
	if tracker.AccountMS() != 0 || tracker.WalletMS() != 0 {
		t.Errorf("want no read remembered, have %d and %d", tracker.AccountMS(), tracker.WalletMS())
	}
}
