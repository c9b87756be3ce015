package script

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
	"botd/strategy/indicator"
	"botd/strategy/library"
)

func setting(t testing.TB, market exchange.Market) strategy.Setting {
	t.Helper()
	d := decimal.RequireFromString
	s, err := exchange.NewSymbol(exchange.SymbolSpec{Market: market, Name: "BTC-USDT", Base: "BTC", Quote: "USDT",
		PriceTick: d("0.1"), QuantityTick: d("0.001"), MinNotional: d("5"), MaxNotional: d("1000000")})
	if err != nil {
		t.Fatal(err)
	}
	return strategy.Setting{Market: market, Symbol: s, Interval: exchange.Hour1, Size: strategy.Size{Equity: exchange.RateOne / 2}}
}

// world shows a strategy one candle after the other.
type world struct {
	view    strategy.View
	candles *exchange.Candles
	plan    strategy.Plan
}

func newWorld(s strategy.Setting) *world {
	w := &world{candles: &exchange.Candles{Interval: s.Interval}}
	w.view = strategy.View{Symbol: s.Symbol, Interval: s.Interval, Equity: exchange.AmountOf(10_000), Size: s.Size}
	return w
}

func (w *world) price(text float64) exchange.Price {
	return exchange.Price(math.Round(text*10)) * w.view.Symbol.PriceTick
}

// close shows a candle that closes at a price and asks for a decision.
func (w *world) close(s strategy.Strategy, to float64) *strategy.Plan {
	n := w.candles.Len()
	open := w.price(to)
	if n > 0 {
		open = w.candles.Close[n-1]
	}
	p := w.price(to)
	c := exchange.Candle{OpenMS: int64(n) * int64(exchange.Hour1), Open: open, High: max(open, p), Low: min(open, p), Close: p, Volume: 10 + float64(n%7)}
	w.candles.Append(c)
	w.view.Last, w.view.NowMS = p, c.OpenMS+int64(exchange.Hour1)
	w.view.SetHistory(w.candles, n+1)
	s.Candle(&w.view)
	w.plan.Reset()
	s.Decide(&w.view, &w.plan)
	return &w.plan
}

func walk(n int) []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	prices, price := make([]float64, n), 50_000.0
	for i := range prices {
		price *= 1 + 0.01*r.NormFloat64()
		prices[i] = price
	}
	return prices
}

func written(t testing.TB, market exchange.Market, values strategy.Values, lines ...string) strategy.Strategy {
	t.Helper()
	s, err := Compile("my.star", []byte(strings.Join(lines, "\n")+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	made, err := s.Definition().New(setting(t, market), values)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

const emaCross = `
fast = param("fast", 12, min=1, help="candles of the fast average")
slow = param("slow", 26, min=2, help="candles of the slow average")
quick = ema(close, fast)
steady = ema(close, slow)
def decide(view):
    if cross_above(quick, steady):
        return hold("long", reason="crossed above")
    if cross_below(quick, steady):
        return hold("short", reason="crossed below")
`

func TestAScriptAndRulesDecideAsTheSameStrategyInGo(t *testing.T) {
	t.Parallel()
	place := setting(t, exchange.Futures)
	var inGo strategy.Strategy
	for _, d := range library.All() {
		if d.Name == "ema_cross" {
			made, err := d.New(place, strategy.Values{"fast": "7", "slow": "19", "mode": "long_short"})
			if err != nil {
				t.Fatal(err)
			}
			inGo = made
		}
	}
	inScript := written(t, exchange.Futures, strategy.Values{"fast": "7", "slow": "19"}, emaCross)
	inRules, err := Rules().New(place, strategy.Values{
		"entry_long": "cross_above(ema(close, 7), ema(close, 19))", "entry_short": "cross_below(ema(close, 7), ema(close, 19))"})
	if err != nil {
		t.Fatal(err)
	}
	one, two, three := newWorld(place), newWorld(place), newWorld(place)
	held, crosses := strategy.Target{}, 0
	for n, price := range walk(2_000) {
		want := one.close(inGo, price).Target
		asked := two.close(inScript, price).Target
		if asked.Kind != strategy.NoTarget {
			held = asked
			crosses++
		}
		if held != want {
			t.Fatalf("candle %d: want the script to hold %+v, have %+v", n, want, held)
		}
		if have := three.close(inRules, price).Target; have != want {
			t.Fatalf("candle %d: want the rules to hold %+v, have %+v", n, want, have)
		}
	}
	if crosses < 50 {
		t.Errorf("want many crosses, have %d", crosses)
	}
}

func TestSeriesEqualTheIndicators(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil,
		`spread = (ema(close, 5) - sma(hl2, period=9)) / close * -2`,
		`smooth = wma(rsi(close, 14), 3)`,
		`bands = bollinger(close, 20, deviations=2.5)`,
		`before = close[3]`,
		`def decide(view):`,
		`    print(spread[0], smooth[0], bands.upper[0], bands.lower[1], before[0], close[3], -before, 1 - close)`)
	w := newWorld(setting(t, exchange.Futures))
	ema, sma, rsi, wma, bands := indicator.NewEMA(5), indicator.NewMean(9), indicator.NewRSI(14), indicator.NewWMA(3), indicator.NewBollinger(20, 2.5)
	var lowers, closes []float64
	for n, price := range walk(300) {
		text := w.close(s, price).Reason
		c := w.view.Symbol.PriceFloat(w.view.Close())
		hl2 := (w.view.Symbol.PriceFloat(w.view.Candle().High) + w.view.Symbol.PriceFloat(w.view.Candle().Low)) / 2
		e, _ := ema.Next(c)
		m, _ := sma.Next(hl2)
		upper, _, lower, _ := bands.Next(c)
		lowers, closes = append(lowers, lower), append(closes, c)
		strength, ok := rsi.Next(c)
		smooth := 0.0
		if ok {
			smooth, _ = wma.Next(strength)
		}
		if n < 40 {
			continue
		}
		want := []float64{(e - m) / c * -2, smooth, upper, lowers[n-1], closes[n-3], closes[n-3], -closes[n-3], 1 - c}
		for i, field := range strings.Fields(text) {
			var have float64
			if _, err := fmt.Sscan(field, &have); err != nil || math.Abs(have-want[i]) > 1e-9*math.Abs(want[i]) {
				t.Fatalf("candle %d, value %d: want %v, have %s", n, i, want[i], field)
			}
		}
	}
}

func TestLongerCandlesAppearWhenTheyHaveClosed(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil,
		`day = candles("4h")`,
		`trend = ema(day.close, 3)`,
		`width = atr(day, 2)`,
		`before = day.high[1]`,
		`apart = close - trend`,
		`def decide(view):`,
		`    print(day.close[0], trend[0], trend[1], width[0], before[0], apart[0], apart[1])`)
	w := newWorld(setting(t, exchange.Futures))
	ema, atr := indicator.NewEMA(3), indicator.NewATR(2)
	var trends, highs []float64
	var width, high, low, shut float64
	apart, prices := []float64{}, walk(200)
	for n, price := range prices {
		text := w.close(s, price).Reason
		f := w.view.Symbol.PriceFloat
		if n%4 == 0 {
			high, low = 0, math.Inf(1)
		}
		high, low = max(high, f(w.view.Candle().High)), min(low, f(w.view.Candle().Low))
		if n%4 == 3 {
			shut = f(w.view.Close())
			e, _ := ema.Next(shut)
			width, _ = atr.Next(high, low, shut)
			trends, highs = append(trends, e), append(highs, high)
		}
		if len(trends) < 4 {
			continue
		}
		apart = append(apart, f(w.view.Close())-trends[len(trends)-1])
		if len(apart) < 2 {
			continue
		}
		want := []float64{shut, trends[len(trends)-1], trends[len(trends)-2], width, highs[len(highs)-2], apart[len(apart)-1], apart[len(apart)-2]}
		for i, field := range strings.Fields(text) {
			var have float64
			if _, err := fmt.Sscan(field, &have); err != nil || math.Abs(have-want[i]) > 1e-9*math.Abs(want[i])+1e-9 {
				t.Fatalf("candle %d, value %d: want %v, have %s", n, i, want[i], field)
			}
		}
	}
}

func TestAMissingValueIsNeitherAboveNorBelow(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil, `slow = sma(close, 50)`, `def decide(view):`,
		`    print(slow < 1, slow > 1, slow == slow, slow != 1, slow <= close, known(slow), close[200] > 0, 1 < 2, "a" < "b", 2 == 2.0)`)
	w := newWorld(setting(t, exchange.Futures))
	if want, have := "False False False False False False False True True True", w.close(s, 100).Reason; have != want {
		t.Errorf("want %s, have %s", want, have)
	}
	for range 49 {
		w.close(s, 100)
	}
	if want, have := "False True True True True True False True True True", w.close(s, 100).Reason; have != want {
		t.Errorf("want %s, have %s", want, have)
	}
}

func TestAPlanIsRoundedToTicks(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil, `def decide(view):`,
		`    if view.position == 0:`,
		`        return plan(orders=[order("low", "buy", close * 0.9999, 0.1 + 0.2), order("high", "sell", 100.01, "0.0019", post_only=True, `+
			`stop_price=100.06)],`,
		`                    exits=[order("out", "sell", 120, 1)], stop_loss="2%", take_profit=130.04, leverage=3, reason="r", remember={"n": 7})`,
		`    return plan(target=quantity(-0.0019))`)
	w := newWorld(setting(t, exchange.Futures))
	have := w.close(s, 100).Clone()
	symbol := w.view.Symbol
	p := func(text string) exchange.Price { p, _ := symbol.Price(decimal.RequireFromString(text)); return p }
	q := func(text string) exchange.Quantity {
		q, _ := symbol.Quantity(decimal.RequireFromString(text))
		return q
	}
	want := &strategy.Plan{OrdersSet: true, ExitsSet: true, Leverage: 3, Reason: "r",
		Orders: []strategy.DesiredOrder{{Key: "low", Side: exchange.Buy, Price: p("99.9"), Quantity: q("0.3")},
			{Key: "high", Side: exchange.Sell, Price: p("100.1"), Quantity: q("0.001"), PostOnly: true, StopPrice: p("100.1")}},
		Exits:      []strategy.DesiredOrder{{Key: "out", Side: exchange.Sell, Price: p("120"), Quantity: q("1")}},
		Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}, TakeProfit: strategy.Distance{Price: p("130")}}}
	if !want.Equal(have) || have.Reason != "r" {
		t.Errorf("want %+v\nhave %+v", want, have)
	}
	if n, _ := have.Remembered().Get("n"); n != 7 {
		t.Errorf("want 7 remembered, have %d", n)
	}
	w.view.Position.Quantity = q("1")
	if have := w.close(s, 100).Target; have.Quantity != q("-0.001") {
		t.Errorf("want the quantity cut towards zero, have %+v", have)
	}
}

func TestTargetsHaveTheSizeOfTheScript(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script string
		want   strategy.Target
	}{
		{`hold("long")`, strategy.Target{Kind: strategy.ByEquity, Share: exchange.RateOne / 2}},
		{`hold("short", "why")`, strategy.Target{Kind: strategy.ByEquity, Share: -exchange.RateOne / 2}},
		{`hold("flat")`, strategy.Flat()},
		{`plan(target=size(-1))`, strategy.Target{Kind: strategy.ByEquity, Share: -exchange.RateOne / 2}},
		{`plan(target=equity("25%"))`, strategy.Target{Kind: strategy.ByEquity, Share: exchange.RateOne / 4}},
		{`plan(target=quote(-1500))`, strategy.Target{Kind: strategy.ByQuote, Quote: exchange.AmountOf(-1500)}},
		// 10,000 USDT, 1 % at risk over 5 USDT: 20.
		{`plan(target=risk(0.01, stop=close - 5))`, strategy.Target{Kind: strategy.ByQuantity, Quantity: 20_000}},
		{`plan(target=risk("1%", stop=105))`, strategy.Target{Kind: strategy.ByQuantity, Quantity: -20_000}},
	} {
		s := written(t, exchange.Futures, nil, "def decide(view):", "    return "+c.script)
		if have := newWorld(setting(t, exchange.Futures)).close(s, 100).Target; have != c.want {
			t.Errorf("%s: want %+v, have %+v", c.script, c.want, have)
		}
	}
}

func TestStateIsWrittenOnlyByCandle(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil, `def candle(view):`, `    if close > open:`, `        state["ups"] = state.get("ups", 0) + 1`,
		`def decide(view):`, `    print(state.get("ups", 0))`)
	w := newWorld(setting(t, exchange.Futures))
	for i, price := range []float64{100, 101, 99, 103} {
		want := []string{"0", "1", "1", "2"}[i]
		if have := w.close(s, price).Reason; have != want {
			t.Errorf("candle %d: want %s rising, have %s", i, want, have)
		}
	}
	w.plan.Reset()
	s.Decide(&w.view, &w.plan)
	if w.plan.Reason != "2" {
		t.Errorf("want the same when asked again, have %s", w.plan.Reason)
	}
}

// faultOf returns a script's error: from compiling, building, or calling it.
func faultOf(t *testing.T, market exchange.Market, source string) (text string) {
	t.Helper()
	s, err := Compile("my.star", []byte(source))
	if err != nil {
		return err.Error()
	}
	made, err := s.Definition().New(setting(t, market), nil)
	if err != nil {
		return err.Error()
	}
	defer func() {
		if cause := recover(); cause != nil {
			text = fmt.Sprint(cause)
		}
	}()
	newWorld(setting(t, market)).close(made, 777)
	return ""
}

func TestErrorsHaveTheirPosition(t *testing.T) {
	t.Parallel()
	const decide = "def decide(view):\n    "
	for _, c := range []struct{ source, want string }{
		{"def decide(view)\n    pass\n", "my.star:2:1: got newline, want ':'"},
		{"x = emaa(close)\n" + decide + "pass\n", "my.star:1:5: emaa is not defined"},
		{"x = 1\n", "my.star: has no function decide"},
		{"decide = 3\n", "my.star: decide is a int, not a function"},
		{"def decide():\n    pass\n", "my.star:1:1: decide takes one parameter"},
		{"x = ema(close, 0)\n" + decide + "pass\n", "my.star:1:8: ema: period 0 is not between 1 and 100000"},
		{"x = ema(close, 5, 6)\n" + decide + "pass\n", "ema: 2 parameters given, it has 1"},
		{"x = ema(close, length=5)\n" + decide + "pass\n", `ema has no parameter "length"`},
		{"x = ema(close, \"a\")\n" + decide + "pass\n", "ema: period is a number, not string"},
		{`x = param("a", 5, max=3)` + "\n" + decide + "pass\n", `param("a"): its default 5 is above 3`},
		{`x = param("A b", 5)` + "\n" + decide + "pass\n", "a name consists of a-z, 0-9 and _"},
		{decide + "return ema(close, 5)\n", "my.star:2:15: ema(...) defines an indicator"},
		{"def f(x):\n    return x / 0\n" + decide + "f(1)\n", "my.star:2:14: floating-point division by zero (called: my.star:4:6 in decide > " +
			"my.star:2:14 in f)"},
		{decide + "return 7\n", "my.star:1:1: decide returned int"},
		{decide + "return view.postion\n", "my.star:2:16: view has no .postion field or method"},
		{decide + `state["a"] = 1` + "\n", "state can be written only in candle(view)"},
		{"def candle(view):\n    state[\"a\"] = []\n" + decide + "pass\n", "state stores numbers, strings"},
		{"all = []\n" + decide + "all.append(1)\n", "cannot append to frozen list"},
		{decide + `return hold("up")` + "\n", `hold("up"): the side is`},
		{decide + `return plan(target=size(2))` + "\n", "size(2): the sign is"},
		{decide + `return plan(target=1)` + "\n", "target is size(...)"},
		{decide + `return plan(target=size(), orders=[])` + "\n", "mutually exclusive"},
		{decide + `return plan(orders=[1])` + "\n", "contains a int"},
		{decide + `return plan(orders=[order("a", "buy", 1, 1), order("a", "buy", 2, 1)])` + "\n", `two orders have the key "a"`},
		{decide + `return plan(orders=[order("a", "bye", 1, 1)])` + "\n", `side "bye" is not`},
		{decide + `return plan(orders=[order("a", "buy", -1, 1)])` + "\n", "-1 is not a price of BTC-USDT"},
		{decide + `return plan(orders=[order("a", "buy", 1, 0.0001)])` + "\n", "a quantity of at least a tick"},
		{decide + `return plan(stop_loss="-2%")` + "\n", "is not a percentage above zero"},
		{decide + `return plan(remember={"a": 1.5})` + "\n", "remember stores integers"},
		{decide + `return plan(target=quantity(close[200]))` + "\n", "has no value yet"},
		{"b = bollinger(close)\n" + decide + "return b > 1\n", "bollinger has several values: write bollinger(...).upper or .middle"},
		{decide + "return close[256]\n", "from 0 (the newest) to 255"},
		{decide + "return {close: 1}\n", "a series cannot be a key"},
		{decide + "load(\"a\", \"b\")\n", "my.star:2:5: load(...) belongs at the top of the file"},
		{"load(\"a\", \"b\")\n" + decide + "pass\n", "my.star:1:6: load(\"a\"): a library is a .star file in the script's folder"},
		{"while True:\n    pass\n", "does not support while loops"},
		{"x = 1 if close > open else 2\n" + decide + "pass\n", "my.star:1:16: a series has no value yet at the top of the file"},
		{"def f():\n    return 1 if close > open and close > 3 else 2\nx = f()\n" + decide + "pass\n", "a series has no value yet at the top of the file"},
		{"x = hour(zone = \"Mars\")\n" + decide + "pass\n", "unknown time zone \"Mars\""},
		{"x = session(\"9\", \"16:00\")\n" + decide + "pass\n", "\"9\" is not a time of day"},
		{decide + "return plan(stop_loss = trailing(3))\n", "trailing: for parameter distance: got int, want string"},
		{decide + "return plan(exits = targets([(\"2%\", \"80%\"), (\"4%\", \"40%\")]))\n", "at most 100% in total"},
		{"x = hold(\"long\")\n" + decide + "pass\n", "hold(...) belongs in decide"},
		{"x = candles(\"30m\")\n" + decide + "pass\n", "candles of 30m cannot be built from candles of 1h"},
		{"x = candles(\"2x\")\n" + decide + "pass\n", "candles(\"2x\"): "},
		{decide + "x = candles(\"1d\")\n", "candles(...) belongs at the top"},
		{"warmup(0)\n" + decide + "pass\n", "from 1 to 100000"},
	} {
		if have := faultOf(t, exchange.Futures, c.source); !strings.Contains(have, c.want) {
			t.Errorf("%s\nwant %s\nhave %s", c.source, c.want, have)
		}
	}
	if have := faultOf(t, exchange.Spot, decide+`return hold("short")`+"\n"); !strings.Contains(have, "spot has no short positions") {
		t.Errorf("have %s", have)
	}
}

func TestParametersComeFromTheYAML(t *testing.T) {
	t.Parallel()
	s, err := Compile("my.star", []byte(`
a = param("a", 5, min=1, max=9, help="whole")
b = param("b", 0.5)
c = param("c", "up", oneof=["up", "down"])
d = param("d", True)
def decide(view):
    print(a, b, c, d)
`))
	if err != nil {
		t.Fatal(err)
	}
	definition := s.Definition()
	if p := definition.Parameters; len(p) != 4 || p[0].Kind != "int" || p[0].Max != "9" || p[0].Help != "whole" || p[1].Kind != "decimal" ||
		p[1].Default != "0.5" || p[0].Min != "1" ||
		p[2].OneOf[1] != "down" || p[3].Default != "true" {
		t.Errorf("have %+v", p)
	}
	made, err := definition.New(setting(t, exchange.Spot), strategy.Values{"a": "7", "b": "25%", "c": "down", "d": "false"})
	if err != nil {
		t.Fatal(err)
	}
	if want, have := "7 0.25 down False", newWorld(setting(t, exchange.Spot)).close(made, 1).Reason; have != want {
		t.Errorf("want %s, have %s", want, have)
	}
	for name, value := range map[string]string{"a": "10", "c": "left", "e": "1"} {
		var at *strategy.ValueError
		if _, err := definition.New(setting(t, exchange.Spot), strategy.Values{name: value}); !errors.As(err, &at) || at.Parameter != name {
			t.Errorf("%s: %s: want an error of the parameter, have %v", name, value, err)
		}
	}
}

func TestWarmupIsMeasured(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lines string
		want  int
	}{
		{"x = 1", 1},
		{"x = sma(close, 50)", 150},
		{"x = sma(rsi(close, 14), 6)", 3 * 20}, // rsi at candle 15, the sixth of them at 20
		{"x = sma(close, 600)", 1600},
		{`x = sma(candles("4h").close, 10)`, 3 * 43}, // three candles before the first whole one
		{`x = sma(candles("1d").hl2, 600)`, 23 + 24*600 + 24*1000},
		{"warmup(77)\nx = sma(close, 50)", 77},
	} {
		if have := written(t, exchange.Futures, nil, c.lines, "def decide(view):", "    pass").Warmup(); have != c.want {
			t.Errorf("%s: want %d candles, have %d", c.lines, c.want, have)
		}
	}
}

func BenchmarkDecision(b *testing.B) {
	place := setting(b, exchange.Futures)
	kinds := map[string]strategy.Strategy{}
	for _, d := range library.All() {
		if d.Name == "ema_cross" {
			kinds["go"], _ = d.New(place, strategy.Values{"mode": "long_short"})
		}
	}
	kinds["script"] = written(b, exchange.Futures, nil, emaCross)
	rules, err := Rules().New(place, strategy.Values{
		"entry_long": "cross_above(ema(close, 12), ema(close, 26))", "entry_short": "cross_below(ema(close, 12), ema(close, 26))"})
	if err != nil {
		b.Fatal(err)
	}
	kinds["rules"] = rules
	prices := walk(4096)
	for _, name := range []string{"go", "script", "rules"} {
		b.Run(name, func(b *testing.B) {
			w, s := newWorld(place), kinds[name]
			for _, p := range prices[:100] {
				w.close(s, p)
			}
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				w.candles.Close[w.candles.Len()-1] = w.price(prices[n%len(prices)])
				n++
				s.Candle(&w.view)
				w.plan.Reset()
				s.Decide(&w.view, &w.plan)
			}
		})
	}
}
