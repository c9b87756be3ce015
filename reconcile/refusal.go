package reconcile

import (
	"fmt"
	"iter"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// An exchange may execute an order that it refused (exactly-once.md, case 3). A refusal is confirmed
// once a snapshot that began after it does not show the order, on spot in the order history either.
// Until then nothing opens on the order's symbol.

// RefusedOrder is a placement whose refusal no snapshot has confirmed yet.
type RefusedOrder struct {
	Symbol        exchange.SymbolKey
	SentMS        int64
	atMS          int64
	clientOrderID string
	purpose       placement.Purpose
	order         exchange.NewOrder
	before        priorBalance      // spot: the wallet before it was sent; futures: the margin in use before an opening was sent
	bought        exchange.Quantity // spot: quantity that a purchase which no list shows has bought, by the wallet
	sold          bool              // spot: the wallet has shown a sale that no list shows
	frozen        bool              // spot: the newest wallet freezes the units of a sale that no list shows
	onlyFrozen    bool              // spot: frozen, although lists that are not known to be wrong have confirmed the refusal
	released      bool              // futures: the account uses less margin than the listed positions need, as if this exit had been executed
	decided       bool              // a list has shown the order, or a person has decided
	paid          persistence       // for how long the wallet, or the margin in use, has shown it
}

// Opens reports whether the order would have opened a position or made one larger.
func (r *RefusedOrder) Opens() bool { return r.purpose.Opens() }

// refusals are the refusals that no snapshot has confirmed yet, and on spot also the remembered confirmed ones.
type refusals struct {
	refused   []RefusedOrder
	confirmed []RefusedOrder // the newest, oldest first
}

// Refused lists the refusals that no snapshot has confirmed yet.
func (r *refusals) Refused() []RefusedOrder { return slices.Clone(r.refused) }

// RefusedUntilMS returns the time until which a list may still show, for the first time, an opening on
// the symbol that the exchange refused but executed; 0 if it has refused none since the start.
func (s *SymbolState) RefusedUntilMS(bounds *placement.Bounds) int64 {
	if s.refusedMS == 0 {
		return 0
	}
	return s.refusedMS + bounds.WindowMS + bounds.VisibilityMS + bounds.StalenessMS
}

// note adds the refusal of a placement; before is what a read showed before the placement was sent.
func (r *refusals) note(p *account.Placement, before priorBalance, atMS int64) {
	r.refused = append(r.refused, RefusedOrder{Symbol: p.Symbol(), SentMS: p.SentMS(), atMS: atMS, clientOrderID: p.ClientOrderID(), purpose: p.Purpose(),
		order: p.Order(), before: before})
}

// datePriors dates the balances from before refused placements no later than a later read.
func (r *refusals) datePriors(beganMS int64) {
	for _, list := range [...][]RefusedOrder{r.refused, r.confirmed} {
		for i := range list {
			list[i].before.dateBy(beganMS)
		}
	}
}

// restore adds the refusals from before the start as unconfirmed: either the next snapshot confirms them, or the wallet shows their execution.
func (r *refusals) restore(refused []account.RefusedPlacement) {
	for _, one := range refused {
		r.refused = append(r.refused, RefusedOrder{Symbol: one.Order.Key(), SentMS: one.SentMS, atMS: one.RefusedMS, clientOrderID: one.ClientOrderID,
			purpose: one.Purpose, order: one.Order, before: priorOf(&one.Order, one.Funds)})
	}
}

// noteConfirmed remembers a refused spot order: the lists that confirmed the refusal may have been too old to show the order, and a later list may show
// it without its id.
func (r *refusals) noteConfirmed(one *RefusedOrder) {
	if one.Symbol.Market != exchange.Spot {
		return
	}
	if len(r.confirmed) == maxRemembered {
		r.confirmed = slices.Delete(r.confirmed, 0, 1)
	}
	r.confirmed = append(r.confirmed, *one)
}

// refusedOrConfirmed lists the refusals of both kinds: each of these orders may have been executed despite its refusal.
func (r *refusals) refusedOrConfirmed() []RefusedOrder { return slices.Concat(r.refused, r.confirmed) }

// keep drops the refusals for which the predicate is false.
func (r *refusals) keep(unconfirmed func(*RefusedOrder) bool) {
	left := r.refused[:0]
	for i := range r.refused {
		if one := r.refused[i]; unconfirmed(&one) {
			left = append(left, one)
		}
	}
	r.refused = left
}

// refusedOn yields the refusals on a symbol.
func (r *refusals) refusedOn(key exchange.SymbolKey) iter.Seq[*RefusedOrder] {
	return func(yield func(*RefusedOrder) bool) {
		for i := range r.refused {
			if one := &r.refused[i]; one.Symbol == key && !yield(one) {
				return
			}
		}
	}
}

// refusedExit reports whether the refusal of an exit on the symbol is not confirmed; executed also counts only those that the margin in use shows as
// executed.
func (r *refusals) refusedExit(key exchange.SymbolKey, executed bool) bool {
	return slices.ContainsFunc(r.refused, func(one RefusedOrder) bool {
		return one.Symbol == key && one.purpose == placement.Exit && (one.released || !executed)
	})
}

// beforeSent returns what a read showed before a refused placement was sent: the wallet on spot, the margin in use on futures.
func (t *Tracker) beforeSent(p *account.Placement) priorBalance {
	if order := p.Order(); order.Market == exchange.Futures {
		return priorOf(&order, p.Funds())
	}
	return t.delivery(p).before
}

// confirmMS is the time for which another spot exit waits for the reads that confirm a refusal.
const confirmMS = 10_000

// refusalChecks confirms refusals by a snapshot that would show the order, or finds what shows that the exchange executed it.
type refusalChecks struct {
	*evidence
	*recorder
	old []exchange.Market // markets whose open lists show less than botd knows
}

func (s *survey) refusalChecks() refusalChecks { return refusalChecks{&s.evidence, &s.recorder, s.old} }

// confirmRefused drops the refusals that the snapshot confirms. The other refusals keep blocking
// openings on their symbols.
func (s refusalChecks) confirmRefused() {
	s.noteRefusedStops()
	s.tracker.keep(func(r *RefusedOrder) bool {
		confirmed := s.confirms(r)
		if confirmed {
			s.quarantineExecuted(r)
			s.tracker.noteConfirmed(r)
		}
		return !confirmed
	})
	for _, r := range s.tracker.Refused() {
		s.tracker.Track(r.Symbol).settled = false
	}
}

// confirms reports whether the snapshot began half a second after the refusal, when the exchange has processed the order, would show that the order was
// executed, and does not show it. An open list that still shows an ended order may also be older than the refused order.
func (s refusalChecks) confirms(r *RefusedOrder) bool {
	read := s.fetched.Positions.Done() && s.fetched.FuturesOrders.Done() && !r.omitsOpenOrder(s.fetched, &s.tracker.tracked)
	if r.Symbol.Market == exchange.Spot {
		read = s.fetched.SpotOrders.Done() && s.fetched.History.Done() && s.fetched.HistoryWhole
	}
	read = read && s.fetched.BeganMS > r.atMS+min(s.tracker.Bounds().StalenessMS, refusedShownMS) &&
		!slices.Contains(s.old, r.Symbol.Market) && !s.fetched.isUnread(r.Symbol)
	return read && !s.executedUnlisted(r) && !s.exceedsFills(r) && !s.holdsMargin(r) && !s.releasesMargin(r) &&
		!r.hasStop(s.tracker.Symbol(r.Symbol))
}

// releasesMargin reports whether the account uses less margin than the listed positions need, by at least half of what a refused exit on futures would
// have released: the list is older than the exit. A snapshot without that comparison changes nothing for as long as an older one may be current.
func (s refusalChecks) releasesMargin(r *RefusedOrder) bool {
	symbol := s.tracker.Symbol(r.Symbol)
	if r.Symbol.Market != exchange.Futures || r.purpose != placement.Exit {
		return false
	}
	if less, needed := s.margin(); symbol.rules != nil && !needed.IsZero() {
		part := symbol.rules.Notional(symbol.rules.PriceOf(symbol.entryPrice), r.order.Quantity).Div(int64(max(1, symbol.leverage)))
		r.released = s.fetched.Account.PositionMargin.Less(needed) && !less.Mul(2).Less(part)
	} else if s.fetched.BeganMS > s.tracker.noReadBefore(r.atMS) {
		r.released = false
	}
	return r.released
}

// exceedsFills reports whether the list of positions shows more on the side of a refused opening or exit than fills explain: it was executed, or somebody
// else traded.
func (s refusalChecks) exceedsFills(r *RefusedOrder) bool {
	residual := s.tracker.Symbol(r.Symbol).residual
	effective := r.Opens() || r.purpose == placement.Exit
	return effective && r.Symbol.Market == exchange.Futures && residual != 0 && residual.Sign() == int(r.order.Side.Sign())
}

// omitsOpenOrder reports whether the open list of futures omits an order that a read by its id shows as open: one on the symbol, or one of botd's on any
// symbol that was sent before the refused order. A list that is incomplete, or older than that order, cannot show the refused order either.
func (r *RefusedOrder) omitsOpenOrder(fetched *Snapshot, account *tracked) bool {
	return slices.ContainsFunc(fetched.ByID, func(answer OrderByID) bool {
		o := &answer.Order
		resting := answer.Known && (o.Status == exchange.StatusNew || o.Status == exchange.StatusOpen)
		return resting && (o.Key() == r.Symbol || account.sentBefore(o, r.SentMS)) && !fetched.Shows(exchange.Futures, o.ID) &&
			!slices.ContainsFunc(fetched.FuturesOrders.Items(), func(listed exchange.Order) bool { return listed.ID == o.ID })
	})
}

// sentBefore reports whether an order is botd's and was sent before a time.
func (t *tracked) sentBefore(o *exchange.Order, atMS int64) bool {
	p := t.withOrderID(o.Market, o.ID)
	return p != nil && p.SentMS() < atMS
}

// quarantineExecuted quarantines the symbol if lists that omit ids show an order that may be a refused
// opening and that nothing else claims: with an id it would match the placement. On futures the position
// shows any fill.
func (s refusalChecks) quarantineExecuted(r *RefusedOrder) {
	if !r.Opens() {
		return
	}
	for _, o := range s.fetched.Orders(r.Symbol.Market).Items() {
		if o.ClientOrderID == "" && sameParameters(&o, &r.order) && o.CreatedMS >= r.SentMS-createdSlackMS && !s.tracker.claimed(&o) {
			s.quarantine(s.tracker.Track(r.Symbol), executedText(&o))
			return
		}
	}
	if r.Symbol.Market != exchange.Spot || r.order.Side != exchange.Buy || !s.tracker.idsLeftOut {
		return
	}
	for i := range s.fetched.History.Items() {
		if o := &s.fetched.History.Items()[i]; o.ClientOrderID == "" && o.Filled > 0 && couldBe(o, r.order, r.SentMS) && !s.tracker.claimed(o) {
			s.quarantine(s.tracker.Track(r.Symbol), executedText(o))
			return
		}
	}
}

func executedText(o *exchange.Order) string {
	return fmt.Sprintf("order %d, which no placement claims, may be a refused order that the exchange executed anyway", o.ID)
}

// The exchange accepts a closePosition order only for a position, and ends it with the position. If botd sent one after an opening that the exchange
// refused, and it rests although no fill and no list shows a position, the opening was executed, and the lists are wrong. A start knows this too, from
// the journal.

// noteRefusedStops records, for each symbol, since when it has such a stop.
func (s refusalChecks) noteRefusedStops() {
	for symbol := range s.tracker.Symbols() {
		switch rests := s.tracker.stopOfRefused(symbol); {
		case !rests:
			symbol.refusedStopMS = 0
		case symbol.refusedStopMS == 0:
			symbol.refusedStopMS = s.fetched.BeganMS
		}
	}
}

// stopOfRefused reports whether a symbol has such a stop.
func (r *refusals) stopOfRefused(symbol *SymbolState) bool {
	for one := range r.refusedOn(symbol.Key()) {
		for _, p := range symbol.live {
			if one.Opens() && !one.decided && p.OrderID() != 0 && p.SentMS() > one.SentMS && p.Side() != one.order.Side && symbol.mayOutlive(p) {
				return true
			}
		}
	}
	return false
}

// hasStop reports whether a refused opening's symbol has such a stop.
func (r *RefusedOrder) hasStop(symbol *SymbolState) bool {
	return r.Opens() && symbol.refusedStopMS != 0
}
