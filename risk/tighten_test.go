package risk_test

import (
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/risk"
)

func TestALimitIsSetTighterAndNeverLooser(t *testing.T) {
	t.Parallel()
	symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Futures, Name: "BTC-USDT", Base: "BTC", Quote: "USDT", PriceTick: decimal.RequireFromString("0.1"),
		QuantityTick: decimal.RequireFromString("0.001"), MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true})
	if err != nil {
		t.Fatal(err)
	}
	tenth, err := symbol.Quantity(decimal.RequireFromString("0.1"))
	if err != nil {
		t.Fatal(err)
	}
	has := risk.Limits{MaxLeverage: 20, MaxGrossExposure: 10 * exchange.RateOne, MaxDailyLoss: risk.Loss{Share: exchange.RateOne / 20}, MaxDrawdown: risk.Loss{USDT: exchange.AmountOf(500)},
		MaxOpenOrders: 200, MaxOrdersPerMinute: 300, PriceCollar: exchange.RateOne / 20, MaxDataAgeMS: 120_000, MaxPosition: tenth}
	for _, c := range []struct{ rule, value, want string }{ // want: the limit afterwards, or what the error says
		{risk.MaxLeverage, "5", "5"}, {risk.MaxLeverage, "20", "not tighter than 20"}, {risk.MaxLeverage, "21", "not tighter than 20"}, {risk.MaxLeverage, "0", "from 1 on"}, {risk.MaxLeverage, "x", "from 1 on"},
		{risk.MaxGrossExposure, "0.5", "0.5"}, {risk.MaxGrossExposure, "11", "not tighter than 10"}, {risk.MaxGrossExposure, "-1", "above zero"},
		{risk.MaxSymbolExposure, "2", "2"}, {risk.MaxLosingStreak, "3", "3"},
		{risk.MaxDailyLoss, "2%", "2%"}, {risk.MaxDailyLoss, "0.02", "2%"}, {risk.MaxDailyLoss, "5%", "not tighter than 5%"}, {risk.MaxDailyLoss, "100 USDT", "in the same way"}, {risk.MaxDailyLoss, "200%", "up to 100%"},
		{risk.MaxDrawdown, "100 USDT", "100 USDT"}, {risk.MaxDrawdown, "600USDT", "not tighter than 500 USDT"}, {risk.MaxDrawdown, "1%", "in the same way"}, {risk.MaxDrawdown, "-5 USDT", "above zero"},
		{risk.MaxOpenOrders, "10", "10"}, {risk.MaxOrdersPerMinute, "10", "10"}, {risk.PriceCollar, "1%", "1%"}, {risk.PriceCollar, "6%", "not tighter than 5%"},
		{risk.MaxDataAge, "30s", "30s"}, {risk.MaxDataAge, "3m", "not tighter than 2m0s"}, {risk.MaxDataAge, "1", "a second or more"},
		{risk.MaxPosition, "0.05", "0.05"}, {risk.MaxPosition, "0.2", "not tighter than 0.1"}, {"cool_down", "1h", "no such limit"}, {"max_fun", "1", "no such limit"},
	} {
		limits := has
		err := limits.Tighten(c.rule, c.value, symbol)
		switch {
		case err == nil && limits.Text(c.rule, symbol) != c.want:
			t.Errorf("%s %s: want %q, have %q", c.rule, c.value, c.want, limits.Text(c.rule, symbol))
		case err != nil && (limits != has || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s %s: want nothing changed because %q, have %v", c.rule, c.value, c.want, err)
		}
	}
	limits := risk.Limits{}
	if err := limits.Tighten(risk.MaxLosingStreak, "2", nil); err != nil || limits.CoolDownMS == 0 {
		t.Errorf("a streak's limit has a cool-down: have %d ms, %v", limits.CoolDownMS, err)
	}
	if err := limits.Tighten(risk.MaxPosition, "1", nil); err == nil || !strings.Contains(err.Error(), "a strategy's") {
		t.Errorf("max_position of the account: want it refused, have %v", err)
	}
}
