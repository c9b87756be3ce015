package library

import (
	"fmt"
	"math"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

type dcaParams struct {
	Amount     decimal.Decimal `param:"amount" min:"0" help:"USDT of each buy"`
	Every      time.Duration   `param:"every" default:"24h" min:"1s" help:"time between two buys"`
	Buys       int             `param:"buys" default:"0" min:"0" max:"1000000" help:"maximum number of scheduled buys; 0 is unlimited"`
	Fall       decimal.Decimal `param:"fall" default:"0" min:"0" max:"0.9" help:"buy once more when the price is this far below the last buy; 0 never"`
	Falls      int             `param:"falls" default:"5" min:"0" max:"1000" help:"maximum number of buys on dips, until everything is sold"`
	Scale      decimal.Decimal `param:"scale" default:"1" min:"1" max:"10" help:"factor from each buy on a dip to the next"`
	StepScale  decimal.Decimal `param:"step_scale" default:"1" min:"0.5" max:"5" help:"factor from the distance of each buy on a dip to that of the next"`
	TakeProfit decimal.Decimal `param:"take_profit" default:"0" min:"0" max:"100" help:"sell everything at this profit after fees, and start over; 0 never"`
}

// dca buys for the same amount repeatedly (dollar-cost averaging): by the clock and, if configured,
// once more each time the price has fallen by a share. Its memory depends on fills: a refused buy
// does not count and is not repeated. Buys that fell due during a halt follow afterwards, one at a
// time (or catch_up at a time).
//
// Buys on dips are the safety orders of 3Commas: the n-th is for amount x scale^n (volume scale),
// when the price is fall x step_scale^(n-1) below the last buy (deviation and its step scale). It
// sells everything at the mean price paid, plus take_profit, plus the fees of both directions.
//
// It loses when the price keeps falling: the mean price follows slowly, and buys on dips invest
// most where the fall lasts longest.
func dca() strategy.Definition {
	return strategy.Define("dca", "buys equal amounts on a schedule and more on dips, and can sell everything above the mean price",
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
			stepScale, err := exchange.RateFromDecimal(p.StepScale)
			if err != nil {
				return nil, &strategy.ValueError{Parameter: "step_scale", Err: err}
			}
			if deepest := float64(fall.Float() * math.Pow(stepScale.Float(), float64(max(0, p.Falls-1)))); deepest >= 1 {
				return nil, &strategy.ValueError{Parameter: "step_scale", Err: fmt.Errorf("%s: the last of %d dips would be one of %.3g %%", p.StepScale,
					p.Falls, 100*deepest)}
			}
			if most := float64(amount.Float() * math.Pow(scale.Float(), float64(p.Falls))); fall > 0 && most > setting.Symbol.MaxNotional.Float() {
				return nil, &strategy.ValueError{Parameter: "falls", Err: fmt.Errorf("%d with scale %s: the last buy would be for %.3g USDT, "+
					"more than maxNotional %s (%s)", p.Falls, p.Scale, most, setting.Symbol.MaxNotional, setting.Symbol.Name)}
			}
			return &averaging{symbol: setting.Symbol, amount: amount, everyMS: p.Every.Milliseconds(), buys: int64(p.Buys), fall: fall,
				falls: int64(p.Falls), scale: scale, stepScale: stepScale, profit: profit, fees: max(0, 2*setting.Fees.Taker),
				pace: int64(max(1, setting.CatchUp))}, nil
		})
}

type averaging struct {
	symbol       *exchange.Symbol
	amount       exchange.Amount
	everyMS      int64
	buys, falls  int64
	fall, profit exchange.Rate
	scale        exchange.Rate
	stepScale    exchange.Rate // fees of buying and selling
	fees         exchange.Rate // of buying and selling
	pace         int64         // maximum number of buys in one order
}

// Memory keys.
const (
	dcaBegan    = "begin_ms"  // when the strategy started or started over
	dcaBought   = "bought"    // buys by the clock that fell due since then
	dcaFallen   = "fallen"    // buys on dips since then
	dcaQuantity = "quantity"  // filled quantity, in the symbol's units
	dcaPrice    = "price"     // of the last buy, in the symbol's units
	dcaSpent    = "spent"     // for the quantity, in hundred-millionths of a USDT
	dcaSelling  = "selling"   // 1 until the position is sold
	dcaDue      = "owed"      // buys by the clock that are due but not requested, because another buy is under way
	dcaPending  = "pending"   // of a requested buy that has not filled yet, in the symbol's units
	dcaFalling  = "falling"   // 1 while the pending buy is one on a dip
	dcaRefused  = "refused"   // number of the newest buy by the clock at the time of a refusal
	dcaSignal   = "signal_ms" // when a buy was last requested
)

var hundredMillionth = exchange.MustAmount("0.00000001")

func (*averaging) Warmup() int           { return 1 }
func (*averaging) Candle(*strategy.View) {}

// Economics returns the take-profit, if there is one. It is computed after fees.
func (a *averaging) Economics() (strategy.Economics, bool) {
	return strategy.Economics{What: "selling at the take-profit", Gross: a.profit + a.fees, Takers: 2}, a.profit > 0
}

// Watches subscribes to fills and refusals.
func (*averaging) Watches() strategy.Watching { return strategy.Watching{Events: true} }

// averagingTurn is the input and the memory of one decision of an averaging strategy.
type averagingTurn struct {
	*averaging
	strategy.Decision
}

func (s *averaging) Decide(view *strategy.View, plan *strategy.Plan) {
	a := &averagingTurn{s, strategy.Decision{View: view, Plan: plan}}
	a.happened()
	if a.Recall(dcaSelling) != 0 {
		a.sell()
		return
	}
	if a.takeProfitReached() {
		a.Remember(dcaSelling, 1)
		plan.Hold(strategy.Flat(), "the price is above the mean by the take-profit")
		return
	}
	reason := a.buy()
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: exchange.Quantity(a.Recall(dcaQuantity) + a.Recall(dcaPending))}, reason)
	plan.SignalMS = a.Recall(dcaSignal)
}

// happened applies the events of the last buy.
func (a *averagingTurn) happened() {
	for i := range a.View.Events {
		switch e := &a.View.Events[i]; {
		case e.Kind == strategy.EventFilled && e.Reduces: // also by a target, or when its configuration returns
			a.keep(exchange.Quantity(a.Recall(dcaQuantity)) - e.Quantity)
		case e.Key != "":
		case e.Kind == strategy.EventFilled && e.Side == exchange.Buy:
			a.filled(e)
		case e.Kind == strategy.EventFilled, e.Kind == strategy.EventStopped, e.Kind == strategy.EventTookProfit:
			a.keep(exchange.Quantity(a.Recall(dcaQuantity)) - e.Quantity)
		case e.Kind == strategy.EventLatched: // whatever ended the order: a position that is gone was not bought
			a.keep(min(exchange.Quantity(a.Recall(dcaQuantity)), a.View.Position.Quantity))
		case e.Kind == strategy.EventRefused && !e.Reduces:
			a.Remember(dcaRefused, a.Recall(dcaBought))
			a.Remember(dcaPending, 0)
			a.Remember(dcaDue, 0)
		case e.Kind == strategy.EventCanceled && !e.Reduces:
			a.Remember(dcaPending, 0)
		}
	}
}

// filled applies the fill of a buy.
func (a *averagingTurn) filled(e *strategy.Event) {
	paid := a.symbol.Notional(exchange.Price(a.Recall(dcaPrice)), e.Quantity)
	if !e.Price.IsZero() {
		price := a.symbol.PriceOf(e.Price)
		paid = a.symbol.Notional(price, e.Quantity)
		a.Remember(dcaPrice, int64(price))
	}
	a.Remember(dcaQuantity, a.Recall(dcaQuantity)+int64(e.Quantity))
	a.Remember(dcaSpent, a.Recall(dcaSpent)+paid.Quo(hundredMillionth))
	if a.Recall(dcaFalling) != 0 {
		a.Remember(dcaFallen, a.Recall(dcaFallen)+1)
		a.Remember(dcaFalling, 0)
	}
	left := exchange.Quantity(max(0, a.Recall(dcaPending)-int64(e.Quantity)))
	if a.symbol.BelowMinimum(a.View.Last, left) {
		left = 0 // spot is bought by amount: after a price rise the quantity is smaller, and no order makes up for it
	}
	a.Remember(dcaPending, int64(left))
}

// keep records that the position is smaller.
func (a *averagingTurn) keep(quantity exchange.Quantity) {
	before := a.Recall(dcaQuantity)
	if quantity = max(0, quantity); before > 0 {
		a.Remember(dcaSpent, exchange.AmountOf(a.Recall(dcaSpent)).MulDiv(int64(quantity), before).Quo(exchange.AmountOf(1)))
	}
	if a.Remember(dcaQuantity, int64(quantity)); quantity == 0 && a.Recall(dcaSelling) == 0 {
		a.Remember(dcaFallen, 0)
		a.Remember(dcaPending, 0)
	}
}

// takeProfitReached reports whether the price is above the mean by the take-profit.
func (a *averagingTurn) takeProfitReached() bool {
	quantity := exchange.Quantity(a.Recall(dcaQuantity))
	if a.profit <= 0 || quantity <= 0 || a.View.Position.Quantity <= 0 {
		return false
	}
	mean := a.mean(a.View, a.Recall(dcaSpent), quantity)
	return !a.symbol.PriceAmount(a.View.Last).Less(mean.Add(mean.MulRate(a.profit + a.fees)))
}

// buy requests the buy that is due, if any, and returns the reason.
func (a *averagingTurn) buy() (reason string) {
	begin, begun := a.View.Memory.Get(dcaBegan)
	if !begun {
		begin = a.View.NowMS
		a.Remember(dcaBegan, begin)
	}
	due := max(0, a.View.NowMS-begin)/a.everyMS + 1
	if a.buys > 0 {
		due = min(due, a.buys)
	}
	if due > a.Recall(dcaBought) { // missed buys are not made up for: only one is due
		a.Remember(dcaBought, due)
		a.Remember(dcaDue, a.Recall(dcaDue)+1)
	}
	switch {
	case a.Recall(dcaPending) > 0:
		return "the last buy is in progress"
	case a.Recall(dcaDue) > 0:
		slices := min(a.Recall(dcaDue), a.pace)
		a.Remember(dcaDue, a.Recall(dcaDue)-slices)
		return a.ask(a.amount.Mul(slices), 0, "a scheduled buy is due")
	case a.fall > 0 && a.Recall(dcaFallen) < a.falls && due > a.Recall(dcaRefused) &&
		a.fallen(a.View.Last, exchange.Price(a.Recall(dcaPrice)), a.Recall(dcaFallen)):
		return a.ask(a.larger(a.Recall(dcaFallen)+1), 1, "the price fell below the last buy")
	}
	return "holds the position"
}

// ask remembers a requested buy and returns the reason. If the price has risen so far that the
// amount pays for less than one quantity step, ask reports it; otherwise the strategy would stop
// buying silently.
func (a *averagingTurn) ask(amount exchange.Amount, falling int64, why string) (reason string) {
	quantity := a.symbol.FloorQuantity(a.symbol.QuantityFor(amount, a.View.Last))
	if quantity == 0 {
		why = fmt.Sprintf("buys nothing: %s USDT at %s buy less than the smallest quantity, %s %s", amount, a.symbol.PriceDecimal(a.View.Last),
			a.symbol.QuantityDecimal(a.symbol.QuantityTick), a.symbol.Base)
		a.Plan.Notify(why)
	}
	a.Remember(dcaPending, int64(quantity))
	a.Remember(dcaPrice, int64(a.View.Last))
	a.Remember(dcaSignal, a.View.NowMS)
	a.Remember(dcaFalling, falling)
	return why
}

// mean returns the mean price paid: on futures the exchange's entry price, on spot the cost of the
// position, fees included.
func (a *averaging) mean(view *strategy.View, spent int64, quantity exchange.Quantity) exchange.Amount {
	if view.Symbol.Market == exchange.Futures && !view.Position.EntryPrice.IsZero() || quantity == 0 {
		return view.Position.EntryPrice
	}
	return a.symbol.AverageCost(hundredMillionth.Mul(spent), quantity)
}

// sell waits until the position is sold, then starts over.
func (a *averagingTurn) sell() {
	a.Plan.Hold(strategy.Flat(), "sells everything above the mean")
	if a.View.Position.Quantity >= a.symbol.QuantityTick && !a.dust(a.View) {
		return
	}
	for _, key := range []string{dcaSelling, dcaBought, dcaFallen, dcaQuantity, dcaPrice, dcaSpent, dcaDue, dcaPending, dcaFalling, dcaRefused} {
		a.Remember(key, 0)
	}
	a.Remember(dcaBegan, a.View.NowMS)
}

// dust reports whether the remaining position is too small to sell.
func (a *averaging) dust(view *strategy.View) bool {
	return a.symbol.BelowMinimum(view.Last, view.Position.Quantity)
}

// fallen reports whether the price has fallen far enough below the last buy for the next buy on a
// dip.
func (a *averaging) fallen(last, bought exchange.Price, falls int64) bool {
	price := a.symbol.PriceAmount(bought)
	return !price.Sub(price.MulRate(a.step(falls))).Less(a.symbol.PriceAmount(last))
}

// step returns the required fall of the price after a number of buys on dips.
func (a *averaging) step(falls int64) exchange.Rate {
	fall := exchange.AmountOf(1).MulRate(a.fall)
	for range falls {
		fall = fall.MulRate(a.stepScale)
	}
	return fall.Ratio(exchange.AmountOf(1))
}

// larger returns the amount of the n-th buy on a dip.
func (a *averaging) larger(n int64) exchange.Amount {
	amount := a.amount
	for range n {
		amount = amount.MulRate(a.scale)
	}
	return amount
}
