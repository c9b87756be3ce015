package engine

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/strategy"
)

// sharedPlan requests the test's position, with a stop and a profit where the test sets them.
type sharedPlan struct {
	target       exchange.Quantity
	stop, profit exchange.Price
}

func (x *sharedPlan) plan(_ *strategy.View, plan *strategy.Plan) {
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: x.target}, "a test")
	plan.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: x.stop}, TakeProfit: strategy.Distance{Price: x.profit}}
}

// opened returns a world in which the plan was in force for a minute.
func (x *sharedPlan) opened(t *testing.T, options ...option) *world {
	t.Helper()
	w := newWorld(t, x.plan, options...)
	w.pass(60_000)
	return w
}

// reducing returns another trader's resting reduceOnly order.
func (w *world) reducing(quantity exchange.Quantity) exchange.Request {
	request := w.market(exchange.Sell, quantity, true)
	request.Order.Type, request.Order.Price = exchange.Limit, 60_000e8
	return request
}

// protects returns the quantities of the exchange's orders of a type, by stop price; that of a closePosition
// order is zero.
func (w *world) protects(kind exchange.OrderType) map[exchange.Price]exchange.Quantity {
	w.t.Helper()
	answer, err := w.venue.Do("one", &exchange.Request{Operation: exchange.FuturesOpenOrders})
	if err != nil {
		w.t.Fatal(err)
	}
	all := map[exchange.Price]exchange.Quantity{}
	for _, o := range answer.Orders.Items() {
		if o.Type == kind {
			all[o.StopPrice] += o.Quantity
		}
	}
	return all
}

func (w *world) wantProtects(kind exchange.OrderType, price exchange.Price, quantity exchange.Quantity) {
	w.t.Helper()
	have := w.protects(kind)
	if q, ok := have[price]; !ok || q != quantity || len(have) != 1 {
		w.t.Errorf("%s: want %d at %d alone, have %v\n%s", kind, quantity, price, have, w.story())
	}
}

func (w *world) wantNothingRefused() {
	w.t.Helper()
	if len(w.refused) > 0 {
		w.t.Errorf("want nothing refused by the exchange, have %q\n%s", w.refused, w.story())
	}
}

// withOthers starts with a position that others bought after a first read.
func withOthers(t *testing.T, x *sharedPlan, theirs exchange.Quantity) *world {
	t.Helper()
	target := x.target
	x.target = 0
	w := newWorld(t, x.plan, foreign("ignore"))
	w.pass(20_000)
	w.manually(w.market(exchange.Buy, theirs, false))
	w.pass(20_000)
	x.target = target
	return w
}

func TestFlattenClosesDespiteForeignOrders(t *testing.T) {
	t.Parallel()
	for how, closes := range map[string]func(*sharedPlan, *world){
		"by the plan":        func(x *sharedPlan, w *world) { w.pass(20_000); x.target = 0 },
		"by the kill switch": func(_ *sharedPlan, w *world) { w.give(&EventHalt{Level: record.LevelFlatten, Reason: "a test"}) },
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			x := &sharedPlan{target: 10, stop: 49_000e8}
			w := x.opened(t)
			w.manually(w.reducing(10))
			closes(x, w)
			w.pass(20_000)
			w.wantHeld(0)
			w.wantNothingRefused()
		})
	}
}

func TestOwnPartIsProtectedNextToForeignOrders(t *testing.T) {
	t.Parallel()
	x := &sharedPlan{target: 10, stop: 49_000e8, profit: 55_000e8}
	w := withOthers(t, x, 20)
	w.manually(w.reducing(10))
	w.pass(80_000)
	w.wantHeld(30)
	w.wantProtects(exchange.StopMarket, 49_000e8, 10)
	w.wantProtects(exchange.TakeProfitMarket, 55_000e8, 10)
	w.wantNothingRefused()
}

func TestStopShrinksToOwnPartWhenOthersJoin(t *testing.T) {
	t.Parallel()
	x := &sharedPlan{target: 10, stop: 49_000e8, profit: 55_000e8}
	w := x.opened(t, foreign("ignore"))
	w.wantProtects(exchange.StopMarket, 49_000e8, 0)
	w.manually(w.market(exchange.Buy, 20, false))
	if unprotectedMS := w.uncovered(40_000); unprotectedMS != 0 {
		t.Errorf("want a stop all the time, have %d ms without", unprotectedMS)
	}
	w.wantProtects(exchange.StopMarket, 49_000e8, 10)
	w.wantProtects(exchange.TakeProfitMarket, 55_000e8, 10)
	w.price("48900")
	w.pass(20_000)
	w.wantHeld(20) // theirs stays
	w.wantNothingRefused()
	w.wantSound()
}

func TestSharedPositionStopFollowsSizeAndPrice(t *testing.T) {
	t.Parallel()
	x := &sharedPlan{target: 10, stop: 49_000e8, profit: 55_000e8}
	w := withOthers(t, x, 20)
	w.pass(80_000)
	x.target = 4
	w.pass(20_000)
	w.wantHeld(24)
	w.wantProtects(exchange.StopMarket, 49_000e8, 4)
	w.wantProtects(exchange.TakeProfitMarket, 55_000e8, 4)
	x.target = 8
	w.pass(20_000)
	w.wantHeld(28)
	w.wantProtects(exchange.StopMarket, 49_000e8, 8)
	w.wantProtects(exchange.TakeProfitMarket, 55_000e8, 8)
	x.stop, x.profit = 49_500e8, 56_000e8
	w.pass(90_000)
	w.wantProtects(exchange.StopMarket, 49_500e8, 8)
	w.wantProtects(exchange.TakeProfitMarket, 56_000e8, 8)
	x.target = 0
	w.pass(20_000)
	w.wantHeld(20)
	if stops := w.protects(exchange.StopMarket); len(stops) != 0 {
		t.Errorf("want nothing left at rest beside others, have %v", stops)
	}
	w.wantNothingRefused()
}

func TestTakeProfitIsPlacedOnceInSharedPosition(t *testing.T) {
	t.Parallel()
	x := &sharedPlan{target: 10, profit: 55_000e8}
	w := withOthers(t, x, 40)
	w.pass(80_000)
	w.wantProtects(exchange.TakeProfitMarket, 55_000e8, 10)
	w.manually(w.market(exchange.Sell, 38, true)) // room for one of the two: an exit replaces the profit
	w.pass(40_000)
	x.target = 0
	w.pass(20_000)
	w.wantHeld(2)
	w.wantNothingRefused()
}

func TestOwnStopIsPlacedNextToForeignStop(t *testing.T) {
	t.Parallel()
	x := &sharedPlan{target: 10, stop: 49_000e8}
	w := x.opened(t)
	w.manually(exchange.Request{Operation: exchange.FuturesCancel, OrderID: w.stops()[0].ID})
	theirs := w.manually(
		exchange.Request{Operation: exchange.FuturesPlace, Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell,
			Type: exchange.StopMarket, StopPrice: 45_000e8, ClosePosition: true, WorkingType: exchange.ContractPrice}},
	)
	w.pass(20_000)
	if have := w.protects(exchange.StopMarket); have[49_000e8] != 10 || len(have) != 2 {
		t.Errorf("want a stop of 10 at 49000 beside theirs, have %v\n%s", have, w.story())
	}
	w.manually(exchange.Request{Operation: exchange.FuturesCancel, OrderID: theirs.ID})
	if unprotectedMS := w.uncovered(20_000); unprotectedMS != 0 {
		t.Errorf("want a stop all the time, have %d ms without", unprotectedMS)
	}
	w.wantProtects(exchange.StopMarket, 49_000e8, 0)
	w.wantNothingRefused()
	w.wantSound()
}

func TestSharedPositionCanBeReduced(t *testing.T) {
	t.Parallel()
	x := &sharedPlan{target: 10, stop: 49_000e8, profit: 55_000e8}
	w := withOthers(t, x, 2) // the sum has room for a stop alone
	w.pass(80_000)
	w.wantProtects(exchange.StopMarket, 49_000e8, 10)
	x.target = 4
	w.pass(20_000)
	w.wantHeld(6)
	w.wantProtects(exchange.StopMarket, 49_000e8, 4)
	w.manually(w.market(exchange.Sell, 2, true)) // theirs is closed: the protection covers everything again
	w.pass(40_000)
	w.wantProtects(exchange.StopMarket, 49_000e8, 0)
	w.wantProtects(exchange.TakeProfitMarket, 55_000e8, 0)
	w.wantNothingRefused()
	w.wantSound()
}

// opening returns another trader's resting order that may open a position.
func (w *world) opening(quantity exchange.Quantity) exchange.Request {
	request := w.market(exchange.Buy, quantity, false)
	request.Order.Type, request.Order.Price = exchange.Limit, 40_000e8
	return request
}

func TestForeignOpeningOrderBlocksOpenings(t *testing.T) {
	t.Parallel()
	low := []strategy.DesiredOrder{{Key: "low", Side: exchange.Buy, Price: 45_000e8, Quantity: 10}}
	for _, how := range []string{"at market", "by a resting order"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			trading := false
			w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
				switch {
				case how != "at market":
					plan.Orders, plan.OrdersSet = low, trading
				case trading:
					plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: 10}, "a test")
				}
			})
			w.pass(20_000)
			theirs := w.manually(w.opening(10))
			w.pass(16_000)
			w.wantState("foreign")
			if s := w.engine.Status().Strategies[0]; s.StateReason == "" {
				t.Error("want the strategy to say why it opens nothing")
			}
			trading = true
			w.pass(20_000)
			w.wantSent(0)
			w.start() // a restart finds the order again
			w.pass(20_000)
			w.wantState("foreign")
			w.wantSent(0)
			w.manually(exchange.Request{Operation: exchange.FuturesCancel, OrderID: theirs.ID})
			w.pass(20_000)
			w.wantSound()
			w.wantSent(1)
			if reported := len(facts[NoteForeign](w.notes)); reported != 3 {
				t.Errorf("want its beginning reported by each run and its end once, have %d notes", reported)
			}
		})
	}
}

func TestAdoptAndIgnorePoliciesAllowOpenings(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"adopt", "ignore"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			x := &sharedPlan{}
			w := newWorld(t, x.plan, foreign(policy))
			w.pass(20_000)
			w.manually(w.opening(10))
			w.pass(16_000)
			x.target = 10
			w.pass(20_000)
			w.wantHeld(10)
			w.wantSound()
		})
	}
}

func TestHaltReportsExitObstacle(t *testing.T) {
	t.Parallel()
	w := withOthers(t, &sharedPlan{target: 10, stop: 49_000e8}, 20)
	w.manually(w.reducing(20))
	w.pass(60_000)
	w.manually(exchange.Request{Operation: exchange.FuturesCancel, OrderID: w.stops()[0].ID})
	w.manually(w.reducing(10))
	w.give(&EventHalt{Level: record.LevelFlatten, Reason: "a test"})
	w.pass(10_000)
	w.wantHeld(30)
	if d := w.wantState("halted"); !strings.Contains(d.Remaining, "is refused by reduce_only_sum") {
		t.Errorf("want the reason that the exit waits, have %q", d.Remaining)
	}
	w.wantNothingRefused()
}
