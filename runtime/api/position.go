package api

import (
	"net/http"
)

// listPositions serves GET /api/v1/positions.
func (s *Server) listPositions(w http.ResponseWriter, r *http.Request) {
	if noQuery(w, r) {
		writeList(w, r, s.config.Board.Positions(), "")
	}
}

func (s *Server) account(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	answer(w, r, s.config.Board.Account())
}
