package report

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/backtest"
	"botd/backtest/parity"
	"botd/exchange"
	"botd/exchange/sim"
)

// priced returns hourly candles of the futures of BTC-USDT, each open at the previous close. Its unit of price is 0.01.
func priced(t *testing.T, openMS int64, closes ...exchange.Price) Source {
	t.Helper()
	symbol, found := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, "BTC-USDT")
	if !found {
		t.Fatal("no symbol")
	}
	candles := &exchange.Candles{Interval: exchange.Hour1}
	for i, price := range closes {
		open := closes[max(0, i-1)]
		at := openMS + int64(i)*int64(exchange.Hour1)
		candles.Append(exchange.Candle{OpenMS: at, Open: open, High: max(open, price), Low: min(open, price), Close: price})
	}
	return Source{Symbol: symbol, Candles: candles}
}

// The value is the mean of the symbols, each at its last close by then, or 1 before its first.
func TestBuyAndHoldValue(t *testing.T) {
	t.Parallel()
	hour := int64(exchange.Hour1)
	sources := []Source{priced(t, 0, 100, 110, 120), priced(t, hour, 50, 25)} // closes at 1, 2, 3 and at 2, 3
	for atMS, want := range map[int64]float64{
		0: 1, hour - 1: 1, hour: 1, 2 * hour: (1.1 + 1) / 2, 3*hour - 1: (1.1 + 1) / 2, 3 * hour: (1.2 + 0.5) / 2, 9 * hour: (1.2 + 0.5) / 2,
		2*hour - 1: 1, 2*hour - 2: 1,
	} {
		if have := held(sources, atMS); math.Abs(have-want) > 1e-12 {
			t.Errorf("at %d: want %v, have %v", atMS, want, have)
		}
	}
	if have := held(nil, 0); have != 0 {
		t.Errorf("of nothing: have %v", have)
	}
}

// The deviations are 10 % and 1 %, both around zero.
func TestBuyAndHoldIsScaledToVolatility(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		curve []float64
		want  float64
	}{
		{[]float64{100, 110, 99}, 0.1},          // +10 %, -10 %
		{[]float64{100, 110, 110}, 0.05},        // +10 %, 0
		{[]float64{100, 130, 143, 143}, 0.1247}, // 30, 10, 0 %: the squares of 16.67, -3.33, -13.33 sum up to 466.7
		{[]float64{100, 110}, 0},
		{[]float64{100, 110, 0, 5}, 0},      // becomes zero
		{[]float64{100, 110, -5}, 0.572727}, // +10 %, -104.5454 %: half of the distance
	} {
		if have := spread(c.curve); math.Abs(have-c.want) > 1e-4 {
			t.Errorf("%v: want %v, have %v", c.curve, c.want, have)
		}
	}
	if have := evened([]float64{100, 200, 20, 200}, []float64{100, 300, 50, 400}); slices.Min(have) < 0 {
		t.Errorf("nothing is worth less than nothing: have %v", have)
	}
	if have := evened([]float64{100, 100, 100}, []float64{100, 110, 99}); have[1] != 100 {
		t.Errorf("a price that does not move: have %v", have)
	}
}

// There are 29 days of +1 % and a last one of -1 %: mean 0.9333 %, deviation 0.3651 %.
func TestAThirtyDaySharpeRatio(t *testing.T) {
	t.Parallel()
	returns := append(slices.Repeat([]float64{0.01}, 29), -0.01)
	mean, squares := 0.0, 0.0
	for _, r := range returns {
		mean += r / 30
	}
	for _, r := range returns {
		squares += (r - mean) * (r - mean)
	}
	if deviation := math.Sqrt(squares / 29); math.Abs(mean-0.0093333) > 1e-6 || math.Abs(deviation-0.0036515) > 1e-6 {
		t.Fatalf("have %v, %v", mean, deviation)
	}
	// 0.0093333 / 0.0036515 × √365 = 48.833; 0.36515 % × √365 = 6.98 %.
	equity := []float64{100}
	for _, r := range append(returns, 0) {
		equity = append(equity, equity[len(equity)-1]*(1+r))
	}
	all := rollingOf(86_400_000, dailyReturns(equity))
	if len(all.Time) != 2 || all.Time[0] != 31*86_400 || all.Time[1] != 32*86_400 {
		t.Fatalf("want two windows, that end at the 31st and the 32nd day, have %v", all.Time)
	}
	if all.Sharpe[0] == nil || math.Abs(*all.Sharpe[0]-48.833) > 0.002 || math.Abs(all.Volatility[0]-6.98) > 0.005 {
		t.Errorf("want 48.833 and 6.98 %%, have %v and %v", *all.Sharpe[0], all.Volatility[0])
	}
	for _, ratio := range all.Sharpe {
		if thousandths := *ratio * 1_000; math.Abs(thousandths-math.Round(thousandths)) > 1e-6 {
			t.Errorf("want three decimals, have %v", *ratio)
		}
	}
	if flat := rollingOf(0, make([]float64, 30)); flat.Sharpe[0] != nil || flat.Volatility[0] != 0 {
		t.Errorf("no change: want no ratio, have %v", *flat.Sharpe[0])
	}
	if few := rollingOf(0, make([]float64, 29)); few.Time != nil {
		t.Errorf("29 days: have %v", few)
	}
	if have := dailyReturns([]float64{100, 150, 0, 10, 20}); !slices.Equal(have, []float64{0.5, -1}) { // it ends at the ruin
		t.Errorf("have %v", have)
	}
}

func TestVolumesHaveThreeDigits(t *testing.T) {
	t.Parallel()
	for volume, want := range map[float64]float64{0: 0, -1: 0, 123_456: 123_000, 9.996: 10, 0.00123456: 0.00123, 1: 1, 1_234.5: 1_230} {
		if have := rough(volume); math.Abs(have-want) > 1e-12*want {
			t.Errorf("%v: want %v, have %v", volume, want, have)
		}
	}
}

// The result has the shortest interval with at most 8,000 candles.
func TestCandlesArePutTogetherUntilTheyAreFew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		interval exchange.Interval
		count    int
		hole     bool // after each candle
		want     exchange.Interval
	}{
		{exchange.Minute1, 8_000, false, exchange.Minute1},
		{exchange.Minute1, 8_001, false, exchange.Minute5},
		{exchange.Minute1, 40_001, false, exchange.Minute15},
		{exchange.Minute1, 40_000, false, exchange.Minute5},
		{exchange.Minute15, 8_001, false, exchange.Minute30},
		{exchange.Minute15, 8_001, true, exchange.Hour1}, // with half an hour each they are as many
		{exchange.Day1, 8_001, false, exchange.Week1},
		{exchange.Week1, 8_001, false, exchange.Week1}, // no longer interval is a multiple
	} {
		candles := &exchange.Candles{Interval: c.interval}
		openMS := c.interval.OpenOf(1_704_067_200_000)
		for range c.count {
			candles.OpenMS = append(candles.OpenMS, openMS)
			if openMS += int64(c.interval); c.hole {
				openMS += int64(c.interval)
			}
		}
		for _, column := range []*[]exchange.Price{&candles.Open, &candles.High, &candles.Low, &candles.Close} {
			*column = make([]exchange.Price, c.count)
		}
		candles.Volume = make([]float64, c.count)
		have := shownInterval(candles)
		if have != c.want {
			t.Errorf("%d of %s: want %s, have %s", c.count, c.interval, c.want, have)
		}
		if made := joined(candles, have).Len(); have != c.interval && (made != joinedLen(candles, have) || made > maxBars) {
			t.Errorf("%d of %s: %d of %s were counted, %d are made", c.count, c.interval, joinedLen(candles, have), have, made)
		}
	}
}

// The unit is a hundred-thousandth of its largest digit; a missing value repeats the previous one.
func TestALineIsPacked(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	l, some := lineOf([]float64{nan, math.Inf(1), 50_000, nan, 49_990.4, 51_000.6})
	if !some || l.First != 2 || l.Unit != 1 || !slices.Equal(l.Values, []int64{50_000, 0, -10, 1_011}) {
		t.Errorf("have %+v, %v", l, some)
	}
	if l, _ = lineOf([]float64{-0.5, 0.25}); l.First != 0 || math.Abs(l.Unit-1e-5) > 1e-18 || !slices.Equal(l.Values, []int64{-50_000, 75_000}) {
		t.Errorf("have %+v", l)
	}
	if l, _ = lineOf([]float64{0, 0}); l.Unit != 1 || !slices.Equal(l.Values, []int64{0, 0}) {
		t.Errorf("have %+v", l)
	}
	if l, some = lineOf([]float64{nan, nan}); some {
		t.Errorf("have %+v", l)
	}
}

// The data are the curve, fills, round trips and levels of a drawn result.
func TestARunsDataAreItsRows(t *testing.T) {
	t.Parallel()
	source := priced(t, 0, 10_000, 11_000, 10_500)
	r := &backtest.Result{InitialEquity: "100", BySymbol: make([]backtest.SymbolRow, 2)}
	r.Executions = []backtest.Execution{{TimeMS: 3_600_000, Symbol: "BTC-USDT", Side: "BUY", Price: "100.5", Quantity: "2", Purpose: "entry"},
		{TimeMS: 5_000_000, Symbol: "ETH-USDT", Side: "BUY", Price: "1", Quantity: "1"},
		{TimeMS: 7_200_500, Symbol: "BTC-USDT", Side: "SELL", Price: "110", Quantity: "1.5", Purpose: "exit"}}
	r.Trips = []backtest.TripRow{{Symbol: "BTC-USDT", Strategy: "trend", EnteredMS: 3_600_000, LeftMS: 7_200_500, Side: "BUY", Quantity: "2", Entry: "100.5",
		Exit: "110.123456789", PNL: "12.34567", Fees: "0.12345", Funding: "-0.00004", Adverse: 1.5, Favorable: 2.5, EntryReason: "up", ExitPurpose: "exit"},
		{Symbol: "none", Side: "SELL"}}
	s := seriesOf(r, &source)
	want := fills{Time: instants{3_600, 7_200}, Price: []float64{100.5, 110}, Quantity: []float64{2, -1.5}, Purpose: []string{"entry", "exit"}}
	if diff := cmp.Diff(want, s.Fills); diff != "" {
		t.Error(diff)
	}
	if s.Name != "BTC-USDT" || s.Interval != "1h" || s.Places != source.Symbol.PriceScale || s.Tick != source.Symbol.PriceFloat(source.Symbol.PriceTick) {
		t.Errorf("have %+v", s)
	}
	wantTrips := trips{Series: []int{0, -1}, Strategy: []string{"trend", ""}, Entered: instants{3_600, 0}, Left: instants{7_200, 0}, Long: []int{1, 0},
		Quantity: []string{"2", ""}, Entry: []float64{100.5, 0}, Exit: []float64{110.12345679, 0}, PNL: []float64{12.3457, 0}, Fees: []float64{0.1235, 0},
		Funding: []float64{0, 0}, Adverse: []float64{1.5, 0}, Favor: []float64{2.5, 0}, Reasons: []string{"up", ""}, Exits: []string{"exit", ""}}
	have := tripsOf(r, []Source{source})
	if diff := cmp.Diff(wantTrips, have); diff != "" {
		t.Error(diff)
	}
	r.BySymbol = r.BySymbol[:1]
	if have := tripsOf(r, []Source{source}); have.Strategy[0] != "" {
		t.Errorf("of a single strategy: want no name, have %v", have.Strategy)
	}
	r.Executions, r.Trips = slices.Repeat(r.Executions[:1], maxFills+3), slices.Repeat(r.Trips[:1], maxTrips+2)
	if s, all := seriesOf(r, &source), tripsOf(r, nil); len(s.Fills.Time) != maxFills || s.Fills.Left != 3 || len(all.PNL) != maxTrips || all.Missing != 2 {
		t.Errorf("want %d fills and %d round trips, and what is left counted; have %d, %d, %d, %d", maxFills, maxTrips, len(s.Fills.Time), s.Fills.Left,
			len(all.PNL), all.Missing)
	}
	r.Trips = r.Trips[:maxTrips]
	if all := tripsOf(r, nil); len(all.PNL) != maxTrips || all.Missing != 0 {
		t.Errorf("have %d, %d missing", len(all.PNL), all.Missing)
	}
	text, err := json.Marshal(instants{100, 160, 150})
	if err != nil || string(text) != "[100,60,-10]" {
		t.Errorf("times are distances: have %s, %v", text, err)
	}
}

// The newest 200 are shown, with a dash for an unknown value.
func TestLiveOrdersAreListedWithBacktest(t *testing.T) {
	t.Parallel()
	if liveOf(nil) != nil || comparisonOf(nil) != nil {
		t.Error("without live trading: want nothing")
	}
	fill := func(atMS int64, buy bool, price float64) *parity.Execution {
		return &parity.Execution{AtMS: atMS, Buy: buy, Quantity: 0.5, Price: price, Purpose: "entry"}
	}
	both := parity.Pair{Live: fill(60_000, true, 101), Backtest: fill(58_400, true, 100), LaterMS: 1_600, Slippage: 1, Cost: 0.5, Priced: true}
	better := both
	better.Slippage, better.Cost = -1, -0.5
	same := both
	same.Slippage, same.Cost = 0, 0
	pairs := []parity.Pair{both, better, same, {Live: fill(61_000, false, 0)}, {Backtest: fill(62_000, false, 99)}}
	want := []comparedOrder{
		{At: "1970-01-01 00:01:00", What: "buy entry", LiveQuantity: "0.5", Quantity: "0.5", LivePrice: "101", Price: "100", Later: "2s", Slippage: "+1.0000",
			Cost: "+0.5000", Tone: "down"},
		{At: "1970-01-01 00:01:00", What: "buy entry", LiveQuantity: "0.5", Quantity: "0.5", LivePrice: "101", Price: "100", Later: "2s", Slippage: "-1.0000",
			Cost: "-0.5000", Tone: "up"},
		{At: "1970-01-01 00:01:00", What: "buy entry", LiveQuantity: "0.5", Quantity: "0.5", LivePrice: "101", Price: "100", Later: "2s", Slippage: "+0.0000",
			Cost: "+0.0000", Tone: "up"},
		{At: "1970-01-01 00:01:01", What: "sell entry", LiveQuantity: "0.5", Quantity: "none", LivePrice: none, Price: none, Later: none,
			Slippage: none, Cost: none},
		{At: "1970-01-01 00:01:02", What: "sell entry", LiveQuantity: "none", Quantity: "0.5", LivePrice: none, Price: "99", Later: none,
			Slippage: none, Cost: none},
	}
	given := &Live{Answer: &parity.Parity{Cash: 1_000}}
	given.Answer.Pairs = pairs
	given.Answer.Sentence = "as it was"
	have := comparisonOf(given)
	if diff := cmp.Diff(&comparison{Sentence: "as it was", Rows: want}, have); diff != "" {
		t.Error(diff)
	}
	given.Answer.Pairs = slices.Concat(slices.Repeat(pairs[4:], maxCompared+1), pairs[:1])
	if have = comparisonOf(given); len(have.Rows) != maxCompared || have.Left != 2 || have.Rows[maxCompared-1].Price != "100" {
		t.Errorf("want the newest 200 of 202, have %d, %d left", len(have.Rows), have.Left)
	}
	given.Answer.LiveCurve.TimeMS, given.Answer.LiveCurve.Profit = []int64{1_000, 2_500}, []float64{0, -10.126}
	given.Fills = slices.Repeat([]parity.Execution{*fill(60_500, true, 101)}, maxFills+1)
	l := liveOf(given)
	if !slices.Equal(l.Time, instants{1, 2}) || !slices.Equal(l.Equity, []float64{1_000, 989.87}) || len(l.Filled) != maxFills || l.Filled[0] != 60 ||
		l.Price[0] != 101 {
		t.Errorf("have %v, %v, %d fills", l.Time, l.Equity, len(l.Filled))
	}
}

// The run has more points than are drawn: 4,001 in stretches of three.
func TestCurveKeepsDrawdownOfEachSegment(t *testing.T) {
	t.Parallel()
	source := priced(t, 0, 10_000, 10_000)
	var points []backtest.Point
	text := strings.Repeat("100 110 99 ", 1_333) + "100 121" // a drawdown of a tenth in each stretch
	for i, word := range strings.Fields(text) {
		equity, _ := strconv.ParseInt(word, 10, 64)
		points = append(points, backtest.Point{AtMS: int64(i+1) * 60_000, Equity: exchange.AmountOf(equity), Leverage: 0.12345})
	}
	c := curveOf(points, 100, []Source{source})
	if n := len(c.Time); n != 1_334 || c.Time[0] != 180 || c.Time[1_333] != 4_001*60 || c.Equity[0] != 99 || c.Equity[1_333] != 121 {
		t.Fatalf("want the last point of each stretch, have %d: %v ... %v", n, c.Time[:2], c.Time[n-1])
	}
	for i, d := range c.Drawdown[:1_333] {
		if d != -10 || c.Leverage[i] != 0.123 || c.Hold[i] != 100 {
			t.Fatalf("stretch %d: want a fall of 10 %%, have %v, %v, %v", i, d, c.Leverage[i], c.Hold[i])
		}
	}
	if c.Drawdown[1_333] != -9.091 { // 100 after 110
		t.Errorf("the last stretch: have %v", c.Drawdown[1_333])
	}
	if few := curveOf(points[:2_000], 100, nil); len(few.Time) != 2_000 {
		t.Errorf("2,000 points are all drawn: have %d", len(few.Time))
	}
	third := priced(t, 0, 30_000, 40_000) // a third more, which is no whole number of cents
	if flat := curveOf([]backtest.Point{{AtMS: 7_200_000, Equity: exchange.AmountOf(100)}}, 100, []Source{third}); !slices.Equal(flat.Hold, []float64{133.33}) {
		t.Errorf("holding beside a run that does not move: want cents, have %v", flat.Hold)
	}
	if none := curveOf(nil, 100, nil); none.Time != nil {
		t.Errorf("have %v", none)
	}
	ruined := curveOf([]backtest.Point{{Equity: exchange.AmountOf(0)}}, 0, nil)
	if ruined.Drawdown[0] != 0 {
		t.Errorf("nothing of nothing: have %v", ruined.Drawdown)
	}
}
