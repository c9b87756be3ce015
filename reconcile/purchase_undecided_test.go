package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// The history omits the purchase, its stop was placed because of an earlier wallet, and the next wallet is wrong.
func TestUnlistedPurchaseKeepsStopAgainstOneWallet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		held   bool // ten more are owned, and their fills are known
		wallet string
	}{
		"a wallet without any of it":     {false, "1"},
		"a wallet that is empty":         {false, "0"},
		"a wallet of before, and others": {true, "1.01"},
		"a wallet with half of it":       {true, "1.015"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vanishes(t, c.held, c.wallet)
		})
	}
}

func vanishes(t testing.TB, held bool, wallet string) {
	w, derive := protecting(t)
	shown := "1.02"
	if !held {
		w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Quantity: -10}})
		shown = "1.01"
	}
	w.now += 60_000
	w.places(placement.Entry, 7, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)})
	var stops []exchange.Order
	if held {
		stops = append(stops, w.places(placement.StopLoss, 8, stopOf(10)))
	}
	w.now += 1_000
	w.shows(shown, "0", stops...)
	if have := stopped(derive()); have != 10 {
		t.Fatalf("want a stop of the ten that the wallet shows, have %d", have)
	}
	stops = append(stops, w.places(placement.StopLoss, 9, stopOf(10)))
	for range 20 {
		w.now += 1_000
		w.shows(wallet, "0", stops...)
		if intents := derive(); slices.Contains(purposes(intents), placement.Cancel) {
			t.Fatalf("want the stops to stand, have %+v", intents)
		}
	}
}

// A person bought at the same time as a purchase whose answer was lost, and the wallet looked like the purchase. The stop goes once the history shows the
// person's order, before and after a start, but for the part that only the purchase explains.
func TestPurchaseOfOthersKeepsNoStop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		free     string            // in addition to the stop's ten
		bought   exchange.Quantity // by the person
		starts   bool
		canceled bool
	}{
		"all of it":              {"1", 10, false, true},
		"all of it, and a start": {"1", 10, true, true},
		"all of it, and the newest wallet lacks it":     {"0.99", 10, false, true},
		"as much as the purchase, and both were shown":  {"1.01", 10, false, false},
		"less, and the newest wallet lacks it":          {"0.99", 4, false, false},
		"less, the newest wallet lacks it, and a start": {"0.99", 4, true, false},
		"more than any wallet has shown":                {"1", 30, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lostAmongOthers(t, c.free, c.bought, c.starts, c.canceled)
		})
	}
}

func lostAmongOthers(t testing.TB, free string, bought exchange.Quantity, starts, want bool) {
	t.Helper()
	w, derive := protecting(t)
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Quantity: -10}})
	w.now += 60_000
	w.places(placement.Entry, 0, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)})
	w.now += 1_000
	theirs := anothers("manual", 20, exchange.Buy, exchange.MarketOrder, bought, bought, w.now)
	w.shows("1.01", "0")
	if have := stopped(derive()); have != 10 {
		t.Fatalf("want a stop of the ten that the wallet shows, have %d", have)
	}
	stop := w.places(placement.StopLoss, 9, stopOf(10))
	if starts {
		w.now += 5_000
		w.start()
		derive = w.deriver()
	}
	for range 3 {
		w.now += 1_000
		w.sees(free, "0.01", []exchange.Order{theirs}, stop)
	}
	if have := len(canceled(derive())) > 0; have != want {
		t.Errorf("want the stop canceled %t, have %t; %d undecided", want, have, w.tracker.Symbol(coin).spot.unlisted.undecided)
	}
}

// What a wallet has shown counts only for the purchases of that time, and never for more than they may have bought.
func TestShownExcessIsOfLivePurchases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                     string
		shown, baseBalance, most exchange.Quantity // ten are explained, next to a thousand
		others                   []exchange.Quantity
		wantShown, wantUndecided exchange.Quantity
	}{
		{"the newest wallet shows more", 5, 1_018, 30, nil, 8, 8},
		{"an earlier one did", 9, 1_018, 30, nil, 9, 9},
		{"of others, in part", 9, 1_010, 30, []exchange.Quantity{3, 4}, 9, 2},
		{"all of others", 9, 1_010, 30, []exchange.Quantity{12}, 9, 0},
		{"more than was bought", 9, 1_018, 4, nil, 9, 4},
		{"nothing is live", 9, 1_018, 0, nil, 0, 0},
	} {
		w := explains(t, 10, 0)
		symbol := w.tracker.Symbol(coin)
		symbol.spot.unlisted.maxBeyondFills, symbol.spot.unlisted.undecided = c.shown, 100
		for i, filled := range c.others {
			symbol.spot.unlisted.unclaimed = append(symbol.spot.unlisted.unclaimed, exchange.Order{ID: int64(50 + i), Filled: filled})
		}
		w.reads(c.baseBalance, 0).unlistedOrders().noteUndecided(symbol, c.most, w.now)
		if after := &symbol.spot; after.unlisted.maxBeyondFills != c.wantShown || after.unlisted.undecided != c.wantUndecided {
			t.Errorf("%s: want %d shown, %d undecided, have %d, %d", c.name, c.wantShown, c.wantUndecided,
				after.unlisted.maxBeyondFills, after.unlisted.undecided)
		}
	}
}

// The purchase has ended.
func TestUnfilledPurchaseInHistoryLeavesNoStop(t *testing.T) {
	t.Parallel()
	w, derive := protecting(t)
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Quantity: -10}})
	w.now += 60_000
	bought := w.places(placement.Entry, 7, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)})
	w.now += 1_000
	w.shows("1.01", "0")
	stop := w.places(placement.StopLoss, 9, stopOf(10))
	bought.Status = exchange.StatusCanceled
	for range 3 {
		w.now += 1_000
		w.sees("1", "0", []exchange.Order{bought}, stop)
	}
	if have := canceled(derive()); len(have) != 1 || have[0] != 9 {
		t.Errorf("want the stop canceled, have %v", have)
	}
}

// Botd's own part is sold.
func TestAnotherBotdsPurchaseKeepsStopAgainstOneWallet(t *testing.T) {
	t.Parallel()
	walletWithoutPeer(t)
}

func walletWithoutPeer(t testing.TB) {
	w, derive := protecting(t)
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Quantity: -10}})
	bought := anothers(elders+"1", 40, exchange.Buy, exchange.MarketOrder, 10, 10, w.now)
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	for range 5 {
		w.now += 1_000
		w.sees("1", "0.01", []exchange.Order{bought}, stop)
	}
	for range 20 {
		w.now += 1_000
		w.sees("0", "0", []exchange.Order{bought}, stop)
		if intents := derive(); slices.Contains(purposes(intents), placement.Cancel) {
			t.Fatalf("want the stop to stand, have %+v", intents)
		}
	}
	w.now += 1_000
	w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, Unread: []exchange.SymbolKey{{Market: exchange.Spot}},
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount("1"), Frozen: exchange.MustAmount("0.01")}})})
	if intents := derive(); slices.Contains(purposes(intents), placement.Cancel) {
		t.Errorf("the wallet shows it again, and the orders cannot be read: want the stop to stand, have %+v", intents)
	}
}

// The order whose row cannot be read is still live.
func TestWalletFreezesLessThanUnreadableStop(t *testing.T) {
	t.Parallel()
	frozenLess(t)
}

func frozenLess(t testing.TB) {
	w, derive := protecting(t)
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Quarantined{Reason: "a test"}})
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 1_000
	w.shows("1", "0.01", stop)
	w.now += 1_000
	row := exchange.UnreadableRow{ID: stop.ID, ClientOrderID: stop.ClientOrderID, Symbol: stop.Symbol}
	w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil),
		UnreadOrders: []UnreadOrder{{Market: exchange.Spot, Open: true, Row: row}},
		Balances:     exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount("0.999"), Frozen: exchange.MustAmount("0.005")}})})
	if intents := derive(); slices.Contains(purposes(intents), placement.Cancel) {
		t.Errorf("want the stop to stand, have %+v", intents)
	}
}

// If a wallet without any of the asset is right, the exchange refuses the stop. A wallet that shows less than the earlier balance lacks a person's units
// too, which no botd sells. One that shows the earlier balance is trusted, because another botd may have sold.
func TestEmptyWalletBlocksNoStopWhileStandingDown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		free string
		want exchange.Quantity
	}{
		"all of it":                     {"1.02", 20},
		"none at all":                   {"0", 20},
		"too little for an order":       {"0.00009", 20},
		"what was there before alone":   {"1", 10},
		"a part of it":                  {"1.004", 14},
		"less than was there before":    {"0.5", 20},
		"some, and nothing else before": {"0.004", 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			walletOfNone(t, c.free, c.want)
		})
	}
}

// The same applies in a quarantine (seed 1100000895).
func TestEmptyWalletBlocksNoStopInAQuarantineWhileStandingDown(t *testing.T) {
	t.Parallel()
	quarantinedNone(t)
}

func quarantinedNone(t testing.TB) {
	w, derive := protecting(t)
	w.apply(quarantineOf("a test"))
	besidesPeer(w, derive, "0", 20)
}

// walletOfNone has botd and another one hold ten each without a stop, besides the earlier balance.
func walletOfNone(t testing.TB, free string, want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t)
	besidesPeer(w, derive, free, want)
}

func besidesPeer(w *wallet, derive func() []Intent, free string, want exchange.Quantity) {
	w.t.Helper()
	bought := anothers(elders+"1", 40, exchange.Buy, exchange.MarketOrder, 10, 10, w.now)
	for range 5 {
		w.now += 1_000
		w.sees("1.02", "0", []exchange.Order{bought})
	}
	w.now += 1_000
	if w.sees(free, "0", []exchange.Order{bought}); stopped(derive()) != want {
		w.t.Errorf("want stops of %d, have %d", want, stopped(derive()))
	}
}

// The wallet showed the ten of a purchase, four of which are booked since. Others bought four of the other six, as the history shows, so that a stop of all
// ten would sell a person's units.
func TestBookedPartOfAPurchaseIsNotUndecidedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		theirs exchange.Quantity
		want   []int64
	}{"others bought none": {0, nil}, "others bought four": {4, []int64{9}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, derive := protecting(t)
			w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Quantity: -10}})
			w.now += 60_000
			bought := w.places(placement.Entry, 0, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 10, Price: 50_000e8})
			w.now += 1_000
			w.shows("1.01", "0")
			stop := w.places(placement.StopLoss, 9, stopOf(10))
			w.apply(record.Record{AtMS: w.now, ClientOrderID: bought.ClientOrderID, Body: record.Acknowledged{OrderID: 7}})
			w.apply(record.Record{AtMS: w.now, ClientOrderID: bought.ClientOrderID, Body: record.Fill{OrderID: 7, Filled: 4}})
			var rows []exchange.Order
			if c.theirs != 0 {
				rows = append(rows, anothers("manual", 20, exchange.Buy, exchange.MarketOrder, c.theirs, c.theirs, w.now))
			}
			for range 3 {
				w.now += 1_000
				w.sees("0.994", "0.01", rows, stop)
			}
			if have := canceled(derive()); !slices.Equal(have, c.want) {
				t.Errorf("want %v canceled, have %v", c.want, have)
			}
		})
	}
}

// The wallet shows twice what a purchase may have bought, and the money of both is gone: either the exchange executed it twice, or a person bought as much
// while a stop was executed, whose proceeds hide that. A history decides. Until one is read, stops cover all of it, but only one execution is sold at once.
func TestUnconfirmedSecondExecutionIsNotSold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		unread []exchange.SymbolKey
		want   exchange.Quantity
	}{
		"the history was read, and shows nothing": {nil, 20},
		"the history could not be read":           {[]exchange.SymbolKey{coin}, 10},
		"none of the market could be read":        {[]exchange.SymbolKey{{Market: exchange.Spot}}, 10},
		"that of another symbol was not read":     {[]exchange.SymbolKey{{Market: exchange.Spot, Name: "ETH-USDT"}}, 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secondExecutionSold(t, c.unread, c.want)
		})
	}
}

// While no open list can be read, each round finds the same second execution: it counts once.
func TestSecondExecutionCountsOnceInManyRounds(t *testing.T) {
	t.Parallel()
	w, _ := protecting(t)
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Quantity: -10}})
	w.now += 60_000
	w.hasMoney("1", "0", "10000")
	w.now += 1_000
	w.places(placement.Entry, 7, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)})
	for range 3 {
		w.now += 1_000
		w.unread("1.02", "9000")
	}
	if have := w.tracker.Symbol(coin).spot.unlisted.second; have != 10 {
		t.Errorf("want a second execution of 10, have %d", have)
	}
}

func secondExecutionSold(t testing.TB, unread []exchange.SymbolKey, want exchange.Quantity) {
	t.Helper()
	w, _ := protecting(t)
	w.now += 60_000
	w.observe("1.01")
	w.hasMoney("1.01", "0", "10000")
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 10_000
	w.hasMoney("1", "0.01", "10000", stop)
	w.now += 1_000
	w.places(placement.Entry, 0, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)})
	w.now += 10_000
	w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil), Unread: unread,
		History: exchange.FetchedOf[exchange.Order](nil), HistoryWhole: true,
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount("1.03")},
			{Asset: "USDT", Free: exchange.MustAmount("9000")}})})
	w.tracker.Symbol(coin).last = 48_000e8
	sold := exchange.Quantity(0)
	for _, one := range w.derives(func(d *Desired) { stopped2(d); d.Unread = unread != nil }) {
		if one.Purpose == placement.StopLoss && one.Order.Type != exchange.StopLimit {
			sold += one.Order.Quantity
		}
	}
	if sold != want {
		t.Errorf("want %d sold at once, have %d", want, sold)
	}
}
