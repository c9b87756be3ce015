package engine

import (
	"fmt"

	"botd/exchange"
	"botd/strategy"
)

// Every call into a strategy stands in this file. A strategy that panics fails alone, and
// its protection stays on the exchange.

// guard calls into a strategy.
func (t *tick) guard(leg *leg, call func()) {
	defer func() {
		if cause := recover(); cause != nil {
			t.fail(leg, fmt.Sprint(cause))
		}
	}()
	call()
}

// candle gives the strategy one closed candle.
func (t *tick) candle(leg *leg, candle *exchange.Candle, end int) {
	if leg.failed != "" || t.config.Offload {
		return
	}
	leg.seen++
	leg.view.Candle = *candle
	leg.view.NowMS = candle.OpenMS + int64(leg.config.Interval)
	leg.view.SetHistory(leg.series.candles, end)
	t.guard(leg, func() { leg.config.Strategy.Candle(&leg.view) })
}

// decide brings the view up to date and asks the strategy.
func (t *tick) decide(leg *leg, nominalMS int64) {
	t.refreshView(leg, nominalMS)
	if t.measure != nil {
		defer t.measure(MeasuredCycle, leg.config.Name)()
	}
	t.guard(leg, func() { leg.config.Strategy.Decide(&leg.view, &leg.plan) })
}

// candles gives the strategy candles one by one, and asks it at the close of each until its
// plan or its memory changes. It returns one after the last candle that was given.
func (t *tick) candles(leg *leg, s *series, from, to int) (end int, changed bool) {
	warmup := leg.config.Strategy.Warmup()
	end = from
	t.guard(leg, func() {
		to := t.batch(leg, s, from, to, warmup)
		for end < to && !changed {
			end++
			changed = t.next(leg, s, end-1, warmup)
		}
	})
	return max(end, from+1), changed // a strategy that failed before the first candle has had it
}

// batch has a strategy that makes several decisions at once prepare those at the closes of candles
// of a stretch. It returns one after the last candle that can be given.
func (t *tick) batch(leg *leg, s *series, from, to, warmup int) int {
	batcher, is := leg.config.Strategy.(strategy.Batcher)
	if !is || leg.seen+1 < warmup || leg.state.Latch() != 0 { // while it is latched each decision may matter, whatever it asks for
		return to
	}
	seen := leg.view.Snapshot()
	t.refreshView(leg, leg.view.NowMS)
	view := leg.view
	leg.view = seen // the first candle is seen with the view of the decision before
	leg.version--   // and its decision with this one
	var equity func(at int) exchange.Amount
	if symbol := leg.symbol; symbol.AtVenue() != 0 {
		last, mark := symbol.Last, symbol.Mark
		defer func() { symbol.Last, symbol.Mark = last, mark }()
		equity = func(at int) exchange.Amount {
			symbol.Last, symbol.Mark = s.candles.Close[at], s.candles.Close[at]
			return t.equity(symbol.Key().Market)
		}
	}
	if end := batcher.Batch(&view, s.candles, from, to, equity); end > from {
		return end
	}
	return to
}

// next gives the strategy one closed candle, asks it, and reports whether its plan, its memory or
// what it reports to people changes.
func (t *tick) next(leg *leg, s *series, at, warmup int) bool {
	closes := s.candles.CloseMS(at)
	t.nowMS = closes
	s.candles.Load(at, &leg.view.Candle)
	last := leg.view.Candle.Close
	leg.symbol.Last, leg.symbol.Mark, leg.symbol.LastMS = last, last, closes
	leg.seen++
	leg.view.NowMS = closes
	leg.view.SetHistory(s.candles, at+1)
	leg.config.Strategy.Candle(&leg.view)
	if leg.seen < warmup {
		return false
	}
	leg.lastMS = closes
	t.refreshView(leg, closes)
	leg.config.Strategy.Decide(&leg.view, &leg.plan)
	if !leg.state.Covers(&leg.plan) || leg.state.Latch() != 0 && leg.renewal() != staysOut || len(leg.plan.Notices()) > 0 {
		return true
	}
	leg.takeLastDecision()
	if remembered := leg.plan.Remembered(); len(remembered.Entries()) > 0 {
		_, changed := leg.state.Memory().With(remembered)
		return changed
	}
	return false
}

// signalObstacle says why a strategy cannot take a signal now.
func (t *tick) signalObstacle(leg *leg) error {
	_, takes := strategy.ReceiverOf(leg.config.Strategy)
	switch {
	case !takes:
		return ErrDeaf
	case leg.failed != "":
		return ErrFailed
	case leg.symbol.Last == 0 || leg.seen < leg.config.Strategy.Warmup():
		return ErrNotYet
	}
	return nil
}

// receive has the strategy take a signal into its memory.
func (t *tick) receive(leg *leg, s *Signal) error {
	if err := t.signalObstacle(leg); err != nil {
		return err
	}
	if t.config.Offload {
		return t.received(leg, s.Reception)
	}
	receiver, _ := strategy.ReceiverOf(leg.config.Strategy)
	t.refreshView(leg, t.nowMS)
	var refused error
	t.guard(leg, func() { refused = receiver.Receive(&leg.view, &s.Signal, &leg.plan) })
	if leg.failed != "" {
		return ErrFailed
	}
	return refused
}

// rehearse asks the strategy as a tick at a time would, and leaves its answer in leg.plan.
// A failure says why the tick would stop the strategy.
func (t *tick) rehearse(leg *leg, nominalMS int64) (conditions []strategy.Condition, failure string) {
	t.refreshView(leg, nominalMS)
	defer func() {
		if cause := recover(); cause != nil {
			failure = fmt.Sprint(cause)
		}
	}()
	if conditional, is := leg.config.Strategy.(strategy.Conditional); is {
		conditions = conditional.Conditions(&leg.view)
	}
	if leg.seen >= leg.config.Strategy.Warmup() {
		leg.config.Strategy.Decide(&leg.view, &leg.plan)
		failure = leg.plan.OutOfBounds(leg.config.Symbol, leg.symbol.Last)
	}
	return conditions, failure
}
