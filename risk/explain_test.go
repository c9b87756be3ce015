package risk

import (
	"testing"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/record"
)

// explained returns what Explain says of the rule, as a person reads it.
func (b *table) explained(intent reconcile.Intent, rule string) (all []Verdict) {
	intent.Strategy, intent.Order.Market, intent.Order.Symbol = "one", exchange.Futures, "BTC-USDT"
	for _, v := range b.gate.Explain(&intent, &b.facts) {
		if v.Rule == rule {
			all = append(all, v)
		}
	}
	return all
}

func TestExplainShowsTheStrategysOwnLimitsWithItsOwnFigures(t *testing.T) {
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
	b.ignore(1_000) // others hold 1.0 of the exchange's one position
	have := b.explained(entry(100), MaxPosition)
	if len(have) != 1 || have[0].Outcome != Passed || have[0].Value != "0.1 BTC" || have[0].Limit != "0.15 BTC" {
		t.Errorf("want 0.1 BTC of 0.15 BTC passed, have %+v", have)
	}
}

func TestExplainNeverSaysNoLimitOfAStrategysOwn(t *testing.T) {
	t.Parallel()
	b := newTable(t, Limits{})
	b.facts.Strategy = Limits{MaxOpenOrders: 3, MaxDailyLoss: Loss{USDT: exchange.AmountOf(100)},
		MaxDrawdown: Loss{USDT: exchange.AmountOf(200)}, MaxGrossExposure: exchange.RateOne}
	b.book.Apply(&record.Record{Strategy: "one", Body: record.Day{StartMS: 1, Equity: exchange.AmountOf(10_010), Peak: exchange.AmountOf(10_020)}})
	for rule, want := range map[string][2]string{
		MaxOpenOrders: {"1", "3"}, MaxDailyLoss: {"10 USDT", "100 USDT"}, MaxDrawdown: {"20 USDT", "200 USDT"}, MaxGrossExposure: {"5000 USDT", "10000 USDT"},
	} {
		have := b.explained(entry(100), rule)
		if len(have) != 1 || have[0].Outcome != Passed || have[0].Value != want[0] || have[0].Limit != want[1] {
			t.Errorf("%s: want %s of %s passed, have %+v", rule, want[0], want[1], have)
		}
	}
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
