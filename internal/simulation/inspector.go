package simulation

import (
	"botd/exchange"
	"botd/reconcile"
	"botd/strategy"
)

// Bounds the inspector holds the daemon to.
const (
	beliefMS          = 120_000 // belief may differ from the exchange that long without a declared state
	mostUnprotectedMS = 30_000  // without a stop, once it is quiet
	recentMS          = 25_000  // an idle round and its reads
	mostLive          = 64      // placements that are not final
	mostRefused       = 16      // refusals of one kind in a row on one symbol
	budgetMS          = 10_000
	mostInTen         = 400 // requests in ten seconds
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
	story     *story
	watched   []watch // by role
}

// watch is what is followed about one role.
type watch struct {
	role          *role
	held          *held
	wrongMS       int64 // since when belief and exchange differ undeclared; 0 for not
	wrongFor      int   // complete rounds since then
	knownMS       int64 // until when a state was declared, or something was unknown
	unprotectedMS int64 // since when a position is without its stop; 0 for not
	protected     bool
	idle          int // complete rounds in a row that did nothing about a position the plan wants gone
}

type refusalKey struct {
	symbol exchange.SymbolKey
	code   int
}

func newInspector(w *world) *inspector {
	i := &inspector{w: w, booked: map[string]exchange.Quantity{}, guessed: map[string]bool{}, uncertain: map[string]int64{}, refusals: map[refusalKey]int{}, story: newStory()}
	for n := range w.portfolio.roles {
		r := &w.portfolio.roles[n]
		i.watched = append(i.watched, watch{role: r, held: w.venue.held[r.key]})
	}
	return i
}

// judge judges the state of things after an event.
func (i *inspector) judge() {
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
		for _, a := range w.venue.inFlight {
			if a.opens && a.order.Key() == watch.role.key {
				if a.order.Side == exchange.Buy {
					buys += w.venue.size(a)
				} else {
					sells += w.venue.size(a)
				}
			}
		}
		i.within(watch, buys, sells)
		i.followProtection(watch)
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

// followProtection follows how long a position is without the stop its plan wants.
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

// beliefRounds is how many complete rounds belief may differ undeclared: of the
// time between two no more than a second counts towards L, and a list that is
// stale or torn begins it anew.
func (w *world) beliefRounds() int { return 10 + 3*int(w.bounds.StalenessMS/1_000) }

// belief: what the daemon believes is true, or it says that it does not know.
func (i *inspector) belief() {
	w := i.w
	book := w.daemon.machine.Book()
	if live := len(book.Live()); live > mostLive {
		w.fail("memory", "%d placements are not final", live)
	}
	for n := range i.watched {
		watch := &i.watched[n]
		state := book.Symbol(watch.role.key)
		declared := state.Quarantine != "" || w.daemon.machine.Blind() || book.Halted().Level != reconcile.LevelNone || i.unresolved(book, watch.role.key)
		if declared {
			watch.knownMS = w.nowMS
		}
		if declared || i.agrees(watch, state) {
			watch.wrongMS = 0
		} else if watch.wrongMS == 0 {
			watch.wrongMS, watch.wrongFor = w.nowMS, 0
		} else if w.nowMS-watch.wrongMS > beliefMS && watch.wrongFor > w.beliefRounds() {
			w.fail("belief", "%s: %d believed, %d true, for %d s, and nothing is declared", watch.role.key, state.Known, watch.held.position, (w.nowMS-watch.wrongMS)/1000)
		}
		if w.quiet && watch.unprotectedMS != 0 && !declared && state.Ignored == 0 && w.nowMS-max(watch.unprotectedMS, w.daemon.bootMS, w.daemon.wokenMS, watch.knownMS) > mostUnprotectedMS {
			w.fail("protection", "%s: a position of %d is without its stop for %d s", watch.role.key, watch.held.position, (w.nowMS-watch.unprotectedMS)/1000)
		}
	}
}

// mostIdle is how many complete rounds may pass before an exit goes out.
const mostIdle = 8

// rounded judges after a complete round: uncertainty never blocks what reduces.
func (i *inspector) rounded() {
	w := i.w
	for n := range i.watched {
		i.watched[n].wrongFor++
	}
	if w.weather[RuleDrift]+w.weather[DiskFull]+w.weather[CommitFails]+w.weather[SlowDisk]+w.weather[ClockError] > 0 || w.daemon.stopping {
		return // other reasons why an exit waits
	}
	book := w.daemon.machine.Book()
	for n := range i.watched {
		watch := &i.watched[n]
		name, key, held := watch.role.name, watch.role.key, watch.held
		target, state := book.Strategy(name).Plan.Target, book.Symbol(key)
		last, _ := w.venue.x.Price(key)
		sign := target.Sign()
		wanted := target.Kind == strategy.NoTarget || sign != 0 && (sign > 0) == (held.position > 0)
		dust := held.rules.Notional(last, max(held.position, -held.position)).Less(held.rules.MinNotional)
		exiting := held.triedMS != 0 && w.nowMS-held.triedMS < 10_000
		if key.Market == exchange.Spot || wanted || watch.role.absent || held.position == 0 || state.Position == 0 || dust || exiting || held.touchedMS != 0 {
			watch.idle = 0
		} else if watch.idle++; watch.idle > mostIdle {
			w.fail("exit_waits", "%s: the plan is flat, %d are held, and nothing goes out", key, held.position)
		}
	}
}

func (i *inspector) agrees(watch *watch, state *reconcile.SymbolTruth) bool {
	if watch.role.key.Market == exchange.Spot {
		return true // judged at the end: fees are taken from the asset
	}
	return state.Known+state.Ignored == watch.held.position
}

func (i *inspector) unresolved(book *reconcile.Book, key exchange.SymbolKey) bool {
	for _, p := range book.Live() {
		if p.State.Unresolved() && p.Order.Key() == key {
			return true
		}
	}
	return false
}
