package foreign_test

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/exchange/tape/foreign"
)

// two has the candles of most layouts below: two hours of 2024.
const two = `open_time_ms,open,high,low,close,volume
1704067200000,42283.58,42554.57,42261.02,42475.23,1271.68
1704070800000,42475.23,42775.00,42431.65,42613.56,1196.38
`

// layouts are typed from the documentation of their sources, with the figures of two.
var layouts = []struct {
	name, source, text, want string
	origin                   foreign.Origin
}{
	{"ccxt", "ccxt manual, OHLCV structure: [timestamp in ms, open, high, low, close, volume]", `timestamp,open,high,low,close,volume
1704067200000,42283.58,42554.57,42261.02,42475.23,1271.68
1704070800000,42475.23,42775.00,42431.65,42613.56,1196.38
`, two, foreign.Origin{First: 2, Step: 1}},
	{"freqtrade JSON", "freqtrade docs, data-download: a list of [date in ms, open, high, low, close, volume]",
		`[[1704067200000,42283.58,42554.57,42261.02,42475.23,1271.68],[1704070800000,42475.23,42775.00,42431.65,42613.56,1196.38]]`,
		two, foreign.Origin{First: 1, Step: 1}},
	{"Yahoo", "finance.yahoo.com, historical data, download", `Date,Open,High,Low,Close,Adj Close,Volume
2024-01-01,42283.58,42554.57,42261.02,42475.23,42475.23,1271.68
2024-01-02,null,null,null,null,null,null
2024-01-03,42475.23,42775.00,42431.65,42613.56,42613.56,1196.38
`, `open_time_ms,open,high,low,close,volume
1704067200000,42283.58,42554.57,42261.02,42475.23,1271.68
1704153600000,,,,,
1704240000000,42475.23,42775.00,42431.65,42613.56,1196.38
`, foreign.Origin{First: 2, Step: 1}},
	{"yfinance with three lines of names", "yfinance, download(...).to_csv()", `Price,Close,High,Low,Open,Volume
Ticker,BTC-USD,BTC-USD,BTC-USD,BTC-USD,BTC-USD
Date,,,,,
2024-01-01 00:00:00+00:00,42475.23,42554.57,42261.02,42283.58,1271.68
2024-01-01 01:00:00+00:00,42613.56,42775.00,42431.65,42475.23,1196.38
`, two, foreign.Origin{First: 4, Step: 1}},
	{"CryptoDataDownload, newest first, a line before the header", "cryptodatadownload.com/data/binance", `https://www.CryptoDataDownload.com
Unix,Date,Symbol,Open,High,Low,Close,Volume BTC,Volume USDT,tradecount
1704070800000,2024-01-01 01:00:00,BTCUSDT,42475.23,42775.00,42431.65,42613.56,1196.38,50984316.6,46893
1704067200000,2024-01-01 00:00:00,BTCUSDT,42283.58,42554.57,42261.02,42475.23,1271.68,53952315.9,47134
`, `open_time_ms,open,high,low,close,volume,quote_volume,trades
1704067200000,42283.58,42554.57,42261.02,42475.23,1271.68,53952315.9,47134
1704070800000,42475.23,42775.00,42431.65,42613.56,1196.38,50984316.6,46893
`, foreign.Origin{First: 4, Step: -1}},
	{"CryptoDataDownload of old, hours as 01-AM", "cryptodatadownload.com, files before 2020", `https://www.CryptoDataDownload.com
Date,Symbol,Open,High,Low,Close,Volume BTC,Volume USD
2024-01-01 01-AM,BTCUSD,42475.23,42775.00,42431.65,42613.56,1196.38,50984316.6
2024-01-01 12-AM,BTCUSD,42283.58,42554.57,42261.02,42475.23,1271.68,53952315.9
`, `open_time_ms,open,high,low,close,volume,quote_volume
1704067200000,42283.58,42554.57,42261.02,42475.23,1271.68,53952315.9
1704070800000,42475.23,42775.00,42431.65,42613.56,1196.38,50984316.6
`, foreign.Origin{First: 4, Step: -1}},
	{"Kraken OHLCVT", "support.kraken.com, downloadable historical OHLCVT data: no header, seconds, trades last",
		`1704067200,42283.58,42554.57,42261.02,42475.23,1271.68,47134
1704070800,42475.23,42775.00,42431.65,42613.56,1196.38,46893
`, `open_time_ms,open,high,low,close,volume,trades
1704067200000,42283.58,42554.57,42261.02,42475.23,1271.68,47134
1704070800000,42475.23,42775.00,42431.65,42613.56,1196.38,46893
`, foreign.Origin{First: 1, Step: 1}},
	{"Kraken API", "docs.kraken.com, Get OHLC Data: [time, open, high, low, close, vwap, volume, count]",
		`{"error":[],"result":{"XXBTZUSD":[[1704067200,"42283.58","42554.57","42261.02","42475.23","42426.1","1271.68",47134],` +
			`[1704070800,"42475.23","42775.00","42431.65","42613.56","42615.0","1196.38",46893]],"last":1704067200}}`,
		`open_time_ms,open,high,low,close,volume,trades
1704067200000,42283.58,42554.57,42261.02,42475.23,1271.68,47134
1704070800000,42475.23,42775.00,42431.65,42613.56,1196.38,46893
`, foreign.Origin{First: 1, Step: 1}},
	{"Coinbase API, newest first, low before high", "docs.cdp.coinbase.com, Get product candles: [time, low, high, open, close, volume]",
		`[[1704070800,42431.65,42775.00,42475.23,42613.56,1196.38],[1704067200,42261.02,42554.57,42283.58,42475.23,1271.68]]`,
		two, foreign.Origin{First: 2, Step: -1}},
	{"Bybit API, newest first", "bybit-exchange.github.io, v5 Get Kline: startTime, openPrice, highPrice, lowPrice, closePrice, volume, turnover",
		`{"retCode":0,"retMsg":"OK","result":{"symbol":"BTCUSDT","category":"linear","list":[` +
			`["1704070800000","42475.23","42775.00","42431.65","42613.56","1196.38","50984316.6"],` +
			`["1704067200000","42283.58","42554.57","42261.02","42475.23","1271.68","53952315.9"]]},"time":1704074400000}`,
		`open_time_ms,open,high,low,close,volume,quote_volume
1704067200000,42283.58,42554.57,42261.02,42475.23,1271.68,53952315.9
1704070800000,42475.23,42775.00,42431.65,42613.56,1196.38,50984316.6
`, foreign.Origin{First: 2, Step: -1}},
	{"Bybit file for MetaTrader", "public.bybit.com/kline_for_metatrader4", `2024.01.01 00:00,42283.58,42554.57,42261.02,42475.23,1271.68
2024.01.01 01:00,42475.23,42775.00,42431.65,42613.56,1196.38
`, two, foreign.Origin{First: 1, Step: 1}},
	{"MetaTrader, date and time apart", "MetaTrader 4 history export", `2024.01.01,00:00,42283.58,42554.57,42261.02,42475.23,1271.68
2024.01.01,01:00,42475.23,42775.00,42431.65,42613.56,1196.38
`, two, foreign.Origin{First: 1, Step: 1}},
	{"StockSharp, date and time apart, with a header", "doc.stocksharp.com, export: <DATE>,<TIME>,<OPEN>,...", `<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>
20240101,00:00,42283.58,42554.57,42261.02,42475.23,1271.68
20240101,01:00,42475.23,42775.00,42431.65,42613.56,1196.38
`, two, foreign.Origin{First: 2, Step: 1}},
	{"OKX file of a spot pair", "okx.com/historical-data: vol in the base asset, vol_ccy in the quote asset",
		`instrument_name,open,high,low,close,vol,vol_ccy,vol_quote,open_time,confirm
BTC-USDT,42283.58,42554.57,42261.02,42475.23,1271.68,53952315.9,53952315.9,1704067200000,1
BTC-USDT,42475.23,42775.00,42431.65,42613.56,1196.38,50984316.6,50984316.6,1704070800000,1
`, `open_time_ms,open,high,low,close,volume,quote_volume
1704067200000,42283.58,42554.57,42261.02,42475.23,1271.68,53952315.9
1704070800000,42475.23,42775.00,42431.65,42613.56,1196.38,50984316.6
`, foreign.Origin{First: 2, Step: 1}},
	{"OKX API of a swap, newest first", "okx.com/docs-v5, Get candlesticks: ts, o, h, l, c, vol in contracts, volCcy in the base asset, volCcyQuote, confirm",
		`{"code":"0","msg":"","data":[["1704070800000","42475.23","42775.00","42431.65","42613.56","119638","1196.38","50984316.6","1"],` +
			`["1704067200000","42283.58","42554.57","42261.02","42475.23","127168","1271.68","53952315.9","1"]]}`,
		`open_time_ms,open,high,low,close,volume,quote_volume
1704067200000,42283.58,42554.57,42261.02,42475.23,1271.68,53952315.9
1704070800000,42475.23,42775.00,42431.65,42613.56,1196.38,50984316.6
`, foreign.Origin{First: 2, Step: -1}},
	{"TradingView, times as text", "tradingview.com, export chart data, ISO time", `time,open,high,low,close,Volume,EMA
2024-01-01T00:00:00Z,42283.58,42554.57,42261.02,42475.23,1271.68,42300.1
2024-01-01T02:00:00+01:00,42475.23,42775.00,42431.65,42613.56,1196.38,42301.2
`, two, foreign.Origin{First: 2, Step: 1}},
	{"TradingView, seconds, without volume", "tradingview.com, export chart data, UNIX timestamp", `time,open,high,low,close
1704067200,42283.58,42554.57,42261.02,42475.23
1704070800,42475.23,42775.00,42431.65,42613.56
`, `open_time_ms,open,high,low,close,volume
1704067200000,42283.58,42554.57,42261.02,42475.23,
1704070800000,42475.23,42775.00,42431.65,42613.56,
`, foreign.Origin{First: 2, Step: 1}},
	{"pandas, with an index and floats", "pandas, DataFrame.to_csv()", `,open,high,low,close,volume,trades
2024-01-01 00:00:00,42283.58,42554.57,42261.02,42475.23,1271.68,47134.0
2024-01-01 01:00:00,42475.23,42775.00,42431.65,42613.56,1196.38,46893.0
`, `open_time_ms,open,high,low,close,volume,trades
1704067200000,42283.58,42554.57,42261.02,42475.23,1271.68,47134
1704070800000,42475.23,42775.00,42431.65,42613.56,1196.38,46893
`, foreign.Origin{First: 2, Step: 1}},
	{"quoted, with thousands parted", "spreadsheets", "\ufeff\"Date\",\"Open\",\"High\",\"Low\",\"Close\",\"Volume\"\r\n" +
		"\"2024-01-01 00:00\",\"42,283.58\",\"42,554.57\",\"42,261.02\",\"42,475.23\",\"1,271.68\"\r\n" +
		"\"2024-01-01 01:00\",\"42,475.23\",\"42,775.00\",\"42,431.65\",\"42,613.56\",\"1,196.38\"\r\n", two, foreign.Origin{First: 2, Step: 1}},
	{"semicolons and decimal commas", "spreadsheets of Europe", `Date;Open;High;Low;Close;Volume
2024-01-01 00:00;42283,58;42554,57;42261,02;42475,23;1271,68

2024-01-01 01:00;42475,23;42775,00;42431,65;42613,56;1196,38
`, strings.Replace(two, "1704070800000", "\n1704070800000", 1), foreign.Origin{First: 2, Step: 1}},
	{"objects", "answers of many services",
		`{"data":[{"t":1704067200,"o":42283.58,"h":42554.57,"l":42261.02,"c":42475.23,"v":1271.68},` +
			`{"t":1704070800,"o":42475.23,"h":42775.00,"l":42431.65,"c":42613.56,"v":1196.38}]}`,
		two, foreign.Origin{First: 2, Step: 1}},
	{"floats with their noise", "yfinance (prices of four bytes, widened), pandas (a sum of floats); exact digits stay", `Date,Open,High,Low,Close,Volume
2024-01-01,0.08312900364398956,0.08418300002813339,0.08295699954032898,0.08305700123310089,3.3000000000000003
2024-01-02,1.2345678901234567,2,0.29999999999999999,1.0000000000000001,1271.680000000000000
`, `open_time_ms,open,high,low,close,volume
1704067200000,0.083129,0.084183,0.082957,0.083057,3.3
1704153600000,1.2345678901234567,2,0.3,1,1271.680000000000000
`, foreign.Origin{First: 2, Step: 1}},
	{"nanoseconds", "files of QuestDB and others", `ts,open,high,low,close,volume
1704067200000000000,42283.58,42554.57,42261.02,42475.23,1271.68
1704070800000000000,42475.23,42775.00,42431.65,42613.56,1196.38
`, two, foreign.Origin{First: 2, Step: 1}},
}

func TestLayouts(t *testing.T) {
	t.Parallel()
	for _, layout := range layouts {
		t.Run(layout.name, func(t *testing.T) {
			t.Parallel()
			have, origin := read(t, layout.text, "")
			if diff := cmp.Diff(layout.want, have); diff != "" {
				t.Errorf("%s: -want +have\n%s", layout.source, diff)
			}
			if origin != layout.origin {
				t.Errorf("the first row is %+v, want %+v", origin, layout.origin)
			}
		})
	}
}

func read(t *testing.T, text, columns string) (string, foreign.Origin) {
	t.Helper()
	translated, origin, err := foreign.CSV(bufio.NewReaderSize(strings.NewReader(text), 1<<16), columns)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := io.ReadAll(translated)
	if err != nil {
		t.Fatal(err)
	}
	return string(rows), origin
}

func TestColumnsThatAreGiven(t *testing.T) {
	t.Parallel()
	have, _ := read(t, "x;42283.58;1271.68;42554.57;42261.02;42475.23;2024-01-01\n", "-,open,volume,high,low,close,date")
	if want := "open_time_ms,open,high,low,close,volume\n1704067200000,42283.58,42554.57,42261.02,42475.23,1271.68\n"; have != want {
		t.Errorf("have %s", have)
	}
}

// A table that the prices contradict is refused, and is left for the caller to read.
func TestNonCandleTablesAreRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":                      "",
		"prose":                      "Dear reader,\nthis, that, and, so, on, and, on\n",
		"no time":                    "open,high,low,close\n1,2,0.5,1.5\n",
		"no prices":                  "time,price\n1704067200,1\n",
		"a header without the highs": "open_time_ms,open,low,close,volume\n1704067200000,1,1,1,1\n",
		"impossible prices":          "1704067200,5,4,3,6,100\n1704070800,5,4,3,6,100\n",
		"times that are none":        "1,2,3,1,2,100\n2,2,3,1,2,100\n",
		"JSON of something":          `{"name": "botd", "list": [1, 2, 3]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stream := bufio.NewReaderSize(strings.NewReader(text), 1<<16)
			if _, _, err := foreign.CSV(stream, ""); !errors.Is(err, foreign.ErrUnknown) {
				t.Fatalf("have %v, want %v", err, foreign.ErrUnknown)
			}
			if strings.HasPrefix(text, "{") {
				return // JSON is consumed before it is recognized: the caller can do nothing with it
			}
			if rest, err := io.ReadAll(stream); err != nil || string(rest) != text {
				t.Errorf("have %q %v", rest, err)
			}
		})
	}
}

func TestJSONThatEndsEarly(t *testing.T) {
	t.Parallel()
	_, _, err := foreign.CSV(bufio.NewReaderSize(strings.NewReader(`[[1704067200000,42283.58,`), 1<<16), "")
	if err == nil || errors.Is(err, foreign.ErrUnknown) {
		t.Errorf("have %v", err)
	}
}

// Rows beyond the examined ones are converted, too, from both ends.
func TestTheFileIsLongerThanItsHead(t *testing.T) {
	t.Parallel()
	var up, down, want strings.Builder
	want.WriteString("open_time_ms,open,high,low,close,volume\n")
	up.WriteString("time,open,high,low,close,volume\n")
	down.WriteString("time,open,high,low,close,volume\n")
	const rows = 20_000
	row := func(seconds int) string { return strings.Replace("X,10,12,9,11,5\n", "X", strconv.Itoa(seconds), 1) }
	for i := range rows {
		up.WriteString(row(1_704_067_200 + 60*i))
		down.WriteString(row(1_704_067_200 + 60*(rows-1-i)))
		want.WriteString(strings.Replace(row(1_704_067_200+60*i), ",", "000,", 1))
	}
	for _, text := range []string{up.String(), down.String(), strings.TrimSuffix(down.String(), "\n")} {
		if have, _ := read(t, text, ""); have != want.String() {
			t.Errorf("the rows of %.60q are not as they should be: %.200s", text, have)
		}
	}
}

// FuzzCSV requires that any text is refused or converted into rows of one width.
func FuzzCSV(f *testing.F) {
	for _, layout := range layouts {
		f.Add(layout.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		translated, _, err := foreign.CSV(bufio.NewReaderSize(strings.NewReader(text), 1<<12), "")
		if err != nil {
			return
		}
		rows, err := io.ReadAll(translated)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			t.Fatal(err)
		}
		lines := strings.Split(string(rows), "\n")
		for _, line := range lines {
			if line != "" && strings.Count(line, ",") != strings.Count(lines[0], ",") {
				t.Errorf("%q under %q", line, lines[0])
			}
		}
	})
}
