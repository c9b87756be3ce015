package configs_test

import (
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/configs"
	"botd/exchange"
	"botd/strategy"
	"botd/strategy/library"
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

func TestParametersThatAlwaysLoseToFeesAreRefused(t *testing.T) {
	t.Parallel()
	with := options(t)
	with.Registry = strategy.NewRegistry(
		strategy.Define("pairs", "Earns a width.", func(_ strategy.Setting, p pairParams) (strategy.Strategy, error) {
			width, err := exchange.RateFromDecimal(p.Width)
			return paired{width: width}, err
		}),
	)
	for _, c := range []struct{ name, market, more, want string }{
		{"less than the fees", "spot", "params: {width: 0.08%}", "a pair earns 0.08% and costs 0.2% in fees: it always loses"},
		{"as much as the fees", "spot", "", "a pair earns 0.2% and costs 0.2% in fees: it always loses"},
		{"it is wanted", "spot", "accept_loss: true", ""},
		{"the fees of futures are lower", "futures", "", ""},
		{"more than the fees", "spot", "params: {width: 0.21%}", ""},
		{"the fees are as configured", "futures", "backtest: {fees: {maker: 0.1%, taker: 0.1%}}", "costs 0.2% in fees"},
		{"the parameters do not say", "spot", "params: {width: 0}", ""},
	} {
		file := "name: one\nstrategy: pairs\nmarket: " + c.market + "\nsymbol: ETH-USDT\ninterval: 1m\n" + c.more + "\n"
		config, problems := configs.Load(tree("botd.yaml", "mode: demo\n", "strategies/s.yaml", file), "configs", with)
		if have := problems.String(); (c.want == "") != (config != nil) || !strings.Contains(have, c.want) {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
}

func TestSharesThatAddUpToMoreThanTheAccountAreAWarning(t *testing.T) {
	t.Parallel()
	with := options(t)
	with.Registry = strategy.NewRegistry(library.All()...)
	file := func(name, market, symbol, more string) string {
		return "name: " + name + "\nmarket: " + market + "\nsymbol: " + symbol + "\ninterval: 1h\n" + more + "\n"
	}
	rebalance := func(weight string) string { return "strategy: rebalance\nparams: {weight: " + weight + "}" }
	for _, c := range []struct{ name, one, two, want string }{
		{"two of 60 %", file("one", "spot", "BTC-USDT", rebalance("60%")), file("two", "spot", "ETH-USDT", rebalance("60%")),
			"the shares of the account on spot add up to 120%: one 60%, two 60%"},
		{"all of it", file("one", "spot", "BTC-USDT", rebalance("60%")), file("two", "spot", "ETH-USDT", rebalance("40%")), ""},
		{"other markets", file("one", "spot", "BTC-USDT", rebalance("60%")), file("two", "futures", "ETH-USDT", rebalance("60%")), ""},
		{"sizes on spot", file("one", "spot", "BTC-USDT", rebalance("60%")), file("two", "spot", "ETH-USDT", "strategy: rsi\nsize: {equity: 50%}"),
			"the shares of the account on spot add up to 110%: one 60%, two 50%"},
		{"sizes on futures have leverage", file("one", "futures", "BTC-USDT", "strategy: rsi\nsize: {equity: 100%}"),
			file("two", "futures", "ETH-USDT", "strategy: rsi\nsize: {equity: 100%}"), ""},
	} {
		config, problems := configs.Load(tree("botd.yaml", "mode: demo\n", "strategies/a.yaml", c.one, "strategies/b.yaml", c.two), "configs", with)
		if have := problems.String(); config == nil || (c.want == "") != (have == "") || !strings.Contains(have, c.want) {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
}

func TestASizeAtTheEntryIsChecked(t *testing.T) {
	t.Parallel()
	with := options(t)
	with.Registry = strategy.NewRegistry(library.All()...)
	for _, c := range []struct{ name, market, more, want string }{
		{"risk with a stop", "futures", "size: {risk: 1%}\nprotect: {stop_loss: 2%}", ""},
		{"risk without a stop", "futures", "size: {risk: 1%}", "size.risk needs protect.stop_loss"},
		{"volatility", "spot", "size: {volatility: 15%}", ""},
		{"kelly, a number", "futures", "size: {kelly: 0.25, max: 200%}\nleverage: 3", ""},
		{"two ways", "futures", "size: {kelly: 25%, volatility: 15%}", "size has both kelly and volatility"},
		{"a maximum alone", "futures", "size: {max: 50%}", "size.max is given without one of them"},
		{"a maximum beside a size", "futures", "size: {equity: 50%, max: 50%}", "size.max is given without one of them"},
		{"more than the leverage", "futures", "size: {volatility: 15%, max: 400%}\nleverage: 3", "size.max 400% exceeds leverage 3"},
		{"more than the account", "spot", "size: {volatility: 15%, max: 110%}", "size.max 110% is more than the account"},
	} {
		file := "name: one\nstrategy: rsi\nmarket: " + c.market + "\nsymbol: ETH-USDT\ninterval: 1h\n" + c.more + "\n"
		config, problems := configs.Load(tree("botd.yaml", "mode: demo\n", "strategies/s.yaml", file), "configs", with)
		if have := problems.String(); (c.want == "") != (config != nil && have == "") || !strings.Contains(have, c.want) {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
}

func TestStepsOfEntriesAndExitsAreChecked(t *testing.T) {
	t.Parallel()
	with := options(t)
	with.Registry = strategy.NewRegistry(library.All()...)
	for _, c := range []struct{ name, strategy, more, want string }{
		{"targets in R", "rsi", "protect: {stop_loss: 2%}\ntargets: [{at: 1R, close: 33%}, {at: 2.5r, close: 33%}]", ""},
		{"targets in shares", "rsi", "targets: [{at: 2%, close: 50%}, {close: 50%, at: 4%}]", ""},
		{"R without a stop", "rsi", "targets: [{at: 1R, close: 33%}]", "targets: R is the distance of protect.stop_loss, which is missing"},
		{"more than all", "rsi", "targets: [{at: 2%, close: 80%}, {at: 4%, close: 40%}]", "targets: the shares add up to 120%"},
		{"on the losing side", "rsi", "targets: [{at: -2%, close: 50%}]", "targets: -2% is on the losing side"},
		{"no sign", "rsi", "targets: [{at: 2, close: 50%}]", "\"2\" is not a distance"},
		{"no share", "rsi", "targets: [{at: 2%}]", "a step has no close"},
		{"no distance", "rsi", "targets: [{close: 20%}]", "a step has no at"},
		{"a word of the other list", "rsi", "targets: [{at: 2%, open: 20%}]", "\"open\" is neither at nor close"},
		{"no list", "rsi", "targets: {at: 2%, close: 20%}", "targets is a block of keys, not a list"},
		{"beside returns", "rsi", "protect: {returns: {1d: 2%}}\ntargets: [{at: 2%, close: 20%}]",
			"targets and protect.returns both define"},
		{"exits of its own", "grid", "params: {lower: 1000, upper: 2000, quantity: 0.1}\ntargets: [{at: 2%, close: 20%}]",
			"grid has its own exits"},
		{"parts", "rsi", "scale_in: [{open: 50%}, {at: -2%, open: 25%}, {at: 3%, open: 25%}]", ""},
		{"the first part at a distance", "rsi", "scale_in: [{at: 1%, open: 50%}]", "the first part is entered at once"},
		{"parts of a strategy in parts", "dca", "params: {amount: 50}\nscale_in: [{open: 50%}, {at: -2%, open: 50%}]",
			"dca scales in by itself"},
		{"reduce", "rsi", "on_insufficient: reduce", ""},
		{"refuse", "rsi", "on_insufficient: refuse", ""},
		{"a word that is not known", "rsi", "on_insufficient: shrink", "is not known"},
	} {
		file := "name: one\nstrategy: " + c.strategy + "\nmarket: futures\nsymbol: ETH-USDT\ninterval: 1h\n" + c.more + "\n"
		config, problems := configs.Load(tree("botd.yaml", "mode: demo\n", "strategies/s.yaml", file), "configs", with)
		if have := problems.String(); (c.want == "") != (config != nil && have == "") || !strings.Contains(have, c.want) {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
			continue
		}
		if c.want != "" {
			continue
		}
		again, problems := configs.Load(tree("botd.yaml", "mode: demo\n", "strategies/s.yaml", config.Strategies[0].Effective()), "configs", with)
		if again == nil || again.Strategies[0].Effective() != config.Strategies[0].Effective() {
			t.Errorf("%s: want the effective configuration read as it is written, have %s\n%s", c.name, problems, config.Strategies[0].Effective())
		}
	}
}
