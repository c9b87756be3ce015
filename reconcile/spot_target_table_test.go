package reconcile

import (
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// targets puts a plan in force with that target, next to resting orders and exits.
func (w *wallet) targets(quantity exchange.Quantity, change func(plan *strategy.Plan)) {
	plan := &strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: quantity}}
	if change != nil {
		change(plan)
	}
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, Body: record.Plan{Plan: plan}})
}

// derives returns what the plan needs at 50,000 and a collar of 5 %, with the pricing record applied.
func (w *wallet) derives(change func(*Desired)) []Intent {
	symbol := w.tracker.Symbol(coin)
	desired := &Desired{Strategy: w.tracker.Strategy("one"), Symbol: symbol, MayOpen: true, Equity: exchange.AmountOf(10_000), Interval: exchange.Minute1,
		Bridge: true, Collar: exchange.RateOne / 20}
	if change != nil {
		change(desired)
	}
	intents, priced := w.tracker.Derive(desired, w.now)
	if priced != nil {
		w.apply(*priced)
	}
	return intents
}

// stopped2 requests a stop two percent away.
func stopped2(w *Desired) {
	w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}
}

// refuses sends an order, which the exchange refuses.
func (w *wallet) refuses(purpose placement.Purpose, order exchange.NewOrder) {
	w.apply(record.Record{AtMS: w.now, ClientOrderID: w.places(purpose, 0, order).ClientOrderID, Body: record.Refused{Code: 7, Reason: "no"}})
}

// answersCancel applies the exchange's answer that an order has been canceled.
func (w *wallet) answersCancel(o exchange.Order) {
	o.Status = exchange.StatusCanceled
	w.tracker.NoteCancel(o.ClientOrderID, w.now)
	w.tracker.NoteReleased(o.ClientOrderID, &o, w.now)
}

// passed lets an exit rest for two seconds, because the price has passed its limit.
func (w *wallet) passed(quantity exchange.Quantity) {
	w.t.Helper()
	o := w.places(placement.Exit, 9, saleOf(quantity))
	frozen := w.tracker.Symbol(coin).rules.QuantityAmount(quantity)
	w.shows(exchange.MustAmount("1.01").Sub(frozen).String(), frozen.String(), o)
	w.now += 2_000
}

// The plan desires more since an exit was sent, which rests.
func passedExitRests(t testing.TB) {
	w, _ := protecting(t)
	w.targets(15, nil)
	w.derives(nil)
	w.passed(10)
	if have := canceled(w.derives(nil)); !slices.Equal(have, []int64{9}) {
		t.Errorf("want the exit canceled, have %v", have)
	}
}

// Ten are owned, next to a foreign holding of a thousand.
func TestSpotTargetIntents(t *testing.T) {
	t.Parallel()
	const (
		flat, smaller = "exit sell limit 10 at 47500: the target is flat", "exit sell limit 6 at 47500: the target is smaller"
		room          = "cancel 8: makes room for the exit"
		passed        = "cancel 9: it rests because the price has passed its limit"
		stop          = "stop_loss sell stop_limit 10 at 46550 stop 49000: protects the position"
	)
	quiet := func(w *wallet) { w.now += 60_000; w.shows("1.01", "0") }
	rests := func(w *wallet) {
		w.shows("1.006", "0.004", w.places(placement.ExitOrder, 9, exchange.NewOrder{Side: exchange.Sell, Type: exchange.Limit, Quantity: 4, Price: 60_000e8}))
	}
	stands := func(w *wallet) exchange.Order {
		o := w.places(placement.StopLoss, 8, stopOf(10))
		w.now += 60_000
		w.shows("1", "0.01", o)
		return o
	}
	until := func(afterMS int64, yields bool) func(w *wallet) func(*Desired) {
		return func(w *wallet) func(*Desired) {
			at := w.now + afterMS
			return func(d *Desired) {
				if d.ExitFromMS = at; yields {
					d.ExitFromMS, d.YieldMS = 0, at
				}
			}
		}
	}
	plain := func(w *wallet) func(*Desired) { return nil }
	withStop := func(w *wallet) func(*Desired) { return stopped2 }
	ask := strategy.DesiredOrder{Key: "a", Side: exchange.Sell, Price: 60_000e8, Quantity: 4}
	asks := func(plan *strategy.Plan) { plan.Exits, plan.ExitsSet = []strategy.DesiredOrder{ask}, true }
	for _, c := range []struct {
		name    string
		target  exchange.Quantity
		plan    func(plan *strategy.Plan)
		with    func(w *wallet)
		desired func(w *wallet) func(*Desired)
		want    string
	}{
		{"to nothing", 0, nil, quiet, plain, flat},
		{"to a part", 4, nil, quiet, plain, smaller},
		{"to as much", 10, nil, quiet, plain, ""},
		{"to more", 15, nil, quiet, plain, "entry buy market"},
		{"to one less", 9, nil, quiet, plain, "exit sell limit 1 at 47500: the target is smaller"},
		{"to as much, of which fees have taken two", 10, nil, func(w *wallet) {
			w.apply(record.Record{Symbol: coin, Body: record.Fees{Quantity: 2}})
			w.now += 60_000
			w.shows("1.008", "0")
		}, plain, ""},
		{"to a part, of which fees have taken two", 4, nil, func(w *wallet) {
			w.apply(record.Record{Symbol: coin, Body: record.Fees{Quantity: 2}})
			w.now += 60_000
			w.shows("1.008", "0")
		}, plain, smaller},
		{"to one, of which fees have taken two: no more than there is", 1, nil, func(w *wallet) {
			w.apply(record.Record{Symbol: coin, Body: record.Fees{Quantity: 2}})
			w.now += 60_000
			w.shows("1.008", "0")
		}, plain, "exit sell limit 8 at 47500: the target is smaller"},
		{"to one, of which fees have taken two, and the rest is too little to be sold: its stop stays", 1, nil, func(w *wallet) {
			w.apply(record.Record{Symbol: coin, Body: record.Fees{Quantity: 2}})
			stop := w.places(placement.StopLoss, 8, stopOf(8))
			w.now += 60_000
			w.shows("1", "0.008", stop)
			w.tracker.Symbol(coin).last = 100e8
		}, withStop, ""},
		{"to nine, of which fees have taken two, and the step has grown", 10, nil, func(w *wallet) {
			w.apply(record.Record{Symbol: coin, Body: record.Fees{Quantity: 2}})
			w.now += 60_000
			w.shows("1.008", "0")
			w.tracker.Symbol(coin).rules.QuantityTick = 2
			w.targets(9, nil)
		}, plain, ""},
		{"to a part, where an exit waits", 4, nil, quiet, until(1, false), ""},
		{"to a part, where it has waited", 4, nil, quiet, until(0, false), smaller},
		{"to a part, where another botd sells first", 4, nil, quiet, until(1, true), ""},
		{"to nothing, where an exit waits", 0, nil, quiet, until(1, false), ""},
		{"to nothing, where it has waited", 0, nil, quiet, until(0, false), flat},
		{"to a part, where a sale was refused", 4, nil, func(w *wallet) { quiet(w); w.refuses(placement.Exit, saleOf(6)) }, plain, ""},
		{"to nothing, where a sale was refused", 0, nil, func(w *wallet) { quiet(w); w.refuses(placement.Exit, saleOf(6)) }, plain, ""},
		{"to a part, where somebody took a stop off", 4, nil, func(w *wallet) { quiet(w); w.tracker.Symbol(coin).spot.cancelRefusedMS = w.now }, plain, ""},
		{"to nothing, where somebody took a stop off", 0, nil, func(w *wallet) { quiet(w); w.tracker.Symbol(coin).spot.cancelRefusedMS = w.now }, plain, ""},
		{"to nothing, while it is not traded", 0, nil, func(w *wallet) { quiet(w); w.tracker.Symbol(coin).rules.Tradable = false }, plain, flat},
		{"to nothing, while it is not traded, and a stop stands", 0, nil, func(w *wallet) { stands(w); w.tracker.Symbol(coin).rules.Tradable = false },
			withStop, ""},
		{"to nothing, and a stop holds it", 0, nil, func(w *wallet) { stands(w) }, withStop, room},
		{"to nothing, its cancel answered half a second ago", 0, nil, func(w *wallet) { o := stands(w); w.answersCancel(o); w.now += 500 }, withStop, ""},
		{"to nothing, its cancel answered a second ago", 0, nil, func(w *wallet) { o := stands(w); w.answersCancel(o); w.now += 1_000 }, withStop, flat},
		{"to nothing, and an old wallet freezes what no order holds", 0, nil, func(w *wallet) {
			w.now += 60_000
			w.shows("0", "1.01")
			w.tracker.Symbol(coin).spot.walletInconclusive = true
		}, withStop, flat},
		{"to nothing, and nothing is free yet in a wallet that may be old", 0, nil, func(w *wallet) {
			w.now += 60_000
			w.shows("0", "1.01")
			w.tracker.Symbol(coin).spot.walletInconclusive = true
			w.refuses(placement.Exit, saleOf(10))
			w.now += confirmMS / 2
		}, withStop, stop},
		{"to one less, and a stop holds it", 9, nil, func(w *wallet) { stands(w) }, withStop, room},
		{"to a part, and a stop holds it", 4, nil, func(w *wallet) { stands(w) }, withStop, room},
		{"to a part, its cancel answered half a second ago", 4, nil, func(w *wallet) { o := stands(w); w.answersCancel(o); w.now += 500 }, withStop,
			"stop_loss sell stop_limit 4 at 46550 stop 49000: protects the position"},
		{"to a part, its cancel answered a second ago", 4, nil, func(w *wallet) { o := stands(w); w.answersCancel(o); w.now += 1_000 }, withStop,
			smaller + "; stop_loss sell stop_limit 4 at 46550 stop 49000: protects the position"},
		{"to nothing, and a resting exit holds some", 0, asks, rests, plain, "cancel 9: makes room for the exit"},
		{"to nothing, and a resting purchase holds none", 0, nil, func(w *wallet) {
			w.shows("1.01", "0", w.buysUnder(9, 4))
		}, plain, flat + "; cancel 9: no longer desired"},
		{"to a part, and a resting exit holds some", 4, asks, rests, plain, "cancel 9: makes room for the exit"},
		{"to nothing, and an exit rests since the price has passed it", 0, nil, func(w *wallet) { w.passed(10) }, plain, passed},
		{"to more, and an exit of before rests", 15, nil, func(w *wallet) { w.passed(10) }, plain, passed},
		{"to a part, and an exit of it rests", 4, nil, func(w *wallet) { w.passed(6) }, plain, passed},
		{"to nothing, an exit of half rests, and nothing more can be sold", 0, nil, func(w *wallet) {
			w.passed(5)
			w.tracker.Symbol(coin).last = 100e8
		}, plain, passed},
		{"to nothing, in a quarantine, while only the wallet can be read", 0, nil, func(w *wallet) {
			w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Quarantined{Reason: "a test"}})
			w.now += 60_000
			w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, Unread: []exchange.SymbolKey{{Market: exchange.Spot}},
				Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount("1.004")}})})
		}, func(*wallet) func(*Desired) { return func(d *Desired) { d.Unread = true } }, "exit sell limit 4 at 47500: the target is flat"},
		{"no resting exit is placed while a part is sold", 4, asks, quiet, plain, smaller},
		{"nor while the whole is", 0, asks, quiet, plain, flat},
		{"a resting exit stands beside a part that is being sold", 4, asks, func(w *wallet) {
			w.shows("1.004", "0.006", w.places(placement.Exit, 9, saleOf(6)))
		}, plain, "exit_order sell limit 4 at 60000 as a"},
		{"no resting exit where a stop is to hold all of it", 10, asks, quiet, withStop, stop},
		{"too little to be sold: a stop that stands stays", 0, nil, func(w *wallet) { stands(w); w.tracker.Symbol(coin).last = 100e8 }, withStop, ""},
		{"too little to be sold: the plan's exits go on", 0, asks, func(w *wallet) { quiet(w); w.tracker.Symbol(coin).last = 100e8 }, plain,
			"exit_order sell limit 4 at 60000 as a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, _ := protecting(t)
			w.targets(c.target, c.plan)
			w.derives(nil) // the target is priced
			c.with(w)
			if have := summary(w.derives(c.desired(w))); have != c.want {
				t.Errorf("want %q\nhave %q", c.want, have)
			}
		})
	}
}

// The stops of the other botd's holding stay.
func TestStandingDownExitCancelsOnlyNeededStops(t *testing.T) {
	t.Parallel()
	w, _ := protecting(t)
	own, more := w.places(placement.StopLoss, 8, stopOf(10)), w.places(placement.StopLoss, 9, stopOf(7))
	bought := anothers(elders+"1", 40, exchange.Buy, exchange.MarketOrder, 7, 7, w.now)
	w.targets(0, nil)
	for range 3 {
		w.now += 1_000
		w.sees("1", "0.017", []exchange.Order{bought}, own, more)
	}
	if have := summary(w.derives(stopped2)); have != "cancel 8: makes room for the exit" {
		t.Errorf("want the stop of ten taken off alone, have %q", have)
	}
	w.answersCancel(own)
	w.now += 1_000
	w.sees("1.01", "0.007", []exchange.Order{bought}, more)
	if have := summary(w.derives(stopped2)); !strings.HasPrefix(have, "exit sell limit 10 at 47500: the target is flat") {
		t.Errorf("want its ten sold, have %q", have)
	}
}

// The closable holding is what the fills explain; in a quarantine the kill switch closes what the wallet shows of it. While botd stands
// down it is the holding of both, as far as the wallet shows it, less what the other one's orders sell.
func TestClosableSpotHolding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		baseBalance exchange.Quantity
		with        func(w *wallet)
		held, all   exchange.Quantity
	}{
		{"all of it is there", 1_010, nil, 10, 10},
		{"the wallet shows less", 1_004, nil, 10, 10},
		{"in a quarantine", 1_010, quarantined("a test"), 10, 10},
		{"in a quarantine the wallet shows less", 1_004, quarantined("a test"), 10, 4},
		{"another botd trades", 1_010, func(w *wallet) { w.tracker.Symbol(coin).unknownEnded = elders + "1" }, 10, 10},
		{"another botd trades, and the wallet shows less", 1_004, func(w *wallet) { w.tracker.Symbol(coin).unknownEnded = elders + "1" }, 4, 4},
		{"another botd trades, and its orders sell some", 1_010, func(w *wallet) {
			w.tracker.Symbol(coin).unknownEnded = elders + "1"
			w.sellsUnlisted(3)
		}, 7, 7},
		{"orders of another journal sell some", 1_010, func(w *wallet) { w.sellsUnlisted(3) }, 7, 7},
		{"they sell more", 1_010, func(w *wallet) { w.sellsUnlisted(13) }, 0, 0},
	} {
		w := explains(t, 10, 0)
		w.reads(c.baseBalance, 0)
		symbol := w.tracker.Symbol(coin)
		symbol.position, symbol.spot.baseBalance = symbol.heldOnSpot(), c.baseBalance
		if c.with != nil {
			c.with(w)
		}
		if held, all := w.tracker.Closable(symbol), w.tracker.ToClose(symbol); held != c.held || all != c.all {
			t.Errorf("%s: want %d to be closed and %d by the kill switch, have %d and %d", c.name, c.held, c.all, held, all)
		}
	}
}
