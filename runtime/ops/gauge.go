package ops

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/runtime/engine"
	"botd/runtime/profit"
)

// Status sets the gauges from a summary of the engine, in the goroutine that delivers the notes.
func (m *Metrics) Status(s *engine.Status) {
	m.forgetAbsent(s)
	for i := range s.Strategies {
		m.Expect(s.Strategies[i].Name, s.Strategies[i].Symbol)
	}
	if s.AccountMS != 0 { // a balance of zero before the first read would be a loss of everything
		m.balance.WithLabelValues("wallet").Set(s.Account.WalletBalance.Float())
		m.balance.WithLabelValues("available").Set(s.Account.AvailableBalance.Float())
		m.balance.WithLabelValues("unrealized").Set(s.Account.UnrealizedPNL.Float())
		m.balance.WithLabelValues("margin_used").Set(s.Account.MarginUsed.Float())
		m.balance.WithLabelValues("maintenance").Set(s.Account.MaintenanceMargin.Float())
	}
	for _, reason := range haltReasons {
		m.halted.WithLabelValues(reason).Set(oneIf(slices.ContainsFunc(s.Degraded, func(d engine.Degraded) bool { return haltReason(&d) == reason })))
	}
	unfinished := 0.0
	for i := range s.Degraded {
		unfinished += oneIf(s.Degraded[i].State == "halted" && s.Degraded[i].Remaining != "")
	}
	m.unfinished.WithLabelValues().Set(unfinished)
	made := profit.Of(s)
	m.positions(s, made)
	quarantined := 0.0
	for i := range s.Strategies {
		t := &s.Strategies[i]
		m.strategy(t, s.NowMS)
		m.strategyMoney(t, made[t.Name])
		quarantined += oneIf(t.State == "quarantined" || t.State == "contradicted")
	}
	m.discrepancies.WithLabelValues("all").Set(quarantined)
	for i := range s.Balances {
		if asset := m.known.asset(s.Balances[i].Asset); asset != other {
			m.assets.WithLabelValues(asset, "free").Set(s.Balances[i].Free.Float())
			m.assets.WithLabelValues(asset, "frozen").Set(s.Balances[i].Frozen.Float())
		}
	}
	m.limits(s)
	m.orders(s)
	m.ledgerFigures(s, made)
}

func (m *Metrics) strategy(t *engine.StrategyStatus, nowMS int64) {
	name := m.known.strategy(t.Name)
	for _, state := range strategyStates {
		m.strategyState.WithLabelValues(name, state).Set(oneIf(t.State == state))
	}
	if t.TickMS > 0 {
		m.lastCycle.WithLabelValues(name).Set(seconds(t.TickMS))
	}
	m.nextCycle.WithLabelValues(name).Set(seconds(m.nextDue(name, t, nowMS)))
	market, symbol := t.Symbol.Market.String(), m.known.symbol(t.Symbol.Name)
	if t.LastMS > 0 {
		m.marketUpdate.WithLabelValues(market, symbol, "price").Set(seconds(t.LastMS))
	}
	if t.CandleMS == 0 {
		return
	}
	m.marketUpdate.WithLabelValues(market, symbol, "candle").Set(seconds(t.CandleMS))
	if before := m.candles[name]; before != 0 && before < t.CandleMS { // candles of the warm-up have no lag
		m.candleLag.WithLabelValues(market).Observe(seconds(max(0, nowMS-t.CandleMS)))
	}
	m.candles[name] = t.CandleMS
}

// dueTick is the time of the tick that a strategy is expected to decide next.
type dueTick struct{ afterMS, dueMS int64 }

// nextDue returns when a strategy is due. A due time that has passed without a decision stays, even if
// the engine tries again later: otherwise the metric would not show for how long the strategy has been
// overdue.
func (m *Metrics) nextDue(name string, t *engine.StrategyStatus, nowMS int64) int64 {
	have := m.due[name]
	if overdue := have.dueMS != 0 && have.dueMS <= nowMS && have.afterMS == t.TickMS; !overdue || t.NextMS == 0 {
		have = dueTick{t.TickMS, t.NextMS}
		m.due[name] = have
	}
	return have.dueMS
}

// strategyMoney sets equity, unrealized profit and drawdown of a strategy. Its peak is the
// journalled one if a limit watches it, otherwise the highest since the start.
func (m *Metrics) strategyMoney(t *engine.StrategyStatus, made profit.Profit) {
	name := m.known.strategy(t.Name)
	m.strategyOpen.WithLabelValues(name).Set(made.Unrealized.Float())
	if t.Unpriced {
		return
	}
	equity := t.Own.Float()
	m.strategyEquity.WithLabelValues(name).Set(equity)
	m.peaks[name] = max(m.peaks[name], equity, t.Peak.Float())
	drawdown := 0.0
	if peak := m.peaks[name]; peak > 0 {
		drawdown = min(1, max(0, (peak-equity)/peak))
	}
	m.strategyDrawdown.WithLabelValues(name).Set(drawdown)
}

// symbolGauges are the gauges of a symbol in both markets together, because the label does not name the market.
type symbolGauges struct {
	value, profit, unprotected float64
	distances                  []float64 // to liquidations
	sinceMS                    int64     // of the position that has lacked its stop the longest; 0 for none
}

func (m *Metrics) positions(s *engine.Status, made map[string]profit.Profit) {
	all := map[string]*symbolGauges{}
	for i := range s.Strategies {
		t := &s.Strategies[i]
		name := m.known.symbol(t.Symbol.Name)
		if all[name] == nil {
			all[name] = &symbolGauges{}
		}
		all[name].add(t, made[t.Name].Unrealized)
		key := t.Symbol.Key().String()
		m.unprotectedSeconds.WithLabelValues(name).Add(seconds(max(0, t.UnprotectedMS-m.unprotectedMS[key])))
		m.unprotectedMS[key] = t.UnprotectedMS
	}
	for name, g := range all {
		m.positionValue.WithLabelValues(name).Set(g.value)
		m.positionPNL.WithLabelValues(name).Set(g.profit)
		m.unguarded.WithLabelValues(name).Set(g.unprotected)
		m.unprotectedSince.WithLabelValues(name).Set(seconds(g.sinceMS))
		// A closed position has no distance: its series ends, so that no alert stays on its last value.
		if len(g.distances) > 0 {
			m.liquidation.WithLabelValues(name).Set(slices.Min(g.distances))
		} else {
			m.liquidation.DeleteLabelValues(name)
		}
	}
}

func (g *symbolGauges) add(t *engine.StrategyStatus, unrealized exchange.Amount) {
	value := t.Symbol.Notional(t.Last, t.Position).Float()
	g.value += value
	g.profit += unrealized.Float()
	if !t.Protected {
		g.unprotected += magnitude(value)
	}
	if last := t.Symbol.PriceFloat(t.Last); last > 0 && t.Position != 0 && !t.LiqPrice.IsZero() {
		g.distances = append(g.distances, magnitude(last-t.LiqPrice.Float())/last)
	}
	if since := t.UnprotectedSinceMS; since != 0 && (g.sinceMS == 0 || since < g.sinceMS) {
		g.sinceMS = since
	}
}

// ledgerFigures sets the ledger's figures, each in one step so that no scrape sees a partial sum. Only USDT
// amounts are added up.
func (m *Metrics) ledgerFigures(s *engine.Status, made map[string]profit.Profit) {
	type wallet struct{ market, asset string }
	net, paid, unexplained := map[string]exchange.Amount{}, map[string]exchange.Amount{}, map[wallet]exchange.Amount{}
	for strategy, p := range made {
		name := m.known.strategy(strategy)
		net[name], paid[name] = net[name].Add(p.Net), paid[name].Add(p.Fees)
	}
	for i := range s.Ledger {
		if b := &s.Ledger[i]; b.Account == ledger.Unexplained {
			of := wallet{b.Symbol.Market.String(), m.known.asset(b.Asset)}
			unexplained[of] = unexplained[of].Sub(b.Amount) // the source of the money is negative
		}
	}
	for name, sum := range net {
		m.realized.WithLabelValues(name).Set(sum.Float())
	}
	for name, sum := range paid { // fees paid before the start also count from zero
		m.fees.WithLabelValues(name).Add(max(0, sum.Float()-m.paid[name]))
		m.paid[name] = max(m.paid[name], sum.Float())
	}
	for of, sum := range unexplained {
		m.unexplained.WithLabelValues(of.market, of.asset).Set(sum.Float())
	}
}

// limits sets the utilization of each limit. The scopes are the account, its markets, and the
// configured strategies and symbols.
func (m *Metrics) limits(s *engine.Status) {
	used := map[[2]string]bool{}
	for i := range s.Limits {
		u := &s.Limits[i]
		scope := u.Scope
		switch {
		case u.Strategy != "":
			scope = "strategy " + m.known.strategy(u.Strategy)
		case u.Symbol != exchange.SymbolKey{}:
			scope = "symbol " + m.known.market(u.Symbol.Market.String()) + " " + m.known.symbol(u.Symbol.Name)
		}
		m.usage.WithLabelValues(m.known.rule(u.Rule), scope).Set(u.Ratio)
		used[[2]string{m.known.rule(u.Rule), scope}] = true
	}
	for limit := range m.used { // a limit that no longer exists is not in use
		if !used[limit] {
			m.usage.DeleteLabelValues(limit[0], limit[1])
		}
	}
	m.used = used
}

// orders counts working and unsettled orders, each in one step so that no scrape sees a partial sum.
func (m *Metrics) orders(s *engine.Status) {
	type owner struct{ market, strategy string }
	working, unsettled, oldest := map[owner]float64{}, map[string]float64{}, map[string]int64{}
	for i := range s.Strategies {
		working[owner{s.Strategies[i].Symbol.Market.String(), m.known.strategy(s.Strategies[i].Name)}] = 0
	}
	for i := range s.Live {
		p := &s.Live[i]
		market := p.Order().Market.String()
		if p.State() == placement.Working {
			working[owner{market, m.known.strategy(p.Strategy())}]++
			continue
		}
		unsettled[market]++
		if first := oldest[market]; first == 0 || p.SentMS() < first {
			oldest[market] = p.SentMS()
		}
	}
	for _, market := range []string{"futures", "spot"} {
		m.unsettled.WithLabelValues(market).Set(unsettled[market])
		m.oldest.WithLabelValues(market).Set(seconds(oldest[market]))
		if _, left := working[owner{market, other}]; !left {
			m.open.DeleteLabelValues(market, other)
		}
	}
	for o, count := range working {
		m.open.WithLabelValues(o.market, o.strategy).Set(count)
	}
}

// Ready sets the readiness gauges.
func (m *Metrics) Ready(checks []Check) {
	all := true
	for _, check := range checks {
		m.component.WithLabelValues(check.Name).Set(oneIf(check.OK))
		all = all && check.OK
	}
	m.ready.WithLabelValues().Set(oneIf(all))
}

// haltReason returns the label of a declared state.
func haltReason(d *engine.Degraded) string {
	switch {
	case d.State == "limit" && d.Scope.Strategy != "":
		return "strategy_limit"
	case d.State == "blind" && d.Scope.Symbol.Name != "":
		return "symbol_blind"
	case d.State == "blind" && d.Scope != account.Scope{}:
		return "market_blind"
	case d.State != "halted":
		return d.State
	case d.Scope.Strategy != "":
		return "strategy_halted"
	case d.Scope != account.Scope{}:
		return "symbol_halted"
	}
	return "kill_switch"
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func magnitude(f float64) float64 { return max(f, -f) }
