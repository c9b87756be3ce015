package reconcile

import (
	"slices"

	"botd/exchange"
)

// RoundTrip pairs executions, from flat to flat. What a backtest measures and what
// the journal tells of live trading are paired by it alike.
type RoundTrip struct {
	Side    exchange.Side   // of the first
	Held    exchange.Amount // signed, of the base asset
	Bought  exchange.Amount // of the base asset
	Sold    exchange.Amount
	Paid    exchange.Amount // value bought
	Taken   exchange.Amount // value sold
	Fees    exchange.Amount // all of them, by their worth
	Charged exchange.Amount // the part of the fees that left the wallet in the quote asset
}

// Execution is one fill as a round trip counts it.
type Execution struct {
	Side     exchange.Side
	Quantity exchange.Amount // of the base asset
	Value    exchange.Amount // in the quote asset
	Fee      exchange.Amount // in the asset it was taken in
	Worth    exchange.Amount // of the fee, in the quote asset
	InBase   bool            // the fee was taken from what was bought
}

// Begun reports whether anything was executed.
func (t *RoundTrip) Begun() bool { return !t.Bought.IsZero() || !t.Sold.IsZero() }

// Execute takes the next execution.
func (t *RoundTrip) Execute(x *Execution) {
	if !t.Begun() {
		t.Side = x.Side
	}
	t.Fees = t.Fees.Add(x.Worth)
	if x.InBase { // the asset is not held, and shows as less sold
		t.Held = t.Held.Sub(x.Fee)
	} else {
		t.Charged = t.Charged.Add(x.Fee)
	}
	if x.Side == exchange.Buy {
		t.Held, t.Bought, t.Paid = t.Held.Add(x.Quantity), t.Bought.Add(x.Quantity), t.Paid.Add(x.Value)
	} else {
		t.Held, t.Sold, t.Taken = t.Held.Sub(x.Quantity), t.Sold.Add(x.Quantity), t.Taken.Add(x.Value)
	}
}

// Flat reports whether it is over: less is left than can be traded.
func (t *RoundTrip) Flat(step exchange.Amount) bool {
	return !t.Bought.IsZero() && !t.Sold.IsZero() && t.Held.Abs().Less(step)
}

// Net is what it brought, without funding.
func (t *RoundTrip) Net() exchange.Amount { return t.Taken.Sub(t.Paid).Sub(t.Charged) }

// Prices are the mean prices of entry and exit.
func (t *RoundTrip) Prices() (entry, exit exchange.Amount) {
	entry, exit = mean(t.Paid, t.Bought), mean(t.Taken, t.Sold)
	if t.Side == exchange.Sell {
		entry, exit = exit, entry
	}
	return entry, exit
}

// mean is a mean price with 18 places, cut towards zero.
func mean(value, quantity exchange.Amount) exchange.Amount {
	if quantity.IsZero() {
		return exchange.Amount{}
	}
	return value.MulQuo(unit, quantity)
}

// Trip is a round trip that is over, as the journal tells it.
type Trip struct {
	Strategy   string // empty for what no strategy of botd's did
	Symbol     exchange.SymbolKey
	Asset      string // of the money
	PositionID int64  // futures
	Side       exchange.Side
	Quantity   exchange.Amount // of the base asset
	Entry      exchange.Amount // mean prices
	Exit       exchange.Amount
	Realised   exchange.Amount // price difference alone
	Fees       exchange.Amount
	Funding    exchange.Amount // paid
	EnteredMS  int64
	LeftMS     int64
	By         Purpose // of what ended it; 0 where it was no order of botd's
	Liquidated bool
	Derived    bool // fees and funding follow from the wallet; else as told
	Whole      bool // false: a part of the money is not known
}

// Net is the profit without fees and funding.
func (t *Trip) Net() exchange.Amount { return t.Realised.Sub(t.Fees).Sub(t.Funding) }

// maxOrdersKept bounds the orders that ended and whose executions may still be told.
const maxOrdersKept = 1_000

// Trips finds the round trips of strategies in the records of a journal, given each
// once and in order. Futures tell a position that ended with its prices and its
// profit, and what was paid for it is the ledger's; spot tells each execution.
type Trips struct {
	orders  map[string]*tripOrder
	byID    map[int64]*tripOrder // spot
	ended   []string             // of the orders, oldest first
	symbols []*tripSymbol        // sorted by symbol
	terms   []Terms
	opened  bool // the futures wallet was taken over
}

// tripOrder is one order of botd's.
type tripOrder struct {
	strategy string
	purpose  Purpose
	symbol   exchange.SymbolKey
	side     exchange.Side
	orderID  int64
	filled   exchange.Quantity
}

// tripSymbol is what is under way on a symbol.
type tripSymbol struct {
	key     exchange.SymbolKey
	filling outing   // by botd's own fills
	outings []outing // that are over, and whose position was not told yet
	leg     Leg      // futures: open at the last reading
	fees    exchange.Amount
	funding exchange.Amount
	whole   bool // it began after the wallet was taken over
	spot    spotTrip
}

// outing is one way from flat to flat by quantities alone, which futures fills tell.
type outing struct {
	strategy string
	by       Purpose
	net      exchange.Quantity // signed
	opened   exchange.Quantity // all that was opened
	told     bool              // its position was
}

// spotTrip is the round trip under way on a spot symbol.
type spotTrip struct {
	RoundTrip
	strategy  string
	by        Purpose
	enteredMS int64
	cost      cost            // of what is held
	realised  exchange.Amount // price difference alone
	odd       bool            // a part of its money is not known
}

// NewTrips knows of none.
func NewTrips() *Trips {
	return &Trips{orders: map[string]*tripOrder{}, byID: map[int64]*tripOrder{}}
}

// Take takes the next record and returns the round trips that it ends.
func (t *Trips) Take(r *Record) []Trip {
	switch r.Kind {
	case RecordSending, RecordFound:
		if r.Order != nil {
			t.orders[r.ClientOrderID] = &tripOrder{strategy: r.Strategy, purpose: r.Purpose, symbol: r.Order.Key(), side: r.Order.Side, filled: r.Filled}
			t.identify(t.orders[r.ClientOrderID], r.OrderID)
		}
	case RecordAcknowledged, RecordFill, RecordEnded, RecordRefused, RecordUnknown:
		t.advance(r)
	case RecordAdopted:
		t.adopted(r)
	case RecordEntry:
		return t.entry(r.Entry)
	}
	return nil
}

func (t *Trips) identify(o *tripOrder, orderID int64) {
	if orderID != 0 {
		o.orderID = orderID
		if o.symbol.Market == exchange.Spot {
			t.byID[orderID] = o
		}
	}
}

func (t *Trips) symbol(key exchange.SymbolKey) *tripSymbol {
	i, found := slices.BinarySearchFunc(t.symbols, key, func(s *tripSymbol, k exchange.SymbolKey) int { return s.key.Compare(k) })
	if !found {
		t.symbols = slices.Insert(t.symbols, i, &tripSymbol{key: key})
	}
	return t.symbols[i]
}

func (t *Trips) termsOf(key exchange.SymbolKey) Terms {
	for i := range t.terms {
		if t.terms[i].Symbol == key {
			return t.terms[i]
		}
	}
	return Terms{}
}

func (t *Trips) advance(r *Record) {
	o := t.orders[r.ClientOrderID]
	if o == nil {
		return
	}
	t.identify(o, r.OrderID)
	if grown := r.Filled - o.filled; grown > 0 {
		o.filled = r.Filled
		if o.symbol.Market == exchange.Futures {
			t.symbol(o.symbol).fill(o, grown)
		}
	}
	if r.Kind != RecordEnded && r.Kind != RecordRefused {
		return
	}
	if t.ended = append(t.ended, r.ClientOrderID); len(t.ended) > maxOrdersKept {
		if old := t.orders[t.ended[0]]; old != nil {
			delete(t.byID, old.orderID)
			delete(t.orders, t.ended[0])
		}
		t.ended = t.ended[1:]
	}
}

// fill takes what filled of an order on futures.
func (s *tripSymbol) fill(o *tripOrder, grown exchange.Quantity) {
	f := s.move(grown * exchange.Quantity(o.side.Sign()))
	if f.strategy == "" { // what was adopted is the strategy's that goes on with it
		f.strategy = o.strategy
	}
	if !o.purpose.Opens() {
		f.by = o.purpose
	}
	s.over()
}

// move changes what is held; what makes it larger was opened.
func (s *tripSymbol) move(by exchange.Quantity) *outing {
	f := &s.filling
	if f.net == 0 {
		*f = outing{}
	}
	before := max(f.net, -f.net)
	f.net += by
	f.opened += max(0, max(f.net, -f.net)-before)
	return f
}

// over keeps an outing that has come back to flat until its position is told.
func (s *tripSymbol) over() {
	if f := &s.filling; f.net == 0 && f.opened != 0 {
		if !f.told {
			s.outings = append(s.outings, *f)
		}
		*f = outing{}
	}
}

// adopted takes a change of the position that no order of botd's made.
func (t *Trips) adopted(r *Record) {
	s := t.symbol(r.Symbol)
	if r.Symbol.Market == exchange.Futures {
		s.move(r.Filled).by = 0
		s.over()
		return
	}
	if s.spot.odd = true; r.Filled < 0 {
		s.spot = spotTrip{} // sold by hand: nobody tells for how much
	}
}

// entry takes an entry of the ledger.
func (t *Trips) entry(e *Posting) (ended []Trip) {
	if e == nil {
		return nil
	}
	for _, terms := range e.Reading.Terms {
		t.terms = append(slices.DeleteFunc(t.terms, func(old Terms) bool { return old.Symbol == terms.Symbol }), terms)
	}
	if e.Reading.Market == exchange.Spot {
		return t.executions(&e.Reading)
	}
	return t.legs(e)
}
