package engine

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// refuses returns a network on which the exchange answers 400 to the placements that match.
func refuses(matches func(*exchange.NewOrder) bool) func(*Call) fate {
	return func(call *Call) fate {
		if call.Request.Operation.Places() && matches(&call.Request.Order) {
			return fate{err: &exchange.Refusal{Status: 400, Code: 1117, Message: "stop orders\x1b[2J are off"}}
		}
		return fate{}
	}
}

func conditional(o *exchange.NewOrder) bool { return o.StopPrice != 0 }

func anyOrder(*exchange.NewOrder) bool { return true }

// sendings counts the placements of a purpose that were journalled at or after a time.
func (w *world) sendings(purpose placement.Purpose, fromMS int64) (n int) {
	for i := range w.records {
		if sending, is := w.records[i].Body.(record.Sending); is && sending.Purpose == purpose && w.records[i].AtMS >= fromMS {
			n++
		}
	}
	return n
}

func TestRefusedStopBacksOffAndIsDeclared(t *testing.T) {
	t.Parallel()
	for market, options := range map[string][]option{"futures": {protected}, "spot": {onSpot, protected}} {
		t.Run(market, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, hold(10), options...)
			if market == "spot" {
				w = newWorld(t, hold(1_000), options...)
			}
			w.network = refuses(conditional)
			w.pass(10_000)
			state := w.wantState("unprotected")
			for _, part := range []string{"1117", "stop orders", "retried"} {
				if !strings.Contains(state.Cause, part) {
					t.Errorf("the cause: want %q in it, have %q", part, state.Cause)
				}
			}
			if strings.ContainsRune(state.Cause, '\x1b') {
				t.Errorf("want no control characters of the exchange's, have %q", state.Cause)
			}
			if s := w.engine.Status().Strategies[0]; s.State != "unprotected" || s.StateReason != state.Cause {
				t.Errorf("its strategy: want unprotected, have %s: %s", s.State, s.StateReason)
			}
			w.pass(50_000)
			if n := w.sendings(placement.StopLoss, 0); n < 4 || n > 7 {
				t.Errorf("the first minute: want a handful of stops, have %d\n%s", n, w.story())
			}
			w.pass(60_000)
			before := w.now
			w.pass(600_000)
			if n := w.sendings(placement.StopLoss, before); n < 9 || n > 11 {
				t.Errorf("later: want one a minute, have %d in ten", n)
			}
			w.network = nil
			w.pass(61_000)
			if !w.engine.Status().Strategies[0].Protected {
				t.Errorf("want the stop once it is taken\n%s", w.story())
			}
			w.wantSound()
		})
	}
}

func TestPositionWithRefusedStopExitsAtItsLevel(t *testing.T) {
	t.Parallel()
	for market, options := range map[string][]option{"futures": {protected}, "spot": {onSpot, protected}} {
		t.Run(market, func(t *testing.T) {
			t.Parallel()
			quantity := exchange.Quantity(10)
			if market == "spot" {
				quantity = 1_000
			}
			w := newWorld(t, hold(quantity), options...)
			w.network = refuses(conditional)
			w.pass(90_000)
			w.wantState("unprotected")
			w.price("48900") // 2 % is 49000
			w.pass(6_000)
			if held := w.symbol().Position(); held != 0 {
				t.Fatalf("want it exited within seconds, have %d\n%s", held, w.story())
			}
			if n := w.sendings(placement.Entry, 10_000+startMS); n != 0 {
				t.Errorf("want no entry after its stop, have %d", n)
			}
			if w.engine.Status().Strategies[0].Latch != 1 {
				t.Error("want the strategy latched: its position was ended by its protection")
			}
			w.pass(20_000)
			w.wantSound()
		})
	}
}

func TestRefusedExitByBotdBacksOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10), protected)
	w.pass(5_000)
	w.network = refuses(anyOrder)
	w.manually(exchange.Request{Operation: exchange.FuturesCancel, OrderID: w.stops()[0].ID})
	w.price("48900")
	asked := 0
	refuse := w.network
	w.network = func(call *Call) fate {
		f := refuse(call)
		if f.err != nil {
			asked++
		}
		return f
	}
	w.pass(60_000)
	if asked < 4 || asked > 7 {
		t.Errorf("the first minute: want a handful, have %d", asked)
	}
	w.wantState("unprotected")
	w.network = nil
	w.pass(61_000)
	w.wantHeld(0)
}

func TestRefusedFlattenBacksOffAndReportsReason(t *testing.T) {
	t.Parallel()
	for market, options := range map[string][]option{"futures": {protected}, "spot": {onSpot, protected}} {
		t.Run(market, func(t *testing.T) {
			t.Parallel()
			quantity := exchange.Quantity(10)
			if market == "spot" {
				quantity = 1_000
			}
			w := newWorld(t, hold(quantity), options...)
			w.pass(10_000)
			asked := []int64{}
			w.network = func(call *Call) fate {
				if o := call.Request.Order; call.Request.Operation.Places() && o.StopPrice == 0 {
					asked = append(asked, w.now-startMS)
					return fate{err: &exchange.Refusal{Status: 400, Code: 1112, Message: "reduce only is off"}}
				}
				return fate{}
			}
			w.give(&EventHalt{Level: record.LevelFlatten, Reason: "a test"})
			w.pass(50_000)
			if len(asked) < 4 || len(asked) > 7 || asked[1]-asked[0] > 4_000 {
				t.Errorf("want it sent again promptly at first, then seldom; have it at %v", asked)
			}
			state := w.wantState("refused")
			if !strings.Contains(state.Cause, "1112 reduce only is off") {
				t.Errorf("want the exchange's message, have %q", state.Cause)
			}
			if halted := w.wantState("halted"); !strings.Contains(halted.Remaining, "reduce only is off") {
				t.Errorf("the halt: want what keeps it, have %q", halted.Remaining)
			}
			stops := 0
			for p := range w.engine.Tracker().Live() {
				if p.Purpose() == placement.StopLoss && p.State() == placement.Working {
					stops++
				}
			}
			if stops == 0 {
				t.Errorf("while the exit waits: want the position's stop on the exchange\n%s", w.story())
			}
			w.network = nil
			w.pass(65_000)
			if held := w.symbol().Position(); held != 0 {
				t.Errorf("want it flat once the exchange takes it, have %d\n%s", held, w.story())
			}
		})
	}
}

func TestAnOpeningThatIsRefusedBacksOffAndIsDeclared(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10))
	w.network = refuses(anyOrder)
	w.pass(60_000)
	if n := w.sendings(placement.Entry, 0); n < 3 || n > 5 {
		t.Errorf("the first minute: want a handful, have %d", n)
	}
	if state := w.wantState("refused"); !strings.Contains(state.Cause, "entry") || !strings.Contains(state.Cause, "1117") {
		t.Errorf("want the purpose and the code, have %q", state.Cause)
	}
	found := false
	for _, o := range w.engine.PreviewTicks() {
		for _, step := range o.Steps {
			found = found || step.Approved && strings.Contains(step.RefusedBy, "stop orders")
		}
	}
	if !found {
		t.Error("explain: want the exchange's refusal beside the rules that passed")
	}
	before := w.now
	w.pass(1_800_000)
	if n := w.sendings(placement.Entry, before); n < 5 || n > 9 {
		t.Errorf("later: want one in five minutes, have %d in 30", n)
	}
	w.network = nil
	w.pass(301_000)
	w.wantHeld(10)
	w.wantSound()
}

func TestARefusalByAnotherCodeIsCountedByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10), protected)
	codes := 0
	w.network = func(call *Call) fate {
		if call.Request.Operation.Places() && call.Request.Order.StopPrice != 0 {
			codes++
			return fate{err: &exchange.Refusal{Status: 400, Code: 1100 + codes%2, Message: "alternates"}}
		}
		return fate{}
	}
	w.pass(600_000)
	if codes > 40 {
		t.Errorf("codes that alternate: want it capped all the same, have %d placements in ten minutes", codes)
	}
}

func TestARefusedLeverageAndARefusedCancelBackOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10), func(w *world) { w.config.Strategies[0].Leverage = 20 })
	asked := 0
	w.network = func(call *Call) fate {
		if call.Request.Operation == exchange.FuturesSetLeverage {
			asked++
			return fate{err: &exchange.Refusal{Status: 400, Code: 1120, Message: "no such leverage"}}
		}
		return fate{}
	}
	w.pass(60_000)
	if asked < 2 || asked > 5 {
		t.Errorf("leverage: want a handful in a minute, have %d", asked)
	}
	w.wantState("refused")

	desired := true
	w = newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
		plan.OrdersSet = true
		if desired {
			plan.Orders = []strategy.DesiredOrder{{Key: "low", Side: exchange.Buy, Price: 40_000e8, Quantity: 10}}
		}
	})
	w.pass(5_000)
	desired, asked = false, 0
	w.network = func(call *Call) fate {
		if call.Request.Operation == exchange.FuturesCancel {
			asked++
			return fate{err: &exchange.Refusal{Status: 400, Code: 1121, Message: "no"}}
		}
		return fate{}
	}
	w.pass(60_000)
	if asked < 4 || asked > 8 {
		t.Errorf("cancel: want a handful in a minute, have %d", asked)
	}
	w.wantState("refused")
	w.network = nil
	w.pass(61_000)
	if w.engine.Tracker().LiveCount() != 0 {
		t.Errorf("want it canceled\n%s", w.story())
	}
}

// unmeasured are the bounds of a venue that was not probed.
var unmeasured = placement.Bounds{WindowMS: 60_000, VisibilityMS: 45_000, StalenessMS: 15_000}

func TestLostAnswersAreBoundedByMaxOpenOrders(t *testing.T) {
	t.Parallel()
	live := func(w *world) {
		w.config.Bounds = unmeasured
		w.config.Limits.MaxOpenOrders = 6
	}
	w := newWorld(t, hold(10), protected, live)
	w.pass(5_000)
	w.network = every(fate{lost: true})
	w.manually(exchange.Request{Operation: exchange.FuturesCancel, OrderID: w.stops()[0].ID})
	most := 0
	for range 300 {
		w.pass(1_000)
		most = max(most, w.engine.Tracker().LiveCount())
	}
	if most > 6 {
		t.Errorf("want at most 6 placements unsettled, have %d\n%s", most, w.story())
	}
	w.network = nil
	w.pass(200_000)
	if !w.engine.Status().Strategies[0].Protected {
		t.Errorf("want it protected once answers come\n%s", w.story())
	}
}

func TestLostAnswersBackOffToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10), protected, func(w *world) { w.config.Bounds = unmeasured })
	w.pass(5_000)
	w.network = every(fate{lost: true})
	w.manually(exchange.Request{Operation: exchange.FuturesCancel, OrderID: w.stops()[0].ID})
	before := w.now
	w.pass(120_000)
	if n := w.sendings(placement.StopLoss, before); n < 5 || n > 12 {
		t.Errorf("two minutes of lost answers: want about ten stops, have %d", n)
	}
}

// The part of a spot position that its stop does not cover may be too small for any order.
func TestUnprotectableRestIsNotDeclared(t *testing.T) {
	t.Parallel()
	target := exchange.Quantity(1_000)
	w := newWorld(t, swing(&target), onSpot, protected)
	w.pass(20_000)
	target = 3 // 0.00003 BTC are 1.5 USDT, the minimum is 5
	w.pass(120_000)
	if w.symbol().Position() == 0 || w.symbol().Position() > 10 {
		t.Fatalf("want a rest of a few steps, have %d\n%s", w.symbol().Position(), w.story())
	}
	w.wantSound()
	target = 1_000
	w.pass(20_000)
	if w.symbol().Position() < 900 {
		t.Errorf("want it to open again, have %d\n%s", w.symbol().Position(), w.story())
	}
}

// A process that is restarted again and again sends no more than one that runs.
func TestAStartForgetsNoRefusal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options []option
		plan    exchange.Quantity
		refused func(*exchange.NewOrder) bool
		purpose placement.Purpose
		most    int // sendings in three minutes
	}{
		"stop":         {[]option{protected}, 10, conditional, placement.StopLoss, 8},
		"stop, spot":   {[]option{onSpot, protected}, 1_000, conditional, placement.StopLoss, 8},
		"entry":        {nil, 10, anyOrder, placement.Entry, 6},
		"entry, spot":  {[]option{onSpot}, 1_000, anyOrder, placement.Entry, 6},
		"an exit":      {nil, 10, func(o *exchange.NewOrder) bool { return o.Side == exchange.Sell }, placement.Exit, 8},
		"a spot exit":  {[]option{onSpot}, 1_000, func(o *exchange.NewOrder) bool { return o.Side == exchange.Sell }, placement.Exit, 8},
		"a reduceOnly": {[]option{protected}, 10, func(o *exchange.NewOrder) bool { return o.ReduceOnly }, placement.Exit, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := c.plan
			w := newWorld(t, swing(&target), c.options...)
			w.network = refuses(c.refused)
			if c.purpose == placement.Exit {
				w.pass(10_000)
				target = 0
			}
			for range 60 {
				w.pass(3_000)
				w.start()
			}
			if n := w.sendings(c.purpose, 0); n < 3 || n > c.most {
				t.Errorf("want it sent ever more seldom across 60 starts, at most %d times, have %d\n%s", c.most, n, w.story())
			}
			w.network = nil
			w.pass(301_000)
			if held := w.symbol().Position(); (held == 0) == (c.purpose != placement.Exit) {
				t.Errorf("want it sent once the exchange takes it, have %d held", held)
			}
			w.wantSound()
		})
	}
}

// A refusal that concerned an ended position does not delay orders of the next one.
func TestStartIgnoresRefusalsOfEndedPosition(t *testing.T) {
	t.Parallel()
	target := exchange.Quantity(10)
	w := newWorld(t, swing(&target), protected)
	w.network = refuses(conditional)
	w.pass(60_000)
	target = 0
	w.pass(10_000)
	w.wantHeld(0)
	w.network = nil
	target = 10
	w.pass(1_500)
	w.start()
	w.pass(3_000)
	if len(w.stops()) != 1 {
		t.Errorf("want its stop at once, have %d\n%s", len(w.stops()), w.story())
	}
}

// The exchange refuses the stop of a position that has ended because the list of positions cannot be read. The process dies between the fill of the next
// opening and its stop (seed 895054143).
func TestStartIgnoresRefusalsFromBeforeAnOpening(t *testing.T) {
	t.Parallel()
	refusedBeforeOpening(t)
}

func refusedBeforeOpening(t testing.TB) {
	target := exchange.Quantity(10)
	w := newWorld(t, swing(&target), protected)
	w.pass(10_000)
	target = 0
	w.network = func(call *Call) fate {
		if call.Request.Operation == exchange.FuturesOpenPositions {
			return fate{err: &exchange.Unavailable{Reason: "busy"}}
		}
		return fate{}
	}
	w.pass(35_000)
	if n := len(w.engine.Tracker().RefusedIntents()); n != 1 {
		t.Fatalf("want the stop refused\n%s", w.story())
	}
	w.network = nil
	w.pass(5_000)
	target = 10
	for w.held() == 0 {
		w.pass(10)
	}
	w.start()
	w.pass(3_000)
	if len(w.stops()) != 1 {
		t.Errorf("want its stop at once, have %d\n%s", len(w.stops()), w.story())
	}
}

// The end of the position becomes known in the round in which the next one is opened.
func TestAStopWaitsForNoRefusalOfAnEarlierPosition(t *testing.T) {
	t.Parallel()
	stopAfterRefusals(t)
}

func stopAfterRefusals(t testing.TB) {
	target := exchange.Quantity(10)
	w := newWorld(t, swing(&target), protected)
	w.network = refuses(conditional)
	w.pass(172_000) // the breaker is over, and the next stop is due in 13 s
	w.wantState("unprotected")
	target = -10
	w.network = func(call *Call) fate { // the list of positions shows the end first
		if call.Request.Operation == exchange.FuturesOpenOrders && w.held() == 0 && w.now < startMS+176_500 {
			return fate{err: &exchange.Unavailable{Reason: "busy"}}
		}
		return fate{}
	}
	w.pass(8_000)
	w.wantHeld(-10)
	if !w.engine.Status().Strategies[0].Protected {
		t.Errorf("want its stop\n%s", w.story())
	}
}

// An exchange that refuses a stop because part of the asset is missing may accept a smaller one, which is sent at once. A stop of the
// same size waits.
func TestSmallerStopWaitsForNoRefusalOfALargerOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		then exchange.Quantity
		want int // stops sent
	}{{1_000, 1}, {2_000, 0}} {
		smallerStop(t, c.then, c.want)
	}
}

func smallerStop(t testing.TB, then exchange.Quantity, want int) {
	target := exchange.Quantity(2_000)
	w := newWorld(t, swing(&target), onSpot, protected)
	w.network = refuses(func(o *exchange.NewOrder) bool { return conditional(o) && o.Quantity > 1_000 })
	w.pass(40_000)
	if n := w.sendings(placement.StopLoss, 0); n < 4 {
		t.Fatalf("want the stop refused again and again, have it sent %d times\n%s", n, w.story())
	}
	target = then
	changedMS := w.now
	w.pass(6_000)
	if n := w.sendings(placement.StopLoss, changedMS); n != want {
		t.Errorf("target %d: want %d stops sent, have %d\n%s", then, want, n, w.story())
	}
}

// The exit in place of a stop was refused for a while. Then the price returned, and the exchange accepted a stop: the next exit in its place waits like
// after a first refusal.
func TestExitInPlaceOfAStopWaitsForNoRefusalFromBeforeTheStop(t *testing.T) {
	t.Parallel()
	exitAfterAnAcceptedStop(t)
}

func exitAfterAnAcceptedStop(t testing.TB) {
	w := newWorld(t, hold(10), protected)
	w.pass(5_000)
	exits := func(times int) { // the stop is gone, its price is passed, and exits are refused
		w.network = refuses(anyOrder)
		w.manually(exchange.Request{Operation: exchange.FuturesCancel, OrderID: w.stops()[0].ID})
		w.price("48900")
		for fromMS := w.now; w.sendings(placement.StopLoss, fromMS) < times; {
			w.pass(500)
		}
	}
	exits(5)
	w.network = nil
	w.price("50000")
	w.pass(3_000)
	exits(1)
	w.network = nil
	w.pass(2_500)
	w.wantHeld(0)
	w.wantSound()
}

// While botd stands down, a spot stop is sent whatever the wallet shows, and waits longer with each refusal (seeds 18005370, 18008254).
func TestStopThatStandsDownBacksOff(t *testing.T) {
	t.Parallel()
	standingStopWaits(t)
}

// standsDown returns a world without a position, and a stop that the exchange has refused there, while botd stands down.
func standsDown(t testing.TB, options ...option) (w *world, stop attempt) {
	t.Helper()
	w = settled(t, options...)
	key := w.symbol().Key()
	see(w.symbol(), func(o *seen) {
		o.Foreign = []exchange.Order{{ID: 9, ClientOrderID: w.unknownID(), Market: key.Market, Symbol: key.Name}}
	})
	return w, attempt{strategy: "one", symbol: key, purpose: placement.StopLoss}
}

func standingStopWaits(t testing.TB) {
	w, stop := standsDown(t, onSpot)
	b := w.engine.backoffs
	for i := range 3 {
		b.count(stop, 7, "no", false, w.engine.nowMS)
		if b.watch(); b.of(stop) == nil || b.of(stop).untilMS != w.engine.nowMS+firstReduceMS<<i {
			t.Fatalf("refusal %d: want it to wait %d ms, have %+v", i+1, firstReduceMS<<i, b.of(stop))
		}
	}
	w.engine.nowMS += currentMS
	if b.watch(); b.of(stop) == nil {
		t.Error("want it remembered while it may be desired")
	}
	w.engine.nowMS++
	if b.watch(); b.of(stop) != nil {
		t.Error("want it forgotten when it is no longer desired")
	}
}

// On futures a settled position has ended, also while botd stands down. The stop of the next position does not wait for refusals of the last one's
// (seed 890016022).
func TestStopOfTheNextPositionWaitsForNoRefusal(t *testing.T) {
	t.Parallel()
	nextStopIsSent(t)
}

func nextStopIsSent(t testing.TB) {
	w, stop := standsDown(t)
	b := w.engine.backoffs
	b.count(stop, 7, "no", false, w.engine.nowMS)
	if b.watch(); b.of(stop) != nil {
		t.Errorf("want the refusal forgotten once its position has ended, have %+v", b.of(stop))
	}
}
