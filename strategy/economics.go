package strategy

import (
	"fmt"

	"botd/exchange"
)

// Fees are the expected fees as shares of a fill's value: those of backtest.fees, or the venue's
// usual fees.
type Fees struct{ Maker, Taker exchange.Rate }

// Economics is the profit of one round trip of a strategy, as far as its parameters determine it.
// It ignores the market's moves.
type Economics struct {
	What   string        // such as "a pair of neighboring lines"
	Gross  exchange.Rate // between entry and exit, as a share of the price
	Makers int           // fills of a round trip that rest in the book
	Takers int           // fills of a round trip that take
}

// Net returns the gross profit less fees.
func (e *Economics) Net(maker, taker exchange.Rate) exchange.Rate {
	return e.Gross - exchange.Rate(e.Makers)*maker - exchange.Rate(e.Takers)*taker
}

// Edge describes the profit and the fees of a strategy's round trip. It is empty if the parameters
// do not determine them.
func Edge(s Strategy, fees Fees) string {
	e, known := EconomicsOf(s)
	if !known {
		return ""
	}
	net := e.Net(fees.Maker, fees.Taker)
	percent := func(r exchange.Rate) string { return r.Decimal().Shift(2).Round(4).String() + "%" }
	return fmt.Sprintf("%s earns %s and costs %s in fees: %s remains", e.What, percent(e.Gross), percent(e.Gross-net), percent(net))
}

// Ranged is a strategy that trades between two prices.
type Ranged interface {
	Range() (lower, upper exchange.Price)
}

// RangeOf returns the price range in which a strategy, or the one it wraps, trades, or false if it
// has none.
func RangeOf(s Strategy) (lower, upper exchange.Price, has bool) {
	ranged, is := as[Ranged](s)
	if !is {
		return 0, 0, false
	}
	lower, upper = ranged.Range()
	return lower, upper, true
}

// Weighted is a strategy that sets its own share of the account's equity.
type Weighted interface {
	Weight() exchange.Rate
}

// Economist is a strategy whose parameters determine the profit of a round trip.
type Economist interface {
	Economics() (e Economics, known bool)
}

// EconomicsOf returns the economics of a strategy, or of the one it wraps, or false if its
// parameters do not determine them.
func EconomicsOf(s Strategy) (e Economics, known bool) {
	if economist, is := as[Economist](s); is {
		return economist.Economics()
	}
	return Economics{}, false
}
