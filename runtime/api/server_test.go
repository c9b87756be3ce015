package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/internal/enginetest"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/engine"
	"botd/runtime/ops"
	"botd/runtime/view"
)

func TestHealthFollowsLoopHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.want(503, "/healthz")
		d.board.Beat()
		time.Sleep(29 * time.Second)
		d.want(200, "/healthz")
		time.Sleep(2 * time.Second)
		d.want(503, "/healthz")
		d.board.Beat()
		d.want(200, "/healthz")
	})
}

func TestReadinessNamesFailedChecks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(d *desk, s *engine.Status)
		fails  string // empty: ready
	}{
		{"all is well", func(*desk, *engine.Status) {}, ""},
		{"halted is ready", func(_ *desk, s *engine.Status) { s.Halt.Level = record.LevelFlatten }, ""},
		{"one failed round is ready", func(_ *desk, s *engine.Status) { s.Failed = 1 }, ""},
		{"blind", func(_ *desk, s *engine.Status) { s.Blind, s.Failed = true, 3 }, "reconcile"},
		{"no round for a minute", func(_ *desk, s *engine.Status) { s.SoundMS = s.NowMS - 60_001 }, "reconcile"},
		{"the journal fails", func(_ *desk, s *engine.Status) { s.JournalErr = errors.New("disk full") }, "journal"},
		{"no price yet", func(_ *desk, s *engine.Status) { s.Strategies[1].Last = 0 }, "market_data"},
		{"an old price", func(_ *desk, s *engine.Status) { s.Strategies[1].LastMS = s.NowMS - 180_001 }, "market_data"},
		{"a price old enough", func(_ *desk, s *engine.Status) { s.Strategies[1].LastMS = s.NowMS - 180_000 }, ""},
		{"stale", func(_ *desk, s *engine.Status) {
			s.Degraded = []engine.Degraded{{State: "stale", Scope: account.Scope{Symbol: s.Strategies[0].Symbol.Key()}, SinceMS: s.NowMS - 12_000,
				Cause: "no answer"}}
		}, "market_data"},
		{"the clock is off", func(d *desk, _ *engine.Status) {
			d.board.Report(ops.Check{Name: "clock", OK: true})
			d.board.Report(ops.Check{Name: "clock", Detail: "off by 3 s"})
		}, "clock"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, status := newDesk(t), running(t)
			d.board.Note(&engine.Note{Fact: engine.NoteRound{Complete: true}})
			c.change(d, status)
			d.board.Show(*status)
			code := 200
			if c.fails != "" {
				code = 503
			}
			var body struct{ Checks []ops.Check }
			if err := json.Unmarshal([]byte(d.want(code, "/readyz?verbose")), &body); err != nil {
				t.Fatal(err)
			}
			for _, check := range body.Checks {
				if check.OK == (check.Name == c.fails) {
					t.Errorf("check %s: have ok %t (%s), but %q is to fail", check.Name, check.OK, check.Detail, c.fails)
				}
			}
			d.want(200, "/metrics")
			if have, _ := d.scrape("botd_ready"); (have == 1) != (c.fails == "") {
				t.Errorf("botd_ready: have %v, but ready is %t", have, c.fails == "")
			}
		})
	}
}

func TestReadinessWaitsForTheFirstRound(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.want(503, "/readyz")
	d.board.Show(*running(t))
	if body := d.want(503, "/readyz"); !strings.Contains(body, "no complete round") {
		t.Errorf("want the reason, have %s", body)
	}
	d.board.Note(&engine.Note{Fact: engine.NoteRound{}})
	d.want(503, "/readyz")
	d.board.Note(&engine.Note{Fact: engine.NoteRound{Complete: true}})
	if body := d.want(200, "/readyz"); strings.Contains(body, "checks") {
		t.Errorf("want checks only when asked for, have %s", body)
	}
}

func TestTheAPIReportsDecimalsAsStrings(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board.Show(*running(t))
	for path, parts := range map[string][]string{
		"/api/v1/status": {`"mode":"demo"`, `"equity":"10001.5"`, `"wallet":"10000.123456789"`, `"position":"0.02"`, `"unsettled":1`,
			`"last_price":"50100"`},
		"/api/v1/orders":    {`"client_order_id":"bx-1-1"`, `"stop_price":"49000"`, `"state":"uncertain"`, `"quantity":"0.03"`},
		"/api/v1/positions": {`"quantity":"0.02"`, `"entry_price":"50000"`, `"liq_price":"45090"`, `"protected":false`},
		"/api/v1/intents":   {`"items":[]`},
	} {
		body := d.want(200, path)
		for _, part := range parts {
			if !strings.Contains(body, part) {
				t.Errorf("%s: want %s in it, have %s", path, part, body)
			}
		}
	}
}

func TestOrderOfUnconfiguredSymbolIsShown(t *testing.T) {
	t.Parallel()
	d, status := newDesk(t), running(t)
	status.Strategies = nil
	d.board.Show(*status)
	if body := d.want(200, "/api/v1/orders"); !strings.Contains(body, "bx-1-2") {
		t.Errorf("want every live order, have %s", body)
	}
}

func TestAnIntentIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, n := range enginetest.Notes(t, "trend", bitcoin, "bx-1-9", "margin") {
		switch n.Fact.(type) {
		case engine.NoteRejection, engine.NoteRefused:
		default:
			d.board.Note(&n)
		}
	}
	body := d.want(200, "/api/v1/intents")
	for _, part := range []string{`"outcome":"filled"`, `"client_order_id":"bx-1-9"`, `"order_id":7`, `"quantity":"0.01"`} {
		if !strings.Contains(body, part) {
			t.Errorf("want %s, have %s", part, body)
		}
	}
	note := func(fact engine.Fact) { d.board.Note(&engine.Note{Strategy: "trend", Symbol: bitcoin, Fact: fact}) }
	first, second := &reconcile.Intent{Strategy: "trend", Purpose: placement.Order}, &reconcile.Intent{Strategy: "trend", Purpose: placement.Order}
	first.Order.Price, second.Order.Price = enginetest.Price(t, bitcoin, "100"), enginetest.Price(t, bitcoin, "200")
	for _, intent := range []*reconcile.Intent{first, second} { // both, then one is placed
		note(engine.NoteIntent{Intent: intent})
		note(engine.NoteApproved{Intent: intent})
	}
	note(engine.NotePlaced{NoteOrder: engine.NoteOrder{Purpose: first.Purpose, ClientOrderID: "id-100", Order: first.Order}})
	for _, in := range d.intents() {
		if in.ClientOrderID == "id-100" && in.Price != "100" {
			t.Errorf("the order at 100 was taken for the one at %s", in.Price)
		}
	}
	for range view.MaxIntents + 10 {
		d.board.Note(&engine.Note{Symbol: bitcoin, Fact: engine.NoteIntent{Intent: &reconcile.Intent{}}})
	}
	if have := len(d.intents()); have > view.MaxIntents || have < view.MaxIntents*8/10 {
		t.Errorf("intents kept: want about %d, have %d", view.MaxIntents, have)
	}
}

func TestChangesNeedTheToken(t *testing.T) {
	t.Parallel()
	const halt = `{"level":"pause","reason":"news"}`
	for _, c := range []struct {
		name, path, body string
		change           func(*http.Request)
		code             int
		level            string
	}{
		{"no token", "/api/v1/risk/halt", halt, nil, 401, ""},
		{"a wrong token", "/api/v1/risk/halt", halt, bearer(testToken + "X"), 401, ""},
		{"an empty token", "/api/v1/risk/halt", halt, bearer(""), 401, ""},
		{"halt", "/api/v1/risk/halt", halt, bearer(testToken), 202, "pause"},
		{"a viewer", "/api/v1/risk/halt", halt, bearer(viewerToken), 403, ""},
		{"rearm", "/api/v1/risk/rearm", "", bearer(testToken), 202, ""},
		{"rearm without a token", "/api/v1/risk/rearm", "", nil, 401, ""},
		{"an unknown level", "/api/v1/risk/halt", `{"level":"panic","reason":"news"}`, bearer(testToken), 400, ""},
		{"no reason", "/api/v1/risk/halt", `{"level":"pause","reason":" "}`, bearer(testToken), 400, ""},
		{"an unknown field", "/api/v1/risk/halt", `{"level":"pause","reason":"news","when":"later"}`, bearer(testToken), 400, ""},
		{"too long", "/api/v1/risk/halt", `{"level":"pause","reason":"` + strings.Repeat("x", maxRequest) + `"}`, bearer(testToken), 413, ""},
		{"from a web page", "/api/v1/risk/halt", halt, func(r *http.Request) {
			bearer(testToken)(r)
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}, 403, ""},
		{"by another name", "/api/v1/risk/halt", halt, func(r *http.Request) { bearer(testToken)(r); r.Host = "botd.example:8420" }, 421, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			code, body := d.ask(http.MethodPost, c.path, c.body, c.change)
			if code != c.code {
				t.Errorf("want %d, have %d: %s", c.code, code, body)
			}
			switch {
			case c.code != 202 && len(d.sent) != 0:
				t.Errorf("want nothing changed, have %+v", d.sent)
			case c.code == 202 && (len(d.sent) != 1 || d.sent[0].Event.(*engine.EventHalt).Level.String() != c.level):
				t.Errorf("want one halt to level %q, have %+v", c.level, d.sent)
			}
			if strings.Contains(body, testToken) {
				t.Error("the answer holds the token")
			}
		})
	}
}

func TestAHaltNotWrittenDownIsNotCalledDone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fails error
		part  string
	}{{runtime.ErrNotDurable, "in force now"}, {runtime.ErrStopped, "nothing was changed"}} {
		d := newDesk(t)
		d.fails = c.fails
		if code, body := d.ask(http.MethodPost, "/api/v1/risk/halt", `{"level":"pause","reason":"news"}`, bearer(testToken)); code != 503 ||
			!strings.Contains(body, c.part) {
			t.Errorf("%v: want 503 and %q, have %d %s", c.fails, c.part, code, body)
		}
	}
}

func TestReadingByAnotherNameOrMethodIsRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if code, _ := d.ask(http.MethodGet, "/api/v1/status", "", func(r *http.Request) { r.Host = "evil.example" }); code != 421 {
		t.Errorf("want 421, have %d", code)
	}
	if code, _ := d.ask(http.MethodDelete, "/api/v1/status", "", nil); code != 405 {
		t.Errorf("want 405, have %d", code)
	}
	before := 0
	for i := range 1_000 { // paths must not become labels
		d.want(404, "/nowhere/"+strings.Repeat("x", i%50))
		if i == 0 {
			d.scrape("") // its own route's series
			_, before = d.scrape("")
		}
	}
	if _, have := d.scrape(""); before != have {
		t.Errorf("series after unknown paths: want %d, have %d", before, have)
	}
}

func TestPublicAddressNeedsTLSOrProxy(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "[::]:0", "8420"} {
		if _, err := Listen(address, Access{}); err == nil || !strings.Contains(err.Error(), address) {
			t.Errorf("%s: want it refused by name, have %v", address, err)
		}
	}
	declared, err := Listen("0.0.0.0:0", Access{BehindProxy: true})
	if err != nil {
		t.Fatalf("behind a declared proxy: want it taken, have %v", err)
	}
	defer declared.Close()
	if _, err := Listen("0.0.0.0:0", Access{Certificate: "nowhere.pem", Key: "nowhere.key"}); err == nil || !strings.Contains(err.Error(), "nowhere.pem") {
		t.Errorf("a certificate that is not there: want it named, have %v", err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	if _, err := Listen(address, Access{}); err == nil || !strings.Contains(err.Error(), address) || !strings.Contains(err.Error(), "hint: ") {
		t.Errorf("an address in use: want it named, with a hint, have %v", err)
	}
}

func TestTheServerStopsWithItsContextOrWhenItFails(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		d := newDesk(t)
		listener, err := Listen("127.0.0.1:0", Access{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- d.server.Serve(ctx, listener) }()
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		response, err := client.Get("http://" + listener.Addr().String() + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err = errors.Join(err, response.Body.Close()); err != nil || !bytes.Contains(body, []byte("botd_ready 0")) {
			t.Errorf("metrics: want botd_ready 0, have %v, %.200s", err, body)
		}
		if fails {
			listener.Close()
		} else {
			cancel()
		}
		if err := <-ended; (err != nil) != fails {
			t.Errorf("serving ends: want an error %t, have %v", fails, err)
		}
	}
}
