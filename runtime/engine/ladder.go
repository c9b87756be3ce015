package engine

import (
	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// ladderMS is the maximum age of a symbol's newest read for an opening to be sent between rounds.
const ladderMS = 5_000

// extendLadder sends a plan's next resting opening as soon as the exchange has acknowledged the
// previous one: a ladder is complete as fast as answers arrive and the request budget allows. One
// opening at a time is unanswered, nothing is sent while anything on the symbol is uncertain, and
// the next round reads the state of them all.
func (d *dispatcher) extendLadder(before *account.Placement) {
	if before.Purpose() != placement.Order {
		return
	}
	leg := d.legOn(before.Symbol())
	if leg == nil || !d.mayExtend(leg) {
		return
	}
	desired := d.desiredAt(leg, d.halts.levelOn(leg, record.LevelNone))
	desired.Extends = true
	intents, _ := d.book.Derive(&desired, d.nowMS)
	sent, left := d.unread(before.Symbol()), exchange.Quantity(0)
	for i := range intents {
		if intents[i].Purpose == placement.Order {
			left += intents[i].Order.Quantity
		}
	}
	for i := range intents {
		fits := sent+intents[i].Order.Quantity <= (sent+left)/2
		if intents[i].Purpose == placement.Order && fits && d.dispatch(leg, &intents[i]) {
			return
		}
	}
}

// unread returns the quantity that a symbol's resting openings may fill and that no round has read
// yet. Between two rounds it is at most half of what the plan lacks: a second botd on the account,
// which only a round detects, may send the other half.
func (d *dispatcher) unread(key exchange.SymbolKey) (sum exchange.Quantity) {
	for _, p := range d.book.InFlightOn(key) {
		if p.Purpose() == placement.Order && !p.Seen() {
			sum += p.Remaining()
		}
	}
	return sum
}

// mayExtend reports whether a strategy's openings may use the last read: between rounds, while its
// symbol could be read.
func (d *dispatcher) mayExtend(leg *leg) bool {
	return !d.halts.stopped && !d.config.Rehearse && !leg.config.Removed && d.nowMS-leg.readMS <= ladderMS &&
		d.readHealth.readingMS == never && !d.readHealth.incomplete(leg.symbol.Key())
}
