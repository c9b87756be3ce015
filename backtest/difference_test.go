package backtest

import "testing"

// TestEachDifferenceOfDecisionsIsFound covers every way in which decisions on all candles and on those up to a
// cut can differ: a missing one, an additional one, and a different one.
func TestEachDifferenceOfDecisionsIsFound(t *testing.T) {
	t.Parallel()
	long, short, late := decision{"s", 100, "long"}, decision{"s", 100, "short"}, decision{"s", 200, "long"}
	for _, c := range []struct {
		what           string
		whole, without []decision
		differs        bool
		has, lacks     string
		atMS           int64
	}{
		{"the same", []decision{long, late}, []decision{long, late}, false, "", "", 0},
		{"no decision at all", nil, nil, false, "", "", 0},
		{"one after the cut", []decision{long, {"s", 301, "flat"}}, []decision{long}, false, "", "", 0},
		{"another plan", []decision{long}, []decision{short}, true, "long", "short", 100},
		{"one at the cut that is missing", []decision{long, {"s", 300, "flat"}}, []decision{long}, true, "flat", none, 300},
		{"one that the cut run makes too", []decision{long}, []decision{long, late}, true, none, "long", 200},
		{"one that comes earlier on all candles", []decision{long}, []decision{late}, true, "long", none, 100},
		{"one that comes later on all candles", []decision{late}, []decision{short}, true, none, "short", 100},
	} {
		d, differs := firstDifference(c.whole, c.without, 300)
		if differs != c.differs || differs && (d.With != c.has || d.Without != c.lacks || d.At.UnixMilli() != c.atMS || d.Strategy != "s") {
			t.Errorf("%s: want %v with %q and %q at %d, have %v, %+v", c.what, c.differs, c.has, c.lacks, c.atMS, differs, d)
		}
	}
}
