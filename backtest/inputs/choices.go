package inputs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"botd/backtest"
	"botd/configs"
	"botd/configs/engineconfig"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/internal/spell"
	"botd/strategy"
)

// maxTrials bounds the combinations of a sweep.
const maxTrials = 10_000

// Choices are all combinations of what --vary says, in its order.
func Choices(vary []string, given *configs.StrategyConfig) ([]map[string]string, error) {
	if len(vary) == 0 {
		return nil, failure.Usagef("botd sweep run needs --vary NAME=VALUE,VALUE: botd strategy show %s lists its parameters", given.Kind)
	}
	definition, _ := given.Definition()
	var names []string
	for _, p := range definition.Parameters {
		names = append(names, p.Name)
	}
	all := []map[string]string{{}}
	for _, text := range vary {
		name, list, _ := strings.Cut(text, "=")
		if !slices.Contains(names, name) {
			hint := "there are " + strings.Join(names, ", ")
			if near := spell.Nearest(name, names); near != "" {
				hint = "did you mean " + near + "?"
			}
			return nil, failure.Usagef("--vary %s: %s takes no parameter %q\nhint: %s", text, given.Kind, name, hint)
		}
		values, err := valuesOf(list)
		if err != nil {
			return nil, failure.Usagef("--vary %s: %w", text, err)
		}
		if len(all)*len(values) > maxTrials {
			return nil, failure.Usagef("--vary: more than %d trials", maxTrials)
		}
		next := make([]map[string]string, 0, len(all)*len(values))
		for _, choice := range all {
			for _, value := range values {
				with := maps.Clone(choice)
				with[name] = value
				next = append(next, with)
			}
		}
		all = next
	}
	return all, nil
}

// valuesOf reads VALUE,VALUE and FROM..TO..STEP; a step that is not given is 1.
func valuesOf(list string) (values []string, err error) {
	for _, part := range strings.Split(list, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			return nil, fmt.Errorf("a value is missing: want NAME=5,10 or NAME=5..20..5")
		}
		ends := strings.Split(part, "..")
		if len(ends) == 1 {
			values = append(values, part)
			continue
		}
		numbers := []decimal.Decimal{{}, {}, decimal.NewFromInt(1)}
		for i, end := range ends {
			if i >= len(numbers) {
				return nil, fmt.Errorf("%q: want FROM..TO..STEP", part)
			}
			if numbers[i], err = decimal.NewFromString(end); err != nil {
				return nil, fmt.Errorf("%q: %q is not a number", part, end)
			}
		}
		from, to, step := numbers[0], numbers[1], numbers[2]
		if step.Sign() <= 0 || to.LessThan(from) {
			return nil, fmt.Errorf("%q: want a step above zero, and an end that is not below the beginning", part)
		}
		for at := from; !at.GreaterThan(to); at = at.Add(step) {
			if values = append(values, at.String()); len(values) > maxTrials {
				return nil, fmt.Errorf("%q: more than %d values", part, maxTrials)
			}
		}
	}
	return values, nil
}

// Trials makes a trial of each choice that the strategy takes.
func Trials(
	given *configs.StrategyConfig,
	recorded *tape.Tape,
	choices []map[string]string,
) (trials []backtest.Trial, refused int, why string, err error) {
	for _, choice := range choices {
		with := given.With(choice)
		made, err := engineconfig.Strategy(with, recorded.Symbol)
		if err != nil {
			refused, why = refused+1, cmp.Or(why, choiceText(choice)+": "+err.Error())
			continue
		}
		trials = append(trials, backtest.Trial{Params: choice, Leg: backtest.Leg{Strategy: made,
			Make: func(over *tape.Tape) (strategy.Strategy, error) { return with.Build(over.Symbol) }}})
	}
	if len(trials) == 0 {
		return nil, refused, why, failure.New(failure.Usage, "botd strategy show "+given.Kind+" shows the bounds of each",
			"every choice is refused; the first, %s", why)
	}
	return trials, refused, why, nil
}

func choiceText(choice map[string]string) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(choice)) {
		words = append(words, name+"="+choice[name])
	}
	return strings.Join(words, " ")
}
