package engine

import (
	"errors"
	"slices"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// spotHistory is how many orders or trades one page of spot history holds.
const spotHistory = 1_000

func (e *round) roundAsk(p purpose, request exchange.Request) {
	e.reading.waiting++
	e.ask(p, PrioritySettle, request)
}

// takeRound puts an answer into the snapshot. A list that was not fetched stays
// unfetched: its failure ends the round.
func (e *round) takeRound(p purpose, event *EventAnswer) error {
	snapshot := &e.reading.snapshot
	var refusal *exchange.Refusal
	if p.kind == callLook && errors.As(event.Err, &refusal) && !refusal.Unauthorized() && refusal.Code != exchange.CodeInvalidTimestamp {
		snapshot.Looked = append(snapshot.Looked, reconcile.Look{OrderID: p.orderID})
		return nil
	}
	if event.Err != nil {
		return event.Err
	}
	answer := &event.Answer
	switch {
	case p.kind == callLook:
		snapshot.Looked = append(snapshot.Looked, reconcile.Look{OrderID: p.orderID, Order: answer.Order, Known: true})
	case p.kind == callHistory:
		e.reading.history = append(e.reading.history, answer.Orders.Items()...)
		e.reading.partial = e.reading.partial || len(answer.Orders.Items()) >= spotHistory
	case p.kind == callNewest:
		snapshot.Newest = append(snapshot.Newest, answer.Orders.Items()...)
	case p.kind == callClosed:
		snapshot.Closed, snapshot.ClosedOf = append(snapshot.Closed, answer.Positions.Items()...), append(snapshot.ClosedOf, p.truth.Key().Name)
	case p.kind == callTrades:
		e.takeTrades(p, answer)
	case p.kind == callTicker:
		e.takeTickers(p, answer)
	case p.kind == callLeverages:
		for _, setting := range answer.Leverages.Items() {
			e.book.Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: setting.Symbol}).Leverage = setting.Leverage
		}
	case p.before:
		snapshot.Before = answer.Positions
	case answer.Operation == exchange.FuturesOpenOrders:
		snapshot.FuturesOrders = answer.Orders
	case answer.Operation == exchange.SpotOpenOrders:
		snapshot.SpotOrders = answer.Orders
	case answer.Operation == exchange.FuturesOpenPositions:
		snapshot.Positions = answer.Positions
	case answer.Operation == exchange.SpotWallet:
		snapshot.Balances = answer.Balances
	case answer.Operation == exchange.FuturesAccount:
		account := answer.Account
		snapshot.Account = &account
	}
	return nil
}

func (e *round) takeTickers(p purpose, answer *exchange.Answer) {
	for _, ticker := range answer.Tickers.Items() {
		if ticker.Symbol == p.truth.Key().Name && ticker.Last > 0 {
			p.truth.Last, p.truth.Mark, p.truth.LastMS = ticker.Last, ticker.Last, e.market.pricedMS(p.truth.Key(), ticker.CloseMS)
		}
	}
}

// lookForVanished asks for each live order its list does not show: futures by
// id, spot (which has no get) by the symbol's history.
func (e *round) lookForVanished() {
	for _, p := range e.book.Vanished(&e.reading.snapshot) {
		if p.Order().Market == exchange.Futures {
			e.roundAsk(purpose{kind: callLook, orderID: p.OrderID()}, exchange.Request{Operation: exchange.FuturesOrder, OrderID: p.OrderID()})
		}
	}
	var asked []string
	for _, p := range e.book.Live() {
		if p.Order().Market != exchange.Spot || slices.Contains(asked, p.Order().Symbol) || p.State() == placement.Working && !e.vanished(p) {
			continue
		}
		asked = append(asked, p.Order().Symbol)
		e.reading.asked = true
		e.roundAsk(
			purpose{kind: callHistory},
			exchange.Request{Operation: exchange.SpotOrderHistory, Symbol: p.Order().Symbol, StartMS: max(0, p.SentMS()-60_000), Limit: spotHistory},
		)
	}
	for _, r := range e.runs {
		if r.truth.Key().Market == exchange.Spot && !r.truth.Read && !e.config.Feed {
			e.roundAsk(
				purpose{kind: callNewest},
				exchange.Request{Operation: exchange.SpotOrderHistory, Symbol: r.truth.Key().Name, Limit: spotHistory},
			)
		}
	}
	e.askEvidence()
}

func (e *round) vanished(p *account.Placement) bool {
	return !slices.ContainsFunc(e.reading.snapshot.SpotOrders.Items(), func(o exchange.Order) bool { return o.ID == p.OrderID() })
}

// askEvidence asks for what decides unknowns beyond the lists: positions/history
// on futures (case 9), user trades of an order on spot.
func (e *round) askEvidence() {
	for _, r := range e.runs {
		if p := e.book.AsksClosed(r.truth, e.nowMS); p != nil {
			e.roundAsk(
				purpose{kind: callClosed, truth: r.truth},
				exchange.Request{Operation: exchange.FuturesPositionsHistory, Symbol: r.truth.Key().Name,
					StartMS: p.SentMS() - p.SentMS()%1000, Limit: 100},
			)
		}
	}
	for _, p := range e.book.Live() {
		if p.Order().Market == exchange.Spot && p.OrderID() != 0 && e.vanished(p) {
			e.roundAsk(purpose{kind: callTrades, truth: e.book.Symbol(p.Symbol()), orderID: p.OrderID()},
				exchange.Request{Operation: exchange.SpotUserTrades, Symbol: p.Order().Symbol, OrderID: p.OrderID(), Limit: spotHistory})
		}
	}
}

// takeTrades sums an order's user trades.
func (e *round) takeTrades(p purpose, answer *exchange.Answer) {
	told := reconcile.Traded{OrderID: p.orderID}
	var value exchange.Amount
	rules := p.truth.Rules
	if rules == nil {
		return
	}
	for _, trade := range answer.Fills.Items() {
		if trade.OrderID == p.orderID {
			told.Filled += trade.Quantity
			value = value.Add(rules.Notional(trade.Price, trade.Quantity))
		}
	}
	if told.Filled > 0 {
		told.Price = rules.AverageCost(value, told.Filled)
		e.reading.snapshot.Trades = append(e.reading.snapshot.Trades, told)
	}
}

// askPositions reads positions last, so that a fill between the lists and here
// shows as a difference that the next round explains, never as a wrong sum.
func (e *round) askPositions() {
	if e.trades(exchange.Futures) {
		e.roundAsk(purpose{kind: callRound}, exchange.Request{Operation: exchange.FuturesOpenPositions})
		e.roundAsk(purpose{kind: callRound}, exchange.Request{Operation: exchange.FuturesAccount})
	}
	if e.trades(exchange.Spot) {
		e.roundAsk(purpose{kind: callRound}, exchange.Request{Operation: exchange.SpotWallet})
	}
	if e.config.Feed {
		return
	}
	for _, r := range e.runs {
		if e.nowMS-r.truth.LastMS < 500 && r.truth.LastMS != 0 || !e.wantsPrice(r) {
			continue
		}
		request := exchange.Request{Operation: exchange.FuturesTicker, Symbol: r.truth.Key().Name}
		if r.truth.Key().Market == exchange.Spot {
			request.Operation = exchange.SpotTicker
		}
		e.roundAsk(purpose{kind: callTicker, truth: r.truth}, request)
	}
}

// wantsPrice reports whether a round could act on the symbol's price.
func (e *round) wantsPrice(r *run) bool {
	return r.truth.LastMS == 0 || r.truth.Position != 0 || r.config.Schedule != nil ||
		r.state.Plan().Target.Sign() != 0 || r.state.Plan().OrdersSet
}
