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
}

// twap reaches a quantity in equal slices, one each interval, then holds (time-weighted average
// price). Its target follows from its remembered start: through any number of restarts it reaches
// exactly the quantity, and after a pause it catches up.
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
			return &slicing{symbol: setting.Symbol, sign: exchange.Quantity(p.Side.Sign()), quantity: quantity, slices: int64(p.Slices),
				everyMS: p.Every.Milliseconds()}, nil
		})
}

type slicing struct {
	symbol         *exchange.Symbol
	sign, quantity exchange.Quantity
	slices         int64
	everyMS        int64
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
	due := min(s.slices, max(0, view.NowMS-begin)/s.everyMS+1)
	target := s.quantity
	if due < s.slices {
		// The product could exceed 64 bits for a very large quantity: divide first.
		target = s.quantity/exchange.Quantity(s.slices)*exchange.Quantity(due) +
			s.quantity%exchange.Quantity(s.slices)*exchange.Quantity(due)/exchange.Quantity(s.slices)
	}
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: s.sign * s.symbol.FloorQuantity(target)}, "the slices due by now")
}
