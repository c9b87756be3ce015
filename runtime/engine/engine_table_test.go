package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/internal/reconciletest"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

// The candles of the warm-up and at least the newest 4,096 are stored, and fewer than twice as many.
func TestCandleRetention(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ warmup, held, want int }{{0, 8_191, 8_191}, {0, 8_192, 4_096}, {5_000, 10_001, 10_001}, {5_000, 10_002, 5_001}} {
		s := &series{interval: exchange.Minute1, candles: &exchange.Candles{Interval: exchange.Minute1}, warmup: c.warmup, end: c.held}
		for i := range c.held {
			s.candles.Append(candleAt(int64(i) * minuteMS))
		}
		s.trim()
		if s.end != c.want || s.candles.Len() != c.want || s.candles.OpenMS[s.end-1] != int64(c.held-1)*minuteMS {
			t.Errorf("%d held, a warm-up of %d: want the newest %d, have %d", c.held, c.warmup, c.want, s.end)
		}
	}
}

// Each fact about an order returns the order's ids.
func TestFactIDs(t *testing.T) {
	t.Parallel()
	intent := &reconcile.Intent{ClientID: "bt-1", OrderID: 5}
	for name, fact := range map[string]interface{ IDs() (string, int64) }{
		"an intent": NoteIntent{intent}, "approved": NoteApproved{Intent: intent}, "refused by a rule": NoteRejection{Intent: intent},
		"an order": NoteOrder{ClientOrderID: "bt-1", OrderID: 5}, "a foreign order": NoteForeign{OrderID: 5},
	} {
		want := "bt-1 5"
		if name == "a foreign order" {
			want = " 5"
		}
		if client, id := fact.IDs(); fmt.Sprint(client, " ", id) != want {
			t.Errorf("%s: want %q, have %q %d", name, want, client, id)
		}
	}
}

// Each decision and each check is measured from start to end.
func TestDecisionsAndChecksAreMeasured(t *testing.T) {
	t.Parallel()
	w := settled(t)
	open, done := 0, map[Measured]int{}
	w.engine.Measure(func(what Measured, name string) func() {
		open++
		if name != "one" || open != 1 {
			t.Errorf("want one at a time of the strategy, have %q, %d", name, open)
		}
		return func() { open, done[what] = open-1, done[what]+1 }
	})
	w.engine.tick.decide(w.engine.legs[0], w.now)
	w.engine.dispatcher.dispatch(w.engine.legs[0], w.entry())
	if done[MeasuredDecision] != 1 || done[MeasuredCheck] != 1 || open != 0 {
		t.Errorf("want one decision and one check, have %v, %d open", done, open)
	}
}

// A refused read concerns its symbol or market, or the account if its key or its time is refused.
func TestRefusedReadScope(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		p    pendingCall
		err  error
		want []exchange.SymbolKey
	}{
		{"a market", pendingCall{kind: callRound, of: exchange.FuturesOpenOrders}, errLate, []exchange.SymbolKey{wholeMarket}},
		{"a refusal", pendingCall{kind: callRound, of: exchange.FuturesOpenOrders}, &exchange.Refusal{Status: 400, Code: 7}, []exchange.SymbolKey{wholeMarket}},
		{"its key", pendingCall{kind: callRound, of: exchange.FuturesOpenOrders}, &exchange.Refusal{Status: 401}, []exchange.SymbolKey{wholeMarket, account0}},
		{"its time", pendingCall{kind: callRound, of: exchange.SpotWallet}, &exchange.Refusal{Status: 400, Code: exchange.CodeInvalidTimestamp},
			[]exchange.SymbolKey{wholeSpot, account0}},
		{"the account", pendingCall{kind: callRound, of: exchange.FuturesAccount}, errLate, []exchange.SymbolKey{account0}},
	} {
		_, r := undisturbed(t)
		r.readFailed(&c.p, c.err)
		var have []exchange.SymbolKey
		for _, f := range r.roundReads.failures {
			have = append(have, f.of)
		}
		if !slices.Equal(have, c.want) {
			t.Errorf("%s: want %v, have %v", c.name, c.want, have)
		}
	}
	for operation, want := range map[exchange.Operation]int{exchange.FuturesLeverages: 1, exchange.FuturesTickers: 0, exchange.FuturesPositionsHistory: 1} {
		_, r := undisturbed(t)
		answer := &exchange.Answer{Operation: operation, Unreadable: []exchange.UnreadableRow{{Symbol: "BTC-USDT"}, {Symbol: "ETH-USDT"}}}
		r.handleUnreadableRows(&pendingCall{symbol: r.tracker.Track(bitcoin)}, answer)
		if len(r.roundReads.failures) != want || want == 1 && r.roundReads.failures[0].of != bitcoin {
			t.Errorf("rows of %s: want %d failures, have %+v", operation, want, r.roundReads.failures)
		}
	}
}

// Only a round can attribute an unreadable row to its domain: for any other call it is an error.
func TestAnswerWithUnreadableRowFails(t *testing.T) {
	t.Parallel()
	w := settled(t)
	one := w.engine.legs[0]
	one.watched.fundingRequested = true
	id := w.engine.begin(pendingCall{kind: callFunding, leg: one})
	w.out.Reset()
	w.engine.routeAnswer(&EventAnswer{CallID: id, Answer: exchange.Answer{Operation: exchange.FuturesFundingRate,
		Unreadable: []exchange.UnreadableRow{{Symbol: "BTC-USDT", Reason: "no number"}}}})
	notes := facts[NoteFetchFailed](w.out.Notes)
	var malformed *exchange.Malformed
	if len(notes) != 1 || !errors.As(notes[0].Err, &malformed) || malformed.Operation != exchange.FuturesFundingRate || one.watched.fundingRequested ||
		one.view.Funding.Known {
		t.Errorf("want it failed, have %+v", notes)
	}
	w.engine.routeAnswer(&EventAnswer{CallID: id})
	if len(facts[NoteFetchFailed](w.out.Notes)) != 1 {
		t.Error("want a second answer to a call left to nobody")
	}
}

// The most specific cause is returned.
func TestUnprotectedCause(t *testing.T) {
	t.Parallel()
	refused := func(times int) func(w *world) {
		return func(w *world) {
			for range times {
				w.engine.backoffs.count(attempt{strategy: "one", symbol: bitcoin, purpose: placement.StopLoss}, 7, "no", false, w.engine.nowMS)
			}
		}
	}
	for _, c := range []struct {
		name    string
		sinceMS int64 // how long ago
		with    func(w *world)
		want    string // prefix of the text
	}{
		{"it has its stop", 0, func(w *world) { see(w.symbol(), func(o *seen) { o.UnprotectedSinceMS = 0 }) }, ""},
		{"not for long", unprotectedAfterMS - 1, func(*world) {}, ""},
		{"for long", unprotectedAfterMS, func(*world) {}, "no stop is confirmed on the exchange"},
		{"in a backtest", unprotectedAfterMS, func(w *world) { w.engine.protection.feed = true }, ""},
		{"a rule", unprotectedAfterMS, func(w *world) {
			w.engine.protection.rejections.isNew("one stop_loss ", "shape: a test", w.engine.nowMS)
		}, "the stop is refused by shape: a test"},
		{"the exchange refused it once", 1, refused(1), ""},
		{"the exchange refuses it", 1, refused(2), "the exchange refuses the stop, 2 times in a row: 7 no"},
	} {
		w := settled(t)
		see(w.symbol(), func(o *seen) { o.UnprotectedSinceMS = w.engine.nowMS - c.sinceMS })
		c.with(w)
		one := w.engine.legs[0]
		if have := w.engine.protection.cause(one); !strings.HasPrefix(have, c.want) || (have == "") != (c.want == "") ||
			w.engine.protection.declared(one) != (c.want != "") || w.engine.protection.declared(nil) {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
	w := newWorld(t, hold(2_000), onSpot, protected)
	w.pass(30_000)
	one := w.engine.legs[0]
	rules := *one.symbol.Rules()
	rules.MinNotional = exchange.AmountOf(5_000)
	see(one.symbol, func(o *seen) { o.Rules, o.UnprotectedSinceMS = &rules, w.engine.nowMS-unprotectedAfterMS })
	if have := w.engine.protection.cause(one); !strings.Contains(have, "the exchange currently accepts no order below 5000 USDT") {
		t.Errorf("want the new minimum named, have %q", have)
	}
}

func TestManualCancelAndCloseRefusals(t *testing.T) {
	t.Parallel()
	fails := func(w *world, id, want string) {
		t.Helper()
		if _, err := w.engine.PreviewCancel(id); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("want %q, have %v", want, err)
		}
	}
	w := settled(t)
	fails(w, "bt-none", "order bt-none is no longer open")
	elsewhere := w.sendsOn(ether, placement.Order)
	fails(w, elsewhere, "no strategy trades futures ETH-USDT now")
	own := w.sends(placement.Order)
	w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: own, Body: record.Withdrawn{Reason: "news"}})
	fails(w, own, "order "+own+" is already being canceled: news")
	ended := w.sends(placement.Order)
	w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: ended, Body: record.Ended{State: placement.Canceled}})
	fails(w, ended, "order "+ended+" is no longer open")
	for key, want := range map[exchange.SymbolKey]string{
		ether: "no strategy trades futures ETH-USDT now", bitcoin: "there is no position on futures BTC-USDT",
	} {
		if _, err := w.engine.PreviewClose(key); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("want %q, have %v", want, err)
		}
	}
	// A current refusal by a rule is part of the preview.
	w = standing(t)
	rules := *w.symbol().Rules()
	rules.Cancelable = false
	see(w.symbol(), func(o *seen) { o.Rules = &rules })
	action, err := w.engine.PreviewCancel(w.live(placement.Order, "low").ClientOrderID())
	if err != nil || !strings.Contains(strings.Join(action.Lines, "\n"), "the rule symbol currently refuses a step of this") {
		t.Errorf("want the rule named, have %v, %q", err, action.Lines)
	}
}

// The plan's leverage and protection take precedence over the configured ones. An exit is left to another botd for a
// while, except in a flatten.
func TestPlanOverridesConfiguration(t *testing.T) {
	t.Parallel()
	stop := strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 10}}
	for _, c := range []struct {
		plan     strategy.Plan
		leverage int
		share    exchange.Rate
	}{{strategy.Plan{}, 10, exchange.RateOne / 50}, {strategy.Plan{Leverage: 3}, 3, exchange.RateOne / 50}, {strategy.Plan{Protection: stop}, 10,
		exchange.RateOne / 10}} {
		w := settled(t, protected)
		w.engine.tracker.Apply(&record.Record{Strategy: "one", Symbol: bitcoin, Body: record.Plan{Plan: &c.plan}})
		desired := w.engine.dispatcher.desired(w.engine.legs[0])
		if desired.Leverage != c.leverage || desired.Protection.StopLoss.Share != c.share || !desired.MayOpen || !desired.Bridge ||
			desired.Interval != exchange.Minute1 || desired.ExitsOnly {
			t.Errorf("want a leverage of %d and a stop at %s, have %+v", c.leverage, c.share, desired)
		}
	}
	w := newWorld(t, hold(0), onSpot)
	w.pass(20_000)
	see(w.symbol(), func(o *seen) {
		o.Foreign = []exchange.Order{{ID: 9, ClientOrderID: placement.ClientOrderID("t", placement.Start{Epoch: 99, Random: "zzzzz"}, 1),
			Market: exchange.Spot, Symbol: "BTC-USDT"}}
	})
	d, one := w.engine.dispatcher, w.engine.legs[0]
	if yields := d.desiredAt(one, record.LevelCancel).YieldMS; yields == 0 || d.desiredAt(one, record.LevelFlatten).YieldMS != 0 {
		t.Errorf("want an exit left to the other botd for a while, unless a person flattens, have %d", yields)
	}
}

// Memory beyond all bounds, and a panic, stop the strategy.
func TestSignalFailureStopsStrategy(t *testing.T) {
	t.Parallel()
	for _, offloads := range []bool{false, true} {
		for name, receiver := range map[string]strategy.Strategy{"it remembers without bounds": &forgetful{scripted(hold(0))},
			"it panics": &fragile{scripted(hold(0))}} {
			w := newWorld(t, hold(0), func(w *world) { w.config.Strategies[0].Strategy, w.config.Offload = receiver, offloads })
			w.pass(10_000)
			s := &Signal{Signal: strategy.Signal{ID: "s", Side: 1, Share: exchange.RateOne, AtMS: 7}}
			if offloads {
				s = w.heard("one", 1, 7)
				s.Reception.Answer()
			}
			if err := w.given("one", s); !errors.Is(err, ErrFailed) || w.engine.legs[0].failure.why == "" {
				t.Errorf("%s, off the engine %t: want it stopped, have %v", name, offloads, err)
			}
			if offloads {
				if again := w.heard("one", 1, 8); !errors.Is(again.Err, ErrFailed) || again.Reception != nil {
					t.Errorf("%s: want nothing prepared for a strategy that has failed, have %+v", name, again)
				}
			}
		}
	}
}

// forgetful stores a signal under a key that is too long.
type forgetful struct{ scripted }

func (forgetful) Receive(_ *strategy.View, _ *strategy.Signal, plan *strategy.Plan) error {
	plan.Remember(strings.Repeat("n", 1_000), 7)
	return nil
}

// Only a breach of the transfer's scope ends.
func TestADeclaredTransferEndsABreachThatItExplains(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		peak     int64
		strategy string
		with     func(l *limits)
		want     bool // whether the breach ends
	}{
		{1_010, "", nil, true}, {1_060, "", nil, false}, {1_010, "nobody", nil, false},
		{1_010, "", func(l *limits) { *reconciletest.Of(l.tracker).AccountMS = 0 }, false},
		{1_010, "", func(l *limits) { l.flow[exchange.Futures] = exchange.AmountOf(60) }, false},
	} {
		b := valued(t, 1, 0)
		l := &limits{base: b}
		b.config.Limits = risk.Limits{MaxDrawdown: risk.Loss{USDT: exchange.AmountOf(50)}}
		b.record(record.Record{Strategy: c.strategy, Body: record.Day{StartMS: 1, Equity: exchange.AmountOf(c.peak), Peak: exchange.AmountOf(c.peak)}})
		b.record(record.Record{Strategy: c.strategy, Body: record.Breach{Rule: risk.MaxDrawdown, Reason: "a test"}})
		if c.with != nil {
			c.with(l)
		}
		l.reconsider(c.strategy, nil)
		notes := facts[NoteLimit](b.out.Notes)
		if over := len(slices.Collect(b.tracker.Watch(c.strategy).Breaches())) == 0; over != c.want || (len(notes) == 1) != c.want || c.want &&
			notes[0].Reason != "a declared transfer explains it" {
			t.Errorf("a peak of %d, %q: want it over %t, have %+v", c.peak, c.strategy, c.want, notes)
		}
	}
}

// A plan for the other side also ends the latch. The end is reported.
func TestALatchEndsWithThePlanThatDesiresNoPosition(t *testing.T) {
	t.Parallel()
	for quantity, reports := range map[exchange.Quantity]int{0: 1, -10: 1, 20: 0} {
		w := settled(t)
		one := w.engine.legs[0]
		w.plan(strategy.Target{Kind: strategy.ByQuantity, Quantity: 10})
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Body: record.Latch{Side: 1}})
		if one.plan = (strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: quantity}}); quantity == 0 {
			one.plan.Target = strategy.Flat()
		}
		w.out.Reset()
		w.engine.tick.adopt(one)
		notes := facts[NoteLatch](w.out.Notes)
		if len(notes) != reports || reports == 1 && (!notes[0].Ended || notes[0].Side != 0) || one.state.Latch() != 1-reports {
			t.Errorf("a target of %d: want the latch's end reported %d times, have %+v, latch %d", quantity, reports, notes, one.state.Latch())
		}
		if made := facts[NoteDecision](w.out.Notes); len(made) != 1 || one.inForce.atMS != w.engine.nowMS ||
			one.inForce.sequence != w.engine.emitted+int64(len(w.engine.unwritten)) {
			t.Errorf("a target of %d: want the decision reported, and its record's number noted, have %+v, %d", quantity, made, one.inForce.sequence)
		}
	}
}

func TestAForeignOrderIsDeclaredOnceItWasReported(t *testing.T) {
	t.Parallel()
	for since, want := range map[int64]int{0: 0, 7: 1} {
		w := settled(t)
		foreignOpening(w, w.engine.legs[0])
		see(w.symbol(), func(o *seen) { o.ForeignSinceMS = since })
		if have := w.engine.Degraded(); len(have) != want || want == 1 && (have[0].State != "foreign" || have[0].SinceMS != 7 ||
			have[0].Scope.Symbol != bitcoin) {
			t.Errorf("since %d: want %d states, have %+v", since, want, have)
		}
	}
}

// The replacement waits until the cancel was accepted and the asset is free; a backtest frees it immediately.
func TestSpotStopReplacementWaitsForAsset(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		err  error
		feed bool
		want bool
	}{
		{"it is canceled", nil, false, true}, {"the cancel is refused", &exchange.Refusal{Status: 400, Code: 7}, false, false},
		{"in a backtest", nil, true, false},
	} {
		w := newWorld(t, hold(0), onSpot)
		w.pass(20_000)
		w.engine.out, w.engine.config.Feed = &w.out, c.feed
		const id = "bt-stop"
		stop := exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopLimit, Quantity: 10, ClientOrderID: id}
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: id,
			Body: record.Sending{Order: stop, Purpose: placement.StopLoss}})
		w.acknowledged(id, 5)
		order := exchange.Order{ID: 5, ClientOrderID: id, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell, Quantity: 10,
			Status: exchange.StatusCanceled}
		w.engine.replaceMS = never
		w.engine.dispatcher.canceled(pendingCall{clientID: id, attempt: &attempt{}}, &EventAnswer{Err: c.err, Answer: exchange.Answer{Order: order}})
		if have := w.engine.replaceMS == w.engine.nowMS+reconcile.ReleaseMS; have != c.want {
			t.Errorf("%s: want a replacement due %t, have it in %d ms", c.name, c.want, w.engine.replaceMS-w.engine.nowMS)
		}
		for afterMS, nextMS := range map[int64]int64{399: 400, 400: 1_000, 999: 1_000, 1_000: -1} { // stops, and then exits
			want := w.now + nextMS
			if w.engine.nowMS = w.now + afterMS; nextMS < 0 || !c.want {
				want = never
			}
			if w.engine.dispatcher.replaceReleased(); w.engine.replaceMS != want {
				t.Errorf("%s, after %d ms: want the next after %d, have %d", c.name, afterMS, nextMS, w.engine.replaceMS-w.now)
			}
		}
	}
}

// Missing symbols, and those without a price, are requested individually. A list is requested once a round.
func TestThePricesOfAListAreTakenBySymbol(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tickers []exchange.Ticker
		last    exchange.Price
		single  int
	}{
		{[]exchange.Ticker{{Symbol: "ETH-USDT", Last: 9}, {Symbol: "BTC-USDT", Last: 7}, {Symbol: "SOL-USDT", Last: 8}}, 7, 0},
		{[]exchange.Ticker{{Symbol: "BTC-USDT", Last: 1}}, 1, 0}, {[]exchange.Ticker{{Symbol: "BTC-USDT"}}, 5, 1}, {nil, 5, 1},
	} {
		w, r := undisturbed(t)
		see(w.symbol(), func(o *seen) { o.Last, o.LastMS = 5, 1 })
		r.applyTickers(exchange.Futures, c.tickers)
		if w.symbol().Last() != c.last || len(w.out.Calls) != c.single || c.single == 1 && w.out.Calls[0].Request.Operation != exchange.FuturesTicker {
			t.Errorf("%+v: want %d, have %d, asked %+v", c.tickers, c.last, w.symbol().Last(), w.out.Calls)
		}
		first, second := r.askList(exchange.Futures, false), r.askList(exchange.Futures, false)
		if !first || second || !r.askList(exchange.Spot, true) {
			t.Error("want the list of each market asked for once")
		}
	}
}

// Only futures have a leverage.
func TestTheLeverageIsReadWhereItIsNotKnown(t *testing.T) {
	t.Parallel()
	futures, spot := exchange.Quantity(20), exchange.Quantity(2_000)
	w := twoMarkets(t, &futures, &spot)
	w.pass(20_000)
	reads := 0
	w.network = func(call *Call) fate {
		if call.Request.Operation == exchange.FuturesLeverages {
			reads++
		}
		return fate{}
	}
	w.pass(60_000)
	if reads != 0 {
		t.Errorf("want no leverage read that is known, have %d", reads)
	}
	see(w.symbol(), func(o *seen) { o.Leverage = 0 })
	if w.pass(60_000); reads != 1 || w.symbol().Leverage() != 10 {
		t.Errorf("want it read once, have %d times, %d", reads, w.symbol().Leverage())
	}
}

func TestSpentOrdersAreNamedUpToFive(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{"a": "its orders a", "a b c d e": "its orders a, b, c, d, e", "a b c d e f": "its orders a, b, c, d, e"} {
		if have := SpentText(strings.Fields(keys)); !strings.HasPrefix(have, want+" are filled") {
			t.Errorf("%s: want %q, have %q", keys, want, have)
		}
	}
}
