package backtest

import "testing"

func TestPaceUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		candles float64
		want    string
	}{{0, "0/s"}, {999, "999/s"}, {27_111, "27 k/s"}, {100_000, "0.1 M/s"}, {15_226_793, "15.2 M/s"}} {
		if have := pace(c.candles); have != c.want {
			t.Errorf("pace of %v candles a second: want %s, have %s", c.candles, c.want, have)
		}
	}
}

func TestTableNamesRoundTripsOfSQN(t *testing.T) {
	t.Parallel()
	sqn := 1.5
	for _, c := range []struct {
		figures TripFigures
		trips   int
		want    string
	}{
		{TripFigures{}, 1, "–"},
		{TripFigures{SQN: &sqn, SQNTrips: 100}, 100, "1.50"},
		{TripFigures{SQN: &sqn, SQNTrips: 100}, 101, "1.50 (capped at 100 trips)"},
	} {
		if have := sqnText(&c.figures, c.trips); have != c.want {
			t.Errorf("%d round trips: want %q, have %q", c.trips, c.want, have)
		}
	}
}
