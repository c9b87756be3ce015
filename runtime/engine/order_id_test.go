package engine

import (
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// withoutIDs removes client order ids from the lists of these operations: the interface does not document the
// fields of every list.
func withoutIDs(operations ...exchange.Operation) func(*exchange.Answer) {
	return func(answer *exchange.Answer) {
		for _, operation := range operations {
			if answer.Operation != operation {
				continue
			}
			answer.Order.ClientOrderID = ""
			if !answer.Orders.Done() {
				continue
			}
			withoutID := slices.Clone(answer.Orders.Items())
			for i := range withoutID {
				withoutID[i].ClientOrderID = ""
			}
			answer.Orders = exchange.FetchedOf(withoutID)
		}
	}
}

// hidden returns one list empty.
func hidden(operations ...exchange.Operation) func(*exchange.Answer) {
	return func(answer *exchange.Answer) {
		for _, operation := range operations {
			if answer.Operation == operation {
				answer.Orders = exchange.FetchedOf[exchange.Order](nil)
			}
		}
	}
}

var (
	spotLists    = []exchange.Operation{exchange.SpotOpenOrders, exchange.SpotOrderHistory}
	futuresLists = []exchange.Operation{exchange.FuturesOpenOrders, exchange.FuturesOrder}
)

func TestSpotOrderSettlesByItsOrderID(t *testing.T) {
	t.Parallel()
	settlesByOrderID(t)
}

func settlesByOrderID(t testing.TB) {
	target := exchange.Quantity(2_000)
	w := newWorld(t, swing(&target), onEther, protected)
	w.mirror = withoutIDs(spotLists...)
	w.pass(20_000)
	if held := w.inEther(); held < 1_990 || w.symbol().Position() < held-1 || w.coveredEther() < held-1 {
		t.Fatalf("want 2000 bought, known and covered, have %d, %d and %d\n%s", held, w.symbol().Position(), w.coveredEther(), w.story())
	}
	if live := slices.Collect(w.engine.Tracker().Live()); len(live) != 1 || live[0].Purpose() != placement.StopLoss {
		t.Errorf("want the purchase settled and the stop alone live, have %d\n%s", len(live), w.story())
	}
	w.wantSound()
	target = 0
	w.pass(20_000)
	if held := w.inEther(); held > 2 {
		t.Errorf("want it sold, have %d\n%s", held, w.story())
	}
	w.wantSent(3)
	w.wantSound()
	w.wantNothingRefused()
}

func TestSpotOrderIsNotRepeatedWithoutIDsInHistory(t *testing.T) {
	t.Parallel()
	for name, restarts := range map[string]bool{"running": false, "restarted": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, hold(2_000), onEther)
			w.mirror = withoutIDs(spotLists...)
			w.network = once(fate{silent: true})
			w.pass(15_000)
			if restarts {
				w.start()
			}
			w.pass(60_000)
			w.wantSent(1)
			w.wantState("quarantined")
			w.give(&EventResolve{Symbol: spotEther, Adopt: true, Reason: "it is botd's"})
			w.pass(30_000)
			w.wantSent(1)
			if held := w.symbol().Position(); held < 1_990 {
				t.Errorf("want what was bought adopted, have %d\n%s", held, w.story())
			}
			w.wantSound()
		})
	}
}

func TestUnexplainedAssetChangePreventsAbsence(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(2_000), onEther)
	w.mirror = hidden(spotLists...)
	w.network = once(fate{silent: true})
	w.pass(120_000)
	w.wantSent(1)
	w.wantState("quarantined")
}

// A request without a trace is absent nevertheless, whatever others do meanwhile.
func TestLostSpotRequestIsAbsentNextToForeignOrders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(2_000), onEther)
	w.network = once(fate{lost: true})
	w.manually(exchange.Request{Operation: exchange.SpotPlace, Order: exchange.NewOrder{Market: exchange.Spot, Symbol: "ETH-USDT", Side: exchange.Buy,
		Type: exchange.Limit, Price: 2_000e8, Quantity: 70, ClientOrderID: "by-hand"}})
	w.pass(40_000)
	w.wantSent(1)
	if state, _ := w.ended(0); state != placement.Filled {
		t.Errorf("want the lost one absent and the next one filled, have %s\n%s", state, w.story())
	}
	w.wantSound()
}

func TestOnFuturesOrdersAreMatchedByTheirOrderID(t *testing.T) {
	t.Parallel()
	w := newWorld(t, haltable)
	w.mirror = withoutIDs(futuresLists...)
	w.pass(60_000)
	w.wantHeld(10)
	if open := w.open(); len(open) != 2 {
		t.Fatalf("want a stop and an order at rest, have %+v\n%s", open, w.story())
	}
	w.wantSent(3)
	w.wantSound()
	w.give(&EventHalt{Level: record.LevelFlatten, Reason: "a test"})
	w.pass(10_000)
	w.wantHeld(0)
	if open := w.open(); len(open) != 0 {
		t.Errorf("want nothing open, have %+v", open)
	}
}

// Of an order whose answer was lost the list may show everything but its id.
func TestUnclaimedRestingOrderPreventsAbsence(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
		plan.OrdersSet = true
		plan.Orders = []strategy.DesiredOrder{{Key: "low", Side: exchange.Buy, Price: 48_000e8, Quantity: 10}}
	}, foreign("ignore"))
	w.mirror = withoutIDs(futuresLists...)
	w.network = once(fate{silent: true})
	w.pass(60_000)
	w.wantSent(1)
	w.wantState("quarantined")
}

// A stale list shows an ended order. Its order id identifies it as botd's.
func TestAnEndedOrderInAStaleListWithoutIDsIsNotForeign(t *testing.T) {
	t.Parallel()
	target := exchange.Quantity(10)
	w := newWorld(t, swing(&target), protected)
	var before []exchange.Order
	stale := false
	withoutID := withoutIDs(futuresLists...)
	w.mirror = func(answer *exchange.Answer) {
		if answer.Operation == exchange.FuturesOpenOrders {
			if len(answer.Orders.Items()) > 0 {
				before = slices.Clone(answer.Orders.Items())
			}
			if stale {
				answer.Orders = exchange.FetchedOf(slices.Clone(before))
			}
		}
		withoutID(answer)
	}
	w.pass(10_000)
	target = 0
	w.pass(5_000)
	w.wantHeld(0)
	w.wantSound()
	stale = true
	w.pass(16_000)
	if foreign := w.symbol().Foreign(); len(foreign) != 0 {
		t.Errorf("want the ended stop known by its order id, have foreign %+v\n%s", foreign, w.story())
	}
	stale = false
	w.pass(20_000)
	w.wantSound()
}

// Another botd with the same plan places the same order, and no list shows whose it is: nothing else opens, under any policy, while it rests. Where the
// list shows the ids of botd's own orders, an equal order of earlier is a person's.
func TestEqualOrderWithoutIDBlocksOpenings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]equal{
		"halt": {policy: "halt"}, "adopt": {policy: "adopt"}, "ignore": {policy: "ignore"},
		"botd's own is canceled": {policy: "adopt", canceled: true},
		"placed before":          {policy: "adopt", older: true},
		"placed before, ignore":  {policy: "ignore", older: true, canceled: true},
		"a person's":             {policy: "adopt", older: true, named: true},
		"the open list omits it": {policy: "adopt", omitted: true},
		"the open list omits both, and botd's own is canceled": {policy: "ignore", omitted: true, canceled: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			equalOpening(t, c)
		})
	}
}

// equal describes an order that equals botd's first one.
type equal struct {
	policy   string
	older    bool // placed half a minute before botd's
	canceled bool // botd's own is then no longer desired
	named    bool // the list shows the ids of botd's own orders
	omitted  bool // the list then shows no orders at all
}

func equalOpening(t testing.TB, c equal) {
	first, keys := 0, 1
	w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
		for i := first; i < keys; i++ {
			plan.Orders = append(plan.Orders,
				strategy.DesiredOrder{Key: string(rune('a' + i)), Side: exchange.Buy, Price: exchange.Price(40_000-i) * 1e8, Quantity: 10})
		}
		plan.OrdersSet = true
	}, foreign(c.policy))
	if !c.named {
		w.mirror = withoutIDs(futuresLists...)
	}
	other := int64(0)
	place := func() {
		same := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Price: 40_000e8, Quantity: 10}
		answer, err := w.venue.Do("one", &exchange.Request{Operation: exchange.FuturesPlace, Order: same})
		if err != nil {
			t.Fatal(err)
		}
		other = answer.Order.ID
	}
	if c.older {
		first = 1
		place()
		w.pass(30_000)
		first = 0
	}
	for len(w.sent) == 0 {
		w.pass(100)
	}
	if !c.older {
		place()
	}
	w.pass(5_000)
	if c.omitted {
		w.mirror = hidden(exchange.FuturesOpenOrders)
	}
	if keys = 2; c.canceled {
		first = 1
	}
	w.pass(20_000)
	if c.named {
		w.wantSent(2)
		w.wantSound()
		return
	}
	if d := w.wantState("foreign"); len(w.sent) != 1 || !strings.Contains(d.Cause, "equals one of botd's") || !strings.Contains(d.Remedy, "the other botd") {
		t.Errorf("%+v: want nothing opened beside it, have %d orders, %+v\n%s", c, len(w.sent), d, w.story())
	}
	if !c.omitted {
		return
	}
	if _, err := w.venue.Do("one", &exchange.Request{Operation: exchange.FuturesCancel, Symbol: "BTC-USDT", OrderID: other}); err != nil {
		t.Fatal(err)
	}
	if w.pass(30_000); len(w.sent) < 2 {
		t.Errorf("%+v: want it to open once a read by id shows the end of the other order\n%s", c, w.story())
	}
}

// Another botd, or this one with a journal that was lost, has bought on spot, and no list shows whose its stop is: nothing else opens,
// under any policy. A stop at another distance is a person's.
func TestStopOfBotdsFormWithoutIDBlocksOpenings(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"halt", "adopt", "ignore"} {
		stopOfItsForm(t, policy, exchange.RateOne/20, false)
	}
	stopOfItsForm(t, "halt", exchange.RateOne/25, true)
}

func stopOfItsForm(t testing.TB, policy string, distance exchange.Rate, opens bool) {
	t.Helper()
	target := exchange.Quantity(10)
	w := newWorld(t, swing(&target), onSpot, protected, foreign(policy))
	w.mirror = withoutIDs(spotLists...)
	other := exchange.NewOrder{Market: exchange.Spot, Symbol: coin.Name, Side: exchange.Buy, Type: exchange.Limit, Quantity: 40, Price: 52_000e8,
		ClientOrderID: "bt-another-1"}
	if _, err := w.venue.Do("one", &exchange.Request{Operation: exchange.SpotPlace, Order: other}); err != nil {
		t.Fatal(err)
	}
	w.venue.Advance(w.now + 1_000)
	stop := exchange.Price(49_000e8)
	other.Side, other.Type, other.Quantity, other.StopPrice, other.ClientOrderID = exchange.Sell, exchange.StopLimit, 30, stop, "bt-another-2"
	other.Price = stop - exchange.Price(int64(stop)/int64(exchange.RateOne)*int64(distance))
	if _, err := w.venue.Do("one", &exchange.Request{Operation: exchange.SpotPlace, Order: other}); err != nil {
		t.Fatal(err)
	}
	w.pass(30_000)
	if opens {
		if len(w.sent) == 0 {
			t.Errorf("want a purchase beside a person's stop, have none\n%s", w.story())
		}
		return
	}
	d := w.wantState("foreign")
	if len(w.sent) != 0 || !strings.Contains(d.Cause, "the form of botd's stops") || !strings.Contains(d.Remedy, "the other botd") {
		t.Errorf("%s: want nothing opened beside it, have %d orders, %+v\n%s", policy, len(w.sent), d, w.story())
	}
}
