package isolated

import (
	"errors"

	"botd/strategy"
)

// Tolerate returns a definition for a start that must not wait for one strategy: where the process does
// not say what it needs, because it hangs or has ended, a strategy stands for it that fails at its
// first decision. Nothing opens for that one; its position, its stop and all others are looked after.
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

// silence says why a process did not answer; empty where it did.
func silence(err error) string {
	var lost *strategy.LostError
	if !errors.As(err, &lost) {
		return ""
	}
	return "at the start: " + lost.Cause + "; mend it and reload (botd reload), or restart botd"
}

// silent stands for a strategy that did not say what it needs.
type silent struct{ cause string }

// Warmup is none: it fails at once.
func (silent) Warmup() int { return 0 }

// Candle has nobody to show it to.
func (silent) Candle(*strategy.View) {}

// Decide fails.
func (s silent) Decide(*strategy.View, *strategy.Plan) { panic(errors.New(s.cause)) }
