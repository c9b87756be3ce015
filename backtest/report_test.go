package backtest_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
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
	"botd/risk"
	"botd/strategy"
)

func figure(f *float64) string {
	if f == nil {
		return "null"
	}
	return fmt.Sprint(*f)
}

func warned(r *backtest.Result, part string) bool {
	return slices.ContainsFunc(r.Warnings, func(w backtest.Warning) bool { return strings.Contains(w.Text, part) })
}

// flatTape has candles at one constant price.
func flatTape(t testing.TB, market exchange.Market, count int, price string) *tape.Tape {
	symbol := symbol(t, market, "0.1", "0.001")
	return candlesOf(t, symbol, exchange.Hour1, midnight, strings.Repeat(strings.Join([]string{price, price, price, price}, " ")+"\n", count))
}

func TestFundingIsPaidAtOpenByOpenPosition(t *testing.T) {
	t.Parallel()
	recorded := flatTape(t, exchange.Futures, 25, "100")
	config := caseConfig(recorded, &scripted{targets: hold(t, recorded.Symbol, "10 "+strings.Repeat(". ", 14)+"0")})
	config.Costs = backtest.Costs{}
	eight := 8 * int64(exchange.Hour1)
	for i, rate := range []exchange.Rate{exchange.RateOne / 10, exchange.RateOne / 100, -exchange.RateOne / 1000, exchange.RateOne / 10} {
		config.Legs[0].Funding = append(config.Legs[0].Funding, tape.FundingRow{Symbol: "BTC-USDT", TimeMS: midnight + int64(i)*eight, Rate: rate})
	}
	// The position starts at 01:00; at 00:00 there was none. 08:00 costs 1 % of 1000; at 16:00 it receives
	// 0.1 %, before the exit of the same moment; at 24:00 there is no position.
	result := mustRun(t, config)
	same(t, "funding", "9", result.TotalFunding)
	same(t, "final equity", "9991", result.FinalEquity)
	same(t, "trip", "-9", result.Trips[0].PNL)
	same(t, "trip's funding", "9", result.Trips[0].Funding)
	if warned(result, "funding") {
		t.Errorf("all payments have a rate, yet: %v", result.Warnings)
	}
}

func TestFundingThatIsNotRecordedIsWarnedOf(t *testing.T) {
	t.Parallel()
	recorded := flatTape(t, exchange.Futures, 25, "100")
	config := caseConfig(recorded, &scripted{})
	if result := mustRun(t, config); !warned(result, "no funding rates were given") {
		t.Errorf("without rates: have %v", result.Warnings)
	}
	config.Legs[0].Funding = []tape.FundingRow{
		{TimeMS: midnight + 4*int64(exchange.Hour1), Rate: 1},
		{TimeMS: midnight + 8*int64(exchange.Hour1), Rate: 1},
	}
	result := mustRun(t, config)
	if !warned(result, "3 of 4 funding payments have no recorded rate") || !warned(result, "1 recorded funding rates do not fall on a payment") {
		t.Errorf("with half of the rates: have %v", result.Warnings)
	}
}

func TestAStopMovesAlthoughCancelsTakeTime(t *testing.T) {
	t.Parallel()
	symbol := symbol(t, exchange.Futures, "0.1", "0.001")
	recorded := candlesOf(t, symbol, exchange.Hour1, midnight, `
		100 100 100 100
		100 100 100 100
		100 100 100 100
		100 100  80  80
		 80  80  80  80`)
	// At 03:00 the position doubles. The stop below it is a closePosition order, and triggers at 90.
	script := &scripted{targets: hold(t, symbol, "10 20 . . .")}
	config := caseConfig(recorded, script)
	config.Costs.LatencyMS = 60_000
	config.Legs[0].Strategy.Protection.Set, config.Legs[0].Strategy.Protection.StopLoss.Share = true, exchange.RateOne/10
	result := mustRun(t, config)
	if result.Fills != 3 || result.OpenPosition != nil {
		t.Fatalf("want two entries and the stop, have %+v", result.Executions)
	}
	if e := result.Executions[0]; e.TimeMS != midnight+int64(exchange.Hour1)+60_000 || e.Price != "100" {
		t.Errorf("the first entry: want it when it arrives, a minute later, at 100, have %+v", e)
	}
	addUp(t, result, "80")
}

// ladder rests one buy order, at another price from the third candle on.
type ladder struct{ seen int }

func (*ladder) Warmup() int             { return 0 }
func (l *ladder) Candle(*strategy.View) { l.seen++ }
func (l *ladder) Decide(view *strategy.View, plan *strategy.Plan) {
	price := 90 * 10 * view.Symbol.PriceTick
	if l.seen > 2 {
		price = 95 * 10 * view.Symbol.PriceTick
	}
	plan.Orders, plan.OrdersSet = append(plan.Orders, strategy.DesiredOrder{Key: "a", Side: exchange.Buy, Price: price,
		Quantity: 1000 * view.Symbol.QuantityTick}), true
}

func TestAnOrderIsReplacedWhenItsCancelIsDone(t *testing.T) {
	t.Parallel()
	symbol := symbol(t, exchange.Futures, "0.1", "0.001")
	recorded := candlesOf(t, symbol, exchange.Hour1, midnight, `
		100 100 100 100
		100 100 100 100
		100 100 100 100
		100 100 100 100
		100 100  92 100
		100 100 100 100`)
	for _, latencyMS := range []int64{0, 60_000} {
		config := caseConfig(recorded, nil)
		config.Legs[0].Strategy.Strategy, config.Costs.LatencyMS = &ladder{}, latencyMS
		result := mustRun(t, config)
		if result.Fills != 1 || result.Executions[0].Price != "95" || result.Executions[0].Role != "maker" {
			t.Errorf("latency %d: want the replaced order filled at 95, have %+v", latencyMS, result.Executions)
		}
	}
}

func TestALiquidationEndsTheMoneyAndIsWarnedOf(t *testing.T) {
	t.Parallel()
	symbol := symbol(t, exchange.Futures, "0.1", "0.001")
	recorded := candlesOf(t, symbol, exchange.Hour1, midnight, `
		100 100 100 100
		100 100  60  61
		 61  61  61  61`)
	config := caseConfig(recorded, &scripted{targets: hold(t, symbol, "400 . .")})
	config.Limits = risk.Limits{}
	// 40000 long on 10000: the maintenance margin is 0.4 %, so it ends near 75.
	result := mustRun(t, config)
	if result.Liquidations != 1 || result.RoundTrips != 1 || result.OpenPosition != nil || !warned(result, "liquidated positions: 1") {
		t.Fatalf("want one liquidation, have %+v", result)
	}
	same(t, "wallet by the trip", result.Wallet, decimal.RequireFromString(result.Trips[0].PNL).Add(decimal.NewFromInt(10_000)).String())
	if exit := decimal.RequireFromString(result.Executions[1].Price); exit.LessThan(decimal.NewFromInt(74)) ||
		exit.GreaterThan(decimal.NewFromInt(76)) {
		t.Errorf("liquidation price: want about 75, have %s", exit)
	}
}

// TestEquityIsTakenAtEachMidnight counts the daily returns.
func TestEquityIsTakenAtEachMidnight(t *testing.T) {
	t.Parallel()
	symbol := symbol(t, exchange.Futures, "0.1", "0.001")
	hours := func(n int) string { return strings.Repeat("100 100 100 100\n", n) }
	for _, c := range []struct {
		what     string
		interval exchange.Interval
		startMS  int64
		rows     string
		days     int
	}{
		{"a day from midnight", exchange.Hour1, midnight, hours(24), 1},
		{"a day less an hour", exchange.Hour1, midnight, hours(23), 0},
		{"two midnights from ten o'clock", exchange.Hour1, midnight + 10*int64(exchange.Hour1), hours(50), 1},
		{"a hole of four days", exchange.Hour1, midnight, hours(30) + strings.Repeat("hole\n", 96) + hours(30), 6},
		{"weeks", exchange.Week1, exchange.Week1.OpenOf(midnight), hours(3), 21},
		{"days", exchange.Day1, midnight, hours(40), 40},
	} {
		result := mustRun(t, caseConfig(candlesOf(t, symbol, c.interval, c.startMS, c.rows), &scripted{}))
		if result.Days != c.days {
			t.Errorf("%s: want %d daily returns, have %d", c.what, c.days, result.Days)
		}
		if result.Sharpe != nil || result.Sortino != nil || result.Calmar != nil || result.ProfitFactor != nil || result.Expectancy != nil ||
			result.Drawdown != nil {
			t.Errorf("%s: want undefined ratios, have %+v", c.what, result)
		}
		if have := result.CAGR != nil; have != (result.To.Sub(result.From) >= 30*24*time.Hour) {
			t.Errorf("%s: want CAGR from 30 days on only, have %v", c.what, have)
		}
	}
}

// TestAMidnightInAHoleHasTheEquityBeforeIt compares with the figure computed manually.
func TestAMidnightInAHoleHasTheEquityBeforeIt(t *testing.T) {
	t.Parallel()
	symbol := symbol(t, exchange.Futures, "0.1", "0.001")
	recorded := candlesOf(t, symbol, exchange.Hour1, midnight+22*int64(exchange.Hour1), `
		100 100 100 100
		100 100 100 100
		hole
		100 120 100 120
		`+strings.Repeat("120 120 120 120\n", 22)+strings.Repeat("hole\n", 24)+"90 90 90 90\n"+strings.Repeat("80 80 80 80\n", 23))
	config := caseConfig(recorded, &scripted{targets: hold(t, symbol, "100")})
	config.Costs = backtest.Costs{}
	// Midnights: 10000; 12000; 12000 in the hole; 8000. Returns: 0.2, 0, -1/3.
	result := mustRun(t, config)
	loss := -1.0 / 3
	mean := (0.2 + loss) / 3
	squares := (0.2-mean)*(0.2-mean) + mean*mean + (loss-mean)*(loss-mean)
	want := mean / math.Sqrt(squares/2) * math.Sqrt(365)
	if result.Days != 3 || result.Sharpe == nil || math.Abs(*result.Sharpe-want) > 1e-9 {
		t.Errorf("want Sharpe %v of 3 days, have %s of %d", want, figure(result.Sharpe), result.Days)
	}
	if want := mean / math.Sqrt(loss*loss/3) * math.Sqrt(365); result.Sortino == nil || math.Abs(*result.Sortino-want) > 1e-9 {
		t.Errorf("want Sortino %v, have %s", want, figure(result.Sortino))
	}
}

// every is a schedule with a period in milliseconds.
type every int64

func (e every) Next(afterMS int64) int64 { return (afterMS/int64(e) + 1) * int64(e) }

func TestAScheduleInsideACandleIsFollowed(t *testing.T) {
	t.Parallel()
	recorded := flatTape(t, exchange.Futures, 4, "100")
	config := caseConfig(recorded, nil)
	config.Legs[0].Strategy.Schedule = every(10 * exchange.Minute1)
	config.Legs[0].Strategy.Strategy = build(t, "twap", strategy.Setting{Market: exchange.Futures, Symbol: recorded.Symbol, Interval: exchange.Hour1},
		strategy.Values{"side": "buy", "quantity": "6", "slices": "6", "every": "10m"})
	result := mustRun(t, config)
	if result.Fills != 6 {
		t.Fatalf("want 6 slices, have %+v", result.Executions)
	}
	for i := 1; i < 6; i++ {
		if apart := result.Executions[i].TimeMS - result.Executions[i-1].TimeMS; apart != 10*int64(exchange.Minute1) {
			t.Errorf("slice %d: want 10 minutes after the one before, have %d ms", i+1, apart)
		}
	}
}

func TestLongCurveIsSampledIncludingItsEnd(t *testing.T) {
	t.Parallel()
	result := mustRun(t, speedConfig(t, steps(symbol(t, exchange.Futures, "0.1", "0.001"), 250_000), "200", "1000"))
	directory := t.TempDir()
	if err := result.WriteDir(directory); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(directory, "equity.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(text)), "\n")
	if n := len(rows) - 1; n != 125_001 {
		t.Errorf("want every second close and the last, 125001; have %d", n)
	}
	if want := fmt.Sprintf("%d,%s", result.To.UnixMilli(), result.FinalEquity); rows[len(rows)-1] != want {
		t.Errorf("the last row: want %s, have %s", want, rows[len(rows)-1])
	}
}

func TestTheDeepestFallIsDated(t *testing.T) {
	t.Parallel()
	symbol := symbol(t, exchange.Futures, "0.1", "0.001")
	recorded := candlesOf(t, symbol, exchange.Hour1, midnight, `
		100 100 100 100
		100 110 100 110
		110 110  99  99
		 99 105  99 105
		105 120 105 120
		120 120 115 115`)
	config := caseConfig(recorded, &scripted{targets: hold(t, symbol, "100")})
	config.Costs = backtest.Costs{}
	// Equity: 10000, 11000, 9900, 10500, 12000, 11500.
	result := mustRun(t, config)
	at := func(hour int) time.Time { return time.UnixMilli(midnight).UTC().Add(time.Duration(hour) * time.Hour) }
	d := result.Drawdown
	if d == nil || !d.Peak.Equal(at(2)) || !d.Trough.Equal(at(3)) || d.Recovered == nil || !d.Recovered.Equal(at(5)) {
		t.Errorf("want peak 02:00, trough 03:00, recovered 05:00; have %+v", d)
	}
	if result.MaxDrawdown < 9.999999 || result.MaxDrawdown > 10.000001 {
		t.Errorf("drawdown: want 10 %%, have %v", result.MaxDrawdown)
	}
}

func TestReportWarnings(t *testing.T) {
	t.Parallel()
	recorded := flatTape(t, exchange.Futures, 6, "100")
	script := &scripted{targets: hold(t, recorded.Symbol, "10 . . ."), panicAt: 4}
	config := caseConfig(recorded, script)
	if result := mustRun(t, config); !warned(result, "strategy case failed and was stopped: the script ends here") {
		t.Errorf("a panic: have %v", result.Warnings)
	}
	config = caseConfig(recorded, &scripted{targets: hold(t, recorded.Symbol, "10 . . .")})
	config.Limits.MaxPosition = recorded.Symbol.QuantityAmount(recorded.Symbol.QuantityTick)
	result := mustRun(t, config)
	if result.Refusals != 1 || !warned(result, "intents refused by risk: 1, the first by") || !warned(result, "no trade was executed") {
		t.Errorf("a refusal: have %d, %v", result.Refusals, result.Warnings)
	}
	recorded.Holes = []tape.Hole{{AfterMS: midnight, Missing: 3}, {AfterMS: midnight, Missing: 1}}
	recorded.Repaired = []string{"line 7: dropped"}
	result = mustRun(t, caseConfig(recorded, &scripted{}))
	if !warned(result, "4 candles are missing in 2 gaps, the first after 2023-11-15T00:00:00Z") || !warned(result, "line 7: dropped") {
		t.Errorf("bad data: have %v", result.Warnings)
	}
}

func TestARunThatCannotBeMadeIsRefused(t *testing.T) {
	t.Parallel()
	recorded := flatTape(t, exchange.Futures, 3, "100")
	for what, change := range map[string]func(*backtest.Config){
		"slippage": func(c *backtest.Config) { c.Costs.Slippage = -1 },
		"cash":     func(c *backtest.Config) { c.Cash = exchange.Amount{} },
		"no candles": func(c *backtest.Config) {
			c.Legs[0].Tape = &tape.Tape{Symbol: recorded.Symbol, Candles: &exchange.Candles{Interval: exchange.Hour1}}
		},
		"decides on":  func(c *backtest.Config) { c.Legs[0].Strategy.Interval = exchange.Minute1 },
		"order delay": func(c *backtest.Config) { c.Costs.LatencyMS = -1 },
		"fee":         func(c *backtest.Config) { c.Costs.Futures.Taker = exchange.RateOne },
	} {
		config := caseConfig(recorded, &scripted{})
		change(&config)
		if _, err := backtest.Run(t.Context(), config); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("want an error of %q, have %v", what, err)
		}
	}
}

func TestAStoppedRunEndsWithItsCause(t *testing.T) {
	t.Parallel()
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	recorded := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 20_000)
	config := speedConfig(t, recorded, "10", "50")
	done := 0
	config.Progress = func(n, total int) {
		if done = n; n > 0 {
			cancel(cause)
		}
		if total != 20_000 {
			t.Errorf("progress: want 20000 candles in all, have %d", total)
		}
	}
	if _, err := backtest.Run(ctx, config); !errors.Is(err, cause) || done == 0 || done == 20_000 {
		t.Errorf("want %v midway, have %v after %d", cause, err, done)
	}
}

func TestTheReportIsWrittenWhole(t *testing.T) {
	t.Parallel()
	result := mustRun(t, weathers[1].config(t, 2))
	directory := filepath.Join(t.TempDir(), "new", "report")
	if err := result.WriteDir(directory); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(directory, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(`schema strategy market symbol interval from to candles fills round_trips wins initial_equity final_equity
		wallet total_fees total_funding max_drawdown_pct sharpe sortino calmar cagr_pct profit_factor expectancy exposure_pct open_position
		warnings assumptions elapsed_s candles_per_s data_sha256 config_sha256 result_sha256 executions`) {
		if _, found := fields[name]; !found {
			t.Errorf("report.json has no %s", name)
		}
	}
	for name, want := range map[string]int{"fills.csv": result.Fills, "trades.csv": result.RoundTrips, "equity.csv": result.Candles} {
		file, err := os.Open(filepath.Join(directory, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		rows, err := csv.NewReader(file).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if len(rows)-1 != want {
			t.Errorf("%s: want %d rows, have %d", name, want, len(rows)-1)
		}
		if name == "equity.csv" {
			same(t, "the curve's end", result.FinalEquity, rows[len(rows)-1][1])
			continue
		}
		wantRowsAsJSON(t, rows, fields[map[string]string{"fills.csv": "executions", "trades.csv": "trades"}[name]].([]any))
	}
	wantParquetAsCSV(t, directory)
	blocked := filepath.Join(directory, "report.json", "below a file")
	if err := result.WriteDir(blocked); err == nil {
		t.Error("a directory that cannot be created: want an error")
	}
	broken := errors.New("no room")
	for what, output := range map[string]backtest.Output{
		"no room":                   {Name: "x.html", Write: func(io.Writer) error { return broken }},
		"no such file or directory": {Name: "none/x.html", Write: func(io.Writer) error { return nil }},
	} {
		if err := result.WriteDir(directory, output); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("want %q, have %v", what, err)
		}
		if left, _ := filepath.Glob(filepath.Join(directory, "*.partial")); len(left) != 0 {
			t.Errorf("%s: %v is left", what, left)
		}
	}
	if again, err := os.ReadFile(filepath.Join(directory, "report.json")); err != nil || !bytes.Equal(again, text) {
		t.Errorf("want the earlier report as it was, have %v", err)
	}
}

// wantRowsAsJSON compares rows of CSV with those of the JSON, which name their quantity differently.
func wantRowsAsJSON(t *testing.T, rows [][]string, all []any) {
	t.Helper()
	for i, row := range rows[1:] {
		fields := all[i].(map[string]any)
		for k, name := range rows[0] {
			want := fields[map[bool]string{true: "quantity", false: name}[name == "qty"]]
			if number, is := want.(float64); is {
				want = strconv.FormatFloat(number, 'f', -1, 64)
			}
			if want != row[k] {
				t.Errorf("row %d: %s: want %v, have %s", i, name, want, row[k])
			}
		}
	}
}

func TestTableShowsKeyFigures(t *testing.T) {
	t.Parallel()
	recorded := flatTape(t, exchange.Futures, 6, "100")
	result := mustRun(t, caseConfig(recorded, &scripted{targets: hold(t, recorded.Symbol, "10 0 -10 . .")}))
	var plain, colored bytes.Buffer
	result.Table(&plain, false)
	result.Table(&colored, true)
	for _, part := range []string{"case", "BTC-USDT", "final equity", "max drawdown", "Sharpe", "round trips", "fees", "funding paid", "still open",
		"SHORT 10 at 100", "profit %", "-0.03 %", "assumes fees", "warning: no funding", "result " + result.ResultSHA256[:8]} {
		if !strings.Contains(plain.String(), part) {
			t.Errorf("the table lacks %q:\n%s", part, plain.String())
		}
	}
	if strings.Contains(plain.String(), "\x1b[") {
		t.Error("color where none was asked for")
	}
	if !strings.Contains(colored.String(), "\x1b[") {
		t.Error("no color where it was asked for")
	}
}
