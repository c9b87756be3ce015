package engine

import (
	"slices"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
)

// phase is the progress of a round; zero if none is in progress.
type phase uint8

const (
	phaseLists     phase = iota + 1 // open lists, and positions if anything is uncertain
	phaseOrders                     // orders that vanished from their list, by id
	phasePositions                  // positions, account, wallet, prices
)

// reading is what the current round has read so far, and what it still awaits.
type reading struct {
	phase     phase
	pending   int       // pending answers of this phase
	lateMS    int64     // earliest time at which one of the reads may be late
	failures  []failure // one per domain
	late      []failure // one per domain, of pending reads
	snapshot  reconcile.Snapshot
	account   exchange.MarginAccount // the snapshot points to it
	vanished  []*account.Placement   // missing in the open lists
	history   []exchange.Order
	listed    []exchange.Market        // markets whose list of prices was requested
	sentMS    int64                    // when the read that is being applied was sent
	shownMS   [exchange.Spot + 1]int64 // when the positions, or the wallet, of a market were read; 0 before
	requested bool                     // history was requested
	partial   bool                     // a page of the history was full: there may be more
	version   uint64                   // of the tracker when it began
}

// inProgress reports whether answers of a round are pending.
func (r *reading) inProgress() bool { return r.phase != 0 }

// nothingRead reports whether no market's open orders could be read.
func (r *reading) nothingRead() bool {
	s := &r.snapshot
	return len(r.failures) > 0 && !s.FuturesOrders.Done() && !s.SpotOrders.Done()
}

// anyRead reports whether the round read anything of the account.
func (r *reading) anyRead() bool {
	s := &r.snapshot
	return s.FuturesOrders.Done() || s.SpotOrders.Done() || s.Positions.Done() || s.Balances.Done() || r.requested && len(r.history) > 0
}

// wasRead reports whether the round read enough of a market to act on it.
func (r *reading) wasRead(market exchange.Market) bool {
	s := &r.snapshot
	if market == exchange.Spot {
		return s.SpotOrders.Done() && s.Balances.Done()
	}
	return s.Positions.Done()
}

// finished returns the snapshot of a reading that ends now.
func (r *reading) finished(nowMS int64) *reconcile.Snapshot {
	r.snapshot.EndedMS = nowMS
	if r.requested {
		r.snapshot.History, r.snapshot.HistoryWhole = exchange.FetchedOf(r.history), !r.partial
	}
	return &r.snapshot
}

// omits reports whether the list of open spot orders omits an order of botd's that has an order id,
// or could not be read.
func (r *reading) omits(p *account.Placement) bool {
	s := &r.snapshot
	return !s.SpotOrders.Done() || slices.Contains(r.vanished, p) && // canceled orders are among the vanished ones even if they are listed
		!slices.ContainsFunc(s.SpotOrders.Items(), func(o exchange.Order) bool { return o.ID == p.OrderID() })
}

// noteFailure records that a domain could not be read.
func (r *reading) noteFailure(of exchange.SymbolKey, err error) {
	if !slices.ContainsFunc(r.failures, func(f failure) bool { return f.of == of }) {
		r.failures = append(r.failures, failure{of, err})
	}
}

// noteUnread is noteFailure for a domain in which nothing is concluded.
func (r *reading) noteUnread(of exchange.SymbolKey, err error) {
	r.noteFailure(of, err)
	r.snapshot.Unread = append(r.snapshot.Unread, of)
}

// unread prevents conclusions in a call's domain.
func (r *reading) unread(p *pendingCall, of exchange.SymbolKey) {
	if p.kind != callTicker && p.kind != callLeverages && of.Market != 0 {
		r.snapshot.Unread = append(r.snapshot.Unread, of)
	}
}

// noteLate records that a domain's read is late.
func (r *reading) noteLate(of exchange.SymbolKey) {
	if !slices.ContainsFunc(r.late, func(f failure) bool { return f.of == of }) {
		r.late = append(r.late, failure{of, errLate})
	}
}
