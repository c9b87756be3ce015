package sim

import (
	"slices"

	"botd/exchange"
)

// position is a futures position with its exact cost.
type position struct {
	positionFacts
	account   *account
	orderBook *orderBook
	status    exchange.PositionStatus
	margin    exchange.Amount // cost / leverage
}

// positionFacts is the part of a position that a snapshot stores as it is.
type positionFacts struct {
	ID         int64
	Side       exchange.PositionSide
	Opened     exchange.Quantity // total quantity
	Remaining  exchange.Quantity
	Closed     exchange.Quantity `json:"Exited"`
	Cost       exchange.Amount   // sum of price x quantity of the remaining quantity
	Realized   exchange.Amount
	ExitValue  exchange.Amount `json:"Exits"` // sum of price x quantity of the closed quantity
	EntryPrice exchange.Amount `json:"Entry"` // entry price of the last quantity, still set when nothing remains
	Last       exchange.Price  // of the last fill
	Leverage   int             // at the time it closed

	CreatedMS, UpdatedMS int64
}

// sideOf returns the side that an order opens: BUY opens LONG and SELL opens SHORT (interface,
// futures rule 4).
func sideOf(side exchange.Side) exchange.PositionSide {
	if side == exchange.Buy {
		return exchange.Long
	}
	return exchange.Short
}

// exitSide returns the side that closes the position.
func (p *position) exitSide() exchange.Side {
	if p.Side == exchange.Long {
		return exchange.Sell
	}
	return exchange.Buy
}

// profit returns the profit of closing a quantity with that cost at a value.
func (p *position) profit(value, cost exchange.Amount) exchange.Amount {
	if p.Side == exchange.Long {
		return value.Sub(cost)
	}
	return cost.Sub(value)
}

func (p *position) unrealized() exchange.Amount { return p.unrealizedAt(p.orderBook.mark) }

// visibleProfit returns the profit at the known price.
func (p *position) visibleProfit() exchange.Amount {
	return p.unrealizedAt(p.orderBook.current(exchange.MarkPrice))
}

func (p *position) unrealizedAt(mark exchange.Price) exchange.Amount {
	return p.profit(p.orderBook.symbol.Notional(mark, p.Remaining), p.Cost)
}

// fillFutures books an executed quantity: first the fee, then the reduced, then the opened
// quantity.
func (c *clearing) fillFutures(o *order, price exchange.Price, quantity exchange.Quantity, fee exchange.Amount) {
	a, b := o.account, o.orderBook
	a.money.Fees = a.money.Fees.Add(fee)
	a.money.Wallet = a.money.Wallet.Sub(fee)
	h := &a.holdings[b.index]
	if o.reduceOnly {
		h.reducing -= quantity
	}
	if p := h.position; p != nil && p.Side != sideOf(o.Side) {
		part := min(quantity, p.Remaining)
		c.reduce(p, price, part)
		quantity -= part
		if p.Remaining == 0 {
			c.closePosition(p, exchange.PositionClosed, o)
		}
	}
	if quantity > 0 {
		c.increase(a, b, o.Side, price, quantity)
	}
	if o.opens() && !o.Status.Final() {
		c.holdMargin(o)
	}
	c.markChanged(a)
}

// increase opens a position or adds to it.
func (c *clearing) increase(a *account, b *orderBook, side exchange.Side, price exchange.Price, quantity exchange.Quantity) {
	h := &a.holdings[b.index]
	p := h.position
	if p == nil {
		c.positionID++
		p = a.spare.blank()
		p.account, p.orderBook, p.ID, p.Side, p.status, p.CreatedMS = a, b, c.positionID, sideOf(side), exchange.PositionOpen, c.exchange.nowMS
		h.position = p
		a.positions = append(a.positions, p)
		b.positions = append(b.positions, p)
		b.notePositions()
	} else {
		p.exclude()
	}
	p.Opened += quantity
	p.Remaining += quantity
	p.Cost = p.Cost.Add(b.symbol.Notional(price, quantity))
	p.include()
	c.updateMargin(p, price)
}

// reduce closes a part. Its cost is proportional to the quantity, truncated at 18 places; if
// nothing remains, it is all of the rest.
func (c *clearing) reduce(p *position, price exchange.Price, quantity exchange.Quantity) {
	a, value := p.account, p.orderBook.symbol.Notional(price, quantity)
	p.exclude()
	p.EntryPrice = p.orderBook.symbol.AverageCost(p.Cost, p.Remaining)
	cost := p.Cost.MulDiv(int64(quantity), int64(p.Remaining))
	profit := p.profit(value, cost)
	p.Cost = p.Cost.Sub(cost)
	p.Remaining -= quantity
	p.Closed += quantity
	p.ExitValue = p.ExitValue.Add(value)
	p.Realized = p.Realized.Add(profit)
	a.money.Realized = a.money.Realized.Add(profit)
	a.money.Wallet = a.money.Wallet.Add(profit)
	p.include()
	c.updateMargin(p, price)
}

// updateMargin updates a position's margin and times.
func (c *clearing) updateMargin(p *position, price exchange.Price) {
	margin := p.Cost.Div(int64(p.account.holdings[p.orderBook.index].leverage))
	p.account.positionMargin = p.account.positionMargin.Add(margin).Sub(p.margin)
	p.margin, p.Last, p.UpdatedMS = margin, price, c.exchange.nowMS
}

// closePosition ends a position without a remaining quantity. It cancels the position's open reduceOnly, stop-loss
// and take-profit orders; a closePosition order that closed the position is filled instead.
func (c *clearing) closePosition(p *position, status exchange.PositionStatus, by *order) {
	a, b := p.account, p.orderBook
	h := &a.holdings[b.index]
	p.status, p.Leverage = status, h.leverage
	h.position = nil
	p.exclude() // a margin level may require margin even for zero
	a.positions = without(a.positions, p)
	b.positions = without(b.positions, p)
	b.notePositions()
	a.history = append(a.history, p)
	a.closed++
	c.exchange.noteAccount(a)
	if extra := len(a.history) - c.exchange.config.MaxHistory; extra > c.exchange.config.MaxHistory/4 {
		if c.exchange.config.ReuseLists {
			a.spare = append(a.spare, a.history[:extra]...)
		}
		a.history = slices.Delete(a.history, 0, extra)
	}
	for o := a.futuresOrders.first; o != nil; {
		next := o.after
		switch {
		case o.ClosePositionID != p.ID:
		case o == by && (o.ClosePosition || o.Filled == o.Quantity):
			c.exchange.finish(o, exchange.StatusFilled)
		default:
			c.exchange.finish(o, canceled)
		}
		o = next
	}
}

func without(all []*position, p *position) []*position {
	for i := range all {
		if all[i] == p {
			copy(all[i:], all[i+1:])
			all[len(all)-1] = nil
			return all[:len(all)-1]
		}
	}
	return all
}

// report returns the position in the form of the interface.
func (p *position) report() exchange.Position {
	s := p.orderBook.symbol
	reported := exchange.Position{
		ID: p.ID, Symbol: s.Name, Side: p.Side, Quantity: p.Opened, Remaining: p.Remaining, RealizedPNL: p.Realized, Status: p.status,
		LastUpdatePrice: s.PriceAmount(p.Last), ClosePrice: s.AverageCost(p.ExitValue, p.Closed),
		CreatedMS: exchange.WholeSecond(p.CreatedMS), UpdatedMS: exchange.WholeSecond(p.UpdatedMS),
		EntryPrice: p.EntryPrice, Leverage: p.Leverage,
	}
	if p.status == exchange.PositionOpen {
		reported.EntryPrice = s.AverageCost(p.Cost, p.Remaining)
		reported.Leverage = p.account.holdings[p.orderBook.index].leverage
		reported.UnrealizedPNL = p.visibleProfit()
		reported.LiqPrice = p.liquidationPrice()
	}
	return reported
}
