package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// Botd stands down, and the open list cannot be read. The stop of ten has been canceled so that an exit could sell its units.
func TestStopReturnsStandingDownWhileTheOpenListCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]freeUnits{
		"nothing is frozen":                        {free: "1.01", want: 10},
		"the other botd's stop holds all":          {free: "1", frozen: "0.01"},
		"the other botd's stop holds a part":       {free: "1.004", frozen: "0.006", want: 4},
		"a person has deposited as much":           {free: "1.01", frozen: "0.01"},
		"the other botd has sold a part":           {free: "1.006", want: 6},
		"a person's order holds its units":         {free: "0.01", frozen: "1"},
		"the wallet cannot be read either":         {},
		"this botd started later":                  {free: "1.01", other: elders},
		"the older one has placed nothing":         {free: "1.01", other: elders, afterMS: laterStartWaitMS, want: 10},
		"the price has passed the stop's":          {free: "1.01", last: 48_000e8, want: 10, at: 47_000e8},
		"its last complete read was another start": {free: "1.01", restarts: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stopFreeUnits(t, c)
		})
	}
}

type freeUnits struct {
	free, frozen string // in the wallet, of which 1 is a person's; empty for a wallet that cannot be read
	other        string // an id of the other botd's; of a later start if empty
	afterMS      int64  // since the first round without the list
	last         exchange.Price
	restarts     bool
	want         exchange.Quantity
	at           exchange.Price
}

func stopFreeUnits(t testing.TB, c freeUnits) {
	t.Helper()
	w, _ := protecting(t)
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 60_000
	if c.other == "" {
		c.other = youngers
	}
	w.apply(record.Record{AtMS: w.now, ClientOrderID: c.other + "1", Body: record.Halt{Level: record.LevelPause, Reason: "another botd"}})
	w.sees("1", "0.01", nil, stop)
	w.tracker.NoteCancel(stop.ClientOrderID, w.now)
	w.apply(record.Record{AtMS: w.now, ClientOrderID: stop.ClientOrderID, Body: record.Ended{OrderID: 8, State: placement.Canceled}})
	w.apply(record.Record{Strategy: "one", Symbol: coin, Body: record.Plan{Plan: &strategy.Plan{Target: strategy.Flat()}}})
	rules := w.tracker.Symbol(coin).rules
	if c.restarts {
		w.start()
		w.tracker.Symbol(coin).rules = rules
		w.deriver()
	}
	w.now += 1_000 + c.afterMS
	read := &Snapshot{BeganMS: w.now, EndedMS: w.now, Unread: []exchange.SymbolKey{{Market: exchange.Spot}}, HistoryWhole: true,
		History: exchange.FetchedOf[exchange.Order](nil)}
	if c.free != "" {
		balance := exchange.Balance{Asset: "BTC", Free: exchange.MustAmount(c.free)}
		if c.frozen != "" {
			balance.Frozen = exchange.MustAmount(c.frozen)
		}
		read.Balances = exchange.FetchedOf([]exchange.Balance{balance})
	}
	w.tracker.Observe(read)
	symbol := w.tracker.Symbol(coin)
	if c.last != 0 {
		symbol.last = c.last
	}
	var intents []Intent
	if w.tracker.MayProtectUnread(symbol) {
		intents = w.derives(func(d *Desired) { stopped2(d); d.Unread = true })
	}
	if have := stopped(intents); have != c.want || have == 0 && len(intents) != 0 || have != 0 && len(intents) != 1 {
		t.Fatalf("want a stop of %d and nothing else, have %+v", c.want, intents)
	}
	if c.at != 0 && intents[0].Order.StopPrice != c.at {
		t.Errorf("want it at %d, have %+v", c.at, intents)
	}
}

// Botd stands down, and the wallet cannot be read. The open list shows no stop, and the wallet of two seconds ago showed the units (seed 904001687).
func TestStopReturnsStandingDownWhileOnlyTheWalletCannotBeRead(t *testing.T) {
	t.Parallel()
	stopWithoutAWallet(t, true, 2_000, 10)
	stopWithoutAWallet(t, true, recentWalletMS+1, 0)
	stopWithoutAWallet(t, false, 2_000, 0)
}

func stopWithoutAWallet(t testing.TB, listed bool, ageMS int64, want exchange.Quantity) {
	t.Helper()
	w, _ := protecting(t)
	w.now += 60_000
	w.apply(record.Record{AtMS: w.now, ClientOrderID: youngers + "1", Body: record.Halt{Level: record.LevelPause, Reason: "another botd"}})
	w.sees("1.01", "0", nil)
	w.now += ageMS
	read := &Snapshot{BeganMS: w.now, EndedMS: w.now, Unread: []exchange.SymbolKey{{Market: exchange.Spot}}, HistoryWhole: true,
		History: exchange.FetchedOf[exchange.Order](nil)}
	if listed {
		read.SpotOrders = exchange.FetchedOf[exchange.Order](nil)
	}
	w.tracker.Observe(read)
	have := exchange.Quantity(0)
	if w.tracker.MayProtectUnread(w.tracker.Symbol(coin)) {
		have = stopped(w.derives(func(d *Desired) { stopped2(d); d.Unread = true }))
	}
	if have != want {
		t.Errorf("listed %t, with a wallet of %d ms ago: want a stop of %d, have one of %d", listed, ageMS, want, have)
	}
}

// Botd and another one each hold ten, with a stop of their own. After a start the history omits what the other one has bought. The wallet shows the units of
// both stops, so both stay for a minute (seed 910023407).
func TestStopBesideAPeersStaysAfterAStartThatForgotItsPurchase(t *testing.T) {
	t.Parallel()
	stopOfAForgottenPurchase(t, "1", true, 2*excessLastMS, false)
	stopOfAForgottenPurchase(t, "1", true, excessStartMS, true)
	stopOfAForgottenPurchase(t, "1", false, excessLastMS, true)
	stopOfAForgottenPurchase(t, "0.99", true, excessLastMS, true) // both cover the same units
}

func stopOfAForgottenPurchase(t testing.TB, free string, starts bool, afterMS int64, cancel bool) {
	t.Helper()
	w, derive := protecting(t)
	own := w.places(placement.StopLoss, 8, stopOf(10))
	theirs := anothers(youngers+"1", 21, exchange.Sell, exchange.StopLimit, 10, 0, w.now)
	w.now += 60_000
	if starts {
		w.restores()
		derive = w.deriver()
	}
	w.sees(free, "0.02", nil, own, theirs)
	off := canceled(derive())
	w.now += afterMS
	w.sees(free, "0.02", nil, own, theirs)
	if off = append(off, canceled(derive())...); (len(off) > 0) != cancel {
		t.Errorf("with %s free, start %t, after %d ms: want botd's own stop canceled %t, have %v", free, starts, afterMS, cancel, off)
	}
}

// Without a wallet, the open list shows which units no stop holds if the newest wallet is at most five seconds older.
func TestListProtectsUnreadUnitsNextToARecentWallet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ageMS, listedMS int64
		want            bool
	}{{0, 90_000, true}, {recentWalletMS, 90_000, true}, {recentWalletMS + 1, 90_000, false}, {0, 89_000, false}} {
		w := holdingNextTo(t, ForeignHalt, "0")
		w.tracker.readBeganMS, w.tracker.walletRead, w.tracker.walletFromMS = 90_000, false, 90_000-c.ageMS
		w.tracker.listed[exchange.Spot] = openList{beganMS: c.listedMS}
		if have := w.tracker.MayProtectUnread(w.tracker.Symbol(coin)); have != c.want {
			t.Errorf("a wallet %d ms older, a list of %d: want %t, have %t", c.ageMS, c.listedMS, c.want, have)
		}
	}
}
