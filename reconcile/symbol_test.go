package reconcile

import (
	"testing"

	"botd/exchange"
)

func TestAPriceMovesMarkedEquity(t *testing.T) {
	t.Parallel()
	b := newDesk(t).book
	b.Account = exchange.MarginAccount{WalletBalance: exchange.AmountOf(1_000), UnrealizedPNL: exchange.AmountOf(10)}
	symbol := b.Symbol(bitcoin)
	symbol.Position, symbol.MarkedAt, symbol.Last = 100, 50_000e8, 49_900e8
	if have := b.Marked(); have != exchange.AmountOf(1_000) {
		t.Errorf("at the last price: want 1000, have %s", have)
	}
	symbol.Mark = 50_100e8
	if have := b.Marked(); have != exchange.AmountOf(1_020) {
		t.Errorf("at the mark: want 1020, have %s", have)
	}
}
