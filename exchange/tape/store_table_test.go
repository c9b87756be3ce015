package tape_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/tape"
)

// TestWritingIsStoppedByItsStep writes 17,000 candles, of whose progress a step is called after 16,384.
func TestWritingIsStoppedByItsStep(t *testing.T) {
	t.Parallel()
	candles := tape.Generate(3, bitcoin(t), exchange.Minute1, january, 17_000)
	full := errors.New("stop here")
	for _, name := range []string{"a.csv", "a.csv.gz", "a.parquet"} {
		for stopAt := range 2 {
			var have []int
			path := filepath.Join(t.TempDir(), name)
			err := tape.WriteFile(path, candles, bitcoin(t), func(done, total int) error {
				if have = append(have, done); total != 17_000 {
					t.Errorf("%s: want a total of 17000, have %d", name, total)
				}
				if len(have) == stopAt {
					return full
				}
				return nil
			})
			want := []int{16_384}
			left, globErr := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
			if _, lost := os.Stat(path); !slices.Equal(want, have) || (stopAt == 0) != (err == nil) || stopAt > 0 && !errors.Is(err, full) ||
				(lost == nil) != (stopAt == 0) || globErr != nil || len(left) != map[bool]int{true: 1, false: 0}[stopAt == 0] {
				t.Errorf("%s: want steps %v and no file but a whole one, have %v, %v, %v, %q", name, want, have, err, lost, left)
			}
		}
	}
}

// TestRowsOfAnyOrderAreSorted saves the newest row first, and one row twice.
func TestRowsOfAnyOrderAreSorted(t *testing.T) {
	t.Parallel()
	have, err := tape.LoadCandles(file(t, "x.csv", []byte(header+minute(2)+minute(1)+minute(0))), bitcoin(t), 0, tape.Options{})
	if err != nil || !slices.Equal(have.Candles.OpenMS, []int64{january, january + 60_000, january + 120_000}) {
		t.Errorf("want three ascending candles, have %v (%v)", have, err)
	}
	for text, want := range map[string]string{
		header + minute(0) + minute(0) + minute(1):             ":3: open time 1704067200000 appears twice",
		header + minute(1) + minute(2) + minute(1) + minute(3): ":4: open time 1704067260000 is before the row above (1704067320000): out of order",
	} {
		if _, err := tape.LoadCandles(file(t, "x.csv", []byte(text)), bitcoin(t), exchange.Minute1, tape.Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("want %q, have %v", want, err)
		}
	}
}

// TestParquetRefusesWhatItsTextWouldBe uses numbers that no candle can have, after the rows that are examined
// first.
func TestParquetRefusesWhatItsTextWouldBe(t *testing.T) {
	t.Parallel()
	type row struct {
		OpenTime int64   `parquet:"open_time_ms"`
		Open     float64 `parquet:"open"`
		High     float64 `parquet:"high"`
		Low      [9]byte `parquet:"low,decimal(2:20)"`
		Close    float64 `parquet:"close"`
		Volume   float64 `parquet:"volume"`
		Trades   float64 `parquet:"trades"`
	}
	const wrong = 1_500
	for want, change := range map[string]func(r *row){
		"":                                       func(r *row) {},
		"impossible prices: low -0.01 is not":    func(r *row) { r.Low = [9]byte{255, 255, 255, 255, 255, 255, 255, 255, 255} },
		"impossible prices: low 0 is not":        func(r *row) { r.Low = [9]byte{} },
		`trades "1.5" is not a whole number`:     func(r *row) { r.Trades = 1.5 },
		`trades "1000000000000000000000000`:      func(r *row) { r.Trades = 1e300 },
		`trades "-1" is not a whole number`:      func(r *row) { r.Trades = -1 },
		"volume -1 is below zero":                func(r *row) { r.Volume = -1 },
		"impossible prices: high is below low":   func(r *row) { r.High = 8 },
		"impossible prices: open is outside low": func(r *row) { r.Open = 12.5 },
		"is off the grid of 1m":                  func(r *row) { r.OpenTime++ },
		"appears twice":                          func(r *row) { r.OpenTime -= 60_000 },
	} {
		var rows []row
		for i := range 2_000 {
			rows = append(rows, row{january + int64(i)*60_000, 10, 12, [9]byte{7: 3, 8: 132}, 11, 1e16, 7}) // a low of 9.00
		}
		change(&rows[wrong])
		have, err := tape.LoadCandles(parquetOf(t, rows), bitcoin(t), exchange.Minute1, tape.Options{})
		if want == "" {
			if err != nil || have.Candles.Len() != 2_000 || have.Candles.Volume[1_999] != 1e16 || have.Candles.Trades[1_999] != 7 {
				t.Errorf("want 2000 candles, have %v (%v)", have, err)
			}
			continue
		}
		repaired, dropped := tape.LoadCandles(parquetOf(t, rows), bitcoin(t), exchange.Minute1, tape.Options{Repair: true})
		if dropped != nil || repaired.Candles.Len() != 1_999 || len(repaired.Repaired) != 1 || repaired.Candles.OpenMS[wrong-1] != january+(wrong-1)*60_000 ||
			repaired.Candles.OpenMS[wrong] != january+(wrong+1)*60_000 || repaired.Candles.OpenMS[1_998] != january+1_999*60_000 {
			t.Errorf("%s: want that row dropped alone, have %v (%v)", want, repaired, dropped)
		}
		if place := fmt.Sprintf("a.parquet:%d: ", wrong+2); err == nil || !strings.Contains(err.Error(), place) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s%s, have %v", place, want, err)
		}
	}
}

// TestTradesWithoutAHeaderNameTheirFirstLine covers a wrong first row.
func TestTradesWithoutAHeaderNameTheirFirstLine(t *testing.T) {
	t.Parallel()
	_, err := tape.LoadTrades(outside(t, "x,2683.80,1.5,4025.70,1735689600123456,False,True\n"), ether(t))
	if err == nil || !strings.Contains(err.Error(), `outside.csv:1: "x" is not a number above the previous id`) {
		t.Errorf("have %v", err)
	}
	// 1,000 times the bounds of milliseconds are those of microseconds.
	for text, want := range map[string]int64{"100000000000000": 100_000_000_000, "99999999999999": 0, "9999999999999999": 9_999_999_999_999,
		"10000000000000000": 0} {
		have, err := tape.LoadTrades(outside(t, "id,price,qty,time,side\n1,10,1,"+text+",buy\n"), ether(t))
		if want == 0 != (err != nil) || want != 0 && have.TimeMS[0] != want {
			t.Errorf("%s: want %d, have %+v (%v)", text, want, have, err)
		}
	}
}

// TestACacheIsWhereTheUserSays reads the environment.
func TestACacheIsWhereTheUserSays(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	t.Setenv("HOME", home)
	system, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{"": filepath.Join(system, "botd", "candles"), "/elsewhere": "/elsewhere", "off": ""} {
		t.Setenv("BOTD_CACHE", value)
		have := tape.OpenCache()
		if have == nil != (want == "") || have != nil && have.Directory != want {
			t.Errorf("BOTD_CACHE=%s: want %q, have %+v", value, want, have)
		}
	}
	t.Setenv("BOTD_CACHE", "")
	t.Setenv("XDG_CACHE_HOME", "relative")
	t.Setenv("HOME", "")
	if have := tape.OpenCache(); have != nil {
		t.Errorf("no directory: want no cache, have %+v", have)
	}
}
