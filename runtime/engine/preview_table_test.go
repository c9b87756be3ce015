package engine

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

// The preview shows the opening that follows once the leverage is set.
func TestPreviewShowsOpeningAfterLeverage(t *testing.T) {
	t.Parallel()
	for leverage, want := range map[int]string{10: "entry", 5: "leverage, entry later"} {
		w := newWorld(t, hold(10))
		see(w.engine.legs[0].symbol, func(o *seen) { o.Last, o.LastMS = 50_000e8, w.now })
		w.pass(500)
		see(w.symbol(), func(o *seen) { o.Leverage = leverage })
		var have []string
		for _, step := range w.engine.PreviewTicks()[0].Steps {
			text := step.Intent.Purpose.String()
			if step.Later {
				text += " later"
			}
			have = append(have, text)
		}
		if strings.Join(have, ", ") != want {
			t.Errorf("at a leverage of %d: want %s, have %q", leverage, want, have)
		}
	}
}

// The preview includes the plan's leverage and protection, and only one opening at a time.
func TestAPreviewIsOfThePlanThatTheTickWouldMake(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
		plan.Leverage = 7
		plan.OrdersSet = true
		for _, key := range []string{"a", "b"} {
			plan.Orders = append(plan.Orders, strategy.DesiredOrder{Key: key, Side: exchange.Buy, Price: 40_000e8, Quantity: 10})
		}
	}, func(w *world) { w.config.Strategies[0].Schedule = each(60_000) })
	w.pass(20_000)
	see(w.symbol(), func(o *seen) { o.Last, o.LastMS = 50_000e8, w.now })
	o := w.engine.PreviewTicks()[0]
	var have []string
	for _, step := range o.Steps {
		have = append(have, fmt.Sprint(step.Intent.Purpose, " ", step.Intent.Key, step.Intent.Leverage, " ", step.Later))
	}
	if want := "leverage 7 false, order a0 true, order b0 true"; strings.Join(have, ", ") != want {
		t.Errorf("want %s, have %q", want, have)
	}
	if !o.Changes || o.NowMS != w.engine.nowMS || o.Equity.IsZero() || o.Position != 0 || o.Last != 50_000e8 || o.LastMS != w.now {
		t.Errorf("want what is known now, have %d at %d, %s", o.Last, o.NowMS, o.Equity)
	}
}

// Without a candle it shows none.
func TestAPreviewShowsTheNewestCandle(t *testing.T) {
	t.Parallel()
	for _, count := range []int{0, 1, 3} {
		w := settled(t)
		one := w.heldCandles(count)
		if count > 0 {
			one.series.candles.Close[count-1] = 77
		}
		o, s := w.engine.PreviewTicks()[0], w.engine.Status().Strategies[0]
		want, closed := exchange.Price(0), int64(0)
		if count > 0 {
			want, closed = 77, w.now
		}
		if o.Candle.Close != want || o.CandleMS != closed || s.CandleMS != closed {
			t.Errorf("%d candles: want the newest, which closed now, have %+v at %d, in the status %d", count, o.Candle, o.CandleMS, s.CandleMS)
		}
	}
}

// The preview names the cause, and the plan in force stays as it is.
func TestPreviewReportsStrategyFailure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plan func(*strategy.View, *strategy.Plan)
		want string
	}{
		"it panics":         {func(*strategy.View, *strategy.Plan) { panic("a fault") }, "the strategy would fail: a fault"},
		"beyond all bounds": {hold(1e15), "the strategy would fail: a target of"},
		"it does not":       {hold(10), ""},
	} {
		w := settled(t)
		w.engine.legs[0].config.Strategy = scripted(c.plan)
		o := w.engine.PreviewTicks()[0]
		text := ""
		if len(o.Blocks) > 0 {
			text = o.Blocks[0].What
		}
		if !strings.HasPrefix(text, c.want) || (c.want == "") != (len(o.Blocks) == 0) || o.Changes != (c.want == "") || w.engine.legs[0].failure.why != "" {
			t.Errorf("%s: want %q, have %+v, changes %t", name, c.want, o.Blocks, o.Changes)
		}
	}
}

// The cases cover each level, with the exits that follow once the cancels are confirmed.
func TestHaltPreview(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		level record.HaltLevel
		scope account.Scope
		want  string
	}{
		{"a pause", record.LevelPause, account.Scope{}, ""},
		{"it cancels", record.LevelCancel, account.Scope{}, "cancel low"},
		{"it flattens", record.LevelFlatten, account.Scope{}, "cancel high, cancel low, exit later"},
		{"of another strategy", record.LevelFlatten, account.Scope{Strategy: "two"}, ""},
		{"of its symbol", record.LevelCancel, account.Scope{Symbol: bitcoin}, "cancel low"},
	} {
		w := standing(t)
		var have []string
		for _, step := range w.engine.PreviewHalt(c.level, c.scope) {
			text := step.Intent.Purpose.String()
			if step.Intent.Purpose == placement.Cancel {
				text += " " + w.engine.tracker.Placement(step.Intent.ClientID).Key()
			}
			if step.Later {
				text += " later"
			}
			if step.Strategy != "one" || step.Symbol.Name != "BTC-USDT" {
				t.Errorf("%s: want the strategy and its symbol named, have %+v", c.name, step)
			}
			have = append(have, text)
		}
		if slices.Sort(have); strings.Join(have, ", ") != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
}

// The strategy reads other symbols, and no worker answers in a preview.
func TestPreviewUsesCommonCandles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		reach   int // number of known candles of the other symbol
		failsAt int // the candle at which it panics; -1 for none
		want    int // number of candles seen
	}{{"all", 5, -1, 5}, {"the other lags", 3, -1, 3}, {"the other has none", 0, -1, 0}, {"it fails", 5, 2, 3}} {
		w := settled(t, func(w *world) { w.config.Rehearse = true })
		one := w.heldCandles(5)
		var seen []bool
		reader := pairReader{scripted(hold(0)), []exchange.SymbolKey{ether}, &seen}
		one.config.Strategy, one.schedule.seen = reader, 0
		if c.failsAt >= 0 {
			one.config.Strategy = faultyReader{reader, c.failsAt}
		}
		other := w.etherCandles(5)
		other.end = c.reach
		one.others = []*series{other}
		w.engine.market.caughtUp(one.series, 5)
		if one.schedule.seen != c.want || len(seen) < min(c.want, 2) || (one.failure.why != "") != (c.failsAt >= 0) {
			t.Errorf("%s: want %d candles seen, have %d and %v, failed %q", c.name, c.want, one.schedule.seen, seen, one.failure.why)
		}
		for i, known := range seen {
			if !known {
				t.Errorf("%s: candle %d was seen without the other symbol's", c.name, i)
			}
		}
		one.others, one.schedule.seen = nil, 0
		if w.engine.market.caughtUp(one.series, 5); one.schedule.seen != 0 {
			t.Errorf("%s: want no candle given twice to a strategy that reads its own alone, have %d", c.name, one.schedule.seen)
		}
	}
}

// faultyReader panics at a candle.
type faultyReader struct {
	pairReader
	at int
}

func (f faultyReader) Candle(view *strategy.View) {
	if len(*f.seen) == f.at {
		panic("a fault")
	}
	f.pairReader.Candle(view)
}

// The text names positions, orders, and obstacles.
func TestHaltRemainingText(t *testing.T) {
	t.Parallel()
	exitRefused := func(w *world) {
		w.engine.dispatcher.rejections.isNew("one exit ", "reduce_only: a test", w.engine.nowMS)
	}
	for _, c := range []struct {
		name  string
		level record.HaltLevel
		with  func(w *world)
		want  string
	}{
		{"a pause leaves all", record.LevelPause, nil, ""},
		{"an order", record.LevelCancel, nil, "orders to end: 1"},
		{"all", record.LevelFlatten, nil, "to close: futures BTC-USDT 0.01; orders to end: 3"},
		{"a rule holds the exit back", record.LevelFlatten, exitRefused,
			"to close: futures BTC-USDT 0.01; orders to end: 3; the exit of futures BTC-USDT is refused by reduce_only: a test"},
		{"a rule held the exit back a while ago", record.LevelFlatten, func(w *world) { exitRefused(w); w.engine.nowMS += freshMS + 1 },
			"to close: futures BTC-USDT 0.01; orders to end: 3"},
		{"the exchange refuses the exit", record.LevelFlatten, func(w *world) {
			w.engine.backoffs.count(attempt{strategy: "one", symbol: bitcoin, purpose: placement.Exit}, 7, "no", false, 1_000)
		}, "to close: futures BTC-USDT 0.01; orders to end: 3; futures BTC-USDT: the exchange refuses the exit, once: 7 no; retried at 00:00:02"},
		{"the journal fails", record.LevelCancel, func(w *world) { w.engine.journalErr = errFull },
			"orders to end: 1; the journal cannot be written; it is retried every second"},
		{"the exchange fails", record.LevelCancel, func(w *world) { w.blindedOn(bitcoin, 2) },
			"orders to end: 1; reads of the exchange fail (2 times in a row); they are retried every 2 s"},
		{"an exit is not read", record.LevelFlatten, func(w *world) { w.sends(placement.Exit); w.blindedOn(bitcoin, 1) },
			"to close: futures BTC-USDT 0.01; orders to end: 4; an exit of futures BTC-USDT was sent; the next read shows its outcome; " +
				"reads of the exchange fail (1 times in a row); they are retried every 2 s"},
		{"a person took an order out", record.LevelPause, func(w *world) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: w.live(placement.Order, "low").ClientOrderID(),
				Body: record.Withdrawn{Reason: "news"}})
		}, "orders to end: 1"},
	} {
		w := standing(t)
		w.engine.out = &w.out
		if c.with != nil {
			c.with(w)
		}
		if have := w.engine.remaining(account.Scope{}, c.level); have != c.want {
			t.Errorf("%s: want %q\nhave %q", c.name, c.want, have)
		}
		if have := w.engine.remaining(account.Scope{Strategy: "two"}, c.level); have != "" {
			t.Errorf("%s: want nothing left of another scope, have %q", c.name, have)
		}
	}
}

// A halt's orders are accepted once no opening order is live and, if it flattens, accepted exits cover the positions.
func TestHaltOrdersAreAccepted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		level record.HaltLevel
		with  func(w *world)
		want  bool
	}{
		{"nothing opens", record.LevelCancel, func(*world) {}, true},
		{"an order opens", record.LevelCancel, func(w *world) { w.sends(placement.Entry) }, false},
		{"a stop stands", record.LevelCancel, func(w *world) { w.sends(placement.StopLoss) }, true},
		{"a position is not being closed", record.LevelFlatten, func(w *world) {
			w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: 10}})
			see(w.symbol(), func(o *seen) { o.Position = 10 })
		}, false},
	} {
		w := settled(t)
		c.with(w)
		if have := w.engine.exitsAccepted(account.Scope{}, c.level); have != c.want || !w.engine.exitsAccepted(account.Scope{Strategy: "two"}, c.level) {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
	for want, scope := range map[string]account.Scope{"": {}, " --strategy one": {Strategy: "one", Symbol: bitcoin}, " --symbol BTC-USDT": {Symbol: bitcoin}} {
		if have := rearmFlags(scope); have != want {
			t.Errorf("want %q, have %q", want, have)
		}
	}
}
