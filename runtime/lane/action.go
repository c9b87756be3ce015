package lane

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/engine"
)

// haltRequest is one halt that the engine did not accept in time.
type haltRequest struct {
	halt     engine.EventHalt
	audit    *record.Audit
	accepted bool         // the engine has accepted it, if not durably
	sent     <-chan error // the answer of the first attempt; nil once answered
}

func (r *haltRequest) event() engine.Event {
	if r.audit == nil {
		return &r.halt
	}
	return &engine.EventAudited{Audit: r.audit, Event: &r.halt}
}

// records returns its records for the lane's file.
func (r *haltRequest) records(atMS int64) (all []record.Record) {
	if r.audit != nil {
		all = append(all, record.Record{AtMS: atMS, Body: *r.audit})
	}
	return append(all, record.Record{AtMS: atMS, Strategy: r.halt.Scope.Strategy, Symbol: r.halt.Scope.Symbol,
		Body: record.Halt{Level: r.halt.Level, Reason: r.halt.Reason}})
}

// action is the lane's activity from the first halt until the engine takes over. The lane's mutex
// guards its fields except end.
type action struct {
	sinceMS   int64
	cause     string
	requests  []haltRequest
	exposures []*exposure
	orders    []engine.LaneOrder
	news      bool                        // there are orders that the engine does not know
	state     [exchange.Spot + 1]progress // by market
	end       atomic.Bool                 // the engine takes over: no new requests
}

// progress is the lane's progress on one market.
type progress struct {
	read  bool     // both lists have been read after the newest request
	left  []string // orders and positions still to be canceled or closed
	blind []string // what cannot be seen or closed
}

// exposure is one strategy's symbol in the newest list.
type exposure struct {
	engine.Exposure
	requested record.HaltLevel            // level requested by the halts so far
	level     record.HaltLevel            // level being acted on, taken from requested
	canceled  map[int64]time.Time         // orders, and the time of their last cancel
	final     map[int64]exchange.Quantity // ended orders and their fills
	sale      *sale                       // spot: the newest sale until its end is known
	sold      exchange.Quantity           // spot: sold by ended sales
	closed    closing                     // futures: the newest close
	sent      exchange.Quantity           // futures: quantity of all closes that may have been executed
}

// closing is one close of a futures position.
type closing struct {
	at       time.Time // time of the answer
	from, by exchange.Quantity
	refused  bool
	why      string // of a refusal
}

func newAction(nowMS int64, exposures []engine.Exposure, left map[string]*passedPlacement, cause string) *action {
	a := &action{sinceMS: nowMS, cause: cause}
	for i := range exposures {
		t := &exposure{Exposure: exposures[i], canceled: map[int64]time.Time{}, final: map[int64]exchange.Quantity{}}
		t.Orders = nil
		for _, p := range exposures[i].Orders {
			if p.State() == placement.Sending { // the engine may not have received its outcome
				sent := left[p.ClientOrderID()]
				if sent == nil || sent.refused {
					continue // it was never sent, and is not sent while the lane acts
				}
				p = p.In(p.State(), sent.orderID)
			}
			t.Orders = append(t.Orders, p)
		}
		a.exposures = append(a.exposures, t)
	}
	return a
}

// add puts a halt in force.
func (a *action) add(p haltRequest) {
	a.requests = append(a.requests, p)
	for _, t := range a.exposures {
		if p.halt.Scope.Covers(t.Strategy, t.Symbol.Key()) {
			t.requested = max(t.requested, p.halt.Level)
		}
	}
}

// levelOf returns the level in force on a symbol.
func (a *action) levelOf(key exchange.SymbolKey) (level record.HaltLevel) {
	for i := range a.requests {
		if a.requests[i].halt.Scope == (account.Scope{}) {
			level = max(level, a.requests[i].halt.Level)
		}
	}
	for _, t := range a.exposures {
		if t.Symbol.Key() == key {
			level = max(level, t.requested)
		}
	}
	return level
}

// placement finds a journalled order by the exchange's id, otherwise by its client order id.
func (t *exposure) placement(o *exchange.Order) *account.Placement {
	for i := range t.Orders {
		p := &t.Orders[i]
		if p.OrderID() != 0 && p.OrderID() == o.ID || p.OrderID() == 0 && p.ClientOrderID() == o.ClientOrderID {
			return p
		}
	}
	return nil
}

// ends reports whether the lane cancels an order. What a halt ends after the position stays: it can only reduce.
func (t *exposure) ends(p *account.Placement) bool {
	return t.level.EndsFirst(p.Purpose(), t.Symbol.Market)
}

// maxClose returns the largest part of a position on one side that may be botd's: the listed part, plus
// the possible fills of its openings since.
func (t *exposure) maxClose(sign exchange.Quantity) (sum exchange.Quantity) {
	sum = max(0, t.Close*sign)
	for i := range t.Orders {
		if p := &t.Orders[i]; p.Purpose().Opens() && exchange.Quantity(p.Order().Side.Sign()) == sign {
			sum += p.Remaining()
		}
	}
	return sum
}

// Degraded returns the halt as a declared state while the lane acts.
func (l *Lane) Degraded() (all []engine.Degraded) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.acting
	if a == nil {
		return nil
	}
	for i := range a.requests {
		p := &a.requests[i]
		d := engine.Degraded{State: "halted", Scope: p.halt.Scope, Cause: p.halt.Level.String() + ": " + p.halt.Reason, SinceMS: a.sinceMS,
			Remedy: "botd rearm, once the engine answers; until then the kill switch acts without it"}
		if p.halt.Level.EndsOrders() {
			d.Remaining, d.Blind = a.remaining()
		}
		all = append(all, d)
	}
	return append(all, engine.Degraded{State: "lane", Cause: a.cause, SinceMS: a.sinceMS,
		Remedy: "ends when the engine answers and the journal can be written; the log names the cause"})
}

// remaining returns what is left to do on both markets.
func (a *action) remaining() (left string, blind []string) {
	var lines []string
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		s := &a.state[market]
		if !s.read && len(s.left) == 0 && len(s.blind) == 0 && a.trades(market) {
			lines = append(lines, market.String()+" is being read")
		}
		lines, blind = append(lines, s.left...), append(blind, s.blind...)
	}
	return strings.Join(lines, "; "), blind
}

func (a *action) trades(market exchange.Market) bool {
	return slices.ContainsFunc(a.exposures, func(t *exposure) bool { return t.Symbol.Market == market })
}

// Preview describes the requests of a halt, by the newest list.
func (l *Lane) Preview(level record.HaltLevel, scope account.Scope) (lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := newAction(0, l.exposures, l.passed, "")
	a.add(haltRequest{halt: engine.EventHalt{Scope: scope, Level: level}})
	for _, t := range a.exposures {
		t.level = t.requested
		for i := range t.Orders {
			if p := &t.Orders[i]; t.ends(p) {
				lines = append(lines, engine.CancelText(p.OrderID(), p.ClientOrderID(), t.Symbol.Key()))
			}
		}
		if t.level == record.LevelFlatten && t.Close != 0 {
			lines = append(lines, fmt.Sprintf("close %s of %s", t.Symbol.QuantityDecimal(t.Close), t.Symbol.Key()))
		}
	}
	return lines
}
