package engine

import (
	"slices"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
)

// peaks are peaks of an equity that may never have existed. If a price was requested after the positions were read, a position may have ended in
// between, at another price. Such a peak is provisional: it is lowered again if the next reads show that the position changed.
type peaks struct {
	fromMS      int64                    // start of the newest round that read everything
	pricedLater []*reconcile.SymbolState // symbols whose price was requested after its positions were read
	provisional map[string]provisionalPeak
}

// provisionalPeak is the part of a peak that comes from such prices.
type provisionalPeak struct {
	rises []peakRise
	known []exchange.Quantity // the quantities that fills explained of the scope's positions
}

// peakRise is one addition to a peak.
type peakRise struct {
	by   exchange.Amount
	atMS int64
}

// notePeak records by how much the peak of a scope rises, and for which positions, if the price of one of them was requested later. Any other equity
// was read at one moment.
func (l *limits) notePeak(w *account.Watch, leg *leg, equity exchange.Amount) {
	later := func(one *reconcile.SymbolState) bool {
		return one.Position() != 0 && (leg == nil || leg.symbol == one)
	}
	if !slices.ContainsFunc(l.pricedLater, later) {
		delete(l.provisional, w.Strategy())
		return
	}
	if l.provisional == nil {
		l.provisional = map[string]provisionalPeak{}
	}
	rises := append(l.provisional[w.Strategy()].rises, peakRise{equity.Sub(w.Day().Peak), l.nowMS})
	l.provisional[w.Strategy()] = provisionalPeak{rises, l.filled(leg)}
}

// confirmPeak lowers a peak that never existed, if fills have been booked since, and confirms each rise once a read that began L later shows no such
// fill.
func (l *limits) confirmPeak(w *account.Watch, leg *leg) {
	one, provisional := l.provisional[w.Strategy()]
	switch {
	case !provisional:
		return
	case slices.Equal(one.known, l.filled(leg)):
		one.rises = slices.DeleteFunc(one.rises, func(r peakRise) bool { return l.fromMS > r.atMS+l.tracker.Bounds().StalenessMS })
	default:
		day := w.Day()
		for _, r := range one.rises {
			day.Peak = day.Peak.Sub(r.by)
		}
		l.recordDay(w.Strategy(), day)
		one.rises = nil
	}
	if l.provisional[w.Strategy()] = one; len(one.rises) == 0 {
		delete(l.provisional, w.Strategy())
	}
}

// filled returns the quantities that fills explain of the positions of one strategy or, without one, of all.
func (l *limits) filled(of *leg) (known []exchange.Quantity) {
	for _, leg := range l.legs {
		if of == nil || of == leg {
			known = append(known, leg.symbol.Known())
		}
	}
	return known
}
