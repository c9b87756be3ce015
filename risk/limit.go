package risk

import (
	"fmt"

	"botd/exchange"
	"botd/reconcile"
)

// The rules of this file are botd's and the user's.

func (g *Gate) halted(intent *reconcile.Intent, facts *Facts) *Refusal {
	if halt := facts.Book.HaltOn(intent.Strategy, facts.Truth.Key); halt.Level != reconcile.LevelNone {
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
	if o := facts.Book.HoldsBack(truth); o != nil {
		return refuse(fmt.Sprintf("order %d, which botd did not make", o.ID), "none that opens (foreign: halt)", "cancel it, or set foreign: ignore or adopt")
	}
	return nil
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
	after := own(facts.Truth, facts.Book, order.Side) + order.Quantity
	if !order.QuoteAmount.IsZero() {
		after += rules.QuantityFor(order.QuoteAmount, facts.Truth.Last)
	}
	if after > limit {
		return refuse(rules.QuantityDecimal(after), rules.QuantityDecimal(limit), "the position with everything in flight; raise risk.max_position or ask for less")
	}
	return nil
}

// exposure is a symbol's value with everything in flight filled, on the side
// that is larger. It is not known while a size has no price.
func exposure(truth *reconcile.SymbolTruth, book *reconcile.Book) (value exchange.Amount, known bool) {
	size := max(worst(truth, book, exchange.Buy), worst(truth, book, exchange.Sell))
	if size == 0 {
		return value, true
	}
	if truth.Rules == nil || truth.Last <= 0 {
		return value, false
	}
	return truth.Rules.Notional(truth.Last, size), true
}

// symbolExposure: one symbol's value, as a multiple of its market's equity. A
// strategy has one symbol, so its gross exposure is that too.
func (g *Gate) symbolExposure(intent *reconcile.Intent, facts *Facts) *Refusal {
	limit := tighter(tighter(g.limits.MaxSymbolExposure, facts.Strategy.MaxSymbolExposure), facts.Strategy.MaxGrossExposure)
	if limit == 0 {
		return nil
	}
	now, _ := exposure(facts.Truth, facts.Book) // it has a price: rule price
	rule := MaxSymbolExposure
	if limit == facts.Strategy.MaxGrossExposure {
		rule = MaxGrossExposure
	}
	return named(rule, exposed(now.Add(value(&intent.Order, facts.Truth)), limit, facts))
}

// grossExposure: the values of all symbols of the market together.
func (g *Gate) grossExposure(intent *reconcile.Intent, facts *Facts) *Refusal {
	if g.limits.MaxGrossExposure == 0 {
		return nil
	}
	gross := value(&intent.Order, facts.Truth)
	for _, truth := range facts.Book.Symbols() {
		if truth.Key.Market != facts.Truth.Key.Market {
			continue
		}
		one, known := exposure(truth, facts.Book)
		if !known {
			hint := "its price is read with the next round"
			if truth.Rules == nil {
				hint = "no strategy trades it, so nothing is read of it: end what is open there"
			}
			return refuse("unknown: "+truth.Key.String()+" has no price", g.limits.MaxGrossExposure.String()+" x equity", hint)
		}
		gross = gross.Add(one)
	}
	return exposed(gross, g.limits.MaxGrossExposure, facts)
}

func exposed(value exchange.Amount, limit exchange.Rate, facts *Facts) *Refusal {
	most := facts.Market.MulRate(limit)
	if most.Less(value) {
		return refuse(value.Decimal().Round(2).String()+" USDT", most.Decimal().Round(2).String()+" USDT, "+limit.String()+" x equity",
			"the value with everything in flight; raise the limit or ask for less")
	}
	return nil
}

func (g *Gate) dailyLoss(intent *reconcile.Intent, facts *Facts) *Refusal {
	account, mine := facts.Book.Watch(""), facts.Book.Watch(intent.Strategy)
	if refusal := lost(facts.NowMS, account, MaxDailyLoss, account.Day.Equity, facts.Equity, g.limits.MaxDailyLoss); refusal != nil {
		return refusal
	}
	return lost(facts.NowMS, mine, MaxDailyLoss, mine.Day.Equity, facts.Own, facts.Strategy.MaxDailyLoss)
}

func (g *Gate) drawdown(intent *reconcile.Intent, facts *Facts) *Refusal {
	account, mine := facts.Book.Watch(""), facts.Book.Watch(intent.Strategy)
	if refusal := lost(facts.NowMS, account, MaxDrawdown, account.Day.Peak, facts.Equity, g.limits.MaxDrawdown); refusal != nil {
		return refusal
	}
	return lost(facts.NowMS, mine, MaxDrawdown, mine.Day.Peak, facts.Own, facts.Strategy.MaxDrawdown)
}

// lost: a breach in force keeps entries back until it ends, whatever equity has
// done since.
func lost(nowMS int64, watch *reconcile.Watch, rule string, from, equity exchange.Amount, limit Loss) *Refusal {
	if breach := watch.Breach(rule); breach != nil && !breach.Over(nowMS) {
		return refuse(breach.Why, limitText(limit, from), wayOut(rule))
	}
	switch {
	case limit.IsZero():
		return nil
	case watch.Day.StartMS == 0:
		return refuse("unknown", limitText(limit, from), "equity was not read yet")
	}
	if loss := from.Sub(equity); limit.From(from).Less(loss) {
		return refuse("-"+loss.Decimal().Round(2).String()+" USDT", limitText(limit, from), wayOut(rule))
	}
	return nil
}

func limitText(limit Loss, from exchange.Amount) string {
	if limit.Share != 0 {
		return fmt.Sprintf("%s %% of %s USDT", limit.Share.Decimal().Shift(2), from.Decimal().Round(2))
	}
	return limit.USDT.String() + " USDT"
}

func wayOut(rule string) string {
	if rule == MaxDailyLoss {
		return "no entries until the next UTC day; exits and stops go on"
	}
	return "no entries until botd rearm; exits and stops go on"
}

// losingStreak: after so many losing positions in a row, entries wait.
func (g *Gate) losingStreak(intent *reconcile.Intent, facts *Facts) *Refusal {
	for _, name := range [...]string{"", intent.Strategy} {
		if breach := facts.Book.Watch(name).Breach(MaxLosingStreak); breach != nil && !breach.Over(facts.NowMS) {
			return refuse(breach.Why, "the cool-down's end", fmt.Sprintf("entries go on in %d s", (breach.UntilMS-facts.NowMS+999)/1000))
		}
	}
	return nil
}

func (g *Gate) openOrders(intent *reconcile.Intent, facts *Facts) *Refusal {
	all, mine := open(facts.Book, intent.Strategy)
	if limit := g.limits.MaxOpenOrders; limit != 0 && all >= limit {
		return refuse(all+1, limit, "cancel orders or raise risk.max_open_orders")
	}
	if limit := facts.Strategy.MaxOpenOrders; limit != 0 && mine >= limit {
		return refuse(mine+1, limit, "cancel orders or raise the strategy's risk.max_open_orders")
	}
	return nil
}

// open counts the orders in the book, in flight and uncertain: all, and a
// strategy's own.
func open(book *reconcile.Book, strategy string) (all, mine int) {
	for _, p := range book.Live() {
		all++
		if p.Strategy == strategy {
			mine++
		}
	}
	return all, mine
}

func (g *Gate) ordersPerMinute(intent *reconcile.Intent, facts *Facts) *Refusal {
	account, strategy := g.limits.MaxOrdersPerMinute, facts.Strategy.MaxOrdersPerMinute
	if account == 0 && strategy == 0 {
		return nil
	}
	all, mine := facts.Book.SentWithin(facts.NowMS, intent.Strategy)
	if account != 0 && all >= account {
		return refuse(all+1, account, "the next minute is free again")
	}
	if strategy != 0 && mine >= strategy {
		return refuse(mine+1, strategy, "the next minute is free again")
	}
	return nil
}
