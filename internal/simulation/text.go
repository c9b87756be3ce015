package simulation

import (
	"errors"
	"fmt"

	"botd/exchange"
	"botd/runtime/engine"
	"botd/runtime/wording"
)

func is[T error](err error, target *T) bool { return errors.As(err, target) }

// orderText returns an order in a few words.
func orderText(rules *exchange.Symbol, o *exchange.NewOrder) string {
	return o.ClientOrderID + " " + wording.Order(rules, o)
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

// noteText returns a note of the engine in one line.
func noteText(n *engine.Note) string {
	w := wording.Of(n)
	if w.Event == "" {
		return fmt.Sprintf("%T", n.Fact)
	}
	text := w.Line
	for _, field := range w.Fields {
		text += fmt.Sprintf(" %s=%v", field.Name, field.Value)
	}
	return text
}
