package reconcile

import (
	"cmp"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// saleEvidence determines, from the wallet and the reads, whether an uncertain spot sale may have been executed, and which quantity all sales of a
// symbol leave free.
type saleEvidence struct{ *inputs }

func (s *inputs) saleEvidence() saleEvidence { return saleEvidence{s} }

// saleRefused reports whether the exchange has just refused a spot sale, or the wallet shows that a refused sale was executed; a history that does
// not show it may be old. A repeated sale is limited to the wallet's balance beyond foreign holdings. alone also counts what only the wallet shows as
// resting, against lists.
func (s saleEvidence) saleRefused(alone bool) bool {
	key := s.symbol.Key()
	shown := s.tracker.soldThoughRefused(key)+s.tracker.frozenThoughRefused(key, alone) > 0
	return key.Market == exchange.Spot && (shown || slices.ContainsFunc(s.tracker.RefusedIntents(), func(r account.RefusedIntent) bool {
		return r.Symbol == key && !r.Purpose.Opens() && s.nowMS-r.LastMS < confirmMS
	}))
}

// historyUnread reports whether no spot history has been read since the start. It would show the orders that a restored old backup does not know;
// until then only the wallet determines how much botd may sell.
func (s saleEvidence) historyUnread() bool {
	return s.symbol.Key().Market == exchange.Spot && s.desired.Unread && !s.symbol.read
}

// freed returns the quantity that canceled orders of botd's have released and that the wallet may still freeze. If others have open sales too, it is
// at most the quantity that the wallet freezes beyond all open sales: a wallet that freezes for those is not older than they are.
func (s saleEvidence) freed() exchange.Quantity {
	freed, others := s.tracker.freed(s.symbol), s.tracker.sellsOfOthers(s.symbol)
	frozen := s.symbol.rules.QuantityOf(s.tracker.Balance(s.symbol.rules.Base).Frozen) - others
	for p := range s.tracker.Live() {
		if p.Order().Side == exchange.Sell && p.Seen() && s.sameAsset(p.Symbol()) && s.tracker.delivery(p).releasedMS == 0 {
			frozen -= p.Remaining()
		}
	}
	if others == 0 || frozen < 0 {
		return freed
	}
	return min(freed, frozen)
}

// walletHoldsOnlyOwn reports whether the newest wallet shows no units of a spot symbol's asset beyond botd's own, no single read has ended others', and no
// purchase is unclaimed. An excessive sale then sells nobody else's units: the exchange refuses it.
func (s saleEvidence) walletHoldsOnlyOwn() bool {
	symbol := s.symbol
	others := max(symbol.Baseline(), symbol.Unattributed(), symbol.spot.othersEnded, symbol.spot.unlisted.boughtByOthers(),
		s.tracker.balanceBeyondFills(symbol)-symbol.spot.unlisted.inferred)
	return symbol.Key().Market == exchange.Spot && s.tracker.walletMS != 0 && !s.tracker.StandsDown() && symbol.tooSmallToTrade(others)
}

// balanceAfterSales returns the part of a quantity of a spot symbol's asset that remains after botd's own sales and those that the open list shows.
func (s saleEvidence) balanceAfterSales(quantity exchange.Quantity) exchange.Quantity {
	for p := range s.tracker.Live() {
		if p.Order().Side == exchange.Sell && s.sameAsset(p.Symbol()) && s.tracker.delivery(p).releasedMS == 0 {
			quantity -= p.Remaining()
		}
	}
	return quantity - s.tracker.sellsOfOthers(s.symbol)
}

// rests reports whether the wallet freezes the asset for a spot sale that the exchange has acknowledged and whose row cannot be read: it freezes
// enough for all open sales. Another sale is not sent in addition.
func (s saleEvidence) rests(p *account.Placement) bool {
	if p.Order().Market != exchange.Spot || p.OrderID() == 0 || s.symbol.rules == nil || !s.tracker.readAfter(s.tracker.arrivedMS(p)) {
		return false
	}
	return s.balanceAfterSales(s.symbol.rules.QuantityOf(s.tracker.Balance(s.symbol.rules.Base).Frozen)) >= 0
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

// frozenForOthers returns the quantity that the newest wallet freezes beyond botd's own sales, whether or not the open list shows whose orders hold it.
func (s saleEvidence) frozenForOthers() exchange.Quantity {
	frozen := s.symbol.rules.QuantityOf(s.tracker.Balance(s.symbol.rules.Base).Frozen)
	for p := range s.tracker.Live() {
		if p.Order().Side == exchange.Sell && s.tracker.readAfter(s.tracker.arrivedMS(p)) {
			frozen -= s.tracker.ofAsset(s.symbol, p.Symbol(), p.Remaining())
		}
	}
	return max(0, frozen)
}

// sameAsset reports whether a sale on a symbol may be of the same asset: on spot, a symbol with unknown rules may be.
func (s saleEvidence) sameAsset(key exchange.SymbolKey) bool {
	return s.tracker.sharesAsset(s.symbol, key)
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

// repeatable reports whether a second sale alongside an undecided one cannot sell foreign holdings:
// beyond those, the wallet still shows most of the quantity that the first would have sold, and not
// enough for both, so that the exchange refuses the one that arrives second. The foreign holdings were
// measured while no order was undecided. No wallet read since then has shown that the first was
// executed.
func (s saleEvidence) repeatable(p *account.Placement) bool {
	return !s.tracker.delivery(p).walletShowsSold && s.stillInWallet(p) && s.tracker.baseBalance(s.symbol)-s.ownPosition.Abs() < p.Remaining()
}

// fitsWithUncertain reports whether on spot the wallet has enough for a sale and for another uncertain one, so that the exchange would refuse
// neither. If the wallet freezes the asset for the other one, its free balance is less than the position.
func (s saleEvidence) fitsWithUncertain(quantity exchange.Quantity) bool {
	uncertain := func(p *account.Placement) bool {
		return p.Purpose() == placement.Exit && p.State() == placement.Uncertain && p.OrderID() == 0 &&
			quantity+p.Remaining() <= s.tracker.baseBalance(s.symbol)
	}
	return s.symbol.Key().Market == exchange.Spot && quantity < s.symbol.rules.FloorQuantity(s.ownPosition.Abs()) && s.tracker.walletRead &&
		slices.ContainsFunc(s.targetOrders, uncertain)
}

// stillInWallet reports whether the wallet still shows, beyond foreign holdings, most of the quantity
// that an uncertain sale would have sold.
func (s saleEvidence) stillInWallet(p *account.Placement) bool {
	return s.tracker.stillInWallet(p, s.symbol, s.ownPosition)
}

// unpaid reports whether the wallet shows no money from a sale: then the sale was not executed, and a wallet that shows less of the asset is wrong.
// This counts only if no holdings of a person could be sold: the wallet shows none of the asset at all, or nobody else holds any and no money has
// arrived. If the wallet is right after all, the exchange refuses to sell an asset that is not there.
func (s saleEvidence) unpaid(order *exchange.NewOrder, left exchange.Quantity, before priorBalance, sentMS int64) bool {
	quote := s.tracker.Balance(s.symbol.rules.Quote)
	got := quote.Free.Add(quote.Frozen).Sub(before.amount)
	minProceeds := s.symbol.rules.Notional(order.Price, left).MulRate(exchange.RateOne * 99 / 100) // at its limit, less the fee
	neither := s.symbol.tooSmallToTrade(s.tracker.baseBalance(s.symbol)) && got.Less(minProceeds)
	alone := s.symbol.tooSmallToTrade(max(s.symbol.Baseline(), s.symbol.Unattributed()))
	nothing := alone && before.atMS != 0 && s.tracker.readAfter(before.atMS) && got.Sign() <= 0
	since := priorBalance{atMS: cmp.Or(before.atMS, sentMS), paid: before.paid}
	return (neither || nothing) && !s.tracker.boughtSince(nil, since)
}

// freezesLess reports whether the wallet freezes less of a spot symbol's asset than the open list's
// sales require: it is older than the list, or wrong, and does not prove that any of the asset was sold.
func (o *observedAccount) freezesLess(symbol *SymbolState) bool { return o.listedUnfrozen(symbol) > 0 }

// listedUnfrozen returns the quantity of the open list's sales on a spot symbol for which the wallet freezes nothing; it is negative if the wallet freezes
// more.
func (o *observedAccount) listedUnfrozen(symbol *SymbolState) exchange.Quantity {
	left := -symbol.rules.QuantityOf(o.Balance(symbol.rules.Base).Frozen)
	for i := range o.listed[exchange.Spot].orders {
		if o := &o.listed[exchange.Spot].orders[i]; o.Key() == symbol.Key() && o.Side == exchange.Sell {
			left += o.Remaining()
		}
	}
	for _, p := range symbol.live { // its row is unreadable, but the order is open
		if p.Order().Side == exchange.Sell && slices.Contains(o.listed[exchange.Spot].unread, p.OrderID()) {
			left += p.Remaining()
		}
	}
	return left
}

// walletWrong reports whether the wallet freezes less of a spot symbol's asset than the open list's sales require, and is not merely older than the
// last of botd's own sales.
func (t *Tracker) walletWrong(symbol *SymbolState) bool {
	arrivedMS := int64(0)
	for _, p := range symbol.live {
		if p.Order().Side == exchange.Sell {
			arrivedMS = max(arrivedMS, t.arrivedMS(p))
		}
	}
	return t.readAfter(arrivedMS+min(t.Bounds().StalenessMS, maxUnfrozenMS)) && t.freezesLess(symbol)
}

// mayHaveSold reports whether another sale on spot could sell a quantity that has been sold: a refused sale may have been executed, because no read has
// confirmed its refusal, or a sale that the journal lacks was executed.
func (s saleEvidence) mayHaveSold() bool {
	before := s.symbol.spot.soldBefore && s.symbol.spot.walletInconclusive
	return s.symbol.Key().Market == exchange.Spot && !s.desired.Flatten && (before || slices.ContainsFunc(s.tracker.Refused(), func(r RefusedOrder) bool {
		rests := r.order.Type.StopLoss() && r.order.StopPrice < s.symbol.last // a stop whose price has not been passed sells nothing
		return r.Symbol == s.symbol.Key() && r.order.Side == exchange.Sell && !rests && s.nowMS-r.atMS < confirmMS
	}))
}

// cancelRefusedWaitMS is the time for which a spot exit waits after the exchange refused to cancel a stop that
// blocks it.
const cancelRefusedWaitMS = 3_000

// cancelJustRefused reports whether the exchange has just refused to cancel a spot stop: another party has canceled it and may be selling its asset.
// An exit then waits for a wallet that was read later.
func (s saleEvidence) cancelJustRefused() bool {
	at := s.symbol.spot.cancelRefusedMS
	return !s.desired.Flatten && s.nowMS-at < cancelRefusedWaitMS
}

// awaitsSaleOfOthers reports whether a spot exit would sell units of others if the newest wallet is right, which is the first one to show less of the
// asset than the fills explain: the order history, which is read next, may show that another botd has sold it.
func (s saleEvidence) awaitsSaleOfOthers(quantity exchange.Quantity) bool {
	t := &s.symbol.spot
	return t.difference < 0 && t.historyReads == 0 && !s.desired.Flatten && quantity > s.spotPosition().ownBalance() && !s.walletHoldsOnlyOwn()
}

const unnamedReleaseMS = 2_500

// exitReleaseMS returns the time between the answer to a stop's cancel and an exit: an unnamed peer may sell the asset as soon as the stop no longer holds it.
func (s saleEvidence) exitReleaseMS() int64 {
	if s.tracker.mayHaveUnnamedPeer() {
		return unnamedReleaseMS
	}
	return ExitReleaseMS
}

// soldAll reports whether botd's own fills on spot leave no position and no purchase is in flight: then
// a resting stop would sell a quantity that is not botd's, whatever could not be read.
func (s saleEvidence) soldAll() bool {
	return s.symbol.Key().Market == exchange.Spot && s.symbol.Known() == 0 && s.symbol.contradicted == "" &&
		!slices.ContainsFunc(slices.Concat(s.targetOrders, s.keyedOrders), func(p *account.Placement) bool { return p.Order().Side == exchange.Buy })
}
