package reconcile

import (
	"slices"
	"strings"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Policies for orders and positions that botd did not make (contract: foreign).
const (
	ForeignHalt   = "halt"   // quarantine the symbol until a person resolves it
	ForeignAdopt  = "adopt"  // adopt positions as the strategy's own
	ForeignIgnore = "ignore" // trade alongside them
)

// exceedsPosition reports whether botd's part exceeds the whole position or is on the other side. If others
// trade the symbol, botd's own orders may fill against theirs.
func (t *SymbolState) exceedsPosition() bool {
	venue := t.AtVenue()
	return t.Ignored() != 0 && t.Known() != 0 && (t.Known().Sign() != venue.Sign() || t.Known().Abs() > venue.Abs())
}

// ignore leaves the difference to its owner. botd's part is at most the whole position, because the
// exchange keeps one position per symbol.
func (t *SymbolState) ignore(evidence string, emit func(record.Record)) {
	venue, own := t.AtVenue(), t.Known()
	switch {
	case own.Sign() != venue.Sign():
		own = 0
	case own.Abs() > venue.Abs():
		own = venue
	}
	if own != t.Known() {
		emit(t.about(record.Adopted{Quantity: own - t.Known(), Evidence: evidence}))
	}
	emit(t.about(record.Ignored{Quantity: venue - own, Evidence: evidence}))
}

// ForeignOpening returns a foreign order that may open a position at any moment, if the policy forbids
// openings alongside it (foreign: halt), or an order that may be another botd's; nil for none. Spot has
// no positions, and the wallet shows the effect of an order: there only an unreadable order, or another
// botd's, blocks openings.
func (t *Tracker) ForeignOpening(symbol *SymbolState) *exchange.Order {
	for i := range symbol.foreign {
		o := &symbol.foreign[i]
		opens := symbol.UnreadRow(o) != nil || symbol.Key().Market == exchange.Futures && !o.Reduces()
		halts := t.foreignPolicy != ForeignAdopt && t.foreignPolicy != ForeignIgnore
		if t.Resembles(symbol, o) || opens && (halts || symbol.Repeats(o) || t.OfPlan(symbol, o)) {
			opening := *o
			return &opening
		}
	}
	return nil
}

// OfPlan reports whether a row without an id has the side, type and quantity of an order that a strategy's plan desires on a futures symbol, and other
// orders show that another botd is running, or another symbol shows that a journal was lost, or several rows have the plan's prices too: another botd may
// have placed it. If the list shows ids, an order without one is a person's.
func (p *peer) OfPlan(symbol *SymbolState, o *exchange.Order) bool {
	if o.ClientOrderID != "" || p.unnamed.futuresIDs.showsEveryID() || symbol.rules == nil {
		return false
	}
	others := p.unnamed.HasUnnamedPeer() || p.StandsDown() || p.lostElsewhere()
	ofPlan, _ := p.planned(symbol, o)
	return ofPlan && (others || p.severalAtPlannedPrices(symbol))
}

// planned reports whether a row has the side, type and quantity of an order of a plan, and whether it has the prices of one too.
func (p *peer) planned(symbol *SymbolState, o *exchange.Order) (sized, priced bool) {
	for s := range p.account.Strategies() {
		for i := range s.Plan().Orders().Len() {
			desired := s.Plan().Orders().At(i)
			order := exchange.NewOrder{Side: desired.Side, Type: exchange.Limit, Quantity: symbol.rules.FloorQuantity(desired.Quantity)}
			if desired.StopPrice != 0 {
				order.Type = exchange.StopLimit
			}
			if s.Symbol() == symbol.Key() && sameSize(o, &order) {
				sized, priced = true, priced || o.Price == desired.Price && o.StopPrice == desired.StopPrice
			}
		}
	}
	return sized, priced
}

// severalAtPlannedPrices reports whether several foreign rows equal orders of a plan in size and prices: a person may place one such order by chance.
func (p *peer) severalAtPlannedPrices(symbol *SymbolState) bool {
	count := 0
	for i := range symbol.foreign {
		if _, priced := p.planned(symbol, &symbol.foreign[i]); priced {
			count++
		}
	}
	return count > 1
}

func (p *peer) lostElsewhere() bool {
	return p.account.AnySymbol(func(s *SymbolState) bool { return s.Cause() == record.JournalLost })
}

// Repeats reports whether a row without an id equals a live opening of botd's in every parameter and was created within the same seconds: the exchange has
// executed that opening twice, or another botd with the same plan is running. A person would not place the same order by coincidence. If botd's own
// row shows no id either, time and price are not compared. A row that has once repeated an opening counts as its repetition until the list no longer
// shows the row.
func (s *SymbolState) Repeats(o *exchange.Order) bool {
	return slices.Contains(s.repeated, o.ID) || slices.ContainsFunc(s.live, func(p *account.Placement) bool {
		return repeatsOpening(o, p) && exchange.Quantity(o.CreatedMS-p.SentMS()).Abs() <= repeatedMS
	})
}

// repeatsOpening reports whether a row without an id equals an opening of botd's in every parameter.
func repeatsOpening(o *exchange.Order, p *account.Placement) bool {
	order := p.Order()
	return o.ClientOrderID == "" && p.Purpose().Opens() && p.OrderID() != 0 && sameParameters(o, &order)
}

// sameSize reports whether a row without an id equals an order of botd's except for the prices: it may be another botd's, from a plan of another
// moment.
func sameSize(o *exchange.Order, order *exchange.NewOrder) bool {
	return o.ClientOrderID == "" && o.Side == order.Side && sameType(o.Type, order.Type) && o.Quantity == order.Quantity
}

// noteRepeated records the foreign rows of a list that repeat an opening; matched are the placements of the list's rows. If the list omits the id of
// botd's own opening, every row of the same size repeats it, also in later lists.
func (s *SymbolState) noteRepeated(orders []exchange.Order, matched []*account.Placement) {
	var repeated []int64
	for i := range s.foreign {
		o := &s.foreign[i]
		matches := s.Repeats(o) || slices.ContainsFunc(s.repeatedAs, func(order exchange.NewOrder) bool { return sameSize(o, &order) })
		for n := 0; n < len(orders) && !matches; n++ {
			if p := matched[n]; p == nil || orders[n].ClientOrderID != "" || !p.Purpose().Opens() {
				continue
			}
			if order := matched[n].Order(); sameSize(o, &order) {
				matches, s.repeatedAs = true, append(s.repeatedAs[max(0, len(s.repeatedAs)-maxRemembered+1):], order)
			}
		}
		if matches {
			repeated = append(repeated, o.ID)
		}
	}
	s.repeated = repeated
}

func (s SymbolState) residualText() string {
	if s.rules == nil {
		return "an unknown quantity"
	}
	return s.rules.QuantityDecimal(s.residual).String()
}

// prefixed reports whether a client order id carries this instance's prefix.
func (p *peer) prefixed(clientOrderID string) bool {
	return p.instance != "" && strings.HasPrefix(clientOrderID, "b"+p.instance+"-")
}

// sellsUnknown returns the quantity of the explained position that some open spot orders may still sell: orders with this instance's prefix that the
// journal does not know, and orders that have replaced own stops. Unlike on futures, a stop from an old backup does not only reduce the position: it
// sells a second time.
func (p *peer) sellsUnknown(symbol *SymbolState) (sum exchange.Quantity) {
	for i := range symbol.foreign {
		if o := &symbol.foreign[i]; o.Side == exchange.Sell && p.prefixed(o.ClientOrderID) {
			sum += o.Remaining()
		}
	}
	for _, one := range symbol.unlistedSales {
		sum += one.net
	}
	return sum + symbol.ReplacementQuantity()
}

// noteTaken records that another party has canceled one of botd's spot stops. While another botd may be placing orders, it may be selling the
// quantity that the stop held: the stop's replacement waits, just as it waits for a stop of that botd. If lists omit ids, the other botd may have
// moved the stop.
func (t *Tracker) noteTaken(p *account.Placement, atMS int64) {
	left := p.Order().Quantity - p.Filled()
	if p.State() != placement.Canceled || p.Purpose() != placement.StopLoss || p.OrderID() == 0 || p.Order().Market != exchange.Spot || left <= 0 {
		return
	}
	symbol, known := t.Symbol(p.Symbol()), t.delivery(p)
	switch {
	case t.StandsDown() && (t.CancelMS(p.ClientOrderID()) == 0 || known.unableMS != 0 && known.releasedMS == 0):
		symbol.unlistedSales = append(symbol.unlistedSales, peerOrder{p.OrderID(), left, atMS})
		symbol.unlistedFor = persistence{}
	case !t.StandsDown() && t.omitsIDs() && (known.releasedMS == 0 || known.inferred):
		t.expectReplacement(symbol, left, atMS)
	}
}

// decideUnlisted drops an unlisted sale that the history shows as ended, because its row contains the sold
// quantity. Before that, whoever removed the order has a moment to place its replacement.
func (s *SymbolState) decideUnlisted(o *exchange.Order, nowMS int64) {
	if o.Status.Final() {
		s.unlistedSales = slices.DeleteFunc(s.unlistedSales, func(one peerOrder) bool { return one.orderID == o.ID && nowMS-one.seenMS >= peerStopMS })
	}
}

// UnknownOrders returns a symbol's open orders that carry this instance's prefix, and that the journal does not know.
func (p *peer) UnknownOrders(symbol *SymbolState) (unknown []exchange.Order) {
	for i := range symbol.foreign {
		if p.prefixed(symbol.foreign[i].ClientOrderID) {
			unknown = append(unknown, symbol.foreign[i])
		}
	}
	return unknown
}

// ForeignPrefix returns the client order id of an order that carries this instance's prefix but is not
// in the journal, placed by another botd, or by this one after the restored backup was made (case 15); empty for
// none. If the journal was lost, the order's symbol is already quarantined (case 35).
func (p *peer) ForeignPrefix() string {
	for symbol := range p.account.Symbols() {
		if id := p.shownUnknown(symbol); id != "" && symbol.Cause() != record.JournalLost {
			return id
		}
	}
	return ""
}

// shownUnknown returns the client order id of such an order, as the list or the history of a symbol shows it.
func (p *peer) shownUnknown(symbol *SymbolState) string {
	if symbol.unknownEnded != "" {
		return symbol.unknownEnded
	}
	if unknown := p.UnknownOrders(symbol); len(unknown) > 0 {
		return unknown[0].ClientOrderID
	}
	return ""
}
