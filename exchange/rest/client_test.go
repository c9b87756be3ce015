package rest

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"botd/exchange"
	"botd/exchange/polling"
)

// everyCall performs each operation.
func everyCall(ctx context.Context, c *Client) map[exchange.Operation]error {
	made := map[exchange.Operation]error{}
	for _, operation := range exchange.Operations() {
		order := market(exchange.Buy)
		if order.Market = operation.Market(); order.Market == exchange.Futures {
			order.Side = exchange.Sell
		}
		_, made[operation] = c.Do(ctx, exchange.Request{Operation: operation, Symbol: "BTC-USDT", Order: order, OrderID: 7, Leverage: 3,
			Interval: exchange.Minute1, StartMS: 1_000, EndMS: 2_000, Limit: 10, PositionSide: exchange.Long, Side: exchange.Sell, Type: exchange.Limit})
	}
	return made
}

func TestOperationsAreSignedOverOneConnection(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	var connections atomic.Int64
	httpServer := httptest.NewUnstartedServer(v)
	httpServer.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	httpServer.Start()
	defer httpServer.Close()
	var mu sync.Mutex
	observed := map[exchange.Operation]int{}
	client := dial(t, httpServer.URL, func(c *Config) {
		c.Observe = func(o Observation) {
			mu.Lock()
			defer mu.Unlock()
			observed[o.Operation]++
			if o.Outcome != "ok" || o.Code != 0 || o.Duration <= 0 {
				t.Errorf("observation: %+v", o)
			}
		}
	})
	calls := everyCall(t.Context(), client)
	for _, operation := range exchange.Operations() {
		if err, made := calls[operation]; err != nil || !made {
			t.Errorf("%s: made %v, %v", operation, made, err)
		}
		if want, have := v.count(operation), observed[operation]; want == 0 || want != have {
			t.Errorf("%s: the venue saw %d, the observer %d", operation, want, have)
		}
	}
	// On a busy machine net/http drops a connection if it did not see its write end within 50 ms of the
	// answer.
	if have := connections.Load(); have > 3 {
		t.Errorf("connections of %d calls: want 1, or a few where the machine is busy, have %d", len(calls), have)
	}
}

func TestALimitedRequestIsAnOutcomeOfItsOwn(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	server := httptest.NewServer(v)
	defer server.Close()
	outcomes := make(chan string, 100)
	client := dial(t, server.URL, func(c *Config) {
		c.Observe = func(o Observation) {
			if o.Operation == exchange.SpotPairs {
				outcomes <- o.Outcome
			}
		}
	})
	v.on(exchange.SpotPairs, status(429, "", "Retry-After", "3600"))
	if _, err := call(t.Context(), client, exchange.Request{Operation: exchange.SpotPairs}); err == nil {
		t.Error("want an error, have none")
	}
	if have := <-outcomes; have != rateLimited {
		t.Errorf("want %s, have %s", rateLimited, have)
	}
}

func TestAddressesThatWouldLeakAreRefused(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"http://example.com":                 "https",
		"http://10.0.0.1:8421":               "https",
		"https://user:hunter2@example.com":   "credentials",
		"https://example.com?key=hunter2":    "credentials",
		"ftp://user:hunter2@example.com":     "not an http",
		"https://user:hunter2@exa mple.com":  "not an http",
		"example.com":                        "not an http",
		"":                                   "not an http",
		"http://127.0.0.1.example.com":       "https",
		"https://example.com/#hunter2":       "credentials",
		"http://localhost.example.com:80/x":  "https",
		"http://[2001:db8::1]:80":            "https",
		"https://:hunter2@example.com:notaX": "not an http",
	} {
		_, err := New(Config{BaseURL: address})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: want an error with %q and no password, have %v", address, want, err)
		}
	}
	for _, address := range []string{"https://example.com", "https://example.com/base/", "http://127.0.0.1:1", "http://[::1]:1", "http://localhost:1"} {
		if _, err := New(Config{BaseURL: address}); err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestNoProxyIsUsedAndOnlyHTTP1IsSpoken(t *testing.T) {
	t.Parallel()
	transport := newTransport()
	if transport.Proxy != nil || transport.ForceAttemptHTTP2 || transport.Protocols.HTTP2() || transport.Protocols.UnencryptedHTTP2() {
		t.Errorf("have %+v", transport)
	}
}

func TestManyGoroutinesShareOneClient(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	client := open(t, v)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for operation, err := range everyCall(t.Context(), client) {
				if err != nil {
					t.Errorf("%s: %v", operation, err)
				}
			}
		})
	}
	group.Wait()
	if want, have := 8+1, v.count(exchange.FuturesSymbols); have != want { // eight calls, and one for the table
		t.Errorf("reads of the symbol list: want %d, have %d", want, have)
	}
	if want, have := 8+polling.ClockReads, v.count(exchange.FuturesTime); have != want {
		t.Errorf("reads of the clock: want %d, have %d", want, have)
	}
}

func TestUnknownOperationsAreErrors(t *testing.T) {
	t.Parallel()
	client := open(t, newVenue(t))
	for _, operation := range []exchange.Operation{0, exchange.SpotWallet + 1, 255} {
		if _, err := client.Do(t.Context(), exchange.Request{Operation: operation}); err == nil {
			t.Errorf("operation %d: want an error, have none", operation)
		}
	}
}

func BenchmarkSignedRequestsOnLoopback(b *testing.B) {
	client := ready(b, open(b, newVenue(b)))
	request := exchange.Request{Operation: exchange.FuturesOpenOrders}
	for b.Loop() {
		if _, err := client.Do(b.Context(), request); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

func BenchmarkSignedRequestsInParallel(b *testing.B) {
	client := ready(b, open(b, newVenue(b)))
	request := exchange.Request{Operation: exchange.FuturesOpenOrders}
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := client.Do(b.Context(), request); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}
