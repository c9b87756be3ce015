package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

// The tests of this file check what people read before they act, line by line.

const (
	heldAtCancel = "strategy one is halted at level pause, so that the order is not placed again: nothing opens; exits and stops continue"
	fillsStay    = "what fills until the cancel arrives also stays open as a position; its stop stays"
	rearmOrders  = "it stays halted until it is rearmed (botd rearm --strategy one); its plan keeps 2 opening orders in the book, so it places " +
		"them at once then"
	heldAtClose = "strategy one is halted at level flatten: nothing opens, its opening orders are canceled, and its position is closed at market; " +
		"this continues until it is done, through failures and restarts"
	stopEnds = "a stop on the exchange stays until the position is closed, and ends with it"
)

// The preview has more lines if a part has filled, a halt is in force, or the plan differs.
func TestCancelPreview(t *testing.T) {
	t.Parallel()
	plans := func(plan strategy.Plan) func(*world) {
		return func(w *world) {
			w.engine.tracker.Apply(&record.Record{Strategy: "one", Symbol: bitcoin, Body: record.Plan{Plan: &plan}})
		}
	}
	for _, c := range []struct {
		name string
		with func(w *world)
		want []string
	}{
		{"an order that rests", func(*world) {}, []string{heldAtCancel, fillsStay, rearmOrders}},
		{"part of it is filled", func(w *world) {
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: w.live(placement.Order, "low").ClientOrderID(), Body: record.Fill{Filled: 3}})
		}, []string{heldAtCancel, "0.003 of it has already filled and stays open as a position", fillsStay, rearmOrders}},
		{"it is paused already", func(w *world) {
			w.engine.tracker.Apply(&record.Record{Strategy: "one", Body: record.Halt{Level: record.LevelPause, Reason: "news"}})
		}, []string{strings.Replace(heldAtCancel, "level pause", "level pause already", 1), fillsStay, rearmOrders}},
		{"it is flattened already", func(w *world) {
			w.engine.tracker.Apply(&record.Record{Strategy: "one", Body: record.Halt{Level: record.LevelFlatten, Reason: "news"}})
		}, []string{strings.Replace(heldAtCancel, "level pause", "level flatten already", 1), fillsStay, rearmOrders}},
		{"it was removed", func(w *world) { w.engine.legs[0].config.Removed = true }, []string{heldAtCancel, fillsStay,
			"the strategy is no longer in the configuration: nothing opens again"}},
		{"its plan desires a long position", plans(strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 20}}), []string{
			heldAtCancel, fillsStay,
			"it stays halted until it is rearmed (botd rearm --strategy one); its plan currently desires long 0.02, so it may enter at once then"}},
		{"its plan desires a short position", plans(strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: -20}}), []string{
			heldAtCancel, fillsStay,
			"it stays halted until it is rearmed (botd rearm --strategy one); its plan currently desires short 0.02, so it may enter at once then"}},
		{"its plan desires a share", plans(strategy.Plan{Target: strategy.Target{Kind: strategy.ByEquity, Share: -exchange.RateOne}}), []string{
			heldAtCancel, fillsStay,
			"it stays halted until it is rearmed (botd rearm --strategy one); its plan currently desires a short position, so it may enter at once then"}},
		{"its plan desires nothing", plans(strategy.Plan{Target: strategy.Flat(), OrdersSet: true}), []string{heldAtCancel, fillsStay,
			"it stays halted until it is rearmed (botd rearm --strategy one); its plan currently desires no position"}},
	} {
		w := standing(t)
		c.with(w)
		action, err := w.engine.PreviewCancel(w.live(placement.Order, "low").ClientOrderID())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, action.Lines); diff != "" {
			t.Errorf("%s: -want +have\n%s", c.name, diff)
		}
	}
}

// The preview has more lines if a part of the position is not botd's, or an exit is in flight.
func TestClosePreview(t *testing.T) {
	t.Parallel()
	exit := func(w *world) string { return w.sends(placement.Exit) }
	for _, c := range []struct {
		name string
		with func(w *world) (more []string)
		fail string
	}{
		{"a position", func(*world) []string { return nil }, ""},
		{"part of it is left to others", func(w *world) []string {
			w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: 4}})
			return []string{"0.004 of the exchange's position is not known to be botd's and stays open"}
		}, ""},
		{"an exit is under way", func(w *world) []string {
			return []string{"the exit " + exit(w) + " is in flight (sending): another is sent only when it has ended, or its answer is lost"}
		}, ""},
		{"an opening is not answered", func(w *world) []string {
			return []string{"placement " + w.sends(placement.Entry) + " is sending: the exit does not wait for it, and if it turns out to have " +
				"opened a position, that is closed too"}
		}, ""},
		{"not read", func(w *world) []string { see(w.symbol(), func(o *seen) { o.Read = false }); return nil }, "have not been read since the start"},
		{"no price", func(w *world) []string { see(w.symbol(), func(o *seen) { o.Last = 0 }); return nil }, "have not been read since the start"},
	} {
		w := standing(t)
		more := c.with(w)
		action, err := w.engine.PreviewClose(bitcoin)
		if c.fail != "" {
			if err == nil || !strings.Contains(err.Error(), c.fail) {
				t.Errorf("%s: want %q, have %v", c.name, c.fail, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(slices.Concat([]string{heldAtClose}, more, []string{stopEnds, rearmOrders}), action.Lines); diff != "" {
			t.Errorf("%s: -want +have\n%s", c.name, diff)
		}
	}
}

// A new version reports how many candles it lacks; a removal reports what it waits for.
func TestReloadReportsNewVersionAndRemoval(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		warmup int
		want   string
	}{
		{"with all candles", 3, "a new version has replaced it"},
		{"with one too few", 4, "a new version has replaced it; it decides after 1 more candles"},
		{"without a warm-up", 0, "a new version has replaced it"},
	} {
		w := settled(t)
		leg := w.engine.legs[0]
		leg.series.candles, leg.series.end = w.etherCandles(3).candles, 3
		x := &waving{warmup: c.warmup}
		config := w.config.Strategies[0]
		config.Strategy = x
		rules := leg.config.Symbol
		w.out.Reset()
		w.engine.Handle(w.now, &EventReload{Reload: &Reload{Strategies: []*StrategyConfig{&config}}}, &w.out)
		notes := facts[NoteReload](w.out.Notes)
		if len(notes) != 1 || notes[0].Text != c.want || len(x.seen) != 3 || leg.schedule.seen != 3 {
			t.Errorf("%s: want %q, and three candles seen, have %+v, %q", c.name, c.want, notes, x.seen)
		}
		if leg.config.Symbol != rules || leg.series.warmup < c.warmup {
			t.Errorf("%s: want its symbol's rules kept and %d candles read, have %d", c.name, c.warmup, leg.series.warmup)
		}
	}
	w := settled(t)
	config := w.config.Strategies[0]
	w.wantRefused("one is both added and removed", Reload{Strategies: []*StrategyConfig{&config}, Removed: []string{"one"}})
}

// A symbol that has not been read since the start is not resolved either.
func TestASymbolThatDoesNotWaitIsNotResolved(t *testing.T) {
	t.Parallel()
	w := settled(t)
	fails := func(want string) {
		t.Helper()
		if _, err := w.engine.PreviewResolution(bitcoin, true, "a test"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, have %v", want, err)
		}
	}
	fails("futures BTC-USDT is not quarantined: there is nothing to resolve")
	w.engine.tracker.Apply(&record.Record{AtMS: w.now, Symbol: bitcoin, Body: record.Quarantined{Reason: "a difference"}})
	see(w.symbol(), func(o *seen) { o.Read = false })
	fails("futures BTC-USDT has not been read from the exchange since the start: wait for a complete round")
	see(w.symbol(), func(o *seen) { o.Read = true })
	w.notes = nil
	w.give(&EventResolve{Symbol: bitcoin, Adopt: true, Reason: "it is mine"})
	if have := facts[NoteQuarantine](w.notes); len(have) != 1 || !have[0].Ended || have[0].Reason != "it is mine" || w.symbol().Quarantine() != "" {
		t.Errorf("want its end reported with the reason, have %+v", have)
	}
}

// The strategy reports the end of its latch, with the reason.
func TestRearmReportsEndOfLatch(t *testing.T) {
	t.Parallel()
	w := settled(t)
	w.engine.tracker.Apply(&record.Record{Strategy: "one", Symbol: bitcoin, Body: record.Plan{Plan: &strategy.Plan{
		Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 10}}}})
	w.engine.tracker.Apply(&record.Record{Strategy: "one", Body: record.Latch{Side: 1}})
	w.notes = nil
	w.halt(record.LevelNone, account.Scope{Strategy: "one"})
	if have := facts[NoteLatch](w.notes); len(have) != 1 || !have[0].Ended || have[0].Reason != "a test" || w.engine.legs[0].state.Latch() != 0 {
		t.Errorf("want the latch's end reported, have %+v", have)
	}
}

// A change is named deposited or withdrawn, unless a strategy's line explains it.
func TestTransferText(t *testing.T) {
	t.Parallel()
	for amount, want := range map[string]string{
		"-25": "futures wallet: 25 USDT deposited by an external transfer: no trade, fee or funding explains it",
		"40":  "futures wallet: 40 USDT withdrawn by an external transfer: no trade, fee or funding explains it",
	} {
		a := accountant(t, true)
		a.out.Reset()
		a.transferred(&a.futures, &ledger.Posting{Lines: []ledger.Line{
			{Account: ledger.Transferred, Asset: "USDT", Amount: exchange.MustAmount(amount)},
			{Account: ledger.Transferred, Asset: "USDT", Amount: exchange.AmountOf(7), Strategy: "one"},
		}}, exchange.Amount{})
		notes := facts[NoteTransfer](a.out.Notes)
		if len(notes) != 1 || notes[0].Text != want || notes[0].Amount != exchange.MustAmount(amount).Neg() {
			t.Errorf("%s: want %q, have %+v", amount, want, notes)
		}
	}
}

// A strategy sees its own orders alone. Fills that the position shows before they are booked count as filled, once.
func TestStrategySeesOwnFills(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		position exchange.Quantity
		want     string
	}{
		{"nothing of them shows", 0, "a 0 b 0"}, {"half of the first", 5, "a 5 b 0"}, {"the first", 10, "a 10 b 0"},
		{"more than the first", 13, "a 10 b 3"}, {"both", 20, "a 10 b 10"}, {"more than both", 25, "a 10 b 10"},
	} {
		w := settled(t)
		for _, key := range []string{"a", "b", "of another"} {
			order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Price: 40_000e8, Quantity: 10,
				ClientOrderID: w.engine.tracker.NextClientOrderID("t")}
			name := map[bool]string{true: "two", false: "one"}[key == "of another"]
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: name, Symbol: bitcoin, ClientOrderID: order.ClientOrderID,
				Body: record.Sending{Order: order, Purpose: placement.Order, Key: key}})
		}
		leg := w.engine.legs[0]
		see(leg.symbol, func(o *seen) { o.Position = c.position })
		w.engine.tick.fillView(leg)
		var have []string
		for _, o := range leg.view.Working {
			have = append(have, fmt.Sprint(o.Key, " ", o.Filled))
		}
		slices.Sort(have)
		if strings.Join(have, " ") != c.want {
			t.Errorf("%s: want %s, have %v", c.name, c.want, have)
		}
	}
}

// The exchange's price of a position that has ended is not shown.
func TestAFlatPositionHasNoEntryPrice(t *testing.T) {
	t.Parallel()
	w := settled(t)
	leg, price := w.engine.legs[0], exchange.AmountOf(50_000)
	for _, c := range []struct {
		position exchange.Quantity
		want     exchange.Amount
	}{{5, price}, {-5, price}, {0, exchange.Amount{}}} {
		see(leg.symbol, func(o *seen) { o.Position, o.EntryPrice = c.position, price })
		w.engine.tick.fillView(leg)
		if have := leg.view.Position; have.Quantity != c.position || have.EntryPrice != c.want {
			t.Errorf("%d: want the entry price %s, have %+v", c.position, c.want, have)
		}
	}
}

// Otherwise a strategy that paces itself takes the rest of a slice for a whole one.
func TestStrategySeesQuantityOfAmountOrder(t *testing.T) {
	t.Parallel()
	amountOnItsWay(t)
}

func amountOnItsWay(t testing.TB) {
	w := settled(t)
	leg := w.engine.legs[0]
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder,
		QuoteAmount: leg.symbol.Rules().Notional(leg.symbol.Last(), 7), ClientOrderID: w.engine.tracker.NextClientOrderID("t")}
	w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Symbol: bitcoin, ClientOrderID: order.ClientOrderID,
		Body: record.Sending{Order: order, Purpose: placement.Entry}})
	w.engine.tick.fillView(leg)
	if have := leg.view.Working; len(have) != 1 || have[0].Quantity != 7 {
		t.Errorf("want one order of 7, have %+v", have)
	}
}

// A plan is spent when all of its orders have filled and there is no position; from then on it has no effect.
func TestPlanIsSpentOnceFilledAndFlat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		first, second exchange.Quantity // filled, of 10 each
		held          exchange.Quantity
		want          bool
		whyBegins     string
	}{
		{"both are filled, and sold", 10, 10, 0, true, "its orders a, b are filled and their position is closed"},
		{"both are filled, and held", 10, 10, 20, false, ""},
		{"one is not filled", 10, 9, 0, false, ""},
		{"the other is not filled", 9, 10, 0, false, ""},
	} {
		w := settled(t)
		w.engine.tracker.Apply(&record.Record{Strategy: "one", Symbol: bitcoin, Body: record.Plan{Plan: &strategy.Plan{OrdersSet: true,
			Orders: []strategy.DesiredOrder{{Key: "a", Side: exchange.Buy, Price: 1, Quantity: 10}, {Key: "b", Side: exchange.Buy, Price: 1, Quantity: 10}}}}})
		for key, filled := range map[string]exchange.Quantity{"a": c.first, "b": c.second} {
			order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Price: 1, Quantity: 10,
				ClientOrderID: w.engine.tracker.NextClientOrderID("t")}
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Symbol: bitcoin, ClientOrderID: order.ClientOrderID,
				Body: record.Sending{Order: order, Purpose: placement.Order, Key: key}})
			w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID,
				Body: record.Ended{State: placement.Filled, Filled: filled}})
		}
		w.engine.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Adopted{Quantity: c.held - w.symbol().Known()}})
		s := w.engine.Status().Strategies[0]
		if s.Spent != c.want || !strings.HasPrefix(s.StateReason, c.whyBegins) {
			t.Errorf("%s: want it spent %t, %q, have %t, %q", c.name, c.want, c.whyBegins, s.Spent, s.StateReason)
		}
	}
}

// The refusal leaves a record, once between two decisions, for a strategy that watches events.
func TestRuleRefusalIsRecordedForWatchers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		watches bool
		purpose placement.Purpose
		key     string
		want    string
	}{
		{"an entry", true, placement.Entry, "", "entry \"\""},
		{"an order by a key", true, placement.Order, "low", "order \"low\""},
		{"a stop, whatever its key", true, placement.StopLoss, "dust", "stop_loss \"\""},
		{"a cancel", true, placement.Cancel, "", ""},
		{"a leverage", true, placement.Leverage, "", ""},
		{"of a strategy that does not watch", false, placement.Entry, "", ""},
	} {
		w := settled(t)
		leg := w.engine.legs[0]
		w.engine.tracker.Apply(&record.Record{Strategy: "one", Symbol: bitcoin, Body: record.Assigned{Events: c.watches}})
		intent := reconcile.Intent{Strategy: "one", Purpose: c.purpose, Key: c.key,
			Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Quantity: 10}}
		var have []string
		for range 2 {
			w.engine.dispatcher.declined(leg, &intent, &risk.Rejection{Rule: "margin"})
		}
		for _, r := range w.engine.unwritten {
			if body, is := r.Body.(record.Declined); is {
				have = append(have, fmt.Sprintf("%s %q", body.Purpose, body.Key))
				if body.Rule != "margin" || body.Quantity != 10 || body.Side != exchange.Buy || r.Symbol != bitcoin || r.Strategy != "one" {
					t.Errorf("%s: have %+v of %s", c.name, body, r.Strategy)
				}
			}
		}
		if strings.Join(have, ", ") != c.want {
			t.Errorf("%s: want %q, once, have %q", c.name, c.want, have)
		}
	}
}

// An unclear answer makes the placement uncertain. A refusal by a rule has the rules read again.
func TestPlacementAnswerState(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		err  error
		feed bool
		want string
		read bool // whether the rules are read immediately
	}{
		{"taken", nil, false, "acknowledged", false},
		{"refused by rule", &exchange.Refusal{Status: 400, Code: 7, Message: "no"}, false, "refused", true},
		{"refused by rule in a backtest", &exchange.Refusal{Status: 400, Code: 7, Message: "no"}, true, "refused", false},
		{"refused for its key", &exchange.Refusal{Status: 401, Message: "no"}, false, "refused", false},
		{"never sent", &exchange.Unavailable{Reason: "too late"}, false, "ended", false},
		{"uncertain", &exchange.Uncertain{Reason: "timeout"}, false, "unknown", false},
		{"any other error", errors.New("what"), false, "unknown", false},
	} {
		w := settled(t)
		w.engine.config.Feed, w.engine.rulesMS = c.feed, never
		id := w.sends(placement.Entry)
		event := &EventAnswer{Err: c.err}
		event.Answer.Order.ID = 5
		body, _ := w.engine.dispatcher.outcome(&pendingCall{clientID: id, sentMS: w.now}, event, NoteOrder{})
		if have := (&record.Record{Body: body}).Kind().String(); have != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
		}
		if (w.engine.rulesMS == w.engine.nowMS) != c.read {
			t.Errorf("%s: want the rules read %t", c.name, c.read)
		}
	}
}
