package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"botd/internal/openapi"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/api/auth"
)

// moment is a state of botd when a request arrives.
type moment struct {
	name    string
	bring   func(*asker)
	refuses func(o *openapi.Operation) string // the code of the 503 to a good request; empty for none
}

func moments() []moment {
	fails := func(err error) func(*asker) {
		return func(a *asker) { a.fails, a.stops = err, errors.Is(err, runtime.ErrStopped) }
	}
	return []moment{
		{"running", func(*asker) {}, func(*openapi.Operation) string { return "" }},
		{"halted", func(a *asker) {
			a.status.Halt = account.Halt{Level: record.LevelFlatten, Reason: "a test", AtMS: 1}
			a.status.Halts = []account.Halt{a.status.Halt}
			a.board.Show(a.status)
		}, func(*openapi.Operation) string { return "" }},
		{"starting", fails(runtime.ErrStopped), func(o *openapi.Operation) string {
			if o.ID == "revoke_token" { // it no longer works from then on, whatever can be written
				return "unwritten"
			}
			return map[bool]string{true: "stopped"}[names503(o)]
		}},
		{"unwritten", fails(runtime.ErrNotDurable), func(o *openapi.Operation) string {
			if slices.Contains(recorded, o.ID) {
				return "stopped"
			}
			return map[bool]string{true: "unwritten"}[names503(o) && o.Method != http.MethodGet]
		}},
	}
}

func names503(o *openapi.Operation) bool {
	_, named := o.Statuses[http.StatusServiceUnavailable]
	return named && o.ID != "events" // its 503 is for too many streams
}

// TestEveryOperationOfTheDocumentRefuses derives requests that must be refused from docs/api.yaml: without a
// token, with each role below the operation's, and with parameters and bodies that violate the document. botd
// is running, halted, starting, or cannot write its journal.
func TestEveryOperationOfTheDocumentRefuses(t *testing.T) {
	t.Parallel()
	ids := slices.Sorted(maps.Keys(newVisitor(t, newDesk(t)).Operations))
	for _, id := range ids {
		for _, m := range moments() {
			t.Run(id+" "+m.name, func(t *testing.T) {
				t.Parallel()
				a := newAsker(t, id)
				m.bring(a)
				a.unauthorized()
				a.parametersBeyond()
				a.bodiesBeyond()
				a.otherMethods()
				if m.name != "starting" { // it knows none of what it is asked for
					a.unknown()
				}
				a.tooMany()
				a.goodOnes(&m)
				a.counted()
			})
		}
	}
}

func (a *asker) unauthorized() {
	role, known := auth.ParseRole(a.o.Node["x-role"].(string))
	_, open := a.o.Node["security"]
	if known == open {
		a.desk.t.Fatalf("want a role exactly where security is asked for, have %v and open %t", a.o.Node["x-role"], open)
	}
	ask := a.good()
	if role >= auth.Viewer {
		ask.why, ask.token = "no token", ""
		a.refused(ask, http.StatusUnauthorized, "credentials")
		ask.why, ask.token = "a wrong token", "botd_AWRONGTOKENOFTWENTYSIXLETTERS"
		a.refused(ask, http.StatusUnauthorized, "credentials")
	}
	if role >= auth.Operator {
		ask.why, ask.token = "a viewer", viewerToken
		a.refused(ask, http.StatusForbidden, "role")
	}
}

// beyond returns values that a schema excludes, each with the reason.
func beyond(schema map[string]any) map[string]any {
	all := map[string]any{}
	kind, _ := schema["type"].(string)
	switch kind {
	case "integer", "number":
		all["a text"] = "x"
		all["a fraction"] = 1.5
	case "boolean":
		all["no flag"] = "maybe"
	case "string":
		all["a number"] = 7
	default:
		all["a text"] = "x"
	}
	if low, is := schema["minimum"].(json.Number); is {
		n, _ := low.Int64()
		all["one below the minimum"] = n - 1
	}
	if high, is := schema["maximum"].(json.Number); is {
		n, _ := high.Int64()
		all["one above the maximum"] = n + 1
	}
	if most, is := schema["maxLength"].(json.Number); is {
		n, _ := most.Int64()
		all["one byte too long"] = strings.Repeat("x", int(n)+1)
	}
	if schema["enum"] != nil {
		all["none of the values"] = "nonsense"
	}
	if schema["pattern"] != nil {
		all["not of the pattern"] = "-A b"
	}
	return all
}

func (a *asker) parametersBeyond() {
	ask := a.good()
	with := func(why string, more ...string) {
		ask.why, ask.query = why, append(slices.Clone(a.query), more...)
		a.refused(ask, http.StatusBadRequest, "parameter")
	}
	with("an unknown parameter", "no_such_parameter=1")
	for _, p := range a.parameters() {
		name, _ := p["name"].(string)
		if p["in"] != "query" {
			continue
		}
		schema := p["schema"].(map[string]any)
		for why, value := range beyond(schema) {
			if why == "a number" { // in a query everything is a text
				continue
			}
			rest := slices.DeleteFunc(slices.Clone(a.query), func(q string) bool { return strings.HasPrefix(q, name+"=") })
			ask.why, ask.query = name+": "+why, append(rest, fmt.Sprintf("%s=%v", name, strings.ReplaceAll(fmt.Sprint(value), " ", "+")))
			a.refused(ask, http.StatusBadRequest, "parameter")
		}
		with(name+" twice", name+"=1", name+"=1")
		if p["required"] == true {
			ask.why = "without " + name
			ask.query = slices.DeleteFunc(slices.Clone(a.query), func(q string) bool { return strings.HasPrefix(q, name+"=") })
			a.refused(ask, http.StatusBadRequest, "parameter")
		}
	}
}

func (a *asker) bodiesBeyond() {
	if a.schema == nil {
		return
	}
	ask, good := a.good(), a.encoded(a.body)
	with := func(why, body string) {
		ask.why, ask.body = why, body
		a.refused(ask, http.StatusBadRequest, "body")
	}
	for why, body := range map[string]string{"half an object": "{", "a list": "[]", "a text": `"x"`, "a number": "1", "two objects": good + " {}",
		"no JSON": "x", "a comma too many": strings.TrimSuffix(good, "}") + ",}"} {
		with(why, body)
	}
	with("an unknown field", a.changed("no_such_field", 1))
	for name, p := range a.properties() {
		for why, value := range beyond(p) {
			with(name+": "+why, a.changed(name, value))
		}
		text, err := json.Marshal(sample(name, p))
		if err != nil {
			a.desk.t.Fatal(err)
		}
		with(name+" twice", fmt.Sprintf(`{"%s":%s,"%s":%s}`, name, text, name, text))
		with(name+" in another spelling", a.changed(strings.ToUpper(name), sample(name, p)))
		with(name+" in two spellings", fmt.Sprintf(`{"%s":%s,"%s":%s}`, name, text, strings.ToUpper(name), text))
		if folded := strings.Replace(name, "s", "\u017f", 1); folded != name { // the long s, which folds to s
			with(name+" with a letter that folds to another", a.changed(folded, sample(name, p)))
		}
	}
	for _, name := range a.required() {
		with(fmt.Sprint("without ", name), a.changed(name.(string), nil))
	}
	large := a.good()
	large.why, large.body = "more than 64 KiB", good+strings.Repeat(" ", 64<<10+1-len(good))
	a.refused(large, http.StatusRequestEntityTooLarge, "too_large")
}

// otherMethods must be refused with a list of the methods that the document has for the path.
func (a *asker) otherMethods() {
	var allowed []string
	for _, o := range a.Operations {
		if matches(o.Path, a.path()) && !slices.Contains(allowed, o.Method) {
			allowed = append(allowed, o.Method)
		}
	}
	slices.Sort(allowed)
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if slices.Contains(allowed, method) {
			continue
		}
		ask, before := a.good(), len(a.sent)
		ask.why, ask.method = method, method
		answer := a.send(ask)
		a.problem(ask, answer, http.StatusMethodNotAllowed, "method")
		if have := answer.Header().Get("Allow"); have != strings.Join(allowed, ", ") || len(a.sent) != before {
			a.desk.t.Errorf("%s: want the methods %v and no entry of the audit, have %s and %+v", method, allowed, have, a.sent[before:])
		}
		a.expected[`botd_http_requests_total{code="405",handler="other"}`]++
	}
}

// unknown names what botd does not have: in the first part of the path that is a name, or in the body.
func (a *asker) unknown() {
	if _, documented := a.o.Statuses[http.StatusNotFound]; !documented {
		return
	}
	ask := a.good()
	if ask.why = "an unknown part"; a.schema != nil && !strings.Contains(a.o.Path, "{") {
		ask.body = a.changed("strategy", "nobody")
	}
	for n, part := range strings.Split(a.o.Path, "/") {
		if strings.HasPrefix(part, "{") {
			all := strings.Split(a.path(), "/")
			all[n] = "999999"
			ask.path = strings.Join(all, "/")
			break
		}
	}
	a.refused(ask, http.StatusNotFound, "not_found")
}

// tooMany sends wrong tokens from one address, until that has to wait.
func (a *asker) tooMany() {
	ask := a.good()
	ask.why, ask.token, ask.from = "one wrong token after another", "botd_AWRONGTOKENOFTWENTYSIXLETTERS", "203.0.113.7:1"
	if a.o.ID == "login" {
		ask.token, ask.body = "", a.changed("token", ask.token)
	}
	for range 300 {
		before := len(a.sent)
		if a.o.ID == "document" { // it is long: at a high load fewer are answered in a second than are allowed
			a.requestsOf(ask.from)
		}
		answer := a.send(ask)
		a.count(a.o.ID, answer.Code)
		if len(a.sent) != before {
			a.desk.t.Fatalf("%s: want nothing in the audit, have %+v", ask.why, a.sent[before:])
		}
		if answer.Code != http.StatusTooManyRequests {
			continue
		}
		if at, known := a.Answered(a.o.ID, answer.Code, answer.Body.Bytes()); known {
			a.Reply(ask.why, at, answer.Header(), answer.Body.Bytes())
		}
		code := "login_delay"
		if a.o.ID == "document" { // a token is not looked at
			code = "rate_limit"
		}
		a.problem(ask, answer, http.StatusTooManyRequests, code)
		if wait, err := strconv.Atoi(answer.Header().Get("Retry-After")); err != nil || wait < 1 {
			a.desk.t.Errorf("%s: want it to say when to try again, have %q", ask.why, answer.Header().Get("Retry-After"))
		}
		return
	}
	if _, documented := a.o.Statuses[http.StatusTooManyRequests]; documented {
		a.desk.t.Errorf("%s: want it refused with 429 in the end", ask.why)
	}
}

// requestsOf lets a source make as many requests without a credential as are allowed at once.
func (a *asker) requestsOf(source string) {
	r := httptest.NewRequest(http.MethodGet, a.path(), nil)
	r.RemoteAddr = source
	var unknown auth.Identity
	for a.desk.server.guard.Pace(r, &unknown, time.Now()) == nil {
	}
}

// goodOnes must be answered, a change under its key once. If it cannot be journalled it is refused, and can be
// sent again.
func (a *asker) goodOnes(m *moment) {
	ask := a.good()
	if a.changes() {
		ask.key = strings.Repeat("k", 129)
		a.refused(ask, http.StatusBadRequest, "body")
		ask.key = "one"
	}
	if code := m.refuses(a.o); code != "" {
		ask.why = "good, " + m.name
		a.refused(ask, http.StatusServiceUnavailable, code)
		if a.fails, a.stops = nil, false; a.o.ID == "revoke_token" {
			a.refused(ask, http.StatusNotFound, "not_found") // it has ended
			return
		}
	}
	entries := 0
	if a.changes() || a.o.ID == "create_token" {
		entries = 1
	}
	if ask.media = "text/plain"; a.schema == nil {
		ask.media = ""
	}
	ask.why = "good"
	first := a.done(ask, entries)
	if !a.changes() {
		return
	}
	ask.why = "again under its key"
	if again := a.done(ask, 0); again.Body.String() != first.Body.String() || again.Header().Get("Idempotency-Replayed") != "true" ||
		again.Header().Get("Content-Type") != first.Header().Get("Content-Type") {
		a.desk.t.Errorf("want it answered again: %s\nhave %s", first.Body, again.Body)
	}
	ask.why, ask.query = "another request under its key", append(slices.Clone(a.query), "dry_run=true")
	a.refused(ask, http.StatusUnprocessableEntity, "idempotency_key")
	if a.schema != nil {
		ask.why, ask.query, ask.body = "another body under its key", a.query, ask.body+" "
		a.refused(ask, http.StatusUnprocessableEntity, "idempotency_key")
	}
}

// counted expects each request to be counted under its route and status, and under no other.
func (a *asker) counted() {
	_, text := a.ask(http.MethodGet, "/metrics", "", nil)
	for line := range strings.Lines(text) {
		at := strings.LastIndex(line, " ")
		series, value := line[:max(0, at)], strings.TrimSpace(line[at+1:])
		if !strings.HasPrefix(series, "botd_http_requests_total{") || strings.Contains(series, `"GET /metrics"`) { // which the test itself reads
			continue
		}
		if want := fmt.Sprint(a.expected[series]); value != want {
			a.desk.t.Errorf("%s: want %s, have %s", series, want, value)
		}
		delete(a.expected, series)
	}
	for series, want := range a.expected {
		a.desk.t.Errorf("%s: want %d, have none", series, want)
	}
}
