package sim

import "botd/exchange"

// spotFee returns a fill's fee and its asset: the received asset, unless the account pays in USDT.
func (o *order) spotFee(value exchange.Amount, quantity exchange.Quantity, maker bool) (exchange.Amount, string) {
	s, rate := o.orderBook.symbol, o.account.spotFee(maker)
	if o.Side == exchange.Buy && !o.account.config.FeeFromQuote {
		return s.QuantityAmount(quantity).MulRate(rate), s.Base
	}
	return value.MulRate(rate), s.Quote
}

// paid and received return the assets that an order pays and receives.
func (o *order) paid() *balance {
	if o.Side == exchange.Buy {
		return &o.account.balances[o.orderBook.quote]
	}
	return &o.account.balances[o.orderBook.base]
}

func (o *order) received() *balance {
	if o.Side == exchange.Buy {
		return &o.account.balances[o.orderBook.base]
	}
	return &o.account.balances[o.orderBook.quote]
}

// withFee adds the highest possible fee to an amount of USDT, for an account that pays its fees in
// USDT.
func (a *account) withFee(amount exchange.Amount) exchange.Amount {
	if !a.config.FeeFromQuote {
		return amount
	}
	return amount.Add(amount.MulRate(max(a.config.SpotMaker, a.config.SpotTaker, 0)))
}

// requiredFunds returns the funds that the rest of a spot order must reserve: USDT to buy, the base
// asset to sell.
func (b *orderBook) requiredFunds(o *order) exchange.Amount {
	byAmount := !o.QuoteAmount.IsZero()
	switch {
	case o.Side == exchange.Buy && byAmount:
		return o.account.withFee(o.QuoteAmount.Sub(o.spent))
	case o.Side == exchange.Buy:
		return o.account.withFee(b.symbol.Notional(o.basis(), o.Quantity-o.Filled))
	case byAmount:
		return b.symbol.QuantityAmount(quantityFor(b.symbol, o.QuoteAmount.Sub(o.spent), o.basis()))
	}
	return b.symbol.QuantityAmount(o.Quantity - o.Filled)
}

// freeze reserves the funds of an accepted order.
func (b *orderBook) freeze(o *order) {
	o.reserved = b.requiredFunds(o)
	paid := o.paid()
	paid.free, paid.frozen = paid.free.Sub(o.reserved), paid.frozen.Add(o.reserved)
}

// fillableSpot returns the quantity of a spot order that would fill at a price: the rest, and for a
// market order no more than the account can pay.
func (b *orderBook) fillableSpot(o *order, price exchange.Price) exchange.Quantity {
	left := o.Quantity - o.Filled
	if !o.QuoteAmount.IsZero() {
		left = quantityFor(b.symbol, o.QuoteAmount.Sub(o.spent), price)
	}
	if o.priced() {
		return left
	}
	money := o.paid().free.Add(o.reserved)
	if o.Side == exchange.Sell {
		if money.Less(b.symbol.QuantityAmount(left)) {
			left = b.symbol.FloorQuantity(b.symbol.QuantityOf(money))
		}
		return left
	}
	if a := o.account; a.config.FeeFromQuote {
		fee := max(a.config.SpotMaker, a.config.SpotTaker, 0)
		money = money.MulDiv(int64(exchange.RateOne), int64(exchange.RateOne+fee))
	}
	return min(left, quantityFor(b.symbol, money, price))
}

// fillSpot moves both assets of a fill and releases the funds that the rest of the order no longer
// needs.
func (c *clearing) fillSpot(o *order, value exchange.Amount, quantity exchange.Quantity, fee exchange.Amount) {
	given, got := value, o.orderBook.symbol.QuantityAmount(quantity)
	if o.Side == exchange.Sell {
		given, got = got, value
	}
	if o.Side == exchange.Buy && o.account.config.FeeFromQuote {
		given = given.Add(fee)
	} else {
		got = got.Sub(fee)
	}
	paid := o.paid()
	fromReserved := given.Min(o.reserved)
	o.reserved = o.reserved.Sub(fromReserved)
	paid.frozen = paid.frozen.Sub(fromReserved)
	paid.free = paid.free.Sub(given.Sub(fromReserved))
	if unneeded := o.reserved.Sub(o.orderBook.requiredFunds(o)); unneeded.Sign() > 0 {
		o.reserved = o.reserved.Sub(unneeded)
		paid.frozen, paid.free = paid.frozen.Sub(unneeded), paid.free.Add(unneeded)
	}
	received := o.received()
	received.free = received.free.Add(got)
	c.exchange.version++
}

// releaseSpot returns the reserved funds of a finished order.
func (c *clearing) releaseSpot(o *order) {
	paid := o.paid()
	paid.frozen, paid.free = paid.frozen.Sub(o.reserved), paid.free.Add(o.reserved)
	o.reserved = exchange.Amount{}
}
