package backtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/runtime/engine"
	"botd/strategy"
)

const notedMS = 1_704_067_200_000 // 2024-01-01

func noted(strategy string, fact engine.Fact) *engine.Note {
	symbol, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, "BTC-USDT")
	return &engine.Note{AtMS: notedMS, Strategy: strategy, Symbol: symbol, Fact: fact}
}

// counting processes facts as a run does.
func counting(notes ...*engine.Note) *events {
	e := &events{}
	for _, note := range notes {
		e.count(note, exchange.AmountOf(1_000))
	}
	return e
}

// A limit applies to its strategy, or to all.
func TestLimitsHoldEntriesBackUntilTheyAreOver(t *testing.T) {
	t.Parallel()
	daily := engine.NoteLimit{Rule: "max_daily_loss", Reason: "lost 12 USDT of 96 USDT, more than 10 %", ForMS: 3_600_000}
	drawdown := engine.NoteLimit{Rule: "max_drawdown", Reason: "lost 5 USDT of 0 USDT"}
	over := daily
	over.Ended = true
	e := counting(noted("trend", daily), noted("other", daily), noted("", drawdown), noted("trend", over))
	at := time.UnixMilli(notedMS).UTC()
	want := []EndedBy{{"max_daily_loss", at, "0.125", "other", "max_daily_loss: " + daily.Reason},
		{"max_drawdown", at, drawdown.Reason, "", "max_drawdown: " + drawdown.Reason}}
	if diff := cmp.Diff(want, e.breaches); diff != "" {
		t.Error(diff)
	}
	if !cmp.Equal(e.heldBack, map[string]int{"max_daily_loss": 2}) || e.firstHeld != daily.Reason+", on 2024-01-01T00:00:00Z" {
		t.Errorf("held back: have %v, %s", e.heldBack, e.firstHeld)
	}
	for why, want := range map[string]string{"lost 1 USDT of 3 USDT": "0.333333", "lost 1 USDT of -3 USDT": "lost 1 USDT of -3 USDT",
		"gained 1 USDT of 3 USDT": "gained 1 USDT of 3 USDT",
		"lost 1 USDT in 3 USDT":   "lost 1 USDT in 3 USDT", "lost much USDT of 3 USDT": "lost much USDT of 3 USDT", "lost 1 USDT of": "lost 1 USDT of",
		"lost 1 USDT of all": "lost 1 USDT of all"} {
		if have := shareLost(why); have != want {
			t.Errorf("%s: want %s, have %s", why, want, have)
		}
	}
}

// A limit blocks the target, or it is below a step or below the exchange's minimum. A target of no position does not
// count.
func TestTargetsThatAreNotTraded(t *testing.T) {
	t.Parallel()
	symbol := noted("", nil).Symbol // BTC-USDT
	price := func(usdt int64) exchange.Price {
		unit := int64(1)
		for range symbol.PriceScale {
			unit *= 10
		}
		return exchange.Price(usdt * unit)
	}
	decided := func(target strategy.Target, last exchange.Price) *engine.Note {
		return noted("trend", engine.NoteDecision{Plan: &strategy.Plan{Target: target}, Last: last})
	}
	step := symbol.QuantityAmount(symbol.QuantityTick).String()
	for _, c := range []struct {
		what  string
		notes []*engine.Note
		want  string
	}{
		{"a whole step", []*engine.Note{decided(strategy.Size{Quote: exchange.AmountOf(600)}.Target(1), price(60_000))}, ""},
		{"less than a step", []*engine.Note{decided(strategy.Size{Quote: exchange.MustAmount("0.01")}.Target(1), price(60_000))},
			"rounded to nothing 1: 0.01 USDT at 60000: one step of BTC-USDT, " + step + ", is worth "},
		{"a share of little", []*engine.Note{decided(strategy.Size{Equity: exchange.RateOne / 1_000_000}.Target(-1), price(60_000))},
			"rounded to nothing 1: 0.00 USDT at 60000: "},
		{"twice", slices.Repeat([]*engine.Note{decided(strategy.Size{Quote: exchange.MustAmount("0.01")}.Target(1), price(60_000))}, 2),
			"rounded to nothing 2: 0.01"},
		{"a step that is worth too little", []*engine.Note{decided(strategy.Target{Kind: strategy.ByQuantity, Quantity: -symbol.QuantityTick}, price(1))},
			"below minNotional 1: " + step + " at 1: BTC-USDT accepts orders of " + symbol.MinNotional.String() + " and more"},
		{"no price", []*engine.Note{decided(strategy.Size{Quote: exchange.MustAmount("0.01")}.Target(1), 0)}, ""},
		{"flat", []*engine.Note{decided(strategy.Flat(), price(60_000))}, ""},
		{"no target", []*engine.Note{decided(strategy.Target{}, price(60_000))}, ""},
		{"held back", []*engine.Note{noted("trend", engine.NoteLimit{Rule: "max_drawdown", Reason: "enough"}),
			decided(strategy.Size{Quote: exchange.AmountOf(600)}.Target(1), price(60_000))}, "held back by max_drawdown 1: max_drawdown: enough"},
		{"held back, all", []*engine.Note{noted("", engine.NoteLimit{Rule: "max_drawdown", Reason: "enough"}),
			decided(strategy.Size{Quote: exchange.AmountOf(600)}.Target(1), price(60_000))}, "held back by max_drawdown 1: "},
		{"another held back", []*engine.Note{noted("other", engine.NoteLimit{Rule: "max_drawdown", Reason: "enough"}),
			decided(strategy.Size{Quote: exchange.AmountOf(600)}.Target(1), price(60_000))}, ""},
	} {
		have := ""
		for _, n := range counting(c.notes...).notTraded {
			have += fmt.Sprintf("%s %d: %s", n.Reason, n.Count, n.First)
		}
		if (have == "") != (c.want == "") || !strings.HasPrefix(have, c.want) {
			t.Errorf("%s: want %q, have %q", c.what, c.want, have)
		}
	}
}

// The first reason of each kind is stored.
func TestOrderOutcomesAreCounted(t *testing.T) {
	t.Parallel()
	order := func(id int64, client string, purpose placement.Purpose) engine.NoteOrder {
		return engine.NoteOrder{OrderID: id, ClientOrderID: client, Purpose: purpose}
	}
	rule := sim.Rules()[0]
	stop := order(7, "c", placement.StopLoss)
	stop.Order.StopPrice = 99
	e := counting(
		noted("trend", engine.NoteIntent{Intent: &reconcile.Intent{Purpose: placement.Entry}}),
		noted("trend", engine.NoteIntent{Intent: &reconcile.Intent{Purpose: placement.Cancel}}),
		noted("trend", engine.NotePlaced{NoteOrder: order(5, "a", placement.Entry), Reason: "up"}),
		noted("trend", engine.NoteAcknowledged{NoteOrder: order(5, "a", placement.Entry)}),
		noted("trend", engine.NotePlaced{NoteOrder: order(0, "b", placement.Exit)}),
		noted("trend", engine.NoteRefused{NoteOrder: order(0, "b", placement.Exit), Reason: "no", Err: &exchange.Refusal{Code: rule.Code}}),
		noted("trend", engine.NotePlaced{NoteOrder: order(0, "d", placement.Exit)}),
		noted("trend", engine.NoteRefused{NoteOrder: order(0, "d", placement.Exit), Reason: "never", Err: errors.New("no rule")}),
		noted("trend", engine.NotePlaced{NoteOrder: stop}), noted("trend", engine.NoteAcknowledged{NoteOrder: stop}),
	)
	if have := e.tagOf(&sim.Fill{OrderID: 5}); have.purpose != "entry" || have.why != "up" {
		t.Errorf("the order's fills: have %+v", have)
	}
	if have := e.tagOf(&sim.Fill{}); have.purpose != "liquidation" || have.why != "the margin was used up" {
		t.Errorf("without an order: have %+v", have)
	}
	e.count(noted("trend", engine.NoteSettled{NoteOrder: order(5, "a", placement.Entry), State: placement.Filled}), exchange.Amount{})
	after := noted("trend", engine.NoteSettled{NoteOrder: stop, State: placement.Canceled})
	after.AtMS += 1_000
	e.count(after, exchange.Amount{})
	want := OrderCounts{Derived: 1, Placed: 4, Rejected: []RuleCount{{rule.Name, 1}, {"unknown", 1}}, Refused: []RuleCount{}, Filled: 1, Canceled: 1}
	slices.SortFunc(want.Rejected, func(a, b RuleCount) int { return strings.Compare(a.Rule, b.Rule) })
	if diff := cmp.Diff(want, e.closed()); diff != "" {
		t.Error(diff)
	}
	if e.rejection != "no" || len(e.notTraded) != 2 || e.notTraded[0].Reason != "rejected by the exchange: "+rule.Name || e.notTraded[0].First != "no" {
		t.Errorf("have %s, %+v", e.rejection, e.notTraded)
	}
	if levels := []Level{{Symbol: after.Symbol.Key(), FromMS: notedMS, ToMS: notedMS + 1_000, Price: 99, Stop: true}}; !slices.Equal(e.levels, levels) {
		t.Errorf("want %+v, have %+v", levels, e.levels)
	}
	if len(e.unacknowledged)+len(e.tags) != 0 {
		t.Errorf("want nothing kept of what is over, have %v and %v", e.unacknowledged, e.tags)
	}
	if have := ruleOf(&exchange.Refusal{Code: -1}); have != "-1" {
		t.Errorf("a code without a rule: have %s", have)
	}
}

func TestOrdersOfTheDirectMachineAreCounted(t *testing.T) {
	t.Parallel()
	e := &events{}
	e.sent(1, tag{purpose: "entry"})
	e.filled()
	for id := range int64(4) {
		e.rests(10+id, tag{purpose: "order", why: "k"})
	}
	if e.tagOf(&sim.Fill{OrderID: 1}).purpose != "entry" || e.tagOf(&sim.Fill{OrderID: 11}).why != "k" {
		t.Errorf("have %+v", e)
	}
	e.over(10, 5, true)
	e.over(11, 5, false)
	e.over(12, 0, false)
	if diff := cmp.Diff(OrderCounts{Derived: 5, Placed: 5, Filled: 2, Part: 1, Canceled: 1, Unfinished: 1, Refused: []RuleCount{}, Rejected: []RuleCount{}},
		e.closed()); diff != "" {
		t.Error(diff)
	}
	if _, still := e.tags[13]; !still || len(e.tags) != 1 {
		t.Errorf("want the one that rests kept, have %v", e.tags)
	}
}

// The number of notices is counted, too.
func TestTheFirstThatEndsTradingCounts(t *testing.T) {
	t.Parallel()
	e := counting(noted("trend", engine.NoteStrategyFailed{Reason: "it panicked"}), noted("other", engine.NoteStrategyFailed{Reason: "later"}),
		noted("", engine.NoteQuarantine{Reason: "a foreign order"}), noted("", engine.NoteHalt{Reason: "by hand"}), noted("", engine.NoteHalt{Reason: "again"}),
		noted("trend", engine.NoteNotice{Withheld: true}), noted("trend", engine.NoteNotice{}), noted("", engine.NoteLiquidated{}))
	want := EndedBy{"strategy_failed", time.UnixMilli(notedMS).UTC(), "it panicked", "trend", "it panicked"}
	if e.ended == nil || *e.ended != want || e.failure != "trend failed and was stopped: it panicked" ||
		e.quarantine != "a foreign order" || e.halt != "by hand" {
		t.Errorf("have %+v, %s, %s, %s", e.ended, e.failure, e.quarantine, e.halt)
	}
	if *e.notices != (Notices{Count: 2, Withheld: 1}) || e.liquidatedMS != notedMS {
		t.Errorf("have %+v, %d", e.notices, e.liquidatedMS)
	}
	for want, fact := range map[string]engine.Fact{"quarantine": engine.NoteQuarantine{Reason: "x"}, "halt": engine.NoteHalt{Reason: "x"}} {
		if e := counting(noted("", fact)); e.ended.Limit != want {
			t.Errorf("want %s, have %+v", want, e.ended)
		}
	}
}

// The cause was a limit of all, or of the only strategy; otherwise a liquidation that left less than a
// hundredth.
func TestAccountEndCause(t *testing.T) {
	t.Parallel()
	limit := func(strategy string) *engine.Note {
		return noted(strategy, engine.NoteLimit{Rule: "max_drawdown", Reason: "x"})
	}
	for _, c := range []struct {
		what         string
		legs         int
		liquidations int
		equity       string
		notes        []*engine.Note
		stopped      bool
		want         string
	}{
		{"nothing", 1, 0, "100", nil, false, ""},
		{"the only strategy's limit", 1, 0, "100", []*engine.Note{limit("trend")}, false, "max_drawdown"},
		{"one of two strategies' limit", 2, 0, "100", []*engine.Note{limit("trend")}, false, ""},
		{"the account's limit", 2, 0, "100", []*engine.Note{limit("trend"), limit("")}, false, "max_drawdown"},
		{"stopped on purpose", 1, 0, "100", []*engine.Note{limit("")}, true, Stopped},
		{"a liquidation", 1, 1, "0.99", []*engine.Note{noted("", engine.NoteHalt{Reason: "x"})}, false, "liquidation"},
		{"a liquidation that left something", 1, 1, "1", nil, false, ""},
		{"no liquidation", 1, 0, "0.99", nil, false, ""},
		{"a halt", 2, 0, "100", []*engine.Note{noted("", engine.NoteHalt{Reason: "x"})}, false, "halt"},
		{"the only strategy failed", 1, 0, "100", []*engine.Note{noted("trend", engine.NoteStrategyFailed{Reason: "x"})}, false, "strategy_failed"},
		{"one of two failed", 2, 0, "100", []*engine.Note{noted("trend", engine.NoteStrategyFailed{Reason: "x"})}, false, ""},
	} {
		r := &run{legs: make([]leg, c.legs)}
		r.ledger.events, r.ledger.liquidations = *counting(c.notes...), c.liquidations
		r.ledger.initial, r.ledger.equity = exchange.AmountOf(100), exchange.MustAmount(c.equity)
		if c.stopped {
			r.stopped = &EndedBy{Limit: Stopped}
		}
		have := ""
		if ended := r.endedBy(); ended != nil {
			have = ended.Limit
		}
		if have != c.want {
			t.Errorf("%s: want %q, have %q", c.what, c.want, have)
		}
	}
	var none *EndedBy
	if none.Short() != "" || (&EndedBy{Limit: "halt", Time: time.UnixMilli(notedMS).UTC()}).Short() != "halt 2024-01-01" {
		t.Error("want the limit and its day")
	}
	if ShortOf(nil) != "" || ShortOf([]NotTraded{{Reason: "a", Count: 2}, {Reason: "b", Count: 3}, {Reason: "c", Count: 3}}) != "3 b" {
		t.Error("want the reason that counts most")
	}
}

// The warnings name the first of each.
func TestWarningsOfLimitsInRun(t *testing.T) {
	t.Parallel()
	r := &run{nowMS: notedMS + 4*minute, legs: []leg{{candles: barsAt(exchange.Minute1, notedMS/minute-1, notedMS/minute)}}}
	r.ledger.events = *counting(noted("trend", engine.NoteLimit{Rule: "max_daily_loss", Reason: "enough", ForMS: 1}))
	r.ledger.events.notTraded = []NotTraded{{"trend", roundedToNothing, 2, 0, "first"}, {"trend", belowMinimum, 3, 0, "least"}, {"trend", latched, 4, 0, "x"},
		{"trend", signalRefused + "no", 5, 0, "then"}}
	var have []string
	r.boundWarnings(func(code, format string, arguments ...any) {
		have = append(have, code+": "+fmt.Sprintf(format, arguments...))
	})
	want := []string{"limit_ended_trading: trading ended on 2024-01-01T00:00:00Z, after 20 % of the time: max_daily_loss: enough",
		"limit_held_back: max_daily_loss held entries back 1 times; the first: enough, on 2024-01-01T00:00:00Z",
		"not_traded: trend: 2 targets were not traded, rounded to nothing; the first: first",
		"not_traded: trend: 3 targets were not traded, below minNotional; the first: least",
		"not_traded: trend: 5 signals were not taken, signal refused: no; the first: then"}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
}
