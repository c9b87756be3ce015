package api

import (
	"fmt"
	"net/http"
	"net/url"

	"botd/runtime/view"
)

// listDifferences serves GET /api/v1/reconcile/differences.
func (s *Server) listDifferences(w http.ResponseWriter, r *http.Request) {
	query, page, ok := pageOf(w, r, "kind", "market", "symbol", "open")
	if !ok || !truth(w, r, query, "open") {
		return
	}
	kind, open := query.Get("kind"), query.Get("open")
	items, next := s.config.History.Differences(page, func(d *view.Difference) bool {
		return chosen(query, "", d.Market, d.Symbol) && (kind == "" || kind == d.Kind) && (open == "" || (open == "true") == d.Open)
	})
	writeList(w, r, items, next)
}

// truth refuses a parameter that is neither true nor false.
func truth(w http.ResponseWriter, r *http.Request, query url.Values, name string) bool {
	text := query.Get(name)
	if query.Has(name) && text != "true" && text != "false" {
		problem(w, r, http.StatusBadRequest, "parameter", fmt.Sprintf("%s %q is neither true nor false", name, text))
		return false
	}
	return true
}
