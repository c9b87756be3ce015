package engine

import (
	"fmt"
	"slices"
	"testing"

	"botd/exchange"
	"botd/internal/reconciletest"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

// Only the decision on the last candle counts, and an entry that was decided on an earlier one lapses. A strategy outside the engine is
// called.
func TestOnlyLastOfSeveralCandlesDecides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name               string
		count              int
		from               int // the candle whose decision requests the position
		held               exchange.Quantity
		latched            bool
		offload, rehearses bool
		decisions          int
	}{
		{"one", 1, 0, 0, false, false, false, 1},
		{"two, by the first", 2, 0, 0, true, false, false, 1},
		{"two, by the second", 2, 1, 0, false, false, false, 1},
		{"three, by the second", 3, 1, 0, true, false, false, 1},
		{"two, and it holds something", 2, 0, 10, false, false, false, 1},
		{"two, off the engine", 2, 0, 0, false, true, false, 0},
		{"two, in a preview", 2, 0, 0, false, false, true, 0},
	} {
		w := settled(t, byCandles)
		w.engine.config.Offload, w.engine.config.Rehearse = c.offload, c.rehearses
		one := w.heldCandles(5)
		from := w.now + int64(c.from+1)*minuteMS
		one.config.Strategy = scripted(func(view *strategy.View, plan *strategy.Plan) {
			if view.NowMS >= from {
				hold(10)(view, plan)
			} else {
				plan.Hold(strategy.Flat(), "not yet")
			}
		})
		if c.held != 0 {
			w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: c.held}})
		}
		answer := &exchange.Candles{Interval: exchange.Minute1}
		for i := range c.count {
			answer.Append(candleAt(w.now + int64(i)*minuteMS))
		}
		w.engine.nowMS = w.now + int64(c.count)*minuteMS + 2_000
		w.out.Reset()
		one.series.begun, one.question.givenMS, one.question.candlesSince, one.question.id = true, 0, 0, 0
		w.engine.market.applyPolled(one.series, &EventAnswer{Answer: exchange.Answer{Candles: answer}})
		plans := len(facts[NoteDecision](w.out.Notes))
		if have := one.state.Latch() == 1; have != c.latched || plans != c.decisions || (len(w.out.Asks) == 1) != c.offload {
			t.Errorf("%s: want it latched %t, %d decisions in force, have %t, %d, %d questions", c.name, c.latched, c.decisions, have, plans, len(w.out.Asks))
		}
		if c.offload {
			if one.question.candlesSince != c.count {
				t.Errorf("%s: want the candles counted, have %d", c.name, one.question.candlesSince)
			}
			continue
		}
		if closed := w.now + int64(c.count)*minuteMS; one.decision.candleTargetMS != from || !c.rehearses && one.schedule.lastMS != closed {
			t.Errorf("%s: want its target since %d and its last decision at the last close, have %d, %d", c.name, from-w.now, one.decision.candleTargetMS-w.now,
				one.schedule.lastMS-w.now)
		}
	}
}

// A candle counts as new until the next one is due, two seconds after its close.
func TestCandleIsNewUntilNextIsDue(t *testing.T) {
	t.Parallel()
	for after, want := range map[int64]int{61_999: 1, 62_000: 0} {
		m, s := polled(t, bitcoin, 1)
		m.nowMS = s.candles.CloseMS(0) + after
		if m.applyCandle(s, 0); len(m.out.Notes) != want {
			t.Errorf("%d ms after its close: want %d reports, have %d", after, want, len(m.out.Notes))
		}
	}
}

// A position counts as closed if the rest, less fees, is below the quantity step or the smallest order.
func TestUnreduciblePositionIsClosed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		held exchange.Quantity
		last exchange.Price // a step is a thousandth, and the minimum order is 5 USDT
		tick exchange.Quantity
		want bool
	}{
		{0, 50_000e8, 1, true}, {1, 50_000e8, 1, false}, {-1, 50_000e8, 1, false}, {1, 5_000e8, 1, false}, {1, 4_999e8, 1, true}, {-1, 4_999e8, 1, true},
		{9, 50_000e8, 10, true}, {10, 50_000e8, 10, false},
	} {
		w := settled(t)
		rules := *w.symbol().Rules()
		rules.QuantityTick = c.tick
		see(w.symbol(), func(o *seen) { o.Rules, o.Last = &rules, c.last })
		w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: c.held}})
		if have := w.engine.legs[0].ended(); have != c.want {
			t.Errorf("%d at %d: want it over %t, have %t", c.held, c.last, c.want, have)
		}
	}
}

// The text depends on the policy, and on whether a stop or something else ended the position.
func TestLatchReleaseText(t *testing.T) {
	t.Parallel()
	const (
		never     = "it waits until the strategy desires no position, or the other side (reentry: never)"
		person    = "it waits until the strategy desires no position, or the other side, or reports a new signal"
		immediate = "the next decision for that side enters (reentry: immediate)"
		signal    = "it waits for a new signal, for no position, or for the other side (reentry: signal)"
	)
	for _, stopped := range []bool{true, false} {
		w := newWorld(t, hold(10), protected)
		w.pass(20_000)
		if stopped {
			w.price("48000")
		} else {
			w.manually(w.market(exchange.Sell, 10, true))
		}
		w.pass(30_000)
		one := w.engine.legs[0]
		if one.state.Latch() != 1 || one.state.LatchedByProtection() != stopped {
			t.Fatalf("want the long side latched, by its stop %t\n%s", stopped, w.story())
		}
		for policy, want := range map[strategy.Reentry][2]string{
			strategy.ReentryNever: {never, never}, strategy.ReentryImmediate: {immediate, person}, strategy.ReentrySignal: {signal, person},
		} {
			if one.reentry = policy; !stopped {
				want[0] = want[1]
			}
			if have := one.latchRemedy(); have != want[0] {
				t.Errorf("%v, by its stop %t: want %q, have %q", policy, stopped, want[0], have)
			}
		}
	}
}

// The latch stays, is released, or is marked as idle, each in a record. A suppressed signal is reported.
func TestDecisionUpdatesLatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		policy   strategy.Reentry
		signal   bool // a new one
		target   int  // its sign; 2 for none
		record   string
		reported string
		round    bool
	}{
		{"it stays", strategy.ReentrySignal, false, 1, "", "", false},
		{"a new signal", strategy.ReentrySignal, true, 1, "0 false true", "0 true false the strategy desires this side again", true},
		{"no target", strategy.ReentrySignal, false, 2, "1 true false", "", false},
		{"a new signal that may not enter", strategy.ReentryNever, true, 1, "", "1 false true a new signal does not enter: it waits until the strategy " +
			"desires no position, or the other side (reentry: never)", false},
	} {
		w := newWorld(t, hold(10), protected)
		w.pass(20_000)
		w.price("48000")
		w.pass(30_000)
		one := w.engine.legs[0]
		if one.state.Latch() != 1 {
			t.Fatalf("%s: want the long side latched\n%s", c.name, w.story())
		}
		one.reentry, one.decision.silent, one.decision.signalMS, one.plan = c.policy, false, 0, strategy.Plan{}
		if c.target == 1 {
			one.plan.Target = strategy.Target{Kind: strategy.ByQuantity, Quantity: 10}
		}
		if c.signal {
			one.plan.SignalMS = one.state.LatchMS()
		}
		signalMS := one.plan.SignalMS
		w.out.Reset()
		w.engine.out, w.engine.roundMS = &w.out, never
		before := len(w.engine.unwritten)
		w.engine.tick.reenter(one)
		have, reported := "", ""
		for _, r := range w.engine.unwritten[before:] {
			if body, is := r.Body.(record.Latch); is {
				have = fmt.Sprint(body.Side, body.Idle, body.Renewed)
			}
		}
		for _, fact := range facts[NoteLatch](w.out.Notes) {
			reported = fmt.Sprint(fact.Side, " ", fact.Ended, " ", fact.Signal, " ", fact.Reason)
		}
		if have != c.record || reported != c.reported || (w.engine.roundMS == w.engine.nowMS) != c.round {
			t.Errorf("%s: want the record %q, %q reported, have %q, %q", c.name, c.record, c.reported, have, reported)
		}
		if one.decision.silent != (c.target == 2) || one.decision.signalMS != signalMS {
			t.Errorf("%s: want what it asked for noted, have %t, %d", c.name, one.decision.silent, one.decision.signalMS)
		}
	}
}

// The refusal is forgotten if the order rests or has filled. An order that was accepted and then rejected, or canceled before a list
// showed it, counts as one more refusal, unless it was post-only.
func TestAcceptedOrderClearsRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		body   record.Body
		post   bool
		sentMS int64 // relative to the refusal
		want   int   // consecutive refusals
		why    string
	}{
		{"it stands", record.Fill{OrderID: 5}, false, 0, 0, ""},
		{"it filled", record.Ended{OrderID: 5, State: placement.Filled, Filled: 10}, false, 0, 0, ""},
		{"one from before the refusal stands", record.Fill{OrderID: 5}, false, -1, 1, "7 no"},
		{"it was rejected", record.Ended{OrderID: 5, State: placement.Rejected}, false, 0, 2, "accepted, then rejected"},
		{"it was not to take, and was rejected", record.Ended{OrderID: 5, State: placement.Rejected}, true, 0, 1, "7 no"},
		{"it was canceled", record.Ended{OrderID: 5, State: placement.Canceled}, false, 0, 2, "accepted, then canceled before a list showed it"},
		{"it was not to take, and was canceled", record.Ended{OrderID: 5, State: placement.Canceled}, true, 0, 1, "7 no"},
	} {
		w := settled(t)
		b := w.engine.backoffs
		order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Price: 1, Quantity: 10,
			PostOnly: c.post, ClientOrderID: w.engine.tracker.NextClientOrderID("t")}
		about := func(body record.Body) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.engine.nowMS, Strategy: "one", Symbol: bitcoin, ClientOrderID: order.ClientOrderID, Body: body})
		}
		about(record.Sending{Order: order, Purpose: placement.Order, Key: "k"})
		p := w.engine.tracker.Placement(order.ClientOrderID)
		b.count(attemptAt(p), 7, "no", false, w.engine.nowMS-c.sentMS)
		about(c.body)
		b.settled(p)
		refused, why := 0, ""
		if one := b.of(attemptAt(p)); one != nil {
			refused, why = one.refused, one.why
		}
		if refused != c.want || why != c.why {
			t.Errorf("%s: want %d refusals, %q, have %d, %q", c.name, c.want, c.why, refused, why)
		}
	}
}

// A spot stop that ended before any list showed it open counts as refused: the next one waits, longer each time. If botd canceled it, it does not.
func TestDeniedStopCountsAsRefused(t *testing.T) {
	t.Parallel()
	deniedStops(t, false, false, 2)
	deniedStops(t, true, false, 0)
	deniedStops(t, false, true, 0)
}

func deniedStops(t testing.TB, shown, canceled bool, want int) {
	t.Helper()
	w := newWorld(t, hold(2_000), onSpot)
	w.pass(20_000)
	b, refused := w.engine.backoffs, 0
	for id := int64(900); id < 902; id++ {
		order := exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopLimit, Price: 46_550e8,
			StopPrice: 49_000e8, Quantity: 2_000, ClientOrderID: w.engine.tracker.NextClientOrderID("t")}
		about := func(body record.Body) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: order.ClientOrderID, Body: body})
		}
		about(record.Sending{Order: order, Purpose: placement.StopLoss})
		about(record.Acknowledged{OrderID: id})
		if shown {
			about(record.Fill{OrderID: id})
		}
		if canceled {
			w.engine.tracker.NoteCancel(order.ClientOrderID, w.now)
		}
		p := w.engine.tracker.Placement(order.ClientOrderID)
		about(record.Ended{OrderID: id, State: placement.Canceled})
		b.settled(p)
		if one := b.of(attemptAt(p)); one != nil {
			refused = one.refused
		}
	}
	if refused != want {
		t.Errorf("shown %t, canceled %t: want %d refusals, have %d", shown, canceled, want, refused)
	}
}

// The intent is sent again as after a first refusal, and no later than scheduled before.
func TestRefusedIntentIsRetriedAfterMarketRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ lastAgoMS, untilMS, want int64 }{
		{5_000, 60_000, 0}, {400, 60_000, 600}, {400, 300, 300}, {5_000, -100, -100},
	} {
		w := settled(t)
		b, a := w.engine.backoffs, attempt{strategy: "one", symbol: bitcoin, purpose: placement.Exit}
		b.count(a, 7, "no", false, w.engine.nowMS-c.lastAgoMS)
		b.of(a).untilMS = w.engine.nowMS + c.untilMS
		b.readAgain(ether)
		if have := b.of(a).untilMS - w.engine.nowMS; have != c.untilMS {
			t.Errorf("%+v: want it left alone by another symbol, have %d", c, have)
		}
		if b.readAgain(bitcoin); b.of(a).untilMS != w.engine.nowMS+c.want {
			t.Errorf("%+v: have it in %d ms", c, b.of(a).untilMS-w.engine.nowMS)
		}
	}
}

func TestTheTargetOfAPlanIsAQuantityOnceItWasPriced(t *testing.T) {
	t.Parallel()
	share := strategy.Target{Kind: strategy.ByEquity, Share: exchange.RateOne / 2}
	for _, c := range []struct {
		name   string
		target strategy.Target
		priced exchange.Quantity
		want   exchange.Quantity
	}{
		{"a quantity", strategy.Target{Kind: strategy.ByQuantity, Quantity: 17}, 0, 17},
		{"a short one", strategy.Target{Kind: strategy.ByQuantity, Quantity: -17}, 0, -17},
		{"a share", share, 0, 0}, {"a share that was priced", share, 40, 40}, {"none", strategy.Target{}, 0, 0},
	} {
		w := settled(t)
		w.plan(c.target)
		if c.priced != 0 {
			w.engine.tracker.Apply(&record.Record{Strategy: "one", Symbol: bitcoin, Body: record.Priced{Target: c.target, Quantity: c.priced}})
		}
		if have := w.engine.Status().Strategies[0].Target; have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
}

// Limits use the equity of a complete read, also between rounds if one of them needs it, and never an equity of two moments.
func TestEquityLimitsUseCompleteReads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name             string
		fetched, watches bool
		with             func(l *limits)
		want             bool
	}{
		{"a round has read", true, false, nil, true}, {"between rounds", false, true, nil, true},
		{"between rounds, and none needs it", false, false, nil, false},
		{"of two moments", true, true, func(l *limits) { l.mixed = true }, false},
		{"before the account was read", true, true, func(l *limits) { *reconciletest.Of(l.tracker).AccountMS = 0 }, false},
	} {
		b := valued(t, 1, 0)
		l := &limits{base: b, watching: c.watches}
		b.legs[0].state = b.tracker.Strategy(b.legs[0].config.Name)
		b.legs[0].config.Limits = risk.Limits{MaxDrawdown: risk.Loss{USDT: exchange.AmountOf(5)}}
		b.record(record.Record{Strategy: b.legs[0].config.Name, Symbol: b.legs[0].symbol.Key(), Body: record.Result{Base: exchange.AmountOf(900)}})
		if c.with != nil {
			c.with(l)
		}
		l.watchLimits(c.fetched)
		account, own := b.tracker.Watch("").Day(), b.tracker.Watch(b.legs[0].config.Name).Day()
		if have := account.StartMS != 0; have != c.want || (own.StartMS != 0) != c.want || c.want && (account.Equity != exchange.AmountOf(1_000) ||
			own.Equity != exchange.AmountOf(900) || l.unmixed != account.Equity || account.Markets != "futures" || own.Markets != "") {
			t.Errorf("%s: want the day begun %t, have %+v, %+v", c.name, c.want, account, own)
		}
	}
}

// A day stores its first equity, and the peak of all days, raised by more than a thousandth. A breach stores how long it lasts, and ends at
// its time.
func TestDayStoresEquityPeakAndBreaches(t *testing.T) {
	t.Parallel()
	dayStored(t)
}

func dayStored(t testing.TB) {
	b := valued(t, 1, 0)
	l := &limits{base: b}
	limit := risk.Limits{MaxDailyLoss: risk.Loss{USDT: exchange.AmountOf(50)}}
	day := b.nowMS
	for i, c := range []struct {
		afterMS      int64
		equity, want string // the day's equity and its peak
		breaches     int
	}{
		{0, "1000", "1000 1000", 0}, {1_000, "1001", "1000 1000", 0}, {2_000, "1001.01", "1000 1001.01", 0}, {3_000, "990", "1000 1001.01", 0},
		{4_000, "949", "1000 1001.01", 1}, {86_399_999, "949", "1000 1001.01", 1}, {86_400_000, "949", "949 1001.01", 0}, {86_401_000, "1100", "949 1100", 0},
		{2 * 86_400_000, "1200", "1200 1200", 0},
	} {
		b.nowMS = day + c.afterMS
		l.watch(b.tracker.Watch(""), nil, exchange.MustAmount(c.equity), &limit)
		w := b.tracker.Watch("")
		if have := fmt.Sprint(w.Day().Equity, " ", w.Day().Peak); have != c.want || len(slices.Collect(w.Breaches())) != c.breaches {
			t.Errorf("step %d: want %s and %d breaches, have %s, %+v", i, c.want, c.breaches, have, slices.Collect(w.Breaches()))
		}
	}
	notes := facts[NoteLimit](b.out.Notes)
	if len(notes) != 2 || notes[0].Ended || notes[0].ForMS != 86_400_000-4_000 || notes[0].Rule != risk.MaxDailyLoss || !notes[1].Ended ||
		notes[1].Reason != "its time has passed" {
		t.Errorf("want the breach reported with how long it lasts, and its end, have %+v", notes)
	}
}

// Rearming a scope ends a drawdown, which is measured from the current equity on, but no daily loss.
func TestRearmEndsDrawdown(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"", "futures BTC-USDT", "nobody"} {
		b := valued(t, 1, 0)
		l := &limits{base: b}
		for _, rule := range []string{risk.MaxDrawdown, risk.MaxDailyLoss} {
			b.record(record.Record{Strategy: scope, Body: record.Breach{Rule: rule, Reason: "a test", UntilMS: b.nowMS + 60_000}})
			b.record(record.Record{Strategy: "another", Body: record.Breach{Rule: rule, Reason: "a test"}})
		}
		b.record(record.Record{Strategy: scope, Body: record.Day{StartMS: 1, Equity: exchange.AmountOf(3_000), Peak: exchange.AmountOf(5_000)}})
		l.rearmed(scope)
		peak := map[string]string{"": "1000", "futures BTC-USDT": "0", "nobody": "5000"}[scope]
		var left []string
		for one := range b.tracker.Watch(scope).Breaches() {
			left = append(left, one.Rule)
		}
		if day := b.tracker.Watch(scope).Day(); !slices.Equal(left, []string{risk.MaxDailyLoss}) || day.Peak.String() != peak ||
			day.Equity != exchange.AmountOf(3_000) {
			t.Errorf("%q: want the drawdown over, measured from %s, have %v, %+v", scope, peak, left, day)
		}
		if len(slices.Collect(b.tracker.Watch("another").Breaches())) != 2 {
			t.Errorf("%q: want another scope left alone", scope)
		}
	}
}

// While a wallet is ahead of the lists, the status shows the previous equity, if there is one.
func TestShownEquityLagsWalletAhead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ahead   bool
		unmixed int64
		want    string
	}{{false, 900, "1000 true"}, {true, 900, "900 true"}, {true, 0, "1000 true"}} {
		b := valued(t, 1, 0)
		l := &limits{base: b, ahead: c.ahead, unmixed: exchange.AmountOf(c.unmixed)}
		total, known := l.displayedEquity()
		if have := fmt.Sprint(total, " ", known); have != c.want {
			t.Errorf("%+v: have %s", c, have)
		}
	}
}

// At most ten texts of a candle are remembered: a text beyond them is reported each time.
func TestTextsBeyondMemoryAreReportedEachTime(t *testing.T) {
	t.Parallel()
	w := settled(t)
	one := w.heldCandles(3)
	report := func(from, count int) int {
		w.out.Reset()
		one.plan = strategy.Plan{}
		for i := range count {
			one.plan.Notify(fmt.Sprint("text ", from+i))
		}
		w.engine.tick.sendNotices(one)
		return len(facts[NoteNotice](w.out.Notes))
	}
	one.notices = notices{began: true}
	have := []int{report(0, 5), report(5, 5), report(5, 5), report(10, 1), report(10, 1)}
	if !slices.Equal(have, []int{5, 5, 0, 1, 1}) {
		t.Errorf("want ten reported once, and the eleventh each time, have %v", have)
	}
	if sent := len(one.notices.sentMS); sent != noticesAtOnce || one.notices.withheld != 2 {
		t.Errorf("want ten of an hour sent, have %d, %d withheld", sent, one.notices.withheld)
	}
	w.engine.nowMS += noticeSpanMS
	one.series.candles.Append(candleAt(w.now))
	one.series.end++
	if report(0, 1) != 1 || one.notices.withheld != 0 {
		t.Errorf("an hour and a candle later: want the first sent again, have %d withheld", one.notices.withheld)
	}
}

// A strategy's state names the scope of its halt: the account, its symbol or the strategy.
func TestStatusNamesScopeOfHalt(t *testing.T) {
	t.Parallel()
	for want, scope := range map[string]account.Scope{"account: news": {}, "strategy one: news": {Strategy: "one"},
		"symbol futures BTC-USDT: news": {Symbol: bitcoin}} {
		w := settled(t)
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: scope.Strategy, Symbol: scope.Symbol,
			Body: record.Halt{Level: record.LevelPause, Reason: "news"}})
		if s := w.engine.Status().Strategies[0]; s.State != "halted" || s.StateReason != want {
			t.Errorf("want %q, have %q", want, s.StateReason)
		}
	}
}

func TestABreachThatAPersonEndsIsReportedWithoutAnEnd(t *testing.T) {
	t.Parallel()
	for untilMS, want := range map[int64]int64{0: 0, 60_000: 60_000} {
		b := valued(t, 1, 0)
		c := &risk.CrossedLimit{Rule: risk.MaxDrawdown, Reason: "a test"}
		if untilMS != 0 {
			c.UntilMS = b.nowMS + untilMS
		}
		(&limits{base: b}).breach(b.legs[0], b.legs[0].config.Name, c)
		if have := facts[NoteLimit](b.out.Notes); len(have) != 1 || have[0].ForMS != want || b.out.Notes[0].Symbol != b.legs[0].config.Symbol {
			t.Errorf("want it for %d ms, have %+v", want, have)
		}
	}
}

// A step that one rule refuses is previewed as refused, whatever the other rules return.
func TestAStepThatAnyRuleRefusesIsForeseenAsRefused(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]func(w *world){
		"the first rule": func(w *world) {
			rules := *w.symbol().Rules()
			rules.Tradable = false
			see(w.symbol(), func(o *seen) { o.Rules = &rules })
		},
		"a later one": func(w *world) {
			rules := *w.symbol().Rules()
			rules.MinNotional = exchange.AmountOf(600)
			see(w.symbol(), func(o *seen) { o.Rules = &rules })
		},
		"a halt": func(w *world) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Body: record.Halt{Level: record.LevelPause, Reason: "a test"}})
		},
	} {
		w := settled(t)
		one := w.engine.legs[0]
		if step := w.engine.previews.judge(one, w.entry()); !step.Approved || len(step.Verdicts) < 20 {
			t.Errorf("%s: want it approved before, have %+v", name, step.Verdicts)
		}
		with(w)
		if step := w.engine.previews.judge(one, w.entry()); step.Approved {
			t.Errorf("%s: want it refused, have %+v", name, step.Verdicts)
		}
	}
}

// A halt acts after two seconds if it has something to cancel or close, otherwise after ten.
func TestHaltActsDuringHungRound(t *testing.T) {
	t.Parallel()
	for level, want := range map[record.HaltLevel]int64{record.LevelNone: 10_000, record.LevelPause: 10_000, record.LevelCancel: 2_000} {
		w := standing(t)
		w.engine.out = &w.out
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Body: record.Halt{Level: level, Reason: "a test"}})
		w.engine.round.beginRound()
		if have := w.engine.emergencyMS - w.engine.nowMS; have != want {
			t.Errorf("%s: want it after %d ms, have %d", level, want, have)
		}
	}
}

// Without a configured policy the strategy's own applies.
func TestAPolicyOfReentryIsTheConfiguredOne(t *testing.T) {
	t.Parallel()
	own := settled(t).engine.legs[0].reentry
	for _, configured := range []strategy.Reentry{strategy.ReentryNever, strategy.ReentryImmediate} {
		w := settled(t, func(w *world) { w.config.Strategies[0].Reentry = configured })
		if have := w.engine.legs[0].reentry; have != configured || own != strategy.ReentryOf(scripted(nil)) {
			t.Errorf("want %v, have %v", configured, have)
		}
	}
}

func TestOldRefusalsAreForgottenBeyondAThousand(t *testing.T) {
	t.Parallel()
	for count, want := range map[int]int{998: 999, 999: 1} {
		r := newRejections()
		for i := range count {
			r.isNew(fmt.Sprint(i), "no", 0)
		}
		if r.isNew("the last", "no", forgottenMS+1); len(r.last) != want {
			t.Errorf("after %d: want %d remembered, have %d", count, want, len(r.last))
		}
	}
}

// The price is rounded to the side that protects.
func TestTrailingStopIsRoundedToTick(t *testing.T) {
	t.Parallel()
	for held, want := range map[exchange.Quantity]exchange.Price{10: 49_000e8, -10: 49_000e8 + 1e7} {
		w := newWorld(t, nil, func(w *world) { w.config.Strategies[0].Strategy = &trailer{} })
		w.pass(20_000)
		see(w.symbol(), func(o *seen) { o.Position = held })
		stop := strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: 49_000e8 + 5}}
		w.engine.tracker.Apply(&record.Record{Strategy: "one", Symbol: bitcoin, Body: record.Plan{Plan: &strategy.Plan{Protection: stop}}})
		if have, _, trails := w.engine.Trails(bitcoin); have != want || !trails {
			t.Errorf("%d held: want %d, have %d", held, want, have)
		}
		if see(w.symbol(), func(o *seen) { o.Last = 1 }); w.engine.legs[0].follower() == nil {
			t.Error("want it to follow the lowest price there is")
		}
		see(w.symbol(), func(o *seen) { o.Last = 0 })
		if _, _, trails := w.engine.Trails(bitcoin); trails {
			t.Error("want nothing without a price")
		}
	}
}
