package reconcile

import (
	"testing"

	"botd/exchange"
)

func TestAPriceMovesMarkedEquity(t *testing.T) {
	t.Parallel()
	b := newDesk(t).tracker
	b.marginAccount = exchange.MarginAccount{WalletBalance: exchange.AmountOf(1_000), UnrealizedPNL: exchange.AmountOf(10)}
	symbol := b.Symbol(bitcoin)
	symbol.position, symbol.markedAt, symbol.last = 100, 50_000e8, 49_900e8
	if have := b.Marked(); have != exchange.AmountOf(1_000) {
		t.Errorf("at the last price: want 1000, have %s", have)
	}
	symbol.mark = 50_100e8
	if have := b.Marked(); have != exchange.AmountOf(1_020) {
		t.Errorf("at the mark: want 1020, have %s", have)
	}
}

// A jump of the price shows in the account and in the price, whichever is read first or cannot be read. It counts once.
func TestAJumpIsCountedOnce(t *testing.T) {
	t.Parallel()
	const began = int64(1_800_000_000_000)
	for _, c := range []struct {
		name string
		play func(account func(atMS, made int64), price func(atMS int64, price exchange.Price))
		want int64
	}{
		{"the account shows it, and its price could not be read", func(account func(atMS, made int64), price func(atMS int64, price exchange.Price)) {
			price(began, 50_000)
			account(began, 0)
			account(began+60_000, -100)
			price(began+90_000, 49_000)
		}, 900},
		{"the price beside the account is older", func(account func(atMS, made int64), price func(atMS int64, price exchange.Price)) {
			price(began, 50_000)
			account(began, -100)
			price(began+1_000, 49_000)
		}, 900},
		{"the price beside the account is newer", func(account func(atMS, made int64), price func(atMS int64, price exchange.Price)) {
			price(began, 49_000)
			account(began, -100)
			price(began+30_000, 49_000)
		}, 900},
		{"the price alone shows it, when no account can be read any more", func(account func(atMS, made int64), price func(atMS int64, price exchange.Price)) {
			price(began, 50_000)
			account(began, 0)
			price(began+testSettle.StalenessMS+1, 49_000)
		}, 900},
		{"the price shows it as long after the account as that may be old", func(account func(atMS, made int64), price func(atMS int64, price exchange.Price)) {
			price(began, 50_000)
			account(began, -100)
			price(began+testSettle.StalenessMS, 49_000)
		}, 900},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			symbol := d.tracker.Symbol(bitcoin)
			symbol.position = 100
			c.play(func(atMS, made int64) {
				d.tracker.Observe(&Snapshot{BeganMS: atMS, EndedMS: atMS + 200, Account: &exchange.MarginAccount{
					WalletBalance: exchange.AmountOf(1_000), UnrealizedPNL: exchange.AmountOf(made)}})
			}, func(atMS int64, price exchange.Price) { d.tracker.ObservePrice(bitcoin, price*1e8, atMS, atMS) })
			if have := d.tracker.Marked(); have != exchange.AmountOf(c.want) {
				t.Errorf("want %d, have %s", c.want, have)
			}
		})
	}
}
