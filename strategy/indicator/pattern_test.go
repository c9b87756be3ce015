package indicator

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// goldenBars are the candles of testdata/golden.py.
func goldenBars(t *testing.T) []Bar {
	t.Helper()
	file, err := os.Open("testdata/golden_candles.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	all := make([]Bar, 0, len(rows))
	for i, row := range rows[1:] {
		var v [5]float64
		for k := range v {
			if v[k], err = strconv.ParseFloat(row[k], 64); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, Bar{v[0], v[1], v[2], v[3], v[4], int64(i) * 3_600_000})
	}
	return all
}

// TestIndicatorsEqualGoldenValues compares with values that TA-Lib, pandas and numpy computed: every candle
// of the patterns, samples of the others, and the candles without a value.
func TestIndicatorsEqualGoldenValues(t *testing.T) {
	t.Parallel()
	bars := goldenBars(t)
	text, err := os.ReadFile("testdata/golden_values.csv")
	if err != nil {
		t.Fatal(err)
	}
	compared := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.SplitN(strings.TrimSpace(line), ",", 3)
		title := strings.Fields(parts[0])
		name, oracle := title[0], title[2]
		output, _ := strconv.Atoi(title[1])
		first, err := strconv.Atoi(parts[1])
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, len(bars))
		_, every := patternNames()[name]
		for i := range want {
			if want[i] = math.NaN(); every && i >= first {
				want[i] = 0
			}
		}
		for _, pair := range strings.Fields(parts[2]) {
			at, value, _ := strings.Cut(pair, ":")
			i, _ := strconv.Atoi(at)
			if want[i], err = strconv.ParseFloat(value, 64); err != nil {
				t.Fatal(err)
			}
			compared[name]++
		}
		have := run(t, bars, name, nil, output)
		for i := range want {
			// Running sums of TA-Lib's BETA and CORREL round away more than 1e-9.
			if (i < first) != math.IsNaN(have[i]) || math.Abs(have[i]-want[i]) > 1e-9*max(1, math.Abs(want[i])) {
				t.Errorf("%s, candle %d (first value at %d): want %v, have %v", parts[0], i, first, want[i], have[i])
				break
			}
		}
		prove(name, oracle, want, have)
	}
	for name := range patternNames() {
		if compared[name] < 2 {
			t.Errorf("%s: want it found twice or more, have %d", name, compared[name])
		}
	}
}

func patternNames() map[string]pattern {
	all := map[string]pattern{}
	for _, p := range patterns() {
		all[p.name] = p
	}
	return all
}

// TestAPriceOfAnySizeHasTheSamePatterns scales the golden candles to the price of PEPE and of BTC, by a power
// of two, so that nothing is rounded.
func TestAPriceOfAnySizeHasTheSamePatterns(t *testing.T) {
	t.Parallel()
	bars := goldenBars(t)
	for _, scale := range []float64{1.0 / (1 << 23), 1 << 10} {
		scaled := make([]Bar, len(bars))
		for i, b := range bars {
			scaled[i] = Bar{b.Open * scale, b.High * scale, b.Low * scale, b.Close * scale, b.Volume, b.OpenMS}
		}
		for _, name := range []string{"hammer", "engulfing", "morning_star", "correlation", "beta", "ppo", "percent_rank"} {
			want, have := run(t, bars, name, nil, 0), run(t, scaled, name, nil, 0)
			for i := range want {
				if want[i] != have[i] && !(math.IsNaN(want[i]) && math.IsNaN(have[i])) {
					t.Fatalf("%s, candle %d, prices times %v: want %v, have %v", name, i, scale, want[i], have[i])
				}
			}
		}
	}
}

// TestASessionOfVWAPBeginsWhereItIsAnchored compares with sums over each session.
func TestASessionOfVWAPBeginsWhereItIsAnchored(t *testing.T) {
	t.Parallel()
	bars := walk(24 * 40)
	for _, c := range []struct {
		parameters map[string]float64
		begins     func(hour int) bool // hours since 1970-01-01, a Thursday
	}{
		{nil, func(hour int) bool { return hour%24 == 0 }},
		{map[string]float64{"offset": 13.0}, func(hour int) bool { return hour%24 == 13 }},
		{map[string]float64{"offset": -5}, func(hour int) bool { return hour%24 == 19 }},
		{map[string]float64{"days": 7}, func(hour int) bool { return hour%168 == 96 }}, // Monday is four days later
	} {
		have, money, volume := run(t, bars, "vwap", c.parameters, 0), 0.0, 0.0
		for i, b := range bars {
			if c.begins(i) {
				money, volume = 0, 0
			}
			money += (b.High + b.Low + b.Close) / 3 * b.Volume
			volume += b.Volume
			if want := money / volume; math.Abs(have[i]-want) > 1e-9*want {
				t.Fatalf("%v, hour %d: want %v, have %v", c.parameters, i, want, have[i])
			}
		}
	}
}
