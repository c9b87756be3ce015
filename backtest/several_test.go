package backtest_test

import (
	"testing"

	"github.com/shopspring/decimal"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/runtime/engine"
)

// coin returns a symbol of another name with the same rules.
func coin(t testing.TB, market exchange.Market, base string) *exchange.Symbol {
	t.Helper()
	s, err := exchange.NewSymbol(exchange.SymbolSpec{
		Market:               market,
		Name:                 base + "-USDT",
		Base:                 base,
		Quote:                "USDT",
		PriceTick:            decimal.RequireFromString("0.1"),
		QuantityTick:         decimal.RequireFromString("0.001"),
		MinNotional:          decimal.NewFromInt(5),
		MaxNotional:          decimal.NewFromInt(100_000_000),
		Tradable:             true,
		Cancelable:           true,
		FundingIntervalHours: 8,
		Brackets:             []exchange.Bracket{{Max: exchange.AmountOf(100_000_000), MarginRatio: 400_000, MaxLeverage: 50}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// legOf returns a script on a symbol's candles.
func legOf(name string, recorded *tape.Tape, script *scripted) backtest.Leg {
	return backtest.Leg{
		Kind:     "scripted",
		Tape:     recorded,
		Strategy: engine.StrategyConfig{Name: name, Symbol: recorded.Symbol, Interval: recorded.Candles.Interval, Leverage: 5, Strategy: script},
	}
}

// If nothing is scarce, each strategy does the same together with others as alone, and the money is the sum.
func TestSeveralLegsAloneAndTogether(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		var legs []func() backtest.Leg
		for i, w := range []weather{
			{market: exchange.Futures, rough: 60, holes: true},
			{market: exchange.Futures, rough: 40, stop: 1_500_000},
			{market: exchange.Spot, rough: 40, holes: true},
		} {
			legs = append(legs, func() backtest.Leg {
				drawn := w.config(t, seed+uint64(10*i)).Legs[0]
				symbol := coin(t, w.market, []string{"AAA", "BBB", "CCC"}[i])
				strategy := drawn.Strategy
				strategy.Name, strategy.Symbol = symbol.Base, symbol
				return backtest.Leg{
					Kind:     drawn.Kind,
					Tape:     &tape.Tape{Symbol: symbol, Candles: drawn.Tape.Candles},
					Strategy: strategy,
					Funding:  drawn.Funding,
				}
			})
		}
		together := func(walk bool) *backtest.Result {
			config := backtest.Config{Cash: exchange.AmountOf(1_000_000), Costs: fees(100_000, 100_000)}
			for _, leg := range legs {
				config.Legs = append(config.Legs, leg())
			}
			if walk {
				config = backtest.Walking(config)
			}
			return mustRun(t, config)
		}
		all := together(false)
		profit, fills := decimal.Zero, 0
		for _, leg := range legs {
			own := leg()
			alone := mustRun(t, backtest.Config{Cash: exchange.AmountOf(1_000_000), Costs: fees(100_000, 100_000), Legs: []backtest.Leg{own}})
			profit = profit.Add(decimal.RequireFromString(alone.FinalEquity)).Sub(decimal.NewFromInt(1_000_000))
			fills += alone.Fills
			var with []backtest.Execution
			for _, e := range all.Executions {
				if e.Symbol == own.Tape.Symbol.Name {
					with = append(with, e)
				}
			}
			if len(with) != len(alone.Executions) {
				t.Fatalf("seed %d, %s: want %d fills as alone, have %d", seed, own.Tape.Symbol.Name, len(alone.Executions), len(with))
			}
			for i := range with {
				if with[i] != alone.Executions[i] {
					t.Fatalf("seed %d, fill %d: want %+v as alone, have %+v", seed, i+1, alone.Executions[i], with[i])
				}
			}
		}
		if fills < 60 {
			t.Errorf("seed %d: %d fills prove little", seed, fills)
		}
		same(t, "final equity", profit.Add(decimal.NewFromInt(2_000_000)).String(), all.FinalEquity)
		if walked := together(true); walked.ResultSHA256 != all.ResultSHA256 {
			t.Errorf("seed %d: playing every path changes the result: want %s, have %s", seed, all.FinalEquity, walked.FinalEquity)
		}
		if len(all.BySymbol) != 3 || all.BySymbol[0].Symbol != "AAA-USDT" || all.BySymbol[0].Fills == 0 ||
			all.Symbol != "AAA-USDT,BBB-USDT,CCC-USDT" {
			t.Errorf("by symbol: have %+v of %s", all.BySymbol, all.Symbol)
		}
	}
}

// Margin in use by one leg is not available to the other.
func TestLegsShareTheMargin(t *testing.T) {
	t.Parallel()
	rows := "100 100 100 100\n100 100 100 100\n100 100 100 100\n100 100 100 100"
	first, second := coin(t, exchange.Futures, "AAA"), coin(t, exchange.Futures, "BBB")
	config := func(one string) backtest.Config {
		return backtest.Config{Cash: exchange.AmountOf(10_000), Costs: fees(0, 0), Legs: []backtest.Leg{
			legOf("one", candlesOf(t, first, exchange.Hour1, midnight, rows), &scripted{targets: hold(t, first, one)}),
			legOf("two", candlesOf(t, second, exchange.Hour1, midnight, rows), &scripted{targets: hold(t, second, ". 300 . .")}),
		}}
	}
	if free := mustRun(t, config(". . . .")); free.Fills != 1 || free.Refusals+free.Rejections != 0 {
		t.Errorf("alone in the account: want its fill, have %d, %v", free.Fills, free.Warnings)
	}
	short := mustRun(t, config("300 . . .")) // 6000 of the 10000 USDT
	if short.Fills != 1 || short.Executions[0].Symbol != "AAA-USDT" || short.Refusals+short.Rejections == 0 {
		t.Errorf("with 4000 USDT left of the 6000 needed: want a refusal, have %+v", short.Executions)
	}
}

// At 20 times, 500 units at 100 take 2500 of 10000 USDT; at 4 times they would take 12500.
func TestEachLegHasItsOwnLeverage(t *testing.T) {
	t.Parallel()
	rows := "100 100 100 100\n100 100 100 100\n100 100 100 100\n100 100 100 100"
	first, second := coin(t, exchange.Futures, "AAA"), coin(t, exchange.Futures, "BBB")
	for leverage, fills := range map[int]int{20: 1, 4: 0} {
		two := legOf("two", candlesOf(t, second, exchange.Hour1, midnight, rows), &scripted{targets: hold(t, second, ". 500 . .")})
		two.Strategy.Leverage = leverage
		result := mustRun(t, backtest.Config{Cash: exchange.AmountOf(10_000), Costs: fees(0, 0), Legs: []backtest.Leg{
			legOf("one", candlesOf(t, first, exchange.Hour1, midnight, rows), &scripted{targets: hold(t, first, ". . . .")}), two}})
		if result.Fills != fills {
			t.Errorf("leverage %d: want %d fills, have %d, %v", leverage, fills, result.Fills, result.Warnings)
		}
	}
}

// The minutes decide on their own closes before the hour has closed.
func TestLegsOfTwoIntervalsCloseInOrderOfTime(t *testing.T) {
	t.Parallel()
	slow, fast := coin(t, exchange.Futures, "AAA"), coin(t, exchange.Futures, "BBB")
	config := backtest.Config{Cash: exchange.AmountOf(10_000), Costs: fees(0, 0), Legs: []backtest.Leg{
		legOf("slow", candlesOf(t, slow, exchange.Hour1, midnight, "100 110 90 105\n106 110 90 105"), &scripted{targets: hold(t, slow, "1 0")}),
		legOf("fast", candlesOf(t, fast, exchange.Minute30, midnight, "50 50 50 50\n51 51 51 51\n52 52 52 52\n53 53 53 53"),
			&scripted{targets: hold(t, fast, "1 . 0 .")}),
	}}
	result := mustRun(t, config)
	half := int64(exchange.Minute30)
	want := []backtest.Execution{
		{TimeMS: midnight + half, Symbol: "BBB-USDT", Side: "BUY", Price: "51"},
		{TimeMS: midnight + 2*half, Symbol: "AAA-USDT", Side: "BUY", Price: "106"},
		{TimeMS: midnight + 3*half, Symbol: "BBB-USDT", Side: "SELL", Price: "53"},
	}
	if len(result.Executions) != len(want) {
		t.Fatalf("want %d fills, have %+v", len(want), result.Executions)
	}
	for i, e := range result.Executions {
		if e.TimeMS != want[i].TimeMS || e.Symbol != want[i].Symbol || e.Side != want[i].Side || e.Price != want[i].Price {
			t.Errorf("fill %d: want %+v, have %+v", i+1, want[i], e)
		}
	}
	same(t, "final equity", "10001", result.FinalEquity)
}

// A decision before a hole waits for the candle after it, whatever the other series does meanwhile.
func TestAHoleOfOneSeriesDoesNotLetItTradeAtAnOldPrice(t *testing.T) {
	t.Parallel()
	first, second := coin(t, exchange.Futures, "AAA"), coin(t, exchange.Futures, "BBB")
	config := backtest.Config{Cash: exchange.AmountOf(10_000), Costs: fees(0, 0), Legs: []backtest.Leg{
		legOf("one", candlesOf(t, first, exchange.Hour1, midnight, "100 100 100 100\nhole\nhole\n120 120 120 120\n120 120 120 120"),
			&scripted{targets: hold(t, first, "1 . .")}),
		legOf("two", candlesOf(t, second, exchange.Hour1, midnight, "50 50 50 50\n50 50 50 50\n50 50 50 50\n50 50 50 50\n50 50 50 50"),
			&scripted{targets: hold(t, second, "1 2 3 4 5")}),
	}}
	for _, e := range mustRun(t, config).Executions {
		if e.Symbol == "AAA-USDT" && (e.Price != "120" || e.TimeMS != midnight+3*int64(exchange.Hour1)) {
			t.Errorf("want it filled at 120 after the hole, have %+v", e)
		}
	}
}
