package engine

import (
	"fmt"

	"botd/exchange"
	"botd/reconcile"
	"botd/strategy"
)

// fundingEveryMS is how often a funding rate is read while somebody watches it.
const fundingEveryMS = 60_000

// watching is what one strategy sees besides its own symbol's candles.
type watching struct {
	wanted    strategy.Watching
	pair      *reconcile.SymbolState
	fundingMS int64 // when to read the rate next; never when it is not watched
	asking    bool
	next      exchange.Rate // told last as the next payment's; in a backtest it is shown once it was paid
	told      bool
}

// watchFor finds what a strategy wants to see. The pair must be traded by the
// account, or nothing would be known of it.
func (e *roster) watchFor(r *run) error {
	before := r.around
	r.around = watching{wanted: strategy.WatchingOf(r.config.Strategy), fundingMS: never}
	if r.around.wanted == before.wanted && before != (watching{}) {
		r.around = before
		return nil
	}
	if r.around.wanted.Funding && r.truth.Key().Market == exchange.Futures {
		r.around.fundingMS = 0
	}
	key := r.around.wanted.Pair
	if key == (exchange.SymbolKey{}) {
		return nil
	}
	if e.runOn(key) != nil {
		r.around.pair = e.book.Symbol(key)
		return nil
	}
	return fmt.Errorf("strategy %s watches %s, which no strategy of the account trades", r.config.Name, key)
}

// lookAround asks for the funding rates that are due.
func (e *market) lookAround() {
	for _, r := range e.runs {
		if r.around.fundingMS <= e.nowMS && !r.around.asking {
			r.around.asking = true
			e.ask(purpose{kind: callFunding, run: r}, PriorityMarket, exchange.Request{Operation: exchange.FuturesFundingRate, Symbol: r.truth.Key().Name})
		}
	}
}

// fundingAnswered takes a rate. In a backtest the exchange knows what it will
// charge, which nobody knew then: it is shown when it has been paid.
func (e *market) fundingAnswered(r *run, event *EventAnswer) {
	a := &r.around
	a.asking, a.fundingMS = false, e.nowMS+fundingEveryMS
	if event.Err != nil {
		e.note("", r.config.Symbol, NoteFetchFailed{What: "funding rate", Err: event.Err})
		return
	}
	told := &event.Answer.Funding
	shown, known := told.Rate, true
	if e.config.Feed {
		shown, known = a.next, a.told
		a.fundingMS = told.NextMS
	}
	a.next, a.told = told.Rate, true
	r.view.Funding = strategy.Funding{Rate: shown, NextMS: told.NextMS, Known: known}
}

// seeAround shows the pair.
func (r *run) seeAround() {
	truth := r.around.pair
	if truth == nil {
		return
	}
	r.view.Pair = strategy.Pair{Symbol: truth.Rules, Position: truth.Position, Last: truth.Last, Known: truth.Rules != nil && truth.Last > 0 && truth.Settled}
}
