package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/strategy"
)

// thought is a strategy's answer to a question that is asked off the engine.
type thought struct {
	longMS int64  // the answer comes that much later
	never  bool   // it hangs
	lost   string // its process ends, for this reason
}

// think makes the strategies answer the engine's newest calls.
func (w *world) think() {
	w.killed = append(w.killed, w.out.Abandoned...)
	for _, ask := range w.out.Asks {
		w.asked = append(w.asked, ask)
		f := &thought{}
		if w.answers != nil {
			f = w.answers(&ask)
		}
		result := strategy.Result{Lost: f.lost}
		if f.lost == "" {
			result = ask.Task.Perform(ask.Strategy)
		}
		if !f.never {
			w.queue = append(w.queue, due{w.now + 1 + f.longMS, w.lifes, &EventDecision{AskID: ask.ID, Result: result}, nil})
		}
	}
}

func offload(w *world) { w.config.Offload = true }

// wantAnswering expects no strategy to be hung.
func (w *world) wantAnswering() {
	w.t.Helper()
	for _, d := range w.engine.Degraded() {
		if d.State == "hung" {
			w.t.Errorf("want no strategy hung, have %+v", d)
		}
	}
}

// byCandles has the strategy decide once per closed candle.
func byCandles(w *world) { w.config.Strategies[0].Schedule = nil }

var hangs = &thought{never: true}

func TestHungStrategyStaysProtectedAndCanBeFlattened(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(20), protected, offload)
	w.pass(10_000)
	w.wantHeld(20)
	w.wantSound()
	w.answers = func(*Ask) *thought { return hangs }
	w.pass(4_000)
	d := w.wantState("hung")
	if !strings.Contains(d.Cause, "2s") || d.Scope.Strategy != "one" {
		t.Errorf("want the deadline and the strategy named, have %+v", d)
	}
	if state := w.engine.Status().Strategies[0].State; state != "hung" || len(w.killed) != 1 {
		t.Errorf("want it hung and abandoned once, have %s and %v", state, w.killed)
	}
	if w.engine.Tracker().LiveCount() != 1 {
		t.Errorf("want its stop on the exchange, have %d orders", w.engine.Tracker().LiveCount())
	}
	w.manually(w.market(exchange.Sell, 5, true)) // its position changes while it hangs
	w.pass(20_000)
	w.give(&EventHalt{Level: record.LevelFlatten, Reason: "a person"})
	began := w.now
	for w.held() != 0 && w.now < began+5_000 {
		w.pass(100)
	}
	w.wantHeld(0)
	if len(facts[NoteHung](w.notes)) != 1 {
		t.Errorf("want it reported once, have %d", len(facts[NoteHung](w.notes)))
	}
}

func TestHungStrategyOpensNoPosition(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(20), offload)
	w.network = func(call *Call) fate {
		if call.Request.Operation == exchange.FuturesPlace {
			return fate{err: &exchange.Unavailable{Reason: "not sent"}}
		}
		return fate{}
	}
	w.pass(3_000)
	w.answers = func(*Ask) *thought { return hangs }
	w.pass(5_000)
	w.wantState("hung")
	w.network = nil
	w.pass(60_000)
	w.wantHeld(0)
}

func TestHungStrategyDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	target := exchange.Quantity(0)
	w := newWorld(t, hold(20), offload, func(w *world) {
		other := *w.another("two", ether, func(_ *strategy.View, plan *strategy.Plan) {
			plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: target}, "a test")
		})
		w.config.Strategies = append(w.config.Strategies, other)
	})
	w.answers = func(ask *Ask) *thought {
		if ask.Name == "one" {
			return hangs
		}
		return &thought{}
	}
	w.pass(5_000)
	w.wantState("hung")
	target = w.config.Strategies[1].Symbol.QuantityTick * 20
	w.pass(10_000)
	if held := w.heldOf(exchange.Futures, "ETH-USDT"); held != target {
		t.Errorf("want the other strategy to hold %d, have %d\n%s", target, held, w.story())
	}
}

func TestLateAnswerIsDroppedAndStrategyIsAskedAgain(t *testing.T) {
	t.Parallel()
	target := exchange.Quantity(0)
	w := newWorld(t, func(view *strategy.View, plan *strategy.Plan) { hold(target)(view, plan) }, offload)
	w.pass(10_000)
	target = 20
	w.answers = func(*Ask) *thought { target = 0; return &thought{longMS: 5_000} } // it answers 20, and its target has changed since
	w.pass(2_500)
	target = 20
	w.asked = nil
	w.answers = func(*Ask) *thought { target = 30; return &thought{} }
	w.pass(500)
	if len(w.asked) != 0 {
		t.Fatalf("want it asked once at a time, have %d", len(w.asked))
	}
	w.wantState("hung")
	w.pass(10_000)
	w.wantHeld(30)
	w.wantAnswering()
	hung := facts[NoteHung](w.notes)
	if len(hung) != 2 || !hung[1].Ended {
		t.Errorf("want it hung and answering again, have %+v", hung)
	}
}

func TestLostProcessRestartsWithAllCandles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(20), offload, byCandles, protected)
	w.pass(190_000)
	w.wantHeld(20)
	w.asked = nil
	w.answers = func(*Ask) *thought { return &thought{lost: "it was killed"} }
	w.pass(70_000)
	w.wantState("hung")
	var waits []int64
	for i := range w.asked[1:] {
		waits = append(waits, (w.asked[i+1].Task.View.NowMS-w.asked[i].Task.View.NowMS+500)/1000)
		if task := w.asked[i+1].Task; !task.Fresh || task.From != 0 || task.To < 3 || task.AtMS == 0 {
			t.Errorf("want all candles, no state and a decision, have fresh %v, %d to %d, %d", task.Fresh, task.From, task.To, task.AtMS)
		}
	}
	if len(waits) < 4 || !slices.IsSorted(waits) || waits[len(waits)-1] < 8 {
		t.Errorf("want it asked ever more seldom, have after %v s", waits)
	}
	w.answers = nil
	w.pass(120_000)
	w.wantAnswering()
	w.wantHeld(20)
}

// starting is a strategy whose process takes some time to start.
type starting struct{ strategy.Strategy }

func (starting) StartMS() int64 { return 30_000 }

func TestTheFirstAnswerOfAProcessMayWaitForItsStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(20), offload, func(w *world) { w.config.Strategies[0].Strategy = starting{w.config.Strategies[0].Strategy} })
	w.answers = func(*Ask) *thought { w.answers = nil; return &thought{longMS: 25_000} }
	w.pass(24_000)
	w.wantAnswering()
	w.pass(10_000)
	w.wantHeld(20)
	w.wantAnswering()
	w.answers = func(*Ask) *thought { return hangs }
	w.pass(4_000)
	w.wantState("hung") // once it has started its deadline holds
	w.pass(10_000)
	if len(w.killed) != 1 {
		t.Errorf("want it abandoned once, have %v", w.killed)
	}
}

func TestAnswerToOlderCandleIsSuperseded(t *testing.T) {
	t.Parallel()
	var decided []int64
	w := newWorld(t, func(view *strategy.View, plan *strategy.Plan) {
		decided = append(decided, view.NowMS)
		hold(exchange.Quantity(10*len(decided)))(view, plan)
	}, offload, byCandles, func(w *world) { w.config.Strategies[0].DeadlineMS = 90_000 })
	w.pass(5_000)
	first := len(decided)
	w.answers = func(*Ask) *thought { w.answers = nil; return &thought{longMS: 61_000} }
	w.pass(190_000)
	if len(decided) < first+3 {
		t.Fatalf("want at least three more decisions, have %d", len(decided)-first)
	}
	for _, note := range facts[NoteDecision](w.notes) {
		if note.Plan.Target.Quantity == exchange.Quantity(10*(first+1)) {
			t.Error("want the answer to the older candle dropped, have it in force")
		}
	}
	w.wantAnswering()
}

func TestAnswerAfterHaltChangesOnlyThePlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(20), offload)
	w.answers = func(*Ask) *thought { return &thought{longMS: 1_000} }
	w.pass(500)
	w.give(&EventHalt{Level: record.LevelPause, Reason: "a person"})
	w.pass(10_000)
	w.wantHeld(0)
	if target := w.engine.Tracker().Strategy("one").Plan().Target().Quantity; target != 20 {
		t.Errorf("want the plan in force once trading resumes, have %d", target)
	}
	w.give(&EventHalt{Level: record.LevelNone})
	w.pass(10_000)
	w.wantHeld(20)
}

func TestAnAnswerAfterAStopOrAReplacementIsDropped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		then func(w *world)
	}{
		{"stop", func(w *world) { w.give(&EventStop{Shutdown: ShutdownLeave}) }},
		{"another version", func(w *world) { w.answers = nil; w.reload(hold(0)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, hold(20), offload)
			w.pass(100)
			w.answers = func(*Ask) *thought { return &thought{longMS: 1_500} }
			w.pass(1_000)
			if len(w.asked) == 0 {
				t.Fatal("want it asked")
			}
			w.answers = func(*Ask) *thought { return &thought{} }
			c.then(w)
			w.pass(10_000)
			w.wantHeld(0)
			w.wantAnswering()
		})
	}
}

func TestAStrategyThatFailsOffTheEngineFailsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(*strategy.View, *strategy.Plan) { panic("a fault") }, offload)
	w.pass(10_000)
	if d := w.wantState("failed"); d.Cause != "a fault" {
		t.Errorf("want its cause, have %q", d.Cause)
	}
	w.reload(hold(10))
	w.pass(10_000)
	w.wantHeld(10)
	w.wantSound()
}

// After a start the strategy must not see an empty position where there is one. It adds 5 to its position, up
// to 20, as twap does.
func TestStrategyIsAskedAfterAccountRead(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]option{"by a schedule": {offload}, "by candles": {offload, byCandles}} {
		adds := func(view *strategy.View, plan *strategy.Plan) {
			plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: min(20, view.Position.Quantity+5)}, "a test")
		}
		w := newWorld(t, adds, options...)
		for w.held() < 20 && len(w.asked) < 1_000 {
			w.pass(1_000)
		}
		w.wantHeld(20)
		w.network = func(call *Call) fate {
			if call.Request.Operation == exchange.FuturesOpenPositions {
				return fate{longMS: 3_000}
			}
			return fate{}
		}
		asked := len(w.asked)
		w.start()
		for range 100 {
			if w.pass(100); w.held() < 20 {
				t.Fatalf("%s: want 20 held over a start, have %d", name, w.held())
			}
		}
		if len(w.asked) == asked {
			t.Errorf("%s: want it asked once the account was read", name)
		}
	}
}

// TestStrategyMessagesAreRateLimited has a strategy report at each of its
// decisions, of which there are more than candles.
func TestStrategyMessagesAreRateLimited(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]func(w *world){"off the engine": offload, "inline": func(*world) {}} {
		decided := 0
		w := newWorld(t, func(view *strategy.View, plan *strategy.Plan) {
			decided++
			hold(20)(view, plan)
			plan.Notify("the same")
			plan.Notify(fmt.Sprint("candle ", view.Candle().OpenMS))
		}, option)
		w.pass(30_000)
		if sent := facts[NoteNotice](w.notes); decided < 4 || len(sent) > 2 || len(sent) == 2 != (name == "inline") {
			t.Errorf("%s: want only the first decision's message sent, inline and once, have %d decisions and %+v", name, decided, sent)
		}
		w.pass(20 * 60_000)
		sent, withheld := 0, 0
		for _, n := range facts[NoteNotice](w.notes) {
			if sent++; n.Withheld {
				sent, withheld = sent-1, withheld+1
			}
		}
		if sent != noticesAtOnce || withheld < 20 {
			t.Errorf("%s: want ten of an hour sent and the others withheld, have %d and %d", name, sent, withheld)
		}
		w.pass(45 * 60_000)
		again := facts[NoteNotice](w.notes)[sent+withheld:]
		first := slices.IndexFunc(again, func(n NoteNotice) bool { return !n.Withheld })
		if first < 0 || again[first].Before != withheld+first {
			t.Errorf("%s: want the next one to count the %d withheld before, have %+v", name, withheld+first, again[max(first, 0)])
		}
	}
}
