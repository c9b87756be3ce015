package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

var bid = strategy.DesiredOrder{Key: "b", Side: exchange.Buy, Price: 40_000e8, Quantity: 10}

// The leverage is set before anything opens. With a position or orders, openings wait for the leverage, and the leverage waits for a
// settled moment.
func TestLeverageIsSetBeforeOpenings(t *testing.T) {
	t.Parallel()
	set := summary([]Intent{{Purpose: placement.Leverage, Leverage: 5, Reason: "the desired leverage"}})
	five := func(w *Desired) { w.Leverage = 5 }
	target := func(quantity exchange.Quantity) *strategy.Plan {
		return &strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: quantity}}
	}
	bids := &strategy.Plan{OrdersSet: true, Orders: []strategy.DesiredOrder{bid}}
	const flat = "exit sell market 20 reduceOnly: the target is flat"
	for _, c := range []struct {
		name    string
		held    exchange.Quantity
		plan    *strategy.Plan
		with    func(d *desk)
		desired func(*Desired)
		want    string
	}{
		{"before an entry", 0, target(20), nil, five, set},
		{"before a resting order", 0, bids, nil, five, set},
		{"it is the one wanted", 0, target(20), nil, nil, "entry buy market 20"},
		{"none is wanted", 0, target(20), nil, func(w *Desired) { w.Leverage = 0 }, "entry buy market 20"},
		{"nothing may open", 0, target(20), nil, func(w *Desired) { w.Leverage, w.MayOpen = 5, false }, ""},
		{"nothing is to open", 0, target(0), nil, five, ""},
		{"beside a position, which is closed all the same", 20, target(0), nil, five, flat},
		{"beside a position that is to grow", 20, target(25), nil, five, set},
		{"beside a position, while something is uncertain", 20, target(25), func(d *desk) { d.uncertain(d.places(placement.ExitOrder, offers)) }, five, ""},
		{"beside a position that is not settled", 20, target(25), func(d *desk) { d.tracker.Symbol(bitcoin).settled = false }, five, ""},
		{"beside a resting order", 0, bids, func(d *desk) {
			d.rests(placement.Order, 12, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: bid.Price, Quantity: 10})
			d.tracker.Symbol(bitcoin).settled = true
		}, five, "cancel 12: no longer desired; " + set},
	} {
		d := holds(t, c.held)
		d.want(c.plan)
		d.tracker.Symbol(bitcoin).leverage = 10
		if c.with != nil {
			c.with(d)
		}
		if have := summary(d.derive(c.desired)); have != c.want && have != reversed(c.want) {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
	w := explains(t, 0, 0)
	w.apply(record.Record{Strategy: "one", Symbol: coin, Body: record.Plan{Plan: target(10)}})
	d := w.deriving(func(desired *Desired) { desired.Leverage, desired.MayOpen = 5, true })
	d.plan = d.desired.Strategy.Plan()
	if first := d.setLeverage(); first || len(d.intents) != 0 {
		t.Errorf("want no leverage on spot, have %t, %+v", first, d.intents)
	}
}

// reversed returns two intents in the other order.
func reversed(text string) string {
	for i := 0; i+1 < len(text); i++ {
		if text[i:i+2] == "; " {
			return text[i+2:] + "; " + text[:i]
		}
	}
	return text
}

// The plan's orders rest at their prices, for the quantity that has not filled yet.
func TestRestingOrdersOfPlan(t *testing.T) {
	t.Parallel()
	const places = "order buy limit 10 at 40000 as b"
	change := func(change func(o *strategy.DesiredOrder)) []strategy.DesiredOrder {
		o := bid
		change(&o)
		return []strategy.DesiredOrder{o}
	}
	rests := func(filled exchange.Quantity) func(d *desk) {
		return func(d *desk) {
			id := d.send(Intent{Purpose: placement.Order, Key: "b", Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy,
				Type: exchange.Limit, Price: bid.Price, Quantity: 10}})
			d.acknowledge(id, 12)
			if filled != 0 {
				d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Fill{OrderID: 12, Filled: filled}})
				d.observe(filled, nil, d.order(id, 12, exchange.StatusOpen, 10, filled))
			}
		}
	}
	refused := func(agoMS int64) func(d *desk) {
		return func(d *desk) {
			d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: d.send(Intent{Purpose: placement.Order, Key: "b", Order: exchange.NewOrder{
				Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Price: bid.Price, Quantity: 10}}),
				Strategy: "one", Symbol: bitcoin, Body: record.Refused{Reason: "no"}})
			d.now += agoMS
			d.observe(0, nil)
		}
	}
	for _, c := range []struct {
		name    string
		orders  []strategy.DesiredOrder
		with    func(d *desk)
		desired func(*Desired)
		want    string
	}{
		{"one that is not there", []strategy.DesiredOrder{bid}, nil, nil, places},
		{"one that is passive", change(func(o *strategy.DesiredOrder) { o.PostOnly = true }), nil, nil, "order buy limit 10 at 40000 postOnly as b"},
		{"a stop order, which cannot be passive",
			change(func(o *strategy.DesiredOrder) { o.PostOnly, o.StopPrice, o.Price = true, 51_000e8, 52_000e8 }), nil, nil,
			"order buy stop_limit 10 at 52000 stop 51000 as b"},
		{"one that is worth an order", change(func(o *strategy.DesiredOrder) { o.Quantity, o.Price = 1, 5_000e8 }), nil, nil, "order buy limit 1 at 5000 as b"},
		{"one that is worth less", change(func(o *strategy.DesiredOrder) { o.Quantity, o.Price = 1, 4_999e8 }), nil, nil, ""},
		{"one of nothing", change(func(o *strategy.DesiredOrder) { o.Quantity = 0 }), nil, nil, ""},
		{"nothing may open", []strategy.DesiredOrder{bid}, nil, func(w *Desired) { w.MayOpen = false }, ""},
		{"something is uncertain", []strategy.DesiredOrder{bid}, func(d *desk) { d.uncertain(d.places(placement.ExitOrder, offers)) }, nil, ""},
		{"it rests", []strategy.DesiredOrder{bid}, rests(0), nil, ""},
		{"it rests, and has filled in part", []strategy.DesiredOrder{bid}, rests(4), nil, ""},
		{"it is to be smaller than what is left", change(func(o *strategy.DesiredOrder) { o.Quantity = 9 }), rests(0), nil, "cancel 12: no longer desired"},
		{"it is to be smaller than what is left of a part", change(func(o *strategy.DesiredOrder) { o.Quantity = 9 }), rests(4), nil,
			"cancel 12: no longer desired"},
		{"at another price", change(func(o *strategy.DesiredOrder) { o.Price = 40_001e8 }), rests(0), nil, "cancel 12: no longer desired"},
		{"under another key", change(func(o *strategy.DesiredOrder) { o.Key = "c" }), rests(0), nil, "cancel 12: no longer desired"},
		{"none", nil, rests(0), nil, "cancel 12: no longer desired"},
		{"it was refused five seconds ago", []strategy.DesiredOrder{bid}, refused(5_000), nil, places},
		{"it was refused a moment ago", []strategy.DesiredOrder{bid}, refused(4_999), nil, ""},
		{"something is uncertain for a minute after its fence", []strategy.DesiredOrder{bid}, func(d *desk) {
			rests(0)(d)
			d.uncertain(d.places(placement.ExitOrder, offers))
			d.now += 5_000 + 7_000 + 60_001
		}, nil, "cancel 12: canceled for a stable snapshot: it keeps filling"},
		{"something is uncertain for less", []strategy.DesiredOrder{bid}, func(d *desk) {
			rests(0)(d)
			d.uncertain(d.places(placement.ExitOrder, offers))
			d.now += 5_000 + 7_000 + 60_000
		}, nil, ""},
		{"a person withdrew it", []strategy.DesiredOrder{bid}, func(d *desk) {
			rests(0)(d)
			d.tracker.Apply(&record.Record{ClientOrderID: d.tracker.LiveAt(0).ClientOrderID(), Body: record.Withdrawn{Reason: "a test"}})
		}, nil, "cancel 12: withdrawn by a person: a test"},
	} {
		d := holds(t, 0)
		d.want(&strategy.Plan{OrdersSet: true, Orders: c.orders})
		if c.with != nil {
			c.with(d)
		}
		if have := summary(d.derive(c.desired)); have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
}

// The position is twenty. A resting exit covers what no other exit covers and what the exchange's sum leaves
// room for.
func TestRestingExitQuantity(t *testing.T) {
	t.Parallel()
	exit := strategy.DesiredOrder{Key: "x", Side: exchange.Sell, Price: 60_000e8, Quantity: 50}
	second := strategy.DesiredOrder{Key: "y", Side: exchange.Sell, Price: 61_000e8, Quantity: 50}
	small := exit
	small.Quantity = 7
	for _, c := range []struct {
		name    string
		exits   []strategy.DesiredOrder
		with    func(d *desk)
		desired func(*Desired)
		want    string
	}{
		{"of all", []strategy.DesiredOrder{exit}, nil, nil, "exit_order sell limit 20 at 60000 reduceOnly as x"},
		{"of a part, and of the rest", []strategy.DesiredOrder{small, second}, nil, nil,
			"exit_order sell limit 7 at 60000 reduceOnly as x; exit_order sell limit 13 at 61000 reduceOnly as y"},
		{"of all, and of nothing", []strategy.DesiredOrder{exit, second}, nil, nil, "exit_order sell limit 20 at 60000 reduceOnly as x"},
		{"beside one that rests", []strategy.DesiredOrder{exit, second}, func(d *desk) {
			d.acknowledge(d.send(Intent{Purpose: placement.ExitOrder, Key: "x", Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT",
				Side: exchange.Sell, Type: exchange.Limit, Price: exit.Price, Quantity: 15, ReduceOnly: true}}), 12)
		}, nil, "exit_order sell limit 5 at 61000 reduceOnly as y"},
		{"beside a foreign one that reduces", []strategy.DesiredOrder{exit}, func(d *desk) {
			d.observe(20, nil, exchange.Order{ID: 99, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.Limit, Quantity: 8,
				ClosePositionID: 7, Status: exchange.StatusOpen})
		}, nil, "exit_order sell limit 12 at 60000 reduceOnly as x"},
		{"beside a foreign one that opens", []strategy.DesiredOrder{exit}, func(d *desk) {
			d.observe(20, nil, exchange.Order{ID: 99, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Quantity: 8,
				Status: exchange.StatusOpen})
		}, nil, "exit_order sell limit 20 at 60000 reduceOnly as x"},
		{"beside a stop of the whole", []strategy.DesiredOrder{exit}, func(d *desk) { d.whole(placement.StopLoss, 12, exchange.Sell, "49000") },
			func(w *Desired) { w.ExitsOnly = true }, "exit_order sell limit 20 at 60000 reduceOnly as x"},
		{"it is left to another botd until then", []strategy.DesiredOrder{exit}, nil, func(w *Desired) { w.YieldMS = 1 << 60 }, ""},
		{"it was left until now", []strategy.DesiredOrder{exit}, nil, func(w *Desired) { w.YieldMS = 1_000_000 },
			"exit_order sell limit 20 at 60000 reduceOnly as x"},
		{"where nothing may open", []strategy.DesiredOrder{exit}, nil, func(w *Desired) { w.MayOpen = false },
			"exit_order sell limit 20 at 60000 reduceOnly as x"},
	} {
		d := holds(t, 20)
		d.want(&strategy.Plan{ExitsSet: true, Exits: c.exits})
		d.now = 1_000_000
		if c.with != nil {
			c.with(d)
		}
		if have := summary(d.derive(c.desired)); have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
}

// Without rules, a price and a read since the start nothing is derived. On spot, a wallet is enough for exits while
// the market cannot be read completely.
func TestDeriveWaitsForSymbolState(t *testing.T) {
	t.Parallel()
	unread := func(w *Desired) { w.Unread = true }
	for _, c := range []struct {
		name    string
		state   func(s *SymbolState)
		desired func(*Desired)
		want    bool
	}{
		{"all is known", func(*SymbolState) {}, nil, true},
		{"it was not read", func(s *SymbolState) { s.read = false }, nil, false},
		{"the wallet was read alone", func(s *SymbolState) { s.read, s.walletOnlyRead = false, true }, nil, false},
		{"the wallet was read alone, and its market cannot be read", func(s *SymbolState) { s.read, s.walletOnlyRead = false, true }, unread, true},
		{"its market cannot be read", func(s *SymbolState) { s.read = false }, unread, false},
		{"no rules", func(s *SymbolState) { s.rules = nil }, nil, false},
		{"no price", func(s *SymbolState) { s.last = 0 }, nil, false},
	} {
		d := holds(t, 20)
		d.target(0)
		c.state(d.tracker.Symbol(bitcoin))
		if have := len(d.derive(c.desired)) != 0; have != c.want {
			t.Errorf("%s: want an exit %t, have %t", c.name, c.want, have)
		}
	}
}

// Existing protection stays while there is, or may be, a position.
func TestProtectionStaysWhileOnlyExitsAreAllowed(t *testing.T) {
	t.Parallel()
	protect := func(w *Desired) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}}
		w.ExitsOnly = true
	}
	for _, c := range []struct {
		name string
		held exchange.Quantity
		with func(s *SymbolState)
		want string
	}{
		{"a position", 20, nil, ""},
		{"one that the list does not show", 20, func(s *SymbolState) { s.position = 0 }, ""},
		{"one that no fill explains", 0, func(s *SymbolState) { s.position = 20 }, ""},
		{"what a purchase is inferred to have bought", 0, func(s *SymbolState) { s.spot.unlisted.inferred = 5 }, ""},
		{"nothing", 0, nil, "cancel 12: there is no position to protect"},
	} {
		d := holds(t, c.held)
		d.want(&strategy.Plan{})
		d.whole(placement.StopLoss, 12, exchange.Sell, "40000")
		if c.with != nil {
			c.with(d.tracker.Symbol(bitcoin))
		}
		if have := summary(d.derive(protect)); have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
}

// Equal snapshots for three seconds decide, the first of them begun after the fence, provided nothing else could be the reason.
func TestUncertainPlacementIsDecided(t *testing.T) {
	t.Parallel()
	const fenceMS = 1_000_000 + 5_000 + 7_000 // the opening was sent at 1,000 s
	type situation struct {
		d      *desk
		s      *survey
		symbol *SymbolState
	}
	lasts := func(forMS int64) func(*situation) { return func(at *situation) { at.symbol.equal.forMS = forMS } }
	for _, c := range []struct {
		name  string
		shown exchange.Quantity
		nowMS int64
		with  func(at *situation)
		want  string // how the opening ended; empty if it has not ended
		began bool   // whether equal snapshots are being counted
	}{
		{"three seconds", 10, fenceMS, lasts(2_000), "filled", false},
		{"less", 10, fenceMS, lasts(1_999), "", true},
		{"the first of them", 10, fenceMS, func(at *situation) { at.symbol.equal = persistence{} }, "", true},
		{"before the fence", 10, fenceMS - 1, lasts(9_000), "", false},
		{"without the open list", 10, fenceMS, func(at *situation) { at.s.fetched.FuturesOrders = exchange.Fetched[exchange.Order]{} }, "", false},
		{"with one list of positions", 10, fenceMS, func(at *situation) { at.s.fetched.Before = exchange.Fetched[exchange.Position]{} }, "", false},
		{"L after a fill", 10, fenceMS, func(at *situation) {
			id := at.d.rests(placement.Order, 30, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: 1e8, Quantity: 3})
			at.d.tracker.Apply(&record.Record{AtMS: fenceMS - 999, ClientOrderID: id, Body: record.Ended{OrderID: 30, State: placement.Canceled, Filled: 1}})
			at.symbol.residual, at.symbol.stable = 9, stable{known: 1, residual: 9, positionID: 7}
		}, "", false},
		{"an order that no list has shown", 10, fenceMS, func(at *situation) {
			at.d.rests(placement.Order, 30, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: 1e8, Quantity: 3})
		}, "", false},
		{"an order that is not answered", 10, fenceMS, func(at *situation) { at.d.places(placement.Order, buys) }, "", false},
		{"one of another symbol", 10, fenceMS, func(at *situation) { at.d.places(placement.Order, ethers) }, "filled", false},
		{"another figure", 10, fenceMS, func(at *situation) { at.symbol.stable.residual = 9 }, "", true},
		{"another position", 10, fenceMS, func(at *situation) { at.symbol.stable.positionID = 8 }, "", true},
		{"a part of it", 4, fenceMS, func(at *situation) { at.symbol.stable.residual = 4 }, "canceled", false},
		{"none of it, and positions/history shows none", 0, fenceMS, func(at *situation) { at.s.fetched.ClosedOf = []string{"BTC-USDT"} }, "absent", false},
		{"none of it, and positions/history was not read", 0, fenceMS, nil, "", true},
		{"none of it, and a stop stands that was placed since", 0, fenceMS, func(at *situation) {
			at.s.fetched.ClosedOf = []string{"BTC-USDT"}
			id := at.d.whole(placement.StopLoss, 30, exchange.Sell, "49000")
			at.d.tracker.Apply(&record.Record{AtMS: 1, ClientOrderID: id, Body: record.Fill{OrderID: 30}}) // a list has shown it
		}, "", true},
		{"more than it explains: a person must look", 15, fenceMS, func(at *situation) { at.symbol.stable.residual = 15 }, "", false},
	} {
		d := newDesk(t)
		d.observe(0, nil)
		opening := d.places(placement.Entry, buys)
		d.uncertain(opening)
		d.now = c.nowMS
		symbol := d.tracker.Symbol(bitcoin)
		s := d.shows(symbol, c.shown)
		if c.shown == 0 {
			symbol.positionID = 0
		}
		symbol.stable = stable{residual: symbol.residual, positionID: symbol.positionID}
		symbol.equal = persistence{sinceMS: 1, lastMS: d.now - 1_000, forMS: 2_000}
		if c.with != nil {
			c.with(&situation{d, s, symbol})
		}
		s.uncertainOrders().decideUncertain(symbol, d.tracker.uncertainOn(bitcoin))
		have := ""
		for _, r := range s.records {
			if body, is := r.Body.(record.Ended); is && r.ClientOrderID == opening {
				have = body.State.String()
			}
		}
		if have != c.want || (symbol.equal.sinceMS != 0) != c.began {
			t.Errorf("%s: want %q, counted %t, have %q, %+v", c.name, c.want, c.began, have, symbol.equal)
		}
		if quarantined := symbol.Quarantine() != ""; quarantined != (c.shown == 15) {
			t.Errorf("%s: want a person asked %t, have %q", c.name, c.shown == 15, symbol.Quarantine())
		}
	}
}
