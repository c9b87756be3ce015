package backtest

import (
	"math"
	"sort"
)

// Limits of the candles that are searched for a stretch: few where events are frequent.
const (
	minStretch = 16
	maxStretch = 4_096
)

// stretch passes uneventful candles of the only series, up to and including the first one at whose close the strategy
// changes its plan. It returns their number, or 0 for fewer than two.
func (r *run) stretch(l *leg) int {
	to := r.quietUntil(l)
	if to-l.at < 2 {
		r.reach = minStretch
		return 0
	}
	l.stretch.From, l.stretch.To = l.at, to
	r.effects.Reset()
	r.machine.Handle(l.candles.CloseMS(to-1), &l.stretch, &r.effects)
	taken := r.effects.Consumed
	if r.reach = min(2*r.reach, maxStretch); l.at+taken < to {
		r.reach = max(minStretch, 2*taken)
	}
	last := l.at + taken - 1
	closes := l.candles.CloseMS(last)
	l.seat.SkipTo(closes-1, l.candles.Close[last])
	r.ledger.markCalm(l, last)
	r.decided(closes)
	r.ledger.mark(closes)
	l.at++
	r.nowMS = closes
	return taken
}

// quietUntil returns one after the last candle, from the current one on, in which neither the exchange nor a schedule has
// anything to do.
func (r *run) quietUntil(l *leg) int {
	floor, ceiling, beforeMS, apart := l.seat.Bounds()
	if _, _, trails := r.machine.Trails(l.key); !apart || r.config.walk || trails {
		return l.at
	}
	candles := l.candles
	to := min(l.at+r.reach, candles.Len())
	if r.config.StopWhen != (StopWhen{}) {
		to = min(to, l.at-l.at%progress+progress) // where it is judged
	}
	// A close may coincide with a wake-up, but none may lie after it.
	untilMS := min(beforeMS, r.machine.NextMS(), r.signalMS())
	if to > l.at && candles.CloseMS(to-1) > untilMS {
		opens := candles.OpenMS[l.at:to]
		to = l.at + sort.Search(len(opens), func(i int) bool { return opens[i]+int64(candles.Interval) > untilMS })
	}
	if floor == 0 && ceiling == math.MaxInt64 {
		return to // no order and no position: no price matters
	}
	lows, highs := candles.Low[l.at:to], candles.High[l.at:to]
	for i, low := range lows {
		if low <= floor || highs[i] >= ceiling {
			return l.at + i
		}
	}
	return to
}
