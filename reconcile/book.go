// Package reconcile derives an account's state from requests and fetched answers, and the intents
// that lead from it to the plan.
//
// It holds the account's Book: the journalled state (package account) and the observations of the
// exchange. The journalled part changes only by applying records; snapshots are evidence, from
// which Observe derives records. The package neither reads the time nor does I/O.
package reconcile

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// journalled is the account's journalled state. The book promotes its methods, but hides its Apply
// behind its own.
type journalled = account.State

// Book is the known state of one account, journalled and observed. It is not safe for concurrent
// use.
type Book struct {
	*journalled
	observed
	symbols  []*SymbolState // sorted by key
	bySymbol map[exchange.SymbolKey]*SymbolState
	recent   *SymbolState // the last one looked up

	refused      []RefusedOrder
	sequence     int64                   // of the ids generated in this epoch
	placedMS     int64                   // send time of the last spot order that the exchange accepted
	handedOut    map[string]int64        // when a live placement was passed on for sending
	answered     map[string]int64        // when the exchange's answer assigned an id to a live placement
	canceled     map[string]cancels      // cancels sent for a live placement
	purposes     []purposed              // purposes of ended sales, oldest first
	purchases    []purchase              // ended spot purchases, oldest first
	released     map[string]int64        // when the exchange answered that it canceled a live spot stop
	presumed     map[string]bool         // of these, stops whose end only the wallet shows
	priorBalance map[string]priorBalance // the wallet's USDT before a live spot purchase was sent
	unable       map[string]int64        // when the exchange refused to cancel a live placement
	unfrozen     map[string]bool         // live spot sales for which the newest wallet freezes nothing
	shownSold    map[string]bool         // of these, uncertain ones that a later wallet read has shown as sold
	inFlight     []*account.Placement    // live placements that do not rest, oldest first
	openIDs      []int64                 // scratch of Vanished
	matched      []*account.Placement    // scratch of observeList
	slots        []slot                  // scratch of convergeKeyed
	pass         pass

	SpotFee  exchange.Rate // share of the bought spot asset, until an execution shows the actual rate
	Foreign  string        // policy for foreign orders and positions: halt, adopt or ignore
	Instance string        // instance whose prefix botd's client order ids carry
}

// cancels holds the times of the first and the newest cancel of a placement.
type cancels struct{ firstMS, lastMS int64 }

// openList is the last read of an open list.
type openList struct {
	orders  []exchange.Order
	unread  []int64 // ids of unreadable rows
	beganMS int64   // begin of the snapshot
}

// observed is the last fetched state of the account as a whole.
type observed struct {
	Account     exchange.MarginAccount
	AccountMS   int64               // time of the read; 0 for never
	marginShown bool                // the account has reported a used position margin since the start
	accountMS   int64               // begin of the read
	Balances    []exchange.Balance  // spot wallet
	Open        []exchange.Position // on futures, of any symbol
	WalletMS    int64
	walletMS    int64 // begin of the read
	walletRead  bool  // read with the newest snapshot
	listed      map[exchange.Market]openList
	observedMS  int64            // end of the snapshot under way
	listsMS     int64            // its begin
	bootMS      int64            // begin of this epoch
	changes     uint64           // number of changes of the observed state
	stale       int64            // number of answers older than the known state
	idsLeftOut  bool             // spot lists omit the client order ids of botd's own orders
	idsShown    bool             // the spot history has shown a client order id
	names       map[int64]string // by order id: spot orders with this prefix that are not in the journal
}

// NewBook returns the book of an account whose journal is empty.
func NewBook(settle placement.Settle) *Book {
	return newBook(account.New(account.Options{Settle: settle}))
}

// NewBookWithoutLedger returns such a book that books no fills, for a run in which nothing reads the
// ledger.
func NewBookWithoutLedger(settle placement.Settle) *Book {
	return newBook(account.New(account.Options{Settle: settle, WithoutLedger: true}))
}

func newBook(state *account.State) *Book {
	return &Book{journalled: state, canceled: map[string]cancels{}, released: map[string]int64{}, presumed: map[string]bool{},
		unable: map[string]int64{}, unfrozen: map[string]bool{}, shownSold: map[string]bool{}, answered: map[string]int64{},
		handedOut: map[string]int64{}, priorBalance: map[string]priorBalance{},
		bySymbol: map[exchange.SymbolKey]*SymbolState{}, observed: observed{listed: map[exchange.Market]openList{}}}
}

// Checkpoint returns the current journalled state, for the journal.
func (b *Book) Checkpoint(accountName string) record.Checkpoint {
	return record.Checkpoint{Layout: account.Layout, Epoch: b.Epoch(), Account: accountName, State: b.Snapshot()}
}

// Restore returns the book of the records before a checkpoint. As after a replay, nothing is
// observed yet.
func Restore(settle placement.Settle, c *record.Checkpoint) (*Book, error) {
	state, err := account.Restore(account.Options{Settle: settle}, c.State)
	if err != nil {
		return nil, err
	}
	b := newBook(state)
	b.listLive()
	for _, journalled := range state.Symbols() {
		symbol := b.Track(journalled.Key())
		symbol.position = -symbol.Ignored()
	}
	return b, nil
}

// Apply changes the journalled state by one record. Earlier observations of the same object do not
// settle it until it is read again.
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
		symbol.noteBooked(body.Quantity)
		symbol.resolvePeerOrders()
		symbol.spot.armed, symbol.spot.armedDecided = 0, symbol.Quarantine() == ""
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

// advance applies a record to a live placement. It ignores records about others.
func (b *Book) advance(r *record.Record) {
	p := b.Placement(r.ClientOrderID)
	if p == nil {
		b.journalled.Apply(r)
		return
	}
	filled, known := p.Filled(), b.Symbol(p.Symbol()).Known()
	if _, refused := r.Body.(record.Refused); refused {
		b.noteRefused(p, r.AtMS)
		b.noteOverdrawn(p)
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
		b.placedMS = p.SentMS()
	}
	if acknowledged {
		b.answered[r.ClientOrderID] = r.AtMS
	}
	if p.Filled() > filled {
		symbol.spot.overdrawn = false
		if p.Order().Side == exchange.Buy {
			symbol.noteBooked(p.Filled() - filled)
		} else {
			symbol.noteSold(p.Filled() - filled - known)
		}
		symbol.notePeerSold(p, p.Filled()-filled, known)
		symbol.sinceFill = persistence{sinceMS: r.AtMS, lastMS: r.AtMS}
		if p.Order().Market == exchange.Spot && p.Order().Side == exchange.Sell && b.buysUnknown(symbol) {
			symbol.leftSold += max(0, p.Filled()-filled-known)
		}
	}
	if p.State().Final() {
		b.notePurpose(p)
		if p.State() == placement.Canceled {
			b.noteFreed(p, r.AtMS)
			b.noteTaken(p, r.AtMS)
		}
		delete(b.canceled, r.ClientOrderID)
		delete(b.released, r.ClientOrderID)
		delete(b.presumed, r.ClientOrderID)
		delete(b.unable, r.ClientOrderID)
		delete(b.priorBalance, r.ClientOrderID)
		delete(b.unfrozen, r.ClientOrderID)
		delete(b.shownSold, r.ClientOrderID)
		delete(b.answered, r.ClientOrderID)
		delete(b.handedOut, r.ClientOrderID)
		if p.Order().Side == exchange.Buy {
			symbol.leftSold = 0
		}
	}
}

// InFlight returns the live placements that do not rest, oldest first: sent without an answer,
// acknowledged but not read yet, uncertain, or at market. They are few, however many orders rest.
func (b *Book) InFlight() []*account.Placement { return slices.Clip(b.inFlight) }

// InFlightOn returns the placements in flight on a symbol, oldest first.
func (b *Book) InFlightOn(key exchange.SymbolKey) []*account.Placement {
	if symbol := b.Symbol(key); symbol != nil {
		return slices.Clip(symbol.inFlight)
	}
	return nil
}

func inFlight(p *account.Placement) bool {
	return !p.State().Final() && (p.State() != placement.Working || p.Type() == exchange.MarketOrder)
}

// listLive rebuilds the lists of live placements per symbol and of those in flight.
func (b *Book) listLive() {
	b.inFlight = b.inFlight[:0]
	for _, symbol := range b.symbols {
		symbol.live, symbol.inFlight = symbol.live[:0], symbol.inFlight[:0]
	}
	for _, p := range b.Live() {
		b.begin(p)
	}
}

// begin lists a new placement.
func (b *Book) begin(p *account.Placement) {
	symbol := b.Track(p.Symbol())
	symbol.live = append(symbol.live, p)
	if inFlight(p) {
		b.inFlight, symbol.inFlight = append(b.inFlight, p), append(symbol.inFlight, p)
	}
}

// follow moves a changed placement to the list where it belongs.
func (b *Book) follow(p *account.Placement) {
	symbol := b.Symbol(p.Symbol())
	if listed := slices.Contains(symbol.inFlight, p); inFlight(p) && !listed {
		b.listLive()
		return
	} else if listed && !inFlight(p) {
		b.inFlight, symbol.inFlight = without(b.inFlight, p), without(symbol.inFlight, p)
	}
	if p.State().Final() {
		symbol.live = without(symbol.live, p)
	}
}

// without removes a placement from a list in place. It does not clear the slots behind the end,
// because another reader may still use them.
func without(list []*account.Placement, p *account.Placement) []*account.Placement {
	others := list[:0]
	for _, q := range list {
		if q != p {
			others = append(others, q)
		}
	}
	return others
}

// noteBoot begins a new epoch: earlier reads no longer count as evidence.
func (b *Book) noteBoot(atMS int64) {
	b.sequence, b.bootMS = 0, atMS
	for _, symbol := range b.symbols {
		symbol.read, symbol.settled, symbol.onlyOpeningsPending, symbol.sinceFill = false, false, false, symbol.sinceFillAtStart(b.Settle(), atMS)
		symbol.futuresEvidence, symbol.spot, symbol.readAlone, symbol.refusedMS = futuresEvidence{}, spotEvidence{}, false, 0
		symbol.believe()
		if symbol.Known() != 0 {
			symbol.spot.changedMS = symbol.ChangedMS()
		}
	}
}

// noteReported records that an unknown ended order was reported to a person.
func (b *Book) noteReported(clientOrderID string) {
	for _, symbol := range b.symbols {
		if clientOrderID != "" && symbol.unknownEnded == clientOrderID {
			symbol.unknownEnded = ""
		}
	}
}

// Track returns the state of a symbol and creates it if it is new.
func (b *Book) Track(key exchange.SymbolKey) *SymbolState {
	if known := b.Symbol(key); known != nil {
		return known
	}
	none := []*account.Placement{} // not nil, like a list that became empty
	made := &SymbolState{journalledSymbol: b.journalled.Track(key), live: none, inFlight: none}
	at, _ := slices.BinarySearchFunc(b.symbols, key, func(s *SymbolState, k exchange.SymbolKey) int { return s.Key().Compare(k) })
	b.symbols, b.bySymbol[key] = slices.Insert(b.symbols, at, made), made
	return made
}

// Symbol returns the state of a symbol, or nil if the book does not track it. It caches the last
// one, which a round looks up repeatedly.
func (b *Book) Symbol(key exchange.SymbolKey) *SymbolState {
	if b.recent == nil || b.recent.Key() != key {
		known := b.bySymbol[key]
		if known == nil {
			return nil
		}
		b.recent = known
	}
	return b.recent
}

// Symbols returns all symbols, sorted by key.
func (b *Book) Symbols() []*SymbolState { return b.symbols }

// Knows reports whether the book has a symbol of a market.
func (b *Book) Knows(market exchange.Market) bool {
	return slices.ContainsFunc(b.symbols, func(s *SymbolState) bool { return s.Key().Market == market })
}

// Version changes whenever anything that can affect a round changes.
func (b *Book) Version() uint64 { return b.journalled.Version() + b.changes }

// NextClientOrderID returns a new unique id: its epoch is above every journalled one, its random
// part belongs to this start, and its sequence counts up.
func (b *Book) NextClientOrderID(instance string) string {
	b.sequence++
	return placement.ClientOrderID(instance, b.Start(), b.sequence)
}

// NoteHandedOut records that a live placement was passed on for sending.
func (b *Book) NoteHandedOut(clientOrderID string, atMS int64) { b.handedOut[clientOrderID] = atMS }

// NoteCancel records that a cancel of a live placement was sent.
func (b *Book) NoteCancel(clientOrderID string, atMS int64) {
	b.canceled[clientOrderID] = cancels{cmp.Or(b.canceled[clientOrderID].firstMS, atMS), atMS}
}

// Canceled yields the live placements for which a cancel was sent, in no particular order.
func (b *Book) Canceled() iter.Seq[*account.Placement] {
	return func(yield func(*account.Placement) bool) {
		for id := range b.canceled {
			if p := b.Placement(id); p != nil && !yield(p) {
				return
			}
		}
	}
}

// CancelMS returns when a cancel of a live placement was last sent; 0 for never.
func (b *Book) CancelMS(clientOrderID string) int64 { return b.canceled[clientOrderID].lastMS }

// Marked returns the futures account's equity at the last prices: it includes the effect of price
// changes on positions since the account was fetched.
func (b *Book) Marked() exchange.Amount { return b.pass.marked.once(&b.pass, b.sumMarked) }

func (b *Book) sumMarked() exchange.Amount {
	equity := b.Account.Equity()
	for _, symbol := range b.symbols {
		equity = equity.Add(symbol.Moved())
	}
	return equity
}

// Balance returns the spot wallet's entry for an asset, or zero if there is none.
func (b *Book) Balance(asset string) exchange.Balance {
	for _, balance := range b.Balances {
		if balance.Asset == asset {
			return balance
		}
	}
	return exchange.Balance{Asset: asset}
}

// Stale returns the number of answers that were older than the known state.
func (b *Book) Stale() int64 { return b.stale }
