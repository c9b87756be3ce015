package engine

import (
	"errors"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// settled is a world at rest without a target.
func settled(t testing.TB, options ...option) *world {
	t.Helper()
	w := newWorld(t, hold(0), options...)
	w.pass(20_000)
	w.wantSound()
	w.engine.out = &w.out
	return w
}

// sends journals a placement of a purpose that the exchange has not answered.
func (w *world) sends(purpose placement.Purpose) string { return w.sendsOn(bitcoin, purpose) }

func (w *world) sendsOn(key exchange.SymbolKey, purpose placement.Purpose) string {
	order := exchange.NewOrder{Market: key.Market, Symbol: key.Name, Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 10,
		ClientOrderID: w.engine.tracker.NextClientOrderID("t")}
	w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Symbol: key, ClientOrderID: order.ClientOrderID,
		Body: record.Sending{Order: order, Purpose: purpose, DeadlineMS: w.now + 5_000}})
	return order.ClientOrderID
}

// blindedOn fails the reads of a domain in that many rounds.
func (w *world) blindedOn(key exchange.SymbolKey, rounds int) {
	for range rounds {
		w.engine.readHealth.countReads([]failure{{key, errors.New("broken")}}, nil, true)
	}
}

// The next round is soon while something is in flight or was done, otherwise after the idle time or at midnight. It is sooner if reads
// fail, money waits to be booked, botd stands down, or a refused intent may be sent again. A backtest has no idle rounds.
func TestNextRoundTime(t *testing.T) {
	t.Parallel()
	const busy, idle = 1_000, 15_000
	for _, c := range []struct {
		name  string
		acted bool
		with  func(w *world)
		want  int64 // relative to now; -1 for never
	}{
		{"nothing is under way", false, func(*world) {}, idle},
		{"something was done", true, func(*world) {}, busy},
		{"an order is under way", false, func(w *world) { w.sends(placement.Entry) }, busy},
		{"an order is under way on a symbol that cannot be read", false, func(w *world) { w.sends(placement.Entry); w.blindedOn(bitcoin, 3) }, exposedRetryMS},
		{"a position lacks its stop", false, func(w *world) { see(w.symbol(), func(o *seen) { o.UnprotectedSinceMS = w.now }) }, busy},
		{"a symbol is not settled", false, func(w *world) { see(w.symbol(), func(o *seen) { o.Settled = false }) }, busy},
		{"midnight comes first", false, func(w *world) { w.engine.nowMS = nextDayMS - 4_000 }, 4_000},
		{"midnight comes later", false, func(w *world) { w.engine.nowMS = nextDayMS - 15_001 }, idle},
		{"one round failed", false, func(w *world) { w.blindedOn(bitcoin, 1) }, 1_000},
		{"two rounds failed", false, func(w *world) { w.blindedOn(bitcoin, 2) }, 2_000},
		{"four rounds failed", false, func(w *world) { w.blindedOn(bitcoin, 4) }, 8_000},
		{"five rounds failed", false, func(w *world) { w.blindedOn(bitcoin, 5) }, 15_000},
		{"five rounds failed, and a position lacks its stop", false, func(w *world) {
			w.blindedOn(bitcoin, 5)
			see(w.symbol(), func(o *seen) { o.UnprotectedSinceMS, w.config.BusyRoundMS = w.now, 60_000 })
			w.engine.config.BusyRoundMS = 60_000
		}, exposedRetryMS},
		{"five rounds failed, and a halt has something to take away", false, func(w *world) {
			w.sends(placement.Order)
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Body: record.Halt{Level: record.LevelCancel, Reason: "a test"}})
			w.engine.legs[0].rounds.readMS = w.now
			w.blindedOn(bitcoin, 5)
		}, haltRetryMS},
		{"money waits for what explains it", false, func(w *world) { w.engine.results.outstandingMS = w.now }, busy},
		{"the ledger waits until a reading is old enough", false, func(w *world) { w.engine.accounting.futures.due = true }, busy},
		{"and a read may be old for longer", false, func(w *world) {
			w.engine.accounting.futures.due = true
			w.engine.config.Bounds.StalenessMS = 4_000
		}, 4_000},
		{"and for longer than the idle time", false, func(w *world) {
			w.engine.accounting.futures.due = true
			w.engine.config.Bounds.StalenessMS = 40_000
		}, idle},
		{"botd stands down", false, func(w *world) {
			see(w.symbol(), func(o *seen) {
				o.Foreign = []exchange.Order{{ID: 9, ClientOrderID: w.unknownID(), Market: exchange.Futures, Symbol: "BTC-USDT"}}
			})
		}, standDownRoundMS},
		{"a refused intent may be sent again", false, func(w *world) {
			w.engine.backoffs.count(attempt{strategy: "one", symbol: bitcoin, purpose: placement.Entry}, 1, "no", false, w.now)
		}, firstOpenMS},
		{"a backtest at rest", false, func(w *world) { w.engine.config.BusyRoundMS, w.engine.config.IdleRoundMS = 0, 0 }, -1},
		{"a backtest that did something", true, func(w *world) { w.engine.config.BusyRoundMS, w.engine.config.IdleRoundMS = 0, 0 }, 0},
		{"a backtest in which a fill of an order is new", false, func(w *world) {
			w.engine.config.BusyRoundMS, w.engine.config.IdleRoundMS = 0, 0
			w.sends(placement.Entry)
		}, 0},
		{"a backtest in which an order rests", false, func(w *world) {
			w.engine.config.BusyRoundMS, w.engine.config.IdleRoundMS = 0, 0
			w.sends(placement.Entry)
			w.engine.reader.version = w.engine.tracker.Version()
		}, -1},
		{"a halt that no read has followed", false, func(w *world) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Body: record.Halt{Level: record.LevelCancel, Reason: "a test"}})
		}, busy},
		{"a pause takes nothing away", false, func(w *world) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Body: record.Halt{Level: record.LevelPause, Reason: "a test"}})
		}, idle},
	} {
		w := settled(t)
		r := w.engine.round
		r.reader.version = r.tracker.Version()
		r.nowMS = w.now
		c.with(w)
		r.schedule(c.acted)
		if want := map[bool]int64{true: never, false: r.nowMS + c.want}[c.want < 0]; r.roundMS != want {
			t.Errorf("%s: want the next round in %d ms, have it in %d", c.name, c.want, r.roundMS-r.nowMS)
		}
	}
}

// unknownID is a client order id under this botd's prefix that is not in its journal.
func (w *world) unknownID() string { return "bt-zzzzz" }

// Answers were not enough to book. No round is hastened if one is in progress, nothing is due, or it is a backtest.
func TestUnbookedAnswersHastenRound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		with func(r *round)
		want int64 // relative to now
	}{
		{"something is due", func(r *round) { r.accounting.futures.due = true }, 1_000},
		{"a round comes sooner", func(r *round) { r.accounting.futures.due = true; r.roundMS = r.nowMS + 300 }, 300},
		{"nothing is due", func(*round) {}, 15_000},
		{"a round is under way", func(r *round) { r.accounting.futures.due = true; r.reader.phase = phaseLists }, 15_000},
		{"a backtest", func(r *round) { r.accounting.futures.due = true; r.config.IdleRoundMS = 0 }, 15_000},
	} {
		r := settled(t).engine.round
		r.roundMS = r.nowMS + 15_000
		c.with(r)
		if r.bookSooner(); r.roundMS != r.nowMS+c.want {
			t.Errorf("%s: want the round in %d ms, have it in %d", c.name, c.want, r.roundMS-r.nowMS)
		}
	}
}

// A position there that lacks or may lack its stop hurries it, and so does an uncertain opening.
func TestUnprotectedUnreadSymbolHastensRound(t *testing.T) {
	t.Parallel()
	adopts := func(w *world) {
		w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: 10}})
	}
	for _, c := range []struct {
		name string
		with func(w *world)
		want bool
	}{
		{"nothing is held", func(*world) {}, false},
		{"a position that is protected", adopts, false},
		{"a position without its stop", func(w *world) { see(w.symbol(), func(o *seen) { o.UnprotectedSinceMS = w.now }) }, true},
		{"a position not read since the start", func(w *world) { adopts(w); see(w.symbol(), func(o *seen) { o.Read = false }) }, true},
		{"a symbol not read since the start, without a position", func(w *world) { see(w.symbol(), func(o *seen) { o.Read = false }) }, false},
		{"an opening without an answer", func(w *world) { w.sends(placement.Entry) }, true},
		{"an exit without an answer", func(w *world) { w.sends(placement.Exit) }, false},
		{"an opening that rests", func(w *world) {
			id := w.sends(placement.Order)
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Acknowledged{OrderID: 5}})
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Fill{OrderID: 5}})
		}, false},
		{"an opening that was refused", func(w *world) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: w.sends(placement.Entry), Body: record.Refused{Reason: "no"}})
		}, true},
		{"an exit that was refused", func(w *world) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: w.sends(placement.Exit), Body: record.Refused{Reason: "no"}})
		}, false},
	} {
		w := settled(t)
		c.with(w)
		if w.engine.round.exposed() {
			t.Errorf("%s: want no hurry while everything is read", c.name)
		}
		w.blindedOn(bitcoin, 1)
		if have := w.engine.round.exposed(); have != c.want {
			t.Errorf("%s: want a hurry %t, have %t", c.name, c.want, have)
		}
	}
}

// Each stop has a quantity. The part without a stop is unprotected if it is worth an order.
func TestSpotStopsCoverPositionTogether(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stops []exchange.Quantity
		want  bool
	}{
		"none":                            {nil, false},
		"one of all of it":                {[]exchange.Quantity{2_000}, true},
		"one of part of it":               {[]exchange.Quantity{1_000}, false},
		"two of all of it":                {[]exchange.Quantity{1_000, 1_000}, true},
		"but for too little for an order": {[]exchange.Quantity{1_990}, true},
	} {
		stopsOnSpot(t, name, c.stops, c.want)
	}
}

func stopsOnSpot(t testing.TB, name string, stops []exchange.Quantity, want bool) {
	w := newWorld(t, hold(2_000), onSpot)
	w.pass(20_000)
	w.wantBought(2_000)
	symbol := w.engine.tracker.Track(coin)
	for i, quantity := range stops {
		order := exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopLimit, Price: 46_550e8,
			StopPrice: 49_000e8, Quantity: quantity, ClientOrderID: w.engine.tracker.NextClientOrderID("t")}
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: order.ClientOrderID,
			Body: record.Sending{Order: order, Purpose: placement.StopLoss}})
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Body: record.Acknowledged{OrderID: int64(900 + i)}})
	}
	if have := w.engine.protection.hasStop(w.engine.legs[0]); have != want {
		t.Errorf("%s: want %d of %d covered %t, have %t", name, stops, symbol.TrustedPosition(), want, have)
	}
}

// An opening between rounds requires a recent read of its symbol, and a configured strategy that may trade.
func TestOpeningBetweenRoundsNeedsFreshRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		with func(w *world, one *leg)
		want bool
	}{
		{"read five seconds ago", func(w *world, one *leg) { one.rounds.readMS = w.engine.nowMS - 5_000 }, true},
		{"read longer ago", func(w *world, one *leg) { one.rounds.readMS = w.engine.nowMS - 5_001 }, false},
		{"botd has stopped", func(w *world, _ *leg) { w.engine.stopped = true }, false},
		{"a rehearsal", func(w *world, _ *leg) { w.engine.config.Rehearse = true }, false},
		{"the strategy was removed", func(_ *world, one *leg) { one.config.Removed = true }, false},
		{"a round is under way", func(w *world, _ *leg) { w.engine.round.beginRound() }, false},
		{"the symbol could not be read", func(w *world, _ *leg) { w.blindedOn(bitcoin, 1) }, false},
		{"another symbol could not be read", func(w *world, _ *leg) { w.blindedOn(ether, 1) }, true},
	} {
		w := settled(t)
		one := w.engine.legs[0]
		one.rounds.readMS = w.engine.nowMS
		c.with(w, one)
		if have := w.engine.dispatcher.mayExtend(one); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
}

// The effect depends on the strategy's policy, and on whether its stop or a person ended the position.
func TestDecisionForLatchedSide(t *testing.T) {
	t.Parallel()
	type table struct {
		name     string
		stopped  bool // a stop ended the position, otherwise a person
		policy   strategy.Reentry
		sign     int   // of the target; 2 for no target
		signalMS int64 // of the decision, relative to the latch; -9 for none
		with     func(one *leg)
		want     renewal
	}
	idle := func(one *leg) { one.decision.silent = true }
	same := func(one *leg) { one.decision.signalMS = one.state.LatchMS() }
	asked := func(one *leg) { one.decision.signalMS = -1 }
	for _, c := range []table{
		{"the plan still stands", true, strategy.ReentrySignal, 1, -9, nil, staysOut},
		{"it asks at once, and may", true, strategy.ReentryImmediate, 1, -9, nil, reenters},
		{"it asks at once after a person closed it", false, strategy.ReentryImmediate, 1, -9, nil, staysOut},
		{"a new signal", true, strategy.ReentrySignal, 1, 0, asked, reenters},
		{"a new signal after a person closed it", false, strategy.ReentrySignal, 1, 1, asked, reenters},
		{"the signal of before", true, strategy.ReentrySignal, 1, -1, asked, staysOut},
		{"it asked for nothing meanwhile", true, strategy.ReentrySignal, 1, -9, idle, reenters},
		{"it asked for nothing after a person closed it", false, strategy.ReentrySignal, 1, -9, idle, staysOut},
		{"never, a new signal", true, strategy.ReentryNever, 1, 0, asked, suppressed},
		{"never, the signal reported already", true, strategy.ReentryNever, 1, 0, same, staysOut},
		{"never, the plan still stands", true, strategy.ReentryNever, 1, -9, nil, staysOut},
		{"never, it asked for nothing meanwhile", true, strategy.ReentryNever, 1, -9, idle, suppressed},
		{"the other side", true, strategy.ReentryImmediate, -1, -9, nil, staysOut},
		{"flat", true, strategy.ReentryImmediate, 0, -9, nil, staysOut},
		{"no target", true, strategy.ReentrySignal, 2, -9, nil, idles},
		{"no target after a person closed it", false, strategy.ReentrySignal, 2, -9, nil, staysOut},
		{"no target, at once", true, strategy.ReentryImmediate, 2, -9, nil, staysOut},
	} {
		w := newWorld(t, hold(10), protected)
		w.pass(20_000)
		if c.stopped {
			w.price("48000")
		} else {
			w.manually(w.market(exchange.Sell, 10, true))
		}
		w.pass(30_000)
		one := w.engine.legs[0]
		if one.state.Latch() != 1 || one.state.LatchedByProtection() != c.stopped {
			t.Fatalf("%s: want the long side latched\n%s", c.name, w.story())
		}
		one.reentry, one.decision.silent, one.decision.signalMS = c.policy, false, 0
		one.plan = strategy.Plan{}
		switch c.sign {
		case 2:
		case 0:
			one.plan.Target = strategy.Flat()
		default:
			one.plan.Target = strategy.Target{Kind: strategy.ByQuantity, Quantity: exchange.Quantity(10 * c.sign)}
		}
		if c.signalMS != -9 {
			one.plan.SignalMS = one.state.LatchMS() + c.signalMS
		}
		if c.with != nil {
			c.with(one)
		}
		if have := one.renewal(); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
		w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: 10}})
		if have := one.renewal(); have != staysOut {
			t.Errorf("%s: want nothing entered while a position is left, have %d", c.name, have)
		}
	}
}

// The time counts from the read before the one that shows a position without its stop, in a backtest from that one on. It ends when a stop
// is live or the position is closed.
func TestUnprotectedSince(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		position exchange.Quantity
		with     func(w *world, one *leg)
		want     int64 // ms ago; -1 if it is not unprotected
	}{
		{"a long one", 1, func(*world, *leg) {}, 7_000},
		{"a short one", -1, func(*world, *leg) {}, 7_000},
		{"none", 0, func(*world, *leg) {}, -1},
		{"the first read since the start", 1, func(_ *world, one *leg) { one.rounds.readMS = 0 }, 0},
		{"a backtest", 1, func(w *world, _ *leg) { w.engine.protection.feed = true }, 0},
		{"since an earlier read", 1, func(w *world, one *leg) {
			see(one.symbol, func(o *seen) { o.UnprotectedSinceMS = w.engine.nowMS - 20_000 })
		}, 20_000},
		{"without a stop in its plan", 1, func(_ *world, one *leg) { one.config.Protection = strategy.Protection{} }, -1},
		{"with a profit alone", 1, func(_ *world, one *leg) {
			one.config.Protection = strategy.Protection{Set: true, TakeProfit: strategy.Distance{Share: exchange.RateOne / 10}}
		}, -1},
		{"its stop is not answered", 1, func(w *world, _ *leg) { w.sends(placement.StopLoss) }, 7_000},
		{"its stop is accepted", 1, func(w *world, _ *leg) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: w.sends(placement.StopLoss), Body: record.Acknowledged{OrderID: 5}})
		}, -1},
		{"its profit is accepted", 1, func(w *world, _ *leg) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: w.sends(placement.TakeProfit), Body: record.Acknowledged{OrderID: 5}})
		}, 7_000},
		{"its stop is uncertain", 1, func(w *world, _ *leg) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: w.sends(placement.StopLoss), Body: record.Uncertain{Reason: "a test"}})
		}, 7_000},
	} {
		w := settled(t, protected)
		one := w.engine.legs[0]
		see(one.symbol, func(o *seen) { o.Position, one.rounds.readMS = c.position, w.engine.nowMS-7_000 })
		c.with(w, one)
		w.engine.protection.measure(one)
		since := one.symbol.UnprotectedSinceMS()
		if want := map[bool]int64{true: 0, false: w.engine.nowMS - c.want}[c.want < 0]; since != want {
			t.Errorf("%s: want it unprotected for %d ms, have %d", c.name, c.want, w.engine.nowMS-since)
		}
		if since == 0 {
			continue
		}
		see(one.symbol, func(o *seen) { o.UnprotectedMS, o.Position = 100, 0 })
		w.engine.nowMS += 500
		if w.engine.protection.measure(one); one.symbol.UnprotectedSinceMS() != 0 || one.symbol.UnprotectedMS() != 100+500+c.want {
			t.Errorf("%s: want %d ms counted when it has ended, have %d", c.name, 600+c.want, one.symbol.UnprotectedMS())
		}
	}
}

// The state is declared after fifteen seconds, or after two refusals of its stop, with the reason.
func TestUnprotectedPositionIsDeclared(t *testing.T) {
	t.Parallel()
	refuses := func(times int) func(w *world) {
		return func(w *world) {
			for range times {
				w.engine.backoffs.count(attempt{strategy: "one", symbol: bitcoin, purpose: placement.StopLoss}, 7, "no", false, w.engine.nowMS)
			}
		}
	}
	for _, c := range []struct {
		name  string
		forMS int64 // time unprotected; 0 if never
		with  func(w *world)
		want  string
	}{
		{"protected", 0, nil, ""},
		{"for a moment", 14_999, nil, ""},
		{"for fifteen seconds", 15_000, nil, "no stop is confirmed on the exchange"},
		{"a backtest", 20_000, func(w *world) { w.engine.protection.feed = true }, ""},
		{"its stop was refused once", 1, refuses(1), ""},
		{"its stop was refused twice", 1, refuses(2), "the exchange refuses the stop, 2 times in a row: 7 no; retried at "},
		{"protected, though one was refused", 0, refuses(2), ""},
	} {
		w := settled(t, protected)
		one := w.engine.legs[0]
		if c.forMS != 0 {
			see(one.symbol, func(o *seen) { o.UnprotectedSinceMS = w.engine.nowMS - c.forMS })
		}
		if c.with != nil {
			c.with(w)
		}
		if have := w.engine.protection.cause(one); len(have) < len(c.want) || have[:len(c.want)] != c.want || c.want == "" && have != "" {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
		if declared := w.engine.protection.declared(one); declared != (c.want != "") {
			t.Errorf("%s: want it declared %t", c.name, c.want != "")
		}
		w.out.Reset()
		for range 2 { // it is reported once
			w.engine.protection.reportState(one)
		}
		if have := facts[NoteUnprotected](w.out.Notes); len(have) != map[bool]int{true: 1}[c.want != ""] {
			t.Errorf("%s: want one report, have %+v", c.name, have)
			continue
		} else if c.want == "" {
			continue
		}
		see(one.symbol, func(o *seen) { w.engine.backoffs.all, o.UnprotectedSinceMS = nil, 0 })
		w.engine.nowMS += 500
		w.engine.protection.reportState(one)
		if have := facts[NoteUnprotected](w.out.Notes); len(have) != 2 || !have[1].Ended || have[1].ForMS != c.forMS+500 {
			t.Errorf("%s: want its end reported after %d ms, have %+v", c.name, c.forMS+500, have)
		}
	}
	if settled(t).engine.protection.declared(nil) {
		t.Error("want nothing declared of no strategy")
	}
}
