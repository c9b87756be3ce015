package simulation

import (
	"math/big"
	"slices"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/reconcile/record"
)

// attribution checks how botd divides each change of the futures wallet among its strategies: it compares each share with what the strategy
// made by its own fills.
//
// A journalled wallet equals the exchange's wallet at some moment, and the booked fills show which moment. So the result of each strategy
// between two such moments is known. For a futures fill, the exchange reports neither price nor fee to botd, only the wallet:
//
//   - If one strategy traded, the change is its result to the last digit. The same holds for funding if only one position pays it.
//   - If several traded, each gets the profit of the quantity that it closed, at the last price that botd read. The rest, mostly fees, is divided in
//     proportion to traded value. The error of a result is bounded by the differences between the fills' prices and that price (for the strategy's own
//     fills, and for its share of all fills), and by the difference between its fee and its share of all fees: a maker pays less than a taker.
//   - Funding paid between the same two moments as trades is attributed to the traders, and divided like their fees.
type attribution struct {
	w        *world
	figures  *figures
	moments  []moment // states of the wallet, from that of the results on, oldest first
	fills    []own    // fills of botd's futures orders
	known    bool     // the state of the results is the first of the moments
	rebooted bool     // a start has forgotten the entry prices of the present change
	results  []exchange.Amount
	before   []exchange.Amount // at the first moment
	flight   map[string]int    // role of each placement without an outcome, by the records
	divided  []divided         // changes whose records are not durable yet, oldest first
	wallet   exchange.Amount
	traded   exchange.Quantity
	pending  *accounted

	bound []big.Rat // by role: sum of the bounds within which its results are estimated
	lost  bool      // a change could not be compared, so that the results are unknown
}

// moment is a state of the futures wallet, with the fills that led to it.
type moment struct {
	wallet exchange.Amount
	fills  int // number of botd's fills so far
	others int // number of all other fills
	roles  []made
}

// made is what one role made by then.
type made struct {
	net, fees, funding *big.Rat
	filled             exchange.Quantity // of all fills, on both sides
	holds              bool              // a position, or a part of one that others share
}

// own is a fill of one of botd's orders.
type own struct {
	role            int
	price, quantity *big.Rat
}

// divided are the prices by which botd divided a change.
type divided struct {
	wallet exchange.Amount
	prices []exchange.Price // by role
}

// accounted is a journalled change of the wallet whose results follow in the same batch.
type accounted struct {
	wallet exchange.Amount
	booked []exchange.Quantity // by role
	latest []exchange.Quantity // filled on the exchange by then
	flight []bool              // roles with a placement without an outcome
	prices []exchange.Price    // nil if they are not known
}

func newAttribution(f *figures) *attribution {
	count := len(f.shares)
	a := &attribution{w: f.w, figures: f, results: make([]exchange.Amount, count), before: make([]exchange.Amount, count), bound: make([]big.Rat, count),
		flight: map[string]int{}}
	a.observe()
	return a
}

// on returns whether a role trades on futures.
func (a *attribution) on(role int) bool {
	return a.w.portfolio.roles[role].key.Market == exchange.Futures
}

// filled records a fill of botd's own.
func (a *attribution) filled(role int, fill *sim.Fill, rules *exchange.Symbol) {
	if a.on(role) {
		a.fills = append(a.fills, own{role, fraction(int64(fill.Price), rules.PriceScale), fraction(int64(fill.Quantity), rules.QuantityScale)})
	}
}

// observe records the present state of the wallet, after fills and payments.
func (a *attribution) observe() {
	m := moment{wallet: a.w.venue.x.Money(trader).Wallet, fills: len(a.fills), others: a.figures.others}
	for n := range a.figures.shares {
		s := &a.figures.shares[n]
		m.roles = append(m.roles, made{s.Net(), new(big.Rat).Set(&s.Fees), new(big.Rat).Set(&s.Funding), s.filled,
			s.Quantity.Sign() != 0 || a.w.inspector != nil && a.w.inspector.watched[n].held.touchedMS != 0})
	}
	if last := len(a.moments) - 1; last >= 0 && a.moments[last].wallet == m.wallet && a.moments[last].fills == m.fills && a.moments[last].others == m.others {
		return
	}
	a.moments = append(a.moments, m)
}

// handled records the prices at which the last event divided a change.
func (a *attribution) handled() {
	if !a.w.daemon.up {
		return
	}
	tracker, traded := a.w.daemon.machine.Tracker(), exchange.Quantity(0)
	for n := range a.w.portfolio.roles {
		traded += tracker.Watch(a.w.portfolio.roles[n].name).Traded()
	}
	wallet := tracker.Watch("").Wallet()
	if wallet != a.wallet || traded < a.traded {
		d := divided{wallet: wallet}
		for n := range a.w.portfolio.roles {
			d.prices = append(d.prices, tracker.Symbol(a.w.portfolio.roles[n].key).Price())
		}
		a.divided = append(a.divided, d)
	}
	a.wallet, a.traded = wallet, traded
}

// booted begins a new life of the process: it drops what was not durable. Entry prices are not journalled.
func (a *attribution) booted() {
	tracker := a.w.daemon.machine.Tracker()
	a.compare()
	a.divided, a.rebooted = nil, true
	a.wallet, a.traded = tracker.Watch("").Wallet(), 0
	for n := range a.w.portfolio.roles {
		a.traded += tracker.Watch(a.w.portfolio.roles[n].name).Traded()
	}
	if a.w.stats.Faults[OldBackup] > 0 {
		a.known, a.lost = false, true // an older copy of the journal lacks later fills
	}
}

// record follows a durable record.
func (a *attribution) record(r *record.Record) {
	role := slices.IndexFunc(a.w.portfolio.roles, func(one role) bool { return one.name == r.Strategy })
	switch body := r.Body.(type) {
	case record.Sending:
		a.flight[r.ClientOrderID] = role
	case record.Acknowledged, record.Refused, record.Fill, record.Ended:
		delete(a.flight, r.ClientOrderID)
	case record.Result:
		if role >= 0 && a.on(role) {
			a.results[role] = body.Result
		}
	case record.Accounted:
		if body.Keeps {
			return
		}
		a.compare()
		a.pending = &accounted{wallet: body.Wallet, booked: make([]exchange.Quantity, len(a.results)), flight: make([]bool, len(a.results))}
		for id, placed := range a.w.venue.placed {
			if n := a.w.portfolio.number(placed.order.Key()); n >= 0 {
				a.pending.booked[n] += a.w.inspector.booked[id]
			}
		}
		for _, n := range a.flight {
			if n >= 0 {
				a.pending.flight[n] = true
			}
		}
		for n := range a.results {
			a.pending.latest = append(a.pending.latest, a.figures.shares[n].filled)
		}
		if at := slices.IndexFunc(a.divided, func(d divided) bool { return d.wallet == body.Wallet }); at >= 0 {
			a.pending.prices, a.divided = a.divided[at].prices, a.divided[at+1:]
		}
	}
}

// compared reports whether all changes so far are durable and have been compared.
func (a *attribution) compared() bool { return len(a.divided) == 0 && a.pending == nil }

// compare compares the results after the last journalled change.
func (a *attribution) compare() {
	p := a.pending
	if a.pending = nil; p == nil {
		return
	}
	rebooted := a.rebooted
	a.rebooted = false
	at := -1
	for i := range a.moments { // the newest of equal states
		if a.moments[i].wallet == p.wallet && a.explains(&a.moments[i], p) {
			at = i
		}
	}
	results := slices.Clone(a.results)
	switch {
	case at < 0:
		a.known, a.lost = false, true
	case !a.known:
		a.known = true
		a.moments = a.moments[at:]
	default:
		a.change(p, &a.moments[0], &a.moments[at], rebooted)
		a.moments = a.moments[at:]
	}
	a.before = results
}

// explains reports whether the booked fills are exactly those of the moment.
func (a *attribution) explains(m *moment, p *accounted) bool {
	for n := range m.roles {
		if a.on(n) && m.roles[n].filled != p.booked[n] {
			return false
		}
	}
	return true
}

// change compares the results of one change of the wallet.
func (a *attribution) change(p *accounted, from, to *moment, rebooted bool) {
	w, change := a.w, to.wallet.Sub(from.wallet)
	var trading, paying, holding []int
	decided, newest, touched := from.others == to.others, true, false
	for n := range a.results {
		if !a.on(n) {
			continue
		}
		role, watch := &w.portfolio.roles[n], &w.inspector.watched[n]
		decided = decided && !role.absent
		newest = newest && p.latest[n] == p.booked[n] // otherwise a position may include a fill that is not booked
		if to.roles[n].filled != from.roles[n].filled || p.flight[n] {
			trading = append(trading, n)
			touched = touched || watch.held.touchedMS != 0
		}
		if to.roles[n].funding.Cmp(from.roles[n].funding) != 0 {
			paying = append(paying, n)
			decided = decided && watch.held.touchedMS == 0 // the position of others pays, too
		}
		if from.roles[n].holds {
			holding = append(holding, n)
		}
	}
	alone := -1
	switch {
	case len(trading) == 1 && len(paying) == 0:
		alone = trading[0]
	case len(trading) == 0 && len(paying) == 1 && len(holding) == 1:
		alone = paying[0]
	}
	switch {
	case !decided || len(trading) > 1 && (!newest || rebooted || p.prices == nil):
		a.lost = true
	case alone >= 0 || len(trading) == 0 && len(paying) == 0:
		a.exact(alone, change)
	case touched: // the strategy's fills alone do not show what it has closed of a position that others have changed
		a.lost = true
	default:
		a.estimated(p, from, to, trading)
	}
}

// exact compares results that the wallet determines to the last digit.
func (a *attribution) exact(alone int, change exchange.Amount) {
	for n := range a.results {
		want := exchange.Amount{}
		if n == alone {
			want = change
		}
		if have := a.results[n].Sub(a.before[n]); a.on(n) && have != want {
			a.w.fail("figures", "the result of %s changes by %s, the wallet by %s for its fills", a.w.portfolio.roles[n].name, have, want)
		}
	}
	if alone >= 0 {
		a.figures.reach(reachedExact)
	}
}

// estimated compares results that botd divides by estimate.
func (a *attribution) estimated(p *accounted, from, to *moment, trading []int) {
	count := len(a.results)
	slips, value := make([]big.Rat, count), make([]big.Rat, count)
	slip, whole, fees, funding := new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)
	for _, fill := range a.fills[from.fills:to.fills] {
		last := fraction(int64(p.prices[fill.role]), a.w.inspector.watched[fill.role].held.rules.PriceScale)
		off := new(big.Rat).Sub(fill.price, last)
		off.Mul(off.Abs(off), fill.quantity)
		slips[fill.role].Add(&slips[fill.role], off)
		slip.Add(slip, off)
		last.Mul(last, fill.quantity)
		value[fill.role].Add(&value[fill.role], last)
		whole.Add(whole, last)
	}
	delta := func(n int, of func(m *made) *big.Rat) *big.Rat {
		return new(big.Rat).Sub(of(&to.roles[n]), of(&from.roles[n]))
	}
	paid := new(big.Rat)
	for n := range a.results {
		if a.on(n) {
			fees.Add(fees, delta(n, func(m *made) *big.Rat { return m.fees }))
			payment := delta(n, func(m *made) *big.Rat { return m.funding })
			funding.Add(funding, payment)
			paid.Add(paid, payment.Abs(payment))
		}
	}
	uncertain := slices.Contains(p.flight, true) // its quantity counts as traded
	for n := range a.results {
		if !a.on(n) {
			continue
		}
		part, bound := new(big.Rat), new(big.Rat).Set(hair)
		if uncertain || len(trading) == 0 {
			bound.Add(bound, slip).Add(bound, &slips[n]).Add(bound, fees).Add(bound, paid).Add(bound, paid)
		} else {
			if whole.Sign() != 0 {
				part.Quo(&value[n], whole)
			}
			bound.Add(bound, &slips[n]).Add(bound, new(big.Rat).Mul(part, slip))
			for _, both := range [2][2]*big.Rat{{delta(n, func(m *made) *big.Rat { return m.fees }), fees},
				{delta(n, func(m *made) *big.Rat { return m.funding }), funding}} {
				off := new(big.Rat).Sub(both[0], new(big.Rat).Mul(part, both[1]))
				bound.Add(bound, off.Abs(off))
			}
		}
		a.bound[n].Add(&a.bound[n], bound)
		want := delta(n, func(m *made) *big.Rat { return m.net })
		a.figures.near("the change of the result of "+a.w.portfolio.roles[n].name, want, ratOf(a.results[n].Sub(a.before[n])), bound)
	}
	a.figures.reach(reachedEstimate)
}

// decides reports whether a position's profit or loss is so large that no error of an estimate can change its
// sign.
func (a *attribution) decides(n int, size *big.Rat) bool {
	return !a.lost && (size == nil || size.Cmp(&a.bound[n]) > 0)
}
