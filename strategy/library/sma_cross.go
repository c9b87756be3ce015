package library

import (
	"botd/exchange"
	"botd/strategy"
	"botd/strategy/indicator"
)

type smaCrossParams struct {
	Fast int    `param:"fast" default:"10" min:"1" max:"5000" help:"candles of the fast average"`
	Slow int    `param:"slow" default:"50" min:"2" max:"10000" help:"candles of the slow average"`
	Mode string `param:"mode" default:"long_only" oneof:"long_only|long_short" help:"long_short: a cross below also sells short"`
}

// smaCross follows the trend: it enters on the close at which the fast simple average of closes
// crosses above the slow one, and exits on the cross below (long_only) or turns short there (long_short).
// Averages are compared exactly.
//
// It loses in a sideways market: each small swing is a cross, and every cross pays fees and gives
// back a part of the move.
func smaCross() strategy.Definition {
	return strategy.Define("sma_cross", "long while a fast simple average is above a slow one, decided at their crosses",
		func(setting strategy.Setting, p smaCrossParams) (strategy.Strategy, error) {
			if err := slower(p.Fast, p.Slow); err != nil {
				return nil, err
			}
			if err := shorts(setting, p.Mode); err != nil {
				return nil, err
			}
			s := &smaCrossing{fast: indicator.NewSMA(p.Fast), slow: indicator.NewSMA(p.Slow), warmup: p.Slow + 1}
			size := sized(setting)
			s.long, s.out = size.Target(1), strategy.Flat()
			if p.Mode == "long_short" {
				s.out = size.Target(-1)
			}
			return s, nil
		})
}

type smaCrossing struct {
	fast, slow *indicator.SMA
	warmup     int
	long, out  strategy.Target
	before     int  // comparison of fast and slow on the previous candle
	both       bool // both averages existed then
	crossed    int  // +1 above, -1 below, 0 not yet
	stays      bool // the newest candle changed nothing
}

// Warmup is one candle more than the slow average needs: a cross is between two candles.
func (s *smaCrossing) Warmup() int { return s.warmup }

func (s *smaCrossing) Candle(view *strategy.View) { s.next(view.Close()) }

// Pass takes only closes.
func (s *smaCrossing) Pass(candles *exchange.Candles, from, to int) (end int) {
	for end = from; end < to; {
		if !s.both {
			s.next(candles.Close[end])
			end++
		} else {
			taken, now := indicator.NextWhile(s.fast, s.slow, candles.Close[end:to], s.before)
			s.compared(now)
			end += taken
		}
		if !s.stays {
			return end
		}
	}
	return to
}

func (s *smaCrossing) next(price exchange.Price) {
	s.fast.Next(int64(price))
	s.slow.Next(int64(price))
	if s.slow.Ready() {
		s.compared(s.fast.Compare(s.slow))
	}
}

// compared applies the comparison of the averages after the newest candle.
func (s *smaCrossing) compared(now int) {
	crossed := s.crossed
	if s.both {
		switch {
		case s.before <= 0 && now > 0:
			s.crossed = 1
		case s.before >= 0 && now < 0:
			s.crossed = -1
		}
	}
	s.before, s.both, s.stays = now, true, s.crossed == crossed
}

// Stays reports whether the newest candle crossed to no other side.
func (s *smaCrossing) Stays() bool { return s.stays }

func (s *smaCrossing) Decide(_ *strategy.View, plan *strategy.Plan) {
	switch s.crossed {
	case 1:
		plan.Hold(s.long, "the fast average crossed above the slow one")
	case -1:
		plan.Hold(s.out, "the fast average crossed below the slow one")
	}
}
