package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/exchange"
	"botd/strategy"
)

// answering is a program that gives these answers, whatever is asked, and ends. It records what botd writes.
func answering(written *bytes.Buffer, texts ...string) Program {
	return Program{Start: func() (Connection, error) {
		return &piped{Reader: bytes.NewReader(framed(texts...)), Writer: written, cause: "it ended"}, nil
	}}
}

// sent returns the messages that botd has written.
func sent(t *testing.T, written *bytes.Buffer) (all []question) {
	t.Helper()
	for written.Len() > 0 {
		text, err := readFrame(written, nil, maxFrame)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(text, []byte(`{"type":"hello"`)) {
			continue
		}
		var q question
		if err := json.Unmarshal(text, &q); err != nil {
			t.Fatal(err)
		}
		all = append(all, q)
	}
	return all
}

// listed is a list of so many texts, as JSON.
func listed(count int, text string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(text+",", count), ",") + "]"
}

func TestADeclarationIsBounded(t *testing.T) {
	t.Parallel()
	setting, _ := views(t, 1)
	for _, c := range []struct{ members, want string }{
		{`"warmup":0`, ""}, {`"warmup":500000`, ""}, {`"warmup":500001`, "its warm-up is 500001 candles; want 0 to 500000"},
		{`"parameters":` + listed(1_000, `{"name":"a"}`), ""},
		{`"parameters":` + listed(1_001, `{"name":"a"}`), "it names 1001 parameters and 0 columns; at most 1000 of each are allowed"},
		{`"columns":` + listed(1_000, `"a"`), ""},
		{`"columns":` + listed(1_001, `"a"`), "it names 0 parameters and 1001 columns; at most 1000 of each are allowed"},
		{`"others":` + listed(20, `{"symbol":"ETH-USDT"}`), ""},
		{`"others":` + listed(21, `{"symbol":"ETH-USDT"}`), "it reads candles of 21 other symbols; at most 20 are allowed"},
	} {
		_, err := NewRemote(answering(&bytes.Buffer{}, `{"type":"hello","protocol":1,`+c.members+`}`), NewHello("one", setting, nil), setting)
		if have := fmt.Sprint(err); err == nil && c.want != "" || err != nil && (c.want == "" || !strings.Contains(have, c.want)) {
			t.Errorf("%.60s: want %q, have %q", c.members, c.want, have)
		}
	}
	_, err := NewRemote(Program{Start: func() (Connection, error) { return nil, errors.New("no such file") }}, NewHello("one", setting, nil), setting)
	if have := fmt.Sprint(err); !strings.Contains(have, "its process cannot be started: no such file") {
		t.Errorf("want the reason, have %s", have)
	}
}

func TestADeclarationIsReadInFull(t *testing.T) {
	t.Parallel()
	setting, _ := views(t, 1)
	program := answering(&bytes.Buffer{}, `{"type":"log","level":"warning","text":"slow"}`, `{"type":"hello","protocol":1,"warmup":3,"reentry":"never",
		"watch":{"funding":true,"events":true,"book":true,"funds":true,"pair":{"market":"spot","symbol":"BTC-USDT"}},"parameters":[{"name":"fast"}]}`)
	var log string
	program.Log = func(level, text string) { log += level + ": " + text }
	r, err := NewRemote(program, NewHello("one", setting, nil), setting)
	if err != nil {
		t.Fatal(err)
	}
	want := strategy.Watching{Funding: true, Events: true, OrderBook: true, Funds: true, Pair: exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}}
	if r.Warmup() != 3 || r.Reentry() != strategy.ReentryNever || r.Watches() != want || !r.TakesProfit() || log != "warning: slow" {
		t.Errorf("want all that it declares, have %d, %v, %+v, log %q", r.Warmup(), r.Reentry(), r.Watches(), log)
	}
	if r.StartMS() != 30_000 {
		t.Errorf("want 30 s for its start, have %d ms", r.StartMS())
	}
	script := NewHello("one", setting, nil)
	script.Script = &strategy.Source{}
	if again := Described(program, script, setting, r.Description()); again.StartMS() != 0 || again.Warmup() != 3 {
		t.Errorf("want a script to start at once, with the same declaration, have %d ms, %d", again.StartMS(), again.Warmup())
	}
	parameters, err := Parameters(program, NewHello("one", nil, nil))
	if err != nil || len(parameters) != 1 || parameters[0].Name != "fast" {
		t.Errorf("want its parameter, have %+v, %v", parameters, err)
	}
}

// The other end of the connection declares what its strategy watches, and nothing if it watches nothing.
func TestWatchesAreDeclared(t *testing.T) {
	t.Parallel()
	pair := exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}
	for _, w := range []strategy.Watching{{}, {Funding: true}, {Events: true}, {OrderBook: true}, {Funds: true}, {Pair: pair}} {
		info := newWatch(w)
		if (info == nil) != (w == strategy.Watching{}) {
			t.Errorf("%+v: have %+v", w, info)
		}
		r := &Remote{}
		if r.welcome.Watch = info; r.Watches() != w {
			t.Errorf("want %+v, have %+v", w, r.Watches())
		}
	}
}

// A setting crosses to the other end and arrives whole.
func TestASettingArrivesWhole(t *testing.T) {
	t.Parallel()
	symbol, err := symbolOf(t).WithScales(8, 5)
	if err != nil {
		t.Fatal(err)
	}
	symbol.FundingIntervalHours = 4
	for _, size := range []strategy.Size{{}, {Equity: exchange.RateOne / 3}, {Quantity: 12_300}, {Quote: exchange.MustAmount("99.5")}} {
		setting := &strategy.Setting{Market: exchange.Futures, Symbol: symbol, Interval: exchange.Minute1, TickMS: 5_000, Size: size}
		text, err := json.Marshal(NewHello("one", setting, nil))
		if err != nil {
			t.Fatal(err)
		}
		var h Hello
		if err := json.Unmarshal(text, &h); err != nil {
			t.Fatal(err)
		}
		have, err := h.Setting()
		if err != nil || have.Size != size || have.Market != setting.Market ||
			have.Interval != setting.Interval || have.TickMS != 5_000 || have.Columns != nil {
			t.Errorf("%+v: have %+v, %v", setting, have, err)
		}
		s := have.Symbol
		if s.PriceScale != 8 || s.QuantityScale != 5 || s.PriceTick != 10_000_000 || s.QuantityTick != 100 || s.FundingIntervalHours != 4 ||
			s.MinNotional != exchange.AmountOf(5) ||
			s.MaxNotional != exchange.AmountOf(1_000_000) || s.Key() != symbol.Key() || s.Base != "BTC" || s.Quote != "USDT" {
			t.Errorf("want the symbol's terms, have %+v", s)
		}
	}
	h := Hello{Symbol: &SymbolJSON{}}
	if _, err := h.Setting(); err == nil {
		t.Error("a symbol without terms is accepted")
	}
	finer := NewHello("one", &strategy.Setting{Market: exchange.Futures, Symbol: symbol, Size: strategy.Size{Quantity: 1}}, nil)
	*finer.Size.Quantity = finer.Size.Quantity.Shift(-9)
	if _, err := finer.Setting(); err == nil {
		t.Error("a size below the smallest unit is accepted")
	}
}

// An error crosses with its position, its words are cut, and is the same kind of error on the other side.
func TestAnErrorArrivesWithItsPosition(t *testing.T) {
	t.Parallel()
	position := &strategy.SourceError{File: "a.star", Line: 7, Column: 3, Err: errors.New("no member"), Unknown: "clos", Known: []string{"close", "open"},
		Trace: []string{"a.star:7"}, Member: true, Hint: "close"}
	var source *strategy.SourceError
	f := faultOf(fmt.Errorf("load: %w", position))
	if err := f.err(); !errors.As(err, &source) || !reflect.DeepEqual(source, &strategy.SourceError{File: "a.star", Line: 7, Column: 3, Err: source.Err,
		Unknown: "clos", Known: []string{"close", "open"}, Trace: []string{"a.star:7"}, Member: true,
		Hint: "close"}) || source.Err.Error() != "no member" {
		t.Errorf("want %+v, have %+v", position, err)
	}
	var value *strategy.ValueError
	f = faultOf(&strategy.ValueError{Parameter: "fast", Err: errors.New("it is 0")})
	if err := f.err(); !errors.As(err, &value) || value.Parameter != "fast" || value.Err.Error() != "it is 0" || f.Message != "it is 0" {
		t.Errorf("want the parameter's error, have %+v", err)
	}
	f = faultOf(&strategy.ValueError{Parameter: "fast", Err: position})
	if err := f.err(); !errors.As(err, &value) || !errors.As(err, &source) || f.Message != "no member" {
		t.Errorf("want an error of the parameter at its position, have %+v", err)
	}
	f = fault{Message: "division by zero", place: place{Trace: []string{"line 3", "line 9"}}}
	if err := f.err(); err.Error() != "division by zero\nline 3\nline 9" {
		t.Errorf("want the trace below, have %q", err)
	}
}

func TestTheTextsOfAnErrorAreCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 16_001)
	f := fault{Message: long, Parameter: long, place: place{File: long, Unknown: long, Hint: long, Trace: slices.Repeat([]string{long}, 101),
		Known: slices.Repeat([]string{long[:1_000]}, 100)}}
	trace := f.Trace
	f.bound()
	line := long[:1_000]
	if f.Message != long[:16_000]+"…" || f.Parameter != line+"…" || f.File != line+"…" || f.Unknown != line+"…" || f.Hint != line+"…" {
		t.Errorf("want 16000 and 1000 bytes, have %d, %d, %d, %d, %d", len(f.Message), len(f.Parameter), len(f.File), len(f.Unknown), len(f.Hint))
	}
	if len(f.Trace) != 100 || f.Trace[99] != line+"…" || len(f.Known) != 100 || f.Known[99] != line {
		t.Errorf("want 100 lines of 1000 bytes each, have %d and %d", len(f.Trace), len(f.Known))
	}
	if trace[0] != long {
		t.Error("the error itself is cut")
	}
}

// Messages as long as their bounds are written and read; one byte more is not.
func TestAMessageIsAsLongAsItsBound(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	buffer, err := writeFrame(&out, nil, "12345678", 10) // with its quotes
	if err != nil || out.String() != "\x00\x00\x00\x0a\"12345678\"" || string(buffer) != out.String() {
		t.Errorf("want it written, have %q, %q, %v", out.String(), buffer, err)
	}
	if text, err := readFrame(&out, buffer, 10); err != nil || string(text) != `"12345678"` {
		t.Errorf("want it read, have %q, %v", text, err)
	}
	if _, err := writeFrame(&out, buffer, "123456789", 10); err == nil || out.Len() != 0 || !strings.Contains(err.Error(), "a message of 11 bytes") {
		t.Errorf("want nothing of it written, have %q, %v", out.String(), err)
	}
	if _, err := writeFrame(&out, buffer, func() {}, 10); err == nil || out.Len() != 0 {
		t.Errorf("want nothing written of what is no message, have %q, %v", out.String(), err)
	}
	_, err = readFrame(strings.NewReader("\x00\x00\x00\x0bx"), nil, 10)
	if err == nil || !strings.Contains(err.Error(), "11 bytes is longer than the bound of 10") {
		t.Errorf("want it refused, have %v", err)
	}
	if text, err := readFrame(strings.NewReader("\x00\x00\x00\x00rest"), nil, 10); err != nil || len(text) != 0 {
		t.Errorf("want an empty message, have %q, %v", text, err)
	}
	if _, err := readFrame(strings.NewReader("\x00\x00\x00\x04abc"), nil, 10); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("want an early end, have %v", err)
	}
}

// A program that has ended stays lost, for the reason of its end, until it is restarted.
func TestAProgramThatEndedStaysLost(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 2)
	starts := 0
	program := Program{Start: func() (Connection, error) {
		starts++
		return &piped{Reader: bytes.NewReader(framed(`{"type":"hello","protocol":1}`)), Writer: io.Discard, cause: "signal: killed"}, nil
	}}
	s := Described(program, NewHello("one", setting, nil), setting, Description{})
	for i := range 2 {
		task := tasks[i]
		task.Fresh = false
		if r := task.Perform(s); r.Lost != "signal: killed" {
			t.Errorf("decision %d: want it lost by its end, have %+v", i, r)
		}
	}
	if starts != 1 {
		t.Errorf("want it started once, have %d", starts)
	}
}

// seer writes down all that a view shows.
type seer struct{ holds }

func (seer) Decide(v *strategy.View, p *strategy.Plan) {
	p.Reason = fmt.Sprint(v.BuyingPower, v.Pair.Known, v.Pair.Position, v.Pair.Last, v.Funding, v.OrderBook, v.Events, v.Missed)
	if v.Pair.Known {
		p.Reason += fmt.Sprint(v.Pair.Symbol.Key(), v.Pair.Symbol.PriceTick, v.Pair.Symbol.QuantityScale)
	}
}

func TestAViewArrivesWithTheFundsAndThePair(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 4)
	pair := *symbolOf(t)
	pair.Market = exchange.Spot
	for i := range tasks[:2] {
		tasks[i].View.BuyingPower = exchange.MustAmount("77.5")
		tasks[i].View.Pair = strategy.Pair{Symbol: &pair, Position: 12, Last: 600_001 * pair.PriceTick, Known: true}
	}
	there, err := NewRemote(serving(func(*Hello) (strategy.Strategy, []strategy.Parameter, error) { return seer{}, nil, nil }),
		NewHello("one", setting, nil), setting)
	if err != nil {
		t.Fatal(err)
	}
	defer there.Kill("the test is over")
	wantSame(t, tasks, seer{}, there)
}

// named are columns whose values show their name and their time.
type named []string

func (n named) Names() []string { return n }

func (n named) At(name string, atMS int64) (float64, bool) {
	i := slices.Index(n, name)
	return float64(atMS)/60_000 + float64(i)/4, i >= 0 && (atMS/60_000+int64(i))%3 != 0
}

// reader decides by its columns.
type reader struct {
	columns strategy.Columns
	seen    string
}

func (*reader) Warmup() int { return 2 }

func (*reader) ReadsColumns() []string { return []string{"c", "a"} }

func (r *reader) Candle(v *strategy.View) {
	for _, name := range []string{"a", "b", "c"} { // b is not declared
		if value, known := r.columns.At(name, v.Candle().OpenMS+60_000); known && name != "b" {
			r.seen += fmt.Sprint(name, value, " ")
		}
	}
	r.seen = r.seen[max(0, len(r.seen)-900):]
}

func (r *reader) Decide(_ *strategy.View, p *strategy.Plan) { p.Reason = r.seen }

func TestAProcessReadsItsColumns(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 60)
	setting.Columns = named{"a", "b", "c"}
	there, err := NewRemote(serving(func(h *Hello) (strategy.Strategy, []strategy.Parameter, error) {
		received, err := h.Setting()
		if err == nil && !slices.Equal(received.Columns.Names(), []string{"a", "b", "c"}) {
			err = fmt.Errorf("it has the columns %q", received.Columns.Names())
		}
		if err != nil {
			return nil, nil, err
		}
		return &reader{columns: received.Columns}, nil, nil
	}), NewHello("one", setting, nil), setting)
	if err != nil {
		t.Fatal(err)
	}
	defer there.Kill("the test is over")
	if diff := cmp.Diff([]string{"c", "a"}, there.welcome.Columns); diff != "" {
		t.Errorf("want the two that it reads:\n%s", diff)
	}
	wantSame(t, tasks, &reader{columns: setting.Columns}, there)
}

func TestOnlyTheNewestValueOfADeclaredColumnIsThere(t *testing.T) {
	t.Parallel()
	value := 4.5
	c := receivedColumns{names: []string{"a", "b", "c"}, read: []string{"b", "c"}}
	c.store([]columnRow{{nil, &value}, {&value}})
	at := func(name string, atMS int64, want float64, wantKnown bool) {
		t.Helper()
		if have, known := c.At(name, atMS); have != want || known != wantKnown {
			t.Errorf("%s at %d: want %g, %t, have %g, %t", name, atMS, want, wantKnown, have, known)
		}
	}
	c.next(&exchange.Candle{OpenMS: 60_000}, exchange.Minute1)
	at("c", 120_000, 4.5, true)
	at("b", 120_000, 0, false)
	at("a", 120_000, 0, false)
	at("c", 60_000, 0, false)
	c.next(&exchange.Candle{OpenMS: 120_000}, exchange.Minute1)
	at("b", 180_000, 4.5, true)
	at("c", 180_000, 0, false) // a short row
	c.next(&exchange.Candle{OpenMS: 180_000}, exchange.Minute1)
	at("b", 240_000, 0, false) // no row
}
