package engine

import (
	"botd/strategy"
)

// takeStretch takes candles that follow each other, each at its own close, until
// anything comes of one. The driver vouches that nothing else happens meanwhile:
// no fill, no payment, no tick by schedule. What comes of it is what would have
// come had each candle been an event of its own.
func (e *market) takeStretch(event *EventStretch) {
	s := e.seriesOf(event.Series, event.Candles.Interval)
	if len(e.runs) != 1 || len(s.runs) != 1 || !e.config.Quiet || e.limits.watching || s.runs[0].around.wanted != (strategy.Watching{}) ||
		s.runs[0].config.Schedule != nil ||
		s.runs[0].failed != "" {
		e.takeEach(event)
		return
	}
	s.candles = event.Candles
	r, at, changed := s.runs[0], event.From, false
	warmup := r.config.Strategy.Warmup()
	e.tick.guard(r, func(r *run) { // a panic stops the strategy at its candle
		for ; at < event.To; at++ {
			if changed = e.tick.takeNext(r, s, at, warmup); changed {
				return
			}
		}
	})
	s.end = min(at+1, event.To)
	e.out.Taken = s.end - event.From
	if changed && r.failed == "" {
		e.tick.decided(r)
	}
}

// takeEach takes the stretch's candles as events of their own.
func (e *market) takeEach(event *EventStretch) {
	one := EventCandles{Series: event.Series, Candles: event.Candles}
	for i := event.From; i < event.To; i++ {
		e.nowMS = event.Candles.CloseMS(i)
		one.From, one.To = i, i+1
		e.takeCandles(&one)
		e.out.Taken++
		if len(e.unwritten)+len(e.out.Notes)+len(e.out.Calls) > 0 {
			return
		}
	}
}
