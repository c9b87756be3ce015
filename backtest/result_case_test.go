package backtest_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/strategy"
)

// workedConfig trades ten or five BTC over six hours from 06:00, at taker's fees of 0.1 % and slippage of 1 %, and pays funding of 0.1 % at
// 08:00. Targets are set at the first, third and fifth close, and filled at the next open: at 100, 120 and 100 before slippage.
func workedConfig(t *testing.T, words string) backtest.Config {
	t.Helper()
	symbol := symbol(t, exchange.Futures, "0.1", "0.001")
	recorded := candlesOf(t, symbol, exchange.Hour1, midnight+6*int64(exchange.Hour1), `
		100 100 100 100
		100 110  90 105
		105 121 105 120
		120 126 117 120
		120 120  96 100
		100 102  99 101`)
	for i := range recorded.Candles.Volume {
		recorded.Candles.Volume[i] = 10_000
	}
	config := caseConfig(recorded, &scripted{targets: hold(t, symbol, words)})
	config.Costs.Slippage = 1_000_000
	config.Legs[0].Funding = []tape.FundingRow{{TimeMS: midnight + 8*int64(exchange.Hour1), Rate: 100_000}}
	config.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) { return &scripted{targets: hold(t, symbol, words)}, nil }
	return config
}

func wantFigure(t *testing.T, what string, want float64, have *float64) {
	t.Helper()
	if have == nil || math.Abs(*have-want) > 1e-9*max(1, math.Abs(want)) {
		t.Errorf("%s: want %v, have %s", what, want, backtest.Figure(have, 12))
	}
}

// Bought 10 at 101 and sold at 118.8, sold 5 at 118.8 and bought at 101.
func TestFiguresOfWinningResult(t *testing.T) {
	t.Parallel()
	r := mustRun(t, workedConfig(t, "10 . -5 . 0 ."))
	for _, c := range [][3]string{
		{"fees", "3.297", r.TotalFees}, // 1.01, 1.188, 0.594 and 0.505
		{"funding", "1.05", r.TotalFunding},
		{"slippage", "33", r.TotalSlippage},          // 10, 12, 6 and 5
		{"final equity", "10262.653", r.FinalEquity}, // 178 and 89 won
		{"wallet", "10262.653", r.Wallet},
		{"gross profit", "300", r.Figures.Gross},
		{"expectancy", "131.3265", *r.Expectancy},
		{"first round trip", "174.752", r.Trips[0].PNL},
		{"its fees", "2.198", r.Trips[0].Fees},
		{"its funding", "1.05", r.Trips[0].Funding},
		{"its slippage", "22", r.Trips[0].Slippage},
		{"second round trip", "87.901", r.Trips[1].PNL},
		{"its funding", "0", r.Trips[1].Funding},
	} {
		same(t, c[0], c[1], c[2])
	}
	equity := []float64{10_000, 10_038.99, 10_187.94, 10_168.158, 10_268.158, 10_262.653} // at the closes
	gross, sum, leverage := []float64{0, 1_050, 1_200, 600, 500, 0}, 0.0, 0.0
	for i := range equity {
		sum, leverage = sum+equity[i], leverage+gross[i]/equity[i]
	}
	f := &r.Figures
	for _, c := range []struct {
		what       string
		want, have *float64
	}{
		{"maximum drawdown", share(100 * (1 - equity[3]/equity[2])), &r.MaxDrawdown},
		{"exposure", share(400.0 / 6), &r.Exposure},
		{"break-even slippage", share(100 * (33 + 262.653) / 3_297), r.BreakEven},
		{"buy and hold", share(1), f.BuyAndHold},
		{"mean leverage", share(math.Round(leverage/6*1e4) / 1e4), &f.Leverage},
		{"turnover", share(3_297 / (sum / 6) * 8_760 / 6), f.Turnover},
		{"fee drag", share(1.099), f.FeeDrag},
		{"funding drag", share(0.35), f.FundingDrag},
		{"slippage drag", share(11), f.SlipDrag},
		{"month", share(2.62653), f.Months[0].Return},
		{"win rate", share(100), f.Trips.WinRate},
		{"average win", share(131.3265), f.Trips.AverageWin},
		{"best", share(174.752), f.Trips.Best},
		{"worst", share(87.901), f.Trips.Worst},
		{"SQN", share(2 * 131.3265 / (174.752 - 87.901)), f.Trips.SQN}, // of two, the deviation is the distance by the root of two
		{"holding", share(7_200), &f.Trips.Holding.Median},
		{"first adverse excursion", share(10.8911), &r.Trips[0].Adverse},    // 90 of 101
		{"first favorable excursion", share(19.802), &r.Trips[0].Favorable}, // 121
		{"second adverse excursion", share(6.0606), &r.Trips[1].Adverse},    // 126 of 118.8
		{"second favorable excursion", share(19.1919), &r.Trips[1].Favorable},
	} {
		wantFigure(t, c.what, *c.want, c.have)
	}
	at := func(hour int) time.Time { return time.UnixMilli(midnight + int64(hour)*int64(exchange.Hour1)).UTC() }
	if d := f.LongestDrawdown; !d.Peak.Equal(at(9)) || d.Recovered == nil || !d.Recovered.Equal(at(11)) { // the other one is an hour long
		t.Errorf("longest drawdown: have %+v", d)
	}
	if d := r.Drawdown; !d.Peak.Equal(at(9)) || !d.Trough.Equal(at(10)) || d.Recovered == nil || !d.Recovered.Equal(at(11)) {
		t.Errorf("drawdown: have %+v", d)
	}
	if r.ProfitFactor != nil || f.Trips.AverageLoss != nil || f.Trips.LongestWins != 2 || f.Trips.LongestLosses != 0 || r.Wins != 2 || r.Fills != 4 ||
		len(f.Drawdowns) != 2 || f.Drawdowns[1].Recovered != nil || f.Hourly == nil || f.Hourly.Returns != 6 || r.Days != 0 || r.CAGR != nil ||
		f.Months[0].Month != "2023-11" || f.Months[0].Equity != "10262.65" || r.Orders.Derived != 4 || r.Orders.Placed != 4 || r.Orders.Filled != 4 {
		t.Errorf("have %+v\n%+v", r.Orders, f)
	}
	for i, row := range f.ByHour {
		want := map[int]string{7: "07:00 1 1 174.752", 9: "09:00 1 1 87.901"}[i]
		if have := fmt.Sprintf("%s %d %d %s", row.At, row.RoundTrips, row.Wins, row.PNL); want != "" && have != want || want == "" && row.RoundTrips != 0 {
			t.Errorf("want %q, have %q", want, have)
		}
	}
	if row := f.ByWeekday[2]; row.At != "Wednesday" || row.RoundTrips != 2 || row.PNL != "262.653" {
		t.Errorf("have %+v", row)
	}
	if curve := r.Curve(); len(curve) != 6 || curve[2].AtMS != at(9).UnixMilli() || math.Abs(curve[2].Leverage-1_200/equity[2]) > 1e-12 {
		t.Errorf("have a curve of %+v", curve)
	}
	addUp(t, r, "101")
}

func share(f float64) *float64 { return &f }

// Sold 10 at 99 and bought at 121.2, bought 5 at 121.2 and sold at 99. The short received the funding.
func TestFiguresOfLosingResult(t *testing.T) {
	t.Parallel()
	r := mustRun(t, workedConfig(t, "-10 . 5 . 0 ."))
	for _, c := range [][3]string{
		{"fees", "3.303", r.TotalFees}, // 0.99, 1.212, 0.606 and 0.495
		{"funding", "-1.05", r.TotalFunding},
		{"slippage", "33", r.TotalSlippage},
		{"final equity", "9664.747", r.FinalEquity},
		{"gross profit", "-300", r.Figures.Gross},
		{"first round trip", "-223.152", r.Trips[0].PNL},
		{"second round trip", "-112.101", r.Trips[1].PNL},
	} {
		same(t, c[0], c[1], c[2])
	}
	f := &r.Figures
	wantFigure(t, "profit factor", 0, r.ProfitFactor)
	wantFigure(t, "average loss", -167.6265, f.Trips.AverageLoss)
	wantFigure(t, "expectancy in losses", -1, f.Trips.ExpectancyR)
	wantFigure(t, "adverse excursion", 22.4242, &r.Trips[0].Adverse)    // 121.2 of 99
	wantFigure(t, "favorable excursion", 9.0909, &r.Trips[0].Favorable) // 90
	if r.BreakEven != nil || f.FeeDrag != nil || f.FundingDrag != nil || f.SlipDrag != nil || f.Trips.AverageWin != nil || f.Trips.Payoff != nil ||
		f.Trips.Kelly != nil || f.Trips.LongestLosses != 2 || f.Trips.LongestWins != 0 || r.Wins != 0 || r.EndedBy != nil {
		t.Errorf("want no share of a profit where there is none, have %+v", f)
	}
	addUp(t, r, "101")
}

// Without costs the two trades win 300. In the pessimistic market each order arrives a second later, when the price can have moved a
// sixtieth of the way to the extreme, the root of 1/3600, and slips by 2 %. The short is opened a second after the long is sold.
func TestFiguresOfColumns(t *testing.T) {
	t.Parallel()
	bought, sold := 1.02*(100+10.0/60), 0.98*(120-3.0/60)
	opened, closed := 0.98*(120-3*math.Sqrt(2.0/3_600)), 1.02*(100+2.0/60)
	fees := 0.001 * (10*bought + 10*sold + 5*opened + 5*closed)
	slipped := 0.02/1.02*(10*bought+5*closed) + 0.02/0.98*(10*sold+5*opened)
	final := 10_000 + 10*(sold-bought) + 5*(opened-closed) - fees - 1.05
	for _, inTurn := range []bool{false, true} {
		config := workedConfig(t, "10 . -5 . 0 .")
		config.InTurn = inTurn
		r, err := backtest.RunColumns(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		want := [][5]float64{ // final and own equity, fees, funding, slippage
			{10_300, 10_300, 0, 0, 0},
			{10_262.653, 10_262.653, 3.297, 1.05, 33},
			{final, final, fees, 1.05, slipped},
		}
		for i, name := range []string{"ideal", "realistic", "pessimistic"} {
			c := &r.Columns[i]
			for j, text := range []string{c.FinalEquity, c.OwnEquity, c.TotalFees, c.TotalFunding, c.TotalSlippage} {
				if have := exchange.MustAmount(text).Float(); math.Abs(have-want[i][j]) > 1e-5 {
					t.Errorf("%s, %d: want %f, have %s", name, j, want[i][j], text)
				}
			}
			if c.Profit == nil || math.Abs(*c.Profit-100*(want[i][0]/10_000-1)) > 1e-6 {
				t.Errorf("%s: have a profit of %s", name, backtest.Figure(c.Profit, 6))
			}
			if c.Name != name || c.Fills != 4 || c.RoundTrips != 2 || c.Wins != 2 || c.Liquidations != 0 || c.EndedBy != nil || c.ResultSHA256 == "" {
				t.Errorf("%s: have %+v", name, c)
			}
		}
		if f := r.Finals; r.Ordered == nil || !*r.Ordered || f.Ideal != r.Columns[0].FinalEquity || f.Realistic != r.FinalEquity ||
			f.Pessimistic != r.Columns[2].FinalEquity {
			t.Errorf("want them in order, have %+v", f)
		}
	}
}

// A tenth of 80 BTC an hour fills the ten in two candles, as they are bought and as they are sold. Without a volume there is no cap.
func TestPessimisticVolumeCap(t *testing.T) {
	t.Parallel()
	for volume, want := range map[float64]int{0: 4, 80: 6, 10_000: 4} {
		config := workedConfig(t, "10 . -5 . 0 .")
		for i := range config.Legs[0].Tape.Candles.Volume {
			config.Legs[0].Tape.Candles.Volume[i] = volume
		}
		r, err := backtest.RunColumns(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		if r.Columns[0].Fills != 4 || r.Columns[1].Fills != 4 || r.Columns[2].Fills != want {
			t.Errorf("a volume of %v: want 4, 4 and %d fills, have %d, %d and %d", volume, want, r.Columns[0].Fills, r.Columns[1].Fills, r.Columns[2].Fills)
		}
	}
}

// Runs begin 1, 2, 4 candles before the middle of eleven, and with all five.
func TestWarmupBeginsWithOneCandle(t *testing.T) {
	t.Parallel()
	config := caseConfig(flatTape(t, exchange.Futures, 11, "100"), &scripted{})
	config.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) { return &scripted{}, nil }
	found, err := backtest.FindWarmup(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	var before []int
	for _, row := range found.Rows {
		if before = append(before, row.Before); row.Differing != 0 || row.Last != nil {
			t.Errorf("want no difference, have %+v", row)
		}
	}
	if fmt.Sprint(before) != "[1 2 4 5]" || found.Declared != 0 || found.Candles != 6 || found.Enough == nil || *found.Enough != 1 {
		t.Errorf("have %v and %+v", before, found)
	}
}

// A run that begins one, two or four candles before the middle is behind the script in each of the six compared candles.
func TestWarmupCountsTheCandlesThatDiffer(t *testing.T) {
	t.Parallel()
	recorded := flatTape(t, exchange.Futures, 11, "100")
	config := caseConfig(recorded, &scripted{})
	config.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) {
		return &scripted{targets: hold(t, recorded.Symbol, "1 2 3 4 5 6 7 8 9 10 11")}, nil
	}
	found, err := backtest.FindWarmup(t.Context(), config)
	if err != nil || len(found.Rows) != 4 {
		t.Fatalf("want four runs, have %+v, %v", found, err)
	}
	last := time.UnixMilli(recorded.Candles.CloseMS(10)).UTC()
	for i, row := range found.Rows {
		if i < 3 && (row.Differing != 6 || row.Last == nil || !row.Last.Equal(last)) || i == 3 && (row.Differing != 0 || row.Last != nil) {
			t.Errorf("%d candles before: have %+v", row.Before, row)
		}
	}
	if found.Enough == nil || *found.Enough != 5 {
		t.Errorf("want five candles enough, have %+v", found)
	}
}
