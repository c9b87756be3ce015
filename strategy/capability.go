package strategy

import "botd/exchange"

// Watching lists the data that a strategy needs besides its own candles and price.
type Watching struct {
	Funding   bool               // the symbol's funding rate (futures)
	Pair      exchange.SymbolKey // another symbol that a strategy of the same account trades; zero for none
	Events    bool               // events of its orders since its last decision
	OrderBook bool               // the top of the symbol's order book
	Funds     bool               // the buying power of the free funds
}

// Watcher is a strategy that subscribes to more data.
type Watcher interface {
	Watches() Watching
}

// Wrapper is a strategy around another one.
type Wrapper interface {
	Wrapped() Strategy
}

// Rester is a strategy that keeps reducing orders in the book (Plan.Exits) while it has a position.
type Rester interface {
	RestsExits() bool
}

// RestsExits reports whether a strategy, or the one it wraps, keeps reducing orders in the book. On
// spot such orders hold the asset that a stop would sell, so the two exclude each other there.
func RestsExits(s Strategy) bool {
	r, is := as[Rester](s)
	return is && r.RestsExits()
}

// ProfitTaker is a strategy whose plans may set their own take-profits. Spot has no take-profit
// orders, so sales at their prices replace them.
type ProfitTaker interface {
	TakesProfit() bool
}

// TakesProfit reports whether a strategy, or the one it wraps, may set its own take-profits.
func TakesProfit(s Strategy) bool {
	p, is := as[ProfitTaker](s)
	return is && p.TakesProfit()
}

// Starter is a strategy whose first answer has to wait for a start, such as that of a program's
// interpreter.
type Starter interface {
	StartMS() int64
}

// StartMS returns the time that a strategy, or the one it wraps, may take to start.
func StartMS(s Strategy) int64 {
	if starter, is := as[Starter](s); is {
		return starter.StartMS()
	}
	return 0
}

// Substitute stands in for a strategy whose process has not described its needs. A reload makes the strategy again.
type Substitute interface {
	Substitutes()
}

// SubstituteOf returns the substitute that a strategy, or the one it wraps, is; nil for a real strategy.
func SubstituteOf(s Strategy) Substitute {
	substitute, _ := as[Substitute](s)
	return substitute
}

// WatchingOf returns the subscriptions of a strategy, or of the one it wraps.
func WatchingOf(s Strategy) Watching {
	if w, is := as[Watcher](s); is {
		return w.Watches()
	}
	return Watching{}
}

// as returns the first T among a strategy and those that it wraps.
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
	Rate   exchange.Rate // live: the announced rate of the next payment; in a backtest: the rate of the last payment, because the next was not known yet
	NextMS int64         // when the next payment is due
	Known  bool
}

// Pair is the account's position in the other symbol that a strategy watches.
type Pair struct {
	Symbol   *exchange.Symbol
	Position exchange.Quantity // signed, in the pair's own scale
	Last     exchange.Price
	Known    bool // its price is known and its orders are settled
}
