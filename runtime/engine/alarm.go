package engine

import (
	"fmt"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/record"
)

// overdueMS is how long after its fence an uncertain order may stay undecided before its strategy is
// halted (case 24).
const overdueMS = 120_000

// The functions of this file halt what requires a person's decision, and report what blocks openings.

// guardOverdue halts a strategy whose uncertain placement could not be decided for overdueMS
// after its fence, because there was no valid snapshot (case 24).
func guardOverdue(b *base) {
	for _, leg := range b.legs {
		p := b.tracker.Overdue(leg.symbol.Key(), b.nowMS, overdueMS)
		if p == nil || b.tracker.HaltOf(account.Scope{Strategy: leg.config.Name}).Level != record.LevelNone {
			continue
		}
		why := fmt.Sprintf("placement %s is uncertain %d minutes after it could have been decided: no valid snapshot", p.ClientOrderID(), overdueMS/60_000)
		b.record(record.Record{Strategy: leg.config.Name, Body: record.Halt{Level: record.LevelPause, Reason: why}})
		b.note(leg.config.Name, leg.config.Symbol, NoteHalt{Reason: why})
	}
}

// unjournalledOrder begins a text about an order of this instance's prefix that the journal lacks.
func unjournalledOrder(id string) string {
	return "order " + id + " carries this instance's prefix but is not in the journal"
}

// guardPrefix stands the account down when another botd, or an old backup, trades under botd's
// prefix (case 15): the halt's record names the order. If a halt is already in force, a person is
// notified once.
func guardPrefix(o *outbox) {
	id := o.tracker.ForeignPrefix()
	if id == "" {
		return
	}
	switch halted := o.tracker.Halted(); {
	case halted.Unknown != "":
		return
	case halted.Level != record.LevelNone:
		guardUnknownOrders(o) // a halt for another reason may end before this one is checked
		if o.tracker.ForeignPrefix() == "" {
			return
		}
		id = o.tracker.ForeignPrefix()
	}
	why := unjournalledOrder(id) + ": a second botd is running, or an old backup was restored"
	o.record(record.Record{ClientOrderID: id, Body: record.Halt{Level: record.LevelPause, Reason: why}})
	o.note("", nil, NoteHalt{Reason: why})
}

// guardUnknownOrders quarantines the symbols whose history shows an order that the journal does not
// know: unlike an open order, such an order would not be found again later.
func guardUnknownOrders(o *outbox) {
	for symbol := range o.tracker.Symbols() {
		if symbol.UnknownEnded() == "" || symbol.Quarantine() != "" {
			continue
		}
		why := unjournalledOrder(symbol.UnknownEnded()) + ": an old backup was restored"
		o.record(record.Record{Symbol: symbol.Key(), ClientOrderID: symbol.UnknownEnded(), Body: record.Quarantined{Reason: why}})
		o.note("", symbol.Rules(), NoteQuarantine{Reason: why})
	}
}

// watchForeign reports when foreign orders begin to block a symbol's openings, and when they no longer
// do.
func watchForeign(o *outbox) {
	for symbol := range o.tracker.Symbols() {
		order := o.tracker.ForeignOpening(symbol)
		if (order != nil) == (symbol.ForeignSinceMS() != 0) {
			continue
		}
		fact := NoteForeign{Ended: order == nil}
		if symbol.NoteForeign(0); order != nil {
			symbol.NoteForeign(o.nowMS)
			fact.OrderID, fact.Reason = order.ID, foreignText(o.tracker, symbol, order)
		}
		o.note("", &exchange.Symbol{Market: symbol.Key().Market, Name: symbol.Key().Name}, fact)
	}
}

// watchContradicted reports when a list begins to contradict botd's own fills, and when that ends.
func watchContradicted(o *outbox) {
	for symbol := range o.tracker.Symbols() {
		if !symbol.NoteContradicted() {
			continue
		}
		o.note("", &exchange.Symbol{Market: symbol.Key().Market, Name: symbol.Key().Name}, NoteContradicted{symbol.Contradicted(), symbol.Contradicted() == ""})
	}
}

func foreignText(tracker *reconcile.Tracker, symbol *reconcile.SymbolState, o *exchange.Order) string {
	if row := symbol.UnreadRow(o); row != nil {
		return fmt.Sprintf("order %d, not placed by botd, cannot be read: %s", o.ID, row.Reason)
	}
	if symbol.Repeats(o) || tracker.OfPlan(symbol, o) {
		return fmt.Sprintf("order %d equals one of botd's: the exchange executed that order twice, or another botd is running", o.ID)
	}
	if tracker.Resembles(symbol, o) {
		return fmt.Sprintf("order %d has no id but the form of botd's stops: another botd runs here, or ran, or a journal was lost", o.ID)
	}
	text := fmt.Sprintf("order %d, not placed by botd, may open a position: %s %s", o.ID, o.Side, o.Type)
	if rules := symbol.Rules(); rules != nil {
		text += " " + rules.QuantityDecimal(o.Remaining()).String()
	}
	return text
}
