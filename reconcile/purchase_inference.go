package reconcile

import (
	"math"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// If order history and user trades omit one of botd's orders, the wallet still shows its effect. The
// effect is not booked, but the stops follow it: they cover the result of a purchase that no list shows,
// and no longer cover a quantity that a stop has sold.

// inferredPurchases are a spot symbol's purchases that no list shows, as wallets and histories show them.
type inferredPurchases struct {
	inferred       exchange.Quantity // quantity of an unlisted purchase, as far as the wallet shows it, without the booked part
	second         exchange.Quantity // the part of that by a second execution, while a history could show that a person bought it
	undecided      exchange.Quantity // the maximum of that by any later wallet: one that shows less does not prove that it is gone
	maxBeyondFills exchange.Quantity // maximum that a wallet has shown beyond the fills while such a purchase was undecided, whoever bought it
	unclaimed      []exchange.Order  // purchases that no placement claims, from histories
}

// unlistedOrders records the wallet's evidence about spot orders that no list shows: the quantities that purchases have bought, and that sales hold or
// have sold.
type unlistedOrders struct {
	*evidence
	*recorder
	spotList *spotList
	old      bool // the list shows less than botd knows
}

func (s *survey) unlistedOrders() unlistedOrders {
	return unlistedOrders{&s.evidence, &s.recorder, &s.spotList, slices.Contains(s.old, exchange.Spot)}
}

// infer applies the wallet's evidence about orders that the open list does not show. It reports whether they include purchases, none of which has cost any
// money yet: what the wallet shows beyond the fills is then foreign.
func (s unlistedOrders) infer(symbol *SymbolState) (unpaid bool) {
	s.noteRefusedSales(symbol)
	before, sold := symbol.spot.unlisted.inferred, exchange.Quantity(0)
	for _, p := range symbol.live {
		s.noteWalletShortfall(p, symbol)
		if s.tracker.unanswered(p, s.fetched.EndedMS) {
			s.noteUnfrozen(p, symbol)
		}
		if p.State() == placement.Sending || p.Order().Side == exchange.Buy || s.listed(p) {
			continue
		}
		sold += p.Remaining()
		if !s.noteUnfrozen(p, symbol) {
			s.discardRefrozenEnd(p, symbol)
			continue
		}
		stop := p.OrderID() != 0 && p.Purpose() == placement.StopLoss && p.Order().Type == exchange.StopLimit
		if stop && s.tracker.delivery(p).releasedMS == 0 && s.walletEvidence().soldNothing(p, symbol) {
			s.tracker.noteFreed(p, s.fetched.EndedMS)
			s.tracker.inferEnded(p.ClientOrderID(), s.fetched.EndedMS)
		}
	}
	s.noteFrozenRefusals(symbol, s.old)
	bought, maxBought, sinceMS := s.unlistedPurchases(symbol)
	inherited, explained := s.tracker.inheritedStops(symbol), bought
	bought, maxBought = max(bought, inherited), max(maxBought, inherited)
	unpaid = bought == 0 && maxBought > 0
	own := s.tracker.balanceBeyondFills(symbol) - s.unclaimedPurchases(symbol, sinceMS)
	if least := s.walletEvidence().boughtByMoney(symbol); least > 0 {
		own = max(own, least)
	}
	if inherited > 0 && s.tracker.freezesLess(symbol) {
		own = max(own, inherited) // the wallet that freezes less is old or wrong
	}
	// A wallet that already contains a sale that no list shows does not reduce it.
	symbol.spot.unlisted.inferred = max(0, min(own, bought), min(before, bought, own+sold))
	s.noteUndecided(symbol, maxBought, sinceMS)
	s.noteInheritedStops(symbol, explained)
	return unpaid
}

// listed reports whether the open list shows an order, and discards its inferred end if so.
func (s unlistedOrders) listed(p *account.Placement) bool {
	if p.OrderID() == 0 || !s.fetched.SpotOrders.Done() || !s.spotList.shows(p.OrderID()) && !s.fetched.Shows(exchange.Spot, p.OrderID()) {
		return false
	}
	s.tracker.dropInferredEnd(p.ClientOrderID())
	return true
}

// unlistedPurchases returns the quantity that purchases missing from the open list have bought, judged by the money that the wallet shows as spent;
// the maximum, judged by how often the exchange may have executed each; and the send time of the oldest.
func (s unlistedOrders) unlistedPurchases(symbol *SymbolState) (bought, maxBought exchange.Quantity, sinceMS int64) {
	sinceMS, symbol.spot.unlisted.second = math.MaxInt64, 0
	for _, p := range symbol.live {
		if p.State() == placement.Sending || p.Order().Side == exchange.Sell || s.listed(p) {
			continue
		}
		once, before := symbol.mayBuy(p), s.tracker.delivery(p).before
		maxBought, sinceMS = maxBought+once*maxTimes, min(sinceMS, p.SentMS())
		if !before.amount.IsZero() && s.tracker.unspent(symbol, before) {
			continue // more of the asset is then a person's deposit
		}
		times := s.walletEvidence().timesPaid(p, symbol)
		if bought += once * times; !s.fetched.readHistory(symbol.Key()) {
			symbol.spot.unlisted.second += once * (times - 1)
		}
	}
	if second := s.executedAgain(symbol); second > 0 {
		bought, maxBought, sinceMS = bought+second, maxBought+second, min(sinceMS, symbol.spot.endedPurchase.sentMS)
	}
	if refused, fromMS := s.noteRefusedPurchases(symbol); refused > 0 {
		return bought + refused, maxBought + refused, min(sinceMS, fromMS)
	}
	return bought, maxBought, sinceMS
}

// balanceBeyondFills returns the quantity that the newest wallet shows beyond the fills and beyond what others held before.
func (o *observedAccount) balanceBeyondFills(symbol *SymbolState) exchange.Quantity {
	return o.baseBalance(symbol) - symbol.Baseline() - symbol.Known() + symbol.Fees() - symbol.Unattributed()
}

// noteUndecided remembers the quantity that a wallet has shown of such purchases, up to the maximum that they may have bought, less the purchases of
// others in the history: a wallet that later shows less does not end its protection.
func (s unlistedOrders) noteUndecided(symbol *SymbolState, maxBought exchange.Quantity, sinceMS int64) {
	t, inherited := &symbol.spot.unlisted, s.tracker.inheritedSince(symbol, sinceMS)
	left := max(t.maxBeyondFills, s.tracker.balanceBeyondFills(symbol), inherited)
	if t.maxBeyondFills = left; maxBought == 0 {
		t.maxBeyondFills = 0
	}
	t.undecided = max(t.inferred, min(max(t.undecided, inherited), maxBought, left-t.boughtByOthers()))
}

// boughtByOthers returns the quantity that unclaimed purchases have bought.
func (t *inferredPurchases) boughtByOthers() (sum exchange.Quantity) {
	for i := range t.unclaimed {
		sum += t.unclaimed[i].Filled
	}
	return sum
}

// subtractBooked subtracts a booked purchase from the inferred quantity, so that it is not counted
// twice, whatever is sold later.
func (t *inferredPurchases) subtractBooked(bought exchange.Quantity) {
	t.inferred = max(0, t.inferred-max(0, bought))
	t.undecided = max(0, t.undecided-max(0, bought))
	t.maxBeyondFills -= max(0, bought)
}

// subtractSold subtracts the part of a booked sale that exceeds the known position from the quantity that
// may have been bought.
func (t *inferredPurchases) subtractSold(beyond exchange.Quantity) {
	t.undecided = max(t.inferred, t.undecided-max(0, beyond))
}

// vanished returns the part of an unlisted purchase that an earlier wallet showed and the newest does
// not: it stays protected, and nothing else is concluded.
func (t *inferredPurchases) vanished() exchange.Quantity { return max(0, t.undecided-t.inferred) }

// unclaimedPurchases returns the quantity bought by purchases that no placement claims, since wallet and fills last agreed or since a time. Evidence
// from an earlier history stays valid while none can be read. A row without an id counts as unclaimed only if botd's own rows show ids and it equals
// no purchase that the exchange refused.
func (s unlistedOrders) unclaimedPurchases(symbol *SymbolState, sinceMS int64) (sum exchange.Quantity) {
	rows := symbol.spot.unlisted.unclaimed
	if s.fetched.History.Done() {
		rows = slices.Concat(rows, s.fetched.History.Items())
	}
	sinceMS = min(sinceMS-createdSlackMS, s.tracker.salesFrom(symbol))
	symbol.spot.unlisted.unclaimed = nil
	for i := range slices.Backward(rows) { // an order's newest rows first
		o := &rows[i]
		unnamed := o.ClientOrderID == "" && (s.tracker.idsLeftOut || s.tracker.repeatsRefused(o))
		seen := slices.ContainsFunc(symbol.spot.unlisted.unclaimed, func(other exchange.Order) bool { return other.ID == o.ID })
		purchase := o.Key() == symbol.Key() && o.Side == exchange.Buy && o.CreatedMS >= sinceMS
		if purchase && !unnamed && !seen && !s.tracker.claimed(o) && !s.tracker.unclaimedRows().lost(o) {
			symbol.spot.unlisted.unclaimed = append(symbol.spot.unlisted.unclaimed, *o)
			sum += o.Filled
		}
	}
	return sum
}

// mayBuy returns the maximum quantity that a purchase may still have bought. For a purchase by quote
// amount, it assumes a price one percent below the last one.
func (s *SymbolState) mayBuy(p *account.Placement) exchange.Quantity {
	order := p.Order()
	if order.QuoteAmount.IsZero() {
		return p.Remaining()
	}
	return max(0, s.rules.QuantityFor(order.QuoteAmount.MulRate(exchange.RateOne*101/100), s.last)-p.Filled())
}

// maxTimes is the maximum number of times that the exchange may have executed one purchase.
const maxTimes = 2

// boughtSince reports whether anything else on spot may have cost money since a read of the wallet.
func (t *tracked) boughtSince(p *account.Placement, before priorBalance) bool {
	return t.AnySymbol(func(other *SymbolState) bool {
		return other.Key().Market == exchange.Spot && other.FilledMS() >= before.atMS && other.Key() != before.booked
	}) || t.AnyLive(func(q *account.Placement) bool {
		return q != p && q.Order().Market == exchange.Spot && q.Order().Side == exchange.Buy && !slices.Contains(before.paid, q)
	})
}

// paidBefore returns the live purchases of other assets that no list has shown and the wallet has: the money is deducted and the units are credited. Their
// cost is already counted.
func (t *Tracker) paidBefore(p *account.Placement) (paid []*account.Placement) {
	for q := range t.Live() {
		order, before, on := q.Order(), t.delivery(q).before, t.Symbol(q.Symbol())
		if order.Side != exchange.Buy || before.atMS == 0 || on.rules == nil || t.sharesAsset(on, p.Symbol()) || !t.readAfter(t.arrivedMS(q)) {
			continue
		}
		money := t.Balance(on.rules.Quote)
		cost := before.amount.Sub(money.Free.Add(money.Frozen))
		if !cost.Less(order.QuoteAmount.MulRate(exchange.RateOne*9/10)) && 10*t.balanceBeyondFills(on) >= 9*on.mayBuy(q) {
			paid = append(paid, q)
		}
	}
	return paid
}

// priorBalance is the state that a read showed before a placement was sent: on spot the money and the asset in the wallet, on futures the margin in use
// beyond the known needs.
type priorBalance struct {
	amount exchange.Amount
	asset  exchange.Quantity // of the symbol's base asset
	atMS   int64
	booked exchange.SymbolKey   // spot: the symbol whose fill since then is the order's own; empty while that is not booked
	paid   []*account.Placement // spot: purchases of other assets without an end, whose result it already showed
	frozen exchange.Quantity    // spot: of the base asset, for sales that the open list did not show
}

// notePriorBalance records the balance before a spot purchase or sale was sent.
func (t *Tracker) notePriorBalance(p *account.Placement) {
	order, w := p.Order(), p.Funds()
	if order.Market == exchange.Futures {
		return
	}
	t.Symbol(p.Symbol()).spot.noteShown(w)
	if before := priorOf(&order, w); before.atMS != 0 {
		before.paid = t.paidBefore(p)
		if symbol := t.Symbol(p.Symbol()); order.Market == exchange.Spot && symbol.rules != nil {
			on := t.inputs(&Desired{}, symbol, p.SentMS())
			before.frozen = on.spotPosition().frozenUnlisted()
		}
		t.notePrior(p.ClientOrderID(), before)
	}
}

// priorOf returns what the account showed before an order was sent. It is empty for a limit purchase on spot, because the wallet freezes its money before
// it has bought anything.
func priorOf(order *exchange.NewOrder, w record.Funds) priorBalance {
	if order.Market == exchange.Spot && order.Side == exchange.Buy && order.QuoteAmount.IsZero() {
		return priorBalance{}
	}
	return priorBalance{amount: w.Amount, asset: w.Asset, atMS: w.ReadMS}
}

// dateBy dates the balance no later than a later read. If the clock has been set back since, what is filled after that would otherwise seem to be older
// than the balance.
func (b *priorBalance) dateBy(beganMS int64) { b.atMS = min(b.atMS, beganMS) }

// maxUnfrozenMS is the time after a sale for which a wallet that freezes nothing may be older than the
// sale.
const maxUnfrozenMS = 4_000

// noteUnfrozen records and reports whether the wallet freezes nothing for a sale that no open list
// shows: the sale has ended or was never accepted. A wallet that may be older than the sale proves
// nothing.
func (s unlistedOrders) noteUnfrozen(p *account.Placement, symbol *SymbolState) bool {
	b, read := s.tracker, s.fetched
	frozen := symbol.rules.QuantityOf(b.Balance(symbol.rules.Base).Frozen)
	for i := 0; read.SpotOrders.Done() && i < len(read.SpotOrders.Items()); i++ {
		if o := &read.SpotOrders.Items()[i]; o.Side == exchange.Sell && !s.hasFreed(o) {
			frozen -= b.ofAsset(symbol, o.Key(), o.Remaining())
		}
	}
	for q := range b.Live() { // acknowledged orders hold the asset first, those that may not have been accepted come after them
		row := slices.Contains(b.listed[exchange.Spot].unread, q.OrderID()) // it is open, but its row cannot be read
		unread := (!read.SpotOrders.Done() || row) && q.OrderID() != 0 && b.arrivedMS(q) < read.BeganMS && b.delivery(q).releasedMS == 0
		if p.OrderID() == 0 && q.Order().Side == exchange.Sell && (b.Unlisted(q) || unread) {
			frozen -= b.ofAsset(symbol, q.Symbol(), q.Remaining())
		}
	}
	withinMS := int64(maxUnfrozenMS)
	switch {
	case p.State() == placement.Sending:
		withinMS = RepeatMS // like a sale whose answer is known to be lost, it is repeated early
	case p.Seen(), p.OrderID() != 0 && read.showsNoEnd(p.Symbol(), p.OrderID()):
		withinMS = math.MaxInt64 // it may still stand: the open list and the wallet may be older than the sale
	}
	unfrozen := read.BeganMS > b.arrivedMS(p)+min(b.Bounds().StalenessMS, withinMS) && frozen < p.Remaining()/2
	b.noteUnfrozen(p.ClientOrderID(), unfrozen)
	return unfrozen
}

// hasFreed reports whether a listed order is known not to hold its asset any more: it has ended, or the exchange has answered its cancel. The list is old.
func (s unlistedOrders) hasFreed(o *exchange.Order) bool {
	if _, _, ended := s.tracker.EndedAs(o.Key(), o.ID); ended {
		return true
	}
	p := s.tracker.withOrderID(o.Market, o.ID)
	return p != nil && s.tracker.delivery(p).releasedMS != 0
}

// discardRefrozenEnd discards the inferred end of a stop for which a later wallet freezes the asset: it freezes enough for every standing sale and for
// this stop.
func (s unlistedOrders) discardRefrozenEnd(p *account.Placement, symbol *SymbolState) {
	if known := s.tracker.delivery(p); !known.inferred || s.fetched.BeganMS <= known.releasedMS {
		return
	}
	frozen := symbol.rules.QuantityOf(s.tracker.Balance(symbol.rules.Base).Frozen)
	for q := range s.tracker.Live() {
		switch {
		case q.Order().Market != exchange.Spot || q.Order().Side != exchange.Sell || s.tracker.delivery(q).releasedMS != 0:
		case q.Symbol() == symbol.Key():
			frozen -= q.Remaining()
		case s.tracker.sharesAsset(symbol, q.Symbol()):
			return // it freezes some of the same asset
		}
	}
	for i := range s.fetched.SpotOrders.Items() {
		o := &s.fetched.SpotOrders.Items()[i]
		switch {
		case o.Side != exchange.Sell || s.tracker.match(o) != nil || s.hasFreed(o):
		case o.Key() == symbol.Key():
			frozen -= o.Remaining()
		case s.tracker.sharesAsset(symbol, o.Key()):
			return
		}
	}
	if frozen >= p.Remaining() {
		s.tracker.dropInferredEnd(p.ClientOrderID())
	}
}

// noteWalletShortfall records that the wallet lacks the quantity of an uncertain sale. If a later wallet
// contains the asset again, another party has made a purchase. A wallet that may be older than the last
// fill proves nothing.
func (s unlistedOrders) noteWalletShortfall(p *account.Placement, symbol *SymbolState) {
	if p.Order().Side != exchange.Sell || s.fetched.BeganMS <= max(p.SentMS(), symbol.FilledMS()+s.tracker.Bounds().StalenessMS) {
		return
	}
	if !s.tracker.stillInWallet(p, symbol, symbol.position) {
		s.tracker.noteWalletShowsSold(p.ClientOrderID())
	}
}

// The exchange may execute a purchase on spot twice (exactly-once.md, case 41), and the order history may show only one of the executions. The
// purchase has then ended, but the wallet still shows the other one: since it was sent, the wallet has paid for two and received the units of two.

// formerPurchase is the newest purchase on a symbol that has ended. It knows the earlier wallet, which a second execution is recognized from, only for
// purchases by amount.
type formerPurchase struct {
	clientOrderID     string
	order             exchange.NewOrder
	sentMS            int64
	filledMS          int64 // of the symbol's last fill at its end
	before            priorBalance
	secondFillSeenMS  int64             // when a wallet first showed a second execution; 0 for not yet
	secondFill        exchange.Quantity // its quantity
	secondFillSeenFor persistence       // for how long the wallet has shown it
}

// follow returns a purchase that has ended after this one; its own fill explains nothing that the wallet has shown since. A wallet older than this
// one's fill proves nothing about the next one.
func (t *formerPurchase) follow(p *account.Placement, before priorBalance, filledMS int64) formerPurchase {
	if t.filledMS >= before.atMS {
		before = priorBalance{}
	}
	before.booked = p.Symbol()
	return formerPurchase{clientOrderID: p.ClientOrderID(), order: p.Order(), sentMS: p.SentMS(), filledMS: filledMS, before: before}
}

// executedAgain returns the quantity that a second execution of the newest ended purchase has bought: the wallet shows it, and a history read later shows
// no purchase of others. It counts until a fill is booked on the symbol, because that may be this execution. If it persists, a person must check.
// Another botd with the same plan buys the same amount in the same second, so while lists omit ids, or such a botd is known, the wallet proves nothing.
func (s unlistedOrders) executedAgain(symbol *SymbolState) exchange.Quantity {
	t := &symbol.spot.endedPurchase
	if t.before.atMS == 0 {
		return 0
	}
	others := s.unclaimedPurchases(symbol, t.sentMS)
	switch {
	case symbol.FilledMS() != t.filledMS || t.secondFill != 0 && others >= t.secondFill:
		symbol.spot.endedPurchase = formerPurchase{}
		return 0
	case t.secondFill != 0:
		if t.secondFillSeenFor.extend(s.fetched); t.secondFillSeenFor.exceeds(s.tracker.Bounds().StalenessMS) {
			s.quarantine(symbol, "the wallet change matches a second execution of "+t.clientOrderID+", but no list shows it")
		}
		return t.secondFill
	case s.tracker.omitsIDs() || s.tracker.unnamedPeer.HasUnnamedPeer() || s.tracker.boughtSince(nil, t.before):
		return 0
	}
	bought, times := s.walletEvidence().boughtTimes(&t.order, t.before, symbol)
	switch beyond := min(s.tracker.balanceBeyondFills(symbol)-others, bought/maxTimes); {
	case times < maxTimes || symbol.tooSmallToTrade(beyond): // the quantity beyond the fills of one execution is a remainder of rounded fees
		t.secondFillSeenMS = 0
	case t.secondFillSeenMS == 0:
		t.secondFillSeenMS = s.fetched.EndedMS
	case s.fetched.readHistory(symbol.Key()) && s.fetched.BeganMS > t.secondFillSeenMS:
		t.secondFill = beyond
	}
	return t.secondFill
}
