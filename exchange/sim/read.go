package sim

import (
	"sort"

	"botd/exchange"
)

// read answers the signed operations that change nothing.
func (x *Exchange) read(a *account, request *exchange.Request, answer *exchange.Answer) *exchange.Refusal {
	op := request.Operation
	switch op {
	case exchange.FuturesOrder:
		o := x.orders.of(a, exchange.Futures, request.OrderID)
		if o == nil || !o.visible {
			return refuse(op, CodeUnknownOrder, "order %d is unknown", request.OrderID)
		}
		answer.Order = o.report()
	case exchange.FuturesOpenOrders, exchange.SpotOpenOrders:
		return x.openOrders(a, request, answer)
	case exchange.FuturesLeverages:
		var all []exchange.LeverageSetting
		for _, b := range x.booksOf(exchange.Futures) {
			all = append(all, exchange.LeverageSetting{Symbol: b.symbol.Name, Leverage: a.holdings[b.index].leverage})
		}
		answer.Leverages = exchange.FetchedOf(all)
	case exchange.FuturesAccount:
		answer.Account = a.report()
	case exchange.FuturesOpenPositions:
		all := make([]exchange.Position, 0, len(a.positions))
		for _, p := range a.positions {
			all = append(all, p.report())
		}
		answer.Positions = exchange.FetchedOf(all)
	case exchange.FuturesPositionsHistory:
		return x.positionsHistory(a, request, answer)
	case exchange.SpotOrderHistory:
		return x.orderHistory(a, request, answer)
	case exchange.SpotUserTrades:
		return x.userTrades(a, request, answer)
	case exchange.SpotWallet:
		all := make([]exchange.Balance, len(x.assets))
		for i, asset := range x.assets {
			all[i] = exchange.Balance{Asset: asset, Free: a.balances[i].free, Frozen: a.balances[i].frozen}
		}
		answer.Balances = exchange.FetchedOf(all)
	}
	return nil
}

// report returns the margin account in the form of the interface.
func (a *account) report() exchange.MarginAccount {
	return exchange.MarginAccount{
		Status: "NORMAL", MaintenanceMargin: a.maintenance(), WalletBalance: a.money.Wallet, MarginUsed: a.orderMargin.Add(a.positionMargin),
		OrderMargin: a.orderMargin, PositionMargin: a.positionMargin, UnrealizedPNL: a.shown(), AvailableBalance: a.available(), IsDemo: true,
	}
}

// reusedList is a list of open orders whose memory is used again, and as long as nothing changes the list itself.
type reusedList struct {
	orders  []exchange.Order
	account *account // nil: of one symbol
	version uint64
}

// openOrders lists the unfinished orders that reached the book, oldest first.
func (x *Exchange) openOrders(a *account, request *exchange.Request, answer *exchange.Answer) *exchange.Refusal {
	if refusal := x.optionalSymbol(request); refusal != nil {
		return refusal
	}
	list, reused := a.open(request.Operation.Market()), &x.reused[request.Operation.Market()]
	if reused.account == a && reused.version == x.version && request.Symbol == "" {
		answer.Orders = exchange.FetchedOf(reused.orders)
		return nil
	}
	all := reused.orders[:0] // empty unless lists are reused
	if cap(all) < list.count {
		all = make([]exchange.Order, 0, list.count+list.count/4)
	}
	for o := list.first; o != nil; o = o.after {
		if o.visible && (request.Symbol == "" || o.Symbol == request.Symbol) {
			all = append(all, o.Order)
			o.show(&all[len(all)-1])
		}
	}
	if x.config.ReuseLists {
		if *reused = (reusedList{orders: all}); request.Symbol == "" {
			reused.account, reused.version = a, x.version
		}
	}
	answer.Orders = exchange.FetchedOf(all)
	return nil
}

// span is the records of a list that can match a request, from:to. An account's lists grow with its
// age: whoever asks for what is recent looks at no more than that.
type span struct{ from, to int }

// newestFirst lists records from the last of a span to the first, within the request's limit and
// offset. record returns one of them and whether it matches the request.
func newestFirst[T any](x *Exchange, request *exchange.Request, standard, maximum int, within span, record func(i int) (T, bool)) (list exchange.Fetched[T],
	refusal *exchange.Refusal) {
	size, refusal := limit(request, standard, maximum)
	if refusal == nil {
		refusal = x.optionalSymbol(request)
	}
	if refusal != nil {
		return list, refusal
	}
	skip, all := request.Offset, []T{}
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
func (x *Exchange) positionsHistory(a *account, r *exchange.Request, answer *exchange.Answer) (refusal *exchange.Refusal) {
	answer.Positions, refusal = newestFirst(x, r, 30, x.config.MaxHistory, span{0, len(a.history)}, func(i int) (reported exchange.Position, matches bool) {
		p := a.history[i]
		second := p.updatedMS / 1000
		if r.Symbol != "" && p.book.symbol.Name != r.Symbol || r.PositionSide != 0 && p.side != r.PositionSide ||
			r.StartMS > 0 && second < r.StartMS/1000 || r.EndMS > 0 && second > r.EndMS/1000 {
			return reported, false
		}
		return p.report(), true
	})
	return refusal
}

func (x *Exchange) orderHistory(a *account, r *exchange.Request, answer *exchange.Answer) (refusal *exchange.Refusal) {
	from := sort.Search(len(a.spotOrders), func(i int) bool { return a.spotOrders[i].CreatedMS >= r.StartMS })
	answer.Orders, refusal = newestFirst(x, r, 500, 1000, span{from, len(a.spotOrders)}, func(i int) (reported exchange.Order, matches bool) {
		o := a.spotOrders[i]
		if !o.visible || r.Symbol != "" && o.Symbol != r.Symbol || r.Side != 0 && o.Side != r.Side || r.Type != 0 && o.Type != r.Type ||
			r.StartMS > 0 && o.CreatedMS < r.StartMS || r.EndMS > 0 && o.CreatedMS > r.EndMS {
			return reported, false
		}
		return o.report(), true
	})
	return refusal
}

func (x *Exchange) userTrades(a *account, r *exchange.Request, answer *exchange.Answer) (refusal *exchange.Refusal) {
	from := 0
	if o := x.orders.byID(r.OrderID); o != nil {
		from = sort.Search(len(a.trades), func(i int) bool { return a.trades[i].TimeMS >= o.CreatedMS })
	}
	answer.Fills, refusal = newestFirst(x, r, 500, 1000, span{from, len(a.trades)}, func(i int) (exchange.UserTrade, bool) {
		trade := &a.trades[i]
		return *trade, (r.Symbol == "" || trade.Symbol == r.Symbol) && (r.OrderID == 0 || trade.OrderID == r.OrderID)
	})
	return refusal
}
