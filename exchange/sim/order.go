package sim

import "botd/exchange"

const canceled = exchange.StatusCanceled

// order is an order with the exchange's internal state.
type order struct {
	exchange.Order        // as the interface shows it
	visible        bool   // it has reached the order book: list and GET return it
	before, after  *order // in the account's list of open orders, oldest first
	account        *account
	orderBook      *orderBook
	reduceOnly     bool
	triggered      bool // a conditional order that was activated
	dead           bool // a spot order whose cancel was answered: it cannot fill

	reserved exchange.Amount // order margin on futures; frozen USDT or base asset on spot
	spent    exchange.Amount // price x quantity of all fills

	// In a backtest, while the order takes (bound.go):
	worst         exchange.Price // the best price that a conditional order pays, or 0; after its trigger, the price it pays then
	met           exchange.Price // the price that triggered it, by which its limit is judged
	triggeredMS   int64          // the time of the trigger
	sinceMS       int64          // the time from which it takes, if not from its placement
	slippage      exchange.Rate  // the largest so far
	late          bool           // it rests, or waits for its stop price, from its bar's close on
	delayed       bool           // it did not reach the order book immediately
	paysStopPrice bool           // a stop on the best path that pays its stop price whenever it is passed
	passed        bool           // a stop whose price the path reached while it was on its way
	watched       bool           // it is on its way, and worst is the worst price on the path since its placement

	encoded []byte // for snapshots, once the order is final

	turn          int64     // its turn in its ladder; lower comes first
	arrives, ends eventTime // its events in the queue; zero for none
	tracked       bool      // listed in the tracker

	ladder         *ladder // the ladder that contains the order
	key            int64
	previous, next *order // within its price
}

// orderList is an account's open orders of one market, oldest first.
type orderList struct {
	first, last *order
	count       int
}

func (l *orderList) add(o *order) {
	o.before, o.after = l.last, nil
	if l.last != nil {
		l.last.after = o
	} else {
		l.first = o
	}
	l.last = o
	l.count++
}

func (l *orderList) remove(o *order) {
	if o.before != nil {
		o.before.after = o.after
	} else {
		l.first = o.after
	}
	if o.after != nil {
		o.after.before = o.before
	} else {
		l.last = o.before
	}
	o.before, o.after = nil, nil
	l.count--
}

// newOrder returns an accepted order with the next id.
func (x *Exchange) newOrder(a *account, b *orderBook, request *exchange.NewOrder) *order {
	o := x.orders.spare.blank()
	o.account, o.orderBook, o.reduceOnly = a, b, request.ReduceOnly
	o.ID, o.ClientOrderID, o.Market, o.Symbol = x.orders.lastID+1, request.ClientOrderID, b.symbol.Market, b.symbol.Name
	o.Side, o.Type, o.Price, o.StopPrice = request.Side, request.Type, request.Price, request.StopPrice
	o.Quantity, o.QuoteAmount, o.WorkingType = request.Quantity, request.QuoteAmount, request.WorkingType
	o.ClosePosition, o.PostOnly, o.Status, o.CreatedMS = request.ClosePosition, request.PostOnly, exchange.StatusCreated, x.nowMS
	x.orders.add(o)
	x.forgetOrders()
	x.noteOrder(o)
	x.noteAccount(a)
	a.open(b.symbol.Market).add(o)
	if b.symbol.Market == exchange.Spot {
		a.spotOrders = append(a.spotOrders, o)
	}
	return o
}

// forgetOrders drops the oldest finished orders when the limit is exceeded by a quarter.
func (x *Exchange) forgetOrders() {
	if x.orders.forget() {
		for _, a := range x.accounts {
			a.forgetSpotOrders(&x.orders)
		}
	}
}

// report returns an order in the form of the interface: futures times are in whole seconds.
func (o *order) report() exchange.Order {
	reported := o.Order
	o.show(&reported)
	return reported
}

// show converts a copy of the order to that form.
func (o *order) show(reported *exchange.Order) {
	if reported.Market == exchange.Futures {
		reported.CreatedMS -= reported.CreatedMS % 1000
		return
	}
	reported.AveragePrice = o.orderBook.symbol.AverageCost(o.spent, o.Filled)
}

// priced reports whether the order has a limit price, now or on activation.
func (o *order) priced() bool { return o.Type.Priced() }

// opens reports whether the order may open or increase a futures position.
func (o *order) opens() bool {
	return o.Market == exchange.Futures && !o.reduceOnly && !o.ClosePosition
}

// onlyCloses reports whether the order can only close a position.
func (o *order) onlyCloses() bool {
	return o.Market == exchange.Futures && !o.opens() || o.Market == exchange.Spot && o.Side == exchange.Sell
}

// basis is the price at which the order's value and margin are computed.
func (o *order) basis() exchange.Price { return o.orderBook.basis(o.Type, o.Price, o.StopPrice) }

// basis returns an order's own price, the stop price of a conditional market order, else the market's price.
func (b *orderBook) basis(kind exchange.OrderType, price, stop exchange.Price) exchange.Price {
	switch {
	case kind.Priced():
		return price
	case kind.Conditional():
		return stop
	}
	return b.current(exchange.ContractPrice)
}

// finish ends an order and releases everything it holds.
func (x *Exchange) finish(o *order, status exchange.OrderStatus) {
	o.Status = status
	x.noteOrder(o)
	x.noteAccount(o.account)
	o.orderBook.remove(o)
	o.account.open(o.Market).remove(o)
	if o.Market == exchange.Futures {
		x.clearing.releaseFutures(o)
	} else {
		x.clearing.releaseSpot(o)
	}
	x.version++
}

// remove removes an order from its ladder, if it is in one.
func (b *orderBook) remove(o *order) {
	if o.ladder != nil {
		o.ladder.remove(o)
		o.turn = 0
		b.exchange.noteOrder(o)
		b.stale = true
		b.updateID++
	}
}

// OrderState is an order with its internal state, for tests and the control interface.
type OrderState struct {
	exchange.Order
	Account    string
	ReduceOnly bool
}

// AllOrders returns the orders of every account, oldest first, including those not yet shown.
func (x *Exchange) AllOrders() []OrderState {
	all := make([]OrderState, 0, x.orders.count)
	for o := range x.orders.each {
		all = append(all, OrderState{o.report(), o.account.config.Name, o.reduceOnly})
	}
	return all
}

// Ended reports whether an order has ended or is no longer stored.
func (x *Exchange) Ended(id int64) bool {
	o := x.orders.byID(id)
	return o == nil || o.Status.Final()
}

// EachOpenOrder calls visit for each unfinished order of an account and market, oldest first,
// including those that the interface does not return yet. visit must not change or retain the
// order.
func (x *Exchange) EachOpenOrder(name string, market exchange.Market, visit func(*exchange.Order)) {
	if a := x.byName[name]; a != nil {
		for o := a.open(market).first; o != nil; o = o.after {
			visit(&o.Order)
		}
	}
}
