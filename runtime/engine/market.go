package engine

import (
	"cmp"

	"botd/exchange"
	"botd/exchange/polling"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/strategy"
)

// How often, in milliseconds, the symbols' rules are read if a change of them matters.
const (
	rulesStrictMS = 120_000 // after they became stricter, for this long they are read as often as after a refusal
	rulesSoonMS   = 10_000  // after they refused an opening
	rulesUrgentMS = 3_000   // after they refused a reducing or protecting order, for a minute
)

// market reads candles, prices, the symbols' rules and funding rates.
type market struct {
	*base
	limits  *limits
	tick    *tick
	series  []*series                    // sorted by key and interval
	due     []*series                    // scratch of poll
	feeding int                          // the one that the driver fed last
	strict  map[exchange.SymbolKey]int64 // when a symbol's current, stricter rules were first read
}

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
		if state.Position() != 0 && (m.nowMS-m.strict[symbol.Key()] < rulesStrictMS || m.belowStricter(state)) {
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

// belowStricter reports whether a symbol's rules accept no order for its position or, in the first
// minutes after a start, for the part that no stop covers: the rules may have become stricter just
// before the start, which the start does not know. Until a second read confirms them, they may also be wrong:
// then a position of any size may be below them.
func (b *base) belowStricter(symbol *reconcile.SymbolState) bool {
	if symbol.Rules() == nil {
		return false
	}
	uncovered := symbol.Position().Abs()
	for p := range symbol.Live() {
		if p.Purpose() == placement.StopLoss {
			uncovered -= p.Remaining()
		}
	}
	if leg := b.legOn(symbol.Key()); leg != nil && leg.firstRules && symbol.Position() != 0 &&
		symbol.Rules().BelowMinimum(symbol.Last(), symbol.Position().Abs()) {
		return true
	}
	return stuck(symbol, symbol.Position()) || b.nowMS-b.startMS < rulesStrictMS && stuck(symbol, max(0, uncovered))
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

// applyPrice applies a last trade price.
func (m *market) applyPrice(event *EventPrice) {
	symbol := m.tracker.Track(event.Series)
	symbol.SetPrice(event.Last, cmp.Or(event.Mark, event.Last), m.nowMS)
}

// priceTimeMS returns the time of the reported price. If the symbol's candles are frozen, that is the
// exchange's own time, so that the price of a frozen market does not count as fresh (max_data_age);
// otherwise the price is current, even if the last trade was long ago.
func (m *market) priceTimeMS(key exchange.SymbolKey, reportedMS int64) int64 {
	newest, frozen := reportedMS, false
	for _, s := range m.seriesOn(key) {
		if s.end > 0 {
			newest, frozen = max(newest, s.candles.CloseMS(s.end-1)), frozen || s.frozen
		}
	}
	if !frozen {
		return m.nowMS
	}
	return min(newest, m.nowMS)
}

// pollFunding requests the due funding rates.
func (m *market) pollFunding() {
	for _, leg := range m.legs {
		if leg.watched.fundingMS <= m.nowMS && !leg.watched.fundingRequested {
			leg.watched.fundingRequested = true
			m.ask(pendingCall{kind: callFunding, leg: leg}, PriorityMarket,
				exchange.Request{Operation: polling.Of(exchange.Futures).Funding, Symbol: leg.symbol.Key().Name})
		}
	}
}

// applyFunding applies a funding rate. In a backtest the exchange knows the next charge, which was not
// known at that time: it is shown only once it has been paid.
func (m *market) applyFunding(leg *leg, event *EventAnswer) {
	a := &leg.watched
	a.fundingRequested, a.fundingMS = false, m.nowMS+polling.FundingMS
	if event.Err != nil {
		m.note("", leg.config.Symbol, NoteFetchFailed{What: "funding rate", Err: event.Err})
		return
	}
	funding := &event.Answer.Funding
	shown, known := funding.Rate, true
	if m.config.Feed {
		shown, known = a.next, a.rateKnown
		a.fundingMS = funding.NextMS
	}
	a.next, a.rateKnown = funding.Rate, true
	leg.view.Funding = strategy.Funding{Rate: shown, NextMS: funding.NextMS, Known: known}
}

// pollOrderBooks requests the due order books.
func (m *market) pollOrderBooks() {
	for _, leg := range m.legs {
		if a := &leg.watched; a.orderBookMS <= m.nowMS && !a.orderBookRequested {
			a.orderBookRequested = true
			key := leg.symbol.Key()
			m.ask(pendingCall{kind: callOrderBook, leg: leg}, PriorityMarket,
				exchange.Request{Operation: polling.Of(key.Market).OrderBook, Symbol: key.Name, Limit: strategy.OrderBookLevels})
		}
	}
}

// applyOrderBook applies an order book. After a failed read the previous one stays; its users check its time.
func (m *market) applyOrderBook(leg *leg, event *EventAnswer) {
	leg.watched.orderBookRequested, leg.watched.orderBookMS = false, m.nowMS+polling.OrderBookMS
	if event.Err != nil {
		m.note("", leg.config.Symbol, NoteFetchFailed{What: "order book", Err: event.Err})
		return
	}
	leg.view.OrderBook = strategy.OrderBookOf(&event.Answer.Depth, m.nowMS)
}
