package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/strategy"
)

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
	case RecordBoot, RecordConfig, RecordPlan, RecordMemory, RecordLatch, RecordResolved, RecordAudit, RecordLimit:
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
		b.adopted(record)
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
		b.Watch(record.Strategy).Day = Day{record.DayMS, record.Equity, record.Peak, record.Markets, record.Spot}
	case RecordResult:
		b.resulted(record)
	case RecordBreach:
		b.breached(record)
	case RecordHalt:
		b.halted(record)
	case RecordLimit:
		b.setLimit(record)
	case RecordBreaker:
		b.tripped(record)
	}
}

// adopted takes a difference between venue and book as the book's.
func (b *Book) adopted(record *Record) {
	truth := b.Symbol(record.Symbol)
	truth.Known += record.Filled
	truth.Bought, truth.short = 0, 0
	truth.Quarantine, truth.QuarantineMS = "", 0
	if truth.Known == 0 && truth.Key.Market == exchange.Futures {
		b.latchSymbol(truth.Key)
	}
}

// told notes an id that the journal tells of: what is on the exchange under one no
// newer than the newest of them is no stranger's at the next start.
// A person that was told of a stranger's ended order is not told of it again.
func (b *Book) told(record *Record) {
	if record.ClientOrderID == "" {
		return
	}
	id, ours := made(record.ClientOrderID)
	if ours && b.newest.before(id) {
		b.newest = id
	}
	switch record.Kind {
	case RecordHalt, RecordQuarantined, RecordAdopted, RecordIgnored:
		if ours && b.began.before(id) {
			b.began = id
		}
		for _, truth := range b.symbols {
			if truth.Alien == record.ClientOrderID {
				truth.Alien = ""
			}
		}
	}
}

// boot begins a new epoch: what was being sent when the last one ended is unknown.
func (b *Book) boot(record *Record) {
	b.epoch, b.sequence, b.began = max(b.epoch, record.Epoch), 0, b.newest
	for _, p := range b.live {
		if p.State == Sending {
			p.State, p.Why, p.UnknownMS = Uncertain, "restarted before the answer", record.AtMS
		}
	}
	for _, truth := range b.symbols {
		truth.Read, truth.Settled, truth.calm = false, false, b.calmSince(truth, record.AtMS)
	}
}

// mostSetMS is how far a start may set the clock right that the epoch before it
// told the time of its records by.
const mostSetMS = 10_000

// calmSince begins to measure anew how long ago the last fill was, where the
// clock of before the start may have told too early a time of it.
func (b *Book) calmSince(truth *SymbolTruth, bootMS int64) lasting {
	near := b.settle.StalenessMS + mostSetMS
	if truth.filledMS == 0 || bootMS < truth.filledMS-near || bootMS > truth.filledMS+near {
		return lasting{}
	}
	return lasting{sinceMS: bootMS, lastMS: bootMS}
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
	if grown := record.Filled - p.Filled; grown > 0 {
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
	if p.Order.Market == exchange.Spot && p.Order.Side == exchange.Buy {
		truth.bought(p, grown, price)
	}
	p.Filled += grown
	if record.AtMS-truth.filledMS > b.settle.StalenessMS {
		truth.sold = 0
	}
	if p.Order.Side == exchange.Sell {
		truth.sold += grown
	}
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

// bought keeps the mean price of what is held on spot, given the mean price of all
// that the order has filled now, which is more by grown than before. A price that
// is not told changes nothing.
func (t *SymbolTruth) bought(p *Placement, grown exchange.Quantity, mean exchange.Amount) {
	if mean.IsZero() || grown <= 0 {
		return
	}
	added := mean
	if p.Filled > 0 && !p.Price.IsZero() {
		added = mean.Add(mean.Sub(p.Price).MulDiv(int64(p.Filled), int64(grown)))
	}
	if t.Known <= 0 || t.MeanPrice.IsZero() {
		t.MeanPrice = added
		return
	}
	t.MeanPrice = t.MeanPrice.Add(added.Sub(t.MeanPrice).MulDiv(int64(grown), int64(t.Known+grown)))
}

// latch forbids entries on the target's side until the target was zero or
// changed side: a position ended by anything but its plan must not be re-entered
// by the plan that still stands.
func (b *Book) latch(state *StrategyState) {
	state.Latch = state.Plan.Target.Sign()
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
	delete(b.placements, p.ClientOrderID)
	b.live = slices.DeleteFunc(b.live, func(q *Placement) bool { return q == p })
	b.remember(p.ClientOrderID, ending{orderID: p.OrderID, filled: p.Filled, strategy: p.Strategy, absent: state == Absent})
}

// ending is what is remembered of a placement that ended.
type ending struct {
	orderID  int64
	filled   exchange.Quantity
	strategy string
	left     bool // a person left it to whoever made it
	absent   bool // it was taken never to have been on the exchange, or to be gone from it
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
		b.remember(record.ClientOrderID, ending{orderID: record.OrderID, left: true})
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
