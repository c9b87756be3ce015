package indicator

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// parameters are each parameter's default, minimum and maximum. The defaults are TA-Lib's for the indicators that it has, otherwise those of
// the publication; a period of one is possible where the formula has a value for it.
var parameters = map[string]string{
	"adosc": "fast 3 2 100000, slow 10 2 100000", "adx": "period 14 2 100000", "adxr": "period 14 2 100000", "aroon": "period 14 2 100000",
	"aroon_oscillator": "period 14 2 100000", "atr": "period 14 1 100000", "beta": "period 5 2 100000",
	"bollinger": "period 5 2 100000, deviations 2 -100 100", "cci": "period 14 2 100000", "chandelier": "period 22 1 100000, multiplier 3 0 1000",
	"choppiness": "period 14 2 100000", "cmf": "period 20 1 100000", "cmo": "period 14 2 100000", "correlation": "period 30 2 100000",
	"dema": "period 30 1 100000", "dmi": "period 14 2 100000", "donchian": "period 20 1 100000", "ema": "period 30 1 100000",
	"fisher": "period 10 2 100000", "fractals": "wing 2 1 100000", "highest": "period 30 1 100000", "hma": "period 16 2 100000",
	"ichimoku": "conversion 9 1 100000, base 26 1 100000, span_b 52 1 100000, displacement 26 1 100000", "kama": "period 30 2 100000",
	"keltner": "period 20 1 100000, atr_period 10 1 100000, multiplier 2 0 1000", "linreg": "period 14 2 100000", "linreg_slope": "period 14 2 100000",
	"lowest": "period 30 1 100000", "macd": "fast 12 2 100000, slow 26 2 100000, signal 9 1 100000", "mfi": "period 14 2 100000",
	"momentum": "period 10 1 100000", "natr": "period 14 1 100000", "percent_rank": "period 100 1 100000",
	"ppo": "fast 12 2 100000, slow 26 2 100000, signal 9 1 100000", "psar": "step 0.02 0 10, maximum 0.2 0 10", "roc": "period 10 1 100000",
	"rsi": "period 14 2 100000", "sma": "period 30 1 100000", "stddev": "period 5 2 100000",
	"stoch": "k 5 1 100000, k_smooth 3 1 100000, d 3 1 100000", "stochrsi": "period 14 2 100000, k 5 1 100000, d 3 1 100000",
	"supertrend": "period 10 1 100000, multiplier 3 0 1000", "t3": "period 5 1 100000, factor 0.7 0 1", "tema": "period 30 1 100000",
	"trima": "period 30 1 100000", "trix": "period 30 1 100000", "tsi": "long 25 1 100000, short 13 1 100000",
	"ultimate": "short 7 1 100000, middle 14 1 100000, long 28 1 100000", "vortex": "period 14 1 100000", "vwap": "offset 0 -14 14, days 1 1 366",
	"vwma": "period 20 1 100000", "wilder": "period 14 1 100000", "williams_r": "period 14 2 100000", "wma": "period 30 1 100000",
	"zscore": "period 20 2 100000",
}

func TestEachParameterHasItsDefaultAndBounds(t *testing.T) {
	t.Parallel()
	for _, d := range All() {
		var all []string
		for _, p := range d.Parameters {
			all = append(all, fmt.Sprintf("%s %v %v %v", p.Name, p.Default, p.Min, p.Max))
			for value, fits := range map[float64]bool{p.Min: true, p.Max: true, p.Min - 1: false, p.Max + 1: false} {
				if value > 1_000 && fits {
					continue // it would allocate a ring of that many candles
				}
				if _, err := d.New(map[string]float64{p.Name: value}); (err == nil) != fits {
					t.Errorf("%s: %s of %v: want it accepted %t, have %v", d.Name, p.Name, value, fits, err)
				}
			}
			_, err := d.New(map[string]float64{p.Name: p.Min + 0.5})
			whole := !slices.Contains([]string{"multiplier", "deviations", "factor", "step", "maximum", "offset"}, p.Name)
			if whole != (err != nil) {
				t.Errorf("%s: a %s of %v: want it refused %t, have %v", d.Name, p.Name, p.Min+0.5, whole, err)
			}
		}
		if have := strings.Join(all, ", "); have != parameters[d.Name] {
			t.Errorf("%s: want %q, have %q", d.Name, parameters[d.Name], have)
		}
	}
}

// TestAnOldNameOfAParameterIsAccepted sets psar's maximum by its former name.
func TestAnOldNameOfAParameterIsAccepted(t *testing.T) {
	t.Parallel()
	d, _ := Find("psar")
	if _, err := d.New(map[string]float64{"most": 0.3}); err != nil {
		t.Error(err)
	}
	if _, err := d.New(map[string]float64{"most": 11}); err == nil || err.Error() != "psar: maximum 11 is not between 0 and 10" {
		t.Errorf("want its bounds checked, have %v", err)
	}
	if err := (&Definition{Name: "sma"}).Has("most"); err == nil {
		t.Error("want it unknown to other indicators")
	}
}

// TestAPeriodTooShortIsTheShortest builds each indicator in Go, where no table refuses a period.
func TestAPeriodTooShortIsTheShortest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		of    func(n int) any
		least int
	}{
		{"SMA", func(n int) any { return NewSMA(n) }, 1}, {"Mean", func(n int) any { return NewMean(n) }, 1}, {"EMA", func(n int) any { return NewEMA(n) }, 1},
		{"WMA", func(n int) any { return NewWMA(n) }, 1}, {"DEMA", func(n int) any { return NewDEMA(n) }, 1},
		{"TEMA", func(n int) any { return NewTEMA(n) }, 1}, {"T3", func(n int) any { return NewT3(n, 0.7) }, 1},
		{"TRIMA", func(n int) any { return NewTRIMA(n) }, 1}, {"TRIX", func(n int) any { return NewTRIX(n) }, 1},
		{"KAMA", func(n int) any { return NewKAMA(n) }, 2}, {"HMA", func(n int) any { return NewHMA(n) }, 2},
		{"Wilder", func(n int) any { return NewWilder(n) }, 1}, {"ZScore", func(n int) any { return NewZScore(n) }, 2},
		{"StdDev", func(n int) any { return NewStdDev(n) }, 2}, {"Bollinger", func(n int) any { return NewBollinger(n, 2) }, 2},
		{"LinearRegression", func(n int) any { return NewLinearRegression(n) }, 2}, {"RSI", func(n int) any { return NewRSI(n) }, 2},
		{"CMO", func(n int) any { return NewCMO(n) }, 2}, {"ATR", func(n int) any { return NewATR(n) }, 1}, {"NATR", func(n int) any { return NewNATR(n) }, 1},
		{"Supertrend", func(n int) any { return NewSupertrend(n, 3) }, 1}, {"ADX", func(n int) any { return NewADX(n) }, 2},
		{"Highest", func(n int) any { return NewHighest(n) }, 1}, {"Lowest", func(n int) any { return NewLowest(n) }, 1},
		{"Donchian", func(n int) any { return NewDonchian(n) }, 1}, {"Chandelier", func(n int) any { return NewChandelier(n, 3) }, 1},
		{"Keltner", func(n int) any { return NewKeltner(n, 3, 2) }, 1}, {"Keltner's ATR", func(n int) any { return NewKeltner(3, n, 2) }, 1},
		{"Momentum", func(n int) any { return NewMomentum(n) }, 1}, {"ROC", func(n int) any { return NewROC(n) }, 1},
		{"WilliamsR", func(n int) any { return NewWilliamsR(n) }, 2}, {"CCI", func(n int) any { return NewCCI(n) }, 2},
		{"Aroon", func(n int) any { return NewAroon(n) }, 2}, {"Fisher", func(n int) any { return NewFisher(n) }, 2},
		{"Choppiness", func(n int) any { return NewChoppiness(n) }, 2}, {"Vortex", func(n int) any { return NewVortex(n) }, 1},
		{"MFI", func(n int) any { return NewMFI(n) }, 2}, {"CMF", func(n int) any { return NewCMF(n) }, 1}, {"VWMA", func(n int) any { return NewVWMA(n) }, 1},
		{"Correlation", func(n int) any { return NewCorrelation(n) }, 2}, {"Beta", func(n int) any { return NewBeta(n) }, 2},
		{"Fractals", func(n int) any { return fmt.Sprint(NewFractals(n)) }, 1}, {"ADXR", func(n int) any { return NewADXR(n) }, 2},
		{"PercentRank", func(n int) any { return NewPercentRank(n) }, 1}, {"VWAP's days", func(n int) any { return NewVWAP(0, n) }, 1},
		{"Stoch's k", func(n int) any { return NewStoch(n, 3, 3) }, 1}, {"Stoch's smoothing", func(n int) any { return NewStoch(5, n, 3) }, 1},
		{"Stoch's d", func(n int) any { return NewStoch(5, 3, n) }, 1}, {"StochRSI's period", func(n int) any { return NewStochRSI(n, 5, 3) }, 2},
		{"StochRSI's k", func(n int) any { return NewStochRSI(14, n, 3) }, 1}, {"StochRSI's d", func(n int) any { return NewStochRSI(14, 5, n) }, 1},
		{"MACD's fast", func(n int) any { return NewMACD(n, 26, 9) }, 2}, {"MACD's signal", func(n int) any { return NewMACD(12, 26, n) }, 1},
		{"PPO's fast", func(n int) any { return NewPPO(n, 26, 9) }, 2}, {"PPO's signal", func(n int) any { return NewPPO(12, 26, n) }, 1},
		{"ADOSC's fast", func(n int) any { return NewADOSC(n, 10) }, 2}, {"ADOSC's slow", func(n int) any { return NewADOSC(2, n) }, 2},
		{"TSI's long", func(n int) any { return NewTSI(n, 13) }, 1}, {"TSI's short", func(n int) any { return NewTSI(25, n) }, 1},
		{"Ultimate's short", func(n int) any { return NewUltimateOscillator(n, 14, 28) }, 1},
	} {
		for _, n := range []int{c.least - 1, 0, -7} {
			if !reflect.DeepEqual(c.of(n), c.of(c.least)) {
				t.Errorf("%s: want %d for %d", c.name, c.least, n)
			}
		}
		if reflect.DeepEqual(c.of(c.least), c.of(c.least+1)) {
			t.Errorf("%s: want %d possible", c.name, c.least)
		}
	}
	for name, pairs := range map[string][2]any{"MACD": {NewMACD(26, 12, 9), NewMACD(12, 26, 9)}, "PPO": {NewPPO(26, 12, 9), NewPPO(12, 26, 9)},
		"Ultimate":             {NewUltimateOscillator(28, 7, 14), NewUltimateOscillator(7, 14, 28)},
		"Ultimate sorted down": {NewUltimateOscillator(28, 14, 7), NewUltimateOscillator(7, 14, 28)},
		"MACD of twos":         {NewMACD(1, 0, 9), NewMACD(2, 2, 9)}, "PPO of twos": {NewPPO(0, 1, 9), NewPPO(2, 2, 9)},
		"ADXR": {NewADXR(0), &ADXR{NewADX(2), newDelay(1)}}, "WilliamsR": {NewWilliamsR(0), &WilliamsR{newExtreme(2), newExtreme(2)}},
		"Fisher": {NewFisher(0), &Fisher{highest: newExtreme(2), lowest: newExtreme(2)}}, "MFI": {NewMFI(0), &MFI{up: newLine(2), down: newLine(2)}},
		"PSAR whose step is above its maximum": {NewPSAR(0.5, 0.2), NewPSAR(0.2, 0.2)}} {
		if !reflect.DeepEqual(pairs[0], pairs[1]) {
			t.Errorf("%s: want both to be the same", name)
		}
	}
}

func TestTheLinesOfAnIndicator(t *testing.T) {
	t.Parallel()
	bars := func(yield func(Bar, bool) bool) {
		_ = yield(Bar{High: 4, Low: 2, Close: 3}, true) && yield(Bar{High: 6, Low: 1, Close: 5}, true) && yield(Bar{High: 5, Low: 3, Close: 4}, true)
	}
	for _, c := range []struct {
		name    string
		given   map[string]float64
		outputs []string
		want    string
	}{
		{"sma", map[string]float64{"period": 2}, nil, "sma 2 [NaN 4 4.5]"},
		{"sma", map[string]float64{"period": 1}, []string{"value"}, "sma 1 [3 5 4]"},
		{"donchian", map[string]float64{"period": 2}, nil, "donchian 2 upper [NaN 6 6], donchian 2 middle [NaN 3.5 3.5], donchian 2 lower [NaN 1 1]"},
		{"donchian", map[string]float64{"period": 2}, []string{"lower"}, "donchian 2 [NaN 1 1]"},
		{"donchian", map[string]float64{"period": 2}, []string{"lower", "upper"}, "donchian 2 lower [NaN 1 1], donchian 2 upper [NaN 6 6]"},
		{"bollinger", map[string]float64{"period": 2, "deviations": 0.5}, []string{"upper"}, "bollinger 2 0.5 [NaN 4.5 4.75]"},
		{"ad", nil, nil, "ad [0 0 0]"},
		{"sma", map[string]float64{"period": 0}, nil, "sma: period 0 is not between 1 and 100000"},
		{"astrology", nil, nil, `unknown indicator "astrology"`},
		{"donchian", nil, []string{"upper", "outer"}, `donchian has no output "outer"`},
	} {
		lines, err := Lines(c.name, c.given, c.outputs, bars)
		have := fmt.Sprint(err)
		if err == nil {
			var all []string
			for _, l := range lines {
				all = append(all, fmt.Sprint(l.Name, " ", l.Values))
			}
			have = strings.Join(all, ", ")
		} else if lines != nil {
			t.Errorf("%s: want no lines with an error, have %v", c.name, lines)
		}
		if have != c.want {
			t.Errorf("%s %v %v: want %s, have %s", c.name, c.given, c.outputs, c.want, have)
		}
	}
	hidden := func(yield func(Bar, bool) bool) {
		_ = yield(Bar{Close: 3}, false) && yield(Bar{Close: 5}, true) && yield(Bar{Close: 6}, false)
	}
	if lines, err := Lines("sma", map[string]float64{"period": 2}, nil, hidden); err != nil || fmt.Sprint(lines) != "[{sma 2 [4]}]" {
		t.Errorf("want the one value that is shown, which counts the bar before it, have %v, %v", lines, err)
	}
}
