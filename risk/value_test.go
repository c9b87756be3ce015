package risk_test

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/risk"
)

func TestALimitIsSetTighterAndNeverLooser(t *testing.T) {
	t.Parallel()
	has := risk.Limits{MaxLeverage: 20, MaxGrossExposure: 10 * exchange.RateOne, MaxDailyLoss: risk.Loss{Share: exchange.RateOne / 20},
		MaxDrawdown:   risk.Loss{USDT: exchange.AmountOf(500)},
		MaxOpenOrders: 200, MaxOrdersPerMinute: 300, PriceCollar: exchange.RateOne / 20, MaxDataAgeMS: 120_000, MaxPosition: exchange.MustAmount("0.1")}
	for _, c := range []struct{ rule, value, want string }{ // want: the limit afterwards, or the error's text
		{risk.MaxLeverage, "5", "5"}, {risk.MaxLeverage, "20", "not tighter than 20"}, {risk.MaxLeverage, "21", "not tighter than 20"},
		{risk.MaxLeverage, "0", "max_leverage 0 is not between 1 and 1000"},
		{risk.MaxLeverage, "x", `max_leverage: "x" is not a number; write a whole number from 1 to 1000`},
		{risk.MaxGrossExposure, "0.5", "0.5"}, {risk.MaxGrossExposure, "11", "not tighter than 10"}, {risk.MaxGrossExposure, "-1", "above zero"},
		{risk.MaxSymbolExposure, "2", "2"}, {risk.MaxLosingStreak, "3", "3"},
		{risk.MaxDailyLoss, "2%", "2%"}, {risk.MaxDailyLoss, "0.02", "2%"}, {risk.MaxDailyLoss, "5%", "not tighter than 5%"},
		{risk.MaxDailyLoss, "100 USDT", "use the same unit"}, {risk.MaxDailyLoss, "200%", "above 100%"},
		{risk.MaxDrawdown, "100 USDT", "100 USDT"}, {risk.MaxDrawdown, "600USDT", "not tighter than 500 USDT"},
		{risk.MaxDrawdown, "1%", "use the same unit"}, {risk.MaxDrawdown, "-5 USDT", "above zero"},
		{risk.MaxOpenOrders, "10", "10"}, {risk.MaxOrdersPerMinute, "10", "10"}, {risk.PriceCollar, "1%", "1%"}, {risk.PriceCollar, "6%",
			"not tighter than 5%"},
		{risk.MaxDataAge, "30s", "30s"}, {risk.MaxDataAge, "3m", "not tighter than 2m"}, {risk.MaxDataAge, "1", "did you mean 1s?"},
		{risk.MaxPosition, "0.05", "0.05"}, {risk.MaxPosition, "0.2", "not tighter than 0.1"},
		{"cool_down", "1h", "unknown limit"}, {"max_fun", "1", "unknown limit"},
	} {
		limits := has
		err := limits.Tighten("one", c.rule, c.value)
		switch {
		case err == nil && limits.Text(c.rule) != c.want:
			t.Errorf("%s %s: want %q, have %q", c.rule, c.value, c.want, limits.Text(c.rule))
		case err != nil && (limits != has || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s %s: want nothing changed because %q, have %v", c.rule, c.value, c.want, err)
		}
	}
	limits := risk.Limits{}
	if err := limits.Tighten("", risk.MaxLosingStreak, "2"); err != nil || limits.CoolDownMS == 0 {
		t.Errorf("a streak's limit has a cool-down: have %d ms, %v", limits.CoolDownMS, err)
	}
	for text, want := range map[string]string{"6d": "6d", "1w": "7d", "1d12h": "36h", "1h30m": "90m", "1500ms": "1500ms", "24h": "1d"} {
		age := risk.Limits{}
		if err := age.Tighten("", risk.MaxDataAge, text); err != nil || age.Text(risk.MaxDataAge) != want {
			t.Errorf("%s: want %s, have %s, %v", text, want, age.Text(risk.MaxDataAge), err)
		}
	}
	if err := limits.Tighten("", risk.MaxPosition, "1"); err == nil || !strings.Contains(err.Error(), "belongs to a strategy") {
		t.Errorf("max_position of the account: want it refused, have %v", err)
	}
}

// The bound is a twentieth, or the tightest of the limits.
func TestExitCollar(t *testing.T) {
	t.Parallel()
	const one = exchange.RateOne
	for _, c := range []struct{ account, own, want exchange.Rate }{
		{0, 0, one / 20}, {one / 100, 0, one / 100}, {0, one / 100, one / 100}, {one / 50, one / 100, one / 100}, {one / 10, one / 5, one / 20},
	} {
		if have := risk.ExitCollar(&risk.Limits{PriceCollar: c.account}, &risk.Limits{PriceCollar: c.own}); have != c.want {
			t.Errorf("%+v: have %s", c, have)
		}
	}
}

// A setting has its usual value only where its limit is set, and a configured value takes precedence.
func TestCompleteSetsUsualValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ streak, coolDown, want string }{{"", "", ""}, {"3", "", "1h"}, {"3", "2h", "2h"}} {
		limits := risk.Limits{}
		if c.streak != "" {
			limits.MaxLosingStreak = 3
		}
		if c.coolDown != "" {
			limits.CoolDownMS = 7_200_000
		}
		if limits.Complete(); limits.Text(risk.CoolDown) != c.want {
			t.Errorf("%+v: have %q", c, limits.Text(risk.CoolDown))
		}
	}
}
