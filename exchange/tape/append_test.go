package tape_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"botd/exchange"
	"botd/exchange/tape"
)

const january = 1_704_067_200_000

func extend(t interface{ Fatal(...any) }, store tape.Store, symbol *exchange.Symbol, candles *exchange.Candles, want int) {
	if added, err := store.Extend(symbol, candles); err != nil || added != want {
		t.Fatal("candles added: want", want, "have", added, err)
	}
}

func TestASeriesIsExtendedWithEachCandleOnce(t *testing.T) {
	t.Parallel()
	store := tape.Store{Directory: t.TempDir()}
	symbol := bitcoin(t)
	candles := tape.Generate(3, symbol, exchange.Minute1, january, 50)
	extend(t, store, symbol, &exchange.Candles{Interval: exchange.Minute1}, 0)
	extend(t, store, symbol, candles.Slice(10, 20), 10) // a warm-up
	for i := 20; i < 40; i++ {
		extend(t, store, symbol, candles.Slice(i, i+1), 1)
		extend(t, store, symbol, candles.Slice(i-3, i), 0) // again
	}
	extend(t, store, symbol, candles.Slice(30, 50), 10) // the next start's warm-up
	extend(t, store, symbol, candles.Slice(0, 45), 10)  // a longer one
	have, err := store.Load(symbol, exchange.Minute1)
	if err != nil || !reflect.DeepEqual(candles, have.Candles) {
		t.Fatalf("want the 50 candles, have %v (%v)", have, err)
	}
	if saved, err := store.Save(symbol, candles, false); err != nil || saved.Same != 50 || saved.Added != 0 {
		t.Errorf("want all there already, have %+v (%v)", saved, err)
	}
}

func TestStoredCandlesStay(t *testing.T) {
	t.Parallel()
	store := tape.Store{Directory: t.TempDir()}
	symbol := bitcoin(t)
	candles := tape.Generate(3, symbol, exchange.Minute1, january, 9)
	extend(t, store, symbol, candles.Slice(3, 9), 6)
	other := tape.Generate(4, symbol, exchange.Minute1, january, 9)
	extend(t, store, symbol, other.Slice(5, 9), 0)
	extend(t, store, symbol, other, 3)
	have, err := store.Load(symbol, exchange.Minute1)
	if err != nil || have.Candles.Len() != 9 || have.Candles.At(0) != other.At(0) || have.Candles.At(5) != candles.At(5) {
		t.Errorf("want what was decided on, and three older candles in front, have %v (%v)", have, err)
	}
}

func TestAGapStaysAGap(t *testing.T) {
	t.Parallel()
	store := tape.Store{Directory: t.TempDir()}
	symbol := bitcoin(t)
	candles := tape.Generate(3, symbol, exchange.Minute1, january, 30)
	extend(t, store, symbol, candles.Slice(0, 10), 10)
	extend(t, store, symbol, candles.Slice(17, 30), 13)
	have, err := store.Load(symbol, exchange.Minute1)
	if err != nil || len(have.Holes) != 1 || have.Holes[0].Missing != 7 {
		t.Errorf("want one hole of 7 candles, have %+v (%v)", have, err)
	}
}

// TestATruncatedLastLineIsCutOff truncates a series after each byte, with and without the zeros of a power
// failure, and continues.
func TestATruncatedLastLineIsCutOff(t *testing.T) {
	t.Parallel()
	symbol := bitcoin(t)
	candles := tape.Generate(3, symbol, exchange.Minute1, january, 8)
	directory := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		store := tape.Store{Directory: filepath.Join(directory, rapid.StringMatching("[a-z]{12}").Draw(r, "directory"))}
		defer os.RemoveAll(store.Directory)
		extend(r, store, symbol, candles.Slice(0, 5), 5)
		path := store.Path(symbol.Market, symbol.Name, exchange.Minute1)
		whole, err := os.ReadFile(path)
		if err != nil {
			r.Fatal(err)
		}
		torn := whole[:rapid.IntRange(0, len(whole)).Draw(r, "bytes that are there")]
		lines := max(0, strings.Count(string(torn), "\n")-1)
		if lines > 0 {
			torn = append(torn, make([]byte, rapid.SampledFrom([]int{0, 1, 100, 200_000}).Draw(r, "zeros"))...)
		}
		if err := os.WriteFile(path, torn, 0o600); err != nil {
			r.Fatal(err)
		}
		extend(r, store, symbol, candles.Slice(0, 7), 7-lines)
		extend(r, store, symbol, candles.Slice(7, 8), 1)
		if have, err := store.Load(symbol, exchange.Minute1); err != nil || !reflect.DeepEqual(candles, have.Candles) {
			r.Fatalf("want the 8 candles, have %v (%v)", have, err)
		}
	})
}

func TestFileOfAnotherKindIsNotModified(t *testing.T) {
	t.Parallel()
	store := tape.Store{Directory: t.TempDir()}
	symbol := bitcoin(t)
	candles := tape.Generate(3, symbol, exchange.Minute1, january, 1)
	path := store.Path(symbol.Market, symbol.Name, exchange.Minute1)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	extend(t, store, symbol, candles, 1)
	well, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"no line", "a header\nwords\n", string(well) + "words\n", "{" + string(well)} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := store.Extend(symbol, tape.Generate(3, symbol, exchange.Minute1, january+600_000, 1))
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "move it away") {
			t.Errorf("%q: want an error that names it with a hint, have %v", content, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != content {
			t.Errorf("%q: want it left as it is, have %q (%v)", content, after, err)
		}
	}
}

func TestRatesAreStoredOnce(t *testing.T) {
	t.Parallel()
	store := tape.Store{Directory: t.TempDir()}
	for i := range int64(4) {
		row := tape.FundingRow{Symbol: "BTC-USDT", TimeMS: january + i*8*3_600_000, Rate: exchange.Rate(10_000 - i)}
		if added, err := store.ExtendFunding(row); err != nil || added != 1 {
			t.Fatal("want it added, have", added, err)
		}
		if row.Rate = 7; i > 0 {
			if added, err := store.ExtendFunding(row); err != nil || added != 0 {
				t.Fatal("want the first one to stand, have", added, err)
			}
		}
	}
	rows, err := tape.LoadFunding(store.FundingPath("BTC-USDT"))
	if err != nil || len(rows) != 4 || rows[3].Rate != 9_997 {
		t.Errorf("want four rates, have %v (%v)", rows, err)
	}
}
