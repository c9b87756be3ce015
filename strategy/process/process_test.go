package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

func symbolOf(t testing.TB) *exchange.Symbol {
	t.Helper()
	s, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Futures, Name: "BTC-USDT", Base: "BTC", Quote: "USDT",
		PriceTick: decimal.RequireFromString("0.1"), QuantityTick: decimal.RequireFromString("0.001"), MinNotional: decimal.NewFromInt(5),
		MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// piped is a connection to a Serve in this process.
type piped struct {
	io.Reader
	io.Writer
	closers []io.Closer

	mu    sync.Mutex // guards cause
	cause string
}

func (p *piped) Kill(cause string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause == "" {
		p.cause = cause
	}
	for _, c := range p.closers {
		c.Close()
	}
}

func (p *piped) Cause() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cause
}

// serving is a program that serves a strategy in this process.
func serving(load Load) Program {
	return Program{Start: func() (Connection, error) {
		in, toChild := io.Pipe()
		fromChild, out := io.Pipe()
		p := &piped{Reader: fromChild, Writer: toChild, closers: []io.Closer{in, toChild, fromChild, out}}
		go func() {
			_ = Serve(in, out, load)
			out.Close()
		}()
		return p, nil
	}}
}

// echo is a strategy whose plan has every possible part, computed from everything it sees.
type echo struct{ closes []exchange.Price }

func (e *echo) Warmup() int { return 7 }

func (e *echo) Candle(v *strategy.View) {
	e.closes = append(e.closes, v.Close()+exchange.Price(v.Position.Quantity))
}

func (e *echo) Decide(v *strategy.View, p *strategy.Plan) {
	sum := exchange.Price(len(e.closes))
	for i, c := range e.closes {
		sum += c * exchange.Price(i+1) % 1_000
	}
	n := int64(v.Version) % 4
	switch n {
	case 0:
		p.Target = strategy.Target{Kind: strategy.ByQuantity, Quantity: exchange.Quantity(sum%50) - 25}
	case 1:
		p.Target = strategy.Target{Kind: strategy.ByEquity, Share: exchange.Rate(sum) * 1_001}
	case 2:
		p.Target = strategy.Target{Kind: strategy.ByQuote, Quote: v.Equity.MulDiv(int64(sum)%7, 3)}
	default:
		p.OrdersSet = true
		for _, w := range v.Working {
			p.Orders = append(p.Orders, strategy.DesiredOrder{Key: w.Key, Side: w.Side, Price: w.Price, Quantity: w.Quantity, PostOnly: true,
				StopPrice: w.StopPrice})
		}
	}
	p.ExitsSet = n == 1
	p.Leverage = int(n)
	if n > 1 {
		p.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50},
			TakeProfit: strategy.Distance{Price: v.Last}}
	}
	p.Reason = fmt.Sprint(v.NowMS, v.Closed(), v.Back(0).Close, v.Position, v.Equity, v.Fills, v.Events, v.Missed, v.Memory, v.Funding, v.OrderBook,
		v.Candle(), v.Last, v.Size, v.Leverage)
	p.SignalMS = v.NowMS - n
	if n == 2 {
		p.Notify(fmt.Sprintf("noted %q", fmt.Sprint(e.closes[0])))
	}
	p.Remember("zulu", int64(sum))
	p.Remember("alpha", v.NowMS)
}

// views are views of a market that moves.
func views(t testing.TB, count int) (setting *strategy.Setting, all []strategy.Task) {
	symbol := symbolOf(t)
	setting = &strategy.Setting{
		Market:   exchange.Futures,
		Symbol:   symbol,
		Interval: exchange.Minute1,
		Size:     strategy.Size{Equity: exchange.RateOne / 3},
	}
	random := rand.New(rand.NewPCG(1, 2))
	candles := exchange.Candles{Interval: exchange.Minute1}
	for i := range count {
		at := exchange.Price(600_000+random.IntN(10_000)) * symbol.PriceTick
		candles.Append(
			exchange.Candle{OpenMS: int64(i+1) * 60_000, Open: at, High: at + 13, Low: at - 7, Close: at + 3, Volume: random.Float64() * 100,
				QuoteVolume: 1e-9, Trades: 12, TakerBase: random.ExpFloat64(), TakerQuote: 3},
		)
		view := strategy.View{Symbol: symbol, Interval: exchange.Minute1, Size: setting.Size, Leverage: 5, Last: at + 5*symbol.PriceTick,
			Version: uint64(i/3 + 1),
			Position: strategy.Position{
				Quantity:   exchange.Quantity(random.IntN(9) - 4),
				EntryPrice: exchange.MustAmount("60123.123456789"),
				SinceMS:    5,
			},
			Equity: exchange.MustAmount("10000.000000000000000001"), Memory: strategy.MemoryOf(strategy.MemoryVariable{Key: "zulu", Value: -7},
				strategy.MemoryVariable{Key: "alpha", Value: 1 << 60}),
			Working: []strategy.WorkingOrder{{Key: "a", Side: exchange.Buy, Type: exchange.Limit, Price: at, Quantity: 5, Filled: 1}},
			Fills:   []strategy.KeyFill{{Key: "b", Quantity: 3}, {Key: "a", Quantity: 2}},
			Events: []strategy.Event{{AtMS: 7, Kind: strategy.EventFilled, Key: "a", Side: exchange.Buy, Quantity: 2,
				Price: exchange.MustAmount("60123.123456789")}, {AtMS: 8, Kind: strategy.EventRefused, Reduces: true, Side: exchange.Sell,
				Quantity: exchange.Quantity(i), Rule: "margin", Reason: "too little"}, {Kind: strategy.EventLatched, Side: exchange.Sell}},
			Missed:  i % 3,
			Funding: strategy.Funding{Rate: -1_234, NextMS: 99, Known: true},
			OrderBook: strategy.OrderBook{AtMS: int64(i), Bids: []exchange.Level{{Price: at, Quantity: 3}, {Price: at - symbol.PriceTick, Quantity: 4}},
				Asks: []exchange.Level{{Price: at + symbol.PriceTick, Quantity: 5}}}}
		if i%2 == 0 {
			view.Funding, view.OrderBook = strategy.Funding{}, strategy.OrderBook{}
		}
		all = append(all, strategy.Task{View: view, From: i, To: i + 1, Each: i + 1, AtMS: int64(i+2) * 60_000, Fresh: i == 0})
	}
	for i := range all {
		if all[i].Before = (strategy.View{Symbol: symbol, Interval: exchange.Minute1, Size: setting.Size, Leverage: 5}); i > 0 {
			all[i].Before = all[i-1].View.Snapshot()
		}
		all[i].Candles = *candles.Slice(0, i+1)
	}
	return setting, all
}

// wantSame gives the tasks to both strategies and expects equal results.
func wantSame(t testing.TB, tasks []strategy.Task, here, there strategy.Strategy) {
	t.Helper()
	for i := range tasks {
		one, two := tasks[i], tasks[i]
		want, have := one.Perform(here), two.Perform(there)
		if diff := cmp.Diff(want, have, cmp.AllowUnexported(strategy.Plan{}, strategy.Memory{}, exchange.Amount{})); diff != "" {
			t.Fatalf("decision %d: here and there differ (-here +there):\n%s", i, diff)
		}
	}
}

func TestAStrategyDecidesTheSameInAProcessOfItsOwn(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 200)
	there, err := NewRemote(serving(func(*Hello) (strategy.Strategy, []strategy.Parameter, error) { return &echo{}, nil, nil }),
		NewHello("one", setting, nil), setting)
	if err != nil {
		t.Fatal(err)
	}
	defer there.Kill("the test is over")
	if there.Warmup() != 7 {
		t.Errorf("want a warm-up of 7, have %d", there.Warmup())
	}
	wantSame(t, tasks, &echo{}, there)
}

func TestProcessProtocolErrors(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 1)
	hello := `{"type":"hello","protocol":1,"warmup":1}`
	for _, c := range []struct {
		name          string
		answers       []string // one per message; the first one answers the hello
		lost, failure string
	}{
		{"it ends", []string{hello}, "ended", ""},
		{"it answers garbage", []string{hello, `}{`}, "cannot be read", ""},
		{"it answers what was not asked", []string{hello, hello}, `"hello", but "plan"`, ""},
		{"it speaks another protocol", []string{`{"type":"hello","protocol":7}`}, "protocol 7", ""},
		{"it fails", []string{hello, `{"type":"error","message":"division by zero","trace":["line 3 in decide"]}`}, "", "division by zero\nline 3 in decide"},
		{"its target is two", []string{hello, `{"type":"plan","plan":{"target":{"quantity":"1","equity":"1"}}}`}, "", "one of quantity"},
		{"its reason is a book", []string{hello, `{"type":"plan","plan":{"reason":"` + strings.Repeat("r", 1_001) + `"}}`}, "", "a reason of 1001 bytes"},
		{"its memory has a long key", []string{hello, `{"type":"plan","plan":{"memory":{"` + strings.Repeat("k", 201) + `":1}}}`}, "", "key of 201 bytes"},
		{"its plan is two", []string{hello, `{"type":"plan","plan":{"target":{"quantity":"1"},"orders":[]}}`}, "", "not both"},
		{"its order has no side", []string{hello, `{"type":"plan","plan":{"orders":[{"key":"a","price":"1","quantity":"1"}]}}`}, "", "a side"},
		{"its number is none", []string{hello, `{"type":"plan","plan":{"target":{"quantity":"NaN"}}}`}, "cannot be read", ""},
		{"its number is beyond all", []string{hello, `{"type":"plan","plan":{"target":{"quantity":"1e300"}}}`}, "", "cannot be read"},
		{"it needs more candles than there are", []string{`{"type":"hello","protocol":1,"warmup":600000}`}, "its warm-up is 600000 candles", ""},
		{"it needs less than none", []string{`{"type":"hello","protocol":1,"warmup":-1}`}, "its warm-up is -1 candles", ""},
		{"it names what it answers at length", []string{hello, `{"type":"` + strings.Repeat("t", 50_000) + `"}`}, `t", but "plan"`, ""},
		{"it logs and answers", []string{hello, `{"type":"log","text":"hello"}`, `{"type":"plan","plan":null}`}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			for _, text := range c.answers {
				out.Write([]byte{0, 0, byte(len(text) >> 8), byte(len(text))})
				out.WriteString(text)
			}
			program := Program{Start: func() (Connection, error) {
				return &piped{Reader: bytes.NewReader(out.Bytes()), Writer: io.Discard, cause: "it ended"}, nil
			}}
			s := Described(program, NewHello("one", setting, nil), setting, Description{})
			task := tasks[0]
			r := task.Perform(s)
			if len(r.Lost) > 2_000 {
				t.Errorf("want few words, have %d bytes", len(r.Lost))
			}
			if !strings.Contains(r.Lost, c.lost) || (c.lost == "") != (r.Lost == "") {
				t.Errorf("want it lost by %q, have %q", c.lost, r.Lost)
			}
			if !strings.Contains(r.Failure, c.failure) || (c.failure == "") != (r.Failure == "") {
				t.Errorf("want it failed by %q, have %q", c.failure, r.Failure)
			}
		})
	}
}

func TestABatchIsAnsweredWithinItsRules(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 40)
	hello := `{"type":"hello","protocol":1,"warmup":1,"batches":true}`
	candles := tasks[39].Candles
	for _, c := range []struct {
		name, plans string
		want        string // why it is lost; otherwise the decisions in order
	}{
		{"null", `null,null`, "none none"},
		{"a plan ends it", `null,{"target":{"quantity":"0.5"}}`, "none 500"},
		{"it is the same", `{"target":{"quantity":"0.5"}}|true,null|true,true,true`, "500 500 none 500 500 500"},
		{"it reports the same before there is one", `true,null`, "there is none"},
		{"it goes on after a change", `{"target":{"quantity":"0.5"}},null`, "continues after"},
		{"a notice is the same", `{"target":{"quantity":"0.5"},"notify":["n"]}|true`, "plan has notices"},
		{"it reports nothing", ``, "decides 0 times at 2 closes"},
		{"it decides too often", `null,null,null`, "decides 3 times at 2 closes"},
		{"it is no plan", `3`, "cannot be read"},
	} {
		texts := []string{hello}
		for plans := range strings.SplitSeq(c.plans, "|") {
			texts = append(texts, `{"type":"plans","plans":[`+plans+`]}`)
		}
		program := Program{Start: func() (Connection, error) {
			return &piped{Reader: bytes.NewReader(framed(texts...)), Writer: io.Discard, cause: "it ended"}, nil
		}}
		if have := batched(t, program, setting, &candles); !strings.Contains(have, c.want) {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
}

// batched has a program decide on candles in batches until it has no more output, and returns its decisions,
// or why it was lost.
func batched(t *testing.T, program Program, setting *strategy.Setting, candles *exchange.Candles) (decisions string) {
	t.Helper()
	r, err := NewRemote(program, NewHello("one", setting, nil), setting)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if lost, is := recover().(*strategy.LostError); is && lost.Cause != "it ended" {
			decisions = lost.Cause
		}
	}()
	view := strategy.View{Symbol: setting.Symbol, Interval: exchange.Minute1}
	for at := 0; ; {
		end := r.Batch(&view, candles, at, at+2+at, nil)
		for ; at < end; at++ {
			var plan strategy.Plan
			view.SetHistory(candles, at+1)
			view.NowMS, view.Last = candles.CloseMS(at), view.Close()
			r.Candle(&view)
			r.Decide(&view, &plan)
			if plan.Target.Kind == strategy.NoTarget {
				decisions += "none "
			} else {
				decisions += fmt.Sprint(int64(plan.Target.Quantity), " ")
			}
		}
	}
}

// TestAFailureOfAnyLengthIsAnswered has strategies fail with a text longer than an answer may be.
func TestAFailureOfAnyLengthIsAnswered(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 1)
	long := strings.Repeat("\x01 a long story", 1<<17) // each control character takes six bytes of JSON
	for name, err := range map[string]error{
		"a message": errors.New(long),
		"a trace":   &strategy.SourceError{File: "a.star", Line: 7, Err: errors.New("a long story"), Trace: slices.Repeat([]string{long[:9_000]}, 300)},
		"names": &strategy.SourceError{File: "a.star", Err: errors.New("a long story"), Unknown: long, Hint: long,
			Known: slices.Repeat([]string{long[:9_000]}, 300)},
	} {
		s := Described(serving(func(*Hello) (strategy.Strategy, []strategy.Parameter, error) { return nil, nil, err }),
			NewHello("one", setting, nil), setting, Description{})
		task := tasks[0]
		if r := task.Perform(s); !strings.Contains(r.Failure, "a long story") || len(r.Failure) > 5_000 || r.Lost != "" {
			t.Errorf("%s: want the failure itself, cut, have %.200q (%d bytes), lost %.200q", name, r.Failure, len(r.Failure), r.Lost)
		}
	}
}

// A message of botd's may be longer than an answer, whose rows expand to many times their length.
func TestAnAnswerIsBounded(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 1)
	hello := `{"type":"hello","protocol":1,"warmup":1}`
	plan := `{"type":"plan","plan":{"orders":[]}}`
	for _, c := range []struct {
		rows int
		lost string
	}{{2 << 20 / 3, "longer than the bound of 2097152"}, {0, ""}} {
		rows := strings.TrimSuffix(strings.Repeat("{},", c.rows), ",")
		stream := framed(hello, strings.Replace(plan, "[]", "["+rows+"]", 1))
		program := Program{Start: func() (Connection, error) {
			return &piped{Reader: bytes.NewReader(stream), Writer: io.Discard}, nil
		}}
		s := Described(program, NewHello("one", setting, nil), setting, Description{})
		if r := tasks[0].Perform(s); !strings.Contains(r.Lost, c.lost) || (c.lost == "") != (r.Lost == "") {
			t.Errorf("%d rows: want it lost by %q, have %+v", c.rows, c.lost, r)
		}
	}
	if _, err := writeFrame(io.Discard, nil, strings.Repeat("x", maxAnswer), maxAnswer); err == nil {
		t.Error("want an answer refused that nobody would read")
	}
	if _, err := writeFrame(io.Discard, nil, strings.Repeat("x", maxAnswer), maxFrame); err != nil {
		t.Errorf("want a question of that length written, have %v", err)
	}
}

func TestAFrameReservesNoMemoryByItsLengthAlone(t *testing.T) {
	t.Parallel()
	for _, head := range []string{"\xff\xff\xff\xff", "\x01\x00\x00\x01", "Trac"} {
		if _, err := readFrame(strings.NewReader(head+"x"), nil, maxFrame); err == nil || !strings.Contains(err.Error(), "stdout") {
			t.Errorf("%q: want it refused with a hint, have %v", head, err)
		}
	}
	buffer, err := readFrame(strings.NewReader("\x00\xff\xff\xffx"), nil, maxFrame)
	if err == nil || cap(buffer) > 1<<20 {
		t.Errorf("want an early end and a small buffer, have %v and %d bytes", err, cap(buffer))
	}
}

func TestAStrategyThatWasKilledIsLostUntilItIsRestarted(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 3)
	s, err := NewRemote(serving(func(*Hello) (strategy.Strategy, []strategy.Parameter, error) { return &echo{}, nil, nil }),
		NewHello("one", setting, nil), setting)
	if err != nil {
		t.Fatal(err)
	}
	if r := tasks[0].Perform(s); !r.Decided {
		t.Fatalf("want a decision, have %+v", r)
	}
	s.Kill("a person killed it")
	if r := tasks[1].Perform(s); r.Lost != "a person killed it" {
		t.Errorf("want it lost, have %+v", r)
	}
	again := tasks[2]
	again.Fresh, again.From = true, 0
	if r := again.Perform(s); !r.Decided {
		t.Errorf("want a decision once it starts over, have %+v", r)
	}
	s.Kill("the test is over")
}

// holds always makes the same decision immediately.
type holds struct{}

func (holds) Warmup() int { return 0 }

func (holds) Candle(*strategy.View) {}

func (holds) Decide(_ *strategy.View, plan *strategy.Plan) {
	plan.Hold(strategy.Flat(), "the benchmark")
}

// BenchmarkDecision measures a decision over the messages, without the pipes of a process.
func BenchmarkDecision(b *testing.B) {
	setting, tasks := views(b, 1)
	s, err := NewRemote(serving(func(*Hello) (strategy.Strategy, []strategy.Parameter, error) { return holds{}, nil, nil }),
		NewHello("one", setting, nil), setting)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Kill("the benchmark is over")
	b.ReportAllocs()
	for b.Loop() {
		task := tasks[0]
		task.Fresh = false
		task.Perform(s)
	}
}
