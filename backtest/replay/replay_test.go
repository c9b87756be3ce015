package replay

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"botd/backtest"
	"botd/backtest/inputs"
	"botd/backtest/parity"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/runtime/view"
	"botd/strategy"
	"botd/strategy/library"
)

const (
	firstMS = int64(1_704_067_200_000) // 2024-01-01
	hour    = int64(exchange.Hour1)
)

// at returns a moment that many minutes after the first candle's open.
func at(minutes int64) int64 { return firstMS + minutes*60_000 }

// traded bought 0.5 at 100 and sold it at 110, in a round trip that cost 0.15 in fees and 0.05 in funding, and had bought 0.2 before.
func traded() Traded {
	return Traded{
		Fills: []view.Fill{
			{AtMS: at(195), ClientOrderID: "c", Side: "SELL", Quantity: "0.5", Price: "110", Purpose: "exit", Fee: "0.05"},
			{AtMS: at(-30), ClientOrderID: "a", Side: "BUY", Quantity: "0.2", Price: "90", Purpose: "entry"},
			{AtMS: at(65), ClientOrderID: "b", Side: "BUY", Quantity: "0.5", Price: "100", Purpose: "entry", Fee: "0.07"},
		},
		Trips: []view.ClosedPosition{{Side: "LONG", Quantity: "0.5", EntryPrice: "100", ExitPrice: "110", OpenedMS: at(65), ClosedMS: at(195),
			Fees: "0.15", Funding: "0.05",
			PNL: "4.8"}},
		Equity: func(int64) (view.EquitySeries, error) {
			return view.EquitySeries{TimeMS: []int64{at(0)}, Equity: []view.Decimal{"1500"}, Wallet: []view.Decimal{"400"},
				Unrealized: []view.Decimal{"-10"}}, nil
		},
	}
}

// closes are those of the recorded candles, in USDT.
var closes = []int64{100, 104, 106, 105, 112, 111}

// replaying has six hours of recorded candles.
func replaying(t *testing.T, market string) *Replay {
	t.Helper()
	options := configs.Options{Registry: strategy.NewRegistry(library.All()...), Symbols: sim.DefaultSymbols()}
	m, err := exchange.ParseMarket(market)
	if err != nil {
		t.Fatal(err)
	}
	symbol, _ := exchange.FindSymbol(options.Symbols, m, "BTC-USDT")
	candles := &exchange.Candles{Interval: exchange.Hour1}
	for i, price := range closes {
		p := exchange.Price(price) * exchange.Price(math.Pow10(symbol.PriceScale))
		candles.Append(exchange.Candle{OpenMS: firstMS + int64(i)*hour, Open: p, High: p, Low: p, Close: p, Volume: 1})
	}
	directory := t.TempDir()
	file, data := filepath.Join(directory, "trend.yaml"), filepath.Join(directory, "BTCUSDT-1h.csv")
	text := "name: trend\nstrategy: sma_cross\nmarket: " + market + "\nsymbol: BTC-USDT\ninterval: 1h\n" +
		"size: {equity: 100%}\nparams: {fast: 1, slow: 2, mode: MODE}\n" +
		"backtest: {cash: 777}\n"
	text = strings.ReplaceAll(text, "MODE", map[string]string{"futures": "long_short", "spot": "long_only"}[market])
	if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), tape.WriteFile(data, candles, symbol, nil)); err != nil {
		t.Fatal(err)
	}
	given, problems := configs.LoadStrategyWith(file, nil, options)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return &Replay{Strategy: *given, Traded: traded(), Files: inputs.Files{Data: []string{data}, Options: func() configs.Options { return options },
		Load: func(path string, symbol *exchange.Symbol, interval exchange.Interval, _ bool) (*tape.Tape, error) {
			return tape.LoadCandles(path, symbol, interval, tape.Options{})
		}}}
}

// ran returns the outcome of its backtest.
func ran(_ context.Context, config backtest.Config) (*backtest.Result, error) {
	last := config.Legs[0].Tape.Candles
	return &backtest.Result{InitialEquity: config.Cash.String(), To: time.UnixMilli(last.CloseMS(last.Len() - 1)).UTC(),
		Executions: []backtest.Execution{{TimeMS: at(60), Side: "BUY", Quantity: "0.5", Price: "99", Purpose: "entry"},
			{TimeMS: at(240), Side: "SELL", Quantity: "0.5", Price: "109", Purpose: "exit"}},
		Trips: []backtest.TripRow{{PNL: "5", Fees: "0.1"}, {PNL: "-2.5", Fees: "0.2"}}}, nil
}

// The fills, profit, fees and the curve are computed manually.
func TestReplayComparesTradingWithBacktest(t *testing.T) {
	t.Parallel()
	r := replaying(t, "futures")
	r.FromMS = at(60)
	outcome, err := r.Run(t.Context(), ran)
	if err != nil {
		t.Fatal(err)
	}
	a := outcome.Answer
	if a.Schema != 1 || a.Strategy != "trend" || a.FromMS != at(60) || a.ToMS != at(360) || a.Later != 0 || a.Cash != 390 || len(outcome.Fills) != 2 ||
		a.LivePNL != 4.8 || a.LiveFees != 0.15 || a.BacktestPNL != 2.5 || math.Abs(a.BacktestFees-0.3) > 1e-12 || a.Matched != 2 ||
		a.Sentence != a.Comparison.Sentence() {
		t.Errorf("have %+v", a)
	}
	if first := outcome.Config.Legs[0].Tape.Candles.OpenMS[0]; first != at(0) { // it starts there
		t.Errorf("want it warm at the time from which is compared, have it begin at %d", (first-firstMS)/60_000)
	}
	// At 120: the initial 0.2 from 104, the open at 60, and 0.5 from 100, at 104, less 0.07. At 240 the trip has ended: 5 of it, less 0.2
	// in total.
	want := parity.ProfitCurve{TimeMS: []int64{at(120), at(180), at(240), at(300), at(360)},
		Profit: []float64{2 - 0.07, 0.2*2 + 3 - 0.07, 0.2*1 + 5 - 0.2, 0.2*8 + 5 - 0.2, 0.2*7 + 5 - 0.2}}
	if diff := cmp.Diff(want, a.LiveCurve, cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) < 1e-9 })); diff != "" {
		t.Error(diff)
	}
}

// The comparison is from the candle whose close decided the first fill to the end of the recording.
func TestComparisonStartsBeforeFirstFill(t *testing.T) {
	t.Parallel()
	r := replaying(t, "futures")
	r.Traded.Fills = append(r.Traded.Fills[:1:1], r.Traded.Fills[2:]...)
	r.Traded.Fills = append(r.Traded.Fills, view.Fill{AtMS: at(361), Side: "BUY", Quantity: "1", Price: "1"},
		view.Fill{AtMS: at(360), Side: "SELL", Quantity: "1"})
	outcome, err := r.Run(t.Context(), ran)
	if err != nil || outcome.Answer.FromMS != at(0) || outcome.Answer.Later != 1 || len(outcome.Fills) != 3 {
		t.Errorf("want from the candle before that of the fill at 65, and one fill too late; have %+v, %v", outcome, err)
	}
	r = replaying(t, "futures")
	r.FromMS = at(195) // the exit is inside; three closes complete its warm-up, the last of which is the one at 240
	if outcome, err = r.Run(t.Context(), ran); err != nil || len(outcome.Fills) != 1 || outcome.Config.Legs[0].Tape.Candles.OpenMS[0] != at(120) {
		t.Errorf("have %d fills from %d, %v", len(outcome.Fills), (outcome.Config.Legs[0].Tape.Candles.OpenMS[0]-firstMS)/60_000, err)
	}
	r = replaying(t, "futures")
	r.Traded.Fills, r.FromMS = []view.Fill{{AtMS: at(360), Side: "BUY", Quantity: "0.5", Purpose: "entry"}}, at(360)
	r.Traded.Trips[0].OpenedMS = at(360)
	if outcome, err = r.Run(t.Context(), ran); err != nil || len(outcome.Answer.LiveCurve.Profit) != 0 || outcome.Fills[0].Price != 100 {
		t.Errorf("a fill at the end of what is recorded: have %+v, %v", outcome, err)
	}
	r = replaying(t, "futures")
	r.FromMS, r.ToMS = at(60), at(195) // the exit is at the end, which is outside
	if outcome, err = r.Run(t.Context(), ran); err != nil || len(outcome.Fills) != 1 || outcome.Answer.ToMS != at(180) {
		t.Errorf("have %+v, %v", outcome, err)
	}
	for what, change := range map[string]func(r *Replay){
		"has traded nothing in that time":             func(r *Replay) { r.FromMS = at(196) },
		"are later than the recorded candles":         func(r *Replay) { r.Traded.Fills = []view.Fill{{AtMS: at(400), Quantity: "1"}}; r.FromMS = at(60) },
		"the account's equity of 2024-01-01 00:00:00": func(r *Replay) { r.Traded.Equity = brokenEquity },
		"no equity": func(r *Replay) {
			r.Traded.Equity = func(int64) (view.EquitySeries, error) { return view.EquitySeries{}, errors.New("no equity") }
		},
		"needs -s": func(r *Replay) { r.Files.Data = nil },
	} {
		r := replaying(t, "futures")
		change(r)
		if outcome, err := r.Run(t.Context(), ran); err == nil || outcome != nil || !strings.Contains(err.Error(), what) {
			t.Errorf("want %q, have %v", what, err)
		}
	}
	failed := errors.New("the run failed")
	r = replaying(t, "futures")
	if outcome, err := r.Run(t.Context(), func(context.Context, backtest.Config) (*backtest.Result, error) { return nil, failed }); outcome != nil ||
		!errors.Is(err, failed) {
		t.Errorf("have %v, %v", outcome, err)
	}
}

func brokenEquity(int64) (view.EquitySeries, error) {
	return view.EquitySeries{TimeMS: []int64{firstMS}, Equity: []view.Decimal{"1"}, Wallet: []view.Decimal{"much"}, Unrealized: []view.Decimal{"0"}}, nil
}

// The starting balance is that of the strategy's market; without a reading, or with an empty one, that of its
// file.
func TestStartingBalance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		market string
		equity []view.Decimal
		want   float64
	}{{"futures", []view.Decimal{"1500"}, 390}, {"spot", []view.Decimal{"1500"}, 1_110}, {"spot", []view.Decimal{"390"}, 777}, {"futures", nil, 777}} {
		r := replaying(t, c.market)
		r.Traded.Equity = func(int64) (view.EquitySeries, error) {
			return view.EquitySeries{TimeMS: []int64{firstMS}, Equity: c.equity, Wallet: []view.Decimal{"400"}, Unrealized: []view.Decimal{"-10"}}, nil
		}
		if outcome, err := r.Run(t.Context(), ran); err != nil || outcome.Answer.Cash != c.want {
			t.Errorf("%s with %v: want %v, have %+v, %v", c.market, c.equity, c.want, outcome, err)
		}
	}
}

// The round trip has the same quantity, and started or ended within ten seconds of the fill.
func TestAFillWithoutAPriceHasThatOfItsRoundTrip(t *testing.T) {
	t.Parallel()
	long := view.ClosedPosition{Side: "LONG", Quantity: "0.5", EntryPrice: "100", ExitPrice: "110", OpenedMS: at(65), ClosedMS: at(195)}
	short := long
	short.Side, short.EntryPrice, short.ExitPrice = "SHORT", "120", "90"
	for _, c := range []struct {
		what  string
		trip  view.ClosedPosition
		fill  parity.Execution
		price float64
	}{
		{"the entry", long, parity.Execution{AtMS: at(65) + 10_000, Buy: true, Quantity: 0.5}, 100},
		{"the exit, a little before", long, parity.Execution{AtMS: at(195) - 10_000, Quantity: 0.5}, 110},
		{"the entry of a short", short, parity.Execution{AtMS: at(65), Quantity: 0.5}, 120},
		{"the exit of a short", short, parity.Execution{AtMS: at(195), Buy: true, Quantity: 0.5}, 90},
		{"too late", long, parity.Execution{AtMS: at(65) + 10_001, Buy: true, Quantity: 0.5}, 0},
		{"a sale at the entry", long, parity.Execution{AtMS: at(65), Quantity: 0.5}, 0},
		{"another quantity", long, parity.Execution{AtMS: at(65), Buy: true, Quantity: 0.4}, 0},
		{"one that has a price", long, parity.Execution{AtMS: at(65), Buy: true, Quantity: 0.5, Price: 7}, 7},
	} {
		r := &Replay{fills: []parity.Execution{c.fill}, Traded: Traded{Trips: []view.ClosedPosition{c.trip}}}
		if r.price(); r.fills[0].Price != c.price {
			t.Errorf("%s: want %v, have %v", c.what, c.price, r.fills[0].Price)
		}
	}
}

// The ends of the time are included.
func TestEarnedCountsRoundTripsInRange(t *testing.T) {
	t.Parallel()
	r := &Replay{FromMS: 100, Traded: Traded{Trips: []view.ClosedPosition{{OpenedMS: 100, ClosedMS: 200, PNL: "1", Fees: "0.1"},
		{OpenedMS: 99, ClosedMS: 200, PNL: "20", Fees: "2"}, {OpenedMS: 100, ClosedMS: 201, PNL: "300", Fees: "30"},
		{OpenedMS: 150, ClosedMS: 160, PNL: "4000"}}}}
	if sum, fees := r.earned(200); sum != 4_001 || fees != 0.1 {
		t.Errorf("want 4001 and 0.1, have %v and %v", sum, fees)
	}
}

// The curve is the profit at each close after the start of the comparison, to the cent.
func TestTheCurveOfTheBacktest(t *testing.T) {
	t.Parallel()
	r := replaying(t, "futures")
	r.FromMS = at(60)
	outcome, err := r.Run(t.Context(), backtest.Run)
	if err != nil {
		t.Fatal(err)
	}
	var want parity.ProfitCurve
	for _, p := range outcome.Result.Curve()[1:] { // the first one closes at that time
		want.TimeMS, want.Profit = append(want.TimeMS, p.AtMS), append(want.Profit, p.Equity.Float()-390)
	}
	if diff := cmp.Diff(want, outcome.Answer.Curve, cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) < 0.00501 })); diff != "" ||
		len(want.TimeMS) != 5 || outcome.Result.Fills == 0 {
		t.Errorf("%d fills: %s", outcome.Result.Fills, diff)
	}
}

// The costs are the known fees of fills, and, at the end of a round trip, the rest of its costs.
func TestTradingCosts(t *testing.T) {
	t.Parallel()
	r := &Replay{Traded: Traded{
		Fills: []view.Fill{
			{AtMS: 10, Side: "BUY", Purpose: "entry", Price: "100", Fee: "0.01", FeeAsset: "BTC"},
			{AtMS: 20, Side: "SELL", Purpose: "exit", Price: "110", Fee: "0.5", FeeAsset: "USDT"},
			{AtMS: 50_000, Side: "SELL", Purpose: "entry", Price: "110", Fee: "0.3", FeeAsset: "USDT"},
			{AtMS: 60_000, Side: "BUY", Purpose: "exit"},
		},
		Trips: []view.ClosedPosition{{Side: "SHORT", OpenedMS: 50_000, ClosedMS: 60_000, Fees: "0.7", Funding: "0.2"},
			{Side: "LONG", OpenedMS: 10, ClosedMS: 20, Fees: "1.6", Funding: "0"}},
	}}
	want := []parity.Charge{{AtMS: 10, Base: 0.01}, {AtMS: 20, USDT: 0.5}, {AtMS: 20, USDT: 0.1}, {AtMS: 50_000, USDT: 0.3}, {AtMS: 60_000, USDT: 0.6}}
	if diff := cmp.Diff(want, r.charges(), cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) < 1e-9 })); diff != "" {
		t.Error(diff)
	}
}

// The fill opened or closed it, as far as readings show.
func TestTheRoundTripOfAFill(t *testing.T) {
	t.Parallel()
	trips := []view.ClosedPosition{{Side: "LONG", OpenedMS: 100_000, ClosedMS: 200_000}, {Side: "SHORT", OpenedMS: 200_000, ClosedMS: 300_000}}
	for _, c := range []struct {
		what string
		fill view.Fill
		want int
	}{
		{"an entry", view.Fill{AtMS: 100_000, Side: "BUY", Purpose: "entry"}, 0},
		{"an entry, seen before the position", view.Fill{AtMS: 90_000, Side: "BUY", Purpose: "entry"}, 0},
		{"too early", view.Fill{AtMS: 89_999, Side: "BUY", Purpose: "entry"}, -1},
		{"an exit", view.Fill{AtMS: 200_000, Side: "SELL", Purpose: "exit"}, 0},
		{"an exit, seen late", view.Fill{AtMS: 210_000, Side: "SELL", Purpose: "stop_loss"}, 0},
		{"the entry of the other side at that time", view.Fill{AtMS: 200_000, Side: "SELL", Purpose: "entry"}, 1},
		{"a strategy's own order", view.Fill{AtMS: 150_000, Side: "SELL", Purpose: "order"}, 0},
		{"an exit of the second", view.Fill{AtMS: 300_000, Side: "BUY", Purpose: "exit"}, 1},
		{"after all", view.Fill{AtMS: 311_000, Side: "BUY", Purpose: "exit"}, -1},
	} {
		if have := tripOf(trips, &c.fill); have != c.want {
			t.Errorf("%s: want %d, have %d", c.what, c.want, have)
		}
	}
}
