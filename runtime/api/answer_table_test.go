package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/engine"
	"botd/runtime/view"
)

// The orders of a strategy are its live ones: neither those that ended nor those of another strategy.
func TestAStrategyHasItsOwnLiveOrders(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board.Show(*running(t))
	other := sending(2, "other")
	other.Strategy = "hold"
	d.take(sending(1, "live"), other, sending(3, "ended"), record.Record{AtMS: 4_000, ClientOrderID: "ended", Body: record.Ended{State: placement.Canceled}})
	one := decoded[view.OneStrategy](t, d.want(200, "/api/v1/strategies/trend"))
	var have []string
	for _, o := range one.Orders {
		have = append(have, o.ClientOrderID)
	}
	if !slices.Equal(have, []string{"live", "bx-1-2", "bx-1-1"}) || one.Config != "name: trend\n" { // the engine has the last two
		t.Errorf("want its live orders, have %v", have)
	}
	if text := d.want(200, "/api/v1/strategies/hold"); !strings.Contains(text, `"client_order_id":"other"`) {
		t.Errorf("another's: have %s", text)
	}
	d.take(record.Record{AtMS: 5_000, ClientOrderID: "other", Body: record.Ended{State: placement.Canceled}})
	if text := d.want(200, "/api/v1/strategies/hold"); !strings.Contains(text, `"orders":[]`) {
		t.Errorf("none: want an empty list, have %s", text)
	}
	d.want(404, "/api/v1/strategies/nobody")
}

// Both are absent where there is no journal, and where the kill switch was not used.
func TestTheStatusHasTheJournalsHeadAndTheKillSwitchsLastUse(t *testing.T) {
	t.Parallel()
	status := decoded[view.Status](t, newDesk(t).want(200, "/api/v1/status"))
	if status.LaneUse == nil || status.LaneUse.Orders != 2 || status.LaneUse.TookMS != 5_000 || status.Journal == nil || status.Journal.Records != 7 ||
		status.Version != "1.2.3" {
		t.Errorf("have %+v", status)
	}
	without := newDeskWith(t, func(c *Config) { c.LaneUse, c.Head = nil, nil })
	if status := decoded[view.Status](t, without.want(200, "/api/v1/status")); status.LaneUse != nil || status.Journal != nil {
		t.Errorf("without them: have %+v", status)
	}
}

// A refusal is answered with the exchange's own message, any other failure with its kind.
func TestARefusalOfTheExchangeIsPassedOn(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{"the exchange refused: Invalid symbol.": &exchange.Refusal{Status: 400, Message: "Invalid symbol."},
		"the exchange did not answer: unavailable": &exchange.Unavailable{Reason: "503"}} {
		d := newDesk(t)
		d.broken = err
		for _, path := range []string{"/api/v1/market/futures/BTC-USDT", "/api/v1/candles?market=futures&symbol=BTC-USDT&interval=1m"} {
			if text := d.want(http.StatusBadGateway, path); !strings.Contains(text, want) || !strings.Contains(text, `"code":"exchange"`) {
				t.Errorf("%s: want %q, have %s", path, want, text)
			}
		}
	}
}

// The metric counts requests by route and status. All paths without a route share one label.
func TestEachRequestIsMeasuredByItsRoute(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.want(200, "/api/v1/status")
	d.want(404, "/api/v1/strategies/nobody")
	d.want(404, "/api/v1/none")
	d.want(404, "/api/v1/none/either")
	for series, want := range map[string]float64{`{code="200",handler="GET /api/v1/status"}`: 1, `{code="404",handler="GET /api/v1/strategies/{name}"}`: 1,
		`{code="404",handler="other"}`: 2} {
		if have, _ := d.scrape("botd_http_requests_total" + series); have != want {
			t.Errorf("%s: want %v, have %v", series, want, have)
		}
	}
}

// A ping every fifteen seconds makes proxies keep the stream open. The stream ends when the client disconnects.
func TestAStreamWithoutEventsSendsAPing(t *testing.T) {
	t.Parallel()
	for lasts, want := range map[time.Duration]int{pingEvery - time.Millisecond: 0, 3*pingEvery + time.Second: 3} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			ctx, cancel := context.WithTimeout(t.Context(), lasts)
			defer cancel()
			recorder, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8420/api/v1/events", nil).WithContext(ctx)
			bearer(viewerToken)(request)
			d.server.Handler().ServeHTTP(recorder, request)
			if text := recorder.Body.String(); !strings.Contains(text, "event: hello") || strings.Count(text, ": ping\n\n") != want {
				t.Errorf("for %s: want %d, have %s", lasts, want, text)
			}
			if ended, _ := d.scrape(`botd_sse_disconnects_total{reason="client"}`); ended != 1 {
				t.Errorf("want its end measured, have %v", ended)
			}
		})
	}
}

// A line of the idempotency file is at most twice as long as the longest stored answer.
func TestAStoredAnswerIsReadUpToItsLength(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000)
	for length, whole := range map[int]bool{maxRepeatAnswer: true, 2 * maxRepeatAnswer: false} {
		one := storedRepeat{Name: "a", Digest: strings.Repeat("00", 32), At: now, Status: 200, Body: bytes.Repeat([]byte("x"), length)}
		line, err := json.Marshal(one)
		if err != nil {
			t.Fatal(err)
		}
		m := &idempotency{}
		if err := m.load(append(line, '\n'), now); (err == nil) != whole || (m.known["a"] != nil) != whole {
			t.Errorf("an answer of %d bytes: want it read %t, have %v", length, whole, err)
		}
	}
}

// The log and the command line show the same reason.
func TestAReasonIsTheErrorOfARefusedConfiguration(t *testing.T) {
	t.Parallel()
	var refused *Refused
	if err := error(&Refused{"leverage 200 exceeds 50"}); err.Error() != "leverage 200 exceeds 50" || !errors.As(err, &refused) {
		t.Errorf("have %v", err)
	}
	d := newDeskWith(t, func(c *Config) { c.Reload = nil })
	code, _, text := post[Change](d, "/api/v1/config/reload", "{}")
	if code != http.StatusConflict || !strings.Contains(text, "this botd does not reload files") {
		t.Errorf("without files: have %d %s", code, text)
	}
	code, text = d.ask(http.MethodPut, "/api/v1/log-level", `{"level":"loud"}`, bearer(testToken))
	if code/100 != 4 || !slices.Contains([]string{"info", "debug"}, d.logs.Level()) {
		t.Errorf("a level that is none: have %d %s", code, text)
	}
}

// A quarantine waits for a person, so the answer lists each with its cause.
func TestTheStateOfReconcilingHasItsQuarantines(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if have := decoded[view.Reconcile](t, d.want(200, "/api/v1/reconcile")).Quarantines; len(have) != 0 {
		t.Errorf("want none, have %+v", have)
	}
	d.quarantine = []engine.Quarantine{{Symbol: bitcoin.Key(), Cause: "a position that nothing explains"}}
	have := decoded[view.Reconcile](t, d.want(200, "/api/v1/reconcile")).Quarantines
	if len(have) != 1 || have[0].Symbol != "BTC-USDT" || have[0].Cause != "a position that nothing explains" {
		t.Errorf("have %+v", have)
	}
	d.stops = true
	d.want(503, "/api/v1/reconcile")
}

// The page leads to the API. Any other path is not found.
func TestWithoutADashboardThereIsAPage(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if code, text := d.ask(http.MethodGet, "/", "", nil); code != 200 || text == "" {
		t.Errorf("have %d %s", code, text)
	}
	if code, _ := d.ask(http.MethodGet, "/none", "", nil); code != 404 {
		t.Errorf("another path: have %d", code)
	}
}
