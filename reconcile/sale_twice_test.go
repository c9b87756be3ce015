package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// An own stop whose row cannot be read rests as long as the wallet freezes what it sells: a second stop would sell a person's coins.
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
	w.apply(record.Record{AtMS: w.now, ClientOrderID: stop.ClientOrderID, Body: record.Unknown{Reason: "its side is unknown"}})
	w.now += RepeatMS
	row := exchange.UnreadableRow{ID: stop.ID, ClientOrderID: stop.ClientOrderID, Symbol: stop.Symbol}
	w.book.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil),
		UnreadOrders: []UnreadOrder{{Market: exchange.Spot, Open: true, Row: row}},
		Balances:     exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(free), Frozen: exchange.MustAmount(frozen)}})})
	if have := stopped(derive()); have != want {
		t.Errorf("%s frozen: want another stop of %d, have %d", frozen, want, have)
	}
}

// Another botd holds the same coins. What the wallet freezes for its orders is not sold by an exit, whether or not the open list shows them: the exit
// would sell a person's coins as soon as they are executed.
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
	symbol := w.book.Symbol(coin)
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
	if s.refusalChecks().confirmRefused(); (len(w.book.Refused()) == 0) != want {
		t.Errorf("read %d ms after the refusal: want it confirmed %t, have %t", afterMS, want, !want)
	}
}
