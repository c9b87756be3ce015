package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

func TestRemovalWithPositionNeedsPolicy(t *testing.T) {
	t.Parallel()
	w := standing(t)
	w.wantRefused(
		"one cannot be removed: it has a position of 0.01 in futures BTC-USDT (run botd strategy flatten one",
		Reload{Limits: &risk.Limits{MaxOpenOrders: 1}, Removed: []string{"one"},
			Strategies: []*StrategyConfig{w.another("two", ether, hold(1))}},
	)
	w.pass(20_000)
	w.wantHeld(10)
	w.wantOpen(3)
	w.reload(func(_ *strategy.View, plan *strategy.Plan) { plan.Hold(strategy.Flat(), "leaves") })
	w.give(&EventWake{})
	w.pass(60_000)
	w.wantHeld(0)
	w.change(Reload{Removed: []string{"one"}})
	w.pass(60_000)
	if have := w.names(); len(have) > 0 {
		t.Errorf("want it gone, have %v", have)
	}
	w.wantOpen(0)
	w.wantSound()
}

// When a removed strategy returns, it does not start with the plan from before its removal.
func TestReturnedStrategyStartsWithoutOldPlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10))
	w.pass(5_000)
	w.halt(record.LevelFlatten, account.Scope{Strategy: "one"})
	w.pass(20_000)
	w.wantHeld(0)
	w.change(Reload{Removed: []string{"one"}})
	w.pass(5_000)
	config := w.config.Strategies[0]
	config.Schedule = each(120_000)
	w.change(Reload{Strategies: []*StrategyConfig{&config}})
	w.halt(record.LevelNone, account.Scope{Strategy: "one"})
	w.pass(20_000)
	w.wantHeld(0)
	w.pass(120_000)
	w.wantHeld(10)
	w.wantSound()
}

// The last trades of a removed strategy are booked, even if botd restarts meanwhile: a strategy that is no
// longer configured is not forgotten before the ledger is complete.
func TestLedgerAwaitsLastTradesOfRemovedStrategy(t *testing.T) {
	t.Parallel()
	for _, restarts := range []bool{false, true} {
		t.Run(fmt.Sprintf("restarts=%t", restarts), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, hold(10), withLedger)
			w.pass(60_000)
			w.halt(record.LevelFlatten, account.Scope{Strategy: "one"})
			for range 100 {
				if w.pass(100); w.engine.roster.removalObstacle(w.engine.legs[0]) == "" {
					break
				}
			}
			w.wantHeld(0)
			if !w.ledger().Awaits(bitcoin) {
				t.Fatal("want an exit that is not booked yet")
			}
			w.change(Reload{Removed: []string{"one"}})
			if restarts {
				have := w.engine.Tracker().Orphans(func(string, exchange.SymbolKey) bool { return false })
				if want := []account.Orphan{{Strategy: "one", Symbol: bitcoin}}; !slices.Equal(have, want) {
					t.Fatalf("to be known at a start: want %v, have %v", want, have)
				}
				w.config.Strategies = []StrategyConfig{
					{Name: "one", Symbol: w.config.Strategies[0].Symbol, Interval: exchange.Minute1, Removed: true},
				}
				w.start()
			}
			w.pass(60_000)
			if w.ledger().Awaits(bitcoin) {
				t.Errorf("want all booked, have\n%s", w.postings())
			}
			w.wantFutures()
			w.wantSum(ledger.Unexplained, exchange.Futures, "USDT", exchange.Amount{})
			if have := w.engine.Tracker().Orphans(func(string, exchange.SymbolKey) bool { return false }); len(have) > 0 {
				t.Errorf("want nothing to be known at a start, have %v", have)
			}
			if have := w.names(); len(have) > 0 {
				t.Errorf("want it gone when all is booked, have %v", have)
			}
		})
	}
}

// A reading that the exchange's history did not complete is repeated soon, not after the idle time, and the
// strategy ends with the answer that completes it.
func TestRemovedStrategyEndsAfterItsLastTrade(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10), withLedger)
	w.pass(60_000)
	w.halt(record.LevelFlatten, account.Scope{Strategy: "one"})
	hidden := w.now + 10_000
	w.mirror = func(answer *exchange.Answer) {
		if w.now < hidden && answer.Positions.Done() {
			answer.Positions = exchange.FetchedOf(slices.DeleteFunc(slices.Clone(answer.Positions.Items()),
				func(p exchange.Position) bool { return p.Remaining == 0 }))
		}
	}
	w.pass(5_000)
	w.wantHeld(0)
	w.change(Reload{Removed: []string{"one"}})
	w.pass(4_000)
	if !w.ledger().Awaits(bitcoin) {
		t.Fatal("want an exit that is not booked yet")
	}
	w.pass(5_000)
	if have := w.names(); len(have) > 0 {
		t.Errorf("want it removed within 4 s of the history showing its end, have %v", have)
	}
}

func TestRemovedStrategyFollowsOnRemove(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"flatten", "leave"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			w := standing(t)
			config := w.config.Strategies[0]
			config.OnRemove = way // the changed setting counts as a reload, too
			w.change(Reload{Strategies: []*StrategyConfig{&config}})
			w.pass(5_000)
			w.change(Reload{Removed: []string{"one"}})
			w.pass(30_000)
			removed := w.config
			removed.Strategies = []StrategyConfig{{Name: "one", Symbol: config.Symbol, Interval: exchange.Minute1, Removed: true}}
			if way == "flatten" {
				w.wantHeld(0)
				w.wantOpen(0)
				w.wantSound()
				if have := w.names(); len(have) > 0 {
					t.Errorf("want it gone when it is wound up, have %v", have)
				}
				w.change(Reload{Strategies: []*StrategyConfig{w.another("two", bitcoin, hold(5))}})
				w.pass(20_000)
				w.wantHeld(5)
				w.wantSound()
				return
			}
			w.wantHeld(10)
			w.wantOpen(3)
			if d := w.wantState("halted"); d.Scope.Symbol != bitcoin || !strings.Contains(d.Cause, "removed") {
				t.Errorf("want the symbol halted, have %+v", d)
			}
			w.wantRefused("one and two both trade futures BTC-USDT", Reload{Strategies: []*StrategyConfig{w.another("two", bitcoin, hold(5))}})
			before := w.config
			w.config = removed
			w.start() // a restart agrees
			w.pass(20_000)
			w.wantHeld(10)
			w.wantOpen(3)
			w.config = before
			w.change(Reload{Strategies: []*StrategyConfig{&config}})
			w.halt(record.LevelNone, account.Scope{Symbol: bitcoin})
			w.pass(20_000)
			w.wantHeld(10)
			w.wantOpen(3)
			w.wantSound()
		})
	}
}

// The strategy's former plan would immediately buy what its removal has closed.
func TestReturnedStrategyDecidesBeforeOpening(t *testing.T) {
	t.Parallel()
	comesBack(t)
}

func comesBack(t testing.TB) {
	w := newWorld(t, hold(20))
	config := w.config.Strategies[0]
	config.OnRemove = removeFlatten
	w.pass(10_000)
	w.change(Reload{Strategies: []*StrategyConfig{&config}})
	w.pass(5_000)
	w.wantHeld(20)
	w.change(Reload{Removed: []string{"one"}})
	w.pass(1_000)
	if !slices.Contains(w.names(), "one") {
		t.Fatal("want it wound up still when its file is back")
	}
	config.Strategy = slow{scripted(func(*strategy.View, *strategy.Plan) {})}
	w.change(Reload{Strategies: []*StrategyConfig{&config}})
	w.pass(20_000)
	w.wantHeld(0)
}

func TestRearmOfRemovedStrategyKeepsItsPeak(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(0), ownLimits(risk.Limits{MaxDrawdown: risk.Loss{Share: exchange.RateOne / 10}}))
	w.pass(20_000)
	peak := w.engine.Tracker().Watch("one").Day().Peak
	w.change(Reload{Removed: []string{"one"}, Strategies: []*StrategyConfig{w.another("two", coin, hold(0)), w.another("three", ether, hold(0))}})
	w.pass(20_000)
	w.halt(record.LevelPause, account.Scope{Strategy: "one"})
	w.halt(record.LevelNone, account.Scope{Strategy: "one"})
	if have := w.engine.Tracker().Watch("one").Day().Peak; have != peak || peak.IsZero() {
		t.Errorf("want its highest equity as it was, %s, have %s", peak, have)
	}
}

func TestAnswerToRemovedStrategyIsDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(0))
	w.pass(30_000)
	asking := func() bool { return w.engine.market.series[0].asking && !w.engine.reader.inProgress() }
	for w.engine.market.series[0].asking = false; !asking(); {
		w.pass(1)
	}
	w.change(Reload{Removed: []string{"one"}})
	notes := len(w.notes)
	w.pass(30_000)
	if len(w.notes) > notes {
		t.Errorf("want nothing reported any more, have %+v", w.notes[notes:])
	}
}

// A start that does not find a strategy's file does not know whether it was removed. The on_remove policy
// waits for a reload that confirms the removal.
func TestAbsentStrategyKeepsItsPosition(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10), protected, func(w *world) { w.config.Strategies[0].OnRemove = removeFlatten })
	w.pass(20_000)
	w.wantHeld(10)
	w.config.Strategies[0] = StrategyConfig{Name: "one", Symbol: w.venue.Symbol(bitcoin), Interval: exchange.Minute1, Removed: true, Absent: true}
	w.start()
	w.pass(120_000)
	w.wantHeld(10)
	if len(w.stops()) != 1 {
		t.Errorf("want its stop, have %d", len(w.stops()))
	}
	if have := w.engine.Absent(); !slices.Equal(have, []string{"one"}) {
		t.Errorf("want it listed as absent, have %v", have)
	}
	if have := w.engine.PreviewRemoval([]string{"one"}); len(have) != 1 ||
		!strings.Contains(have[0], "close its position (it has a position of 0.01 in futures BTC-USDT)") {
		t.Errorf("want what a removal would do, have %q", have)
	}
	w.wantSound()
	w.change(Reload{Confirmed: []string{"one"}})
	w.pass(20_000)
	w.wantHeld(0)
}

func TestAbsentStrategyReturnsUnchanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10), protected, func(w *world) { w.config.Strategies[0].OnRemove = removeFlatten })
	w.pass(20_000)
	config := w.config.Strategies[0]
	w.config.Strategies[0] = StrategyConfig{Name: "one", Symbol: w.venue.Symbol(bitcoin), Interval: exchange.Minute1, Removed: true, Absent: true}
	w.start()
	w.pass(20_000)
	sent := len(w.sent)
	w.change(Reload{Strategies: []*StrategyConfig{&config}})
	w.pass(60_000)
	w.wantHeld(10)
	w.wantSent(sent)
	w.wantSound()
}

// When the strategy returns, nothing opens on its old price, leverage or position.
func TestRemovalForgetsSymbolReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(0))
	w.pass(20_000)
	symbol := w.symbol()
	if !symbol.Read() || symbol.Last() == 0 || symbol.Leverage() == 0 {
		t.Fatalf("want it read, have %+v", symbol)
	}
	w.change(Reload{Removed: []string{"one"}})
	w.pass(20_000)
	if len(w.names()) != 0 {
		t.Fatalf("want it removed, have %v", w.names())
	}
	if symbol.Read() || symbol.Settled() || symbol.Leverage() != 0 || symbol.Last() != 0 || symbol.LastMS() != 0 {
		t.Errorf("want it forgotten, have read %t, settled %t, leverage %d, last %d of %d", symbol.Read(), symbol.Settled(), symbol.Leverage(), symbol.Last(),
			symbol.LastMS())
	}
}

// The stop was canceled for the exit, and the process died before it sent the exit. A start without the strategy knows its protection.
func TestLostExitOfRemovedStrategyRestoresStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(2_000), onSpot, func(w *world) {
		w.config.Strategies[0].OnRemove = "flatten"
		w.config.Strategies[0].Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}
	})
	if err := w.venue.Transfer("one", exchange.Spot, "BTC", exchange.AmountOf(1)); err != nil { // next to it the exit would not be repeated
		t.Fatal(err)
	}
	w.pass(10_000)
	stops := w.spotStops()
	w.network = func(call *Call) fate {
		if call.Request.Operation.Places() && call.Request.Order.Type == exchange.Limit {
			return fate{lost: true}
		}
		return fate{}
	}
	w.change(Reload{Removed: []string{"one"}})
	w.pass(2_500)
	symbol := w.config.Strategies[0].Symbol
	w.config.Strategies = []StrategyConfig{{Name: "one", Symbol: symbol, Interval: exchange.Minute1, Removed: true}}
	w.start()
	w.pass(8_000)
	if have := w.spotStops(); len(stops) != 1 || !maps.Equal(stops, have) {
		t.Errorf("want the stop of before in place, %v, have %v\n%s", stops, have, w.story())
	}
}

// The exchange may have executed the refused order, and nobody would cancel or protect it.
func TestARemovedStrategyStaysUntilARefusalIsConfirmed(t *testing.T) {
	t.Parallel()
	desired := exchange.Quantity(0)
	w := desiring(t, &desired)
	w.pass(5_000)
	w.network = func(call *Call) fate {
		if call.Request.Operation.Places() {
			return fate{err: &exchange.Refusal{Operation: call.Request.Operation, Status: 400, Code: 2999, Message: "system busy"}}
		}
		return fate{}
	}
	desired = 10
	for len(w.engine.Tracker().Refused()) == 0 {
		w.pass(50)
	}
	why := w.engine.roster.removalObstacle(w.engine.legNamed("one"))
	w.pass(30_000)
	if desired = 0; why == "" || w.engine.roster.removalObstacle(w.engine.legNamed("one")) != "" {
		t.Errorf("want it to stay until the refusal is confirmed, and no longer: %q, then %q", why, w.engine.roster.removalObstacle(w.engine.legNamed("one")))
	}
}

// The first list after the refusal may not show the order yet.
func TestRefusedOpeningOfRemovedStrategyIsOwned(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"flatten", "leave"} {
		for _, fills := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, fills=%t", way, fills), func(t *testing.T) {
				t.Parallel()
				removedWithARefusedOpening(t, way, fills)
			})
		}
	}
}

func removedWithARefusedOpening(t testing.TB, way string, fills bool) {
	w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
		plan.OrdersSet = true
		plan.Orders = []strategy.DesiredOrder{{Key: "a", Side: exchange.Buy, Price: 49_000e8, Quantity: 10}}
	}, protected, patient, func(w *world) { w.config.Strategies[0].OnRemove = way })
	shown := int64(0)
	w.network = func(call *Call) fate {
		if !call.Request.Operation.Places() || shown != 0 {
			return fate{}
		}
		shown = w.now + 7_000
		return w.executedAndRefused(call)
	}
	w.mirror = func(answer *exchange.Answer) {
		switch {
		case w.now >= shown:
		case answer.Operation == exchange.FuturesOpenOrders:
			answer.Orders = exchange.FetchedOf([]exchange.Order{})
		case answer.Operation == exchange.FuturesAccount:
			answer.Account.OrderMargin = exchange.Amount{}
		}
	}
	for shown == 0 {
		w.pass(100)
	}
	w.pass(2_000) // list and account have confirmed the refusal
	w.change(Reload{Removed: []string{"one"}})
	w.pass(6_000)
	held, wantOpen := exchange.Quantity(0), 0
	if fills {
		w.price("48000")
		if way == "leave" {
			wantOpen, held = 1, 10 // the stop is open
		}
	}
	w.pass(40_000) // idle rounds
	w.wantHeld(held)
	w.wantOpen(wantOpen)
	if held != 0 && !w.stopped(bitcoin) {
		t.Errorf("want it protected, have\n%s", w.story())
	}
	w.pass(120_000)
	if have := w.names(); way == "flatten" && len(have) > 0 {
		t.Errorf("want it gone when nothing more can be shown, have %v", have)
	}
}

// The strategy is not asked any more. If it has no position but its money is not booked yet, it has no plan either.
func TestRemovalEndsQuestionsAndPlan(t *testing.T) {
	t.Parallel()
	for _, holds := range []bool{true, false} {
		w := settled(t, offload)
		one := w.engine.legs[0]
		w.plan(strategy.Target{Kind: strategy.ByQuantity, Quantity: 10})
		w.engine.results.following = true
		for _, side := range []exchange.Side{exchange.Buy, exchange.Sell} {
			order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: side, Type: exchange.MarketOrder, Quantity: 3,
				ClientOrderID: w.engine.tracker.NextClientOrderID("t")}
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Symbol: bitcoin, ClientOrderID: order.ClientOrderID,
				Body: record.Sending{Order: order, Purpose: placement.Entry}})
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Body: record.Ended{State: placement.Filled, Filled: 3}})
		}
		if see(w.symbol(), func(o *seen) { o.Settled = true }); holds {
			see(w.symbol(), func(o *seen) { o.Position = 10 })
		}
		w.out.Reset()
		w.engine.roster.remove(one, &Reload{})
		if ended := w.out.Ended; len(ended) != 1 || ended[0].Name != "one" {
			t.Errorf("it holds something %t: want it asked no more, have %+v", holds, ended)
		}
		if have := one.state.Plan().Target().Quantity; (have == 10) != holds || !one.config.Removed {
			t.Errorf("it holds something %t: want its plan to stay so, have %d", holds, have)
		}
	}
}
