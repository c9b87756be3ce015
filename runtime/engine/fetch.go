package engine

import (
	"cmp"
	"errors"
	"slices"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// noSuchOrder reports whether the answer is that the exchange does not know the order.
func (p *pendingCall) noSuchOrder(err error) bool {
	if err == nil || p.kind != callOrder {
		return false
	}
	var refusal *exchange.Refusal
	return errors.As(err, &refusal) && !ofAccount(refusal) && !refusal.UnknownSymbol()
}

// readFailed handles a failed read. It affects the call's domain and, if credentials or clock were
// refused, the account.
func (r *reader) readFailed(p *pendingCall, err error) {
	if p.kind == callTickers {
		r.listFailed(p)
		r.withoutList(p)
		return
	}
	of := p.domain()
	r.addFailure(of, err)
	if refusal := (*exchange.Refusal)(nil); errors.As(err, &refusal) && ofAccount(refusal) {
		r.addFailure(exchange.SymbolKey{}, err)
	}
	r.unread(p, of)
}

// domain returns the domain of a round's read: a symbol, a market, or the account.
func (p *pendingCall) domain() exchange.SymbolKey {
	switch {
	case p.symbol != nil:
		return p.symbol.Key()
	case p.of == exchange.FuturesAccount:
		return exchange.SymbolKey{}
	}
	return exchange.SymbolKey{Market: p.of.Market()}
}

// ofAccount reports whether a refusal concerns credentials or clock.
func ofAccount(refusal *exchange.Refusal) bool {
	return refusal.Unauthorized() || refusal.Code == exchange.CodeInvalidTimestamp
}

// fetchUnlisted reads by id the futures orders that need a decision while the open list cannot be
// read.
func (r *reader) fetchUnlisted() {
	for p := range r.tracker.Live() {
		moves := p.State() != placement.Working || r.tracker.CancelMS(p.ClientOrderID()) != 0 || p.Order().Type == exchange.MarketOrder
		if p.Order().Market == exchange.Futures && p.OrderID() != 0 && moves {
			r.askForRound(pendingCall{kind: callOrder, symbol: r.tracker.Symbol(p.Symbol()), orderID: p.OrderID()},
				exchange.Request{Operation: exchange.FuturesOrder, OrderID: p.OrderID()})
		}
	}
}

// fetchUnconfirmed reads by id the orders about which no list is proof: the foreign openings that the open list omits, which may not have ended, and the
// ended orders that it shows for longer than an old list does, which may rest.
func (r *reader) fetchUnconfirmed() {
	for symbol := range r.tracker.Symbols() {
		for _, id := range append(r.tracker.OmittedForeign(symbol, &r.roundReads.snapshot), r.tracker.MayRest(symbol)...) {
			r.askForRound(pendingCall{kind: callOrder, symbol: symbol, orderID: id}, exchange.Request{Operation: exchange.FuturesOrder, OrderID: id})
		}
	}
}

// fetchSpotHistory requests the order history of spot symbols: where it can settle a live order, even if
// the open list could not be read, where the tracker needs it, and where a refused order may have been
// executed.
func (r *reader) fetchSpotHistory() {
	if !r.tracker.Knows(exchange.Spot) {
		return
	}
	var requested []string
	for p := range r.tracker.Live() {
		if p.Symbol().Market != exchange.Spot {
			continue
		}
		resting := p.State() == placement.Working && !r.omits(p) && r.tracker.CancelMS(p.ClientOrderID()) == 0
		if slices.Contains(requested, p.Order().Symbol) || resting {
			continue
		}
		requested = append(requested, p.Order().Symbol)
		r.roundReads.requested = true
		r.askForRound(
			pendingCall{kind: callHistory, symbol: r.tracker.Symbol(p.Symbol())},
			orderHistory(p.Order().Symbol, r.historyFrom(r.tracker.Symbol(p.Symbol()).HistoryFrom(p.SentMS())-reconcile.HistorySlackMS)),
		)
	}
	for _, leg := range r.legs {
		if since, ask := r.tracker.NeedsOrderHistory(leg.symbol); ask && !slices.Contains(requested, leg.symbol.Key().Name) {
			r.roundReads.requested = true
			r.askForRound(
				pendingCall{kind: callHistory, symbol: leg.symbol},
				orderHistory(leg.symbol.Key().Name, r.historyFrom(since)),
			)
		}
	}
	for _, refused := range r.tracker.Refused() {
		if refused.Symbol.Market != exchange.Spot || slices.Contains(requested, refused.Symbol.Name) || r.config.Feed {
			continue
		}
		requested = append(requested, refused.Symbol.Name)
		r.roundReads.requested = true
		r.askForRound(pendingCall{kind: callHistory, symbol: r.tracker.Symbol(refused.Symbol)},
			orderHistory(refused.Symbol.Name, r.historyFrom(refused.SentMS-reconcile.HistorySlackMS)))
	}
}

// For ten minutes after a start with a new journal, the order histories include the hour before it: the first one, which shows what a lost journal would
// contain, may omit orders.
const (
	newJournalMS    = 600_000
	beforeJournalMS = 3_600_000
)

// historyFrom returns the time from which an order history is read: a given one, or an earlier one if the journal is new.
func (r *reader) historyFrom(sinceMS int64) int64 {
	if r.tracker.BornEmpty() && r.nowMS-r.startMS < newJournalMS {
		return min(sinceMS, r.startMS-beforeJournalMS)
	}
	return sinceMS
}

// fetchNewest requests the newest orders of spot symbols while botd stands down, and before the first read of a symbol:
// all other reads of orders concern only botd's own.
func (r *reader) fetchNewest() {
	standsDown := r.tracker.StandsDown()
	for _, leg := range r.legs {
		if leg.symbol.Key().Market == exchange.Spot && (standsDown || !leg.symbol.Read()) && !r.config.Feed {
			r.askForRound(pendingCall{kind: callNewest, symbol: leg.symbol},
				orderHistory(leg.symbol.Key().Name, 0))
		}
	}
}

// orderHistory requests a page of a spot symbol's orders since a time, or the newest page for 0.
func orderHistory(symbol string, sinceMS int64) exchange.Request {
	return exchange.Request{Operation: exchange.SpotOrderHistory, Symbol: symbol, StartMS: max(0, sinceMS), Limit: exchange.HistoryPage}
}

// askEvidence requests further evidence about uncertain orders: positions/history on futures (case
// 9), user trades of an order on spot.
func (r *reader) askEvidence() {
	r.askEnds()
	if r.tracker.Knows(exchange.Spot) {
		r.askTrades()
	}
}

// maxTradesRead is the maximum number of orders whose user trades one round reads: an empty list omits all of them.
const maxTradesRead = 4

// askTrades reads the user trades of spot orders that the list omits, some of them in each round, in turn.
func (r *reader) askTrades() {
	var omitted []*account.Placement
	for p := range r.tracker.Live() {
		if p.Symbol().Market == exchange.Spot && p.OrderID() != 0 && r.omits(p) {
			omitted = append(omitted, p)
		}
	}
	slices.SortFunc(omitted, func(a, b *account.Placement) int { return cmp.Compare(a.OrderID(), b.OrderID()) })
	next := max(0, slices.IndexFunc(omitted, func(p *account.Placement) bool { return p.OrderID() > r.tradesReadOf }))
	for i := range min(len(omitted), maxTradesRead) {
		p := omitted[(next+i)%len(omitted)]
		r.tradesReadOf = p.OrderID()
		r.askForRound(pendingCall{kind: callTrades, symbol: r.tracker.Symbol(p.Symbol()), orderID: p.OrderID()},
			exchange.Request{Operation: exchange.SpotUserTrades, Symbol: p.Order().Symbol, OrderID: p.OrderID(), Limit: exchange.HistoryPage})
	}
}

// askEnds reads positions/history, for the ends of positions that the list does not fully show and for
// possible results of uncertain openings, with one request that begins at the earlier time.
func (r *reader) askEnds() {
	for _, leg := range r.legs {
		since, ask := r.tracker.NeedsPositionHistory(leg.symbol)
		if p := r.tracker.OpeningNeedingHistory(leg.symbol, r.nowMS); p != nil {
			sentMS := exchange.WholeSecond(p.SentMS())
			if !ask || sentMS < since {
				since = sentMS
			}
			ask = true
		}
		if ask {
			r.askForRound(
				pendingCall{kind: callClosed, symbol: leg.symbol},
				exchange.Request{Operation: exchange.FuturesPositionsHistory, Symbol: leg.symbol.Key().Name, StartMS: since, Limit: 100},
			)
		}
	}
}

// sumTrades sums an order's user trades.
func (r *reader) sumTrades(p *pendingCall, answer *exchange.Answer) {
	traded := reconcile.Traded{OrderID: p.orderID}
	var value exchange.Amount
	rules := p.symbol.Rules()
	if rules == nil {
		return
	}
	for _, trade := range answer.Fills.Items() {
		if trade.OrderID == p.orderID {
			traded.Filled += trade.Quantity
			value = value.Add(rules.Notional(trade.Price, trade.Quantity))
			if trade.FeeAsset == rules.Base {
				traded.Fee = traded.Fee.Add(trade.Fee)
			}
		}
	}
	if traded.Filled > 0 {
		traded.Price = rules.AverageCost(value, traded.Filled)
		r.roundReads.snapshot.Trades = append(r.roundReads.snapshot.Trades, traded)
	}
}

// needsPrice reports whether a round could use the symbol's price.
func needsPrice(leg *leg) bool {
	return leg.symbol.LastMS() == 0 || leg.symbol.Position() != 0 || leg.config.Schedule != nil ||
		leg.state.Plan().Target().Sign() != 0 || leg.state.Plan().OrdersSet()
}
