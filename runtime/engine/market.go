package engine

import (
	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/strategy"
)

// How often the symbols' rules are read, in milliseconds.
const (
	rulesEveryMS  = 60_000
	rulesStrictMS = 120_000 // for so long after they became stricter they are read as often as after a refusal
	rulesSoonMS   = 10_000  // after they refused an opening
	rulesUrgentMS = 3_000   // after they refused what reduces or protects, for a minute
)

// market reads candles, prices, the symbols' rules and funding rates.
type market struct {
	*base
	limits *limits
	tick   *tick
	series []*series                    // sorted by key and interval
	strict map[exchange.SymbolKey]int64 // when a symbol's rules were read first as they are now, stricter than before
}

func (m *market) pollRules() {
	if m.trades(exchange.Futures) {
		m.ask(purpose{kind: callRules}, PriorityMarket, exchange.Request{Operation: exchange.FuturesSymbols})
	}
	if m.trades(exchange.Spot) {
		m.ask(purpose{kind: callRules}, PriorityMarket, exchange.Request{Operation: exchange.SpotPairs})
	}
}

// takeRules takes the symbols' rules as they are now. Scales never change while
// botd runs: a rule that no longer fits them keeps the symbol from opening.
func (m *market) takeRules(event *EventAnswer) {
	if event.Err != nil || !event.Answer.Symbols.Done() {
		return
	}
	if m.forbiddenMS != 0 && m.nowMS-m.forbiddenMS < rulesEveryMS {
		m.rulesMS = min(m.rulesMS, m.nowMS+rulesUrgentMS)
	}
	for _, symbol := range event.Answer.Symbols.Items() {
		state := m.book.Symbol(symbol.Key())
		if state.Rules == nil || symbol.PriceScale != state.Rules.PriceScale || symbol.QuantityScale != state.Rules.QuantityScale {
			continue
		}
		fresh := *symbol
		if len(fresh.Brackets) == 0 {
			fresh.Brackets = state.Rules.Brackets
		}
		if changed := m.compare(state.Rules, &fresh); changed {
			m.roundMS = min(m.roundMS, m.nowMS) // what was forbidden may go now
		}
		state.Rules = &fresh
		if state.Position != 0 && (m.nowMS-m.strict[symbol.Key()] < rulesStrictMS || m.belowStricter(state)) {
			m.rulesMS = min(m.rulesMS, m.nowMS+rulesUrgentMS)
		}
	}
}

// belowStricter reports whether a symbol's rules take no order of what is held, or, in the first minutes of a start, of the part
// that no stop covers: they may have become stricter just before it, which it does not know.
func (b *base) belowStricter(symbol *reconcile.SymbolState) bool {
	if symbol.Rules == nil {
		return false
	}
	uncovered := max(symbol.Position, -symbol.Position)
	for _, p := range symbol.Live() {
		if p.Purpose() == placement.StopLoss {
			uncovered -= p.Remaining()
		}
	}
	return belowMinimum(symbol, symbol.Position) || b.nowMS-b.startMS < rulesStrictMS && belowMinimum(symbol, max(0, uncovered))
}

// belowMinimum reports whether a position, or a part of one, is below the smallest order, and more than what fees and
// steps leave of one.
func belowMinimum(state *reconcile.SymbolState, part exchange.Quantity) bool {
	const leftover = 8 // the share of the smallest order that may be left
	value := state.Rules.Notional(state.Last, max(part, -part))
	return value.Less(state.Rules.MinNotional) && !value.Mul(leftover).Less(state.Rules.MinNotional)
}

// compare reports whether a symbol's rules have changed, and notes when they became stricter:
// they may be as before at any time, and until that is read nothing is rounded or sized right.
func (m *market) compare(old, fresh *exchange.Symbol) (changed bool) {
	forbids := old.Tradable && !fresh.Tradable || !old.ReduceOnly && fresh.ReduceOnly || old.Cancelable && !fresh.Cancelable
	stricter := forbids || fresh.PriceTick > old.PriceTick || fresh.QuantityTick > old.QuantityTick || old.MinNotional.Less(fresh.MinNotional)
	if stricter {
		m.strict[fresh.Key()] = m.nowMS
	}
	return stricter || old.Tradable != fresh.Tradable || old.ReduceOnly != fresh.ReduceOnly || old.Cancelable != fresh.Cancelable ||
		fresh.PriceTick != old.PriceTick || fresh.QuantityTick != old.QuantityTick || old.MinNotional != fresh.MinNotional
}

// takePrice takes a last trade price.
func (m *market) takePrice(event *EventPrice) {
	symbol := m.book.Symbol(event.Series)
	symbol.Last, symbol.LastMS = event.Last, m.nowMS
	if symbol.Mark = event.Mark; symbol.Mark == 0 {
		symbol.Mark = event.Last
	}
}

// priceTimeMS is when the price that is reported now was true. Where the symbol's candles
// stand still it is as old as the exchange's own times say, so that a market that
// is frozen there is no fresh price (max_data_age); else it is what is paid now,
// also where it was traded long ago.
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

// fundingEveryMS is how often a funding rate is read while somebody watches it.
const fundingEveryMS = 60_000

// pollFunding asks for the funding rates that are due.
func (m *market) pollFunding() {
	for _, leg := range m.legs {
		if leg.watched.fundingMS <= m.nowMS && !leg.watched.asking {
			leg.watched.asking = true
			m.ask(purpose{kind: callFunding, leg: leg}, PriorityMarket, exchange.Request{Operation: exchange.FuturesFundingRate, Symbol: leg.symbol.Key().Name})
		}
	}
}

// takeFunding takes a rate. In a backtest the exchange knows what it will
// charge, which nobody knew then: it is shown when it has been paid.
func (m *market) takeFunding(leg *leg, event *EventAnswer) {
	a := &leg.watched
	a.asking, a.fundingMS = false, m.nowMS+fundingEveryMS
	if event.Err != nil {
		m.note("", leg.config.Symbol, NoteFetchFailed{What: "funding rate", Err: event.Err})
		return
	}
	funding := &event.Answer.Funding
	shown, known := funding.Rate, true
	if m.config.Feed {
		shown, known = a.next, a.known
		a.fundingMS = funding.NextMS
	}
	a.next, a.known = funding.Rate, true
	leg.view.Funding = strategy.Funding{Rate: shown, NextMS: funding.NextMS, Known: known}
}

// bookEveryMS is how often an order book is read while a strategy watches it.
const bookEveryMS = 2_000

// pollBooks asks for the order books that are due.
func (m *market) pollBooks() {
	for _, leg := range m.legs {
		if a := &leg.watched; a.bookMS <= m.nowMS && !a.askingBook {
			a.askingBook = true
			operation := exchange.FuturesDepth
			if leg.symbol.Key().Market == exchange.Spot {
				operation = exchange.SpotDepth
			}
			m.ask(purpose{kind: callBook, leg: leg}, PriorityMarket, exchange.Request{Operation: operation, Symbol: leg.symbol.Key().Name,
				Limit: strategy.BookLevels})
		}
	}
}

// takeBook takes an order book. One that cannot be read leaves the last one, which is older with
// every second: whoever uses it goes by its time.
func (m *market) takeBook(leg *leg, event *EventAnswer) {
	leg.watched.askingBook, leg.watched.bookMS = false, m.nowMS+bookEveryMS
	if event.Err != nil {
		m.note("", leg.config.Symbol, NoteFetchFailed{What: "order book", Err: event.Err})
		return
	}
	leg.view.Book = strategy.BookOf(&event.Answer.Depth, m.nowMS)
}
