package engine

import (
	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/record"
	"botd/risk"
)

// desired returns one strategy's desired state, with the inputs for deriving from it.
func (d *dispatcher) desired(leg *leg) reconcile.Desired {
	desired := reconcile.Desired{
		Strategy: leg.state, Symbol: leg.symbol, Protection: protectionOf(leg), Leverage: leg.config.Leverage,
		MayOpen: d.permission.mayEnter(leg), Equity: d.equity(leg.symbol.Key().Market), TakerFee: d.config.TakerFee,
		Collar: risk.ExitCollar(&d.config.Limits, &leg.config.Limits), Interval: min(leg.config.Interval, exchange.Minute1), Bridge: d.config.BusyRoundMS > 0,
		Frozen:     leg.config.Removed && !protectionOf(leg).Set,
		ExitFromMS: d.backoffs.exitFromMS(leg), YieldMS: d.tracker.YieldMS(leg.symbol, max(d.startMS, leg.inForce.atMS)),
		MaxLive: d.config.Limits.MaxOpenOrders,
	}
	if leg.state.Plan().Leverage() != 0 {
		desired.Leverage = leg.state.Plan().Leverage()
	}
	return desired
}

// desiredAt returns one strategy's desired state under a halt of a level.
func (d *dispatcher) desiredAt(leg *leg, level record.HaltLevel) reconcile.Desired {
	desired := d.desired(leg)
	desired.Strategy, desired.Flatten = desired.Strategy.Halted(level), level == record.LevelFlatten
	if desired.Flatten {
		desired.YieldMS = 0 // a person's request does not yield to another botd
	}
	return desired
}
