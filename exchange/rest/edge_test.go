package rest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"botd/exchange"
	"botd/exchange/wire"
)

// Each figure is tested separately; 0 is the default.
func TestAConfigurationBelowZeroIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		budget  float64
		timeout time.Duration
		refused bool
	}{
		{0, 0, false}, {-0.1, 0, true}, {0, -1, true}, {10, 1, false},
	} {
		client, err := New(Config{BaseURL: "https://example.com", Budget: c.budget, Timeout: c.timeout})
		if refused := err != nil && strings.Contains(err.Error(), "is below 0"); refused != c.refused {
			t.Errorf("%+v: have %v", c, err)
		}
		if want := max(c.timeout, 0); err == nil && (want == 0 && client.config.Timeout != 8*time.Second || want != 0 && client.config.Timeout != want) {
			t.Errorf("%+v: have a timeout of %s", c, client.config.Timeout)
		}
	}
	if _, err := New(Config{BaseURL: "https://example.com", Signer: wire.Signer{Template: "{nothing}"}}); err == nil {
		t.Error("a signer that cannot sign: want it refused")
	}
	transport := newTransport()
	if transport.TLSHandshakeTimeout != 5*time.Second || transport.MaxIdleConnsPerHost != 24 || transport.IdleConnTimeout != 90*time.Second {
		t.Errorf("want connections as documented, have %+v", transport)
	}
}

// A burst is a second's requests, at least one, and a fifth of it is reserved for exits. Guests share a tenth, with a burst of five
// seconds.
func TestTheBudgetsFigures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		perSecond float64
		want      string // limit, burst, reserve; limit and burst of guests
	}{
		{0, "+Inf 1 0; 5 25"}, {0.5, "0.5 1 0; 0.05 1"}, {4, "4 4 0; 0.4 2"}, {5, "5 5 1; 0.5 2"}, {10, "10 10 2; 1 5"},
		{100, "100 100 20; 10 50"}, {1, "1 1 0; 0.1 1"},
	} {
		b, guests := newBudget(c.perSecond), newGuests(c.perSecond)
		limit := fmt.Sprint(float64(b.limiter.Limit()))
		if b.limiter.Limit() == rate.Inf {
			limit = "+Inf"
		}
		if have := fmt.Sprintf("%s %d %v; %v %d", limit, b.limiter.Burst(), b.reserve, guests.Limit(), guests.Burst()); have != c.want {
			t.Errorf("%v: want %s, have %s", c.perSecond, c.want, have)
		}
	}
}

// Requests that are already queued at the same or a higher priority go first.
func TestRequestPriorities(t *testing.T) {
	t.Parallel()
	for waits, want := range map[priority][3]bool{
		priorityExit: {true, true, true}, prioritySettle: {false, true, true}, priorityEnter: {false, false, true},
	} {
		b := newBudget(10)
		for p := range want {
			if b.outranked(priority(p)) {
				t.Errorf("nobody waits: want %d not outranked", p)
			}
		}
		b.queued[waits] = append(b.queued[waits], &turn{comes: make(chan bool, 1), level: waits})
		for p, outranked := range want {
			if have := b.outranked(priority(p)); have != outranked {
				t.Errorf("one of %d waits: want %d outranked %t, have %t", waits, p, outranked, have)
			}
		}
	}
}

// After a quarter of an hour a read refreshes the clock, and a placement does not wait for it. A step of the local clock of more than a
// second, or doubt, has both refresh it.
func TestAReadingOfTheClockAgesByElapsedTime(t *testing.T) {
	t.Parallel()
	read := time.Unix(1_700_000_000, 0)
	for _, c := range []struct {
		passed             time.Duration
		doubts             bool
		mayWait, cannotFor bool // stale for a caller that can wait, and for one that cannot
	}{
		{0, false, false, false}, {15 * time.Minute, false, false, false}, {15*time.Minute + 1, false, true, false}, {time.Hour, false, true, false},
		{-1, false, true, true}, {0, true, true, true},
	} {
		s := &serverClock{now: func() time.Time { return read.Add(c.passed) }}
		if !s.stale(true) || !s.stale(false) {
			t.Error("want a clock that was never read to be stale")
		}
		s.set(read, read.Add(time.Second), 5)
		if c.doubts {
			s.invalidate()
		}
		if have, cannot := s.stale(true), s.stale(false); have != c.mayWait || cannot != c.cannotFor {
			t.Errorf("after %s, doubt %t: want stale %t %t, have %t %t", c.passed, c.doubts, c.mayWait, c.cannotFor, have, cannot)
		}
		server, local, bound := s.read()
		if server != read.Add(c.passed+time.Second) || local != read.Add(c.passed) || bound != 5 {
			t.Errorf("after %s: have %s, %s, %s", c.passed, server, local, bound)
		}
	}
	s := &serverClock{now: func() time.Time { return read }}
	if server, local, bound := s.read(); server != read || local != read || bound != 0 {
		t.Errorf("never read: want the local clock, have %s, %s, %s", server, local, bound)
	}
}

// A second is not a jump.
func TestAClockThatJumpsByMoreThanASecondIsReadAtOnce(t *testing.T) {
	t.Parallel()
	for jump, want := range map[time.Duration]int{time.Second: 0, time.Second + 1: 1, -time.Second: 0, -time.Second - 1: 1, 0: 0} {
		synctest.Test(t, func(t *testing.T) {
			var moved atomic.Int64
			v := newVenue(t)
			client := ready(t, openPipe(t, v, func(c *Config) { c.Clock = func() time.Time { return time.Now().Add(time.Duration(moved.Load())) } }))
			ctx, cancel := context.WithCancel(t.Context())
			readings, done := make(chan ClockReading, 16), make(chan struct{})
			go func() {
				defer close(done)
				client.TrackClock(ctx, time.Hour, func(r ClockReading) { readings <- r })
			}()
			time.Sleep(1500 * time.Millisecond)
			synctest.Wait()
			moved.Store(int64(jump))
			time.Sleep(time.Second)
			synctest.Wait()
			if len(readings) != want {
				t.Errorf("a jump of %s: want %d readings, have %d", jump, want, len(readings))
			} else if want > 0 {
				if r := <-readings; r.Jumped != jump || r.Err != nil {
					t.Errorf("a jump of %s: have %+v", jump, r)
				}
			}
			cancel()
			<-done
		})
	}
}

// Only an error before the connection proves that nothing arrived, and only a placement may then be uncertain.
func TestNetworkErrorClassification(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Err: errors.New("refused")}
	for _, operation := range exchange.Operations() {
		places := operation == exchange.FuturesPlace || operation == exchange.SpotPlace
		unsent := failed(operation, refused, false)
		if kind := exchange.ErrorKind(unsent.err); kind != "unavailable" || !strings.Contains(unsent.err.Error(), "not sent: ") || !unsent.again {
			t.Errorf("%s, before the connection: have %s, %+v", operation, kind, unsent)
		}
		sent, want := failed(operation, context.DeadlineExceeded, true), "unavailable"
		if places {
			want = "uncertain"
		}
		if kind := exchange.ErrorKind(sent.err); kind != want || strings.Contains(sent.err.Error(), "not sent") || sent.again == places {
			t.Errorf("%s, after it: want %s, have %s, %+v", operation, want, kind, sent)
		}
		if kind, want := exchange.ErrorKind(tooLong(operation)), map[bool]string{false: "malformed", true: "uncertain"}[places]; kind != want {
			t.Errorf("%s, too long: want %s, have %s", operation, want, kind)
		}
	}
	for err, want := range map[error]bool{refused: true, &net.OpError{Op: "read", Err: errors.New("reset")}: false, &net.DNSError{}: true,
		errors.New("other"): false} {
		if have := neverConnected(err); have != want {
			t.Errorf("%v: want %t, have %t", err, want, have)
		}
	}
}

// Only spot has an offset.
func TestCandleRequestsOfBothMarkets(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	client := ready(t, open(t, v))
	for market, operation := range map[exchange.Market]exchange.Operation{exchange.Futures: exchange.FuturesCandles, exchange.Spot: exchange.SpotCandles} {
		before := v.count(operation)
		candles, err := client.Candles(t.Context(), exchange.SymbolKey{Market: market, Name: "BTC-USDT"}, exchange.Minute1,
			Span{StartMS: 1_000, EndMS: 2_000, Limit: 3, Offset: 4})
		if err != nil || candles == nil || v.count(operation) != before+1 {
			t.Errorf("%s: want one request of %s, have %d, %v", market, operation, v.count(operation)-before, err)
		}
	}
	if rate, err := client.FundingRate(t.Context(), "BTC-USDT"); err != nil || rate == (exchange.FundingRate{}) {
		t.Errorf("want the rate that the venue answers, have %+v, %v", rate, err)
	}
}

// The other market continues.
func TestPausedUntil(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		client := ready(t, openPipe(t, v))
		for market := range client.budgets {
			if until := client.PausedUntil(market); !until.IsZero() {
				t.Errorf("%s: want no pause, have %s", market, until)
			}
		}
		v.on(exchange.SpotWallet, status(429, `{"code":-1003,"error":"slow down"}`, "Retry-After", "7"))
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), firstProbe/2)
		defer cancel()
		if _, err := client.Do(ctx, exchange.Request{Operation: exchange.SpotWallet}); err == nil {
			t.Error("want it limited")
		}
		if left := client.PausedUntil(exchange.Spot).Sub(began); left < 7*time.Second || left > 8*time.Second {
			t.Errorf("want spot paused for 7 s, have %s", left)
		}
		if until := client.PausedUntil(exchange.Futures); !until.IsZero() {
			t.Errorf("want futures not paused, have %s", until)
		}
		time.Sleep(7 * time.Second)
		if until := client.PausedUntil(exchange.Spot); !until.IsZero() {
			t.Errorf("want the pause over, have %s", until)
		}
	})
}

// Reasons are labels of metrics.
func TestReasonsAreOfAClosedSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{context.Canceled, "canceled"}, {context.DeadlineExceeded, "timeout"}, {&net.DNSError{IsTimeout: true}, "name not found"},
		{os.ErrDeadlineExceeded, "timeout"}, {syscall.ECONNREFUSED, "connection refused"}, {syscall.ECONNRESET, "reset"}, {syscall.EPIPE, "reset"},
		{io.EOF, "eof"}, {io.ErrUnexpectedEOF, "eof"}, {x509.UnknownAuthorityError{}, "certificate not trusted"},
		{tls.RecordHeaderError{}, "certificate not trusted"}, {errors.New("secret"), "network error"},
	} {
		if have := reason(fmt.Errorf("a test: %w", c.err)); have != c.want {
			t.Errorf("%v: want %q, have %q", c.err, c.want, have)
		}
	}
	for address, want := range map[string]string{"https://name:secret@example.com/x": "(hidden)@example.com/x", "https://example.com": "https://example.com",
		"@": "(hidden)@"} {
		if have := redact(address); have != want {
			t.Errorf("%s: want %s, have %s", address, want, have)
		}
	}
}

func TestCanceledCallerSendsNoRequest(t *testing.T) {
	t.Parallel()
	canceled, end := context.WithCancel(t.Context())
	end()
	if probe, err := newBudget(10).wait(canceled, priorityExit, false, nil); probe || !errors.Is(err, context.Canceled) {
		t.Errorf("want no turn, have %v", err)
	}
	v := newVenue(t)
	client := ready(t, open(t, v))
	before := v.count(exchange.FuturesPing)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, outcome := client.exchange(ctx, &exchange.Request{Operation: exchange.FuturesPing}, exchange.SendLimit{})
	if outcome.err == nil || !strings.Contains(outcome.err.Error(), "not sent: canceled") || v.count(exchange.FuturesPing) != before {
		t.Errorf("want nothing sent, have %v", outcome.err)
	}
}
