package risk

import (
	"cmp"
	"strings"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
)

// Account is the state of an account from which the utilization of all limits is computed.
type Account struct {
	NowMS      int64
	Tracker    *reconcile.Tracker
	Equity     exchange.Amount // of all traded markets
	Known      bool            // Equity is known
	Markets    []MarketFacts   // traded
	Strategies []StrategyFacts
}

// MarketFacts is the equity of one market.
type MarketFacts struct {
	Market exchange.Market
	Equity exchange.Amount
}

// StrategyFacts is one strategy with its limits.
type StrategyFacts struct {
	Name   string
	State  *reconcile.SymbolState
	Limits Limits
	Own    exchange.Amount
}

// The utilization states of a limit.
const (
	StateOK       = "ok"
	StateNear     = "near"     // at least NearRatio of the limit is used
	StateFull     = "full"     // no further opening fits
	StateBreached = "breached" // entries are blocked
	StateUnknown  = "unknown"  // a figure is not known: openings are refused
)

// Utilization is the used part of one limit.
type Utilization struct {
	Scope    string             // account, account futures, account spot, symbol ..., strategy ...
	Strategy string             // of a strategy's own limit
	Symbol   exchange.SymbolKey // of a symbol's limit
	Rule     string
	Value    string // current value
	Limit    string
	Headroom string
	Ratio    float64 // used share of the limit; 1 is the limit
	State    string
	Reason   string // of a breach
	Remedy   string // how a full or breached limit clears, or how an unknown figure becomes known
	SinceMS  int64  // of a breach
	UntilMS  int64  // of a breach that ends automatically

	Set *account.SetLimit // nil if the configuration sets the limit, else the person's change
}

// Utilization returns the utilization of every limit that is set: the account's limits, then those
// of each strategy.
func (g *Gate) Utilization(facts *Account) (all []Utilization) {
	account := subject{nowMS: facts.NowMS, tracker: facts.Tracker, watch: facts.Tracker.Watch(""), limits: &g.limits, funds: facts.Equity, unread: !facts.Known}
	for i := range facts.Strategies {
		account.traded = append(account.traded, facts.Strategies[i].State)
	}
	all = account.utilization(all, OfAccount)
	for _, market := range facts.Markets {
		s := account
		s.market, s.equity = market.Market, market.Equity
		all = s.utilization(all, OfMarket)
	}
	for i := range facts.Strategies {
		s := account.on(&facts.Strategies[i], facts)
		all = s.utilization(all, OfSymbol)
	}
	for i := range facts.Strategies {
		own := &facts.Strategies[i]
		s := account.on(own, facts)
		s.limits, s.watch, s.strategy, s.funds = &own.Limits, facts.Tracker.Watch(own.Name), own.Name, own.Own
		all = s.utilization(all, OfStrategy)
	}
	return all
}

// on returns the subject for a strategy and its symbol.
func (s subject) on(strategy *StrategyFacts, facts *Account) subject {
	s.state, s.market = strategy.State, strategy.State.Key().Market
	for _, market := range facts.Markets {
		if market.Market == s.market {
			s.equity = market.Equity
		}
	}
	return s
}

// utilization appends the limits of a scope. For a strategy it appends every limit that the
// strategy sets.
func (s *subject) utilization(all []Utilization, on MeasuredOn) []Utilization {
	for i := range limitTable {
		l := &limitTable[i]
		if l.measure == nil || on != OfStrategy && l.Scope != on || !l.isSet(s.limits) && l.breach(s) == nil {
			continue
		}
		all = append(all, l.utilization(s))
	}
	return all
}

// NearRatio is the share of a limit from which its state is near.
const NearRatio = 0.8

func (l *Limit) utilization(s *subject) Utilization {
	f, scope := l.measure(s), l.scope(s)
	u := Utilization{Scope: scope.String(), Strategy: s.strategy, Rule: l.Name, State: StateOK}
	if s.strategy == "" && l.Scope == OfSymbol {
		u.Symbol = scope.key
	}
	value, limit := number(f.value, f.unit), number(f.limit, f.unit)
	u.Value, u.Limit, u.Headroom = value.String(), limit.String(), number(f.limit.Sub(f.value).Max(exchange.Amount{}), f.unit).String()
	if f.limit.Sign() > 0 {
		u.Ratio = f.value.Float() / f.limit.Float()
	} else if f.value.Sign() > 0 {
		u.Ratio = 1
	}
	switch {
	case f.idle:
		u.Value = "-"
	case u.Ratio >= 1:
		u.State, u.Remedy = StateFull, strings.ReplaceAll(l.Ends, "`", "")
	case u.Ratio >= NearRatio:
		u.State = StateNear
	}
	if f.unknown != "" {
		u.State, u.Remedy, u.Value, u.Limit, u.Headroom = StateUnknown, cmp.Or(f.hint, nextRound), "-", l.Text(s.limits), "-"
	}
	if b := l.breach(s); b != nil {
		u.State, u.Reason, u.SinceMS, u.UntilMS, u.Ratio = StateBreached, b.Reason, b.SinceMS, b.UntilMS, max(u.Ratio, 1)
		u.Remedy = remedyOf(b, s.strategy)
	}
	return u
}

// remedyOf returns the action or time that ends a breach.
func remedyOf(b *account.Breach, strategy string) string {
	switch {
	case b.UntilMS != 0:
		return ClearsAutomatically
	case strategy != "":
		return "botd rearm --strategy " + strategy
	}
	return "botd rearm"
}
