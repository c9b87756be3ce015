package engine

import (
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

// symbol returns the run's symbol; without a run, for the account, nil.
func (r *run) symbol() *exchange.Symbol {
	if r == nil {
		return nil
	}
	return r.config.Symbol
}

// decidesByCandle reports whether a strategy is asked once per closed candle, and has
// seen enough of them.
func (r *run) decidesByCandle() bool {
	return r.config.Schedule == nil && r.seen >= r.config.Strategy.Warmup()
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

// target is the quantity the plan in force wishes; that of a share or an amount is known
// once it was priced.
func (r *run) target() exchange.Quantity {
	wish := r.state.Plan().Target
	quantity, priced := r.state.Priced(wish)
	switch {
	case priced:
		return quantity
	case wish.Kind == strategy.ByQuantity:
		return r.config.Symbol.FloorQuantity(wish.Quantity)
	}
	return 0
}

// removal is the level at which a removed strategy's symbol is wound up.
func (r *run) removal() record.HaltLevel {
	if r.config.Removed && r.state.OnRemove() == removeFlatten {
		return record.LevelFlatten
	}
	return record.LevelNone
}

// protectionOf is the plan's protection, else the configured one.
func protectionOf(r *run) strategy.Protection {
	if r.state.Plan().Protection.Set {
		return r.state.Plan().Protection
	}
	return r.config.Protection
}

// nobody stands for a strategy that was removed: it wishes nothing.
type nobody struct{}

func (nobody) Warmup() int { return 0 }

func (nobody) Candle(*strategy.View) {}

func (nobody) Decide(*strategy.View, *strategy.Plan) {}
