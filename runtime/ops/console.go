package ops

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"botd/exchange"
	"botd/internal/printable"
	"botd/reconcile"
	"botd/reconcile/placement"
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
		w = zerolog.ConsoleWriter{
			Out:           w,
			NoColor:       !format.Colour,
			TimeFormat:    "15:04:05",
			TimeLocation:  time.UTC,
			FieldsExclude: []string{"event", "client_order_id", "order_id", "strategy", "symbol", "market", "rule"},
		}
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

// maxText bounds a text from the venue or a strategy in a line.
const maxText = 500

// plain escapes what cannot be seen in a foreign text: it could forge a line, or move the
// cursor of a terminal.
func plain(text string) string {
	text = printable.Text(text)
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}

// line begins a line at the note's own time, with its strategy, symbol and order.
func (c *Console) line(level zerolog.Level, n *engine.Note, event string) *zerolog.Event {
	e := at(c.log.WithLevel(level), time.UnixMilli(n.AtMS)).Str("event", event)
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
	return e
}

func (c *Console) info(n *engine.Note, event string) *zerolog.Event {
	return c.line(zerolog.InfoLevel, n, event)
}

func (c *Console) warn(n *engine.Note, event string) *zerolog.Event {
	return c.line(zerolog.WarnLevel, n, event)
}

func (c *Console) bad(n *engine.Note, event string) *zerolog.Event {
	return c.line(zerolog.ErrorLevel, n, event)
}

// Note writes one fact.
func (c *Console) Note(n *engine.Note) {
	switch fact := n.Fact.(type) {
	case engine.NoteTick:
		if c.debugging() {
			c.line(zerolog.DebugLevel, n, "strategy.tick").Msgf("tick      %s: %s", n.Strategy, plain(fact.Reason))
		}
	case engine.NoteRound:
		if c.debugging() {
			c.line(zerolog.DebugLevel, n, "reconcile.round").
				Int64("dur_ms", fact.DurationMS).
				Int("acted", fact.Acted).
				Bool("complete", fact.Complete).
				Msgf("round     %d intents", fact.Acted)
		}
	case engine.NoteCandle:
		s := n.Symbol
		c.info(n, "market.candle").Msgf("candle    %-9s %s  close %s  volume %.6g", s.Name,
			time.UnixMilli(fact.Candle.OpenMS).UTC().Format("15:04"), s.PriceDecimal(fact.Candle.Close), fact.Candle.Volume)
	case engine.NoteGap:
		c.warn(n, "market.gap").Int("missing", fact.Missing).Msgf("candles   %d are missing", fact.Missing)
	case engine.NoteFrozen:
		if fact.Over {
			c.warn(n, "market.fresh").Msgf("fresh     %s go on", plain(fact.Text))
			return
		}
		c.bad(n, "market.stale").Msgf("STALE     %s: prices are as old as that, stops stay", plain(fact.Text))
	case engine.NoteFetchFailed:
		c.warn(n, "exchange.unavailable").Str("err_kind", exchange.ErrorKind(fact.Err)).Str("err", plain(fmt.Sprint(fact.Err))).
			Msgf("exchange  could not read %s", plain(fact.What))
	case engine.NoteStale:
		c.warn(n, "exchange.stale").Int("count", fact.Count).Msgf("stale     %s; the larger figure is kept", plain(fact.Text))
	case engine.NoteBlind:
		if fact.Over {
			c.warn(n, "exchange.back").Msgf("exchange  %s can be read again: openings go on", plain(fact.Of))
			return
		}
		c.bad(n, "exchange.blind").Str("err", plain(fact.Why)).Msgf("BLIND     %s cannot be read: nothing opens there, stops stay", plain(fact.Of))
	case engine.NoteJournal:
		c.journal(n, &fact)
	case engine.NoteUnexplained:
		c.bad(n, "ledger.unexplained").Str("asset", fact.Asset).Str("amount", fact.Amount.String()).Msgf("LEDGER    %s", plain(fact.Text))
	default:
		c.strategy(n)
	}
}

// debugging reports whether lines of level debug are written.
func (c *Console) debugging() bool {
	return c.logs != nil && c.logs.Level() == zerolog.DebugLevel.String()
}

// strategy writes facts about a strategy.
func (c *Console) strategy(n *engine.Note) {
	switch fact := n.Fact.(type) {
	case engine.NoteDecision:
		c.info(n, "strategy.decision").Msgf("decision  %s wants %s: %s", n.Strategy, target(n.Symbol, &fact), plain(fact.Reason))
	case engine.NoteMissed:
		c.warn(n, "strategy.missed").Int("count", fact.Count).Msgf("missed    %d ticks, skipped", fact.Count)
	case engine.NoteStrategyFailed:
		c.bad(n, "strategy.failed").Msgf("FAILED    %s is stopped, its protection stays: %s", n.Strategy, plain(fact.Why))
	case engine.NoteHung:
		if fact.Over {
			c.warn(n, "strategy.answers").Msgf("answers   %s answers again", n.Strategy)
			return
		}
		c.bad(n, "strategy.hung").Msgf("HUNG      %s does not answer, nothing opens for it, its protection stays: %s", n.Strategy, plain(fact.Why))
	case engine.NoteReload:
		c.info(n, "strategy.reloaded").Msgf("reloaded  %s: %s", n.Strategy, plain(fact.Text))
	case engine.NoteLatch:
		text := "latched: no entry until its target was zero or changed side"
		if fact.Over {
			text = "latch released"
		}
		c.info(n, "strategy.latch").Str("why", plain(fact.Why)).Msgf("latch     %s %s", n.Strategy, text)
	case engine.NoteSignal:
		if fact.Err == nil {
			c.info(n, "signal.taken").Msgf("signal    %s: %s", n.Strategy, plain(fact.Text))
			return
		}
		c.warn(n, "signal.refused").Str("err", plain(fact.Err.Error())).Msgf("signal    %s: not taken: %v", n.Strategy, plain(fact.Err.Error()))
	case engine.NotePosition:
		c.info(n, "position.changed").Msgf("position  %s %s %s", n.Strategy, symbol(n), holding(n.Symbol, &fact))
	case engine.NoteAdopted:
		c.warn(n, "position.adopted").Msgf("adopted   %s: %s", quantity(n.Symbol, fact.Quantity), plain(fact.Evidence))
	case engine.NoteIgnored:
		c.warn(n, "position.ignored").Msgf("ignored   %s is left to others: %s", quantity(n.Symbol, fact.Quantity), plain(fact.Evidence))
	default:
		c.order(n)
	}
}

// order writes the life of an intent and of its order.
func (c *Console) order(n *engine.Note) {
	switch fact := n.Fact.(type) {
	case engine.NoteIntent:
		c.info(n, "intent.derived").Str("reason", plain(fact.Intent.Reason)).Msgf("intent    %s %s", n.Strategy, order(n.Symbol, fact.Intent))
	case engine.NoteApproved:
		c.info(n, "risk.approved").Msgf("risk      approved %s %s", n.Strategy, fact.Intent.Purpose)
	case engine.NoteRefusal:
		r := fact.Refusal
		c.warn(n, "risk.refused").Str("rule", r.Rule).Str("value", r.Value).Str("limit", r.Limit).Str("hint", r.Hint).
			Msgf("risk      REFUSED %s %s by %s", n.Strategy, fact.Intent.Purpose, r.Rule)
	case engine.NotePlaced:
		placed := reconcile.Intent{Purpose: fact.Purpose, Order: fact.Order}
		c.info(n, "order.placed").Msgf("placed    %s %s as %s", n.Strategy, order(n.Symbol, &placed), fact.ClientOrderID)
	case engine.NoteAcknowledged:
		c.info(n, "order.acknowledged").Int64("dur_ms", fact.DurationMS).Msgf("ack       %s is order %d", fact.ClientOrderID, fact.OrderID)
	case engine.NoteRefused:
		c.warn(n, "order.refused").Msgf("refused   %s by the exchange: %s", fact.ClientOrderID, plain(fact.Why))
	case engine.NoteUncertain:
		c.warn(n, "order.uncertain").Msgf("UNKNOWN   %s: %s; it is not sent again, its fate is fetched", fact.ClientOrderID, plain(fact.Why))
	case engine.NoteFill:
		c.info(n, "order.fill").
			Msgf("fill      %s %s %s %s%s", n.Strategy, fact.Order.Side, n.Symbol.QuantityDecimal(fact.Quantity), n.Symbol.Name, price(n.Symbol, fact.Price))
	case engine.NoteSettled:
		c.info(n, "order.settled").
			Int64("dur_ms", fact.DurationMS).
			Str("evidence", plain(fact.Evidence)).
			Msgf("settled   %s %s", fact.ClientOrderID, ending(n.Symbol, &fact))
	case engine.NoteFound:
		c.bad(n, "order.found").Msgf("FOUND     order %d: %s", fact.OrderID, plain(fact.Evidence))
	default:
		c.state(n)
	}
}

// state writes declared states that block openings, and their ends.
func (c *Console) state(n *engine.Note) {
	switch fact := n.Fact.(type) {
	case engine.NoteQuarantine:
		if fact.Over {
			c.info(n, "symbol.resolved").Msgf("resolved  %s trades again", symbol(n))
			return
		}
		c.bad(n, "symbol.quarantined").Msgf("BLOCKED   %s is quarantined: %s", symbol(n), plain(fact.Why))
	case engine.NoteTransfer:
		c.warn(n, "ledger.transfer").Str("asset", fact.Asset).Str("amount", fact.Amount.String()).Msgf("transfer  %s", plain(fact.Text))
	case engine.NoteLiquidated:
		c.bad(n, "position.liquidated").Str("realised", fact.Realised.String()).Msgf("LIQUIDATED %s; its strategy is halted", plain(fact.Text))
	case engine.NoteUnprotected:
		if fact.Over {
			c.warn(n, "position.protected").Int64("dur_ms", fact.ForMS).Msgf("protected %s has its stop again, or has ended", symbol(n))
			return
		}
		c.bad(n, "position.unprotected").Str("cause", plain(fact.Why)).Msgf("UNPROTECTED %s: %s; nothing opens there", symbol(n), plain(fact.Why))
	case engine.NoteIntentRefused:
		c.refusedAgain(n, &fact)
	case engine.NoteContradicted:
		if fact.Over {
			c.info(n, "symbol.confirmed").Msgf("confirmed %s: exchange and fills agree again", symbol(n))
			return
		}
		c.bad(n, "symbol.contradicted").Msgf("DOUBTED   %s: %s; nothing opens, what protects stays", symbol(n), plain(fact.Why))
	case engine.NoteForeign:
		if fact.Over {
			c.info(n, "symbol.clear").Msgf("clear     %s has no orders of others that open", symbol(n))
			return
		}
		c.warn(n, "symbol.foreign").Msgf("FOREIGN   %s: %s; nothing opens beside it (foreign: halt)", symbol(n), plain(fact.Why))
	case engine.NoteHalt:
		if fact.Over {
			c.warn(n, "trading.armed").Msgf("ARMED     trading goes on: %s", plain(fact.Why))
			return
		}
		c.bad(n, "trading.halted").Msgf("HALTED    %s", plain(fact.Why))
	case engine.NoteBreaker:
		if fact.Over {
			c.warn(n, "breaker.ended").Msg("breaker   has ended: openings go on")
			return
		}
		c.bad(n, "breaker.tripped").
			Str("cause", plain(fact.Why)).
			Msgf("BREAKER   %s: nothing opens for %d s; exits and stops go on", plain(fact.Why), fact.PauseMS/1000)
	case engine.NoteLimit:
		c.limit(n, &fact)
	case engine.NoteLimitSet:
		c.warn(n, "limit.set").Str("rule", fact.Rule).Msgf("limit     %s", plain(fact.Text))
	}
}

// refusedAgain writes that the exchange refuses an intent again and again.
func (c *Console) refusedAgain(n *engine.Note, fact *engine.NoteIntentRefused) {
	switch {
	case fact.Over:
		c.warn(n, "intent.accepted").Msgf("accepted  %s: the %s is refused no more, or not wanted", n.Strategy, plain(fact.Why))
	case fact.Purpose.Opens():
		c.warn(n, "intent.refused").Str("cause", plain(fact.Why)).Msgf("REFUSED   %s: %s", n.Strategy, plain(fact.Why))
	default:
		c.bad(n, "intent.refused").Str("cause", plain(fact.Why)).Msgf("REFUSED   %s: %s", n.Strategy, plain(fact.Why))
	}
}

// journal writes whether the journal can be written, and whether its disk has room.
func (c *Console) journal(n *engine.Note, fact *engine.NoteJournal) {
	switch {
	case fact.Over && fact.Why != "": // what is left of the disk is for facts and exits
		c.warn(n, "journal.back").
			Int("records", fact.Records).
			Msgf("journal   is written again, %d records were waiting; still nothing opens: %s", fact.Records, plain(fact.Why))
	case fact.Over && fact.Records == 0:
		c.warn(n, "journal.back").Int("records", 0).Msg("journal   has room again: openings go on")
	case fact.Over:
		c.warn(n, "journal.back").
			Int("records", fact.Records).
			Msgf("journal   is written again, %d records were waiting: openings go on", fact.Records)
	case fact.Err != nil:
		c.bad(n, "journal.failed").Int("records", fact.Records).Str("err", plain(fact.Err.Error())).
			Msgf("JOURNAL   cannot be written, %d records wait: %s; stops stay on the exchange", fact.Records, plain(fact.Why))
	case fact.Lost:
		c.bad(n, "journal.lost").Msgf("JOURNAL   %s: nothing opens, exits and the kill switch go on; stop botd, restore, start", plain(fact.Why))
	default:
		c.bad(n, "journal.low").Msgf("JOURNAL   %s: nothing opens, exits go on", plain(fact.Why))
	}
}

// limit writes that a limit blocks entries, or no longer does.
func (c *Console) limit(n *engine.Note, fact *engine.NoteLimit) {
	scope, until := "account", "until botd rearm"
	if n.Strategy != "" {
		scope, until = n.Strategy, "until botd rearm --strategy "+n.Strategy
	}
	if fact.ForMS > 0 {
		until = "until " + time.UnixMilli(n.AtMS+fact.ForMS).UTC().Format("2006-01-02 15:04:05 UTC")
	}
	why := plain(fact.Why)
	if fact.Over {
		c.warn(n, "limit.ended").Str("rule", fact.Rule).Msgf("limit     %s of %s keeps entries back no more: %s", fact.Rule, scope, why)
		return
	}
	c.bad(n, "limit.breached").
		Str("rule", fact.Rule).
		Str("cause", why).
		Msgf("LIMIT     %s of %s: %s; no entries %s, exits and stops go on", fact.Rule, scope, why, until)
}

// ending says how an order ended, and how much was filled unless that is all of it.
func ending(s *exchange.Symbol, fact *engine.NoteSettled) string {
	if fact.State == placement.Filled || fact.Filled == 0 || s == nil {
		return fact.State.String()
	}
	return fact.State.String() + ", after " + quantity(s, fact.Filled) + " was filled"
}

// holding describes a position.
func holding(s *exchange.Symbol, fact *engine.NotePosition) string {
	switch {
	case fact.Quantity == 0:
		return "flat"
	case fact.Quantity < 0:
		return "short " + quantity(s, -fact.Quantity) + price(s, fact.EntryPrice)
	}
	return "long " + quantity(s, fact.Quantity) + price(s, fact.EntryPrice)
}

// symbol names a note's symbol. One whose rules are not known yet has no name here.
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

// price returns the mean price in words, where the exchange reports one.
func price(s *exchange.Symbol, mean exchange.Amount) string {
	if mean.IsZero() || s == nil {
		return ""
	}
	return " at " + mean.Decimal().Round(int32(s.PriceScale)).String()
}

// target describes the target of a plan.
func target(s *exchange.Symbol, fact *engine.NoteDecision) string {
	plan, t := fact.Plan, fact.Plan.Target
	switch {
	case plan.OrdersSet:
		return fmt.Sprintf("%d orders in the book", len(plan.Orders))
	case t.Sign() == 0:
		return "no position"
	case t.Share != 0:
		return t.Share.Decimal().Shift(2).String() + " % of equity in " + s.Name
	case !t.Quote.IsZero():
		return t.Quote.String() + " USDT of " + s.Name
	}
	return s.QuantityDecimal(t.Quantity).String() + " " + s.Name
}

// order describes what an intent requests.
func order(s *exchange.Symbol, intent *reconcile.Intent) string {
	o := &intent.Order
	switch intent.Purpose {
	case placement.Cancel:
		return fmt.Sprintf("cancel order %d", intent.OrderID)
	case placement.Leverage:
		return fmt.Sprintf("set leverage %d on %s", intent.Leverage, o.Symbol)
	}
	text := fmt.Sprintf("%s: %s %s", intent.Purpose, o.Side, o.Type)
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
