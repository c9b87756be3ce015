package api

import (
	"botd/runtime/api/auth"
	"botd/runtime/view"
)

var orderRoutes = []route{
	{id: "orders", tag: "orders", method: "GET", path: "/api/v1/orders", minimum: auth.Viewer, endpoint: list(of(viewsOf, (*views).orders)),
		summary: "Placements, newest first; only live ones by default.",
		takes:   []parameter{{name: "state", text: "live (default), ended, all, or one state such as filled."}, ofStrategy, ofMarket, ofSymbol}},
	{id: "order", tag: "orders", method: "GET", path: "/api/v1/orders/{id}", minimum: auth.Viewer, endpoint: read(of(viewsOf, (*views).order)),
		summary: "One placement with its steps, by client order id or order id.", fails: []int{404}},
	{id: "fills", tag: "orders", method: "GET", path: "/api/v1/fills", minimum: auth.Viewer, endpoint: list(of(viewsOf, (*views).fills)),
		summary: "Fills, newest first, including those of earlier runs.",
		takes:   []parameter{ofStrategy, ofMarket, ofSymbol, {name: "order", text: "Only fills of this client order id."}}},
}

func (v *views) orders(r *request) ([]view.Order, string) {
	state := r.query.Get("state")
	return v.history.Orders(r.page, func(o *view.Order) bool {
		switch state {
		case "", "live":
			return o.Live && r.isOf(o.Strategy, o.Market, o.Symbol)
		case "ended":
			return !o.Live && r.isOf(o.Strategy, o.Market, o.Symbol)
		}
		return (state == "all" || state == o.State) && r.isOf(o.Strategy, o.Market, o.Symbol)
	})
}

func (v *views) order(r *request) (view.OneOrder, error) {
	order, steps, found := v.history.Order(r.PathValue("id"))
	if !found {
		return view.OneOrder{}, notFound("order", r.PathValue("id"))
	}
	return view.OneOrder{Schema: 1, Order: order, Steps: steps}, nil
}

func (v *views) fills(r *request) ([]view.Fill, string) {
	return v.history.Fills(r.page, func(f *view.Fill) bool {
		return r.isOf(f.Strategy, f.Market, f.Symbol) && r.is("order", f.ClientOrderID)
	})
}
