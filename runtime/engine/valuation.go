package engine

import (
	"strings"

	"botd/exchange"
)

// equity is what sizes and limits are shares of. Futures: wallet plus
// unrealised, marked at the last prices. Spot: USDT plus what was bought, at
// the last prices.
func (e *base) equity(market exchange.Market) exchange.Amount {
	if market == exchange.Futures {
		return e.book.Account.Equity()
	}
	var total exchange.Amount
	quote := ""
	for _, r := range e.runs {
		if r.truth.Key().Market != exchange.Spot {
			continue
		}
		if r.config.Symbol.Quote != quote {
			quote = r.config.Symbol.Quote
			balance := e.book.Balance(quote)
			total = total.Add(balance.Free).Add(balance.Frozen)
		}
		total = total.Add(r.config.Symbol.Notional(r.truth.Last, r.truth.Position))
	}
	return total
}

// marked is a market's equity at the last prices.
func (e *base) marked(market exchange.Market) exchange.Amount {
	if market == exchange.Futures {
		return e.book.Marked()
	}
	return e.equity(market)
}

// total is the equity of all markets traded, and whether it is known.
func (e *base) total() (total exchange.Amount, known bool) {
	futures, spot := e.trades(exchange.Futures), e.trades(exchange.Spot)
	if futures && e.book.AccountMS == 0 || spot && e.book.WalletMS == 0 || !futures && !spot {
		return total, false
	}
	if futures {
		total = e.marked(exchange.Futures)
	}
	if spot {
		total = total.Add(e.marked(exchange.Spot))
	}
	return total, true
}

// own returns a strategy's equity: what the account had when the strategy was first
// watched, plus what the strategy made since.
func (e *base) own(r *run) exchange.Amount {
	w, truth := e.book.Watch(r.config.Name), r.truth
	own := w.Result().Base.Add(w.Result().Result)
	held := truth.Position
	if truth.Ignored() != 0 { // the exchange's one position has a foreign part: the strategy's is what its fills made
		held = truth.Known()
	}
	if held == 0 || truth.Rules == nil || truth.AtVenue() == 0 {
		return own
	}
	value := truth.Rules.Notional(truth.Price(), held)
	if truth.Key().Market == exchange.Spot {
		return own.Add(value)
	}
	return own.Add(value).Sub(truth.Rules.Notional(truth.Rules.PriceOf(truth.EntryPrice), held))
}

// onSpot returns the part of the account's equity that is on spot.
func (e *base) onSpot() (part exchange.Amount) {
	if e.trades(exchange.Spot) {
		part = e.marked(exchange.Spot)
	}
	return part
}

// markets names the markets traded.
func (e *base) markets() string {
	var all []string
	for _, market := range [...]exchange.Market{exchange.Futures, exchange.Spot} {
		if e.trades(market) {
			all = append(all, market.String())
		}
	}
	return strings.Join(all, " ")
}
