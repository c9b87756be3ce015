package exchange

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestValuationIsTheSum compares a valuation with a product and a sum at each price.
func TestValuationIsTheSum(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := &Symbol{PriceScale: rapid.IntRange(0, 9).Draw(t, "price scale"), QuantityScale: rapid.IntRange(0, 9).Draw(t, "quantity scale")}
		if err := s.setUnits(); err != nil {
			t.Fatal(err)
		}
		quantity := Quantity(rapid.Int64Range(-1e9, 1e9).Draw(t, "quantity"))
		fixed := Amount{rapid.Int64Range(-1<<61, 1<<61).Draw(t, "high"), rapid.Uint64().Draw(t, "low")}
		highest := Price(rapid.Int64Range(0, math.MaxInt64).Draw(t, "highest"))
		for _, fits := s.NotionalWithin(highest, quantity, Amount{1 << 61, 0}); !fits; _, fits = s.NotionalWithin(highest, quantity, Amount{1 << 61, 0}) {
			highest /= 10
		}
		v := s.Valuation(fixed, quantity, highest)
		price := Price(rapid.Int64Range(0, int64(highest)).Draw(t, "price"))
		for _, price := range []Price{0, price, highest} {
			if want, have := fixed.Add(s.Notional(price, quantity)), v.At(price); have != want {
				t.Fatalf("%d at %d: want %s, have %s", quantity, price, want, have)
			}
		}
	})
}

// TestValuationRefusesAnOverflow uses a highest price at which the sum has more than 127 bits.
func TestValuationRefusesAnOverflow(t *testing.T) {
	t.Parallel()
	s := &Symbol{PriceScale: 8, QuantityScale: 8}
	if err := s.setUnits(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		fixed    Amount
		quantity Quantity
	}{
		{Amount{}, math.MaxInt64},
		{Amount{1<<63 - 1, 0}, 1e8},
		{Amount{-1 << 63, 0}, -1e8},
	} {
		if refused := panics(func() { s.Valuation(c.fixed, c.quantity, math.MaxInt64) }); !refused {
			t.Errorf("%v: want a panic", c)
		}
	}
}
