package api

import (
	"io"
	"net/http"

	"botd/runtime/api/auth"
	"botd/runtime/view"
)

var backtestRoutes = []route{
	{id: "backtests", tag: "backtests", method: "GET", path: "/api/v1/backtests", minimum: auth.Viewer, endpoint: all((*Server).backtests),
		summary: "Reports of backtests in `data_dir/backtests`, newest first, at most 500."},
	{id: "backtest", tag: "backtests", method: "GET", path: "/api/v1/backtests/{id}", minimum: auth.Viewer, endpoint: read((*Server).backtest),
		summary: "One report, with its assumptions, its configuration and its equity curve.", fails: []int{404}},
	{id: "backtest_page", tag: "backtests", method: "GET", path: "/api/v1/backtests/{id}/report", minimum: auth.Viewer, endpoint: raw("text/html",
		(*Server).backtestPage),
		summary: "The page of a report, in a sandbox: its scripts run, but it has no origin, so that it can reach neither the API nor a cookie.",
		fails:   []int{404}},
}

func (s *Server) backtests(*request) ([]view.Backtest, error) { return s.reports.List() }

func (s *Server) backtest(r *request) (view.OneBacktest, error) {
	out, err := s.reports.One(r.PathValue("id"))
	if err != nil {
		return out, notFound("backtest", r.PathValue("id"))
	}
	return out, nil
}

// pagePolicy puts a report's page into a sandbox: it has scripts of its own, but no origin,
// so that it can neither ask the API nor read a cookie, and loads nothing.
const pagePolicy = "sandbox allow-scripts allow-popups; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func (s *Server) backtestPage(w http.ResponseWriter, r *request) error {
	content, err := s.reports.Page(r.PathValue("id"))
	if err != nil {
		return notFound("report", r.PathValue("id"))
	}
	w.Header().Set("Content-Security-Policy", pagePolicy)
	page(w, "text/html; charset=utf-8", string(content))
	return nil
}

// page writes a page or a script.
func page(w http.ResponseWriter, media, content string) {
	w.Header().Set("Content-Type", media)
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = io.WriteString(w, content) // a disconnected client gets no answer
}
