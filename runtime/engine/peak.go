package engine

import (
	"slices"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
)

// peaks are the peaks of equities that may never have been. If a price is requested after the positions were read, a position may have ended in
// between, at another price. Such a peak is provisional: it falls back if the next reads show that the position changed.
type peaks struct {
	fromMS      int64                    // start of the newest round that read everything
	pricedLater []*reconcile.SymbolState // symbols whose price was requested after its positions were read
	provisional map[string]provisionalPeak
}

// provisionalPeak is the part of a peak that such a price has added.
type provisionalPeak struct {
	by    exchange.Amount
	atMS  int64
	known []exchange.Quantity // what fills explained of the scope's positions
}

// notePeak records by how much the peak of a scope rises, and for what positions, if the price of one of them was requested later. Any other equity
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
	by := equity.Sub(w.Day().Peak).Add(l.provisional[w.Strategy()].by)
	l.provisional[w.Strategy()] = provisionalPeak{by, l.nowMS, l.filled(leg)}
}

// confirmPeak ends a provisional peak: it never was if fills have been booked since, and it was if a read shows none that began L later.
func (l *limits) confirmPeak(w *account.Watch, leg *leg) {
	one, provisional := l.provisional[w.Strategy()]
	changed := provisional && !slices.Equal(one.known, l.filled(leg))
	if !provisional || !changed && l.fromMS <= one.atMS+l.book.Settle().StalenessMS {
		return
	}
	delete(l.provisional, w.Strategy())
	if changed {
		day := w.Day()
		day.Peak = day.Peak.Sub(one.by)
		l.recordDay(w.Strategy(), day)
	}
}

// filled returns what fills explain of the positions of a strategy or, without one, of all.
func (l *limits) filled(of *leg) (known []exchange.Quantity) {
	for _, leg := range l.legs {
		if of == nil || of == leg {
			known = append(known, leg.symbol.Known())
		}
	}
	return known
}
