package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/api/auth"
)

// situations are those in which a request may find botd.
var situations = map[string]func(*desk){
	"running": func(*desk) {},
	"halted": func(d *desk) {
		status := *running(d.t)
		status.Halt = account.Halt{Level: record.LevelFlatten, Why: "a test", AtMS: 1}
		status.Halts = []account.Halt{status.Halt}
		d.board.Show(status)
	},
	"starting":  func(d *desk) { d.stops, d.fails = true, runtime.ErrStopped },
	"unwritten": func(d *desk) { d.fails = runtime.ErrUnwritten },
}

// refusals asks from another address each time, so that no request is limited for the ones before, and notes what the metric must count.
type refusals struct {
	*desk
	t        *testing.T
	asked    int
	expected map[string]int // by series
}

// counted wants each refusal counted once, under its route and status.
func (r *refusals) counted() {
	r.t.Helper()
	text := r.want(http.StatusOK, "/metrics")
	for series, want := range r.expected {
		have := 0
		if _, line, found := strings.Cut(text, "\n"+series+" "); found {
			_, _ = fmt.Sscan(line, &have)
		}
		if have != want {
			r.t.Errorf("%s: want %d, have %d", series, want, have)
		}
	}
}

// refused asks, and wants a problem with its status, code and request id, and nothing sent to the engine.
func (r *refusals) refused(each *route, path string, want int, body, token, key string) {
	r.t.Helper()
	handler, sent := each.method+" "+each.path, len(r.sent)
	r.asked++
	r.expected[fmt.Sprintf(`botd_http_requests_total{code="%d",handler="%s"}`, want, handler)]++
	code, text := r.ask(each.method, path, body, func(request *http.Request) {
		if token != testToken { // who may not is limited, and a key is its sender's
			request.RemoteAddr = fmt.Sprintf("198.51.%d.%d:1", r.asked/250, 1+r.asked%250)
		}
		if token != "" {
			bearer(token)(request)
		}
		if key != "" {
			request.Header.Set("Idempotency-Key", key)
		}
	})
	var p Problem
	if err := json.Unmarshal([]byte(text), &p); err != nil || code != want || p.Status != code || p.Code == "" || p.RequestID == "" {
		r.t.Errorf("%s %s %s: want a problem with %d, code and request id, have %d %.200s", each.method, path, body, want, code, text)
	}
	if !slices.Contains(statuses(each), code) {
		r.t.Errorf("%s: the document does not name %d", handler, code)
	}
	if len(r.sent) != sent {
		r.t.Errorf("%s with %d: want nothing sent and nothing in the audit, have %+v", handler, code, r.sent[sent:])
	}
}

// TestEveryRouteRefusesInEverySituation goes through the routes that docs/api.yaml is derived from, while botd runs, is
// halted, starts, and cannot write its journal: without a token, with a wrong one, as a viewer where that is not enough, and
// with a parameter that there is not.
func TestEveryRouteRefusesInEverySituation(t *testing.T) {
	t.Parallel()
	for name, bring := range situations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &refusals{desk: newDesk(t), t: t, expected: map[string]int{}}
			bring(r.desk)
			for i := range routes {
				each := &routes[i]
				path := strings.NewReplacer("{name}", "trend", "{id}", "1", "{market}", "futures", "{symbol}", "BTC-USDT").Replace(each.path)
				if each.minimum > auth.Public {
					r.refused(each, path, http.StatusUnauthorized, "", "", "")
					r.refused(each, path, http.StatusUnauthorized, "", "botd_AWRONGTOKENOFTWENTYSIXLETTERS", "")
				}
				if each.minimum == auth.Operator {
					r.refused(each, path, http.StatusForbidden, "", viewerToken, "")
				}
				r.refused(each, path+"?no_such_parameter=1", http.StatusBadRequest, "", testToken, "")
			}
			r.counted()
			if r.asked < 200 {
				t.Errorf("want every route asked, have %d requests", r.asked)
			}
		})
	}
}

// TestEveryChangeIsRefusedWhileNothingCanBeJournalled sends each change that is good while botd starts or cannot write: it is
// 503, and under its key it is done once when botd can, with who asked for it; then under the key of another change it is 422.
func TestEveryChangeIsRefusedWhileNothingCanBeJournalled(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]error{"starting": runtime.ErrStopped, "unwritten": runtime.ErrUnwritten} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVisitor(t, newDeskWith(t, func(c *Config) {
				k := &keeper{}
				c.Backups, c.Channels = k, k
			}))
			v.live()
			r := &refusals{desk: v.desk, t: t, expected: map[string]int{}}
			for i, c := range changes {
				each := &routes[slices.IndexFunc(routes, func(r route) bool { return r.id == c.id })]
				path, key := each.path, fmt.Sprint("key ", i)
				for _, part := range strings.Fields(c.where) {
					from, to := strings.Index(path, "{"), strings.Index(path, "}")
					path = path[:from] + part + path[to+1:]
				}
				v.fails = cause
				r.refused(each, path, http.StatusServiceUnavailable, c.body, testToken, key)
				v.fails = nil
				sent := len(v.sent)
				keyed := func(request *http.Request) { bearer(testToken)(request); request.Header.Set("Idempotency-Key", key) }
				if code, text := v.ask(each.method, path, c.body, keyed); code != c.status || len(v.sent) != sent+1 {
					t.Fatalf("%s afterwards under its key: want it done once with %d, have %d %s", c.id, c.status, code, text)
				}
				if audit := v.sent[sent].Audit; audit == nil || audit.Actor != "token" || !strings.HasPrefix(audit.Action, each.method+" /api/v1/") {
					t.Errorf("%s: want who asked for it in the audit, have %+v", c.id, audit)
				}
				r.refused(each, path+"?dry_run=true", http.StatusUnprocessableEntity, c.body, testToken, key)
			}
			r.counted()
		})
	}
}
