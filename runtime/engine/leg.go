package engine

import (
	"fmt"
	"strings"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

// leg is one strategy on one market and symbol. Today a strategy has one leg and a symbol has one, so the symbol's position is the leg's. A strategy
// on many symbols will have many legs, and a symbol that many strategies trade will have many; then position, entry price and fills move from the
// symbol to the leg.
type leg struct {
	config StrategyConfig // with the limits in force
	limits legLimits
	symbol *reconcile.SymbolState
	state  *account.Strategy

	// market data
	series   *series
	others   []*series // of the other symbols that it reads
	watched  watched
	schedule callSchedule

	firstRules bool // its symbol's rules are those of the start: no second read has confirmed them

	// its call and its decision
	view       strategy.View
	viewSource viewSource
	question   question
	steady     callSkipper
	plan       strategy.Plan // scratch of Decide
	decision   lastDecision
	notices    notices
	reentry    strategy.Reentry // its re-entry policy
	failure    strategyFailure

	// execution
	inForce planInForce
	rounds  legRounds
	ladder  ladderState
	money   awaitedMoney
}

// legLimits are the limits of a leg as configured.
type legLimits struct {
	configured risk.Limits
	version    int // the number of their last change
}

// callSchedule is when a strategy is called.
type callSchedule struct {
	seen   int   // candles given to the strategy
	nextMS int64 // next scheduled call; never for @candle
	lastMS int64 // nominal time of the last tick
}

// viewSource is the state that the view was last filled from.
type viewSource struct {
	working []strategy.WorkingOrder
	fills   []strategy.KeyFill
	events  int64  // number of events
	version uint64 // of the tracker
}

// lastDecision is what the last decision contained, for comparison with the next one.
type lastDecision struct {
	silent   bool  // it desired no position
	signalMS int64 // its Plan.SignalMS

	candleTarget   strategy.Target // the target of the last candle's decision
	candleTargetMS int64           // the candle since which it is unchanged
}

// strategyFailure is why a strategy is stopped, and since when. It is empty while the strategy runs.
type strategyFailure struct {
	why  string
	atMS int64
}

// planInForce is what is known of the plan in force besides the plan itself, which is journalled.
type planInForce struct {
	atMS      int64 // when it was put in force; 0 if before the start
	sequence  int64 // sequence number of its record; 0 if before the start
	outdated  bool  // it relies on something that is not true: nothing opens until the strategy has decided again
	newestAsk int64 // the newest call when it became outdated: its answer, or an older one's, does not end this state
	revisions int   // how often a plan became outdated since the start: an opening that is queued then is withdrawn
}

// legRounds is what rounds have found and done.
type legRounds struct {
	readMS        int64 // start of the round that last read its position; 0 for never
	emergencyMS   int64 // the round in which an emergency halt has closed its position
	unprotectedMS int64 // start of its declared unprotected state; 0 while protected
}

// ladderState is how far a ladder of resting openings has become visible to a second botd on the account.
type ladderState struct {
	extended  bool // a resting opening was acknowledged that no list has shown yet
	announced bool // a second botd sees a resting opening of the current ladder before it has sent half of its own ladder
}

// awaitedMoney is what a leg's result counts until the money of its fills is known.
type awaitedMoney struct {
	awaited     bool              // fills whose money is not known yet: the result waits
	entryPrice  exchange.Amount   // futures: the position's entry price before them
	closed      exchange.Quantity // quantity by which the position has been reduced since then, as far as a round has shown it
	closedFor   exchange.Amount   // value of that quantity, at the prices of those rounds
	estimatedMS int64             // start of the time for which fills have been in no result; 0 if all are
}

// noteSymbol returns the leg's symbol, or nil without a leg, for the account.
func (leg *leg) noteSymbol() *exchange.Symbol {
	if leg == nil {
		return nil
	}
	return leg.config.Symbol
}

// decidesByCandle reports whether a strategy is called once per closed candle and has received enough
// candles.
func (leg *leg) decidesByCandle() bool {
	return leg.config.Schedule == nil && leg.schedule.seen >= leg.config.Strategy.Warmup()
}

// nextTick returns when the strategy is called next.
func (leg *leg) nextTick(nowMS int64) int64 {
	switch {
	case leg.failure.why != "" || leg.config.Removed:
		return 0
	case leg.config.Schedule != nil:
		return leg.schedule.nextMS
	case leg.series.end > 0:
		return leg.series.candles.CloseMS(leg.series.end-1) + int64(leg.config.Interval)
	}
	return leg.config.Interval.OpenOf(nowMS) + int64(leg.config.Interval)
}

// progress returns the state of a leg that cannot decide yet only because candles are missing.
func (leg *leg) progress() (state, why string, spent bool) {
	warmup, lacking := leg.config.Strategy.Warmup(), leg.lacking()
	switch {
	case leg.schedule.seen < warmup:
		return "warming_up", fmt.Sprintf("%d of %d candles", leg.schedule.seen, warmup), false
	case lacking != nil:
		return "warming_up", fmt.Sprintf("it needs %d candles of %s", warmup, lacking.Key()), false
	}
	if keys := leg.spent(); len(keys) > 0 {
		return "running", SpentText(keys), true
	}
	return "running", leg.awaited(), false
}

// SpentText returns the text for a plan whose orders, with the given keys, are spent.
func SpentText(keys []string) string {
	return fmt.Sprintf("its orders %s are filled and their position is closed: a key can be used again after a plan without it",
		strings.Join(keys[:min(len(keys), 5)], ", "))
}

// spent returns the keys of the plan's orders if there is no position and all of them have filled:
// the plan has no further effect.
func (leg *leg) spent() (keys []string) {
	orders := leg.state.Plan().Orders()
	if orders.Len() == 0 || !leg.ended() {
		return nil
	}
	for i := range orders.Len() {
		order := orders.At(i)
		if leg.state.FilledByKey(placement.Order, order.Key) < order.Quantity {
			return nil
		}
		keys = append(keys, order.Key)
	}
	return keys
}

// target returns the quantity that the plan in force desires. The quantity of a share or an amount is
// known once it is priced.
func (leg *leg) target() exchange.Quantity {
	target := leg.state.Plan().Target()
	quantity, priced := leg.state.Priced(target)
	switch {
	case priced:
		return quantity
	case target.Kind == strategy.ByQuantity:
		return leg.config.Symbol.FloorQuantity(target.Quantity)
	}
	return 0
}

// removal returns the level at which a removed strategy's symbol is closed.
func (leg *leg) removal() record.HaltLevel {
	if leg.config.Removed && !leg.config.Absent && leg.state.OnRemove() == removeFlatten {
		return record.LevelFlatten
	}
	return record.LevelNone
}

// protectionOf returns the plan's protection, or else the configured one.
func protectionOf(leg *leg) strategy.Protection {
	if leg.state.Plan().Protection().Set {
		return leg.state.Plan().Protection()
	}
	return leg.config.Protection
}

// removedStrategy replaces a strategy that was removed: it desires nothing.
type removedStrategy struct{}

func (removedStrategy) Warmup() int { return 0 }

func (removedStrategy) Candle(*strategy.View) {}

func (removedStrategy) Decide(*strategy.View, *strategy.Plan) {}
