package engine

import (
	"slices"

	"botd/exchange"
	"botd/reconcile"
)

// A round reads the prices of the symbols that it could act on: of many of a market by the list of its
// tickers, which is one request however many there are, else one ticker each: a list has all the symbols of
// a venue, often hundreds of kilobytes, which three small answers are not. A list that fails or leaves a
// symbol out is made good by single tickers in the same round; one that is late is waited for no longer than
// any other read, and given up after 10 s it has failed. A single ticker that is late is made good by the list:
// by an old price a stop would be sent that the exchange refuses, since its level has been passed.

const (
	listFrom    = 4      // symbols of a market: from here on the list is read
	listAgainMS = 60_000 // after a list failed, single tickers are read for so long
)

// askPrices asks for the prices that a round could act on.
func (r *round) askPrices() {
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

// askList asks for the prices of a market, once a round. It reports whether it did.
func (r *round) askList(market exchange.Market, instead bool) bool {
	request := exchange.Request{Operation: exchange.FuturesTickers}
	if market == exchange.Spot {
		request.Operation = exchange.SpotTickers
	}
	if slices.Contains(r.reading.listed, market) {
		return false
	}
	r.reading.listed = append(r.reading.listed, market)
	r.askForRound(purpose{kind: callTickers, instead: instead}, request)
	return true
}

// byList reports whether a market's prices are to be read by its list.
func (r *round) byList(market exchange.Market) bool {
	return r.nowMS >= r.singly[market] && len(r.missingPrices(market)) >= r.listFrom
}

// lacksPrice reports whether a round needs a price of a symbol that it has not.
func (r *round) lacksPrice(leg *leg) bool {
	fresh := r.nowMS-leg.symbol.LastMS < 500 && leg.symbol.LastMS != 0
	return !fresh && r.needsPrice(leg)
}

// missingPrices are the symbols of a market that lack a fresh price, each once.
func (r *round) missingPrices(market exchange.Market) (wanted []*reconcile.SymbolState) {
	for _, leg := range r.legs {
		if leg.symbol.Key().Market == market && r.lacksPrice(leg) && !slices.Contains(wanted, leg.symbol) {
			wanted = append(wanted, leg.symbol)
		}
	}
	return wanted
}

// askTickers asks for one ticker each.
func (r *round) askTickers(wanted []*reconcile.SymbolState) {
	for _, symbol := range wanted {
		r.askTicker(symbol)
	}
}

func (r *round) askTicker(symbol *reconcile.SymbolState) {
	request := exchange.Request{Operation: exchange.FuturesTicker, Symbol: symbol.Key().Name}
	if symbol.Key().Market == exchange.Spot {
		request.Operation = exchange.SpotTicker
	}
	r.askForRound(purpose{kind: callTicker, symbol: symbol}, request)
}

// takeTicker takes the price of one symbol.
func (r *round) takeTicker(symbol *reconcile.SymbolState, tickers []exchange.Ticker) {
	for i := range tickers {
		if t := &tickers[i]; t.Symbol == symbol.Key().Name && t.Last > 0 {
			r.book.TakePrice(symbol.Key(), t.Last, r.market.priceTimeMS(symbol.Key(), t.CloseMS), r.nowMS)
		}
	}
}

// takeTickers takes the prices of a market, and asks for those that its list leaves out.
func (r *round) takeTickers(market exchange.Market, tickers []exchange.Ticker) {
	at := make(map[string]int, len(tickers))
	for i := range tickers {
		at[tickers[i].Symbol] = i
	}
	var missing []*reconcile.SymbolState
	for _, symbol := range r.missingPrices(market) {
		if i, listed := at[symbol.Key().Name]; listed && tickers[i].Last > 0 {
			r.takeTicker(symbol, tickers[i:i+1])
		} else {
			missing = append(missing, symbol)
		}
	}
	r.askTickers(missing)
}

// withoutList asks for the prices of a market whose list failed.
func (r *round) withoutList(p *purpose) { r.askTickers(r.missingPrices(p.of.Market())) }

// listComes reports whether the list of a market's prices is awaited in this round.
func (r *round) listComes(market exchange.Market) bool {
	for _, p := range r.calls {
		if p.kind == callTickers && p.of.Market() == market && !p.late {
			return true
		}
	}
	return false
}

// lateByList reports whether a symbol's price is late with its market's list: any, or, where that was asked for instead
// of single tickers, one whose own ticker is late.
func (r *round) lateByList(p *purpose, symbol *reconcile.SymbolState) bool {
	single := purpose{kind: callTicker, of: exchange.FuturesTicker, symbol: symbol}
	if symbol.Key().Market == exchange.Spot {
		single.of = exchange.SpotTicker
	}
	return !p.instead || r.isLate(&single)
}

// listFailed has single tickers read for a while.
func (r *round) listFailed(p *purpose) { r.singly[p.of.Market()] = r.nowMS + listAgainMS }
