package view

import (
	"botd/risk"
	"botd/runtime/engine"
)

// Refusal is an intent that a rule refused. A refusal that repeats word for word is listed once.
type Refusal struct {
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
	Detail    string  `json:"detail"` // the refusal in words
	Intent    string  `json:"intent"` // the id of the intent, which GET /api/v1/intents/{id} returns with the verdict of every rule
}

// Rejections are the refusals of one rule since the start.
type Rejections struct {
	Rule     string `json:"rule"`
	Count    int64  `json:"count"`
	LastMS   int64  `json:"last_ms"`
	Strategy string `json:"strategy"` // the strategy of the last refusal
	Symbol   string `json:"symbol"`
	Value    string `json:"value"`
	Limit    string `json:"limit"`
	Hint     string `json:"hint"`
}

// countRejection counts and lists a refusal. The intent that was refused is the newest one.
func (b *Board) countRejection(n *engine.Note, fact *engine.NoteRejection) {
	in, rejection := intentOf(n.AtMS, n.Symbol, fact.Intent), fact.Rejection
	counted := b.rejections[rejection.Rule] // rules are a closed set
	b.rejections[rejection.Rule] = Rejections{Rule: rejection.Rule, Count: counted.Count + 1, LastMS: n.AtMS, Strategy: n.Strategy, Symbol: in.Symbol,
		Value: rejection.Value, Limit: rejection.Limit, Hint: rejection.Hint}
	r := Refusal{ID: b.refusals.nextID(), AtMS: n.AtMS, Rule: rejection.Rule, Value: rejection.Value, Limit: rejection.Limit, Hint: rejection.Hint,
		Strategy: in.Strategy, Market: in.Market, Symbol: in.Symbol, Purpose: in.Purpose, Side: in.Side, Type: in.Type, Quantity: in.Quantity,
		Price: in.Price, StopPrice: in.StopPrice, Detail: rejection.Error()}
	if newest := b.intents.newest(); newest != nil {
		r.Intent = newest.ID
	}
	b.refusals.add(r)
}

// Refusals returns refused intents, newest first.
func (b *Board) Refusals(page Page, keep func(*Refusal) bool) ([]Refusal, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refusals.page(page, keep)
}

// rejectionsByRule has a row for every rule, also for rules that never refused.
func (b *Board) rejectionsByRule() []Rejections {
	out := []Rejections{}
	for _, rule := range risk.Rules() {
		counted := b.rejections[rule]
		counted.Rule = rule
		out = append(out, counted)
	}
	return out
}
