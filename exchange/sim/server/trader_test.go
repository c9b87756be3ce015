package server

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
)

// trader speaks the signed interface without package wire, so that an error shared by server and wire is
// found.
type trader struct {
	t           testing.TB
	client      *http.Client
	url         string
	key, secret string
	nowMS       func() int64
}

const (
	testKey, testSecret = "KEY", "SECRET"
	readKey, readSecret = "READER", "OTHER"
)

// startServer serves a still market on a manual clock over a loopback socket until the test ends.
// adjust changes the configuration first.
func startServer(t testing.TB, adjust func(*Config)) (*Server, *trader) {
	t.Helper()
	s := newServer(t, adjust)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener) }()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: want nil, have %v", err)
		}
	})
	return s, &trader{t, client, "http://" + listener.Addr().String(), testKey, testSecret, s.clock.nowMS}
}

func newServer(t testing.TB, adjust func(*Config)) *Server {
	t.Helper()
	config := Config{
		Accounts: []Account{{Key: testKey, Secret: testSecret}, {Key: readKey, Secret: readSecret, ReadOnly: true}},
		Clock:    Clock{Manual: true}, Control: true, Log: t.Logf,
	}
	if adjust != nil {
		adjust(&config)
	}
	if config.Exchange == nil && config.Build == nil {
		config.Exchange = newExchange(t)
	}
	s, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newExchange(t testing.TB) *sim.Exchange {
	t.Helper()
	x, err := sim.New(sim.Config{Symbols: sim.DefaultSymbols(), StartMS: manualStartMS, OrderDelayMS: sim.DefaultOrderDelayMS})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// sign returns the three headers of a request.
func (c *trader) sign(method, target, body string, timestampMS int64) http.Header {
	timestamp := strconv.FormatInt(timestampMS, 10)
	mac := hmac.New(sha256.New, []byte(c.secret))
	mac.Write([]byte(timestamp + method + target + body))
	header := http.Header{}
	header.Set("x-api-key", c.key)
	header.Set("x-timestamp", timestamp)
	header.Set("x-signature", hex.EncodeToString(mac.Sum(nil)))
	return header
}

// answer is what was received; err is set without a complete answer.
type answer struct {
	status int
	header http.Header
	body   string
	err    error
}

func (c *trader) send(method, target, body string, header http.Header) answer {
	c.t.Helper()
	request, err := http.NewRequest(method, c.url+target, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if header != nil {
		request.Header = header
	}
	return c.do(request)
}

func (c *trader) do(request *http.Request) answer {
	response, err := c.client.Do(request)
	if err != nil {
		return answer{err: err}
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(content), err}
}

// call sends a signed request.
func (c *trader) call(method, target, body string) answer {
	c.t.Helper()
	return c.send(method, target, body, c.sign(method, target, body, c.nowMS()))
}

// control calls the control interface and expects 200.
func (c *trader) control(method, target, body string) answer {
	c.t.Helper()
	a := c.send(method, target, body, nil)
	a.want(c.t, http.StatusOK)
	return a
}

func (c *trader) advance(ms int64) {
	c.t.Helper()
	c.control("POST", "/control/v1/clock", `{"advance_ms":`+strconv.FormatInt(ms, 10)+`}`)
}

func (a answer) want(t testing.TB, status int) {
	t.Helper()
	if a.err != nil || a.status != status {
		t.Fatalf("want status %d, have %d %q %v", status, a.status, a.body, a.err)
	}
}

// wantRefusal expects a status and the error body with a code and a text.
func (a answer) wantRefusal(t testing.TB, status, code int) {
	t.Helper()
	a.want(t, status)
	var refusal struct {
		Code  int
		Error string
	}
	if err := json.Unmarshal([]byte(a.body), &refusal); err != nil {
		t.Fatalf("error body %q: %v", a.body, err)
	}
	if refusal.Code != code || refusal.Error == "" {
		t.Errorf("want code %d with a text, have %q", code, a.body)
	}
}

// read decodes the answer's JSON.
func (a answer) read(t testing.TB, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), into); err != nil {
		t.Fatalf("answer %q: %v", a.body, err)
	}
}

// placed is the part of an order that the tests check.
type placed struct {
	ID            int64
	ClientOrderID string `json:"client_order_id"`
	Status        string
	Account       string
	Market        string
	Filled        any
}

const buyMarket = `{"symbol":"BTC-USDT","side":"BUY","type":"MARKET","qt":"0.01","client_order_id":"one"}`
const buyBelow = `{"symbol":"BTC-USDT","side":"BUY","type":"LIMIT","qt":"0.01","price":"40000","client_order_id":"two"}`

func (c *trader) place(body string) placed {
	c.t.Helper()
	a := c.call("POST", "/fhapi/v1/order", body)
	a.want(c.t, http.StatusCreated)
	var order placed
	a.read(c.t, &order)
	return order
}

// state returns the exchange's own orders and fills.
func (c *trader) state() (state struct {
	Orders []placed
	Fills  []map[string]any
}) {
	c.t.Helper()
	c.control("GET", "/control/v1/orders", "").read(c.t, &state)
	return state
}

var bitcoin = exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
