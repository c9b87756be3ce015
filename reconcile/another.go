package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// Where botd stands down, another botd trades under its prefix, or did. On spot what that one
// bought is in the same wallet, and a stop of either sells of the same asset: what is held is what all orders
// under the prefix have bought and not sold, as far as the wallet shows it, and what of it no stop of
// either sells is protected. Nothing of it is adopted, and no exit is for it.

// besideMS is how long the other botd has for the stop of what it has just bought.
const besideMS = 1_500

// mostBeside bounds how many of its orders are remembered: a page of the history.
const mostBeside = 1_000

// besideOrder is what an order of another botd has bought, or sold where it is negative.
type besideOrder struct {
	orderID int64
	net     exchange.Quantity
	seenMS  int64
}

// noteBesides takes what orders of another botd have filled.
func (s *survey) noteBesides(orders []exchange.Order) {
	for i := range orders {
		o := &orders[i]
		symbol := s.book.Symbol(o.Key())
		symbol.decideUnlisted(o, s.fetched.EndedMS)
		if o.Filled > 0 && o.ID > symbol.spot.resolvedID && s.isBeside(o) {
			symbol.noteBeside(o, s.fetched.EndedMS, s.book.SpotFee)
		}
	}
}

// isBeside reports whether an order under this prefix is another botd's: the journal does not
// know it, and has not sent it before botd stood down for that one.
func (s *survey) isBeside(o *exchange.Order) bool {
	id, ours := placement.ParseSerial(o.ClientOrderID)
	if !ours || o.Market != exchange.Spot || !s.book.prefixed(o.ClientOrderID) || s.book.Known(o.ClientOrderID) || s.book.Known(duplicateID(o)) {
		return false
	}
	if !s.book.Sent(o.Key(), id) {
		return true
	}
	found, standing := placement.ParseSerial(s.book.StandsDown())
	return standing && found.Start == id.Start
}

func (s *SymbolState) noteBeside(o *exchange.Order, atMS int64, fee exchange.Rate) {
	if s.Rules == nil {
		return
	}
	net := -o.Filled
	if o.Side == exchange.Buy {
		net = o.Filled - ceilUnit(s.Rules, s.Rules.QuantityAmount(o.Filled).MulRate(fee))
	}
	t := &s.spot
	if i := slices.IndexFunc(t.beside, func(one besideOrder) bool { return one.orderID == o.ID }); i >= 0 {
		if abs(net) > abs(t.beside[i].net) {
			t.beside[i].net, t.beside[i].seenMS = net, atMS
		}
		return
	}
	if len(t.beside) < mostBeside {
		t.beside = append(t.beside, besideOrder{o.ID, net, atMS})
	}
}

// resolveBeside takes that a person decided what another botd's orders did.
func (s *SymbolState) resolveBeside() {
	for _, one := range s.spot.beside {
		s.spot.resolvedID = max(s.spot.resolvedID, one.orderID)
	}
	s.spot.beside, s.spot.besideSold = nil, 0
}

// HeldBesides is what all orders under the prefix have bought and not sold, as far as the wallet shows it. What the
// wallet held before botd bought may be what another botd had bought by then.
func (s *SymbolState) HeldBesides() exchange.Quantity {
	own, others := s.Known()-s.Fees(), -s.spot.besideSold
	for _, one := range s.spot.beside {
		others += one.net
	}
	if own, others = own+min(0, others), max(0, others); !s.spot.early {
		own = s.Known() - s.Fees() // a wallet that proves something shows what of it was sold
	}
	return max(0, min(max(0, min(own, s.spot.inWallet-s.Baseline()))+others, s.spot.inWallet))
}

// boughtBesides is what another botd has bought so recently that its own stop may be on its way.
func (s *SymbolState) boughtBesides(nowMS int64) (sum exchange.Quantity) {
	for _, one := range s.spot.beside {
		if nowMS-one.seenMS < besideMS {
			sum += max(0, one.net)
		}
	}
	return sum
}

// yieldMS is how long an exit on spot is left to another botd that holds the same coins: until then a wallet
// shows what that one has sold. It may not know of this one, and yield to nobody.
const yieldMS = 3_500

// younger reports whether botd stands down for one that began before it. Both compare the starts in which
// they found each other, so that a start since changes nothing.
func (b *Book) younger() bool {
	id, standing := placement.ParseSerial(b.StandsDown())
	own := b.Start()
	if halted := b.Halted(); halted.Unknown != "" {
		own = halted.Start
	}
	return standing && id.Start.Compare(own) < 0
}

// YieldMS is until when an exit on spot that was decided then is left to another botd; 0 where it is not. Of two that
// found each other the elder sells first. Where it placed nothing on spot since the other one began, that one may not
// have found it: then it yields too, though not for as long.
func (b *Book) YieldMS(symbol *SymbolState, decidedMS int64) int64 {
	id, standing := placement.ParseSerial(b.StandsDown())
	switch {
	case symbol.Key().Market != exchange.Spot || !standing:
		return 0
	case b.younger():
		return decidedMS + 2*yieldMS
	case b.placedMS >= (id.Start.Epoch+1)*1000:
		return 0
	}
	return decidedMS + yieldMS
}

// How long stops of two botds together sell more than is held before one takes its own off: the botd of
// the later start first, the other one where that does not happen.
const (
	excessMS     = 1_500
	excessLastMS = 10_000
)

// noteExcess notes since when own stops and those of another botd sell more than is held. A list that is old may show one that has
// gone: the wallet must freeze the asset for all of them.
func (s *survey) noteExcess(symbol *SymbolState) {
	t := &symbol.spot
	sells := s.book.sellsUnknown(symbol)
	for _, p := range s.book.Live() {
		if p.Symbol() == symbol.Key() && p.Order().Side == exchange.Sell {
			sells += p.Remaining()
		}
	}
	t.excess = sells - symbol.HeldBesides()
	frozen := symbol.Rules.QuantityOf(s.book.Balance(symbol.Rules.Base).Frozen)
	switch {
	case t.excess <= 0 || s.book.StandsDown() == "" || frozen < sells || symbol.worthless(t.excess):
		t.excess, t.excessMS = 0, 0
	case t.excessMS == 0:
		t.excessMS = s.fetched.EndedMS
	}
}

// worthless reports whether no order is for so little.
func (s *SymbolState) worthless(quantity exchange.Quantity) bool {
	return s.Rules.Notional(s.Last, quantity).Less(s.Rules.MinNotional)
}

// shrinks reports whether an own stop may be taken off, since stops of another botd stand in its place, as the
// newest whole read shows: not more of them than sell too much, of which it takes off what it sells.
func (d *derivation) shrinks(i *Intent, excess *exchange.Quantity) bool {
	t, after, p := &d.symbol.spot, int64(excessLastMS), d.book.Placement(i.ClientID)
	if d.book.younger() {
		after = excessMS
	}
	if i.Reason != sellsTooMuch || p == nil || t.excessMS == 0 || d.symbol.unread || d.desired.Unread || d.unsettled || d.nowMS-t.excessMS < after {
		return false
	}
	left := *excess - p.Remaining()
	if left < 0 && !d.symbol.worthless(-left) {
		return false
	}
	*excess = left
	return true
}

// BesideUncovered reports whether botd stands down and no stop covers part of what is held: the next round
// must be soon.
func (b *Book) BesideUncovered(symbol *SymbolState) bool {
	if symbol.Key().Market != exchange.Spot || symbol.Rules == nil || b.StandsDown() == "" {
		return false
	}
	left := symbol.HeldBesides() - b.sellsUnknown(symbol)
	for _, p := range b.Live() {
		if p.Symbol() == symbol.Key() && p.Order().Side == exchange.Sell {
			left -= p.Remaining()
		}
	}
	return symbol.spot.excessMS != 0 || left > 0 && !symbol.worthless(left)
}

// noteBesideSold takes what an own sale has sold beyond what fills explain, out of what another botd bought.
func (s *SymbolState) noteBesideSold(p *account.Placement, grown, before exchange.Quantity) {
	if p.Order().Side == exchange.Sell && len(s.spot.beside) > 0 {
		s.spot.besideSold += max(0, grown-before)
	}
}
