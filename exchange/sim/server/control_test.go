package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/wire"
	"botd/internal/pipe"
)

func TestASetPriceTriggersConditionalOrders(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	c.place(buyMarket)
	c.advance(5)
	stop := c.place(
		`{"symbol":"BTC-USDT","side":"SELL","type":"STOP_MARKET","stopPrice":"45000","workingType":"CONTRACT_PRICE","closePosition":true}`,
	)
	c.advance(5)
	c.control("POST", "/control/v1/price", `{"market":"futures","symbol":"BTC-USDT","price":"44000.5"}`)
	var ticker struct{ LastPrice string }
	c.send("GET", "/fapi/v1/ticker/BTC-USDT", "", nil).read(t, &ticker)
	if ticker.LastPrice != "44000.5" {
		t.Errorf("want 44000.5, have %q", ticker.LastPrice)
	}
	c.advance(5)
	var order placed
	c.call("GET", fmt.Sprint("/fhapi/v1/order?order_id=", stop.ID), "").read(t, &order)
	if order.Status != "FILLED" {
		t.Errorf("want the stop FILLED, have %+v", order)
	}
	c.control("POST", "/control/v1/price", `{"market":"spot","symbol":"PEPE-USDT","price":1e-05}`)
}

func TestADelistedSymbolIsInNoListAndItsCallsAreRefused(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	c.place(`{"symbol":"BTC-USDT","side":"BUY","type":"MARKET","qt":"0.01"}`)
	c.advance(5)
	delist := func(delisted string) {
		c.control("POST", "/control/v1/symbol", `{"market":"futures","symbol":"BTC-USDT","delisted":`+delisted+`}`)
	}
	delist("true")
	c.send("GET", "/fapi/v1/ticker/BTC-USDT", "", nil).wantRefusal(t, 400, exchange.CodeFuturesInvalidSymbol)
	c.send("GET", "/fapi/v1/ticker/ETH-USDT", "", nil).want(t, 200)
	c.call("GET", "/fhapi/v1/order?order_id=1", "").wantRefusal(t, 400, exchange.CodeFuturesInvalidSymbol)
	var symbols []struct{ Symbol string }
	c.send("GET", "/fapi/v1/symbols", "", nil).read(t, &symbols)
	if len(symbols) != 3 {
		t.Errorf("want three of four symbols, have %v", symbols)
	}
	for path, want := range map[string]int{"/fapi/v1/ticker": 3, "/fapi/v1/margin-levels": 12, "/api/v1/spot/public/pairs": 4} {
		var list []struct{ Symbol string }
		c.send("GET", path, "", nil).read(t, &list)
		if len(list) != want {
			t.Errorf("%s: want %d, have %v", path, want, list)
		}
		for _, one := range list {
			if one.Symbol == "BTC-USDT" && path != "/api/v1/spot/public/pairs" {
				t.Errorf("%s: want BTC-USDT left out, have it", path)
			}
		}
	}
	var positions []struct{ Symbol string }
	if c.call("POST", "/fhapi/v1/positions/open", "{}").read(t, &positions); len(positions) != 1 {
		t.Errorf("want its position listed, have %v", positions)
	}
	delist("false")
	c.send("GET", "/fapi/v1/ticker/BTC-USDT", "", nil).want(t, 200)
	c.control("POST", "/control/v1/symbol", `{"market":"spot","symbol":"BTC-USDT","delisted":true}`)
	c.send("GET", "/api/v1/spot/public/ticker/BTC-USDT", "", nil).wantRefusal(t, 400, exchange.CodeSpotInvalidSymbol)
	for _, body := range []string{`{"market":"futures","symbol":"BTC-USDT"}`, `{"market":"futures","symbol":"NO-USDT","delisted":true}`, `{`} {
		c.send("POST", "/control/v1/symbol", body, nil).wantRefusal(t, 400, wire.CodeMalformed)
	}
}

func TestTheMarkIsThePriceUnlessSet(t *testing.T) {
	t.Parallel()
	s, c := startServer(t, nil)
	for _, p := range []struct{ body, last, mark string }{
		{`{"market":"futures","symbol":"BTC-USDT","price":60000}`, "60000", "60000"},
		{`{"market":"futures","symbol":"BTC-USDT","price":"61000","mark":"60500"}`, "61000", "60500"},
	} {
		c.control("POST", "/control/v1/price", p.body)
		s.mu.Lock()
		last, mark := s.exchange.Price(bitcoin)
		symbol := s.exchange.Symbol(bitcoin)
		s.mu.Unlock()
		if have := symbol.PriceDecimal(last).String() + " " + symbol.PriceDecimal(mark).String(); have != p.last+" "+p.mark {
			t.Errorf("%s: want %s %s, have %s", p.body, p.last, p.mark, have)
		}
	}
}

func TestAnInvalidControlCallIs400(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	for _, call := range []struct{ target, body string }{
		{"price", ``}, {"price", `{`}, {"price", `{"market":"futures","symbol":"BTC-USDT"}`},
		{"price", `{"market":"futures","symbol":"NO-SUCH","price":1}`}, {"price", `{"market":"moon","symbol":"BTC-USDT","price":1}`},
		{"price", `{"market":"futures","symbol":"BTC-USDT","price":"x"}`}, {"price", `{"market":"futures","symbol":"BTC-USDT","price":-1}`},
		{"price", `{"market":"futures","symbol":"BTC-USDT","price":0}`}, {"price", `{"market":"futures","symbol":"BTC-USDT","price":1e1000000000}`},
		{"price", `{"market":"futures","symbol":"BTC-USDT","price":50000,"mark":-1}`},
		{"clock", ``}, {"clock", `{}`}, {"clock", `{"advance_ms":-5}`}, {"clock", `{"advance_ms":1.5}`}, {"clock", `{"advance_ms":9223372036854775807}`},
		{"faults", ``}, {"faults", `{"match":"POST /fhapi/v1/order","kind":"explode"}`}, {"faults", `{"match":"POST /fhapi/v1/order","kind":"status"}`},
	} {
		a := c.send("POST", "/control/v1/"+call.target, call.body, nil)
		t.Log(call.target, call.body)
		a.wantRefusal(t, 400, wire.CodeMalformed)
	}
}

func TestARefusedPriceIsNamedAsItWasSent(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	named := map[string]string{`"price":-1`: "price -1", `"price":0`: "price 0", `"price":5,"mark":-1`: "mark -1", `"price":5,"mark":0`: "mark 0"}
	for body, want := range named {
		a := c.send("POST", "/control/v1/price", `{"market":"futures","symbol":"BTC-USDT",`+body+`}`, nil)
		if a.wantRefusal(t, 400, wire.CodeMalformed); !strings.Contains(a.body, want) {
			t.Errorf("%s: want %q named, have %s", body, want, a.body)
		}
	}
}

func TestAManualClockMovesOnlyByTheControlInterface(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	c.advance(8 * 3_600_000)
	a := c.send("GET", "/fapi/v1/time", "", nil)
	if want := fmt.Sprintf(`{"serverTime":%d}`, int64(manualStartMS+8*3_600_000)); a.body != want {
		t.Errorf("want %s, have %s", want, a.body)
	}
	_, c = startServer(t, func(config *Config) { config.Clock = Clock{} })
	c.send("POST", "/control/v1/clock", `{"advance_ms":5}`, nil).wantRefusal(t, 400, wire.CodeMalformed)
}

func TestAdvanceByZeroRunsDueWork(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	c.control("POST", "/control/v1/clock", `{"advance_ms":0}`)
	want := fmt.Sprintf(`{"serverTime":%d}`, int64(manualStartMS))
	if a := c.send("GET", "/fapi/v1/time", "", nil); a.body != want {
		t.Errorf("want %s, have %s", want, a.body)
	}
	c.control("POST", "/control/v1/clock", "\xef\xbb\xbf"+`{"advance_ms":1}`)
}

func TestRootNamesServerAndDocument(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	var index struct{ Name, Document string }
	c.send("GET", "/", "", nil).read(t, &index)
	if index.Document != documentPath || !strings.Contains(index.Name, "simulated exchange") {
		t.Errorf("want a name and %s, have %+v", documentPath, index)
	}
	c.send("POST", "/", "", nil).wantRefusal(t, 405, 405)
}

func TestControlListsEveryAccountsOrdersAndFills(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, func(config *Config) {
		config.Accounts = append(config.Accounts, Account{Key: "SECOND", Secret: testSecret})
	})
	c.place(buyMarket)
	c.key = "SECOND"
	c.call("POST", "/hapi/v1/spot/order", `{"symbol":"BTC-USDT","side":"SELL","type":"MARKET","qt":500}`).want(t, 200)
	c.place(buyBelow)
	c.advance(10)
	state := c.state()
	have := []string{}
	for _, order := range state.Orders {
		have = append(have, order.Account+" "+order.Market+" "+order.Status)
	}
	want := []string{"KEY futures FILLED", "SECOND spot FILLED", "SECOND futures OPEN"}
	if strings.Join(have, ", ") != strings.Join(want, ", ") {
		t.Errorf("want %v, have %v", want, have)
	}
	if len(state.Fills) != 2 {
		t.Fatalf("want 2 fills, have %v", state.Fills)
	}
	for _, field := range []string{"id", "account", "market", "symbol", "order_id", "side", "price", "qty", "fee", "fee_asset", "role", "time"} {
		if _, ok := state.Fills[0][field]; !ok {
			t.Errorf("want field %s in a fill, have %v", field, state.Fills[0])
		}
	}
	first := state.Fills[0]
	if first["account"] != "KEY" || first["market"] != "futures" || first["side"] != "BUY" || first["qty"] != "0.01" || first["role"] != "taker" ||
		first["fee_asset"] != "USDT" || first["time"] != float64(manualStartMS+5) {
		t.Errorf("have first fill %v", first)
	}
}

// Offset and limit apply to both lists.
func TestControlListsOrdersAndFillsInPages(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	for range 3 {
		c.place(buyMarket)
		c.advance(5)
	}
	for query, want := range map[string]string{
		"": "1 2 3", "?limit=2": "1 2", "?offset=1": "2 3", "?offset=1&limit=1": "2", "?offset=3": "", "?offset=9": "",
		"?limit=0": "1 2 3", "?limit=9": "1 2 3",
	} {
		var state struct{ Orders, Fills []struct{ ID int64 } }
		c.control("GET", "/control/v1/orders"+query, "").read(t, &state)
		orders, fills := []string{}, []string{}
		for _, one := range state.Orders {
			orders = append(orders, fmt.Sprint(one.ID))
		}
		for _, one := range state.Fills {
			fills = append(fills, fmt.Sprint(one.ID))
		}
		if strings.Join(orders, " ") != want || strings.Join(fills, " ") != want {
			t.Errorf("%q: want %q of both, have %v and %v", query, want, orders, fills)
		}
	}
	for _, query := range []string{"limit=-1", "offset=-1", "limit=x", "offset=1.5", "page=2", "%zz"} {
		c.send("GET", "/control/v1/orders?"+query, "", nil).wantRefusal(t, 400, wire.CodeMalformed)
	}
}

func TestControlCanBeDisabled(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, func(config *Config) { config.Control = false })
	c.send("GET", "/control/v1/orders", "", nil).wantRefusal(t, 404, 404)
	c.send("POST", "/control/v1/price", `{}`, nil).wantRefusal(t, 404, 404)
}

func TestControlIsRefusedOffLoopback(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	listener, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(t.Context(), listener); err == nil || !strings.Contains(err.Error(), "control") {
		t.Errorf("serve: want an error about control, have %v", err)
	}
	if err := listener.Close(); err == nil {
		t.Error("want the listener closed, have it open")
	}
	for _, c := range []struct {
		name, host, origin string
		address            net.Addr
		status             int
	}{
		{"from loopback", "127.0.0.1:8421", "", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, 200},
		{"as localhost", "localhost:8421", "", &net.TCPAddr{IP: net.IPv6loopback}, 200},
		{"in memory", "pipe", "", pipe.NewListener().Addr(), 200},
		{"as another address", "10.0.0.1:8421", "", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, 403},
		{"as a loopback address in brackets", "[::1]:8421", "", &net.TCPAddr{IP: net.IPv6loopback}, 200},
		{"from outside", "10.0.0.1", "", &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}, 403},
		{"nowhere", "127.0.0.1", "", nil, 403},
		{"a rebound name", "evil.example:8421", "", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, 403},
		{"another site's page", "127.0.0.1:8421", "https://evil.example", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, 403},
	} {
		request := httptest.NewRequest("DELETE", "/control/v1/faults", nil)
		request.Host = c.host
		if c.origin != "" {
			request.Header.Set("Origin", c.origin)
		}
		if c.address != nil {
			request = request.WithContext(context.WithValue(request.Context(), http.LocalAddrContextKey, c.address))
		}
		recorder := httptest.NewRecorder()
		s.Handler().ServeHTTP(recorder, request)
		if recorder.Code != c.status {
			t.Errorf("%s: want %d, have %d %s", c.name, c.status, recorder.Code, recorder.Body)
		}
	}
}

func TestALoopbackAddressIsReachableFromThisMachineAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		address net.Addr
		want    bool
	}{
		{&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, true}, {&net.TCPAddr{IP: net.IPv6loopback}, true}, {&net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}, false},
		{&net.TCPAddr{}, false}, {&net.UnixAddr{Name: "x"}, true}, {pipe.NewListener().Addr(), true}, {&net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}, false},
		{nil, false},
	} {
		if have := loopback(c.address); have != c.want {
			t.Errorf("%v: want %t, have %t", c.address, c.want, have)
		}
	}
}

// The fault kinds over a real socket

func (c *trader) fault(body string) {
	c.t.Helper()
	c.control("POST", "/control/v1/faults", body)
}

func TestDropRequestClosesWithoutExecuting(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	c.fault(`{"match":"POST /fhapi/v1/order","kind":"drop_request","count":1}`)
	if a := c.call("POST", "/fhapi/v1/order", buyMarket); a.err == nil {
		t.Errorf("want no answer, have %d %s", a.status, a.body)
	}
	c.wantOrders()
	c.place(buyMarket)
	c.wantOrders("one")
}

func TestDropResponseExecutesAndClosesWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	c.fault(`{"match":"POST /fhapi/v1/order","kind":"drop_response","count":1}`)
	if a := c.call("POST", "/fhapi/v1/order", buyMarket); a.err == nil {
		t.Errorf("want no answer, have %d %s", a.status, a.body)
	}
	c.wantOrders("one")
}

func TestTruncateExecutesAndSendsHalf(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	c.fault(`{"match":"POST /fhapi/v1/order","kind":"truncate","count":1}`)
	a := c.call("POST", "/fhapi/v1/order", buyMarket)
	if a.err == nil || a.status != 201 || len(a.body) == 0 || strings.HasSuffix(a.body, "}") {
		t.Errorf("want 201 and half of the body, have %d %q %v", a.status, a.body, a.err)
	}
	c.wantOrders("one")
}

func TestEmptyAnswersAnEmptyListWithoutExecuting(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	c.call("POST", "/fhapi/v1/order", buyMarket)
	c.fault(`{"match":"POST /fhapi/v1/positions/open","kind":"empty","count":1}`)
	if a := c.call("POST", "/fhapi/v1/positions/open", "{}"); a.err != nil || a.status != 200 || strings.TrimSpace(a.body) != "[]" {
		t.Errorf("want 200 and an empty list, have %d %q %v", a.status, a.body, a.err)
	}
	c.wantOrders("one")
}

func TestStatusAnswersWithoutExecuting(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	c.fault(`{"match":"POST /fhapi/v1/order","kind":"status","status":503,"count":1}`)
	c.call("POST", "/fhapi/v1/order", buyMarket).wantRefusal(t, 503, 503)
	c.wantOrders()
	c.fault(`{"match":"POST /fhapi/v1/order","kind":"status","status":429}`)
	if a := c.call("POST", "/fhapi/v1/order", buyMarket); a.status != 429 || a.header.Get("Retry-After") != "1" {
		t.Errorf("want 429 and Retry-After 1, have %d %v", a.status, a.header)
	}
	c.control("DELETE", "/control/v1/faults", "")
	c.place(buyMarket)
}

func TestDelayWaitsBeforeExecuting(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	c.fault(`{"match":"POST /fhapi/v1/order","kind":"delay","delay_ms":4000,"count":1}`)
	late := c.delayed(4000)
	late.want(t, 201)
	c.wantOrders("one")
}

func TestADelayedRequestIsAdmittedOnlyWithinItsWindow(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	c.fault(`{"match":"POST /fhapi/v1/order","kind":"delay","delay_ms":6000,"count":1}`)
	late := c.delayed(6000)
	late.wantRefusal(t, 401, exchange.CodeInvalidTimestamp)
	c.wantOrders()
}

// delayed places an order that a fault of count 1 delays, and moves the clock.
func (c *trader) delayed(delayMS int64) answer {
	c.t.Helper()
	answers := make(chan answer, 1)
	go func() { answers <- c.call("POST", "/fhapi/v1/order", buyMarket) }()
	for strings.Contains(c.control("GET", "/control/v1/faults", "").body, "delay") {
		continue // until the request has arrived and used the fault's count
	}
	select {
	case a := <-answers:
		c.t.Fatalf("want no answer before the delay, have %d %s", a.status, a.body)
	default:
	}
	c.wantOrders()
	c.advance(delayMS)
	return <-answers
}

func TestHideLeavesTheOrderOutOfListAndGetForAWhile(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	c.fault(`{"match":"POST /fhapi/v1/order","kind":"hide","delay_ms":3000,"count":1}`)
	order := c.place(buyBelow)
	seen := c.place(strings.Replace(buyBelow, "two", "seen", 1))
	get := func(id int64) answer { return c.call("GET", fmt.Sprint("/fhapi/v1/order?order_id=", id), "") }
	list := func() (ids []int64) {
		var orders []placed
		c.call("POST", "/fhapi/v1/order/open", "{}").read(t, &orders)
		for _, o := range orders {
			ids = append(ids, o.ID)
		}
		return ids
	}
	unknown := get(1 << 40)
	unknown.want(t, 400)
	for _, wait := range []int64{1000, 1999} {
		c.advance(wait)
		want := strings.Replace(unknown.body, fmt.Sprint(1<<40), fmt.Sprint(order.ID), 1)
		if a := get(order.ID); a.status != 400 || a.body != want {
			t.Errorf("want the answer to an unknown order %s, have %d %s", want, a.status, a.body)
		}
		if have := list(); len(have) != 1 || have[0] != seen.ID {
			t.Errorf("want %d alone, have %v", seen.ID, have)
		}
		c.wantOrders("two", "seen")
	}
	c.advance(1)
	get(order.ID).want(t, 200)
	if have := list(); len(have) != 2 {
		t.Errorf("want both orders, have %v", have)
	}
}

// wantOrders expects the exchange to have orders with these client ids, oldest first.
func (c *trader) wantOrders(ids ...string) {
	c.t.Helper()
	var have []string
	for _, order := range c.state().Orders {
		have = append(have, order.ClientOrderID)
	}
	if strings.Join(have, " ") != strings.Join(ids, " ") {
		c.t.Errorf("want orders %v, have %v", ids, have)
	}
}
