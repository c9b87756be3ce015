package backtest

import (
	"math"
	"slices"
	"strconv"
	"testing"
)

// tripsOf returns consecutive round trips with these profits.
func tripsOf(profits ...float64) *Result {
	r := &Result{InitialEquity: "1000"}
	for i, p := range profits {
		r.Trips = append(r.Trips, TripRow{LeftMS: int64(i), PNL: strconv.FormatFloat(p, 'f', -1, 64)})
	}
	return r
}

func TestTheDeepestFallOfRoundTrips(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		returns []float64
		want    float64
	}{
		{nil, 0},
		{[]float64{0.1, 0.1}, 0},
		{[]float64{0.1, -0.2, 0.05, -0.1}, 0.244}, // 1.1, 0.88, 0.924, 0.8316
		{[]float64{-0.5, 1, 0.2, -0.25}, 0.5},     // 0.5, 1, 1.2, 0.9
		{[]float64{-0.1, 0.5, -0.2}, 0.2},
	} {
		if have := deepest(c.returns); math.Abs(have-c.want) > 1e-12 {
			t.Errorf("%v: want %v, have %v", c.returns, c.want, have)
		}
	}
}

// Trips are in the order of their ends; after a ruin there are none.
func TestRoundTripsAreSharesOfTheEquityAtTheirTime(t *testing.T) {
	t.Parallel()
	r := tripsOf(100, -200, 450)
	r.Trips[0].LeftMS = 9 // -200 of 1000, 450 of 800, 100 of 1250
	if have := tripReturns(r); !slices.Equal(have, []float64{-0.2, 0.5625, 0.08}) {
		t.Errorf("have %v", have)
	}
	if r.Trips[0].PNL != "100" {
		t.Error("the result's own rows are in another order now")
	}
	if have := tripReturns(tripsOf(-1_000, 50)); have != nil {
		t.Errorf("after a ruin: have %v", have)
	}
	if have := tripReturns(tripsOf(50, -1_050)); !slices.Equal(have, []float64{0.05, -1}) {
		t.Errorf("a ruin at the end: have %v", have)
	}
}

// There are two halvings and a doubling, among trips without a result. In two of three orders both halvings come without the doubling
// between them.
func TestOtherOrdersOfARoundTrip(t *testing.T) {
	t.Parallel()
	profits := []float64{-500, 0, 0, 500, 0, 0, 0, -500, 0, 0}
	have := shuffle(tripsOf(profits...))
	want := Shuffles{Count: 1_000, Seed: 1, Trips: 10, Happened: 50, Fifth: 50, Quarter: 50, Median: 75, Third: 75, Worst: 75}
	if have == nil || *have != want {
		t.Errorf("want %+v, have %+v", want, have)
	}
	if few := shuffle(tripsOf(profits[:9]...)); few != nil {
		t.Errorf("nine round trips: have %+v", few)
	}
}
