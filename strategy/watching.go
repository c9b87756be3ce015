package strategy

import "botd/exchange"

// Watching is what a strategy needs to see besides its own candles and price.
type Watching struct {
	Funding bool               // the symbol's funding rate (futures)
	Pair    exchange.SymbolKey // another symbol that a strategy of the same account trades; zero for none
	Events  bool               // what happened to its orders since its last decision
	Book    bool               // the top of the symbol's order book
	Funds   bool               // what the free money pays for
}

// Watcher is a strategy that needs to see more.
type Watcher interface {
	Watches() Watching
}

// Wrapper is a strategy around another one.
type Wrapper interface {
	Wrapped() Strategy
}

// Rester is a strategy that keeps reducing orders in the book (Plan.Exits) while it holds something.
type Rester interface {
	RestsExits() bool
}

// RestsExits reports whether a strategy, or the one it wraps, keeps reducing orders in the book. On
// spot they hold the asset that a stop would sell: the two exclude each other there.
func RestsExits(s Strategy) bool {
	r, is := as[Rester](s)
	return is && r.RestsExits()
}

// ProfitTaker is a strategy whose plans may set take-profits of their own. On spot, which has no such orders, they
// are kept by sales at their prices.
type ProfitTaker interface {
	TakesProfit() bool
}

// TakesProfit reports whether a strategy, or the one it wraps, may set take-profits of its own.
func TakesProfit(s Strategy) bool {
	p, is := as[ProfitTaker](s)
	return is && p.TakesProfit()
}

// Starter is a strategy whose first answer waits for something to start, such as the interpreter of a program.
type Starter interface {
	StartMS() int64
}

// StartMS is how long a strategy, or the one it wraps, may take to start.
func StartMS(s Strategy) int64 {
	if starter, is := as[Starter](s); is {
		return starter.StartMS()
	}
	return 0
}

// WatchingOf returns what a strategy, or the one it wraps, needs to see.
func WatchingOf(s Strategy) Watching {
	if w, is := as[Watcher](s); is {
		return w.Watches()
	}
	return Watching{}
}

// as is the first of a strategy and those that it wraps which is a T.
func as[T any](s Strategy) (found T, is bool) {
	for s != nil {
		if found, is = s.(T); is {
			return found, true
		}
		outer, wraps := s.(Wrapper)
		if !wraps {
			break
		}
		s = outer.Wrapped()
	}
	return found, false
}

// Funding is the funding rate of the symbol (interface, Funding rate).
type Funding struct {
	Rate   exchange.Rate // live: the announced rate of the next payment; in a backtest: the rate of the last payment, since the next was not known
	NextMS int64         // when the next payment is due
	Known  bool
}

// Pair is the other symbol a strategy watches, as the account holds it.
type Pair struct {
	Symbol   *exchange.Symbol
	Position exchange.Quantity // signed, in the pair's own scale
	Last     exchange.Price
	Known    bool // its price is known and its orders are settled
}
