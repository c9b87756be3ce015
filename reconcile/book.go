// Package reconcile derives an account's state from what was requested and fetched, and the intents that lead from it to the plan.
//
// It holds the account's Book: the journalled state (package account), and what is
// observed of the exchange. The journalled part changes in one way only, by
// applying records; snapshots are evidence, from which Observe derives records.
// Nothing here asks for the time or does I/O.
package reconcile

import (
	"cmp"
	"iter"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// journalled is the account's journalled state: its methods are the book's too, and
// its Apply is reached through the book's alone.
type journalled = account.State

// Book is what is known about one account: what is journalled, and what is observed.
// Not safe for several goroutines.
type Book struct {
	*journalled
	observed
	symbols  []*SymbolState // sorted by key
	bySymbol map[exchange.SymbolKey]*SymbolState
	recent   *SymbolState // the last one found

	refused   []RefusedOrder
	sequence  int64                // of the ids made in this epoch
	placedMS  int64                // when the last order on spot that the exchange took was sent
	handedOut map[string]int64     // when a live placement was handed out to be sent
	answered  map[string]int64     // when the exchange's answer gave a live placement its id
	canceled  map[string]cancels   // those sent of a live placement
	purposes  []purposed           // of sales that ended, oldest first
	purchases []purchase           // on spot that ended, oldest first
	released  map[string]int64     // when the exchange answered that a live stop on spot is canceled
	presumed  map[string]bool      // of them, those that only the wallet shows to have ended
	purse     map[string]purse     // what money the wallet showed before a live purchase on spot was sent
	unable    map[string]int64     // when the exchange refused to cancel a live placement
	unfrozen  map[string]bool      // live sales on spot for which the newest wallet freezes nothing
	shownSold map[string]bool      // of them, those of unknown fate that a wallet read since has shown to be sold
	inFlight  []*account.Placement // live ones that do not rest, oldest first
	openIDs   []int64              // scratch of Vanished
	matched   []*account.Placement // likewise of observeList
	slots     []slot               // likewise of convergeKeyed
	pass      pass

	SpotFee  exchange.Rate // taken from the asset bought on spot, where no execution has shown it
	Foreign  string        // policy for what botd did not make: halt, adopt or ignore
	Instance string        // whose prefix our client order ids carry
}

// cancels is when the first and the newest cancel of a placement were sent.
type cancels struct{ firstMS, lastMS int64 }

// openList is an open list as it was last read.
type openList struct {
	orders  []exchange.Order
	unread  []int64 // of rows that cannot be read
	beganMS int64   // the snapshot's
}

// observed is what was last fetched of the account as a whole.
type observed struct {
	Account    exchange.MarginAccount
	AccountMS  int64               // when; 0 for never
	accountMS  int64               // when the read of it began
	Balances   []exchange.Balance  // spot wallet
	Open       []exchange.Position // on futures, of any symbol
	WalletMS   int64
	walletMS   int64 // when the read of it began
	walletRead bool  // with the newest snapshot
	listed     map[exchange.Market]openList
	observedMS int64            // when the snapshot under way ended
	listsMS    int64            // when it began
	bootMS     int64            // when this epoch began
	changes    uint64           // of what was observed, counted
	stale      int64            // answers older than what was known, counted
	idsLeftOut bool             // spot lists show botd's own orders without client order ids
	names      map[int64]string // by order id: of orders on spot under this prefix that the journal does not know
}

// NewBook returns the book of an account whose journal is empty.
func NewBook(settle placement.Settle) *Book {
	return &Book{journalled: account.New(settle), canceled: map[string]cancels{}, released: map[string]int64{}, presumed: map[string]bool{},
		unable: map[string]int64{}, unfrozen: map[string]bool{}, shownSold: map[string]bool{}, answered: map[string]int64{},
		handedOut: map[string]int64{}, purse: map[string]purse{},
		bySymbol: map[exchange.SymbolKey]*SymbolState{}, observed: observed{listed: map[exchange.Market]openList{}}}
}

// Checkpoint returns the journalled state as it is, for the journal.
func (b *Book) Checkpoint(accountName string) record.Checkpoint {
	return record.Checkpoint{Layout: account.Layout, Epoch: b.Epoch(), Account: accountName, State: b.Snapshot()}
}

// Restore returns the book that the records before a checkpoint make. Nothing is
// observed yet, as after a replay.
func Restore(settle placement.Settle, c *record.Checkpoint) (*Book, error) {
	state, err := account.Restore(settle, c.State)
	if err != nil {
		return nil, err
	}
	b := NewBook(settle)
	b.journalled = state
	b.listLive()
	for _, journalled := range state.Symbols() {
		symbol := b.Symbol(journalled.Key())
		symbol.Position = -symbol.Ignored()
	}
	return b, nil
}

// Apply changes the journalled state by one record. What was observed of the same
// thing is not settled before it is read again.
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
		symbol := b.Symbol(r.Symbol)
		symbol.Settled, symbol.extends = false, false
		symbol.Position += symbol.Ignored() - body.Quantity
	}
	b.journalled.Apply(r)
	switch body := r.Body.(type) {
	case record.Boot:
		b.noteBoot(r.AtMS)
	case record.Sending:
		b.begin(b.Placement(r.ClientOrderID))
		b.notePurse(b.Placement(r.ClientOrderID))
		symbol := b.Symbol(body.Order.Key())
		symbol.Settled, symbol.extends = false, symbol.extends && body.Purpose == placement.Order
	case record.Found:
		b.begin(b.Placement(r.ClientOrderID))
	case record.Adopted:
		b.Symbol(r.Symbol).short = 0
		b.Symbol(r.Symbol).noteBooked(body.Quantity)
		b.Symbol(r.Symbol).resolveTwin()
		b.noteReported(r.ClientOrderID)
	case record.Halt, record.Ignored:
		b.noteReported(r.ClientOrderID)
	case record.Quarantined:
		b.Symbol(r.Symbol)
		b.noteReported(r.ClientOrderID)
	case record.Assigned, record.Fees, record.Baseline:
		b.Symbol(r.Symbol)
	}
}

// advance takes a record about a live placement; one about another changes nothing.
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
	symbol.Settled, symbol.extends = false, symbol.extends && acknowledged && p.Purpose() == placement.Order
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
		symbol.noteTwinSold(p, p.Filled()-filled, known)
		symbol.calm = persistence{sinceMS: r.AtMS, lastMS: r.AtMS}
		if p.Order().Market == exchange.Spot && p.Order().Side == exchange.Sell && b.buysUnknown(symbol) {
			symbol.leftSold += max(0, p.Filled()-filled-known)
		}
	}
	if p.State().Final() {
		b.notePurpose(p)
		if p.State() == placement.Canceled {
			b.noteFreed(p, r.AtMS)
		}
		delete(b.canceled, r.ClientOrderID)
		delete(b.released, r.ClientOrderID)
		delete(b.presumed, r.ClientOrderID)
		delete(b.unable, r.ClientOrderID)
		delete(b.purse, r.ClientOrderID)
		delete(b.unfrozen, r.ClientOrderID)
		delete(b.shownSold, r.ClientOrderID)
		delete(b.answered, r.ClientOrderID)
		delete(b.handedOut, r.ClientOrderID)
		if p.Order().Side == exchange.Buy {
			symbol.leftSold = 0
		}
	}
}

// InFlight returns the live placements that do not rest, oldest first: sent and not answered, acknowledged and not
// read yet, uncertain, or at market. They are few, whatever rests.
func (b *Book) InFlight() []*account.Placement { return slices.Clip(b.inFlight) }

// InFlightOn returns those of a symbol, oldest first.
func (b *Book) InFlightOn(key exchange.SymbolKey) []*account.Placement {
	if symbol := b.find(key); symbol != nil {
		return slices.Clip(symbol.inFlight)
	}
	return nil
}

func inFlight(p *account.Placement) bool {
	return !p.State().Final() && (p.State() != placement.Working || p.Type() == exchange.MarketOrder)
}

// listLive finds again what is live on each symbol, and what of it is in flight.
func (b *Book) listLive() {
	b.inFlight = b.inFlight[:0]
	for _, symbol := range b.symbols {
		symbol.live, symbol.inFlight = symbol.live[:0], symbol.inFlight[:0]
	}
	for _, p := range b.Live() {
		b.begin(p)
	}
}

// begin lists the newest placement.
func (b *Book) begin(p *account.Placement) {
	symbol := b.Symbol(p.Symbol())
	symbol.live = append(symbol.live, p)
	if inFlight(p) {
		b.inFlight, symbol.inFlight = append(b.inFlight, p), append(symbol.inFlight, p)
	}
}

// follow puts a placement that has moved on where it belongs.
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

// without takes a placement out of a list in place. It clears nothing behind the end: somebody may be reading there.
func without(list []*account.Placement, p *account.Placement) []*account.Placement {
	if i := slices.Index(list, p); i >= 0 {
		return append(list[:i], list[i+1:]...)
	}
	return list
}

// noteBoot begins a new epoch: nothing is concluded from what was read before it.
func (b *Book) noteBoot(atMS int64) {
	b.sequence, b.bootMS = 0, atMS
	for _, symbol := range b.symbols {
		symbol.Read, symbol.Settled, symbol.extends, symbol.calm = false, false, false, symbol.calmSince(b.Settle(), atMS)
		symbol.testimony, symbol.spot, symbol.readAlone, symbol.refusedMS = testimony{}, spotTestimony{}, false, 0
		symbol.declare("", 0)
	}
}

// noteReported takes that an unknown ended order was reported to a person.
func (b *Book) noteReported(clientOrderID string) {
	for _, symbol := range b.symbols {
		if clientOrderID != "" && symbol.UnknownEnded == clientOrderID {
			symbol.UnknownEnded = ""
		}
	}
}

// Symbol returns the state of a symbol, made when it is new.
func (b *Book) Symbol(key exchange.SymbolKey) *SymbolState {
	if known := b.find(key); known != nil {
		return known
	}
	none := []*account.Placement{} // not nil, as a list that has become empty is not
	made := &SymbolState{journalledSymbol: b.journalled.Symbol(key), live: none, inFlight: none}
	at, _ := slices.BinarySearchFunc(b.symbols, key, func(s *SymbolState, k exchange.SymbolKey) int { return s.Key().Compare(k) })
	b.symbols, b.bySymbol[key] = slices.Insert(b.symbols, at, made), made
	return made
}

// find returns the state of a symbol, or nil. It remembers the last one, which what a round does with a symbol asks for again
// and again.
func (b *Book) find(key exchange.SymbolKey) *SymbolState {
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

// Knows reports whether there is a symbol of a market.
func (b *Book) Knows(market exchange.Market) bool {
	return slices.ContainsFunc(b.symbols, func(s *SymbolState) bool { return s.Key().Market == market })
}

// Version changes whenever anything a round could act on changes.
func (b *Book) Version() uint64 { return b.journalled.Version() + b.changes }

// NextClientOrderID returns an id that was never used: the epoch is above every
// journalled one, its random part is this start's alone, and the sequence counts up.
func (b *Book) NextClientOrderID(instance string) string {
	b.sequence++
	return placement.ClientOrderID(instance, b.Start(), b.sequence)
}

// NoteHandedOut takes that a live placement was handed out to be sent.
func (b *Book) NoteHandedOut(clientOrderID string, atMS int64) { b.handedOut[clientOrderID] = atMS }

// NoteCancel takes that a cancel of a live placement was sent.
func (b *Book) NoteCancel(clientOrderID string, atMS int64) {
	b.canceled[clientOrderID] = cancels{cmp.Or(b.canceled[clientOrderID].firstMS, atMS), atMS}
}

// Canceled gives the live placements of which a cancel was sent, in no order.
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

// Equity returns the futures account's equity, as last fetched and marked.
func (b *Book) Equity() exchange.Amount { return b.Account.Equity() }

// Marked returns the futures account's equity at the last prices: what prices
// have done to positions since the account was fetched is added.
func (b *Book) Marked() exchange.Amount { return b.pass.marked.once(&b.pass, b.sumMarked) }

func (b *Book) sumMarked() exchange.Amount {
	equity := b.Account.Equity()
	for _, symbol := range b.symbols {
		equity = equity.Add(symbol.Moved())
	}
	return equity
}

// Balance returns the spot wallet's entry of an asset; zero when it has none.
func (b *Book) Balance(asset string) exchange.Balance {
	for _, balance := range b.Balances {
		if balance.Asset == asset {
			return balance
		}
	}
	return exchange.Balance{Asset: asset}
}

// Stale returns how many answers were older than what was known already.
func (b *Book) Stale() int64 { return b.stale }
