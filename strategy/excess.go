package strategy

import (
	"fmt"

	"botd/exchange"
)

// Bounds of a wish. Past them a strategy has divided by next to nothing, or mixed up
// units: no account has as much, and money is counted exactly up to 8.5e19 only.
var mostWorth = exchange.AmountOf(1_000_000_000_000) // USDT, of one wish

// mostShare of the account's equity, a million times it.
const mostShare = 1_000_000 * exchange.RateOne

// mostWishes are the orders of one plan.
const mostWishes = 10_000

// Excess says what of a plan is past all bounds, empty for none: what is derived from
// it could not be counted. A wish is valued at its own prices, or the last one.
func (p *Plan) Excess(symbol *exchange.Symbol, last exchange.Price) string {
	t := p.Target
	switch {
	case t.Share > mostShare || t.Share < -mostShare:
		return fmt.Sprintf("a target of %s times the equity is past all bounds", t.Share)
	case mostWorth.Less(t.Quote.Abs()):
		return fmt.Sprintf("a target of %s USDT is past all bounds (%s)", t.Quote, mostWorth)
	case len(p.Orders)+len(p.Exits) > mostWishes:
		return fmt.Sprintf("%d orders are wished at once; at most %d", len(p.Orders)+len(p.Exits), mostWishes)
	}
	if _, fits := symbol.Worth(max(last, 1), t.Quantity, mostWorth); !fits {
		return beyond("a target", symbol, t.Quantity, last)
	}
	for _, wishes := range [...][]Wish{p.Orders, p.Exits} {
		for i := range wishes {
			w := &wishes[i]
			at := max(w.Price, w.StopPrice, last, 1)
			if _, fits := symbol.Worth(at, w.Quantity, mostWorth); !fits {
				return beyond(fmt.Sprintf("order %q", w.Key), symbol, w.Quantity, at)
			}
		}
	}
	return ""
}

func beyond(what string, symbol *exchange.Symbol, quantity exchange.Quantity, price exchange.Price) string {
	return fmt.Sprintf("%s of %s %s at %s is past all bounds: worth more than %s USDT", what, symbol.QuantityDecimal(quantity), symbol.Name, symbol.PriceDecimal(price), mostWorth)
}
