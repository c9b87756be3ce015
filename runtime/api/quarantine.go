package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"botd/exchange"
	"botd/reconcile"
	"botd/runtime/engine"
	"botd/runtime/view"
)

// ResolveRequest is what /api/v1/reconcile/resolve takes.
type ResolveRequest struct {
	Market   string `json:"market,omitempty"` // where the symbol is quarantined in both
	Symbol   string `json:"symbol"`
	Decision string `json:"decision"` // adopt, ignore
	Reason   string `json:"reason"`
	DryRun   bool   `json:"dry_run,omitempty"`
}

// ResolveAnswer is the answer.
type ResolveAnswer struct {
	Schema   int      `json:"schema"`
	DryRun   bool     `json:"dry_run"`
	Market   string   `json:"market"`
	Symbol   string   `json:"symbol"`
	Decision string   `json:"decision"`
	Reason   string   `json:"reason"`
	Cause    string   `json:"cause"`   // of the quarantine
	Changes  []string `json:"changes"` // to botd's book; nothing is sent
}

// quarantines asks the engine which symbols wait for a person.
func (s *Server) quarantines(ctx context.Context) ([]view.Quarantine, error) {
	items := []view.Quarantine{}
	err := s.config.Driver.Query(ctx, func() {
		for _, q := range s.config.Engine.Quarantines() {
			items = append(items, view.QuarantineOf(&q))
		}
	})
	return items, err
}

// listQuarantines serves GET /api/v1/reconcile/quarantines.
func (s *Server) listQuarantines(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), engineWithin)
	defer cancel()
	items, err := s.quarantines(ctx)
	if err != nil {
		problem(w, r, http.StatusServiceUnavailable, "stopped", "the engine does not answer now")
		return
	}
	writeList(w, r, items, "")
}

// resolve serves POST /api/v1/reconcile/resolve: it ends a quarantine, and is
// refused when there is none.
func (s *Server) resolve(w http.ResponseWriter, r *http.Request) {
	dry, ok := dryRun(w, r)
	if !ok {
		return
	}
	var asked ResolveRequest
	err := body(r, &asked)
	asked.DryRun = asked.DryRun || dry
	if tooLarge(err) {
		problemOfBody(w, r, err)
		return
	}
	if err != nil || len(asked.Reason) > maxReason || asked.Symbol == "" || asked.Decision != "adopt" && asked.Decision != "ignore" || !asked.DryRun && strings.TrimSpace(asked.Reason) == "" {
		problem(w, r, http.StatusBadRequest, "body", `want {"symbol": "BTC-USDT", "decision": "adopt"|"ignore", "reason": "..."}, market where both are quarantined, dry_run to see what it would change`)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), engineWithin)
	defer cancel()
	var resolution engine.Resolution
	var refused error
	err = s.config.Driver.Query(ctx, func() {
		var key exchange.SymbolKey
		if key, refused = quarantined(&asked, s.config.Engine.Quarantines()); refused == nil {
			resolution, refused = s.config.Engine.Resolving(key, asked.Decision == "adopt", asked.Reason)
		}
	})
	switch {
	case err != nil:
		problem(w, r, http.StatusServiceUnavailable, "stopped", "the engine does not take events now: nothing was changed")
		return
	case refused != nil:
		problem(w, r, http.StatusConflict, "not_quarantined", refused.Error())
		return
	}
	out := ResolveAnswer{Schema: 1, DryRun: asked.DryRun, Market: resolution.Symbol.Market.String(), Symbol: resolution.Symbol.Name, Decision: asked.Decision,
		Reason: asked.Reason, Cause: resolution.Cause, Changes: view.OrEmpty(resolution.Lines)}
	scope := reconcile.Scope{Symbol: resolution.Symbol}
	event := audited(r, scope.String(), asked.Decision+": "+asked.Reason, &engine.EventResolve{Symbol: resolution.Symbol, Adopt: resolution.Adopt, Why: asked.Reason})
	if asked.DryRun || s.sent(ctx, w, r, event) {
		answerAs(w, http.StatusOK, out)
	}
}

// quarantined finds the symbol meant.
func quarantined(asked *ResolveRequest, all []engine.Quarantine) (found exchange.SymbolKey, err error) {
	count := 0
	for i := range all {
		if key := all[i].Symbol; key.Name == asked.Symbol && (asked.Market == "" || asked.Market == key.Market.String()) {
			found = key
			count++
		}
	}
	switch count {
	case 0:
		return found, fmt.Errorf("%s is not quarantined: there is nothing to resolve", strings.TrimSpace(asked.Market+" "+asked.Symbol))
	case 1:
		return found, nil
	}
	return found, errors.New(asked.Symbol + " is quarantined in both markets: say which")
}
