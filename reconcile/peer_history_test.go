package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// While botd stands down, the history shows a resting sale of the other botd that the open list omits. As far as the wallet freezes its units, no stop of
// botd's covers them too (seed 885100342).
func TestSaleThatOnlyTheHistoryShowsRests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]restingSale{
		"resting":                              {frozen: "0.006", want: 4},
		"listed, too":                          {frozen: "0.006", listed: true, want: 4},
		"the wallet freezes nothing":           {frozen: "0", want: 10},
		"the wallet freezes less":              {frozen: "0.005", want: 10},
		"ended":                                {frozen: "0.006", change: func(o *exchange.Order) { o.Status = exchange.StatusCanceled }, want: 10},
		"a person's":                           {frozen: "0.006", change: func(o *exchange.Order) { o.ClientOrderID = "by hand" }, want: 10},
		"a purchase":                           {frozen: "0.006", change: func(o *exchange.Order) { o.Side = exchange.Buy }, want: 10},
		"on another symbol":                    {frozen: "0.006", change: func(o *exchange.Order) { o.Symbol = "ETH-USDT" }, want: 10},
		"the frozen units are a person's":      {frozen: "0.006", persons: 6, want: 10},
		"two, of which units of one are there": {frozen: "0.006", again: true, want: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

// restingSale is a sale of six by another botd, next to ten of botd's own without a stop.
type restingSale struct {
	frozen  string
	listed  bool
	change  func(*exchange.Order)
	persons exchange.Quantity // what a person's listed order sells
	again   bool              // the history shows another such sale
	want    exchange.Quantity
}

func (c restingSale) check(t testing.TB) {
	t.Helper()
	w, derive := protecting(t)
	w.now += 60_000
	found := anothers(youngers+"1", 21, exchange.Buy, exchange.MarketOrder, 5, 0, w.now)
	found.Status = exchange.StatusCanceled
	row := anothers(youngers+"2", 22, exchange.Sell, exchange.StopLimit, 6, 0, w.now)
	if c.change != nil {
		c.change(&row)
	}
	history, open := []exchange.Order{found, row}, []exchange.Order(nil)
	if c.listed {
		open = append(open, row)
	}
	if c.again {
		history = append(history, anothers(youngers+"3", 23, exchange.Sell, exchange.StopLimit, 6, 0, w.now))
	}
	if c.persons != 0 {
		open = append(open, anothers("by hand", 30, exchange.Sell, exchange.Limit, c.persons, 0, w.now))
	}
	free := exchange.MustAmount("1.01").Sub(exchange.MustAmount(c.frozen))
	for range 2 {
		w.now += 1_000
		w.sees(free.String(), c.frozen, history, open...)
	}
	if !w.tracker.StandsDown() {
		t.Fatal("want botd to stand down")
	}
	if have := stopped(derive()); have != c.want {
		t.Errorf("want a stop of %d, have %d", c.want, have)
	}
}

// The first read of a start's history shows it as well, and a snapshot without a wallet shows nothing.
func TestSaleOfTheFirstHistoryRests(t *testing.T) {
	t.Parallel()
	w, derive := protecting(t)
	w.now += 60_000
	row := anothers(youngers+"2", 22, exchange.Sell, exchange.StopLimit, 6, 0, w.now)
	w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil), Newest: []exchange.Order{row}})
	if have := len(w.tracker.Symbol(coin).unlistedSales); have != 0 {
		t.Errorf("want no sale without a wallet, have %d", have)
	}
	w.now += 1_000
	w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil), Newest: []exchange.Order{row},
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount("1.004"), Frozen: exchange.MustAmount("0.006")}})})
	if have := stopped(derive()); have != 4 {
		t.Errorf("want a stop of 4, have %d", have)
	}
}

// Botd stands down, and the exchange refuses to cancel its stop, because another botd has canceled it: that one may be selling the units. If the exchange
// accepted the cancel, botd's own stop follows at once (seed 885100342).
func TestStopThatAnotherCanceledFirstIsNotReplacedAtOnce(t *testing.T) {
	t.Parallel()
	canceledFirst(t, true, 0)
	canceledFirst(t, false, 10)
}

func canceledFirst(t testing.TB, refused bool, want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t)
	w.now += 60_000
	own := w.places(placement.StopLoss, 8, stopOf(10))
	w.apply(record.Record{AtMS: w.now, ClientOrderID: elders + "1", Body: record.Halt{Level: record.LevelPause, Reason: "another botd"}})
	w.now += 1_000
	w.shows("1", "0.01", own)
	w.tracker.NoteCancel(own.ClientOrderID, w.now)
	if refused {
		w.tracker.NoteCancelRefused(own.ClientOrderID, w.now)
	} else {
		w.answersCancel(own)
	}
	own.Status = exchange.StatusCanceled
	w.now += 1_000
	w.sees("1.01", "0", []exchange.Order{own})
	if have := stopped(derive()); have != want {
		t.Errorf("canceled by another %t: want a stop of %d at once, have %d", refused, want, have)
	}
	w.now += peerStopMS
	w.sees("1.01", "0", []exchange.Order{own})
	if have := stopped(derive()); have != 10 {
		t.Errorf("canceled by another %t: want a stop of 10 in the end, have %d", refused, have)
	}
}

// Before a purchase, a wallet ceases to show a person's units. It shows none of what is bought either, so it may be wrong about both, and no other stop is
// sent next to the listed one. A wallet that agrees with the purchase confirms that the units are gone (seed 885400313).
func TestUnitsOfOthersAreGoneOnlyIfAWalletWithAPositionShowsIt(t *testing.T) {
	t.Parallel()
	othersOfAWallet(t, "1", false, 0)
	othersOfAWallet(t, "1", true, 10)
	othersOfAWallet(t, "0", false, 10)
}

func othersOfAWallet(t testing.TB, others string, confirmed bool, want exchange.Quantity) {
	t.Helper()
	w := newWallet(t)
	w.observe(others)
	for range 4 {
		w.now += 30_000
		w.observe("0")
	}
	w.targets(10, nil)
	w.buys(10)
	if confirmed {
		for range 4 {
			w.now += 10_000
			w.observe("0.01")
		}
	}
	derive := w.deriver()
	own := w.places(placement.StopLoss, 8, stopOf(10))
	for range 8 {
		w.now += 1_000
		w.shows("0", "0", own)
	}
	if have := stopped(derive()); have != want {
		t.Errorf("%s of others, gone %t: want another stop of %d, have %d", others, confirmed, want, have)
	}
}
