package view

import (
	"strings"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

func newSymbol(market exchange.Market, name string) *exchange.Symbol {
	base, quote, _ := strings.Cut(name, "-")
	s, err := exchange.NewSymbol(exchange.SymbolSpec{
		Market: market, Name: name, Base: base, Quote: quote,
		PriceTick: decimal.RequireFromString("0.1"), QuantityTick: decimal.RequireFromString("0.001"),
		MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true, Cancelable: true,
	})
	if err != nil {
		panic(err)
	}
	return s
}

var (
	bitcoin = newSymbol(exchange.Futures, "BTC-USDT")
	ether   = newSymbol(exchange.Spot, "ETH-USDT")
)
