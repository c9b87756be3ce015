package sim

import (
	"math"

	"botd/exchange"
)

// CorridorVersion counts the computations of the corridors. Several symbols are quiet together only if it is the same
// in the first and in the last check.
func (x *Exchange) CorridorVersion() uint64 { return x.corridors }

// findCorridor gives each symbol the prices around its mark within which no account can be
// liquidated, as long as the other symbols stay within theirs: all may move by the same share of
// their mark. Without any margin left there is no corridor, and every price is checked.
func (x *Exchange) findCorridor() {
	x.corridor = true
	x.corridors++
	for _, b := range x.orderBooks {
		b.safeLow, b.safeHigh = 0, math.MaxInt64
	}
	for _, a := range x.accounts {
		if len(a.positions) == 0 {
			continue
		}
		share := a.safeShare()
		for _, p := range a.positions {
			b := p.orderBook
			width := exchange.Price(float64(b.mark) * share)
			b.safeLow, b.safeHigh = max(b.safeLow, b.mark-width), min(b.safeHigh, b.mark+width)
		}
	}
}

// safeShare is the share by which all marks may move at once, in any direction, while the account stays
// above its maintenance margin. In the worst case each position loses that share of its value, and
// its maintenance margin is computed for the larger value.
func (a *account) safeShare() float64 {
	equity, value, needs := a.money.Wallet.Add(a.unrealized()).Float(), 0.0, a.maintenance().Float()
	for _, p := range a.positions {
		value += p.orderBook.symbol.Notional(p.orderBook.mark, p.Remaining).Float()
	}
	if value <= 0 || equity <= needs {
		return 0
	}
	share := min(0.9, (equity-needs)/value)
	for range 20 {
		share = float64(share * 0.9)
		needs = 0
		for _, p := range a.positions {
			mark := p.orderBook.mark
			needs += max(0, p.maintenanceAt(mark+exchange.Price(float64(mark)*share)).Float(), p.maintenanceAt(mark).Float())
		}
		if equity-float64(share*value) > needs*1.000001 {
			return share
		}
	}
	return 0
}
