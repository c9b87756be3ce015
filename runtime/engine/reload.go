package engine

import (
	"fmt"
	"slices"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

// Reload is what changed of an engine's configuration while it runs. All of it is
// put in force by one event, or nothing.
type Reload struct {
	Strategies []*StrategyConfig // new versions of strategies that run, and new strategies
	Gone       []string          // strategies that are configured no more
	Limits     *risk.Limits      // the account's; nil leaves them as they are
	ConfigHash string            // of the configuration as it is now; empty is not recorded
	Refused    []string          // set by Handle: why nothing of it was done
}

// obstacles lists what keeps a reload from being put in force now.
func (e *roster) obstacles(reload *Reload) (obstacles []string) {
	refuse := func(format string, values ...any) { obstacles = append(obstacles, fmt.Sprintf(format, values...)) }
	if e.halts.stopped || e.halts.closing != record.LevelNone {
		refuse("botd is stopping")
	}
	for _, name := range reload.Gone {
		if r := e.configured(name); r == nil {
			refuse("%s: it is not running", name)
		} else if held := e.holding(r); held != "" && r.config.OnRemove == "" {
			refuse(
				"%s can not be removed: %s (botd strategy flatten %s, and reload once that is done; or put it back with on_remove: flatten, or leave)",
				name,
				held,
				name,
			)
		}
	}
	staying := map[exchange.SymbolKey]string{}
	for _, r := range e.runs {
		ends := r.config.Removed || slices.Contains(reload.Gone, r.config.Name)
		if !ends || e.holding(r) != "" {
			staying[r.truth.Key()] = r.config.Name
		}
	}
	for _, config := range reload.Strategies {
		name, key := config.Name, config.Symbol.Key()
		r := e.configured(name)
		switch owner, taken := staying[key]; {
		case r != nil && slices.Contains(reload.Gone, name):
			refuse("%s is both new and gone", name)
		case r != nil && (r.truth.Key() != key || r.config.Interval != config.Interval):
			refuse(
				"%s runs on %s %s: another symbol or interval is another strategy (give it another name, or restart)",
				name,
				r.truth.Key(),
				r.config.Interval,
			)
		case taken && owner != name:
			refuse("%s and %s both trade %s", owner, name, key)
		}
		staying[key] = name
	}
	for name, pair := range e.pairs(reload) {
		if _, traded := staying[pair]; !traded {
			refuse("strategy %s watches %s, which no strategy of the account trades", name, pair)
		}
	}
	slices.Sort(obstacles)
	return obstacles
}

// refused reports whether something is against a reload, which is told in it.
func (e *roster) refused(reload *Reload) bool {
	reload.Refused = e.obstacles(reload)
	return len(reload.Refused) > 0
}

// pairs are what strategies would watch after a reload besides their own symbols.
func (e *roster) pairs(reload *Reload) map[string]exchange.SymbolKey {
	pairs := map[string]exchange.SymbolKey{}
	for _, r := range e.runs {
		if r.around.pair != nil && !slices.Contains(reload.Gone, r.config.Name) {
			pairs[r.config.Name] = r.around.pair.Key()
		}
	}
	for _, config := range reload.Strategies {
		delete(pairs, config.Name)
		if pair := strategy.WatchingOf(config.Strategy).Pair; pair != (exchange.SymbolKey{}) {
			pairs[config.Name] = pair
		}
	}
	return pairs
}

// reload puts a change in force that nothing is against.
func (e *roster) reload(reload *Reload) {
	if reload.ConfigHash != "" {
		e.record(record.Record{Body: record.Config{Hash: reload.ConfigHash}})
	}
	for _, r := range slices.Clone(e.runs) {
		switch {
		case r.config.Removed && e.over(r, reload):
			e.end(r)
		case slices.Contains(reload.Gone, r.config.Name):
			e.remove(r, reload)
		}
	}
	if reload.Limits != nil {
		e.ruleset.written = *reload.Limits
	}
	var replaced []*StrategyConfig
	for _, config := range reload.Strategies {
		if e.configured(config.Name) == nil {
			e.join(config)
			continue
		}
		replaced = append(replaced, config)
	}
	for _, config := range replaced { // they may watch what joined
		e.replace(e.runNamed(config.Name), config)
	}
	for _, r := range e.runs {
		if err := e.watchFor(r); err != nil {
			panic("engine: " + err.Error()) // Reloadable would have said so
		}
	}
	e.ruleset.lapse()
	e.ruleset.enforce()
	e.limits.watchLimits(false)
	e.roundMS = e.nowMS
}

// replace puts another version of a running strategy in its place: its code,
// parameters, size, protection, limits and schedule. Its plan, position, orders
// and memory stay. The new version sees the candles that are held, as at a start;
// while they are fewer than its warm-up it decides nothing and what stands, stands.
// A strategy that failed runs again.
func (e *roster) replace(r *run, config *StrategyConfig) {
	config.Symbol = r.config.Symbol // the rules as they are by now
	inForce := r.config.Limits
	r.config, r.limits = *config, config.Limits
	r.config.Limits = inForce // until they are enforced
	r.limitsVersion = e.ruleset.newLimitsVersion()
	e.claim(r)
	r.view.Size, r.view.Leverage = config.Size, config.Leverage
	r.failed, r.failedMS, r.seen = "", 0, 0
	r.wished, r.wishedMS = r.state.Plan().Target, e.nowMS
	r.series.warmup = max(r.series.warmup, config.Strategy.Warmup())
	e.tick.fillView(r)
	for n := range r.series.end {
		candle := r.series.candles.At(n)
		e.tick.candle(r, &candle, n+1)
	}
	r.nextMS = never
	if config.Schedule != nil && r.failed == "" {
		r.nextMS = config.Schedule.Next(e.nowMS)
	}
	text := "a new version is in its place"
	if missing := config.Strategy.Warmup() - r.seen; missing > 0 {
		text = fmt.Sprintf("a new version is in its place; it decides after %d more candles", missing)
	}
	e.tellReload(r, text)
}

// join adds a strategy as New does. What was read of its symbol before is not about
// a symbol that is traded: the next round reads it as the first one after a start,
// and a round under way would not know all of it.
func (e *roster) join(config *StrategyConfig) {
	if r := e.runNamed(config.Name); r != nil { // it was removed and comes back: what it holds is the book's
		e.drop(r)
	}
	r, err := e.addRun(config)
	if err != nil {
		panic("engine: " + err.Error()) // Reloadable would have said so
	}
	e.round.abandonRound()
	r.limitsVersion = e.ruleset.newLimitsVersion()
	r.truth.Forget()
	e.claim(r)
	e.commence(r)
	e.tellReload(r, fmt.Sprintf("it is new, and begins with %d candles of warm-up", config.Strategy.Warmup()))
}

// remove ends a strategy that is configured no more. One that holds something, or
// of which the ledger awaits something, stays as one without a strategy, which is
// wound up or left as on_remove says; as after a restart without it.
func (e *roster) remove(r *run, reload *Reload) {
	if e.over(r, reload) {
		e.end(r)
		return
	}
	r.config = StrategyConfig{Name: r.config.Name, Symbol: r.config.Symbol, Interval: r.config.Interval, Strategy: nobody{}, Removed: true}
	r.limits, r.limitsVersion, r.failed, r.failedMS, r.nextMS = risk.Limits{}, e.ruleset.newLimitsVersion(), "", 0, never
	text := "it is configured no more; on_remove: " + r.state.OnRemove()
	if e.holding(r) == "" {
		e.forget(r)
		text = "it is configured no more; the ledger awaits its last trades"
	}
	e.tellReload(r, text)
	e.claim(r)
}

func (e *roster) tellReload(r *run, text string) {
	e.note(r.config.Name, r.config.Symbol, NoteReload{text})
}
