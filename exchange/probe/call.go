package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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
	dialTimeout = 5 * time.Second // for the connection, and again for its encryption
	callTimeout = 8 * time.Second
	maxBody     = 8 << 20
)

// Pace of requests. The probe sends requests slowly to a venue that nobody has measured, and more
// slowly after each answer 429.
const (
	firstGap     = 20 * time.Millisecond
	maxGap       = time.Second
	maxWait      = 10 * time.Second // for one Retry-After
	maxTotalWait = time.Minute      // in total; after that a limited request fails
)

// caller sends single requests and records their results. It retries nothing, because the probe
// needs the venue's own answer.
type caller struct {
	base    string
	http    *http.Client
	key     string
	secret  []byte
	signer  wire.Signer
	symbols *rest.SymbolTable
	offset  time.Duration // server time minus local time
	shift   time.Duration // added to the timestamps of signed requests, to measure the window

	habits  *habits
	budget  int  // maximum number of requests
	reserve bool // the budget no longer applies: open orders and positions are being closed
	headers map[string]string
	calls   int
	limited int
	began   time.Time     // time of the first request
	last    time.Time     // time of the last request
	gap     time.Duration // minimum gap between two requests
	waited  time.Duration // total wait after answers 429
}

// reply is the result of one request.
type reply struct {
	answer       exchange.Answer
	err          error // of package exchange, or of the network
	status       int   // 0 without an answer
	began, ended time.Time
	retryAfter   time.Duration
	rows         []map[string]any // records as received
}

func (r *reply) took() time.Duration { return r.ended.Sub(r.began) }

// newCaller returns a caller with one connection pool, no proxy, no HTTP/2 and no redirects, like
// botd's trading client.
func newCaller(config *Config) *caller {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	transport := &http.Transport{Protocols: &protocols, TLSClientConfig: config.TLS, TLSHandshakeTimeout: dialTimeout,
		DialContext: config.dial, MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second}
	return &caller{
		base: strings.TrimSuffix(config.BaseURL, "/"), key: config.Key, secret: config.Secret, signer: config.Signer,
		symbols: rest.NewSymbolTable(), headers: map[string]string{}, began: time.Now(), gap: config.gap, habits: newHabits(), budget: config.Requests,
		http: &http.Client{Transport: transport, Timeout: callTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// call sends a request once. A signed request carries the server's time plus the caller's shift.
func (c *caller) call(ctx context.Context, request exchange.Request) reply {
	encoded, err := wire.EncodeRequest(&request, c.symbols)
	if err != nil {
		return reply{err: err}
	}
	if c.calls >= c.budget && !c.reserve && request.Operation != exchange.FuturesCancel && request.Operation != exchange.SpotCancel {
		return reply{err: fmt.Errorf("the probe's budget of %d requests is used up", c.budget)}
	}
	outgoing, err := http.NewRequestWithContext(ctx, encoded.Method, c.base+encoded.Path, bytes.NewReader(encoded.Body))
	if err != nil {
		return reply{err: err}
	}
	outgoing.Header.Set("User-Agent", "botd")
	if encoded.Body != nil {
		outgoing.Header.Set("Content-Type", "application/json")
	}
	if !pause(ctx, time.Until(c.last.Add(c.gap))) {
		return reply{err: ctx.Err()}
	}
	r := reply{began: time.Now()}
	c.last = r.began
	signature := ""
	if request.Operation.Signed() {
		signature = c.sign(outgoing, &encoded, r.began.Add(c.offset+c.shift).UnixMilli())
	}
	c.calls++
	response, err := c.http.Do(outgoing)
	if err != nil {
		r.ended, r.err = time.Now(), network(err)
		return r
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	r.ended, r.status = time.Now(), response.StatusCode
	switch {
	case err != nil:
		r.err = network(err)
	case len(body) > maxBody:
		r.err = errors.New("the answer is longer than 8 MiB")
	default:
		received := wire.HTTPResponse{Status: response.StatusCode, RetryAfter: response.Header.Get("Retry-After"), Body: body}
		r.rows = c.habits.observe(&request, response.StatusCode, body, c.symbols)
		r.answer, r.err = (&wire.Profile{NullLists: true, HalfTick: true, StatusWords: c.habits.words}).DecodeAnswer(&request, received, c.symbols)
		r.retryAfter = time.Duration(received.RetryAfterMS()) * time.Millisecond
	}
	if looksLikePage(body) {
		r.err = &page{start(body)}
	}
	if to := response.Header.Get("Location"); response.StatusCode/100 == 3 && to != "" {
		r.err = fmt.Errorf("it redirects to %s: it is not followed, since that would send the key there", to)
	}
	if r.err != nil {
		r.err = &scrubbed{r.err, c.scrub(r.err.Error(), signature)}
	}
	c.note(response)
	return r
}

func (c *caller) sign(request *http.Request, encoded *wire.HTTPRequest, nowMS int64) string {
	timestamp := strconv.FormatInt(nowMS, 10)
	path := request.URL.RequestURI()
	if c.signer.Paths == wire.SignRoute {
		path = encoded.Path
	}
	signature := c.signer.Sign(c.secret, wire.Signed{
		Timestamp: timestamp, Method: encoded.Method, Path: path, Key: c.key, Body: encoded.Body})
	request.Header.Set(wire.HeaderKey, c.key)
	request.Header.Set(wire.HeaderTimestamp, timestamp)
	request.Header.Set(wire.HeaderSignature, signature)
	return signature
}

// page is an error for a web page received instead of JSON.
type page struct{ start string }

func (p *page) Error() string { return fmt.Sprintf("received a web page instead of JSON: %q", p.start) }

// pageHint explains where web pages come from.
const pageHint = "is this the address of the API itself, not of a website? a gateway in front of it (captcha, firewall, maintenance page) answers like this too"

func looksLikePage(body []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) }

// start returns the beginning of a page on one line.
func start(body []byte) string {
	const maxLength = 80
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(body[:min(len(body), 4*maxLength)]), "?")), " ")
	if runes := []rune(text); len(runes) > maxLength {
		text = string(runes[:maxLength]) + "..."
	}
	return text
}

// scrubbed returns an error without secrets, in case the venue repeated one.
type scrubbed struct {
	error
	text string
}

func (s *scrubbed) Error() string { return s.text }
func (s *scrubbed) Unwrap() error { return s.error }

func (c *caller) scrub(text, signature string) string {
	return wire.Redact(text, string(c.secret), signature, c.key)
}

// network returns an error without its known address.
func network(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return outer.Err
	}
	return err
}

// note records the rate limit headers.
func (c *caller) note(response *http.Response) {
	if response.StatusCode == http.StatusTooManyRequests {
		c.limited++
		c.gap = min(2*c.gap, maxGap)
	}
	for name, values := range response.Header {
		lower := strings.ToLower(name)
		if strings.Contains(lower, "ratelimit") || strings.Contains(lower, "rate-limit") || strings.Contains(lower, "used-weight") || lower == "retry-after" {
			c.headers[lower] = strings.Join(values, ", ")
		}
	}
}

// unlimited calls, and retries after a pause while the venue answers "too many requests".
func (c *caller) unlimited(ctx context.Context, request exchange.Request) reply {
	r := c.call(ctx, request)
	for try := 0; try < 3 && r.status == http.StatusTooManyRequests && c.waited < maxTotalWait; try++ {
		wait := min(max(r.retryAfter, 500*time.Millisecond), maxWait)
		c.waited += wait
		if !pause(ctx, wait) {
			break
		}
		r = c.call(ctx, request)
	}
	return r
}

// callWithRetries calls unlimited, and again after a pause while the venue is unavailable.
func (c *caller) callWithRetries(ctx context.Context, request exchange.Request) reply {
	r := c.unlimited(ctx, request)
	for try := 0; try < 3 && (r.status == 0 || r.status >= http.StatusInternalServerError); try++ {
		if !pause(ctx, min(max(r.retryAfter, 500*time.Millisecond), maxWait)) {
			break
		}
		r = c.unlimited(ctx, request)
	}
	return r
}

// pause waits, unless the context ends first.
func pause(ctx context.Context, wait time.Duration) bool {
	if wait <= 0 {
		return ctx.Err() == nil
	}
	select {
	case <-time.After(wait):
		return true
	case <-ctx.Done():
		return false
	}
}

// ms is a duration in the form of the report.
func ms(d time.Duration) float64 {
	return float64(d.Round(10*time.Microsecond)) / float64(time.Millisecond)
}
