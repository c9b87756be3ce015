package risk

import (
	"cmp"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
)

// scope is whose limit it is and what it is measured on.
type scope struct {
	reach    Reach
	strategy string // of a strategy's own limit
	key      exchange.SymbolKey
}

// String returns the scope's name; that of a rule is empty.
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

// subject is what a limit is measured on, and an intent to count as if it were filled.
// Without an intent the figures are those in use now.
type subject struct {
	nowMS    int64
	book     *reconcile.Book
	limits   *Limits
	watch    *account.Watch
	strategy string // whose limits these are; empty: the account's
	intent   *reconcile.Intent

	market exchange.Market
	state  *reconcile.SymbolState   // nil: the account, or one of its markets
	traded []*reconcile.SymbolState // of the account
	equity exchange.Amount          // of the market, for exposures
	funds  exchange.Amount          // equity of the account or the strategy, for losses
	unread bool                     // funds is not known yet
}

// figures are what a limit compares: a value above the limit is refused.
type figures struct {
	value, limit exchange.Amount
	unit         unit
	start        exchange.Amount // of a loss: what it is measured from
	unknown      string          // set: why the figures are not known, which refuses
	hint         string          // how that ends
	idle         bool            // the limit bounds each order by itself, and there is none

	byResult bool // the result of a position crosses the limit, on reaching it; an intent never does
}

// nextRound is how most unknown figures become known.
const nextRound = "it is read with the next round"

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

// exposure compares the value of symbols, with everything in flight filled, with a
// multiple of the market's equity. It is unknown while a size has no price, or is so
// large that a sum could overflow.
func (s *subject) exposure(multiple exchange.Rate, symbols ...*reconcile.SymbolState) figures {
	f := figures{unit: usdt}
	for _, state := range symbols {
		if state.Key().Market != s.market {
			continue
		}
		one, known := exposure(state)
		if !known {
			f.unknown, f.hint = state.Key().String()+" has no price, or a size beyond all bounds", nextRound
			if state.Rules == nil {
				f.unknown, f.hint = state.Key().String()+" has no price", "no strategy trades it, so nothing is read of it: end what is open there"
			}
			return f
		}
		f.value = f.value.Add(one)
	}
	if s.intent != nil {
		more, known := value(&s.intent.Order, s.state)
		if !known {
			f.unknown, f.hint = "the order's value is beyond all bounds", "ask for less"
		}
		f.value = f.value.Add(more)
	}
	if s.equity.Sign() <= 0 || maxNotional.Less(s.equity) {
		f.unknown, f.hint = "equity of "+s.market.String()+" is "+s.equity.String()+" USDT", nextRound
		return f
	}
	f.limit = s.equity.MulRate(multiple)
	return f
}

// loss compares what the subject's funds lost from a start with a limit.
func (s *subject) loss(start exchange.Amount, limit Loss) figures {
	if s.unread || s.watch.Day().StartMS == 0 {
		return figures{unit: usdt, unknown: "equity was not read yet", hint: nextRound}
	}
	return figures{value: start.Sub(s.funds).Max(exchange.Amount{}), limit: limit.From(start), unit: usdt, start: start}
}

// judge compares the figures of the limit for a subject. A breach refuses until it ends,
// whatever the figures are by then.
func (l *Limit) judge(s *subject, found *finding) {
	f := l.measure(s)
	*found = finding{rule: l.Name, scope: l.scope(s), value: number(f.value, f.unit), limit: number(f.limit, f.unit), hint: l.hint, setting: l,
		limits: s.limits}
	breach := l.breach(s)
	switch {
	case breach != nil:
		found.refused, found.value = true, word(breach.Why)
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
	return scope{l.Reach, s.strategy, key}
}

// breach returns the breach in force of the limit, or nil.
func (l *Limit) breach(s *subject) *account.Breach {
	if l.latch == nil {
		return nil
	}
	if b := s.watch.Breach(l.Name); b != nil && !b.Over(s.nowMS) {
		return b
	}
	return nil
}
