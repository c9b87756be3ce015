package tape

import (
	"bytes"
	"fmt"
	"slices"

	"botd/exchange"
)

// preview is the result of scanning the first rows before parsing. It ignores wrong rows, which
// parsing reports.
type preview struct {
	rows   int
	times  []int64 // open times, in order of the rows
	places int     // decimal places of the prices
	spanMS int64   // the first row's close time minus its open time, 0 when it has none
}

func (p *parser) preview(body []byte) (g preview) {
	const examined = 1_000 // rows
	for g.rows < examined && len(body) > 0 {
		end := bytes.IndexByte(body, '\n')
		p.fields = split(p.fields[:0], body[:end])
		body = body[end+1:]
		if len(p.fields) != len(p.layout) {
			continue
		}
		g.rows++
		g.addRow(p)
	}
	return g
}

func (g *preview) addRow(p *parser) {
	for k, c := range p.layout {
		switch text := p.fields[k]; {
		case c == openTime || c == closeTime:
			at, ok := wholeOf(text)
			if at = milliseconds(at); !ok {
				continue
			}
			if c == openTime {
				g.times = append(g.times, at)
			} else if len(g.times) == 1 && g.spanMS == 0 {
				g.spanMS = at - g.times[0]
			}
		case kinds[c] == price:
			_, fraction, _ := bytes.Cut(bytes.TrimRight(text, "0"), []byte{'.'})
			if len(fraction) > g.places {
				if _, more, ok := priceOf(text, g.places); ok {
					g.places = max(g.places, more)
				}
			}
		}
	}
}

// usual returns the most frequent distance between rows and its frequency.
func (g *preview) usual() (distanceMS int64, count int) {
	counts := map[int64]int{}
	for i := 1; i < len(g.times); i++ {
		step := g.times[i] - g.times[i-1]
		if counts[step]++; step > 0 && counts[step] > count {
			distanceMS, count = step, counts[step]
		}
	}
	return distanceMS, count
}

// interval returns the candles' interval: the requested one unless the rows contradict it,
// otherwise the usual distance between rows.
func (g *preview) interval(path string, given exchange.Interval) (exchange.Interval, error) {
	distance, count := g.usual()
	found := exchange.Interval(distance)
	known := slices.Contains(exchange.Intervals(), found)
	if !known && len(g.times) == 1 {
		found, count = exchange.Interval(g.spanMS), 1
		if found%1000 == 999 { // close times are the last millisecond or the next open
			found++
		}
		known = slices.Contains(exchange.Intervals(), found)
	}
	if !known {
		found, known = g.coarsest()
	}
	switch {
	case given == 0 && known:
		return found, nil
	case given == 0 && len(g.times) < 2:
		return 0, &DataError{Path: path, What: fmt.Sprintf("%d rows do not show the interval", len(g.times)), Hint: "set the interval, or add close_time_ms"}
	case given == 0:
		return 0, &DataError{Path: path, What: fmt.Sprintf("rows are %d ms apart, which is not an interval", distance),
			Hint: "1m, 5m, 15m, 30m, 1h, 4h, 1d or 1w"}
	case known && found != given && 2*count > len(g.times)-1 && (found < given || g.allOn(found)):
		wrong := &DataError{Path: path, What: fmt.Sprintf("the candles are of %s, not of %s", found, given),
			Hint: fmt.Sprintf("set the interval to %s, or use a file of %s", found, given)}
		if found.CheckBuilds(given) == nil {
			wrong.Finer = found
		}
		return 0, wrong
	}
	return given, nil
}

// coarsest returns the longest interval on whose grid nine in ten rows lie, for series in which
// most candles are missing.
func (g *preview) coarsest() (exchange.Interval, bool) {
	if len(g.times) < 3 {
		return 0, false
	}
	for _, interval := range slices.Backward(exchange.Intervals()) {
		if 10*g.on(interval) >= 9*len(g.times) {
			return interval, true
		}
	}
	return 0, false
}

func (g *preview) on(interval exchange.Interval) (count int) {
	for _, at := range g.times {
		if interval.OpenOf(at) == at {
			count++
		}
	}
	return count
}

func (g *preview) allOn(interval exchange.Interval) bool { return g.on(interval) == len(g.times) }
