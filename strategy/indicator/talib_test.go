package indicator

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// bars reads a file's candles for indicators.
func bars(t *testing.T, name string) []Bar {
	t.Helper()
	open, high, low := column(t, name, "open"), column(t, name, "high"), column(t, name, "low")
	closes, volume := column(t, name, "close"), column(t, name, "volume")
	times := make([]float64, len(open)) // Stock.Indicators' file has dates
	if !strings.Contains(name, "stock-indicators") {
		times = column(t, name, "open_time_ms")
	}
	all := make([]Bar, len(open))
	for i := range all {
		all[i] = Bar{open[i], high[i], low[i], closes[i], volume[i], int64(times[i])}
	}
	return all
}

// run returns one output of an indicator for each bar.
func run(t *testing.T, bars []Bar, name string, parameters map[string]float64, output int) []float64 {
	t.Helper()
	definition, found := Find(name)
	if !found {
		t.Fatalf("no indicator %s", name)
	}
	stream, err := definition.New(parameters)
	if err != nil {
		t.Fatal(err)
	}
	values, all := make([]float64, len(definition.Outputs)), make([]float64, len(bars))
	for i, bar := range bars {
		stream.Next(bar, values)
		all[i] = values[output]
	}
	return all
}

// same compares all expected values, and the positions without one.
func same(t *testing.T, want, have []float64) {
	t.Helper()
	compared := 0
	for i := range want {
		if math.IsNaN(want[i]) != math.IsNaN(have[i]) {
			t.Fatalf("candle %d: want %v, have %v", i, want[i], have[i])
		}
		// Near zero, as in a histogram at a cross, the absolute difference counts.
		if math.Abs(have[i]-want[i]) > 1e-9*max(1, math.Abs(want[i])) {
			t.Fatalf("candle %d: want %v, have %v", i, want[i], have[i])
		}
		if !math.IsNaN(want[i]) {
			compared++
		}
	}
	if compared < len(want)*3/4 {
		t.Errorf("only %d of %d values were compared", compared, len(want))
	}
}

func TestIndicatorsEqualTALib(t *testing.T) {
	t.Parallel()
	n := func(period float64) map[string]float64 { return map[string]float64{"period": period} }
	slow := map[string]float64{"k": 14}
	for _, c := range []struct {
		column, name string
		parameters   map[string]float64
		output       int
	}{
		{"SMA20", "sma", n(20), 0}, {"SMA50", "sma", n(50), 0}, {"EMA20", "ema", n(20), 0}, {"RSI14", "rsi", nil, 0},
		{"MACD12_26_9", "macd", nil, 0}, {"MACDsignal9", "macd", nil, 1}, {"MACDhist", "macd", nil, 2}, {"ATR14", "atr", nil, 0},
		{"BBupper20_2", "bollinger", n(20), 0}, {"BBmiddle20", "bollinger", n(20), 1}, {"BBlower20_2", "bollinger", n(20), 2},
		{"PLUS_DI14", "adx", nil, 0}, {"MINUS_DI14", "adx", nil, 1}, {"ADX14", "adx", nil, 2},
		{"PLUS_DI14", "dmi", nil, 0}, {"MINUS_DI14", "dmi", nil, 1},
		{"STOCHslowK14_3", "stoch", slow, 0}, {"STOCHslowD3", "stoch", slow, 1}, {"STDDEV20", "stddev", n(20), 0},
		{"WMA20", "wma", n(20), 0}, {"DEMA10", "dema", n(10), 0}, {"TEMA10", "tema", n(10), 0}, {"KAMA10", "kama", n(10), 0}, {"NATR14", "natr", nil, 0},
		{"TRANGE", "true_range", nil, 0}, {"STOCHRSIfastK14_5", "stochrsi", nil, 0}, {"STOCHRSIfastD3", "stochrsi", nil, 1}, {"CCI20", "cci", n(20), 0},
		{"MFI14", "mfi", nil, 0}, {"WILLR14", "williams_r", nil, 0}, {"ROC10", "roc", nil, 0}, {"MOM10", "momentum", nil, 0}, {"OBV", "obv", nil, 0},
		{"AROONdown14", "aroon", nil, 0}, {"AROONup14", "aroon", nil, 1}, {"SAR02_20", "psar", nil, 0}, {"LINEARREG14", "linreg", nil, 0},
		{"MAXhigh20", "highest", n(20), 0}, {"MINlow20", "lowest", n(20), 0},
	} {
		t.Run(c.name+" "+c.column, func(t *testing.T) {
			t.Parallel()
			for _, file := range []struct{ candles, expected string }{
				{"candles/binance-spot_BTCUSDT_1h_2024.csv", "indicators/ta-lib/BTCUSDT_1h_2024_first1000_talib.csv"},
				{"indicators/ta-lib/ta_regtest_252bars.csv", "indicators/ta-lib/ta_regtest_252bars_talib.csv"},
			} {
				want := column(t, file.expected, c.column)
				have := run(t, bars(t, file.candles)[:len(want)], c.name, c.parameters, c.output)
				same(t, want, have)
				prove(c.name, "TA-Lib", want, have)
			}
		})
	}
}

func TestSupertrendEqualsStockIndicators(t *testing.T) {
	t.Parallel()
	have := run(t, bars(t, "indicators/stock-indicators/default.csv"), "supertrend", map[string]float64{"period": 10, "multiplier": 3}, 0)
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", "indicators", "stock-indicators", "supertrend.standard.json"))
	if err != nil {
		t.Skipf("recorded data is not beside the project: %v", err)
	}
	var rows []struct{ SuperTrend *float64 }
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	turns := 0
	stated := make([]float64, len(have))
	for i, row := range rows {
		if stated[i] = math.NaN(); row.SuperTrend != nil {
			stated[i] = *row.SuperTrend
		}
		switch {
		case (row.SuperTrend == nil) != math.IsNaN(have[i]):
			t.Fatalf("candle %d: want %v, have %v", i, row.SuperTrend, have[i])
		case row.SuperTrend != nil && math.Abs(*row.SuperTrend-have[i]) > 1e-5*have[i]: // the file has five decimal places
			t.Fatalf("candle %d: want %v, have %v", i, *row.SuperTrend, have[i])
		case i > 0 && row.SuperTrend != nil && math.Abs(have[i]/have[i-1]-1) > 0.02:
			turns++
		}
	}
	prove("supertrend", "Stock.Indicators", stated, have)
	if turns == 0 {
		t.Error("the trend never turned: nothing of that was compared")
	}
}
