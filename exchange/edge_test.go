package exchange

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
)

// edges are amounts whose words are at the limits of a word, or next to them.
func edges() (all []Amount) {
	words := []uint64{0, 1, 2, 1<<62 - 1, 1<<63 - 1, 1 << 63, ^uint64(0) - 1, ^uint64(0)}
	for _, high := range words {
		if high>>62 == 0 {
			for _, low := range words {
				all = append(all, Amount{int64(high), low})
			}
		}
	}
	return all
}

// panics reports whether a function panics.
func panics(do func()) (did bool) {
	defer func() { did = recover() != nil }()
	do()
	return false
}

// TestArithmeticAtTheLimitsOfAWord compares products, quotients and ratios of all of them with big integers. A result that does
// not fit panics, or is not computed.
func TestArithmeticAtTheLimitsOfAWord(t *testing.T) {
	t.Parallel()
	want := new(big.Int)
	for _, a := range edges() {
		for _, b := range edges() {
			for _, c := range edges() {
				if c.IsZero() {
					continue
				}
				want.Quo(want.Mul(a.big(), b.big()), c.big())
				have, fits := product(a, b).quotient(c)
				if fits != (want.BitLen() <= 126) || fits && have.big().Cmp(want) != 0 {
					t.Fatalf("%s x %s / %s: want %s, have %s, %t", a.big(), b.big(), c.big(), want, have.big(), fits)
				}
			}
			if b.IsZero() {
				continue
			}
			want.Quo(a.big(), b.big())
			if have, fits := quotient(a, b); fits != want.IsUint64() || fits && have != want.Uint64() {
				t.Fatalf("%s / %s: want %s, have %d, %t", a.big(), b.big(), want, have, fits)
			}
		}
	}
}

func TestMulDivAtTheLimitsOfAWord(t *testing.T) {
	t.Parallel()
	numbers := []int64{0, 1, 2, 7, 1<<31 - 1, 1 << 31, 1<<62 - 1, 1<<63 - 2, 1<<63 - 1}
	want := new(big.Int)
	for _, a := range edges() {
		for _, n := range numbers {
			for _, m := range numbers[1:] {
				want.Quo(want.Mul(a.big(), big.NewInt(n)), big.NewInt(m))
				var have Amount
				if over := panics(func() { have = a.MulDiv(n, m) }); over != (want.BitLen() > 127) || !over && have.big().Cmp(want) != 0 {
					t.Fatalf("%s x %d / %d: want %s, have %s, overflow %t", a.big(), n, m, want, have.big(), over)
				}
				if want.BitLen() <= 126 {
					if have := a.Neg().MulDiv(n, m); have != a.MulDiv(n, m).Neg() || a.MulDiv(-n, -m) != a.MulDiv(n, m) {
						t.Fatalf("%s x %d / %d: want the signs multiplied, have %s", a.big(), n, m, have.big())
					}
				}
			}
		}
	}
	if !panics(func() { AmountOf(1).MulDiv(1, 0) }) || !panics(func() { AmountOf(1).Quo(Amount{}) }) || !panics(func() {
		AmountOf(1).MulQuo(AmountOf(1),
			Amount{})
	}) {
		t.Error("want a division by zero to panic")
	}
}

func TestAnAmountThatDoesNotFitPanics(t *testing.T) {
	t.Parallel()
	most := Amount{1<<63 - 1, ^uint64(0)}
	for name, do := range map[string]func(){
		"a sum": func() { most.Add(Amount{0, 1}) }, "a sum below": func() { most.Neg().Sub(Amount{0, 2}) }, "a product": func() { most.Mul(2) },
		"a quotient": func() { most.Quo(Amount{0, 1}) }, "a quotient of 2^63": func() { (Amount{1 << 31, 0}).Quo(Amount{0, 1 << 32}) },
		"a product and quotient": func() { most.MulQuo(most, AmountOf(1)) },
		"a notional":             func() { (&Symbol{notionalUnit: 1e18}).Notional(1<<62, 1<<10) },
	} {
		if !panics(do) {
			t.Errorf("%s: want a panic", name)
		}
	}
	for name, do := range map[string]func(){
		"a sum": func() { most.Sub(Amount{0, 1}) }, "of both signs": func() { most.Add(most.Neg()) }, "a quotient below 2^63": func() {
			(Amount{1<<31 - 1,
				1 << 63}).Quo(Amount{0, 1 << 32})
		},
	} {
		if panics(do) {
			t.Errorf("%s: want no panic", name)
		}
	}
}

// TestDecimalsThatAnAmountHolds covers numbers at the bounds: 18 places, and 126 bits.
func TestDecimalsThatAnAmountHolds(t *testing.T) {
	t.Parallel()
	most := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 126), big.NewInt(1))
	for _, c := range []struct {
		number decimal.Decimal
		want   string // empty: it does not fit
	}{
		{decimal.NewFromBigInt(most, -18), "85070591730234615865.843651857942052863"},
		{decimal.NewFromBigInt(new(big.Int).Neg(most), -18), "-85070591730234615865.843651857942052863"},
		{decimal.NewFromBigInt(new(big.Int).Add(most, big.NewInt(1)), -18), ""},
		{decimal.New(1, -18), "0.000000000000000001"},
		{decimal.New(1, -19), ""},
		{decimal.New(10, -19), "0.000000000000000001"},
		{decimal.New(8, 19), "80000000000000000000"},
		{decimal.New(9, 19), ""},
		{decimal.New(0, 42), "0"}, // an exponent of 60 in units
		{decimal.New(0, 43), ""},
		{decimal.New(0, -418), "0"}, // an exponent of -400 in units
		{decimal.New(0, -419), ""},
		{decimal.NewFromBigInt(new(big.Int).Lsh(big.NewInt(1), 2_000), -18), ""},
	} {
		have, err := AmountFromDecimal(c.number)
		if (err == nil) != (c.want != "") || err != nil && !errors.Is(err, ErrInexact) || err == nil && have.String() != c.want {
			t.Errorf("%.60s: want %q, have %s, %.80v", c.number, c.want, have, err)
		}
	}
	rounded, err := AmountRounded(decimal.RequireFromString("0.0000000000000000015"))
	if err != nil || rounded.String() != "0.000000000000000002" {
		t.Errorf("want half rounded away from zero, have %s, %v", rounded, err)
	}
	for text, want := range map[string]float64{"-2.5": -2.5, "2.5": 2.5, "0": 0, "18446744073709551616": 18446744073709551616} {
		if have := MustAmount(text).Float(); have != want {
			t.Errorf("%s: want %g, have %g", text, want, have)
		}
	}
	if !panics(func() { MustAmount("x") }) {
		t.Error("want a literal that is none to panic")
	}
}

func TestAmountsAreCompared(t *testing.T) {
	t.Parallel()
	sorted := []string{"-20", "-19.5", "-0.000000000000000001", "0", "0.000000000000000001", "18.446744073709551615", "18.446744073709551616", "20"}
	for i, a := range sorted {
		for j, b := range sorted {
			one, other := MustAmount(a), MustAmount(b)
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if one.Cmp(other) != want || one.Less(other) != (want < 0) || one.Min(other) != MustAmount(sorted[min(i,
				j)]) || one.Max(other) != MustAmount(sorted[max(i, j)]) {
				t.Errorf("%s and %s: want %d, have %d", a, b, want, one.Cmp(other))
			}
		}
	}
	for text, want := range map[string]int{"-0.5": -1, "0": 0, "0.000000000000000001": 1, "20": 1} {
		if a := MustAmount(text); a.Sign() != want || a.IsZero() != (want == 0) || a.Abs().Sign() != want*want || a.Neg().Sign() != -want {
			t.Errorf("%s: want the sign %d, have %d", text, want, a.Sign())
		}
	}
}

func TestARateInEveryForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, want string
		float      float64
	}{{"0.0005", "0.0005", 0.0005}, {"-2.5%", "-0.025", -0.025}, {"0.000001%", "0.00000001", 1e-8}, {"92233720368.54775807", "92233720368.54775807",
		92233720368.54775807}} {
		var r Rate
		if err := r.UnmarshalText([]byte(c.text)); err != nil || r.String() != c.want || r.Float() != c.float {
			t.Errorf("%s: want %s, have %s, %g, %v", c.text, c.want, r, r.Float(), err)
		}
		if text, err := r.MarshalText(); string(text) != c.want || err != nil {
			t.Errorf("%s: want %s written, have %s, %v", c.text, c.want, text, err)
		}
	}
	for _, text := range []string{"", "%", "x", "0.0000001%", "92233720368.54775808", "1e400"} {
		if r, err := ParseRate(text); err == nil {
			t.Errorf("%q: want an error, have %s", text, r)
		}
	}
	if _, err := ParseRate("x"); !strings.Contains(err.Error(), `read rate "x"`) {
		t.Errorf("want the text named, have %v", err)
	}
}

// TestPricesOnTheTick covers a symbol whose ticks are 5 and 4 units.
func TestPricesOnTheTick(t *testing.T) {
	t.Parallel()
	s := &Symbol{PriceTick: 5, QuantityTick: 4}
	for _, c := range []struct{ price, floor, ceil Price }{{5, 5, 5}, {6, 5, 10}, {9, 5, 10}, {10, 10, 10}} {
		if s.FloorPrice(c.price) != c.floor || s.CeilPrice(c.price) != c.ceil || s.OnPriceTick(c.price) != (c.price == c.floor) {
			t.Errorf("%d: want %d and %d, have %d and %d", c.price, c.floor, c.ceil, s.FloorPrice(c.price), s.CeilPrice(c.price))
		}
	}
	for quantity, want := range map[Quantity]Quantity{3: 0, 4: 4, 7: 4, -7: -4, -3: 0} {
		if have := s.FloorQuantity(quantity); have != want || s.OnQuantityTick(quantity) != (quantity == want) {
			t.Errorf("%d: want %d, have %d", quantity, want, have)
		}
	}
}

func TestTheMarginLevelOfANotional(t *testing.T) {
	t.Parallel()
	s := &Symbol{Brackets: []Bracket{{Max: AmountOf(100), MaxLeverage: 50}, {Max: AmountOf(1_000), MaxLeverage: 20}}}
	for text, want := range map[string]int{"0": 50, "100": 50, "100.000000000000000001": 20, "1000": 20, "1001": 20} {
		if have := s.BracketOf(MustAmount(text)); have.MaxLeverage != want {
			t.Errorf("%s: want a leverage of %d, have %d", text, want, have.MaxLeverage)
		}
	}
	if have := (&Symbol{}).BracketOf(AmountOf(1)); have.MaxLeverage != 1 {
		t.Errorf("without levels: want 1, have %d", have.MaxLeverage)
	}
}

// TestUnitsOfASymbol uses a symbol of 8 places of price and 3 of quantity.
func TestUnitsOfASymbol(t *testing.T) {
	t.Parallel()
	s, err := NewSymbol(SymbolSpec{Market: Futures, Name: "BTC-USDT", PriceTick: decimal.RequireFromString("0.1"),
		QuantityTick: decimal.RequireFromString("0.001"),
		MaxNotional:  decimal.NewFromInt(1)})
	if err != nil {
		t.Fatal(err)
	}
	price, quantity := Price(50_000*1e8+1), Quantity(-1_250)
	for what, have := range map[string]string{
		"-62500.0000000125": s.Notional(price, quantity).String(), "50000.00000001": s.PriceAmount(price).String(),
		"-1.25":           s.QuantityAmount(quantity).String(),
		"50000.00000001 ": s.PriceDecimal(price).String() + " ", "-1.25 ": s.QuantityDecimal(quantity).String() + " ",
		"-1.25  ": decimal.NewFromFloat(s.QuantityFloat(quantity)).String() + "  ", "futures BTC-USDT": s.Key().String(),
		"40000.0000000000000008": s.AverageCost(MustAmount("-50000.000000000000001"), quantity).String(),
	} {
		if what != have {
			t.Errorf("want %s, have %s", what, have)
		}
	}
	if have := s.PriceFloat(50_000 * 1e8); have != 50_000 {
		t.Errorf("want 50000, have %g", have)
	}
	for text, want := range map[string]Quantity{"1.2509": 1_250, "-1.2509": -1_250, "0": 0, "80000000000000000000": maxUnits,
		"-80000000000000000000": -maxUnits} {
		if have := s.QuantityOf(MustAmount(text)); have != want {
			t.Errorf("%s: want %d units, have %d", text, want, have)
		}
	}
	if have := s.PriceOf(MustAmount("50000.000000019")); have != price {
		t.Errorf("want the highest price not above it, %d, have %d", price, have)
	}
	if (s.AverageCost(AmountOf(1), 0) != Amount{}) || s.QuantityFor(AmountOf(100), 0) != 0 || s.QuantityFor(AmountOf(100), -1) != 0 {
		t.Error("want nothing of a quantity or a price of zero")
	}
	if _, err := s.Price(decimal.New(1, 12)); !errors.Is(err, ErrInexact) {
		t.Errorf("want a price beyond 64 bits refused, have %v", err)
	}
	for name, keys := range map[string][2]SymbolKey{"by market": {{Futures, "Z"}, {Spot, "A"}}, "by name": {{Spot, "A"}, {Spot, "B"}}} {
		if keys[0].Compare(keys[1]) != -1 || keys[1].Compare(keys[0]) != 1 || keys[0].Compare(keys[0]) != 0 {
			t.Errorf("%s: want %v before %v", name, keys[0], keys[1])
		}
	}
}

// TestPlacesOfATick covers ticks with as many places as a symbol may have, and one more.
func TestPlacesOfATick(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"1": 0, "10": 0, "0.10": 1, "0.001": 3, "0.000000000000000001": 18, "0.0000000000000000001": 19} {
		if have := places(decimal.RequireFromString(text)); have != want {
			t.Errorf("%s: want %d, have %d", text, want, have)
		}
	}
	for n, want := uint64(0), uint64(1); n <= 18; n, want = n+1, want*10 {
		if have := PowerOf10(int(n)); have != want {
			t.Errorf("10^%d: want %d, have %d", n, want, have)
		}
	}
}

// TestSignsOfAProductAndOfAQuotient covers factors below one unit of 2^64, whose higher word is zero.
func TestSignsOfAProductAndOfAQuotient(t *testing.T) {
	t.Parallel()
	for _, a := range []int64{-6, 6} {
		for _, b := range []int64{-5, 5} {
			for _, c := range []int64{-3, 3} {
				small := func(n int64) Amount { return scaled(n, 1) }
				if have, want := small(a).MulQuo(small(b), small(c)), small(a*b/c); have != want {
					t.Errorf("%d x %d / %d: want %s, have %s", a, b, c, want, have)
				}
				if have := small(a).Quo(small(c)); have != a/c {
					t.Errorf("%d / %d: want %d, have %d", a, c, a/c, have)
				}
				if have := small(a).Ratio(small(c)); have != Rate(a/c)*RateOne {
					t.Errorf("%d / %d: want the rate %d, have %s", a, c, a/c, have)
				}
				if have := small(a).Div(c); have != small(a/c) {
					t.Errorf("%d / %d: want %d units, have %s", a, c, a/c, have)
				}
			}
		}
	}
	if have := AmountOf(1).Ratio(Amount{}); have != 0 {
		t.Errorf("want no ratio to nothing, have %s", have)
	}
	for text, want := range map[string]string{"0.0003": "0.0003", "0.12": "0.12", "0.0012": "0.0012", "100.000005": "100.000005",
		"0.000000000012": "0.000000000012"} {
		if have := MustAmount(text).String(); have != want {
			t.Errorf("want %s, have %s", want, have)
		}
	}
}

// TestWhichSymbolsAreRefused starts with a valid symbol and changes one property at a time.
func TestWhichSymbolsAreRefused(t *testing.T) {
	t.Parallel()
	one := decimal.NewFromInt(1)
	for _, c := range []struct {
		name   string
		change func(s *SymbolSpec)
		want   string // empty: it is accepted
	}{
		{"nothing", func(*SymbolSpec) {}, ""},
		{"every character", func(s *SymbolSpec) { s.Name, s.Base, s.Quote = "AZaz-09_", "A", "z" }, ""},
		{"40 characters", func(s *SymbolSpec) { s.Name = strings.Repeat("A", 40) }, ""},
		{"41 characters", func(s *SymbolSpec) { s.Name = strings.Repeat("A", 41) }, "a name is at most 40 letters"},
		{"no name", func(s *SymbolSpec) { s.Name = "" }, "symbol without a name"},
		{"a slash", func(s *SymbolSpec) { s.Base = "A/B" }, "a name is at most"}, {"an at", func(s *SymbolSpec) { s.Quote = "@" }, "a name is at most"},
		{"a bracket", func(s *SymbolSpec) { s.Name = "[" }, "a name is at most"}, {"a quote", func(s *SymbolSpec) { s.Name = "`" }, "a name is at most"},
		{"a brace", func(s *SymbolSpec) { s.Name = "{" }, "a name is at most"}, {"a colon", func(s *SymbolSpec) { s.Name = ":" }, "a name is at most"},
		{"a letter of two bytes", func(s *SymbolSpec) { s.Name = "é" }, "a name is at most"},
		{"a tick of nothing", func(s *SymbolSpec) { s.PriceTick = decimal.Zero }, "priceTick 0: must be above zero"},
		{"a step below nothing", func(s *SymbolSpec) { s.QuantityTick = one.Neg() }, "quantityTick -1: must be above zero"},
		{"a tick beyond 64 bits", func(s *SymbolSpec) { s.PriceTick = decimal.New(1, 12) }, "priceTick 1000000000000: "},
		{"a minimum with 19 places", func(s *SymbolSpec) { s.MinNotional = decimal.New(1, -19) }, "minNotional"},
		{"a maximum below the minimum", func(s *SymbolSpec) { s.MinNotional, s.MaxNotional = one.Add(one), one }, "maxNotional 1: below minNotional"},
		{"a maximum at the minimum", func(s *SymbolSpec) { s.MinNotional = one }, ""},
		{"a maximum that does not fit", func(s *SymbolSpec) { s.MaxNotional = decimal.New(1, 30) }, "maxNotional"},
		{"a cap of 9 places", func(s *SymbolSpec) { s.FundingCap = decimal.New(1, -9) }, "adjustedFundingRateCap"},
		{"a floor of 9 places", func(s *SymbolSpec) { s.FundingFloor = decimal.New(1, -9) }, "adjustedFundingRateFloor"},
		{"10 places of quantity", func(s *SymbolSpec) { s.QuantityScale = 10 }, ""},
		{"11 places of quantity", func(s *SymbolSpec) { s.QuantityScale = 11 }, "8 places of price and 11 of quantity are more than 18 together"},
	} {
		spec := SymbolSpec{Market: Futures, Name: "BTC-USDT", Base: "BTC", Quote: "USDT", PriceTick: one, QuantityTick: one, MaxNotional: one}
		c.change(&spec)
		s, err := NewSymbol(spec)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || (s == nil) != (err != nil) {
			t.Errorf("%s: want %q, have %v", c.name, c.want, err)
		}
	}
}

// TestScalesThatAreFinerInOneThing uses a symbol of 8 places of price and 3 of quantity.
func TestScalesThatAreFinerInOneThing(t *testing.T) {
	t.Parallel()
	s := &Symbol{PriceScale: 8, QuantityScale: 3, PriceTick: 5, QuantityTick: 7, notionalUnit: 1e7}
	for _, c := range []struct{ price, quantity, priceScale, quantityScale, priceTick, quantityTick int }{
		{8, 3, 8, 3, 5, 7}, {9, 0, 9, 3, 50, 7}, {0, 5, 8, 5, 5, 700}, {10, 4, 10, 4, 500, 70},
	} {
		finer, err := s.WithScales(c.price, c.quantity)
		if err != nil || finer.PriceScale != c.priceScale || finer.QuantityScale != c.quantityScale || finer.PriceTick != Price(c.priceTick) ||
			finer.QuantityTick != Quantity(c.quantityTick) || (finer == s) != (c.price == 8) {
			t.Errorf("%d and %d: want %+v, have %+v, %v", c.price, c.quantity, c, finer, err)
		}
	}
	if finer, err := s.WithScales(16, 0); err == nil || finer != nil {
		t.Errorf("want 19 places together refused, have %+v", finer)
	}
	if notional, fits := s.NotionalWithin(1<<62, 1<<62, AmountOf(5)); fits || notional != AmountOf(5) {
		t.Errorf("beyond 126 bits: want the limit, and that it does not fit; have %s, %t", notional, fits)
	}
	for quantity, want := range map[Quantity]bool{500: true, -500: true, 501: false, -501: false} { // at a price of 10
		if notional, fits := s.NotionalWithin(10e8, quantity, AmountOf(5)); fits != want || notional != s.Notional(10e8, quantity).Abs() {
			t.Errorf("%d: want it within %t, have %s, %t", quantity, want, notional, fits)
		}
	}
	if have := s.Cost(MustAmount("10.000000005"), -2_000); have.String() != "-20.00000001" {
		t.Errorf("want a mean price finer than a unit counted, have %s", have)
	}
	if have := s.Cost(AmountOf(80_000_000_000_000_000), 1); have != s.Notional(maxUnits, 1) {
		t.Errorf("want a price beyond all prices cut, have %s", have)
	}
}
