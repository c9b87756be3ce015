package engine

import (
	"maps"
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/strategy"
)

// coveredOnSpot passes time. It returns the smallest quantity of a spot position that stops covered
// meanwhile, and for how many milliseconds they did not cover all of it.
func (w *world) coveredOnSpot(ms int64) (least exchange.Quantity, uncoveredMS int64) {
	w.t.Helper()
	least = 1 << 40
	for range ms {
		w.pass(1)
		sum := exchange.Quantity(0)
		for _, quantity := range w.spotStops() {
			sum += quantity
		}
		least = min(least, sum)
		if held := w.symbol().Rules().QuantityOf(w.bought()); sum < held-held/100 {
			uncoveredMS++
		}
	}
	return least, uncoveredMS
}

// grown returns a world on spot whose position was bought, and stopped, in two parts.
func (x *sharedPlan) grown(t *testing.T, to exchange.Quantity) *world {
	t.Helper()
	w := newWorld(t, x.plan, onSpot)
	w.pass(10_000)
	x.target = to
	w.pass(80_000)
	return w
}

func TestSpotStopsMoveOneByOne(t *testing.T) {
	t.Parallel()
	x := &sharedPlan{target: 2_000, stop: 49_000e8}
	w := x.grown(t, 4_000)
	if all := w.spotStops(); all[x.stop] < 3_900 {
		t.Fatalf("want stops over all of it, have %v", all)
	}
	x.stop += 10e8
	least, uncovered := w.coveredOnSpot(10_000)
	if least < 1_900 || uncovered > 1_000 {
		t.Errorf("want one of two stops off at a time, for 1 s in all; have %d covered at least, not all for %d ms\n%s", least, uncovered, w.story())
	}
	if all := w.spotStops(); len(all) != 1 || all[x.stop] < 3_900 {
		t.Errorf("want both at the new price, have %v", all)
	}
	w.wantSound()
	w.wantNothingRefused()
}

func TestPartialSpotExitCancelsOnlyNeededStops(t *testing.T) {
	t.Parallel()
	x := &sharedPlan{target: 2_000, stop: 49_000e8}
	w := x.grown(t, 3_000)
	x.target = 2_500
	if least, _ := w.coveredOnSpot(10_000); least < 1_900 {
		t.Errorf("want the larger stop to stay, have %d covered at least\n%s", least, w.story())
	}
	w.wantBought(2_500)
	if all := w.spotStops(); all[x.stop] < 2_400 {
		t.Errorf("want the rest covered, have %v", all)
	}
	w.wantSound()
	w.wantNothingRefused()
}

func TestAStopOnSpotComesBackThoughNoListCanBeRead(t *testing.T) {
	t.Parallel()
	x := &sharedPlan{target: 2_000, stop: 49_000e8}
	w := newWorld(t, x.plan, onSpot)
	w.pass(80_000)
	w.network = func(call *Call) fate {
		return fate{silent: call.Request.Operation == exchange.SpotOpenOrders && w.spotStops()[49_000e8] == 0} // from the cancel of the stop on
	}
	x.stop += 10e8
	w.pass(5_000)
	if all := w.spotStops(); all[x.stop] < 1_900 {
		t.Errorf("want the stop at its new price, have %v\n%s", all, w.story())
	}
}

func TestSpotStopReturnsWithEmptyWallet(t *testing.T) {
	t.Parallel()
	x := &sharedPlan{target: 2_000, stop: 49_000e8}
	w := newWorld(t, x.plan, onSpot, patient)
	w.pass(10_000)
	w.mirror = func(answer *exchange.Answer) {
		if answer.Operation == exchange.SpotWallet {
			answer.Balances = exchange.FetchedOf[exchange.Balance](nil)
		}
	}
	for id := range w.spotOrders() { // a person cancels the stop
		w.manually(exchange.Request{Operation: exchange.SpotCancel, Symbol: "BTC-USDT", OrderID: id})
	}
	w.pass(20_000)
	if all := w.spotStops(); all[x.stop] < 1_900 {
		t.Errorf("want the stop back, have %v\n%s", all, w.story())
	}
}

// spotOrders returns the resting orders on spot, by id.
func (w *world) spotOrders() map[int64]exchange.Order {
	all := map[int64]exchange.Order{}
	w.venue.EachOpenOrder("one", exchange.Spot, func(o *exchange.Order) { all[o.ID] = *o })
	return all
}

func TestUnlistedSpotPurchaseGetsStopByWallet(t *testing.T) {
	t.Parallel()
	x := &sharedPlan{target: 2_000, stop: 49_000e8}
	w := newWorld(t, x.plan, onSpot, patient)
	w.mirror = func(answer *exchange.Answer) {
		switch answer.Operation {
		case exchange.SpotOrderHistory:
			answer.Orders = exchange.FetchedOf[exchange.Order](nil)
		case exchange.SpotUserTrades:
			answer.Fills = exchange.FetchedOf[exchange.UserTrade](nil)
		}
	}
	w.pass(5_000)
	if known := w.symbol().Known(); known != 0 {
		t.Errorf("want nothing booked that no list shows, have %d", known)
	}
	if all := w.spotStops(); all[x.stop] < 1_900 {
		t.Errorf("want a stop over what the wallet shows, have %v\n%s", all, w.story())
	}
	w.mirror = nil
	w.pass(30_000)
	w.wantBought(2_000)
	w.wantSound()
}

func TestRefusedStopThatIsLiveStays(t *testing.T) {
	t.Parallel()
	for _, options := range [][]option{{protected}, {onSpot, protected}} {
		w := newWorld(t, hold(1_000), options...)
		refused := false
		w.network = func(call *Call) fate {
			if call.Request.Operation.Places() && call.Request.Order.Type.StopLoss() && !refused {
				refused = true
				w.do(call)
				return fate{err: &exchange.Refusal{Status: 400, Code: 1, Message: "no"}}
			}
			return fate{}
		}
		cancels := w.cancels()
		w.pass(20_000)
		if n := cancels(); n != 0 {
			t.Errorf("want the stop that stands kept, have %d cancels\n%s", n, w.story())
		}
	}
}

// Neither list nor wallet shows a refused stop, so the exchange refuses its repetitions. Once the stop is found, what is bought next waits for none
// of these refusals, also across a start.
func TestStopOfANewPurchaseWaitsForNoRefusalOfAStopThatStands(t *testing.T) {
	t.Parallel()
	for _, restarts := range []bool{false, true} {
		stopAfterAFoundOne(t, restarts)
	}
}

func stopAfterAFoundOne(t testing.TB, restarts bool) {
	target, hidden := exchange.Quantity(1_000), int64(0)
	w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
		plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: target}, "a test")
	}, onSpot, protected)
	refused := 0
	w.network = func(call *Call) fate {
		if !call.Request.Operation.Places() || !call.Request.Order.Type.StopLoss() || w.mirror == nil {
			return fate{}
		}
		if refused++; hidden == 0 {
			answer, _ := w.do(call)
			hidden = answer.Order.ID
		}
		return fate{err: &exchange.Refusal{Status: 400, Code: 1, Message: "no"}}
	}
	w.mirror = func(answer *exchange.Answer) {
		if answer.Orders.Done() {
			answer.Orders = exchange.FetchedOf(slices.DeleteFunc(answer.Orders.Items(), func(o exchange.Order) bool { return o.ID == hidden }))
		}
		if answer.Balances.Done() {
			rows := slices.Clone(answer.Balances.Items())
			for i := range rows {
				rows[i].Free, rows[i].Frozen = rows[i].Free.Add(rows[i].Frozen), exchange.Amount{}
			}
			answer.Balances = exchange.FetchedOf(rows)
		}
	}
	w.pass(40_000)
	if refused < 4 {
		t.Fatalf("want the stop's repetitions refused, have %d\n%s", refused, w.story())
	}
	w.mirror = nil
	w.pass(5_000)
	if one := w.engine.backoffs.stopRefused(w.engine.legs[0].symbol.Key()); one != nil {
		t.Errorf("want its refusals forgotten once it is found, have %+v", one)
	}
	if restarts {
		w.start()
		w.pass(5_000)
	}
	sent := len(w.sent)
	target = 2_000
	w.pass(5_000)
	if len(w.sent) != sent+2 || !w.sent[sent+1].Type.StopLoss() || w.sent[sent+1].Quantity != 999 {
		t.Errorf("want the second purchase and its stop at once, have %+v\n%s", w.sent[sent:], w.story())
	}
	w.wantSound()
}

// A process that was suspended after it had canceled a stop for an exit reads what has happened since before it sends the exit.
func TestExitAfterASuspensionWaitsForReads(t *testing.T) {
	t.Parallel()
	suspendedExit(t, 0, false)
	suspendedExit(t, 17_000, true)
}

func suspendedExit(t testing.TB, suspendedMS int64, reads bool) {
	t.Helper()
	target := exchange.Quantity(2_000)
	w := newWorld(t, swing(&target), onSpot, protected)
	w.pass(30_000)
	target = 1_000
	for range 10_000 { // until a stop protects the rest
		if all := w.spotStops(); len(all) == 1 && slices.Max(slices.Collect(maps.Values(all))) < 1_500 {
			break
		}
		w.pass(1)
	}
	read, exits := false, 0
	w.network = func(call *Call) fate {
		read = read || call.Request.Operation == exchange.SpotWallet
		if call.Request.Operation == exchange.SpotPlace && call.Request.Order.Type == exchange.Limit {
			if exits++; exits == 1 && read != reads {
				t.Errorf("suspended for %d ms: want the exit after a read %t, have %t\n%s", suspendedMS, reads, read, w.story())
			}
		}
		return fate{}
	}
	w.now += suspendedMS
	if w.pass(3_000); exits == 0 {
		t.Errorf("suspended for %d ms: want an exit, have none\n%s", suspendedMS, w.story())
	}
}

// A cancel that the exchange refuses because it does not know the symbol does not show that the order has ended, and a list that omits the order
// shows it neither.
func TestCancelRefusedForItsSymbolEndsNoStop(t *testing.T) {
	t.Parallel()
	cancelRefusedWith(t, exchange.CodeSpotInvalidSymbol, 0)
	cancelRefusedWith(t, 2032, 1)
}

func cancelRefusedWith(t testing.TB, code, want int) {
	t.Helper()
	x := &sharedPlan{target: 2_000, stop: 49_000e8}
	w := newWorld(t, x.plan, onSpot)
	w.pass(80_000)
	sent := len(w.sent)
	w.network = func(call *Call) fate {
		if call.Request.Operation == exchange.SpotCancel {
			return fate{err: &exchange.Refusal{Operation: exchange.SpotCancel, Status: 400, Code: code, Message: "no"}}
		}
		return fate{}
	}
	w.mirror = func(answer *exchange.Answer) {
		if answer.Operation == exchange.SpotOpenOrders {
			answer.Orders = exchange.FetchedOf[exchange.Order](nil)
		}
	}
	x.stop += 10e8
	w.pass(5_000)
	stops := 0
	for i := range w.sent[sent:] {
		if w.sent[sent+i].Type.StopLoss() {
			stops++
		}
	}
	if stops != want {
		t.Errorf("code %d: want %d stops in its place, have %d\n%s", code, want, stops, w.story())
	}
}

// The exchange refused a further stop again and again, because the one that rests held the asset. Once that one is canceled for an exit, the stop of the
// rest does not wait for those refusals (seed 895010722).
func TestEndedStopEndsTheWaitOfRefusedStops(t *testing.T) {
	t.Parallel()
	stopAfterARelease(t)
}

func stopAfterARelease(t testing.TB) {
	x := &sharedPlan{target: 4_000, stop: 49_000e8}
	w := newWorld(t, x.plan, onSpot)
	w.pass(80_000)
	w.network = refuses(conditional)
	x.target = 5_000
	w.pass(40_000)
	if n := w.sendings(placement.StopLoss, w.now-40_000); n < 4 {
		t.Fatalf("want the further stop refused again and again, have it sent %d times\n%s", n, w.story())
	}
	w.network = nil
	x.target = 3_000
	w.pass(8_000)
	if all := w.spotStops(); all[x.stop] < 2_900 {
		t.Errorf("want the rest covered, have %v\n%s", all, w.story())
	}
	w.wantSound()
}

// The exchange refused a stop again and again because the units were not there. The stop of those that a purchase brings does not wait for those refusals
// (seed 904015157).
func TestFilledPurchaseEndsTheWaitOfRefusedStops(t *testing.T) {
	t.Parallel()
	stopAfterAPurchase(t)
}

func stopAfterAPurchase(t testing.TB) {
	x := &sharedPlan{target: 4_000, stop: 49_000e8}
	w := newWorld(t, x.plan, onSpot)
	w.pass(80_000)
	b, leg := w.engine.backoffs, w.engine.legs[0]
	for range 5 {
		b.count(attempt{strategy: leg.config.Name, symbol: leg.symbol.Key(), purpose: placement.StopLoss, kind: exchange.StopLimit}, 2030,
			"the balance is not enough", false, w.engine.nowMS)
	}
	x.target = 5_000
	w.pass(8_000)
	if all := w.spotStops(); all[x.stop] < 4_900 {
		t.Errorf("want all of it covered, have %v\n%s", all, w.story())
	}
	w.wantSound()
}

// The refusals of a stop that another one makes superfluous delay no other stop, declare nothing, and outlast the end of that other one.
func TestRefusalsOfAnUnconfirmedStopConcernOnlyIt(t *testing.T) {
	t.Parallel()
	unconfirmedRefused(t)
}

func unconfirmedRefused(t testing.TB) {
	w, stop := standsDown(t, onSpot)
	b, other := w.engine.backoffs, stop
	other.key = reconcile.UnconfirmedKey
	for range 5 {
		b.count(other, 2030, "the balance is not enough", false, w.engine.nowMS)
	}
	if one := b.stopRefused(stop.symbol); one != nil {
		t.Errorf("want no stop declared refused, have %+v", one)
	}
	b.released(stop.symbol)
	if b.of(other) == nil {
		t.Error("want its refusals to outlast the end of another stop")
	}
	order := exchange.NewOrder{Market: stop.symbol.Market, Symbol: stop.symbol.Name}
	if b.holds(&reconcile.Intent{Strategy: stop.strategy, Purpose: stop.purpose, Order: order}) {
		t.Error("want no other stop to wait")
	}
}
