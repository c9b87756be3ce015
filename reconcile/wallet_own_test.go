package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Of 10, a stop covers 6, and one over the other 4 has been canceled. The wallet is older: it still freezes these. Where nobody else has units of the asset,
// the next stop waits for no newer wallet, whatever the exchange has refused and whatever is quarantined: it refuses a stop too many. Where a person has
// units, a stop too many would sell them.
func TestOldWalletBlocksNoStopIfNobodyElseHasUnits(t *testing.T) {
	t.Parallel()
	onlyOwnUnits(t)
}

func onlyOwnUnits(t testing.TB) {
	t.Helper()
	exitRefused := func(w *wallet, _ exchange.Order) []exchange.Order {
		w.now += 60_000
		w.refuses(placement.Exit, saleOf(4))
		w.now += 1_000
		return nil
	}
	quarantined := func(w *wallet, stop exchange.Order) []exchange.Order {
		w.now += 60_000
		w.apply(quarantineOf("a test"))
		return []exchange.Order{stop}
	}
	stopRefused := func(w *wallet, _ exchange.Order) []exchange.Order { // the open list omits the stop that rests, and perhaps this one too
		w.now += 500
		w.refuses(placement.StopLoss, stopOf(4))
		w.now += 500
		return nil
	}
	lost := func(w *wallet, stop exchange.Order) []exchange.Order {
		open := quarantined(w, stop)
		w.places(placement.Entry, 0, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 3, Price: 50_000e8})
		w.now += 1_000
		return open
	}
	for _, c := range []struct {
		name         string
		others       string // what others have at the start
		free, frozen string // by the wallet, afterwards
		with         func(w *wallet, stop exchange.Order) (open []exchange.Order)
		want         exchange.Quantity
	}{
		{"an exit is refused", "0", "0", "0.01", exitRefused, 4},
		{"the symbol is quarantined", "0", "0", "0.01", quarantined, 4},
		{"the wallet has less", "0", "0", "0.009", quarantined, 3},
		{"a purchase without an answer has bought 3", "0", "0.003", "0.01", lost, 7},
		{"a stop is refused that may rest", "0", "0", "0.01", stopRefused, 4},
		{"an exit is refused, and a person has units", "1", "1", "0.01", exitRefused, 0},
		{"the symbol is quarantined, and a person has units", "1", "1", "0.01", quarantined, 4},
		{"a person's units are frozen", "1", "0", "1.01", quarantined, 0},
		{"a person has deposited units", "0", "0", "1.01", quarantined, 0},
		{"a stop is refused that may rest, and a person has units", "1", "1", "0.01", stopRefused, 0},
	} {
		w := holdingNextTo(t, ForeignHalt, c.others)
		derive := w.deriver()
		stop, off := w.places(placement.StopLoss, 8, stopOf(6)), w.places(placement.StopLoss, 9, stopOf(4))
		w.now += 60_000
		w.shows(c.others, "0.01", stop, off)
		w.answersCancel(off)
		w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: off.ClientOrderID, Body: record.Ended{State: placement.Canceled}})
		open := c.with(w, stop)
		w.shows(c.free, c.frozen, open...)
		if have := stopped(derive()); have != c.want {
			t.Errorf("%s: want a stop of %d, have %d", c.name, c.want, have)
		}
	}
}

// A wallet that must be read again no longer shows that nobody else has units.
func TestForgottenWalletDoesNotShowThatNobodyElseHasUnits(t *testing.T) {
	t.Parallel()
	for _, forgets := range []bool{false, true} {
		w := holdingNextTo(t, ForeignHalt, "0")
		derive := w.deriver()
		stop := w.places(placement.StopLoss, 8, stopOf(6))
		w.now += 60_000
		w.apply(quarantineOf("a test"))
		w.shows("0", "0.01", stop)
		want := exchange.Quantity(4)
		if forgets {
			w.tracker.ForgetWallet()
			want = 0
		}
		if have := stopped(derive()); have != want {
			t.Errorf("forgotten %t: want a stop of %d, have %d", forgets, want, have)
		}
	}
}

// A wallet that showed nothing for long is contradicted, and a sale of 6 of 10 has been booked since. The price has passed the stop of the rest. It is sold as
// far as the newest wallet shows it, although that may be older than the sale. If that wallet still shows nothing, not even a person's units, the rest gets a
// stop below the price of now.
func TestRestOfAContradictedPositionIsSoldWhenItsPriceIsPassed(t *testing.T) {
	t.Parallel()
	for shown, want := range map[string]string{
		"1.004": "stop_loss sell limit 4 at 45600: the price has already passed the stop",
		"1.003": "stop_loss sell limit 3 at 45600: the price has already passed the stop",
		"1.01":  "stop_loss sell limit 4 at 45600: the price has already passed the stop",
		"1":     "",
		"0":     "stop_loss sell stop_limit 4 at 44650 stop 47000: protects the position",
	} {
		contradictedRest(t, shown, want)
	}
}

func contradictedRest(t testing.TB, shown, want string) {
	t.Helper()
	w, derive := protecting(t)
	for range 10 {
		w.now += 1_000
		w.observe("0")
	}
	if w.tracker.Symbol(coin).contradicted == "" {
		t.Fatal("want it contradicted")
	}
	exit := w.sends(placement.Exit, 8, saleOf(6))
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: exit.ClientOrderID,
		Body: record.Ended{State: placement.Filled, Filled: 6, OrderID: 8}})
	w.now += 500
	w.observe(shown)
	w.tracker.Symbol(coin).last = 48_000e8
	if have := summary(derive()); have != want {
		t.Errorf("%s shown: want %q, have %q", shown, want, have)
	}
}

// The remainder of an earlier position is too small for an order, and no list shows the purchase of ten. The stop is measured from the price of now, not
// from the entry of the remainder, whose stop that price has passed.
func TestStopOfAnUnlistedPurchaseIgnoresTheEntryOfARemainder(t *testing.T) {
	t.Parallel()
	purchaseWithRemainder(t)
}

func purchaseWithRemainder(t testing.TB) {
	t.Helper()
	w, _ := protecting(t)
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Quantity: -9}})
	w.now += 60_000
	w.observe("1.001")
	symbol := w.tracker.Symbol(coin)
	rules := *symbol.rules
	rules.MinNotional = exchange.AmountOf(100)
	symbol.rules, symbol.last = &rules, 45_000e8
	w.places(placement.Entry, 8, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(450)})
	w.now += 2_000
	w.shows("1.011", "0")
	if have, want := stopped(w.derives(stopped2)), exchange.Quantity(11); have != want {
		t.Fatalf("want a stop of %d, have %d", want, have)
	}
	if intent := w.derives(stopped2)[0]; intent.Order.StopPrice != 44_100e8 {
		t.Errorf("want it two percent below 45000, have %+v", intent)
	}
}

// The exchange answered that it canceled a stop, and an old list shows it as open again. If the wallet freezes less than the listed stops need, its units get
// another stop (seeds 1103034339, 1104027817).
func TestStopThatAnOldListShowsAfterItsCancelIsReplaced(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		frozen            string
		answered, refused bool
		want              exchange.Quantity
	}{
		{"0.006", true, true, 4}, {"0.01", true, true, 0}, {"0.006", true, false, 4}, {"0.006", false, true, 0},
	} {
		listedAfterItsCancel(t, c.frozen, c.answered, c.refused, c.want)
	}
}

func listedAfterItsCancel(t testing.TB, frozen string, answered, refused bool, want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t)
	stop, off := w.places(placement.StopLoss, 8, stopOf(6)), w.places(placement.StopLoss, 9, stopOf(4))
	w.now += 60_000
	free := exchange.MustAmount("1.01").Sub(exchange.MustAmount(frozen)).String()
	w.shows("1", "0.01", stop, off)
	if answered {
		w.answersCancel(off)
	}
	for range 2 {
		w.now += 60_000
		w.shows(free, frozen, stop, off)
		if refused {
			w.tracker.NoteCancelRefused(off.ClientOrderID, w.now)
		}
	}
	w.now += cancelRefusedWaitMS
	w.shows(free, frozen, stop, off)
	if have := stopped(derive()); have != want {
		t.Errorf("%s frozen, canceled %t, then refused %t: want a stop of %d, have %d", frozen, answered, refused, want, have)
	}
}

// One of two stops has been canceled, and the price has passed both. An old history shows the other one without an end, but the wallet lacks what that one
// covers. What the wallet shows is sold or, if it may be a person's, gets another stop.
func TestCanceledStopsUnitsAreSoldBesideAStopThatMayHaveExecuted(t *testing.T) {
	t.Parallel()
	for others, want := range map[string]exchange.OrderType{"0": exchange.Limit, "1": exchange.StopLimit} {
		executedUnseen(t, others, want)
	}
}

func executedUnseen(t testing.TB, others string, want exchange.OrderType) {
	t.Helper()
	w := holdingNextTo(t, ForeignHalt, others)
	derive := w.deriver()
	stop, off := w.places(placement.StopLoss, 8, stopOf(6)), w.places(placement.StopLoss, 9, stopOf(4))
	w.now += 60_000
	w.shows(others, "0.01", stop, off)
	w.answersCancel(off)
	free := exchange.MustAmount(others).Add(exchange.MustAmount("0.004")).String()
	for range 2 {
		w.now += 1_000
		w.sees(free, "0", []exchange.Order{stop})
	}
	w.tracker.Symbol(coin).last = 48_000e8
	intents := derive()
	if have := soldBy(intents); have != 4 {
		t.Fatalf("beside %s of others: want one sale of 4, have %+v", others, intents)
	}
	if o := &intents[0].Order; o.Type != want || o.StopPrice >= 48_000e8 {
		t.Errorf("beside %s of others: want a %s below the last price, have %+v", others, want, o)
	}
}

// An old list shows a stop of four whose cancel the exchange has answered, or that has ended since, and omits one of six. The units that the wallet freezes
// are those of the other one, although an earlier wallet may have frozen none.
func TestFrozenUnitsAreThoseOfAStopThatAnOldListOmits(t *testing.T) {
	t.Parallel()
	for _, ended := range []bool{false, true} {
		for _, earlier := range []string{"0.006", "0"} {
			omittedStop(t, ended, earlier)
		}
	}
}

func omittedStop(t testing.TB, ended bool, earlier string) {
	t.Helper()
	w := holdingNextTo(t, ForeignHalt, "0")
	derive := w.deriver()
	stop, off := w.places(placement.StopLoss, 8, stopOf(6)), w.places(placement.StopLoss, 9, stopOf(4))
	w.now += 60_000
	w.shows("0", "0.01", stop, off)
	w.answersCancel(off)
	if ended {
		w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: off.ClientOrderID,
			Body: record.Ended{OrderID: 9, State: placement.Canceled}})
	}
	for _, frozen := range []string{earlier, "0.006"} {
		w.now += 450
		w.shows(exchange.MustAmount("0.01").Sub(exchange.MustAmount(frozen)).String(), frozen, off)
	}
	if have := stopped(derive()); have != 4 {
		t.Errorf("ended %t, at first %s frozen: want a stop of the 4, have %d", ended, earlier, have)
	}
}

// In a quarantine, a stop of ten may have executed, its end cannot be read, and the price has passed it. The wallet shows eight units. They are sold as the
// rest of the position, unless a person's purchase explains them, which could also be one of botd's: then they get a stop below the last price.
func TestUnitsOfAnUnclaimedPurchaseAreNotSoldAsTheRestOfAPosition(t *testing.T) {
	t.Parallel()
	restOrPurchase(t, 0, exchange.Limit)
	restOrPurchase(t, 8, exchange.StopLimit)
}

func restOrPurchase(t testing.TB, bought exchange.Quantity, want exchange.OrderType) {
	t.Helper()
	w := holdingNextTo(t, ForeignHalt, "0")
	derive := w.deriver()
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 60_000
	w.shows("0", "0.01", stop)
	w.places(placement.Entry, 0, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(100)})
	w.apply(quarantineOf("a test"))
	w.now += 30_000
	row := exchange.Order{ID: 20, Market: exchange.Spot, Symbol: coin.Name, Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: bought, Filled: bought,
		Status: exchange.StatusFilled, CreatedMS: w.now}
	w.sees("0.008", "0.01", []exchange.Order{row}, stop)
	for range 2 {
		w.now += 1_000
		w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil), Unread: []exchange.SymbolKey{coin},
			Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount("0.008")}})})
	}
	w.tracker.Symbol(coin).last = 48_000e8
	intents := derive()
	if len(intents) != 1 || intents[0].Order.Quantity != 8 || intents[0].Order.Type != want {
		t.Errorf("%d bought: want a %s of 8, have %+v", bought, want, intents)
	}
}
