package indicator

import (
	"math"
	"testing"

	"github.com/markcheno/go-talib"
)

// columnsOf converts candles to the input of go-talib.
func columnsOf(bars []Bar) (open, high, low, closes, volume []float64) {
	for _, b := range bars {
		open, high, low, closes, volume = append(open, b.Open), append(high, b.High), append(low, b.Low), append(closes, b.Close), append(volume, b.Volume)
	}
	return open, high, low, closes, volume
}

// TestIndicatorsWithoutVectorsEqualGoTALib compares indicators without recorded vectors with a second
// implementation of TA-Lib. That one writes zeros before the first value, whose index follows from the
// formula's length.
func TestIndicatorsWithoutVectorsEqualGoTALib(t *testing.T) {
	t.Parallel()
	bars := walk(1_500)
	open, high, low, closes, volume := columnsOf(bars)
	n := func(period float64) map[string]float64 { return map[string]float64{"period": period} }
	for _, c := range []struct {
		name       string
		parameters map[string]float64
		first      int
		want       []float64
	}{
		{"trima", n(14), 13, talib.Trima(closes, 14)},
		{"trima", n(15), 14, talib.Trima(closes, 15)},
		{"cmo", nil, 14, talib.Cmo(closes, 14)},
		{"trix", nil, 88, talib.Trix(closes, 30)},
		{"ultimate", nil, 28, talib.UltOsc(high, low, closes, 7, 14, 28)},
		{"ad", nil, 0, talib.Ad(high, low, closes, volume)},
		{"adosc", nil, 9, talib.AdOsc(high, low, closes, volume, 3, 10)},
		{"bop", nil, 0, talib.Bop(open, high, low, closes)},
		{"aroon_oscillator", nil, 14, talib.AroonOsc(high, low, 14)},
		{"linreg_slope", nil, 13, talib.LinearRegSlope(closes, 14)},
		{"wma", nil, 29, talib.Wma(closes, 30)},
		{"dema", nil, 58, talib.Dema(closes, 30)},
		{"tema", nil, 87, talib.Tema(closes, 30)},
		{"obv", nil, 0, talib.Obv(closes, volume)},
		{"psar", nil, 1, talib.Sar(high, low, 0.02, 0.2)},
	} {
		for i := range c.first {
			c.want[i] = math.NaN()
		}
		t.Run(c.name, func(t *testing.T) {
			have := run(t, bars, c.name, c.parameters, 0)
			same(t, c.want, have)
			prove(c.name, "go-talib", c.want, have)
		})
	}
}
