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

// look asks for the candles that are due, and hourly for the symbols' rules.
func (e *market) look() {
	for _, s := range e.series {
		if s.pollMS <= e.nowMS && !s.asking {
			e.pollSeries(s)
		}
	}
	if e.rulesMS <= e.nowMS {
		e.rulesMS = e.nowMS + rulesEveryMS
		e.askRules()
	}
}

func (e *market) askRules() {
	if e.trades(exchange.Futures) {
		e.ask(purpose{kind: callRules}, PriorityMarket, exchange.Request{Operation: exchange.FuturesSymbols})
	}
	if e.trades(exchange.Spot) {
		e.ask(purpose{kind: callRules}, PriorityMarket, exchange.Request{Operation: exchange.SpotPairs})
	}
}

// takeRules takes the symbols' rules as they are now. Scales never change while
// botd runs: a rule that no longer fits them keeps the symbol from opening.
func (e *market) takeRules(event *EventAnswer) {
	if event.Err != nil || !event.Answer.Symbols.Done() {
		return
	}
	for _, symbol := range event.Answer.Symbols.Items() {
		truth := e.book.Symbol(symbol.Key())
		if truth.Rules == nil || symbol.PriceScale != truth.Rules.PriceScale || symbol.QuantityScale != truth.Rules.QuantityScale {
			continue
		}
		fresh := *symbol
		if len(fresh.Brackets) == 0 {
			fresh.Brackets = truth.Rules.Brackets
		}
		if fresh.Tradable != truth.Rules.Tradable || fresh.ReduceOnly != truth.Rules.ReduceOnly || fresh.Cancelable != truth.Rules.Cancelable {
			e.soon() // what was forbidden may go now
		}
		truth.Rules = &fresh
	}
}

// takePrice takes a last trade price.
func (e *market) takePrice(event *EventPrice) {
	truth := e.book.Symbol(event.Series)
	truth.Last, truth.LastMS = event.Last, e.nowMS
	if truth.Mark = event.Mark; truth.Mark == 0 {
		truth.Mark = event.Last
	}
}

// pricedMS is when a price was true that is told now. Where the symbol's candles
// stand still it is as old as the exchange's own times say, so that a market that
// is frozen there is no fresh price (max_data_age); else it is what is paid now,
// also where it was traded long ago.
func (e *market) pricedMS(key exchange.SymbolKey, toldMS int64) int64 {
	newest, frozen := toldMS, false
	for _, s := range e.series {
		if s.key == key && s.end > 0 {
			newest, frozen = max(newest, s.candles.CloseMS(s.end-1)), frozen || s.frozen
		}
	}
	if !frozen {
		return e.nowMS
	}
	return min(newest, e.nowMS)
}

// fundingEveryMS is how often a funding rate is read while somebody watches it.
const fundingEveryMS = 60_000

// lookAround asks for the funding rates that are due.
func (e *market) lookAround() {
	for _, r := range e.runs {
		if r.around.fundingMS <= e.nowMS && !r.around.asking {
			r.around.asking = true
			e.ask(
				purpose{kind: callFunding, run: r},
				PriorityMarket,
				exchange.Request{Operation: exchange.FuturesFundingRate, Symbol: r.truth.Key().Name},
			)
		}
	}
}

// fundingAnswered takes a rate. In a backtest the exchange knows what it will
// charge, which nobody knew then: it is shown when it has been paid.
func (e *market) fundingAnswered(r *run, event *EventAnswer) {
	a := &r.around
	a.asking, a.fundingMS = false, e.nowMS+fundingEveryMS
	if event.Err != nil {
		e.note("", r.config.Symbol, NoteFetchFailed{What: "funding rate", Err: event.Err})
		return
	}
	told := &event.Answer.Funding
	shown, known := told.Rate, true
	if e.config.Feed {
		shown, known = a.next, a.told
		a.fundingMS = told.NextMS
	}
	a.next, a.told = told.Rate, true
	r.view.Funding = strategy.Funding{Rate: shown, NextMS: told.NextMS, Known: known}
}
