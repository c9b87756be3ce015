package wire_test

import (
	"testing"

	"botd/exchange/sim"
	"botd/exchange/wire"
)

// A rule has one code, whether a request fails while it is decoded or when the rule is applied.
func TestDecodingCodesEqualTheExchangesRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule       string
		want, have int
	}{
		{"parameter", sim.CodeParameter, wire.CodeParameter},
		{"side", sim.CodeSide, wire.CodeSide},
		{"type", sim.CodeType, wire.CodeType},
		{"quantity tick", sim.CodeQuantityTick, wire.CodeQuantityTick},
		{"price tick", sim.CodePriceTick, wire.CodePriceTick},
		{"stop price tick", sim.CodeStopPriceTick, wire.CodeStopPriceTick},
	} {
		if c.want != c.have {
			t.Errorf("%s: want %d, have %d", c.rule, c.want, c.have)
		}
	}
}
