// Package rest implements the signed HTTP client, with clock offset, request budget, and backoff for reads.
//
// Reads are retried after 429, 5xx and network errors, within bounds. A request that changes
// something is sent at most once, and a placement with an uncertain outcome is *exchange.Uncertain.
// The client follows no redirect, uses no proxy from the environment and bounds bodies. No error
// contains a key, a secret or a signature.
package rest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"botd/exchange"
	"botd/exchange/wire"
)

// Config configures a client. For public data BaseURL is enough.
type Config struct {
	BaseURL   string // https, or http on loopback
	Key       string
	Secret    []byte
	Signer    wire.Signer       // the zero value is the default of docs/exchange.md
	Profile   *wire.Profile     // the venue's choices that the interface leaves open; nil for the interface alone
	Transport http.RoundTripper // nil for a transport owned by the client
	Timeout   time.Duration     // of one attempt; 0 is DefaultTimeout
	Budget    float64           // requests per second and market; 0 is unlimited
	Clock     func() time.Time  // nil is time.Now
	Observe   func(Observation) // nil for none; may be called from several goroutines at once
}

// String returns only the address, never key or secret.
func (c Config) String() string { return "client of " + redact(c.BaseURL) }

// GoString returns the same as String, so that no verb of fmt prints the secret.
func (c Config) GoString() string { return c.String() }

// rateLimited is the outcome of a request answered with 429.
const rateLimited = "rate_limited"

// Observation describes one attempt, for metrics. It contains no secret.
type Observation struct {
	Operation exchange.Operation
	Outcome   string // ok, refusal, uncertain, unavailable, malformed, other, rateLimited
	Code      int    // of a refusal
	Duration  time.Duration
	Waited    time.Duration // for the budget, before the attempt
}

// DefaultTimeout is the maximum duration of one attempt.
const DefaultTimeout = 8 * time.Second

// Client talks to one account of one venue. It is safe for concurrent use.
type Client struct {
	config  Config
	keys    atomic.Pointer[credentials]
	base    string
	http    *http.Client
	traced  bool // the transport reports when it has a connection
	budgets map[exchange.Market]*budget
	guests  *rate.Limiter // for viewers, of both markets
	symbols *SymbolTable
	listing gate // one goroutine reads the symbols at a time
	clock   serverClock
	syncing gate // one goroutine reads the clock at a time
}

// New creates a client. It sends nothing.
func New(config Config) (*Client, error) {
	base, err := checkBase(config.BaseURL)
	if err != nil {
		return nil, err
	}
	if err := config.Signer.Check(); err != nil {
		return nil, err
	}
	if config.Budget < 0 || config.Timeout < 0 {
		return nil, fmt.Errorf("budget %v or timeout %s is below 0", config.Budget, config.Timeout)
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
	c.SetCredentials(config.Key, config.Secret)
	_, c.traced = config.Transport.(*http.Transport)
	// Following a redirect would send the key to another host and repeat a POST.
	c.http = &http.Client{Transport: config.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	c.budgets = map[exchange.Market]*budget{
		exchange.Futures: newBudget(config.Budget), exchange.Spot: newBudget(config.Budget),
	}
	c.guests = newGuests(config.Budget)
	return c, nil
}

// credentials sign requests.
type credentials struct {
	key    string
	secret []byte
}

// SetCredentials makes the client sign with another key of the same account from the next request
// on.
func (c *Client) SetCredentials(key string, secret []byte) {
	c.keys.Store(&credentials{key, secret})
}

func checkBase(address string) (string, error) {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return "", fmt.Errorf("base_url %q is not an http(s) address", redact(address))
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return "", errors.New("base_url contains a user, a query or a fragment: credentials belong in key_file and secret_file")
	}
	if base.Scheme == "http" && !loopback(base.Hostname()) {
		return "", fmt.Errorf("base_url http://%s: http is for loopback only, use https", base.Host)
	}
	return strings.TrimSuffix(base.String(), "/"), nil
}

// newTransport returns a connection pool that ignores proxies from the environment. HTTP/2 is off:
// its transport may send a POST again on its own.
func newTransport() *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Transport{
		Protocols:   &protocols,
		DialContext: (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext, TLSHandshakeTimeout: 5 * time.Second,
		MaxIdleConnsPerHost: 24, IdleConnTimeout: 90 * time.Second,
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// String returns only the address, never key or secret.
func (c *Client) String() string { return c.config.String() }

// GoString returns the same as String, so that no verb of fmt prints the secret.
func (c *Client) GoString() string { return c.String() }

// PausedUntil returns the time until which a market's requests pause because the venue demanded it, or zero
// if there is no pause.
func (c *Client) PausedUntil(market exchange.Market) time.Time { return c.budgets[market].paused() }

// Symbols returns the table of instruments, which is empty until a request needs it.
func (c *Client) Symbols() *SymbolTable { return c.symbols }

// prepare fetches the prerequisites of the request: symbols for its scales, the clock for its
// signature.
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

// notReady reports that a request was not sent because a prerequisite failed.
func notReady(operation exchange.Operation, err error) error {
	return &exchange.Unavailable{Operation: operation, Reason: "not sent: " + err.Error()}
}

// gate admits one goroutine at a time. The others wait, bounded by their contexts.
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
