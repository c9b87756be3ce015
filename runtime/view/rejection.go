package view

import (
	"botd/runtime/engine"
)

// maxRefusals bounds the refused intents that are kept.
const maxRefusals = 2_000

// Refusal is an intent that a rule refused. One that is refused word for word again
// is told once.
type Refusal struct {
	n int64

	ID        string  `json:"id"`
	AtMS      int64   `json:"at_ms"`
	Rule      string  `json:"rule"`
	Value     string  `json:"value"`
	Limit     string  `json:"limit"`
	Hint      string  `json:"hint"`
	Strategy  string  `json:"strategy"`
	Market    string  `json:"market"`
	Symbol    string  `json:"symbol"`
	Purpose   string  `json:"purpose"`
	Side      string  `json:"side,omitempty"`
	Type      string  `json:"type,omitempty"`
	Quantity  Decimal `json:"quantity,omitempty"`
	Price     Decimal `json:"price,omitempty"`
	StopPrice Decimal `json:"stop_price,omitempty"`
	Detail    string  `json:"detail"` // in words
	Intent    string  `json:"intent"` // its id, for the whole life and every rule
}

// keepRefusal keeps a refusal after the intent it is of, which is the newest one.
func (b *Board) keepRefusal(n *engine.Note, fact *engine.NoteRefusal) {
	in, refusal := intentOf(n.AtMS, n.Symbol, fact.Intent), fact.Refusal
	r := b.refused.add(Refusal{AtMS: n.AtMS, Rule: refusal.Rule, Value: refusal.Value, Limit: refusal.Limit, Hint: refusal.Hint, Strategy: in.Strategy, Market: in.Market, Symbol: in.Symbol,
		Purpose: in.Purpose, Side: in.Side, Type: in.Type, Quantity: in.Quantity, Price: in.Price, StopPrice: in.StopPrice, Detail: refusal.Error()}, maxRefusals)
	r.n, r.ID = b.refused.last, number(b.refused.last)
	if last := len(b.intents.all) - 1; last >= 0 {
		r.Intent = b.intents.all[last].ID
	}
}

// Refusals returns refused intents, newest first.
func (b *Board) Refusals(page Page, keep func(*Refusal) bool) ([]Refusal, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Newest(b.refused.all, page, func(r *Refusal) int64 { return r.n }, keep, func(r *Refusal) Refusal { return *r })
}
