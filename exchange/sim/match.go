package sim

import "botd/exchange"

// maxValue is the maximum value of one order or position in USDT, so that no product overflows.
const maxValue = 1e15

// arrive processes an accepted order's arrival at the order book.
func (b *orderBook) arrive(o *order) {
	o.visible = true
	b.exchange.noteOrder(o)
	b.exchange.version++
	switch {
	case o.dead:
		o.Status = exchange.StatusNew
	case o.late: // its bar has closed
		o.late = false
		b.arriveLate(o)
	case o.triggered && b.waitsAgain(o):
		o.triggered = false
		b.arriveConditional(o)
	case o.triggered: // the rest of an order that a candle's volume did not fill
		b.enter(o, canceled)
	case o.Type.Conditional():
		o.Status = exchange.StatusNew
		b.arriveConditional(o)
	case b.postpone(o):
	default:
		b.enter(o, exchange.StatusRejected)
	}
}

// arriveConditional makes a conditional order wait for its stop price. If its stop price was passed
// before it arrived, it triggers at once, with the type in its answer (docs/exchange.md, conditional orders).
func (b *orderBook) arriveConditional(o *order) {
	reached := b.reached(o) || o.passed
	if b.costs.Bounded {
		// On the best path, even a stop knows only the close of the rest of the bar.
		paysStopPrice := b.tape.config.Order == Best && o.onlyCloses() && !o.watched && !o.passed
		o.worst, o.watched = b.triggersAt(o, reached), false
		if (paysStopPrice || !o.Type.StopLoss()) && b.delayRest(o) {
			o.paysStopPrice = o.Type.StopLoss()
			return
		}
	}
	if !reached {
		b.wait(o)
		return
	}
	met := o.StopPrice
	if b.costs.Bounded && o.Type.StopLoss() == (worse(o.Side, b.tape.known, met) == b.tape.known) {
		met = b.tape.known
	}
	b.activate(o, met)
}

// arriveLate makes an order rest, or wait for its stop price, from the close of the bar in which it
// arrived. If the close has passed a stop, it pays its stop price, after those that the price
// passed earlier.
func (b *orderBook) arriveLate(o *order) {
	switch {
	case !o.Type.Conditional() || o.triggered:
		b.rest(o)
	case !o.Type.StopLoss() || !b.reached(o):
		b.wait(o)
	default:
		for other := o.account.open(o.Market).first; other != nil; other = other.after {
			sooner := worse(o.Side, other.StopPrice, o.StopPrice) != other.StopPrice
			if sooner && other.late && other.orderBook == b && other.Side == o.Side && other.Type.StopLoss() {
				o.late = true
				b.exchange.queue.push(b.exchange.nowMS, o, false)
				return
			}
		}
		b.activate(o, o.StopPrice)
	}
	b.react(false)
}

// waitsAgain reports whether the rest of a take-profit, unfilled for lack of volume, waits for its
// stop price again. It then pays that price, like a limit, and no order triggered later pays a
// better one.
func (b *orderBook) waitsAgain(o *order) bool {
	return b.costs.Bounded && !o.Type.StopLoss() && (!o.priced() || worse(o.Side, o.StopPrice, o.Price) == o.Price)
}

// triggersAt returns the best price that an arriving conditional order pays when it triggers; 0 for
// no bound. A stop that was on its way pays the worst price since its placement if that is beyond
// its stop price, because the market may have passed it there. A take-profit pays its stop price,
// like a limit, whatever gap follows.
func (b *orderBook) triggersAt(o *order, reached bool) exchange.Price {
	now, sinceMS := b.exchange.nowMS, b.takesSince(o)
	if o.Type.StopLoss() && o.watched {
		return worse(o.Side, o.worst, o.StopPrice)
	}
	if o.Type.StopLoss() && b.tape.config.Order == Best && !o.delayed {
		return o.StopPrice
	}
	if o.Type.StopLoss() && (reached || now > sinceMS) {
		price, _ := b.tape.worst(o.Side, sinceMS, now)
		return worse(o.Side, price, o.StopPrice)
	}
	if _, late := b.tape.restsLate(now); reached || late || b.costs.Through || o.delayed || o.Filled > 0 {
		return o.StopPrice
	}
	return 0
}

// working returns the index and the price that an order's working type selects. Spot has only the
// last price.
func (b *orderBook) working(kind exchange.WorkingType) (int, exchange.Price) {
	if kind == exchange.MarkPrice {
		return 1, b.mark
	}
	return 0, b.last
}

// current returns the known price that judges an order at its placement.
func (b *orderBook) current(kind exchange.WorkingType) exchange.Price {
	if b.costs.Bounded && b.tape.known > 0 && !b.skipped && !b.tape.revealed {
		return b.tape.known
	}
	_, price := b.working(kind)
	return price
}

// direction returns the direction from which the order's stop price is reached: a falling price
// reaches a selling stop-loss or a buying take-profit, a rising one the others.
func (o *order) direction() int {
	if (o.Side == exchange.Sell) == o.Type.StopLoss() {
		return falling
	}
	return rising
}

func (b *orderBook) reached(o *order) bool {
	_, price := b.working(o.WorkingType)
	if o.direction() == falling {
		return price <= o.StopPrice
	}
	return price >= o.StopPrice
}

func (b *orderBook) wait(o *order) {
	kind, _ := b.working(o.WorkingType)
	b.exchange.queueUp(o)
	b.conditional[kind][o.direction()].add(o, o.StopPrice)
	b.stale = true
}

// activate sends a conditional order as market or limit order, by its type, at the price that triggered it.
func (b *orderBook) activate(o *order, met exchange.Price) {
	o.triggered, o.met, o.triggeredMS = true, met, b.exchange.nowMS
	b.enter(o, canceled)
}

// enter matches an order and leaves the rest of a limit order in the order book. An order that may not
// execute ends with the given status.
func (b *orderBook) enter(o *order, refused exchange.OrderStatus) {
	if o.watched {
		o.watched, o.triggeredMS = false, b.exchange.nowMS
	}
	if !b.executable(o) || o.PostOnly && b.matches(o) {
		b.exchange.finish(o, refused)
		return
	}
	o.Status = exchange.StatusOpen
	if o.Market == exchange.Spot {
		o.Status = exchange.StatusNew
	}
	b.exchange.noteOrder(o)
	b.exchange.version++
	b.match(o)
	switch {
	case o.Status.Final():
	case b.recorded() && b.capped(1) == 0 && b.matches(o):
		b.await(o) // the rest takes again when there is volume
	case o.priced() && b.costs.Bounded && b.delayRest(o):
	case o.priced():
		b.rest(o)
	case o.Filled > 0 && b.amountSpent(o):
		b.exchange.finish(o, exchange.StatusFilled)
	case b.costs.VolumeCap > 0 && b.fillable(o, b.last) > 0:
		b.await(o) // the next candle has its own volume
	default:
		b.exchange.finish(o, canceled)
	}
}

// delayRest makes an order that reaches the order book late in a bar rest from the bar's close on. Until
// then it is visible and can be canceled.
func (b *orderBook) delayRest(o *order) bool {
	closeMS, late := b.tape.restsLate(b.exchange.nowMS)
	if o.triggered { // triggered by the path, so only the best one may continue from there
		late = b.tape.config.Order != Best && b.exchange.nowMS > b.tape.openedMS() && b.exchange.nowMS < closeMS
	}
	if late {
		o.late = true
		b.exchange.queue.push(closeMS, o, false)
	}
	return late
}

// queueUp gives an order its turn behind all standing orders. A restored order already has one.
func (x *Exchange) queueUp(o *order) {
	if o.turn == 0 {
		x.lastTurn++
		o.turn = x.lastTurn
	}
	x.noteOrder(o)
}

func (b *orderBook) rest(o *order) {
	b.exchange.queueUp(o)
	if o.Side == exchange.Buy {
		b.bids.add(o, o.Price)
	} else {
		b.asks.add(o, o.Price)
	}
	b.updateID++
	b.stale = true
}

// amountSpent reports whether the rest of a spot order by amount is less than one quantityTick.
func (b *orderBook) amountSpent(o *order) bool {
	price, ok := b.best(o.Side)
	return ok && !o.QuoteAmount.IsZero() && quantityFor(b.symbol, o.QuoteAmount.Sub(o.spent), price) == 0
}

// executable reports whether an order may fill now. On an exchange that rejects opposite orders an
// opening order cannot meet an opposite position, however long it has been in the order book; a reducing
// order needs the position it was placed for.
func (b *orderBook) executable(o *order) bool {
	if o.Market == exchange.Spot {
		return true
	}
	p := o.account.holdings[b.index].position
	if o.opens() {
		return p == nil || b.exchange.net || p.Side == sideOf(o.Side)
	}
	return p != nil && p.ID == o.ClosePositionID
}

// fillable returns the quantity of an order that would fill at a price.
func (b *orderBook) fillable(o *order, price exchange.Price) exchange.Quantity {
	if o.Market == exchange.Spot {
		return b.fillableSpot(o, price)
	}
	left := o.Quantity - o.Filled
	if o.opens() {
		return left
	}
	p := o.account.holdings[b.index].position
	switch {
	case p == nil:
		return 0
	case o.ClosePosition:
		return p.Remaining
	}
	return min(left, p.Remaining)
}

// best returns the quote that an order of the side would meet.
func (b *orderBook) best(side exchange.Side) (exchange.Price, bool) {
	if side == exchange.Buy {
		return b.ask()
	}
	return b.bid()
}

// maker returns the first order of another account that an order of the side would meet. It cancels
// orders that may no longer execute.
func (b *orderBook) maker(o *order) *order {
	other := &b.asks
	if o.Side == exchange.Sell {
		other = &b.bids
	}
	for {
		m := other.bestOfOthers(o.account)
		if m == nil || b.executable(m) && b.fillable(m, m.Price) > 0 {
			return m
		}
		b.exchange.finish(m, canceled)
	}
}

// firstMatch returns the first match of an order: accounts' orders precede a quote at the same
// price.
func (b *orderBook) firstMatch(o *order) (price exchange.Price, maker *order, ok bool) {
	if b.costs.Bounded {
		return b.boundedQuote(o)
	}
	price, ok = b.best(o.Side)
	if m := b.maker(o); m != nil && (!ok || m.Price == price || (m.Price < price) == (o.Side == exchange.Buy)) {
		price, maker, ok = m.Price, m, true
	}
	if ok && o.priced() && price != o.Price && (price > o.Price) == (o.Side == exchange.Buy) {
		ok = false
	}
	if b.traded != nil && ok {
		if price, _ = b.traded.worst(b, o.Side, b.takesSince(o)); o.priced() && worse(o.Side, price, o.Price) == price {
			price = o.Price
		}
	}
	return price, maker, ok
}

// boundedQuote is firstMatch in a backtest, whose order book contains only one account's orders.
func (b *orderBook) boundedQuote(o *order) (exchange.Price, *order, bool) {
	price, ok := b.bounded(o)
	return price, nil, ok
}

func (b *orderBook) matches(o *order) bool {
	_, _, ok := b.firstMatch(o)
	return ok
}

// match fills an order as far as the order book allows. Quotes are renewed after every fill, so the best
// one takes all the rest; a Fed market's quotes are not.
func (b *orderBook) match(o *order) {
	for !o.Status.Final() {
		price, maker, ok := b.firstMatch(o)
		if !ok {
			return
		}
		quantity := b.fillable(o, price)
		if maker != nil {
			quantity = min(quantity, b.fillable(maker, price))
		} else if b.fed != nil {
			quantity = min(quantity, (*b.fed.side(o.Side))[0].Quantity)
		} else if b.liquiditySeed != 0 {
			quantity = min(quantity, b.quotedFirst(o.Side, price))
		} else {
			b.quoted = price
			price = b.slipped(o, price, quantity)
			quantity = b.capped(min(quantity, b.fillable(o, price)))
			b.spend(quantity)
		}
		if quantity <= 0 {
			return
		}
		switch {
		case maker == nil && b.fed != nil:
			b.fed.take(o.Side, quantity)
		case maker == nil && b.liquiditySeed != 0:
			b.consume(o.Side, price, quantity)
		}
		b.publish(price, quantity, o.Side == exchange.Sell)
		if maker != nil {
			b.exchange.apply(maker, price, quantity, true)
		}
		b.exchange.apply(o, price, quantity, false)
	}
}

// apply books an executed quantity of an order.
func (x *Exchange) apply(o *order, price exchange.Price, quantity exchange.Quantity, maker bool) {
	b := o.orderBook
	value := b.symbol.Notional(price, quantity)
	o.Filled += quantity
	o.spent = o.spent.Add(value)
	x.noteOrder(o)
	x.noteAccount(o.account)
	fill := Fill{
		Account: o.account.config.Name, Market: o.Market, Symbol: o.Symbol, OrderID: o.ID, Side: o.Side,
		Price: price, Quantity: quantity, FeeAsset: b.symbol.Quote, Maker: maker, TimeMS: x.nowMS,
	}
	if !maker && b.quoted > 0 && b.quoted != price {
		fill.Slipped = b.symbol.Notional(price-b.quoted, quantity).Mul(o.Side.Sign())
	}
	b.quoted = 0
	if o.Market == exchange.Futures {
		fill.Fee = value.MulRate(o.account.futuresFee(maker))
		x.fills.record(&fill)
		x.clearing.fillFutures(o, price, quantity, fill.Fee)
	} else {
		fill.Fee, fill.FeeAsset = o.spotFee(value, quantity, maker)
		x.fills.record(&fill)
		x.clearing.recordSpot(o, &fill)
		x.clearing.fillSpot(o, value, quantity, fill.Fee)
	}
	switch {
	case o.Status.Final():
	case !o.ClosePosition && o.QuoteAmount.IsZero() && o.Filled == o.Quantity:
		x.finish(o, exchange.StatusFilled)
	case o.ladder != nil:
		b.updateID++
	}
}

func (a *account) futuresFee(maker bool) exchange.Rate {
	if maker {
		return a.config.FuturesMaker
	}
	return a.config.FuturesTaker
}

func (a *account) spotFee(maker bool) exchange.Rate {
	if maker {
		return a.config.SpotMaker
	}
	return a.config.SpotTaker
}
