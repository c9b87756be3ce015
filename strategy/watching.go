package strategy

import "botd/exchange"

// Watching is what a strategy wants to see besides its own candles and price.
type Watching struct {
	Funding bool               // the symbol's funding rate (futures)
	Pair    exchange.SymbolKey // another symbol that a strategy of the same account trades; zero for none
}

// Watcher is a strategy that wants to see more.
type Watcher interface {
	Watches() Watching
}

// Wrapper is a strategy around another one.
type Wrapper interface {
	Wrapped() Strategy
}

// WatchingOf returns what a strategy, or the one it wraps, wants to see.
func WatchingOf(s Strategy) Watching {
	for s != nil {
		if w, is := s.(Watcher); is {
			return w.Watches()
		}
		outer, is := s.(Wrapper)
		if !is {
			break
		}
		s = outer.Wrapped()
	}
	return Watching{}
}

// Funding is what a position on the symbol pays (interface, Funding rate).
type Funding struct {
	Rate   exchange.Rate // live: of the next payment, as it is told now; in a backtest of the last one, since nobody knew the next
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
