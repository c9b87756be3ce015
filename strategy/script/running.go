package script

import (
	"go.starlark.net/starlark"

	"botd/exchange"
	"botd/strategy"
	"botd/strategy/indicator"
)

// running is one strategy made from a script.
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
	nodes   []*node // in the order they were made: an input comes before what is made of it
	setting strategy.Setting
	warmup  int // declared, or measured by begin
	view    *view
	args    starlark.Tuple
	printed string
}

// node writes one or more series at each candle.
type node struct {
	step  func(bar *indicator.Bar)
	wrote *series // one of what it writes
}

const local = "botd" // where a thread keeps its running

func newRunning(name string, values strategy.Values) *running {
	r := &running{name: name, values: values, loading: true}
	r.state = newState()
	r.thread = &starlark.Thread{Name: name, Print: func(_ *starlark.Thread, text string) { r.print(text) }}
	r.thread.SetLocal(local, r)
	return r
}

func runningOf(thread *starlark.Thread) *running { return thread.Local(local).(*running) }

// print adds to what the next reason says, at most a line's worth.
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

// derive makes a series that is computed at each candle.
func (r *running) derive(name string, compute func(bar *indicator.Bar) float64) *series {
	s := &series{owner: r, name: name}
	r.nodes = append(r.nodes, &node{func(bar *indicator.Bar) { s.push(compute(bar)) }, s})
	return s
}

// feed takes a candle into all series.
func (r *running) feed(bar *indicator.Bar) {
	for _, n := range r.nodes {
		n.step(bar)
	}
}

// Warmup is the script's warmup = N, or three times what its indicators need.
func (r *running) Warmup() int { return r.warmup }

// Candle updates the series and calls the script's candle.
func (r *running) Candle(v *strategy.View) {
	c, s := &v.Candle, v.Symbol
	bar := indicator.Bar{Open: s.PriceFloat(c.Open), High: s.PriceFloat(c.High), Low: s.PriceFloat(c.Low), Close: s.PriceFloat(c.Close),
		Volume: c.Volume, OpenMS: c.OpenMS}
	r.feed(&bar)
	if r.candle == nil {
		return
	}
	r.state.writable = true
	defer func() { r.state.writable = false }()
	r.view.of = v
	r.call(r.candle)
	r.printed = ""
}

// Decide calls the script's decide. An error is a panic, which stops this
// strategy alone and leaves its protection on the exchange.
func (r *running) Decide(v *strategy.View, plan *strategy.Plan) {
	r.view.of = v
	r.printed = ""
	switch result := r.call(r.decide).(type) {
	case starlark.NoneType:
	case *wish:
		result.into(plan)
	default:
		panic(sourceError(r.decide.Position(), errorf("decide returned a %s; it returns hold(...), plan(...) or None", result.Type())))
	}
	if r.printed != "" {
		if plan.Reason != "" {
			plan.Reason += " · "
		}
		plan.Reason += r.printed
	}
}

func (r *running) call(function *starlark.Function) starlark.Value {
	r.thread.SetMaxExecutionSteps(r.thread.ExecutionSteps() + CallSteps)
	result, err := starlark.Call(r.thread, function, r.args, nil)
	if err != nil {
		panic(located(err))
	}
	return result
}

// sources makes the series of the candle itself.
func (r *running) sources(into starlark.StringDict) {
	for _, source := range priceSources {
		into[source.name] = r.derive(source.name, source.of)
	}
}

// size is the configured size of that sign, the whole account where none is.
func (r *running) size(sign int64) strategy.Target {
	size := r.setting.Size
	if size.IsZero() {
		size = strategy.Size{Equity: exchange.RateOne}
	}
	return size.Target(sign)
}
