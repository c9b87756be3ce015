package library

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

type carryParams struct {
	Enter    decimal.Decimal `param:"enter" default:"0.01%" min:"-0.01" max:"0.01" help:"funding rate at which to enter"`
	Leave    decimal.Decimal `param:"leave" default:"0%" min:"-0.01" max:"0.01" help:"funding rate below which to exit"`
	Quantity decimal.Decimal `param:"quantity" min:"0" help:"base currency held long on spot and short on futures"`
	Patience time.Duration   `param:"patience" default:"10m" min:"1s" max:"24h" help:"how long the legs may differ by more before both are closed"`
	Band     decimal.Decimal `param:"band" default:"2%" min:"0.001" max:"0.5" help:"permitted permanent difference between the legs, such as spot fees"`
}

// fundingCarry holds an asset long on spot and short on futures while shorts receive funding: what
// one leg loses by the price the other gains, and the funding remains. It is one strategy in two
// files, one for each market, with the same parameters and symbol. The futures leg decides: it goes
// short when the funding rate is at least enter and flat when it is below leave. The spot leg holds
// as much as the futures leg is short, so that an exit, a stop or a liquidation there sells it too.
// If the legs differ by more than the band for longer than patience, both close and stay closed
// until the rate falls below leave.
//
// It loses if the funding turns negative before it exits. Entries and exits cost four fees: it must
// hold a position for many payments. The futures leg can be liquidated while the spot leg's gain is
// in another wallet: keep leverage low.
func fundingCarry() strategy.Definition {
	return strategy.Define("funding_carry", "long on spot and short on futures while shorts receive funding; a file for each market",
		func(setting strategy.Setting, p carryParams) (strategy.Strategy, error) {
			s := setting.Symbol
			quantity, err := s.Quantity(p.Quantity)
			if err != nil || quantity <= 0 || !s.OnQuantityTick(quantity) {
				return nil, &strategy.ValueError{Parameter: "quantity",
					Err: fmt.Errorf("%s is not a multiple above zero of quantityTick %s (%s)", p.Quantity, s.QuantityDecimal(s.QuantityTick), s.Name)}
			}
			if p.Leave.GreaterThan(p.Enter) {
				return nil, &strategy.ValueError{Parameter: "leave", Err: fmt.Errorf("%s is above enter %s", p.Leave, p.Enter)}
			}
			c := &carry{quantity: quantity, patienceMS: p.Patience.Milliseconds(), enter: roundedRate(p.Enter), leave: roundedRate(p.Leave),
				band: s.QuantityAmount(quantity).MulRate(roundedRate(p.Band)), pair: exchange.SymbolKey{Market: exchange.Spot, Name: s.Name}}
			if setting.Market == exchange.Spot {
				c.pair.Market = exchange.Futures
				return &carrySpot{c}, nil
			}
			return &carryFutures{c}, nil
		})
}

// roundedRate returns a share rounded to the eight places of a rate.
func roundedRate(share decimal.Decimal) exchange.Rate {
	return exchange.Rate(share.Shift(8).Round(0).IntPart())
}

type carry struct {
	enter, leave exchange.Rate
	quantity     exchange.Quantity
	patienceMS   int64
	band         exchange.Amount // of the base currency
	pair         exchange.SymbolKey
}

func (*carry) Warmup() int           { return 1 }
func (*carry) Candle(*strategy.View) {}

// Memory keys of the futures leg.
const (
	carryOn      = "on"      // 1 while the carry is on, 2 while it is off because its legs differed
	carryDiffers = "differs" // time since which the legs differ, 0 while they match
)

type carryFutures struct{ *carry }

func (c *carryFutures) Watches() strategy.Watching {
	return strategy.Watching{Funding: true, Pair: c.pair}
}

func (c *carryFutures) Decide(view *strategy.View, plan *strategy.Plan) {
	if !view.Funding.Known {
		return
	}
	rate := view.Funding.Rate
	on, _ := view.Memory.Get(carryOn)
	before, since := on, c.differSince(view, on)
	switch {
	case on == 1 && since != 0 && view.NowMS-since >= c.patienceMS:
		on = 2
	case rate < c.leave:
		on = 0
	case on == 0 && rate >= c.enter:
		on = 1
	}
	if on != before {
		plan.Remember(carryOn, on)
	}
	if was, _ := view.Memory.Get(carryDiffers); was != since {
		plan.Remember(carryDiffers, since)
	}
	switch on {
	case 1:
		plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: -c.quantity}, "the funding pays for it")
	case 2:
		plan.Hold(strategy.Flat(), "the legs did not match for too long")
	default:
		plan.Hold(strategy.Flat(), "the funding does not pay for it")
	}
}

// Conditions compares the rate with its bounds, and the two legs.
func (c *carryFutures) Conditions(view *strategy.View) []strategy.Condition {
	rate := strategy.Condition{Name: "funding rate", Value: "none yet",
		Requires: "at least " + c.enter.String() + " to enter, " + c.leave.String() + " to stay"}
	if view.Funding.Known {
		rate.Value, rate.Met = view.Funding.Rate.String(), view.Funding.Rate >= c.enter
	}
	return []strategy.Condition{rate, c.legs(view)}
}

func (c *carry) legs(view *strategy.View) strategy.Condition {
	legs := strategy.Condition{Name: "the other leg", Value: "not known", Requires: "as large as this one, on the other side"}
	if view.Pair.Known {
		legs.Value = strategy.Figure(view.Pair.Symbol.QuantityFloat(view.Pair.Position)) + " beside " +
			strategy.Figure(view.Symbol.QuantityFloat(view.Position.Quantity))
		legs.Met = true
	}
	return legs
}

// Conditions compares the two legs.
func (c *carrySpot) Conditions(view *strategy.View) []strategy.Condition {
	return []strategy.Condition{c.legs(view)}
}

// differSince returns the time since which the legs differ by more than the band.
func (c *carryFutures) differSince(view *strategy.View, on int64) int64 {
	if on != 1 || !view.Pair.Known {
		return 0
	}
	short, long := view.Symbol.QuantityAmount(-view.Position.Quantity), view.Pair.Symbol.QuantityAmount(view.Pair.Position)
	if missing := view.Symbol.QuantityAmount(c.quantity).Sub(short); !c.band.Less(short.Sub(long).Abs()) && !c.band.Less(missing) {
		return 0
	}
	if since, _ := view.Memory.Get(carryDiffers); since != 0 {
		return since
	}
	return view.NowMS
}

type carrySpot struct{ *carry }

func (c *carrySpot) Watches() strategy.Watching { return strategy.Watching{Pair: c.pair} }

// Decide holds the quantity that the futures leg is short.
func (c *carrySpot) Decide(view *strategy.View, plan *strategy.Plan) {
	if !view.Pair.Known {
		return
	}
	short := max(0, -view.Pair.Position)
	// Both scales belong to the same asset.
	target := view.Symbol.FloorQuantity(view.Symbol.QuantityOf(view.Pair.Symbol.QuantityAmount(short)))
	if target == 0 {
		plan.Hold(strategy.Flat(), "the futures leg is not short")
		return
	}
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: target}, "the futures leg is short by as much")
}
