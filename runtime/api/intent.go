package api

import (
	"net/http"

	"botd/runtime/view"
)

// listIntents serves GET /api/v1/intents.
func (s *Server) listIntents(w http.ResponseWriter, r *http.Request) {
	query, page, ok := pageOf(w, r, "strategy", "symbol", "market", "outcome", "purpose")
	if !ok {
		return
	}
	outcome, purpose := query.Get("outcome"), query.Get("purpose")
	items, next := s.config.Board.Intents(page, func(in *view.Intent) bool {
		return chosen(query, in.Strategy, in.Market, in.Symbol) && (outcome == "" || outcome == in.Outcome) && (purpose == "" || purpose == in.Purpose)
	})
	writeList(w, r, items, next)
}

// oneIntent serves GET /api/v1/intents/{id}.
func (s *Server) oneIntent(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	id := r.PathValue("id")
	one, found := s.config.Board.Intent(id, s.config.History)
	if !found {
		missing(w, r, "intent", id)
		return
	}
	answer(w, r, one)
}
