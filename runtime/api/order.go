package api

import (
	"net/http"

	"botd/runtime/view"
)

// listOrders serves GET /api/v1/orders: live ones unless asked otherwise.
func (s *Server) listOrders(w http.ResponseWriter, r *http.Request) {
	query, page, ok := pageOf(w, r, "state", "strategy", "symbol", "market")
	if !ok {
		return
	}
	state := query.Get("state")
	if state == "" {
		state = "live"
	}
	items, next := s.config.History.Orders(page, func(o *view.Order) bool {
		return (state == "all" || state == "live" && o.Live || state == "ended" && !o.Live || state == o.State) && chosen(query, o.Strategy, o.Market, o.Symbol)
	})
	writeList(w, r, items, next)
}

func (s *Server) oneOrder(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	order, steps, found := s.config.History.Order(r.PathValue("id"))
	if !found {
		missing(w, r, "order", r.PathValue("id"))
		return
	}
	answer(w, r, view.OneOrder{Schema: 1, Order: order, Steps: steps})
}

func (s *Server) listFills(w http.ResponseWriter, r *http.Request) {
	query, page, ok := pageOf(w, r, "strategy", "symbol", "market", "order")
	if !ok {
		return
	}
	order := query.Get("order")
	items, next := s.config.History.Fills(page, func(f *view.Fill) bool {
		return chosen(query, f.Strategy, f.Market, f.Symbol) && (order == "" || order == f.ClientOrderID)
	})
	writeList(w, r, items, next)
}
