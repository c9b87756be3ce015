package simulation

import (
	"errors"
	"fmt"
	"strings"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/runtime/engine"
)

func is[T error](err error, target *T) bool { return errors.As(err, target) }

// orderText returns an order in a few words.
func orderText(rules *exchange.Symbol, o *exchange.NewOrder) string {
	text := fmt.Sprintf("%s %s %s %s", o.ClientOrderID, o.Symbol, o.Side, o.Type)
	if rules == nil {
		return text
	}
	switch {
	case o.ClosePosition:
		text += " of the position"
	case !o.QuoteAmount.IsZero():
		text += " for " + o.QuoteAmount.String() + " USDT"
	default:
		text += " " + rules.QuantityDecimal(o.Quantity).String()
	}
	if o.Price != 0 {
		text += " at " + rules.PriceDecimal(o.Price).String()
	}
	if o.StopPrice != 0 {
		text += " stop " + rules.PriceDecimal(o.StopPrice).String()
	}
	if o.ReduceOnly {
		text += " reduceOnly"
	}
	return text
}

func outcome(answer exchange.Answer, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case answer.Order.ID != 0:
		return fmt.Sprintf("order %d %s", answer.Order.ID, answer.Order.Status)
	}
	return "ok"
}

// fact is a note as text.
type fact struct {
	name     string
	order    engine.NoteOrder
	quantity exchange.Quantity
	state    placement.State
	text     string
	over     bool
}

// factOf converts a note. Capitals mark what a reader searches for.
func factOf(note engine.Fact) fact {
	switch n := note.(type) {
	case engine.NoteCandle:
		return fact{name: "candle"}
	case engine.NoteGap:
		return fact{name: "gap", text: fmt.Sprint(n.Missing, " candles")}
	case engine.NoteMissed:
		return fact{name: "missed", text: n.Why}
	case engine.NoteDecision:
		return fact{name: "decides", quantity: n.Position, text: n.Reason}
	case engine.NoteStrategyFailed:
		return fact{name: "STRATEGY FAILED", text: n.Why}
	case engine.NoteReload:
		return fact{name: "reloaded", text: n.Text}
	case engine.NoteLatch:
		return fact{name: "latch", text: n.Why, over: n.Over}
	case engine.NoteAdopted:
		return fact{name: "adopts", quantity: n.Quantity, text: n.Evidence}
	case engine.NoteIgnored:
		return fact{name: "leaves to others", quantity: n.Quantity, text: n.Evidence}
	case engine.NotePosition:
		return fact{name: "position", quantity: n.Quantity}
	case engine.NoteFetchFailed:
		return fact{name: "read failed", text: n.What}
	case engine.NoteStale:
		return fact{name: "stale", text: n.Text}
	case engine.NoteFrozen:
		return fact{name: "candles stand still", text: n.Text, over: n.Over}
	case engine.NoteBlind:
		return fact{name: "BLIND", text: n.Why, over: n.Over}
	case engine.NoteQuarantine:
		return fact{name: "QUARANTINE", text: n.Why, over: n.Over}
	case engine.NoteTransfer:
		return fact{name: "TRANSFER", text: n.Text}
	case engine.NoteLiquidated:
		return fact{name: "LIQUIDATED", text: n.Text}
	case engine.NoteUnprotected:
		return fact{name: "UNPROTECTED", text: n.Why, over: n.Over}
	case engine.NoteIntentRefused:
		return fact{name: "REFUSED AGAIN", text: n.Why, over: n.Over}
	case engine.NoteContradicted:
		return fact{name: "CONTRADICTED", text: n.Why, over: n.Over}
	case engine.NoteForeign:
		return fact{name: "others' orders", text: n.Why, over: n.Over}
	case engine.NoteHalt:
		return fact{name: "HALT", text: n.Why, over: n.Over}
	case engine.NoteBreaker:
		return fact{name: "BREAKER", text: n.Why, over: n.Over}
	case engine.NoteLimit:
		return fact{name: "LIMIT", text: n.Why, over: n.Over}
	case engine.NoteLimitSet:
		return fact{name: "sets", text: n.Text, over: n.Over}
	case engine.NoteJournal:
		return fact{name: "journal", text: n.Why, over: n.Over}
	case engine.NoteUnexplained:
		return fact{name: "unexplained", text: n.Text}
	}
	return orderFact(note)
}

// orderFact converts a note about an order.
func orderFact(note engine.Fact) fact {
	switch n := note.(type) {
	case engine.NoteIntent:
		return fact{name: "intends", order: orderOf(n.Intent), text: n.Intent.Reason}
	case engine.NoteRefusal:
		return fact{name: "refuses itself", order: orderOf(n.Intent), text: n.Refusal.Error()}
	case engine.NotePlaced:
		return fact{name: "places", order: n.NoteOrder, text: n.Reason}
	case engine.NoteAcknowledged:
		return fact{name: "acknowledged", order: n.NoteOrder}
	case engine.NoteRefused:
		return fact{name: "refused", order: n.NoteOrder, text: n.Why}
	case engine.NoteUncertain:
		return fact{name: "UNCERTAIN", order: n.NoteOrder, text: n.Why}
	case engine.NoteFill:
		return fact{name: "fill", order: n.NoteOrder, quantity: n.Quantity}
	case engine.NoteSettled:
		return fact{name: "settled", order: n.NoteOrder, quantity: n.Filled, state: n.State, text: n.Evidence}
	case engine.NoteFound:
		return fact{name: "FOUND", order: n.NoteOrder, text: n.Evidence}
	}
	return fact{name: fmt.Sprintf("%T", note)}
}

func orderOf(intent *reconcile.Intent) engine.NoteOrder {
	return engine.NoteOrder{Purpose: intent.Purpose, ClientOrderID: intent.ClientID, Order: intent.Order}
}

// noteText returns a note of the engine in one line.
func noteText(n *engine.Note) string {
	f := factOf(n.Fact)
	parts := []string{f.name}
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	add(n.Strategy)
	if n.Symbol != nil && n.Strategy == "" {
		add(n.Symbol.Name)
	}
	if f.order.Order.Symbol != "" {
		add(f.order.Purpose.String() + " " + orderText(n.Symbol, &f.order.Order))
	} else {
		add(f.order.ClientOrderID)
	}
	if f.quantity != 0 && n.Symbol != nil {
		add("quantity " + n.Symbol.QuantityDecimal(f.quantity).String())
	}
	if f.state != 0 {
		add(f.state.String())
	}
	if f.text != "" {
		add("(" + f.text + ")")
	}
	if f.over {
		add("over")
	}
	return strings.Join(parts, " ")
}
