package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// The text is part of the message that refuses a removal.
func TestRemovalObstacleText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		with func(w *world)
		want string
	}{
		{"nothing", func(*world) {}, ""},
		{"a position", func(w *world) { see(w.symbol(), func(o *seen) { o.Position = 10 }) }, "it has a position of 0.01 in futures BTC-USDT"},
		{"a position by its fills alone", func(w *world) {
			w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: -10}})
		}, "it has a position of -0.01 in futures BTC-USDT"},
		{"an order", func(w *world) { w.sends(placement.Exit) }, "1 of its orders are open or in flight on futures BTC-USDT"},
		{"orders", func(w *world) { w.sends(placement.Exit); w.sends(placement.Exit) },
			"2 of its orders are open or in flight on futures BTC-USDT"},
		{"a quarantine", func(w *world) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Symbol: bitcoin, Body: record.Quarantined{Reason: "a difference"}})
		}, "futures BTC-USDT is quarantined: a difference"},
		{"a refusal that no read has confirmed", func(w *world) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: w.sends(placement.Entry), Body: record.Refused{Reason: "no"}})
		}, "the exchange may have executed a refused order on futures BTC-USDT"},
		{"not read", func(w *world) { see(w.symbol(), func(o *seen) { o.Read = false }) }, "its position in futures BTC-USDT is not settled yet"},
		{"not settled", func(w *world) { see(w.symbol(), func(o *seen) { o.Settled = false }) }, "its position in futures BTC-USDT is not settled yet"},
	} {
		w := settled(t)
		c.with(w)
		if have := w.engine.roster.removalObstacle(w.engine.legs[0]); have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
		if w.engine.config.Strategies[0].OnRemove = ""; c.want != "" {
			w.wantRefused("one cannot be removed: "+c.want, Reload{Removed: []string{"one"}})
		}
	}
}

func TestStatusShowsSymbolState(t *testing.T) {
	t.Parallel()
	w := settled(t)
	symbol := w.symbol()
	w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: 7}})
	w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: 3}})
	w.engine.tracker.Apply(&record.Record{AtMS: 5, Symbol: bitcoin, Body: record.Quarantined{Reason: "a difference"}}) // the symbol is not settled then
	see(symbol, func(o *seen) {
		o.Position, o.EntryPrice, o.LiqPrice, o.Leverage = 10, exchange.AmountOf(50_000), exchange.AmountOf(40_000), 8
	})
	see(symbol, func(o *seen) { o.Last, o.Mark, o.SinceMS = 11e8, 12e8, 77 })
	see(symbol, func(o *seen) { o.UnprotectedSinceMS, o.UnprotectedMS = w.engine.nowMS-300, 700 })
	status := w.engine.Status()
	if one := status.Strategies[0]; one.UnprotectedSinceMS != w.engine.nowMS-300 || one.UnprotectedMS != 1_000 {
		t.Errorf("want it without a stop since 300 ms, for 1 s in all, have %d, %d", one.UnprotectedSinceMS, one.UnprotectedMS)
	}
	i := slices.IndexFunc(status.Symbols, func(s SymbolStatus) bool { return s.Key == bitcoin })
	if i < 0 {
		t.Fatalf("want the symbol shown, have %+v", status.Symbols)
	}
	s := status.Symbols[i]
	have := fmt.Sprint(s.Owner, s.Position, s.Ignored, s.Known, s.EntryPrice, s.LiqPrice, s.Leverage, s.Last, s.Mark, s.SinceMS, s.Read, s.Settled,
		s.Quarantine, s.QuarantineMS, s.Rules == symbol.Rules())
	want := fmt.Sprint("one", 10, 3, 7, exchange.AmountOf(50_000), exchange.AmountOf(40_000), 8, int64(11e8), int64(12e8), 77, true, false,
		"a difference", 5, true)
	if have != want {
		t.Errorf("want %s, have %s", want, have)
	}
	one := status.Strategies[0]
	if one.Position != 10 || one.EntryPrice != exchange.AmountOf(50_000) || one.LiqPrice != exchange.AmountOf(40_000) || one.Last != 11e8 || one.Settled {
		t.Errorf("want the strategy's part of it, have %+v", one)
	}
}

// The profit is at the last price. It is zero without a position, or if the entry price or the price is
// unknown.
func TestUnrealizedProfit(t *testing.T) {
	t.Parallel()
	symbol := settled(t).venue.Symbol(bitcoin)
	price := exchange.Price(51_000e8)
	for _, c := range []struct {
		name string
		s    StrategyStatus
		want string
	}{
		{"long", StrategyStatus{Symbol: symbol, Position: 10, EntryPrice: exchange.AmountOf(50_000), Last: price}, "10"},
		{"short", StrategyStatus{Symbol: symbol, Position: -10, EntryPrice: exchange.AmountOf(50_000), Last: price}, "-10"},
		{"none", StrategyStatus{Symbol: symbol, EntryPrice: exchange.AmountOf(50_000), Last: price}, "0"},
		{"no entry price", StrategyStatus{Symbol: symbol, Position: 10, Last: price}, "0"},
		{"no price", StrategyStatus{Symbol: symbol, Position: 10, EntryPrice: exchange.AmountOf(50_000)}, "0"},
		{"no symbol", StrategyStatus{}, "0"},
		{"on spot, what the position under way brought", StrategyStatus{Symbol: &exchange.Symbol{Market: exchange.Spot}, Position: 10,
			tripProfit: exchange.AmountOf(3)}, "3"},
	} {
		if have := c.s.Unrealized().String(); have != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
		}
	}
}

// The decision is for the newest due time; the missed ticks are counted.
func TestATickThatIsLateIsDecidedOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		lateMS       int64
		last         exchange.Price
		warmup, seen int
		asked        int64 // the time it is asked for, relative to the due time; -1 if it is not asked
		missed       int
	}{
		{"in time", 0, 1, 0, 0, 0, 0},
		{"late by less than a tick", 999, 1, 0, 0, 0, 0},
		{"late by one", 1_000, 1, 0, 0, 1_000, 1},
		{"late by three and a half", 3_500, 1, 0, 0, 3_000, 3},
		{"for an age", 500_000_000, 1, 0, 0, 500_000_000, 100_001},
		{"without a price", 1_000, 0, 0, 0, -1, 1},
		{"without its candles", 1_000, 1, 3, 2, -1, 1},
		{"with its candles", 1_000, 1, 3, 3, 1_000, 1},
	} {
		w := settled(t)
		leg, asked := w.engine.legs[0], int64(-1)
		x := &atWarmup{scripted: func(view *strategy.View, _ *strategy.Plan) { asked = view.NowMS }, warmup: c.warmup}
		see(leg.symbol, func(o *seen) { leg.config.Strategy, leg.schedule.seen, o.Last = x, c.seen, c.last*1e8 })
		due := leg.schedule.nextMS
		w.engine.nowMS = due + c.lateMS
		w.out.Reset()
		w.engine.tick.scheduled(leg)
		if want := map[bool]int64{true: -1, false: due + c.asked}[c.asked < 0]; asked != want {
			t.Errorf("%s: want it asked for %d ms after, have %d", c.name, c.asked, asked-due)
		}
		missed, notes := 0, facts[NoteMissed](w.out.Notes)
		for _, fact := range notes {
			missed = fact.Count
		}
		if (len(notes) == 1) != (c.missed > 0) || len(notes) > 1 {
			t.Errorf("%s: want it reported once where one was missed, have %+v", c.name, notes)
		}
		if missed != c.missed || leg.schedule.nextMS <= w.engine.nowMS || leg.schedule.nextMS > w.engine.nowMS+1_000 {
			t.Errorf("%s: want %d missed and the next within a second, have %d, %d", c.name, c.missed, missed, leg.schedule.nextMS-w.engine.nowMS)
		}
	}
}

// atWarmup is a strategy with a warm-up.
type atWarmup struct {
	scripted
	warmup int
}

func (x *atWarmup) Warmup() int { return x.warmup }

// A change belongs to the strategies that traded, in proportion; an uncertain opening counts as traded. Otherwise it belongs to those with
// a position.
func TestWalletChangeIsAttributed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		traded, holds [2]exchange.Quantity
		uncertain     exchange.Quantity // of the first strategy
		want          string            // shares of 12
		old           bool              // whether the position is from before this round
	}{
		{"one traded", [2]exchange.Quantity{10, 0}, [2]exchange.Quantity{}, 0, "12 0", false},
		{"both traded, one three times as much", [2]exchange.Quantity{10, 30}, [2]exchange.Quantity{}, 0, "3 9", false},
		{"one traded, the other holds", [2]exchange.Quantity{10, 0}, [2]exchange.Quantity{0, 50}, 0, "12 0", false},
		{"nobody traded, both hold", [2]exchange.Quantity{}, [2]exchange.Quantity{10, -30}, 0, "3 9", false},
		{"nobody traded, one held until now", [2]exchange.Quantity{}, [2]exchange.Quantity{10, 0}, 0, "12 0", true},
		{"nobody traded or holds", [2]exchange.Quantity{}, [2]exchange.Quantity{}, 0, "0 0", false},
		{"one may have traded", [2]exchange.Quantity{}, [2]exchange.Quantity{0, 50}, 10, "12 0", false},
		{"one may have traded as much as the other did", [2]exchange.Quantity{0, 10}, [2]exchange.Quantity{}, 10, "6 6", false},
	} {
		b := valued(t, 2, 0)
		for i, leg := range b.legs {
			leg.state = b.tracker.EnsureStrategy(leg.config.Name)
			see(leg.symbol, func(o *seen) { o.Mark, o.LastMS = o.Last, 1 })
			b.record(record.Record{Strategy: leg.config.Name, Symbol: leg.symbol.Key(), Body: record.Result{}})
			if quantity := c.traded[i]; quantity != 0 {
				id := b.tracker.NextClientOrderID("t")
				order := exchange.NewOrder{Market: exchange.Futures, Symbol: leg.symbol.Key().Name, Side: exchange.Buy, Type: exchange.MarketOrder,
					Quantity: quantity, ClientOrderID: id}
				b.record(record.Record{Strategy: leg.config.Name, Symbol: leg.symbol.Key(), ClientOrderID: id,
					Body: record.Sending{Order: order, Purpose: placement.Entry}})
				b.record(record.Record{ClientOrderID: id, Body: record.Ended{State: placement.Filled, Filled: quantity}})
			}
			if c.old {
				b.record(record.Record{Strategy: leg.config.Name, Symbol: leg.symbol.Key(), Body: record.Result{Position: c.holds[i]}})
			} else {
				see(leg.symbol, func(o *seen) { o.Position = c.holds[i] })
			}
		}
		if c.uncertain != 0 {
			leg, id := b.legs[0], b.tracker.NextClientOrderID("t")
			order := exchange.NewOrder{Market: exchange.Futures, Symbol: leg.symbol.Key().Name, Side: exchange.Buy, Type: exchange.MarketOrder,
				Quantity: c.uncertain, ClientOrderID: id}
			b.record(record.Record{Strategy: leg.config.Name, Symbol: leg.symbol.Key(), ClientOrderID: id,
				Body: record.Sending{Order: order, Purpose: placement.Entry}})
			b.record(record.Record{ClientOrderID: id, Body: record.Uncertain{Reason: "a test"}})
		}
		// Both symbols are worth the same, whatever their steps are.
		for _, leg := range b.legs {
			rules := *b.legs[0].symbol.Rules()
			see(leg.symbol, func(o *seen) { o.Rules = &rules })
		}
		r := &results{base: b}
		shares := make([]exchange.Amount, 2)
		r.divide(exchange.AmountOf(12), shares)
		if have := fmt.Sprint(shares[0], " ", shares[1]); have != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
		}
	}
}

// The spot strategy's holding does not matter.
func TestFuturesWalletChangeIsNotSpotStrategys(t *testing.T) {
	t.Parallel()
	b := valued(t, 1, 1)
	for _, leg := range b.legs {
		see(leg.symbol, func(o *seen) { leg.state, o.Mark, o.LastMS = b.tracker.EnsureStrategy(leg.config.Name), o.Last, 1 })
		b.record(record.Record{Strategy: leg.config.Name, Symbol: leg.symbol.Key(), Body: record.Result{Position: 100_000}})
	}
	shares := make([]exchange.Amount, 2)
	(&results{base: b}).divide(exchange.AmountOf(12), shares)
	if have := fmt.Sprint(shares[0], " ", shares[1]); have != "12 0" {
		t.Errorf("want 12 for the one on futures, have %s", have)
	}
}

// An order that rested until botd canceled it was accepted. A refused cancel waits.
func TestCanceledOrderClearsRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		orderID int64 // 0 if the exchange has not answered
		err     error
		left    int // number of waiting intents
	}{
		{"canceled", 5, nil, 0},
		{"canceled before its id was known", 0, nil, 1},
		{"the cancel is refused", 5, &exchange.Refusal{Status: 400, Code: 7, Message: "no"}, 2},
		{"the cancel is lost", 5, &exchange.Unavailable{Reason: "timeout"}, 1},
	} {
		w := settled(t)
		d := w.engine.dispatcher
		id := w.sends(placement.Order)
		p := w.engine.tracker.Placement(id)
		w.engine.backoffs.count(attemptAt(p), 7, "no", false, w.now-1)
		if c.orderID != 0 {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Acknowledged{OrderID: c.orderID}})
		}
		cancel := attempt{strategy: "one", symbol: bitcoin, purpose: placement.Cancel, key: id}
		d.canceled(pendingCall{clientID: id, attempt: &cancel}, &EventAnswer{Err: c.err})
		if have := len(w.engine.backoffs.all); have != c.left {
			t.Errorf("%s: want %d intents to wait, have %d", c.name, c.left, have)
		}
	}
}

// Exits and stops are sent, and nothing opens.
func TestUnreadMarketAllowsExitsAndStops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		with func(w *world)
		want string
	}{
		{"a position without its stop", func(*world) {}, "stop_loss"},
		{"it is to be closed", func(w *world) { w.plan(strategy.Flat()) }, "exit"},
		{"it is to grow", func(w *world) { w.plan(strategy.Target{Kind: strategy.ByQuantity, Quantity: 30}) }, "stop_loss"},
		{"botd has stopped", func(w *world) { w.engine.stopped = true }, ""},
		{"a rehearsal", func(w *world) { w.engine.config.Rehearse = true }, ""},
		{"it was removed", func(w *world) { w.engine.legs[0].config.Removed = true }, ""},
		{"it was removed, and is flattened", func(w *world) {
			w.engine.legs[0].config.Removed = true
			w.engine.tracker.Apply(&record.Record{Strategy: "one", Symbol: bitcoin, Body: record.Assigned{OnRemove: "flatten"}})
		}, "exit"},
	} {
		w := settled(t, protected)
		w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: 10}})
		see(w.symbol(), func(o *seen) { o.Position, o.EntryPrice = 10, exchange.AmountOf(50_000) })
		w.plan(strategy.Target{Kind: strategy.ByQuantity, Quantity: 10})
		c.with(w)
		w.out.Reset()
		w.engine.dispatcher.actUnread(w.engine.legs[0])
		var have []string
		for _, fact := range facts[NoteApproved](w.out.Notes) {
			have = append(have, fact.Intent.Purpose.String())
		}
		slices.Sort(have)
		if strings.Join(have, " ") != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
}

// plan puts a target in force.
func (w *world) plan(target strategy.Target) {
	w.engine.tracker.Apply(&record.Record{Strategy: "one", Symbol: bitcoin, Body: record.Plan{Plan: &strategy.Plan{Target: target}}})
}

// A halt cancels openings and resting exits, closes a futures position once, and leaves stops.
func TestEmergencyHaltIntents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		level record.HaltLevel
		inMS  int64 // time left until it acts
		want  string
	}{
		{record.LevelPause, 0, ""}, {record.LevelCancel, 0, "cancel low"}, {record.LevelFlatten, 0, "cancel high cancel low"}, {record.LevelFlatten, 1, ""},
	} {
		w := standing(t)
		w.engine.out = &w.out
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Body: record.Halt{Level: c.level, Reason: "a test"}})
		w.engine.reader.roundReads.phase, w.engine.reader.roundReads.pending, w.engine.reader.roundReads.lateMS = phaseLists, 1, never
		w.engine.emergencyMS = w.now + c.inMS
		w.out.Reset()
		w.engine.nowMS = w.now
		w.engine.wake()
		if again := w.engine.emergencyMS - w.now; again != map[bool]int64{true: c.inMS, false: haltRetryMS}[c.inMS > 0] {
			t.Errorf("%s: want it again after two seconds, have %d ms", c.level, again)
		}
		var have []string
		for _, fact := range facts[NoteApproved](w.out.Notes) {
			text := fact.Intent.Purpose.String()
			if fact.Intent.Purpose == placement.Cancel {
				text += " " + w.engine.tracker.Placement(fact.Intent.ClientID).Key()
			}
			have = append(have, text)
		}
		slices.Sort(have)
		if strings.Join(have, " ") != c.want {
			t.Errorf("%s: want %q, have %q", c.level, c.want, have)
		}
	}
}

// A halt does the same as without any read, and nothing else if it closes a futures position.
func TestHaltIntentsInUnreadMarket(t *testing.T) {
	t.Parallel()
	for level, want := range map[record.HaltLevel]string{
		record.LevelPause: "", record.LevelCancel: "cancel low", record.LevelFlatten: "cancel high cancel low",
	} {
		w := standing(t)
		w.engine.out = &w.out
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Body: record.Halt{Level: level, Reason: "a test"}})
		w.out.Reset()
		acted := w.engine.dispatcher.actUnread(w.engine.legs[0])
		var have []string
		for _, fact := range facts[NoteApproved](w.out.Notes) {
			text := fact.Intent.Purpose.String()
			if fact.Intent.Purpose == placement.Cancel {
				text += " " + w.engine.tracker.Placement(fact.Intent.ClientID).Key()
			}
			have = append(have, text)
		}
		if slices.Sort(have); strings.Join(have, " ") != want || acted != 0 {
			t.Errorf("%s: want %q beside a round, have %q, %d of the round", level, want, have, acted)
		}
	}
}

// The liquidation is journalled once.
func TestLiquidationText(t *testing.T) {
	t.Parallel()
	for price, want := range map[string]string{
		"0":     "futures BTC-USDT was liquidated: positions/history shows position 9 LIQUIDATED, realized -40 USDT before fees",
		"48000": "futures BTC-USDT was liquidated: positions/history shows position 9 LIQUIDATED at 48000, realized -40 USDT before fees",
	} {
		w := settled(t)
		w.out.Reset()
		for range 2 {
			liquidated(w.engine.base, w.symbol(), 9, 10, exchange.MustAmount(price), exchange.AmountOf(-40))
		}
		notes := facts[NoteLiquidated](w.out.Notes)
		if len(notes) != 1 || notes[0].Text != want || notes[0].Realized != exchange.AmountOf(-40) {
			t.Errorf("at %s: want %q once, have %+v", price, want, notes)
		}
		if h := w.engine.tracker.HaltOf(account.Scope{Strategy: "one"}); h.Level != record.LevelPause || h.Reason != want {
			t.Errorf("at %s: want its strategy paused for that, have %+v", price, h)
		}
	}
}

// The symbol of such an order is quarantined.
func TestAnOrderOfAnOldBackupIsReportedOnce(t *testing.T) {
	t.Parallel()
	w := settled(t)
	w.out.Reset()
	guardUnknownOrders(w.engine.outbox)
	if len(w.out.Notes) != 0 || w.symbol().Quarantine() != "" {
		t.Errorf("want nothing without such an order, have %+v", w.out.Notes)
	}
	see(w.symbol(), func(o *seen) { o.UnknownEnded = "bt-9" })
	guardUnknownOrders(w.engine.outbox)
	guardUnknownOrders(w.engine.outbox)
	want := "order bt-9 carries this instance's prefix but is not in the journal: an old backup was restored"
	if notes := facts[NoteQuarantine](w.out.Notes); len(notes) != 1 || notes[0].Reason != want || notes[0].Ended || w.symbol().Quarantine() != want {
		t.Errorf("want %q once, have %+v", want, notes)
	}
}

func TestAForeignOrderIsReportedWhenItBeginsAndEnds(t *testing.T) {
	t.Parallel()
	w := settled(t)
	w.out.Reset()
	watchForeign(w.engine.outbox)
	foreignOpening(w, w.engine.legs[0])
	see(w.symbol(), func(o *seen) { o.ForeignSinceMS = 0 })
	watchForeign(w.engine.outbox)
	since := w.symbol().ForeignSinceMS()
	w.engine.nowMS += 1_000
	watchForeign(w.engine.outbox)
	see(w.symbol(), func(o *seen) { o.Foreign = nil })
	watchForeign(w.engine.outbox)
	notes := facts[NoteForeign](w.out.Notes)
	if len(notes) != 2 || notes[0].Ended || notes[0].OrderID != 9 || !notes[1].Ended || since != w.engine.nowMS-1_000 || w.symbol().ForeignSinceMS() != 0 ||
		notes[0].Reason != "order 9, not placed by botd, may open a position: BUY LIMIT 0.01" {
		t.Errorf("want its begin and its end, have %+v", notes)
	}
}

// A trailing stop is at the plan's price, rounded to the symbol's tick on the protecting side, and has a price from which it trails.
// Without a position there is none.
func TestTrailingStopPrice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(w *world) { w.config.Strategies[0].Strategy = &trailer{} })
	w.pass(20_000)
	w.wantHeld(10)
	stop, from, trails := w.engine.Trails(bitcoin)
	entry := w.symbol().Rules().PriceOf(w.symbol().MeanEntryPrice())
	if last := w.symbol().Last(); !trails || stop != last-500e8 || from != entry+1 {
		t.Errorf("want it at %d, from %d on, have %d, %d, %t", last-500e8, entry+1, stop, from, trails)
	}
	if _, _, trails := w.engine.Trails(coin); trails {
		t.Error("want nothing on another symbol")
	}
	w.give(&EventFollow{Series: coin, Last: 90_000e8})
	if have, _, _ := w.engine.Trails(bitcoin); have != stop {
		t.Errorf("want it where it was after the price of another symbol, have %d", have)
	}
	w.give(&EventFollow{Series: bitcoin, Last: 51_000e8})
	s := w.symbol()
	if have, _, _ := w.engine.Trails(bitcoin); have != 50_500e8 || s.Last() != 51_000e8 || s.Mark() != 51_000e8 || s.LastMS() != w.now {
		t.Errorf("want it 500 below the price, have %d at %d", have, w.symbol().Last())
	}
	see(w.symbol(), func(o *seen) { o.Position = 1 })
	if _, have, _ := w.engine.Trails(bitcoin); have != entry+1 {
		t.Errorf("the smallest position: want it from %d on, have %d", entry+1, have)
	}
	see(w.symbol(), func(o *seen) { o.Position = 0 })
	if _, _, trails := w.engine.Trails(bitcoin); trails {
		t.Error("want nothing without a position")
	}
}

// The lane gets the position that a flatten closes, the part that is left to others, and the orders of the symbol
// alone.
func TestLaneSnapshot(t *testing.T) {
	t.Parallel()
	w := settled(t)
	w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: 7}})
	w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: 3}})
	see(w.symbol(), func(o *seen) { o.Position = 7 })
	id := w.sends(placement.Exit)
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: "ETH-USDT", ClientOrderID: "bt-x"}
	w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "two", Symbol: ether, ClientOrderID: "bt-x", Body: record.Sending{Order: order}})
	all := w.engine.Exposures()
	if len(all) != 1 || all[0].Strategy != "one" || all[0].Close != 7 || all[0].Others != 3 || all[0].Last != w.symbol().Last() ||
		all[0].Collar != exchange.RateOne/20 || len(all[0].Orders) != 1 || all[0].Orders[0].ClientOrderID() != id {
		t.Errorf("want its part of the position and its order, have %+v", all)
	}
}

// The epoch of a start must be above the journal's.
func TestEngineRefusesOlderStart(t *testing.T) {
	t.Parallel()
	w := settled(t)
	for epoch, fails := range map[int64]bool{w.engine.tracker.Epoch() - 1: true, w.engine.tracker.Epoch(): true, w.engine.tracker.Epoch() + 1: false} {
		tracker := reconcile.NewTracker(w.config.Bounds)
		for i := range w.records {
			tracker.Apply(&w.records[i])
		}
		config := w.config
		config.Epoch, config.Random = epoch, placement.RandomFrom(9)
		e, err := New(config, tracker)
		if (err != nil) != fails || err == nil && e.Epoch() != epoch {
			t.Errorf("epoch %d over %d: want it refused %t, have %v", epoch, tracker.Epoch(), fails, err)
		}
	}
}

func TestEngineRefusesDuplicateNameOrSymbol(t *testing.T) {
	t.Parallel()
	w := settled(t)
	for _, c := range []struct {
		name string
		key  exchange.SymbolKey
		want string
	}{
		{"two", ether, ""}, {"one", ether, "two strategies are named one"}, {"two", bitcoin, "strategies one and two both trade futures BTC-USDT"},
	} {
		config := w.config
		config.Epoch, config.Random = 1, placement.RandomFrom(9)
		config.Strategies = append(slices.Clone(config.Strategies), *w.another(c.name, c.key, hold(0)))
		have := ""
		if _, err := New(config, reconcile.NewTracker(config.Bounds)); err != nil {
			have = err.Error()
		}
		if have != c.want {
			t.Errorf("%s on %s: want %q, have %q", c.name, c.key, c.want, have)
		}
	}
}

func TestEngineRefusesIDsWithoutRandomPart(t *testing.T) {
	t.Parallel()
	config := settled(t).config
	for random, want := range map[string]bool{"": false, "0000": false, "000000": false, "0000A": false, "00-00": false, "a0z9b": true} {
		config.Epoch, config.Random = 1, random
		if _, err := New(config, reconcile.NewTracker(config.Bounds)); (err == nil) != want {
			t.Errorf("%q: want it taken %t, have %v", random, want, err)
		}
	}
}

// Only a worker or a backtest has the candles of other symbols.
func TestEngineRefusesMultiSymbolStrategyWithoutWorker(t *testing.T) {
	t.Parallel()
	for offload, want := range map[bool]string{true: "",
		false: "strategy one reads candles of other symbols: it needs a worker, or a backtest that feeds them"} {
		w := settled(t)
		config := w.config
		config.Strategies = slices.Clone(config.Strategies)
		config.Strategies[0].Others = []strategy.Other{{Symbol: w.venue.Symbol(ether)}}
		config.Epoch, config.Random, config.Offload = 1, placement.RandomFrom(9), offload
		have := ""
		if _, err := New(config, reconcile.NewTracker(config.Bounds)); err != nil {
			have = err.Error()
		}
		if have != want {
			t.Errorf("asked by a worker %t: want %q, have %q", offload, want, have)
		}
	}
}

// The symbol is for logs and metrics; a market's failure has none.
func TestAFailingReadIsReportedWithItsSymbol(t *testing.T) {
	t.Parallel()
	for key, want := range map[exchange.SymbolKey]bool{bitcoin: true, wholeMarket: false} {
		w := settled(t)
		w.out.Reset()
		w.blindedOn(key, 3)
		w.engine.readHealth.watch()
		way := map[bool]string{true: "ends when the symbol can be read again", false: "ends with the first complete round"}[want]
		if d := w.wantState("blind"); !strings.HasPrefix(d.Remedy, way) {
			t.Errorf("%s: want a remedy that %s, have %q", key, way, d.Remedy)
		}
		for i := range w.out.Notes {
			if have := w.out.Notes[i].Symbol == w.symbol().Rules(); have != want {
				t.Errorf("%s: want its symbol %t, have %+v", key, want, w.out.Notes[i])
			}
		}
		if len(w.out.Notes) != 4 {
			t.Errorf("%s: want three failures and the blindness reported, have %+v", key, w.out.Notes)
		}
	}
}

// The leverage is read before anything opens.
func TestAFailedSetLeverageIsReadAgain(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, errors.New("broken")} {
		w := settled(t)
		w.out.Reset()
		w.engine.dispatcher.leverageSet(pendingCall{symbol: w.symbol(), leverage: 7, attempt: &attempt{}}, &EventAnswer{Err: err})
		leverage, reports := 7, 0
		if err != nil {
			leverage, reports = 0, 1
		}
		if w.symbol().Leverage() != leverage || len(facts[NoteFetchFailed](w.out.Notes)) != reports {
			t.Errorf("%v: want a leverage of %d, have %d, %+v", err, leverage, w.symbol().Leverage(), w.out.Notes)
		}
	}
}
