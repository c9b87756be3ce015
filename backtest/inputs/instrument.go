package inputs

import (
	"regexp"
	"strings"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/internal/failure"
)

var symbolName = regexp.MustCompile(`^[A-Z0-9]{1,20}-[A-Z0-9]{1,10}$`)

// CheckSymbol refuses the name of a symbol in another form.
func CheckSymbol(name string) error {
	if !symbolName.MatchString(name) {
		return failure.Usagef("--symbol %q: want BASE-QUOTE in capitals, such as BTC-USDT", name)
	}
	return nil
}

// Instrument returns the symbol whose candles a file holds: a built-in one, or one with as many decimal places as candles need.
func Instrument(market, name string) (*exchange.Symbol, error) {
	its, err := exchange.ParseMarket(market)
	if err != nil {
		return nil, failure.Usagef("--market: %v", err)
	}
	if name == "" {
		return nil, failure.Usagef("--symbol is missing, such as BTC-USDT")
	}
	if known, found := exchange.FindSymbol(sim.DefaultSymbols(), its, name); found {
		return known, nil
	}
	if err := CheckSymbol(name); err != nil {
		return nil, err
	}
	base, quote, _ := strings.Cut(name, "-")
	made, err := exchange.NewSymbol(exchange.SymbolSpec{Market: its, Name: name, Base: base, Quote: quote, PriceTick: decimal.New(1, -8),
		QuantityTick: decimal.New(1, -3), MaxNotional: decimal.NewFromInt(1_000_000)})
	return made, failure.Wrap(failure.Usage, err)
}
