package api

import (
	"botd/runtime/api/auth"
	"botd/runtime/view"
)

var intentRoutes = []route{
	{id: "intents", tag: "orders", method: "GET", path: "/api/v1/intents", minimum: auth.Viewer, endpoint: list(of(viewsOf, (*views).intents)),
		summary: "The intents derived since the start, newest first, each with its outcome.",
		takes: []parameter{ofStrategy, ofMarket, ofSymbol, {name: "outcome", text: "Only with this outcome."}, {name: "purpose",
			text: "Only with this purpose."}}},
	{id: "intent", tag: "orders", method: "GET", path: "/api/v1/intents/{id}", minimum: auth.Viewer, endpoint: read(of(viewsOf, (*views).intent)),
		summary: "The life of one intent: every rule with its figures, and every step. By its id in the list, or by a client order id, including those of " +
			"earlier runs.",
		fails: []int{404}},
	{id: "refusals", tag: "risk", method: "GET", path: "/api/v1/risk/rejections", minimum: auth.Viewer, endpoint: list(of(viewsOf, (*views).refusals)),
		summary: "Intents that a rule refused in this run, newest first. Identical refusals are listed once.",
		takes:   []parameter{{name: "rule", text: "Only refusals by this rule."}, ofStrategy, ofMarket, ofSymbol}},
}

func (v *views) intents(r *request) ([]view.Intent, string) {
	return v.board.Intents(r.page, func(in *view.Intent) bool {
		return r.isOf(in.Strategy, in.Market, in.Symbol) && r.is("outcome", in.Outcome) && r.is("purpose", in.Purpose)
	})
}

func (v *views) intent(r *request) (view.OneIntent, error) {
	one, found := v.board.Intent(r.PathValue("id"), v.history)
	if !found {
		return one, notFound("intent", r.PathValue("id"))
	}
	return one, nil
}

func (v *views) refusals(r *request) ([]view.Refusal, string) {
	return v.board.Refusals(r.page, func(f *view.Refusal) bool { return r.isOf(f.Strategy, f.Market, f.Symbol) && r.is("rule", f.Rule) })
}
