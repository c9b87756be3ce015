package simulation

import (
	"fmt"
	"strings"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// record checks a durable record.
func (i *inspector) record(r *record.Record) {
	if i.w.process.number > 0 {
		return // the story follows only the first process
	}
	i.story.add(r)
	if i.w.beyond != nil {
		i.w.judge.liquidated(r)
		return
	}
	i.figures.attribution.record(r)
	switch body := r.Body.(type) {
	case record.Sending:
		i.entering(r, &body)
		if h := i.w.venue.held[r.Symbol]; h != nil && body.Order.ReduceOnly && body.Order.Type == exchange.MarketOrder {
			h.triedMS = i.w.nowMS
		}
	case record.Uncertain:
		i.uncertain[r.ClientOrderID] = i.w.nowMS
	case record.Fill:
		i.filled(r, body.Filled, "")
	case record.Ended:
		i.filled(r, body.Filled, body.Evidence)
	case record.Posting:
		i.posted(&body.Posting)
	case record.Day:
		i.figures.dayed(r, &body)
	case record.Breach:
		if i.w.limits.far && body.Reason != "" && !i.distorted() {
			i.w.fail("needless", "a limit that is far away is breached: %s %s", body.Rule, body.Reason)
		}
	case record.Quarantined:
		if !i.othersExplain(r.Symbol, body.Cause) {
			i.w.fail("needless", "%s is quarantined though nobody else touched it: %s", r.Symbol, body.Reason)
		}
	case record.Adopted:
		h := i.w.venue.held[r.Symbol]
		if i.w.foreign == reconcile.ForeignHalt && strings.Contains(body.Evidence, "foreign: adopt") {
			i.w.fail("foreign", "%s: %d is adopted, and the policy is to halt", r.Symbol, body.Quantity)
		}
		if seen := strings.Contains(body.Evidence, "closed before it was seen"); h != nil && h.touchedMS == 0 && body.Quantity != 0 && !seen {
			i.w.fail("needless", "%s: %d is adopted though nobody else touched it: %s", r.Symbol, body.Quantity, body.Evidence)
		}
	}
}

func (i *inspector) posted(p *ledger.Posting) {
	if i.w.tracing {
		for _, line := range p.Lines {
			i.w.tracef("ledger", "%s %s %s %s", line.Account, line.Symbol, line.Amount, line.Asset)
		}
	}
	if asset, sum := p.Balanced(); !sum.IsZero() {
		i.w.fail("ledger", "the lines of an entry add up to %s %s", sum, asset)
	}
}

// distorted reports whether equity may have changed by something other than market moves: other traders, or
// an account with almost no money.
func (i *inspector) distorted() bool { return i.w.poor || i.touched(exchange.Futures, exchange.Spot) }

// entering checks an entry against the latch: the same plan must not reopen a position
// that its protection closed.
func (i *inspector) entering(r *record.Record, body *record.Sending) {
	if body.Purpose != placement.Entry {
		return
	}
	if latch := i.story.latched[r.Strategy]; latch != 0 && int64(latch) == body.Order.Side.Sign() {
		i.w.fail("latch", "%s enters again on the side its protection ended, by the same plan", r.ClientOrderID)
	}
}

// filled checks that each fill is booked once and never shrinks.
func (i *inspector) filled(r *record.Record, filled exchange.Quantity, evidence string) {
	if since, found := i.uncertain[r.ClientOrderID]; found {
		delete(i.uncertain, r.ClientOrderID)
		i.w.stats.decidedAfter(i.w.nowMS - since)
	}
	before := i.booked[r.ClientOrderID]
	if strings.Contains(evidence, "the position after the fence") {
		i.guessed[r.ClientOrderID] = true // inferred from the sum of all placements, and checked by that sum
	}
	if filled < before {
		i.w.fail("fill_once", "%s had %d filled and is booked with %d", r.ClientOrderID, before, filled)
	}
	i.booked[r.ClientOrderID] = filled
	a := i.w.venue.placed[r.ClientOrderID]
	if a == nil {
		if h := i.w.venue.held[r.Symbol]; filled != 0 && h != nil && h.touchedMS == 0 && !i.guessed[r.ClientOrderID] {
			i.w.fail("fill_once", "%s was never sent and is booked with %d filled", r.ClientOrderID, filled)
		}
		return
	}
	if h := i.w.venue.held[a.order.Key()]; filled > a.filled && h.touchedMS == 0 && !i.guessed[r.ClientOrderID] {
		i.w.fail("fill_once", "%s is booked with %d filled, the exchange filled %d", r.ClientOrderID, filled, a.filled)
	}
}

// booted drops the state that was not durable when the process died.
func (i *inspector) booted() {
	if i.w.process.number > 0 {
		return
	}
	clear(i.booked)
	i.figures.booted()
	i.story = newStory()
	for n := range i.w.disk.records {
		r := &i.w.disk.records[n]
		i.story.add(r)
		if filled, _, ok := r.Filled(); ok {
			i.booked[r.ClientOrderID] = max(i.booked[r.ClientOrderID], filled)
		}
	}
}

// story is the state of each strategy by the durable records, separate from the tracker.
type story struct {
	latched map[string]int    // side of the target that a protection ended
	target  map[string]int    // side of the plan's target
	planMS  map[string]int64  // time since which the target is unchanged
	guards  map[string]string // protection orders by client order id, with their strategy
	filled  map[string]bool   // the protection orders that filled
	last    map[string]string // the target as text, to detect a change

	quarantined map[exchange.SymbolKey]bool
	halts       map[account.Scope]bool
	breaches    map[breach]int64 // end of each breach; 0 for an open end
	freeMS      map[string]int64 // end of the last limit of a strategy, or of the trader
	shut        bool             // a person has set a limit that allows no opening
}

// breach is a limit that was exceeded.
type breach struct{ strategy, rule string }

func newStory() *story {
	return &story{map[string]int{}, map[string]int{}, map[string]int64{}, map[string]string{}, map[string]bool{}, map[string]string{},
		map[exchange.SymbolKey]bool{}, map[account.Scope]bool{}, map[breach]int64{}, map[string]int64{}, false}
}

// limited reports whether a limit blocks a strategy's openings at that time.
func (s *story) limited(strategy string, atMS int64) bool {
	for b, until := range s.breaches {
		if (b.strategy == "" || b.strategy == strategy) && (until == 0 || atMS < until) {
			return true
		}
	}
	return false
}

// halted reports whether a halt covers a strategy's symbol.
func (s *story) halted(strategy string, key exchange.SymbolKey) bool {
	for scope := range s.halts {
		if scope.Covers(strategy, key) {
			return true
		}
	}
	return false
}

func (s *story) add(r *record.Record) {
	switch body := r.Body.(type) {
	case record.Sending:
		if body.Purpose.Protects() {
			s.guards[r.ClientOrderID] = r.Strategy
		}
	case record.Fill, record.Ended:
		filled, _, _ := r.Filled()
		if strategy, guards := s.guards[r.ClientOrderID]; guards && filled > 0 && !s.filled[r.ClientOrderID] {
			s.filled[r.ClientOrderID], s.latched[strategy] = true, s.target[strategy]
		}
	case record.Plan:
		if target := fmt.Sprint(body.Plan.Target); target != s.last[r.Strategy] {
			s.last[r.Strategy], s.planMS[r.Strategy] = target, r.AtMS
		}
		if s.target[r.Strategy] = body.Plan.Target.Sign(); s.target[r.Strategy] != s.latched[r.Strategy] {
			s.latched[r.Strategy] = 0
		}
	case record.Latch:
		s.latched[r.Strategy] = body.Side
	case record.Limit:
		s.shut = body.Value != ""
	case record.Quarantined:
		s.quarantined[r.Symbol] = true
	case record.Adopted, record.Ignored:
		delete(s.quarantined, r.Symbol)
	case record.Breach:
		if b := (breach{r.Strategy, body.Rule}); body.Reason != "" {
			s.breaches[b] = body.UntilMS
			s.freeMS[r.Strategy] = max(s.freeMS[r.Strategy], body.UntilMS)
		} else {
			delete(s.breaches, b)
			s.freeMS[r.Strategy] = max(s.freeMS[r.Strategy], r.AtMS)
		}
	case record.Halt:
		if scope := (account.Scope{Strategy: r.Strategy, Symbol: r.Symbol}); body.Level != record.LevelNone {
			s.halts[scope] = true
		} else {
			delete(s.halts, scope)
		}
	}
}
