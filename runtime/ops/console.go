package ops

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"botd/exchange"
	"botd/internal/paint"
	"botd/internal/printable"
	"botd/runtime/engine"
	"botd/runtime/wording"
)

// Console turns notes into log lines: a story for a person, JSON for a program.
type Console struct {
	log  zerolog.Logger
	logs *Logs // its level applies; nil: level info
}

// Format is how log lines look.
type Format struct {
	JSON  bool
	Color bool
}

// nameMessage sets the name of the message's field, "msg" in docs/logs.md, which zerolog keeps
// for the whole process.
var nameMessage = sync.OnceFunc(func() { zerolog.MessageFieldName = "msg" })

// NewConsole writes to w, and to logs if given. Every line is counted in the metrics, if given.
func NewConsole(w io.Writer, format Format, metrics *Metrics, logs *Logs) *Console {
	nameMessage()
	if !format.JSON {
		w = zerolog.ConsoleWriter{
			Out:           paint.OwnWriter(w), // messages are filtered below, and values are quoted
			NoColor:       !format.Color,
			TimeFormat:    "15:04:05",
			TimeLocation:  time.UTC,
			FieldsExclude: []string{"event", "client_order_id", "order_id", "strategy", "symbol", "market", "rule"},
		}
	}
	if logs != nil {
		w = zerolog.MultiLevelWriter(passes{zerolog.MultiLevelWriter(w, logs), logs}, offers{logs})
	}
	c := &Console{logs: logs}
	c.log = zerolog.New(w).Hook(zerolog.HookFunc(func(_ *zerolog.Event, level zerolog.Level, _ string) {
		if metrics != nil {
			metrics.logEvents.WithLabelValues(oneOf(levels, level.String())).Inc()
		}
	}))
	return c
}

// Of returns a console whose lines name a strategy and a symbol, either of which may be empty.
func (c *Console) Of(strategy string, symbol exchange.SymbolKey) *Console {
	with, of := c.log.With(), *c
	if strategy != "" {
		with = with.Str("strategy", strategy)
	}
	if symbol.Name != "" {
		with = with.Str("market", symbol.Market.String()).Str("symbol", symbol.Name)
	}
	of.log = with.Logger()
	return &of
}

// Say writes a line of the daemon itself.
func (c *Console) Say(event, format string, arguments ...any) {
	at(c.log.Info(), time.Now()).Str("event", event).Msg(onOneLine(format, arguments))
}

// Warn writes a warning of the daemon itself.
func (c *Console) Warn(event, format string, arguments ...any) {
	at(c.log.Warn(), time.Now()).Str("event", event).Msg(onOneLine(format, arguments))
}

// onOneLine formats a line for a person: several problems of one error are joined on one line.
func onOneLine(format string, arguments []any) string {
	arguments = slices.Clone(arguments)
	for i := range arguments {
		if err, is := arguments[i].(error); is {
			arguments[i] = printable.Error(err)
		}
	}
	return printable.Excerpt(fmt.Sprintf(format, arguments...))
}

// at writes the full time; zerolog's own format is a setting of the whole process.
func at(e *zerolog.Event, when time.Time) *zerolog.Event {
	return e.Str(zerolog.TimestampFieldName, when.UTC().Format(time.RFC3339Nano))
}

// Note writes one fact, at the note's own time, with its strategy, symbol and order.
func (c *Console) Note(n *engine.Note) {
	w := wording.Of(n)
	if w.Event == "" || w.Level == wording.Debug && !c.debugging() {
		return
	}
	level, _ := zerolog.ParseLevel(string(w.Level))
	e := at(c.log.WithLevel(level), time.UnixMilli(n.AtMS)).Str("event", w.Event)
	if n.Strategy != "" {
		e = e.Str("strategy", n.Strategy)
	}
	if n.Symbol != nil {
		e = e.Str("market", n.Symbol.Market.String()).Str("symbol", n.Symbol.Name)
	}
	if order, is := n.Fact.(interface{ IDs() (string, int64) }); is {
		clientOrderID, orderID := order.IDs()
		if clientOrderID != "" {
			e = e.Str("client_order_id", clientOrderID)
		}
		if orderID != 0 {
			e = e.Int64("order_id", orderID)
		}
	}
	for _, field := range w.Fields {
		e = e.Any(field.Name, field.Value)
	}
	e.Msg(w.Line)
}

// debugging reports whether lines of level debug are written.
func (c *Console) debugging() bool {
	return c.logs != nil && c.logs.Level() == zerolog.DebugLevel.String()
}
