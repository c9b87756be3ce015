package process

import (
	"fmt"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// across is a strategy that reads the candles of two other symbols.
type across struct{ last string }

func (*across) Warmup() int { return 2 }

func (*across) ReadsOthers() []exchange.SymbolKey {
	return []exchange.SymbolKey{{Market: exchange.Futures, Name: "ETH-USDT"}, {Market: exchange.Spot, Name: "SOL-USDT"}}
}

func (a *across) Candle(v *strategy.View) {
	for n := range 2 {
		candle, known := v.Other(n)
		a.last += fmt.Sprint(known, candle)
		if known {
			a.last += fmt.Sprint(v.Others[n].Symbol.Name, v.Others[n].Symbol.PriceFloat(candle.Close))
		}
	}
	a.last = a.last[max(0, len(a.last)-900):]
}

func (a *across) Decide(_ *strategy.View, p *strategy.Plan) { p.Reason = a.last }

// others are candles of other symbols for tasks; one of them lacks every third candle.
func others(t *testing.T, tasks []strategy.Task) {
	ether, sol := *symbolOf(t), *symbolOf(t)
	ether.Name, sol.Market, sol.Name, sol.PriceScale = "ETH-USDT", exchange.Spot, "SOL-USDT", 4
	all := []strategy.Other{{Symbol: &ether, Candles: &exchange.Candles{}}, {Symbol: &sol, Candles: &exchange.Candles{}}}
	for i := range tasks {
		own := tasks[i].Candles.At(i)
		for n := range all {
			candle := own
			candle.Low, candle.Volume = own.Low-exchange.Price(n+1), float64(i)
			if n == 0 || i%3 != 0 {
				all[n].Candles.Append(candle)
			}
		}
		// The engine shows them as of then; a backtest shows all of them.
		now := []strategy.Other{{Symbol: &ether, Candles: all[0].Candles.Slice(0, all[0].Candles.Len())}, all[1]}
		tasks[i].View.Others, tasks[i].Before.Others = now, now
	}
}

func TestAProcessSeesTheCandlesOfOtherSymbols(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 200)
	others(t, tasks)
	there, err := NewRemote(serving(func(*Hello) (strategy.Strategy, []strategy.Parameter, error) { return &across{}, nil, nil }),
		NewHello("one", setting, nil), setting)
	if err != nil {
		t.Fatal(err)
	}
	defer there.Kill("the test is over")
	if have := strategy.OthersOf(there); len(have) != 2 || have[1] != (exchange.SymbolKey{Market: exchange.Spot, Name: "SOL-USDT"}) {
		t.Errorf("want two other symbols, have %v", have)
	}
	wantSame(t, tasks, &across{}, there)
}

func TestAProcessReadsEachOtherSymbolOnce(t *testing.T) {
	t.Parallel()
	setting, _ := views(t, 1)
	r := &Remote{hello: NewHello("one", setting, nil), symbol: setting.Symbol}
	r.welcome.Others = []pairName{{Symbol: "BTC-USDT"}, {Symbol: "ETH-USDT"}, {exchange.Futures, "ETH-USDT"}}
	if have := r.ReadsOthers(); len(have) != 1 || have[0].Name != "ETH-USDT" {
		t.Errorf("want its own symbol and what is named twice left out, have %v", have)
	}
}
