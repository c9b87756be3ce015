// Package reconcile derives an account's state from requests and fetched answers, and the intents
// that lead from it to the plan.
//
// It holds the account's Book: the journalled state (package account) and the observations of the
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

// Book is the known state of one account. Each of its parts has its own fields: the journalled
// state, what was observed, what was sent. It is not safe for concurrent use.
type Book struct {
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

// configuration holds the book's settings and what is computed from them.
type configuration struct {
	spotFee       exchange.Rate
	foreignPolicy string
}

// derivedSums holds sums computed from the other parts of the book.
type derivedSums struct {
	marked passSum[exchange.Amount]
}

// buffers are reused from round to round; their contents have no meaning between two uses.
type buffers struct {
	openIDs []int64              // of Vanished
	matched []*account.Placement // of observeList
	slots   []slot               // of convergeKeyed
}

// Settings configure a book.
type Settings struct {
	Instance string        // prefix of botd's client order ids
	Foreign  string        // policy for foreign orders and positions: halt, adopt or ignore
	SpotFee  exchange.Rate // share of the purchased spot asset, until an execution shows the actual rate
}

// Configure changes the book's settings.
func (b *Book) Configure(s Settings) {
	b.identify(s.Instance)
	b.foreignPolicy, b.spotFee = s.Foreign, s.SpotFee
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
	settle         placement.Settle
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

// NewBook returns the book of an account with an empty journal.
func NewBook(settle placement.Settle) *Book {
	return newBook(account.New(account.Options{Settle: settle}))
}

// NewBookWithoutLedger returns the book of an account with an empty journal and without a ledger. It books
// no fills, for runs that never read the ledger.
func NewBookWithoutLedger(settle placement.Settle) *Book {
	return newBook(account.New(account.Options{Settle: settle, WithoutLedger: true}))
}

func newBook(state *account.State) *Book {
	b := &Book{
		tracked:         tracked{journalled: state, bySymbol: map[exchange.SymbolKey]*SymbolState{}},
		observedAccount: observedAccount{spotWallet: spotWallet{settle: state.Settle()}, settle: state.Settle(), listed: map[exchange.Market]openList{}},
		sentRequests:    newSentRequests(),
	}
	b.peer.account, b.peer.pass, b.peer.unnamed = &b.tracked, &b.pass, &b.unnamedPeer
	return b
}

// Checkpoint returns the current journalled state, for the journal.
func (b *Book) Checkpoint(accountName string) record.Checkpoint {
	return record.Checkpoint{Layout: account.Layout, Epoch: b.Epoch(), Account: accountName, State: b.Snapshot()}
}

// Restore returns the book that the records before a checkpoint produce. As after a replay, nothing is
// observed yet.
func Restore(settle placement.Settle, c *record.Checkpoint) (*Book, error) {
	state, err := account.Restore(account.Options{Settle: settle}, c.State)
	if err != nil {
		return nil, err
	}
	b := newBook(state)
	b.listLive()
	for journalled := range state.Symbols() {
		symbol := b.Track(journalled.Key())
		symbol.position = -symbol.Ignored()
	}
	for p := range state.Live() {
		b.notePriorBalance(p)
	}
	b.refusals.restore(state.RefusedPlacements())
	return b, nil
}

// Apply changes the journalled state by one record. A record about an order, or about the part of a
// position that is left to others, leaves its symbol unsettled until the next read.
func (b *Book) Apply(r *record.Record) {
	b.apply(r)
	b.pass.note(b, r)
}

func (b *Book) apply(r *record.Record) {
	switch body := r.Body.(type) {
	case record.Acknowledged, record.Unknown, record.Fill, record.Refused, record.Ended:
		b.advance(r)
		return
	case record.Ignored:
		symbol := b.Track(r.Symbol)
		symbol.settled, symbol.onlyOpeningsPending = false, false
		symbol.position += symbol.Ignored() - body.Quantity
	}
	b.journalled.Apply(r)
	switch body := r.Body.(type) {
	case record.Boot:
		b.noteBoot(r.AtMS)
	case record.Sending:
		b.begin(b.Placement(r.ClientOrderID))
		b.notePriorBalance(b.Placement(r.ClientOrderID))
		symbol := b.Track(body.Order.Key())
		symbol.settled, symbol.onlyOpeningsPending = false, symbol.onlyOpeningsPending && body.Purpose == placement.Order
	case record.Found:
		b.begin(b.Placement(r.ClientOrderID))
		id, _, _ := strings.Cut(r.ClientOrderID, "#")
		b.forgetRefused(func(of *RefusedOrder) bool { return of.clientOrderID == id })
	case record.Adopted:
		symbol := b.Track(r.Symbol)
		symbol.short, symbol.spot.confirmed = 0, 0
		symbol.spot.unlisted.noteBooked(body.Quantity)
		symbol.spot.peer.drop()
		symbol.spot.inherited.quantity, symbol.spot.inherited.decided = 0, symbol.Quarantine() == ""
		symbol.spot.ended = formerPurchase{}
		b.forgetRefused(func(of *RefusedOrder) bool { return of.Symbol == r.Symbol && symbol.Quarantine() == "" })
		b.noteReported(r.ClientOrderID)
	case record.Halt, record.Ignored:
		b.noteReported(r.ClientOrderID)
	case record.Quarantined:
		b.Track(r.Symbol)
		b.noteReported(r.ClientOrderID)
	case record.Assigned, record.Fees, record.Baseline:
		b.Track(r.Symbol)
	}
}

// advance applies a record about a placement, and what it implies for the observations if the placement is
// live.
func (b *Book) advance(r *record.Record) {
	p := b.Placement(r.ClientOrderID)
	if p == nil {
		b.journalled.Apply(r)
		return
	}
	filled, known := p.Filled(), b.Symbol(p.Symbol()).Known()
	if _, refused := r.Body.(record.Refused); refused {
		b.refusals.note(p, b.beforeSent(p), r.AtMS)
		b.noteRefusedStop(p, r.AtMS)
		if p.Purpose().Opens() {
			b.Symbol(p.Symbol()).refusedMS = r.AtMS
		}
	}
	b.journalled.Apply(r)
	b.follow(p)
	symbol := b.Symbol(p.Symbol())
	_, acknowledged := r.Body.(record.Acknowledged)
	symbol.settled, symbol.onlyOpeningsPending = false, symbol.onlyOpeningsPending && acknowledged && p.Purpose() == placement.Order
	if acknowledged && p.Order().Market == exchange.Spot {
		b.notePlaced(p.SentMS())
	}
	if acknowledged {
		b.noteOwn(p)
		b.noteAnswered(r.ClientOrderID, r.AtMS)
	}
	if p.Filled() > filled {
		symbol.spot.overdrawn = false
		if p.Order().Side == exchange.Buy {
			symbol.spot.unlisted.noteBooked(p.Filled() - filled)
			symbol.spot.noteBoughtBefore(p, b.bootMS)
		} else {
			symbol.spot.unlisted.noteSold(p.Filled() - filled - known)
			symbol.spot.beforeSale = b.delivery(p).before
		}
		symbol.spot.peer.noteOwnSale(p, p.Filled()-filled, known)
		symbol.sinceFill = persistence{sinceMS: r.AtMS, lastMS: r.AtMS}
		if p.Order().Market == exchange.Spot && p.Order().Side == exchange.Sell && b.buysUnknown(symbol) {
			symbol.unclaimedSold += max(0, p.Filled()-filled-known)
		}
	}
	symbol.spot.denied.note(p, b.delivery(p))
	if p.State().Final() {
		b.noteEnded(p)
		if p.State() == placement.Canceled {
			b.noteFreed(p, r.AtMS)
			b.noteTaken(p, r.AtMS)
		}
		if p.Order().Side == exchange.Buy {
			symbol.unclaimedSold = 0
			if p.Filled() > 0 {
				symbol.spot.ended = symbol.spot.ended.follow(p, b.delivery(p).before, symbol.FilledMS())
			}
		}
		b.sentRequests.forget(r.ClientOrderID)
	}
}

// noteBoot begins a new epoch: earlier reads no longer count as evidence.
func (b *Book) noteBoot(atMS int64) {
	b.restartSequence()
	b.observedAccount.boot(atMS)
	b.bornEmpty = b.New()
	for symbol := range b.Symbols() {
		symbol.read, symbol.settled, symbol.onlyOpeningsPending, symbol.sinceFill = false, false, false, symbol.sinceFillAtStart(b.Settle(), atMS)
		symbol.futuresEvidence, symbol.spot, symbol.walletOnlyRead, symbol.refusedMS = futuresEvidence{}, spotEvidence{}, false, 0
		symbol.clearContradiction()
		if symbol.Known() != 0 {
			symbol.spot.changedMS = symbol.ChangedMS()
		}
	}
}

// Version changes whenever anything that can affect a round changes.
func (b *Book) Version() uint64 { return b.journalled.Version() + b.changes }

// NextClientOrderID returns a new unique id: its epoch is above every journalled one, its random
// part belongs to this start, and its sequence counts up.
func (b *Book) NextClientOrderID(instance string) string {
	return placement.ClientOrderID(instance, b.Start(), b.nextInSequence())
}

// Canceled yields the live placements for which a cancel was sent, in no particular order.
func (b *Book) Canceled() iter.Seq[*account.Placement] {
	return func(yield func(*account.Placement) bool) {
		for id := range b.canceledIDs() {
			if p := b.Placement(id); p != nil && !yield(p) {
				return
			}
		}
	}
}

// Marked returns the futures account's equity at the last prices: it includes the effect of price
// changes on positions since the account was fetched.
func (b *Book) Marked() exchange.Amount { return b.marked.once(&b.pass, b.sumMarked) }

func (b *Book) sumMarked() exchange.Amount {
	equity := b.marginAccount.Equity()
	for symbol := range b.Symbols() {
		equity = equity.Add(symbol.ProfitChange())
	}
	return equity
}

// Stale returns the number of answers that were older than the known state.
func (o *observedAccount) Stale() int64 { return o.stale }
