package library

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/strategy"
	"botd/strategy/indicator"
)

// TestPlotsAreIndicatorsThatExist computes every strategy's plots with default parameters.
func TestPlotsAreIndicatorsThatExist(t *testing.T) {
	t.Parallel()
	var plotted []string
	for _, definition := range All() {
		for _, plot := range Plots(definition.Name, nil) {
			plotted = append(plotted, definition.Name)
			found, known := indicator.Find(plot.Indicator)
			if !known {
				t.Errorf("%s: no indicator is named %s", definition.Name, plot.Indicator)
				continue
			}
			if _, err := found.New(plot.Parameters); err != nil {
				t.Errorf("%s: %v", definition.Name, err)
			}
			for _, output := range plot.Outputs {
				if !slices.Contains(found.Outputs, output) {
					t.Errorf("%s: %s has no output %s", definition.Name, plot.Indicator, output)
				}
			}
		}
	}
	for _, name := range []string{"sma_cross", "ema_cross", "macd", "supertrend", "donchian", "bollinger", "rsi", "zscore"} {
		if !slices.Contains(plotted, name) {
			t.Errorf("want plots of %s", name)
		}
	}
}

func TestPlotsFollowTheParametersGiven(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind  string
		given strategy.Values
		want  string
	}{
		{"sma_cross", strategy.Values{"fast": "7"}, "sma map[period:7] false; sma map[period:50] false"},
		{"donchian", strategy.Values{"entry": "30", "exit": "12"}, "donchian map[period:30] false; donchian map[period:12] false"},
		{"bollinger", strategy.Values{"deviations": "2.5"}, "bollinger map[deviations:2.5 period:20] false"},
		{"rsi", strategy.Values{"period": "9"}, "rsi map[period:9] true"},
		{"twap", nil, ""},
		{"nobody", nil, ""},
	} {
		var have []string
		for _, p := range Plots(c.kind, c.given) {
			have = append(have, fmt.Sprint(p.Indicator, " ", p.Parameters, " ", p.OwnScale))
		}
		if strings.Join(have, "; ") != c.want {
			t.Errorf("%s: want %s, have %s", c.kind, c.want, strings.Join(have, "; "))
		}
	}
}

// The rules may be in parameters, too.
func TestPlotsShowIndicatorsOfRulesAndScripts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, script string
		given        strategy.Values
		want         string
	}{
		{"sma_cross", "", strategy.Values{"fast": "5", "slow": "9"}, "sma sma"},
		{"script", "def decide(view):\n    return rsi(close, 14)\n", nil, "rsi"},
		{"rules", "", strategy.Values{"entry_long": "ema(close, 5) > close", "exit_long": "rsi(close, 3) > 70"}, "ema rsi"},
		{"grid", "", nil, ""},
	} {
		var have []string
		for _, plot := range PlotsOf(c.kind, c.script, c.given) {
			have = append(have, plot.Indicator)
		}
		if text := strings.Join(have, " "); text != c.want {
			t.Errorf("%s: want %q, have %q", c.kind, c.want, text)
		}
	}
}
