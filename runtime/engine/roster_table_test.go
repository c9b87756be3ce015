package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/internal/reconciletest"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

// The symbol's strategy claims it, which is journalled once. A strategy is halted if it finds another one's position, or if it was removed
// with a position.
func TestSymbolClaim(t *testing.T) {
	t.Parallel()
	assigned := func(w *world, name, onRemove string) {
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: name, Symbol: bitcoin, Body: record.Assigned{OnRemove: onRemove}})
	}
	holds := func(w *world) {
		w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: 10}})
	}
	const left = "strategy one was removed from the configuration while it has a position; its stop stays"
	for _, c := range []struct {
		name     string
		with     func(w *world, one *leg)
		assigned int
		halt     string
	}{
		{"its own", func(*world, *leg) {}, 0, ""},
		{"with another end", func(_ *world, one *leg) { one.config.OnRemove = removeFlatten }, 1, ""},
		{"it watches what happens by now", func(_ *world, one *leg) { one.watched.subscription.Events = true }, 1, ""},
		{"of another strategy", func(w *world, _ *leg) { assigned(w, "two", "") }, 1, ""},
		{"of another strategy, which left something", func(w *world, _ *leg) { assigned(w, "two", ""); holds(w) }, 1,
			"strategy one takes over the position of two; its stop stays"},
		{"of another strategy, which left an order", func(w *world, _ *leg) { assigned(w, "two", ""); w.sends(placement.Exit) }, 1,
			"strategy one takes over the position of two; its stop stays"},
		{"it was removed", func(_ *world, one *leg) { one.config.Removed = true }, 0, ""},
		{"it was removed, and holds something", func(w *world, one *leg) { holds(w); one.config.Removed = true }, 0, left},
		{"it was removed, and is flattened", func(w *world, one *leg) {
			assigned(w, "one", removeFlatten)
			holds(w)
			one.config.Removed = true
		}, 0, ""},
		{"its file is absent", func(w *world, one *leg) { holds(w); one.config.Removed, one.config.Absent = true, true }, 0, ""},
		{"it was removed, and the symbol is halted already", func(w *world, one *leg) {
			holds(w)
			one.config.Removed = true
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Symbol: bitcoin, Body: record.Halt{Level: record.LevelCancel, Reason: "news"}})
		}, 0, "news"},
	} {
		w := settled(t)
		one := w.engine.legs[0]
		c.with(w, one)
		w.out.Reset()
		before, halted := len(w.engine.unwritten), w.engine.tracker.HaltOf(account.Scope{Symbol: bitcoin}).Reason
		w.engine.roster.claim(one)
		claims := 0
		for _, r := range w.engine.unwritten[before:] {
			if body, is := r.Body.(record.Assigned); is && body.OnRemove == one.config.OnRemove && body.Events == one.watched.subscription.Events {
				claims++
			}
		}
		why := w.engine.tracker.HaltOf(account.Scope{Symbol: bitcoin}).Reason
		if claims != c.assigned || why != c.halt || (len(facts[NoteHalt](w.out.Notes)) == 1) != (why != halted) {
			t.Errorf("%s: want it claimed %d times, and halted by %q, have %d, %q", c.name, c.assigned, c.halt, claims, why)
		}
	}
}

// The strategy is configured to wait, and the account has never traded it.
func TestNewStrategyWaitsIfConfigured(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		paused, traded bool
		level          record.HaltLevel // the level of an existing halt
		want           record.HaltLevel
	}{
		{"it is to", true, false, record.LevelNone, record.LevelPause}, {"it is not to", false, false, record.LevelNone, record.LevelNone},
		{"it was traded before", true, true, record.LevelNone, record.LevelNone},
		{"it is halted already", true, false, record.LevelFlatten, record.LevelFlatten},
	} {
		w := settled(t)
		one := w.engine.legs[0]
		one.config.Paused = c.paused
		if !c.traded {
			one.state, one.config.Name = w.engine.tracker.Strategy("new"), "new"
		}
		if c.level != record.LevelNone {
			w.engine.tracker.Apply(&record.Record{Strategy: "new", Body: record.Halt{Level: c.level, Reason: "news"}})
		}
		w.out.Reset()
		w.engine.roster.pauseNewStrategy(one)
		have := w.engine.tracker.HaltOf(account.Scope{Strategy: one.config.Name})
		if have.Level != c.want || (len(facts[NoteHalt](w.out.Notes)) == 1) != (c.want == record.LevelPause) || c.want == record.LevelPause &&
			!strings.HasPrefix(have.Reason, "it is new: botd strategy resume new") {
			t.Errorf("%s: want %s, have %+v", c.name, c.want, have)
		}
	}
}

// peersOrder has an open list show an order of another botd with this one's prefix.
func peersOrder(side exchange.Side, reduces bool) func(w *world) {
	return func(w *world) {
		order := exchange.Order{ID: 90, ClientOrderID: "bt-" + placement.Start{Epoch: 9}.String() + "-1", Market: exchange.Futures,
			Symbol: bitcoin.Name, Side: side, Type: exchange.Limit, Quantity: 10, Status: exchange.StatusNew}
		if reduces {
			order.ClosePositionID = 7
		}
		w.engine.tracker.Observe(&reconcile.Snapshot{BeganMS: w.now, EndedMS: w.now, FuturesOrders: exchange.FetchedOf([]exchange.Order{order})})
	}
}

// An ended strategy has no position, and nothing is awaited on its symbol, unless another strategy takes over
// the symbol.
func TestRemovedStrategyIsEnded(t *testing.T) {
	t.Parallel()
	fills := func(w *world) {
		id := w.sends(placement.Entry)
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Ended{OrderID: 5, State: placement.Filled, Filled: 10}})
		w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: -10}})
		see(w.symbol(), func(o *seen) { o.Settled = true })
	}
	for _, c := range []struct {
		name     string
		with     func(w *world)
		want     bool
		replaced bool // another strategy is on its symbol
	}{
		{"nothing is left", func(*world) {}, true, true},
		{"it holds something", func(w *world) { see(w.symbol(), func(o *seen) { o.Position = 1 }) }, false, false},
		{"one order is under way", func(w *world) { w.sends(placement.Exit) }, false, false},
		{"its result is awaited", func(w *world) { fills(w); w.engine.results.following = true }, false, true},
		{"nobody follows its result", func(w *world) { fills(w); w.engine.results.following = false }, true, true},
		{"another botd's opening rests", peersOrder(exchange.Buy, false), false, true},
		{"another botd's exit rests", peersOrder(exchange.Sell, true), true, true},
		{"the ledger awaits its trade", func(w *world) { fills(w); w.engine.config.Ledger, w.engine.results.following = true, false }, false, true},
	} {
		w := settled(t, func(w *world) { w.config.Ledger = c.name == "the ledger awaits its trade" })
		c.with(w)
		one, r := w.engine.legs[0], w.engine.roster
		other := &Reload{Strategies: []*StrategyConfig{w.another("two", bitcoin, hold(0))}}
		elsewhere := &Reload{Strategies: []*StrategyConfig{w.another("two", ether, hold(0))}}
		if have := fmt.Sprint(r.ended(one, &Reload{}), r.ended(one, elsewhere), r.ended(one, other)); have != fmt.Sprint(c.want, c.want, c.replaced) {
			t.Errorf("%s: want it ended %t, with another there %t, have %s", c.name, c.want, c.replaced, have)
		}
	}
}

// A removed strategy ends when its market's money is booked; until then it keeps its symbol halted.
func TestRemovedStrategyEndsOnceBooked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		with func(w *world, one *leg)
		want int // number of strategies left
	}{
		{"all is booked", func(*world, *leg) {}, 0},
		{"it was not removed", func(_ *world, one *leg) { one.config.Removed = false }, 1},
		{"something is to be booked", func(w *world, _ *leg) { w.engine.accounting.futures.due = true }, 1},
		{"an answer about it is awaited", func(w *world, _ *leg) { w.engine.accounting.futures.pending = 1 }, 1},
		{"something is to be booked on spot", func(w *world, _ *leg) { w.engine.accounting.spot.due, w.engine.accounting.spot.pending = true, 1 }, 0},
		{"it holds something", func(w *world, _ *leg) {
			w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: 10}})
		}, 1},
	} {
		w := settled(t)
		one := w.engine.legs[0]
		one.config.Removed = true
		c.with(w, one)
		w.plan(strategy.Target{Kind: strategy.ByQuantity, Quantity: 10})
		w.out.Reset()
		w.engine.calls = map[int64]pendingCall{1: {kind: callOrderBook, leg: one}, 2: {kind: callSetLeverage, symbol: one.symbol}, 3: {kind: callRules},
			4: {kind: callSetLeverage, symbol: w.engine.tracker.Track(ether)}, 5: {kind: callRound}}
		w.engine.reader.roundReads.phase, *reconciletest.Of(w.engine.tracker).WalletMS = phaseLists, 7
		w.engine.roster.endRemoved()
		if calls := len(w.engine.calls); calls != map[int]int{0: 2, 1: 5}[c.want] || w.engine.reader.inProgress() != (c.want == 1) {
			t.Errorf("%s: want the answers that are awaited for it left to nobody, have %d", c.name, calls)
		}
		if have := len(w.engine.legs); have != c.want || w.engine.trades(exchange.Futures) != (have == 1) || (w.engine.legOn(bitcoin) != nil) != (have == 1) {
			t.Errorf("%s: want %d strategies left, have %d", c.name, c.want, have)
		}
		if halted := w.engine.tracker.HaltOf(account.Scope{Symbol: bitcoin}).Level != record.LevelNone; halted != (c.name == "it holds something") {
			t.Errorf("%s: have its symbol halted %t", c.name, halted)
		}
		if c.want > 0 {
			continue
		}
		notes := facts[NoteReload](w.out.Notes)
		if len(notes) != 1 || notes[0].Text != "it is no longer configured, has no position, and has ended" || one.state.Plan().Target().Sign() != 0 ||
			len(w.engine.market.series) != 0 || w.engine.tracker.AccountMS() != 0 || w.engine.tracker.WalletMS() != 0 || one.symbol.Read() {
			t.Errorf("%s: want it reported, and its plan, its candles and what was read forgotten, have %+v", c.name, notes)
		}
	}
}

// The texts cover a strategy without a position, one whose position is closed, and one whose position is left, and
// the preview.
func TestRemovalText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, onRemove string
		with           func(w *world)
		preview, text  string
		target         int // sign of the target afterwards
	}{
		{"it holds nothing", "", func(*world) {}, "one: end it, it has no position", "it is no longer configured, has no position, and has ended", 0},
		{"it is left", "leave", func(w *world) {
			see(w.symbol(), func(o *seen) {
				o.Position = 10
			})
		}, "one: leave its position (it has a position of 0.01 in futures BTC-USDT)",
			"it is no longer configured; on_remove: leave", 1},
		{"it is closed", removeFlatten, func(w *world) {
			see(w.symbol(), func(o *seen) {
				o.Position = 10
			})
		}, "one: close its position (it has a position of 0.01 in futures BTC-USDT)",
			"it is no longer configured; on_remove: flatten", 0},
	} {
		w := settled(t, protected)
		one := w.engine.legs[0]
		w.plan(strategy.Target{Kind: strategy.ByQuantity, Quantity: 10})
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Symbol: bitcoin, Body: record.Assigned{OnRemove: c.onRemove}})
		c.with(w)
		if have := w.engine.PreviewRemoval([]string{"none", "one"}); !slices.Equal(have, []string{c.preview}) {
			t.Errorf("%s: want %q, have %q", c.name, c.preview, have)
		}
		stop := one.config.Protection
		w.out.Reset()
		one.failure.why, one.schedule.nextMS, one.schedule.seen = "a bug", 5, 0
		w.engine.roster.remove(one, &Reload{Removed: []string{"one"}})
		notes := facts[NoteReload](w.out.Notes)
		plan := one.state.Plan()
		if len(notes) != 1 || notes[0].Text != c.text || plan.Target().Sign() != c.target {
			t.Errorf("%s: want %q, and a plan of sign %d, have %+v, %+v", c.name, c.text, c.target, notes, plan.Target())
		}
		if left := len(w.engine.legs) == 1; left && (one.failure.why != "" || !one.decidesByCandle() ||
			one.schedule.nextMS != never || !one.config.Removed || one.config.Protection != stop ||
			one.limits.configured != (risk.Limits{}) || c.onRemove == removeFlatten && plan.Protection() != stop) || left != (c.onRemove != "") {
			t.Errorf("%s: want it without a strategy and limits, and its stop kept, have %+v", c.name, one.config)
		}
	}
}

// All objections are returned together.
func TestReloadObjections(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		with   func(w *world)
		reload func(w *world) *Reload
		want   []string
	}{
		{"nothing", nil, func(*world) *Reload { return &Reload{} }, nil},
		{"botd cancels and stops", func(w *world) { w.engine.closing = record.LevelCancel }, func(*world) *Reload { return &Reload{} },
			[]string{"botd is stopping"}},
		{"a removal of what is missing on the exchange", func(w *world) { w.engine.config.Missing = []MissingStrategy{{Name: "gone"}} },
			func(*world) *Reload { return &Reload{Removed: []string{"gone"}} }, nil},
		{"a removal of what there is not", nil, func(*world) *Reload { return &Reload{Removed: []string{"gone"}} }, []string{"gone: it is not running"}},
		{"a removal of what was removed", func(w *world) { w.engine.legs[0].config.Removed = true },
			func(*world) *Reload { return &Reload{Removed: []string{"one"}} }, []string{"one: it is not running"}},
		{"a symbol that becomes free", nil, func(w *world) *Reload {
			return &Reload{Removed: []string{"one"}, Strategies: []*StrategyConfig{w.another("two", bitcoin, hold(0))}}
		}, nil},
		{"a symbol on which something is left", func(w *world) {
			see(w.symbol(), func(o *seen) {
				o.Position, w.engine.legs[0].config.OnRemove = 10, "leave"
			})
		},
			func(w *world) *Reload {
				return &Reload{Removed: []string{"one"}, Strategies: []*StrategyConfig{w.another("two", bitcoin, hold(0))}}
			}, []string{"one and two both trade futures BTC-USDT"}},
		{"a pair that is traded newly", nil, func(w *world) *Reload {
			watcher := w.another("watcher", coin, hold(0))
			watcher.Strategy = onlooker{hold(0), strategy.Watching{Pair: ether}}
			return &Reload{Strategies: []*StrategyConfig{watcher, w.another("two", ether, hold(0))}}
		}, nil},
		{"several removals of what there is not", nil, func(*world) *Reload { return &Reload{Removed: []string{"lost", "gone"}} },
			[]string{"gone: it is not running", "lost: it is not running"}},
		{"two on one symbol and one that is unknown", nil, func(w *world) *Reload {
			return &Reload{Removed: []string{"gone"}, Strategies: []*StrategyConfig{w.another("two", bitcoin, hold(0))}}
		}, []string{"gone: it is not running", "one and two both trade futures BTC-USDT"}},
	} {
		w := settled(t)
		if c.with != nil {
			c.with(w)
		}
		if diff := cmp.Diff(c.want, w.engine.ReloadObstacles(c.reload(w))); diff != "" {
			t.Errorf("%s: -want +have\n%s", c.name, diff)
		}
	}
	// A watched pair must stay traded.
	w := settled(t)
	watcher := w.another("watcher", ether, hold(0))
	watcher.Strategy = onlooker{hold(0), strategy.Watching{Pair: bitcoin}}
	w.change(Reload{Strategies: []*StrategyConfig{watcher}})
	w.pass(5_000)
	want := []string{"strategy watcher watches futures BTC-USDT, which no strategy of the account trades"}
	if diff := cmp.Diff(want, w.engine.ReloadObstacles(&Reload{Removed: []string{"one"}})); diff != "" {
		t.Errorf("-want +have\n%s", diff)
	}
	blind := *watcher
	blind.Strategy = scripted(hold(0))
	for name, reload := range map[string]*Reload{"both removed together": {Removed: []string{"one", "watcher"}},
		"one that watches no more": {Removed: []string{"one"}, Strategies: []*StrategyConfig{&blind}}} {
		if have := w.engine.ReloadObstacles(reload); len(have) != 0 {
			t.Errorf("want %s, have %q", name, have)
		}
	}
}

// The error for an unknown strategy lists the existing ones.
func TestUnknownStrategyErrorListsNames(t *testing.T) {
	t.Parallel()
	w := settled(t)
	if err := w.engine.noStrategy("two"); err.Error() != `there is no strategy "two" (there are: one): nothing was changed` {
		t.Errorf("want the names that there are, have %v", err)
	}
	w.engine.legs[0].config.Removed = true
	if err := w.engine.noStrategy("two"); err.Error() != `there is no strategy "two" (there are: ): nothing was changed` || w.engine.configured("one") != nil {
		t.Errorf("want no removed one among them, have %v", err)
	}
}

// The texts cover the preview, the change, and a reset.
func TestSetLimitText(t *testing.T) {
	t.Parallel()
	for strategyName, scope := range map[string]string{"": "the account", "one": "the strategy one"} {
		w := settled(t, accountLimits(risk.Limits{MaxOpenOrders: 9}), ownLimits(risk.Limits{MaxOpenOrders: 8}))
		configured := map[string]string{"": "9", "one": "8"}[strategyName]
		set := func(rule, value string) (string, string) {
			t.Helper()
			change := &LimitChange{Strategy: strategyName, Limits: []Setting{{rule, value}}, By: "ann", Reason: "news"}
			lines, err := w.engine.PreviewLimits(change)
			if err != nil {
				return err.Error(), ""
			}
			w.out.Reset()
			w.engine.out = &w.out
			w.engine.limitsInForce.tighten(change)
			notes := facts[NoteLimitSet](w.out.Notes)
			if len(notes) != 1 || notes[0].Rule != rule || notes[0].Ended != (value == "") {
				t.Errorf("%s: want it reported once, have %+v", scope, notes)
			}
			return strings.Join(lines, "; "), notes[0].Text
		}
		whose := strings.TrimPrefix(scope, "the strategy ")
		for _, c := range []struct{ rule, value, text, reported string }{
			{risk.MaxOpenOrders, "", risk.MaxOpenOrders + " of " + scope + " is already as configured: " + configured, ""},
			{risk.MaxOpenOrders, "4", risk.MaxOpenOrders + " of " + scope + " is 4 from now on, across restarts (configured: " + configured +
				"); nothing is closed", risk.MaxOpenOrders + " of " + whose + ": 4, set by ann: news"},
			{risk.MaxLeverage, "3", risk.MaxLeverage + " of " + scope + " is 3 from now on, across restarts (configured: none); nothing is closed",
				risk.MaxLeverage + " of " + whose + ": 3, set by ann: news"},
			{risk.MaxDailyLoss, "0.02", risk.MaxDailyLoss + " of " + scope + " is 2% from now on, across restarts (configured: none); nothing is closed",
				risk.MaxDailyLoss + " of " + whose + ": 2%, set by ann: news"},
			{risk.MaxDataAge, "1m30s", risk.MaxDataAge + " of " + scope + " is 90s from now on, across restarts (configured: none); nothing is closed",
				risk.MaxDataAge + " of " + whose + ": 90s, set by ann: news"},
			{risk.MaxOpenOrders, "", risk.MaxOpenOrders + " of " + scope + " is as configured again: " + configured + " (4 was set by ann)",
				risk.MaxOpenOrders + " of " + whose + ": as configured again: news"},
		} {
			if text, reported := set(c.rule, c.value); text != c.text || reported != c.reported {
				t.Errorf("%s, %q: want %q and %q, have %q and %q", scope, c.value, c.text, c.reported, text, reported)
			}
		}
	}
	// Settings of a strategy that is no longer configured can be reset, but not changed.
	w := settled(t)
	w.tightens("", "one", Setting{risk.MaxOpenOrders, "4"})
	w.engine.legs[0].config.Removed = true
	w.tightens("there is no strategy", "one", Setting{risk.MaxOpenOrders, "3"})
	w.tightens("there is no strategy", "one", Setting{risk.MaxLeverage, ""})
	w.tightens("", "one", Setting{risk.MaxOpenOrders, ""})
}

// The candles end with the last reader. Answers to their requests are then ignored.
func TestASymbolsCandlesAreSharedByItsReaders(t *testing.T) {
	t.Parallel()
	w := settled(t, offload)
	r, one := w.engine.roster, w.engine.legs[0]
	reads := func(keys ...exchange.SymbolKey) {
		one.config.Others = nil
		for _, key := range keys {
			one.config.Others = append(one.config.Others, strategy.Other{Symbol: w.venue.Symbol(key)})
		}
		if err := r.readOthers(one); err != nil {
			t.Fatal(err)
		}
	}
	solana := exchange.SymbolKey{Market: exchange.Futures, Name: sim.DefaultSymbols()[2].Name}
	one.config.Strategy = &atWarmup{scripted: hold(0), warmup: 7}
	reads(ether, solana)
	reads(ether, solana) // a reload reads them again
	s := w.engine.market.seriesOf(ether, exchange.Minute1)
	if len(w.engine.market.series) != 3 || len(s.readers) != 1 || s.warmup != 7 || s.pollMS != w.engine.nowMS || s.symbol.Name != ether.Name ||
		len(one.others) != 2 {
		t.Errorf("want each read once, from now on, with its warm-up, have %d, %+v", len(w.engine.market.series), s)
	}
	id, other := w.engine.begin(pendingCall{kind: callCandles, series: s}), w.engine.begin(pendingCall{kind: callCandles, series: one.series})
	s.pollMS, s.asking = never, true
	if reads(ether); s.pollMS != never || len(w.engine.market.series) != 2 {
		t.Errorf("want a read under way awaited, and the other series ended, have %d, %d", s.pollMS, len(w.engine.market.series))
	}
	reads()
	_, out := w.engine.calls[id]
	_, stays := w.engine.calls[other]
	if len(w.engine.market.series) != 1 || out || !stays || len(one.others) != 0 {
		t.Errorf("want the strategy's own candles read alone, have %d series, its call %t, the other %t", len(w.engine.market.series), out, stays)
	}
	w.engine.config.Offload = false
	one.config.Others = []strategy.Other{{Symbol: w.venue.Symbol(ether)}}
	if err := r.readOthers(one); err == nil || !strings.Contains(err.Error(), "strategy one reads candles of other symbols") {
		t.Errorf("want it refused where no worker answers, have %v", err)
	}
	w.engine.config.Feed = true
	if err := r.readOthers(one); err != nil || len(one.view.Others) != 1 {
		t.Errorf("want it fed in a backtest, have %v", err)
	}
}
