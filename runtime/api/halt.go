package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"botd/exchange"
	"botd/reconcile"
	"botd/risk"
	"botd/runtime/engine"
	"botd/runtime/view"
)

// HaltRequest is what /api/v1/risk/halt takes; rearm takes the scope alone.
type HaltRequest struct {
	Level    reconcile.HaltLevel `json:"level,omitempty"`
	Reason   string              `json:"reason,omitempty"`
	Strategy string              `json:"strategy,omitempty"` // of one strategy alone
	Market   string              `json:"market,omitempty"`   // of one symbol alone: where its name is in both markets
	Symbol   string              `json:"symbol,omitempty"`
	DryRun   bool                `json:"dry_run,omitempty"` // says what it would send, and sends nothing
}

// HaltAnswer is the answer.
type HaltAnswer struct {
	Schema int                 `json:"schema"`
	DryRun bool                `json:"dry_run"`
	Level  reconcile.HaltLevel `json:"level"`
	Scope  string              `json:"scope"`
	Reason string              `json:"reason"`
	Does   []string            `json:"does"`  // in words
	Steps  []view.HaltStep     `json:"steps"` // what it sends, in order
	Still  []view.Degraded     `json:"still"` // rearm: what keeps trading back all the same
}

// readHalt reads a halt's body, and dry_run of the query, which says the same.
func readHalt(w http.ResponseWriter, r *http.Request) (asked HaltRequest, ok bool) {
	dry, ok := dryRun(w, r)
	if !ok {
		return asked, false
	}
	err := optional(r, &asked)
	if err == nil && len(asked.Reason) > maxReason {
		err = fmt.Errorf("reason is %d bytes long, at most %d are kept", len(asked.Reason), maxReason)
	}
	if err != nil {
		problemOfBody(w, r, err)
		return asked, false
	}
	asked.DryRun = asked.DryRun || dry
	return asked, true
}

// halt serves POST /api/v1/risk/halt.
func (s *Server) halt(w http.ResponseWriter, r *http.Request) {
	if asked, ok := readHalt(w, r); ok {
		s.engage(w, r, &asked)
	}
}

// engage halts, once it is clear what is meant.
func (s *Server) engage(w http.ResponseWriter, r *http.Request, asked *HaltRequest) {
	if asked.Level == reconcile.LevelNone || !asked.DryRun && strings.TrimSpace(asked.Reason) == "" {
		problem(w, r, http.StatusBadRequest, "body", `want {"level": "pause"|"cancel"|"flatten", "reason": "..."}, and strategy or symbol for a part of the account, dry_run to see what it would send`)
		return
	}
	s.apply(w, r, asked)
}

// rearm serves POST /api/v1/risk/rearm. Its body may be empty.
func (s *Server) rearm(w http.ResponseWriter, r *http.Request) {
	if asked, ok := readHalt(w, r); ok {
		s.arm(w, r, &asked)
	}
}

func (s *Server) arm(w http.ResponseWriter, r *http.Request, asked *HaltRequest) {
	if asked.Level != reconcile.LevelNone {
		problem(w, r, http.StatusBadRequest, "body", `want nothing, or {"strategy": "..."} or {"symbol": "..."} of a halt of its own`)
		return
	}
	if strings.TrimSpace(asked.Reason) == "" {
		asked.Reason = "armed again by the operator"
	}
	s.apply(w, r, asked)
}

// haltingAt serves POST /api/v1/strategies/{name}/pause, stop and flatten: each is a
// halt whose level its path says.
func haltingAt(level reconcile.HaltLevel) func(s *Server, w http.ResponseWriter, r *http.Request) {
	return func(s *Server, w http.ResponseWriter, r *http.Request) {
		s.strategyChange(w, r, func(asked *HaltRequest) {
			if asked.Level != reconcile.LevelNone {
				problem(w, r, http.StatusBadRequest, "body", "the path says the level; halt takes one")
				return
			}
			asked.Level = level
			s.engage(w, r, asked)
		})
	}
}

// haltStrategy serves POST /api/v1/strategies/{name}/halt.
func (s *Server) haltStrategy(w http.ResponseWriter, r *http.Request) {
	s.strategyChange(w, r, func(asked *HaltRequest) { s.engage(w, r, asked) })
}

// resumeStrategy serves POST /api/v1/strategies/{name}/resume.
func (s *Server) resumeStrategy(w http.ResponseWriter, r *http.Request) {
	s.strategyChange(w, r, func(asked *HaltRequest) { s.arm(w, r, asked) })
}

// strategyChange reads the body of a change of the strategy that the path names.
func (s *Server) strategyChange(w http.ResponseWriter, r *http.Request, do func(asked *HaltRequest)) {
	asked, ok := readHalt(w, r)
	if !ok {
		return
	}
	if asked.Strategy != "" || asked.Symbol != "" || asked.Market != "" {
		problem(w, r, http.StatusBadRequest, "body", "the path names the strategy: want level, reason and dry_run alone")
		return
	}
	asked.Strategy = r.PathValue("name")
	do(&asked)
}

// apply hands a halt, or its end, to the engine and answers what it will send.
func (s *Server) apply(w http.ResponseWriter, r *http.Request, asked *HaltRequest) {
	ctx, cancel := context.WithTimeout(r.Context(), engineWithin)
	defer cancel()
	var scope reconcile.Scope
	var unknown error
	out := HaltAnswer{Schema: 1, DryRun: asked.DryRun, Level: asked.Level, Reason: asked.Reason, Does: []string{}, Steps: []view.HaltStep{}, Still: []view.Degraded{}}
	read := s.config.Driver.Query(ctx, func() {
		status := s.config.Engine.Status()
		if scope, unknown = (reconcile.ScopeName{Strategy: asked.Strategy, Market: asked.Market, Symbol: asked.Symbol}).Resolve(scopes(&status)); unknown != nil {
			return
		}
		if asked.Level == reconcile.LevelNone {
			out.Does = arming(&status, scope)
			return
		}
		out.Does = append(out.Does, "halt the "+scope.String()+": "+does(asked.Level))
		for _, step := range s.config.Engine.Preview(asked.Level, scope) {
			out.Steps = append(out.Steps, view.HaltStepOf(&step))
		}
	})
	switch {
	case read != nil:
		problem(w, r, http.StatusServiceUnavailable, "stopped", "the engine does not take events now: nothing was changed")
		return
	case unknown != nil:
		problem(w, r, http.StatusNotFound, "not_found", unknown.Error())
		return
	}
	out.Scope = scope.String()
	if asked.DryRun {
		answerAs(w, http.StatusOK, out)
		return
	}
	what := asked.Level.String()
	if asked.Level == reconcile.LevelNone {
		what = "rearm"
	}
	if !s.sent(ctx, w, r, audited(r, scope.String(), what+": "+asked.Reason, &engine.EventHalt{Level: asked.Level, Scope: scope, Why: asked.Reason})) {
		return
	}
	if asked.Level == reconcile.LevelNone {
		// Arming one thing may leave another in force: that is told, or it would be missed.
		_ = s.config.Driver.Query(ctx, func() { out.Still = view.DegradedOf(s.config.Engine.Status().Degraded) })
	}
	answerAs(w, http.StatusAccepted, out)
}

// does says what a level does, with what the milder ones do.
func does(level reconcile.HaltLevel) string {
	var all []string
	for _, l := range view.HaltLevels {
		if l.Level <= level {
			all = append(all, l.Does)
		}
	}
	return strings.Join(all, ", ")
}

// arming says what ends when a scope is armed again.
func arming(status *engine.Status, scope reconcile.Scope) []string {
	lines := []string{}
	for _, h := range status.Halts {
		if h.Scope == scope {
			lines = append(lines, "the halt of the "+scope.String()+" ends ("+h.Level.String()+": "+h.Why+")")
		}
	}
	for i := range status.Limits {
		if u := &status.Limits[i]; u.State == risk.StateBreached && u.Strategy == scope.Strategy && u.UntilMS == 0 && scope.Symbol == (exchange.SymbolKey{}) {
			lines = append(lines, "the breach of "+u.Rule+" ends: "+u.Why)
		}
	}
	for i := range status.Strategies {
		if t := &status.Strategies[i]; scope.Strategy == t.Name && t.Latch != 0 {
			lines = append(lines, "the latch of "+t.Name+" is released: it may enter again")
		}
	}
	if len(lines) == 0 {
		lines = append(lines, "nothing: the "+scope.String()+" is not halted")
	}
	for i := range status.Strategies { // or it would be taken for armed
		if t := &status.Strategies[i]; scope.Strategy == "" && scope.Covers(t.Name, t.Symbol.Key()) && t.Latch != 0 {
			lines = append(lines, "the latch of "+t.Name+" stays until its target is zero or changes side: botd rearm --strategy "+t.Name+" releases it")
		}
	}
	return lines
}

// scopes are what a halt may name: the strategies with their symbols, and what is halted
// though it is not configured any more.
func scopes(status *engine.Status) (known []reconcile.Scope) {
	for i := range status.Strategies {
		t := &status.Strategies[i]
		known = append(known, reconcile.Scope{Strategy: t.Name, Symbol: t.Symbol.Key()})
	}
	for i := range status.Degraded {
		known = append(known, status.Degraded[i].Scope)
	}
	return known
}
