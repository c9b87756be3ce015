package tryout

import (
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"botd/strategy"
)

const mostVaried = 2 // parameters: three values each are nine trials

// Vary is what a small sweep varies: the first numbers among the parameters, each a quarter less, as given, and a quarter more.
func Vary(parameters []strategy.Parameter, given strategy.Values) (all []string) {
	for _, p := range parameters {
		text, found := given[p.Name]
		if !found {
			text = p.Default
		}
		value, err := decimal.NewFromString(text)
		if p.Kind != "int" && p.Kind != "decimal" || err != nil || value.IsZero() || len(all) == mostVaried {
			continue
		}
		var values []string
		for _, factor := range []string{"0.75", "1", "1.25"} {
			near := value.Mul(decimal.RequireFromString(factor))
			if p.Kind == "int" {
				near = near.Round(0)
			}
			if within(near, p) && !slices.Contains(values, near.String()) {
				values = append(values, near.String())
			}
		}
		if len(values) > 1 {
			all = append(all, p.Name+"="+strings.Join(values, ","))
		}
	}
	return all
}

func within(value decimal.Decimal, p strategy.Parameter) bool {
	if least, err := decimal.NewFromString(p.Min); err == nil && value.LessThan(least) {
		return false
	}
	most, err := decimal.NewFromString(p.Max)
	return err != nil || !value.GreaterThan(most)
}
