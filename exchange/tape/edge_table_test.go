package tape_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"botd/exchange"
	"botd/exchange/tape"
)

// TestRowGroupsOfParquetAreOneSeries covers groups that end before, at and after the rows that are examined first.
func TestRowGroupsOfParquetAreOneSeries(t *testing.T) {
	t.Parallel()
	for _, groups := range [][]int{{600, 600, 600}, {1024, 10}, {1023, 2, 5}, {5, 4100, 4096}, {1, 1, 1}} {
		var out bytes.Buffer
		writer, count := parquet.NewGenericWriter[plainRow](&out), 0
		for _, length := range groups {
			for range length {
				price := 10 + float64(count%7)/10
				if _, err := writer.Write([]plainRow{{january + int64(count)*60_000, price, price, price, price, float64(count)}}); err != nil {
					t.Fatal(err)
				}
				count++
			}
			if err := writer.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := writer.Close(); err != nil {
			t.Fatal(err)
		}
		have, err := tape.LoadCandles(file(t, "a.parquet", out.Bytes()), bitcoin(t), exchange.Minute1, tape.Options{})
		if err != nil || have.Candles.Len() != count || len(have.Holes) > 0 {
			t.Errorf("groups of %v: want %d candles, have %+v (%v)", groups, count, have, err)
			continue
		}
		for i := range count {
			if c := have.Candles.At(i); c.Volume != float64(i) || c.OpenMS != january+int64(i)*60_000 {
				t.Fatalf("groups of %v: row %d: have %+v", groups, i, c)
			}
		}
	}
}

// failing is a writer that accepts the given number of bytes and no more.
type failing struct{ left int }

var errFull = errors.New("the disk is full")

func (f *failing) Write(text []byte) (int, error) {
	if f.left -= len(text); f.left < 0 {
		return 0, errFull
	}
	return len(text), nil
}

// TestAFullDiskStopsAnExport writes 3,000 candles, more than a buffer, to a disk that takes some of them.
func TestAFullDiskStopsAnExport(t *testing.T) {
	t.Parallel()
	candles := tape.Generate(3, bitcoin(t), exchange.Minute1, january, 3_000)
	for _, room := range []int{0, 100_000} {
		if err := tape.WriteCSV(&failing{room}, candles, bitcoin(t), nil); !errors.Is(err, errFull) {
			t.Errorf("CSV, room for %d bytes: want %v, have %v", room, errFull, err)
		}
		if err := tape.WriteParquet(&failing{room}, candles, bitcoin(t), nil); !errors.Is(err, errFull) {
			t.Errorf("Parquet, room for %d bytes: want %v, have %v", room, errFull, err)
		}
	}
}

// TestSymbolsShareTheirBrackets covers YAML aliases of a list of brackets, of a bracket and of a number.
func TestSymbolsShareTheirBrackets(t *testing.T) {
	t.Parallel()
	const text = `
- &first {symbol: A-B, market: futures, priceTick: &tick 0.1, quantityTick: *tick,
  brackets: &all [{max: 9, maxLeverage: 5}, &last {min: 9, max: 20, maxLeverage: 3}]}
- {symbol: C-D, market: futures, priceTick: 1, quantityTick: 1, brackets: *all}
- {symbol: E-F, market: futures, priceTick: 1, quantityTick: 1, brackets: [*last]}
`
	symbols, err := tape.LoadSymbols(file(t, "s.yaml", []byte(text)))
	if err != nil || len(symbols) != 3 {
		t.Fatalf("want three symbols, have %v (%v)", symbols, err)
	}
	for i, want := range []string{"0-9 of 5, 9-20 of 3", "0-9 of 5, 9-20 of 3", "9-20 of 3"} {
		var have []string
		for _, b := range symbols[i].Brackets {
			have = append(have, fmt.Sprintf("%s-%s of %d", b.Min, b.Max, b.MaxLeverage))
		}
		if strings.Join(have, ", ") != want {
			t.Errorf("%s: want brackets %s, have %s", symbols[i].Name, want, strings.Join(have, ", "))
		}
	}
	var wrong *tape.DataError
	if _, err := tape.LoadSymbols(file(t, "s.yaml", []byte(text+"- *first\n"))); !errors.As(err, &wrong) || wrong.What != "futures A-B appears twice" {
		t.Errorf("a whole record named again: want it to appear twice, have %v", err)
	}
	for field, want := range map[string]string{
		"minNotional: 1e29": "minNotional 1", "maxNotional: 1e-29": "maxNotional 0.0",
		"brackets: [{max: 1e29, maxLeverage: 5}]": "amount beyond 8.5e19", "brackets: [{max: 9, marginAmount: 1e29, maxLeverage: 5}]": "amount beyond 8.5e19",
		"brackets: [{max: 9, marginRatio: 1e29, maxLeverage: 5}]": "rate",
	} {
		_, err := tape.LoadSymbols(file(t, "s.yaml", []byte("\n- {symbol: X-Y, priceTick: 0.1, quantityTick: 0.1, "+field+"}\n")))
		if !errors.As(err, &wrong) || wrong.Line != 2 || !strings.Contains(wrong.What, want) {
			t.Errorf("%s: want a number that does not fit, have %v", field, err)
		}
	}
}

// TestTimesOfTradesInMicrosecondsHaveBounds reads times around 1973 and 2286, within which a number is in microseconds.
func TestTimesOfTradesInMicrosecondsHaveBounds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"100000000000000": "100000000000", "9999999999999999": "9999999999999", "100000000000999": "100000000000",
		"10000000000000000": "10000000000000000 is in another unit than milliseconds",
		"99999999999999":    "99999999999999 is in another unit than milliseconds",
	} {
		have, err := tape.LoadTrades(outside(t, "is_buyer_maker,id,price,qty,time_ms\ntrue,1,10,2,"+text+"\n"), ether(t))
		var wrong *tape.DataError
		switch {
		case err == nil && (fmt.Sprint(have.TimeMS[0]) != want || !have.Sold[0]):
			t.Errorf("%s: want a sale at %s, have %+v", text, want, have)
		case err != nil && (!errors.As(err, &wrong) || wrong.What != want):
			t.Errorf("%s: want %q, have %v", text, want, err)
		}
	}
}

// TestTheFirstOfEqualDistancesIsUsual covers payments 4 and 8 hours apart, each once.
func TestTheFirstOfEqualDistancesIsUsual(t *testing.T) {
	t.Parallel()
	const hour = 3_600_000
	every, gaps := tape.FundingGaps([]tape.FundingRow{{TimeMS: 0}, {TimeMS: 4 * hour}, {TimeMS: 12 * hour}})
	if every != 4 || len(gaps) != 1 || gaps[0] != (tape.FundingGap{AfterMS: 4 * hour, BeforeMS: 12 * hour}) {
		t.Errorf("want payments every 4 hours and one gap, have %d, %v", every, gaps)
	}
	if every, gaps := tape.FundingGaps(nil); every != 0 || gaps != nil {
		t.Errorf("no payments: want nothing, have %d, %v", every, gaps)
	}
}
