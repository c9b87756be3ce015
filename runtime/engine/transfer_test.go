package engine

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
)

// moves has the exchange report that much more USDT in the wallet than its simulation has.
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

func TestDepositOrWithdrawalIsNeitherGainNorLoss(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		amount  string
		options []option
	}{
		{"a withdrawal", "-3000", []option{withLedger, lossLimits}},
		{"a deposit", "5000", []option{withLedger, lossLimits}},
		{"a withdrawal on spot", "-3000", []option{onSpot, withLedger, lossLimits}},
		{"a deposit on spot", "5000", []option{onSpot, withLedger, lossLimits}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, hold(10), c.options...)
			w.pass(60_000)
			market, by := w.config.Strategies[0].Symbol.Market, exchange.MustAmount(c.amount)
			before := w.engine.Tracker().Today()
			own := w.engine.Status().Strategies[0].Own
			w.moves(by)
			for range 120 {
				w.pass(1_000)
				for _, d := range w.engine.Degraded() {
					t.Fatalf("want nothing declared, have %+v", d)
				}
			}
			after := w.engine.Tracker().Today()
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

func TestDepositDoesNotMaskLoss(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(1_000), withLedger, lossLimits)
	w.pass(60_000)
	w.moves(exchange.MustAmount("5000"))
	w.pass(60_000)
	w.price("49300") // 1 BTC: 700 USDT, more than 5 % of 10000
	w.pass(20_000)
	if d := w.wantState("limit"); d.Cause == "" {
		t.Error("want the loss found")
	}
}

func TestFeesAndFundingAreNotTransfers(t *testing.T) {
	t.Parallel()
	target := exchange.Quantity(10)
	w := newWorld(t, swing(&target), withLedger)
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

// TestDeclaredTransferIsNeitherGainNorLoss transfers money at the moment of a trade, when nothing can separate
// it from the trade, and has a person declare it.
func TestDeclaredTransferIsNeitherGainNorLoss(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, amount string
		held         exchange.Quantity
		options      []option
	}{
		{"a withdrawal", "-3000", 10, []option{withLedger, lossLimits}},
		{"a deposit", "5000", 10, []option{withLedger, lossLimits}},
		{"a withdrawal on spot", "-3000", 2_000, []option{onSpot, withLedger, lossLimits}},
		{"a deposit on spot", "5000", 2_000, []option{onSpot, withLedger, lossLimits}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			target := c.held
			w := newWorld(t, swing(&target), c.options...)
			w.pass(60_000)
			market, by := w.config.Strategies[0].Symbol.Market, exchange.MustAmount(c.amount)
			before := w.engine.Tracker().Today()
			target = c.held / 2 // an exit, which no limit blocks
			w.moves(by)
			w.pass(200_000)
			if have := w.sum(ledger.Unexplained, market, "USDT"); have != by.Neg() {
				t.Fatalf("want %s unexplained, have %s", by.Neg(), have)
			}
			w.declare(market, c.amount)
			w.pass(60_000)
			if have := w.sum(ledger.Unexplained, market, "USDT"); !have.IsZero() {
				t.Errorf("want nothing unexplained, have %s", have)
			}
			if after := w.engine.Tracker().Today(); after.Equity != before.Equity.Add(by) {
				t.Errorf("the day's equity: want %s, have %s", before.Equity.Add(by), after.Equity)
			}
			for _, d := range w.engine.Degraded() {
				t.Errorf("want nothing declared any more, have %+v", d)
			}
			if have := w.engine.Status().Strategies[0].Own.Sub(before.Equity).Abs(); exchange.MustAmount("100").Less(have) {
				t.Errorf("the strategy's own equity: want it near %s, have it off by %s", before.Equity, have)
			}
			w.pass(60_000)
			if left := w.engine.Tracker().Ledger().Declared(market, "USDT"); !left.IsZero() {
				t.Errorf("want nothing left to come, have %s", left)
			}
		})
	}
}

// TestTransferMayBeDeclaredInAdvance declares first: the later change of the wallet counts as the
// declared one, once.
func TestTransferMayBeDeclaredInAdvance(t *testing.T) {
	t.Parallel()
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		for _, amount := range []string{"-3000", "5000"} {
			t.Run(market.String()+" "+amount, func(t *testing.T) {
				t.Parallel()
				options := []option{withLedger, lossLimits}
				if market == exchange.Spot {
					options = append([]option{onSpot}, options...)
				}
				w, by := newWorld(t, hold(10), options...), exchange.MustAmount(amount)
				w.pass(60_000)
				before := w.engine.Tracker().Today()
				w.declare(market, amount)
				w.pass(60_000)
				w.moves(by)
				for range 120 {
					w.pass(1_000)
					for _, d := range w.engine.Degraded() {
						t.Fatalf("want nothing declared, have %+v", d)
					}
				}
				if after := w.engine.Tracker().Today(); after.Equity != before.Equity.Add(by) || after.Peak != before.Peak.Add(by) {
					t.Errorf("want the day moved by %s, have %+v, was %+v", by, after, before)
				}
				if have := w.sum(ledger.Unexplained, market, "USDT"); !have.IsZero() {
					t.Errorf("want nothing unexplained, have %s", have)
				}
				if left := w.engine.Tracker().Ledger().Declared(market, "USDT"); !left.IsZero() {
					t.Errorf("want nothing left to come, have %s", left)
				}
				w.moves(by.Add(by)) // another transfer: not declared, but detected
				w.pass(60_000)
				if after := w.engine.Tracker().Today(); after.Equity != before.Equity.Add(by).Add(by) {
					t.Errorf("want the day moved by twice %s, have %+v, was %+v", by, after, before)
				}
			})
		}
	}
}

// TestADeclarationIsTakenBackByItsOpposite books nothing in the end.
func TestADeclarationIsTakenBackByItsOpposite(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10), withLedger, lossLimits)
	w.pass(60_000)
	before := w.engine.Tracker().Today()
	w.declare(exchange.Futures, "700")
	w.declare(exchange.Futures, "-700")
	w.pass(60_000)
	if have := w.engine.Tracker().Ledger().Declared(exchange.Futures, "USDT"); !have.IsZero() {
		t.Errorf("want nothing declared, have %s", have)
	}
	if have := w.sum(ledger.Unexplained, exchange.Futures, "USDT"); !have.IsZero() || w.engine.Tracker().Today() != before {
		t.Errorf("want nothing changed, have %s unexplained, %+v, was %+v", have, w.engine.Tracker().Today(), before)
	}
	for _, wrong := range []ledger.Transfer{
		{Market: exchange.Futures, Asset: "USDT"},
		{Market: exchange.Futures, Asset: "BTC", Amount: exchange.MustAmount("1")},
		{Market: exchange.Spot, Asset: "USDT", Amount: exchange.MustAmount("1")},
	} {
		if lines, err := w.engine.PreviewTransfer(&EventTransfer{Transfer: wrong}); err == nil {
			t.Errorf("%+v: want it refused, have %q", wrong, lines)
		}
	}
}

func (w *world) declare(market exchange.Market, amount string) {
	w.t.Helper()
	event := &EventTransfer{Transfer: ledger.Transfer{Market: market, Asset: "USDT", Amount: exchange.MustAmount(amount), Note: "declared"}}
	if _, err := w.engine.PreviewTransfer(event); err != nil {
		w.t.Fatal(err)
	}
	w.give(event)
}

// TestWalletTakeoverWithOpenOrderNeedsTwoReads reads the wallet before an order's fill and the position
// after it. The fill's effect on the wallet would count as external money.
func TestWalletTakeoverWithOpenOrderNeedsTwoReads(t *testing.T) {
	t.Parallel()
	for _, stands := range []bool{false, true} {
		w := newWorld(t, hold(0), withLedger)
		e, m := w.engine.accounting, &w.engine.accounting.futures
		e.config.Bounds.StalenessMS, e.out = 3_000, &w.out
		if stands {
			order := w.market(exchange.Buy, 1, true).Order
			sending := record.Sending{Order: order, Purpose: placement.Exit}
			e.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Symbol: bitcoin, ClientOrderID: "t-1", Body: sending})
			e.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Symbol: bitcoin, ClientOrderID: "t-1", Body: record.Acknowledged{OrderID: 1}})
		}
		reading := ledger.Reading{AtMS: w.now, Market: exchange.Futures, Wallet: []ledger.Asset{{Name: "USDT", Amount: exchange.AmountOf(100)}}}
		e.receiveReading(m, reading, w.now)
		if have := w.ledger().Opened(exchange.Futures); have == stands {
			t.Errorf("an order stands %t: want the wallet taken over at once %t, have %t", stands, !stands, have)
		}
		reading.AtMS = w.now + 3_200
		e.receiveReading(m, reading, w.now+3_100)
		if !w.ledger().Opened(exchange.Futures) {
			t.Errorf("an order stands %t: want the wallet taken over when a later reading shows the same", stands)
		}
	}
}
