package foreign_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"botd/exchange/tape/foreign"
)

// TestEachFormOfATimeIsRead reads a row per form of 2024-01-02 03:04:05 UTC, or of the part of it that the form has.
func TestEachFormOfATimeIsRead(t *testing.T) {
	t.Parallel()
	const second, minute, hour, day = 1704164645000, 1704164640000, 1704164400000, 1704153600000
	for text, want := range map[string]int64{
		"2024-01-02T03:04:05Z": second, "2024-01-02T04:04:05+01:00": second, "2024-01-02 03:04:05Z": second, "2024-01-02 05:04:05+02:00": second,
		"2024-01-02 04:04:05 +0100": second, "2024-01-02T03:04:05": second, "2024-01-02 03:04:05": second, "2024-01-02 03:04:05.250": second + 250,
		"2024-01-02 03:04:05 UTC": second, "2024-01-02 03:04:05 GMT": second, "2024-01-02 03:04": minute, "2024-01-02T03:04": minute, "2024-01-02": day,
		"2024-01-02 03-AM": hour, "2024-01-02 03-PM": hour + 12*3_600_000, "2024-01-02 03": hour, "2024.01.02 03:04": minute, "2024.01.02 03:04:05": second,
		"2024.01.02": day, "2024/01/02 03:04": minute, "2024/01/02 03:04:05": second, "2024/01/02": day, "20240102 030405": second, "20240102 03:04:05": second,
		"20240102 03:04": minute, "20240102": day, "\"Jan 2, 2024\"": day,
		"1704164645": second, "1704164645.0": second, "1704164645.25": second + 250, "1704164645.0009": second, "1704164645000": second,
		"1704164645000000": second,
		"1704164645000999": second, "1704164645000000000": second, "1704164645000.5": second,
		"100000000": 100_000_000_000, "99999999999": 99_999_999_999_000, "100000000000": 100_000_000_000, "99999999999999": 99_999_999_999_999,
		"100000000000000": 100_000_000_000, "99999999999999999": 99_999_999_999_999, "100000000000000000": 100_000_000_000,
	} {
		have, _ := read(t, "time,open,high,low,close,volume\n"+text+",10,12,9,11,5\n", "")
		if line := fmt.Sprintf("open_time_ms,open,high,low,close,volume\n%d,10,12,9,11,5\n", want); have != line {
			t.Errorf("%s: want %q, have %q", text, line, have)
		}
	}
	for _, text := range []string{"", "99999999", "-1704164645", "1704164645.x", "yesterday", "2024-13-01", "2024-01-02 25:00", "1704164645e3"} {
		_, _, err := foreign.CSV(bufio.NewReaderSize(strings.NewReader("time,open,high,low,close,volume\n"+text+",10,12,9,11,5\n"), 1<<16), "")
		if !errors.Is(err, foreign.ErrUnknown) {
			t.Errorf("%q: want no time, have %v", text, err)
		}
	}
}

// TestEachFormOfANumberIsRead reads each as a volume and as a number of trades.
func TestEachFormOfANumberIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ delimiter, text, volume, trades string }{
		{",", "5", "5", "5"}, {",", "null", "", ""}, {",", "NaN", "", ""}, {",", "None", "", ""}, {",", "-", "", ""}, {",", "N/A", "", ""}, {",", "", "", ""},
		{",", "5.0", "5.0", "5"}, {",", "5.50", "5.50", "5.50"}, {",", "5.", "5.", "5"}, {",", "1e3", "1e3", "1e3"}, {",", `"1,234,567.5"`, "1234567.5",
			"1234567.5"},
		{",", `"1,234"`, "1234", "1234"}, {";", "1.234,5", "1.2345", "1.2345"}, {";", "1234,5", "1234.5", "1234.5"}, {"\t", "1,5", "1.5", "1.5"},
		{";", "1,234.5", "1234.5", "1234.5"}, {",", "123456789012345", "123456789012345", "123456789012345"},
		{",", "0.1000000014901161", "0.1000000014901161", "0.1000000014901161"}, {",", "0.10000000149011612", "0.1", "0.1"}, {",", "0.30000000000000004",
			"0.3", "0.3"},
		{",", "1.2345678901200001", "1.23456789012", "1.23456789012"}, {",", "1.2345678901230001", "1.2345678901230001", "1.2345678901230001"},
		{",", "0.12345678901234567", "0.12345678901234567", "0.12345678901234567"}, {",", "100000000000000000000", "100000000000000000000",
			"100000000000000000000"},
		{",", "-0.30000000000000004", "-0.3", "-0.3"}, {",", "3.0000000000000004e-05", "0.00003", "0.00003"}, {",", "1234567890123456x",
			"1234567890123456x", "1234567890123456x"},
	} {
		text := strings.Join([]string{"time", "open", "high", "low", "close", "volume", "trades"}, c.delimiter) + "\n" +
			strings.Join([]string{"1704164645", "10", "12", "9", "11", c.text, c.text}, c.delimiter) + "\n"
		have, _ := read(t, text, "")
		if want := "open_time_ms,open,high,low,close,volume,trades\n1704164645000,10,12,9,11," + c.volume + "," + c.trades + "\n"; have != want {
			t.Errorf("%s: want %q, have %q", c.text, want, have)
		}
	}
}

// TestEachNameOfAColumnIsKnown renames one column at a time.
func TestEachNameOfAColumnIsKnown(t *testing.T) {
	t.Parallel()
	usual := []string{"time", "open", "high", "low", "close", "volume", "quote_volume", "trades", "taker_buy_base", "taker_buy_quote"}
	const row = "1704164645,10,12,9,11,5,55,7,2,22\n"
	for column, names := range [][]string{
		{"open_time_ms", "Open Time", "startTime", "start_at", "timestamp", "unix", "Unix Timestamp", "unixtime", "ts", "T", "datetime", "DATE",
			"candle_begin_time",
			"Open time (UTC)", "Gmt time"},
		{"Open Price", "o"}, {"HighPrice", "h"}, {"low_price", "L"}, {"closePrice", "c", "Last"},
		{"vol", "V", "Base Volume", "volume_base", "Volume BTC", "volume-1000PEPE"},
		{"Quote Asset Volume", "turnover", "volCcyQuote", "vol_quote", "Volume (quote)", "Volume USDT", "Volume USD", "volume EUR", "volume_krw"},
		{"count", "tradecount", "Trades Count", "Number of Trades", "num_trades"}, {"taker_buy_volume", "Taker Buy Base Volume", "taker buy base asset volume"},
		{"taker_buy_quote_volume", "taker buy quote asset volume"},
	} {
		for _, name := range append(names, usual[column]) {
			header := append([]string{}, usual...)
			header[column] = `"` + name + `"`
			have, _ := read(t, strings.Join(header, ",")+"\n"+row, "")
			want := "open_time_ms,open,high,low,close,volume,quote_volume,trades,taker_buy_base,taker_buy_quote\n1704164645000,10,12,9,11,5,55,7,2,22\n"
			if have != want {
				t.Errorf("%s: want %q, have %q", name, want, have)
			}
		}
	}
	// The first name in the list of each column is preferred: a file may have a number of seconds and a date.
	have, _ := read(t, "date,volume_usdt,unix,open,high,low,close,vol,volume\n2020-01-01,55,1704164645,10,12,9,11,1,5\n", "")
	if want := "open_time_ms,open,high,low,close,volume,quote_volume\n1704164645000,10,12,9,11,5,55\n"; have != want {
		t.Errorf("want %q, have %q", want, have)
	}
}

// TestRowsWithoutAHeaderShowTheirLayout tries each layout with two rows, of which one decides.
func TestRowsWithoutAHeaderShowTheirLayout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, rows, want string }{
		{"five", "1704164645,10,12,9,11\n1704164705,11,13,10,12\n", "1704164645000,10,12,9,11,\n1704164705000,11,13,10,12,\n"},
		{"open first", "1704164645,10,12,9,11,5\n", "1704164645000,10,12,9,11,5\n"},
		{"low first", "1704164645,9,12,10,11,5\n1704164705,9,9,9,9,6\n", "1704164645000,10,12,9,11,5\n1704164705000,9,9,9,9,6\n"},
		{"trades last", "1704164645,10,12,9,11,5,7\n", "1704164645000,10,12,9,11,5,7\n"},
		{"turnover last", "1704164645,10,12,9,11,5,7\n1704164705,10,12,9,11,5,7.5\n", "1704164645000,10,12,9,11,5,7\n1704164705000,10,12,9,11,5,7.5\n"},
		{"a time of day", "2024.01.02,03:04,10,12,9,11,5\n", "1704164640000,10,12,9,11,5\n"},
		{"vwap", "1704164645,10,12,9,11,10.5,5,7\n", "1704164645000,10,12,9,11,5,7\n"},
		{"klines of seconds", "1704164645,10,12,9,11,5,1704164704,55,7,2,22,0\n", "1704164645000,10,12,9,11,5,55,7,2,22\n"},
		{"high equal to open and low to close", "1704164645,12,12,11,11,5\n", "1704164645000,12,12,11,11,5\n"},
		{"lines before", "one line\nanother; line\n\n1704164645,10,12,9,11,5\n", "1704164645000,10,12,9,11,5\n"},
		{"an empty line between", "1704164645,10,12,9,11,5\n\n1704164705,10,12,9,11,5\n", "1704164645000,10,12,9,11,5\n\n1704164705000,10,12,9,11,5\n"},
	} {
		have, _ := read(t, c.rows, "")
		if _, rows, _ := strings.Cut(have, "\n"); rows != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, rows)
		}
	}
	for name, rows := range map[string]string{
		"a low above the open": "1704164645,10,12,10.5,11\n", "a high below the close": "1704164645,10,10.5,9,11,5\n",
		"a low above the close": "1704164645,11,12,10.5,10,5\n",
		"a word for a price":    "1704164645,10,12,9,eleven,5\n", "four columns": "1704164645,10,12,9\n", "ten columns": "1704164645,10,12,9,11,5,6,7,8,9\n",
		"a header of something else": "a,b,c,d,e,f\n1704164645,10,12,9,11,5\n", "a second row without a time": "1704164645,10,12,9,11,5\nx,10,12,9,11,5\n",
		"seventeen lines before": strings.Repeat("words\n", 17) + "1704164645,10,12,9,11,5\n",
	} {
		_, _, err := foreign.CSV(bufio.NewReaderSize(strings.NewReader(rows), 1<<16), "")
		if !errors.Is(err, foreign.ErrUnknown) {
			t.Errorf("%s: want it refused, have %v", name, err)
		}
	}
}

// TestLinesAroundTheHeaderAreSkipped covers up to fifteen lines before the header, and up to fifteen after it.
func TestLinesAroundTheHeaderAreSkipped(t *testing.T) {
	t.Parallel()
	const header, row = "time,open,high,low,close,volume\n", "1704164645,10,12,9,11,5\n"
	for _, c := range []struct {
		before, after int
		known         bool
	}{{0, 0, true}, {15, 0, true}, {16, 0, false}, {0, 15, true}, {0, 16, false}, {15, 15, true}} {
		text := strings.Repeat("some words\n", c.before) + header + strings.Repeat("a,b,c,d,e,f\n", c.after) + row
		translated, origin, err := foreign.CSV(bufio.NewReaderSize(strings.NewReader(text), 1<<16), "")
		if c.known != (err == nil) || c.known && (translated == nil || origin != foreign.Origin{First: c.before + c.after + 2, Step: 1}) {
			t.Errorf("%d lines before and %d after: want known %t, have %+v (%v)", c.before, c.after, c.known, origin, err)
		}
	}
	// A second header is a row that the parser refuses, without commas of its own.
	have, _ := read(t, header+row+"\"a, b\",open\n", "")
	if want := "1704164645000,10,12,9,11,5\na  b,open,,,,\n"; !strings.HasSuffix(have, want) {
		t.Errorf("want %q, have %q", want, have)
	}
}

// TestColumnsOfTheUser names them in any way that a header may.
func TestColumnsOfTheUser(t *testing.T) {
	t.Parallel()
	for columns, known := range map[string]bool{"ts,o,h,l,c,v": true, "time,open,high,low,close": true, "open,high,low,close,volume": false,
		"time,open,high,low": false, "": true} {
		_, _, err := foreign.CSV(bufio.NewReaderSize(strings.NewReader("1704164645,10,12,9,11,5\n"), 1<<16), columns)
		if known != (err == nil) || err != nil && !errors.Is(err, foreign.ErrUnknown) {
			t.Errorf("%q: want known %t, have %v", columns, known, err)
		}
	}
	have, origin := read(t, "when,what\n1704164705,11\n1704164645,10\n", "time,open,high,low,close")
	if want := "open_time_ms,open,high,low,close,volume\n1704164645000,10,,,,\n1704164705000,11,,,,\n"; have != want ||
		origin != (foreign.Origin{First: 3, Step: -1}) {
		t.Errorf("want %q from line 3 upwards, have %q, %+v", want, have, origin)
	}
}

// TestListsInsideJSONAreFound reads lists within objects, at most four deep, and refuses what is none.
func TestListsInsideJSONAreFound(t *testing.T) {
	t.Parallel()
	const list, want = `[[1704164645,"10",12,9,11,5]]`, "open_time_ms,open,high,low,close,volume\n1704164645000,10,12,9,11,5\n"
	for _, text := range []string{list, " \n" + list, `{"a":` + list + `}`, `{"a":{"b":{"c":` + list + `}}}`, `{"a":[],"b":[1],"c":{"d":2},"e":` + list + `}`,
		`{"rows":[{"t":1704164645,"o":10,"h":12,"l":9,"c":11,"v":5,"x":"a,b"}]}`} {
		if have, _ := read(t, text, ""); have != want {
			t.Errorf("%s: want %q, have %q", text, want, have)
		}
	}
	if have, _ := read(t, `[{"t":1704164645,"o":10,"h":12,"l":9,"c":11,"v":5},{"t":1704164705,"o":10,"h":12,"l":9,"c":11}]`,
		""); have != want+"1704164705000,10,12,9,11,\n" {
		t.Errorf("a key that is absent: want it empty, have %q", have)
	}
	for text, want := range map[string]string{`{"a":{"b":{"c":{"d":` + list + `}}}}`: "unknown", "[]": "unknown", "{}": "unknown", "[1,2]": "unknown",
		`{"a":`:               "unexpected end",
		`[{"t":1,"o":2},[1]]`: "row 2: ", `[[1],{"a":1}]`: "unknown"} {
		_, _, err := foreign.CSV(bufio.NewReaderSize(strings.NewReader(text), 1<<16), "")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want an error with %q, have %v", text, want, err)
		}
	}
}

// TestVolumeOfOKXIsInTheBaseAsset uses a contract of 0.1: the volume is the column that differs from the
// quote volume.
func TestVolumeOfOKXIsInTheBaseAsset(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"ts,o,h,l,c,vol,volCcy,volCcyQuote,confirm\n1704164645000,10,12,9,11,50,5,55,1\n", "5,55"},
		{"ts,o,h,l,c,vol,volCcy,volCcyQuote,confirm\n1704164645000,10,12,9,11,5,55,55,1\n", "5,55"},
		{"ts,o,h,l,c,vol,volCcy\n1704164645000,10,12,9,11,50,5\n", "50"},
		{"1704164645000,10,12,9,11,5,55,55,1\n1704164705000,10,12,9,11,0,0,0,1\n", "5,55"},
		{"1704164645000,10,12,9,11,0,0,0,1\n1704164705000,10,12,9,11,50,5,55,1\n", "0,0"},
	} {
		have, _ := read(t, c.text, "")
		lines := strings.Split(have, "\n")
		if !strings.HasSuffix(lines[1], ",10,12,9,11,"+c.want) {
			t.Errorf("%q: want a volume of %s, have %q", c.text, c.want, have)
		}
	}
}

// TestColumnsInAnyPlace puts each optional column first, and omits each price.
func TestColumnsInAnyPlace(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"volume": "volume\n1704164645000,10,12,9,11,7\n",
		"turnover": "volume,quote_volume\n1704164645000,10,12,9,11,,7\n",
		"trades":   "volume,trades\n1704164645000,10,12,9,11,,7\n", "taker_buy_base": "volume,taker_buy_base\n1704164645000,10,12,9,11,,7\n",
		"taker_buy_quote": "volume,taker_buy_quote\n1704164645000,10,12,9,11,,7\n"} {
		have, _ := read(t, name+",time,open,high,low,close\n7,1704164645,10,12,9,11\n", "")
		if have != "open_time_ms,open,high,low,close,"+want {
			t.Errorf("%s: want %q, have %q", name, want, have)
		}
	}
	for _, missing := range []string{"open", "high", "low", "close"} {
		header := strings.Replace("time,open,high,low,close,volume", missing, "x", 1)
		_, _, err := foreign.CSV(bufio.NewReaderSize(strings.NewReader(header+"\n1704164645,10,12,9,11,5\n"), 1<<16), "")
		if !errors.Is(err, foreign.ErrUnknown) {
			t.Errorf("no %s: want it refused, have %v", missing, err)
		}
	}
}

// TestHeadMayEndWithinALine shows a part of a file that has no header, and a file without a newline at its end.
func TestHeadMayEndWithinALine(t *testing.T) {
	t.Parallel()
	rows, want := "", "open_time_ms,open,high,low,close,volume,trades\n"
	for i := range 20 {
		rows += fmt.Sprintf("%d,10,12,9,11,5,7\n", 1704164645+60*i)
		want += fmt.Sprintf("%d,10,12,9,11,5,7\n", 1704164645000+60_000*i)
	}
	for size := 80; size < 130; size++ {
		translated, _, err := foreign.CSV(bufio.NewReaderSize(strings.NewReader(rows), size), "")
		if err != nil {
			t.Errorf("a head of %d bytes: %v", size, err)
			continue
		}
		if have, err := io.ReadAll(translated); err != nil || string(have) != want {
			t.Errorf("a head of %d bytes: want all rows, have %q (%v)", size, have, err)
		}
	}
	have, _ := read(t, "1704164645,10,12,9,11,5", "")
	if have != "open_time_ms,open,high,low,close,volume\n1704164645000,10,12,9,11,5\n" {
		t.Errorf("one row without a newline: have %q", have)
	}
}

// TestDateAndTimeOfDayInTwoColumns puts them in any place, next to columns whose numbers are no time of day.
func TestDateAndTimeOfDayInTwoColumns(t *testing.T) {
	t.Parallel()
	for header, row := range map[string]string{
		"Date,Time,Open,High,Low,Close,Volume":   "2024-01-02,03:04,10,12,9,11,5",
		"Time,Date,Open,High,Low,Close,Volume":   "03:04,2024-01-02,10,12,9,11,5",
		"Open,High,Low,Close,Volume,Date,Time":   "10,12,9,11,5,2024-01-02,03:04",
		"Open,High,Low,Close,Volume,Time,Date":   "10,12,9,11,5,03:04,2024-01-02",
		"Date,Open,Time,High,Low,Close,Volume":   "2024.01.02,10,03:04:00,12,9,11,5",
		"Date,Symbol,Open,High,Low,Close,Volume": "2024-01-02 03:04,X:Y,10,12,9,11,5",
		"Time,Open,High,Low,Close,Volume,Date":   "2024-01-02T03:04:00Z,10,12,9,11,5,x",
	} {
		have, _ := read(t, header+"\n"+row+"\n", "")
		if want := "open_time_ms,open,high,low,close,volume\n1704164640000,10,12,9,11,5\n"; have != want {
			t.Errorf("%s: want %q, have %q", header, want, have)
		}
	}
}

// A volume with USDT or its like in its name counts in the quote asset.
func TestVolumesDifferByTheirAsset(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"volume usd,volume usdt": "volume,quote_volume 11,,1", "volume btc,volume usdt": "volume,quote_volume 11,1,2",
		"volume usdt,volume btc": "volume,quote_volume 11,2,1",
		"volume btc,volume eth":  "volume 11,1", "volume,volume usdt": "volume,quote_volume 11,1,2", "turnover,volume usdt": "volume,quote_volume 11,,1",
		"volume quote,volume x": "volume,quote_volume 11,2,1",
	} {
		have, _ := read(t, "time,open,high,low,close,"+header+"\n1704164640,10,12,9,11,1,2\n", "")
		columns, row, _ := strings.Cut(want, " ")
		if text := "open_time_ms,open,high,low,close," + columns + "\n1704164640000,10,12,9," + row + "\n"; have != text {
			t.Errorf("%s: want %q, have %q", header, text, have)
		}
	}
	if have, _ := read(t, "\ufeff[[1704164640,10,12,9,11,5]]", ""); have != "open_time_ms,open,high,low,close,volume\n1704164640000,10,12,9,11,5\n" {
		t.Errorf("JSON after a byte order mark: have %q", have)
	}
}
