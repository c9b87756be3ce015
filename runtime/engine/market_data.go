package engine

import (
	"cmp"

	"botd/exchange"
	"botd/exchange/polling"
	"botd/strategy"
)

// applyPrice applies a last trade price.
func (m *market) applyPrice(event *EventPrice) {
	symbol := m.tracker.Track(event.Series)
	symbol.SetPrice(event.Last, cmp.Or(event.Mark, event.Last), m.nowMS)
}

// priceTimeMS returns the time of the reported price. If the symbol's candles have stalled, that is the
// exchange's own time, so that the price of a stalled market does not count as fresh (max_data_age);
// otherwise the price is current, even if the last trade was long ago.
func (m *market) priceTimeMS(key exchange.SymbolKey, reportedMS int64) int64 {
	newest, stalled := reportedMS, false
	for _, s := range m.seriesOn(key) {
		if s.end > 0 {
			newest, stalled = max(newest, s.candles.CloseMS(s.end-1)), stalled || s.stalled
		}
	}
	if !stalled {
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
