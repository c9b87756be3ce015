package reconcile

import (
	"slices"

	"botd/exchange"
)

// quotation holds the engine's reads of a symbol's market, and the symbol's leverage setting.
type quotation struct {
	rules    *exchange.Symbol
	last     exchange.Price // of the last trade
	mark     exchange.Price // 0 if there is none
	lastMS   int64
	pricedMS int64 // time of the last requested price
	leverage int
	collar   exchange.Rate // spot: maximum distance of a sale's limit below the price; 0 if unknown
}

// Rules returns the symbol's rules; nil until the engine has set them.
func (q *quotation) Rules() *exchange.Symbol { return q.rules }

// SetRules sets the symbol's rules.
func (q *quotation) SetRules(rules *exchange.Symbol) { q.rules = rules }

// Last returns the last trade's price.
func (q *quotation) Last() exchange.Price { return q.last }

// Mark returns the mark price; 0 if there is none.
func (q *quotation) Mark() exchange.Price { return q.mark }

// LastMS returns the time of the last price.
func (q *quotation) LastMS() int64 { return q.lastMS }

// Quoted reports whether a price was requested and received since the start, or since Forget.
func (q *quotation) Quoted() bool { return q.pricedMS != 0 }

// SetPrice sets the prices and their time.
func (q *quotation) SetPrice(last, mark exchange.Price, atMS int64) {
	q.last, q.mark, q.lastMS = last, mark, atMS
}

// Leverage returns the leverage as set on the exchange; 0 if it is not known.
func (q *quotation) Leverage() int { return q.leverage }

// SetLeverage sets the leverage that the exchange has confirmed or shown.
func (q *quotation) SetLeverage(leverage int) { q.leverage = leverage }

// SetCollar sets the maximum distance of a spot sale's limit below the price.
func (q *quotation) SetCollar(collar exchange.Rate) { q.collar = collar }

// Price returns the price used for unrealized profit: the mark price, else the last trade's price.
func (q *quotation) Price() exchange.Price {
	if q.mark > 0 {
		return q.mark
	}
	return q.last
}

// observation is the state of a symbol as shown by snapshots. Observe and the records that it derives change it, ObservePrice may change markedAt, and
// Forget marks it as not read.
type observation struct {
	position   exchange.Quantity // signed
	entryPrice exchange.Amount
	markedAt   exchange.Price // price at which the account was fetched
	positionID int64
	sinceMS    int64 // when this position was first seen
	createdMS  int64 // when it was created, by the exchange's clock; 0 if there is none
	liqPrice   exchange.Amount

	read    bool // fetched since this start
	settled bool // position equals Known, and nothing on the symbol is uncertain

	contradicted        string
	contradictedSinceMS int64

	foreign     []exchange.Order
	leftToOwner []exchange.Order         // open orders with botd's prefix that a person left to their owner
	repeated    []int64                  // of the foreign orders, those that equal an opening of botd's
	repeatedAs  []exchange.NewOrder      // openings of botd's whose size such an order had
	unreadable  []exchange.UnreadableRow // of the foreign orders, the unreadable rows
	reappeared  []reappearedOrder        // spot orders that have ended and that the open list shows

	frozenUnexplained exchange.Quantity // on spot: frozen in the newest wallet, and sold by no known order
	unknownEnded      string
}

// Position returns the signed position as last reported by the exchange, without the ignored part.
func (o *observation) Position() exchange.Quantity { return o.position }

// EntryPrice returns the exchange's entry price of the position; zero on spot.
func (o *observation) EntryPrice() exchange.Amount { return o.entryPrice }

// SinceMS returns when this position was first seen.
func (o *observation) SinceMS() int64 { return o.sinceMS }

// LiqPrice returns the exchange's liquidation price of the position; zero if it shows none.
func (o *observation) LiqPrice() exchange.Amount { return o.liqPrice }

// Read reports whether the symbol has been fetched since this start.
func (o *observation) Read() bool { return o.read }

// Settled reports whether the position equals Known and nothing on the symbol is uncertain.
func (o *observation) Settled() bool { return o.settled }

// Contradicted returns the reason why the newest list is not trusted; empty if it is.
func (o *observation) Contradicted() string { return o.contradicted }

// ContradictedSinceMS returns since when the lists are not trusted; 0 if they are.
func (o *observation) ContradictedSinceMS() int64 { return o.contradictedSinceMS }

// Foreign returns copies of the open orders that botd did not make.
func (o *observation) Foreign() []exchange.Order { return slices.Clone(o.foreign) }

// ForeignCount returns the number of open orders that botd did not make.
func (o *observation) ForeignCount() int { return len(o.foreign) }

// UnknownEnded returns, on spot, the client order id of an ended order with botd's prefix that the
// journal does not know; empty for none.
func (o *observation) UnknownEnded() string { return o.unknownEnded }

// declarations holds the engine's measurements and declarations about a symbol since its start.
type declarations struct {
	unprotectedSinceMS int64
	unprotectedMS      int64 // without the time that is still running
	foreignSinceMS     int64
	contradictedNoted  bool
}

// UnprotectedSinceMS returns since when the position lacks its stop; 0 while it has one.
func (d *declarations) UnprotectedSinceMS() int64 { return d.unprotectedSinceMS }

// UnprotectedMS returns for how long positions have lacked their stops since the start, without the time
// that is still running.
func (d *declarations) UnprotectedMS() int64 { return d.unprotectedMS }

// BeginUnprotected begins a time without a stop.
func (d *declarations) BeginUnprotected(atMS int64) { d.unprotectedSinceMS = atMS }

// EndUnprotected ends the time without a stop, if one is running.
func (d *declarations) EndUnprotected(nowMS int64) {
	if d.unprotectedSinceMS != 0 {
		d.unprotectedMS, d.unprotectedSinceMS = d.unprotectedMS+max(0, nowMS-d.unprotectedSinceMS), 0
	}
}

// ForeignSinceMS returns since when a foreign order blocks openings (Tracker.ForeignOpening); 0 while
// none does.
func (d *declarations) ForeignSinceMS() int64 { return d.foreignSinceMS }

// NoteForeign sets the time since when a foreign order blocks openings; 0 for none.
func (d *declarations) NoteForeign(sinceMS int64) { d.foreignSinceMS = sinceMS }

// NoteContradicted records whether the newest list is trusted, and reports whether that has changed.
func (s *SymbolState) NoteContradicted() bool {
	before := s.contradictedNoted
	s.contradictedNoted = s.contradicted != ""
	return s.contradictedNoted != before
}
