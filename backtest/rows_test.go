package backtest_test

import (
	"testing"

	"botd/backtest"
)

// A trial of a sweep makes no rows, and has the hash of a result with rows, whatever was traded and whatever the strategy's
// name is.
func TestATrialsHashIsThatOfItsRows(t *testing.T) {
	t.Parallel()
	all := 0
	for _, w := range weathers {
		for seed := range uint64(4) {
			config := w.config(t, seed)
			config.Legs[0].Strategy.Name = []string{"plain", `"quoted" \ <b>&</b>`, "\u2028\u00e4", "\x01"}[seed]
			without, with, rows, err := backtest.SignedTwice(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			if all += rows; with != without {
				t.Errorf("%s, seed %d, %d rows: want %s, have %s", w, seed, rows, with, without)
			}
		}
	}
	if all < 1_000 {
		t.Errorf("%d rows prove little", all)
	}
}
