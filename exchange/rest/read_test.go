package rest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
)

func TestReadsAreRetriedWithGrowingPauses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		faults       []fault
		tries        int
		least, most  time.Duration
		kind, reason string
	}{
		{"one 503", []fault{status(503, "")}, 2, 100 * time.Millisecond, 300 * time.Millisecond, "", ""},
		{"500, 502, then closed", []fault{status(500, `{"code":1,"error":"x"}`), status(502, "<html>"), closed}, 4, 900 * time.Millisecond,
			2 * time.Second, "", ""},
		{"always 503", []fault{status(503, ""), status(503, ""), status(503, ""), status(503, "")}, 4, 900 * time.Millisecond, 2 * time.Second,
			"unavailable", "status 503"},
		{"limited for 7 s", []fault{status(429, "", "Retry-After", "7")}, 2, 7 * time.Second, 8 * time.Second, "", ""},
		{"a read that exits need, limited for 7 s", []fault{status(429, "", "Retry-After", "7")}, 2, firstProbe, firstProbe, "", ""},
		{"limited until a time", []fault{func(w http.ResponseWriter, r *http.Request, answer []byte) {
			status(429, "", "Retry-After", time.Now().Add(7*time.Second).UTC().Format(http.TimeFormat))(w, r, answer)
		}}, 2, 6 * time.Second, 8 * time.Second, "", ""},
		{"limited until a time that has passed", []fault{status(429, "", "Retry-After", "Fri, 31 Dec 1999 00:00:00 GMT")}, 2, firstProbe,
			firstProbe, "", ""},
		{"limited for an hour", []fault{status(429, "", "Retry-After", "3600")}, 1, 0, time.Millisecond, "unavailable", "rate limited"},
		{"refused", []fault{status(400, `{"code":2000,"error":"limit 0"}`)}, 1, 0, time.Millisecond, "refusal", "limit 0"},
		{"a page of a firewall", []fault{status(403, "<html>")}, 1, 0, time.Millisecond, "unavailable", "status 403"},
		{"no JSON", []fault{status(200, "<html>")}, 1, 0, time.Millisecond, "malformed", "want an array"},
		{"half an answer", []fault{truncated}, 2, 100 * time.Millisecond, 300 * time.Millisecond, "", ""},
		{"silence", []fault{silent}, 2, 5 * time.Second, 6 * time.Second, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVenue(t)
				client := ready(t, openPipe(t, v))
				request := exchange.Request{Operation: exchange.FuturesOpenOrders}
				if strings.HasPrefix(c.name, "limited") { // openings and market data wait as long as the exchange asks
					request = exchange.Request{Operation: exchange.FuturesTrades, Symbol: "BTC-USDT", Limit: 1}
				}
				v.on(request.Operation, c.faults...)
				began := time.Now()
				_, err := call(t.Context(), client, request)
				took := time.Since(began)
				kind(t, c.name, err, c.kind, c.reason)
				if have := v.count(request.Operation); have != c.tries {
					t.Errorf("tries: want %d, have %d", c.tries, have)
				}
				if took < c.least || took > c.most {
					t.Errorf("time: want %s to %s, have %s", c.least, c.most, took)
				}
			})
		})
	}
}

func TestRetryAfterReachesTheCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		client := ready(t, openPipe(t, v))
		v.on(exchange.SpotPairs, status(429, "", "Retry-After", "3600"))
		_, err := call(t.Context(), client, exchange.Request{Operation: exchange.SpotPairs})
		var unavailable *exchange.Unavailable
		if !errors.As(err, &unavailable) || unavailable.RetryAfterMS != 3_600_000 || unavailable.Operation != exchange.SpotPairs {
			t.Errorf("want an hour, have %+v", err)
		}
		v.on(exchange.SpotPairs, status(429, "", "Retry-After", time.Now().Add(time.Hour+maxPause).UTC().Format(http.TimeFormat)))
		_, err = call(t.Context(), client, exchange.Request{Operation: exchange.SpotPairs})
		if !errors.As(err, &unavailable) || unavailable.RetryAfterMS < 3_599_000 || unavailable.RetryAfterMS > 3_601_000 {
			t.Errorf("until a date in an hour: want an hour, have %+v", err)
		}
	})
}

func TestAReadGivesUpWhenItsContextWouldEndBeforeTheNextRetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		client := ready(t, openPipe(t, v))
		v.on(exchange.SpotWallet, status(503, "", "Retry-After", "20"))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		began := time.Now()
		_, err := call(ctx, client, exchange.Request{Operation: exchange.SpotWallet})
		kind(t, "wallet", err, "unavailable", "status 503")
		if took := time.Since(began); took > time.Second {
			t.Errorf("want it at once, have %s", took)
		}
	})
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	for _, code := range []int{301, 302, 303, 307, 308} {
		v := newVenue(t)
		client := ready(t, open(t, v))
		away := status(code, "", "Location", "/elsewhere")
		v.on(exchange.FuturesAccount, away)
		_, err := call(t.Context(), client, exchange.Request{Operation: exchange.FuturesAccount})
		kind(t, "account", err, "unavailable", fmt.Sprint("status ", code))
		v.on(exchange.FuturesPlace, away)
		_, err = place(t.Context(), client, exchange.Futures, market(exchange.Buy))
		kind(t, "placement", err, "uncertain", "status")
		v.mu.Lock()
		if v.redirs != 0 || v.counts[exchange.FuturesPlace] != 1 {
			t.Errorf("%d: followed %d times, placed %d times", code, v.redirs, v.counts[exchange.FuturesPlace])
		}
		v.mu.Unlock()
	}
}

func TestAnswersBeyondTheLimitAreNotRead(t *testing.T) {
	t.Parallel()
	stopped := make(chan struct{}, 2)
	endless := func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		chunk := []byte(strings.Repeat(" ", 1<<20))
		for range 8 * maxBody >> 20 {
			if _, err := w.Write(chunk); err != nil {
				stopped <- struct{}{}
				return
			}
		}
		t.Error("the client read eight times the cap")
		stopped <- struct{}{}
	}
	v := newVenue(t)
	client := ready(t, open(t, v))
	v.on(exchange.FuturesSymbols, endless)
	_, err := call(t.Context(), client, exchange.Request{Operation: exchange.FuturesSymbols})
	kind(t, "symbols", err, "malformed", "8 MiB")
	v.on(exchange.FuturesPlace, endless)
	_, err = place(t.Context(), client, exchange.Futures, market(exchange.Buy))
	kind(t, "placement", err, "uncertain", "malformed answer")
	<-stopped
	<-stopped
}

func TestConnectionErrorsAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, "connection refused"},
		{&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}}, "name not found"},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, "reset"},
		{context.DeadlineExceeded, "timeout"},
		{errors.New("strange"), "network error"},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := dial(t, "http://127.0.0.1:1", dialer(func(context.Context) error { return c.err }))
			_, err := call(t.Context(), client, exchange.Request{Operation: exchange.FuturesPing})
			kind(t, c.want, err, "unavailable", "not sent: "+c.want)
			if !errors.Is(err, c.err) {
				t.Errorf("%s: the cause is lost: %v", c.want, err)
			}
		})
	}
}
