package reconcile

import (
	"fmt"
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A row belongs to a placement by the exchange's id, otherwise by the client order id, and only with the same
// symbol and side.
func TestRowMatchesPlacement(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(o *exchange.Order) // of the row of the second of three orders
		want   int                     // which of them; 0 for none
	}{
		{"by both ids", nil, 2},
		{"by the exchange's", func(o *exchange.Order) { o.ClientOrderID = "" }, 2},
		{"by the exchange's, under another's client order id", func(o *exchange.Order) { o.ClientOrderID = "another" }, 2},
		{"by the exchange's, under the third one's client order id", func(o *exchange.Order) { o.ClientOrderID = "the third" }, 0},
		{"a second order under one client order id", func(o *exchange.Order) { o.ID = 99 }, 0},
		{"of the other side", func(o *exchange.Order) { o.Side = exchange.Buy }, 0},
		{"of another symbol", func(o *exchange.Order) { o.Symbol = "ETH-USDT" }, 0},
		{"of another market", func(o *exchange.Order) { o.Market, o.ClientOrderID = exchange.Spot, "" }, 0},
		{"under no id", func(o *exchange.Order) { o.ID, o.ClientOrderID = 99, "" }, 0},
	} {
		for first := range 4 { // whichever is compared first
			d := holds(t, 20)
			var ids []string
			for i := range 3 {
				ids = append(ids, d.resting(int64(11+i), 5))
			}
			row := d.order(ids[1], 12, exchange.StatusOpen, 5, 0)
			row.Side, row.Type = exchange.Sell, exchange.Limit
			if c.change != nil {
				c.change(&row)
			}
			if row.ClientOrderID == "the third" {
				row.ClientOrderID = ids[2]
			}
			s := d.tracker.survey(&Snapshot{})
			next, have := first, 0
			if p := s.orderRows().matchFrom(&next, &row); p != nil {
				have = 1 + slices.Index(ids, p.ClientOrderID())
			}
			if have != c.want {
				t.Errorf("%s, from %d on: want order %d, have %d", c.name, first, c.want, have)
			}
			if found := have == 2 && first <= 1; found && next != 2 {
				t.Errorf("%s, from %d on: want the next one compared first, have %d", c.name, first, next)
			}
		}
	}
}

// The order was sent at 1,000 s and has filled four of ten.
func TestOrderRowRecords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		status exchange.OrderStatus
		filled exchange.Quantity
		id     int64
		want   string // the records
		stale  int64
	}{
		{"as it was", exchange.StatusOpen, 4, 12, "", 0},
		{"more has filled", exchange.StatusOpen, 6, 12, "fill 6", 0},
		{"less has filled: it is older", exchange.StatusOpen, 3, 12, "", 1},
		{"it has ended", exchange.StatusCanceled, 6, 12, "canceled 6", 0},
		{"it has ended, by an older row", exchange.StatusCanceled, 3, 12, "canceled 4", 1},
		{"it has filled", exchange.StatusFilled, 10, 12, "filled 10", 0},
		{"the exchange rejected it", exchange.StatusRejected, 4, 12, "rejected 4", 0},
		{"it is accepted, and not in the book yet", exchange.StatusCreated, 4, 12, "", 0},
		{"under another id", exchange.StatusOpen, 4, 13, "fill 4", 0},
	} {
		d := holds(t, 0)
		id := d.rests(placement.Order, 12, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: 1e8, Quantity: 10})
		d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Fill{OrderID: 12, Filled: 4}})
		row := d.order(id, c.id, c.status, 10, c.filled)
		s := d.tracker.survey(&Snapshot{EndedMS: d.now})
		s.orderRows().observeOrder(d.tracker.Placement(id), &row)
		have := ""
		for _, r := range s.records {
			switch body := r.Body.(type) {
			case record.Fill:
				have += fmt.Sprintf("fill %d", body.Filled)
			case record.Ended:
				have += fmt.Sprintf("%s %d", body.State, body.Filled)
			}
		}
		if have != c.want || d.tracker.Stale() != c.stale {
			t.Errorf("%s: want %q, %d stale, have %q, %d", c.name, c.want, c.stale, have, d.tracker.Stale())
		}
	}
}

// The exchange's date counts for a futures opening, in whole seconds, if it is before botd's.
func TestOrderDateFromExchange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		purpose   placement.Purpose
		market    exchange.Market
		createdMS int64 // it was sent at 1,001,500
		want      int64
	}{
		{"before", placement.Entry, exchange.Futures, 1_000_000, 1_000_000},
		{"of the same second", placement.Entry, exchange.Futures, 1_001_000, 0},
		{"a moment before that second", placement.Entry, exchange.Futures, 1_000_999, 1_000_999},
		{"later", placement.Entry, exchange.Futures, 1_002_000, 0},
		{"of an exit", placement.Exit, exchange.Futures, 1_000_000, 0},
		{"on spot", placement.Entry, exchange.Spot, 1_000_000, 0},
	} {
		d := newDesk(t)
		d.now = 1_001_500
		order := buys
		order.Market = c.market
		p := d.tracker.Placement(d.places(c.purpose, order))
		if have := datedBefore(p, &exchange.Order{Market: c.market, CreatedMS: c.createdMS}); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
}

// An unreadable row may be botd's own order, which is then uncertain; a foreign order of a traded symbol or under botd's prefix; or the order
// whose answer was lost, as far as the row fits it.
func TestUnreadableRowIsAttributed(t *testing.T) {
	t.Parallel()
	row := func(symbol, id string) UnreadOrder {
		return UnreadOrder{Market: exchange.Futures, Open: true, Row: exchange.UnreadableRow{ID: 90, ClientOrderID: id, Symbol: symbol}}
	}
	closed := row("BTC-USDT", "a person's")
	closed.Open = false
	for _, c := range []struct {
		name    string
		unread  UnreadOrder
		with    func(d *desk)
		foreign int // number of rows that are foreign orders of its symbol
		about   string
	}{
		{"a person's", row("BTC-USDT", "a person's"), nil, 1, ""},
		{"without an id", row("BTC-USDT", ""), nil, 1, ""},
		{"without an id, while an answer is lost", row("BTC-USDT", ""), func(d *desk) { d.uncertain(d.places(placement.Order, buys)) }, 1, "BTC-USDT"},
		{"a person's, while an answer is lost", row("BTC-USDT", "a person's"), func(d *desk) { d.uncertain(d.places(placement.Order, buys)) }, 1, ""},
		{"of the history", closed, nil, 0, ""},
		{"of a symbol that is not traded", row("ETH-USDT", "a person's"), nil, 0, ""},
		{"of its prefix, on a symbol that is not traded", row("ETH-USDT", "bt-000zzz00000-1"), nil, 1, ""},
		{"of no symbol", row("", "bt-000zzz00000-1"), nil, 0, ""},
		{"under an id that has ended", row("BTC-USDT", "ended"), func(d *desk) {
			order := buys
			order.ClientOrderID = "ended"
			d.tracker.Apply(&record.Record{ClientOrderID: "ended", Symbol: bitcoin, Strategy: "one", Body: record.Sending{Order: order,
				Purpose: placement.Order}})
			d.tracker.Apply(&record.Record{ClientOrderID: "ended", Body: record.Ended{State: placement.Canceled}})
		}, 0, ""},
	} {
		d := holds(t, 0)
		d.tracker.instance = "t"
		if c.with != nil {
			c.with(d)
		}
		for range 2 { // a list that is read again replaces the earlier one
			s := d.shows(d.tracker.Symbol(bitcoin), 0)
			s.fetched.SpotOrders = exchange.FetchedOf[exchange.Order](nil)
			s.fetched.UnreadOrders = []UnreadOrder{c.unread}
			s.orderRows().observeList(exchange.Futures, s.fetched.FuturesOrders)
			s.orderRows().observeUnread()
			about := ""
			for _, key := range s.fetched.Unread {
				about += key.Name
			}
			foreign := 0
			for symbol := range d.tracker.Symbols() {
				if foreign += len(symbol.foreign); len(symbol.foreign) != len(symbol.unreadable) {
					t.Errorf("%s: want each marked as one that cannot be read, have %d of %d", c.name, len(symbol.unreadable), len(symbol.foreign))
				}
			}
			if foreign != c.foreign || about != c.about {
				t.Errorf("%s: want %d foreign, about %q, have %d, %q", c.name, c.foreign, c.about, foreign, about)
			}
		}
	}
}

// The order is for ten, of which four are known to have filled.
func TestUnreadableOwnRowBooksFill(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		purpose placement.Purpose
		read    bool
		filled  exchange.Quantity
		open    bool
		want    string
	}{
		{"all filled", placement.Order, true, 10, true, "filled 10"},
		{"more filled", placement.Order, true, 6, true, "6 uncertain"},
		{"as much", placement.Order, true, 4, true, "4 uncertain"},
		{"less", placement.Order, true, 3, true, "4 uncertain"},
		{"no figure", placement.Order, false, 10, true, "4 uncertain"},
		{"a stop that is open", placement.StopLoss, true, 6, true, "6 working"},
		{"a stop of the history", placement.StopLoss, true, 6, false, "6 uncertain"},
		{"a profit that is open", placement.TakeProfit, true, 4, true, "4 working"},
	} {
		d := holds(t, 20)
		id := d.rests(c.purpose, 12, exchange.NewOrder{Side: exchange.Sell, Type: exchange.Limit, Price: 1e8, Quantity: 10, ReduceOnly: true})
		d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Fill{OrderID: 12, Filled: 4}})
		s := d.tracker.survey(&Snapshot{EndedMS: d.now})
		s.orderRows().unreadOwn(d.tracker.Placement(id), &UnreadOrder{Market: exchange.Futures, Open: c.open,
			Row: exchange.UnreadableRow{ID: 12, FilledRead: c.read, Filled: c.filled}})
		have := "filled 10"
		if p := d.tracker.Placement(id); p != nil {
			have = fmt.Sprintf("%d %s", p.Filled(), p.State())
		}
		if have != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
		}
	}
}

// A placement, live or ended, claims a row if the row can be no other order.
func TestRowIsClaimedByPlacement(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		orderID int64 // as the journal knows it when the placement has ended
		id      string
		rowID   int64
		want    bool
	}{
		{"under its client order id and the exchange's", 8, "own", 8, true},
		{"under its client order id, of an order that never was known", 0, "own", 70, true},
		{"under its client order id, of another order", 8, "own", 70, false},
		{"under the exchange's id", 8, "", 8, true},
		{"under no id", 8, "", 70, false},
		{"under a person's", 8, "a person's", 70, false},
	} {
		w := explains(t, 10, 0)
		first := w.buysUnder(c.orderID, 4)
		w.apply(record.Record{AtMS: w.now, ClientOrderID: first.ClientOrderID, Body: record.Ended{OrderID: c.orderID, State: placement.Canceled}})
		row := exchange.Order{ID: c.rowID, ClientOrderID: c.id, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy}
		if c.id == "own" {
			row.ClientOrderID = first.ClientOrderID
		}
		if have := w.reads(1_010, 0).tracker.claimed(&row); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
}

// The purpose is stored for the newest 64 sales and for the newest 64 purchases.
func TestPurposesOfEndedOrdersAreStored(t *testing.T) {
	t.Parallel()
	w := explains(t, 10_000, 0)
	ids := make([]string, 66)
	for i := range ids {
		sale := w.places(placement.Exit, int64(100+i), saleOf(1))
		purchase := w.buysUnder(int64(300+i), exchange.Quantity(1+i))
		for _, o := range []exchange.Order{sale, purchase} {
			w.apply(record.Record{AtMS: w.now, ClientOrderID: o.ClientOrderID, Body: record.Ended{OrderID: o.ID, State: placement.Canceled}})
		}
		ids[i] = sale.ClientOrderID
	}
	of := w.tracker.purposeOf
	if len(w.tracker.purposes) != 64 || of(ids[1]) != 0 || of(ids[2]) != placement.Exit || of(ids[65]) != placement.Exit {
		t.Errorf("want the newest 64 sales remembered, have %d", len(w.tracker.purposes))
	}
	if len(w.tracker.purchases) != 64 || w.tracker.purchases[0].order.Quantity != 3 || w.tracker.purchases[63].order.Quantity != 66 {
		t.Errorf("want the newest 64 purchases remembered, have %d", len(w.tracker.purchases))
	}
	unknown := w.buysUnder(0, 5)
	w.apply(record.Record{AtMS: w.now, ClientOrderID: unknown.ClientOrderID, Body: record.Ended{State: placement.Absent}})
	if len(w.tracker.purchases) != 64 || w.tracker.purchases[63].order.Quantity != 66 {
		t.Error("want no purchase remembered whose order is not known")
	}
	live := w.places(placement.StopLoss, 900, stopOf(1))
	if w.tracker.purposeOf(live.ClientOrderID) != placement.StopLoss || w.tracker.purposeOf("nobody's") != 0 {
		t.Error("want the purpose of a live sale, and none of nobody's")
	}
	d := holds(t, 20)
	id := d.resting(12, 5)
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Ended{OrderID: 12, State: placement.Canceled}})
	if len(d.tracker.purposes) != 0 || d.tracker.purposeOf(id) != 0 {
		t.Error("want nothing remembered of futures")
	}
}

// The list ends the release if it began more than L after the answer, unless a wallet that was read since the answer freezes nothing for the stop.
func TestListShowsReleasedStop(t *testing.T) {
	t.Parallel()
	listShowsReleasedStop(t)
}

func listShowsReleasedStop(t testing.TB) {
	for _, c := range []struct {
		afterMS, walletMS int64 // relative to the answer; 0 for no other wallet
		frozen            exchange.Quantity
		stands            bool
	}{
		{afterMS: 1_000, frozen: 10}, {afterMS: 1_001, frozen: 10, stands: true}, {afterMS: 1_001, frozen: 9},
		{afterMS: 1_001, walletMS: 1, frozen: 9}, {afterMS: 1_001, walletMS: -1, frozen: 9, stands: true},
	} {
		w := explains(t, 10, 0)
		stop := w.places(placement.StopLoss, 9, stopOf(10))
		answeredMS := w.now
		w.tracker.NoteReleased(stop.ClientOrderID, &exchange.Order{ID: 9, Status: exchange.StatusCanceled}, answeredMS)
		w.now += c.afterMS
		s := w.reads(1_010-c.frozen, c.frozen, stop)
		if c.walletMS != 0 {
			w.tracker.walletFromMS = answeredMS + c.walletMS
		}
		for range 2 { // the second list finds what the first one concluded
			s.orderRows().noteOpenAgain(w.tracker.Placement(stop.ClientOrderID))
		}
		if at := w.tracker.known(stop.ClientOrderID).releasedMS; (at == 0) != c.stands || at != 0 && at != answeredMS {
			t.Errorf("%+v: want it to stand again %t, have it released at %d of %d", c, c.stands, at, answeredMS)
		}
	}
}

// Forget is called for a symbol that is no longer traded.
func TestForgetClearsReads(t *testing.T) {
	t.Parallel()
	d := holds(t, 20)
	symbol := d.tracker.Symbol(bitcoin)
	symbol.mark, symbol.lastMS, symbol.onlyOpeningsPending, symbol.leverage = 1, 2, true, 10
	if d.tracker.ObservePrice(bitcoin, 1, 2, 3); !symbol.Quoted() {
		t.Error("want a price that was requested")
	}
	symbol.unread = true
	if symbol.Forget(); symbol.Quoted() || !symbol.Unread() { // a read that failed stays so
		t.Error("want no price that was requested, and a failed read")
	}
	if symbol.read || symbol.settled || symbol.onlyOpeningsPending || symbol.leverage != 0 || symbol.last != 0 || symbol.mark != 0 || symbol.lastMS != 0 {
		t.Errorf("want nothing of what was read, have %+v", symbol)
	}
}

// The position is twenty. The mark is 51,000, and was 50,000 when the account was read.
func TestProfitSinceAccountRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(s *SymbolState)
		want   string
	}{
		{"by the mark", func(*SymbolState) {}, "20"},
		{"by the last trade where no mark is known", func(s *SymbolState) { s.mark = 0 }, "-20"},
		{"others' part too", func(s *SymbolState) { s.position = 15; s.journalledSymbol = leaving(5) }, "20"},
		{"of one unit", func(s *SymbolState) { s.position = 1 }, "1"},
		{"none of nothing", func(s *SymbolState) { s.position = 0 }, "0"},
		{"none where it was not read", func(s *SymbolState) { s.markedAt = 0 }, "0"},
		{"none without rules", func(s *SymbolState) { s.rules = nil }, "0"},
	} {
		d := holds(t, 20)
		symbol := d.tracker.Symbol(bitcoin)
		symbol.markedAt, symbol.mark, symbol.last = 50_000e8, 51_000e8, 49_000e8
		c.change(symbol)
		if have := symbol.ProfitChange().String(); have != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
		}
	}
	w := holding(t, ForeignHalt)
	symbol := w.tracker.Symbol(coin)
	if symbol.markedAt, symbol.mark = 50_000e8, 51_000e8; !symbol.ProfitChange().IsZero() {
		t.Error("want nothing made on spot, whose account has no profit")
	}
}

// leaving is the journalled state of a symbol of which that quantity is left to others.
func leaving(others exchange.Quantity) *journalledSymbol {
	b := NewTracker(testSettle)
	b.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: others}})
	return b.Symbol(bitcoin).journalledSymbol
}

func TestCanceledPlacements(t *testing.T) {
	t.Parallel()
	d := holds(t, 20)
	first, second := d.resting(12, 5), d.resting(13, 5)
	d.resting(14, 5)
	d.tracker.NoteCancel(first, 10)
	d.tracker.NoteCancel(first, 20)
	d.tracker.NoteCancel(second, 30)
	d.tracker.NoteCancel("nobody's", 40)
	var all []string
	for p := range d.tracker.Canceled() {
		all = append(all, p.ClientOrderID())
	}
	slices.Sort(all)
	if !slices.Equal(all, []string{first, second}) || d.tracker.CancelMS(first) != 20 || d.tracker.known(first).canceled.firstMS != 10 {
		t.Errorf("want two, the first from 10 to 20, have %v, %+v", all, d.tracker.known(first).canceled)
	}
	for p := range d.tracker.Canceled() {
		if p == nil {
			t.Error("want no placement that is none")
		}
		break
	}
}

// If others hold a part of the position, botd's part is at most the whole position, and zero if it would be on the other side.
func TestOwnPartNextToForeignPosition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		known, ignored, shown exchange.Quantity
		exceedsPosition       bool
		own, others           exchange.Quantity // when the difference is left to others
	}{
		{20, 5, 25, false, 20, 5}, {20, 5, 20, false, 20, 0}, {20, 5, 19, true, 19, 0}, {20, 5, -3, true, 0, -3}, {20, 0, 15, false, 15, 0},
		{-20, -5, -15, true, -15, 0}, {0, 5, -3, false, 0, -3}, {20, -25, -5, true, 0, -5}, {20, 5, 0, true, 0, 0}, {20, 10, 40, false, 20, 20},
	} {
		d := holds(t, c.known)
		d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: c.ignored}})
		symbol := d.tracker.Symbol(bitcoin)
		d.shows(symbol, c.shown)
		if have := symbol.exceedsPosition(); have != c.exceedsPosition {
			t.Errorf("%+v: want it exceedsPosition %t, have %t", c, c.exceedsPosition, have)
		}
		symbol.ignore("a test", func(r record.Record) { d.tracker.Apply(&r) })
		if symbol.Known() != c.own || symbol.Ignored() != c.others {
			t.Errorf("%+v: want %d botd's and %d others', have %d and %d", c, c.own, c.others, symbol.Known(), symbol.Ignored())
		}
	}
}

// The closed position has the opening's side, was opened after it and was never seen open, and no fill of a known order could have made it.
func TestClosedPositionDecidesUncertainOpening(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		row    func(p *exchange.Position)
		with   func(d *desk, symbol *SymbolState)
		want   string // how the opening ended, and its fill
		closed bool
	}{
		{"opened in the same second", nil, nil, "filled 10", true},
		{"opened before", func(p *exchange.Position) { p.CreatedMS = 1_000_999 }, nil, "", false},
		{"of a part", func(p *exchange.Position) { p.Quantity = 4 }, nil, "canceled 4", true},
		{"of more", func(p *exchange.Position) { p.Quantity = 15 }, nil, "filled 10", true},
		{"of the other side", func(p *exchange.Position) { p.Side = exchange.Short }, nil, "", false},
		{"of another symbol", func(p *exchange.Position) { p.Symbol = "ETH-USDT" }, nil, "", false},
		{"one that was seen open", nil, func(_ *desk, s *SymbolState) { s.seen = []int64{9} }, "", false},
		{"a known order has filled since", nil, func(d *desk, _ *SymbolState) {
			d.tracker.Apply(&record.Record{AtMS: 1_001_500, ClientOrderID: d.places(placement.Exit, closes),
				Body: record.Ended{OrderID: 30, State: placement.Canceled, Filled: 1}})
		}, "", false},
		{"a known order had filled before", nil, func(d *desk, _ *SymbolState) {
			d.tracker.Apply(&record.Record{AtMS: 1_001_499, ClientOrderID: d.places(placement.Exit, closes),
				Body: record.Ended{OrderID: 30, State: placement.Canceled, Filled: 1}})
		}, "filled 10", true},
		{"four of it were known", nil, func(d *desk, _ *SymbolState) {
			d.tracker.Apply(&record.Record{AtMS: 1_001_499, ClientOrderID: d.tracker.LiveAt(0).ClientOrderID(), Body: record.Fill{OrderID: 9, Filled: 4}})
			d.uncertain(d.tracker.LiveAt(0).ClientOrderID())
		}, "filled 10", true},
	} {
		d := newDesk(t)
		symbol := d.tracker.Symbol(bitcoin)
		d.now = 1_001_500
		opening := d.places(placement.Entry, buys)
		d.uncertain(opening)
		if c.with != nil {
			c.with(d, symbol)
		}
		known := symbol.Known()
		s := d.shows(symbol, 0)
		row := exchange.Position{ID: 9, Symbol: "BTC-USDT", Side: exchange.Long, Quantity: 10, CreatedMS: 1_001_000, EntryPrice: exchange.AmountOf(50_000)}
		if c.row != nil {
			c.row(&row)
		}
		s.fetched.Closed = []exchange.Position{row}
		have := ""
		if closed := s.uncertainOrders().closedAlready(symbol, d.tracker.Placement(opening)); closed != c.closed {
			t.Errorf("%s: want %t, have %t", c.name, c.closed, closed)
		}
		for _, r := range s.records {
			if body, is := r.Body.(record.Ended); is {
				have = fmt.Sprintf("%s %d", body.State, body.Filled)
			}
		}
		if have != c.want || symbol.Known() != known || slices.Contains(symbol.seen, 9) != (c.closed || c.name == "one that was seen open") {
			t.Errorf("%s: want %q and as much known, have %q, %d known, seen %v", c.name, c.want, have, symbol.Known(), symbol.seen)
		}
	}
}

// The adopted part is at most the holding besides botd's own.
func TestBaselineBeforeAdoptionOfAnotherBotdsPurchase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		baseBalance exchange.Quantity
		fees        exchange.Quantity
		want        exchange.Quantity // the baseline, a thousand before; five of theirs are adopted next to ten
	}{
		{"all of it is there", 1_015, 0, 1_000},
		{"more is there", 1_020, 0, 1_000},
		{"what they bought was taken for it", 1_010, 0, 995},
		{"fees took some", 1_008, 2, 995},
		{"less is there than was bought", 10, 0, 0},
	} {
		w, symbol := standing(t, peerOrder{50, 5, 700})
		if c.fees != 0 {
			w.apply(record.Record{Symbol: coin, Body: record.Fees{Quantity: c.fees, Expected: true}})
		}
		w.reads(c.baseBalance, 0)
		r := &resolution{account: &w.tracker.tracked, refusals: &w.tracker.refusals, wallet: &w.tracker.spotWallet, symbol: symbol}
		r.adoptPeerPosition(5)
		for _, one := range r.records {
			w.apply(one)
		}
		if have := symbol.Baseline(); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
}

// The acknowledgment of a stop gave a wrong order id: nobody's, or that of its entry, whose row a read by that id returns. The order that rests under
// the stop's client order id is the stop, and is not canceled as a duplicate.
func TestStopWithAWrongAcknowledgedIDStands(t *testing.T) {
	t.Parallel()
	stopWithWrongID(t)
}

func stopWithWrongID(t testing.TB) {
	for _, wrong := range []int64{777, 7} {
		d := newDesk(t)
		d.observe(0, nil)
		entry := d.places(placement.Entry, exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy,
			Type: exchange.MarketOrder, Quantity: 20})
		d.acknowledge(entry, 7)
		filled := d.order(entry, 7, exchange.StatusFilled, 20, 20)
		d.now += 1_000
		d.observe(20, []OrderByID{{OrderID: 7, Known: true, Order: filled}})
		stop := d.places(placement.StopLoss, exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopMarket,
			ClosePosition: true, StopPrice: 49_000e8})
		d.acknowledge(stop, wrong)
		resting := d.order(stop, 8, exchange.StatusNew, 0, 0)
		resting.Side, resting.Type, resting.ClosePosition, resting.StopPrice = exchange.Sell, exchange.StopMarket, true, exchange.Price(49_000e8)
		for range 3 {
			d.now += 1_000
			d.observe(20, []OrderByID{{OrderID: wrong, Known: wrong == 7, Order: filled}}, resting)
		}
		p := d.tracker.Placement(stop)
		if p == nil || p.OrderID() != 8 || p.State() != placement.Working || d.tracker.Placement(stop+"#8") != nil {
			t.Errorf("order id %d: want the stop as order 8, have %+v", wrong, p)
		}
		if symbol := d.tracker.Symbol(bitcoin); symbol.Known() != 20 || symbol.Quarantine() != "" {
			t.Errorf("order id %d: want 20 known, have %d, %q", wrong, symbol.Known(), symbol.Quarantine())
		}
	}
}
