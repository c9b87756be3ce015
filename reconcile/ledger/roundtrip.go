package ledger

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/placement"
)

// RoundTrip is a closed round trip as recorded in the journal.
type RoundTrip struct {
	Strategy   string // empty for trading that belongs to no strategy
	Symbol     exchange.SymbolKey
	Asset      string // asset of the amounts of money below
	PositionID int64  // futures
	Side       exchange.Side
	Quantity   exchange.Amount // of the base asset
	EntryPrice exchange.Amount // mean prices
	ExitPrice  exchange.Amount
	Realized   exchange.Amount // price difference only
	Fees       exchange.Amount
	Funding    exchange.Amount // paid
	EnteredMS  int64
	LeftMS     int64
	By         placement.Purpose // purpose of the order that ended it; 0 if no order of botd's did
	Liquidated bool
	Derived    bool // fees and funding are derived from the wallet; otherwise as reported
	Whole      bool // false: part of the money is unknown
}

// Net returns the profit less fees and funding.
func (t *RoundTrip) Net() exchange.Amount { return t.Realized.Sub(t.Fees).Sub(t.Funding) }

// maxEnded bounds the ended orders whose executions may still be reported.
const maxEnded = 1_000

// RoundTrips finds the round trips of strategies in the records of a journal, which must be passed
// once each, in order. On futures the exchange reports an ended position with its prices and its
// profit, and the ledger contributes the costs; on spot it reports each execution.
type RoundTrips struct {
	orders      map[string]*Order
	byID        map[int64]*Order // spot
	ended       []string         // of the orders, oldest first
	symbols     []*tripSymbol    // sorted by symbol
	instruments []Instrument
	opened      bool // the futures wallet has been taken over
}

// tripSymbol holds the open round trip of a symbol.
type tripSymbol struct {
	key      exchange.SymbolKey
	filling  quantityTrip   // round trip of botd's own fills
	spans    []quantityTrip // closed spans whose position has not been reported yet
	position Position       // futures: open at the last reading
	missing  int64          // futures: id of the last position that was no longer open before its end was reported
	fees     exchange.Amount
	funding  exchange.Amount
	whole    bool // it began after the wallet was taken over
	spot     spotTrip
}

// quantityTrip is a round trip in quantities only, as futures fills report it.
type quantityTrip struct {
	strategy string
	by       placement.Purpose
	net      exchange.Quantity // signed
	opened   exchange.Quantity // total quantity opened
	reported bool              // its position has been reported
}

// spotTrip is the current round trip on a spot symbol.
type spotTrip struct {
	Pairing
	strategy   string
	by         placement.Purpose
	enteredMS  int64
	stock      Stock           // kept between two round trips
	realized   exchange.Amount // price difference only
	incomplete bool            // part of its money is unknown
}

// NewRoundTrips returns an empty RoundTrips.
func NewRoundTrips() *RoundTrips {
	return &RoundTrips{orders: map[string]*Order{}, byID: map[int64]*Order{}}
}

// Send adds an order, when it is journalled or found on the exchange.
func (t *RoundTrips) Send(o *Order) {
	t.orders[o.ClientOrderID] = o
	t.identify(o, o.OrderID)
}

func (t *RoundTrips) identify(o *Order, orderID int64) {
	if orderID != 0 {
		o.OrderID = orderID
		if o.Symbol.Market == exchange.Spot {
			t.byID[orderID] = o
		}
	}
}

func (t *RoundTrips) symbol(key exchange.SymbolKey) *tripSymbol {
	i, found := slices.BinarySearchFunc(t.symbols, key, func(s *tripSymbol, k exchange.SymbolKey) int { return s.key.Compare(k) })
	if !found {
		t.symbols = slices.Insert(t.symbols, i, &tripSymbol{key: key})
	}
	return t.symbols[i]
}

func (t *RoundTrips) instrumentOf(key exchange.SymbolKey) Instrument {
	for i := range t.instruments {
		if t.instruments[i].Symbol == key {
			return t.instruments[i]
		}
	}
	return Instrument{}
}

// Advance updates an order's fill, its exchange id if known, and whether it has ended.
func (t *RoundTrips) Advance(clientOrderID string, orderID int64, filled exchange.Quantity, ended bool) {
	o := t.orders[clientOrderID]
	if o == nil {
		return
	}
	t.identify(o, orderID)
	if grown := filled - o.Filled; grown > 0 {
		o.Filled = filled
		if o.Symbol.Market == exchange.Futures {
			t.symbol(o.Symbol).fill(o, grown)
		}
	}
	if !ended {
		return
	}
	if t.ended = append(t.ended, clientOrderID); len(t.ended) > maxEnded {
		if old := t.orders[t.ended[0]]; old != nil {
			delete(t.byID, old.OrderID)
			delete(t.orders, t.ended[0])
		}
		t.ended = t.ended[1:]
	}
}

// fill adds an order's new fill on futures.
func (s *tripSymbol) fill(o *Order, grown exchange.Quantity) {
	f := s.move(grown * exchange.Quantity(o.Side.Sign()))
	if f.strategy == "" { // an adopted position belongs to the strategy that continues with it
		f.strategy = o.Strategy
	}
	if !o.Purpose.Opens() {
		f.by = o.Purpose
	}
	s.endTrip()
}

// move changes the position; an increase counts as opened. A call of endTrip follows each call, so that a span that is flat here is empty.
func (s *tripSymbol) move(by exchange.Quantity) *quantityTrip {
	f := &s.filling
	before := f.net.Abs()
	f.net += by
	f.opened += max(0, f.net.Abs()-before)
	return f
}

// endTrip stores a span that is flat again, until its position is reported.
func (s *tripSymbol) endTrip() {
	if f := &s.filling; f.net == 0 && f.opened != 0 {
		if !f.reported {
			s.spans = append(s.spans, *f)
		}
		*f = quantityTrip{}
	}
}

// Adopt applies a change of the position that no order of botd's made.
func (t *RoundTrips) Adopt(key exchange.SymbolKey, quantity exchange.Quantity) {
	s := t.symbol(key)
	if key.Market == exchange.Futures {
		s.move(quantity).by = 0
		s.endTrip()
		return
	}
	s.spot.incomplete = true
	if quantity < 0 {
		s.spot = spotTrip{} // sold outside botd: the price is not reported
	}
}

// Post applies a posting of the ledger and returns the round trips that it ends.
func (t *RoundTrips) Post(p *Posting) (ended []RoundTrip) {
	for _, instrument := range p.Reading.Instruments {
		t.instruments = append(slices.DeleteFunc(t.instruments, func(old Instrument) bool { return old.Symbol == instrument.Symbol }), instrument)
	}
	if p.Reading.Market == exchange.Spot {
		return t.executions(&p.Reading)
	}
	return t.futures(p)
}
