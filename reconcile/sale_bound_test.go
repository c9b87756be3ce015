package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// An older journal contains a position that its own later orders have sold, and on spot an exit would sell
// a person's units.
func TestOldJournalSellsNoMoreThanWalletShows(t *testing.T) {
	t.Parallel()
	for name, sold := range map[string]exchange.Quantity{"long after the last fill": 0, "with a fill of just now": 4} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := holding(t, ForeignHalt)
			symbol := w.tracker.Symbol(coin)
			w.now += 60_000
			w.apply(record.Record{AtMS: w.now, ClientOrderID: "bt-00000100000-1", Body: record.Halt{Level: record.LevelPause, Reason: "an old backup"}})
			if sold > 0 {
				order := w.order(6, exchange.Sell, sold)
				w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Strategy: "one", Symbol: coin,
					Body: record.Ended{State: placement.Filled, Filled: sold}})
			}
			w.now += 1_000
			w.observe("1")
			if held, closes := w.tracker.Closable(symbol), w.tracker.ToClose(symbol); held != 0 || closes != 0 {
				t.Errorf("want nothing to sell of what the wallet does not show, have %d, and %d for the kill switch", held, closes)
			}
			w.apply(record.Record{AtMS: w.now, Body: record.Halt{}})
			for range 10 {
				w.now += 1_000
				w.observe("1.01")
			}
			if held := w.tracker.Closable(symbol); held != 10-sold {
				t.Errorf("want %d held after the wallet shows it and a person rearmed it, have %d", 10-sold, held)
			}
		})
	}
}

// uncertainPurchase brings a wallet with 10 of its own and 1 of the user's to an uncertain purchase past its
// fence, and a history row without an id that bought the same quantity.
func uncertainPurchase(t *testing.T, change func(*exchange.NewOrder), left exchange.Quantity, amount string, ids bool) *wallet {
	t.Helper()
	w := holding(t, ForeignHalt)
	w.now += 60_000
	own := w.order(6, exchange.Buy, 2)
	w.apply(record.Record{AtMS: w.now, ClientOrderID: own.ClientOrderID, Strategy: "one", Symbol: coin, Body: record.Ended{State: placement.Canceled}})
	own.Status, own.CreatedMS = exchange.StatusCanceled, w.now
	if !ids {
		own.ClientOrderID = ""
	}
	order := exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Quantity: 5, Price: 50_000e8,
		ClientOrderID: w.tracker.NextClientOrderID("t")}
	change(&order)
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: order.ClientOrderID,
		Body: record.Sending{Order: order, Purpose: placement.Order, Key: "k", DeadlineMS: w.now + 5_000}})
	w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Body: record.Uncertain{Reason: "timeout"}})
	row := exchange.Order{ID: 78, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy, Type: order.Type, Quantity: left, Filled: left,
		AveragePrice: exchange.AmountOf(50_000), Status: exchange.StatusFilled, CreatedMS: w.now + 500}
	if amount != "" {
		row.QuoteAmount = exchange.MustAmount(amount)
	}
	w.now += 300_000
	w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil), HistoryWhole: true,
		History:  exchange.FetchedOf([]exchange.Order{own, row}),
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount("1.02")}})})
	if w.tracker.Symbol(coin).Quarantine() == "" {
		t.Fatal("want a row that could be the purchase to quarantine the symbol")
	}
	return w
}

func TestFlattenLeavesUnitsBeyondUncertainPurchase(t *testing.T) {
	t.Parallel()
	limit := func(*exchange.NewOrder) {}
	byAmount := func(o *exchange.NewOrder) {
		o.Type, o.Quantity, o.Price, o.QuoteAmount = exchange.MarketOrder, 0, 0, exchange.AmountOf(250)
	}
	for name, c := range map[string]struct {
		change func(*exchange.NewOrder)
		left   exchange.Quantity
		amount string
		ids    bool
		want   exchange.Quantity
	}{
		"botd's own rows show their ids":         {limit, 5, "", true, 10},
		"no row shows an id":                     {limit, 5, "", false, 15},
		"no id, partly filled":                   {limit, 3, "", false, 13},
		"no id, and more than it could buy":      {limit, 6, "", false, 10},
		"by amount, ids are shown":               {byAmount, 5, "250", true, 10},
		"by amount, no id":                       {byAmount, 5, "250", false, 15},
		"by amount, no id, of another amount":    {byAmount, 3, "150", false, 10},
		"by amount that no list shows, no id":    {byAmount, 5, "", false, 15},
		"by amount, no id, and it cost too much": {byAmount, 6, "", false, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := uncertainPurchase(t, c.change, c.left, c.amount, c.ids)
			if have := w.tracker.ToClose(w.tracker.Symbol(coin)); have != c.want {
				t.Errorf("want %d closed, have %d", c.want, have)
			}
		})
	}
}

// The wallet may be older than the sale, and the purchase may be resolved while the symbol is quarantined
// again.
func TestFlattenSellsExcessOnce(t *testing.T) {
	t.Parallel()
	t.Run("sold", func(t *testing.T) {
		t.Parallel()
		w := uncertainPurchase(t, func(*exchange.NewOrder) {}, 5, "", false)
		sale := w.order(80, exchange.Sell, 15)
		w.apply(record.Record{AtMS: w.now, ClientOrderID: sale.ClientOrderID, Strategy: "one", Symbol: coin,
			Body: record.Ended{State: placement.Filled, Filled: 15}})
		if have := w.tracker.ToClose(w.tracker.Symbol(coin)); have != 0 {
			t.Errorf("want nothing left to sell, have %d", have)
		}
	})
	t.Run("resolved", func(t *testing.T) {
		t.Parallel()
		w := uncertainPurchase(t, func(*exchange.NewOrder) {}, 5, "", false)
		for _, r := range w.tracker.Resolve(coin, false, "one", "it is mine") {
			w.apply(r)
		}
		w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Quarantined{Reason: "something else"}})
		if have := w.tracker.ToClose(w.tracker.Symbol(coin)); have != 10 {
			t.Errorf("want the 10 that fills explain, have %d", have)
		}
	})
}

// After the first sale the wallet's holding is a person's, and a repetition would sell it.
func TestUncertainSaleIsRepeatedOnlyIfWalletHasAsset(t *testing.T) {
	t.Parallel()
	for held, want := range map[string]bool{"0.015": true, "0.005": false, "0.006": false, "0.03": false} {
		w := newWallet(t)
		w.observe("0.005")
		w.now += 60_000
		w.buys(10)
		for range 4 {
			w.now += 1_000
			w.observe("0.015")
		}
		sale := w.order(20, exchange.Sell, 10)
		w.now += 1_000
		w.observe(held)
		p := w.tracker.Placement(sale.ClientOrderID)
		if d := (&inputs{tracker: w.tracker, symbol: w.tracker.Symbol(coin), ownPosition: 10}); d.saleEvidence().repeatable(p) != want {
			t.Errorf("a wallet of %s: want repeated %t", held, want)
		}
	}
}

// After the baseline was taken a person bought, and the wallet shows that holding after the first sale.
func TestUncertainSaleIsNotRepeatedWithManualUnits(t *testing.T) {
	t.Parallel()
	for bought, want := range map[string]bool{"0.015": true, "0.025": false} {
		w := newWallet(t)
		w.tracker.Symbol(coin).last = 50_000e8
		w.observe("0.005")
		w.now += 60_000
		w.buys(10)
		for range 20 {
			w.now += 1_000
			w.observe(bought)
		}
		sale := w.order(20, exchange.Sell, 10)
		w.now += 1_000
		w.observe("0.015")
		p := w.tracker.Placement(sale.ClientOrderID)
		if d := (&inputs{tracker: w.tracker, symbol: w.tracker.Symbol(coin), ownPosition: 10}); d.saleEvidence().repeatable(p) != want {
			t.Errorf("a wallet of %s before the sale: want repeated %t", bought, want)
		}
		w.start()
		w.tracker.Symbol(coin).last = 50_000e8
		w.now += 1_000
		w.observe("0.015")
		d := &inputs{tracker: w.tracker, symbol: w.tracker.Symbol(coin), ownPosition: 10}
		if d.saleEvidence().repeatable(w.tracker.Placement(sale.ClientOrderID)) != want {
			t.Errorf("a wallet of %s before the sale, and a restart: want repeated %t", bought, want)
		}
	}
}

// A wallet read after the sale lacks the sold quantity, so a later purchase is a person's. A wallet that may be
// older than the purchase proves nothing.
func TestSaleSeenInWalletIsNotRepeated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		shown   string
		waits   int64 // how long after the purchase
		partial bool
		want    bool
	}{
		"nothing is seen to be sold":                           {"0.015", 60_000, false, true},
		"it is seen to be sold":                                {"0.005", 60_000, false, false},
		"it is seen while the open list cannot be read":        {"0.005", 60_000, true, false},
		"the wallet may be older than what is sold was bought": {"0.005", 0, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWallet(t)
			w.observe("0.005")
			w.now += 60_000
			w.buys(10)
			w.now += c.waits
			if c.waits != 0 {
				w.observe("0.015")
			}
			sale := w.places(placement.Exit, 0, saleOf(10))
			w.now++
			shown := []exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(c.shown)}}
			read := &Snapshot{BeganMS: w.now, EndedMS: w.now, Balances: exchange.FetchedOf(shown)}
			if read.SpotOrders = exchange.FetchedOf[exchange.Order](nil); c.partial {
				read.SpotOrders, read.Unread = exchange.Fetched[exchange.Order]{}, []exchange.SymbolKey{{Market: exchange.Spot}}
			}
			w.tracker.Observe(read)
			w.now += 1_000
			w.observe("0.015")
			p := w.tracker.Placement(sale.ClientOrderID)
			if d := (&inputs{tracker: w.tracker, symbol: w.tracker.Symbol(coin), ownPosition: 10}); d.saleEvidence().repeatable(p) != c.want {
				t.Errorf("want repeated %t", c.want)
			}
		})
	}
}

// A restored backup does not know about later sales. Until the order history has been read, which shows them, an exit sells none of
// a person's units.
func TestUnreadHistoryBoundsSalesByWallet(t *testing.T) {
	t.Parallel()
	soldBeforeTheHistory(t)
}

func soldBeforeTheHistory(t testing.TB) {
	for amount, want := range map[string]int{"1": 0, "1.01": 1} {
		w := holding(t, ForeignHalt)
		symbol := w.tracker.Symbol(coin)
		w.now += 60_000
		w.apply(record.Record{AtMS: w.now, Body: record.Boot{Epoch: 9}})
		w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin,
			Body: record.Plan{Plan: &strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity}}}})
		w.now += 1_000
		w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil), Unread: []exchange.SymbolKey{coin},
			Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(amount)}})})
		symbol.last = 50_000e8
		intents, _ := w.tracker.Derive(&Desired{Strategy: w.tracker.Strategy("one"), Symbol: symbol, Interval: exchange.Minute1,
			Collar: exchange.RateOne / 20, Unread: true}, w.now)
		if len(intents) != want {
			t.Errorf("%s in the wallet: want %d exits, have %+v", amount, want, intents)
		}
	}
}

// A part of the position is being sold, and the record of the sale is not durable yet. The plan's resting exits are for the rest of the
// position.
func TestRestingExitExcludesSaleInFlight(t *testing.T) {
	t.Parallel()
	restingExitWithAnother(t)
}

func restingExitWithAnother(t testing.TB) {
	w := holding(t, ForeignHalt)
	symbol := w.tracker.Symbol(coin)
	symbol.last = 50_000e8
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, Body: record.Plan{Plan: &strategy.Plan{ExitsSet: true,
		Exits: []strategy.DesiredOrder{{Key: "a", Side: exchange.Sell, Quantity: 10, Price: 51_000e8}}}}})
	part := w.tracker.NextClientOrderID("t")
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: part, Body: record.Sending{DeadlineMS: w.now + 5_000,
		Purpose: placement.Exit, Order: exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.Limit,
			Quantity: 4, Price: 47_500e8, ClientOrderID: part}}})
	w.now += 1_000
	w.shows("1.01", "0")
	intents, _ := w.tracker.Derive(&Desired{Strategy: w.tracker.Strategy("one"), Symbol: symbol, Interval: exchange.Minute1,
		Collar: exchange.RateOne / 20}, w.now)
	if len(intents) != 1 || intents[0].Purpose != placement.ExitOrder || intents[0].Order.Quantity != 6 {
		t.Errorf("want a resting exit of the 6 that are left, have %+v", intents)
	}
}
