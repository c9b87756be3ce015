package tape_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/tape"
)

// minute returns the row of so many minutes after 2024-01-01.
func minute(n int64) string { return fmt.Sprintf("%d,10,12,9,11,1\n", 1704067200000+n*60_000) }

// TestEachRefusalNamesPlaceColumnAndHint reads wrong files.
func TestEachRefusalNamesPlaceColumnAndHint(t *testing.T) {
	t.Parallel()
	const (
		repair   = "\nhint: --repair drops wrong rows and lists them"
		expected = "\nhint: expected a header and one row a candle"
		complete = "\nhint: was the download complete?"
		grid     = "\nhint: is the interval right? --repair drops rows that are off the grid"
		names    = "\nhint: the header is open_time_ms,open,high,low,close,volume,close_time_ms,quote_volume,trades,taker_buy_base,taker_buy_quote; " +
			"'botd data import --columns' describes the columns of another file"
		ordered = "open_time_ms,volume,open,low,high,close"
	)
	type options = tape.Options
	for _, c := range []struct {
		name, content string
		interval      exchange.Interval
		options       options
		want, column  string
		finer         exchange.Interval
	}{
		{"nothing", "", 0, options{}, ":1: the file is empty" + expected, "", 0},
		{"a byte order mark", "\xef\xbb\xbf", 0, options{}, ":1: the file is empty" + expected, "", 0},
		{"an empty line", "\n", 0, options{}, ":1: the first line is empty" + names, "", 0},
		{"a header", header, 0, options{}, ": no candles" + expected, "", 0},
		{"a name twice", "open_time,open,open,high,low,close,volume\n", 0, options{}, ":1: column open appears twice" + names, "open", 0},
		{"a name and its other name", "open_time,open_time_ms,open,high,low,close,volume\n", 0, options{}, ":1: column open_time_ms appears twice" + names,
			"open_time_ms", 0},
		{"a missing name", "open_time_ms,open,high,low,volume\n", 0, options{},
			":1: column close is missing (there are: open_time_ms,open,high,low,volume)" + names,
			"close", 0},
		{"another separator", "a;b;c\n", 0, options{}, ":1: the columns are not separated by commas (a;b;c)" + names, "", 0},
		{"no header", "1704067200000,10,12,9\n", 0, options{}, ":1: there is no header, and the order of the 4 columns is unknown" + names, "", 0},
		{"no interval", header + "1704067200000,10,12,9,11,1\n1704067290000,10,12,9,11,1\n", 0, options{},
			": rows are 90000 ms apart, which is not an interval\nhint: 1m, 5m, 15m, 30m, 1h, 4h, 1d or 1w", "", 0},
		{"one row", header + minute(0), 0, options{}, ": 1 rows do not show the interval\nhint: set the interval, or add close_time_ms", "", 0},
		{"minutes for 5m", header + minutes, exchange.Minute5, options{},
			": the candles are of 1m, not of 5m\nhint: set the interval to 1m, or use a file of 5m", "",
			exchange.Minute1},
		{"5m for minutes", header + minute(0) + minute(5) + minute(10), exchange.Minute1, options{},
			": the candles are of 5m, not of 1m\nhint: set the interval to 5m, or use a file of 1m", "", 0},
		{"4h for a day", header + minute(0) + minute(240) + minute(480), exchange.Day1, options{},
			": the candles are of 4h, not of 1d\nhint: set the interval to 4h, or use a file of 1d", "", exchange.Hour4},
		{"a week from Tuesday", header + minute(1440) + minute(8*1440), exchange.Week1, options{},
			":2: open time 1704153600000 is off the grid of 1w: weeks begin on Monday at 00:00 UTC" + grid, "open_time_ms", 0},
		{"a second off", header + minute(0) + "1704067261000,10,12,9,11,1\n", exchange.Minute1, options{},
			":3: open time 1704067261000 is off the grid of 1m" + grid,
			"open_time_ms", 0},
		{"a microsecond off", header + minute(0) + "1704067260000001,10,12,9,11,1\n", exchange.Minute1, options{},
			":3: open time 1704067260000001 is off the grid of 1m" + grid, "open_time_ms", 0},
		{"seconds", header + "60000,10,12,9,11,1\n120001,10,12,9,11,1\n", exchange.Minute1, options{},
			":3: open time 120001 is off the grid of 1m\nhint: open times are in milliseconds, and these look like seconds", "open_time_ms", 0},
		{"too few fields", header + "x\n", 0, options{}, ":2: 1 columns, the header has 6" + repair, "", 0},
		{"too many fields", header + minute(0) + "1704067260000,10,12,9,11,1,2\n", 0, options{}, ":3: 7 columns, the header has 6" + repair, "", 0},
		{"no open", header + minute(0) + "1704067260000,,12,9,11,1\n", exchange.Minute1, options{}, ":3: open is empty" + repair, "open", 0},
		{"no close", header + minute(0) + "1704067260000,10,12,9,,1\n", exchange.Minute1, options{}, ":3: close is empty" + repair, "close", 0},
		{"a word for a time", header + minute(0) + "17040672600x0,1,12,9,11,1\n", exchange.Minute1, options{},
			`:3: open_time_ms "17040672600x0" is not a whole number` + repair, "open_time_ms", 0},
		{"a word for a volume", header + minute(0) + minute(1) + "1704067320000,11,12,9,11,much\n", 0, options{}, `:4: volume "much" is not a number` + repair,
			"volume", 0},
		{"a price of 61 digits", header + minute(0) + "1704067260000," + strings.Repeat("1", 61) + ",12,9,11,1\n", exchange.Minute1, options{},
			`:3: open "` + strings.Repeat("1", 61) + `" is not a price` + repair, "open", 0},
		{"a price of 1e61", header + minute(0) + "1704067260000,1e61,12,9,11,1\n", exchange.Minute1, options{}, `:3: open "1e61" is not a price` + repair,
			"open", 0},
		{"a price beyond 64 bits", header + minute(0) + "1704067260000,1e19,12,9,11,1\n", exchange.Minute1, options{}, `:3: open "1e19" is not a price` +
			repair,
			"open", 0},
		{"no price", header + minute(0) + "1704067260000,11,12,0,11,1\n", exchange.Minute1, options{}, ":3: impossible prices: low 0 is not above zero" +
			repair,
			"low", 0},
		{"high below low", header + minute(0) + "1704067260000,9,8,9,9,1\n", exchange.Minute1, options{},
			":3: impossible prices: high is below low (8, 9)" + repair, "high", 0},
		{"open above high", header + minute(0) + "1704067260000,12.1,12,9,11,1\n", exchange.Minute1, options{},
			":3: impossible prices: open is outside low..high (12.1; 9..12)" + repair, "open", 0},
		{"close below low", header + minute(0) + "1704067260000,10,12,9,8.9,1\n", exchange.Minute1, options{},
			":3: impossible prices: close is outside low..high (8.9; 9..12)" + repair, "close", 0},
		{"open below low", header + minute(0) + "1704067260000,8.9,12,9,11,1\n", exchange.Minute1, options{},
			":3: impossible prices: open is outside low..high (8.9; 9..12)" + repair, "open", 0},
		{"close above high", header + minute(0) + "1704067260000,10,12,9,12.1,1\n", exchange.Minute1, options{},
			":3: impossible prices: close is outside low..high (12.1; 9..12)" + repair, "close", 0},
		{"a quote volume below zero", "open_time_ms,open,high,low,close,volume,quote_volume\n1704067200000,10,12,9,11,1,-0.5\n", exchange.Minute1, options{},
			":2: quote_volume -0.5 is below zero" + repair, "quote_volume", 0},
		{"too many places", header + "1704067200000,0.1234567890123456789,12,0.1,11,1\n1704067260000,10,12,9,11,1\n", 0, options{},
			":2: symbol BTC-USDT: 19 places of price and 3 of quantity are more than 18 together\n" +
				"hint: prices have more decimal places than fit with the symbol's quantityTick", "", 0},
		{"a long line", header + strings.Repeat("x", 1<<21), 0, options{}, ": a line is longer than 1048576 bytes\nhint: is it a CSV file?", "", 0},
		{"more than so many", header + minutes, 0, options{MaxCandles: 2}, ": the file has more than 2 candles\nhint: split the file", "", 0},
		{"unknown columns", "1704067200000,1\n", 0, options{Columns: "time,price"}, "the columns \"time,price\" are unknown\n" +
			"hint: list all of them, left to right, as open_time_ms,open,high,low,close,volume; - skips one", "", 0},
		{"numbers for columns", "1704067200000,1\n", 0, options{Columns: "1,2,3,4,5,6,7,8,9,10,11,12"},
			"the columns \"1,2,3,4,5,6,7,8,9,10,11,12\" are unknown\n" +
				"hint: list all of them, left to right, as open_time_ms,open,high,low,close,volume; - skips one", "", 0},
		{"fewer than the columns", "1704067200000,1,10,9,12\n", 0, options{Columns: ordered}, ":1: 5 columns, the header has 6" + repair, "", 0},
		{"a gzip without its rest", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", 0, options{}, ": the gzip stream is broken: unexpected EOF" + complete, "", 0},
		{"no gzip", "\x1f\x8b\x00\x00\x00\x00\x00\x00\x00\xff", 0, options{}, ": the gzip stream is broken: gzip: invalid header" + complete, "", 0},
		{"no zip", "PK\x03\x04 not", 0, options{}, ": the ZIP archive is broken: zip: not a valid zip file" + complete, "", 0},
	} {
		path := file(t, "x.csv", []byte(c.content))
		_, err := tape.LoadCandles(path, bitcoin(t), c.interval, c.options)
		var wrong *tape.DataError
		if !errors.As(err, &wrong) {
			t.Errorf("%s: want a DataError, have %v", c.name, err)
			continue
		}
		if have := strings.TrimPrefix(err.Error(), path); have != c.want || wrong.Column != c.column || wrong.Finer != c.finer {
			t.Errorf("%s: want %q of %q, finer %s\nhave %q of %q, finer %s", c.name, c.want, c.column, c.finer, have, wrong.Column, wrong.Finer)
		}
	}
	if _, err := tape.LoadCandles(filepath.Join(t.TempDir(), "absent.csv"), bitcoin(t), 0, tape.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: have %v", err)
	}
}

// TestIntervalIsFoundOrAccepted reads files whose rows leave the interval open.
func TestIntervalIsFoundOrAccepted(t *testing.T) {
	t.Parallel()
	closing := "open_time_ms,open,high,low,close,volume,close_time_ms\n1704067200000,10,12,9,11,1,"
	sparse := header
	for _, n := range []int64{0, 15, 45, 60, 105, 165, 180, 255, 270, 330} { // two neighbors are rare
		sparse += minute(n)
	}
	distant := header
	for _, n := range []int64{0, 25, 50, 60, 130, 155} { // mostly as far apart as no interval is
		distant += minute(n)
	}
	for _, c := range []struct {
		name, content string
		asked, want   exchange.Interval
		missing       int
	}{
		{"neighbors", header + minute(0) + minute(5) + minute(10), 0, exchange.Minute5, 0},
		{"most neighbors", header + minute(0) + minute(5) + minute(10) + minute(40), 0, exchange.Minute5, 5},
		{"one row and its last millisecond", closing + "1704070799999\n", 0, exchange.Hour1, 0},
		{"one row and the next open", closing + "1704070800000\n", 0, exchange.Hour1, 0},
		{"one row and microseconds", strings.ReplaceAll(closing, "1704067200000", "1704067200000000") + "1704067259999999\n", 0, exchange.Minute1, 0},
		{"one row of an asked interval", header + minute(0), exchange.Hour4, exchange.Hour4, 0},
		{"a sparse series", sparse, 0, exchange.Minute15, 13},
		{"a series of which most is missing", distant, 0, exchange.Minute5, 26},
		{"the last millisecond before the first", "close_time_ms,open_time_ms,open,high,low,close,volume\n1704067259999,1704067200000,10,12,9,11,1\n" +
			"1704067319999,1704067260000,10,12,9,11,1\n", 0, exchange.Minute1, 0},
		{"few neighbors of an asked interval", header + minute(0) + minute(5) + minute(10) + minute(11), exchange.Minute1, exchange.Minute1, 8},
		{"a volume and more", header + minutes + "\n\n", 0, exchange.Minute1, 0},
	} {
		have, err := tape.LoadCandles(file(t, "x.csv", []byte(c.content)), bitcoin(t), c.asked, tape.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		missing := 0
		for _, h := range have.Holes {
			missing += h.Missing
		}
		if have.Candles.Interval != c.want || missing != c.missing {
			t.Errorf("%s: want %s with %d missing, have %s with %d", c.name, c.want, c.missing, have.Candles.Interval, missing)
		}
	}
}

// TestColumnsNamedByTheUserReplaceTheHeader reads columns in another order, with and without a first line of names.
func TestColumnsNamedByTheUserReplaceTheHeader(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"", "a,b,c,d,e,f,g\n", "a1,b,c,d,e,f,g\n", "#time,b,c,d,e,f,g\n", "\"a\",b,c,d,e,f,g\n",
		"\xef\xbb\xbfopen_time_ms,open,high,low,close,volume,x\n"} {
		path := file(t, "x.csv", []byte(first+"1704067200000,2.5,10,9,12,11,x\n1704067260000,3,11,10,13,12,\n"))
		have, err := tape.LoadCandles(path, bitcoin(t), 0, tape.Options{Columns: "open_time_ms,volume,open,low,high,close,-"})
		if err != nil {
			t.Errorf("%q: %v", first, err)
			continue
		}
		if want := "1704067200000,10,12,9,11,2.5,1704067259999,,,,\n1704067260000,11,13,10,12,3,1704067319999,,,,\n"; !strings.HasSuffix(csv(t,
			have.Candles, have.Symbol), want) {
			t.Errorf("%q: want %s, have %s", first, want, csv(t, have.Candles, have.Symbol))
		}
	}
	for _, text := range []string{"", "\n"} {
		options := tape.Options{Columns: "open_time_ms,open,high,low,close"}
		if _, err := tape.LoadCandles(file(t, "x.csv", []byte(text)), bitcoin(t), 0, options); err == nil {
			t.Errorf("%q: want a file without rows refused", text)
		}
	}
}

// TestMostCandlesAreThoseThatAreRead counts neither empty lines nor rows that are dropped.
func TestMostCandlesAreThoseThatAreRead(t *testing.T) {
	t.Parallel()
	text := header + minute(0) + "\n" + minute(1) + "1704067320000,10,1,9,11,1\n" + minute(3) + "\n\n"
	for most, want := range map[int]int{0: 3, 2: 0, 3: 3, 4: 3} {
		have, err := tape.LoadCandles(file(t, "x.csv", []byte(text)), bitcoin(t), exchange.Minute1, tape.Options{MaxCandles: most, Repair: true})
		if want == 0 != (err != nil) || err == nil && have.Candles.Len() != want {
			t.Errorf("at most %d: want %d candles, have %v (%v)", most, want, have, err)
		}
	}
}
