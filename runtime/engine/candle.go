package engine

import (
	"botd/exchange"
)

// poll requests the due candles and, each minute, the symbols' rules.
func (m *market) poll() {
	for _, s := range m.series {
		if s.pollMS <= m.nowMS && !s.asking {
			m.pollSeries(s)
		}
	}
	if m.rulesMS <= m.nowMS {
		m.rulesMS = m.nowMS + rulesEveryMS
		m.pollRules()
	}
}

// pollSeries requests the candles closed since the newest stored one, or those for the warm-up.
func (m *market) pollSeries(s *series) {
	s.asking, s.pollMS = true, never
	from := s.interval.OpenOf(m.nowMS) - int64(s.warmup+1)*int64(s.interval)
	if s.end > 0 {
		from = s.candles.OpenMS[s.end-1] + int64(s.interval)
	}
	request := exchange.Request{
		Operation: exchange.FuturesCandles,
		Symbol:    s.key.Name,
		Interval:  s.interval,
		StartMS:   max(0, from),
		Limit:     futuresCandles,
	}
	if s.key.Market == exchange.Spot {
		request.Operation, request.EndMS, request.Limit = exchange.SpotCandles, m.nowMS, spotCandles
	}
	m.ask(purpose{kind: callCandles, series: s}, PriorityMarket, request)
}

// takePolled applies a poll's answer: the new closed candles.
func (m *market) takePolled(s *series, event *EventAnswer) {
	s.asking = false
	if event.Err != nil || event.Answer.Candles == nil {
		s.pollMS = m.nowMS + pollBackoffMS
		s.failed(m.nowMS, event.Err)
		m.note("", s.symbol, NoteFetchFailed{What: "candles", Err: event.Err})
		return
	}
	s.faultMS, s.fault = 0, ""
	taken, full := m.takeClosed(s, event.Answer.Candles)
	next := s.interval.OpenOf(m.nowMS-m.config.CloseLagMS) + int64(s.interval) + m.config.CloseLagMS
	if full {
		s.pollMS = m.nowMS // the answer was a full page: there is more
		return
	}
	m.watchFrozen(s)
	switch {
	case s.frozen:
		s.pollMS = m.nowMS + pollBackoffMS
	case s.end > 0 && s.candles.CloseMS(s.end-1)+int64(s.interval)+m.config.CloseLagMS <= m.nowMS:
		s.pollMS = m.nowMS + pollAgainMS
	default:
		s.pollMS = next
	}
	if taken > 0 {
		m.caughtUp(s, taken)
	}
	s.begun = true
}

// takeClosed appends the new closed candles and reports whether the page was full.
func (m *market) takeClosed(s *series, answer *exchange.Candles) (taken int, full bool) {
	polled := &exchange.Candles{Interval: s.interval}
	if state := s.state(); state != nil {
		s.price, s.priceMS = state.Last(), state.LastMS()
	}
	for i := range answer.Len() {
		candle := answer.At(i)
		closed := candle.OpenMS+int64(s.interval)+m.config.CloseLagMS <= m.nowMS
		if !closed || s.end > 0 && candle.OpenMS <= s.candles.OpenMS[s.end-1] {
			continue
		}
		if s.end > 0 {
			if missing := (candle.OpenMS-s.candles.OpenMS[s.end-1])/int64(s.interval) - 1; missing > 0 {
				m.note("", s.symbol, NoteGap{int(missing)})
			}
		}
		s.trim()
		s.candles.Append(candle)
		polled.Append(candle)
		s.end++
		m.takeCandlePrice(s)
		m.follow(s)
		taken++
	}
	if taken > 0 && !m.config.Quiet {
		m.note("", s.symbol, NoteCandles{polled})
	}
	limit := futuresCandles
	if s.key.Market == exchange.Spot {
		limit = spotCandles
	}
	return taken, answer.Len() >= limit
}

// takeCandlePrice applies the newest candle's price unless a ticker's price is newer.
func (m *market) takeCandlePrice(s *series) {
	state := s.state()
	if state == nil {
		m.takeOne(s, s.end-1)
		return
	}
	last, mark, before := state.Last(), state.Mark(), state.LastMS()
	m.takeOne(s, s.end-1)
	if before > state.LastMS() {
		state.SetPrice(last, mark, before)
	}
}

// follow calls each strategy at every candle of an answer and records since when it has had its
// target, so that an old entry decision is not executed late.
func (m *market) follow(s *series) {
	nominal := s.candles.CloseMS(s.end - 1)
	for _, leg := range s.legs {
		if !leg.decidesByCandle() || leg.failed != "" || m.config.Offload {
			continue
		}
		m.tick.decide(leg, nominal)
		if leg.plan.Target != leg.candleTarget {
			leg.candleTarget, leg.candleTargetMS = leg.plan.Target, nominal
		}
	}
}

// caughtUp ends a poll's catch-up: only the last of the followed plans takes effect; exits stay,
// and entries older than one interval lapse.
func (m *market) caughtUp(s *series, taken int) {
	nominal := s.candles.CloseMS(s.end - 1)
	if taken > 1 && s.begun {
		m.note("", s.symbol, NoteMissed{taken - 1, "candles came late; only the last decides"})
	}
	if m.config.Rehearse {
		m.tick.catchUp(s)
	}
	for _, leg := range s.legs {
		if m.config.Offload {
			leg.question.taken += taken
			m.tick.inquire(leg)
			continue
		}
		if !leg.decidesByCandle() {
			continue
		}
		before := leg.state.Plan().Target
		if leg.failed == "" {
			leg.lastMS = nominal
			m.tick.decided(leg)
		}
		m.tick.lapse(leg, before, taken, nominal)
	}
	for _, leg := range s.readers {
		m.tick.inquireRead(leg) // it may have been waiting for these
	}
}

// takeCandles applies candles fed by the driver: the columns belong to the tape.
func (m *market) takeCandles(event *EventCandles) {
	s := m.fed(event.Series, event.Candles.Interval)
	if s == nil {
		return
	}
	s.candles = event.Candles
	for i := event.From; i < event.To; i++ {
		m.takeOne(s, i)
	}
	s.end = event.To
	m.pollFunding()
	m.limits.watchLimits(false)
	m.ticked(s, event.To-event.From)
}

// fed returns the series that the driver feeds; nil for one that nobody reads. A driver mostly feeds all of them in turn.
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

func (m *market) takeOne(s *series, i int) {
	last, closes := s.candles.Close[i], s.candles.CloseMS(i)
	if state := s.state(); state != nil {
		state.SetPrice(last, last, closes)
	}
	for _, leg := range s.legs {
		if len(leg.others) == 0 {
			m.tick.candle(leg, s.candles, i)
		}
	}
	if !m.config.Quiet && closes+int64(s.interval)+m.config.CloseLagMS > m.nowMS { // warm-up candles are not reported
		m.note("", s.symbol, NoteCandle{s.candles.At(i)})
	}
}

// ticked calls the strategies that decide once per closed candle.
func (m *market) ticked(s *series, taken int) {
	if taken == 0 {
		return
	}
	nominal := s.candles.CloseMS(s.end - 1)
	for _, leg := range s.legs {
		if leg.decidesByCandle() {
			m.tick.run(leg, nominal)
		}
	}
}
