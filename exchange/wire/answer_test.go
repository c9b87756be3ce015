package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/exchange"
)

func TestDecimalsMayComeAsNumbersOrStrings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		operation exchange.Operation
		body      string
	}{
		{exchange.FuturesOrder, `{"id":"42","symbol":"BTC-USDT","side":"BUY","type":"LIMIT","price":49000,"stopPrice":null,"quantity":1.5,` +
			`"filled":7e-1,"status":"OPEN",` +
			`"workingType":null,"closePosition":0,"createdAt":"1767225599","postOnly":"true","more":[{}]}`},
		{exchange.FuturesOrder, `{"id":42.0,"symbol":"BTC-USDT","side":"BUY","type":"LIMIT","price":"4.9e4","stopPrice":"","quantity":"1.50",` +
			`"filled":"0.700000000000000000","status":"PARTIALLY_FILLED",` +
			`"client_order_id":null,"createdAt":1767225599000,"postOnly":1}`},
	} {
		want, err := decode(t, goldenRequest(c.operation), 200, string(golden(t, c.operation)))
		if err != nil {
			t.Fatal(err)
		}
		have, err := decode(t, goldenRequest(c.operation), 200, c.body)
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
		} else if difference := cmp.Diff(want.Order, have.Order, amountsCompare); difference != "" {
			t.Errorf("%s (-want +have):\n%s", c.body, difference)
		}
	}
}

func TestStatusSynonymsAreAccepted(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]exchange.OrderStatus{
		"CREATED": exchange.StatusCreated, "CANCELLED": exchange.StatusCanceled, "EXPIRED": exchange.StatusCanceled,
		"PARTIALLY_FILLED": exchange.StatusOpen, "TRIGGERED": exchange.StatusOpen, "PRE_CANCELED": exchange.StatusPreCanceled,
	} {
		body := strings.Replace(string(golden(t, exchange.FuturesOrder)), "OPEN", word, 1)
		if answer, err := decode(t, goldenRequest(exchange.FuturesOrder), 200, body); err != nil || answer.Order.Status != want {
			t.Errorf("%s: want %s, have %s, %v", word, want, answer.Order.Status, err)
		}
	}
	positions := strings.Replace(string(golden(t, exchange.FuturesOpenPositions)), `"status": "OPEN"`, `"status": "ACTIVE"`, 1)
	if answer, err := decode(t, goldenRequest(exchange.FuturesOpenPositions), 200, positions); err != nil ||
		answer.Positions.Items()[0].Status != exchange.PositionOpen {
		t.Errorf("an open position of a status without a name: have %v", err)
	}
}

func TestFinerPricesOfTheMarketAreCutAndMeansAreRounded(t *testing.T) {
	t.Parallel()
	symbols := testTable(t)
	answer, err := decode(
		t,
		goldenRequest(exchange.FuturesTrades),
		200,
		`[{"id":1,"price":"50000.1234567899","qty":"0.0019","time":1,"isBuyerMaker":false}]`,
	)
	if err != nil {
		t.Fatal(err)
	}
	trade := answer.Trades.Items()[0]
	if want := symbols.price(exchange.Futures, "BTC-USDT", "50000.12345678"); trade.Price != want {
		t.Errorf("price: want %d, have %d", want, trade.Price)
	}
	if want := symbols.quantity(exchange.Futures, "BTC-USDT", "0.001"); trade.Quantity != want {
		t.Errorf("quantity: want %d, have %d", want, trade.Quantity)
	}
	body := strings.Replace(
		string(golden(t, exchange.FuturesOpenPositions)),
		"49500.333333333333333333",
		"49500.33333333333333333366666666666666666666",
		1,
	)
	answer, err = decode(t, goldenRequest(exchange.FuturesOpenPositions), 200, body)
	if err != nil {
		t.Fatal(err)
	}
	if want, have := "49500.333333333333333334", answer.Positions.Items()[0].EntryPrice.String(); want != have {
		t.Errorf("entryPrice: want %s, have %s", want, have)
	}
}

func TestOrderBooksAreSorted(t *testing.T) {
	t.Parallel()
	answer, err := decode(
		t,
		goldenRequest(exchange.FuturesDepth),
		200,
		`{"bids":[["1","1"],["3","1"],["2","1"]],"asks":[["6","1"],["4","1"],["5","1"]]}`,
	)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decode(t, goldenRequest(exchange.FuturesDepth), 200, `{"bids":[["1","1"],["3"]],"asks":[]}`); err == nil ||
		!strings.Contains(err.Error(), "bids: level 1 is not a price and a quantity") {
		t.Errorf("a price alone: want it refused, have %v", err)
	}
	for i, unit := range []exchange.Price{3, 2, 1} {
		if want, have := unit*100_000_000, answer.Depth.Bids[i].Price; want != have {
			t.Errorf("bid %d: want %d, have %d", i, want, have)
		}
		if want, have := (7-unit)*100_000_000, answer.Depth.Asks[i].Price; want != have {
			t.Errorf("ask %d: want %d, have %d", i, want, have)
		}
	}
}

func TestNULLAloneFromCancelAllIsAnEmptyList(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"NULL", "null", " NULL\n", "[]"} {
		answer, err := decode(t, goldenRequest(exchange.FuturesCancelAll), 200, body)
		if err != nil || !answer.Orders.Done() || len(answer.Orders.Items()) != 0 {
			t.Errorf("%q: have %+v, %v", body, answer.Orders, err)
		}
	}
	answer := exchange.Answer{Operation: exchange.FuturesCancelAll, Orders: exchange.FetchedOf[exchange.Order](nil)}
	if status, body, err := EncodeAnswer(&answer, goldenRequest(exchange.FuturesCancelAll), testTable(t)); status != 200 || string(body) != "NULL" ||
		err != nil {
		t.Errorf("want 200 NULL, have %d %s, %v", status, body, err)
	}
}

// TestFailureIsNotReadAsEmptyAnswer tries bodies without content on every operation.
func TestFailureIsNotReadAsEmptyAnswer(t *testing.T) {
	t.Parallel()
	bodies := []string{
		"",
		" ",
		"NULL",
		"null",
		"nul",
		"<html><body>502 Bad Gateway</body></html>",
		"{}",
		`""`,
		"0",
		"true",
		"[{}]",
		"[null]",
		"[[]]",
		"[1]",
		`{"code":-1000,"error":"no"}`,
		`{"code":500,"msg":"no","data":[]}`,
		`{"status":"error"`,
		"[",
		`{"tickers":null}`,
		`{"wallets":null}`,
		`{"wallets":{}}`,
		`{"bids":null,"asks":null}`,
	}
	for _, operation := range exchange.Operations() {
		for _, body := range bodies {
			if operation == exchange.FuturesCancelAll && strings.EqualFold(body, "null") {
				continue
			}
			answer, err := decode(t, goldenRequest(operation), 200, body)
			checkMalformed(t, operation, body, answer, err)
		}
		whole := bytes.TrimSpace(golden(t, operation))
		for _, cut := range []int{1, len(whole) / 2, len(whole) - 1} {
			body := string(whole[:cut])
			answer, err := decode(t, goldenRequest(operation), 200, body)
			checkMalformed(t, operation, body, answer, err)
		}
		doubled := string(whole) + string(whole)
		answer, err := decode(t, goldenRequest(operation), 200, doubled)
		checkMalformed(t, operation, doubled, answer, err)
	}
}

func checkMalformed(t *testing.T, operation exchange.Operation, body string, answer exchange.Answer, err error) {
	t.Helper()
	want := "malformed"
	if operation.Places() {
		want = "uncertain"
	}
	if err == nil && len(answer.Unreadable) > 0 { // every row of a list is unreadable: that is no empty list either
		return
	}
	if have := exchange.ErrorKind(err); have != want {
		t.Errorf("%s %.80q: want %s, have %q: %v", operation, body, want, have, err)
	}
	if answer.Operation != 0 || answer.Orders.Done() || answer.Positions.Done() || answer.Candles != nil {
		t.Errorf("%s %.80q: an answer beside the error: %+v", operation, body, answer)
	}
}

// TestRecordWithoutRequiredFieldsIsRejected removes fields from golden answers: a position without
// remainingQty is not a closed one.
func TestRecordWithoutRequiredFieldsIsRejected(t *testing.T) {
	t.Parallel()
	for operation, needed := range map[exchange.Operation][]string{
		exchange.FuturesOrder:         {"id", "symbol", "side", "type", "quantity", "filled", "status"},
		exchange.FuturesOpenOrders:    {"id", "symbol", "side", "type", "quantity", "filled", "status"},
		exchange.FuturesOpenPositions: {"symbol", "side", "entryPrice", "quantity", "remainingQty"},
		exchange.FuturesAccount:       {"totalWalletBalance", "availableBalance"},
		exchange.FuturesLeverages:     {"symbol", "leverage"},
		exchange.FuturesMarginLevels:  {"symbol", "max", "marginRatio", "maxLeverage"},
		exchange.FuturesFundingRate:   {"fundingRate"},
		exchange.FuturesTicker:        {"symbol", "lastPrice"},
		exchange.SpotOpenOrders:       {"id", "symbol", "side", "type", "quantity", "filled", "status"},
		exchange.SpotUserTrades:       {"symbol", "order_id", "price", "qty"},
	} {
		for _, field := range needed {
			for _, replacement := range []string{`"was`, `null`} {
				var body string
				if replacement == "null" {
					body = nulled(t, golden(t, operation), field)
				} else {
					body = strings.ReplaceAll(string(golden(t, operation)), `"`+field+`"`, `"was_`+field+`"`)
				}
				answer, err := decode(t, goldenRequest(operation), 200, body)
				if aside := err == nil && len(answer.Unreadable) > 0; !aside && exchange.ErrorKind(err) != "malformed" {
					t.Errorf("%s without %s (%s): want malformed or set aside, have %+v, %v", operation, field, replacement, answer, err)
				}
			}
		}
	}
}

// nulled sets a field to null in an object, or in every object of an array.
func nulled(t *testing.T, body []byte, field string) string {
	t.Helper()
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Fatal(err)
	}
	all, isArray := value.([]any)
	if !isArray {
		all = []any{value}
	}
	for _, element := range all {
		element.(map[string]any)[field] = nil
	}
	out, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestOwnQuantitiesAreNeverRounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ was, is string }{{`"filled": "0.7"`, `"filled": "0.7001"`}, {`"filled": "0.7"`, `"filled": "-0.7"`},
		{`"quantity": "1.5"`, `"quantity": "1e30"`}} {
		body := strings.Replace(string(golden(t, exchange.FuturesOrder)), c.was, c.is, 1)
		if answer, err := decode(t, goldenRequest(exchange.FuturesOrder), 200, body); exchange.ErrorKind(err) != "malformed" {
			t.Errorf("%s: want malformed, have %+v, %v", c.is, answer.Order, err)
		}
	}
}

func TestUnknownSymbolIsReportedInOwnListsAndSkippedInPublicOnes(t *testing.T) {
	t.Parallel()
	for _, operation := range []exchange.Operation{exchange.FuturesOpenOrders, exchange.FuturesOpenPositions, exchange.SpotOpenOrders,
		exchange.SpotUserTrades, exchange.FuturesTicker} {
		body := strings.Replace(string(golden(t, operation)), "-USDT", "-NEW", 1)
		answer, err := decode(t, goldenRequest(operation), 200, body)
		var unknown *UnknownSymbolError
		if operation == exchange.FuturesTicker {
			if exchange.ErrorKind(err) != "malformed" || !errors.As(err, &unknown) || !strings.Contains(err.Error(), "-NEW") {
				t.Errorf("%s: want malformed that names the symbol, have %v", operation, err)
			}
			continue
		}
		if len(answer.Unreadable) != 1 || !answer.Unreadable[0].UnknownSymbol || !strings.HasSuffix(answer.Unreadable[0].Symbol, "-NEW") {
			t.Errorf("%s: want one row set aside that names the symbol, have %+v, %v", operation, answer.Unreadable, err)
		}
	}
	body := strings.Replace(string(golden(t, exchange.FuturesTickers)), "PEPE-USDT", "PEPE-NEW", 1)
	if answer, err := decode(t, goldenRequest(exchange.FuturesTickers), 200, body); err != nil || len(answer.Tickers.Items()) != 1 {
		t.Errorf("tickers: want one, have %v, %v", answer.Tickers, err)
	}
}

func TestUnrepresentableSymbolIsSkippedAlone(t *testing.T) {
	t.Parallel()
	body := strings.Replace(string(golden(t, exchange.FuturesSymbols)), `"priceTick": 1e-08`, `"priceTick": 1e-19`, 1)
	answer, err := decode(t, goldenRequest(exchange.FuturesSymbols), 200, body)
	if err != nil || len(answer.Symbols.Items()) != 1 || answer.Symbols.Items()[0].Name != "BTC-USDT" {
		t.Errorf("want BTC-USDT alone, have %v, %v", answer.Symbols, err)
	}
	body = strings.Replace(body, `"priceTick": 0.1`, `"priceTick": 0`, 1)
	if _, err := decode(t, goldenRequest(exchange.FuturesSymbols), 200, body); exchange.ErrorKind(err) != "malformed" {
		t.Errorf("no symbol at all: want malformed, have %v", err)
	}
}

func TestAnotherOrdersAnswerIsNotTaken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		operation exchange.Operation
		was, is   string
		kind      string
	}{
		{exchange.FuturesPlace, "bmain-sfv8g0-1", "bmain-sfv8g0-2", "uncertain"},
		{exchange.FuturesPlace, `"bmain-sfv8g0-1"`, "null", "uncertain"},
		{exchange.FuturesPlace, "BTC-USDT", "PEPE-USDT", "uncertain"},
		{exchange.FuturesPlace, "SELL", "BUY", "uncertain"},
		{exchange.FuturesPlace, "9007199254740993", "0", "uncertain"},
		{exchange.SpotPlace, "bmain-sfv8g0-2", "", "uncertain"},
		{exchange.FuturesOrder, "42", "43", "malformed"},
		{exchange.FuturesCancel, "42", "43", "malformed"},
		{exchange.SpotCancel, "502", "503", "malformed"},
	} {
		body := strings.Replace(string(golden(t, c.operation)), c.was, c.is, 1)
		if _, err := decode(t, goldenRequest(c.operation), 201, body); exchange.ErrorKind(err) != c.kind {
			t.Errorf("%s with %s for %s: want %s, have %v", c.operation, c.is, c.was, c.kind, err)
		}
	}
}

func TestErrorStatusesAreClassifiedByOperationAndBody(t *testing.T) {
	t.Parallel()
	const parsed = `{"code":-1000,"error":"no"}`
	for _, c := range []struct {
		status      int
		body        string
		place, read string
	}{
		{400, parsed, "refusal", "refusal"},
		{401, parsed, "refusal", "refusal"},
		{403, parsed, "refusal", "refusal"},
		{404, parsed, "refusal", "refusal"},
		{405, parsed, "refusal", "refusal"},
		{400, `{"code":"-1000","msg":"no"}`, "refusal", "refusal"},
		{400, `{"code":-1000,"message":"no"}`, "refusal", "refusal"},
		{400, `{"code":-1000}`, "refusal", "refusal"},
		{400, `{"error":"no"}`, "uncertain", "unavailable"},
		{400, `<html>400 Bad Request</html>`, "uncertain", "unavailable"},
		{401, ``, "uncertain", "unavailable"},
		{403, `{"code":-2015,"err`, "uncertain", "unavailable"},
		{422, parsed, "uncertain", "unavailable"},
		{302, parsed, "uncertain", "unavailable"},
		{307, ``, "uncertain", "unavailable"},
		{429, parsed, "uncertain", "unavailable"},
		{500, parsed, "uncertain", "unavailable"},
		{502, `<html>`, "uncertain", "unavailable"},
		{503, ``, "uncertain", "unavailable"},
		{504, parsed, "uncertain", "unavailable"},
	} {
		for _, operation := range exchange.Operations() {
			want := c.read
			if operation.Places() {
				want = c.place
			}
			answer, err := decode(t, goldenRequest(operation), c.status, c.body)
			if have := exchange.ErrorKind(err); have != want || answer.Operation != 0 {
				t.Errorf("%s %d %s: want %s, have %v", operation, c.status, c.body, want, err)
			}
			var refusal *exchange.Refusal
			if errors.As(err, &refusal) && (refusal.Code != -1000 || refusal.Status != c.status || refusal.Operation != operation ||
				!strings.HasPrefix(refusal.Message, "no")) {
				t.Errorf("%s %d %s: have %+v", operation, c.status, c.body, refusal)
			}
		}
	}
}

// An uncertain outcome must not match a refusal, or "certainly not sent", in errors.As.
func TestUncertainOutcomeMatchesNoOtherKind(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 201, 302, 400, 403, 429, 500, 503} {
		for _, body := range []string{"", "NULL", "<html>", "{", "[]"} {
			_, err := decode(t, goldenRequest(exchange.FuturesPlace), status, body)
			var (
				uncertain   *exchange.Uncertain
				refusal     *exchange.Refusal
				unavailable *exchange.Unavailable
			)
			if !errors.As(err, &uncertain) || errors.As(err, &refusal) || errors.As(err, &unavailable) {
				t.Errorf("%d %q: have %#v", status, body, err)
			}
		}
	}
}

func TestRetryAfterIsReadInSecondsAndBounded(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]int64{"": 0, "2": 2_000, " 3 ": 3_000, "10": 10_000, "0": 0, "-1": 0, "soon": 0, "Wed, 21 Oct 2026 07:28:00 GMT": 0,
		"999999999": 3_600_000} {
		_, err := DecodeAnswer(goldenRequest(exchange.FuturesPing), HTTPResponse{Status: 429, RetryAfter: header}, testTable(t))
		var unavailable *exchange.Unavailable
		if !errors.As(err, &unavailable) || unavailable.RetryAfterMS != want || unavailable.Reason != "rate limited" {
			t.Errorf("%q: want %d ms, have %+v", header, want, err)
		}
	}
}

func TestNamesOutsideTheInterfacesAlphabetAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{`BTC\u001b[2J-USDT`, `BTC\u202e-USDT`, `BTC USDT`, `../BTC`, strings.Repeat("B", 41), `ＢＴＣ-USDT`} {
		body := strings.Replace(string(golden(t, exchange.FuturesSymbols)), `"symbol": "BTC-USDT"`, `"symbol": "`+name+`"`, 1)
		answer, err := decode(t, goldenRequest(exchange.FuturesSymbols), 200, body)
		if err != nil || len(answer.Symbols.Items()) != 1 || answer.Symbols.Items()[0].Name == "BTC-USDT" {
			t.Errorf("%s: want the other symbol alone, have %v, %v", name, answer.Symbols, err)
		}
	}
}

func TestVenueMessagesArePrintable(t *testing.T) {
	t.Parallel()
	_, err := decode(t, goldenRequest(exchange.FuturesPing), 400, `{"code":1,"error":"\u001b[2J gone \u202e"}`)
	if want := `\u001b[2J gone \u202e`; !strings.Contains(err.Error(), want) {
		t.Errorf("want %s, have %q", want, err)
	}
}

func TestVenueMessagesAreBounded(t *testing.T) {
	t.Parallel()
	_, err := decode(t, goldenRequest(exchange.FuturesPing), 400, `{"code":1,"error":"`+strings.Repeat("ä", 10_000)+`"}`)
	if len(err.Error()) > 2*maxMessage {
		t.Errorf("want at most %d bytes, have %d", 2*maxMessage, len(err.Error()))
	}
}
