package simulation

import (
	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/runtime/engine"
)

// scheduleFault schedules the next occurrence of a spontaneous fault. Crashes, commit
// and request faults are drawn where they are injected.
func (w *world) scheduleFault(f Fault) {
	switch f {
	case CommitFails, CommitInDoubt, SlowDisk, Crash:
		return
	}
	if w.weather[f] == 0 {
		return
	}
	source := &w.people
	if f >= Resolve {
		source = &w.actions
	}
	if f >= Remove {
		source = &w.changes
	}
	mean := 60_000 / w.weather[f]
	w.put(scheduled{atMS: w.nowMS + 1 + int64(mean*2*source.unit()), kind: happenFault, fault: f})
}

// faultDue injects a spontaneous fault and schedules its next occurrence.
func (w *world) faultDue(f Fault) {
	if w.quiet {
		return
	}
	w.scheduleFault(f)
	if !w.inject(f) {
		return
	}
	w.stats.Faults[f]++
}

// inject injects a spontaneous fault. It returns false if there was no target for it.
func (w *world) inject(f Fault) bool {
	d, p := w.daemon, &w.people
	switch f {
	case Outage:
		w.outageMS = w.nowMS + p.between(1_000, 45_000)
		w.say("no answers for %d ms", w.outageMS-w.nowMS)
	case ClockError:
		return w.missClock()
	case ManualTrade:
		return w.tradeManually()
	case ManualCancel:
		return w.cancelManually()
	case PartialFill:
		return w.takePart()
	case PriceJump:
		w.walk(w.venue.keys[p.below(int64(len(w.venue.keys)))], p.between(-15_000, 15_000))
	case RuleDrift:
		return w.driftRules()
	case DiskFull:
		w.disk.fullMS = w.nowMS + p.between(1_000, 30_000)
		w.say("the disk is full for %d ms", w.disk.fullMS-w.nowMS)
	case Stop:
		return w.stop()
	case Pause:
		if !d.up {
			return false
		}
		d.suspend(w.nowMS + p.between(500, 30_000))
		w.say("the process is suspended for %d ms", d.pausedMS-w.nowMS)
	case Halt:
		return w.halt()
	case Liquidation:
		return w.liquidate()
	case SecondBot:
		return w.secondBot()
	case OldBackup:
		return w.restoreBackup()
	case Resolve:
		return w.resolve()
	case Reload:
		return w.reload()
	case DiskLow:
		return w.crowd()
	case Remove:
		return w.remove()
	case Tighten:
		return w.tighten()
	}
	return true
}

func (w *world) say(format string, values ...any) {
	if w.tracing {
		w.tracef("weather", format, values...)
	}
}

// missClock makes the daemon's clock wrong for a while. The exchange then refuses requests signed outside the
// window, and the client reads the clock again.
func (w *world) missClock() bool {
	d := w.daemon
	if !d.up {
		return false
	}
	d.setClock(w.people.between(-8_000, 8_000))
	w.say("the daemon's clock is wrong by %d ms", d.clockError)
	w.put(scheduled{atMS: w.nowMS + w.people.between(1_000, 60_000), kind: happenRelease, fault: ClockError, life: d.life})
	return true
}

// stop sends SIGTERM: the daemon shuts down in one of its ways, and is killed after ten
// seconds.
func (w *world) stop() bool {
	d := w.daemon
	if !d.up || d.stopping || d.pausedMS > w.nowMS {
		return false
	}
	d.stopping = true
	way := []string{engine.ShutdownLeave, engine.ShutdownLeave, engine.ShutdownCancel, engine.ShutdownFlatten}[w.people.below(4)]
	w.say("SIGTERM: %s", way)
	w.put(scheduled{atMS: w.nowMS + 10_000, kind: happenGiveUp, life: d.life})
	d.handle(&engine.EventStop{Shutdown: way})
	return true
}

// halt acts as a person who halts the account or a strategy, or who cancels one order, which also pauses its strategy.
func (w *world) halt() bool {
	d := w.daemon
	if !d.up || d.stopping || d.pausedMS > w.nowMS || d.machine.Tracker().Halted().Level != record.LevelNone {
		return false
	}
	level := [...]record.HaltLevel{record.LevelPause, record.LevelCancel, record.LevelFlatten}[w.people.below(3)]
	var scope account.Scope
	switch choice := w.people.below(10); {
	case choice < 2 && w.withdraw():
	case choice < 5:
		scope.Strategy = w.portfolio.roles[w.people.below(int64(len(w.portfolio.roles)))].name
		fallthrough
	default:
		w.say("a person halts %s: %s", scope, level)
		d.handle(&engine.EventHalt{Level: level, Scope: scope, Reason: byPerson})
	}
	w.put(scheduled{atMS: w.nowMS + w.people.between(5_000, 60_000), kind: happenRelease, fault: Halt})
	return true
}

// byPerson is the reason of a user action.
const byPerson = "a person"

// withdraw cancels one opening order through botd, as a person would.
func (w *world) withdraw() bool {
	for p := range w.daemon.machine.Tracker().Live() {
		if p.Purpose().Opens() && p.Withdrawn() == "" {
			w.say("a person withdraws %s", p.ClientOrderID())
			w.daemon.handle(&engine.EventWithdraw{ClientOrderID: p.ClientOrderID(), Reason: byPerson})
			return true
		}
	}
	return false
}

// rearm ends every halt made by halt.
func (w *world) rearm() {
	scopes := []account.Scope{{}}
	for i := range w.portfolio.roles {
		scopes = append(scopes, account.Scope{Strategy: w.portfolio.roles[i].name})
	}
	for _, scope := range scopes {
		if halt := w.daemon.machine.Tracker().HaltOf(scope); halt.Level != record.LevelNone && halt.Reason == byPerson {
			w.say("a person rearms %s", scope)
			w.daemon.handle(&engine.EventHalt{Scope: scope, Reason: byPerson})
		}
	}
}

// release ends the effect of a fault.
func (w *world) release(h *scheduled) {
	d := w.daemon
	switch h.fault {
	case ClockError:
		if d.life == h.life {
			d.setClock(0)
		}
	case RuleDrift:
		w.restoreRules()
	case DiskLow:
		w.roomy(h.life)
	case Remove:
		w.comeBack(h)
	case Tighten:
		w.loosen(h)
	case Halt:
		if !d.up || d.stopping || d.pausedMS > w.nowMS {
			h.atMS = w.nowMS + 5_000
			w.put(*h)
			return
		}
		w.rearm()
	}
}

// tradeManually trades on the account as the user might: it increases, reduces or closes a position.
func (w *world) tradeManually() bool {
	key := w.venue.keys[w.people.below(int64(len(w.venue.keys)))]
	h, unit := w.venue.held[key], w.portfolio.unit[key]
	order := exchange.NewOrder{Market: key.Market, Symbol: key.Name, Side: exchange.Buy, Type: exchange.MarketOrder,
		Quantity: unit * exchange.Quantity(w.people.between(1, 3))}
	kind := w.people.below(3)
	switch {
	case key.Market == exchange.Spot:
		last, _ := w.venue.x.Price(key)
		order.QuoteAmount, order.Quantity = h.rules.Notional(last, order.Quantity), 0
		if kind == 0 && h.position > 0 {
			order.Side = exchange.Sell
		}
	case h.position == 0 && w.people.chance(0.5):
		order.Side = exchange.Sell
	case h.position != 0 && kind == 0: // increase the position
		order.Side = exchange.SideOf(h.position)
	case h.position != 0: // reduce or close it
		order.Side, order.ReduceOnly = exchange.SideOf(-h.position), true
		if held := h.position.Abs(); kind == 1 || order.Quantity > held {
			order.Quantity = held
		}
	}
	_, err := w.venue.x.Do(trader, &exchange.Request{Operation: exchange.FuturesPlace.On(key.Market), Symbol: key.Name, Order: order})
	w.say("a person trades: %s: %s", orderText(h.rules, &order), outcome(exchange.Answer{}, err))
	if err != nil {
		return false
	}
	h.touch(w.nowMS, max(order.Quantity, unit*3))
	w.venue.takeFills(w)
	return true
}

// someOrder draws one of botd's open orders.
func (w *world) someOrder(resting bool) (picked exchange.Order, found bool) {
	count := int64(0)
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		w.venue.x.EachOpenOrder(trader, market, func(o *exchange.Order) {
			if o.ClientOrderID == foreignID || resting && (o.Type != exchange.Limit || o.Status == exchange.StatusCreated) {
				return
			}
			if count++; w.people.below(count) == 0 {
				picked, found = *o, true
			}
		})
	}
	return picked, found
}

// cancelManually cancels one of botd's orders, as the user or the exchange might.
func (w *world) cancelManually() bool {
	order, found := w.someOrder(false)
	if !found {
		return false
	}
	_, err := w.venue.x.Do(trader, &exchange.Request{Operation: exchange.FuturesCancel.On(order.Market), Symbol: order.Symbol, OrderID: order.ID})
	w.say("a person cancels order %d: %s", order.ID, outcome(exchange.Answer{}, err))
	w.venue.takeFills(w)
	return err == nil
}

// takePart fills a part of one of botd's resting orders by a counterparty.
func (w *world) takePart() bool {
	order, found := w.someOrder(true)
	if !found {
		return false
	}
	rules := w.venue.held[order.Key()].rules
	part := max(rules.FloorQuantity(exchange.Quantity(float64(order.Remaining())*w.people.unit())), rules.QuantityTick)
	counterparty := seller
	if order.Side == exchange.Sell {
		counterparty = buyer
	}
	_, err := w.venue.x.Do(counterparty, &exchange.Request{Operation: exchange.FuturesPlace.On(order.Market), Symbol: order.Symbol,
		Order: exchange.NewOrder{Market: order.Market, Symbol: order.Symbol,
			Side: order.Side.Opposite(), Type: exchange.Limit, Price: order.Price, Quantity: part}})
	w.venue.takeFills(w)
	return err == nil
}

// driftRules changes a symbol's rules for a while.
func (w *world) driftRules() bool {
	if w.venue.drifted {
		return false
	}
	w.venue.drifted = true
	symbol := w.venue.symbols[w.people.below(int64(len(w.venue.symbols)))]
	switch w.people.below(4) {
	case 0:
		symbol.PriceTick *= 5
	case 1:
		symbol.MinNotional = symbol.MinNotional.Mul(4)
	case 2:
		symbol.Tradable = false
	case 3:
		symbol.ReduceOnly = symbol.Market == exchange.Futures
	}
	w.say("the rules of %s change: tick %d, minNotional %s, isTrade %t, isReduceOnly %t", symbol.Key(), symbol.PriceTick, symbol.MinNotional,
		symbol.Tradable, symbol.ReduceOnly)
	w.put(scheduled{atMS: w.nowMS + w.people.between(10_000, 90_000), kind: happenRelease, fault: RuleDrift})
	return true
}

func (w *world) restoreRules() {
	if !w.venue.drifted {
		return
	}
	w.venue.drifted = false
	for i, symbol := range w.venue.symbols {
		*symbol = *w.portfolio.original[i]
	}
}
