package probe

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"botd/exchange"
	"botd/exchange/wire"
)

var update = flag.Bool("update", false, "write testdata/reports again")

// The times in a report depend on the start of the venue's clock, and its address on the other tests.
var (
	dates   = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	address = regexp.MustCompile(`127\.0\.0\.1:\d+`)
)

// written returns a report as text: its steps, its figures, and how long it took.
func written(t *testing.T, r *Report, took time.Duration) string {
	t.Helper()
	var text strings.Builder
	for _, s := range r.Steps {
		fmt.Fprintf(&text, "%s: %s, status %d, %g ms: %s\n", s.Name, s.Outcome, s.Status, s.LatencyMS, s.What)
		if s.Hint != "" {
			fmt.Fprintf(&text, "\thint: %s\n", s.Hint)
		}
	}
	rest := *r
	if rest.Steps = nil; rest.Clock != nil {
		rest.Clock = &Clock{r.Clock.OffsetMS - shift.Milliseconds(), r.Clock.BoundMS}
	}
	figures, err := json.MarshalIndent(rest, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&text, "%s\nreached %t, refused %t, %d failed, after %s\n", figures, r.Reached, r.Refused, r.Failed(), took)
	masked := dates.ReplaceAllString(address.ReplaceAllString(text.String(), "ADDRESS"), "TIME")
	return regexp.MustCompile(`the venue is [+-]\d+ ms from`).ReplaceAllString(masked, "the venue is so many ms from")
}

// These compare each word and figure of a report with a golden file, in virtual time: what a person sees of quantities, prices and durations, the number
// of requests and how long a probe takes. Each is a test of its own, so that a mutation run, which leaves out tests of seconds, has them.

func TestTheReportOfPublicSteps(t *testing.T)   { wholeReport(t, "public") }
func TestTheReportOfTrading(t *testing.T)       { wholeReport(t, "trading") }
func TestTheReportOfASlowVenue(t *testing.T)    { wholeReport(t, "slow") }
func TestTheReportOfAnotherSymbol(t *testing.T) { wholeReport(t, "other symbol") }
func TestTheReportOfAnotherScheme(t *testing.T) { wholeReport(t, "other scheme") }
func TestTheReportOfAWrongSecret(t *testing.T)  { wholeReport(t, "wrong secret") }
func TestTheReportOfFewRequests(t *testing.T)   { wholeReport(t, "few requests") }
func TestTheReportOfAReader(t *testing.T)       { wholeReport(t, "reader") }
func TestTheReportOfNoSymbol(t *testing.T)      { wholeReport(t, "unknown") }
func TestTheReportOfHiddenOrders(t *testing.T)  { wholeReport(t, "hidden orders") }
func TestTheReportOfLostOrders(t *testing.T)    { wholeReport(t, "never shown") }
func TestTheReportOfPartialFills(t *testing.T)  { wholeReport(t, "fills in part") }
func TestTheReportOfOneRound(t *testing.T)      { wholeReport(t, "one round") }

// probing is a probe of a venue.
type probing struct {
	setup  setup
	config Config
	before func(t *testing.T, venue *httptest.Server, config *Config)
}

func probings() map[string]probing {
	short := Config{Key: "key", Trade: true, Symbol: "BTC-USDT", Rounds: 2, MaxAge: 2 * time.Second, MaxWait: 5 * time.Second}
	with := func(change func(c *Config)) Config { c := short; change(&c); return c }
	return map[string]probing{
		"public":       {setup{}, Config{}, nil},
		"trading":      {setup{}, short, nil},
		"one round":    {setup{}, oneRound(), nil},
		"slow":         {setup{delayMS: 600}, with(func(c *Config) { c.NoFills = true }), nil},
		"other symbol": {setup{}, with(func(c *Config) { c.Symbol, c.Distance, c.Rounds = "ETH-USDT", exchange.RateOne/10, 1 }), nil},
		"other scheme": {setup{signer: wire.Signer{Template: "{timestamp}{key}{method}{path}{body}", Encoding: "base64"}},
			with(func(c *Config) { c.Rounds = 1 }), nil},
		"wrong secret":  {setup{}, Config{Key: "key", Secret: []byte("another"), Tries: 30}, nil},
		"few requests":  {setup{}, with(func(c *Config) { c.Requests = 120 }), nil},
		"reader":        {setup{}, with(func(c *Config) { c.Key = "reader" }), nil},
		"unknown":       {setup{}, with(func(c *Config) { c.Symbol = "NONE-USDT" }), nil},
		"hidden orders": {setup{delayMS: 5}, with(func(c *Config) { c.Rounds = 1 }), hides(700)},
		"never shown":   {setup{}, with(func(c *Config) { c.Rounds, c.MaxWait = 1, 2*time.Second }), hides(60_000)},
		"fills in part": {setup{}, short, func(t *testing.T, venue *httptest.Server, config *Config) {
			config.Progress = func(step Step) { // the level exists when the exercise reaches it
				switch step.Name {
				case "futures_stop":
					order(t, venue, "other", exchange.NewOrder{Market: exchange.Futures, Side: exchange.Sell, Type: exchange.Limit}, "50000", "0.001")
				case "spot_stop":
					order(t, venue, "other", exchange.NewOrder{Market: exchange.Spot, Side: exchange.Sell, Type: exchange.Limit}, "50000", "0.0002")
				}
			}
		}},
	}
}

func wholeReport(t *testing.T, name string) {
	t.Helper()
	reported(t, name, probings()[name], func(have string) string { return have })
}

// reported compares a probe's report, or what is shown of it, with a golden file.
func reported(t *testing.T, name string, c probing, shown func(have string) string) {
	t.Helper()
	path := filepath.Join("testdata", "reports", strings.ReplaceAll(name, " ", "_")+".txt")
	virtual(func(t *testing.T) {
		venue := serve(t, c.setup)
		c.config.BaseURL = venue.URL
		if c.before != nil {
			c.before(t, venue, &c.config)
		}
		began := time.Now()
		r := probed(t, c.config)
		have := shown(written(t, r, time.Since(began)) + placed(t, venue))
		if *update {
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(have), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		differs(t, strings.Split(string(want), "\n"), strings.Split(have, "\n"))
	})(t)
}

// hides makes the venue show orders late.
func hides(ms int64) func(*testing.T, *httptest.Server, *Config) {
	return func(t *testing.T, venue *httptest.Server, _ *Config) {
		for _, path := range []string{"/fhapi/v1/order", "/hapi/v1/spot/order"} {
			control(t, venue, http.MethodPost, "/control/v1/faults", fmt.Sprintf(`{"match":"POST %s","kind":"hide","delay_ms":%d}`, path, ms))
		}
	}
}

// placed returns a line for each order that the venue has, and for each account's part of it.
func placed(t *testing.T, venue *httptest.Server) string {
	t.Helper()
	var all struct{ Orders []map[string]any }
	if err := json.Unmarshal(control(t, venue, http.MethodGet, "/control/v1/orders", ""), &all); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, o := range all.Orders {
		for field := range strings.FieldsSeq("account market id side type quantity filled price stopPrice closePosition postOnly status") {
			fmt.Fprintf(&text, "%s %v ", field, o[field])
		}
		text.WriteString("\n")
	}
	return text.String()
}

// differs reports the lines that are not as expected.
func differs(t *testing.T, want, have []string) {
	t.Helper()
	if len(want) != len(have) {
		t.Errorf("want %d lines, have %d", len(want), len(have))
	}
	for i := range min(len(want), len(have)) {
		if want[i] != have[i] {
			t.Errorf("line %d:\nwant %s\nhave %s", i+1, want[i], have[i])
		}
	}
}
