package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"botd/exchange"
	"botd/strategy"
)

// Prices are rounded to the nearest tick, quantities towards zero (docs/process.md).
func TestThePlanOfAProgramIsReadInTheUnitsOfTheSymbol(t *testing.T) {
	t.Parallel()
	s := symbolOf(t) // ticks of 0.1 and 0.001
	price := func(text string) exchange.Price {
		return exchange.Price(exchange.MustAmount(text).Quo(exchange.MustAmount("0.00000001")))
	}
	order := strategy.DesiredOrder{Key: "k", Side: exchange.Buy, Price: price("60000.1"), Quantity: 12, PostOnly: true, StopPrice: price("60001")}
	for _, c := range []struct {
		text string
		want strategy.Plan
	}{
		{`{"target":{"quantity":"-0.0129"}}`, strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: -12}}},
		{`{"target":{"quantity":0.001}}`, strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 1}}},
		{`{"target":{"equity":"-0.123456789"}}`, strategy.Plan{Target: strategy.Target{Kind: strategy.ByEquity, Share: -12_345_678}}},
		{`{"target":{"quote":"100.5"}}`, strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuote, Quote: exchange.MustAmount("100.5")}}},
		{`{"orders":[{"key":"k","side":"BUY","price":"60000.05","quantity":"0.0129","post_only":true,"stop_price":"61000.99"}]}`,
			strategy.Plan{OrdersSet: true,
				Orders: []strategy.DesiredOrder{{Key: "k", Side: exchange.Buy, Price: price("60000.1"), Quantity: 12, PostOnly: true,
					StopPrice: price("61001")}}}},
		{`{"exits":[{"key":"k","side":"BUY","price":60000.149,"quantity":0.012,"post_only":true,"stop_price":60000.951}]}`,
			strategy.Plan{ExitsSet: true, Exits: []strategy.DesiredOrder{order}}},
		{`{"orders":[],"exits":[]}`, strategy.Plan{OrdersSet: true, ExitsSet: true}},
		{`{"protection":{"stop_loss":{"share":"0.02"},"take_profit":{"price":"60000.04"}},"leverage":3,"signal_ms":7,"reason":"r"}`,
			strategy.Plan{Leverage: 3, SignalMS: 7, Reason: "r", Protection: strategy.Protection{Set: true,
				StopLoss: strategy.Distance{Share: 2_000_000}, TakeProfit: strategy.Distance{Price: price("60000")}}}},
		{`{"protection":{}}`, strategy.Plan{Protection: strategy.Protection{Set: true}}},
		{`{}`, strategy.Plan{}},
	} {
		var info planJSON
		var plan strategy.Plan
		if err := json.Unmarshal([]byte(c.text), &info); err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		if err := info.into(&plan, s); err != nil || fmt.Sprintf("%+v", plan) != fmt.Sprintf("%+v", c.want) {
			t.Errorf("%s:\nwant %+v\nhave %+v, %v", c.text, c.want, plan, err)
		}
	}
	for _, text := range []string{
		`{"target":{}}`, `{"target":{"quantity":"1","quote":"1"}}`, `{"target":{"equity":"1","quote":"1"}}`, `{"target":{"quantity":"1","equity":"1"}}`,
		`{"target":{"quantity":"1"},"orders":[]}`, `{"orders":[{"side":"BUY","price":"1","quantity":"1"}]}`,
		`{"orders":[{"key":"k","price":"1","quantity":"1"}]}`,
		`{"exits":[{"key":"k","side":"BUY","price":"1e40","quantity":"1"}]}`, `{"target":{"quantity":"1e40"}}`, `{"target":{"equity":"1e40"}}`,
		`{"target":{"quote":"1e40"}}`, `{"protection":{"stop_loss":{"share":"1e40"}}}`, `{"protection":{"take_profit":{"price":"1e40"}}}`,
	} {
		var info planJSON
		if err := json.Unmarshal([]byte(text), &info); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := info.into(&strategy.Plan{}, s); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

func TestRowsThatAreNoCandlesAreRefused(t *testing.T) {
	t.Parallel()
	s := *symbolOf(t)
	s.PriceScale = 2
	row := "[60000,1.5,2,-0.5,1.25,10.5,15,3,5.5,7.25]"
	want := exchange.Candle{OpenMS: 60_000, Open: 150, High: 200, Low: -50, Close: 125, Volume: 10.5, QuoteVolume: 15, Trades: 3, TakerBase: 5.5,
		TakerQuote: 7.25}
	for _, c := range []struct {
		rows    string
		candles int
		fails   string
	}{
		{"[]", 0, ""}, {" [" + row + "] ", 1, ""}, {"[" + row + "," + row + "]", 2, ""}, {"[" + strings.ReplaceAll(row, ",", " , ") + "]", 1, ""},
		{"", 0, "list of rows"}, {"[", 0, "list of rows"}, {"x]", 0, "list of rows"}, {"[" + row, 0, "does not end"},
		{"{" + row + "]", 0, "list of rows"},
		{"[" + row + "}", 0, "list of rows"},
		{"[[1,2]", 0, "does not end"}, {"[1]", 0, "does not end"}, {"[]1[]", 0, "does not end"},
		{"[[1,2,3,4,5]]", 0, "a candle has 10 numbers, not 5"}, {"[" + row + ",[1]]", 1, "a candle has 10 numbers, not 1"},
		{"[[1.5,1,1,1,1,1,1,1,1,1]]", 0, "1.5"}, {"[[1,x,1,1,1,1,1,1,1,1]]", 0, "x is not a price"},
		{"[[1,1,1,1,1.255,1,1,1,1,1]]", 0, "1.255 has more than 2 decimal places"}, {"[[1,1,1,1,1,x,1,1,1,1]]", 0, `"x"`},
		{"[[1,1,1,1,1,1,1,1.5,1,1]]", 0, "1.5"}, {"[[1,1,1,1,1,1,1,1,1,x]]", 0, `"x"`}, {"[[x,y,1,1,1,1,1,1,1,1]]", 0, `"x"`},
	} {
		candles := 0
		err := readRows([]byte(c.rows), &s, func(have *exchange.Candle) {
			if candles++; *have != want {
				t.Errorf("%s: want %+v, have %+v", c.rows, want, *have)
			}
		})
		if candles != c.candles || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: want %d candles and error %q, have %d, %v", c.rows, c.candles, c.fails, candles, err)
		}
	}
}

func TestPricesAreWrittenWithAllTheirDigits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n      int64
		places int
		want   string
	}{
		{0, 0, "0"}, {7, 0, "7"}, {-7, 0, "-7"}, {0, 2, "0.00"}, {7, 2, "0.07"}, {-7, 2, "-0.07"}, {77, 1, "7.7"}, {123, 3, "0.123"},
		{-1234, 3, "-1.234"}, {100, 1, "10.0"},
	} {
		have := appendScaled([]byte("x"), c.n, c.places)
		if string(have) != "x"+c.want {
			t.Errorf("%d with %d places: want %s, have %s", c.n, c.places, c.want, have[1:])
		}
		if n, err := readScaled(have[1:], c.places); err != nil || n != c.n {
			t.Errorf("%s: want %d read, have %d, %v", c.want, c.n, n, err)
		}
	}
}

// A batch doubles while its program answers within 200 ms, shrinks to a quarter beyond 1 s, and has 2 to 4096 candles.
func TestABatchGrowsWhileItIsQuick(t *testing.T) {
	t.Parallel()
	const quick, slow = 199 * time.Millisecond, time.Second + time.Nanosecond
	for _, c := range []struct {
		most, candles int
		took          time.Duration
		want          int
	}{
		{2, 2, quick, 4}, {2_048, 2_048, quick, 4_096}, {4_096, 4_096, quick, 4_096}, {3_000, 3_000, quick, 4_096}, {64, 63, quick, 64},
		{64, 64, 200 * time.Millisecond, 64}, {64, 64, time.Second, 64}, {64, 64, slow, 16}, {64, 3, slow, 16}, {12, 12, slow, 3}, {8, 8, slow, 2},
		{4, 4, slow, 2},
	} {
		r := &Remote{batch: batch{most: c.most}}
		if r.adapt(c.candles, c.took); r.batch.most != c.want {
			t.Errorf("%d of %d candles in %s: want %d next, have %d", c.candles, c.most, c.took, c.want, r.batch.most)
		}
	}
}

// batchOf has a program with these further members of its hello decide on candles, and returns what botd asked.
func batchOf(t *testing.T, setting *strategy.Setting, members string, v *strategy.View, candles *exchange.Candles, before, to, most int) []question {
	t.Helper()
	var written bytes.Buffer
	r, err := NewRemote(answering(&written, `{"type":"hello","protocol":1,"batches":true`+members+`}`, `{"type":"plans","plans":[null]}`),
		NewHello("one", setting, nil), setting)
	if err != nil {
		t.Fatal(err)
	}
	for i := range before {
		v.SetHistory(candles, i+1)
		v.NowMS, v.Last = candles.CloseMS(i), v.Close()
		r.Candle(v)
	}
	r.current()
	r.batch.most = most
	if end := r.Batch(v, candles, before, to, nil); end != before+1 {
		t.Errorf("want one decision, have those up to %d", end)
	}
	return sent(t, &written)
}

func rowsOf(t *testing.T, q *question) (rows [][]float64) {
	t.Helper()
	if q.Candles != nil {
		if err := json.Unmarshal(q.Candles, &rows); err != nil {
			t.Fatal(err)
		}
	}
	return rows
}

func TestABatchIsAsLongAsItsMessageMayBe(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 200)
	candles := &tasks[199].Candles
	last := func(asked []question) *question { return &asked[len(asked)-1] }
	for _, c := range []struct {
		name, members string
		columns       int // of the configuration
		to, most      int
		want          int
	}{
		{"the candles that there are", ``, 0, 150, 500, 150},
		{"at most as many as the last batches allow", ``, 0, 150, 20, 20},
		{"1000 columns of 65536 values", `,"columns":` + listed(1_000, `"a"`), 1, 200, 500, 65},
		{"500 columns", `,"columns":` + listed(500, `"a"`), 1, 200, 500, 131},
		{"1000 columns, without any configured", `,"columns":` + listed(1_000, `"a"`), 0, 200, 500, 200},
	} {
		setting, view := *setting, tasks[0].View
		if c.columns > 0 {
			setting.Columns = named{"a"}
		}
		q := last(batchOf(t, &setting, c.members, &view, candles, 0, c.to, c.most))
		if have := len(rowsOf(t, q)); q.Type != typeDecideEach || have != c.want || c.columns > 0 && len(q.Columns) != c.want {
			t.Errorf("%s: want %d candles, have a %s of %d, with %d rows of columns", c.name, c.want, q.Type, have, len(q.Columns))
		}
		if q.Last != "" || q.NowMS != 0 {
			t.Errorf("%s: the closes are the last prices: want no other, have %q", c.name, q.Last)
		}
	}
}

// The candles before a batch are sent on their own, each once and in order.
func TestTheCandlesBeforeABatchComeFirst(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 12)
	view := strategy.View{Symbol: setting.Symbol, Interval: exchange.Minute1}
	opened := map[string][]float64{}
	for _, q := range batchOf(t, setting, ``, &view, &tasks[11].Candles, 5, 12, 4) {
		for _, row := range rowsOf(t, &q) {
			opened[q.Type] = append(opened[q.Type], row[0]/60_000)
		}
	}
	if have := fmt.Sprint(opened[typeCandles], opened[typeDecideEach]); have != "[1 2 3 4 5] [6 7 8 9]" {
		t.Errorf("want 1 to 5, and 6 to 9 to decide at, have %s", have)
	}
}

func TestAPreparedDecisionIsOfItsStateAlone(t *testing.T) {
	t.Parallel()
	_, tasks := views(t, 3)
	candles := &tasks[2].Candles
	for _, c := range []struct {
		name   string
		change func(v *strategy.View)
		fails  bool
	}{
		{"the same", func(*strategy.View) {}, false},
		{"a later candle", func(v *strategy.View) { v.SetHistory(candles, 3) }, false},
		{"an earlier candle", func(v *strategy.View) { v.SetHistory(candles, 1) }, true},
		{"another version", func(v *strategy.View) { v.Version++ }, true},
		{"more equity", func(v *strategy.View) { v.Equity = v.Equity.Add(exchange.MustAmount("0.1")) }, true},
	} {
		v := tasks[1].View
		v.SetHistory(candles, 2)
		b := batch{plans: []json.RawMessage{absent, same}, openMS: v.Candle().OpenMS, version: v.Version, equity: v.Equity}
		c.change(&v)
		if plan, err := b.next(&v); (err != nil) != c.fails || err == nil && (string(plan) != "null" || b.at != 1 || !b.left()) {
			t.Errorf("%s: want it refused %t, have %s, %v", c.name, c.fails, plan, err)
		}
		v = tasks[1].View
		v.SetHistory(candles, 2)
		b = batch{plans: []json.RawMessage{absent, same}, at: 1, from: 40, version: v.Version, equity: exchange.AmountOf(-1),
			varies: func(at int) exchange.Amount { return exchange.AmountOf(int64(at)) }}
		v.Equity = exchange.AmountOf(41)
		if plan, err := b.next(&v); err != nil || string(plan) != "true" || b.left() {
			t.Errorf("want the plan at an equity of 41, have %s, %v", plan, err)
		}
	}
}

// Each candle is sent when a message would hold more than 65536 values of columns: 66 candles of 1000 columns.
func TestAMessageOfCandlesIsBoundedByItsColumns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ columns, want int }{{1_000, 66}, {512, 129}} {
		setting, tasks := views(t, 140)
		setting.Columns = named{"a"}
		var written bytes.Buffer
		r, err := NewRemote(answering(&written, `{"type":"hello","protocol":1,"columns":`+listed(c.columns, `"a"`)+`}`),
			NewHello("one", setting, nil), setting)
		if err != nil {
			t.Fatal(err)
		}
		view := strategy.View{Symbol: setting.Symbol, Interval: exchange.Minute1}
		for i := range 140 {
			view.SetHistory(&tasks[139].Candles, i+1)
			r.Candle(&view)
		}
		first := 0
		for _, q := range sent(t, &written) {
			if rows := rowsOf(t, &q); len(rows) > 0 {
				first = len(rows)
				if len(q.Columns) != first || len(q.Columns[0]) != c.columns {
					t.Errorf("want a row of %d columns for each candle, have %d", c.columns, len(q.Columns))
				}
				break
			}
		}
		if first != c.want {
			t.Errorf("%d columns: want a message of %d candles, have %d", c.columns, c.want, first)
		}
	}
}

func TestTheOtherEndRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	setting, _ := views(t, 1)
	text, err := json.Marshal(NewHello("one", setting, nil))
	if err != nil {
		t.Fatal(err)
	}
	hello := string(text)
	view := `{"type":"decide","view":{"position":{"quantity":"0","entry_price":"0"},"equity":"1","fills":{},"memory":{}}`
	for _, c := range []struct {
		name  string
		texts []string
		want  string // its error; "" for none
	}{
		{"nothing", nil, ""},
		{"a hello alone", []string{hello}, ""},
		{"no JSON", []string{`{`}, "read the hello"},
		{"another message first", []string{`{"type":"decide","protocol":1}`}, "want a hello of protocol 1"},
		{"another protocol", []string{strings.Replace(hello, `"protocol":1`, `"protocol":2`, 1)}, "want a hello of protocol 1"},
		{"a symbol without terms", []string{`{"type":"hello","protocol":1,"symbol":{"name":"X"}}`}, "X"},
		{"a decision without a symbol", []string{`{"type":"hello","protocol":1}`, `{"type":"decide"}`}, "the hello named no symbol"},
		{"a message that is no JSON", []string{hello, `{`}, "read a message"},
		{"no candles", []string{hello, `{"type":"candles","candles":[[1]]}`}, "a candle has 10 numbers"},
		{"candles of another symbol", []string{hello, `{"type":"candles","others":[{"market":"spot","symbol":"XYZ","candles":[]}]}`},
			"candles of XYZ were not requested"},
		{"a view", []string{hello, view + `}`}, ""},
		{"no view", []string{hello, `{"type":"decide","view":3}`}, "read a view"},
		{"a quantity beyond all", []string{hello, strings.Replace(view, `"quantity":"0"`, `"quantity":"1e40"`, 1) + `}`}, "read a view"},
		{"memory that is a list", []string{hello, strings.Replace(view, `"memory":{}`, `"memory":[]`, 1) + `}`}, "read a view"},
		{"memory that is a text", []string{hello, strings.Replace(view, `"memory":{}`, `"memory":{"a":"b"}`, 1) + `}`}, "read a view"},
		{"fills that are a list", []string{hello, strings.Replace(view, `"fills":{}`, `"fills":[]`, 1) + `}`}, "read a view"},
		{"fills that are no numbers", []string{hello, strings.Replace(view, `"fills":{}`, `"fills":{"a":{}}`, 1) + `}`}, "read a view"},
		{"a pair without terms", []string{hello, view[:len(view)-1] + `,"pair":{"symbol":{"name":"X"}}}}`}, "read a view"},
		{"a price with too many places", []string{hello, `{"type":"decide","last":"1.123456789"}`}, "decimal places"},
		{"a message that ends early", []string{hello, "\x00"}, "read a message"},
	} {
		var out bytes.Buffer
		err := Serve(bytes.NewReader(framed(c.texts...)), &out, func(h *Hello) (strategy.Strategy, []strategy.Parameter, error) {
			if h.Symbol == nil {
				return nil, nil, nil
			}
			return holds{}, nil, nil
		})
		if have := fmt.Sprint(err); (err == nil) != (c.want == "") || err != nil && !strings.Contains(have, c.want) {
			t.Errorf("%s: want %q, have %s", c.name, c.want, have)
		}
		if fault := strings.Contains(out.String(), `"type":"error"`); fault != (c.want != "") {
			t.Errorf("%s: want an answer of type error %t, have %q", c.name, c.want != "", out.String())
		}
	}
	err = Serve(strings.NewReader("\x00\x00"), &bytes.Buffer{}, nil)
	if err == nil {
		t.Error("half a length is taken for an end")
	}
	for _, cause := range []any{errors.New("a story"), "a story"} {
		err = Serve(bytes.NewReader(framed(hello)), &bytes.Buffer{}, func(*Hello) (strategy.Strategy, []strategy.Parameter, error) { panic(cause) })
		if err == nil || err.Error() != "a story" {
			t.Errorf("want the panic as its error, have %v", err)
		}
	}
}
