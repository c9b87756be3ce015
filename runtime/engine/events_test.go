package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

// events has a strategy watch events.
func events(plan func(*strategy.View, *strategy.Plan)) option {
	return func(w *world) { w.config.Strategies[0].Strategy = onlooker{plan, strategy.Watching{Events: true}} }
}

// reporting collects the events of each decision, one per line.
func reporting(lines *[]string, plan func(*strategy.View, *strategy.Plan)) func(*strategy.View, *strategy.Plan) {
	return func(view *strategy.View, p *strategy.Plan) {
		for _, e := range view.Events {
			*lines = append(
				*lines,
				fmt.Sprintf("%s %q %s reduces=%t %s %s", e.Kind, e.Key, e.Side, e.Reduces, view.Symbol.QuantityDecimal(e.Quantity), e.Rule),
			)
		}
		plan(view, p)
	}
}

func wantLines(t *testing.T, want, have []string) {
	t.Helper()
	if strings.Join(want, "\n") != strings.Join(have, "\n") {
		t.Errorf("events: want\n%s\nhave\n%s", strings.Join(want, "\n"), strings.Join(have, "\n"))
	}
}

func TestStrategySeesTargetEventsOnce(t *testing.T) {
	t.Parallel()
	var lines []string
	w := newWorld(t, nil, protected, events(reporting(&lines, hold(100))))
	w.pass(10_000)
	w.price("40000")
	w.pass(60_000)
	wantLines(t, []string{`filled "" BUY reduces=false 0.1 `, `stopped "" SELL reduces=true 0.1 `, `latched "" BUY reduces=false 0 `}, lines)
}

func TestStrategySeesRefusalAndItsEnd(t *testing.T) {
	t.Parallel()
	var lines []string
	price := exchange.Price(40_000e8)
	wants := func(_ *strategy.View, plan *strategy.Plan) {
		plan.OrdersSet = true
		plan.Orders = append(plan.Orders, strategy.DesiredOrder{Key: "low", Side: exchange.Buy, Price: price, Quantity: 100},
			strategy.DesiredOrder{Key: "much", Side: exchange.Buy, Price: 39_000e8, Quantity: 900})
	}
	w := newWorld(t, nil, events(reporting(&lines, wants)), func(w *world) {
		w.config.Strategies[0].Limits = risk.Limits{MaxPosition: exchange.MustAmount("0.5")}
	})
	w.pass(20_000)
	price = 41_000e8
	w.pass(20_000)
	if len(lines) == 0 || lines[0] != `refused "much" BUY reduces=false 0.9 max_position` {
		t.Errorf("want the rule named first, have %q", lines)
	}
	refused := 0
	for _, line := range lines {
		if strings.HasPrefix(line, "refused") {
			refused++
		}
	}
	if canceled := strings.Contains(strings.Join(lines, "\n"), `canceled "low" BUY reduces=false 0.1 `); !canceled || refused > 40 {
		t.Errorf("want the replaced order canceled and at most one refusal a decision, have %q", lines)
	}
}

func TestAnOnlookerWithoutEventsCostsNoRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(100), protected)
	w.pass(60_000)
	for _, r := range w.records {
		if r.Kind() == record.KindMemory || r.Kind() == record.KindDeclined {
			t.Errorf("want no record for a strategy that does not ask, have %s %s", r.Kind(), r.Summary())
		}
	}
	one := w.engine.Tracker().Strategy("one")
	if list, missed, all := one.Events(); len(slices.Collect(list))+missed+one.PendingEvents() > 0 || all != 0 {
		t.Errorf("want nothing kept, have %v, %d of %d", slices.Collect(list), missed, all)
	}
}

// A fill is counted once.
func TestEventCountsEqualPositionAfterAnyCrash(t *testing.T) {
	t.Parallel()
	counts := func(view *strategy.View, plan *strategy.Plan) {
		n, _ := view.Memory.Get("held")
		for _, e := range view.Events {
			switch {
			case e.Kind != strategy.EventFilled:
			case e.Side == exchange.Buy:
				n += int64(e.Quantity)
			default:
				n -= int64(e.Quantity)
			}
		}
		plan.Remember("held", n)
		target := exchange.Quantity(100)
		if view.NowMS-startMS > 15_000 {
			target = 40
		}
		plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: target}, "")
	}
	for cut := 4; cut < 40; cut++ {
		w := newWorld(t, nil, events(counts))
		w.cut = cut
		w.pass(60_000)
		w.start()
		w.pass(20_000)
		counted, _ := w.engine.Tracker().Strategy("one").Memory().Get("held")
		held, _ := w.venue.Position("one", "BTC-USDT")
		if exchange.Quantity(counted) != held.Signed() || held.Signed() != 40 {
			t.Errorf("cut after %d records: counted %d, held %d\n%s", cut, counted, held.Signed(), w.story())
		}
	}
}

func TestMoreEventsThanAreStoredAreCounted(t *testing.T) {
	t.Parallel()
	var missed, seen int
	w := newWorld(t, nil, events(func(view *strategy.View, plan *strategy.Plan) {
		missed, seen = missed+view.Missed, seen+len(view.Events)
		hold(0)(view, plan)
	}))
	w.pass(5_000)
	for i := range 1_005 {
		r := record.Record{AtMS: w.now, Strategy: "one", Symbol: bitcoin, Body: record.Declined{Purpose: 1, Side: exchange.Buy, Rule: fmt.Sprint(i)}}
		w.engine.Tracker().Apply(&r)
		w.records = append(w.records, r)
	}
	w.start()
	w.pass(5_000)
	if missed != 5 || seen != 1_000 {
		t.Errorf("want 1000 events and 5 missed, each once, have %d and %d", seen, missed)
	}
}

// There is one entry for each signal, and none for a signal from before the stop.
func TestSignalReentersAfterStopDespiteCrash(t *testing.T) {
	t.Parallel()
	signals := func(view *strategy.View, plan *strategy.Plan) {
		if s := (view.NowMS - startMS) / 1_000; s == 5 || s >= 40 && s < 43 { // the second signal lasts 3 s
			hold(100)(view, plan)
			plan.SignalMS = startMS + 5_000
			if s > 5 {
				plan.SignalMS = startMS + 40_000
			}
		}
	}
	for cut := 3; cut < 40; cut++ {
		w := newWorld(t, signals, protected)
		w.cut = cut
		w.pass(20_000)
		w.price("40000")
		w.pass(40_000)
		w.start()
		w.pass(20_000)
		entries := 0
		for _, order := range w.sent {
			if order.Type == exchange.MarketOrder && order.Side == exchange.Buy {
				entries++
			}
		}
		if held := w.held(); held != 100 || entries > 3 { // one may have been sent twice under two ids: its answer was lost
			t.Errorf("cut after %d records: want 100 held after the second signal, have %d after %d entries\n%s", cut, held, entries, w.story())
		}
	}
}
