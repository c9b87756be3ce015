package api

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"botd/reconcile/account"
	"botd/runtime/api/auth"
	"botd/runtime/engine"
	"botd/runtime/view"
)

var riskRoutes = []route{
	{id: "risk", tag: "risk", method: "GET", path: "/api/v1/risk", minimum: auth.Viewer, endpoint: read(of(viewsOf, (*views).risk)),
		summary: "Halts, limits with their utilization, refusals by rule, and the history of halts and breaches."},
	{id: "limits", tag: "risk", method: "GET", path: "/api/v1/risk/limits", minimum: auth.Viewer, endpoint: all(of(viewsOf, (*views).limits)),
		summary: "Every limit with its utilization."},
	{id: "limits_too", tag: "risk", method: "GET", path: "/api/v1/limits", minimum: auth.Viewer, endpoint: all(of(viewsOf, (*views).limits)),
		summary: "The same as /api/v1/risk/limits."},
	{id: "set_limits", tag: "risk", method: "PUT", path: "/api/v1/risk/limits", minimum: auth.Operator, endpoint: change((*Server).setLimits),
		summary: "Sets limits of the account or of a strategy tighter than the configuration does, never looser. " +
			"They survive restarts, and end when they are reset or the configuration is as tight.",
		fails: []int{409}},
}

func (v *views) risk(*request) (view.Risk, error) { return v.board.Risk(), nil }

func (v *views) limits(*request) ([]view.Limit, error) { return v.board.Limits(), nil }

// LimitsRequest is which limits to set.
type LimitsRequest struct {
	Strategy string             `json:"strategy,omitempty"` // empty for a limit of the account
	Limits   map[string]*string `json:"limits"`             // for each rule, a value tighter than the configuration's, or null to return to that
	ReasonRequest
}

const wantLimits = `want {"limits": {"max_daily_loss": "2%"}, "reason": "..."}, null for a limit that goes back to the configuration, ` +
	`strategy for a strategy's own, dry_run to see what it would change`

func (s *Server) setLimits(r *request, body *LimitsRequest) (Change, error) {
	if err := body.need(r, wantLimits); err != nil || len(body.Limits) == 0 {
		return Change{}, badBody(wantLimits)
	}
	tighten := engine.LimitChange{Strategy: body.Strategy, By: r.audit("", "").Actor, Reason: body.Reason}
	var texts []string
	for _, rule := range slices.Sorted(maps.Keys(body.Limits)) {
		setting := engine.Setting{Rule: rule}
		if value := body.Limits[rule]; value != nil {
			setting.Value = strings.TrimSpace(*value)
		}
		tighten.Limits = append(tighten.Limits, setting)
		texts = append(texts, rule+" "+cmp.Or(setting.Value, "as configured"))
	}
	var does []string
	var refused error
	if err := s.controls.query(r, func() { does, refused = s.config.Engine.PreviewLimits(&tighten) }); err != nil {
		return Change{}, err
	}
	if refused != nil {
		return Change{}, notPossible(refused.Error())
	}
	change, err := s.controls.do(r, r.audited(account.Scope{Strategy: body.Strategy}.String(), strings.Join(texts, ", ")+": "+body.Reason,
		&engine.EventSetLimits{Change: &tighten}), does...)
	if err == nil && tighten.Err != nil { // it changed in between
		return Change{}, notPossible(tighten.Err.Error())
	}
	return change, err
}
