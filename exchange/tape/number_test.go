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

// The values are those of Vigna's splitmix64.c from the seed 1234567.
func TestRandomNumbersAreThoseOfSplitMix64(t *testing.T) {
	t.Parallel()
	m := &market{random: 1234567}
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if have := m.next(); have != want {
			t.Errorf("number %d: want %d, have %d", i, want, have)
		}
	}
	const count = 20_000
	sum, squares := 0.0, 0.0
	for range count {
		n, share := m.normal(), m.uniform()
		if sum, squares = sum+n, squares+n*n; math.Abs(n) > 6 || share < 0 || share >= 1 {
			t.Fatalf("want a number within 6 deviations and a share of 1, have %v and %v", n, share)
		}
	}
	// The mean of 20,000 deviates by 0.007, that of the squares by 0.01.
	if mean, variance := sum/count, squares/count; math.Abs(mean) > 0.035 || math.Abs(variance-1) > 0.05 {
		t.Errorf("want a mean of 0 and a variance of 1, have %v and %v", mean, variance)
	}
}
