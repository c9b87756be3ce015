// Package strategy says what a strategy is: View in, Plan out; parameters; the registry.
//
// A strategy sees every closed candle once, in order, warm-up included, and can
// be asked at any time what it wants to be true. It places no orders: botd
// compares the wish with what is known to be true and derives the few changes.
package strategy

import "botd/exchange"

// Strategy is one running strategy on one symbol.
type Strategy interface {
	// Warmup is how many closed candles it must have seen before its first decision counts.
	Warmup() int
	// Candle takes view.Candle, a newly closed candle, into the strategy's own
	// state (indicators). It wishes nothing.
	Candle(view *View)
	// Decide writes the whole wish into plan, which comes empty. It is
	// repeatable and has no effect: the same view gives the same plan. A field
	// left unset means "leave it as it is".
	Decide(view *View, plan *Plan)
}

// View is what a strategy may see. It is valid during the call only.
type View struct {
	NowMS    int64            // nominal time of the tick: a candle's close, or the schedule's moment
	Symbol   *exchange.Symbol // rules and scales
	Interval exchange.Interval
	Candle   exchange.Candle // the newest closed candle; zero before the first
	Last     exchange.Price  // last trade price known, at least the newest close
	Position Position
	Equity   exchange.Amount // account equity in USDT: wallet plus unrealised (futures), or quote plus base at Last (spot)
	Size     Size            // as configured
	Leverage int             // as configured, 0 when not
	Working  []Working       // the strategy's own orders in the book
	Fills    []KeyFill       // what was filled under the keys of the plan in force
	Memory   Memory
	Funding  Funding // when watched
	Pair     Pair    // when watched
	Version  uint64  // equal to the last decision's: position, orders, fills and memory are what they were; 0 says nothing

	history *exchange.Candles
	end     int
}

// Position is what the strategy holds: the futures position, or on spot what it bought and did not sell.
type Position struct {
	Quantity   exchange.Quantity // signed
	EntryPrice exchange.Amount   // mean price, zero when flat
	SinceMS    int64             // when it was first seen, zero when flat
}

// Working is an order of the strategy's that is in the book.
type Working struct {
	Key       string // the plan's key; "" for target and protection orders
	Side      exchange.Side
	Type      exchange.OrderType
	Price     exchange.Price
	StopPrice exchange.Price
	Quantity  exchange.Quantity
	Filled    exchange.Quantity
}

// KeyFill is what was filled so far under one key of the plan in force. A key
// that left the plan and comes back begins anew.
type KeyFill struct {
	Key      string
	Quantity exchange.Quantity
}

// Filled returns what was filled under a key of the plan in force.
func (v *View) Filled(key string) exchange.Quantity {
	for i := range v.Fills {
		if v.Fills[i].Key == key {
			return v.Fills[i].Quantity
		}
	}
	return 0
}

// SetHistory lets the view look back over candles[0:end]; the engine calls it.
func (v *View) SetHistory(candles *exchange.Candles, end int) { v.history, v.end = candles, end }

// Closed returns how many closed candles can be looked back on.
func (v *View) Closed() int { return v.end }

// Back returns the closed candle n before the newest: Back(0) is the newest. It
// panics beyond Closed.
func (v *View) Back(n int) exchange.Candle { return v.history.At(v.end - 1 - n) }

// Size is how large an entry is to be, as configured.
type Size struct {
	Equity   exchange.Rate     // notional as a share of account equity, never multiplied by leverage
	Quantity exchange.Quantity // base currency
	Quote    exchange.Amount   // USDT
}

// IsZero reports whether nothing was configured.
func (s Size) IsZero() bool { return s == Size{} }

// Target returns the size as a target of that sign (+1 long, -1 short, 0 flat).
func (s Size) Target(sign int64) Target {
	switch {
	case sign == 0:
		return Flat()
	case s.Quantity != 0:
		return Target{Kind: ByQuantity, Quantity: s.Quantity * exchange.Quantity(sign)}
	case !s.Quote.IsZero():
		return Target{Kind: ByQuote, Quote: s.Quote.Mul(sign)}
	}
	return Target{Kind: ByEquity, Share: s.Equity * exchange.Rate(sign)}
}
