package configs_test

import (
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/configs"
	"botd/exchange"
	"botd/strategy"
)

type pairParams struct {
	Width decimal.Decimal `param:"width" default:"0.2%" help:"between a buy and a sell"`
}

// paired earns a width with each pair of orders.
type paired struct {
	idle
	width exchange.Rate
}

func (p paired) Economics() (strategy.Economics, bool) {
	return strategy.Economics{What: "a pair", Gross: p.width, Makers: 2}, p.width > 0
}

// TestParametersThatAlwaysLoseToFeesAreRefused is a part of finding 5.
func TestParametersThatAlwaysLoseToFeesAreRefused(t *testing.T) {
	t.Parallel()
	with := options(t)
	with.Registry = strategy.NewRegistry(strategy.Define("pairs", "Earns a width.", func(_ strategy.Setting, p pairParams) (strategy.Strategy, error) {
		width, err := exchange.RateFromDecimal(p.Width)
		return paired{width: width}, err
	}))
	for _, c := range []struct{ name, market, more, want string }{
		{"less than the fees", "spot", "params: {width: 0.08%}", "a pair earns 0.08% and costs 0.2% of fees: it never gains"},
		{"as much as the fees", "spot", "", "a pair earns 0.2% and costs 0.2% of fees: it never gains"},
		{"it is wanted", "spot", "accept_loss: true", ""},
		{"the fees of futures are lower", "futures", "", ""},
		{"more than the fees", "spot", "params: {width: 0.21%}", ""},
		{"the fees are as configured", "futures", "backtest: {fees: {maker: 0.1%, taker: 0.1%}}", "costs 0.2% of fees"},
		{"the parameters do not say", "spot", "params: {width: 0}", ""},
	} {
		file := "name: one\nstrategy: pairs\nmarket: " + c.market + "\nsymbol: ETH-USDT\ninterval: 1m\n" + c.more + "\n"
		config, problems := configs.Load(tree("botd.yaml", "mode: demo\n", "strategies/s.yaml", file), "configs", with)
		if have := problems.String(); (c.want == "") != (config != nil) || !strings.Contains(have, c.want) {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
}
