package api

import (
	"botd/runtime/api/auth"
	"botd/runtime/view"
)

var noticeRoutes = []route{
	{id: "notices", tag: "log", method: "GET", path: "/api/v1/notices", minimum: auth.Viewer, endpoint: list(of(viewsOf, (*views).notices)),
		summary: "Notices for people, newest first, since the start.",
		takes: []parameter{{name: "kind", text: "Only of this kind."}, {name: "severity", text: "Only of this severity.", values: []string{"info",
			"warning", "error"}}, ofStrategy, ofMarket, ofSymbol}},
	{id: "incidents", tag: "log", method: "GET", path: "/api/v1/incidents", minimum: auth.Viewer, endpoint: list(of(viewsOf, (*views).incidents)),
		summary: "Incidents, one per cause, newest first, across restarts: the open ones and those that have ended.",
		takes: []parameter{{name: "state", text: "Only open or only closed ones.", values: []string{"open", "closed"}},
			{name: "kind", text: "Only of this kind."}, {name: "severity", text: "Only of this severity.", values: []string{"warning", "critical"}},
			ofStrategy, ofMarket, ofSymbol}},
	{id: "audit", tag: "log", method: "GET", path: "/api/v1/audit", minimum: auth.Viewer, endpoint: list(of(viewsOf, (*views).audits)),
		summary: "Who changed what, newest first, from the journal: requests of people and botd's own actions.",
		takes:   []parameter{{name: "kind", text: "Only of this kind."}, {name: "actor", text: "Only by this actor."}}},
}

func (v *views) notices(r *request) ([]view.Notice, string) {
	return v.board.Notices(r.page, func(n *view.Notice) bool {
		return r.isOf(n.Strategy, n.Market, n.Symbol) && r.is("kind", n.Kind) && r.is("severity", n.Severity)
	})
}

func (v *views) incidents(r *request) ([]view.Incident, string) {
	return v.board.Incidents(r.page, func(i *view.Incident) bool {
		return r.isOf(i.Strategy, i.Market, i.Symbol) && r.is("state", i.State) && r.is("kind", i.Kind) && r.is("severity", string(i.Severity))
	})
}

func (v *views) audits(r *request) ([]view.Audit, string) {
	return v.history.Audits(r.page, func(a *view.Audit) bool { return r.is("kind", a.Kind) && r.is("actor", a.Actor) })
}
