package library

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"botd/strategy"
	"botd/strategy/indicator"
)

// maxPlots is the maximum number of plotted indicators of a text: more cannot be distinguished.
const maxPlots = 6

var (
	call     = regexp.MustCompile(`\b([a-z][a-z0-9_]*)\(([^()]*)\)(?:\.([a-z_]+))?`)
	assigned = regexp.MustCompile(`(?m)^\s*([A-Za-z_]\w*)\s*=\s*(?:param\(\s*["'][^"']*["']\s*,\s*)?(-?\d+(?:\.\d+)?)\b`)
	named    = regexp.MustCompile(`(?m)^\s*([A-Za-z_]\w*)\s*=\s*param\(\s*["']([^"']*)["']`)
)

// onThePrice lists the indicators whose values are prices; they are drawn over the candles.
var onThePrice = []string{"sma", "ema", "wma", "dema", "tema", "kama", "hma", "rma", "smma", "trima", "t3", "vwap", "vwma", "bollinger", "keltner", "donchian",
	"supertrend", "sar", "psar", "ichimoku", "linreg", "highest", "lowest", "max", "min", "median", "fractal", "heikin_ashi"}

// textPlots returns the indicators that rules or a script call on the closing price, with numbers
// or with parameters and constants of the text, in order of first appearance. It omits indicators
// of other indicators or of columns.
func textPlots(text string, given strategy.Values) []strategy.Plot {
	numbers := map[string]string{}
	for _, match := range assigned.FindAllStringSubmatch(text, -1) {
		numbers[match[1]] = match[2]
	}
	for _, match := range named.FindAllStringSubmatch(text, -1) { // a value in the file overrides the default
		if value, set := given[match[2]]; set {
			numbers[match[1]] = value
		}
	}
	var all []strategy.Plot
	for _, match := range call.FindAllStringSubmatch(text, -1) {
		definition, known := indicator.Find(match[1])
		if !known {
			continue
		}
		plot := strategy.Plot{Indicator: match[1], Parameters: map[string]float64{}, OwnScale: !slices.Contains(onThePrice, match[1])}
		if !arguments(plot.Parameters, match[2], definition, numbers) {
			continue
		}
		if _, err := definition.New(plot.Parameters); err != nil {
			continue
		}
		if slices.Contains(definition.Outputs, match[3]) {
			plot.Outputs = []string{match[3]}
		}
		if all = joined(all, plot); len(all) == maxPlots {
			break
		}
	}
	return all
}

// arguments reads the arguments of an indicator call. ok is false if the series is not the closing
// price or an argument is unknown.
func arguments(into map[string]float64, text string, definition *indicator.Definition, numbers map[string]string) (ok bool) {
	at := 0
	for i, word := range strings.Split(text, ",") {
		if word = strings.TrimSpace(word); word == "" || i == 0 && word == "close" {
			continue
		}
		name, value, isNamed := strings.Cut(word, "=")
		if name, value = strings.TrimSpace(name), strings.TrimSpace(value); !isNamed {
			if at >= len(definition.Parameters) {
				return false
			}
			name, value = definition.Parameters[at].Name, word
			at++
		}
		if known, found := numbers[value]; found {
			value = known
		}
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return false
		}
		into[name] = number
	}
	return true
}

// joined adds a plot. Another output of an indicator that is already listed joins its plot.
func joined(all []strategy.Plot, plot strategy.Plot) []strategy.Plot {
	for i := range all {
		have := &all[i]
		if have.Indicator != plot.Indicator || len(have.Parameters) != len(plot.Parameters) {
			continue
		}
		same := true
		for name, value := range plot.Parameters {
			same = same && have.Parameters[name] == value
		}
		if same {
			for _, output := range plot.Outputs {
				if have.Outputs != nil && !slices.Contains(have.Outputs, output) {
					have.Outputs = append(have.Outputs, output)
				}
			}
			return all
		}
	}
	return append(all, plot)
}
