package reconcile

import (
	"slices"
	"strings"

	"botd/exchange"
	"botd/internal/mutant"
	"botd/strategy"
)

// maxRemembered bounds how many ended placements are remembered by their ids,
// so that a stale list showing one of them is not taken for a stranger's order.
const maxRemembered = 20_000

// Book is what is known about one account. It is changed by Apply only; time
// and fetched truth come in as records or snapshots. Not safe for several
// goroutines.
type Book struct {
	settle     Settle
	epoch      int64
	sequence   int64
	version    uint64
	symbols    []*SymbolTruth   // sorted by key
	strategies []*StrategyState // sorted by name
	placements map[string]*Placement
	live       []*Placement // oldest first
	ended      map[string]ending
	endedOrder []string // ring of ended ids, oldest first
	halts      []Halt   // sorted by scope, the account's first
	breaker    Breaker
	tally      tally
	ledger     *Ledger
	watches    []*Watch // sorted by strategy, the account's first
	sends      []send   // of the last minute, oldest first

	openIDs []int64      // scratch of Vanished
	matched []*Placement // scratch of observeList
	placed  [2]places    // of the plan's orders and exits

	newest   serial // of the ids the journal has told of
	seasoned bool   // the journal holds more than starts and wishes
	stale    int64  // answers older than what was known, counted

	Foreign  string // policy for what botd did not make: halt, adopt or ignore
	Instance string // whose prefix our client order ids carry
	Unbooked bool   // no money is booked: fills are not kept for the ledger, which nobody would take them from

	Account   exchange.MarginAccount // as last fetched
	AccountMS int64                  // when; 0 for never
	Balances  []exchange.Balance     // spot wallet as last fetched
	WalletMS  int64
}

// SymbolTruth is what is known about one symbol.
type SymbolTruth struct {
	Key        exchange.SymbolKey
	Rules      *exchange.Symbol // nil until the engine gives them
	Last       exchange.Price   // last trade price
	Mark       exchange.Price   // mark price, Last when not known
	LastMS     int64
	Leverage   int // set on the exchange; 0 not known
	LeverageMS int64

	Position   exchange.Quantity // signed, as the exchange last told
	EntryPrice exchange.Amount
	MarkedAt   exchange.Price // the price when the position and the account were fetched
	PositionID int64
	SinceMS    int64 // when this position was first seen
	LiqPrice   exchange.Amount

	Known   exchange.Quantity // adopted plus the signed fills of all placements
	Bought  exchange.Quantity // spot: gross quantity bought since fees were last squared with the wallet
	Read    bool              // fetched since this start
	Settled bool              // Position equals Known, and nothing on the symbol is unknown

	Fees     exchange.Quantity // spot: what fees took of the quantity bought, since it was last flat
	Baseline exchange.Quantity // spot: what the wallet held of the base asset while the book held none

	Owner       string // whose strategy it is, as last configured
	BareSinceMS int64  // since when the position lacks the stop wished for it; 0 while it does not
	BareMS      int64  // how long positions lacked one in all since the start, BareSinceMS not counted

	Quarantine   string // cause; empty for none
	QuarantineMS int64
	Foreign      []exchange.Order // open orders botd did not make
	Alien        string           // spot: the client order id of an ended order with our prefix that the journal does not know

	Ignored exchange.Quantity // part of the exchange's position that is not botd's; Position is without it

	differs    lasting           // Position and Known, by residual
	residual   exchange.Quantity // Position - Known
	residualOf exchange.Quantity // Known then
	doubled    lasting           // the list shows two positions
	stable     stable            // what the snapshots that count towards the fence tell
	lasts      lasting           // since the first of them
	filledMS   int64             // when Known last changed by a fill
	calm       lasting           // since then; not measured before the first fill of this start
	seen       []int64           // ids of positions seen open, oldest first
	gone       exchange.Quantity // spot: what orders under our prefix that the journal does not know, and that left the list, may have sold
	goneFor    lasting           // since then
	missed     exchange.Quantity // spot: what the wallet misses while an order rests
	misses     lasting           // the wallet, that much
	short      exchange.Quantity // spot: by how much the wallet misses what the fills explain, negative
}

// Price is the price profit is counted at: the mark, else the last trade's.
func (t *SymbolTruth) Price() exchange.Price {
	if t.Mark > 0 {
		return t.Mark
	}
	return t.Last
}

// Moved is how much a futures position's profit has changed since it and the
// account were fetched.
func (t *SymbolTruth) Moved() exchange.Amount {
	if t.AtVenue() == 0 || t.MarkedAt == 0 || t.Rules == nil || t.Key.Market != exchange.Futures {
		return exchange.Amount{}
	}
	return t.Rules.Notional(t.Price()-t.MarkedAt, t.AtVenue())
}

// StrategyState is what must survive a restart of one strategy.
type StrategyState struct {
	Name     string
	Symbol   exchange.SymbolKey
	Plan     strategy.Plan // in force
	Memory   strategy.Memory
	Latch    int               // side of the target that is latched; 0 none
	Target   strategy.Target   // the wish Resolved belongs to
	Resolved exchange.Quantity // its signed quantity
	Priced   bool              // Resolved counts
	OnRemove string            // what becomes of it when it is removed: flatten, leave
	Keys     []KeyFill         // what was filled under each key of the plan, sorted by purpose and key
}

// Day is the equity at the start of the UTC day and its peak ever.
type Day struct {
	StartMS int64
	Equity  exchange.Amount
	Peak    exchange.Amount
}

// NewBook returns an empty book.
func NewBook(settle Settle) *Book {
	return &Book{settle: settle, placements: map[string]*Placement{}, ended: map[string]ending{}, ledger: NewLedger()}
}

// Symbol returns the truth of a symbol, made when it is new.
func (b *Book) Symbol(key exchange.SymbolKey) *SymbolTruth {
	i, found := slices.BinarySearchFunc(b.symbols, key, func(t *SymbolTruth, k exchange.SymbolKey) int { return t.Key.Compare(k) })
	if !found {
		b.symbols = slices.Insert(b.symbols, i, &SymbolTruth{Key: key})
	}
	return b.symbols[i]
}

// Symbols returns all symbols, sorted by key.
func (b *Book) Symbols() []*SymbolTruth { return b.symbols }

// Strategy returns a strategy's state, made when it is new.
func (b *Book) Strategy(name string) *StrategyState {
	i, found := slices.BinarySearchFunc(b.strategies, name, func(s *StrategyState, n string) int { return strings.Compare(s.Name, n) })
	if !found {
		b.strategies = slices.Insert(b.strategies, i, &StrategyState{Name: name})
	}
	return b.strategies[i]
}

// Strategies returns all strategies the book knows, sorted by name.
func (b *Book) Strategies() []*StrategyState { return b.strategies }

// Live returns the placements that are not final, oldest first.
func (b *Book) Live() []*Placement { return b.live }

// Placement returns a live placement by its client order id, or nil.
func (b *Book) Placement(clientOrderID string) *Placement { return b.placements[clientOrderID] }

// Epoch returns the highest journalled epoch.
func (b *Book) Epoch() int64 { return b.epoch }

// Version changes whenever anything a round could act on changes.
func (b *Book) Version() uint64 { return b.version }

// Today returns the account's day.
func (b *Book) Today() Day { return b.Watch("").Day }

// Settle returns the venue's bounds.
func (b *Book) Settle() Settle { return b.settle }

// NextClientOrderID returns an id that was never used: the epoch is above every
// journalled one and the sequence counts up.
func (b *Book) NextClientOrderID(instance string) string {
	b.sequence++
	return ClientOrderID(instance, b.epoch, b.sequence)
}

// Equity returns the futures account's equity, as last fetched and marked.
func (b *Book) Equity() exchange.Amount { return b.Account.Equity() }

// Marked returns the futures account's equity at the last prices: what prices
// have done to positions since the account was fetched is added.
func (b *Book) Marked() exchange.Amount {
	equity := b.Account.Equity()
	for _, truth := range b.symbols {
		equity = equity.Add(truth.Moved())
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

// Touch notes that something outside the records changed that a round must look at.
func (b *Book) Touch() { b.version++ }

// Apply changes the book by one record. Replaying a journal is applying its
// records in order.
func (b *Book) Apply(record *Record) {
	if record.Kind == RecordEntry { // it changes nothing a round acts on
		if record.Entry != nil {
			b.ledger.book(record.Entry)
		}
		return
	}
	b.version++
	switch record.Kind {
	case RecordBoot, RecordConfig, RecordPlan, RecordMemory, RecordLatch, RecordResolved, RecordAudit:
	default:
		b.seasoned = true
	}
	b.told(record)
	switch record.Kind {
	case RecordBoot:
		b.boot(record)
	case RecordSending:
		b.sending(record)
	case RecordAcknowledged, RecordUnknown, RecordFill, RecordRefused, RecordEnded:
		b.advance(record)
	case RecordQuarantined:
		truth := b.Symbol(record.Symbol)
		truth.Quarantine, truth.QuarantineMS = record.Why, record.AtMS
	case RecordAdopted:
		truth := b.Symbol(record.Symbol)
		truth.Known += record.Filled
		truth.Bought, truth.short = 0, 0
		truth.Quarantine, truth.QuarantineMS = "", 0
		if truth.Known == 0 && truth.Key.Market == exchange.Futures {
			b.latchSymbol(truth.Key)
		}
	case RecordIgnored:
		b.ignored(record)
	case RecordFound:
		b.found(record)
	case RecordWithdrawn:
		if p := b.placements[record.ClientOrderID]; p != nil {
			p.Withdrawn = record.Why
		}
	case RecordFees:
		truth := b.Symbol(record.Symbol)
		truth.Fees, truth.Bought = truth.Fees+record.Filled, 0
	case RecordConfig:
		if record.Strategy != "" {
			b.Symbol(record.Symbol).Owner = record.Strategy
			state := b.Strategy(record.Strategy)
			state.Symbol, state.OnRemove = record.Symbol, record.Why
		}
	case RecordBaseline:
		b.Symbol(record.Symbol).Baseline = record.Filled
	case RecordPlan:
		state := b.Strategy(record.Strategy)
		state.Symbol = record.Symbol
		state.Plan.Reset()
		state.Plan.Merge(record.Plan)
		if state.Plan.Target != state.Target {
			state.Priced = false // another wish: the same one later is priced anew
		}
		b.forgetKeys(state)
		b.releaseLatch(state)
	case RecordMemory:
		b.Strategy(record.Strategy).Memory = strategy.MemoryOf(slices.Clone(record.Memory)...)
	case RecordLatch:
		b.Strategy(record.Strategy).Latch = record.Latch
	case RecordResolved:
		state := b.Strategy(record.Strategy)
		state.Target, state.Resolved, state.Priced = record.Target, record.Resolved, true
	case RecordDay:
		b.Watch(record.Strategy).Day = Day{record.DayMS, record.Equity, record.Peak}
	case RecordResult:
		b.resulted(record)
	case RecordBreach:
		b.breached(record)
	case RecordHalt:
		b.halted(record)
	case RecordBreaker:
		b.tripped(record)
	}
}

// told notes an id that the journal tells of: what is on the exchange under one no
// newer than the newest of them is no stranger's at the next start.
// A person that was told of a stranger's ended order is not told of it again.
func (b *Book) told(record *Record) {
	if record.ClientOrderID == "" {
		return
	}
	if id, ours := made(record.ClientOrderID); ours && b.newest.before(id) {
		b.newest = id
	}
	switch record.Kind {
	case RecordHalt, RecordQuarantined, RecordAdopted, RecordIgnored:
		for _, truth := range b.symbols {
			if truth.Alien == record.ClientOrderID {
				truth.Alien = ""
			}
		}
	}
}

// boot begins a new epoch: what was being sent when the last one ended is unknown.
func (b *Book) boot(record *Record) {
	b.epoch, b.sequence = max(b.epoch, record.Epoch), 0
	for _, p := range b.live {
		if p.State == Sending {
			p.State, p.Why, p.UnknownMS = Uncertain, "restarted before the answer", record.AtMS
		}
	}
	for _, truth := range b.symbols {
		truth.Read, truth.Settled, truth.calm = false, false, lasting{}
	}
}

func (b *Book) sending(record *Record) {
	p := &Placement{
		ClientOrderID: record.ClientOrderID, Strategy: record.Strategy, Purpose: record.Purpose, Key: record.Key,
		Order: *record.Order, State: Sending, SentMS: record.AtMS, DeadlineMS: record.DeadlineMS,
	}
	b.placements[p.ClientOrderID] = p
	b.live = append(b.live, p)
	b.Symbol(p.Order.Key()).Settled = false
	b.tally.sent(record.AtMS)
	b.sentAt(record)
}

// advance moves one placement on. A record for a placement already final is
// stale and changes nothing but a fill that grew.
func (b *Book) advance(record *Record) {
	p := b.placements[record.ClientOrderID]
	if p == nil {
		return
	}
	truth := b.Symbol(p.Order.Key())
	truth.Settled = false
	if record.OrderID != 0 {
		p.OrderID = record.OrderID
	}
	if grown := record.Filled - p.Filled; grown > 0 || grown < 0 && mutant.Is(mutant.FillsGoBack) && record.Kind == RecordFill {
		b.fill(p, truth, grown, record)
	}
	switch record.Kind {
	case RecordAcknowledged:
		if p.State.Unresolved() {
			p.State = Acknowledged
		}
	case RecordUnknown:
		p.State, p.Why, p.UnknownMS = Uncertain, record.Why, record.AtMS
		b.tally.unknown(record.AtMS)
	case RecordFill:
		p.State, p.Seen = Working, true
	case RecordRefused:
		p.Why = record.Why
		b.end(p, Refused, record)
	case RecordEnded:
		b.end(p, record.State, record)
	}
}

func (b *Book) fill(p *Placement, truth *SymbolTruth, grown exchange.Quantity, record *Record) {
	price := record.Price
	p.Filled += grown
	truth.filledMS, truth.calm = record.AtMS, lasting{sinceMS: record.AtMS, lastMS: record.AtMS}
	if !b.Unbooked {
		b.ledger.filled(p, grown)
	}
	if !price.IsZero() {
		p.Price = price
	}
	truth.Known += grown * exchange.Quantity(p.Order.Side.Sign())
	switch {
	case p.Order.Side == exchange.Buy:
		truth.Bought += grown
	case p.Order.Market == exchange.Spot && truth.Known <= truth.Fees:
		truth.Known, truth.Fees, truth.Bought = 0, 0, 0 // flat: what fees took is gone with it
	}
	state := b.Strategy(p.Strategy)
	switch {
	case p.Purpose == Order:
		state.under(Order, p.Key).Filled += grown
	case p.Purpose == ExitOrder:
		state.under(ExitOrder, p.Key).Filled += grown
		if state.Priced { // fills of exits beside a target lower it
			state.Resolved = towardsZero(state.Resolved, grown)
		}
	case p.Purpose.Protects():
		b.latch(state)
	}
}

// latch forbids entries on the target's side until the target was zero or
// changed side: a position ended by anything but its plan must not be re-entered
// by the plan that still stands.
func (b *Book) latch(state *StrategyState) {
	if !mutant.Is(mutant.LatchIgnored) {
		state.Latch = state.Plan.Target.Sign()
	}
}

func (b *Book) latchSymbol(key exchange.SymbolKey) {
	for _, state := range b.strategies {
		if state.Symbol == key {
			b.latch(state)
		}
	}
}

func towardsZero(q, by exchange.Quantity) exchange.Quantity {
	switch {
	case q > 0:
		return max(0, q-by)
	case q < 0:
		return min(0, q+by)
	}
	return 0
}

func (b *Book) end(p *Placement, state State, record *Record) {
	p.State, p.EndedMS, p.Evidence = state, record.AtMS, record.Evidence
	b.tally.ended(p)
	if (p.Purpose == Order || p.Purpose == ExitOrder) && (state == Rejected || state == Refused) {
		b.Strategy(p.Strategy).under(p.Purpose, p.Key).RefusedMS = record.AtMS
	}
	if !b.Unbooked {
		b.ledger.endedOrder(p)
	}
	if mutant.Is(mutant.Hoarding) {
		return
	}
	delete(b.placements, p.ClientOrderID)
	b.live = slices.DeleteFunc(b.live, func(q *Placement) bool { return q == p })
	b.remember(p.ClientOrderID, ending{p.OrderID, p.Filled, p.Strategy})
}

// ending is what is remembered of a placement that ended.
type ending struct {
	orderID  int64
	filled   exchange.Quantity
	strategy string
}

func (b *Book) remember(id string, e ending) {
	if _, known := b.ended[id]; !known {
		b.endedOrder = append(b.endedOrder, id)
	}
	b.ended[id] = e
	if len(b.endedOrder) > maxRemembered {
		delete(b.ended, b.endedOrder[0])
		b.endedOrder = b.endedOrder[1:]
	}
}

// ignored takes what is left to whoever made it: the part of a position, or one
// order.
func (b *Book) ignored(record *Record) {
	truth := b.Symbol(record.Symbol)
	truth.Position += truth.Ignored - record.Filled
	truth.Ignored = record.Filled
	truth.Quarantine, truth.QuarantineMS = "", 0
	if record.ClientOrderID != "" {
		b.remember(record.ClientOrderID, ending{record.OrderID, 0, ""})
	}
}

// found takes an order that is on the exchange under one of our ids, and was not
// or no longer the book's.
func (b *Book) found(record *Record) {
	p := &Placement{ClientOrderID: record.ClientOrderID, OrderID: record.OrderID, Strategy: record.Strategy, Purpose: record.Purpose, Key: record.Key,
		Order: *record.Order, State: Working, Seen: true, Filled: record.Filled, SentMS: record.AtMS, DeadlineMS: record.AtMS, Surplus: record.Surplus}
	b.placements[p.ClientOrderID] = p
	b.live = append(b.live, p)
}

// releaseLatch ends a latch when the target is zero or has changed side.
func (b *Book) releaseLatch(state *StrategyState) {
	if state.Latch != 0 && state.Plan.Target.Sign() != state.Latch {
		state.Latch = 0
	}
}

// Ours reports whether the client order id is one the book has made.
func (b *Book) Ours(clientOrderID string) bool {
	_, ended := b.ended[clientOrderID]
	return ended || b.placements[clientOrderID] != nil
}

// Stale returns how many answers were older than what was known already.
func (b *Book) Stale() int64 { return b.stale }
