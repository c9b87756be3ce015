package library

import (
	"fmt"
	"math"
	"slices"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

type rebalanceParams struct {
	Weight decimal.Decimal `param:"weight" min:"0" max:"1" help:"share of the account's equity to hold in this asset, such as 40%"`
	Band   decimal.Decimal `param:"band" default:"5%" min:"0.001" max:"1" help:"how far the asset may drift, as a share of the equity, before it is rebalanced"`
}

// rebalance holds one asset at its share of the account: it sells after a rise and buys after a
// fall. A basket is one such strategy for each asset, with weights that add up to less than one;
// the rest stays in USDT. Its schedule sets how often it checks ("0 0 * * *" is once a day).
//
// It underperforms buy and hold if one asset outruns the others, and loses with the assets when all
// fall.
func rebalance() strategy.Definition {
	return strategy.Define("rebalance", "holds an asset at a constant share of the account: sells after a rise, buys after a fall",
		func(setting strategy.Setting, p rebalanceParams) (strategy.Strategy, error) {
			weight, err := exchange.RateFromDecimal(p.Weight)
			if err != nil || weight <= 0 {
				return nil, &strategy.ValueError{Parameter: "weight", Err: fmt.Errorf("%s is not a share above zero", p.Weight)}
			}
			return &rebalancing{weight: weight, band: p.Band.InexactFloat64()}, nil
		})
}

type rebalancing struct {
	weight exchange.Rate
	band   float64
}

const rebalanced = "quantity" // the quantity of the last rebalancing

func (*rebalancing) Warmup() int           { return 1 }
func (*rebalancing) Candle(*strategy.View) {}

// Weight returns the share of the account's equity that the strategy holds.
func (r *rebalancing) Weight() exchange.Rate { return r.weight }

// Watches subscribes to refusals.
func (*rebalancing) Watches() strategy.Watching { return strategy.Watching{Events: true} }

// refused reports whether the order to the target has been refused since the last decision.
func refused(view *strategy.View) bool {
	return slices.ContainsFunc(view.Events, func(e strategy.Event) bool { return e.Kind == strategy.EventRefused && e.Key == "" })
}

func (r *rebalancing) Decide(view *strategy.View, plan *strategy.Plan) {
	if view.Equity.Sign() <= 0 || view.Last <= 0 {
		return
	}
	now := view.Symbol.Notional(view.Last, view.Position.Quantity).Float() / view.Equity.Float()
	base, begun := view.Memory.Get(rebalanced)
	reason := "within its band of the account"
	// Only a quantity that was reached can have drifted. An order in flight is not repriced; a
	// refused one is.
	reached := math.Abs(float64(int64(view.Position.Quantity)-base)) <= float64(0.01*float64(base))+float64(view.Symbol.QuantityTick)
	if !begun || (reached || refused(view)) && math.Abs(now-r.weight.Float()) > r.band {
		base = int64(view.Symbol.QuantityFor(view.Equity.MulRate(r.weight), view.Last))
		plan.Remember(rebalanced, base)
		reason = fmt.Sprintf("%.1f %% of the account, target %.1f %%", 100*now, 100*r.weight.Float())
	}
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: exchange.Quantity(base)}, reason)
}
