package engine

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/risk"
)

// moves has the exchange report that much more USDT in the wallet than its simulation holds.
func (w *world) moves(by exchange.Amount) {
	w.mirror = func(answer *exchange.Answer) {
		switch answer.Operation {
		case exchange.FuturesAccount:
			answer.Account.WalletBalance = answer.Account.WalletBalance.Add(by)
			answer.Account.AvailableBalance = answer.Account.AvailableBalance.Add(by)
		case exchange.SpotWallet:
			for i := range answer.Balances.Items() {
				if b := &answer.Balances.Items()[i]; b.Asset == "USDT" {
					b.Free = b.Free.Add(by)
				}
			}
		}
	}
}

func lossLimits(w *world) {
	w.config.Limits = risk.Limits{MaxDailyLoss: risk.Loss{Share: exchange.RateOne / 20}, MaxDrawdown: risk.Loss{Share: exchange.RateOne / 5}}
	w.config.Strategies[0].Limits = risk.Limits{MaxDailyLoss: risk.Loss{USDT: exchange.MustAmount("200")}}
}

func TestADepositOrAWithdrawalIsNoGainAndNoLoss(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		amount  string
		options []option
	}{
		{"a withdrawal", "-3000", []option{books, lossLimits}},
		{"a deposit", "5000", []option{books, lossLimits}},
		{"a withdrawal on spot", "-3000", []option{onSpot, books, lossLimits}},
		{"a deposit on spot", "5000", []option{onSpot, books, lossLimits}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, hold(10), c.options...)
			w.pass(60_000)
			market, by := w.config.Strategies[0].Symbol.Market, exchange.MustAmount(c.amount)
			before := w.engine.Book().Today()
			own := w.engine.Status().Strategies[0].Own
			w.moves(by)
			for range 120 {
				w.pass(1_000)
				for _, d := range w.engine.Degraded() {
					t.Fatalf("want nothing declared, have %+v", d)
				}
			}
			after := w.engine.Book().Today()
			if want := before.Equity.Add(by); after.Equity != want || after.Peak != before.Peak.Add(by) {
				t.Errorf("what losses are measured from: want it moved by %s, have %s (was %s), peak %s (was %s)", by, after.Equity, before.Equity,
					after.Peak, before.Peak)
			}
			if have := w.engine.Status().Strategies[0].Own; have != own {
				t.Errorf("the strategy's own equity: want %s, have %s", own, have)
			}
			if have := w.sum(ledger.Unexplained, market, "USDT"); !have.IsZero() {
				t.Errorf("want nothing unexplained, have %s", have)
			}
			noted := 0
			for i := range w.notes {
				if fact, is := w.notes[i].Fact.(NoteTransfer); is {
					if noted++; fact.Amount != by || fact.Asset != "USDT" {
						t.Errorf("want %s USDT reported, have %+v", by, fact)
					}
				}
			}
			if noted != 1 {
				t.Errorf("want it reported once, have %d", noted)
			}
		})
	}
}

func TestADepositMasksNoLoss(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(1_000), books, lossLimits)
	w.pass(60_000)
	w.moves(exchange.MustAmount("5000"))
	w.pass(60_000)
	w.price("49300") // 1 BTC: 700 USDT, more than 5 % of 10000
	w.pass(20_000)
	if d := w.wantState("limit"); d.Cause == "" {
		t.Error("want the loss found")
	}
}

func TestFeesAndFundingAreNoTransfers(t *testing.T) {
	t.Parallel()
	target := exchange.Quantity(10)
	w := newWorld(t, swing(&target), books)
	for range 6 {
		w.pass(40_000)
		target = 10 - target
	}
	w.pass(9 * 3_600_000)
	for i := range w.notes {
		if fact, is := w.notes[i].Fact.(NoteTransfer); is {
			t.Errorf("want no transfer, have %+v", fact)
		}
	}
}
