package simulation

import (
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// The remainder of a complete sale is less than a step and is not exposure. Two such remainders, or one
// remainder and the rounding of the next purchase, can add up to a step that botd did not buy (seed
// 4398076523886).
func TestRemaindersOfCompleteSalesAreNoExposure(t *testing.T) {
	t.Parallel()
	rules, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Spot, Name: "ETH-USDT", Base: "ETH", Quote: "USDT",
		PriceTick: decimal.RequireFromString("0.01"), QuantityTick: decimal.RequireFromString("0.0001"), MinNotional: decimal.NewFromInt(5),
		MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true, Cancelable: true})
	if err != nil {
		t.Fatal(err)
	}
	h := &held{key: rules.Key(), rules: rules}
	for _, c := range []struct {
		name   string
		filled exchange.Quantity // negative: sold
		want   exchange.Quantity
	}{
		{"bought", 47, 46},
		{"sold but for the rest of a step", -46, 0},
		{"bought again", 22, 21},
		{"more, so that the rests are a step together", 70, 91},
		{"a part is sold", -50, 41},
		{"all of it is sold but for two steps", -39, 0},
		{"bought again beside them", 30, 29},
	} {
		h.position += c.filled
		side := exchange.Sell
		if c.filled > 0 {
			side, h.fees = exchange.Buy, h.fees.Add(rules.QuantityAmount(c.filled).Div(1_000))
		}
		h.noteRest(side)
		if have := h.exposed(); have != c.want {
			t.Errorf("%s: want %d exposed, have %d", c.name, c.want, have)
		}
	}
}
