package lane

import (
	"context"
	"errors"
	"maps"
	"time"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/runtime"
)

// Gate returns the venue for the engine's driver. While the lane acts, it holds the engine's
// openings in the scope of a halt, and its exits where the lane closes, because two closes of one
// position must not be sent together. Cancels and futures protection pass.
func (l *Lane) Gate() runtime.Venue { return gated{l} }

type gated struct{ lane *Lane }

// Do performs a request.
func (g gated) Do(ctx context.Context, request exchange.Request) (exchange.Answer, error) {
	return g.DoBefore(ctx, request, exchange.SendLimit{})
}

// DoBefore performs a request within its limit.
func (g gated) DoBefore(ctx context.Context, request exchange.Request, limit exchange.SendLimit) (answer exchange.Answer, err error) {
	if request.Operation.Places() {
		key := request.Order.Key()
		if !g.lane.begin(&request.Order) {
			return exchange.Answer{}, &exchange.Unavailable{Operation: request.Operation, Reason: "not sent: the kill switch acts without the engine"}
		}
		defer func() { g.lane.ended(key, request.Order.ClientOrderID, answer.Order.ID, err) }()
		limit.Withdrawn = func() bool { return g.lane.Refuses(&request.Order) }
	}
	venue, budgeted := g.lane.config.Venue.(runtime.BudgetedVenue)
	if !budgeted {
		return g.lane.config.Venue.Do(ctx, request)
	}
	return venue.DoBefore(ctx, request, limit)
}

// begin registers a placement of the engine, unless it must not be sent.
func (l *Lane) begin(order *exchange.NewOrder) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuses(order) {
		return false
	}
	l.placing[order.Key()]++
	l.passed[order.ClientOrderID] = &passedPlacement{at: time.Now()}
	return true
}

// passedPlacement is a placement of the engine that passed the gate.
type passedPlacement struct {
	at      time.Time
	orderID int64 // 0 if unknown
	refused bool  // or certainly not sent
}

// passedFor is the time for which such a placement is remembered: longer than its call can take.
const passedFor = time.Minute

// forget drops placements that the engine must have received, unless the engine currently receives
// nothing.
func (l *Lane) forget(now time.Time) {
	maps.DeleteFunc(l.passed, func(_ string, p *passedPlacement) bool { return now.Sub(p.at) > passedFor })
}

func (l *Lane) ended(key exchange.SymbolKey, clientOrderID string, orderID int64, err error) {
	var unsent *exchange.Unavailable
	var refusal *exchange.Refusal
	var uncertain *exchange.Uncertain
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.passed[clientOrderID]; p != nil {
		p.orderID = orderID
		p.refused = !errors.As(err, &uncertain) && (errors.As(err, &unsent) || errors.As(err, &refusal))
	}
	l.placing[key]--
	if l.placing[key] == 0 {
		delete(l.placing, key)
	}
}

// Refuses reports whether a placement of the engine must not be sent now.
func (l *Lane) Refuses(order *exchange.NewOrder) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refuses(order)
}

func (l *Lane) refuses(order *exchange.NewOrder) bool {
	if l.acting == nil {
		return false
	}
	level, sells := l.acting.levelOf(order.Key()), order.Market == exchange.Spot && order.Side == exchange.Sell
	if order.Reduces() || sells {
		return level == record.LevelFlatten && (order.ReduceOnly || sells)
	}
	return level >= record.LevelPause
}

// isPlacing reports whether a placement of the engine on a symbol is in progress.
func (l *Lane) isPlacing(key exchange.SymbolKey) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.placing[key] > 0
}
