package engine

import (
	"fmt"
	"slices"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

// TickPreview describes, with reasons, what one strategy's next tick and the following round would do in
// the known state. Creating it has no effect.
type TickPreview struct {
	Strategy string
	Kind     string
	Symbol   *exchange.Symbol
	Interval exchange.Interval
	NowMS    int64
	NextMS   int64 // the nominal time of the next tick; 0 if there is none

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
	Latch      int           // the side that is closed to entries
	Steps      []PreviewedIntent
	Blocks     []Block // what blocks entries, or everything
}

// PreviewedIntent is one intent that would be derived, with each rule's verdict.
type PreviewedIntent struct {
	Intent   reconcile.Intent
	Approved bool
	Verdicts []risk.Verdict
	Later    bool // another opening goes first: one per symbol and round
	// RefusedBy is the exchange's newest refusal of the same intent and the time of the retry;
	// empty for none.
	RefusedBy string
}

// Block is one obstacle that keeps a strategy from acting, and how the obstacle ends.
type Block struct {
	What   string
	Remedy string
}

// Step is one request that a halt would send.
type Step struct {
	Strategy string
	Symbol   *exchange.Symbol
	Intent   reconcile.Intent
	Later    bool // after the steps before it are confirmed
}

// CancelText describes the cancel of an order, whose exchange id is 0 while it is unknown.
func CancelText(orderID int64, clientOrderID string, symbol exchange.SymbolKey) string {
	if orderID == 0 {
		return fmt.Sprintf("cancel order %s on %s, once its id is known", clientOrderID, symbol)
	}
	return fmt.Sprintf("cancel order %d (%s) on %s", orderID, clientOrderID, symbol)
}

// previews describe the next actions without performing them.
type previews struct {
	*base
	dispatcher *dispatcher
	backoffs   *backoffs
	tick       *tick
	reporter   *reporter
}

// PreviewTicks returns the previews of all strategies, sorted by name.
func (p *previews) PreviewTicks() []TickPreview {
	all := make([]TickPreview, 0, len(p.legs))
	for _, leg := range p.legs {
		all = append(all, p.previewTick(leg))
	}
	return all
}

func (p *previews) previewTick(leg *leg) TickPreview {
	o := TickPreview{
		Strategy:   leg.config.Name,
		Kind:       leg.config.Kind,
		Symbol:     leg.config.Symbol,
		Interval:   leg.config.Interval,
		NowMS:      p.nowMS,
		NextMS:     leg.nextTick(p.nowMS),
		Seen:       leg.schedule.seen,
		Warmup:     leg.config.Strategy.Warmup(),
		Last:       leg.symbol.Last(),
		LastMS:     leg.symbol.LastMS(),
		Position:   leg.symbol.Position(),
		EntryPrice: leg.symbol.EntryPrice(),
		Equity:     p.equity(leg.symbol.Key().Market),
		InForce:    *leg.state.Plan().Clone(),
		Latch:      leg.state.Latch(),
	}
	if leg.series.end > 0 {
		o.Candle, o.CandleMS = leg.series.candles.At(leg.series.end-1), leg.series.candles.CloseMS(leg.series.end-1)
	}
	o.Plan = p.previewPlan(leg, &o)
	o.Changes = !o.InForce.Equal(&o.Plan)
	desired := p.dispatcher.desired(leg)
	desired.Strategy = leg.state.WithPlan(&o.Plan)
	if o.Plan.Leverage != 0 {
		desired.Leverage = o.Plan.Leverage
	}
	if o.Plan.Protection.Set {
		desired.Protection = o.Plan.Protection
	}
	o.Latch = desired.Strategy.Latch()
	desired.Strategy = desired.Strategy.Halted(p.levelOn(leg, record.LevelNone))
	o.Steps = p.previewSteps(leg, &desired)
	if !slices.ContainsFunc(o.Steps, func(step PreviewedIntent) bool { return isExit(&step.Intent) }) {
		o.Steps = append(o.Steps, p.refusedExits(leg, desired)...)
	}
	o.Blocks = p.blocks(leg, &o)
	return o
}

// previewSteps returns the intents that lead to a desired state, each with its verdicts.
func (p *previews) previewSteps(leg *leg, desired *reconcile.Desired) (steps []PreviewedIntent) {
	intents, _ := p.tracker.Derive(desired, p.nowMS)
	opened := false
	if len(intents) == 1 && intents[0].Purpose == placement.Leverage { // further intents follow once the leverage is set
		desired.Leverage = 0
		after, _ := p.tracker.Derive(desired, p.nowMS)
		intents, opened = append(intents, after...), true
	}
	for i := range intents {
		step := p.judge(leg, &intents[i])
		if step.Approved && intents[i].Purpose.Opens() {
			step.Later, opened = opened, true
		}
		steps = append(steps, step)
	}
	return steps
}

// isExit reports whether an intent is an immediate exit.
func isExit(intent *reconcile.Intent) bool { return intent.Purpose == placement.Exit }

// refusedExits returns the exits that are due and wait, because the exchange has refused them, or the cancels of the orders that hold their asset.
func (p *previews) refusedExits(leg *leg, desired reconcile.Desired) (steps []PreviewedIntent) {
	refused := p.backoffs.exitReason(leg)
	if refused == "" {
		return nil
	}
	desired.ExitFromMS = 0
	due, _ := p.tracker.Derive(&desired, p.nowMS)
	if exits := p.tracker.ExitOf(&desired, p.nowMS); len(exits) > 0 && desired.Strategy.Plan().Target().Sign() == 0 { // on spot the stop is canceled first
		due = exits
	}
	for i := range due {
		if isExit(&due[i]) || due[i].Purpose == placement.Cancel {
			step := p.judge(leg, &due[i])
			step.RefusedBy = refused
			steps = append(steps, step)
		}
	}
	return steps
}

// ending returns whether the position that a latch is about has ended, or still is ending.
func ending(leg *leg) string {
	if position := leg.symbol.TrustedPosition(); position != 0 && (position > 0) == (leg.state.Latch() > 0) {
		return "is ending"
	}
	return "ended"
}

// previewPlan returns the plan that would be in force after the next tick.
func (p *previews) previewPlan(leg *leg, o *TickPreview) strategy.Plan {
	plan := *leg.state.Plan().Clone()
	if o.NextMS == 0 || leg.symbol.Last() == 0 {
		return plan
	}
	if p.config.Offload {
		o.Conditions = leg.question.conditions // another call would take the strategy's time
		return plan
	}
	conditions, failure := p.tick.rehearse(leg, o.NextMS)
	o.Conditions = conditions
	switch {
	case failure != "":
		o.Blocks = append(o.Blocks, Block{"the strategy would fail: " + failure, "fix the strategy"})
	case leg.schedule.seen >= o.Warmup && !plan.Covers(&leg.plan):
		plan.Merge(&leg.plan)
	}
	return plan
}

// judge returns every rule's verdict on an intent.
func (p *previews) judge(leg *leg, intent *reconcile.Intent) PreviewedIntent {
	facts := p.dispatcher.facts(leg)
	verdicts := p.gate.Explain(intent, &facts)
	return PreviewedIntent{
		Intent:    *intent,
		Approved:  !slices.ContainsFunc(verdicts, func(v risk.Verdict) bool { return v.Outcome != risk.Passed }),
		RefusedBy: p.backoffs.reason(attemptOf(intent)),
		Verdicts:  verdicts,
	}
}

// blocks returns the obstacles that keep the strategy from acting, in addition to the rules.
func (p *previews) blocks(leg *leg, o *TickPreview) []Block {
	all := o.Blocks
	add := func(remedy, format string, values ...any) {
		all = append(all, Block{fmt.Sprintf(format, values...), remedy})
	}
	if leg.failure.why != "" {
		add("fix its file, which is then reloaded; its protection stays", "the strategy has failed: %s", leg.failure.why)
	}
	if leg.question.hung != "" {
		add(leg.hungRemedy(), "the strategy hangs: %s", leg.question.hung)
	}
	if leg.config.Removed {
		add("put it back into the configuration, or flatten it", "the strategy was removed from the configuration")
	}
	if leg.schedule.seen < o.Warmup {
		add("candles are read as they close", "it has seen %d of %d candles", leg.schedule.seen, o.Warmup)
	}
	if lacking := leg.lacking(); lacking != nil {
		add("candles are read as they close", "fewer than %d candles are known of %s, which it also reads", o.Warmup, lacking.Key())
	}
	if why := leg.awaited(); why != "" {
		add("it is read every second", "%s", why)
	}
	if leg.symbol.Last() == 0 {
		add("the next round reads it", "no price of %s is known", leg.config.Symbol.Name)
	}
	if !leg.symbol.Read() {
		add("the next complete round", "orders and positions of %s have not been read since the start", leg.config.Symbol.Name)
	}
	if o.Latch != 0 {
		add(
			leg.latchRemedy()+"; or botd rearm --strategy "+leg.config.Name,
			"latched: something other than its plan %s its position on this side", ending(leg),
		)
	}
	for _, d := range p.reporter.Degraded() {
		if d.Scope == (account.Scope{}) || d.Scope.Covers(leg.config.Name, leg.symbol.Key()) {
			if d.State != "failed" && d.State != "hung" {
				add(d.Remedy, "%s: %s", d.State, d.Cause)
			}
		}
	}
	for order := range p.tracker.Live() {
		if order.Symbol() == leg.symbol.Key() && order.State().OutcomeUncertain() {
			add("its outcome is fetched", "placement %s is %s", order.ClientOrderID(), order.State())
		}
	}
	return all
}

// PreviewHalt returns exactly what a halt would send now, without sending it: the intents of a round
// under this halt and, for flatten, the exits that follow its cancels.
func (p *previews) PreviewHalt(level record.HaltLevel, scope account.Scope) []Step {
	var steps []Step
	for _, leg := range p.legs {
		if !scope.Covers(leg.config.Name, leg.symbol.Key()) {
			continue
		}
		desired := p.dispatcher.desiredAt(leg, p.levelOn(leg, level))
		desired.MayOpen = false
		intents, _ := p.tracker.Derive(&desired, p.nowMS)
		exits := false
		for _, intent := range intents {
			switch {
			case intent.Purpose == placement.Cancel:
			case level > record.LevelCancel && intent.Purpose == placement.Exit:
				exits = true
			default:
				continue // a round would do this without the halt too
			}
			steps = append(steps, Step{leg.config.Name, leg.config.Symbol, intent, false})
		}
		if exits || level != record.LevelFlatten {
			continue
		}
		for _, intent := range p.tracker.ExitOf(&desired, p.nowMS) {
			steps = append(steps, Step{leg.config.Name, leg.config.Symbol, intent, true})
		}
	}
	return steps
}
