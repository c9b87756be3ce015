package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// The bounds are 31 digits before the point, and exponents from -300 to 30.
func TestNumbersAtTheirBounds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1e30": "1000000000000000000000000000000", "1e31": "out of range", "1" + strings.Repeat("0", 30): "1000000000000000000000000000000",
		"1" + strings.Repeat("0", 31): "out of range", "1.5e30": "1500000000000000000000000000000", "15e30": "out of range", "0e30": "0",
		"0e31":   "out of range",
		"1e-301": "out of range", `"7"`: "7", "null": "none", `""`: "none", "x": "is not a number", `"1,5"`: "is not a number", "-0.5": "-0.5",
	} {
		var n number
		err := n.UnmarshalJSON([]byte(text))
		have := n.Decimal.String()
		if !n.given {
			have = "none"
		}
		if err != nil {
			have = err.Error()
		}
		if err == nil && have != want || !strings.Contains(have, want) {
			t.Errorf("%s: want %s, have %s", text, want, have)
		}
	}
	var n number
	if err := n.UnmarshalJSON([]byte("1e-300")); err != nil || n.IsZero() {
		t.Errorf("1e-300: want it read, have %v, %v", n, err)
	}
	if text, err := (number{}).MarshalJSON(); err == nil {
		t.Errorf("no number: want an error, have %s", text)
	}
	if have, err := array[int]([]byte(" \n[1,2]\t")); err != nil || len(have) != 2 {
		t.Errorf("white space around a list: want it read, have %v, %v", have, err)
	}
	for text, want := range map[string]string{"0": "0", "0.000010": "1e-05",
		"1.5": "1.5", "0.0001": "0.0001", "0.00012": "0.00012", "0.00001": "1e-05", "0.000012": "1.2e-05",
		"0.0000120": "1.2e-05", "-0.00001": "-1e-05", "-0.0000125": "-1.25e-05", "0.00009999": "9.999e-05", "0.00000000001": "1e-11", "-0.0001": "-0.0001"} {
		if have, err := plainOf(decimal.RequireFromString(text)).MarshalJSON(); err != nil || string(have) != want {
			t.Errorf("%s: want %s, have %s, %v", text, want, have, err)
		}
	}
	for text, want := range map[string]string{"30": "30", "30.0": "30", "3e1": "30", "-7": "-7", "9223372036854775807": "9223372036854775807",
		"-9223372036854775808": "-9223372036854775808", "9223372036854775808": "error", "1.5": "error",
		"9223372036854775807.0": "9223372036854775807", "9223372036854775808.0": "error", "": "error", "x": "error", "1e30": "error"} {
		have, err := wholeNumber(text)
		shown := fmt.Sprint(have)
		if err != nil {
			shown = "error"
		}
		if shown != want {
			t.Errorf("%q: want %s, have %s, %v", text, want, shown, err)
		}
	}
}

// The words are those of the interface, those of other venues, and those of a profile, which take precedence.
func TestStatusWords(t *testing.T) {
	t.Parallel()
	profile := &Profile{StatusWords: map[exchange.Market]map[string]exchange.OrderStatus{exchange.Futures: {"DONE": exchange.StatusFilled,
		"EXPIRED": exchange.StatusRejected}}}
	for _, c := range []struct {
		profile *Profile
		market  exchange.Market
		word    string
		want    exchange.OrderStatus // 0: an error
	}{
		{nil, exchange.Futures, "CANCELLED", exchange.StatusCanceled}, {nil, exchange.Futures, "EXPIRED", exchange.StatusCanceled},
		{nil, exchange.Spot, "PARTIALLY_FILLED", exchange.StatusOpen}, {nil, exchange.Spot, "TRIGGERED", exchange.StatusOpen},
		{nil, exchange.Spot, "ACTIVATED", exchange.StatusOpen}, {nil, exchange.Spot, "PENDING_CANCEL", exchange.StatusPreCanceled},
		{nil, exchange.Spot, "PRE_CANCELLED", exchange.StatusPreCanceled}, {nil, exchange.Spot, "DONE", 0}, {nil, exchange.Spot, "", 0},
		{&Profile{}, exchange.Spot, "CANCELLED", exchange.StatusCanceled}, {profile, exchange.Futures, "DONE", exchange.StatusFilled},
		{profile, exchange.Futures, "EXPIRED", exchange.StatusRejected}, {profile, exchange.Spot, "EXPIRED", exchange.StatusCanceled},
		{profile, exchange.Spot, "DONE", 0}, {nil, exchange.Futures, exchange.StatusFilled.String(), exchange.StatusFilled},
	} {
		have, err := c.profile.orderStatus(c.market, c.word)
		if have != c.want || (err == nil) != (c.want != 0) {
			t.Errorf("%s %q: want %s, have %s, %v", c.market, c.word, c.want, have, err)
		}
	}
}

// The rows are margin levels, wallets and orders, each at its bounds.
func TestRowsNeedRequiredFields(t *testing.T) {
	t.Parallel()
	for leverage, want := range map[whole]bool{0: false, -1: false, 1: true, math.MaxInt32: true, math.MaxInt32 + 1: false} {
		level := marginLevel{Symbol: "X", Max: numberOf(decimal.NewFromInt(5)), MarginRatio: numberOf(decimal.NewFromInt(1)), MaxLeverage: leverage}
		if have, err := level.read(); (err == nil) != want || want && have.MaxLeverage != int(leverage) {
			t.Errorf("leverage %d: want read %t, have %+v, %v", leverage, want, have, err)
		}
	}
	for text, want := range map[string]string{
		`{"asset":"BTC","balance":"1.5","frozen":"0"}`: "BTC 1.5 0", `{"balance":"1","frozen":"0"}`: "no asset", `{"asset":"BTC","frozen":"0"}`: "no balance",
		`{"asset":"BTC","balance":"1"}`: "no frozen", `{}`: "no asset",
	} {
		var entry walletEntry
		if err := json.Unmarshal([]byte(text), &entry); err != nil {
			t.Fatal(err)
		}
		balance, err := entry.read()
		have := fmt.Sprint(balance.Asset, " ", balance.Free, " ", balance.Frozen)
		if err != nil {
			have = err.Error()
		}
		if have != want {
			t.Errorf("%s: want %s, have %s", text, want, have)
		}
	}
	order := strings.TrimSuffix(strings.TrimSpace(string(golden(t, exchange.FuturesOrder))), "}") + `,"workingType":"LAST"}`
	if _, err := decode(t, goldenRequest(exchange.FuturesOrder), 200, order); err == nil {
		t.Error("an unknown workingType: want the order refused")
	}
	r := &reader{}
	r.note(nil)
	first := errors.New("first")
	r.note(first)
	r.note(errors.New("second"))
	if r.note(nil); r.err != first {
		t.Errorf("want the first error kept, have %v", r.err)
	}
}

// The number may be any of its four floats, including infinities that cancel out.
func TestACandleWithoutANumberIsNotSent(t *testing.T) {
	t.Parallel()
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		volume, quote, base, taker float64
		sent                       bool
	}{
		{1, 2, 3, 4, true}, {0, 0, 0, 0, true}, {nan, 2, 3, 4, false}, {1, nan, 3, 4, false}, {1, 2, nan, 4, false}, {1, 2, 3, nan, false},
		{inf, 2, 3, 4, false}, {1, inf, 3, 4, false}, {1, 2, inf, 4, false}, {1, 2, 3, inf, false}, {1, 2, 3, -inf, false}, {inf, -inf, 3, 4, false},
		{1, inf, -inf, 4, false}, {1, 2, inf, -inf, false}, {inf, inf, inf, inf, false},
	} {
		candles := &exchange.Candles{Interval: exchange.Minute1}
		candles.Append(exchange.Candle{OpenMS: 1_767_225_480_000, Open: 1, High: 1, Low: 1, Close: 1, Volume: c.volume, QuoteVolume: c.quote, TakerBase: c.base,
			TakerQuote: c.taker})
		if body, err := appendCandles(nil, candles, 0); (err == nil) != c.sent || c.sent && !json.Valid(body) || !c.sent && body != nil {
			t.Errorf("%+v: have %s, %v", c, body, err)
		}
	}
}

// A request matches if its method fits, and if its path begins a route's path or continues it with a symbol.
func TestRouteMatching(t *testing.T) {
	t.Parallel()
	begins := func(_ exchange.Market, text string) bool { return strings.HasPrefix("BTC-USDT", text) }
	for request, want := range map[string]bool{
		" /": true, "GET /fapi/v1/time": true, " /fapi/v1/time": true, "DELETE /fapi/v1/time": false, "POST /fapi/v1/time": false, "GET /fapi/v1/tim": true,
		"GET /fapi/v1/times": false, "GET /fapi/v1/margin-levels/BTC": true, "GET /fapi/v1/margin-levels/ETH": false, "GET /none": false, "PATCH /": false,
	} {
		method, path, _ := strings.Cut(request, " ")
		if have := MatchesAny(method, path, begins); have != want {
			t.Errorf("%s: want %t, have %t", request, want, have)
		}
	}
}

// Whole numbers have the bounds of 32 bits unless a field has its own.
func TestFieldsOfABodyStandOnceAndAlone(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"symbol":"BTC-USDT","leverage":5}`: "5", `{"symbol":"BTC-USDT","leverage":2147483647}`: "2147483647",
		`{"symbol":"BTC-USDT","leverage":-2147483648}`: "-2147483648", `{"symbol":"BTC-USDT","leverage":2147483648}`: "leverage 2147483648",
		`{"symbol":"BTC-USDT","leverage":-2147483649}`:                "leverage -2147483649",
		`{"symbol":"BTC-USDT","leverage":5,"leverage":5}`:             `"leverage" is given twice`,
		`{"symbol":"A","leverage":5,"symbol":"BTC-USDT"}`:             `"symbol" is given twice`,
		`{"symbol":"BTC-USDT","leverage":5}{}`:                        "is not a JSON object",
		`{"symbol":"BTC-USDT","leverage":5} 7`:                        "is not a JSON object",
		`"symbol"`:                                                    "is not a JSON object",
		`{"symbol":"BTC-USDT","leverage":5,"timeInForce":"GTC"}`:      "5",
		"\xef\xbb\xbf" + `{"symbol":"BTC-USDT","leverage":5}` + "\n ": "5",
	} {
		request, err := DecodeRequest(exchange.FuturesSetLeverage, "", nil, []byte(body), testTable(t))
		have := fmt.Sprint(request.Leverage)
		if err != nil {
			have = err.Error()
		}
		if err == nil && have != want || !strings.Contains(have, want) {
			t.Errorf("%s: want %s, have %s", body, want, have)
		}
	}
	for _, id := range []int64{math.MinInt64, -1, 0, math.MaxInt64} { // the exchange decides whether such an order exists
		request, err := DecodeRequest(exchange.FuturesOrder, "", url.Values{"order_id": {fmt.Sprint(id)}}, nil, testTable(t))
		if err != nil || request.OrderID != id {
			t.Errorf("order %d: want it asked for, have %d, %v", id, request.OrderID, err)
		}
	}
	for offset, want := range map[string]string{"0": "0", "2147483647": "2147483647", "2147483648": "offset 2147483648", "-1": "offset -1"} {
		request, err := DecodeRequest(exchange.SpotUserTrades, "", url.Values{"offset": {offset}}, nil, testTable(t))
		have := fmt.Sprint(request.Offset)
		if err != nil {
			have = err.Error()
		}
		if err == nil && have != want || !strings.Contains(have, want) {
			t.Errorf("offset %s: want %s, have %s", offset, want, have)
		}
	}
}

// The cases are a missing price, a number beyond all bounds, and an impossible leverage.
func TestMissingAndExcessiveValuesAreReported(t *testing.T) {
	t.Parallel()
	symbol, _ := testTable(t).Symbol(btcKey)
	given := numberOf(decimal.NewFromInt(1))
	if _, err := (&spotTrade{Quantity: given}).read(reader{symbol: symbol}); err == nil || err.Error() != "no price" {
		t.Errorf("a trade without a price: want that reported, have %v", err)
	}
	if _, err := (&spotTrade{Price: given}).read(reader{symbol: symbol}); err == nil || err.Error() != "no qty" {
		t.Errorf("a trade without a quantity: want that reported, have %v", err)
	}
	large := numberOf(decimal.New(1, 30))
	for name, read := range map[string]func(r *reader){
		"price": func(r *reader) { r.price("price", large) }, "amount": func(r *reader) { r.amount("amount", large) },
		"quantity": func(r *reader) { r.quantity("quantity", large) }, "public": func(r *reader) { r.publicQuantity("public", large) },
		"rate": func(r *reader) { r.rate("rate", large) },
	} {
		r := reader{symbol: symbol}
		if read(&r); r.err == nil || !strings.Contains(r.err.Error(), name) {
			t.Errorf("%s of 1e30: want it refused, have %v", name, r.err)
		}
	}
	for leverage, fits := range map[whole]bool{0: false, 1: true, math.MaxInt32: true, math.MaxInt32 + 1: false} {
		if _, err := (&leverageSetting{Symbol: "BTC-USDT", Leverage: leverage}).read(); (err == nil) != fits {
			t.Errorf("leverage %d: want it read %t, have %v", leverage, fits, err)
		}
	}
	n := given
	if err := n.UnmarshalJSON([]byte("null")); err != nil || n.given || !n.IsZero() {
		t.Errorf("null after a number: want none, have %v, %v", n, err)
	}
	for digits, fits := range map[int]bool{maxNumberText: true, maxNumberText + 1: false} { // 0.000…1
		text := "0." + strings.Repeat("0", digits-3) + "1"
		if err := n.UnmarshalJSON([]byte(text)); (err == nil) != fits {
			t.Errorf("%d characters: want them read %t, have %v", digits, fits, err)
		}
	}
	for places := range 19 {
		s := scanner{body: []byte("7" + strings.Repeat("0", min(places, maxDigits-1)))}
		d, ok := s.number()
		if d.places = places; !ok || !d.scale(0) || d.mantissa != map[bool]uint64{true: 0, false: 7}[places == maxDigits] {
			t.Errorf("7 with %d places: have %d, %t", places, d.mantissa, ok)
		}
	}
}

// A share has up to eight places, float noise is removed, and a decimal of a body may be negative.
func TestNumberPrecision(t *testing.T) {
	t.Parallel()
	symbol, _ := testTable(t).Symbol(btcKey)
	r := reader{symbol: symbol}
	if have := r.rate("rate", numberOf(decimal.RequireFromString("0.0000000149"))); have != 1 || r.err != nil {
		t.Errorf("a share of 0.0000000149: want the smallest, have %d, %v", have, r.err)
	}
	for text, want := range map[string]string{"0.0040000000000002": "0.004 true", "123456.789000000002": "123456.789 true",
		"0.0045000000000001": "0.0045000000000001 false",
		"0.9970002":          "0.9970002 false", "0.004": "0.004 false"} {
		rounded, noise := withoutNoise(decimal.RequireFromString(text), 3)
		if have := fmt.Sprint(rounded, " ", noise); have != want {
			t.Errorf("%s: want %s, have %s", text, want, have)
		}
	}
	for raw, want := range map[string]string{"-1.5": "-1.5", `"7"`: "7", `"-7"`: "-7", "9": "9", `""`: "error", "true": "error", "{}": "error"} {
		n, err := fields{"qt": json.RawMessage(raw)}.decimal("qt")
		have := n.Decimal.String()
		if err != nil {
			have = "error"
		}
		if have != want {
			t.Errorf("%s: want %s, have %s", raw, want, have)
		}
	}
	for field := FieldStart; field <= FieldEndSeconds; field++ {
		if !field.isTime() {
			t.Errorf("field %d: want it a time", field)
		}
	}
	for _, body := range []string{`{"bids":[]}`, `{"asks":[]}`, `{}`} {
		if _, err := decode(t, goldenRequest(exchange.FuturesDepth), 200, body); err == nil || !strings.Contains(err.Error(), "no bids or no asks") {
			t.Errorf("%s: want it refused, have %v", body, err)
		}
	}
}

// An order without a quantity is encoded without one.
func TestOrdersOfEachTypeAreEncoded(t *testing.T) {
	t.Parallel()
	for kind := exchange.Limit; kind <= exchange.TakeProfitMarket; kind++ {
		request := exchange.Request{Operation: exchange.FuturesPlace, Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT",
			Side: exchange.Buy, Type: kind, Quantity: 1}}
		if sent, err := EncodeRequest(&request, testTable(t)); err != nil || !strings.Contains(string(sent.Body), `"type":"`+kind.String()+`"`) {
			t.Errorf("%s: want it encoded, have %s, %v", kind, sent.Body, err)
		}
	}
	request := exchange.Request{Operation: exchange.SpotPlace, Order: exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell,
		Type: exchange.Limit, Price: 1}}
	if sent, err := EncodeRequest(&request, testTable(t)); err != nil || !strings.Contains(string(sent.Body), `"qt":0`) {
		t.Errorf("no quantity: want 0, have %s, %v", sent.Body, err)
	}
	for startMS, fits := range map[string]bool{"4611686018427": true, "4611686018428": false} {
		query := url.Values{"startTime": {startMS}}
		if _, err := DecodeRequest(exchange.FuturesPositionsHistory, "", query, nil, testTable(t)); (err == nil) != fits {
			t.Errorf("from %s: want it read %t, have %v", startMS, fits, err)
		}
	}
}
