package view

import (
	"time"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/risk"
	"botd/runtime/engine"
)

// Limit is one limit and its utilization.
type Limit struct {
	Scope    string     `json:"scope"` // account, account futures, account spot, symbol ..., strategy ...
	Strategy string     `json:"strategy,omitempty"`
	Rule     string     `json:"rule"`
	Value    string     `json:"value" was:"use"` // the utilization
	Limit    string     `json:"limit"`
	Headroom string     `json:"headroom"`
	Ratio    float64    `json:"ratio"` // the utilization as a share of the limit; 1 is the limit
	State    string     `json:"state"` // ok | near | full | breached | unknown
	Reason   string     `json:"reason,omitempty" was:"why"`
	Remedy   string     `json:"remedy,omitempty" was:"way_out"`
	Since    *time.Time `json:"since,omitempty"` // when the breach began
	Until    *time.Time `json:"until,omitempty"` // when a breach clears automatically
	Set      *SetLimit  `json:"set,omitempty"`   // the value that a person set, tighter than the configuration's
	Near     string     `json:"near"`            // what a utilization near the limit means: usual | shown | alerts
	Title    string     `json:"title,omitempty"` // the title of its figure on the overview page
}

// SetLimit is the value that a person set for a limit.
type SetLimit struct {
	Value  string    `json:"value"` // the value in the form of the configuration
	SetBy  string    `json:"set_by" was:"by"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason" was:"why"`
}

func setLimit(s *account.SetLimit) *SetLimit {
	if s == nil {
		return nil
	}
	return &SetLimit{s.Value, s.By, time.UnixMilli(s.AtMS).UTC(), s.Reason}
}

func limitsOf(s *engine.Status) []Limit {
	out := []Limit{}
	for i := range s.Limits {
		u := &s.Limits[i]
		limit := risk.LimitNamed(u.Rule)
		out = append(out, Limit{u.Scope, u.Strategy, u.Rule, u.Value, u.Limit, u.Headroom, RoundRatio(u.Ratio), u.State, u.Reason, u.Remedy,
			moment(u.SinceMS), moment(u.UntilMS), setLimit(u.Set), limit.Near.String(), limit.Title})
	}
	return out
}

// Limits returns every limit with its utilization.
func (b *Board) Limits() []Limit {
	b.mu.Lock()
	defer b.mu.Unlock()
	return limitsOf(&b.status)
}

// Risk is everything the risk page shows.
type Risk struct {
	Schema     int          `json:"schema"`
	Halts      []Halt       `json:"halts"`
	Levels     []Level      `json:"levels"`
	Limits     []Limit      `json:"limits"`
	Rejections []Rejections `json:"rejections"` // the refusals of every rule
	Degraded   []Degraded   `json:"degraded"`
	History    []Notice     `json:"history"` // halts, breakers and limits, newest first
}

// Halt is one halt in force.
type Halt struct {
	Scope    string           `json:"scope"` // account | strategy | symbol
	Strategy string           `json:"strategy,omitempty"`
	Market   string           `json:"market,omitempty"`
	Symbol   string           `json:"symbol,omitempty"`
	Level    record.HaltLevel `json:"level"` // pause | cancel | flatten
	Reason   string           `json:"reason" was:"why"`
	Since    time.Time        `json:"since"`
}

// Level is one level of the kill switch.
type Level struct {
	Level  record.HaltLevel `json:"level"` // pause | cancel | flatten
	Effect string           `json:"effect" was:"does"`
}

// HaltLevels are the levels of the kill switch, the mildest first.
var HaltLevels = []Level{
	{record.LevelPause, "nothing opens; exits and stops continue"},
	{record.LevelCancel, "and resting opening orders are canceled"},
	{record.LevelFlatten, "and positions are closed at market"},
}

// Risk returns everything the risk page shows.
func (b *Board) Risk() Risk {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Risk{Schema: 1, Halts: haltsOf(b.status.Halts), Levels: HaltLevels, Limits: limitsOf(&b.status), Rejections: b.rejectionsByRule(),
		Degraded: DegradedOf(b.status.Degraded), History: b.recentNotices("halt", "breaker", "limit", "limit_set", "unprotected", "refused", "liquidation")}
}

func haltsOf(all []account.Halt) []Halt {
	out := []Halt{}
	for _, h := range all {
		one := Halt{Level: h.Level, Reason: h.Reason, Since: time.UnixMilli(h.AtMS).UTC()}
		one.Scope, one.Strategy, one.Market, one.Symbol = scopeText(h.Scope)
		out = append(out, one)
	}
	return out
}

// scopeText writes a scope as its kind and the names that belong to it.
func scopeText(s account.Scope) (kind, strategy, market, symbol string) {
	switch {
	case s.Strategy != "":
		return "strategy", s.Strategy, "", ""
	case s.Symbol.Market != 0 && s.Symbol.Name == "":
		return "market", "", s.Symbol.Market.String(), ""
	case s.Symbol != exchange.SymbolKey{}:
		return "symbol", "", s.Symbol.Market.String(), s.Symbol.Name
	}
	return "account", "", "", ""
}
