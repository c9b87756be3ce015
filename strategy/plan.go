package strategy

import (
	"iter"
	"slices"

	"botd/exchange"
)

// Plan is the desired state, not a command. Its zero value desires nothing and changes nothing.
// Buffers are reused: call Reset instead of making a new Plan.
type Plan struct {
	Target     Target         // the desired position; exclusive with Orders
	Leverage   int            // futures; 0 leaves it unchanged
	Orders     []DesiredOrder // opening orders to keep in the book
	Exits      []DesiredOrder // reducing orders to keep in the book
	OrdersSet  bool           // Orders is set, even when empty
	ExitsSet   bool           // Exits is set, even when empty
	Protection Protection     // stop-loss and take-profit of the position
	Reason     string         // why, in words, for logs and screens
	SignalMS   int64          `json:"-"` // time of the signal that Target follows; 0 if the strategy does not report one

	memory  Memory
	notices []string
	shared  bool // Orders and Exits belong to the strategy and never change
}

// Share sets Orders and Exits to lists that the strategy will never change, only replace, and in
// which no key occurs twice; nothing checks that. The lists are not copied, and two plans with the
// same lists are equal without a comparison. A strategy that keeps hundreds of orders and rarely
// changes one should share its lists.
func (p *Plan) Share(orders, exits []DesiredOrder) {
	p.Orders, p.Exits, p.OrdersSet, p.ExitsSet, p.shared = orders, exits, true, true, true
}

// TargetKind is the unit of a target.
type TargetKind uint8

// The kinds of target. The zero value is the absence of a target.
const (
	NoTarget   TargetKind = iota
	ByQuantity            // signed base quantity
	ByEquity              // notional as a signed share of account equity
	ByQuote               // signed notional in USDT
)

// Target is the desired position. A target by equity or quote is priced once, when its first order
// is sent, and stays that quantity until the target itself changes: it is not rebalanced as the
// price moves.
type Target struct {
	Kind     TargetKind
	Quantity exchange.Quantity
	Share    exchange.Rate
	Quote    exchange.Amount
}

// Flat returns the target of no position.
func Flat() Target { return Target{Kind: ByQuantity} }

// Sign returns -1 for short, 0 for flat, +1 for long.
func (t Target) Sign() int {
	switch {
	case t.Quantity > 0 || t.Share > 0 || t.Quote.Sign() > 0:
		return 1
	case t.Quantity < 0 || t.Share < 0 || t.Quote.Sign() < 0:
		return -1
	}
	return 0
}

// DesiredOrder is an order to keep in the book under a stable key. Another price or quantity under
// the same key replaces the order. The quantity is the order's total, fills included.
type DesiredOrder struct {
	Key       string
	Side      exchange.Side
	Price     exchange.Price // limit price
	Quantity  exchange.Quantity
	PostOnly  bool
	StopPrice exchange.Price // 0, or the price that activates the order
}

// Protection is the stop-loss and take-profit of the position, kept on the exchange.
type Protection struct {
	Set        bool
	StopLoss   Distance
	TakeProfit Distance
}

// Distance is a price, or a share of the entry price on the losing side (stop-loss) or winning side
// (take-profit). Zero means none.
type Distance struct {
	Price exchange.Price
	Share exchange.Rate
}

// IsZero reports whether there is no distance.
func (d Distance) IsZero() bool { return d == Distance{} }

// Reset empties the plan and keeps its buffers.
func (p *Plan) Reset() {
	// Field by field, one structure per assignment, because this runs once per candle. Clearing a
	// whole Plan takes four times as long, and two structures assigned at once are cleared on the
	// stack and copied from there, which costs more than a call.
	p.Target = Target{}
	p.Protection = Protection{}
	p.Leverage, p.OrdersSet, p.ExitsSet, p.Reason, p.SignalMS = 0, false, false, "", 0
	if p.shared || len(p.Orders)|len(p.Exits)|len(p.memory.entries)|len(p.notices) > 0 {
		p.resetLists()
	}
}

// resetLists empties the lists that most plans do not have.
func (p *Plan) resetLists() {
	p.unshare()
	p.Orders, p.Exits, p.memory.entries, p.notices = p.Orders[:0], p.Exits[:0], p.memory.entries[:0], nil
}

// unshare drops lists that belong to the strategy.
func (p *Plan) unshare() {
	if p.shared {
		p.Orders, p.Exits, p.shared = nil, nil, false
	}
}

// Clone returns a copy that shares only immutable data.
func (p *Plan) Clone() *Plan {
	clone := *p
	if !p.shared {
		clone.Orders, clone.Exits = slices.Clone(p.Orders), slices.Clone(p.Exits)
	}
	clone.memory = Memory{slices.Clone(p.memory.entries)}
	return &clone
}

// Hold sets the target position.
func (p *Plan) Hold(target Target, reason string) {
	// Word by word: overlapping copies, which the compiler would emit, stall in the processor.
	to := &p.Target
	to.Kind, to.Quantity, to.Share, to.Quote = target.Kind, target.Quantity, target.Share, target.Quote
	p.Reason = reason
}

// Remember stores a value in the journal. Later decisions read it from view.Memory.
func (p *Plan) Remember(key string, value int64) { p.memory.set(key, value) }

// Notify reports a text to users, in the log and through the notification channels. It drops texts
// beyond the bounds of a decision.
func (p *Plan) Notify(text string) {
	if len(p.notices) < MaxNotices {
		p.notices = append(p.notices, Clip(text, maxNotice))
	}
}

// Notices returns the texts of Notify.
func (p *Plan) Notices() []string { return p.notices }

// Remembered returns the values stored with Remember.
func (p *Plan) Remembered() Memory { return p.memory }

// Equal reports whether both plans desire the same state. It ignores reasons.
func (p *Plan) Equal(q *Plan) bool {
	return p.Target == q.Target && p.Leverage == q.Leverage && p.OrdersSet == q.OrdersSet &&
		p.ExitsSet == q.ExitsSet && p.Protection == q.Protection &&
		sameOrders(p.Orders, q.Orders) && sameOrders(p.Exits, q.Exits)
}

// Merge lays a newer plan over this one: fields that the newer plan leaves unset stay.
func (p *Plan) Merge(newer *Plan) {
	switch {
	case newer.shared: // always both lists
		p.Orders, p.Exits, p.shared = newer.Orders, newer.Exits, true
		p.OrdersSet, p.ExitsSet, p.Target = true, true, Target{}
	case p.shared && (newer.Target.Kind != NoTarget || newer.OrdersSet || newer.ExitsSet):
		p.Orders, p.Exits, p.shared = slices.Clone(p.Orders), slices.Clone(p.Exits), false
	}
	if newer.Target.Kind != NoTarget {
		p.Target, p.Orders, p.OrdersSet = newer.Target, p.Orders[:0], false
	}
	if newer.Leverage != 0 {
		p.Leverage = newer.Leverage
	}
	if newer.OrdersSet && !newer.shared {
		p.Orders, p.OrdersSet, p.Target = append(p.Orders[:0], newer.Orders...), true, Target{}
	}
	if newer.ExitsSet && !newer.shared {
		p.Exits, p.ExitsSet = append(p.Exits[:0], newer.Exits...), true
	}
	if newer.Protection.Set {
		p.Protection = newer.Protection
	}
	if newer.Reason != "" {
		p.Reason = newer.Reason
	}
}

// sameOrders compares the lists only when they are not the same slice.
func sameOrders(a, b []DesiredOrder) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// Covers reports whether merging the newer plan would change nothing. It does not allocate.
func (p *Plan) Covers(newer *Plan) bool {
	return (newer.Target.Kind == NoTarget || newer.Target == p.Target) &&
		(newer.Leverage == 0 || newer.Leverage == p.Leverage) &&
		(!newer.Protection.Set || newer.Protection == p.Protection) &&
		(!newer.OrdersSet || p.OrdersSet && sameOrders(newer.Orders, p.Orders)) &&
		(!newer.ExitsSet || p.ExitsSet && sameOrders(newer.Exits, p.Exits))
}

// Memory holds the values that a strategy must remember beyond candles and position: a few named
// integers, stored in the journal.
type Memory struct {
	entries []MemoryVariable
}

// MemoryVariable is one remembered value.
type MemoryVariable struct {
	Key   string
	Value int64
}

// MemoryOf builds a memory from entries read from the journal.
func MemoryOf(entries ...MemoryVariable) Memory { return Memory{entries} }

// Get returns a remembered value and whether there is one.
func (m Memory) Get(key string) (int64, bool) {
	for _, e := range m.entries {
		if e.Key == key {
			return e.Value, true
		}
	}
	return 0, false
}

// Entries returns a copy of all values, in the order in which they were first remembered.
func (m Memory) Entries() []MemoryVariable { return slices.Clone(m.entries) }

// All yields them. It does not allocate.
func (m Memory) All() iter.Seq[MemoryVariable] { return slices.Values(m.entries) }

// Len returns their number.
func (m Memory) Len() int { return len(m.entries) }

// With returns a memory with the newer values added, and whether that changed anything.
func (m Memory) With(newer Memory) (Memory, bool) {
	changed := false
	for _, e := range newer.entries {
		if old, found := m.Get(e.Key); found && old == e.Value {
			continue
		}
		if !changed {
			m, changed = Memory{slices.Clone(m.entries)}, true
		}
		m.set(e.Key, e.Value)
	}
	return m, changed
}

func (m *Memory) set(key string, value int64) {
	for i := range m.entries {
		if m.entries[i].Key == key {
			m.entries[i].Value = value
			return
		}
	}
	m.entries = append(m.entries, MemoryVariable{key, value})
}
