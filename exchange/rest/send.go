package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"botd/exchange"
	"botd/exchange/wire"
)

// maxBody is the maximum length of an answer, in bytes.
const maxBody = 8 << 20

// Bounds of reads.
const (
	maxTries     = 4
	firstBackoff = 200 * time.Millisecond
	maxBackoff   = 5 * time.Second
	maxPause     = 30 * time.Second // the caller must wait itself for a longer Retry-After
)

// outcome is what came of one attempt.
type outcome struct {
	err        error
	again      bool // the same read may succeed later
	limited    bool // 429: the venue limits the rate
	retryAfter time.Duration

	began, ended time.Time // of the HTTP exchange itself, for the clock
}

// Do performs one operation. Its errors are those of package exchange. *exchange.Unavailable for a
// placement means that it was certainly not sent.
func (c *Client) Do(ctx context.Context, request exchange.Request) (exchange.Answer, error) {
	return c.DoBefore(ctx, request, exchange.SendLimit{})
}

// DoBefore is Do with a limit on when the request may be sent. The request is signed after all
// waiting, so a time to live also bounds the age of the signature's timestamp (exactly-once.md,
// The fence and the equation). A request that is recalled while it waits for the budget is not sent.
func (c *Client) DoBefore(ctx context.Context, request exchange.Request, limit exchange.SendLimit) (exchange.Answer, error) {
	operation := request.Operation
	if operation < exchange.FuturesHealth || operation > exchange.SpotWallet {
		return exchange.Answer{}, fmt.Errorf("unknown operation %d", operation)
	}
	if err := c.prepare(ctx, operation); err != nil {
		return exchange.Answer{}, notReady(operation, err)
	}
	if !operation.Changes() {
		answer, outcome := c.read(ctx, &request)
		if operation == exchange.FuturesSymbols && outcome.err == nil {
			c.addBrackets(ctx, answer.Symbols.Items())
		}
		return answer, outcome.err
	}
	// A placement is sent once, whatever happens. A cancel or a leverage change could be repeated,
	// but that decision is the engine's.
	answer, outcome := c.try(ctx, &request, limit)
	return answer, outcome.err
}

// read retries a read while venue or network are unavailable, once more after -1021 with a new
// clock reading, and once more after an unknown symbol with a new symbol list. A refusal is final.
func (c *Client) read(ctx context.Context, request *exchange.Request) (exchange.Answer, outcome) {
	pause := &backoff.ExponentialBackOff{InitialInterval: firstBackoff, Multiplier: 2, RandomizationFactor: 0.3, MaxInterval: maxBackoff}
	pause.Reset()
	synced, listed := false, false
	for tries := 1; ; tries++ {
		answer, outcome := c.try(ctx, request, exchange.SendLimit{})
		var (
			refusal *exchange.Refusal
			unknown *wire.UnknownSymbolError
		)
		switch {
		case outcome.err == nil && namesUnknown(&answer) && !listed:
			if listed = true; !c.relisted(ctx, request.Operation.Market()) {
				return answer, outcome
			}
		case outcome.err == nil:
			return answer, outcome
		case errors.As(outcome.err, &refusal) && refusal.Code == exchange.CodeInvalidTimestamp && request.Operation.Signed() && !synced:
			synced = true
			if c.synchronize(ctx, false) != nil {
				return answer, outcome
			}
		case errors.As(outcome.err, &unknown) && !listed:
			listed = true
			if c.list(ctx, unknown.Key.Market, true) != nil {
				return answer, outcome
			}
		case outcome.limited && levelOf(ctx, request).protected() && tries < maxTries: // the budget decides when
		case outcome.again && tries < maxTries:
			if !sleep(ctx, max(pause.NextBackOff(), outcome.retryAfter)) {
				return answer, outcome
			}
		default:
			return answer, outcome
		}
	}
}

// try waits for the budget, sends the request once and reports to the observer.
func (c *Client) try(ctx context.Context, request *exchange.Request, limit exchange.SendLimit) (exchange.Answer, outcome) {
	began := c.config.Clock()
	budget := c.budgets[request.Operation.Market()]
	level := levelOf(ctx, request)
	probe, err := c.await(ctx, level, request.Operation, limit.Recalled)
	if err != nil {
		why := "the request budget is spent"
		if until := budget.paused(); !until.IsZero() {
			why = "the exchange answers 429, asked to wait until " + until.UTC().Format("15:04:05 UTC")
		}
		return exchange.Answer{}, outcome{err: notSent(request.Operation, why, err)}
	}
	ready := c.config.Clock()
	answer, outcome := c.exchange(ctx, request, limit)
	budget.answered(level, probe, &outcome)
	var refusal *exchange.Refusal
	if errors.As(outcome.err, &refusal) && refusal.Code == exchange.CodeInvalidTimestamp {
		c.clock.invalidate()
	}
	if c.config.Observe != nil {
		seen := Observation{Operation: request.Operation, Outcome: exchange.ErrorKind(outcome.err), Duration: c.config.Clock().Sub(ready),
			Waited: ready.Sub(began)}
		if outcome.err == nil {
			seen.Outcome = "ok"
		}
		if outcome.limited {
			seen.Outcome = rateLimited
		}
		if refusal != nil {
			seen.Code = refusal.Code
		}
		c.config.Observe(seen)
	}
	return answer, outcome
}

// exchange sends one request and reads its answer.
func (c *Client) exchange(ctx context.Context, request *exchange.Request, limit exchange.SendLimit) (exchange.Answer, outcome) {
	operation := request.Operation
	encoded, err := wire.EncodeRequest(request, c.symbols)
	if err != nil {
		return exchange.Answer{}, outcome{err: notSent(operation, err.Error(), nil)}
	}
	if err := ctx.Err(); err != nil {
		return exchange.Answer{}, outcome{err: notSent(operation, reason(err), err)}
	}
	limited, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	var connected atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	outgoing, err := http.NewRequestWithContext(httptrace.WithClientTrace(limited, trace), encoded.Method, c.base+encoded.Path, bytes.NewReader(encoded.Body))
	if err != nil {
		return exchange.Answer{}, outcome{err: notSent(operation, "the request cannot be built", nil)}
	}
	outgoing.Header.Set("User-Agent", "botd")
	if encoded.Body != nil {
		outgoing.Header.Set("Content-Type", "application/json")
	}
	if operation.Signed() {
		nowMS := c.ServerNowMS()
		if limit.NotAfterMS != 0 && nowMS > limit.NotAfterMS {
			return exchange.Answer{}, outcome{err: notSent(operation, exchange.ReasonExpired, nil)}
		}
		c.sign(outgoing, &encoded, nowMS)
	}
	if limit.IsRecalled() {
		return exchange.Answer{}, outcome{err: notSent(operation, "it was recalled", nil)}
	}
	began := c.config.Clock()
	response, err := c.http.Do(outgoing)
	if err != nil {
		sent := connected.Load() || !c.traced && !neverConnected(err)
		return exchange.Answer{}, failed(operation, err, sent)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if err != nil {
		return exchange.Answer{}, failed(operation, err, true)
	}
	if len(body) > maxBody {
		return exchange.Answer{}, outcome{err: tooLong(operation)}
	}
	ended := c.config.Clock()
	answer, outcome := c.parseAnswer(request, outgoing, response, body)
	outcome.began, outcome.ended = began, ended
	return answer, outcome
}

// inSeconds converts a Retry-After date into seconds from the server's time.
func (c *Client) inSeconds(retryAfter string) string {
	when, err := http.ParseTime(retryAfter)
	if err != nil {
		return retryAfter
	}
	server, _, _ := c.clock.read()
	return strconv.FormatInt(int64(max(0, math.Ceil(when.Sub(server).Seconds()))), 10)
}

// sign adds the three headers (interface, Authentication).
func (c *Client) sign(request *http.Request, encoded *wire.HTTPRequest, nowMS int64) {
	timestamp, keys := strconv.FormatInt(nowMS, 10), c.keys.Load()
	request.Header.Set(wire.HeaderKey, keys.key)
	request.Header.Set(wire.HeaderTimestamp, timestamp)
	path := request.URL.RequestURI()
	if c.config.Signer.Paths == wire.SignRoute {
		path = encoded.Path
	}
	request.Header.Set(wire.HeaderSignature, c.config.Signer.Sign(keys.secret, wire.Signed{
		Timestamp: timestamp, Method: encoded.Method, Path: path, Key: keys.key, Body: encoded.Body}))
}

// parseAnswer parses a completely received answer.
func (c *Client) parseAnswer(request *exchange.Request, outgoing *http.Request, response *http.Response, body []byte) (exchange.Answer, outcome) {
	received := wire.HTTPResponse{Status: response.StatusCode, RetryAfter: c.inSeconds(response.Header.Get("Retry-After")), Body: body}
	answer, err := c.config.Profile.DecodeAnswer(request, received, c.symbols)
	if err == nil {
		c.scrubRows(answer.Unreadable, outgoing.Header.Get(wire.HeaderSignature))
		return answer, outcome{}
	}
	failed := outcome{
		err:        c.scrubbed(err, outgoing.Header.Get(wire.HeaderSignature)),
		again:      response.StatusCode == http.StatusTooManyRequests || response.StatusCode >= http.StatusInternalServerError,
		limited:    response.StatusCode == http.StatusTooManyRequests,
		retryAfter: time.Duration(received.RetryAfterMS()) * time.Millisecond,
	}
	return answer, failed
}

// namesUnknown reports whether the symbol of a row is missing from the table.
func namesUnknown(answer *exchange.Answer) bool {
	return slices.ContainsFunc(answer.Unreadable, func(row exchange.UnreadableRow) bool { return row.UnknownSymbol && row.Symbol != "" })
}

// relisted reads a market's list again if it is old enough, and reports whether it did.
func (c *Client) relisted(ctx context.Context, market exchange.Market) bool {
	return c.symbols.age(market, c.config.Clock()) >= relistAfter && c.list(ctx, market, true) == nil
}

// sleep waits, unless the wait is too long or the context ends first.
func sleep(ctx context.Context, wait time.Duration) bool {
	if deadline, ok := ctx.Deadline(); wait > maxPause || ok && time.Until(deadline) <= wait {
		return false
	}
	select {
	case <-time.After(wait):
		return true
	case <-ctx.Done():
		return false
	}
}
