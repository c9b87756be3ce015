package tape_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/tape"
	"botd/internal/failure"
)

const rates = "symbol,funding_time_ms,funding_rate\n"

// TestEachRateIsReadAtItsHour reads a row in each form. Hour 438399 begins at 1578236400000.
func TestEachRateIsReadAtItsHour(t *testing.T) {
	t.Parallel()
	const hour = 1578236400000
	for _, c := range []struct {
		row    string
		timeMS int64
		rate   exchange.Rate
	}{
		{"BTCUSDT,1578236400000,0.0001", hour, 10_000}, {"BTCUSDT,1578236460000,-0.0001", hour, -10_000}, {"BTCUSDT,1578236460001,0.0001", hour + 60_001,
			10_000},
		{"BTCUSDT,1578236340000,0.0001", hour, 10_000}, {"BTCUSDT,1578236339999,0.0001", hour - 60_001, 10_000}, {"BTCUSDT,1578236400000,1", hour, 100_000_000},
		{"BTCUSDT,1578236400000,-1", hour, -100_000_000}, {"BTCUSDT,1578236400000,1e-4", hour, 10_000}, {"BTCUSDT,1578236400000,0", hour, 0},
		{"BTCUSDT,1578236400000,0.123456785", hour, 12_345_679}, {"BTCUSDT,1578236400000,0.123456784", hour, 12_345_678},
		{`"BTCUSDT", 1578236400000 , "0.0001"` + "\r", hour, 10_000}, {"BTCUSDT,1578236400000,0.00010000000000000000000000000000000000", hour, 10_000},
	} {
		have, err := tape.LoadFunding(file(t, "f.csv", []byte("\xef\xbb\xbf"+rates+c.row+"\n")))
		if want := []tape.FundingRow{{Symbol: "BTCUSDT", TimeMS: c.timeMS, Rate: c.rate}}; err != nil || !slices.Equal(want, have) {
			t.Errorf("%s: want %+v, have %+v (%v)", c.row, want, have, err)
		}
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte("calc_time,funding_interval_hours,last_funding_rate\n1578236400005,8,-0.00012\n1578265200000,8,0.0001")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := []tape.FundingRow{{TimeMS: hour, Rate: -12_000}, {TimeMS: hour + 8*3_600_000, Rate: 10_000}}
	if have, err := tape.LoadFunding(file(t, "f.csv.gz", packed.Bytes())); err != nil || !slices.Equal(want, have) {
		t.Errorf("Binance's file: want %+v, have %+v (%v)", want, have, err)
	}
}

func TestEachWrongRateIsNamed(t *testing.T) {
	t.Parallel()
	const row = "BTC,1578236400000,0.0001\n"
	for _, c := range []struct{ text, want, column string }{
		{"", ":1: header is \"\"\nhint: it must be symbol,funding_time_ms,funding_rate, or Binance's calc_time,funding_interval_hours,last_funding_rate", ""},
		{"a,b\n",
			":1: header is \"a,b\"\nhint: it must be symbol,funding_time_ms,funding_rate, or Binance's calc_time,funding_interval_hours,last_funding_rate", ""},
		{rates + row + "BTC,1\n", ":3: 2 columns, the header has 3", ""},
		{rates + row + ",1578265200000,0.1\n", ":3: symbol is empty", "symbol"},
		{rates + row + "BTC,-5,0.1\n", `:3: funding time "-5" is not a whole number`, "funding_time_ms"},
		{rates + row + "BTC,,0.1\n", `:3: funding time "" is not a whole number`, "funding_time_ms"},
		{rates + row + "BTC,1578236400000,0.1\n", ":3: the time is not after the row above's: 1578236400000, 1578236400000", "funding_time_ms"},
		{rates + row + "BTC,1578236430000,0.1\n", ":3: the time is not after the row above's: 1578236400000, 1578236400000", "funding_time_ms"},
		{rates + row + "BTC,1578265200000,much\n", `:3: funding rate "much" is not a number within -1 and 1`, "funding_rate"},
		{rates + row + "BTC,1578265200000,1.00000001\n", `:3: funding rate "1.00000001" is not a number within -1 and 1`, "funding_rate"},
		{rates + row + "BTC,1578265200000,-1.1\n", `:3: funding rate "-1.1" is not a number within -1 and 1`, "funding_rate"},
		{rates + row + "BTC,1578265200000,1e-41\n", `:3: funding rate "1e-41" is not a number within -1 and 1`, "funding_rate"},
		{rates + row + "BTC,1578265200000,0e1\n", `:3: funding rate "0e1" is not a number within -1 and 1`, "funding_rate"},
		{rates + row + "BTC,1578265200000,0.000000000000000000000000000000000000001\n",
			`:3: funding rate "0.000000000000000000000000000000000000001" is not a number within -1 and 1`, "funding_rate"},
	} {
		path := file(t, "f.csv", []byte(c.text))
		rows, err := tape.LoadFunding(path)
		var wrong *tape.DataError
		if !errors.As(err, &wrong) || strings.TrimPrefix(err.Error(), path) != c.want || wrong.Column != c.column || rows != nil {
			t.Errorf("want %q of %q, have %v of %+v", c.want, c.column, err, wrong)
		}
	}
	if rows, err := tape.LoadFunding(file(t, "f.csv", []byte(rates+row+"ETH,1578236400000,0.1\n"))); err != nil || len(rows) != 2 {
		t.Errorf("two symbols: want each in order of its own times, have %+v (%v)", rows, err)
	}
}

func TestRatesOfASymbolAreFound(t *testing.T) {
	t.Parallel()
	rows := []tape.FundingRow{{"BTC-USDT", 1, 1}, {"BTCUSDT", 2, 2}, {"", 3, 3}, {"ETH-USDT", 4, 4}, {"BTC", 5, 5}}
	want := []tape.FundingRow{{"BTC-USDT", 1, 1}, {"BTC-USDT", 2, 2}, {"BTC-USDT", 3, 3}}
	if have := tape.FundingOf(rows, "BTC-USDT"); !slices.Equal(want, have) || rows[1].Symbol != "BTCUSDT" {
		t.Errorf("want %+v, have %+v", want, have)
	}
}

// TestRatesAreMergedIntoTheStoredOnes saves rows one after the other: before, between and after those that are stored.
func TestRatesAreMergedIntoTheStoredOnes(t *testing.T) {
	t.Parallel()
	store := tape.Store{Directory: t.TempDir()}
	if symbols, err := store.ListFunding(); err != nil || symbols != nil {
		t.Errorf("an empty store: want no symbol, have %v (%v)", symbols, err)
	}
	path := store.FundingPath("BTC-USDT")
	row := func(hour int64, rate exchange.Rate) tape.FundingRow {
		return tape.FundingRow{TimeMS: hour * 3_600_000, Rate: rate}
	}
	for _, c := range []struct {
		rows    []tape.FundingRow
		replace bool
		want    tape.Saved
		content string
		err     string
	}{
		{[]tape.FundingRow{row(16, 1)}, false, tape.Saved{Added: 1, Total: 1}, "16:1", ""},
		{[]tape.FundingRow{row(8, 2), row(24, 3)}, false, tape.Saved{Added: 2, Total: 3}, "8:2 16:1 24:3", ""},
		{[]tape.FundingRow{row(8, 2)}, false, tape.Saved{Same: 1, Total: 3}, "8:2 16:1 24:3", ""},
		{[]tape.FundingRow{row(0, 9), row(8, 5)}, false, tape.Saved{Added: 1, Replaced: 1}, "8:2 16:1 24:3",
			"the rate of 28800000 is stored as 0.00000002 and is 0.00000005 now\nhint: is the symbol right? --replace overwrites the stored ones"},
		{[]tape.FundingRow{row(8, 5)}, true, tape.Saved{Replaced: 1, Total: 3}, "8:5 16:1 24:3", ""},
		{[]tape.FundingRow{row(8, 6), row(32, 7)}, true, tape.Saved{Replaced: 1, Added: 1, Total: 4}, "8:6 16:1 24:3 32:7", ""},
	} {
		c.want.Path = path
		have, err := store.SaveFunding("BTC-USDT", c.rows, c.replace)
		if have != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != path+": "+c.err {
			t.Errorf("%v: want %+v and %q, have %+v and %v", c.rows, c.want, c.err, have, err)
		}
		stored, err := tape.LoadFunding(path)
		var words []string
		for _, r := range stored {
			words = append(words, fmt.Sprintf("%d:%d", r.TimeMS/3_600_000, r.Rate))
		}
		if text := strings.Join(words, " "); err != nil || text != c.content {
			t.Errorf("%v: want %s stored, have %s (%v)", c.rows, c.content, text, err)
		}
	}
	if err := os.MkdirAll(filepath.Join(store.Directory, "futures", "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if symbols, err := store.ListFunding(); err != nil || !slices.Equal(symbols, []string{"BTC-USDT"}) {
		t.Errorf("want the symbol with rates, have %v (%v)", symbols, err)
	}
	if err := os.WriteFile(path, []byte("words\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if saved, err := store.SaveFunding("BTC-USDT", []tape.FundingRow{row(1, 1)}, true); err == nil || saved.Added != 0 {
		t.Errorf("a file that holds no rates: want an error and no change, have %+v", saved)
	}
	blocked := tape.Store{Directory: file(t, "f", nil)}
	if _, err := blocked.ListFunding(); err == nil {
		t.Error("a file in place of the store: want an error")
	}
	if _, err := blocked.List(); err == nil {
		t.Error("a file in place of the store: want an error of the list of candles")
	}
}

// TestFundingIsSummarizedBySymbol covers a gap of one payment and one of three, and a payment in between.
func TestFundingIsSummarizedBySymbol(t *testing.T) {
	t.Parallel()
	text := rates
	for _, hour := range []int64{0, 8, 16, 32, 40, 44, 48, 80} {
		text += fmt.Sprintf("ETH-USDT,%d,%s\n", hour*3_600_000, map[bool]string{true: "0.0003", false: "-0.0002"}[hour != 16])
	}
	text += "BTC-USDT,0,0.0001\n"
	path := file(t, "f.csv", []byte(text))
	const hour = 3_600_000
	want := []tape.FundingSummary{{File: path, Symbol: "BTC-USDT", Payments: 1, Lowest: 10_000, Highest: 10_000, Holes: []tape.SummaryHole{}},
		{File: path, Symbol: "ETH-USDT", Payments: 8, Every: 8, ToMS: 80 * hour, Lowest: -20_000, Highest: 30_000, Holes: []tape.SummaryHole{
			{FromMS: 16 * hour, ToMS: 32 * hour, Candles: 1}, {FromMS: 48 * hour, ToMS: 80 * hour, Candles: 3}}}}
	if have, err := tape.SummarizeFunding(path); err != nil || !reflect.DeepEqual(want, have) {
		t.Errorf("want %+v\nhave %+v (%v)", want, have, err)
	}
	for text, want := range map[string]string{rates: "holds no funding rates", "words\n": `header is "words"`} {
		if _, err := tape.SummarizeFunding(file(t, "f.csv", []byte(text))); failure.CodeOf(err) != failure.Data || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: want exit code 65 and %q, have %v", text, want, err)
		}
	}
}

func TestASeriesIsSummarized(t *testing.T) {
	t.Parallel()
	text := header + minute(0) + minute(1) + minute(4) + "1704067500000,90,90,90,90,0\n" + "1704067560000,90,90,1,90,0\n" + "words\n"
	read, err := tape.LoadCandles(file(t, "x.csv", []byte(text)), bitcoin(t), exchange.Minute1, tape.Options{Repair: true})
	if err != nil {
		t.Fatal(err)
	}
	want := tape.Summary{File: "x", Interval: exchange.Minute1, Candles: 5, FromMS: january, ToMS: january + 7*60_000, Missing: 2,
		Holes: []tape.SummaryHole{{FromMS: january + 2*60_000, ToMS: january + 4*60_000, Candles: 2}}, Map: "##--###",
		Problems: []string{"line 7 dropped: 1 columns, the header has 6"},
		Warnings: []string{"the candle of 1704067500000 opens at 90, the previous one closed at 11",
			"outlier: the candle of 2024-01-01T00:06:00Z has a low of 1, and around it candles open and close at 90 at least",
			"repeated: 3 candles from 2024-01-01T00:00:00Z on are the same", "2 of 5 candles have no volume"}}
	if have := tape.Summarize("x", read); !reflect.DeepEqual(want, have) {
		t.Errorf("want %+v\nhave %+v", want, have)
	}
	read, err = tape.LoadCandles(file(t, "x.csv", []byte(header+minute(0)+minute(1))), bitcoin(t), 0, tape.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if have := tape.Summarize("x", read); have.Problems == nil || have.Warnings == nil || have.Holes == nil || have.Map != "##" {
		t.Errorf("want empty lists in JSON, have %+v", have)
	}
}

// TestCoverageShowsEachPart covers ten candles of a span of twenty.
func TestCoverageShowsEachPart(t *testing.T) {
	t.Parallel()
	text := header
	for _, n := range []int64{0, 1, 2, 3, 4, 6, 8, 10, 18, 19} {
		text += minute(n)
	}
	read, err := tape.LoadCandles(file(t, "x.csv", []byte(text)), bitcoin(t), exchange.Minute1, tape.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for width, want := range map[int]string{1: "+", 2: "++", 4: "#+++", 5: "#++-+", 10: "##++++---#", 20: "#####-#-#-#-------##", 99: "#####-#-#-#-------##"} {
		if have := tape.Coverage(read, width); have != want {
			t.Errorf("%d characters: want %s, have %s", width, want, have)
		}
	}
}

func TestJumpsAtTheirBound(t *testing.T) {
	t.Parallel()
	tapeOf := func(opens ...exchange.Price) *tape.Tape {
		candles := &exchange.Candles{Interval: exchange.Minute1}
		for i, open := range opens { // each closes at 100
			candles.Append(exchange.Candle{OpenMS: int64(i) * 60_000, Open: open, High: max(open, 1_000), Low: min(open, 1_000), Close: 1_000, Volume: 1})
		}
		symbol := *bitcoin(t)
		symbol.PriceScale = 1
		return &tape.Tape{Symbol: &symbol, Candles: candles}
	}
	for _, c := range []struct {
		opens []exchange.Price
		want  []string
	}{
		{[]exchange.Price{1_000, 1_199, 801, 1_000}, nil},
		{[]exchange.Price{1_000, 1_200, 1_000, 800}, []string{"the candle of 60000 opens at 120, the previous one closed at 100",
			"the candle of 180000 opens at 80, the previous one closed at 100"}},
	} {
		if have := tape.Jumps(tapeOf(c.opens...)); !slices.Equal(c.want, have) {
			t.Errorf("want %q, have %q", c.want, have)
		}
	}
	for count, last := range map[int]string{20: "the candle of 1200000 opens at 200, the previous one closed at 100", 23: "and 3 more jumps"} {
		opens := append([]exchange.Price{1_000}, slices.Repeat([]exchange.Price{2_000}, count)...)
		if have := tape.Jumps(tapeOf(opens...)); len(have) != min(count, 21) || have[len(have)-1] != last {
			t.Errorf("%d jumps: want %d sentences to %q, have %q", count, min(count, 21), last, have)
		}
	}
}

// TestOdditiesAtTheirBounds reports three repeats, 60 silent candles, and twenty of each kind.
func TestOdditiesAtTheirBounds(t *testing.T) {
	t.Parallel()
	count := func(change func(c *exchange.Candles)) []string {
		recorded := plain(t, 2_000)
		change(recorded.Candles)
		return tape.Oddities(recorded)
	}
	silent := func(from, n int) func(c *exchange.Candles) {
		return func(c *exchange.Candles) { clear(c.Volume[from : from+n]) }
	}
	repeat := func(from, n int) func(c *exchange.Candles) {
		return func(c *exchange.Candles) {
			for i := from + 1; i < from+n; i++ {
				c.Open[i], c.High[i], c.Low[i], c.Close[i], c.Volume[i] = c.Open[from], c.High[from], c.Low[from], c.Close[from], c.Volume[from]
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func(c *exchange.Candles)
		want   []string
	}{
		{"59 silent", silent(100, 59), nil},
		{"60 silent", silent(100, 60), []string{"no volume: 60 candles from 1970-01-01T01:40:00Z on"}},
		{"60 silent at the beginning", silent(0, 60), []string{"no volume: 60 candles from 1970-01-01T00:00:00Z on"}},
		{"60 silent at the end", silent(1_940, 60), []string{"no volume: 60 candles from 1970-01-02T08:20:00Z on"}},
		{"all silent", silent(0, 2_000), nil},
		{"two alike", repeat(100, 2), nil},
		{"three alike", repeat(100, 3), []string{"repeated: 3 candles from 1970-01-01T01:40:00Z on are the same"}},
		{"three alike at the end", repeat(1_997, 3), []string{"repeated: 3 candles from 1970-01-02T09:17:00Z on are the same"}},
		{"three alike but for the close", func(c *exchange.Candles) { repeat(100, 3)(c); c.Close[101]++ }, nil},
		{"three alike but for the volume", func(c *exchange.Candles) { repeat(100, 3)(c); c.Volume[101]++ }, nil},
	} {
		if have := count(c.change); !slices.Equal(c.want, have) {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
	for n, last := range map[int]string{20: "repeated: 3 candles from 1970-01-01T03:10:00Z on are the same", 22: "and 2 more repeats"} {
		have := count(func(c *exchange.Candles) {
			for i := range n {
				repeat(10*i, 3)(c)
			}
		})
		if len(have) != min(n, 21) || have[len(have)-1] != last {
			t.Errorf("%d repeats: want %d sentences to %q, have %q", n, min(n, 21), last, have)
		}
	}
}

func TestFailuresHaveTheirExitCodes(t *testing.T) {
	t.Parallel()
	_, directory := os.ReadFile(t.TempDir())
	_, absent := os.ReadFile(filepath.Join(t.TempDir(), "absent"))
	for _, c := range []struct {
		err  error
		code int
		text string
	}{
		{&tape.DataError{Path: "x", What: "odd"}, 65, "x: odd"},
		{fmt.Errorf("read: %w", &tape.DataError{What: "odd"}), 65, "read: odd"},
		{directory, 66, "hint: name the file, not the directory it is in"},
		{absent, 66, "absent"},
		{context.Canceled, 0, "context canceled"},
	} {
		have := tape.Failure(c.err)
		if have == nil || !strings.Contains(have.Error(), c.text) || c.code != 0 && failure.CodeOf(have) != c.code || c.code == 0 && have != c.err {
			t.Errorf("%v: want exit code %d and %q, have %v", c.err, c.code, c.text, have)
		}
	}
	if have := tape.Failure(nil); have != nil {
		t.Errorf("no error: have %v", have)
	}
}
