package strategy

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// plain is a strategy without anything more.
type plain struct{}

func (plain) Warmup() int         { return 0 }
func (plain) Candle(*View)        {}
func (plain) Decide(*View, *Plan) {}

// able is a strategy that can do everything.
type able struct {
	plain
	reentry Reentry
	follows bool
}

func (able) RestsExits() bool                        { return true }
func (able) TakesProfit() bool                       { return true }
func (able) StartMS() int64                          { return 7 }
func (able) Watches() Watching                       { return Watching{Events: true} }
func (a able) Reentry() Reentry                      { return a.reentry }
func (a able) Follows() bool                         { return a.follows }
func (able) Trails() (exchange.Rate, bool)           { return 3, true }
func (able) Follow(*View, *Plan)                     {}
func (able) Receive(*View, *Signal, *Plan) error     { return nil }
func (able) ReadsOthers() []exchange.SymbolKey       { return []exchange.SymbolKey{{Name: "X"}} }
func (able) Range() (exchange.Price, exchange.Price) { return 1, 2 }
func (able) Economics() (Economics, bool) {
	return Economics{What: "a pair of lines", Gross: 500_000, Makers: 2, Takers: 1}, true
}

// around wraps a strategy.
type around struct {
	plain
	inner Strategy
}

func (a around) Wrapped() Strategy { return a.inner }

// TestWhatAWrappedStrategyCanDo covers a strategy that can do everything, alone and within two others, and a plain one.
func TestWhatAWrappedStrategyCanDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		s    Strategy
		want bool
	}{"able": {able{reentry: ReentryNever, follows: true}, true}, "wrapped": {around{inner: around{inner: able{reentry: ReentryNever, follows: true}}}, true},
		"plain": {plain{}, false}, "wrapped plain": {around{inner: plain{}}, false}, "around nothing": {around{}, false}} {
		_, receives := ReceiverOf(c.s)
		lower, upper, ranged := RangeOf(c.s)
		economics, known := EconomicsOf(c.s)
		have := []bool{RestsExits(c.s), TakesProfit(c.s), StartMS(c.s) == 7, WatchingOf(c.s).Events, ReentryOf(c.s) == ReentryNever, FollowerOf(c.s) != nil,
			receives,
			len(OthersOf(c.s)) == 1, ranged && lower == 1 && upper == 2, known && economics.Makers == 2}
		for i := range have {
			if have[i] != c.want {
				t.Errorf("%s: want each %t, have %v", name, c.want, have)
				break
			}
		}
	}
	unset := around{inner: able{}}
	if ReentryOf(nil) != ReentrySignal || ReentryOf(unset) != ReentrySignal || FollowerOf(nil) != nil || FollowerOf(unset) != nil || StartMS(nil) != 0 {
		t.Error("want the defaults of a strategy that sets nothing")
	}
}

func TestWhatATripEarns(t *testing.T) {
	t.Parallel()
	// 0.5 % between two lines; two fills at 0.02 % and one at 0.05 % cost 0.09 %.
	if have := Edge(around{inner: able{}}, Fees{Maker: 20_000, Taker: 50_000}); have != "a pair of lines earns 0.5% and costs 0.09% in fees: 0.41% remains" {
		t.Errorf("have %s", have)
	}
	if have := Edge(plain{}, Fees{}); have != "" {
		t.Errorf("want nothing of a strategy that does not know, have %s", have)
	}
	e := Economics{Gross: 100, Makers: 1, Takers: 2}
	if have := e.Net(10, 7); have != 76 {
		t.Errorf("want 100 - 10 - 14, have %d", have)
	}
}

func TestNamesOfEventsAndReentries(t *testing.T) {
	t.Parallel()
	for i, word := range strings.Fields("filled stopped took_profit refused canceled latched released") {
		var kind EventKind
		text, _ := EventKind(i + 1).MarshalText()
		if err := kind.UnmarshalText([]byte(word)); err != nil || kind != EventKind(i+1) || string(text) != word {
			t.Errorf("%s: have %s, %s, %v", word, kind, text, err)
		}
	}
	for i, word := range strings.Fields("signal immediate never") {
		var r Reentry
		text, _ := Reentry(i + 1).MarshalText()
		if err := r.UnmarshalText([]byte(word)); err != nil || r != Reentry(i+1) || string(text) != word {
			t.Errorf("%s: have %s, %s, %v", word, r, text, err)
		}
	}
	kind, r := EventFilled, ReentryNever
	if kind.UnmarshalText([]byte("?")) == nil || kind.UnmarshalText(nil) == nil || r.UnmarshalText([]byte("?")) == nil {
		t.Error("want unknown names refused")
	}
	if _, err := ParseReentry(""); err == nil {
		t.Error("want an empty name refused")
	}
	if err := r.UnmarshalText(nil); err != nil || r != ReentryUnset || EventKind(8).String() != "event(8)" || Reentry(4).String() != "reentry(4)" {
		t.Errorf("want no name for nothing and for what is none, have %s, %v", r, err)
	}
}

// TestTheTopOfABook covers books that cannot be traded on, and one with more levels than a strategy reads.
func TestTheTopOfABook(t *testing.T) {
	t.Parallel()
	levels := func(prices ...exchange.Price) (all []exchange.Level) {
		for _, price := range prices {
			all = append(all, exchange.Level{Price: price, Quantity: 1})
		}
		return all
	}
	for name, depth := range map[string]exchange.Depth{"no bids": {Asks: levels(5)}, "no asks": {Bids: levels(5)}, "crossed": {Bids: levels(6),
		Asks: levels(5)},
		"locked": {Bids: levels(5), Asks: levels(5)}, "no price": {Bids: levels(0), Asks: levels(5)}} {
		if b := OrderBookOf(&depth, 7); !reflect.DeepEqual(b, OrderBook{}) {
			t.Errorf("%s: want none, have %+v", name, b)
		}
	}
	b := OrderBookOf(&exchange.Depth{Bids: levels(1), Asks: levels(2)}, 7)
	if b.AtMS != 7 {
		t.Errorf("want the smallest price taken, have %+v", b)
	}
	long := make([]exchange.Price, 25)
	for i := range long {
		long[i] = exchange.Price(10 - i)
	}
	if b = OrderBookOf(&exchange.Depth{Bids: levels(long...), Asks: levels(15, 16)}, 7); len(b.Bids) != 20 || len(b.Asks) != 2 || b.AtMS != 7 ||
		b.Middle() != 12 {
		t.Errorf("want 20 bids, 2 asks and a middle of 12, have %d, %d, %d", len(b.Bids), len(b.Asks), b.Middle())
	}
	if !b.Known(17, 10) || b.Known(18, 10) || (&OrderBook{AtMS: 7}).Known(7, 10) ||
		(&OrderBook{Bids: levels(1), Asks: levels(2)}).Known(0, 10) || (&OrderBook{AtMS: 7,
		Bids: levels(1)}).Known(7, 10) {
		t.Error("want it known until it is 10 ms old, and no empty one")
	}
}

// TestQuantitiesOfARisk uses an equity of 1,000: 1 % of it is lost over a distance of 4, 2.5 of the base asset.
func TestQuantitiesOfARisk(t *testing.T) {
	t.Parallel()
	s, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Futures, Name: "X", PriceTick: decimal.New(1, 0), QuantityTick: decimal.New(1, -1),
		MaxNotional: decimal.New(1, 6)})
	if err != nil {
		t.Fatal(err)
	}
	v := View{Symbol: s, Equity: exchange.AmountOf(1_000), Last: 100e8}
	none := v
	none.Equity = exchange.Amount{}
	const percent = exchange.RateOne / 100
	for name, c := range map[string][2]exchange.Quantity{
		"a long stop": {v.QuantityAtRisk(percent, 96e8), 25}, "a short stop": {v.QuantityAtRisk(percent, 104e8), -25},
		"no distance": {v.QuantityAtRisk(percent, 100e8), 0},
		"no share":    {v.QuantityAtRisk(0, 96e8), 0}, "no equity": {none.QuantityAtRisk(percent, 96e8), 0},
		"a usual move": {v.QuantityByVolatility(percent, 4e8), 25}, "no move, no share": {v.QuantityByVolatility(0, 0), 0},
		"a negative move": {v.QuantityByVolatility(percent, -1), 0}, "no move": {v.QuantityByVolatility(percent, 0), 0},
		"no share of it":   {v.QuantityByVolatility(0, 4e8), 0},
		"no equity for it": {none.QuantityByVolatility(percent, 4e8), 0},
		"everything":       {v.AllIn(0), 100}, "everything with a fee of a quarter": {v.AllIn(exchange.RateOne / 4), 80}, "nothing": {none.AllIn(0), 0},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: want %d tenths, have %d", name, c[1], c[0])
		}
	}
	v.Fills = []KeyFill{{"a", 5}}
	if v.Filled("a") != 5 || v.Filled("b") != 0 {
		t.Errorf("want 5 filled under a alone, have %d, %d", v.Filled("a"), v.Filled("b"))
	}
	for _, c := range []struct {
		relation string
		value    float64
		want     bool
	}{{"above", 2, true}, {"above", 1, false}, {"below", 0, true}, {"below", 1, false}, {"beside", 5, false}} {
		have := Comparison("fast", c.value, c.relation, "slow", 1)
		if have != (Condition{"fast", Figure(c.value), c.relation + " slow 1", c.want}) {
			t.Errorf("%g %s 1: want %t, have %+v", c.value, c.relation, c.want, have)
		}
	}
	if nan := (v.Symbol.PriceFloat(0) - 0) / 1; Figure(nan) != "0" || Figure(1.0/3) != "0.3333333333" {
		t.Errorf("want ten digits, have %s", Figure(1.0/3))
	}
}

// The candle of another symbol is the one that opens with the strategy's own.
func TestTheCandleOfAnotherSymbol(t *testing.T) {
	t.Parallel()
	series := func(opens ...int64) *exchange.Candles {
		c := &exchange.Candles{Interval: exchange.Minute1}
		for _, open := range opens {
			c.Append(exchange.Candle{OpenMS: open, Close: exchange.Price(open)})
		}
		return c
	}
	v := View{Others: []Other{{Candles: series(60_000, 120_000, 180_000)}, {Candles: series(60_000, 180_000)}, {}, {Candles: series(60_000)}}}
	v.SetHistory(series(60_000, 120_000), 2)
	for n, want := range []exchange.Price{120_000, 0, 0, 0, 0} {
		if have, known := v.Other(n); have.Close != want || known != (want != 0) {
			t.Errorf("symbol %d: want the close %d, have %d, %t", n, want, have.Close, known)
		}
	}
}

// TestLibrariesOfAScript covers files that load one another, one that is missing, one that cannot be read, and names that are refused.
func TestLibrariesOfAScript(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.star": `load("b.star", "x")`, "b.star": `load('lib/c.star', "y") load("a.star", "z")`, "lib/c.star": "1",
		"large.star": strings.Repeat("#", 4<<20)}
	asked := map[string]int{}
	s := Source{File: "dir/main.star",
		Text: []byte(`load("b.star", "x"); load( 'a.star', "y"); load("missing.star", "z"); load("broken.star", "z"); load("large.star", "z")
		load("/abs.star", "z"); load("../out.star", "z"); load("text.txt", "z"); load("./d.star", "z"); preload("e.star")`)}
	s.Gather(func(name string) ([]byte, bool, error) {
		asked[name]++
		if name == "broken.star" {
			return nil, false, errors.New("permission denied")
		}
		text, found := files[name]
		return []byte(text), found, nil
	})
	var have []string
	for _, l := range s.Libraries {
		have = append(have, fmt.Sprintf("%s %s %d %.44s", l.Name, l.File, len(l.Text), l.Fault))
	}
	want := []string{"a.star dir/a.star 19 ", "b.star dir/b.star 43 ", "broken.star dir/broken.star 0 permission denied",
		"large.star dir/large.star 0 the libraries of a script may have at most 4", "lib/c.star dir/lib/c.star 1 "}
	if !reflect.DeepEqual(have, want) {
		t.Errorf("want\n%q, have\n%q", want, have)
	}
	if want := map[string]int{"a.star": 1, "b.star": 1, "missing.star": 1, "broken.star": 1, "large.star": 1, "lib/c.star": 1}; !reflect.DeepEqual(asked,
		want) {
		t.Errorf("want each read once, have %v", asked)
	}
	sums := map[string]bool{}
	for _, one := range []Source{{Text: []byte("a")}, {Text: []byte("b")}, {Text: []byte("a"), Libraries: []Library{{Name: "x", Text: []byte("1")}}},
		{Text: []byte("a"), Libraries: []Library{{Name: "y", Text: []byte("1")}}}, {Text: []byte("a"), Libraries: []Library{{Name: "x", Text: []byte("2")}}}} {
		sums[one.SHA256()] = true
	}
	if plain := (&Source{Text: []byte("a")}).SHA256(); len(sums) != 5 || plain != "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb" {
		t.Errorf("want the hash of the text, and another of each library, have %d, %s", len(sums), plain)
	}
	many := Source{Text: []byte{}}
	for n := range 65 {
		many.Text = fmt.Appendf(many.Text, "load(\"l%02d.star\", \"x\")\n", n)
	}
	many.Gather(func(string) ([]byte, bool, error) { return nil, true, nil })
	if len(many.Libraries) != 64 {
		t.Errorf("want 64 libraries at most, have %d", len(many.Libraries))
	}
}

func TestWhereAScriptFails(t *testing.T) {
	t.Parallel()
	cause := errors.New("undefined: x")
	for _, c := range []struct {
		err  SourceError
		want string
	}{{SourceError{File: "a.star", Err: cause}, "a.star: undefined: x"}, {SourceError{File: "a.star", Line: 3, Column: 7, Err: cause},
		"a.star:3:7: undefined: x"},
		{SourceError{File: "a.star", Line: 3, Column: 7, Err: cause, Trace: []string{"decide"}}, "a.star:3:7: undefined: x"},
		{SourceError{File: "a.star", Line: 3, Column: 7, Err: cause, Trace: []string{"decide", "size"}}, "a.star:3:7: undefined: x (called: decide > size)"}} {
		if have := c.err.Error(); have != c.want || !errors.Is(&c.err, cause) {
			t.Errorf("want %s, have %s", c.want, have)
		}
	}
}
