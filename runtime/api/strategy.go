package api

import (
	"errors"
	"net/http"

	"botd/runtime/api/auth"
	"botd/runtime/view"
	"botd/strategy"
)

var strategyRoutes = []route{
	{id: "strategies", tag: "strategies", method: "GET", path: "/api/v1/strategies", minimum: auth.Viewer, endpoint: all(of(viewsOf, (*views).strategies)),
		summary: "All strategies at a glance."},
	{id: "strategy", tag: "strategies", method: "GET", path: "/api/v1/strategies/{name}", minimum: auth.Viewer, endpoint: read(of(viewsOf, (*views).strategy)),
		summary: "One strategy: its plan in force, limits, last decisions, live orders and configuration.", fails: []int{404}},
	{id: "decisions", tag: "strategies", method: "GET", path: "/api/v1/strategies/{name}/decisions", minimum: auth.Viewer,
		endpoint: read(of(viewsOf, (*views).decisions)),
		summary: "The decisions of a strategy, newest first, for as long as `retention.decisions` stores them. " +
			"A page may be short even though there is a `next`, since it reads only a few of the stored files.",
		takes: []parameter{pageLimit, pageAfter}, fails: []int{404}},
	{id: "plots", tag: "strategies", method: "GET", path: "/api/v1/strategies/{name}/plots", minimum: auth.Viewer, endpoint: read((*Server).plots),
		summary: "The indicators that a built-in strategy reads, or that rules or a script call on the closing price, over the candles it " +
			"decides on; none for kinds that read only prices.",
		takes: candleSpan, fails: []int{404, 502}},
}

func (v *views) strategies(*request) ([]view.Strategy, error) {
	return v.dated(v.board.Status().Strategies), nil
}

// dated sets when each strategy's position began.
func (v *views) dated(all []view.Strategy) []view.Strategy {
	for i := range all {
		v.history.DateStrategy(&all[i])
	}
	return all
}

func (v *views) strategy(r *request) (view.OneStrategy, error) {
	name := r.PathValue("name")
	one, known := v.board.Strategy(name)
	if !known {
		return one, notFound("strategy", name)
	}
	v.history.DateStrategy(&one.Strategy)
	one.Config = v.strategyConfig(name)
	orders, _ := v.history.Orders(view.Page{Limit: maxLimit}, func(o *view.Order) bool { return o.Live && o.Strategy == name })
	one.Orders = view.OrEmpty(orders)
	return one, nil
}

func (v *views) decisions(r *request) (List[view.Decision], error) {
	name := r.PathValue("name")
	if _, _, known := v.board.Traded(name); !known {
		return List[view.Decision]{}, notFound("strategy", name)
	}
	return listOf(v.board.Decisions(name, view.Page{Limit: int(r.number("limit", defaultLimit)), After: r.number("after", 0)})), nil
}

func (s *Server) plots(r *request) (view.Plots, error) {
	if err := s.markets.paced(r); err != nil {
		return view.Plots{}, err
	}
	name := r.PathValue("name")
	symbol, interval, known := s.config.Board.Traded(name)
	if !known {
		return view.Plots{}, notFound("strategy", name)
	}
	fromMS, toMS, err := s.markets.span(r, interval)
	if err != nil {
		return view.Plots{}, err
	}
	var plots []strategy.Plot
	if s.config.Plots != nil && s.config.Market != nil {
		plots = s.config.Plots(name)
	}
	ctx, cancel := marketContext(r)
	defer cancel()
	out, err := s.markets.data.Plots(ctx, symbol, interval, plots, fromMS, toMS)
	var wrong *view.WrongPlot
	switch {
	case errors.As(err, &wrong):
		return out, &failure{http.StatusInternalServerError, "internal", err.Error()}
	case err != nil:
		return out, unavailable(err)
	}
	out.Strategy = name
	return out, nil
}
