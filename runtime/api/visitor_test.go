package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"botd/docs"
	"botd/internal/openapi"
)

// visitor calls the server by its document.
type visitor struct {
	*openapi.Document
	*desk
}

func newVisitor(t *testing.T, d *desk) *visitor {
	t.Helper()
	content, err := docs.API()
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{openapi.Read(t, content), d}
}

// call calls an operation: where has its path's last parts and its query. If the answer is good, the request
// must conform to the document.
func (v *visitor) call(status int, id, where, body string, change func(*http.Request)) *httptest.ResponseRecorder {
	v.desk.t.Helper()
	o := v.Operations[id]
	if o == nil {
		v.desk.t.Fatalf("the document lacks %s", id)
	}
	path, query, _ := strings.Cut(where, "?")
	target := o.Path
	for _, part := range strings.Split(path, " ") {
		if from, to := strings.Index(target, "{"), strings.Index(target, "}"); from >= 0 && part != "" {
			o.Parameters[target[from+1:to]] = true
			target = target[:from] + part + target[to+1:]
		}
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		v.desk.t.Fatal(err)
	}
	good := status < 300
	for name := range values {
		if _, known := o.Parameters[name]; known {
			o.Parameters[name] = true
		} else if good {
			v.desk.t.Errorf("%s takes %s, which the document does not name", id, name)
		}
	}
	if body != "" && good {
		at, schema := v.Body(o)
		if schema == nil {
			v.desk.t.Fatalf("%s takes no body", id)
		}
		v.Check(id+" body", at, []byte(body))
	}
	if query != "" {
		target += "?" + query
	}
	entries, served := len(v.sent), 0
	if status != http.StatusTooManyRequests { // the next one may soon be let in: nothing is read in between
		served = v.served(o, status)
	}
	a := v.answer(o.Method, target, body, change)
	if a.Code != status {
		v.desk.t.Errorf("%s %s %s: want %d, have %d: %s", id, where, body, status, a.Code, a.Body)
	}
	if now := v.served(o, status); now != served+1 && status != http.StatusTooManyRequests {
		v.desk.t.Errorf("%s %s %s: want one more %d counted, have %d after %d", id, where, body, status, now, served)
	}
	if status >= 400 && len(v.sent) != entries {
		v.desk.t.Errorf("%s %s %s: %d: want nothing in the audit, have %+v", id, where, body, status, v.sent[entries:])
	}
	if at, known := v.Answered(id, a.Code, a.Body.Bytes()); known {
		v.Reply(fmt.Sprintf("%s %d", id, a.Code), at, a.Header(), a.Body.Bytes())
	}
	return a
}

// served returns how many requests of an operation were answered with a status, by the metric.
func (v *visitor) served(o *openapi.Operation, status int) (count int) {
	_, text := v.ask(http.MethodGet, "/metrics", "", bearer(testToken))
	series := fmt.Sprintf(`botd_http_requests_total{code="%d",handler="%s"} `, status, o.Method+" "+o.Path)
	for line := range strings.Lines(text) {
		if value, is := strings.CutPrefix(line, series); is {
			fmt.Sscan(value, &count)
		}
	}
	return count
}

// good calls as the operator and expects 200.
func (v *visitor) good(id, where, body string) {
	v.desk.t.Helper()
	v.call(http.StatusOK, id, where, body, bearer(testToken))
}

func from(address string) func(*http.Request) {
	return func(r *http.Request) { r.RemoteAddr = address }
}

// frames returns the events that a client gets immediately.
func (v *visitor) frames(query string) (all []reported) {
	v.desk.t.Helper()
	ctx, cancel := context.WithCancelCause(v.desk.t.Context())
	cancel(errors.New("the client has gone"))
	a := v.call(http.StatusOK, "events", query, "", func(r *http.Request) {
		bearer(viewerToken)(r)
		*r = *r.WithContext(ctx)
	})
	for frame := range strings.SplitSeq(a.Body.String(), "\n\n") {
		if topic, data := parseFrame(frame); topic != "" {
			all = append(all, reported{topic, []byte(data)})
		}
	}
	return all
}

func parseFrame(frame string) (topic, data string) {
	for line := range strings.Lines(frame) {
		if rest, found := strings.CutPrefix(line, "event: "); found {
			topic = strings.TrimSpace(rest)
		}
		if rest, found := strings.CutPrefix(line, "data: "); found {
			data = strings.TrimSpace(rest)
		}
	}
	return topic, data
}
