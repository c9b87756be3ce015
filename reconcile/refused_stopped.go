package reconcile

// The exchange accepts a closePosition order only for a position, and ends it with the position. If botd sent one after an opening that the exchange
// refused, and it rests although no fill and no list shows a position, the opening was executed, and the lists are wrong. A start knows this too, from
// the journal.

// noteRefusedStops records, for each symbol, since when it has such a stop.
func (s refusalChecks) noteRefusedStops() {
	for symbol := range s.book.Symbols() {
		switch rests := s.refusalEvidence().stopOfRefused(symbol); {
		case !rests:
			symbol.refusedStopMS = 0
		case symbol.refusedStopMS == 0:
			symbol.refusedStopMS = s.fetched.BeganMS
		}
	}
}

// stopOfRefused reports whether a symbol has such a stop.
func (e refusalEvidence) stopOfRefused(symbol *SymbolState) bool {
	for r := range e.book.refusedOn(symbol.Key()) {
		for _, p := range symbol.live {
			if r.Opens() && !r.decided && p.OrderID() != 0 && p.SentMS() > r.SentMS && p.Side() != r.order.Side && symbol.mayOutlive(p) {
				return true
			}
		}
	}
	return false
}

// hasStop reports whether a refused opening's symbol has such a stop.
func (e refusalEvidence) hasStop(r *RefusedOrder) bool {
	return r.Opens() && e.book.Symbol(r.Symbol).refusedStopMS != 0
}
