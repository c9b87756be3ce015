package simulation

import (
	"math/big"
	"testing"

	"botd/internal/tally"
)

// Two orders sold the same units. The figures of the strategy count them once, and it is unknown which of the
// orders sold them. So the second order changes the strategy's gain by at most the difference between the
// prices and the rest of a step.
func TestProceedsOfOthersUnitsAreNoGain(t *testing.T) {
	t.Parallel()
	number := func(text string) *big.Rat {
		r, _ := new(big.Rat).SetString(text)
		return r
	}
	for _, c := range []struct {
		name                   string
		sold, second           string // quantities, at 110 and 105, of ten that were bought at 100
		cash, proceeds, either string
	}{
		{"once", "10", "", "100", "0", "0"},
		{"in two parts", "4", "6", "70", "0", "0"},
		{"in two parts and the rest of a step", "4", "7", "175", "0", "0"},
		{"twice", "10", "10", "100", "1050", "155"},
		{"twice, but for the rest of a step", "9", "10", "-10", "1050", "155"},
		{"a part twice", "7", "10", "85", "735", "140"},
	} {
		var s tally.Strategy
		var o others
		o.addFill(&s, &tally.Fill{Buy: true, Price: number("100"), Quantity: number("10"), Fee: new(big.Rat)}, number("1"))
		for i, quantity := range []string{c.sold, c.second} {
			if quantity != "" {
				price := number([]string{"110", "105"}[i])
				o.addFill(&s, &tally.Fill{Price: price, Quantity: number(quantity), Fee: new(big.Rat)}, number("1"))
			}
		}
		if s.Cash.Cmp(number(c.cash)) != 0 || o.proceeds.Cmp(number(c.proceeds)) != 0 || o.either.Cmp(number(c.either)) != 0 {
			t.Errorf("%s: want %s in cash, %s of others and %s of either, have %s, %s and %s", c.name, c.cash, c.proceeds, c.either,
				s.Cash.RatString(), o.proceeds.RatString(), o.either.RatString())
		}
	}
}
