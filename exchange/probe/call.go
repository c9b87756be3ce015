package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"botd/exchange"
	"botd/exchange/rest"
	"botd/exchange/wire"
)

// Bounds of one request.
const (
	callTimeout = 8 * time.Second
	mostBody    = 8 << 20
)

// Pace of requests: a venue nobody has measured is asked gently, and more slowly
// after each answer 429.
const (
	firstGap    = 20 * time.Millisecond
	longestGap  = time.Second
	longestWait = 10 * time.Second // of one Retry-After
	mostWaiting = time.Minute      // for all of them; then what is limited fails
)

// caller sends single requests and keeps what they show. It tries nothing again:
// what a venue answers is what the probe is after.
type caller struct {
	base    string
	http    *http.Client
	key     string
	secret  []byte
	signer  wire.Signer
	symbols *rest.SymbolTable
	offset  time.Duration // the server's time minus the local one

	headers map[string]string
	calls   int
	limited int
	began   time.Time     // of the first request
	next    time.Time     // when the next may go
	gap     time.Duration // between two
	waited  time.Duration // because of 429
}

// reply is what one request brought.
type reply struct {
	answer       exchange.Answer
	err          error // of package exchange's taxonomy, or of the network
	status       int   // 0 without an answer
	began, ended time.Time
	retryAfter   time.Duration
}

func (r *reply) took() time.Duration { return r.ended.Sub(r.began) }

// newCaller has one connection pool, no proxy, no HTTP/2 and follows no redirect,
// as the client botd trades with.
func newCaller(config *Config) *caller {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	transport := &http.Transport{Protocols: &protocols, TLSClientConfig: config.TLS, TLSHandshakeTimeout: 5 * time.Second,
		DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext, MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second}
	return &caller{
		base: strings.TrimSuffix(config.BaseURL, "/"), key: config.Key, secret: config.Secret, signer: config.Signer,
		symbols: rest.NewSymbolTable(), headers: map[string]string{}, began: time.Now(), gap: firstGap,
		http: &http.Client{Transport: transport, Timeout: callTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// call sends a request once. A signed one carries the server's time plus a shift.
func (c *caller) call(ctx context.Context, request exchange.Request, shift time.Duration) reply {
	encoded, err := wire.EncodeRequest(&request, c.symbols)
	if err != nil {
		return reply{err: err}
	}
	outgoing, err := http.NewRequestWithContext(ctx, encoded.Method, c.base+encoded.Path, bytes.NewReader(encoded.Body))
	if err != nil {
		return reply{err: err}
	}
	outgoing.Header.Set("User-Agent", "botd")
	if encoded.Body != nil {
		outgoing.Header.Set("Content-Type", "application/json")
	}
	if !pause(ctx, time.Until(c.next)) {
		return reply{err: ctx.Err()}
	}
	r := reply{began: time.Now()}
	c.next = r.began.Add(c.gap)
	signature := ""
	if request.Operation.Signed() {
		signature = c.sign(outgoing, &encoded, r.began.Add(c.offset+shift).UnixMilli())
	}
	c.calls++
	response, err := c.http.Do(outgoing)
	if err != nil {
		r.ended, r.err = time.Now(), network(err)
		return r
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, mostBody+1))
	r.ended, r.status = time.Now(), response.StatusCode
	switch {
	case err != nil:
		r.err = network(err)
	case len(body) > mostBody:
		r.err = errors.New("the answer is longer than 8 MiB")
	default:
		received := wire.HTTPResponse{Status: response.StatusCode, RetryAfter: response.Header.Get("Retry-After"), Body: body}
		r.answer, r.err = wire.DecodeAnswer(&request, received, c.symbols)
		r.retryAfter = time.Duration(received.RetryAfterMS()) * time.Millisecond
	}
	if looksLikePage(body) {
		r.err = &page{start(body)}
	}
	if to := response.Header.Get("Location"); response.StatusCode/100 == 3 && to != "" {
		r.err = fmt.Errorf("it redirects to %s: that is not followed, since it would carry the key along", to)
	}
	if r.err != nil {
		r.err = &scrubbed{r.err, c.scrub(r.err.Error(), signature)}
	}
	c.note(response)
	return r
}

func (c *caller) sign(request *http.Request, encoded *wire.HTTPRequest, nowMS int64) string {
	timestamp := strconv.FormatInt(nowMS, 10)
	signature := c.signer.Sign(c.secret, wire.Signed{
		Timestamp: timestamp, Method: encoded.Method, Path: request.URL.RequestURI(), Key: c.key, Body: encoded.Body})
	request.Header.Set(wire.HeaderKey, c.key)
	request.Header.Set(wire.HeaderTimestamp, timestamp)
	request.Header.Set(wire.HeaderSignature, signature)
	return signature
}

// page is a web page where JSON was wanted.
type page struct{ start string }

func (p *page) Error() string { return fmt.Sprintf("a web page came, no JSON: %q", p.start) }

// pageHint says where pages come from.
const pageHint = "is this the address of the API itself, not of a website? a guard before it (captcha, firewall, maintenance) answers so too"

func looksLikePage(body []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) }

// start is how a page begins, on one line.
func start(body []byte) string {
	const most = 80
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(body[:min(len(body), 4*most)]), "?")), " ")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return text
}

// scrubbed is an error whose text holds no secret, in case the venue said one back.
type scrubbed struct {
	error
	text string
}

func (s *scrubbed) Error() string { return s.text }
func (s *scrubbed) Unwrap() error { return s.error }

func (c *caller) scrub(text, signature string) string {
	return wire.Redact(text, string(c.secret), signature, c.key)
}

// network is a fault without the address, which is known.
func network(err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		return outer.Err
	}
	return err
}

// note keeps what the headers tell of limits.
func (c *caller) note(response *http.Response) {
	if response.StatusCode == http.StatusTooManyRequests {
		c.limited++
		c.gap = min(2*c.gap, longestGap)
	}
	for name, values := range response.Header {
		lower := strings.ToLower(name)
		if strings.Contains(lower, "ratelimit") || strings.Contains(lower, "rate-limit") || strings.Contains(lower, "used-weight") || lower == "retry-after" {
			c.headers[lower] = strings.Join(values, ", ")
		}
	}
}

// unlimited is call, again after a pause while the venue says "too many requests".
func (c *caller) unlimited(ctx context.Context, request exchange.Request, shift time.Duration) reply {
	r := c.call(ctx, request, shift)
	for try := 0; try < 3 && r.status == http.StatusTooManyRequests && c.waited < mostWaiting; try++ {
		wait := min(max(r.retryAfter, 500*time.Millisecond), longestWait)
		c.waited += wait
		if !pause(ctx, wait) {
			break
		}
		r = c.call(ctx, request, shift)
	}
	return r
}

// patiently is unlimited, and once more after a pause when the venue was away.
func (c *caller) patiently(ctx context.Context, request exchange.Request, shift time.Duration) reply {
	r := c.unlimited(ctx, request, shift)
	for try := 0; try < 3 && (r.status == 0 || r.status >= http.StatusInternalServerError); try++ {
		if !pause(ctx, min(max(r.retryAfter, 500*time.Millisecond), longestWait)) {
			break
		}
		r = c.unlimited(ctx, request, shift)
	}
	return r
}

// pause waits, unless the context ends before.
func pause(ctx context.Context, wait time.Duration) bool {
	if wait <= 0 {
		return ctx.Err() == nil
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

// ms is a duration as the report has it.
func ms(d time.Duration) float64 {
	return float64(d.Round(10*time.Microsecond)) / float64(time.Millisecond)
}
