package reconcile

import (
	"cmp"
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

func TestAnUncertainPlacementIsNeverSentAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		position exchange.Quantity
		state    placement.State
		known    exchange.Quantity
	}{
		{"absent", 0, placement.Absent, 0},
		{"filled", 20, placement.Filled, 20},
		{"part filled", 8, placement.Canceled, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.target(20)
			d.observe(0, nil)
			id := d.send(d.one(placement.Entry, nil))
			d.uncertain(id)
			fence := d.tracker.Placement(id).Fence(testSettle)
			for d.now < fence { // before the fence nothing proves anything
				d.observe(c.position, nil)
				d.none(nil)
				d.now += 1_000
			}
			var records []record.Record
			for range 4 { // three seconds
				if d.none(nil); len(records) > 0 {
					t.Fatalf("want it decided by snapshots three seconds apart, have %+v", records)
				}
				records = d.observe(c.position, nil)
				d.now += 1_000
			}
			last := records[len(records)-1]
			ended, ok := last.Body.(record.Ended)
			if !ok || ended.State != c.state || d.tracker.Symbol(bitcoin).Known() != c.known {
				t.Fatalf("want ended %s known %d, have %+v known %d", c.state, c.known, last, d.tracker.Symbol(bitcoin).Known())
			}
		})
	}
}

func TestListedUncertainPlacementIsWorking(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(20)
	d.observe(0, nil)
	id := d.send(d.one(placement.Entry, nil))
	d.uncertain(id)
	d.observe(0, nil, d.order(id, 31, exchange.StatusOpen, 20, 0))
	if p := d.tracker.Placement(id); p.State() != placement.Working || p.OrderID() != 31 {
		t.Fatalf("want working under order 31, have %+v", p)
	}
}

func TestAPositionThatFitsNoUncertainOrderIsQuarantined(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(20)
	d.observe(0, nil)
	d.uncertain(d.send(d.one(placement.Entry, nil)))
	d.now += 20_000
	for range 4 {
		d.observe(-5, nil)
		d.now += 1_000
	}
	if d.tracker.Symbol(bitcoin).Quarantine() == "" {
		t.Fatal("want a quarantine, have none")
	}
}

func TestASecondInstanceIsFoundByItsOrders(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.tracker.instance = "t"
	d.observe(0, nil, d.order("bt-zzz-4", 77, exchange.StatusOpen, 5, 0))
	if id := d.tracker.ForeignPrefix(); id != "" {
		t.Fatalf("where the journal was new the symbol is quarantined, not the account: have %s", id)
	}
	d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{}})
	if id := d.tracker.ForeignPrefix(); id == "" {
		t.Fatalf("want bt-zzz-4, have none")
	}
	d.tracker.instance = "other"
	if id := d.tracker.ForeignPrefix(); id != "" {
		t.Fatalf("want none for another instance, have %s", id)
	}
}

func TestEquationWaitsForUnansweredPlacement(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(10)
	d.observe(0, nil)
	first := d.send(d.one(placement.Entry, nil))
	d.uncertain(first)
	d.now += 60_000 // its fence has passed
	second := d.send(
		Intent{Purpose: placement.Exit, Strategy: "one", Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell,
			Type: exchange.MarketOrder, Quantity: 10, ReduceOnly: true}},
	)
	for range 8 { // both filled: the residual does not belong only to the uncertain order
		d.now += 1_000
		if records := d.observe(0, nil); len(records) > 0 {
			t.Fatalf("want nothing decided while %s waits for its answer, have %+v", second, records)
		}
	}
}

func TestADifferenceThatFillsExplainAgainStartsOver(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.observe(0, nil)
	d.tracker.Apply(
		&record.Record{
			AtMS:          d.now,
			Strategy:      "one",
			Symbol:        bitcoin,
			ClientOrderID: "grid",
			Body: record.Sending{
				Purpose:    placement.Order,
				Key:        "a",
				DeadlineMS: d.now,
				Order: exchange.NewOrder{
					Market:   exchange.Futures,
					Symbol:   "BTC-USDT",
					Side:     exchange.Buy,
					Type:     exchange.Limit,
					Quantity: 40,
					Price:    1,
				},
			},
		},
	)
	d.acknowledge("grid", 5)
	d.now += 60_000
	for filled := range exchange.Quantity(5) { // the list is always one fill behind the position
		order := d.order("grid", 5, exchange.StatusOpen, 40, filled)
		d.observe(filled+1, nil, order)
		if why := d.tracker.Symbol(bitcoin).Quarantine(); why != "" {
			t.Fatalf("want no quarantine while fills explain the difference, have %q", why)
		}
		d.now += 700
	}
}

func TestUnjournalledSpotOrderIsFoundInHistory(t *testing.T) {
	t.Parallel()
	coin := exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}
	history := []exchange.Order{{ID: 4, ClientOrderID: "bt-2-9", Market: exchange.Spot, Symbol: "BTC-USDT", Status: exchange.StatusFilled, Filled: 5}}
	for _, c := range []struct {
		name, sent, since, want string
	}{
		{"the journal is new", "", "", "bt-2-9"},
		{"a backup from before it", "bt-2-8", "", "bt-2-9"},
		{"a backup from before it, read when this run has made others", "bt-2-8", "bt-4-1", "bt-2-9"},
		{"the journal knows it", "bt-2-9", "", ""},
		{"a later one of the start is in the journal", "bt-2-11", "", ""},
		{"another botd's that began before this journal's", "bt-3-1", "", "bt-2-9"},
		{"another botd's that began in the same second", "bt-000002aaaaa-9", "", "bt-2-9"},
	} {
		tracker := NewTracker(testSettle)
		tracker.instance = "t"
		tracker.Symbol(coin)
		if c.sent != "" {
			tracker.Apply(
				&record.Record{
					Symbol:        coin,
					ClientOrderID: c.sent,
					Body:          record.Sending{Order: exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-USDT"}},
				},
			)
		}
		tracker.Apply(&record.Record{Body: record.Boot{Epoch: 4}})
		newest := history
		if c.since != "" {
			tracker.Apply(
				&record.Record{
					Symbol:        coin,
					ClientOrderID: c.since,
					Body:          record.Sending{Order: exchange.NewOrder{Market: exchange.Spot, Symbol: "ETH-USDT"}},
				},
			)
			newest = append(
				newest,
				exchange.Order{ID: 9, ClientOrderID: c.since, Market: exchange.Spot, Symbol: "BTC-USDT", Status: exchange.StatusFilled},
			)
		}
		tracker.Observe(&Snapshot{Newest: newest})
		if have := cmp.Or(tracker.Symbol(coin).unknownEnded, tracker.Symbol(coin).UnknownOrder()); have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
		if quarantined := tracker.Symbol(coin).Quarantine() != ""; quarantined != (c.sent == "") {
			t.Errorf("%s: want a quarantine only where the journal is new, have %t", c.name, quarantined)
		}
		tracker.Apply(&record.Record{ClientOrderID: "bt-2-9", Body: record.Halt{Level: record.LevelPause}}) // a person was notified, and is not notified again
		if have := tracker.Symbol(coin).unknownEnded; have != "" {
			t.Errorf("%s: want it reported once, have %q", c.name, have)
		}
		tracker.Observe(&Snapshot{Newest: newest})
		if have := tracker.Symbol(coin).unknownEnded; have != "" {
			t.Errorf("%s: want it reported once, though it is read again, have %q", c.name, have)
		}
	}
}

// What was last read of the account as a whole is available until it is forgotten.
func TestLastReadOfAccountAndWallet(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.observe(20, nil)
	d.readsMargin(40, 100)
	if account, atMS := d.tracker.Account(), d.tracker.AccountMS(); account.OrderMargin.Cmp(exchange.AmountOf(40)) != 0 || atMS != d.now {
		t.Errorf("want the account with 40 for orders of %d, have %+v of %d", d.now, account, atMS)
	}
	d.observe(20, nil)
	rows := slices.Collect(d.tracker.OpenPositions())
	if len(rows) != 1 || rows[0].Symbol != "BTC-USDT" || rows[0].Remaining != 20 {
		t.Errorf("want the position of 20, have %+v", rows)
	}
	if d.tracker.ForgetAccount(); d.tracker.AccountMS() != 0 {
		t.Errorf("want the account forgotten, have one of %d", d.tracker.AccountMS())
	}
	w := newWallet(t)
	w.hasMoney("1", "0", "10000")
	if balances := slices.Collect(w.tracker.Balances()); len(balances) != 2 || balances[1].Asset != "USDT" || w.tracker.WalletMS() != w.now {
		t.Errorf("want BTC and USDT of %d, have %+v of %d", w.now, balances, w.tracker.WalletMS())
	}
	if w.tracker.ForgetWallet(); w.tracker.WalletMS() != 0 {
		t.Errorf("want the wallet forgotten, have one of %d", w.tracker.WalletMS())
	}
}
