package sim

import "botd/exchange"

// unrealized returns the profit of all open positions at their mark prices.
func (a *account) unrealized() exchange.Amount {
	return a.profits.of(a.positions, (*position).unrealized)
}

// visibleProfit returns the unrealized profit as the account may see it, which excludes guessed prices on a
// recorded candle's path.
func (a *account) visibleProfit() exchange.Amount {
	var sum exchange.Amount
	for _, p := range a.positions {
		sum = sum.Add(p.visibleProfit())
	}
	return sum
}

// available returns wallet + unrealized profit - order margin - position margin.
func (a *account) available() exchange.Amount {
	return a.money.Wallet.Add(a.unrealized()).Sub(a.orderMargin).Sub(a.positionMargin)
}

// maintenance returns the margin below which the account is liquidated.
func (a *account) maintenance() exchange.Amount {
	return a.needs.of(a.positions, (*position).maintenance)
}

// maintenance returns the position's maintenance margin.
func (p *position) maintenance() exchange.Amount { return p.maintenanceAt(p.orderBook.mark) }

// maintenanceAt returns notional x marginRatio - marginAmount of the bracket for the notional at
// the mark price.
func (p *position) maintenanceAt(mark exchange.Price) exchange.Amount {
	notional := p.orderBook.symbol.Notional(mark, p.Remaining)
	bracket := p.orderBook.symbol.BracketOf(notional)
	return notional.MulRate(bracket.MarginRatio).Sub(bracket.MarginAmount)
}

// clearing books executions and payments: balances, positions, margin, liquidations.
type clearing struct {
	exchange   *Exchange
	unsettled  []*account // accounts with a fill or a payment that must be checked for liquidation
	positionID int64      // of the newest position
}

// marginOf returns the order margin of a quantity that an order may open: its value at the order's basis / leverage. On
// an exchange that nets, an opposite order opens only the quantity that exceeds the position.
func (a *account) marginOf(b *orderBook, side exchange.Side, basis exchange.Price, quantity exchange.Quantity) exchange.Amount {
	h := &a.holdings[b.index]
	if p := h.position; b.exchange.net && p != nil && p.Side != sideOf(side) {
		quantity = max(0, quantity-p.Remaining)
	}
	return b.symbol.Notional(basis, quantity).Div(int64(h.leverage))
}

// holdMargin updates the margin that an order reserves to its current need.
func (c *clearing) holdMargin(o *order) {
	margin := o.account.marginOf(o.orderBook, o.Side, o.basis(), o.Quantity-o.Filled)
	o.account.orderMargin = o.account.orderMargin.Add(margin).Sub(o.reserved)
	o.reserved = margin
	c.exchange.noteOrder(o)
	c.exchange.noteAccount(o.account)
}

// releaseFutures returns the margin of a finished order.
func (c *clearing) releaseFutures(o *order) {
	h := &o.account.holdings[o.orderBook.index]
	o.account.orderMargin = o.account.orderMargin.Sub(o.reserved)
	o.reserved = exchange.Amount{}
	if o.reduceOnly {
		h.reducing -= o.Quantity - o.Filled
	}
}

// markChanged notes that an account's money or positions changed.
func (c *clearing) markChanged(a *account) {
	c.exchange.version++
	c.exchange.corridor = false
	c.exchange.noteAccount(a)
	for _, p := range a.positions {
		p.orderBook.stale = true
	}
	if !a.unsettled {
		a.unsettled = true
		c.unsettled = append(c.unsettled, a)
	}
}

// settleAccounts liquidates the accounts left with too little margin after fills or payments.
func (c *clearing) settleAccounts() {
	for i := 0; i < len(c.unsettled); i++ {
		a := c.unsettled[i]
		a.unsettled = false
		c.settleAccount(a)
	}
	c.unsettled = c.unsettled[:0]
}

// settleAccount liquidates an account whose wallet + unrealized profit is not above its maintenance
// margin. A negative wallet is raised to zero once no open position could cover it.
func (c *clearing) settleAccount(a *account) {
	if len(a.positions) > 0 && a.money.Wallet.Add(a.unrealized()).Cmp(a.maintenance()) <= 0 {
		c.liquidate(a)
	}
	if len(a.positions) == 0 && a.money.Wallet.Sign() < 0 {
		a.money.Insurance = a.money.Insurance.Sub(a.money.Wallet)
		a.money.Wallet = exchange.Amount{}
		c.exchange.noteAccount(a)
		c.exchange.version++
	}
}

// liquidate cancels the account's open futures orders, then closes its positions at their mark
// prices. The fee is at most the rest of the wallet.
func (c *clearing) liquidate(a *account) {
	for o := a.futuresOrders.first; o != nil; o = a.futuresOrders.first {
		c.exchange.finish(o, canceled)
	}
	c.exchange.noteAccount(a)
	ended := make([]*position, len(a.positions))
	copy(ended, a.positions)
	quantities := make([]exchange.Quantity, len(ended))
	for i, p := range ended {
		quantities[i] = p.Remaining
		c.reduce(p, p.orderBook.mark, p.Remaining)
		c.closePosition(p, exchange.PositionLiquidated, nil)
	}
	rate := a.config.FuturesTaker
	if c.exchange.config.LiquidationFee != 0 {
		rate = max(0, c.exchange.config.LiquidationFee)
	}
	for i, p := range ended {
		b := p.orderBook
		fee := b.symbol.Notional(b.mark, quantities[i]).MulRate(rate).Min(a.money.Wallet.Max(exchange.Amount{}))
		a.money.Fees = a.money.Fees.Add(fee)
		a.money.LiquidationFee = a.money.LiquidationFee.Add(fee)
		a.money.Wallet = a.money.Wallet.Sub(fee)
		a.money.Liquidations++
		b.stale = true
		b.publish(b.mark, quantities[i], p.exitSide() == exchange.Sell)
		c.exchange.fills.record(&Fill{
			Account: a.config.Name, Market: exchange.Futures, Symbol: b.symbol.Name, Side: p.exitSide(), Price: b.mark,
			Quantity: quantities[i], Fee: fee, FeeAsset: b.symbol.Quote, TimeMS: c.exchange.nowMS,
		})
	}
	c.exchange.version++
}

// liquidationPrice returns the mark price of the position's symbol at which the account is
// liquidated, all else unchanged, with 18 places, or zero if there is no such price above zero.
//
// With wallet + the other positions' profit - their maintenance = rest, a long of quantity q and
// cost c in a bracket of ratio r and amount a is liquidated at rest + q*m - c = q*m*r - a, so m =
// (c - rest - a) / (q * (1-r)); a short at m = (c + rest + a) / (q * (1+r)). The bracket is the one
// of q*m.
func (p *position) liquidationPrice() exchange.Amount {
	profits, needs := p.others()
	rest := p.account.money.Wallet.Add(profits).Sub(needs)
	s := p.orderBook.symbol
	brackets := s.Brackets
	if len(brackets) == 0 {
		brackets = []exchange.Bracket{s.BracketOf(exchange.Amount{})}
	}
	for i, bracket := range brackets {
		notional, divisor := p.Cost.Sub(rest).Sub(bracket.MarginAmount), exchange.RateOne-bracket.MarginRatio
		if p.Side == exchange.Short {
			notional, divisor = p.Cost.Add(rest).Add(bracket.MarginAmount), exchange.RateOne+bracket.MarginRatio
		}
		if divisor <= 0 {
			continue
		}
		notional = notional.MulDiv(int64(exchange.RateOne), int64(divisor))
		if notional.Sign() <= 0 {
			if i == 0 {
				return exchange.Amount{}
			}
			continue
		}
		if i == len(brackets)-1 || notional.Cmp(bracket.Max) <= 0 {
			return s.AverageCost(notional, p.Remaining)
		}
	}
	return exchange.Amount{}
}

// others returns the profit and the maintenance margin of the account's other positions at their marks.
func (p *position) others() (profits, needs exchange.Amount) {
	if a := p.account; len(a.positions) > 1 {
		profits, needs = a.unrealized().Sub(p.unrealized()), a.maintenance().Sub(p.maintenance())
	}
	return profits, needs
}

// bankruptAt reports whether the account would be liquidated with this position's symbol at the
// mark price.
func (p *position) bankruptAt(mark exchange.Price) bool {
	profits, needs := p.others()
	equity := p.account.money.Wallet.Add(p.unrealizedAt(mark)).Add(profits)
	return equity.Cmp(p.maintenanceAt(mark).Add(needs)) <= 0
}

// liquidationBound returns the last whole price at which the account is still liquidated: for a
// long the highest, for a short the lowest.
func (p *position) liquidationBound() (exchange.Price, bool) {
	at := p.liquidationPrice()
	if at.IsZero() || !at.Less(p.orderBook.symbol.PriceAmount(maxPrice)) {
		return 0, false
	}
	price := p.orderBook.symbol.PriceOf(at)
	step := exchange.Price(1)
	if p.Side == exchange.Short {
		step = -1
	}
	for range 3 {
		if !p.bankruptAt(price + step) {
			break
		}
		price += step
	}
	for range 3 {
		if price <= 0 || p.bankruptAt(price) {
			break
		}
		price -= step
	}
	return price, price > 0
}
