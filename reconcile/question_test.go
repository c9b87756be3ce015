package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

var (
	buys   = exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 10}
	closes = exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: 10, ReduceOnly: true}
	offers = exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.Limit, Price: 60_000e8, Quantity: 10,
		ReduceOnly: true}
	ethers = exchange.NewOrder{Market: exchange.Futures, Symbol: "ETH-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 10}
)

func (d *desk) places(purpose placement.Purpose, order exchange.NewOrder) string {
	return d.send(Intent{Purpose: purpose, Order: order})
}

// An opening waits for older unanswered orders, for an exit of any age, and for every uncertain order.
func TestOpeningWaits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		order   exchange.NewOrder
		purpose placement.Purpose
		answer  func(d *desk, id string)
		older   bool // with the order before the opening
		younger bool // with it after the opening
	}{
		{"an opening that is not answered", buys, placement.Order, nil, true, false},
		{"one that is acknowledged", buys, placement.Order, func(d *desk, id string) { d.acknowledge(id, 11) }, false, false},
		{"one that is uncertain", buys, placement.Order, (*desk).uncertain, true, true},
		{"an exit that is not answered", closes, placement.Exit, nil, true, true},
		{"an exit that is acknowledged", closes, placement.Exit, func(d *desk, id string) { d.acknowledge(id, 11) }, false, false},
		{"a resting exit that is not answered", offers, placement.ExitOrder, nil, true, false},
		{"one of another symbol", ethers, placement.Order, (*desk).uncertain, false, false},
	} {
		for _, older := range []bool{true, false} {
			d, opening := newDesk(t), ""
			if !older {
				opening = d.places(placement.Order, buys)
			}
			id := d.places(c.purpose, c.order)
			if c.answer != nil {
				c.answer(d, id)
			}
			if older {
				opening = d.places(placement.Order, buys)
			}
			want := c.older && older || c.younger && !older
			if have := d.tracker.BlocksOpening(opening, bitcoin); have != want {
				t.Errorf("%s, older %t: want it waited for %t, have %t", c.name, older, want, have)
			}
		}
	}
}

// An uncertain opening of the symbol is overdue and needs the history from its fence on.
func TestUncertainOpeningIsOverdueAndNeedsHistory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		order         exchange.NewOrder
		purpose       placement.Purpose
		uncertain     bool
		afterFenceMS  int64
		position      exchange.Quantity
		overdue, asks bool
	}{
		{"before its fence", buys, placement.Entry, true, -1, 0, false, false},
		{"at its fence", buys, placement.Entry, true, 0, 0, false, true},
		{"as long past its fence as may be", buys, placement.Entry, true, 100, 0, false, true},
		{"longer", buys, placement.Entry, true, 101, 0, true, true},
		{"with a position", buys, placement.Entry, true, 101, 5, true, false},
		{"an exit", closes, placement.Exit, true, 101, 0, true, false},
		{"one that is not answered yet", buys, placement.Entry, false, 101, 0, false, false},
		{"one of another symbol", ethers, placement.Entry, true, 101, 0, false, false},
	} {
		d := newDesk(t)
		d.tracker.Symbol(bitcoin).position = c.position
		id := d.places(c.purpose, c.order)
		if c.uncertain {
			d.uncertain(id)
		}
		p := d.tracker.Placement(id)
		now := p.Fence(testSettle) + c.afterFenceMS
		if have := d.tracker.Overdue(bitcoin, now, 100); (have == p) != c.overdue || have != p && have != nil {
			t.Errorf("%s: want overdue %t, have %v", c.name, c.overdue, have)
		}
		if have := d.tracker.OpeningNeedingHistory(d.tracker.Symbol(bitcoin), now); (have == p) != c.asks || have != p && have != nil {
			t.Errorf("%s: want history asked for %t, have %v", c.name, c.asks, have)
		}
	}
}

// The plan requests at least the position, on its side.
func TestExitIsOutdatedOnceTargetCoversPosition(t *testing.T) {
	t.Parallel()
	share := &strategy.Plan{Target: strategy.Target{Kind: strategy.ByEquity, Share: exchange.RateOne / 10}} // 1,000 of 10,000 buy 20 at 50,000
	for _, c := range []struct {
		held, target exchange.Quantity
		want         bool
	}{{20, 20, true}, {20, 21, true}, {20, 19, false}, {20, 0, false}, {20, -20, false}, {-20, -20, true}, {-20, -21, true}, {-20, -19, false},
		{0, 20, false}} {
		d := holds(t, c.held)
		d.target(c.target)
		desired := &Desired{Strategy: d.tracker.Strategy("one"), Symbol: d.tracker.Symbol(bitcoin)}
		if have := d.tracker.ExitOutdated(desired); have != c.want {
			t.Errorf("%d held, a target of %d: want outdated %t, have %t", c.held, c.target, c.want, have)
		}
	}
	d := holds(t, 20)
	d.want(share)
	desired := &Desired{Strategy: d.tracker.Strategy("one"), Symbol: d.tracker.Symbol(bitcoin)}
	if d.tracker.ExitOutdated(desired) {
		t.Error("a share of the equity that has no price yet: want it not outdated")
	}
	d.derive(nil)
	if !d.tracker.ExitOutdated(desired) {
		t.Error("a share of the equity that is as much as is held: want it outdated")
	}
	if d.tracker.Symbol(bitcoin).rules = nil; d.tracker.ExitOutdated(desired) {
		t.Error("want it not outdated where the rules are not known")
	}
	for target, want := range map[exchange.Quantity]bool{9: false, 10: true} { // ten were bought, of which fees have taken two
		w := explains(t, 10, 2)
		symbol := w.tracker.Symbol(coin)
		symbol.position = symbol.heldOnSpot()
		w.targets(target, nil)
		if have := w.tracker.ExitOutdated(&Desired{Strategy: w.tracker.Strategy("one"), Symbol: symbol}); have != want {
			t.Errorf("a target of %d, of ten less fees: want it outdated %t, have %t", target, want, have)
		}
	}
}

// The closable position is what the fills explain or live orders may have opened. The kill switch closes the
// whole position. The stop's level needs the rules and a price.
func TestClosablePositionAndStopLevel(t *testing.T) {
	t.Parallel()
	stop := strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}}
	for _, c := range []struct {
		name                 string
		known, position      exchange.Quantity
		with                 func(d *desk)
		protection           strategy.Protection
		held, all            exchange.Quantity
		level                exchange.Price
		exit                 string
		withoutRules, noLast bool
	}{
		{"as the fills say", 20, 20, nil, stop, 20, 20, 49_000e8, "exit sell market 20 reduceOnly: the target is flat", false, false},
		{"a short one", -20, -20, nil, stop, -20, -20, 51_000e8, "exit buy market 20 reduceOnly: the target is flat", false, false},
		{"nothing", 0, 0, nil, stop, 0, 0, 0, "", false, false},
		{"more than the fills say", 20, 25, nil, stop, 20, 25, 49_000e8, "exit sell market 20 reduceOnly: the target is flat", false, false},
		{"less than they say", 20, 15, nil, stop, 15, 15, 49_000e8, "exit sell market 15 reduceOnly: the target is flat", false, false},
		{"on the other side", 20, -5, nil, stop, 0, -5, 0, "", false, false},
		{"one unit", 1, 1, nil, stop, 1, 1, 49_000e8, "exit sell market 1 reduceOnly: the target is flat", false, false},
		{"on the other side, as an order may have made it", 20, -5, func(d *desk) {
			order := offers
			order.Quantity, order.ReduceOnly = 30, false
			d.places(placement.Order, order)
		}, stop, -5, -5, 51_000e8, "exit buy market 5 reduceOnly: the target is flat", false, false},
		{"what only others made", 0, 20, nil, stop, 0, 20, 0, "", false, false},
		{"what an order may have made", 20, 30, func(d *desk) { d.places(placement.Order, buys) }, stop, 30, 30, 49_000e8,
			"exit sell market 30 reduceOnly: the target is flat", false, false},
		{"more than it may have made", 20, 31, func(d *desk) { d.places(placement.Order, buys) }, stop, 30, 31, 49_000e8,
			"exit sell market 30 reduceOnly: the target is flat", false, false},
		{"an order of another symbol", 20, 30, func(d *desk) { d.places(placement.Order, ethers) }, stop, 20, 30, 49_000e8,
			"exit sell market 20 reduceOnly: the target is flat", false, false},
		{"none is set", 20, 20, nil, strategy.Protection{StopLoss: strategy.Distance{Share: 1}}, 20, 20, 0,
			"exit sell market 20 reduceOnly: the target is flat", false, false},
		{"no stop is wanted", 20, 20, nil, strategy.Protection{Set: true, TakeProfit: strategy.Distance{Share: 1}}, 20, 20, 0,
			"exit sell market 20 reduceOnly: the target is flat", false, false},
		{"without rules", 20, 20, nil, stop, 20, 20, 0, "", true, false},
		{"without a price", 20, 20, nil, stop, 20, 20, 0, "", false, true},
		{"a short one without a price", -20, -20, nil, stop, -20, -20, 0, "", false, true},
	} {
		d := holds(t, c.known)
		symbol := d.tracker.Symbol(bitcoin)
		if symbol.position = c.position; c.with != nil {
			c.with(d)
		}
		if c.withoutRules {
			symbol.rules = nil
		}
		if c.noLast {
			symbol.last = 0
		}
		desired := &Desired{Strategy: d.tracker.Strategy("one"), Symbol: symbol, Protection: c.protection}
		have := fmt.Sprint(d.tracker.Closable(symbol), d.tracker.ToClose(symbol), d.tracker.StopLevel(desired), summary(d.tracker.ExitOf(desired, d.now)))
		if want := fmt.Sprint(c.held, c.all, c.level, c.exit); have != want {
			t.Errorf("%s: want held, all, stop and exit to be\n%s, have\n%s", c.name, want, have)
		}
	}
}

// An order is queried by id if it has an exchange id and either is missing from a list that was read or has been
// canceled.
func TestOrdersQueriedByID(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var rows []exchange.Order
	for orderID := int64(11); orderID <= 16; orderID++ {
		id := d.rests(placement.Order, orderID, buys)
		rows = append(rows, d.order(id, orderID, exchange.StatusOpen, 10, 0))
	}
	d.places(placement.Order, buys) // it has no id yet
	d.canceled(rows[2].ClientOrderID)
	coin := d.places(placement.Order, exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Quantity: 10})
	d.acknowledge(coin, 21)
	unread := func(market exchange.Market, open bool, orderID int64) UnreadOrder {
		return UnreadOrder{Market: market, Open: open, Row: exchange.UnreadableRow{ID: orderID, Symbol: "BTC-USDT"}}
	}
	none := exchange.FetchedOf[exchange.Order](nil)
	for _, c := range []struct {
		name     string
		snapshot Snapshot
		want     string
	}{
		{"no list was read", Snapshot{}, ""},
		{"all are shown", Snapshot{FuturesOrders: exchange.FetchedOf(rows)}, "13"},
		{"in another order", Snapshot{FuturesOrders: exchange.FetchedOf([]exchange.Order{rows[5], rows[3], rows[4], rows[0], rows[1], rows[2]})}, "13"},
		{"some are not", Snapshot{FuturesOrders: exchange.FetchedOf([]exchange.Order{rows[1], rows[4]})}, "11 13 14 16"},
		{"none is", Snapshot{FuturesOrders: none}, "11 12 13 14 15 16"},
		{"a row that cannot be read shows one open", Snapshot{FuturesOrders: exchange.FetchedOf(rows[1:]), UnreadOrders: []UnreadOrder{
			unread(exchange.Futures, true, 11)}}, "13"},
		{"it is of a history", Snapshot{FuturesOrders: exchange.FetchedOf(rows[1:]), UnreadOrders: []UnreadOrder{unread(exchange.Futures, false,
			11)}}, "11 13"},
		{"it is of spot", Snapshot{FuturesOrders: exchange.FetchedOf(rows[1:]), UnreadOrders: []UnreadOrder{unread(exchange.Spot, true, 11)}}, "11 13"},
		{"spot alone was read", Snapshot{SpotOrders: none}, "21"},
		{"both were", Snapshot{FuturesOrders: exchange.FetchedOf(rows), SpotOrders: none}, "13 21"},
	} {
		var have []string
		for _, p := range d.tracker.Vanished(&c.snapshot) {
			have = append(have, fmt.Sprint(p.OrderID()))
		}
		if strings.Join(have, " ") != c.want {
			t.Errorf("%s: want %s, have %v", c.name, c.want, have)
		}
	}
}

// A position that fills do not explain may be the result of a resting order that an old list still shows: it is read by id (seed 1103009537).
func TestOrderThatMayExplainAPositionIsQueriedByID(t *testing.T) {
	t.Parallel()
	for residual, want := range map[exchange.Quantity]int{0: 0, 4: 1, 20: 1, -4: 0} {
		explainingOrder(t, residual, want)
	}
}

func explainingOrder(t testing.TB, residual exchange.Quantity, want int) {
	d := newDesk(t)
	id := d.rests(placement.Order, 11, buys)
	d.tracker.Symbol(bitcoin).residual = residual
	rows := exchange.FetchedOf([]exchange.Order{d.order(id, 11, exchange.StatusOpen, 10, 0)})
	if have := d.tracker.Vanished(&Snapshot{FuturesOrders: rows}); len(have) != want {
		t.Errorf("a difference of %d: want %d orders read by id, have %d", residual, want, len(have))
	}
}

// Botd's own order becomes uncertain, and the filled quantity that the row shows is booked. A foreign row is an unknown order.
func TestUnreadableRowIsHandled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		purpose placement.Purpose
		open    bool
		row     exchange.UnreadableRow // its id 11 is botd's
		want    string                 // state, filled, foreign orders, whether anything is concluded
	}{
		{"its filled part neither", placement.Order, true, exchange.UnreadableRow{ID: 11}, "uncertain 0 0 true"},
		{"by the client order id", placement.Order, true, exchange.UnreadableRow{ClientOrderID: "own"}, "uncertain 0 0 true"},
		{"some is filled", placement.Order, true, exchange.UnreadableRow{ID: 11, Filled: 4, FilledRead: true}, "uncertain 4 0 true"},
		{"some seems filled, and cannot be read", placement.Order, true, exchange.UnreadableRow{ID: 11, Filled: 4}, "uncertain 0 0 true"},
		{"all is filled", placement.Order, true, exchange.UnreadableRow{ID: 11, Filled: 10, FilledRead: true}, "filled 10 0 true"},
		{"an open stop stands", placement.StopLoss, true, exchange.UnreadableRow{ID: 11}, "acknowledged 0 0 true"},
		{"an open profit stands", placement.TakeProfit, true, exchange.UnreadableRow{ID: 11}, "acknowledged 0 0 true"},
		{"a stop of a history", placement.StopLoss, false, exchange.UnreadableRow{ID: 11}, "uncertain 0 0 true"},
		{"a foreign one", placement.Order, true, exchange.UnreadableRow{ID: 99, ClientOrderID: "hand"}, "acknowledged 0 1 false"},
		{"a foreign one of a history", placement.Order, false, exchange.UnreadableRow{ID: 99, ClientOrderID: "hand"}, "acknowledged 0 0 false"},
		{"a foreign one of another symbol", placement.Order, true, exchange.UnreadableRow{ID: 99, Symbol: "DOGE-USDT"}, "acknowledged 0 0 false"},
	} {
		d := newDesk(t)
		d.observe(0, nil)
		order := closes
		if order.ReduceOnly = c.purpose != placement.Order; !order.ReduceOnly {
			order = buys
		}
		id := d.rests(c.purpose, 11, order)
		if c.row.ClientOrderID == "own" {
			c.row.ClientOrderID = id
		}
		if c.row.Symbol == "" {
			c.row.Symbol = "BTC-USDT"
		}
		s := &Snapshot{BeganMS: d.now, EndedMS: d.now, Before: d.positions(0), Positions: d.positions(0),
			FuturesOrders: exchange.FetchedOf[exchange.Order](nil),
			UnreadOrders:  []UnreadOrder{{Market: exchange.Futures, Open: c.open, Row: c.row}}}
		p := d.tracker.Placement(id)
		d.tracker.Observe(s)
		symbol := d.tracker.Symbol(bitcoin)
		have := fmt.Sprintf("%s %d %d %t", p.State(), p.Filled(), len(symbol.foreign), slices.Contains(s.Unread, bitcoin))
		if have != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
		}
		if shows := s.Shows(exchange.Futures, c.row.ID); shows != c.open || s.Shows(exchange.Spot, c.row.ID) || s.Shows(exchange.Futures, 5) {
			t.Errorf("%s: want it shown open %t, and no other, have %t", c.name, c.open, shows)
		}
		for i := range symbol.foreign {
			if o := symbol.foreign[i]; o.ID != 99 || o.ClientOrderID != "hand" || o.Key() != bitcoin || symbol.UnreadRow(&o) == nil ||
				symbol.UnreadRow(&exchange.Order{ID: 99}) != nil || symbol.UnreadRow(&exchange.Order{ClientOrderID: "hand"}) != nil {
				t.Errorf("%s: want it as an order that cannot be read, have %+v", c.name, o)
			}
			if held := d.tracker.ForeignOpening(symbol); held == nil || held.ID != 99 {
				t.Errorf("%s: want openings held back by it, have %v", c.name, held)
			}
		}
	}
}

// A person decides about a quarantined symbol: the records of adopt and of ignore.
func TestAdoptAndIgnoreRecords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		adopt    bool
		known    exchange.Quantity
		position exchange.Quantity
		order    exchange.Order // open, and not in the journal
		want     string
	}{
		{"the difference is botd's", true, 20, 25, exchange.Order{}, "adopted 5"},
		{"the difference is others'", false, 20, 25, exchange.Order{}, "ignored 5"},
		{"there is none", false, 20, 20, exchange.Order{}, "adopted 0"},
		{"less is left", false, 20, 15, exchange.Order{}, "adopted -5, ignored 0"},
		{"it is on the other side", false, 20, -5, exchange.Order{}, "adopted -20, ignored -5"},
		{"an order is botd's", true, 0, 0, exchange.Order{ID: 9, ClientOrderID: "bt-x-1", Side: exchange.Buy, Type: exchange.Limit, Quantity: 3, Price: 4e8},
			"found order 9 buy limit 3 at 4 as found, adopted 0"},
		{"an exit is botd's", true, 0, 0, exchange.Order{ID: 9, ClientOrderID: "bt-x-1", Side: exchange.Sell, Type: exchange.Limit, Quantity: 3,
			ClosePositionID: 7},
			"found exit_order 9 sell limit 3 reduceOnly as found, adopted 0"},
		{"a stop is botd's", true, 0, 0, exchange.Order{ID: 9, ClientOrderID: "bt-x-1", Side: exchange.Sell, Type: exchange.StopMarket, ClosePosition: true,
			StopPrice: 7e8}, "found stop_loss 9 sell stop_market stop 7 whole as found, adopted 0"},
		{"a profit is botd's", true, 0, 0, exchange.Order{ID: 9, ClientOrderID: "bt-x-1", Side: exchange.Sell, Type: exchange.TakeProfitMarket,
			ClosePosition: true}, "found take_profit 9 sell take_profit_market whole as found, adopted 0"},
		{"an order is others'", false, 0, 0, exchange.Order{ID: 9, ClientOrderID: "bt-x-1", Side: exchange.Buy}, "ignored order 9 0, adopted 0"},
		{"an order of a hand", true, 0, 0, exchange.Order{ID: 9, ClientOrderID: "hand", Side: exchange.Buy}, "adopted 0"},
	} {
		d := holds(t, c.known)
		d.tracker.instance = "t"
		symbol := d.tracker.Symbol(bitcoin)
		if symbol.position = c.position; c.order.ID != 0 {
			c.order.Market, c.order.Symbol = exchange.Futures, "BTC-USDT"
			symbol.foreign = []exchange.Order{c.order}
		}
		var have []string
		for _, r := range d.tracker.Resolve(bitcoin, c.adopt, "one", "a test") {
			if r.Symbol != bitcoin {
				t.Errorf("%s: want it about the symbol, have %+v", c.name, r)
			}
			have = append(have, message(&r))
		}
		if strings.Join(have, ", ") != c.want {
			t.Errorf("%s: want %s, have %v", c.name, c.want, have)
		}
	}
}

// message formats the records of a person's decision.
func message(r *record.Record) string {
	switch body := r.Body.(type) {
	case record.Adopted:
		return fmt.Sprintf("adopted %d", body.Quantity)
	case record.Ignored:
		if body.OrderID != 0 {
			return fmt.Sprintf("ignored order %d %d", body.OrderID, body.Quantity)
		}
		return fmt.Sprintf("ignored %d", body.Quantity)
	case record.Found:
		order := summary([]Intent{{Purpose: body.Purpose, Order: body.Order, Key: body.Key}})
		purpose, rest, _ := strings.Cut(order, " ")
		return fmt.Sprintf("found %s %d %s", purpose, body.OrderID, rest)
	}
	return fmt.Sprintf("%T", r.Body)
}

// The opening is booked together with its end, from a row of positions/history that can be its own.
func TestAnOpeningThatWasClosedBeforeAnyRead(t *testing.T) {
	t.Parallel()
	own := exchange.Position{ID: 9, Symbol: "BTC-USDT", Side: exchange.Long, Quantity: 10, Status: exchange.PositionClosed}
	for _, c := range []struct {
		name   string
		change func(p *exchange.Position, sentMS int64)
		state  placement.State
		filled exchange.Quantity
	}{
		{"its own", nil, placement.Filled, 10},
		{"in the second it was sent", func(p *exchange.Position, sentMS int64) { p.CreatedMS = sentMS - sentMS%1000 }, placement.Filled, 10},
		{"before that", func(p *exchange.Position, sentMS int64) { p.CreatedMS = sentMS - sentMS%1000 - 1 }, placement.Absent, 0},
		{"of a part", func(p *exchange.Position, _ int64) { p.Quantity = 4 }, placement.Canceled, 4},
		{"of more", func(p *exchange.Position, _ int64) { p.Quantity = 40 }, placement.Filled, 10},
		{"on the other side", func(p *exchange.Position, _ int64) { p.Side = exchange.Short }, placement.Absent, 0},
		{"of another symbol", func(p *exchange.Position, _ int64) { p.Symbol = "ETH-USDT" }, placement.Absent, 0},
		{"of one that was seen open", func(p *exchange.Position, _ int64) { p.ID = 7 }, placement.Absent, 0},
	} {
		d := holds(t, 20) // of position 7, which ends
		d.now += 60_000
		d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: -20}})
		d.observe(0, nil)
		d.now += 60_567
		id := d.places(placement.Entry, buys)
		d.uncertain(id)
		p := *d.tracker.Placement(id)
		row := own
		if row.CreatedMS = d.now; c.change != nil {
			c.change(&row, d.now)
		}
		d.now = p.Fence(testSettle) + 10_000
		var ended *record.Ended
		var adopted exchange.Quantity
		for range 8 {
			d.now += 1_000
			for _, r := range d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil),
				Before:    d.positions(0),
				Positions: d.positions(0), ClosedOf: []string{"BTC-USDT"}, Closed: []exchange.Position{row}}) {
				switch body := r.Body.(type) {
				case record.Ended:
					ended = &body
				case record.Adopted:
					adopted += body.Quantity
				}
			}
		}
		if ended == nil || ended.State != c.state || ended.Filled != c.filled || adopted != -c.filled || d.tracker.Symbol(bitcoin).Known() != 0 {
			t.Errorf("%s: want %s with %d filled, and as much closed, have %+v, %d closed", c.name, c.state, c.filled, ended, -adopted)
		}
	}
}

// The oldest uncertain order comes first. If the orders do not explain the residual, it needs manual resolution.
func TestResidualIsAttributedToUncertainOrders(t *testing.T) {
	t.Parallel()
	whole := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopMarket,
		ClosePosition: true, StopPrice: 1e8}
	for _, c := range []struct {
		name      string
		known     exchange.Quantity
		position  exchange.Quantity
		uncertain []exchange.NewOrder
		want      string // states and fills
	}{
		{"all of one", 0, 10, []exchange.NewOrder{buys}, "filled 10"},
		{"a part of one", 0, 4, []exchange.NewOrder{buys}, "canceled 4"},
		{"nothing of one", 0, 0, []exchange.NewOrder{buys}, "absent 0"},
		{"the first of two", 0, 10, []exchange.NewOrder{buys, buys}, "filled 10, absent 0"},
		{"one and a part", 0, 14, []exchange.NewOrder{buys, buys}, "filled 10, canceled 4"},
		{"more than one explains", 0, 11, []exchange.NewOrder{buys}, "quarantine"},
		{"on the other side", 0, -1, []exchange.NewOrder{buys}, "quarantine"},
		{"an exit of a part", 20, 10, []exchange.NewOrder{closes}, "filled 10"},
		{"of both sides the one that explains it", 20, 14, []exchange.NewOrder{buys, closes}, "absent 0, canceled 6"},
		{"one of the whole", 20, 14, []exchange.NewOrder{whole}, "filled 6"},
	} {
		d := holds(t, c.known)
		d.now += 60_000
		d.observe(c.known, nil)
		var all []*account.Placement
		for _, order := range c.uncertain {
			purpose := placement.Entry
			if order.Reduces() {
				purpose = placement.Exit
			}
			id := d.places(purpose, order)
			d.uncertain(id)
			all = append(all, d.tracker.Placement(id))
		}
		d.now = all[0].Fence(testSettle)
		for range 20 {
			d.now += 1_000
			d.observe(c.position, nil)
		}
		var have []string
		for _, p := range all {
			have = append(have, fmt.Sprintf("%s %d", p.State(), p.Filled()))
		}
		if d.tracker.Symbol(bitcoin).Quarantine() != "" {
			have = []string{"quarantine"}
		}
		if strings.Join(have, ", ") != c.want {
			t.Errorf("%s: want %s, have %v", c.name, c.want, have)
		}
	}
}
