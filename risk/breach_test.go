package risk

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/record"
)

// The cases are the account and a strategy, a share and an amount, from the day's start and from the peak.
func TestLossBreachIsReturnedOnceAndEndsAtLimit(t *testing.T) {
	t.Parallel()
	const nowMS = 1_700_000_000_000
	for _, strategy := range []string{"", "one"} {
		for _, c := range []struct {
			rule   string
			limits Limits
			at     exchange.Amount // the equity at the limit, from 10,000 at the day's start and a peak of 12,000
		}{
			{MaxDailyLoss, Limits{MaxDailyLoss: Loss{Share: exchange.RateOne / 20}}, exchange.AmountOf(9_500)},
			{MaxDailyLoss, Limits{MaxDailyLoss: Loss{USDT: exchange.AmountOf(700)}}, exchange.AmountOf(9_300)},
			{MaxDrawdown, Limits{MaxDrawdown: Loss{Share: exchange.RateOne / 4}}, exchange.AmountOf(9_000)},
			{MaxDrawdown, Limits{MaxDrawdown: Loss{USDT: exchange.AmountOf(100)}}, exchange.AmountOf(11_900)},
		} {
			b := newTable(t, Limits{})
			b.tracker.Apply(&record.Record{Strategy: strategy, Body: record.Day{StartMS: 1, Equity: exchange.AmountOf(10_000),
				Peak: exchange.AmountOf(12_000)}})
			crossed := func(equity exchange.Amount) []CrossedLimit {
				return c.limits.Crossed(ByEquity, nowMS, b.tracker, strategy, equity)
			}
			holds := func(equity exchange.Amount) bool {
				return c.limits.Recovered(ByEquity, c.rule, nowMS, b.tracker, strategy, equity)
			}
			beyond := c.at.Sub(least)
			if all := crossed(c.at); len(all) != 0 || !holds(c.at) {
				t.Errorf("%s of %q at its limit: want it to hold, have %+v, holds %t", c.rule, strategy, all, holds(c.at))
			}
			all := crossed(beyond)
			if len(all) != 1 || all[0].Rule != c.rule || all[0].Reason == "" || holds(beyond) {
				t.Fatalf("%s of %q beyond it: want it crossed with its why, have %+v, holds %t", c.rule, strategy, all, holds(beyond))
			}
			end := int64(0)
			if c.rule == MaxDailyLoss {
				end = exchange.Day1.OpenOf(nowMS) + int64(exchange.Day1)
			}
			if all[0].UntilMS != end {
				t.Errorf("%s of %q: want it to end at %d, have %d", c.rule, strategy, end, all[0].UntilMS)
			}
			if c.limits.Recovered(ByResults, c.rule, nowMS, b.tracker, strategy, c.at) ||
				c.limits.Recovered(ByEquity, MaxLosingStreak, nowMS, b.tracker, strategy, c.at) {
				t.Errorf("%s of %q: want no report of other limits", c.rule, strategy)
			}
			b.tracker.Apply(&record.Record{Strategy: strategy, Body: record.Breach{Rule: c.rule, Reason: "lost"}})
			if all := crossed(beyond); len(all) != 0 {
				t.Errorf("%s of %q: want a breach in force returned no second time, have %+v", c.rule, strategy, all)
			}
		}
	}
}

// Limits are watched if their figures move between intents. A person can rearm a breach unless only time ends it.
func TestMovedLimitIsWatchedAtItsNewValue(t *testing.T) {
	t.Parallel()
	money := Loss{USDT: exchange.AmountOf(1)}
	for _, c := range []struct {
		limits              Limits
		byEquity, byResults bool
	}{
		{Limits{}, false, false}, {Limits{MaxOpenOrders: 5, MaxLeverage: 3, MaxDataAgeMS: 1_000, CoolDownMS: 5_000}, false, false},
		{Limits{MaxDailyLoss: money}, true, false}, {Limits{MaxDrawdown: money}, true, false}, {Limits{MaxLosingStreak: 2}, false, true},
		{Limits{MaxDrawdown: money, MaxLosingStreak: 2}, true, true},
	} {
		if have := c.limits.TriggeredBy(ByEquity); have != c.byEquity {
			t.Errorf("%+v: want watched by equity %t, have %t", c.limits, c.byEquity, have)
		}
		if have := c.limits.TriggeredBy(ByResults); have != c.byResults {
			t.Errorf("%+v: want watched by results %t, have %t", c.limits, c.byResults, have)
		}
		if have := c.limits.Watches(); have != (c.byEquity || c.byResults) {
			t.Errorf("%+v: want watched %t, have %t", c.limits, c.byEquity || c.byResults, have)
		}
	}
	for rule, want := range map[string]bool{MaxDailyLoss: false, MaxDrawdown: true, MaxLosingStreak: true, MaxOpenOrders: true, "no such limit": true} {
		if have := Rearms(rule); have != want {
			t.Errorf("%s: want it armed again by a person %t, have %t", rule, want, have)
		}
	}
}

// The cases are the smallest and the largest value that is accepted, and one step beyond each.
func TestValuesOfLimitsAtTheirBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule, value, want string // want is the value as it is formatted; empty for refused
	}{
		{MaxLeverage, "1", "1"}, {MaxLeverage, "0", ""}, {MaxOpenOrders, "1", "1"}, {MaxOpenOrders, "-1", ""}, {MaxOrdersPerMinute, "0", ""},
		{MaxLosingStreak, "1", "1"}, {MaxLosingStreak, "0", ""},
		{MaxDataAge, "1s", "1s"}, {MaxDataAge, "999ms", ""}, {MaxDataAge, "3d", "3d"}, {MaxDataAge, "26h", "26h"},
		{MaxGrossExposure, "0.00000001", "0.00000001"}, {MaxGrossExposure, "0", ""}, {PriceCollar, "0.000001%", "0.000001%"}, {PriceCollar, "0%", ""},
		{MaxDailyLoss, "100%", "100%"}, {MaxDailyLoss, "100.000001%", ""}, {MaxDailyLoss, "0.000001%", "0.000001%"}, {MaxDailyLoss, "0%", ""},
		{MaxDrawdown, "0.01 USDT", "0.01 USDT"}, {MaxDrawdown, "0 USDT", ""}, {MaxPosition, "0.001", "0.001"}, {MaxPosition, "0", ""}, {MaxPosition, "-1", ""},
		{MaxLeverage, "1000", "1000"}, {MaxLeverage, "1001", ""}, {MaxOpenOrders, "100000", "100000"}, {MaxOpenOrders, "100001", ""},
		{MaxOrdersPerMinute, "100000", "100000"}, {MaxOrdersPerMinute, "100001", ""}, {MaxLosingStreak, "1000", "1000"}, {MaxLosingStreak, "1001", ""},
		{MaxDataAge, "7d", "7d"}, {MaxDataAge, "604800001ms", ""}, {PriceCollar, "100%", "100%"}, {PriceCollar, "100.000001%", ""},
		{MaxGrossExposure, "1000", "1000"}, {MaxGrossExposure, "1000.00000001", ""}, {MaxSymbolExposure, "1000", "1000"}, {MaxSymbolExposure, "1001", ""},
	} {
		var limits Limits
		err := limits.Tighten("one", c.rule, c.value)
		if have := limits.Text(c.rule); have != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s %s: want %q, have %q, %v", c.rule, c.value, c.want, have, err)
		}
	}
}

// Only limits that the trigger moves count, at any change of their value: also to another unit, and when a
// limit is set or withdrawn.
func TestChanged(t *testing.T) {
	t.Parallel()
	streak, share, money := Limits{MaxLosingStreak: 3}, Limits{MaxDailyLoss: Loss{Share: 1}}, Limits{MaxDailyLoss: Loss{USDT: exchange.AmountOf(1)}}
	cooling := streak
	cooling.CoolDownMS = 1_000
	for i, c := range []struct {
		by            Trigger
		before, after Limits
		want          bool
	}{
		{ByResults, streak, streak, false}, {ByResults, Limits{}, streak, true}, {ByResults, streak, Limits{}, true},
		{ByResults, streak, Limits{MaxLosingStreak: 2}, true}, {ByResults, streak, cooling, false}, {ByResults, share, money, false},
		{ByEquity, share, money, true}, {ByEquity, Limits{}, share, true}, {ByEquity, streak, Limits{}, false}, {ByEquity, share, share, false},
	} {
		if have := c.after.Changed(c.by, &c.before); have != c.want {
			t.Errorf("case %d: want %t, have %t", i, c.want, have)
		}
	}
}

// A loss is a share or an amount of money. A rejection has a hint where one is useful.
func TestLossIsAShareOrMoney(t *testing.T) {
	t.Parallel()
	const none = "remove the line for no limit of its own"
	for _, c := range []struct{ text, want, problem, hint string }{
		{"5%", "5%", "", ""}, {"0.05", "5%", "", ""}, {"100%", "100%", "", ""}, {"500 USDT", "500 USDT", "", ""}, {" 500USDT ", "500 USDT", "", ""},
		{"0 USDT", "", " 0 USDT is not above zero", none}, {"-5 USDT", "", " -5 USDT is not above zero", none},
		{"101", "", " 101 is above 100%", "did you mean 101 USDT?"}, {"100", "", " 100 is above 100%", "did you mean 100%?"},
		{"what USDT", "", `: "what" is not a number`, "write a share, 5%, or money, 500 USDT"}, {"0%", "", " 0% is not above zero", ""},
		{"0.0000000000000000001 USDT", "", " 0.0000000000000000001 USDT has more than 18 decimal places or is too large", ""},
	} {
		limits := Limits{MaxDrawdown: Loss{Share: 1}}
		problem, hint := LimitNamed(MaxDrawdown).Parse(&limits, c.text)
		switch {
		case problem != c.problem || hint != c.hint:
			t.Errorf("%q: want %q, %q, have %q, %q", c.text, c.problem, c.hint, problem, hint)
		case problem == "" && limits.Text(MaxDrawdown) != c.want:
			t.Errorf("%q: want %s, have %s", c.text, c.want, limits.Text(MaxDrawdown))
		case problem != "" && limits.MaxDrawdown != (Loss{Share: 1}):
			t.Errorf("%q: want nothing changed, have %s", c.text, limits.Text(MaxDrawdown))
		}
	}
}
