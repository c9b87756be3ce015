package api

import (
	"context"
	"net/http"

	"botd/runtime/engine"
	"botd/runtime/view"
)

// reconcileState serves GET /api/v1/reconcile.
func (s *Server) reconcileState(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), engineWithin)
	defer cancel()
	quarantines, err := s.quarantines(ctx)
	if err != nil {
		problem(w, r, http.StatusServiceUnavailable, "stopped", "the engine does not answer now")
		return
	}
	out := s.config.Board.Reconcile()
	out.Quarantines = quarantines
	answer(w, r, out)
}

// listRounds serves GET /api/v1/reconcile/runs.
func (s *Server) listRounds(w http.ResponseWriter, r *http.Request) {
	query, page, ok := pageOf(w, r, "complete")
	if !ok || !truth(w, r, query, "complete") {
		return
	}
	complete := query.Get("complete")
	items, next := s.config.Board.Rounds(page, func(r *view.Round) bool { return complete == "" || (complete == "true") == r.Complete })
	writeList(w, r, items, next)
}

// listNotices serves GET /api/v1/notices.
func (s *Server) listNotices(w http.ResponseWriter, r *http.Request) {
	query, page, ok := pageOf(w, r, "kind", "severity", "strategy", "market", "symbol")
	if !ok {
		return
	}
	kind, severity := query.Get("kind"), query.Get("severity")
	items, next := s.config.Board.Notices(page, func(n *view.Notice) bool {
		return chosen(query, n.Strategy, n.Market, n.Symbol) && (kind == "" || kind == n.Kind) && (severity == "" || severity == n.Severity)
	})
	writeList(w, r, items, next)
}

// runRound serves POST /api/v1/reconcile: a round begins now.
func (s *Server) runRound(w http.ResponseWriter, r *http.Request) {
	dry, ok := dryRun(w, r)
	if !ok {
		return
	}
	s.do(w, r, audited(r, "account", "a round now", &engine.EventRound{}), Change{1, dry, []string{"fetch orders and positions now, and act on what is true"}})
}
