package tape_test

import (
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/tape"
)

func TestFundingIsSavedMergedAndListed(t *testing.T) {
	t.Parallel()
	store := tape.Store{Directory: t.TempDir()}
	rows := tape.GenerateFunding(7, "BTC-USDT", 8, 1_704_067_200_001, 300)
	if rows[0].TimeMS != 1_704_067_200_000+8*3_600_000 {
		t.Errorf("want the first payment on the hours, have %d", rows[0].TimeMS)
	}
	if again := tape.GenerateFunding(7, "BTC-USDT", 8, 1_704_067_200_001, 300); !slices.Equal(rows, again) {
		t.Error("the same seed: want the same rates")
	}
	if saved, err := store.SaveFunding("BTC-USDT", rows[:200], false); err != nil || saved.Added != 200 {
		t.Fatalf("want 200 added, have %+v (%v)", saved, err)
	}
	if saved, err := store.SaveFunding("BTC-USDT", rows[100:], false); err != nil || saved.Added != 100 || saved.Same != 100 || saved.Total != 300 {
		t.Fatalf("want 100 added of 300, have %+v (%v)", saved, err)
	}
	if have, err := tape.LoadFunding(store.FundingPath("BTC-USDT")); err != nil || !slices.Equal(have, rows) {
		t.Errorf("want what was saved, have %d rows (%v)", len(have), err)
	}
	other := []tape.FundingRow{{Symbol: "x", TimeMS: rows[5].TimeMS, Rate: rows[5].Rate + 1}}
	if _, err := store.SaveFunding("BTC-USDT", other, false); err == nil || !strings.Contains(err.Error(), "--replace") {
		t.Errorf("another rate: want an error that names --replace, have %v", err)
	}
	if saved, err := store.SaveFunding("BTC-USDT", other, true); err != nil || saved.Replaced != 1 || saved.Total != 300 {
		t.Errorf("want it replaced, have %+v (%v)", saved, err)
	}
	if symbols, err := store.ListFunding(); err != nil || !slices.Equal(symbols, []string{"BTC-USDT"}) {
		t.Errorf("want BTC-USDT listed, have %v (%v)", symbols, err)
	}
}

func TestGapsOfFundingAreFound(t *testing.T) {
	t.Parallel()
	rows := tape.GenerateFunding(7, "BTC-USDT", 8, 0, 100)
	every, gaps := tape.FundingGaps(slices.Delete(slices.Clone(rows), 40, 42))
	if every != 8 || len(gaps) != 1 || gaps[0] != (tape.FundingGap{AfterMS: rows[39].TimeMS, BeforeMS: rows[42].TimeMS}) {
		t.Errorf("want one gap of payments every 8 hours, have %d, %v", every, gaps)
	}
	low, high := exchange.Rate(0), exchange.Rate(0)
	for _, row := range rows {
		low, high = min(low, row.Rate), max(high, row.Rate)
	}
	if high < 20_000 || high > 100_000 || low > 0 || low < -80_000 {
		t.Errorf("want rates that wander on both sides of zero and return to the usual one, have %s to %s", low, high)
	}
}
