package api

import (
	"botd/runtime/api/auth"
	"botd/runtime/view"
)

var positionRoutes = []route{
	{id: "positions", tag: "money", method: "GET", path: "/api/v1/positions", minimum: auth.Viewer, endpoint: all(of(viewsOf, (*views).positions)),
		summary: "Open positions as the exchange reports them, with what the journal explains and what protects them."},
	{id: "closed_positions", tag: "money", method: "GET", path: "/api/v1/positions/history", minimum: auth.Viewer,
		endpoint: list(of(viewsOf, (*views).closedPositions)),
		summary: "Closed positions, newest first, whoever opened them, including those of earlier runs. On spot, the quantities that a strategy bought " +
			"and sold again.",
		takes: []parameter{ofStrategy, ofMarket, ofSymbol}},
	{id: "trades", tag: "money", method: "GET", path: "/api/v1/trades", minimum: auth.Viewer, endpoint: list(of(viewsOf, (*views).trades)),
		summary: "Round trips of strategies, from flat to flat, net of fees and funding, newest first, including those of earlier runs. " +
			"A trip is listed once its amounts are booked.", takes: []parameter{ofStrategy, ofMarket, ofSymbol}},
	{id: "account", tag: "money", method: "GET", path: "/api/v1/account", minimum: auth.Viewer, endpoint: read(of(viewsOf, (*views).account)),
		summary: "The balances of both wallets."},
	{id: "equity", tag: "money", method: "GET", path: "/api/v1/equity", minimum: auth.Viewer, endpoint: read(of(viewsOf, (*views).equity)),
		summary: "Equity over time, in columns: one point per minute for the last week, one per hour before that, with starts, halts and limits as marks.",
		takes: []parameter{{name: "from", text: "Milliseconds, inclusive.", kind: milliseconds}, {name: "to", text: "Milliseconds, exclusive.",
			kind: milliseconds},
			{name: "step", text: "Milliseconds between points; increased if the answer would have more than 5000.", kind: milliseconds}}},
}

// views serves the state of trading: from the board, which the last round updated, and from the
// history of the journal's records.
type views struct {
	board          *view.Board
	history        *view.History
	curve          *view.Equity
	strategyConfig func(name string) string
}

func viewsOf(s *Server) *views { return &s.views }

func (v *views) positions(*request) ([]view.Position, error) {
	all := v.board.Positions()
	for i := range all {
		all[i].SubtractEarlier(v.history.ClosedNet(all[i].Strategy))
		v.history.DatePosition(&all[i])
	}
	return all, nil
}

func (v *views) closedPositions(r *request) ([]view.ClosedPosition, string) {
	return v.history.ClosedPositions(r.page, r.isOf)
}

func (v *views) trades(r *request) ([]view.ClosedPosition, string) {
	return v.history.RoundTrips(r.page, r.isOf)
}

func (v *views) account(*request) (view.Account, error) { return v.board.Account(), nil }

func (v *views) equity(r *request) (view.EquitySeries, error) {
	fromMS, toMS := r.number("from", 0), r.number("to", 1<<62)
	out := v.curve.Series(fromMS, toMS, r.number("step", 0))
	out.Marks = v.history.Marks(fromMS, toMS)
	return out, nil
}
