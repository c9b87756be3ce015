package wire

import (
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// TestOnlyUnreadableRowIsSetAside covers exactly-once.md, case 43.
func TestOnlyUnreadableRowIsSetAside(t *testing.T) {
	t.Parallel()
	const spot = `[{"id":7,"symbol":"BTC-USDT","side":"BUY","type":"LIMIT","quantity":0.5,"price":100,"filled":0.1,"status":"NEW","clientOrderId":"bmain-1-1"},
		{"id":8,"symbol":"BTC-USDT","side":"BUY","type":"LIMIT","quantity":0.5,"price":100,"filled":0.3,"status":"EXECUTED","clientOrderId":"bmain-1-2"}]`
	const futures = `[{"id":7,"symbol":"BTC-USDT","side":"BUY","type":"LIMIT","quantity":"0.5","price":"100","filled":"0.1","status":"NEW",
		"client_order_id":"bmain-1-1"},{"id":"8","symbol":"BTC-USDT","side":"SELL","type":"TRAILING_STOP_MARKET","quantity":"0.5","filled":"0.3","status":"NEW",
		"client_order_id":"bmain-1-2"}]`
	for operation, body := range map[exchange.Operation]string{
		exchange.SpotOpenOrders: spot, exchange.SpotOrderHistory: spot, exchange.FuturesOpenOrders: futures, exchange.FuturesCancelAll: futures,
	} {
		answer, err := decode(t, goldenRequest(operation), 200, body)
		if err != nil || len(answer.Orders.Items()) != 1 || answer.Orders.Items()[0].ID != 7 || len(answer.Unreadable) != 1 {
			t.Errorf("%s: want one order and one row set aside, have %+v and %+v, %v", operation, answer.Orders, answer.Unreadable, err)
			continue
		}
		row := answer.Unreadable[0]
		symbol, _ := testTable(t).Symbol(exchange.SymbolKey{Market: operation.Market(), Name: "BTC-USDT"})
		filled, _ := symbol.Quantity(decimal.RequireFromString("0.3"))
		if row.ID != 8 || row.Symbol != "BTC-USDT" || row.ClientOrderID != "bmain-1-2" || !row.FilledRead || row.Filled != filled {
			t.Errorf("%s: want what can be read of the row, have %+v", operation, row)
		}
		if !strings.Contains(row.Reason, "EXECUTED") && !strings.Contains(row.Reason, "TRAILING_STOP_MARKET") || !strings.Contains(row.Raw, "bmain-1-2") {
			t.Errorf("%s: want the cause and the text, have %+v", operation, row)
		}
	}
}

func TestRowsOfEveryOwnListAreReadOneByOne(t *testing.T) {
	t.Parallel()
	for operation, body := range map[exchange.Operation]string{
		exchange.FuturesOpenPositions:    `[{"id":1,"symbol":"BTC-USDT","side":"BOTH","entryPrice":"1","quantity":"1","remainingQty":"1"}, {"id":{}}, 5]`,
		exchange.FuturesPositionsHistory: `[{"id":1,"symbol":"BTC-USDT","side":"LONG","entryPrice":"x","quantity":"1","remainingQty":"1"}, [], null]`,
		exchange.FuturesLeverages:        `[{"symbol":"BTC-USDT","leverage":0}, {"symbol":5,"leverage":10}, "x"]`,
		exchange.FuturesMarginLevels:     `[{"symbol":"BTC-USDT","max":"1","marginRatio":"0.1","maxLeverage":0}, {}, 1]`,
		exchange.SpotUserTrades:          `[{"id":1,"symbol":"BTC-USDT","order_id":0,"price":"1","qty":"1"}, {"qty":"1.00000000001"}, true]`,
		exchange.SpotWallet:              `{"wallets":[{"asset":"BTC","balance":"x","frozen":"0"}, {"asset":"ETH","balance":"1"}, 1]}`,
	} {
		answer, err := decode(t, goldenRequest(operation), 200, body)
		if err != nil || len(answer.Unreadable) != 3 {
			t.Errorf("%s: want three rows set aside, have %+v, %v", operation, answer.Unreadable, err)
		}
		for _, row := range answer.Unreadable {
			if row.Reason == "" || row.Raw == "" {
				t.Errorf("%s: want a cause and the text, have %+v", operation, row)
			}
		}
	}
}

func TestUnreadableRowTextIsShortAndPrintable(t *testing.T) {
	t.Parallel()
	body := `[{"id":1,"symbol":"` + strings.Repeat("x", 5_000) + `","client_order_id":"a\u0007b","note":"\u001b[31m` + "\x01" + `"}]`
	answer, err := decode(t, goldenRequest(exchange.FuturesOpenOrders), 200, strings.ReplaceAll(body, "\x01", ""))
	if err != nil || len(answer.Unreadable) != 1 {
		t.Fatalf("want one row set aside, have %+v, %v", answer.Unreadable, err)
	}
	row := answer.Unreadable[0]
	if len(row.Raw) > 300 || len(row.Reason) > 300 || row.Symbol != "" || row.ClientOrderID != "" || strings.ContainsAny(row.Raw+row.Reason, "\x07\x1b\n") {
		t.Errorf("want it clipped, and names that are none left out; have %d and %d bytes, %+v", len(row.Raw), len(row.Reason), row)
	}
}

func TestFloatNoiseIsRoundedToTick(t *testing.T) {
	t.Parallel()
	symbol, _ := testTable(t).Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"})
	scale := symbol.QuantityDecimal(1)
	for _, c := range []struct {
		text    string
		profile *Profile
		read    bool
	}{
		{"0.9970000000000002", nil, true}, {"0.9969999999999999", nil, true}, {"0.30000000000000004", nil, true}, {"0.9974", nil, false},
		{"0.0040000000000002", nil, true}, {"0.0039999999999998", nil, true}, {"0.0040000002", nil, false}, {"0.0041000000000002", nil, false},
		{"0.9974", &Profile{HalfTick: true}, true}, {"0.9975", &Profile{HalfTick: true}, false},
	} {
		var n number
		if err := n.UnmarshalJSON([]byte(c.text)); err != nil {
			t.Fatal(err)
		}
		r := reader{symbol: symbol, profile: c.profile}
		have := r.quantity("filled", n)
		near := symbol.QuantityDecimal(have).Sub(n.Decimal).Abs().LessThan(scale)
		if (r.err == nil) != c.read || c.read && !near {
			t.Errorf("%s (%+v): want read %v, have %s, %v", c.text, c.profile, c.read, symbol.QuantityDecimal(have), r.err)
		}
	}
}

// A purchase without an id is recognized by its amount (seed 970012105).
func TestFloatNoiseIsRemovedFromTheAmountOfAnOrder(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"35.0016800000000002": "35.00168", "35.0016799999999998": "35.00168", "12345.670000000002": "12345.67", "35.00168": "35.00168",
		"35.0016800002": "35.0016800002", "12345.6700000021": "12345.6700000021",
	} {
		body := `[{"id":1,"symbol":"BTC-USDT","side":"BUY","type":"MARKET","quantity":` + text + `,"price":0,"filled":0,"avgPrice":0,"status":"NEW"}]`
		answer, err := decode(t, goldenRequest(exchange.SpotOpenOrders), 200, body)
		if err != nil || len(answer.Orders.Items()) != 1 {
			t.Fatalf("%s: want one order, have %+v, %v", text, answer.Orders, err)
		}
		if have := answer.Orders.Items()[0].QuoteAmount.String(); have != want {
			t.Errorf("%s: want %s, have %s", text, want, have)
		}
	}
}

func TestProfileDefinesNullsAndStatusWords(t *testing.T) {
	t.Parallel()
	profile := &Profile{NullLists: true, StatusWords: map[exchange.Market]map[string]exchange.OrderStatus{
		exchange.Spot: {"EXECUTED": exchange.StatusFilled}}}
	for operation, body := range map[exchange.Operation]string{exchange.FuturesOpenOrders: "null", exchange.FuturesOpenPositions: " NULL ",
		exchange.SpotOpenOrders: "null", exchange.SpotWallet: `{"wallets":null}`, exchange.SpotUserTrades: "null",
		exchange.SpotOrderHistory: `{"data":null}`, exchange.SpotCandles: `{"data":null}`, exchange.SpotTickers: `{"tickers":null}`,
		exchange.FuturesDepth: `{"lastUpdateId":1,"bids":null,"asks":[]}`} {
		if _, err := profile.DecodeAnswer(goldenRequest(operation), HTTPResponse{Status: 200, Body: []byte(body)}, testTable(t)); err != nil {
			t.Errorf("%s: want an empty list, have %v", operation, err)
		}
		if _, err := decode(t, goldenRequest(operation), 200, body); err == nil {
			t.Errorf("%s: without a profile null is no list", operation)
		}
	}
	const order = `[{"id":8,"symbol":"BTC-USDT","side":"BUY","type":"LIMIT","quantity":0.5,"price":100,"filled":0.5,"status":"EXECUTED","clientOrderId":"x"}]`
	answer, err := profile.DecodeAnswer(goldenRequest(exchange.SpotOpenOrders), HTTPResponse{Status: 200, Body: []byte(order)}, testTable(t))
	if err != nil || len(answer.Orders.Items()) != 1 || answer.Orders.Items()[0].Status != exchange.StatusFilled {
		t.Errorf("want EXECUTED read as FILLED, have %+v, %v", answer, err)
	}
}
