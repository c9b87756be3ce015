package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// restores restarts from a checkpoint.
func (w *wallet) restores() {
	w.t.Helper()
	saved, rules, policy := w.tracker.Checkpoint("an account"), w.tracker.Symbol(coin).rules, w.tracker.foreignPolicy
	restored, err := Restore(testSettle, &saved)
	if err != nil {
		w.t.Fatal(err)
	}
	w.tracker = restored
	w.tracker.instance, w.tracker.foreignPolicy, w.tracker.Symbol(coin).rules = "t", policy, rules
	w.apply(record.Record{AtMS: w.now, Body: record.Boot{Epoch: w.tracker.Epoch() + 1}})
}

// What a wallet had shown of a refused purchase has a stop. A start keeps it, from the records or from a checkpoint, before the quarantine and
// after it, as far as its wallet shows the asset, and the symbol needs manual resolution.
func TestStartKeepsStopOfRefusedPurchase(t *testing.T) {
	t.Parallel()
	for older, of := range map[bool]string{false: "", true: ", in an older botd's journal"} {
		startsWithEach(t, older, of)
	}
}

func startsWithEach(t *testing.T, older bool, of string) {
	for name, c := range map[string]struct {
		checkpoint bool
		rounds     int    // before the start
		free       string // after it
		keeps      bool
	}{
		"from the records, before the quarantine":          {false, 1, "1", true},
		"from the records, in the quarantine":              {false, 8, "1", true},
		"from a checkpoint, before the quarantine":         {true, 1, "1", true},
		"from a checkpoint, in the quarantine":             {true, 8, "1", true},
		"from a checkpoint, the wallet no longer shows it": {true, 8, "0.99", false},
		"from the records, the wallet no longer shows it":  {false, 8, "0.99", false},
	} {
		t.Run(name+of, func(t *testing.T) {
			t.Parallel()
			startsWithRefused(t, older, c.checkpoint, c.rounds, c.free, c.keeps)
		})
	}
}

// startsWithRefused starts from a journal that contains what the wallet showed before each order, or, as one of an older version, does not.
func startsWithRefused(t testing.TB, older, checkpoint bool, rounds int, free string, keeps bool) {
	t.Helper()
	w, _ := refusedPurchase(t, 10)
	w.hasMoney("1.02", "0", "9500")
	own, stop := w.places(placement.StopLoss, 8, stopOf(10)), w.places(placement.StopLoss, 9, stopOf(10))
	for range rounds {
		w.now += 1_000
		w.hasMoney("1", "0.02", "9500", own, stop)
	}
	w.now += 5_000
	for i := range w.records {
		if body, is := w.records[i].Body.(record.Sending); is && older {
			body.Funds = record.Funds{}
			w.records[i].Body = body
		}
	}
	if older || !checkpoint {
		w.start()
	}
	if checkpoint {
		w.restores()
	}
	derive := w.deriver()
	for range 8 {
		w.now += 1_000
		w.hasMoney(free, "0.02", "9500", own, stop)
		if have := canceled(derive()); len(have) > 0 && keeps {
			t.Fatalf("want both stops kept, have %v canceled", have)
		}
		if w.tracker.Symbol(coin).settled {
			t.Fatal("want nothing opened beside them, have it settled")
		}
	}
	symbol := w.tracker.Symbol(coin)
	if have := canceled(derive()); len(have) == 0 && !keeps {
		t.Errorf("want the stop taken off whose asset the wallet does not show, have none")
	}
	if symbol.settled || symbol.Quarantine() == "" {
		t.Errorf("want a person to check, have settled %t, quarantine %q", symbol.settled, symbol.Quarantine())
	}
	if !keeps {
		return
	}
	before := symbol.Known() - symbol.Fees()
	for _, r := range w.tracker.Resolve(coin, true, "one", "seen") {
		w.apply(r)
	}
	if have := symbol.Known() - symbol.Fees() - before; have != w.tracker.baseBalance(symbol)-symbol.Baseline()-before {
		t.Errorf("want the excess adopted, have %d of it", have)
	}
}

// A stop from before the start that covers what fills explain, or what others sold, is not evidence of a purchase.
func TestStopsOfBeforeTheStartBeyondTheFills(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		with func(w *wallet) []exchange.Order
		want exchange.Quantity
	}{
		"the position's":         {func(w *wallet) []exchange.Order { return []exchange.Order{w.places(placement.StopLoss, 8, stopOf(10))} }, 0},
		"more than the position": {func(w *wallet) []exchange.Order { return []exchange.Order{w.places(placement.StopLoss, 8, stopOf(17))} }, 7},
		"more than what fees have left of it": {func(w *wallet) []exchange.Order {
			w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Fees{Quantity: 2}})
			return []exchange.Order{w.places(placement.StopLoss, 8, stopOf(17))}
		}, 9},
		"the unit that rounded fees have left":                      {func(w *wallet) []exchange.Order { return w.stopsBeyondFees(9) }, 0},
		"a unit more than fees have left":                           {func(w *wallet) []exchange.Order { return w.stopsBeyondFees(10) }, 2},
		"the unit that rounded fees have left of an ended position": {func(w *wallet) []exchange.Order { return w.stopsAfterFees(1, false) }, 0},
		"two of them": {func(w *wallet) []exchange.Order { return w.stopsAfterFees(2, false) }, 2},
		"one that the wallet has shown to be others'": {func(w *wallet) []exchange.Order { return w.stopsAfterFees(1, true) }, 1},
		"where nothing is held any more": {func(w *wallet) []exchange.Order {
			w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Quantity: -10}})
			return []exchange.Order{w.places(placement.StopLoss, 8, stopOf(7))}
		}, 7},
		"an uncertain one":          {func(w *wallet) []exchange.Order { w.places(placement.StopLoss, 0, stopOf(17)); return nil }, 0},
		"a sale that is not a stop": {func(w *wallet) []exchange.Order { return []exchange.Order{w.places(placement.Exit, 8, saleOf(17))} }, 0},
	} {
		stopsBeforeTheStart(t, name, func(w *wallet) { c.with(w) }, c.want)
	}
}

func stopsBeforeTheStart(t testing.TB, name string, with func(w *wallet), want exchange.Quantity) {
	w, _ := protecting(t)
	with(w)
	w.now += 5_000
	w.restores()
	w.tracker.Symbol(coin).last = 50_000e8
	if have := w.tracker.inheritedStops(w.tracker.Symbol(coin)); have != want {
		t.Errorf("%s: want %d, have %d", name, want, have)
	}
}

// stopsBeyondFees places a stop for a position of ten whose fees are booked as two units, in a market where a unit is worth an order.
func (w *wallet) stopsBeyondFees(quantity exchange.Quantity) []exchange.Order {
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Fees{Quantity: 2}})
	return []exchange.Order{w.places(placement.StopLoss, 8, stopOf(quantity))}
}

// stopsAfterFees has the position of ten sold except for its fees, two units, and places a stop for what the wallet shows to be left. Others' units may be
// journalled in between.
func (w *wallet) stopsAfterFees(quantity exchange.Quantity, others bool) []exchange.Order {
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Fees{Quantity: 2}})
	sale := w.places(placement.Exit, 7, saleOf(8))
	w.apply(record.Record{AtMS: w.now, ClientOrderID: sale.ClientOrderID, Strategy: "one", Symbol: coin,
		Body: record.Ended{State: placement.Filled, Filled: 8}})
	if others {
		w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Baseline{Quantity: 1_000}})
	}
	return []exchange.Order{w.places(placement.StopLoss, 8, stopOf(quantity))}
}

// After a start a stop was canceled, and an exit has sold a part of what it protected. The last wallet is from before the sale, and neither a later
// one nor the end of the stop has been read: that wallet shows nothing beyond the fills.
func TestWalletOfBeforeASaleShowsNothingBeyondTheFills(t *testing.T) {
	t.Parallel()
	walletOfBeforeASale(t)
}

func walletOfBeforeASale(t testing.TB) {
	t.Helper()
	w := holding(t, ForeignHalt)
	own := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 5_000
	w.restores()
	symbol := w.tracker.Symbol(coin)
	symbol.last = 50_000e8
	w.now += 1_000
	w.hasMoney("1", "0.01", "9500", own)
	sold := w.places(placement.Exit, 9, saleOf(5))
	w.now += 1_000
	w.apply(record.Record{AtMS: w.now, ClientOrderID: sold.ClientOrderID, Strategy: "one", Symbol: coin,
		Body: record.Ended{State: placement.Filled, Filled: 5}})
	w.now += 100
	old := exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount("1.01")}, {Asset: "USDT", Free: exchange.MustAmount("9500")}})
	w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil),
		Balances: old,
		Unread:   []exchange.SymbolKey{coin}})...)
	if symbol.spot.inherited.quantity == 0 {
		t.Fatal("want the stop to protect more than the fills, have it covered")
	}
	for range 20 {
		w.now += 1_000
		w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil),
			Unread: []exchange.SymbolKey{coin}})...)
		if symbol.Quarantine() != "" {
			t.Fatalf("want nothing concluded from that wallet, have %q", symbol.Quarantine())
		}
	}
	if symbol.settled {
		t.Error("want nothing opened before the next wallet, have it settled")
	}
}

// A wallet that shows half, and freezes less than the resting stops require, removes none of them after a start, in the quarantine or before it.
func TestHalfAWalletAfterAStartTakesNoStopOff(t *testing.T) {
	t.Parallel()
	for _, rounds := range []int{1, 8} {
		halfAWalletAfterAStart(t, rounds)
	}
	w, own, stop := inheritsStop(t, 1) // one step, the least that can be protected
	derive := w.deriver()
	w.now += 1_000
	if w.hasMoney("0.5", "0.005", "4750", own, stop); len(canceled(derive())) > 0 {
		t.Errorf("want the stop of one step kept, have %v canceled", canceled(derive()))
	}
}

func halfAWalletAfterAStart(t testing.TB, rounds int) {
	t.Helper()
	w, _ := refusedPurchase(t, 10)
	w.hasMoney("1.02", "0", "9500")
	own, stop := w.places(placement.StopLoss, 8, stopOf(10)), w.places(placement.StopLoss, 9, stopOf(10))
	for range rounds {
		w.now += 1_000
		w.hasMoney("1", "0.02", "9500", own, stop)
	}
	w.now += 5_000
	w.restores()
	derive := w.deriver()
	for range 20 {
		w.now += 1_000
		w.hasMoney("0.5", "0.01", "4750", own, stop)
		if have := canceled(derive()); len(have) > 0 {
			t.Fatalf("after %d rounds: want both stops kept, have %v canceled", rounds, have)
		}
	}
}

// inheritsStop starts with a stop of the ten that are held, and one of a quantity that only the wallet shows.
func inheritsStop(t testing.TB, beyond exchange.Quantity) (w *wallet, own, stop exchange.Order) {
	t.Helper()
	w, _ = protecting(t)
	own, stop = w.places(placement.StopLoss, 8, stopOf(10)), w.places(placement.StopLoss, 9, stopOf(beyond))
	w.now += 5_000
	w.restores()
	w.tracker.Symbol(coin).last = 50_000e8
	return w, own, stop
}

// A wallet that freezes less than the resting stops require ends no protection. But no money has paid for what only such a stop explains: the equity does
// not include it, and no peak rises by it.
func TestInheritedStopIsNoMoney(t *testing.T) {
	t.Parallel()
	inheritedStopIsNoMoney(t)
}

func inheritedStopIsNoMoney(t testing.TB) {
	t.Helper()
	for name, c := range map[string]struct {
		free, frozen, cash string
		want               exchange.Quantity
	}{
		"an old wallet":                             {"1.01", "0", "9500", 0},
		"a wallet that shows a purchase":            {"1", "0.02", "9000", 10},
		"a wallet that shows half":                  {"0.5", "0.005", "4750", 0},
		"a wallet that shows a part of a purchase":  {"1.015", "0", "9250", 5},
		"a wallet that shows more than a purchase":  {"1.2", "0", "9000", 10},
		"a wallet that shows and freezes the fills": {"1", "0.01", "9500", 0},
	} {
		w, own, stop := inheritsStop(t, 10)
		w.now += 1_000
		w.hasMoney(c.free, c.frozen, c.cash, own, stop)
		if have := w.tracker.BoughtUnbooked(w.tracker.Symbol(coin)); have != c.want {
			t.Errorf("%s: want %d, have %d", name, c.want, have)
		}
	}
}

// Such a stop needs manual resolution once wallets have shown its quantity for longer than L, one second, without interruption. A wallet that may be
// older than the last fill does not count, nor does the time before it.
func TestInheritedStopIsQuarantinedWhenWalletsKeepShowingIt(t *testing.T) {
	t.Parallel()
	type read struct {
		afterMS     int64 // since the one before
		lacks       bool  // the wallet does not show the quantity
		sells       bool  // botd's own sale of one step is booked before it
		quarantined bool
	}
	for name, c := range map[string]struct {
		beyond exchange.Quantity
		reads  []read
	}{
		"for a second":                 {10, []read{{afterMS: 1_000}, {afterMS: 1_000}, {afterMS: 1, quarantined: true}}},
		"one step, the least of all":   {1, []read{{afterMS: 1_000}, {afterMS: 1_000}, {afterMS: 1, quarantined: true}}},
		"a wallet in between lacks it": {10, []read{{afterMS: 1_000}, {afterMS: 900}, {afterMS: 100, lacks: true}, {afterMS: 100}, {afterMS: 900}}},
		"a sale in between":            {10, []read{{afterMS: 1_000}, {afterMS: 400}, {afterMS: 100, sells: true}, {afterMS: 850}, {afterMS: 200}}},
		"a sale in between, for long": {10, []read{{afterMS: 1_000}, {afterMS: 400}, {afterMS: 100, sells: true}, {afterMS: 1_000},
			{afterMS: 601, quarantined: true}}},
		"a sale just before the first one": {10, []read{{afterMS: 500, sells: true}, {afterMS: 501}, {afterMS: 600}, {afterMS: 500}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, own, stop := inheritsStop(t, c.beyond)
			symbol, asset := w.tracker.Symbol(coin), exchange.Quantity(1_000)
			for i, one := range c.reads {
				w.now += one.afterMS
				if one.sells {
					sold := w.places(placement.Exit, 20, saleOf(1))
					w.apply(record.Record{AtMS: w.now, ClientOrderID: sold.ClientOrderID, Body: record.Ended{State: placement.Filled, OrderID: 20, Filled: 1}})
					asset--
				}
				free, frozen := symbol.rules.QuantityAmount(asset), symbol.rules.QuantityAmount(10+c.beyond)
				if one.lacks {
					free = symbol.rules.QuantityAmount(asset - c.beyond)
				}
				w.hasMoney(free.String(), frozen.String(), "9500", own, stop)
				if have := symbol.Quarantine() != ""; have != one.quarantined || symbol.settled && !one.lacks {
					t.Fatalf("read %d: want it quarantined %t, have %q, settled %t", i+1, one.quarantined, symbol.Quarantine(), symbol.settled)
				}
			}
		})
	}
}

// The stop belongs to a purchase whose answer was lost: that is decided otherwise.
func TestInheritedStopOfALostPurchaseIsNotQuarantined(t *testing.T) {
	t.Parallel()
	w, _ := protecting(t)
	w.places(placement.Entry, 0, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 10, Price: 50_000e8})
	own, stop := w.places(placement.StopLoss, 8, stopOf(10)), w.places(placement.StopLoss, 9, stopOf(10))
	w.now += 1_000
	w.restores()
	w.tracker.Symbol(coin).last = 50_000e8
	for range 4 {
		w.now += 600
		w.hasMoney("1", "0.02", "9500", own, stop)
	}
	if have := w.tracker.Symbol(coin).Quarantine(); have != "" {
		t.Errorf("want no quarantine, have %q", have)
	}
}

// After a start no row has shown yet whether the history leaves botd's ids out. A row without one, of the amount and the seconds of a purchase
// whose answer was lost, is no purchase of others: what the wallet shows of it gets a stop.
func TestRowWithoutIDOfTheLostAmountIsNotOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		orderID int64 // of the purchase, if it was acknowledged
		change  func(*exchange.Order)
		want    exchange.Quantity
	}{
		"of its amount":             {0, func(*exchange.Order) {}, 10},
		"of another amount":         {0, func(o *exchange.Order) { o.QuoteAmount = exchange.AmountOf(519) }, 0},
		"of a second earlier":       {0, func(o *exchange.Order) { o.CreatedMS -= 1_000 }, 10},
		"of more than that earlier": {0, func(o *exchange.Order) { o.CreatedMS -= 1_001 }, 0},
		"of ten seconds later":      {0, func(o *exchange.Order) { o.CreatedMS += 10_000 }, 10},
		"of more than that later":   {0, func(o *exchange.Order) { o.CreatedMS += 10_001 }, 0},
		"of an earlier minute":      {0, func(o *exchange.Order) { o.CreatedMS -= 60_000 }, 0},
		"of a later minute":         {0, func(o *exchange.Order) { o.CreatedMS += 60_000 }, 0},
		"under a person's name":     {0, func(o *exchange.Order) { o.ClientOrderID = "by hand" }, 0},
		"of a purchase with an id":  {19, func(*exchange.Order) {}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lostAmount(t, c.orderID, c.change, c.want)
		})
	}
}

func lostAmount(t testing.TB, orderID int64, change func(*exchange.Order), want exchange.Quantity) {
	t.Helper()
	w := newWallet(t)
	w.tracker.foreignPolicy = ForeignHalt
	w.observe("1")
	w.now += 60_000
	w.tracker.Symbol(coin).last = 50_000e8
	lost := exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(520)}
	w.places(placement.Entry, orderID, lost)
	row := anothers("", 20, exchange.Buy, exchange.MarketOrder, 10, 10, w.now)
	row.QuoteAmount = exchange.AmountOf(520)
	w.now += 5_000
	w.start()
	derive := w.deriver()
	change(&row)
	for range 3 {
		w.now += 1_000
		w.sees("1.01", "0", []exchange.Order{row})
	}
	if have := stopped(derive()); have != want {
		t.Errorf("want a stop of %d, have %d", want, have)
	}
}
