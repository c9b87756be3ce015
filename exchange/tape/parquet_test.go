package tape_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/tape"
)

// The types are rows of Parquet files of candles, with columns of several types.
type (
	doubles struct {
		OpenTime    int64    `parquet:"open_time_ms,delta"`
		Open        float64  `parquet:"open"`
		High        float64  `parquet:"high"`
		Low         float64  `parquet:"low"`
		Close       float64  `parquet:"close"`
		Volume      float64  `parquet:"volume"`
		Remark      string   `parquet:"remark,dict"`
		QuoteVolume *float64 `parquet:"quote_volume,optional"`
		Trades      float64  `parquet:"trades"`
	}
	decimals struct {
		OpenTime int64  `parquet:"open_time_ms,timestamp(microsecond)"`
		Open     int64  `parquet:"open,decimal(2:18)"`
		High     int64  `parquet:"high,decimal(2:18)"`
		Low      int64  `parquet:"low,decimal(2:18)"`
		Close    int64  `parquet:"close,decimal(2:18)"`
		Volume   int64  `parquet:"volume"`
		Trades   *int32 `parquet:"trades,optional"`
	}
	plainRow struct {
		OpenTime int64   `parquet:"open_time_ms"`
		Open     float64 `parquet:"open"`
		High     float64 `parquet:"high"`
		Low      float64 `parquet:"low"`
		Close    float64 `parquet:"close"`
		Volume   float64 `parquet:"volume"`
	}
	texts struct {
		OpenTime int64   `parquet:"open_time_ms"`
		Open     string  `parquet:"open"`
		High     string  `parquet:"high"`
		Low      float32 `parquet:"low"`
		Close    string  `parquet:"close"`
		Volume   float64 `parquet:"volume"`
	}
)

// rowsOf draws rows, with faults or without.
func rowsOf(draw *rand.Rand, count int, faults bool) (d []doubles, c []decimals, s []texts) {
	at := int64(1_767_225_600_000)
	for i := range count {
		low := int64(5_000_000 + draw.IntN(1_000_000))
		open, closes := low+int64(draw.IntN(1_000)), low+int64(draw.IntN(1_000))
		high := max(open, closes) + int64(draw.IntN(3))
		price := func(units int64) float64 { return float64(units) / 100 }
		quote := draw.ExpFloat64() * 1e6
		row := doubles{OpenTime: at, Open: price(open), High: price(high), Low: price(low), Close: price(closes), Volume: draw.ExpFloat64(),
			Remark: "x,y", QuoteVolume: &quote, Trades: float64(draw.IntN(5_000))}
		if i%17 == 3 {
			row.QuoteVolume = nil
		}
		if faults && draw.IntN(count/5+1) == 0 {
			switch draw.IntN(8) {
			case 0:
				row.Open = math.NaN()
			case 1:
				row.Volume = -1
			case 2:
				row.Close += 0.125 // more places than any row before
			case 3:
				row.Low = 0
			case 4:
				at += 60_000 * int64(1+draw.IntN(5)) // a gap
			case 5:
				at -= 60_000 // a duplicate
			case 6:
				row.Volume, row.Trades = 1e300, 1.5
			case 7:
				row.High = 1e-30
			}
		}
		trades := int32(i)
		d = append(d, row)
		c = append(c, decimals{OpenTime: row.OpenTime * 1_000, Open: open, High: high, Low: low, Close: closes, Volume: int64(draw.IntN(9)), Trades: &trades})
		s = append(s, texts{row.OpenTime, fmt.Sprint(row.Open), fmt.Sprint(price(high)), float32(int64(price(low))), fmt.Sprint(price(closes)), row.Volume})
		at += 60_000
	}
	return d, c, s
}

func parquetOf[T any](t *testing.T, rows []T) string {
	t.Helper()
	var data bytes.Buffer
	if err := tape.WriteRows(&data, rows); err != nil {
		t.Fatal(err)
	}
	return file(t, "a.parquet", data.Bytes())
}

// asCSV writes the CSV equivalent of a Parquet file.
func asCSV(t *testing.T, path string) string {
	t.Helper()
	reader, err := tape.ParquetAsCSV(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return file(t, "a.csv", text)
}

// TestParquetEqualsItsCSV reads random files both ways, plain ones and ones with faults, gaps,
// missing numbers and prices that need more places, and compares the complete results.
func TestParquetEqualsItsCSV(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		equalsItsCSV(t, seed, []int{1, 700, 1024, 5000, 9000}[seed%5], seed%3 != 0)
	}
}

// TestFewRowsOfParquetEqualTheirCSV makes the same comparison for files a little longer than the rows that
// are examined first.
func TestFewRowsOfParquetEqualTheirCSV(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		equalsItsCSV(t, 100+seed, 1_150, seed > 0)
	}
}

func equalsItsCSV(t *testing.T, seed uint64, count int, faults bool) {
	t.Helper()
	symbol := bitcoin(t)
	draw := rand.New(rand.NewPCG(seed, 1))
	d, c, s := rowsOf(draw, count, faults)
	for _, path := range []string{parquetOf(t, d), parquetOf(t, c), parquetOf(t, s)} {
		text := asCSV(t, path)
		for _, repair := range []bool{false, true} {
			have, haveErr := tape.LoadCandles(path, symbol, exchange.Minute1, tape.Options{Repair: repair})
			want, wantErr := tape.LoadCandles(text, symbol, exchange.Minute1, tape.Options{Repair: repair})
			if a, b := errorText(haveErr), errorText(wantErr); a != b {
				t.Fatalf("seed %d, repair %v: want %q, have %q", seed, repair, b, a)
			}
			if haveErr != nil {
				continue
			}
			have.SHA256, want.SHA256 = "", ""
			if !reflect.DeepEqual(have, want) {
				t.Fatalf("seed %d, repair %v: want the same candles, %d and %d, %v and %v", seed, repair, want.Candles.Len(), have.Candles.Len(),
					want.Repaired, have.Repaired)
			}
		}
	}
}

// errorText returns an error's text without the path.
func errorText(err error) string {
	var data *tape.DataError
	if errors.As(err, &data) {
		other := *data
		other.Path = ""
		return other.Error()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// TestABrokenParquetFileIsAnErrorAndNoGoroutineStays truncates a file, and changes its bytes.
func TestABrokenParquetFileIsAnErrorAndNoGoroutineStays(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(1, 1))
	d, _, _ := rowsOf(draw, 9_000, false)
	path := parquetOf(t, d)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for i := range 60 {
		changed := bytes.Clone(data)
		for range 1 + i%5 {
			changed[4+draw.IntN(len(changed)-8)] ^= byte(1 + draw.IntN(255))
		}
		broken := filepath.Join(t.TempDir(), "b.parquet")
		if err := os.WriteFile(broken, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := tape.LoadCandles(broken, bitcoin(t), exchange.Minute1, tape.Options{}); err != nil {
			if refused++; strings.Contains(err.Error(), "goroutine ") {
				t.Errorf("want an error for a person, have %v", err)
			}
		}
	}
	if refused < 20 {
		t.Errorf("want most broken files refused, have %d of 60", refused)
	}
}
