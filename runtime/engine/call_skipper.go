package engine

import (
	"botd/exchange"
	"botd/strategy"
)

// callSkipper skips calls to strategies of a backtest that report that a candle changed nothing: the plan of their last decision stays in force.
type callSkipper struct {
	strategy strategy.Steady // nil if the strategy does not support it, receives more than candles, or runs live
	passer   strategy.Passer // nil in the same cases
	decided  int             // candles seen at the decision in leg.plan, or at the last decision that left it unchanged; 0 for none
}

// steadyOf returns the capabilities of a strategy that allow calls to be skipped.
func steadyOf(s strategy.Strategy) (found callSkipper) {
	_, receives := strategy.ReceiverOf(s)
	if receives || strategy.FollowerOf(s) != nil || strategy.WatchingOf(s) != (strategy.Watching{}) {
		return found
	}
	found.strategy, _ = s.(strategy.Steady)
	found.passer, _ = s.(strategy.Passer)
	return found
}

// passCandles passes closed candles to the strategy: one or, if it takes them by columns, all up to the first that changes something. It returns the index
// after the last candle passed.
func (leg *leg) passCandles(candles *exchange.Candles, from, to int) (end int) {
	s := &leg.steady
	if s.passer == nil || s.decided == 0 || s.decided != leg.schedule.seen {
		leg.schedule.seen++
		leg.show(candles, from)
		leg.config.Strategy.Candle(&leg.view)
		return from + 1
	}
	end = s.passer.Pass(candles, from, to)
	if leg.schedule.seen += end - from; s.passer.Stays() { // nobody reads the view
		s.decided = leg.schedule.seen
	} else {
		leg.show(candles, end-1)
	}
	return end
}

// show makes a candle the newest of the view.
func (leg *leg) show(candles *exchange.Candles, at int) {
	leg.view.NowMS = candles.OpenMS[at] + int64(leg.config.Interval)
	leg.view.SetHistory(candles, at+1)
}

// decisionUnchanged reports whether a decision now would equal the one in leg.plan.
func (leg *leg) decisionUnchanged() bool {
	s := &leg.steady
	if s.decided == 0 || leg.schedule.seen-s.decided > 1 || !s.strategy.Stays() {
		return false
	}
	s.decided = leg.schedule.seen
	return true
}

// ask calls the strategy, whose view is up to date and whose plan is empty.
func (leg *leg) ask() {
	leg.config.Strategy.Decide(&leg.view, &leg.plan)
	if leg.steady.strategy != nil && len(leg.plan.Notices()) == 0 && leg.plan.Remembered().Len() == 0 {
		leg.steady.decided = leg.schedule.seen
	}
}
