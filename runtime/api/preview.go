package api

import (
	"context"
	"net/http"

	"botd/runtime/view"
)

func (s *Server) outlooks(ctx context.Context) ([]view.Outlook, error) {
	items := []view.Outlook{}
	err := s.config.Driver.Query(ctx, func() {
		for _, o := range s.config.Engine.Outlooks() {
			items = append(items, view.OutlookOf(&o))
		}
	})
	return items, err
}

// plan serves GET /api/v1/plan: what the next tick of each strategy would do.
func (s *Server) plan(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	if items, ok := s.foreseen(w, r); ok {
		writeList(w, r, items, "")
	}
}

// foreseen asks the engine, and tells when it does not answer.
func (s *Server) foreseen(w http.ResponseWriter, r *http.Request) ([]view.Outlook, bool) {
	ctx, cancel := context.WithTimeout(r.Context(), engineWithin)
	defer cancel()
	items, err := s.outlooks(ctx)
	if err != nil {
		problem(w, r, http.StatusServiceUnavailable, "stopped", "the engine does not answer now")
	}
	return items, err == nil
}

// explain serves GET /api/v1/strategies/{name}/explain.
func (s *Server) explain(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	items, ok := s.foreseen(w, r)
	if !ok {
		return
	}
	name := r.PathValue("name")
	for _, o := range items {
		if o.Strategy == name {
			answer(w, r, view.OneOutlook{Schema: 1, Outlook: o})
			return
		}
	}
	missing(w, r, "strategy", name)
}
