package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// places sends an order and returns it as a list shows it. With an id the exchange acknowledges it; without one its answer is
// lost.
func (w *wallet) places(purpose placement.Purpose, orderID int64, order exchange.NewOrder) exchange.Order {
	w.t.Helper()
	row := w.sends(purpose, orderID, order)
	if orderID == 0 {
		w.apply(record.Record{AtMS: w.now, ClientOrderID: row.ClientOrderID, Body: record.Uncertain{Reason: "timeout"}})
	}
	return row
}

// sends sends an order and returns it as a list shows it. With an id the exchange acknowledges it.
func (w *wallet) sends(purpose placement.Purpose, orderID int64, order exchange.NewOrder) exchange.Order {
	w.t.Helper()
	order.Market, order.Symbol, order.ClientOrderID = exchange.Spot, "BTC-USDT", w.tracker.NextClientOrderID("t")
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: order.ClientOrderID,
		Body: record.Sending{Order: order, Purpose: purpose, DeadlineMS: w.now + 5_000, Funds: w.tracker.FundsBefore(w.tracker.Symbol(coin),
			purpose.Opens())}})
	if orderID != 0 {
		w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Body: record.Acknowledged{OrderID: orderID}})
	}
	return exchange.Order{ID: orderID, ClientOrderID: order.ClientOrderID, Market: exchange.Spot, Symbol: "BTC-USDT", Side: order.Side, Type: order.Type,
		Quantity: order.Quantity, Price: order.Price, StopPrice: order.StopPrice, Status: exchange.StatusOpen, CreatedMS: w.now}
}

func saleOf(quantity exchange.Quantity) exchange.NewOrder {
	return exchange.NewOrder{Side: exchange.Sell, Type: exchange.Limit, Quantity: quantity, Price: 47_500e8}
}

func stopOf(quantity exchange.Quantity) exchange.NewOrder {
	return exchange.NewOrder{Side: exchange.Sell, Type: exchange.StopLimit, Quantity: quantity, Price: 46_550e8, StopPrice: 49_000e8}
}

// shows fetches a wallet with those amounts free and frozen.
func (w *wallet) shows(free, frozen string, orders ...exchange.Order) {
	w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf(orders),
		History: exchange.FetchedOf[exchange.Order](nil), HistoryWhole: true,
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(free), Frozen: exchange.MustAmount(frozen)}})})...)
}

func purposes(intents []Intent) (all []placement.Purpose) {
	for i := range intents {
		all = append(all, intents[i].Purpose)
	}
	return all
}

// The shortfall is not counted twice, so the stop of the remainder stays.
func TestUnlistedExitMayExplainShortfall(t *testing.T) {
	t.Parallel()
	w, derive := protecting(t)
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Quarantined{Reason: "a test"}})
	stop := w.places(placement.StopLoss, 8, stopOf(4))
	w.places(placement.Exit, 9, saleOf(6))
	w.now += 1_000
	w.shows("1", "0.004", stop)
	if intents := derive(); len(intents) != 0 {
		t.Errorf("want the stop over the 4 that are left to stand, have %+v", intents)
	}
}

// The wallet freezes nothing for the stop, and all of the asset that it still shows may be the person's.
func TestUnlistedStopMayHaveSoldNextToManualUnits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		free string
		want exchange.Quantity // of the stop that replaces it
	}{
		"all of it is shown":          {"1.016", 10},
		"the person's alone is shown": {"1.006", 0},
		"some of the person's, too":   {"1.002", 0},
		"a part is left":              {"1.009", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, derive := protecting(t)
			w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Baseline{Quantity: 1_000, Unattributed: 6}})
			w.places(placement.StopLoss, 8, stopOf(10))
			w.now += 30_000
			w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil), Unread: []exchange.SymbolKey{coin},
				Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(c.free)}})})
			have := exchange.Quantity(0)
			for _, intent := range derive() {
				have += intent.Order.Quantity
			}
			if have != c.want {
				t.Errorf("want %d protected again, have %d", c.want, have)
			}
		})
	}
}

// The stop has left the list, and neither history nor trades show its end. The wallet lacks as much as the stop may have sold: that is not taken from a
// deposit that has come before.
func TestUnitsOfASoldStopAreNotTakenFromADeposit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		free, frozen  string
		listed        bool
		stop, persons exchange.Quantity
	}{
		"the stop has sold":                      {"1.012", "0", false, 0, 12},
		"it has been canceled":                   {"1.022", "0", false, 10, 12},
		"the person has withdrawn as much":       {"1.002", "0.01", true, 0, 2},
		"the person has withdrawn a part of it":  {"1.006", "0.01", true, 0, 6},
		"the person has deposited the same more": {"1.022", "0.01", true, 0, 22},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			soldNextToADeposit(t, c.free, c.frozen, c.listed, c.stop, c.persons)
		})
	}
}

func soldNextToADeposit(t testing.TB, free, frozen string, listed bool, stop, persons exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t)
	open := []exchange.Order{w.places(placement.StopLoss, 8, stopOf(10))}
	for range 3 {
		w.now += 1_000
		w.sees("1.012", "0.01", nil, open...)
	}
	if have := w.tracker.Symbol(coin).Unattributed(); have != 12 {
		t.Fatalf("want 12 deposited, have %d", have)
	}
	if !listed {
		open = nil
	}
	for range 5 {
		w.now += 1_000
		w.sees(free, frozen, nil, open...)
	}
	if have := soldBy(derive()); have != stop {
		t.Errorf("want %d for sale, have %d", stop, have)
	}
	if have := w.tracker.Symbol(coin).Unattributed(); have != persons {
		t.Errorf("want %d of a person's, have %d", persons, have)
	}
}

// The exchange had the order, and a list that omits it does not end it.
func TestUnlistedAcknowledgedSpotOrderIsNotAbsent(t *testing.T) {
	t.Parallel()
	w := holding(t, ForeignHalt)
	bought := w.places(placement.Entry, 8, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 5, Price: 50_000e8})
	for range 4 {
		w.now += 300_000
		w.shows("1.01", "0")
	}
	if p := w.tracker.Placement(bought.ClientOrderID); p == nil || w.tracker.Symbol(coin).Quarantine() == "" {
		t.Errorf("want it uncertain and its symbol quarantined, have %+v, %q", p, w.tracker.Symbol(coin).Quarantine())
	}
}

// Next to a person's units the exit is not repeated before its fence, and until then the position needs its
// stop.
func TestStopReturnsWhileExitIsUncertain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		free, frozen string
		want         exchange.Quantity
	}{
		"the wallet shows all of it":   {"1.01", "0", 10},
		"the wallet freezes it":        {"1", "0.01", 0},
		"the wallet shows none of it":  {"1", "0", 0},
		"the wallet shows part frozen": {"1.003", "0.007", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, derive := protecting(t)
			w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin,
				Body: record.Plan{Plan: &strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity}}}})
			w.places(placement.Exit, 0, saleOf(10))
			w.now += 1_000
			if w.shows(c.free, c.frozen); len(derive()) != 0 {
				t.Error("want nothing sent while the answer may still come")
			}
			w.now += 1_000
			w.shows(c.free, c.frozen)
			intents, have := derive(), exchange.Quantity(0)
			for i := range intents {
				if have += intents[i].Order.Quantity; intents[i].Purpose != placement.StopLoss {
					t.Errorf("want no other exit, have %+v", intents[i])
				}
			}
			if have != c.want {
				t.Errorf("want a stop of %d, have %v of %d", c.want, purposes(intents), have)
			}
		})
	}
}

// The answer to its cancel is not journalled, and the history omits the stop. The replacement does not count
// as excess.
func TestCanceledStopIsReplacedAfterRestart(t *testing.T) {
	t.Parallel()
	w, _ := protecting(t)
	later := w.places(placement.StopLoss, 8, stopOf(6))
	w.places(placement.StopLoss, 9, stopOf(6)) // it was canceled
	standing := w.places(placement.StopLoss, 10, stopOf(4))
	w.now += 20_000
	w.start()
	symbol := w.tracker.Symbol(coin)
	symbol.last, symbol.entryPrice = 50_000e8, exchange.AmountOf(50_000)
	w.now += 1_000
	w.shows("1", "0.01", later, standing)
	intents, _ := w.tracker.Derive(&Desired{Strategy: w.tracker.Strategy("one"), Symbol: symbol, Interval: exchange.Minute1, Bridge: true,
		Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}}, w.now)
	for i := range intents {
		if intents[i].ClientID == later.ClientOrderID || intents[i].ClientID == standing.ClientOrderID {
			t.Errorf("want what stands to stay, have %+v", intents[i])
		}
	}
}

// Another stop replaces it.
func TestUnlistedStopWithRefusedCancelIsReplaced(t *testing.T) {
	t.Parallel()
	w, derive := protecting(t)
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 1_000
	w.shows("1.01", "0.01") // another order freezes the same quantity
	if intents := derive(); len(intents) != 0 {
		t.Fatalf("want nothing while it may stand, have %+v", intents)
	}
	w.tracker.NoteCancelRefused(stop.ClientOrderID, w.now)
	w.now += 1_000
	w.shows("1.01", "0.01")
	if intents := derive(); len(intents) != 1 || intents[0].Purpose != placement.StopLoss || intents[0].Order.Quantity != 10 {
		t.Errorf("want a stop of 10 in its place, have %+v", intents)
	}
}

// The journal contains what the wallet held before, so the rest of the balance belongs to the purchase.
func TestUnlistedPurchaseIsProtectedAfterRestart(t *testing.T) {
	t.Parallel()
	w, _ := protecting(t)
	for range 10 {
		w.now += 1_000
		w.observe("1.03") // a person bought 20
	}
	w.places(placement.Entry, 8, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 5, Price: 50_000e8})
	w.now += 2_000
	w.start()
	symbol := w.tracker.Symbol(coin)
	symbol.last, symbol.entryPrice = 50_000e8, exchange.AmountOf(50_000)
	w.now += 1_000
	w.observe("1.035")
	intents, _ := w.tracker.Derive(&Desired{Strategy: w.tracker.Strategy("one"), Symbol: symbol, Interval: exchange.Minute1, Bridge: true,
		Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}}, w.now)
	if len(intents) != 1 || intents[0].Purpose != placement.StopLoss || intents[0].Order.Quantity != 15 {
		t.Errorf("want a stop of the 10 that fills explain and the 5 that it bought, have %+v", intents)
	}
}

// The fill is booked in a round that reads no wallet.
func TestInferredPurchaseIsNotCountedWithItsFill(t *testing.T) {
	t.Parallel()
	w, derive := protecting(t)
	bought := w.places(placement.Entry, 9, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 5, Price: 50_000e8})
	w.now += 1_000
	w.shows("1.015", "0")
	if intents := derive(); len(intents) != 1 || intents[0].Order.Quantity != 15 {
		t.Fatalf("want a stop of the 10 that fills explain and the 5 that the wallet shows, have %+v", intents)
	}
	stop := w.places(placement.StopLoss, 10, stopOf(15))
	w.apply(record.Record{AtMS: w.now, ClientOrderID: bought.ClientOrderID,
		Body: record.Ended{State: placement.Filled, Filled: 5, Price: exchange.AmountOf(50_000)}})
	w.now += 1_000
	w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf([]exchange.Order{stop}),
		Unread: []exchange.SymbolKey{{Market: exchange.Spot}}})
	if intents := derive(); len(intents) != 0 {
		t.Errorf("want no stop beside it, have %+v", intents)
	}
}

// No list shows either order, and the wallet shows the remainder. The exit sold what fills explain, so the rest
// belongs to the purchase, and its stop stays.
func TestExitDoesNotReduceUnlistedPurchase(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		free  string
		stays bool
	}{"the exit has sold all of it": {"1", true}, "a person has sold of it too": {"0.997", false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			purchaseDuringASale(t, c.free, c.stays)
		})
	}
}

// The answer to the exit was lost, the stop was placed again, and then the history showed that the exit had sold
// everything.
func TestStopOfSoldHoldingIsCanceledWithoutList(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bought, off bool
	}{"nothing is held": {false, true}, "a purchase is under way": {true, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stopOfWhatIsSold(t, c.bought, c.off)
		})
	}
}

// The answer to a purchase was lost, and a person bought the same quantity. The order history shows whose
// purchase it is, so no stop of botd's sells it.
func TestManualPurchaseIsNotInferred(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		filled exchange.Quantity
		held   string
		want   exchange.Quantity // of the stop
	}{
		"only a person bought":           {5, "1.015", 10},
		"both bought":                    {5, "1.02", 15},
		"a person bought more":           {20, "1.03", 10},
		"the uncertain purchase":         {0, "1.015", 15},
		"part of it, beside a person's":  {5, "1.017", 12},
		"neither, and the wallet is old": {5, "1.01", 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			personsPurchase(t, c.filled, c.held, c.want)
		})
	}
}

// personsPurchase lets a person buy next to a purchase of botd's whose answer was lost. want is the stop's
// quantity.
func personsPurchase(t testing.TB, filled exchange.Quantity, held string, want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t)
	w.now += 60_000
	w.places(placement.Entry, 0, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 5, Price: 50_000e8})
	persons := exchange.Order{ID: 70, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: filled,
		Filled: filled, Status: exchange.StatusFilled, CreatedMS: w.now + 500}
	for _, history := range []exchange.Fetched[exchange.Order]{exchange.FetchedOf([]exchange.Order{persons}), {}} {
		w.now += 3_000
		w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil), History: history,
			Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(held)}})})
		if intents := derive(); len(intents) != 1 || intents[0].Purpose != placement.StopLoss || intents[0].Order.Quantity != want {
			t.Errorf("the history read: %t: want a stop of %d, have %+v", history.Done(), want, intents)
		}
	}
}

// A purchase that only the wallet showed is booked, and then all of it is sold.
func TestInferredPurchaseIsBookedOnce(t *testing.T) {
	t.Parallel()
	w, derive := protecting(t)
	w.now += 60_000
	bought := w.places(placement.Entry, 12, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 5, Price: 50_000e8})
	w.now += 3_000
	w.shows("1.015", "0")
	if intents := derive(); len(intents) != 1 || intents[0].Order.Quantity != 15 {
		t.Fatalf("want a stop of 15, have %+v", intents)
	}
	w.apply(record.Record{AtMS: w.now, ClientOrderID: bought.ClientOrderID, Body: record.Fill{OrderID: 12, Filled: 5}})
	sold := w.places(placement.Exit, 13, saleOf(15))
	w.apply(record.Record{AtMS: w.now, ClientOrderID: sold.ClientOrderID, Body: record.Fill{OrderID: 13, Filled: 15}})
	if symbol := w.tracker.Symbol(coin); symbol.Known() != 0 || symbol.spot.unlisted.inferred != 0 {
		t.Errorf("want nothing held, and nothing inferred beside it, have %d and %d", symbol.Known(), symbol.spot.unlisted.inferred)
	}
}

// The open list does not show it, and the wallet lacks what it has sold.
func TestExitWithUncertainEndCancelsNoStop(t *testing.T) {
	t.Parallel()
	w, derive := protecting(t)
	stands := w.places(placement.StopLoss, 9, stopOf(5))
	sold := w.places(placement.Exit, 10, saleOf(5))
	why := "acknowledged order 10 is not known to the exchange"
	w.apply(record.Record{AtMS: w.now, ClientOrderID: sold.ClientOrderID, Body: record.Uncertain{Reason: why}})
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Quarantined{Reason: why}})
	w.now += 1_000
	w.shows("1", "0.005", stands)
	for _, intent := range derive() {
		if intent.Purpose == placement.Cancel && intent.OrderID == stands.ID {
			t.Errorf("want the stop that stands left where it is, have %+v", intent)
		}
	}
}

// The order history is newest first, and a sale of more than the known holding counts as a sale of all of it.
func TestPurchasesAreBookedBeforeSales(t *testing.T) {
	t.Parallel()
	w, _ := protecting(t)
	bought := w.places(placement.Entry, 0, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 15, Price: 50_000e8})
	sold := w.places(placement.StopLoss, 8, stopOf(15))
	bought.ID = 7
	for _, o := range []*exchange.Order{&bought, &sold} {
		o.Status, o.Filled, o.AveragePrice = exchange.StatusFilled, 15, exchange.AmountOf(50_000)
	}
	w.now += 1_000
	w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil),
		History:  exchange.FetchedOf([]exchange.Order{sold, bought}),
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount("1.01")}})})
	if known := w.tracker.Symbol(coin).Known(); known != 10 {
		t.Errorf("want 10 known, have %d", known)
	}
}

// Fills explain none of the holding.
func TestUnlistedPurchaseIsSoldPastItsStop(t *testing.T) {
	t.Parallel()
	w, _ := protecting(t)
	symbol := w.tracker.Symbol(coin)
	sold := w.places(placement.Exit, 8, saleOf(10))
	w.apply(record.Record{AtMS: w.now, ClientOrderID: sold.ClientOrderID, Body: record.Ended{State: placement.Filled, Filled: 10}})
	w.now += 60_000
	w.observe("1")
	w.places(placement.Entry, 9, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 15, Price: 50_000e8})
	w.now += 3_000
	stop := w.places(placement.StopLoss, 10, stopOf(5))
	w.now += 3_000
	w.shows("1.01", "0.005", stop)
	symbol.last = 48_000e8
	intents, _ := w.tracker.Derive(&Desired{Strategy: w.tracker.Strategy("one"), Symbol: symbol, Interval: exchange.Minute1, Bridge: true,
		Collar: exchange.RateOne / 20, Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: 49_000e8}}}, w.now)
	if len(intents) != 1 || intents[0].Order.Side != exchange.Sell || intents[0].Order.Quantity != 10 {
		t.Errorf("want 10 sold, which no stop covers, have %+v", intents)
	}
}

// The known holding is zero, so the average price is of units that were sold long ago.
func TestStopOfUnlistedPurchaseUsesCurrentPrice(t *testing.T) {
	t.Parallel()
	w, derive := protecting(t)
	symbol := w.tracker.Symbol(coin)
	symbol.entryPrice = exchange.Amount{}
	bought := w.places(placement.Entry, 7, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 5, Price: 50_000e8})
	w.apply(record.Record{AtMS: w.now, ClientOrderID: bought.ClientOrderID,
		Body: record.Ended{State: placement.Filled, Filled: 5, Price: exchange.AmountOf(50_000)}})
	sold := w.places(placement.Exit, 8, saleOf(15))
	w.apply(record.Record{AtMS: w.now, ClientOrderID: sold.ClientOrderID, Body: record.Ended{State: placement.Filled, Filled: 15}})
	for range 20 {
		w.now += 1_000
		w.observe("1")
	}
	symbol.last = 40_000e8
	w.places(placement.Entry, 9, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 5, Price: 40_000e8})
	w.now += 1_000
	w.observe("1.005")
	if intents := derive(); len(intents) != 1 || intents[0].Order.StopPrice != 39_200e8 || intents[0].Order.Quantity != 5 {
		t.Errorf("want a stop of 5 at 39200, have %+v", intents)
	}
}

// Only one of the two exists, and a stop that closes the position is right for either.
func TestDoubleListedPositionHasStop(t *testing.T) {
	t.Parallel()
	for name, booked := range map[string]bool{"the fill is booked": true, "the fill is not booked": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.target(20)
			d.observe(0, nil)
			id := d.send(d.one(placement.Entry, nil))
			d.acknowledge(id, 11)
			d.now += 1_000
			var answers []OrderByID
			if booked {
				answers = []OrderByID{{OrderID: 11, Known: true, Order: d.order(id, 11, exchange.StatusFilled, 20, 20)}}
			}
			one := d.positions(20).Items()[0]
			another := one
			another.ID = 987_654_321
			d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil), ByID: answers,
				Positions: exchange.FetchedOf([]exchange.Position{one, another})})
			stop := d.one(placement.StopLoss, func(desired *Desired) {
				desired.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}
			})
			if !stop.Order.ClosePosition {
				t.Errorf("want a closePosition stop, have %+v", stop.Order)
			}
		})
	}
}

// The list was read while the entry rested, and showed no position then.
func TestRestedEntryHasStopIfPositionIsUnreadable(t *testing.T) {
	t.Parallel()
	for name, restarted := range map[string]bool{"in one start": false, "sent before the start": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.target(20)
			d.observe(0, nil)
			id := d.send(d.one(placement.Entry, nil))
			d.acknowledge(id, 11)
			if restarted {
				d.now += 1_000
				d.tracker.Apply(&record.Record{AtMS: d.now, Body: record.Boot{Epoch: 2}})
			}
			resting := d.order(id, 11, exchange.StatusOpen, 20, 0)
			for range 30 {
				d.now += 1_000
				d.observe(0, nil, resting)
			}
			d.now += 1_000
			d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil),
				ByID:            []OrderByID{{OrderID: 11, Known: true, Order: d.order(id, 11, exchange.StatusFilled, 20, 20)}},
				Positions:       exchange.FetchedOf[exchange.Position](nil),
				UnreadPositions: []exchange.SymbolKey{bitcoin}, Unread: []exchange.SymbolKey{bitcoin}})
			d.one(placement.StopLoss, func(desired *Desired) {
				desired.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}
			})
		})
	}
}

// The stop's cancel was accepted, and neither the open list nor its row can be read. The exchange refuses
// another stop if the first one is still live.
func TestStopWithUncertainEndIsReplaced(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	protected := func(desired *Desired) {
		desired.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}
	}
	id := d.send(d.one(placement.StopLoss, protected))
	d.acknowledge(id, 12)
	d.tracker.NoteCancel(id, d.now)
	d.now += 1_000
	d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, Positions: d.positions(20), Unread: []exchange.SymbolKey{{Market: exchange.Futures}}})
	d.one(placement.StopLoss, protected)
}

// The position would be unprotected for as long as that lasts.
func TestStopIsNotMovedIfItsEndCannotBeRead(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	share := exchange.RateOne / 50
	protected := func(desired *Desired) {
		desired.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: share}}
	}
	d.acknowledge(d.send(d.one(placement.StopLoss, protected)), 12)
	share = exchange.RateOne / 40
	d.now += 61_000
	d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, Positions: d.positions(20), Unread: []exchange.SymbolKey{{Market: exchange.Futures}}})
	d.none(protected)
}

// The wallet may have been read before the exchange froze the stop's quantity.
func TestWalletOlderThanStopIsNoProof(t *testing.T) {
	t.Parallel()
	w, derive := protecting(t)
	w.places(placement.StopLoss, 8, stopOf(10))
	w.now += w.tracker.Bounds().StalenessMS
	w.shows("1.01", "0")
	if intents := derive(); len(intents) != 0 {
		t.Fatalf("want no second stop beside one that may stand, have %+v", intents)
	}
	w.now++
	w.shows("1.01", "0")
	if intents := derive(); len(intents) != 1 || intents[0].Purpose != placement.StopLoss || intents[0].Order.Quantity != 10 {
		t.Errorf("want a stop of 10 in its place, have %+v", intents)
	}
}

// A stop's end is uncertain. If its price was passed, what it may have sold is not sold at once, next to a person's units: another stop, below the last
// price, can be canceled, a sale cannot (seed 991000328).
func TestUncertainStopIsNotSoldAgainAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]uncertainStop{
		"its answer was lost, and the price stands above it": {price: 50_000e8, standing: true},
		"its answer was lost, and the price was passed":      {price: 48_900e8, standing: true},
		"its cancel was refused, and the price was passed":   {price: 48_900e8, standing: true, orderID: 9},
		"it is the only one, and the price was passed":       {price: 48_900e8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stopNotSold(t, c)
		})
	}
}

type uncertainStop struct {
	orderID  int64 // 0 for a stop whose answer was lost; otherwise its cancel was refused
	standing bool  // another stop rests
	price    exchange.Price
}

func stopNotSold(t testing.TB, c uncertainStop) {
	t.Helper()
	w, derive := protecting(t)
	var open []exchange.Order
	free, frozen, want := "1.01", "0", exchange.Quantity(10)
	if c.standing {
		open, free, frozen, want = append(open, w.places(placement.StopLoss, 8, stopOf(4))), "1.006", "0.004", 6
	}
	lost := w.places(placement.StopLoss, c.orderID, stopOf(want))
	if c.orderID != 0 {
		w.tracker.NoteCancelRefused(lost.ClientOrderID, w.now)
	}
	w.tracker.Symbol(coin).last = c.price
	w.now += 3_000
	w.shows(free, frozen, open...)
	intents := derive()
	if len(intents) != 1 || intents[0].Purpose != placement.StopLoss || intents[0].Order.Quantity != want {
		t.Fatalf("want one stop of %d, have %+v", want, intents)
	}
	if o := &intents[0].Order; o.Type != exchange.StopLimit || o.StopPrice >= c.price {
		t.Errorf("want it below %d, have %+v", c.price, o)
	}
}

// An older list shows the order open again, and its fill counts once.
func TestASecondOrderThatHasEndedIsNotFoundAgain(t *testing.T) {
	t.Parallel()
	w, _ := protecting(t)
	first := w.places(placement.ExitOrder, 8, saleOf(6))
	second := first
	second.ID = 9
	observe := func(orders []exchange.Order, history ...exchange.Order) {
		t.Helper()
		w.now += 1_000
		w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf(orders),
			History: exchange.FetchedOf(history), HistoryWhole: true,
			Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount("1.004"), Frozen: exchange.MustAmount("0.006")}})})...)
	}
	observe([]exchange.Order{first, second})
	ended := second
	ended.Status, ended.Filled = exchange.StatusCanceled, 2
	observe([]exchange.Order{first}, ended)
	if known := w.tracker.Symbol(coin).Known(); known != 8 {
		t.Fatalf("want 8 after the second order sold 2, have %d", known)
	}
	second.Filled = 1
	observe([]exchange.Order{first, second})
	observe([]exchange.Order{first}, ended)
	if known := w.tracker.Symbol(coin).Known(); known != 8 {
		t.Errorf("want 8 still, have %d", known)
	}
}

// A torn list shows the ended position next to the new one, on the other side, and an older answer shows only the first one.
// Neither position changed its side.
func TestTwoPositionsAndOldListAreNoChangeOfSide(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	next := d.positions(-20).Items()[0]
	next.ID = 8
	show := func(positions ...exchange.Position) {
		d.now += 1_000
		d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil),
			Positions: exchange.FetchedOf(positions)})
	}
	first := d.positions(20).Items()[0]
	d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Adopted{Quantity: -40}}) // the known position is the new one
	show(first)
	show(first, next)
	show(first)
	if why := d.tracker.Symbol(bitcoin).Quarantine(); why != "" {
		t.Errorf("want no quarantine, have %q", why)
	}
}

// stopOfWhatIsSold expects the stop to be canceled, or not, with or without a purchase in flight.
func stopOfWhatIsSold(t testing.TB, bought, want bool) {
	w, _ := protecting(t)
	sold := w.places(placement.Exit, 8, saleOf(10))
	stop := w.places(placement.StopLoss, 10, stopOf(10))
	if bought {
		w.places(placement.Entry, 11, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 5, Price: 50_000e8})
	}
	w.apply(record.Record{AtMS: w.now, ClientOrderID: sold.ClientOrderID, Body: record.Ended{State: placement.Filled, Filled: 10}})
	w.now += 1_000
	w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf([]exchange.Order{stop}),
		Unread: []exchange.SymbolKey{{Market: exchange.Spot}}})
	intents, _ := w.tracker.Derive(&Desired{Strategy: w.tracker.Strategy("one"), Symbol: w.tracker.Symbol(coin), Interval: exchange.Minute1, Unread: true,
		Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}}, w.now)
	if off := slices.ContainsFunc(intents, func(i Intent) bool { return i.OrderID == stop.ID }); off != want {
		t.Errorf("want the stop canceled %t, have %+v", want, intents)
	}
}

// purchaseDuringASale expects the stop of an unlisted purchase to stay, or not, depending on the wallet's free amount after a
// sale.
func purchaseDuringASale(t testing.TB, free string, stays bool) {
	w, derive := protecting(t)
	w.places(placement.Entry, 9, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 5, Price: 50_000e8})
	w.now += 1_000
	w.shows("1.015", "0")
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin,
		Body: record.Plan{Plan: &strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity}}}})
	w.places(placement.Exit, 8, saleOf(10))
	stop := w.places(placement.StopLoss, 10, stopOf(5))
	w.now += 1_000
	w.shows(free, "0.005", stop)
	w.shows(free, "0.005", stop)
	intents := derive()
	if off := slices.ContainsFunc(intents, func(i Intent) bool { return i.OrderID == stop.ID }); off == stays {
		t.Errorf("want the stop to stand %t, have %+v", stays, intents)
	}
}

// An old list still shows the stop of a short position. Both have ended, and the position is long now.
func TestStopProtectsOnlyItsOwnPosition(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		side exchange.Side
		want int
	}{"of a short one": {exchange.Buy, 1}, "of its own side": {exchange.Sell, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.target(-20)
			d.observe(0, nil)
			d.adopt(-20)
			d.rests(placement.StopLoss, 12, exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: c.side, Type: exchange.StopMarket,
				ClosePosition: true, StopPrice: 49_000e8})
			d.target(20)
			d.adopt(40)
			intents := d.derive(func(desired *Desired) {
				desired.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: 49_000e8}}
			})
			for _, intent := range intents {
				if intent.Order.Side != exchange.Sell || !intent.Order.ClosePosition {
					t.Errorf("want what protects the long position, have %+v", intent)
				}
			}
			if len(intents) != c.want {
				t.Errorf("want %d intents, have %+v", c.want, intents)
			}
		})
	}
}

// A wallet has shown that an uncertain exit sold nothing. A later one that cannot be read removes no stop for it, and a booked sale does.
func TestAnUnreadWalletRemovesNoStop(t *testing.T) {
	t.Parallel()
	unreadWallet(t)
}

func unreadWallet(t testing.TB) {
	t.Helper()
	for name, c := range map[string]struct {
		frozen string // for the stop, and for the exit
		sold   exchange.Quantity
		off    int
	}{
		"nothing was frozen for the exit":         {frozen: "0.01"},
		"the exit may hold the asset":             {frozen: "0.015", off: 1},
		"another exit has sold a part, by a list": {frozen: "0.01", sold: 5, off: 1},
	} {
		w, derive := protecting(t)
		stop := w.places(placement.StopLoss, 8, stopOf(10))
		exit := w.places(placement.Exit, 0, saleOf(5))
		for range 5 {
			w.now += 1_000
			w.shows("1", c.frozen, stop)
		}
		if c.sold != 0 {
			w.apply(record.Record{AtMS: w.now, ClientOrderID: exit.ClientOrderID, Strategy: "one", Symbol: coin,
				Body: record.Ended{State: placement.Filled, Filled: c.sold}})
		}
		w.now += 1_000
		w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf([]exchange.Order{stop}),
			Unread: []exchange.SymbolKey{coin}})...)
		if have := canceled(derive()); len(have) != c.off {
			t.Errorf("%s: want %d stops taken off, have %v", name, c.off, have)
		}
	}
}
