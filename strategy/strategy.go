// Package strategy defines what a strategy is: View in, Plan out; parameters; the registry.
//
// A strategy sees every closed candle once, in order, warm-up included, and can decide its desired
// state at any time. It places no orders: botd compares the desired state with the known state and
// derives the few changes.
package strategy

import (
	"fmt"

	"botd/exchange"
)

// Strategy is one running strategy on one symbol.
type Strategy interface {
	// Warmup returns the number of closed candles that the strategy needs before its first decision
	// takes effect.
	Warmup() int
	// Candle updates the strategy's own state, such as indicators, with view.Candle(), a newly
	// closed candle. It desires nothing.
	Candle(view *View)
	// Decide writes the whole desired state into plan, which is empty. It is repeatable and has no
	// side effects: the same view gives the same plan. A field left unset means "leave it
	// unchanged".
	Decide(view *View, plan *Plan)
}

// View is the input of a strategy. It is valid only during the call.
type View struct {
	NowMS       int64            // nominal time of the tick: a candle's close or the scheduled time
	Symbol      *exchange.Symbol // rules as last read; the scales never change
	Interval    exchange.Interval
	Last        exchange.Price // last known trade price, at least as new as the newest close
	Position    Position
	Equity      exchange.Amount // account equity in USDT: wallet plus unrealized profit (futures), or quote plus base at Last (spot)
	BuyingPower exchange.Amount // value of the largest opening that the free funds can pay for, fee included, if the strategy watches it
	Size        Size            // as configured
	Leverage    int             // as configured, 0 if not configured
	Working     []WorkingOrder  // the strategy's own orders in the book
	Fills       []KeyFill       // filled quantities under the keys of the plan in force
	Events      []Event         // since the last decision, if the strategy watches them; oldest first
	Missed      int             // number of events omitted from Events because there were too many
	Memory      Memory
	Funding     Funding   // if the strategy watches it
	Pair        Pair      // if the strategy watches one
	OrderBook   OrderBook // if the strategy watches it
	Others      []Other   // symbols whose candles the strategy reads, in the order of ReadsOthers
	Version     uint64    // if unchanged since the last decision, so are position, orders, fills and memory; 0 if unknown

	history *exchange.Candles
	end     int
}

// Position is the strategy's own position: on futures the signed position, on spot the quantity it
// bought and has not sold.
type Position struct {
	Quantity   exchange.Quantity // signed
	EntryPrice exchange.Amount   // mean entry price, zero if flat; on spot the mean purchase price
	SinceMS    int64             // when it was first seen, zero if flat
}

// WorkingOrder is one of the strategy's orders in the book.
type WorkingOrder struct {
	Key       string // the plan's key; "" for target and protection orders
	Side      exchange.Side
	Type      exchange.OrderType
	Price     exchange.Price
	StopPrice exchange.Price
	Quantity  exchange.Quantity // for an order by amount, the quantity that it buys at the last price; 0 without a price
	Filled    exchange.Quantity
}

// KeyFill is the quantity filled so far under one key of the plan in force. A key that left the
// plan and comes back starts at zero.
type KeyFill struct {
	Key      string
	Quantity exchange.Quantity
}

// Filled returns the quantity filled under a key of the plan in force.
func (v *View) Filled(key string) exchange.Quantity {
	for i := range v.Fills {
		if v.Fills[i].Key == key {
			return v.Fills[i].Quantity
		}
	}
	return 0
}

// SetHistory makes candles[0:end] visible to the strategy. The engine calls it.
func (v *View) SetHistory(candles *exchange.Candles, end int) { v.history, v.end = candles, end }

// Candle returns the newest closed candle; it is zero before the first.
func (v *View) Candle() (candle exchange.Candle) {
	if v.end > 0 {
		v.history.Load(v.end-1, &candle)
	}
	return candle
}

// Close returns the newest close, 0 before the first. A strategy that needs no more of a candle saves reading the rest.
func (v *View) Close() exchange.Price {
	if v.end == 0 {
		return 0
	}
	return v.history.Close[v.end-1]
}

// Closed returns the number of visible closed candles.
func (v *View) Closed() int { return v.end }

// Back returns the closed candle n before the newest: Back(0) is the newest. It panics if the
// candle is not visible, that is, newer than the newest or older than the oldest.
func (v *View) Back(n int) exchange.Candle {
	if n < 0 || n >= v.end {
		panic(fmt.Sprintf("candle %d before the newest is not visible: %d are closed, 0 is the newest", n, v.end))
	}
	return v.history.At(v.end - 1 - n)
}

// Size is the configured size of an entry.
type Size struct {
	Equity   exchange.Rate     // notional as a share of account equity, never multiplied by leverage
	Quantity exchange.Quantity // base currency
	Quote    exchange.Amount   // USDT
}

// IsZero reports whether no size was configured.
func (s Size) IsZero() bool { return s == Size{} }

// Target returns the size as a target with that sign (+1 long, -1 short, 0 flat).
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
