package engine

import (
	"slices"

	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// haltRetryMS is the time after which a failed round is retried while a halt has something to
// close.
const haltRetryMS = 2_000

// schedule sets the time of the next round: soon while anything is in flight, uncertain or
// unprotected, otherwise after the idle time.
func (r *round) schedule(acted bool) {
	changed := r.tracker.Version() != r.reader.version
	switch {
	case acted || r.halts.unread() || r.busy() && (r.config.BusyRoundMS != 0 || changed):
		r.roundMS = r.nowMS + r.config.BusyRoundMS
	case r.accounting.ready(), r.results.outstandingMS != 0:
		r.roundMS = r.nowMS + r.bookingMS()
	case r.config.IdleRoundMS != 0:
		r.roundMS = min(r.nowMS+r.config.IdleRoundMS, r.limits.nextChangeMS())
	default:
		r.roundMS = never
	}
	if r.readHealth.worst() > 0 {
		r.roundMS = min(r.roundMS, r.nowMS+r.retryMS())
	}
	if r.config.IdleRoundMS > 0 && (r.tracker.StandsDown() || r.tracker.HasUnnamedPeer()) {
		r.roundMS = min(r.roundMS, r.nowMS+standDownRoundMS)
	}
	r.roundMS = min(r.roundMS, r.backoffs.nextMS())
}

// standDownRoundMS is the time between rounds while botd stands down: the other botd may remove a stop,
// or buy, and end before it has placed its own stop.
const standDownRoundMS = 2_000

// bookingMS returns when the ledger's reading is old enough to be booked.
func (r *round) bookingMS() int64 {
	return max(r.config.BusyRoundMS, min(r.config.IdleRoundMS, r.config.Bounds.StalenessMS))
}

// bookSooner schedules the next round soon if the answers to the ledger's reads were not
// sufficient for booking.
func (r *round) bookSooner() {
	if r.config.IdleRoundMS != 0 && !r.reader.inProgress() && r.accounting.ready() {
		r.roundMS = min(r.roundMS, r.nowMS+r.bookingMS())
	}
}

// roundFailed ends a round that could read no market: it concludes nothing and does nothing.
func (r *round) roundFailed() {
	read := &r.reader.roundReads
	var failures []failure
	if len(read.failures) > 0 {
		failures = []failure{{err: read.failures[0].err}} // if no market can be read, the failure is the account's
	}
	r.readHealth.countReads(failures, read.late, false)
	r.note("", nil, NoteRound{DurationMS: r.nowMS - read.snapshot.BeganMS})
	r.end()
	r.readHealth.watch()
	guardOverdue(r.base)
	r.dispatcher.emergencyHalt()
	r.roundMS = r.nowMS + r.retryMS()
}

// abandonRound starts the current round over, because that round did not request everything that a round
// must request now.
func (r *round) abandonRound() {
	if r.reader.inProgress() {
		r.reader.abandon()
		r.end()
		r.roundMS = r.nowMS
	}
}

// walletAhead reports whether the equity would mix two moments, those of a wallet and of
// the fills.
func (r *round) walletAhead() bool {
	return !r.config.Feed && slices.ContainsFunc(r.legs, func(leg *leg) bool { return r.tracker.WalletAhead(leg.symbol) })
}

// positionChanged reports whether the round has changed a strategy's position.
func (r *round) positionChanged() bool {
	for i, leg := range r.legs {
		if leg.symbol.Position() != r.before[i].position {
			return true
		}
	}
	return false
}

// busy reports whether a round in the near future could bring new information.
func (r *round) busy() bool {
	for p := range r.tracker.InFlight() {
		if r.readHealth.failing(p.Symbol()) == 0 {
			return true
		}
	}
	for p := range r.tracker.Canceled() {
		if r.readHealth.failing(p.Symbol()) == 0 {
			return true
		}
	}
	return slices.ContainsFunc(r.legs, func(leg *leg) bool {
		unsettled := !leg.symbol.Settled() || r.tracker.AwaitsFreshWallet(leg.symbol) || leg.symbol.Suspect() && !r.config.Feed ||
			len(leg.symbol.ReappearedOrders()) > 0 || leg.symbol.FrozenUnexplained() != 0 && r.levelOn(leg, record.LevelNone) == record.LevelFlatten
		return leg.symbol.UnprotectedSinceMS() != 0 || r.tracker.JointUncovered(leg.symbol) || unsettled && r.readHealth.failing(leg.symbol.Key()) == 0
	})
}

// retryMS returns the time after which an incomplete round is retried.
func (r *round) retryMS() int64 {
	maxMS := int64(15_000)
	switch {
	case r.halts.pending():
		maxMS = haltRetryMS
	case r.exposed():
		maxMS = exposedRetryMS
	}
	return min(maxMS, max(1_000, r.config.BusyRoundMS)<<max(0, min(r.readHealth.worst()-1, 4)))
}

// exposedRetryMS is the time after which a round is retried if it could not read a symbol where a
// position may lack its stop.
const exposedRetryMS = 2_000

// exposed reports whether a position in a symbol that cannot be read lacks its stop, or may lack it: it
// has not been read since the start, or the outcome of an opening, possibly a refused one, is uncertain.
func (r *round) exposed() bool {
	return slices.ContainsFunc(r.legs, func(leg *leg) bool {
		unseen := !leg.symbol.Read() && leg.symbol.Known() != 0 && !r.protection.hasStop(leg)
		return (leg.symbol.UnprotectedSinceMS() != 0 || unseen) && r.readHealth.failing(leg.symbol.Key()) > 0
	}) || slices.ContainsFunc(r.tracker.Refused(), func(o reconcile.RefusedOrder) bool {
		return o.Opens() && r.readHealth.failing(o.Symbol) > 0
	}) || r.tracker.AnyInFlight(func(p *account.Placement) bool {
		return p.Purpose().Opens() && p.State() != placement.Working && r.readHealth.failing(p.Symbol()) > 0
	})
}
