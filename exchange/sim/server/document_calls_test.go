package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/internal/openapi"
)

// Symbols of the document's test, besides the built-in ones, and their special property.
const (
	idleSymbol   = "IDLE-USDT"   // isTrade is false
	reduceSymbol = "REDUCE-USDT" // isReduceOnly is true
	uncancelable = "LASTS-USDT"  // isCancelOrder is false
	blankSymbol  = "BLANK-USDT"  // no price yet
)

func specialSymbols(t testing.TB) []*exchange.Symbol {
	t.Helper()
	all := sim.DefaultSymbols()
	for _, name := range []string{idleSymbol, reduceSymbol, uncancelable, blankSymbol} {
		for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
			symbol, err := exchange.NewSymbol(exchange.SymbolSpec{
				Market: market, Name: name, Base: strings.TrimSuffix(name, "-USDT"), Quote: "USDT", PriceTick: decimal.New(1, -2),
				QuantityTick: decimal.New(1, -2),
				MinNotional:  decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000_000), FundingIntervalHours: 8, Brackets: sim.DefaultBrackets(),
				Tradable: name != idleSymbol, ReduceOnly: name == reduceSymbol && market == exchange.Futures, Cancelable: name != uncancelable,
			})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, symbol)
		}
	}
	return all
}

// visitor calls the real server as the document describes.
type visitor struct {
	*trader
	*document
}

func visit(t testing.TB, d *document, adjust func(*Config)) (*Server, *visitor) {
	x, err := sim.New(sim.Config{Symbols: specialSymbols(t), StartMS: manualStartMS, OrderDelayMS: sim.DefaultOrderDelayMS})
	if err != nil {
		t.Fatal(err)
	}
	x.SetMarket(exchange.SymbolKey{Market: exchange.Futures, Name: blankSymbol}, sim.Fed())
	s, c := startServer(t, func(config *Config) {
		config.Exchange = x
		if adjust != nil {
			adjust(config)
		}
	})
	return s, &visitor{c, d}
}

// ask calls an operation with a query or a body and checks the answer.
func (v *visitor) ask(id, query, body string) answer {
	v.trader.t.Helper()
	method, target := v.target(id, query)
	header := http.Header(nil)
	if signed(v.Operations[id]) {
		header = v.sign(method, target, body, v.nowMS())
	}
	a := v.send(method, target, body, header)
	v.answered(id, a)
	return a
}

// target returns an operation's method and path. A query that starts with a slash is the path's last part.
func (v *visitor) target(id, query string) (method, target string) {
	o := v.Operations[id]
	target = strings.Replace(o.Path, "{symbol}", "BTC-USDT", 1)
	if name, isPath := strings.CutPrefix(query, "/"); isPath {
		return o.Method, strings.Replace(o.Path, "{symbol}", name, 1)
	}
	if query != "" {
		target += "?" + query
	}
	return o.Method, target
}

// good expects success, checks the request against the document, and records it.
func (v *visitor) good(id, query, body string) answer {
	v.trader.t.Helper()
	o := v.Operations[id]
	if body != "" {
		at, schema := v.Body(o)
		if schema == nil {
			v.trader.t.Fatalf("%s takes no body", id)
		}
		v.Check(id+" body", at, []byte(body))
	}
	values, err := url.ParseQuery(strings.TrimPrefix(query, "/"))
	if err != nil {
		v.trader.t.Fatal(err)
	}
	for name := range values {
		if _, known := o.Parameters[name]; !known && !strings.HasPrefix(query, "/") {
			v.trader.t.Errorf("%s: the document has no parameter %s", id, name)
		}
		o.Parameters[name] = true
	}
	if strings.Contains(o.Path, "{symbol}") {
		o.Parameters["symbol"] = true
	}
	a := v.ask(id, query, body)
	if a.status != 200 && a.status != 201 {
		v.trader.t.Errorf("%s %s %s: want success, have %d %s", id, query, body, a.status, a.body)
	}
	return a
}

// bad expects a refusal with a code.
func (v *visitor) bad(code int, id, query, body string) {
	v.trader.t.Helper()
	v.ask(id, query, body).wantRefusal(v.trader.t, 400, code)
}

// TestServerMatchesItsDocument drives a real server through every operation, parameter, field,
// status and error code of the document, and allows nothing else.
func TestServerMatchesItsDocument(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	_, v := visit(t, d, nil)
	v.goPublic()
	v.goFutures()
	v.goSpot()
	v.goControl()
	v.goRefusals()
	v.goFull()
	v.goOutside()
	visitReplaced(t, d)
	visitBudget(t, d)
	visitFailure(t, d)
	for _, line := range d.Unseen() {
		t.Error(line)
	}
	for code, seen := range d.codes {
		if !seen {
			t.Errorf("no answer had code %d", code)
		}
	}
}

func (v *visitor) goPublic() {
	for id, o := range v.Operations {
		if strings.HasSuffix(o.Tag, "public") && len(o.List("parameters")) == 0 {
			v.good(id, "", "")
		}
	}
	v.good("document", "", "")
	v.good("index", "", "")
	v.good("document30", "", "")
	for _, id := range []string{"futures_ticker", "futures_funding_rate", "futures_symbol_margin_levels", "spot_ticker"} {
		v.good(id, "/PEPE-USDT", "")
	}
	const span = "&startTime=1767225540000&endTime=1767225600000"
	v.good("futures_depth", "symbol=BTC-USDT&limit=1000", "")
	v.good("spot_depth", "symbol=PEPE-USDT&limit=5", "")
	v.good("futures_candles", "symbol=BTC-USDT&interval=1m&limit=9"+span, "")
	v.good("spot_candles", "symbol=BTC-USDT&interval=1d&limit=9&offset=1"+span, "")
}

// order builds the body of an order: fields as "name=value", strings except for true and numbers.
func order(symbol, side, kind string, fields ...string) string {
	all := map[string]any{"symbol": symbol, "side": side, "type": kind}
	for _, field := range fields {
		name, value, _ := strings.Cut(field, "=")
		all[name] = value
		if value == "true" {
			all[name] = true
		}
	}
	body, err := json.Marshal(all)
	if err != nil {
		panic(err) // strings and booleans always marshal
	}
	return string(body)
}

func (v *visitor) goFutures() {
	place := func(kind string, side string, fields ...string) (placed struct{ ID int64 }) {
		v.good("futures_place", "", order("BTC-USDT", side, kind, fields...)).read(v.trader.t, &placed)
		v.advance(5)
		return placed
	}
	v.good("futures_set_leverage", "", `{"symbol":"BTC-USDT","leverage":20}`)
	if a := v.good("futures_cancel_all", "", "{}"); a.body != "NULL" {
		v.trader.t.Errorf("nothing to cancel: want NULL, have %s", a.body)
	}
	place("MARKET", "BUY", "qt=0.01")
	first := place("LIMIT", "BUY", "qt=0.01", "price=40000", "postOnly=true", "client_order_id=mine")
	place("STOP_MARKET", "SELL", "stopPrice=45000", "workingType=MARK_PRICE", "closePosition=true")
	place("TAKE_PROFIT_LIMIT", "SELL", "stopPrice=60000", "price=60000", "workingType=CONTRACT_PRICE", "reduceOnly=true", "qt=0.005")
	place("LIMIT", "BUY", "qt=0.01", "price=60000", "postOnly=true") // REJECTED
	for _, id := range []string{"futures_leverages", "futures_account"} {
		v.good(id, "", "")
	}
	v.good("futures_order", fmt.Sprint("order_id=", first.ID), "")
	v.good("futures_open_orders", "", `{"symbol":"BTC-USDT"}`)
	v.good("futures_open_positions", "", "{}")
	v.good("futures_trades", "symbol=BTC-USDT&limit=5", "")
	v.good("futures_cancel", "", fmt.Sprintf(`{"id":%d}`, first.ID))
	v.good("futures_cancel_all", "", "{}")
	v.advance(5)
	place("MARKET", "SELL", "qt=0.01", "reduceOnly=true")
	v.good("futures_positions_history", "limit=9&offset=0&symbol=BTC-USDT&side=LONG&startTime=1767225600&endTime=1767226000", "")
}

func (v *visitor) goSpot() {
	place := func(kind string, side string, fields ...string) (placed struct{ ID int64 }) {
		v.good("spot_place", "", order("BTC-USDT", side, kind, fields...)).read(v.trader.t, &placed)
		v.advance(5)
		return placed
	}
	place("MARKET", "BUY", "qt=500", "clientOrderId=mine")
	place("LIMIT", "BUY", "qt=0.001", "price=40000")
	stop := place("STOP_LIMIT", "SELL", "qt=0.001", "price=40000", "stopPrice=41000")
	v.good("spot_open_orders", "symbol=BTC-USDT", "")
	v.good("spot_order_history", "symbol=BTC-USDT&side=BUY&type=LIMIT&startTime=1767225600000&endTime=1767229200000&limit=9&offset=0", "")
	v.good("spot_user_trades", "symbol=BTC-USDT&order_id=0&limit=9&offset=0", "")
	v.good("spot_trades", "symbol=BTC-USDT&limit=9", "")
	v.good("spot_wallet", "", "")
	v.good("spot_cancel", "", fmt.Sprintf(`{"orderId":%d,"symbol":"BTC-USDT"}`, stop.ID))
	v.good("spot_cancel_all", "", `{"symbol":"BTC-USDT"}`)
	v.advance(5)
}

func (v *visitor) goControl() {
	v.good("control_price", "", `{"market":"futures","symbol":"ETH-USDT","price":"2600","mark":2601}`)
	v.good("control_symbol", "", `{"market":"spot","symbol":"PEPE-USDT","delisted":true}`)
	v.good("control_symbol", "", `{"market":"spot","symbol":"PEPE-USDT","delisted":false}`)
	v.good("control_clock", "", `{"advance_ms":1000}`)
	v.good("control_add_fault", "", `{"match":"POST /hapi/v1/spot/order","kind":"hide","delay_ms":5,"count":2,"probability":0.5,"seed":7}`)
	v.good("control_add_fault", "", `{"match":"GET /fapi/v1/ping","kind":"status","status":418}`)
	v.good("control_faults", "", "")
	v.good("control_clear_faults", "", "")
	v.good("control_orders", "", "")
	v.good("control_orders", "offset=1&limit=1", "")
	v.good("control_add_fault", "", `{"match":"GET /fapi/v1/ping","kind":"status","status":418,"count":1}`)
	v.send("GET", "/fapi/v1/ping", "", nil).want(v.trader.t, 418)
	v.good("control_requests", "match=GET+/fapi/*&account=KEY&status=200&after=3&limit=5", "")
	v.good("control_requests", "", "")
	v.good("control_deposit", "", `{"account":"KEY","market":"spot","asset":"BTC","amount":"0.5"}`)
	v.good("control_deposit", "", `{"account":"KEY","market":"futures","amount":-5}`)
	v.good("control_account", "", `{"key":"NEW","secret":"S","read_only":true,"futures":"5","spot":{"BTC":1}}`)
	v.bad(1000, "control_restore", "", v.good("control_state", "", "").body) // the server did not build it
	v.bad(1000, "control_reset", "", "")
	v.bad(1000, "control_requests", "match=GET+/nowhere", "")
	v.bad(1000, "control_orders", "limit=-1", "")
	v.bad(1000, "control_account", "", `{"key":"KEY","secret":"S"}`)
	v.bad(1000, "control_deposit", "", `{"account":"KEY","market":"futures","amount":-50000}`)
	v.bad(1000, "control_symbol", "", `{"market":"futures","symbol":"NO-USDT","delisted":true}`)
	v.bad(1000, "control_price", "", `{"market":"futures","symbol":"NO-USDT","price":"1"}`)
}

// goRefusals breaks every rule of an order, a cancel or a parameter.
func (v *visitor) goRefusals() {
	const btc, far, near = "BTC-USDT", "price=40000", "qt=0.01"
	v.good("futures_place", "", order(btc, "BUY", "MARKET", near))
	v.advance(5)
	v.good("futures_place", "", order(btc, "SELL", "STOP_MARKET", "stopPrice=45000", "workingType=MARK_PRICE", "closePosition=true"))
	v.good("futures_place", "", order(btc, "SELL", "LIMIT", "price=60000", "qt=0.01", "reduceOnly=true"))
	v.advance(5)
	for _, c := range []struct {
		code int
		body string
	}{
		{1000, `[]`}, {1000, `{"symbol":"BTC-USDT","symbol":"ETH-USDT"}`}, {1000, `{"symbol":"BTC-USDT"} {}`}, {1000, `{"symbol":"BTC-USDT",}`},
		{1118, order("NO-USDT", "BUY", "MARKET", near)}, {2000, order(btc, "BUY", "LIMIT", near, far, "workingType=NONE")},
		{2001, order(btc, "HOLD", "MARKET", near)}, {2002, order(btc, "BUY", "TRAILING", near)},
		{2003, order(idleSymbol, "BUY", "MARKET", "qt=1")}, {2004, order(reduceSymbol, "BUY", "MARKET", "qt=1")},
		{2005, order(btc, "BUY", "MARKET", "qt=0")}, {2006, order(btc, "BUY", "MARKET", "qt=0.0101")},
		{2007, order(btc, "BUY", "LIMIT", near)}, {2008, order(btc, "BUY", "MARKET", near, far)}, {2009, order(btc, "BUY", "LIMIT", near, "price=40000.01")},
		{2010, order(btc, "BUY", "STOP_MARKET", near, "workingType=MARK_PRICE")}, {2011, order(btc, "BUY", "MARKET", near, "stopPrice=1")},
		{2012, order(btc, "BUY", "STOP_MARKET", near, "stopPrice=60000.01", "workingType=MARK_PRICE")},
		{2013, order(btc, "BUY", "STOP_MARKET", near, "stopPrice=50000", "workingType=MARK_PRICE")},
		{2014, order(btc, "BUY", "STOP_MARKET", near, "stopPrice=60000")}, {2015, order(btc, "BUY", "MARKET", near, "workingType=MARK_PRICE")},
		{2016, order(btc, "BUY", "LIMIT", "qt=0.001", "price=1000")}, {2017, order(btc, "BUY", "LIMIT", "qt=1000", far)},
		{2018, order(btc, "BUY", "MARKET", near, "postOnly=true")},
		{2019, order(btc, "SELL", "STOP_MARKET", near, "stopPrice=40000", "workingType=MARK_PRICE", "reduceOnly=true", "closePosition=true")},
		{2020, order("ETH-USDT", "SELL", "MARKET", "qt=1", "reduceOnly=true")}, {2021, order(btc, "BUY", "MARKET", near, "reduceOnly=true")},
		{2022, order(btc, "SELL", "LIMIT", "qt=0.02", "price=60000", "reduceOnly=true")},
		{2023, order(btc, "SELL", "LIMIT", near, "price=60000", "reduceOnly=true")},
		{2024, order(btc, "SELL", "STOP_LIMIT", far, "stopPrice=40000", "workingType=MARK_PRICE", "closePosition=true")},
		{2025, order(btc, "SELL", "TAKE_PROFIT_MARKET", near, "stopPrice=60000", "workingType=MARK_PRICE", "closePosition=true")},
		{2026, order(btc, "SELL", "STOP_MARKET", "stopPrice=44000", "workingType=MARK_PRICE", "closePosition=true")},
		{2027, order(btc, "SELL", "TAKE_PROFIT_MARKET", "stopPrice=44000", "workingType=MARK_PRICE", "closePosition=true")},
		{2028, order(btc, "SELL", "LIMIT", near, "price=60000")}, {2029, order(btc, "BUY", "LIMIT", "qt=24", far)},
		{2036, order(blankSymbol, "BUY", "MARKET", "qt=1")}, {2038, order(btc, "BUY", "LIMIT", near, far, "client_order_id="+strings.Repeat("x", 257))},
	} {
		v.bad(c.code, "futures_place", "", c.body)
	}
	v.bad(118, "spot_place", "", order("NO-USDT", "BUY", "MARKET", "qt=10"))
	v.bad(2030, "spot_place", "", order(btc, "SELL", "LIMIT", "qt=9", "price=60000"))
	v.bad(2031, "futures_cancel", "", `{"id":999999}`)
	v.bad(2031, "futures_order", "order_id=999999", "")
	v.bad(2032, "futures_cancel", "", `{"id":1}`)
	v.bad(2034, "futures_set_leverage", "", `{"symbol":"BTC-USDT","leverage":51}`)
	var placed struct{ ID int64 }
	v.good("futures_place", "", order(uncancelable, "BUY", "LIMIT", "qt=1", "price=50")).read(v.trader.t, &placed)
	v.bad(2033, "futures_cancel", "", fmt.Sprintf(`{"id":%d}`, placed.ID))
	v.good("futures_set_leverage", "", `{"symbol":"ETH-USDT","leverage":50}`)
	v.good("futures_place", "", order("ETH-USDT", "BUY", "LIMIT", "qt=100", "price=2500"))
	v.bad(2035, "futures_set_leverage", "", `{"symbol":"ETH-USDT","leverage":1}`)
	for _, query := range []string{"symbol=BTC-USDT&limit=0", "symbol=BTC-USDT&limit=7"} {
		v.bad(2000, "spot_depth", query, "")
	}
	for _, query := range []string{"", "symbol=BTC-USDT&symbol=ETH-USDT", "symbol=BTC-USDT&limit=1&limit=2", "symbol=%zz", "symbol=BTC-USDT;limit=1",
		"symbol=BTC-USDT&limit=many"} {
		v.bad(1000, "futures_depth", query, "")
	}
}

// goFull fills an account's list of open orders.
func (v *visitor) goFull() {
	s := newServer(v.trader.t, nil)
	request := exchange.Request{Operation: exchange.FuturesPlace, Order: exchange.NewOrder{
		Market: exchange.Futures, Symbol: "PEPE-USDT", Side: exchange.Buy, Type: exchange.Limit, Quantity: 600_000,
	}}
	symbol := s.exchange.Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: "PEPE-USDT"})
	price, err := symbol.Price(decimal.New(1, -5))
	if err != nil {
		v.trader.t.Fatal(err)
	}
	request.Order.Price = price - symbol.PriceTick
	for range sim.MaxOpenOrders {
		if _, err := s.exchange.Do(testKey, &request); err != nil {
			v.trader.t.Fatal(err)
		}
	}
	_, err = s.exchange.Do(testKey, &request)
	var refusal *exchange.Refusal
	if !errors.As(err, &refusal) || refusal.Code != sim.CodeTooManyOrders {
		v.trader.t.Errorf("want too many orders, have %v", err)
	}
	v.codes[sim.CodeTooManyOrders] = true
}

// goOutside sends wrong requests to every operation: too large a body, a wrong signature, key and time, a key
// without permission, and injected failures.
func (v *visitor) goOutside() {
	large := strings.Repeat(" ", maxBody+1)
	for id, o := range v.Operations {
		method, target := v.target(id, "")
		body := ""
		if method == http.MethodPost {
			body = "{}"
		}
		header := http.Header(nil)
		if signed(o) {
			header = v.sign(method, target, large, v.nowMS())
		}
		a := v.send(method, target, large, header)
		v.answered(id, a)
		a.wantRefusal(v.trader.t, 400, 1000)
		if signed(o) {
			v.goUnauthorized(id, method, target, body)
		}
		if o.Tag == "control" {
			v.goForeign(id, method, target, body)
		}
		if !traded(o) {
			continue
		}
		for _, status := range []int{500, 503} {
			v.control("POST", "/control/v1/faults", fmt.Sprintf(`{"match":"%s %s","kind":"status","status":%d,"count":1}`, method, target, status))
			v.ask(id, "", body).wantRefusal(v.trader.t, status, status)
		}
	}
	v.goWrong()
}

func (v *visitor) goUnauthorized(id, method, target, body string) {
	wrong := v.sign(method, target, body, v.nowMS())
	wrong.Set("x-signature", strings.Repeat("0", 64))
	for code, header := range map[int]http.Header{
		-2008: nil, -1022: wrong, -1021: v.sign(method, target, body, v.nowMS()-5001),
	} {
		a := v.send(method, target, body, header)
		v.answered(id, a)
		a.wantRefusal(v.trader.t, 401, code)
	}
	reader := *v.trader
	reader.key, reader.secret = readKey, readSecret
	v.answered(id, reader.call(method, target, body)) // 403 if it changes something
}

// traded reports whether an operation is the interface's own.
func traded(o *openapi.Operation) bool { return o.Tag != "control" && o.Tag != "document" }

// goForeign calls a control operation under a host name that is not this machine's.
func (v *visitor) goForeign(id, method, target, body string) {
	request, err := http.NewRequest(method, v.url+target, strings.NewReader(body))
	if err != nil {
		v.trader.t.Fatal(err)
	}
	request.Host = "example.com"
	a := v.do(request)
	v.answered(id, a)
	a.wantRefusal(v.trader.t, 403, 403)
}

// goWrong requests paths and methods that are not in the document.
func (v *visitor) goWrong() {
	const responses = "/components/responses/"
	for _, path := range []string{"/fapi/v1", "/fapi/v1/time/", "//fapi/v1/time", "/fapi/v1/ticker/", "/fapi/v1/ticker/A/B", "/fapi/v2/time",
		"/control/v1/", "/openapi.json/"} {
		a := v.send("GET", path, "", nil)
		v.reply("GET "+path, responses+"UnknownPath", a)
		a.wantRefusal(v.trader.t, 404, 404)
	}
	methods := map[string][]string{}
	for _, o := range v.Operations {
		methods[o.Path] = append(methods[o.Path], o.Method)
	}
	for path, allowed := range methods {
		slices.Sort(allowed)
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE"} {
			if slices.Contains(allowed, method) {
				continue
			}
			a := v.send(method, strings.Replace(path, "{symbol}", "BTC-USDT", 1), "", nil)
			if method == "HEAD" { // HEAD has no body
				a.want(v.trader.t, 405)
			} else {
				v.reply(method+" "+path, responses+"WrongMethod", a)
				a.wantRefusal(v.trader.t, 405, 405)
			}
			if want, have := strings.Join(allowed, ", "), a.header.Get("Allow"); want != have {
				v.trader.t.Errorf("%s %s: want Allow %q, have %q", method, path, want, have)
			}
		}
	}
}

// visitBudget spends the budget.
func visitBudget(t *testing.T, d *document) {
	_, v := visit(t, d, func(config *Config) { config.Budget = 1 })
	for id, o := range d.Operations {
		if !traded(o) {
			continue
		}
		for a := v.ask(id, "", ""); a.status != 429; a = v.ask(id, "", "") {
		}
	}
}

// visitFailure makes the state file fail: a change that cannot be stored is not answered.
func visitFailure(t *testing.T, d *document) {
	path := filepath.Join(t.TempDir(), "state")
	s, c := startServer(t, withState(path))
	v := &visitor{c, d}
	if err := errors.Join(s.state.file.Close(), os.Mkdir(path+newSuffix, 0o700)); err != nil { // neither can be written
		t.Fatal(err)
	}
	defer os.Remove(path + newSuffix)
	v.ask("futures_place", "", buyMarket).wantRefusal(t, 500, 500)
	for id, body := range map[string]string{
		"control_symbol": `{"market":"futures","symbol":"BTC-USDT","delisted":false}`,
		"control_orders": "", "control_clock": `{"advance_ms":1}`, "control_price": `{"market":"futures","symbol":"BTC-USDT","price":"1"}`,
		"futures_account": "", "spot_wallet": "", "control_deposit": `{"account":"KEY","market":"futures","amount":1}`,
		"control_account": `{"key":"LATE","secret":"S"}`,
	} {
		v.ask(id, "", body).wantRefusal(t, 500, 500)
	}
}
