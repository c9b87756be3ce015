package engine

import (
	"fmt"

	"botd/exchange"
)

// candle gives the strategy one closed candle.
func (e *tick) candle(r *run, candle *exchange.Candle, end int) {
	if r.failed != "" {
		return
	}
	r.seen++
	r.view.Candle = *candle
	r.view.NowMS = candle.OpenMS + int64(r.config.Interval)
	r.view.SetHistory(r.series.candles, end)
	e.guard(r, callCandle)
}

func callCandle(r *run) { r.config.Strategy.Candle(&r.view) }

func callDecide(r *run) { r.config.Strategy.Decide(&r.view, &r.plan) }

// guard calls into the strategy. A panic stops that strategy only: its
// protection stays on the exchange.
func (e *tick) guard(r *run, call func(*run)) {
	defer func() {
		if cause := recover(); cause != nil {
			e.fail(r, fmt.Sprint(cause))
		}
	}()
	call(r)
}

// takeNext gives the strategy one closed candle and asks it, and reports whether
// its plan or its memory changes.
func (e *tick) takeNext(r *run, s *series, at, warmup int) bool {
	closes := s.candles.CloseMS(at)
	e.nowMS = closes
	s.candles.Load(at, &r.view.Candle)
	last := r.view.Candle.Close
	r.truth.Last, r.truth.Mark, r.truth.LastMS = last, last, closes
	r.seen++
	r.view.NowMS = closes
	r.view.SetHistory(s.candles, at+1)
	r.config.Strategy.Candle(&r.view)
	if r.seen < warmup {
		return false
	}
	r.lastMS = closes
	e.see(r, closes)
	r.config.Strategy.Decide(&r.view, &r.plan)
	if !r.state.Covers(&r.plan) {
		return true
	}
	if remembered := r.plan.Remembered(); len(remembered.Entries()) > 0 {
		_, changed := r.state.Memory().With(remembered)
		return changed
	}
	return false
}
