package script

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// withOther shows a strategy another symbol, whose candles close at the given prices; 0 is no candle.
func (w *world) withOther(t *testing.T, s strategy.Strategy, own, other []float64) (reasons []string) {
	t.Helper()
	symbol := *w.view.Symbol
	symbol.Name, symbol.PriceScale = "ETH-USDT", w.view.Symbol.PriceScale+1
	candles := &exchange.Candles{Interval: exchange.Hour1}
	w.view.Others = []strategy.Other{{Symbol: &symbol, Candles: candles}}
	for i := range own {
		if p := 10 * w.price(other[i]); p != 0 {
			candles.Append(exchange.Candle{OpenMS: int64(i) * int64(exchange.Hour1), Open: p, High: p, Low: p, Close: p, Volume: 1})
		}
		reasons = append(reasons, w.close(s, own[i]).Reason)
	}
	return reasons
}

func TestAScriptReadsTheCandlesOfAnotherSymbol(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil, `
ether = candles("1h", symbol = "ETH-USDT")
four = candles("4h", symbol = "ETH-USDT", market = "futures")
same = candles("1h", symbol = "BTC-USDT")
ratio = close / ether.close
mean = sma(ether.close, 2)
up = ether.close > ether.close[1]

def decide(view):
    print("%g %g %g %g %s %g" % (ether.close, four.close, ratio, mean, up[0] == 1, same.close))
`)
	if have := strategy.OthersOf(s); len(have) != 1 || have[0].Name != "ETH-USDT" || have[0].Market != exchange.Futures {
		t.Fatalf("want one other symbol, have %v", have)
	}
	have := newWorld(setting(t, exchange.Futures)).withOther(t, s, []float64{100, 200, 300, 400, 500, 600}, []float64{10, 20, 0, 40, 50, 60})
	want := []string{
		"10.0 nan 10.0 nan False 100.0", "20.0 nan 10.0 15.0 True 200.0", // no candle closed with the third one
		"20.0 nan 15.0 15.0 True 300.0", "40.0 40.0 10.0 30.0 True 400.0", "50.0 40.0 10.0 45.0 True 500.0", "60.0 40.0 10.0 55.0 True 600.0",
	}
	for i := range want {
		if have[i] != want[i] {
			t.Errorf("candle %d: want %q, have %q", i, want[i], have[i])
		}
	}
}

func TestRulesReadTheCandlesOfAnotherSymbol(t *testing.T) {
	t.Parallel()
	place := setting(t, exchange.Futures)
	made, err := Rules().New(place, strategy.Values{"entry_long": `close > 150 and candles("1h", symbol = "ETH-USDT").close > 15`})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(place)
	w.withOther(t, made, []float64{100, 200}, []float64{20, 10})
	if w.plan.Target.Sign() != 0 {
		t.Error("want nothing held while the other symbol is below")
	}
	w = newWorld(place)
	w.withOther(t, made, []float64{100, 200}, []float64{10, 20})
	if w.plan.Target.Sign() != 1 {
		t.Error("want it long while both are above")
	}
}

func TestCandlesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for _, letter := range "ABCDEFGHIJKLMNOPQRSTU" {
		many.WriteString("candles(\"1h\", symbol = \"" + string(letter) + "-USDT\")\n")
	}
	for _, c := range []struct{ text, want string }{
		{`candles("1h", market = "spot")`, "symbol names whose candles they are"},
		{`candles("1h", symbol = "ETH-USDT", market = "options")`, "market is spot or futures"},
		{`candles("5m", symbol = "ETH-USDT")`, "cannot be built from candles of 1h"},
		{many.String(), "candles of 21 other symbols are read; at most 20 are allowed"},
	} {
		compiled, err := Compile("my.star", []byte(c.text+"\ndef decide(view):\n    return None\n"))
		if err == nil {
			_, err = compiled.Definition().New(setting(t, exchange.Futures), nil)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40s: want %q, have %v", c.text, c.want, err)
		}
	}
}

func TestATextTakesTheNewestValueOfASeries(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil, `
average = sma(close, 2)

def decide(view):
    print("%g %s %d|%g" % (close, average, close, float(average)), str(close), int(close) + 1, 7 % 4)
`)
	w := newWorld(setting(t, exchange.Futures))
	w.close(s, 100)
	if have := w.close(s, 200.5).Reason; have != "200.5 150.25 200|150.25 200.5 201 3" {
		t.Errorf("have %q", have)
	}
	if _, err := Compile("my.star", []byte("n = int(close)\ndef decide(view):\n    return None\n")); err == nil ||
		!strings.Contains(err.Error(), "has no value yet") {
		t.Errorf("want a value at the top refused, have %v", err)
	}
}

// Later prices and stops do not matter.
func TestRiskSizedPositionKeepsEntrySize(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil, "def decide(view):\n    return plan(target = risk(\"1%\", stop = close * 0.9))")
	w := newWorld(setting(t, exchange.Futures))
	asked := w.close(s, 100).Target.Quantity
	if asked != 10_000 { // 1 % of 10,000 over a distance of 10
		t.Errorf("want 10, have %d", asked)
	}
	w.view.Position = strategy.Position{Quantity: asked / 4, SinceMS: 1} // a part is filled
	for _, price := range []float64{120, 150} {
		if have := w.close(s, price).Target.Quantity; have != asked {
			t.Errorf("at %g: want %d as asked for, have %d", price, asked, have)
		}
		w.view.Position.Quantity = asked
	}
	w.view.Position = strategy.Position{}
	if have := w.close(s, 200).Target.Quantity; have != asked/2 {
		t.Errorf("after it: want %d, have %d", asked/2, have)
	}
	w.view.Position = strategy.Position{Quantity: 7, SinceMS: 9} // from before a start
	again := written(t, exchange.Futures, nil, "def decide(view):\n    return plan(target = risk(\"1%\", stop = close * 0.9))")
	if have := w.close(again, 200).Target.Quantity; have != 7 {
		t.Errorf("after a start: want what is held, 7, have %d", have)
	}
	w.view.Position = strategy.Position{Quantity: -7, SinceMS: 9}
	if have := w.close(again, 200).Target.Quantity; have != asked/2 {
		t.Errorf("from the other side: want %d, have %d", asked/2, have)
	}
}

func TestAnOrderTakesAQuantityInQuoteOrEquity(t *testing.T) {
	t.Parallel()
	s := written(t, exchange.Futures, nil, `def decide(view):
    return plan(orders = [order("a", "buy", close, quote(500)), order("b", "buy", close, equity("10%")), order("c", "buy", close, quantity(2))])`)
	plan := newWorld(setting(t, exchange.Futures)).close(s, 100)
	for i, want := range []exchange.Quantity{5_000, 10_000, 2_000} {
		if have := plan.Orders[i].Quantity; have != want {
			t.Errorf("order %d: want %d, have %d", i, want, have)
		}
	}
}

// TestErrorUnrelatedToShortOmitsIt must not be attributed to the short position of the rehearsal.
func TestErrorUnrelatedToShortOmitsIt(t *testing.T) {
	t.Parallel()
	compiled, err := Compile("my.star", []byte("def decide(view):\n    return [][1]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := compiled.Definition().New(setting(t, exchange.Futures), nil); err == nil || strings.Contains(err.Error(), "synthetic short") {
		t.Errorf("want the error alone, have %v", err)
	}
}
