package engine

import (
	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
)

// reportObserved reports what evidence has decided. Effects on placements, and on symbols that a strategy
// trades, are noted where the state changes.
func (r *round) reportObserved(observed *record.Record) {
	rules := r.symbolOf(observed.Symbol)
	switch body := observed.Body.(type) {
	case record.Found:
		r.note(observed.Strategy, rules, NoteFound{
			Evidence:  body.Evidence,
			NoteOrder: NoteOrder{ClientOrderID: observed.ClientOrderID, OrderID: body.OrderID, Order: body.Order},
		})
	case record.Adopted:
		r.note("", rules, NoteAdopted{body.Quantity, body.Evidence})
	case record.Quarantined:
		if r.legOn(observed.Symbol) == nil {
			r.note("", &exchange.Symbol{Market: observed.Symbol.Market, Name: observed.Symbol.Name}, NoteQuarantine{Reason: body.Reason})
		}
	case record.Ignored:
		if observed.ClientOrderID == "" {
			r.note("", rules, NoteIgnored{body.Quantity, body.Evidence})
		}
	}
}

func (r *round) reportPlacement(p *account.Placement, filledBefore exchange.Quantity) {
	r.backoffs.settled(p)
	if p.Filled() <= filledBefore && !p.State().Final() {
		return
	}
	symbol := r.tracker.Symbol(p.Symbol())
	if grown := p.Filled() - filledBefore; grown > 0 {
		if !r.config.Quiet {
			r.note(p.Strategy(), symbol.Rules(), NoteFill{noteOrder(p), grown, p.Price(), symbol.Last()})
		}
		r.accounting.traded(p, r.reader.snapshot.BeganMS)
		if p.Symbol().Market == exchange.Spot && p.Order().Side == exchange.Buy {
			r.backoffs.released(p.Symbol())
		}
	}
	if p.State().Final() {
		r.note(p.Strategy(), symbol.Rules(), NoteSettled{noteOrder(p), p.State(), p.Filled(), p.Price(), p.Evidence(), r.nowMS - p.SentMS()})
	}
}

// symbolBefore is the state of one strategy's symbol that a round may change.
type symbolBefore struct {
	position   exchange.Quantity
	known      exchange.Quantity
	quarantine string
	latch      int
}

// lostExcess reports whether the position on the side of the target exceeded the fills, and less of that excess is left: the plan in force assumed the
// whole excess, so the part that is gone would be opened again at once.
func (before *symbolBefore) lostExcess(leg *leg) bool {
	sign := exchange.Quantity(leg.state.Plan().Target().Sign())
	position, excess := leg.symbol.Position()*sign, (before.position-before.known)*sign
	return excess > 0 && position < before.position*sign && position-leg.symbol.Known()*sign < excess
}

func (r *round) reportLeg(leg *leg, before symbolBefore) {
	if leg.symbol.Position() != before.position && !r.config.Quiet {
		r.note(leg.config.Name, leg.config.Symbol, NotePosition{leg.symbol.Position(), leg.symbol.EntryPrice(), leg.symbol.Last()})
	}
	if leg.symbol.Quarantine() != before.quarantine {
		r.note(leg.config.Name, leg.config.Symbol, NoteQuarantine{leg.symbol.Quarantine(), leg.symbol.Quarantine() == ""})
	}
	r.tick.reportLatch(leg, before.latch)
}
