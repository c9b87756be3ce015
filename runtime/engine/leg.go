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
	limits        risk.Limits // as configured: config's are those in force
	series        *series
	others        []*series // of the other symbols that it reads
	symbol        *reconcile.SymbolState
	state         *account.Strategy
	view          strategy.View
	plan          strategy.Plan // scratch of Decide
	working       []strategy.WorkingOrder
	fills         []strategy.KeyFill
	events        int64  // how many events there had been when the view was last filled
	seen          int    // candles given to the strategy
	nextMS        int64  // when the schedule asks next; never for @candle
	lastMS        int64  // nominal time of the last tick
	failed        string // why the strategy is stopped; empty while it runs
	failedMS      int64
	limitsVersion int    // the number of its last change
	version       uint64 // of the book when the view was last filled

	waits bool            // its results wait until the money is known
	entry exchange.Amount // futures: the position's entry price before them

	plannedMS   int64 // when its plan was put in force; 0 where that was before the start
	planned     int64 // the sequence of its plan's record; likewise
	readMS      int64 // when the round began that last read its position; 0 for never
	emergencyMS int64 // the round whose position was closed by an emergency halt

	unprotectedMS int64 // since when its position is declared unprotected; 0 while it is not

	reentry  strategy.Reentry // its policy
	silent   bool             // the last decision asked for no position
	signalMS int64            // its Plan.SignalMS

	watched  watched
	question question
	notices  notices

	undecided bool  // the plan in force counts on what did not come about: nothing opens before the strategy has decided again
	askedMost int64 // the newest question when that began: an answer to it, or an older one, ends nothing

	candleTarget   strategy.Target // the target of the last candle's decision, and since which candle
	candleTargetMS int64
}

// noteSymbol returns the leg's symbol; nil without a leg, for the account.
func (leg *leg) noteSymbol() *exchange.Symbol {
	if leg == nil {
		return nil
	}
	return leg.config.Symbol
}

// decidesByCandle reports whether a strategy is asked once per closed candle, and has
// seen enough of them.
func (leg *leg) decidesByCandle() bool {
	return leg.config.Schedule == nil && leg.seen >= leg.config.Strategy.Warmup()
}

// nextTick is when the strategy is asked next.
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

// progress is the state of a leg that nothing keeps from deciding but candles that are missing.
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

// SpentText says that the orders of a plan are spent, whose keys are given.
func SpentText(keys []string) string {
	return fmt.Sprintf("its orders %s are filled and what they opened has ended: a key starts over once a plan leaves it out",
		strings.Join(keys[:min(len(keys), 5)], ", "))
}

// spent are the keys of the plan's orders where nothing is held and all of them are filled: nothing comes of
// the plan any more.
func (leg *leg) spent() (keys []string) {
	orders := leg.state.Plan().Orders
	if len(orders) == 0 || !leg.ended() {
		return nil
	}
	for i := range orders {
		if leg.state.FilledByKey(placement.Order, orders[i].Key) < orders[i].Quantity {
			return nil
		}
		keys = append(keys, orders[i].Key)
	}
	return keys
}

// target is the quantity the plan in force desires; that of a share or an amount is known
// once it was priced.
func (leg *leg) target() exchange.Quantity {
	target := leg.state.Plan().Target
	quantity, priced := leg.state.Priced(target)
	switch {
	case priced:
		return quantity
	case target.Kind == strategy.ByQuantity:
		return leg.config.Symbol.FloorQuantity(target.Quantity)
	}
	return 0
}

// removal is the level at which a removed strategy's symbol is wound up.
func (leg *leg) removal() record.HaltLevel {
	if leg.config.Removed && !leg.config.Absent && leg.state.OnRemove() == removeFlatten {
		return record.LevelFlatten
	}
	return record.LevelNone
}

// protectionOf is the plan's protection, else the configured one.
func protectionOf(leg *leg) strategy.Protection {
	if leg.state.Plan().Protection.Set {
		return leg.state.Plan().Protection
	}
	return leg.config.Protection
}

// removedStrategy stands for a strategy that was removed: it desires nothing.
type removedStrategy struct{}

func (removedStrategy) Warmup() int { return 0 }

func (removedStrategy) Candle(*strategy.View) {}

func (removedStrategy) Decide(*strategy.View, *strategy.Plan) {}
