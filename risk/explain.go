package risk

import (
	"fmt"

	"botd/exchange"
	"botd/reconcile"
)

// Verdict is what one rule says of an intent, with its figures where it has any.
type Verdict struct {
	Rule    string
	Outcome Outcome
	Value   string
	Limit   string
	Hint    string // of a refusal
}

// Outcome is what a rule came to.
type Outcome uint8

// The outcomes of a rule.
const (
	Passed     Outcome = iota + 1
	Rejected           // the first rule that has something against the intent
	NotReached         // a rule before it refused
)

// String returns the outcome's word.
func (o Outcome) String() string {
	return [...]string{"", "passed", "refused", "not_reached"}[o]
}

// Explain says what every rule says of an intent, in the order in which Check
// asks them: for people, so it takes its time. Check decides.
func (g *Gate) Explain(intent *reconcile.Intent, facts *Facts) []Verdict {
	var applied []rule
	switch {
	case intent.Purpose == reconcile.Cancel:
		applied = []rule{{"symbol", func(*Gate, *reconcile.Intent, *Facts) *Refusal { return cancelable(facts) }}}
	case intent.Purpose == reconcile.Leverage:
		applied = []rule{{"leverage", (*Gate).setLeverage}}
	case intent.Purpose.Opens():
		applied = append(append(applied, always...), opens...)
	default:
		applied = always
	}
	all, refused := make([]Verdict, 0, len(applied)), false
	for _, r := range applied {
		if refused {
			all = append(all, Verdict{Rule: r.name, Outcome: NotReached})
			continue
		}
		if refusal := r.check(g, intent, facts); refusal != nil {
			refused = true
			refusal = refusal.of(r.name)
			all = append(all, Verdict{refusal.Rule, Rejected, refusal.Value, refusal.Limit, refusal.Hint})
			continue
		}
		v := Verdict{Rule: r.name, Outcome: Passed}
		v.Value, v.Limit = g.figures(r.name, intent, facts)
		all = append(all, v)
	}
	return all
}

// figures are the numbers a rule compared when it let an intent pass; empty where
// it compares none, or no limit is set.
func (g *Gate) figures(name string, intent *reconcile.Intent, facts *Facts) (have, limit string) {
	if intent.Purpose == reconcile.Cancel {
		return "", ""
	}
	if intent.Purpose == reconcile.Leverage {
		return fmt.Sprint(intent.Leverage), atMost(tighter(g.limits.MaxLeverage, facts.Strategy.MaxLeverage), "")
	}
	if have, limit = g.orderFigures(name, intent, facts); have == "" {
		have, limit = g.limitFigures(name, intent, facts)
	}
	return have, limit
}

// orderFigures are those of the rules the exchange has.
func (g *Gate) orderFigures(name string, intent *reconcile.Intent, facts *Facts) (have, limit string) {
	order, truth := &intent.Order, facts.Truth
	rules := truth.Rules
	switch name {
	case "price":
		return rules.PriceDecimal(basis(order, truth)).String(), "above 0"
	case "price_tick":
		return rules.PriceDecimal(max(order.Price, order.StopPrice)).String(), "a multiple of " + rules.PriceDecimal(rules.PriceTick).String()
	case "quantity_tick":
		if order.Quantity == 0 {
			return "", ""
		}
		return rules.QuantityDecimal(order.Quantity).String(), "a multiple of " + rules.QuantityDecimal(rules.QuantityTick).String()
	case "notional":
		if order.ClosePosition {
			return "", ""
		}
		return value(order, truth).String() + " USDT", rules.MinNotional.String() + " to " + rules.MaxNotional.String() + " USDT"
	case "stop_price":
		if order.StopPrice == 0 {
			return "", ""
		}
		return rules.PriceDecimal(order.StopPrice).String(), "another than " + rules.PriceDecimal(working(order, truth)).String()
	case "leverage":
		if truth.Key.Market == exchange.Futures {
			return fmt.Sprint(truth.Leverage), atMost(tighter(g.limits.MaxLeverage, facts.Strategy.MaxLeverage), "")
		}
	case "margin":
		if truth.Key.Market == exchange.Futures {
			return value(order, truth).Div(int64(max(truth.Leverage, 1))).String() + " USDT", g.free(facts).String() + " USDT available"
		}
	}
	return "", ""
}

// limitFigures are those of the user's limits.
func (g *Gate) limitFigures(name string, intent *reconcile.Intent, facts *Facts) (have, limit string) {
	truth, own := facts.Truth, &facts.Strategy
	exposed := func(rate exchange.Rate, value exchange.Amount) (string, string) {
		if rate == 0 {
			return "", ""
		}
		return value.Decimal().Round(2).String() + " USDT", "at most " + facts.Market.MulRate(rate).Decimal().Round(2).String() + " USDT"
	}
	switch name {
	case PriceCollar:
		if collar := tighter(g.limits.PriceCollar, own.PriceCollar); collar != 0 && intent.Order.Type == exchange.Limit {
			return truth.Rules.PriceDecimal(intent.Order.Price).String(), collar.Decimal().Shift(2).String() + " % through " + truth.Rules.PriceDecimal(truth.Last).String()
		}
	case MaxDataAge:
		if most := tighter(g.limits.MaxDataAgeMS, own.MaxDataAgeMS); most != 0 {
			return fmt.Sprintf("%d s", (facts.NowMS-truth.LastMS)/1000), fmt.Sprintf("at most %d s", most/1000)
		}
	case MaxPosition:
		if most := tighter(g.limits.MaxPosition, own.MaxPosition); most != 0 {
			return truth.Rules.QuantityDecimal(worst(truth, facts.Book, intent.Order.Side) + intent.Order.Quantity).String(), "at most " + truth.Rules.QuantityDecimal(most).String()
		}
	case MaxSymbolExposure:
		now, _ := exposure(truth, facts.Book)
		return exposed(tighter(tighter(g.limits.MaxSymbolExposure, own.MaxSymbolExposure), own.MaxGrossExposure), now.Add(value(&intent.Order, truth)))
	case MaxGrossExposure:
		gross := value(&intent.Order, truth)
		for _, other := range facts.Book.Symbols() {
			if other.Key.Market == truth.Key.Market {
				one, _ := exposure(other, facts.Book)
				gross = gross.Add(one)
			}
		}
		return exposed(g.limits.MaxGrossExposure, gross)
	case MaxDailyLoss:
		return lossFigures(facts.Book.Watch("").Day.Equity, facts.Equity, g.limits.MaxDailyLoss)
	case MaxDrawdown:
		return lossFigures(facts.Book.Watch("").Day.Peak, facts.Equity, g.limits.MaxDrawdown)
	case MaxLosingStreak:
		if most := tighter(g.limits.MaxLosingStreak, own.MaxLosingStreak); most != 0 {
			return fmt.Sprint(facts.Book.Watch("").Losses), atMost(most-1, "")
		}
	case MaxOpenOrders:
		all, _ := open(facts.Book, intent.Strategy)
		return fmt.Sprint(all + 1), atMost(g.limits.MaxOpenOrders, "")
	case MaxOrdersPerMinute:
		all, _ := facts.Book.SentWithin(facts.NowMS, intent.Strategy)
		return fmt.Sprint(all + 1), atMost(g.limits.MaxOrdersPerMinute, "")
	}
	return "", ""
}

func lossFigures(from, equity exchange.Amount, limit Loss) (have, most string) {
	if limit.IsZero() {
		return "", ""
	}
	return from.Sub(equity).Max(exchange.Amount{}).Decimal().Round(2).String() + " USDT", "at most " + limitText(limit, from)
}

func atMost(limit int, unit string) string {
	if limit == 0 {
		return "no limit"
	}
	return fmt.Sprintf("at most %d%s", limit, unit)
}
