package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/strategy"
)

// roster knows which strategies there are: those of the start, and those that a reload
// brings, replaces and removes.
type roster struct {
	*base
	accounting *accounting
	limits     *limits
	ruleset    *ruleset
	halts      *halts
	tick       *tick
	market     *market
	round      *round
}

// addRun adds a strategy; commence has it begin.
func (e *roster) addRun(config *StrategyConfig) (*run, error) {
	if config.Removed {
		config.Strategy = nobody{}
	}
	key := config.Symbol.Key()
	for _, other := range e.runs {
		if other.config.Name == config.Name {
			return nil, fmt.Errorf("two strategies are named %s", config.Name)
		}
		if other.truth.Key() == key {
			return nil, fmt.Errorf("strategies %s and %s both trade %s", other.config.Name, config.Name, key)
		}
	}
	truth := e.book.Symbol(key)
	truth.Rules = config.Symbol
	r := &run{config: *config, limits: config.Limits, truth: truth, state: e.book.Strategy(config.Name), nextMS: never}
	r.view.Symbol, r.view.Interval, r.view.Size, r.view.Leverage = config.Symbol, config.Interval, config.Size, config.Leverage
	r.series = e.market.seriesOf(key, config.Interval)
	r.series.runs = append(r.series.runs, r)
	r.series.warmup = max(r.series.warmup, config.Strategy.Warmup())
	i, _ := slices.BinarySearchFunc(e.runs, config.Name, func(r *run, name string) int { return strings.Compare(r.config.Name, name) })
	e.runs = slices.Insert(e.runs, i, r)
	return r, nil
}

// commence has a strategy asked, and its candles read, from now on.
func (e *roster) commence(r *run) {
	if r.config.Schedule != nil {
		r.nextMS = r.config.Schedule.Next(e.nowMS)
	}
	if !e.config.Feed {
		r.series.pollMS = e.nowMS
	}
}

// watchFor finds what a strategy wants to see. The pair must be traded by the
// account, or nothing would be known of it.
func (e *roster) watchFor(r *run) error {
	before := r.around
	r.around = watching{wanted: strategy.WatchingOf(r.config.Strategy), fundingMS: never}
	if r.around.wanted == before.wanted && before != (watching{}) {
		r.around = before
		return nil
	}
	if r.around.wanted.Funding && r.truth.Key().Market == exchange.Futures {
		r.around.fundingMS = 0
	}
	key := r.around.wanted.Pair
	if key == (exchange.SymbolKey{}) {
		return nil
	}
	if e.runOn(key) != nil {
		r.around.pair = e.book.Symbol(key)
		return nil
	}
	return fmt.Errorf("strategy %s watches %s, which no strategy of the account trades", r.config.Name, key)
}

// claim writes down whose a symbol is, and what is to become of it should its
// strategy be removed. A symbol that holds what another strategy left halts until
// a person accepts that: its protection stays.
func (e *roster) claim(r *run) {
	holds := r.truth.Known() != 0 || e.halts.windsUp(r, record.LevelFlatten)
	owner := r.truth.Owner()
	if !r.config.Removed && (owner != r.config.Name || r.state.Symbol() != r.truth.Key() || r.state.OnRemove() != r.config.OnRemove) {
		e.record(record.Record{Strategy: r.config.Name, Symbol: r.truth.Key(), Body: record.Assigned{OnRemove: r.config.OnRemove}})
	}
	why := ""
	switch {
	case !holds:
	case r.config.Removed && r.removal() == record.LevelNone:
		why = "strategy " + r.config.Name + " was removed from the configuration while it holds something; its stop stays"
	case !r.config.Removed && owner != "" && owner != r.config.Name:
		why = "strategy " + r.config.Name + " takes over what " + owner + " holds; its stop stays"
	}
	if scope := (account.Scope{Symbol: r.truth.Key()}); why != "" && e.book.HaltOf(scope).Level == record.LevelNone {
		e.record(record.Record{Symbol: scope.Symbol, Body: record.Halt{Level: record.LevelPause, Why: why}})
		e.note(r.config.Name, r.config.Symbol, NoteHalt{Why: why})
	}
}

// holding says what keeps a run from ending without a trace; empty when it is flat,
// and nothing of it is under way or in doubt.
func (e *roster) holding(r *run) string {
	truth, orders := r.truth, 0
	for _, p := range e.book.Live() {
		if p.Symbol() == truth.Key() {
			orders++
		}
	}
	switch held := cmp.Or(truth.Position, truth.Known()); {
	case held != 0:
		return fmt.Sprintf("it holds %s of %s", r.config.Symbol.QuantityDecimal(held), truth.Key())
	case orders > 0:
		return fmt.Sprintf("%d of its orders are open or under way on %s", orders, truth.Key())
	case truth.Quarantine() != "":
		return fmt.Sprintf("%s is quarantined: %s", truth.Key(), truth.Quarantine())
	case !truth.Read || !truth.Settled:
		return fmt.Sprintf("what it holds on %s is not settled yet", truth.Key())
	}
	return ""
}

// over reports whether nothing is left of a strategy that is configured no more. The
// ledger may await something of its symbol still; another strategy there is told it.
func (e *roster) over(r *run, reload *Reload) bool {
	key := r.truth.Key()
	return e.holding(r) == "" && (!e.config.Ledger || !e.book.Ledger().Awaits(key) ||
		slices.ContainsFunc(reload.Strategies, func(c *StrategyConfig) bool { return c.Symbol.Key() == key }))
}

// sweep ends removed strategies that are wound up, when their money is booked.
func (e *roster) sweep() {
	for _, r := range slices.Clone(e.runs) {
		m := &e.accounting.futures
		if r.truth.Key().Market == exchange.Spot {
			m = &e.accounting.spot
		}
		if r.config.Removed && e.over(r, &Reload{}) && !m.due && m.waiting == 0 {
			e.end(r)
		}
	}
}

// end has a removed strategy that holds nothing leave no trace but its records.
func (e *roster) end(r *run) {
	e.forget(r)
	e.tellReload(r, "it is configured no more, holds nothing, and has ended")
	e.drop(r)
}

// forget takes away what a removed strategy wished: it must not be what begins,
// should the strategy come back.
func (e *roster) forget(r *run) {
	if plan := r.state.Plan(); !plan.Equal(&strategy.Plan{}) {
		e.record(
			record.Record{
				Strategy: r.config.Name,
				Symbol:   r.truth.Key(),
				Body:     record.Plan{Plan: &strategy.Plan{Reason: "it was removed from the configuration"}},
			},
		)
	}
}

// drop takes a run away. Answers that are on their way to it reach nobody.
func (e *roster) drop(r *run) {
	e.round.abandonRound()
	s := r.series
	e.runs = slices.DeleteFunc(e.runs, func(other *run) bool { return other == r })
	s.runs = slices.DeleteFunc(s.runs, func(other *run) bool { return other == r })
	if len(s.runs) == 0 {
		e.market.series = slices.DeleteFunc(e.market.series, func(other *series) bool { return other == s })
	}
	maps.DeleteFunc(e.calls, func(_ int64, p purpose) bool {
		return p.run == r || p.kind == callCandles && p.series == s && len(s.runs) == 0 || p.kind == callSetLeverage && p.truth == r.truth
	})
	r.truth.Forget()
	if !e.trades(exchange.Futures) {
		e.book.AccountMS = 0 // should it be traded again, it is read first
	}
	if !e.trades(exchange.Spot) {
		e.book.WalletMS = 0
	}
}
