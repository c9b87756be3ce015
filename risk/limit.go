package risk

import (
	"fmt"

	"botd/exchange"
	"botd/reconcile"
)

// The rules of this file are botd's and the user's.

func (g *Gate) halted(intent *reconcile.Intent, facts *Facts) *Refusal {
	if halt := facts.Book.HaltOn(intent.Strategy, facts.Truth.Key); halt.Level != "" {
		return refuse(halt.Scope.String()+" halted: "+halt.Why, "armed", "botd rearm ends it")
	}
	if facts.Book.Breaking(facts.NowMS) {
		return refuse("breaker: "+facts.Book.Breaker().Why, "no breaker", "it ends by itself; exits and stops go on")
	}
	if facts.Blind {
		return refuse("blind", "fetched orders and positions", "reads have failed for too long; openings wait for the exchange")
	}
	return nil
}

func (g *Gate) unsettled(intent *reconcile.Intent, facts *Facts) *Refusal {
	truth := facts.Truth
	switch {
	case truth.Quarantine != "":
		return refuse("quarantine: "+truth.Quarantine, "a settled symbol", "botd resolve "+truth.Key.Name+" ends it")
	case !truth.Read:
		return refuse("not fetched", "a settled symbol", "nothing opens before the first snapshot")
	}
	for _, p := range facts.Book.Live() {
		if p.Order.Key() == truth.Key && p.State.Unresolved() {
			return refuse("placement "+p.ClientOrderID+" "+p.State.String(), "a settled symbol", "its outcome is fetched, never guessed")
		}
	}
	if len(truth.Foreign) > 0 && intent.Purpose == reconcile.Entry && facts.Truth.Key.Market == exchange.Futures && foreignOpens(truth) {
		return refuse(fmt.Sprintf("%d orders botd did not make", len(truth.Foreign)), "none", "cancel them, or set foreign: ignore")
	}
	return nil
}

func foreignOpens(truth *reconcile.SymbolTruth) bool {
	for i := range truth.Foreign {
		if !truth.Foreign[i].Reduces() {
			return true
		}
	}
	return false
}

func (g *Gate) dataAge(_ *reconcile.Intent, facts *Facts) *Refusal {
	limit := tighter(g.limits.MaxDataAgeMS, facts.Strategy.MaxDataAgeMS)
	if age := facts.NowMS - facts.Truth.LastMS; limit != 0 && age > limit {
		return refuse(fmt.Sprintf("%d s", age/1000), fmt.Sprintf("%d s", limit/1000), "the last price is too old to open on")
	}
	return nil
}

// collar: a limit price may not be further through the last price than allowed.
func (g *Gate) collar(intent *reconcile.Intent, facts *Facts) *Refusal {
	limit := tighter(g.limits.PriceCollar, facts.Strategy.PriceCollar)
	if limit == 0 || intent.Order.Type != exchange.Limit || !intent.Purpose.Opens() {
		return nil
	}
	rules, last := facts.Truth.Rules, facts.Truth.Last
	through := int64(intent.Order.Price-last) * intent.Order.Side.Sign()
	if through > 0 && rules.PriceAmount(last).MulRate(limit).Less(rules.PriceAmount(exchange.Price(through))) {
		return refuse(rules.PriceDecimal(intent.Order.Price), fmt.Sprintf("%s %% through %s", limit.Decimal().Shift(2), rules.PriceDecimal(last)), "a price this far through the market is most likely a mistake")
	}
	return nil
}

func (g *Gate) maxPosition(intent *reconcile.Intent, facts *Facts) *Refusal {
	limit := tighter(g.limits.MaxPosition, facts.Strategy.MaxPosition)
	if limit == 0 {
		return nil
	}
	rules, order := facts.Truth.Rules, &intent.Order
	after := worst(facts.Truth, facts.Book, order.Side) + order.Quantity
	if !order.QuoteAmount.IsZero() {
		after += rules.QuantityFor(order.QuoteAmount, facts.Truth.Last)
	}
	if after > limit {
		return refuse(rules.QuantityDecimal(after), rules.QuantityDecimal(limit), "raise risk.max_position or ask for less")
	}
	return nil
}

func (g *Gate) grossExposure(intent *reconcile.Intent, facts *Facts) *Refusal {
	limit := tighter(g.limits.MaxGrossExposure, facts.Strategy.MaxGrossExposure)
	if limit == 0 || facts.Truth.Key.Market == exchange.Spot {
		return nil
	}
	gross := value(&intent.Order, facts.Truth)
	for _, truth := range facts.Book.Symbols() {
		if truth.Key.Market == exchange.Futures && truth.Rules != nil {
			size := max(worst(truth, facts.Book, exchange.Buy), worst(truth, facts.Book, exchange.Sell))
			gross = gross.Add(truth.Rules.Notional(truth.Last, size))
		}
	}
	most := facts.Book.Equity().MulRate(limit)
	if most.Less(gross) {
		return refuse(gross.String()+" USDT", most.String()+" USDT", "gross exposure with everything in flight; raise risk.max_gross_exposure or ask for less")
	}
	return nil
}

func (g *Gate) dailyLoss(_ *reconcile.Intent, facts *Facts) *Refusal {
	limit, day := tighter(g.limits.MaxDailyLoss, facts.Strategy.MaxDailyLoss), facts.Book.Today()
	return fallen(facts.Book.Equity(), day.Equity, limit, "no entries until the next UTC day")
}

func (g *Gate) drawdown(_ *reconcile.Intent, facts *Facts) *Refusal {
	limit, day := tighter(g.limits.MaxDrawdown, facts.Strategy.MaxDrawdown), facts.Book.Today()
	return fallen(facts.Book.Equity(), day.Peak, limit, "raise risk.max_drawdown to go on")
}

func fallen(equity, from exchange.Amount, limit exchange.Rate, hint string) *Refusal {
	if limit == 0 || from.Sign() <= 0 {
		return nil
	}
	if loss := from.Sub(equity); from.MulRate(limit).Less(loss) {
		return refuse(fmt.Sprintf("-%s USDT", loss.Decimal().Round(2)), fmt.Sprintf("%s %% of %s USDT", limit.Decimal().Shift(2), from.Decimal().Round(2)), hint)
	}
	return nil
}

func (g *Gate) openOrders(intent *reconcile.Intent, facts *Facts) *Refusal {
	all, own := 1, 1
	for _, p := range facts.Book.Live() {
		all++
		if p.Strategy == intent.Strategy {
			own++
		}
	}
	if limit := g.limits.MaxOpenOrders; limit != 0 && all > limit {
		return refuse(all, limit, "cancel orders or raise risk.max_open_orders")
	}
	if limit := facts.Strategy.MaxOpenOrders; limit != 0 && own > limit {
		return refuse(own, limit, "cancel orders or raise the strategy's risk.max_open_orders")
	}
	return nil
}

func (g *Gate) ordersPerMinute(intent *reconcile.Intent, facts *Facts) *Refusal {
	all, own := 1, 1
	for i, at := range g.minutes {
		if facts.NowMS-at < 60_000 {
			all++
			if g.owners[i] == intent.Strategy {
				own++
			}
		}
	}
	if limit := g.limits.MaxOrdersPerMinute; limit != 0 && all > limit {
		return refuse(all, limit, "the next minute is free again")
	}
	if limit := facts.Strategy.MaxOrdersPerMinute; limit != 0 && own > limit {
		return refuse(own, limit, "the next minute is free again")
	}
	return nil
}
