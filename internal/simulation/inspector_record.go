package simulation

import (
	"fmt"
	"strings"

	"botd/exchange"
	"botd/reconcile"
)

// record judges what was written down.
func (i *inspector) record(r *reconcile.Record) {
	i.story.take(r)
	switch r.Kind {
	case reconcile.RecordSending:
		i.entering(r)
		if h := i.w.venue.held[r.Symbol]; h != nil && r.Order.ReduceOnly && r.Order.Type == exchange.MarketOrder {
			h.triedMS = i.w.nowMS
		}
	case reconcile.RecordUnknown:
		i.uncertain[r.ClientOrderID] = i.w.nowMS
	case reconcile.RecordFill, reconcile.RecordEnded:
		i.filled(r)
		if since, found := i.uncertain[r.ClientOrderID]; found {
			delete(i.uncertain, r.ClientOrderID)
			i.w.stats.resolved(i.w.nowMS - since)
		}
	case reconcile.RecordEntry:
		if i.w.tracing {
			for _, line := range r.Entry.Lines {
				i.w.tracef("ledger", "%s %s %s %s", line.Account, line.Symbol, line.Amount, line.Asset)
			}
		}
		if asset, sum := r.Entry.Balanced(); !sum.IsZero() {
			i.w.fail("ledger", "the lines of an entry sum up to %s %s", sum, asset)
		}
	case reconcile.RecordBreach:
		if i.w.limits.far && r.Why != "" && !i.calamity() {
			i.w.fail("needless", "a limit that is far away is breached: %s %s", r.Rule, r.Why)
		}
	case reconcile.RecordQuarantined:
		if h := i.w.venue.held[r.Symbol]; h != nil && h.handMS == 0 {
			i.w.fail("needless", "%s is quarantined though nobody else touched it: %s", r.Symbol, r.Why)
		}
	case reconcile.RecordAdopted:
		h := i.w.venue.held[r.Symbol]
		if i.w.foreign == reconcile.ForeignHalt && strings.Contains(r.Evidence, "foreign: adopt") {
			i.w.fail("foreign", "%s: %d is adopted, and the policy is to halt", r.Symbol, r.Filled)
		}
		if seen := strings.Contains(r.Evidence, "closed before it was seen"); h != nil && h.handMS == 0 && r.Filled != 0 && !seen {
			i.w.fail("needless", "%s: %d is adopted though nobody else touched it: %s", r.Symbol, r.Filled, r.Evidence)
		}
	}
}

// calamity reports whether equity may have changed by more than the market does:
// by others, by an account that holds next to nothing, or by what was forgotten.
func (i *inspector) calamity() bool { return i.w.poor || i.byHand() }

// entering judges an entry by the latch: a position that its protection ended is
// not opened again by the plan that still stands.
func (i *inspector) entering(r *reconcile.Record) {
	if r.Purpose != reconcile.Entry {
		return
	}
	if latch := i.story.latched[r.Strategy]; latch != 0 && int64(latch) == r.Order.Side.Sign() {
		i.w.fail("latch", "%s enters again on the side its protection ended, by the same plan", r.ClientOrderID)
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
	i.story = newStory()
	for n := range i.w.disk.records {
		i.story.take(&i.w.disk.records[n])
		if r := &i.w.disk.records[n]; r.Kind == reconcile.RecordFill || r.Kind == reconcile.RecordEnded {
			i.booked[r.ClientOrderID] = max(i.booked[r.ClientOrderID], r.Filled)
		}
	}
}

// story is what the durable records say of each strategy, read apart from the book.
type story struct {
	latched map[string]int    // the side of the target a protection ended
	target  map[string]int    // the side of the plan's target
	planMS  map[string]int64  // since when the target is what it is
	guards  map[string]string // protections, by client order id: whose
	filled  map[string]bool   // those of them that filled
	last    map[string]string // the target as text, to see it change

	quarantined map[exchange.SymbolKey]bool
	halts       map[reconcile.Scope]bool
	breaches    map[breach]int64 // until when, 0 for open end
	freeMS      map[string]int64 // when a limit of a strategy, or of the account, last ended
	shut        bool             // a person has set a limit that allows nothing
}

// breach is a limit that was crossed.
type breach struct{ strategy, rule string }

func newStory() *story {
	return &story{map[string]int{}, map[string]int{}, map[string]int64{}, map[string]string{}, map[string]bool{}, map[string]string{},
		map[exchange.SymbolKey]bool{}, map[reconcile.Scope]bool{}, map[breach]int64{}, map[string]int64{}, false}
}

// limited reports whether a limit keeps a strategy from opening at that time.
func (s *story) limited(strategy string, atMS int64) bool {
	for b, until := range s.breaches {
		if (b.strategy == "" || b.strategy == strategy) && (until == 0 || atMS < until) {
			return true
		}
	}
	return false
}

// halted reports whether a halt holds for a strategy's symbol.
func (s *story) halted(strategy string, key exchange.SymbolKey) bool {
	for scope := range s.halts {
		if scope.Covers(strategy, key) {
			return true
		}
	}
	return false
}

func (s *story) take(r *reconcile.Record) {
	switch r.Kind {
	case reconcile.RecordSending:
		if r.Purpose.Protects() {
			s.guards[r.ClientOrderID] = r.Strategy
		}
	case reconcile.RecordFill, reconcile.RecordEnded:
		if strategy, guards := s.guards[r.ClientOrderID]; guards && r.Filled > 0 && !s.filled[r.ClientOrderID] {
			s.filled[r.ClientOrderID], s.latched[strategy] = true, s.target[strategy]
		}
	case reconcile.RecordPlan:
		if target := fmt.Sprint(r.Plan.Target); target != s.last[r.Strategy] {
			s.last[r.Strategy], s.planMS[r.Strategy] = target, r.AtMS
		}
		if s.target[r.Strategy] = r.Plan.Target.Sign(); s.target[r.Strategy] != s.latched[r.Strategy] {
			s.latched[r.Strategy] = 0
		}
	case reconcile.RecordLatch:
		s.latched[r.Strategy] = r.Latch
	case reconcile.RecordLimit:
		s.shut = r.Limit != ""
	case reconcile.RecordQuarantined:
		s.quarantined[r.Symbol] = true
	case reconcile.RecordAdopted, reconcile.RecordIgnored:
		delete(s.quarantined, r.Symbol)
	case reconcile.RecordBreach:
		if b := (breach{r.Strategy, r.Rule}); r.Why != "" {
			s.breaches[b] = r.UntilMS
			s.freeMS[r.Strategy] = max(s.freeMS[r.Strategy], r.UntilMS)
		} else {
			delete(s.breaches, b)
			s.freeMS[r.Strategy] = max(s.freeMS[r.Strategy], r.AtMS)
		}
	case reconcile.RecordHalt:
		if scope := (reconcile.Scope{Strategy: r.Strategy, Symbol: r.Symbol}); r.Level != reconcile.LevelNone {
			s.halts[scope] = true
		} else {
			delete(s.halts, scope)
		}
	}
}
