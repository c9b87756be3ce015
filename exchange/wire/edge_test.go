package wire

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// The tolerant reader reads any other number. The result is shown as mantissa, places, and the next character.
func TestNumbersThatTheScannerReadsByItself(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0,": "0 0 ,", "7,": "7 0 ,", `"7",`: "7 0 ,", " \n7,": "7 0 ,", ` "12.50",`: "1250 2 ,", "0.5,": "5 1 ,", "0.0,": "0 1 ,", "10.01]": "1001 2 ]",
		"123456789012345678,": "123456789012345678 0 ,", "1234567890.12345678,": "123456789012345678 8 ,", "1.5": "15 1 ", "9.9.": "99 1 .",
		"": "no", ",": "no", `""`: "no", ".5": "no", "5.,": "no", ".": "no", "05": "no", "00": "no", "-5": "no", "+5": "no", "x": "no", `"7`: "no",
		`"7x"`: "no",
		`"7 "`: "no", `"1.5`: "no", "1234567890123456789": "no", "12345678901.12345678": "no", `"-1"`: "no", "null": "no", "1e5": "1 0 e",
	} {
		s := scanner{body: []byte(text)}
		n, ok := s.number()
		have := "no"
		if ok {
			have = fmt.Sprintf("%d %d %s", n.mantissa, n.places, s.body[s.at:min(s.at+1, len(s.body))])
		}
		if have != want {
			t.Errorf("%q: want %s, have %s", text, want, have)
		}
	}
}

// The fast path is taken, and the tolerant reader reads what it does not accept.
func TestPlainCandlesAreReadByTheScanner(t *testing.T) {
	t.Parallel()
	symbol, _ := testTable(t).Symbol(btcKey)
	next := strings.Replace(plainCandle, "1767225480000", "1767225540000", 1)
	for body, want := range map[string]int{
		"[]": 0, " [ ] \n": 0, "[" + plainCandle + "]": 1, "[" + plainCandle + "," + next + "]\n": 2, "[" + plainCandle + " , " + next + " ] ": 2,
		"": -1, "[": -1, "]": -1, "{}": -1, "[]x": -1, "[" + plainCandle: -1, "[" + plainCandle + "," + plainCandle + "]": -1,
		"[" + next + "," + plainCandle + "]": -1, "[" + plainCandle + "]]": -1, "[" + plainCandle + ",]": -1, "[,]": -1,
		"[" + strings.TrimSuffix(plainCandle, "]") + `,"0"]]`:                            -1, // twelve
		"[" + strings.Replace(plainCandle, `,"305000.25"`, "", 1) + "]":                  -1, // ten
		"[" + strings.Replace(plainCandle, "[", "(", 1) + "]":                            -1,
		"[" + strings.Replace(plainCandle, "1767225480000", "1767225480", 1) + "]":       -1, // seconds
		"[" + strings.Replace(plainCandle, "1767225480000", "17672254800.00", 1) + "]":   -1,
		"[" + strings.Replace(plainCandle, "1767225480000", "1000000000000000", 1) + "]": -1,
		"[" + strings.Replace(plainCandle, "1767225480000", "100000000000", 1) + "]":     -1,
		"[" + strings.Replace(plainCandle, "1767225480000", "100000000001", 1) + "]":     1,
		"[" + strings.Replace(plainCandle, "1767225480000", "999999999999999", 1) + "]":  1,
		"[" + strings.Replace(plainCandle, ",321,", ",321.0,", 1) + "]":                  -1,
		"[" + strings.Replace(plainCandle, ",321,", ",1000000000000000,", 1) + "]":       -1,
		"[" + strings.Replace(plainCandle, ",321,", ",999999999999999,", 1) + "]":        1,
		"[" + strings.Replace(plainCandle, `"50010.5"`, `"49980"`, 1) + "]":              -1, // its high is below its close
	} {
		into := exchange.Candles{Interval: exchange.Minute1}
		have := -1
		if scanCandles([]byte(body), symbol, &into) {
			have = into.Len()
		}
		if have != want {
			t.Errorf("%s: want %d candles (-1: not read), have %d", body, want, have)
		}
	}
	into := exchange.Candles{Interval: exchange.Minute1}
	if !scanCandles([]byte("["+plainCandle+"]"), symbol, &into) {
		t.Fatal("want it read")
	}
	price := func(text string) exchange.Price { return testTable(t).price(exchange.Futures, "BTC-USDT", text) }
	if want, have := (exchange.Candle{OpenMS: 1767225480000, Open: price("49990"), High: price("50010.5"), Low: price("49980.1"), Close: price("50000"),
		Volume: 12.345, QuoteVolume: 617250.75, Trades: 321, TakerBase: 6.1, TakerQuote: 305000.25}), into.At(0); have != want {
		t.Errorf("want %+v, have %+v", want, have)
	}
}

// An answer that claims more than a request can ask for gets no more space (interface, Limits: 1500).
func TestRoomForCandlesIsBounded(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{-1: 0, 0: 0, 1: 1, 1_500: 1_500, 1_501: 1_500, 1 << 40: 1_500} {
		c := roomFor(exchange.Minute1, n)
		for _, have := range []int{cap(c.OpenMS), cap(c.Trades), cap(c.Open), cap(c.High), cap(c.Low), cap(c.Close), cap(c.Volume), cap(c.QuoteVolume),
			cap(c.TakerBase), cap(c.TakerQuote)} {
			if have != want {
				t.Errorf("%d: want room for %d, have %d", n, want, have)
			}
		}
	}
}

// Scaled numbers are written without trailing zeros, and read in another scale. Finer digits are cut off, and a number that does
// not fit is refused.
func TestScaledNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n     int64
		scale int
		want  string
	}{
		{0, 0, "0"}, {0, 8, "0"}, {7, 0, "7"}, {-7, 0, "-7"}, {1, 8, "0.00000001"}, {-1, 1, "-0.1"}, {10, 1, "1"}, {1_050, 2, "10.5"}, {100_001, 3, "100.001"},
		{-100_010, 4, "-10.001"},
	} {
		if have := string(appendScaled(nil, c.n, c.scale)); have != c.want {
			t.Errorf("%d / 10^%d: want %s, have %s", c.n, c.scale, c.want, have)
		}
	}
	const most = 1<<63 - 1
	for _, c := range []struct {
		n      digits
		places int
		want   uint64
		ok     bool
	}{
		{digits{mantissa: 1_239, places: 2}, 1, 123, true}, {digits{mantissa: 1_239, places: 2}, 2, 1_239, true}, {digits{mantissa: 12, places: 0}, 3,
			12_000, true},
		{digits{mantissa: most / 10, places: 0}, 1, most / 10 * 10, true}, {digits{mantissa: most/10 + 1, places: 0}, 1, most/10 + 1, false},
	} {
		if ok := c.n.scale(c.places); ok != c.ok || c.n.mantissa != c.want {
			t.Errorf("in 10^-%d: want %d, %t, have %d, %t", c.places, c.want, c.ok, c.n.mantissa, ok)
		}
	}
	for text, want := range map[string]float64{"9007199254740991": 9007199254740991, "9007199254740993": 9007199254740992,
		"0.1": 0.1, "123456789.123456789": 123456789.123456789} {
		s := scanner{body: []byte(text)}
		if n, ok := s.number(); !ok || n.float() != want {
			t.Errorf("%s: want %v, have %v", text, want, n.float())
		}
	}
}

// The rule covers times up to the year 5138, and as far before 1970.
func TestTimesLaterThanAnySecondsAreMilliseconds(t *testing.T) {
	t.Parallel()
	for s, want := range map[seconds]int64{0: 0, 1: 1_000, -1: -1_000, 100_000_000_000: 100_000_000_000_000, 100_000_000_001: 100_000_000_001,
		-100_000_000_000: -100_000_000_000_000, -100_000_000_001: -100_000_000_001} {
		if have := s.ms(); have != want {
			t.Errorf("%d: want %d, have %d", s, want, have)
		}
	}
}

// The name is found only as a key, at any depth; an escaped key may be one.
func TestANameInAnotherCaseIsFoundBeforeItIsRead(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		``: false, `{}`: false, `[]`: false, `7`: false, `"Id"`: false, `"Id`: false, `{"id":1}`: false, `{"price":"Id"}`: false,
		`{"price":"ID","id":7}`: false,
		`{"x":"a\"Id\":b"}`:     false, `{"x":["Id","ID"]}`: false, `{"other":1}`: false, `{"x":"\u0049d"}`: false, `{"idd":1}`: false,
		`{"Id":1}`: true, `{"ID" : 1}`: true, "{\"ID\"\n\t:1}": true, `{"id":1,"Price":2}`: true, `{"x":{"Id":1}}`: true, `[{"id":1},{"iD":1}]`: true,
		`{"\u0069d":1}`: true, `{"x\"":1}`: true, `{"x":"y","PRICE":"z"}`: true, `{"price":"Id","iD":7}`: true,
	} {
		if have := hasOtherCase([]byte(raw), []string{"id", "price"}); have != want {
			t.Errorf("%s: want %t, have %t", raw, want, have)
		}
	}
	type record struct {
		ID    int    `json:"id"`
		Price string `json:"price"`
	}
	for raw, want := range map[string]string{
		`{"id":1,"price":"2"}`: "{1 2} <nil>", `{}`: "{0 } <nil>", `{"id":1,"Price":"2"}`: `{0 } key "Price" is unknown (known: id, price)`,
		`{"b":1,"a":1}`: `{0 } key "a" is unknown (known: id, price)`,
	} {
		var r record
		if have := fmt.Sprint(&r, UnmarshalKnown([]byte(raw), &r)); strings.TrimPrefix(have, "&") != want {
			t.Errorf("%s: want %s, have %s", raw, want, have)
		}
	}
	for _, raw := range []string{``, `[]`, `{"id":"x"}`, `{"id":1`} {
		var r record
		if err := UnmarshalKnown([]byte(raw), &r); err == nil {
			t.Errorf("%s: want an error, have %+v", raw, r)
		}
	}
}

// Short names without control characters are read, and a valid filled quantity.
func TestUnreadableRowFields(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 64)
	for raw, want := range map[string]string{`"BTC-USDT"`: "BTC-USDT", `""`: "", `null`: "", `7`: "", ``: "", `"a\nb"`: "", `"` + long + `"`: long,
		`"` + long + `a"`: ""} {
		if have := word(json.RawMessage(raw)); have != want {
			t.Errorf("%s: want %q, have %q", raw, want, have)
		}
	}
	symbol, _ := testTable(t).Symbol(btcKey)
	for raw, want := range map[string]string{`"0.002"`: "0.002 true", `0.002`: "0.002 true", `"0"`: "0 true", `null`: "0 false", ``: "0 false",
		`"x"`: "0 false",
		`{}`:  "0 false", `"-0.002"`: "0 false"} {
		filled, read := filledOf(json.RawMessage(raw), reader{symbol: symbol})
		if !read {
			filled = 0
		}
		if have := fmt.Sprint(symbol.QuantityDecimal(filled), read); have != want {
			t.Errorf("%s: want %s, have %s", raw, want, have)
		}
	}
}

// A profile may state that a venue sends half a tick, which is rounded to the nearest tick.
func TestOwnQuantitiesAreExactButForNoiseAndHalfTicks(t *testing.T) {
	t.Parallel()
	symbol, _ := testTable(t).Symbol(btcKey)
	for _, c := range []struct {
		text    string
		profile *Profile
		want    string
	}{
		{"0.997", nil, "0.997 <nil>"}, {"0.9970000000000002", nil, "0.997 <nil>"}, {"0.9970000000000002", &Profile{HalfTick: true}, "0.997 <nil>"},
		{"0.9970002", nil, "error"}, {"0.9970002", &Profile{}, "error"}, {"0.9974", &Profile{HalfTick: true}, "0.997 <nil>"},
		{"-0.001", nil, "error"}, {"-0.001", &Profile{HalfTick: true}, "error"}, {"0", nil, "0 <nil>"},
	} {
		r := reader{symbol: symbol, profile: c.profile}
		q := r.quantity("filled", number{Decimal: decimal.RequireFromString(c.text), given: true})
		have := fmt.Sprint(symbol.QuantityDecimal(q), r.err)
		if r.err != nil {
			have = "error"
		}
		if !strings.HasPrefix(have, c.want) {
			t.Errorf("%s, %+v: want %s, have %s", c.text, c.profile, c.want, have)
		}
	}
}

// An order book has five sizes (interface, Limits).
func TestTheSmallestLimitIsOne(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"futures 1": "1", "futures 2": "2", "futures 0": "limit 0 is below 1", "futures -1": "limit -1 is below 1", "futures x": "limit",
		"spot 1": "limit 1 is not one of 5, 10, 20, 50, 100", "spot 5": "5", "spot 10": "10", "spot 20": "20", "spot 50": "50", "spot 100": "100",
		"spot 99": "limit 99 is not one of", "spot 101": "100",
	} {
		market, limit, _ := strings.Cut(query, " ")
		operation := map[string]exchange.Operation{"futures": exchange.FuturesTrades, "spot": exchange.SpotDepth}[market]
		request, err := DecodeRequest(operation, "", url.Values{"symbol": {"X"}, "limit": {limit}}, nil, testTable(t))
		have := fmt.Sprint(request.Limit)
		if err != nil {
			have = err.Error()
		}
		if err == nil && have != want || !strings.Contains(have, want) {
			t.Errorf("%s: want %s, have %s", query, want, have)
		}
	}
}

// An object with two lists, or one that is an error, is no answer.
func TestAnswerWithTwoListsIsRejected(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`[1]`: "[1]", `{"data":[1]}`: "[1]", `{"code":0,"data":[1]}`: "[1]", `{"data":[1],"candles":[2]}`: "an object of several lists",
		`{"data":7}`: "want an array", `{}`: "want an array", `{"code":5,"msg":"no","data":[]}`: "contains error 5: no", `{`: "unexpected end",
	} {
		raw, err := unwrapped(&Profile{}, []byte(body))
		have := string(raw)
		if err != nil {
			have = err.Error()
		}
		if err == nil && have != want || !strings.Contains(have, want) {
			t.Errorf("%s: want %s, have %s", body, want, have)
		}
	}
	for n, want := range map[int]int{59: 61, 60: 62, 61: 65} {
		if have := excerpt([]byte(strings.Repeat("x", n))); len(have) != want {
			t.Errorf("an excerpt of %d: want %d characters, have %s", n, want, have)
		}
	}
}
