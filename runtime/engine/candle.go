package engine

import (
	"botd/exchange"
)

// applyCandlePrice applies the newest candle's price unless a ticker's price is newer.
func (m *market) applyCandlePrice(s *series) {
	state := s.state()
	if state == nil {
		m.applyCandle(s, s.end-1)
		return
	}
	last, mark, before := state.Last(), state.Mark(), state.LastMS()
	m.applyCandle(s, s.end-1)
	if before > state.LastMS() {
		state.SetPrice(last, mark, before)
	}
}

// follow calls each strategy at every candle of an answer and records since when the strategy has had
// its target, so that an old entry decision is not executed late.
func (m *market) follow(s *series) {
	nominal := s.candles.CloseMS(s.end - 1)
	for _, leg := range s.legs {
		if !leg.decidesByCandle() || leg.failure.why != "" || m.config.Offload {
			continue
		}
		m.tick.decide(leg, nominal)
		if leg.plan.Target != leg.decision.candleTarget {
			leg.decision.candleTarget, leg.decision.candleTargetMS = leg.plan.Target, nominal
		}
	}
}

// applyCandles applies candles fed by the driver: the columns belong to the tape.
func (m *market) applyCandles(event *EventCandles) {
	s := m.fed(event.Series, event.Candles.Interval)
	if s == nil {
		return
	}
	s.candles = event.Candles
	for i := event.From; i < event.To; i++ {
		m.applyCandle(s, i)
	}
	s.end = event.To
	m.pollFunding()
	m.limits.watchLimits(false)
	m.ticked(s, event.To-event.From)
}

// fed returns the series that the driver feeds; nil for one that nobody reads. A driver usually feeds all series in turn.
func (m *market) fed(key exchange.SymbolKey, interval exchange.Interval) *series {
	for range m.series {
		if m.feeding++; m.feeding >= len(m.series) {
			m.feeding = 0
		}
		if s := m.series[m.feeding]; s.key == key && s.interval == interval {
			return s
		}
	}
	return nil
}

func (m *market) applyCandle(s *series, i int) {
	last, closes := s.candles.Close[i], s.candles.CloseMS(i)
	if state := s.state(); state != nil {
		state.SetPrice(last, last, closes)
	}
	for _, leg := range s.legs {
		if len(leg.others) == 0 {
			m.tick.candle(leg, s.candles, i)
		}
	}
	if !m.config.Quiet && closes+int64(s.interval)+m.config.CloseLagMS > m.nowMS { // candles of the warm-up are not reported
		m.note("", s.symbol, NoteCandle{s.candles.At(i)})
	}
}

// ticked calls the strategies that decide once per closed candle.
func (m *market) ticked(s *series, arrived int) {
	if arrived == 0 {
		return
	}
	nominal := s.candles.CloseMS(s.end - 1)
	for _, leg := range s.legs {
		if leg.decidesByCandle() {
			m.tick.run(leg, nominal)
		}
	}
}
