package script

import (
	"math"

	"go.starlark.net/starlark"

	"botd/exchange"
	"botd/strategy"
	"botd/strategy/indicator"
)

// running is one strategy built from a script.
type running struct {
	name       string
	thread     *starlark.Thread
	values     strategy.Values
	parameters []strategy.Parameter
	loading    bool // the top of the file is running
	globals    starlark.StringDict
	candle     *starlark.Function
	decide     *starlark.Function

	state   *state
	clocks  []*clock // the strategy's own candles first, then longer ones
	setting strategy.Setting
	columns []string // names of the columns that the script reads
	others  []exchange.SymbolKey
	watches strategy.Watching // attributes that the script names
	pair    exchange.SymbolKey
	trail   trail
	sized   sized
	reentry strategy.Reentry // declared
	long    bool             // the script declared that it holds no shorts
	warmup  int              // declared, or measured by rehearse
	view    *view
	args    starlark.Tuple
	printed string
	notices []string // of the decision under way
}

// clock holds the candles of one symbol and interval, and the series computed from them.
type clock struct {
	interval  exchange.Interval   // 0 for the strategy's own
	symbol    exchange.SymbolKey  // without a name: the strategy's own symbol; without a market: the strategy's market
	other     int                 // index in View.Others; -1 for the strategy's own candles
	resampler *strategy.Resampler // nil if the interval is the strategy's own
	nodes     []*node             // in order of creation: inputs precede the nodes computed from them
}

// node computes one or more series at each candle of its clock.
type node struct {
	step  func(bar *indicator.Bar)
	wrote []*series // its outputs
}

const local = "botd" // thread-local key of the running strategy

func newRunning(name string, values strategy.Values) *running {
	r := &running{name: name, values: values, loading: true, clocks: []*clock{{}}}
	r.state = newState()
	r.thread = &starlark.Thread{Name: name, Print: func(_ *starlark.Thread, text string) { r.print(text) }}
	r.thread.SetLocal(local, r)
	return r
}

func runningOf(thread *starlark.Thread) *running { return thread.Local(local).(*running) }

// print adds text to the next reason, at most one line.
func (r *running) print(text string) {
	const most = 500
	if r.printed != "" {
		r.printed += "; "
	}
	r.printed += text
	if len(r.printed) > most {
		r.printed = r.printed[:most]
	}
}

// derive makes a series that is computed at each candle of a clock.
func (r *running) derive(on *clock, name string, compute func(bar *indicator.Bar) float64) *series {
	s := r.series(on, name)
	on.nodes = append(on.nodes, &node{func(bar *indicator.Bar) { s.push(compute(bar)) }, []*series{s}})
	return s
}

// maxName bounds the name of a series, in bytes: a series of a series of a series names all of them.
const maxName = 200

// series makes a series without values.
func (r *running) series(on *clock, name string) *series {
	return &series{owner: r, on: on, name: strategy.Clip(name, maxName), held: math.NaN()}
}

// own returns the clock of the strategy's own candles.
func (r *running) own() *clock { return r.clocks[0] }

// meet returns the clock of an operation on two series: their common clock if they share one, else
// the strategy's own, on which the longer series stays unchanged in between.
func (r *running) meet(a, b *clock) *clock {
	if a == b {
		return a
	}
	return r.own()
}

// feed passes the closed candles to all series: first to those of other symbols and of longer
// intervals, then to those of the strategy's own candles. If another symbol has no candle, its
// series stay unchanged.
func (r *running) feed(v *strategy.View) {
	newest := v.Candle()
	for _, c := range r.clocks[1:] {
		c.hold()
		symbol, candle, known := v.Symbol, newest, true
		if c.other >= 0 {
			if candle, known = v.Other(c.other); known {
				symbol = v.Others[c.other].Symbol
			}
		}
		switch {
		case !known:
		case c.resampler == nil:
			c.tick(symbol, &candle)
		default:
			c.resampler.Next(candle, func(closed exchange.Candle) { c.tick(symbol, &closed) })
		}
	}
	r.own().tick(v.Symbol, &newest)
}

// hold records the newest values before the strategy's next candle.
func (c *clock) hold() {
	for _, n := range c.nodes {
		for _, s := range n.wrote {
			s.held = s.at(0)
		}
	}
}

func (c *clock) tick(s *exchange.Symbol, candle *exchange.Candle) {
	bar := indicator.Bar{Open: s.PriceFloat(candle.Open), High: s.PriceFloat(candle.High), Low: s.PriceFloat(candle.Low),
		Close: s.PriceFloat(candle.Close), Volume: candle.Volume, OpenMS: candle.OpenMS}
	for _, n := range c.nodes {
		n.step(&bar)
	}
}

// Warmup returns the script's warmup(n), or the number of candles that rehearse measured.
func (r *running) Warmup() int { return r.warmup }

// Watches returns the script's subscriptions and its pair.
func (r *running) Watches() strategy.Watching {
	w := r.watches
	w.Pair = r.pair
	return w
}

// Reentry returns the policy of the script's reentry(...).
func (r *running) Reentry() strategy.Reentry { return r.reentry }

// TakesProfit is true because a script may call plan(take_profit = ...).
func (*running) TakesProfit() bool { return true }

// Candle updates the series and calls the script's candle.
func (r *running) Candle(v *strategy.View) {
	r.feed(v)
	if r.candle == nil {
		return
	}
	r.state.writable = true
	defer func() { r.state.writable = false }()
	r.view.of = v
	r.call(r.candle)
	r.printed = ""
}

// Decide calls the script's decide. An error panics, which stops only this strategy and leaves its
// protection on the exchange.
func (r *running) Decide(v *strategy.View, plan *strategy.Plan) {
	r.view.of = v
	r.printed, r.notices = "", nil
	switch result := r.call(r.decide).(type) {
	case starlark.NoneType:
	case *result:
		result.into(plan)
	default:
		panic(sourceError(r.decide.Position(), errorf("decide returned %s; it must return hold(...), plan(...) or None", result.Type())))
	}
	for _, text := range r.notices {
		plan.Notify(text)
	}
	if r.printed != "" {
		if plan.Reason != "" {
			plan.Reason += " · "
		}
		plan.Reason += r.printed
	}
}

func (r *running) call(function *starlark.Function) starlark.Value {
	r.thread.SetMaxExecutionSteps(r.thread.ExecutionSteps() + callSteps)
	result, err := starlark.Call(r.thread, function, r.args, nil)
	if err != nil {
		panic(located(err))
	}
	return result
}

// sources makes the series of the candle itself.
func (r *running) sources(into starlark.StringDict) {
	for _, source := range priceSources {
		into[source.name] = r.derive(r.own(), source.name, source.of)
	}
}

// size returns the configured size with that sign, or the whole equity.
func (r *running) size(sign int64) strategy.Target {
	size := r.setting.Size
	if size.IsZero() {
		size = strategy.Size{Equity: exchange.RateOne}
	}
	return size.Target(sign)
}
