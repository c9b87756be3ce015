package engine

import (
	"errors"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// canceled applies the answer to a cancel. An accepted cancel is not yet the end of the order, and a
// refused one proves nothing: the next round reads the order's state. The replacement of a spot stop
// does not wait for that.
func (d *dispatcher) canceled(p pendingCall, event *EventAnswer) {
	d.countRefusal(*p.attempt, event.Err)
	d.requestRoundSoon()
	if refusal := (*exchange.Refusal)(nil); errors.As(event.Err, &refusal) && !ofAccount(refusal) && !refusal.UnknownSymbol() {
		d.tracker.NoteCancelRefused(p.clientID, d.nowMS)
	}
	order := d.tracker.Placement(p.clientID)
	if event.Err != nil || order == nil {
		return
	}
	if order.OrderID() != 0 {
		d.backoffs.accepted(order) // it rested until now
	}
	if !d.config.Feed && d.tracker.NoteReleased(p.clientID, &event.Answer.Order, d.nowMS) {
		d.backoffs.released(order.Symbol())
		d.replaceMS = min(d.replaceMS, d.nowMS+reconcile.ReleaseMS)
	}
}

// replaceReleased places the replacements of stops whose asset has been freed.
func (d *dispatcher) replaceReleased() {
	d.replaceMS = never
	for _, leg := range d.legs {
		at := d.tracker.ReleasedMS(leg.symbol.Key())
		if at == 0 {
			continue
		}
		if d.nowMS >= at+reconcile.ReleaseMS && d.nowMS < at+reconcile.ExitReleaseMS+reconcile.RepeatMS {
			d.replace(leg)
		}
		for _, afterMS := range []int64{reconcile.ReleaseMS, reconcile.ExitReleaseMS} {
			if d.nowMS < at+afterMS {
				d.replaceMS = min(d.replaceMS, at+afterMS)
			}
		}
	}
}

// replace places the replacement of a stop that was just canceled: stops and exits, from the last
// read.
func (d *dispatcher) replace(leg *leg) {
	level := d.levelOn(leg, record.LevelNone)
	if d.sendsNothing(leg, level) {
		return
	}
	desired := d.desiredAt(leg, level)
	desired.MayOpen = false
	intents, _ := d.tracker.Derive(&desired, d.nowMS)
	for i := range intents {
		switch intents[i].Purpose {
		case placement.StopLoss, placement.Exit:
			d.dispatch(leg, &intents[i])
		}
	}
}
