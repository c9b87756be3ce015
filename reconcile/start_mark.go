package reconcile

import (
	"strconv"

	"botd/exchange"
	"botd/reconcile/placement"
)

// Two botds with one strategy send the same order at the same moment. If the lists of an exchange omit client order ids, each would take the other's
// order for a second execution of its own, and would sell or cancel what is not its own. On such an exchange each start therefore marks its orders: it
// shifts the amount of a spot purchase, and the limit of a sale at the collar, by some ticks derived from the random part of its ids.

const (
	markShare    = 1_000 // the largest mark is this fraction of the price (1/1000)
	markCollar   = 10    // and this fraction of the collar (1/10)
	markNotional = 4     // and its cost for a purchase is this fraction of the minimum notional (1/4), so that the target still counts as reached
)

// startMark is the mark of this start on the orders of one symbol.
type startMark struct {
	start  placement.Start
	needed bool // the spot lists omit client order ids
	rules  *exchange.Symbol
	last   exchange.Price
	collar exchange.Rate
}

func (s *inputs) startMark() startMark {
	return startMark{s.tracker.Start(), s.tracker.omitsIDs(), s.symbol.rules, s.symbol.last, s.desired.Collar}
}

// ticks returns a number of ticks between zero and a maximum. It is zero if lists show ids, and in a backtest, whose random part is zero.
func (s startMark) ticks(maxPrice exchange.Price) exchange.Price {
	if maxPrice < s.rules.PriceTick || s.rules.Market != exchange.Spot || !s.needed {
		return 0
	}
	return markOf(s.start, s.rules, maxPrice)
}

// markOf returns a start's mark up to a maximum price. Of two starts, the same one has the smaller mark whatever the maximum is.
func markOf(start placement.Start, rules *exchange.Symbol, maxPrice exchange.Price) exchange.Price {
	number, err := strconv.ParseInt(start.Random, 36, 64)
	if err != nil {
		return 0 // a start of an older version has no random part
	}
	return exchange.Price(number*int64(maxPrice/rules.PriceTick+1)/randomParts) * rules.PriceTick
}

// randomParts is the number of possible random parts.
const randomParts = 36 * 36 * 36 * 36 * 36

// purchase returns how far below the last price a purchase's amount is computed. A purchase of the minimum notional has no room for a mark, and a
// large one has little.
func (s startMark) purchase(quantity exchange.Quantity) exchange.Price {
	rules := s.rules
	room := rules.Notional(s.last, quantity).Sub(rules.MinNotional).Min(rules.MinNotional.Div(markNotional))
	return s.ticks(min(s.last/markShare, rules.PriceOf(rules.AverageCost(room, quantity))))
}

// sale returns by how much the limit of a sale is raised.
func (s startMark) sale(limit exchange.Price) exchange.Price {
	return s.ticks(maxSaleMark(limit, s.collar))
}

func maxSaleMark(limit exchange.Price, collar exchange.Rate) exchange.Price {
	return min(limit/markShare, limit.Share(collar/markCollar))
}
