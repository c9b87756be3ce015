package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
)

func TestAskingAboutASymbolTracksNothing(t *testing.T) {
	t.Parallel()
	b := NewTracker(testSettle)
	if b.Symbol(bitcoin) != nil || len(slices.Collect(b.Symbols())) != 0 || b.Knows(exchange.Futures) {
		t.Errorf("want no symbol, have %d", len(slices.Collect(b.Symbols())))
	}
	if made := b.Track(bitcoin); made == nil || b.Symbol(bitcoin) != made || b.Track(bitcoin) != made || len(slices.Collect(b.Symbols())) != 1 {
		t.Errorf("want one symbol, the same each time, have %d", len(slices.Collect(b.Symbols())))
	}
}
