package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/runtime/api/auth"
	"botd/runtime/engine"
)

// Without limits, or without a reason, nothing is set.
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

// A 5xx answer is not repeated, any other one is.
func TestFailedChangeCanBeRetriedUnderItsKey(t *testing.T) {
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

// The answer contains the level, the reason and the scope of each halt that is in force.
func TestHaltsAreShownByStatusAndRisk(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	status := *running(t)
	status.Halts = []account.Halt{{Scope: account.Scope{Strategy: "trend"}, Level: record.LevelCancel, Reason: "a test", AtMS: 1_000}}
	d.board.Show(status)
	if text := d.want(200, "/api/v1/risk"); !strings.Contains(text, `"cancel"`) || !strings.Contains(text, "a test") || !strings.Contains(text, "trend") {
		t.Errorf("want the halt of trend with its level and why, have %s", text)
	}
	d.board.Show(engine.Status{NowMS: status.NowMS})
	if text := d.want(200, "/api/v1/risk"); strings.Contains(text, "a test") {
		t.Errorf("ended: want none, have %s", text)
	}
}

// The hundred and first token is refused until one is revoked.
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
