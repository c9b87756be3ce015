package reconcile

import (
	"fmt"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// explains returns a wallet with a quantity of botd's, less fees, next to a thousand that are not botd's. Two units of the asset are worth
// the smallest order.
func explains(t testing.TB, known, fees exchange.Quantity) *wallet {
	t.Helper()
	w := newWallet(t)
	w.tracker.spotFee = 0
	for _, body := range []record.Body{record.Baseline{Quantity: 1_000}, record.Adopted{Quantity: known}, record.Fees{Quantity: fees, Expected: true}} {
		w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: body})
	}
	w.tracker.Symbol(coin).last = 2_500e8
	w.now += 60_000
	return w
}

// reads returns the survey of a current snapshot, before anything is concluded from it.
func (w *wallet) reads(free, frozen exchange.Quantity, orders ...exchange.Order) *survey {
	rules := w.tracker.Symbol(coin).rules
	s := w.tracker.survey(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf(orders),
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "ETH", Free: exchange.AmountOf(7)},
			{Asset: "BTC", Free: rules.QuantityAmount(free), Frozen: rules.QuantityAmount(frozen)}})})
	w.tracker.readEndedMS, w.tracker.readBeganMS = w.now, w.now
	w.tracker.observedAccount.note(s.fetched)
	return s
}

// restoresWith restores the tracker from its checkpoint, with other times.
func (w *wallet) restoresWith(bounds placement.Bounds) {
	w.t.Helper()
	saved, rules := w.tracker.Checkpoint("an account"), w.tracker.Symbol(coin).rules
	restored, err := Restore(bounds, &saved)
	if err != nil {
		w.t.Fatal(err)
	}
	w.tracker = restored
	w.tracker.Symbol(coin).rules = rules
}

// buysUnder sends a purchase. It is acknowledged under that id, or uncertain if the id is 0.
func (w *wallet) buysUnder(orderID int64, quantity exchange.Quantity) exchange.Order {
	return w.places(placement.Order, orderID, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: quantity, Price: 2_500e8})
}

// sendsElsewhere places an order on another symbol of the same asset.
func (w *wallet) sendsElsewhere(side exchange.Side) {
	id := w.tracker.NextClientOrderID("t")
	order := exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-EUR", Side: side, Type: exchange.Limit, Quantity: 10, ClientOrderID: id}
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: order.Key(), ClientOrderID: id,
		Body: record.Sending{Order: order, Purpose: placement.Order, DeadlineMS: w.now + 5_000}})
	w.apply(record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Acknowledged{OrderID: 90}})
}

// The tracker notes a difference worth an order, and the number of rounds that have asked about the same figure.
func TestWalletDifference(t *testing.T) {
	t.Parallel()
	type noted struct {
		differs exchange.Quantity
		asked   int
	}
	refused := func(agoMS int64) func(w *wallet) {
		return func(w *wallet) { w.tracker.Symbol(coin).refusedMS = w.now - agoMS }
	}
	const settled = 5_000 + 1_000 + 1_000 // W + D + L
	for _, c := range []struct {
		name         string
		known, fees  exchange.Quantity
		baseBalance  exchange.Quantity
		with         func(w *wallet)
		before, want noted
	}{
		{"it agrees", 10, 0, 1_010, nil, noted{3, 4}, noted{}},
		{"by less than an order", 10, 0, 1_011, nil, noted{3, 4}, noted{}},
		{"by the smallest order", 10, 0, 1_012, nil, noted{}, noted{2, 0}},
		{"by one that is worth an order", 10, 0, 1_011, func(w *wallet) { w.tracker.Symbol(coin).last = 5_000e8 }, noted{}, noted{1, 0}},
		{"by less than nothing", 10, 0, 1_008, nil, noted{}, noted{-2, 0}},
		{"by the same once more", 10, 0, 1_012, nil, noted{2, 4}, noted{2, 5}},
		{"by another figure", 10, 0, 1_013, nil, noted{2, 4}, noted{3, 0}},
		{"fees explain it", 10, 2, 1_008, nil, noted{2, 4}, noted{}},
		{"by more than fees explain", 10, 2, 1_010, nil, noted{}, noted{2, 0}},
		{"no price is known", 10, 0, 1_012, func(w *wallet) { w.tracker.Symbol(coin).last = 0 }, noted{2, 4}, noted{}},
		{"at the smallest price", 10, 0, 1_012, func(w *wallet) { w.tracker.Symbol(coin).last = 1 }, noted{2, 4}, noted{}},
		{"nothing is held", 0, 0, 1_012, nil, noted{2, 4}, noted{}},
		{"nothing is held, and an order is live", 0, 0, 1_012, func(w *wallet) { w.buysUnder(8, 12) }, noted{}, noted{12, 0}},
		{"nothing is held, and one of another symbol is", 0, 0, 1_012, func(w *wallet) { w.sendsElsewhere(exchange.Buy) }, noted{2, 4}, noted{}},
		{"nothing is held, and a purchase was just refused", 0, 0, 1_012, refused(settled - 1), noted{}, noted{12, 0}},
		{"nothing is held, and one was refused before", 0, 0, 1_012, refused(settled), noted{2, 4}, noted{}},
		{"one is held", 1, 0, 1_012, nil, noted{}, noted{11, 0}},
	} {
		w := explains(t, c.known, c.fees)
		if c.with != nil {
			c.with(w)
		}
		symbol := w.tracker.Symbol(coin)
		symbol.spot.difference, symbol.spot.historyReads = c.before.differs, c.before.asked
		w.reads(c.baseBalance, 0).walletComparison().noteDifference(symbol)
		if have := (noted{symbol.spot.difference, symbol.spot.historyReads}); have != c.want {
			t.Errorf("%s: want %+v, have %+v", c.name, c.want, have)
		}
		if symbol.rules = nil; w.tracker.walletDiffers(symbol) != 0 {
			t.Errorf("%s: want none where the rules are not known", c.name)
		}
	}
}

// The wallet differs, and the order history has not been queried about that often enough.
func TestWalletAheadOfLists(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		baseBalance exchange.Quantity
		differs     exchange.Quantity // at the last query
		asked       int
		want        bool
	}{
		{"it agrees", 1_010, 0, 0, false},
		{"it agrees, and did not before", 1_010, 12, 0, false},
		{"it shows more", 1_022, 0, 0, true},
		{"it shows less", 1_004, 0, 0, true},
		{"nine rounds have asked about it", 1_022, 12, 9, true},
		{"ten rounds have asked about it", 1_022, 12, 10, false},
		{"ten rounds have asked about another figure", 1_022, 11, 10, true},
	} {
		w := explains(t, 10, 0)
		w.reads(c.baseBalance, 0)
		symbol := w.tracker.Symbol(coin)
		symbol.spot.difference, symbol.spot.historyReads = c.differs, c.asked
		if have := w.tracker.WalletAhead(symbol); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
	d := holds(t, 20)
	d.tracker.walletMS, d.tracker.balances = 1, []exchange.Balance{{Asset: "BTC", Free: exchange.AmountOf(7)}}
	if d.tracker.WalletAhead(d.tracker.Symbol(bitcoin)) {
		t.Error("want no wallet ahead on futures, whose account is one")
	}
}

// Where a unit is worth an order, limits do not wait for the unit that rounded fees leave in the wallet.
func TestRestOfRoundedFeesDelaysNoLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name              string
		fees, baseBalance exchange.Quantity
		want              bool
	}{
		{"fees leave a unit", 2, 1_009, false},
		{"a unit more has gone", 2, 1_007, false},
		{"a unit without fees", 0, 1_011, true},
		{"two units with fees", 2, 1_010, true},
	} {
		aheadByRest(t, c.name, c.fees, c.baseBalance, c.want)
	}
}

func aheadByRest(t testing.TB, name string, fees, baseBalance exchange.Quantity, want bool) {
	w := explains(t, 10, fees)
	w.reads(baseBalance, 0)
	symbol := w.tracker.Symbol(coin)
	if symbol.last = 5_000e8; w.tracker.WalletAhead(symbol) != want {
		t.Errorf("%s: want limits to wait %t", name, want)
	}
}

// A quantity below the exchange's minimum is not worth an order, and neither is zero where there is no minimum.
func TestQuantityBelowMinimum(t *testing.T) {
	t.Parallel()
	symbol := explains(t, 10, 0).tracker.Symbol(coin)
	for quantity, want := range map[exchange.Quantity]bool{-2: true, 0: true, 1: true, 2: false, 3: false} {
		if have := symbol.tooSmallToTrade(quantity); have != want {
			t.Errorf("%d: want it too small to trade %t, have %t", quantity, want, have)
		}
	}
	symbol.rules.MinNotional = exchange.Amount{}
	for quantity, want := range map[exchange.Quantity]bool{-2: true, 0: true, 1: false} {
		if have := symbol.tooSmallToTrade(quantity); have != want {
			t.Errorf("%d, where the exchange takes any: want it too small to trade %t, have %t", quantity, want, have)
		}
	}
}

// The history is read from a minute before the first sale that could be the reason.
func TestOrderHistoryIsReadForWalletDifference(t *testing.T) {
	t.Parallel()
	const adoptedMS, agreedMS = 1_000_000, 1_050_000
	for _, c := range []struct {
		name string
		with func(symbol *SymbolState)
		want int64 // start of the history; -1 if never
	}{
		{"it agrees", func(*SymbolState) {}, -1},
		{"it misses some", func(s *SymbolState) { s.missedFor.sinceMS = 1 }, agreedMS - 1_000 - 1_000 - 60_000},
		{"it misses some, and never agreed", func(s *SymbolState) { s.missedFor.sinceMS, s.spot.agreedMS = 1, 0 }, adoptedMS - 60_000},
		{"it has agreed at the first moment", func(s *SymbolState) { s.missedFor.sinceMS, s.spot.agreedMS = 1, 1 }, 0},
		{"it holds more", func(s *SymbolState) { s.spot.extra.shownFor.sinceMS = 1 }, agreedMS - 62_000},
		{"it differs", func(s *SymbolState) { s.spot.difference = -1 }, agreedMS - 62_000},
		{"it was asked nine times", func(s *SymbolState) { s.spot.difference, s.spot.historyReads = 1, maxHistoryReads-1 }, agreedMS - 62_000},
		{"it was asked ten times", func(s *SymbolState) { s.spot.difference, s.spot.historyReads = 1, maxHistoryReads }, -1},
		{"it was asked ten times, and misses some", func(s *SymbolState) {
			s.spot.difference, s.spot.historyReads, s.missedFor.sinceMS = 1, maxHistoryReads, 1
		},
			agreedMS - 62_000},
	} {
		w := explains(t, 10, 0)
		symbol := w.tracker.Symbol(coin)
		symbol.spot.agreedMS = agreedMS
		c.with(symbol)
		if since, ask := w.tracker.NeedsOrderHistory(symbol); ask != (c.want >= 0) || since != max(0, c.want) {
			t.Errorf("%s: want since %d, have %d, %t", c.name, c.want, since, ask)
		}
	}
	d := holds(t, 20)
	d.tracker.Symbol(bitcoin).missedFor.sinceMS = 1
	if _, ask := d.tracker.NeedsOrderHistory(d.tracker.Symbol(bitcoin)); ask {
		t.Error("want no order history of futures, which have none")
	}
}

// The wallet waits while the excess is worth an order and has not lasted longer than L and the gap of two snapshots.
func TestWalletExcessWaitsForHistory(t *testing.T) {
	t.Parallel()
	lasted := func(forMS int64) persistence { return persistence{sinceMS: 1_000, lastMS: 1_060_000, forMS: forMS} }
	for _, c := range []struct {
		name       string
		stalenessL int64
		last       exchange.Price
		extra      persistence
		of         exchange.Quantity // the earlier excess
		more       exchange.Quantity
		wait       bool
		wantOf     exchange.Quantity
		lasts      bool
	}{
		{"nothing more", 1_000, 2_500e8, lasted(0), 2, 0, false, 0, false},
		{"less", 1_000, 2_500e8, lasted(0), 2, -5, false, 0, false},
		{"less than an order", 1_000, 2_500e8, lasted(0), 1, 1, false, 0, false},
		{"less than an order, where a unit is one", 1_000, 5_000e8, persistence{}, 0, 1, true, 1, true},
		{"an order", 1_000, 2_500e8, persistence{}, 0, 2, true, 2, true},
		{"no price is known", 1_000, 0, lasted(0), 2, 2, false, 0, false},
		{"reads are never old", 0, 2_500e8, lasted(0), 2, 2, false, 0, false},
		{"reads are hardly old", 1, 2_500e8, persistence{}, 0, 2, true, 2, true},
		{"it was asked, and is foreign", 1_000, 2_500e8, persistence{}, 2, 2, false, 2, false},
		{"it has lasted for the gap", 1_000, 2_500e8, lasted(stableGapMS), 2, 2, true, 2, true},
		{"it has lasted for longer", 1_000, 2_500e8, lasted(stableGapMS + 1), 2, 2, false, 2, false},
		{"it has lasted for L", 5_000, 2_500e8, lasted(5_000), 2, 2, true, 2, true},
		{"it has lasted for longer than L", 5_000, 2_500e8, lasted(5_001), 2, 2, false, 2, false},
		{"another figure lasts again", 1_000, 2_500e8, lasted(stableGapMS + 1), 3, 2, true, 2, true},
		{"another figure after one that is foreign", 1_000, 2_500e8, persistence{}, 3, 2, true, 2, true},
	} {
		tracker := NewTracker(placement.Bounds{WindowMS: 5_000, VisibilityMS: 1_000, StalenessMS: c.stalenessL})
		symbol := tracker.Track(coin)
		symbol.rules, symbol.last = newWallet(t).tracker.Track(coin).rules, c.last
		symbol.spot.extra.shownFor, symbol.spot.extra.quantity = c.extra, c.of
		s := tracker.survey(&Snapshot{BeganMS: 1_060_000, EndedMS: 1_060_000})
		wait := s.walletComparison().awaitsHistory(symbol, c.more)
		if lasts := symbol.spot.extra.shownFor.sinceMS != 0; wait != c.wait || symbol.spot.extra.quantity != c.wantOf || lasts != c.lasts {
			t.Errorf("%s: want wait %t, of %d, lasting %t, have %t, %d, %t", c.name, c.wait, c.wantOf, c.lasts, wait, symbol.spot.extra.quantity, lasts)
		}
		if forMS := symbol.spot.extra.shownFor.forMS; c.of != c.wantOf && forMS != 0 {
			t.Errorf("%s: want it to last again, have %d ms", c.name, forMS)
		}
	}
}

// The wallet moves to the placement's side, by more than fees and steps explain, in a read that is younger than the last fill.
func TestTheWalletMovesAsAPlacementWouldMoveIt(t *testing.T) {
	t.Parallel()
	buys := exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 10}
	another := func(w *wallet, _ *survey) { w.buysUnder(8, 5) }
	lasts := func(by exchange.Quantity, forMS int64) func(w *wallet, s *survey) {
		return func(w *wallet, s *survey) {
			another(w, s)
			w.tracker.Symbol(coin).walletChange, w.tracker.Symbol(coin).walletChangeFor = by, persistence{sinceMS: 1, lastMS: w.now, forMS: forMS}
		}
	}
	filled := func(agoMS int64) func(w *wallet, s *survey) {
		return func(w *wallet, s *survey) {
			w.tracker.Symbol(coin).sinceFill = persistence{}
			w.now -= agoMS
			order := w.buysUnder(7, 1)
			w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Body: record.Ended{State: placement.Filled, Filled: 1, OrderID: 7}})
			w.tracker.Symbol(coin).sinceFill = persistence{}
			w.now += agoMS
		}
	}
	bought := func(w *wallet, s *survey) { // a share of 0.5 % of 1,000 are five more that fees may have taken, and 1,000 more are explained
		filled(30_000)(w, s)
		order := w.buysUnder(6, 999)
		w.apply(record.Record{AtMS: w.now - 30_000, ClientOrderID: order.ClientOrderID, Body: record.Ended{State: placement.Filled, Filled: 999, OrderID: 6}})
		w.tracker.Symbol(coin).sinceFill = persistence{}
	}
	for _, c := range []struct {
		name              string
		order             exchange.NewOrder
		fees, baseBalance exchange.Quantity
		with              func(w *wallet, s *survey)
		moved, persistent bool
	}{
		{"as fills explain", buys, 0, 1_010, nil, false, false},
		{"within two steps", buys, 0, 1_012, nil, false, false},
		{"by three", buys, 0, 1_013, nil, true, true},
		{"by three less", buys, 0, 1_007, nil, false, false},
		{"by three less, for a sale", saleOf(10), 0, 1_007, nil, true, true},
		{"by two less, for a sale", saleOf(10), 0, 1_008, nil, false, false},
		{"by three, for a sale", saleOf(10), 0, 1_013, nil, false, false},
		{"fees have taken some", buys, 2, 1_011, nil, true, true},
		{"fees have taken some, within two steps", buys, 2, 1_010, nil, false, false},
		{"by what fees may take of a purchase", buys, 0, 2_017, bought, false, false},
		{"by more than fees may take", buys, 0, 2_018, bought, true, true},
		{"within two steps, which have grown", buys, 0, 1_016, func(w *wallet, _ *survey) { w.tracker.Symbol(coin).rules.QuantityTick = 4 }, false, false},
		{"by more than two steps, which have grown", buys, 0, 1_020, func(w *wallet, _ *survey) { w.tracker.Symbol(coin).rules.QuantityTick = 4 }, true, true},
		{"it moved before, and does not any more", buys, 0, 1_010, lasts(3, 500), false, false},
		{"another order is live", buys, 0, 1_013, another, true, false},
		{"another order is live on another symbol", buys, 0, 1_013, func(w *wallet, _ *survey) { w.sendsElsewhere(exchange.Buy) }, true, true},
		{"another is live, and it has lasted for L", buys, 0, 1_013, lasts(3, 1_000), true, false},
		{"another is live, and it has lasted for longer", buys, 0, 1_013, lasts(3, 1_001), true, true},
		{"another is live, and another figure has lasted", buys, 0, 1_013, lasts(4, 1_001), true, false},
		{"the read is as old as a fill may hide", buys, 0, 1_015, filled(1_000), true, true},
		{"the read may be older than a fill", buys, 0, 1_015, filled(999), false, false},
		{"the wallet was not read", buys, 0, 1_013, func(_ *wallet, s *survey) { s.fetched.Balances = exchange.Fetched[exchange.Balance]{} }, false, false},
		{"the wallet shows none of the asset", saleOf(10), 0, 1_013, func(_ *wallet, s *survey) {
			s.fetched.Balances = exchange.FetchedOf([]exchange.Balance{{Asset: "ETH", Free: exchange.AmountOf(7)}})
		}, true, true},
		{"the rules are not known", buys, 0, 1_013, func(w *wallet, _ *survey) { w.tracker.Symbol(coin).rules = nil }, false, false},
	} {
		w := explains(t, 10, c.fees)
		w.tracker.Symbol(coin).sinceFill = persistence{}
		row := w.places(placement.Order, 0, c.order)
		s := w.reads(c.baseBalance, 0)
		if c.with != nil {
			c.with(w, s)
		}
		symbol := w.tracker.Symbol(coin)
		moved, persistent := s.uncertainOrders().walletMoved(symbol, w.tracker.Placement(row.ClientOrderID))
		if moved != c.moved || persistent != c.persistent {
			t.Errorf("%s: want %t, lasting %t, have %t, %t", c.name, c.moved, c.persistent, moved, persistent)
		}
		if since := symbol.walletChangeFor.sinceMS; (since != 0) != c.moved {
			t.Errorf("%s: want it to last %t, have since %d", c.name, c.moved, since)
		}
	}
	w := explains(t, 10, 0) // next to another order the move must last for L, each figure separately
	row := w.places(placement.Order, 0, buys)
	w.buysUnder(8, 5)
	for i, want := range []bool{false, false, true} {
		if _, persistent := w.reads(1_013, 0).uncertainOrders().walletMoved(w.tracker.Symbol(coin),
			w.tracker.Placement(row.ClientOrderID)); persistent != want {
			t.Errorf("read %d: want it to have lasted %t", i, want)
		}
		w.now += 600
	}
	w = explains(t, 3, 0)
	w.apply(record.Record{Symbol: coin, Body: record.Baseline{}})
	w.tracker.Symbol(coin).sinceFill = persistence{}
	sold := w.places(placement.Order, 0, saleOf(3))
	empty := w.reads(0, 0)
	empty.fetched.Balances = exchange.FetchedOf[exchange.Balance](nil)
	if moved, _ := empty.uncertainOrders().walletMoved(w.tracker.Symbol(coin), w.tracker.Placement(sold.ClientOrderID)); !moved {
		t.Error("want the sale of all three to have moved it, where the wallet shows none")
	}
	d := holds(t, 0) // a wallet of the same name proves nothing about futures
	id := d.places(placement.Order, exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Quantity: 10})
	s := d.tracker.survey(&Snapshot{BeganMS: d.now + 60_000,
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.AmountOf(1)}})})
	if moved, persistent := s.uncertainOrders().walletMoved(d.tracker.Symbol(bitcoin), d.tracker.Placement(id)); moved || persistent {
		t.Error("want no wallet to move a position on futures")
	}
}

// The sale of ten is in no list, and less than half of it is frozen after what other sales hold is
// subtracted.
func TestWalletFreezesNothingForSale(t *testing.T) {
	t.Parallel()
	person := func(orderID int64, side exchange.Side, symbol string, filled exchange.Quantity) exchange.Order {
		return exchange.Order{ID: orderID, Market: exchange.Spot, Symbol: symbol, Side: side, Type: exchange.Limit, Quantity: 10, Filled: filled,
			Status: exchange.StatusOpen}
	}
	of := func(orders ...exchange.Order) func(w *wallet) []exchange.Order {
		return func(*wallet) []exchange.Order { return orders }
	}
	for _, c := range []struct {
		name    string
		orderID int64 // of the sale; 0 for an uncertain one
		frozen  exchange.Quantity
		afterMS int64 // how long after the sale was sent the read begins
		others  func(w *wallet) []exchange.Order
		want    bool
	}{
		{"none", 0, 0, 1_001, nil, true},
		{"none, of one that was acknowledged", 9, 0, 1_001, nil, true},
		{"less than half", 0, 4, 1_001, nil, true},
		{"half", 0, 5, 1_001, nil, false},
		{"all of it", 0, 10, 1_001, nil, false},
		{"none, in a read that may be older", 0, 0, 1_000, nil, false},
		{"another sale holds it", 0, 10, 1_001, of(person(50, exchange.Sell, "BTC-USDT", 0)), true},
		{"another sale holds what is left of it", 0, 10, 1_001, of(person(50, exchange.Sell, "BTC-USDT", 5)), false},
		{"a purchase holds none of it", 0, 10, 1_001, of(person(50, exchange.Buy, "BTC-USDT", 0)), false},
		{"a sale of another symbol holds none of it", 0, 10, 1_001, of(person(50, exchange.Sell, "ETH-USDT", 0)), false},
		{"a sale that has ended holds none of it", 0, 10, 1_001, func(w *wallet) []exchange.Order {
			order := w.places(placement.Exit, 50, saleOf(10))
			w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Body: record.Ended{State: placement.Canceled, OrderID: 50}})
			return []exchange.Order{order}
		}, false},
		{"one that was acknowledged and is not listed holds it before", 0, 10, 1_001,
			func(w *wallet) []exchange.Order { w.places(placement.Exit, 50, saleOf(10)); return nil }, true},
		{"not before one that was acknowledged too", 9, 10, 1_001,
			func(w *wallet) []exchange.Order { w.places(placement.Exit, 50, saleOf(10)); return nil }, false},
		{"not an uncertain one", 0, 10, 1_001, func(w *wallet) []exchange.Order { w.places(placement.Exit, 0, saleOf(10)); return nil }, false},
		{"a purchase that is not listed holds none of it", 0, 10, 1_001, func(w *wallet) []exchange.Order { w.buysUnder(50, 10); return nil }, false},
		{"nor does one of another symbol", 0, 10, 1_001, func(w *wallet) []exchange.Order { w.sendsElsewhere(exchange.Sell); return nil }, false},
		{"one that is listed holds it once", 0, 20, 1_001, func(w *wallet) []exchange.Order {
			return []exchange.Order{w.places(placement.Exit, 50, saleOf(10))}
		}, false},
	} {
		for _, before := range []bool{true, false} {
			w := explains(t, 10, 0)
			sale := w.places(placement.Exit, c.orderID, saleOf(10))
			var open []exchange.Order
			if c.others != nil {
				open = c.others(w)
			}
			w.now += c.afterMS
			if before {
				w.tracker.noteUnfrozen(sale.ClientOrderID, true)
			}
			have := w.reads(1_000, c.frozen, open...).unlistedOrders().noteUnfrozen(w.tracker.Placement(sale.ClientOrderID), w.tracker.Symbol(coin))
			if noted := w.tracker.known(sale.ClientOrderID).unfrozen; have != c.want || noted != c.want {
				t.Errorf("%s: want %t, have %t, noted %t", c.name, c.want, have, noted)
			}
		}
	}
	w := explains(t, 10, 0) // four seconds suffice, however old a read may be
	sale := w.places(placement.Exit, 0, saleOf(10))
	w.restoresWith(placement.Bounds{WindowMS: 5_000, VisibilityMS: 1_000, StalenessMS: 15_000})
	for _, afterMS := range []int64{4_000, 4_001} {
		w.now = w.tracker.Placement(sale.ClientOrderID).SentMS() + afterMS
		if have := w.reads(1_010, 0).unlistedOrders().noteUnfrozen(w.tracker.Placement(sale.ClientOrderID), w.tracker.Symbol(coin)); have != (afterMS > 4_000) {
			t.Errorf("after %d ms, L 15 s: want %t, have %t", afterMS, afterMS > 4_000, have)
		}
	}
}

// While the open list cannot be read, a sale that may have been accepted after the wallet was read is not in that wallet.
func TestSaleOfTheMomentOfAReadHoldsNothingInIt(t *testing.T) {
	t.Parallel()
	for _, laterMS := range []int64{0, 1} {
		w := explains(t, 10, 0)
		lost := w.places(placement.StopLoss, 0, stopOf(10))
		w.now += 1_001
		w.places(placement.Exit, 50, saleOf(10))
		w.now += laterMS
		s := w.reads(1_000, 10)
		s.fetched.SpotOrders = exchange.Fetched[exchange.Order]{}
		if have, want := s.unlistedOrders().noteUnfrozen(w.tracker.Placement(lost.ClientOrderID), w.tracker.Symbol(coin)), laterMS > 0; have != want {
			t.Errorf("read %d ms later: want nothing frozen for the stop %t, have %t", laterMS, want, have)
		}
	}
}

// What sales on another symbol of the asset freeze is not frozen for a sale on this one.
func TestSalesOnAnotherSymbolFreezeTheirOwnUnits(t *testing.T) {
	t.Parallel()
	frozenElsewhere(t)
}

func frozenElsewhere(t testing.TB) {
	t.Helper()
	for name, c := range map[string]struct {
		base     string // of the other symbol; none: its rules are unknown
		unlisted bool
		half     bool // the wallet freezes half of the stop's quantity
		want     bool
	}{
		"a listed one":                        {base: "BTC", want: true},
		"one that no list shows":              {base: "BTC", unlisted: true, want: true},
		"one of another asset":                {base: "ETH"},
		"one of another asset, besides half":  {base: "ETH", half: true},
		"one of which no rules are known":     {},
		"nor those of one that no list shows": {unlisted: true},
	} {
		w := explains(t, 10, 0)
		lost := w.places(placement.StopLoss, 0, stopOf(10))
		w.sendsElsewhere(exchange.Sell)
		other := exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-EUR"}
		if c.base != "" {
			rules := *w.tracker.Symbol(coin).rules
			rules.Name, rules.Base = other.Name, c.base
			w.tracker.Track(other).rules = &rules
		}
		var listed []exchange.Order
		if row := anothers("", 90, exchange.Sell, exchange.Limit, 10, 0, w.now); !c.unlisted {
			row.Symbol, row.ClientOrderID = other.Name, ""
			listed = append(listed, row)
		}
		w.now += 4_001
		frozen := exchange.Quantity(10)
		if c.half {
			frozen = 5
		}
		if have := w.reads(1_000, frozen, listed...).unlistedOrders().noteUnfrozen(w.tracker.Placement(lost.ClientOrderID),
			w.tracker.Symbol(coin)); have != c.want {
			t.Errorf("%s: want nothing frozen for the stop %t, have %t", name, c.want, have)
		}
	}
}

// After four seconds a wallet that freezes nothing for a stop shows that it has ended, unless a read has shown the stop, or the order history was read whole
// and shows no end of it: then list and wallet may be from before the stop for all of L.
func TestAStopWhoseEndTheHistoryDoesNotShowStandsForL(t *testing.T) {
	t.Parallel()
	endOfAStop(t)
}

func endOfAStop(t testing.TB) {
	t.Helper()
	final := func(status exchange.OrderStatus) func(s *Snapshot, row exchange.Order) {
		return func(s *Snapshot, row exchange.Order) {
			row.Status, s.HistoryWhole = status, true
			s.History = exchange.FetchedOf([]exchange.Order{row})
		}
	}
	for name, c := range map[string]struct {
		with  func(s *Snapshot, row exchange.Order)
		after int64 // seconds
		lost  bool  // the stop's answer
		seen  bool  // a read has shown the stop
	}{
		"no history was read":                                {func(*Snapshot, exchange.Order) {}, 4, false, false},
		"no history was read, and a list has shown the stop": {func(*Snapshot, exchange.Order) {}, 15, false, true},
		"it shows the stop canceled":                         {final(exchange.StatusCanceled), 4, false, false},
		"it shows the stop filled":                           {final(exchange.StatusFilled), 4, false, false},
		"it shows the stop in place":                         {final(exchange.StatusNew), 15, false, false},
		"it does not show the stop": {func(s *Snapshot, _ exchange.Order) {
			s.History, s.HistoryWhole = exchange.FetchedOf[exchange.Order](nil), true
		}, 15, false, false},
		"it shows a part of the orders": {func(s *Snapshot, _ exchange.Order) { s.History = exchange.FetchedOf[exchange.Order](nil) }, 4, false, false},
		"it does not show a stop whose id is not known": {func(s *Snapshot, _ exchange.Order) {
			s.History, s.HistoryWhole = exchange.FetchedOf[exchange.Order](nil), true
		}, 4, true, false},
	} {
		w := explains(t, 10, 0)
		orderID := int64(9)
		if c.lost {
			orderID = 0
		}
		stop := w.places(placement.StopLoss, orderID, stopOf(10))
		if c.seen {
			w.apply(record.Record{ClientOrderID: stop.ClientOrderID, Body: record.Fill{OrderID: orderID}})
		}
		w.restoresWith(placement.Bounds{WindowMS: 5_000, VisibilityMS: 1_000, StalenessMS: 15_000})
		sentMS := w.now
		for _, afterMS := range []int64{c.after * 1_000, c.after*1_000 + 1} {
			w.now = sentMS + afterMS
			s := w.reads(1_010, 0)
			c.with(s.fetched, stop)
			if have, want := s.unlistedOrders().noteUnfrozen(w.tracker.Placement(stop.ClientOrderID), w.tracker.Symbol(coin)),
				afterMS > c.after*1_000; have != want {
				t.Errorf("%s: after %d ms want it ended %t, have %t", name, afterMS, want, have)
			}
		}
	}
}

// A stop had ended, as a wallet showed that froze nothing for it. If a later one freezes the asset for it, beyond what every other sale holds, it stands.
func TestAWalletThatFreezesAgainEndsTheInferredEndOfAStop(t *testing.T) {
	t.Parallel()
	frozenAgain(t)
}

func frozenAgain(t testing.TB) {
	t.Helper()
	for name, c := range map[string]struct {
		frozen    exchange.Quantity
		replaced  bool // by another stop, which no list shows yet
		foreign   bool // a person's sale of the same quantity is open
		sameRead  bool
		elsewhere bool // botd's own sale on another symbol of the asset
		unknown   bool // a person's sale on a symbol that botd does not trade
		buys      bool // botd's own purchase rests
		bids      bool // a person's purchase rests
		ends      bool
	}{
		"nothing":                                  {frozen: 0},
		"less than it holds":                       {frozen: 9},
		"all of it":                                {frozen: 10, ends: true},
		"by the read that showed its end":          {frozen: 10, sameRead: true},
		"for another stop":                         {frozen: 10, replaced: true},
		"for a sale on another symbol":             {frozen: 10, elsewhere: true},
		"for a sale on an unknown symbol":          {frozen: 10, unknown: true},
		"for another stop and for this one":        {frozen: 20, replaced: true, ends: true},
		"for a person's sale":                      {frozen: 10, foreign: true},
		"for a person's sale and a part":           {frozen: 16, foreign: true},
		"for this one, beside own purchases":       {frozen: 10, buys: true, ends: true},
		"for this one, beside a person's purchase": {frozen: 10, bids: true, ends: true},
		"for a person's sale and for this one":     {frozen: 20, foreign: true, ends: true},
	} {
		w := explains(t, 10, 0)
		stop := w.places(placement.StopLoss, 9, stopOf(10))
		w.now += 1_001
		w.reads(1_010, 0).unlistedOrders().infer(w.tracker.Symbol(coin))
		if !w.tracker.known(stop.ClientOrderID).inferred {
			t.Fatal("want the end of the stop inferred")
		}
		if c.replaced {
			w.places(placement.StopLoss, 10, stopOf(10))
		}
		if c.elsewhere {
			w.sendsElsewhere(exchange.Sell)
		}
		var listed []exchange.Order
		if c.buys {
			listed = append(listed, w.buysUnder(76, 10))
		}
		if c.bids {
			listed = append(listed, anothers("by hand", 75, exchange.Buy, exchange.Limit, 10, 0, w.now))
		}
		if c.foreign {
			listed = append(listed, anothers("by hand", 77, exchange.Sell, exchange.Limit, 10, 0, w.now))
		}
		if c.unknown {
			row := anothers("by hand", 78, exchange.Sell, exchange.Limit, 10, 0, w.now)
			row.Symbol = "BTC-GBP"
			listed = append(listed, row)
		}
		if !c.sameRead {
			w.now += 1_000
		}
		w.reads(1_010-c.frozen, c.frozen, listed...).unlistedOrders().infer(w.tracker.Symbol(coin))
		if known := w.tracker.known(stop.ClientOrderID); known.inferred == c.ends || (known.releasedMS == 0) != c.ends {
			t.Errorf("%s: want it to stand again %t, have inferred %t, released at %d", name, c.ends, known.inferred, known.releasedMS)
		}
	}
}

// Of ten, the wallet's excess over what is explained and over what others have bought is inferred.
func TestInferredFillOfUnlistedPurchase(t *testing.T) {
	t.Parallel()
	type situation struct {
		w    *wallet
		s    *survey
		sale exchange.Order
	}
	theirs := func(id int64, change func(o *exchange.Order)) exchange.Order {
		o := exchange.Order{ID: id, ClientOrderID: "a person's", Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy, Quantity: 4, Filled: 4,
			Status: exchange.StatusFilled, CreatedMS: 1_060_000}
		if change != nil {
			change(&o)
		}
		return o
	}
	history := func(rows ...exchange.Order) func(*situation) {
		return func(at *situation) { at.s.fetched.History = exchange.FetchedOf(rows) }
	}
	byAmount := func(amount int64, last exchange.Price, filled exchange.Quantity) func(w *wallet) exchange.Order {
		return func(w *wallet) exchange.Order {
			w.tracker.Symbol(coin).last = last
			o := w.places(placement.Entry, 8, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(amount)})
			if filled != 0 {
				w.apply(record.Record{AtMS: w.now, ClientOrderID: o.ClientOrderID, Body: record.Fill{OrderID: 8, Filled: filled}})
			}
			return o
		}
	}
	of := func(orderID int64) func(w *wallet) exchange.Order {
		return func(w *wallet) exchange.Order { return w.buysUnder(orderID, 10) }
	}
	sells := func(listed bool) func(w *wallet) exchange.Order {
		return func(w *wallet) exchange.Order {
			w.buysUnder(8, 10)
			if sale := w.places(placement.Exit, 9, saleOf(3)); listed {
				return sale
			}
			return exchange.Order{}
		}
	}
	for _, c := range []struct {
		name   string
		sends  func(w *wallet) exchange.Order
		before exchange.Quantity // inferred before
		more   exchange.Quantity // the wallet's excess over what is explained
		with   func(at *situation)
		want   exchange.Quantity
	}{
		{"all of it", of(8), 0, 10, nil, 10},
		{"all of an uncertain one", of(0), 0, 10, nil, 10},
		{"a part", of(8), 0, 4, nil, 4},
		{"no more than was asked for", of(8), 0, 15, nil, 10},
		{"none", of(8), 0, 0, nil, 0},
		{"the wallet misses some", of(8), 0, -5, nil, 0},
		{"the wallet misses what was inferred", of(8), 4, -5, nil, 0},
		{"the wallet shows less than it did", of(8), 8, 5, nil, 5},
		{"where a sale that no list shows may have sold some", sells(false), 8, 5, nil, 8},
		{"where it may have sold more", sells(false), 9, 5, nil, 8},
		{"where it may have sold more than there was", sells(false), 2, 1, nil, 2},
		{"where a sale that is listed has sold none", sells(true), 8, 5, nil, 5},
		{"it is listed", of(8), 10, 10, func(at *situation) { at.s = at.w.reads(1_020, 0, at.sale) }, 0},
		{"it is being sent", func(w *wallet) exchange.Order {
			return w.sends(placement.Order, 0, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 10, Price: 2_500e8})
		}, 0, 10, nil, 0},
		{"the row of an order without an id cannot be read", of(0), 0, 10, func(at *situation) {
			at.s.fetched.UnreadOrders = []UnreadOrder{{Market: exchange.Spot, Open: true}}
		}, 10},
		{"its row cannot be read", of(8), 10, 10, func(at *situation) {
			at.s.fetched.UnreadOrders = []UnreadOrder{{Market: exchange.Spot, Open: true, Row: exchange.UnreadableRow{ID: 8}}}
		}, 0},
		{"the row of another cannot be read", of(8), 0, 10, func(at *situation) {
			at.s.fetched.UnreadOrders = []UnreadOrder{{Market: exchange.Spot, Open: true, Row: exchange.UnreadableRow{ID: 7}}}
		}, 10},
		{"another symbol's", func(w *wallet) exchange.Order { w.sendsElsewhere(exchange.Buy); return exchange.Order{} }, 0, 10, nil, 0},
		{"it was known before", of(8), 0, 10, func(at *situation) {
			at.w.apply(record.Record{Symbol: coin, Body: record.Baseline{Quantity: 1_000, Unattributed: 3}})
		}, 7},
		{"fees are no part of it", of(8), 0, 10, func(at *situation) {
			at.w.apply(record.Record{Symbol: coin, Body: record.Fees{Quantity: 2, Expected: true}})
			at.s = at.w.reads(1_010+8-2, 0)
		}, 8},
		{"a person has bought four", of(8), 0, 10, history(theirs(70, nil)), 6},
		{"a person has bought four, as two lists show", of(8), 0, 10, history(theirs(70, nil), theirs(70, nil)), 6},
		{"a person has bought twice", of(8), 0, 10, history(theirs(70, nil), theirs(71, nil)), 2},
		{"a person has sold", of(8), 0, 10, history(theirs(70, func(o *exchange.Order) { o.Side = exchange.Sell })), 10},
		{"a person has bought another asset", of(8), 0, 10, history(theirs(70, func(o *exchange.Order) { o.Symbol = "ETH-USDT" })), 10},
		{"a person bought it before", of(8), 0, 10, history(theirs(70, func(o *exchange.Order) { o.CreatedMS = 999_999 })), 10},
		{"a person bought it when wallet and fills changed last", of(8), 0, 10, history(theirs(70, func(o *exchange.Order) { o.CreatedMS = 1_000_000 })), 6},
		{"a person bought it before wallet and fills agreed", of(8), 0, 10, func(at *situation) {
			at.w.tracker.Symbol(coin).spot.agreedMS = 2_000_000 // and before the purchase was sent
			history(theirs(70, func(o *exchange.Order) { o.CreatedMS = 1_060_000 - 1_001 }))(at)
		}, 10},
		{"a person bought it as early as the purchase may be dated", of(8), 0, 10, func(at *situation) {
			at.w.tracker.Symbol(coin).spot.agreedMS = 2_000_000
			history(theirs(70, func(o *exchange.Order) { o.CreatedMS = 1_060_000 - 1_000 }))(at)
		}, 6},
		{"a row without an id is nobody's", of(8), 0, 10, history(theirs(70, func(o *exchange.Order) { o.ClientOrderID = "" })), 6},
		{"a row without an id may be botd's, whose rows show none", of(8), 0, 10, func(at *situation) {
			at.w.tracker.idsLeftOut = true
			history(theirs(70, func(o *exchange.Order) { o.ClientOrderID = "" }))(at)
		}, 10},
		{"a row with one is a person's all the same", of(8), 0, 10, func(at *situation) {
			at.w.tracker.idsLeftOut = true
			history(theirs(70, nil))(at)
		}, 6},
		{"its own row", of(8), 0, 10, history(theirs(8, nil)), 10},
		{"what a history has shown stays known", of(8), 0, 10, func(at *situation) {
			at.w.tracker.Symbol(coin).spot.unlisted.unclaimed = []exchange.Order{theirs(70, nil)}
		}, 6},
		{"the newest row of an order counts", of(8), 0, 10, func(at *situation) {
			at.w.tracker.Symbol(coin).spot.unlisted.unclaimed = []exchange.Order{theirs(70, func(o *exchange.Order) { o.Filled = 1 })}
			history(theirs(70, nil))(at)
		}, 6},
		{"by amount, at a price a hundredth below", byAmount(100, 2_500e8, 0), 0, 60, nil, 40},
		{"by amount, more of it at that price", byAmount(1_000, 2_500e8, 0), 0, 600, nil, 404},
		{"by amount, beside what is booked", byAmount(1_000, 2_500e8, 100), 0, 600, nil, 304},
		{"by amount, and more is booked", byAmount(100, 2_500e8, 50), 0, 60, nil, 0},
		{"by amount, without a price", byAmount(100, 0, 0), 0, 60, nil, 0},
	} {
		w := explains(t, 10, 0)
		row := c.sends(w)
		booked := w.tracker.Symbol(coin).Known() - 10
		var open []exchange.Order
		if row.Side == exchange.Sell && row.ID != 0 {
			open = append(open, row)
		}
		at := &situation{w, w.reads(1_010+booked+c.more, 0, open...), row}
		if c.with != nil {
			c.with(at)
		}
		symbol := w.tracker.Symbol(coin)
		symbol.spot.unlisted.inferred = c.before
		at.s.unlistedOrders().infer(symbol)
		if have := symbol.spot.unlisted.inferred; have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
}

// A released stop holds nothing, until a list shows it again.
func TestStopEndedOnlyByWallet(t *testing.T) {
	t.Parallel()
	stop := func(w *wallet) exchange.Order { return w.places(placement.StopLoss, 9, stopOf(10)) }
	var frozen exchange.Quantity
	for _, c := range []struct {
		name        string
		sale        func(w *wallet) exchange.Order
		baseBalance exchange.Quantity
		afterMS     int64
		with        func(w *wallet, sale exchange.Order)
		want        bool
	}{
		{"the wallet shows all, and freezes it", stop, 1_010, 1_001, func(w *wallet, _ exchange.Order) { frozen = 10 }, false},
		{"the wallet shows all, and freezes nothing", stop, 1_010, 1_001, nil, true},
		{"the wallet shows more", stop, 1_011, 1_001, nil, true},
		{"the wallet shows less: it has sold", stop, 1_009, 1_001, nil, false},
		{"fees have taken some", stop, 1_009, 1_001, func(w *wallet, _ exchange.Order) {
			w.apply(record.Record{Symbol: coin, Body: record.Fees{Quantity: 1, Expected: true}})
		}, true},
		{"the read may be older than the stop", stop, 1_010, 1_000, nil, false},
		{"its cancel was answered before", stop, 1_010, 1_001, func(w *wallet, sale exchange.Order) {
			w.tracker.release(sale.ClientOrderID, w.now-500)
		}, false},
		{"an uncertain one", func(w *wallet) exchange.Order { return w.places(placement.StopLoss, 0, stopOf(10)) }, 1_010, 1_001, nil, false},
		{"an exit", func(w *wallet) exchange.Order { return w.places(placement.Exit, 9, stopOf(10)) }, 1_010, 1_001, nil, false},
		{"one at once", func(w *wallet) exchange.Order { return w.places(placement.StopLoss, 9, saleOf(10)) }, 1_010, 1_001, nil, false},
	} {
		w := explains(t, 10, 0)
		sale := c.sale(w)
		w.now += c.afterMS
		if frozen = 0; c.with != nil {
			c.with(w, sale)
		}
		symbol, former := w.tracker.Symbol(coin), w.tracker.known(sale.ClientOrderID).releasedMS
		w.reads(c.baseBalance-frozen, frozen).unlistedOrders().infer(symbol)
		have := w.tracker.known(sale.ClientOrderID).inferred
		if want := map[bool]int64{true: w.now, false: former}[c.want]; have != c.want || w.tracker.known(sale.ClientOrderID).releasedMS != want {
			t.Errorf("%s: want it inferred %t, have %t, released at %d", c.name, c.want, have, w.tracker.known(sale.ClientOrderID).releasedMS)
		}
		if freed := w.tracker.freed(symbol); freed != map[bool]exchange.Quantity{true: 10}[c.want] {
			t.Errorf("%s: want its asset free %t, have %d", c.name, c.want, freed)
		}
		w.reads(c.baseBalance, 0, sale).unlistedOrders().infer(symbol)
		released := w.tracker.known(sale.ClientOrderID).releasedMS
		if listed := released == former || c.want && released == 0; sale.ID != 0 && !listed {
			t.Errorf("%s: want a listed one to hold again, have it released at %d", c.name, w.tracker.known(sale.ClientOrderID).releasedMS)
		}
		if c.want { // and no list reverts the answer to its cancel
			w.tracker.NoteReleased(sale.ClientOrderID, &exchange.Order{ID: 9, Status: exchange.StatusCanceled}, w.now)
			if w.reads(c.baseBalance, 0, sale).unlistedOrders().infer(symbol); w.tracker.known(sale.ClientOrderID).releasedMS != w.now {
				t.Errorf("%s: want it released since its cancel was answered", c.name)
			}
		}
	}
}

// The stop has ended if the wallet shows all of the asset free, however soon after the stop it was read.
func TestAStopWhoseCancelWasSent(t *testing.T) {
	t.Parallel()
	for _, afterMS := range []int64{0, 1_000, 1_001} { // L is a second
		for _, canceled := range []bool{true, false} {
			for _, baseBalance := range []exchange.Quantity{1_009, 1_010} {
				w := explains(t, 10, 0)
				stop := w.places(placement.StopLoss, 9, stopOf(10))
				if w.now += afterMS; canceled {
					w.tracker.NoteCancel(stop.ClientOrderID, w.now)
				}
				have := w.reads(baseBalance, 0).walletEvidence().soldNothing(w.tracker.Placement(stop.ClientOrderID), w.tracker.Symbol(coin))
				if want := (canceled || afterMS > 1_000) && baseBalance == 1_010; have != want {
					t.Errorf("canceled %t, read after %d ms, %d in the wallet: want it to have sold nothing %t, have %t", canceled, afterMS,
						baseBalance, want, have)
				}
			}
		}
	}
}

// The units count as free while the wallet may be older than the answer, for the newest 64 sales.
func TestCanceledSaleFreesAsset(t *testing.T) {
	t.Parallel()
	canceled := func(w *wallet, id string) *exchange.Order {
		p := w.tracker.Placement(id)
		return &exchange.Order{ID: p.OrderID(), ClientOrderID: id, Status: exchange.StatusCanceled, Filled: p.Filled()}
	}
	stop := func(w *wallet) string { return w.places(placement.StopLoss, 9, stopOf(10)).ClientOrderID }
	for _, c := range []struct {
		name   string
		sale   func(w *wallet) string
		answer func(o *exchange.Order)
		want   exchange.Quantity
	}{
		{"a stop", stop, nil, 10},
		{"one that had sold some", func(w *wallet) string {
			id := stop(w)
			w.apply(record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Fill{OrderID: 9, Filled: 4}})
			return id
		}, nil, 6},
		{"one that has sold more than is known", stop, func(o *exchange.Order) { o.Filled = 4 }, 0},
		{"another order", stop, func(o *exchange.Order) { o.ID = 8 }, 0},
		{"one that is open", stop, func(o *exchange.Order) { o.Status = exchange.StatusOpen }, 0},
		{"an exit", func(w *wallet) string { return w.places(placement.Exit, 9, stopOf(10)).ClientOrderID }, nil, 0},
		{"one at once", func(w *wallet) string { return w.places(placement.StopLoss, 9, saleOf(10)).ClientOrderID }, nil, 0},
		{"nobody's", func(w *wallet) string { stop(w); return "another" }, nil, 0},
	} {
		w := explains(t, 10, 0)
		id := c.sale(w)
		answer := &exchange.Order{ID: 9, Status: exchange.StatusCanceled}
		if w.tracker.Placement(id) != nil {
			answer = canceled(w, id)
		}
		if c.answer != nil {
			c.answer(answer)
		}
		symbol := w.tracker.Symbol(coin)
		freed := w.tracker.NoteReleased(id, answer, w.now)
		if have := w.tracker.freed(symbol); freed != (c.want != 0) || have != c.want {
			t.Errorf("%s: want %d free, have %t, %d", c.name, c.want, freed, have)
		}
		if at := w.tracker.ReleasedMS(coin); (at == w.now) != (c.want != 0) || at != 0 && at != w.now {
			t.Errorf("%s: want it released at %d, have %d", c.name, w.now, at)
		}
		for _, ageMS := range []int64{1_000, 1_001} { // L after the answer the wallet shows what is free
			w.tracker.walletFromMS = w.now + ageMS
			want := c.want
			if ageMS > 1_000 {
				want = 0
			}
			if have := w.tracker.freed(symbol); have != want {
				t.Errorf("%s, by a wallet read %d ms later: want %d, have %d", c.name, ageMS, want, have)
			}
		}
	}
	d := holds(t, 20)
	id := d.whole(placement.StopLoss, 12, exchange.Sell, "49000")
	if d.tracker.NoteReleased(id, &exchange.Order{ID: 12, Status: exchange.StatusCanceled}, d.now) {
		t.Error("want no stop on futures to hold an asset")
	}
	w := explains(t, 10, 0)
	for i := range 65 {
		order := w.places(placement.StopLoss, int64(100+i), stopOf(exchange.Quantity(1+i)))
		w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Body: record.Ended{State: placement.Canceled, OrderID: order.ID}})
	}
	if freed := w.tracker.Symbol(coin).spot.freed; len(freed) != 64 || freed[0].quantity != 2 || freed[63].quantity != 65 {
		t.Errorf("want the newest 64 remembered, have %d: %v", len(freed), fmt.Sprint(freed))
	}
	w = explains(t, 10, 0)
	stopped := w.places(placement.StopLoss, 9, stopOf(10))
	w.apply(record.Record{AtMS: w.now, ClientOrderID: stopped.ClientOrderID, Body: record.Fill{OrderID: 9, Filled: 10}})
	w.tracker.NoteReleased(stopped.ClientOrderID, canceled(w, stopped.ClientOrderID), w.now)
	if freed := w.tracker.Symbol(coin).spot.freed; len(freed) != 0 {
		t.Errorf("want nothing free of one that has sold all, have %v", freed)
	}
}

// The tracker stores the purposes of ended sales and purchases, the newest 64 of each.
func TestNewest64EndedSpotOrdersAreStored(t *testing.T) {
	t.Parallel()
	w := explains(t, 10, 0)
	for i := range int64(66) {
		for _, order := range []exchange.Order{w.places(placement.Exit, 100+i, saleOf(1)), w.buysUnder(200+i, 1)} {
			w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Body: record.Ended{State: placement.Canceled, OrderID: order.ID}})
		}
		if want := int(min(i+1, 64)); len(w.tracker.purposes) != want || len(w.tracker.purchases) != want {
			t.Fatalf("after %d of each: want the newest %d, have %d and %d", i+1, want, len(w.tracker.purposes), len(w.tracker.purchases))
		}
	}
}

// The order has an id and is in no row of a list that began after its answer.
func TestUnlistedOrders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		orderID int64
		afterMS int64 // how long after its answer the list began
		orders  []exchange.Order
		unread  []int64
		want    bool
	}{
		{"none shows it", 9, 1, []exchange.Order{{ID: 8}}, []int64{7}, true},
		{"it has no id", 0, 1, nil, nil, false},
		{"the list began with its answer", 9, 0, nil, nil, false},
		{"a row shows it", 9, 1, []exchange.Order{{ID: 8}, {ID: 9}}, nil, false},
		{"a row that cannot be read does", 9, 1, nil, []int64{9}, false},
	} {
		w := explains(t, 10, 0)
		sent := w.sends(placement.Exit, c.orderID, saleOf(1))
		p := w.tracker.Placement(sent.ClientOrderID)
		w.tracker.listed[exchange.Spot] = openList{orders: c.orders, unread: c.unread, beganMS: w.now + c.afterMS}
		if have := w.tracker.Unlisted(p); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
		for refusedMS, ended := range map[int64]bool{0: false, w.now + c.afterMS - 1: c.want, w.now + c.afterMS: false} { // and its cancel was refused before
			w.tracker.noteUnable(sent.ClientOrderID, refusedMS)
			if have := w.tracker.hasEnded(p); have != ended {
				t.Errorf("%s, its cancel refused at %d: want it ended %t, have %t", c.name, refusedMS, ended, have)
			}
		}
	}
}

// The refused order is a spot stop of more than the wallet has free.
func TestRefusalOfOversizedSpotStop(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		order exchange.NewOrder
		with  func(w *wallet)
		want  bool
	}{
		{"of more", stopOf(11), nil, true},
		{"of as much", stopOf(10), nil, false},
		{"an exit of more", saleOf(11), nil, false},
		{"the rules are not known", stopOf(11), func(w *wallet) { w.tracker.Symbol(coin).rules = nil }, false},
		{"of as much, after one of more", stopOf(10), func(w *wallet) { w.refuses(placement.StopLoss, stopOf(11)) }, false},
	} {
		w := explains(t, 10, 0)
		w.reads(10, 0)
		if c.with != nil {
			c.with(w)
		}
		if w.refuses(placement.StopLoss, c.order); w.tracker.Symbol(coin).spot.overdrawn != c.want {
			t.Errorf("%s: want it known to be too much %t", c.name, c.want)
		}
	}
	d := holds(t, 20)
	order := offers
	order.Type, order.Quantity = exchange.StopLimit, 11
	d.tracker.balances = []exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount("0.01")}}
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: d.places(placement.StopLoss, order), Body: record.Refused{Reason: "no"}})
	if d.tracker.Symbol(bitcoin).spot.overdrawn {
		t.Error("want no wallet to say so of futures")
	}
}

// An accepted spot sale that was canceled frees the asset, unless its cancel was answered before.
func TestCanceledSpotSaleReleasesAsset(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		order    exchange.NewOrder
		orderID  int64
		state    placement.State
		filled   exchange.Quantity
		released bool
		want     exchange.Quantity
	}{
		{"canceled", stopOf(10), 9, placement.Canceled, 0, false, 10},
		{"canceled, of one", stopOf(1), 9, placement.Canceled, 0, false, 1},
		{"canceled after a part", stopOf(10), 9, placement.Canceled, 4, false, 6},
		{"canceled when all was sold", stopOf(10), 9, placement.Canceled, 10, false, 0},
		{"filled", stopOf(10), 9, placement.Filled, 10, false, 0},
		{"filled with less than was asked for", stopOf(10), 9, placement.Filled, 4, false, 0},
		{"a purchase", exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 10, Price: 2_500e8}, 9, placement.Canceled, 0, false, 0},
		{"of unknown id", stopOf(10), 0, placement.Canceled, 0, false, 0},
		{"its cancel was answered before", stopOf(10), 9, placement.Canceled, 0, true, 0},
	} {
		w := explains(t, 20, 0)
		order := w.places(placement.StopLoss, c.orderID, c.order)
		if c.released {
			w.tracker.release(order.ClientOrderID, 1)
		}
		w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Body: record.Ended{State: c.state, Filled: c.filled, OrderID: c.orderID}})
		if have := w.tracker.freed(w.tracker.Symbol(coin)); have != c.want {
			t.Errorf("%s: want %d free, have %d", c.name, c.want, have)
		}
	}
	d := holds(t, 20)
	id := d.resting(12, 5)
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Ended{State: placement.Canceled, OrderID: 12}})
	if freed := d.tracker.Symbol(bitcoin).spot.freed; len(freed) != 0 {
		t.Errorf("want futures to hold no asset, have %v", freed)
	}
}

// A wallet shows every sale of botd's from L after the start and the last fill on.
func TestWalletConclusive(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		with func(w *wallet)
		want bool
	}{
		"it has been read late enough": {func(w *wallet) { w.now += 60_000; w.shows("1.01", "0") }, true},
		"within L of a fill":           {func(w *wallet) { w.buysUnder(9, 4); w.shows("1.01", "0"); bookedNow(w) }, false},
		"within L of the start": {func(w *wallet) {
			w.apply(record.Record{AtMS: w.now, Body: record.Boot{Epoch: 2}})
			w.now += 1_000
			w.shows("1.01", "0")
		}, false},
		"past L of the start": {func(w *wallet) {
			w.apply(record.Record{AtMS: w.now, Body: record.Boot{Epoch: 2}})
			w.now += 1_001
			w.shows("1.01", "0")
		}, true},
		"it could not be read": {func(w *wallet) {
			w.now += 60_000
			w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, Unread: []exchange.SymbolKey{{Market: exchange.Spot}}})
		}, false},
		"the journal was lost": {func(w *wallet) {
			w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Quarantined{Reason: "a test", Cause: record.JournalLost}})
			w.now += 60_000
			w.shows("1.01", "0")
		}, false},
	} {
		w, _ := protecting(t)
		c.with(w)
		if have := w.tracker.WalletConclusive(w.tracker.Symbol(coin)); have != c.want {
			t.Errorf("%s: want %t, have %t", name, c.want, have)
		}
	}
}

// bookedNow books a fill of the last purchase, and reads the wallet L later.
func bookedNow(w *wallet) {
	last := w.tracker.LiveAt(w.tracker.LiveCount() - 1)
	w.apply(record.Record{AtMS: w.now, ClientOrderID: last.ClientOrderID(), Body: record.Fill{OrderID: 9, Filled: 4}})
	w.now += 1_000
	w.shows("1.014", "0")
}

// The wallet of an account without a position or a sale is read like any other.
func TestEmptyAccountIsSettled(t *testing.T) {
	t.Parallel()
	w := newWallet(t)
	for range 3 {
		w.now += 60_000
		w.observe("0")
	}
	if !w.tracker.Symbol(coin).Settled() {
		t.Error("want it settled, so that something may open")
	}
}
