package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/exchange/wire"
)

func (r *Report) step(t *testing.T, name string) Step {
	t.Helper()
	for _, step := range r.Steps {
		if step.Name == name {
			return step
		}
	}
	t.Fatalf("no step %s in %+v", name, r.Steps)
	return Step{}
}

func TestEveryPublicOperationIsExaminedWithoutKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		venue := serve(t, setup{})
		late := time.Since(began).Milliseconds() + 1 // at most: the clock starts after it was set
		r := probed(t, Config{BaseURL: venue.URL})
		public := 0
		for _, operation := range exchange.Operations() {
			if operation.Signed() {
				continue
			}
			public++
			if step := r.step(t, operation.String()); step.Status != 200 || step.LatencyMS <= 0 {
				t.Errorf("%s: want status and latency, have %+v", operation, step)
			}
		}
		if step := r.step(t, "reach"); step.Outcome != OK || step.What != strings.TrimPrefix(venue.URL, "http://")+", plain http on this machine" {
			t.Errorf("reach: have %+v", step)
		}
		if public != 18 || r.Failed() != 0 {
			t.Errorf("want 18 public operations and no failure, have %d and %+v", public, r.Steps)
		}
		for _, name := range []string{"signature", "window", "delays"} {
			if step := r.step(t, name); step.Outcome != Skip || !strings.Contains(step.What, "no keys") {
				t.Errorf("%s without keys: want it skipped with the reason, have %+v", name, step)
			}
		}
		if want := shift.Milliseconds(); r.Clock == nil || r.Clock.OffsetMS < want-late-r.Clock.BoundMS || r.Clock.OffsetMS > want+1+r.Clock.BoundMS {
			t.Errorf("clock: want %d within the bound, have %+v", want, r.Clock)
		}
		if s := r.Settings; s.WindowMS != 60_000 || s.VisibilityMS != 45_000 || s.StalenessMS != 15_000 || len(s.Measured) != 0 {
			t.Errorf("nothing measured: want the cautious settings, have %+v", s)
		}
	})
}

// TestThePathRuleOfAnAddressWithAPathIsFound serves below /venue, where the prefix is signed or not.
func TestThePathRuleOfAnAddressWithAPathIsFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, paths := range []string{wire.SignFull, wire.SignRoute} {
			between := func(inner http.Handler) http.Handler {
				return http.StripPrefix("/venue", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if paths == wire.SignRoute {
						r.RequestURI = strings.TrimPrefix(r.RequestURI, "/venue")
					}
					inner.ServeHTTP(w, r)
				}))
			}
			r := probed(t, Config{BaseURL: serve(t, setup{between: between}).URL + "/venue", Key: "key", MaxAge: time.Second})
			if r.Signature == nil || r.Signature.Paths != paths || r.Signature.Payload != wire.DefaultTemplate {
				t.Errorf("want the %s path signed, have %+v, %+v", paths, r.Signature, r.step(t, "signature"))
			}
		}
	})
}

// TestProbeExaminesBothMarketsAndClosesAll reads the exchange's own state after a probe.
func TestProbeExaminesBothMarketsAndClosesAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		venue := serve(t, setup{})
		r := probed(
			t,
			Config{
				BaseURL: venue.URL,
				Key:     "key",
				Trade:   true,
				NoFills: true,
				Symbol:  "BTC-USDT",
				Rounds:  1,
				MaxAge:  time.Second,
				MaxWait: 5 * time.Second,
			},
		)
		if r.Failed() > 0 || len(r.Lists) != 4 {
			t.Errorf("want no failure and four lists, have %+v, %+v", r.Lists, r.Steps)
		}
		for _, list := range r.Lists {
			if !list.Echoes {
				t.Errorf("want %s to echo client order ids", list.List)
			}
		}
		var state struct {
			Orders []struct{ Status string }
			Fills  []any
		}
		if err := json.Unmarshal(control(t, venue, http.MethodGet, "/control/v1/orders", ""), &state); err != nil ||
			len(state.Orders) != 2 || len(state.Fills) != 0 {
			t.Fatalf("want two orders and no fill, have %+v, %v", state, err)
		}
		for _, order := range state.Orders {
			if order.Status != "CANCELED" {
				t.Errorf("want every order canceled, have %+v", order)
			}
		}
		profile := r.Profile(time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC))
		for _, want := range []string{"measured: 2026-11-22}", "spot_history: echoed",
			`payload: "{timestamp}{method}{path}{body}"`, "sign: full", "# not determined:"} {
			if !strings.Contains(profile, want) {
				t.Errorf("want %q in the profile, have\n%s", want, profile)
			}
		}
	})
}

func TestAnUnknownSignatureKeyOrSecretIsReported(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signer      wire.Signer
		key, secret string
		hint        string
	}{
		"signature": {wire.Signer{Template: "{key}{body}{key}{path}{timestamp}", Encoding: "hex"}, "key", secret, "--signature-payload"},
		"secret":    {wire.Signer{}, "key", "another", "is the secret the key's own"},
		"key":       {wire.Signer{}, "nobody", secret, "IP whitelist"},
	} {
		t.Run(name, virtual(func(t *testing.T) {
			r := probed(t, Config{BaseURL: serve(t, setup{signer: c.signer}).URL, Key: c.key, Secret: []byte(c.secret), gap: time.Millisecond})
			step := r.step(t, "signature")
			if step.Outcome != Fail || !r.Refused || !strings.Contains(step.Hint, c.hint) {
				t.Errorf("want it refused with a hint about %s, have %+v", c.hint, step)
			}
			if window := r.step(t, "window"); window.Outcome != Skip {
				t.Errorf("window: want it skipped, have %+v", window)
			}
			if text, _ := json.Marshal(r); strings.Contains(string(text), c.secret) {
				t.Errorf("the report holds the secret: %s", text)
			}
		}))
	}
}

// windowOf refuses timestamps outside a window.
func windowOf(past, future time.Duration) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if stamp, err := strconv.ParseInt(r.Header.Get(wire.HeaderTimestamp), 10, 64); err == nil {
				if ahead := time.Duration(stamp-nowMS()) * time.Millisecond; ahead < -past || ahead > future {
					w.WriteHeader(http.StatusUnauthorized)
					fmt.Fprint(w, `{"code":-1021,"msg":"timestamp"}`)
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

func TestTheWindowIsMeasured(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		between      func(http.Handler) http.Handler
		past, future int64
	}{
		{"of the simulated exchange", nil, 5000, 5000},
		{"narrow and lopsided", windowOf(1700*time.Millisecond, 400*time.Millisecond), 1700, 400},
	} {
		t.Run(c.name, virtual(func(t *testing.T) {
			r := probed(t, Config{BaseURL: serve(t, setup{between: c.between}).URL, Key: "key"})
			w := r.Window
			if w == nil {
				t.Fatalf("want a window, have %+v", r.step(t, "window"))
			}
			near := func(have, want int64) bool { return have >= want-w.ErrorMS && have <= want+w.ErrorMS }
			if !near(w.PastMS, c.past) || !near(w.FutureMS, c.future) || w.Unbounded {
				t.Fatalf("want %d and %d ms, have %+v, %+v", c.past, c.future, w, r.step(t, "window"))
			}
			if have := r.Settings.WindowMS; have < c.past || have > c.past+2*w.ErrorMS+100 || !r.Settings.Has("window") {
				t.Errorf("settle.window: want about %d ms, have %+v", c.past, r.Settings)
			}
		}))
	}
}

func TestAnUnboundedWindowIsAWarning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := probed(t, Config{BaseURL: serve(t, setup{}).URL, Key: "key", MaxAge: 3 * time.Second})
		if step := r.step(t, "window"); step.Outcome != Warn || !r.Window.Unbounded || r.Settings.WindowMS < 60_000 {
			t.Errorf("a bound beyond what was tried: want a warning and at least 60 s, have %+v, %+v", step, r.Settings)
		}
	})
}

func TestDelaysAreMeasuredWithAnOrderThatIsCanceledAfterwards(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		delayMS     int64
		hideMS      int
		least, most int64 // of D
	}{
		{"at once", 0, 0, 4, 4}, // the placement, GET and the list take a millisecond each; the fourth is for rounding
		{"a slow book", 600, 0, 600, 630},
		{"hidden from list and GET", 5, 700, 700, 730}, // a cycle of reads takes 22 ms
	} {
		t.Run(c.name, virtual(func(t *testing.T) {
			venue := serve(t, setup{delayMS: c.delayMS})
			if c.hideMS > 0 {
				control(t, venue, http.MethodPost, "/control/v1/faults",
					fmt.Sprintf(`{"match":"POST /fhapi/v1/order","kind":"hide","delay_ms":%d}`, c.hideMS))
			}
			r := probed(t, Config{BaseURL: venue.URL, Key: "key", Trade: true, NoFills: true, Symbol: "BTC-USDT", Rounds: 1,
				MaxAge: 2 * time.Second, MaxWait: 10 * time.Second})
			if r.Delays == nil || r.Delays.VisibilityMS < c.least || r.Delays.VisibilityMS > c.most || r.Failed() > 0 {
				t.Fatalf("want D within %d..%d ms, have %+v, %+v", c.least, c.most, r.Delays, r.Steps)
			}
			if want := max(1000, 4*r.Delays.VisibilityMS); r.Settings.VisibilityMS < want || r.Settings.VisibilityMS > want+100 {
				t.Errorf("settle.visibility: want four times %d and a second at least, have %d", r.Delays.VisibilityMS, r.Settings.VisibilityMS)
			}
			var state struct {
				Orders []struct{ Status string }
				Fills  []any
			}
			if err := json.Unmarshal(control(t, venue, http.MethodGet, "/control/v1/orders", ""), &state); err != nil {
				t.Fatal(err)
			}
			if len(state.Orders) != 2 || state.Orders[0].Status != "CANCELED" || state.Orders[1].Status != "CANCELED" || len(state.Fills) != 0 {
				t.Errorf("want one order on each market, canceled, nothing filled, have %+v", state)
			}
		}))
	}
}

func TestAnOldReadIsMeasured(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// The open list still reports an order in some reads after its cancel was confirmed. The number of reads
		// is fixed, not a time, so a slow machine does not change the case.
		const old = 12
		var mu sync.Mutex // guards all below
		var stale []byte
		var removed, last time.Time // when the venue first reported it removed; when the last old read was sent
		left := 0
		between := func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				if r.URL.Path == "/fhapi/v1/order/open" && left > 0 {
					left, last = left-1, time.Now()
					w.Write(stale)
					return
				}
				recorded := httptest.NewRecorder()
				next.ServeHTTP(recorded, r)
				switch {
				case r.URL.Path == "/fhapi/v1/order/open":
					if strings.Contains(recorded.Body.String(), `"id"`) {
						stale = recorded.Body.Bytes()
					}
				case removed.IsZero() && r.Method == http.MethodGet && strings.Contains(recorded.Body.String(), `"CANCELED"`):
					removed, left = time.Now(), old
				}
				w.WriteHeader(recorded.Code)
				w.Write(recorded.Body.Bytes())
			})
		}
		r := probed(
			t,
			Config{
				BaseURL: serve(t, setup{between: between}).URL,
				Key:     "key",
				Trade:   true,
				NoFills: true,
				Symbol:  "BTC-USDT",
				Rounds:  1,
				MaxAge:  2 * time.Second,
			},
		)
		mu.Lock()
		defer mu.Unlock()
		least, most := ((old - 1) * pollInterval).Milliseconds(), last.Sub(removed).Milliseconds()+1
		if d := r.Delays; left != 0 || d == nil || d.StalenessMS < least || d.StalenessMS > most {
			t.Errorf("want L from %d to %d ms and %d old reads, %d are left; have %+v, %+v", least, most, old, left, d, r.Steps)
		}
	})
}

func TestRefusedPlacementFailsStepWithVenueMessage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := probed(t, Config{BaseURL: serve(t, setup{}).URL, Key: "reader", Trade: true, NoFills: true, Symbol: "BTC-USDT", MaxAge: time.Second})
		if step := r.step(t, "trade"); step.Outcome != Fail || !strings.Contains(step.What, "-2015") || r.Delays != nil {
			t.Errorf("a key that may only read: want the venue's code, have %+v", step)
		}
	})
}

func TestAnOrderWhoseAnswerIsLostIsFoundAndCanceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		venue := serve(t, setup{})
		control(t, venue, http.MethodPost, "/control/v1/faults", `{"match":"POST /fhapi/v1/order","kind":"drop_response","count":1}`)
		r := probed(
			t,
			Config{
				BaseURL: venue.URL,
				Key:     "key",
				Trade:   true,
				NoFills: true,
				Symbol:  "BTC-USDT",
				Rounds:  1,
				MaxAge:  time.Second,
				MaxWait: 5 * time.Second,
			},
		)
		if r.Failed() > 0 {
			t.Errorf("want it found by its client id, have %+v", r.Steps)
		}
		if orders := string(control(t, venue, http.MethodGet, "/control/v1/orders", "")); strings.Count(orders, "CANCELED") != 2 ||
			strings.Contains(orders, `"OPEN"`) {
			t.Errorf("want one order on each market, canceled, have %s", orders)
		}
	})
}

func TestAnOrderIsCanceledWhenTheUserGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		venue := serve(t, setup{})
		control(t, venue, http.MethodPost, "/control/v1/faults", `{"match":"POST /fhapi/v1/order","kind":"hide","delay_ms":60000}`)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		config := Config{
			BaseURL: venue.URL,
			Key:     "key",
			Secret:  []byte(secret),
			Trade:   true,
			NoFills: true,
			Symbol:  "BTC-USDT",
			Rounds:  1,
			MaxAge:  time.Second,
			dial:    dial,
		}
		var watching sync.WaitGroup
		defer watching.Wait()
		config.Progress = func(step Step) {
			if step.Name != "window" {
				return
			}
			watching.Go(func() { // gives up once the exchange has the order, which no list shows
				ticker := time.NewTicker(10 * time.Millisecond)
				defer ticker.Stop()
				for ctx.Err() == nil && !strings.Contains(string(control(t, venue, http.MethodGet, "/control/v1/orders", "")), `"OPEN"`) {
					<-ticker.C
				}
				cancel()
			})
		}
		if _, err := Run(ctx, config); err != nil {
			t.Fatal(err)
		}
		if orders := string(control(t, venue, http.MethodGet, "/control/v1/orders", "")); strings.Count(orders, "CANCELED") != 1 {
			t.Errorf("want the order canceled, have %s", orders)
		}
	})
}

func TestFaultsAndLimitsOfAVenueAreReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited := false
		r := probed(t, Config{BaseURL: serve(t, setup{between: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("X-RateLimit-Remaining", "17")
				path := r.URL.Path
				if path == "/fapi/v1/trades" && limited { // once suffices
					path = ""
				}
				switch path {
				case "/fapi/v1/depth":
					fmt.Fprint(w, "\n<!DOCTYPE html>\n<html>Just a moment...</html>")
				case "/fapi/v1/margin-levels":
					fmt.Fprint(w, `{"code":0,"data":[]}`)
				case "/api/v1/spot/public/pairs":
					http.Redirect(w, r, "https://elsewhere.example/", http.StatusFound)
				case "/fapi/v1/trades":
					limited = true
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(http.StatusTooManyRequests)
				default:
					next.ServeHTTP(w, r)
				}
			})
		}}).URL, gap: firstGap})
		if step := r.step(t, "futures_depth"); step.Outcome != Fail || step.Status != 200 ||
			!strings.Contains(step.What, "<!DOCTYPE html> <html>Just a moment") || step.Hint != pageHint {
			t.Errorf("a web page: %+v", step)
		}
		if step := r.step(t, "futures_margin_levels"); step.Outcome != Fail || step.Status != 200 || !strings.Contains(step.Hint, "does not understand") {
			t.Errorf("an answer of another shape: %+v", step)
		}
		if step := r.step(t, "spot_pairs"); step.Outcome != Fail || step.Status != 302 || !strings.Contains(step.What, "redirects") {
			t.Errorf("a redirect: %+v", step)
		}
		if step := r.step(t, "spot_depth"); step.Outcome != Skip {
			t.Errorf("without the list of pairs: want it skipped, have %+v", step)
		}
		if step := r.step(t, "futures_trades"); step.Outcome != OK {
			t.Errorf("limited once: want it asked again, have %+v", step)
		}
		if step := r.step(t, "rate_limits"); step.Outcome != Warn || !strings.Contains(step.What, "x-ratelimit-remaining: 17") ||
			!strings.Contains(step.Hint, "ended at 25") ||
			r.RateLimited != 1 || r.RateLimits["retry-after"] != "1" {
			t.Errorf("limits: %+v, %+v", step, r.RateLimits)
		}
	})
}

func TestAVenueThatAllowsFewRequestsIsProbed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x, err := sim.New(sim.Config{Symbols: sim.DefaultSymbols(), StartMS: nowMS()})
		if err != nil {
			t.Fatal(err)
		}
		made, err := server.New(server.Config{Exchange: x, Clock: server.Clock{StartMS: nowMS()}, Budget: 10})
		if err != nil {
			t.Fatal(err)
		}
		venue := opened(t, made.Handler())
		r := probed(t, Config{BaseURL: venue.URL, gap: firstGap})
		if r.Failed() != 0 || r.Clock == nil || r.RateLimited == 0 {
			t.Errorf("want it limited and nothing failed, have %d limited, %+v", r.RateLimited, r.Steps)
		}
		if have := r.Settings.RequestsPerSecond; have < 1 || have > 25 {
			t.Errorf("want about 10 requests a second as the setting, have %d", have)
		}
	})
}

func TestAWebPageInsteadOfASignedAnswerIsNoVerdictOnTheKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := probed(t, Config{Key: "key", BaseURL: serve(t, setup{between: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/fhapi/") {
					w.WriteHeader(http.StatusForbidden)
					fmt.Fprintf(w, "<html>blocked: %s</html>", r.Header.Get(wire.HeaderSignature))
					return
				}
				next.ServeHTTP(w, r)
			})
		}}).URL})
		step := r.step(t, "signature")
		if step.Outcome != Fail || step.Status != http.StatusForbidden || step.Hint != pageHint || r.Refused {
			t.Errorf("want it reported as a page, not as a refused key, have %+v, refused %v", step, r.Refused)
		}
		if !strings.Contains(step.What, "<html>blocked: (hidden)") {
			t.Errorf("want the signature hidden, have %s", step.What)
		}
	})
}

func TestTheCertificateIsChecked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		plain := serve(t, setup{})
		secure := &httptest.Server{Listener: newListener(t), Config: plain.Config}
		secure.StartTLS()
		t.Cleanup(secure.Close)
		r := probed(t, Config{BaseURL: secure.URL})
		if step := r.step(t, "reach"); r.Reached || step.Outcome != Fail || !strings.Contains(step.What, "certificate") {
			t.Errorf("a certificate nobody signed: want it refused, have %+v", step)
		}
		pool := x509.NewCertPool()
		pool.AddCert(secure.Certificate())
		r = probed(t, Config{BaseURL: secure.URL, TLS: &tls.Config{RootCAs: pool}})
		if step := r.step(t, "reach"); !r.Reached || step.Outcome != OK || !strings.Contains(step.What, "TLS 1.3") {
			t.Errorf("a good one: %+v", step)
		}
	})
}

func TestAnInvalidAddressIsAnError(t *testing.T) {
	t.Parallel()
	for _, config := range []Config{{Key: "key"}, {Symbol: "BTC-USDT"}} {
		config.BaseURL, config.Trade = "http://127.0.0.1:1", true
		if _, err := Run(t.Context(), config); err == nil || err.Error() != "trading needs keys and a symbol" {
			t.Errorf("%+v: want it refused, have %v", config, err)
		}
	}
	for _, address := range []string{"", "venue.example", "http://venue.example", "https://user:pass@venue.example"} {
		if _, err := Run(t.Context(), Config{BaseURL: address}); err == nil {
			t.Errorf("%q: want an error", address)
		}
	}
}
