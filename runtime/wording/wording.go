// Package wording puts each note of the engine into words, for the log, the API's notices, and a simulation's trace.
package wording

import (
	"fmt"
	"strings"

	"botd/exchange"
	"botd/internal/printable"
	"botd/runtime/engine"
)

// Level is how urgent a note is.
type Level string

// Levels, as the log names them.
const (
	Debug Level = "debug"
	Info  Level = "info"
	Warn  Level = "warn"
	Error Level = "error"
)

// Wording is one note in words. Texts of an exchange or a strategy in it are bounded and printable,
// except in Cause.
type Wording struct {
	Event  string // of the log (ops.Events); empty: the note is not for people
	Level  Level
	Line   string // for a person; capitals mark what a reader searches for
	Fields []Field

	Kind  string // of the API's notice; empty for none
	Topic string // of the API's stream, besides "notice"
	Cause string // in the words of its reporter
	Count int
	Ended bool // it reports an end
}

// Field is a machine-readable value of an event in addition to the line.
type Field struct {
	Name  string
	Value any // a string, an int, an int64 or a bool
}

// Of puts a note into words.
func Of(n *engine.Note) Wording {
	for _, group := range [...]func(*engine.Note) Wording{market, strategy, order, state} {
		if w := group(n); w.Event != "" {
			return w
		}
	}
	return Wording{}
}

// say words a line at a level. Each argument that is a text is made printable.
func say(level Level, event, format string, arguments []any) Wording {
	for i, argument := range arguments {
		switch text := argument.(type) {
		case string:
			arguments[i] = printable.Excerpt(text)
		case error:
			arguments[i] = printable.Excerpt(printable.Error(text))
		}
	}
	return Wording{Event: event, Level: level, Line: fmt.Sprintf(format, arguments...)}
}

func debug(event, format string, arguments ...any) Wording {
	return say(Debug, event, format, arguments)
}

func info(event, format string, arguments ...any) Wording { return say(Info, event, format, arguments) }

func warn(event, format string, arguments ...any) Wording { return say(Warn, event, format, arguments) }

func bad(event, format string, arguments ...any) Wording { return say(Error, event, format, arguments) }

// with adds a field for programs.
func (w Wording) with(name string, value any) Wording {
	switch text := value.(type) {
	case string:
		value = printable.Excerpt(text)
	case error:
		value = printable.Excerpt(printable.Error(text))
	}
	w.Fields = append(w.Fields, Field{name, value})
	return w
}

// notice makes it a notice of the API.
func (w Wording) notice(kind, cause string) Wording {
	w.Kind, w.Cause = kind, cause
	return w
}

func (w Wording) count(n int) Wording {
	w.Count = n
	return w
}

// on names the topic of the stream, besides "notice".
func (w Wording) on(topic string) Wording {
	w.Topic = topic
	return w
}

// either returns begins, or ends with the notice of begins when the state is over.
func either(over bool, ends, begins Wording) Wording {
	if !over {
		return begins
	}
	ends.Kind, ends.Topic, ends.Cause, ends.Count, ends.Ended = begins.Kind, begins.Topic, begins.Cause, begins.Count, true
	return ends
}

// symbol names a note's symbol. A symbol with unknown rules has no name here.
func symbol(n *engine.Note) string {
	if n.Symbol == nil {
		return "a symbol whose rules are not known yet"
	}
	return n.Symbol.Name
}

func quantity(s *exchange.Symbol, q exchange.Quantity) string {
	if s == nil {
		return fmt.Sprint(int64(q), " steps")
	}
	return s.QuantityDecimal(q).String()
}

// price returns the mean price in words, if the exchange reports one.
func price(s *exchange.Symbol, mean exchange.Amount) string {
	if mean.IsZero() || s == nil {
		return ""
	}
	return " at " + mean.Decimal().Round(int32(s.PriceScale)).String()
}

// Order describes an order.
func Order(s *exchange.Symbol, o *exchange.NewOrder) string {
	text := []string{o.Side.String(), o.Type.String()}
	switch {
	case o.ClosePosition:
		text = append(text, "of the whole position")
	case !o.QuoteAmount.IsZero():
		text = append(text, "for", o.QuoteAmount.String(), "USDT")
	default:
		text = append(text, quantity(s, o.Quantity))
	}
	text = append(text, o.Symbol)
	if o.StopPrice != 0 && s != nil {
		text = append(text, "stop", s.PriceDecimal(o.StopPrice).String())
	}
	if o.Price != 0 && s != nil {
		text = append(text, "at", s.PriceDecimal(o.Price).String())
	}
	if o.ReduceOnly {
		text = append(text, "reduceOnly")
	}
	return strings.Join(text, " ")
}
