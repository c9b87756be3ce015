package reconcile

import (
	"cmp"
	"iter"
	"maps"

	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// dispatched holds the outcome of the requests about live placements, by client order id: when they
// were passed on and answered, and what the wallet shows in place of an answer.
type dispatched struct {
	sequence     int64                   // of the ids generated in this epoch
	handedOut    map[string]int64        // when a placement was passed on for sending
	answered     map[string]int64        // when the exchange's answer assigned an id to it
	canceled     map[string]cancels      // cancels sent for it
	unable       map[string]int64        // when the exchange refused to cancel it
	released     map[string]int64        // when a spot stop ended by an answer to its cancel, or as the wallet shows
	presumed     map[string]bool         // of these, stops whose end only the wallet shows
	unfrozen     map[string]bool         // spot sales for which the newest wallet freezes nothing
	shownSold    map[string]bool         // uncertain ones of unfrozen that a later read of the wallet has shown as sold
	priorBalance map[string]priorBalance // the wallet's USDT before a spot purchase was sent
}

// cancels holds the times of the first and the newest cancel of a placement.
type cancels struct{ firstMS, lastMS int64 }

func newDispatched() dispatched {
	return dispatched{handedOut: map[string]int64{}, answered: map[string]int64{}, canceled: map[string]cancels{}, unable: map[string]int64{},
		released: map[string]int64{}, presumed: map[string]bool{}, unfrozen: map[string]bool{}, shownSold: map[string]bool{},
		priorBalance: map[string]priorBalance{}}
}

// nextInSequence returns the number of the next id of this epoch, from 1.
func (d *dispatched) nextInSequence() int64 {
	d.sequence++
	return d.sequence
}

func (d *dispatched) restartSequence() { d.sequence = 0 }

// forget drops what is known of a placement that has ended.
func (d *dispatched) forget(clientOrderID string) {
	delete(d.canceled, clientOrderID)
	delete(d.released, clientOrderID)
	delete(d.presumed, clientOrderID)
	delete(d.unable, clientOrderID)
	delete(d.priorBalance, clientOrderID)
	delete(d.unfrozen, clientOrderID)
	delete(d.shownSold, clientOrderID)
	delete(d.answered, clientOrderID)
	delete(d.handedOut, clientOrderID)
}

// noteAnswered records that the exchange's answer assigned an id to a placement.
func (d *dispatched) noteAnswered(clientOrderID string, atMS int64) { d.answered[clientOrderID] = atMS }

// noteUnable records that the exchange refused to cancel a placement.
func (d *dispatched) noteUnable(clientOrderID string, atMS int64) { d.unable[clientOrderID] = atMS }

// unableMS returns when the exchange refused to cancel a placement; 0 for never.
func (d *dispatched) unableMS(p *account.Placement) int64 { return d.unable[p.ClientOrderID()] }

// release records that the exchange answered that it canceled a spot stop.
func (d *dispatched) release(clientOrderID string, atMS int64) { d.released[clientOrderID] = atMS }

// releasedMS returns when it did; 0 for never.
func (d *dispatched) releasedMS(p *account.Placement) int64 { return d.released[p.ClientOrderID()] }

// presumeEnded records that only the wallet shows the end of a spot stop.
func (d *dispatched) presumeEnded(clientOrderID string, atMS int64) {
	d.released[clientOrderID], d.presumed[clientOrderID] = atMS, true
}

// holdAgain records that an order which counted as released holds its asset.
func (d *dispatched) holdAgain(clientOrderID string) { delete(d.released, clientOrderID) }

// endPresumption discards the presumed end of a stop that a list shows.
func (d *dispatched) endPresumption(clientOrderID string) {
	if d.presumed[clientOrderID] {
		delete(d.presumed, clientOrderID)
		delete(d.released, clientOrderID)
	}
}

// noteUnfrozen records whether the newest wallet freezes nothing for a sale.
func (d *dispatched) noteUnfrozen(clientOrderID string, unfrozen bool) {
	if d.unfrozen[clientOrderID] = true; !unfrozen {
		delete(d.unfrozen, clientOrderID)
	}
}

// isUnfrozen reports whether the newest wallet freezes nothing for a sale.
func (d *dispatched) isUnfrozen(p *account.Placement) bool { return d.unfrozen[p.ClientOrderID()] }

// noteShownSold records that a wallet has shown an uncertain sale as sold.
func (d *dispatched) noteShownSold(clientOrderID string) { d.shownSold[clientOrderID] = true }

// isShownSold reports whether a wallet has shown it so.
func (d *dispatched) isShownSold(p *account.Placement) bool { return d.shownSold[p.ClientOrderID()] }

// notePrior records the balance before a purchase was sent.
func (d *dispatched) notePrior(clientOrderID string, before priorBalance) {
	d.priorBalance[clientOrderID] = before
}

// prior returns that balance; zero if it is not known.
func (d *dispatched) prior(p *account.Placement) priorBalance {
	return d.priorBalance[p.ClientOrderID()]
}

// canceledIDs yields the placements for which a cancel was sent, in no particular order.
func (d *dispatched) canceledIDs() iter.Seq[string] { return maps.Keys(d.canceled) }

// firstCancelMS returns when a cancel of a placement was first sent; 0 for never.
func (d *dispatched) firstCancelMS(p *account.Placement) int64 {
	return d.canceled[p.ClientOrderID()].firstMS
}

// NoteHandedOut records that a live placement was passed on for sending.
func (d *dispatched) NoteHandedOut(clientOrderID string, atMS int64) {
	d.handedOut[clientOrderID] = atMS
}

// NoteCancel records that a cancel of a live placement was sent.
func (d *dispatched) NoteCancel(clientOrderID string, atMS int64) {
	d.canceled[clientOrderID] = cancels{cmp.Or(d.canceled[clientOrderID].firstMS, atMS), atMS}
}

// CancelMS returns when a cancel of a live placement was last sent; 0 for never.
func (d *dispatched) CancelMS(clientOrderID string) int64 { return d.canceled[clientOrderID].lastMS }

// arrivedMS returns the earliest time from which a read proves something about an order: its send
// time, or the time of the exchange's answer. In between it may have waited for its turn, so an
// earlier read proves nothing.
func (d *dispatched) arrivedMS(p *account.Placement) int64 {
	return max(p.SentMS(), d.answered[p.ClientOrderID()])
}

// unanswered reports whether a stop was handed out so long ago that its answer counts as lost.
func (d *dispatched) unanswered(p *account.Placement, nowMS int64) bool {
	at := d.handedOut[p.ClientOrderID()]
	return at != 0 && nowMS-at >= repeatMS && p.State() == placement.Sending && p.Purpose() == placement.StopLoss
}
