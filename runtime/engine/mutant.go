package engine

import (
	"errors"

	"botd/exchange"
	"botd/internal/mutant"
	"botd/reconcile"
)

// believeCancel takes the answer of a cancel for the end of the order, in a build
// that breaks this rule (cases 27 and 28).
func (e *Engine) believeCancel(p purpose, event *Event) {
	var refusal *exchange.Refusal
	refused := errors.As(event.Err, &refusal)
	placement := e.book.Placement(p.clientID)
	if placement == nil || !(mutant.Is(mutant.CancelIsTheEnd) && event.Err == nil || mutant.Is(mutant.RefusedCancelIsTheEnd) && refused) {
		return
	}
	e.record(reconcile.Record{Kind: reconcile.RecordEnded, ClientOrderID: p.clientID, Strategy: placement.Strategy, Symbol: placement.Order.Key(),
		State: reconcile.Canceled, Filled: placement.Filled, Evidence: "a mutant believes the cancel"})
}
