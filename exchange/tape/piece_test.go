package tape

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"botd/exchange"
)

// TestTheOlderQuarterOfAFileIsCut covers a header and rows of ten bytes each. The row in which the quarter ends goes too.
func TestTheOlderQuarterOfAFileIsCut(t *testing.T) {
	t.Parallel()
	for rows, want := range map[int]int{100: 74, 99: 74, 98: 73, 4: 2, 1: 0} { // the quarter ends after 250, 247, 245, 10 and 2 bytes
		text := "time,x\n"
		var all []string
		for i := range rows {
			all = append(all, fmt.Sprintf("%09d\n", i))
		}
		path := filepath.Join(t.TempDir(), "rows.csv")
		if err := os.WriteFile(path, []byte(text+strings.Join(all, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := cutFront(path); err != nil {
			t.Fatal(err)
		}
		have, err := os.ReadFile(path)
		if err != nil || string(have) != text+strings.Join(all[rows-want:], "") {
			t.Errorf("of %d rows: want the header and the last %d, have %d (%v)", rows, want, bytes.Count(have, []byte("\n"))-1, err)
		}
	}
	empty := filepath.Join(t.TempDir(), "empty.csv")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cutFront(empty); err == nil || !strings.Contains(err.Error(), "read its header") {
		t.Errorf("without a header: have %v", err)
	}
	if err := cutFront(empty + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: have %v", err)
	}
}

func TestTheTimeOfALineIsInItsColumn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line   string
		column int
		at     int64
		found  bool
	}{{"17,x", 0, 17, true}, {"x,17", 1, 17, true}, {"17", 1, 0, false}, {"x,17", 0, 0, false}, {"", 0, 0, false}, {"-5,1", 0, -5, true}} {
		if at, found := timeIn([]byte(c.line), c.column); at != c.at || found != c.found {
			t.Errorf("%q, column %d: want %d, %v, have %d, %v", c.line, c.column, c.at, c.found, at, found)
		}
	}
}

func TestAPanicOverABrokenFileIsAnError(t *testing.T) {
	t.Parallel()
	read := func(fault any) (err error) {
		defer rescue("x.parquet", &err)
		if fault != nil {
			panic(fault)
		}
		return nil
	}
	if err := read(nil); err != nil {
		t.Errorf("a whole file: have %v", err)
	}
	var broken *DataError
	if err := read("index out of range"); !errors.As(err, &broken) || broken.Path != "x.parquet" || broken.Hint != "was the download complete?" ||
		broken.What != "the Parquet file is broken: index out of range" {
		t.Errorf("want the panic as an error, have %v", err)
	}
}

// TestTheLeastRecentlyUsedEntriesMakeRoom covers entries of ten bytes that were used minutes apart, and a file that is no entry. The
// newest entry stays, however small the room.
func TestTheLeastRecentlyUsedEntriesMakeRoom(t *testing.T) {
	t.Parallel()
	for maximum, want := range map[int64]string{0: "a b c d", 40: "a b c d", 39: "b c d", 30: "b c d", 20: "c d", 1: "d", -1: "d"} {
		c := &Cache{Directory: t.TempDir(), MaxBytes: maximum}
		for i, name := range []string{"d", "a", "c", "b"} {
			path := filepath.Join(c.Directory, name+cacheEnding)
			if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
				t.Fatal(err)
			}
			at := time.Unix(1_000_000+60*int64(strings.Index("abcd", name)), 0)
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err, i)
			}
		}
		other := filepath.Join(c.Directory, "other.txt")
		if err := os.WriteFile(other, make([]byte, 1_000), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(other, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		c.prune(filepath.Join(c.Directory, "d"+cacheEnding))
		left, err := os.ReadDir(c.Directory)
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, entry := range left {
			if name, ours := strings.CutSuffix(entry.Name(), cacheEnding); ours {
				have = append(have, name)
			}
		}
		if strings.Join(have, " ") != want || !slices.ContainsFunc(left, func(e os.DirEntry) bool { return e.Name() == "other.txt" }) {
			t.Errorf("at most %d bytes: want %s and the other file, have %v", maximum, want, left)
		}
	}
	(&Cache{Directory: filepath.Join(t.TempDir(), "absent")}).prune("")
}

// TestADecimalPriceNamesThePlacesItNeeds covers prices at a scale of two places.
func TestADecimalPriceNamesThePlacesItNeeds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		price int64
		more  int
		ok    bool
	}{
		{"1", 100, 0, true}, {"1.5", 150, 0, true}, {"0.01", 1, 0, true}, {"1e2", 10_000, 0, true}, {"1e-2", 1, 0, true}, {"-2.5", -250, 0, true},
		{"1.005", 0, 3, true}, {"1e-05", 0, 5, true}, {"1.500", 150, 0, true}, {"x", 0, 0, false}, {"", 0, 0, false}, {"1e61", 0, 0, false},
		{"1e-61", 0, 0, false}, {strings.Repeat("1", 61), 0, 0, false}, {"92233720368547758.07", 1<<63 - 1, 0, true},
	} {
		if price, more, ok := priceOf([]byte(c.text), 2); ok != c.ok || ok && (price != c.price || more != c.more) {
			t.Errorf("%q: want %d, %d, %v, have %d, %d, %v", c.text, c.price, c.more, c.ok, price, more, ok)
		}
	}
	if _, _, ok := priceOf([]byte("92233720368547758.08"), 2); ok {
		t.Error("want a price that no integer holds refused")
	}
}

func TestPricesWithoutRoomForMorePlacesAreRefused(t *testing.T) {
	t.Parallel()
	const most = math.MaxInt64 / 100
	for column := range 4 {
		for price, fits := range map[exchange.Price]bool{most: true, most + 1: false} {
			prices := [4]exchange.Price{1, 1, 1, 1}
			prices[column] = price
			c := &exchange.Candles{OpenMS: []int64{0}, Open: prices[0:1], High: prices[1:2], Low: prices[2:3], Close: prices[3:4]}
			finer, err := rescaled(c, 2)
			if (err == nil) != fits || fits && [4]exchange.Price{finer.Open[0], finer.High[0], finer.Low[0], finer.Close[0]}[column] != most*100 {
				t.Errorf("column %d, price %d: want it to fit %v, have %+v, %v", column, price, fits, finer, err)
			}
			if prices[column] != price {
				t.Error("want the given candles as they were")
			}
			if same, err := rescaled(c, 0); same != c || err != nil {
				t.Errorf("no more places: want the same candles, have %v, %v", same, err)
			}
		}
	}
}

// TestOnlyTheEndsOfASeriesAreLeftOut uses one minute of the first five, two of the next five, and one of the
// last five.
func TestOnlyTheEndsOfASeriesAreLeftOut(t *testing.T) {
	t.Parallel()
	fine := &exchange.Candles{Interval: exchange.Minute1}
	for _, minute := range []int64{4, 5, 7, 10, 15, 16} {
		fine.Append(exchange.Candle{OpenMS: minute * 60_000, Open: 1, High: exchange.Price(minute), Low: 1, Close: 1})
	}
	coarse, incomplete, err := Resample(fine, exchange.Minute5)
	if err != nil || !slices.Equal(coarse.OpenMS, []int64{5 * 60_000, 10 * 60_000}) || !slices.Equal(incomplete, coarse.OpenMS) ||
		!slices.Equal(coarse.High, []exchange.Price{7, 10}) {
		t.Errorf("want the middle ones, incomplete, have %+v, %v, %v", coarse, incomplete, err)
	}
}

// TestOnlyCandlesThatAreEqualInEverythingAreRepeats uses as many candles as make a repeat, of which the last
// differs in one column.
func TestOnlyCandlesThatAreEqualInEverythingAreRepeats(t *testing.T) {
	t.Parallel()
	for column := -1; column < 7; column++ {
		c := &exchange.Candles{Interval: exchange.Minute1}
		for i := range shortestRepeat {
			candle := exchange.Candle{OpenMS: int64(i) * 60_000, Open: 10, High: 12, Low: 9, Close: 11, Volume: 2}
			if i == shortestRepeat-1 {
				for k, price := range []*exchange.Price{&candle.Open, &candle.High, &candle.Low, &candle.Close} {
					if k == column {
						*price++
					}
				}
				if column == 4 {
					candle.Volume++
				}
			}
			if column == 5 {
				candle.Volume = 0
			}
			if column < 6 || i > 0 { // 6: one fewer
				c.Append(candle)
			}
		}
		want := ""
		if column == -1 {
			want = fmt.Sprintf("repeated: %d candles from 1970-01-01T00:00:00Z on are the same", shortestRepeat)
		}
		if have := strings.Join(repeats(&Tape{Candles: c}), "; "); have != want {
			t.Errorf("column %d differs: want %q, have %q", column, want, have)
		}
	}
}
