package engine

import (
	"slices"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/record"
)

// settle advances every placement by what was fetched, and notes what changed.
func (e *round) settle(snapshot *reconcile.Snapshot) {
	before := make([]memo, 0, len(e.runs))
	for _, r := range e.runs {
		before = append(before, memo{r.truth.Position, r.truth.Quarantine(), r.state.Latch()})
	}
	live := slices.Clone(e.book.Live())
	fills := make([]exchange.Quantity, len(live))
	for i, p := range live {
		fills[i] = p.Filled()
	}
	stale := e.book.Stale()
	for _, r := range e.book.Observe(snapshot) {
		e.keep(r)
		e.noteObserved(&r)
	}
	for i, p := range live {
		e.notePlacement(p, fills[i])
	}
	if grown := e.book.Stale() - stale; grown > 0 {
		e.note("", nil, NoteStale{int(grown), "the exchange told less than it had told before"})
	}
	for i, r := range e.runs {
		e.noteRun(r, before[i])
	}
	e.alarms.watchForeign()
}

// memo is what a round may change of one strategy's symbol.
type memo struct {
	position   exchange.Quantity
	quarantine string
	latch      int
}

// noteObserved notes what evidence has decided. What it says of placements, and of
// symbols that a strategy trades, is noted by what it has changed.
func (e *round) noteObserved(r *record.Record) {
	rules := e.book.Symbol(r.Symbol).Rules
	switch body := r.Body.(type) {
	case record.Found:
		e.note(
			r.Strategy,
			rules,
			NoteFound{Evidence: body.Evidence, NoteOrder: NoteOrder{ClientOrderID: r.ClientOrderID, OrderID: body.OrderID, Order: body.Order}},
		)
	case record.Adopted:
		e.note("", rules, NoteAdopted{body.Quantity, body.Evidence})
	case record.Quarantined:
		if !slices.ContainsFunc(e.runs, func(run *run) bool { return run.truth.Key() == r.Symbol }) {
			e.note("", &exchange.Symbol{Market: r.Symbol.Market, Name: r.Symbol.Name}, NoteQuarantine{Why: body.Why})
		}
	case record.Ignored:
		if r.ClientOrderID == "" {
			e.note("", rules, NoteIgnored{body.Quantity, body.Evidence})
		}
	}
}

func (e *round) notePlacement(p *account.Placement, filledBefore exchange.Quantity) {
	if p.Filled() <= filledBefore && !p.State().Final() {
		return
	}
	truth := e.book.Symbol(p.Symbol())
	if grown := p.Filled() - filledBefore; grown > 0 {
		if !e.config.Quiet {
			e.note(p.Strategy(), truth.Rules, NoteFill{noteOrder(p), grown, p.Price(), truth.Last})
		}
		e.results.traded(p, grown)
	}
	if p.State().Final() {
		e.note(p.Strategy(), truth.Rules, NoteSettled{noteOrder(p), p.State(), p.Filled(), p.Price(), p.Evidence(), e.nowMS - p.SentMS()})
	}
}

func (e *round) noteRun(r *run, before memo) {
	if r.truth.Position != before.position && !e.config.Quiet {
		e.note(r.config.Name, r.config.Symbol, NotePosition{r.truth.Position, r.truth.EntryPrice, r.truth.Last})
	}
	if r.truth.Quarantine() != before.quarantine {
		e.note(r.config.Name, r.config.Symbol, NoteQuarantine{r.truth.Quarantine(), r.truth.Quarantine() == ""})
	}
	e.tick.noteLatch(r, before.latch)
}
