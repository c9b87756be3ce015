package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/wire"
	"botd/internal/pipe"
)

const (
	canaryKey    = "canary-key-7c1"
	canarySecret = "canary-secret-9f4"
)

// venue serves the interface with the server's half of package wire, checks every signature, counts requests,
// and fails as a test requires.
type venue struct {
	t        testing.TB
	symbols  *SymbolTable
	windowMS int64

	mu     sync.Mutex // guards all below
	nowMS  func() int64
	fault  func(operation exchange.Operation, count int) fault
	counts map[exchange.Operation]int
	order  []exchange.Operation // in order of arrival, without the clock and the lists
	redirs int                  // requests that followed a redirect
	listed []*exchange.Symbol   // futures
}

// fault replaces an answer; nil leaves it.
type fault func(w http.ResponseWriter, r *http.Request, answer []byte)

func newVenue(t testing.TB) *venue {
	symbol := func(market exchange.Market, tick string) *exchange.Symbol {
		s, err := exchange.NewSymbol(exchange.SymbolSpec{Market: market, Name: "BTC-USDT", Base: "BTC", Quote: "USDT",
			PriceTick:    decimal.RequireFromString("0.1"),
			QuantityTick: decimal.RequireFromString(tick), MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000_000),
			Tradable: true, Cancelable: true})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	futures := symbol(exchange.Futures, "0.001")
	return &venue{t: t, symbols: NewSymbolTable(futures, symbol(exchange.Spot, "0.00001")), windowMS: 5_000,
		nowMS:  func() int64 { return time.Now().UnixMilli() },
		counts: map[exchange.Operation]int{}, listed: []*exchange.Symbol{futures}}
}

func (v *venue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/elsewhere" {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.redirs++
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	operation, symbol, _, _ := wire.Match(r.Method, r.URL.Path)
	if operation == 0 {
		v.t.Errorf("unknown request %s %s", r.Method, r.URL.Path)
		return
	}
	if r.Header.Get("Idempotency-Key") != "" || r.Header.Get("X-Idempotency-Key") != "" {
		v.t.Error("an idempotency key lets net/http send a POST again by itself")
	}
	v.mu.Lock()
	v.counts[operation]++
	count, decide, nowMS := v.counts[operation], v.fault, v.nowMS()
	switch operation {
	case exchange.FuturesTime, exchange.FuturesSymbols, exchange.FuturesMarginLevels, exchange.SpotPairs:
	default:
		v.order = append(v.order, operation)
	}
	v.mu.Unlock()
	status, answer := v.answer(operation, symbol, r, body, nowMS)
	if decide != nil {
		if happens := decide(operation, count); happens != nil {
			happens(w, r, answer)
			return
		}
	}
	w.WriteHeader(status)
	w.Write(answer)
}

func (v *venue) answer(operation exchange.Operation, symbol string, r *http.Request, body []byte, nowMS int64) (int, []byte) {
	refuse := func(status, code int, message string) (int, []byte) {
		return status, wire.EncodeRefusal(&exchange.Refusal{Code: code, Message: message})
	}
	if operation.Signed() {
		stamp, err := strconv.ParseInt(r.Header.Get(wire.HeaderTimestamp), 10, 64)
		if err != nil || stamp < nowMS-v.windowMS || stamp > nowMS+v.windowMS {
			return refuse(401, exchange.CodeInvalidTimestamp, "invalid timestamp")
		}
		signed := wire.Signed{Timestamp: r.Header.Get(wire.HeaderTimestamp), Method: r.Method, Path: r.RequestURI, Key: r.Header.Get(wire.HeaderKey),
			Body: body}
		if signed.Key != canaryKey || !(wire.Signer{}).Verify([]byte(canarySecret), signed, r.Header.Get(wire.HeaderSignature)) {
			return refuse(401, exchange.CodeInvalidSignature, "invalid signature")
		}
	} else if r.Header.Get(wire.HeaderKey) != "" || r.Header.Get(wire.HeaderSignature) != "" {
		v.t.Errorf("%s is public and was signed", operation)
	}
	request, err := wire.DecodeRequest(operation, symbol, r.URL.Query(), body, v.symbols)
	var refusal *exchange.Refusal
	if errors.As(err, &refusal) {
		return refusal.Status, wire.EncodeRefusal(refusal)
	}
	answer := v.made(&request)
	status, content, err := wire.EncodeAnswer(&answer, &request, v.symbols)
	if err != nil {
		v.t.Error(err)
	}
	return status, content
}

// made returns a made-up answer.
func (v *venue) made(r *exchange.Request) exchange.Answer {
	v.mu.Lock()
	defer v.mu.Unlock()
	market := r.Operation.Market()
	asked := r.Order
	order := exchange.Order{ID: max(r.OrderID, 7), ClientOrderID: asked.ClientOrderID, Market: market, Symbol: "BTC-USDT", Side: max(asked.Side, exchange.Buy),
		Type: max(asked.Type, exchange.Limit), Price: asked.Price, Quantity: asked.Quantity, QuoteAmount: asked.QuoteAmount,
		Status: exchange.StatusCreated, CreatedMS: 1_767_225_600_000}
	candles := &exchange.Candles{Interval: exchange.Minute1}
	candles.Append(exchange.Candle{OpenMS: 1_767_225_600_000, Open: 2, High: 3, Low: 1, Close: 2, Volume: 1})
	bracket := func(low, high int64) exchange.SymbolBracket {
		return exchange.SymbolBracket{Symbol: "BTC-USDT", Bracket: exchange.Bracket{Min: exchange.AmountOf(low), Max: exchange.AmountOf(high),
			MarginRatio: 1_000_000, MaxLeverage: 50}}
	}
	answer := exchange.Answer{
		Operation: r.Operation, Status: "ok", ServerTimeMS: v.nowMS(), Order: order, Candles: candles,
		Depth:     exchange.Depth{ID: 1, Bids: []exchange.Level{{Price: 1, Quantity: 1}}, Asks: []exchange.Level{{Price: 2, Quantity: 1}}},
		Funding:   exchange.FundingRate{Symbol: "BTC-USDT", Rate: 1},
		Symbols:   exchange.FetchedOf(v.listed),
		Tickers:   exchange.FetchedOf([]exchange.Ticker{{Symbol: "BTC-USDT", Last: 5}}),
		Trades:    exchange.FetchedOf([]exchange.Trade{{ID: 1, Price: 1, Quantity: 1}}),
		Levels:    exchange.FetchedOf([]exchange.SymbolBracket{bracket(10, 20), bracket(0, 10)}),
		Orders:    exchange.FetchedOf([]exchange.Order{order}),
		Leverages: exchange.FetchedOf([]exchange.LeverageSetting{{Symbol: "BTC-USDT", Leverage: 3}}),
		Positions: exchange.FetchedOf([]exchange.Position{{ID: 9, Symbol: "BTC-USDT", Side: exchange.Long, Quantity: 1, Remaining: 1,
			Status: exchange.PositionOpen}}),
		Fills:    exchange.FetchedOf([]exchange.UserTrade{{ID: 1, Symbol: "BTC-USDT", OrderID: 7, Price: 1, Quantity: 1}}),
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "USDT", Free: exchange.AmountOf(5)}}),
	}
	if r.Operation == exchange.SpotPairs {
		pair, _ := v.symbols.Symbol(exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"})
		answer.Symbols = exchange.FetchedOf([]*exchange.Symbol{pair})
	}
	return answer
}

// on sets the faults from now on and resets the counts.
func (v *venue) on(operation exchange.Operation, happens ...fault) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.counts, v.order = map[exchange.Operation]int{}, nil
	v.fault = func(have exchange.Operation, count int) fault {
		if have != operation || count > len(happens) {
			return nil
		}
		return happens[count-1]
	}
}

func (v *venue) count(operation exchange.Operation) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.counts[operation]
}

// Faults

func status(code int, body string, header ...string) fault {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// closed ends the connection without an answer.
func closed(http.ResponseWriter, *http.Request, []byte) { panic(http.ErrAbortHandler) }

// truncated promises the whole answer and sends half of it.
func truncated(w http.ResponseWriter, _ *http.Request, answer []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	w.WriteHeader(http.StatusCreated)
	w.Write(answer[:len(answer)/2])
	panic(http.ErrAbortHandler)
}

// silent never answers.
func silent(_ http.ResponseWriter, r *http.Request, _ []byte) { <-r.Context().Done() }

// echo repeats the complete request in the message of an error.
func echo(code int) fault {
	return func(w http.ResponseWriter, r *http.Request, _ []byte) {
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"code":-1022,"error":"%s %s %s %s"}`, r.Header.Get(wire.HeaderKey), r.Header.Get(wire.HeaderSignature), canarySecret,
			r.Header.Get(wire.HeaderTimestamp))
	}
}

// open starts a venue on a socket and returns a client of it.
func open(t testing.TB, v *venue, change ...func(*Config)) *Client {
	t.Helper()
	httpServer := httptest.NewServer(v)
	t.Cleanup(httpServer.Close)
	return dial(t, httpServer.URL, change...)
}

func dial(t testing.TB, address string, change ...func(*Config)) *Client {
	t.Helper()
	transport := newTransport()
	t.Cleanup(transport.CloseIdleConnections)
	config := Config{BaseURL: address, Key: canaryKey, Secret: []byte(canarySecret), Transport: transport, Timeout: 5 * time.Second}
	for _, f := range change {
		f(&config)
	}
	client, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// openPipe is open in a synctest bubble: without a socket, in virtual time.
func openPipe(t *testing.T, v *venue, change ...func(*Config)) *Client {
	t.Helper()
	listener := pipe.NewListener()
	httpServer := &http.Server{Handler: v, ErrorLog: nil}
	done := make(chan struct{})
	go func() {
		defer close(done)
		httpServer.Serve(listener)
	}()
	transport := newTransport()
	transport.DialContext = listener.Dial
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		httpServer.Close()
		<-done
	})
	return dial(t, "http://127.0.0.1", append([]func(*Config){func(c *Config) { c.Transport = transport }}, change...)...)
}

// market is an order to place.
func market(side exchange.Side) exchange.NewOrder {
	return exchange.NewOrder{Symbol: "BTC-USDT", Side: side, Type: exchange.MarketOrder, Quantity: 5, ClientOrderID: "bmain-1-1"}
}

// ready makes a client read symbols and clock.
func ready(t testing.TB, c *Client) *Client {
	t.Helper()
	if err := c.SyncClock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.RefreshSymbols(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// kind checks an error's kind and text.
func kind(t testing.TB, what string, err error, want, text string) {
	t.Helper()
	if have := exchange.ErrorKind(err); have != want || err != nil && !strings.Contains(err.Error(), text) {
		t.Errorf("%s: want %s with %q, have %s: %v", what, want, text, have, err)
	}
}

// dialer is a transport whose connections fail.
func dialer(fails func(context.Context) error) func(*Config) {
	return func(c *Config) {
		transport := newTransport()
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return nil, fails(ctx) }
		c.Transport = transport
	}
}

// call performs a request for a caller that does not handle rows: an unreadable row is an error.
func call(ctx context.Context, c *Client, request exchange.Request) (exchange.Answer, error) {
	answer, err := c.Do(ctx, request)
	if rows := answer.Unreadable; err == nil && len(rows) > 0 {
		return answer, &exchange.Malformed{Operation: request.Operation, What: rows[0].Error(), Err: &rows[0]}
	}
	return answer, err
}

func place(ctx context.Context, c *Client, market exchange.Market, order exchange.NewOrder) (exchange.Answer, error) {
	order.Market = market
	operation := exchange.FuturesPlace
	if market == exchange.Spot {
		operation = exchange.SpotPlace
	}
	return call(ctx, c, exchange.Request{Operation: operation, Symbol: order.Symbol, Order: order})
}
