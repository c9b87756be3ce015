package engine

import (
	"fmt"
	"slices"

	"botd/exchange"
)

// reload puts another version of a running strategy in its place: its code,
// parameters, size, protection, limits and schedule. Its plan, position, orders
// and memory stay. The new version sees the candles that are held, as at a start;
// while they are fewer than its warm-up it decides nothing and what stands, stands.
// A strategy that failed runs again.
func (e *Engine) reload(config *StrategyConfig) {
	i := slices.IndexFunc(e.runs, func(r *run) bool { return r.config.Name == config.Name })
	if i < 0 || e.runs[i].config.Removed {
		return // Reloadable said so
	}
	r := e.runs[i]
	config.Symbol = r.config.Symbol // the rules as they are by now
	r.config = *config
	if err := e.watchFor(r, e.config.symbols()); err != nil {
		r.failed, r.failedMS, r.nextMS = err.Error(), e.nowMS, never
		e.note(Note{Kind: NoteStrategyFailed, Strategy: config.Name, Symbol: config.Symbol, Text: r.failed})
		return
	}
	r.view.Size, r.view.Leverage = config.Size, config.Leverage
	r.failed, r.failedMS, r.seen = "", 0, 0
	r.wished, r.wishedMS = r.state.Plan.Target, e.nowMS
	r.series.warmup = max(r.series.warmup, config.Strategy.Warmup())
	e.following, e.watching = e.follows(), e.follows() || e.config.Limits.Watches()
	e.fillView(r)
	for n := range r.series.end {
		candle := r.series.candles.At(n)
		e.candle(r, &candle, n+1)
	}
	r.nextMS = never
	if config.Schedule != nil && r.failed == "" {
		r.nextMS = config.Schedule.Next(e.nowMS)
	}
	text := "a new version is in its place"
	if missing := config.Strategy.Warmup() - r.seen; missing > 0 {
		text = fmt.Sprintf("a new version is in its place; it decides after %d more candles", missing)
	}
	e.note(Note{Kind: NoteReload, Strategy: config.Name, Symbol: config.Symbol, Text: text})
	e.roundMS = e.nowMS
}

// Reloadable returns why a strategy can not be replaced while it runs, or
// nothing when it can: another symbol or interval is another strategy.
func (e *Engine) Reloadable(name string, key exchange.SymbolKey, interval exchange.Interval) string {
	i := slices.IndexFunc(e.runs, func(r *run) bool { return r.config.Name == name && !r.config.Removed })
	if i < 0 {
		return "it is not running"
	}
	if r := e.runs[i]; r.truth.Key != key || r.config.Interval != interval {
		return fmt.Sprintf("it runs on %s %s", r.truth.Key, r.config.Interval)
	}
	return ""
}
