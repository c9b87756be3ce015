package view

import (
	"time"

	"botd/exchange"
	"botd/reconcile"
	"botd/risk"
	"botd/runtime/engine"
)

// Limit is one limit and its utilization.
type Limit struct {
	Scope    string     `json:"scope"` // account, account futures, account spot, symbol ..., strategy ...
	Strategy string     `json:"strategy,omitempty"`
	Rule     string     `json:"rule"`
	Value    string     `json:"value"` // in use
	Use      string     `json:"use"`   // deprecated: value
	Limit    string     `json:"limit"`
	Headroom string     `json:"headroom"`
	Ratio    float64    `json:"ratio"` // share in use; 1 is the limit
	State    string     `json:"state"` // ok, near, full, breached, unknown
	Why      string     `json:"why,omitempty"`
	WayOut   string     `json:"way_out,omitempty"`
	Since    *time.Time `json:"since,omitempty"` // of a breach
	Until    *time.Time `json:"until,omitempty"` // when a breach ends by itself
	Set      *SetLimit  `json:"set,omitempty"`   // by a person, tighter than the configuration
}

// SetLimit is what a person set a limit to.
type SetLimit struct {
	Value string    `json:"value"` // as the configuration writes it
	By    string    `json:"by"`
	At    time.Time `json:"at"`
	Why   string    `json:"why"`
}

func setLimit(s *reconcile.SetLimit) *SetLimit {
	if s == nil {
		return nil
	}
	return &SetLimit{s.Value, s.By, time.UnixMilli(s.AtMS).UTC(), s.Why}
}

func limitsOf(s *engine.Status) []Limit {
	out := []Limit{}
	for i := range s.Limits {
		u := &s.Limits[i]
		out = append(out, Limit{u.Scope, u.Strategy, u.Rule, u.Value, u.Value, u.Limit, u.Headroom, RoundRatio(u.Ratio), u.State, u.Why, u.WayOut, moment(u.SinceMS), moment(u.UntilMS), setLimit(u.Set)})
	}
	return out
}

// Limits returns every limit with its utilization.
func (b *Board) Limits() []Limit {
	b.mu.Lock()
	defer b.mu.Unlock()
	return limitsOf(&b.status)
}

// Rejections are the refusals of one rule since the start.
type Rejections struct {
	Rule     string `json:"rule"`
	Count    int64  `json:"count"`
	LastMS   int64  `json:"last_ms"`
	Strategy string `json:"strategy"` // of the last one
	Symbol   string `json:"symbol"`
	Value    string `json:"value"`
	Limit    string `json:"limit"`
	Hint     string `json:"hint"`
}

func (b *Board) noteRefusal(n *engine.Note, refusal *risk.Refusal) {
	r := b.refusals[refusal.Rule]
	if r == nil {
		r = &Rejections{Rule: refusal.Rule} // rules are a closed set
		b.refusals[refusal.Rule] = r
	}
	r.Count++
	r.LastMS, r.Strategy, r.Value, r.Limit, r.Hint = n.AtMS, n.Strategy, refusal.Value, refusal.Limit, refusal.Hint
	if n.Symbol != nil {
		r.Symbol = n.Symbol.Name
	}
}

// Risk is everything the risk page shows.
type Risk struct {
	Schema     int          `json:"schema"`
	Halts      []Halt       `json:"halts"`
	Levels     []Level      `json:"levels"`
	Limits     []Limit      `json:"limits"`
	Rejections []Rejections `json:"rejections"` // by rule, of all rules
	Degraded   []Degraded   `json:"degraded"`
	History    []Notice     `json:"history"` // halts, breakers and limits, newest first
}

// Halt is the kill switch where it is engaged.
type Halt struct {
	Scope    string              `json:"scope"` // account, strategy, symbol
	Strategy string              `json:"strategy,omitempty"`
	Market   string              `json:"market,omitempty"`
	Symbol   string              `json:"symbol,omitempty"`
	Level    reconcile.HaltLevel `json:"level"`
	Why      string              `json:"why"`
	Since    time.Time           `json:"since"`
}

// Level is one level of the kill switch.
type Level struct {
	Level reconcile.HaltLevel `json:"level"`
	Does  string              `json:"does"`
}

// HaltLevels are the levels of the kill switch, the mildest first.
var HaltLevels = []Level{
	{reconcile.LevelPause, "nothing opens; exits and stops go on"},
	{reconcile.LevelCancel, "and resting opening orders are canceled"},
	{reconcile.LevelFlatten, "and positions are closed at market"},
}

// Risk returns everything the risk page shows.
func (b *Board) Risk() Risk {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := Risk{Schema: 1, Halts: haltsOf(b.status.Halts), Levels: HaltLevels, Limits: limitsOf(&b.status), Degraded: DegradedOf(b.status.Degraded), Rejections: b.rejections()}
	out.History, _ = Newest(b.notices.all, Page{Limit: 50}, func(n *Notice) int64 { return n.n }, func(n *Notice) bool {
		return n.Kind == "halt" || n.Kind == "breaker" || n.Kind == "limit" || n.Kind == "limit_set"
	}, func(n *Notice) Notice { return *n })
	out.History = OrEmpty(out.History)
	return out
}

func haltsOf(all []reconcile.Halt) []Halt {
	out := []Halt{}
	for _, h := range all {
		one := Halt{Scope: "account", Level: h.Level, Why: h.Why, Since: time.UnixMilli(h.AtMS).UTC()}
		switch {
		case h.Scope.Strategy != "":
			one.Scope, one.Strategy = "strategy", h.Scope.Strategy
		case h.Scope.Symbol != exchange.SymbolKey{}:
			one.Scope, one.Market, one.Symbol = "symbol", h.Scope.Symbol.Market.String(), h.Scope.Symbol.Name
		}
		out = append(out, one)
	}
	return out
}

// rejections has a row for every rule, those that never refused too.
func (b *Board) rejections() []Rejections {
	out := []Rejections{}
	for _, rule := range risk.Rules() {
		if r := b.refusals[rule]; r != nil {
			out = append(out, *r)
		} else {
			out = append(out, Rejections{Rule: rule})
		}
	}
	return out
}
