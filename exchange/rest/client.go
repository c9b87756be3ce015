// Package rest the signed HTTP client: clock offset, request budget, backoff for reads.
//
// Reads are tried again on 429, 5xx and network faults, within bounds.
// Placements are sent at most once: what is not certain about them is
// *exchange.Uncertain. No redirect is followed, no proxy is taken from the
// environment, bodies are capped, and no error holds a key, a secret or a
// signature.
package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/time/rate"

	"botd/exchange"
	"botd/exchange/wire"
)

// Bounds of the client.
const (
	DefaultTimeout = 8 * time.Second
	maxBody        = 8 << 20 // bytes of one answer
	maxTries       = 4       // of a read
	firstBackoff   = 200 * time.Millisecond
	longestBackoff = 5 * time.Second
)

// Config is what a client is made of. BaseURL is all a public client needs.
type Config struct {
	BaseURL   string
	Key       string
	Secret    []byte
	Signer    wire.Signer
	Transport http.RoundTripper // nil is a transport of the client's own
	Timeout   time.Duration     // of one try; 0 is DefaultTimeout
	Budget    float64           // requests per second and market; 0 is unlimited
	Observe   func(Observation) // nil for none
}

// Observation is one try, for metrics. It carries no secret.
type Observation struct {
	Operation exchange.Operation
	Outcome   string // ok, refusal, uncertain, unavailable, malformed, other
	Duration  time.Duration
	Code      int // of a refusal
	Waited    time.Duration
}

// Client talks to one account of one venue. Safe for several goroutines.
type Client struct {
	config  Config
	base    string
	http    *http.Client
	limits  map[exchange.Market]*rate.Limiter
	symbols *Table

	mu       sync.Mutex // guards the clock
	offset   time.Duration
	bound    time.Duration // the offset is right within this much either way
	hasClock bool
}

// New makes a client. It sends nothing.
func New(config Config) (*Client, error) {
	base, err := url.Parse(config.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("base_url %q is not an http(s) address", redact(config.BaseURL))
	}
	if base.User != nil || base.RawQuery != "" {
		return nil, fmt.Errorf("base_url holds a user or a query: credentials belong in key_file and secret_file")
	}
	if base.Scheme == "http" && !loopback(base.Hostname()) && config.Transport == nil {
		return nil, fmt.Errorf("base_url %s: http is for loopback only, use https", base.Host)
	}
	if err := config.Signer.Check(); err != nil {
		return nil, err
	}
	if config.Timeout == 0 {
		config.Timeout = DefaultTimeout
	}
	if config.Transport == nil {
		config.Transport = newTransport()
	}
	c := &Client{config: config, base: strings.TrimSuffix(base.String(), "/"), symbols: NewTable(), limits: map[exchange.Market]*rate.Limiter{}}
	c.http = &http.Client{Transport: config.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if config.Budget > 0 {
		for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
			c.limits[market] = rate.NewLimiter(rate.Limit(config.Budget), max(1, int(config.Budget)))
		}
	}
	return c, nil
}

// newTransport is one connection pool without a proxy from the environment.
func newTransport() *http.Transport {
	return &http.Transport{
		DialContext: (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext, MaxIdleConnsPerHost: 16,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 5 * time.Second, ResponseHeaderTimeout: DefaultTimeout, ForceAttemptHTTP2: true,
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func redact(address string) string {
	if at := strings.LastIndex(address, "@"); at >= 0 {
		return "…" + address[at:]
	}
	return address
}

// Symbols returns the table of instruments, empty before RefreshSymbols.
func (c *Client) Symbols() *Table { return c.symbols }

// Do performs one operation. Its errors are of package exchange's taxonomy.
func (c *Client) Do(ctx context.Context, request exchange.Request) (exchange.Answer, error) {
	if err := c.prepare(ctx, &request); err != nil {
		return exchange.Answer{}, notSent(request.Operation, err)
	}
	if request.Operation.Changes() {
		// A placement is sent once, whatever happens. Cancels and leverage could be
		// repeated, but deciding that is the engine's.
		return c.try(ctx, &request)
	}
	return c.read(ctx, &request)
}

// prepare makes sure of what the request needs: symbols for its scales, a clock
// for its signature.
func (c *Client) prepare(ctx context.Context, request *exchange.Request) error {
	switch request.Operation {
	case exchange.FuturesHealth, exchange.FuturesPing, exchange.FuturesTime, exchange.FuturesSymbols, exchange.SpotPairs,
		exchange.FuturesMarginLevels, exchange.FuturesSymbolMarginLevels:
		return nil
	}
	if !c.symbols.loaded() {
		if err := c.RefreshSymbols(ctx); err != nil {
			return err
		}
	}
	c.mu.Lock()
	synced := c.hasClock
	c.mu.Unlock()
	if request.Operation.Signed() && !synced {
		return c.SyncClock(ctx)
	}
	return nil
}

// notSent marks an error that came before the first byte of the request.
func notSent(operation exchange.Operation, err error) error {
	return &exchange.Unavailable{Operation: operation, Why: "not sent: " + err.Error(), Err: err}
}

// read tries a read again while it is unavailable, once more on -1021 with a new
// clock, and once more when it named a symbol that was not known.
func (c *Client) read(ctx context.Context, request *exchange.Request) (exchange.Answer, error) {
	pause := &backoff.ExponentialBackOff{InitialInterval: firstBackoff, Multiplier: 2, RandomizationFactor: 0.3, MaxInterval: longestBackoff}
	pause.Reset()
	synced, listed := false, false
	for tries := 1; ; tries++ {
		answer, err := c.try(ctx, request)
		var (
			refusal     *exchange.Refusal
			unavailable *exchange.Unavailable
			unknown     *wire.UnknownSymbolError
		)
		switch {
		case err == nil:
			return answer, nil
		case errors.As(err, &refusal) && refusal.Code == exchange.CodeInvalidTimestamp && !synced:
			synced = true
			if c.SyncClock(ctx) != nil {
				return answer, err
			}
		case errors.As(err, &unknown) && !listed:
			listed = true
			if c.RefreshSymbols(ctx) != nil {
				return answer, err
			}
		case errors.As(err, &unavailable) && tries < maxTries:
			wait := max(pause.NextBackOff(), time.Duration(unavailable.RetryAfterMS)*time.Millisecond)
			if !sleep(ctx, wait) {
				return answer, err
			}
		default:
			return answer, err
		}
	}
}

// sleep waits, unless the context ends first or would end before.
func sleep(ctx context.Context, wait time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// try sends the request once.
func (c *Client) try(ctx context.Context, request *exchange.Request) (exchange.Answer, error) {
	began := time.Now()
	if limiter := c.limits[request.Operation.Market()]; limiter != nil {
		if err := limiter.Wait(ctx); err != nil {
			return exchange.Answer{}, notSent(request.Operation, errors.New("the request budget is spent"))
		}
	}
	waited := time.Since(began)
	answer, err := c.exchange(ctx, request)
	if c.config.Observe != nil {
		seen := Observation{Operation: request.Operation, Outcome: exchange.ErrorKind(err), Duration: time.Since(began) - waited, Waited: waited}
		if err == nil {
			seen.Outcome = "ok"
		}
		var refusal *exchange.Refusal
		if errors.As(err, &refusal) {
			seen.Code = refusal.Code
		}
		c.config.Observe(seen)
	}
	return answer, err
}

func (c *Client) exchange(ctx context.Context, request *exchange.Request) (exchange.Answer, error) {
	operation := request.Operation
	encoded, err := wire.EncodeRequest(request, c.symbols)
	if err != nil {
		return exchange.Answer{}, notSent(operation, err)
	}
	limited, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	sent := false
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent = true }}
	outgoing, err := http.NewRequestWithContext(httptrace.WithClientTrace(limited, trace), encoded.Method, c.base+encoded.Path, bytes.NewReader(encoded.Body))
	if err != nil {
		return exchange.Answer{}, notSent(operation, errors.New("the request can not be made"))
	}
	if encoded.Body != nil {
		outgoing.Header.Set("Content-Type", "application/json")
	}
	if operation.Signed() {
		c.sign(outgoing, &encoded)
	}
	response, err := c.http.Do(outgoing)
	if err != nil {
		return exchange.Answer{}, failed(operation, err, sent)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if err != nil || len(body) > maxBody {
		return exchange.Answer{}, failed(operation, orTooLong(err), true)
	}
	return c.understand(request, response, body)
}

func orTooLong(err error) error {
	if err != nil {
		return err
	}
	return errors.New("the answer is too long")
}

// understand reads an answer that came in full.
func (c *Client) understand(request *exchange.Request, response *http.Response, body []byte) (exchange.Answer, error) {
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusCreated {
		return exchange.Answer{}, wire.ErrorOf(request.Operation, response.StatusCode, response.Header.Get("Retry-After"), body)
	}
	answer, err := wire.DecodeAnswer(request, body, c.symbols)
	if err != nil && request.Operation.Places() {
		return answer, &exchange.Uncertain{Why: "malformed answer", Err: err}
	}
	return answer, err
}

// sign adds the three headers (interface, Authentication).
func (c *Client) sign(request *http.Request, encoded *wire.HTTPRequest) {
	timestamp := strconv.FormatInt(c.ServerNowMS(), 10)
	request.Header.Set(wire.HeaderKey, c.config.Key)
	request.Header.Set(wire.HeaderTimestamp, timestamp)
	request.Header.Set(wire.HeaderSignature, c.config.Signer.Sign(c.config.Secret, wire.Signed{
		Timestamp: timestamp, Method: encoded.Method, Path: request.URL.RequestURI(), Key: c.config.Key, Body: encoded.Body}))
}

// failed names a network fault from a closed set. Only a fault before there was
// a connection is certain not to have reached the exchange.
func failed(operation exchange.Operation, err error, sent bool) error {
	why := reason(err)
	if operation.Places() && sent {
		return &exchange.Uncertain{Why: why}
	}
	if !sent {
		why = "not sent: " + why
	}
	return &exchange.Unavailable{Operation: operation, Why: why}
}

func reason(err error) string {
	var network net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "timeout"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed"
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return "name not found"
	}
	return "network error"
}
