package simulation

import (
	"strings"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/reconcile"
	"botd/runtime/engine"
)

// Bounds the inspector holds the daemon to.
const (
	beliefMS    = 120_000 // belief may differ from the exchange that long without a declared state
	nakedMS     = 30_000  // without a stop, once it is quiet
	recentMS    = 25_000  // an idle round and its reads
	mostLive    = 64      // placements that are not final
	mostRefused = 16      // refusals of one kind in a row on one symbol
	budgetMS    = 10_000
	mostInTen   = 400 // requests in ten seconds
)

// inspector judges after every event whether the invariants hold, by what is
// true on the exchange and not by what the daemon believes.
type inspector struct {
	w       *world
	budget  budget
	version uint64 // of the exchange when the exposure was last looked at
	sent    int64  // requests when the exposure was last looked at

	booked    map[string]exchange.Quantity // filled, as the records say
	guessed   map[string]bool              // ended by the position equation
	uncertain map[string]int64             // since when
	refusals  map[refusalKey]int
	watched   []watch // by role
}

// watch is what is followed about one role.
type watch struct {
	role      *role
	held      *held
	wrongMS   int64 // since when belief and exchange differ undeclared; 0 for not
	nakedMS   int64 // since when a position is without its stop; 0 for not
	protected bool
}

type refusalKey struct {
	symbol exchange.SymbolKey
	code   int
}

func newInspector(w *world) *inspector {
	i := &inspector{w: w, booked: map[string]exchange.Quantity{}, guessed: map[string]bool{}, uncertain: map[string]int64{}, refusals: map[refusalKey]int{}}
	for n := range w.cast.roles {
		r := &w.cast.roles[n]
		i.watched = append(i.watched, watch{role: r, held: w.venue.held[r.key]})
	}
	return i
}

// sending judges a request at its first byte.
func (i *inspector) sending(f *flight) {
	w := i.w
	if count := i.budget.count(w.nowMS, budgetMS); count > mostInTen {
		w.fail("request_budget", "%d requests within %d s", count, budgetMS/1000)
	}
	request := &f.call.Request
	if !request.Operation.Places() {
		return
	}
	order := &request.Order
	durable, found := w.disk.sending[order.ClientOrderID]
	switch {
	case !found:
		w.fail("durable_first", "%s was sent without a durable record", order.ClientOrderID)
	case durable != *order:
		w.fail("durable_first", "%s was sent as %+v, recorded as %+v", order.ClientOrderID, *order, durable)
	}
	a := w.venue.asked[order.ClientOrderID]
	if a == nil {
		a = &asked{id: order.ClientOrderID, order: *order, opens: opens(order), sentMS: w.nowMS}
		w.venue.asked[order.ClientOrderID] = a
	}
	if a.sends++; a.sends > 1 {
		w.fail("one_send", "%s was sent %d times", a.id, a.sends)
	}
	f.asked = a
	if now := w.daemon.clock(); f.call.DeadlineMS == 0 || now > f.call.DeadlineMS {
		w.fail("time_to_live", "%s was sent %d ms after its time to live", a.id, now-f.call.DeadlineMS)
	}
	if a.opens {
		i.opening(a)
	}
}

// opens reports whether an order can make a position larger.
func opens(o *exchange.NewOrder) bool {
	if o.Market == exchange.Spot {
		return o.Side == exchange.Buy
	}
	return !o.Reduces()
}

// opening judges one that is about to go: no older one may still arrive.
func (i *inspector) opening(a *asked) {
	for _, other := range i.w.venue.asked {
		if other != a && other.opens && other.order.Key() == a.order.Key() && other.under > 0 {
			i.w.fail("one_opening", "%s was sent while %s may still arrive", a.id, other.id)
		}
	}
}

// answered takes an answer about to be given to the daemon.
func (i *inspector) answered(f *flight) {
	if f.asked == nil {
		return
	}
	var refusal *exchange.Refusal
	if is(f.err, &refusal) {
		i.refused(f.asked, refusal)
		return
	}
	if f.err == nil {
		for key := range i.refusals {
			if key.symbol == f.asked.order.Key() {
				delete(i.refusals, key)
			}
		}
	}
}

// refused judges a placement the exchange did not take. What can be known before
// sending must not be refused; what hangs on the moment may be, but not again
// and again.
func (i *inspector) refused(a *asked, refusal *exchange.Refusal) {
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
		if i.w.venue.held[a.order.Key()].handMS == 0 {
			i.w.fail("self_inflicted", "%s was sent against an open position: %s", a.id, refusal.Message)
		}
	default:
		i.w.fail("self_inflicted", "%s was refused by a rule: %s", a.id, refusal.Message)
	}
	if i.refusals[key] > mostRefused {
		i.w.fail("refusal_loop", "%s: refused for the %d. time in a row: %s", key.symbol, i.refusals[key], refusal.Message)
	}
}

// effects judges what the engine wants done, while its state is as it was then.
func (i *inspector) effects(out *engine.Effects) {
	for n := range out.Calls {
		call := &out.Calls[n]
		if !call.Request.Operation.Places() || !opens(&call.Request.Order) {
			continue
		}
		machine := i.w.daemon.machine
		truth := machine.Book().Symbol(call.Request.Order.Key())
		switch {
		case machine.Book().Halted().Level != "":
			i.w.fail("declared_states", "%s opens while trading is halted", call.Request.Order.ClientOrderID)
		case machine.Blind():
			i.w.fail("declared_states", "%s opens while blind", call.Request.Order.ClientOrderID)
		case truth.Quarantine != "":
			i.w.fail("declared_states", "%s opens on a quarantined symbol", call.Request.Order.ClientOrderID)
		}
	}
}

// record judges what was written down.
func (i *inspector) record(r *reconcile.Record) {
	switch r.Kind {
	case reconcile.RecordUnknown:
		i.uncertain[r.ClientOrderID] = i.w.nowMS
	case reconcile.RecordFill, reconcile.RecordEnded:
		i.filled(r)
		if since, found := i.uncertain[r.ClientOrderID]; found {
			delete(i.uncertain, r.ClientOrderID)
			i.w.stats.resolved(i.w.nowMS - since)
		}
	}
}

// filled: each fill is booked once and never goes back.
func (i *inspector) filled(r *reconcile.Record) {
	before := i.booked[r.ClientOrderID]
	if strings.Contains(r.Evidence, "the position after the fence") {
		i.guessed[r.ClientOrderID] = true // by the sum of all: judged by the sum of all
	}
	if r.Filled < before {
		i.w.fail("fill_once", "%s had %d filled and is booked with %d", r.ClientOrderID, before, r.Filled)
	}
	i.booked[r.ClientOrderID] = r.Filled
	a := i.w.venue.asked[r.ClientOrderID]
	if a == nil {
		if h := i.w.venue.held[r.Symbol]; r.Filled != 0 && h != nil && h.handMS == 0 && !i.guessed[r.ClientOrderID] {
			i.w.fail("fill_once", "%s was never sent and is booked with %d filled", r.ClientOrderID, r.Filled)
		}
		return
	}
	if h := i.w.venue.held[a.order.Key()]; r.Filled > a.filled && h.handMS == 0 && !i.guessed[r.ClientOrderID] {
		i.w.fail("fill_once", "%s is booked with %d filled, the exchange filled %d", r.ClientOrderID, r.Filled, a.filled)
	}
}

// booted: what was not durable is forgotten with the process.
func (i *inspector) booted() {
	clear(i.booked)
	for n := range i.w.disk.records {
		if r := &i.w.disk.records[n]; r.Kind == reconcile.RecordFill || r.Kind == reconcile.RecordEnded {
			i.booked[r.ClientOrderID] = max(i.booked[r.ClientOrderID], r.Filled)
		}
	}
}

// ended: the process is gone.
func (i *inspector) ended() {
	for n := range i.watched {
		i.watched[n].wrongMS = 0
	}
}

// calm: from now on nothing goes wrong from outside.
func (i *inspector) calm() {
	for n := range i.watched {
		if w := &i.watched[n]; w.nakedMS != 0 {
			w.nakedMS = i.w.nowMS
		}
	}
}

// look judges the state of things after an event.
func (i *inspector) look() {
	w := i.w
	if w.stats.Events > mostEvents {
		w.fail("livelock", "more than %d events", mostEvents)
	}
	if len(w.agenda.entries) > mostAgenda {
		w.fail("memory", "%d things are under way", len(w.agenda.entries))
	}
	if version := w.venue.x.Version(); version != i.version || w.stats.Requests != i.sent {
		i.version, i.sent = version, w.stats.Requests
		i.exposure()
		i.wallet()
	}
	if w.daemon.up {
		i.belief()
	}
}

// wallet: the identity holds to the last digit.
func (i *inspector) wallet() {
	m := i.w.venue.x.Money(account)
	if sum := m.Deposits.Add(m.Realized).Sub(m.Funding).Sub(m.Fees).Add(m.Insurance); sum != m.Wallet {
		i.w.fail("wallet", "the wallet holds %s, its parts sum up to %s", m.Wallet, sum)
	}
}

// exposure: |position| + open + unknown openings stay within the limit, judged
// on the exchange.
func (i *inspector) exposure() {
	w := i.w
	for n := range i.watched {
		watch := &i.watched[n]
		var buys, sells exchange.Quantity
		watch.protected = false
		w.venue.x.EachOpenOrder(account, watch.role.key.Market, func(o *exchange.Order) {
			if o.Symbol != watch.role.key.Name {
				return
			}
			if o.ClosePosition && (o.Type == exchange.StopMarket) {
				watch.protected = true
			}
			if a := w.venue.byOrder[o.ID]; a == nil || !a.opens {
				return
			}
			left := o.Remaining()
			if !o.QuoteAmount.IsZero() {
				last, _ := w.venue.x.Price(watch.role.key)
				left = max(0, watch.held.rules.QuantityFor(o.QuoteAmount, max(last, 1))-o.Filled)
			}
			if o.Side == exchange.Buy {
				buys += left
			} else {
				sells += left
			}
		})
		for _, a := range w.venue.asked {
			if a.under > 0 && a.opens && a.order.Key() == watch.role.key {
				if a.order.Side == exchange.Buy {
					buys += w.venue.size(a)
				} else {
					sells += w.venue.size(a)
				}
			}
		}
		i.within(watch, buys, sells)
		i.naked(watch)
	}
}

func (i *inspector) within(watch *watch, buys, sells exchange.Quantity) {
	limit := watch.role.limit() + watch.held.slack
	position := watch.held.position
	if long := position + buys; buys > 0 && long > limit {
		i.w.fail("exposure", "%s: position %d and %d that may still be bought are above %d", watch.role.key, position, buys, limit)
	}
	if short := sells - position; sells > 0 && short > limit {
		i.w.fail("exposure", "%s: position %d and %d that may still be sold are above %d", watch.role.key, position, sells, limit)
	}
	if max(position, -position) > limit {
		i.w.fail("exposure", "%s: position %d is above %d", watch.role.key, position, limit)
	}
}

// naked follows how long a position is without the stop its plan wants.
func (i *inspector) naked(watch *watch) {
	if !watch.role.protected || watch.role.key.Market != exchange.Futures {
		return
	}
	if watch.held.position == 0 || watch.protected {
		if watch.nakedMS != 0 {
			i.w.stats.unprotected(i.w.nowMS - watch.nakedMS)
		}
		watch.nakedMS = 0
	} else if watch.nakedMS == 0 {
		watch.nakedMS = i.w.nowMS
	}
}

// belief: what the daemon believes is true, or it says that it does not know.
func (i *inspector) belief() {
	w := i.w
	book := w.daemon.machine.Book()
	if live := len(book.Live()); live > mostLive {
		w.fail("memory", "%d placements are not final", live)
	}
	for n := range i.watched {
		watch := &i.watched[n]
		truth := book.Symbol(watch.role.key)
		declared := truth.Quarantine != "" || w.daemon.machine.Blind() || book.Halted().Level != "" || i.unresolved(book, watch.role.key)
		if declared || i.agrees(watch, truth) {
			watch.wrongMS = 0
		} else if watch.wrongMS == 0 {
			watch.wrongMS = w.nowMS
		} else if w.nowMS-watch.wrongMS > beliefMS {
			w.fail("belief", "%s: %d believed, %d true, for %d s, and nothing is declared", watch.role.key, truth.Known, watch.held.position, (w.nowMS-watch.wrongMS)/1000)
		}
		if w.quiet && watch.nakedMS != 0 && !declared && w.nowMS-max(watch.nakedMS, w.daemon.bootMS) > nakedMS {
			w.fail("protection", "%s: a position of %d is without its stop for %d s", watch.role.key, watch.held.position, (w.nowMS-watch.nakedMS)/1000)
		}
	}
}

func (i *inspector) agrees(watch *watch, truth *reconcile.SymbolTruth) bool {
	if watch.role.key.Market == exchange.Spot {
		return true // judged at the end: fees are taken from the asset
	}
	return truth.Known == watch.held.position
}

func (i *inspector) unresolved(book *reconcile.Book, key exchange.SymbolKey) bool {
	for _, p := range book.Live() {
		if p.State.Unresolved() && p.Order.Key() == key {
			return true
		}
	}
	return false
}

// converged judges the end, after the quiet: everything has come right.
func (i *inspector) converged() {
	w := i.w
	if !w.daemon.up {
		w.fail("converged", "the process is not up")
		return
	}
	book := w.daemon.machine.Book()
	for _, p := range book.Live() {
		if p.State.Unresolved() && w.nowMS-p.SentMS > recentMS && book.Symbol(p.Order.Key()).Quarantine == "" {
			w.fail("converged", "%s is still %s", p.ClientOrderID, p.State)
		}
	}
	for n := range i.watched {
		watch := &i.watched[n]
		truth := book.Symbol(watch.role.key)
		if truth.Quarantine != "" {
			w.stats.Quarantined++
			if watch.held.handMS == 0 {
				w.fail("converged", "%s is quarantined though nobody else touched it: %s", watch.role.key, truth.Quarantine)
			}
			continue
		}
		if watch.held.recent(w.nowMS) {
			continue // a resting order filled since the last round
		}
		if !i.agrees(watch, truth) {
			w.fail("converged", "%s: %d believed, %d true", watch.role.key, truth.Known, watch.held.position)
		}
		i.reached(watch, book, truth)
	}
	for id, a := range w.venue.asked {
		if h := w.venue.held[a.order.Key()]; h.handMS == 0 && !h.recent(w.nowMS) && !i.guessed[id] && i.booked[id] != a.filled {
			w.fail("fill_once", "%s: %d filled, %d booked", id, a.filled, i.booked[id])
		}
	}
}

// reached: a target that nothing forbids is reached.
func (i *inspector) reached(watch *watch, book *reconcile.Book, truth *reconcile.SymbolTruth) {
	if watch.role.kind != "twap" || watch.held.handMS != 0 || book.HaltOn(watch.role.name, watch.role.key).Level != "" || book.Breaker().UntilMS > i.w.nowMS-60_000 ||
		i.w.stats.Faults[RuleDrift] > 0 { // rules are read hourly: what was too small by those of then stays
		return
	}
	state := book.Strategy(watch.role.name)
	if state.Latch != 0 {
		return
	}
	if most := watch.role.most; watch.role.key.Market == exchange.Futures && max(watch.held.position, -watch.held.position) != most {
		i.w.fail("reached", "%s wished %d in the end and holds %d", watch.role.name, most, watch.held.position)
	}
}
