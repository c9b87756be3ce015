package ledger

import (
	"cmp"
	"slices"

	"botd/exchange"
)

// cost is a strategy's position in a spot symbol and its cost.
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

// Held returns the part of a symbol's base asset that was bought on spot and is still held, as far
// as it is booked.
func (l *Ledger) Held(key exchange.SymbolKey) exchange.Amount { return l.costOf(key).quantity }

func (l *Ledger) setCost(c cost) {
	i, found := slices.BinarySearchFunc(l.costs, c.symbol, func(c cost, k exchange.SymbolKey) int { return c.symbol.Compare(k) })
	if !found {
		l.costs = slices.Insert(l.costs, i, c)
	}
	l.costs[i] = c
}

// storePending adds a fill to an order whose executions are to be booked.
func (l *Ledger) storePending(o *Order, grown exchange.Quantity) {
	i := slices.IndexFunc(l.pending, func(w pending) bool { return w.clientOrderID == o.ClientOrderID })
	if i < 0 {
		i = len(l.pending)
		l.pending = append(
			l.pending,
			pending{clientOrderID: o.ClientOrderID, strategy: o.Strategy, symbol: o.Symbol, buy: o.Side == exchange.Buy, before: o.Filled - grown},
		)
	}
	l.pending[i].quantity += grown
	l.pending[i].orderID = o.OrderID
}

// settled reports whether nothing needs to be requested: all fills are booked, or the exchange's
// order id is unknown.
func (p *pending) settled() bool { return p.quantity == 0 || p.orderID == 0 }

// WantsTrades returns the spot orders with unbooked executions whose exchange order id is known.
func (l *Ledger) WantsTrades() (orders []SpotOrder) {
	for i := range l.pending {
		p := &l.pending[i]
		if !p.settled() {
			orders = append(orders, SpotOrder{p.symbol.Name, p.orderID, p.before, p.quantity, p.trades})
		}
	}
	return orders
}

// SpotOrder is a spot order with unbooked executions.
type SpotOrder struct {
	Symbol   string
	OrderID  int64
	Before   exchange.Quantity // filled before the wallet was taken over, and included in it
	Quantity exchange.Quantity // filled, not booked
	Booked   []int64           // its booked trades
}

// spotLines returns the lines of a spot reading: executions as reported, and any further change of the
// wallet as unexplained. Two changes are transfers instead: the balance of an asset that is new to the
// ledger, and a change of a single asset while nothing can have traded.
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
		switch {
		case !l.tracksAsset(a.Name): // a strategy has begun to trade the asset: the existing balance is taken over
			b.lines = transfer(b.lines, exchange.Spot, Asset{a.Name, rest}, Transferred)
		case l.onlyAssetMoved(r) && !rest.IsZero(): // nothing was traded: an external transfer
			b.lines = append(b.lines, Line{Account: Wallet, Symbol: exchange.SymbolKey{Market: exchange.Spot}, Asset: a.Name, Amount: rest})
			b.lines = l.outside(b.lines, exchange.Spot, a.Name, rest.Neg())
		default:
			b.lines = transfer(b.lines, exchange.Spot, Asset{a.Name, rest}, Unexplained)
		}
	}
	return b.lines
}

// onlyAssetMoved reports whether nothing was traded since the last reading and only one asset has
// changed. An unknown trade would change two.
func (l *Ledger) onlyAssetMoved(r *Reading) bool {
	changed := 0
	for _, a := range r.Wallet {
		if l.tracksAsset(a.Name) && a.Amount != l.wallet(exchange.Spot, a.Name) {
			changed++
		}
	}
	return changed == 1 && len(r.Trades) == 0 && len(l.pending) == 0 && !r.Partial && !r.Unstable
}

// tracksAsset reports whether an asset is the base or quote asset of a spot instrument of the ledger.
func (l *Ledger) tracksAsset(asset string) bool {
	return slices.ContainsFunc(l.instruments, func(t Instrument) bool {
		return t.Symbol.Market == exchange.Spot && (t.Base == asset || t.Quote == asset)
	})
}

// spotBooking converts one reading's trades to lines.
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

// trade books one execution: base against the traded quantity, quote against the holding at its
// cost, the difference of a sale as profit, and its fee.
func (b *spotBooking) trade(t *Trade) {
	i := slices.IndexFunc(b.ledger.pending, func(p pending) bool { return p.orderID == t.OrderID })
	if i < 0 {
		return
	}
	p := &b.ledger.pending[i]
	instrument := b.ledger.instrumentFor(b.reading, p.symbol)
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
		put(Wallet, "", instrument.Base, t.Quantity)
		put(Exchanged, p.strategy, instrument.Base, t.Quantity.Neg())
		put(Wallet, "", instrument.Quote, value.Neg())
		put(Holding, p.strategy, instrument.Quote, value)
		c.quantity, c.paid = c.quantity.Add(t.Quantity), c.paid.Add(value)
	} else {
		put(Wallet, "", instrument.Base, t.Quantity.Neg())
		put(Exchanged, p.strategy, instrument.Base, t.Quantity)
		put(Wallet, "", instrument.Quote, value)
		b.sold(put, p, &instrument, c, t, value)
	}
	b.fee(put, p, &instrument, c, t)
}

// sold subtracts a sale from the holding at its cost. A quantity sold beyond the holding was in the wallet
// before: it is transferred in at its sale price, without profit.
func (b *spotBooking) sold(
	put func(Account, string, string, exchange.Amount),
	p *pending,
	instrument *Instrument,
	c *cost,
	t *Trade,
	value exchange.Amount,
) {
	own := t.Quantity.Min(c.quantity)
	paid := exchange.Amount{}
	if !c.quantity.IsZero() {
		paid = c.paid.MulQuo(own, c.quantity)
	}
	brought := t.Price.MulQuo(t.Quantity.Sub(own), unit)
	put(Holding, p.strategy, instrument.Quote, paid.Neg())
	put(Transferred, p.strategy, instrument.Quote, brought.Neg())
	put(Realized, p.strategy, instrument.Quote, value.Sub(paid).Sub(brought).Neg())
	c.quantity, c.paid = c.quantity.Sub(own), c.paid.Sub(paid)
}

// fee books a fee in its asset. A fee in the base asset is valued at the execution's price and
// subtracted from the holding.
func (b *spotBooking) fee(put func(Account, string, string, exchange.Amount), p *pending, instrument *Instrument, c *cost, t *Trade) {
	put(Wallet, "", t.FeeAsset, t.Fee.Neg())
	if t.FeeAsset != instrument.Base {
		put(Fees, p.strategy, t.FeeAsset, t.Fee)
		return
	}
	put(Exchanged, p.strategy, instrument.Base, t.Fee)
	value := t.Price.MulQuo(t.Fee, unit).Min(c.paid)
	put(Fees, p.strategy, instrument.Quote, value)
	put(Holding, p.strategy, instrument.Quote, value.Neg())
	c.quantity, c.paid = c.quantity.Sub(t.Fee.Min(c.quantity)), c.paid.Sub(value)
}

// bookSpot advances the ledger to a reading.
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
		if instrument := l.instrumentFor(r, p.symbol); !instrument.Unit.IsZero() {
			p.quantity -= exchange.Quantity(t.Quantity.Quo(instrument.Unit))
		}
	}
	for _, c := range b.costs {
		l.setCost(c)
	}
	// After a partial reading the missing executions are no longer expected. An order that has ended and
	// expects none is removed; one that may still fill stays, with the ids of its booked trades.
	for i := range l.pending {
		if r.Partial {
			l.pending[i].quantity = 0
		}
	}
	l.pending = slices.DeleteFunc(l.pending, func(p pending) bool { return p.final && p.settled() })
}

func (l *Ledger) end(clientOrderID string, orderID int64) {
	for i := range l.pending {
		if w := &l.pending[i]; w.clientOrderID == clientOrderID {
			w.final, w.orderID = true, cmp.Or(orderID, w.orderID)
		}
	}
	l.pending = slices.DeleteFunc(l.pending, func(p pending) bool { return p.final && p.settled() })
}
