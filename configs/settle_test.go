package configs_test

import (
	"testing"

	"botd/configs"
	"botd/exchange"
)

// The bounds are known if all three are configured; the date only shows their source.
func TestSettleDateAloneIsNotMeasured(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		settle configs.SettleConfig
		known  bool
		origin string
	}{
		{"nothing", configs.SettleConfig{}, false, "not measured"},
		{"a date", configs.SettleConfig{Measured: "2099-01-01"}, false, "not measured"},
		{"a date of the market", configs.SettleConfig{Futures: configs.MarketSettle{Measured: "2026-11-22"}}, false, "not measured"},
		{"bounds", configs.SettleConfig{Written: true}, true, "set in the configuration"},
		{"bounds with a date", configs.SettleConfig{Written: true, Measured: "2026-11-22"}, true, "measured on 2026-11-22"},
		{"bounds of the market", configs.SettleConfig{Measured: "2026-11-20", Futures: configs.MarketSettle{Written: true}}, true, "set in the configuration"},
		{"bounds of the other market", configs.SettleConfig{Spot: configs.MarketSettle{Written: true}}, false, "not measured"},
	} {
		if known, origin := c.settle.Known(exchange.Futures), c.settle.Origin(exchange.Futures); known != c.known || origin != c.origin {
			t.Errorf("%s: want %t, %q, have %t, %q", c.name, c.known, c.origin, known, origin)
		}
	}
}
