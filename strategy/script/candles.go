package script

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"go.starlark.net/starlark"

	"botd/exchange"
	"botd/strategy"
)

// candles are the series of a longer interval or of another symbol.
type candles struct {
	on     *clock
	series starlark.StringDict
}

var _ starlark.HasAttrs = (*candles)(nil)

// candlesOf implements candles(interval, symbol, market): candles("1d").close,
// ema(candles("4h").close, 20), atr(candles("1d"), 14), candles("1h", symbol = "ETH-USDT"). The
// default market is the strategy's own.
func candlesOf(r *call) (starlark.Value, error) {
	var text, symbol, market string
	if err := r.unpack(&text, &symbol, &market); err != nil {
		return nil, err
	}
	if !r.loading {
		return nil, errors.New("candles(...) belongs at the top of the file, where series are defined")
	}
	interval, err := exchange.ParseInterval(text)
	if err != nil {
		return nil, fmt.Errorf("candles(%q): %w", text, err)
	}
	key := exchange.SymbolKey{Name: symbol}
	if market != "" {
		if key.Market, err = exchange.ParseMarket(market); err != nil || symbol == "" {
			return nil, fmt.Errorf("candles(%q, market = %q): symbol names whose candles they are, market is spot or futures", text, market)
		}
	}
	made := &candles{series: starlark.StringDict{}}
	if i := slices.IndexFunc(r.clocks, func(c *clock) bool { return c.interval == interval && c.symbol == key }); i > 0 {
		made.on = r.clocks[i]
	} else {
		made.on = &clock{interval: interval, symbol: key}
		r.clocks = append(r.clocks, made.on)
	}
	for _, source := range priceSources {
		made.series[source.name] = r.derive(made.on, made.String()+"."+source.name, source.of)
	}
	return made, nil
}

// String names the candles.
func (c *clock) String() string {
	if c.symbol.Name == "" {
		return c.interval.String()
	}
	return c.symbol.Name + " " + c.interval.String()
}

// placeClocks finds the symbol and the source of each clock's candles.
func (r *running) placeClocks(setting *strategy.Setting) (err error) {
	for _, c := range r.clocks[1:] {
		key := exchange.SymbolKey{Market: cmp.Or(c.symbol.Market, setting.Market), Name: cmp.Or(c.symbol.Name, setting.Symbol.Name)}
		if c.other = -1; key != setting.Symbol.Key() {
			c.other = r.otherOf(key)
		}
		if c.interval == setting.Interval {
			continue
		}
		if c.resampler, err = strategy.NewResampler(setting.Interval, c.interval); err != nil {
			return err
		}
	}
	if len(r.others) > strategy.MaxOthers {
		return fmt.Errorf("candles of %d other symbols are read; at most %d are allowed", len(r.others), strategy.MaxOthers)
	}
	return nil
}

// otherOf returns the index of a symbol among the others.
func (r *running) otherOf(key exchange.SymbolKey) int {
	if i := slices.Index(r.others, key); i >= 0 {
		return i
	}
	r.others = append(r.others, key)
	return len(r.others) - 1
}

// ReadsOthers returns the other symbols whose candles the script reads.
func (r *running) ReadsOthers() []exchange.SymbolKey { return r.others }

// Attr returns one of the series.
func (c *candles) Attr(name string) (starlark.Value, error) {
	if s, is := c.series[name]; is {
		return s, nil
	}
	return nil, nil
}

// AttrNames returns the names of the series.
func (c *candles) AttrNames() []string { return c.series.Keys() }

// String returns the call that created the candles.
func (c *candles) String() string { return "candles(" + c.on.String() + ")" }

// Type returns the Starlark type name.
func (c *candles) Type() string { return "candles" }

// Freeze does nothing: a script cannot change them.
func (c *candles) Freeze() {}

// Truth is always true.
func (c *candles) Truth() starlark.Bool { return true }

// Hash returns an error: candles cannot be a key.
func (c *candles) Hash() (uint32, error) { return 0, errors.New("candles cannot be a key") }
