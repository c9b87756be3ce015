package tape

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/shopspring/decimal"

	"botd/exchange"
)

// The fast readers leave every doubtful row to the slow one, which reads everything. So only these tests show
// that the fast readers take the rows that they should, and no others.

// TestEachPlainNumberIsScanned covers numbers of each length around the eight digits that are read at a time.
func TestEachPlainNumberIsScanned(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text     string
		mantissa uint64
		places   int
		rest     string // text after the number
	}{
		{"7,", 7, 0, ","}, {"1234567,", 1234567, 0, ","}, {"12345678,", 12345678, 0, ","}, {"123456789\n", 123456789, 0, "\n"},
		{"1704067260000,1", 1704067260000, 0, ",1"}, {"1234567812345678,", 1234567812345678, 0, ","}, {"123456789012345678,", 123456789012345678, 0, ","},
		{"999999999999999999,", 999999999999999999, 0, ","}, {"0.5,", 5, 1, ","}, {".5,", 5, 1, ","}, {"5.,", 5, 0, ","}, {"10.25\r\n", 1025, 2, "\r\n"},
		{"12345678.5,", 123456785, 1, ","}, {"1.1234567,", 11234567, 7, ","}, {"1.12345678,", 112345678, 8, ","}, {"1.123456789,", 1123456789, 9, ","},
		{"1.12345678123456789,", 112345678123456789, 17, ","}, {"0.00000000,", 0, 8, ","}, {"1e5,", 1, 0, "e5,"}, {"1.2.3,", 12, 1, ".3,"},
	} {
		data := append([]byte("xy"+c.text), make([]byte, padding)...)
		mantissa, places, end := scan(data, 2)
		if mantissa != c.mantissa || places != c.places || end < 0 || string(data[end:len(data)-padding]) != c.rest {
			t.Errorf("%q: want %d with %d places before %q, have %d with %d, end %d", c.text, c.mantissa, c.places, c.rest, mantissa, places, end)
		}
	}
	for _, text := range []string{",", ".,", "", "-1,", "x", "1234567890123456789,", "1.123456789012345678,", "0.000000000000000000,"} {
		if mantissa, places, end := scan(append([]byte(text), make([]byte, padding)...), 0); mantissa != 0 || places != 0 || end != -1 {
			t.Errorf("%q: want no number of at most 18 digits, have %d, %d, %d", text, mantissa, places, end)
		}
	}
}

func TestScannedNumbersBecomeUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mantissa      uint64
		places, scale int
		want          int64
		ok            bool
	}{
		{15, 1, 1, 15, true}, {15, 1, 3, 1500, true}, {1500, 3, 1, 15, true}, {1510, 3, 1, 0, false}, {0, 5, 0, 0, true}, {7, 0, 0, 7, true},
		{1, 0, 18, 1e18, true}, {1, 0, 19, 0, false}, {9, 0, 18, 9e18, true}, {10, 0, 18, 0, false}, {9223372036854775807, 0, 0, math.MaxInt64, true},
		{9223372036854775808, 0, 0, 0, false}, {5, 1, 19, 5e18, true},
	} {
		if have, ok := units(c.mantissa, c.places, c.scale); ok != c.ok || ok && have != c.want {
			t.Errorf("%d with %d places in units of 10^-%d: want %d, %t, have %d, %t", c.mantissa, c.places, c.scale, c.want, c.ok, have, ok)
		}
	}
	for text, want := range map[string]int64{"": -1, "0": 0, "007": 7, "123456789012345678": 123456789012345678, "1234567890123456789": -1, "1a": -1, "-1": -1,
		"1/": -1, ":": -1} {
		if have, ok := wholeOf([]byte(text)); ok != (want >= 0) || have != max(0, want) {
			t.Errorf("%q: want %d, have %d, %t", text, want, have, ok)
		}
	}
}

// succeeding returns a parser that has read the candle of minute 0 of 2024, with prices of eight decimal places.
func succeeding(t *testing.T, columns ...column) *parser {
	t.Helper()
	symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Futures, Name: "A-B", Base: "A", Quote: "B",
		PriceTick: decimal.New(1, -8), QuantityTick: decimal.New(1, -3), MaxNotional: decimal.New(1, 6)})
	if err != nil {
		t.Fatal(err)
	}
	p := &parser{symbol: symbol, layout: columns, interval: 60_000, lastMS: 1704067200000, n: 1, candles: &exchange.Candles{Interval: exchange.Minute1}}
	p.candles.Append(exchange.Candle{OpenMS: p.lastMS, Open: 1, High: 1, Low: 1, Close: 1})
	p.reserve(1, 0)
	return p
}

// TestRegularRowsAreReadFast covers rows that the fast way takes, and rows that it leaves.
func TestRegularRowsAreReadFast(t *testing.T) {
	t.Parallel()
	const next = "1704067260000,10,12.5,9,11,"
	for _, c := range []struct {
		text string
		fast bool
	}{
		{next + "1.5,7,x\n", true}, {next + "1.5,7,x\r\n", true}, {next + ",,\n", true}, {next + "0,,ä \"y\n", true},
		{next + "1234567890.12345678,0,\n", true},
		{"1704067260000000,10,12.5,9,11,1,7,\n", true}, {"1704067260000,9,12.5,9,12.5,1,7,\n", true}, {"1704067260000,12.5,12.5,9,9,1,7,\n", true},
		{"1704067260000,0.1,0.1,0.1,0.1,1,7,\n", true}, {"1704067260000,10.50,12.5,9.0,11.000,1,7,\n", true},
		{"1704067260000001,10,12.5,9,11,1,7,\n", false}, {"1704067200000,10,12.5,9,11,1,7,\n", false}, {"1704067320000,10,12.5,9,11,1,7,\n", false},
		{"1704067260000,8.9,12.5,9,11,1,7,\n", false}, {"1704067260000,12.6,12.5,9,11,1,7,\n", false}, {"1704067260000,10,12.5,9,8.9,1,7,\n", false},
		{"1704067260000,10,12.5,9,12.6,1,7,\n", false}, {"1704067260000,0,0,0,0,1,7,\n", false}, {"1704067260000,10,12.5,0,11,1,7,\n", false},
		{"1704067260000,10.12345678,12.5,9,11,1,7,\n", true}, {"1704067260000,10.123456789,12.5,9,11,1,7,\n", false},
		{"1704067260000,,12.5,9,11,1,7,\n", false}, {"1704067260000,10,12.5,9,,1,7,\n", false},
		{"1704067260000.5,10,12.5,9,11,1,7,\n", false}, {next + "1,7.5,\n", false}, {next + "-1,7,\n", false}, {next + "1e3,7,\n", false},
		{next + "1,7\n", false}, {next + "1,7,x,\n", false}, {next + "1\n", false}, {next + "\"1\",7,x\n", false}, {" " + next + "1,7,x\n", false},
	} {
		p := succeeding(t, openTime, openPrice, highPrice, lowPrice, closePrice, volume, trades, skipped)
		data := append([]byte("--"+c.text), make([]byte, padding)...)
		want, count := 0, 1
		if c.fast {
			want, count = 2+len(c.text), 2
		}
		if have := p.fast(data, 2); have != want || p.n != count {
			t.Errorf("%q: want the next row at %d and %d candles, have %d and %d", c.text, want, count, have, p.n)
		}
	}
	first := succeeding(t, openTime, openPrice, highPrice, lowPrice, closePrice, volume)
	if first.n = 0; first.fast(append([]byte(next+"1\n"), make([]byte, padding)...), 0) != 0 {
		t.Error("want the first row left to the slow way, which examines its time")
	}
}

// TestEachFieldOfAFastRowIsStored covers a row with all columns, and one whose optional fields are empty.
func TestEachFieldOfAFastRowIsStored(t *testing.T) {
	t.Parallel()
	p := succeeding(t, klines...)
	p.reserve(2, 0)
	data := append([]byte("1704067260000,10,12.5,9,11,0,1704067319999,33.25,7,0.5,5.5,0\n1704067320000,11,12,9.5,9.5,2.25,,,,,,0\n"),
		make([]byte, padding)...)
	middle := bytes.IndexByte(data, '\n') + 1
	if p.fast(data, 0) != middle || p.closesMS != 1704067319999 || p.fast(data, middle) != len(data)-padding || p.closesMS != 0 || p.noVolume != 1 ||
		p.lastMS != 1704067320000 {
		t.Fatalf("want two rows read, the last at 1704067320000 and one without volume, have %+v", p)
	}
	for i, want := range []exchange.Candle{
		{OpenMS: 1704067260000, Open: 10e8, High: 12.5e8, Low: 9e8, Close: 11e8, QuoteVolume: 33.25, Trades: 7, TakerBase: 0.5, TakerQuote: 5.5},
		{OpenMS: 1704067320000, Open: 11e8, High: 12e8, Low: 9.5e8, Close: 9.5e8, Volume: 2.25},
	} {
		if have := p.candles.At(i + 1); have != want {
			t.Errorf("want %+v, have %+v", want, have)
		}
	}
}

// TestValuesOfParquetAreReadAsNumbers covers values of each type at the bounds of what is read without its text.
func TestValuesOfParquetAreReadAsNumbers(t *testing.T) {
	t.Parallel()
	double, long, short := parquet.DoubleValue, parquet.Int64Value, parquet.Int32Value
	cents, exact := numeric{divide: 1, places: 2, binary: true}, numeric{divide: 1}
	for i, c := range []struct {
		column column
		number numeric
		value  parquet.Value
		want   float64 // a whole number, but for a real column
		fast   bool
	}{
		{volume, exact, double(0), 0, true}, {volume, exact, double(math.Copysign(0, -1)), 0, false}, {volume, exact, double(-1), 0, false},
		{volume, exact, double(1e-15), 0, false}, {volume, exact, double(1.5e-15), 1.5e-15, true},
		{volume, exact, double(999999999999999), 999999999999999, true},
		{volume, exact, double(1e15), 0, false}, {volume, exact, double(math.NaN()), 0, false}, {volume, exact, double(math.Inf(1)), 0, false},
		{volume, exact, parquet.NullValue(), 0, true}, {closePrice, exact, parquet.NullValue(), 0, false}, {openTime, exact, parquet.NullValue(), 0, false},
		{trades, exact, parquet.NullValue(), 0, true}, {volume, exact, long(7), 7, true}, {volume, exact, short(7), 7, true},
		{volume, exact, long(0), 0, true},
		{volume, exact, long(-1), 0, false}, {volume, exact, short(-1), 0, false}, {volume, exact, short(0), 0, true},
		{volume, cents, long(225), 2.25, true},
		{volume, cents, short(225), 2.25, true}, {volume, exact, long(1 << 53), 1 << 53, true}, {volume, exact, long(1<<53 + 1), 0, false},
		{volume, numeric{divide: 1, places: 18, binary: true}, long(5e15), 0.005, true},
		{volume, numeric{divide: 1, places: 19, binary: true}, long(5), 0, false},
		{volume, exact, parquet.FloatValue(1.5), 0, false}, {volume, numeric{divide: 1, binary: true}, long(5), 0, false},
		{closePrice, exact, double(10.5), 105, true}, {closePrice, exact, double(10.25), 0, false}, {closePrice, exact, double(0.1), 1, true},
		{closePrice, exact, double(99999999999999.9), 999999999999999, true}, {closePrice, exact, double(100000000000000), 0, false},
		{closePrice, exact, double(-0.5), 0, false}, {closePrice, exact, long(9), 90, true}, {closePrice, cents, long(1050), 105, true},
		{closePrice, cents, long(1055), 0, false}, {closePrice, cents, short(1050), 105, true}, {closePrice, cents, long(-1050), 0, false},
		{closePrice, numeric{divide: 1, places: 18, binary: true}, long(5e17), 5, true},
		{closePrice, numeric{divide: 1, places: 19, binary: true}, long(5e17), 0, false},
		{trades, exact, long(7), 7, true}, {trades, exact, double(7), 7, true}, {trades, exact, double(7.5), 0, false},
		{trades, cents, long(700), 0, false},
		{trades, exact, long(999999999999999999), 999999999999999999, true}, {trades, exact, long(1e18), 0, false}, {trades, exact, double(-7), 0, false},
		{openTime, numeric{divide: 1000}, long(1704067200000000000), 1704067200000000, true}, {openTime, numeric{divide: 1000}, short(7000), 7, true},
	} {
		p := &part{reader: &columnReader{column: c.column, number: c.number, scale: 1}, values: []parquet.Value{c.value},
			whole: []int64{-9}, real: []float64{-9}, asText: []bool{c.fast}}
		p.convert()
		have := float64(p.whole[0])
		if kinds[c.column] == real {
			have = p.real[0]
		}
		if p.asText[0] == c.fast || c.fast && have != c.want {
			t.Errorf("row %d, %v of %s: want %v, %t, have %v, %t", i, c.value, columnNames[c.column], c.want, c.fast, have, !p.asText[0])
		}
	}
	for scale, want := range map[int]int64{0: 0, 1: 5, 15: 5e14, 16: 0, 18: 0, 19: 0} {
		if have, ok := exact.price(new(double(0.5)), scale); ok != (want > 0) || ok && have != want {
			t.Errorf("0.5 in units of 10^-%d: want %d, have %d, %t", scale, want, have, ok)
		}
	}
}

// TestTheMarketReturnsToItsBounds compares moves of the same random numbers beyond and within an eighth and eight times the first price.
func TestTheMarketReturnsToItsBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		last, pull float64 // in twentieths of the usual move
	}{{8000, 0}, {8001, -1}, {125, 0}, {124, 1}, {1000, 0}, {64000, -1}, {1, 1}} {
		moved := func(last float64) float64 {
			m := &market{random: 5, start: 1000, last: last, usual: 0.0008, wild: 1, trendLeft: 50}
			return m.move()
		}
		if have := (moved(c.last) - moved(1000)) / (0.0008 / 20); math.Abs(have-c.pull) > 1e-9 {
			t.Errorf("at %v of 1000: want a pull of %v, have %v", c.last, c.pull, have)
		}
	}
}

func TestGeneratedMarketsBeginAtTheirPrices(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{"BTC": "50000", "ETH": "2500", "SOL": "100", "PEPE": "0.00001", "ELSE": "0.0001"} {
		symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Spot, Name: base + "-USDT", Base: base, Quote: "USDT",
			PriceTick: decimal.New(1, -8), QuantityTick: decimal.New(1, -3), MaxNotional: decimal.New(1, 6)})
		if err != nil {
			t.Fatal(err)
		}
		candles := Generate(1, symbol, exchange.Minute1, 0, 200)
		first, _ := symbol.PriceDecimal(candles.Open[0]).Float64()
		wanted, err := strconv.ParseFloat(want, 64)
		if err != nil || math.Abs(first/wanted-1) > 0.001 {
			t.Errorf("%s: want it to begin at %s, have %v (%v)", base, want, first, err)
		}
		for i := range candles.Len() {
			c := candles.At(i)
			mean := (symbol.PriceFloat(c.Open) + symbol.PriceFloat(c.Close)) / 2
			if math.Abs(c.QuoteVolume/c.Volume/mean-1) > 1e-9 || math.Abs(c.TakerQuote/c.TakerBase/mean-1) > 1e-9 {
				t.Fatalf("%s: want volumes at the mean of open and close, %v, have %+v", base, mean, c)
			}
		}
	}
}

func TestPricesAreRescaled(t *testing.T) {
	t.Parallel()
	c := &exchange.Candles{Interval: exchange.Minute1}
	c.Append(exchange.Candle{Open: 10, High: 13, Low: 9, Close: 12, Volume: 4})
	for more, factor := range map[int]exchange.Price{-1: 1, 0: 1, 1: 10, 2: 100} {
		have, err := rescaled(c, more)
		if err != nil || !slices.Equal([]exchange.Price{have.Open[0], have.High[0], have.Low[0], have.Close[0]},
			[]exchange.Price{10 * factor, 13 * factor, 9 * factor, 12 * factor}) || have.Volume[0] != 4 || c.Open[0] != 10 {
			t.Errorf("%d more places: want prices times %d, have %+v (%v)", more, factor, have, err)
		}
	}
}
