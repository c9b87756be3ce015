package engine

import (
	"slices"

	"botd/exchange"
	"botd/exchange/polling"
	"botd/reconcile"
)

// A round reads the prices of the symbols on which it could act: by a ticker each or, for many symbols of a market, by the list of tickers. The list is
// a single request, but it contains all symbols of a venue, often hundreds of kilobytes, so for a few symbols their tickers cost less. If the list fails
// or omits a symbol, single tickers replace it in the same round. A round awaits a late list no longer than any other read, and the list counts as
// failed after 10 s. If a single ticker is late, the list replaces it: with an old price, botd might send a stop whose level the price has already
// passed, and the exchange would refuse it.

const listAgainMS = 60_000 // time after a failed list for which single tickers are read

// askPrices requests the prices that a round could act on.
func (r *reader) askPrices() {
	futures, spot := r.byList(exchange.Futures), r.byList(exchange.Spot)
	for _, leg := range r.legs {
		byList := futures
		if leg.symbol.Key().Market == exchange.Spot {
			byList = spot
		}
		if !byList && r.lacksPrice(leg) {
			r.askTicker(leg.symbol)
		}
	}
	if futures {
		r.askList(exchange.Futures, false)
	}
	if spot {
		r.askList(exchange.Spot, false)
	}
}

// askList requests the prices of a market, once per round, and reports whether it did.
func (r *reader) askList(market exchange.Market, instead bool) bool {
	if slices.Contains(r.roundReads.listed, market) {
		return false
	}
	r.roundReads.listed = append(r.roundReads.listed, market)
	r.askForRound(pendingCall{kind: callTickers, instead: instead}, exchange.Request{Operation: polling.Of(market).Tickers})
	return true
}

// byList reports whether a market's prices are to be read by its list.
func (r *reader) byList(market exchange.Market) bool {
	return r.nowMS >= r.singly[market] && len(r.missingPrices(market)) >= r.listFrom
}

// lacksPrice reports whether a round still needs a symbol's price.
func (r *reader) lacksPrice(leg *leg) bool {
	fresh := r.nowMS-leg.symbol.LastMS() < 500 && leg.symbol.LastMS() != 0
	return !fresh && needsPrice(leg)
}

// missingPrices returns the symbols of a market that lack a fresh price, without duplicates.
func (r *reader) missingPrices(market exchange.Market) (missing []*reconcile.SymbolState) {
	for _, leg := range r.legs {
		if leg.symbol.Key().Market == market && r.lacksPrice(leg) && !slices.Contains(missing, leg.symbol) {
			missing = append(missing, leg.symbol)
		}
	}
	return missing
}

// askTickers requests one ticker each.
func (r *reader) askTickers(missing []*reconcile.SymbolState) {
	for _, symbol := range missing {
		r.askTicker(symbol)
	}
}

func (r *reader) askTicker(symbol *reconcile.SymbolState) {
	key := symbol.Key()
	r.askForRound(pendingCall{kind: callTicker, symbol: symbol}, exchange.Request{Operation: polling.Of(key.Market).Ticker, Symbol: key.Name})
}

// applyTicker applies the price of one symbol.
func (r *reader) applyTicker(symbol *reconcile.SymbolState, tickers []exchange.Ticker) {
	for i := range tickers {
		if t := &tickers[i]; t.Symbol == symbol.Key().Name && t.Last > 0 {
			r.tracker.ObservePrice(symbol.Key(), t.Last, r.market.priceTimeMS(symbol.Key(), t.CloseMS), r.nowMS)
			if shownMS := r.roundReads.shownMS[symbol.Key().Market]; shownMS != 0 && r.roundReads.sentMS >= shownMS {
				r.limits.pricedLater = append(r.limits.pricedLater, symbol)
			}
		}
	}
}

// applyTickers applies the prices of a market, and requests those that its list omits.
func (r *reader) applyTickers(market exchange.Market, tickers []exchange.Ticker) {
	at := make(map[string]int, len(tickers))
	for i := range tickers {
		at[tickers[i].Symbol] = i
	}
	var missing []*reconcile.SymbolState
	for _, symbol := range r.missingPrices(market) {
		if i, listed := at[symbol.Key().Name]; listed && tickers[i].Last > 0 {
			r.applyTicker(symbol, tickers[i:i+1])
		} else {
			missing = append(missing, symbol)
		}
	}
	r.askTickers(missing)
}

// withoutList requests the prices of a market whose list failed.
func (r *reader) withoutList(p *pendingCall) { r.askTickers(r.missingPrices(p.of.Market())) }

// listComes reports whether the list of a market's prices is awaited in this round.
func (r *reader) listComes(market exchange.Market) bool {
	for _, p := range r.calls {
		if p.kind == callTickers && p.of.Market() == market && !p.late {
			return true
		}
	}
	return false
}

// lateByList reports whether a symbol's price is late together with its market's list: this is so for
// every price or, if the list replaced single tickers, for those whose own ticker is late.
func (r *reader) lateByList(p *pendingCall, symbol *reconcile.SymbolState) bool {
	single := pendingCall{kind: callTicker, of: polling.Of(symbol.Key().Market).Ticker, symbol: symbol}
	return !p.instead || r.isLate(&single)
}

// listFailed makes the engine read single tickers for a while.
func (r *reader) listFailed(p *pendingCall) { r.singly[p.of.Market()] = r.nowMS + listAgainMS }
