package backtest_test

import (
	"path/filepath"
	"testing"

	"github.com/shopspring/decimal"

	"botd/backtest"
	"botd/exchange"
	"botd/strategy"
)

func TestAStoredResultIsReadAsItWas(t *testing.T) {
	t.Parallel()
	recorded := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 4_000)
	config := crossing(t, recorded, 2*exchange.RateOne, strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 900_000}}, bothWays)
	result, err := backtest.RunColumns(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	if err := result.WriteDir(directory); err != nil {
		t.Fatal(err)
	}
	stored, intact, err := backtest.Read(filepath.Join(directory, "report.json"))
	if err != nil || !intact || stored.ResultSHA256 != result.ResultSHA256 {
		t.Fatalf("want it intact, have %v (%v)", intact, err)
	}
	want := decimal.Zero
	for _, trip := range stored.Trips {
		want = want.Add(decimal.RequireFromString(trip.PNL))
	}
	if len(stored.Trips) < 20 {
		t.Fatalf("want some round trips, have %d", len(stored.Trips))
	}
	for _, period := range backtest.Periods {
		rows, trips, before := stored.Breakdown(period), 0, ""
		for _, row := range rows {
			if row.Period <= before || row.Wins+row.Losses > row.RoundTrips {
				t.Errorf("%s: want periods in order, each with its trips, have %+v", period, row)
			}
			trips, before = trips+row.RoundTrips, row.Period
		}
		if have := rows[len(rows)-1].Sum; trips != len(stored.Trips) || have != want.String() {
			t.Errorf("by %s: want %d trips and %s in all, have %d and %s", period, len(stored.Trips), want, trips, have)
		}
	}
}
