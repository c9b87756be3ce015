package sim

import (
	"github.com/shopspring/decimal"

	"botd/exchange"
)

// DefaultBrackets returns the margin levels of every built-in symbol
// (docs/exchange.md, The built-in symbols).
func DefaultBrackets() []exchange.Bracket {
	bracket := func(least, most, amount int64, ratio string, leverage int) exchange.Bracket {
		rate, err := exchange.ParseRate(ratio)
		if err != nil {
			panic(err)
		}
		return exchange.Bracket{
			Min: exchange.AmountOf(least), Max: exchange.AmountOf(most), MarginRatio: rate,
			MarginAmount: exchange.AmountOf(amount), MaxLeverage: leverage,
		}
	}
	return []exchange.Bracket{
		bracket(0, 250_000, 0, "0.01", 50),
		bracket(250_000, 1_000_000, 3_750, "0.025", 20),
		bracket(1_000_000, 5_000_000, 28_750, "0.05", 10),
		bracket(5_000_000, 50_000_000, 278_750, "0.1", 5),
	}
}

var defaultSymbols = []struct {
	base                  string
	priceTick             string
	futuresTick, spotTick string // quantityTick
	price                 string // initial
}{
	{"BTC", "0.1", "0.001", "0.00001", "50000"},
	{"ETH", "0.01", "0.01", "0.0001", "2500"},
	{"SOL", "0.01", "0.1", "0.001", "100"},
	{"PEPE", "0.00000001", "100", "1", "0.00001"},
}

// DefaultSymbols returns the built-in market: four symbols on futures and on
// spot (docs/exchange.md, The built-in symbols).
func DefaultSymbols() []*exchange.Symbol {
	var all []*exchange.Symbol
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		for _, row := range defaultSymbols {
			spec := exchange.SymbolSpec{
				Market: market, Name: row.base + "-USDT", Base: row.base, Quote: "USDT",
				PriceTick: decimal.RequireFromString(row.priceTick), QuantityTick: decimal.RequireFromString(row.spotTick),
				MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true, Cancelable: true,
			}
			if market == exchange.Futures {
				spec.QuantityTick = decimal.RequireFromString(row.futuresTick)
				spec.FundingCap, spec.FundingFloor = decimal.New(75, -4), decimal.New(-75, -4)
				spec.FundingIntervalHours = 8
				spec.Brackets = DefaultBrackets()
			}
			symbol, err := exchange.NewSymbol(spec)
			if err != nil {
				panic(err)
			}
			all = append(all, symbol)
		}
	}
	return all
}

// startPrice is the initial price of a symbol's still market: 50000, 2500, 100 and 0.00001 for the
// built-in ones, else 100, rounded up to the tick.
func startPrice(symbol *exchange.Symbol) exchange.Price {
	text := "100"
	for _, row := range defaultSymbols {
		if row.base == symbol.Base {
			text = row.price
		}
	}
	price, err := symbol.Price(decimal.RequireFromString(text))
	if err != nil {
		return symbol.PriceTick
	}
	return max(symbol.CeilPrice(price), symbol.PriceTick)
}
