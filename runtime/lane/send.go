package lane

import (
	"context"
	"sync"
	"time"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/engine"
)

// read fetches a list, with priority over everything except exits.
func (l *Lane) read(ctx context.Context, request exchange.Request) (exchange.Answer, error) {
	limited, cancel := context.WithTimeout(l.config.Urgent(ctx), readTimeout)
	defer cancel()
	return l.config.Venue.Do(limited, request)
}

// cancel cancels an order unless a cancel was just sent. Its fill is final if the answer reports
// that.
func (l *Lane) cancel(ctx context.Context, t *exposure, orderID int64) {
	l.mu.Lock()
	_, ended := t.final[orderID]
	fresh := orderID == 0 || ended || time.Since(t.canceled[orderID]) < sendAgain
	if !fresh {
		t.canceled[orderID] = time.Now()
	}
	l.mu.Unlock()
	if fresh {
		return
	}
	limited, stop := context.WithTimeout(l.config.Urgent(ctx), readTimeout)
	defer stop()
	answer, err := l.config.Venue.Do(limited, exchange.Request{Operation: exchange.FuturesCancel.On(t.Symbol.Market), Symbol: t.Symbol.Name, OrderID: orderID})
	if err == nil && answer.Order.ID == orderID && answer.Order.Status.Final() {
		l.mu.Lock()
		t.final[orderID] = answer.Order.Filled
		l.mu.Unlock()
	}
}

// cancelListed cancels the journalled orders that a level ends, all at once: the request budget
// orders them.
func (l *Lane) cancelListed(ctx context.Context, _ *action, exposures []*exposure) {
	var group sync.WaitGroup
	for _, t := range exposures {
		for i := range t.Orders {
			if p := &t.Orders[i]; t.ends(p) {
				group.Go(func() { l.cancel(ctx, t, p.OrderID()) })
			}
		}
	}
	group.Wait()
}

// place sends one order, which must not be able to open anything, once its record is in the lane's
// file, or after a moment without it: its id is in the record of the start.
func (l *Lane) place(ctx context.Context, a *action, t *exposure, order exchange.NewOrder) (id string, outcome record.Body) {
	if !order.Reduces() && (order.Market != exchange.Spot || order.Side != exchange.Sell) {
		panic("lane: an order that may open: " + order.Symbol)
	}
	order.Market, order.Symbol = t.Symbol.Market, t.Symbol.Name
	l.mu.Lock()
	if l.sequence == placement.LaneIDs {
		l.mu.Unlock()
		return "", record.Ended{State: placement.Expired, Evidence: "never sent: the lane's ids are used up"}
	}
	l.sequence++
	order.ClientOrderID = placement.ClientOrderID(l.config.Instance, l.config.Start, l.sequence)
	nowMS := l.config.NowMS()
	sent := engine.LaneOrder{Strategy: t.Strategy, Order: order, SentMS: nowMS, DeadlineMS: nowMS + timeToLive, Before: t.Close}
	at := len(a.orders)
	a.orders, a.news = append(a.orders, sent), true
	l.mu.Unlock()
	l.config.File.write([]record.Record{{AtMS: nowMS, Strategy: t.Strategy, Symbol: order.Key(), ClientOrderID: order.ClientOrderID, Body: record.Sending{
		Order: order, Purpose: placement.Exit, DeadlineMS: sent.DeadlineMS, Before: sent.Before}}}, durableWait)
	outcome = l.send(ctx, &sent)
	l.mu.Lock()
	a.orders[at].Outcome, a.news = outcome, true
	l.mu.Unlock()
	l.config.File.write([]record.Record{{AtMS: l.config.NowMS(), Strategy: t.Strategy, Symbol: order.Key(), ClientOrderID: order.ClientOrderID,
		Body: outcome}}, 0)
	l.config.Log("lane.sent", "HALT      without the engine: %s %s %s of %s (%s): %s", order.Side, order.Type, t.Symbol.QuantityDecimal(order.Quantity),
		t.Symbol.Key(), order.ClientOrderID, outcome.Kind())
	return order.ClientOrderID, outcome
}

// send performs a placement and returns the meaning of its answer.
func (l *Lane) send(ctx context.Context, o *engine.LaneOrder) record.Body {
	request := exchange.Request{Operation: exchange.FuturesPlace.On(o.Order.Market), Order: o.Order}
	limited, cancel := context.WithTimeout(l.config.Urgent(context.WithoutCancel(ctx)), callTimeout)
	defer cancel()
	var answer exchange.Answer
	var err error
	if venue, budgeted := l.config.Venue.(runtime.BudgetedVenue); budgeted {
		answer, err = venue.DoBefore(limited, request, exchange.SendLimit{NotAfterMS: o.DeadlineMS})
	} else {
		answer, err = l.config.Venue.Do(limited, request)
	}
	return engine.Outcome(o.Order.ClientOrderID, &answer.Order, err)
}

// report stores the lane's progress on a market.
func (l *Lane) report(a *action, market exchange.Market, p progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a.state[market] = p
	l.noteProgress(a)
}

// exposuresOn returns a market's exposures for which a halt closes something, with their current
// levels.
func (l *Lane) exposuresOn(a *action, market exchange.Market) (all []*exposure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range a.exposures {
		if t.Symbol.Market == market && t.requested.EndsOrders() {
			t.level = t.requested
			all = append(all, t)
		}
	}
	return all
}
