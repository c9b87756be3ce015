package simulation

import (
	"fmt"
	"maps"
	"slices"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/record"
)

// converged checks the end of a run, after the quiet period.
func (i *inspector) converged() {
	w := i.w
	if !w.daemon.up {
		w.fail("converged", "the process is not up")
		return
	}
	tracker := w.daemon.machine.Tracker()
	for p := range tracker.Live() {
		due := w.nowMS-p.SentMS() > recentMS && !w.venue.held[p.Symbol()].recent(w.nowMS, w.bounds.StalenessMS)
		if p.State().OutcomeUncertain() && due && tracker.Symbol(p.Symbol()).Quarantine() == "" {
			w.fail("converged", "%s is still %s", p.ClientOrderID(), p.State())
		}
	}
	for n := range i.watched {
		i.came(&i.watched[n], tracker)
	}
	if i.foreignOpen() && !i.stopped(tracker) && w.stats.Faults[Resolve] == 0 {
		w.fail("foreign_prefix", "an order %s is on the trader, and it is not halted", foreignID)
	}
	i.known(tracker)
	if w.ledger {
		i.booksAgree(tracker)
	}
	for id, a := range w.venue.placed {
		if h := w.venue.held[a.order.Key()]; h.touchedMS == 0 && !h.recent(w.nowMS, w.bounds.StalenessMS) && !i.guessed[id] && i.booked[id] != a.filled {
			w.fail("fill_once", "%s: %d filled, %d booked", id, a.filled, i.booked[id])
		}
	}
}

// known checks that the tracker contains all of botd's orders on the exchange; of two orders with one id it
// contains both until the younger one is canceled (case 14).
func (i *inspector) known(tracker *reconcile.Tracker) {
	w := i.w
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		w.venue.x.EachOpenOrder(trader, market, func(o *exchange.Order) {
			a := w.venue.byOrder[o.ID]
			if a == nil || a.sentMS > w.quietMS || w.stats.Faults[OldBackup] > 0 {
				return
			}
			if !tracker.AnyLive(func(p *account.Placement) bool { return p.OrderID() == o.ID && p.Order().Market == market }) {
				w.fail("orphan", "order %d under %s is open, and the book does not hold it", o.ID, o.ClientOrderID)
			}
		})
	}
}

// accountedMS bounds the ledger's delay: an idle round until a read shows a fill, the staleness of reads, and the rounds in between.
const accountedMS = 45_000

// booksAgree checks that the ledger's wallets equal the exchange's, to the last digit.
func (i *inspector) booksAgree(tracker *reconcile.Tracker) {
	w := i.w
	futures, assets := false, map[string]bool{}
	for _, watch := range i.watched {
		if at := max(watch.held.filledMS, watch.held.touchedMS); at != 0 && w.nowMS-at < accountedMS {
			return
		}
		if watch.role.key.Market == exchange.Futures {
			futures = true
		} else {
			assets[watch.held.rules.Base], assets[watch.held.rules.Quote] = true, true
		}
	}
	have := func(market exchange.Market, asset string) (sum exchange.Amount) {
		for b := range tracker.Ledger().Balances() {
			if b.Account == ledger.Wallet && b.Symbol.Market == market && b.Asset == asset {
				sum = sum.Add(b.Amount)
			}
		}
		return sum
	}
	if money := w.venue.x.Money(trader); futures && have(exchange.Futures, "USDT") != money.Wallet {
		w.fail("ledger", "the futures wallet holds %s USDT, the ledger has %s", money.Wallet, have(exchange.Futures, "USDT"))
	}
	for _, b := range tracker.Ledger().Unexplained() {
		if w.venue.x.Money(trader).Insurance.IsZero() && !i.touched(exchange.Futures, exchange.Spot) {
			w.fail("ledger", "%s %s of the %s wallet are not explained", b.Amount.Neg(), b.Asset, b.Symbol.Market)
		}
	}
	for _, asset := range slices.Sorted(maps.Keys(assets)) {
		free, frozen := w.venue.x.Balance(trader, asset)
		if sum := free.Add(frozen); have(exchange.Spot, asset) != sum {
			w.fail("ledger", "the spot wallet holds %s %s, the ledger has %s", sum, asset, have(exchange.Spot, asset))
		}
	}
}

// touched reports whether anyone but botd traded on one of the markets.
func (i *inspector) touched(markets ...exchange.Market) bool {
	return slices.ContainsFunc(i.watched, func(w watch) bool { return w.held.touchedMS != 0 && slices.Contains(markets, w.held.key.Market) })
}

// othersExplain reports whether a trade by anyone but botd explains a quarantine. Of a lost journal, the margin in use does not show the symbol (case 35).
func (i *inspector) othersExplain(key exchange.SymbolKey, cause record.QuarantineCause) bool {
	h := i.w.venue.held[key]
	return h == nil || h.touchedMS != 0 || cause == record.JournalLost && key.Market == exchange.Futures && i.touched(exchange.Futures)
}

// came checks that one symbol is as planned, or quarantined for a reason.
func (i *inspector) came(watch *watch, tracker *reconcile.Tracker) {
	w, symbol, held := i.w, tracker.Symbol(watch.role.key), watch.held
	switch {
	case symbol.Quarantine() != "":
		w.stats.Quarantined++
		if !i.othersExplain(watch.role.key, symbol.Cause()) {
			w.fail("converged", "%s is quarantined though nobody else touched it: %s", watch.role.key, symbol.Quarantine())
		}
		return
	case held.recent(w.nowMS, w.bounds.StalenessMS):
		return // a resting order filled since the last round
	case !i.agrees(watch, symbol):
		w.fail("converged", "%s: the book holds %d, the exchange %d", watch.role.key, symbol.Known(), held.position)
	case watch.role.key.Market == exchange.Spot && held.touchedMS == 0:
		i.walletExplained(watch, symbol)
	}
	i.reached(watch, tracker)
}

// walletExplained checks on spot that the wallet's change equals fills and fees, except for the remainders of complete
// sales: if the position was bought again at once, no wallet read in between added them to the baseline.
func (i *inspector) walletExplained(watch *watch, symbol *reconcile.SymbolState) {
	free, frozen := i.w.venue.x.Balance(trader, watch.held.rules.Base)
	wallet := watch.held.rules.FloorQuantity(watch.held.rules.QuantityOf(free.Add(frozen)))
	explained := symbol.Baseline() + symbol.Known() - symbol.Fees()
	slack := watch.held.rules.QuantityOf(watch.held.rules.QuantityAmount(watch.role.most).MulRate(exchange.RateOne/200)) + 2*watch.held.rules.QuantityTick
	if off := wallet - explained; off > slack+watch.held.rules.QuantityOf(watch.held.rest) || -off > slack {
		i.w.fail("converged", "%s: the wallet holds %d, of which %d are explained", watch.role.key, wallet, explained)
	}
}

// foreignOpen reports whether the second botd's order is still open.
func (i *inspector) foreignOpen() (open bool) {
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		i.w.venue.x.EachOpenOrder(trader, market, func(o *exchange.Order) { open = open || o.ClientOrderID == foreignID })
	}
	return open
}

// stopped reports whether trading is halted or a symbol quarantined.
func (i *inspector) stopped(tracker *reconcile.Tracker) bool {
	quarantined := false
	for _, key := range i.w.venue.keys {
		quarantined = quarantined || tracker.Symbol(key).Quarantine() != ""
	}
	return quarantined || tracker.Halted().Level != record.LevelNone
}

// unchangedMS is the minimum age of a target that is checked.
const unchangedMS = 20_000

// reached checks that a target is reached unless something forbids it.
func (i *inspector) reached(watch *watch, tracker *reconcile.Tracker) {
	w, role, held := i.w, watch.role, watch.held
	state := tracker.Strategy(role.name)
	switch {
	case role.kind != "twap" && role.kind != "swing", held.touchedMS != 0, state.Latch() != 0, tracker.HaltOn(role.name, role.key).Level != record.LevelNone:
		return
	case i.story.shut: // blocked by a restored backup
		return
	case i.story.limited(role.name, w.daemon.clock()), w.nowMS-max(i.story.freeMS[""], i.story.freeMS[role.name]) < unchangedMS, w.daemon.low:
		return
	case tracker.Breaker().UntilMS > w.nowMS-60_000, w.nowMS-i.story.planMS[role.name] < unchangedMS:
		return
	case i.story.last[role.name] != fmt.Sprint(state.Plan().Target()): // just decided: its record is not durable yet
		return
	case w.stats.Faults[RuleDrift] > 0: // a remainder that was too small under the old rules stays
		return
	case w.poor: // margin may forbid it
		return
	case held.doubled > 0: // a lost stop was repeated, and both may have filled
		return
	}
	want := state.Plan().Target().Quantity
	if role.kind == "twap" && want.Abs() != role.most {
		w.fail("reached", "%s targets %d in the end, of %d", role.name, want, role.most)
	}
	if priced, is := state.Priced(state.Plan().Target()); is {
		want = priced // a filled resting exit has lowered it
	}
	last, _ := w.venue.x.Price(role.key)
	off := want - held.exposed()
	// Fees are deducted in whole steps, so botd may hold a step more than it counts.
	near := role.key.Market == exchange.Spot &&
		(off.Abs() <= held.rules.QuantityTick || held.rules.Notional(last, off.Abs()).Less(held.rules.MinNotional.Mul(2)))
	if off != 0 && !near && !(want == 0 && i.dustCloses(watch)) {
		w.fail("reached", "%s targets %d in the end and holds %d", role.name, want, held.exposed())
	}
}

// dustMS is the time until the second order joins the first order of the whole position that closes dust: an interval, and an idle round.
const dustMS = 60_000 + recentMS

// dustCloses reports whether a position is too small for an order of its own, while a stop and a take-profit of the whole position stand, or only one of
// them that is recent. The exchange accepts no third closePosition order, and the first of them to trigger closes the position (case 36).
func (i *inspector) dustCloses(watch *watch) bool {
	key, held := watch.role.key, watch.held
	last, _ := i.w.venue.x.Price(key)
	if key.Market != exchange.Futures || !held.rules.BelowMinimum(last, held.position.Abs()) {
		return false
	}
	stop, profit, young := false, false, false
	i.w.venue.x.EachOpenOrder(trader, key.Market, func(o *exchange.Order) {
		if o.Symbol == key.Name && o.ClosePosition {
			stop, profit = stop || o.Type == exchange.StopMarket, profit || o.Type == exchange.TakeProfitMarket
			young = young || i.w.nowMS-o.CreatedMS < dustMS
		}
	})
	return stop && profit || young
}
