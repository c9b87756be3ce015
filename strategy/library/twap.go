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
	Jitter   decimal.Decimal `param:"jitter" default:"0" min:"0" max:"1" help:"random delay of each slice, up to this share of every"`
	Bound    decimal.Decimal `param:"price_bound" default:"0" min:"0" help:"buy nothing above this price, sell nothing below it; 0 for none"`
}

// twap reaches a quantity in equal slices, one each interval, then holds (time-weighted average
// price). Its target follows from its remembered start: through any number of restarts it reaches
// exactly that quantity. After a pause, a halt or downtime it catches up one slice (or catch_up
// slices) per tick, counted from what it holds and has in flight.
//
// While the price is beyond price_bound it adds nothing, and catches up afterwards. With jitter
// each slice is delayed by a share of the interval, drawn from the start and the slice's number, so
// a restart draws the same delay. Slices are market orders, or, with entry, limit or post-only
// orders with patience.
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
				return nil, &strategy.ValueError{Parameter: "side", Err: fmt.Errorf("sell would need a short position, which spot does not support")}
			}
			bound, err := setting.Symbol.Price(p.Bound)
			if err != nil {
				return nil, &strategy.ValueError{Parameter: "price_bound", Err: err}
			}
			return &slicing{bound: bound, jitter: p.Jitter.InexactFloat64(),
				sign: exchange.Quantity(p.Side.Sign()), quantity: quantity, slices: int64(p.Slices),
				everyMS: p.Every.Milliseconds(), step: exchange.Quantity(stepOf(&setting, p.Every.Milliseconds()))}, nil
		})
}

type slicing struct {
	sign, quantity exchange.Quantity
	slices         int64
	everyMS        int64
	step           exchange.Quantity // slices that one tick can add
	bound          exchange.Price    // price beyond which nothing is added; 0 for none
	jitter         float64           // share of everyMS
}

// due returns the number of due slices and the time of the next one.
func (s *slicing) due(begin, nowMS int64) (count, nextMS int64) {
	whole := max(0, nowMS-begin) / s.everyMS
	if nextMS = begin + whole*s.everyMS + s.delayMS(begin, whole); nextMS <= nowMS {
		whole++
		nextMS = begin + whole*s.everyMS + s.delayMS(begin, whole)
	}
	return min(s.slices, whole), nextMS
}

// delayMS returns the delay of a slice, drawn from the start and the slice's number.
func (s *slicing) delayMS(begin, slice int64) int64 {
	if s.jitter == 0 {
		return 0
	}
	const parts = 1 << 20
	drawn := float64(float64(uint64(fingerprint(fmt.Sprint(begin, slice)))%parts) / parts)
	return int64(drawn * s.jitter * float64(s.everyMS))
}

// outside reports whether the price is beyond the bound.
func (s *slicing) outside(last exchange.Price) bool {
	return s.bound > 0 && exchange.Price(s.sign)*(last-s.bound) > 0
}

// stepOf returns the number of slices that one tick can add: those that fall due between two
// regular ticks, or the configured catch_up.
func stepOf(setting *strategy.Setting, everyMS int64) int64 {
	return max(1, int64(setting.CatchUp), (setting.TickMS+everyMS-1)/everyMS)
}

// outstanding returns the position plus the quantity that the strategy's own entries may still
// fill, in the direction of a sign. A market order for an amount of money counts as one slice if no
// price is known.
func outstanding(view *strategy.View, sign, slice exchange.Quantity) exchange.Quantity {
	all := view.Position.Quantity * sign
	for i := range view.Working {
		o := &view.Working[i]
		switch {
		case o.Key != "" || o.StopPrice != 0:
		case o.Quantity == 0 && exchange.Quantity(o.Side.Sign()) == sign:
			all += max(0, slice-o.Filled) // its filled part is already held
		default:
			all += max(0, o.Quantity-o.Filled) * exchange.Quantity(o.Side.Sign()) * sign
		}
	}
	return max(0, all)
}

// paced bounds a target so that one tick adds at most a step to the outstanding quantity. A step is
// at least the minimum order by the exchange's current rules, and on spot leaves room for fees.
func paced(view *strategy.View, sign, target, slice, step exchange.Quantity) exchange.Quantity {
	symbol := view.Symbol
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
	// The product could exceed 64 bits for a very large quantity, so divide first.
	target := s.quantity/count*exchange.Quantity(due) + s.quantity%count*exchange.Quantity(due)/count
	slice, reason := (s.quantity-1)/count+1, "the slices due by now"
	if pace := paced(view, s.sign, target, slice, slice*min(s.step, count)); pace < target {
		target, reason = pace, "catches up with the slices due by now"
	}
	if s.outside(view.Last) {
		target, reason = min(target, max(0, view.Position.Quantity*s.sign)), "waits: the price is beyond price_bound"
	}
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: s.sign * view.Symbol.FloorQuantity(target)}, reason)
}
