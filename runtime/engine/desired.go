package engine

import (
	"botd/exchange"
	"botd/reconcile"
)

// wishOf is what one strategy wants, with what deriving from it needs.
func (e *placer) wishOf(r *run) reconcile.Desired {
	wish := reconcile.Desired{
		Strategy: r.state, Symbol: r.truth, Protection: protectionOf(r), Leverage: r.config.Leverage,
		Entries: e.permission.mayEnter(r), Equity: e.equity(r.truth.Key().Market), TakerFee: e.config.TakerFee,
		Collar: e.collar(r), Interval: r.config.Interval, Bridge: e.config.BusyRoundMS > 0, Frozen: r.config.Removed,
	}
	if r.state.Plan().Leverage != 0 {
		wish.Leverage = r.state.Plan().Leverage
	}
	return wish
}

// collar is how far through the price a spot exit may go: 5 % unless the limits say less.
func (e *placer) collar(r *run) exchange.Rate {
	collar := exchange.RateOne / 20
	for _, limit := range []exchange.Rate{e.config.Limits.PriceCollar, r.config.Limits.PriceCollar} {
		if limit != 0 {
			collar = min(collar, limit)
		}
	}
	return collar
}
