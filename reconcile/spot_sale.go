package reconcile

import (
	"cmp"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// saleLimit limits the quantity of one spot sale to the wallet's balance for it. It does not limit a futures order.
type saleLimit struct{ *derivation }

func (d *derivation) saleLimit() saleLimit { return saleLimit{d} }

// sellable limits a spot sale to the newest wallet's free balance, less the sales that no read has
// shown yet and those derived in this round. A reduction therefore never waits for the wallet to confirm
// the fills, and never requests more than exists. On futures only the exchange's sum limits it (room).
func (d saleLimit) sellable(quantity exchange.Quantity) exchange.Quantity {
	if d.spotSales().historyUnread() || d.spotSales().saleRefused() || d.desired.Unread && d.spotPosition().walletDecides() {
		quantity = min(quantity, max(0, d.spotPosition().ownBalance()-d.book.frozenThoughRefused(d.symbol.Key())))
	}
	return d.withinFree(quantity, func(p *account.Placement) bool { return !p.Seen() && !d.mayRepeat(p) })
}

// spotSales determines whether a spot sale of unknown outcome may have been executed, and which quantity all sales of a symbol leave free.
type spotSales struct{ *situation }

func (s *situation) spotSales() spotSales { return spotSales{s} }

// saleRefused reports whether the exchange has just refused a spot sale, or the wallet shows that a refused sale was executed; a history that does
// not show it may be old. A repeated sale is limited to the wallet's balance beyond foreign holdings.
func (s spotSales) saleRefused() bool {
	key := s.symbol.Key()
	shown := s.book.soldThoughRefused(key)+s.book.frozenThoughRefused(key) > 0
	return key.Market == exchange.Spot && (shown || slices.ContainsFunc(s.book.Refusals(), func(r account.Refusal) bool {
		return r.Symbol == key && !r.Purpose.Opens() && s.nowMS-r.LastMS < confirmMS
	}))
}

// historyUnread reports whether no spot history has been read since the start. It would show the orders that a restored old backup does not know;
// until then only the wallet determines how much botd may sell.
func (s spotSales) historyUnread() bool {
	return s.symbol.Key().Market == exchange.Spot && s.desired.Unread && !s.symbol.read
}

// ownBalance returns botd's share of the balance in the newest wallet.
func (s spotPosition) ownBalance() exchange.Quantity {
	return max(0, s.book.baseBalance(s.symbol)-s.symbol.Baseline())
}

// withinFree limits a sale to the free balance less those sales of botd's for which takes is true.
func (d saleLimit) withinFree(quantity exchange.Quantity, takes func(*account.Placement) bool) exchange.Quantity {
	rules := d.symbol.rules
	if rules.Market != exchange.Spot {
		return quantity
	}
	free := d.book.Balance(rules.Base).Free
	for p := range d.book.Live() {
		if p.Order().Market != exchange.Spot || p.Order().Side != exchange.Sell || !takes(p) {
			continue
		}
		if of := d.book.Symbol(p.Symbol()).rules; of != nil && of.Base == rules.Base {
			free = free.Sub(of.QuantityAmount(p.Remaining()))
		}
	}
	for i := range d.intents {
		if order := &d.intents[i].Order; d.intents[i].Purpose != placement.Cancel && order.Side == exchange.Sell {
			free = free.Sub(rules.QuantityAmount(order.Quantity))
		}
	}
	clipped := max(0, min(quantity, rules.FloorQuantity(rules.QuantityOf(free)+d.spotSales().freed())))
	if d.book.walletRead {
		return max(clipped, d.beyondOpenSales(quantity))
	}
	return max(clipped, d.freeWhileUnread(quantity)) // the wallet does not contain purchases made since it was read
}

// freed returns the quantity that canceled orders of botd's have released and that the wallet may still freeze. If others have open sales too, it is
// at most the quantity that the wallet freezes beyond all open sales: a wallet that freezes for those is not older than they are.
func (s spotSales) freed() exchange.Quantity {
	freed, others := s.book.freed(s.symbol), s.book.sellsOfOthers(s.symbol)
	frozen := s.symbol.rules.QuantityOf(s.book.Balance(s.symbol.rules.Base).Frozen) - others
	for p := range s.book.Live() {
		if p.Order().Side == exchange.Sell && p.Seen() && s.sameAsset(p.Symbol()) && s.book.delivery(p).releasedMS == 0 {
			frozen -= p.Remaining()
		}
	}
	if others == 0 || frozen < 0 {
		return freed
	}
	return min(freed, frozen)
}

// beyondOpenSales returns the part of a quantity that the wallet contains, free or frozen, beyond all open sales. A wallet that freezes more than these
// is old or wrong, and its small free balance does not prevent a reduction. If it is right after all, the exchange refuses the sale, and the next one
// is limited to the free balance. In a quarantine, and after a refusal, an open sale that botd does not know may hold some of it.
func (d saleLimit) beyondOpenSales(quantity exchange.Quantity) exchange.Quantity {
	unknown := d.symbol.Quarantine() != "" || d.spotSales().saleRefused()
	if d.desired.Unread || d.book.StandsDown() || d.symbol.spot.overdrawn || unknown && !d.spotSales().walletHoldsOnlyOwn() {
		return 0
	}
	rules := d.symbol.rules
	left := d.spotSales().balanceAfterSales(d.book.baseBalance(d.symbol))
	for i := range d.intents {
		if order := &d.intents[i].Order; d.intents[i].Purpose != placement.Cancel && order.Side == exchange.Sell {
			left -= order.Quantity
		}
	}
	return max(0, min(quantity, rules.FloorQuantity(left)))
}

// walletHoldsOnlyOwn reports whether the newest wallet shows no coins of a spot symbol's asset beyond botd's own. An excessive sale then sells nobody
// else's coins: the exchange refuses it.
func (s spotSales) walletHoldsOnlyOwn() bool {
	symbol := s.symbol
	others := max(symbol.Baseline(), symbol.Unattributed(), s.book.balanceBeyondFills(symbol)-symbol.spot.presumed)
	return symbol.Key().Market == exchange.Spot && s.book.walletMS != 0 && !s.book.StandsDown() && symbol.tooSmallToTrade(others)
}

// balanceAfterSales returns the part of a quantity of a spot symbol's asset that remains after botd's own sales and those that the open list shows.
func (s spotSales) balanceAfterSales(quantity exchange.Quantity) exchange.Quantity {
	for p := range s.book.Live() {
		if p.Order().Side == exchange.Sell && s.sameAsset(p.Symbol()) && s.book.delivery(p).releasedMS == 0 {
			quantity -= p.Remaining()
		}
	}
	return quantity - s.book.sellsOfOthers(s.symbol)
}

// sellsOfOthers returns the quantity of a spot symbol's asset that the open sales of others hold.
func (t *tracked) sellsOfOthers(symbol *SymbolState) (sum exchange.Quantity) {
	for _, on := range t.symbols {
		for _, o := range slices.Concat(on.foreign, on.leftToOwner) {
			if o.Side == exchange.Sell && t.sharesAsset(symbol, on.Key()) {
				sum += o.Remaining()
			}
		}
	}
	return sum
}

// sameAsset reports whether a sale on a symbol may be of the same asset: on spot, a symbol with unknown rules may be.
func (s spotSales) sameAsset(key exchange.SymbolKey) bool {
	return s.book.sharesAsset(s.symbol, key)
}

// sharesAsset reports whether a spot symbol has, or may have, the base asset of another one: it may if its rules are unknown, or if botd does not
// trade it.
func (t *tracked) sharesAsset(symbol *SymbolState, key exchange.SymbolKey) bool {
	of := t.Symbol(key)
	return key.Market == exchange.Spot && (of == nil || of.rules == nil || of.rules.Base == symbol.rules.Base)
}

// ofAsset converts a quantity of a symbol to another spot symbol's steps; 0 unless the rules show that both have the same asset.
func (t *tracked) ofAsset(symbol *SymbolState, key exchange.SymbolKey, quantity exchange.Quantity) exchange.Quantity {
	switch rules := t.rulesOf(key); {
	case key == symbol.Key():
		return quantity
	case key.Market != exchange.Spot || rules == nil || rules.Base != symbol.rules.Base:
		return 0
	default:
		return symbol.rules.QuantityOf(rules.QuantityAmount(quantity))
	}
}

// freeWhileUnread returns the part of a quantity that no sale of botd's needs, while the wallet cannot be
// read.
func (d saleLimit) freeWhileUnread(quantity exchange.Quantity) exchange.Quantity {
	free := d.symbol.rules.FloorQuantity(d.ownPosition.Abs())
	for _, p := range d.symbol.live {
		if p.Order().Side == exchange.Sell && !d.mayRepeat(p) {
			free -= p.Remaining()
		}
	}
	for i := range d.intents {
		if order := &d.intents[i].Order; d.intents[i].Purpose != placement.Cancel && order.Side == exchange.Sell {
			free -= order.Quantity
		}
	}
	return max(0, min(quantity, free))
}

// repeatable reports whether a second sale alongside an undecided one cannot sell foreign holdings:
// beyond those, the wallet still shows most of the quantity that the first would have sold, and not
// enough for both, so that the exchange refuses the one that arrives second. The foreign holdings were
// measured while no order was undecided. No wallet read since then has shown that the first was
// executed.
func (s spotSales) repeatable(p *account.Placement) bool {
	return !s.book.delivery(p).shownSold && s.stillInWallet(p) && s.book.baseBalance(s.symbol)-s.ownPosition.Abs() < p.Remaining()
}

// fitsWithUnknown reports whether on spot the wallet has enough for a sale and for another one of unknown outcome, so that the exchange would refuse
// neither. If the wallet freezes the asset for the other one, its free balance is less than the position.
func (s spotSales) fitsWithUnknown(quantity exchange.Quantity) bool {
	unknown := func(p *account.Placement) bool {
		return p.Purpose() == placement.Exit && p.State() == placement.Uncertain && p.OrderID() == 0 && quantity+p.Remaining() <= s.book.baseBalance(s.symbol)
	}
	return s.symbol.Key().Market == exchange.Spot && quantity < s.symbol.rules.FloorQuantity(s.ownPosition.Abs()) && s.book.walletRead &&
		slices.ContainsFunc(s.targetOrders, unknown)
}

// stillInWallet reports whether the wallet still shows, beyond foreign holdings, most of the quantity
// that a sale of unknown outcome would have sold.
func (s spotSales) stillInWallet(p *account.Placement) bool {
	return s.book.stillInWallet(p, s.symbol, s.ownPosition)
}

// leavesUncovered reports whether the quantity of a spot sale still needs a stop: the sale may be
// repeated, or it is uncertain, no list shows it, and the wallet still shows the asset without freezing
// any. If the sale executes later, the superfluous stop appears in the next list and is canceled.
func (d spotStops) leavesUncovered(p *account.Placement) bool {
	if d.mayRepeat(p) {
		return true
	}
	order := p.Order()
	switch {
	case !answerLost(p, d.nowMS) || p.OrderID() != 0 || !d.book.delivery(p).unfrozen || !d.book.walletRead:
		return false
	case d.spotSales().unpaid(&order, p.Remaining(), d.book.delivery(p).before, p.SentMS()):
		return true
	case d.book.StandsDown(): // the other botd's purchases may have replaced what the sale has sold
		return d.book.stillInWallet(p, d.symbol, d.symbol.jointFills())
	}
	return d.spotSales().stillInWallet(p) || d.book.freezesLess(d.symbol)
}

// unpaid reports whether the wallet shows no money from a sale: then the sale was not executed, and a wallet that shows less of the asset is wrong.
// This counts only if no holdings of a person could be sold: the wallet shows none of the asset at all, or nobody else holds any and no money has
// arrived. If the wallet is right after all, the exchange refuses to sell an asset that is not there.
func (s spotSales) unpaid(order *exchange.NewOrder, left exchange.Quantity, before priorBalance, sentMS int64) bool {
	quote := s.book.Balance(s.symbol.rules.Quote)
	got := quote.Free.Add(quote.Frozen).Sub(before.amount)
	minProceeds := s.symbol.rules.Notional(order.Price, left).MulRate(exchange.RateOne * 99 / 100) // at its limit, less the fee
	neither := s.symbol.tooSmallToTrade(s.book.baseBalance(s.symbol)) && got.Less(minProceeds)
	alone := s.symbol.tooSmallToTrade(max(s.symbol.Baseline(), s.symbol.Unattributed()))
	nothing := alone && before.atMS != 0 && s.book.readAfter(before.atMS) && got.Sign() <= 0
	since := priorBalance{atMS: cmp.Or(before.atMS, sentMS), paid: before.paid}
	return (neither || nothing) && !s.book.boughtSince(nil, since)
}

// freezesLess reports whether the wallet freezes less of a spot symbol's asset than the open list's
// sales require: it is older than the list, or wrong, and does not prove that any of the asset was sold.
func (o *observedAccount) freezesLess(symbol *SymbolState) bool {
	frozen := symbol.rules.QuantityOf(o.Balance(symbol.rules.Base).Frozen)
	for i := range o.listed[exchange.Spot].orders {
		if o := &o.listed[exchange.Spot].orders[i]; o.Key() == symbol.Key() && o.Side == exchange.Sell {
			frozen -= o.Remaining()
		}
	}
	for _, p := range symbol.live { // its row is unreadable, but the order is open
		if p.Order().Side == exchange.Sell && slices.Contains(o.listed[exchange.Spot].unread, p.OrderID()) {
			frozen -= p.Remaining()
		}
	}
	return frozen < 0
}

// walletWrong reports whether the wallet freezes less of a spot symbol's asset than the open list's sales require, and is not merely older than the
// last of botd's own sales.
func (b *Book) walletWrong(symbol *SymbolState) bool {
	arrivedMS := int64(0)
	for _, p := range symbol.live {
		if p.Order().Side == exchange.Sell {
			arrivedMS = max(arrivedMS, b.arrivedMS(p))
		}
	}
	return b.readAfter(arrivedMS+min(b.Settle().StalenessMS, maxUnfrozenMS)) && b.freezesLess(symbol)
}

// cancelPassedExits cancels a resting spot exit whose limit the price has passed, and reports whether
// one blocks the next exit, which uses the price of that time.
func (d positionExit) cancelPassedExits(live []*account.Placement) (stuck bool) {
	for _, p := range live {
		o := p.Order()
		if o.Market == exchange.Spot && o.Side == exchange.Sell && o.Type == exchange.Limit && p.Seen() &&
			!p.State().OutcomeUnknown() && d.nowMS-p.SentMS() >= RepeatMS {
			d.cancel(p, "it rests because the price has passed its limit")
			stuck = true
		}
	}
	return stuck
}
