package isolated

import (
	"errors"

	"botd/strategy"
)

// Tolerate returns a definition for a start that must not wait for one strategy. If the process does
// not describe its needs, because it hangs or has ended, a substitute takes its place that fails at its
// first decision. Nothing opens for that strategy; its position, its stop and all other strategies are still
// managed.
func Tolerate(definition strategy.Definition, err error) (strategy.Definition, error) {
	if cause := silence(err); cause != "" {
		return strategy.Definition{Name: definition.Name, Summary: cause, Silent: true,
			New: func(strategy.Setting, strategy.Values) (strategy.Strategy, error) { return silent{cause}, nil }}, nil
	}
	if err != nil {
		return definition, err
	}
	create := definition.New
	definition.New = func(setting strategy.Setting, values strategy.Values) (strategy.Strategy, error) {
		made, err := create(setting, values)
		if cause := silence(err); cause != "" {
			return silent{cause}, nil
		}
		return made, err
	}
	return definition, nil
}

// silence returns the reason that a process did not answer; empty if it did.
func silence(err error) string {
	var lost *strategy.LostError
	if !errors.As(err, &lost) {
		return ""
	}
	return "at the start: " + lost.Cause + "; fix it and reload (botd reload), or restart botd"
}

// silent is the substitute for a strategy that did not describe its needs.
type silent struct{ cause string }

// Warmup is none: it fails at once.
func (silent) Warmup() int { return 0 }

// Candle ignores the candle.
func (silent) Candle(*strategy.View) {}

// Decide fails.
func (s silent) Decide(*strategy.View, *strategy.Plan) { panic(errors.New(s.cause)) }
