// Package rest is the signed HTTP client, with clock offset, request budget, and backoff for reads.
//
// Reads are tried again on 429, 5xx and network faults, within bounds. What
// changes something is sent at most once, and a placement whose fate is not
// certain is *exchange.Uncertain. No redirect is followed, no proxy is taken from
// the environment, bodies are capped, and no error holds a key, a secret or a
// signature.
package rest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"botd/exchange"
	"botd/exchange/wire"
)

// Config is what a client is made of. BaseURL is all a client of public data needs.
type Config struct {
	BaseURL   string // https, or http on loopback
	Key       string
	Secret    []byte
	Signer    wire.Signer       // the zero value is the default of decisions.md
	Transport http.RoundTripper // nil is a transport of the client's own
	Timeout   time.Duration     // of one try; 0 is DefaultTimeout
	Budget    float64           // requests per second and market; 0 is unlimited
	Burst     int               // requests at once; 0 is one second of the budget
	Clock     func() time.Time  // nil is time.Now
	Observe   func(Observation) // nil for none; called by every goroutine that calls Do
}

// String names the address alone: never key or secret.
func (c Config) String() string { return "client of " + redact(c.BaseURL) }

// GoString is String, so that no verb of fmt prints the secret.
func (c Config) GoString() string { return c.String() }

// Observation is one try, for metrics. It carries no secret.
type Observation struct {
	Operation exchange.Operation
	Outcome   string // ok, refusal, uncertain, unavailable, malformed, other
	Code      int    // of a refusal
	Duration  time.Duration
	Waited    time.Duration // for the budget, before
}

// DefaultTimeout is the time one try may take.
const DefaultTimeout = 8 * time.Second

// Client talks to one account of one venue. It is safe for several goroutines.
type Client struct {
	config  Config
	base    string
	http    *http.Client
	traced  bool // the transport tells when it has a connection
	budgets map[exchange.Market]*budget
	symbols *SymbolTable
	listing gate // one goroutine reads the symbols
	clock   serverClock
	syncing gate // one goroutine reads the clock
}

// New makes a client. It sends nothing.
func New(config Config) (*Client, error) {
	base, err := checkBase(config.BaseURL)
	if err != nil {
		return nil, err
	}
	if err := config.Signer.Check(); err != nil {
		return nil, err
	}
	if config.Budget < 0 || config.Burst < 0 || config.Timeout < 0 {
		return nil, fmt.Errorf("budget %v, burst %d or timeout %s is below 0", config.Budget, config.Burst, config.Timeout)
	}
	if config.Timeout == 0 {
		config.Timeout = DefaultTimeout
	}
	if config.Transport == nil {
		config.Transport = newTransport()
	}
	if config.Clock == nil {
		config.Clock = time.Now
	}
	c := &Client{config: config, base: base, symbols: NewSymbolTable(), listing: newGate(), syncing: newGate(), clock: serverClock{now: config.Clock}}
	_, c.traced = config.Transport.(*http.Transport)
	// A redirect would send the key to another host and repeat a POST.
	c.http = &http.Client{Transport: config.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	c.budgets = map[exchange.Market]*budget{
		exchange.Futures: newBudget(config.Budget, config.Burst), exchange.Spot: newBudget(config.Budget, config.Burst),
	}
	return c, nil
}

func checkBase(address string) (string, error) {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return "", fmt.Errorf("base_url %q is not an http(s) address", redact(address))
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return "", errors.New("base_url holds a user, a query or a fragment: credentials belong in key_file and secret_file")
	}
	if base.Scheme == "http" && !loopback(base.Hostname()) {
		return "", fmt.Errorf("base_url http://%s: http is for loopback only, use https", base.Host)
	}
	return strings.TrimSuffix(base.String(), "/"), nil
}

// newTransport is one connection pool without a proxy from the environment.
// HTTP/2 is off, since there a transport may send a POST again by itself.
func newTransport() *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Transport{
		Protocols:   &protocols,
		DialContext: (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext, TLSHandshakeTimeout: 5 * time.Second,
		MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second,
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// String names the address alone: never key or secret.
func (c *Client) String() string { return c.config.String() }

// GoString is String, so that no verb of fmt prints the secret.
func (c *Client) GoString() string { return c.String() }

// PausedUntil is when a market's requests go on after the venue asked for patience;
// zero when they go.
func (c *Client) PausedUntil(market exchange.Market) time.Time { return c.budgets[market].paused() }

// Symbols returns the table of instruments, empty before it was first needed.
func (c *Client) Symbols() *SymbolTable { return c.symbols }

// Do performs one operation. Its errors are of package exchange's taxonomy;
// *exchange.Unavailable about a placement says that it was surely not sent.
func (c *Client) Do(ctx context.Context, request exchange.Request) (exchange.Answer, error) {
	return c.DoBefore(ctx, request, exchange.SendLimit{})
}

// DoBefore is Do for a placement whose departure is bounded: signing happens after
// all waiting, so a time to live holds for the signature's timestamp
// (exactly-once.md, time to live), and what is called back while it waits for the
// budget does not go.
func (c *Client) DoBefore(ctx context.Context, request exchange.Request, departure exchange.SendLimit) (exchange.Answer, error) {
	operation := request.Operation
	if operation < exchange.FuturesHealth || operation > exchange.SpotWallet {
		return exchange.Answer{}, fmt.Errorf("unknown operation %d", operation)
	}
	if err := c.prepare(ctx, operation); err != nil {
		return exchange.Answer{}, notReady(operation, err)
	}
	if !operation.Changes() {
		answer, fate := c.read(ctx, &request)
		return answer, fate.err
	}
	// A placement is sent once, whatever happens. Cancels and leverage could be
	// repeated, but deciding that is the engine's.
	answer, fate := c.try(ctx, &request, departure)
	return answer, fate.err
}

// prepare makes sure of what the request needs: symbols for its scales, a clock
// for its signature.
func (c *Client) prepare(ctx context.Context, operation exchange.Operation) error {
	if needsSymbols(operation) && !c.symbols.holds(operation.Market()) {
		if err := c.list(ctx, operation.Market(), false); err != nil {
			return err
		}
	}
	if operation.Signed() && c.clock.stale(!operation.Changes()) {
		return c.synchronize(ctx, false)
	}
	return nil
}

// notReady says that a request was not sent because of another that failed.
func notReady(operation exchange.Operation, err error) error {
	return &exchange.Unavailable{Operation: operation, Reason: "not sent: " + err.Error()}
}

// gate lets one goroutine in at a time, and the others wait with their contexts.
type gate chan struct{}

func newGate() gate { return make(gate, 1) }

func (g gate) enter(ctx context.Context) error {
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g gate) leave() { <-g }
