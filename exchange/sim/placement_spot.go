package sim

import "botd/exchange"

// placeSpot validates a spot order, freezes the required balance and accepts the order.
func (c *call) placeSpot() *exchange.Refusal {
	p, refusal := c.prepare()
	if refusal != nil {
		return refusal
	}
	// Spot has no reduceOnly, closePosition and postOnly: they are ignored like unknown fields.
	p.request.ReduceOnly, p.request.ClosePosition, p.request.PostOnly = false, false, false
	for _, rule := range []func(*placement) *exchange.Refusal{(*placement).spotSize, (*placement).classify} {
		if refusal := rule(p); refusal != nil {
			return refusal
		}
	}
	trial := order{account: c.account, orderBook: p.orderBook}
	trial.Side, trial.Type, trial.Price, trial.StopPrice = p.request.Side, p.request.Type, p.request.Price, p.request.StopPrice
	trial.Quantity, trial.QuoteAmount = p.request.Quantity, p.request.QuoteAmount
	if needed, free := p.orderBook.requiredFunds(&trial), trial.paid().free; free.Less(needed) {
		asset := p.orderBook.symbol.Quote
		if trial.Side == exchange.Sell {
			asset = p.orderBook.symbol.Base
		}
		return p.refuse(CodeBalance, "the order needs %s %s, the free balance is %s", needed, asset, free)
	}
	o := c.exchange.newOrder(c.account, p.orderBook, &p.request)
	p.orderBook.freeze(o)
	c.exchange.version++
	c.send(o)
	return nil
}

// spotSize validates qt: for MARKET the amount in USDT, else a base quantity. A conditional market
// order takes either.
func (p *placement) spotSize() *exchange.Refusal {
	request, s := &p.request, p.orderBook.symbol
	byAmount := request.Type == exchange.MarketOrder || !request.Type.Priced() && request.Quantity == 0
	if !byAmount {
		request.QuoteAmount = exchange.Amount{}
		if refusal := p.quantity(); refusal != nil {
			return refusal
		}
		return p.value()
	}
	if request.Quantity != 0 {
		return p.refuse(CodeQuantity, "a spot MARKET order takes an amount of %s, not a base quantity of %s", s.Quote, s.QuantityDecimal(request.Quantity))
	}
	if request.QuoteAmount.Sign() <= 0 {
		return p.refuse(CodeQuantity, "qt %s is not above 0", request.QuoteAmount)
	}
	return p.bounds(request.QuoteAmount)
}
