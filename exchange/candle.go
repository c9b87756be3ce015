package exchange

import (
	"fmt"
	"slices"
	"strings"
)

// Interval is a candle's length in milliseconds.
type Interval int64

// The intervals both markets may serve. Spot serves neither 30m nor 1w (interface, Futures public
// and Spot public).
const (
	Minute1  Interval = 60_000
	Minute5  Interval = 5 * Minute1
	Minute15 Interval = 15 * Minute1
	Minute30 Interval = 30 * Minute1
	Hour1    Interval = 60 * Minute1
	Hour4    Interval = 4 * Hour1
	Day1     Interval = 24 * Hour1
	Week1    Interval = 7 * Day1
)

var intervals = []struct {
	interval Interval
	word     string
}{
	{Minute1, "1m"}, {Minute5, "5m"}, {Minute15, "15m"}, {Minute30, "30m"},
	{Hour1, "1h"}, {Hour4, "4h"}, {Day1, "1d"}, {Week1, "1w"},
}

// FuturesCandlesPage and SpotCandlesPage are the maximum numbers of candles in one answer (interface, Limits).
const FuturesCandlesPage, SpotCandlesPage = 1_500, 500

// CandlesPage returns the maximum of a market.
func CandlesPage(market Market) int {
	if market == Spot {
		return SpotCandlesPage
	}
	return FuturesCandlesPage
}

// Intervals returns all intervals, shortest first.
func Intervals() []Interval {
	all := make([]Interval, len(intervals))
	for i, v := range intervals {
		all[i] = v.interval
	}
	return all
}

// ParseInterval reads 1m, 5m, 15m, 30m, 1h, 4h, 1d or 1w.
func ParseInterval(text string) (Interval, error) {
	known := make([]string, len(intervals))
	for i, v := range intervals {
		if v.word == text {
			return v.interval, nil
		}
		known[i] = v.word
	}
	return 0, fmt.Errorf("unknown interval %q (known: %s)", text, strings.Join(known, ", "))
}

// String returns the interval as the interface writes it.
func (i Interval) String() string {
	for _, v := range intervals {
		if v.interval == i {
			return v.word
		}
	}
	return fmt.Sprintf("%dms", int64(i))
}

// MarshalText writes String.
func (i Interval) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads an interval.
func (i *Interval) UnmarshalText(text []byte) (err error) {
	*i, err = ParseInterval(string(text))
	return err
}

// mondayMS is the first Monday after the epoch. Weeks are counted from it.
const mondayMS = 4 * int64(Day1)

// OpenOf returns the open time of the candle that contains the time: a multiple of the interval in
// UTC; weeks begin on Monday.
func (i Interval) OpenOf(timeMS int64) int64 {
	offset := int64(0)
	if i == Week1 {
		offset = mondayMS
	}
	rest := (timeMS - offset) % int64(i)
	if rest < 0 {
		rest += int64(i)
	}
	return timeMS - rest
}

// Candle is one candle (interface, Futures candle). Prices are in the symbol's units. Volumes are
// float64, since they feed statistics and never an order.
type Candle struct {
	OpenMS                 int64 // open time
	Open, High, Low, Close Price
	Volume                 float64 // base currency
	QuoteVolume            float64 // USDT
	Trades                 int64
	TakerBase, TakerQuote  float64 // bought by takers
}

// Candles are the candles of one symbol and interval in columns, oldest first. The optional columns
// (QuoteVolume and after) are empty if the source has none.
type Candles struct {
	Interval               Interval
	OpenMS                 []int64
	Open, High, Low, Close []Price
	Volume                 []float64

	QuoteVolume           []float64
	Trades                []int64
	TakerBase, TakerQuote []float64
}

// NewCandles returns no candles, with room for n.
func NewCandles(interval Interval, n int) *Candles {
	prices, volumes := func() []Price { return make([]Price, 0, n) }, func() []float64 { return make([]float64, 0, n) }
	return &Candles{Interval: interval, OpenMS: make([]int64, 0, n), Open: prices(), High: prices(), Low: prices(), Close: prices(), Volume: volumes(),
		QuoteVolume: volumes(), Trades: make([]int64, 0, n), TakerBase: volumes(), TakerQuote: volumes()}
}

// Clone returns a copy that shares nothing.
func (c *Candles) Clone() *Candles {
	return &Candles{
		Interval: c.Interval, OpenMS: slices.Clone(c.OpenMS), Open: slices.Clone(c.Open), High: slices.Clone(c.High),
		Low: slices.Clone(c.Low), Close: slices.Clone(c.Close), Volume: slices.Clone(c.Volume), QuoteVolume: slices.Clone(c.QuoteVolume),
		Trades: slices.Clone(c.Trades), TakerBase: slices.Clone(c.TakerBase), TakerQuote: slices.Clone(c.TakerQuote),
	}
}

// Len returns the number of candles.
func (c *Candles) Len() int { return len(c.OpenMS) }

// At returns candle i; 0 is the oldest.
func (c *Candles) At(i int) (candle Candle) {
	c.Load(i, &candle)
	return candle
}

// Load overwrites a candle with candle i.
func (c *Candles) Load(i int, candle *Candle) {
	candle.OpenMS, candle.Open, candle.High, candle.Low, candle.Close = c.OpenMS[i], c.Open[i], c.High[i], c.Low[i], c.Close[i]
	candle.Volume = c.Volume[i]
	candle.QuoteVolume, candle.Trades, candle.TakerBase, candle.TakerQuote = 0, 0, 0, 0
	if len(c.QuoteVolume) > 0 {
		candle.QuoteVolume = c.QuoteVolume[i]
	}
	if len(c.Trades) > 0 {
		candle.Trades = c.Trades[i]
	}
	if len(c.TakerBase) > 0 {
		candle.TakerBase, candle.TakerQuote = c.TakerBase[i], c.TakerQuote[i]
	}
}

// CloseMS returns the first millisecond after candle i.
func (c *Candles) CloseMS(i int) int64 { return c.OpenMS[i] + int64(c.Interval) }

// Append adds a candle at the end. It fills the columns that exist, or all columns for the first
// candle.
func (c *Candles) Append(candle Candle) {
	first := len(c.OpenMS) == 0
	c.OpenMS = append(c.OpenMS, candle.OpenMS)
	c.Open = append(c.Open, candle.Open)
	c.High = append(c.High, candle.High)
	c.Low = append(c.Low, candle.Low)
	c.Close = append(c.Close, candle.Close)
	c.Volume = append(c.Volume, candle.Volume)
	if first || len(c.QuoteVolume) > 0 {
		c.QuoteVolume = append(c.QuoteVolume, candle.QuoteVolume)
	}
	if first || len(c.Trades) > 0 {
		c.Trades = append(c.Trades, candle.Trades)
	}
	if first || len(c.TakerBase) > 0 {
		c.TakerBase, c.TakerQuote = append(c.TakerBase, candle.TakerBase), append(c.TakerQuote, candle.TakerQuote)
	}
}

// Merge adds a shorter candle to the last one, or begins a new one with it.
func (c *Candles) Merge(part Candle) {
	open, n := c.Interval.OpenOf(part.OpenMS), c.Len()-1
	if n < 0 || c.OpenMS[n] != open {
		part.OpenMS = open
		c.Append(part)
		return
	}
	c.High[n], c.Low[n], c.Close[n] = max(c.High[n], part.High), min(c.Low[n], part.Low), part.Close
	c.Volume[n] += part.Volume
	if len(c.QuoteVolume) > 0 {
		c.QuoteVolume[n] += part.QuoteVolume
	}
	if len(c.Trades) > 0 {
		c.Trades[n] += part.Trades
	}
	if len(c.TakerBase) > 0 {
		c.TakerBase[n] += part.TakerBase
		c.TakerQuote[n] += part.TakerQuote
	}
}

// Slice returns the candles in [from, to). The columns are shared, without spare capacity: appended candles go to new arrays.
func (c *Candles) Slice(from, to int) *Candles {
	return &Candles{
		Interval: c.Interval, OpenMS: c.OpenMS[from:to:to], Open: c.Open[from:to:to], High: c.High[from:to:to], Low: c.Low[from:to:to],
		Close: c.Close[from:to:to], Volume: c.Volume[from:to:to], QuoteVolume: optional(c.QuoteVolume, from, to),
		Trades: optional(c.Trades, from, to), TakerBase: optional(c.TakerBase, from, to), TakerQuote: optional(c.TakerQuote, from, to),
	}
}

// optional slices a column that the source may lack.
func optional[T any](column []T, from, to int) []T {
	if len(column) == 0 {
		return nil
	}
	return column[from:to:to]
}

// Join extends a candle by its successor.
func (c *Candle) Join(next *Candle) {
	c.High, c.Low, c.Close = max(c.High, next.High), min(c.Low, next.Low), next.Close
	c.Volume += next.Volume
	c.QuoteVolume += next.QuoteVolume
	c.Trades += next.Trades
	c.TakerBase += next.TakerBase
	c.TakerQuote += next.TakerQuote
}

// CheckBuilds returns an error unless candles of the longer interval can be built from candles of
// this one.
func (i Interval) CheckBuilds(longer Interval) error {
	if i <= 0 || longer <= i || longer%i != 0 {
		return fmt.Errorf("candles of %s cannot be built from candles of %s: the interval must be a multiple", longer, i)
	}
	return nil
}

// Plausible returns the reason why a candle is invalid, or nil: prices are above zero, high is the
// highest, low the lowest, volume is not negative.
func (c Candle) Plausible() error {
	switch {
	case c.Low <= 0:
		return fmt.Errorf("low %d is not above zero", c.Low)
	case c.High < c.Low:
		return fmt.Errorf("high is below low")
	case c.Open < c.Low || c.Open > c.High:
		return fmt.Errorf("open is outside low..high")
	case c.Close < c.Low || c.Close > c.High:
		return fmt.Errorf("close is outside low..high")
	case !(c.Volume >= 0):
		return fmt.Errorf("volume %v is not a number from zero up", c.Volume)
	}
	return nil
}
