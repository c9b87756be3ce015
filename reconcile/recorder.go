package reconcile

import (
	"botd/exchange"
	"botd/reconcile/record"
)

// recorder applies the records that a snapshot leads to, each before the next conclusion is drawn.
type recorder struct {
	into    *Tracker
	atMS    int64           // end of the snapshot
	records []record.Record // applied, in order
}

// emit applies a record and its consequences for fees and for an unexplained position, if it books a fill.
func (r *recorder) emit(one record.Record) {
	if _, _, fills := one.Filled(); !fills {
		r.apply(one) // the record may concern no symbol, such as a latch
		return
	}
	p, symbol := r.into.Placement(one.ClientOrderID), r.into.Symbol(one.Symbol)
	opened := symbol.Opened()
	r.apply(one)
	if fees, due := symbol.expectFees(r.into.spotFee); due {
		r.apply(fees)
	}
	if p == nil || p.Order().Market != exchange.Futures || !p.Reduces() {
		return
	}
	if opened.Sign() != int(p.Order().Side.Sign()) {
		opened = symbol.Opened()
	}
	r.adoptReduced(symbol, opened)
}

// adoptReduced adopts the quantity by which botd's reductions have filled beyond the position made by its openings and earlier adoptions: they
// reduced a position that nothing explained. A live opening may explain it: then the first survey without a live opening adopts it.
func (r *recorder) adoptReduced(symbol *SymbolState, opened exchange.Quantity) {
	known := symbol.Known()
	beyond := known
	if opened.Sign() == known.Sign() {
		beyond -= opened
	}
	if beyond != 0 && beyond.Sign() == known.Sign() && symbol.Ignored() == 0 && !r.into.opens(symbol.Key()) {
		r.apply(symbol.about(record.Adopted{Quantity: -beyond, Evidence: "an unexplained position was reduced"}))
	}
}

func (r *recorder) apply(one record.Record) {
	one.AtMS = r.atMS
	r.into.Apply(&one)
	r.records = append(r.records, one)
}

func (r *recorder) quarantine(symbol *SymbolState, why string) {
	r.quarantineFor(symbol, record.OtherCause, why)
}

func (r *recorder) quarantineFor(symbol *SymbolState, cause record.QuarantineCause, why string) {
	if symbol.Quarantine() == "" {
		r.emit(symbol.about(record.Quarantined{Reason: why, Cause: cause}))
	}
}

// latchOn latches the strategies of a symbol after a change that their plan did not cause, so that
// the plan in force does not open again.
func (r *recorder) latchOn(key exchange.SymbolKey) {
	for t := range r.into.Strategies() {
		if side := t.Plan().Target().Sign(); t.Symbol() == key && side != 0 && t.Latch() != side {
			r.emit(record.Record{Strategy: t.Name(), Body: record.Latch{Side: side}})
		}
	}
}
