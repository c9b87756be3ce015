package script

import (
	"errors"
	"fmt"
	"slices"

	"go.starlark.net/starlark"

	"botd/exchange"
)

// candles are the series of a longer interval, built from the strategy's own candles.
type candles struct {
	on     *clock
	series starlark.StringDict
}

var _ starlark.HasAttrs = (*candles)(nil)

// coarser implements candles(interval): candles("1d").close, ema(candles("4h").close, 20),
// atr(candles("1d"), 14).
func coarser(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
	r := runningOf(thread)
	var text string
	if err := starlark.UnpackArgs("candles", args, named, "interval", &text); err != nil {
		return nil, err
	}
	if !r.loading {
		return nil, errors.New("candles(...) belongs at the top of the file, where series are made")
	}
	interval, err := exchange.ParseInterval(text)
	if err != nil {
		return nil, fmt.Errorf("candles(%q): %w", text, err)
	}
	made := &candles{series: starlark.StringDict{}}
	if i := slices.IndexFunc(r.clocks, func(c *clock) bool { return c.interval == interval }); i > 0 {
		made.on = r.clocks[i]
	} else {
		made.on = &clock{interval: interval}
		r.clocks = append(r.clocks, made.on)
	}
	for _, source := range priceSources {
		made.series[source.name] = r.derive(made.on, text+" "+source.name, source.of)
	}
	return made, nil
}

// Attr returns one of the series.
func (c *candles) Attr(name string) (starlark.Value, error) {
	if s, is := c.series[name]; is {
		return s, nil
	}
	return nil, nil
}

// AttrNames returns the names of the series.
func (c *candles) AttrNames() []string { return c.series.Keys() }

// String returns the call that made them.
func (c *candles) String() string { return "candles(" + c.on.interval.String() + ")" }

// Type returns what type() returns.
func (c *candles) Type() string { return "candles" }

// Freeze does nothing: a script cannot change them.
func (c *candles) Freeze() {}

// Truth is always true.
func (c *candles) Truth() starlark.Bool { return true }

// Hash returns an error: candles cannot be a key.
func (c *candles) Hash() (uint32, error) { return 0, errors.New("candles cannot be a key") }
