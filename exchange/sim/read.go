package sim

import "botd/exchange"

// read answers the signed operations that change nothing.
func (x *Exchange) read(a *account, request *exchange.Request, answer *exchange.Answer) *exchange.Refusal {
	op := request.Operation
	switch op {
	case exchange.FuturesOrder:
		o := x.orderOf(a, exchange.Futures, request.OrderID)
		if o == nil || !o.visible {
			return refuse(op, CodeUnknownOrder, "order %d is unknown", request.OrderID)
		}
		answer.Order = o.told()
	case exchange.FuturesOpenOrders, exchange.SpotOpenOrders:
		return x.openOrders(a, request, answer)
	case exchange.FuturesLeverages:
		var all []exchange.LeverageSetting
		for _, b := range x.booksOf(exchange.Futures) {
			all = append(all, exchange.LeverageSetting{Symbol: b.symbol.Name, Leverage: a.holdings[b.index].leverage})
		}
		answer.Leverages = exchange.FetchedOf(all)
	case exchange.FuturesAccount:
		answer.Account = a.told()
	case exchange.FuturesOpenPositions:
		all := make([]exchange.Position, 0, len(a.positions))
		for _, p := range a.positions {
			all = append(all, p.told())
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

// told returns the margin account as the interface tells it.
func (a *account) told() exchange.MarginAccount {
	return exchange.MarginAccount{
		Status: "NORMAL", MaintenanceMargin: a.maintenance(), WalletBalance: a.money.Wallet, MarginUsed: a.orderMargin.Add(a.positionMargin),
		OrderMargin: a.orderMargin, PositionMargin: a.positionMargin, UnrealizedPNL: a.unrealized(), AvailableBalance: a.available(), IsDemo: true,
	}
}

// openOrders lists what reached the book and is not finished, oldest first.
func (x *Exchange) openOrders(a *account, request *exchange.Request, answer *exchange.Answer) *exchange.Refusal {
	if request.Symbol != "" {
		if _, refusal := x.symbol(request, request.Symbol); refusal != nil {
			return refusal
		}
	}
	list := a.open(request.Operation.Market())
	all := x.lent[request.Operation.Market()][:0] // empty unless lists are lent
	if cap(all) < list.count {
		all = make([]exchange.Order, 0, list.count+list.count/4)
	}
	for o := list.first; o != nil; o = o.after {
		if o.visible && (request.Symbol == "" || o.Symbol == request.Symbol) {
			all = append(all, o.told())
		}
	}
	if x.config.ReuseLists {
		x.lent[request.Operation.Market()] = all
	}
	answer.Orders = exchange.FetchedOf(all)
	return nil
}

// positionsHistory lists closed positions, newest first. startTime and endTime
// compare with the closing time in whole seconds, both included.
func (x *Exchange) positionsHistory(a *account, request *exchange.Request, answer *exchange.Answer) *exchange.Refusal {
	count, refusal := limit(request, 30, x.config.MaxHistory)
	if refusal != nil {
		return refusal
	}
	if request.Symbol != "" {
		if _, refusal := x.symbol(request, request.Symbol); refusal != nil {
			return refusal
		}
	}
	skip, all := request.Offset, []exchange.Position{}
	for i := len(a.history) - 1; i >= 0 && len(all) < count; i-- {
		p := a.history[i]
		second := p.updatedMS / 1000
		switch {
		case request.Symbol != "" && p.book.symbol.Name != request.Symbol:
		case request.PositionSide != 0 && p.side != request.PositionSide:
		case request.StartMS > 0 && second < request.StartMS/1000:
		case request.EndMS > 0 && second > request.EndMS/1000:
		case skip > 0:
			skip--
		default:
			all = append(all, p.told())
		}
	}
	answer.Positions = exchange.FetchedOf(all)
	return nil
}

// orderHistory lists spot orders, newest first.
func (x *Exchange) orderHistory(a *account, request *exchange.Request, answer *exchange.Answer) *exchange.Refusal {
	count, refusal := limit(request, 500, 1000)
	if refusal != nil {
		return refusal
	}
	if request.Symbol != "" {
		if _, refusal := x.symbol(request, request.Symbol); refusal != nil {
			return refusal
		}
	}
	skip, all := request.Offset, []exchange.Order{}
	for i := len(a.spotOrders) - 1; i >= 0 && len(all) < count; i-- {
		o := a.spotOrders[i]
		switch {
		case !o.visible:
		case request.Symbol != "" && o.Symbol != request.Symbol:
		case request.Side != 0 && o.Side != request.Side:
		case request.Type != 0 && o.Type != request.Type:
		case request.StartMS > 0 && o.CreatedMS < request.StartMS:
		case request.EndMS > 0 && o.CreatedMS > request.EndMS:
		case skip > 0:
			skip--
		default:
			all = append(all, o.told())
		}
	}
	answer.Orders = exchange.FetchedOf(all)
	return nil
}

// userTrades lists the account's own spot fills, newest first.
func (x *Exchange) userTrades(a *account, request *exchange.Request, answer *exchange.Answer) *exchange.Refusal {
	count, refusal := limit(request, 500, 1000)
	if refusal != nil {
		return refusal
	}
	if request.Symbol != "" {
		if _, refusal := x.symbol(request, request.Symbol); refusal != nil {
			return refusal
		}
	}
	skip, all := request.Offset, []exchange.UserTrade{}
	for i := len(a.trades) - 1; i >= 0 && len(all) < count; i-- {
		trade := a.trades[i]
		switch {
		case request.Symbol != "" && trade.Symbol != request.Symbol:
		case request.OrderID != 0 && trade.OrderID != request.OrderID:
		case skip > 0:
			skip--
		default:
			all = append(all, trade)
		}
	}
	answer.Fills = exchange.FetchedOf(all)
	return nil
}
