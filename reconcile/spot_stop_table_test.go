package reconcile

import (
	"fmt"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// Ten were bought at 50,000, next to a foreign holding of a thousand, with a stop 2 % away.
func TestSpotProtection(t *testing.T) {
	t.Parallel()
	const (
		stop  = "stop_loss sell stop_limit %d at 46550 stop 49000: protects the position"
		moves = "cancel 8: the protection moves"
	)
	minute := int64(exchange.Minute1)
	at := func(price exchange.Price, quantity exchange.Quantity) exchange.NewOrder {
		o := stopOf(quantity)
		o.StopPrice = price
		return o
	}
	stands := func(orders ...exchange.NewOrder) func(w *wallet) {
		return func(w *wallet) {
			var rows []exchange.Order
			sum := exchange.Quantity(0)
			for i := range orders {
				rows, sum = append(rows, w.places(placement.StopLoss, int64(8+i), orders[i])), sum+orders[i].Quantity
			}
			w.now += minute
			rules := w.tracker.Symbol(coin).rules
			w.shows(rules.QuantityAmount(1_010-sum).String(), rules.QuantityAmount(sum).String(), rows...)
		}
	}
	none := func(w *Desired) { w.Protection = strategy.Protection{Set: true} }
	unread := func(w *Desired) { stopped2(w); w.Unread = true }
	whole := func(w *Desired) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne}}
	}
	for _, c := range []struct {
		name    string
		with    func(w *wallet)
		desired func(*Desired)
		want    string
	}{
		{"all of it", nil, stopped2, fmt.Sprintf(stop, 10)},
		{"the uncovered part", stands(stopOf(4)), stopped2, fmt.Sprintf(stop, 6)},
		{"one unit that none covers", stands(stopOf(9)), stopped2, fmt.Sprintf(stop, 1)},
		{"it stands", stands(stopOf(10)), stopped2, ""},
		{"none is wanted", stands(stopOf(10)), none, "cancel 8: no longer desired"},
		{"none is wanted, and a person must look", func(w *wallet) { stands(stopOf(10))(w); quarantined("a test")(w) }, none, ""},
		{"none is wanted, and the wallet is contradicted", func(w *wallet) { stands(stopOf(10))(w); contradicts(w) }, none, ""},
		{"at no price", stands(stopOf(10)), whole, ""},
		{"it moves", stands(at(48_000e8, 10)), stopped2, moves},
		{"it moves to the least price", func(w *wallet) { stands(at(48_000e8, 10))(w); w.tracker.Symbol(coin).rules.PriceTick = 1 }, func(w *Desired) {
			w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: 1}}
		}, moves},
		{"of two the older one moves first", stands(at(48_000e8, 4), at(48_000e8, 6)), stopped2, moves},
		{"it moves, and more is covered first", stands(at(48_000e8, 4)), stopped2, fmt.Sprintf(stop, 6)},
		{"it would move while its market cannot be read", stands(at(48_000e8, 4), at(48_000e8, 6)), unread, ""},
		{"it would move beside uncertain one", func(w *wallet) {
			stands(at(48_000e8, 10))(w)
			w.places(placement.StopLoss, 0, at(48_000e8, 1))
		}, stopped2, ""},
		{"it would move while one is being sold at once", func(w *wallet) {
			stands(at(48_000e8, 6))(w)
			w.places(placement.StopLoss, 20, saleOf(4))
		}, stopped2, ""},
		{"it sells one more than is held", func(w *wallet) {
			stands(stopOf(10))(w)
			w.apply(record.Record{Symbol: coin, Body: record.Adopted{Quantity: -1}})
			w.now += minute
			w.shows("0.999", "0.01", w.stopRow(8))
		}, stopped2, "cancel 8: the stop would sell more than the position"},
		{"one sells more than is held, and its market cannot be read", func(w *wallet) {
			stands(stopOf(10))(w)
			w.apply(record.Record{Symbol: coin, Body: record.Adopted{Quantity: -6}})
			w.now += minute
			w.shows("0.994", "0.01", w.stopRow(8))
		}, unread, ""},
		{"of two one is too many, and their market cannot be read", func(w *wallet) {
			stands(stopOf(6), stopOf(4))(w)
			w.apply(record.Record{Symbol: coin, Body: record.Adopted{Quantity: -4}})
			w.now += minute
			w.shows("0.996", "0.01", w.stopRow(8), w.stopRow(9))
		}, unread, "cancel 9: the stop would sell more than the position"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, _ := protecting(t)
			w.tracker.Symbol(coin).entryPrice = exchange.AmountOf(50_000)
			if c.with != nil {
				c.with(w)
			}
			if have := summary(w.derives(func(d *Desired) { c.desired(d); d.MayOpen = false })); have != c.want {
				t.Errorf("want %q\nhave %q", c.want, have)
			}
		})
	}
}

// stopRow is a live order as a list shows it.
func (w *wallet) stopRow(orderID int64) exchange.Order {
	p := w.tracker.withOrderID(exchange.Spot, orderID)
	o := p.Order()
	return exchange.Order{ID: orderID, ClientOrderID: p.ClientOrderID(), Market: exchange.Spot, Symbol: o.Symbol, Side: o.Side, Type: o.Type,
		Quantity: o.Quantity, Price: o.Price, StopPrice: o.StopPrice, Status: exchange.StatusOpen, CreatedMS: p.SentMS()}
}

// Every holding worth an order has a stop: botd's own, and, while botd stands down, what another botd bought.
func TestSmallestHoldingHasStop(t *testing.T) {
	t.Parallel()
	w, _ := protecting(t)
	w.apply(record.Record{Symbol: coin, Body: record.Adopted{Quantity: -9}})
	w.now += 60_000
	w.shows("1.001", "0")
	w.targets(1, nil)
	if have := stopped(w.derives(stopped2)); have != 1 {
		t.Errorf("want a stop of one, have %d", have)
	}
	w, _ = protecting(t)
	w.apply(record.Record{Symbol: coin, Body: record.Adopted{Quantity: -10}})
	w.targets(0, nil)
	w.now += 60_000
	bought := anothers(elders+"1", 40, exchange.Buy, exchange.MarketOrder, 1, 1, w.now)
	for range 3 {
		w.now += 1_000
		w.sees("1.001", "0", []exchange.Order{bought})
	}
	if have := stopped(w.derives(stopped2)); have != 1 {
		t.Errorf("want a stop of the one that another botd bought, have %d", have)
	}
}

// A stop stays while only a wallet shows that its holding is gone, and, while botd stands down, as long as either botd has bought.
func TestSpotStopStaysWithoutProofOfSale(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		undecided   exchange.Quantity
		theirs      exchange.Quantity
		stands      bool // botd stands down
		baseBalance exchange.Quantity
		want        bool // the stop stays
	}{
		{"nothing was bought", 0, 0, false, 1_000, false},
		{"one was bought that the wallet shows no more", 1, 0, false, 1_000, true},
		{"another botd has bought one", 0, 1, true, 0, true},
		{"another botd has bought nothing", 0, 0, true, 0, false},
		{"another botd had bought some, and a person has decided", 0, 5, false, 1_000, false},
	} {
		w := explains(t, 0, 0)
		w.places(placement.StopLoss, 9, stopOf(1))
		symbol := w.tracker.Symbol(coin)
		w.reads(c.baseBalance, 0)
		symbol.spot.unlisted.undecided, symbol.spot.baseBalance = c.undecided, c.baseBalance
		if c.theirs != 0 {
			symbol.spot.peer.orders = []peerOrder{{50, c.theirs, 700}}
		}
		if c.stands {
			symbol.unknownEnded = elders + "1"
		}
		d := w.deriving(stopped2)
		d.positionProtection().converge()
		if have := len(canceled(d.intents)) == 0; have != c.want {
			t.Errorf("%s: want the stop to stay %t, have %q", c.name, c.want, summary(d.intents))
		}
	}
}

// The wallet determines the protected quantity once it was read after the last fill.
func TestWalletDefinesProtectionIfHistoryIsUnread(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		afterMS int64 // how long after the start the wallet was read
		stands  exchange.Quantity
		want    exchange.Quantity
	}{
		{"it may be older than the last fill", 999, 0, 10}, {"it shows four", 1_000, 0, 4}, {"it shows four, of which a stop covers three", 1_000, 3, 1},
	} {
		w, _ := protecting(t)
		var rows []exchange.Order
		if c.stands != 0 {
			rows = append(rows, w.places(placement.StopLoss, 8, stopOf(c.stands)))
		}
		w.now += 60_000
		w.start()
		w.now += c.afterMS
		rules := w.tracker.Symbol(coin).rules
		w.tracker.Symbol(coin).last, w.tracker.Symbol(coin).entryPrice = 50_000e8, exchange.AmountOf(50_000)
		w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf(rows), Unread: []exchange.SymbolKey{coin},
			Balances: exchange.FetchedOf([]exchange.Balance{
				{Asset: "BTC", Free: rules.QuantityAmount(1_004 - c.stands), Frozen: rules.QuantityAmount(c.stands)}})})
		if have := stopped(w.derives(func(d *Desired) { stopped2(d); d.Unread = true })); have != c.want {
			t.Errorf("%s: want a stop of %d, have %d", c.name, c.want, have)
		}
	}
}

// The stop in flight covers what the other botd has just bought, less what its orders sell beyond its earlier holding.
func TestAnotherBotdsStopInFlightCoversPurchase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		own         exchange.Quantity
		before, now exchange.Quantity // bought by the other botd before, and just now
		sells       exchange.Quantity // sold by its orders
		want        exchange.Quantity
	}{
		{"nothing was bought", 10, 5, 0, 0, 0},
		{"seven were, and nothing sells them", 10, 5, 7, 0, 7},
		{"its orders sell what it held before", 10, 5, 7, 5, 7},
		{"they sell some of the seven", 10, 5, 7, 8, 4},
		{"they sell all of it", 10, 5, 7, 12, 0},
		{"they sell more", 10, 5, 7, 15, 0},
		{"botd holds nothing of its own", 0, 5, 7, 5, 7},
		{"botd holds nothing, and they sell some of the seven", 0, 5, 7, 6, 6},
	} {
		w := explains(t, c.own, 0)
		symbol := w.tracker.Symbol(coin)
		symbol.unknownEnded, symbol.spot.baseBalance = elders+"1", 1_000+c.own+c.before+c.now
		symbol.spot.peer.orders = []peerOrder{{50, c.before, w.now - 60_000}, {51, c.now, w.now}}
		if c.sells != 0 {
			symbol.foreign = []exchange.Order{anothers(elders+"2", 60, exchange.Sell, exchange.StopLimit, c.sells, 0, 1)}
		}
		if have := w.deriving(nil).spotPosition().peerStopPending(); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
}

// Such stops may sell at most the part of the other botd's holding that no order under its own ids sells.
func TestStopsWithoutIDSellOfAnotherBotds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		own, theirs exchange.Quantity
		sells       exchange.Quantity // by orders under its ids
		unnamed     exchange.Quantity
		want        exchange.Quantity
	}{
		{"all of it", 10, 5, 0, 5, 5}, {"more than it holds", 10, 5, 0, 9, 5}, {"less", 10, 5, 0, 3, 3}, {"beside orders under its id", 10, 5, 2, 9, 3},
		{"orders under its id sell all of it", 10, 5, 9, 9, 0}, {"it holds nothing", 10, 0, 0, 9, 0}, {"botd holds nothing", 0, 5, 0, 9, 5},
		{"neither holds anything", 0, 0, 0, 9, 0},
	} {
		w := explains(t, c.own, 0)
		symbol := w.tracker.Symbol(coin)
		symbol.unknownEnded, symbol.spot.baseBalance = elders+"1", 1_000+c.own+c.theirs
		symbol.spot.peer.orders = []peerOrder{{50, c.theirs, 1}}
		symbol.foreign = []exchange.Order{anothers("", 61, exchange.Sell, exchange.StopLimit, c.unnamed, 0, 1)}
		if c.sells != 0 {
			symbol.foreign = append(symbol.foreign, anothers(elders+"2", 60, exchange.Sell, exchange.StopLimit, c.sells, 0, 1))
		}
		if have := w.deriving(nil).spotPosition().unnamedStops(); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
}

// The part that no stop sells is sold at once. A stop whose end is uncertain counts as executed, unless a fresh wallet shows that it has sold
// nothing.
func TestSaleExcludesStopsPastTheirPrice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		baseBalance exchange.Quantity // of twenty, next to a thousand
		stop        exchange.Quantity // of the listed stop, out of twenty
		lost        exchange.Quantity // of another stop, which is in no list
		unfrozen    bool              // the wallet freezes nothing for that one
		unread      bool
		old         bool // the wallet was not read
		stands      bool // botd stands down
		want        exchange.Quantity
	}{
		{"nothing is covered", 20, 0, 0, false, false, false, false, 20},
		{"the covered part", 20, 12, 0, false, false, false, false, 8},
		{"one that is in no list may have sold", 20, 8, 5, false, false, false, false, 7},
		{"the wallet freezes nothing for it, and shows all", 20, 8, 5, true, false, false, false, 7},
		{"the wallet freezes nothing for it, and shows less", 15, 8, 5, true, false, false, false, 7},
		{"the same, and it shows much less", 12, 8, 5, true, false, false, false, 4},
		{"the same, of a wallet that was not read", 12, 8, 5, true, false, true, false, 7},
		{"the same, of a market that was not read", 12, 8, 5, true, true, false, false, 7},
		{"another botd trades, and holds some", 25, 8, 0, false, false, false, true, 12},
	} {
		w := explains(t, 20, 0)
		var rows []exchange.Order
		if c.stop != 0 {
			rows = append(rows, w.places(placement.StopLoss, 8, stopOf(c.stop)))
		}
		if c.lost != 0 {
			w.places(placement.StopLoss, 9, stopOf(c.lost))
		}
		w.now += 60_000
		symbol := w.tracker.Symbol(coin)
		if c.stands {
			symbol.unknownEnded, symbol.spot.peer.orders, symbol.spot.baseBalance = elders+"1", []peerOrder{{50, 5, 1}}, 1_000+c.baseBalance
		}
		w.reads(1_000+c.baseBalance-c.stop, c.stop, rows...)
		if c.unfrozen {
			for p := range w.tracker.Live() {
				if p.OrderID() == 9 {
					w.tracker.noteUnfrozen(p.ClientOrderID(), true)
				}
			}
		}
		w.tracker.walletRead = !c.old
		d := w.deriving(func(d *Desired) { stopped2(d); d.Unread = c.unread })
		d.spotStops().exitPart()
		if have := stopped(d.intents); have != c.want {
			t.Errorf("%s: want %d sold, have %d", c.name, c.want, have)
		}
	}
}

// The smallest stop stays if a stop is being sold at once or is uncertain.
func TestSmallestOfEightStopsIsReplaced(t *testing.T) {
	t.Parallel()
	stands := func(w *wallet) { w.places(placement.StopLoss, 20, stopOf(3)) }
	for _, c := range []struct {
		name  string
		least exchange.Quantity
		last  func(w *wallet)
		want  string
	}{
		{"all stand", 0, stands, "cancel 12: one stop replaces two"},
		{"three are needed", 3, stands, "cancel 13: one stop replaces two"},
		{"nine are needed", 9, stands, ""},
		{"one is being sold at once", 0, func(w *wallet) { w.places(placement.StopLoss, 20, saleOf(3)) }, ""},
		{"the fate of one is not known", 0, func(w *wallet) { w.places(placement.StopLoss, 0, stopOf(3)) }, ""},
		{"it is not traded", 0, func(w *wallet) {
			stands(w)
			w.tracker.Symbol(coin).rules.Tradable = false
		}, ""},
	} {
		w := explains(t, 60, 0)
		for i, quantity := range []exchange.Quantity{5, 6, 4, 7, 2, 3, 8} {
			w.places(placement.StopLoss, int64(8+i), stopOf(quantity))
		}
		c.last(w)
		d := w.deriving(nil)
		if d.spotStops().mergeStops(c.least); summary(d.intents) != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, summary(d.intents))
		}
	}
}

// All stops stay if one is being sold at once or is uncertain.
func TestStopsMoveTogetherWithoutLatency(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		last func(w *wallet)
		want string
	}{
		{"both stand", func(w *wallet) { w.places(placement.StopLoss, 9, stopOf(3)) }, "cancel 8: the protection moves; cancel 9: the protection moves"},
		{"one is being sold at once", func(w *wallet) { w.places(placement.StopLoss, 9, saleOf(3)) }, ""},
		{"the fate of one is not known", func(w *wallet) { w.places(placement.StopLoss, 0, stopOf(3)) }, ""},
	} {
		w := explains(t, 10, 0)
		w.places(placement.StopLoss, 8, stopOf(5))
		c.last(w)
		w.now += int64(exchange.Minute1)
		d := w.deriving(nil)
		if d.spotStops().moveStops(48_000e8); summary(d.intents) != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, summary(d.intents))
		}
	}
}

// A stop that sells what the other botd's stop sells already is one too many.
func TestNoStopMovesWithAnotherBotdsSameUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		stop  exchange.Price
		sells exchange.Quantity // of the other botd's stop
		want  string            // by positionProtection, and by jointProtection
	}{
		{"it would move", 48_000e8, 0, "cancel 9: the protection moves / "},
		{"it is one too many", 49_000e8, 1, "cancel 9: the stop would sell more than the position / "},
	} {
		w := explains(t, 0, 0)
		symbol := w.tracker.Symbol(coin)
		order := stopOf(1)
		order.StopPrice = c.stop
		w.places(placement.StopLoss, 9, order)
		w.now += int64(exchange.Minute1)
		w.reads(0, 1)
		symbol.last, symbol.unknownEnded, symbol.spot.baseBalance, symbol.spot.peer.orders = 50_000e8, elders+"1", 1, []peerOrder{{50, 1, 1}}
		if c.sells != 0 {
			symbol.foreign = []exchange.Order{anothers(elders+"2", 60, exchange.Sell, exchange.StopLimit, c.sells, 0, 1)}
		}
		protects, stands := w.deriving(stopped2), w.deriving(stopped2)
		protects.positionProtection().converge()
		stands.jointProtection().converge()
		if have := summary(protects.intents) + " / " + summary(stands.intents); have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
}

// No stop moves for a minute after the exchange has refused one on the symbol.
func TestNoStopMovesAfterStopRefusal(t *testing.T) {
	t.Parallel()
	elsewhere := func(w *wallet) {
		order := exchange.NewOrder{Market: exchange.Spot, Symbol: "ETH-USDT", Side: exchange.Sell, Type: exchange.StopLimit, Quantity: 10,
			ClientOrderID: w.tracker.NextClientOrderID("t")}
		w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: order.Key(), ClientOrderID: order.ClientOrderID,
			Body: record.Sending{Order: order, Purpose: placement.StopLoss, DeadlineMS: w.now + 5_000}})
		w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Body: record.Refused{Reason: "no"}})
	}
	for _, c := range []struct {
		name  string
		with  func(w *wallet)
		agoMS int64
		want  bool
	}{
		{"none was refused", func(*wallet) {}, 0, true},
		{"a stop was, a moment ago", func(w *wallet) { w.refuses(placement.StopLoss, stopOf(10)) }, 59_999, false},
		{"a stop was, a minute ago", func(w *wallet) { w.refuses(placement.StopLoss, stopOf(10)) }, 60_000, true},
		{"an exit was", func(w *wallet) { w.refuses(placement.Exit, saleOf(10)) }, 1_000, true},
		{"a stop of another symbol was", elsewhere, 1_000, true},
	} {
		w := explains(t, 10, 0)
		c.with(w)
		w.now += c.agoMS
		w.tracker.Symbol(coin).settled = true
		if have := w.deriving(nil).mayMoveStop(); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
}

// The next stop covers what the first one has not sold.
func TestEndedStopsExplainOwnPartOfShortfall(t *testing.T) {
	t.Parallel()
	w := explains(t, 20, 0)
	first, second := w.places(placement.StopLoss, 21, stopOf(6)), w.places(placement.StopLoss, 22, stopOf(6))
	w.now += 60_000
	w.reads(14, 0)
	w.tracker.listed[exchange.Spot] = openList{beganMS: w.now}
	w.tracker.noteUnfrozen(first.ClientOrderID, true)
	w.tracker.noteUnfrozen(second.ClientOrderID, true)
	w.apply(record.Record{Symbol: coin, Body: record.Baseline{}})
	if have := w.deriving(nil).spotStops().stoppable(14); have != 8 {
		t.Errorf("of fourteen that are free, while one of two stops of six has sold: want eight, have %d", have)
	}
}

// The collar is exact to the last digit: 5 % of 12,345.6 is 617.28, and a sale is at 11,728.32, or the tick above it.
func TestAPriceIsPassedByItsCollar(t *testing.T) {
	t.Parallel()
	w, _ := protecting(t)
	w.now += 60_000
	w.shows("1.01", "0")
	w.tracker.Symbol(coin).last = 12_345_60000000
	w.targets(0, nil)
	if have := summary(w.derives(nil)); have != "exit sell limit 10 at 11728.4: the target is flat" {
		t.Errorf("want it sold at 11728.4, have %q", have)
	}
	if have := exchange.Price(1_23456789).Share(2_000_000); have != 2_469135 {
		t.Errorf("want 2 %% of 1.23456789 to be 0.02469135, have %v", have)
	}
}
