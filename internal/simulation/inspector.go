package simulation

import (
	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/record"
	"botd/strategy"
)

// These bound the daemon's behavior.
const (
	beliefMS         = 120_000 // how long the tracker may differ from the exchange without a declared state
	maxUnprotectedMS = 30_000  // time without a stop, after the faults end
	recentMS         = 25_000  // duration of an idle round with its reads
	maxLive          = 64      // placements that are not final
	maxRefused       = 16      // consecutive refusals of one kind on one symbol
	budgetMS         = 10_000
	maxInTen         = 400 // requests in ten seconds
)

// inspector checks the invariants after every event, against the exchange's state rather than the daemon's.
type inspector struct {
	w       *world
	budget  budget
	version uint64 // exchange version at the last check of the exposure
	sent    int64  // number of requests at the last check of the exposure

	booked    map[string]exchange.Quantity // filled quantity, by the records
	guessed   map[string]bool              // ended by the position equation
	uncertain map[string]int64             // start of the uncertainty
	refusals  map[refusalKey]int
	story     *story
	watched   []watch // by role
	figures   *figures
}

// watch is the inspector's state of one role.
type watch struct {
	role          *role
	held          *held
	wrongMS       int64 // when tracker and exchange began to differ without a declared state; 0 if they agree
	wrongFor      int   // complete rounds since then that waited for all reads
	knownMS       int64 // the last time a state was declared or an order uncertain
	unprotectedMS int64 // when a position lost its stop; 0 if it has one
	protected     bool
	bridged       bool // protected by a reduceOnly stop of the whole position while the other stop moves
	idle          int  // consecutive complete rounds that did nothing about a position the plan wants closed
}

type refusalKey struct {
	symbol exchange.SymbolKey
	code   int
}

func newInspector(w *world) *inspector {
	i := &inspector{w: w, booked: map[string]exchange.Quantity{}, guessed: map[string]bool{}, uncertain: map[string]int64{},
		refusals: map[refusalKey]int{}, story: newStory(), figures: newFigures(w)}
	for n := range w.portfolio.roles {
		r := &w.portfolio.roles[n]
		i.watched = append(i.watched, watch{role: r, held: w.venue.held[r.key]})
	}
	return i
}

// judge checks all invariants after an event.
func (i *inspector) judge() {
	w := i.w
	if w.stats.Events > maxEvents {
		w.fail("livelock", "more than %d events", maxEvents)
	}
	if len(w.agenda.entries) > maxAgenda {
		w.fail("memory", "%d entries are on the agenda", len(w.agenda.entries))
	}
	if version := w.venue.x.Version(); version != i.version || w.stats.Requests != i.sent {
		i.version, i.sent = version, w.stats.Requests
		i.exposure()
		i.wallet()
	}
	i.figures.attribution.compare()
	if w.daemon.up {
		i.belief()
		i.figures.compare()
	}
}

// wallet checks the exchange's wallet identity to the last digit.
func (i *inspector) wallet() {
	m := i.w.venue.x.Money(trader)
	if sum := m.Deposits.Add(m.Realized).Sub(m.Funding).Sub(m.Fees).Add(m.Insurance); sum != m.Wallet {
		i.w.fail("wallet", "the wallet holds %s, its parts add up to %s", m.Wallet, sum)
	}
}

// exposure checks, by the exchange's state, that |position| + open + uncertain openings stay within the limit.
func (i *inspector) exposure() {
	w := i.w
	for n := range i.watched {
		watch := &i.watched[n]
		var buys, sells exchange.Quantity
		watch.protected, watch.bridged = false, false
		w.venue.x.EachOpenOrder(trader, watch.role.key.Market, func(o *exchange.Order) {
			if o.Symbol != watch.role.key.Name {
				return
			}
			if o.ClosePosition && (o.Type == exchange.StopMarket) {
				watch.protected = true
			}
			covers := o.Type == exchange.StopMarket && o.Reduces() && o.Remaining() >= watch.held.position.Abs()
			watch.bridged = watch.bridged || covers && o.Side == exchange.SideOf(-watch.held.position) && w.venue.byOrder[o.ID] != nil
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
		for _, a := range w.venue.inFlight {
			if a.opens && a.order.Key() == watch.role.key {
				if a.order.Side == exchange.Buy {
					buys += w.venue.size(a)
				} else {
					sells += w.venue.size(a)
				}
			}
		}
		i.checkExposure(watch, buys, sells)
		i.followProtection(watch)
	}
}

func (i *inspector) checkExposure(watch *watch, buys, sells exchange.Quantity) {
	limit := watch.role.limit() + watch.held.slack
	position := watch.held.exposed()
	if long := position + buys; buys > 0 && long > limit {
		i.w.fail("exposure", "%s: position %d and %d that may still be bought are above %d", watch.role.key, position, buys, limit)
	}
	if short := sells - position; sells > 0 && short > limit {
		i.w.fail("exposure", "%s: position %d and %d that may still be sold are above %d", watch.role.key, position, sells, limit)
	}
	if position.Abs() > limit {
		i.w.fail("exposure", "%s: position %d is above %d", watch.role.key, position, limit)
	}
}

// followProtection measures how long a position lacks the stop of its plan.
func (i *inspector) followProtection(watch *watch) {
	if !watch.role.protected || watch.role.key.Market != exchange.Futures {
		return
	}
	if watch.held.position == 0 || watch.protected || i.w.foreign == reconcile.ForeignIgnore && watch.held.touchedMS != 0 {
		if watch.unprotectedMS != 0 {
			i.w.stats.unprotected(i.w.nowMS - watch.unprotectedMS)
		}
		watch.unprotectedMS = 0
	} else if watch.unprotectedMS == 0 {
		watch.unprotectedMS = i.w.nowMS
	}
}

// beliefRounds returns the number of complete rounds in which the tracker may differ without a declared state: at most
// a second between two rounds counts toward L, and a stale or torn list restarts the count.
func (w *world) beliefRounds() int { return 10 + 3*int(w.bounds.StalenessMS/1_000) }

// belief checks that the tracker equals the exchange or that a state is declared.
func (i *inspector) belief() {
	w := i.w
	tracker := w.daemon.machine.Tracker()
	if live := tracker.LiveCount(); live > maxLive {
		w.fail("memory", "%d placements are not final", live)
	}
	for n := range i.watched {
		watch := &i.watched[n]
		state := tracker.Symbol(watch.role.key)
		blind := w.daemon.machine.Blind(watch.role.key)
		declared := state.Quarantine() != "" || state.Contradicted() != "" || blind ||
			tracker.Halted().Level != record.LevelNone || i.outcomeUncertain(tracker, watch.role.key)
		if declared {
			watch.knownMS = w.nowMS
		}
		if watch.bridged && tracker.StandsDown() {
			watch.knownMS = w.nowMS // while botd stands down it moves no order: a bridge over the whole position stays, and is the stop
		}
		if declared || i.agrees(watch, state) {
			watch.wrongMS = 0
		} else if watch.wrongMS == 0 {
			watch.wrongMS, watch.wrongFor = w.nowMS, 0
		} else if w.nowMS-watch.wrongMS > beliefMS && watch.wrongFor > w.beliefRounds() {
			w.fail("belief", "%s: the book holds %d, the exchange %d, for %d s, and no state is declared", watch.role.key, state.Known(),
				watch.held.position, (w.nowMS-watch.wrongMS)/1000)
		}
		if w.quiet && watch.unprotectedMS != 0 && !declared && state.Ignored() == 0 &&
			w.nowMS-max(watch.unprotectedMS, w.daemon.bootMS, w.daemon.wokenMS, watch.knownMS) > maxUnprotectedMS {
			w.fail("protection", "%s: a position of %d is without its stop for %d s", watch.role.key, watch.held.position, (w.nowMS-watch.unprotectedMS)/1000)
		}
	}
}

// maxIdle bounds the complete rounds before an exit is sent. An exit waits, at most until the timeout with a round each
// second, for the answer to a resting exit in flight, which the exchange's sum already includes.
const maxIdle = timeoutMS/1_000 + 2

// rounded checks, after a complete round, that uncertainty never blocks a reduction. A round that did not wait
// for all reads does not count as a difference.
func (i *inspector) rounded(whole bool) {
	w := i.w
	for n := range i.watched {
		if whole {
			i.watched[n].wrongFor++
		}
	}
	if w.weather[RuleDrift]+w.weather[DiskFull]+w.weather[CommitFails]+w.weather[SlowDisk]+w.weather[ClockError] > 0 || w.daemon.stopping {
		return // other reasons can delay an exit
	}
	tracker := w.daemon.machine.Tracker()
	for n := range i.watched {
		watch := &i.watched[n]
		name, key, held := watch.role.name, watch.role.key, watch.held
		target, state := tracker.Strategy(name).Plan().Target(), tracker.Symbol(key)
		last, _ := w.venue.x.Price(key)
		sign := target.Sign()
		intended := target.Kind == strategy.NoTarget || sign != 0 && (sign > 0) == (held.position > 0)
		dust := held.rules.BelowMinimum(last, held.position.Abs())
		exiting := held.triedMS != 0 && w.nowMS-held.triedMS < 10_000
		if key.Market == exchange.Spot || intended || watch.role.absent || held.position == 0 || state.Position() == 0 || dust || exiting ||
			held.touchedMS != 0 {
			watch.idle = 0
		} else if watch.idle++; watch.idle > maxIdle {
			w.fail("exit_waits", "%s: the plan is flat, the position is %d, and no exit is sent", key, held.position)
		}
	}
}

func (i *inspector) agrees(watch *watch, state *reconcile.SymbolState) bool {
	if watch.role.key.Market == exchange.Spot {
		return true // checked at the end: the fees reduce the asset
	}
	return state.Known()+state.Ignored() == watch.held.position
}

func (i *inspector) outcomeUncertain(tracker *reconcile.Tracker, key exchange.SymbolKey) bool {
	for p := range tracker.Live() {
		if p.State().OutcomeUncertain() && p.Symbol() == key {
			return true
		}
	}
	return false
}
