package risk

import (
	"fmt"
	"maps"
	"math"
	"testing"

	"botd/exchange"
	"botd/internal/reconciletest"
	"botd/reconcile"
	"botd/reconcile/placement"
)

// least is the smallest positive amount.
var least = exchange.MustAmount("0.000000000000000001")

// boundary is a rule with a state exactly at its bound, which passes, the smallest step within it, which passes too, and the smallest step beyond
// it, which is refused: by is 0, -1 and 1. It holds on both markets unless on names one.
type boundary struct {
	rule   string
	limits Limits // the account's, then the strategy's
	state  func(b *table, strategy string, by int)
	intent reconcile.Intent
	step   func(intent *reconcile.Intent, by int) // if the intent makes the step
	on     []exchange.Market
}

var onFutures, onSpot = []exchange.Market{exchange.Futures}, []exchange.Market{exchange.Spot}

// withoutBound lists the rules of the exchange and of botd that compare no number, each with the test in which it refuses and passes.
var withoutBound = map[string]string{
	"symbol": "TestEveryRuleOfTheExchangeIsJudgedBeforeSending", "shape": "TestEveryRuleOfTheExchangeIsJudgedBeforeSending",
	"price": "TestRefusalMessages", "halted": "TestRefusalMessages", "unsettled": "TestRefusalMessages",
	"opposite": "TestQuotesOnBothSidesNeedFlatPosition",
}

// more is a step of the quantity.
func more(i *reconcile.Intent, by int) { i.Order.Quantity += exchange.Quantity(by) }

// tenths is a price of the given number of ticks, a tenth each.
func tenths(n int) exchange.Price { return exchange.Price(n) * 0.1e8 }

// multiples are the rules that require a multiple, which a step in either direction breaks.
var multiples = map[string]bool{"price_tick": true, "quantity_tick": true}

// venueBoundaries are the boundaries of the exchange's rules, including minimums.
func venueBoundaries() []boundary {
	holds := func(b *table, _ string, _ int) { see(b.state, func(o *seen) { o.Position = 100 }) }
	return []boundary{
		{"price_tick", Limits{}, nil, limit(40_000.1e8, 100), func(i *reconcile.Intent, by int) { i.Order.Price += exchange.Price(by) }, nil},
		{"price_tick", Limits{}, nil, limit(40_000.1e8, 100), func(i *reconcile.Intent, by int) { i.Order.Price -= exchange.Price(by) }, nil},
		{"quantity_tick", Limits{}, func(b *table, _ string, _ int) {
			rules := *b.state.Rules()
			rules.QuantityTick = 100
			see(b.state, func(o *seen) { o.Rules = &rules })
		}, entry(100), func(i *reconcile.Intent, by int) { i.Order.Quantity -= exchange.Quantity(by) }, nil},
		{"notional", Limits{}, func(b *table, _ string, by int) {
			see(b.state, func(o *seen) {
				o.Last = 5_000e8 - exchange.Price(by)
			})
		}, entry(1), nil, onFutures},
		{"notional", Limits{}, nil, limit(5_000e8, 1), func(i *reconcile.Intent, by int) { i.Order.Price -= tenths(by) }, nil},
		{"notional", Limits{}, nil, exit(20_000, exchange.Sell), more, onFutures},
		{"notional", Limits{}, rich, limit(50_000e8, 20_000), more, nil},
		{"leverage", Limits{}, nil, reconcile.Intent{Purpose: placement.Leverage, Leverage: 50},
			func(i *reconcile.Intent, by int) { i.Leverage += by }, onFutures},
		{"leverage", Limits{}, nil, reconcile.Intent{Purpose: placement.Leverage, Leverage: 1},
			func(i *reconcile.Intent, by int) { i.Leverage -= by }, onFutures},
		{"leverage", Limits{}, func(b *table, _ string, _ int) { see(b.state, func(o *seen) { o.Leverage = 50 }) }, entry(5_000), more, onFutures},
		{"margin", Limits{}, func(b *table, _ string, by int) {
			reconciletest.Of(b.tracker).Account.AvailableBalance = exchange.AmountOf(500).Sub(least.Mul(int64(by)))
		}, entry(100), nil, onFutures},
		{"balance", Limits{}, func(b *table, _ string, by int) {
			(*reconciletest.Of(b.tracker).Balances)[0].Free = exchange.MustAmount("4004").Sub(least.Mul(int64(by))) // 0.1 BTC at 40,000, and a fee of 0.1 %
		}, limit(40_000e8, 100), nil, onSpot},
		{"order_count", Limits{}, func(b *table, _ string, by int) {
			other := b.tracker.Track(exchange.SymbolKey{Market: b.state.Key().Market, Name: "ETH-USDT"})
			see(other, func(o *seen) { o.Foreign = make([]exchange.Order, maxMarketOrders-reservedForExits-1+by) })
		}, entry(100), nil, nil},
		{"reduce_only", Limits{}, holds, exit(100, exchange.Sell), more, onFutures},
		{"reduce_only_sum", Limits{}, func(b *table, strategy string, by int) {
			holds(b, strategy, by)
			resting := exit(60, exchange.Sell).Order
			resting.Type, resting.Price = exchange.Limit, 51_000e8
			b.live("resting", resting, placement.ExitOrder)
		}, exit(40, exchange.Sell), more, onFutures},
		{"stop_price", Limits{}, holds, protection(49_999.9e8), func(i *reconcile.Intent, by int) { i.Order.StopPrice += tenths(by) }, onFutures},
		{"close_position", Limits{}, holds, stop(49_999.9e8), func(i *reconcile.Intent, by int) { i.Order.StopPrice += tenths(by) }, onFutures},
	}
}

// rich gives the account enough money for the largest order that the symbol's rules allow.
func rich(b *table, _ string, _ int) {
	reconciletest.Of(b.tracker).Account.AvailableBalance, b.facts.Market = exchange.AmountOf(10_000_000), exchange.AmountOf(10_000_000)
	for i := range *reconciletest.Of(b.tracker).Balances {
		(*reconciletest.Of(b.tracker).Balances)[i].Free = exchange.AmountOf(10_000_000)
	}
}

func sellLimit(price exchange.Price, quantity exchange.Quantity) reconcile.Intent {
	intent := limit(price, quantity)
	intent.Order.Side = exchange.Sell
	return intent
}

func protection(price exchange.Price) reconcile.Intent {
	return reconcile.Intent{Purpose: placement.StopLoss, Order: exchange.NewOrder{Side: exchange.Sell, Type: exchange.StopMarket, StopPrice: price,
		Quantity:   100,
		ReduceOnly: true, WorkingType: exchange.ContractPrice}}
}

func TestValuesAtBoundsPassAndBeyondAreRefused(t *testing.T) {
	t.Parallel()
	tested := maps.Clone(withoutBound)
	maps.Copy(tested, limitsWithoutBound)
	for i, c := range append(limitBoundaries(), venueBoundaries()...) {
		tested[c.rule] = "this one"
		if c.on == nil {
			c.on = []exchange.Market{exchange.Futures, exchange.Spot}
		}
		for _, strategy := range []string{"", "one"} {
			if strategy != "" && LimitNamed(c.rule) == nil {
				continue
			}
			for _, market := range c.on {
				for by := -1; by <= 1; by++ {
					if by < 0 && multiples[c.rule] {
						continue
					}
					t.Run(fmt.Sprintf("%d %s of %q on %s, by %d", i, c.rule, strategy, market, by), func(t *testing.T) {
						t.Parallel()
						c.check(t, strategy, market, by)
					})
				}
			}
		}
	}
	for _, name := range Rules() {
		if tested[name] == "" {
			t.Errorf("%s has no boundary, and no reason to have none", name)
		}
	}
}

func (c *boundary) check(t *testing.T, strategy string, market exchange.Market, by int) {
	b := newTable(t, Limits{})
	if market == exchange.Spot {
		b = spotTable(t)
	}
	if b.facts.Strategy = c.limits; strategy == "" {
		b.facts.Strategy, b.gate = Limits{}, NewGate(c.limits)
	}
	if c.intent.Order.Reduces() {
		see(b.state, func(o *seen) { o.Position = 20_001 })
	}
	if c.state != nil {
		c.state(b, strategy, by)
	}
	intent := c.intent
	if market == exchange.Spot && intent.Order.Type == exchange.MarketOrder { // such an order has an amount there
		intent = limit(b.state.Last(), intent.Order.Quantity)
	}
	if c.step != nil {
		c.step(&intent, by)
	}
	rejection := b.check(intent)
	if by <= 0 && rejection != nil {
		t.Errorf("want it passed, have %v", rejection)
	}
	if by > 0 && (rejection == nil || rejection.Rule != c.rule || rejection.Value == rejection.Limit) {
		t.Errorf("want it refused by %s with figures that differ, have %+v", c.rule, rejection)
	}
}

// No figure overflows, and an opening whose figures are unknown is refused.
func TestUncountableFiguresAreRefused(t *testing.T) {
	t.Parallel()
	huge := exchange.Quantity(math.MaxInt64)
	for _, c := range []struct {
		name   string
		limits Limits
		state  func(*table)
		rule   string
	}{
		{"a position that fills the number", Limits{MaxPosition: exchange.AmountOf(1)}, func(b *table) {
			see(b.state, func(o *seen) {
				o.Position = huge
			})
		}, MaxPosition},
		{"orders whose sum wraps around", Limits{MaxPosition: exchange.AmountOf(1)}, func(b *table) {
			b.live("a", limit(40_000e8, huge).Order, placement.Order)
			b.live("b", limit(40_000e8, huge).Order, placement.Order)
		}, MaxPosition},
		{"foreign orders whose sum wraps around", Limits{MaxSymbolExposure: 1000 * exchange.RateOne}, func(b *table) {
			o := exchange.Order{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Price: 40_000e8, Quantity: huge}
			see(b.state, func(shown *seen) { shown.Foreign = []exchange.Order{o, o} })
		}, MaxSymbolExposure},
		{"an equity beyond all bounds", Limits{MaxGrossExposure: 1000 * exchange.RateOne},
			func(b *table) { b.facts.Market = exchange.AmountOf(80_000_000_000_000_000).Mul(1000) }, MaxGrossExposure},
		{"no equity of the market", Limits{MaxGrossExposure: exchange.RateOne}, func(b *table) { b.facts.Market = exchange.Amount{} }, MaxGrossExposure},
		{"a debt for equity", Limits{MaxSymbolExposure: exchange.RateOne}, func(b *table) { b.facts.Market = exchange.AmountOf(-5) }, MaxSymbolExposure},
		{"no equity read for the daily loss", Limits{MaxDailyLoss: Loss{Share: exchange.RateOne / 2}}, func(b *table) {}, MaxDailyLoss},
		{"no equity read for the drawdown", Limits{MaxDrawdown: Loss{Share: exchange.RateOne / 2}}, func(b *table) {}, MaxDrawdown},
		{"equity not known now", Limits{MaxDailyLoss: Loss{Share: exchange.RateOne / 2}}, func(b *table) { b.day(10_000, 10_000); b.facts.Unread = true },
			MaxDailyLoss},
		{"no time of the last price", Limits{MaxDataAgeMS: 1_000}, func(b *table) { see(b.state, func(o *seen) { o.LastMS = 0 }) }, MaxDataAge},
		{"another symbol without a price", Limits{MaxGrossExposure: 100 * exchange.RateOne}, func(b *table) {
			see(b.tracker.Track(exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}), func(o *seen) { o.Position = 5 })
		}, MaxGrossExposure},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newTable(t, c.limits)
			c.state(b)
			intent := entry(100)
			if rejection := b.check(intent); rejection == nil || rejection.Value == "" || rejection.Limit == "" {
				t.Errorf("want it refused with its figures, have %+v", rejection)
			}
			var found finding // of the limit itself, whatever else refuses the intent
			s := subject{nowMS: b.facts.NowMS, tracker: b.tracker, watch: b.tracker.Watch(""), limits: &c.limits, intent: &intent, market: exchange.Futures,
				state:  b.state,
				equity: b.facts.Market, funds: b.facts.Equity, unread: b.facts.Unread}
			if LimitNamed(c.rule).judge(&s, &found); !found.refused {
				t.Errorf("want %s to refuse it, have %+v", c.rule, found)
			}
		})
	}
}
