package engine

import (
	"botd/exchange"
	"botd/strategy"
)

// How often the symbols' rules are read, in milliseconds.
const (
	rulesEveryMS  = 3_600_000
	rulesSoonMS   = 10_000 // after they refused an opening
	rulesUrgentMS = 3_000  // after they refused what reduces or protects
)

// market reads candles, prices, the symbols' rules and funding rates.
type market struct {
	*base
	limits *limits
	tick   *tick
	series []*series // sorted by key and interval
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
	for _, symbol := range event.Answer.Symbols.Items() {
		state := m.book.Symbol(symbol.Key())
		if state.Rules == nil || symbol.PriceScale != state.Rules.PriceScale || symbol.QuantityScale != state.Rules.QuantityScale {
			continue
		}
		fresh := *symbol
		if len(fresh.Brackets) == 0 {
			fresh.Brackets = state.Rules.Brackets
		}
		if fresh.Tradable != state.Rules.Tradable || fresh.ReduceOnly != state.Rules.ReduceOnly || fresh.Cancelable != state.Rules.Cancelable {
			m.soon() // what was forbidden may go now
		}
		state.Rules = &fresh
	}
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
	for _, s := range m.series {
		if s.key == key && s.end > 0 {
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
