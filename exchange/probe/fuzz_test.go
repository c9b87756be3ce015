package probe

import (
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// oneSymbol finds one symbol under any name.
type oneSymbol struct{ symbol *exchange.Symbol }

func (o oneSymbol) Symbol(exchange.SymbolKey) (*exchange.Symbol, bool) { return o.symbol, true }

// FuzzHabits reads arbitrary answers to a probe. The learned habits must be known ones, and the statuses
// existing ones.
func FuzzHabits(f *testing.F) {
	for _, seed := range []string{`{"serverTime":"1"}`, `[{"id":1,"side":"BUY","status":"DONE","filled":"0.0010000001","quantity":0.001,"symbol":"a"}]`,
		"\ufeff[]", `null`, `{"data":[{"id":1,"ID":2}]}`, `{"data":[[[[{"a":1}]]]]}`, `{"msg":"no"}`, `{"filled":"1e999","symbol":"a"}`, `[{"filled":NaN}]`} {
		f.Add([]byte(seed), uint8(3), 200)
	}
	symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Spot, Name: "BTC-USDT", Base: "BTC", Quote: "USDT",
		PriceTick: decimal.RequireFromString("0.1"), QuantityTick: decimal.RequireFromString("0.001"), MinNotional: decimal.NewFromInt(5),
		MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true})
	if err != nil {
		f.Fatal(err)
	}
	known := []string{habitMark, habitErrorWords, habitNoEnvelopes, habitEnvelopes, habitNull, habitStrings, habitExtra, habitWords, habitNoise}
	f.Fuzz(func(t *testing.T, body []byte, operation uint8, status int) {
		h := newHabits()
		h.observe(&exchange.Request{Operation: exchange.Operation(operation % 20)}, status, body, oneSymbol{symbol})
		for _, name := range h.names() {
			if !slices.Contains(known, name) {
				t.Errorf("%q: want a known habit, have %q", body, name)
			}
		}
		for _, words := range h.words {
			for word, status := range words {
				if status != exchange.StatusFilled && status != exchange.StatusCanceled {
					t.Errorf("%q: want %q to be an end of an order, have %v", body, word, status)
				}
			}
		}
	})
}
