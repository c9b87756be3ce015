package engine

import (
	"botd/exchange"
	"botd/exchange/polling"
	"botd/reconcile"
	"botd/reconcile/placement"
)

// How often, in milliseconds, the symbols' rules are read if a change of them matters.
const (
	rulesStrictMS = 120_000 // after they became stricter, for this long they are read as often as after a refusal
	rulesSoonMS   = 10_000  // after they refused an opening
	rulesUrgentMS = 3_000   // after they refused a reducing or protecting order, for a minute
)

func (m *market) pollRules() {
	for _, market := range markets {
		if m.trades(market) {
			m.ask(pendingCall{kind: callRules}, PriorityMarket, exchange.Request{Operation: polling.Of(market).Rules})
		}
	}
}

// applyRules applies the symbols' current rules. Scales never change while botd runs: a rule that no
// longer fits its scale blocks the symbol's openings.
func (m *market) applyRules(event *EventAnswer) {
	if event.Err != nil || !event.Answer.Symbols.Done() {
		return
	}
	if m.nowMS-m.forbiddenMS < polling.RulesMS {
		m.rulesMS = min(m.rulesMS, m.nowMS+rulesUrgentMS)
	}
	for _, symbol := range event.Answer.Symbols.Items() {
		state := m.tracker.Track(symbol.Key())
		if state.Rules() == nil || symbol.PriceScale != state.Rules().PriceScale || symbol.QuantityScale != state.Rules().QuantityScale {
			continue
		}
		fresh := *symbol
		if len(fresh.Brackets) == 0 {
			fresh.Brackets = state.Rules().Brackets
		}
		changed := m.compare(state.Rules(), &fresh)
		state.SetRules(&fresh)
		m.confirmRules(symbol.Key())
		if changed {
			m.roundMS = min(m.roundMS, m.nowMS) // previously forbidden orders may be sent now
			if leg := m.legOn(symbol.Key()); leg != nil {
				m.tick.decideAgain(leg) // its plan is sized by the previous rules
			}
		}
		if held(state) != 0 && (m.nowMS-m.strict[symbol.Key()] < rulesStrictMS || m.belowStricter(state)) {
			m.rulesMS = min(m.rulesMS, m.nowMS+rulesUrgentMS)
		}
	}
}

// confirmRules records that a symbol's rules have been read after the start.
func (m *market) confirmRules(key exchange.SymbolKey) {
	for _, leg := range m.legs {
		leg.firstRules = leg.firstRules && leg.symbol.Key() != key
	}
}

// held returns the larger of a symbol's position by the newest read and by the fills: the newest read may be wrong.
func held(symbol *reconcile.SymbolState) exchange.Quantity {
	return max(symbol.Position().Abs(), symbol.Known().Abs())
}

// belowStricter reports whether a symbol's rules accept no order for its position or, in the first
// minutes after a start, for the part that no stop covers: the rules may have become stricter just
// before the start, which the start does not know. Until a second read confirms them, they may also be wrong:
// then a position of any size may be below them.
func (b *base) belowStricter(symbol *reconcile.SymbolState) bool {
	if symbol.Rules() == nil {
		return false
	}
	position := held(symbol)
	uncovered := position
	for p := range symbol.Live() {
		if p.Purpose() == placement.StopLoss {
			uncovered -= p.Remaining()
		}
	}
	if leg := b.legOn(symbol.Key()); leg != nil && leg.firstRules && position != 0 && symbol.Rules().BelowMinimum(symbol.Last(), position) {
		return true
	}
	forbidden := !symbol.Rules().Tradable && uncovered > 0
	return stuck(symbol, position) || b.nowMS-b.startMS < rulesStrictMS && (forbidden || stuck(symbol, max(0, uncovered)))
}

// stuck reports whether a position, or a part of one, is below the exchange's minimum but more than
// the remainder that fees and steps leave.
func stuck(state *reconcile.SymbolState, part exchange.Quantity) bool {
	const leftover = 8 // the largest remainder, as a divisor of the minimum
	return state.Rules().BelowMinimum(state.Last(), part.Abs()) && !state.Rules().BelowMinimum(state.Last(), part.Abs()*leftover)
}

// compare reports whether a symbol's rules have changed, and records when they became stricter: they may
// revert at any time, and until that is read, orders are rounded and sized wrongly.
func (m *market) compare(old, fresh *exchange.Symbol) (changed bool) {
	forbids := old.Tradable && !fresh.Tradable || !old.ReduceOnly && fresh.ReduceOnly || old.Cancelable && !fresh.Cancelable
	stricter := forbids || fresh.PriceTick > old.PriceTick || fresh.QuantityTick > old.QuantityTick || old.MinNotional.Less(fresh.MinNotional)
	if stricter {
		m.strict[fresh.Key()] = m.nowMS
	}
	return stricter || old.Tradable != fresh.Tradable || old.ReduceOnly != fresh.ReduceOnly || old.Cancelable != fresh.Cancelable ||
		fresh.PriceTick != old.PriceTick || fresh.QuantityTick != old.QuantityTick || old.MinNotional != fresh.MinNotional
}
