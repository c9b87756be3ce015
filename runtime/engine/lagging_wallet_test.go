package engine

import (
	"testing"

	"botd/exchange"
	"botd/risk"
	"botd/strategy"
)

// lags has reads of an operation show the state of that time before.
func (w *world) lags(operation exchange.Operation, byMS int64) {
	type read struct {
		atMS   int64
		answer exchange.Answer
	}
	var reads []read
	sample := func() {
		answer, err := w.venue.Do("one", &exchange.Request{Operation: operation})
		if err != nil {
			w.t.Fatal(err)
		}
		reads = append(reads, read{w.now, answer})
	}
	sample()
	w.network = func(*Call) fate { sample(); return fate{} } // the constant traffic is frequent enough
	w.mirror = func(answer *exchange.Answer) {
		for _, one := range reads {
			if answer.Operation == operation && one.atMS <= w.now-byMS {
				*answer = one.answer
			}
		}
	}
}

// equityStays lets time pass, and checks in each moment that the equity shown is 10,000 less fees.
func (w *world) equityStays(ms int64) {
	w.t.Helper()
	for until := w.now + ms; w.now < until; {
		w.pass(20)
		if total := w.engine.Status().Total; !total.IsZero() && (total.Less(exchange.AmountOf(9_984)) || exchange.MustAmount("10000.2").Less(total)) {
			w.t.Fatalf("after %d ms: want an equity of 10,000 less fees, have %s\n%s", w.now-startMS, total, w.story())
		}
	}
}

func lossOf(usdt int64) option {
	return accountLimits(risk.Limits{MaxDailyLoss: risk.Loss{USDT: exchange.AmountOf(usdt)}, MaxDrawdown: risk.Loss{USDT: exchange.AmountOf(usdt)}})
}

// A wallet that is older than a fill, or newer than the list that does not show it yet, is neither a gain nor a loss: it raises no peak and exceeds no
// limit, however small the fill is, and whatever remains after it. The smallest order is worth 5 USDT: ten units.
func TestALaggingWalletIsNoGainAndNoLoss(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from, to exchange.Quantity
		lags     exchange.Operation
		restarts bool
	}{
		"bought":                                     {0, 10_000, exchange.SpotWallet, false},
		"bought hardly more than the minimum":        {0, 11, exchange.SpotWallet, false},
		"more bought, hardly more than that":         {10_000, 10_011, exchange.SpotWallet, false},
		"all sold":                                   {10_000, 0, exchange.SpotWallet, false},
		"all sold, hardly more than that":            {14, 0, exchange.SpotWallet, false},
		"part sold":                                  {10_000, 5_000, exchange.SpotWallet, false},
		"part sold, hardly more than that":           {10_000, 9_986, exchange.SpotWallet, false},
		"bought, then a start":                       {0, 10_000, exchange.SpotWallet, true},
		"bought hardly more than it, then a start":   {0, 11, exchange.SpotWallet, true},
		"all sold, then a start":                     {10_000, 0, exchange.SpotWallet, true},
		"part sold, then a start":                    {10_000, 9_986, exchange.SpotWallet, true},
		"bought, and the list is older":              {0, 10_000, exchange.SpotOpenOrders, false},
		"hardly more than it, and the list is older": {0, 11, exchange.SpotOpenOrders, false},
		"all sold, and the list is older":            {10_000, 0, exchange.SpotOpenOrders, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			laggingFill(t, c.from, c.to, c.lags, c.restarts)
		})
	}
}

// laggingFill changes a spot position while reads of that kind lag by nearly L, with a restart as soon as the fill is known, or without one.
func laggingFill(t testing.TB, from, to exchange.Quantity, lags exchange.Operation, restarts bool) {
	t.Helper()
	desired := from
	w := newWorld(t, func(view *strategy.View, plan *strategy.Plan) { hold(desired)(view, plan) }, onSpot, lossOf(20))
	w.pass(30_000)
	before := w.symbol().Known()
	w.lags(lags, 950)
	for desired = to; restarts && w.symbol().Known() == before && w.now < startMS+60_000; {
		w.pass(10)
	}
	if restarts {
		w.start()
	}
	if restarts { // no earlier equity can be shown
		w.pass(5_000)
	}
	w.equityStays(15_000)
	if now := w.symbol().Known(); now == before || len(facts[NoteLimit](w.notes)) > 0 {
		t.Errorf("want the position changed, and no limit exceeded, have %d of before %d, %+v", now, before, facts[NoteLimit](w.notes))
	}
	if peak := w.engine.tracker.Watch("").Day().Peak; exchange.AmountOf(10_000).Less(peak) {
		t.Errorf("want a peak of 10,000, have %s", peak)
	}
}

// While fills cannot be read, a wallet that shows one suspends the limits for a minute, not for as long as that lasts.
func TestLimitsWaitAMinuteForFillsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	unreadFill(t)
}

func unreadFill(t testing.TB) {
	desired := exchange.Quantity(2_000)
	w := newWorld(t, func(view *strategy.View, plan *strategy.Plan) { hold(desired)(view, plan) }, onSpot, lossOf(2_000))
	w.pass(30_000)
	desired = 10_000
	w.network = func(call *Call) fate {
		if o := call.Request.Operation; o == exchange.SpotOrderHistory || o == exchange.SpotUserTrades {
			return fate{err: &exchange.Unavailable{Operation: o, Reason: "a test"}}
		}
		return fate{}
	}
	w.equityStays(55_000)
	if len(facts[NoteLimit](w.notes)) > 0 {
		t.Errorf("want no limit exceeded by units that no list shows, have %+v", facts[NoteLimit](w.notes))
	}
	w.price("30000")
	w.pass(20_000)
	if u := w.utilization("account", risk.MaxDailyLoss); u.State != risk.StateBreached {
		t.Errorf("want 4,000 USDT of loss breached, have %+v\n%s", u, w.story())
	}
}
