package backtest_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/runtime/engine"
	"botd/strategy"
)

// crossing is a run of sma_cross that can be rebuilt.
func crossing(t testing.TB, recorded *tape.Tape, size exchange.Rate, protection strategy.Protection, values strategy.Values) backtest.Config {
	setting := strategy.Setting{
		Market:   recorded.Symbol.Market,
		Symbol:   recorded.Symbol,
		Interval: recorded.Candles.Interval,
		Size:     strategy.Size{Equity: size},
	}
	return backtest.Config{Cash: exchange.AmountOf(10_000), Costs: fees(20_000, 50_000), Legs: []backtest.Leg{
		{
			Kind: "sma_cross",
			Tape: recorded,
			Strategy: engine.StrategyConfig{
				Name:       "crossing",
				Symbol:     recorded.Symbol,
				Interval:   recorded.Candles.Interval,
				Leverage:   5,
				Size:       setting.Size,
				Protection: protection,
			},
			Make: func(over *tape.Tape) (strategy.Strategy, error) {
				setting.Symbol = over.Symbol
				return build(t, "sma_cross", setting, values), nil
			},
		},
	}}
}

var bothWays = strategy.Values{"fast": "5", "slow": "20", "mode": "long_short"}

func recordedHours(t testing.TB, market exchange.Market) *tape.Tape {
	t.Helper()
	recorded, err := tape.LoadCandles(shared(t, "candles/binance-spot_BTCUSDT_1h_2024.csv"), symbol(t, market, "0.01", "0.00001"), 0, tape.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return recorded
}

func equity(r *backtest.Result) float64 {
	return decimal.RequireFromString(r.FinalEquity).InexactFloat64()
}

func TestThreeColumnsAreThreeMarketsOfOneRun(t *testing.T) {
	t.Parallel()
	recorded := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 6_000)
	config := crossing(t, recorded, exchange.RateOne, strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 300_000},
		TakeProfit: strategy.Distance{Share: 300_000}}, bothWays)
	config.Costs.Slippage, config.Costs.Path = 10_000, sim.Worst
	result, err := backtest.RunColumns(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	ends, noted := 0, [2]int{}
	config.Progress = func(done, total int) {
		if done == total {
			ends++
		}
	}
	config.Note = func(*engine.Note) { noted[min(ends, 1)]++ }
	if _, err := backtest.RunColumns(t.Context(), config); err != nil || ends != 1 {
		t.Errorf("want the progress of the realistic run alone, have %d ends, %v", ends, err)
	}
	first := noted[0] + noted[1]
	config.Progress = nil
	if mustRun(t, config); noted[0]+noted[1] != 2*first {
		t.Errorf("want the facts of the realistic run alone, have %d of all, %d of it", first, noted[0]+noted[1]-first)
	}
	config.Note = nil
	alone := mustRun(t, config)
	if result.ResultSHA256 != alone.ResultSHA256 || result.Columns[1].ResultSHA256 != alone.ResultSHA256 ||
		result.Columns[1].FinalEquity != alone.FinalEquity {
		t.Errorf("the realistic column: want the run of the configuration, %s, have %+v", alone.FinalEquity, result.Columns[1])
	}
	ideal, realistic, pessimistic := result.Columns[0], result.Columns[1], result.Columns[2]
	if ideal.Name != "ideal" || realistic.Name != "realistic" || pessimistic.Name != "pessimistic" {
		t.Errorf("names: have %s, %s, %s", ideal.Name, realistic.Name, pessimistic.Name)
	}
	if !(*ideal.Profit > *realistic.Profit && *realistic.Profit > *pessimistic.Profit) {
		t.Errorf("want each column worse than the one before, have %.2f, %.2f, %.2f", *ideal.Profit, *realistic.Profit, *pessimistic.Profit)
	}
	same(t, "ideal fees", "0", ideal.TotalFees)
	same(t, "ideal slippage", "0", ideal.TotalSlippage)
	for what, want := range map[string][2]string{"twice the slippage, at least 0.05 %": {"takers pay 0.05 %", pessimistic.Assumptions[2]},
		"a taker's fee": {"maker 0.05 %", pessimistic.Assumptions[0]}} {
		if !strings.Contains(want[1], want[0]) {
			t.Errorf("%s: have %q", what, want[1])
		}
	}
}

// TestBreakEvenSlippageLeavesNoProfit repeats the reference run with the reported break-even slippage.
func TestBreakEvenSlippageLeavesNoProfit(t *testing.T) {
	t.Parallel()
	config := crossing(t, recordedHours(t, exchange.Futures), exchange.RateOne, strategy.Protection{}, strategy.Values{"fast": "10", "slow": "50"})
	for _, slippage := range []exchange.Rate{0, 5_000} {
		config.Costs.Slippage = slippage
		first := mustRun(t, config)
		profit := equity(first) - 10_000
		if profit < 1_000 || first.BreakEven == nil {
			t.Fatalf("want a profit to lose, have %s", first.FinalEquity)
		}
		config.Costs.Slippage = exchange.Rate(*first.BreakEven * 1e6)
		if left := equity(mustRun(t, config)) - 10_000; left > profit/20 || left < -profit/20 {
			t.Errorf("slippage %d: profit %.0f, after %v %%: want nearly nothing, have %.0f", slippage, profit, *first.BreakEven, left)
		}
	}
	recorded := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 3_000)
	if lost := mustRun(t, crossing(t, recorded, 3*exchange.RateOne, strategy.Protection{}, bothWays)); equity(lost) > 10_000 ||
		lost.BreakEven != nil {
		t.Errorf("without a profit: want null, have %v of %s", lost.BreakEven, lost.FinalEquity)
	}
}

func TestSlippageCost(t *testing.T) {
	t.Parallel()
	recorded := flatTape(t, exchange.Futures, 6, "100")
	config := caseConfig(recorded, &scripted{targets: hold(t, recorded.Symbol, "10 . 0 . . .")})
	config.Costs = backtest.Costs{Slippage: exchange.RateOne / 1000}
	result := mustRun(t, config)
	// Bought 10 at 100.1, sold at 99.9: a dollar each way.
	same(t, "final equity", "9998", result.FinalEquity)
	same(t, "slippage", "2", result.TotalSlippage)
	same(t, "the trip's", "2", result.Trips[0].Slippage)
	same(t, "bought at", "100.1", result.Executions[0].Price)
	addUp(t, result, "100")
}

func TestUnrecordedFundingIsConstant(t *testing.T) {
	t.Parallel()
	recorded := flatTape(t, exchange.Futures, 25, "100")
	config := caseConfig(recorded, &scripted{targets: hold(t, recorded.Symbol, "10")})
	config.Costs = backtest.Costs{Funding: exchange.RateOne / 1000}
	result := mustRun(t, config)
	same(t, "three payments of 1", "3", result.TotalFunding)
	if warned(result, "funding") {
		t.Errorf("a rate was given, yet: %v", result.Warnings)
	}
}

func TestALargeOrderIsFilledOverSeveralCandles(t *testing.T) {
	t.Parallel()
	recorded := flatTape(t, exchange.Futures, 8, "100") // a volume of 1 each
	config := caseConfig(recorded, &scripted{targets: hold(t, recorded.Symbol, "1.2 . . . 0 . . .")})
	config.Costs.VolumeCap = exchange.RateOne / 2
	result := mustRun(t, config)
	var quantities []string
	for _, e := range result.Executions {
		quantities = append(quantities, e.Quantity)
	}
	if len(quantities) != 6 || quantities[0] != "0.5" || quantities[2] != "0.2" || quantities[3] != "0.5" || result.OpenPosition != nil {
		t.Errorf("want 0.5, 0.5, 0.2 each way, have %v", quantities)
	}
	if result.Orders.Placed != 2 || result.Orders.Filled != 2 {
		t.Errorf("want two orders, filled, have %+v", result.Orders)
	}
}

// TestTheWorstPathMakesTheStopComeFirst covers a candle that reaches both the stop and the target.
func TestTheWorstPathMakesTheStopComeFirst(t *testing.T) {
	t.Parallel()
	symbol := symbol(t, exchange.Futures, "0.1", "0.001")
	recorded := candlesOf(t, symbol, exchange.Hour1, midnight, `
		100 100 100 100
		100 100 100 100
		100 112  88  99
		100 100 100 100`)
	for path, want := range map[sim.PathOrder]string{sim.Worst: "stop_loss", sim.Best: "take_profit", sim.ByDirection: "take_profit",
		sim.LowFirst: "stop_loss"} {
		config := caseConfig(recorded, &scripted{targets: hold(t, symbol, "10 . . .")})
		config.Legs[0].Strategy.Protection = strategy.Protection{
			Set:        true,
			StopLoss:   strategy.Distance{Share: exchange.RateOne / 10},
			TakeProfit: strategy.Distance{Share: exchange.RateOne / 10},
		}
		config.Costs.Path = path
		result := mustRun(t, config)
		if len(result.Trips) != 1 || result.Trips[0].ExitPurpose != want {
			t.Fatalf("path %d: want out by %s, have %+v", path, want, result.Trips)
		}
		if row := result.ByExit[0]; row.Reason != want || row.RoundTrips != 1 {
			t.Errorf("by exit: have %+v", row)
		}
		if trip := result.Trips[0]; trip.EntryReason != "scripted" {
			t.Errorf("entry reason: want scripted, have %q", trip.EntryReason)
		}
	}
}

// TestFinerCandlesDecideOrderOfHighAndLow uses finer candles that rise first, then fall.
func TestFinerCandlesDecideOrderOfHighAndLow(t *testing.T) {
	t.Parallel()
	symbol := symbol(t, exchange.Futures, "0.1", "0.001")
	coarse := candlesOf(t, symbol, exchange.Hour1, midnight, `
		100 100 100 100
		100 100 100 100
		100 112  88  99
		100 100 100 100`)
	fine := candlesOf(t, symbol, exchange.Minute15, midnight, strings.Repeat("100 100 100 100\n", 8)+`100 112  95  95
		 95  95  88  88
		 88  99  88  99
		 99  99  99  99
		100 100 100 100`)
	config := caseConfig(coarse, &scripted{targets: hold(t, symbol, "10 . . .")})
	config.Legs[0].Strategy.Protection = strategy.Protection{
		Set:        true,
		StopLoss:   strategy.Distance{Share: exchange.RateOne / 10},
		TakeProfit: strategy.Distance{Share: exchange.RateOne / 10},
	}
	config.Costs.Path, config.Legs[0].Detail = sim.Worst, fine
	result := mustRun(t, config)
	if len(result.Trips) != 1 || result.Trips[0].ExitPurpose != "take_profit" {
		t.Fatalf("want the target, which came first, have %+v", result.Trips)
	}
	if !warned(result, "1 of 4 candles are not completely covered by finer candles") {
		t.Errorf("the last hour has one quarter of four: have %v", result.Warnings)
	}
	fine.Candles.High[8]++
	if !warned(mustRun(t, config), "1 candles do not match their finer candles") {
		t.Error("a high that the coarse candle does not have: want a warning")
	}
	config.Legs[0].Detail = coarse
	if _, err := backtest.Run(t.Context(), config); err == nil {
		t.Error("a detail that is no finer: want an error")
	}
}

func TestExcursionsOfRoundTrips(t *testing.T) {
	t.Parallel()
	symbol := symbol(t, exchange.Futures, "0.1", "0.001")
	recorded := candlesOf(t, symbol, exchange.Hour1, midnight, `
		100 101  99 100
		100 112  95 110
		110 121 104 120
		120 150  50 119
		120 120 104 105
		105 106  99 100`)
	// Long from 100 to 120 over two candles, then short from 120 over three.
	result := mustRun(t, caseConfig(recorded, &scripted{targets: hold(t, symbol, "10 . -10 . 0 .")}))
	want := [][2]float64{{5, 21}, {25, 58.3333}}
	for i, trip := range result.Trips {
		if have := [2]float64{trip.Adverse, trip.Favorable}; have != want[i] {
			t.Errorf("trip %d: want against and for %v, have %v", i+1, want[i], have)
		}
	}
}

// TestTheColumnsBoundEveryRun draws runs with stops, latencies, shares of equity and caps, whose decisions
// differ from column to column. The outer figures are those of the column's own run, or of the realistic
// run's executions on the other market, whichever are further out. The test computes these from the list of
// fills.
func TestTheColumnsBoundEveryRun(t *testing.T) {
	t.Parallel()
	pessimistic, ideal, runs := 0, 0, 0
	for _, w := range weathers {
		for seed := range uint64(2) {
			config := w.config(t, seed)
			config.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) {
				return &scripted{targets: config.Legs[0].Strategy.Strategy.(*scripted).targets}, nil
			}
			result, err := backtest.RunColumns(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			runs++
			value := func(text string) float64 { return decimal.RequireFromString(text).InexactFloat64() }
			high, middle, low := value(result.Finals.Ideal), value(result.Finals.Realistic), value(result.Finals.Pessimistic)
			if low > middle || middle > high || !*result.Ordered || coded(result, backtest.BoundsNotOrdered) {
				t.Errorf("%v, seed %d: want a bound on both sides, have %f, %f, %f, %v", w, seed, high, middle, low, result.Warnings)
			}
			without := withoutCosts(result)
			if want := max(value(result.Columns[0].OwnEquity), without); math.Abs(high-want) > 1e-6 {
				t.Errorf("%v, seed %d: ideal: want the higher of %s and %f, have %f", w, seed, result.Columns[0].OwnEquity, without, high)
			}
			if coded(result, backtest.IdealRepriced) != (result.Columns[0].OwnEquity != result.Finals.Ideal) {
				t.Errorf("%v, seed %d: the warnings %v do not say whether the ideal figure is its own run's", w, seed, result.Warnings)
			}
			if coded(result, backtest.IdealRepriced) {
				ideal++
			}
			if coded(result, backtest.PessimisticRepriced) {
				pessimistic++
			}
		}
	}
	if pessimistic < 3 || ideal < 1 {
		t.Errorf("of %d runs want some that are re-priced on either side, have %d, %d", runs, pessimistic, ideal)
	}
	t.Logf("%d runs, the pessimistic figure re-priced in %d, the ideal one in %d", runs, pessimistic, ideal)
}

// withoutCosts returns the final equity of a run's fills without fees, slippage and paid funding.
func withoutCosts(r *backtest.Result) float64 {
	number := func(text string) float64 { return decimal.RequireFromString(text).InexactFloat64() }
	sum := number(r.FinalEquity) + max(0, number(r.TotalFunding))
	for i := range r.Executions {
		e := &r.Executions[i]
		fee := number(e.Fee)
		if e.FeeAsset != "USDT" {
			fee *= number(e.Price)
		}
		sum += fee + number(e.Slippage)
	}
	return sum
}

func coded(r *backtest.Result, code string) bool {
	return slices.ContainsFunc(r.Warnings, func(w backtest.Warning) bool { return w.Code == code })
}
