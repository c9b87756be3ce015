package backtest

import (
	"errors"
	"fmt"
	"slices"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/reconcile/placement"
	"botd/risk"
	"botd/runtime/engine"
	"botd/strategy"
)

// direct trades the targets of one strategy on one futures symbol exactly as the engine does: the same orders at the
// same moments, on the same exchange, with the same sums. It takes from the exchange directly what an engine learns
// by rounds of reads and writes to a journal, since the exchange fills a market order within its placement. Anything
// else makes it give up, and the run starts over with the engine: an intent that a rule other than margin may refuse,
// an order that does not fill completely, a liquidation, a plan with orders or stops, a strategy that fails.
type direct struct {
	run        *run
	symbol     *exchange.Symbol
	key        exchange.SymbolKey
	candles    *exchange.Candles
	strategy   strategy.Strategy
	steady     strategy.Steady // the same strategy, where it implements Steady
	passer     strategy.Passer // the same, where it implements Passer
	hasDecided bool            // it decided at an earlier close
	name       string
	leverage   int
	uncovered  string // why the machine gave up; empty until then

	view    strategy.View
	plan    strategy.Plan // scratch of Decide
	inForce strategy.Plan
	memory  strategy.Memory
	seen    int    // candles given to the strategy
	version uint64 // of the view's content
	viewed  uint64 // when the view was last filled

	turned    bool  // the plan in force changed, and nobody has counted that yet
	roundMS   int64 // when to trade; never once the target is reached
	last      exchange.Price
	held      sim.Held // as of the last round
	position  strategy.Position
	equity    exchange.Amount // as of the last round
	marked    exchange.Price  // the last price at that time; 0 for none
	available exchange.Amount
	of        strategy.Target   // the target that quantity belongs to
	quantity  exchange.Quantity // signed
	priced    bool

	ladder    ladder // orders in the order book
	limit     exchange.Request
	cancel    exchange.Request
	fee       exchange.Rate // a taker's
	request   exchange.Request
	pending   int64             // the order under way; 0 for none
	after     exchange.Quantity // the position after its fill
	sentFor   strategy.Target   // the target that the order leads to
	reasons   []reason          // of exits, the last few
	rejection risk.Rejection    // of the last entry; zero where it was sent
}

// reason is the reason of an exit: the plan's words for a new side or for none, and its text.
type reason struct {
	sign       int
	plan, text string
}

// errUncovered ends a run that the direct machine cannot continue.
var errUncovered = errors.New("the direct machine does not cover this case")

// indirect returns why a configuration needs the engine, as far as the configuration shows it. It is empty when the
// direct machine suffices.
func (c *Config) indirect() string {
	leg := &c.Legs[0]
	given, symbol := &leg.Strategy, leg.Tape.Symbol
	_, batches := given.Strategy.(strategy.Batcher)
	switch {
	case c.engine:
		return "as configured"
	case len(c.Legs) > 1:
		return "several strategies"
	case leg.Make == nil:
		return "a strategy that cannot be made again"
	case symbol.Market != exchange.Futures:
		return "spot"
	case c.Limits != (risk.Limits{}) || given.Limits != (risk.Limits{}):
		return "limits"
	case given.Schedule != nil:
		return "a schedule"
	case given.Protection.Set && given.Protection != (strategy.Protection{Set: true}):
		return "stops or targets"
	case c.Costs.LatencyMS+c.Costs.LaterMS > int64(given.Interval):
		return "latency" // an order would be under way after the close at which a plan can change
	case leg.Trades != nil:
		return "recorded trades"
	case len(c.Signals) > 0 || strategy.WatchingOf(given.Strategy) != (strategy.Watching{}):
		return "a strategy that sees more than its candles"
	case batches || strategy.FollowerOf(given.Strategy) != nil:
		return "a strategy that is asked between candles, or for many"
	case c.Record != nil || c.Note != nil || c.Ledger:
		return "journal and notes"
	case given.Paused || given.Removed || !symbol.Tradable || symbol.ReduceOnly,
		len(symbol.OrderTypes) > 0 && !slices.Contains(symbol.OrderTypes, exchange.MarketOrder):
		return "a strategy that may not trade"
	}
	return ""
}

func newDirect(r *run) *direct {
	leg := &r.legs[0]
	given := &leg.config.Strategy
	d := &direct{run: r, symbol: leg.symbol, key: leg.key, candles: leg.candles, strategy: given.Strategy, name: given.Name,
		leverage: r.venue.Leverage(account, leg.symbol.Name), version: 1, roundMS: never}
	d.view.Symbol, d.view.Interval, d.view.Size, d.view.Leverage = leg.symbol, given.Interval, given.Size, given.Leverage
	d.view.Others = given.Others
	d.steady, _ = given.Strategy.(strategy.Steady)
	d.passer, _ = given.Strategy.(strategy.Passer)
	d.request = exchange.Request{Operation: exchange.FuturesPlace,
		Order: exchange.NewOrder{Market: exchange.Futures, Symbol: leg.symbol.Name, Type: exchange.MarketOrder}}
	d.limit = d.request
	d.limit.Order.Type = exchange.Limit
	d.cancel = exchange.Request{Operation: exchange.FuturesCancel, Symbol: leg.symbol.Name}
	d.ladder.entries.purpose, d.ladder.exits.purpose = placement.Order, placement.ExitOrder
	d.fee = r.config.Costs.Futures.Taker
	return d
}

// NextMS returns when the machine wants to trade; never when it has nothing to do.
func (d *direct) NextMS() int64 { return d.roundMS }

// Trails reports that no stop follows the price.
func (d *direct) Trails(exchange.SymbolKey) (stop, from exchange.Price, trails bool) {
	return 0, 0, false
}

// DecidesMS reports that decisions happen only at closes.
func (d *direct) DecidesMS() int64 { return never }

// Status reports the strategy as spent when all orders of its plan are filled. It never reports a latched strategy:
// only an exit outside the plan latches one.
func (d *direct) Status() engine.Status {
	keys := d.spent()
	if len(keys) == 0 {
		return engine.Status{}
	}
	return engine.Status{Strategies: []engine.StrategyStatus{{Name: d.name, Spent: true, StateReason: engine.SpentText(keys)}}}
}

// Handle takes one event, as the engine does.
func (d *direct) Handle(nowMS int64, event engine.Event, out *engine.Effects) {
	if d.uncovered != "" {
		return
	}
	switch event := event.(type) {
	case *engine.EventStretch:
		d.feed(event.From, event.To, out)
	case *engine.EventCandles:
		d.feed(event.From, event.To, out)
	case *engine.EventPrice:
		d.last = event.Last
	case *engine.EventStart:
		d.roundMS = nowMS
	case *engine.EventWake, *engine.EventRound:
		d.round(nowMS)
	}
}

// giveUp records why the direct machine cannot continue.
func (d *direct) giveUp(format string, arguments ...any) {
	if d.uncovered == "" {
		d.uncovered, d.roundMS = fmt.Sprintf(format, arguments...), never
	}
}

// feed gives the strategy candles one by one, and requests a decision at each close until its plan or its memory
// changes.
func (d *direct) feed(from, to int, out *engine.Effects) {
	defer func() {
		if cause := recover(); cause != nil {
			d.giveUp("a strategy that failed: %v", cause)
			out.Consumed = max(out.Consumed, 1)
		}
	}()
	warmup := d.strategy.Warmup()
	for at := from; at < to; {
		end := at + 1
		if d.passer != nil && d.hasDecided {
			end = d.pass(at, to)
		} else {
			d.show(at)
			d.strategy.Candle(&d.view)
		}
		d.seen += end - at
		out.Consumed += end - at
		if at = end; d.changed(warmup) {
			d.decided(d.view.NowMS)
			return
		}
	}
}

// pass gives the strategy closed candles by column: all of from:to, or those up to the first one that changes
// something. It returns the index after the last.
func (d *direct) pass(from, to int) (end int) {
	end = d.passer.Pass(d.candles, from, to)
	if !d.passer.Stays() { // otherwise the view is not read
		d.show(end - 1)
	}
	return end
}

// show makes a candle the newest one of the view.
func (d *direct) show(at int) {
	d.last, d.view.NowMS = d.candles.Close[at], d.candles.CloseMS(at)
	d.view.SetHistory(d.candles, at+1)
}

// changed requests a decision, and reports whether the plan, the memory or the notices change.
func (d *direct) changed(warmup int) bool {
	if d.seen < warmup || d.hasDecided && d.steady != nil && d.steady.Stays() {
		return false
	}
	d.view.Last, d.view.Equity = d.last, d.worth()
	if d.viewed != d.version {
		d.viewed = d.version
		d.view.Version, d.view.Position, d.view.Memory = d.version, d.position, d.memory
		if d.rests() || d.pending != 0 || len(d.view.Working)+len(d.view.Fills) > 0 {
			d.showOrders()
		}
	}
	d.hasDecided = true
	d.plan.Reset()
	d.strategy.Decide(&d.view, &d.plan)
	if !d.inForce.Covers(&d.plan) || len(d.plan.Notices()) > 0 {
		return true
	}
	if remembered := d.plan.Remembered(); remembered.Len() > 0 {
		_, changed := d.memory.With(remembered)
		return changed
	}
	return false
}

// decided puts a changed plan into force.
func (d *direct) decided(nowMS int64) {
	covered := d.inForce.Covers(&d.plan)
	memory, changed := d.memory.With(d.plan.Remembered())
	switch {
	case d.plan.WordsOutOfBounds() != "", !covered && d.plan.OutOfBounds(d.symbol, d.last) != "", changed && memory.OutOfBounds() != "":
		d.giveUp("a plan out of bounds")
		return
	case len(d.plan.Notices()) > 0:
		d.giveUp("a report to people")
		return
	case d.plan.Protection.Set && d.plan.Protection != (strategy.Protection{Set: true}),
		d.plan.Leverage != 0 && d.plan.Leverage != d.leverage:
		d.giveUp("a plan with stops, targets or a leverage")
		return
	}
	if changed {
		d.memory = memory
		d.version++
	}
	if covered {
		return
	}
	before := d.inForce.Target.Kind
	d.inForce.Merge(&d.plan)
	if all := d.run.config.decided; all != nil {
		*all = append(*all, decision{d.name, nowMS, planText(d.symbol, &d.inForce)})
	}
	if d.rests() {
		if before != strategy.NoTarget || d.inForce.Target.Kind != strategy.NoTarget {
			d.giveUp("a target and resting orders")
			return
		}
		if why := d.unresting(); why != "" {
			d.giveUp("%s", why)
			return
		}
	}
	d.adopt()
	if d.inForce.Target != d.of {
		d.priced = false
	}
	d.version++
	d.roundMS = nowMS
	d.turned = true
}
