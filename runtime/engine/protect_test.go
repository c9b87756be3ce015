package engine

import (
	"maps"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/strategy"
)

// stopped requests 10 with a stop at a price that the test moves.
func stopped(price *exchange.Price) func(*strategy.View, *strategy.Plan) {
	return func(_ *strategy.View, plan *strategy.Plan) {
		plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: 10}, "a test")
		plan.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: *price}}
	}
}

// stops returns the stops on the exchange.
func (w *world) stops() (all []exchange.Order) {
	answer, err := w.venue.Do("one", &exchange.Request{Operation: exchange.FuturesOpenOrders})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, o := range answer.Orders.Items() {
		if o.Type == exchange.StopMarket {
			all = append(all, o)
		}
	}
	return all
}

// uncovered passes time and returns for how many milliseconds of it the position was on the exchange without
// a stop.
func (w *world) uncovered(ms int64) (unprotectedMS int64) {
	w.t.Helper()
	for range ms {
		w.pass(1)
		if w.held() != 0 && len(w.stops()) == 0 {
			unprotectedMS++
		}
	}
	return unprotectedMS
}

func TestAStopMovesWithoutAMomentWithoutProtection(t *testing.T) {
	t.Parallel()
	price := exchange.Price(49_000e8)
	w := newWorld(t, stopped(&price))
	w.pass(70_000)
	price = 49_500e8
	if unprotectedMS := w.uncovered(10_000); unprotectedMS != 0 {
		t.Errorf("want it covered all the time, have %d ms without a stop\n%s", unprotectedMS, w.story())
	}
	if all := w.stops(); len(all) != 1 || all[0].StopPrice != price || !all[0].ClosePosition {
		t.Errorf("want one closePosition stop at the new price, have %+v", all)
	}
	before := len(w.sent)
	price = 49_600e8
	w.pass(30_000) // at most once a candle
	w.wantSent(before)
	w.pass(60_000)
	if all := w.stops(); len(all) != 1 || all[0].StopPrice != price {
		t.Errorf("a candle later: want it moved, have %+v", all)
	}
	if len(w.refused) > 0 {
		t.Errorf("want nothing refused, have %q", w.refused)
	}
	w.wantSound()
}

func TestStopWithoutBridgeMovesByCancelConfirmPlace(t *testing.T) {
	t.Parallel()
	price := exchange.Price(49_000e8)
	w := newWorld(t, func(view *strategy.View, plan *strategy.Plan) {
		stopped(&price)(view, plan)
		plan.Exits, plan.ExitsSet = append(plan.Exits, strategy.DesiredOrder{Key: "high", Side: exchange.Sell, Price: 60_000e8, Quantity: 10}), true
	})
	w.pass(70_000)
	price = 49_500e8
	before := w.symbol().UnprotectedMS()
	unprotectedMS := w.uncovered(10_000)
	if unprotectedMS == 0 || unprotectedMS > 2_500 {
		t.Errorf("want a round or two without, have %d ms", unprotectedMS)
	}
	if all := w.stops(); len(all) != 1 || all[0].StopPrice != price {
		t.Errorf("want it at the new price, have %+v", all)
	}
	if len(w.refused) > 0 {
		t.Errorf("want nothing refused, have %q", w.refused)
	}
	if measured := w.symbol().UnprotectedMS() - before; measured < unprotectedMS || measured > unprotectedMS+1_100 {
		t.Errorf("measured: want %d ms, and a round more at most; have %d", unprotectedMS, measured)
	}
}

func TestVanishedStopIsReplacedAndGapIsMeasured(t *testing.T) {
	t.Parallel()
	price := exchange.Price(49_000e8)
	w := newWorld(t, stopped(&price))
	w.pass(20_000)
	before := w.symbol().UnprotectedMS()
	w.manually(exchange.Request{Operation: exchange.FuturesCancel, OrderID: w.stops()[0].ID})
	unprotectedMS := w.uncovered(16_000)
	if len(w.stops()) != 1 {
		t.Fatalf("want it placed again\n%s", w.story())
	}
	if measured := w.symbol().UnprotectedMS() - before; measured < unprotectedMS || measured > 16_000 {
		t.Errorf("the time without: want %d ms and no more than a round besides, have %d", unprotectedMS, measured)
	}
	if status := w.engine.Status().Strategies[0]; !status.Protected || status.UnprotectedMS != w.symbol().UnprotectedMS() {
		t.Errorf("want it in the status, have %+v", status)
	}
}

func TestStopPastItsPriceIsAMarketExit(t *testing.T) {
	t.Parallel()
	price := exchange.Price(49_000e8)
	w := newWorld(t, stopped(&price))
	w.network = func(call *Call) fate {
		if order := call.Request.Order; order.ClosePosition {
			w.price("48000") // passed while the stop is in flight
			return fate{err: &exchange.Refusal{Status: 400, Code: 9, Message: "passed"}}
		}
		return fate{}
	}
	w.pass(20_000)
	w.wantHeld(0)
	last := w.sent[len(w.sent)-1]
	if last.Type != exchange.MarketOrder || !last.ReduceOnly {
		t.Errorf("want an exit at market, have %+v", last)
	}
	if w.engine.Tracker().Strategy("one").Latch() != 1 {
		t.Error("want the strategy latched")
	}
}

func TestMovingStopPastItsPriceIsAMarketExit(t *testing.T) {
	t.Parallel()
	price := exchange.Price(49_000e8)
	w := newWorld(t, stopped(&price))
	w.pass(70_000)
	price = 50_100e8 // above the price: the trade is over
	w.pass(10_000)
	w.wantHeld(0)
}

func TestAnUncertainStopIsSentAgain(t *testing.T) {
	t.Parallel()
	for _, f := range []fate{{lost: true}, {err: &exchange.Uncertain{Reason: "reset"}}, {silent: true}} {
		price := exchange.Price(49_000e8)
		w := newWorld(t, stopped(&price))
		w.network = nth(2, f)
		w.pass(30_000)
		all := w.stops()
		if len(all) != 1 {
			t.Errorf("want one stop, have %+v\n%s", all, w.story())
		}
		w.pass(30_000)
		w.wantSound()
		w.wantHeld(10)
	}
}

// Otherwise the live stop would be placed a second time, and on spot both would sell.
func TestLostAnswerDoesNotUndoListedOrder(t *testing.T) {
	t.Parallel()
	for _, options := range [][]option{nil, {onSpot}} {
		price := exchange.Price(49_000e8)
		w := newWorld(t, func(view *strategy.View, plan *strategy.Plan) {
			stopped(&price)(view, plan)
			plan.Target.Quantity = 2_000
		}, options...)
		w.network = nth(2, fate{silent: true})
		w.pass(60_000)
		if uncertain := facts[NoteUncertain](w.notes); len(uncertain) != 0 {
			t.Errorf("want no placement uncertain that the list has shown, have %+v\n%s", uncertain, w.story())
		}
		w.wantSent(2)
		w.wantSound()
	}
}

func TestAPositionOfAnUncertainEntryIsProtectedAtOnce(t *testing.T) {
	t.Parallel()
	price := exchange.Price(49_000e8)
	w := newWorld(t, stopped(&price))
	w.network = w.first(&exchange.Uncertain{Reason: "reset"}, nil)
	w.pass(4_000)
	if len(w.stops()) != 1 {
		t.Errorf("want the stop before the fence decides the entry\n%s", w.story())
	}
	if p := w.engine.Tracker().LiveAt(0); p.State() != placement.Uncertain {
		t.Errorf("want the entry uncertain still, have %s", p.State())
	}
}

func TestSpotStopMovesByCancelConfirmPlace(t *testing.T) {
	t.Parallel()
	price := exchange.Price(49_000e8)
	w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
		plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: 2_000}, "a test")
		plan.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: price}}
	}, onSpot)
	w.pass(70_000)
	price = 49_500e8
	w.pass(10_000)
	answer, err := w.venue.Do("one", &exchange.Request{Operation: exchange.SpotOpenOrders})
	if err != nil {
		t.Fatal(err)
	}
	if all := answer.Orders.Items(); len(all) != 1 || all[0].StopPrice != price || all[0].Type != exchange.StopLimit {
		t.Errorf("want one stop at the new price, have %+v", all)
	}
	if len(w.refused) > 0 {
		t.Errorf("want nothing refused, have %q", w.refused)
	}
}

// spotStops returns the stops on the exchange: their quantities by stop price.
func (w *world) spotStops() map[exchange.Price]exchange.Quantity {
	w.t.Helper()
	answer, err := w.venue.Do("one", &exchange.Request{Operation: exchange.SpotOpenOrders})
	if err != nil {
		w.t.Fatal(err)
	}
	all := map[exchange.Price]exchange.Quantity{}
	for _, o := range answer.Orders.Items() {
		if o.Type == exchange.StopLimit {
			all[o.StopPrice] += o.Quantity
		}
	}
	return all
}

func TestSpotStopStaysAtEntryLevelWhilePriceFalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(2_000), onSpot, protected) // 2 % below the paid price
	w.pass(60_000)
	first := w.spotStops()
	for _, price := range []string{"49800", "49600", "49400", "49200"} {
		w.price(price)
		w.pass(70_000)
		if have := w.spotStops(); len(have) != 1 || len(first) != 1 || !maps.Equal(have, first) {
			t.Fatalf("at %s: want the stop where it was, %v, have %v\n%s", price, first, have, w.story())
		}
	}
	w.start() // a restart knows the paid price
	w.pass(70_000)
	if have := w.spotStops(); !maps.Equal(have, first) {
		t.Errorf("after a restart: want %v, have %v", first, have)
	}
	w.price("48900")
	w.pass(20_000)
	if known := w.symbol().Known(); known > w.symbol().Fees() {
		t.Errorf("want it sold below the stop, have %d left\n%s", known, w.story())
	}
}

func TestLaterSpotPurchaseGetsOwnStop(t *testing.T) {
	t.Parallel()
	x := &sharedPlan{target: 2_000, stop: 49_000e8}
	w := newWorld(t, x.plan, onSpot)
	w.pass(10_000)
	wantCovered := func() {
		t.Helper()
		covered := w.spotStops()[x.stop]
		if bought := w.symbol().Known() - w.symbol().Fees(); covered < bought-20 {
			t.Errorf("want all of %d covered, have %d\n%s", bought, covered, w.story())
		}
	}
	for x.target < 9_000 {
		x.target += 1_000
		w.pass(5_000)
		wantCovered()
	}
	x.target += 1_000 // one more than the maximum number of stops: they are merged
	unprotectedMS := 0
	for range 200 {
		w.pass(1_000)
		if len(w.spotStops()) == 0 {
			unprotectedMS++
		}
	}
	if unprotectedMS > 3 {
		t.Errorf("want many stops made one in a moment, have %d s without", unprotectedMS)
	}
	wantCovered()
	x.stop += 10e8
	w.pass(10_000)
	wantCovered()
	x.stop += 10e8 // it moves at most once a candle, and a purchase does not wait for that
	x.target += 1_000
	w.pass(5_000)
	if all := w.spotStops(); len(all) != 2 {
		t.Errorf("want what is new covered at its price, have %v", all)
	}
	w.pass(120_000)
	wantCovered()
	w.wantSound()
	w.wantNothingRefused()
}
