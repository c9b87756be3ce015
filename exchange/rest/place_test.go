package rest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
)

// placements place an order on each market.
var placements = map[exchange.Operation]func(context.Context, *Client) error{
	exchange.FuturesPlace: func(ctx context.Context, c *Client) error {
		_, err := place(ctx, c, exchange.Futures, market(exchange.Buy))
		return err
	},
	exchange.SpotPlace: func(ctx context.Context, c *Client) error {
		order := market(exchange.Buy)
		order.Type = exchange.Limit
		order.Price = 10_000_000
		_, err := place(ctx, c, exchange.Spot, order)
		return err
	},
}

// TestPlacementIsSentOnce covers exactly-once.md, cases 1 to 4.
func TestPlacementIsSentOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		happens      fault
		kind, reason string
	}{
		{"closed without an answer", closed, "uncertain", "eof"},
		{"truncated 201", truncated, "uncertain", "eof"},
		{"silence", silent, "uncertain", "timeout"},
		{"500", status(500, ""), "uncertain", "status 500"},
		{"502", status(502, "<html>"), "uncertain", "status 502"},
		{"503", status(503, `{"code":1,"error":"later"}`, "Retry-After", "1"), "uncertain", "status 503"},
		{"504", status(504, ""), "uncertain", "status 504"},
		{"429", status(429, `{"code":1,"error":"later"}`, "Retry-After", "1"), "uncertain", "rate limited"},
		{"201 NULL", status(201, "NULL"), "uncertain", "malformed answer"},
		{"201 empty", status(201, ""), "uncertain", "malformed answer"},
		{"201 HTML", status(201, "<html>"), "uncertain", "malformed answer"},
		{"201 cut", status(201, `{"id":7,"client_order_id":"bmain`), "uncertain", "malformed answer"},
		{"200 of another order", status(200, `{"id":7,"client_order_id":"bmain-1-2","clientOrderId":"bmain-1-2","symbol":"BTC-USDT","side":"BUY",`+
			`"type":"LIMIT","quantity":"0.005","filled":"0","status":"CREATED"}`),
			"uncertain", "malformed answer"},
		{"400 HTML", status(400, "<html>"), "uncertain", "status 400"},
		{"401 empty", status(401, ""), "uncertain", "status 401"},
		{"400 parsed", status(400, `{"code":2009,"error":"price"}`), "refusal", "price"},
		{"403 parsed", status(403, `{"code":-2015,"msg":"no"}`), "refusal", "code -2015"},
		{"401 clock", status(401, `{"code":-1021,"message":"clock"}`), "refusal", "code -1021"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVenue(t)
				client := ready(t, openPipe(t, v))
				for operation, place := range placements {
					v.on(operation, c.happens)
					err := place(t.Context(), client)
					kind(t, operation.String(), err, c.kind, c.reason)
					var (
						refusal     *exchange.Refusal
						unavailable *exchange.Unavailable
					)
					if c.kind == "uncertain" && (errors.As(err, &refusal) || errors.As(err, &unavailable)) {
						t.Errorf("%s: what is unknown hides %#v", operation, err)
					}
					if have := v.count(operation); have != 1 {
						t.Errorf("%s: want one request, have %d", operation, have)
					}
				}
			})
		})
	}
}

func TestOtherChangesAreSentOnceToo(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	client := ready(t, open(t, v))
	for _, operation := range []exchange.Operation{
		exchange.FuturesCancel, exchange.FuturesCancelAll, exchange.FuturesSetLeverage, exchange.SpotCancel, exchange.SpotCancelAll,
	} {
		v.on(operation, closed)
		_, err := client.Do(t.Context(), exchange.Request{Operation: operation, Symbol: "BTC-USDT", OrderID: 7, Leverage: 2})
		kind(t, operation.String(), err, "unavailable", "eof")
		if have := v.count(operation); have != 1 {
			t.Errorf("%s: want one request, have %d", operation, have)
		}
	}
}

// TestAPlacementOverAConnectionThatDiedIsNotDoubled lets the venue close idle connections that the client
// still considers usable.
func TestAPlacementOverAConnectionThatDiedIsNotDoubled(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	httpServer := httptest.NewServer(v)
	defer httpServer.Close()
	client := ready(t, dial(t, httpServer.URL))
	for range 50 {
		v.on(0)
		httpServer.CloseClientConnections()
		err := placements[exchange.FuturesPlace](t.Context(), client)
		have := v.count(exchange.FuturesPlace)
		if err == nil && have != 1 || err != nil && (exchange.ErrorKind(err) != "uncertain" || have > 1) {
			t.Fatalf("%d requests, %v", have, err)
		}
		v.on(0)
	}
}

// Only such a placement may be unavailable.
func TestAPlacementThatWasNotSentIsUnavailable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		client := ready(t, openPipe(t, v, func(c *Config) { c.Budget = 1 }))
		time.Sleep(time.Minute) // virtual time: the budget is full again
		v.on(0)
		done, cancel := context.WithCancel(t.Context())
		cancel()
		kind(t, "canceled before", placements[exchange.FuturesPlace](done, client), "unavailable", "not sent")

		order := market(exchange.Buy)
		order.Symbol = "NO-SUCH"
		_, err := place(t.Context(), client, exchange.Futures, order)
		kind(t, "unknown symbol", err, "unavailable", "NO-SUCH")

		order.Symbol, order.Market = "BTC-USDT", exchange.Futures
		time.Sleep(time.Second)
		late := exchange.Request{Operation: exchange.FuturesPlace, Order: order}
		_, err = client.DoBefore(t.Context(), late, exchange.SendLimit{NotAfterMS: client.ServerNowMS() - 1})
		kind(t, "too late", err, "unavailable", "time to live")
		if have := v.count(exchange.FuturesPlace); have != 0 {
			t.Errorf("want no request, have %d", have)
		}
		time.Sleep(time.Second)
		_, err = client.DoBefore(t.Context(), late, exchange.SendLimit{NotAfterMS: client.ServerNowMS() + 2})
		kind(t, "in time", err, "", "")

		short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		kind(t, "no budget", placements[exchange.FuturesPlace](short, client), "unavailable", "budget")
		if have := v.count(exchange.FuturesPlace); have != 1 {
			t.Errorf("want one request, have %d", have)
		}
	})
}

// While it is queued it is certainly not sent; afterwards the client waits for its answer.
func TestAPlacementCanBeRecalledUntilItIsSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		client := ready(t, openPipe(t, v, func(c *Config) { c.Budget = 1 }))
		time.Sleep(time.Minute) // virtual time: the budget is full again
		order := market(exchange.Buy)
		order.Symbol, order.Market = "BTC-USDT", exchange.Futures
		request := exchange.Request{Operation: exchange.FuturesPlace, Order: order}
		recalled := make(chan struct{})
		limit := exchange.SendLimit{NotAfterMS: client.ServerNowMS() + 10_000, Recalled: recalled}
		v.on(exchange.FuturesPlace, func(w http.ResponseWriter, _ *http.Request, answer []byte) {
			close(recalled) // the venue has it already
			w.WriteHeader(http.StatusCreated)
			w.Write(answer)
		})
		_, err := client.DoBefore(t.Context(), request, limit)
		kind(t, "recalled too late", err, "", "")

		began := time.Now()
		_, err = client.DoBefore(t.Context(), request, limit) // the budget is spent
		kind(t, "recalled while it waits", err, "unavailable", "recalled")
		if waited := time.Since(began); waited != 0 {
			t.Errorf("want it reported at once, have it after %s", waited)
		}
		if have := v.count(exchange.FuturesPlace); have != 1 {
			t.Errorf("want one request, have %d", have)
		}
	})
}

func TestAPlacementThatCouldNotConnectWasNotSent(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]func(context.Context) error{
		"not sent: connection refused": func(context.Context) error { return &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED} },
		"not sent: name not found":     func(context.Context) error { return &net.DNSError{Err: "no such host", IsNotFound: true} },
		"not sent: timeout":            func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		synctest.Test(t, func(t *testing.T) {
			v := newVenue(t)
			var transport *http.Transport
			client := ready(t, openPipe(t, v, func(c *Config) { transport = c.Transport.(*http.Transport) }))
			transport.CloseIdleConnections()
			transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return nil, fails(ctx) }
			v.on(0)
			for operation, place := range placements {
				kind(t, name, place(t.Context(), client), "unavailable", name)
				if have := v.count(operation); have != 0 {
					t.Errorf("want no request, have %d", have)
				}
			}
		})
	}
}

// blind is a transport that reports nothing about connections.
type blind struct{ err error }

func (b blind) RoundTrip(*http.Request) (*http.Response, error) { return nil, b.err }

func TestATransportWithoutTraceLeavesPlacementsUncertain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		kind string
	}{
		{errors.New("it broke"), "uncertain"},
		{context.DeadlineExceeded, "uncertain"},
		{&net.OpError{Op: "write", Err: syscall.EPIPE}, "uncertain"},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, "unavailable"},
	} {
		v := newVenue(t)
		client := dial(t, "http://127.0.0.1", func(config *Config) { config.Transport = blind{c.err} })
		client.symbols = v.symbols
		client.symbols.readAt[exchange.Futures] = time.Now()
		client.symbols.readAt[exchange.Spot] = time.Now()
		client.clock.set(time.Now(), time.Now(), 0)
		for _, place := range placements {
			kind(t, c.err.Error(), place(t.Context(), client), c.kind, "")
		}
	}
}

// A millisecond later it is refused.
func TestAPlacementMayLeaveAtItsLastMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		client := ready(t, openPipe(t, v))
		for lateMS, want := range map[int64]string{0: "", 1: "unavailable"} {
			request := exchange.Request{Operation: exchange.FuturesPlace, Order: market(exchange.Buy)}
			request.Order.Market = exchange.Futures
			_, err := client.DoBefore(t.Context(), request, exchange.SendLimit{NotAfterMS: client.ServerNowMS() - lateMS})
			kind(t, "at its last moment, or a millisecond later", err, want, "")
		}
	})
}
