package engine

import (
	"fmt"
	"slices"
	"strings"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

// run is one strategy under way.
type run struct {
	config        StrategyConfig
	limits        risk.Limits // as configured: config's are those in force
	series        *series
	truth         *reconcile.SymbolState
	state         *account.Strategy
	view          strategy.View
	plan          strategy.Plan // scratch of Decide
	working       []strategy.WorkingOrder
	fills         []strategy.KeyFill
	seen          int    // candles given to the strategy
	nextMS        int64  // when the schedule asks next; never for @candle
	lastMS        int64  // nominal time of the last tick
	failed        string // why the strategy is stopped; empty while it runs
	failedMS      int64
	limitsVersion int    // the number of its last change
	version       uint64 // of the book when the view was last filled

	traded exchange.Quantity // since results were counted last, both sides
	cash   exchange.Amount   // spot: what these fills brought
	entry  exchange.Amount   // futures: the position's entry price before them

	pressedMS int64 // the round whose position was closed by a halt while reads failed (press)

	around watching

	wished   strategy.Target // the target of the last candle's decision, and since which candle
	wishedMS int64
}

// addRun adds a strategy; commence has it begin.
func (e *roster) addRun(config *StrategyConfig) (*run, error) {
	if config.Removed {
		config.Strategy = nobody{}
	}
	key := config.Symbol.Key()
	for _, other := range e.runs {
		if other.config.Name == config.Name {
			return nil, fmt.Errorf("two strategies are named %s", config.Name)
		}
		if other.truth.Key() == key {
			return nil, fmt.Errorf("strategies %s and %s both trade %s", other.config.Name, config.Name, key)
		}
	}
	truth := e.book.Symbol(key)
	truth.Rules = config.Symbol
	r := &run{config: *config, limits: config.Limits, truth: truth, state: e.book.Strategy(config.Name), nextMS: never}
	r.view.Symbol, r.view.Interval, r.view.Size, r.view.Leverage = config.Symbol, config.Interval, config.Size, config.Leverage
	r.series = e.market.seriesOf(key, config.Interval)
	r.series.runs = append(r.series.runs, r)
	r.series.warmup = max(r.series.warmup, config.Strategy.Warmup())
	i, _ := slices.BinarySearchFunc(e.runs, config.Name, func(r *run, name string) int { return strings.Compare(r.config.Name, name) })
	e.runs = slices.Insert(e.runs, i, r)
	return r, nil
}

// commence has a strategy asked, and its candles read, from now on.
func (e *roster) commence(r *run) {
	if r.config.Schedule != nil {
		r.nextMS = r.config.Schedule.Next(e.nowMS)
	}
	if !e.config.Feed {
		r.series.pollMS = e.nowMS
	}
}

// tick asks strategies: View to Plan.
type tick struct {
	*base
	halts *halts
}

// candle gives the strategy one closed candle.
func (e *tick) candle(r *run, candle *exchange.Candle, end int) {
	if r.failed != "" {
		return
	}
	r.seen++
	r.view.Candle = *candle
	r.view.NowMS = candle.OpenMS + int64(r.config.Interval)
	r.view.SetHistory(r.series.candles, end)
	e.guard(r, callCandle)
}

func callCandle(r *run) { r.config.Strategy.Candle(&r.view) }

func callDecide(r *run) { r.config.Strategy.Decide(&r.view, &r.plan) }

// guard calls into the strategy. A panic stops that strategy only: its
// protection stays on the exchange.
func (e *tick) guard(r *run, call func(*run)) {
	defer func() {
		if cause := recover(); cause != nil {
			e.fail(r, fmt.Sprint(cause))
		}
	}()
	call(r)
}

// fail stops a strategy.
func (e *tick) fail(r *run, why string) {
	r.failed, r.failedMS, r.nextMS = why, e.nowMS, never
	e.note(r.config.Name, r.config.Symbol, NoteStrategyFailed{why})
}

// scheduled runs a tick that is due by the schedule. Ticks that were missed are
// counted and skipped, never replayed.
func (e *tick) scheduled(r *run) {
	nominal, missed := r.nextMS, 0
	for next := r.config.Schedule.Next(nominal); next <= e.nowMS; next = r.config.Schedule.Next(next) {
		nominal = next
		missed++
		if missed > 100_000 {
			nominal = e.nowMS
			break
		}
	}
	r.nextMS = r.config.Schedule.Next(nominal)
	if missed > 0 {
		e.note(r.config.Name, r.config.Symbol, NoteMissed{Count: missed})
	}
	if r.truth.Last > 0 && r.seen >= r.config.Strategy.Warmup() {
		e.tick(r, nominal)
	}
}

// decidesByCandle reports whether a strategy is asked once per closed candle, and has
// seen enough of them.
func (r *run) decidesByCandle() bool {
	return r.config.Schedule == nil && r.seen >= r.config.Strategy.Warmup()
}

// tick decides: View to Plan.
func (e *tick) tick(r *run, nominalMS int64) {
	if r.failed != "" {
		return
	}
	r.lastMS = nominalMS
	e.decide(r, nominalMS)
	if r.failed == "" {
		e.decided(r)
	}
}

// decided takes what the strategy wished. A plan that changes nothing ends here.
func (e *tick) decided(r *run) {
	if e.config.Rehearse {
		return
	}
	covered := r.state.Covers(&r.plan)
	if !covered {
		// In the journal it would bring every start down: it is derived anew there.
		if why := r.plan.OutOfBounds(r.config.Symbol, r.truth.Last); why != "" {
			e.fail(r, why)
			return
		}
	}
	if remembered := r.plan.Remembered(); len(remembered.Entries()) > 0 {
		if memory, changed := r.state.Memory().With(remembered); changed {
			e.record(record.Record{Strategy: r.config.Name, Body: record.Memory{Entries: slices.Clone(memory.Entries())}})
		}
	}
	if !e.config.Quiet {
		e.note(r.config.Name, r.config.Symbol, NoteTick{r.plan.Reason})
	}
	if !covered {
		e.adopt(r)
	}
}

// decide fills the view and asks the strategy.
func (e *tick) decide(r *run, nominalMS int64) {
	e.see(r, nominalMS)
	if e.measure == nil {
		e.guard(r, callDecide)
		return
	}
	done := e.measure(MeasuredCycle, r.config.Name)
	e.guard(r, callDecide)
	done()
}

// see brings the view up to date and empties the plan.
func (e *tick) see(r *run, nominalMS int64) {
	r.view.NowMS, r.view.Last = nominalMS, r.truth.Last
	if r.version != e.book.Version() {
		e.fillView(r)
	} else {
		r.view.Equity = e.equity(r.truth.Key().Market)
	}
	r.seeAround()
	r.plan.Reset()
}

// fillView copies what the strategy may see of the book.
func (e *tick) fillView(r *run) {
	r.version = e.book.Version()
	r.view.Version = r.version + 1
	r.view.Position = strategy.Position{Quantity: r.truth.Position, EntryPrice: r.truth.EntryPrice, SinceMS: r.truth.SinceMS}
	r.view.Equity = e.equity(r.truth.Key().Market)
	r.view.Memory = r.state.Memory()
	r.working = r.working[:0]
	for _, p := range e.book.Live() {
		if p.Strategy() == r.config.Name {
			r.working = append(r.working, strategy.WorkingOrder{Key: p.Key(), Side: p.Order().Side, Type: p.Order().Type, Price: p.Order().Price,
				StopPrice: p.Order().StopPrice, Quantity: p.Order().Quantity, Filled: p.Filled()})
		}
	}
	r.view.Working = r.working
	r.fills = r.fills[:0]
	for key, filled := range r.state.Fills() {
		r.fills = append(r.fills, strategy.KeyFill{Key: key, Quantity: filled})
	}
	r.view.Fills = r.fills
}

// adopt puts the new wish in force, journalled, and asks for a round.
func (e *tick) adopt(r *run) {
	plan := r.planInForce()
	merged := &plan
	merged.Merge(&r.plan)
	latch := r.state.Latch()
	e.record(record.Record{Strategy: r.config.Name, Symbol: r.truth.Key(), Body: record.Plan{Plan: merged}})
	e.note(r.config.Name, r.config.Symbol, NoteDecision{merged, r.plan.Reason, r.truth.Last, r.truth.Position})
	e.noteLatch(r, latch)
	e.roundMS = e.nowMS
}

func (e *tick) noteLatch(r *run, before int) {
	if r.state.Latch() != before {
		e.note(r.config.Name, r.config.Symbol, NoteLatch{Side: r.state.Latch(), Over: r.state.Latch() == 0})
	}
}

// equity is what sizes and limits are shares of. Futures: wallet plus
// unrealised, marked at the last prices. Spot: USDT plus what was bought, at
// the last prices.
func (e *base) equity(market exchange.Market) exchange.Amount {
	if market == exchange.Futures {
		return e.book.Account.Equity()
	}
	var total exchange.Amount
	quote := ""
	for _, r := range e.runs {
		if r.truth.Key().Market != exchange.Spot {
			continue
		}
		if r.config.Symbol.Quote != quote {
			quote = r.config.Symbol.Quote
			balance := e.book.Balance(quote)
			total = total.Add(balance.Free).Add(balance.Frozen)
		}
		total = total.Add(r.config.Symbol.Notional(r.truth.Last, r.truth.Position))
	}
	return total
}

// nextTick is when the strategy is asked next.
func (r *run) nextTick(nowMS int64) int64 {
	switch {
	case r.failed != "" || r.config.Removed:
		return 0
	case r.config.Schedule != nil:
		return r.nextMS
	case r.series.end > 0:
		return r.series.candles.CloseMS(r.series.end-1) + int64(r.config.Interval)
	}
	return r.config.Interval.OpenOf(nowMS) + int64(r.config.Interval)
}
