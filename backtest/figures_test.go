package backtest

import (
	"math"
	"testing"

	"botd/exchange"
)

// equity60 is 60 days of equity. Another program computed its figures below (Python's statistics module, from
// the definitions of docs/backtest.md).
var equity60 = []float64{
	1000.0,
	1011.109,
	1001.087899,
	1013.399278,
	991.313254,
	994.082983,
	995.256001,
	1003.166296,
	997.144289,
	984.380842,
	978.721637,
	999.602663,
	981.77275,
	971.630056,
	981.746668,
	1000.575587,
	1031.66247,
	1052.124463,
	1051.76148,
	1056.115773,
	1065.969333,
	1051.898538,
	1066.65983,
	1082.421862,
	1115.512581,
	1106.07646,
	1104.447209,
	1120.245222,
	1138.386473,
	1118.085627,
	1087.608849,
	1108.006953,
	1079.50015,
	1087.754008,
	1073.115015,
	1078.682336,
	1081.608801,
	1076.900558,
	1058.331562,
	1069.504368,
	1085.325546,
	1074.577567,
	1106.910531,
	1131.120878,
	1125.698285,
	1141.561625,
	1117.966688,
	1127.207801,
	1132.556402,
	1148.177752,
	1178.075152,
	1172.905758,
	1198.403556,
	1209.078935,
	1176.154507,
	1169.44925,
	1144.158741,
	1150.354361,
	1143.464889,
	1121.501215,
	1143.955912,
}

func equal(t *testing.T, what string, want float64, have *float64) {
	t.Helper()
	if have == nil || math.Abs(*have-want) > 1e-9*max(1, math.Abs(want)) {
		t.Errorf("%s: want %v, have %v", what, want, shown(have))
	}
}

func shown(f *float64) any {
	if f == nil {
		return nil
	}
	return *f
}

func TestStatisticsEqualAnotherPrograms(t *testing.T) {
	t.Parallel()
	s := measure(equity60, 365, 0)
	if s.Returns != 60 || s.PerYear != 365 {
		t.Errorf("want 60 returns of 365 a year, have %d of %d", s.Returns, s.PerYear)
	}
	equal(t, "sharpe", 2.88778888300878, s.Sharpe)
	equal(t, "sortino", 4.549817067221503, s.Sortino)
	equal(t, "volatility", 29.882767858833112, s.Volatility)
	equal(t, "omega", 1.4256279946891737, s.Omega)
	equal(t, "var", 2.199070013191445, s.VaR)
	equal(t, "cvar", 2.673899989581674, s.CVaR)
	equal(t, "normal var", 2.336349044564638, s.VaRNormal)
	equal(t, "skew", -0.13747715733070912, s.Skew)
	equal(t, "kurtosis", 2.090810129119977, s.Kurtosis)
	equal(t, "psr", 0.8740330349934287, s.PSR)
	equal(t, "ulcer", 3.1552692269673632, s.Ulcer)
	equal(t, "best", 3.1069000087446508, s.Best)
	equal(t, "worst", -2.7257999981427194, s.Worst)
}

func TestRiskFreeRateIsSubtractedFromReturns(t *testing.T) {
	t.Parallel()
	// With a rate equal to the mean no excess return is left for a ratio.
	mean := 0.0
	for i := 1; i < len(equity60); i++ {
		mean += (equity60[i]/equity60[i-1] - 1) / 60
	}
	s := measure(equity60, 365, mean*365)
	if s.Sharpe == nil || math.Abs(*s.Sharpe) > 1e-9 {
		t.Errorf("want a Sharpe ratio of 0, have %v", shown(s.Sharpe))
	}
}

func TestTripFiguresEqualAnotherPrograms(t *testing.T) {
	t.Parallel()
	var f TripFigures
	f.ofProfits([]float64{12.5, -3.25, -4, 8, 0, -1.5, 22, -9, 3, 3, 3, -2, 7.75})
	equal(t, "win rate", 53.84615384615385, f.WinRate)
	equal(t, "average win", 8.464285714285714, f.AverageWin)
	equal(t, "average loss", -3.2916666666666665, f.AverageLoss)
	equal(t, "payoff", 2.571428571428571, f.Payoff)
	equal(t, "expectancy in R", 0.9230769230769231, f.ExpectancyR)
	equal(t, "sqn", 1.3544156338531577, f.SQN)
	equal(t, "kelly", 0.3589743589743589, f.Kelly)
	equal(t, "best", 22, f.Best)
	equal(t, "worst", -9, f.Worst)
	if f.LongestWins != 3 || f.LongestLosses != 2 {
		t.Errorf("streaks: want 3 and 2, have %d and %d", f.LongestWins, f.LongestLosses)
	}
	many := make([]float64, 400)
	for i := range many {
		many[i] = float64(i%2)*2 - 0.5 // -0.5 and 1.5: mean 0.5, deviation nearly 1
	}
	f = TripFigures{}
	f.ofProfits(many)
	equal(t, "sqn of 400, capped at 100", 10*0.5/math.Sqrt(400.0/399), f.SQN)
}

func TestFiguresWithoutLossesOrWinsAreNull(t *testing.T) {
	t.Parallel()
	var won, lost TripFigures
	won.ofProfits([]float64{1, 1, 1})
	var even TripFigures // a round trip without a profit is no win, and there is no loss to divide by
	if even.ofProfits([]float64{2, 0}); even.AverageLoss != nil || even.ExpectancyR != nil || even.Payoff != nil || even.Kelly != nil ||
		even.LongestLosses != 1 || *even.WinRate != 50 || *even.AverageWin != 2 {
		t.Errorf("without money lost: have %+v", even)
	}
	lost.ofProfits([]float64{-1, -1})
	if won.Payoff != nil || won.Kelly != nil || won.ExpectancyR != nil || won.SQN != nil || won.AverageLoss != nil {
		t.Errorf("only wins: want nulls, have %+v", won)
	}
	if lost.Payoff != nil || lost.Kelly != nil || lost.AverageWin != nil {
		t.Errorf("only losses: want nulls, have %+v", lost)
	}
}

// TestWorstDrawdownsAreListedDeepestFirst also distinguishes the longest from the deepest.
func TestWorstDrawdownsAreListedDeepestFirst(t *testing.T) {
	t.Parallel()
	var d drawdowns
	curve := []float64{100, 80, 100, 95, 96, 97, 98, 99, 101, 50, 102, 90}
	for i, equity := range curve {
		d.add(int64(i), equity)
	}
	d.end(int64(len(curve)))
	want := []drawdown{{51.0 / 101, 8, 9, 10}, {0.2, 0, 1, 2}, {12.0 / 102, 10, 11, 0}, {0.05, 2, 3, 8}}
	if len(d.worst) != len(want) {
		t.Fatalf("want %d falls, have %+v", len(want), d.worst)
	}
	for i, f := range d.worst {
		if math.Abs(f.depth-want[i].depth) > 1e-12 || f.fromMS != want[i].fromMS || f.troughMS != want[i].troughMS ||
			f.recoveredMS != want[i].recoveredMS {
			t.Errorf("fall %d: want %+v, have %+v", i, want[i], f)
		}
	}
	if d.longest.fromMS != 2 || d.longest.recoveredMS != 8 {
		t.Errorf("the longest: want 2 to 8, have %+v", d.longest)
	}
	for i := range 30 {
		d.add(int64(100+2*i), 1000)
		d.add(int64(101+2*i), 1000-float64(i+1))
	}
	if len(d.worst) != worstDrawdowns {
		t.Errorf("want the %d worst alone, have %d", worstDrawdowns, len(d.worst))
	}
}

func TestSamplesInHolesHaveTheValueBefore(t *testing.T) {
	t.Parallel()
	var s sampler
	hour := int64(exchange.Hour1)
	s.begin(exchange.Hour1, hour/2, 10*hour, 7)
	s.add(hour, 7, 8)
	s.add(4*hour+1, 8, 9) // 2, 3 and 4 o'clock are in the hole
	s.add(5*hour, 9, 10)
	want := []float64{8, 8, 8, 8, 10}
	if len(s.values) != len(want) || s.firstMS != hour {
		t.Fatalf("want %v from %d, have %v from %d", want, hour, s.values, s.firstMS)
	}
	for i := range want {
		if s.values[i] != want[i] {
			t.Errorf("want %v, have %v", want, s.values)
		}
	}
}
