package reconcile

import (
	"cmp"
	"slices"

	"botd/exchange"
)

// cost is what a strategy holds of a spot symbol, and what it paid for it.
type cost struct {
	symbol   exchange.SymbolKey
	quantity exchange.Amount // base
	paid     exchange.Amount // quote
}

func (l *Ledger) costOf(key exchange.SymbolKey) cost {
	i, found := slices.BinarySearchFunc(l.costs, key, func(c cost, k exchange.SymbolKey) int { return c.symbol.Compare(k) })
	if !found {
		return cost{symbol: key}
	}
	return l.costs[i]
}

func (l *Ledger) setCost(c cost) {
	i, found := slices.BinarySearchFunc(l.costs, c.symbol, func(c cost, k exchange.SymbolKey) int { return c.symbol.Compare(k) })
	if !found {
		l.costs = slices.Insert(l.costs, i, c)
	}
	l.costs[i] = c
}

// wait keeps an order until its executions are told.
func (l *Ledger) wait(p *Placement, grown exchange.Quantity) {
	i := slices.IndexFunc(l.pending, func(w pending) bool { return w.clientOrderID == p.ClientOrderID })
	if i < 0 {
		i = len(l.pending)
		l.pending = append(l.pending, pending{clientOrderID: p.ClientOrderID, strategy: p.Strategy, symbol: p.Order.Key(), buy: p.Order.Side == exchange.Buy, before: p.Filled - grown})
	}
	l.pending[i].quantity += grown
	l.pending[i].orderID = p.OrderID
}

// settled reports whether there is nothing to ask for: all that filled is booked,
// or the exchange's id of the order is not known.
func (p *pending) settled() bool { return p.quantity == 0 || p.orderID == 0 }

// WantsTrades returns the spot orders whose executions are not all booked.
func (l *Ledger) WantsTrades() (orders []SpotOrder) {
	for i := range l.pending {
		p := &l.pending[i]
		if !p.settled() {
			orders = append(orders, SpotOrder{p.symbol.Name, p.orderID, p.before, p.quantity, p.trades})
		}
	}
	return orders
}

// SpotOrder is a spot order with executions that are not booked.
type SpotOrder struct {
	Symbol   string
	OrderID  int64
	Before   exchange.Quantity // of its first executions, which the wallet that was taken over held
	Quantity exchange.Quantity // filled, not booked
	Booked   []int64           // its trades that are
}

// spotLines books executions as they were told; what the wallet changed beyond
// them nobody can explain, but for an asset that no reading had before.
func (l *Ledger) spotLines(r *Reading) []Line {
	b := spotBooking{ledger: l, reading: r}
	for i := range r.Trades {
		b.trade(&r.Trades[i])
	}
	for _, a := range r.Wallet {
		moved := exchange.Amount{}
		for i := range b.lines {
			if b.lines[i].Account == Wallet && b.lines[i].Asset == a.Name {
				moved = moved.Add(b.lines[i].Amount)
			}
		}
		rest := a.Amount.Sub(l.wallet(exchange.Spot, a.Name)).Sub(moved)
		from := Unexplained
		if !l.counts(a.Name) {
			from = Transferred // a strategy has begun to trade it: what is there is taken over
		}
		b.lines = transfer(b.lines, exchange.Spot, Asset{a.Name, rest}, from)
	}
	return b.lines
}

// counts reports whether an asset of the spot wallet was in a reading that is booked.
func (l *Ledger) counts(asset string) bool {
	return slices.ContainsFunc(l.terms, func(t Terms) bool { return t.Symbol.Market == exchange.Spot && (t.Base == asset || t.Quote == asset) })
}

// spotBooking is one reading's trades on their way into lines.
type spotBooking struct {
	ledger  *Ledger
	reading *Reading
	costs   []cost
	lines   []Line
}

func (b *spotBooking) cost(key exchange.SymbolKey) *cost {
	i := slices.IndexFunc(b.costs, func(c cost) bool { return c.symbol == key })
	if i < 0 {
		i, b.costs = len(b.costs), append(b.costs, b.ledger.costOf(key))
	}
	return &b.costs[i]
}

// trade books one execution: base against what was traded, quote against the
// holding at its cost, the difference of a sale as profit, and its fee.
func (b *spotBooking) trade(t *Trade) {
	i := slices.IndexFunc(b.ledger.pending, func(p pending) bool { return p.orderID == t.OrderID })
	if i < 0 {
		return
	}
	p := &b.ledger.pending[i]
	terms := b.ledger.termsFor(b.reading, p.symbol)
	value, c := t.Price.MulQuo(t.Quantity, unit), b.cost(p.symbol)
	put := func(account Account, strategy string, asset string, amount exchange.Amount) {
		if amount.IsZero() {
			return
		}
		line := Line{Account: account, Strategy: strategy, Symbol: p.symbol, Asset: asset, Amount: amount}
		if account == Wallet {
			line.Strategy, line.Symbol = "", exchange.SymbolKey{Market: exchange.Spot}
		}
		b.lines = append(b.lines, line)
	}
	if p.buy {
		put(Wallet, "", terms.Base, t.Quantity)
		put(Exchanged, p.strategy, terms.Base, t.Quantity.Neg())
		put(Wallet, "", terms.Quote, value.Neg())
		put(Holding, p.strategy, terms.Quote, value)
		c.quantity, c.paid = c.quantity.Add(t.Quantity), c.paid.Add(value)
	} else {
		put(Wallet, "", terms.Base, t.Quantity.Neg())
		put(Exchanged, p.strategy, terms.Base, t.Quantity)
		put(Wallet, "", terms.Quote, value)
		b.sold(put, p, &terms, c, t, value)
	}
	b.fee(put, p, &terms, c, t)
}

// sold takes a sale out of what is held. What is sold beyond it was there
// before: it is brought in at the price it is sold for, without profit.
func (b *spotBooking) sold(put func(Account, string, string, exchange.Amount), p *pending, terms *Terms, c *cost, t *Trade, value exchange.Amount) {
	own := t.Quantity.Min(c.quantity)
	paid := exchange.Amount{}
	if !c.quantity.IsZero() {
		paid = c.paid.MulQuo(own, c.quantity)
	}
	brought := t.Price.MulQuo(t.Quantity.Sub(own), unit)
	put(Holding, p.strategy, terms.Quote, paid.Neg())
	put(Transferred, p.strategy, terms.Quote, brought.Neg())
	put(Realised, p.strategy, terms.Quote, value.Sub(paid).Sub(brought).Neg())
	c.quantity, c.paid = c.quantity.Sub(own), c.paid.Sub(paid)
}

// fee books a fee in its asset. One in the base asset is valued at the
// execution's price and taken out of what is held.
func (b *spotBooking) fee(put func(Account, string, string, exchange.Amount), p *pending, terms *Terms, c *cost, t *Trade) {
	put(Wallet, "", t.FeeAsset, t.Fee.Neg())
	if t.FeeAsset != terms.Base {
		put(Fees, p.strategy, t.FeeAsset, t.Fee)
		return
	}
	put(Exchanged, p.strategy, terms.Base, t.Fee)
	value := t.Price.MulQuo(t.Fee, unit).Min(c.paid)
	put(Fees, p.strategy, terms.Quote, value)
	put(Holding, p.strategy, terms.Quote, value.Neg())
	c.quantity, c.paid = c.quantity.Sub(t.Fee.Min(c.quantity)), c.paid.Sub(value)
}

// bookSpot moves the ledger on to a reading.
func (l *Ledger) bookSpot(r *Reading) {
	b := spotBooking{ledger: l, reading: r}
	for i := range r.Trades {
		t := &r.Trades[i]
		b.trade(t)
		at := slices.IndexFunc(l.pending, func(p pending) bool { return p.orderID == t.OrderID })
		if at < 0 {
			continue
		}
		p := &l.pending[at]
		p.trades = append(p.trades, t.ID)
		if terms := l.termsFor(r, p.symbol); !terms.Unit.IsZero() {
			p.quantity -= exchange.Quantity(t.Quantity.Quo(terms.Unit))
		}
	}
	for _, c := range b.costs {
		l.setCost(c)
	}
	// An order that is not live any more and wholly booked is done with, and one
	// whose executions nobody tells; one that may fill again keeps what it has booked.
	for i := range l.pending {
		if r.Partial {
			l.pending[i].quantity = 0
		}
	}
	l.pending = slices.DeleteFunc(l.pending, func(p pending) bool { return p.final && p.settled() })
}

// endedOrder notes that a placement can not fill any more.
func (l *Ledger) endedOrder(p *Placement) {
	for i := range l.pending {
		if w := &l.pending[i]; w.clientOrderID == p.ClientOrderID {
			w.final, w.orderID = true, cmp.Or(p.OrderID, w.orderID)
		}
	}
	l.pending = slices.DeleteFunc(l.pending, func(p pending) bool { return p.final && p.settled() })
}
