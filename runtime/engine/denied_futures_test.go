package engine

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/record"
)

// futuresDenial makes the open list and the reads by id deny each order of a type that rests on futures: the list omits it, its read shows a status.
func (w *world) futuresDenial(of exchange.OrderType, status exchange.OrderStatus) func(*exchange.Answer) {
	return func(answer *exchange.Answer) {
		switch answer.Operation {
		case exchange.FuturesOpenOrders:
			var rows []exchange.Order
			for _, o := range answer.Orders.Items() {
				if o.Type != of {
					rows = append(rows, o)
				}
			}
			answer.Orders = exchange.FetchedOf(rows)
		case exchange.FuturesOrder:
			if answer.Order.Type == of && !answer.Order.Status.Final() {
				answer.Order.Status = status
			}
		}
	}
}

// openFutures returns the number of open orders of a type on futures.
func (w *world) openFutures(of exchange.OrderType) (open int) {
	w.venue.EachOpenOrder("one", exchange.Futures, func(o *exchange.Order) {
		if o.Type == of {
			open++
		}
	})
	return open
}

// Open list and reads by id show the end of each entry, and the entries rest. Once the exchange shows them again, a halt at level cancel reports and
// cancels them: one that filled later would open a position that nobody wants.
func TestEntryShownAsEndedThatRestsIsCanceledOnFutures(t *testing.T) {
	t.Parallel()
	for name, restarts := range map[string]bool{"running": false, "after a start": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deniedEntry(t, restarts)
		})
	}
}

func deniedEntry(t testing.TB, restarts bool) {
	t.Helper()
	w := newWorld(t, rest(10, 40_000e8))
	w.mirror = w.futuresDenial(exchange.Limit, exchange.StatusCanceled)
	w.pass(30_000)
	if open := w.openFutures(exchange.Limit); open < 2 {
		t.Fatalf("want entries that the exchange denies, have %d\n%s", open, w.story())
	}
	if restarts {
		w.start()
	}
	w.give(&EventHalt{Level: record.LevelCancel, Reason: "a test"})
	w.pass(3_000)
	w.mirror = nil
	reported := false
	for range 40 {
		w.pass(500)
		reported = reported || strings.Contains(strings.Join(w.wantState("halted").Blind, "\n"), "rests on the exchange although it was shown as ended")
	}
	if d := w.wantState("halted"); !reported || w.openFutures(exchange.Limit) != 0 || len(d.Blind) != 0 {
		t.Errorf("want them reported, %t, and none resting, have %d, %+v\n%s", reported, w.openFutures(exchange.Limit), d, w.story())
	}
}

// The exchange denies the stop of a position, which rests. Whether or not it accepts another one meanwhile, one stop remains once it shows them again.
func TestStopShownAsEndedThatRestsIsTakenBackOnFutures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		shown    exchange.OrderStatus
		restarts bool
	}{"canceled": {exchange.StatusCanceled, false}, "canceled, and a start": {exchange.StatusCanceled, true}, "rejected": {exchange.StatusRejected, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, hold(10), protected)
			w.mirror = w.futuresDenial(exchange.StopMarket, c.shown)
			w.pass(20_000)
			if c.restarts {
				w.start()
			}
			w.mirror = nil
			w.pass(30_000)
			if open := w.openFutures(exchange.StopMarket); open != 1 || w.symbol().Position() != 10 || w.symbol().UnprotectedSinceMS() != 0 {
				t.Errorf("want one stop for the position of 10, have %d, position %d\n%s", open, w.symbol().Position(), w.story())
			}
			w.flatten()
			w.pass(10_000)
			if d := w.wantState("halted"); w.openFutures(exchange.StopMarket) != 0 || w.symbol().Position() != 0 || d.Remaining != "" {
				t.Errorf("want it flat, have %d stops, position %d, %+v\n%s", w.openFutures(exchange.StopMarket), w.symbol().Position(), d, w.story())
			}
		})
	}
}
