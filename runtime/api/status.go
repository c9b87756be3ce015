package api

import (
	"net/http"
)

func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	id := s.stream.LastID() // before the status: an event between is seen twice rather than never
	status := s.config.Board.Status()
	status.EventID, status.Version = id, s.config.Build.Version
	answer(w, r, status)
}
