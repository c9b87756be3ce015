package engine

import (
	"math"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

const (
	// ladderMS is the maximum age of a symbol's newest read for an opening to be sent between rounds.
	ladderMS = 5_000
	// announcedMS is the maximum age of a list at the first acknowledgment of a resting opening that was sent after it: only up to this age does a
	// ladder continue between rounds. It is less than half of the time between two rounds, so that of two botds that read the account at the same
	// time, each sees an opening of the other before it sends more.
	announcedMS = 250
)

// extendLadder sends a plan's next resting opening as soon as the exchange has acknowledged the previous
// one: a ladder is complete as fast as answers arrive and the request budget allows. Only one opening at
// a time is unanswered, and nothing is sent while anything on the symbol is uncertain. The rest waits
// for the next round, which reads the state of all of them.
func (d *dispatcher) extendLadder(before *account.Placement) {
	if before.Purpose() != placement.Order {
		return
	}
	leg := d.legOn(before.Symbol())
	if leg == nil {
		return
	}
	if before.State() == placement.Acknowledged {
		leg.ladder.extended, leg.ladder.announced = true, leg.ladder.announced || d.nowMS-leg.rounds.readMS <= announcedMS
	}
	if !d.mayExtend(leg) {
		return
	}
	desired := d.desiredAt(leg, d.levelOn(leg, record.LevelNone))
	desired.BetweenRounds = true
	intents, _ := d.tracker.Derive(&desired, d.nowMS)
	maxOpening := d.unlistedAllowance(before.Symbol(), intents)
	if !leg.ladder.announced {
		maxOpening = 0
	}
	for i := range intents {
		fits := intents[i].Order.Quantity <= maxOpening
		if intents[i].Purpose == placement.Order && fits && d.dispatch(leg, &intents[i]) {
			return
		}
	}
}

// unlistedAllowance returns the quantity of a symbol's resting openings that may be sent before a list shows the ones already sent. Unlisted openings
// together are at most half of the quantity that the plan lacks, because a second botd on the account may send the other half. Only a list reveals
// that botd, and a list that is too old to show botd's own order does not show the other botd's orders either.
func (d *dispatcher) unlistedAllowance(key exchange.SymbolKey, intents []reconcile.Intent) exchange.Quantity {
	sent, left := d.tracker.NeverListed(key), exchange.Quantity(0)
	for i := range intents {
		if intents[i].Purpose == placement.Order {
			left += intents[i].Order.Quantity
		}
	}
	return (sent+left)/2 - sent
}

// largest returns the quantity of the largest resting opening that a round may send. The first one does not wait for a list.
func (d *dispatcher) largest(key exchange.SymbolKey, intents []reconcile.Intent) exchange.Quantity {
	if d.tracker.NeverListed(key) == 0 {
		return math.MaxInt64
	}
	return d.unlistedAllowance(key, intents)
}

// noteListed records, during a round, whether its list shows resting openings for the first time.
func (d *dispatcher) noteListed(leg *leg) {
	leg.ladder.announced = leg.ladder.extended && d.tracker.NeverListed(leg.symbol.Key()) == 0
	leg.ladder.extended = leg.ladder.extended && !leg.ladder.announced
}

// mayExtend reports whether a strategy's openings may be based on the last read: between rounds, and
// only if its symbol could be read.
func (d *dispatcher) mayExtend(leg *leg) bool {
	return !d.stopped && !d.config.Rehearse && !leg.config.Removed && d.nowMS-leg.rounds.readMS <= ladderMS &&
		d.readHealth.readingMS == never && !d.readHealth.incomplete(leg.symbol.Key())
}
