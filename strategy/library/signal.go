package library

import (
	"errors"

	"botd/exchange"
	"botd/strategy"
	"botd/strategy/indicator"
)

// desired is the side that a signal requests on a candle.
type desired int8

const (
	unchanged desired = iota
	long
	flat
	short
)

// following is a strategy that holds the side its signal last requested: the configured size on
// either side, or nothing.
type following struct {
	warmup  int
	next    func(view *strategy.View) desired
	targets [4]strategy.Target
	reasons [4]string
	last    desired

	repeats  bool  // another signal on the current side counts as a new one
	signalMS int64 // time of the newest signal
	stays    bool  // the newest candle gave no signal
}

// follow makes a strategy from a signal. Without shorts, a sell signal only closes the long
// position.
func follow(setting strategy.Setting, mode string, warmup int, reasons [4]string, next func(view *strategy.View) desired) (strategy.Strategy, error) {
	if err := shorts(setting, mode); err != nil {
		return nil, err
	}
	size := sized(setting)
	f := &following{warmup: warmup, next: next, reasons: reasons,
		targets: [4]strategy.Target{long: size.Target(1), flat: strategy.Flat(), short: size.Target(-1)}}
	if mode != "long_short" {
		f.targets[short] = strategy.Flat()
	}
	return f, nil
}

// shorts refuses short positions on a market that has none.
func shorts(setting strategy.Setting, mode string) error {
	if mode == "long_short" && setting.Market == exchange.Spot {
		return &strategy.ValueError{Parameter: "mode", Err: errors.New("long_short needs the futures market: spot has no short positions")}
	}
	return nil
}

func (f *following) Warmup() int { return f.warmup }

func (f *following) Candle(view *strategy.View) {
	signal := f.next(view)
	f.stays = signal == unchanged || signal == f.last && !f.repeats
	if !f.stays {
		f.last, f.signalMS = signal, view.NowMS
	}
}

// Stays reports whether the newest candle gave no new signal.
func (f *following) Stays() bool { return f.stays }

func (f *following) Decide(_ *strategy.View, plan *strategy.Plan) {
	if f.last != unchanged {
		plan.Hold(f.targets[f.last], f.reasons[f.last])
		plan.SignalMS = f.signalMS
	}
}

// bar returns the view's newest candle for indicators.
func bar(view *strategy.View) indicator.Bar {
	c, s := view.Candle(), view.Symbol
	return indicator.Bar{Open: s.PriceFloat(c.Open), High: s.PriceFloat(c.High), Low: s.PriceFloat(c.Low), Close: s.PriceFloat(c.Close),
		Volume: c.Volume, OpenMS: c.OpenMS}
}

// crossing reports when a value crosses above or below zero between two consecutive candles that
// both have a value.
type crossing struct {
	before float64
	begun  bool
}

func (c *crossing) next(value float64) desired {
	before, begun := c.before, c.begun
	c.before, c.begun = value, true
	switch {
	case begun && before <= 0 && value > 0:
		return long
	case begun && before >= 0 && value < 0:
		return short
	}
	return unchanged
}
