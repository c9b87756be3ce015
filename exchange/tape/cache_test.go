package tape_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"botd/exchange"
	"botd/exchange/tape"
)

// entries returns the files of a cache.
func entries(t testing.TB, cache *tape.Cache) []string {
	t.Helper()
	cache.Wait()
	all, err := filepath.Glob(filepath.Join(cache.Directory, "*.columns"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func load(t testing.TB, path string, cache *tape.Cache) *tape.Tape {
	t.Helper()
	read, err := tape.LoadCandles(path, bitcoin(t), 0, tape.Options{Repair: true, Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// long is a file large enough for the cache, with every oddity.
func long(t testing.TB, rows int) []byte {
	t.Helper()
	var text bytes.Buffer
	text.WriteString("open_time_ms,open,high,low,close,volume,close_time_ms,quote_volume,trades,taker_buy_base,taker_buy_quote\n")
	candles := tape.Generate(5, bitcoin(t), exchange.Minute1, 1_704_067_200_000, rows)
	for i := range rows {
		if i%1000 == 500 {
			continue // a hole
		}
		c := candles.At(i)
		show := func(p exchange.Price) string { return bitcoin(t).PriceDecimal(p).String() }
		if i%1000 == 700 {
			fmt.Fprintf(&text, "%d,1,0,2,1,1,,,,,\n", c.OpenMS) // impossible: dropped
			continue
		}
		fmt.Fprintf(&text, "%d,%s,%s,%s,%s,%v,,%v,%d,%v,%v\n", c.OpenMS, show(c.Open), show(c.High), show(c.Low), show(c.Close), c.Volume,
			c.QuoteVolume, c.Trades, c.TakerBase, c.TakerQuote)
	}
	return text.Bytes()
}

func TestAFileIsParsedOnce(t *testing.T) {
	t.Parallel()
	cache, content := &tape.Cache{Directory: filepath.Join(t.TempDir(), "cache")}, long(t, 12_500)
	path := file(t, "long.csv", content)
	want := load(t, path, nil)
	first := load(t, path, cache)
	if len(entries(t, cache)) != 1 {
		t.Fatalf("want one entry, have %v", entries(t, cache))
	}
	second := load(t, path, cache)
	elsewhere := load(t, file(t, "moved.csv", content), cache)
	for name, have := range map[string]*tape.Tape{"parsed": first, "cached": second, "moved": elsewhere} {
		if !reflect.DeepEqual(want, have) {
			t.Errorf("%s: not the tape that parsing alone gives", name)
		}
	}
	if len(want.Holes) == 0 || len(want.Repaired) == 0 || len(entries(t, cache)) != 1 {
		t.Errorf("want holes, repairs, and one entry; have %d, %d, %v", len(want.Holes), len(want.Repaired), entries(t, cache))
	}
	// Replacing the entry changes the result, which proves that the entry is read.
	small := load(t, file(t, "small.csv", long(t, 11_800)), nil)
	other := &tape.Cache{Directory: filepath.Join(t.TempDir(), "cache")}
	load(t, file(t, "other.csv", long(t, 11_800)), other)
	swapped, err := os.ReadFile(entries(t, other)[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(entries(t, cache)[0], swapped, 0o600); err != nil {
		t.Fatal(err)
	}
	if have := load(t, path, cache); have.Candles.Len() != small.Candles.Len() {
		t.Errorf("want what the entry holds, %d candles, have %d", small.Candles.Len(), have.Candles.Len())
	}
}

func TestAnotherContentIsParsed(t *testing.T) {
	t.Parallel()
	cache, content := &tape.Cache{Directory: t.TempDir()}, long(t, 12_500)
	path := file(t, "long.csv", content)
	load(t, path, cache)
	cache.Wait()
	changed := bytes.Replace(content, []byte(",4"), []byte(",5"), 1) // same length
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	have, want := load(t, path, cache), load(t, path, nil)
	if !reflect.DeepEqual(want, have) {
		t.Error("a changed file: want its own tape")
	}
	if n := len(entries(t, cache)); n != 2 {
		t.Errorf("want two entries, have %d", n)
	}
}

func TestABrokenCacheEntryIsIgnored(t *testing.T) {
	t.Parallel()
	cache := &tape.Cache{Directory: t.TempDir()}
	path := file(t, "long.csv", long(t, 12_500))
	want := load(t, path, cache)
	whole, err := os.ReadFile(entries(t, cache)[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, broken := range map[string][]byte{"empty": nil, "cut": whole[:len(whole)/2], "header": append([]byte("botdcol1\xff\xff\xff\x7f"), whole[12:]...),
		"flipped": append(append(append([]byte{}, whole[:len(whole)*3/4]...), whole[len(whole)*3/4]^1), whole[len(whole)*3/4+1:]...)} {
		if err := os.WriteFile(entries(t, cache)[0], broken, 0o600); err != nil {
			t.Fatal(err)
		}
		if have := load(t, path, cache); !reflect.DeepEqual(want, have) {
			t.Errorf("%s: want the file's own tape", name)
		}
		if again, err := os.ReadFile(entries(t, cache)[0]); err != nil || !bytes.Equal(again, whole) {
			t.Errorf("%s: want a new entry (%v)", name, err)
		}
	}
}

func TestTheOldestEntriesAreRemoved(t *testing.T) {
	t.Parallel()
	cache := &tape.Cache{Directory: t.TempDir(), MaxBytes: 1}
	for i := range 3 {
		load(t, file(t, "long.csv", long(t, 12_000+100*i)), cache)
		if n := len(entries(t, cache)); n != 1 {
			t.Errorf("want the newest alone, have %d", n)
		}
	}
}

func TestAPackedFileIsUnpackedOnce(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(long(t, 60_000)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	cache := &tape.Cache{Directory: t.TempDir()}
	path := file(t, "long.csv.gz", packed.Bytes())
	first := load(t, path, cache)
	if len(entries(t, cache)) != 1 || !reflect.DeepEqual(first, load(t, path, cache)) {
		t.Error("want one entry and the same tape")
	}
}

// TestColumnsKeepEveryBit writes candles of random numbers and reads them back.
func TestColumnsKeepEveryBit(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		c := &exchange.Candles{Interval: exchange.Minute1}
		at := rapid.Int64Range(0, 1<<50).Draw(r, "first")
		float := rapid.OneOf(rapid.Float64(), rapid.Map(rapid.IntRange(0, 1<<40), func(n int) float64 { return float64(n) / 1000 }))
		for range rapid.IntRange(1, 40).Draw(r, "candles") {
			price := func(name string) exchange.Price { return exchange.Price(rapid.Int64().Draw(r, name)) }
			c.Append(exchange.Candle{OpenMS: at, Open: price("open"), High: price("high"), Low: price("low"), Close: price("close"),
				Volume:      float.Draw(r, "volume"),
				QuoteVolume: float.Draw(r, "quote"), Trades: rapid.Int64().Draw(r, "trades"), TakerBase: float.Draw(r, "base"),
				TakerQuote: float.Draw(r, "taker")})
			at += 60_000 * rapid.Int64Range(1, 3).Draw(r, "step")
		}
		if rapid.Bool().Draw(r, "without trades") {
			c.Trades, c.TakerBase, c.TakerQuote = nil, nil, nil
		}
		have, err := tape.RoundTrip(filepath.Join(directory, "x"), &tape.Tape{Symbol: bitcoin(t), Candles: c})
		if err != nil {
			r.Fatal(err)
		}
		if want := fmt.Sprintf("%v", c); strings.Compare(want, fmt.Sprintf("%v", have)) != 0 {
			r.Fatalf("want %s, have %v", want, have)
		}
	})
}

func BenchmarkCachedCandles(b *testing.B) {
	const rows = 100_000
	cache := &tape.Cache{Directory: b.TempDir()}
	content := long(b, rows)
	path := file(b, "x.csv", content)
	load(b, path, cache)
	cache.Wait()
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		load(b, path, cache)
	}
	b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds()/1e6, "Mcandles/s")
}
