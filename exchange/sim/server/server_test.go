package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/internal/pipe"
)

func TestASignedRequestIsAnswered(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	if order := c.place(buyMarket); order.Status != "CREATED" || order.ClientOrderID != "one" {
		t.Errorf("want CREATED and one, have %+v", order)
	}
	c.advance(5)
	var positions []struct{ Symbol, RemainingQty string }
	c.call("POST", "/fhapi/v1/positions/open", "{}").read(t, &positions)
	if len(positions) != 1 || positions[0].RemainingQty != "0.01" {
		t.Errorf("want a position of 0.01, have %+v", positions)
	}
	c.call("GET", "/hapi/v1/spot/order/open?symbol=BTC-USDT", "").want(t, 200)
	c.call("POST", "/hapi/v1/spot/order", `{"symbol":"BTC-USDT","side":"BUY","type":"LIMIT","qt":0.01,"price":40000}`).want(t, 200)
}

func TestPublicCallsNeedNoSignature(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	a := c.send("GET", "/fapi/v1/time", "", nil)
	a.want(t, 200)
	if want := fmt.Sprintf(`{"serverTime":%d}`, int64(manualStartMS)); a.body != want {
		t.Errorf("want %s, have %s", want, a.body)
	}
	for _, target := range []string{"/fapi/v1/health", "/fapi/v1/symbols", "/fapi/v1/depth?symbol=BTC-USDT", "/api/v1/spot/public/pairs"} {
		c.send("GET", target, "", nil).want(t, 200)
	}
}

func TestEachFaultOfASignatureIsRefusedWithItsCode(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	const method, target, body = "POST", "/fhapi/v1/order", buyMarket
	for _, f := range []struct {
		name         string
		change       func(http.Header)
		status, code int
	}{
		{"no key", func(h http.Header) { h.Del("x-api-key") }, 401, exchange.CodeUnknownKey},
		{"unknown key", func(h http.Header) { h.Set("x-api-key", "nobody") }, 401, exchange.CodeUnknownKey},
		{"no timestamp", func(h http.Header) { h.Del("x-timestamp") }, 401, exchange.CodeInvalidTimestamp},
		{"timestamp no integer", func(h http.Header) { h.Set("x-timestamp", "soon") }, 401, exchange.CodeInvalidTimestamp},
		{"timestamp a fraction", func(h http.Header) { h.Set("x-timestamp", "1767225600000.5") }, 401, exchange.CodeInvalidTimestamp},
		{"timestamp beyond 64 bits", func(h http.Header) { h.Set("x-timestamp", "99999999999999999999") }, 401, exchange.CodeInvalidTimestamp},
		{"timestamp at the lower end", func(h http.Header) { h.Set("x-timestamp", "-9223372036854775808") }, 401, exchange.CodeInvalidTimestamp},
		{"no signature", func(h http.Header) { h.Del("x-signature") }, 401, exchange.CodeInvalidSignature},
		{"signature of something else", func(h http.Header) { h.Set("x-signature", strings.Repeat("0", 64)) }, 401, exchange.CodeInvalidSignature},
		{"signature cut", func(h http.Header) { h.Set("x-signature", h.Get("x-signature")[:63]) }, 401, exchange.CodeInvalidSignature},
		{"signature no hex", func(h http.Header) { h.Set("x-signature", "zz") }, 401, exchange.CodeInvalidSignature},
		{"another key's signature", func(h http.Header) { h.Set("x-api-key", readKey) }, 401, exchange.CodeInvalidSignature},
		{"another time's signature", func(h http.Header) { h.Set("x-timestamp", strconv.Itoa(manualStartMS+1)) }, 401, exchange.CodeInvalidSignature},
	} {
		header := c.sign(method, target, body, c.nowMS())
		f.change(header)
		t.Log(f.name)
		c.send(method, target, body, header).wantRefusal(t, f.status, f.code)
	}
	header := c.sign(method, target, body, c.nowMS())
	c.send(method, target, strings.Replace(body, "0.01", "0.02", 1), header).wantRefusal(t, 401, exchange.CodeInvalidSignature)
	header = c.sign("GET", "/fhapi/v1/order?order_id=1", "", c.nowMS())
	c.send("GET", "/fhapi/v1/order?order_id=2", "", header).wantRefusal(t, 401, exchange.CodeInvalidSignature)
	if orders := c.state().Orders; len(orders) != 0 {
		t.Errorf("want no order, have %+v", orders)
	}
}

func TestTheTimestampMayBeFiveSecondsOffEitherWay(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	for _, off := range []int64{-5000, -4999, 0, 5000} {
		c.send("GET", "/fhapi/v1/leverage", "", c.sign("GET", "/fhapi/v1/leverage", "", c.nowMS()+off)).want(t, 200)
	}
	for _, off := range []int64{-5001, 5001, -1 << 40, 1 << 60} {
		c.send("GET", "/fhapi/v1/leverage", "", c.sign("GET", "/fhapi/v1/leverage", "", c.nowMS()+off)).
			wantRefusal(t, 401, exchange.CodeInvalidTimestamp)
	}
}

func TestReadOnlyKeyReadsOnlyItsOwnAccount(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	c.key, c.secret = readKey, readSecret
	for _, change := range []struct{ target, body string }{
		{"/fhapi/v1/order", buyMarket},
		{"/fhapi/v1/order/cancel", `{"id":1}`},
		{"/fhapi/v1/order/cancel/all", `{}`},
		{"/fhapi/v1/leverage", `{"symbol":"BTC-USDT","leverage":5}`},
		{"/hapi/v1/spot/order", `{"symbol":"BTC-USDT","side":"BUY","type":"MARKET","qt":100}`},
		{"/hapi/v1/spot/cancel", `{"orderId":1,"symbol":"BTC-USDT"}`},
		{"/hapi/v1/spot/cancel_all", `{"symbol":"BTC-USDT"}`},
	} {
		c.call("POST", change.target, change.body).wantRefusal(t, 403, exchange.CodeNotPermitted)
	}
	c.call("POST", "/fhapi/v1/positions/open", "{}").want(t, 200)
	c.call("GET", "/hapi/v1/spot/wallet", "").want(t, 200)
}

func TestUnknownPathsAndWrongMethodsAreDistinguished(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	for _, target := range []string{"/fapi/v1/nothing", "/fapi/v2/time", "/fhapi/v1/order/", "/openapi.txt", "/control/v1/nothing"} {
		c.send("GET", target, "", nil).wantRefusal(t, 404, 404)
	}
	for _, w := range []struct{ method, target, allow string }{
		{"POST", "/fapi/v1/time", "GET"},
		{"HEAD", "/fapi/v1/time", "GET"},
		{"DELETE", "/fhapi/v1/order", "GET, POST"},
		{"GET", "/hapi/v1/spot/order", "POST"},
		{"PUT", "/control/v1/faults", "DELETE, GET, POST"},
	} {
		a := c.send(w.method, w.target, "", nil)
		a.want(t, 405)
		if have := a.header.Get("Allow"); have != w.allow {
			t.Errorf("%s %s: want Allow %q, have %q", w.method, w.target, w.allow, have)
		}
	}
}

func TestRefusedRequestsAre400WithACode(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	for _, target := range []string{"/api/v1/spot/public/ticker/NO-SUCH", "/api/v1/spot/public/books?symbol=NO-SUCH"} {
		c.send("GET", target, "", nil).wantRefusal(t, 400, exchange.CodeSpotInvalidSymbol)
	}
	c.send("GET", "/fapi/v1/ticker/NO-SUCH", "", nil).wantRefusal(t, 400, exchange.CodeFuturesInvalidSymbol)
	c.call("POST", "/fhapi/v1/order", strings.Replace(buyMarket, "BTC", "NO", 1)).wantRefusal(t, 400, exchange.CodeFuturesInvalidSymbol)
	c.call("POST", "/hapi/v1/spot/cancel_all", `{"symbol":"NO-SUCH"}`).wantRefusal(t, 400, exchange.CodeSpotInvalidSymbol)
	for _, body := range []string{"", "{", "[]", `{"symbol":5}`, strings.Replace(buyMarket, `"0.01"`, `NaN`, 1),
		strings.Replace(buyMarket, `"0.01"`, `1e1000000000`, 1)} {
		c.call("POST", "/fhapi/v1/order", body).want(t, 400)
	}
	large := `{"pad":"` + strings.Repeat("x", maxBody) + `"}`
	if a := c.call("POST", "/fhapi/v1/order", large); a.err == nil {
		a.want(t, 400) // or the connection was closed while the rest was in flight
	}
}

func TestCancelAllWithoutOrdersAnswersNULL(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	if a := c.call("POST", "/fhapi/v1/order/cancel/all", "{}"); a.body != "NULL" || a.status != 200 {
		t.Errorf("want 200 NULL, have %d %q", a.status, a.body)
	}
}

func TestTheBudgetIsPerKeyAndPerAddress(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, func(config *Config) { config.Budget = 5 })
	refused := 0
	var last answer
	for range 20 {
		if a := c.call("GET", "/fhapi/v1/leverage", ""); a.status == 429 {
			refused, last = refused+1, a
		}
	}
	if refused == 0 {
		t.Fatal("20 requests at 5 a second: want some refused, have none")
	}
	last.wantRefusal(t, 429, 429)
	if seconds, err := strconv.Atoi(last.header.Get("Retry-After")); err != nil || seconds < 1 {
		t.Errorf("want Retry-After of whole seconds, have %q", last.header.Get("Retry-After"))
	}
	for range 20 {
		c.control("GET", "/control/v1/orders", "") // control calls are not limited
	}
}

func TestTimePassesWithoutRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, func(config *Config) { config.Clock = Clock{StartMS: manualStartMS + 1} })
		ctx, cancel := context.WithCancel(t.Context())
		listener := pipe.NewListener()
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(ctx, listener) }()
		client := listener.Client()
		c := &trader{t, client, "http://pipe", testKey, testSecret, s.clock.nowMS}
		time.Sleep(time.Second)
		c.place(buyMarket)
		time.Sleep(5 * time.Millisecond)
		synctest.Wait()
		s.mu.Lock()
		if filled := len(s.exchange.Fills()); filled != 1 {
			t.Errorf("want it filled at its time, without another request, have %d fills", filled)
		}
		s.mu.Unlock()
		time.Sleep(8*time.Hour - time.Second)
		s.mu.Lock()
		nowMS, fills := s.exchange.NowMS(), len(s.exchange.Fills())
		s.mu.Unlock()
		if wantMS := int64(manualStartMS + 8*3_600_000); nowMS < wantMS || fills != 1 {
			t.Errorf("want 1 fill and the funding at %d passed, have %d fills and %d", wantMS, fills, nowMS)
		}
		client.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestAHandlerServesInMemoryInsideABubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, func(config *Config) { config.Clock = Clock{StartMS: manualStartMS + 1} })
		client, shut := pipe.Serve(s.Handler())
		defer shut()
		c := &trader{t, client, "http://pipe", testKey, testSecret, s.clock.nowMS}
		order := c.place(buyMarket)
		time.Sleep(5 * time.Millisecond)
		var fetched placed
		c.call("GET", fmt.Sprint("/fhapi/v1/order?order_id=", order.ID), "").read(t, &fetched)
		if fetched.Status != "FILLED" {
			t.Errorf("want FILLED after 5 ms, have %+v", fetched)
		}
	})
}

func TestManyCallersAtOnceAreAllServed(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, func(config *Config) { config.Clock = Clock{StartMS: manualStartMS} })
	const callers, calls = 8, 25
	var group sync.WaitGroup
	for caller := range callers {
		group.Go(func() {
			for i := range calls {
				body := strings.Replace(buyBelow, "two", fmt.Sprint(caller, "-", i), 1)
				if a := c.call("POST", "/fhapi/v1/order", body); a.status != 201 {
					t.Errorf("want 201, have %d %s %v", a.status, a.body, a.err)
				}
				c.send("GET", "/fapi/v1/depth?symbol=BTC-USDT&limit=5", "", nil)
				c.send("GET", "/control/v1/orders", "", nil)
			}
		})
	}
	group.Wait()
	seen := map[string]bool{}
	for _, order := range c.state().Orders {
		seen[order.ClientOrderID] = true
	}
	if want := callers * calls; len(seen) != want {
		t.Errorf("want %d orders, have %d", want, len(seen))
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Serve(ctx, listener); err != nil {
		t.Errorf("want nil, have %v", err)
	}
	if conn, err := net.Dial("tcp", listener.Addr().String()); err == nil {
		conn.Close()
		t.Error("want the listener closed, have a connection")
	}
}

// A request that waits longer for the lock is refused.
func TestARequestIsAdmittedUnderTheLockOnlyWithinItsWindow(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	for _, at := range []struct {
		ageMS int64
		taken bool
	}{{5_000, true}, {5_001, false}, {-5_000, true}, {-5_001, false}} {
		answer, err := s.execute(caller{testKey, manualStartMS - at.ageMS}, &exchange.Request{Operation: exchange.FuturesLeverages}, 0)
		var refusal *exchange.Refusal
		if at.taken && (err != nil || len(answer.Leverages.Items()) != 4) {
			t.Errorf("%d ms: want it answered, have %+v and %v", at.ageMS, answer, err)
		}
		if !at.taken && (!errors.As(err, &refusal) || refusal.Code != exchange.CodeInvalidTimestamp || refusal.Status != 401) {
			t.Errorf("%d ms: want 401 and %d, have %v", at.ageMS, exchange.CodeInvalidTimestamp, err)
		}
	}
	if answer, err := s.execute(caller{}, &exchange.Request{Operation: exchange.FuturesTime}, 0); err != nil || answer.ServerTimeMS != manualStartMS {
		t.Errorf("want a public request without a time answered, have %+v and %v", answer, err)
	}
}

// The reason is logged.
func TestADocumentThatCannotBeReadIs500(t *testing.T) {
	t.Parallel()
	var logged strings.Builder
	s := newServer(t, func(config *Config) {
		config.Log = func(format string, values ...any) { fmt.Fprintf(&logged, format, values...) }
	})
	broken := func() ([]byte, error) { return nil, errors.New("no document") }
	if p := s.document(httptest.NewRequest("GET", documentPath, nil), broken); p.status != 500 || !strings.Contains(string(p.body), "no document") {
		t.Errorf("want 500 with the reason, have %d %s", p.status, p.body)
	}
	if logged.String() != "no document" {
		t.Errorf("want it logged, have %q", logged.String())
	}
	if p := s.document(httptest.NewRequest("POST", documentPath, nil), broken); p.status != 405 || p.allow != "GET" {
		t.Errorf("want 405, have %d, allowed %q", p.status, p.allow)
	}
	if p := s.failure(errors.New("not a refusal")); p.status != 500 {
		t.Errorf("want 500 for what is no refusal, have %d", p.status)
	}
}

func TestAServerNeedsAnExchangeAndAccountsThatCanSign(t *testing.T) {
	t.Parallel()
	key := []Account{{Key: "A", Secret: "S"}}
	for _, c := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"no exchange", func(c *Config) { c.Exchange = nil }, "needs an exchange"},
		{"a state file without Build", func(c *Config) { c.StatePath = "x" }, "needs Build"},
		{"no key", func(c *Config) { c.Accounts = append(key, Account{Secret: "S"}) }, "account 2 has no key"},
		{"no secret", func(c *Config) { c.Accounts = []Account{{Key: "B"}} }, "account 1 has no key or no secret"},
		{"an account twice", func(c *Config) { c.Accounts = append(key, key...) }, `"A" is given twice`},
		{"a clock too fast", func(c *Config) { c.Clock.Speed = 2e6 }, "speed"},
		{"a budget below 0", func(c *Config) { c.Budget = -1 }, "budget -1"},
		{"a template that does not sign", func(c *Config) { c.Signer.Template = "{nonsense}" }, "nonsense"},
		{"an account that cannot be opened", func(c *Config) {
			c.NewAccount = func(string) sim.AccountConfig { return sim.AccountConfig{} }
		}, "needs a name"},
		{"a Build that fails", func(c *Config) { c.Build = func([]byte) (*sim.Exchange, error) { return nil, errors.New("no market") } }, "no market"},
	} {
		config := Config{Exchange: newExchange(t), Accounts: key, Clock: Clock{Manual: true}}
		c.change(&config)
		if s, err := New(config); err == nil || s != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, have %v", c.name, c.want, err)
		}
	}
	if _, err := New(Config{Exchange: newExchange(t)}); err != nil {
		t.Errorf("an exchange alone: want a server of the public calls, have %v", err)
	}
}
