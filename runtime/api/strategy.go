package api

import (
	"net/http"

	"botd/runtime/view"
)

func (s *Server) listStrategies(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	writeList(w, r, s.config.Board.Status().Strategies, "")
}

// oneStrategy serves GET /api/v1/strategies/{name}.
func (s *Server) oneStrategy(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	name := r.PathValue("name")
	one, known := s.config.Board.Strategy(name)
	if !known {
		missing(w, r, "strategy", name)
		return
	}
	one.Config = s.config.StrategyConfig(name)
	one.Orders, _ = s.config.History.Orders(view.Page{Limit: defaultLimit}, func(o *view.Order) bool { return o.Live && o.Strategy == name })
	one.Orders = view.OrEmpty(one.Orders)
	answer(w, r, one)
}
