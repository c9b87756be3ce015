package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

func (w *world) reload(plan func(*strategy.View, *strategy.Plan)) {
	w.t.Helper()
	config := w.config.Strategies[0]
	config.Strategy = scripted(plan)
	w.change(Reload{Strategies: []*StrategyConfig{&config}})
}

// change puts a change of the configuration in force, and expects no objection.
func (w *world) change(reload Reload) {
	w.t.Helper()
	w.give(&EventReload{Reload: &reload})
	if len(reload.Refused) > 0 {
		w.t.Fatalf("want the reload taken, have it refused: %q", reload.Refused)
	}
}

// wantRefused expects a change to be refused for one reason, without any effect.
func (w *world) wantRefused(why string, reload Reload) {
	w.t.Helper()
	records, calls, notes := len(w.records), len(w.queue), len(w.notes)
	before := w.engine.Status()
	w.give(&EventAudited{Audit: &record.Audit{Actor: "a test"}, Event: &EventReload{Reload: &reload}})
	if len(reload.Refused) != 1 || !strings.Contains(reload.Refused[0], why) {
		w.t.Errorf("want it refused because %s, have %q", why, reload.Refused)
	}
	if len(w.records) != records || len(w.queue) != calls || len(w.notes) != notes {
		w.t.Errorf(
			"a reload that is refused: want no record, no request, no note, have %d, %d, %d",
			len(w.records)-records,
			len(w.queue)-calls,
			len(w.notes)-notes,
		)
	}
	if after := w.engine.Status(); len(before.Strategies) != len(after.Strategies) || len(before.Limits) != len(after.Limits) {
		w.t.Errorf("a reload that is refused: want the same strategies and limits, have %+v", after)
	}
}

// another returns a strategy on another symbol.
func (w *world) another(name string, key exchange.SymbolKey, plan func(*strategy.View, *strategy.Plan)) *StrategyConfig {
	config := &StrategyConfig{Name: name, Strategy: scripted(plan), Symbol: w.venue.Symbol(key), Interval: exchange.Minute1, Schedule: each(1000)}
	if key.Market == exchange.Futures {
		config.Leverage = 7
	}
	return config
}

func (w *world) names() (names []string) {
	for _, s := range w.engine.Status().Strategies {
		names = append(names, s.Name)
	}
	return names
}

var ether = exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}

// slow needs candles before it decides.
type slow struct{ scripted }

func (slow) Warmup() int { return 3 }

func TestNewVersionKeepsPositionAndMemory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(view *strategy.View, plan *strategy.Plan) {
		hold(10)(view, plan)
		plan.Remember("n", 7)
	}, protected)
	w.pass(10_000)
	w.wantHeld(10)
	sent := len(w.sent)
	var remembered int64
	w.reload(func(view *strategy.View, plan *strategy.Plan) {
		remembered, _ = view.Memory.Get("n")
		hold(10)(view, plan)
	})
	w.pass(10_000)
	if w.wantHeld(10); len(w.sent) != sent {
		t.Errorf("the same plan: want nothing sent, have %+v", w.sent[sent:])
	}
	if remembered != 7 {
		t.Errorf("want its memory kept, have %d", remembered)
	}
	w.reload(hold(30))
	w.pass(10_000)
	w.wantHeld(30)
	w.wantSound()
}

func TestANewVersionRevivesAStrategyThatFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(*strategy.View, *strategy.Plan) { panic("a fault") })
	w.pass(10_000)
	if state := w.engine.Status().Strategies[0].State; state != "failed" {
		t.Fatalf("want it failed, have %s", state)
	}
	w.reload(hold(10))
	w.pass(10_000)
	w.wantHeld(10)
	w.wantSound()
}

func TestAnotherSymbolOrIntervalIsAnotherStrategy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10))
	w.pass(5_000)
	for _, change := range []func(*StrategyConfig){
		func(c *StrategyConfig) { c.Symbol = w.venue.Symbol(coin) },
		func(c *StrategyConfig) { c.Interval = exchange.Hour1 },
	} {
		config := w.config.Strategies[0]
		change(&config)
		w.wantRefused("one runs on futures BTC-USDT 1m", Reload{Strategies: []*StrategyConfig{&config}})
	}
	w.wantRefused(
		"two and three both trade futures ETH-USDT",
		Reload{Strategies: []*StrategyConfig{w.another("two", ether, hold(1)), w.another("three", ether, hold(1))}},
	)
	w.wantRefused(
		"one and two both trade futures BTC-USDT",
		Reload{Limits: &risk.Limits{}, Strategies: []*StrategyConfig{w.another("two", bitcoin, hold(1))}},
	)
	w.wantRefused("three: it is not running", Reload{Removed: []string{"three"}})
	watcher := w.another("two", coin, hold(1))
	watcher.Strategy = onlooker{hold(0), strategy.Watching{Pair: ether}}
	w.wantRefused("two watches futures ETH-USDT, which no strategy of the account trades", Reload{Strategies: []*StrategyConfig{watcher}})
	w.give(&EventStop{Shutdown: ShutdownLeave})
	w.wantRefused("botd is stopping", Reload{})
}

func TestNewStrategyStartsWithoutAffectingOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10), protected)
	w.pass(5 * 60_000)
	w.wantHeld(10)
	sent := len(w.sent)
	fresh := w.another("another", ether, nil)
	ripe := 0
	fresh.Strategy = slow{func(view *strategy.View, plan *strategy.Plan) {
		if view.Closed() < 3 {
			t.Errorf("want it asked after its warm-up only, have it after %d candles", view.Closed())
		}
		ripe++
		hold(10*view.Symbol.QuantityTick)(view, plan)
	}}
	asked := []string{}
	w.network = func(call *Call) fate {
		if r := call.Request; r.Symbol == "ETH-USDT" || r.Order.Symbol == "ETH-USDT" {
			asked = append(asked, r.Operation.String())
		}
		return fate{}
	}
	w.change(Reload{Strategies: []*StrategyConfig{fresh}})
	if have := w.names(); !slices.Equal(have, []string{"another", "one"}) {
		t.Errorf("want both strategies shown, have %v", have)
	}
	w.pass(10_000)
	p, _ := w.venue.Position("one", "ETH-USDT")
	if want := 10 * w.venue.Symbol(ether).QuantityTick; p.Signed() != want || p.Leverage != 7 {
		t.Errorf("want %d at leverage 7, have %d at %d; asked %v", want, p.Signed(), p.Leverage, asked)
	}
	set, placed := slices.Index(asked, exchange.FuturesSetLeverage.String()), slices.Index(asked, exchange.FuturesPlace.String())
	if candles := slices.Index(asked, exchange.FuturesCandles.String()); candles < 0 || set < candles || placed < set || ripe == 0 {
		t.Errorf("want candles read, the leverage set, then an order; ripe decisions %d, have %v", ripe, asked)
	}
	if w.wantHeld(10); len(w.sent) != sent+1 {
		t.Errorf("want nothing sent for the other, have %+v", w.sent[sent:])
	}
	w.wantSound()
	w.config.Strategies = append(w.config.Strategies, *fresh)
	w.start() // a restart agrees
	w.pass(20_000)
	if w.wantSound(); len(w.sent) != sent+1 {
		t.Errorf("want nothing sent after a restart, have %+v", w.sent[sent+1:])
	}
}

// When a symbol is traded for the first time, the current round did not request all of it: nothing opens
// there before the next round.
func TestRoundInProgressExcludesNewSymbol(t *testing.T) {
	t.Parallel()
	fresh := exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}
	for _, at := range []phase{0, phaseLists, phasePositions} {
		w := newWorld(t, hold(0), onSpot)
		w.pass(20_000)
		w.engine.roundMS = w.now
		for at != 0 && w.engine.reader.roundReads.phase != at {
			w.pass(1)
		}
		histories := 0
		w.network = func(call *Call) fate {
			switch {
			case call.Request.Operation == exchange.SpotOrderHistory && call.Request.Symbol == fresh.Name:
				histories++
			case call.Request.Operation == exchange.SpotPlace && histories == 0:
				t.Errorf("in phase %d: an order is placed before the symbol's history was read", at)
			}
			return fate{}
		}
		symbol := w.engine.Tracker().Track(fresh)
		see(symbol, func(o *seen) { o.Read, o.Settled = true, true }) // a person trades it
		two := w.another("two", fresh, nil)
		two.Strategy = scripted(hold(100 * two.Symbol.QuantityTick))
		w.change(Reload{Strategies: []*StrategyConfig{two}})
		if symbol.Read() || symbol.Settled() {
			t.Errorf("in phase %d: want nothing known of the symbol", at)
		}
		w.pass(15_000)
		if histories == 0 || symbol.Known() == 0 {
			t.Errorf("in phase %d: want its history read and it bought, have %d and %d\n%s", at, histories, symbol.Known(), w.story())
		}
		w.change(Reload{Strategies: []*StrategyConfig{w.another("two", fresh, hold(0))}})
		w.pass(60_000)
		w.change(Reload{Removed: []string{"two"}})
		w.pass(60_000)
		w.wantSound()
	}
}

func TestLimitAppliesFromReload(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		limit risk.Limits
	}{
		{"of the position", risk.Limits{MaxGrossExposure: exchange.RateOne / 1000}},
		{"of one symbol", risk.Limits{MaxSymbolExposure: exchange.RateOne / 1000}},
		{"of the leverage", risk.Limits{MaxLeverage: 2}},
	} {
		for _, own := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, own %t", c.name, own), func(t *testing.T) {
				t.Parallel()
				desired := exchange.Quantity(10)
				w := desiring(t, &desired, protected)
				w.pass(10_000)
				w.wantHeld(10)
				set := func(limits risk.Limits) {
					config := w.config.Strategies[0]
					reload := Reload{Limits: &limits}
					if config.Limits = limits; own {
						reload = Reload{Strategies: []*StrategyConfig{&config}}
					}
					w.change(reload)
				}
				set(c.limit)
				desired = 20
				w.pass(30_000)
				w.wantHeld(10) // nothing is added, and nothing is closed
				w.wantOpen(1)
				set(risk.Limits{})
				w.pass(10_000)
				w.wantHeld(20)
			})
		}
	}
}

// The equity of a market that comes or goes is neither a gain nor a loss.
func TestAMarketThatIsTradedNewlyIsNeitherGainNorLoss(t *testing.T) {
	t.Parallel()
	loss := risk.Loss{Share: exchange.RateOne / 100}
	w := newWorld(t, hold(10), accountLimits(risk.Limits{MaxDailyLoss: loss, MaxDrawdown: loss}))
	w.pass(10_000)
	before := w.engine.Status()
	lot := w.venue.Symbol(coin).QuantityTick
	two := w.another("two", coin, hold(100*lot))
	w.change(Reload{Strategies: []*StrategyConfig{two}})
	w.pass(20_000)
	with := w.engine.Status()
	spot := with.Total.Sub(w.engine.equity(exchange.Futures))
	if have := with.Day.Equity.Sub(before.Day.Equity); have.Sub(spot).Float() > 1 || spot.Sub(have).Float() > 1 || spot.Sign() <= 0 {
		t.Errorf("the day's first equity: want it %s above %s, the spot market's, have %s", spot, before.Day.Equity, with.Day.Equity)
	}
	w.config.Strategies = append(w.config.Strategies, *two)
	w.start()
	w.pass(10_000)
	w.wantSound()
	w.change(Reload{Strategies: []*StrategyConfig{w.another("two", coin, hold(0))}})
	w.pass(60_000)
	w.change(Reload{Removed: []string{"two"}})
	w.pass(20_000)
	w.wantSound()
	after := w.engine.Status()
	if after.Day.Equity != before.Day.Equity {
		t.Errorf("the day's first equity of futures alone: want %s again, have %s", before.Day.Equity, after.Day.Equity)
	}
	w.wantHeld(10)
	w.change(Reload{Strategies: []*StrategyConfig{w.another("two", coin, hold(0))}})
	w.pass(20_000)
	w.config.Strategies = w.config.Strategies[:1]
	w.start() // without it: the same
	w.pass(10_000)
	w.wantSound()
	if day := w.engine.Status().Day; day.Equity != before.Day.Equity {
		t.Errorf("the day's first equity after a restart without spot: want %s, have %s", before.Day.Equity, day.Equity)
	}
}

func TestStreakBeyondTightenedLimitBlocksEntries(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(0), ownLimits(risk.Limits{MaxLosingStreak: 5, CoolDownMS: 60_000}))
	w.pass(5_000)
	w.engine.record(record.Record{Strategy: "one", Symbol: bitcoin, Body: record.Result{Base: exchange.AmountOf(10_000), Losses: 3}})
	for _, c := range []struct {
		limit  int
		states int
	}{{4, 0}, {3, 1}} {
		config := w.config.Strategies[0]
		config.Limits = risk.Limits{MaxLosingStreak: c.limit, CoolDownMS: 60_000}
		w.change(Reload{Strategies: []*StrategyConfig{&config}})
		w.pass(1_000)
		if have := w.engine.Degraded(); len(have) != c.states {
			t.Errorf("after 3 losses, at most %d: want %d states, have %+v", c.limit, c.states, have)
		}
	}
}

// A tighter limit may be reached already, while the count of the first one starts at zero.
func TestAccountStreakCountsWhileItsLimitIsInForce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, limit, states int }{{5, 4, 0}, {5, 3, 1}, {0, 3, 0}} {
		w := newWorld(t, hold(0), accountLimits(risk.Limits{MaxLosingStreak: c.before, CoolDownMS: 60_000}))
		w.pass(5_000)
		w.engine.record(record.Record{Body: record.Accounted{Wallet: exchange.AmountOf(10_000), Losses: 3}})
		w.change(Reload{Limits: &risk.Limits{MaxLosingStreak: c.limit, CoolDownMS: 60_000}})
		w.pass(1_000)
		if have := w.engine.Degraded(); len(have) != c.states {
			t.Errorf("3 losses, at most %d and now %d: want %d states, have %+v", c.before, c.limit, c.states, have)
		}
	}
}

// A strategy without a configuration has no limits, and its losses during wind-up count.
func TestStreakBlocksEntriesWhenLimitReturns(t *testing.T) {
	t.Parallel()
	lost := func(w *world, losses int) {
		w.engine.record(record.Record{Strategy: "one", Symbol: bitcoin, Body: record.Result{Base: exchange.AmountOf(10_000), Losses: losses}})
	}
	for _, c := range []struct {
		name    string
		returns func(w *world)
	}{
		{"after its removal", func(w *world) {
			config := w.config.Strategies[0]
			w.change(Reload{Removed: []string{"one"}})
			lost(w, 2)
			w.pass(5_000)
			w.change(Reload{Strategies: []*StrategyConfig{&config}})
		}},
		{"after a restart without it", func(w *world) {
			strategies := w.config.Strategies
			w.config.Strategies = nil
			w.start()
			lost(w, 2)
			w.pass(5_000)
			w.config.Strategies = strategies
			w.start()
		}},
		{"tightened by a restart", func(w *world) {
			lost(w, 2)
			w.pass(5_000)
			w.config.Strategies[0].Limits.MaxLosingStreak = 2
			w.start()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			limit := 2
			if c.name == "tightened by a restart" {
				limit = 3
			}
			w := newWorld(t, hold(0), ownLimits(risk.Limits{MaxLosingStreak: limit, CoolDownMS: 60_000}))
			w.pass(5_000)
			lost(w, 1)
			w.pass(5_000)
			c.returns(w)
			w.pass(5_000)
			w.wantState("limit")
			w.start()
			w.pass(60_000)
			if have := w.engine.Degraded(); len(have) != 0 {
				t.Errorf("want it over after its time, and the count begun again, have %+v", have)
			}
		})
	}
}

func TestABreachOutlivesAReloadThatWouldHaveAllowedIt(t *testing.T) {
	t.Parallel()
	desired := exchange.Quantity(100)
	w := desiring(t, &desired, accountLimits(risk.Limits{MaxDailyLoss: risk.Loss{USDT: exchange.AmountOf(100)}}))
	w.pass(5_000)
	w.price("48000")
	w.pass(20_000)
	w.wantState("limit")
	w.change(Reload{Limits: &risk.Limits{MaxDailyLoss: risk.Loss{USDT: exchange.AmountOf(5_000)}}})
	desired = 200
	w.pass(20_000)
	w.wantHeld(100)
	w.wantState("limit")
}

// The version under which an opening was approved must never equal a later one.
func TestNoTwoLimitsVersionsAreTheSame(t *testing.T) {
	t.Parallel()
	w := standing(t)
	config := w.config.Strategies[0]
	config.OnRemove = "leave"
	last := w.engine.limitsVersionOf("one")
	changes := []Reload{
		{Strategies: []*StrategyConfig{&config}}, {Removed: []string{"one"}}, {Limits: &risk.Limits{MaxOpenOrders: 50}},
		{Strategies: []*StrategyConfig{&config}}, {Limits: &risk.Limits{}},
	}
	for i, change := range changes {
		w.change(change)
		if now := w.engine.limitsVersionOf("one"); now <= last {
			t.Errorf("change %d: want a limits version after %d, have %d", i, last, now)
		} else {
			last = now
		}
	}
	if w.engine.limitsVersionOf("nobody") >= 0 {
		t.Error("want no limits version of a removed strategy")
	}
}

// The strategy trades once a person has resumed it, and after a restart, too. A strategy that the account has traded before
// does not wait again.
func TestANewStrategyWaitsForAPersonWhereItIsTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10))
	w.pass(10_000)
	state := func() string {
		for _, s := range w.engine.Status().Strategies {
			if s.Name == "two" {
				return s.State
			}
		}
		return "none"
	}
	second := w.another("two", ether, hold(20))
	second.Paused = true
	w.config.Strategies = append(w.config.Strategies, *second)
	w.change(Reload{Strategies: []*StrategyConfig{second}})
	w.pass(20_000)
	if have := w.heldOf(exchange.Futures, "ETH-USDT"); have != 0 || state() != "halted" {
		t.Fatalf("want it new and halted, have it %s with %d held\n%s", state(), have, w.story())
	}
	w.wantHeld(10)
	w.restart()
	if have := w.heldOf(exchange.Futures, "ETH-USDT"); have != 0 || state() != "halted" {
		t.Fatalf("after a restart: want it halted still, have it %s with %d held", state(), have)
	}
	w.halt(record.LevelNone, account.Scope{Strategy: "two"})
	w.pass(20_000)
	if have := w.heldOf(exchange.Futures, "ETH-USDT"); have != 20 {
		t.Fatalf("resumed: want it to trade, have %d held\n%s", have, w.story())
	}
	w.restart()
	w.pass(10_000)
	if have := w.heldOf(exchange.Futures, "ETH-USDT"); have != 20 || state() == "halted" {
		t.Errorf("after another restart: want it to trade on, have it %s with %d held", state(), have)
	}
	w.wantSound()
}
