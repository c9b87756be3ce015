package api

import (
	"net/http"
	"time"

	"botd/exchange"
	"botd/reconcile"
	"botd/risk"
	"botd/runtime/engine"
)

// Limit is one limit and how much of it is in use.
type Limit struct {
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

func limitsOf(s *engine.Status) []Limit {
	out := []Limit{}
	for i := range s.Limits {
		u := &s.Limits[i]
		out = append(out, Limit{u.Scope, u.Strategy, u.Rule, u.Use, u.Limit, u.Headroom, round(u.Ratio), u.State, u.Why, u.WayOut, moment(u.SinceMS), moment(u.UntilMS)})
	}
	return out
}

// Limits lists every limit with its use.
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

func (b *Board) noteRefusal(n *engine.Note) {
	r := b.refusals[n.Refusal.Rule]
	if r == nil {
		r = &Rejections{Rule: n.Refusal.Rule} // rules are a closed set
		b.refusals[n.Refusal.Rule] = r
	}
	r.Count++
	r.LastMS, r.Strategy, r.Value, r.Limit, r.Hint = n.AtMS, n.Strategy, n.Refusal.Value, n.Refusal.Limit, n.Refusal.Hint
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
	Scope    string    `json:"scope"` // account, strategy, symbol
	Strategy string    `json:"strategy,omitempty"`
	Market   string    `json:"market,omitempty"`
	Symbol   string    `json:"symbol,omitempty"`
	Level    string    `json:"level"`
	Why      string    `json:"why"`
	Since    time.Time `json:"since"`
}

// Level is one level of the kill switch.
type Level struct {
	Level string `json:"level"`
	Does  string `json:"does"`
}

var levels = []Level{
	{"pause", "nothing opens; exits and stops go on"},
	{"cancel", "and resting opening orders are canceled"},
	{"flatten", "and positions are closed at market"},
}

// riskState serves GET /api/v1/risk.
func (s *Server) riskState(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	b := s.config.Board
	b.mu.Lock()
	out := Risk{Schema: 1, Halts: haltsOf(b.status.Halts), Levels: levels, Limits: limitsOf(&b.status), Degraded: degradedOf(b.status.Degraded), Rejections: b.rejections()}
	out.History, _ = newest(b.notices.all, Page{Limit: 50}, func(n *Notice) int64 { return n.n }, func(n *Notice) bool {
		return n.Kind == "halt" || n.Kind == "breaker" || n.Kind == "limit"
	}, func(n *Notice) Notice { return *n })
	b.mu.Unlock()
	out.History = filled(out.History)
	answer(w, r, out)
}

// listLimits serves GET /api/v1/risk/limits.
func (s *Server) listLimits(w http.ResponseWriter, r *http.Request) {
	if noQuery(w, r) {
		writeList(w, r, s.config.Board.Limits(), "")
	}
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
