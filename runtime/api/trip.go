package api

import (
	"net/http"
)

// listTrips serves GET /api/v1/trades.
func (s *Server) listTrips(w http.ResponseWriter, r *http.Request) {
	query, page, ok := pageOf(w, r, "strategy", "symbol", "market")
	if ok {
		items, next := s.config.History.RoundTrips(page, func(strategy, market, symbol string) bool { return chosen(query, strategy, market, symbol) })
		writeList(w, r, items, next)
	}
}

// listEndedPositions serves GET /api/v1/positions/history.
func (s *Server) listEndedPositions(w http.ResponseWriter, r *http.Request) {
	query, page, ok := pageOf(w, r, "strategy", "symbol", "market")
	if ok {
		items, next := s.config.History.EndedPositions(page, func(strategy, market, symbol string) bool { return chosen(query, strategy, market, symbol) })
		writeList(w, r, items, next)
	}
}
