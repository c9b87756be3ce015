package view

import (
	"cmp"
	"slices"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/runtime/engine"
)

// Holding is what an account has of an asset.
type Holding struct {
	Asset    string  `json:"asset"`
	Quantity Decimal `json:"quantity"`
}

// uncounted is what the spot wallet holds beyond equity: equity counts the asset
// that is paid with and what botd bought, not what was there before. It is known
// once the wallet was read, which it is where something is traded on spot.
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
	for i := range s.Strategies { // a quote is counted whole, and is no other symbol's base then
		if t := &s.Strategies[i]; t.Symbol.Market == exchange.Spot {
			delete(left, t.Symbol.Quote)
		}
	}
	all := []Holding{}
	for asset, quantity := range left {
		if quantity.IsPositive() && quantity.GreaterThanOrEqual(step[asset]) { // less is what a fee left of an order
			all = append(all, Holding{asset, quantity.String()})
		}
	}
	slices.SortFunc(all, func(a, b Holding) int { return cmp.Compare(a.Asset, b.Asset) })
	return all
}
