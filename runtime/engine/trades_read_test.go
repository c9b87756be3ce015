package engine

import (
	"strconv"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// An empty list omits every resting order. Each round reads the user trades of some of them, in turn, so that many orders do not exhaust the exchange's
// request budget.
func TestUserTradesOfOmittedOrdersAreReadInTurn(t *testing.T) {
	t.Parallel()
	tradesReadInTurn(t)
}

func tradesReadInTurn(t testing.TB) {
	t.Helper()
	const orders = 2*maxTradesRead + 2
	w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
		plan.OrdersSet = true
		for i := range orders {
			price := 40_000e8 + exchange.Price(i)*100e8
			plan.Orders = append(plan.Orders, strategy.DesiredOrder{Key: strconv.Itoa(i), Side: exchange.Buy, Quantity: 100, Price: price})
		}
	}, onSpot)
	w.pass(30_000)
	if open := w.venue.OpenOrders("one", exchange.Spot); open != orders {
		t.Fatalf("want %d resting orders, have %d\n%s", orders, open, w.story())
	}
	reads, lists, most, inRound := map[int64]int{}, 0, 0, 0
	w.network = func(call *Call) fate {
		switch call.Request.Operation {
		case exchange.SpotOpenOrders:
			lists++
			inRound = 0
		case exchange.SpotUserTrades:
			reads[call.Request.OrderID]++
			inRound++
			most = max(most, inRound)
		}
		return fate{}
	}
	w.mirror = func(answer *exchange.Answer) {
		if answer.Operation == exchange.SpotOpenOrders {
			answer.Orders = exchange.FetchedOf[exchange.Order](nil)
		}
	}
	w.pass(100_000)
	if len(reads) != orders || most != maxTradesRead {
		t.Errorf("in %d rounds: want the trades of all %d orders read, at most %d in a round, have those of %d, %d\n%s",
			lists, orders, maxTradesRead, len(reads), most, w.story())
	}
	for id, count := range reads {
		if count > lists/2+1 {
			t.Errorf("want each order's trades read in turn, have those of %d read in %d of %d rounds", id, count, lists)
		}
	}
}
