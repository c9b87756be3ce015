package ops

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/rs/zerolog"

	"botd/exchange"
	"botd/reconcile"
	"botd/runtime/engine"
)

// Console turns notes into log lines: a story for a person, JSON for a program.
type Console struct {
	log     zerolog.Logger
	metrics *Metrics
	logs    *Logs // whose level holds; nil: info
}

// Format is how log lines look.
type Format struct {
	JSON   bool
	Colour bool
}

// nameMessage sets the name of the message's field (ops.md, logs), which zerolog keeps
// for the whole process.
var nameMessage = sync.OnceFunc(func() { zerolog.MessageFieldName = "msg" })

// NewConsole writes to w, and to logs where given. Every line counts in the metrics,
// where there are some.
func NewConsole(w io.Writer, format Format, metrics *Metrics, logs *Logs) *Console {
	nameMessage()
	if !format.JSON {
		w = zerolog.ConsoleWriter{Out: w, NoColor: !format.Colour, TimeFormat: "15:04:05", TimeLocation: time.UTC, FieldsExclude: []string{"event", "client_order_id", "order_id", "strategy", "symbol", "market", "rule"}}
	}
	if logs != nil {
		w = zerolog.MultiLevelWriter(passes{zerolog.MultiLevelWriter(w, logs), logs}, offers{logs})
	}
	c := &Console{metrics: metrics, logs: logs}
	c.log = zerolog.New(w).Hook(zerolog.HookFunc(func(_ *zerolog.Event, level zerolog.Level, _ string) {
		if metrics != nil {
			metrics.logEvents.WithLabelValues(oneOf(levels, level.String())).Inc()
		}
	}))
	return c
}

// Say writes a line of the daemon itself.
func (c *Console) Say(event, format string, arguments ...any) {
	at(c.log.Info(), time.Now()).Str("event", event).Msg(plain(fmt.Sprintf(format, arguments...)))
}

// Warn writes a warning of the daemon itself.
func (c *Console) Warn(event, format string, arguments ...any) {
	at(c.log.Warn(), time.Now()).Str("event", event).Msg(plain(fmt.Sprintf(format, arguments...)))
}

// at writes the time in full; zerolog's own format is a setting of the process.
func at(e *zerolog.Event, when time.Time) *zerolog.Event {
	return e.Str(zerolog.TimestampFieldName, when.UTC().Format(time.RFC3339Nano))
}

// maxText bounds a text of the venue's or of a strategy's in a line.
const maxText = 500

// plain keeps a text of somebody else's on its line: control characters could
// forge a line, or move the cursor of a terminal.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}

// line begins a line at the note's own time, with what says where it belongs.
func (c *Console) line(level zerolog.Level, n *engine.Note, event string) *zerolog.Event {
	e := at(c.log.WithLevel(level), time.UnixMilli(n.AtMS)).Str("event", event)
	if n.Strategy != "" {
		e = e.Str("strategy", n.Strategy)
	}
	if n.Symbol != nil {
		e = e.Str("market", n.Symbol.Market.String()).Str("symbol", n.Symbol.Name)
	}
	if n.ClientOrderID != "" {
		e = e.Str("client_order_id", n.ClientOrderID)
	}
	if n.OrderID != 0 {
		e = e.Int64("order_id", n.OrderID)
	}
	return e
}

// Note writes one fact.
func (c *Console) Note(fact *engine.Note) {
	copied := *fact
	n := &copied
	n.Text = plain(n.Text)
	info, warn := zerolog.InfoLevel, zerolog.WarnLevel
	switch n.Kind {
	case engine.NoteCandle:
		s := n.Symbol
		c.line(info, n, "market.candle").Msgf("candle    %-9s %s  close %s  volume %.6g", s.Name, time.UnixMilli(n.Candle.OpenMS).UTC().Format("15:04"), s.PriceDecimal(n.Candle.Close), n.Candle.Volume)
	case engine.NoteGap:
		c.line(warn, n, "market.gap").Int("missing", n.Count).Msgf("candles   %d are missing", n.Count)
	case engine.NoteDecision:
		c.line(info, n, "strategy.decision").Msgf("decision  %s wants %s: %s", n.Strategy, wish(n), n.Text)
	case engine.NoteIntent:
		c.line(info, n, "intent.derived").Str("reason", n.Text).Msgf("intent    %s %s", n.Strategy, order(n))
	case engine.NoteApproved:
		c.line(info, n, "risk.approved").Msgf("risk      approved %s %s", n.Strategy, n.Purpose)
	case engine.NoteRefusal:
		c.line(warn, n, "risk.refused").Str("rule", n.Refusal.Rule).Str("value", n.Refusal.Value).Str("limit", n.Refusal.Limit).Str("hint", n.Refusal.Hint).
			Msgf("risk      REFUSED %s %s by %s", n.Strategy, n.Purpose, n.Refusal.Rule)
	case engine.NotePlaced:
		c.line(info, n, "order.placed").Msgf("placed    %s %s as %s", n.Strategy, order(n), n.ClientOrderID)
	case engine.NoteAcknowledged:
		c.line(info, n, "order.acknowledged").Int64("dur_ms", n.DurationMS).Msgf("ack       %s is order %d", n.ClientOrderID, n.OrderID)
	case engine.NoteRefused:
		c.line(warn, n, "order.refused").Msgf("refused   %s by the exchange: %s", n.ClientOrderID, n.Text)
	case engine.NoteUncertain:
		c.line(warn, n, "order.uncertain").Msgf("UNKNOWN   %s: %s; it is not sent again, its fate is fetched", n.ClientOrderID, n.Text)
	case engine.NoteFill:
		c.line(info, n, "order.fill").Msgf("fill      %s %s %s %s%s", n.Strategy, n.Order.Side, n.Symbol.QuantityDecimal(n.Quantity), n.Symbol.Name, price(n))
	case engine.NoteSettled:
		c.line(info, n, "order.settled").Int64("dur_ms", n.DurationMS).Str("evidence", n.Text).Msgf("settled   %s %s", n.ClientOrderID, ending(n))
	case engine.NoteTick, engine.NoteRound:
		c.debug(n)
	default:
		c.rest(n)
	}
}

// debug writes what happens all the time, where it is asked for.
func (c *Console) debug(n *engine.Note) {
	if c.logs == nil || c.logs.Level() != zerolog.DebugLevel.String() {
		return
	}
	if n.Kind == engine.NoteTick {
		c.line(zerolog.DebugLevel, n, "strategy.tick").Msgf("tick      %s: %s", n.Strategy, n.Text)
		return
	}
	c.line(zerolog.DebugLevel, n, "reconcile.round").Int64("dur_ms", n.DurationMS).Int("acted", n.Count).Bool("complete", n.OK).Msgf("round     %d intents", n.Count)
}

// rest writes the facts that are rarer.
func (c *Console) rest(n *engine.Note) {
	info, warn, bad := zerolog.InfoLevel, zerolog.WarnLevel, zerolog.ErrorLevel
	switch n.Kind {
	case engine.NotePosition:
		c.line(info, n, "position.changed").Msgf("position  %s %s %s", n.Strategy, symbol(n), holding(n))
	case engine.NoteFetchFailed:
		c.line(warn, n, "exchange.unavailable").Str("err_kind", exchange.ErrorKind(n.Err)).Str("err", plain(fmt.Sprint(n.Err))).Msgf("exchange  could not read %s", n.Text)
	case engine.NoteLatch:
		text := "latched: no entry until its target was zero or changed side"
		if n.OK {
			text = "latch released"
		}
		c.line(info, n, "strategy.latch").Str("why", n.Text).Msgf("latch     %s %s", n.Strategy, text)
	case engine.NoteQuarantine:
		if n.OK {
			c.line(info, n, "symbol.resolved").Msgf("resolved  %s trades again", symbol(n))
			return
		}
		c.line(bad, n, "symbol.quarantined").Msgf("BLOCKED   %s is quarantined: %s", symbol(n), n.Text)
	case engine.NoteForeign:
		if n.OK {
			c.line(info, n, "symbol.clear").Msgf("clear     %s has no orders of others that open", symbol(n))
			return
		}
		c.line(warn, n, "symbol.foreign").Msgf("FOREIGN   %s: %s; nothing opens beside it (foreign: halt)", symbol(n), n.Text)
	case engine.NoteAdopted:
		c.line(warn, n, "position.adopted").Msgf("adopted   %s: %s", quantity(n, n.Quantity), n.Text)
	case engine.NoteIgnored:
		c.line(warn, n, "position.ignored").Msgf("ignored   %s is left to others: %s", quantity(n, n.Quantity), n.Text)
	case engine.NoteHalt:
		if n.OK {
			c.line(warn, n, "trading.armed").Msgf("ARMED     trading goes on: %s", n.Text)
			return
		}
		c.line(bad, n, "trading.halted").Msgf("HALTED    %s", n.Text)
	case engine.NoteLimit:
		c.limit(n)
	case engine.NoteFound:
		c.line(bad, n, "order.found").Msgf("FOUND     order %d: %s", n.OrderID, n.Text)
	case engine.NoteStale:
		c.line(warn, n, "exchange.stale").Int("count", n.Count).Msgf("stale     %s; the larger figure is kept", n.Text)
	case engine.NoteBreaker:
		if n.OK {
			c.line(warn, n, "breaker.ended").Msg("breaker   has ended: openings go on")
			return
		}
		c.line(bad, n, "breaker.tripped").Str("cause", n.Text).Msgf("BREAKER   %s: nothing opens for %d s; exits and stops go on", n.Text, n.DurationMS/1000)
	case engine.NoteUnexplained:
		c.line(bad, n, "ledger.unexplained").Str("asset", n.Rule).Str("amount", n.Price.String()).Msgf("LEDGER    %s", n.Text)
	case engine.NoteMissed:
		c.line(warn, n, "strategy.missed").Int("count", n.Count).Msgf("missed    %d ticks, skipped", n.Count)
	case engine.NoteStrategyFailed:
		c.line(bad, n, "strategy.failed").Msgf("FAILED    %s is stopped, its protection stays: %s", n.Strategy, n.Text)
	case engine.NoteSignal:
		if n.OK {
			c.line(info, n, "signal.taken").Msgf("signal    %s: %s", n.Strategy, n.Text)
			return
		}
		c.line(warn, n, "signal.refused").Str("err", plain(fmt.Sprint(n.Err))).Msgf("signal    %s: not taken: %v", n.Strategy, plain(fmt.Sprint(n.Err)))
	case engine.NoteTightened:
		c.line(warn, n, "limit.set").Str("rule", n.Rule).Msgf("limit     %s", plain(n.Text))
	case engine.NoteReload:
		c.line(info, n, "strategy.reloaded").Msgf("reloaded  %s: %s", n.Strategy, n.Text)
	case engine.NoteJournal:
		c.journal(n)
	case engine.NoteFrozen:
		if n.OK {
			c.line(warn, n, "market.fresh").Msgf("fresh     %s go on", n.Text)
			return
		}
		c.line(bad, n, "market.stale").Msgf("STALE     %s: prices are as old as that, stops stay", n.Text)
	case engine.NoteBlind:
		if n.OK {
			c.line(warn, n, "exchange.back").Msg("exchange  is back: openings go on")
			return
		}
		c.line(bad, n, "exchange.blind").Str("err", n.Text).Msg("BLIND     orders and positions can not be read: nothing opens, stops stay")
	}
}

// journal tells whether the journal can be written, and whether its disk has room.
func (c *Console) journal(n *engine.Note) {
	switch {
	case n.OK && n.Text != "": // what is left of the disk is for facts and exits
		c.line(zerolog.WarnLevel, n, "journal.back").Int("records", n.Count).Msgf("journal   is written again, %d records were waiting; still nothing opens: %s", n.Count, plain(n.Text))
	case n.OK && n.Count == 0:
		c.line(zerolog.WarnLevel, n, "journal.back").Int("records", 0).Msg("journal   has room again: openings go on")
	case n.OK:
		c.line(zerolog.WarnLevel, n, "journal.back").Int("records", n.Count).Msgf("journal   is written again, %d records were waiting: openings go on", n.Count)
	case n.Err != nil:
		c.line(zerolog.ErrorLevel, n, "journal.failed").Int("records", n.Count).Str("err", plain(n.Err.Error())).Msgf("JOURNAL   can not be written, %d records wait: %s; stops stay on the exchange", n.Count, n.Text)
	default:
		c.line(zerolog.ErrorLevel, n, "journal.low").Msgf("JOURNAL   %s: nothing opens, exits go on", n.Text)
	}
}

// ending says how an order ended, and what was filled of it where that is not all.
func ending(n *engine.Note) string {
	if n.State == reconcile.Filled || n.Quantity == 0 || n.Symbol == nil {
		return n.State.String()
	}
	return n.State.String() + ", after " + quantity(n, n.Quantity) + " was filled"
}

// holding says what is held.
func holding(n *engine.Note) string {
	switch {
	case n.Quantity == 0:
		return "flat"
	case n.Quantity < 0:
		return "short " + quantity(n, -n.Quantity) + price(n)
	}
	return "long " + quantity(n, n.Quantity) + price(n)
}

// symbol names a note's symbol. One whose rules are not known yet has no name here.
func symbol(n *engine.Note) string {
	if n.Symbol == nil {
		return "a symbol whose rules are not known yet"
	}
	return n.Symbol.Name
}

func quantity(n *engine.Note, q exchange.Quantity) string {
	if n.Symbol == nil {
		return fmt.Sprint(int64(q), " steps")
	}
	return n.Symbol.QuantityDecimal(q).String()
}

// price says at what mean price, where the exchange tells one.
func price(n *engine.Note) string {
	if n.Price.IsZero() || n.Symbol == nil {
		return ""
	}
	return " at " + n.Price.Decimal().Round(int32(n.Symbol.PriceScale)).String()
}

// wish says what a plan wants.
func wish(n *engine.Note) string {
	t, s := n.Plan.Target, n.Symbol
	switch {
	case n.Plan.OrdersSet:
		return fmt.Sprintf("%d orders in the book", len(n.Plan.Orders))
	case t.Sign() == 0:
		return "no position"
	case t.Share != 0:
		return t.Share.Decimal().Shift(2).String() + " % of equity in " + s.Name
	case !t.Quote.IsZero():
		return t.Quote.String() + " USDT of " + s.Name
	}
	return s.QuantityDecimal(t.Quantity).String() + " " + s.Name
}

// order says what an intent asks for.
func order(n *engine.Note) string {
	o, s := &n.Order, n.Symbol
	switch n.Purpose {
	case reconcile.Cancel:
		return fmt.Sprintf("cancel order %d", n.OrderID)
	case reconcile.Leverage:
		return fmt.Sprintf("set leverage %d on %s", n.Count, o.Symbol)
	}
	text := fmt.Sprintf("%s: %s %s", n.Purpose, o.Side, o.Type)
	switch {
	case o.ClosePosition:
		text += " of the whole position"
	case !o.QuoteAmount.IsZero():
		text += " for " + o.QuoteAmount.String() + " USDT"
	default:
		text += " " + s.QuantityDecimal(o.Quantity).String()
	}
	text += " " + o.Symbol
	if o.StopPrice != 0 {
		text += " stop " + s.PriceDecimal(o.StopPrice).String()
	}
	if o.Price != 0 {
		text += " at " + s.PriceDecimal(o.Price).String()
	}
	if o.ReduceOnly {
		text += " reduceOnly"
	}
	return text
}

// limit tells of a limit that keeps entries back, or no more.
func (c *Console) limit(n *engine.Note) {
	scope, until := "account", "until botd rearm"
	if n.Strategy != "" {
		scope, until = n.Strategy, "until botd rearm --strategy "+n.Strategy
	}
	if n.DurationMS > 0 {
		until = "until " + time.UnixMilli(n.AtMS+n.DurationMS).UTC().Format("2006-01-02 15:04:05 UTC")
	}
	if n.OK {
		c.line(zerolog.WarnLevel, n, "limit.ended").Str("rule", n.Rule).Msgf("limit     %s of %s keeps entries back no more: %s", n.Rule, scope, n.Text)
		return
	}
	c.line(zerolog.ErrorLevel, n, "limit.breached").Str("rule", n.Rule).Str("cause", n.Text).Msgf("LIMIT     %s of %s: %s; no entries %s, exits and stops go on", n.Rule, scope, n.Text, until)
}
