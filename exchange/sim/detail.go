package sim

import "botd/exchange"

// detail is a finer series in addition to the candles, with the candles that it covers completely.
type detail struct {
	candles *exchange.Candles
	from    []int // by candle: index of its first bar, or -1
	bars    int   // in a candle
}

// newDetail finds the candles that the finer series covers without a gap.
func newDetail(candles, finer *exchange.Candles) *detail {
	if finer.Interval >= candles.Interval || candles.Interval%finer.Interval != 0 {
		return nil
	}
	d := &detail{candles: finer, from: make([]int, candles.Len()), bars: int(candles.Interval / finer.Interval)}
	at := 0
	for i, openMS := range candles.OpenMS {
		for at < finer.Len() && finer.OpenMS[at] < openMS {
			at++
		}
		d.from[i] = -1
		if last := at + d.bars - 1; last < finer.Len() && finer.OpenMS[at] == openMS && finer.CloseMS(last) == candles.CloseMS(i) {
			d.from[i] = at
		}
	}
	return d
}

func (d *detail) covers(candle int) bool { return d != nil && d.from[candle] >= 0 }

func (d *detail) barsOf(candle int) int {
	if d.covers(candle) {
		return d.bars
	}
	return 1
}
