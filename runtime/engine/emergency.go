package engine

import (
	"cmp"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// emergencyHalt acts without fresh reads while the exchange answers none: it cancels orders that may
// open, by their ids and as often as needed (class I), and closes a futures position at market from its
// last read. It sends that exit only once, because reduceOnly cannot reverse the position. Whatever its
// outcome, another exit requires a fresh read (class R). Protection stays until then.
func (d *dispatcher) emergencyHalt() {
	if d.stopped {
		return
	}
	d.emergencyMS = d.nowMS + haltRetryMS
	for _, leg := range d.legs {
		d.emergencyOn(leg)
	}
}

// emergencyOn applies emergencyHalt to one strategy.
func (d *dispatcher) emergencyOn(leg *leg) {
	level := d.levelOn(leg, record.LevelNone)
	if d.stopped || !d.endsSomething(leg, level) {
		return
	}
	desired := d.desiredAt(leg, level)
	d.latchFlattened(leg, level)
	intents, _ := d.tracker.Derive(&desired, d.nowMS)
	for i := range intents {
		if d.withoutRead(leg, &intents[i], level) {
			d.dispatch(leg, &intents[i])
		}
	}
}

// endsSomething reports whether a halt at this level, or an order withdrawn by a person, closes
// anything on the leg's symbol.
func (d *dispatcher) endsSomething(leg *leg, level record.HaltLevel) bool {
	return level.EndsOrders() ||
		d.tracker.AnyLive(func(p *account.Placement) bool { return p.Symbol() == leg.symbol.Key() && p.Withdrawn() != "" })
}

func (d *dispatcher) withoutRead(leg *leg, intent *reconcile.Intent, level record.HaltLevel) bool {
	switch intent.Purpose {
	case placement.Cancel:
		p := d.tracker.Placement(intent.ClientID)
		return p != nil && (p.Purpose().Opens() || p.Purpose() == placement.ExitOrder)
	case placement.Exit:
		if level != record.LevelFlatten || !intent.Order.ReduceOnly || leg.rounds.emergencyMS == leg.rounds.readMS {
			return false
		}
		leg.rounds.emergencyMS = leg.rounds.readMS
		return true
	}
	return false
}

// latchFlattened latches a strategy whose position a halt closes, so that the plan in force does
// not open it again.
func (d *dispatcher) latchFlattened(leg *leg, level record.HaltLevel) {
	sign := leg.state.Plan().Target().Sign()
	if level != record.LevelFlatten || leg.symbol.Known() == 0 || sign == 0 || leg.state.Latch() == sign || leg.config.Removed {
		return
	}
	d.record(record.Record{Strategy: leg.config.Name, Body: record.Latch{Side: sign}})
	d.note(
		leg.config.Name,
		leg.config.Symbol,
		NoteLatch{Side: sign, Reason: "its position is being closed by " + cmp.Or(d.tracker.HaltOn(leg.config.Name, leg.symbol.Key()).Reason, "stopping")},
	)
}

// actUnread acts for a strategy whose market could not be read completely: protection and one exit
// at a time use the known state, and existing orders stay. It returns the number of intents sent.
func (d *dispatcher) actUnread(leg *leg) (acted int) {
	level := d.levelOn(leg, record.LevelNone)
	if d.endsSomething(leg, level) {
		d.emergencyOn(leg)
		if leg.symbol.Key().Market == exchange.Futures && level >= record.LevelFlatten {
			return 0
		}
	}
	if d.stopped || d.sendsNothing(leg, level) {
		return 0
	}
	quarantined := leg.symbol.Quarantine() != "" && leg.symbol.Cause() != record.ExecutedBeyond
	if leg.symbol.Key().Market == exchange.Spot &&
		(d.tracker.StandsDown() && !d.tracker.MayProtectUnread(leg.symbol) || quarantined && !d.tracker.WalletConclusive(leg.symbol)) {
		return 0 // only the wallet shows the orders that the journal lacks
	}
	desired := d.desiredAt(leg, level)
	desired.Unread, desired.MayOpen = true, false
	intents, _ := d.tracker.Derive(&desired, d.nowMS)
	for i := range intents {
		switch purpose := intents[i].Purpose; {
		case purpose == placement.StopLoss, purpose == placement.Exit, purpose == placement.Cancel && !quarantined:
			if d.dispatch(leg, &intents[i]) {
				acted++
			}
		}
	}
	return acted
}
