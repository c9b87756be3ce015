// Package reconcile derives an account's state from requests and fetched answers, and the intents
// that lead from it to the plan.
//
// It holds the account's Tracker: the journalled state (package account) and the observations of the
// exchange. The journalled part changes only by applying records; snapshots are evidence, from
// which Observe derives records. The package neither reads the time nor does I/O.
package reconcile

import (
	"iter"
	"strings"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Tracker is the known state of one account. Each of its parts has its own fields: the journalled
// state, what was observed, what was sent. It is not safe for concurrent use.
type Tracker struct {
	tracked
	observedAccount
	sentRequests
	refusals
	spotEnded
	peer
	unnamedPeer
	pass
	derivedSums
	buffers
	configuration
}

// configuration holds the tracker's settings and what is computed from them.
type configuration struct {
	spotFee       exchange.Rate
	foreignPolicy string
}

// derivedSums holds sums computed from the other parts of the tracker.
type derivedSums struct {
	marked passSum[exchange.Amount]
}

// buffers are reused from round to round; their contents have no meaning between two uses.
type buffers struct {
	openIDs []int64              // of Vanished
	matched []*account.Placement // of observeList
	slots   []slot               // of convergeKeyed
}

// Settings configure a tracker.
type Settings struct {
	Instance string        // prefix of botd's client order ids
	Foreign  string        // policy for foreign orders and positions: halt, adopt or ignore
	SpotFee  exchange.Rate // share of the purchased spot asset, until an execution shows the actual rate
}

// Configure changes the tracker's settings.
func (t *Tracker) Configure(s Settings) {
	t.identify(s.Instance)
	t.foreignPolicy, t.spotFee = s.Foreign, s.SpotFee
}

// openList is the last read of an open list.
type openList struct {
	orders  []exchange.Order
	unread  []int64 // ids of unreadable rows
	beganMS int64   // start of the snapshot
}

// observedAccount is the last fetched state of the account as a whole.
type observedAccount struct {
	spotWallet
	bounds         placement.Bounds
	marginAccount  exchange.MarginAccount
	accountMS      int64               // time of the read; 0 for never
	accountFromMS  int64               // start of the read
	marginShown    bool                // since the start, the account has reported margin used by positions
	marginAgreeMS  int64               // when it was last the margin that the listed positions need; 0 for never
	marginUnlisted bool                // as last read, it is more than the listed positions need
	openPositions  []exchange.Position // on futures, of any symbol
	listed         map[exchange.Market]openList
	readEndedMS    int64                // end of the current snapshot
	readBeganMS    int64                // start of the current snapshot
	bootMS         int64                // start of this epoch
	bornEmpty      bool                 // the journal was new at this start
	changes        uint64               // number of changes of the observed state
	stale          int64                // number of answers older than the known state
	idsLeftOut     bool                 // spot lists omit the client order ids of botd's own orders
	idsShown       bool                 // the spot history has shown a client order id
	names          map[int64]string     // by order id: spot orders with this prefix that are not in the journal
	fetchedOnly    []*account.Placement // resting openings read by id that no open list has shown
}

// NewTracker returns the tracker of an account with an empty journal.
func NewTracker(bounds placement.Bounds) *Tracker {
	return newTracker(account.New(account.Options{Bounds: bounds}))
}

// NewTrackerWithoutLedger returns the tracker of an account with an empty journal and without a ledger. It books
// no fills, for runs that never read the ledger.
func NewTrackerWithoutLedger(bounds placement.Bounds) *Tracker {
	return newTracker(account.New(account.Options{Bounds: bounds, WithoutLedger: true}))
}

func newTracker(state *account.State) *Tracker {
	t := &Tracker{
		tracked:         tracked{journalled: state, bySymbol: map[exchange.SymbolKey]*SymbolState{}},
		observedAccount: observedAccount{spotWallet: spotWallet{bounds: state.Bounds()}, bounds: state.Bounds(), listed: map[exchange.Market]openList{}},
		sentRequests:    newSentRequests(),
	}
	t.peer.account, t.peer.pass, t.peer.unnamed = &t.tracked, &t.pass, &t.unnamedPeer
	return t
}

// Checkpoint returns the current journalled state, for the journal.
func (t *Tracker) Checkpoint(accountName string) record.Checkpoint {
	return record.Checkpoint{Layout: account.Layout, Epoch: t.Epoch(), Account: accountName, State: t.Snapshot()}
}

// Restore returns the tracker that the records before a checkpoint produce. As after a replay, nothing is
// observed yet.
func Restore(bounds placement.Bounds, c *record.Checkpoint) (*Tracker, error) {
	state, err := account.Restore(account.Options{Bounds: bounds}, c.State)
	if err != nil {
		return nil, err
	}
	t := newTracker(state)
	t.listLive()
	for journalled := range state.Symbols() {
		symbol := t.Track(journalled.Key())
		symbol.position = -symbol.Ignored()
	}
	for p := range state.Live() {
		t.notePriorBalance(p)
	}
	t.refusals.restore(state.RefusedPlacements())
	return t, nil
}

// Apply changes the journalled state by one record. A record about an order, or about the part of a
// position that is left to others, leaves its symbol unsettled until the next read.
func (t *Tracker) Apply(r *record.Record) {
	t.apply(r)
	t.pass.note(t, r)
}

func (t *Tracker) apply(r *record.Record) {
	switch body := r.Body.(type) {
	case record.Acknowledged, record.Uncertain, record.Fill, record.Refused, record.Ended:
		t.advance(r)
		return
	case record.Ignored:
		symbol := t.Track(r.Symbol)
		symbol.settled, symbol.onlyOpeningsPending = false, false
		symbol.position += symbol.Ignored() - body.Quantity
	}
	t.journalled.Apply(r)
	switch body := r.Body.(type) {
	case record.Boot:
		t.beginEpoch(r.AtMS)
	case record.Sending:
		t.begin(t.Placement(r.ClientOrderID))
		t.notePriorBalance(t.Placement(r.ClientOrderID))
		symbol := t.Track(body.Order.Key())
		symbol.settled, symbol.onlyOpeningsPending = false, symbol.onlyOpeningsPending && body.Purpose == placement.Order
	case record.Found:
		t.begin(t.Placement(r.ClientOrderID))
		id, _, _ := strings.Cut(r.ClientOrderID, "#")
		t.forgetRefused(func(of *RefusedOrder) bool { return of.clientOrderID == id })
	case record.Adopted:
		symbol := t.Track(r.Symbol)
		symbol.walletShortfall, symbol.spot.confirmed = 0, 0
		symbol.spot.unlisted.subtractBooked(body.Quantity)
		symbol.spot.peer.drop()
		symbol.spot.inherited.quantity, symbol.spot.inherited.decided = 0, symbol.Quarantine() == ""
		symbol.spot.endedPurchase = formerPurchase{}
		t.forgetRefused(func(of *RefusedOrder) bool { return of.Symbol == r.Symbol && symbol.Quarantine() == "" })
		t.noteReported(r.ClientOrderID)
	case record.Halt, record.Ignored:
		t.noteReported(r.ClientOrderID)
	case record.Quarantined:
		t.Track(r.Symbol)
		t.noteReported(r.ClientOrderID)
	case record.Assigned, record.Fees, record.Baseline:
		t.Track(r.Symbol)
	}
}

// advance applies a record about a placement, and what it implies for the observations if the placement is
// live.
func (t *Tracker) advance(r *record.Record) {
	p := t.Placement(r.ClientOrderID)
	if p == nil {
		t.journalled.Apply(r)
		return
	}
	filled, known := p.Filled(), t.Symbol(p.Symbol()).Known()
	if _, refused := r.Body.(record.Refused); refused {
		t.refusals.note(p, t.beforeSent(p), r.AtMS)
		t.noteRefusedStop(p, r.AtMS)
		if p.Purpose().Opens() {
			t.Symbol(p.Symbol()).refusedMS = r.AtMS
		}
	}
	t.journalled.Apply(r)
	t.follow(p)
	symbol := t.Symbol(p.Symbol())
	_, acknowledged := r.Body.(record.Acknowledged)
	symbol.settled, symbol.onlyOpeningsPending = false, symbol.onlyOpeningsPending && acknowledged && p.Purpose() == placement.Order
	if acknowledged && p.Order().Market == exchange.Spot {
		t.notePlaced(p.SentMS())
	}
	if acknowledged {
		t.noteOwn(p)
		t.noteAnswered(r.ClientOrderID, r.AtMS)
		symbol.spot.overdrawn = symbol.spot.overdrawn && p.Purpose() != placement.StopLoss
	}
	if p.Filled() > filled {
		symbol.spot.overdrawn = false
		if p.Order().Side == exchange.Buy {
			symbol.spot.unlisted.subtractBooked(p.Filled() - filled)
			symbol.spot.noteBoughtBefore(p, t.bootMS)
		} else {
			symbol.spot.unlisted.subtractSold(p.Filled() - filled - known)
			symbol.spot.beforeSale = t.delivery(p).before
		}
		symbol.spot.peer.noteOwnSale(p, p.Filled()-filled, known)
		symbol.sinceFill = persistence{sinceMS: r.AtMS, lastMS: r.AtMS}
		if p.Order().Market == exchange.Spot && p.Order().Side == exchange.Sell && t.purchaseUncertain(symbol) {
			symbol.unclaimedSold += max(0, p.Filled()-filled-known)
		}
	}
	symbol.spot.denied.note(p, t.delivery(p))
	if p.State().Final() {
		t.noteEnded(p)
		if p.State() == placement.Canceled {
			t.noteFreed(p, r.AtMS)
			t.noteTaken(p, r.AtMS)
		}
		if p.Order().Side == exchange.Buy {
			symbol.unclaimedSold = 0
			if p.Filled() > 0 {
				symbol.spot.endedPurchase = symbol.spot.endedPurchase.follow(p, t.delivery(p).before, symbol.FilledMS())
			}
		}
		t.sentRequests.forget(r.ClientOrderID)
	}
}

// BornEmpty reports whether the journal was new at this start.
func (o *observedAccount) BornEmpty() bool { return o.bornEmpty }

// beginEpoch begins a new epoch: earlier reads no longer count as evidence.
func (t *Tracker) beginEpoch(atMS int64) {
	t.restartSequence()
	t.observedAccount.boot(atMS)
	t.bornEmpty = t.New()
	for symbol := range t.Symbols() {
		symbol.read, symbol.settled, symbol.onlyOpeningsPending, symbol.sinceFill = false, false, false, symbol.sinceFillAtStart(t.Bounds(), atMS)
		symbol.futuresEvidence, symbol.spot, symbol.walletOnlyRead, symbol.refusedMS = futuresEvidence{}, spotEvidence{}, false, 0
		symbol.clearContradiction()
		if symbol.Known() != 0 {
			symbol.spot.changedMS = symbol.ChangedMS()
		}
	}
}

// Version changes whenever anything that can affect a round changes.
func (t *Tracker) Version() uint64 { return t.journalled.Version() + t.changes }

// NextClientOrderID returns a new unique id: its epoch is above every journalled one, its random
// part belongs to this start, and its sequence counts up.
func (t *Tracker) NextClientOrderID(instance string) string {
	return placement.ClientOrderID(instance, t.Start(), t.nextInSequence())
}

// Canceled yields the live placements for which a cancel was sent, in no particular order.
func (t *Tracker) Canceled() iter.Seq[*account.Placement] {
	return func(yield func(*account.Placement) bool) {
		for id := range t.canceledIDs() {
			if p := t.Placement(id); p != nil && !yield(p) {
				return
			}
		}
	}
}

// Marked returns the futures account's equity at the last prices: it includes the effect of price
// changes on positions since the account was fetched.
func (t *Tracker) Marked() exchange.Amount { return t.marked.once(&t.pass, t.sumMarked) }

func (t *Tracker) sumMarked() exchange.Amount {
	equity := t.marginAccount.Equity()
	for symbol := range t.Symbols() {
		equity = equity.Add(symbol.ProfitChange())
	}
	return equity
}

// Stale returns the number of answers that were older than the known state.
func (o *observedAccount) Stale() int64 { return o.stale }
