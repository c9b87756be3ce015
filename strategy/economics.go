package strategy

import (
	"fmt"

	"botd/exchange"
)

// Fees are the shares of a fill's value that are expected as its fee: those of backtest.fees, or the
// venue's usual ones.
type Fees struct{ Maker, Taker exchange.Rate }

// Economics is what one round of a strategy's trades earns, in and out again, as far as its
// parameters say: nothing of what the market does.
type Economics struct {
	What   string        // such as "a pair of neighbouring lines"
	Gross  exchange.Rate // between entry and exit, as a share of the price
	Makers int           // fills of a round that rest in the book
	Takers int           // and that do not
}

// Net is what is left after fees.
func (e *Economics) Net(maker, taker exchange.Rate) exchange.Rate {
	return e.Gross - exchange.Rate(e.Makers)*maker - exchange.Rate(e.Takers)*taker
}

// Edge says what a round of a strategy's trades earns and costs; empty where its parameters do not say.
func Edge(s Strategy, fees Fees) string {
	e, known := EconomicsOf(s)
	if !known {
		return ""
	}
	net := e.Net(fees.Maker, fees.Taker)
	percent := func(r exchange.Rate) string { return r.Decimal().Shift(2).Round(4).String() + "%" }
	return fmt.Sprintf("%s earns %s and costs %s of fees: %s is left", e.What, percent(e.Gross), percent(e.Gross-net), percent(net))
}

// Ranged is a strategy that trades between two prices.
type Ranged interface {
	Range() (lower, upper exchange.Price)
}

// RangeOf returns the prices between which a strategy, or the one it wraps, trades; false where it has none.
func RangeOf(s Strategy) (lower, upper exchange.Price, has bool) {
	ranged, is := as[Ranged](s)
	if !is {
		return 0, 0, false
	}
	lower, upper = ranged.Range()
	return lower, upper, true
}

// Weighted is a strategy that holds a share of the account's equity by itself.
type Weighted interface {
	Weight() exchange.Rate
}

// Economist is a strategy whose parameters say what a round of its trades earns.
type Economist interface {
	Economics() (e Economics, known bool)
}

// EconomicsOf returns what a round of a strategy, or of the one it wraps, earns; false where its
// parameters do not say.
func EconomicsOf(s Strategy) (e Economics, known bool) {
	if economist, is := as[Economist](s); is {
		return economist.Economics()
	}
	return Economics{}, false
}
