package strategy

import (
	"slices"

	"botd/exchange"
)

// Plan is a wish, not a command: what the strategy wants to be true. Its zero
// value wishes nothing and leaves everything as it is. Buffers are used again:
// call Reset, not a new Plan.
type Plan struct {
	Target     Target     // the position wanted; exclusive with Orders
	Leverage   int        // futures; 0 leaves it
	Orders     []Wish     // opening orders to keep in the book
	Exits      []Wish     // reducing orders to keep in the book
	OrdersSet  bool       // Orders counts, even when empty
	ExitsSet   bool       // Exits counts, even when empty
	Protection Protection // stop-loss and take-profit of the position
	Reason     string     // why, in words, for logs and screens

	memory Memory
	shared bool // Orders and Exits are the strategy's own, and never change
}

// Share sets Orders and Exits to lists that the strategy will never change again,
// only replace: nothing is copied, and a plan with the same lists is known to wish
// the same without looking at them. A strategy that rests hundreds of orders and
// seldom changes one keeps its lists for that.
func (p *Plan) Share(orders, exits []Wish) {
	p.Orders, p.Exits, p.OrdersSet, p.ExitsSet, p.shared = orders, exits, true, true, true
}

// Shares reports whether the lists are the strategy's own, which never change.
func (p *Plan) Shares() bool { return p.shared }

// TargetKind says how a target is measured.
type TargetKind uint8

// The kinds of target; the zero value is no target.
const (
	NoTarget   TargetKind = iota
	ByQuantity            // signed base quantity
	ByEquity              // notional as a signed share of account equity
	ByQuote               // signed notional in USDT
)

// Target is the position wanted. A target by equity or quote is priced once,
// when its first order is sent, and is that quantity until the wish itself
// changes: it is not rebalanced as the price moves.
type Target struct {
	Kind     TargetKind
	Quantity exchange.Quantity
	Share    exchange.Rate
	Quote    exchange.Amount
}

// Flat is the target of no position.
func Flat() Target { return Target{Kind: ByQuantity} }

// Sign is -1 for short, 0 for flat, +1 for long.
func (t Target) Sign() int {
	switch {
	case t.Quantity > 0 || t.Share > 0 || t.Quote.Sign() > 0:
		return 1
	case t.Quantity < 0 || t.Share < 0 || t.Quote.Sign() < 0:
		return -1
	}
	return 0
}

// Wish is one order to keep in the book under a stable key: another price or
// quantity under the same key replaces it. The quantity is the whole, fills
// included.
type Wish struct {
	Key       string
	Side      exchange.Side
	Price     exchange.Price // limit price
	Quantity  exchange.Quantity
	PostOnly  bool
	StopPrice exchange.Price // 0, or the price that activates it
}

// Protection is the stop-loss and take-profit of the position, kept on the
// exchange.
type Protection struct {
	Set        bool
	StopLoss   Distance
	TakeProfit Distance
}

// Distance is a price, or a share of the entry price away from it on the
// losing (stop) or winning (take-profit) side. Zero is none.
type Distance struct {
	Price exchange.Price
	Share exchange.Rate
}

// IsZero reports whether there is none.
func (d Distance) IsZero() bool { return d == Distance{} }

// Reset empties the plan and keeps its buffers.
func (p *Plan) Reset() {
	// Field by field: once a candle, and a whole Plan at once takes four times as long.
	p.Target, p.Protection = Target{}, Protection{}
	p.Leverage, p.OrdersSet, p.ExitsSet, p.Reason = 0, false, false, ""
	p.unshare()
	if len(p.Orders) > 0 {
		p.Orders = p.Orders[:0]
	}
	if len(p.Exits) > 0 {
		p.Exits = p.Exits[:0]
	}
	if len(p.memory.entries) > 0 {
		p.memory.entries = p.memory.entries[:0]
	}
}

// unshare lets go of lists that are not the plan's own.
func (p *Plan) unshare() {
	if p.shared {
		p.Orders, p.Exits, p.shared = nil, nil, false
	}
}

// Clone returns a copy that shares nothing with the plan but what never changes.
func (p *Plan) Clone() *Plan {
	clone := *p
	if !p.shared {
		clone.Orders, clone.Exits = slices.Clone(p.Orders), slices.Clone(p.Exits)
	}
	clone.memory = Memory{slices.Clone(p.memory.entries)}
	return &clone
}

// Hold sets the target position.
func (p *Plan) Hold(target Target, reason string) { p.Target, p.Reason = target, reason }

// Remember asks for a value to be kept in the journal and shown to every later
// decision as view.Memory.
func (p *Plan) Remember(key string, value int64) { p.memory.set(key, value) }

// Remembered returns what Remember was called with.
func (p *Plan) Remembered() Memory { return p.memory }

// Same reports whether both plans wish the same; reasons are not compared.
func (p *Plan) Same(q *Plan) bool {
	return p.Target == q.Target && p.Leverage == q.Leverage && p.OrdersSet == q.OrdersSet &&
		p.ExitsSet == q.ExitsSet && p.Protection == q.Protection &&
		sameWishes(p.Orders, q.Orders) && sameWishes(p.Exits, q.Exits)
}

// Merge lays a newer plan over this one: fields the newer leaves unset stay.
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

// sameWishes looks at the lists only when they are not the very same one.
func sameWishes(a, b []Wish) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// Covers reports whether laying the newer plan over this one would change
// nothing: the quiet case, decided without allocating.
func (p *Plan) Covers(newer *Plan) bool {
	return (newer.Target.Kind == NoTarget || newer.Target == p.Target) &&
		(newer.Leverage == 0 || newer.Leverage == p.Leverage) &&
		(!newer.Protection.Set || newer.Protection == p.Protection) &&
		(!newer.OrdersSet || p.OrdersSet && sameWishes(newer.Orders, p.Orders)) &&
		(!newer.ExitsSet || p.ExitsSet && sameWishes(newer.Exits, p.Exits))
}

// Memory is what a strategy must remember beyond candles and position: a few
// whole numbers under names, kept in the journal.
type Memory struct {
	entries []MemoryEntry
}

// MemoryEntry is one remembered value.
type MemoryEntry struct {
	Key   string
	Value int64
}

// MemoryOf builds a memory from entries, for the journal.
func MemoryOf(entries ...MemoryEntry) Memory { return Memory{entries} }

// Get returns a remembered value and whether there is one.
func (m Memory) Get(key string) (int64, bool) {
	for _, e := range m.entries {
		if e.Key == key {
			return e.Value, true
		}
	}
	return 0, false
}

// Entries returns all values, in the order they were first remembered.
func (m Memory) Entries() []MemoryEntry { return m.entries }

// With returns a memory that holds the newer values too, and whether that changed anything.
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
	m.entries = append(m.entries, MemoryEntry{key, value})
}
