package backtest_test

import (
	"reflect"
	"testing"

	"botd/backtest"
)

// Everything else is compared with the whole result.
func TestFiguresOnlyLeavesOutRowsAndHash(t *testing.T) {
	t.Parallel()
	whole, config := mustRun(t, weathers[0].config(t, 1)), weathers[0].config(t, 1)
	config.FiguresOnly = true
	have, want := mustRun(t, config), *whole
	if len(have.Executions)+len(have.Trips) > 0 || have.ResultSHA256 != "" || len(whole.Executions) < 20 {
		t.Errorf("want no rows and no hash, have %d, %d and %q", len(have.Executions), len(have.Trips), have.ResultSHA256)
	}
	if len(have.Curve()) > 0 || len(whole.Curve()) < 20 {
		t.Errorf("want no curve, have %d points of %d", len(have.Curve()), len(whole.Curve()))
	}
	want.Executions, want.Trips, want.ResultSHA256 = have.Executions, have.Trips, ""
	want.DropCurve()
	want.Elapsed, want.Speed = have.Elapsed, have.Speed
	if !reflect.DeepEqual(have, &want) {
		t.Errorf("want the same figures, have\n%+v\n%+v", want, have)
	}
}

// A trial of a sweep makes no rows, and has the hash of a result with rows, whatever was traded and whatever the strategy's
// name is.
func TestTrialHashIsHashOfItsRows(t *testing.T) {
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
