package api

import (
	"encoding/json"
	"net/http"
	"slices"

	"botd/docs"
	"botd/runtime/ops"
)

func (s *Server) healthz(w http.ResponseWriter, r *http.Request) {
	if !s.config.Board.Alive() {
		plain(w, http.StatusServiceUnavailable, map[string]any{"status": "the loop has not beaten for 30 s", "mode": s.config.Board.Mode()})
		return
	}
	plain(w, http.StatusOK, map[string]any{"status": "ok", "mode": s.config.Board.Mode()})
}

func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	checks := s.config.Board.Checks()
	status, word := http.StatusOK, "ready"
	if slices.ContainsFunc(checks, func(c ops.Check) bool { return !c.OK }) {
		status, word = http.StatusServiceUnavailable, "not ready"
	}
	content := map[string]any{"status": word}
	if _, verbose := r.URL.Query()["verbose"]; verbose || status != http.StatusOK {
		content["checks"] = checks
	}
	plain(w, status, content)
}

// plain answers what is never kept.
func plain(w http.ResponseWriter, status int, content map[string]any) {
	text, err := json.Marshal(content)
	if err != nil {
		panic("api: " + err.Error()) // maps of texts and checks
	}
	w.Header().Set("Cache-Control", "no-store")
	send(w, status, text)
}

// Health is every check.
type Health struct {
	Schema int         `json:"schema"`
	Alive  bool        `json:"alive"`
	Ready  bool        `json:"ready"`
	Checks []ops.Check `json:"checks"`
}

func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	h := Health{Schema: 1, Alive: s.config.Board.Alive(), Ready: true, Checks: s.config.Board.Checks()}
	for _, c := range h.Checks {
		h.Ready = h.Ready && c.OK
	}
	answer(w, r, h)
}

// Version is which botd runs.
type Version struct {
	Schema   int    `json:"schema"`
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
	Mode     string `json:"mode"`
	Instance string `json:"instance"`
	Epoch    string `json:"epoch"` // of this start
}

func (s *Server) version(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	b := s.config.Build
	answer(w, r, Version{1, b.Version, b.Revision, b.Go, s.config.Board.Mode(), s.config.Board.Instance(), s.config.Epoch})
}

// document serves the OpenAPI document of this API.
func (s *Server) document(w http.ResponseWriter, r *http.Request) {
	text, err := docs.API()
	if err != nil {
		problem(w, r, http.StatusInternalServerError, "internal", err.Error())
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Vary", "Accept-Encoding")
	deliver(w, text, takesGzip(r))
}
