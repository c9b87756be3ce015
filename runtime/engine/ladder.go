package engine

import (
	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// ladderMS is how old the newest read of a symbol may be for an opening to go out between rounds.
const ladderMS = 5_000

// extendLadder sends the next resting opening of a plan as soon as the exchange has acknowledged the one
// before: a ladder stands as fast as answers come and the request budget allows. One opening at a time is
// unanswered, nothing goes while anything on the symbol is unknown, and the next round reads what became
// of them all.
func (d *dispatcher) extendLadder(before *account.Placement) {
	if before.Purpose() != placement.Order || before.State() != placement.Acknowledged {
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

// unread is how much resting openings of a symbol may fill that no round has read yet. Between two rounds
// they are at most half of what the plan lacks: a second botd on the account, which only a round sees, may
// send the other half.
func (d *dispatcher) unread(key exchange.SymbolKey) (sum exchange.Quantity) {
	for _, p := range d.book.InFlightOn(key) {
		if p.Purpose() == placement.Order && !p.Seen() {
			sum += p.Remaining()
		}
	}
	return sum
}

// mayExtend reports whether openings of a strategy may go by what was read last: between rounds, while
// its symbol could be read.
func (d *dispatcher) mayExtend(leg *leg) bool {
	return !d.halts.stopped && !d.config.Rehearse && !leg.config.Removed && d.nowMS-leg.readMS <= ladderMS &&
		d.readHealth.readingMS == never && !d.readHealth.incomplete(leg.symbol.Key())
}
