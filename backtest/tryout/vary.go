package tryout

import (
	"regexp"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"botd/strategy"
)

const maxVaried = 2 // parameters: three values each are nine trials

// vary returns the axes of a small sweep: the first numeric parameters and the thresholds of rules, each a quarter
// less, as given, and a quarter more.
func vary(parameters []strategy.Parameter, given strategy.Values) (all []string) {
	for _, p := range parameters {
		text, found := given[p.Name]
		if !found {
			text = p.Default
		}
		if values := nearby(p, text); len(values) > 1 && len(all) < maxVaried {
			all = append(all, p.Name+"="+strings.Join(values, ","))
		}
	}
	return all
}

// threshold matches the first number that a rule compares with.
var threshold = regexp.MustCompile(`^(.*?[<>]=?\s*)(\d+(?:\.\d+)?)(.*)$`)

// nearby returns the values of a parameter near the given one, or nil for a parameter that is no number.
func nearby(p strategy.Parameter, text string) (values []string) {
	before, after := "", ""
	if match := threshold.FindStringSubmatch(text); p.Kind == "text" && match != nil && !strings.Contains(text, `"`) {
		before, text, after = `"`+match[1], match[2], match[3]+`"`
	} else if p.Kind != "int" && p.Kind != "decimal" {
		return nil
	}
	value, err := decimal.NewFromString(text)
	if err != nil || value.IsZero() {
		return nil
	}
	for _, factor := range []string{"0.75", "1", "1.25"} {
		near := value.Mul(decimal.RequireFromString(factor))
		if p.Kind == "int" {
			near = near.Round(0)
		}
		if text := before + near.String() + after; inRange(near, p) && !slices.Contains(values, text) {
			values = append(values, text)
		}
	}
	return values
}

func inRange(value decimal.Decimal, p strategy.Parameter) bool {
	if least, err := decimal.NewFromString(p.Min); err == nil && value.LessThan(least) {
		return false
	}
	most, err := decimal.NewFromString(p.Max)
	return err != nil || !value.GreaterThan(most)
}
