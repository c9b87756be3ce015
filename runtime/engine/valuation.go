package engine

import (
	"strings"

	"botd/exchange"
)

// equity is what sizes and limits are shares of. Futures: wallet plus
// unrealised, marked at the last prices. Spot: USDT plus what was bought, at
// the last prices.
func (b *base) equity(market exchange.Market) exchange.Amount {
	if market == exchange.Futures {
		return b.book.Marked()
	}
	var total exchange.Amount
	quote := ""
	for _, leg := range b.legs {
		if leg.symbol.Key().Market != exchange.Spot {
			continue
		}
		if leg.config.Symbol.Quote != quote {
			quote = leg.config.Symbol.Quote
			balance := b.book.Balance(quote)
			total = total.Add(balance.Free).Add(balance.Frozen)
		}
		total = total.Add(leg.config.Symbol.Notional(leg.symbol.Last, leg.symbol.Position))
	}
	return total
}

// total is the equity of all markets traded, and whether it is known.
func (b *base) total() (total exchange.Amount, known bool) {
	futures, spot := b.trades(exchange.Futures), b.trades(exchange.Spot)
	if futures && b.book.AccountMS == 0 || spot && b.book.WalletMS == 0 || !futures && !spot {
		return total, false
	}
	if futures {
		total = b.equity(exchange.Futures)
	}
	if spot {
		total = total.Add(b.equity(exchange.Spot))
	}
	return total, true
}

// own returns a strategy's equity: what the account had when the strategy was first
// watched, plus what the strategy made since.
func (b *base) own(leg *leg) exchange.Amount {
	result := b.book.Watch(leg.config.Name).Result()
	return result.Base.Add(result.Result).Add(b.worth(leg))
}

// worth is what a strategy's position adds to its result: on spot its value, on futures what it has made.
func (b *base) worth(leg *leg) (worth exchange.Amount) {
	symbol := leg.symbol
	held, entry, at := symbol.Position, symbol.EntryPrice, symbol.AtVenue()
	switch {
	case symbol.Ignored() != 0: // the exchange's one position has a foreign part: the strategy's is what its fills made
		held = symbol.Known()
	case leg.waits && !leg.entry.IsZero(): // what it has closed since has brought nothing yet: it counts as still held
		held, entry = b.book.Watch(leg.config.Name).Result().Position, leg.entry
		at = held
	}
	if held == 0 || symbol.Rules == nil || at == 0 {
		return worth
	}
	paid := symbol.Rules.Cost(entry, held) // 0 on spot: there the result has what was paid
	return symbol.Rules.Notional(symbol.Price(), held).Sub(paid)
}

// onSpot returns the part of the account's equity that is on spot.
func (b *base) onSpot() (part exchange.Amount) {
	if b.trades(exchange.Spot) {
		part = b.equity(exchange.Spot)
	}
	return part
}

// markets names the markets traded.
func (b *base) markets() string {
	var all []string
	for _, market := range [...]exchange.Market{exchange.Futures, exchange.Spot} {
		if b.trades(market) {
			all = append(all, market.String())
		}
	}
	return strings.Join(all, " ")
}
