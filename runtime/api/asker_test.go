package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"botd/internal/openapi"
	"botd/reconcile/account"
	"botd/runtime/api/auth"
)

// These are the path, query and body of a good request. An operation that needs another value fails the test
// until it is added here.
var (
	parts = map[string]string{"strategies/{name}": "trend", "orders/{id}": "bx-1-8", "positions/{market}": "futures", "market/{market}": "futures",
		"{market}/{symbol}": "BTC-USDT", "intents/{id}": "2", "backtests/{id}": "trend-1", "runs/{id}": "long", "sweeps/{id}": "cut",
		"trials/{job}": strings.Repeat("ab", 32), "tokens/{name}": "phone"}
	values = map[string]any{"symbol": "BTC-USDT", "interval": "1m", "strategy": "trend", "reason": "a test", "token": testToken, "asset": "USDT", "amount": "5",
		"limits": map[string]any{"max_open_orders": "5"}, "vary": []any{"fast=5"}, "file": "x.csv", "name": "fresh"}
	local = []string{"create_token", "link"} // over the socket only, whatever the token's role
	// For these the journal first records the person who made them. If it cannot, nothing is done.
	recorded = []string{"backup", "cancel_backtest", "cancel_sweep", "create_token", "report_trial", "resume_sweep", "start_backtest", "start_sweep",
		"test_channels"}
)

// asker sends the requests of one operation, and counts what the metric must count.
type asker struct {
	*visitor
	o        *openapi.Operation
	body     map[string]any // of a good request; nil if it takes none
	schema   map[string]any // of the body
	query    []string       // of a good request
	asked    int
	expected map[string]int // expected counts by series
}

func newAsker(t *testing.T, id string) *asker {
	bench, sweeper, k := &stub{run: writes}, &sweeperStub{run: ends}, &keeper{}
	a := &asker{expected: map[string]int{}}
	a.visitor = newVisitor(t, newDeskWith(t, func(c *Config) {
		c.Reports, c.Sweeps, c.Runner, c.Sweeper, c.Backups, c.Channels = shelf(t), interrupted(t, sweeps(t)), bench, sweeper, k, k
	}))
	a.live()
	a.status.Halt, a.status.Halts, a.status.Degraded = account.Halt{}, nil, nil
	a.board.Show(a.status)
	if _, err := a.server.config.Keyring.Add(auth.Key{Name: "phone", Role: "viewer"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		a.server.runner.stop()
		a.server.sweeping.stop()
	})
	a.o = a.Operations[id]
	for _, p := range a.parameters() {
		if name := p["name"].(string); p["in"] == "query" && p["required"] == true {
			a.query = append(a.query, name+"="+values[name].(string))
		}
	}
	if _, a.schema = a.Body(a.o); a.schema != nil {
		a.body = a.example()
	}
	switch id {
	case "cancel_backtest":
		bench.run = hangs
		a.count("start_backtest", http.StatusAccepted)
		a.call(http.StatusAccepted, "start_backtest", "", `{"strategy":"trend","name":"long"}`, bearer(testToken))
	case "cancel_sweep":
		sweeper.elsewhere = "cut"
	}
	return a
}

// parameters returns an operation's parameters, with references resolved.
func (a *asker) parameters() (all []map[string]any) {
	for i := range a.o.List("parameters") {
		_, p := a.Find(fmt.Sprintf("/paths/%s/%s/parameters/%d", openapi.Escape(a.o.Path), strings.ToLower(a.o.Method), i))
		all = append(all, p.(map[string]any))
	}
	return all
}

// properties returns the fields of the body, with references resolved.
func (a *asker) properties() map[string]map[string]any {
	all := map[string]map[string]any{}
	properties, _ := a.schema["properties"].(map[string]any)
	for name, p := range properties {
		all[name] = p.(map[string]any)
	}
	return all
}

func (a *asker) required() []any {
	all, _ := a.schema["required"].([]any)
	return all
}

// example returns the required fields, a reason if one is possible, and a token to log in with.
func (a *asker) example() map[string]any {
	body := map[string]any{}
	for name, p := range a.properties() {
		if !slices.Contains(a.required(), any(name)) && name != "reason" && name != "token" {
			continue
		}
		value := sample(name, p)
		if value == "" {
			a.desk.t.Fatalf("%s: nothing is known to write for %s", a.o.ID, name)
		}
		body[name] = value
	}
	return body
}

// sample returns a value that fits a field's schema; an empty one if none is known.
func sample(name string, schema map[string]any) any {
	if listed, is := schema["enum"].([]any); is {
		return listed[0]
	}
	if values[name] != nil {
		return values[name]
	}
	switch schema["type"] {
	case "boolean":
		return true
	case "integer":
		return 1
	case "object":
		return map[string]any{}
	case "array":
		return []any{}
	}
	return ""
}

// changed returns a good body with another value in one field; nil removes the field.
func (a *asker) changed(name string, value any) string {
	body := maps.Clone(a.body)
	if body[name] = value; value == nil {
		delete(body, name)
	}
	return a.encoded(body)
}

func (a *asker) encoded(body map[string]any) string {
	if a.schema == nil {
		return ""
	}
	text, err := json.Marshal(body)
	if err != nil {
		a.desk.t.Fatal(err)
	}
	return string(text)
}

// path returns the operation's path, with the parts of a good request.
func (a *asker) path() string {
	all := strings.Split(a.o.Path, "/")
	out := slices.Clone(all)
	for i, part := range all {
		if strings.HasPrefix(part, "{") {
			if out[i] = parts[all[i-1]+"/"+part]; out[i] == "" {
				a.desk.t.Fatalf("%s: nothing is known to write for %s in %s", a.o.ID, part, a.o.Path)
			}
		}
	}
	return strings.Join(out, "/")
}

func (a *asker) changes() bool {
	_, keyed := a.o.Parameters["Idempotency-Key"]
	return keyed
}

func (a *asker) count(id string, code int) {
	o := a.Operations[id]
	a.expected[fmt.Sprintf(`botd_http_requests_total{code="%d",handler="%s"}`, code, o.Method+" "+o.Path)]++
}

// asks is one request: a good one, except for the set fields.
type asks struct {
	why, token, key string
	method          string
	query           []string
	body            string
	media           string
	path            string // set: another one than of a good request
	from            string // address
}

func (a *asker) good() asks {
	return asks{why: "good", token: testToken, query: a.query, body: a.encoded(a.body)}
}

func (a *asker) send(ask asks) *httptest.ResponseRecorder {
	a.asked++
	path := cmp.Or(ask.path, a.path())
	if len(ask.query) > 0 {
		path += "?" + strings.Join(ask.query, "&")
	}
	method := ask.method
	if method == "" {
		method = a.o.Method
	}
	return a.answer(method, path, ask.body, func(r *http.Request) {
		if ask.token != "" {
			bearer(ask.token)(r)
		}
		if ask.token == testToken && slices.Contains(local, a.o.ID) {
			*r = *r.WithContext(auth.WithConnection(r.Context(), &net.UnixConn{}))
		} else if ask.token != testToken { // a caller without the role is limited by address
			r.RemoteAddr = fmt.Sprintf("198.51.%d.%d:1", a.asked/250, 1+a.asked%250)
		}
		if ask.from != "" {
			r.RemoteAddr = ask.from
		}
		if ask.key != "" {
			r.Header.Set("Idempotency-Key", ask.key)
		}
		if ask.media != "" {
			r.Header.Set("Content-Type", ask.media)
		}
		if a.o.ID == "events" { // a client that disconnects immediately
			ctx, cancel := context.WithCancel(r.Context())
			cancel()
			*r = *r.WithContext(ctx)
		}
	})
}

// refused expects a documented problem with its status and code, and nothing in the journal.
func (a *asker) refused(ask asks, status int, code string) {
	a.desk.t.Helper()
	before := len(a.sent)
	answer := a.send(ask)
	a.count(a.o.ID, status)
	at, known := a.Answered(a.o.ID, answer.Code, answer.Body.Bytes())
	if known {
		a.Reply(ask.why, at, answer.Header(), answer.Body.Bytes())
	}
	a.problem(ask, answer, status, code)
	if len(a.sent) != before {
		a.desk.t.Errorf("%s: want nothing in the audit, have %+v", ask.why, a.sent[before:])
	}
}

func (a *asker) problem(ask asks, answer *httptest.ResponseRecorder, status int, code string) {
	a.desk.t.Helper()
	var p Problem
	err := json.Unmarshal(answer.Body.Bytes(), &p)
	if err != nil || answer.Code != status || p.Status != status || p.Code != code || p.Detail == "" || p.RequestID != answer.Header().Get("X-Request-ID") ||
		p.RequestID == "" || answer.Header().Get("Content-Type") != "application/problem+json" {
		a.desk.t.Errorf("%s: want a problem with %d %s, have %d %.300s", ask.why, status, code, answer.Code, answer.Body)
	}
}

// done expects a good answer, and as many audit entries as the request makes.
func (a *asker) done(ask asks, entries int) *httptest.ResponseRecorder {
	a.desk.t.Helper()
	before := len(a.sent)
	answer := a.send(ask)
	a.count(a.o.ID, answer.Code)
	if at, known := a.Answered(a.o.ID, answer.Code, answer.Body.Bytes()); known {
		a.Reply(ask.why, at, answer.Header(), answer.Body.Bytes())
	}
	if answer.Code >= 300 || len(a.sent) != before+entries {
		a.desk.t.Fatalf("%s: want it done with %d entries of the audit, have %d and %d %.300s", ask.why, entries, len(a.sent)-before, answer.Code, answer.Body)
	}
	if answer.Code != a.success() {
		a.desk.t.Errorf("%s: want %d, have %d", ask.why, a.success(), answer.Code)
	}
	for _, event := range a.sent[before:] {
		if e := event.Audit; e == nil || e.Role != "operator" || e.Actor == "" || e.Action != a.o.Method+" "+a.path() ||
			e.RequestID != answer.Header().Get("X-Request-ID") {
			a.desk.t.Errorf("%s: want the person who made it in the audit, have %+v", ask.why, e)
		}
	}
	return answer
}

// success returns the highest status of a good request; a lower one is a dry run's.
func (a *asker) success() (highest int) {
	for status := range a.o.Statuses {
		if status < 300 {
			highest = max(highest, status)
		}
	}
	return highest
}
