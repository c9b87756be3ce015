package view

import (
	"botd/runtime/engine"
	"botd/strategy"
)

// Decision is one change of a strategy's plan.
type Decision struct {
	n int64 // its id

	ID       string  `json:"id"`
	AtMS     int64   `json:"at_ms"`
	Strategy string  `json:"strategy"`
	Market   string  `json:"market"`
	Symbol   string  `json:"symbol"`
	Target   string  `json:"target" was:"wish"` // the target in words
	Side     string  `json:"side"`              // the side of the target: long, short or flat; empty without a target
	Reason   string  `json:"reason"`
	Last     Decimal `json:"last_price"`
	Position Decimal `json:"position"`
}

func (b *Board) noteDecision(n *engine.Note, fact *engine.NoteDecision) {
	target := targetText(fact.Plan.Target, n.Symbol)
	if fact.Plan.OrdersSet {
		target = number(int64(len(fact.Plan.Orders))) + " orders in the book"
	}
	d := b.decisions.add(Decision{n: b.decisions.last + 1, ID: b.decisions.nextID(), AtMS: n.AtMS, Strategy: n.Strategy, Market: n.Symbol.Market.String(),
		Symbol: n.Symbol.Name,
		Target: target, Side: sideText(fact.Plan.Target), Reason: fact.Reason,
		Last: n.Symbol.PriceDecimal(fact.Last).String(), Position: n.Symbol.QuantityDecimal(fact.Position).String()})
	if b.store != nil {
		b.store.Add(*d)
	}
	b.publish("decision", d)
}

func sideText(t strategy.Target) string {
	if t.Kind == strategy.NoTarget {
		return ""
	}
	return [...]string{"short", "flat", "long"}[t.Sign()+1]
}

// Decisions returns the decisions of a strategy, newest first: those in memory, then those
// on the disk.
func (b *Board) Decisions(name string, page Page) (items []Decision, next string) {
	before := page.After
	b.mu.Lock()
	items, next = b.decisions.page(page, func(d *Decision) bool { return name == "" || d.Strategy == name })
	if all := b.decisions.all; len(all) > 0 && (before == 0 || before > all[0].n) {
		before = all[0].n
	}
	store := b.store
	b.mu.Unlock()
	if next != "" || store == nil || before == 0 { // nothing was stored before the first decision either
		return items, next
	}
	older, after := store.older(name, before, page.Limit-len(items))
	if after != 0 {
		next = number(after)
	}
	return append(items, older...), next
}

// Keep stores decisions beyond this run, and lists the newest of earlier runs. It is called
// before the first note.
func (b *Board) Keep(store *DecisionStore) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.store = store
	for _, d := range store.newest(maxDecisions) {
		b.decisions.addAs(d.n, d)
	}
	if firsts := store.firsts(); len(firsts) > 0 { // a number is not used again, even if its file cannot be read
		b.decisions.last = max(b.decisions.last, firsts[len(firsts)-1])
	}
}
