package reconcile

import (
	"fmt"
	"testing"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A position closed from outside is adopted, including its ignored part; any other difference is subject to the policy. An adoption
// latches.
func TestUnexplainedDifferenceFollowsPolicy(t *testing.T) {
	t.Parallel()
	const differs = "the position differs from the fills by "
	for _, c := range []struct {
		name           string
		policy         string
		known, ignored exchange.Quantity
		shown          exchange.Quantity
		with           func(d *desk, symbol *SymbolState)
		want           string // known, ignored, residual, whether it is latched; the evidence, or why it is quarantined
	}{
		{"all of it closed", ForeignHalt, 20, 0, 0, nil, "0 0 0 true; the position was closed outside botd"},
		{"one unit, closed", ForeignHalt, 1, 0, 0, nil, "0 0 0 true; the position was closed outside botd"},
		{"closed, as a row shows", ForeignHalt, 20, 0, 0, func(_ *desk, s *SymbolState) { s.futuresEvidence.by = closedRow },
			"0 0 0 true; the position was closed outside botd: positions/history shows it closed"},
		{"the ignored part is closed too", ForeignIgnore, 20, 5, 0, nil, "0 0 0 true; the position was closed outside botd"},
		{"the ignored part is closed", ForeignIgnore, 0, 1, 0, nil, "0 0 0 false; the ignored part was closed outside botd"},
		{"more, that is adopted", ForeignAdopt, 20, 0, 25, nil, "25 0 0 true; made outside botd, adopted by foreign: adopt"},
		{"more, that is ignored", ForeignIgnore, 20, 0, 25, nil, "20 5 0 false; made outside botd, ignored by foreign: ignore"},
		{"more, and a person decides", ForeignHalt, 20, 0, 25, nil, "20 0 5 false; " + differs + "0.005, which nothing explains"},
		{"more, and the rules are not known", ForeignHalt, 20, 0, 25, func(_ *desk, s *SymbolState) { s.rules = nil },
			"20 0 5 false; " + differs + "an unknown quantity, which nothing explains"},
		{"more, and another botd trades", ForeignAdopt, 20, 0, 25, func(_ *desk, s *SymbolState) { s.unknownEnded = elders + "1" },
			"20 0 5 false; " + differs + "0.005 while another botd may be placing orders"},
	} {
		d := newDesk(t)
		d.tracker.foreignPolicy = c.policy
		d.target(20)
		if c.known != 0 {
			d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Adopted{Quantity: c.known}})
		}
		d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: c.ignored}})
		symbol := d.tracker.Symbol(bitcoin)
		s := d.shows(symbol, c.shown)
		if c.with != nil {
			c.with(d, symbol)
		}
		s.positionComparison().foreign(symbol)
		why := symbol.Quarantine()
		for _, r := range s.records {
			switch body := r.Body.(type) {
			case record.Adopted:
				why = body.Evidence
			case record.Ignored:
				why = body.Evidence
			}
		}
		have := fmt.Sprintf("%d %d %d %t; %s", symbol.Known(), symbol.Ignored(), symbol.residual, d.tracker.Strategy("one").Latch() == 1, why)
		if have != c.want || why != symbol.Quarantine() && symbol.residualOf != symbol.Known() {
			t.Errorf("%s: want %s, have %s, of %d", c.name, c.want, have, symbol.residualOf)
		}
	}
}

// The symbol is quarantined whatever the policy, because of a position, however small, or an order under botd's prefix.
func TestNewJournalQuarantinesOpenState(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		shown exchange.Quantity
		row   string // the client order id of an open order; empty for none
		want  bool
		id    string
	}{
		{"nothing", 0, "", false, ""}, {"a position of one unit", 1, "", true, ""}, {"an order of its prefix", 0, elders + "1", true, elders + "1"},
		{"a person's order", 0, "a person's", false, ""}, {"both", -20, elders + "1", true, elders + "1"},
	} {
		d := newDesk(t)
		d.tracker.foreignPolicy, d.tracker.instance = ForeignAdopt, "t"
		var rows []exchange.Order
		if c.row != "" {
			rows = append(rows, d.order(c.row, 50, exchange.StatusOpen, 10, 0))
		}
		d.observe(c.shown, nil, rows...)
		symbol := d.tracker.Symbol(bitcoin)
		if lost := symbol.Cause() == record.JournalLost; lost != c.want ||
			(symbol.Quarantine() == reasonLostJournal) != c.want || symbol.UnknownOrder() != c.id {
			t.Errorf("%s: want it quarantined %t for %q, have %q for %q", c.name, c.want, c.id, symbol.Quarantine(), symbol.UnknownOrder())
		}
		if symbol.settled == c.want {
			t.Errorf("%s: want it settled %t", c.name, !c.want)
		}
	}
}

// An order under the journal's prefix is unknown to it if its start or number was never sent.
func TestHistoryOrderUnknownToJournal(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"bt-7-1": "bt-7-1", "bt-1-9": "bt-1-9", "bt-1-0": "", "a person's": "", "bu-7-1": "", "bt-seven": "", "": ""} {
		w := explains(t, 10, 0)
		row := anothers(id, 50, exchange.Buy, exchange.MarketOrder, 7, 7, 1)
		w.tracker.survey(&Snapshot{Newest: []exchange.Order{row}}).orderRows().observeNewest()
		if have := w.tracker.Symbol(coin).unknownEnded; have != want {
			t.Errorf("%q: want %q, have %q", id, want, have)
		}
	}
	for id, want := range map[int64]bool{8: true, 50: false} { // a row of botd's own that shows no id
		w := explains(t, 10, 0)
		w.buysUnder(8, 10)
		w.tracker.survey(&Snapshot{Newest: []exchange.Order{{ID: id, Market: exchange.Spot, Symbol: "BTC-USDT",
			Side: exchange.Buy}}}).orderRows().observeNewest()
		if w.tracker.idsLeftOut != want {
			t.Errorf("order %d without an id: want it known that lists leave them out %t", id, want)
		}
	}
}

// The time counts from the last of these orders that left the list.
func TestSalesOfAnotherJournalAreNotRepeatedForL(t *testing.T) {
	t.Parallel()
	w := explains(t, 10, 0)
	symbol := w.tracker.Symbol(coin)
	reads := func(want exchange.Quantity, rows ...exchange.Order) {
		t.Helper()
		s := w.reads(1_010, 0, rows...)
		s.peerOrders().noteUnlisted(symbol, rows)
		symbol.foreign = rows
		s.peerOrders().forgetUnlisted(symbol)
		if have := w.tracker.sellsUnknown(symbol); have != want {
			t.Errorf("want %d, have %d", want, have)
		}
		w.now += 600
	}
	first := anothers(elders+"1", 50, exchange.Sell, exchange.Limit, 4, 0, 1)
	second := anothers(elders+"2", 51, exchange.Sell, exchange.Limit, 3, 0, 1)
	person := anothers("a person's", 52, exchange.Sell, exchange.Limit, 9, 0, 1)
	for range 4 {
		reads(7, first, second, person)
	}
	reads(7, second) // the first order has left the list
	reads(7, second)
	reads(7) // and the second
	reads(7)
	s := w.reads(1_010, 0)
	s.fetched.Balances = exchange.Fetched[exchange.Balance]{}
	if s.peerOrders().forgetUnlisted(symbol); w.tracker.sellsUnknown(symbol) != 7 {
		t.Error("want nothing concluded without a wallet")
	}
	reads(0)
}

// The row determines the purpose if nothing else is known about the order.
func TestFoundOrderPurpose(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		market exchange.Market
		side   exchange.Side
		kind   exchange.OrderType
		closes bool
		of     int64 // the id of the position that it reduces
		known  placement.Purpose
		want   placement.Purpose
	}{
		{"a bid", exchange.Futures, exchange.Buy, exchange.Limit, false, 0, 0, placement.Order},
		{"an ask", exchange.Futures, exchange.Sell, exchange.Limit, false, 0, 0, placement.Order},
		{"a reducing order", exchange.Futures, exchange.Sell, exchange.Limit, false, 7, 0, placement.ExitOrder},
		{"a stop of the whole position", exchange.Futures, exchange.Sell, exchange.StopMarket, true, 0, 0, placement.StopLoss},
		{"a profit of it", exchange.Futures, exchange.Sell, exchange.TakeProfitMarket, true, 0, 0, placement.TakeProfit},
		{"a stop that opens", exchange.Futures, exchange.Sell, exchange.StopLimit, false, 0, 0, placement.Order},
		{"a bid on spot", exchange.Spot, exchange.Buy, exchange.Limit, false, 0, 0, placement.Order},
		{"a purchase by a stop on spot", exchange.Spot, exchange.Buy, exchange.StopLimit, false, 0, 0, placement.Order},
		{"a sale on spot", exchange.Spot, exchange.Sell, exchange.Limit, false, 0, 0, placement.ExitOrder},
		{"a stop on spot", exchange.Spot, exchange.Sell, exchange.StopLimit, false, 0, 0, placement.StopLoss},
		{"what is known of it", exchange.Spot, exchange.Sell, exchange.StopLimit, false, 0, placement.Exit, placement.Exit},
	} {
		row := exchange.Order{ID: 50, Market: c.market, Symbol: "BTC-USDT", Side: c.side, Type: c.kind, ClosePosition: c.closes, ClosePositionID: c.of,
			Quantity: 10, Price: 5, StopPrice: 6, ClientOrderID: "x"}
		r := found(&row, "one", "x#50", record.Found{Purpose: c.known})
		body := r.Body.(record.Found)
		if body.Purpose != c.want || body.OrderID != 50 || r.ClientOrderID != "x#50" || r.Strategy != "one" || r.Symbol != row.Key() {
			t.Errorf("%s: want it for %s, have %+v", c.name, c.want, r)
		}
		if o := body.Order; o.ReduceOnly != (c.of != 0) || o.ClosePosition != c.closes || o.Side != c.side || o.Type != c.kind || o.Quantity != 10 ||
			o.Price != 5 || o.StopPrice != 6 {
			t.Errorf("%s: want the order as it is, have %+v", c.name, o)
		}
	}
}

// An unreadable row counts for an uncertain purchase, however small the purchase is.
func TestUnclaimedRowCountsForUncertainPurchase(t *testing.T) {
	t.Parallel()
	for _, filled := range []exchange.Quantity{0, 1, 10} {
		w := explains(t, 10, 0)
		w.tracker.idsLeftOut = true
		p := w.tracker.Placement(w.buysUnder(0, 10).ClientOrderID)
		if have := w.reads(1_010, 0).tracker.unclaimedRows().boughtBy(&exchange.Order{ID: 70, Filled: filled}, p, w.tracker.Symbol(coin)); have != filled {
			t.Errorf("want %d, have %d", filled, have)
		}
	}
}

// The fill is booked where it is larger than the known one, and ends an order whose quantity is known.
func TestUnreadableRowFill(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		quantity exchange.Quantity // of the order; 0 for one by amount
		filled   exchange.Quantity
		ends     bool
		fills    int // number of fill records
	}{
		{"nothing of one by amount", 0, 0, false, 0}, {"some of one by amount", 0, 3, false, 1}, {"the one of one", 1, 1, true, 0},
		{"none of one", 1, 0, false, 0},
	} {
		w := explains(t, 10, 0)
		o := w.places(placement.Entry, 8, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: c.quantity})
		s := w.reads(1_010, 0)
		s.orderRows().unreadOwn(w.tracker.Placement(o.ClientOrderID), &UnreadOrder{Market: exchange.Spot, Open: true,
			Row: exchange.UnreadableRow{ID: 8, FilledRead: true, Filled: c.filled}})
		fills := 0
		for _, r := range s.records {
			if r.Kind() == record.KindFill {
				fills++
			}
		}
		if ends := w.tracker.Placement(o.ClientOrderID) == nil; ends != c.ends || fills != c.fills {
			t.Errorf("%s: want it ended %t, with %d fills, have %t, %d", c.name, c.ends, c.fills, ends, fills)
		}
	}
}

// A read names an instrument that the ledger does not know, or knows with other properties.
func TestReadNamesNewInstruments(t *testing.T) {
	t.Parallel()
	w := explains(t, 10, 0)
	reads := func() int {
		reading, whole := w.tracker.Readings().Spot(w.reads(1_010, 0).fetched)
		if !whole {
			t.Fatal("want the wallet read")
		}
		w.apply(record.Record{AtMS: w.now, Body: record.Posting{Posting: ledger.Posting{Reading: reading}}})
		return len(reading.Instruments)
	}
	first, again := reads(), reads()
	w.tracker.Symbol(coin).rules.QuantityScale++
	changed := reads()
	if first != 1 || again != 0 || changed != 1 {
		t.Errorf("want it named at first, and when it has changed, have %d, %d, %d", first, again, changed)
	}
}
