package library

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

type dcaParams struct {
	Amount     decimal.Decimal `param:"amount" min:"0" help:"USDT of each buy"`
	Every      time.Duration   `param:"every" default:"24h" min:"1s" help:"time between two buys"`
	Buys       int             `param:"buys" default:"0" min:"0" max:"1000000" help:"maximum number of buys by the clock; 0 is unlimited"`
	Fall       decimal.Decimal `param:"fall" default:"0" min:"0" max:"0.9" help:"buy once more when the price is this far below the last buy; 0 never"`
	Falls      int             `param:"falls" default:"5" min:"0" max:"1000" help:"maximum number of buys on falls, until everything is sold"`
	Scale      decimal.Decimal `param:"scale" default:"1" min:"1" max:"10" help:"factor from each buy on a fall to the next"`
	TakeProfit decimal.Decimal `param:"take_profit" default:"0" min:"0" max:"100" help:"sell everything this far above the mean price, and start anew; 0 never"`
}

// dca buys for the same amount again and again (dollar-cost averaging): by the clock and, if
// configured, once more each time the price has fallen by a share. Its target follows from its
// memory, so restarts neither skip nor repeat a buy. What it could not buy during a halt it buys
// afterwards, one buy (or catch_up buys) a tick.
//
// It loses when the price keeps falling: the mean price follows slowly, and buys on falls put most
// money in where it falls the longest.
func dca() strategy.Definition {
	return strategy.Define("dca", "buys for equal amounts by the clock and on falls, and can sell all above the mean price",
		func(setting strategy.Setting, p dcaParams) (strategy.Strategy, error) {
			amount, err := exchange.AmountFromDecimal(p.Amount)
			if err != nil || amount.Sign() <= 0 || amount.Less(setting.Symbol.MinNotional) {
				return nil, &strategy.ValueError{Parameter: "amount", Err: fmt.Errorf("%s USDT is less than minNotional %s (%s)", p.Amount,
					setting.Symbol.MinNotional, setting.Symbol.Name)}
			}
			fall, err := exchange.RateFromDecimal(p.Fall)
			if err != nil {
				return nil, &strategy.ValueError{Parameter: "fall", Err: err}
			}
			profit, err := exchange.RateFromDecimal(p.TakeProfit)
			if err != nil {
				return nil, &strategy.ValueError{Parameter: "take_profit", Err: err}
			}
			scale, err := exchange.RateFromDecimal(p.Scale)
			if err != nil {
				return nil, &strategy.ValueError{Parameter: "scale", Err: err}
			}
			return &averaging{symbol: setting.Symbol, amount: amount, everyMS: p.Every.Milliseconds(), buys: int64(p.Buys), fall: fall,
				falls: int64(p.Falls), scale: scale, profit: profit,
				step: int64(max(1, setting.CatchUp))}, nil
		})
}

type averaging struct {
	symbol       *exchange.Symbol
	amount       exchange.Amount
	everyMS      int64
	buys, falls  int64
	fall, profit exchange.Rate
	scale        exchange.Rate
	step         int64 // buys that one tick may add
}

// Memory keys.
const (
	dcaBegan    = "begin_ms" // when it started, or started anew
	dcaBought   = "bought"   // buys by the clock since then
	dcaFallen   = "fallen"   // buys on falls since then
	dcaQuantity = "quantity" // the target, in the symbol's units
	dcaPrice    = "price"    // of the last buy, in the symbol's units
	dcaSpent    = "spent"    // for the target, in hundred-millionths of a USDT
	dcaSelling  = "selling"  // 1 until the position is sold
)

var hundredMillionth = exchange.MustAmount("0.00000001")

func (*averaging) Warmup() int           { return 1 }
func (*averaging) Candle(*strategy.View) {}

func (a *averaging) Decide(view *strategy.View, plan *strategy.Plan) {
	at := func(key string) int64 { n, _ := view.Memory.Get(key); return n }
	if at(dcaSelling) != 0 {
		a.sell(view, plan)
		return
	}
	if a.profit > 0 && view.Position.Quantity > 0 && view.Position.Quantity >= exchange.Quantity(at(dcaQuantity))/2 {
		mean := a.mean(view, at(dcaSpent), exchange.Quantity(at(dcaQuantity)))
		if goal := mean.Add(mean.MulRate(a.profit)); !a.symbol.PriceAmount(view.Last).Less(goal) {
			plan.Remember(dcaSelling, 1)
			plan.Hold(strategy.Flat(), "the price is above the mean by the take-profit")
			return
		}
	}
	begin, begun := view.Memory.Get(dcaBegan)
	if !begun {
		begin = view.NowMS
		plan.Remember(dcaBegan, begin)
	}
	due := max(0, view.NowMS-begin)/a.everyMS + 1
	if a.buys > 0 {
		due = min(due, a.buys)
	}
	quantity, reason := exchange.Quantity(at(dcaQuantity)), "holds what was bought"
	buy := func(amount exchange.Amount, why string) {
		more := a.symbol.FloorQuantity(a.symbol.QuantityFor(amount, view.Last))
		quantity += more
		plan.Remember(dcaQuantity, int64(quantity))
		plan.Remember(dcaSpent, at(dcaSpent)+a.symbol.Notional(view.Last, more).Quo(hundredMillionth))
		plan.Remember(dcaPrice, int64(view.Last))
		reason = why
	}
	switch {
	case due > at(dcaBought):
		// Missed buys are not made up for: one buy is due.
		plan.Remember(dcaBought, due)
		buy(a.amount, "a buy is due by the clock")
	case a.fall > 0 && at(dcaFallen) < a.falls && a.fallen(view.Last, exchange.Price(at(dcaPrice))):
		plan.Remember(dcaFallen, at(dcaFallen)+1)
		buy(a.larger(at(dcaFallen)+1), "the price fell below the last buy")
	}
	largest := a.symbol.QuantityFor(a.larger(min(at(dcaFallen)+1, a.falls)), view.Last) + a.symbol.QuantityTick
	if pace := a.symbol.FloorQuantity(paced(a.symbol, view, 1, quantity, largest, largest*exchange.Quantity(a.step))); pace < quantity {
		quantity, reason = pace, "catches up with what is due"
	}
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: quantity}, reason)
}

// mean returns the mean price paid: on futures the exchange's entry price, on spot, which has none,
// from what was spent.
func (a *averaging) mean(view *strategy.View, spent int64, quantity exchange.Quantity) exchange.Amount {
	if !view.Position.EntryPrice.IsZero() || quantity == 0 {
		return view.Position.EntryPrice
	}
	return a.symbol.AverageCost(hundredMillionth.Mul(spent), quantity)
}

// sell waits until the position is sold, then starts anew.
func (a *averaging) sell(view *strategy.View, plan *strategy.Plan) {
	plan.Hold(strategy.Flat(), "sells everything above the mean")
	if view.Position.Quantity >= a.symbol.QuantityTick && !a.dust(view) {
		return
	}
	for _, key := range []string{dcaSelling, dcaBought, dcaFallen, dcaQuantity, dcaPrice, dcaSpent} {
		plan.Remember(key, 0)
	}
	plan.Remember(dcaBegan, view.NowMS)
}

// dust reports a rest too small to sell.
func (a *averaging) dust(view *strategy.View) bool {
	return a.symbol.Notional(view.Last, view.Position.Quantity).Less(a.symbol.MinNotional)
}

func (a *averaging) fallen(last, bought exchange.Price) bool {
	if bought == 0 {
		return false
	}
	price := a.symbol.PriceAmount(bought)
	return !price.Sub(price.MulRate(a.fall)).Less(a.symbol.PriceAmount(last))
}

// larger returns the amount of the n-th buy on a fall.
func (a *averaging) larger(n int64) exchange.Amount {
	amount := a.amount
	for range min(n, 100) {
		if a.scale > exchange.RateOne {
			amount = amount.MulRate(a.scale)
		}
	}
	return amount
}
