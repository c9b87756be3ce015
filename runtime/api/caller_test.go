package api

import (
	"net/http"
	"strings"
	"testing"

	"botd/reconcile/record"
	"botd/runtime/api/auth"
)

func TestInternalCallersHaveRolesAndAreAudited(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	pause := HaltRequest{Level: record.LevelPause, ReasonRequest: ReasonRequest{Reason: "a test"}}
	viewer := auth.Caller{Role: auth.Viewer, By: "telegram", From: "user 22", RequestID: "telegram-1"}
	operator := auth.Caller{Role: auth.Operator, By: "telegram", From: "user 11", RequestID: "telegram-2"}
	for _, c := range []struct {
		asker        auth.Caller
		method, path string
		body         any
		want         int
	}{
		{viewer, http.MethodGet, "/api/v1/status", nil, 200},
		{viewer, http.MethodPost, "/api/v1/risk/halt", pause, 403},
		{auth.Caller{By: "telegram"}, http.MethodGet, "/api/v1/status", nil, 401},
		{operator, http.MethodPost, "/api/v1/risk/halt?dry_run=true", pause, 200},
		{operator, http.MethodPost, "/api/v1/nowhere", pause, 404},
		{operator, http.MethodPost, "/api/v1/risk/halt", pause, 202},
	} {
		if code, answer := d.server.Call(t.Context(), c.asker, c.method, c.path, c.body); code != c.want || len(answer) == 0 {
			t.Errorf("%s %s as %s: want %d, have %d %s", c.method, c.path, c.asker.Role, c.want, code, answer)
		}
	}
	if len(d.sent) != 1 {
		t.Fatalf("want one event, have %d", len(d.sent))
	}
	want := record.Audit{Actor: "telegram", Role: "operator", From: "user 11", Action: "POST /api/v1/risk/halt", Object: "account", Detail: "pause: a test",
		RequestID: "telegram-2"}
	if have := *d.sent[0].Audit; have != want {
		t.Errorf("audit: want %+v, have %+v", want, have)
	}
	if d.server.Journaled("telegram-2") {
		t.Error("before it is in the journal: want it not known")
	}
	d.history.Apply(&record.Record{AtMS: 1, Body: *d.sent[0].Audit})
	if !d.server.Journaled("telegram-2") || d.server.Journaled("telegram-1") || d.server.Journaled("") {
		t.Error("afterwards: want it known, and no other")
	}
}

func TestExternalRequestCannotSetCaller(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	code, body := d.ask(http.MethodGet, "/api/v1/status", "", func(r *http.Request) { // only Ask may set it
		r.Header.Set("X-Request-ID", "telegram-2")
		r.Header.Set("auth.Caller", "operator")
	})
	if code != http.StatusUnauthorized || strings.Contains(body, "telegram-2") {
		t.Errorf("want 401 under an id of its own, have %d %s", code, body)
	}
}
