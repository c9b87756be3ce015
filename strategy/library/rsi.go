package library

import (
	"fmt"
	"math"

	"github.com/shopspring/decimal"

	"botd/strategy"
	"botd/strategy/indicator"
)

type rsiParams struct {
	Period int             `param:"period" default:"14" min:"2" max:"5000" help:"candles"`
	Low    decimal.Decimal `param:"low" default:"30" min:"0" max:"100" help:"enter below this value"`
	High   decimal.Decimal `param:"high" default:"70" min:"0" max:"100" help:"exit above this value"`
}

// rsi buys weakness: long on the close at which Wilder's RSI is below low, out on the close at
// which it is above high.
//
// It loses in a long fall, where it buys early and the exit never comes.
func rsi() strategy.Definition {
	return strategy.Define("rsi", "long when the relative strength index is low, flat when it is high",
		func(setting strategy.Setting, p rsiParams) (strategy.Strategy, error) {
			if p.Low.GreaterThanOrEqual(p.High) {
				return nil, &strategy.ValueError{Parameter: "low", Err: fmt.Errorf("%s is not below high %s", p.Low, p.High)}
			}
			return &rsiReversal{index: indicator.NewRSI(p.Period), warmup: p.Period + 1, last: math.NaN(), low: p.Low.InexactFloat64(),
				high: p.High.InexactFloat64(),
				long: sized(setting).Target(1)}, nil
		})
}

type rsiReversal struct {
	index     *indicator.RSI
	warmup    int
	low, high float64
	long      strategy.Target
	last      float64 // the newest index; NaN before the first
	side      int     // +1 after a low, -1 after a high, 0 before
	weak      bool    // the newest index is below low
	signalMS  int64   // time at which the index fell below low
	stays     bool    // the newest candle changed neither side nor signal
}

func (s *rsiReversal) Warmup() int { return s.warmup }

func (s *rsiReversal) Candle(view *strategy.View) {
	value, ok := s.index.Next(view.Symbol.PriceFloat(view.Close()))
	if ok = ok && !s.index.Still(); ok {
		s.last = value
	}
	side, signalMS := s.side, s.signalMS
	switch {
	case !ok:
	case value < s.low:
		if s.side = 1; !s.weak {
			s.signalMS = view.NowMS
		}
	case value > s.high:
		s.side = -1
	}
	s.weak, s.stays = ok && value < s.low, s.side == side && s.signalMS == signalMS
}

// Stays reports whether the newest candle changed neither the side nor the time of its signal.
func (s *rsiReversal) Stays() bool { return s.stays }

func (s *rsiReversal) Decide(_ *strategy.View, plan *strategy.Plan) {
	switch s.side {
	case 1:
		plan.Hold(s.long, "the index is below its low bound")
		plan.SignalMS = s.signalMS
	case -1:
		plan.Hold(strategy.Flat(), "the index is above its high bound")
	}
}
