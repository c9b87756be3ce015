package reconcile

import (
	"botd/exchange"
	"botd/reconcile/account"
)

// The margin that the account uses for positions is evidence besides the list of positions: the account reports it independently, and a wrong list
// seldom needs exactly that margin.

// margins compares the margin in use with what positions need.
type margins struct {
	account            *tracked
	observed           *observedAccount
	inUse              *exchange.MarginAccount // as read; nil for not read
	listed             exchange.Fetched[exchange.Position]
	known              bool // the comparison has been made
	difference, needed exchange.Amount
}

// margin returns by how much the margin in use differs from the needs of the listed positions, and those needs; zero if either is not reported. The
// result is cached, because every symbol with a position asks for it.
func (m *margins) margin() (difference, needed exchange.Amount) {
	if !m.known {
		m.known = true
		m.difference, m.needed = m.sumMargin()
	}
	return m.difference, m.needed
}

func (m *margins) sumMargin() (difference, needed exchange.Amount) {
	if m.inUse == nil || !m.listed.Done() || m.inUse.PositionMargin.IsZero() && !m.observed.marginShown {
		return exchange.Amount{}, exchange.Amount{} // an account that never reports a position margin would agree with an empty list
	}
	for i := range m.listed.Items() {
		p := &m.listed.Items()[i]
		if p.Remaining == 0 {
			continue
		}
		rules := m.account.rulesOf(exchange.SymbolKey{Market: exchange.Futures, Name: p.Symbol})
		if rules == nil || p.Leverage <= 0 {
			return exchange.Amount{}, exchange.Amount{}
		}
		needed = needed.Add(rules.Notional(rules.PriceOf(p.EntryPrice), p.Remaining).Div(int64(p.Leverage)))
	}
	return m.inUse.PositionMargin.Sub(needed).Abs(), needed
}

// marginDenies reports whether the account's margin in use does not include what the list shows beyond the fills: one of the two is old, and neither
// can decide about the holdings of others. If the policy leaves that decision to a person, the list is enough.
func (m *margins) marginDenies(symbol *SymbolState, policy string) bool {
	if symbol.rules == nil || symbol.Missing() || policy != ForeignAdopt && policy != ForeignIgnore {
		return false
	}
	more, needed := m.margin()
	beyond := symbol.rules.Notional(symbol.rules.PriceOf(symbol.entryPrice), symbol.residual.Abs()).Div(int64(max(1, symbol.leverage)))
	return !needed.IsZero() && (m.inUse.PositionMargin.Less(needed) && !more.Mul(2).Less(beyond) || m.fillsExplainMargin())
}

// marginAgrees reports whether the margin in use is, within one percent, the margin that the listed positions need.
func (m *margins) marginAgrees() bool {
	more, needed := m.margin()
	return !needed.IsZero() && !needed.Less(more.Mul(100))
}

// marginUnlisted reports whether the account uses more margin than the listed positions need, which shows that the list omits some of them.
func (m *margins) marginUnlisted() bool {
	more, needed := m.margin()
	return !m.inUse.PositionMargin.Less(needed) && needed.Less(more.Mul(100))
}

// fillsExplainMargin reports whether the positions that fills explain, and those left to others, explain the margin in use better than the listed
// positions do. Then the margin is no evidence for the list, even if the list needs nearly as much: it may show less of one symbol and more of another.
func (m *margins) fillsExplainMargin() bool {
	listed, needed := m.margin()
	if needed.IsZero() {
		return false
	}
	left := m.inUse.PositionMargin
	for symbol := range m.account.Symbols() {
		quantity := symbol.Known() + symbol.Ignored()
		if symbol.Key().Market != exchange.Futures || quantity == 0 {
			continue
		}
		if symbol.rules == nil || symbol.leverage == 0 {
			return false
		}
		price := symbol.rules.PriceOf(symbol.MeanEntryPrice())
		if row, _ := find(m.listed.Items(), symbol.Key().Name); row.Remaining != 0 {
			price = symbol.rules.PriceOf(row.EntryPrice)
		}
		left = left.Sub(symbol.rules.Notional(price, quantity.Abs()).Div(int64(symbol.leverage)))
	}
	return left.Abs().Less(listed)
}

// marginAgeMS is the maximum age, when an uncertain opening was sent, of the last agreement between margin and list: an exchange that computes the
// margin from the current price moves away from the entry prices with time.
const marginAgeMS = 60_000

// marginShowsMore reports whether the account uses at least half the margin of what the list does not show of uncertain openings, oldest first, or of
// what it lacks because of uncertain reductions. Unless the list shows no position at all, the margin must have agreed with it recently.
func (m *margins) marginShowsMore(symbol *SymbolState, uncertain []*account.Placement) bool {
	more, needed := m.margin()
	agreed := m.observed.marginAgreeMS != 0 && m.observed.marginAgreeMS >= uncertain[0].SentMS()-marginAgeMS
	if symbol.rules == nil || more.IsZero() || m.inUse.PositionMargin.Less(needed) || !agreed && !needed.IsZero() {
		return false
	}
	left, unseen := symbol.residual, exchange.Amount{}
	for _, p := range uncertain {
		part, order := explained(p, left), p.Order()
		left -= part
		if p.Purpose().Opens() {
			part = p.Remaining() - part.Abs()
		}
		if part = part.Abs(); part > 0 {
			unseen = unseen.Add(symbol.rules.Notional(m.account.orderPrice(&order), part).Div(int64(max(1, symbol.leverage))))
		}
	}
	return !unseen.IsZero() && !more.Mul(2).Less(unseen)
}
