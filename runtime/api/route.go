package api

import (
	"net/http"
	"slices"
	"strings"

	"botd/runtime/api/auth"
)

// route is one operation of the API. docs/api.yaml is derived from the routes and from the
// types that they take and answer.
type route struct {
	id, tag      string // of the operation in the document
	method, path string
	minimum      auth.Role
	summary      string
	takes        []parameter // in the query
	fails        []int       // statuses besides those of every route of its kind
	endpoint
}

// routes are all operations of the API, each group in the file that serves it.
var routes = slices.Concat(statusRoutes, strategyRoutes, parityRoutes, previewRoutes, orderRoutes, manualRoutes, intentRoutes, positionRoutes, marketRoutes,
	riskRoutes, haltRoutes, reconcileRoutes,
	noticeRoutes, backtestRoutes, runnerRoutes, sweepRoutes, configRoutes, backupRoutes, channelRoutes, logRoutes, streamRoutes, sessionRoutes, tokenRoutes)

// fallback is the pattern of paths under /api/ without a route.
const fallback = "/api/"

// routed returns the server's handler.
func (s *Server) routed() http.Handler {
	mux := http.NewServeMux()
	for i := range routes {
		each := &routes[i]
		serve := s.serving(each)
		if each.changes {
			serve = s.idempotency.once(serve)
		}
		mux.HandleFunc(each.method+" "+each.path, s.admitted(each.minimum, serve))
	}
	mux.HandleFunc(fallback, notRouted)
	mayScrape := auth.Public
	if s.config.Access.MetricsToken {
		mayScrape = auth.Viewer
	}
	mux.HandleFunc("GET /metrics", s.admitted(mayScrape, s.metricsHandler()))
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.HandleFunc("GET /startupz", s.readyz)
	if s.config.Web != nil {
		mux.Handle("/", s.config.Web) // it also serves the login page
	} else {
		mux.HandleFunc("GET /login", loginPage)
		mux.HandleFunc("GET /login.js", loginScript)
		mux.HandleFunc("GET /{$}", landing)
	}
	return s.guarded(mux, mux)
}

// serving reads the query of a request to a route, calls its endpoint, and writes its error.
func (s *Server) serving(each *route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		request, err := readRequest(each, r)
		if err == nil {
			err = each.serve(s, w, request)
		}
		if err != nil {
			fail(w, r, err)
		}
	}
}

// notRouted answers paths without a route: 405 where the path has other methods.
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
	allowed = slices.Compact(allowed)
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
