package engine

import (
	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/record"
)

// desired returns one strategy's desired state, with the inputs for deriving from it.
func (d *dispatcher) desired(leg *leg) reconcile.Desired {
	desired := reconcile.Desired{
		Strategy: leg.state, Symbol: leg.symbol, Protection: protectionOf(leg), Leverage: leg.config.Leverage,
		Entries: d.permission.mayEnter(leg), Equity: d.equity(leg.symbol.Key().Market), TakerFee: d.config.TakerFee,
		Collar: d.collar(leg), Interval: min(leg.config.Interval, exchange.Minute1), Bridge: d.config.BusyRoundMS > 0,
		Frozen:     leg.config.Removed && !protectionOf(leg).Set,
		ExitFromMS: d.backoffs.exitFromMS(leg), YieldMS: d.book.YieldMS(leg.symbol, max(d.startMS, leg.plannedMS)), MaxLive: d.config.Limits.MaxOpenOrders,
	}
	if leg.state.Plan().Leverage != 0 {
		desired.Leverage = leg.state.Plan().Leverage
	}
	return desired
}

// desiredAt returns one strategy's desired state under a halt of that level.
func (d *dispatcher) desiredAt(leg *leg, level record.HaltLevel) reconcile.Desired {
	desired := d.desired(leg)
	desired.Strategy, desired.Flatten = desired.Strategy.Halted(level), level == record.LevelFlatten
	if desired.Flatten {
		desired.YieldMS = 0 // a person's request yields to no other botd
	}
	return desired
}

// collar returns the maximum distance of a spot exit through the price: 5 % unless the limits set
// less.
func (d *dispatcher) collar(leg *leg) exchange.Rate {
	collar := exchange.RateOne / 20
	for _, limit := range []exchange.Rate{d.config.Limits.PriceCollar, leg.config.Limits.PriceCollar} {
		if limit != 0 {
			collar = min(collar, limit)
		}
	}
	return collar
}
