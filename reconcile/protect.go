package reconcile

import (
	"botd/exchange"
	"botd/strategy"
)

// protect keeps the position's stop-loss and take-profit on the exchange, placed
// in the round in which the position is first seen.
func (d *derivation) protect() {
	protection := d.wish.Protection
	if d.truth.Position == 0 {
		for _, p := range append(d.stops, d.profits...) {
			d.cancel(p, "there is no position to protect")
		}
		return
	}
	if d.exiting && d.truth.Key.Market == exchange.Spot {
		return
	}
	d.protectBy(StopLoss, protection.StopLoss, d.stops)
	if d.truth.Key.Market == exchange.Futures {
		d.protectBy(TakeProfit, protection.TakeProfit, d.profits)
	}
}

func (d *derivation) protectBy(purpose Purpose, distance strategy.Distance, live []*Placement) {
	if !d.wish.Protection.Set || distance.IsZero() {
		for _, p := range live {
			d.cancel(p, "not wished any more")
		}
		return
	}
	price := d.protectionPrice(purpose, distance)
	if price <= 0 {
		return
	}
	if len(live) > 0 {
		d.move(purpose, live[0], price)
		return
	}
	if d.passed(purpose, price) {
		if purpose == StopLoss && !d.exiting {
			d.stopNow()
		}
		return
	}
	order := exchange.NewOrder{Side: exchange.SideOf(-d.truth.Position), StopPrice: price}
	if d.truth.Key.Market == exchange.Spot {
		order.Type, order.Quantity = exchange.StopLimit, d.truth.Rules.FloorQuantity(abs(d.truth.Position))
		order.Price = d.truth.Rules.FloorPrice(price - share(price, d.wish.Collar))
		if d.tooSmall(order.Quantity) {
			return
		}
	} else {
		order.Type, order.ClosePosition, order.WorkingType = exchange.StopMarket, true, exchange.ContractPrice
		if purpose == TakeProfit {
			order.Type = exchange.TakeProfitMarket
		}
	}
	d.add(Intent{Purpose: purpose, Order: order, Reason: "protects the position"})
}

func share(price exchange.Price, rate exchange.Rate) exchange.Price {
	one := int64(exchange.RateOne)
	return exchange.Price(int64(price)/one*int64(rate) + int64(price)%one*int64(rate)/one)
}

// protectionPrice is the stop price: on the losing side for a stop, on the
// winning side for a profit, rounded away from the position by less than a tick.
func (d *derivation) protectionPrice(purpose Purpose, distance strategy.Distance) exchange.Price {
	rules := d.truth.Rules
	if distance.Price != 0 {
		return rules.FloorPrice(distance.Price)
	}
	base := d.truth.EntryPrice
	if base.IsZero() {
		base = rules.PriceAmount(d.truth.Last)
	}
	long := d.truth.Position > 0
	if long == (purpose == TakeProfit) {
		return rules.CeilPrice(rules.MeanPrice(base.Add(base.MulRate(distance.Share))))
	}
	return rules.FloorPrice(rules.MeanPrice(base.Sub(base.MulRate(distance.Share))))
}

// passed reports whether the exchange would refuse the price: a stop must be on
// the losing side of the current price, a profit on the winning side (rule 9).
func (d *derivation) passed(purpose Purpose, price exchange.Price) bool {
	if (d.truth.Position > 0) == (purpose == StopLoss) {
		return price >= d.truth.Last
	}
	return price <= d.truth.Last
}

// stopNow exits at market: the stop's price was passed before it could be placed.
func (d *derivation) stopNow() {
	for _, p := range d.towards {
		if p.Purpose == Exit {
			return
		}
	}
	before := len(d.intents)
	if !d.clearResting() {
		d.reduceNow(abs(d.truth.Position), "the stop's price was passed already")
	}
	for i := before; i < len(d.intents); i++ {
		if d.intents[i].Purpose == Exit {
			d.intents[i].Purpose = StopLoss
		}
	}
}

// move replaces a protection whose price differs. The interface allows one
// closePosition order per type, so this is cancel, confirm, place; at most once
// a candle, since each move leaves a moment without it.
func (d *derivation) move(purpose Purpose, p *Placement, price exchange.Price) {
	same := p.Order.StopPrice == price
	if d.truth.Key.Market == exchange.Spot {
		same = same && p.Remaining() == d.truth.Rules.FloorQuantity(abs(d.truth.Position))
	}
	if same || p.Order.Type == exchange.MarketOrder || p.State.Unresolved() || d.passed(purpose, price) {
		return
	}
	if d.nowMS-p.SentMS < int64(d.wish.Interval) {
		return
	}
	d.cancel(p, "the protection moves")
}
