package account

import (
	"slices"
	"testing"

	"botd/reconcile/record"
)

func TestLastMinuteOfPlacementsIsStored(t *testing.T) {
	t.Parallel()
	b := New(Options{})
	for i := range int64(1_000) {
		b.recentPlacements.note(i*1_000, "one")
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
	b := New(Options{})
	apply := func(strategy, rule, why string, untilMS int64) {
		b.Apply(&record.Record{AtMS: 5, Strategy: strategy, Body: record.Breach{Rule: rule, Reason: why, UntilMS: untilMS}})
	}
	apply("", "max_daily_loss", "a", 100)
	apply("", "max_daily_loss", "b", 200)
	apply("one", "max_drawdown", "c", 0)
	breach := b.Watch("").Breach("max_daily_loss")
	if w := b.Watch(""); len(slices.Collect(w.Breaches())) != 1 || *breach != (Breach{"max_daily_loss", "b", 5, 200}) {
		t.Fatalf("want the newer one alone, have %+v", slices.Collect(w.Breaches()))
	}
	if breach.Expired(199) || !breach.Expired(200) {
		t.Error("want it over at 200, not before")
	}
	if b.Watch("one").Breach("max_drawdown").Expired(1 << 60) {
		t.Error("want one without an end never over")
	}
	apply("one", "max_drawdown", "", 0)
	if open := b.Watch("one").Breach("max_drawdown"); open != nil {
		t.Errorf("want it ended, have %+v", open)
	}
}
