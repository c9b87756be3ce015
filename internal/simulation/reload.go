package simulation

import (
	"slices"
	"strings"

	"botd/exchange"
	"botd/reconcile"
	"botd/risk"
	"botd/runtime/engine"
	"botd/strategy"
)

// These are the configuration changes of a running botd: a new version of a strategy, a strategy that is removed and returns, and limits.

// drawChanges removes strategies and tightens limits in one of six of the seeds that
// have more than one fault. It has a draw of its own.
func drawChanges(d *draw, weather *Weather) {
	faults := 0
	for _, strength := range weather {
		if strength > 0 {
			faults++
		}
	}
	on := d.chance(0.17) && faults >= 2
	for f := Remove; f <= Tighten; f++ {
		if strength := d.unit(); on && d.chance(0.7) {
			weather[f] = float64(strongest[f] * (0.1 + float64(0.9*strength)))
		}
	}
}

// reload replaces a running strategy by a new version, sometimes with other protection.
func (w *world) reload() bool {
	d := w.daemon
	if !d.listens() {
		return false
	}
	n := w.actions.below(int64(len(w.portfolio.roles)))
	r := &w.portfolio.roles[n]
	if r.absent {
		return false
	}
	if w.actions.chance(0.5) && r.protectable() {
		r.protected = !r.protected
		w.inspector.watched[n].unprotectedMS = 0
	}
	given := max(r.spy.openMS, r.spy.given)
	r.dress(w)
	r.spy.given = given
	change := &engine.Reload{Strategies: []*engine.StrategyConfig{&r.config}}
	if why := d.machine.ReloadObstacles(change); len(why) > 0 {
		w.fail("reload", "%s cannot be replaced: %s", r.name, why)
		return false
	}
	w.say("a new version of %s, protected %t", r.name, r.protected)
	d.handle(&engine.EventReload{Reload: change})
	return true
}

// remove removes a strategy from the configuration for a while. A strategy without on_remove may be removed only
// while it has no orders or position on the exchange.
func (w *world) remove() bool {
	d := w.daemon
	r := &w.portfolio.roles[w.changes.below(int64(len(w.portfolio.roles)))]
	back := w.nowMS + w.changes.between(3_000, 60_000)
	if !d.listens() || r.absent || w.stats.Faults[OldBackup] > 0 && !d.machine.Tracker().Symbol(r.key).Read() {
		return false
	}
	change := &engine.Reload{Removed: []string{r.name}}
	allowed := len(d.machine.ReloadObstacles(change)) == 0
	if d.handle(&engine.EventReload{Reload: change}); len(change.Refused) > 0 {
		if allowed || r.config.OnRemove != "" {
			w.fail("reload", "%s is not removed: %q", r.name, change.Refused)
		}
		return false
	}
	w.say("%s is removed from the configuration, on_remove: %s", r.name, r.config.OnRemove)
	if r.config.OnRemove == "" {
		w.inspector.removed(r)
	}
	r.absent = true
	w.put(scheduled{atMS: min(back, w.quietMS), kind: happenRelease, fault: Remove})
	return true
}

// comeBack restores every removed strategy in the configuration.
func (w *world) comeBack(h *scheduled) {
	d := w.daemon
	if !d.listens() {
		h.atMS = w.nowMS + 1_000
		w.put(*h)
		return
	}
	change := &engine.Reload{}
	for i := range w.portfolio.roles {
		if r := &w.portfolio.roles[i]; r.absent {
			r.absent, w.inspector.figures.attribution.rebooted = false, true
			r.dress(w)
			change.Strategies = append(change.Strategies, &r.config)
		}
	}
	w.say("%d strategies return", len(change.Strategies))
	if d.handle(&engine.EventReload{Reload: change}); len(change.Refused) > 0 {
		w.fail("reload", "a strategy cannot return: %q", change.Refused)
	}
	for _, halt := range d.machine.Tracker().Halts() {
		if strings.Contains(halt.Reason, "was removed from the configuration") {
			d.handle(&engine.EventHalt{Scope: halt.Scope, Reason: byPerson})
		}
	}
}

// tighten makes the account's limits block every opening for a while, in the file or by a person's setting.
func (w *world) tighten() bool {
	back := w.nowMS + w.changes.between(2_000, 30_000)
	byFile := w.changes.chance(0.5)
	if !w.daemon.listens() || w.shut || len(w.daemon.machine.Tracker().SetLimits()) > 0 {
		return false
	}
	w.say("limits allow no opening, by the file %t", byFile)
	if byFile {
		w.limit(true)
	} else {
		w.setLimit("0.00000001")
	}
	w.put(scheduled{atMS: min(back, w.quietMS), kind: happenRelease, fault: Tighten})
	return true
}

// loosen ends the effect of tighten.
func (w *world) loosen(h *scheduled) {
	if !w.daemon.listens() {
		h.atMS = w.nowMS + 1_000
		w.put(*h)
		return
	}
	w.say("limits are as before")
	if w.shut {
		w.limit(false)
	}
	if len(w.daemon.machine.Tracker().SetLimits()) > 0 {
		w.setLimit("")
	}
}

// setLimit sets a tighter exposure limit than the file's as a person would, or ends it.
func (w *world) setLimit(value string) {
	request := &engine.LimitChange{Limits: []engine.Setting{{Rule: risk.MaxGrossExposure, Value: value}}, By: byPerson, Reason: byPerson}
	if w.daemon.handle(&engine.EventSetLimits{Change: request}); request.Err != nil {
		w.fail("reload", "a limit cannot be set: %v", request.Err)
	}
}

func (w *world) limit(shut bool) {
	w.shut = shut
	change := &engine.Reload{Limits: new(w.accountLimits())}
	if w.daemon.handle(&engine.EventReload{Reload: change}); len(change.Refused) > 0 {
		w.fail("reload", "limits are not applied: %q", change.Refused)
	}
}

// accountLimits returns the limits of the current configuration.
func (w *world) accountLimits() risk.Limits {
	limits := w.limits.account
	if w.shut {
		limits.MaxGrossExposure = 1 // a hundred-millionth
	}
	return limits
}

// orphans returns the positions of strategies that are not configured, as a start does.
func (w *world) orphans(tracker *reconcile.Tracker) (all []engine.StrategyConfig) {
	configured := func(_ string, key exchange.SymbolKey) bool {
		return slices.ContainsFunc(w.portfolio.roles, func(r role) bool { return r.key == key && !r.absent })
	}
	for _, orphan := range tracker.Orphans(configured) {
		if h := w.venue.held[orphan.Symbol]; h != nil {
			all = append(all, engine.StrategyConfig{Name: orphan.Strategy, Symbol: new(*h.rules), Interval: exchange.Minute1, Removed: true})
		}
	}
	return all
}

// dress creates a version of the role's strategy that lasts for the rest of the process's life.
func (r *role) dress(w *world) {
	symbol := *w.venue.held[r.key].rules
	r.anchor = w.portfolio.anchor[r.key]
	r.spy = &spy{inner: r.strategy(&symbol), w: w, role: r}
	limits := w.limits.strategy
	limits.MaxPosition = symbol.QuantityAmount(r.limit())
	r.config = engine.StrategyConfig{Name: r.name, Strategy: r.spy, Symbol: &symbol, Interval: exchange.Minute1, Limits: limits, OnRemove: r.onRemove}
	if r.schedule != 0 {
		r.config.Schedule = each(r.schedule)
	}
	r.config.Protection = r.protection()
	if r.key.Market == exchange.Futures {
		r.config.Leverage = leverage
	}
}

// protection returns the configured protection.
func (r *role) protection() (p strategy.Protection) {
	if r.protected {
		p = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 600_000}, TakeProfit: strategy.Distance{Share: 900_000}}
	}
	return p
}
