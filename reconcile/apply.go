package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// Apply changes the book by one record. Replaying a journal is applying its
// records in order.
func (b *Book) Apply(r *record.Record) {
	if posting, ok := r.Body.(record.Posting); ok { // it changes nothing a round acts on
		b.ledger.Post(&posting.Posting)
		return
	}
	b.version++
	b.noteID(r)
	switch body := r.Body.(type) {
	case record.Boot:
		b.boot(r.AtMS, body.Epoch)
	case record.Config, record.Audit:
	case record.Limit:
		b.setLimit(r, &body)
	case record.Assigned, record.Plan, record.Memory, record.Latch, record.Priced:
		b.applyToStrategy(r)
	default:
		b.seasoned = true
		b.applyFact(r)
	}
}

// applyToStrategy takes what changes one strategy's state.
func (b *Book) applyToStrategy(r *record.Record) {
	state := b.Strategy(r.Strategy)
	switch body := r.Body.(type) {
	case record.Assigned:
		b.Symbol(r.Symbol).Owner = r.Strategy
		state.Symbol, state.OnRemove = r.Symbol, body.OnRemove
	case record.Plan:
		state.Symbol = r.Symbol
		state.Plan.Reset()
		state.Plan.Merge(body.Plan)
		if state.Plan.Target != state.Target {
			state.Priced = false // another target: the same one later is priced anew
		}
		b.forgetKeys(state)
		b.releaseLatch(state)
	case record.Memory:
		state.Memory = strategy.MemoryOf(slices.Clone(body.Entries)...)
	case record.Latch:
		state.Latch = body.Side
	case record.Priced:
		state.Target, state.Resolved, state.Priced = body.Target, body.Quantity, true
	}
}

// applyFact takes what happened to orders, symbols and the account.
func (b *Book) applyFact(r *record.Record) {
	switch body := r.Body.(type) {
	case record.Sending:
		b.sending(r, &body)
	case record.Acknowledged, record.Unknown, record.Fill, record.Refused, record.Ended:
		b.advance(r)
	case record.Quarantined:
		truth := b.Symbol(r.Symbol)
		truth.Quarantine, truth.QuarantineMS = body.Why, r.AtMS
	case record.Adopted:
		b.adopted(b.Symbol(r.Symbol), body.Quantity)
	case record.Ignored:
		b.ignored(r, &body)
	case record.Found:
		b.found(r, &body)
	case record.Withdrawn:
		if p := b.placements[r.ClientOrderID]; p != nil {
			p.Withdrawn = body.Why
		}
	case record.Fees:
		truth := b.Symbol(r.Symbol)
		truth.Fees, truth.Bought = truth.Fees+body.Quantity, 0
	case record.Baseline:
		b.Symbol(r.Symbol).Baseline = body.Quantity
	case record.Day:
		b.Watch(r.Strategy).Day = Day(body)
	case record.Result:
		b.resulted(r.Strategy, &body)
	case record.Accounted:
		b.accounted(&body)
	case record.Breach:
		b.breached(r, &body)
	case record.Halt:
		b.halted(r, &body)
	case record.Breaker:
		b.tripped(r.AtMS, &body)
	}
}

// adopted takes a difference between venue and book as the book's.
func (b *Book) adopted(truth *SymbolTruth, quantity exchange.Quantity) {
	truth.Known += quantity
	truth.Bought, truth.short = 0, 0
	truth.Quarantine, truth.QuarantineMS = "", 0
	if truth.Known == 0 && truth.Key.Market == exchange.Futures {
		b.latchSymbol(truth.Key)
	}
}

// noteID notes the id of the order that a record is about: an order on the exchange
// with an id no newer than the newest of them is known at the next start. A person
// to whom an unknown ended order was reported is not notified of it again.
func (b *Book) noteID(r *record.Record) {
	if r.ClientOrderID == "" {
		return
	}
	id, ours := placement.ParseSerial(r.ClientOrderID)
	if ours && b.newest.Before(id) {
		b.newest = id
	}
	switch r.Body.(type) {
	case record.Halt, record.Quarantined, record.Adopted, record.Ignored:
		if ours && b.began.Before(id) {
			b.began = id
		}
		for _, truth := range b.symbols {
			if truth.Alien == r.ClientOrderID {
				truth.Alien = ""
			}
		}
	}
}

// boot begins a new epoch: what was being sent when the last one ended is unknown.
func (b *Book) boot(atMS, epoch int64) {
	b.epoch, b.sequence, b.began = max(b.epoch, epoch), 0, b.newest
	for _, p := range b.live {
		if p.State == Sending {
			p.State, p.Why, p.UnknownMS = Uncertain, "restarted before the answer", atMS
		}
	}
	for _, truth := range b.symbols {
		truth.Read, truth.Settled, truth.calm = false, false, b.calmSince(truth, atMS)
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

func (b *Book) sending(r *record.Record, body *record.Sending) {
	p := &Placement{
		ClientOrderID: r.ClientOrderID, Strategy: r.Strategy, Purpose: body.Purpose, Key: body.Key,
		Order: body.Order, State: Sending, SentMS: r.AtMS, DeadlineMS: body.DeadlineMS,
	}
	b.placements[p.ClientOrderID] = p
	b.live = append(b.live, p)
	b.Symbol(p.Order.Key()).Settled = false
	b.tally.sent(r.AtMS)
	b.sentAt(r.AtMS, r.Strategy)
}

// advance moves one placement on. A record for a placement already final is
// stale and changes nothing but a fill that grew.
func (b *Book) advance(r *record.Record) {
	p := b.placements[r.ClientOrderID]
	if p == nil {
		return
	}
	truth := b.Symbol(p.Order.Key())
	truth.Settled = false
	switch body := r.Body.(type) {
	case record.Acknowledged:
		p.identify(body.OrderID)
		if p.State.Unresolved() {
			p.State = Acknowledged
		}
	case record.Unknown:
		p.State, p.Why, p.UnknownMS = Uncertain, body.Why, r.AtMS
		b.tally.unknown(r.AtMS)
	case record.Fill:
		p.identify(body.OrderID)
		b.fillTo(p, truth, body.Filled, body.Price, r.AtMS)
		p.State, p.Seen = Working, true
	case record.Refused:
		p.Why = body.Why
		b.end(p, Refused, "", r.AtMS)
	case record.Ended:
		p.identify(body.OrderID)
		b.fillTo(p, truth, body.Filled, body.Price, r.AtMS)
		b.end(p, body.State, body.Evidence, r.AtMS)
	}
}

// fillTo books what an order has filled beyond what is booked.
func (b *Book) fillTo(p *Placement, truth *SymbolTruth, filled exchange.Quantity, price exchange.Amount, atMS int64) {
	if grown := filled - p.Filled; grown > 0 {
		b.fill(p, truth, grown, price, atMS)
	}
}

func (b *Book) fill(p *Placement, truth *SymbolTruth, grown exchange.Quantity, price exchange.Amount, atMS int64) {
	if p.Order.Market == exchange.Spot && p.Order.Side == exchange.Buy {
		truth.bought(p, grown, price)
	}
	p.Filled += grown
	if atMS-truth.filledMS > b.settle.StalenessMS {
		truth.sold = 0
	}
	if p.Order.Side == exchange.Sell {
		truth.sold += grown
	}
	truth.filledMS, truth.calm = atMS, lasting{sinceMS: atMS, lastMS: atMS}
	if !b.Unbooked {
		b.ledger.Fill(p.booked(), grown)
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

func (b *Book) end(p *Placement, state State, evidence string, atMS int64) {
	p.State, p.EndedMS, p.Evidence = state, atMS, evidence
	b.tally.ended(p)
	if (p.Purpose == Order || p.Purpose == ExitOrder) && (state == Rejected || state == Refused) {
		b.Strategy(p.Strategy).under(p.Purpose, p.Key).RefusedMS = atMS
	}
	if !b.Unbooked {
		b.ledger.End(p.ClientOrderID, p.OrderID)
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
func (b *Book) ignored(r *record.Record, body *record.Ignored) {
	truth := b.Symbol(r.Symbol)
	truth.Position += truth.Ignored - body.Quantity
	truth.Ignored = body.Quantity
	truth.Quarantine, truth.QuarantineMS = "", 0
	if r.ClientOrderID != "" {
		b.remember(r.ClientOrderID, ending{orderID: body.OrderID, left: true})
	}
}

// found takes an order that is on the exchange under one of our ids, and was not
// or no longer the book's.
func (b *Book) found(r *record.Record, body *record.Found) {
	p := &Placement{ClientOrderID: r.ClientOrderID, OrderID: body.OrderID, Strategy: r.Strategy, Purpose: body.Purpose, Key: body.Key,
		Order: body.Order, State: Working, Seen: true, Filled: body.Filled, SentMS: r.AtMS, DeadlineMS: r.AtMS, Surplus: body.Duplicate}
	b.placements[p.ClientOrderID] = p
	b.live = append(b.live, p)
}

// releaseLatch ends a latch when the target is zero or has changed side.
func (b *Book) releaseLatch(state *StrategyState) {
	if state.Latch != 0 && state.Plan.Target.Sign() != state.Latch {
		state.Latch = 0
	}
}
