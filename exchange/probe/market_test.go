package probe

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
)

// trading is the configuration of a short probe with orders.
func trading(venue *httptest.Server) Config {
	return Config{BaseURL: venue.URL, Key: "key", Secret: []byte(secret), Trade: true, Symbol: "BTC-USDT", Rounds: 1, MaxAge: time.Second,
		MaxWait: 5 * time.Second, glance: time.Millisecond, dial: dial}
}

// TestMarketsAreProbedIndependently fails the futures orders, then the spot ones.
func TestMarketsAreProbedIndependently(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, fault    string
		failing, other exchange.Market
		fails          string
	}{
		{"futures refused", `{"match":"POST /fhapi/v1/order","kind":"status","status":400}`, exchange.Futures, exchange.Spot, "trade"},
		{"futures hidden", `{"match":"POST /fhapi/v1/order","kind":"hide","delay_ms":60000}`, exchange.Futures, exchange.Spot, "trade"},
		{"futures depth", `{"match":"GET /fapi/v1/depth","kind":"status","status":404}`, exchange.Futures, exchange.Spot, "trade"},
		{"spot hidden", `{"match":"POST /hapi/v1/spot/order","kind":"hide","delay_ms":60000}`, exchange.Spot, exchange.Futures, "spot"},
	} {
		t.Run(c.name, virtual(func(t *testing.T) {
			venue := serve(t, setup{})
			control(t, venue, http.MethodPost, "/control/v1/faults", c.fault)
			config := trading(venue)
			config.MaxWait = 2 * time.Second
			r := probed(t, config)
			_, measured := r.Markets[c.other.String()]
			_, failed := r.Markets[c.failing.String()]
			if !measured || failed || r.step(t, c.fails).Outcome != Fail || r.step(t, c.other.String()+"_fill").Outcome != OK {
				t.Errorf("want %s measured and %s not, have %+v, %+v", c.other, c.failing, r.Markets, r.Steps)
			}
			profile := r.Profile(time.Unix(0, 0))
			if !strings.Contains(profile, "  "+c.other.String()+": {window:") || !strings.Contains(profile, "# "+c.failing.String()+": not measured") {
				t.Errorf("want the profile to say so, have\n%s", profile)
			}
		}))
	}
}

// TestAProbeThatIsInterruptedEndsAtOnce stops the probe before the first order, and while orders are placed. The
// configured wait is an hour, so the probe must not wait for an order that was not sent or was answered.
func TestAProbeThatIsInterruptedEndsAtOnce(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]string{"before the first order": "window", "between orders": "futures_fill", "before spot": "trade"} {
		t.Run(name, virtual(func(t *testing.T) {
			venue := serve(t, setup{})
			interrupted(t, venue, func(config *Config, stop func()) {
				config.Progress = func(step Step) {
					if step.Name == at {
						stop()
					}
				}
			})
		}))
	}
	t.Run("while an order is placed", virtual(func(t *testing.T) {
		stop := make(chan func(), 1)
		venue := serve(t, setup{between: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost && r.URL.Path == "/fhapi/v1/order" && len(stop) > 0 {
					(<-stop)()
				}
				next.ServeHTTP(w, r)
			})
		}})
		interrupted(t, venue, func(_ *Config, cancel func()) { stop <- cancel })
	}))
}

// TestAnOrderThatIsInterruptedIsNoMeasurement stops the probe at many moments of its orders far from the price: the step of that moment fails, and
// nothing is open.
func TestAnOrderThatIsInterruptedIsNoMeasurement(t *testing.T) {
	t.Parallel()
	t.Run("every few milliseconds", virtual(func(t *testing.T) {
		failed := 0
		for after := time.Millisecond; after < 2400*time.Millisecond; after += 31 * time.Millisecond {
			venue := serve(t, setup{})
			interrupted(t, venue, func(config *Config, stop func()) {
				stopped := false
				config.Progress = func(step Step) {
					switch step.Name {
					case "window":
						time.AfterFunc(after, func() { stopped = true; stop() })
					case "trade", "spot":
						if !stopped {
							break
						}
						if step.Outcome != Fail && step.Outcome != Skip {
							t.Errorf("stopped after %s: have %+v", after, step)
						}
						failed++
					}
				}
			})
		}
		if failed < 60 {
			t.Errorf("want most moments within an order, have %d", failed)
		}
	}))
}

// interrupted probes until the probe is stopped, and expects nothing to be open.
func interrupted(t *testing.T, venue *httptest.Server, prepare func(config *Config, stop func())) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	config := trading(venue)
	config.MaxWait = time.Hour
	prepare(&config, stop)
	if _, err := Run(ctx, config); err != nil {
		t.Fatal(err)
	}
	text := string(control(t, venue, http.MethodGet, "/control/v1/orders", ""))
	if ctx.Err() == nil || strings.Contains(text, `"OPEN"`) || strings.Contains(text, `"NEW"`) || strings.Contains(text, `"CREATED"`) {
		t.Errorf("want it stopped and nothing open, have %s", text)
	}
	if held := heldAfter(t, []byte(text))["futures"]; held > 1e-9 || held < -1e-9 {
		t.Errorf("want no position left, have %v", held)
	}
}

// Without such a level the step is skipped and names the smallest one, which is bought with a larger budget.
func TestAPartialFillNeedsALevelThatIsAffordable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		venue := serve(t, setup{})
		r := probed(t, trading(venue))
		for _, name := range []string{"futures_partial", "spot_partial"} {
			if step := r.step(t, name); step.Outcome != Skip || !strings.Contains(step.What, "never small enough in 20 reads") || step.Hint == "" {
				t.Errorf("want it skipped with the reason, have %+v", step)
			}
		}
		for market, quantity := range map[exchange.Market]string{exchange.Futures: "0.02", exchange.Spot: "0.02"} {
			order(t, venue, "other", exchange.NewOrder{Market: market, Side: exchange.Sell, Type: exchange.Limit}, "50000", quantity)
		}
		config := trading(venue)
		config.Spend = exchange.AmountOf(9_000)
		refill := config
		refill.Progress = func(step Step) { // replaces what the previous exercise bought of the level
			switch step.Name {
			case "futures_stop":
				order(t, venue, "other", exchange.NewOrder{Market: exchange.Futures, Side: exchange.Sell, Type: exchange.Limit}, "50000", "0.01")
			case "spot_stop":
				order(t, venue, "other", exchange.NewOrder{Market: exchange.Spot, Side: exchange.Sell, Type: exchange.Limit}, "50000", "0.14")
			}
		}
		if r := probed(t, refill); !r.Partial || r.Failed() > 0 {
			t.Errorf("want part fills, and everything sold again but the fee, which is worth more than the smallest order, have %+v", r.Steps)
		}
	})
}
