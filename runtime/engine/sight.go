package engine

import (
	"botd/exchange"
	"botd/reconcile"
	"botd/strategy"
)

// watching is what one strategy sees besides its own symbol's candles.
type watching struct {
	wanted    strategy.Watching
	pair      *reconcile.SymbolState
	fundingMS int64 // when to read the rate next; never when it is not watched
	asking    bool
	next      exchange.Rate // told last as the next payment's; in a backtest it is shown once it was paid
	told      bool
}

// see brings the view up to date and empties the plan.
func (e *tick) see(r *run, nominalMS int64) {
	r.view.NowMS, r.view.Last = nominalMS, r.truth.Last
	if r.version != e.book.Version() {
		e.fillView(r)
	} else {
		r.view.Equity = e.equity(r.truth.Key().Market)
	}
	r.seeAround()
	r.plan.Reset()
}

// fillView copies what the strategy may see of the book.
func (e *tick) fillView(r *run) {
	r.version = e.book.Version()
	r.view.Version = r.version + 1
	r.view.Position = strategy.Position{Quantity: r.truth.Position, EntryPrice: r.truth.EntryPrice, SinceMS: r.truth.SinceMS}
	r.view.Equity = e.equity(r.truth.Key().Market)
	r.view.Memory = r.state.Memory()
	r.working = r.working[:0]
	for _, p := range e.book.Live() {
		if p.Strategy() == r.config.Name {
			r.working = append(r.working, strategy.WorkingOrder{Key: p.Key(), Side: p.Order().Side, Type: p.Order().Type, Price: p.Order().Price,
				StopPrice: p.Order().StopPrice, Quantity: p.Order().Quantity, Filled: p.Filled()})
		}
	}
	r.view.Working = r.working
	r.fills = r.fills[:0]
	for key, filled := range r.state.Fills() {
		r.fills = append(r.fills, strategy.KeyFill{Key: key, Quantity: filled})
	}
	r.view.Fills = r.fills
}

// seeAround shows the pair.
func (r *run) seeAround() {
	truth := r.around.pair
	if truth == nil {
		return
	}
	r.view.Pair = strategy.Pair{
		Symbol:   truth.Rules,
		Position: truth.Position,
		Last:     truth.Last,
		Known:    truth.Rules != nil && truth.Last > 0 && truth.Settled,
	}
}
