package api

import (
	"net/http"
)

func (s *Server) listDecisions(w http.ResponseWriter, r *http.Request) {
	_, page, ok := pageOf(w, r)
	if !ok {
		return
	}
	name := r.PathValue("name")
	if _, _, known := s.config.Board.Traded(name); !known {
		missing(w, r, "strategy", name)
		return
	}
	items, next := s.config.Board.Decisions(name, page)
	writeList(w, r, items, next)
}
