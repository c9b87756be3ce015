package reconcile

import (
	"strconv"

	"botd/exchange"
	"botd/reconcile/placement"
)

// Two botds with one strategy send the same order in the same moment. Where the lists of an exchange omit client order ids, each would take the
// other's for its own, executed twice, and would sell or cancel what is not its own. On such an exchange the amount of a spot purchase, and the
// limit of a sale through the collar, carry a mark of their start: some ticks, drawn by the random part of its ids.

const (
	markShare    = 1_000 // the largest mark, as a share of the price
	markCollar   = 10    // and of the collar
	markNotional = 4     // and what it costs a purchase, as a share of the minimum notional: the target still counts as reached
)

// mark returns a number of ticks up to a price. It is zero where lists show ids, and in a backtest, whose random part is zero.
func mark(s *situation, most exchange.Price) exchange.Price {
	rules := s.symbol.rules
	if most < rules.PriceTick || rules.Market != exchange.Spot || !s.book.omitsIDs() {
		return 0
	}
	return markOf(s.book.Start(), rules, most)
}

// markOf returns a start's mark up to a price. Of two starts, the same one has the smaller mark, whatever the price.
func markOf(start placement.Start, rules *exchange.Symbol, most exchange.Price) exchange.Price {
	number, err := strconv.ParseInt(start.Random, 36, 64)
	if err != nil {
		return 0 // of an older botd
	}
	return exchange.Price(number*int64(most/rules.PriceTick+1)/randomParts) * rules.PriceTick
}

// randomParts is the number of random parts.
const randomParts = 36 * 36 * 36 * 36 * 36

// purchaseMark returns by how much the price is lowered by which the amount of a purchase is computed. A purchase of the minimum notional has no
// room for a mark, and a large one little.
func purchaseMark(s *situation, quantity exchange.Quantity) exchange.Price {
	rules, last := s.symbol.rules, s.symbol.last
	room := rules.Notional(last, quantity).Sub(rules.MinNotional).Min(rules.MinNotional.Div(markNotional))
	return mark(s, min(last/markShare, rules.PriceOf(rules.AverageCost(room, quantity))))
}

// saleMark returns by how much the limit of a sale is raised.
func saleMark(s *situation, limit exchange.Price) exchange.Price {
	return mark(s, mostSaleMark(limit, s.desired.Collar))
}

func mostSaleMark(limit exchange.Price, collar exchange.Rate) exchange.Price {
	return min(limit/markShare, limit.Share(collar/markCollar))
}
