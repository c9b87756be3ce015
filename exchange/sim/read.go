package sim

import (
	"sort"

	"botd/exchange"
)

// read answers the signed operations that change no state.
func (c *call) read() *exchange.Refusal {
	op := c.request.Operation
	switch op {
	case exchange.FuturesOrder:
		o := c.exchange.orders.of(c.account, exchange.Futures, c.request.OrderID)
		if o == nil || !o.visible {
			return refuse(op, CodeUnknownOrder, "order %d is unknown", c.request.OrderID)
		}
		c.answer.Order = o.report()
	case exchange.FuturesOpenOrders, exchange.SpotOpenOrders:
		return c.openOrders()
	case exchange.FuturesLeverages:
		var all []exchange.LeverageSetting
		for _, b := range c.exchange.orderBooksOf(exchange.Futures) {
			all = append(all, exchange.LeverageSetting{Symbol: b.symbol.Name, Leverage: c.account.holdings[b.index].leverage})
		}
		c.answer.Leverages = exchange.FetchedOf(all)
	case exchange.FuturesAccount:
		c.answer.Account = c.account.report()
	case exchange.FuturesOpenPositions:
		all := make([]exchange.Position, 0, len(c.account.positions))
		for _, p := range c.account.positions {
			all = append(all, p.report())
		}
		c.answer.Positions = exchange.FetchedOf(all)
	case exchange.FuturesPositionsHistory:
		return c.positionsHistory()
	case exchange.SpotOrderHistory:
		return c.orderHistory()
	case exchange.SpotUserTrades:
		return c.userTrades()
	case exchange.SpotWallet:
		all := make([]exchange.Balance, len(c.exchange.assets))
		for i, asset := range c.exchange.assets {
			all[i] = exchange.Balance{Asset: asset, Free: c.account.balances[i].free, Frozen: c.account.balances[i].frozen}
		}
		c.answer.Balances = exchange.FetchedOf(all)
	}
	return nil
}

// report returns the margin account in the form of the interface.
func (a *account) report() exchange.MarginAccount {
	return exchange.MarginAccount{
		Status: "NORMAL", MaintenanceMargin: a.maintenance(), WalletBalance: a.money.Wallet, MarginUsed: a.orderMargin.Add(a.positionMargin),
		OrderMargin: a.orderMargin, PositionMargin: a.positionMargin, UnrealizedPNL: a.visibleProfit(), AvailableBalance: a.available(), IsDemo: true,
	}
}

// reusedList is a list of open orders that is reused: its memory always, and its content while nothing changes.
type reusedList struct {
	orders  []exchange.Order
	account *account // nil: orders of one symbol
	version uint64
}

// openOrders lists the unfinished orders that reached the order book, oldest first.
func (c *call) openOrders() *exchange.Refusal {
	if refusal := c.optionalSymbol(); refusal != nil {
		return refusal
	}
	list, reused := c.account.open(c.request.Operation.Market()), &c.exchange.reused[c.request.Operation.Market()]
	if reused.account == c.account && reused.version == c.exchange.version && c.request.Symbol == "" {
		c.answer.Orders = exchange.FetchedOf(reused.orders)
		return nil
	}
	all := reused.orders[:0] // empty unless lists are reused
	if cap(all) < list.count {
		all = make([]exchange.Order, 0, list.count+list.count/4)
	}
	for o := list.first; o != nil; o = o.after {
		if o.visible && (c.request.Symbol == "" || o.Symbol == c.request.Symbol) {
			all = append(all, o.Order)
			o.show(&all[len(all)-1])
		}
	}
	if c.exchange.config.ReuseLists {
		if *reused = (reusedList{orders: all}); c.request.Symbol == "" {
			reused.account, reused.version = c.account, c.exchange.version
		}
	}
	c.answer.Orders = exchange.FetchedOf(all)
	return nil
}

// span is the range from:to of a list's records that can match a request. An account's lists grow
// with its age, and a request for recent records scans no more than that range.
type span struct{ from, to int }

// newestFirst lists records from the last of a span to the first, within the request's limit and
// offset. record returns one of them and whether it matches the request.
func newestFirst[T any](c *call, standard, maximum int, within span, record func(i int) (T, bool)) (list exchange.Fetched[T], refusal *exchange.Refusal) {
	size, refusal := limit(c.request, standard, maximum)
	if refusal == nil {
		refusal = c.optionalSymbol()
	}
	if refusal != nil {
		return list, refusal
	}
	skip, all := c.request.Offset, []T{}
	for i := within.to - 1; i >= within.from && len(all) < size; i-- {
		if item, matches := record(i); !matches {
			continue
		} else if skip > 0 {
			skip--
		} else {
			all = append(all, item)
		}
	}
	return exchange.FetchedOf(all), nil
}

// positionsHistory lists closed positions. startTime and endTime are compared with the closing time
// in whole seconds, both inclusive.
func (c *call) positionsHistory() (refusal *exchange.Refusal) {
	a, r := c.account, c.request
	most := c.exchange.config.MaxHistory
	c.answer.Positions, refusal = newestFirst(c, 30, most, span{0, len(a.history)}, func(i int) (reported exchange.Position, matches bool) {
		p := a.history[i]
		second := p.UpdatedMS / 1000
		if r.Symbol != "" && p.orderBook.symbol.Name != r.Symbol || r.PositionSide != 0 && p.Side != r.PositionSide ||
			r.StartMS > 0 && second < r.StartMS/1000 || r.EndMS > 0 && second > r.EndMS/1000 {
			return reported, false
		}
		return p.report(), true
	})
	return refusal
}

func (c *call) orderHistory() (refusal *exchange.Refusal) {
	a, r := c.account, c.request
	from := sort.Search(len(a.spotOrders), func(i int) bool { return a.spotOrders[i].CreatedMS >= r.StartMS })
	c.answer.Orders, refusal = newestFirst(c, 500, 1000, span{from, len(a.spotOrders)}, func(i int) (reported exchange.Order, matches bool) {
		o := a.spotOrders[i]
		if !o.visible || r.Symbol != "" && o.Symbol != r.Symbol || r.Side != 0 && o.Side != r.Side || r.Type != 0 && o.Type != r.Type ||
			r.StartMS > 0 && o.CreatedMS < r.StartMS || r.EndMS > 0 && o.CreatedMS > r.EndMS {
			return reported, false
		}
		return o.report(), true
	})
	return refusal
}

func (c *call) userTrades() (refusal *exchange.Refusal) {
	a, r := c.account, c.request
	from := 0
	if o := c.exchange.orders.byID(r.OrderID); o != nil {
		from = sort.Search(len(a.trades), func(i int) bool { return a.trades[i].TimeMS >= o.CreatedMS })
	}
	c.answer.Fills, refusal = newestFirst(c, 500, 1000, span{from, len(a.trades)}, func(i int) (exchange.UserTrade, bool) {
		trade := &a.trades[i]
		return *trade, (r.Symbol == "" || trade.Symbol == r.Symbol) && (r.OrderID == 0 || trade.OrderID == r.OrderID)
	})
	return refusal
}
