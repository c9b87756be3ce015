package view

import (
	"cmp"
	"fmt"
	"slices"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/risk"
	"botd/runtime/engine"
)

// Intent is one change that botd derived from a plan, and its outcome.
type Intent struct {
	ID            string  `json:"id"`
	AtMS          int64   `json:"at_ms"`
	Strategy      string  `json:"strategy"`
	Purpose       string  `json:"purpose"` // entry, exit, order, exit_order, stop_loss, take_profit, cancel, leverage
	Market        string  `json:"market"`
	Symbol        string  `json:"symbol"`
	Side          string  `json:"side,omitempty"`
	Type          string  `json:"type,omitempty"`
	Quantity      Decimal `json:"quantity,omitempty"`
	QuoteAmount   Decimal `json:"quote_amount,omitempty"` // the amount of a spot purchase at market, which has no quantity
	Price         Decimal `json:"price,omitempty"`
	StopPrice     Decimal `json:"stop_price,omitempty"`
	Last          Decimal `json:"last_price,omitempty"` // the last price when the intent was derived
	Reason        string  `json:"reason,omitempty"`
	Outcome       string  `json:"outcome"` // derived, refused, approved, placed, acknowledged, refused_by_exchange, uncertain, or a placement's final state
	Rule          string  `json:"rule,omitempty"`
	Detail        string  `json:"detail,omitempty"`
	ClientOrderID string  `json:"client_order_id,omitempty"`
	OrderID       int64   `json:"order_id,omitempty"`

	checks []Verdict
	steps  []Step
}

// Verdict is the verdict of one rule on an intent.
type Verdict struct {
	Rule    string `json:"rule"`
	Scope   string `json:"scope,omitempty"` // the scope of a limit: account, account futures, symbol ..., strategy ...
	Verdict string `json:"verdict"`         // passed | refused | not_reached
	Value   string `json:"value,omitempty"`
	Limit   string `json:"limit,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

func verdictsOf(all []risk.Verdict) []Verdict {
	out := []Verdict{}
	for _, v := range all {
		out = append(out, Verdict{v.Rule, v.Scope, v.Outcome.String(), v.Value, v.Limit, v.Hint})
	}
	return out
}

// noteIntent follows the life of intents.
func (b *Board) noteIntent(n *engine.Note) {
	switch fact := n.Fact.(type) {
	case engine.NoteIntent:
		id := b.intents.nextID()
		in := b.intents.add(intentOf(n.AtMS, n.Symbol, fact.Intent))
		in.ID = id
		in.step(n.AtMS, "derived", fact.Intent.Reason)
		b.publish("intent", in)
	case engine.NoteApproved:
		b.judged(n.AtMS, nil, fact.Verdicts)
	case engine.NoteRejection:
		b.judged(n.AtMS, fact.Rejection, fact.Verdicts)
	case engine.NotePlaced:
		b.placed(n, &fact)
	case engine.NoteAcknowledged, engine.NoteRefused, engine.NoteUncertain, engine.NoteFill, engine.NoteSettled:
		b.outcome(n)
	}
}

// judged records the verdicts on the newest intent: an intent is judged right after it is derived.
func (b *Board) judged(atMS int64, rejection *risk.Rejection, verdicts []risk.Verdict) {
	in := b.intents.newest()
	if in == nil {
		return
	}
	in.Outcome, in.checks = "approved", verdictsOf(verdicts)
	if rejection == nil {
		in.step(atMS, "checked", fmt.Sprintf("%d checks passed", len(in.checks)))
	} else {
		in.Outcome, in.Rule, in.Detail = "refused", rejection.Rule, rejection.Error()
		in.step(atMS, "refused", in.Detail)
	}
	b.publish("intent", in)
}

// placed records under which id an approved intent was sent.
func (b *Board) placed(n *engine.Note, fact *engine.NotePlaced) {
	placed := intentOf(n.AtMS, n.Symbol, &reconcile.Intent{Strategy: n.Strategy, Purpose: fact.Purpose, Order: fact.Order})
	for i := len(b.intents.all) - 1; i >= 0; i-- {
		if in := &b.intents.all[i].value; in.Outcome == "approved" && in.ClientOrderID == "" && in.asks(&placed) {
			in.Outcome, in.ClientOrderID = "placed", fact.ClientOrderID
			in.step(n.AtMS, "sent", "as "+fact.ClientOrderID)
			b.publish("intent", in)
			return
		}
	}
}

// outcome records the outcome of an order with its intent.
func (b *Board) outcome(n *engine.Note) {
	clientOrderID, _ := n.Fact.(interface{ IDs() (string, int64) }).IDs()
	for i := len(b.intents.all) - 1; i >= 0; i-- {
		in := &b.intents.all[i].value
		if in.ClientOrderID != clientOrderID || in.Purpose == placement.Cancel.String() {
			continue
		}
		switch fact := n.Fact.(type) {
		case engine.NoteAcknowledged:
			in.Outcome, in.OrderID = "acknowledged", fact.OrderID
			in.step(n.AtMS, "acknowledged", fmt.Sprintf("order %d, after %d ms", fact.OrderID, fact.DurationMS))
		case engine.NoteRefused:
			in.Outcome, in.Detail = "refused_by_exchange", fact.Reason
			in.step(n.AtMS, "refused", fact.Reason)
		case engine.NoteUncertain:
			in.Outcome, in.Detail = "uncertain", fact.Reason
			in.step(n.AtMS, "uncertain", fact.Reason)
		case engine.NoteFill:
			in.step(n.AtMS, "fetched", "filled "+n.Symbol.QuantityDecimal(fact.Quantity).String()+" more")
		case engine.NoteSettled:
			in.Outcome, in.Detail = fact.State.String(), fact.Evidence
			in.step(n.AtMS, "settled", fact.State.String()+": "+fact.Evidence)
		}
		b.publish("intent", in)
		return
	}
}

func (in *Intent) step(atMS int64, name, text string) {
	if len(in.steps) < maxSteps {
		in.steps = append(in.steps, Step{atMS, name, text})
	}
}

// asks reports whether two intents request the same order: a strategy may have several of one
// purpose in flight, under different keys.
func (in *Intent) asks(same *Intent) bool {
	return in.Strategy == same.Strategy && in.Purpose == same.Purpose && in.Side == same.Side && in.Type == same.Type &&
		in.Quantity == same.Quantity && in.QuoteAmount == same.QuoteAmount && in.Price == same.Price && in.StopPrice == same.StopPrice
}

func intentOf(atMS int64, s *exchange.Symbol, intent *reconcile.Intent) Intent {
	in, o := Intent{AtMS: atMS, Strategy: intent.Strategy, Purpose: intent.Purpose.String(), Reason: intent.Reason, Outcome: "derived"}, &intent.Order
	if s == nil {
		return in
	}
	in.Market, in.Symbol = s.Market.String(), s.Name
	if intent.Last != 0 {
		in.Last = s.PriceDecimal(intent.Last).String()
	}
	switch intent.Purpose {
	case placement.Cancel:
		in.ClientOrderID, in.OrderID = intent.ClientID, intent.OrderID
		return in
	case placement.Leverage:
		in.Quantity = number(int64(intent.Leverage))
		return in
	}
	in.Side, in.Type = o.Side.String(), o.Type.String()
	in.Quantity = nonZero(o.Quantity != 0, s.QuantityDecimal(o.Quantity))
	if !o.QuoteAmount.IsZero() {
		in.QuoteAmount = o.QuoteAmount.String()
	}
	in.Price, in.StopPrice = nonZero(o.Price != 0, s.PriceDecimal(o.Price)), nonZero(o.StopPrice != 0, s.PriceDecimal(o.StopPrice))
	return in
}

func nonZero(given bool, value fmt.Stringer) string {
	if !given {
		return ""
	}
	return value.String()
}

// OneIntent is the whole life of an intent.
type OneIntent struct {
	Schema int `json:"schema"`
	Intent
	Checks []Verdict `json:"checks"` // one for each rule
	Steps  []Step    `json:"steps"`
	Order  *Order    `json:"order"` // null if it has no order
}

// Intents returns intents, newest first.
func (b *Board) Intents(page Page, keep func(*Intent) bool) ([]Intent, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.intents.page(page, keep)
}

// Intent returns the whole life of an intent: by its id of this run, or by a client order
// id, which the journal has for earlier runs too.
func (b *Board) Intent(id string, history *History) (OneIntent, bool) {
	one, found := OneIntent{Schema: 1, Checks: []Verdict{}, Steps: []Step{}}, false
	b.mu.Lock()
	for i := len(b.intents.all) - 1; i >= 0 && !found; i-- {
		if in := &b.intents.all[i].value; in.ID == id || in.ClientOrderID == id && in.Purpose != placement.Cancel.String() {
			one.Intent, one.Checks, one.Steps, found = *in, OrEmpty(in.checks), append([]Step{}, in.steps...), true
		}
	}
	b.mu.Unlock()
	clientOrderID := one.ClientOrderID
	if !found {
		clientOrderID = id
	}
	if order, steps, placed := history.Order(clientOrderID); placed {
		one.Order = &order
		one.Steps = merge(one.Steps, steps)
		if !found {
			one.Intent, found = intentOfOrder(&order), true
		}
	}
	return one, found
}

// intentOfOrder returns an intent of an earlier run, from the journal.
func intentOfOrder(o *Order) Intent {
	return Intent{ID: o.ClientOrderID, AtMS: o.SentMS, Strategy: o.Strategy, Purpose: o.Purpose, Market: o.Market, Symbol: o.Symbol, Side: o.Side, Type: o.Type,
		Quantity: o.Quantity, QuoteAmount: o.QuoteAmount, Price: o.Price, StopPrice: o.StopPrice, Outcome: o.State, Detail: o.Evidence,
		ClientOrderID: o.ClientOrderID, OrderID: o.OrderID}
}

// merge adds the steps that only the journal has to the noted ones, in order of time.
func merge(noted, journalled []Step) []Step {
	if len(noted) == 0 {
		return journalled
	}
	out := make([]Step, 0, len(noted)+1)
	for _, step := range journalled {
		if step.Step == "journalled" || step.Step == "withdrawn" {
			noted = append(noted, step)
		}
	}
	slices.SortStableFunc(noted, func(a, b Step) int { return cmp.Compare(a.AtMS, b.AtMS) })
	for rank := range stepOrder {
		for _, step := range noted {
			if stepOrder[rank] == step.Step || rank == len(stepOrder)-1 && later(step.Step) {
				out = append(out, step)
			}
		}
	}
	return out
}

// stepOrder are the steps that always come in this order; the others follow as they were noted.
var stepOrder = []string{"derived", "checked", "journalled", "sent", ""}

func later(step string) bool { return !slices.Contains(stepOrder, step) }
