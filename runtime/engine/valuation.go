package engine

import (
	"strings"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
)

// equity returns the basis of sizes and limits. Futures: wallet plus unrealized profit at the last
// prices. Spot: USDT plus the value of purchases at the last prices.
func (b *base) equity(market exchange.Market) exchange.Amount {
	if market == exchange.Futures {
		return b.tracker.Marked()
	}
	var total exchange.Amount
	quote := ""
	for _, leg := range b.legs {
		if leg.symbol.Key().Market != exchange.Spot {
			continue
		}
		if leg.config.Symbol.Quote != quote {
			quote = leg.config.Symbol.Quote
			balance := b.tracker.Balance(quote)
			total = total.Add(balance.Free).Add(balance.Frozen)
		}
		total = total.Add(leg.config.Symbol.Notional(leg.symbol.Last(), leg.symbol.Position()))
	}
	return total
}

// total returns the equity of all traded markets, and whether it is known.
func (b *base) total() (total exchange.Amount, known bool) {
	futures, spot := b.trades(exchange.Futures), b.trades(exchange.Spot)
	if futures && b.tracker.AccountMS() == 0 || spot && b.tracker.WalletMS() == 0 || !futures && !spot {
		return total, false
	}
	if futures {
		total = b.equity(exchange.Futures)
	}
	if spot {
		total = total.Add(b.equity(exchange.Spot)).Add(b.unbookedPurchases())
	}
	return total, true
}

// unbookedPurchases returns the value of own purchases that the wallet shows and that are not booked yet: their money is no loss.
func (b *base) unbookedPurchases() (worth exchange.Amount) {
	for _, leg := range b.legs {
		if bought := b.tracker.BoughtUnbooked(leg.symbol); bought != 0 {
			worth = worth.Add(leg.config.Symbol.Notional(leg.symbol.Last(), bought))
		}
	}
	return worth
}

// strategyEquity returns a strategy's equity: the account's when the strategy was first watched, plus the
// strategy's result since then.
func (b *base) strategyEquity(leg *leg) exchange.Amount {
	result := b.tracker.Watch(leg.config.Name).Result()
	return result.Base.Add(result.Result).Add(b.resultOfPosition(leg))
}

// resultOfPosition returns what a position contributes to a strategy's result: on spot its value, on futures its
// profit.
func (b *base) resultOfPosition(leg *leg) (worth exchange.Amount) {
	symbol, w := leg.symbol, b.tracker.Watch(leg.config.Name)
	position, entry, at := symbol.Position(), symbol.EntryPrice(), symbol.AtVenue()
	closed, closedFor := exchange.Quantity(0), exchange.Amount{}
	if symbol.Key().Market == exchange.Spot && w.Known() && w.Awaits() { // the fills have not cost or brought any money yet
		position = w.Result().Position
		at = position
	}
	switch {
	case symbol.Ignored() != 0: // the exchange's single position has a foreign part, so the strategy's part follows from its fills
		position = symbol.Known()
	case leg.money.awaited && !leg.money.entryPrice.IsZero(): // the money of the closed part is unknown: it counts at the price at which it was seen closed
		position, entry, closed, closedFor = w.Result().Position, leg.money.entryPrice, leg.money.closed, leg.money.closedFor
		at = position
	}
	if position == 0 || symbol.Rules() == nil || at == 0 {
		return worth
	}
	paid := symbol.Rules().Cost(entry, position) // 0 on spot, where the result includes the purchase price
	return symbol.Rules().Notional(symbol.Price(), position-closed).Add(closedFor).Sub(paid)
}

// estimated reports whether fills of a strategy are, or may be, in no result yet: what they closed
// counts at a price read by a round, not at the price of the fill.
func (b *base) estimated(leg *leg) bool {
	w := b.tracker.Watch(leg.config.Name)
	return w.Traded() != 0 || w.Awaits() || b.positionUncertain(leg.symbol)
}

// positionUncertain reports whether the exchange's position differs, or may differ, from the fills, because an
// order could not be read.
func (b *base) positionUncertain(symbol *reconcile.SymbolState) bool {
	residual, _ := symbol.Residual()
	live := func(p *account.Placement) bool { return p.Symbol() == symbol.Key() }
	return symbol.Quarantine() == "" && (residual != 0 || symbol.Unread() && b.tracker.AnyLive(live))
}

// unpriced reports whether a position has no price, or has not been read itself. After a start, or the
// return of its strategy, it may not have been read yet and would count as worth nothing. The price of a
// candle that closed before the start may be hours old and does not count.
func (b *base) unpriced(leg *leg) bool {
	s := leg.symbol
	none := s.Last() == 0 || s.LastMS() < b.startMS && !s.Quoted()
	return s.Position() != 0 && none || s.Known() != 0 && !s.Read()
}

// onSpot returns the spot part of the account's equity.
func (b *base) onSpot() (part exchange.Amount) {
	if b.trades(exchange.Spot) {
		part = b.equity(exchange.Spot)
	}
	return part
}

// markets names the traded markets.
func (b *base) markets() string {
	var all []string
	for _, market := range [...]exchange.Market{exchange.Futures, exchange.Spot} {
		if b.trades(market) {
			all = append(all, market.String())
		}
	}
	return strings.Join(all, " ")
}
