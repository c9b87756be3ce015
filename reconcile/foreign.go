package reconcile

import (
	"cmp"
	"slices"
	"strings"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Policies for what botd did not make (contract: foreign).
const (
	ForeignHalt   = "halt"   // quarantine the symbol until a person resolves it
	ForeignAdopt  = "adopt"  // take positions as the strategy's own
	ForeignIgnore = "ignore" // trade beside them
)

// lostJournal is why a symbol is quarantined whose position or orders an empty
// journal knows nothing of (case 35).
const lostJournal = "the journal is new and knows nothing of what is open here: it was lost, or the account is not botd's alone"

// AtVenue is the position as the exchange tells it, what is ignored included.
func (t *SymbolTruth) AtVenue() exchange.Quantity { return t.Position + t.Ignored }

// foreign decides a lasting difference that no unknown explains. A position
// that is gone was ended by a hand or a liquidation: nothing is left to be wrong
// about, so it is adopted, and the latch keeps its strategy from re-entering.
// Anything else goes by policy.
func (b *Book) foreign(truth *SymbolTruth, emit func(record.Record)) {
	switch {
	case truth.AtVenue() == 0:
		if truth.Ignored != 0 {
			emit(truth.about(record.Ignored{Evidence: "what was ignored was closed from outside"}))
		}
		if truth.Known != 0 {
			emit(truth.about(record.Adopted{Quantity: -truth.Known, Evidence: "the position was closed from outside"}))
		}
	case b.Foreign == ForeignAdopt:
		emit(truth.about(record.Adopted{Quantity: truth.residual, Evidence: "made outside botd, adopted by foreign: adopt"}))
	case b.Foreign == ForeignIgnore:
		b.ignore(truth, "made outside botd, ignored by foreign: ignore", emit)
	default:
		b.quarantine(truth, "the position differs from the fills by "+residualText(truth)+", which nothing explains", emit)
		return
	}
	truth.residual = truth.Position - truth.Known
}

// outweighed reports whether botd's part of a position is more than there is of
// it, or on its other side: with others on the symbol its own orders may fill
// against theirs.
func (t *SymbolTruth) outweighed() bool {
	venue := t.AtVenue()
	return t.Ignored != 0 && t.Known != 0 && (signOf(t.Known) != signOf(venue) || abs(t.Known) > abs(venue))
}

// ignore leaves the difference to whoever made it. What botd holds can not be
// more than there is: one position stands for all of it.
func (b *Book) ignore(truth *SymbolTruth, evidence string, emit func(record.Record)) {
	venue, own := truth.AtVenue(), truth.Known
	switch {
	case signOf(own) != signOf(venue):
		own = 0
	case abs(own) > abs(venue):
		own = venue
	}
	if own != truth.Known {
		emit(truth.about(record.Adopted{Quantity: own - truth.Known, Evidence: evidence}))
	}
	emit(truth.about(record.Ignored{Quantity: venue - own, Evidence: evidence}))
}

// HoldsBack returns an order botd did not make that may open a position any moment,
// where the policy is to open nothing beside such (foreign: halt); nil for none.
// Spot knows no position: there the wallet tells.
func (b *Book) HoldsBack(truth *SymbolTruth) *exchange.Order {
	if b.Foreign == ForeignAdopt || b.Foreign == ForeignIgnore || truth.Key.Market != exchange.Futures {
		return nil
	}
	for i := range truth.Foreign {
		if o := &truth.Foreign[i]; !o.Reduces() {
			return o
		}
	}
	return nil
}

func (b *Book) quarantine(truth *SymbolTruth, why string, emit func(record.Record)) {
	if truth.Quarantine == "" {
		emit(truth.about(record.Quarantined{Why: why}))
	}
}

func residualText(truth *SymbolTruth) string {
	if truth.Rules == nil {
		return "an unknown quantity"
	}
	return truth.Rules.QuantityDecimal(truth.residual).String()
}

// guardLost quarantines, while the journal is new, every symbol with a position
// or one of our orders (case 35). Nothing is adopted, whatever the policy.
func (b *Book) guardLost(emit func(record.Record)) {
	for _, truth := range b.symbols {
		ours := slices.ContainsFunc(truth.Foreign, func(o exchange.Order) bool { return b.prefixed(o.ClientOrderID) })
		if ours || truth.Alien != "" || truth.Key.Market == exchange.Futures && truth.AtVenue() != 0 && truth.Known == 0 {
			b.quarantine(truth, lostJournal, emit)
			truth.Settled = false
		}
	}
}

// prefixed reports whether a client order id carries this instance's prefix.
func (b *Book) prefixed(clientOrderID string) bool {
	return b.Instance != "" && strings.HasPrefix(clientOrderID, "b"+b.Instance+"-")
}

// sellsUnknown is what open spot orders under this instance's prefix, which the
// journal does not know, may still sell of what the fills explain: an old backup's
// stop does not reduce a position only, as on futures, but sells again.
func (b *Book) sellsUnknown(truth *SymbolTruth) (sum exchange.Quantity) {
	for i := range truth.Foreign {
		if o := &truth.Foreign[i]; o.Side == exchange.Sell && b.prefixed(o.ClientOrderID) {
			sum += o.Remaining()
		}
	}
	return sum + truth.gone
}

// noteGone notes that such orders have left the list: how much they sold only the
// wallet tells, which may be older than that for as long as a read may be.
func (b *Book) noteGone(truth *SymbolTruth, orders []exchange.Order) {
	if truth.Key.Market != exchange.Spot {
		return
	}
	for i := range truth.Foreign {
		o := &truth.Foreign[i]
		listed := slices.ContainsFunc(orders, func(now exchange.Order) bool { return now.ID == o.ID })
		if !listed && o.Side == exchange.Sell && b.prefixed(o.ClientOrderID) {
			truth.gone, truth.goneFor = truth.gone+o.Remaining(), lasting{}
		}
	}
}

// forgetGone ends that when the wallet has been read long enough after it.
func (b *Book) forgetGone(s *Snapshot, truth *SymbolTruth) {
	if truth.gone == 0 || !s.Balances.Done() {
		return
	}
	if truth.goneFor.again(s); truth.goneFor.longer(b.settle.StalenessMS) {
		truth.gone = 0
	}
}

// ForeignPrefix returns the client order id of an order that carries this
// instance's prefix and is not in the journal: a second instance or an old backup
// (case 15); empty for none. Where the journal was lost, its symbol is quarantined
// already (case 35).
func (b *Book) ForeignPrefix() string {
	for _, truth := range b.symbols {
		if truth.Quarantine == lostJournal {
			continue
		}
		if truth.Alien != "" {
			return truth.Alien
		}
		for i := range truth.Foreign {
			if id := truth.Foreign[i].ClientOrderID; b.prefixed(id) {
				return id
			}
		}
	}
	return ""
}

// observeNewest looks whether a spot symbol's history tells of an order that
// carries this instance's prefix and is newer than the journal was at the start (a
// strategy may join later, when this run has made ids of its own): a position says
// nothing there, since the wallet may hold the same of somebody else.
func (b *Book) observeNewest(s *Snapshot) {
	for i := range s.Newest {
		order := &s.Newest[i]
		if id, ours := placement.ParseSerial(order.ClientOrderID); ours && b.prefixed(order.ClientOrderID) && (b.newest.Before(id) || b.began.Before(id) && id.Epoch() != b.epoch) {
			b.Symbol(order.Key()).Alien = order.ClientOrderID
		}
	}
}

// Resolve says what a person's end of a symbol's quarantine changes: adopt takes
// the difference and our own orders as the strategy's, ignore leaves them to
// whoever made them. What is unknown ends with it. The records are not applied.
func (b *Book) Resolve(key exchange.SymbolKey, adopt bool, strategy, reason string) []record.Record {
	truth := b.Symbol(key)
	var records []record.Record
	emit := func(r record.Record) { records = append(records, r) }
	evidence := "resolved by a person: " + reason
	for _, p := range b.unknownOn(key) {
		emit(p.about(record.Ended{State: Absent, Filled: p.Filled, Evidence: evidence}))
	}
	for i := range truth.Foreign {
		order := &truth.Foreign[i]
		switch {
		case !b.prefixed(order.ClientOrderID):
		case adopt:
			emit(found(order, strategy, order.ClientOrderID, record.Found{Evidence: evidence}))
		default:
			emit(record.Record{Symbol: key, ClientOrderID: order.ClientOrderID, Body: record.Ignored{Quantity: truth.Ignored, OrderID: order.ID, Evidence: evidence}})
		}
	}
	if key.Market == exchange.Spot {
		emit(record.Record{Symbol: key, ClientOrderID: truth.Alien, Body: record.Adopted{Quantity: truth.short, Evidence: evidence}})
		return records
	}
	residual := truth.Position - truth.Known
	if !adopt && residual != 0 {
		b.ignore(truth, evidence, emit)
		return records
	}
	emit(truth.about(record.Adopted{Quantity: residual, Evidence: evidence}))
	return records
}

// found is the record of an order on the exchange that is taken into the journal
// under an id; what is known of it beyond the order itself comes in the payload.
func found(order *exchange.Order, strategy, id string, body record.Found) record.Record {
	body.Purpose = Order
	switch {
	case order.ClosePosition && order.Type == exchange.TakeProfitMarket:
		body.Purpose = TakeProfit
	case order.ClosePosition:
		body.Purpose = StopLoss
	case order.Reduces(), order.Market == exchange.Spot && order.Side == exchange.Sell:
		body.Purpose = ExitOrder
	}
	body.OrderID, body.Key = order.ID, "found"
	body.Order = exchange.NewOrder{Market: order.Market, Symbol: order.Symbol, Side: order.Side, Type: order.Type, Quantity: order.Quantity, Price: order.Price,
		StopPrice: order.StopPrice, WorkingType: order.WorkingType, ReduceOnly: order.Reduces() && !order.ClosePosition, ClosePosition: order.ClosePosition,
		PostOnly: order.PostOnly, ClientOrderID: order.ClientOrderID}
	return record.Record{ClientOrderID: id, Strategy: strategy, Symbol: order.Key(), Body: body}
}

// Orphan is a symbol that holds something no configured strategy answers for, or of
// which the ledger awaits something.
type Orphan struct {
	Strategy string
	Symbol   exchange.SymbolKey
}

// Orphans returns the symbols that hold a position or live orders of a strategy, or
// whose trades are not all booked, and that none of the configured ones trades.
func (b *Book) Orphans(configured func(strategy string, symbol exchange.SymbolKey) bool) []Orphan {
	var orphans []Orphan
	for _, truth := range b.symbols {
		owner := truth.Owner
		held := truth.Known != 0 || !b.Unbooked && b.ledger.Awaits(truth.Key)
		for _, p := range b.live {
			if p.Order.Key() == truth.Key {
				owner, held = cmp.Or(owner, p.Strategy), true
			}
		}
		if held && owner != "" && !configured(owner, truth.Key) {
			orphans = append(orphans, Orphan{owner, truth.Key})
		}
	}
	return orphans
}
