package risk

import (
	"fmt"
	"slices"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// This file holds what the tests know about each limit: its configuration, its bound (boundary_test.go), its
// random values, and a computation of its figures that does not use the table (agreement_test.go).

// limitBoundaries has a boundary for each limit.
func limitBoundaries() []boundary {
	loss := func(from string, equity int64) func(*table, string, int) {
		return func(b *table, strategy string, by int) {
			day := record.Day{StartMS: 1, Equity: exchange.AmountOf(10_000), Peak: exchange.AmountOf(10_000)}
			if from == MaxDrawdown {
				day.Equity = exchange.AmountOf(equity)
			}
			b.tracker.Apply(&record.Record{Strategy: strategy, Body: day})
			now := exchange.AmountOf(equity).Sub(least.Mul(int64(by)))
			if b.facts.Own = now; strategy == "" {
				b.facts.Equity = now
			}
		}
	}
	equity := func(b *table, _ string, by int) {
		b.facts.Market = exchange.AmountOf(5_000).Sub(least.Mul(int64(by)))
	}
	orders := func(b *table, _ string, by int) {
		for i := range 2 + by {
			b.live(fmt.Sprint("o", i), limit(40_000e8, 1).Order, placement.Order)
		}
	}
	sent := func(b *table, _ string, by int) {
		b.facts.NowMS = 61_999
		for i := range 2 + by {
			b.sent(fmt.Sprint("s", i), "one", 2_000)
		}
	}
	return []boundary{
		{MaxLeverage, Limits{MaxLeverage: 10}, func(b *table, _ string, by int) {
			see(b.state, func(o *seen) {
				o.Leverage = 10 + by
			})
		}, entry(100), nil, onFutures},
		{MaxLeverage, Limits{MaxLeverage: 10}, nil, reconcile.Intent{Purpose: placement.Leverage, Leverage: 10},
			func(i *reconcile.Intent, by int) { i.Leverage += by }, onFutures},
		{MaxGrossExposure, Limits{MaxGrossExposure: exchange.RateOne}, equity, entry(100), nil, nil},
		{MaxSymbolExposure, Limits{MaxSymbolExposure: exchange.RateOne}, equity, entry(100), nil, nil},
		{MaxDailyLoss, Limits{MaxDailyLoss: Loss{Share: exchange.RateOne / 20}}, loss(MaxDailyLoss, 9_500), entry(100), nil, nil},
		{MaxDailyLoss, Limits{MaxDailyLoss: Loss{USDT: exchange.AmountOf(500)}}, loss(MaxDailyLoss, 9_500), entry(100), nil, nil},
		{MaxDrawdown, Limits{MaxDrawdown: Loss{Share: exchange.RateOne / 5}}, loss(MaxDrawdown, 8_000), entry(100), nil, nil},
		{MaxDrawdown, Limits{MaxDrawdown: Loss{USDT: exchange.AmountOf(2_000)}}, loss(MaxDrawdown, 8_000), entry(100), nil, nil},
		{MaxOpenOrders, Limits{MaxOpenOrders: 3}, orders, entry(100), nil, nil},
		{MaxOrdersPerMinute, Limits{MaxOrdersPerMinute: 3}, sent, entry(100), nil, nil},
		{PriceCollar, Limits{PriceCollar: exchange.RateOne / 100}, nil, limit(50_500e8, 100),
			func(i *reconcile.Intent, by int) { i.Order.Price += tenths(by) }, nil},
		{PriceCollar, Limits{PriceCollar: exchange.RateOne / 100}, nil, sellLimit(49_500e8, 100),
			func(i *reconcile.Intent, by int) { i.Order.Price -= tenths(by) }, nil},
		{MaxDataAge, Limits{MaxDataAgeMS: 1_000}, func(b *table, _ string, by int) { b.facts.NowMS = 2_000 + int64(by) },
			entry(100), nil, nil},
		{MaxPosition, Limits{MaxPosition: exchange.MustAmount("0.1")}, nil, entry(100), more, nil},
		{MaxPosition, Limits{MaxPosition: exchange.MustAmount("0.1")}, nil, sellLimit(50_000e8, 100), more, onFutures},
	}
}

// limitsWithoutBound lists the limits that no boundary describes, each with the test in which it refuses and passes.
var limitsWithoutBound = map[string]string{MaxLosingStreak: "TestAStreakLatchesAtItsLimit"}

// A streak of as many losing positions as the limit blocks entries.
func TestAStreakLatchesAtItsLimit(t *testing.T) {
	t.Parallel()
	limits := Limits{MaxLosingStreak: 3, CoolDownMS: 60_000}
	for losses, want := range map[int]bool{2: false, 3: true, 4: true} {
		b := newTable(t, limits)
		b.tracker.Apply(&record.Record{Body: record.Accounted{Losses: losses}})
		crossed := limits.Crossed(ByResults, 5_000, b.tracker, "", exchange.Amount{})
		if (len(crossed) == 1) != want || want && (crossed[0].UntilMS != 65_000 || crossed[0].Reason != fmt.Sprint(losses, " positions in a row lost")) {
			t.Errorf("%d losses of at most 3: want crossed %t, have %+v", losses, want, crossed)
		}
	}
}

// drawLimits sets few limits of a strategy, or of the account (empty), at a time, so that a random state reaches each of them.
func drawLimits(r *rapid.T, strategy string) Limits {
	rarely := func(name string, values ...int) int {
		return rapid.SampledFrom(append(values, 0, 0, 0, 0, 0)).Draw(r, strategy+" "+name)
	}
	position := 0
	if strategy != "" {
		position = rarely("max position", 1, 3, 1, 3)
	}
	return Limits{
		MaxLeverage:       rarely("max leverage", 5, 10),
		MaxGrossExposure:  exchange.Rate(rarely("gross", 1, 4)) * exchange.RateOne / 2,
		MaxSymbolExposure: exchange.Rate(rarely("symbol", 1, 3)) * exchange.RateOne / 2,
		MaxDailyLoss:      Loss{USDT: exchange.AmountOf(int64(rarely("daily", 500)))},
		MaxDrawdown:       Loss{Share: exchange.Rate(rarely("drawdown", 10)) * exchange.RateOne / 100},
		MaxOpenOrders:     rarely("orders", 2, 4), MaxOrdersPerMinute: rarely("a minute", 2, 4),
		PriceCollar:     exchange.Rate(rarely("collar", 1)) * exchange.RateOne / 100,
		MaxDataAgeMS:    int64(rarely("age", 2_000)),
		MaxLosingStreak: rarely("streak", 3), CoolDownMS: 60_000,
		MaxPosition: exchange.AmountOf(int64(position)).Div(10),
	}
}

// count holds a limit's figures as the test computes them.
type count struct {
	value, most decimal.Decimal
	unused      bool // the limit does not apply to such an intent
	latched     bool // only a breach refuses, whatever the figures
}

// counted computes the figures that a limit compares from the lists of the state. Without an intent it computes the current utilization.
func (s *state) counted(intent *reconcile.Intent, rule, strategy string) count {
	limits, whole := s.limits[strategy], func(n int) decimal.Decimal { return decimal.NewFromInt(int64(n)) }
	rate := func(rate exchange.Rate, of int64) decimal.Decimal { return rate.Decimal().Mul(decimal.NewFromInt(of)) }
	openings, mine := exchange.Quantity(0), 0
	for _, o := range s.orders {
		openings += o.quantity
		if strategy == "" || o.strategy == strategy {
			mine++
		}
	}
	base := func(q exchange.Quantity) decimal.Decimal { return decimal.New(int64(q), -3) }
	added := 1
	if intent == nil {
		added, intent = 0, new(reconcile.Intent)
	}
	price := decimal.New(int64(intent.Order.Price), -8)
	if intent.Order.Price == 0 {
		price = whole(50_000)
	}
	exposure := base(s.state.Position() + s.state.Ignored() + s.foreign + openings).Mul(whole(50_000)).Add(base(intent.Order.Quantity).Mul(price))
	equity := s.equity[strategy]
	switch rule {
	case MaxLeverage:
		if intent.Purpose == placement.Leverage {
			return count{value: whole(intent.Leverage), most: whole(limits.MaxLeverage)}
		}
		return count{value: whole(s.state.Leverage()), most: whole(limits.MaxLeverage)}
	case MaxGrossExposure:
		return count{value: exposure, most: rate(limits.MaxGrossExposure, 10_000)}
	case MaxSymbolExposure:
		return count{value: exposure, most: rate(limits.MaxSymbolExposure, 10_000)}
	case MaxDailyLoss:
		return count{value: decimal.NewFromInt(max(0, equity[0]-equity[2])), most: limits.MaxDailyLoss.USDT.Decimal()}
	case MaxDrawdown:
		return count{value: decimal.NewFromInt(max(0, equity[1]-equity[2])), most: rate(limits.MaxDrawdown.Share, equity[1])}
	case MaxOpenOrders:
		return count{value: whole(mine + added), most: whole(limits.MaxOpenOrders)}
	case MaxOrdersPerMinute:
		sent := s.sends[strategy]
		if strategy == "" {
			sent = s.sends["one"] + s.sends["two"]
		}
		return count{value: whole(sent + added), most: whole(limits.MaxOrdersPerMinute)}
	case PriceCollar:
		return count{value: decimal.Max(price.Sub(whole(50_000)), decimal.Zero), most: rate(limits.PriceCollar, 50_000),
			unused: intent.Order.Type != exchange.Limit}
	case MaxDataAge:
		return count{value: decimal.New(s.facts.NowMS-s.state.LastMS(), -3), most: decimal.New(limits.MaxDataAgeMS, -3)}
	case MaxLosingStreak:
		return count{value: whole(s.losses[strategy]), most: whole(limits.MaxLosingStreak), latched: true}
	case MaxPosition:
		return count{value: base(s.state.Position() + openings + intent.Order.Quantity), most: limits.MaxPosition.Decimal()}
	}
	panic("no count of " + rule)
}

// The bounds and defaults are those of the documents.
func TestEveryLimitsBoundsAndDefault(t *testing.T) {
	t.Parallel()
	const hundred = int64(exchange.RateOne)
	want := map[string][3]any{ // the minimum, the maximum, and the account's default
		MaxLeverage: {int64(1), int64(1_000), "20"}, MaxGrossExposure: {int64(1), 1_000 * hundred, "10"}, MaxSymbolExposure: {int64(1), 1_000 * hundred, ""},
		MaxDailyLoss: {int64(0), hundred, "5%"}, MaxDrawdown: {int64(0), hundred, "20%"}, MaxOpenOrders: {int64(1), int64(100_000), "200"},
		MaxOrdersPerMinute: {int64(1), int64(100_000), "300"}, PriceCollar: {int64(1), hundred, "5%"}, MaxDataAge: {int64(1_000), int64(7 * 86_400_000), "2m"},
		MaxLosingStreak: {int64(1), int64(1_000), ""}, CoolDown: {int64(1_000), int64(366 * 86_400_000), ""}, MaxPosition: {int64(0), int64(0), ""},
	}
	defaults := DefaultLimits()
	for _, l := range Table() {
		if have := [3]any{l.Low, l.High, l.Text(&defaults)}; have != want[l.Name] {
			t.Errorf("%s: want %v, have %v", l.Name, want[l.Name], have)
		}
	}
	if len(Table()) != len(want) {
		t.Errorf("want %d limits, have %d", len(want), len(Table()))
	}
	names := []string{MaxLeverage, MaxGrossExposure, MaxSymbolExposure, MaxDailyLoss, MaxDrawdown, MaxOpenOrders, MaxOrdersPerMinute, PriceCollar, MaxDataAge,
		MaxLosingStreak, MaxPosition}
	if have := Tightenable(); !slices.Equal(have, names) {
		t.Errorf("what a person may tighten: want %v, have %v", names, have)
	}
}
