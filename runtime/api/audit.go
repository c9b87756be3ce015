package api

import (
	"net/http"

	"botd/runtime/view"
)

// listAudit serves GET /api/v1/audit.
func (s *Server) listAudit(w http.ResponseWriter, r *http.Request) {
	query, page, ok := pageOf(w, r, "kind", "actor")
	if !ok {
		return
	}
	kind, actor := query.Get("kind"), query.Get("actor")
	items, next := s.config.History.Audits(page, func(a *view.Audit) bool {
		return (kind == "" || kind == a.Kind) && (actor == "" || actor == a.Actor)
	})
	writeList(w, r, items, next)
}
