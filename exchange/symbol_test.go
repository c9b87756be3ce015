package exchange

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
)

func testSymbol(t *testing.T, priceTick, quantityTick string) *Symbol {
	t.Helper()
	s, err := NewSymbol(SymbolSpec{
		Market: Futures, Name: "BTC-USDT", Base: "BTC", Quote: "USDT",
		PriceTick: decimal.RequireFromString(priceTick), QuantityTick: decimal.RequireFromString(quantityTick),
		MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNotionalIsExactOnEveryTick(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ priceTick, quantityTick, price, quantity, want string }{
		{"0.1", "0.001", "60000.1", "0.017", "1020.0017"},
		{"0.01", "0.00001", "42789.39", "0.2336", "9995.601504"},
		{"1e-08", "100", "0.00001234", "1234500", "15.23373"},
		{"0.5", "1", "10.5", "3", "31.5"},
	} {
		s := testSymbol(t, c.priceTick, c.quantityTick)
		price, err := s.Price(decimal.RequireFromString(c.price))
		if err != nil {
			t.Fatal(err)
		}
		quantity, err := s.Quantity(decimal.RequireFromString(c.quantity))
		if err != nil {
			t.Fatal(err)
		}
		if have := s.Notional(price, quantity).String(); have != c.want {
			t.Errorf("%s x %s: want %s, have %s", c.price, c.quantity, c.want, have)
		}
	}
}

// The limit of a sale is the last price less the collar, rounded up to the tick. If that is worth less than
// the minimum, the limit is the lowest price that is worth the minimum.
func TestASaleIsWorthTheMinimumAtTheLowestPrice(t *testing.T) {
	t.Parallel()
	const percent = RateOne / 100
	for _, c := range []struct {
		tick, last, quantity string
		collar               Rate
		want                 string
	}{
		{"0.01", "2500", "1", percent, "2475"},
		{"0.01", "2500.01", "1", percent, "2475.01"},
		{"0.01", "2500", "0.002", percent, "2500"},    // exactly five
		{"0.01", "2500", "0.0021", percent, "2475"},   // more than five
		{"0.01", "1700", "0.003", percent, "1683"},    // worth it without help
		{"0.01", "1670", "0.003", percent, "1666.67"}, // five at 1666.666...
		{"0.1", "50.5", "0.1", 5 * percent, "50"},     // five at a tick
		{"0.1", "2500", "0.0001", 0, "50000"},
		{"0.1", "2500", "0", 0, "2500"}, // no price makes nothing worth an order
		{"1e-08", "1000", "0.003", 0, "1666.66666667"},
	} {
		s := testSymbol(t, c.tick, "0.0001")
		parsed := func(text string) Price {
			price, err := s.Price(decimal.RequireFromString(text))
			if err != nil {
				t.Fatal(err)
			}
			return price
		}
		quantity, err := s.Quantity(decimal.RequireFromString(c.quantity))
		if err != nil {
			t.Fatal(err)
		}
		have := s.SalePrice(parsed(c.last), c.collar, quantity)
		if have != parsed(c.want) {
			t.Errorf("%s at %s: want %s, have %s", c.quantity, c.last, c.want, s.PriceDecimal(have))
		}
		if quantity > 0 && (s.BelowMinimum(have, quantity) || have > parsed(c.last) && !s.BelowMinimum(have-s.PriceTick, quantity)) {
			t.Errorf("%s at %s: %s is not the lowest price worth the minimum", c.quantity, c.last, s.PriceDecimal(have))
		}
	}
}

func TestTicksBindOrdersAndNotData(t *testing.T) {
	t.Parallel()
	s := testSymbol(t, "0.1", "0.001")
	fine, err := s.Price(decimal.RequireFromString("16643.77"))
	if err != nil {
		t.Fatalf("data finer than the tick: %v", err)
	}
	if s.OnPriceTick(fine) {
		t.Error("16643.77 on a tick of 0.1: want false, have true")
	}
	if want, have := "16643.7", s.PriceDecimal(s.FloorPrice(fine)).String(); want != have {
		t.Errorf("floor: want %s, have %s", want, have)
	}
	if want, have := "16643.8", s.PriceDecimal(s.CeilPrice(fine)).String(); want != have {
		t.Errorf("ceil: want %s, have %s", want, have)
	}
	if _, err := s.Quantity(decimal.RequireFromString("0.0001")); !errors.Is(err, ErrInexact) {
		t.Errorf("quantity below the scale: want ErrInexact, have %v", err)
	}
}

func TestFinerScalesKeepTicksAndValues(t *testing.T) {
	t.Parallel()
	s := testSymbol(t, "0.1", "0.001")
	finer, err := s.WithScales(10, 5)
	if err != nil {
		t.Fatal(err)
	}
	price, _ := finer.Price(decimal.RequireFromString("100.1"))
	quantity, _ := finer.Quantity(decimal.RequireFromString("0.003"))
	if !finer.OnPriceTick(price) || !finer.OnQuantityTick(quantity) {
		t.Error("100.1 and 0.003 left their ticks")
	}
	if want, have := "0.3003", finer.Notional(price, quantity).String(); want != have {
		t.Errorf("notional: want %s, have %s", want, have)
	}
}

func TestQuantityForCutsToTheTick(t *testing.T) {
	t.Parallel()
	s := testSymbol(t, "0.01", "0.001")
	price, _ := s.Price(decimal.RequireFromString("16643.77"))
	if want, have := "1.802", s.QuantityDecimal(s.QuantityFor(AmountOf(30_000), price)).String(); want != have {
		t.Errorf("30000 USDT at 16643.77: want %s, have %s", want, have)
	}
}

// TestNotionalsAreProducts compares values with those of decimal, up to products of more than 64 bits.
func TestNotionalsAreProducts(t *testing.T) {
	t.Parallel()
	symbol, draw := testSymbol(t, "0.0001", "0.00001"), rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		price := Price(draw.Uint64N(1<<draw.IntN(50) + 1))
		quantity := Quantity(draw.Uint64N(1<<draw.IntN(50) + 1))
		for _, sign := range [...]int64{1, -1} {
			for _, other := range [...]int64{1, -1} {
				p, q := price*Price(sign), quantity*Quantity(other)
				want := symbol.PriceDecimal(p).Mul(symbol.QuantityDecimal(q))
				if have := symbol.Notional(p, q); !have.Decimal().Equal(want) {
					t.Fatalf("%d x %d: want %s, have %s", p, q, want, have)
				}
			}
		}
	}
}

func TestImpossibleSymbolsAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ priceTick, quantityTick string }{{"0", "0.001"}, {"0.1", "0"}, {"-0.1", "1"}, {"1e-12", "1e-12"}} {
		_, err := NewSymbol(SymbolSpec{Market: Futures, Name: "X-Y", PriceTick: decimal.RequireFromString(c.priceTick),
			QuantityTick: decimal.RequireFromString(c.quantityTick), MaxNotional: decimal.NewFromInt(1)})
		if err == nil {
			t.Errorf("ticks %s and %s: want an error, have none", c.priceTick, c.quantityTick)
		}
	}
}

func TestWeeksBeginOnMonday(t *testing.T) {
	t.Parallel()
	const monday, sunday = int64(1_704_067_200_000), int64(1_704_672_000_000 - 1) // 2024-01-01 and the last ms of 2024-01-07
	if have := Week1.OpenOf(sunday); have != monday {
		t.Errorf("week of 2024-01-07: want %d, have %d", monday, have)
	}
	if have := Day1.OpenOf(sunday); have != sunday+1-int64(Day1) {
		t.Errorf("day of 2024-01-07: have %d", have)
	}
}

func TestAListThatWasNotFetchedIsNotEmpty(t *testing.T) {
	t.Parallel()
	if items := FetchedOf([]Order(nil)).Items(); len(items) != 0 {
		t.Errorf("a fetched empty list: have %v", items)
	}
	defer func() {
		if recover() == nil {
			t.Error("items of a list not fetched: want a panic, have a list")
		}
	}()
	Answer{}.Orders.Items()
}

func TestErrorKindsAreDistinct(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"refusal": &Refusal{}, "uncertain": &Uncertain{Err: &Unavailable{}}, "unavailable": &Unavailable{}, "malformed": &Malformed{}, "other": errors.New("x"),
	} {
		if have := ErrorKind(err); have != want {
			t.Errorf("%T: want %s, have %s", err, want, have)
		}
	}
}

func TestHugeAmountsNeitherOverflowNorPanic(t *testing.T) {
	t.Parallel()
	s := testSymbol(t, "1e-08", "100")
	most := AmountOf(1_000_000_000_000_000_000)
	for _, c := range []struct {
		notional Amount
		price    Price
		want     Quantity
	}{
		{most, 1, s.FloorQuantity(maxUnits)}, {most.Neg(), 1, -s.FloorQuantity(maxUnits)}, {AmountOf(1_000), 1_000, 100_000_000 * powQ(s)}, {AmountOf(1), 0, 0},
	} {
		if have := s.QuantityFor(c.notional, c.price); have != c.want {
			t.Errorf("%s at %d: want %d, have %d", c.notional, c.price, c.want, have)
		}
	}
	if have := s.PriceOf(most.Add(most)); have != maxUnits {
		t.Errorf("a mean price beyond all bounds: want %d, have %d", maxUnits, have)
	}
	for _, c := range []struct {
		price    Price
		quantity Quantity
		well     bool
	}{
		{5_000_000_000_000, 1_000_000, true}, {5_000_000_000_000, -1_000_000, true}, {math.MaxInt64, math.MaxInt64, false},
		{math.MaxInt64, math.MinInt64, false}, {0, math.MinInt64, true},
	} {
		have, well := s.NotionalWithin(c.price, c.quantity, most)
		if well != c.well || well && have != s.Notional(c.price, c.quantity).Abs() {
			t.Errorf("%d of price %d: want within bounds %v and worth its notional; have %v, %s", c.quantity, c.price, c.well, well, have)
		}
	}
	if _, well := s.NotionalWithin(100_000_000, 5*powQ(s), AmountOf(5)); !well {
		t.Error("5 at 1: want within 5")
	}
	if _, well := s.NotionalWithin(100_000_000, 5*powQ(s)+1, AmountOf(5)); well {
		t.Error("more than 5 at 1: want past 5")
	}
}

// powQ is one unit of the base currency, in quantity units.
func powQ(s *Symbol) Quantity { return Quantity(PowerOf10(s.QuantityScale)) }

// An average price has more digits than a price, and they matter for large positions.
func TestTheCostOfAMeanPriceIsExact(t *testing.T) {
	t.Parallel()
	s := testSymbol(t, "0.00000001", "1")
	for _, c := range []struct {
		mean     string
		quantity Quantity
		want     string
	}{
		{"0.00001", 5_000_000_000, "50000"},
		{"0.000010009999999999", 5_000_000_000, "50049.999999995"},
		{"0.000010009999999999", -5_000_000_000, "-50049.999999995"},
		{"0.000000000000000001", 3, "0.000000000000000003"},
		{"0", 7, "0"}, {"0.00001", 0, "0"},
	} {
		if have := s.Cost(MustAmount(c.mean), c.quantity).String(); have != c.want {
			t.Errorf("%d at %s: want %s, have %s", c.quantity, c.mean, c.want, have)
		}
	}
}

// A market that is left out is futures; an unknown one is refused.
func TestASymbolIsNamedByItsMarketAndItsName(t *testing.T) {
	t.Parallel()
	for market, want := range map[string]SymbolKey{"": {Futures, "X"}, "futures": {Futures, "X"}, "spot": {Spot, "X"}} {
		if have, err := ParseSymbolKey(market, "X"); err != nil || have != want {
			t.Errorf("%q: want %v, have %v, %v", market, want, have, err)
		}
	}
	if _, err := ParseSymbolKey("bonds", "X"); err == nil || !strings.Contains(err.Error(), `unknown market "bonds"`) {
		t.Errorf("an unknown market: want a refusal with its name, have %v", err)
	}
}
