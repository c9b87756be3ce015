package strategy

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// diary is a strategy that writes down what it is shown: candles as c, decisions as d, each with time, price and position.
type diary struct {
	plain
	log     []string
	fails   any
	targets []Target // of each decision
}

func (d *diary) Restart() { d.log = append(d.log, "restart") }

func (d *diary) Candle(v *View) {
	d.log = append(d.log, fmt.Sprintf("c%d close %d position %d", v.NowMS/60_000, v.Close(), v.Position.Quantity))
}

func (d *diary) Decide(v *View, p *Plan) {
	if d.fails != nil {
		panic(d.fails)
	}
	d.log = append(d.log, fmt.Sprintf("d%d last %d position %d", v.NowMS/60_000, v.Last, v.Position.Quantity))
	if len(d.targets) > 0 {
		p.Target, d.targets = d.targets[0], d.targets[1:]
	}
}

func (d *diary) Conditions(v *View) []Condition {
	if len(d.log) == 0 {
		panic("no decision yet")
	}
	return []Condition{{Name: fmt.Sprint("at ", v.NowMS/60_000)}}
}

// task has four closed candles of a minute, of which the last two are new: closes 11, 12, 13, 14.
func task() *Task {
	t := &Task{View: View{Last: 99, Position: Position{Quantity: 2}}, Before: View{Last: 98, Position: Position{Quantity: 1}}, From: 2, To: 4, Each: 4,
		Candles: exchange.Candles{Interval: exchange.Minute1}}
	for i := range int64(4) {
		t.Candles.Append(exchange.Candle{OpenMS: i * 60_000, Close: exchange.Price(11 + i)})
	}
	return t
}

// TestWhatATaskShowsAStrategy covers candles with and without decisions at their closes, and a decision after them.
func TestWhatATaskShowsAStrategy(t *testing.T) {
	t.Parallel()
	long := Target{Kind: ByQuantity, Quantity: 5}
	for _, c := range []struct {
		name     string
		change   func(t *Task)
		targets  []Target
		want     string
		targetMS int64
	}{
		{"candles alone", func(*Task) {}, nil, "c3 close 13 position 1, c4 close 14 position 1", 0},
		{"the first candles of a strategy", func(t *Task) { t.Fresh = true }, nil, "restart, c3 close 13 position 1, c4 close 14 position 1", 0},
		{"a decision after them", func(t *Task) { t.AtMS = 300_000 }, nil, "c3 close 13 position 1, c4 close 14 position 1, d5 last 99 position 2", 0},
		{"a decision at each close", func(t *Task) { t.Each = 2 }, nil,
			"c3 close 13 position 1, d3 last 13 position 2, c4 close 14 position 2, d4 last 14 position 2", 0},
		{"a decision at the last close", func(t *Task) { t.Each = 3 }, nil, "c3 close 13 position 1, c4 close 14 position 1, d4 last 14 position 2", 0},
		{"a price newer than the candle before", func(t *Task) { t.Each, t.Price, t.PriceMS = 2, 77, 180_001 }, nil,
			"c3 close 13 position 1, d3 last 77 position 2, c4 close 14 position 2, d4 last 14 position 2", 0},
		{"a price of the close", func(t *Task) { t.Each, t.Price, t.PriceMS = 3, 77, 240_000 }, nil,
			"c3 close 13 position 1, c4 close 14 position 1, d4 last 14 position 2", 0},
		{"no candle at all", func(t *Task) { t.From, t.To, t.AtMS = 0, 0, 300_000 }, nil, "d5 last 99 position 2", 0},
		{"a new target", func(t *Task) { t.Each = 2 }, []Target{long, long},
			"c3 close 13 position 1, d3 last 13 position 2, c4 close 14 position 2, d4 last 14 position 2", 180_000},
		{"the same target", func(t *Task) { t.Each, t.Target = 2, long }, []Target{long, long},
			"c3 close 13 position 1, d3 last 13 position 2, c4 close 14 position 2, d4 last 14 position 2", 0},
		{"a target that changes", func(t *Task) { t.Each, t.Target = 2, long }, []Target{long, Flat()},
			"c3 close 13 position 1, d3 last 13 position 2, c4 close 14 position 2, d4 last 14 position 2", 240_000},
	} {
		one, d := task(), &diary{targets: c.targets}
		c.change(one)
		r := one.Perform(d)
		if have := strings.Join(d.log, ", "); have != c.want {
			t.Errorf("%s: want\n%s, have\n%s", c.name, c.want, have)
		}
		decided := strings.Contains(c.want, "d")
		if r.Decided != decided || r.TargetMS != c.targetMS || (len(r.Conditions) == 1) != decided || r.Failure+r.Lost != "" {
			t.Errorf("%s: want decided %t, a target of %d, have %+v", c.name, decided, c.targetMS, r)
		}
	}
}

// TestAStrategyThatPanicsFails covers a strategy that fails, one whose process ended, and conditions that cannot be computed.
func TestAStrategyThatPanicsFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cause         any
		failure, lost string
	}{
		{"index out of range", "index out of range", ""}, {errors.New("division by zero"), "division by zero", ""},
		{&LostError{"killed"}, "", "killed"}, {fmt.Errorf("decide: %w", &LostError{"killed"}), "", "killed"},
		{strings.Repeat("x", 4_001), strings.Repeat("x", 4_000) + "…", ""}, {&LostError{strings.Repeat("x", 4_001)}, "", strings.Repeat("x", 4_000) + "…"},
	} {
		one := task()
		one.AtMS = 300_000
		if r := one.Perform(&diary{fails: c.cause}); r.Failure != c.failure || r.Lost != c.lost || r.Decided {
			t.Errorf("%.40v: want %.40q, %.40q, have %.40q, %.40q", c.cause, c.failure, c.lost, r.Failure, r.Lost)
		}
	}
	if err := (&LostError{"killed"}); err.Error() != "killed" {
		t.Errorf("want the cause, have %v", err)
	}
	if have := conditionsOf(&diary{}, &View{}); have != nil {
		t.Errorf("want no conditions of a strategy that panics, have %v", have)
	}
	if have := conditionsOf(plain{}, &View{}); have != nil {
		t.Errorf("want no conditions of a strategy that has none, have %v", have)
	}
	for name, s := range map[string]Strategy{"itself": &diary{}, "wrapped": around{inner: around{inner: &diary{}}}} {
		inner := s
		for w, wraps := inner.(Wrapper); wraps; w, wraps = inner.(Wrapper) {
			inner = w.Wrapped()
		}
		if restart(s); len(inner.(*diary).log) != 1 {
			t.Errorf("%s: want it restarted once, have %v", name, inner.(*diary).log)
		}
	}
	restart(plain{})
	restart(nil)
}

// TestASnapshotKeepsItsLists uses a view whose lists are used again.
func TestASnapshotKeepsItsLists(t *testing.T) {
	t.Parallel()
	v := View{NowMS: 5, Working: []WorkingOrder{{Key: "a"}}, Fills: []KeyFill{{Key: "a"}}, Events: []Event{{Key: "a"}}}
	s := v.Snapshot()
	v.Working[0].Key, v.Fills[0].Key, v.Events[0].Key = "b", "b", "b"
	if s.NowMS != 5 || s.Working[0].Key != "a" || s.Fills[0].Key != "a" || s.Events[0].Key != "a" {
		t.Errorf("want the lists of then, have %+v", s)
	}
}

// embedded is a part of the parameters of several strategies.
type embedded struct {
	Share decimal.Decimal `param:"share" default:"2%" min:"0.01" max:"1" help:"of the equity"`
}

type parameters struct {
	embedded
	Count int           `param:"count" min:"1" max:"9"`
	Pause time.Duration `param:"pause" default:"1m" min:"30s" max:"1h"`
	Word  string        `param:"word" default:"a" oneof:"a|b"`
	Quiet bool          `param:"quiet" default:"false"`
	Side  exchange.Side `param:"side" default:"sell"`
}

func TestParametersAreReadFromTheirTexts(t *testing.T) {
	t.Parallel()
	var built parameters
	var setting Setting
	d := Define("some", "A summary.", func(s Setting, p parameters) (Strategy, error) { setting, built = s, p; return plain{}, nil })
	want := "[{share decimal 2% 0.01 1 [] of the equity} {count int  1 9 [] } {pause duration 1m 30s 1h [] } {word text a   [a b] } {quiet bool false   [] } " +
		"{side text sell   [buy sell] }]"
	if d.Name != "some" || d.Summary != "A summary." || fmt.Sprint(d.Parameters) != want {
		t.Errorf("want\n%s, have\n%v", want, d.Parameters)
	}
	for _, c := range []struct {
		values Values
		want   string // empty: it is accepted
	}{
		{Values{"count": "9", "share": "50%", "pause": "1h", "word": "B", "quiet": "true", "side": "BUY"}, ""},
		{Values{"count": "1"}, ""}, {Values{"count": "1", "share": "1%", "pause": "30s"}, ""}, {Values{"count": "1", "share": "100%"}, ""},
		{Values{}, "params.count: is required ()"}, {Values{"count": "0"}, "params.count: 0 is below 1"}, {Values{"count": "10"},
			"params.count: 10 is above 9"},
		{Values{"count": "1.5"}, `params.count: "1.5" is not a whole number`}, {Values{"count": "1", "share": "0.9%"}, "params.share: 0.9% is below 0.01"},
		{Values{"count": "1", "share": "x"}, `params.share: "x" is not a decimal number`}, {Values{"count": "1", "share": "1e31"},
			`params.share: "1e31" is not a decimal number`},
		{Values{"count": "1", "share": "1e30"}, "params.share: 1e30 is above 1"}, {Values{"count": "1", "share": "1e-31"},
			`params.share: "1e-31" is not a decimal number`},
		{Values{"count": "1", "share": "1e-30"}, "params.share: 1e-30 is below 0.01"},
		{Values{"count": "1", "pause": "29s"}, "params.pause: 29s is below 30s"}, {Values{"count": "1", "pause": "61m"}, "params.pause: 61m is above 1h"},
		{Values{"count": "1", "pause": "x"}, `params.pause: "x" is not a duration such as 90s or 5m`},
		{Values{"count": "1", "word": "c"}, `params.word: "c" is not one of a, b`}, {Values{"count": "1", "quiet": "maybe"},
			`params.quiet: "maybe" is not a bool`},
		{Values{"count": "1", "side": "hold"}, `params.side: "hold" is not one of buy, sell`}, {Values{"count": "1", "other": "1"},
			"params.other: some does not have this parameter"},
	} {
		s, err := d.New(Setting{CatchUp: 3}, c.values)
		if have := fmt.Sprint(err); (err == nil) != (c.want == "") || err != nil && have != c.want || (s == nil) != (err != nil) {
			t.Errorf("%v: want %q, have %v", c.values, c.want, err)
		}
	}
	if _, err := d.New(Setting{CatchUp: 3}, Values{"count": "9", "share": "50%", "pause": "90s", "word": "b", "quiet": "true", "side": "buy"}); err != nil {
		t.Fatal(err)
	}
	if !built.Share.Equal(decimal.New(5,
		-1)) || built.Count != 9 || built.Pause != 90*time.Second || built.Word != "b" || !built.Quiet || built.Side != exchange.Buy ||
		setting.CatchUp != 3 {
		t.Errorf("want the values, have %+v", built)
	}
	cause := errors.New("cause")
	if err := (&ValueError{"count", cause}); !errors.Is(err, cause) {
		t.Error("want the cause of a wrong value")
	}
	defer func() {
		if recover() == nil {
			t.Error("want a parameter of another type refused at once")
		}
	}()
	Define("wrong", "", func(Setting, struct{ Rate float64 }) (Strategy, error) { return nil, nil })
}

func TestStrategiesAreFoundByName(t *testing.T) {
	t.Parallel()
	r := NewRegistry(Definition{Name: "c"}, Definition{Name: "a"}, Definition{Name: "b"})
	var have []string
	for _, d := range r.All() {
		have = append(have, d.Name)
	}
	if fmt.Sprint(have) != "[a b c]" {
		t.Errorf("want them sorted, have %v", have)
	}
	for name, want := range map[string]bool{"a": true, "b": true, "c": true, "d": false, "": false} {
		if d, found := r.Find(name); found != want || want && d.Name != name || !want && d.Name != "" {
			t.Errorf("%q: want it found %t, have %+v", name, want, d)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("want two of one name refused")
		}
	}()
	NewRegistry(Definition{Name: "a"}, Definition{Name: "b"}, Definition{Name: "a"})
}
