package api

import (
	"botd/runtime/api/auth"
	"botd/runtime/view"
)

var noticeRoutes = []route{
	{id: "notices", tag: "log", method: "GET", path: "/api/v1/notices", minimum: auth.Viewer, endpoint: list((*Server).notices),
		summary: "What a person may want to know, newest first, since the start.",
		takes: []parameter{{name: "kind", text: "Of this kind alone."}, {name: "severity", text: "Of this severity alone.", values: []string{"info",
			"warning", "error"}}, ofStrategy, ofMarket, ofSymbol}},
	{id: "audit", tag: "log", method: "GET", path: "/api/v1/audit", minimum: auth.Viewer, endpoint: list((*Server).audits),
		summary: "Who changed what, newest first, from the journal: what people asked for and what botd did by itself.",
		takes:   []parameter{{name: "kind", text: "Of this kind alone."}, {name: "actor", text: "By this actor alone."}}},
}

func (s *Server) notices(r *request) ([]view.Notice, string) {
	return s.config.Board.Notices(r.page, func(n *view.Notice) bool {
		return r.isOf(n.Strategy, n.Market, n.Symbol) && r.is("kind", n.Kind) && r.is("severity", n.Severity)
	})
}

func (s *Server) audits(r *request) ([]view.Audit, string) {
	return s.config.History.Audits(r.page, func(a *view.Audit) bool { return r.is("kind", a.Kind) && r.is("actor", a.Actor) })
}
