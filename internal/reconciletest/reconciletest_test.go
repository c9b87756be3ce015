package reconciletest

import (
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
