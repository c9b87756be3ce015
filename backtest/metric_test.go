package backtest_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"botd/backtest"
)

// TestMetricsEqualAnIndependentImplementation compares every metric with numbers that numpy and pandas
// computed (testdata/metric_golden.py; metric_golden.json is its output).
func TestMetricsEqualAnIndependentImplementation(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/metric_golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		FirstMS  int64   `json:"first_ms"`
		RiskFree float64 `json:"risk_free"`
		Equity   []float64
		Bench    []float64
		Metrics  map[string]*float64
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) != 3 {
		t.Fatalf("want three cases, have %d, %v", len(cases), err)
	}
	compared, worst := 0, 0.0
	for i, c := range cases {
		have := backtest.Measure(c.FirstMS, c.Equity, c.Bench, c.RiskFree)
		if len(have) != len(c.Metrics) {
			t.Errorf("case %d: want %d metrics, have %d", i, len(c.Metrics), len(have))
		}
		for name, want := range c.Metrics {
			got, known := have[name]
			switch {
			case !known || (got == nil) != (want == nil):
				t.Errorf("case %d: %s: want %v, have %v", i, name, want, got)
			case want != nil:
				off := math.Abs(*got-*want) / max(1, math.Abs(*want))
				if compared, worst = compared+1, max(worst, off); off > 1e-9 {
					t.Errorf("case %d: %s: want %v, have %v", i, name, *want, *got)
				}
			}
		}
	}
	t.Logf("%d figures, at most %.1e apart", compared, worst)
}

func TestEmptyMetricsAreUndefined(t *testing.T) {
	t.Parallel()
	for what, equity := range map[string][]float64{"no days": nil, "one": {1, 2}, "ruin": {1, 0, 0, 0}} {
		for name, value := range backtest.Measure(0, equity, make([]float64, len(equity)), 0) {
			if value != nil {
				t.Errorf("%s: %s: want it undefined, have %v", what, name, *value)
			}
		}
	}
	for _, d := range backtest.Metrics() {
		if d.Name == "" || d.Formula == "" || d.Source == "" {
			t.Errorf("%+v: want name, formula and source", d)
		}
	}
}
