package sim

import "botd/exchange"

// placeSpot validates a spot order, freezes the required balance and accepts the order.
func (c *call) placeSpot() *exchange.Refusal {
	p, refusal := c.prepare()
	if refusal != nil {
		return refusal
	}
	// Spot has no reduceOnly, closePosition and postOnly: they are ignored like unknown fields.
	p.asked.ReduceOnly, p.asked.ClosePosition, p.asked.PostOnly = false, false, false
	for _, rule := range []func(*placement) *exchange.Refusal{(*placement).spotSize, (*placement).classify} {
		if refusal := rule(p); refusal != nil {
			return refusal
		}
	}
	trial := order{account: c.account, book: p.book}
	trial.Side, trial.Type, trial.Price, trial.StopPrice = p.asked.Side, p.asked.Type, p.asked.Price, p.asked.StopPrice
	trial.Quantity, trial.QuoteAmount = p.asked.Quantity, p.asked.QuoteAmount
	if needed, free := p.book.requiredFunds(&trial), trial.paid().free; free.Less(needed) {
		asset := p.book.symbol.Quote
		if trial.Side == exchange.Sell {
			asset = p.book.symbol.Base
		}
		return p.refuse(CodeBalance, "the order needs %s %s, the free balance is %s", needed, asset, free)
	}
	o := c.exchange.newOrder(c.account, p.book, &p.asked)
	p.book.freeze(o)
	c.exchange.version++
	c.send(o)
	return nil
}

// spotSize validates qt: for MARKET the amount in USDT, else a base quantity. A conditional market
// order takes either.
func (p *placement) spotSize() *exchange.Refusal {
	asked, s := &p.asked, p.book.symbol
	byAmount := asked.Type == exchange.MarketOrder || !asked.Type.Priced() && asked.Quantity == 0
	if !byAmount {
		asked.QuoteAmount = exchange.Amount{}
		if refusal := p.quantity(); refusal != nil {
			return refusal
		}
		return p.value()
	}
	if asked.Quantity != 0 {
		return p.refuse(CodeQuantity, "a spot MARKET order takes an amount of %s, not a base quantity of %s", s.Quote, s.QuantityDecimal(asked.Quantity))
	}
	if asked.QuoteAmount.Sign() <= 0 {
		return p.refuse(CodeQuantity, "qt %s is not above 0", asked.QuoteAmount)
	}
	return p.bounds(asked.QuoteAmount)
}
