// Package oracle judges an account from its order and trade log alone: positions, exposure and protection.
//
// It is a second model of trading. A judge must not share code with what it judges, so
// the package imports neither the simulated exchange nor any other package of botd. The
// caller passes events in the order in which they happened on the exchange. The oracle
// keeps its own sums and reports violations of these rules:
//
//   - exposure: the position, together with everything that can still open, exceeds
//     the limit by at most one placement;
//   - unprotected: a position that a read has shown to botd has a stop on the exchange
//     within the given patience, unless the exchange would not have accepted one;
//   - oversold: on spot, botd sells no more than its own orders bought, except for dust;
//   - flipped: an order that may only reduce never takes a position across zero.
//
// Quantities are integers. Their unit is the caller's choice, but the same for all
// quantities of a symbol. Times are milliseconds and never go back. The rules are those
// of the interface (futures rules 1 to 7) and of exactly-once.md, "How it is proven".
package oracle

import (
	"cmp"
	"fmt"
	"slices"
)

// Symbol names a market and a symbol of it.
type Symbol struct {
	Spot bool
	Name string
}

func (s Symbol) String() string {
	if s.Spot {
		return "spot " + s.Name
	}
	return "futures " + s.Name
}

// Order is an order as the exchange accepted it.
type Order struct {
	ID            int64
	Repeated      bool // the exchange executed a placement again: nobody requested this sale
	Own           bool // placed by the botd under judgment
	Symbol        Symbol
	Buy           bool
	Quantity      int64 // base units; 0 for a closePosition order, which closes the whole position
	Stop          bool  // triggers at a price against the position: STOP, STOP_MARKET, STOP_LIMIT
	ReduceOnly    bool
	ClosePosition bool
}

// opens reports whether the order can open or increase a position.
func (o *Order) opens() bool {
	if o.Symbol.Spot {
		return o.Buy
	}
	return !o.ReduceOnly && !o.ClosePosition
}

// Fill is one execution. OrderID is 0 for an execution of the exchange's own (a liquidation).
type Fill struct {
	OrderID  int64
	Symbol   Symbol
	Buy      bool
	Quantity int64
}

// Limits are the bounds that a symbol is judged by.
type Limits struct {
	Position  int64 // maximum position or opening on either side; 0 for no bound
	Placement int64 // largest single placement: the excess that exactly-once.md allows beyond its bounds
	Protected bool  // a position must have a stop on the exchange
	Dust      int64 // a position up to this size needs no stop: no order of that size exists
	Rest      int64 // spot: maximum remainder after a sale of everything, since orders are in whole steps and fees are not
}

// Violation is a broken rule.
type Violation struct {
	AtMS   int64
	Rule   string // exposure, unprotected, oversold, flipped
	Symbol Symbol
	Text   string
}

func (v Violation) String() string {
	return fmt.Sprintf("%d %s %s: %s", v.AtMS, v.Rule, v.Symbol, v.Text)
}

// Oracle follows one account. Use New: its zero value is not usable. It is not safe for concurrent use.
type Oracle struct {
	patienceMS int64
	nowMS      int64
	states     []*state // sorted by symbol
	orders     map[int64]*resting
	violations []Violation
	gaps       []int64 // lengths of ended periods without protection, in milliseconds
}

// resting is an order that can still fill.
type resting struct {
	order  Order
	filled int64
}

func (r *resting) remaining() int64 { return max(0, r.order.Quantity-r.filled) }

// state is the state of one symbol.
type state struct {
	symbol   Symbol
	limits   Limits
	position int64 // signed, over all participants
	bought   int64 // spot: bought by own orders
	sold     int64
	rest     int64 // spot: remainders of sales, which no order can sell
	foreign  int64 // added by others to either side: not botd's fault
	unnamed  int64 // spot: quantity that no read has shown to be botd's

	unprotectedMS int64 // start of the time without protection; -1 while protected
	unseenMS      int64 // time of the fill since which a position, or a part of it without a stop, exists: no earlier state shows it
	shownMS       int64 // time at which a read first showed that position; -1 for not yet
	excusedMS     int64 // last time at which botd could not have placed a stop; -1 for never
	reported      bool  // the current time without protection is reported
	excess        bool  // the current excess exposure is reported
}

// New returns an oracle that allows a shown position to be without a stop for patienceMS.
func New(patienceMS int64) *Oracle {
	return &Oracle{patienceMS: patienceMS, orders: map[int64]*resting{}}
}

// Judge sets a symbol's bounds. A symbol without bounds is followed and judged by flips only.
func (o *Oracle) Judge(symbol Symbol, limits Limits) {
	s := o.state(symbol)
	before := s.limits.Dust
	if s.limits = limits; before != limits.Dust { // the smallest possible order has changed
		o.judge(s)
	}
}

func (o *Oracle) state(symbol Symbol) *state {
	i, found := slices.BinarySearchFunc(o.states, symbol, func(s *state, want Symbol) int {
		if s.symbol.Spot != want.Spot {
			if want.Spot {
				return -1
			}
			return 1
		}
		return cmp.Compare(s.symbol.Name, want.Name)
	})
	if !found {
		o.states = slices.Insert(o.states, i, &state{symbol: symbol, unprotectedMS: -1, shownMS: -1, excusedMS: -1})
	}
	return o.states[i]
}

// Accepted records an order that the exchange accepted, regardless of its response.
func (o *Oracle) Accepted(atMS int64, order Order) {
	o.Advance(atMS)
	o.orders[order.ID] = &resting{order: order}
	s := o.state(order.Symbol)
	if !order.Own && order.opens() {
		s.foreign += order.Quantity
	}
	o.judge(s)
}

// Filled records an execution of an order, or one of the exchange's own.
func (o *Oracle) Filled(atMS int64, fill Fill) {
	o.Advance(atMS)
	s := o.state(fill.Symbol)
	signed := fill.Quantity
	if !fill.Buy {
		signed = -signed
	}
	before := s.position
	s.position += signed
	r := o.orders[fill.OrderID]
	if own := r != nil && r.order.Own; fill.Symbol.Spot && !own && !fill.Buy {
		s.position = max(s.position, min(before, 0)) // others sell the excess from the account's earlier holdings
	}
	if r != nil {
		r.filled += fill.Quantity
		if !r.order.opens() && !fill.Symbol.Spot && before != 0 && s.position != 0 && (before > 0) != (s.position > 0) {
			o.report(s, "flipped", fmt.Sprintf("order %d may only reduce and took %d to %d", r.order.ID, before, s.position))
		}
	}
	if r != nil && r.order.Own && fill.Symbol.Spot {
		switch {
		case fill.Buy:
			s.bought += fill.Quantity
		case r.order.Repeated:
		default:
			if s.sold += fill.Quantity; s.sold > s.bought+s.limits.Dust {
				o.report(s, "oversold", fmt.Sprintf("own orders sold %d and bought %d", s.sold, s.bought))
			}
			if left := s.position - s.rest; left >= 0 && left <= s.limits.Rest {
				s.rest = s.position
			}
		}
	}
	if (before > 0) != (s.position > 0) || before == 0 || s.position == 0 {
		s.unseenMS, s.shownMS, s.reported = atMS, -1, false // a new position, or none: no read has shown it yet
		o.close(s)
	}
	covered := s.unprotectedMS < 0
	o.judge(s)
	if covered && s.unprotectedMS >= 0 {
		s.unseenMS, s.shownMS = atMS, -1 // no read has shown the part that the stops do not cover
	}
}

// Ended records the end of an order: filled, canceled, rejected or swept.
func (o *Oracle) Ended(atMS, orderID int64) {
	o.Advance(atMS)
	r := o.orders[orderID]
	if r == nil {
		return
	}
	delete(o.orders, orderID)
	o.judge(o.state(r.order.Symbol))
}

// Shown records that a read showed botd the symbol's position as it was at stateMS. If the position, or the part of it without a stop, existed by then, botd
// has no excuse from now on.
func (o *Oracle) Shown(atMS, stateMS int64, symbol Symbol) {
	o.Advance(atMS)
	if s := o.state(symbol); s.position != 0 && s.shownMS < 0 && stateMS >= s.unseenMS {
		s.shownMS = atMS
	}
}

// Unnamed sets the spot quantity that no read has shown to be botd's: a wallet does not show the owner.
func (o *Oracle) Unnamed(atMS int64, symbol Symbol, quantity int64) {
	o.Advance(atMS)
	s := o.state(symbol)
	covered := s.unprotectedMS < 0
	s.unnamed = quantity
	o.judge(s)
	if covered && s.unprotectedMS >= 0 {
		s.shownMS = -1
	}
}

// Excused records that botd could not have placed a stop at that moment: the exchange refused one, one was in
// flight, or no process was running. The patience starts again.
func (o *Oracle) Excused(atMS int64, symbol Symbol) {
	o.state(symbol).excusedMS = atMS
	o.Advance(atMS)
}

// Restarted records that botd lost its memory: no read has shown anything to the new process.
func (o *Oracle) Restarted(atMS int64) {
	o.Advance(atMS)
	for _, s := range o.states {
		s.shownMS = -1
	}
}

// Advance advances the time.
func (o *Oracle) Advance(toMS int64) {
	if toMS < o.nowMS {
		panic(fmt.Sprintf("oracle: time goes back from %d to %d", o.nowMS, toMS))
	}
	o.nowMS = toMS
	for _, s := range o.states {
		o.judgeProtection(s)
	}
}

// judge evaluates a symbol's state after a change in its log.
func (o *Oracle) judge(s *state) {
	o.judgeExposure(s)
	switch protected := o.protected(s); {
	case protected && s.unprotectedMS >= 0:
		o.close(s)
	case !protected && s.unprotectedMS < 0:
		s.unprotectedMS = o.nowMS
	}
}

// close ends a period without protection.
func (o *Oracle) close(s *state) {
	if s.limits.Protected && s.unprotectedMS >= 0 && o.nowMS > s.unprotectedMS {
		o.gaps = append(o.gaps, o.nowMS-s.unprotectedMS)
	}
	s.unprotectedMS, s.reported = -1, false
}

// judgeExposure compares the position and all possible openings with the limit.
func (o *Oracle) judgeExposure(s *state) {
	if s.limits.Position == 0 {
		return
	}
	long, short := o.Exposure(s.symbol)
	most := s.limits.Position + s.limits.Placement + s.foreign + s.rest
	if worst := max(long, short); worst <= most {
		s.excess = false
	} else if !s.excess {
		s.excess = true
		o.report(s, "exposure", fmt.Sprintf("%d held and %d at worst, where %d are allowed and one placement is %d", s.position, worst, s.limits.Position,
			s.limits.Placement))
	}
}

// judgeProtection reports a shown position that has been without a stop for too long.
func (o *Oracle) judgeProtection(s *state) {
	if s.unprotectedMS < 0 || s.shownMS < 0 || s.reported || !s.limits.Protected {
		return
	}
	since := max(s.unprotectedMS, s.shownMS, s.excusedMS)
	if o.nowMS-since > o.patienceMS {
		s.reported = true
		o.report(s, "unprotected", fmt.Sprintf("%d held and shown, and without a stop for %d ms", s.position, o.nowMS-since))
	}
}

// protected reports whether stops on the exchange cover the whole position, or
// there is nothing to protect.
func (o *Oracle) protected(s *state) bool {
	held := s.position - s.rest - min(s.unnamed, max(0, s.position))
	size := max(held, -held)
	if size <= s.limits.Dust || s.symbol.Spot && held < 0 {
		return true // on spot a negative position is a foreign sale, which needs no protection
	}
	covered := int64(0)
	for _, r := range o.orders {
		if r.order.Symbol != s.symbol || !r.order.Stop || r.order.Buy == (s.position > 0) {
			continue
		}
		if r.order.ClosePosition {
			return true
		}
		if r.order.ReduceOnly || s.symbol.Spot {
			covered += r.remaining()
		}
	}
	return covered >= size-s.limits.Dust
}

// Exposure returns the worst-case position if everything that can open were filled: on the long side, and on the short side as a positive number.
func (o *Oracle) Exposure(symbol Symbol) (long, short int64) {
	position := o.state(symbol).position
	long, short = max(position, 0), max(-position, 0)
	buys, sells := int64(0), int64(0)
	for _, r := range o.orders {
		switch {
		case r.order.Symbol != symbol || !r.order.opens():
		case r.order.Buy:
			buys += r.remaining()
		default:
			sells += r.remaining()
		}
	}
	if buys > 0 {
		long = max(long, position+buys)
	}
	if sells > 0 {
		short = max(short, sells-position)
	}
	return long, short
}

// Violations returns the violations, oldest first.
func (o *Oracle) Violations() []Violation { return o.violations }

// Gaps returns the lengths of all ended periods without protection in milliseconds, shortest first.
func (o *Oracle) Gaps() []int64 {
	gaps := slices.Clone(o.gaps)
	slices.Sort(gaps)
	return gaps
}

func (o *Oracle) report(s *state, rule, text string) {
	o.violations = append(o.violations, Violation{AtMS: o.nowMS, Rule: rule, Symbol: s.symbol, Text: text})
}
