package simulation

import (
	"fmt"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/engine"
)

// sending checks a request at its first byte.
func (i *inspector) sending(f *flight) {
	w := i.w
	if count := i.budget.count(w.nowMS, budgetMS); count > maxInTen {
		w.fail("request_budget", "%d requests within %d s", count, budgetMS/1000)
	}
	request := &f.call.Request
	if !request.Operation.Places() {
		return
	}
	order := &request.Order
	if w.beyond != nil {
		f.placed = w.placedOf(order)
		w.judge.sent(order)
		return
	}
	durable, found := w.disk.sending[order.ClientOrderID]
	switch {
	case !found:
		w.fail("durable_first", "%s was sent without a durable record", order.ClientOrderID)
	case durable != *order:
		w.fail("durable_first", "%s was sent as %+v, recorded as %+v", order.ClientOrderID, *order, durable)
	}
	a := w.placedOf(order)
	if a.sends++; a.sends > 1 {
		w.fail("one_send", "%s was sent %d times", a.id, a.sends)
	}
	f.placed = a
	if now := w.daemon.clock(); f.call.DeadlineMS == 0 || now > f.call.DeadlineMS {
		w.fail("time_to_live", "%s was sent %d ms after its time to live", a.id, now-f.call.DeadlineMS)
	}
	switch {
	case a.opens:
		i.opening(a)
	case order.Type == exchange.MarketOrder && order.ReduceOnly:
		i.exiting(a)
	}
}

// placedOf returns the placement of an order, and creates it if it is new. Two processes may use one id.
func (w *world) placedOf(order *exchange.NewOrder) *placed {
	id := order.ClientOrderID
	if w.process.number > 0 {
		id = fmt.Sprint(id, "#", w.process.number)
	}
	a := w.venue.placed[id]
	if a == nil {
		a = &placed{id: id, order: *order, opens: opens(order), sentMS: w.nowMS, by: w.process.number}
		a.unaware = w.judge.unaware(a)
		w.venue.placed[id] = a
	}
	return a
}

// exitPaceMS is the minimum time between an exit and the next one while the first may
// still arrive (case 20), minus the latency of a worker.
const exitPaceMS = 1_900

// exiting checks a market exit: it waits while another one is uncertain.
func (i *inspector) exiting(a *placed) {
	w, key := i.w, a.order.Key()
	last := w.venue.held[key].exit
	w.venue.held[key].exit = a
	if last == nil || last == a || w.nowMS-last.sentMS >= exitPaceMS || w.weather[ClockError] > 0 {
		return
	}
	if p := w.daemon.machine.Tracker().Placement(last.id); p != nil && p.State().OutcomeUncertain() {
		w.fail("exit_pace", "%s was sent %d ms after %s, which is uncertain", a.id, w.nowMS-last.sentMS, last.id)
	}
}

// opens reports whether an order can increase a position.
func opens(o *exchange.NewOrder) bool {
	if o.Market == exchange.Spot {
		return o.Side == exchange.Buy
	}
	return !o.Reduces()
}

// opening checks an opening that is about to be sent, possibly long after the engine released it: no declared state may
// block it now, and no older opening may still arrive, nor an exit, which would reduce the new position.
func (i *inspector) opening(a *placed) {
	if why := i.declared(a.order.Key()); why != "" {
		i.w.fail("declared_states", "%s was sent %s", a.id, why)
	}
	for _, other := range i.w.venue.inFlight {
		switch {
		case other == a || other.order.Key() != a.order.Key() || other.forgotten:
		case other.opens:
			i.w.fail("one_opening", "%s was sent while %s may still arrive", a.id, other.id)
		case other.order.ReduceOnly && other.order.Type == exchange.MarketOrder:
			i.w.fail("reentry", "%s was sent while the exit %s may still arrive", a.id, other.id)
		}
	}
}

// observeAnswer observes an answer before the daemon receives it.
func (i *inspector) observeAnswer(f *flight) {
	if f.placed == nil || i.w.beyond != nil {
		return
	}
	var refusal *exchange.Refusal
	if is(f.err, &refusal) {
		i.refused(f.placed, refusal)
		return
	}
	if f.err == nil {
		for key := range i.refusals {
			if key.symbol == f.placed.order.Key() {
				delete(i.refusals, key)
			}
		}
	}
}

// refused checks a refused placement. A foreseeable refusal is a fault; one that depends on the moment is allowed, but not in a loop.
func (i *inspector) refused(a *placed, refusal *exchange.Refusal) {
	key := refusalKey{a.order.Key(), refusal.Code}
	i.refusals[key]++
	if i.w.tracing {
		i.w.tracef("inspect", "%s was refused: %s", a.id, refusal.Message)
	}
	switch refusal.Code {
	case exchange.CodeInvalidTimestamp:
		return
	case sim.CodeNotTradable, sim.CodeReduceOnlySymbol, sim.CodePriceTick, sim.CodeStopPriceTick, sim.CodeMinNotional:
		if i.w.weather[RuleDrift] > 0 {
			break
		}
		i.w.fail("self_inflicted", "%s was refused by a rule: %s", a.id, refusal.Message)
	case sim.CodeNoPosition, sim.CodeReduceSide, sim.CodeReduceQuantity, sim.CodeReduceSum, sim.CodeCloseDuplicate, sim.CodeCloseStopPrice,
		sim.CodeStopPriceEqual, sim.CodeMargin, sim.CodeBalance:
	case sim.CodeOppositeOrder:
		h := i.w.venue.held[a.order.Key()]
		crossed := i.w.portfolio.quotes(a.order.Key()) && h.filledMS >= a.sentMS-i.w.bounds.StalenessMS // no read has shown the fill of its other quote
		if h.touchedMS == 0 && !crossed {
			i.w.fail("self_inflicted", "%s was sent against an open position: %s", a.id, refusal.Message)
		}
	default:
		i.w.fail("self_inflicted", "%s was refused by a rule: %s", a.id, refusal.Message)
	}
	if i.refusals[key] > maxRefused {
		i.w.fail("refusal_loop", "%s: refused for the %d. time in a row: %s", key.symbol, i.refusals[key], refusal.Message)
	}
}

// alone checks that nothing opens on a symbol while another opening on it is unanswered
// or anything on it is uncertain.
func (i *inspector) alone(tracker *reconcile.Tracker, order *exchange.NewOrder) {
	for p := range tracker.Live() {
		switch {
		case p.ClientOrderID() == order.ClientOrderID || p.Symbol() != order.Key():
		case p.State() == placement.Uncertain, p.State() == placement.Sending && p.Purpose().Opens():
			i.w.fail("one_opening", "%s opens while %s is %s", order.ClientOrderID, p.ClientOrderID(), p.State())
		}
	}
}

// effects checks the effects of an event against the state that produced them.
func (i *inspector) effects(out *engine.Effects) {
	i.figures.attribution.handled()
	for n := range out.Calls {
		call := &out.Calls[n]
		if !call.Request.Operation.Places() || !opens(&call.Request.Order) {
			continue
		}
		i.alone(i.w.daemon.machine.Tracker(), &call.Request.Order)
		if why := i.declared(call.Request.Order.Key()); why != "" {
			i.w.fail("declared_states", "%s opens %s", call.Request.Order.ClientOrderID, why)
		}
	}
}

// declared returns the declared state that blocks openings of a symbol; empty for none.
func (i *inspector) declared(key exchange.SymbolKey) string {
	machine, strategy := i.w.daemon.machine, i.w.portfolio.of(key)
	switch {
	case i.story.quarantined[key]:
		return "on a symbol that the journal shows as quarantined"
	case i.story.halted(strategy, key):
		return "while the journal shows that trading is halted"
	case i.story.limited(strategy, i.w.daemon.clock()):
		return "while the journal shows that a limit is breached"
	case i.w.shut, i.story.shut:
		return "while the limits allow nothing"
	case i.w.daemon.low:
		return "while the disk is nearly full"
	case i.w.daemon.stopping:
		return "while stopping"
	case machine.Tracker().Breaking(i.w.daemon.clock()):
		return "while the breaker is tripped"
	case machine.Tracker().HaltOn(strategy, key).Level != record.LevelNone:
		return "while trading is halted"
	case machine.Blind(key):
		return "while blind"
	case machine.Tracker().Symbol(key).Quarantine() != "":
		return "on a quarantined symbol"
	}
	return ""
}

// removed checks that a strategy that was removed without on_remove has nothing left on the exchange.
func (i *inspector) removed(r *role) {
	w, h := i.w, i.w.venue.held[r.key]
	if w.stats.Faults[OldBackup] > 0 {
		return // it does not know what it forgot
	}
	if h.touchedMS == 0 && r.key.Market == exchange.Futures && h.position != 0 {
		w.fail("removed", "%s is removed and leaves a position of %d", r.name, h.position)
	}
	for _, a := range w.venue.inFlight {
		if a.order.Key() == r.key && !a.forgotten {
			w.fail("removed", "%s is removed while %s may still arrive", r.name, a.id)
		}
	}
	w.venue.x.EachOpenOrder(trader, r.key.Market, func(o *exchange.Order) {
		if a := w.venue.byOrder[o.ID]; a != nil && o.Symbol == r.key.Name && !a.forgotten && a.executed == 1 { // nobody waits for the copy of a middlebox
			w.fail("removed", "%s is removed and leaves order %d", r.name, o.ID)
		}
	})
}

// ended resets the measurements of a process that died.
func (i *inspector) ended() {
	for n := range i.watched {
		i.watched[n].wrongMS = 0
	}
}

// faultsEnd restarts the measurements when the faults end.
func (i *inspector) faultsEnd() {
	for n := range i.watched {
		if w := &i.watched[n]; w.unprotectedMS != 0 {
			w.unprotectedMS = i.w.nowMS
		}
	}
}
