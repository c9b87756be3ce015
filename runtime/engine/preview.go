package engine

import (
	"fmt"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

// Outlook is what one strategy's next tick and the round after it would do with
// what is known now, and why. It is made without any effect.
type Outlook struct {
	Strategy string
	Kind     string
	Symbol   *exchange.Symbol
	Interval exchange.Interval
	NowMS    int64
	NextMS   int64 // the nominal time of the next tick; 0 when there is none

	Seen, Warmup int             // candles
	Candle       exchange.Candle // the newest closed one
	CandleMS     int64           // its close; 0 before the first
	Last         exchange.Price
	LastMS       int64
	Position     exchange.Quantity
	EntryPrice   exchange.Amount
	Equity       exchange.Amount // of the market's account

	Conditions []strategy.Condition
	InForce    strategy.Plan // now
	Plan       strategy.Plan // after the tick
	Changes    bool          // the tick would change the plan
	Latch      int           // the side that may not be entered
	Steps      []Foreseen
	Blocks     []Block // what keeps entries back, or everything
}

// Foreseen is one intent that would be derived, and what each rule would say.
type Foreseen struct {
	Intent   reconcile.Intent
	Approved bool
	Verdicts []risk.Verdict
	Later    bool // another opening goes first: one a symbol and round
}

// Block is one thing that keeps a strategy from acting, and what ends it.
type Block struct {
	What   string
	WayOut string
}

// Step is one thing a halt would send.
type Step struct {
	Strategy string
	Symbol   *exchange.Symbol
	Intent   reconcile.Intent
	Later    bool // once the steps before it are confirmed
}

// outlooks say what would be done now, without doing it.
type outlooks struct {
	*base
	ruleset *ruleset
	halts   *halts
	placer  *placer
	tick    *tick
	report  *report
}

// Outlooks are those of all strategies, in the order of their names.
func (e *outlooks) Outlooks() []Outlook {
	all := make([]Outlook, 0, len(e.runs))
	for _, r := range e.runs {
		all = append(all, e.outlook(r))
	}
	return all
}

func (e *outlooks) outlook(r *run) Outlook {
	o := Outlook{
		Strategy:   r.config.Name,
		Kind:       r.config.Kind,
		Symbol:     r.config.Symbol,
		Interval:   r.config.Interval,
		NowMS:      e.nowMS,
		NextMS:     r.nextTick(e.nowMS),
		Seen:       r.seen,
		Warmup:     r.config.Strategy.Warmup(),
		Last:       r.truth.Last,
		LastMS:     r.truth.LastMS,
		Position:   r.truth.Position,
		EntryPrice: r.truth.EntryPrice,
		Equity:     e.marked(r.truth.Key().Market),
		InForce:    *r.state.ClonePlan(),
		Latch:      r.state.Latch(),
	}
	if r.series.end > 0 {
		o.Candle, o.CandleMS = r.series.candles.At(r.series.end-1), r.series.candles.CloseMS(r.series.end-1)
	}
	o.Plan = *e.foresee(r, &o)
	o.Changes = !o.InForce.Equal(&o.Plan)
	wish := e.placer.wishOf(r)
	wish.Strategy = r.state.WithPlan(&o.Plan)
	if o.Plan.Leverage != 0 {
		wish.Leverage = o.Plan.Leverage
	}
	if o.Plan.Protection.Set {
		wish.Protection = o.Plan.Protection
	}
	o.Latch = wish.Strategy.Latch()
	wish.Strategy = wish.Strategy.Halted(e.halts.levelOn(r, record.LevelNone))
	intents, _ := e.book.Derive(&wish, e.nowMS)
	opened := false
	if len(intents) == 1 && intents[0].Purpose == placement.Leverage { // what comes once it is set
		wish.Leverage = 0
		after, _ := e.book.Derive(&wish, e.nowMS)
		intents, opened = append(intents, after...), true
	}
	for i := range intents {
		step := e.judge(r, &intents[i])
		if step.Approved && intents[i].Purpose.Opens() {
			step.Later, opened = opened, true
		}
		o.Steps = append(o.Steps, step)
	}
	o.Blocks = e.blocks(r, &o)
	return o
}

// foresee asks the strategy as the next tick would, and returns the plan that
// would be in force then.
func (e *outlooks) foresee(r *run, o *Outlook) *strategy.Plan {
	plan := r.state.ClonePlan()
	if o.NextMS == 0 || r.truth.Last == 0 {
		return plan
	}
	e.tick.see(r, o.NextMS)
	defer func() {
		if cause := recover(); cause != nil { // told as a block; the tick itself would stop the strategy
			o.Blocks = append(o.Blocks, Block{"the strategy would fail: " + fmt.Sprint(cause), "mend it"})
		}
	}()
	if tells, ok := r.config.Strategy.(strategy.Conditional); ok {
		o.Conditions = tells.Conditions(&r.view)
	}
	if r.seen < o.Warmup {
		return plan
	}
	callDecide(r)
	if why := r.plan.OutOfBounds(r.config.Symbol, r.truth.Last); why != "" {
		panic(why)
	}
	if !plan.Covers(&r.plan) {
		plan.Merge(&r.plan)
	}
	return plan
}

// judge asks every rule about an intent.
func (e *outlooks) judge(r *run, intent *reconcile.Intent) Foreseen {
	facts := e.placer.facts(r)
	step := Foreseen{Intent: *intent, Approved: true, Verdicts: e.ruleset.gate.Explain(intent, &facts)}
	for _, v := range step.Verdicts {
		step.Approved = step.Approved && v.Outcome == risk.Passed
	}
	return step
}

// blocks says what keeps the strategy from acting, beside what the rules say.
func (e *outlooks) blocks(r *run, o *Outlook) []Block {
	all := o.Blocks
	add := func(wayOut, format string, values ...any) {
		all = append(all, Block{fmt.Sprintf(format, values...), wayOut})
	}
	if r.failed != "" {
		add("mend it: a changed file is taken over; its protection stays", "the strategy has failed: %s", r.failed)
	}
	if r.config.Removed {
		add("put it back into the configuration, or flatten it", "the strategy was removed from the configuration")
	}
	if r.seen < o.Warmup {
		add("candles are read as they close", "it has seen %d of %d candles", r.seen, o.Warmup)
	}
	if r.truth.Last == 0 {
		add("the next round reads it", "no price of %s is known", r.config.Symbol.Name)
	}
	if !r.truth.Read {
		add("the next complete round", "orders and positions of %s were not read since the start", r.config.Symbol.Name)
	}
	if o.Latch != 0 {
		add(
			"the strategy wishes no position, or the other side; or botd rearm --strategy "+r.config.Name,
			"latched: its position of this side was ended by something else than its plan",
		)
	}
	for _, d := range e.report.Degraded() {
		if d.Scope == (account.Scope{}) || d.Scope.Covers(r.config.Name, r.truth.Key()) {
			if d.State != "failed" {
				add(d.WayOut, "%s: %s", d.State, d.Cause)
			}
		}
	}
	for _, p := range e.book.Live() {
		if p.Symbol() == r.truth.Key() && p.State().Unresolved() {
			add("its fate is fetched, never guessed", "placement %s is %s", p.ClientOrderID(), p.State())
		}
	}
	return all
}

// Preview says exactly what a halt would send now, and sends nothing: what a
// round under it would derive, and for flatten the exits that follow its cancels.
func (e *outlooks) Preview(level record.HaltLevel, scope account.Scope) []Step {
	var steps []Step
	for _, r := range e.runs {
		if !scope.Covers(r.config.Name, r.truth.Key()) {
			continue
		}
		wish := e.placer.wishOf(r)
		wish.Strategy = wish.Strategy.Halted(e.halts.levelOn(r, level))
		wish.Entries = false
		intents, _ := e.book.Derive(&wish, e.nowMS)
		exits := false
		for _, intent := range intents {
			switch {
			case intent.Purpose == placement.Cancel:
			case level > record.LevelCancel && intent.Purpose == placement.Exit:
				exits = true
			default:
				continue // what a round would do without the halt too
			}
			steps = append(steps, Step{r.config.Name, r.config.Symbol, intent, false})
		}
		if exits || level != record.LevelFlatten {
			continue
		}
		for _, intent := range e.book.ExitOf(&wish, e.nowMS) {
			steps = append(steps, Step{r.config.Name, r.config.Symbol, intent, true})
		}
	}
	return steps
}
