package tape

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// The test compares with strconv, also where a number lies between two floats, or close to the middle of them.
func TestANumberIsTheNearestFloat(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	check := func(mantissa uint64, places int) {
		t.Helper()
		text := fmt.Sprintf("%de-%d", mantissa, places)
		want, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		if have := float(mantissa, places); math.Float64bits(have) != math.Float64bits(want) {
			t.Fatalf("%s: want %v, have %v", text, want, have)
		}
	}
	bounds := []uint64{0, 1, 1<<53 - 1, 1 << 53, 1<<53 + 1, 1<<53 + 2, 1<<53 + 3, 1 << 59, 1<<59 + 32, 1<<59 + 64, 1<<59 + 96, 1e17, 1e18 - 1}
	for places := range maxDigits + 1 {
		for _, mantissa := range bounds {
			check(mantissa, places)
		}
		for range 1_000 {
			check(random.Uint64N(1e18), places)
			if middle := (1<<52+random.Uint64N(1<<52))*128 + 64; middle < 1e18 { // of two floats that are 128 apart
				for _, near := range []uint64{middle - 1, middle, middle + 1} {
					check(near, places)
				}
			}
		}
	}
}
