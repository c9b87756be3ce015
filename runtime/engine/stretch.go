package engine

import (
	"botd/strategy"
)

// applyStretch applies consecutive candles, each at its own close, until one has an effect. The driver
// guarantees that nothing else happens meanwhile: no fill, no payment, no scheduled tick. The effects
// are the same as if each candle had been a separate event.
func (m *market) applyStretch(event *EventStretch) {
	s := m.seriesOf(event.Series, event.Candles.Interval)
	if len(m.legs) != 1 || len(s.legs) != 1 || !m.config.Quiet || m.limits.watching || s.legs[0].watched.subscription != (strategy.Watching{}) ||
		s.legs[0].config.Schedule != nil ||
		s.legs[0].failure.why != "" {
		m.applyOneByOne(event)
		return
	}
	s.candles = event.Candles
	leg := s.legs[0]
	end, changed := m.tick.candles(leg, s, event.From, event.To)
	s.end = end
	m.out.Consumed = s.end - event.From
	if changed && leg.failure.why == "" {
		m.tick.decided(leg)
	}
}

// applyOneByOne applies the stretch's candles as separate events.
func (m *market) applyOneByOne(event *EventStretch) {
	one := EventCandles{Series: event.Series, Candles: event.Candles}
	for i := event.From; i < event.To; i++ {
		m.nowMS = event.Candles.CloseMS(i)
		one.From, one.To = i, i+1
		m.applyCandles(&one)
		m.out.Consumed++
		if len(m.unwritten)+len(m.out.Notes)+len(m.out.Calls) > 0 {
			return
		}
	}
}
