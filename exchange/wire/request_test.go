package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/exchange"
)

var amountsCompare = cmp.Comparer(func(a, b exchange.Amount) bool { return a == b })

// requestCase is a request, its encoding, and the result of decoding it, with the defaults of the Limits
// table.
type requestCase struct {
	request    exchange.Request
	path, body string
	read       func(*exchange.Request) // what decoding adds
}

func requestCases(symbols table) []requestCase {
	limited := func(n int) func(*exchange.Request) { return func(r *exchange.Request) { r.Limit = n } }
	price := func(text string) exchange.Price { return symbols.price(exchange.Futures, "PEPE-USDT", text) }
	quantity := func(text string) exchange.Quantity {
		return symbols.quantity(exchange.Futures, "PEPE-USDT", text)
	}
	type request = exchange.Request
	const btc = "BTC-USDT"
	return []requestCase{
		{request{Operation: exchange.FuturesHealth}, "/fapi/v1/health", "", nil},
		{request{Operation: exchange.FuturesPing}, "/fapi/v1/ping", "", nil},
		{request{Operation: exchange.FuturesTime}, "/fapi/v1/time", "", nil},
		{request{Operation: exchange.FuturesSymbols}, "/fapi/v1/symbols", "", nil},
		{request{Operation: exchange.FuturesTickers}, "/fapi/v1/ticker", "", nil},
		{request{Operation: exchange.FuturesTicker, Symbol: btc}, "/fapi/v1/ticker/BTC-USDT", "", nil},
		{request{Operation: exchange.FuturesDepth, Symbol: btc}, "/fapi/v1/depth?symbol=BTC-USDT", "", limited(100)},
		{request{Operation: exchange.FuturesTrades, Symbol: btc, Limit: 7}, "/fapi/v1/trades?limit=7&symbol=BTC-USDT", "", nil},
		{request{Operation: exchange.FuturesCandles, Symbol: btc, Interval: exchange.Week1, StartMS: 1, EndMS: 2, Limit: 1500},
			"/fapi/v1/candle?endTime=2&interval=1w&limit=1500&startTime=1&symbol=BTC-USDT", "", nil},
		{request{Operation: exchange.FuturesFundingRate, Symbol: btc}, "/fapi/v1/funding-rate/BTC-USDT", "", nil},
		{request{Operation: exchange.FuturesMarginLevels}, "/fapi/v1/margin-levels", "", nil},
		{request{Operation: exchange.FuturesSymbolMarginLevels, Symbol: btc}, "/fapi/v1/margin-levels/BTC-USDT", "", nil},

		{request{Operation: exchange.FuturesPlace, Symbol: "PEPE-USDT", Order: exchange.NewOrder{
			Market: exchange.Futures, Symbol: "PEPE-USDT", Side: exchange.Sell, Type: exchange.StopLimit, Quantity: quantity("1200"),
			Price: price("0.00000998"), StopPrice: price("0.00000999"), WorkingType: exchange.ContractPrice, ReduceOnly: true, ClientOrderID: `b"<1>`,
		}}, "/fhapi/v1/order", `{"symbol":"PEPE-USDT","side":"SELL","type":"STOP_LIMIT","qt":"1200","price":"0.00000998","stopPrice":"0.00000999",` +
			`"workingType":"CONTRACT_PRICE","reduceOnly":true,"client_order_id":"b\"<1>"}`, nil},
		{request{Operation: exchange.FuturesPlace, Symbol: btc, Order: exchange.NewOrder{
			Market: exchange.Futures, Symbol: btc, Side: exchange.Buy, Type: exchange.StopMarket, StopPrice: symbols.price(exchange.Futures, btc, "51000.5"),
			WorkingType: exchange.MarkPrice, ClosePosition: true,
		}}, "/fhapi/v1/order", `{"symbol":"BTC-USDT","side":"BUY","type":"STOP_MARKET","stopPrice":"51000.5","workingType":"MARK_PRICE",` +
			`"closePosition":true}`, nil},
		{request{Operation: exchange.FuturesOrder, OrderID: 9_007_199_254_740_993}, "/fhapi/v1/order?order_id=9007199254740993", "", nil},
		{request{Operation: exchange.FuturesOpenOrders}, "/fhapi/v1/order/open", `{}`, nil},
		{request{Operation: exchange.FuturesOpenOrders, Symbol: btc}, "/fhapi/v1/order/open", `{"symbol":"BTC-USDT"}`, nil},
		{request{Operation: exchange.FuturesCancel, OrderID: 42}, "/fhapi/v1/order/cancel", `{"id":42}`, nil},
		{request{Operation: exchange.FuturesCancelAll}, "/fhapi/v1/order/cancel/all", `{}`, nil},
		{request{Operation: exchange.FuturesLeverages}, "/fhapi/v1/leverage", "", nil},
		{request{Operation: exchange.FuturesSetLeverage, Symbol: btc, Leverage: 20}, "/fhapi/v1/leverage", `{"leverage":20,"symbol":"BTC-USDT"}`, nil},
		{request{Operation: exchange.FuturesAccount}, "/fhapi/v1/margin/account", "", nil},
		{request{Operation: exchange.FuturesOpenPositions}, "/fhapi/v1/positions/open", `{}`, nil},
		{request{Operation: exchange.FuturesPositionsHistory, Symbol: btc, PositionSide: exchange.Short, StartMS: 1_999, EndMS: 2_001, Offset: 3},
			"/fhapi/v1/positions/history?endTime=3&offset=3&side=SHORT&startTime=1&symbol=BTC-USDT", "",
			func(r *exchange.Request) { r.StartMS, r.EndMS, r.Limit = 1_000, 3_000, 30 }},

		{request{Operation: exchange.SpotPairs}, "/api/v1/spot/public/pairs", "", nil},
		{request{Operation: exchange.SpotTickers}, "/api/v1/spot/public/tickers", "", nil},
		{request{Operation: exchange.SpotTicker, Symbol: btc}, "/api/v1/spot/public/ticker/BTC-USDT", "", nil},
		{request{Operation: exchange.SpotDepth, Symbol: btc, Limit: 20}, "/api/v1/spot/public/books?limit=20&symbol=BTC-USDT", "", nil},
		{request{Operation: exchange.SpotTrades, Symbol: btc}, "/api/v1/spot/public/trades?symbol=BTC-USDT", "", limited(500)},
		{request{Operation: exchange.SpotCandles, Symbol: btc, Interval: exchange.Hour4, EndMS: 5, Offset: 9},
			"/api/v1/spot/public/candles?endTime=5&interval=4h&offset=9&startTime=0&symbol=BTC-USDT", "", limited(100)},

		{request{Operation: exchange.SpotPlace, Symbol: btc, Order: exchange.NewOrder{
			Market: exchange.Spot, Symbol: btc, Side: exchange.Buy, Type: exchange.MarketOrder,
			QuoteAmount: exchange.MustAmount("100.000000000000000001"), ClientOrderID: "c",
		}}, "/hapi/v1/spot/order", `{"symbol":"BTC-USDT","side":"BUY","type":"MARKET","qt":100.000000000000000001,"clientOrderId":"c"}`, nil},
		{request{Operation: exchange.SpotPlace, Symbol: btc, Order: exchange.NewOrder{
			Market: exchange.Spot, Symbol: btc, Side: exchange.Sell, Type: exchange.StopLimit, Quantity: symbols.quantity(exchange.Spot, btc, "0.00001"),
			Price: symbols.price(exchange.Spot, btc, "48000"), StopPrice: symbols.price(exchange.Spot, btc, "48000.1"),
		}}, "/hapi/v1/spot/order", `{"symbol":"BTC-USDT","side":"SELL","type":"STOP_LIMIT","qt":0.00001,"price":48000,"stopPrice":48000.1}`, nil},
		{request{Operation: exchange.SpotCancel, Symbol: btc, OrderID: 5}, "/hapi/v1/spot/cancel", `{"orderId":5,"symbol":"BTC-USDT"}`, nil},
		{request{Operation: exchange.SpotCancelAll, Symbol: btc}, "/hapi/v1/spot/cancel_all", `{"symbol":"BTC-USDT"}`, nil},
		{request{Operation: exchange.SpotOpenOrders}, "/hapi/v1/spot/order/open", "", nil},
		{request{Operation: exchange.SpotOrderHistory, Symbol: btc, Side: exchange.Sell, Type: exchange.TakeProfitLimit, StartMS: 1, EndMS: 2,
			Limit: 3, Offset: 4},
			"/hapi/v1/spot/order/history?endTime=2&limit=3&offset=4&side=SELL&startTime=1&symbol=BTC-USDT&type=TAKE_PROFIT_LIMIT", "", nil},
		{request{Operation: exchange.SpotUserTrades, OrderID: 6}, "/hapi/v1/spot/order/trades?order_id=6", "", limited(500)},
		{request{Operation: exchange.SpotWallet}, "/hapi/v1/spot/wallet", "", nil},
	}
}

func TestEveryRequestIsSentAsDocumentedAndReadBack(t *testing.T) {
	t.Parallel()
	symbols := testTable(t)
	seen := map[exchange.Operation]bool{}
	for _, c := range requestCases(symbols) {
		seen[c.request.Operation] = true
		sent, err := EncodeRequest(&c.request, symbols)
		if err != nil {
			t.Errorf("%s: %v", c.request.Operation, err)
			continue
		}
		if sent.Path != c.path {
			t.Errorf("%s: want %s, have %s", c.request.Operation, c.path, sent.Path)
		}
		if wantBody := c.body != ""; wantBody != (sent.Method == "POST") || wantBody != (sent.Body != nil) {
			t.Errorf("%s: method %s with body %q", c.request.Operation, sent.Method, sent.Body)
		} else if wantBody {
			sameJSON(t, []byte(c.body), sent.Body)
		}
		path, rawQuery, _ := strings.Cut(sent.Path, "?")
		operation, symbol, _, _ := Match(sent.Method, path)
		if operation != c.request.Operation {
			t.Errorf("%s %s: want %s, have %s", sent.Method, path, c.request.Operation, operation)
			continue
		}
		query, err := url.ParseQuery(rawQuery)
		if err != nil {
			t.Fatal(err)
		}
		have, err := DecodeRequest(operation, symbol, query, sent.Body, symbols)
		if err != nil {
			t.Errorf("read %s back: %v", operation, err)
			continue
		}
		want := c.request
		if c.read != nil {
			c.read(&want)
		}
		if difference := cmp.Diff(want, have, amountsCompare); difference != "" {
			t.Errorf("read %s back (-want +have):\n%s", operation, difference)
		}
	}
	for _, operation := range exchange.Operations() {
		if !seen[operation] {
			t.Errorf("no case of %s", operation)
		}
	}
}

func TestOnlyFieldsOfOperationAreSent(t *testing.T) {
	t.Parallel()
	full := exchange.Request{Symbol: "BTC-USDT", Interval: exchange.Day1, StartMS: 1, EndMS: 2, Limit: 3, Offset: 4, OrderID: 5, Leverage: 6,
		Side: exchange.Buy, Type: exchange.Limit}
	for operation, want := range map[exchange.Operation]string{
		exchange.FuturesHealth:    "/fapi/v1/health",
		exchange.FuturesTicker:    "/fapi/v1/ticker/BTC-USDT",
		exchange.FuturesOrder:     "/fhapi/v1/order?order_id=5",
		exchange.SpotOpenOrders:   "/hapi/v1/spot/order/open?symbol=BTC-USDT",
		exchange.FuturesLeverages: "/fhapi/v1/leverage",
	} {
		request := full
		request.Operation = operation
		if sent, err := EncodeRequest(&request, testTable(t)); err != nil || sent.Path != want {
			t.Errorf("%s: want %s, have %s, %v", operation, want, sent.Path, err)
		}
	}
}

func TestIncompleteRequestsAreNotSent(t *testing.T) {
	t.Parallel()
	symbols := testTable(t)
	order := func(change func(*exchange.NewOrder)) exchange.Request {
		r := exchange.Request{Operation: exchange.FuturesPlace, Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT",
			Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 1}}
		change(&r.Order)
		return r
	}
	for name, request := range map[string]exchange.Request{
		"symbol is required":           {Operation: exchange.FuturesTicker},
		"interval is required":         {Operation: exchange.SpotCandles, Symbol: "BTC-USDT"},
		"order_id is required":         {Operation: exchange.FuturesOrder},
		"id is required":               {Operation: exchange.FuturesCancel},
		"leverage is required":         {Operation: exchange.FuturesSetLeverage, Symbol: "BTC-USDT"},
		`market "spot"`:                order(func(o *exchange.NewOrder) { o.Market = exchange.Spot }),
		`side ""`:                      order(func(o *exchange.NewOrder) { o.Side = 0 }),
		`type "type(9)"`:               order(func(o *exchange.NewOrder) { o.Type = 9 }),
		"unknown symbol futures X-USD": order(func(o *exchange.NewOrder) { o.Symbol = "X-USD" }),
	} {
		if sent, err := EncodeRequest(&request, symbols); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want an error with %q, have %v, %s", name, err, sent.Body)
		}
	}
}

func TestPathsAreMatchedWholeAndByMethod(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, path string
		operation    exchange.Operation
		symbol       string
		known        bool
		allow        string
	}{
		{"GET", "/fapi/v1/ticker", exchange.FuturesTickers, "", true, ""},
		{"GET", "/fapi/v1/ticker/A-B", exchange.FuturesTicker, "A-B", true, ""},
		{"GET", "/fapi/v1/ticker/", 0, "", false, ""},
		{"GET", "/fapi/v1/ticker/A/B", 0, "", false, ""},
		{"GET", "/fapi/v1/health/", 0, "", false, ""},
		{"DELETE", "/fhapi/v1/order", 0, "", true, "POST GET"},
		{"POST", "/fapi/v1/health", 0, "", true, "GET"},
		{"get", "/fapi/v1/health", 0, "", true, "GET"},
		{"GET", "/", 0, "", false, ""},
	} {
		operation, symbol, known, allow := Match(c.method, c.path)
		if operation != c.operation || symbol != c.symbol || known != c.known || strings.Join(allow, " ") != c.allow {
			t.Errorf("%s %s: want %v, have %s %q %v %v", c.method, c.path, c, operation, symbol, known, allow)
		}
	}
}

func TestUnreadableRequestsAreRefusedWithFieldAndValue(t *testing.T) {
	t.Parallel()
	const place, futures, spot = "", exchange.FuturesPlace, exchange.SpotPlace
	good := `"symbol":"BTC-USDT","side":"BUY","type":"LIMIT"`
	for _, c := range []struct {
		operation   exchange.Operation
		query, body string
		code        int
		message     string // all words must be in the error
	}{
		{futures, place, `{`, CodeMalformed, "body JSON object"},
		{futures, place, `[]`, CodeMalformed, "body JSON object"},
		{futures, place, `null`, CodeMalformed, "body JSON object"},
		{futures, place, ``, CodeMalformed, "symbol required"},
		{futures, place, `{` + good + `}`, CodeMalformed, "qt required"},
		{futures, place, `{` + good + `,"qt":null}`, CodeMalformed, "qt required"},
		{futures, place, `{` + good + `,"qt":NaN}`, CodeMalformed, "body JSON object"},
		{futures, place, `{` + good + `,"qt":"NaN"}`, CodeMalformed, "qt NaN"},
		{futures, place, `{` + good + `,"qt":"Infinity"}`, CodeMalformed, "qt Infinity"},
		{futures, place, `{` + good + `,"qt":"1e31"}`, CodeMalformed, "qt 1e31 out of range"},
		{futures, place, `{` + good + `,"qt":1e1000000000}`, CodeMalformed, "qt"},
		{futures, place, `{` + good + `,"qt":"` + strings.Repeat("9", 40) + `"}`, CodeMalformed, "qt out of range"},
		{futures, place, `{` + good + `,"qt":"1e-301"}`, CodeMalformed, "qt 1e-301 out of range"},
		{futures, place, `{` + good + `,"qt":true}`, CodeMalformed, "qt true decimal"},
		{futures, place, `{` + good + `,"qt":{}}`, CodeMalformed, "qt {} decimal"},
		{futures, place, `{` + good + `,"qt":[1]}`, CodeMalformed, "qt [1] decimal"},
		{futures, place, `{` + good + `,"qt":""}`, CodeMalformed, "qt"},
		{futures, place, `{` + good + `,"qt":" 1"}`, CodeMalformed, "qt"},
		{futures, place, `{` + good + `,"qt":"0x10"}`, CodeMalformed, "qt 0x10"},
		{futures, place, `{` + good + `,"qt":"0.0001","price":"1"}`, CodeQuantityTick, "qt 0.0001 quantityTick 0.001"},
		{futures, place, `{` + good + `,"qt":"1","price":"0.000000001"}`, CodePriceTick, "price 0.000000001 priceTick 0.1"},
		{futures, place, `{` + good + `,"qt":"1","stopPrice":"1e25"}`, CodeStopPriceTick, "stopPrice"},
		{futures, place, `{` + good + `,"qt":"1","reduceOnly":"true"}`, CodeMalformed, "reduceOnly true"},
		{futures, place, `{` + good + `,"qt":"1","client_order_id":7}`, CodeMalformed, "client_order_id 7"},
		{futures, place, `{` + good + `,"qt":"1","workingType":"LAST"}`, CodeParameter, "workingType LAST MARK_PRICE"},
		{futures, place, `{"symbol":1,"side":"BUY","type":"LIMIT","qt":1}`, CodeMalformed, "symbol 1"},
		{futures, place, `{"symbol":"BTC-USDT","side":"buy","type":"LIMIT","qt":1}`, CodeSide, "side buy"},
		{futures, place, `{"symbol":"BTC-USDT","type":"LIMIT","qt":1}`, CodeSide, "side BUY SELL"},
		{futures, place, `{"symbol":"BTC-USDT","side":"BUY","type":"ICEBERG","qt":1}`, CodeType, "type ICEBERG"},
		{futures, place, `{"symbol":"NO-SUCH","side":"BUY","type":"LIMIT","qt":1}`, exchange.CodeFuturesInvalidSymbol, "NO-SUCH"},
		{spot, place, `{"symbol":"NO-SUCH","side":"BUY","type":"LIMIT","qt":1}`, exchange.CodeSpotInvalidSymbol, "NO-SUCH"},
		{exchange.FuturesCancel, "", `{}`, CodeMalformed, "id required"},
		{exchange.FuturesCancel, "", `{"id":"12"}`, CodeMalformed, "id 12 whole"},
		{exchange.FuturesCancel, "", `{"id":1.5}`, CodeMalformed, "id 1.5 whole"},
		{exchange.FuturesSetLeverage, "", `{"symbol":"BTC-USDT","leverage":1e10}`, CodeParameter, "leverage 10000000000"},
		{exchange.SpotCancel, "", `{"orderId":1}`, CodeMalformed, "symbol required"},
		{exchange.SpotCancelAll, "", `{"symbol":""}`, CodeMalformed, "symbol required"},
		{exchange.FuturesOrder, "", "", CodeMalformed, "order_id required"},
		{exchange.FuturesOrder, "order_id=abc", "", CodeMalformed, "order_id abc"},
		{exchange.FuturesDepth, "limit=5", "", CodeMalformed, "symbol required"},
		{exchange.FuturesDepth, "symbol=X&limit=0", "", CodeParameter, "limit 0 below 1"},
		{exchange.FuturesDepth, "symbol=X&limit=-5", "", CodeParameter, "limit -5"},
		{exchange.FuturesDepth, "symbol=X&limit=ten", "", CodeMalformed, "limit ten"},
		{exchange.FuturesDepth, "symbol=X&limit=1.5", "", CodeMalformed, "limit 1.5"},
		{exchange.FuturesDepth, "symbol=X&limit=", "", CodeMalformed, "limit"},
		{exchange.SpotDepth, "symbol=X&limit=7", "", CodeParameter, "limit 7 5, 10, 20, 50, 100"},
		{exchange.SpotDepth, "symbol=X&limit=6", "", CodeParameter, "limit 6"},
		{exchange.FuturesDepth, "symbol=X&limit=5&limit=5", "", CodeMalformed, "limit given 2 times"},
		{exchange.FuturesSetLeverage, "", `{"symbol":"BTC-USDT","leverage":5,"leverage":5}`, CodeMalformed, "leverage given twice"},
		{exchange.FuturesCandles, "symbol=X", "", CodeMalformed, "interval required"},
		{exchange.FuturesCandles, "symbol=X&interval=2m", "", CodeParameter, "interval 2m"},
		{exchange.FuturesCandles, "symbol=X&interval=1m&startTime=-1", "", CodeParameter, "startTime -1"},
		{exchange.FuturesPositionsHistory, "startTime=9223372036854775807", "", CodeParameter, "startTime"},
		{exchange.FuturesPositionsHistory, "side=BUY", "", CodeParameter, "side BUY LONG"},
		{exchange.SpotCandles, "symbol=X&interval=1m&endTime=5", "", CodeMalformed, "startTime required"},
		{exchange.SpotUserTrades, "offset=-1", "", CodeParameter, "offset -1"},
		{exchange.SpotOrderHistory, "type=LIMITED", "", CodeParameter, "type LIMITED"},
	} {
		query, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		have, err := DecodeRequest(c.operation, "", query, []byte(c.body), testTable(t))
		var refusal *exchange.Refusal
		if !errors.As(err, &refusal) {
			t.Errorf("%s %s%s: want a refusal, have %+v, %v", c.operation, c.query, c.body, have, err)
			continue
		}
		if refusal.Status != 400 || refusal.Code != c.code || refusal.Operation != c.operation {
			t.Errorf("%s %s%s: want 400 with code %d, have %v", c.operation, c.query, c.body, c.code, refusal)
		}
		for _, word := range strings.Fields(c.message) {
			if !strings.Contains(refusal.Message, word) {
				t.Errorf("%s %s%s: want %q in %q", c.operation, c.query, c.body, word, refusal.Message)
			}
		}
	}
}

func TestRequestsAreReadWithTheLatitudeOfTheInterface(t *testing.T) {
	t.Parallel()
	symbols := testTable(t)
	const head = `{"symbol":"BTC-USDT","side":"BUY","type":"LIMIT","timeInForce":"GTC","unknown":{"a":[1]},`
	for _, fields := range []string{
		`"qt":"1.5","price":"50000"`, `"qt":1.5,"price":50000`, `"qt":15e-1,"price":5e4`, `"qt":"1.500","price":"50000.000000000000"`,
		`"qt":"1.5","price":"50000","stopPrice":null,"workingType":null,"reduceOnly":null,"client_order_id":null`, `"qt":"+1.5","price":"050000"`,
	} {
		request, err := DecodeRequest(exchange.FuturesPlace, "", nil, []byte(head+fields+`}`), symbols)
		want := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit,
			Quantity: symbols.quantity(exchange.Futures, "BTC-USDT", "1.5"), Price: symbols.price(exchange.Futures, "BTC-USDT", "50000")}
		if err != nil {
			t.Errorf("%s: %v", fields, err)
		} else if difference := cmp.Diff(want, request.Order, amountsCompare); difference != "" {
			t.Errorf("%s (-want +have):\n%s", fields, difference)
		}
	}
}

func TestANumberMayBeginWithEachDigit(t *testing.T) {
	t.Parallel()
	for digit := '1'; digit <= '9'; digit++ {
		body := fmt.Sprintf(`{"symbol":"BTC-USDT","side":"BUY","type":"LIMIT","qt":%c,"price":%c0000}`, digit, digit)
		request, err := DecodeRequest(exchange.FuturesPlace, "", nil, []byte(body), testTable(t))
		if want := testTable(t).quantity(exchange.Futures, "BTC-USDT", string(digit)); err != nil || request.Order.Quantity != want {
			t.Errorf("%s: want %d, have %d, %v", body, want, request.Order.Quantity, err)
		}
	}
}

func TestLimitsHaveDefaultsAndAreClampedToTheirMaximum(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{5, 10, 20, 50, 100} { // for spot order books
		query := url.Values{"symbol": {"X"}, "limit": {fmt.Sprint(limit)}}
		if request, err := DecodeRequest(exchange.SpotDepth, "", query, nil, testTable(t)); err != nil || request.Limit != limit {
			t.Errorf("want a limit of %d, have %d, %v", limit, request.Limit, err)
		}
	}
	for _, c := range []struct {
		operation     exchange.Operation
		query         string
		normal, above int
	}{
		{exchange.FuturesDepth, "symbol=X", 100, 1000}, {exchange.FuturesTrades, "symbol=X", 500, 1000},
		{exchange.FuturesCandles, "symbol=X&interval=1m", 500, 1500}, {exchange.FuturesPositionsHistory, "", 30, 1000},
		{exchange.SpotDepth, "symbol=X", 100, 100}, {exchange.SpotTrades, "symbol=X", 500, 1000},
		{exchange.SpotCandles, "symbol=X&interval=1m&startTime=0&endTime=1", 100, 500},
		{exchange.SpotOrderHistory, "", 500, 1000}, {exchange.SpotUserTrades, "", 500, 1000},
	} {
		for added, want := range map[string]int{"": c.normal, "&limit=100000": c.above, "&limit=" + strings.Repeat("9", 30): c.above, "&limit=10": 10} {
			query, err := url.ParseQuery(c.query + added)
			if err != nil {
				t.Fatal(err)
			}
			if request, err := DecodeRequest(c.operation, "", query, nil, testTable(t)); err != nil || request.Limit != want {
				t.Errorf("%s%s: want %d, have %d, %v", c.operation, added, want, request.Limit, err)
			}
		}
	}
}

func TestRefusalsAreEncodedAsTheInterfacesErrorBody(t *testing.T) {
	t.Parallel()
	body := EncodeRefusal(&exchange.Refusal{Operation: exchange.SpotPlace, Status: 400, Code: 118, Message: `symbol "X" is unknown`})
	sameJSON(t, []byte(`{"code": 118, "error": "symbol \"X\" is unknown"}`), body)
	if !json.Valid(body) {
		t.Errorf("not JSON: %s", body)
	}
}

func TestIntegersMayBeWrittenAsDecimals(t *testing.T) {
	t.Parallel()
	symbols := testTable(t)
	history, err := DecodeRequest(exchange.FuturesPositionsHistory, "", url.Values{"limit": {"30.0"}, "offset": {"1e1"}, "startTime": {"1700000000.0"}}, nil,
		symbols)
	if err != nil || history.Limit != 30 || history.Offset != 10 || history.StartMS != 1_700_000_000_000 {
		t.Errorf("want 30, 10 and the time, have %+v, %v", history, err)
	}
	cancel, err := DecodeRequest(exchange.FuturesCancel, "", nil, []byte("\xef\xbb\xbf"+` {"id":12.0}`), symbols)
	if err != nil || cancel.OrderID != 12 {
		t.Errorf("want order 12, with a byte order mark too; have %+v, %v", cancel, err)
	}
}
