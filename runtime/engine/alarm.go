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

// alarms halts what requires a person's decision, and reports what blocks openings.
type alarms struct{ *base }

// guardOverdue halts a strategy whose uncertain placement could not be decided for overdueMS
// after its fence, because there was no valid snapshot (case 24).
func (a *alarms) guardOverdue() {
	for _, leg := range a.legs {
		p := a.book.Overdue(leg.symbol.Key(), a.nowMS, overdueMS)
		if p == nil || a.book.HaltOf(account.Scope{Strategy: leg.config.Name}).Level != record.LevelNone {
			continue
		}
		why := fmt.Sprintf("placement %s is unknown %d minutes after it could have been decided: no valid snapshot", p.ClientOrderID(), overdueMS/60_000)
		a.record(record.Record{Strategy: leg.config.Name, Body: record.Halt{Level: record.LevelPause, Reason: why}})
		a.note(leg.config.Name, leg.config.Symbol, NoteHalt{Reason: why})
	}
}

// unjournalledOrder begins a text about an order of this instance's prefix that the journal lacks.
func unjournalledOrder(id string) string {
	return "order " + id + " carries this instance's prefix but is not in the journal"
}

// guardPrefix stands the account down when another instance, or an old backup, trades under botd's
// prefix (case 15): the halt's record names the order. If a halt is already in force, a person is
// notified once.
func (a *alarms) guardPrefix() {
	id := a.book.ForeignPrefix()
	if id == "" {
		return
	}
	switch halted := a.book.Halted(); {
	case halted.Unknown != "":
		return
	case halted.Level != record.LevelNone:
		a.guardUnknownOrders() // a halt for another reason may end before this one is checked
		if a.book.ForeignPrefix() == "" {
			return
		}
		id = a.book.ForeignPrefix()
	}
	why := unjournalledOrder(id) + ": a second botd is running, or an old backup was restored"
	a.record(record.Record{ClientOrderID: id, Body: record.Halt{Level: record.LevelPause, Reason: why}})
	a.note("", nil, NoteHalt{Reason: why})
}

// guardUnknownOrders quarantines the symbols whose history shows an order that the journal does not
// know: unlike an open order, such an order would not be found again later.
func (a *alarms) guardUnknownOrders() {
	for symbol := range a.book.Symbols() {
		if symbol.UnknownEnded() == "" || symbol.Quarantine() != "" {
			continue
		}
		why := unjournalledOrder(symbol.UnknownEnded()) + ": an old backup was restored"
		a.record(record.Record{Symbol: symbol.Key(), ClientOrderID: symbol.UnknownEnded(), Body: record.Quarantined{Reason: why}})
		a.note("", symbol.Rules(), NoteQuarantine{Reason: why})
	}
}

// watchForeign reports when foreign orders begin to block a symbol's openings, and when they no longer
// do.
func (a *alarms) watchForeign() {
	for symbol := range a.book.Symbols() {
		o := a.book.ForeignOpening(symbol)
		if (o != nil) == (symbol.ForeignSinceMS() != 0) {
			continue
		}
		fact := NoteForeign{Ended: o == nil}
		if symbol.NoteForeign(0); o != nil {
			symbol.NoteForeign(a.nowMS)
			fact.OrderID, fact.Reason = o.ID, foreignText(a.book, symbol, o)
		}
		a.note("", &exchange.Symbol{Market: symbol.Key().Market, Name: symbol.Key().Name}, fact)
	}
}

// watchContradicted reports when a list begins to contradict botd's own fills, and when that ends.
func (a *alarms) watchContradicted() {
	for symbol := range a.book.Symbols() {
		if !symbol.NoteContradicted() {
			continue
		}
		a.note("", &exchange.Symbol{Market: symbol.Key().Market, Name: symbol.Key().Name}, NoteContradicted{symbol.Contradicted(), symbol.Contradicted() == ""})
	}
}

func foreignText(book *reconcile.Book, symbol *reconcile.SymbolState, o *exchange.Order) string {
	if row := symbol.UnreadRow(o); row != nil {
		return fmt.Sprintf("order %d, not placed by botd, cannot be read: %s", o.ID, row.Reason)
	}
	if symbol.Repeats(o) || book.OfPlan(symbol, o) {
		return fmt.Sprintf("order %d equals one of botd's: the exchange executed that order twice, or another botd is running", o.ID)
	}
	if book.Resembles(symbol, o) {
		return fmt.Sprintf("order %d has no id but the form of botd's stops: another botd runs here, or ran, or a journal was lost", o.ID)
	}
	text := fmt.Sprintf("order %d, not placed by botd, may open a position: %s %s", o.ID, o.Side, o.Type)
	if rules := symbol.Rules(); rules != nil {
		text += " " + rules.QuantityDecimal(o.Remaining()).String()
	}
	return text
}
