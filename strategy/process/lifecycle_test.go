package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"botd/exchange"
	"botd/strategy"
)

// causes are what connections were killed for, by any goroutine.
type causes struct {
	mu  sync.Mutex // guards all
	all []string
}

func (c *causes) add(cause string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, cause)
}

func (c *causes) list() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.all)
}

// recorded is a connection that answers from a text and records what it is killed for.
type recorded struct {
	io.Reader
	io.Writer
	cause string
	kills *causes
}

func (r *recorded) Kill(cause string) { r.kills.add(cause) }

func (r *recorded) Cause() string { return r.cause }

// recording is a program each of whose processes gives the next of these answers; botd's messages are in written, one buffer for each process.
func recording(kills *causes, written *[]*bytes.Buffer, answers ...[]string) Program {
	starts := 0
	return Program{Start: func() (Connection, error) {
		out := &bytes.Buffer{}
		*written = append(*written, out)
		texts := answers[min(starts, len(answers)-1)]
		starts++
		return &recorded{bytes.NewReader(framed(texts...)), out, "exit status 1", kills}, nil
	}}
}

const hello = `{"type":"hello","protocol":1}`

// lostBy returns why a strategy is lost by a call, or its other failure.
func lostBy(call func()) (cause string) {
	defer func() {
		switch failure := recover().(type) {
		case *strategy.LostError:
			cause = "lost: " + failure.Cause
		case error:
			cause = "failed: " + failure.Error()
		}
	}()
	call()
	return ""
}

// A process that is no longer needed is ended, with the cause.
func TestAProcessIsEndedForAReason(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 1)
	for _, c := range []struct {
		name    string
		answers []string
		call    func(r *Remote, v *strategy.View)
		fails   string
		kills   []string
	}{
		{"it has declared its needs", []string{hello}, func(*Remote, *strategy.View) {}, "", []string{learned}},
		{"it ended by itself", []string{hello}, func(r *Remote, v *strategy.View) { r.Decide(v, &strategy.Plan{}) }, "lost: exit status 1",
			[]string{learned, "exit status 1"}},
		{"it failed", []string{hello, `{"type":"error","message":"division by zero"}`}, func(r *Remote, v *strategy.View) { r.Decide(v, &strategy.Plan{}) },
			"failed: division by zero", []string{learned, "it failed: division by zero"}},
		{"it starts over", []string{hello}, func(r *Remote, _ *strategy.View) { r.Restart(); r.Restart() }, "", []string{learned, "it starts over"}},
		{"it writes something else", []string{hello, "}{"}, func(r *Remote, v *strategy.View) { r.Decide(v, &strategy.Plan{}) },
			"lost: its answer cannot be read: " +
				"invalid character '}' looking for beginning of value", []string{learned, "its answer cannot be read: " +
				"invalid character '}' looking for beginning of value"}},
		{"a person killed it", []string{hello}, func(r *Remote, v *strategy.View) {
			r.Candle(v)
			r.Kill("a person killed it")
			r.Batch(v, &exchange.Candles{}, 0, 0, nil)
			r.Decide(v, &strategy.Plan{})
		}, "lost: a person killed it", []string{learned, "a person killed it"}},
	} {
		kills, written := &causes{}, []*bytes.Buffer{}
		r, err := NewRemote(recording(kills, &written, c.answers), NewHello("one", setting, nil), setting)
		if err != nil {
			t.Fatal(err)
		}
		view := tasks[0].View
		view.SetHistory(&tasks[0].Candles, 1)
		if have := lostBy(func() { c.call(r, &view) }); have != c.fails {
			t.Errorf("%s: want %q, have %q", c.name, c.fails, have)
		}
		if have := kills.list(); !slices.Equal(have, c.kills) {
			t.Errorf("%s: want it ended for %q, have %q", c.name, c.kills, have)
		}
		runtime.KeepAlive(r) // until then it is in use
	}
}

// A strategy that nothing refers to any more leaves no process behind.
func TestTheProcessOfAForgottenStrategyIsEnded(t *testing.T) {
	t.Parallel()
	setting, _ := views(t, 1)
	killed := make(chan string, 1)
	func() {
		r := Described(Program{Start: func() (Connection, error) {
			return &noticed{bytes.NewReader(framed(hello)), killed}, nil
		}}, NewHello("one", setting, nil), setting, Description{})
		r.Restart()
	}()
	for range 3 {
		runtime.GC()
	}
	select {
	case cause := <-killed:
		if cause != "no longer in use" {
			t.Errorf("want the reason, have %q", cause)
		}
	case <-time.After(time.Minute):
		t.Error("it runs on")
	}
}

// noticed is a connection that reports its end.
type noticed struct {
	io.Reader
	killed chan<- string
}

func (*noticed) Write(text []byte) (int, error) { return len(text), nil }

func (n *noticed) Kill(cause string) {
	select {
	case n.killed <- cause:
	default:
	}
}

func (*noticed) Cause() string { return "" }

// broken is a pipe whose other end has been closed.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestAProcessThatDoesNotReadIsLost(t *testing.T) {
	t.Parallel()
	setting, _ := views(t, 1)
	kills := &causes{}
	_, err := NewRemote(Program{Start: func() (Connection, error) {
		return &recorded{bytes.NewReader(framed(hello)), broken{}, "signal: killed", kills}, nil
	}}, NewHello("one", setting, nil), setting)
	var lost *strategy.LostError
	if !errors.As(err, &lost) || lost.Cause != "signal: killed" || kills.list()[0] != "signal: killed" {
		t.Errorf("want it lost by its own end, have %v, %q", err, kills.list())
	}
}

func TestUnreadablePartsOfADeclarationAreReportedBriefly(t *testing.T) {
	t.Parallel()
	setting, _ := views(t, 1)
	for answer, want := range map[string]string{
		`{"type":"hello","protocol":7}`: "it speaks protocol 7; botd speaks 1",
		`{"type":"hello","protocol":1,"reentry":"` + strings.Repeat("x", 50_000) + `"}`: "its answer cannot be read: ",
	} {
		_, err := NewRemote(answering(&bytes.Buffer{}, answer), NewHello("one", setting, nil), setting)
		var lost *strategy.LostError
		if !errors.As(err, &lost) || !strings.Contains(lost.Cause, want) || len(lost.Cause) > 1_000+len("…") {
			t.Errorf("want %q in at most 1000 bytes, have %.200v", want, err)
		}
	}
}

// A new process receives everything that the one before has received: nothing is left out as known.
func TestANewProcessReceivesTheWholeView(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 3)
	kills, written := &causes{}, []*bytes.Buffer{}
	plan := `{"type":"plan","plan":null}`
	r := Described(recording(kills, &written, []string{hello, plan, plan}), NewHello("one", setting, nil), setting, Description{})
	view := tasks[0].View
	show := func(n int) {
		view.SetHistory(&tasks[2].Candles, n)
		r.Candle(&view)
		r.Decide(&view, &strategy.Plan{})
	}
	show(1)
	show(2) // the view is the same
	view.SetHistory(&tasks[2].Candles, 3)
	r.Candle(&view) // it is lost with its process
	r.Restart()
	show(1)
	for i, want := range []string{"candles: view, last; decide: 1 candles; decide: 1 candles", "candles: view, last; decide: 1 candles"} {
		var have []string
		for _, q := range sent(t, written[i]) {
			var parts []string
			if q.View != nil {
				parts = append(parts, "view")
			}
			if q.Last != "" {
				parts = append(parts, "last")
			}
			if rows := rowsOf(t, &q); rows != nil {
				parts = append(parts, fmt.Sprint(len(rows), " candles"))
			}
			have = append(have, q.Type+": "+strings.Join(parts, ", "))
		}
		if text := strings.Join(have, "; "); text != want {
			t.Errorf("process %d: want %s, have %s", i+1, want, text)
		}
	}
}

// Prepared decisions and the plan that an answer may repeat are those of one process.
func TestANewProcessHasDecidedNothing(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 4)
	candles := &tasks[3].Candles
	kills, written := &causes{}, []*bytes.Buffer{}
	batches := `{"type":"hello","protocol":1,"batches":true}`
	r := Described(recording(kills, &written, []string{batches, `{"type":"plans","plans":[{"leverage":3}]}`, `{"type":"plans","plans":[true,true]}`},
		[]string{batches, `{"type":"plans","plans":[true]}`}), NewHello("one", setting, nil), setting, Description{Welcome{Batches: true}})
	view := strategy.View{Symbol: setting.Symbol, Interval: exchange.Minute1}
	var plan strategy.Plan
	if end := r.Batch(&view, candles, 0, 4, nil); end != 1 {
		t.Fatalf("want a decision, have %d", end)
	}
	view.SetHistory(candles, 1)
	r.Decide(&view, &plan)
	if end := r.Batch(&view, candles, 1, 4, nil); end != 3 || plan.Leverage != 3 {
		t.Fatalf("want two more, have %d, %+v", end, plan)
	}
	r.Restart()
	if have := lostBy(func() { r.Batch(&view, candles, 0, 4, nil) }); !strings.Contains(have, "repeats the previous plan, but there is none") {
		t.Errorf("want the first answer of the new process refused, have %q", have)
	}
}

// counting is a strategy that writes down what it sees with each candle.
type counting struct {
	holds
	seen string
}

func (c *counting) Candle(v *strategy.View) {
	c.seen += fmt.Sprint(v.Closed(), " ", v.NowMS, " ", int64(v.Position.Quantity), " ", v.Last/v.Symbol.PriceTick, "; ")
}

func (c *counting) Decide(v *strategy.View, p *strategy.Plan) {
	p.Reason = c.seen + fmt.Sprint(v.NowMS)
	p.Remember("candles", int64(v.Closed()))
}

func (*counting) Reentry() strategy.Reentry { return strategy.ReentryNever }

func (*counting) Watches() strategy.Watching { return strategy.Watching{OrderBook: true} }

func (c *counting) Conditions(v *strategy.View) []strategy.Condition {
	return []strategy.Condition{{Name: fmt.Sprint(v.Closed(), " candles"), Value: c.seen, Met: true}}
}

// Each candle is shown with the view of its time, also where several follow without a decision, and where only a part of the view changes.
func TestEachCandleIsShownWithItsView(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 6)
	there, err := NewRemote(serving(func(*Hello) (strategy.Strategy, []strategy.Parameter, error) { return &counting{}, nil, nil }),
		NewHello("one", setting, nil), setting)
	if err != nil {
		t.Fatal(err)
	}
	defer there.Kill("the test is over")
	here, tick := &counting{}, setting.Symbol.PriceTick
	if watches := strategy.WatchingOf(there); watches != (strategy.Watching{OrderBook: true}) || there.Reentry() != strategy.ReentryNever {
		t.Errorf("want its subscriptions and its policy declared, have %+v, %v", watches, there.Reentry())
	}
	view := strategy.View{Symbol: setting.Symbol, Interval: exchange.Minute1}
	want := ""
	for i, c := range []struct {
		position exchange.Quantity
		last     exchange.Price
	}{{0, 1}, {0, 1}, {5, 1}, {5, 2}, {5, 2}, {-3, 7}} {
		view.SetHistory(&tasks[5].Candles, i+1)
		view.NowMS, view.Position.Quantity, view.Last = tasks[5].Candles.CloseMS(i), c.position, c.last*tick
		here.Candle(&view)
		there.Candle(&view)
		want += fmt.Sprintf("%d %d %d %d; ", i+1, (i+2)*60_000, c.position, c.last)
	}
	if have := there.Conditions(&view); len(have) != 1 || have[0] != (strategy.Condition{Name: "6 candles", Value: want, Met: true}) {
		t.Errorf("want its conditions after all candles, have %+v", have)
	}
	view.NowMS += 1_234 // between two closes
	for _, s := range []strategy.Strategy{here, there} {
		var plan strategy.Plan
		s.Decide(&view, &plan)
		if n, _ := plan.Remembered().Get("candles"); plan.Reason != want+fmt.Sprint(view.NowMS) || n != 6 {
			t.Errorf("%T:\nwant %s%d and 6\nhave %s and %d", s, want, view.NowMS, plan.Reason, n)
		}
	}
}

// A strategy that explains nothing is not asked.
func TestAStrategyWithoutConditionsIsNotAsked(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 1)
	kills, written := &causes{}, []*bytes.Buffer{}
	r := Described(recording(kills, &written, []string{hello}), NewHello("one", setting, nil), setting, Description{})
	if have := r.Conditions(&tasks[0].View); have != nil || len(written) != 0 {
		t.Errorf("want none and no process, have %+v", have)
	}
	served, err := NewRemote(serving(func(*Hello) (strategy.Strategy, []strategy.Parameter, error) { return holds{}, nil, nil }),
		NewHello("one", setting, nil), setting)
	if err != nil || served.welcome.Explains || served.welcome.Watch != nil || served.welcome.Columns != nil {
		t.Errorf("want nothing declared, have %+v, %v", served.welcome, err)
	}
}

// What a program is shown first is not shown again: a decision without candles starts its process, too.
func TestAnUnchangedViewIsSentOnce(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 1)
	kills, written := &causes{}, []*bytes.Buffer{}
	plan := `{"type":"plan","plan":null}`
	r := Described(recording(kills, &written, []string{hello, plan, plan}), NewHello("one", setting, nil), setting, Description{})
	view := tasks[0].View
	for range 2 {
		r.Decide(&view, &strategy.Plan{})
	}
	asked := sent(t, written[0])
	if len(asked) != 2 || asked[0].View == nil || asked[0].Last == "" || asked[1].View != nil || asked[1].Last != "" {
		t.Errorf("want the view with the first question alone, have %+v", asked)
	}
}

// Only finite values are known.
func TestColumnThatIsNotANumberIsUnknown(t *testing.T) {
	t.Parallel()
	row := newColumnRow(odd{}, []string{"nan", "up", "down", "lost", "zero"}, 7)
	if row[0] != nil || row[1] != nil || row[2] != nil || row[3] != nil || row[4] == nil || *row[4] != 0 {
		t.Errorf("want the last alone, have %v", row)
	}
}

// odd are columns with one finite value.
type odd struct{}

func (odd) Names() []string { return nil }

func (odd) At(name string, _ int64) (float64, bool) {
	return map[string]float64{"nan": math.NaN(), "up": math.Inf(1), "down": math.Inf(-1)}[name], name != "lost"
}

// A strategy that reads columns runs without any: none is declared.
func TestAReaderWithoutColumns(t *testing.T) {
	t.Parallel()
	setting, _ := views(t, 1)
	r, err := NewRemote(serving(func(h *Hello) (strategy.Strategy, []strategy.Parameter, error) {
		_, err := h.Setting()
		return &reader{}, nil, err
	}), NewHello("one", setting, nil), setting)
	if err != nil || len(r.welcome.Columns) != 0 {
		t.Errorf("want no columns, have %+v, %v", r, err)
	}
}

// The hello that asks for parameters names the strategy, and no symbol.
func TestTheHelloForParameters(t *testing.T) {
	t.Parallel()
	h := NewHello("one", nil, strategy.Values{"fast": "7"})
	if h == nil || h.Type != "hello" || h.Protocol != 1 || h.Name != "one" || h.Params["fast"] != "7" || h.Symbol != nil || h.Interval != "" {
		t.Errorf("have %+v", h)
	}
}

// A distance, share or quantity of the smallest unit is not rounded to zero in a message.
func TestTheSmallestPartsOfAPlanArrive(t *testing.T) {
	t.Parallel()
	s := *symbolOf(t)
	s.PriceTick = 1
	for _, want := range []strategy.Plan{
		{Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 1}, TakeProfit: strategy.Distance{Price: 1}}},
		{Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: 1}, TakeProfit: strategy.Distance{Share: 1}}},
		{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: -1}}, {Target: strategy.Target{Kind: strategy.ByEquity, Share: 1}},
	} {
		var have strategy.Plan
		if err := newPlan(&want, &s).into(&have, &s); err != nil || !want.Equal(&have) {
			t.Errorf("want %+v, have %+v, %v", want, have, err)
		}
	}
}

// A program that declares columns receives none if none is configured, and one if there is one.
func TestAColumnIsSentWithItsCandle(t *testing.T) {
	t.Parallel()
	for _, configured := range []bool{false, true} {
		setting, tasks := views(t, 2)
		if configured {
			setting.Columns = named{"a"}
		}
		kills, written := &causes{}, []*bytes.Buffer{}
		r := Described(recording(kills, &written, []string{`{"type":"hello","protocol":1,"columns":["a"]}`, `{"type":"plan","plan":null}`}),
			NewHello("one", setting, nil), setting, Description{Welcome{Columns: []string{"a"}}})
		view := strategy.View{Symbol: setting.Symbol, Interval: exchange.Minute1}
		for i := range 2 {
			view.SetHistory(&tasks[1].Candles, i+1)
			r.Candle(&view)
		}
		r.Decide(&view, &strategy.Plan{})
		rows := 0
		for _, q := range sent(t, written[0]) {
			rows += len(q.Columns)
			if len(q.Columns) > 0 && len(q.Columns[0]) != 1 {
				t.Errorf("want one value, have %d", len(q.Columns[0]))
			}
		}
		if want := map[bool]int{true: 2}[configured]; rows != want {
			t.Errorf("configured %t: want %d rows, have %d", configured, want, rows)
		}
	}
}

// Rows of other symbols count towards the megabyte of a message.
func TestAMessageOfCandlesIsBoundedByThoseOfOtherSymbols(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 800)
	kills, written := &causes{}, []*bytes.Buffer{}
	r := Described(recording(kills, &written, []string{hello}), NewHello("one", setting, nil), setting, Description{})
	view := strategy.View{Symbol: setting.Symbol, Interval: exchange.Minute1, Others: twenty(t, &tasks[799].Candles)}
	for i := range 800 {
		view.SetHistory(&tasks[799].Candles, i+1)
		r.Candle(&view)
	}
	longest, messages := 0, 0
	for _, q := range sent(t, written[0]) {
		size := len(q.Candles)
		for _, o := range q.Others {
			size += len(o.Candles)
		}
		if size > 0 {
			longest, messages = max(longest, size), messages+1
		}
	}
	if messages == 0 || longest < 1<<20 || longest > 1<<20+1<<12 {
		t.Errorf("want a message once a megabyte is reached, have %d of at most %d bytes", messages, longest)
	}
}

// twenty are other symbols with the same candles.
func twenty(t *testing.T, candles *exchange.Candles) (all []strategy.Other) {
	for i := range 20 {
		symbol := *symbolOf(t)
		symbol.Name = fmt.Sprint("N", i, "-USDT")
		all = append(all, strategy.Other{Symbol: &symbol, Candles: candles})
	}
	return all
}
