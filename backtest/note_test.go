package backtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/risk"
	"botd/runtime/engine"
)

// idle is a machine that reports these strategies, and does nothing.
type idle struct {
	machine
	strategies []engine.StrategyStatus
}

func (i idle) Status() engine.Status { return engine.Status{Strategies: i.strategies} }

// warningsOf returns the warnings of a run of one flat symbol with these facts.
func warningsOf(change func(r *run)) (codes []string, texts string) {
	symbol, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Spot, "BTC-USDT")
	candles := barsAt(exchange.Minute5, 0, 1, 2)
	r := &run{config: &Config{}, legs: []leg{{symbol: symbol, candles: candles, config: &Leg{Tape: &tape.Tape{Symbol: symbol, Candles: candles}}}}}
	r.ledger.run, r.ledger.tags, r.machine = r, []tag{{}}, idle{}
	change(r)
	for _, w := range r.warnings() {
		codes, texts = append(codes, w.Code), texts+w.Text+"\n"
	}
	return codes, texts
}

// TestEachFactOfARunIsWarnedOf checks the text of each warning, and that a run without such facts has none.
func TestEachFactOfARunIsWarnedOf(t *testing.T) {
	t.Parallel()
	trips := func(n int, pnl int64) func(r *run) {
		return func(r *run) {
			r.ledger.fills, r.ledger.trips = make([]fill, 2*n), make([]Trip, n)
			for i := range r.ledger.trips {
				r.ledger.trips[i].PNL = exchange.AmountOf(pnl)
			}
			r.ledger.equity = exchange.AmountOf(pnl * int64(n))
		}
	}
	for _, c := range []struct {
		change func(r *run)
		code   string
		text   string
	}{
		{func(r *run) { r.ledger.events.failure = "s failed and was stopped: x" }, StrategyFailed, "strategy s failed and was stopped: x"},
		{func(r *run) { r.ledger.events.quarantine = "why" }, Quarantined, "the symbol was quarantined: why"},
		{func(r *run) { r.ledger.events.halt = "why" }, Halted, "trading was halted: why"},
		{func(r *run) { r.ledger.liquidations = 1 }, Liquidated + " " + LimitEnded,
			"liquidated positions: 1"},
		{func(r *run) {
			r.ledger.events.refused, r.ledger.events.refusal = map[string]int{"a": 1, "b": 2}, "the first"
		}, IntentsRefused,
			"intents refused by risk: 3, the first by the first"},
		{func(r *run) {
			r.ledger.events.rejected, r.ledger.events.rejection = map[string]int{"a": 4}, "the first"
		}, OrdersRejected,
			"orders refused by the exchange: 4, the first: the first"},
		{func(r *run) { r.config.Warnings = []Warning{{Code: "given", Text: "as given"}} }, "given", "as given"},
		{func(r *run) { r.legs[0].config.Tape.Finer = exchange.Minute1 }, CandlesJoined, "which are built from the file's candles of 1m"},
		{func(r *run) { r.legs[0].config.Tape.Repaired = []string{"a row"} }, DataRepaired, "a row"},
		{func(r *run) { r.legs[0].config.Tape.Holes = []tape.Hole{{AfterMS: 60_000, Missing: 2}, {Missing: 3}} }, DataHoles,
			"5 candles are missing in 2 gaps, the first after 1970-01-01T00:01:00Z"},
		{func(r *run) { r.legs[0].config.Kind = "signal" }, "no_signals", ""},
	} {
		codes, texts := warningsOf(func(r *run) {
			trips(fewTrips, -1)(r)
			c.change(r)
		})
		if strings.Join(codes, " ") != c.code || !strings.Contains(texts, c.text) {
			t.Errorf("want %s: %s, have %v: %s", c.code, c.text, codes, texts)
		}
	}
	for _, c := range []struct {
		change func(r *run)
		want   string
	}{
		{trips(0, 0), "no_trade"}, {trips(1, 5), "few_trades"}, {trips(1, -5), "few_trades"}, {trips(fewTrips-1, -1), "few_trades"},
		{trips(fewTrips, -1), ""},
		{trips(fewTrips, 1), ""},
		{func(r *run) {
			trips(fewTrips, 0)(r)
			r.ledger.trips[3].PNL, r.ledger.equity = exchange.AmountOf(7), exchange.AmountOf(7)
		}, "one_trade"},
		{func(r *run) {
			trips(fewTrips, 0)(r)
			r.ledger.trips[3].PNL, r.ledger.equity = exchange.AmountOf(7), exchange.AmountOf(8)
		}, ""},
		{func(r *run) {
			trips(fewTrips, 0)(r)
			r.ledger.trips[3].PNL = exchange.AmountOf(7)
		}, ""}, // without a profit
	} {
		if codes, _ := warningsOf(c.change); strings.Join(codes, " ") != c.want {
			t.Errorf("want %q, have %v", c.want, codes)
		}
	}
	for _, c := range []struct {
		status engine.StrategyStatus
		leftMS int64 // of 900,000
		want   string
	}{
		{engine.StrategyStatus{Name: "one", Latch: 1, StateReason: "a reason"}, 811_000, ""}, // less than a tenth of the time ago
		{engine.StrategyStatus{Name: "one", Latch: 1, StateReason: "a reason"}, 809_000, Latched},
		{engine.StrategyStatus{Name: "one", Latch: -1}, 0, Latched}, {engine.StrategyStatus{Name: "one", Spent: true}, 0, OrdersSpent},
		{engine.StrategyStatus{Name: "one"}, 0, ""}, {engine.StrategyStatus{Name: "other", Latch: 1}, 0, ""},
	} {
		codes, _ := warningsOf(func(r *run) {
			trips(fewTrips, -1)(r)
			r.legs[0].config.Strategy.Name, r.nowMS, r.machine = "one", 900_000, idle{strategies: []engine.StrategyStatus{c.status}}
			r.ledger.trips[fewTrips-1].LeftMS = c.leftMS
		})
		if strings.Join(codes, " ") != c.want {
			t.Errorf("%+v since %d: want %q, have %v", c.status, c.leftMS, c.want, codes)
		}
	}
	codes, texts := warningsOf(func(r *run) {
		trips(fewTrips, -1)(r)
		r.legs = append(r.legs, r.legs[0])
		r.legs[0].config.Tape.Repaired = []string{"a row"}
	})
	if len(codes) != 2 || !strings.HasPrefix(texts, "BTC-USDT: a row\nBTC-USDT: a row") {
		t.Errorf("several legs: want the symbol in front, have %v: %s", codes, texts)
	}
}

// TestWhatEndsAnOrderIsCountedOnce covers orders that are placed, acknowledged or refused, and settled with a
// complete, a partial or no fill.
func TestWhatEndsAnOrderIsCountedOnce(t *testing.T) {
	t.Parallel()
	e := &events{}
	e.refuses("one", &risk.Rejection{Rule: "max_leverage"})
	e.refuses("one", &risk.Rejection{Rule: "max_leverage"})
	e.refuses("one", &risk.Rejection{Rule: "price_collar"})
	first := e.refusal
	rejected := &exchange.Refusal{Code: sim.Rules()[0].Code, Message: "no"}
	for i, err := range []error{rejected, fmt.Errorf("wrapped: %w", rejected), &exchange.Refusal{Code: 987_654}, errors.New("other")} {
		order := engine.NoteOrder{ClientOrderID: fmt.Sprint(i)}
		e.count(&engine.Note{Strategy: "one", Fact: engine.NotePlaced{NoteOrder: order}}, exchange.Amount{})
		e.count(&engine.Note{Strategy: "one", Fact: engine.NoteRefused{NoteOrder: order, Err: err, Reason: fmt.Sprint("why ", i)}}, exchange.Amount{})
	}
	e.rests(5, tag{purpose: "order", why: "a"})
	e.rests(6, tag{purpose: "order", why: "b"})
	e.rests(7, tag{purpose: "order", why: "c"})
	e.rests(8, tag{purpose: "order", why: "d"})
	if have := e.tagOf(&sim.Fill{OrderID: 6}); have.why != "b" {
		t.Errorf("have %+v", have)
	}
	e.over(5, 3, true)
	e.over(6, 3, false)
	e.over(7, 0, false)
	if have := e.tagOf(&sim.Fill{OrderID: 6}); have != (tag{}) {
		t.Errorf("an order that ended: want no purpose, have %+v", have)
	}
	e.sent(9, tag{purpose: "entry"})
	e.filled()
	if have := []string{e.tagOf(&sim.Fill{OrderID: 9}).purpose, e.tagOf(&sim.Fill{OrderID: 8}).why, e.tagOf(&sim.Fill{}).purpose}; !slices.Equal(have,
		[]string{"entry", "d", "liquidation"}) {
		t.Errorf("have %v", have)
	}
	counts := e.closed()
	rule := sim.Rules()[0].Name
	want := OrderCounts{Derived: 5, Placed: 9, Filled: 2, Part: 1, Canceled: 1, Unfinished: 1,
		Refused:  []RuleCount{{"max_leverage", 2}, {"price_collar", 1}},
		Rejected: []RuleCount{{rule, 2}, {"987654", 1}, {"unknown", 1}}}
	if fmt.Sprintf("%+v", counts) != fmt.Sprintf("%+v", want) {
		t.Errorf("want %+v\nhave %+v", want, counts)
	}
	if e.rejection != "why 0" || first == "" || e.refusal != first {
		t.Errorf("want the first of each, have %q, %q", e.rejection, e.refusal)
	}
	listed := map[string]int{}
	for _, n := range e.notTraded {
		listed[n.Reason] += n.Count
	}
	if listed[refusedBy+"max_leverage"] != 2 || listed[refusedBy+"price_collar"] != 1 || listed[rejectedBy+rule] != 2 {
		t.Errorf("want what was not traded listed, have %+v", e.notTraded)
	}
	e.notice(&engine.NoteNotice{})
	e.notice(&engine.NoteNotice{Withheld: true})
	if *e.notices != (Notices{Count: 2, Withheld: 1}) {
		t.Errorf("have %+v", e.notices)
	}
}

// TestDrawdownsFromPeakToRecovery also checks the longest and the deepest drawdown; of equal ones the earlier
// counts.
func TestDrawdownsFromPeakToRecovery(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		equity string // a digit at each moment
		worst  string // depth in percent, from, trough, recovered
		long   string
	}{
		{"5", "", "0 0 0 0"}, {"55", "", "0 0 0 0"}, {"56", "", "0 0 0 0"},
		{"54", "20 0 1 0", "20 0 1 0"}, {"545", "20 0 1 2", "20 0 1 2"}, {"546", "20 0 1 2", "20 0 1 2"}, {"5434", "40 0 2 0", "40 0 2 0"},
		{"5445", "20 0 1 3", "20 0 1 3"}, {"5554", "20 0 3 0", "20 0 3 0"},
		{"54554", "20 0 1 2, 20 2 4 0", "20 0 1 2"}, // as long as the first: the first stays
		{"545544", "20 0 1 2, 20 2 4 0", "20 2 4 0"},
		{"545545", "20 0 1 2, 20 2 4 5", "20 2 4 5"},
		{"54535", "40 2 3 4, 20 0 1 2", "20 0 1 2"},
		{"8478", "50 0 1 3", "50 0 1 3"}, {"84784", "50 0 1 3, 50 3 4 0", "50 0 1 3"},
	} {
		var d drawdowns
		d.peak = float64(c.equity[0] - '0')
		for i, digit := range c.equity {
			d.add(int64(i), float64(digit-'0'))
		}
		deepest := d.deepest()
		d.end(int64(len(c.equity) - 1))
		text := func(f drawdown) string {
			return fmt.Sprintf("%.0f %d %d %d", 100*f.depth, f.fromMS, f.troughMS, f.recoveredMS)
		}
		var worst []string
		for _, f := range d.worst {
			worst = append(worst, text(f))
		}
		if strings.Join(worst, ", ") != c.worst || text(d.longest) != c.long {
			t.Errorf("%s: want %s, the longest %s, have %v, %s", c.equity, c.worst, c.long, worst, text(d.longest))
		}
		if len(worst) > 0 && text(deepest) != worst[0] {
			t.Errorf("%s: want %s the deepest before the end, have %s", c.equity, worst[0], text(deepest))
		}
	}
	var d drawdowns
	d.peak = 100
	for i := range int64(worstDrawdowns + 3) {
		d.add(2*i+1, 90-float64(i%5))
		d.add(2*i+2, 100)
	}
	if len(d.worst) != worstDrawdowns || d.worst[0].depth != 0.14 || d.worst[worstDrawdowns-1].depth < 0.1 {
		t.Errorf("want the ten deepest, have %+v", d.worst)
	}
}
