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

// TestNumbersAtTheirBounds: 31 digits before the point, exponents from -300 to 30.
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
	for text, want := range map[string]string{"0": "0", "1.5": "1.5", "0.0001": "0.0001", "0.00012": "0.00012", "0.00001": "1e-05", "0.000012": "1.2e-05",
		"0.0000120": "1.2e-05", "-0.00001": "-1e-05", "-0.0000125": "-1.25e-05", "0.00009999": "9.999e-05", "0.00000000001": "1e-11", "-0.0001": "-0.0001"} {
		if have, err := plainOf(decimal.RequireFromString(text)).MarshalJSON(); err != nil || string(have) != want {
			t.Errorf("%s: want %s, have %s, %v", text, want, have, err)
		}
	}
	for text, want := range map[string]string{"30": "30", "30.0": "30", "3e1": "30", "-7": "-7", "9223372036854775807": "9223372036854775807",
		"-9223372036854775808": "-9223372036854775808", "9223372036854775808": "error", "1.5": "error", "": "error", "x": "error", "1e30": "error"} {
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

// TestEachWordOfAStatus: the interface's, those of other venues, and those of a profile, which count before.
func TestEachWordOfAStatus(t *testing.T) {
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

// TestRowsLackNothingThatDecides: of margin levels, wallets and orders, each at its bounds.
func TestRowsLackNothingThatDecides(t *testing.T) {
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

// TestACandleWithoutANumberIsNotSent: in any of its four floats, infinities that cancel out included.
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

// TestWhatRoutesMatch: a method, and a path that begins one or is begun by one with a symbol.
func TestWhatRoutesMatch(t *testing.T) {
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

// TestFieldsOfABodyStandOnceAndAlone: and whole numbers have the bounds of 32 bits where a field has none of its own.
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
