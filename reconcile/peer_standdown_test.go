package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// TestStandingDownProtectsOnlyUnprotected derives intents while another botd trades under the same prefix (case
// 15), and compares them with the live orders. If each botd canceled the other's stop, or placed its own next to
// it, this would never end.
func TestStandingDownProtectsOnlyUnprotected(t *testing.T) {
	t.Parallel()
	const other = "bt-00000100000-" // a start that this journal does not know
	closing := func(id string, kind exchange.OrderType, price exchange.Price) exchange.Order {
		return exchange.Order{ID: 90, ClientOrderID: id, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: kind,
			ClosePosition: true, Status: exchange.StatusNew, StopPrice: price}
	}
	opening := exchange.Order{ID: 91, ClientOrderID: other + "2", Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy,
		Type: exchange.Limit, Quantity: 5, Price: 40_000_00, Status: exchange.StatusOpen}
	for _, c := range []struct {
		name   string
		own    exchange.Price // of the stop in this journal; 0 for none
		others []exchange.Order
		want   []placement.Purpose
	}{
		{"nothing stands", 0, []exchange.Order{opening}, []placement.Purpose{placement.StopLoss, placement.TakeProfit}},
		{"the other's stop", 0, []exchange.Order{closing(other+"1", exchange.StopMarket, 45_000_00)}, []placement.Purpose{placement.TakeProfit}},
		{"the other's profit", 0, []exchange.Order{closing(other+"1", exchange.TakeProfitMarket, 60_000_00)}, []placement.Purpose{placement.StopLoss}},
		{"its own stop, which would move", 45_000_00, []exchange.Order{opening}, []placement.Purpose{placement.TakeProfit}},
		{"both stops, one on its way elsewhere", 45_000_00, []exchange.Order{closing(other+"1", exchange.StopMarket, 46_000_00)},
			[]placement.Purpose{placement.TakeProfit}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.tracker.instance = "t"
			d.hold(20)
			orders := slices.Clone(c.others)
			if c.own != 0 {
				stop := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopMarket,
					StopPrice: c.own, ClosePosition: true, WorkingType: exchange.ContractPrice}
				id := d.send(Intent{Purpose: placement.StopLoss, Order: stop})
				d.acknowledge(id, 41)
				standing := closing(id, exchange.StopMarket, c.own)
				standing.ID = 41
				orders = append(orders, standing)
			}
			d.now += 2 * int64(exchange.Minute1)
			d.observe(20, nil, orders...)
			if !d.tracker.StandsDown() {
				t.Fatal("want an order under this prefix that the journal does not know to stand it down")
			}
			var have []placement.Purpose
			for _, intent := range d.derive(func(w *Desired) { both(w); w.MayOpen = false }) {
				have = append(have, intent.Purpose)
			}
			if !slices.Equal(c.want, have) {
				t.Errorf("want %v, have %v", c.want, have)
			}
		})
	}
}

// The stop was moving: its bridge covers the whole position.
func TestStandingDownABridgeIsTheStop(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		quantity exchange.Quantity
		want     []placement.Purpose
	}{
		{20, []placement.Purpose{placement.TakeProfit}},
		{19, []placement.Purpose{placement.StopLoss, placement.TakeProfit}}, // the bridge covers a part only
	} {
		d := newDesk(t)
		d.tracker.instance = "t"
		d.hold(20)
		order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopMarket,
			StopPrice: 45_000_00, Quantity: c.quantity, ReduceOnly: true, WorkingType: exchange.ContractPrice}
		id := d.send(Intent{Purpose: placement.StopLoss, Key: bridgeKey, Order: order})
		d.acknowledge(id, 41)
		stands := exchange.Order{ID: 41, ClientOrderID: id, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell,
			Type: exchange.StopMarket, Quantity: c.quantity, ClosePositionID: 1, Status: exchange.StatusNew, StopPrice: 45_000_00}
		unknown := exchange.Order{ID: 91, ClientOrderID: "bt-00000100000-2", Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy,
			Type: exchange.Limit, Quantity: 5, Price: 40_000_00, Status: exchange.StatusOpen}
		d.now += 2 * int64(exchange.Minute1)
		d.observe(20, nil, stands, unknown)
		if !d.tracker.StandsDown() {
			t.Fatal("want an order under this prefix that the journal does not know to stand it down")
		}
		var have []placement.Purpose
		for _, intent := range d.derive(func(w *Desired) { both(w); w.MayOpen = false }) {
			have = append(have, intent.Purpose)
		}
		if !slices.Equal(c.want, have) {
			t.Errorf("a bridge of %d of 20: want %v, have %v", c.quantity, c.want, have)
		}
	}
}

// The other botd's bridge covers more than botd's part of the position, but not what the other one has opened since (seed 940005375).
func TestStandingDownABridgeOfThePartOnlyIsNoStop(t *testing.T) {
	t.Parallel()
	bridgeOfPart(t, 29, []placement.Purpose{placement.StopLoss, placement.TakeProfit})
	bridgeOfPart(t, 30, []placement.Purpose{placement.TakeProfit})
}

func bridgeOfPart(t testing.TB, quantity exchange.Quantity, want []placement.Purpose) {
	t.Helper()
	d := newDesk(t)
	d.tracker.instance = "t"
	d.hold(20)
	bridge := exchange.Order{ID: 41, ClientOrderID: youngers + "1", Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell,
		Type: exchange.StopMarket, Quantity: quantity, ClosePositionID: 1, Status: exchange.StatusNew, StopPrice: 45_000_00}
	d.now += 2 * int64(exchange.Minute1)
	d.observe(30, nil, bridge)
	var have []placement.Purpose
	for _, intent := range d.derive(func(w *Desired) { both(w); w.MayOpen = false }) {
		have = append(have, intent.Purpose)
	}
	if !slices.Equal(want, have) {
		t.Errorf("a bridge of %d of 30, of which 20 are botd's: want %v, have %v", quantity, want, have)
	}
}

// Standing down continues after the other botd's order has ended, and under a severer halt.
func TestStandingDownEndsWhenArmed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.tracker.instance = "t"
	for _, step := range []struct {
		record record.Halt
		id     string
		want   bool
	}{
		{record.Halt{Level: record.LevelCancel, Reason: "news"}, "", false},
		{record.Halt{Level: record.LevelPause, Reason: "a second botd"}, "bt-00000100000-1", true},
		{record.Halt{Level: record.LevelFlatten, Reason: "out"}, "", true},
		{record.Halt{}, "", false},
	} {
		d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: step.id, Body: step.record})
		if have := d.tracker.StandsDown(); have != step.want {
			t.Errorf("after %+v %s: want standing down %t, have %t", step.record, step.id, step.want, have)
		}
	}
}

// What another botd did needs a person's decision, whatever the policy for foreign positions.
func TestStandingDownDoesNotAdopt(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{ForeignHalt, ForeignAdopt, ForeignIgnore} {
		d := newDesk(t)
		d.tracker.instance, d.tracker.foreignPolicy = "t", policy
		d.hold(20)
		foreign := exchange.Order{ID: 90, ClientOrderID: "bt-00000100000-1", Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell,
			Type: exchange.StopMarket, ClosePosition: true, Status: exchange.StatusNew, StopPrice: 45_000_00}
		for range 20 {
			d.now += 5_000
			for _, r := range d.observe(40, nil, foreign) {
				if kind := r.Kind(); kind == record.KindAdopted || kind == record.KindIgnored {
					t.Errorf("%s: want nothing adopted or ignored, have %s", policy, r.Summary())
				}
			}
		}
		if d.tracker.Symbol(bitcoin).Quarantine() == "" {
			t.Errorf("%s: want the symbol quarantined", policy)
		}
	}
}

// A new journal meets an order under this instance's prefix, which quarantines its symbol. The next start stands down
// before it has read anything, until a person has decided.
func TestStandingDownPersistsAcrossStart(t *testing.T) {
	t.Parallel()
	standsDownAfterAStart(t)
}

func standsDownAfterAStart(t testing.TB) {
	d := newDesk(t)
	d.tracker = NewTracker(d.tracker.Bounds())
	d.tracker.instance = "t"
	foreign := exchange.Order{ID: 90, ClientOrderID: "bt-00000100000-1", Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy,
		Type: exchange.Limit, Quantity: 5, Price: 40_000_00, Status: exchange.StatusOpen}
	journal := d.observe(0, nil, foreign)
	if !d.tracker.StandsDown() || d.tracker.Symbol(bitcoin).Quarantine() != reasonLostJournal {
		t.Fatalf("want it standing down and the symbol quarantined, have %q, %q", d.tracker.UnknownOrder(), d.tracker.Symbol(bitcoin).Quarantine())
	}
	start := func() *Tracker {
		tracker := NewTracker(d.tracker.Bounds())
		tracker.instance = "t"
		for i := range journal {
			tracker.Apply(&journal[i])
		}
		return tracker
	}
	if have := start().UnknownOrder(); have != foreign.ClientOrderID {
		t.Errorf("a start that has read nothing: want it to stand down for %q, have %q", foreign.ClientOrderID, have)
	}
	journal = append(journal, d.tracker.Resolve(bitcoin, false, "one", "reviewed")...)
	if have := start().UnknownOrder(); have != "" {
		t.Errorf("a start after a person decided: want no standing down, have %q", have)
	}
}

// An order on one symbol, which a person was notified of, proves nothing about the same start's orders on another symbol.
// That symbol may have a position, and its history could not be read before.
func TestLostJournalIsFoundOnLaterSymbol(t *testing.T) {
	t.Parallel()
	lostOnAnotherSymbol(t)
}

func lostOnAnotherSymbol(t testing.TB) {
	d := newDesk(t)
	d.tracker = NewTracker(d.tracker.Bounds())
	d.tracker.instance = "t"
	later, earlier := "bt-00000100000-9", "bt-00000100000-4"
	journal := d.observe(0, nil, exchange.Order{ID: 90, ClientOrderID: later, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy,
		Type: exchange.Limit, Quantity: 5, Price: 40_000_00, Status: exchange.StatusOpen})
	if have := d.tracker.Symbol(bitcoin).Quarantine(); have != reasonLostJournal || d.tracker.ForeignPrefix() != "" {
		t.Fatalf("want the symbol quarantined alone, have %q, %q", have, d.tracker.ForeignPrefix())
	}
	history := []exchange.Order{{ID: 70, ClientOrderID: earlier, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy,
		Type: exchange.MarketOrder, Quantity: 5, Filled: 5, Status: exchange.StatusFilled}}
	reads := func(tracker *Tracker) []record.Record {
		d.now += 1_000
		return tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil), Newest: history,
			Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount("1")}})})
	}
	journal = append(journal, reads(d.tracker)...)
	if have := d.tracker.ForeignPrefix(); have != earlier {
		t.Errorf("want the account to stand down for %q, have %q", earlier, have)
	}
	journal = append(journal, record.Record{AtMS: d.now, ClientOrderID: earlier, Body: record.Halt{Level: record.LevelPause, Reason: "a test"}})
	again := NewTracker(d.tracker.Bounds())
	again.instance = "t"
	for i := range journal {
		again.Apply(&journal[i])
	}
	if reads(again); again.ForeignPrefix() != "" {
		t.Errorf("a start after that: want a person notified once, have %q", again.ForeignPrefix())
	}
}

// The journal is new, and the row of a position cannot be read at first. Meanwhile the journal gets other records. Once the row can be read, the position
// belongs to a lost journal, whatever the policy; a journal that was not new at the start, or that knows a part left to others, treats it by the policy.
func TestLostJournalIsFoundByPositionThatIsReadLate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		then func(*desk)
		want bool
	}{
		{"a new journal", func(*desk) {}, true},
		{"started again since", func(d *desk) { d.tracker.Apply(&record.Record{AtMS: d.now, Body: record.Boot{Epoch: 2}}) }, false},
		{"a part was left to others", func(d *desk) {
			d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Ignored{Quantity: 5}})
		}, false},
		{"read meanwhile, when there was none, and forgotten", func(d *desk) {
			d.observe(0, nil)
			d.tracker.Symbol(bitcoin).Forget()
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			positionReadLate(t, c.then, c.want)
		})
	}
}

// The journal is new, both futures lists are empty, and the account uses margin: the lists omit what a lost journal knew (seed 890070420).
func TestLostJournalIsFoundByMarginThatNoListShows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name              string
		orders, positions int64 // margin in use
		known             bool  // the journal is not new
		want              bool
	}{{"for an order", 40, 0, false, true}, {"for a position", 0, 40, false, true}, {"none", 0, 0, false, false}, {"an older journal", 40, 0, true, false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			unlistedAtFirst(t, c.orders, c.positions, c.known, c.want)
		})
	}
}

func unlistedAtFirst(t testing.TB, orders, positions int64, known, want bool) {
	t.Helper()
	d := newDesk(t)
	if known {
		d.hold(20)
		d.observe(20, nil)
	}
	d.readsMargin(orders, positions)
	if have := d.tracker.Symbol(bitcoin).Cause() == record.JournalLost; have != want {
		t.Errorf("want it quarantined as lost %t, have %t", want, have)
	}
}

func positionReadLate(t testing.TB, then func(*desk), want bool) {
	d := newDesk(t)
	d.tracker.foreignPolicy = ForeignIgnore
	d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil), Unread: []exchange.SymbolKey{bitcoin},
		Positions: exchange.FetchedOf[exchange.Position](nil), UnreadPositions: []exchange.SymbolKey{bitcoin}})
	d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: coin, Body: record.Baseline{Quantity: 1_000}})
	then(d)
	for range testSettle.StalenessMS/1_000 + 2 {
		d.now += 1_000
		d.observe(20, nil)
	}
	if symbol := d.tracker.Symbol(bitcoin); (symbol.Cause() == record.JournalLost) != want || (symbol.Ignored() == 20) == want {
		t.Errorf("want it quarantined as lost %t, have %q, and %d left to others", want, symbol.Quarantine(), symbol.Ignored())
	}
}

// A journal restored from a backup knows a holding of ten and its stop. Its own later orders, which it does not know, have sold a
// part of that, and the stop would sell a person's units.
func TestStandingDownSpotStopSellsOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		free   string // in the wallet, of which 1 is a person's
		sold   exchange.Quantity
		id     string
		cancel bool
	}{
		{"all of it", "0.99", 10, "bt-00000100000-1", true},
		{"part of it", "0.996", 4, "bt-00000100000-1", true},
		{"all of it, and only the wallet shows it", "0.99", 0, "bt-00000100000-1", false},
		{"all of it, by a person", "0.99", 10, "mine", false},
		{"what others had bought", "1", 10, "bt-00000100000-1", false},
		{"all of it, in a start that the journal knows: a person's deposit makes up for it", "1", 10, "bt-1-90", true},
		{"part of it, in that start", "1", 4, "bt-1-90", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			soldByALaterJournal(t, c.free, c.sold, c.id, c.cancel)
		})
	}
}

func soldByALaterJournal(t testing.TB, free string, sold exchange.Quantity, id string, cancel bool) {
	t.Helper()
	w, derive := protecting(t)
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 60_000
	w.shows("1", "0.01", stop)
	w.apply(record.Record{AtMS: w.now, ClientOrderID: "bt-00000100000-9", Body: record.Halt{Level: record.LevelPause, Reason: "an old backup"}})
	sale := exchange.Order{ID: 7, ClientOrderID: id, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopLimit,
		Quantity: sold, Filled: sold, Status: exchange.StatusFilled, CreatedMS: w.now - 600_000}
	var have []placement.Purpose
	for range 8 {
		w.now += 1_000
		w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf([]exchange.Order{stop}),
			History: exchange.FetchedOf([]exchange.Order{sale}), HistoryWhole: true,
			Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(free), Frozen: exchange.MustAmount("0.01")}})})...)
		have = append(have, purposes(derive())...)
	}
	if canceled := slices.Contains(have, placement.Cancel); canceled != cancel {
		t.Errorf("want the stop taken off %t, have %v", cancel, have)
	}
}

// A wallet has shown that another botd with a copy of the journal sold the units. What somebody deposits later is not botd's, after a start either.
func TestDepositDoesNotBringBackWhatAnotherBotdSold(t *testing.T) {
	t.Parallel()
	for _, restarts := range []bool{false, true} {
		depositAfterASale(t, restarts)
	}
}

func depositAfterASale(t testing.TB, restarts bool) {
	w, derive := protecting(t)
	w.now += 60_000
	w.apply(record.Record{AtMS: w.now, ClientOrderID: "bt-00000100000-9", Body: record.Halt{Level: record.LevelPause, Reason: "a copy of the journal"}})
	rules, sale := w.tracker.Symbol(coin).rules, exchange.Order{ID: 7, ClientOrderID: "bt-00000100000-1", Market: exchange.Spot, Symbol: "BTC-USDT",
		Side: exchange.Sell, Type: exchange.Limit, Quantity: 10, Filled: 10, Status: exchange.StatusFilled, CreatedMS: w.now}
	for _, free := range []string{"1", "1.02"} {
		for range 8 {
			w.now += 1_000
			w.sees(free, "0", []exchange.Order{sale})
		}
		if restarts && free == "1" {
			w.start()
			w.tracker.Symbol(coin).rules = rules
			derive = w.deriver()
		}
	}
	if symbol := w.tracker.Symbol(coin); symbol.Cause() != record.SoldByOthers || w.tracker.Closable(symbol) != 0 || len(derive()) != 0 {
		t.Errorf("restarted %t: want nothing of it to be botd's, have %d, and %+v", restarts, w.tracker.Closable(symbol), derive())
	}
}

// A deposit hides from the wallet that another botd with a copy of the journal has sold the units, all of them or a part. An exit by plan sells only what is
// left of them, and the stop stays. What the other botd has bought according to the history, it may have sold itself. A person's flatten does not wait.
func TestExitSellsNoneOfWhatAnotherBotdMayHaveSold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bought, sold exchange.Quantity // by the other botd
		target       exchange.Quantity
		flatten      bool
		want         exchange.Quantity
	}{
		"all of them":             {0, 10, 0, false, 0},
		"a part":                  {0, 4, 0, false, 6},
		"a part, down to a rest":  {0, 4, 6, false, 0},
		"what it had bought":      {20, 10, 0, false, 10},
		"nothing":                 {0, 0, 0, false, 10},
		"all of them, by request": {0, 10, 0, true, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exitDespitePeer(t, c.bought, c.sold, c.target, c.flatten, c.want)
		})
	}
}

func exitDespitePeer(t testing.TB, bought, sold, target exchange.Quantity, flatten bool, want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t)
	w.now += 60_000
	w.apply(record.Record{AtMS: w.now, ClientOrderID: elders + "9", Body: record.Halt{Level: record.LevelPause, Reason: "a copy of the journal"}})
	var rows []exchange.Order
	if bought > 0 {
		rows = append(rows, anothers(elders+"1", 30, exchange.Buy, exchange.Limit, bought, bought, w.now))
	}
	if sold > 0 {
		rows = append(rows, anothers(elders+"2", 31, exchange.Sell, exchange.Limit, sold, sold, w.now))
	}
	w.targets(target, nil)
	for range 5 {
		w.now += 1_000
		w.sees("5", "0", rows)
	}
	have := exchange.Quantity(0)
	intents := derive()
	if flatten {
		intents, _ = w.tracker.Derive(&Desired{Strategy: w.tracker.Strategy("one"), Symbol: w.tracker.Symbol(coin), Interval: exchange.Minute1, Flatten: true,
			Collar: exchange.RateOne / 20}, w.now)
	}
	for i := range intents {
		if intents[i].Purpose == placement.Exit {
			have += intents[i].Order.Quantity
		}
	}
	if have != want {
		t.Errorf("want an exit of %d, have %d: %+v", want, have, intents)
	}
	if !flatten && have == 0 && target == 0 && stopped(intents) == 0 {
		t.Errorf("want the units to keep a stop, have %+v", intents)
	}
}

// Another botd's stop leaves the list, or its row cannot be read, and is listed again: it sells its units once.
func TestAnothersStopThatIsListedAgainSellsOnce(t *testing.T) {
	t.Parallel()
	listedAgain(t)
}

func listedAgain(t testing.TB) {
	w, _ := protecting(t)
	w.now += 60_000
	row := exchange.Order{ID: 50, ClientOrderID: "bt-00000100000-9", Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell,
		Type: exchange.StopLimit, Quantity: 5, Price: 47_000e8, StopPrice: 49_000e8, Status: exchange.StatusOpen, CreatedMS: w.now}
	for _, orders := range [][]exchange.Order{{row}, nil, {row}} {
		w.now += 1_000
		w.hasMoney("1.01", "0.005", "10000", orders...)
		if have := w.tracker.sellsUnknown(w.tracker.Symbol(coin)); have != 5 {
			t.Errorf("with %d orders listed: want 5 that another botd may sell, have %d", len(orders), have)
		}
	}
}

// After a start, a history omits what another botd has bought. The stop that botd had placed for that stays while the wallet shows the units.
func TestStopOfAnotherBotdsUnitsStaysAfterAStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		free, frozen string
		stays        bool
	}{"the wallet shows the units": {"1", "0.007", true}, "they are sold": {"1", "0", false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forgottenPeerPurchase(t, c.free, c.frozen, c.stays)
		})
	}
}

func forgottenPeerPurchase(t testing.TB, free, frozen string, stays bool) {
	w, derive := protecting(t) // 10, besides 1 BTC of a person
	own := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 60_000
	bought := anothers(youngers+"1", 20, exchange.Buy, exchange.MarketOrder, 7, 7, w.now)
	w.sees("1.007", "0.01", []exchange.Order{bought}, own)
	w.apply(record.Record{AtMS: w.now, ClientOrderID: youngers + "1", Body: record.Halt{Level: record.LevelPause, Reason: "another botd"}})
	w.now += peerStopMS
	w.sees("1.007", "0.01", []exchange.Order{bought}, own)
	if have := stopped(derive()); have != 7 {
		t.Fatalf("want a stop of the 7 that the other one bought, have %d", have)
	}
	theirs := w.places(placement.StopLoss, 9, stopOf(7))
	w.apply(record.Record{AtMS: w.now, ClientOrderID: own.ClientOrderID, Body: record.Ended{State: placement.Filled, OrderID: 8, Filled: 10}})
	w.now += 1_000
	w.restores()
	derive = w.deriver()
	for range 8 {
		w.now += 1_000
		w.sees(free, frozen, nil, theirs)
	}
	if have := canceled(derive()); (len(have) == 0) != stays {
		t.Errorf("want the stop kept %t, have %v canceled", stays, have)
	}
}

// The balance from before botd bought includes the other botd's purchase, and botd has a stop only because of that (seed 970011729). A history that shows
// it sold, or a wallet without it, ends that stop.
func TestStopOfUnitsThatAnotherBotdHeldFirstStaysAfterAStart(t *testing.T) {
	t.Parallel()
	sold := anothers(youngers+"2", 21, exchange.Sell, exchange.Limit, 7, 7, 1_100_000)
	heldFirst(t, "1", "0.007", nil, true)
	heldFirst(t, "0", "0", nil, false)
	heldFirst(t, "0.993", "0.007", &sold, false)
}

func heldFirst(t testing.TB, free, frozen string, sold *exchange.Order, stays bool) {
	t.Helper()
	w := newWallet(t)
	w.apply(record.Record{Strategy: "one", Symbol: coin, Body: record.Plan{Plan: &strategy.Plan{}}})
	w.observe("1.007") // with 1 BTC of a person
	bought := anothers(youngers+"1", 20, exchange.Buy, exchange.MarketOrder, 7, 7, w.now)
	w.apply(record.Record{AtMS: w.now, ClientOrderID: youngers + "1", Body: record.Halt{Level: record.LevelPause, Reason: "another botd"}})
	for range 3 {
		w.now += peerStopMS
		w.sees("1.007", "0", []exchange.Order{bought})
	}
	if have := stopped(w.deriver()()); have != 7 {
		t.Fatalf("want a stop of the 7 that the other one bought, have %d", have)
	}
	stop := w.places(placement.StopLoss, 9, stopOf(7))
	w.now += 60_000
	w.restores()
	var history []exchange.Order
	if sold != nil {
		history = []exchange.Order{bought, *sold}
	}
	for range 3 {
		w.now += 1_000
		w.sees(free, frozen, history, stop)
	}
	if have := canceled(w.deriver()()); (len(have) == 0) != stays {
		t.Errorf("%s free and %s frozen, sold %t: want the stop kept %t, have %v canceled", free, frozen, sold != nil, stays, have)
	}
}

// The price has passed botd's stop while it stands down. botd's own part is sold at market, and what another botd has bought gets a stop below the price of
// now, as far as no stop of either covers it. If the other one began before the present start, it may be selling the same units: botd's part gets a stop too.
func TestPassedStopSellsOwnPartStandingDown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]passedStop{
		"nothing covers either":                      {bought: 7, sold: 10, stopped: 7, at: 47_000e8},
		"the other's covers the other's":             {peers: 7, bought: 7, sold: 10},
		"the other's covers a part of its own":       {peers: 4, bought: 7, sold: 10, stopped: 3, at: 47_000e8},
		"the other's covers more than it has bought": {peers: 10, bought: 7, sold: 7},
		"the other's covers what both journals hold": {peers: 10},
		"botd's covers its own":                      {own: 10, bought: 7, stopped: 7, at: 47_000e8},
		"each covers its own":                        {own: 10, peers: 7, bought: 7},
		"a deposit hides what the other has sold":    {peersSold: 10, stopped: 10, at: 47_000e8},
		"the other has sold a part of it":            {peersSold: 6, sold: 4, stopped: 6, at: 47_000e8},
		"at a price above the entry":                 {peers: 7, bought: 7, price: 50_500e8, sold: 10},
		"at that, and only botd's own is covered":    {own: 10, bought: 7, price: 50_500e8, stopped: 7, at: 47_500e8},
		"the other one began first":                  {first: true, bought: 7, stopped: 17, at: 47_000e8},
		"the other one began first, and holds none":  {first: true, stopped: 10, at: 47_000e8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passedStandingDown(t, c)
		})
	}
}

type passedStop struct {
	own, peers    exchange.Quantity // of stops that stand
	bought        exchange.Quantity // by the other botd
	peersSold     exchange.Quantity // sold by it; the wallet holds as much of a deposit
	first         bool              // it began before botd's present start
	price         exchange.Price    // at which the plan stops; 0 for two percent below the entry
	sold, stopped exchange.Quantity
	at            exchange.Price // of the stops
}

// passedStandingDown has a position of ten, bought at 50,000. The last price is 48,000.
func passedStandingDown(t testing.TB, c passedStop) {
	t.Helper()
	w, _ := protecting(t)
	other := youngers
	if c.first {
		other = elders
	}
	w.tracker.Symbol(coin).unknownEnded = other + "1"
	var rows, bought []exchange.Order
	if c.own != 0 {
		rows = append(rows, w.places(placement.StopLoss, 8, stopOf(c.own)))
	}
	w.now += 60_000
	if c.bought != 0 {
		bought = append(bought, anothers(other+"1", 20, exchange.Buy, exchange.MarketOrder, c.bought, c.bought, w.now))
	}
	if c.peersSold != 0 {
		bought = append(bought, anothers(other+"3", 22, exchange.Sell, exchange.StopLimit, c.peersSold, c.peersSold, w.now))
	}
	if c.peers != 0 {
		rows = append(rows, anothers(other+"2", 21, exchange.Sell, exchange.StopLimit, c.peers, 0, w.now))
	}
	rules := w.tracker.Symbol(coin).rules
	frozen, all := rules.QuantityAmount(c.own+c.peers), rules.QuantityAmount(1_010+c.bought)
	for range 2 {
		w.sees(all.Sub(frozen).String(), frozen.String(), bought, rows...)
		w.now += peerStopMS
	}
	w.tracker.Symbol(coin).last = 48_000e8
	intents := w.derives(func(d *Desired) {
		if stopped2(d); c.price != 0 {
			d.Protection.StopLoss = strategy.Distance{Price: c.price}
		}
	})
	have := c
	have.sold, have.stopped, have.at = 0, 0, 0
	for _, i := range intents {
		switch i.Order.Type {
		case exchange.Limit:
			have.sold += i.Order.Quantity
		case exchange.StopLimit:
			have.stopped, have.at = have.stopped+i.Order.Quantity, i.Order.StopPrice
		}
	}
	if have != c {
		t.Errorf("want %+v, have %+v", c, have)
	}
}

// Without botd's own purchase there is no entry price: the stop is as far below the current price as that is below the plan's stop.
func TestPassedStopWithoutAnEntryStandingDown(t *testing.T) {
	t.Parallel()
	w := newWallet(t)
	w.observe("1")
	w.targets(0, nil)
	w.now += 60_000
	for range 2 {
		w.sees("1.007", "0", []exchange.Order{anothers(youngers+"1", 20, exchange.Buy, exchange.MarketOrder, 7, 7, w.now)})
		w.now += peerStopMS
	}
	w.tracker.Symbol(coin).last = 48_000e8
	intents := w.derives(func(d *Desired) {
		d.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: 49_000e8}}
	})
	if stopped(intents) != 7 || len(intents) != 1 || intents[0].Order.StopPrice != 47_000e8 {
		t.Errorf("want a stop of the 7 at 47000, have %+v", intents)
	}
}
