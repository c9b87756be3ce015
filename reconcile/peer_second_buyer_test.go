package reconcile

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// purchaseOf returns an executed purchase by amount as a history without ids shows it.
func purchaseOf(id int64, amount, mean string) exchange.Order {
	return exchange.Order{ID: id, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Filled: 10,
		QuoteAmount: exchange.MustAmount(amount), AveragePrice: exchange.MustAmount(mean), Status: exchange.StatusFilled, CreatedMS: 1_000_000}
}

// The price has moved by at most a 500th since botd computed the amount for a whole number of steps.
func TestAPurchaseOfBotdsFormIsAWholeNumberOfSteps(t *testing.T) {
	t.Parallel()
	rules := newWallet(t).tracker.Symbol(coin).rules
	for _, c := range []struct {
		name, amount, mean string
		want               bool
	}{
		{"ten steps", "500.001", "50000.1", true},
		{"ten steps, and a smaller amount than that of a step and a tick", "500.00101", "50000.1", false},
		{"ten steps and the smallest amount", "500.0011", "50000.1", false},
		{"ten steps at a price a 500th higher", "501.001", "50000.1", true},
		{"ten steps at a higher price", "501.002", "50000.1", false},
		{"ten steps at a price a 500th lower", "499.001", "50000.1", true},
		{"ten steps at a lower price", "498.999", "50000.1", false},
		{"no price", "500.001", "0", false},
		{"more steps than the price has ticks", "50000250.0003", "50000.1", true},
		{"more than that, and no whole number of them", "50000250.0007", "50000.1", false},
		{"many steps", "6172812.3456", "50000.1", true},
		{"no whole number of many steps", "6172812.3457", "50000.1", false},
		{"one step", "50.0001", "50000.1", true},
		{"one step at a price a 500th higher", "50.1001", "50000.1", true},
		{"one step at a higher price", "50.1002", "50000.1", false},
		{"one step at a price of one tick, the smallest", "0.0001", "0.1", true},
		{"ten steps, the lowest price of which is a little above a whole tick", "499.002", "50000.20040081", false},
	} {
		if row := purchaseOf(9, c.amount, c.mean); purchaseOfForm(rules, &row) != c.want {
			t.Errorf("%s: want it of botd's form %t", c.name, c.want)
		}
	}
	grown := *rules
	grown.QuantityTick = 10
	for amount, want := range map[string]bool{"500.001": true, "750": false} {
		if row := purchaseOf(9, amount, "50000.1"); purchaseOfForm(&grown, &row) != want {
			t.Errorf("where a step has grown to ten: want %s of botd's form %t", amount, want)
		}
	}
}

// secondBuyer returns a botd that has bought, and then reads a history without ids that contains other purchases, too.
func secondBuyer(t testing.TB, change func(*wallet, *exchange.Order), more ...exchange.Order) *wallet {
	t.Helper()
	w := newWallet(t)
	w.observe("1")
	w.now += 60_000
	w.places(placement.Entry, 5, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.MustAmount("500.002")})
	w.now += 5_000
	rows := []exchange.Order{purchaseOf(5, "500.002", "50000.2")}
	w.sees("1.01", "0", rows)
	other := purchaseOf(6, "500.001", "50000.1")
	other.CreatedMS = w.now
	change(w, &other)
	w.now += 5_000
	w.sees("1.02", "0", append(append(rows, other), more...))
	return w
}

func secondBuyerFound(t testing.TB) *wallet {
	t.Helper()
	w := secondBuyer(t, func(*wallet, *exchange.Order) {})
	if have := w.tracker.Symbol(coin).Quarantine(); !strings.Contains(have, "order 6 has no id but the form of botd's purchases") {
		t.Errorf("want the symbol quarantined for it, have %q", have)
	}
	if !w.tracker.HasUnnamedPeer() {
		t.Error("want another botd known, to which exits yield")
	}
	return w
}

// Nothing else shows that another botd buys on the symbol. A person decides its purchase once.
func TestAPurchaseOfBotdsFormWithoutIDIsQuarantined(t *testing.T) {
	t.Parallel()
	secondBuyerDecided(t)
}

// A quarantine because of an order under this prefix makes botd stand down, and blocks only its own symbol.
func TestPurchaseOfBotdsFormIsQuarantinedDespiteLostOrderElsewhere(t *testing.T) {
	t.Parallel()
	secondBuyerElsewhere(t)
}

func secondBuyerElsewhere(t testing.TB) {
	t.Helper()
	w := secondBuyer(t, func(w *wallet, _ *exchange.Order) {
		w.tracker.Track(bitcoin)
		w.apply(record.Record{AtMS: w.now, ClientOrderID: "bt-000001zzzzz-1", Symbol: bitcoin,
			Body: record.Quarantined{Reason: reasonLostJournal, Cause: record.JournalLost}})
	})
	if !w.tracker.StandsDown() || w.tracker.Symbol(coin).Quarantine() == "" {
		t.Errorf("want it quarantined while it stands down for an order elsewhere, have it stand down %t", w.tracker.StandsDown())
	}
}

func secondBuyerDecided(t testing.TB) {
	w := secondBuyerFound(t)
	for _, r := range w.tracker.Resolve(coin, false, "one", "a test") {
		w.apply(r)
	}
	first := purchaseOf(6, "500.001", "50000.1")
	w.start()
	w.now += 5_000
	w.sees("1.02", "0", []exchange.Order{first})
	symbol := w.tracker.Symbol(coin)
	if symbol.Quarantine() != "" || symbol.Known() != 10 {
		t.Errorf("want it left to its owner, have %d known, quarantined %q", symbol.Known(), symbol.Quarantine())
	}
	w.sees("1.02", "0", []exchange.Order{first, purchaseOf(7, "500.001", "50000.1")})
	if symbol.Quarantine() == "" {
		t.Error("want the next one quarantined too")
	}
}

func TestUnexplainedPurchaseIsManual(t *testing.T) {
	t.Parallel()
	of := func(id int64, change func(*exchange.Order)) func(*wallet, *exchange.Order) {
		return func(_ *wallet, o *exchange.Order) {
			o.ID = id
			change(o)
		}
	}
	for name, change := range map[string]func(*wallet, *exchange.Order){
		"of whole cents": of(6, func(o *exchange.Order) {
			o.QuoteAmount, o.AveragePrice = exchange.MustAmount("500.01"), exchange.MustAmount("50001")
		}),
		"of another amount": of(6, func(o *exchange.Order) { o.QuoteAmount = exchange.MustAmount("500.0011") }),
		"by quantity":       of(6, func(o *exchange.Order) { o.QuoteAmount, o.Quantity = exchange.Amount{}, 10 }),
		"under an id":       of(6, func(o *exchange.Order) { o.ClientOrderID = "a person's" }),
		"not executed":      of(6, func(o *exchange.Order) { o.Filled = 0 }),
		"next to an order under this prefix": func(w *wallet, _ *exchange.Order) {
			w.sees("1.02", "0", []exchange.Order{anothers(elders+"1", 4, exchange.Buy, exchange.Limit, 10, 0, w.now)})
		},
		"a sale":            of(6, func(o *exchange.Order) { o.Side = exchange.Sell }),
		"on another symbol": of(6, func(o *exchange.Order) { o.Symbol = "ETH-USDT" }),
		"decided": func(w *wallet, _ *exchange.Order) {
			w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Decided: 6, Evidence: "a test"}})
		},
		"while botd stands down": func(w *wallet, _ *exchange.Order) {
			w.apply(record.Record{AtMS: w.now, ClientOrderID: "bt-000001zzzzz-1", Body: record.Halt{Level: record.LevelPause, Reason: "another botd"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if have := secondBuyer(t, change).tracker.Symbol(coin).Quarantine(); have != "" {
				t.Errorf("want no quarantine, have %q", have)
			}
		})
	}
}

func TestAHistoryWithIDsShowsWhoBuys(t *testing.T) {
	t.Parallel()
	w := newWallet(t)
	w.observe("1")
	w.now += 60_000
	own := purchaseOf(5, "500.002", "50000.2")
	sent := w.places(placement.Entry, 5, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: own.QuoteAmount})
	own.ClientOrderID = sent.ClientOrderID
	w.now += 5_000
	w.sees("1.02", "0", []exchange.Order{own, purchaseOf(6, "500.001", "50000.1")})
	if have := w.tracker.Symbol(coin).Quarantine(); have != "" {
		t.Errorf("want no quarantine, have %q", have)
	}
}

// The newest of them decides: of many amounts that a person does not enter, one has the form of botd's by chance.
func TestTheNewestPurchaseDecides(t *testing.T) {
	t.Parallel()
	none := func(*wallet, *exchange.Order) {}
	if have := secondBuyer(t, none, purchaseOf(7, "500.0011", "50000.1")).tracker.Symbol(coin).Quarantine(); have != "" {
		t.Errorf("want no quarantine, have %q", have)
	}
	if have := secondBuyer(t, none, purchaseOf(7, "500.01", "50000.1")).tracker.Symbol(coin).Quarantine(); have == "" {
		t.Error("want whole cents to decide nothing")
	}
}

// One step is executed as well as ten. Botd's own orders that cannot be the row explain it no more than no order does.
func TestAPurchaseOfBotdsFormIsQuarantinedBesideOtherOrders(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*wallet, *exchange.Order){
		"one step": func(_ *wallet, o *exchange.Order) {
			o.Filled, o.QuoteAmount = 1, exchange.MustAmount("50.0001")
		},
		"a sale without an answer":                        func(w *wallet, _ *exchange.Order) { w.places(placement.StopLoss, 0, stopOf(4)) },
		"a purchase of the same seconds under its own id": func(w *wallet, _ *exchange.Order) { w.buysUnder(8, 4) },
	} {
		if have := secondBuyer(t, change).tracker.Symbol(coin).Quarantine(); !strings.Contains(have, "order 6 has no id") {
			t.Errorf("%s: want the symbol quarantined for it, have %q", name, have)
		}
	}
}

// What may be botd's own purchase is decided otherwise, and a person's decision about that includes the row.
func TestALostPurchaseIsNoSecondBuyers(t *testing.T) {
	t.Parallel()
	again := exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.MustAmount("500.001")}
	for name, change := range map[string]func(*wallet, *exchange.Order){
		"without an answer": func(w *wallet, _ *exchange.Order) { w.places(placement.Entry, 0, again) },
		"refused": func(w *wallet, o *exchange.Order) {
			o.CreatedMS += repeatedMS + 1 // otherwise it is the refused one
			sent := w.sends(placement.Entry, 0, again)
			w.apply(record.Record{AtMS: w.now, ClientOrderID: sent.ClientOrderID, Body: record.Refused{Code: 2999, Reason: "system busy"}})
		},
	} {
		w := secondBuyer(t, change)
		symbol := w.tracker.Symbol(coin)
		if strings.Contains(symbol.Quarantine(), "the form of botd's purchases") || symbol.spot.secondBuyer != 6 {
			t.Errorf("%s: want it noted and decided otherwise, have %d, quarantined %q", name, symbol.spot.secondBuyer, symbol.Quarantine())
		}
	}
}

// The journal remembers only the newest of its orders.
func TestAPurchaseOlderThanTheMemoryMayBeOwn(t *testing.T) {
	t.Parallel()
	forgottenPurchase(t)
}

func forgottenPurchase(t testing.TB) {
	w := newWallet(t)
	w.observe("1")
	for id := range int64(5_010) {
		row := w.sends(placement.Order, 10+id, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 10, Price: 40_000e8})
		w.apply(record.Record{AtMS: w.now, ClientOrderID: row.ClientOrderID, Body: record.Ended{OrderID: 10 + id, State: placement.Canceled}})
	}
	w.now += 60_000
	w.sees("1", "0", []exchange.Order{purchaseOf(19, "500.001", "50000.1")})
	if have := w.tracker.Symbol(coin).Quarantine(); have != "" {
		t.Errorf("want it botd's own for all the journal remembers, have %q", have)
	}
	w.sees("1", "0", []exchange.Order{purchaseOf(20_000, "500.001", "50000.1")})
	if w.tracker.Symbol(coin).Quarantine() == "" {
		t.Error("want a later one quarantined")
	}
}

// The first read of a history after a start shows it as well.
func TestSecondBuyerIsFoundInTheNewestHistory(t *testing.T) {
	t.Parallel()
	w := secondBuyer(t, func(_ *wallet, o *exchange.Order) { o.Filled = 0 })
	other := purchaseOf(6, "500.001", "50000.1")
	other.CreatedMS = w.now
	w.now += 1_000
	w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, Newest: []exchange.Order{purchaseOf(5, "500.002", "50000.2"), other}})
	if have := w.tracker.Symbol(coin).Quarantine(); !strings.Contains(have, "order 6 has no id but the form of botd's purchases") {
		t.Errorf("want the symbol quarantined for it, have %q", have)
	}
}
