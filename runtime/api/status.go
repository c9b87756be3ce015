package api

import (
	"net/http"
	"slices"

	"botd/docs"
	"botd/runtime/api/auth"
	"botd/runtime/ops"
	"botd/runtime/view"
)

var statusRoutes = []route{
	{id: "status", tag: "state", method: "GET", path: "/api/v1/status", minimum: auth.Viewer, endpoint: read((*Server).status),
		summary: "Everything an overview shows."},
	{id: "health", tag: "state", method: "GET", path: "/api/v1/health", minimum: auth.Viewer, endpoint: read((*Server).health),
		summary: "Every check that readiness depends on."},
	{id: "version", tag: "state", method: "GET", path: "/api/v1/version", minimum: auth.Viewer, endpoint: read((*Server).version),
		summary: "The version of botd that runs."},
	{id: "document", tag: "document", method: "GET", path: "/api/v1/openapi.json", minimum: auth.Public, endpoint: raw("application/json", (*Server).document),
		summary: "This document.", fails: []int{http.StatusTooManyRequests}},
}

func (s *Server) status(r *request) (view.Status, error) {
	id := s.stream.lastID() // before the status: an event between is seen twice rather than never
	status := s.config.Board.Status()
	status.Strategies = s.views.dated(status.Strategies)
	status.EventID, status.Version = id, s.config.Build.Version
	if s.config.Lane != nil { // the engine's state of the lane may be old
		status.Degraded = append(view.DegradedOf(s.config.Lane.Degraded()), status.Degraded...)
	}
	if s.config.LaneUse != nil {
		status.LaneUse = s.config.LaneUse()
	}
	if s.config.Head != nil {
		status.Journal = s.config.Head(r.Context())
	}
	return status, nil
}

// Health is every check.
type Health struct {
	Schema int         `json:"schema"`
	Alive  bool        `json:"alive"`
	Ready  bool        `json:"ready"`
	Checks []ops.Check `json:"checks"`
}

func (s *Server) health(*request) (Health, error) {
	checks := s.config.Board.Checks()
	return Health{Schema: 1, Alive: s.config.Board.Alive(), Ready: !slices.ContainsFunc(checks, failed), Checks: checks}, nil
}

func failed(c ops.Check) bool { return !c.OK }

// Version is the version of the running botd.
type Version struct {
	Schema   int    `json:"schema"`
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
	Mode     string `json:"mode"`
	Instance string `json:"instance"`
	Epoch    string `json:"epoch"` // identifies this start
}

func (s *Server) version(*request) (Version, error) {
	b := s.config.Build
	return Version{1, b.Version, b.Revision, b.Go, s.config.Board.Mode(), s.config.Board.Instance(), s.config.Epoch}, nil
}

func (s *Server) document(w http.ResponseWriter, r *request) error {
	text, err := docs.API()
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Vary", "Accept-Encoding")
	deliver(w, text, acceptsGzip(r.Request))
	return nil
}

// healthz and readyz serve process supervisors, and need no token.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	if !s.config.Board.Alive() {
		answerAs(w, http.StatusServiceUnavailable, map[string]any{"status": "the loop has not run for 30 s", "mode": s.config.Board.Mode()})
		return
	}
	answerAs(w, http.StatusOK, map[string]any{"status": "ok", "mode": s.config.Board.Mode()})
}

func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	checks := s.config.Board.Checks()
	status, word := http.StatusOK, "ready"
	if slices.ContainsFunc(checks, failed) {
		status, word = http.StatusServiceUnavailable, "not ready"
	}
	content := map[string]any{"status": word}
	if _, verbose := r.URL.Query()["verbose"]; verbose || status != http.StatusOK {
		content["checks"] = checks
	}
	answerAs(w, status, content)
}
