package library

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"botd/strategy"
)

// PlotsOf returns the indicators of a strategy: those of a built-in one, or those that its rules or
// script call.
func PlotsOf(kind, script string, given strategy.Values) []strategy.Plot {
	switch kind {
	case "script":
		return textPlots(script, given)
	case "rules":
		var text strings.Builder
		for _, name := range slices.Sorted(maps.Keys(given)) {
			text.WriteString(given[name] + "\n")
		}
		return textPlots(text.String(), given)
	}
	return Plots(kind, given)
}

// Plots returns the indicators that a built-in strategy of that kind uses with its parameters.
// Strategies that use only prices have none.
func Plots(kind string, given strategy.Values) []strategy.Plot {
	value := func(name string) float64 {
		text, set := given[name]
		for _, definition := range All() {
			for _, p := range definition.Parameters {
				if definition.Name == kind && p.Name == name && !set {
					text = p.Default
				}
			}
		}
		number, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0 // the indicator refuses it; the configuration was checked earlier
		}
		return number
	}
	over := func(indicator string, outputs []string, parameters ...string) strategy.Plot {
		plot := strategy.Plot{Indicator: indicator, Outputs: outputs, Parameters: map[string]float64{}}
		for i := 0; i < len(parameters); i += 2 {
			plot.Parameters[parameters[i]] = value(parameters[i+1])
		}
		return plot
	}
	below := func(plot strategy.Plot) strategy.Plot { plot.OwnScale = true; return plot }
	switch kind {
	case "sma_cross":
		return []strategy.Plot{over("sma", nil, "period", "fast"), over("sma", nil, "period", "slow")}
	case "ema_cross":
		return []strategy.Plot{over("ema", nil, "period", "fast"), over("ema", nil, "period", "slow")}
	case "macd":
		return []strategy.Plot{below(over("macd", []string{"macd", "signal"}, "fast", "fast", "slow", "slow", "signal", "signal"))}
	case "supertrend":
		return []strategy.Plot{over("supertrend", nil, "period", "period", "multiplier", "multiplier")}
	case "donchian":
		both := []string{"upper", "lower"}
		return []strategy.Plot{over("donchian", both, "period", "entry"), over("donchian", both, "period", "exit")}
	case "bollinger":
		return []strategy.Plot{over("bollinger", nil, "period", "period", "deviations", "deviations")}
	case "rsi":
		return []strategy.Plot{below(over("rsi", nil, "period", "period"))}
	case "zscore":
		return []strategy.Plot{below(over("zscore", nil, "period", "period"))}
	}
	return nil
}
