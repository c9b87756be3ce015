package engine

import (
	"fmt"

	"botd/exchange"
	"botd/strategy"
)

// Strategies are called only through guard, rehearse and Reception.Answer, which recover panics: a panic
// fails only its own strategy, and the protection stays on the exchange.

// guard calls into a strategy and recovers its panics.
func (t *tick) guard(leg *leg, call func()) {
	defer func() {
		if cause := recover(); cause != nil {
			t.fail(leg, fmt.Sprint(cause))
		}
	}()
	call()
}

// candle passes one closed candle to the strategy.
func (t *tick) candle(leg *leg, candles *exchange.Candles, at int) {
	if leg.failure.why != "" || t.config.Offload {
		return
	}
	t.guard(leg, func() { leg.passCandles(candles, at, at+1) })
}

// decide updates the view and calls the strategy.
func (t *tick) decide(leg *leg, nominalMS int64) {
	t.refreshView(leg, nominalMS)
	if t.measure != nil {
		defer t.measure(MeasuredDecision, leg.config.Name)()
	}
	t.guard(leg, leg.ask)
}

// candles passes candles to the strategy and calls it at their closes until its plan, its memory or its
// notices change. It returns the index after the last candle passed.
func (t *tick) candles(leg *leg, s *series, from, to int) (end int, changed bool) {
	warmup := leg.config.Strategy.Warmup()
	end = from
	t.guard(leg, func() {
		to := t.batch(leg, s, from, to, warmup)
		for end < to && !changed {
			end, changed = t.next(leg, s, end, to, warmup)
		}
	})
	return max(end, from+1), changed // a strategy that failed before the first candle has received it
}

// batch lets a strategy that prepares several decisions at once do so for the closes of a stretch of
// candles. It returns the index after the last candle that can be passed.
func (t *tick) batch(leg *leg, s *series, from, to, warmup int) int {
	batcher, is := leg.config.Strategy.(strategy.Batcher)
	if !is || leg.schedule.seen+1 < warmup || leg.state.Latch() != 0 { // while it is latched, every decision may matter
		return to
	}
	seen := leg.view.Snapshot()
	t.refreshView(leg, leg.view.NowMS)
	view := leg.view
	leg.view = seen          // the first candle uses the view of the previous decision
	leg.viewSource.version-- // and its decision uses this one
	var equity func(at int) exchange.Amount
	if symbol := leg.symbol; symbol.AtVenue() != 0 {
		last, mark, priceMS := symbol.Last(), symbol.Mark(), symbol.LastMS()
		defer func() { symbol.SetPrice(last, mark, priceMS) }()
		equity = func(at int) exchange.Amount {
			symbol.SetPrice(s.candles.Close[at], s.candles.Close[at], priceMS)
			return t.equity(symbol.Key().Market)
		}
	}
	if end := batcher.Batch(&view, s.candles, from, to, equity); end > from {
		return end
	}
	return to
}

// next passes one closed candle to the strategy, or as many as it takes by columns, and calls it. It
// reports whether the plan, the memory or the notices change, and returns the index after the last candle.
func (t *tick) next(leg *leg, s *series, from, to, warmup int) (end int, changed bool) {
	if leg.state.Latch() != 0 { // while it is latched, every decision may matter
		to = from + 1
	}
	end = leg.passCandles(s.candles, from, to)
	last, closes := s.candles.Close[end-1], s.candles.CloseMS(end-1)
	t.nowMS = closes
	leg.symbol.SetPrice(last, last, closes)
	if leg.schedule.seen < warmup {
		return end, false
	}
	leg.schedule.lastMS = closes
	if !leg.decisionUnchanged() {
		t.refreshView(leg, closes)
		leg.ask()
	}
	return end, t.changes(leg)
}

// changes reports whether the decision in leg.plan changes something.
func (t *tick) changes(leg *leg) bool {
	if !leg.state.Plan().Covers(&leg.plan) || leg.state.Latch() != 0 && leg.renewal() != staysOut || len(leg.plan.Notices()) > 0 {
		return true
	}
	leg.rememberDecision()
	if remembered := leg.plan.Remembered(); remembered.Len() > 0 {
		_, changed := leg.state.Memory().With(remembered)
		return changed
	}
	return false
}

// signalObstacle returns why a strategy cannot accept a signal now.
func (t *tick) signalObstacle(leg *leg) error {
	_, takes := strategy.ReceiverOf(leg.config.Strategy)
	switch {
	case !takes:
		return ErrNoSignals
	case leg.failure.why != "":
		return ErrFailed
	case leg.symbol.Last() == 0 || leg.schedule.seen < leg.config.Strategy.Warmup():
		return ErrNotReady
	}
	return nil
}

// receive has the strategy store a signal in its memory.
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
	if leg.failure.why != "" {
		return ErrFailed
	}
	return refused
}

// rehearse calls the strategy as a tick at a given time would, and leaves its decision in leg.plan.
// failure is the reason for which the tick would stop the strategy.
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
	if leg.schedule.seen >= leg.config.Strategy.Warmup() {
		leg.config.Strategy.Decide(&leg.view, &leg.plan)
		failure = leg.plan.OutOfBounds(leg.config.Symbol, leg.symbol.Last())
	}
	return conditions, failure
}
