package indicator

import (
	"encoding/csv"
	"errors"
	"io/fs"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestAveragesAreComparedExactly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		periods := rapid.SliceOfN(rapid.IntRange(1, 20), 2, 2).Draw(t, "periods")
		values := rapid.SliceOfN(rapid.Int64Range(0, 4_000_000_000_000_000), 20, 60).Draw(t, "values")
		if rapid.Bool().Draw(t, "coarse") { // ties are common on a coarse tick
			for i := range values {
				values[i] %= 3
			}
		}
		fast, slow := NewSMA(periods[0]), NewSMA(periods[1])
		for i, v := range values {
			fast.Next(v)
			slow.Next(v)
			if !fast.Ready() || !slow.Ready() {
				continue
			}
			mean := func(n int) *big.Rat {
				sum := new(big.Int)
				for _, v := range values[i+1-n : i+1] {
					sum.Add(sum, big.NewInt(v))
				}
				return new(big.Rat).SetFrac(sum, big.NewInt(int64(n)))
			}
			if want, have := mean(periods[0]).Cmp(mean(periods[1])), fast.Compare(slow); want != have {
				t.Fatalf("periods %v after %v: want %d, have %d", periods, values[:i+1], want, have)
			}
		}
	})
}

// TestValuesInARowCompareAsOneByOne also uses values at which the sums' products exceed 63 bits in the middle of a row.
func TestValuesInARowCompareAsOneByOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		periods := rapid.SliceOfN(rapid.IntRange(1, 20), 2, 2).Draw(t, "periods")
		most := math.MaxInt64 / int64(periods[0]*periods[1])
		values := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, 3), rapid.SampledFrom([]int64{0, most, min(most, math.MaxInt64/3) * 3})), 30, 90).
			Draw(t, "values")
		row := [2]*SMA{NewSMA(periods[0]), NewSMA(periods[1])}
		single := [2]*SMA{NewSMA(periods[0]), NewSMA(periods[1])}
		for _, v := range values[:20] {
			for i := range row {
				row[i].Next(v)
				single[i].Next(v)
			}
		}
		for at := 20; at < len(values); {
			compare := row[0].Compare(row[1])
			to := min(len(values), at+rapid.IntRange(1, 20).Draw(t, "values at once"))
			taken, now := NextWhile(row[0], row[1], values[at:to], compare)
			if taken < 1 || taken > to-at || taken < to-at && now == compare {
				t.Fatalf("want values up to a change, have %d of %d", taken, to-at)
			}
			for i := range taken {
				single[0].Next(values[at+i])
				single[1].Next(values[at+i])
				if have := single[0].Compare(single[1]); i < taken-1 && have != compare || i == taken-1 && have != now {
					t.Fatalf("value %d of %d: want %d, before %d, have %d", i, taken, have, compare, now)
				}
			}
			if at += taken; !reflect.DeepEqual(row, single) {
				t.Fatalf("want %+v, have %+v", single, row)
			}
		}
	})
}

func TestRSIEqualsTALib(t *testing.T) {
	t.Parallel()
	expected := column(t, "indicators/ta-lib/BTCUSDT_1h_2024_first1000_talib.csv", "RSI14")
	closes := column(t, "candles/binance-spot_BTCUSDT_1h_2024.csv", "close")
	index, compared := NewRSI(14), 0
	for i := range expected {
		have, ok := index.Next(closes[i])
		want := expected[i]
		if known := !math.IsNaN(want); known != ok {
			t.Fatalf("candle %d: TA-Lib has a value: %v, this: %v", i, known, ok)
		}
		if !ok {
			continue
		}
		if math.Abs(have-want) > 1e-9*math.Abs(want) {
			t.Fatalf("candle %d: want %v, have %v", i, want, have)
		}
		compared++
	}
	if compared < 900 {
		t.Errorf("only %d values were compared", compared)
	}
}

// recorded holds the rows of each recorded file, which is read once, and columns the numbers of each column.
var recorded, columns sync.Map

// rowsOf reads a recorded file.
func rowsOf(name string) ([][]string, error) {
	read, _ := recorded.LoadOrStore(name, sync.OnceValues(func() ([][]string, error) {
		file, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return csv.NewReader(file).ReadAll()
	}))
	return read.(func() ([][]string, error))()
}

// column returns one column of a recorded file; an empty field is NaN.
func column(t *testing.T, name, header string) []float64 {
	t.Helper()
	if values, known := columns.Load(name + " " + header); known {
		return values.([]float64)
	}
	rows, err := rowsOf(name)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("recorded data is not beside the project: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(rows[0], header)
	if at < 0 {
		t.Fatalf("%s: no column %s in %v", name, header, rows[0])
	}
	values := make([]float64, 0, len(rows))
	for _, row := range rows[1:] {
		value, err := strconv.ParseFloat(row[at], 64)
		if err != nil {
			value = math.NaN()
		}
		values = append(values, value)
	}
	columns.Store(name+" "+header, values)
	return values
}
