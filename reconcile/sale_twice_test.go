package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// botd's own stop whose row cannot be read rests as long as the wallet freezes what it sells: a second stop would sell a person's units.
func TestUnreadableStopRestsWhileTheWalletFreezesItsAsset(t *testing.T) {
	t.Parallel()
	unreadableStop(t, "1", "0.01", 0)
	unreadableStop(t, "0.996", "0.014", 0)
	unreadableStop(t, "1.01", "0", 10)
}

func unreadableStop(t testing.TB, free, frozen string, want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t)
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 60_000
	w.shows("1", "0.01", stop)
	w.apply(record.Record{AtMS: w.now, ClientOrderID: stop.ClientOrderID, Body: record.Uncertain{Reason: "its side is unknown"}})
	w.now += RepeatMS
	row := exchange.UnreadableRow{ID: stop.ID, ClientOrderID: stop.ClientOrderID, Symbol: stop.Symbol}
	w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil),
		UnreadOrders: []UnreadOrder{{Market: exchange.Spot, Open: true, Row: row}},
		Balances:     exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(free), Frozen: exchange.MustAmount(frozen)}})})
	if have := stopped(derive()); have != want {
		t.Errorf("%s frozen: want another stop of %d, have %d", frozen, want, have)
	}
}

// Another botd holds the same units. What the wallet freezes for its orders is not sold by an exit, whether or not the open list shows them: the exit
// would sell a person's units as soon as they are executed.
func TestExitLeavesWhatTheWalletFreezesForAnotherBotd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]frozenForAnother{
		"all of it":                          {theirs: 10, target: 0, want: 0},
		"all of it, and the list omits it":   {theirs: 10, omitted: true, target: 0, want: 0},
		"all of it, and a part is to stay":   {theirs: 10, target: 6, want: 0},
		"a part of it":                       {theirs: 7, target: 0, want: 3},
		"a part, and less is to be sold":     {theirs: 7, target: 8, want: 2},
		"what it has bought itself":          {theirs: 7, bought: 7, target: 0, want: 10},
		"more than it has bought itself":     {theirs: 10, bought: 4, target: 0, want: 4},
		"nothing":                            {target: 0, want: 10},
		"nothing, since it has sold it":      {sold: 10, target: 0, want: 0},
		"nothing, since it has sold a part":  {sold: 4, target: 0, want: 6},
		"a person's order freezes all of it": {theirs: 10, persons: true, target: 0, want: 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exitWithAnother(t, c)
		})
	}
}

type frozenForAnother struct {
	theirs, bought exchange.Quantity // what the other one's stop sells, and what it has bought
	sold           exchange.Quantity // what it has sold, by the wallet
	omitted        bool              // the newest list omits that stop
	persons        bool              // it is a person's order
	target, want   exchange.Quantity // want is what the exit sells of botd's ten
}

func exitWithAnother(t testing.TB, c frozenForAnother) {
	t.Helper()
	w, _ := protecting(t)
	symbol := w.tracker.Symbol(coin)
	symbol.SetCollar(exchange.RateOne / 20)
	row := anothers("", 20, exchange.Sell, exchange.StopLimit, max(c.theirs, 1), 0, w.now)
	if row.StopPrice, row.Price = 49_000e8, 46_550e8; c.persons {
		row.Price = 48_000e8
	}
	w.targets(c.target, nil)
	w.derives(nil)
	free, frozen := symbol.rules.QuantityAmount(1_010+c.bought-c.sold-c.theirs), symbol.rules.QuantityAmount(c.theirs)
	for list := []exchange.Order{row}; ; list = nil {
		w.now += 60_000
		w.shows(free.String(), frozen.String(), list...)
		if len(list) == 0 || !c.omitted && c.theirs != 0 {
			break
		}
	}
	if have := soldBy(w.derives(nil)); have != c.want {
		t.Errorf("want an exit of %d, have %d", c.want, have)
	}
}

// A person has deposited units, and another botd with a copy of the journal has sold the position. No list shows that sale. An exit leaves the deposit,
// but not what that botd has bought itself (seed 910042572).
func TestExitSellsNoDepositInPlaceOfWhatAnotherBotdHasSold(t *testing.T) {
	t.Parallel()
	exitNextToADeposit(t, 10, 0, 0)
	exitNextToADeposit(t, 4, 0, 6)
	exitNextToADeposit(t, 0, 0, 10)
	exitNextToADeposit(t, 0, 5, 10)
}

func exitNextToADeposit(t testing.TB, sold, bought, want exchange.Quantity) {
	t.Helper()
	w, _ := nextToADeposit(t)
	w.targets(0, nil)
	w.now += 60_000
	var history []exchange.Order
	if bought > 0 {
		history = append(history, anothers(youngers+"2", 20, exchange.Buy, exchange.MarketOrder, bought, bought, w.now))
	}
	w.sees(w.tracker.Symbol(coin).rules.QuantityAmount(1_022+bought-sold).String(), "0", history)
	if have := soldBy(w.derives(nil)); have != want {
		t.Errorf("sold %d, bought %d: want an exit of %d, have %d", sold, bought, want, have)
	}
}

// nextToADeposit holds 10 next to a person's 1 BTC and to 12 that a person has deposited since, and stands down.
func nextToADeposit(t testing.TB) (w *wallet, derive func() []Intent) {
	w, derive = protecting(t)
	for range 4 {
		w.now += 60_000
		w.shows("1.022", "0")
	}
	if have := w.tracker.Symbol(coin).Unattributed(); have != 12 {
		t.Fatalf("want a deposit of 12, have %d", have)
	}
	w.apply(record.Record{AtMS: w.now, ClientOrderID: youngers + "1", Body: record.Halt{Level: record.LevelPause, Reason: "another botd"}})
	return w, derive
}

// A person has deposited units, and another botd with a copy of the journal has sold the position, as the history shows. No stop covers the deposit in its
// place, also not after a further deposit. What a person withdraws is no such sale (seeds 885400534, 885401234, 885401952).
func TestStopCoversNoDepositInPlaceOfWhatAnotherBotdHasSold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sold    exchange.Quantity // by the other botd's order
		restsMS int64             // for how long that order rested
		held    []string          // by the wallet, one after the other
		want    exchange.Quantity
	}{
		"it sold the position":                      {10, 0, []string{"1.012"}, 0},
		"its stop sold the position":                {10, 300_000, []string{"1.012"}, 0},
		"it sold a part":                            {4, 0, []string{"1.018"}, 6},
		"it sold what no list shows that it bought": {10, 0, []string{"1.022"}, 10},
		"a further deposit":                         {10, 0, []string{"1.012", "1.032"}, 0},
		"a withdrawal":                              {0, 0, []string{"1.012"}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stopNextToADeposit(t, c.sold, c.restsMS, c.want, c.held...)
		})
	}
}

func stopNextToADeposit(t testing.TB, sold exchange.Quantity, restsMS int64, want exchange.Quantity, held ...string) {
	t.Helper()
	w, derive := nextToADeposit(t)
	var history []exchange.Order
	if sold > 0 {
		history = append(history, anothers(youngers+"1", 20, exchange.Sell, exchange.Limit, sold, sold, w.now-restsMS))
	}
	for _, held := range held {
		for range 3 {
			w.now += 60_000
			w.sees(held, "0", history)
		}
	}
	if have := stopped(derive()); have != want {
		t.Errorf("want a stop of %d, have %d", want, have)
	}
}

// The exchange may execute an order that it refused a moment after the refusal. A list read before that does not show the order.
func TestRefusalIsConfirmedByListsOfHalfASecondAfterIt(t *testing.T) {
	t.Parallel()
	refusalReadAfter(t, refusedShownMS, false)
	refusalReadAfter(t, refusedShownMS+1, true)
}

func refusalReadAfter(t testing.TB, afterMS int64, want bool) {
	t.Helper()
	w := explains(t, 10, 0)
	w.refuses(placement.Exit, saleOf(10))
	w.now += afterMS
	s := w.reads(1_010, 0)
	s.fetched.History, s.fetched.HistoryWhole = exchange.FetchedOf[exchange.Order](nil), true
	if s.refusalChecks().confirmRefused(); (len(w.tracker.Refused()) == 0) != want {
		t.Errorf("read %d ms after the refusal: want it confirmed %t, have %t", afterMS, want, !want)
	}
}
