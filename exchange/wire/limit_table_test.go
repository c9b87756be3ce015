package wire

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// TestIDsBeginAtOne checks that 0 is no order.
func TestIDsBeginAtOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		operation exchange.Operation
		field     string
	}{{exchange.FuturesOpenOrders, "id"}, {exchange.SpotOpenOrders, "id"}, {exchange.SpotUserTrades, "order_id"}} {
		for id, reads := range map[int]bool{0: false, 1: true, 2: true} {
			body := replaced(t, string(golden(t, c.operation)), c.field, fmt.Sprint(id))
			answer, err := decode(t, goldenRequest(c.operation), 200, body)
			if unreadable := len(answer.Unreadable) > 0; err != nil || unreadable == reads {
				t.Errorf("%s with %s %d: want it read %t, have %+v, %v", c.operation, c.field, id, reads, answer.Unreadable, err)
			}
		}
	}
}

// replaced returns a body with another number at the first field of a name.
func replaced(t *testing.T, body, field, number string) string {
	t.Helper()
	before, after, found := strings.Cut(body, `"`+field+`":`)
	end := strings.IndexAny(after, ",}\n")
	if !found || end < 0 {
		t.Fatalf("no %s in %s", field, body)
	}
	return before + `"` + field + `": ` + number + after[end:]
}

// TestAListOfSymbolsMayBeEmpty also checks that it contains no row for a skipped symbol.
func TestAListOfSymbolsMayBeEmpty(t *testing.T) {
	t.Parallel()
	for _, operation := range []exchange.Operation{exchange.FuturesSymbols, exchange.SpotPairs} {
		if answer, err := decode(t, goldenRequest(operation), 200, "[]"); err != nil || len(answer.Symbols.Items()) != 0 {
			t.Errorf("%s: have %+v, %v", operation, answer.Symbols, err)
		}
	}
	body := strings.Replace(string(golden(t, exchange.FuturesSymbols)), `"priceTick": 1e-08`, `"priceTick": 1e-19`, 1)
	if answer, err := decode(t, goldenRequest(exchange.FuturesSymbols), 200, body); err != nil || len(answer.Unreadable) != 0 {
		t.Errorf("have %+v, %v", answer.Unreadable, err)
	}
}

// TestFloatNoiseBeginsAtFifteenDigits also checks that it is at most a hundredth of a step.
func TestFloatNoiseBeginsAtFifteenDigits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		scale int32
		want  string
		noise bool
	}{
		{"0.00100000000001", 3, "0.00100000000001", false}, // 14 places
		{"0.001000000000001", 3, "0.001", true},            // 15
		{"12.0010000000001", 3, "12.001", true},            // 15 digits
		{"2.0010000000001", 3, "2.0010000000001", false},   // 14
		{"0.001000000000001", 15, "0.001000000000001", false},
		{"0.001000000000001", 13, "0.001", true},
		{"0.001000000000001", 14, "0.001000000000001", false},
		{"0.001010000000000", 3, "0.001", true}, // exactly a hundredth of a step
		{"0.001010000000001", 3, "0.001010000000001", false},
		{"0.000990000000000", 3, "0.001", true},
		{"0.000989999999999", 3, "0.000989999999999", false},
	} {
		d := decimal.RequireFromString(c.text)
		if have, noise := withoutNoise(d, c.scale); !have.Equal(decimal.RequireFromString(c.want)) || noise != c.noise {
			t.Errorf("%s at %d places: want %s, noise %t, have %s, %t", c.text, c.scale, c.want, c.noise, have, noise)
		}
	}
}

// TestAFlagIsWhatItWasReadLast reads each value into a flag that was set and one that was not.
func TestAFlagIsWhatItWasReadLast(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"true": true, "1": true, `"TRUE"`: true, "false": false, "0": false, "null": false, `""`: false, `"0"`: false} {
		for _, before := range []flag{false, true} {
			f := before
			if err := f.UnmarshalJSON([]byte(text)); err != nil || bool(f) != want {
				t.Errorf("%s after %t: want %t, have %t, %v", text, before, want, f, err)
			}
		}
	}
	var f flag
	if err := f.UnmarshalJSON([]byte("2")); err == nil || err.Error() != `"2" is neither true nor false` {
		t.Errorf("have %v", err)
	}
}

// TestAMessageOfTheVenueIsCutAtThreeHundredBytes checks that no character is cut in two.
func TestAMessageOfTheVenueIsCutAtThreeHundredBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{strings.Repeat("x", 300), strings.Repeat("x", 300)}, {strings.Repeat("x", 301), strings.Repeat("x", 300)},
		{strings.Repeat("x", 299) + "ä", strings.Repeat("x", 299)}, {"", "no message"},
	} {
		code, message, parsed := parseError([]byte(`{"code":7,"error":"` + c.text + `"}`))
		if code != 7 || message != c.want || !parsed {
			t.Errorf("%d bytes: have %d, %d bytes, %t", len(c.text), code, len(message), parsed)
		}
	}
	if have := clean("a\x07b\u202ec"); have != "a?b?c" {
		t.Errorf("have %q", have)
	}
}

func TestARecordOfOneFieldHasItsExactNameToo(t *testing.T) {
	t.Parallel()
	var one struct {
		Status string `json:"status"`
	}
	if err := unmarshal([]byte(`{"status":"right","Status":"wrong"}`), &one); err != nil || one.Status != "right" {
		t.Errorf("have %+v, %v", one, err)
	}
}

// TestACandleThatIsCutIsNotRead cuts an answer at each byte. A count or a time has at most fifteen digits.
func TestACandleThatIsCutIsNotRead(t *testing.T) {
	t.Parallel()
	request := goldenRequest(exchange.FuturesCandles)
	whole := "[" + plainCandle + "]"
	for end := range len(whole) {
		answer, err := decode(t, request, 200, whole[:end])
		if exchange.ErrorKind(err) != "malformed" || answer.Candles != nil && answer.Candles.Len() > 0 {
			t.Errorf("%s: want it malformed, have %v", whole[:end], err)
		}
	}
	for _, text := range []string{"[[1767225480000,1,1,1,1,1,1,1,1,1,01]", "[[01]", "[[1767225480000,-1]"} {
		if _, err := decode(t, request, 200, text); exchange.ErrorKind(err) != "malformed" {
			t.Errorf("%s: want it malformed, have %v", text, err)
		}
	}
	for text, want := range map[string]string{"999999999999999": "", "1000000000000000": "1000000000000000 is not a count or a time",
		"1e14": "", "1e15": "is not a count or a time", "1.5": "1.5 is not a count or a time"} {
		_, err := decode(t, request, 200, strings.Replace(whole, ",321,", ","+text+",", 1))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s trades: want %q, have %v", text, want, err)
		}
	}
}

// TestALevelOfAnOrderBookIsAPriceAndAQuantity checks that an order book is malformed if a level lacks one of them.
func TestALevelOfAnOrderBookIsAPriceAndAQuantity(t *testing.T) {
	t.Parallel()
	request := goldenRequest(exchange.FuturesDepth)
	for level, reads := range map[string]bool{"[]": false, "[1]": false, "[null,1]": false, "[1,null]": false, "[1,1]": true, "[1,1,9]": true} {
		for _, side := range []string{"bids", "asks"} {
			body := `{"lastUpdateId":1,"bids":[],"asks":[]}`
			_, err := decode(t, request, 200, strings.Replace(body, `"`+side+`":[]`, `"`+side+`":[[1,1],`+level+`]`, 1))
			if want := side + ": level 1 is not a price and a quantity"; (err == nil) != reads || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s: want it read %t, have %v", side, level, reads, err)
			}
		}
	}
}

// TestRequestSetsEachFieldOnce checks that a repeated field, and an amount in quote that no Amount can hold is refused with its parameter.
func TestRequestSetsEachFieldOnce(t *testing.T) {
	t.Parallel()
	code := func(operation exchange.Operation, query url.Values, body string) (int, string) {
		_, err := DecodeRequest(operation, "", query, []byte(body), testTable(t))
		refusal, is := err.(*exchange.Refusal)
		if !is {
			return 0, fmt.Sprint(err)
		}
		return refusal.Code, refusal.Message
	}
	for _, name := range []string{"symbol", "limit"} {
		query := url.Values{"symbol": {"BTC-USDT"}, "limit": {"5"}}
		query[name] = append(query[name], query[name]...)
		if have, message := code(exchange.FuturesDepth, query, ""); have != CodeMalformed || !strings.Contains(message, name) {
			t.Errorf("%s twice: have %d, %s", name, have, message)
		}
	}
	const buy = `{"symbol":"BTC-USDT","side":"BUY","type":"MARKET","qt":`
	for _, quantity := range []string{"1e-30", "1e30"} {
		have, message := code(exchange.SpotPlace, nil, buy+quantity+`}`)
		if have != CodeParameter && have != CodeMalformed || !strings.Contains(message, "qt") {
			t.Errorf("qt %s: have %d, %s", quantity, have, message)
		}
	}
}

// TestATemplateThatCannotBeUsedSignsAsItStands checks that Check refuses such a template, and that signing
// with it does not panic.
func TestATemplateThatCannotBeUsedSignsAsItStands(t *testing.T) {
	t.Parallel()
	for _, template := range []string{"{key}[", "[{key}", "{key}]"} {
		s := Signer{Template: template}
		if have, want := string(s.appendText(nil, &Signed{Key: "k"})), strings.Replace(template, "{key}", "k", 1); have != want {
			t.Errorf("%s: want %s, have %s", template, want, have)
		}
	}
}
