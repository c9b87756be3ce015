package reconcile

import (
	"cmp"
	"iter"

	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// sentRequests holds the history of the requests about live placements, by client order id: when they
// were passed on and answered, and the wallet's evidence about those without an answer.
type sentRequests struct {
	sequence   int64                // of the ids generated in this epoch
	deliveries map[string]*delivery // by client order id
}

// delivery is the history of one live placement on its way to the exchange and back.
type delivery struct {
	handedOutMS     int64        // when it was passed on for sending
	answeredMS      int64        // when the exchange's answer assigned an id to it
	canceled        cancels      // cancels sent for it
	unableMS        int64        // when the exchange refused to cancel it
	omittedMS       int64        // on futures, while its state cannot be read: when the first open list that omits it began
	canceledMS      int64        // when the exchange answered that it canceled it, a spot stop
	releasedMS      int64        // when a spot stop ended, by the answer to its cancel or as the wallet shows
	before          priorBalance // the wallet before it was sent, on spot
	inferred        bool         // only the wallet shows that it no longer holds its asset
	unfrozen        bool         // a spot sale: the newest wallet freezes nothing for it
	walletShowsSold bool         // while uncertain and unfrozen, a later read of the wallet has shown it as sold
}

// cancels holds the times of the first and the newest cancel of a placement.
type cancels struct{ firstMS, lastMS int64 }

func newSentRequests() sentRequests { return sentRequests{deliveries: map[string]*delivery{}} }

// nextInSequence returns the number of the next id of this epoch, from 1.
func (d *sentRequests) nextInSequence() int64 {
	d.sequence++
	return d.sequence
}

func (d *sentRequests) restartSequence() { d.sequence = 0 }

// forget drops the delivery of a placement that has ended.
func (d *sentRequests) forget(clientOrderID string) { delete(d.deliveries, clientOrderID) }

// delivery returns a placement's delivery; an empty one if nothing has been noted.
func (d *sentRequests) delivery(p *account.Placement) delivery { return d.known(p.ClientOrderID()) }

func (d *sentRequests) known(clientOrderID string) delivery {
	if known := d.deliveries[clientOrderID]; known != nil {
		return *known
	}
	return delivery{}
}

// note returns the delivery of a live placement for a change, and creates it if it is new.
func (d *sentRequests) note(clientOrderID string) *delivery {
	if d.deliveries[clientOrderID] == nil {
		d.deliveries[clientOrderID] = &delivery{}
	}
	return d.deliveries[clientOrderID]
}

// noteAnswered records that the exchange's answer assigned an id to a placement.
func (d *sentRequests) noteAnswered(clientOrderID string, atMS int64) {
	d.note(clientOrderID).answeredMS = atMS
}

// noteUnable records that the exchange refused to cancel a placement.
func (d *sentRequests) noteUnable(clientOrderID string, atMS int64) {
	d.note(clientOrderID).unableMS = atMS
}

// noteOmitted records that an open list which began at a time omits a placement whose state cannot be read, or with 0 that the placement is shown.
func (d *sentRequests) noteOmitted(clientOrderID string, beganMS int64) {
	if before := d.known(clientOrderID).omittedMS; before == 0 && beganMS != 0 || before != 0 && beganMS == 0 {
		d.note(clientOrderID).omittedMS = beganMS
	}
}

// noteCanceled records that the exchange answered that it canceled a spot stop.
func (d *sentRequests) noteCanceled(clientOrderID string, atMS int64) {
	d.note(clientOrderID).canceledMS = atMS
	d.release(clientOrderID, atMS)
}

// release records that a spot stop no longer holds its asset.
func (d *sentRequests) release(clientOrderID string, atMS int64) {
	d.note(clientOrderID).releasedMS = atMS
}

// inferEnded records that only the wallet shows the end of a spot stop.
func (d *sentRequests) inferEnded(clientOrderID string, atMS int64) {
	known := d.note(clientOrderID)
	known.releasedMS, known.inferred = atMS, true
}

// holdAgain records that an order that counted as released still holds its asset.
func (d *sentRequests) holdAgain(clientOrderID string) { d.release(clientOrderID, 0) }

// dropInferredEnd discards the inferred end of a stop that a list shows.
func (d *sentRequests) dropInferredEnd(clientOrderID string) {
	if known := d.deliveries[clientOrderID]; known != nil && known.inferred {
		known.inferred, known.releasedMS = false, 0
	}
}

// noteUnfrozen records whether the newest wallet freezes nothing for a sale.
func (d *sentRequests) noteUnfrozen(clientOrderID string, unfrozen bool) {
	if d.known(clientOrderID).unfrozen != unfrozen {
		d.note(clientOrderID).unfrozen = unfrozen
	}
}

// noteWalletShowsSold records that a wallet has shown an uncertain sale as sold.
func (d *sentRequests) noteWalletShowsSold(clientOrderID string) {
	d.note(clientOrderID).walletShowsSold = true
}

// notePrior records the balance before a placement was sent.
func (d *sentRequests) notePrior(clientOrderID string, before priorBalance) {
	d.note(clientOrderID).before = before
}

// datePriors dates the balances from before live placements no later than a later read.
func (d *sentRequests) datePriors(beganMS int64) {
	for _, known := range d.deliveries {
		known.before.dateBy(beganMS)
	}
}

// NoteHandedOut records that a live placement was passed on for sending.
func (d *sentRequests) NoteHandedOut(clientOrderID string, atMS int64) {
	d.note(clientOrderID).handedOutMS = atMS
}

// NoteCancel records that a cancel of a live placement was sent.
func (d *sentRequests) NoteCancel(clientOrderID string, atMS int64) {
	known := d.note(clientOrderID)
	known.canceled = cancels{cmp.Or(known.canceled.firstMS, atMS), atMS}
}

// CancelMS returns when a cancel of a live placement was last sent; 0 for never.
func (d *sentRequests) CancelMS(clientOrderID string) int64 {
	return d.known(clientOrderID).canceled.lastMS
}

// canceledIDs yields the placements for which a cancel was sent, in no particular order.
func (d *sentRequests) canceledIDs() iter.Seq[string] {
	return func(yield func(string) bool) {
		for id, known := range d.deliveries {
			if known.canceled.lastMS != 0 && !yield(id) {
				return
			}
		}
	}
}

// arrivedMS returns the earliest time at which a read proves something about an order: its send time, or
// the time of the exchange's answer. Until the answer, the request may have been queued, so an earlier
// read proves nothing.
func (d *sentRequests) arrivedMS(p *account.Placement) int64 {
	return max(p.SentMS(), d.delivery(p).answeredMS)
}

// unanswered reports whether a stop was handed out so long ago that its answer counts as lost.
func (d *sentRequests) unanswered(p *account.Placement, nowMS int64) bool {
	at := d.delivery(p).handedOutMS
	return at != 0 && nowMS-at >= RepeatMS && p.State() == placement.Sending && p.Purpose() == placement.StopLoss
}
