package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

// desiring is a world whose strategy requests *desired.
func desiring(t testing.TB, desired *exchange.Quantity, options ...option) *world {
	t.Helper()
	return newWorld(t, func(view *strategy.View, plan *strategy.Plan) { hold(*desired)(view, plan) }, options...)
}

func accountLimits(limits risk.Limits) option {
	return func(w *world) { w.config.Limits = limits }
}

func ownLimits(limits risk.Limits) option {
	return func(w *world) { w.config.Strategies[0].Limits = limits }
}

// skip lets time pass without any activity.
func (w *world) skip(toMS int64) {
	w.t.Helper()
	w.now = toMS
	w.venue.Advance(toMS)
	w.pass(20_000)
}

func (w *world) utilization(scope, rule string) risk.Utilization {
	w.t.Helper()
	all := w.engine.Limits()
	for _, u := range all {
		if u.Scope == scope && u.Rule == rule {
			return u
		}
	}
	w.t.Fatalf("want a row %s of %s, have %+v", rule, scope, all)
	return risk.Utilization{}
}

func (w *world) wantUtilization(scope, rule, state, value, limit string) risk.Utilization {
	w.t.Helper()
	u := w.utilization(scope, rule)
	if u.State != state || u.Value != value || u.Limit != limit {
		w.t.Errorf("%s of %s: want %s of %s, %s; have %s of %s, %s\n%s", rule, scope, value, limit, state, u.Value, u.Limit, u.State, w.story())
	}
	return u
}

// restart ends the process and begins another over the same journal.
func (w *world) restart() {
	w.t.Helper()
	before := w.engine.Limits()
	w.start()
	w.pass(10_000)
	// Figures that depend on the clock move on; everything else is the same.
	moves := func(u risk.Utilization) bool { return u.Rule == risk.MaxDataAge || u.Rule == risk.MaxOrdersPerMinute }
	if diff := cmp.Diff(
		slices.DeleteFunc(before, moves),
		slices.DeleteFunc(w.engine.Limits(), moves),
		cmp.AllowUnexported(exchange.Amount{}),
	); diff != "" {
		w.t.Errorf("the use of limits after a restart: -before +after\n%s", diff)
	}
}

const dayMS = int64(86_400_000)

// nextDayMS is the first UTC midnight after a world's start.
const nextDayMS = startMS/dayMS*dayMS + dayMS

func TestDailyLossBlocksEntriesUntilNextDay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, scope, at string // the price at which the loss just complies with the limit
		state           string
		option          option
	}{
		{"of the account, in USDT", "account", "49025.1", risk.StateFull,
			accountLimits(risk.Limits{MaxDailyLoss: risk.Loss{USDT: exchange.MustAmount("100.000005")}})},
		{"of the strategy, in USDT", "strategy one", "49025.1", risk.StateFull,
			ownLimits(risk.Limits{MaxDailyLoss: risk.Loss{USDT: exchange.MustAmount("100.000005")}})},
		{"of the account, as a share", "account", "49025.2", risk.StateNear,
			accountLimits(risk.Limits{MaxDailyLoss: risk.Loss{Share: exchange.RateOne / 100}})},
		{"of the strategy, as a share", "strategy one", "49025.2", risk.StateNear,
			ownLimits(risk.Limits{MaxDailyLoss: risk.Loss{Share: exchange.RateOne / 100}})},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			desired := exchange.Quantity(100)
			w := desiring(t, &desired, c.option)
			w.pass(5_000)
			w.wantHeld(100) // 0.1 BTC at 50000.1: 5000.01 USDT, fee 2.500005
			w.price(c.at)
			w.pass(20_000) // at 49025.1 lost 97.50 and the fee: 100.000005
			if u := w.utilization(c.scope, risk.MaxDailyLoss); u.State != c.state {
				t.Errorf("at %s: want %s, have %+v", c.at, c.state, u)
			}
			w.wantSound()
			w.price("49025")
			w.pass(20_000)
			if u := w.wantUtilization(
				c.scope,
				risk.MaxDailyLoss,
				risk.StateBreached,
				"100.01 USDT",
				"100 USDT",
			); u.Remedy != risk.ClearsAutomatically ||
				u.UntilMS == 0 {
				t.Errorf("the remedy of a daily loss: want the next day, by itself; have %q at %d", u.Remedy, u.UntilMS)
			}
			if d := w.wantState("limit"); d.UntilMS != nextDayMS {
				t.Errorf("want its end at the next UTC midnight, %d, have %d", nextDayMS, d.UntilMS)
			}
			if len(facts[NoteLimit](w.notes)) != 1 {
				t.Errorf("want it reported once, have %d", len(facts[NoteLimit](w.notes)))
			}
			w.price("50000") // a recovery does not end it
			desired = 200
			w.pass(20_000)
			w.wantHeld(100)
			w.restart()
			w.pass(20_000)
			w.wantHeld(100)
			if slices.ContainsFunc(
				w.records,
				func(r record.Record) bool { priced, ok := r.Body.(record.Priced); return ok && priced.Quantity == 200 },
			) {
				t.Error("want no size resolved while nothing may open")
			}
			desired = 50 // a reduction continues
			w.pass(20_000)
			w.wantHeld(50)
			desired = 200
			w.skip(nextDayMS - 60_000)
			w.wantHeld(50)
			w.skip(nextDayMS + 1)
			w.wantHeld(200)
			w.wantSound()
			if len(facts[NoteLimit](w.notes)) != 2 || len(w.refused) > 0 {
				t.Errorf("want its end reported, nothing refused by the exchange: have %d notes, %v", len(facts[NoteLimit](w.notes)), w.refused)
			}
		})
	}
}

func TestDrawdownBlocksEntriesUntilRearm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, scope string
		option      option
		arm         account.Scope
	}{
		{"of the account", "account", accountLimits(risk.Limits{MaxDrawdown: risk.Loss{USDT: exchange.AmountOf(100)}}), account.Scope{}},
		{"of the strategy", "strategy one", ownLimits(risk.Limits{MaxDrawdown: risk.Loss{USDT: exchange.AmountOf(100)}}), account.Scope{Strategy: "one"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			desired := exchange.Quantity(100)
			w := desiring(t, &desired, c.option)
			w.pass(5_000)
			w.price("51000")
			w.pass(20_000) // the peak: 10000 - 2.5 + 99.99
			w.price("49990")
			w.pass(20_000) // 101 below it, though hardly below the start
			if u, want := w.wantUtilization(
				c.scope,
				risk.MaxDrawdown,
				risk.StateBreached,
				"101 USDT",
				"100 USDT",
			), "botd rearm"+rearmFlags(
				account.Scope{Strategy: strings.TrimPrefix(strings.TrimPrefix(c.scope, "account"), "strategy ")},
			); u.Remedy != want {
				t.Errorf("the remedy of a drawdown: want %q, have %q", want, u.Remedy)
			}
			w.wantState("limit")
			desired = 0
			w.pass(20_000)
			w.wantHeld(0)
			desired = 100
			w.restart()
			w.skip(nextDayMS + 1)
			w.wantHeld(0) // another day does not end it
			w.give(&EventHalt{Scope: c.arm, Reason: "a person looked"})
			w.pass(20_000)
			w.wantHeld(100)
			w.wantSound()
			if use := w.utilization(c.scope, risk.MaxDrawdown); use.State != risk.StateOK {
				t.Errorf("want it measured again, have %+v", use)
			}
		})
	}
}

func TestRearmDoesNotEndADailyLoss(t *testing.T) {
	t.Parallel()
	desired := exchange.Quantity(100)
	w := desiring(t, &desired, accountLimits(risk.Limits{MaxDailyLoss: risk.Loss{USDT: exchange.AmountOf(50)}}))
	w.pass(5_000)
	w.price("49000")
	w.pass(20_000)
	w.price("50000")
	w.pass(20_000)
	w.give(&EventHalt{Reason: "a person looked"})
	w.pass(20_000)
	w.wantState("limit")
}

func TestDailyLossResetsAndPeakStays(t *testing.T) {
	t.Parallel()
	desired := exchange.Quantity(100)
	w := desiring(
		t,
		&desired,
		accountLimits(risk.Limits{MaxDailyLoss: risk.Loss{USDT: exchange.AmountOf(5_000)}, MaxDrawdown: risk.Loss{USDT: exchange.AmountOf(100)}}),
	)
	w.pass(5_000)
	w.price("51000")
	w.pass(20_000)
	w.price("50400")
	w.pass(20_000)
	w.wantUtilization("account", risk.MaxDrawdown, risk.StateOK, "60 USDT", "100 USDT")
	w.price("49500")
	w.price("50400")
	w.skip(nextDayMS + 1)
	w.wantUtilization("account", risk.MaxDailyLoss, risk.StateOK, "0 USDT", "5000 USDT")
	w.wantUtilization("account", risk.MaxDrawdown, risk.StateOK, "60 USDT", "100 USDT")
	w.price("50300")
	w.pass(20_000)
	w.wantUtilization("account", risk.MaxDailyLoss, risk.StateOK, "10 USDT", "5000 USDT")
}

func TestFlipClosesPreviousPosition(t *testing.T) {
	t.Parallel()
	var desired exchange.Quantity
	w := desiring(t, &desired, ownLimits(risk.Limits{MaxLosingStreak: 9}))
	w.pass(5_000)
	leg := w.engine.legs[0]
	for _, c := range []struct {
		name         string
		held, now    exchange.Quantity
		entry, price string
		want         string
	}{
		{"half closed", 100, 50, "50000", "51000", "50"},
		{"closed", 100, 0, "50000", "51000", "100"},
		{"flipped", 100, -50, "50000", "51000", "100"},
		{"a short closed", -100, 0, "50000", "51000", "-100"},
		{"added to", 100, 200, "50000", "51000", "0"},
		{"opened", 0, 200, "0", "51000", "0"},
	} {
		w.engine.tracker.Apply(&record.Record{Strategy: "one", Body: record.Result{Position: c.held}})
		see(leg.symbol, func(o *seen) { o.Position, leg.money.entryPrice = c.now, exchange.MustAmount(c.entry) })
		see(leg.symbol, func(o *seen) { o.Mark, _ = o.Rules.Price(exchange.MustAmount(c.price).Decimal()) })
		if have := w.engine.results.estimate(leg); have != exchange.MustAmount(c.want) {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
		}
	}
}

func TestALosingStreakCoolsDown(t *testing.T) {
	t.Parallel()
	limits := risk.Limits{MaxLosingStreak: 2, CoolDownMS: 600_000}
	for _, c := range []struct {
		name, scope string
		option      option
	}{{"of the account", "account", accountLimits(limits)}, {"of the strategy", "strategy one", ownLimits(limits)}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var desired exchange.Quantity
			w := desiring(t, &desired, c.option)
			trip := func(exit string) {
				w.price("50000")
				desired = 100
				w.pass(10_000)
				w.price(exit)
				desired = 0
				w.pass(10_000)
				w.wantHeld(0)
			}
			trip("49900")
			w.wantUtilization(c.scope, risk.MaxLosingStreak, risk.StateOK, "1", "2")
			trip("50200") // a gain ends the streak
			w.wantUtilization(c.scope, risk.MaxLosingStreak, risk.StateOK, "0", "2")
			trip("50000") // the fees alone make it a loss
			w.restart()
			trip("49900")
			cooled := w.now + 600_000
			if u := w.utilization(
				c.scope,
				risk.MaxLosingStreak,
			); u.State != risk.StateBreached || u.UntilMS == 0 ||
				u.Reason != "2 positions in a row lost" {
				t.Fatalf("want it breached, have %+v\n%s", u, w.story())
			}
			w.restart()
			desired = 100
			w.pass(60_000)
			w.wantHeld(0)
			w.skip(cooled + 1)
			w.wantHeld(100)
			w.wantSound()
			w.wantUtilization(c.scope, risk.MaxLosingStreak, risk.StateOK, "0", "2")
			if result, change := w.engine.tracker.Watch("one").
				Result().
				Result, w.engine.tracker.Account().WalletBalance.Sub(
				exchange.AmountOf(10_000),
			); result != change {
				t.Errorf("want the result %s, have %s", change, result)
			}
		})
	}
}

func TestABreachTakesRestingOpeningsOutOfTheBook(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
		plan.OrdersSet = true
		plan.Orders = []strategy.DesiredOrder{
			{Key: "a", Side: exchange.Buy, Price: 49_000e8, Quantity: 100},
			{Key: "b", Side: exchange.Buy, Price: 45_000e8, Quantity: 100},
		}
	}, accountLimits(risk.Limits{MaxDailyLoss: risk.Loss{USDT: exchange.AmountOf(50)}}))
	w.pass(10_000)
	if w.engine.Tracker().LiveCount() != 2 {
		t.Fatalf("want two orders in the book, have %d", w.engine.Tracker().LiveCount())
	}
	w.price("48000")
	w.pass(30_000)
	w.wantHeld(100)
	if live := slices.Collect(w.engine.Tracker().Live()); len(live) != 0 {
		t.Errorf("want the other one canceled, have %+v", live[0])
	}
	w.price("44000")
	w.pass(30_000)
	w.wantHeld(100)
}

// The strategies' results sum to the wallet's change, whichever strategy traded when.
func TestResultsSumToTheWallet(t *testing.T) {
	t.Parallel()
	var one, two exchange.Quantity
	watched := risk.Limits{MaxDrawdown: risk.Loss{USDT: exchange.AmountOf(9_000)}}
	w := desiring(t, &one, ownLimits(watched), func(w *world) {
		second := w.config.Strategies[0]
		second.Name, second.Symbol = "two", w.venue.Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"})
		second.Strategy = scripted(func(view *strategy.View, plan *strategy.Plan) { hold(two)(view, plan) })
		w.config.Strategies = append(w.config.Strategies, second)
	})
	w.pass(5_000)
	check := func(want1, want2 string) {
		t.Helper()
		w.pass(40_000)
		tracker := w.engine.Tracker()
		r1, r2 := tracker.Watch("one").Result().Result, tracker.Watch("two").Result().Result
		if sum, change := r1.Add(r2), tracker.Account().WalletBalance.Sub(exchange.AmountOf(10_000)); sum != change {
			t.Errorf("want the results to sum to %s, have %s + %s", change, r1, r2)
		}
		if r1.Decimal().Round(4).String() != want1 || r2.Decimal().Round(4).String() != want2 {
			t.Errorf("want %s and %s, have %s and %s", want1, want2, r1, r2)
		}
	}
	one = 100
	check("-2.5", "0") // 5000.01 x 0.05 %
	two = 100          // 1 ETH at 2500.01
	check("-2.5", "-1.25")
	w.price("51000")
	one = 0 // sold at 50999.9: 99.98 less 2.549995
	check("94.93", "-1.25")
	one, two = 0, 0 // at 2499.99: -0.02 less 1.249995
	check("94.93", "-2.52")
	one, two = 100, 100 // both in one round: the unreported money is divided by what they traded
	w.pass(40_000)
	tracker := w.engine.Tracker()
	if sum := tracker.Watch("one").
		Result().
		Result.Add(
		tracker.Watch("two").Result().Result,
	); sum != tracker.Account().WalletBalance.Sub(
		exchange.AmountOf(10_000),
	) {
		t.Errorf("want the results to sum to the wallet's change, have %s", sum)
	}
}

func TestSpotResultsFollowTheirFills(t *testing.T) {
	t.Parallel()
	desired := exchange.Quantity(100_00) // 0.1 BTC
	w := desiring(
		t,
		&desired,
		onSpot,
		ownLimits(risk.Limits{MaxDailyLoss: risk.Loss{USDT: exchange.AmountOf(100)}, MaxLosingStreak: 1, CoolDownMS: 3_600_000}),
		accountLimits(risk.Limits{MaxDailyLoss: risk.Loss{USDT: exchange.AmountOf(5_000)}}),
	)
	w.pass(10_000)
	w.price("49100")
	w.pass(20_000)
	if u := w.utilization("strategy one", risk.MaxDailyLoss); u.State != risk.StateNear && u.State != risk.StateFull {
		t.Errorf("want some 95 of 100 USDT lost, have %+v", u) // 90 by the price, 5 by the fee in BTC
	}
	w.price("48000")
	w.pass(20_000)
	if u := w.utilization("strategy one", risk.MaxDailyLoss); u.State != risk.StateBreached {
		t.Errorf("want the daily loss breached, have %+v", u)
	}
	desired = 0
	w.pass(30_000)
	if u := w.utilization("strategy one", risk.MaxLosingStreak); u.State != risk.StateBreached {
		t.Errorf("want a lost trip, have %+v\n%s", u, w.story())
	}
	if u := w.utilization("account", risk.MaxDailyLoss); u.State != risk.StateOK || u.Ratio == 0 {
		t.Errorf("want the account's loss counted, have %+v", u)
	}
}

// Another trader closes the whole position, including the foreign part. Until that has lasted long enough to
// be trusted, botd's own part must not count as a position of the other side, entered at the price zero.
func TestExternalCloseOfSharedPositionIsNoLoss(t *testing.T) {
	t.Parallel()
	desired := exchange.Quantity(10)
	w := desiring(t, &desired, foreign("ignore"), ownLimits(risk.Limits{MaxDailyLoss: risk.Loss{USDT: exchange.AmountOf(100)}}))
	w.pass(30_000)
	w.manually(w.market(exchange.Buy, 7, false))
	w.pass(30_000)
	w.wantHeld(17)
	w.manually(w.market(exchange.Sell, 17, true))
	w.pass(60_000)
	w.wantHeld(0)
	for _, d := range w.engine.Degraded() {
		t.Errorf("want no limit breached by a position of 500 USDT that lost its fees, have %+v", d)
	}
}

func TestDayBeginsAtMidnightBetweenIdleRounds(t *testing.T) {
	t.Parallel()
	w := desiring(t, new(exchange.Quantity), accountLimits(risk.Limits{MaxDailyLoss: risk.Loss{USDT: exchange.AmountOf(1_000)}}))
	day := exchange.Day1.OpenOf(w.now) + int64(exchange.Day1)
	w.now = day - 100_000 // idle rounds are 15 s apart
	w.venue.Advance(w.now)
	w.pass(1_000)
	w.give(&EventWake{})
	w.pass(98_000)
	w.engine.record(record.Record{Body: record.Breach{Rule: risk.MaxLosingStreak, Reason: "a test", UntilMS: day + 20_500}})
	w.pass(2_000)
	if have := w.engine.Tracker().Watch("").Day().StartMS; have != day {
		t.Errorf("a second after midnight: want the day that began %d, have %d", day, have)
	}
	w.pass(18_000)
	w.wantState("limit")
	w.pass(3_000)
	w.wantSound()
}

// The wallet shows the money spent, and no list shows the purchase.
func TestAPurchaseThatNoListShowsYetIsNoLoss(t *testing.T) {
	t.Parallel()
	desired := exchange.Quantity(100_00) // 0.1 BTC, for 5,000 USDT
	w := desiring(t, &desired, onSpot, accountLimits(risk.Limits{MaxDailyLoss: risk.Loss{USDT: exchange.AmountOf(300)}}))
	w.mirror = func(answer *exchange.Answer) {
		switch answer.Operation {
		case exchange.SpotOpenOrders, exchange.SpotOrderHistory:
			answer.Orders = exchange.FetchedOf[exchange.Order](nil)
		case exchange.SpotUserTrades:
			answer.Fills = exchange.FetchedOf[exchange.UserTrade](nil)
		}
	}
	for range 80 {
		w.pass(100)
		if total := w.engine.Status().Total; !total.IsZero() && total.Less(exchange.AmountOf(9_900)) {
			t.Fatalf("want an equity of 10,000 less fees shown in each moment, have %s", total)
		}
	}
	if u := w.utilization("account", risk.MaxDailyLoss); w.symbol().Known() != 0 || u.State == risk.StateBreached {
		t.Errorf("want a purchase that no list shows, and no loss, have %d, %+v\n%s", w.symbol().Known(), u, w.story())
	}
	w.mirror = nil
	w.pass(20_000)
	if u := w.utilization("account", risk.MaxDailyLoss); w.symbol().Known() == 0 || u.State != risk.StateOK {
		t.Errorf("want it bought and no loss, have %d, %+v", w.symbol().Known(), u)
	}
	w.price("46000")
	w.pass(20_000)
	if u := w.utilization("account", risk.MaxDailyLoss); u.State != risk.StateBreached {
		t.Errorf("want some 400 USDT of loss breached, have %+v", u)
	}
}

// A wallet that keeps showing more than the fills does not suspend the limits for long.
func TestLimitsResumeWithUnexplainedUnits(t *testing.T) {
	t.Parallel()
	desired := exchange.Quantity(100_00)
	w := desiring(t, &desired, onSpot, accountLimits(risk.Limits{MaxDailyLoss: risk.Loss{USDT: exchange.AmountOf(5_500)}}))
	w.pass(30_000)
	w.manually(exchange.Request{Operation: exchange.SpotPlace, Order: exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy,
		Type: exchange.Limit, Price: 51_000e8, Quantity: 2_000}})
	w.pass(60_000)
	if u := w.utilization("account", risk.MaxDailyLoss); u.State == risk.StateBreached {
		t.Fatalf("want nothing lost but a fee, have %+v\n%s", u, w.story())
	}
	w.price("1000")
	w.pass(60_000)
	if u := w.utilization("account", risk.MaxDailyLoss); u.State != risk.StateBreached {
		t.Errorf("want the fall of the price counted, have %+v", u)
	}
}
