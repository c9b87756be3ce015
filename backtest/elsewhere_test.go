package backtest_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/runtime/engine"
	"botd/strategy"
	"botd/strategy/indicator"
)

// rowsOf reads a recorded CSV file.
func rowsOf(t *testing.T, name string) [][]string {
	t.Helper()
	file, err := os.Open(shared(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.FieldsPerRecord = -1 // the last line may be a sum
	rows, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// taped writes rows as a candle file and reads it.
func taped(t *testing.T, symbol *exchange.Symbol, interval exchange.Interval, rows []string) *tape.Tape {
	t.Helper()
	path := filepath.Join(t.TempDir(), "candles.csv")
	if err := os.WriteFile(path, []byte("open_time_ms,open,high,low,close,volume\n"+strings.Join(rows, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	recorded, err := tape.LoadCandles(path, symbol, interval, tape.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return recorded
}

// above has a position while the close is above its average of 15.
type above struct {
	average  *indicator.SMA
	quantity exchange.Quantity
	target   strategy.Target
}

func (*above) Warmup() int { return 15 }

func (a *above) Candle(view *strategy.View) {
	a.average.Next(int64(view.Close()))
	if !a.average.Ready() {
		return
	}
	_, sum := a.average.Sum()
	switch price := uint64(view.Close()) * 15; {
	case price > sum:
		a.target = strategy.Target{Kind: strategy.ByQuantity, Quantity: a.quantity}
	case price < sum:
		a.target = strategy.Flat()
	}
}

func (a *above) Decide(_ *strategy.View, plan *strategy.Plan) {
	if a.target.Kind != strategy.NoTarget {
		plan.Hold(a.target, "the close and its average")
	}
}

// TestThe43FillsOfAnotherProgramsTutorial runs PyAlgoTrade's fourth tutorial: ORCL in 2000, ten shares above
// the average of 15 adjusted closes. Every fill has the same date, side and price, and the final value is the
// same.
func TestThe43FillsOfAnotherProgramsTutorial(t *testing.T) {
	t.Parallel()
	var days []string
	for _, row := range rowsOf(t, "expected/pyalgotrade/WIKI-ORCL-2000-quandl.csv")[1:] {
		day, err := time.Parse(time.DateOnly, row[0])
		if err != nil {
			t.Fatal(err)
		}
		line := strconv.FormatInt(day.UnixMilli(), 10)
		for _, column := range []int{8, 9, 10, 11} { // adjusted open, high, low, close
			line += "," + decimal.RequireFromString(row[column]).Round(8).String()
		}
		days = append(days, line+","+row[12])
	}
	slices.Sort(days) // the file is newest first
	symbol := symbol(t, exchange.Spot, "0.00000001", "1")
	recorded := taped(t, symbol, exchange.Day1, days)
	average := &above{average: indicator.NewSMA(15), quantity: 10 * recorded.Symbol.QuantityTick}
	result := mustRun(t, backtest.Config{Cash: exchange.AmountOf(1_000), Legs: []backtest.Leg{{Kind: "above", Tape: recorded,
		Strategy: engine.StrategyConfig{Name: "tutorial", Symbol: recorded.Symbol, Interval: exchange.Day1, Strategy: average}}}})
	want := slices.DeleteFunc(rowsOf(t, "expected/pyalgotrade/tutorial-4_fills.csv")[1:],
		func(row []string) bool { return row[1] != "BUY" && row[1] != "SELL" })
	if len(want) != 43 || len(result.Executions) != len(want) {
		t.Fatalf("want 43 fills of %d, have %d", len(want), len(result.Executions))
	}
	for i, row := range want {
		e := result.Executions[i]
		if date := time.UnixMilli(e.TimeMS).UTC().Format(time.DateOnly); date != row[0] || e.Side != row[1] || e.Quantity != row[2] {
			t.Errorf("fill %d: want %v, have %s %s %s", i+1, row, date, e.Side, e.Quantity)
		}
		if off := decimal.RequireFromString(e.Price).Sub(decimal.RequireFromString(row[3])).Abs(); off.GreaterThan(decimal.New(1, -8)) {
			t.Errorf("fill %d: want at %s, have at %s", i+1, row[3], e.Price)
		}
	}
	if have := decimal.RequireFromString(result.FinalEquity).StringFixed(2); have != "974.87" {
		t.Errorf("value at the end: want 974.87, have %s", have)
	}
}

// TestAnotherProgramsFundingCase runs LEAN's futures case: 1000 ADA, bought after the first hour of a day and
// owned to its end, with funding of 0.0001 every eight hours. Entry, fee and rate are the same. The remaining
// difference is explained: LEAN subtracts an estimated closing fee from the open profit, charges a third
// payment at the last midnight, which comes after botd's last candle, and marks the position at the bid, not
// at the last trade.
func TestAnotherProgramsFundingCase(t *testing.T) {
	t.Parallel()
	midnight := time.Date(2022, 12, 13, 0, 0, 0, 0, time.UTC).UnixMilli()
	var hours []string
	for i, row := range rowsOf(t, "expected/lean/ADAUSDT_hour_20221213_trade.csv") {
		hours = append(hours, fmt.Sprintf("%d,%s", midnight+int64(i)*int64(exchange.Hour1), strings.Join(row[1:6], ",")))
	}
	quotes := rowsOf(t, "expected/lean/ADAUSDT_hour_20221213_quote.csv")
	bid := decimal.RequireFromString(quotes[len(quotes)-1][4])
	recorded := taped(t, symbol(t, exchange.Futures, "0.0001", "1"), exchange.Hour1, hours)
	script := &scripted{targets: hold(t, recorded.Symbol, "1000")}
	config := caseConfig(recorded, script)
	config.Cash, config.Costs = exchange.AmountOf(1_000_200), backtest.Costs{
		Futures: backtest.Fees{Taker: exchange.RateOne / 2000},
		Funding: exchange.RateOne / 10_000,
	}
	config.Legs[0].Strategy.Leverage = 1
	result := mustRun(t, config)
	if len(result.Executions) != 1 {
		t.Fatalf("want one fill, have %+v", result.Executions)
	}
	entry := result.Executions[0]
	same(t, "entry", "0.3057", entry.Price)
	same(t, "fee", "0.15285", entry.Fee)
	opens := func(hour int) decimal.Decimal {
		return recorded.Symbol.PriceDecimal(recorded.Candles.Open[hour]).Mul(decimal.NewFromInt(1000)).Mul(decimal.RequireFromString("0.0001"))
	}
	same(t, "funding at 08:00 and 16:00", opens(8).Add(opens(16)).String(), result.TotalFunding)
	last := recorded.Symbol.PriceDecimal(recorded.Candles.Close[recorded.Candles.Len()-1])
	equity := decimal.RequireFromString(result.FinalEquity)
	third := last.Mul(decimal.RequireFromString("0.1"))
	closing := bid.Mul(decimal.RequireFromString("0.5"))
	atBid := last.Sub(bid).Mul(decimal.NewFromInt(1000))
	if theirs := equity.Sub(third).
		Sub(closing).
		Sub(atBid); theirs.Sub(decimal.RequireFromString("1000207.90")).
		Abs().
		GreaterThan(decimal.RequireFromString("0.005")) {
		t.Errorf("LEAN's 1000207.90: want it from %s less the third payment %s, the closing fee %s and the bid %s, have %s", equity, third, closing,
			atBid, theirs)
	}
}

// TestTheOutageOfMarch2023 runs over real minutes of which 80 are missing. Nothing fills in the hole. Earlier
// decisions, and a stop that the price passed meanwhile, fill at the first open after it.
func TestTheOutageOfMarch2023(t *testing.T) {
	t.Parallel()
	recorded, err := tape.LoadCandles(shared(t, "candles/binance-spot_BTCUSDT_1m_2023-03-23_25_outage.csv"),
		symbol(t, exchange.Futures, "0.01", "0.001"), 0, tape.Options{})
	if err != nil {
		t.Fatal(err)
	}
	longest := slices.MaxFunc(recorded.Holes, func(a, b tape.Hole) int { return a.Missing - b.Missing })
	if longest.Missing != 80 {
		t.Fatalf("want the hole of 80 minutes, have %+v", recorded.Holes)
	}
	before, _ := slices.BinarySearch(recorded.Candles.OpenMS, longest.AfterMS)
	script := &scripted{targets: make([]strategy.Target, before+1)}
	script.targets[before-100] = hold(t, recorded.Symbol, "0.1")[0] // more than an hour before it
	script.targets[before] = hold(t, recorded.Symbol, "0.05")[0]    // on the last close before it
	config := caseConfig(recorded, script)
	config.Costs = backtest.Costs{Futures: backtest.Fees{Maker: 20_000, Taker: 50_000}, Funding: 10_000}
	result := mustRun(t, config)
	if !warned(result, "80 candles are missing in 1 gaps") {
		t.Errorf("want the hole warned of, have %v", result.Warnings)
	}
	if len(result.Executions) != 2 {
		t.Fatalf("want an entry and a part exit, have %+v", result.Executions)
	}
	exit := result.Executions[1]
	if exit.TimeMS != longest.BeforeMS || exit.Price != recorded.Symbol.PriceDecimal(recorded.Candles.Open[before+1]).String() {
		t.Errorf("want the exit at the first open after the hole, have %+v", exit)
	}
	for _, e := range result.Executions {
		if e.TimeMS > longest.AfterMS+60_000 && e.TimeMS < longest.BeforeMS {
			t.Errorf("a fill in the hole: %+v", e)
		}
	}
	// The stop is between the last price before the hole and the first one after it.
	last, next := recorded.Candles.Close[before], recorded.Candles.Open[before+1]
	side := "0.1"
	if next > last {
		side = "-0.1"
	}
	script = &scripted{targets: make([]strategy.Target, before)}
	script.targets[before-1] = hold(t, recorded.Symbol, side)[0]
	stopped := caseConfig(recorded, script)
	stopped.Legs[0].Strategy.Protection = strategy.Protection{
		Set:      true,
		StopLoss: strategy.Distance{Price: recorded.Symbol.FloorPrice((last + next) / 2)},
	}
	gap := mustRun(t, stopped)
	if len(gap.Executions) < 2 || gap.Executions[1].Purpose != "stop_loss" || gap.Executions[1].Price != recorded.Symbol.PriceDecimal(next).String() {
		t.Errorf("want the stop at the open after the hole, %s, have %+v", recorded.Symbol.PriceDecimal(next), gap.Executions)
	}
}
