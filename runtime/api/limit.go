package api

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"botd/reconcile"
	"botd/runtime/engine"
)

// LimitsRequest is what PUT /api/v1/risk/limits takes.
type LimitsRequest struct {
	Strategy string             `json:"strategy,omitempty"` // of the account without one
	Limits   map[string]*string `json:"limits"`             // by rule: a value tighter than the configuration's, or null to have that again
	Reason   string             `json:"reason"`
	DryRun   bool               `json:"dry_run,omitempty"`
}

// setLimits serves PUT /api/v1/risk/limits: tighter than the files, never looser.
func (s *Server) setLimits(w http.ResponseWriter, r *http.Request) {
	dry, ok := dryRun(w, r)
	if !ok {
		return
	}
	var asked LimitsRequest
	err := body(r, &asked)
	asked.DryRun = asked.DryRun || dry
	if tooLarge(err) {
		problemOfBody(w, r, err)
		return
	}
	if err != nil || len(asked.Limits) == 0 || len(asked.Reason) > maxReason || !asked.DryRun && strings.TrimSpace(asked.Reason) == "" {
		problem(w, r, http.StatusBadRequest, "body", `want {"limits": {"max_daily_loss": "2%"}, "reason": "..."}, null for a limit that is to be as configured again, strategy for a strategy's own, dry_run to see what it would change`)
		return
	}
	by := audit(r, "", "")
	wish := engine.Tighten{Strategy: asked.Strategy, By: by.Actor, Why: asked.Reason}
	var texts []string
	for _, rule := range slices.Sorted(maps.Keys(asked.Limits)) {
		setting := engine.Setting{Rule: rule}
		if value := asked.Limits[rule]; value != nil {
			setting.Value = strings.TrimSpace(*value)
		}
		wish.Limits = append(wish.Limits, setting)
		texts = append(texts, rule+" "+cmp.Or(setting.Value, "as configured"))
	}
	ctx, cancel := context.WithTimeout(r.Context(), engineWithin)
	defer cancel()
	var does []string
	var refused error
	if err := s.config.Driver.Query(ctx, func() { does, refused = s.config.Engine.Tightening(&wish) }); err != nil {
		problem(w, r, http.StatusServiceUnavailable, "stopped", "the engine does not answer now: nothing was changed")
		return
	}
	if refused == nil && !asked.DryRun {
		event := audited(r, reconcile.Scope{Strategy: asked.Strategy}.String(), strings.Join(texts, ", ")+": "+asked.Reason, &engine.EventTighten{Tighten: &wish})
		if !s.sent(ctx, w, r, event) {
			return
		}
		refused = wish.Err // it changed in between
	}
	if refused != nil {
		problem(w, r, http.StatusConflict, "not_possible", refused.Error())
		return
	}
	answerAs(w, http.StatusOK, Change{1, asked.DryRun, does})
}

// riskState serves GET /api/v1/risk.
func (s *Server) riskState(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	answer(w, r, s.config.Board.Risk())
}

// listLimits serves GET /api/v1/risk/limits.
func (s *Server) listLimits(w http.ResponseWriter, r *http.Request) {
	if noQuery(w, r) {
		writeList(w, r, s.config.Board.Limits(), "")
	}
}
