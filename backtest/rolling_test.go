package backtest_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"botd/backtest"
)

func decoded(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// TestRollingFiguresAndYearsEqualAnIndependentImplementation compares them with figures computed by plain
// Python (testdata/rolling_golden.py): every twentieth day, and the last.
func TestRollingFiguresAndYearsEqualAnIndependentImplementation(t *testing.T) {
	t.Parallel()
	var cases []struct {
		FirstMS       int64   `json:"first_ms"`
		RiskFree      float64 `json:"risk_free"`
		Equity, Bench []float64
	}
	var golden []struct {
		Rolling [][5]float64
		Count   int
		Years   [][3]any
	}
	decoded(t, "metric_golden.json", &cases)
	decoded(t, "rolling_golden.json", &golden)
	compared := 0
	near := func(what string, want float64, have *float64) {
		t.Helper()
		if compared++; have == nil || math.Abs(*have-want) > 1e-9*max(1, math.Abs(want)) {
			t.Errorf("%s: want %v, have %v", what, want, have)
		}
	}
	for i, c := range cases {
		have := backtest.Rolling(c.FirstMS, c.Equity, c.Bench, c.RiskFree)
		if have == nil {
			if golden[i].Count != 0 {
				t.Errorf("case %d: want %d days, have none", i, golden[i].Count)
			}
			have = &backtest.RollingSeries{}
		}
		if len(have.TimeMS) != golden[i].Count {
			t.Fatalf("case %d: want %d days, have %d", i, golden[i].Count, len(have.TimeMS))
		}
		for j, row := range golden[i].Rolling {
			at := min(j*20, golden[i].Count-1)
			if have.TimeMS[at] != int64(row[0]) {
				t.Errorf("case %d: want the day %v, have %d", i, row[0], have.TimeMS[at])
			}
			near("volatility", row[1], have.Volatility[at])
			near("sharpe", row[2], have.Sharpe[at])
			near("sortino", row[3], have.Sortino[at])
			near("beta", row[4], have.Beta[at])
		}
		years := backtest.Years(c.FirstMS, c.Equity, c.Bench)
		if len(years) != len(golden[i].Years) {
			t.Fatalf("case %d: want %d years, have %+v", i, len(golden[i].Years), years)
		}
		for j, row := range golden[i].Years {
			if years[j].Year != row[0] {
				t.Errorf("want the year %v, have %s", row[0], years[j].Year)
			}
			near("year", row[1].(float64), years[j].Return)
			near("holding", row[2].(float64), years[j].Hold)
		}
	}
	if compared < 150 {
		t.Errorf("%d figures compared: too few to prove anything", compared)
	}
}
