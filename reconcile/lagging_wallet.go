package reconcile

import "botd/exchange"

// walletLag records whether a spot wallet and the fills are of two moments: the wallet shows a fill that no list shows yet, or is older than one.
type walletLag struct {
	excess   exchange.Quantity // the wallet's excess over the fills when the two were last of one moment
	bought   exchange.Quantity // quantity bought by then whose fees are not yet reconciled with the wallet
	fees     exchange.Quantity // the most that purchases since then may have cost beyond the expected fees, whether or not their position has ended
	compared bool              // since the start
	fromMS   int64             // since when the excess has been another one; 0 if it is not
	rounds   int               // number of complete reads since then
}

// These bound how long limits wait for a lagging wallet, in complete reads of the symbol and in time. An excess that lasts longer has another cause.
const (
	maxLagging = 10
	lagWaitMS  = 60_000
)

// walletLags reports whether the newest wallet's excess over a spot symbol's fills is another one than when the two were last of one moment. What
// has been bought since then may have cost fees that botd does not expect.
func (o *observedAccount) walletLags(symbol *SymbolState) bool {
	if !o.walletRead || symbol.rules == nil {
		return false
	}
	t := &symbol.spot.lag
	by := (o.balanceBeyondFills(symbol) - t.excess).Abs()
	if !t.compared && symbol.last > 0 && symbol.tooSmallToTrade(by) { // what rounded fees left before the start
		return false
	}
	return by > max(t.fees, t.unexpectedFees(symbol))
}

// unexpectedFees returns the largest amount by which the fees of purchases since then may exceed the expected ones.
func (t *walletLag) unexpectedFees(symbol *SymbolState) exchange.Quantity {
	bought := symbol.Bought()
	if bought >= t.bought { // not reconciled since
		bought -= t.bought
	}
	if bought <= 0 {
		return 0
	}
	return symbol.rules.QuantityOf(symbol.rules.QuantityAmount(bought).MulRate(spotFeeBound)) + symbol.rules.QuantityTick
}

// note records whether the wallet lags. A wallet that proves something is not older than the last fill, but a resting order may have filled after the
// list was read.
func (t *walletLag) note(s *survey, symbol *SymbolState, lags, proves bool) {
	if !s.book.walletRead || symbol.rules == nil {
		return
	}
	waited := t.rounds >= maxLagging || t.fromMS != 0 && s.fetched.EndedMS >= t.fromMS+lagWaitMS
	switch {
	case waited, proves && (!lags || len(symbol.live) == 0 || !t.compared):
		*t = walletLag{excess: s.book.balanceBeyondFills(symbol), bought: symbol.Bought(), compared: true}
		return
	case !lags:
		t.fromMS, t.rounds, t.fees = 0, 0, max(t.fees, t.unexpectedFees(symbol))
		return
	case t.fromMS == 0:
		t.fromMS = s.fetched.EndedMS
	}
	if !symbol.unread {
		t.rounds++
	}
}

// WalletAhead reports whether the wallet and the fills of a spot symbol are of two moments: a change of money without a change of the asset, or
// vice versa, is then neither a loss nor a gain. A difference worth an order ends once the order history has been read about it often enough.
func (o *observedAccount) WalletAhead(symbol *SymbolState) bool {
	if symbol.Key().Market != exchange.Spot {
		return false
	}
	t := &symbol.spot
	by := o.walletDiffers(symbol)
	differs := by.Abs() > symbol.FeeRounding()
	return t.lag.fromMS != 0 || !symbol.unread && differs && (by != t.difference || symbol.Suspect())
}
