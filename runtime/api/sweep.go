package api

import (
	"net/http"

	"botd/runtime/view"
)

// listSweeps serves GET /api/v1/sweeps, the newest first.
func (s *Server) listSweeps(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	items, err := view.Sweeps(s.config.Sweeps)
	if err != nil {
		problem(w, r, http.StatusInternalServerError, "internal", err.Error())
		return
	}
	writeList(w, r, items, "")
}
