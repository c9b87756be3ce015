package library

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

type twapParams struct {
	Side     exchange.Side   `param:"side" default:"buy" help:"buy builds a long position, sell a short one"`
	Quantity decimal.Decimal `param:"quantity" min:"0" help:"base currency, in total"`
	Slices   int             `param:"slices" default:"10" min:"1" max:"100000" help:"number of equal parts"`
	Every    time.Duration   `param:"every" default:"1m" min:"100ms" help:"time between two parts"`
	Jitter   decimal.Decimal `param:"jitter" default:"0" min:"0" max:"1" help:"each part comes later by up to this share of every, so that nobody foresees it"`
	Bound    decimal.Decimal `param:"price_bound" default:"0" min:"0" help:"buy nothing above this price, sell nothing below it; 0 for none"`
}

// twap reaches a quantity in equal slices, one each interval, then holds (time-weighted average
// price). Its target follows from its remembered start: through any number of restarts it reaches
// exactly the quantity. After a pause, a halt or downtime it catches up a slice (or catch_up
// slices) a tick, counted from what it holds and has in flight.
//
// While the price is beyond price_bound it adds nothing, and catches up afterwards. With jitter each
// slice is later by a share of the time between two, drawn from the start and its number: a restart
// draws the same. Slices are market orders, or as entry says: limit or post-only orders with patience.
//
// It loses when the price runs away while it is still buying.
func twap() strategy.Definition {
	return strategy.Define("twap", "reaches a quantity in equal slices over time, then holds",
		func(setting strategy.Setting, p twapParams) (strategy.Strategy, error) {
			quantity, err := setting.Symbol.Quantity(p.Quantity)
			if err != nil || !setting.Symbol.OnQuantityTick(quantity) || quantity <= 0 {
				return nil, &strategy.ValueError{Parameter: "quantity", Err: fmt.Errorf("%s is not a multiple above zero of quantityTick %s (%s)",
					p.Quantity, setting.Symbol.QuantityDecimal(setting.Symbol.QuantityTick), setting.Symbol.Name)}
			}
			if setting.Market == exchange.Spot && p.Side == exchange.Sell {
				return nil, &strategy.ValueError{Parameter: "side", Err: fmt.Errorf("sell would need a short position, which spot does not have")}
			}
			bound, err := setting.Symbol.Price(p.Bound)
			if err != nil {
				return nil, &strategy.ValueError{Parameter: "price_bound", Err: err}
			}
			return &slicing{bound: bound, jitter: p.Jitter.InexactFloat64(),
				symbol: setting.Symbol, sign: exchange.Quantity(p.Side.Sign()), quantity: quantity, slices: int64(p.Slices),
				everyMS: p.Every.Milliseconds(), step: exchange.Quantity(stepOf(&setting, p.Every.Milliseconds()))}, nil
		})
}

type slicing struct {
	symbol         *exchange.Symbol
	sign, quantity exchange.Quantity
	slices         int64
	everyMS        int64
	step           exchange.Quantity // slices that one tick may add
	bound          exchange.Price    // beyond which nothing is added; 0 for none
	jitter         float64           // share of everyMS
}

// due returns how many slices are due, and when the next one is.
func (s *slicing) due(begin, nowMS int64) (count, nextMS int64) {
	whole := max(0, nowMS-begin) / s.everyMS
	if nextMS = begin + whole*s.everyMS + s.delayMS(begin, whole); nextMS <= nowMS {
		whole++
		nextMS = begin + whole*s.everyMS + s.delayMS(begin, whole)
	}
	return min(s.slices, whole), nextMS
}

// delayMS is by how much a slice is later, drawn from the start and its number.
func (s *slicing) delayMS(begin, slice int64) int64 {
	if s.jitter == 0 {
		return 0
	}
	const parts = 1 << 20
	drawn := float64(uint64(fingerprint(fmt.Sprint(begin, slice)))%parts) / parts
	return int64(drawn * s.jitter * float64(s.everyMS))
}

// outside reports whether the price is beyond the bound.
func (s *slicing) outside(last exchange.Price) bool {
	return s.bound > 0 && exchange.Price(s.sign)*(last-s.bound) > 0
}

// stepOf is how many slices one tick may add: those that are due between two regular ticks,
// or as many as may be caught up.
func stepOf(setting *strategy.Setting, everyMS int64) int64 {
	return max(1, int64(setting.CatchUp), (setting.TickMS+everyMS-1)/everyMS)
}

// outstanding is what is held and what the strategy's own entries may still fill, in the
// direction of a sign. A market order for an amount of money counts as a slice where no price is known.
func outstanding(view *strategy.View, sign, slice exchange.Quantity) exchange.Quantity {
	all := view.Position.Quantity * sign
	for i := range view.Working {
		o := &view.Working[i]
		switch {
		case o.Key != "" || o.StopPrice != 0:
		case o.Quantity == 0 && exchange.Quantity(o.Side.Sign()) == sign:
			all += max(0, slice-o.Filled) // what it has filled is held already
		default:
			all += max(0, o.Quantity-o.Filled) * exchange.Quantity(o.Side.Sign()) * sign
		}
	}
	return max(0, all)
}

// paced bounds a target, so that one tick adds no more than a step to what is outstanding. A
// step is never less than the exchange takes as an order, and on spot has room for fees.
func paced(symbol *exchange.Symbol, view *strategy.View, sign, target, slice, step exchange.Quantity) exchange.Quantity {
	if symbol.Market == exchange.Spot {
		step += step/100 + symbol.QuantityTick
	}
	least := symbol.QuantityFor(symbol.MinNotional, view.Last)
	step = max(step, least+least/20+symbol.QuantityTick)
	return min(target, outstanding(view, sign, slice)+step)
}

const began = "begin_ms"

func (*slicing) Warmup() int           { return 0 }
func (*slicing) Candle(*strategy.View) {}

func (s *slicing) Decide(view *strategy.View, plan *strategy.Plan) {
	begin, known := view.Memory.Get(began)
	if !known {
		begin = view.NowMS
		plan.Remember(began, begin)
	}
	due, _ := s.due(begin, view.NowMS)
	count := exchange.Quantity(s.slices)
	// The product could exceed 64 bits for a very large quantity: divide first.
	target := s.quantity/count*exchange.Quantity(due) + s.quantity%count*exchange.Quantity(due)/count
	slice, reason := (s.quantity-1)/count+1, "the slices due by now"
	if pace := paced(s.symbol, view, s.sign, target, slice, slice*min(s.step, count)); pace < target {
		target, reason = pace, "catches up with the slices due by now"
	}
	if s.outside(view.Last) {
		target, reason = min(target, max(0, view.Position.Quantity*s.sign)), "waits: the price is beyond price_bound"
	}
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: s.sign * s.symbol.FloorQuantity(target)}, reason)
}
