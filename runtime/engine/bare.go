package engine

import (
	"cmp"

	"botd/reconcile"
)

// protection measures how long positions lack their stops.
type protection struct {
	*base
	readMS int64 // when the last complete round began; 0 before the first
}

// measureBare measures how long a position lacks the stop wished for it, at most:
// from the round before the one that sees it without (between the two nobody looked)
// until a stop is acknowledged, or the position is gone. At a start that is the
// first round, and in a backtest, where nothing happens unseen, the round itself.
func (e *protection) measureBare(r *run) {
	wished := protectionOf(r)
	switch {
	case r.truth.Position == 0 || !wished.Set || wished.StopLoss.IsZero() || e.guarded(r):
		e.bareUntil(r.truth, e.nowMS)
	case r.truth.BareSinceMS == 0 && e.config.Feed:
		r.truth.BareSinceMS = e.nowMS
	case r.truth.BareSinceMS == 0:
		r.truth.BareSinceMS = cmp.Or(e.readMS, e.nowMS)
	}
}

func (e *protection) bareUntil(truth *reconcile.SymbolTruth, nowMS int64) {
	if truth.BareSinceMS != 0 {
		truth.BareMS, truth.BareSinceMS = truth.BareMS+max(0, nowMS-truth.BareSinceMS), 0
	}
}

// guarded reports whether a stop stands on the exchange: the exchange gave it an
// id, and nothing says that it ended.
func (e *protection) guarded(r *run) bool {
	for _, p := range e.book.Live() {
		if p.Order.Key() == r.truth.Key && p.Purpose == reconcile.StopLoss && (p.State == reconcile.Working || p.State == reconcile.Acknowledged) {
			return true
		}
	}
	return false
}
