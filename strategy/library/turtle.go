package library

import (
	"errors"
	"fmt"
	"math"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
	"botd/strategy/indicator"
)

type turtleParams struct {
	Entry    int             `param:"entry" default:"20" min:"1" max:"5000" help:"candles whose extreme must be broken to enter: 20, or 55 in System 2"`
	Exit     int             `param:"exit" default:"10" min:"1" max:"5000" help:"candles whose opposite extreme ends it: 10, or 20 in System 2"`
	Failsafe int             `param:"failsafe" default:"55" min:"0" max:"5000" help:"candles of the breakout that is taken after a skipped one; 0 skips none"`
	Period   int             `param:"period" default:"20" min:"2" max:"1000" help:"candles of N, the average true range"`
	Risk     decimal.Decimal `param:"risk" default:"1%" min:"0.00001" max:"0.2" help:"share of the equity that a unit gains or loses when the price moves by N"`
	Units    int             `param:"units" default:"4" min:"1" max:"20" help:"maximum number of units"`
	Add      decimal.Decimal `param:"add" default:"0.5" min:"0.05" max:"10" help:"distance between units, in N"`
	Stop     decimal.Decimal `param:"stop" default:"2" min:"0.1" max:"20" help:"distance of the common stop from the newest unit, in N"`
	Cap      decimal.Decimal `param:"max_notional" default:"95%" min:"0.001" max:"50" help:"maximum value of the position, as a share of the equity"`
	Mode     string          `param:"mode" default:"long_only" oneof:"long_only|long_short" help:"long_short: breaking the low sells short"`
}

// turtle trades the rules that Richard Dennis taught (C. Faith, The Original Turtle Trading Rules,
// 2003). N is Wilder's average of the true range. It enters when the price breaks the extreme of
// the previous entry candles with a unit of risk x equity / N, adds a unit each half N that the
// price advances, and stops all units 2 N behind the newest, on the exchange. It exits at the opposite
// extreme of the exit candles. A breakout is skipped if the previous one, taken or not, would have won,
// unless the longer failsafe breakout confirms it. All units use the N of the first unit's candle.
//
// The price is compared at each tick: at closes, or with a schedule of some seconds as soon as the
// price reaches it. Because it sets its own stops, protect.stop_loss adds nothing.
//
// It loses often and a little: most breakouts fail, and the few that succeed must pay for them.
func turtle() strategy.Definition {
	return strategy.Define("turtle", "the turtles' rules: breakouts, units by volatility, stops of 2 N",
		func(setting strategy.Setting, p turtleParams) (strategy.Strategy, error) {
			if err := shorts(setting, p.Mode); err != nil {
				return nil, err
			}
			if p.Failsafe != 0 && p.Failsafe <= p.Entry {
				return nil, wrongParameter("failsafe", "%d is not above entry %d; 0 skips no breakout", p.Failsafe, p.Entry)
			}
			if setting.Market == exchange.Spot && p.Cap.GreaterThan(decimal.NewFromInt(1)) {
				return nil, &strategy.ValueError{Parameter: "max_notional", Err: errors.New("spot buys only with available funds; use at most 100%")}
			}
			risk, err := exchange.RateFromDecimal(p.Risk)
			if err != nil {
				return nil, &strategy.ValueError{Parameter: "risk", Err: err}
			}
			most, err := exchange.RateFromDecimal(p.Cap)
			if err != nil {
				return nil, &strategy.ValueError{Parameter: "max_notional", Err: err}
			}
			return &turtles{symbol: setting.Symbol, risk: risk, cap: most, units: int64(p.Units), add: p.Add.InexactFloat64(),
				stop: p.Stop.InexactFloat64(), shorts: p.Mode == "long_short", warmup: max(p.Entry, p.Exit, p.Failsafe, 3*p.Period) + 1,
				trueRange: indicator.NewATR(p.Period), entry: newExtremes(p.Entry), exit: newExtremes(p.Exit), failsafe: newExtremes(p.Failsafe)}, nil
		})
}

// extremes holds the highest high and the lowest low of the candles so far, and the same without
// the newest candle.
type extremes struct {
	highs         *indicator.Highest
	lows          *indicator.Lowest
	high, low     float64
	before, under float64 // high and low without the newest candle
}

// newExtremes returns nil for a length of zero.
func newExtremes(period int) *extremes {
	if period == 0 {
		return nil
	}
	return &extremes{highs: indicator.NewHighest(period), lows: indicator.NewLowest(period)}
}

func (e *extremes) next(b *indicator.Bar) {
	if e != nil {
		e.before, e.under = e.high, e.low
		e.high, _ = e.highs.Next(b.High)
		e.low, _ = e.lows.Next(b.Low)
	}
}

// broken returns +1 above the high, -1 below the low, 0 between. A close is compared with the
// preceding candles; a price between two closes is compared with all candles.
func (e *extremes) broken(view *strategy.View) int64 {
	price, high, low := view.Symbol.PriceFloat(view.Last), e.high, e.low
	if view.NowMS <= view.Candle().OpenMS+int64(view.Interval) {
		high, low = e.before, e.under
	}
	switch {
	case price > high:
		return 1
	case price < low:
		return -1
	}
	return 0
}

type turtles struct {
	symbol                *exchange.Symbol
	risk, cap             exchange.Rate
	units                 int64
	add, stop             float64
	shorts                bool
	warmup, seen          int
	trueRange             *indicator.ATR
	n                     float64
	entry, exit, failsafe *extremes

	// The last breakout, taken or not, decides whether the next one is skipped.
	paper   int64 // its side while it is open
	paperAt float64
	paperN  float64
	won     bool
}

// Memory keys.
const (
	turtleSide     = "side"     // of the desired position: +1, -1, 0
	turtleQuantity = "quantity" // of all units
	turtleUnits    = "units"
	turtleNewest   = "newest"  // the price at which the newest unit was requested
	turtleN        = "n"       // in the symbol's units
	turtleEntered  = "entered" // 1 once a position has been seen
	turtleSignal   = "signal_ms"
)

func (t *turtles) Warmup() int { return t.warmup }

// Watches subscribes to stops and refusals.
func (*turtles) Watches() strategy.Watching { return strategy.Watching{Events: true} }

func (t *turtles) Candle(view *strategy.View) {
	b := bar(view)
	t.follow(&b)
	t.n, _ = t.trueRange.Next(b.High, b.Low, b.Close)
	t.entry.next(&b)
	t.exit.next(&b)
	t.failsafe.next(&b)
	t.seen++
}

// follow updates the last breakout: it has lost once the price is stop x N against it; otherwise it
// ends at the opposite extreme of the exit candles.
func (t *turtles) follow(b *indicator.Bar) {
	if t.failsafe == nil || t.seen < t.warmup-1 || t.n <= 0 {
		return
	}
	if t.paper != 0 {
		against, out := b.Low, t.exit.low
		if t.paper < 0 {
			against, out = b.High, t.exit.high
		}
		sign := float64(t.paper)
		switch {
		case (t.paperAt-against)*sign >= t.stop*t.paperN:
			t.paper, t.won = 0, false
		case (out-against)*sign > 0:
			t.paper, t.won = 0, (out-t.paperAt)*sign > 0
		}
		return
	}
	switch {
	case b.High > t.entry.high:
		t.paper, t.paperAt, t.paperN = 1, t.entry.high, t.n
	case b.Low < t.entry.low:
		t.paper, t.paperAt, t.paperN = -1, t.entry.low, t.n
	}
}

// turtleTurn is the input and the memory of one decision.
type turtleTurn struct {
	*turtles
	strategy.Decision
}

func (t *turtles) Decide(view *strategy.View, plan *strategy.Plan) {
	if t.seen < t.warmup || t.n <= 0 {
		return
	}
	d := &turtleTurn{t, strategy.Decision{View: view, Plan: plan}}
	d.happened()
	reason := "holds its units"
	switch side := d.Recall(turtleSide); {
	case side != 0 && t.exit.broken(view) == -side:
		d.Remember(turtleSide, 0)
		reason = "the price broke the opposite extreme"
	case side != 0 && d.grows():
		reason = fmt.Sprintf("unit %d of %d", d.Recall(turtleUnits), t.units)
	case side == 0 && view.Position.Quantity == 0:
		reason = d.enter()
	case side == 0:
		reason = "closes the position"
	}
	side := d.Recall(turtleSide)
	if side == 0 {
		plan.Hold(strategy.Flat(), reason)
		return
	}
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: exchange.Quantity(side * d.Recall(turtleQuantity))}, reason)
	plan.SignalMS = d.Recall(turtleSignal)
	away := exchange.Price(t.stop * float64(d.Recall(turtleN)))
	stop := t.symbol.FloorPrice(exchange.Price(d.Recall(turtleNewest)) - away)
	if side < 0 {
		stop = t.symbol.CeilPrice(exchange.Price(d.Recall(turtleNewest)) + away)
	}
	if stop > 0 {
		plan.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: stop}}
	}
}

// happened applies the events of the units: a stop ends all of them, and a refused unit was not
// bought.
func (t *turtleTurn) happened() {
	held := t.View.Position.Quantity.Abs()
	if held != 0 && t.Recall(turtleSide) != 0 {
		t.Remember(turtleEntered, 1)
	}
	over := held == 0 && t.Recall(turtleEntered) != 0
	for i := range t.View.Events {
		switch e := &t.View.Events[i]; e.Kind {
		case strategy.EventStopped, strategy.EventTookProfit, strategy.EventLatched:
			over = over || held == 0
		case strategy.EventRefused:
			if !e.Reduces && e.Key == "" {
				over = over || held == 0
				t.Remember(turtleQuantity, min(t.Recall(turtleQuantity), int64(held)))
			}
		}
	}
	if over {
		t.Remember(turtleSide, 0)
	}
}

// enter takes or skips a breakout and returns the reason.
func (t *turtleTurn) enter() string {
	side := t.entry.broken(t.View)
	switch {
	case side == 0 || side < 0 && !t.shorts:
		return "waits for a breakout"
	case t.failsafe != nil && t.won && t.failsafe.broken(t.View) != side:
		return "the last breakout won: this one is skipped"
	}
	n := int64(math.Round(t.n * math.Pow10(t.symbol.PriceScale)))
	t.Remember(turtleN, n)
	t.Remember(turtleQuantity, 0)
	unit := t.unit()
	if unit == 0 {
		return "a unit is less than the smallest order"
	}
	t.Remember(turtleSide, side)
	t.Remember(turtleQuantity, int64(unit))
	t.Remember(turtleUnits, 1)
	t.Remember(turtleNewest, int64(t.View.Last))
	t.Remember(turtleEntered, 0)
	t.Remember(turtleSignal, t.View.NowMS)
	return "a breakout"
}

// unit returns the quantity that gains or loses the risk share of the equity when the price moves
// by N, bounded by the value of all units, as the exchange's current rules accept it.
func (t *turtleTurn) unit() exchange.Quantity {
	symbol := t.View.Symbol
	unit := t.View.QuantityByVolatility(t.risk, exchange.Price(t.Recall(turtleN)))
	room := symbol.QuantityFor(t.View.Equity.MulRate(t.cap), t.View.Last) - exchange.Quantity(t.Recall(turtleQuantity))
	unit = symbol.FloorQuantity(max(0, min(unit, room)))
	if symbol.BelowMinimum(t.View.Last, unit) {
		return 0
	}
	return unit
}

// grows adds a unit once the price has advanced and the earlier units have filled.
func (t *turtleTurn) grows() bool {
	side, quantity := t.Recall(turtleSide), exchange.Quantity(t.Recall(turtleQuantity))
	advanced := int64(t.View.Last-exchange.Price(t.Recall(turtleNewest))) * side
	held := t.View.Position.Quantity * exchange.Quantity(side)
	if t.Recall(turtleUnits) >= t.units || float64(advanced) < t.add*float64(t.Recall(turtleN)) || held < quantity-quantity/50-t.symbol.QuantityTick {
		return false
	}
	unit := t.unit()
	if unit == 0 {
		return false
	}
	t.Remember(turtleQuantity, int64(quantity+unit))
	t.Remember(turtleUnits, t.Recall(turtleUnits)+1)
	t.Remember(turtleNewest, int64(t.View.Last))
	return true
}

// Conditions returns the breakout, N and the units.
func (t *turtles) Conditions(view *strategy.View) []strategy.Condition {
	if t.seen < t.warmup || t.n <= 0 {
		return []strategy.Condition{{Name: "N", Value: "none yet"}}
	}
	last := view.Symbol.PriceFloat(view.Last)
	units, _ := view.Memory.Get(turtleUnits)
	side, _ := view.Memory.Get(turtleSide)
	all := []strategy.Condition{
		strategy.Comparison("price", last, "above", "the highest high before", t.entry.high),
		{Name: "N", Value: strategy.Figure(t.n)},
		{Name: "the last breakout won", Value: fmt.Sprint(t.won), Requires: "false, or a longer breakout", Met: !t.won},
	}
	if t.shorts {
		all = append(all, strategy.Comparison("price", last, "below", "the lowest low before", t.entry.low))
	}
	if side != 0 {
		all = append(all, strategy.Condition{Name: "units", Value: fmt.Sprint(units), Requires: fmt.Sprint("at most ", t.units), Met: true})
	}
	return all
}
