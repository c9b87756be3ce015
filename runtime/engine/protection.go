package engine

import (
	"cmp"

	"botd/exchange"
	"botd/reconcile/placement"
)

// protection measures the time that positions lack their stops.
type protection struct {
	*outbox
	feed       bool // Config.Feed: a backtest
	backoffs   *backoffs
	rejections *rejections
}

// measure maintains an upper bound on the time for which a position is unprotected: from the round
// before the one that finds it without its stop (nothing was read in between) until a stop is
// acknowledged or the position has ended. At a start it begins with the first round, and in a backtest,
// where nothing happens unobserved, with the round itself.
func (p *protection) measure(leg *leg) {
	desired := protectionOf(leg)
	switch {
	case leg.symbol.TrustedPosition() == 0 || dust(leg, leg.symbol.TrustedPosition()) || !desired.Set || desired.StopLoss.IsZero() || p.hasStop(leg):
		leg.symbol.EndUnprotected(p.nowMS)
	case leg.symbol.UnprotectedSinceMS() == 0 && p.feed:
		leg.symbol.BeginUnprotected(p.nowMS)
	case leg.symbol.UnprotectedSinceMS() == 0:
		leg.symbol.BeginUnprotected(cmp.Or(leg.rounds.readMS, p.nowMS))
	}
}

// hasStop reports whether a stop rests on the exchange: the exchange assigned it an id, and
// nothing, including the newest open list, shows that it ended. On spot, where stops have
// quantities, together they must cover the position except for a remainder too small for an order.
// While botd stands down, the stops of the other botd count too.
func (p *protection) hasStop(leg *leg) bool {
	_, covered := p.ownStops(leg)
	return covered || p.peerStop(leg) != ""
}

// peerStop returns the client order id of the other botd's stop that covers what botd's own stops do not; empty for none.
func (p *protection) peerStop(leg *leg) string {
	own, covered := p.ownStops(leg)
	if covered {
		return ""
	}
	return p.tracker.PeerStop(leg.symbol, own)
}

// ownStops returns the quantity of botd's own stops on spot, and whether they cover the position.
func (p *protection) ownStops(leg *leg) (own exchange.Quantity, covered bool) {
	left := leg.symbol.TrustedPosition() - leg.symbol.ReplacementQuantity()
	for order := range leg.symbol.Live() {
		if order.Purpose() == placement.StopLoss && !p.tracker.Unlisted(order) &&
			(order.State() == placement.Working || order.State() == placement.Acknowledged) {
			if leg.symbol.Key().Market == exchange.Futures {
				return 0, true
			}
			own += order.Remaining()
		}
	}
	left -= own
	return own, leg.symbol.Key().Market == exchange.Spot && left != leg.symbol.TrustedPosition() && (left <= 0 || unsellable(leg, left))
}

// unprotectedAfterMS is the time for which a position may lack its stop, whatever the reason,
// before this is declared.
const unprotectedAfterMS = 15_000

// cause returns why a position without its stop is declared unprotected: the exchange or a rule refuses
// the stop, or the state has lasted too long; empty if it is not declared.
func (p *protection) cause(leg *leg) string {
	since := leg.symbol.UnprotectedSinceMS()
	if since == 0 || p.feed {
		return ""
	}
	if one := p.backoffs.stopRefused(leg.symbol.Key()); one != nil {
		return p.backoffs.text(one)
	}
	if p.nowMS-since < unprotectedAfterMS {
		return ""
	}
	if why := minimumText(leg, leg.symbol.TrustedPosition()); why != "" {
		return why
	}
	if why := p.rejections.reason(rejectionKey(leg.config.Name, placement.StopLoss, ""), p.nowMS); why != "" {
		return "the stop is refused by " + why
	}
	return "no stop is confirmed on the exchange"
}

// declared reports whether a strategy's position is declared unprotected.
func (p *protection) declared(leg *leg) bool { return leg != nil && p.cause(leg) != "" }

// reportState reports when a position becomes unprotected, and when that ends.
func (p *protection) reportState(leg *leg) {
	why := p.cause(leg)
	switch {
	case why != "" && leg.rounds.unprotectedMS == 0:
		leg.rounds.unprotectedMS = leg.symbol.UnprotectedSinceMS()
		p.note(leg.config.Name, leg.config.Symbol, NoteUnprotected{Reason: why})
	case why == "" && leg.rounds.unprotectedMS != 0:
		p.note(leg.config.Name, leg.config.Symbol, NoteUnprotected{Reason: why, ForMS: p.nowMS - leg.rounds.unprotectedMS, Ended: true})
		leg.rounds.unprotectedMS = 0
	}
}
