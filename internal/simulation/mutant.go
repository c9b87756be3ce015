package simulation

import (
	"slices"

	"botd/exchange"
	"botd/internal/mutant"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// These are the mutants of the simulated parts around the engine: the client, the journal and the start. Mutants
// of the engine itself are edits in internal/mutant.

// configuredBounds returns the bounds that the daemon is configured with.
func configuredBounds(bounds placement.Bounds) placement.Bounds {
	switch {
	case mutant.Is("no_fence"):
		bounds = placement.Bounds{WindowMS: -timeToLiveMS}
	case mutant.Is("no_window"):
		bounds.WindowMS = 0
	case mutant.Is("no_visibility"):
		bounds.VisibilityMS = 0
	case mutant.Is("no_staleness"):
		bounds.StalenessMS = 0
	}
	return bounds
}

// misread misinterprets an answer. It reports whether it withholds the answer from the daemon.
func (w *world) misread(f *flight) bool {
	operation := f.call.Request.Operation
	var uncertain *exchange.Uncertain
	if is(f.err, &uncertain) {
		switch why := uncertain.Reason; {
		case mutant.Is("timeout_is_refused") && (why == "timeout" || why == "reset"),
			mutant.Is("server_error_is_refused") && why == "status 503",
			mutant.Is("malformed_is_refused") && why == "malformed answer":
			f.err = &exchange.Refusal{Operation: operation, Status: 400, Code: 1, Message: "a mutant treats it as a refusal"}
		case mutant.Is("blind_retry") && f.placed.sends < 3:
			again := *f
			again.doomed, again.fault, again.answered, again.err = false, FaultEnd, false, nil
			w.put(scheduled{atMS: w.nowMS + 200, kind: happenSend, life: f.life, flight: &again})
			return true
		}
	}
	var refusal *exchange.Refusal
	switch {
	case mutant.Is("empty_for_failed") && f.err != nil:
		emptyForFailed(f)
	case operation != exchange.FuturesOrder:
	case mutant.Is("vanished_is_canceled") && f.err == nil:
		f.answer.Order.Status = exchange.StatusCanceled
	case mutant.Is("not_known_is_canceled") && is(f.err, &refusal):
		for p := range w.daemon.machine.Tracker().Live() {
			if p.OrderID() == f.call.Request.OrderID {
				f.err, f.answer = nil, exchange.Answer{Operation: operation,
					Order: exchange.Order{ID: p.OrderID(), ClientOrderID: p.ClientOrderID(), Market: p.Order().Market,
						Symbol: p.Order().Symbol, Side: p.Order().Side, Type: p.Order().Type, Quantity: p.Order().Quantity, Filled: p.Filled(),
						Status: exchange.StatusCanceled}}
			}
		}
	}
	return false
}

// emptyForFailed reads a failed fetch as an empty list.
func emptyForFailed(f *flight) {
	operation := f.call.Request.Operation
	switch operation {
	case exchange.FuturesOpenOrders, exchange.SpotOpenOrders, exchange.SpotOrderHistory:
		f.err, f.answer = nil, exchange.Answer{Operation: operation, Orders: exchange.FetchedOf[exchange.Order](nil)}
	case exchange.FuturesOpenPositions:
		f.err, f.answer = nil, exchange.Answer{Operation: operation, Positions: exchange.FetchedOf[exchange.Position](nil)}
	}
}

// replay applies a record during a start.
func replay(tracker *reconcile.Tracker, r *record.Record) {
	if !mutant.Built() {
		tracker.Apply(r)
	} else if remembered(r) {
		changed := *r
		if ended, ok := r.Body.(record.Ended); ok && mutant.Is("forgotten_fills") {
			ended.Filled = 0
			changed.Body = ended
		}
		tracker.Apply(&changed)
	}
}

// remembered reports whether a start applies the record.
func remembered(r *record.Record) bool {
	switch r.Kind() {
	case record.KindFill:
		return !mutant.Is("forgotten_fills")
	case record.KindHalt:
		return !mutant.Is("forgotten_halts")
	case record.KindQuarantined:
		return !mutant.Is("forgotten_quarantine")
	case record.KindBoot:
		return !mutant.Is("same_epoch")
	}
	return true
}

// forgetSending ends the placements whose answers a crash lost.
func forgetSending(tracker *reconcile.Tracker) {
	for _, p := range slices.Collect(tracker.Live()) {
		if p.State() == placement.Sending {
			tracker.Apply(&record.Record{ClientOrderID: p.ClientOrderID(), Strategy: p.Strategy(), Symbol: p.Symbol(),
				Body: record.Ended{State: placement.Expired}})
		}
	}
}
