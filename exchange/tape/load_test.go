package tape_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/tape"
)

func bitcoin(t testing.TB) *exchange.Symbol {
	t.Helper()
	s, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Futures, Name: "BTC-USDT", Base: "BTC", Quote: "USDT",
		PriceTick: decimal.RequireFromString("0.1"), QuantityTick: decimal.RequireFromString("0.001"), MinNotional: decimal.NewFromInt(5),
		MaxNotional: decimal.NewFromInt(1_000_000)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func file(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const header = "open_time_ms,open,high,low,close,volume\n"

// minutes are valid rows of 1704067200000 and the minutes after it.
const minutes = "1704067200000,10,12,9,11,1.5\n1704067260000,11,13.25,10,12,\n1704067320000,12,12,12,12,0\n"

func TestWrongFilesAreReportedWithTheLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, content, want string }{
		{"empty", "", "x.csv:1: the file is empty"},
		{"a header alone", header, "no candles"},
		{"missing column", "open_time_ms,open,high,low,close\n1,1,1,1,1\n", "x.csv:1: column volume is missing"},
		{"no header", "1704067200000,10,12,9\n", "x.csv:1: there is no header, and the order of the 4 columns is unknown"},
		{"no header, impossible prices", "1704067200000,5,4,3,6,1\n", "x.csv:1: there is no header, and the order of the 6 columns is unknown"},
		{"cut row", header + minutes + "1704067380000,1", "x.csv:5: 2 columns, the header has 6"},
		{"not a number", header + "1704067200000,ten,12,9,11,1\n", `x.csv:2: open "ten" is not a price`},
		{"high below low", header + minutes + "1704067380000,10,8,9,10,1\n", "x.csv:5: impossible prices: high is below low"},
		{"open outside", header + "1704067200000,14,12,9,11,1\n", "x.csv:2: impossible prices: open is outside"},
		{"zero price", header + "1704067200000,0,12,0,11,1\n", "x.csv:2: impossible prices: low 0"},
		{"negative volume", header + "1704067200000,10,12,9,11,-1\n", "x.csv:2: volume -1 is below zero"},
		{"infinite volume", header + "1704067200000,10,12,9,11,Inf\n", "x.csv:2: volume"},
		{"doubled", header + minutes + "1704067320000,12,12,12,12,0\n", "x.csv:5: open time 1704067320000 appears twice"},
		{"out of order", header + minutes + "1704067260000,12,12,12,12,0\n", "x.csv:5: open time 1704067260000 is before"},
		{"off the grid", header + minutes + "1704067380001,12,12,12,12,0\n", "x.csv:5: open time 1704067380001 is off the grid of 1m"},
		{"broken gzip", "\x1f\x8bnot gzip", "the gzip stream is broken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := tape.LoadCandles(file(t, "x.csv", []byte(c.content)), bitcoin(t), 0, tape.Options{})
			var wrong *tape.DataError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want %q, have %v", c.want, err)
			}
		})
	}
}

func TestAValidFileIsReadExactly(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write([]byte(header + minutes))
	w.Close()
	shuffled := "volume,close,low,high,open,open_time_ms,unknown\n1.5,11,9,12,10,1704067200000,x\n,12,10,13.25,11,1704067260000,\n" +
		"0,12,12,12,12,1704067320000,\n"
	kline := "1704067200000000,10,12,9,11,1.5,1704067259999999,16,7,1,11,0\n1704067260000000,11,13.25,10,12,,1704067319999999,,,,,0\n" +
		"1704067320000000,12,12,12,12,0,1704067379999999,0,0,0,0,0\n"
	for name, content := range map[string][]byte{"plain": []byte(header + minutes),
		"no last newline": []byte(strings.TrimSuffix(header+minutes, "\n")), "windows lines": []byte(strings.ReplaceAll(header+minutes, "\n", "\r\n")),
		"gzip": packed.Bytes(), "other order of columns": []byte(shuffled), "kline in microseconds": []byte(kline)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := tape.LoadCandles(file(t, "x.csv", content), bitcoin(t), 0, tape.Options{})
			if err != nil {
				t.Fatal(err)
			}
			c := got.Candles
			if c.Len() != 3 || c.Interval != exchange.Minute1 || len(got.Holes) != 0 {
				t.Fatalf("want 3 candles of 1m without holes, have %d of %s, %v", c.Len(), c.Interval, got.Holes)
			}
			second := c.At(1)
			if second.OpenMS != 1704067260000 || got.Symbol.PriceDecimal(second.High).String() != "13.25" || second.Volume != 0 || c.At(0).Volume != 1.5 {
				t.Errorf("the second candle: have %+v", second)
			}
		})
	}
}

// The file's rows, newest first, become candles, and an error names the line of the file.
func TestAFileOfAnotherSource(t *testing.T) {
	t.Parallel()
	const newest = "https://example.org\nUnix,Date,Open,High,Low,Close,Volume\n1704067380,,12,12,12,%s,0\n1704067320,,12,12,12,12,0\n" +
		"1704067260,,11,13.25,10,12,\n1704067200,,10,12,9,11,1.5\n"
	got, err := tape.LoadCandles(file(t, "x.csv", fmt.Appendf(nil, newest, "12")), bitcoin(t), 0, tape.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c := got.Candles; c.Len() != 4 || c.Interval != exchange.Minute1 || c.At(0).OpenMS != 1704067200000 || c.At(0).Volume != 1.5 {
		t.Errorf("have %d candles of %s, the first %+v", c.Len(), c.Interval, c.At(0))
	}
	_, err = tape.LoadCandles(file(t, "y.csv", fmt.Appendf(nil, newest, "13")), bitcoin(t), 0, tape.Options{})
	if err == nil || !strings.Contains(err.Error(), "y.csv:3: impossible prices: close is outside") {
		t.Errorf("have %v", err)
	}
}

func TestHolesAreReportedAndNotFilled(t *testing.T) {
	t.Parallel()
	got, err := tape.LoadCandles(file(t, "x.csv", []byte(header+minutes+"1704067620000,12,12,12,12,0\n")), bitcoin(t), 0, tape.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Holes) != 1 || got.Holes[0] != (tape.Hole{AfterMS: 1704067320000, BeforeMS: 1704067620000, Missing: 4}) || got.Candles.Len() != 4 {
		t.Errorf("want one hole of 4, have %+v", got.Holes)
	}
}

func TestRepairDropsAndReportsWrongRows(t *testing.T) {
	t.Parallel()
	got, err := tape.LoadCandles(file(t, "x.csv", []byte(header+minutes+
		"1704067320000,12,12,12,12,0\n1704067380000,12,1,12,12,0\n1704067440000,12,12,12,12,0\n")), bitcoin(t), 0, tape.Options{Repair: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Repaired) != 2 || !strings.Contains(got.Repaired[0], "line 5") || !strings.Contains(got.Repaired[1], "line 6") || got.Candles.Len() != 4 {
		t.Errorf("want lines 5 and 6 dropped, have %v", got.Repaired)
	}
}

func TestPricesFinerThanTheTickRaiseTheScale(t *testing.T) {
	t.Parallel()
	got, err := tape.LoadCandles(file(t, "x.csv", []byte(header+"1704067200000,1.0123456789,1.0123456789,1.0123456789,1.0123456789,1\n"+
		"1704067260000,1,1,1,1,1\n")), bitcoin(t), 0, tape.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want, have := "1.0123456789", got.Symbol.PriceDecimal(got.Candles.Open[0]).String(); want != have {
		t.Errorf("want %s, have %s", want, have)
	}
	if !got.Symbol.OnPriceTick(got.Symbol.PriceTick) || got.Symbol.PriceDecimal(got.Symbol.PriceTick).String() != "0.1" {
		t.Errorf("the tick moved to %s", got.Symbol.PriceDecimal(got.Symbol.PriceTick))
	}
}

func TestRecordedCandlesLoad(t *testing.T) {
	t.Parallel()
	directory := filepath.Join("..", "..", "..", "shared", "data", "candles")
	paths, err := filepath.Glob(filepath.Join(directory, "*1h*.csv"))
	if err != nil || len(paths) == 0 {
		t.Skip("recorded data is not beside the project: ../shared/data/candles")
	}
	for _, path := range paths {
		got, err := tape.LoadCandles(path, bitcoin(t), 0, tape.Options{})
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if got.Candles.Interval != exchange.Hour1 {
			t.Errorf("%s: want 1h, have %s", path, got.Candles.Interval)
		}
	}
	outage, err := tape.LoadCandles(filepath.Join(directory, "binance-spot_BTCUSDT_1m_2023-03-23_25_outage.csv"), bitcoin(t), 0, tape.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(outage.Holes) != 1 || outage.Holes[0].Missing != 80 {
		t.Errorf("want one hole of 80 minutes, have %+v", outage.Holes)
	}
}

func TestFundingTimesAreFullHours(t *testing.T) {
	t.Parallel()
	rows, err := tape.LoadFunding(file(t, "f.csv", []byte("symbol,funding_time_ms,funding_rate\nBTCUSDT,1577836800003,-0.00012359\n"+
		"BTCUSDT,1577865600000,0.0001\n")))
	if err != nil || len(rows) != 2 || rows[0] != (tape.FundingRow{Symbol: "BTCUSDT", TimeMS: 1577836800000, Rate: -12359}) {
		t.Errorf("have %+v, %v", rows, err)
	}
	for content, want := range map[string]string{
		"symbol,time\n": "f.csv:1: header",
		"symbol,funding_time_ms,funding_rate\nBTC,1577836800000,much\n":                       "f.csv:2: funding rate",
		"symbol,funding_time_ms,funding_rate\nBTC,1577865600000,0.1\nBTC,1577836800000,0.1\n": "f.csv:3: the time is not after",
		"symbol,funding_time_ms,funding_rate\nBTC,1577865600000,0.1,1\n":                      "f.csv:2: 4 columns",
	} {
		if _, err := tape.LoadFunding(file(t, "f.csv", []byte(content))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, have %v", want, err)
		}
	}
}

func TestSymbolRecordsTakeEitherMarketsNames(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"- {symbol: BTC-USDT, priceTick: 0.01, quantityTick: 1e-05}": "futures BTC-USDT 0.00001, spot BTC-USDT 0.00001",
		"- {symbol: BTC-USDT, baseAsset: BTC, quote: USDT, priceTick: 0.01, " +
			"quantityTick: 1e-05}": "futures BTC-USDT 0.00001, spot BTC-USDT 0.00001",
		"- symbol: ETH-USDT\n  market: spot\n  priceTick: 0.01\n" +
			"  quantityTick: 0.0001\n": "spot ETH-USDT 0.0001",
		"- {symbol: A-USDT, base: A, priceTick: 1, quantityTick: 2}\n" +
			"- {symbol: A-USDT, baseAsset: A, priceTick: 1, quantityTick: 3}": "spot A-USDT 2, futures A-USDT 3",
		"- {symbol: A-USDT, market: futures, priceTick: 1, quantityTick: 2}\n" +
			"- {symbol: A-USDT, base: A, priceTick: 1, quantityTick: 3}": "futures A-USDT 2, spot A-USDT 3",
		// The two lists of a venue, one after the other.
		`[{"symbol":"A-USDT","baseAsset":"A","quoteAsset":"USDT","quantityTick":100,"priceTick":1e-08,"minNotional":5,"maxNotional":1000000,` +
			`"isTrade":true,"isReduceOnly":false,"isCancelOrder":true,"adjustedFundingRateCap":0.0075,` +
			`"adjustedFundingRateFloor":-0.0075,"fundingIntervalHours":8},` +
			`{"symbol":"A-USDT","base":"A","quote":"USDT","priceTick":1e-08,"quantityTick":1,"minNotional":5,"maxNotional":1000000,` +
			`"orderTypes":"LIMIT,MARKET","isTrade":true,"isCancelOrder":true}]`: "futures A-USDT 100, spot A-USDT 1",
	} {
		symbols, err := tape.LoadSymbols(file(t, "s.yaml", []byte(content)))
		if err != nil {
			t.Errorf("%s: %v", content, err)
			continue
		}
		var have []string
		for _, s := range symbols {
			have = append(have, fmt.Sprintf("%s %s %s", s.Market, s.Name, s.QuantityDecimal(s.QuantityTick)))
			if s.Base == "" || s.Quote != "USDT" {
				t.Errorf("%s: base %q, quote %q", content, s.Base, s.Quote)
			}
		}
		if strings.Join(have, ", ") != want {
			t.Errorf("%s: want %s, have %v", content, want, have)
		}
	}
	for content, want := range map[string]string{
		"- {symbol: X-Y, priceTick: 0.1}":                                                                "s.yaml:1: quantityTick is missing",
		"- {symbol: X-Y, priceTick: 0.1, quantityTick: 0.1, color: red}":                                 `s.yaml:1: unknown key "color"`,
		"- {symbol: X-Y, priceTick: none, quantityTick: 0.1}":                                            `s.yaml:1: "none" is not a decimal number`,
		"- {symbol: X-Y, priceTick: 1, quantityTick: 1}\n- {symbol: X-Y, priceTick: 1, quantityTick: 1}": "s.yaml:2: futures X-Y appears twice",
		"symbol: X-Y": "s.yaml:1: not a list",
	} {
		if _, err := tape.LoadSymbols(file(t, "s.yaml", []byte(content))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, have %v", want, err)
		}
	}
}

func FuzzLoadCandles(f *testing.F) {
	f.Add([]byte(header + minutes))
	f.Add([]byte("1704067200000,10,12,9,11,1.5,1704067259999,16,7,1,11,0\n"))
	f.Add([]byte("open_time_ms,open,high,low,close,volume\n1,1e-05,.,0x1,1,1e999\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, repair := range []bool{false, true} {
			got, err := tape.LoadCandles(file(t, "x.csv", content), bitcoin(t), 0, tape.Options{Repair: repair})
			if err != nil {
				continue
			}
			for i := range got.Candles.Len() {
				if err := got.Candles.At(i).Plausible(); err != nil {
					t.Fatalf("an implausible candle was let in: %v", err)
				}
			}
		}
	})
}

func BenchmarkLoadCandles(b *testing.B) {
	var text bytes.Buffer
	text.WriteString("open_time_ms,open,high,low,close,volume,close_time_ms,quote_volume,trades,taker_buy_base,taker_buy_quote\n")
	const rows = 100_000
	for i := range rows {
		text.WriteString(decimal.NewFromInt(1704067200000+int64(i)*60_000).String() +
			",42283.58000000,42554.57000000,42261.02000000,42475.23000000,1271.68108000,0,53957248.97378900,47134,682.57581000,28957416.81964500\n")
	}
	path := file(b, "x.csv", text.Bytes())
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := tape.LoadCandles(path, bitcoin(b), 0, tape.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds()/1e6, "Mcandles/s")
}

// TestControlCharactersAreMasked reads a file of random bytes: the part of it in an error neither moves a
// cursor nor rings a bell.
func TestControlCharactersAreMasked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte("open\x1b[2Jtime\a\x00\x9b\xff\u202ehigh\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := tape.LoadCandles(path, bitcoin(t), 0, tape.Options{})
	if err == nil || !strings.Contains(err.Error(), "(there are: open?[2Jtime?????high)") {
		t.Errorf("want the first line with ? for what is no text, have %q", err)
	}
}

// A file that freqtrade stored is loaded, and its interval is found. Feather's first version is refused with a hint.
func TestFeatherFilesAreLoaded(t *testing.T) {
	t.Parallel()
	got, err := tape.LoadCandles(filepath.Join("foreign", "testdata", "freqtrade.feather"), bitcoin(t), 0, tape.Options{})
	if err != nil || got.Candles.Len() != 800 ||
		got.Candles.Interval != exchange.Hour1 || got.Symbol.PriceDecimal(got.Candles.Close[1]).String() != "42613.56" {
		t.Errorf("want 800 candles of 1h, the second closed at 42613.56, have %v, %v", got, err)
	}
	_, err = tape.LoadCandles(file(t, "old.feather", []byte("FEA1\x00\x00")), bitcoin(t), 0, tape.Options{})
	if err == nil || !strings.Contains(err.Error(), "to_feather") {
		t.Errorf("want the first version refused with a hint, have %v", err)
	}
}
