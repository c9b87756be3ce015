package inputs

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"botd/backtest"
	"botd/backtest/search"
	"botd/configs"
	"botd/configs/engineconfig"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/internal/spell"
	"botd/strategy"
)

// fixed lists the keys that no sweep varies: the candles belong to one symbol, and the trials to one strategy.
var fixed = []string{"name", "market", "symbol", "strategy", "enabled", "columns"}

// Trials makes the trials of a sweep over one strategy's settings.
type Trials struct {
	Config backtest.Config
	Base   *configs.StrategyConfig

	files  *Files
	params []string
	tapes  map[exchange.Interval]*tape.Tape
	origin string // hash of the common inputs of all trials
}

// NewTrials reads the inputs of a sweep. With an interval among the axes it reads the candles of the shortest value,
// and builds the others from them.
func (b *Files) NewTrials(axes []search.Axis, binary string, split exchange.Rate, stop backtest.StopWhen) (*Trials, error) {
	for i := range axes {
		if axes[i].Name == "interval" {
			shortest, err := shortestOf(axes[i].Values)
			if err != nil {
				return nil, err
			}
			b.Override = b.overriding("interval", shortest)
		}
	}
	symbols, err := b.Instruments()
	if err != nil {
		return nil, err
	}
	if err := b.outside(); err != nil {
		return nil, err
	}
	given, _, err := b.Strategies(symbols)
	if err != nil {
		return nil, err
	}
	if len(given) != 1 {
		return nil, failure.Usagef("a sweep takes one strategy, not %d", len(given))
	}
	config, err := b.Config()
	if err != nil {
		return nil, err
	}
	config.StopWhen = stop
	t := &Trials{Config: config, Base: given[0], files: b, tapes: map[exchange.Interval]*tape.Tape{given[0].Interval: config.Legs[0].Tape}}
	t.params = parameters(t.Base)
	for i := range axes {
		if err := CheckAxis(t.Base, axes[i].Name); err != nil {
			return nil, err
		}
	}
	t.origin = t.shared(binary, split)
	return t, nil
}

func shortestOf(intervals []string) (string, error) {
	shortest, text := exchange.Interval(0), ""
	for _, word := range intervals {
		interval, err := exchange.ParseInterval(word)
		if err != nil {
			return "", failure.Usagef("--vary interval: %w", err)
		}
		if shortest == 0 || interval < shortest {
			shortest, text = interval, word
		}
	}
	if shortest == 0 {
		return "", failure.Usagef("--vary interval: want a list, as interval=1h,4h")
	}
	return text, nil
}

// parameters returns the names of a strategy's parameters.
func parameters(c *configs.StrategyConfig) (names []string) {
	if definition, known := c.Definition(); known {
		for _, p := range definition.Parameters {
			names = append(names, p.Name)
		}
	}
	return names
}

// CheckAxis returns an error unless the name is a parameter of the strategy or a key of its file.
func CheckAxis(c *configs.StrategyConfig, name string) error {
	first, _, _ := strings.Cut(name, ".")
	params := parameters(c)
	known := slices.Clone(params)
	_, keys := configs.Keys()
	for i := range keys {
		key, _, _ := strings.Cut(keys[i].Path, ".")
		known = append(known, key)
	}
	switch {
	case slices.Contains(fixed, first) && !slices.Contains(params, name):
		return failure.Usagef("--vary %s: a sweep takes one strategy on one symbol; run one sweep for each", name)
	case slices.Contains(params, name), slices.Contains(known, first):
		return nil
	}
	hint := "there are " + strings.Join(params, ", ") + ", and the keys of the file, as protect.stop_loss"
	if near := spell.Nearest(first, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	return failure.Usagef("--vary %s: %s takes no parameter %q, and there is no such key\nhint: %s", name, c.Kind, name, hint)
}

// overriding returns the overrides with one more key.
func (b *Files) overriding(key, value string) map[string]string {
	all := map[string]string{key: value}
	for other, given := range b.Override {
		if other != key {
			all[other] = given
		}
	}
	return all
}

// Trial returns the trial of a choice. refused is the strategy's reason for rejecting the choice.
func (t *Trials) Trial(choice search.Choice) (trial backtest.Trial, refused string, err error) {
	c, refused := t.strategy(choice)
	if refused != "" {
		return trial, choice.Text() + ": " + refused, nil
	}
	config := t.Config
	config.Legs = slices.Clone(config.Legs)
	leg := &config.Legs[0]
	if leg.Tape, err = t.candles(c.Interval); err != nil {
		return trial, choice.Text() + ": " + err.Error(), nil
	}
	if leg.Detail != nil && (leg.Detail.Candles.Interval >= c.Interval || c.Interval%leg.Detail.Candles.Interval != 0) {
		leg.Detail = nil
	}
	if leg.Strategy, err = engineconfig.Strategy(c, leg.Tape.Symbol); err != nil {
		return trial, choice.Text() + ": " + err.Error(), nil
	}
	if leg.Strategy.Others, err = resampled(t.Config.Legs[0].Strategy.Others, c.Interval); err != nil {
		return trial, choice.Text() + ": " + err.Error(), nil
	}
	leg.Kind, leg.Make = c.Kind, func(over *tape.Tape) (strategy.Strategy, error) { return c.Build(over.Symbol) }
	trial = backtest.Trial{Params: choice, Job: t.job(c), Leg: *leg}
	if c.Interval != t.Base.Interval || c.Backtest != t.Base.Backtest {
		if err := ShareAccount(&config, []*configs.StrategyConfig{c}); err != nil {
			return trial, "", err
		}
		trial.Config = &config
	}
	return trial, "", nil
}

// Backtest returns the backtest of a choice over all the candles, as reports state it.
func (t *Trials) Backtest(choice map[string]string) (backtest.Config, error) {
	c, refused := t.strategy(choice)
	if refused != "" {
		return backtest.Config{}, failure.New(failure.Config, "", "%s", refused)
	}
	trial, refused, err := t.Trial(choice)
	if err == nil && refused != "" {
		err = failure.New(failure.Config, "", "%s", refused)
	}
	if err != nil {
		return backtest.Config{}, err
	}
	config := t.Config
	config.Legs = []backtest.Leg{trial.Leg}
	given := *config.Inputs
	given.Strategies = slices.Clone(given.Strategies)
	given.Strategies[0].YAML = c.Effective()
	config.Inputs = &given
	return config, ShareAccount(&config, []*configs.StrategyConfig{c})
}

// strategy returns the strategy with other settings.
func (t *Trials) strategy(choice search.Choice) (c *configs.StrategyConfig, refused string) {
	params, values := map[string]string{}, map[string]string{}
	for name, value := range choice {
		if slices.Contains(t.params, name) {
			params[name], values["params."+name] = value, value
		} else {
			values[name] = value
		}
	}
	if len(params) == len(choice) {
		return t.Base.With(params), ""
	}
	for key, value := range t.files.Override {
		values[key] = cmp.Or(values[key], value)
	}
	settings := t.files.Options()
	settings.Symbols, _ = t.files.Instruments() // an earlier read succeeded
	c, problems := configs.LoadStrategyWith(t.Base.File, values, settings)
	if problems.Err() == nil {
		return c, ""
	}
	for _, problem := range problems {
		if problem.Severity == configs.Error {
			refused = cmp.Or(refused, problem.What)
		}
	}
	return nil, refused
}

// candles returns the candles of an interval.
func (t *Trials) candles(interval exchange.Interval) (*tape.Tape, error) {
	if made, known := t.tapes[interval]; known {
		return made, nil
	}
	made, err := longer(t.tapes[t.Base.Interval], interval)
	if err == nil {
		t.tapes[interval] = made
	}
	return made, err
}

// shared hashes the inputs of all trials other than the strategy: the program, the candles and other recorded data,
// their span, and the split.
func (t *Trials) shared(binary string, split exchange.Rate) string {
	given := t.Config.Inputs
	one := &given.Strategies[0]
	parts := []string{binary, split.String(), t.Config.StopWhen.String(),
		fmt.Sprint(given.FromMS, given.ToMS, given.Repair), fmt.Sprintf("%+v", given.Limits), one.Data.SHA256}
	if one.Script != nil {
		parts = append(parts, one.Script.Text)
		for _, l := range one.Script.Libraries {
			parts = append(parts, l.Path, l.Text)
		}
	}
	parts = append(parts, program(t.Base)...)
	for _, other := range one.Others {
		parts = append(parts, other.Symbol, other.SHA256)
	}
	for _, file := range []*backtest.File{one.Detail, one.Trades, given.Symbols} {
		if file != nil {
			parts = append(parts, file.SHA256)
		}
		parts = append(parts, "")
	}
	for _, files := range [][]backtest.File{one.Funding, given.Signals, given.Columns} {
		for _, file := range files {
			parts = append(parts, file.SHA256)
		}
		parts = append(parts, "")
	}
	return hashOf(parts...)
}

// job returns the hash of all inputs of a trial.
func (t *Trials) job(c *configs.StrategyConfig) string { return hashOf(t.origin, c.Effective()) }

func hashOf(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
