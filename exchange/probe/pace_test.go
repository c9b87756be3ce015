package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/exchange/wire"
)

// callerOf returns a caller of a venue in virtual time, with the times of the requests that reach the venue, from now on.
func callerOf(t *testing.T, config Config, answer func(w http.ResponseWriter, r *http.Request, n int)) (c *caller, times func() []time.Duration) {
	t.Helper()
	began, seen := time.Now(), []time.Duration{}
	venue := opened(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, time.Since(began)-latency/2)
		answer(w, r, len(seen))
	}))
	config.BaseURL, config.dial = venue.URL, dial
	config.fill()
	return newCaller(&config), func() []time.Duration { return seen }
}

func status(code int, header ...string) func(http.ResponseWriter, *http.Request, int) {
	return func(w http.ResponseWriter, _ *http.Request, _ int) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte(`{"status":"OK","serverTime":5}`))
	}
}

var ping = exchange.Request{Operation: exchange.FuturesPing}

// TestRequestsKeepTheirPace counts the virtual milliseconds between requests. Each takes one. The gap doubles with each answer
// 429, up to a second. A request that was limited is sent three more times, after half a second at least and ten at most.
func TestRequestsKeepTheirPace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer func(http.ResponseWriter, *http.Request, int)
		calls  int
		want   []int // milliseconds
		gap    time.Duration
	}{
		{"the first gap", status(200), 3, []int{0, 20, 40}, 20 * time.Millisecond},
		{"always limited", status(429), 2, []int{0, 501, 1002, 1503, 1823, 2463, 3463, 4463}, time.Second},
		{"for two seconds", status(429, "Retry-After", "2"), 1, []int{0, 2001, 4002, 6003}, 320 * time.Millisecond},
		{"for a minute", status(429, "Retry-After", "60"), 1, []int{0, 10_001, 20_002, 30_003}, 320 * time.Millisecond},
		{"a minute in all", status(429, "Retry-After", "60"), 3, []int{0, 10_001, 20_002, 30_003, 30_323, 40_324, 50_325, 60_326, 61_326}, time.Second},
		{"limited once", func(w http.ResponseWriter, r *http.Request, n int) {
			status(map[bool]int{true: 429, false: 200}[n == 1])(w, r, n)
		}, 2, []int{0, 501, 541}, 40 * time.Millisecond},
		{"unavailable", status(503), 1, []int{0}, 20 * time.Millisecond},
	} {
		t.Run(c.name, virtual(func(t *testing.T) {
			caller, times := callerOf(t, Config{}, c.answer)
			for range c.calls {
				caller.unlimited(t.Context(), ping)
			}
			if have := milliseconds(times()); !slices.Equal(have, c.want) || caller.gap != c.gap || caller.calls != len(have) {
				t.Errorf("want requests at %v ms and a gap of %s, have %v and %s", c.want, c.gap, have, caller.gap)
			}
		}))
	}
}

func milliseconds(times []time.Duration) (all []int) {
	for _, each := range times {
		all = append(all, int(each.Milliseconds()))
	}
	return all
}

// TestAnUnavailableVenueIsAskedThreeMoreTimes counts the requests and their times.
func TestAnUnavailableVenueIsAskedThreeMoreTimes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer func(http.ResponseWriter, *http.Request, int)
		want   []int // milliseconds
	}{
		{"500", status(500), []int{0, 501, 1002, 1503}},
		{"503 for three seconds", status(503, "Retry-After", "3"), []int{0, 3001, 6002, 9003}},
		{"503 for an hour", status(503, "Retry-After", "3600"), []int{0, 10_001, 20_002, 30_003}},
		{"499", status(499), []int{0}},
		{"200", status(200), []int{0}},
		{"500 once", func(w http.ResponseWriter, r *http.Request, n int) {
			status(map[bool]int{true: 500, false: 200}[n == 1])(w, r, n)
		}, []int{0, 501}},
	} {
		t.Run(c.name, virtual(func(t *testing.T) {
			caller, times := callerOf(t, Config{}, c.answer)
			caller.callWithRetries(t.Context(), ping)
			if have := milliseconds(times()); !slices.Equal(have, c.want) {
				t.Errorf("want requests at %v ms, have %v", c.want, have)
			}
		}))
	}
	t.Run("no answer", virtual(func(t *testing.T) {
		began, times := time.Now(), []time.Duration{}
		config := Config{BaseURL: "http://127.0.0.1:1", dial: func(context.Context, string, string) (net.Conn, error) {
			times = append(times, time.Since(began))
			return nil, errors.New("refused")
		}}
		config.fill()
		r := newCaller(&config).callWithRetries(t.Context(), ping)
		if have := milliseconds(times); !slices.Equal(have, []int{0, 500, 1000, 1500}) || r.err == nil || r.err.Error() != "refused" || r.status != 0 {
			t.Errorf("want four tries and the reason without the address, have %v, %v", have, r.err)
		}
	}))
}

// TestTheBudgetOfRequestsIsKept spends it. Cancels are sent beyond it, and everything once what is open is being closed.
func TestTheBudgetOfRequestsIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		caller, times := callerOf(t, Config{Requests: 2}, status(200))
		for range 2 {
			if r := caller.call(t.Context(), ping); r.err != nil {
				t.Fatal(r.err)
			}
		}
		if r := caller.call(t.Context(), ping); r.err == nil || r.err.Error() != "the probe's budget of 2 requests is used up" || !r.began.IsZero() {
			t.Errorf("want the third refused, have %+v", r)
		}
		for _, operation := range []exchange.Operation{exchange.FuturesCancel, exchange.SpotCancel} {
			if r := caller.call(t.Context(), exchange.Request{Operation: operation, OrderID: 1, Symbol: "BTC-USDT"}); r.status != 200 {
				t.Errorf("%s: want it sent, have %v", operation, r.err)
			}
		}
		caller.reserve = true
		if r := caller.call(t.Context(), ping); r.err != nil || len(times()) != 5 {
			t.Errorf("want it sent while closing, have %v, %d requests", r.err, len(times()))
		}
	})
}

// TestASignedRequestCarriesTheVenuesTime checks the headers of a request at a shifted time.
func TestASignedRequestCarriesTheVenuesTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got http.Header
		caller, _ := callerOf(t, Config{Key: "key", Secret: []byte(secret)}, func(w http.ResponseWriter, r *http.Request, _ int) {
			got = r.Header
			w.Header().Set("X-MBX-Used-Weight", "3")
			w.Header().Add("Rate-Limit-Left", "4")
			w.Header().Add("Rate-Limit-Left", "5")
			w.Header().Set("X-Other", "6")
			_, _ = w.Write([]byte("{}"))
		})
		caller.offset, caller.shift = 3*time.Second, -500*time.Millisecond
		sentMS := time.Now().UnixMilli()
		r := caller.call(t.Context(), exchange.Request{Operation: exchange.FuturesAccount})
		want := fmt.Sprint(sentMS + 2_500)
		if got.Get(wire.HeaderTimestamp) != want || got.Get(wire.HeaderKey) != "key" || got.Get("User-Agent") != "botd" || got.Get("Content-Type") != "" {
			t.Errorf("want the time %s, have %v", want, got)
		}
		signed := wire.Signed{Timestamp: want, Method: "GET", Path: "/fhapi/v1/margin/account", Key: "key"}
		if signature := (wire.Signer{}).Sign([]byte(secret), signed); got.Get(wire.HeaderSignature) != signature {
			t.Errorf("want %s, have %v", signature, got)
		}
		if r.took() != latency || r.status != 200 || len(caller.headers) != 2 || caller.headers["x-mbx-used-weight"] != "3" ||
			caller.headers["rate-limit-left"] != "4, 5" || caller.limited != 0 {
			t.Errorf("want a millisecond and the limits, have %s, %v", r.took(), caller.headers)
		}
		caller.call(t.Context(), ping)
		if got.Get(wire.HeaderKey) != "" || got.Get(wire.HeaderSignature) != "" || got.Get(wire.HeaderTimestamp) != "" {
			t.Errorf("a public request: want no key, have %v", got)
		}
		caller.call(t.Context(), exchange.Request{Operation: exchange.FuturesOpenPositions})
		if got.Get("Content-Type") != "application/json" {
			t.Errorf("a body: have %v", got)
		}
	})
}

// TestAnswersThatAreTooLongOrElsewhereAreErrors covers a body of 8 MiB and one more byte, and redirects.
func TestAnswersThatAreTooLongOrElsewhereAreErrors(t *testing.T) {
	t.Parallel()
	body := []byte(`{"status":"OK","x":"` + strings.Repeat("x", 8<<20) + `"}`)
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request, int)
		want   string // in the error; empty for none
	}{
		"8 MiB": {func(w http.ResponseWriter, _ *http.Request, _ int) {
			_, _ = w.Write(append(body[:8<<20-2:8<<20-2], '"', '}'))
		}, ""},
		"a byte more": {func(w http.ResponseWriter, _ *http.Request, _ int) {
			_, _ = w.Write(append(body[:8<<20-1:8<<20-1], '"', '}'))
		}, "the answer is longer than 8 MiB"},
		"elsewhere":          {status(307, "Location", "/x"), "it redirects to /x"},
		"nowhere":            {status(307), "status 307"},
		"a place of a 201":   {status(201, "Location", "/x"), ""},
		"the secret, echoed": {status(307, "Location", "/"+secret), "it redirects to /(hidden)"},
	} {
		t.Run(name, virtual(func(t *testing.T) {
			caller, times := callerOf(t, Config{Key: "key", Secret: []byte(secret)}, c.answer)
			r := caller.call(t.Context(), ping)
			if c.want == "" && r.err != nil || c.want != "" && (r.err == nil || !strings.Contains(r.err.Error(), c.want)) || len(times()) != 1 {
				t.Errorf("want %q after one request, have %v", c.want, r.err)
			}
		}))
	}
}

func TestAPauseEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if !pause(t.Context(), 0) || !pause(t.Context(), -time.Second) || time.Since(began) != 0 {
			t.Error("want no pause of nothing")
		}
		if !pause(t.Context(), time.Minute) || time.Since(began) != time.Minute {
			t.Errorf("want a minute, have %s", time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if began = time.Now(); pause(ctx, time.Minute) || time.Since(began) != time.Second || pause(ctx, 0) {
			t.Errorf("want it ended after a second, have %s", time.Since(began))
		}
	})
}

// TestAClockASecondAwayIsAWarning covers venues a second away, and a millisecond more, in both directions.
func TestAClockASecondAwayIsAWarning(t *testing.T) {
	t.Parallel()
	for aheadMS, want := range map[int64]Outcome{0: OK, 1_000: OK, 1_001: Warn, -1_000: OK, -1_001: Warn} {
		t.Run(fmt.Sprint(aheadMS), virtual(func(t *testing.T) {
			<-time.After(time.Millisecond - latency/2) // so that the middle of the request is a whole millisecond
			caller, _ := callerOf(t, Config{gap: time.Millisecond}, func(w http.ResponseWriter, _ *http.Request, _ int) {
				fmt.Fprintf(w, `{"serverTime":%d}`, time.Now().UnixMilli()+aheadMS)
			})
			p := &prober{caller: caller, report: &Report{}, config: Config{Progress: func(Step) {}}}
			p.clock(t.Context())
			step := p.report.Steps[0]
			// Half of the latency and a millisecond, since the server's time is in whole milliseconds: 1.5, rounded up.
			if step.Outcome != want || step.LatencyMS != 1 || (step.Hint != "") != (want == Warn) || *p.report.Clock != (Clock{aheadMS, 2}) ||
				step.What != fmt.Sprintf("the venue is %+d ms from this machine, +-2 ms", aheadMS) {
				t.Errorf("want %s, have %+v, %+v", want, step, p.report.Clock)
			}
		}))
	}
	t.Run("none", virtual(func(t *testing.T) {
		caller, times := callerOf(t, Config{}, status(404))
		p := &prober{caller: caller, report: &Report{}, config: Config{Progress: func(Step) {}}}
		p.clock(t.Context())
		if step := p.report.Steps[0]; step.Outcome != Fail || step.Hint != "every signature needs it" || p.report.Clock != nil || len(times()) != 5 {
			t.Errorf("want it to fail after five reads, have %+v", p.report)
		}
	}))
}

// TestTheVenueIsSpokenToByHTTP1 serves HTTP/2 too.
func TestTheVenueIsSpokenToByHTTP1(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		protocols := map[string]bool{}
		venue := &httptest.Server{Listener: newListener(t), EnableHTTP2: true, Config: &http.Server{Handler: http.HandlerFunc(
			func(w http.ResponseWriter, r *http.Request) {
				protocols[r.Proto] = true
				_, _ = w.Write([]byte(`{"status":"OK"}`))
			})}}
		venue.StartTLS()
		t.Cleanup(venue.Close)
		pool := x509.NewCertPool()
		pool.AddCert(venue.Certificate())
		config := Config{BaseURL: venue.URL, dial: dial, TLS: &tls.Config{RootCAs: pool}}
		config.fill()
		if r := newCaller(&config).call(t.Context(), ping); r.err != nil || len(protocols) != 1 || !protocols["HTTP/1.1"] {
			t.Errorf("want HTTP/1.1, have %v, %v", protocols, r.err)
		}
	})
}

func TestFailedStepsAreCounted(t *testing.T) {
	t.Parallel()
	r := Report{Steps: []Step{{Outcome: Fail}, {Outcome: OK}, {Outcome: Warn}, {Outcome: Fail}, {Outcome: Skip}}}
	if have := r.Failed(); have != 2 {
		t.Errorf("want 2, have %d", have)
	}
}
