package reconcile

import (
	"fmt"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// standing returns a wallet of which fills explain ten, and orders of another botd, one of which is in no journal.
func standing(t testing.TB, orders ...peerOrder) (*wallet, *SymbolState) {
	w := explains(t, 10, 0)
	symbol := w.tracker.Symbol(coin)
	symbol.unknownEnded, symbol.spot.peer.orders = elders+"1", orders
	return w, symbol
}

// The joint holding is botd's own plus what the other botd's orders bought and did not sell, as far as the wallet shows
// it.
func TestJointHoldingWithAnotherBotd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		theirs      []exchange.Quantity // bought by their orders; negative: sold
		sold        exchange.Quantity   // by own sales, of theirs
		fees        exchange.Quantity
		baseBalance exchange.Quantity
		early       bool // the wallet proves nothing yet
		held        exchange.Quantity
		theirs1     exchange.Quantity // their part of it
	}{
		{"nothing of theirs", nil, 0, 0, 1_010, true, 10, 0},
		{"their purchases", []exchange.Quantity{5}, 0, 0, 1_015, true, 15, 5},
		{"their unsold purchases", []exchange.Quantity{5, -2}, 0, 0, 1_013, true, 13, 3},
		{"they sold more than they bought: botd's", []exchange.Quantity{5, -8}, 0, 0, 1_007, true, 7, 0},
		{"the same, and the wallet shows what is left", []exchange.Quantity{5, -8}, 0, 0, 1_007, false, 7, 0},
		{"they sold botd's, and a wallet that proves something shows it all", []exchange.Quantity{-8}, 0, 0, 1_010, false, 10, 0},
		{"they sold botd's, and the wallet may be old", []exchange.Quantity{-8}, 0, 0, 1_010, true, 2, 0},
		{"own sales have sold of theirs", []exchange.Quantity{5}, 3, 0, 1_012, true, 12, 2},
		{"fees have taken of botd's", []exchange.Quantity{5}, 0, 2, 1_013, true, 13, 5},
		{"fees have taken of botd's, by a wallet that proves something", []exchange.Quantity{5}, 0, 2, 1_013, false, 13, 5},
		{"the wallet shows less of botd's", []exchange.Quantity{5}, 0, 0, 1_004, false, 9, 0},
		{"the wallet shows none of botd's", []exchange.Quantity{5}, 0, 0, 900, false, 5, 0},
		{"the wallet shows nearly nothing", []exchange.Quantity{5}, 0, 0, 3, false, 3, 0},
		{"the wallet shows nothing", []exchange.Quantity{5}, 0, 0, 0, false, 0, 0},
	} {
		w, symbol := standing(t)
		if c.fees != 0 {
			w.apply(record.Record{Symbol: coin, Body: record.Fees{Quantity: c.fees, Expected: true}})
		}
		for i, net := range c.theirs {
			symbol.spot.peer.orders = append(symbol.spot.peer.orders, peerOrder{int64(50 + i), net, int64(700 + i)})
		}
		symbol.spot.peer.sold, symbol.spot.baseBalance, symbol.spot.walletInconclusive = c.sold, c.baseBalance, c.early
		if have := symbol.jointPosition(); have != c.held {
			t.Errorf("%s: want %d held, have %d", c.name, c.held, have)
		}
		theirs, since := w.tracker.PeerPosition(symbol)
		if wantSince := map[bool]int64{true: 700}[len(c.theirs) > 0]; theirs != c.theirs1 || since != wantSince {
			t.Errorf("%s: want %d of it theirs since %d, have %d since %d", c.name, c.theirs1, wantSince, theirs, since)
		}
	}
	for own, want := range map[exchange.Quantity]exchange.Quantity{0: 5, 1: 5} {
		w := explains(t, own, 0)
		symbol := w.tracker.Symbol(coin)
		symbol.unknownEnded, symbol.spot.peer.orders, symbol.spot.baseBalance = elders+"1", []peerOrder{{50, 5, 700}}, 1_005+own
		if theirs, _ := w.tracker.PeerPosition(symbol); theirs != want {
			t.Errorf("%d of botd's own: want %d theirs, have %d", own, want, theirs)
		}
	}
	w, symbol := standing(t, peerOrder{50, 5, 700})
	symbol.spot.baseBalance = 1_015
	symbol.unknownEnded = ""
	if theirs, since := w.tracker.PeerPosition(symbol); theirs != 0 || since != 0 {
		t.Errorf("want none of theirs where botd does not stand down, have %d since %d", theirs, since)
	}
	d := holds(t, 20)
	d.tracker.Symbol(bitcoin).unknownEnded, d.tracker.Symbol(bitcoin).spot.peer.orders = elders+"1", []peerOrder{{50, 5, 700}}
	if theirs, since := d.tracker.PeerPosition(d.tracker.Symbol(bitcoin)); theirs != 0 || since != 0 {
		t.Errorf("want none on futures, where the position is one, have %d since %d", theirs, since)
	}
}

// Here the wallet does not matter. What one botd sold beyond its own holding was the other's.
func TestUnsoldPurchasesOfBothBotds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ own, theirs, want exchange.Quantity }{
		{10, 5, 15}, {10, 0, 10}, {10, -3, 7}, {10, -12, 0}, {0, 5, 5}, {0, 0, 0}, {0, -3, 0},
	} {
		w := explains(t, c.own, 0)
		symbol := w.tracker.Symbol(coin)
		symbol.spot.peer.orders = []peerOrder{{50, c.theirs, 700}}
		if have := symbol.jointFills(); have != c.want {
			t.Errorf("%d of botd's own and %d theirs: want %d, have %d", c.own, c.theirs, c.want, have)
		}
	}
}

// A purchase counts for less than 1.5 s: its stop may be in flight.
func TestRecentPurchasesOfAnotherBotd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		one  peerOrder
		want exchange.Quantity
	}{
		{"a moment ago", peerOrder{50, 7, 10_000}, 7},
		{"1.5 s ago", peerOrder{50, 7, 8_500}, 0},
		{"less than 1.5 s ago", peerOrder{50, 7, 8_501}, 7},
		{"a sale is none", peerOrder{50, -7, 10_000}, 0},
	} {
		_, symbol := standing(t, peerOrder{49, 5, 10_000}, c.one)
		if have := symbol.spot.peer.recentPurchases(10_000); have != 5+c.want {
			t.Errorf("%s: want %d beside five, have %d", c.name, c.want, have-5)
		}
	}
}

// A person adopts what the other botd bought and did not sell. That may be part of the wallet's balance before botd bought.
func TestAdoptionOfAnotherBotdsHolding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		own, theirs exchange.Quantity
		baseBalance exchange.Quantity
		adopt       bool
		adopted     exchange.Quantity
		baseline    exchange.Quantity // -1 if there is no baseline record
	}{
		{"it was bought since", 10, 5, 1_015, true, 5, -1},
		{"it was there before", 10, 5, 1_010, true, 5, 995},
		{"one of it was there before", 10, 1, 1_010, true, 1, 999},
		{"all that was there before was its own", 0, 5, 5, true, 5, 0},
		{"all but one was", 0, 5, 6, true, 5, 1},
		{"it has bought nothing, and the wallet shows less than there was before", 10, 0, 900, true, 0, -1},
		{"a person leaves it to that one", 10, 5, 1_010, false, 0, -1},
	} {
		w := explains(t, c.own, 0)
		symbol := w.tracker.Symbol(coin)
		symbol.unknownEnded, symbol.spot.peer.orders, symbol.spot.baseBalance = elders+"1", []peerOrder{{50, c.theirs, 700}}, c.baseBalance
		w.reads(c.baseBalance, 0)
		adopted, baseline := exchange.Quantity(0), exchange.Quantity(-1)
		for _, r := range w.tracker.Resolve(coin, c.adopt, "one", "a test") {
			switch body := r.Body.(type) {
			case record.Adopted:
				adopted += body.Quantity
			case record.Baseline:
				baseline = body.Quantity
			}
		}
		if adopted != c.adopted || baseline != c.baseline {
			t.Errorf("%s: want %d adopted and %d before, have %d and %d", c.name, c.adopted, c.baseline, adopted, baseline)
		}
	}
}

// On spot the stops of both botds together cover the holding of both. On futures one stop of the other botd covers the position, if it is for all of it.
func TestStopOfAnotherBotdProtects(t *testing.T) {
	t.Parallel()
	const id = elders + "2"
	for _, c := range []struct {
		name string
		own  exchange.Quantity
		row  exchange.Order
		want string
	}{
		{"for all of it", 0, anothers(id, 50, exchange.Sell, exchange.StopLimit, 10, 0, 1), id},
		{"for part of it", 0, anothers(id, 50, exchange.Sell, exchange.StopLimit, 5, 0, 1), ""},
		{"for the part that botd's own does not cover", 5, anothers(id, 50, exchange.Sell, exchange.StopLimit, 5, 0, 1), id},
		{"a person's", 0, anothers("a person's", 50, exchange.Sell, exchange.StopLimit, 10, 0, 1), ""},
		{"a sale that is no stop", 0, anothers(id, 50, exchange.Sell, exchange.Limit, 10, 0, 1), ""},
		{"a stop that buys", 0, anothers(id, 50, exchange.Buy, exchange.StopLimit, 10, 0, 1), ""},
	} {
		w, symbol := standing(t)
		symbol.position, symbol.spot.baseBalance, symbol.foreign = 10, 1_010, []exchange.Order{c.row}
		if have := w.tracker.PeerStop(symbol, c.own); have != c.want {
			t.Errorf("spot, %s: want %q, have %q", c.name, c.want, have)
		}
	}
	stop := exchange.Order{ID: 50, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopMarket, ClientOrderID: id,
		ClosePosition: true, ClosePositionID: 1}
	for name, c := range map[string]struct {
		with func(o *exchange.Order)
		want string
	}{
		"for all of it":          {func(*exchange.Order) {}, id},
		"for its quantity":       {func(o *exchange.Order) { o.ClosePosition, o.Quantity = false, 20 }, id},
		"for part of it":         {func(o *exchange.Order) { o.ClosePosition, o.Quantity = false, 19 }, ""},
		"a person's":             {func(o *exchange.Order) { o.ClientOrderID = "by-hand" }, ""},
		"for the other side":     {func(o *exchange.Order) { o.Side = exchange.Buy }, ""},
		"a take-profit":          {func(o *exchange.Order) { o.Type = exchange.TakeProfitMarket }, ""},
		"an order that may open": {func(o *exchange.Order) { o.ClosePosition, o.ClosePositionID, o.Quantity = false, 0, 20 }, ""},
	} {
		d, row := holds(t, 20), stop
		c.with(&row)
		d.tracker.identify("t")
		symbol := d.tracker.Symbol(bitcoin)
		symbol.unknownEnded, symbol.foreign = elders+"1", []exchange.Order{row}
		if have := d.tracker.PeerStop(symbol, 0); have != c.want {
			t.Errorf("futures, %s: want %q, have %q", name, c.want, have)
		}
	}
	d := holds(t, 20)
	d.tracker.identify("t")
	symbol := d.tracker.Symbol(bitcoin)
	symbol.unknownEnded, symbol.foreign = elders+"1", []exchange.Order{stop}
	d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: -20}})
	symbol.position = 20
	if have := d.tracker.PeerStop(symbol, 0); symbol.TrustedPosition() == 0 || symbol.TrustedVenuePosition() != 0 || have != "" {
		t.Errorf("others hold as much on the other side: want no stop for a position of %d, have %q", symbol.TrustedPosition(), have)
	}
}

// The next round comes soon while the stops of both cover only part of the holding, or sell more than all of it.
func TestNextRoundIsEarlyWithAnotherBotd(t *testing.T) {
	t.Parallel()
	sells := func(quantity exchange.Quantity) func(w *wallet, s *SymbolState) {
		return func(w *wallet, _ *SymbolState) { w.places(placement.StopLoss, 9, stopOf(quantity)) }
	}
	for _, c := range []struct {
		name string
		with func(w *wallet, s *SymbolState)
		want bool
	}{
		{"nothing is covered", nil, true},
		{"all is covered", sells(10), false},
		{"all but what is worth an order is", sells(8), true},
		{"all but what is worth less is", sells(9), false},
		{"more than all is", sells(13), false},
		{"they sell too much since a while", func(w *wallet, s *SymbolState) { sells(13)(w, s); s.spot.excess.sinceMS = 1 }, true},
		{"theirs covers it", func(_ *wallet, s *SymbolState) {
			s.foreign = []exchange.Order{anothers(elders+"2", 50, exchange.Sell, exchange.StopLimit, 10, 0, 1)}
		}, false},
		{"a person's does not", func(_ *wallet, s *SymbolState) {
			s.foreign = []exchange.Order{anothers("a person's", 50, exchange.Sell, exchange.StopLimit, 10, 0, 1)}
		}, true},
		{"a purchase of theirs does not", func(_ *wallet, s *SymbolState) {
			s.foreign = []exchange.Order{anothers(elders+"2", 50, exchange.Buy, exchange.Limit, 10, 0, 1)}
		}, true},
		{"a purchase of botd's does not", func(w *wallet, _ *SymbolState) { w.buysUnder(9, 10) }, true},
		{"a sale of another symbol does not", func(w *wallet, _ *SymbolState) { w.sendsElsewhere(exchange.Sell) }, true},
		{"botd does not stand down", func(_ *wallet, s *SymbolState) { s.unknownEnded = "" }, false},
		{"the rules are not known", func(_ *wallet, s *SymbolState) { s.rules = nil }, false},
	} {
		w, symbol := standing(t)
		symbol.spot.baseBalance = 1_010
		if c.with != nil {
			c.with(w, symbol)
		}
		if have := w.tracker.JointUncovered(symbol); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
	d := holds(t, 20)
	d.tracker.Symbol(bitcoin).unknownEnded = elders + "1"
	if d.tracker.JointUncovered(d.tracker.Symbol(bitcoin)) {
		t.Error("want no hurry on futures")
	}
}

// The excess counts if it is worth an order and the wallet has frozen the asset for all the stops.
func TestStopExcessOverHolding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		sells  exchange.Quantity // out of ten
		frozen exchange.Quantity
		stands bool // botd stands down
		want   exchange.Quantity
	}{
		{"as much", 10, 10, true, 0},
		{"more by an order", 12, 12, true, 2},
		{"more by less than an order", 11, 11, true, 0},
		{"less", 7, 7, true, 0},
		{"more, and the wallet does not freeze all of it", 12, 11, true, 0},
		{"more, and the wallet freezes more", 12, 15, true, 2},
		{"more, and no other botd trades", 12, 12, false, 0},
	} {
		w, symbol := standing(t)
		if !c.stands {
			symbol.unknownEnded = ""
		}
		symbol.spot.baseBalance = 1_010
		w.places(placement.StopLoss, 9, stopOf(c.sells))
		for _, beganMS := range []int64{0, 77} {
			symbol.spot.excess.sinceMS = beganMS
			w.reads(1_010-c.frozen, c.frozen).peerOrders().noteExcess(symbol)
			since := map[bool]int64{true: w.now, false: beganMS}[beganMS == 0]
			if c.want == 0 {
				since = 0
			}
			if symbol.spot.excess.quantity != c.want || symbol.spot.excess.sinceMS != since {
				t.Errorf("%s: want %d since %d, have %d since %d", c.name, c.want, since, symbol.spot.excess.quantity, symbol.spot.excess.sinceMS)
			}
		}
	}
}

// A stop of botd's is removed after 1.5 s if botd started later, otherwise after ten seconds, and only for the excess.
func TestStopYieldsToAnotherBotds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		id     string // of the other botd's order
		agoMS  int64
		excess exchange.Quantity
		with   func(d *derivation)
		want   bool
		left   exchange.Quantity
	}{
		{"began later, after 1.5 s", elders + "1", 1_500, 10, nil, true, 0},
		{"began later, a moment before", elders + "1", 1_499, 10, nil, false, 10},
		{"began earlier, after ten seconds", youngers + "1", 10_000, 10, nil, true, 0},
		{"began earlier, a moment before", youngers + "1", 9_999, 10, nil, false, 10},
		{"more sells too much", elders + "1", 1_500, 15, nil, true, 5},
		{"less sells too much, by less than an order", elders + "1", 1_500, 9, nil, true, -1},
		{"less sells too much, by an order", elders + "1", 1_500, 8, nil, false, 8},
		{"nothing sells too much", elders + "1", 1_500, 10, func(d *derivation) { d.symbol.spot.excess.sinceMS = 0 }, false, 10},
		{"it sells no more than is held", elders + "1", 1_500, 10, func(d *derivation) { d.shrunk = nil }, false, 10},
		{"its symbol cannot be read", elders + "1", 1_500, 10, func(d *derivation) { d.symbol.unread = true }, false, 10},
		{"its market cannot be read", elders + "1", 1_500, 10, func(d *derivation) { d.desired.Unread = true }, false, 10},
		{"something is uncertain", elders + "1", 1_500, 10, func(d *derivation) { d.unsettled = true }, false, 10},
	} {
		w, symbol := standing(t)
		symbol.unknownEnded = c.id
		stop := w.places(placement.StopLoss, 9, stopOf(10))
		symbol.spot.excess.sinceMS = w.now - c.agoMS
		d := w.deriving(nil)
		d.shrunk = d.stops
		if c.with != nil {
			c.with(d)
		}
		left := c.excess
		have := d.jointProtection().mayRemoveExcessStop(&Intent{Purpose: placement.Cancel, ClientID: stop.ClientOrderID}, &left)
		if have != c.want || left != c.left {
			t.Errorf("%s: want %t, %d left, have %t, %d", c.name, c.want, c.left, have, left)
		}
		if d.jointProtection().mayRemoveExcessStop(&Intent{Purpose: placement.Cancel, ClientID: "nobody's"}, &left) {
			t.Errorf("%s: want no order that has ended to give way", c.name)
		}
	}
}

// Each order counts with its largest reported fill, less the fee of a purchase. No more than a page is stored.
func TestAnotherBotdsFills(t *testing.T) {
	t.Parallel()
	row := func(id string, orderID int64, side exchange.Side, filled exchange.Quantity) exchange.Order {
		return anothers(id, orderID, side, exchange.Limit, 2_000, filled, 1)
	}
	for _, c := range []struct {
		name string
		rows []exchange.Order
		with func(w *wallet, s *SymbolState)
		want string
	}{
		{"a purchase, less a fee of 0.1 %", []exchange.Order{row(elders+"2", 50, exchange.Buy, 1_000)}, nil, "50:999"},
		{"a sale", []exchange.Order{row(elders+"2", 50, exchange.Sell, 1_000)}, nil, "50:-1000"},
		{"two", []exchange.Order{row(elders+"2", 50, exchange.Sell, 4), row(elders+"3", 51, exchange.Sell, 5)}, nil, "50:-4 51:-5"},
		{"one that has filled more since", []exchange.Order{row(elders+"2", 50, exchange.Sell, 4), row(elders+"2", 50, exchange.Sell, 6)}, nil, "50:-6"},
		{"one of an older list", []exchange.Order{row(elders+"2", 50, exchange.Sell, 4), row(elders+"2", 50, exchange.Sell, 3)}, nil, "50:-4"},
		{"one that has filled nothing", []exchange.Order{row(elders+"2", 50, exchange.Sell, 0)}, nil, ""},
		{"one that has ended without a fill", []exchange.Order{func() exchange.Order {
			o := row(elders+"2", 50, exchange.Sell, 0)
			o.Status = exchange.StatusCanceled
			return o
		}()}, nil, ""},
		{"a person's", []exchange.Order{row("a person's", 50, exchange.Sell, 4)}, nil, ""},
		{"another instance's", []exchange.Order{row("bu-000000aaaaa-2", 50, exchange.Sell, 4)}, nil, ""},
		{"on futures", []exchange.Order{func() exchange.Order {
			o := row(elders+"2", 50, exchange.Sell, 4)
			o.Market = exchange.Futures
			return o
		}()}, func(w *wallet, s *SymbolState) { w.tracker.Track(bitcoin).rules = s.rules }, ""},
		{"one that a person has decided about", []exchange.Order{row(elders+"2", 50, exchange.Sell, 4), row(elders+"3", 51, exchange.Sell, 4)},
			func(w *wallet, _ *SymbolState) {
				w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Adopted{Decided: 50}})
			}, "51:-4"},
		{"the rules are not known", []exchange.Order{row(elders+"2", 50, exchange.Sell, 4)}, func(_ *wallet, s *SymbolState) { s.rules = nil }, ""},
		{"under an id of this journal's own start", []exchange.Order{row("bt-1-0", 50, exchange.Sell, 4)}, nil, ""},
		{"under such an id, where the other botd began with a copy of the journal", []exchange.Order{row("bt-1-0", 50, exchange.Sell, 4)},
			func(_ *wallet, s *SymbolState) { s.unknownEnded = "bt-1-9" }, "50:-4"},
		{"under such an id, and none is found yet", []exchange.Order{row("bt-1-0", 50, exchange.Sell, 4)},
			func(_ *wallet, s *SymbolState) { s.unknownEnded = "" }, ""},
	} {
		w, symbol := standing(t)
		w.tracker.spotFee = exchange.RateOne / 1_000
		s := w.reads(1_010, 0)
		if c.with != nil {
			c.with(w, symbol)
		}
		s.peerOrders().notePeerOrders(c.rows)
		have := ""
		for i, one := range append(symbol.spot.peer.orders, w.tracker.Track(bitcoin).spot.peer.orders...) {
			if i > 0 {
				have += " "
			}
			have += fmt.Sprintf("%d:%d", one.orderID, one.net)
		}
		if have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
	w, symbol := standing(t)
	var rows []exchange.Order
	for i := range 1_001 {
		rows = append(rows, row(fmt.Sprintf("%s%d", elders, 2+i), int64(50+i), exchange.Sell, 1))
	}
	w.reads(1_010, 0).peerOrders().notePeerOrders(rows)
	if len(symbol.spot.peer.orders) != 1_000 {
		t.Errorf("want a page of them remembered, have %d", len(symbol.spot.peer.orders))
	}
	for _, r := range w.tracker.Resolve(coin, false, "one", "a test") {
		w.apply(r)
	}
	if symbol.DecidedID() != 1_049 || len(symbol.spot.peer.orders) != 0 {
		t.Errorf("want all of them decided, have up to %d, %d", symbol.DecidedID(), len(symbol.spot.peer.orders))
	}
}

// Own sales beyond what the fills explain have sold the other botd's holding, if that botd has traded.
func TestOwnSalesOfAnotherBotdsHolding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		theirs []peerOrder
		side   exchange.Side
		filled exchange.Quantity // ten are known
		want   exchange.Quantity
	}{
		{"more than is known", []peerOrder{{50, 5, 1}}, exchange.Sell, 13, 3},
		{"as much", []peerOrder{{50, 5, 1}}, exchange.Sell, 10, 0},
		{"less", []peerOrder{{50, 5, 1}}, exchange.Sell, 4, 0},
		{"a purchase", []peerOrder{{50, 5, 1}}, exchange.Buy, 13, 0},
		{"that one has traded nothing", nil, exchange.Sell, 13, 0},
	} {
		w, symbol := standing(t, c.theirs...)
		o := w.places(placement.Exit, 9, exchange.NewOrder{Side: c.side, Type: exchange.Limit, Quantity: 20, Price: 2_500e8})
		w.apply(record.Record{AtMS: w.now, ClientOrderID: o.ClientOrderID, Body: record.Fill{OrderID: 9, Filled: c.filled}})
		if have := symbol.spot.peer.sold; have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
	w, symbol := standing(t, peerOrder{50, 5, 1})
	o := w.places(placement.Exit, 9, saleOf(20))
	for _, filled := range []exchange.Quantity{4, 13} {
		w.apply(record.Record{AtMS: w.now, ClientOrderID: o.ClientOrderID, Body: record.Fill{OrderID: 9, Filled: filled}})
	}
	if have := symbol.spot.peer.sold; have != 3 {
		t.Errorf("in two parts: want three sold of theirs, have %d", have)
	}
}

// The excess beyond fees and a step is what the kill switch leaves to a person.
func TestWalletExcessOverClosableHolding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		fees        exchange.Quantity // expected
		baseBalance exchange.Quantity
		with        func(w *wallet)
		want        exchange.Quantity
	}{
		{"as much", 0, 1_010, nil, 0},
		{"a step more", 0, 1_011, nil, 0},
		{"two steps more", 0, 1_012, nil, 2},
		{"less", 0, 900, nil, 0},
		{"by the fees that were expected", 2, 1_011, nil, 0},
		{"by more than those", 2, 1_012, nil, 4},
		{"the wallet was never read", 0, 1_012, func(w *wallet) { w.tracker.walletMS = 0 }, 0},
		{"the rules are not known", 0, 1_012, func(w *wallet) { w.tracker.Symbol(coin).rules = nil }, 0},
	} {
		w := explains(t, 10, c.fees)
		w.reads(c.baseBalance, 0)
		symbol := w.tracker.Symbol(coin)
		symbol.position = symbol.heldOnSpot()
		if c.with != nil {
			c.with(w)
		}
		if have := w.tracker.Unclaimed(symbol); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
	d := holds(t, 0)
	d.tracker.walletMS, d.tracker.balances = 1, []exchange.Balance{{Asset: "BTC", Free: exchange.AmountOf(1)}}
	if have := d.tracker.Unclaimed(d.tracker.Symbol(bitcoin)); have != 0 {
		t.Errorf("want nothing of the kind on futures, have %d", have)
	}
}

// A person adopts what the wallet holds beyond what the fills explain.
func TestAdoptionOfUncertainPurchase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		uncertain   bool
		fees        exchange.Quantity
		baseBalance exchange.Quantity
		want        exchange.Quantity
	}{
		{"it bought five", true, 0, 1_015, 5},
		{"beside fees", true, 2, 1_013, 5},
		{"it bought nothing", true, 0, 1_010, 0},
		{"the wallet misses some", true, 0, 1_000, 0},
		{"none is uncertain", false, 0, 1_015, 0},
	} {
		w := explains(t, 10, c.fees)
		w.buysUnder(map[bool]int64{true: 0, false: 8}[c.uncertain], 5)
		w.reads(c.baseBalance, 0)
		adopted := exchange.Quantity(0)
		for _, r := range w.tracker.Resolve(coin, true, "one", "a test") {
			if body, is := r.Body.(record.Adopted); is {
				adopted += body.Quantity
			}
		}
		if adopted != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, adopted)
		}
	}
}

// Lists that began more than half a second after the refusal confirm it; on spot the complete order history is needed, too. If the order was executed anyway,
// it is found there, and without an id where lists omit the ids of botd's own rows.
func TestRefusalConfirmation(t *testing.T) {
	t.Parallel()
	purchase := exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 10, Price: 2_500e8}
	executed := func(change func(o *exchange.Order)) func(w *wallet, s *survey) {
		return func(w *wallet, s *survey) {
			w.tracker.idsLeftOut = true
			o := exchange.Order{ID: 70, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Quantity: 10, Filled: 10,
				Status: exchange.StatusFilled, CreatedMS: w.now}
			if change != nil {
				change(&o)
			}
			s.fetched.History = exchange.FetchedOf([]exchange.Order{o})
		}
	}
	resting := func(change func(o *exchange.Order)) func(w *wallet, s *survey) {
		return func(w *wallet, s *survey) {
			o := exchange.Order{ID: 70, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Quantity: 10, Price: 2_500e8,
				Status: exchange.StatusOpen, CreatedMS: w.now}
			if change != nil {
				change(&o)
			}
			s.fetched.SpotOrders = exchange.FetchedOf([]exchange.Order{o})
		}
	}
	const found = "order 70, which no placement claims, may be a refused order that the exchange executed anyway"
	for _, c := range []struct {
		name      string
		order     exchange.NewOrder
		with      func(w *wallet, s *survey)
		confirmed bool
		why       string
	}{
		{"lists of after it", purchase, nil, true, ""},
		{"lists that began half a second after it", purchase, func(w *wallet, s *survey) { s.fetched.BeganMS-- }, false, ""},
		{"without the open list", purchase, func(_ *wallet, s *survey) { s.fetched.SpotOrders = exchange.Fetched[exchange.Order]{} }, false, ""},
		{"without the history", purchase, func(_ *wallet, s *survey) { s.fetched.History = exchange.Fetched[exchange.Order]{} }, false, ""},
		{"with a part of the history", purchase, func(_ *wallet, s *survey) { s.fetched.HistoryWhole = false }, false, ""},
		{"where a read about the symbol failed", purchase, func(_ *wallet, s *survey) { s.fetched.Unread = []exchange.SymbolKey{coin} }, false, ""},
		{"the history shows it", purchase, executed(nil), true, found},
		{"of a sale the wallet shows it", saleOf(10), executed(func(o *exchange.Order) { o.Side = exchange.Sell }), true, ""},
		{"it shows one without a fill", purchase, executed(func(o *exchange.Order) { o.Filled = 0 }), true, ""},
		{"it shows one of a fill of one", purchase, executed(func(o *exchange.Order) { o.Filled = 1 }), true, found},
		{"it shows a person's id", purchase, executed(func(o *exchange.Order) { o.ClientOrderID = "a person's" }), true, ""},
		{"it shows one of before", purchase, executed(func(o *exchange.Order) { o.CreatedMS -= 2_000 }), true, ""},
		{"it shows a row that is botd's", purchase, executed(func(o *exchange.Order) { o.ID = 8 }), true, ""},
		{"botd's rows show ids", purchase, func(w *wallet, s *survey) { executed(nil)(w, s); w.tracker.idsLeftOut = false }, true, ""},
		{"it shows one that has filled nothing", purchase, executed(func(o *exchange.Order) { o.Filled, o.Status = 0, exchange.StatusOpen }), true, ""},
		{"the open list shows it without an id", purchase, resting(nil), true, found},
		{"the open list shows one of a second before", purchase, resting(func(o *exchange.Order) { o.CreatedMS = 1_059_000 }), true, found},
		{"it rests under a person's id", purchase, resting(func(o *exchange.Order) { o.ClientOrderID = "a person's" }), true, ""},
		{"one of another price rests", purchase, resting(func(o *exchange.Order) { o.Price++ }), true, ""},
		{"one of another quantity rests", purchase, resting(func(o *exchange.Order) { o.Quantity++ }), true, ""},
		{"one of before rests", purchase, resting(func(o *exchange.Order) { o.CreatedMS -= 2_000 }), true, ""},
		{"one of botd's rests", purchase, resting(func(o *exchange.Order) { o.ID = 8 }), true, ""},
	} {
		w := explains(t, 10, 0)
		w.buysUnder(8, 3)
		o := w.places(placement.Order, 0, c.order)
		w.apply(record.Record{AtMS: w.now, ClientOrderID: o.ClientOrderID, Body: record.Refused{Reason: "no"}})
		w.now += refusedShownMS
		s := w.reads(1_010, 0)
		s.fetched.BeganMS++
		s.fetched.History, s.fetched.HistoryWhole = exchange.FetchedOf[exchange.Order](nil), true
		if c.with != nil {
			c.with(w, s)
		}
		symbol := w.tracker.Symbol(coin)
		symbol.settled = true
		s.refusalChecks().confirmRefused()
		if confirmed := len(w.tracker.Refused()) == 0; confirmed != c.confirmed || symbol.settled != c.confirmed || symbol.Quarantine() != c.why {
			t.Errorf("%s: want confirmed %t, %q, have %t, settled %t, %q", c.name, c.confirmed, c.why, confirmed, symbol.settled, symbol.Quarantine())
		}
	}
	stands := func(status exchange.OrderStatus, known bool) func(s *Snapshot) {
		return func(s *Snapshot) {
			s.ByID = []OrderByID{{OrderID: 99, Known: known, Order: exchange.Order{ID: 99, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell,
				Status: status, ClientOrderID: "another"}}}
		}
	}
	for _, c := range []struct {
		name   string
		change func(s *Snapshot)
		want   bool
	}{
		{"both lists", func(*Snapshot) {}, true},
		{"the positions alone", func(s *Snapshot) { s.FuturesOrders = exchange.Fetched[exchange.Order]{} }, false},
		{"the orders alone", func(s *Snapshot) { s.Positions = exchange.Fetched[exchange.Position]{} }, false},
		{"one stands by its id that the list leaves out", stands(exchange.StatusOpen, true), false},
		{"a conditional one stands that the list leaves out", stands(exchange.StatusNew, true), false},
		{"one has ended that the list leaves out", stands(exchange.StatusCanceled, true), true},
		{"one is being canceled that the list leaves out", stands(exchange.StatusPreCanceled, true), true},
		{"one is not known that the list leaves out", stands(exchange.StatusOpen, false), true},
		{"one of another symbol stands that the list leaves out", func(s *Snapshot) {
			stands(exchange.StatusOpen, true)(s)
			s.ByID[0].Order.Symbol = "ETH-USDT"
		}, true},
		{"one stands that the list shows", func(s *Snapshot) {
			stands(exchange.StatusOpen, true)(s)
			s.FuturesOrders = exchange.FetchedOf([]exchange.Order{s.ByID[0].Order})
		}, true},
		{"one stands of which the list has a row that cannot be read", func(s *Snapshot) {
			stands(exchange.StatusOpen, true)(s)
			s.UnreadOrders = []UnreadOrder{{Market: exchange.Futures, Open: true, Row: exchange.UnreadableRow{ID: 99}}}
		}, true},
		{"a candidate rests without an id", func(s *Snapshot) {
			s.FuturesOrders = exchange.FetchedOf([]exchange.Order{{ID: 70, Market: exchange.Futures, Symbol: "BTC-USDT", Side: buys.Side, Type: buys.Type,
				Quantity: buys.Quantity, Price: buys.Price, Status: exchange.StatusNew, CreatedMS: s.BeganMS - 1}})
		}, true},
	} {
		d := holds(t, 20)
		d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: d.places(placement.Entry, buys), Body: record.Refused{Reason: "no"}})
		d.now += refusedShownMS + 1
		s := d.shows(d.tracker.Symbol(bitcoin), 20)
		c.change(s.fetched)
		s.refusalChecks().confirmRefused()
		if have := len(d.tracker.Refused()) == 0; have != c.want {
			t.Errorf("on futures, %s: want confirmed %t, have %t", c.name, c.want, have)
		}
		if why := d.tracker.Symbol(bitcoin).Quarantine(); (why == found) != (c.name == "a candidate rests without an id") {
			t.Errorf("on futures, %s: it is quarantined for %q", c.name, why)
		}
	}
}

// A row repeats a purchase of the same amount, or of the same quantity and price, in the same seconds, where lists omit ids.
func TestRowRepeatsPurchase(t *testing.T) {
	t.Parallel()
	amount := exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)}
	limit := exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 10, Price: 2_500e8}
	for _, c := range []struct {
		name  string
		order exchange.NewOrder
		ended bool // whether the purchase has ended
		with  func(w *wallet, o *exchange.Order)
		want  bool
	}{
		{"of the same quantity and price", limit, true, nil, true},
		{"of one that is live", limit, false, nil, true},
		{"of another quantity", limit, true, func(_ *wallet, o *exchange.Order) { o.Quantity = 11 }, false},
		{"of another price", limit, true, func(_ *wallet, o *exchange.Order) { o.Price++ }, false},
		{"of the same amount", amount, true, nil, true},
		{"of another amount", amount, true, func(_ *wallet, o *exchange.Order) { o.QuoteAmount = exchange.AmountOf(501) }, false},
		{"of another type", limit, true, func(_ *wallet, o *exchange.Order) { o.Type = exchange.MarketOrder }, false},
		{"of another symbol", limit, true, func(_ *wallet, o *exchange.Order) { o.Symbol = "ETH-USDT" }, false},
		{"a sale", limit, true, func(_ *wallet, o *exchange.Order) { o.Side = exchange.Sell }, false},
		{"as early as it may be dated", limit, true, func(_ *wallet, o *exchange.Order) { o.CreatedMS -= 1_000 }, true},
		{"earlier", limit, true, func(_ *wallet, o *exchange.Order) { o.CreatedMS -= 1_001 }, false},
		{"ten seconds later", limit, true, func(_ *wallet, o *exchange.Order) { o.CreatedMS += 10_000 }, true},
		{"later than that", limit, true, func(_ *wallet, o *exchange.Order) { o.CreatedMS += 10_001 }, false},
		{"under an id", limit, true, func(_ *wallet, o *exchange.Order) { o.ClientOrderID = "a person's" }, false},
		{"where lists show ids", limit, true, func(w *wallet, _ *exchange.Order) { w.tracker.idsLeftOut = false }, false},
		{"its own row", limit, true, func(_ *wallet, o *exchange.Order) { o.ID = 8 }, false},
		{"of one that was refused", limit, false, func(w *wallet, _ *exchange.Order) {
			w.apply(record.Record{AtMS: w.now, ClientOrderID: w.tracker.LiveAt(0).ClientOrderID(), Body: record.Refused{Reason: "no"}})
		}, true},
		{"of one of the same amount that was refused and never answered", amount, true, func(w *wallet, _ *exchange.Order) {
			w.tracker.purchases = nil
			w.apply(record.Record{AtMS: w.now, ClientOrderID: w.places(placement.Order, 0, amount).ClientOrderID, Body: record.Refused{Reason: "no"}})
		}, true},
		{"that of one whose answer was lost", limit, true, func(w *wallet, _ *exchange.Order) { w.places(placement.Order, 0, limit) }, false},
	} {
		w := explains(t, 10, 0)
		w.tracker.idsLeftOut = true
		first := w.places(placement.Order, 8, c.order)
		if c.ended {
			w.apply(record.Record{AtMS: w.now, ClientOrderID: first.ClientOrderID, Body: record.Ended{OrderID: 8, State: placement.Filled, Filled: 10}})
		}
		row := exchange.Order{ID: 70, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy, Type: c.order.Type, Quantity: c.order.Quantity,
			Price: c.order.Price, QuoteAmount: c.order.QuoteAmount, Filled: 10, Status: exchange.StatusFilled, CreatedMS: w.now}
		if c.with != nil {
			c.with(w, &row)
		}
		before := row.ClientOrderID
		if n := len(w.tracker.Refused()); n > 0 {
			first.ClientOrderID = w.tracker.Refused()[n-1].clientOrderID
		}
		have := w.reads(1_010, 0).tracker.unclaimedRows().repetition(&row).ClientOrderID
		if want := map[bool]string{true: first.ClientOrderID, false: before}[c.want]; have != want || row.ClientOrderID != before {
			t.Errorf("%s: want it under %q, have %q", c.name, want, have)
		}
	}
}

// A live closePosition order that was sent after an uncertain opening shows that it filled: a list showed the position then, and the order ends
// with the position.
func TestLiveStopShowsThatOpeningWasListed(t *testing.T) {
	t.Parallel()
	stop := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopMarket, StopPrice: 49_000e8,
		ClosePosition: true}
	other := stop
	other.Symbol = "ETH-USDT"
	for _, c := range []struct {
		name    string
		afterMS int64 // how long after the opening it was sent
		order   exchange.NewOrder
		answer  func(d *desk, id string)
		purpose placement.Purpose // of the uncertain order
		want    bool
	}{
		{"since", 1, stop, func(d *desk, id string) { d.acknowledge(id, 12) }, placement.Entry, true},
		{"of the moment", 0, stop, func(d *desk, id string) { d.acknowledge(id, 12) }, placement.Entry, true},
		{"of before", -1, stop, func(d *desk, id string) { d.acknowledge(id, 12) }, placement.Entry, false},
		{"not answered", 1, stop, func(*desk, string) {}, placement.Entry, false},
		{"known, and uncertain since", 1, stop, func(d *desk, id string) { d.acknowledge(id, 12); d.uncertain(id) }, placement.Entry, false},
		{"of a quantity", 1, offers, func(d *desk, id string) { d.acknowledge(id, 12) }, placement.Entry, false},
		{"of another symbol", 1, other, func(d *desk, id string) { d.acknowledge(id, 12) }, placement.Entry, false},
		{"beside an exit", 1, stop, func(d *desk, id string) { d.acknowledge(id, 12) }, placement.Exit, false},
	} {
		d := newDesk(t)
		d.now += 10
		uncertain := d.places(c.purpose, buys)
		d.uncertain(uncertain)
		d.now += c.afterMS
		c.answer(d, d.places(placement.StopLoss, c.order))
		s := d.shows(d.tracker.Symbol(bitcoin), 0)
		if have := s.positionEvidence().protectsOneOf(d.tracker.uncertainOn(bitcoin)); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
}

// A placement explains a difference only in the direction in which it opens.
func TestPlacementExplainsDifference(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		purpose  placement.Purpose
		order    exchange.NewOrder
		filled   exchange.Quantity
		residual exchange.Quantity
		want     exchange.Quantity
	}{
		{"a part of what it may fill", placement.Entry, buys, 0, 4, 4},
		{"all that it may fill", placement.Entry, buys, 0, 15, 10},
		{"the remainder of it", placement.Entry, buys, 7, 15, 3},
		{"none of the other side", placement.Entry, buys, 0, -4, 0},
		{"one", placement.Entry, buys, 0, 1, 1},
		{"none of none", placement.Entry, buys, 0, 0, 0},
		{"an exit opens nothing", placement.Exit, closes, 0, -4, 0},
	} {
		d := holds(t, 0)
		id := d.places(c.purpose, c.order)
		d.acknowledge(id, 11)
		if c.filled != 0 {
			d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Fill{OrderID: 11, Filled: c.filled}})
		}
		if have := Explained(d.tracker.Placement(id), c.residual); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
	d := holds(t, 20)
	d.tracker.Symbol(bitcoin).position = 25
	if have := d.tracker.Symbol(bitcoin).Ahead(); have != 5 {
		t.Errorf("want the position five ahead of the fills, have %d", have)
	}
	w := holding(t, ForeignHalt)
	w.tracker.Symbol(coin).position = 25
	if have := w.tracker.Symbol(coin).Ahead(); have != 0 {
		t.Errorf("want none ahead on spot, which shows no position, have %d", have)
	}
}

// A quote waits while there is a position on the other side, or an opening on the other side that is not acknowledged.
func TestQuoteWaitsForOppositeSide(t *testing.T) {
	t.Parallel()
	bid := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Price: 40_000e8, Quantity: 10}
	ask := bid
	ask.Side = exchange.Sell
	for _, c := range []struct {
		name string
		held exchange.Quantity
		with func(d *desk) []Intent // returns what this round sends
		want bool                   // whether a bid waits
	}{
		{"nothing", 0, nil, false},
		{"a long position", 20, nil, false},
		{"a short position", -20, nil, true},
		{"an ask that is not answered", 0, func(d *desk) []Intent { d.places(placement.Order, ask); return nil }, true},
		{"an ask that was acknowledged", 0, func(d *desk) []Intent { d.acknowledge(d.places(placement.Order, ask), 11); return nil }, false},
		{"a bid that is not answered", 0, func(d *desk) []Intent { d.places(placement.Order, bid); return nil }, false},
		{"an exit of that side that is not answered", 0, func(d *desk) []Intent { d.places(placement.ExitOrder, ask); return nil }, false},
		{"an ask of this round", 0, func(*desk) []Intent { return []Intent{{Purpose: placement.Order, Order: ask}} }, true},
		{"a bid of this round", 0, func(*desk) []Intent { return []Intent{{Purpose: placement.Order, Order: bid}} }, false},
		{"an exit of this round", 0, func(*desk) []Intent { return []Intent{{Purpose: placement.ExitOrder, Order: ask}} }, false},
	} {
		d := holds(t, c.held)
		var intents []Intent
		if c.with != nil {
			intents = c.with(d)
		}
		v := d.deriving(nil)
		v.intents = intents
		if have := v.against(exchange.Buy) || v.restingOrders().otherSideUncertain(exchange.Buy); have != c.want {
			t.Errorf("%s: want it to wait %t, have %t", c.name, c.want, have)
		}
	}
	w := explains(t, 10, 0)
	w.places(placement.Order, 9, exchange.NewOrder{Side: exchange.Sell, Type: exchange.Limit, Quantity: 10, Price: 2_500e8})
	d := w.deriving(nil)
	d.intents = []Intent{{Purpose: placement.Order, Order: exchange.NewOrder{Side: exchange.Buy}}}
	if d.against(exchange.Sell) || d.restingOrders().otherSideUncertain(exchange.Sell) {
		t.Error("want an ask on spot to wait for nothing: it sells what is held")
	}
}

// A foreign order that may open blocks openings if the policy is halt.
func TestForeignOrderBlocksOpenings(t *testing.T) {
	t.Parallel()
	opens := exchange.Order{ID: 50, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Quantity: 10}
	reduces := opens
	reduces.ClosePositionID = 7
	for _, c := range []struct {
		name   string
		policy string
		order  exchange.Order
		unread bool // its row cannot be read
		want   bool
	}{
		{"one that opens", ForeignHalt, opens, false, true},
		{"one that reduces", ForeignHalt, reduces, false, false},
		{"one whose row cannot be read", ForeignHalt, reduces, true, true},
		{"one that opens, where others are adopted", ForeignAdopt, opens, true, false},
		{"one that opens, where others are ignored", ForeignIgnore, opens, true, false},
	} {
		for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
			d := newDesk(t)
			d.tracker.foreignPolicy = c.policy
			symbol := d.tracker.Track(exchange.SymbolKey{Market: market, Name: "BTC-USDT"})
			symbol.foreign = []exchange.Order{c.order}
			if c.unread {
				symbol.unreadable = []exchange.UnreadableRow{{ID: 50}}
			}
			want := c.want && (market == exchange.Futures || c.unread) // a spot order's effect is visible in the wallet
			if have := d.tracker.ForeignOpening(symbol); (have != nil) != want {
				t.Errorf("%s, %s: want it to hold back %t, have %v", c.name, market, want, have)
			}
		}
	}
}

// An order without an id repeats an opening of botd's that equals it in every parameter and was sent in the same seconds.
func TestForeignOrderRepeatsAnOpening(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		purpose placement.Purpose
		orderID int64
		change  func(d *desk, o *exchange.Order)
		want    bool
	}{
		{"the same", placement.Order, 12, func(*desk, *exchange.Order) {}, true},
		{"of the same ten seconds", placement.Order, 12, func(_ *desk, o *exchange.Order) { o.CreatedMS += repeatedMS }, true},
		{"later", placement.Order, 12, func(_ *desk, o *exchange.Order) { o.CreatedMS += repeatedMS + 1 }, false},
		{"earlier", placement.Order, 12, func(_ *desk, o *exchange.Order) { o.CreatedMS -= repeatedMS + 1 }, false},
		{"at another price", placement.Order, 12, func(_ *desk, o *exchange.Order) { o.Price++ }, false},
		{"of another quantity", placement.Order, 12, func(_ *desk, o *exchange.Order) { o.Quantity++ }, false},
		{"of the other side", placement.Order, 12, func(_ *desk, o *exchange.Order) { o.Side = exchange.Sell }, false},
		{"under an id", placement.Order, 12, func(_ *desk, o *exchange.Order) { o.ClientOrderID = "a person's" }, false},
		{"not acknowledged", placement.Order, 0, func(*desk, *exchange.Order) {}, false},
		{"no opening", placement.ExitOrder, 12, func(*desk, *exchange.Order) {}, false},
	} {
		d := newDesk(t)
		d.tracker.foreignPolicy = ForeignAdopt
		order := exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: d.price("40000"), Quantity: 10}
		d.rests(c.purpose, c.orderID, order)
		row := exchange.Order{ID: 50, Market: exchange.Futures, Symbol: "BTC-USDT", Side: order.Side, Type: order.Type, Price: order.Price, Quantity: 10,
			CreatedMS: d.now}
		c.change(d, &row)
		symbol := d.tracker.Symbol(bitcoin)
		symbol.foreign = []exchange.Order{row}
		if have := d.tracker.ForeignOpening(symbol); (have != nil) != c.want || symbol.Repeats(&row) != c.want {
			t.Errorf("%s: want it to hold back %t, have %v", c.name, c.want, have)
		}
	}
}

// The wallet is read again soon while it proves nothing about the holding yet, which is as long as a read may be
// old.
func TestWalletIsReadAgainSoon(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		known  exchange.Quantity
		change func(s *SymbolState)
		want   bool
	}{
		{"it proves nothing", 10, func(*SymbolState) {}, true},
		{"it proves something", 10, func(s *SymbolState) { s.spot.walletInconclusive = false }, false},
		{"nothing is held", 0, func(*SymbolState) {}, false},
		{"one is held", 1, func(*SymbolState) {}, true},
	} {
		w := explains(t, c.known, 0)
		symbol := w.tracker.Symbol(coin)
		symbol.spot.walletInconclusive = true
		c.change(symbol)
		if have := w.tracker.AwaitsFreshWallet(symbol); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
	d := holds(t, 20)
	d.tracker.Symbol(bitcoin).spot.walletInconclusive = true
	if d.tracker.AwaitsFreshWallet(d.tracker.Symbol(bitcoin)) {
		t.Error("want no wallet read for futures")
	}
	for stalenessMS := range int64(2) {
		b := NewTracker(placement.Bounds{WindowMS: 5_000, VisibilityMS: 1_000, StalenessMS: stalenessMS})
		b.Apply(&record.Record{Symbol: coin, Body: record.Adopted{Quantity: 10}})
		if b.Symbol(coin).spot.walletInconclusive = true; b.AwaitsFreshWallet(b.Symbol(coin)) != (stalenessMS > 0) {
			t.Errorf("reads of %d ms before: want a hurry where there are such", stalenessMS)
		}
	}
}

// The ids of the newest 32 positions seen are stored, each once.
func TestNewestSeenPositionsAreStored(t *testing.T) {
	t.Parallel()
	symbol := newDesk(t).tracker.Symbol(bitcoin)
	for id := range int64(34) { // no position has the id 0
		symbol.noteSeen(id)
		symbol.noteSeen(id)
	}
	if len(symbol.seen) != 32 || symbol.seen[0] != 2 || symbol.seen[31] != 33 {
		t.Errorf("want the ids 2 to 33, have %v", symbol.seen)
	}
}
