package sim_test

import (
	"slices"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/sim"
)

// checkMargins compares positions, margins and sums with the stakes: position margin is entry notional /
// leverage, order margin price x qt / leverage, maintenance by bracket, available = wallet + unrealized -
// both (docs/exchange.md, margin).
func (l *ledger) checkMargins(name string, p *page) {
	var unrealized, margin, maintenance decimal.Decimal
	open := map[string]exchange.Position{}
	for _, position := range l.positions(name) {
		open[position.Symbol] = position
	}
	for _, symbol := range sim.DefaultSymbols() {
		held := p.held[symbol.Name]
		if symbol.Market != exchange.Futures || held.quantity.IsZero() && open[symbol.Name].ID == 0 {
			continue
		}
		position, mark := open[symbol.Name], l.markOf(symbol.Name)
		l.want(name, symbol.Name+" position", held.quantity, symbol.QuantityDecimal(position.Signed()))
		entry, _ := held.cost.QuoRem(held.quantity.Abs(), 18)
		l.want(name, symbol.Name+" entryPrice", entry, position.EntryPrice.Decimal())
		l.want(name, symbol.Name+" lastUpdatePrice", held.last, position.LastUpdatePrice.Decimal())
		profit := held.quantity.Mul(mark).Sub(held.cost.Mul(decimal.NewFromInt(int64(held.quantity.Sign()))))
		l.want(name, symbol.Name+" unrealizedPNL", profit, position.UnrealizedPNL.Decimal())
		share, _ := held.cost.QuoRem(decimal.NewFromInt(int64(position.Leverage)), 18)
		unrealized, margin = unrealized.Add(profit), margin.Add(share)
		maintenance = maintenance.Add(maintenanceOf(symbol, held.quantity.Abs().Mul(mark)))
		l.checkLiqPrice(name, &position, mark)
	}
	reported := l.account(name)
	l.want(name, "totalUnrealizedPnl", unrealized, reported.UnrealizedPNL.Decimal())
	l.want(name, "positionMarginUsd", margin, reported.PositionMargin.Decimal())
	l.want(name, "totalMaintMargin", maintenance, reported.MaintenanceMargin.Decimal())
	if held, known := l.marginBy(name); known {
		l.want(name, "orderMarginUsd", held, reported.OrderMargin.Decimal())
	}
	equity, used := reported.WalletBalance.Add(reported.UnrealizedPNL), reported.OrderMargin.Add(reported.PositionMargin)
	if reported.OrderMargin.Sign() < 0 || reported.MarginUsed != used || reported.AvailableBalance != equity.Sub(used) {
		l.r.Fatalf("%s: margins do not add up: %+v", name, reported)
	}
	if len(open) > 0 && equity.Cmp(reported.MaintenanceMargin) <= 0 {
		l.r.Fatalf("%s: equity %s is not above maintenance %s, and was not liquidated", name, equity, reported.MaintenanceMargin)
	}
}

// maintenanceOf is notional x marginRatio - marginAmount of the bracket the
// notional falls in.
func maintenanceOf(symbol *exchange.Symbol, notional decimal.Decimal) decimal.Decimal {
	at := slices.IndexFunc(symbol.Brackets, func(b exchange.Bracket) bool { return notional.LessThanOrEqual(b.Max.Decimal()) })
	if at < 0 {
		at = len(symbol.Brackets) - 1
	}
	bracket := symbol.Brackets[at]
	return notional.Mul(bracket.MarginRatio.Decimal()).Sub(bracket.MarginAmount.Decimal())
}

// checkLiqPrice expects an open position's mark on the safe side of its liqPrice.
func (l *ledger) checkLiqPrice(name string, position *exchange.Position, mark decimal.Decimal) {
	limit := position.LiqPrice.Decimal()
	if limit.IsZero() {
		return
	}
	if position.Side == exchange.Long && mark.LessThan(limit) || position.Side == exchange.Short && mark.GreaterThan(limit) {
		l.r.Fatalf("%s: a %s of %s lives at mark %s beyond its liqPrice %s", name, position.Side, position.Symbol, mark, limit)
	}
}

// basisOf returns the price at which an open order counts; a MARKET order in flight has no fixed one.
func basisOf(symbol *exchange.Symbol, o *exchange.Order) (decimal.Decimal, bool) {
	switch {
	case o.Type.Priced():
		return symbol.PriceDecimal(o.Price), true
	case o.Type.Conditional():
		return symbol.PriceDecimal(o.StopPrice), true
	}
	return decimal.Zero, false
}

// marginBy sums up what the open orders of an account reserve on futures. known is false if the orders alone
// do not determine it.
func (l *ledger) marginBy(name string) (sum decimal.Decimal, known bool) {
	known = !l.nets
	l.x.EachOpenOrder(name, exchange.Futures, func(o *exchange.Order) {
		if o.ClosePositionID != 0 {
			return
		}
		symbol := l.x.Symbol(o.Key())
		basis, stands := basisOf(symbol, o)
		leverage := decimal.NewFromInt(int64(l.x.Leverage(name, o.Symbol)))
		margin, _ := basis.Mul(symbol.QuantityDecimal(o.Quantity-o.Filled)).QuoRem(leverage, 18)
		sum, known = sum.Add(margin), known && stands
	})
	return sum, known
}

// frozenBy sums up what the open orders of an account freeze on spot.
func (l *ledger) frozenBy(name string) (sums map[string]decimal.Decimal, known bool) {
	sums, known = map[string]decimal.Decimal{}, name != "carol" // whose orders also freeze their fee
	l.x.EachOpenOrder(name, exchange.Spot, func(o *exchange.Order) {
		symbol := l.x.Symbol(o.Key())
		basis, stands := basisOf(symbol, o)
		asset, amount := symbol.Base, symbol.QuantityDecimal(o.Quantity-o.Filled)
		if o.Side == exchange.Buy {
			asset, amount = symbol.Quote, amount.Mul(basis)
		}
		sums[asset], known = sums[asset].Add(amount), known && stands
	})
	return sums, known
}
