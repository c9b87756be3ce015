package engine

import (
	"botd/exchange"
	"botd/reconcile/record"
)

// pollSeries asks for what closed since the newest candle held, or for the warm-up.
func (e *market) pollSeries(s *series) {
	s.asking, s.pollMS = true, never
	from := s.interval.OpenOf(e.nowMS) - int64(s.warmup+1)*int64(s.interval)
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
		request.Operation, request.EndMS, request.Limit = exchange.SpotCandles, e.nowMS, spotCandles
	}
	e.ask(purpose{kind: callCandles, series: s}, PriorityMarket, request)
}

// candlesAnswered takes a poll's answer: the closed candles not held yet.
func (e *market) candlesAnswered(s *series, event *EventAnswer) {
	s.asking = false
	if event.Err != nil || event.Answer.Candles == nil {
		s.pollMS = e.nowMS + pollBackoffMS
		s.failed(e.nowMS, event.Err)
		e.note("", s.runs[0].config.Symbol, NoteFetchFailed{What: "candles", Err: event.Err})
		return
	}
	s.faultMS, s.fault = 0, ""
	taken, full := e.takeClosed(s, event.Answer.Candles)
	next := s.interval.OpenOf(e.nowMS-e.config.CloseLagMS) + int64(s.interval) + e.config.CloseLagMS
	if full {
		s.pollMS = e.nowMS // the answer was a full page: more is waiting
		return
	}
	e.watchFrozen(s)
	switch {
	case s.frozen:
		s.pollMS = e.nowMS + pollBackoffMS
	case s.end > 0 && s.candles.CloseMS(s.end-1)+int64(s.interval)+e.config.CloseLagMS <= e.nowMS:
		s.pollMS = e.nowMS + pollAgainMS
	default:
		s.pollMS = next
	}
	if taken > 0 {
		e.caughtUp(s, taken)
	}
	s.begun = true
}

// takeClosed appends what is closed and new, and reports whether the page was full.
func (e *market) takeClosed(s *series, answer *exchange.Candles) (taken int, full bool) {
	polled := &exchange.Candles{Interval: s.interval}
	for i := range answer.Len() {
		candle := answer.At(i)
		closed := candle.OpenMS+int64(s.interval)+e.config.CloseLagMS <= e.nowMS
		if !closed || s.end > 0 && candle.OpenMS <= s.candles.OpenMS[s.end-1] {
			continue
		}
		if s.end > 0 {
			if missing := (candle.OpenMS-s.candles.OpenMS[s.end-1])/int64(s.interval) - 1; missing > 0 {
				e.note("", s.runs[0].config.Symbol, NoteGap{int(missing)})
			}
		}
		s.trim()
		s.candles.Append(candle)
		polled.Append(candle)
		s.end++
		before := s.runs[0].truth.LastMS
		last, mark := s.runs[0].truth.Last, s.runs[0].truth.Mark
		e.takeOne(s, s.end-1)
		if truth := s.runs[0].truth; before > truth.LastMS {
			truth.Last, truth.Mark, truth.LastMS = last, mark, before // a ticker told a newer price
		}
		e.follow(s)
		taken++
	}
	if taken > 0 && !e.config.Quiet {
		e.note("", s.runs[0].config.Symbol, NoteCandles{polled})
	}
	limit := futuresCandles
	if s.key.Market == exchange.Spot {
		limit = spotCandles
	}
	return taken, answer.Len() >= limit
}

// follow asks each strategy at every candle of an answer, and notes since when it has
// had its target, so that an entry decided long ago is not made late.
func (e *market) follow(s *series) {
	nominal := s.candles.CloseMS(s.end - 1)
	for _, r := range s.runs {
		if !r.decidesByCandle() || r.failed != "" {
			continue
		}
		e.tick.decide(r, nominal)
		if r.plan.Target != r.wished {
			r.wished, r.wishedMS = r.plan.Target, nominal
		}
	}
}

// caughtUp ends a poll's catch-up: of the plans that were followed only the last
// counts; exits stand, entries older than one interval lapse.
func (e *market) caughtUp(s *series, taken int) {
	nominal := s.candles.CloseMS(s.end - 1)
	if taken > 1 && s.begun {
		e.note("", s.runs[0].config.Symbol, NoteMissed{taken - 1, "candles came late; only the last decides"})
	}
	for _, r := range s.runs {
		if !r.decidesByCandle() {
			continue
		}
		before := r.state.Plan().Target
		if r.failed == "" {
			r.lastMS = nominal
			e.tick.decided(r)
		}
		sign := r.state.Plan().Target.Sign()
		if taken > 1 && sign != 0 && before != r.state.Plan().Target && r.wishedMS < nominal && r.state.Latch() != sign && r.truth.Known() == 0 {
			e.record(record.Record{Strategy: r.config.Name, Body: record.Latch{Side: sign}})
			e.note(r.config.Name, r.config.Symbol, NoteLatch{Side: sign, Why: "the entry was decided more than one candle ago and lapses"})
		}
	}
}

// takeCandles takes candles the driver feeds: the columns are the tape's own.
func (e *market) takeCandles(event *EventCandles) {
	for _, s := range e.series {
		if s.key != event.Series || s.interval != event.Candles.Interval {
			continue
		}
		s.candles = event.Candles
		for i := event.From; i < event.To; i++ {
			e.takeOne(s, i)
		}
		s.end = event.To
		e.lookAround()
		e.limits.watchLimits(false)
		e.ticked(s, event.To-event.From)
	}
}

func (e *market) takeOne(s *series, i int) {
	candle := s.candles.At(i)
	truth := s.runs[0].truth
	truth.Last, truth.Mark, truth.LastMS = candle.Close, candle.Close, candle.OpenMS+int64(s.interval)
	for _, r := range s.runs {
		e.tick.candle(r, &candle, i+1)
	}
	if !e.config.Quiet && candle.OpenMS+2*int64(s.interval)+e.config.CloseLagMS > e.nowMS { // those of the warm-up are no news
		e.note("", s.runs[0].config.Symbol, NoteCandle{candle})
	}
}

// ticked asks the strategies that decide once per closed candle.
func (e *market) ticked(s *series, taken int) {
	if taken == 0 {
		return
	}
	nominal := s.candles.CloseMS(s.end - 1)
	for _, r := range s.runs {
		if r.decidesByCandle() {
			e.tick.tick(r, nominal)
		}
	}
}
