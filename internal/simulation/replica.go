package simulation

import (
	"slices"

	"botd/exchange"
)

// replicaKey identifies a read.
type replicaKey struct {
	operation exchange.Operation
	symbol    string
	number    int64 // order id, or start of a time range
}

// replica is an answer with the time since which it was current.
type replica struct {
	fromMS int64
	answer exchange.Answer
}

// maxReplicas bounds the saved answers per read.
const maxReplicas = 8

// lists are the reads whose answers are saved whenever they change.
var lists = []exchange.Operation{exchange.FuturesOpenOrders, exchange.FuturesOpenPositions, exchange.SpotOpenOrders, exchange.SpotWallet}

// show saves the current lists.
func (v *venue) show(w *world) {
	if w.quiet || w.weather[StaleRead]+w.weather[TornRead] == 0 {
		return
	}
	for _, operation := range lists {
		request := exchange.Request{Operation: operation}
		if answer, err := v.x.Do(trader, &request); err == nil {
			v.keep(w, replicaKey{operation: operation}, answer)
		}
	}
}

// keep saves an answer and drops those that no replica may return any longer: an answer expires L after its successor became current.
func (v *venue) keep(w *world, key replicaKey, answer exchange.Answer) {
	known, old := v.replica[key], 0
	for len(known)-old > 1 && (known[old+1].fromMS < w.nowMS-w.bounds.StalenessMS || len(known)-old >= maxReplicas) {
		old++
	}
	v.replica[key] = append(slices.Delete(known, 0, old), replica{w.nowMS, answer})
}

// stale replaces the answer to a read by an earlier one if the weather draws it and one is saved.
func (v *venue) stale(w *world, request *exchange.Request, answer exchange.Answer, err error) (exchange.Answer, error) {
	if w.quiet || w.weather[StaleRead]+w.weather[TornRead] == 0 || err != nil {
		return answer, err
	}
	key := replicaKey{operation: request.Operation}
	switch {
	case slices.Contains(lists, request.Operation):
	case request.Operation == exchange.FuturesAccount, request.Operation == exchange.FuturesOrder, request.Operation == exchange.SpotOrderHistory,
		request.Operation == exchange.FuturesTicker, request.Operation == exchange.SpotTicker:
		key.symbol, key.number = request.Symbol, request.OrderID+request.StartMS
	default:
		return answer, nil
	}
	shown := answer
	if known := v.recentAnswers(w, key); len(known) > 0 {
		pick := w.network.below(int64(len(known)))
		if w.harsh {
			pick = 0
		}
		switch old := &known[pick].answer; {
		case w.injects(StaleRead):
			shown = *old
			v.leaveOut(w, &shown, w.nowMS-w.bounds.StalenessMS)
		case w.injects(TornRead):
			shown = w.torn(old, &answer)
		}
	}
	if !slices.Contains(lists, request.Operation) {
		v.keep(w, key, answer)
	}
	return shown, nil
}

// recentAnswers returns the answers not older than L, the oldest first.
func (v *venue) recentAnswers(w *world, key replicaKey) []replica {
	known := v.replica[key]
	for len(known) > 1 && known[1].fromMS < w.nowMS-w.bounds.StalenessMS {
		known = known[1:]
	}
	if len(known) > 0 && !slices.Contains(lists, key.operation) && known[0].fromMS < w.nowMS-w.bounds.StalenessMS {
		known = known[1:] // the time at which this answer stopped being current is unknown
	}
	return known
}

// torn returns a list with parts from replicas of different age.
func (w *world) torn(old, fresh *exchange.Answer) exchange.Answer {
	shown := *fresh
	switch {
	case fresh.Orders.Done():
		shown.Orders = exchange.FetchedOf(mixedVersions(&w.network, old.Orders.Items(), fresh.Orders.Items(), func(o *exchange.Order) int64 { return o.ID }))
	case fresh.Positions.Done():
		shown.Positions = exchange.FetchedOf(mixedVersions(&w.network, old.Positions.Items(), fresh.Positions.Items(),
			func(p *exchange.Position) int64 { return p.ID }))
	}
	return shown
}

// mixedVersions draws for each entry whether to return its old or its current form.
func mixedVersions[T any](d *draw, old, fresh []T, id func(*T) int64) []T {
	var shown []T
	for i := range fresh {
		at := slices.IndexFunc(old, func(o T) bool { return id(&o) == id(&fresh[i]) })
		switch {
		case d.chance(0.5):
			shown = append(shown, fresh[i])
		case at >= 0:
			shown = append(shown, old[at])
		}
	}
	for i := range old {
		removed := !slices.ContainsFunc(fresh, func(f T) bool { return id(&f) == id(&old[i]) })
		if removed && d.chance(0.5) {
			shown = append(shown, old[i])
		}
	}
	return shown
}
