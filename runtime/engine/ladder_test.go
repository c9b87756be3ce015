package engine

import (
	"strconv"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// ladder plans that many resting purchases below the price.
func ladder(count int) func(*strategy.View, *strategy.Plan) {
	return func(_ *strategy.View, plan *strategy.Plan) {
		plan.OrdersSet = true
		for i := range count {
			plan.Orders = append(plan.Orders, strategy.DesiredOrder{Key: "line" + strconv.Itoa(i), Side: exchange.Buy,
				Price: 49_000e8 - exchange.Price(i)*10e8, Quantity: 10})
		}
	}
}

// TestLadderIsPlacedAtAnswerSpeed uses answers that take 20 ms.
func TestLadderIsPlacedAtAnswerSpeed(t *testing.T) {
	t.Parallel()
	const orders = 200
	w := newWorld(t, ladder(orders))
	unanswered, most := map[string]bool{}, 0
	w.network = func(call *Call) fate {
		if call.Request.Operation.Places() {
			unanswered[call.Request.Order.ClientOrderID] = true
		}
		for id := range unanswered {
			if p := w.engine.Tracker().Placement(id); p == nil || p.State() != placement.Sending {
				delete(unanswered, id)
			}
		}
		most = max(most, len(unanswered))
		return fate{}
	}
	w.pass(11_000) // the plan is made after 1 s
	if have := w.resting(); have != orders {
		t.Errorf("after 10 s: want %d orders in the book, have %d", orders, have)
	}
	if most != 1 {
		t.Errorf("unanswered at a time: want 1, have %d", most)
	}
	w.pass(30_000)
	w.wantSent(orders)
}

// A second botd on the account, whose orders only a round shows, may send the other half.
func TestLadderSendsHalfBetweenRounds(t *testing.T) {
	t.Parallel()
	const orders = 40
	w := newWorld(t, ladder(orders))
	type list struct {
		atMS int64
		sent int // before it
	}
	var lists []list
	w.network = func(call *Call) fate {
		if call.Request.Operation == exchange.FuturesOpenOrders {
			lists = append(lists, list{w.now, len(w.sent)})
		}
		return fate{}
	}
	w.pass(8_500)
	w.wantSent(orders)
	for i, l := range lists[:len(lists)-1] {
		next := lists[i+1]
		if most := max(1, (orders-l.sent)/2); next.sent-l.sent > most {
			t.Errorf("want at most %d of the %d orders that lack sent by one list, have %d", most, orders-l.sent, next.sent-l.sent)
		}
	}
}

// A list that does not show botd's own orders yet does not show those of a second botd either, whatever reads by id show.
func TestRestOfLadderWaitsForListWithSentOrders(t *testing.T) {
	t.Parallel()
	unlistedLadder(t, false)
	unlistedLadder(t, true)
}

func unlistedLadder(t testing.TB, byID bool) {
	w := newWorld(t, ladder(40))
	listed := false
	w.network = func(call *Call) fate {
		if listed || byID || call.Request.Operation != exchange.FuturesOrder {
			return fate{}
		}
		return fate{err: &exchange.Refusal{Operation: exchange.FuturesOrder, Status: 400, Code: sim.CodeUnknownOrder, Message: "unknown"}}
	}
	w.mirror = func(answer *exchange.Answer) {
		if !listed && answer.Operation == exchange.FuturesOpenOrders {
			answer.Orders = exchange.FetchedOf[exchange.Order](nil)
		}
	}
	w.pass(6_000)
	w.wantSent(20)
	listed = true
	w.pass(30_000)
	w.wantSent(40)
}

func TestAnUncertainOpeningStopsItsLadder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ladder(40))
	lost := false
	w.network = func(call *Call) fate {
		if lost || !call.Request.Operation.Places() || len(w.sent) != 19 {
			return fate{}
		}
		lost = true
		return fate{lost: true}
	}
	w.pass(9_000)
	w.wantSent(19)
	w.pass(60_000) // by then it is proved to have had no effect
	w.wantSent(40)
	if have := w.resting(); have != 40 {
		t.Errorf("want 40 orders in the book, have %d", have)
	}
}

// The obstacle that kept one opening from being sent may block the others too.
func TestUnsentOpeningPausesItsLadder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ladder(40))
	held := false
	w.network = func(call *Call) fate {
		if held || !call.Request.Operation.Places() || len(w.sent) != 9 {
			return fate{}
		}
		held = true
		return fate{err: &exchange.Unavailable{Operation: call.Request.Operation, Reason: "no budget"}}
	}
	for !held {
		w.pass(10)
	}
	w.pass(500)
	w.wantSent(9)
	w.pass(60_000)
	w.wantSent(40)
}

func TestAHaltStopsALadder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ladder(100))
	for range 200 {
		if w.pass(10); len(w.sent) >= 30 {
			break
		}
	}
	w.give(&EventHalt{Level: record.LevelPause, Reason: "a test"})
	before := len(w.sent)
	w.pass(30_000)
	if before < 30 || len(w.sent) > before {
		t.Errorf("want at least 30 sent before the halt, and none after it; have %d and %d", before, len(w.sent)-before)
	}
}

// TestALadderWaitsForASymbolThatCannotBeRead fails reads of the price after the first round.
func TestALadderWaitsForASymbolThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ladder(400))
	blind := false
	w.network = func(call *Call) fate {
		if blind && w.about(call, "BTC-USDT") && call.Request.Operation == exchange.FuturesTicker {
			return fate{err: &exchange.Unavailable{Operation: call.Request.Operation, Reason: "a test"}}
		}
		return fate{}
	}
	w.pass(1_500)
	blind = true
	w.pass(2_000) // one round has failed
	before := len(w.sent)
	w.pass(20_000)
	if sent := len(w.sent) - before; before < 20 || sent > 20 {
		t.Errorf("want at most one opening a round while the price cannot be read, have %d in 20 s after %d", sent, before)
	}
}
