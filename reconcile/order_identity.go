package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// The interface does not promise the client order id in any list (exactly-once.md, case 42). A spot row
// without one is identified first by its order id, if any list has ever shown the client order id for
// it, and then by being equal to an order of botd's in every parameter and in time.

// maxNames limits the number of remembered ids of orders that the journal does not know.
const maxNames = 1_000

// nameRows fills in the known client order ids of spot rows without one.
func (s orderRows) nameRows() {
	newest := exchange.FetchedOf(s.fetched.Newest)
	lists := [...]*exchange.Fetched[exchange.Order]{&s.fetched.SpotOrders, &s.fetched.History, &newest}
	for _, list := range lists {
		s.noteNames(*list)
	}
	for _, list := range lists {
		if list.Done() {
			*list = exchange.FetchedOf(s.tracker.unclaimedRows().named(list.Items()))
		}
	}
	s.fetched.Newest = newest.Items()
}

// noteNames remembers the ids of orders under this prefix that the journal does not know, because a
// later list may omit the ids.
func (s orderRows) noteNames(list exchange.Fetched[exchange.Order]) {
	for i := 0; list.Done() && i < len(list.Items()); i++ {
		if o := &list.Items()[i]; s.tracker.prefixed(o.ClientOrderID) && !s.tracker.Known(o.ClientOrderID) {
			if s.tracker.names == nil || len(s.tracker.names) >= maxNames {
				s.tracker.names = map[int64]string{}
			}
			s.tracker.names[o.ID] = o.ClientOrderID
		}
	}
}

// unclaimedRows determines whose order a row shows that has no client order id, or that no placement claims: one of botd's, whose outcome it decides, or
// another's.
type unclaimedRows struct {
	*tracked
	observed *observedAccount
	refusals *refusals
	ended    *spotEnded
	peer     *peer
}

func (t *Tracker) unclaimedRows() unclaimedRows {
	return unclaimedRows{&t.tracked, &t.observedAccount, &t.refusals, &t.spotEnded, &t.peer}
}

// named returns the rows of a list with all client order ids that are known for them: by order id, otherwise by equality with an order of botd's.
func (e unclaimedRows) named(rows []exchange.Order) []exchange.Order {
	if !slices.ContainsFunc(rows, func(o exchange.Order) bool { return o.ClientOrderID == "" }) {
		return rows
	}
	rows = slices.Clone(rows) // the fetched rows stay unchanged
	for i := range rows {
		o := &rows[i]
		if o.ClientOrderID == "" {
			o.ClientOrderID = e.observed.names[o.ID]
		}
		if o.ClientOrderID == "" && !e.claimed(o) {
			o.ClientOrderID = e.idOfEqual(o, rows)
		}
	}
	return rows
}

// idOfEqual returns the client order id of the order of botd's that a row equals: an uncertain order, one that the exchange refused, or one that
// it executed a second time. It is improbable that a person places an order of the same quantity at the same prices in the same seconds. While botd
// stands down, the row may also be another botd's.
func (e unclaimedRows) idOfEqual(row *exchange.Order, rows []exchange.Order) string {
	if row.Price == 0 {
		return ""
	}
	shown := func(id string) bool {
		return slices.ContainsFunc(rows, func(o exchange.Order) bool { return o.ClientOrderID == id })
	}
	for p := range e.Live() {
		if p.State() == placement.Uncertain && p.OrderID() == 0 && equals(row, p, p.Fence(e.Bounds())) && !shown(p.ClientOrderID()) {
			return p.ClientOrderID()
		}
	}
	for _, r := range e.refusals.refusedOrConfirmed() {
		if equalsOrder(row, &r.order, r.SentMS, r.atMS+createdSlackMS) && !shown(r.clientOrderID) && e.Known(r.clientOrderID) {
			return r.clientOrderID
		}
	}
	if e.peer.StandsDown() {
		return ""
	}
	for p := range e.Live() {
		if younger := p.OrderID() > row.ID; p.OrderID() != 0 && (!younger || p.Purpose() == placement.StopLoss) && equals(row, p, p.SentMS()+repeatedMS) {
			return p.ClientOrderID()
		}
	}
	return ""
}

// equals reports whether a row matches a placement's order and was created between its send time
// and a given time.
func equals(row *exchange.Order, p *account.Placement, untilMS int64) bool {
	order := p.Order()
	return equalsOrder(row, &order, p.SentMS(), untilMS)
}

func equalsOrder(row *exchange.Order, order *exchange.NewOrder, sentMS, untilMS int64) bool {
	return sameParameters(row, order) && row.StopPrice == order.StopPrice && row.CreatedMS >= sentMS-createdSlackMS && row.CreatedMS <= untilMS
}

// repeatedMS is the maximum time between a purchase and the date of its repetition.
const repeatedMS = 10_000

// Resembles reports whether a row without an id has the form of botd's spot stops: a STOP_LIMIT sale whose limit is below its stop price by the
// collar. If the history omits ids, nothing else identifies the orders of another botd, or of a lost journal. A person's order has that form only by
// chance.
func (o *observedAccount) Resembles(symbol *SymbolState, row *exchange.Order) bool {
	rules := symbol.rules
	if row.Market != exchange.Spot || row.ClientOrderID != "" || row.Side != exchange.Sell || row.Type != exchange.StopLimit ||
		rules == nil || symbol.collar == 0 || !o.omitsIDs() {
		return false
	}
	limit, slack := stopLimit(rules, row.StopPrice, row.Quantity, symbol.collar), max(rules.PriceTick, row.StopPrice/priceSlack)
	return row.Price >= limit-slack && row.Price <= limit+maxSaleMark(limit, symbol.collar)+slack
}

// omitsIDs reports whether the spot lists omit, or may omit, the client order ids of botd's orders.
func (o *observedAccount) omitsIDs() bool { return !o.idsShown || o.idsLeftOut }

// priceSlack is the fraction of its stop price (1/10,000) by which the limit of such an order may differ, because the price tick may have changed.
const priceSlack = 10_000

// repetition returns a row without an id with the id of the purchase it duplicates, if the list omits the ids of botd's own orders too:
// both have the same amount, or the same quantity and price, and were placed within the same seconds. Nothing else distinguishes an order that the
// exchange executed a second time, or despite its refusal, from a person's; a person's order does not have the same amount by chance.
func (e unclaimedRows) repetition(order *exchange.Order) *exchange.Order {
	if order.ClientOrderID != "" || !e.observed.idsLeftOut || order.Side != exchange.Buy || e.claimed(order) {
		return order
	}
	own := e.ended.purchases
	for p := range e.Live() {
		if p.OrderID() == 0 && couldBe(order, p.Order(), p.SentMS()) {
			return order // the order itself, whose answer was lost
		}
		own = append(own[:len(own):len(own)], endedPurchase{p.ClientOrderID(), p.Order(), p.SentMS()})
	}
	for _, r := range e.refusals.refusedOrConfirmed() {
		own = append(own[:len(own):len(own)], endedPurchase{r.clientOrderID, r.order, r.SentMS})
	}
	for _, one := range own {
		if sameParameters(order, &one.order) && order.CreatedMS >= one.sentMS-createdSlackMS && order.CreatedMS <= one.sentMS+repeatedMS {
			under := *order
			under.ClientOrderID = one.clientOrderID
			return &under
		}
	}
	return order
}

// sameType reports whether an order of one type may rest as one of the other: on futures the exchange decides by the price at its arrival whether a
// conditional order is a stop or a take-profit.
func sameType(row, sent exchange.OrderType) bool {
	return row == sent || row.Conditional() && sent.Conditional() && row.Priced() == sent.Priced()
}

// sameParameters reports whether a row may be a repetition of the same order.
func sameParameters(row *exchange.Order, order *exchange.NewOrder) bool {
	same := row.Key() == order.Key() && row.Side == order.Side && sameType(row.Type, order.Type)
	if order.QuoteAmount.IsZero() {
		return same && row.Quantity == order.Quantity && row.Price == order.Price
	}
	return same && row.QuoteAmount == order.QuoteAmount
}

// purchaseSlack is the fraction of a purchase's mean price (1/500) by which the price at the decision may differ from it, because the price moved until
// the purchase was executed.
const purchaseSlack = 500

// purchaseOfForm reports whether an executed purchase by amount buys a whole number of quantity steps at a price of about that time, as botd's
// purchases do. By chance, one amount in several hundred has that form.
func purchaseOfForm(rules *exchange.Symbol, row *exchange.Order) bool {
	steps, mean := rules.QuantityFor(row.QuoteAmount, rules.PriceTick), rules.PriceOf(row.AveragePrice)
	if rules.Notional(rules.PriceTick, steps) != row.QuoteAmount {
		return false
	}
	amount := int64(steps / rules.QuantityTick) // in units of one step at a price of one tick
	low, high := int64((mean-mean/purchaseSlack+rules.PriceTick-1)/rules.PriceTick), int64((mean+mean/purchaseSlack)/rules.PriceTick)
	if low <= 0 {
		return false
	}
	if least, most := (amount+high-1)/high, amount/low; most-least < high-low { // there are fewer possible quantities than prices
		low, high = max(1, least), most
	}
	for n := low; n <= high; n++ {
		if amount%n == 0 {
			return true
		}
	}
	return false
}

// wholeCents reports whether an amount has at most two decimals, like one that a person enters.
func wholeCents(amount exchange.Amount) bool {
	d := amount.Decimal()
	return d.Equal(d.Truncate(2))
}

// newestUnclaimed returns the newest executed purchase on a spot symbol, without an id, by an amount that a person would not enter, that no placement
// claims and no person has decided. A purchase that is not newer than an order that the journal no longer remembers may have been botd's.
func (e unclaimedRows) newestUnclaimed(symbol *SymbolState, rows []exchange.Order) (newest *exchange.Order) {
	if symbol.rules == nil {
		return nil
	}
	after := max(symbol.DecidedID(), e.ForgottenID())
	for i := range slices.Backward(rows) { // an order's newest rows first
		o := &rows[i]
		bought := o.Key() == symbol.Key() && o.Side == exchange.Buy && o.Filled > 0
		if bought && o.ClientOrderID == "" && o.ID > after && !wholeCents(o.QuoteAmount) && !e.claimed(o) {
			newest, after = o, o.ID
		}
	}
	return newest
}

// mayBeBotds reports whether a row may be an uncertain purchase, or one that the exchange refused: those are decided by other rules.
func (e unclaimedRows) mayBeBotds(o *exchange.Order) bool {
	return slices.ContainsFunc(e.refusals.refusedOrConfirmed(), func(r RefusedOrder) bool { return sameParameters(o, &r.order) }) ||
		e.AnyLive(func(p *account.Placement) bool { return p.OrderID() == 0 && couldBe(o, p.Order(), p.SentMS()) })
}

// lost reports whether a row without an id repeats, within seconds, an uncertain purchase.
func (e unclaimedRows) lost(o *exchange.Order) bool {
	return o.ClientOrderID == "" && e.AnyLive(func(p *account.Placement) bool {
		order := p.Order()
		return p.OrderID() == 0 && order.Side == exchange.Buy && sameParameters(o, &order) &&
			o.CreatedMS >= p.SentMS()-createdSlackMS && o.CreatedMS <= p.SentMS()+repeatedMS
	})
}

// candidate returns a row that could be the placement's order: it has the same symbol and side, is not
// older, has had an effect, and is claimed by no placement. A row that shows any client order id must
// also have the same quantity. The lists must have been read.
func (e unclaimedRows) candidate(p *account.Placement, fetched *Snapshot) *exchange.Order {
	lists := []exchange.Fetched[exchange.Order]{fetched.Orders(p.Order().Market)}
	if p.Order().Market == exchange.Spot {
		lists = append(lists, fetched.History)
	}
	for _, list := range lists {
		for i := range list.Items() {
			if o := &list.Items()[i]; couldBe(o, p.Order(), p.SentMS()) && !e.claimed(o) {
				return o
			}
		}
	}
	return nil
}

// boughtBy returns how much an unclaimed row has bought for a placement. A row without an id proves
// nothing: a person's orders have none either. It counts as botd's only if the list omits the ids of
// botd's own rows too, and the placement could have bought that much.
func (e unclaimedRows) boughtBy(o *exchange.Order, p *account.Placement, symbol *SymbolState) exchange.Quantity {
	if o == nil || o.ClientOrderID != "" || o.Filled == 0 || !e.observed.idsLeftOut || symbol.rules == nil {
		return 0
	}
	order := p.Order()
	switch {
	case order.QuoteAmount.IsZero() && o.Filled > order.Quantity:
		return 0
	case !order.QuoteAmount.IsZero() && !o.QuoteAmount.IsZero() && o.QuoteAmount != order.QuoteAmount:
		return 0
	case !order.QuoteAmount.IsZero() && symbol.rules.AverageCost(order.QuoteAmount, o.Filled).Less(o.AveragePrice): // it cost more than the placement's amount
		return 0
	}
	return o.Filled
}
