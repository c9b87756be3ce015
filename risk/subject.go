package risk

import (
	"cmp"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
)

// scope identifies the owner of a limit and the state it is measured on.
type scope struct {
	reach    MeasuredOn
	strategy string // set for a strategy's own limit
	key      exchange.SymbolKey
}

// String returns the scope's name. A rule that is not a limit has an empty scope.
func (s scope) String() string {
	switch {
	case s.strategy != "":
		return "strategy " + s.strategy
	case s.reach == OfAccount:
		return "account"
	case s.reach == OfMarket:
		return "account " + s.key.Market.String()
	case s.key != exchange.SymbolKey{}:
		return "symbol " + s.key.String()
	}
	return ""
}

// subject is the state that a limit is measured on, plus an intent that is counted as filled.
// Without an intent the figures are the current utilization.
type subject struct {
	nowMS    int64
	tracker  *reconcile.Tracker
	limits   *Limits
	watch    *account.Watch
	strategy string // owner of the limits; empty: the account
	intent   *reconcile.Intent

	market exchange.Market
	state  *reconcile.SymbolState   // nil for the account or one of its markets
	traded []*reconcile.SymbolState // of the account
	equity exchange.Amount          // of the market, for exposures
	funds  exchange.Amount          // equity of the account or the strategy, for losses
	unread bool                     // funds is not known yet
}

// figures are the two numbers that a limit compares: it refuses a value above the limit.
type figures struct {
	value, limit exchange.Amount
	unit         unit
	start        exchange.Amount // of a loss: the equity it is measured from
	unknown      string          // why the figures are unknown, which refuses; empty if they are known
	hint         string          // how the figures become known
	idle         bool            // there is nothing to measure: no order with a price, or no leverage on spot

	byResult bool // only the result of a position can cross the limit, by reaching it; an intent cannot
}

// nextRound is the hint for figures that the next round reads.
const nextRound = "the next round reads it"

func counts(value, limit int) figures {
	return figures{value: exchange.AmountOf(int64(value)), limit: exchange.AmountOf(int64(limit)), unit: plain}
}

func milliseconds(ms int64) exchange.Amount { return exchange.AmountOf(ms).Div(1000) }

// added returns the number of orders that the intent adds.
func (s *subject) added() int {
	if s.intent == nil {
		return 0
	}
	return 1
}

// exposure compares the value of the subject's symbol, with everything in flight filled, with a
// multiple of the market's equity.
func (s *subject) exposure(multiple exchange.Rate) figures {
	f := figures{unit: usdt}
	if !s.expose(&f, s.state) {
		return f
	}
	return s.exposed(f, multiple)
}

// expose adds a symbol's value to an exposure, if the symbol is in the subject's market. It returns false
// if the value is unknown: there is no price, or the size is so large that a sum could overflow.
func (s *subject) expose(f *figures, state *reconcile.SymbolState) bool {
	if state.Key().Market != s.market {
		return true
	}
	one, known := exposure(state)
	if !known {
		f.unknown, f.hint = state.Key().String()+" has no price, or its size is out of bounds", nextRound
		if state.Rules() == nil {
			f.unknown, f.hint = state.Key().String()+" has no price", "the exchange does not list it, or no strategy trades it: it is read once it is listed "+
				"and traded; otherwise close its position and orders on the exchange"
		}
		return false
	}
	f.value = f.value.Add(one)
	return true
}

// exposed adds the intent to an exposure and compares the sum with a multiple of the market's equity.
func (s *subject) exposed(f figures, multiple exchange.Rate) figures {
	if s.intent != nil {
		more, known := value(&s.intent.Order, s.state)
		if !known {
			f.unknown, f.hint = "the order's value is out of bounds", "reduce the order"
		}
		f.value = f.value.Add(more)
	}
	if s.equity.Sign() <= 0 || exchange.MaxValue.Less(s.equity) {
		f.unknown, f.hint = "equity of "+s.market.String()+" is "+s.equity.String()+" USDT", nextRound
		return f
	}
	f.limit = s.equity.MulRate(multiple)
	return f
}

// loss compares the subject's loss since a starting equity with a limit.
func (s *subject) loss(start exchange.Amount, limit Loss) figures {
	if s.unread || s.watch.Day().StartMS == 0 {
		return figures{unit: usdt, unknown: "equity has not been read yet", hint: nextRound}
	}
	return figures{value: start.Sub(s.funds).Max(exchange.Amount{}), limit: limit.From(start), unit: usdt, start: start}
}

// judge sets the finding of the limit for a subject. A breach refuses until it ends, whatever the figures
// are meanwhile.
func (l *Limit) judge(s *subject, found *finding) {
	f := l.measure(s)
	*found = finding{rule: l.Name, scope: l.scope(s), value: number(f.value, f.unit), limit: number(f.limit, f.unit), hint: l.hint, setting: l,
		limits: s.limits}
	breach := l.breach(s)
	switch {
	case breach != nil:
		found.refused, found.value = true, word(breach.Reason)
	case f.unknown != "":
		found.refused, found.value, found.limit, found.hint = true, word("unknown: "+f.unknown), word(l.Text(s.limits)), cmp.Or(f.hint, l.hint)
	case f.idle:
		found.value, found.limit = figure{}, figure{}
	default:
		found.refused = !f.byResult && f.limit.Less(f.value)
	}
}

// scope returns the scope of the limit for a subject.
func (l *Limit) scope(s *subject) scope {
	key := exchange.SymbolKey{Market: s.market}
	if s.state != nil {
		key = s.state.Key()
	}
	return scope{l.Scope, s.strategy, key}
}

// breach returns the breach in force of the limit, or nil.
func (l *Limit) breach(s *subject) *account.Breach {
	if l.latch == nil {
		return nil
	}
	if b := s.watch.Breach(l.Name); b != nil && !b.Expired(s.nowMS) {
		return b
	}
	return nil
}
