package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// deriving prepares the work of a futures round, before anything is derived.
func (d *desk) deriving(change func(*Desired)) *derivation {
	return deriving(d.tracker, d.tracker.Symbol(bitcoin), d.now, change)
}

// deriving is the same on spot, where fills and fees explain the position.
func (w *wallet) deriving(change func(*Desired)) *derivation {
	symbol := w.tracker.Symbol(coin)
	symbol.position = symbol.heldOnSpot()
	return deriving(w.tracker, symbol, w.now, change)
}

func deriving(tracker *Tracker, symbol *SymbolState, nowMS int64, change func(*Desired)) *derivation {
	desired := &Desired{Strategy: tracker.Strategy("one"), Symbol: symbol, Interval: exchange.Minute1, Collar: exchange.RateOne / 20}
	if change != nil {
		change(desired)
	}
	return tracker.derivation(desired, nowMS)
}

// On futures an order may be repeated if its answer was lost two seconds ago, while there is room for more.
func TestFuturesOrderMayBeRepeated(t *testing.T) {
	t.Parallel()
	lost := func(d *desk, id string, agoMS int64) { d.uncertain(id); d.now += agoMS }
	after := func(agoMS int64) func(d *desk, id string) {
		return func(d *desk, id string) { lost(d, id, agoMS) }
	}
	younger := func(purpose placement.Purpose, afterMS int64) func(d *desk, id string) {
		return func(d *desk, id string) {
			d.uncertain(id)
			d.now += afterMS
			d.places(purpose, closes)
		}
	}
	released := func(agoMS int64) func(d *desk, id string) {
		return func(d *desk, id string) { d.acknowledge(id, 11); d.tracker.release(id, d.now-agoMS) }
	}
	unread := func(w *Desired) { w.Unread = true }
	called := func(w *Desired) { w.Repeat = true }
	room := func(most int) func(w *Desired) { return func(w *Desired) { w.MaxLive = most } }
	stop := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopMarket, StopPrice: 49_000e8,
		ClosePosition: true}
	for _, c := range []struct {
		name    string
		order   exchange.NewOrder
		with    func(d *desk, id string)
		desired func(*Desired)
		want    bool
	}{
		{"lost two seconds ago", closes, after(2_000), nil, true},
		{"lost a moment ago", closes, after(1_999), nil, false},
		{"sent long ago, and lost a moment ago", closes, func(d *desk, id string) { d.now += 9_000; lost(d, id, 1_999) }, nil, false},
		{"acknowledged", closes, func(d *desk, id string) { d.acknowledge(id, 11); d.now += 9_000 }, nil, false},
		{"not answered", closes, func(d *desk, _ string) { d.now += 9_000 }, nil, false},
		{"not answered, and called back", closes, func(d *desk, _ string) { d.now += 2_000 }, called, true},
		{"acknowledged, and called back", closes, func(d *desk, id string) { d.acknowledge(id, 11); d.now += 9_000 }, called, false},
		{"called back, with a younger exit", closes, younger(placement.Exit, 1), called, true},
		{"with a younger exit", closes, younger(placement.Exit, 1), nil, false},
		{"called back, with an exit of the same moment", closes, younger(placement.Exit, 0), called, false},
		{"called back, with a younger entry", closes, younger(placement.Entry, 1), called, false},
		{"its market was not read, and it is at market", closes, after(9_000), unread, false},
		{"its market was not read, and it has a limit", offers, after(9_000), unread, false},
		{"its market was not read, and it is a stop", stop, after(9_000), unread, true},
		{"with its one in the book there is room", closes, after(2_000), room(2), true},
		{"there is none", closes, after(2_000), room(1), false},
		{"less than none", closes, func(d *desk, id string) { d.places(placement.Order, buys); lost(d, id, 2_000) }, room(1), false},
		{"its cancel was answered a moment ago", closes, released(399), nil, false},
		{"its cancel was answered", closes, released(400), nil, true},
		{"its cancel was answered, and its market was not read", closes, released(400), unread, true},
	} {
		d := holds(t, 20)
		id := d.places(placement.Exit, c.order)
		c.with(d, id)
		if have := d.deriving(c.desired).mayRepeat(d.tracker.Placement(id)); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
	part := stop
	part.ClosePosition, part.Quantity, part.ReduceOnly = false, 20, true
	for _, c := range []struct { // handed out, and not answered
		name    string
		purpose placement.Purpose
		order   exchange.NewOrder
		agoMS   int64
		want    bool
	}{
		{"a stop of the whole position, two seconds ago", placement.StopLoss, stop, 2_000, true},
		{"one a moment ago", placement.StopLoss, stop, 1_999, false},
		{"one that was not handed out", placement.StopLoss, stop, -1, false},
		{"a stop of a quantity", placement.StopLoss, part, 2_000, false},
		{"a profit", placement.TakeProfit, stop, 2_000, false},
		{"an exit", placement.Exit, closes, 2_000, false},
	} {
		d := holds(t, 20)
		id := d.places(c.purpose, c.order)
		d.now += 9_000 // the order was queued
		if c.agoMS >= 0 {
			d.tracker.NoteHandedOut(id, d.now)
			d.now += c.agoMS
		}
		if have := d.deriving(nil).mayRepeat(d.tracker.Placement(id)); have != c.want {
			t.Errorf("handed out, %s: want another beside it %t, have %t", c.name, c.want, have)
		}
	}
	d := holds(t, 20)
	id := d.places(placement.Exit, closes)
	lost(d, id, 2_000)
	v := d.deriving(room(2))
	v.add(Intent{Purpose: placement.Exit, Order: closes})
	if v.mayRepeat(d.tracker.Placement(id)) {
		t.Error("want what this round sends to take room too")
	}
}

// A lost order waits two seconds, and twice as long for each one beyond three of the same kind, up to eight times.
func TestRepetitionDelayOfLostOrder(t *testing.T) {
	t.Parallel()
	wait := []int64{1: 2_000, 2: 2_000, 3: 2_000, 4: 4_000, 5: 8_000, 6: 16_000, 7: 16_000}
	flatten := []int64{1: 2_000, 2: 2_000, 3: 2_000, 4: 4_000, 5: 4_000, 6: 4_000, 7: 4_000}
	for lost := 1; lost < len(wait); lost++ {
		d, last := holds(t, 20), ""
		for range lost {
			last = d.places(placement.Exit, closes)
			d.uncertain(last)
		}
		for _, other := range []struct {
			purpose placement.Purpose
			key     string
			order   exchange.NewOrder
			answer  bool
		}{
			{placement.Exit, "", closes, true}, {placement.Exit, "", ethers, false}, {placement.ExitOrder, "", closes, false},
			{placement.Exit, "another", closes, false}, {placement.Exit, "", offers, false},
		} { // none of these is of its kind
			id := d.send(Intent{Purpose: other.purpose, Key: other.key, Order: other.order})
			if other.answer {
				d.acknowledge(id, 30)
			} else {
				d.uncertain(id)
			}
		}
		for _, c := range []struct {
			flatten bool
			want    int64
		}{{false, wait[lost]}, {true, flatten[lost]}} {
			v := d.deriving(func(w *Desired) { w.Flatten = c.flatten })
			if have := v.repeatAfterMS(d.tracker.Placement(last)); have != c.want {
				t.Errorf("%d lost, by the kill switch %t: want %d ms, have %d", lost, c.flatten, c.want, have)
			}
		}
	}
}

// The sale is of ten, in a wallet with three that are not botd's. It may be repeated if the wallet shows the asset, and not enough for
// both.
func TestSpotSaleMayBeRepeated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		purpose     placement.Purpose
		order       exchange.NewOrder
		baseline    exchange.Quantity
		baseBalance exchange.Quantity
		want        bool
		uncovered   bool // it leaves a stop's part uncovered
	}{
		{"an exit, all is there", placement.Exit, saleOf(10), 3, 13, true, true},
		{"an exit, most is there", placement.Exit, saleOf(10), 3, 9, true, true},
		{"an exit, half is there", placement.Exit, saleOf(10), 3, 8, false, false},
		{"an exit, none is there", placement.Exit, saleOf(10), 3, 3, false, false},
		{"an exit, nearly enough for both is there", placement.Exit, saleOf(10), 9, 19, true, true},
		{"an exit, enough for both is there", placement.Exit, saleOf(10), 10, 20, false, true},
		{"an exit of a part, most is there: not enough for that and for all", placement.Exit, saleOf(4), 3, 12, true, true},
		{"a stop, none is there", placement.StopLoss, stopOf(10), 3, 3, true, true},
		{"a stop at once, none is there", placement.StopLoss, saleOf(10), 3, 3, false, false},
		{"a stop at once, all is there", placement.StopLoss, saleOf(10), 3, 13, true, true},
		{"an exit by a stop, none is there", placement.Exit, stopOf(10), 3, 3, false, false},
	} {
		w := explains(t, 10, 0)
		w.apply(record.Record{Symbol: coin, Body: record.Baseline{Quantity: c.baseline}})
		sale := w.places(c.purpose, 0, c.order)
		w.now += 2_000
		w.reads(c.baseBalance, 0).unlistedOrders().noteUnfrozen(w.tracker.Placement(sale.ClientOrderID), w.tracker.Symbol(coin))
		d := w.deriving(nil)
		if have := d.mayRepeat(w.tracker.Placement(sale.ClientOrderID)); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
		if have := d.spotStops().leavesUncovered(w.tracker.Placement(sale.ClientOrderID)); have != c.uncovered {
			t.Errorf("%s: want all of it to be protected %t, have %t", c.name, c.uncovered, have)
		}
	}
}

// The sale is uncertain for two seconds, no list shows it, and the wallet freezes nothing for it.
func TestUncertainSaleLeavesHoldingForStop(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		orderID int64
		agoMS   int64
		with    func(w *wallet, sale exchange.Order)
		want    bool
	}{
		{"so it is", 0, 2_000, nil, true},
		{"lost a moment ago", 0, 1_999, nil, false},
		{"acknowledged", 9, 2_000, nil, false},
		{"the exchange has it", 0, 2_000, func(w *wallet, sale exchange.Order) {
			w.apply(record.Record{AtMS: 1, ClientOrderID: sale.ClientOrderID, Body: record.Acknowledged{OrderID: 9}})
			w.apply(record.Record{AtMS: 1, ClientOrderID: sale.ClientOrderID, Body: record.Uncertain{Reason: "a test"}})
		}, false},
		{"the wallet freezes it", 0, 2_000, func(w *wallet, sale exchange.Order) { w.tracker.noteUnfrozen(sale.ClientOrderID, false) }, false},
		{"the wallet was not read", 0, 2_000, func(w *wallet, _ exchange.Order) { w.tracker.walletRead = false }, false},
		{"another botd may be placing", 0, 2_000, func(w *wallet, _ exchange.Order) { w.tracker.Symbol(coin).unknownEnded = elders + "1" }, true},
		{"one has bought as much, and the wallet shows both", 0, 2_000, func(w *wallet, _ exchange.Order) {
			w.tracker.Symbol(coin).unknownEnded, w.tracker.Symbol(coin).spot.peer.orders = elders+"1", []peerOrder{{50, 10, 700}}
			w.reads(1_020, 0)
		}, true},
		{"one has bought as much, and the wallet shows one of the two", 0, 2_000, func(w *wallet, _ exchange.Order) {
			w.tracker.Symbol(coin).unknownEnded, w.tracker.Symbol(coin).spot.peer.orders = elders+"1", []peerOrder{{50, 10, 700}}
		}, false},
		{"another botd may be placing, and the wallet is older than a sale that is listed", 0, 2_000, func(w *wallet, _ exchange.Order) {
			w.tracker.Symbol(coin).unknownEnded = elders + "1"
			w.reads(1_000, 0, anothers("", 50, exchange.Sell, exchange.Limit, 4, 0, 1))
		}, false},
		{"the wallet shows that it was sold", 0, 2_000, func(w *wallet, _ exchange.Order) { w.reads(1_000, 0) }, false},
		{"the wallet is older than a sale that is listed", 0, 2_000, func(w *wallet, _ exchange.Order) {
			w.reads(1_000, 0, anothers("", 50, exchange.Sell, exchange.Limit, 4, 0, 1))
		}, true},
		{"a purchase that is listed freezes none of it", 0, 2_000, func(w *wallet, _ exchange.Order) {
			w.reads(1_000, 0, anothers("", 50, exchange.Buy, exchange.Limit, 4, 0, 1))
		}, false},
		{"nor does a sale of another symbol", 0, 2_000, func(w *wallet, _ exchange.Order) {
			other := anothers("", 50, exchange.Sell, exchange.Limit, 4, 0, 1)
			other.Symbol = "ETH-USDT"
			w.reads(1_000, 0, other)
		}, false},
		{"it is known to be others'", 0, 2_000, func(w *wallet, _ exchange.Order) {
			w.apply(record.Record{Symbol: coin, Body: record.Baseline{Quantity: 1_000, Unattributed: 5}})
		}, false},
	} {
		w := explains(t, 10, 0)
		sale := w.places(placement.Exit, c.orderID, saleOf(10))
		w.now += c.agoMS
		w.reads(1_010, 0).unlistedOrders().noteUnfrozen(w.tracker.Placement(sale.ClientOrderID), w.tracker.Symbol(coin))
		if c.with != nil {
			c.with(w, sale)
		}
		if have := w.deriving(nil).spotStops().leavesUncovered(w.tracker.Placement(sale.ClientOrderID)); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
}

// Half a second after its cancel no open list shows the order, or only an older one does, and its symbol cannot be read.
func TestCanceledOrderWithUnreadableEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		agoMS int64 // time since the cancel when the newest round began
		list  int64 // time from the cancel to the newest list
		shown bool
		with  func(d *desk, id string)
		want  bool
	}{
		{"no list shows it", 500, 500, false, nil, true},
		{"the round began a moment after", 499, 499, false, nil, false},
		{"a list of then shows it", 500, 0, true, nil, false},
		{"a list of before shows it", 500, -1, true, nil, true},
		{"it was canceled once more", 500, 500, false, func(d *desk, id string) { d.now += 400; d.canceled(id) }, true},
		{"it was not canceled", 500, 500, false, func(d *desk, id string) { delete(d.tracker.deliveries, id) }, false},
		{"its symbol is read", 500, 500, false, func(d *desk, _ string) { d.tracker.Symbol(bitcoin).unread = false }, false},
		{"its fate is uncertain", 500, 500, false, (*desk).uncertain, false},
	} {
		d := holds(t, 20)
		id := d.whole(placement.StopLoss, 12, exchange.Sell, "49000")
		d.canceled(id)
		list := []exchange.Order{{ID: 11}}
		if c.shown {
			list = append(list, exchange.Order{ID: 12})
		}
		d.tracker.readBeganMS, d.tracker.Symbol(bitcoin).unread = d.now+c.agoMS, true
		d.tracker.listed[exchange.Futures] = openList{orders: list, beganMS: d.now + c.list}
		if c.with != nil {
			c.with(d, id)
		}
		if have := d.tracker.EndUnread(d.tracker.Placement(id)); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
}

// There is no uncertain opening, and no fill that a read could predate; or the position began after a read that showed none.
func TestUnexplainedPosition(t *testing.T) {
	t.Parallel()
	quarantined := func(why string) func(d *desk, symbol *SymbolState) {
		return func(d *desk, _ *SymbolState) {
			d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Quarantined{Reason: why}})
		}
	}
	zeroed := func(past ...int64) func(d *desk, symbol *SymbolState) {
		return func(_ *desk, symbol *SymbolState) {
			symbol.futuresEvidence.zeroed, symbol.futuresEvidence.past, symbol.residualFor = true, past, persistence{}
		}
	}
	both := func(all ...func(d *desk, symbol *SymbolState)) func(d *desk, symbol *SymbolState) {
		return func(d *desk, symbol *SymbolState) {
			for _, one := range all {
				one(d, symbol)
			}
		}
	}
	uncertain := func(purpose placement.Purpose, order exchange.NewOrder) func(d *desk, symbol *SymbolState) {
		return func(d *desk, _ *SymbolState) { d.uncertain(d.places(purpose, order)) }
	}
	ignores := func(d *desk, _ *SymbolState) { d.tracker.foreignPolicy = ForeignIgnore }
	for _, c := range []struct {
		name     string
		position exchange.Quantity
		agoMS    int64 // since the last change of the known position
		with     func(d *desk, symbol *SymbolState)
		want     bool
	}{
		{"longer ago than L", 20, 1_001, nil, true},
		{"as long ago as L", 20, 1_000, nil, false},
		{"there is none", 0, 1_001, nil, false},
		{"it has not lasted", 20, 1_001, func(_ *desk, s *SymbolState) { s.residualFor = persistence{} }, false},
		{"an opening is uncertain", 20, 1_001, uncertain(placement.Entry, buys), false},
		{"an exit is uncertain", 20, 1_001, uncertain(placement.Exit, closes), true},
		{"another symbol's opening is", 20, 1_001, both(uncertain(placement.Exit, closes), uncertain(placement.Entry, ethers)), true},
		{"an opening was acknowledged", 20, 1_001, both(uncertain(placement.Exit, closes), func(d *desk, _ *SymbolState) {
			d.acknowledge(d.places(placement.Entry, buys), 14)
		}), true},
		{"a person must look", 20, 0, quarantined("a test"), true},
		{"others are ignored", 20, 1_001, ignores, false},
		{"others are ignored, and the journal was lost", 20, 0, both(ignores, func(d *desk, _ *SymbolState) {
			d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Quarantined{Reason: reasonLostJournal, Cause: record.JournalLost}})
		}), true},
		{"others are ignored, and a person must look", 20, 1_001, both(ignores, quarantined("a test")), false},
		{"it is new since nothing was held", 20, 0, zeroed(5), true},
		{"it is one of the past", 20, 0, zeroed(5, 7), false},
		{"it is new, and an opening is uncertain", 20, 0, both(zeroed(5), uncertain(placement.Entry, buys)), false},
		{"it is new, and nothing was ever agreed to be held", 20, 0, func(_ *desk, s *SymbolState) { s.residualFor = persistence{} }, false},
		{"it is new, beside what is known", 20, 0, both(zeroed(5), func(d *desk, _ *SymbolState) {
			d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Adopted{Quantity: 1}})
		}), false},
	} {
		d := newDesk(t)
		symbol := d.tracker.Symbol(bitcoin)
		d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Adopted{Quantity: 5}})
		d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Adopted{Quantity: -5}})
		d.now += c.agoMS
		d.shows(symbol, c.position)
		symbol.residualFor = persistence{sinceMS: 1, lastMS: d.now}
		if c.with != nil {
			c.with(d, symbol)
		}
		if have := d.deriving(nil).unexplained(); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
	w := holding(t, ForeignHalt)
	w.apply(record.Record{Symbol: coin, Body: record.Quarantined{Reason: "a test"}})
	if w.deriving(nil).unexplained() {
		t.Error("want no position on spot, which knows none")
	}
}

// On futures an order blocks if it can be canceled and the kill switch has not waited for its cancel in vain; on spot if it holds the
// asset.
func TestOrdersThatBlockFullExit(t *testing.T) {
	t.Parallel()
	flatten := func(w *Desired) { w.Flatten = true }
	canceled := func(agoMS int64) func(d *desk, id string) {
		return func(d *desk, id string) { d.canceled(id); d.now += agoMS }
	}
	for _, c := range []struct {
		name    string
		with    func(d *desk, id string)
		desired func(*Desired)
		want    bool
	}{
		{"one that rests", nil, nil, true},
		{"an uncertain one", (*desk).uncertain, nil, false},
		{"one whose end cannot be read", func(d *desk, id string) {
			d.canceled(id)
			d.tracker.readBeganMS, d.tracker.Symbol(bitcoin).unread = d.now+500, true
		}, nil, false},
		{"one that cannot be canceled", func(d *desk, _ string) { d.tracker.Symbol(bitcoin).rules.Cancelable = false }, nil, false},
		{"the kill switch has not canceled it", nil, flatten, true},
		{"the kill switch has waited", canceled(2_000), flatten, false},
		{"the kill switch has waited a moment", canceled(1_999), flatten, true},
		{"a plan has waited", canceled(9_000), nil, true},
	} {
		d := holds(t, 20)
		id := d.resting(12, 5)
		if c.with != nil {
			c.with(d, id)
		}
		if have := d.deriving(c.desired).positionExit().blocksExit(d.tracker.Placement(id)); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
	for agoMS, want := range map[int64]bool{-1: true, 399: true, 400: true, 999: true, 1_000: false} { // the asset is free a second after the answer
		w := explains(t, 10, 0)
		stop := w.places(placement.StopLoss, 9, stopOf(10))
		if agoMS >= 0 {
			w.tracker.release(stop.ClientOrderID, w.now-agoMS)
		}
		if have := w.deriving(nil).positionExit().blocksExit(w.tracker.Placement(stop.ClientOrderID)); have != want {
			t.Errorf("on spot, its cancel answered %d ms ago: want %t, have %t", agoMS, want, have)
		}
	}
}

// An exit waits ten seconds after the refusal of a sale, which may have been executed, and three after that of a cancel. The kill switch
// waits for neither.
func TestSpotExitWaitsAfterRefusal(t *testing.T) {
	t.Parallel()
	flatten := func(w *Desired) { w.Flatten = true }
	purchase := exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 10, Price: 2_500e8}
	for _, c := range []struct {
		name                      string
		order                     exchange.NewOrder
		agoMS                     int64
		desired                   func(*Desired)
		mayHaveSold, repeatedLess bool // the wallet bounds it
	}{
		{"a sale was refused", saleOf(10), 9_999, nil, true, true},
		{"a sale was refused before", saleOf(10), 10_000, nil, false, false},
		{"a purchase was refused", purchase, 1_000, nil, false, false},
		{"a sale was refused, by the kill switch", saleOf(10), 1_000, flatten, false, true},
	} {
		w := explains(t, 10, 0)
		purpose := placement.Exit
		if c.order.Side == exchange.Buy {
			purpose = placement.Order
		}
		order := w.places(purpose, 0, c.order)
		w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Strategy: "one", Symbol: coin, Body: record.Refused{Code: 7, Reason: "no"}})
		w.now += c.agoMS
		d := w.deriving(c.desired)
		if have := d.saleEvidence().mayHaveSold(); have != c.mayHaveSold {
			t.Errorf("%s: want it to wait %t, have %t", c.name, c.mayHaveSold, have)
		}
		if have := d.saleEvidence().saleRefused(true); have != c.repeatedLess {
			t.Errorf("%s: want it bounded by the wallet %t, have %t", c.name, c.repeatedLess, have)
		}
		other := w.tracker.Track(exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"})
		if d.symbol = other; d.saleEvidence().mayHaveSold() || d.saleEvidence().saleRefused(true) {
			t.Errorf("%s: want another symbol's exit to wait for nothing", c.name)
		}
	}
	d := holds(t, 20)
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: d.places(placement.Exit, closes), Symbol: bitcoin, Body: record.Refused{Code: 7, Reason: "no"}})
	if v := d.deriving(nil); v.saleEvidence().mayHaveSold() || v.saleEvidence().saleRefused(true) {
		t.Error("want futures to wait for nothing: the exchange bounds what reduces")
	}
	for _, c := range []struct {
		agoMS   int64
		flatten bool
		want    bool
	}{{2_999, false, true}, {3_000, false, false}, {2_999, true, false}} {
		w := explains(t, 10, 0)
		stop := w.places(placement.StopLoss, 9, stopOf(10))
		w.tracker.NoteCancelRefused(stop.ClientOrderID, w.now)
		w.now += c.agoMS
		if have := w.deriving(func(w *Desired) { w.Flatten = c.flatten }).saleEvidence().cancelJustRefused(); have != c.want {
			t.Errorf("%d ms after a cancel was refused, by the kill switch %t: want it to wait %t, have %t", c.agoMS, c.flatten, c.want, have)
		}
	}
	if explains(t, 10, 0).deriving(nil).saleEvidence().cancelJustRefused() {
		t.Error("want it to wait for nothing where no cancel was refused")
	}
}

// The refused cancel of a spot stop means that others may have ended the stop.
func TestRefusedCancelOfSpotStopIsNoted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		purpose placement.Purpose
		order   exchange.NewOrder
		want    bool
	}{
		{"a stop", placement.StopLoss, stopOf(10), true},
		{"an exit by a stop", placement.Exit, stopOf(10), false},
		{"a stop at once", placement.StopLoss, saleOf(10), false},
	} {
		w := explains(t, 10, 0)
		order := w.places(c.purpose, 9, c.order)
		w.tracker.NoteCancelRefused(order.ClientOrderID, w.now)
		w.tracker.NoteCancelRefused("nobody's", w.now+1)
		if have := w.tracker.Symbol(coin).spot.cancelRefusedMS; (have == w.now) != c.want || have != w.now && have != 0 {
			t.Errorf("%s: want %t, have %d", c.name, c.want, have)
		}
		if w.tracker.known(order.ClientOrderID).unableMS != w.now || len(w.tracker.deliveries) != 1 {
			t.Errorf("%s: want its refusal noted, have %v", c.name, w.tracker.known(order.ClientOrderID))
		}
	}
}

// A sale is bounded by what the wallet has free, less sales that no read has shown, and less the sales of this round.
func TestSpotSaleBound(t *testing.T) {
	t.Parallel()
	sells := func(purpose placement.Purpose, quantity exchange.Quantity) func(w *wallet, d *derivation) {
		return func(_ *wallet, d *derivation) {
			order := saleOf(quantity)
			if purpose == placement.Entry {
				order.Side = exchange.Buy
			}
			d.add(Intent{Purpose: purpose, Order: order})
		}
	}
	for _, c := range []struct {
		name  string
		free  exchange.Quantity
		sends func(w *wallet)
		with  func(w *wallet, d *derivation)
		want  exchange.Quantity // of the requested ten
	}{
		{"all", 10, nil, nil, 10},
		{"more than is asked for", 15, nil, nil, 10},
		{"less", 4, nil, nil, 4},
		{"none", 0, nil, nil, 0},
		{"a sale that no read has shown", 10, func(w *wallet) { w.places(placement.Exit, 9, saleOf(3)) }, nil, 7},
		{"a purchase", 10, func(w *wallet) { w.buysUnder(9, 3) }, nil, 10},
		{"a sale of the same asset against another", 10, func(w *wallet) {
			w.sendsElsewhere(exchange.Sell)
			rules := *w.tracker.Symbol(coin).rules
			rules.Name = "BTC-EUR"
			w.tracker.Symbol(exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-EUR"}).rules = &rules
		}, nil, 0},
		{"a sale of another asset", 10, func(w *wallet) {
			w.sendsElsewhere(exchange.Sell)
			rules := *w.tracker.Symbol(coin).rules
			rules.Name, rules.Base = "BTC-EUR", "ETH"
			w.tracker.Symbol(exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-EUR"}).rules = &rules
		}, nil, 10},
		{"a sale of what is not known", 10, func(w *wallet) { w.sendsElsewhere(exchange.Sell) }, nil, 10},
		{"a sale of this round", 10, nil, sells(placement.Exit, 3), 7},
		{"a purchase of this round", 10, nil, sells(placement.Entry, 3), 10},
		{"a cancel of this round", 10, nil, sells(placement.Cancel, 3), 10},
		{"the asset of a canceled stop", 4, func(w *wallet) {
			w.tracker.noteFreed(w.tracker.Placement(w.places(placement.StopLoss, 9, stopOf(6)).ClientOrderID), w.now)
		},
			nil, 4},
		{"where the wallet was not read, what fills explain", 4, nil, func(w *wallet, _ *derivation) { w.tracker.walletRead = false }, 10},
		{"less what sells", 4, func(w *wallet) { w.places(placement.Exit, 9, saleOf(3)); w.buysUnder(10, 3) },
			func(w *wallet, _ *derivation) { w.tracker.walletRead = false }, 7},
		{"less what this round sells", 4, nil, func(w *wallet, d *derivation) {
			w.tracker.walletRead = false
			sells(placement.Exit, 3)(w, d)
			sells(placement.Entry, 2)(w, d)
			sells(placement.Cancel, 1)(w, d)
		}, 7},
		{"not less than a wallet of before has free", 8, func(w *wallet) { w.places(placement.StopLoss, 9, stopOf(6)) },
			func(w *wallet, _ *derivation) {
				w.tracker.walletRead = false
				for p := range w.tracker.Live() {
					w.apply(record.Record{ClientOrderID: p.ClientOrderID(), Body: record.Fill{OrderID: p.OrderID()}}) // a list shows it
				}
			}, 8},
		{"and no sale of another symbol", 4, func(w *wallet) { w.sendsElsewhere(exchange.Sell) },
			func(w *wallet, _ *derivation) { w.tracker.walletRead = false }, 10},
		{"nor one that may be repeated", 4, func(w *wallet) {
			w.apply(record.Record{Symbol: coin, Body: record.Baseline{Quantity: 0}})
			w.places(placement.StopLoss, 0, stopOf(6))
			w.now += 2_000
		}, func(w *wallet, _ *derivation) { w.tracker.walletRead = false }, 10},
	} {
		w := explains(t, 10, 0)
		if c.sends != nil {
			c.sends(w)
		}
		w.reads(c.free, 0)
		d := w.deriving(nil)
		if c.with != nil {
			c.with(w, d)
		}
		if have := d.saleQuantity().sellable(10); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
	d := holds(t, 20)
	if have := d.deriving(nil).saleQuantity().sellable(10); have != 10 {
		t.Errorf("want no wallet to bound futures, have %d", have)
	}
}

// The exit is on spot and known to have rested for two seconds.
func TestSpotExitRestsBehindPrice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		orderID int64
		order   exchange.NewOrder
		agoMS   int64
		seen    bool
		with    func(w *wallet, o exchange.Order)
		want    bool
	}{
		{"so it does", 9, saleOf(10), 2_000, true, nil, true},
		{"it was sent a moment ago", 9, saleOf(10), 1_999, true, nil, false},
		{"no list has shown it", 9, saleOf(10), 2_000, false, nil, false},
		{"uncertain", 0, saleOf(10), 2_000, false, nil, false},
		{"seen, and uncertain since", 9, saleOf(10), 2_000, true, func(w *wallet, o exchange.Order) {
			w.apply(record.Record{AtMS: w.now, ClientOrderID: o.ClientOrderID, Body: record.Uncertain{Reason: "a test"}})
		}, false},
		{"a stop", 9, stopOf(10), 2_000, true, nil, false},
		{"a purchase", 9, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 10, Price: 2_500e8}, 2_000, true, nil, false},
	} {
		w := explains(t, 10, 0)
		o := w.places(placement.Exit, c.orderID, c.order)
		if c.seen {
			w.apply(record.Record{AtMS: w.now, ClientOrderID: o.ClientOrderID, Body: record.Fill{OrderID: 9}})
		}
		if c.with != nil {
			c.with(w, o)
		}
		w.now += c.agoMS
		d := w.deriving(nil)
		want := ""
		if c.want {
			want = "cancel 9: it rests because the price has passed its limit"
		}
		if stuck := d.positionExit().cancelPassedExits(d.targetOrders); stuck != c.want || summary(d.intents) != want {
			t.Errorf("%s: want %q, have %t, %q", c.name, want, stuck, summary(d.intents))
		}
	}
	d := holds(t, 20)
	id := d.rests(placement.Exit, 12, offers)
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Fill{OrderID: 12}})
	d.now += 2_000
	if v := d.deriving(nil); v.positionExit().cancelPassedExits(v.targetOrders) {
		t.Error("want none on futures, where an exit is at market")
	}
}

// The wallet limits the position if the missing quantity is worth at least an order.
func TestWalletBoundsPosition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		baseBalance exchange.Quantity
		with        func(w *wallet)
		want        exchange.Quantity
	}{
		{"all of it", 1_010, nil, 10},
		{"more", 1_015, nil, 10},
		{"less by an order", 1_008, nil, 8},
		{"less by less than an order", 1_009, nil, 10},
		{"none of it", 990, nil, 0},
		{"the wallet was never read", 1_000, func(w *wallet) { w.tracker.walletMS = 0 }, 10},
	} {
		w := explains(t, 10, 0)
		w.reads(c.baseBalance, 0)
		if c.with != nil {
			c.with(w)
		}
		if have := w.deriving(nil).listedPart(10); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
	d := holds(t, 20)
	d.tracker.walletMS = d.now
	if have := d.deriving(nil).listedPart(10); have != 10 {
		t.Errorf("want no wallet to show futures, have %d", have)
	}
}

// A stop of ten may sell what the wallet has free, also if others' orders hold the rest. It may sell all ten if the read may be older than the last fill
// or lacks what fills explain, or freezes what no order sells, and nothing else may have sold it.
func TestSpotStopBound(t *testing.T) {
	t.Parallel()
	stopBound(t)
}

func stopBound(t testing.TB) {
	t.Helper()
	young := func(w *wallet, s *SymbolState) { s.spot.walletInconclusive = true }
	held := func(w *wallet, s *SymbolState) {
		w.reads(4, 1_007)
		s.foreign = append(s.foreign, anothers("", 77, exchange.Sell, exchange.Limit, 1_007, 0, 1))
	}
	freezes := func(free, unexplained exchange.Quantity) func(w *wallet, s *SymbolState) {
		return func(w *wallet, s *SymbolState) {
			held(w, s)
			w.reads(free, 1_020-free)
			w.refuses(placement.StopLoss, stopOf(1))
			s.frozenUnexplained = unexplained
		}
	}
	filled := func(agoMS int64) func(w *wallet, s *SymbolState) {
		return func(w *wallet, s *SymbolState) {
			o := w.buysUnder(7, 1)
			w.apply(record.Record{AtMS: w.now - agoMS, ClientOrderID: o.ClientOrderID, Body: record.Ended{OrderID: 7, State: placement.Filled, Filled: 1}})
		}
	}
	and := func(all ...func(w *wallet, s *SymbolState)) func(w *wallet, s *SymbolState) {
		return func(w *wallet, s *SymbolState) {
			for _, one := range all {
				one(w, s)
			}
		}
	}
	seen := func(w *wallet, o exchange.Order) {
		w.apply(record.Record{AtMS: w.now, ClientOrderID: o.ClientOrderID, Body: record.Fill{OrderID: o.ID}})
	}
	for _, c := range []struct {
		name string
		free exchange.Quantity
		with func(w *wallet, s *SymbolState)
		want exchange.Quantity
	}{
		{"all is free", 10, nil, 10},
		{"some is free", 4, held, 4},
		{"some, in a read that may be older than a fill", 4, young, 10},
		{"some, in a read that misses what fills explain", 4, nil, 10},
		{"some, L after the last fill", 4, and(held, filled(1_000)), 10},
		{"some, longer after it", 4, and(held, filled(1_001)), 4},
		{"it misses some, and another botd may have sold it", 1_004, func(_ *wallet, s *SymbolState) { s.unknownEnded = elders + "1" }, 10},
		{"it lacks a person's units too", 4, func(_ *wallet, s *SymbolState) { s.unknownEnded = elders + "1" }, 10},
		{"it misses all, and another botd may have sold it", 4, func(w *wallet, s *SymbolState) {
			w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Baseline{}})
			s.unknownEnded = elders + "1"
		}, 4},
		{"what is free is too little, and no order sells the rest", 1, freezes(1, 12), 10},
		{"it is enough for an order", 4, freezes(4, 9), 4},
		{"others' orders sell the rest", 1, freezes(1, 0), 1},
		{"a person must look", 4, and(young, func(w *wallet, _ *SymbolState) {
			w.apply(record.Record{Symbol: coin, Body: record.Quarantined{Reason: "a test"}})
		}), 4},
		{"the exchange refused a stop of more", 4, and(young, func(_ *wallet, s *SymbolState) { s.spot.overdrawn = true }), 4},
		{"it did, and what is free is too little for an order", 1, and(young, func(_ *wallet, s *SymbolState) { s.spot.overdrawn = true }), 10},
		{"only fees are missing", 9, young, 9},
		{"more than fees is missing", 8, young, 10},
		{"an uncertain exit may have sold it", 10, and(young, func(w *wallet, _ *SymbolState) { w.places(placement.Exit, 0, saleOf(6)) }), 4},
		{"an exit that was not shown yet may have", 10, and(young, func(w *wallet, _ *SymbolState) { w.places(placement.Exit, 9, saleOf(6)) }), 4},
		{"one that is shown holds it", 4, and(young, func(w *wallet, _ *SymbolState) { seen(w, w.places(placement.Exit, 9, saleOf(6))) }), 10},
		{"a purchase has sold nothing", 4, and(young, func(w *wallet, _ *SymbolState) { w.buysUnder(9, 6) }), 10},
		{"nor has a sale of another symbol", 4, and(young, func(w *wallet, _ *SymbolState) { w.sendsElsewhere(exchange.Sell) }), 10},
		{"nor has one that may be repeated", 4, and(young, func(w *wallet, _ *SymbolState) {
			w.places(placement.StopLoss, 0, stopOf(6))
			w.now += 2_000
		}), 10},
	} {
		w := explains(t, 10, 0)
		w.now += 100_000
		w.reads(c.free, 0)
		symbol := w.tracker.Symbol(coin)
		if c.with != nil {
			c.with(w, symbol)
		}
		if have := w.deriving(nil).spotStops().stoppable(10); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
}

func passedUnexplained(t testing.TB) {
	d := newDesk(t)
	d.shows(d.tracker.Symbol(bitcoin), 20)
	d.last("49000")
	v := d.deriving(func(w *Desired) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: 49_500e8}}
	})
	v.ownPosition = 0
	if v.positionProtection().protectUnexplained(); len(v.intents) != 1 {
		t.Errorf("want a stop, have %+v", v.intents)
	}
}

// The stop has the configured distance from the entry price, or from the current price.
func TestStopOnUnexplainedPosition(t *testing.T) {
	t.Parallel()
	share := strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}}
	at := func(price exchange.Price) strategy.Protection {
		return strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: price}}
	}
	unset := share
	unset.Set = false
	for _, c := range []struct {
		name       string
		protection strategy.Protection
		position   exchange.Quantity
		last       string
		with       func(d *desk)
		want       string
	}{
		{"from its entry", share, 20, "50000", nil, "49000"},
		{"from its entry, far below the price of now", share, 20, "55000", nil, "49000"},
		{"at no price", strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne}}, 20, "50000", nil, ""},
		{"from the price of now, since that was passed", share, 20, "48000", nil, "47000"},
		{"at a price", at(49_500e8), 20, "50000", nil, "49500"},
		{"at a price that was passed: as far from the price of now", at(49_500e8), 20, "49000", nil, "48500"},
		{"of a short one", at(49_500e8), -20, "50500", nil, "51000"},
		{"at the price of its entry: a tick from the price of now", at(50_000e8), 20, "49000", nil, "48999.9"},
		{"none is set", unset, 20, "50000", nil, ""},
		{"none is asked for", strategy.Protection{Set: true}, 20, "50000", nil, ""},
		{"one stands", share, 20, "50000", func(d *desk) { d.whole(placement.StopLoss, 12, exchange.Sell, "48000") }, ""},
		{"an uncertain one may be repeated", share, 20, "50000", func(d *desk) {
			d.uncertain(d.whole(placement.StopLoss, 12, exchange.Sell, "48000"))
			d.now += 2_000
		}, "49000"},
		{"others hold part of it", share, 20, "50000", func(d *desk) {
			d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: 5}})
		}, ""},
	} {
		d := newDesk(t)
		if c.with != nil {
			c.with(d)
		}
		symbol := d.tracker.Symbol(bitcoin)
		d.shows(symbol, c.position)
		symbol.last = d.price(c.last)
		v := d.deriving(func(w *Desired) { w.Protection = c.protection })
		v.ownPosition = 0
		v.positionProtection().protectUnexplained()
		want := ""
		if c.want != "" {
			side := "sell"
			if c.position < 0 {
				side = "buy"
			}
			want = "stop_loss " + side + " stop_market stop " + c.want + " whole: protects an unexplained position"
		}
		if have := summary(v.intents); have != want || v.ownPosition != 0 {
			t.Errorf("%s: want %q, have %q, held %d", c.name, want, have, v.ownPosition)
		}
	}
}
