package api

import (
	"errors"
	"net/http"
	"strings"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/runtime/api/auth"
	"botd/runtime/engine"
	"botd/runtime/view"
)

var reconcileRoutes = []route{
	{id: "reconcile", tag: "reconcile", method: "GET", path: "/api/v1/reconcile", minimum: auth.Viewer, endpoint: read((*Server).reconcileState),
		summary: "The latest rounds, and all unexplained differences.", fails: []int{503}},
	{id: "round", tag: "reconcile", method: "POST", path: "/api/v1/reconcile", minimum: auth.Operator, endpoint: change((*Server).runRound),
		summary: "Begins a round now."},
	{id: "rounds", tag: "reconcile", method: "GET", path: "/api/v1/reconcile/runs", minimum: auth.Viewer, endpoint: list(of(viewsOf, (*views).rounds)),
		summary: "The last rounds of this run, newest first.", takes: []parameter{{name: "complete",
			text: "Only rounds that read everything, or only the others.", kind: boolean}}},
	{id: "differences", tag: "reconcile", method: "GET", path: "/api/v1/reconcile/differences", minimum: auth.Viewer,
		endpoint: list(of(viewsOf, (*views).differences)),
		summary:  "Each difference between exchange and journal, and how it was resolved: newest first, including those of earlier runs.",
		takes: []parameter{{name: "kind", text: "Only of this kind.", values: view.DifferenceKinds}, ofMarket, ofSymbol,
			{name: "open", text: "Only quarantines that wait for a person, or only all others.", kind: boolean}}},
	{id: "quarantines", tag: "reconcile", method: "GET", path: "/api/v1/reconcile/quarantines", minimum: auth.Viewer, endpoint: all((*Server).quarantines),
		summary: "Symbols that wait for a person, with the evidence and what each decision would change.", fails: []int{503}},
	{id: "resolve", tag: "reconcile", method: "POST", path: "/api/v1/reconcile/resolve", minimum: auth.Operator, endpoint: change((*Server).resolve),
		summary: "Ends a quarantine, by a person's decision.", fails: []int{409}},
	{id: "transfer", tag: "reconcile", method: "POST", path: "/api/v1/ledger/transfer", minimum: auth.Operator, endpoint: change((*Server).transfer),
		summary: "Books a deposit, or (negative) a withdrawal, that botd did not recognize: neither a gain nor a loss.", fails: []int{409}},
}

func (s *Server) reconcileState(r *request) (view.Reconcile, error) {
	quarantines, err := s.quarantines(r)
	out := s.config.Board.Reconcile()
	out.Quarantines = quarantines
	return out, err
}

func (s *Server) runRound(r *request, _ *nothing) (Change, error) {
	return s.controls.do(r, r.audited("account", "a round now", &engine.EventRound{}), "fetch orders and positions now, and act on them")
}

func (v *views) rounds(r *request) ([]view.Round, string) {
	return v.board.Rounds(r.page, func(one *view.Round) bool { return r.isFlag("complete", one.Complete) })
}

func (v *views) differences(r *request) ([]view.Difference, string) {
	return v.history.Differences(r.page, func(d *view.Difference) bool {
		return r.is("market", d.Market) && r.is("symbol", d.Symbol) && r.is("kind", d.Kind) && r.isFlag("open", d.Open)
	})
}

// quarantines returns the symbols that wait for a person's decision, from the engine.
func (s *Server) quarantines(r *request) ([]view.Quarantine, error) {
	items := []view.Quarantine{}
	err := s.controls.query(r, func() {
		for _, q := range s.config.Engine.Quarantines() {
			items = append(items, view.QuarantineOf(&q))
		}
	})
	return items, err
}

// ResolveRequest is how a quarantine is to end.
type ResolveRequest struct {
	Market   string `json:"market,omitempty"` // required where the symbol is quarantined in both markets
	Symbol   string `json:"symbol"`
	Decision string `json:"decision"` // adopt | ignore
	ReasonRequest
}

// ResolveAnswer is the list of changes that the end of a quarantine makes.
type ResolveAnswer struct {
	Schema   int      `json:"schema"`
	DryRun   bool     `json:"dry_run"`
	Market   string   `json:"market"`
	Symbol   string   `json:"symbol"`
	Decision string   `json:"decision"` // adopt | ignore
	Reason   string   `json:"reason"`
	Cause    string   `json:"cause"`   // the cause of the quarantine
	Changes  []string `json:"changes"` // the changes of botd's state; nothing is sent
}

const wantResolve = `want {"symbol": "BTC-USDT", "decision": "adopt"|"ignore", "reason": "..."}, market where both are quarantined, ` +
	`dry_run to see what it would change`

func (s *Server) resolve(r *request, body *ResolveRequest) (ResolveAnswer, error) {
	if err := body.need(r, wantResolve); err != nil || body.Symbol == "" || body.Decision != "adopt" && body.Decision != "ignore" {
		return ResolveAnswer{}, badBody(wantResolve)
	}
	var resolution engine.Resolution
	var refused error
	err := s.controls.query(r, func() {
		var key exchange.SymbolKey
		if key, refused = quarantined(body, s.config.Engine.Quarantines()); refused == nil {
			resolution, refused = s.config.Engine.PreviewResolution(key, body.Decision == "adopt", body.Reason)
		}
	})
	switch {
	case err != nil:
		return ResolveAnswer{}, err
	case refused != nil:
		return ResolveAnswer{}, &failure{http.StatusConflict, "not_quarantined", refused.Error()}
	}
	out := ResolveAnswer{Schema: 1, DryRun: r.dryRun, Market: resolution.Symbol.Market.String(), Symbol: resolution.Symbol.Name, Decision: body.Decision,
		Reason: body.Reason, Cause: resolution.Cause, Changes: view.OrEmpty(resolution.Lines)}
	if r.dryRun {
		return out, nil
	}
	scope := account.Scope{Symbol: resolution.Symbol}
	return out, s.controls.send(r, r.audited(scope.String(), body.Decision+": "+out.Reason, &engine.EventResolve{
		Symbol: resolution.Symbol, Adopt: resolution.Adopt, Reason: out.Reason}))
}

// quarantined finds the symbol that is meant.
func quarantined(body *ResolveRequest, all []engine.Quarantine) (found exchange.SymbolKey, err error) {
	count := 0
	for i := range all {
		if key := all[i].Symbol; key.Name == body.Symbol && (body.Market == "" || body.Market == key.Market.String()) {
			found = key
			count++
		}
	}
	switch count {
	case 0:
		return found, account.NotQuarantined(strings.TrimSpace(body.Market + " " + body.Symbol))
	case 1:
		return found, nil
	}
	return found, errors.New(body.Symbol + " is quarantined in both markets: name one")
}
