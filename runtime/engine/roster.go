package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

// roster is the set of strategies: those configured at the start, and those that a reload adds, replaces
// and removes.
type roster struct {
	*base
	accounting    *accounting
	limitsInForce *limitsInForce
	results       *results
	tick          *tick
	market        *market
	round         *round
}

// add adds a strategy; start makes it run.
func (r *roster) add(config *StrategyConfig) (*leg, error) {
	if config.Removed {
		config.Strategy = removedStrategy{}
	}
	key := config.Symbol.Key()
	for _, other := range r.legs {
		if other.config.Name == config.Name {
			return nil, fmt.Errorf("two strategies are named %s", config.Name)
		}
		if other.symbol.Key() == key {
			return nil, fmt.Errorf("strategies %s and %s both trade %s", other.config.Name, config.Name, key)
		}
	}
	symbol := r.tracker.Track(key)
	symbol.SetRules(config.Symbol)
	added := &leg{config: *config, symbol: symbol, state: r.tracker.EnsureStrategy(config.Name), question: newQuestion()}
	added.limits.configured, added.schedule.nextMS = config.Limits, never
	symbol.SetCollar(risk.ExitCollar(&r.config.Limits, &added.config.Limits))
	added.view.Symbol, added.view.Interval, added.view.Size, added.view.Leverage = config.Symbol, config.Interval, config.Size, config.Leverage
	if r.config.Feed {
		added.steady = steadyOf(config.Strategy)
	}
	added.series = r.market.seriesOf(key, config.Interval)
	added.series.symbol = config.Symbol
	added.series.legs = append(added.series.legs, added)
	added.series.warmup = max(added.series.warmup, config.Strategy.Warmup())
	r.addLeg(added)
	return added, nil
}

// start makes a strategy run: from now on it is called and its candles are read.
func (r *roster) start(leg *leg) {
	if leg.config.Schedule != nil {
		leg.schedule.nextMS = leg.config.Schedule.Next(r.nowMS)
	}
	if !r.config.Feed {
		leg.series.pollMS = r.nowMS
	}
}

// watchFor looks up what a strategy subscribes to. The account must trade the pair, because otherwise botd
// would know nothing about it.
func (r *roster) watchFor(leg *leg) error {
	if err := r.readOthers(leg); err != nil {
		return err
	}
	leg.reentry = cmp.Or(leg.config.Reentry, strategy.ReentryOf(leg.config.Strategy))
	before := leg.watched
	leg.watched = watched{subscription: strategy.WatchingOf(leg.config.Strategy), fundingMS: never, orderBookMS: never}
	if leg.watched.subscription == before.subscription && before != (watched{}) {
		leg.watched = before
		return nil
	}
	if leg.watched.subscription.Funding && leg.symbol.Key().Market == exchange.Futures {
		leg.watched.fundingMS = 0
	}
	if leg.watched.subscription.OrderBook && !r.config.Feed {
		leg.watched.orderBookMS = 0
	}
	key := leg.watched.subscription.Pair
	if key == (exchange.SymbolKey{}) {
		return nil
	}
	if r.legOn(key) != nil {
		leg.watched.pair = r.tracker.Symbol(key)
		return nil
	}
	return fmt.Errorf("strategy %s watches %s, which no strategy of the account trades", leg.config.Name, key)
}

// claim journals the owner of a symbol and the action at the strategy's removal. If another strategy's
// position remains on the symbol, the symbol is halted until a person accepts it: its protection stays.
func (r *roster) claim(leg *leg) {
	r.pauseNewStrategy(leg)
	holds := leg.symbol.Known() != 0 || r.unfinished(leg, record.LevelFlatten)
	owner := leg.symbol.Owner()
	if !leg.config.Removed && (owner != leg.config.Name || leg.state.Symbol() != leg.symbol.Key() || leg.state.OnRemove() != leg.config.OnRemove ||
		leg.state.WatchesEvents() != leg.watched.subscription.Events) {
		r.record(record.Record{Strategy: leg.config.Name, Symbol: leg.symbol.Key(),
			Body: record.Assigned{OnRemove: leg.config.OnRemove, Events: leg.watched.subscription.Events}})
	}
	why := ""
	switch {
	case !holds, leg.config.Absent:
	case leg.config.Removed && leg.removal() == record.LevelNone:
		why = "strategy " + leg.config.Name + " was removed from the configuration while it has a position; its stop stays"
	case !leg.config.Removed && owner != "" && owner != leg.config.Name:
		why = "strategy " + leg.config.Name + " takes over the position of " + owner + "; its stop stays"
	}
	if scope := (account.Scope{Symbol: leg.symbol.Key()}); why != "" && r.tracker.HaltOf(scope).Level == record.LevelNone {
		r.record(record.Record{Symbol: scope.Symbol, Body: record.Halt{Level: record.LevelPause, Reason: why}})
		r.note(leg.config.Name, leg.config.Symbol, NoteHalt{Reason: why})
	}
}

// pauseNewStrategy pauses a strategy that the account has never traded, if the configuration requires a person to
// start it.
func (r *roster) pauseNewStrategy(leg *leg) {
	scope := account.Scope{Strategy: leg.config.Name}
	if !leg.config.Paused || leg.state.Symbol() != (exchange.SymbolKey{}) || r.tracker.HaltOf(scope).Level != record.LevelNone {
		return
	}
	why := "it is new: botd strategy resume " + leg.config.Name + " starts it (or set start: running in its file)"
	r.record(record.Record{Strategy: leg.config.Name, Body: record.Halt{Level: record.LevelPause, Reason: why}})
	r.note(leg.config.Name, leg.config.Symbol, NoteHalt{Reason: why})
}

// removalObstacle returns what keeps a leg from ending; empty if it is flat with nothing in flight or
// uncertain.
func (r *roster) removalObstacle(leg *leg) string {
	symbol, orders := leg.symbol, 0
	for p := range r.tracker.Live() {
		if p.Symbol() == symbol.Key() {
			orders++
		}
	}
	switch position := cmp.Or(symbol.Position(), symbol.Known()); {
	case position != 0:
		return fmt.Sprintf("it has a position of %s in %s", leg.config.Symbol.QuantityDecimal(position), symbol.Key())
	case orders > 0:
		return fmt.Sprintf("%d of its orders are open or in flight on %s", orders, symbol.Key())
	case symbol.Quarantine() != "":
		return fmt.Sprintf("%s is quarantined: %s", symbol.Key(), symbol.Quarantine())
	case slices.ContainsFunc(r.tracker.Refused(), func(o reconcile.RefusedOrder) bool { return o.Symbol == symbol.Key() }):
		return fmt.Sprintf("the exchange may have executed a refused order on %s", symbol.Key())
	case !symbol.Read() || !symbol.Settled():
		return fmt.Sprintf("its position in %s is not settled yet", symbol.Key())
	}
	return ""
}

// ended reports whether nothing remains of a strategy that is no longer configured. Unless another
// strategy on the symbol takes them over, the ledger may still expect trades of the symbol, the
// strategy's result may lack the last of them, a list may still show an opening that the exchange
// refused but executed, or another botd's may still be filled: its position needs the strategy's stop.
func (r *roster) ended(leg *leg, reload *Reload) bool {
	key := leg.symbol.Key()
	due := r.config.Ledger && r.tracker.Ledger().Awaits(key) || r.results.following && r.tracker.Watch(leg.config.Name).Traded() != 0 ||
		r.nowMS < leg.symbol.RefusedUntilMS(r.bounds()) || slices.ContainsFunc(r.tracker.UnknownOrders(leg.symbol), opens)
	return r.removalObstacle(leg) == "" && (!due || slices.ContainsFunc(reload.Strategies, func(c *StrategyConfig) bool { return c.Symbol.Key() == key }))
}

// endRemoved ends removed strategies whose positions are closed, once their money is booked.
func (r *roster) endRemoved() {
	if !slices.ContainsFunc(r.legs, func(l *leg) bool { return l.config.Removed }) {
		return
	}
	for _, leg := range slices.Clone(r.legs) {
		m := &r.accounting.futures
		if leg.symbol.Key().Market == exchange.Spot {
			m = &r.accounting.spot
		}
		switch {
		case !leg.config.Removed:
		case !r.ended(leg, &Reload{}):
			r.claim(leg) // its position may be larger than at its removal
		case !m.due && m.pending == 0:
			r.endLeg(leg)
		}
	}
}

// endLeg ends a removed strategy without a position. Only its records remain.
func (r *roster) endLeg(leg *leg) {
	r.forget(leg)
	r.reportReload(leg, "it is no longer configured, has no position, and has ended")
	r.drop(leg)
}

// forget clears a removed strategy's desired state, which must not be its first plan if it returns.
func (r *roster) forget(leg *leg) {
	if plan := leg.state.Plan(); !plan.Equal(&strategy.Plan{}) {
		r.record(
			record.Record{
				Strategy: leg.config.Name,
				Symbol:   leg.symbol.Key(),
				Body:     record.Plan{Plan: &strategy.Plan{Reason: "it was removed from the configuration"}},
			},
		)
	}
}

// drop removes a leg. Answers that are still in flight for it are ignored.
func (r *roster) drop(ended *leg) {
	r.round.abandonRound()
	r.tick.withdraw(ended)
	s := ended.series
	r.deleteLeg(ended)
	s.legs = slices.DeleteFunc(s.legs, func(other *leg) bool { return other == ended })
	for _, other := range ended.others {
		r.unread(other, ended)
	}
	r.endSeries(s)
	maps.DeleteFunc(r.calls, func(_ int64, p pendingCall) bool {
		return p.leg == ended || p.kind == callSetLeverage && p.symbol == ended.symbol
	})
	ended.symbol.Forget()
	if !r.trades(exchange.Futures) {
		r.tracker.ForgetAccount() // if it is traded again, it is read first
	}
	if !r.trades(exchange.Spot) {
		r.tracker.ForgetWallet()
	}
}
