package process

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

// A program answers true for the plan before. The repeated plan has every part of it, its memory and reason included.
func TestARepeatedPlanIsWhole(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 3)
	text := `{"orders":[{"key":"a","side":"BUY","price":"60000","quantity":"0.5"}],"exits":[{"key":"b","side":"SELL","price":"61000","quantity":"0.5"}],` +
		`"protection":{"stop_loss":{"share":"0.02"}},"leverage":3,"reason":"r","signal_ms":7,"memory":{"n":4}}`
	kills, written := &causes{}, []*bytes.Buffer{}
	r := Described(recording(kills, &written, []string{`{"type":"hello","protocol":1,"batches":true}`, `{"type":"plans","plans":[` + text + `]}`,
		`{"type":"plans","plans":[true,true]}`}), NewHello("one", setting, nil), setting, Description{Welcome{Batches: true}})
	view := strategy.View{Symbol: setting.Symbol, Interval: exchange.Minute1}
	candles := &tasks[2].Candles
	var plans [3]strategy.Plan
	for at, end := 0, 0; at < 3; at++ {
		if at == end {
			end = r.Batch(&view, candles, at, 3, nil)
		}
		view.SetHistory(candles, at+1)
		r.Candle(&view)
		r.Decide(&view, &plans[at])
	}
	symbol := setting.Symbol
	price := func(text string) exchange.Price { p, _ := symbol.Price(decimal.RequireFromString(text)); return p }
	want := strategy.Plan{OrdersSet: true, ExitsSet: true, Leverage: 3, Reason: "r", SignalMS: 7,
		Orders:     []strategy.DesiredOrder{{Key: "a", Side: exchange.Buy, Price: price("60000"), Quantity: 500 * symbol.QuantityTick}},
		Exits:      []strategy.DesiredOrder{{Key: "b", Side: exchange.Sell, Price: price("61000"), Quantity: 500 * symbol.QuantityTick}},
		Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}}
	want.Remember("n", 4)
	for i := range plans {
		if !want.Equal(&plans[i]) || plans[i].Reason != "r" || plans[i].SignalMS != 7 {
			t.Errorf("decision %d: want %+v, have %+v", i+1, want, plans[i])
		}
	}
}

// Each candle of a batch is sent once, with those of other symbols that opened with it, and the view only where it has changed.
func TestTheMessagesOfBatches(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 8)
	candles := &tasks[7].Candles
	plans := `{"type":"plans","plans":[null,null]}`
	for _, varies := range []bool{false, true} {
		kills, written := &causes{}, []*bytes.Buffer{}
		r := Described(recording(kills, &written, []string{`{"type":"hello","protocol":1,"batches":true}`, plans, plans, plans}),
			NewHello("one", setting, nil), setting, Description{Welcome{Batches: true}})
		view := strategy.View{Symbol: setting.Symbol, Interval: exchange.Minute1, Equity: exchange.AmountOf(7), Others: twenty(t, candles)[:2]}
		view.Others[1].Candles = candles.Slice(3, 5) // minutes 4 and 5
		var equity func(at int) exchange.Amount
		if varies {
			equity = func(int) exchange.Amount { return exchange.AmountOf(7) }
		}
		for at := 0; at < 6; {
			end := r.Batch(&view, candles, at, at+2, equity)
			for ; at < end; at++ {
				view.SetHistory(candles, at+1)
				r.Candle(&view)
				r.Decide(&view, &strategy.Plan{})
			}
		}
		view.Last = candles.Close[5] // as the program has seen it last
		_ = lostBy(func() { r.Decide(&view, &strategy.Plan{}) })
		var have []string
		asked := sent(t, written[0])
		if decide := asked[len(asked)-1]; decide.Type != typeDecide || decide.Last != "" {
			t.Errorf("varying %t: want the last price known, have %+v", varies, decide)
		}
		for _, q := range asked[:len(asked)-1] {
			one := fmt.Sprint(q.Type, " ", opensOf(t, q.Candles), " ", q.View != nil, " ", len(q.Equities))
			for _, o := range q.Others {
				one += fmt.Sprint(" ", o.Symbol, opensOf(t, o.Candles))
			}
			have = append(have, one)
		}
		want := []string{"decide_each [1 2] true 0 N0-USDT[1 2]", "decide_each [3 4] false 0 N0-USDT[3 4] N1-USDT[4]",
			"decide_each [5 6] false 0 N0-USDT[5 6] N1-USDT[5]"}
		if varies { // the program's view has moved on with its equity
			want = []string{"decide_each [1 2] true 2 N0-USDT[1 2]", "decide_each [3 4] true 2 N0-USDT[3 4] N1-USDT[4]",
				"decide_each [5 6] true 2 N0-USDT[5 6] N1-USDT[5]"}
		}
		if strings.Join(have, "\n") != strings.Join(want, "\n") {
			t.Errorf("varying %t: want\n%s\nhave\n%s", varies, strings.Join(want, "\n"), strings.Join(have, "\n"))
		}
	}
}

// opensOf returns the minutes at which rows opened.
func opensOf(t *testing.T, rows json.RawMessage) (minutes []int64) {
	t.Helper()
	for _, row := range rowsOf(t, &question{Candles: rows}) {
		minutes = append(minutes, int64(row[0])/60_000)
	}
	return minutes
}

// A batch has the values of one declared column, and none where none is declared.
func TestABatchHasTheColumnsThatAreDeclared(t *testing.T) {
	t.Parallel()
	for members, want := range map[string]int{``: 0, `,"columns":["a"]`: 4} {
		setting, tasks := views(t, 8)
		setting.Columns = named{"a"}
		view := strategy.View{Symbol: setting.Symbol, Interval: exchange.Minute1}
		asked := batchOf(t, setting, members, &view, &tasks[7].Candles, 2, 8, 4)
		for _, q := range asked {
			rows := len(q.Columns)
			if candles := len(rowsOf(t, &q)); rows != 0 && want == 0 || want > 0 && rows != candles || q.Type == typeDecideEach && candles != 4 {
				t.Errorf("%s: want %d rows of columns with the last of them, have %d with %d candles", members, want, rows, candles)
			}
		}
	}
}

// A batch of candles with those of twenty other symbols has 3276: 65536 / 20.
func TestABatchIsBoundedByTheCandlesOfOtherSymbols(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 1)
	candles := exchange.Candles{Interval: exchange.Minute1}
	for i := range 4_000 {
		candle := tasks[0].Candles.At(0)
		candle.OpenMS = int64(i+1) * 60_000
		candles.Append(candle)
	}
	view := strategy.View{Symbol: setting.Symbol, Interval: exchange.Minute1, Others: twenty(t, &exchange.Candles{})}
	asked := batchOf(t, setting, ``, &view, &candles, 0, 4_000, 4_096)
	if have := len(rowsOf(t, &asked[len(asked)-1])); have != 3_276 {
		t.Errorf("want 3276 candles, have %d", have)
	}
}

// A program that answers with more decisions than its batch has closes is lost, also where the batch begins at a
// later candle.
func TestALaterBatchIsNotAnsweredTooOften(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 8)
	kills, written := &causes{}, []*bytes.Buffer{}
	r := Described(recording(kills, &written, []string{`{"type":"hello","protocol":1,"batches":true}`, `{"type":"plans","plans":[null,null,null]}`}),
		NewHello("one", setting, nil), setting, Description{Welcome{Batches: true}})
	view := strategy.View{Symbol: setting.Symbol, Interval: exchange.Minute1}
	if have := lostBy(func() { r.Batch(&view, &tasks[7].Candles, 5, 7, nil) }); have != "lost: it decides 3 times at 2 closes" {
		t.Errorf("want it lost, have %q", have)
	}
}
