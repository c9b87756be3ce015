package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// Where lists omit ids, the amounts of two starts differ, so that neither takes the other's purchase for a second execution of its own.
func TestPurchasesOfTwoStartsDiffer(t *testing.T) {
	t.Parallel()
	markedPurchases(t)
}

func markedPurchases(t testing.TB) {
	for _, c := range []struct {
		name     string
		random   string
		shown    bool
		quantity exchange.Quantity
		want     string
	}{
		{"a backtest's", "00000", false, 10, "500"},
		{"the largest", "zzzzz", false, 10, "499.5"},
		{"one in the middle", "i0000", false, 10, "499.75"},
		{"where lists show ids", "zzzzz", true, 10, "500"},
		{"a large one costs at most a quarter of the minimum", "zzzzz", false, 1_000, "49998.8"},
		{"an older botd's", "", false, 10, "500"},
	} {
		w := newWallet(t)
		w.tracker.Apply(&record.Record{Body: record.Boot{Epoch: 9, Random: c.random}})
		w.tracker.idsShown = c.shown
		symbol := w.tracker.Symbol(coin)
		symbol.last = 50_000e8
		s := w.tracker.inputs(&Desired{}, symbol, w.now)
		if have := s.amountFor(c.quantity).String(); have != c.want {
			t.Errorf("%s: want an amount of %s, have %s", c.name, c.want, have)
		}
	}
}

// The limit of a sale is raised by at most a tenth of its collar, and a marked stop still has the form of botd's.
func TestMarkedStopHasTheFormOfBotds(t *testing.T) {
	t.Parallel()
	w := newWallet(t)
	w.tracker.Apply(&record.Record{Body: record.Boot{Epoch: 9, Random: "zzzzz"}})
	symbol := w.tracker.Symbol(coin)
	symbol.collar = exchange.RateOne / 20
	s := w.tracker.inputs(&Desired{Collar: symbol.collar}, symbol, w.now)
	limit := stopLimit(symbol.rules, 49_000e8, 10, symbol.collar)
	row := exchange.Order{ID: 9, Market: exchange.Spot, Symbol: coin.Name, Side: exchange.Sell, Type: exchange.StopLimit, Quantity: 10, StopPrice: 49_000e8,
		Price: limit + s.startMark().sale(limit)}
	if row.Price != limit+46_5e7 {
		t.Errorf("want a mark of 46.5, have %d", row.Price-limit)
	}
	if !w.tracker.Resembles(symbol, &row) {
		t.Error("want it to have the form of botd's stops")
	}
	if row.Price += 10e8; w.tracker.Resembles(symbol, &row) {
		t.Error("want a higher limit to be a person's")
	}
}

// Of two botds the one with the smaller mark sells first. By other evidence both wait for other times.
func TestOneOfTwoUnnamedPeersSellsFirst(t *testing.T) {
	t.Parallel()
	unnamedPeersYield(t)
}

func unnamedPeersYield(t testing.TB) {
	for _, c := range []struct {
		name string
		of   unnamedPeer
		want int64
	}{
		{"none", unnamedPeer{ownID: 5}, 0},
		{"perhaps one, by the exchange's first order", unnamedPeer{suspectedID: 1}, 2 * yieldMS},
		{"that, and an order of botd's", unnamedPeer{suspectedID: 1, ownSuspectID: 2}, 4 * yieldMS},
		{"perhaps one, whose order is newer", unnamedPeer{suspectedID: 6, ownSuspectID: 5}, 2 * yieldMS},
		{"perhaps one, whose order is as new", unnamedPeer{suspectedID: 6, ownSuspectID: 6}, 2 * yieldMS},
		{"perhaps one, whose order is older", unnamedPeer{suspectedID: 6, ownSuspectID: 7}, 4 * yieldMS},
		{"one for certain, and perhaps another", unnamedPeer{firstID: 3, lastID: 9, ownID: 5, rank: -1, suspectedID: 6, ownSuspectID: 7}, 0},
		{"the smaller mark", unnamedPeer{firstID: 3, lastID: 9, ownID: 5, rank: -1}, 0},
		{"the larger mark", unnamedPeer{firstID: 3, lastID: 9, ownID: 5, rank: 1}, 2 * yieldMS},
		{"no mark, the older order", unnamedPeer{firstID: 3, lastID: 9, ownID: 5}, yieldMS},
		{"no mark, the younger order", unnamedPeer{firstID: 3, lastID: 9, ownID: 10}, 3 * yieldMS},
		{"not recognized by the peer", unnamedPeer{firstID: 3, lastID: 9, ownID: 2, rank: -1}, yieldMS},
		{"a smaller mark, and an order on the other market with the number of the peer's", unnamedPeer{firstID: 3, lastID: 9, ownID: 3, rank: -1}, yieldMS},
		{"the larger mark, and such an order", unnamedPeer{firstID: 3, lastID: 9, ownID: 3, rank: 1}, yieldMS},
		{"no mark, and an order there with the number of the peer's newest", unnamedPeer{firstID: 3, lastID: 9, ownID: 9}, yieldMS},
	} {
		if have := c.of.exitDelayMS(); have != c.want {
			t.Errorf("%s: want to yield for %d ms, have %d", c.name, c.want, have)
		}
	}
}

// The list shows a stop at the level of botd's own, under no id: another botd has placed it.
func TestStopOfAnotherAtSameLevelRevealsAnUnnamedPeer(t *testing.T) {
	t.Parallel()
	w := newWallet(t)
	s := w.tracker.survey(&Snapshot{})
	symbol := w.tracker.Symbol(coin)
	symbol.collar = exchange.RateOne / 20
	row := exchange.Order{ID: 9, Market: exchange.Spot, Symbol: coin.Name, Side: exchange.Sell, Type: exchange.StopLimit, Quantity: 10, StopPrice: 49_000e8,
		Price: 46_550e8}
	symbol.foreign = []exchange.Order{row}
	s.peerOrders().detectUnnamedOrders(symbol)
	if !w.tracker.HasUnnamedPeer() || w.tracker.unnamedPeer.stopID != 9 || w.tracker.unnamedPeer.rank != 0 {
		t.Errorf("want an unnamed peer by order 9, with the same mark, have %+v", w.tracker.unnamedPeer)
	}
	row.ID, row.Price = 11, 46_560e8
	symbol.foreign = []exchange.Order{row}
	if s.peerOrders().detectUnnamedOrders(symbol); w.tracker.unnamedPeer.rank != -1 || w.tracker.unnamedPeer.firstID != 9 ||
		w.tracker.unnamedPeer.lastID != 11 {
		t.Errorf("want order 11 to have the larger mark, have %+v", w.tracker.unnamedPeer)
	}
}

// A list without ids shows a stop at the price that the stop of a position just learned of is about to get: another botd with a copy of the journal has
// placed it.
func TestStopOfAnotherWhereOwnIsDueRevealsAnUnnamedPeer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*desk, *exchange.Order)
		want   bool
	}{
		"at the same price":           {func(*desk, *exchange.Order) {}, true},
		"at another price":            {func(d *desk, o *exchange.Order) { o.StopPrice += d.tracker.Symbol(bitcoin).rules.PriceTick }, false},
		"a take-profit":               {func(_ *desk, o *exchange.Order) { o.Type = exchange.TakeProfitMarket }, false},
		"of a short position":         {func(_ *desk, o *exchange.Order) { o.Side = exchange.Buy }, false},
		"with a person's id":          {func(_ *desk, o *exchange.Order) { o.ClientOrderID = "a person's" }, false},
		"where the list shows ids":    {func(d *desk, _ *exchange.Order) { d.tracker.futuresIDs.rows = minRowsWithID }, false},
		"a part of the position only": {func(_ *desk, o *exchange.Order) { o.ClosePosition, o.Quantity = false, 5 }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stopWhereOwnIsDue(t, c.change, c.want)
		})
	}
}

func stopWhereOwnIsDue(t testing.TB, change func(*desk, *exchange.Order), want bool) {
	t.Helper()
	d := newDesk(t)
	d.hold(20)
	row := exchange.Order{ID: 90, Market: exchange.Futures, Symbol: bitcoin.Name, Side: exchange.Sell, Type: exchange.StopMarket, StopPrice: d.price("49000"),
		ClosePosition: true, Status: exchange.StatusNew}
	change(d, &row)
	d.now += 1_000
	d.observe(20, nil, row)
	d.derive(stopAt2)
	if have := d.tracker.HasUnnamedPeer(); have != want {
		t.Errorf("want another botd revealed %t, have %t", want, have)
	}
}

// The newest order history shows who has sold what the wallet lacks. Until the shortfall is decided, neither an exit nor a stop covers it.
func TestUnitsSoldByAnotherAreNotSoldAgain(t *testing.T) {
	t.Parallel()
	soldByAnUnnamedPeer(t, 0, false)
	soldByAnUnnamedPeer(t, 4, false)
	soldByAnUnnamedPeer(t, 10, false)
	soldByAnUnnamedPeer(t, 4, true)
	soldByAnUnnamedPeer(t, 10, true)
}

func soldByAnUnnamedPeer(t testing.TB, sold exchange.Quantity, undecided bool) {
	w, derive := protecting(t)
	w.now += 3_000
	own := unnamed(w.places(placement.StopLoss, 8, stopOf(10)))
	w.sees("1", "0.01", nil, own)
	w.now += 60_000
	w.tracker.idsLeftOut = true
	own.Status = exchange.StatusCanceled
	sale := exchange.Order{ID: 9, Market: exchange.Spot, Symbol: coin.Name, Side: exchange.Sell, Type: exchange.Limit, Quantity: 10, Filled: sold,
		Price: 47_500e8, Status: exchange.StatusFilled, CreatedMS: w.now}
	rows := []exchange.Order{own, sale}
	wallet := map[exchange.Quantity]string{0: "1.01", 4: "1.006", 10: "1"}[sold]
	if sold == 0 || undecided {
		rows, wallet = rows[:1], "1.01"
	}
	w.now += 1_000
	w.sees(wallet, "0", rows)
	if undecided { // until a wallet is read that cannot be older than the last fill
		w.tracker.Symbol(coin).spot.unclaimedSales = sold
	}
	w.now += canceledByOthersWaitMS
	if have := stopped(derive()); have != 10-sold {
		t.Errorf("%d sold: want a stop of %d, have one of %d", sold, 10-sold, have)
	}
}

// While orders show another botd, or another symbol a lost journal, an order without an id of the size of one of the plan's may be of that one. Without
// such evidence it is a person's, and blocks nothing.
func TestOrderOfPlannedSizeBlocksOpenings(t *testing.T) {
	t.Parallel()
	openingOfAPlan(t, func(*Tracker, *exchange.Order) {}, true)
	openingOfAPlan(t, func(b *Tracker, _ *exchange.Order) { b.unnamedPeer = unnamedPeer{} }, false)
	openingOfAPlan(t, func(b *Tracker, _ *exchange.Order) {
		b.unnamedPeer = unnamedPeer{}
		b.Apply(&record.Record{Symbol: coin, Body: record.Quarantined{Reason: "a test", Cause: record.JournalLost}})
	}, true)
	openingOfAPlan(t, func(_ *Tracker, o *exchange.Order) { o.Quantity++ }, false)
	openingOfAPlan(t, func(_ *Tracker, o *exchange.Order) { o.Side = exchange.Sell }, false)
	openingOfAPlan(t, func(_ *Tracker, o *exchange.Order) { o.ClientOrderID = "a person's" }, false)
	openingOfAPlan(t, func(_ *Tracker, o *exchange.Order) { o.Type = exchange.StopLimit }, false)
}

// Nothing else shows another botd, but two rows have the prices of the plan's orders too. A person may place one such order by chance.
func TestOrderAtPlannedPricesBlocksOpenings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*desk, []exchange.Order) []exchange.Order
		want   bool
	}{
		"two of the plan's":       {nil, true},
		"one":                     {func(_ *desk, rows []exchange.Order) []exchange.Order { return rows[:1] }, false},
		"one at another price":    {func(_ *desk, rows []exchange.Order) []exchange.Order { rows[1].Price--; return rows }, false},
		"one of another quantity": {func(_ *desk, rows []exchange.Order) []exchange.Order { rows[1].Quantity++; return rows }, false},
		"one with a stop price":   {func(_ *desk, rows []exchange.Order) []exchange.Order { rows[1].StopPrice = 1; return rows }, false},
		"one with a person's id":  {func(_ *desk, rows []exchange.Order) []exchange.Order { rows[1].ClientOrderID = "mine"; return rows }, false},
		"in a list that shows the ids": {func(d *desk, rows []exchange.Order) []exchange.Order {
			d.tracker.futuresIDs.rows = minRowsWithID
			return rows
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gridOfAnother(t, c.change, c.want)
		})
	}
}

func gridOfAnother(t testing.TB, change func(*desk, []exchange.Order) []exchange.Order, want bool) {
	d := newDesk(t)
	d.tracker.Configure(Settings{Instance: "t", Foreign: ForeignAdopt})
	plan, rows := &strategy.Plan{OrdersSet: true}, []exchange.Order{}
	for i, price := range []string{"49000", "48000"} {
		plan.Orders = append(plan.Orders, strategy.DesiredOrder{Key: price, Side: exchange.Buy, Price: d.price(price), Quantity: 10_000})
		row := rested(int64(9+i), 10_000)
		row.Price = d.price(price)
		rows = append(rows, row)
	}
	d.want(plan)
	if change != nil {
		rows = change(d, rows)
	}
	symbol := d.tracker.Symbol(bitcoin)
	symbol.foreign = rows
	if have := d.tracker.ForeignOpening(symbol) != nil; have != want {
		t.Errorf("%+v: want openings blocked %t", rows, want)
	}
}

func openingOfAPlan(t testing.TB, change func(*Tracker, *exchange.Order), want bool) {
	d := newDesk(t)
	d.tracker.Configure(Settings{Instance: "t", Foreign: ForeignAdopt})
	d.want(&strategy.Plan{OrdersSet: true, Orders: []strategy.DesiredOrder{{Key: "a", Side: exchange.Buy, Price: d.price("49000"), Quantity: 10_000}}})
	d.tracker.noteUnnamed(3)
	row := rested(9, 10_000)
	change(d.tracker, &row)
	symbol := d.tracker.Symbol(bitcoin)
	symbol.foreign = []exchange.Order{row}
	if have := d.tracker.ForeignOpening(symbol) != nil; have != want {
		t.Errorf("%+v: want openings blocked %t", row, want)
	}
}

// rested is a bid on futures without an id.
func rested(id int64, quantity exchange.Quantity) exchange.Order {
	return exchange.Order{ID: id, Market: exchange.Futures, Symbol: bitcoin.Name, Side: exchange.Buy, Type: exchange.Limit, Quantity: quantity,
		Price: 48_000_0, Status: exchange.StatusOpen}
}

// A list that omits ids at random shows each of botd's own for a while. A start does not know what lists before it have shown.
func TestIDsAreShownByManyRowsOfTheList(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lists   []bool // whether they show the id of botd's own order
		start   bool
		blocked bool
	}{
		"none":                    {nil, false, true},
		"nine":                    {slices.Repeat([]bool{true}, 9), false, true},
		"ten":                     {slices.Repeat([]bool{true}, 10), false, false},
		"ten, before a start":     {slices.Repeat([]bool{true}, 10), true, true},
		"ten, after one without":  {append([]bool{false}, slices.Repeat([]bool{true}, 10)...), false, true},
		"ten, before one without": {append(slices.Repeat([]bool{true}, 10), false), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shownByRows(t, c.lists, c.start, c.blocked)
		})
	}
}

func shownByRows(t testing.TB, lists []bool, start, blocked bool) {
	t.Helper()
	d := newDesk(t)
	d.tracker.Configure(Settings{Instance: "t", Foreign: ForeignIgnore})
	d.want(&strategy.Plan{OrdersSet: true, Orders: []strategy.DesiredOrder{{Key: "a", Side: exchange.Buy, Price: d.price("49000"), Quantity: 10}}})
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: bitcoin.Name, Side: exchange.Sell, Type: exchange.Limit, Quantity: 3, Price: d.price("52000")}
	id := d.send(Intent{Purpose: placement.Order, Key: "b", Order: order})
	d.acknowledge(id, 5)
	own := exchange.Order{ID: 5, Market: exchange.Futures, Symbol: bitcoin.Name, Side: order.Side, Type: order.Type, Quantity: 3, Price: order.Price,
		Status: exchange.StatusOpen}
	for _, shows := range lists {
		row := own
		if shows {
			row.ClientOrderID = id
		}
		d.now += 1_000
		d.observe(0, nil, row)
	}
	symbol := d.tracker.Symbol(bitcoin)
	if start {
		saved, rules := d.tracker.Checkpoint("an account"), symbol.rules
		restored, err := Restore(testSettle, &saved)
		if err != nil {
			t.Fatal(err)
		}
		d.tracker, symbol = restored, restored.Symbol(bitcoin)
		symbol.rules = rules
	}
	d.tracker.noteUnnamed(3)
	symbol.foreign = []exchange.Order{rested(9, 10)}
	if have := d.tracker.ForeignOpening(symbol) != nil; have != blocked {
		t.Errorf("want openings blocked %t", blocked)
	}
}

// The same of a stop order of the plan.
func TestStopOrderOfPlannedSizeBlocksOpenings(t *testing.T) {
	t.Parallel()
	for kind, want := range map[exchange.OrderType]bool{exchange.StopLimit: true, exchange.Limit: false} {
		d := newDesk(t)
		d.tracker.Configure(Settings{Instance: "t", Foreign: ForeignAdopt})
		d.want(&strategy.Plan{OrdersSet: true, Orders: []strategy.DesiredOrder{{Key: "a", Side: exchange.Buy, Price: d.price("52000"),
			StopPrice: d.price("51000"), Quantity: 10_000}}})
		d.tracker.noteUnnamed(3)
		row := rested(9, 10_000)
		row.Type = kind
		symbol := d.tracker.Symbol(bitcoin)
		symbol.foreign = []exchange.Order{row}
		if have := d.tracker.ForeignOpening(symbol) != nil; have != want {
			t.Errorf("%s: want openings blocked %t", kind, want)
		}
	}
}
