package engine

import (
	"cmp"

	"botd/reconcile"
	"botd/reconcile/placement"
)

// protection measures how long positions lack their stops.
type protection struct {
	*base
}

// measureBare measures how long a position lacks the stop wished for it, at most:
// from the round before the one that sees it without (between the two nobody looked)
// until a stop is acknowledged, or the position is gone. At a start that is the
// first round, and in a backtest, where nothing happens unseen, the round itself.
func (p *protection) measure(leg *leg) {
	wished := protectionOf(leg)
	switch {
	case leg.symbol.Position == 0 || !wished.Set || wished.StopLoss.IsZero() || p.hasStop(leg):
		p.end(leg.symbol, p.nowMS)
	case leg.symbol.UnprotectedSinceMS == 0 && p.config.Feed:
		leg.symbol.UnprotectedSinceMS = p.nowMS
	case leg.symbol.UnprotectedSinceMS == 0:
		leg.symbol.UnprotectedSinceMS = cmp.Or(leg.readMS, p.nowMS)
	}
}

func (p *protection) end(truth *reconcile.SymbolState, nowMS int64) {
	if truth.UnprotectedSinceMS != 0 {
		truth.UnprotectedMS, truth.UnprotectedSinceMS = truth.UnprotectedMS+max(0, nowMS-truth.UnprotectedSinceMS), 0
	}
}

// guarded reports whether a stop stands on the exchange: the exchange gave it an
// id, and nothing says that it ended.
func (p *protection) hasStop(leg *leg) bool {
	for _, order := range p.book.Live() {
		if order.Symbol() == leg.symbol.Key() && order.Purpose() == placement.StopLoss &&
			(order.State() == placement.Working || order.State() == placement.Acknowledged) {
			return true
		}
	}
	return false
}
