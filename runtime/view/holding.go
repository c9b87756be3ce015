package view

import (
	"cmp"
	"slices"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/runtime/engine"
)

// Holding is a quantity of an asset.
type Holding struct {
	Asset    string  `json:"asset"`
	Quantity Decimal `json:"quantity"`
}

// uncounted lists the assets of the spot wallet outside equity: equity counts the quote asset and
// botd's purchases, not the earlier balance. The list is known once the wallet was fetched, which
// happens only if a strategy trades on spot.
func uncounted(s *engine.Status) []Holding {
	left, step := map[string]decimal.Decimal{}, map[string]decimal.Decimal{}
	for _, balance := range s.Balances {
		left[balance.Asset] = balance.Free.Add(balance.Frozen).Decimal()
	}
	for i := range s.Strategies {
		if t := &s.Strategies[i]; t.Symbol.Market == exchange.Spot {
			left[t.Symbol.Base] = left[t.Symbol.Base].Sub(t.Symbol.QuantityDecimal(t.Position))
			step[t.Symbol.Base] = t.Symbol.QuantityDecimal(t.Symbol.QuantityTick)
		}
	}
	for i := range s.Strategies { // all of a quote asset counts, although another symbol may have it as its base
		if t := &s.Strategies[i]; t.Symbol.Market == exchange.Spot {
			delete(left, t.Symbol.Quote)
		}
	}
	all := []Holding{}
	for asset, quantity := range left {
		if quantity.IsPositive() && quantity.GreaterThanOrEqual(step[asset]) { // a smaller quantity is an order's remainder after its fee
			all = append(all, Holding{asset, quantity.String()})
		}
	}
	slices.SortFunc(all, func(a, b Holding) int { return cmp.Compare(a.Asset, b.Asset) })
	return all
}
