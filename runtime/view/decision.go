package view

import (
	"botd/runtime/engine"
	"botd/strategy"
)

// Decision is one change of a strategy's plan.
type Decision struct {
	n int64

	ID       string  `json:"id"`
	AtMS     int64   `json:"at_ms"`
	Strategy string  `json:"strategy"`
	Market   string  `json:"market"`
	Symbol   string  `json:"symbol"`
	Wish     string  `json:"wish"`
	Side     string  `json:"side"` // of the target: long, short, flat; empty where none is wished
	Reason   string  `json:"reason"`
	Last     Decimal `json:"last_price"`
	Position Decimal `json:"position"`
}

func (b *Board) noteDecision(n *engine.Note, fact *engine.NoteDecision) {
	target := fact.Plan.Target
	d := b.decisions.add(Decision{AtMS: n.AtMS, Strategy: n.Strategy, Market: n.Symbol.Market.String(), Symbol: n.Symbol.Name, Wish: targetText(target, n.Symbol), Side: sideText(target), Reason: fact.Reason,
		Last: n.Symbol.PriceDecimal(fact.Last).String(), Position: n.Symbol.QuantityDecimal(fact.Position).String()}, maxDecisions)
	d.n, d.ID = b.decisions.last, number(b.decisions.last)
	if fact.Plan.OrdersSet {
		d.Wish = number(int64(len(fact.Plan.Orders))) + " orders in the book"
	}
	if b.kept != nil {
		b.kept.Add(*d)
	}
	b.publish("decision", d)
}

func sideText(t strategy.Target) string {
	if t.Kind == strategy.NoTarget {
		return ""
	}
	return [...]string{"short", "flat", "long"}[t.Sign()+1]
}

// Decisions is a page of what a strategy decided, newest first: what is in memory,
// then what is kept on the disk.
func (b *Board) Decisions(name string, page Page) (items []Decision, next string) {
	before := page.After
	b.mu.Lock()
	items, next = Newest(b.decisions.all, page, func(d *Decision) int64 { return d.n }, func(d *Decision) bool { return name == "" || d.Strategy == name }, func(d *Decision) Decision { return *d })
	if all := b.decisions.all; len(all) > 0 && (before == 0 || before > all[0].n) {
		before = all[0].n
	}
	store := b.kept
	b.mu.Unlock()
	if next != "" || store == nil || before == 0 { // before all of them nothing was kept either
		return items, next
	}
	older, after := store.older(name, before, page.Limit-len(items))
	if after != 0 {
		next = number(after)
	}
	return append(items, older...), next
}

// Keep has decisions kept beyond this run, and takes over the newest that are.
// It is called before the first note.
func (b *Board) Keep(store *DecisionStore) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept, b.decisions.all = store, store.newest(maxDecisions)
	if firsts := store.firsts(); len(firsts) > 0 { // also when it can not be read
		b.decisions.last = firsts[len(firsts)-1]
	}
	if all := b.decisions.all; len(all) > 0 {
		b.decisions.last = max(b.decisions.last, all[len(all)-1].n)
	}
}
