package reconcile

import (
	"slices"
	"strings"

	"botd/exchange"
)

// Snapshot is what one round fetched. Lists that were not fetched stay so: the
// book draws no conclusion from them.
type Snapshot struct {
	BeganMS       int64 // server time before the first read went out
	EndedMS       int64
	FuturesOrders exchange.Fetched[exchange.Order]
	SpotOrders    exchange.Fetched[exchange.Order]
	History       exchange.Fetched[exchange.Order] // spot order history of the symbols that asked for it
	Before        exchange.Fetched[exchange.Position]
	Positions     exchange.Fetched[exchange.Position]
	Balances      exchange.Fetched[exchange.Balance]
	Account       *exchange.MarginAccount
	Looked        []Look // orders asked for by id
}

// Look is the answer to a question for one order by id.
type Look struct {
	OrderID int64
	Order   exchange.Order
	Known   bool // false: the exchange says there is no such order
}

// Orders returns the open list of a market, if it was fetched.
func (s *Snapshot) Orders(market exchange.Market) exchange.Fetched[exchange.Order] {
	if market == exchange.Spot {
		return s.SpotOrders
	}
	return s.FuturesOrders
}

// Vanished returns the live placements with an order id that the open list of
// their market does not show: each must be asked for by id.
func (b *Book) Vanished(s *Snapshot) []*Placement {
	var vanished []*Placement
	for _, p := range b.live {
		list := s.Orders(p.Order.Market)
		if p.OrderID == 0 || !list.Done() {
			continue
		}
		if !slices.ContainsFunc(list.Items(), func(o exchange.Order) bool { return o.ID == p.OrderID }) {
			vanished = append(vanished, p)
		}
	}
	return vanished
}

// Unknowns reports whether any placement's acceptance is not known, for which a
// round must take the full snapshot.
func (b *Book) Unknowns() bool {
	return slices.ContainsFunc(b.live, func(p *Placement) bool { return p.State == Uncertain })
}

// Observe advances every placement and position by what was fetched. The
// records it returns are applied already, in order, and must be journalled.
func (b *Book) Observe(s *Snapshot) []Record {
	var out []Record
	emit := func(record Record) {
		record.AtMS = s.EndedMS
		b.Apply(&record)
		out = append(out, record)
	}
	b.observeList(exchange.Futures, s.FuturesOrders, emit)
	b.observeList(exchange.Spot, s.SpotOrders, emit)
	if s.History.Done() {
		b.observeHistory(s, emit)
	}
	for _, look := range s.Looked {
		b.observeLook(s, look, emit)
	}
	if s.Account != nil {
		b.Account, b.AccountMS = *s.Account, s.EndedMS
	}
	if s.Balances.Done() {
		b.Balances, b.WalletMS = s.Balances.Items(), s.EndedMS
	}
	for _, truth := range b.symbols {
		b.observePosition(s, truth, emit)
	}
	return out
}

// observeList takes an open list: what is in it is working, with its fills.
func (b *Book) observeList(market exchange.Market, list exchange.Fetched[exchange.Order], emit func(Record)) {
	if !list.Done() {
		return
	}
	for i := range list.Items() {
		order := &list.Items()[i]
		if p := b.match(order); p != nil {
			b.seen(p, order, emit)
		}
	}
	for _, truth := range b.symbols {
		if truth.Key.Market == market {
			truth.Foreign = truth.Foreign[:0]
		}
	}
	for _, order := range list.Items() {
		if b.match(&order) == nil && !b.Ours(order.ClientOrderID) {
			truth := b.Symbol(order.Key())
			truth.Foreign = append(truth.Foreign, order)
		}
	}
}

// match finds the live placement an order belongs to: by its client order id,
// since the order id of an unknown one is not known.
func (b *Book) match(order *exchange.Order) *Placement {
	p := b.placements[order.ClientOrderID]
	if p == nil || p.Order.Symbol != order.Symbol || p.Order.Side != order.Side {
		return nil
	}
	return p
}

// seen takes an order as fetched. Filled never goes down: a smaller figure is a
// stale replica's (exactly-once.md, case 13).
func (b *Book) seen(p *Placement, order *exchange.Order, emit func(Record)) {
	filled := max(order.Filled, p.Filled)
	record := Record{ClientOrderID: p.ClientOrderID, OrderID: order.ID, Filled: filled, Strategy: p.Strategy, Symbol: p.Order.Key(), Price: fillPrice(order)}
	switch {
	case order.Status.Final():
		record.Kind, record.State, record.Evidence = RecordEnded, finalState(order.Status), "fetched "+order.Status.String()
		emit(record)
	case p.State != Working || filled > p.Filled || p.OrderID != order.ID:
		if order.Status == exchange.StatusCreated && p.OrderID == order.ID {
			return // accepted, not yet in the book: nothing new
		}
		record.Kind = RecordFill
		emit(record)
	}
}

func finalState(status exchange.OrderStatus) State {
	switch status {
	case exchange.StatusFilled:
		return Filled
	case exchange.StatusRejected:
		return Rejected
	}
	return Canceled
}

// fillPrice is the mean price where the exchange tells it: spot orders carry it,
// futures orders do not.
func fillPrice(order *exchange.Order) exchange.Amount {
	if order.Market == exchange.Spot {
		return order.AveragePrice
	}
	return exchange.Amount{}
}

// observeLook takes the answer to a question by id.
func (b *Book) observeLook(s *Snapshot, look Look, emit func(Record)) {
	i := slices.IndexFunc(b.live, func(p *Placement) bool { return p.OrderID == look.OrderID })
	if i < 0 {
		return
	}
	p := b.live[i]
	if look.Known {
		b.seen(p, &look.Order, emit)
		return
	}
	// An acknowledged id the exchange does not know: ask until the fence has
	// passed, then a person must look; never "lost after three" (case 12).
	if truth := b.Symbol(p.Order.Key()); s.BeganMS >= p.Fence(b.settle) && truth.Quarantine == "" {
		emit(Record{Kind: RecordQuarantined, Symbol: truth.Key, ClientOrderID: p.ClientOrderID,
			Why: "acknowledged order " + p.ClientOrderID + " is not known to the exchange"})
	}
}

// observeHistory takes spot order history, which shows every order that ended.
func (b *Book) observeHistory(s *Snapshot, emit func(Record)) {
	for i := range s.History.Items() {
		order := &s.History.Items()[i]
		if p := b.match(order); p != nil {
			b.seen(p, order, emit)
		}
	}
	for _, p := range slices.Clone(b.live) {
		if p.Order.Market == exchange.Spot && p.State == Uncertain && s.SpotOrders.Done() && s.BeganMS >= p.Fence(b.settle) {
			emit(Record{Kind: RecordEnded, ClientOrderID: p.ClientOrderID, Strategy: p.Strategy, Symbol: p.Order.Key(),
				State: Absent, Filled: p.Filled, Evidence: "in neither open list nor history after the fence"})
		}
	}
}

// ForeignPrefix returns an open order that carries this instance's prefix and is
// not in the journal: a second instance or an old backup (case 15).
func (b *Book) ForeignPrefix(instance string) *exchange.Order {
	prefix := "b" + instance + "-"
	for _, truth := range b.symbols {
		for i := range truth.Foreign {
			if strings.HasPrefix(truth.Foreign[i].ClientOrderID, prefix) {
				return &truth.Foreign[i]
			}
		}
	}
	return nil
}
