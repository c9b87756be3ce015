package engine

import (
	"botd/exchange"
	"botd/reconcile"
	"botd/risk"
	"botd/strategy"
	"slices"
)

// watched is a strategy's additional data besides its own symbol's candles.
type watched struct {
	subscription       strategy.Watching
	pair               *reconcile.SymbolState
	fundingMS          int64 // when to read the rate next; never if not watched
	fundingRequested   bool
	orderBookMS        int64 // when to read the order book next; never if not watched
	orderBookRequested bool
	next               exchange.Rate // last reported rate of the next payment; a backtest shows it only once it has been paid
	rateKnown          bool
}

// refreshView updates the view and empties the plan.
func (t *tick) refreshView(leg *leg, nominalMS int64) {
	leg.view.NowMS, leg.view.Last, leg.view.Symbol = nominalMS, leg.symbol.Last(), leg.symbol.Rules()
	if leg.viewSource.version != t.tracker.Version() {
		t.fillView(leg)
	} else {
		leg.view.Equity = t.equity(leg.symbol.Key().Market)
	}
	if leg.watched.pair != nil {
		leg.showPair()
	}
	if leg.watched.subscription.Funds {
		leg.view.BuyingPower = t.gate.BuyingPower(leg.view.Leverage, &risk.Facts{Tracker: t.tracker, State: leg.symbol,
			Strategy: leg.config.Limits, TakerFee: t.config.TakerFee})
	}
	leg.plan.Reset()
	leg.steady.decided = 0
}

// fillView copies the visible part of the tracker.
func (t *tick) fillView(leg *leg) {
	leg.viewSource.version = t.tracker.Version()
	leg.view.Version = leg.viewSource.version + 1
	leg.view.Position = strategy.Position{}
	if quantity := leg.symbol.DecisionPosition(); quantity != 0 {
		leg.view.Position = strategy.Position{Quantity: quantity, EntryPrice: leg.symbol.MeanEntryPrice(), SinceMS: leg.symbol.SinceMS()}
	}
	leg.view.Equity = t.equity(leg.symbol.Key().Market)
	leg.view.Memory = leg.state.Memory()
	leg.viewSource.working = leg.viewSource.working[:0]
	ahead := leg.symbol.Ahead()
	for p := range t.tracker.Live() {
		if p.Strategy() == leg.config.Name {
			part := reconcile.Explained(p, ahead) // the position already includes this part: it is not in flight as well
			ahead -= part
			order := p.Order()
			leg.viewSource.working = append(leg.viewSource.working, strategy.WorkingOrder{Key: p.Key(), Side: order.Side, Type: order.Type, Price: order.Price,
				StopPrice: order.StopPrice, Quantity: quantityOf(leg.symbol, &order), Filled: p.Filled() + part.Abs()})
		}
	}
	leg.view.Working = leg.viewSource.working
	leg.viewSource.fills = leg.viewSource.fills[:0]
	for key, filled := range leg.state.Fills() {
		leg.viewSource.fills = append(leg.viewSource.fills, strategy.KeyFill{Key: key, Quantity: filled})
	}
	leg.view.Fills = leg.viewSource.fills
	stored, missed, all := leg.state.Events()
	leg.view.Events, leg.view.Missed, leg.viewSource.events = slices.AppendSeq(leg.view.Events[:0], stored), missed, all
}

// quantityOf returns an order's quantity; for an order by amount, the quantity that it buys at the
// last price.
func quantityOf(symbol *reconcile.SymbolState, order *exchange.NewOrder) exchange.Quantity {
	if order.QuoteAmount.IsZero() || symbol.Rules() == nil || symbol.Last() <= 0 {
		return order.Quantity
	}
	return symbol.Rules().QuantityFor(order.QuoteAmount, symbol.Last())
}

// showPair fills in the pair.
func (leg *leg) showPair() {
	symbol := leg.watched.pair
	if symbol == nil {
		return
	}
	leg.view.Pair = strategy.Pair{
		Symbol: symbol.Rules(), Position: symbol.Position(), Last: symbol.Last(),
		Known: symbol.Rules() != nil && symbol.Last() > 0 && symbol.Settled(),
	}
}
