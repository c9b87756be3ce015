package api

import (
	"net/http"
	"slices"
	"strings"

	"botd/reconcile"
	"botd/runtime/api/auth"
)

// route is one operation of the API. docs/api.yaml has one for each.
type route struct {
	method, path string
	minimum      auth.Role
	serve        func(*Server, http.ResponseWriter, *http.Request)
	changes      bool // may be tried by dry_run, and repeated under an Idempotency-Key
}

// routes are all operations of the API.
var routes = []route{
	{"GET", "/api/v1/status", auth.Viewer, (*Server).status, false},
	{"GET", "/api/v1/health", auth.Viewer, (*Server).health, false},
	{"GET", "/api/v1/version", auth.Viewer, (*Server).version, false},
	{"GET", "/api/v1/strategies", auth.Viewer, (*Server).listStrategies, false},
	{"GET", "/api/v1/strategies/{name}", auth.Viewer, (*Server).oneStrategy, false},
	{"GET", "/api/v1/strategies/{name}/explain", auth.Viewer, (*Server).explain, false},
	{"GET", "/api/v1/strategies/{name}/decisions", auth.Viewer, (*Server).listDecisions, false},
	{"GET", "/api/v1/strategies/{name}/plots", auth.Viewer, (*Server).listPlots, false},
	{"POST", "/api/v1/strategies/{name}/pause", auth.Operator, haltingAt(reconcile.LevelPause), true},
	{"POST", "/api/v1/strategies/{name}/stop", auth.Operator, haltingAt(reconcile.LevelCancel), true},
	{"POST", "/api/v1/strategies/{name}/flatten", auth.Operator, haltingAt(reconcile.LevelFlatten), true},
	{"POST", "/api/v1/strategies/{name}/resume", auth.Operator, (*Server).resumeStrategy, true},
	{"POST", "/api/v1/strategies/{name}/halt", auth.Operator, (*Server).haltStrategy, true},
	{"GET", "/api/v1/orders", auth.Viewer, (*Server).listOrders, false},
	{"GET", "/api/v1/orders/{id}", auth.Viewer, (*Server).oneOrder, false},
	{"POST", "/api/v1/orders/cancel", auth.Operator, (*Server).cancelOrders, true},
	{"POST", "/api/v1/orders/{id}/cancel", auth.Operator, (*Server).cancelOrder, true},
	{"GET", "/api/v1/intents", auth.Viewer, (*Server).listIntents, false},
	{"GET", "/api/v1/intents/{id}", auth.Viewer, (*Server).oneIntent, false},
	{"GET", "/api/v1/fills", auth.Viewer, (*Server).listFills, false},
	{"GET", "/api/v1/trades", auth.Viewer, (*Server).listTrips, false},
	{"GET", "/api/v1/positions/history", auth.Viewer, (*Server).listEndedPositions, false},
	{"GET", "/api/v1/positions", auth.Viewer, (*Server).listPositions, false},
	{"POST", "/api/v1/positions/{market}/{symbol}/close", auth.Operator, (*Server).closePosition, true},
	{"GET", "/api/v1/account", auth.Viewer, (*Server).account, false},
	{"GET", "/api/v1/equity", auth.Viewer, (*Server).equity, false},
	{"GET", "/api/v1/candles", auth.Viewer, (*Server).listCandles, false},
	{"GET", "/api/v1/market/symbols", auth.Viewer, (*Server).listSymbols, false},
	{"GET", "/api/v1/market/{market}/{symbol}", auth.Viewer, (*Server).oneMarket, false},
	{"GET", "/api/v1/plan", auth.Viewer, (*Server).plan, false},
	{"GET", "/api/v1/risk", auth.Viewer, (*Server).riskState, false},
	{"GET", "/api/v1/risk/limits", auth.Viewer, (*Server).listLimits, false},
	{"PUT", "/api/v1/risk/limits", auth.Operator, (*Server).setLimits, true},
	{"GET", "/api/v1/risk/rejections", auth.Viewer, (*Server).listRefusals, false},
	{"GET", "/api/v1/limits", auth.Viewer, (*Server).listLimits, false}, // the same, where it is looked for
	{"POST", "/api/v1/risk/halt", auth.Operator, (*Server).halt, true},
	{"POST", "/api/v1/risk/rearm", auth.Operator, (*Server).rearm, true},
	{"GET", "/api/v1/reconcile", auth.Viewer, (*Server).reconcileState, false},
	{"POST", "/api/v1/reconcile", auth.Operator, (*Server).runRound, true},
	{"GET", "/api/v1/reconcile/runs", auth.Viewer, (*Server).listRounds, false},
	{"GET", "/api/v1/reconcile/differences", auth.Viewer, (*Server).listDifferences, false},
	{"GET", "/api/v1/reconcile/quarantines", auth.Viewer, (*Server).listQuarantines, false},
	{"POST", "/api/v1/reconcile/resolve", auth.Operator, (*Server).resolve, true},
	{"GET", "/api/v1/notices", auth.Viewer, (*Server).listNotices, false},
	{"GET", "/api/v1/backtests", auth.Viewer, (*Server).listBacktests, false},
	{"POST", "/api/v1/backtests", auth.Operator, (*Server).startBacktest, true},
	{"GET", "/api/v1/backtests/choices", auth.Viewer, (*Server).benchChoices, false},
	{"GET", "/api/v1/backtests/runs", auth.Viewer, (*Server).benchRuns, false},
	{"POST", "/api/v1/backtests/runs/{id}/cancel", auth.Operator, (*Server).cancelBacktest, true},
	{"GET", "/api/v1/backtests/{id}", auth.Viewer, (*Server).oneBacktest, false},
	{"GET", "/api/v1/backtests/{id}/report", auth.Viewer, (*Server).backtestPage, false},
	{"GET", "/api/v1/sweeps", auth.Viewer, (*Server).listSweeps, false},
	{"GET", "/api/v1/config", auth.Viewer, (*Server).configuration, false},
	{"POST", "/api/v1/config/reload", auth.Operator, (*Server).reload, true},
	{"POST", "/api/v1/backup", auth.Operator, (*Server).makeBackup, true},
	{"POST", "/api/v1/notifications/test", auth.Operator, (*Server).testChannels, true},
	{"GET", "/api/v1/logs", auth.Viewer, (*Server).listLogs, false},
	{"GET", "/api/v1/log-level", auth.Viewer, (*Server).logLevel, false},
	{"PUT", "/api/v1/log-level", auth.Operator, (*Server).setLogLevel, true},
	{"GET", "/api/v1/audit", auth.Viewer, (*Server).listAudit, false},
	{"GET", "/api/v1/events", auth.Viewer, (*Server).events, false},
	{"GET", "/api/v1/session", auth.Viewer, (*Server).showSession, false},
	{"POST", "/api/v1/session", auth.Nobody, (*Server).login, false},
	{"DELETE", "/api/v1/session", auth.Viewer, (*Server).logout, false},
	{"POST", "/api/v1/session/link", auth.Operator, (*Server).makeLink, false},
	{"GET", "/api/v1/tokens", auth.Viewer, (*Server).listTokens, false},
	{"POST", "/api/v1/tokens", auth.Operator, (*Server).createToken, false}, // its answer is told once, to nobody twice
	{"DELETE", "/api/v1/tokens/{name}", auth.Operator, (*Server).revokeToken, true},
	{"GET", "/api/v1/openapi.json", auth.Nobody, (*Server).document, false},
}

// fallback is the pattern of paths under /api/ that no route has.
const fallback = "/api/"

// routed builds the handler of everything.
func (s *Server) routed() http.Handler {
	mux := http.NewServeMux()
	for _, each := range routes {
		serve := func(w http.ResponseWriter, r *http.Request) { each.serve(s, w, r) }
		if each.changes {
			serve = s.once(serve)
		}
		mux.HandleFunc(each.method+" "+each.path, s.admitted(each.minimum, serve))
	}
	mux.HandleFunc(fallback, notRouted)
	mux.Handle("GET /metrics", s.metricsHandler())
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.HandleFunc("GET /startupz", s.readyz)
	if s.config.Web != nil {
		mux.Handle("/", s.config.Web) // its own login page too
	} else {
		mux.HandleFunc("GET /login", loginPage)
		mux.HandleFunc("GET /login.js", loginScript)
		mux.HandleFunc("GET /{$}", landing)
	}
	return s.guarded(mux, mux)
}

// notRouted answers what no route is for: 405 where the path has other methods.
func notRouted(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for i := range routes {
		if matches(routes[i].path, r.URL.Path) {
			allowed = append(allowed, routes[i].method)
		}
	}
	if allowed == nil {
		problem(w, r, http.StatusNotFound, "not_found", "there is no such path; /api/v1/openapi.json lists all")
		return
	}
	slices.Sort(allowed)
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	problem(w, r, http.StatusMethodNotAllowed, "method", "the path takes "+strings.Join(allowed, ", "))
}

// matches compares a path with a pattern in which {...} is any one part.
func matches(pattern, path string) bool {
	want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return false
	}
	for i := range want {
		if !strings.HasPrefix(want[i], "{") && want[i] != have[i] {
			return false
		}
	}
	return true
}

// noQuery refuses parameters where none is read.
func noQuery(w http.ResponseWriter, r *http.Request) bool {
	_, err := queryOf(r)
	if err != nil {
		problem(w, r, http.StatusBadRequest, "parameter", err.Error())
	}
	return err == nil
}
