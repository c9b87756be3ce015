package ops

import (
	"math"
	"time"
)

// LimitJSON is one limit and how much of it is in use.
type LimitJSON struct {
	Scope    string     `json:"scope"` // account, account futures, account spot, symbol ..., strategy ...
	Strategy string     `json:"strategy,omitempty"`
	Rule     string     `json:"rule"`
	Use      string     `json:"use"`
	Limit    string     `json:"limit"`
	Headroom string     `json:"headroom"`
	Ratio    float64    `json:"ratio"` // share in use; 1 is the limit
	State    string     `json:"state"` // ok, near, full, breached, unknown
	Why      string     `json:"why,omitempty"`
	WayOut   string     `json:"way_out,omitempty"`
	Since    *time.Time `json:"since,omitempty"` // of a breach
	Until    *time.Time `json:"until,omitempty"` // when a breach ends by itself
}

func (b *Board) limitsJSON() []LimitJSON {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []LimitJSON{}
	for i := range b.status.Limits {
		u := &b.status.Limits[i]
		out = append(out, LimitJSON{u.Scope, u.Strategy, u.Rule, u.Use, u.Limit, u.Headroom, math.Round(u.Ratio*1e6) / 1e6, u.State, u.Why, u.WayOut, moment(u.SinceMS), moment(u.UntilMS)})
	}
	return out
}
