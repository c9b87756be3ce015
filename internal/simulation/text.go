package simulation

import (
	"errors"
	"fmt"
	"strings"

	"botd/exchange"
	"botd/runtime/engine"
)

func is[T error](err error, target *T) bool { return errors.As(err, target) }

// orderText is an order in a few words.
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

var noteNames = map[engine.NoteKind]string{
	engine.NoteCandle: "candle", engine.NoteGap: "gap", engine.NoteDecision: "decides", engine.NoteIntent: "intends", engine.NoteApproved: "approves",
	engine.NoteRefusal: "refuses itself", engine.NotePlaced: "places", engine.NoteAcknowledged: "acknowledged", engine.NoteRefused: "refused",
	engine.NoteUncertain: "UNCERTAIN", engine.NoteFill: "fill", engine.NoteSettled: "settled", engine.NotePosition: "position", engine.NoteRound: "round",
	engine.NoteFetchFailed: "read failed", engine.NoteLatch: "latch", engine.NoteQuarantine: "QUARANTINE", engine.NoteForeign: "others' orders", engine.NoteAdopted: "adopts", engine.NoteIgnored: "leaves to others",
	engine.NoteHalt: "HALT", engine.NoteMissed: "missed", engine.NoteStrategyFailed: "STRATEGY FAILED", engine.NoteReload: "reloaded", engine.NoteTightened: "sets", engine.NoteBlind: "BLIND", engine.NoteTick: "tick", engine.NoteFrozen: "candles stand still",
}

// noteText is a fact of the engine's in a line.
func noteText(n *engine.Note) string {
	name, found := noteNames[n.Kind]
	if !found {
		name = fmt.Sprintf("note %d", n.Kind)
	}
	parts := []string{name}
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	add(n.Strategy)
	if n.Symbol != nil && n.Strategy == "" {
		add(n.Symbol.Name)
	}
	if n.Order.Symbol != "" {
		add(n.Purpose.String() + " " + orderText(n.Symbol, &n.Order))
	} else {
		add(n.ClientOrderID)
	}
	if n.Quantity != 0 && n.Symbol != nil {
		add("quantity " + n.Symbol.QuantityDecimal(n.Quantity).String())
	}
	if n.State != 0 {
		add(n.State.String())
	}
	if n.Text != "" {
		add("(" + n.Text + ")")
	}
	if n.Err != nil && n.Text == "" {
		add(n.Err.Error())
	}
	if n.OK {
		add("over")
	}
	return strings.Join(parts, " ")
}
