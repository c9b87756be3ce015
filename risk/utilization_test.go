package risk

import (
	"reflect"
	"slices"
	"testing"

	"botd/exchange"
	"botd/internal/reconciletest"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// TestLimitUtilization has 10,000 USDT, and by default a position of 0.1 BTC at 50,000.
func TestLimitUtilization(t *testing.T) {
	t.Parallel()
	day := record.Day{StartMS: 1, Equity: exchange.AmountOf(10_400), Peak: exchange.AmountOf(10_500)}
	for _, c := range []struct {
		name     string
		account  Limits
		strategy Limits
		set      func(b *table)
		want     Utilization
	}{
		{"well below", Limits{MaxGrossExposure: exchange.RateOne}, Limits{}, nil,
			Utilization{Scope: "account futures", Rule: MaxGrossExposure, Value: "5000 USDT", Limit: "10000 USDT", Headroom: "5000 USDT", Ratio: 0.5,
				State: StateOK}},
		{"just below four fifths", Limits{MaxGrossExposure: exchange.RateOne}, Limits{}, func(b *table) { b.hold(159) },
			Utilization{Scope: "account futures", Rule: MaxGrossExposure, Value: "7950 USDT", Limit: "10000 USDT", Headroom: "2050 USDT",
				Ratio: 0.795, State: StateOK}},
		{"four fifths", Limits{MaxGrossExposure: exchange.RateOne}, Limits{}, func(b *table) { b.hold(160) },
			Utilization{Scope: "account futures", Rule: MaxGrossExposure, Value: "8000 USDT", Limit: "10000 USDT", Headroom: "2000 USDT", Ratio: 0.8,
				State: StateNear}},
		{"all", Limits{MaxGrossExposure: exchange.RateOne}, Limits{}, func(b *table) { b.hold(200) },
			Utilization{Scope: "account futures", Rule: MaxGrossExposure, Value: "10000 USDT", Limit: "10000 USDT", Headroom: "0 USDT", Ratio: 1,
				State:  StateFull,
				Remedy: "reduce the position, or raise the limit"}},
		{"more than all", Limits{MaxGrossExposure: exchange.RateOne}, Limits{}, func(b *table) { b.hold(-300) },
			Utilization{Scope: "account futures", Rule: MaxGrossExposure, Value: "15000 USDT", Limit: "10000 USDT", Headroom: "0 USDT", Ratio: 1.5,
				State:  StateFull,
				Remedy: "reduce the position, or raise the limit"}},
		{"of a symbol", Limits{MaxSymbolExposure: exchange.RateOne}, Limits{}, nil,
			Utilization{Scope: "symbol futures BTC-USDT", Symbol: bitcoin, Rule: MaxSymbolExposure, Value: "5000 USDT", Limit: "10000 USDT",
				Headroom: "5000 USDT",
				Ratio:    0.5, State: StateOK}},
		{"a strategy's own of a symbol names no symbol", Limits{}, Limits{MaxSymbolExposure: exchange.RateOne}, nil,
			Utilization{Scope: "strategy one", Strategy: "one", Rule: MaxSymbolExposure, Value: "5000 USDT", Limit: "10000 USDT",
				Headroom: "5000 USDT", Ratio: 0.5,
				State: StateOK}},
		{"a size", Limits{}, Limits{MaxPosition: exchange.MustAmount("0.2")}, nil,
			Utilization{Scope: "strategy one", Strategy: "one", Rule: MaxPosition, Value: "0.1 BTC", Limit: "0.2 BTC", Headroom: "0.1 BTC",
				Ratio: 0.5, State: StateOK}},
		{"the most leverage", Limits{MaxLeverage: 20}, Limits{}, nil,
			Utilization{Scope: "account", Rule: MaxLeverage, Value: "10", Limit: "20", Headroom: "10", Ratio: 0.5, State: StateOK}},
		{"no order has a price to be bounded", Limits{PriceCollar: exchange.RateOne / 100}, Limits{}, nil,
			Utilization{Scope: "symbol futures BTC-USDT", Symbol: bitcoin, Rule: PriceCollar, Value: "-", Limit: "500 USDT", Headroom: "500 USDT",
				State: StateOK}},
		{"the age of a price", Limits{MaxDataAgeMS: 4_000}, Limits{}, nil,
			Utilization{Scope: "symbol futures BTC-USDT", Symbol: bitcoin, Rule: MaxDataAge, Value: "1 s", Limit: "4 s", Headroom: "3 s",
				Ratio: 0.25, State: StateOK}},
		{"orders of a minute", Limits{MaxOrdersPerMinute: 4}, Limits{}, func(b *table) { b.sent("a", "one", 1_500); b.sent("b", "two", 1_500) },
			Utilization{Scope: "account", Rule: MaxOrdersPerMinute, Value: "2", Limit: "4", Headroom: "2", Ratio: 0.5, State: StateOK}},
		{"those of a strategy", Limits{}, Limits{MaxOrdersPerMinute: 4}, func(b *table) { b.sent("a", "one", 1_500); b.sent("b", "two", 1_500) },
			Utilization{Scope: "strategy one", Strategy: "one", Rule: MaxOrdersPerMinute, Value: "1", Limit: "4", Headroom: "3", Ratio: 0.25, State: StateOK}},
		{"lost since the day's start", Limits{MaxDailyLoss: Loss{USDT: exchange.AmountOf(1_000)}}, Limits{},
			func(b *table) { b.tracker.Apply(&record.Record{Body: day}) },
			Utilization{Scope: "account", Rule: MaxDailyLoss, Value: "400 USDT", Limit: "1000 USDT", Headroom: "600 USDT", Ratio: 0.4, State: StateOK}},
		{"a full daily loss, which no smaller position clears", Limits{MaxDailyLoss: Loss{USDT: exchange.AmountOf(400)}}, Limits{},
			func(b *table) { b.tracker.Apply(&record.Record{Body: day}) },
			Utilization{Scope: "account", Rule: MaxDailyLoss, Value: "400 USDT", Limit: "400 USDT", Headroom: "0 USDT", Ratio: 1, State: StateFull,
				Remedy: "at 00:00 UTC; botd rearm does not end it"}},
		{"a full drawdown", Limits{MaxDrawdown: Loss{USDT: exchange.AmountOf(500)}}, Limits{},
			func(b *table) { b.tracker.Apply(&record.Record{Body: day}) },
			Utilization{Scope: "account", Rule: MaxDrawdown, Value: "500 USDT", Limit: "500 USDT", Headroom: "0 USDT", Ratio: 1, State: StateFull,
				Remedy: "botd rearm (--strategy NAME); the highest equity is then measured again"}},
		{"a loss before equity was read", Limits{MaxDailyLoss: Loss{USDT: exchange.AmountOf(1_000)}}, Limits{}, nil,
			Utilization{Scope: "account", Rule: MaxDailyLoss, Value: "-", Limit: "1000 USDT", Headroom: "-", State: StateUnknown,
				Remedy: "the next round reads it"}},
		{"a price before it was read", Limits{MaxDataAgeMS: 4_000}, Limits{}, func(b *table) { see(b.state, func(o *seen) { o.LastMS = 0 }) },
			Utilization{Scope: "symbol futures BTC-USDT", Symbol: bitcoin, Rule: MaxDataAge, Value: "-", Limit: "4s", Headroom: "-", State: StateUnknown,
				Remedy: "the next round reads it"}},
		{"an exposure without a price", Limits{MaxSymbolExposure: exchange.RateOne}, Limits{}, func(b *table) { see(b.state, func(o *seen) { o.Last = 0 }) },
			Utilization{Scope: "symbol futures BTC-USDT", Symbol: bitcoin, Rule: MaxSymbolExposure, Value: "-", Limit: "1", Headroom: "-", State: StateUnknown,
				Remedy: "the next round reads it"}},
		{"a symbol that no strategy trades", Limits{MaxSymbolExposure: exchange.RateOne}, Limits{}, func(b *table) {
			see(b.state, func(o *seen) {
				o.Rules = nil
			})
		},
			Utilization{Scope: "symbol futures BTC-USDT", Symbol: bitcoin, Rule: MaxSymbolExposure, Value: "-", Limit: "1", Headroom: "-", State: StateUnknown,
				Remedy: "the exchange does not list it, or no strategy trades it: it is read once it is listed and traded; " +
					"otherwise close its position and orders on the exchange"}},
		{"an equity of nothing", Limits{MaxGrossExposure: exchange.RateOne}, Limits{}, func(b *table) { b.facts.Market = exchange.Amount{} },
			Utilization{Scope: "account futures", Rule: MaxGrossExposure, Value: "-", Limit: "1", Headroom: "-", Ratio: 1, State: StateUnknown,
				Remedy: "the next round reads it"}},
		{"a breach until a time", Limits{MaxDailyLoss: Loss{USDT: exchange.AmountOf(1_000)}}, Limits{}, func(b *table) {
			b.tracker.Apply(&record.Record{Body: day})
			b.tracker.Apply(&record.Record{AtMS: 1_700, Body: record.Breach{Rule: MaxDailyLoss, Reason: "lost", UntilMS: 9_000}})
		}, Utilization{Scope: "account", Rule: MaxDailyLoss, Value: "400 USDT", Limit: "1000 USDT", Headroom: "600 USDT", Ratio: 1,
			State: StateBreached, Reason: "lost",
			Remedy: "clears automatically; exits and stops continue", SinceMS: 1_700, UntilMS: 9_000}},
		{"one that is over", Limits{MaxDailyLoss: Loss{USDT: exchange.AmountOf(1_000)}}, Limits{}, func(b *table) {
			b.tracker.Apply(&record.Record{Body: day})
			b.tracker.Apply(&record.Record{AtMS: 1_700, Body: record.Breach{Rule: MaxDailyLoss, Reason: "lost", UntilMS: 2_000}})
		}, Utilization{Scope: "account", Rule: MaxDailyLoss, Value: "400 USDT", Limit: "1000 USDT", Headroom: "600 USDT", Ratio: 0.4, State: StateOK}},
		{"a breach until a person rearms", Limits{MaxDrawdown: Loss{USDT: exchange.AmountOf(250)}}, Limits{}, func(b *table) {
			b.tracker.Apply(&record.Record{Body: day})
			b.tracker.Apply(&record.Record{AtMS: 1_700, Body: record.Breach{Rule: MaxDrawdown, Reason: "lost"}})
		}, Utilization{Scope: "account", Rule: MaxDrawdown, Value: "500 USDT", Limit: "250 USDT", Headroom: "0 USDT", Ratio: 2, State: StateBreached,
			Reason: "lost",
			Remedy: "botd rearm", SinceMS: 1_700}},
		{"a strategy's breach", Limits{}, Limits{MaxDrawdown: Loss{USDT: exchange.AmountOf(1_000)}}, func(b *table) {
			b.tracker.Apply(&record.Record{Strategy: "one", Body: day})
			b.tracker.Apply(&record.Record{AtMS: 1_700, Strategy: "one", Body: record.Breach{Rule: MaxDrawdown, Reason: "lost"}})
		}, Utilization{Scope: "strategy one", Strategy: "one", Rule: MaxDrawdown, Value: "500 USDT", Limit: "1000 USDT", Headroom: "500 USDT", Ratio: 1,
			State: StateBreached, Reason: "lost", Remedy: "botd rearm --strategy one", SinceMS: 1_700}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newTable(t, c.account)
			b.hold(100)
			if c.set != nil {
				c.set(b)
			}
			all := b.gate.Utilization(&Account{NowMS: b.facts.NowMS, Tracker: b.tracker, Equity: b.facts.Equity, Known: true,
				Markets:    []MarketFacts{{exchange.Futures, b.facts.Market}},
				Strategies: []StrategyFacts{{Name: "one", State: b.state, Limits: c.strategy, Own: b.facts.Own}}})
			if len(all) != 1 || !reflect.DeepEqual(all[0], c.want) {
				t.Errorf("want\n%+v, have\n%+v", c.want, all)
			}
		})
	}
}

// The setting gets its usual value unless someone has set it.
func TestALimitsSettingIsListedWithIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limits Limits
		want   []Setting
	}{
		{Limits{}, nil},
		{Limits{CoolDownMS: 7_200_000}, nil},
		{Limits{MaxLosingStreak: 4}, []Setting{{MaxLosingStreak, "4"}, {CoolDown, "1h"}}},
		{Limits{MaxLosingStreak: 4, CoolDownMS: 7_200_000}, []Setting{{MaxLosingStreak, "4"}, {CoolDown, "2h"}}},
		{Limits{MaxDataAgeMS: 1_500, MaxLeverage: 3}, []Setting{{MaxLeverage, "3"}, {MaxDataAge, "1500ms"}}},
		{Limits{MaxDrawdown: Loss{USDT: exchange.AmountOf(5)}, PriceCollar: exchange.RateOne / 4}, []Setting{{MaxDrawdown, "5 USDT"}, {PriceCollar, "25%"}}},
	} {
		c.limits.Complete()
		if have := c.limits.List(); !slices.Equal(have, c.want) {
			t.Errorf("%+v: want %v, have %v", c.limits, c.want, have)
		}
	}
	var unset Limits
	if have := unset.Text("no such limit"); have != "" {
		t.Errorf("want nothing of a limit that there is not, have %q", have)
	}
}

// The text of a rejection shows rule, value, limit and hint.
func TestRefusalNamesComparedValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		set    func(b *table)
		intent reconcile.Intent
		want   string
	}{
		{"a price off its tick", nil, limit(49_999.95e8, 100),
			"price_tick: 49999.95, limit a multiple of 0.1 (nearest: 49999.9 or 50000)"},
		{"above the bracket", nil, reconcile.Intent{Purpose: placement.Leverage, Leverage: 51},
			"leverage: 51, limit 50 (the margin bracket of this size allows less leverage: lower it, or reduce the order)"},
		{"no leverage at all", nil, reconcile.Intent{Purpose: placement.Leverage}, "leverage: 0, limit at least 1 (leverage is a whole number from 1)"},
		{"a symbol without rules", func(b *table) {
			see(b.state, func(o *seen) {
				o.Rules = nil
			})
		}, reconcile.Intent{Purpose: placement.Leverage, Leverage: 3},
			"leverage: 3, limit a known symbol (its rules have not been fetched yet)"},
		{"without a price", func(b *table) { see(b.state, func(o *seen) { o.Last = 0 }) }, reconcile.Intent{Purpose: placement.Leverage, Leverage: 3},
			"leverage: no price, limit a last price (no price of this symbol has been read yet)"},
		{"an uncertain order", func(b *table) { b.sending("x", limit(40_000e8, 1).Order) }, reconcile.Intent{Purpose: placement.Leverage, Leverage: 3},
			"leverage: placement x sending, limit a settled symbol (its outcome must be known before leverage changes)"},
		{"no brackets", unbracketed, reconcile.Intent{Purpose: placement.Leverage, Leverage: 2},
			"leverage: 2, limit 1 (the exchange has sent no margin levels " +
				"for this symbol, so no bracket limits leverage: set leverage 1, or wait for them (read every minute))"},
		{"beyond all brackets", func(b *table) {
			b.change(func(s *exchange.Symbol) { s.MaxNotional = exchange.AmountOf(10_000_000) })
			see(b.state, func(o *seen) { o.Leverage = 1 })
		}, entry(20_001), "leverage: 1000050 USDT, limit 1000000 USDT (no margin bracket of the symbol reaches this size)"},
		{"too little margin", func(b *table) { reconciletest.Of(b.tracker).Account.AvailableBalance = exchange.AmountOf(499) }, entry(100),
			"margin: 500 USDT, limit 499 USDT available (reduce the size, raise the leverage, or deposit)"},
		{"the account was not read", func(b *table) { *reconciletest.Of(b.tracker).AccountMS = 0 }, entry(100),
			"margin: unknown, limit a fetched margin account (the account has not been fetched yet)"},
		{"leverage was not read", func(b *table) { see(b.state, func(o *seen) { o.Leverage = 0 }) }, entry(100),
			"leverage: unknown, limit the leverage set on the exchange (it has not been fetched yet)"},
		{"blind", func(b *table) { b.facts.Blind = true }, entry(100),
			"halted: blind, limit fetched orders and positions (reads have failed for too long; openings wait for the exchange)"},
		{"halted", func(b *table) { b.halt() }, entry(100), "halted: account halted: a test, limit armed (botd rearm ends it)"},
		{"quarantined", func(b *table) { b.quarantine() }, entry(100), "unsettled: quarantine: why, limit a settled symbol (botd resolve BTC-USDT ends it)"},
		{"not read yet", func(b *table) { see(b.state, func(o *seen) { o.Read = false }) }, entry(100),
			"unsettled: not fetched, limit a settled symbol (nothing opens before the first snapshot)"},
		{"too small", func(b *table) { see(b.state, func(o *seen) { o.Last = 4_000e8 }) }, entry(1),
			"notional: 4 USDT, limit at least 5 USDT (the order is too small for this symbol (rule 2))"},
		{"too large", nil, entry(20_001), "notional: 1000050 USDT, limit at most 1000000 USDT (the order is too large for this symbol (rule 2))"},
		{"more than the position", func(b *table) { b.hold(100) }, exit(101, exchange.Sell),
			"reduce_only: 0.101 BTC, limit 0.1 BTC (more than the position's remaining quantity (rule 5))"},
		{"a protection above the price", func(b *table) { b.hold(100) }, protection(50_001e8),
			"stop_price: 50001, limit below 50000 (the price has already passed it (rule 11))"},
		{"a short's below it", func(b *table) { b.hold(-100) }, with(protection(49_999e8), func(o *exchange.NewOrder) { o.Side = exchange.Buy }),
			"stop_price: 49999, limit above 50000 (the price has already passed it (rule 11))"},
		{"a take-profit below the price", func(b *table) { b.hold(100) },
			with(protection(49_999e8), func(o *exchange.NewOrder) { o.Type = exchange.TakeProfitMarket }),
			"stop_price: 49999, limit above 50000 (the price has already passed it (rule 11))"},
		{"at the mark", func(b *table) { b.hold(100); see(b.state, func(o *seen) { o.Mark = 49_000e8 }) },
			with(protection(49_000e8), func(o *exchange.NewOrder) { o.WorkingType = exchange.MarkPrice }),
			"stop_price: 49000, limit another than 49000 (a stop at the current price is neither stop-loss nor take-profit (rule 11))"},
		{"no mark yet: at the price", func(b *table) { b.hold(100) },
			with(protection(50_000e8), func(o *exchange.NewOrder) { o.WorkingType = exchange.MarkPrice }),
			"stop_price: 50000, limit another than 50000 (a stop at the current price is neither stop-loss nor take-profit (rule 11))"},
		{"the mark is nothing to a stop at the last price", func(b *table) {
			b.hold(100)
			see(b.state, func(o *seen) {
				o.Mark = 49_000e8
			})
		}, protection(50_000e8),
			"stop_price: 50000, limit another than 50000 (a stop at the current price is neither stop-loss nor take-profit (rule 11))"},
		{"the whole position's stop", func(b *table) { b.hold(100) }, stop(50_001e8),
			"close_position: 50001, limit below 50000 (the price has already passed it (rule 9))"},
		{"a limit of the account", func(b *table) {
			b.gate.limits.MaxOpenOrders = 1
			b.live("x", limit(40_000e8, 1).Order, placement.Order)
		}, entry(100),
			"max_open_orders: 2, limit 1 (cancel orders (risk.max_open_orders: 1))"},
		{"a limit of the strategy", func(b *table) {
			b.facts.Strategy.MaxOpenOrders = 1
			b.live("x", limit(40_000e8, 1).Order, placement.Order)
		}, entry(100),
			"max_open_orders: 2, limit 1 (cancel orders (the strategy's risk.max_open_orders: 1))"},
		{"by less than a cent", func(b *table) {
			b.gate.limits.MaxGrossExposure, b.facts.Market = exchange.RateOne, exchange.MustAmount("4999.999")
		}, entry(100),
			"max_gross_exposure: 5000 USDT, limit 4999.999 USDT (the value if everything in flight fills; reduce the order (risk.max_gross_exposure: 1))"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newTable(t, Limits{})
			if c.set != nil {
				c.set(b)
			}
			rejection := b.check(c.intent)
			if rejection == nil {
				t.Fatalf("want %s, have it approved", c.want)
			}
			if have := rejection.Error(); have != c.want {
				t.Errorf("want\n%s, have\n%s", c.want, have)
			}
		})
	}
}
