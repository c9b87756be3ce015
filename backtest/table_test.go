package backtest

import "testing"

func TestThePaceIsShownInAFittingUnit(t *testing.T) {
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
