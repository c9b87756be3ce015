package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/runtime/api/auth"
	"botd/runtime/engine"
)

// served is how many requests of a route were answered with a status, by the metrics.
func (d *desk) served(handler string, code int) float64 {
	d.t.Helper()
	value, _ := d.scrape(fmt.Sprintf(`botd_http_requests_total{code="%d",handler="%s"}`, code, handler))
	return max(0, value)
}

// TestEveryChangeRefusesWhatItCannotRead goes through all routes that take a body, as
// nobody, as a viewer and as an operator, with bodies that are no request. The answer
// is one that the document names, it has a code and a request id, the metric counts it
// by its status, and nothing reaches the engine.
func TestEveryChangeRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	visited := 0
	for i := range routes {
		each := &routes[i]
		if !each.changes || each.body == reflect.TypeFor[nothing]() {
			continue
		}
		visited++
		t.Run(each.id, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			path := strings.NewReplacer("{name}", "trend", "{id}", "1", "{market}", "futures", "{symbol}", "BTC-USDT").Replace(each.path)
			for _, c := range []struct {
				name, token, body string
				want              int
			}{
				{"no token", "", `{}`, http.StatusUnauthorized},
				{"a viewer's token", viewerToken, `{}`, http.StatusForbidden},
				{"half an object", testToken, `{`, http.StatusBadRequest},
				{"a list", testToken, `[]`, http.StatusBadRequest},
				{"a text", testToken, `"x"`, http.StatusBadRequest},
				{"a field that there is not", testToken, `{"no_such_field": 1}`, http.StatusBadRequest},
				{"two objects", testToken, `{} {}`, http.StatusBadRequest},
				{"a key twice", testToken, `{"dry_run": true, "dry_run": true}`, http.StatusBadRequest},
				{"a key in two spellings", testToken, `{"dry_run": true, "Dry_Run": true}`, http.StatusBadRequest},
				{"a key in another spelling", testToken, `{"DRY_RUN": true, "reason": "r"}`, http.StatusBadRequest},
				{"a key that folds to a known one", testToken, `{"dry_run": true, "rea\u017fon": "r"}`, http.StatusBadRequest},
				{"more than a request may have", testToken, `{"reason": "` + strings.Repeat("x", 8<<20) + `"}`, http.StatusRequestEntityTooLarge},
			} {
				change := bearer(c.token)
				if c.token == "" {
					change = nil
				}
				handler := each.method + " " + each.path
				before := d.served(handler, c.want)
				code, text := d.ask(each.method, path, c.body, change)
				if code != c.want || !slices.Contains(statuses(each), code) {
					t.Errorf("%s: want %d, which the document names, have %d %.200s", c.name, c.want, code, text)
				}
				var p Problem
				if err := json.Unmarshal([]byte(text), &p); err != nil || p.Code == "" || p.RequestID == "" || p.Status != code {
					t.Errorf("%s: want a problem with status, code and request id, have %.200s", c.name, text)
				}
				if have := d.served(handler, c.want); have != before+1 {
					t.Errorf("%s: want it counted once under %d, have %g", c.name, c.want, have-before)
				}
			}
			if len(d.sent) != 0 {
				t.Errorf("want nothing sent to the engine, have %+v", d.sent)
			}
		})
	}
	if visited < 10 {
		t.Errorf("want at least ten routes that take a body, have %d", visited)
	}
}

// TestLimitsAreSetByAWholeRequestAlone: without limits, or without a reason, nothing is set.
func TestLimitsAreSetByAWholeRequestAlone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for body, want := range map[string]int{
		`{}`: 400, `{"reason": "a test"}`: 400, `{"limits": {}, "reason": "a test"}`: 400, `{"limits": {"max_open_orders": "5"}}`: 400,
		`{"limits": {"max_open_orders": 5}, "reason": "a test"}`: 400,
	} {
		if code, text := d.ask(http.MethodPut, "/api/v1/risk/limits", body, bearer(testToken)); code != want {
			t.Errorf("%s: want %d, have %d %s", body, want, code, text)
		}
	}
	if len(d.sent) != 0 {
		t.Errorf("want nothing set, have %+v", d.sent)
	}
	code, text := d.ask(http.MethodPut, "/api/v1/risk/limits", `{"limits": {"max_open_orders": "5"}, "reason": "a test"}`, bearer(testToken))
	if code != http.StatusOK && code != http.StatusAccepted || len(d.sent) != 1 {
		t.Fatalf("want it set, have %d %s, %d events", code, text, len(d.sent))
	}
	if audit := d.sent[0].Audit; audit.Actor == "" || !strings.Contains(audit.Detail, "max_open_orders 5") {
		t.Errorf("want it audited with who and what, have %+v", audit)
	}
}

// TestAChangeThatFailedIsTriedAgainUnderItsKey: an answer of 5xx is not repeated, any other one is.
func TestAChangeThatFailedIsTriedAgainUnderItsKey(t *testing.T) {
	t.Parallel()
	const path, body = "/api/v1/risk/halt", `{"level":"pause","reason":"a test"}`
	d := newDesk(t)
	d.fails = errors.New("the journal cannot be written")
	if code, text := d.ask(http.MethodPost, path, body, keyed("one")); code < 500 {
		t.Fatalf("want it failed, have %d %s", code, text)
	}
	d.fails = nil
	answer := d.answer(http.MethodPost, path, body, keyed("one"))
	if answer.Code >= 300 || answer.Header().Get("Idempotency-Replayed") != "" || len(d.sent) != 1 {
		t.Fatalf("want it done at the second try, have %d %s, %d events", answer.Code, answer.Body, len(d.sent))
	}
	again := d.answer(http.MethodPost, path, body, keyed("one"))
	if again.Code != answer.Code || again.Header().Get("Idempotency-Replayed") != "true" || len(d.sent) != 1 {
		t.Errorf("want the answer repeated and nothing done, have %d %s, %d events", again.Code, again.Body, len(d.sent))
	}
}

// TestHaltsAreShownByEveryReaderOfThem: the status and the risk.
func TestHaltsAreShownByEveryReaderOfThem(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	status := *running(t)
	status.Halts = []account.Halt{{Scope: account.Scope{Strategy: "trend"}, Level: record.LevelCancel, Why: "a test", AtMS: 1_000}}
	d.board.Show(status)
	if text := d.want(200, "/api/v1/risk"); !strings.Contains(text, `"cancel"`) || !strings.Contains(text, "a test") || !strings.Contains(text, "trend") {
		t.Errorf("want the halt of trend with its level and why, have %s", text)
	}
	d.board.Show(engine.Status{NowMS: status.NowMS})
	if text := d.want(200, "/api/v1/risk"); strings.Contains(text, "a test") {
		t.Errorf("ended: want none, have %s", text)
	}
}

// TestThereAreAtMostAHundredTokens: the hundred and first is refused, until one is revoked.
func TestThereAreAtMostAHundredTokens(t *testing.T) {
	t.Parallel()
	ring, err := auth.OpenKeyring(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		name := fmt.Sprint("reader", i)
		if err := ring.Room(name); err != nil {
			t.Fatalf("token %d: %v", i+1, err)
		}
		if _, err := ring.Add(auth.Key{Name: name, Role: "viewer", Made: time.Unix(1, 0)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := ring.Room("another"); err == nil || !strings.Contains(err.Error(), "100 tokens") {
		t.Errorf("want another one refused, have %v", err)
	}
}
