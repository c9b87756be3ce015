package engine

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// resting requests a position with a stop, and next to it a resting buy and a resting sell.
func resting(_ *strategy.View, plan *strategy.Plan) {
	plan.Orders, plan.OrdersSet = append(plan.Orders, strategy.DesiredOrder{Key: "now", Side: exchange.Buy, Price: 51_000e8, Quantity: 10},
		strategy.DesiredOrder{Key: "low", Side: exchange.Buy, Price: 40_000e8, Quantity: 10}), true
	plan.Exits, plan.ExitsSet = append(plan.Exits, strategy.DesiredOrder{Key: "high", Side: exchange.Sell, Price: 60_000e8, Quantity: 4}), true
}

// standing is a world with a position of 10, its stop, a resting buy and a resting exit.
func standing(t *testing.T, options ...option) *world {
	t.Helper()
	w := newWorld(t, resting, append(options, protected)...)
	w.pass(20_000)
	w.wantHeld(10)
	w.wantOpen(3)
	return w
}

func (w *world) wantOpen(n int) {
	w.t.Helper()
	if have := w.venue.OpenOrders("one", exchange.Futures); have != n {
		w.t.Errorf("open orders: want %d, have %d\n%s", n, have, w.story())
	}
}

func (w *world) halt(level record.HaltLevel, scope account.Scope) {
	w.give(&EventHalt{Level: level, Scope: scope, Reason: "a test"})
}

// TestStopCompletesWithinItsBound covers each way to stop.
func TestStopCompletesWithinItsBound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		way  string
		held exchange.Quantity
		open int
	}{
		{"leave", 10, 3}, {"cancel_orders", 10, 2}, {"flatten", 0, 0},
	} {
		t.Run(c.way, func(t *testing.T) {
			t.Parallel()
			w := standing(t)
			sent := len(w.sent)
			w.give(&EventStop{Shutdown: c.way})
			w.pass(10_000)
			if w.engine.InFlight() {
				t.Errorf("want it done within ten seconds\n%s", w.story())
			}
			w.wantHeld(c.held)
			w.wantOpen(c.open)
			for _, order := range w.sent[sent:] {
				if !order.Reduces() {
					t.Errorf("sent while stopping: %+v", order)
				}
			}
			if len(w.refused) > 0 {
				t.Errorf("want nothing refused, have %q", w.refused)
			}
		})
	}
}

func TestStoppingCarriesOnWhileTheExchangeFails(t *testing.T) {
	t.Parallel()
	w := standing(t)
	w.network = func(*Call) fate { return fate{err: &exchange.Unavailable{Reason: "status 503"}} }
	w.give(&EventStop{Shutdown: "flatten"})
	w.pass(6_000)
	if !w.engine.InFlight() {
		t.Error("want it still at work")
	}
	w.network = nil
	w.pass(8_000)
	w.wantHeld(0)
	if w.engine.InFlight() {
		t.Error("want it done")
	}
}

func TestRemovedStrategyKeepsStopAndHaltsSymbol(t *testing.T) {
	t.Parallel()
	w := standing(t)
	w.config.Strategies[0].Removed = true
	w.start()
	w.pass(60_000)
	w.wantHeld(10)
	w.wantOpen(3)
	if d := w.wantState("halted"); d.Scope.Symbol != bitcoin || !strings.Contains(d.Cause, "removed") {
		t.Errorf("want the symbol halted, have %+v", d)
	}
	w.halt(record.LevelFlatten, account.Scope{Symbol: bitcoin}) // a person decides
	w.pass(20_000)
	w.wantHeld(0)
	w.wantOpen(0)
}

func TestRemovedStrategyIsFlattenedIfConfigured(t *testing.T) {
	t.Parallel()
	w := standing(t, func(w *world) { w.config.Strategies[0].OnRemove = "flatten" })
	w.config.Strategies[0].Removed = true
	w.start()
	w.pass(20_000)
	w.wantHeld(0)
	w.wantOpen(0)
	w.wantSound()
	if orphans := w.engine.Tracker().Orphans(func(string, exchange.SymbolKey) bool { return false }); len(orphans) > 0 {
		t.Errorf("want nothing held any more, have %+v", orphans)
	}
}

func TestAStrategyThatTakesOverASymbolWaitsForAPerson(t *testing.T) {
	t.Parallel()
	w := standing(t)
	w.config.Strategies[0].Name, w.config.Strategies[0].Strategy = "two", scripted(hold(20))
	w.start()
	w.pass(30_000)
	w.wantHeld(10)
	if d := w.wantState("halted"); !strings.Contains(d.Cause, "takes over") {
		t.Errorf("want the reason, have %+v", d)
	}
	w.halt(record.LevelNone, account.Scope{Symbol: bitcoin})
	w.pass(30_000)
	w.wantHeld(20)
	w.start() // an accepted state stays accepted
	w.pass(10_000)
	w.wantSound()
}

func TestFlattenPreviewEqualsSentRequests(t *testing.T) {
	t.Parallel()
	for _, level := range []record.HaltLevel{record.LevelPause, record.LevelCancel, record.LevelFlatten} {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			w := standing(t)
			var want, have []string
			for _, s := range w.engine.PreviewHalt(level, account.Scope{}) {
				want = append(want, s.Intent.Purpose.String()+" "+s.Intent.Order.Type.String()+" "+s.Intent.ClientID)
			}
			w.network = func(call *Call) fate {
				if r := call.Request; r.Operation == exchange.FuturesCancel {
					for p := range w.engine.Tracker().Live() {
						if p.OrderID() == r.OrderID {
							have = append(have, "cancel  "+p.ClientOrderID())
						}
					}
				} else if r.Operation.Places() {
					have = append(have, "exit "+r.Order.Type.String()+" ")
				}
				return fate{}
			}
			w.halt(level, account.Scope{})
			w.pass(20_000)
			if strings.Join(want, "; ") != strings.Join(have, "; ") {
				t.Errorf("want what was shown:\n  %q\nhave sent:\n  %q", want, have)
			}
			if again := w.engine.PreviewHalt(level, account.Scope{}); len(again) != 0 {
				t.Errorf("want nothing left to do, have %+v", again)
			}
		})
	}
}

func TestAHaltIsOnlyMadeSevererAndEndsByArming(t *testing.T) {
	t.Parallel()
	w := standing(t)
	w.halt(record.LevelCancel, account.Scope{})
	w.halt(record.LevelPause, account.Scope{})
	if have := w.engine.Tracker().Halted().Level; have != record.LevelCancel {
		t.Errorf("want cancel kept, have %s", have)
	}
	w.halt(record.LevelFlatten, account.Scope{})
	w.pass(20_000)
	w.wantHeld(0)
	w.halt(record.LevelNone, account.Scope{})
	w.pass(20_000)
	w.wantSound()
}

func TestHaltOfOneStrategyDoesNotAffectOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10), func(w *world) {
		ether := w.venue.Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"})
		w.config.Strategies = append(
			w.config.Strategies,
			StrategyConfig{Name: "two", Strategy: scripted(hold(10)), Symbol: ether, Interval: exchange.Minute1, Schedule: each(1000), Leverage: 10},
		)
	})
	w.halt(record.LevelPause, account.Scope{Strategy: "one"})
	w.pass(10_000)
	w.wantHeld(0)
	if p, _ := w.venue.Position("one", "ETH-USDT"); p.Signed() == 0 {
		t.Error("want the other one trading")
	}
	w.start()
	w.pass(5_000)
	w.wantHeld(0)
	w.halt(record.LevelNone, account.Scope{}) // the account's halt is a different one
	w.pass(5_000)
	w.wantHeld(0)
	w.halt(record.LevelNone, account.Scope{Strategy: "one"})
	w.pass(5_000)
	w.wantHeld(10)
}

// TestFlattenResumesAfterCrashAtAnyTime kills the process at each of the first seconds of a flatten.
func TestFlattenResumesAfterCrashAtAnyTime(t *testing.T) {
	t.Parallel()
	for after := int64(0); after < 5_000; after += 10 {
		w := standing(t)
		w.halt(record.LevelFlatten, account.Scope{})
		w.pass(after)
		w.start()
		w.pass(40_000)
		w.wantHeld(0)
		w.wantOpen(0)
		if t.Failed() {
			t.Fatalf("killed %d ms after the halt", after)
		}
	}
}

// TestFlattenResumesAfterCrashAtAnyRecord kills the process after each
// record in turn, from the halt's own to the last of the wind-up.
func TestFlattenResumesAfterCrashAtAnyRecord(t *testing.T) {
	t.Parallel()
	whole := standing(t)
	before := len(whole.records)
	whole.halt(record.LevelFlatten, account.Scope{})
	whole.pass(40_000)
	whole.wantHeld(0)
	if len(whole.records) < before+5 {
		t.Fatalf("want a wind-up of several records, have %d", len(whole.records)-before)
	}
	for at := before + 1; at <= len(whole.records); at++ {
		w := standing(t)
		w.cut = at
		w.halt(record.LevelFlatten, account.Scope{})
		w.pass(40_000)
		w.wantHeld(0)
		w.wantOpen(0)
		if len(w.refused) > 0 {
			t.Errorf("want nothing refused by the exchange, have %v", w.refused)
		}
		if have := w.engine.Tracker().Halted().Level; have != record.LevelFlatten {
			t.Errorf("want the halt in force, have %q", have)
		}
		if w.lifes != 2 || t.Failed() {
			t.Fatalf("killed after record %d of %d, %d lifes", at, len(whole.records), w.lifes)
		}
	}
}

func TestHaltReportsRemainingWork(t *testing.T) {
	t.Parallel()
	w := standing(t)
	w.halt(record.LevelPause, account.Scope{})
	if d := w.wantState("halted"); d.Remaining != "" {
		t.Errorf("a pause takes nothing away, have %q", d.Remaining)
	}
	w.network = func(*Call) fate { return fate{err: &exchange.Unavailable{Reason: "status 503"}} }
	w.halt(record.LevelFlatten, account.Scope{})
	w.pass(10_000)
	d := w.wantState("halted")
	for _, part := range []string{"to close: futures BTC-USDT 0.01", "orders to end: 3", "reads of the exchange fail", "retried every 2 s"} {
		if !strings.Contains(d.Remaining, part) {
			t.Errorf("want %q reported, have %q", part, d.Remaining)
		}
	}
	w.network = nil
	w.pass(10_000)
	w.wantHeld(0)
	if d := w.wantState("halted"); d.Remaining != "" {
		t.Errorf("want it done, have %q", d.Remaining)
	}
}

func TestFlattenLatchesTargetUntilRearmedByName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10))
	w.pass(5_000)
	w.halt(record.LevelFlatten, account.Scope{})
	w.pass(10_000)
	w.wantHeld(0)
	w.halt(record.LevelNone, account.Scope{})
	w.pass(20_000)
	w.wantHeld(0)
	w.halt(record.LevelNone, account.Scope{Strategy: "one"})
	w.pass(5_000)
	w.wantHeld(10)
}

func TestAHaltWorksWhileTheExchangeFails(t *testing.T) {
	t.Parallel()
	w := standing(t)
	w.network = func(*Call) fate { return fate{err: &exchange.Unavailable{Reason: "status 503"}} }
	w.pass(60_000)
	w.halt(record.LevelFlatten, account.Scope{})
	w.pass(60_000)
	if have := w.engine.Tracker().Halted().Level; have != record.LevelFlatten {
		t.Errorf("want it in force, have %q", have)
	}
	w.network = nil
	w.pass(6_000)
	w.wantHeld(0)
}

// An exit due by the plan is sent whatever is halted, so only flatten shows it. A leverage change is never
// part of the preview.
func TestHaltPreviewOmitsPlanIntents(t *testing.T) {
	t.Parallel()
	desired := exchange.Quantity(10)
	w := desiring(t, &desired)
	w.pass(10_000)
	w.wantHeld(10)
	w.network = every(fate{err: &exchange.Unavailable{Operation: exchange.FuturesPlace, Reason: "not sent"}})
	desired = 4
	w.pass(3_000) // the exit of six is due and cannot be sent
	exits := func(level record.HaltLevel) (all []exchange.Quantity) {
		for _, s := range w.engine.PreviewHalt(level, account.Scope{}) {
			if s.Intent.Purpose != placement.Exit {
				t.Errorf("%s: want exits alone, have %+v", level, s.Intent)
			}
			all = append(all, s.Intent.Order.Quantity)
		}
		return all
	}
	for _, level := range []record.HaltLevel{record.LevelPause, record.LevelCancel} {
		if have := exits(level); len(have) != 0 {
			t.Errorf("%s: want no exit shown, have %v", level, have)
		}
	}
	if have := exits(record.LevelFlatten); len(have) != 1 || have[0] != 10*w.venue.Symbol(bitcoin).QuantityTick {
		t.Errorf("flatten: want an exit of ten, have %v", have)
	}
}
