package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// FuzzQuery reads an arbitrary query. Every parameter must be known and occur once, and pages are bounded;
// otherwise it is refused.
func FuzzQuery(f *testing.F) {
	for i, seed := range []string{"", "limit=5&after=7", "limit=-1", "limit=99999999999999999999", "dry_run=maybe", "limit=1&limit=2",
		"%zz", "strategy=%00", "a;b"} {
		f.Add(seed, uint8(7*i))
	}
	f.Fuzz(func(t *testing.T, query string, which uint8) {
		each := &routes[int(which)%len(routes)]
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.URL.RawQuery = query
		out, err := readRequest(each, r)
		if err != nil {
			return
		}
		for name, values := range out.query {
			if len(values) != 1 {
				t.Errorf("%s: want %s once, have %q", query, name, values)
			}
		}
		if each.paged && (out.page.Limit < 1 || out.page.After < 0) {
			t.Errorf("%s: want a bounded page, have %+v", query, out.page)
		}
	})
}

// FuzzBody reads an arbitrary body of a change. It must be one object of known fields, with a bounded reason;
// otherwise it is refused.
func FuzzBody(f *testing.F) {
	for i, seed := range []string{`{"level":"flatten","reason":"r"}`, `{"reason":"r","dry_run":true}`, `{"reason":"r"}{}`, `{"level":1}`, `[]`, `null`, ``,
		`{"Reason":"r"}`, `{"amount":"1e999999999"}`, `{"code":"x"}`, `{"name":"phone","role":"viewer","for":"30d"}`, "{\"reason\":\"\u202e\"}"} {
		f.Add([]byte(seed), uint8(i))
	}
	f.Fuzz(func(t *testing.T, body []byte, which uint8) {
		all := bodies()
		into := all[int(which)%len(all)]
		r := &request{Request: httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(body)))}
		if r.read(into) != nil || len(body) == 0 {
			return
		}
		if given, reasoned := into.(interface{ given() *ReasonRequest }); reasoned && len(given.given().Reason) > maxReason {
			t.Errorf("%q: want a bounded reason", body)
		}
	})
}

// bodies are the types of the bodies of changes.
func bodies() []any {
	return []any{new(HaltRequest), new(RearmRequest), new(StrategyHaltRequest), new(LevelRequest), new(CancelRequest), new(ResolveRequest),
		new(LimitsRequest), new(BacktestRequest), new(LoginRequest), new(TokenRequest), new(TransferRequest), new(ChannelRequest)}
}

// FuzzRepeats reads arbitrary contents of idempotency.log. What is accepted is written and read back, and no
// entry is older than its lifetime.
func FuzzRepeats(f *testing.F) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	line := string((&repeat{at: now, status: http.StatusOK, header: http.Header{}, body: []byte("{}")}).line("one", true))
	begun := string((&repeat{at: now, header: http.Header{}}).line("two", false))
	for _, seed := range []string{line, line + begun, line + line, begun + line[:20], strings.Replace(line, "200", "503", 1) + line, line + "{}\n", "x\n", "\n",
		"null\n", strings.Replace(line, "2026", "0001", 1)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m := &idempotency{}
		if m.load(text, now) != nil {
			return
		}
		if len(m.order) != len(m.known) {
			t.Fatalf("%q: want each known change in order once, have %d of %d", text, len(m.order), len(m.known))
		}
		for name, each := range m.known {
			if now.Sub(each.at) > repeatLife || each.status >= http.StatusInternalServerError {
				t.Errorf("%q: want nothing old or failed, have %s: %+v", text, name, each)
			}
		}
		again := &idempotency{}
		if err := again.load(m.all(), now); err != nil || len(again.known) != len(m.known) {
			t.Errorf("%q: want all of it back, have %d of %d, %v", text, len(again.known), len(m.known), err)
		}
	})
}
