package api

import (
	"net/http"

	"botd/runtime/view"
)

// listRefusals serves GET /api/v1/risk/rejections.
func (s *Server) listRefusals(w http.ResponseWriter, r *http.Request) {
	query, page, ok := pageOf(w, r, "rule", "strategy", "market", "symbol")
	if !ok {
		return
	}
	rule := query.Get("rule")
	items, next := s.config.Board.Refusals(page, func(r *view.Refusal) bool {
		return chosen(query, r.Strategy, r.Market, r.Symbol) && (rule == "" || rule == r.Rule)
	})
	writeList(w, r, items, next)
}
