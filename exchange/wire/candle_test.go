package wire

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"botd/exchange"
)

var btcKey = exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}

// plainCandle is the golden files' candle in all tolerated shapes.
const plainCandle = `[1767225480000,"49990","50010.5","49980.1","50000","12.345",1767225539999,"617250.75",321,"6.1","305000.25"]`

func TestCandlesComeInManyShapes(t *testing.T) {
	t.Parallel()
	want, err := decode(t, goldenRequest(exchange.FuturesCandles), 200, "["+plainCandle+"]")
	if err != nil {
		t.Fatal(err)
	}
	short := want.Candles.At(0)
	short.QuoteVolume, short.Trades, short.TakerBase, short.TakerQuote = 0, 0, 0, 0
	for _, c := range []struct {
		body string
		want exchange.Candle
	}{
		{`[[1767225480000,49990,50010.5,49980.1,50000,12.345,1767225539999,617250.75,321,6.1,305000.25]]`, want.Candles.At(0)},
		{`[["1767225480000","4999e1","50010.50","49980.1","5E4","1.2345e1","1767225539999","617250.75","321","6.1","305000.25","12th"]]`, exchange.Candle{}},
		{`[["1767225480000","4999e1","50010.50","49980.1","5E4","1.2345e1","1767225539999","617250.75","321","6.1","305000.25","0"]]`, want.Candles.At(0)},
		{` [ [1767225480000 , "49990" ,"50010.5", "49980.1","50000","12.345",1767225539999,"617250.75",321,"6.1","305000.25" ] ] ` + "\n", want.Candles.At(0)},
		{`[[1767225480,"49990","50010.5","49980.1","50000","12.345"]]`, short},
		{`[{"openTime":1767225480000,"open":"49990","high":"50010.5","low":"49980.1","close":"50000","volume":"12.345","closeTime":1767225539999,` +
			`"quoteVolume":"617250.75","trades":321,"takerBuyVolume":"6.1","takerBuyQuoteVolume":"305000.25"}]`, want.Candles.At(0)},
		{`{"candles":[{"time":1767225480,"o":49990,"h":50010.5,"l":49980.1,"c":50000,"v":12.345}]}`, short},
		{`{"code":0,"msg":"ok","data":[` + plainCandle + `]}`, want.Candles.At(0)},
		{`[[1767225480000,"49990.0000000099","50010.5","49980.1","50000","12.345",0,"617250.75",321,"6.1","305000.25"]]`, want.Candles.At(0)},
	} {
		answer, err := decode(t, goldenRequest(exchange.FuturesCandles), 200, c.body)
		if (c.want == exchange.Candle{}) {
			if exchange.ErrorKind(err) != "malformed" {
				t.Errorf("%s: want malformed, have %v", c.body, err)
			}
			continue
		}
		if err != nil || answer.Candles.Len() != 1 {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		if difference := cmp.Diff(c.want, answer.Candles.At(0)); difference != "" {
			t.Errorf("%s (-want +have):\n%s", c.body, difference)
		}
	}
}

func TestCandlesNewestFirstAreReversed(t *testing.T) {
	t.Parallel()
	older := strings.Replace(plainCandle, "1767225480000", "1767225420000", 1)
	answer, err := decode(t, goldenRequest(exchange.FuturesCandles), 200, "["+plainCandle+","+older+"]")
	if err != nil || answer.Candles.Len() != 2 || answer.Candles.OpenMS[0] != 1_767_225_420_000 {
		t.Errorf("want the older first, have %+v, %v", answer.Candles, err)
	}
	if answer, err = decode(t, goldenRequest(exchange.FuturesCandles), 200, "[]"); err != nil || answer.Candles.Len() != 0 ||
		answer.Candles.Interval != exchange.Minute1 {
		t.Errorf("none: have %+v, %v", answer.Candles, err)
	}
}

func TestImpossibleCandlesAreMalformed(t *testing.T) {
	t.Parallel()
	change := func(was, is string) string { return "[" + strings.Replace(plainCandle, was, is, 1) + "]" }
	for _, body := range []string{
		change("50010.5", "49989"), change("49980.1", "49991"), change("49980.1", "0"), change("49980.1", "-1"), change(`"12.345"`, `"-1"`),
		change(`"12.345"`, "null"), change(`"50000"`, `"NaN"`), change("1767225480000", "1767225480000.5"), change("321", "-0.5"),
		change("49990", "99999999999999999999"),
		change("1767225480000", "1e30"), change(`"49990"`, `49990.`), change(`"49990"`, `049990`), change(`"49990"`, `.5`), change(`"49990"`, `"`),
		`[[1767225480000,"200000000000","200000000000","200000000000","200000000000","1",0,"1",1,"1","1"]]`, // beyond an int64 of 1e-8
		"[" + plainCandle + "," + plainCandle + "]", "[" + plainCandle + ",]", "[" + plainCandle + "]]", "[" + plainCandle, "[,]", `[[1,2]]`,
		`{"candles":[],"data":[]}`, `{"code":7,"error":"no","data":[]}`,
	} {
		if answer, err := decode(t, goldenRequest(exchange.FuturesCandles), 200, body); exchange.ErrorKind(err) != "malformed" {
			t.Errorf("%s: want malformed, have %+v, %v", body, answer.Candles, err)
		}
	}
}

// The digits may exceed the scanner's number.
func TestANumberOfACandleOfAnyLengthIsReadRight(t *testing.T) {
	t.Parallel()
	for digits, want := range map[string]float64{
		"1234567890.12345678": 1234567890.12345678, "1234567890.123456789": 1234567890.123456789, "9999999999.9999999999": 9999999999.9999999999,
		"4.50000000000000000000000000000000001": 4.5,
	} {
		answer, err := decode(t, goldenRequest(exchange.FuturesCandles), 200, "["+strings.Replace(plainCandle, `"12.345"`, `"`+digits+`"`, 1)+"]")
		if err != nil {
			t.Errorf("%s: %v", digits, err)
		} else if have := answer.Candles.Volume[0]; math.Abs(have-want) > 1e-6 {
			t.Errorf("want %s read as %f, have %f", digits, want, have)
		}
	}
}

// TestTheScannerEqualsTheTolerantReader encodes random candles and reads them with both.
func TestTheScannerEqualsTheTolerantReader(t *testing.T) {
	t.Parallel()
	symbol := testTable(t)[btcKey]
	rapid.Check(t, func(t *rapid.T) {
		candles := &exchange.Candles{Interval: exchange.Minute1}
		open := rapid.Int64Range(laterThanSeconds+1, 1<<44).Draw(t, "open time")
		for range rapid.IntRange(0, 5).Draw(t, "count") {
			open += rapid.Int64Range(1, 1e6).Draw(t, "step")
			low := rapid.Int64Range(1, 1<<52).Draw(t, "low")
			high := low + rapid.Int64Range(0, 1<<52).Draw(t, "range")
			within := rapid.Int64Range(low, high)
			volume := rapid.Map(rapid.Int64Range(0, 1<<62), func(n int64) float64 { return float64(n) / 1e12 })
			candles.Append(exchange.Candle{
				OpenMS: open, Open: exchange.Price(within.Draw(t, "open")), High: exchange.Price(high), Low: exchange.Price(low),
				Close:  exchange.Price(within.Draw(t, "close")),
				Volume: volume.Draw(t, "volume"), QuoteVolume: volume.Draw(t, "quote"), Trades: rapid.Int64Range(0, 1e14).Draw(t, "trades"),
				TakerBase: volume.Draw(t, "taker"), TakerQuote: volume.Draw(t, "taker quote"),
			})
		}
		body, err := appendCandles(nil, candles, symbol.PriceScale)
		if err != nil || !json.Valid(body) {
			t.Fatalf("%v in %s", err, body)
		}
		d := answerDecoder{request: goldenRequest(exchange.FuturesCandles), body: body}
		long, err := d.readCandles(symbol)
		if err != nil {
			t.Fatal(err)
		}
		if difference := cmp.Diff(candles, long); difference != "" {
			t.Fatalf("the long way (-want +have):\n%s", difference)
		}
		scanned := &exchange.Candles{Interval: exchange.Minute1}
		if scanCandles(body, symbol, scanned) {
			if difference := cmp.Diff(long.Slice(0, long.Len()), scanned.Slice(0, scanned.Len())); long.Len() > 0 && difference != "" {
				t.Fatalf("the scanner (-want +have):\n%s", difference)
			}
		}
	})
}

// The digits are ones that two roundings would get wrong.
func TestVolumesOfManyDigitsAreTheNearestFloat(t *testing.T) {
	t.Parallel()
	answer, err := decode(t, goldenRequest(exchange.FuturesCandles), 200, "["+strings.Replace(plainCandle, "12.345", "780577101.05581731", 1)+"]")
	if err != nil {
		t.Fatal(err)
	}
	if want, have := 780577101.05581731, answer.Candles.Volume[0]; want != have {
		t.Errorf("want %v, have %v", want, have)
	}
}

func TestVolumesThatAreNotNumbersAreNotEncoded(t *testing.T) {
	t.Parallel()
	for _, f := range []float64{math.NaN(), math.Inf(1)} {
		candles := &exchange.Candles{Interval: exchange.Minute1}
		candles.Append(exchange.Candle{OpenMS: 1, Open: 1, High: 1, Low: 1, Close: 1, Volume: f})
		for _, answer := range []exchange.Answer{
			{Operation: exchange.FuturesCandles, Candles: candles},
			{Operation: exchange.FuturesTicker, Tickers: exchange.FetchedOf([]exchange.Ticker{{Symbol: "BTC-USDT", Volume: f}})},
		} {
			if status, body, err := EncodeAnswer(&answer, goldenRequest(answer.Operation), testTable(t)); err == nil || status != 500 {
				t.Errorf("%s of volume %v: want an error, have %d %s", answer.Operation, f, status, body)
			}
		}
	}
}

// manyCandles returns n candles as a venue sends them.
func manyCandles(n int) []byte {
	var body strings.Builder
	body.WriteByte('[')
	for i := range n {
		if i > 0 {
			body.WriteByte(',')
		}
		open := 1_767_225_480_000 + int64(i)*60_000
		fmt.Fprintf(&body, `[%d,"%d.%d","50900.00000000","49000.10000000","50000.01000000","12.34567800",%d,"617250.75123400",321,"6.10000000",`+
			`"305000.25000000"]`,
			open, 49_500+i%1000, i%10, open+59_999)
	}
	body.WriteByte(']')
	return []byte(body.String())
}

func BenchmarkDecode1500Candles(b *testing.B) {
	symbols := testTable(b)
	response := HTTPResponse{Status: 200, Body: manyCandles(1500)}
	request := goldenRequest(exchange.FuturesCandles)
	if !scanCandles(response.Body, symbols[btcKey], &exchange.Candles{}) {
		b.Fatal("the scanner does not take them")
	}
	b.SetBytes(int64(len(response.Body)))
	b.ReportAllocs()
	for b.Loop() {
		if answer, err := DecodeAnswer(request, response, symbols); err != nil || answer.Candles.Len() != 1500 {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode1500CandlesWithEncodingJSON(b *testing.B) {
	body := manyCandles(1500)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		var candles [][]any
		if err := json.Unmarshal(body, &candles); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode1500Candles(b *testing.B) {
	symbols := testTable(b)
	request := goldenRequest(exchange.FuturesCandles)
	answer, err := DecodeAnswer(request, HTTPResponse{Status: 200, Body: manyCandles(1500)}, symbols)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := EncodeAnswer(&answer, request, symbols); err != nil {
			b.Fatal(err)
		}
	}
}
