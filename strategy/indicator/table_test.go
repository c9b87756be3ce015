package indicator

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// walk is a random series of candles.
func walk(count int) []Bar {
	random := rand.New(rand.NewPCG(1, 2))
	all, last := make([]Bar, count), 100.0
	for i := range all {
		open := last
		last = max(1, last+random.NormFloat64())
		all[i] = Bar{open, max(open, last) + random.Float64(), min(open, last) - random.Float64(), last, random.Float64(), int64(i) * 3_600_000}
	}
	return all
}

func TestTheTableHasTheCommonIndicators(t *testing.T) {
	t.Parallel()
	outputs := map[string]string{"adx": "plus_di,minus_di,adx", "bollinger": "upper,middle,lower", "macd": "macd,signal,histogram", "stoch": "k,d",
		"stochrsi": "k,d",
		"aroon":    "down,up", "chandelier": "long,short", "donchian": "upper,middle,lower", "dmi": "plus_di,minus_di",
		"heikin_ashi": "open,high,low,close", "fractals": "up,down",
		"ppo":      "ppo,signal,histogram",
		"ichimoku": "conversion,base,span_a,span_b", "keltner": "upper,middle,lower", "pivot": "pivot,r1,s1,r2,s2,r3,s3", "vortex": "plus,minus"}
	parameters := map[string]string{"bollinger": "period,deviations", "macd": "fast,slow,signal", "stoch": "k,k_smooth,d",
		"supertrend": "period,multiplier", "stochrsi": "period,k,d",
		"adosc": "fast,slow", "chandelier": "period,multiplier", "ichimoku": "conversion,base,span_b,displacement",
		"keltner": "period,atr_period,multiplier", "psar": "step,maximum",
		"tsi": "long,short", "ultimate": "short,middle,long", "ad": "", "bop": "",
		"heikin_ashi": "", "obv": "", "pivot": "", "true_range": "",
		"vwap": "offset,days", "t3": "period,factor",
		"fractals": "wing", "ppo": "fast,slow,signal"}
	for name := range patternNames() {
		parameters[name] = ""
	}
	// These are the indicators that users of other bots expect.
	names := strings.Fields(`sma ema wma dema tema kama hma vwma rsi stoch stochrsi macd atr natr bollinger keltner donchian adx dmi supertrend psar cci mfi obv
vwap roc
		momentum williams_r aroon ichimoku stddev linreg zscore highest lowest pivot heikin_ashi`)
	all := All()
	if !slices.IsSortedFunc(all, func(a, b Definition) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the table is not sorted by name")
	}
	for _, name := range names {
		if _, found := Find(name); !found {
			t.Errorf("%s is missing", name)
		}
	}
	for _, d := range all {
		if _, given := outputs[d.Name]; !given {
			outputs[d.Name] = "value"
		}
		if _, given := parameters[d.Name]; !given {
			parameters[d.Name] = "period"
		}
	}
	for _, d := range all {
		var names []string
		for _, p := range d.Parameters {
			names = append(names, p.Name)
		}
		if have := strings.Join(d.Outputs, ","); have != outputs[d.Name] {
			t.Errorf("%s: want outputs %s, have %s", d.Name, outputs[d.Name], have)
		}
		if have := strings.Join(names, ","); have != parameters[d.Name] {
			t.Errorf("%s: want parameters %s, have %s", d.Name, parameters[d.Name], have)
		}
	}
}

func TestWrongParametersAreRefusedWithTheKnownOnes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, parameter string
		value           float64
		want            string
	}{
		{"sma", "perod", 5, `sma has no parameter "perod" (known: period)`},
		{"sma", "period", 2.5, "sma: period 2.5 is not an integer"},
		{"rsi", "period", 1, "rsi: period 1 is not between 2 and 100000"},
		{"bollinger", "deviations", math.NaN(), "bollinger: deviations NaN is not between -100 and 100"},
		{"sma", "period", math.Inf(1), "sma: period +Inf is not between 1 and 100000"},
	} {
		definition, _ := Find(c.name)
		_, err := definition.New(map[string]float64{c.parameter: c.value})
		if err == nil || err.Error() != c.want {
			t.Errorf("want %q, have %v", c.want, err)
		}
	}
	if _, found := Find("astrology"); found {
		t.Error("astrology was found")
	}
}

func TestNextDoesNotAllocate(t *testing.T) {
	candles := walk(300)
	for _, definition := range All() {
		stream, err := definition.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		values, i := make([]float64, len(definition.Outputs)), 0
		if n := testing.AllocsPerRun(250, func() {
			stream.Next(candles[i], values)
			i++
		}); n != 0 {
			t.Errorf("%s: want no allocation, have %v", definition.Name, n)
		}
	}
}

// TestWindowsEqualTheirDefinition compares with the formula over each window, long after rounding errors
// could have accumulated.
func TestWindowsEqualTheirDefinition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		period := rapid.IntRange(2, 12).Draw(t, "period")
		values := rapid.SliceOfN(rapid.Float64Range(1, 1e6), 30, 90).Draw(t, "values")
		mean, deviation, lowest := NewMean(period), NewStdDev(period), newExtreme(period)
		for i, v := range values {
			m, ok := mean.Next(v)
			d, _ := deviation.Next(v)
			top, full := lowest.next(v)
			if ready := i+1 >= period; ok != ready || full != ready {
				t.Fatalf("candle %d of period %d: want ready %v, have %v, %v", i, period, ready, ok, full)
			}
			if !ok {
				continue
			}
			last := values[i+1-period : i+1]
			sum, squares := 0.0, 0.0
			for _, v := range last {
				sum += v
			}
			for _, v := range last {
				squares += (v - sum/float64(period)) * (v - sum/float64(period))
			}
			if want := sum / float64(period); math.Abs(m-want) > 1e-9*slices.Max(values[max(0, i+1-3*period):i+1]) {
				t.Fatalf("mean of %v: want %v, have %v", last, want, m)
			}
			// A value's rounding error has disappeared two turns after the value.
			largest := slices.Max(values[max(0, i+1-3*period) : i+1])
			if want := math.Sqrt(squares / float64(period)); math.Abs(d-want) > 1e-6*largest {
				t.Fatalf("deviation of %v: want %v, have %v", last, want, d)
			}
			if want := slices.Max(last); top != want {
				t.Fatalf("highest of %v: want %v, have %v", last, want, top)
			}
		}
	})
}

func TestFlatCandlesDoNotDivideByZero(t *testing.T) {
	t.Parallel()
	flat := make([]Bar, 200)
	for i := range flat {
		flat[i] = Bar{7, 7, 7, 7, 0, int64(i) * 3_600_000}
	}
	for _, definition := range All() {
		for output, name := range definition.Outputs {
			want := 7.0 // averages, bands, a trend line without a range
			if _, is := patternNames()[definition.Name]; is {
				want = 0
			}
			switch definition.Name {
			case "adx", "adxr", "atr", "beta", "correlation", "ppo",
				"macd", "rsi", "stddev", "stoch", "ad", "adosc", "aroon_oscillator", "bop", "cci", "choppiness", "cmf", "cmo", "dmi",
				"fisher", "linreg_slope", "mfi",
				"momentum", "natr", "obv", "roc", "stochrsi", "trix", "true_range", "tsi", "ultimate", "vortex", "williams_r", "zscore":
				want = 0
			case "aroon", "percent_rank", "doji": // a body of 0 is at most a tenth of no range: TA-Lib finds a doji
				want = 100
			case "fractals": // no high is above its neighbors
				want = math.NaN()
			}
			have := run(t, flat, definition.Name, nil, output)[199]
			if !(math.Abs(have-want) <= 1e-14*want) && !(math.IsNaN(have) && math.IsNaN(want)) {
				t.Errorf("%s %s: want %v, have %v", definition.Name, name, want, have)
			}
		}
	}
}

func TestAveragesOfTheLongestPricesDoNotOverflow(t *testing.T) {
	t.Parallel()
	fast, slow := NewSMA(10), NewSMA(50)
	for range 100 {
		fast.Next(math.MaxInt64)
		slow.Next(math.MaxInt64)
	}
	if have := fast.Compare(slow); have != 0 || fast.Value() != math.MaxInt64 {
		t.Errorf("want equal averages of %v, have %d, %v", float64(math.MaxInt64), have, fast.Value())
	}
	slow.Next(math.MaxInt64 - 1)
	if have := fast.Compare(slow); have != 1 {
		t.Errorf("want the slow average one part in fifty below, have %d", have)
	}
	if high, low := slow.Sum(); high != 24 || low != math.MaxUint64-50 {
		t.Errorf("want 50 x (2^63 - 1) - 1 = 24 x 2^64 + %d, have %d, %d", uint64(math.MaxUint64-50), high, low)
	}
}

func BenchmarkIndicators(b *testing.B) {
	for _, definition := range All() {
		b.Run(definition.Name, func(b *testing.B) { measure(b, &definition) })
	}
	b.Run("sma_exact", func(b *testing.B) {
		fast, slow, i, above := NewSMA(10), NewSMA(50), int64(0), 0
		for b.Loop() {
			i++
			fast.Next(5e12 + i&1023)
			slow.Next(5e12 + i&1023)
			above += fast.Compare(slow)
		}
	})
}
