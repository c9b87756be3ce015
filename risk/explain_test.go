package risk

import (
	"testing"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// explained returns Explain's verdicts on the rule, as a person reads them.
func (b *table) explained(intent reconcile.Intent, rule string) (all []Verdict) {
	intent.Strategy, intent.Order.Market, intent.Order.Symbol = "one", exchange.Futures, "BTC-USDT"
	for _, v := range b.gate.Explain(&intent, &b.facts) {
		if v.Rule == rule {
			all = append(all, v)
		}
	}
	return all
}

func TestExplainShowsStrategyLimitsWithItsFigures(t *testing.T) {
	t.Parallel()
	b := newTable(t, Limits{MaxOpenOrders: 200, MaxOrdersPerMinute: 300})
	b.facts.Strategy = Limits{MaxPosition: exchange.MustAmount("5"), MaxOpenOrders: 2, MaxOrdersPerMinute: 4}
	b.hold(1_020)
	for _, want := range []Verdict{
		{Rule: MaxPosition, Outcome: Passed, Value: "1.12 BTC", Limit: "5 BTC"},
		{Rule: MaxOpenOrders, Outcome: Passed, Value: "1", Limit: "2"},
		{Rule: MaxOrdersPerMinute, Outcome: Passed, Value: "1", Limit: "4"},
	} {
		found := false
		for _, have := range b.explained(entry(100), want.Rule) {
			found = found || have.Value == want.Value && have.Limit == want.Limit && have.Outcome == want.Outcome
		}
		if !found {
			t.Errorf("want %+v, have %+v", want, b.explained(entry(100), want.Rule))
		}
	}
}

func TestExplainCountsOnlyTheOwnPositionAgainstMaxPosition(t *testing.T) {
	t.Parallel()
	b := newTable(t, Limits{})
	b.facts.Strategy = Limits{MaxPosition: exchange.MustAmount("0.15")}
	b.ignore(1_000) // 1.0 of the exchange's one position belongs to others
	have := b.explained(entry(100), MaxPosition)
	if len(have) != 1 || have[0].Outcome != Passed || have[0].Value != "0.1 BTC" || have[0].Limit != "0.15 BTC" {
		t.Errorf("want 0.1 BTC of 0.15 BTC passed, have %+v", have)
	}
}

func TestExplainReportsStrategyLimits(t *testing.T) {
	t.Parallel()
	b := newTable(t, Limits{})
	b.facts.Strategy = Limits{MaxOpenOrders: 3, MaxDailyLoss: Loss{USDT: exchange.AmountOf(100)},
		MaxDrawdown: Loss{USDT: exchange.AmountOf(200)}, MaxGrossExposure: exchange.RateOne}
	b.tracker.Apply(&record.Record{Strategy: "one", Body: record.Day{StartMS: 1, Equity: exchange.AmountOf(10_010), Peak: exchange.AmountOf(10_020)}})
	for rule, want := range map[string][2]string{
		MaxOpenOrders: {"1", "3"}, MaxDailyLoss: {"10 USDT", "100 USDT"}, MaxDrawdown: {"20 USDT", "200 USDT"}, MaxGrossExposure: {"5000 USDT", "10000 USDT"},
	} {
		have := b.explained(entry(100), rule)
		if len(have) != 1 || have[0].Outcome != Passed || have[0].Value != want[0] || have[0].Limit != want[1] {
			t.Errorf("%s: want %s of %s passed, have %+v", rule, want[0], want[1], have)
		}
	}
}

// The cases are leverage on spot, a price tick without a price, and a collar without a price to compare.
func TestExplainOmitsMissingFigures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule         string
		spot         bool
		intent       reconcile.Intent
		value, limit string
	}{
		{MaxLeverage, true, limit(50_000e8, 100), "", ""},
		{MaxLeverage, false, limit(50_000e8, 100), "10", "20"},
		{"price_tick", false, entry(100), "", ""},
		{"price_tick", false, limit(50_000e8, 100), "50000", "a multiple of 0.1"},
		{PriceCollar, false, entry(100), "", ""},
		{PriceCollar, false, limit(50_010e8, 100), "10 USDT", "500 USDT"},
	} {
		b := newTable(t, Limits{})
		if c.spot {
			b = spotTable(t)
		}
		b.gate = NewGate(Limits{MaxLeverage: 20, PriceCollar: exchange.RateOne / 100})
		c.intent.Strategy, c.intent.Order.Market, c.intent.Order.Symbol = "one", b.state.Key().Market, "BTC-USDT"
		found := 0
		for _, v := range b.gate.Explain(&c.intent, &b.facts) {
			if v.Rule != c.rule {
				continue
			}
			if found++; v.Outcome != Passed || v.Value != c.value || v.Limit != c.limit {
				t.Errorf("%s, on spot %t: want %q of %q passed, have %+v", c.rule, c.spot, c.value, c.limit, v)
			}
		}
		if found != 1 {
			t.Errorf("%s: want one verdict, have %d", c.rule, found)
		}
	}
}

// The figures are known once the rules and a price are. A price dated in the future has the age zero.
func TestPriceFiguresNeedRulesAndPrice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules  bool
		last   exchange.Price
		lastMS int64
		known  bool
		age    string
	}{
		{true, 1, 1_000, true, "1"}, {false, 1, 1_000, false, "1"}, {true, 0, 1_000, false, "1"}, {false, 0, 1_999, false, "0.001"},
		{true, 1, 2_000, true, "0"}, {true, 1, 2_005, true, "0"},
	} {
		b := newTable(t, Limits{})
		if see(b.state, func(o *seen) { o.Last, o.LastMS = c.last, c.lastMS }); !c.rules {
			see(b.state, func(o *seen) { o.Rules = nil })
		}
		s := &subject{nowMS: 2_000, state: b.state, limits: &Limits{PriceCollar: exchange.RateOne, MaxDataAgeMS: 1_000}}
		if have := throughPrice(s); (have.unknown == "") != c.known {
			t.Errorf("%+v: want the collar known %t, have %q", c, c.known, have.unknown)
		}
		if have := dataAge(s); have.value.String() != c.age || have.unknown != "" {
			t.Errorf("%+v: want an age of %s s, have %s, %q", c, c.age, have.value, have.unknown)
		}
	}
}

// An order is triggered by the mark price if it asks for that and it is known. A value beyond the bound counts as
// 10^15.
func TestWorkingPrice(t *testing.T) {
	t.Parallel()
	b := newTable(t, Limits{})
	for _, c := range []struct {
		kind exchange.WorkingType
		mark exchange.Price
		want exchange.Price
	}{{exchange.MarkPrice, 1, 1}, {exchange.MarkPrice, 0, 50_000e8}, {exchange.ContractPrice, 1, 50_000e8}, {exchange.NoWorkingType, 1, 50_000e8}} {
		see(b.state, func(o *seen) { o.Mark = c.mark })
		if have := triggerReference(&exchange.NewOrder{WorkingType: c.kind}, b.state); have != c.want {
			t.Errorf("%v, a mark of %d: want %d, have %d", c.kind, c.mark, c.want, have)
		}
	}
	amount, exact := notionalOf(b.state.Rules(), 9_000_000_000e8, 1_000_000_000_000)
	if amount.String() != "1000000000000000" || exact {
		t.Errorf("want the bound, and not exact, have %s, %t", amount, exact)
	}
}

// An exposure counts only the order's own market. An opening by amount counts the quantity that the amount buys at the last price, less the
// quantity already bought.
func TestExposureCountsOwnMarket(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		with func(b *table)
		want string // with an order of 5,000
	}{
		{"the order alone", func(*table) {}, "5000 USDT"},
		{"a position on futures too", func(b *table) {
			other := b.tracker.Track(bitcoin)
			see(other, func(o *seen) { o.Position, o.Last = 1_000, 50_000e8 })
		}, "5000 USDT"},
		{"and one without rules", func(b *table) {
			other := b.tracker.Track(exchange.SymbolKey{Market: exchange.Futures, Name: "XYZ-USDT"})
			see(other, func(o *seen) { o.Position = 1_000 })
		}, "5000 USDT"},
		{"a purchase for 2,500 USDT", func(b *table) { b.live("m", spotAmount("2500"), placement.Entry) }, "7500 USDT"},
		{"a half of it", func(b *table) {
			b.live("m", spotAmount("2500"), placement.Entry)
			b.tracker.Apply(&record.Record{ClientOrderID: "m", Body: record.Fill{OrderID: 5, Filled: 20, Price: exchange.AmountOf(50_000)}})
			see(b.state, func(o *seen) { o.Position = 20 })
		}, "7500 USDT"}, // the remainder, and the quantity already bought
		{"it bought more than that is now", func(b *table) {
			b.live("m", spotAmount("2500"), placement.Entry)
			b.tracker.Apply(&record.Record{ClientOrderID: "m", Body: record.Fill{OrderID: 5, Filled: 60, Price: exchange.AmountOf(40_000)}})
			see(b.state, func(o *seen) { o.Position = 60 })
		}, "8000 USDT"},
	} {
		b := spotTable(t)
		b.gate = NewGate(Limits{MaxGrossExposure: 10 * exchange.RateOne})
		c.with(b)
		intent := limit(50_000e8, 100)
		intent.Strategy, intent.Order.Market, intent.Order.Symbol = "one", exchange.Spot, "BTC-USDT"
		have := "no verdict"
		for _, v := range b.gate.Explain(&intent, &b.facts) {
			if v.Rule == MaxGrossExposure {
				have = v.Value
			}
		}
		if have != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
		}
	}
}

func spotAmount(amount string) exchange.NewOrder {
	return exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.MustAmount(amount)}
}

func TestAFigureIsWrittenForPeople(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		figure figure
		want   string
	}{
		{number(exchange.MustAmount("1234.5678"), usdt), "1234.57 USDT"},
		{number(exchange.MustAmount("-0.005"), usdt), "-0.01 USDT"},
		{number(exchange.MustAmount("0.004999999999999999"), usdt), "0 USDT"},
		{number(exchange.MustAmount("-0.0049"), usdt), "0 USDT"},
		{number(exchange.AmountOf(7), usdt), "7 USDT"},
		{number(exchange.MustAmount("119.999"), seconds), "119 s"},
		{money(exchange.MustAmount("332.45373333333333334")), "332.45373333333333334 USDT"},
		{number(exchange.MustAmount("1.020"), "BTC"), "1.02 BTC"},
		{countOf(3).prefixed("at least"), "at least 3"},
		{figure{}, ""},
		{word("unknown"), "unknown"},
	} {
		if have := c.figure.String(); have != c.want {
			t.Errorf("want %q, have %q", c.want, have)
		}
	}
}
