// Package engineconfig converts a configuration to the engine's: limits, strategies, the account.
package engineconfig

import (
	"botd/configs"
	"botd/exchange"
	"botd/internal/failure"
	"botd/reconcile/placement"
	"botd/runtime/engine"
	"botd/strategy"
)

// Strategy converts a configured strategy to the engine's form, with the scales and rules of its symbol.
func Strategy(c *configs.StrategyConfig, symbol *exchange.Symbol) (engine.StrategyConfig, error) {
	failed := func(what string, err error) (engine.StrategyConfig, error) {
		return engine.StrategyConfig{}, failure.New(failure.Config, "", "%s: %s: %w", c.File, what, err)
	}
	setting, err := c.Setting(symbol)
	if err != nil {
		return failed("size", err)
	}
	protection, err := c.Protection(symbol)
	if err != nil {
		return failed("protect", err)
	}
	made, err := c.Build(symbol)
	if err != nil {
		return failed("params", err)
	}
	config := engine.StrategyConfig{Name: c.Name, Kind: c.Kind, Strategy: made, Symbol: symbol, Interval: c.Interval, Leverage: c.Leverage,
		Size: setting.Size, Protection: protection, Limits: c.Limits, OnRemove: c.OnRemove,
		DeadlineMS: c.DeadlineMS, Reentry: c.ReentryPolicy()}
	if !c.Schedule.Candle() {
		config.Schedule = c.Schedule
	}
	return config, nil
}

// Live extends Strategy by the other symbols whose candles it reads.
func Live(c *configs.StrategyConfig, symbol *exchange.Symbol, symbolOf SymbolOf) (engine.StrategyConfig, error) {
	made, err := Strategy(c, symbol)
	if err != nil {
		return made, err
	}
	for _, key := range strategy.OthersOf(made.Strategy) {
		other, found := symbolOf(key)
		if !found {
			return made, failure.New(failure.Config, "", "%s:%d: it reads candles of %s, and the exchange has no such symbol", c.File, c.Line, key)
		}
		made.Others = append(made.Others, strategy.Other{Symbol: other})
	}
	return made, nil
}

// Bounds converts the configured bounds W, D and L of the traded markets to the tracker's form.
func Bounds(config *configs.Config) placement.Bounds {
	windowMS, visibilityMS, stalenessMS := config.SettleBounds()
	return placement.Bounds{WindowMS: windowMS, VisibilityMS: visibilityMS, StalenessMS: stalenessMS}
}
