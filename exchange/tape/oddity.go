package tape

import (
	"fmt"
	"slices"
	"time"

	"botd/exchange"
)

// Thresholds for unusual candles that violate no rule.
const (
	outlierTimes   = 20  // distance of a high or low beyond its neighbors, in usual ranges
	outlierPart    = 100 // minimum part of the price, because a quiet minute is soon exceeded
	outlierWindow  = 10  // preceding candles, whose median range is the usual one
	shortestRepeat = 3   // equal candles in a row, with a volume
	shortestSilent = 60  // candles in a row without volume, or a day of longer ones
	maxDescribed   = 20  // of each kind
)

// Oddities describes outliers, repeated candles, and stretches without volume.
func Oddities(t *Tape) []string {
	return slices.Concat(outliers(t), repeats(t), untradedStretches(t))
}

// listed collects descriptions and spells out the first twenty.
type listed struct {
	all   []string
	count int
	kind  string
}

func (l *listed) add(format string, arguments ...any) {
	if l.count++; l.count <= maxDescribed {
		l.all = append(l.all, fmt.Sprintf(format, arguments...))
	}
}

func (l *listed) done() []string {
	if l.count > maxDescribed {
		l.all = append(l.all, fmt.Sprintf("and %d more %s", l.count-maxDescribed, l.kind))
	}
	return l.all
}

func momentOf(atMS int64) string { return time.UnixMilli(atMS).UTC().Format(time.RFC3339) }

// outliers finds highs and lows far beyond the bodies of their neighbors. A lasting move has a body
// in the next candle; an outlier does not.
func outliers(t *Tape) []string {
	found, c := &listed{kind: "outliers"}, t.Candles
	ranges := make([]int64, 0, 2*outlierWindow)
	for i := range c.Len() {
		first, last := max(0, i-1), min(c.Len()-1, i+1)
		ranges = ranges[:0]
		for j := max(0, i-outlierWindow); j < min(c.Len(), max(i, outlierWindow+1)); j++ {
			if j != i {
				ranges = append(ranges, int64(c.High[j]-c.Low[j]))
			}
		}
		if len(ranges) == 0 {
			break
		}
		slices.Sort(ranges)
		reach := max(outlierTimes*ranges[len(ranges)/2], int64(c.Close[first])/outlierPart)
		top, bottom := c.Close[i], c.Close[i]
		for j := first; j <= last; j++ {
			top, bottom = max(top, c.Open[j], c.Close[j]), min(bottom, c.Open[j], c.Close[j])
		}
		if int64(c.High[i]-top) > reach {
			found.add("outlier: the candle of %s has a high of %s, and around it candles open and close at %s at most", momentOf(c.OpenMS[i]),
				t.Symbol.PriceDecimal(c.High[i]), t.Symbol.PriceDecimal(top))
		}
		if int64(bottom-c.Low[i]) > reach {
			found.add("outlier: the candle of %s has a low of %s, and around it candles open and close at %s at least", momentOf(c.OpenMS[i]),
				t.Symbol.PriceDecimal(c.Low[i]), t.Symbol.PriceDecimal(bottom))
		}
	}
	return found.done()
}

// repeats are candles that were recorded again and again: the same prices and the same volume.
func repeats(t *Tape) []string {
	found, c := &listed{kind: "repeats"}, t.Candles
	same := func(i, j int) bool {
		return c.Volume[i] > 0 && c.Open[i] == c.Open[j] && c.High[i] == c.High[j] && c.Low[i] == c.Low[j] && c.Close[i] == c.Close[j] &&
			c.Volume[i] == c.Volume[j]
	}
	for from, i := 0, 1; i <= c.Len(); i++ {
		if i < c.Len() && same(i, from) {
			continue
		}
		if i-from >= shortestRepeat {
			found.add("repeated: %d candles from %s on are the same", i-from, momentOf(c.OpenMS[from]))
		}
		from = i
	}
	return found.done()
}

// untradedStretches finds stretches without any trade.
func untradedStretches(t *Tape) []string {
	found, c := &listed{kind: "stretches without volume"}, t.Candles
	shortest := max(shortestRepeat, min(shortestSilent, int(exchange.Day1/c.Interval)))
	for from, i := -1, 0; i <= c.Len(); i++ {
		switch {
		case i < c.Len() && c.Volume[i] == 0:
			if from < 0 {
				from = i
			}
			continue
		case from >= 0 && i-from >= shortest && i-from < c.Len():
			found.add("no volume: %d candles from %s on", i-from, momentOf(c.OpenMS[from]))
		}
		from = -1
	}
	return found.done()
}
