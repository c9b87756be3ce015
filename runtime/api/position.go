package api

import (
	"botd/runtime/api/auth"
	"botd/runtime/view"
)

var positionRoutes = []route{
	{id: "positions", tag: "money", method: "GET", path: "/api/v1/positions", minimum: auth.Viewer, endpoint: all((*Server).positions),
		summary: "Open positions as the exchange reports them, with what the journal explains and what protects them."},
	{id: "ended_positions", tag: "money", method: "GET", path: "/api/v1/positions/history", minimum: auth.Viewer, endpoint: list((*Server).endedPositions),
		summary: "Closed positions, newest first, whoever opened them, those of earlier runs too. On spot, what a strategy bought and sold again.",
		takes:   []parameter{ofStrategy, ofMarket, ofSymbol}},
	{id: "trades", tag: "money", method: "GET", path: "/api/v1/trades", minimum: auth.Viewer, endpoint: list((*Server).trades),
		summary: "Round trips of strategies, from flat to flat, net of fees and funding, newest first, those of earlier runs too. " +
			"A trip is listed once its money is booked.", takes: []parameter{ofStrategy, ofMarket, ofSymbol}},
	{id: "account", tag: "money", method: "GET", path: "/api/v1/account", minimum: auth.Viewer, endpoint: read((*Server).account),
		summary: "The balances of both wallets."},
	{id: "equity", tag: "money", method: "GET", path: "/api/v1/equity", minimum: auth.Viewer, endpoint: read((*Server).equity),
		summary: "Equity over time, in columns: a point a minute for a week, one an hour before that, with starts, halts and limits as marks.",
		takes: []parameter{{name: "from", text: "Milliseconds, inclusive.", kind: milliseconds}, {name: "to", text: "Milliseconds, exclusive.",
			kind: milliseconds},
			{name: "step", text: "Milliseconds between points; more where an answer would have more than 5000.", kind: milliseconds}}},
}

func (s *Server) positions(*request) ([]view.Position, error) {
	all := s.config.Board.Positions()
	for i := range all {
		all[i].Book(s.config.History.ClosedNet(all[i].Strategy))
		s.config.History.DatePosition(&all[i])
	}
	return all, nil
}

func (s *Server) endedPositions(r *request) ([]view.EndedPosition, string) {
	return s.config.History.EndedPositions(r.page, r.isOf)
}

func (s *Server) trades(r *request) ([]view.RoundTrip, string) {
	return s.config.History.RoundTrips(r.page, r.isOf)
}

func (s *Server) account(*request) (view.Account, error) { return s.config.Board.Account(), nil }

func (s *Server) equity(r *request) (view.EquitySeries, error) {
	fromMS, toMS := r.number("from", 0), r.number("to", 1<<62)
	out := s.config.Equity.Series(fromMS, toMS, r.number("step", 0))
	out.Marks = s.config.History.Marks(fromMS, toMS)
	return out, nil
}
