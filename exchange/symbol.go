package exchange

import (
	"cmp"
	"fmt"
	"math/bits"
	"strings"

	"github.com/shopspring/decimal"
)

// Price is a price in units of 10^-Symbol.PriceScale. It is not a number of ticks: recorded data
// may be finer than the tick that orders must respect.
type Price int64

// Quantity is a base-currency quantity in units of 10^-Symbol.QuantityScale. A position's quantity
// is signed: negative is short.
type Quantity int64

// Abs returns the quantity without its sign.
func (q Quantity) Abs() Quantity { return max(q, -q) }

// Sign returns -1, 0 or 1.
func (q Quantity) Sign() int { return cmp.Compare(q, 0) }

// minPriceScale is the minimum number of decimal places of a Price, so that most recorded data and
// venue averages need no rescaling.
const minPriceScale = 8

// Symbol is one instrument and its rules, from either market's list (interface, Futures symbol and
// Spot pair). It is immutable; pass it by pointer.
type Symbol struct {
	Market Market
	Name   string // BASE-QUOTE, "BTC-USDT"
	Base   string
	Quote  string

	PriceScale    int      // decimal places of a Price
	QuantityScale int      // decimal places of a Quantity
	PriceTick     Price    // price and stopPrice are multiples of it
	QuantityTick  Quantity // qt is a multiple of it
	MinNotional   Amount   // minimum price x quantity, USDT
	MaxNotional   Amount   // maximum price x quantity, USDT

	Tradable   bool // isTrade: new orders can be placed
	ReduceOnly bool // isReduceOnly: only reduceOnly orders are accepted (futures)
	Cancelable bool // isCancelOrder

	FundingCap           Rate // adjustedFundingRateCap (futures)
	FundingFloor         Rate // adjustedFundingRateFloor (futures)
	FundingIntervalHours int  // hours between payments (futures)

	OrderTypes []OrderType // accepted types (spot); nil means all
	Brackets   []Bracket   // margin levels by notional, ascending (futures)

	notionalUnit uint64 // 10^(18-PriceScale-QuantityScale)
}

// Bracket is one margin level (interface, Margin level bracket).
type Bracket struct {
	Min, Max     Amount // notional range in USDT; Min excluded except zero, Max included
	MarginRatio  Rate   // maintenance margin = notional x MarginRatio - MarginAmount
	MarginAmount Amount // USDT
	MaxLeverage  int
}

// SymbolSpec is a Symbol in decimals, as a venue or a file describes it.
type SymbolSpec struct {
	Market                    Market
	Name, Base, Quote         string
	PriceTick, QuantityTick   decimal.Decimal
	MinNotional, MaxNotional  decimal.Decimal
	Tradable, ReduceOnly      bool
	Cancelable                bool
	FundingCap, FundingFloor  decimal.Decimal
	FundingIntervalHours      int
	OrderTypes                []OrderType
	Brackets                  []Bracket
	PriceScale, QuantityScale int // at least this many places; 0 for the default
}

// maxName is the longest name of a symbol or an asset.
const maxName = 40

// validName reports whether a name contains only characters that the interface uses in names. Names
// appear in paths, file names, logs and on screens.
func validName(name string) bool {
	return len(name) <= maxName && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// NewSymbol validates a specification and converts it.
func NewSymbol(spec SymbolSpec) (*Symbol, error) {
	s := &Symbol{
		Market: spec.Market, Name: spec.Name, Base: spec.Base, Quote: spec.Quote,
		Tradable: spec.Tradable, ReduceOnly: spec.ReduceOnly, Cancelable: spec.Cancelable,
		FundingIntervalHours: spec.FundingIntervalHours, OrderTypes: spec.OrderTypes, Brackets: spec.Brackets,
		PriceScale:    max(minPriceScale, places(spec.PriceTick), spec.PriceScale),
		QuantityScale: max(places(spec.QuantityTick), spec.QuantityScale),
	}
	if spec.Name == "" {
		return nil, fmt.Errorf("symbol without a name")
	}
	for _, name := range []string{spec.Name, spec.Base, spec.Quote} {
		if !validName(name) {
			return nil, fmt.Errorf("symbol %.60q of %.60q and %.60q: a name is at most %d letters, digits, - and _", spec.Name, spec.Base, spec.Quote, maxName)
		}
	}
	if err := s.setUnits(); err != nil {
		return nil, err
	}
	fail := func(field string, value decimal.Decimal, err error) (*Symbol, error) {
		return nil, fmt.Errorf("symbol %s: %s %s: %w", spec.Name, field, value, err)
	}
	var err error
	if s.PriceTick, err = s.Price(spec.PriceTick); err != nil || s.PriceTick <= 0 {
		return fail("priceTick", spec.PriceTick, orPositive(err))
	}
	if s.QuantityTick, err = s.Quantity(spec.QuantityTick); err != nil || s.QuantityTick <= 0 {
		return fail("quantityTick", spec.QuantityTick, orPositive(err))
	}
	if s.MinNotional, err = AmountFromDecimal(spec.MinNotional); err != nil {
		return fail("minNotional", spec.MinNotional, err)
	}
	if s.MaxNotional, err = AmountFromDecimal(spec.MaxNotional); err != nil || s.MaxNotional.Less(s.MinNotional) {
		return fail("maxNotional", spec.MaxNotional, fmt.Errorf("below minNotional or not representable"))
	}
	if s.FundingCap, err = RateFromDecimal(spec.FundingCap); err != nil {
		return fail("adjustedFundingRateCap", spec.FundingCap, err)
	}
	if s.FundingFloor, err = RateFromDecimal(spec.FundingFloor); err != nil {
		return fail("adjustedFundingRateFloor", spec.FundingFloor, err)
	}
	return s, nil
}

func orPositive(err error) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("must be above zero")
}

// places returns the number of decimal places without trailing zeros.
func places(d decimal.Decimal) int {
	for n := 0; n <= AmountScale; n++ {
		if d.Equal(d.Truncate(int32(n))) {
			return n
		}
	}
	return AmountScale + 1
}

func (s *Symbol) setUnits() error {
	rest := AmountScale - s.PriceScale - s.QuantityScale
	if rest < 0 {
		return fmt.Errorf("symbol %s: %d places of price and %d of quantity are more than %d together", s.Name, s.PriceScale, s.QuantityScale, AmountScale)
	}
	s.notionalUnit = PowerOf10(rest)
	return nil
}

// powers are the powers of ten that fit in 64 bits, up to AmountScale.
var powers = [AmountScale + 1]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// PowerOf10 returns the power of ten with an exponent from 0 to AmountScale.
func PowerOf10(n int) uint64 { return powers[n] }

// floatPowers are the same as floats, all exact.
var floatPowers = [AmountScale + 1]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// FloatPowerOf10 returns the same power as a float.
func FloatPowerOf10(n int) float64 { return floatPowers[n] }

// WithScales returns the symbol with at least that many places of price and quantity, for recorded
// data finer than the ticks. It returns s itself if it already has them.
func (s *Symbol) WithScales(price, quantity int) (*Symbol, error) {
	if price <= s.PriceScale && quantity <= s.QuantityScale {
		return s, nil
	}
	finer := *s
	finer.PriceScale, finer.QuantityScale = max(price, s.PriceScale), max(quantity, s.QuantityScale)
	if err := finer.setUnits(); err != nil {
		return nil, err
	}
	finer.PriceTick *= Price(PowerOf10(finer.PriceScale - s.PriceScale))
	finer.QuantityTick *= Quantity(PowerOf10(finer.QuantityScale - s.QuantityScale))
	return &finer, nil
}

// Key returns the symbol's key.
func (s *Symbol) Key() SymbolKey { return SymbolKey{s.Market, s.Name} }

// SymbolKey is a market and a symbol's name. It identifies an instrument.
type SymbolKey struct {
	Market Market
	Name   string
}

// ParseSymbolKey names a symbol by its market and its name; a market that is left out is futures.
func ParseSymbolKey(market, name string) (SymbolKey, error) {
	if market == "" {
		return SymbolKey{Futures, name}, nil
	}
	of, err := ParseMarket(market)
	return SymbolKey{of, name}, err
}

// String returns "futures BTC-USDT".
func (k SymbolKey) String() string { return k.Market.String() + " " + k.Name }

// Compare orders keys by market, then name.
func (k SymbolKey) Compare(other SymbolKey) int {
	switch {
	case k == other:
		return 0
	case k.Market < other.Market || k.Market == other.Market && k.Name < other.Name:
		return -1
	}
	return 1
}

// Notional returns price x quantity in USDT, exactly. It has the sign of the quantity.
func (s *Symbol) Notional(price Price, quantity Quantity) Amount {
	high, low := bits.Mul64(magnitude(int64(price)), magnitude(int64(quantity)))
	if high != 0 { // rare: the product has more than 64 bits
		return scaled(int64(price), s.notionalUnit).Mul(int64(quantity))
	}
	if high, low = bits.Mul64(low, s.notionalUnit); high > 1<<63-1 {
		panic("exchange: amount overflow")
	}
	if (price < 0) != (quantity < 0) {
		return Amount{int64(high), low}.Neg()
	}
	return Amount{int64(high), low}
}

// BelowMinimum reports whether the notional of an order is below the minimum that the exchange
// accepts.
func (s *Symbol) BelowMinimum(price Price, quantity Quantity) bool {
	return s.Notional(price, quantity).Less(s.MinNotional)
}

// PriceAmount returns a price as an Amount.
func (s *Symbol) PriceAmount(price Price) Amount {
	return scaled(int64(price), PowerOf10(AmountScale-s.PriceScale))
}

// QuantityAmount returns a quantity as an Amount of the base asset.
func (s *Symbol) QuantityAmount(quantity Quantity) Amount {
	return scaled(int64(quantity), PowerOf10(AmountScale-s.QuantityScale))
}

// QuantityOf returns an amount of the base asset as a Quantity, truncated toward zero and at most
// maxUnits.
func (s *Symbol) QuantityOf(amount Amount) Quantity {
	return Quantity(units(amount, scaled(1, PowerOf10(AmountScale-s.QuantityScale))))
}

// PriceOf returns the highest Price that is not above an Amount. It loses a fraction of a unit: sums are made of Amounts, and a caller that needs an
// upper bound adds one.
func (s *Symbol) PriceOf(amount Amount) Price {
	return Price(units(amount, scaled(1, PowerOf10(AmountScale-s.PriceScale))))
}

// AverageCost returns cost / quantity as a mean price with 18 places, truncated toward zero; or
// zero if the quantity is zero.
func (s *Symbol) AverageCost(cost Amount, quantity Quantity) Amount {
	if quantity == 0 {
		return Amount{}
	}
	return cost.MulDiv(int64(PowerOf10(s.QuantityScale)), int64(quantity))
}

// Cost returns a mean price x quantity with 18 places, truncated toward zero. It has the sign of
// the quantity. The part of a mean price beyond the range of prices is ignored.
func (s *Symbol) Cost(mean Amount, quantity Quantity) Amount {
	whole := s.PriceOf(mean)
	rest := mean.Sub(s.PriceAmount(whole))
	if !rest.Less(s.PriceAmount(1)) {
		rest = Amount{}
	}
	return s.Notional(whole, quantity).Add(rest.MulDiv(int64(quantity), int64(PowerOf10(s.QuantityScale))))
}

// QuantityFor returns the quantity that notional buys at price, rounded down to the quantity tick
// and at most maxUnits.
func (s *Symbol) QuantityFor(notional Amount, price Price) Quantity {
	if price <= 0 {
		return 0
	}
	return s.FloorQuantity(Quantity(units(notional, scaled(int64(price), s.notionalUnit))))
}

// maxUnits is larger than any real number of units. Larger numbers are reduced to it, so the sum of
// two does not overflow.
const maxUnits = 1<<62 - 1

// units returns the number of whole times unit fits into amount, truncated toward zero.
func units(amount, unit Amount) int64 {
	count := int64(maxUnits)
	if q, fits := quotient(amount.Abs(), unit); fits && q < maxUnits {
		count = int64(q)
	}
	if amount.Sign() < 0 {
		return -count
	}
	return count
}

// NotionalWithin returns the notional of a quantity, without its sign, and whether it is at most
// the limit. It never overflows.
func (s *Symbol) NotionalWithin(price Price, quantity Quantity, limit Amount) (Amount, bool) {
	high, low := bits.Mul64(magnitude(int64(price)), magnitude(int64(quantity)))
	over, top := bits.Mul64(high, s.notionalUnit)
	carry, bottom := bits.Mul64(low, s.notionalUnit)
	top, carry2 := bits.Add64(top, carry, 0)
	if over != 0 || carry2 != 0 || top > 1<<63-1 {
		return limit, false
	}
	notional := Amount{int64(top), bottom}
	return notional, !limit.Less(notional)
}

// FloorQuantity truncates a quantity toward zero to a multiple of the tick.
func (s *Symbol) FloorQuantity(q Quantity) Quantity { return q - q%s.QuantityTick }

// FloorPrice rounds a positive price down to a multiple of the tick.
func (s *Symbol) FloorPrice(p Price) Price { return p - p%s.PriceTick }

// Share returns a share of a price, rounded down.
func (p Price) Share(rate Rate) Price {
	one := int64(RateOne)
	return Price(int64(p)/one*int64(rate) + int64(p)%one*int64(rate)/one)
}

// SalePrice returns the limit price of a sale that accepts at most collar below the last price. It is higher where the quantity would be worth less
// than the exchange accepts.
func (s *Symbol) SalePrice(last Price, collar Rate, quantity Quantity) Price {
	return s.AtLeastMinimum(s.CeilPrice(last-last.Share(collar)), quantity)
}

// AtLeastMinimum returns a price, or the lowest higher one at which the quantity is worth the minimum notional.
func (s *Symbol) AtLeastMinimum(price Price, quantity Quantity) Price {
	if quantity <= 0 || !s.BelowMinimum(price, quantity) {
		return price
	}
	price = s.CeilPrice(s.PriceOf(s.AverageCost(s.MinNotional, quantity)))
	if s.BelowMinimum(price, quantity) { // the average was rounded down
		price = s.CeilPrice(price + 1)
	}
	return price
}

// CeilPrice rounds a positive price up to a multiple of the tick.
func (s *Symbol) CeilPrice(p Price) Price { return s.FloorPrice(p + s.PriceTick - 1) }

// OnPriceTick reports whether an order can have the price.
func (s *Symbol) OnPriceTick(p Price) bool { return p%s.PriceTick == 0 }

// OnQuantityTick reports whether an order can have the quantity.
func (s *Symbol) OnQuantityTick(q Quantity) bool { return q%s.QuantityTick == 0 }

// Price converts a decimal exactly, or returns ErrInexact.
func (s *Symbol) Price(d decimal.Decimal) (Price, error) {
	n, err := wholeUnits(d, s.PriceScale)
	return Price(n), err
}

// Quantity converts a decimal exactly, or returns ErrInexact.
func (s *Symbol) Quantity(d decimal.Decimal) (Quantity, error) {
	n, err := wholeUnits(d, s.QuantityScale)
	return Quantity(n), err
}

func wholeUnits(d decimal.Decimal, scale int) (int64, error) {
	n, err := scaledInteger(d, scale)
	if err != nil {
		return 0, err
	}
	if !n.IsInt64() {
		return 0, fmt.Errorf("%s is too large: %w", d, ErrInexact)
	}
	return n.Int64(), nil
}

// PriceDecimal returns a price as a decimal, for input and output.
func (s *Symbol) PriceDecimal(p Price) decimal.Decimal {
	return decimal.New(int64(p), -int32(s.PriceScale))
}

// QuantityDecimal returns a quantity as a decimal, for input and output.
func (s *Symbol) QuantityDecimal(q Quantity) decimal.Decimal {
	return decimal.New(int64(q), -int32(s.QuantityScale))
}

// PriceFloat returns a price for indicators and statistics.
func (s *Symbol) PriceFloat(p Price) float64 { return float64(p) / FloatPowerOf10(s.PriceScale) }

// QuantityFloat returns a quantity for statistics and metrics.
func (s *Symbol) QuantityFloat(q Quantity) float64 {
	return float64(q) / FloatPowerOf10(s.QuantityScale)
}

// BracketOf returns the margin level of a notional, or the last level beyond its maximum. Without
// brackets it returns an empty level of leverage 1.
func (s *Symbol) BracketOf(notional Amount) Bracket {
	for _, b := range s.Brackets {
		if notional.Cmp(b.Max) <= 0 {
			return b
		}
	}
	if n := len(s.Brackets); n > 0 {
		return s.Brackets[n-1]
	}
	return Bracket{MaxLeverage: 1}
}
