package api

import (
	"net/http"
	"strings"
	"time"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/risk"
	"botd/runtime/api/auth"
	"botd/runtime/engine"
	"botd/runtime/view"
)

var haltRoutes = []route{
	{id: "halt", tag: "risk", method: "POST", path: "/api/v1/risk/halt", minimum: auth.Operator, endpoint: order(by(manualOf, (*manual).halt)),
		summary: "The kill switch, for the account or a part of it. The answer lists exactly what is sent; with dry_run nothing is sent.", fails: []int{404}},
	{id: "rearm", tag: "risk", method: "POST", path: "/api/v1/risk/rearm", minimum: auth.Operator, endpoint: order(by(manualOf, (*manual).rearm)),
		summary: "Ends a halt. The answer lists what ends, and what still blocks trading.", fails: []int{404}},
	{id: "pause_strategy", tag: "strategies", method: "POST", path: "/api/v1/strategies/{name}/pause", minimum: auth.Operator,
		endpoint: order(by(manualOf, haltingAt(record.LevelPause))),
		summary:  "Nothing opens for this strategy; exits and stops continue.", fails: []int{404}},
	{id: "stop_strategy", tag: "strategies", method: "POST", path: "/api/v1/strategies/{name}/stop", minimum: auth.Operator,
		endpoint: order(by(manualOf, haltingAt(record.LevelCancel))),
		summary:  "Nothing opens for this strategy, and its resting opening orders are canceled; exits and stops continue.", fails: []int{404}},
	{id: "flatten_strategy", tag: "strategies", method: "POST", path: "/api/v1/strategies/{name}/flatten", minimum: auth.Operator,
		endpoint: order(by(manualOf, haltingAt(record.LevelFlatten))),
		summary:  "Nothing opens for this strategy, its opening orders are canceled and its position is closed at market.", fails: []int{404}},
	{id: "resume_strategy", tag: "strategies", method: "POST", path: "/api/v1/strategies/{name}/resume", minimum: auth.Operator,
		endpoint: order(by(manualOf, (*manual).resumeStrategy)),
		summary:  "Ends the halt of this strategy, and releases its latch.", fails: []int{404}},
	{id: "halt_strategy", tag: "strategies", method: "POST", path: "/api/v1/strategies/{name}/halt", minimum: auth.Operator,
		endpoint: order(by(manualOf, (*manual).haltStrategy)),
		summary:  "The kill switch for only this strategy.", fails: []int{404}},
}

// HaltRequest is a halt of the account, or of a part of it.
type HaltRequest struct {
	Level record.HaltLevel `json:"level"` // pause | cancel | flatten
	HaltScope
	ReasonRequest
}

// RearmRequest names the halt to end; empty means the account's.
type RearmRequest struct {
	HaltScope
	ReasonRequest
}

// scopeAndReason is what a halt and a rearm have in common.
type scopeAndReason struct {
	HaltScope
	ReasonRequest
}

// HaltScope names a part of the account; empty means the whole account.
type HaltScope struct {
	Strategy string `json:"strategy,omitempty"` // the strategy to which it is limited
	Market   string `json:"market,omitempty"`   // futures | spot; required where both markets trade the symbol
	Symbol   string `json:"symbol,omitempty"`   // the symbol to which it is limited
}

// find returns the scope among the known ones.
func (s *HaltScope) find(known []account.Scope) (account.Scope, error) {
	return (account.ScopeName{Strategy: s.Strategy, Market: s.Market, Symbol: s.Symbol}).Find(known)
}

// StrategyHaltRequest is a halt of the strategy that the path names.
type StrategyHaltRequest struct {
	Level record.HaltLevel `json:"level"` // pause | cancel | flatten
	ReasonRequest
}

// HaltAnswer is the list of effects of a halt, a rearm, or another manual order.
type HaltAnswer struct {
	Schema        int              `json:"schema"`
	DryRun        bool             `json:"dry_run"`
	Level         record.HaltLevel `json:"level"`
	Scope         string           `json:"scope"`
	Reason        string           `json:"reason"`
	Effects       []string         `json:"effects" was:"does"`         // the effects in words
	Steps         []view.HaltStep  `json:"steps"`                      // the requests, in order
	Blind         []string         `json:"blind"`                      // what a halt cannot read or act on now, one line each
	StillBlocking []view.Degraded  `json:"still_blocking" was:"still"` // the states that still block trading after a rearm
}

func newHaltAnswer(r *request, level record.HaltLevel, scope, reason string) HaltAnswer {
	return HaltAnswer{Schema: 1, DryRun: r.dryRun, Level: level, Scope: scope, Reason: reason, Effects: []string{}, Steps: []view.HaltStep{}, Blind: []string{},
		StillBlocking: []view.Degraded{}}
}

// manual serves the manual actions: halts, orders and positions.
type manual struct {
	config   *Config
	controls controls
}

func manualOf(s *Server) *manual { return &s.manual }

func (m *manual) halt(r *request, body *HaltRequest) (HaltAnswer, error) {
	return m.engage(r, body.Level, &scopeAndReason{body.HaltScope, body.ReasonRequest})
}

func (m *manual) haltStrategy(r *request, body *StrategyHaltRequest) (HaltAnswer, error) {
	return m.engage(r, body.Level, &scopeAndReason{HaltScope{Strategy: r.PathValue("name")}, body.ReasonRequest})
}

// haltingAt halts the strategy that the path names, at the given level.
func haltingAt(level record.HaltLevel) func(*manual, *request, *ReasonRequest) (HaltAnswer, error) {
	return func(m *manual, r *request, body *ReasonRequest) (HaltAnswer, error) {
		return m.engage(r, level, &scopeAndReason{HaltScope{Strategy: r.PathValue("name")}, *body})
	}
}

func (m *manual) resumeStrategy(r *request, body *ReasonRequest) (HaltAnswer, error) {
	return m.rearm(r, &RearmRequest{HaltScope{Strategy: r.PathValue("name")}, *body})
}

const wantHalt = `want {"level": "pause"|"cancel"|"flatten", "reason": "..."}, and strategy or symbol for a part of the account, ` +
	`dry_run to see what it would send`

func (m *manual) engage(r *request, level record.HaltLevel, body *scopeAndReason) (HaltAnswer, error) {
	if err := body.need(r, wantHalt); err != nil || level == record.LevelNone {
		return HaltAnswer{}, badBody(wantHalt)
	}
	return m.setHalt(r, level, body)
}

func (m *manual) rearm(r *request, body *RearmRequest) (HaltAnswer, error) {
	if strings.TrimSpace(body.Reason) == "" {
		body.Reason = "rearmed by the operator"
	}
	out, err := m.setHalt(r, record.LevelNone, (*scopeAndReason)(body))
	if err == nil && !r.dryRun {
		// Another halt may still be in force, and must not be missed.
		_ = m.controls.query(r, func() { out.StillBlocking = view.DegradedOf(m.config.Engine.Status().Degraded) })
	}
	return out, err
}

// setHalt passes a halt or its end to the engine, and answers with the requests that it sends.
func (m *manual) setHalt(r *request, level record.HaltLevel, body *scopeAndReason) (HaltAnswer, error) {
	if err := knownMarket(body.Market); err != nil {
		return HaltAnswer{}, err
	}
	var scope account.Scope
	var unknown error
	out := newHaltAnswer(r, level, "", body.Reason)
	within := engineTimeout
	if m.config.Lane != nil && level != record.LevelNone {
		within = lanePatience
	}
	err := m.controls.queryWithin(r, within, func() {
		status := m.config.Engine.Status()
		if scope, unknown = body.find(scopes(&status)); unknown != nil {
			return
		}
		if level == record.LevelNone {
			out.Effects = rearming(&status, scope)
			return
		}
		out.Effects = append(out.Effects, "halt the "+scope.String()+": "+does(level))
		for _, step := range m.config.Engine.PreviewHalt(level, scope) {
			out.Steps = append(out.Steps, view.HaltStepOf(&step))
		}
		out.Blind = append(out.Blind, m.config.Engine.HaltBlind(level, scope, 0)...)
	})
	if err != nil && within == lanePatience {
		scope, unknown = m.haltByLane(level, &body.HaltScope, &out)
		err = nil
	}
	out.Scope = scope.String()
	switch {
	case err != nil:
		return out, err
	case unknown != nil:
		return out, &failure{http.StatusNotFound, "not_found", unknown.Error()}
	case r.dryRun:
		return out, nil
	}
	action := level.String()
	if level == record.LevelNone {
		action = "rearm"
	}
	return out, m.controls.send(r, r.audited(out.Scope, action+": "+out.Reason, &engine.EventHalt{Level: level, Scope: scope, Reason: out.Reason}))
}

// lanePatience bounds how long a halt waits for the engine's preview. After that the lane previews
// it from the newest list.
const lanePatience = time.Second

// haltByLane previews a halt while the engine does not answer.
func (m *manual) haltByLane(level record.HaltLevel, named *HaltScope, out *HaltAnswer) (scope account.Scope, unknown error) {
	scope, unknown = named.find(m.config.Lane.Scopes())
	out.Effects = []string{"the engine does not answer: the kill switch acts without it, on the last known orders and positions",
		"halt the " + scope.String() + ": " + does(level)}
	for _, line := range m.config.Lane.Preview(level, scope) {
		out.Steps = append(out.Steps, view.HaltStep{Text: line})
	}
	return scope, unknown
}

// does lists the effects of a level, with those of the milder ones.
func does(level record.HaltLevel) string {
	var all []string
	for _, l := range view.HaltLevels {
		if l.Level <= level {
			all = append(all, l.Effect)
		}
	}
	return strings.Join(all, ", ")
}

// rearming lists the blocks that end when a scope is rearmed.
func rearming(status *engine.Status, scope account.Scope) []string {
	lines := []string{}
	for _, h := range status.Halts {
		if h.Scope == scope {
			lines = append(lines, "the halt of the "+scope.String()+" ends ("+h.Level.String()+": "+h.Reason+")")
		}
	}
	for i := range status.Limits {
		if u := &status.Limits[i]; u.State == risk.StateBreached && u.Strategy == scope.Strategy && u.UntilMS == 0 && scope.Symbol == (exchange.SymbolKey{}) {
			lines = append(lines, "the breach of "+u.Rule+" ends: "+u.Reason)
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
	for i := range status.Strategies { // or the strategy would seem to be rearmed
		if t := &status.Strategies[i]; scope.Strategy == "" && scope.Covers(t.Name, t.Symbol.Key()) && t.Latch != 0 {
			lines = append(lines, "the latch of "+t.Name+" stays until its target is zero or changes side: botd rearm --strategy "+t.Name+" releases it")
		}
	}
	return lines
}

// scopes returns the scopes that a halt may name: the strategies with their symbols, and halted scopes that
// are no longer configured.
func scopes(status *engine.Status) (known []account.Scope) {
	for i := range status.Strategies {
		t := &status.Strategies[i]
		known = append(known, account.Scope{Strategy: t.Name, Symbol: t.Symbol.Key()})
	}
	for i := range status.Degraded {
		known = append(known, status.Degraded[i].Scope)
	}
	return known
}
