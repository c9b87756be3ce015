package backtest

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
)

// Shares of rows are written as encoding/json writes the number.
func TestSharesHaveTheTextOfANumber(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(3, 5))
	shares := []float64{0, math.Copysign(0, -1), 1, -1, 0.1, 0.0001, -0.0001, 0.9999, 12.3, 12.03, 12.003, 12.0003, 100,
		999_999_999.9999, 1e9, -1e9, 123_456_789_012.3456}
	for range 20_000 {
		shares = append(shares, rounded(draw.NormFloat64()*math.Pow(10, float64(draw.IntN(12)-4))))
	}
	for _, f := range shares {
		want, err := json.Marshal(f)
		if have := appendShare(nil, "", f); err != nil || string(have) != string(want) {
			t.Errorf("want %s, have %s (%v)", want, have, err)
		}
	}
}
