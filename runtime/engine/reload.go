package engine

import (
	"fmt"
	"slices"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

// Reload is a change of an engine's configuration while it runs. One event puts the whole change in
// force, or none of it.
type Reload struct {
	Strategies []*StrategyConfig // new versions of strategies that run, and new strategies
	Removed    []string          // strategies that are no longer configured
	Confirmed  []string          // strategies that were absent at the start: their removal takes effect now
	Limits     *risk.Limits      // the account's; nil leaves them unchanged
	ConfigHash string            // of the new configuration; not recorded if empty
	Refused    []string          // set by Handle: why the change was not made
}

// obstacles lists what prevents a reload now.
func (r *roster) obstacles(reload *Reload) (obstacles []string) {
	refuse := func(format string, values ...any) { obstacles = append(obstacles, fmt.Sprintf(format, values...)) }
	if r.stopped || r.closing != record.LevelNone {
		refuse("botd is stopping")
	}
	for _, name := range reload.Removed {
		if leg := r.configured(name); leg == nil {
			if !r.isMissing(name) {
				refuse("%s: it is not running", name)
			}
		} else if holding := r.removalObstacle(leg); holding != "" && leg.config.OnRemove == "" {
			refuse("%s cannot be removed: %s (run botd strategy flatten %s and reload once it is done; or restore it with on_remove: flatten or leave)",
				name, holding, name)
		}
	}
	staying := map[exchange.SymbolKey]string{}
	for _, leg := range r.legs {
		ends := leg.config.Removed || slices.Contains(reload.Removed, leg.config.Name)
		if !ends || r.removalObstacle(leg) != "" {
			staying[leg.symbol.Key()] = leg.config.Name
		}
	}
	for _, config := range reload.Strategies {
		name, key := config.Name, config.Symbol.Key()
		leg := r.configured(name)
		switch owner, taken := staying[key]; {
		case leg != nil && slices.Contains(reload.Removed, name):
			refuse("%s is both added and removed", name)
		case leg != nil && (leg.symbol.Key() != key || leg.config.Interval != config.Interval):
			refuse(
				"%s runs on %s %s: with another symbol or interval it is a different strategy (give it a new name, or restart)",
				name,
				leg.symbol.Key(),
				leg.config.Interval,
			)
		case taken && owner != name:
			refuse("%s and %s both trade %s", owner, name, key)
		}
		staying[key] = name
	}
	for name, pair := range r.pairs(reload) {
		if _, traded := staying[pair]; !traded {
			refuse("strategy %s watches %s, which no strategy of the account trades", name, pair)
		}
	}
	slices.Sort(obstacles)
	return obstacles
}

func (r *roster) isMissing(name string) bool {
	return slices.ContainsFunc(r.config.Missing, func(m MissingStrategy) bool { return m.Name == name })
}

// refused reports whether anything prevents a reload, and records the reasons in it.
func (r *roster) refused(reload *Reload) bool {
	reload.Refused = r.obstacles(reload)
	return len(reload.Refused) > 0
}

// pairs returns the symbols that strategies would watch after a reload besides their own.
func (r *roster) pairs(reload *Reload) map[string]exchange.SymbolKey {
	pairs := map[string]exchange.SymbolKey{}
	for _, leg := range r.legs {
		if leg.watched.pair != nil && !slices.Contains(reload.Removed, leg.config.Name) {
			pairs[leg.config.Name] = leg.watched.pair.Key()
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

// reload puts a change in force that has no obstacles.
func (r *roster) reload(reload *Reload) {
	if reload.ConfigHash != "" {
		r.record(record.Record{Body: record.Config{Hash: reload.ConfigHash}})
	}
	for _, leg := range slices.Clone(r.legs) {
		if leg.config.Absent && slices.Contains(reload.Confirmed, leg.config.Name) {
			leg.config.Absent = false
			r.claim(leg)
			r.clearTarget(leg)
		}
		switch {
		case leg.config.Removed && r.ended(leg, reload):
			r.endLeg(leg)
		case slices.Contains(reload.Removed, leg.config.Name):
			r.remove(leg, reload)
		}
	}
	r.config.Missing = slices.DeleteFunc(r.config.Missing, func(m MissingStrategy) bool {
		return slices.Contains(reload.Removed, m.Name) || slices.ContainsFunc(reload.Strategies, func(c *StrategyConfig) bool { return c.Name == m.Name })
	})
	if reload.Limits != nil {
		r.limitsInForce.written = *reload.Limits
	}
	var replaced []*StrategyConfig
	for _, config := range reload.Strategies {
		if r.configured(config.Name) == nil {
			r.join(config)
			continue
		}
		replaced = append(replaced, config)
	}
	for _, config := range replaced { // they may watch a symbol that has just been added
		r.replace(r.legNamed(config.Name), config)
	}
	for _, leg := range r.legs {
		if err := r.watchFor(leg); err != nil {
			panic("engine: " + err.Error()) // obstacles would have refused it
		}
	}
	r.limitsInForce.lapse()
	r.limitsInForce.apply()
}

// replace replaces a running strategy with another version: its code, parameters, size, protection,
// limits and schedule. Its plan, position, orders and memory stay. The new version receives the stored
// candles, as at a start; as long as there are fewer than its warm-up needs, it decides nothing and
// existing orders stay. A failed strategy runs again.
func (r *roster) replace(leg *leg, config *StrategyConfig) {
	config.Symbol = leg.config.Symbol // the current rules
	r.tick.withdraw(leg)
	awaited := leg.config.Substitute() != nil && config.Substitute() == nil
	inForce := leg.config.Limits
	leg.config, leg.limits.configured = *config, config.Limits
	leg.config.Limits = inForce // until they are enforced
	leg.limits.version = r.limitsInForce.newLimitsVersion()
	r.claim(leg)
	leg.view.Size, leg.view.Leverage = config.Size, config.Leverage
	leg.failure.why = ""
	leg.decision.candleTarget, leg.decision.candleTargetMS = leg.state.Plan().Target(), r.nowMS
	if awaited {
		r.renewSeries(leg)
	}
	leg.series.warmup = max(leg.series.warmup, config.Strategy.Warmup())
	r.tick.begin(leg)
	for n := range leg.series.end {
		r.tick.candle(leg, leg.series.candles, n)
	}
	leg.schedule.nextMS = never
	if config.Schedule != nil && leg.failure.why == "" {
		leg.schedule.nextMS = config.Schedule.Next(r.nowMS)
	}
	if r.config.Offload {
		r.tick.inquire(leg)
	}
	text := "a new version has replaced it"
	if missing := config.Strategy.Warmup() - leg.series.end; awaited {
		text = fmt.Sprintf("its process has answered; it starts with a warm-up of %d candles", config.Strategy.Warmup())
	} else if missing > 0 {
		text = fmt.Sprintf("a new version has replaced it; it decides after %d more candles", missing)
	}
	r.reportReload(leg, text)
}

// renewSeries has a leg's candles read as at a start: its strategy declares its warm-up only now. Those who also read them follow with
// watchFor.
func (r *roster) renewSeries(leg *leg) {
	before := leg.series
	before.legs = nil
	r.market.series = slices.DeleteFunc(r.market.series, func(other *series) bool { return other == before })
	leg.series = r.market.seriesOf(before.key, before.interval)
	leg.series.symbol, leg.series.legs, leg.series.pollMS = before.symbol, append(leg.series.legs, leg), r.nowMS
	r.endSeries(before)
}

// join adds a strategy, as New does. Earlier reads of its symbol do not count, because it was not
// traded: the next round reads it like the first one after a start, and a round in progress would
// be incomplete for it.
func (r *roster) join(config *StrategyConfig) {
	if leg := r.legNamed(config.Name); leg != nil { // it was removed and has returned: the tracker still has its position
		r.drop(leg)
	}
	leg, err := r.add(config)
	if err != nil {
		panic("engine: " + err.Error()) // obstacles would have refused it
	}
	r.round.abandonRound()
	leg.config.Limits = risk.Limits{} // until they are enforced
	leg.limits.version = r.limitsInForce.newLimitsVersion()
	leg.symbol.Forget()
	r.claim(leg)
	r.start(leg)
	r.reportReload(leg, fmt.Sprintf("it is new and starts with a warm-up of %d candles", config.Strategy.Warmup()))
}

// remove ends a strategy that is no longer configured. If it has a position, or the ledger still expects
// its trades, it stays without its code, and its position is closed or left as on_remove requires, as
// after a restart without it.
func (r *roster) remove(leg *leg, reload *Reload) {
	if r.ended(leg, reload) {
		r.endLeg(leg)
		return
	}
	r.tick.withdraw(leg)
	leg.config = StrategyConfig{Name: leg.config.Name, Symbol: leg.config.Symbol, Interval: leg.config.Interval, Strategy: removedStrategy{},
		Protection: leg.config.Protection, Removed: true}
	leg.limits.configured, leg.limits.version, leg.failure.why, leg.schedule.nextMS = risk.Limits{}, r.limitsInForce.newLimitsVersion(), "", never
	text := "it is no longer configured; on_remove: " + leg.state.OnRemove()
	if r.removalObstacle(leg) == "" {
		r.forget(leg)
		text = "it is no longer configured; its last result is not booked yet"
	}
	r.reportReload(leg, text)
	r.claim(leg)
	r.clearTarget(leg)
}

// clearTarget journals that a strategy which its removal flattens desires no position: otherwise its old plan
// would reopen the closed position at once if it returned. The plan keeps its protection: an exit may be
// lost, and the unsold part needs its stop, also across a restart.
func (r *roster) clearTarget(leg *leg) {
	if leg.removal() != record.LevelFlatten {
		return
	}
	plan := leg.state.Halted(record.LevelFlatten).Plan().Clone()
	plan.Protection = protectionOf(leg)
	if plan.Reason = "it was removed from the configuration"; !leg.state.Plan().Equal(plan) {
		r.record(record.Record{Strategy: leg.config.Name, Symbol: leg.symbol.Key(), Body: record.Plan{Plan: plan}})
	}
}

// Absent returns the strategies with a position that were absent from the configuration at the start and
// whose removal nobody has confirmed.
func (e *Engine) Absent() (names []string) {
	for _, leg := range e.legs {
		if leg.config.Absent {
			names = append(names, leg.config.Name)
		}
	}
	return names
}

// Substitute returns the substitute of a strategy whose process has not described its needs; nil for a real strategy.
func (c *StrategyConfig) Substitute() any {
	if substitute := strategy.SubstituteOf(c.Strategy); substitute != nil {
		return substitute
	}
	return nil
}

// Substitutes returns the substitutes of strategies that run, by the strategies' names.
func (e *Engine) Substitutes() map[string]any {
	all := map[string]any{}
	for _, leg := range e.legs {
		if substitute := leg.config.Substitute(); substitute != nil {
			all[leg.config.Name] = substitute
		}
	}
	return all
}

// Missing returns the strategies whose symbols the exchange has not listed since the start, with these symbols.
func (e *Engine) Missing() map[string]exchange.SymbolKey {
	all := map[string]exchange.SymbolKey{}
	for _, m := range e.config.Missing {
		all[m.Name] = m.Symbol
	}
	return all
}

// PreviewRemoval returns, one line per strategy, what happens to its position when it is removed.
func (e *Engine) PreviewRemoval(names []string) (lines []string) {
	for _, name := range names {
		leg := e.legNamed(name)
		if leg == nil {
			continue
		}
		holding := e.roster.removalObstacle(leg)
		switch {
		case holding == "":
			lines = append(lines, name+": end it, it has no position")
		case leg.state.OnRemove() == removeFlatten:
			lines = append(lines, name+": close its position ("+holding+")")
		default:
			lines = append(lines, name+": leave its position ("+holding+")")
		}
	}
	return lines
}

func (r *roster) reportReload(leg *leg, text string) {
	r.note(leg.config.Name, leg.config.Symbol, NoteReload{text})
}
