package endtoend

import (
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/cmd/botd/cli/connect"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/runtime/worker/isolated"
	"botd/strategy"
	"botd/strategy/script"
)

// candlesOfATrend are generated candles that go up and down.
func candlesOfATrend(symbol *exchange.Symbol, count int) *exchange.Candles {
	candles := &exchange.Candles{Interval: exchange.Hour1}
	open := 50_000 * symbol.PriceTick
	for i := range count {
		at := float64(i)
		shut := open + exchange.Price(80*math.Sin(at/17)+40*math.Sin(at/5))*symbol.PriceTick
		candles.Append(exchange.Candle{OpenMS: int64(i+1) * int64(exchange.Hour1), Open: open, Close: shut, High: max(open, shut) + 9*symbol.PriceTick,
			Low: min(open, shut) - 7*symbol.PriceTick, Volume: 10 + math.Sin(at), QuoteVolume: 1e6 / 3, Trades: int64(i), TakerBase: 1.1, TakerQuote: 2.2})
		open = shut
	}
	return candles
}

// moods are external columns: one that swings, known from the third day on, and one that nobody reads.
type moods struct{}

func (moods) Names() []string { return []string{"mood", "unread"} }

func (moods) At(name string, atMS int64) (value float64, known bool) {
	hours := float64(atMS) / float64(exchange.Hour1)
	return math.Sin(hours/23) / 3, name == "mood" && hours > 72
}

// isolatedPair returns a script in this process, and the same one in a separate process.
func isolatedPair(t testing.TB, here, there strategy.Definition, values strategy.Values) (pair [2]strategy.Strategy, symbol *exchange.Symbol) {
	t.Helper()
	for _, s := range sim.DefaultSymbols() {
		if s.Market == exchange.Futures && s.Name == "BTC-USDT" {
			symbol = s
		}
	}
	setting := strategy.Setting{Market: exchange.Futures, Symbol: symbol, Interval: exchange.Hour1, Size: strategy.Size{Equity: exchange.RateOne / 2},
		Columns: moods{}}
	for i, definition := range []strategy.Definition{here, there} {
		made, err := definition.New(setting, values)
		if err != nil {
			t.Fatal(err)
		}
		pair[i] = made
	}
	t.Cleanup(func() { pair[1].(interface{ Kill(string) }).Kill("the test is over") })
	return pair, symbol
}

// decisions returns a task for each candle. The position follows the target of the previous decision.
func decisions(symbol *exchange.Symbol, candles *exchange.Candles, s strategy.Strategy) (results []strategy.Result) {
	view := strategy.View{Symbol: symbol, Interval: exchange.Hour1, Equity: exchange.AmountOf(10_000), Size: strategy.Size{Equity: exchange.RateOne / 2},
		Leverage: 3}
	for i := range candles.Len() {
		before := view.Snapshot()
		view.Last, view.Version = candles.Close[i], uint64(i+1)
		task := strategy.Task{View: view.Snapshot(), Before: before, Candles: *candles.Slice(0, i+1), From: i, To: i + 1, Each: i, Fresh: i == 0}
		r := task.Perform(s)
		results = append(results, r)
		view.Position = strategy.Position{Quantity: exchange.Quantity(r.Plan.Target.Sign()) * 10 * symbol.QuantityTick,
			EntryPrice: symbol.PriceAmount(candles.Close[i]), SinceMS: candles.OpenMS[i]}
	}
	return results
}

// TestScriptDecidesTheSameInSeparateProcess runs the library's script and rules over generated candles,
// here and in processes of this binary.
func TestScriptDecidesTheSameInSeparateProcess(t *testing.T) {
	t.Parallel()
	var processes isolated.Processes
	source, err := os.ReadFile("../../../configs/library/trend.star")
	if err != nil {
		t.Fatal(err)
	}
	here, err := connect.Compiled(&strategy.Source{File: "trend.star", Text: source})
	if err != nil {
		t.Fatal(err)
	}
	there, err := processes.Script(&strategy.Source{File: "trend.star", Text: source})
	if err != nil {
		t.Fatal(err)
	}
	moody := []byte(`mood = column("mood")
calm = sma(mood, 5)

def decide(view):
    if mood[0] > 0.1 and calm[0] > 0:
        return hold("long", reason = "a mood of %s" % mood[0])
    if mood[0] < 0:
        return hold("flat", reason = "a mood of %s" % mood[0])
`)
	hereMoody, err := connect.Compiled(&strategy.Source{File: "moody.star", Text: moody})
	if err != nil {
		t.Fatal(err)
	}
	thereMoody, err := processes.Script(&strategy.Source{File: "moody.star", Text: moody})
	if err != nil {
		t.Fatal(err)
	}
	loading := &strategy.Source{File: "loading.star", Text: []byte("load(\"lib/trends.star\", \"up\", \"of\")\nrises = up(5, 20)\n\n" +
		"def decide(view):\n    return of(rises)\n"), Libraries: []strategy.Library{{Name: "lib/trends.star", File: "lib/trends.star",
		Text: []byte("def up(fast, slow):\n    return ema(close, fast) > ema(close, slow) and close > open\n\n" +
			"def of(condition):\n    return hold(\"long\") if condition else hold(\"flat\")\n")}}}
	hereLoading, err := connect.Compiled(loading)
	if err != nil {
		t.Fatal(err)
	}
	thereLoading, err := processes.Script(loading)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name        string
		here, there strategy.Definition
		values      strategy.Values
	}{
		{"script", here, there, nil},
		{"script with columns", hereMoody, thereMoody, nil},
		{"script with a library", hereLoading, thereLoading, nil},
		{"rules", script.Rules(), processes.Rules(), strategy.Values{"entry_long": "cross_above(ema(close, 5), ema(close, 20))",
			"exit_long": "rsi(close, 14) > 65 or view.position > 0 and close < sma(close, 30)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			pair, symbol := isolatedPair(t, c.here, c.there, c.values)
			candles := candlesOfATrend(symbol, 1_500)
			if one, two := pair[0].Warmup(), pair[1].Warmup(); one != two {
				t.Errorf("warm-up: want %d as here, have %d", one, two)
			}
			want, have := decisions(symbol, candles, pair[0]), decisions(symbol, candles, pair[1])
			targets := map[strategy.Target]bool{}
			for i := range want {
				targets[want[i].Plan.Target] = true
				if diff := cmp.Diff(want[i], have[i], cmp.AllowUnexported(strategy.Plan{}, strategy.Memory{}, exchange.Amount{})); diff != "" {
					t.Fatalf("decision %d (-here +there):\n%s", i, diff)
				}
			}
			if len(targets) < 2 {
				t.Errorf("want decisions that change, have %v", targets)
			}
		})
	}
}

// BenchmarkScript measures a decision of the library's script, in this process and in a separate one.
func BenchmarkScript(b *testing.B) {
	source, err := os.ReadFile("../../../configs/library/trend.star")
	if err != nil {
		b.Fatal(err)
	}
	here, err := connect.Compiled(&strategy.Source{File: "trend.star", Text: source})
	if err != nil {
		b.Fatal(err)
	}
	there, err := new(isolated.Processes).Script(&strategy.Source{File: "trend.star", Text: source})
	if err != nil {
		b.Fatal(err)
	}
	pair, symbol := isolatedPair(b, here, there, nil)
	for i, name := range []string{"here", "process"} {
		b.Run(name, func(b *testing.B) {
			candles := candlesOfATrend(symbol, 1_000)
			for b.Loop() {
				decisions(symbol, candles, pair[i])
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1_000, "us/decision")
		})
	}
}
