package reconcile

import (
	"botd/exchange"
	"botd/reconcile/record"
)

// On spot the fee of a purchase is taken from the purchased asset. botd deducts it at the fill, at the
// rate shown by the order's own executions, or else at the configured rate, and rounds it up, so that
// protection and exits can be sent at once for a quantity that certainly exists. Later the wallet
// corrects it.

// spotFeeBound is the largest plausible share of a purchase taken as fees; a larger shortfall of the
// wallet counts as unexplained.
const spotFeeBound exchange.Rate = 500_000 // 0.5 %

// learnFees records the fee rates shown by executions of purchases.
func (s walletComparison) learnFees() {
	for i := range s.fetched.Trades {
		traded := &s.fetched.Trades[i]
		p := s.tracker.withOrderID(exchange.Spot, traded.OrderID)
		if p == nil || p.Order().Side != exchange.Buy || traded.Filled <= 0 {
			continue
		}
		symbol := s.tracker.Symbol(p.Symbol())
		if symbol.rules == nil {
			continue
		}
		symbol.feeRate, symbol.feeRateKnown = min(rateOfFee(traded.Fee, symbol.rules.QuantityAmount(traded.Filled)), spotFeeBound), true
	}
}

// rateOfFee returns the lowest rate that yields at least the charged fee: with a higher rate, fees that
// are multiples of the step would be expected a whole unit too high.
func rateOfFee(fee, bought exchange.Amount) exchange.Rate {
	rate := fee.Ratio(bought) // truncates
	if bought.MulRate(rate).Less(fee) {
		rate++
	}
	return rate
}

// expectFees returns the record that deducts the fee of the part of a purchase that a record has just filled; false if none is due. The rate given is
// the configured one, which holds until an execution shows the actual rate.
func (s *SymbolState) expectFees(rate exchange.Rate) (record.Record, bool) {
	if s.Key().Market != exchange.Spot || s.rules == nil || s.Bought() <= 0 {
		return record.Record{}, false
	}
	if s.feeRateKnown {
		rate = s.feeRate
	}
	due := ceilUnit(s.rules, s.rules.QuantityAmount(s.Bought()).MulRate(rate)) - s.ExpectedFees()
	if due <= 0 {
		return record.Record{}, false
	}
	return s.about(record.Fees{Quantity: due, Expected: true, Evidence: "fees in the purchased asset, at the known rate"}), true
}

// reconcileWallet books the wallet's shortfall against the fills as fees, up to their bound. A larger
// shortfall is decided by decideShortWallet.
func (s walletComparison) reconcileWallet(symbol *SymbolState, balance exchange.Quantity, live bool) {
	bound := symbol.rules.QuantityOf(symbol.rules.QuantityAmount(symbol.Bought()).MulRate(spotFeeBound)) + symbol.rules.QuantityTick - symbol.ExpectedFees()
	own, shown := symbol.Known()-symbol.Fees(), balance-symbol.Baseline()
	short := own - shown
	if peer := &symbol.spot.peer; s.tracker.StandsDown() {
		short = max(short, peer.hiddenSales(own, shown-peer.heldByPersons(symbol.Unattributed())))
	}
	if short <= 0 || short <= bound && symbol.Bought() > 0 {
		s.recordUnattributed(symbol, -short)
		symbol.missedFor.reset()
		symbol.noteWalletAgrees(s.fetched.EndedMS)
		s.awaitsHistory(symbol, -short-bound)
		s.reconcileFees(symbol, short, live)
		return
	}
	if short != symbol.missed {
		symbol.missedFor.reset()
	}
	symbol.missed = short
	symbol.missedFor.extend(s.fetched)
	s.decideShortWallet(symbol, short)
}

// reconcileFees books the difference between actual and expected fees. While an order is live that may fill
// between the reads of orders and wallet, the difference must persist first. A wallet excess beyond the
// expected fees is foreign.
func (s walletComparison) reconcileFees(symbol *SymbolState, short exchange.Quantity, live bool) {
	if short == 0 || -short > symbol.ExpectedFees() {
		symbol.feeDifferenceFor.reset()
		return
	}
	if live {
		if short != symbol.feeDifference {
			symbol.feeDifferenceFor.reset()
		}
		symbol.feeDifference = short
		if symbol.feeDifferenceFor.extend(s.fetched); !symbol.feeDifferenceFor.exceeds(s.tracker.Bounds().StalenessMS) {
			return
		}
	}
	symbol.feeDifferenceFor.reset()
	evidence := "fees taken from the purchased asset"
	if short < 0 {
		evidence = "fees in the purchased asset were lower than expected"
	}
	s.emit(symbol.about(record.Fees{Quantity: short, Evidence: evidence}))
}

// ceilUnit rounds an amount of the base asset up to the smallest quantity, not to the step, which may
// change while the asset is held.
func ceilUnit(rules *exchange.Symbol, amount exchange.Amount) exchange.Quantity {
	floor := rules.QuantityOf(amount)
	if rules.QuantityAmount(floor).Less(amount) {
		floor++
	}
	return floor
}
