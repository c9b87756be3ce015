package engine

import (
	"cmp"

	"botd/reconcile"
	"botd/reconcile/placement"
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
	case r.truth.UnprotectedSinceMS == 0 && e.config.Feed:
		r.truth.UnprotectedSinceMS = e.nowMS
	case r.truth.UnprotectedSinceMS == 0:
		r.truth.UnprotectedSinceMS = cmp.Or(e.readMS, e.nowMS)
	}
}

func (e *protection) bareUntil(truth *reconcile.SymbolState, nowMS int64) {
	if truth.UnprotectedSinceMS != 0 {
		truth.UnprotectedMS, truth.UnprotectedSinceMS = truth.UnprotectedMS+max(0, nowMS-truth.UnprotectedSinceMS), 0
	}
}

// guarded reports whether a stop stands on the exchange: the exchange gave it an
// id, and nothing says that it ended.
func (e *protection) guarded(r *run) bool {
	for _, p := range e.book.Live() {
		if p.Symbol() == r.truth.Key() && p.Purpose() == placement.StopLoss &&
			(p.State() == placement.Working || p.State() == placement.Acknowledged) {
			return true
		}
	}
	return false
}
