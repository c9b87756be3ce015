package server

import (
	"fmt"

	"botd/exchange"
	"botd/exchange/sim"
)

// quoteTicks is the distance of the quotes from the price (docs/exchange.md, the order book).
const quoteTicks = 1

// tapeSymbol is the symbol on which a file of recorded candles is played, in both markets.
const tapeSymbol = "BTC-USDT"

// tape holds the candles of a file for one symbol.
type tape struct {
	symbol  *exchange.Symbol
	candles *exchange.Candles
}

// tapes reads the market's file for every symbol on which it is played.
func (o *Options) tapes(symbols []*exchange.Symbol, load Loaders) ([]tape, error) {
	if o.Market == "" || o.Market == "still" || o.Market == "random" {
		return nil, nil
	}
	var tapes []tape
	for _, symbol := range symbols {
		if symbol.Name != tapeSymbol {
			continue
		}
		candles, err := load.Tape(o.Market, symbol)
		if err != nil {
			return nil, fmt.Errorf("market: %w", err)
		}
		if candles.Len() == 0 {
			return nil, fmt.Errorf("market: %s has no candles", o.Market)
		}
		tapes = append(tapes, tape{symbol, candles})
	}
	if tapes == nil {
		return nil, fmt.Errorf("market: recorded candles are played on %s, which the symbols lack", tapeSymbol)
	}
	return tapes, nil
}

// build creates the exchange and sets its markets and funding rates.
func (o *Options) build(start sim.Config, state []byte, tapes []tape, rates map[string][]sim.FundingPoint) (x *sim.Exchange, err error) {
	if state == nil {
		x, err = sim.New(start)
	} else {
		x, err = sim.Restore(start, state)
	}
	if err != nil {
		return nil, err
	}
	for _, symbol := range start.Symbols {
		if o.Market == "" || o.Market == "random" {
			x.SetMarket(symbol.Key(), sim.Random(o.Seed))
		}
		if o.Funding == "" || symbol.Market != exchange.Futures {
			continue
		}
		points := rates[symbol.Name]
		if len(points) == 0 {
			points = []sim.FundingPoint{{}} // with a file, a payment without a row has rate 0
		}
		x.SetFunding(symbol.Name, points)
	}
	for _, t := range tapes {
		x.SetMarket(t.symbol.Key(), sim.Tape(t.candles, sim.TapeConfig{SpreadTicks: quoteTicks}))
	}
	return x, nil
}
