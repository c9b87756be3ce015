package api

import (
	"net/http"
)

// listBacktests serves GET /api/v1/backtests, the newest first.
func (s *Server) listBacktests(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	items, err := s.reports.List()
	if err != nil {
		problem(w, r, http.StatusInternalServerError, "internal", err.Error())
		return
	}
	writeList(w, r, items, "")
}

// oneBacktest serves GET /api/v1/backtests/{id}.
func (s *Server) oneBacktest(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	out, err := s.reports.One(r.PathValue("id"))
	if err != nil {
		missing(w, r, "backtest", r.PathValue("id"))
		return
	}
	answer(w, r, out)
}

// pagePolicy shuts a report's page in: it has scripts of its own, but no origin, so
// that it can neither ask the API nor read a cookie, and loads nothing.
const pagePolicy = "sandbox allow-scripts allow-popups; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// backtestPage serves GET /api/v1/backtests/{id}/report.
func (s *Server) backtestPage(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	content, err := s.reports.Page(id)
	if err != nil {
		missing(w, r, "report", id)
		return
	}
	w.Header().Set("Content-Security-Policy", pagePolicy)
	text(w, "text/html; charset=utf-8", string(content))
}
