package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/record"
)

func TestOnlyTheLastMinuteOfPlacementsIsRemembered(t *testing.T) {
	t.Parallel()
	b := NewBook(Settle{})
	for i := range int64(1_000) {
		b.sentAt(i*1_000, "one")
	}
	if len(b.sends) != 60 {
		t.Errorf("want 60 of them, have %d", len(b.sends))
	}
	if all, own := b.SentWithin(999_000, "two"); all != 60 || own != 0 {
		t.Errorf("want 60 and none of the other's, have %d and %d", all, own)
	}
}

func TestABreachIsReplacedAndEnded(t *testing.T) {
	t.Parallel()
	b := NewBook(Settle{})
	apply := func(strategy, rule, why string, untilMS int64) {
		b.Apply(&record.Record{AtMS: 5, Strategy: strategy, Body: record.Breach{Rule: rule, Why: why, UntilMS: untilMS}})
	}
	apply("", "max_daily_loss", "a", 100)
	apply("", "max_daily_loss", "b", 200)
	apply("one", "max_drawdown", "c", 0)
	if w := b.Watch(""); len(w.Breaches) != 1 || *w.Breach("max_daily_loss") != (Breach{"max_daily_loss", "b", 5, 200}) {
		t.Errorf("want the newer one alone, have %+v", w.Breaches)
	}
	if breach := b.Watch("").Breach("max_daily_loss"); breach.Over(199) || !breach.Over(200) {
		t.Error("want it over at 200, not before")
	}
	if b.Watch("one").Breach("max_drawdown").Over(1 << 60) {
		t.Error("want one without an end never over")
	}
	apply("one", "max_drawdown", "", 0)
	if b.Watch("one").Breach("max_drawdown") != nil {
		t.Error("want it ended")
	}
}

func TestAPriceMovesMarkedEquity(t *testing.T) {
	t.Parallel()
	b := newDesk(t).book
	b.Account = exchange.MarginAccount{WalletBalance: exchange.AmountOf(1_000), UnrealizedPNL: exchange.AmountOf(10)}
	truth := b.Symbol(bitcoin)
	truth.Position, truth.MarkedAt, truth.Last = 100, 50_000e8, 49_900e8
	if have := b.Marked(); have != exchange.AmountOf(1_000) {
		t.Errorf("at the last price: want 1000, have %s", have)
	}
	truth.Mark = 50_100e8
	if have := b.Marked(); have != exchange.AmountOf(1_020) {
		t.Errorf("at the mark: want 1020, have %s", have)
	}
}
