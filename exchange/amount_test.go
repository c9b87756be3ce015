package exchange

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"
)

func drawAmount(t *rapid.T, name string) Amount {
	whole := rapid.Int64Range(-100_000_000_000, 100_000_000_000).Draw(t, name)
	part := rapid.Int64Range(-999_999_999_999_999_999, 999_999_999_999_999_999).Draw(t, name+" part")
	return AmountOf(whole).Add(scaled(part, 1))
}

func TestAmountArithmeticEqualsBigIntegers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawAmount(t, "a"), drawAmount(t, "b")
		n := rapid.Int64Range(-1_000_000_000, 1_000_000_000).Draw(t, "n")
		m := rapid.Int64Range(1, 1_000_000_000).Draw(t, "m")
		equal := func(what string, want *big.Int, have Amount) {
			if want.Cmp(have.big()) != 0 {
				t.Fatalf("%s of %s, %s, %d, %d: want %s, have %s", what, a, b, n, m, want, have.big())
			}
		}
		equal("a+b", new(big.Int).Add(a.big(), b.big()), a.Add(b))
		equal("a-b", new(big.Int).Sub(a.big(), b.big()), a.Sub(b))
		product := new(big.Int).Mul(a.big(), big.NewInt(n))
		equal("a*n/m", product.Quo(product, big.NewInt(m)), a.MulDiv(n, m))
		if want, have := a.big().Cmp(b.big()), a.Cmp(b); want != have {
			t.Fatalf("compare %s with %s: want %d, have %d", a, b, want, have)
		}
		back, err := ParseAmount(a.String())
		if err != nil || back != a {
			t.Fatalf("read back %s: have %s, %v", a, back, err)
		}
	})
}

func TestAmountsKeepEveryDigitOfAFee(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, rate, want string }{
		{"9996.00159936", "0.0004", "3.998400639744"},
		{"28.58912345", "-0.00012359", "-0.0035333297672"},
		{"1000000", "0.00000001", "0.01"},
	} {
		rate, err := ParseRate(c.rate)
		if err != nil {
			t.Fatal(err)
		}
		want := decimal.RequireFromString(c.a).Mul(decimal.RequireFromString(c.rate))
		if have := MustAmount(c.a).MulRate(rate); !have.Decimal().Equal(want) {
			t.Errorf("%s x %s: want %s, have %s", c.a, c.rate, want, have)
		}
	}
}

func TestHostileDecimalsAreRefusedCheaply(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"1e9999", "1e-9999", "1e25", "0.0000000000000000001"} {
		if a, err := ParseAmount(text); !errors.Is(err, ErrInexact) {
			t.Errorf("%s: want ErrInexact, have %s, %v", text, a, err)
		}
	}
	if a, err := ParseAmount("1e1000000000"); err == nil {
		t.Errorf("1e1000000000: want an error, have %s", a)
	}
	if a, err := ParseAmount("1e-05"); err != nil || a.String() != "0.00001" {
		t.Errorf("1e-05: want 0.00001, have %s, %v", a, err)
	}
}

func TestOverflowPanicsInsteadOfWrapping(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("want a panic, have a wrapped amount")
		}
	}()
	AmountOf(9_000_000_000_000_000_000).Mul(9_000_000_000)
}

func TestRatesReadPercentages(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Rate{"2%": 2_000_000, "0.0005": 50_000, "100%": RateOne, "3.0": 3 * RateOne} {
		if have, err := ParseRate(text); err != nil || have != want {
			t.Errorf("%s: want %d, have %d, %v", text, want, have, err)
		}
	}
}

func BenchmarkAmountFee(b *testing.B) {
	b.ReportAllocs()
	notional, total := MustAmount("42789.39"), Amount{}
	for b.Loop() {
		total = total.Add(notional.MulRate(40_000))
	}
}

func TestAmountTextAndQuotientEqualBigIntegers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) Amount {
			return Amount{rapid.Int64Range(0, 1<<62).Draw(t, name+" high") >> rapid.IntRange(0, 62).Draw(t, name+" shift"), rapid.Uint64().Draw(t, name+" low")}
		}
		a, b := draw("a"), draw("b")
		if rapid.Bool().Draw(t, "negative") {
			a = a.Neg()
		}
		if rapid.Bool().Draw(t, "divisor negative") {
			b = b.Neg()
		}
		if want, have := a.Decimal().String(), a.String(); want != have {
			t.Fatalf("text: want %s, have %s", want, have)
		}
		if b.IsZero() {
			return
		}
		want := new(big.Int).Quo(a.big(), b.big())
		if !want.IsInt64() || want.Int64() == -1<<63 {
			return
		}
		if have := a.Quo(b); have != want.Int64() {
			t.Fatalf("%s / %s: want %s, have %d", a, b, want, have)
		}
	})
}

// TestProductsAndRatiosEqualBigIntegers draws factors and divisors of every length, and those at the limits of a
// word.
func TestProductsAndRatiosEqualBigIntegers(t *testing.T) {
	t.Parallel()
	edges := []uint64{0, 1, 1<<63 - 1, 1 << 63, ^uint64(0) - 1, ^uint64(0)}
	rapid.Check(t, func(t *rapid.T) {
		word := func(name string) uint64 {
			if rapid.Bool().Draw(t, name+" at an edge") {
				return rapid.SampledFrom(edges).Draw(t, name)
			}
			return rapid.Uint64().Draw(t, name) >> rapid.IntRange(0, 63).Draw(t, name+" shift")
		}
		draw := func(name string) Amount {
			a := Amount{int64(word(name+" high") >> 2), word(name + " low")}
			if rapid.Bool().Draw(t, name+" negative") {
				return a.Neg()
			}
			return a
		}
		a, b, c := draw("a"), draw("b"), draw("c")
		if c.IsZero() {
			return
		}
		want := new(big.Int).Mul(a.big(), b.big())
		if want.Quo(want, c.big()); want.BitLen() <= 126 {
			if have := a.MulQuo(b, c); have.big().Cmp(want) != 0 {
				t.Fatalf("%s x %s / %s: want %s, have %s", a, b, c, want, have.big())
			}
		} else if _, fits := product(a.Abs(), b.Abs()).quotient(c.Abs()); fits {
			t.Fatalf("%s x %s / %s: want an overflow, %s", a, b, c, want)
		}
		want.Mul(a.big(), big.NewInt(int64(RateOne)))
		want.Quo(want, c.big())
		if !want.IsInt64() || want.Int64() == -1<<63 {
			want.SetInt64(int64(a.Sign()*c.Sign()) * (1<<62 - 1))
		}
		if have := a.Ratio(c); int64(have) != want.Int64() {
			t.Fatalf("%s / %s as a rate: want %s, have %d", a, c, want, have)
		}
	})
}

func TestAmountTextHasNoTrailingZeros(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0", "1", "-1", "0.1", "-0.000000000000000001", "10", "100.5", "85000000000000000000", "-18446744073709551616.5",
		"18446744073709551615.999999999999999999"} {
		if have := MustAmount(text).String(); have != text {
			t.Errorf("want %s, have %s", text, have)
		}
	}
}

// TestFloatRoundsBothWordsOnce compares with the conversions of the language, at the places where rounding changes.
func TestFloatRoundsBothWordsOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		high := uint64(rapid.Int64Range(0, math.MaxInt64).Draw(t, "high"))
		low := rapid.Uint64().Draw(t, "low")
		for _, low := range []uint64{low, low | 1<<63, low &^ (1<<11 - 1), low | 1<<10, low&^(1<<11-1) | 1<<10, low>>11<<11 + 1, 0, math.MaxUint64} {
			want := (float64(float64(high)*18446744073709551616) + float64(low)) / 1e18
			a := Amount{int64(high), low}
			if have, negative := a.Float(), a.Neg().Float(); have != want || negative != -want {
				t.Fatalf("%d, %d: want %g, have %g and %g", high, low, want, have, negative)
			}
		}
	})
}
