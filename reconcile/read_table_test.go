package reconcile

import (
	"fmt"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// A position that changes during a snapshot interrupts the count of equal ones, and so do two positions on one symbol, which are timed separately.
func TestMovingListInterruptsEqualSnapshots(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		change       func(s *Snapshot)
		taken, equal bool // the position is taken, and the snapshots count as equal
		doubled      bool
	}{
		{"nothing", func(*Snapshot) {}, true, true, false},
		{"the list moved", func(s *Snapshot) { s.Before = exchange.FetchedOf[exchange.Position](nil) }, false, false, false},
		{"it shows two positions", func(s *Snapshot) {
			two := append(s.Positions.Items(), s.Positions.Items()...)
			two[1].ID = 8
			s.Positions = exchange.FetchedOf(two)
		}, false, false, true},
	} {
		d := holds(t, 20)
		symbol := d.tracker.Symbol(bitcoin)
		s := d.shows(symbol, 20)
		c.change(s.fetched)
		symbol.equal, symbol.doubled = persistence{sinceMS: 1}, persistence{sinceMS: 1}
		have := s.positionComparison().readPosition(symbol)
		if have != c.taken || (symbol.equal.sinceMS != 0) != c.equal || (symbol.doubled.sinceMS != 0) != c.doubled {
			t.Errorf("%s: want it taken %t, equal %t, doubled %t, have %t, %+v, %+v", c.name, c.taken, c.equal, c.doubled, have, symbol.equal, symbol.doubled)
		}
	}
}

// A changed position stores the price at that time, and counts from the read that shows it.
func TestChangedPositionIsMarked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		held, shown exchange.Quantity
		marked      bool
		quarantined bool
		since       bool // it is a new position
	}{
		{"as it was", 20, 20, false, false, false},
		{"it has grown", 1, 2, true, false, false},
		{"one unit on the other side by itself", 20, -1, true, true, false},
	} {
		d := holds(t, c.held)
		symbol := d.tracker.Symbol(bitcoin)
		symbol.markedAt, symbol.mark, symbol.sinceMS, symbol.positionMS = 1, d.price("51000"), 5, 6
		s := d.shows(symbol, c.shown)
		symbol.position = c.held
		s.fetched.BeganMS, s.fetched.EndedMS = 700_000, 800_000
		s.positionComparison().readPosition(symbol)
		if marked := symbol.markedAt == d.price("51000"); marked != c.marked || symbol.positionMS != 700_000 || (symbol.Quarantine() != "") != c.quarantined ||
			(symbol.sinceMS == 800_000) != c.since {
			t.Errorf("%s: want it marked %t, have %t at %v, read at %d, since %d, %q", c.name, c.marked, marked, symbol.markedAt, symbol.positionMS,
				symbol.sinceMS, symbol.Quarantine())
		}
	}
}

// Of several positions the one that matches fills and the ignored part is taken, otherwise the one that was shown before, otherwise the
// newest.
func TestPositionChoiceAmongSeveral(t *testing.T) {
	t.Parallel()
	row := func(id int64, quantity exchange.Quantity) exchange.Position {
		return exchange.Position{ID: id, Symbol: "BTC-USDT", Side: exchange.Long, Remaining: quantity, EntryPrice: exchange.AmountOf(id)}
	}
	other, over := row(3, 25), row(2, 0)
	other.Symbol = "ETH-USDT"
	for _, c := range []struct {
		name string
		list []exchange.Position
		want int64
	}{
		{"the explained one", []exchange.Position{row(8, 25), row(7, 9), row(9, 4)}, 8},
		{"the explained one, listed last", []exchange.Position{row(9, 4), row(7, 9), row(8, 25)}, 8},
		{"the one that was shown", []exchange.Position{row(9, 4), row(7, 9), row(8, 5)}, 7},
		{"the newest", []exchange.Position{row(8, 4), row(9, 5)}, 9},
		{"none of another symbol, and none that is over", []exchange.Position{other, row(9, 1), over, other}, 9},
	} {
		d := holds(t, 20)
		d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: 5}})
		symbol := d.tracker.Symbol(bitcoin)
		symbol.positionID = 7
		symbol.selectPosition(c.list)
		if symbol.positionID != c.want || symbol.entryPrice != exchange.AmountOf(c.want) {
			t.Errorf("%s: want %d, have %d", c.name, c.want, symbol.positionID)
		}
		for _, one := range c.list {
			if one.ID == c.want && symbol.AtVenue() != one.Remaining {
				t.Errorf("%s: want %d with what is ignored, have %d", c.name, one.Remaining, symbol.AtVenue())
			}
		}
	}
}

// The position beyond the fills that an incomplete read shows is stored, too.
func TestFailedReadIsForgottenAfterCompleteRead(t *testing.T) {
	t.Parallel()
	d := holds(t, 20)
	symbol := d.tracker.Symbol(bitcoin)
	d.now += 1_000
	d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil), Before: d.positions(25),
		Unread: []exchange.SymbolKey{bitcoin}})
	if !symbol.unread || symbol.unexplainedMS != d.now || symbol.position != 25 {
		t.Errorf("want the 25 of one list noted, have %d, unread %t, unexplained at %d", symbol.position, symbol.unread, symbol.unexplainedMS)
	}
	d.now += 1_000
	if d.observe(20, nil); symbol.unread || !symbol.settled || len(d.tracker.openPositions) != 1 {
		t.Errorf("want it read, have unread %t, settled %t, %d positions", symbol.unread, symbol.settled, len(d.tracker.openPositions))
	}
}

// A list that shows no difference interrupts the count.
func TestDifferenceCountsListedTimeOnly(t *testing.T) {
	t.Parallel()
	d := holds(t, 20)
	symbol, before := d.tracker.Symbol(bitcoin), exchange.Quantity(0)
	for _, c := range []struct {
		shown, differed exchange.Quantity
		forMS           int64
	}{{25, 5, 0}, {25, 5, 600}, {20, 5, 600}, {25, 5, 600}, {25, 5, 1_200}, {26, 6, 0}} {
		d.now += 600
		s := d.shows(symbol, c.shown)
		symbol.residual, symbol.residualOf = before, 20
		s.positionComparison().measureResidual(symbol)
		if before = symbol.residual; symbol.measuredResidual != c.differed || symbol.residualFor.forMS != c.forMS {
			t.Errorf("%d shown: want %d for %d ms, have %d for %d", c.shown, c.differed, c.forMS, symbol.measuredResidual, symbol.residualFor.forMS)
		}
	}
}

// Both the wallet and the open list must be read.
func TestSpotSymbolNeedsWalletAndOpenList(t *testing.T) {
	t.Parallel()
	for _, wallet := range []bool{true, false} {
		for _, list := range []bool{true, false} {
			w := explains(t, 10, 0)
			s := w.reads(1_010, 0)
			if !wallet {
				s.fetched.Balances = exchange.Fetched[exchange.Balance]{}
			}
			if !list {
				s.fetched.SpotOrders = exchange.Fetched[exchange.Order]{}
			}
			w.tracker.Symbol(coin).read = true
			if have := s.fetched.awaitsAnswer(w.tracker.Symbol(coin)); have != (wallet && list) {
				t.Errorf("the wallet read %t, the list %t: want it to await answers alone %t, have %t", wallet, list, wallet && list, have)
			}
		}
	}
	d := newDesk(t)
	opening := d.places(placement.Order, buys)
	if d.uncertain(opening); d.tracker.BlocksOpening(opening, bitcoin) {
		t.Error("want an opening not to block itself")
	}
}

// From its fence on, an accepted order must be visible.
func TestAcceptedOrderIsVisibleFromItsFence(t *testing.T) {
	t.Parallel()
	for afterMS, want := range map[int64]bool{-1: true, 0: false} {
		d := newDesk(t)
		id := d.rests(placement.Entry, 12, buys)
		d.now = d.tracker.Placement(id).Fence(testSettle) + afterMS
		if have := d.shows(d.tracker.Symbol(bitcoin), 0).anyUnlisted(bitcoin); have != want {
			t.Errorf("%d ms after its fence: want it unlisted %t, have %t", afterMS, want, have)
		}
	}
}

// The order waits for positions/history if the end of the position that it opened could be listed there, and for a live stop that
// was sent since.
func TestUncertainOrderWaitsForHistoryAtFence(t *testing.T) {
	t.Parallel()
	unclaimed := exchange.Order{ID: 70, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 10,
		Status: exchange.StatusOpen}
	for _, c := range []struct {
		name    string
		known   exchange.Quantity
		purpose placement.Purpose
		order   exchange.NewOrder
		shown   exchange.Quantity
		stop    bool // of the whole position, sent since
		history bool // positions/history was read
		row     bool // a row is unexplained
		want    string
	}{
		{"nothing was made", 0, placement.Entry, buys, 0, false, true, false, "absent 0"},
		{"nothing is shown, and positions/history was not read", 0, placement.Entry, buys, 0, false, false, false, "uncertain"},
		{"nothing more is shown of a position that is known", 5, placement.Entry, buys, 5, false, false, false, "absent 0"},
		{"the same, and its stop stands since", 5, placement.Entry, buys, 5, true, false, false, "absent 0"},
		{"nothing is shown, and a stop stands since", 0, placement.Entry, buys, 0, true, true, false, "uncertain"},
		{"an exit has closed nothing", 20, placement.Exit, closes, 20, false, false, false, "absent 0"},
		{"one unit was made", 0, placement.Entry, buys, 1, false, true, false, "canceled 1"},
		{"nothing was made, and a row is unclaimed", 0, placement.Entry, buys, 0, false, true, true, "quarantined"},
		{"all of it was made, whatever is unclaimed", 0, placement.Entry, buys, 10, false, true, true, "filled 10"},
	} {
		d := holds(t, c.known)
		d.now += 60_000
		d.observe(c.known, nil)
		id := d.places(c.purpose, c.order)
		d.uncertain(id)
		p := d.tracker.Placement(id)
		d.now++
		var rows []exchange.Order
		if c.stop {
			d.whole(placement.StopLoss, 30, exchange.Sell, "49000")
			rows = append(rows, d.stopOpen(30))
		}
		if c.row {
			row := unclaimed
			row.CreatedMS = d.now
			rows = append(rows, row)
		}
		d.now = p.Fence(testSettle)
		evidence := ""
		for range 8 {
			d.now += 1_000
			s := &Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf(rows), Before: d.positions(c.shown),
				Positions: d.positions(c.shown)}
			if c.history {
				s.ClosedOf = []string{"BTC-USDT"}
			}
			for _, r := range d.tracker.Observe(s) {
				if body, is := r.Body.(record.Ended); is && r.ClientOrderID == id {
					evidence = body.Evidence
					if symbol := d.tracker.Symbol(bitcoin); symbol.residual != 0 || !symbol.settled || c.shown != 0 && symbol.futuresEvidence.shownID != 7 {
						t.Errorf("%s: want it settled at once, have %d left, settled %t", c.name, symbol.residual, symbol.settled)
					}
				}
			}
		}
		have := p.State().String()
		if d.tracker.Placement(id) == nil {
			have += fmt.Sprintf(" %d", p.Filled())
		} else if d.tracker.Symbol(bitcoin).Quarantine() != "" {
			have = "quarantined"
		}
		if have != c.want || strings.Contains(evidence, "several") {
			t.Errorf("%s: want %s, have %s by %q", c.name, c.want, have, evidence)
		}
	}
}

// The evidence mentions that several orders were uncertain. An order that explains none of the position did not open a position that has
// ended since.
func TestEvidenceNotesSeveralUncertainOrders(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.observe(0, nil)
	sells := buys
	sells.Side = exchange.Sell
	var uncertain []*account.Placement
	for _, order := range []exchange.NewOrder{sells, buys} {
		id := d.places(placement.Entry, order)
		d.uncertain(id)
		uncertain = append(uncertain, d.tracker.Placement(id))
	}
	s := d.shows(d.tracker.Symbol(bitcoin), 10)
	s.fetched.Closed = []exchange.Position{ended(9, func(p *exchange.Position) {
		p.Side, p.CreatedMS, p.UpdatedMS, p.Quantity = exchange.Short, d.now, d.now, 10
	})}
	s.uncertainOrders().attribute(d.tracker.Symbol(bitcoin), uncertain)
	if uncertain[0].State() != placement.Absent || uncertain[1].State() != placement.Filled || d.tracker.Symbol(bitcoin).Known() != 10 {
		t.Errorf("want the first absent and the second filled, have %s and %s, %d known", uncertain[0].State(), uncertain[1].State(),
			d.tracker.Symbol(bitcoin).Known())
	}
	if body, is := s.records[1].Body.(record.Ended); !is || !strings.Contains(body.Evidence, "several placements were uncertain") {
		t.Errorf("want it noted that several were uncertain, have %+v", s.records[1].Body)
	}
}

// A list that shows more than the known position does not change that.
func TestEmptyPositionStaysConfirmedUntilFill(t *testing.T) {
	t.Parallel()
	for known, want := range map[exchange.Quantity]bool{0: true, 1: false} {
		d := holds(t, known)
		symbol := d.tracker.Symbol(bitcoin)
		s := d.shows(symbol, 5)
		symbol.futuresEvidence.zeroed = true
		if s.positionComparison().seekWitness(symbol); symbol.futuresEvidence.zeroed != want {
			t.Errorf("%d known, five shown: want it known that nothing was held %t", known, want)
		}
	}
}

// Without a position botd's own protective orders are canceled; all other orders stay.
func TestStandingDownCancelsProtectionWithPosition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		known  exchange.Quantity
		side   exchange.Side // of the stop
		price  string
		stands bool // another botd's stop, too
		want   string
	}{
		{"nothing is held", 0, exchange.Sell, "49000", false, "cancel 12: there is no position to protect"},
		{"it is held, and the stop would move", 20, exchange.Sell, "48000", false, ""},
		{"a short one is held, and the stop would move", -20, exchange.Buy, "52000", false, ""},
		{"a short one is held, and an old list shows a long one's stop", -20, exchange.Sell, "49000", false,
			"stop_loss buy stop_market stop 51000 whole: protects the position"},
	} {
		d := holds(t, c.known)
		d.tracker.Symbol(bitcoin).unknownEnded = elders + "1"
		d.whole(placement.StopLoss, 12, c.side, c.price)
		d.now += int64(exchange.Minute1)
		if have := summary(d.derive(stopAt2)); have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
	for baseBalance, want := range map[exchange.Quantity]string{0: "cancel 9: there is no position to protect", 1: ""} { // on spot the other botd may own it
		w := explains(t, 0, 0)
		w.places(placement.StopLoss, 9, stopOf(1))
		symbol := w.tracker.Symbol(coin)
		w.reads(baseBalance, 0)
		symbol.unknownEnded, symbol.spot.baseBalance = elders+"1", baseBalance
		if baseBalance != 0 {
			symbol.spot.peer.orders = []peerOrder{{50, 1, 1}}
		}
		d := w.deriving(stopped2)
		d.jointProtection().converge()
		if have := summary(d.intents); have != want {
			t.Errorf("on spot, %d in the wallet: want %q, have %q", baseBalance, want, have)
		}
	}
}

// An order of the whole position may protect it if it was sent with the opening or later.
func TestStopMayProtectUncertainOpening(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		purpose   placement.Purpose
		order     exchange.NewOrder
		uncertain bool
		afterMS   int64
		whole     bool
		want      bool
	}{
		{"sent since", placement.Entry, buys, true, 1, true, true},
		{"sent with it", placement.Entry, buys, true, 0, true, true},
		{"sent before", placement.Entry, buys, true, -1, true, false},
		{"of a quantity", placement.Entry, buys, true, 1, false, false},
		{"the opening is being sent", placement.Entry, buys, false, 1, true, false},
		{"an exit is uncertain", placement.Exit, closes, true, 1, true, false},
	} {
		d := newDesk(t)
		d.now += 10
		id := d.places(c.purpose, c.order)
		if c.uncertain {
			d.uncertain(id)
		}
		if d.now += c.afterMS; c.whole {
			id = d.whole(placement.StopLoss, 12, exchange.Sell, "49000")
		} else {
			id = d.resting(12, 5)
		}
		if have := d.deriving(nil).mayProtectUncertain(d.tracker.Placement(id)); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
}

// On futures an exit rests even next to a stop, a stop order triggers on the price of contracts, and only a quote that would open against a
// position is canceled.
func TestRestingOrderShape(t *testing.T) {
	t.Parallel()
	sell := func(change func(*strategy.DesiredOrder)) []strategy.DesiredOrder {
		o := strategy.DesiredOrder{Key: "k", Side: exchange.Sell, Price: 60_000e8, Quantity: 5}
		if change != nil {
			change(&o)
		}
		return []strategy.DesiredOrder{o}
	}
	posted := func(o *strategy.DesiredOrder) { o.PostOnly = true }
	for _, c := range []struct {
		name string
		plan strategy.Plan
		rest placement.Purpose // the purpose of an order that rests already
		want string
	}{
		{"an exit beside a stop", strategy.Plan{Exits: sell(nil), ExitsSet: true}, 0, "exit_order sell limit 5 at 60000 reduceOnly as k"},
		{"an order by a stop", strategy.Plan{Orders: sell(func(o *strategy.DesiredOrder) { o.StopPrice = 61_000e8 }), OrdersSet: true}, 0,
			"order sell stop_limit 5 at 60000 stop 61000 as k"},
		{"an order on the other side rests", strategy.Plan{Orders: sell(nil), OrdersSet: true}, placement.Order, ""},
		{"a quote on the other side rests", strategy.Plan{Orders: sell(posted), OrdersSet: true}, placement.Order,
			"cancel 12: the order on the other side has filled"},
		{"a posted exit rests", strategy.Plan{Exits: sell(posted), ExitsSet: true}, placement.ExitOrder, ""},
	} {
		d := holds(t, 20)
		d.whole(placement.StopLoss, 13, exchange.Sell, "49000")
		d.want(&c.plan)
		var rows []exchange.Order
		if c.rest != 0 {
			order := exchange.NewOrder{Side: exchange.Sell, Type: exchange.Limit, Price: 60_000e8, Quantity: 5, ReduceOnly: c.rest == placement.ExitOrder,
				PostOnly: c.name != "an order on the other side rests"}
			id := d.rests(c.rest, 12, order)
			row := d.order(id, 12, exchange.StatusOpen, 5, 0)
			row.Side, row.Type = exchange.Sell, exchange.Limit
			rows = append(rows, row)
		}
		d.now += 1_000
		d.observe(20, nil, append(rows, d.stopOpen(13))...)
		intents := d.derive(stopAt2)
		if have := summary(intents); have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
		for _, intent := range intents {
			if want := intent.Order.StopPrice != 0; (intent.Order.WorkingType == exchange.ContractPrice) != want {
				t.Errorf("%s: want it by the price of contracts %t, have %+v", c.name, want, intent.Order)
			}
		}
	}
	d := holds(t, 0) // the tracker stores the place in the plan of each live order
	var orders []strategy.DesiredOrder
	for _, key := range []string{"a", "b", "c"} {
		orders = append(orders, strategy.DesiredOrder{Key: key, Side: exchange.Buy, Price: 40_000e8, Quantity: 5})
	}
	d.want(&strategy.Plan{Orders: orders, OrdersSet: true})
	var all []string
	for i, intent := range d.derive(nil) {
		all = append(all, d.send(intent))
		d.acknowledge(all[i], int64(11+i))
	}
	symbol := d.tracker.Symbol(bitcoin)
	for _, id := range []string{"", all[0], all[2], all[1]} {
		if id != "" {
			d.ended(id, placement.Canceled, 0)
		}
		if d.derive(nil); len(symbol.keyedAt) != len(symbol.keyed) || len(symbol.keyed) != len(symbol.live) {
			t.Errorf("want %d orders and their places, have %d and %d", len(symbol.live), len(symbol.keyed), len(symbol.keyedAt))
		}
	}
}

// The round confirms a refusal, and notes an open order of another botd and a released stop that is live again.
func TestRoundConfirmsRefusalsAndNotesFindings(t *testing.T) {
	t.Parallel()
	w := explains(t, 10, 0)
	w.refuses(placement.Exit, saleOf(4))
	stop := w.places(placement.StopLoss, 9, stopOf(6))
	w.answersCancel(stop)
	theirs := anothers(elders+"2", 50, exchange.Sell, exchange.StopLimit, 10, 4, 1)
	w.now += 2_000
	w.shows("1", "0.01", stop, theirs)
	if len(w.tracker.Refused()) != 0 {
		t.Error("want the refusal confirmed")
	}
	if w.tracker.ReleasedMS(coin) != 0 {
		t.Error("want the stop to hold again, which a list of later shows")
	}
	if orders := w.tracker.Symbol(coin).spot.peer.orders; len(orders) != 1 || orders[0].net != -4 {
		t.Errorf("want the four that another botd has sold noted, have %+v", orders)
	}
	w.now += 1_000
	if w.shows("1.02", "0.01", stop, theirs); !w.tracker.Symbol(coin).Suspect() {
		t.Error("want it noted that the wallet differs")
	}
}

// On a symbol that needs manual resolution, the wallet limits the sellable quantity. A wallet that may be older than the last fills still shows
// what they sold.
func TestBoundByTheWallet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		why         string
		baseBalance exchange.Quantity
		early       bool
		stands      bool
		want        exchange.Quantity // the sellable part of ten less two as fees
	}{
		{"nobody must look", "", 1_004, false, false, 8},
		{"a person must look", "a test", 1_008, false, false, 8},
		{"the wallet shows less", "a test", 1_004, false, false, 4},
		{"the wallet shows more", "a test", 1_020, false, false, 8},
		{"it may show what was sold last, three", "a test", 1_008, true, false, 5},
		{"more was executed than was answered, and the wallet shows less", "the exchange executed b-1 twice", 1_004, false, false, 4},
		{"the same, by a wallet that may be old", "the exchange executed b-1 twice", 1_004, true, false, 8},
		{"the same, and another botd trades", "the exchange executed b-1 twice", 1_008, true, true, 5},
		{"another botd trades", "", 1_004, false, true, 4},
	} {
		w := explains(t, 13, 0)
		sale := w.places(placement.Exit, 9, saleOf(3))
		w.apply(record.Record{AtMS: w.now, ClientOrderID: sale.ClientOrderID, Body: record.Ended{State: placement.Filled, OrderID: 9, Filled: 3}})
		w.apply(record.Record{Symbol: coin, Body: record.Fees{Quantity: 2, Expected: true}})
		symbol := w.tracker.Symbol(coin)
		if symbol.sinceFill = (persistence{}); !c.early {
			w.now += 60_000
		}
		if c.why != "" {
			quarantined(c.why)(w)
		}
		if c.stands {
			symbol.unknownEnded = elders + "1"
		}
		symbol.position = symbol.heldOnSpot()
		w.reads(c.baseBalance, 0).walletComparison().limitToWallet(symbol)
		if symbol.position != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, symbol.position)
		}
	}
}

// A wallet can be older than a fill only if reads may be old at all.
func TestAWalletIsOlderThanAFillForL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stalenessMS, forMS int64
		want               bool
	}{{0, 0, false}, {1, 0, true}, {1, 1, true}, {1, 2, false}, {1_000, 1_000, true}, {1_000, 1_001, false}} {
		b := NewTracker(placement.Bounds{StalenessMS: c.stalenessMS})
		symbol := b.Track(coin)
		symbol.sinceFill = persistence{sinceMS: 1, forMS: c.forMS}
		if have := b.survey(&Snapshot{BeganMS: 1_000_000}).mayPredateFill(symbol); have != c.want {
			t.Errorf("L of %d ms, %d ms after the fill: want it to be older %t, have %t", c.stalenessMS, c.forMS, c.want, have)
		}
	}
}
