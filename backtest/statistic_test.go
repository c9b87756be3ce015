package backtest

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestRatiosEqualEmpyricals checks Sharpe and Sortino against figures of another
// program, with its 252 periods a year.
func TestRatiosEqualEmpyricals(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "shared", "data", "expected", "empyrical", "metrics_vectors.json"))
	if err != nil {
		t.Skipf("recorded data is not beside the project: %v", err)
	}
	var vectors struct {
		Periods map[string]float64    `json:"periods"`
		Series  map[string][]*float64 `json:"series_percent"`
		Cases   [][]any               `json:"cases"`
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, c := range vectors.Cases {
		if c[0] != "sharpe" && c[0] != "sortino" {
			continue
		}
		want, ok := c[3].(float64)
		if !ok {
			continue
		}
		equity := []float64{1}
		for _, percent := range vectors.Series[c[1].(string)] {
			if percent != nil { // a null is no return
				equity = append(equity, equity[len(equity)-1]*(1+*percent/100))
			}
		}
		s := measure(equity, vectors.Periods[c[2].(string)])
		have := s.Sharpe
		if c[0] == "sortino" {
			have = s.Sortino
		}
		if have == nil || math.Abs(*have-want) > 1e-8*math.Abs(want) {
			t.Errorf("%v: want %v, have %v", c, want, have)
		}
		checked++
	}
	if checked < 6 {
		t.Errorf("only %d figures were compared", checked)
	}
}

func TestUndefinedFiguresAreNull(t *testing.T) {
	t.Parallel()
	for name, equity := range map[string][]float64{"none": nil, "one day": {100}, "flat": {100, 100, 100}, "ruined": {100, 0, 0}} {
		s := measure(equity, 365)
		s.yearly(100, 100, 10.0/365, 0)
		if s.Sharpe != nil || s.Sortino != nil || s.CAGR != nil || s.Calmar != nil {
			t.Errorf("%s: want nothing, have %+v", name, s)
		}
	}
}

func TestCAGRIsOverYearsOf365Days(t *testing.T) {
	t.Parallel()
	var s statistics
	s.yearly(100, 121, 2, 0.1)
	if s.CAGR == nil || math.Abs(*s.CAGR-10) > 1e-9 || s.Calmar == nil || math.Abs(*s.Calmar-1) > 1e-9 {
		t.Errorf("21 %% in 2 years at a drawdown of 10 %%: want 10 %% and 1, have %v and %v", s.CAGR, s.Calmar)
	}
}
