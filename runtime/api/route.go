package api

import (
	"net/http"
	"slices"
	"strings"

	"botd/reconcile"
)

// route is one operation of the API. docs/api.yaml has one for each.
type route struct {
	method, path string
	least        Role
	serve        func(*Server, http.ResponseWriter, *http.Request)
	changes      bool // may be tried by dry_run, and repeated under an Idempotency-Key
}

// routes are all operations of the API.
var routes = []route{
	{"GET", "/api/v1/status", Viewer, (*Server).status, false},
	{"GET", "/api/v1/health", Viewer, (*Server).health, false},
	{"GET", "/api/v1/version", Viewer, (*Server).version, false},
	{"GET", "/api/v1/strategies", Viewer, (*Server).listStrategies, false},
	{"GET", "/api/v1/strategies/{name}", Viewer, (*Server).oneStrategy, false},
	{"GET", "/api/v1/strategies/{name}/explain", Viewer, (*Server).explain, false},
	{"GET", "/api/v1/strategies/{name}/decisions", Viewer, (*Server).listDecisions, false},
	{"GET", "/api/v1/strategies/{name}/plots", Viewer, (*Server).listPlots, false},
	{"POST", "/api/v1/strategies/{name}/pause", Operator, haltingAt(reconcile.LevelPause), true},
	{"POST", "/api/v1/strategies/{name}/stop", Operator, haltingAt(reconcile.LevelCancel), true},
	{"POST", "/api/v1/strategies/{name}/flatten", Operator, haltingAt(reconcile.LevelFlatten), true},
	{"POST", "/api/v1/strategies/{name}/resume", Operator, (*Server).resumeStrategy, true},
	{"POST", "/api/v1/strategies/{name}/halt", Operator, (*Server).haltStrategy, true},
	{"GET", "/api/v1/orders", Viewer, (*Server).listOrders, false},
	{"GET", "/api/v1/orders/{id}", Viewer, (*Server).oneOrder, false},
	{"POST", "/api/v1/orders/cancel", Operator, (*Server).cancelOrders, true},
	{"POST", "/api/v1/orders/{id}/cancel", Operator, (*Server).cancelOrder, true},
	{"GET", "/api/v1/intents", Viewer, (*Server).listIntents, false},
	{"GET", "/api/v1/intents/{id}", Viewer, (*Server).oneIntent, false},
	{"GET", "/api/v1/fills", Viewer, (*Server).listFills, false},
	{"GET", "/api/v1/trades", Viewer, (*Server).listTrips, false},
	{"GET", "/api/v1/positions/history", Viewer, (*Server).listEndedPositions, false},
	{"GET", "/api/v1/positions", Viewer, (*Server).listPositions, false},
	{"POST", "/api/v1/positions/{market}/{symbol}/close", Operator, (*Server).closePosition, true},
	{"GET", "/api/v1/account", Viewer, (*Server).account, false},
	{"GET", "/api/v1/equity", Viewer, (*Server).equity, false},
	{"GET", "/api/v1/candles", Viewer, (*Server).listCandles, false},
	{"GET", "/api/v1/market/symbols", Viewer, (*Server).listSymbols, false},
	{"GET", "/api/v1/market/{market}/{symbol}", Viewer, (*Server).oneMarket, false},
	{"GET", "/api/v1/plan", Viewer, (*Server).plan, false},
	{"GET", "/api/v1/risk", Viewer, (*Server).riskState, false},
	{"GET", "/api/v1/risk/limits", Viewer, (*Server).listLimits, false},
	{"PUT", "/api/v1/risk/limits", Operator, (*Server).setLimits, true},
	{"GET", "/api/v1/risk/rejections", Viewer, (*Server).listRefusals, false},
	{"GET", "/api/v1/limits", Viewer, (*Server).listLimits, false}, // the same, where it is looked for
	{"POST", "/api/v1/risk/halt", Operator, (*Server).halt, true},
	{"POST", "/api/v1/risk/rearm", Operator, (*Server).rearm, true},
	{"GET", "/api/v1/reconcile", Viewer, (*Server).reconcileState, false},
	{"POST", "/api/v1/reconcile", Operator, (*Server).runRound, true},
	{"GET", "/api/v1/reconcile/runs", Viewer, (*Server).listRounds, false},
	{"GET", "/api/v1/reconcile/differences", Viewer, (*Server).listDifferences, false},
	{"GET", "/api/v1/reconcile/quarantines", Viewer, (*Server).listQuarantines, false},
	{"POST", "/api/v1/reconcile/resolve", Operator, (*Server).resolve, true},
	{"GET", "/api/v1/notices", Viewer, (*Server).listNotices, false},
	{"GET", "/api/v1/backtests", Viewer, (*Server).listBacktests, false},
	{"POST", "/api/v1/backtests", Operator, (*Server).startBacktest, true},
	{"GET", "/api/v1/backtests/choices", Viewer, (*Server).benchChoices, false},
	{"GET", "/api/v1/backtests/runs", Viewer, (*Server).benchRuns, false},
	{"POST", "/api/v1/backtests/runs/{id}/cancel", Operator, (*Server).cancelBacktest, true},
	{"GET", "/api/v1/backtests/{id}", Viewer, (*Server).oneBacktest, false},
	{"GET", "/api/v1/backtests/{id}/report", Viewer, (*Server).backtestPage, false},
	{"GET", "/api/v1/sweeps", Viewer, (*Server).listSweeps, false},
	{"GET", "/api/v1/config", Viewer, (*Server).configuration, false},
	{"POST", "/api/v1/config/reload", Operator, (*Server).reload, true},
	{"POST", "/api/v1/backup", Operator, (*Server).makeBackup, true},
	{"POST", "/api/v1/notifications/test", Operator, (*Server).testChannels, true},
	{"GET", "/api/v1/logs", Viewer, (*Server).listLogs, false},
	{"GET", "/api/v1/log-level", Viewer, (*Server).logLevel, false},
	{"PUT", "/api/v1/log-level", Operator, (*Server).setLogLevel, true},
	{"GET", "/api/v1/audit", Viewer, (*Server).listAudit, false},
	{"GET", "/api/v1/events", Viewer, (*Server).events, false},
	{"GET", "/api/v1/session", Viewer, (*Server).whoAmI, false},
	{"POST", "/api/v1/session", nobody, (*Server).login, false},
	{"DELETE", "/api/v1/session", Viewer, (*Server).logout, false},
	{"POST", "/api/v1/session/link", Operator, (*Server).makeLink, false},
	{"GET", "/api/v1/tokens", Viewer, (*Server).listTokens, false},
	{"POST", "/api/v1/tokens", Operator, (*Server).createToken, false}, // its answer is told once, to nobody twice
	{"DELETE", "/api/v1/tokens/{name}", Operator, (*Server).revokeToken, true},
	{"GET", "/api/v1/openapi.json", nobody, (*Server).document, false},
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
		mux.HandleFunc(each.method+" "+each.path, s.admitted(each.least, serve))
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
	return s.guard(mux, mux)
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
