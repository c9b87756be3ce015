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

// leg is one strategy on its symbol.
type leg struct {
	config        StrategyConfig
	limits        risk.Limits // as configured; the limits in config are those in force
	series        *series
	others        []*series // of the other symbols that it reads
	symbol        *reconcile.SymbolState
	state         *account.Strategy
	view          strategy.View
	plan          strategy.Plan // scratch of Decide
	steady        callSkipper
	working       []strategy.WorkingOrder
	fills         []strategy.KeyFill
	events        int64  // number of events when the view was last filled
	seen          int    // candles given to the strategy
	nextMS        int64  // next scheduled call; never for @candle
	lastMS        int64  // nominal time of the last tick
	failed        string // why the strategy is stopped; empty while it runs
	failedMS      int64
	limitsVersion int    // the number of its last change
	version       uint64 // of the book when the view was last filled

	waits     bool              // its results wait until the money of its fills is known
	entry     exchange.Amount   // futures: the position's entry price before that
	closed    exchange.Quantity // quantity by which the position has been reduced since then, as far as a round has shown it
	closedFor exchange.Amount   // value of that quantity, at the prices of those rounds

	estimatedMS int64 // start of the time for which fills have been in no result; 0 if all are

	plannedMS   int64 // when its plan was put in force; 0 if before the start
	planned     int64 // sequence number of its plan's record; 0 if before the start
	readMS      int64 // start of the round that last read its position; 0 for never
	emergencyMS int64 // the round in which an emergency halt has closed its position

	unprotectedMS int64 // start of its declared unprotected state; 0 while protected

	reentry  strategy.Reentry // its re-entry policy
	silent   bool             // the last decision desired no position
	signalMS int64            // its Plan.SignalMS

	watched  watched
	question question
	notices  notices

	undecided bool  // the plan in force relies on something that is not true: nothing opens until the strategy has decided again
	newestAsk int64 // the newest call at that time: its answer, or an older one's, does not end this state

	extended  bool // a resting opening was acknowledged that no list has shown yet
	announced bool // a second botd on the account will see a resting opening of the current ladder before it sends half of its own

	candleTarget   strategy.Target // the target of the last candle's decision, and the candle since which it is unchanged
	candleTargetMS int64
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
	return leg.config.Schedule == nil && leg.seen >= leg.config.Strategy.Warmup()
}

// nextTick returns when the strategy is called next.
func (leg *leg) nextTick(nowMS int64) int64 {
	switch {
	case leg.failed != "" || leg.config.Removed:
		return 0
	case leg.config.Schedule != nil:
		return leg.nextMS
	case leg.series.end > 0:
		return leg.series.candles.CloseMS(leg.series.end-1) + int64(leg.config.Interval)
	}
	return leg.config.Interval.OpenOf(nowMS) + int64(leg.config.Interval)
}

// progress returns the state of a leg that cannot decide yet only because candles are missing.
func (leg *leg) progress() (state, why string, spent bool) {
	warmup, lacking := leg.config.Strategy.Warmup(), leg.lacking()
	switch {
	case leg.seen < warmup:
		return "warming_up", fmt.Sprintf("%d of %d candles", leg.seen, warmup), false
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
