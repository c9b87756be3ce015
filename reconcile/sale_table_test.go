package reconcile

import (
	"fmt"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Enough stops are canceled to free the needed quantity: first those whose cancel is in flight, then those that no list shows, then the
// smallest that is large enough, otherwise the largest.
func TestStopsCanceledToFreeQuantity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		stops  []exchange.Quantity
		needed exchange.Quantity
		with   func(w *wallet, ids []string)
		want   string // quantities of the canceled stops
	}{
		{"the one", []exchange.Quantity{10}, 4, nil, "[10]"},
		{"the smallest that holds all of it", []exchange.Quantity{4, 10, 6}, 5, nil, "[6]"},
		{"one that holds just that", []exchange.Quantity{4, 10, 6}, 4, nil, "[4]"},
		{"the largest, and the smallest that holds the rest", []exchange.Quantity{4, 10, 6}, 12, nil, "[10 4]"},
		{"all", []exchange.Quantity{4, 10, 6}, 30, nil, "[10 6 4]"},
		{"none", []exchange.Quantity{4, 10, 6}, 0, nil, "[]"},
		{"one whose cancel is under way goes first", []exchange.Quantity{4, 10, 6}, 5, func(w *wallet, ids []string) { w.tracker.NoteCancel(ids[0], w.now) },
			"[4 6]"},
		{"the last's too", []exchange.Quantity{10, 6, 4}, 5, func(w *wallet, ids []string) { w.tracker.NoteCancel(ids[2], w.now) }, "[4 6]"},
		{"one that no list shows goes before the others", []exchange.Quantity{4, 10, 6}, 5, func(w *wallet, _ []string) {
			w.tracker.listed[exchange.Spot] = openList{orders: []exchange.Order{{ID: 20}, {ID: 22}}, beganMS: w.now + 1}
		}, "[10]"},
		{"one that may be repeated holds nothing", []exchange.Quantity{4, 10, 6}, 5, func(w *wallet, ids []string) { w.tracker.release(ids[2], w.now-400) },
			"[10]"},
	} {
		w := explains(t, 20, 0)
		var ids []string
		for i, quantity := range c.stops {
			ids = append(ids, w.places(placement.StopLoss, int64(20+i), stopOf(quantity)).ClientOrderID)
		}
		if c.with != nil {
			c.with(w, ids)
		}
		taken := []exchange.Quantity{}
		for _, p := range w.deriving(nil).spotStops().cancelStops(c.needed, "a test") {
			taken = append(taken, p.Remaining())
		}
		if have := fmt.Sprint(taken); have != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
		}
	}
}

// The second sale waits: the exchange would refuse neither.
func TestPartialSaleWaitsForUncertainSale(t *testing.T) {
	t.Parallel()
	lost := func(w *wallet) { w.places(placement.Exit, 0, saleOf(6)) }
	for _, c := range []struct {
		name        string
		quantity    exchange.Quantity // of ten
		baseBalance exchange.Quantity
		sends       func(w *wallet)
		with        func(w *wallet)
		want        bool
	}{
		{"both fit", 4, 10, lost, nil, true},
		{"they do not", 4, 9, lost, nil, false},
		{"all of it, which one of them gets", 10, 100, lost, nil, false},
		{"the first was acknowledged", 4, 10, func(w *wallet) { w.places(placement.Exit, 9, saleOf(6)) }, nil, false},
		{"the exchange has the first", 4, 10, func(w *wallet) {
			o := w.places(placement.Exit, 9, saleOf(6))
			w.apply(record.Record{ClientOrderID: o.ClientOrderID, Body: record.Uncertain{Reason: "a test"}})
		}, nil, false},
		{"an uncertain purchase", 4, 10, func(w *wallet) {
			w.places(placement.Entry, 0, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 6, Price: 2_500e8})
		}, nil, false},
		{"the wallet was not read", 4, 10, lost, func(w *wallet) { w.tracker.walletRead = false }, false},
		{"none is lost", 4, 10, func(*wallet) {}, nil, false},
	} {
		w := explains(t, 10, 0)
		c.sends(w)
		w.reads(c.baseBalance, 0)
		if c.with != nil {
			c.with(w)
		}
		if have := w.deriving(nil).saleEvidence().fitsWithUncertain(c.quantity); have != c.want {
			t.Errorf("%s: want it to wait %t, have %t", c.name, c.want, have)
		}
	}
	d := holds(t, 20)
	d.uncertain(d.places(placement.Exit, closes))
	d.tracker.walletRead, d.tracker.balances = true, []exchange.Balance{{Asset: "BTC", Free: exchange.AmountOf(1)}}
	if d.deriving(nil).saleEvidence().fitsWithUncertain(4) {
		t.Error("want no such wait on futures")
	}
}

// Of ten, the part that no stop and no exit covers is sold. A stop whose end is uncertain may have been executed.
func TestUncoveredPartIsSoldPastStopPrice(t *testing.T) {
	t.Parallel()
	shown := func(w *wallet, o exchange.Order) {
		w.apply(record.Record{ClientOrderID: o.ClientOrderID, Body: record.Fill{OrderID: o.ID}})
	}
	lost := func(w *wallet) { w.places(placement.StopLoss, 0, stopOf(4)); w.now += 2_000 }
	ended := func(w *wallet) { // no list shows it, and the wallet freezes nothing for it
		o := w.places(placement.StopLoss, 9, stopOf(4))
		shown(w, o)
		w.now += 2_000
		w.tracker.noteUnfrozen(o.ClientOrderID, true)
	}
	deposited := func(w *wallet) {
		w.apply(record.Record{Symbol: coin, Body: record.Baseline{Quantity: 1_000, Unattributed: 8}})
	}
	for _, c := range []struct {
		name        string
		baseline    exchange.Quantity
		baseBalance exchange.Quantity
		sends       func(w *wallet)
		with        func(w *wallet)
		desired     func(*Desired)
		want        exchange.Quantity
	}{
		{"all, where nothing covers it", 1_000, 1_010, func(*wallet) {}, nil, nil, 10},
		{"the part without a stop", 1_000, 1_010, func(w *wallet) { shown(w, w.places(placement.StopLoss, 9, stopOf(4))) }, nil, nil, 6},
		{"the part without an exit", 1_000, 1_010, func(w *wallet) { shown(w, w.places(placement.Exit, 9, saleOf(4))) }, nil, nil, 6},
		{"all beside an entry", 1_000, 1_010, func(w *wallet) {
			shown(w, w.places(placement.Entry, 9, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 4, Price: 2_500e8}))
		}, nil, nil, 10},
		{"all, where a lost stop and it cannot both be executed", 0, 10, lost, nil, nil, 10},
		{"the part without a lost stop, where both could", 1_000, 1_010, lost, nil, nil, 6},
		{"the part without a lost stop, where the market cannot be read", 0, 10, lost, nil,
			func(w *Desired) { w.Unread = true }, 6},
		{"the part without a stop that only the wallet shows to have ended", 1_000, 1_010, ended, nil, nil, 6},
		{"what the wallet shows, where that has sold some", 1_000, 1_007, ended, nil, nil, 7},
		{"what it leaves, where the open list shows it", 1_000, 1_007, ended, func(w *wallet) {
			w.tracker.listed[exchange.Spot] = openList{orders: []exchange.Order{{ID: 9}}, beganMS: w.now}
		}, nil, 6},
		{"what it shows beyond a deposit, where that has sold some", 1_000, 1_015, func(w *wallet) { deposited(w); ended(w) }, nil, nil, 7},
		{"nothing, where all is covered", 1_000, 1_010, func(w *wallet) { shown(w, w.places(placement.StopLoss, 9, stopOf(10))) }, nil, nil, 0},
	} {
		w := explains(t, 10, 0)
		w.apply(record.Record{Symbol: coin, Body: record.Baseline{Quantity: c.baseline}})
		c.sends(w)
		w.reads(c.baseBalance, 0)
		if c.with != nil {
			c.with(w)
		}
		w.tracker.Symbol(coin).spot.baseBalance = c.baseBalance
		d := w.deriving(c.desired)
		d.spotStops().exitPart()
		have := exchange.Quantity(0)
		for i := range d.intents {
			if have += d.intents[i].Order.Quantity; d.intents[i].Purpose != placement.StopLoss {
				t.Errorf("%s: want it in the name of the stop, have %s", c.name, d.intents[i].Purpose)
			}
		}
		if have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
}

func theirs(orders ...peerOrder) func(*wallet, *SymbolState) {
	return func(_ *wallet, s *SymbolState) { s.spot.peer.orders = orders }
}

// Own stops are canceled up to the quantity that orders unknown to the journal have sold, if a wallet proves it.
func TestAnotherBotdsSalesAreNotRepeated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		baseBalance exchange.Quantity
		sold        exchange.Quantity
		with        func(w *wallet, s *SymbolState)
		desired     func(*Desired)
		want        string // cancels of the two live stops, one of six and one of four
	}{
		{"four were sold", 1_006, 4, nil, nil, "cancel 21: "},
		{"four are missing, of which one is known to be sold", 1_006, 1, nil, nil, "cancel 21: "},
		{"five were sold", 1_005, 5, nil, nil, "cancel 20: "},
		{"all were sold", 1_000, 10, nil, nil, "cancel 20: ; cancel 21: "},
		{"none was", 1_006, 0, nil, nil, ""},
		{"the wallet shows all", 1_010, 4, nil, nil, ""},
		{"the wallet may be old", 1_006, 4, func(_ *wallet, s *SymbolState) { s.spot.walletInconclusive = true }, nil, ""},
		{"the wallet was not read", 1_006, 4, func(w *wallet, _ *SymbolState) { w.tracker.walletRead = false }, nil, ""},
		{"the market was not read", 1_006, 4, nil, func(w *Desired) { w.Unread = true }, ""},
		{"they had bought one of it", 1_006, 5, theirs(peerOrder{50, 1, 700}, peerOrder{51, -5, 700}), nil, "cancel 21: "},
		{"a list has shown that 1.5 s ago", 1_006, 4, func(w *wallet, s *SymbolState) {
			s.spot.peer.orders = []peerOrder{{51, -4, w.now - peerStopMS}}
		}, nil, "cancel 21: "},
		{"one is canceled already", 1_006, 4, func(w *wallet, _ *SymbolState) { w.tracker.release(w.tracker.LiveAt(1).ClientOrderID(), w.now) }, nil, ""},
	} {
		if have := takenOff(t, c.baseBalance, c.sold, c.with, c.desired); have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
	keepsStopsThatSoldNothing(t)
	waitsForWhatTheyBought(t)
}

// takenOff returns which of two stops, of six and four, are canceled.
func takenOff(t testing.TB, baseBalance, sold exchange.Quantity, with func(*wallet, *SymbolState), desired func(*Desired)) (have string) {
	w, symbol := standing(t)
	w.places(placement.StopLoss, 20, stopOf(6))
	w.places(placement.StopLoss, 21, stopOf(4))
	w.reads(baseBalance, 0)
	symbol.spot.baseBalance, symbol.spot.soldUnknown = baseBalance, sold
	if with != nil {
		with(w, symbol)
	}
	d := w.deriving(desired)
	d.jointProtection().cancelSoldStops()
	for i := range d.intents {
		if i > 0 {
			have += "; "
		}
		have += fmt.Sprintf("cancel %d: ", d.intents[i].OrderID)
	}
	return have
}

// The other botd had bought what it sold, and one wallet is wrong.
func keepsStopsThatSoldNothing(t testing.TB) {
	if have := takenOff(t, 1_006, 4, theirs(peerOrder{50, 4, 700}, peerOrder{51, -4, 700}), nil); have != "" {
		t.Errorf("want both stops to stand, have %q", have)
	}
}

// A list that has just shown a sale of another botd may lack the purchase of the same quantity.
func waitsForWhatTheyBought(t testing.TB) {
	just := func(w *wallet, s *SymbolState) { s.spot.peer.orders = []peerOrder{{51, -4, w.now - peerStopMS + 1}} }
	if have := takenOff(t, 1_006, 4, just, nil); have != "" {
		t.Errorf("want both stops to stand, have %q", have)
	}
}

// The decision ends the wallet's shortfall, what is inferred of that quantity, and the other botd's orders. A reported order is not
// reported again.
func TestManualDecisionClearsFindings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		body     record.Body
		id       string
		decides  bool // whether it decides about the other botd's orders
		reported bool // whether the order is no longer reported
	}{
		{"it is adopted", record.Adopted{Quantity: 3}, elders + "1", true, true},
		{"it is adopted, for another order", record.Adopted{Quantity: 3}, elders + "2", true, false},
		{"it is adopted, for none", record.Adopted{Quantity: 3}, "", true, false},
		{"it is left to others", record.Ignored{}, elders + "1", false, true},
		{"a halt was declared for it", record.Halt{}, elders + "1", false, true},
		{"the symbol was quarantined for it", record.Quarantined{Reason: "a test"}, elders + "1", false, true},
		{"a baseline", record.Baseline{Quantity: 1_000}, elders + "1", false, false},
	} {
		w, symbol := standing(t, peerOrder{50, 5, 700})
		symbol.walletShortfall, symbol.spot.unlisted.inferred = -4, 5
		w.apply(record.Record{AtMS: w.now, Symbol: coin, ClientOrderID: c.id, Body: c.body})
		decided := symbol.walletShortfall == 0 && symbol.spot.unlisted.inferred == 2 && len(symbol.spot.peer.orders) == 0
		left := symbol.walletShortfall == -4 && symbol.spot.unlisted.inferred == 5 && len(symbol.spot.peer.orders) == 1
		if c.decides && !decided || !c.decides && !left {
			t.Errorf("%s: want it decided %t, have short %d, %d inferred, %d orders", c.name, c.decides, symbol.walletShortfall, symbol.spot.unlisted.inferred,
				len(symbol.spot.peer.orders))
		}
		if reported := symbol.unknownEnded == ""; reported != c.reported {
			t.Errorf("%s: want it reported no more %t, have %q", c.name, c.reported, symbol.unknownEnded)
		}
	}
	d := holds(t, 20)
	symbol := d.tracker.Symbol(bitcoin)
	symbol.position, symbol.onlyOpeningsPending = 20, true
	d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: 5}})
	if symbol.position != 15 || symbol.AtVenue() != 20 || symbol.onlyOpeningsPending {
		t.Errorf("want 15 of the position of 20 left, and nothing opened before a read, have %d of %d", symbol.position, symbol.AtVenue())
	}
}

// A stop of all ten has ended in no list, and the wallet shows no more than a deposit.
func TestDepositIsNoRestOfAnEndedStop(t *testing.T) {
	t.Parallel()
	depositWithEndedStop(t)
}

func depositWithEndedStop(t testing.TB) {
	t.Helper()
	w := explains(t, 10, 0)
	w.apply(record.Record{Symbol: coin, Body: record.Baseline{Quantity: 1_000, Unattributed: 8}})
	o := w.places(placement.StopLoss, 9, stopOf(10))
	w.apply(record.Record{ClientOrderID: o.ClientOrderID, Body: record.Fill{OrderID: o.ID}})
	w.now += 2_000
	w.tracker.noteUnfrozen(o.ClientOrderID, true)
	w.reads(1_008, 0)
	d := w.deriving(nil)
	d.spotStops().exitPart()
	if len(d.intents) != 0 {
		t.Errorf("want nothing of the deposit sold, have %+v", d.intents)
	}
}
