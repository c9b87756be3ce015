package backtest

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// vectors are figures of another program.
type vectors struct {
	Periods map[string]float64    `json:"periods"`
	Series  map[string][]*float64 `json:"series_percent"`
	Cases   [][]any               `json:"cases"`
}

func loadVectors(t *testing.T) (v vectors) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "shared", "data", "expected", "empyrical", "metrics_vectors.json"))
	if err != nil {
		t.Skipf("recorded data is not beside the project: %v", err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestRatiosEqualEmpyricals checks Sharpe and Sortino against figures of another
// program, with its 252 periods a year.
func TestRatiosEqualEmpyricals(t *testing.T) {
	t.Parallel()
	vectors := loadVectors(t)
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
		s := measure(equity, int(vectors.Periods[c[2].(string)]), 0)
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

// TestFallAndGrowthEqualEmpyricals checks the drawdown, the CAGR and Calmar.
func TestFallAndGrowthEqualEmpyricals(t *testing.T) {
	t.Parallel()
	vectors := loadVectors(t)
	checked := 0
	for _, c := range vectors.Cases {
		want, ok := c[3].(float64)
		if !ok {
			continue
		}
		returns := vectors.Series[c[1].(string)]
		equity, d := 1.0, drawdowns{}
		d.add(0, equity)
		for i, percent := range returns {
			if percent != nil {
				equity *= 1 + *percent/100
			}
			d.add(int64(i+1), equity)
		}
		rate := growth(1, equity, float64(len(returns))/vectors.Periods[c[2].(string)]) // a null counts as a flat period
		have := 0.0
		switch c[0] {
		case "max_drawdown":
			have = -d.deepest().depth
		case "annual_return":
			have = rate
		case "calmar":
			have = rate / d.deepest().depth
		default:
			continue
		}
		within := 1e-8 * math.Abs(want)
		if c[0] == "max_drawdown" {
			within = 1e-5 // printed with five digits
		}
		if math.Abs(have-want) > within {
			t.Errorf("%v: want %v, have %v", c, want, have)
		}
		checked++
	}
	if checked < 10 {
		t.Errorf("only %d figures were compared", checked)
	}
}

func TestEqualReturnsHaveNoSharpe(t *testing.T) {
	t.Parallel()
	equity := []float64{10_000.1}
	for range 50 {
		equity = append(equity, math.Round(equity[len(equity)-1]*1.0017*1e10)/1e10)
	}
	if s := measure(equity, 365, 0); s.Sharpe != nil || s.Sortino != nil {
		t.Errorf("a deviation of rounding alone: want nothing, have %v and %v", s.Sharpe, s.Sortino)
	}
}

func TestADeeperFallForgetsAnEarlierRecovery(t *testing.T) {
	t.Parallel()
	var d drawdowns
	for i, equity := range []float64{100, 90, 100, 110, 80, 109} {
		d.add(int64(i+1), equity)
	}
	if f := d.deepest(); f.fromMS != 4 || f.troughMS != 5 || f.recoveredMS != 0 || math.Abs(f.depth-30.0/110) > 1e-12 {
		t.Errorf("want the fall from 110 at 4 to 80 at 5, not recovered; have %+v", f)
	}
	if d.add(7, 110); d.deepest().recoveredMS != 7 {
		t.Errorf("back at the peak: want recovered at 7, have %+v", d.deepest())
	}
}

func TestUndefinedFiguresAreNull(t *testing.T) {
	t.Parallel()
	for name, equity := range map[string][]float64{"none": nil, "one day": {100}, "flat": {100, 100, 100}, "ruined": {100, 0, 0}} {
		s := measure(equity, 365, 0)
		cagr, calmar := yearlyGrowth(100, 100, 10.0/365, 0)
		if s.Sharpe != nil || s.Sortino != nil || s.Omega != nil || s.PSR != nil || cagr != nil || calmar != nil {
			t.Errorf("%s: want nothing, have %+v", name, s)
		}
	}
}

func TestCAGRIsOverYearsOf365Days(t *testing.T) {
	t.Parallel()
	cagr, calmar := yearlyGrowth(100, 121, 2, 0.1)
	if cagr == nil || math.Abs(*cagr-10) > 1e-9 || calmar == nil || math.Abs(*calmar-1) > 1e-9 {
		t.Errorf("21 %% in 2 years at a drawdown of 10 %%: want 10 %% and 1, have %v and %v", cagr, calmar)
	}
}
