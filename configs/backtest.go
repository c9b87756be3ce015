package configs

import "botd/exchange"

// BacktestConfig holds the defaults of botd backtest for a strategy.
type BacktestConfig struct {
	Cash         exchange.Amount
	Maker, Taker exchange.Rate
	Fill         string // next_open
	Slippage     exchange.Rate
	Impact       exchange.Rate // slippage times the order's share of the candle's volume
	VolumeCap    exchange.Rate // share of a candle's volume that orders fill; 0 for no limit
	LatencyMS    int64
	Path         string        // through a candle: worst, direction, low_first, high_first, best
	Resting      string        // when a resting order fills: through, touch
	Queue        exchange.Rate // share of a recorded trade at a resting order's price that reaches the order
	Funding      exchange.Rate // of each payment, where no rates are recorded
	RiskFree     exchange.Rate // annual interest, subtracted from the returns of ratios
}

// defaultBacktest returns the defaults, with the fees of docs/exchange.md.
func defaultBacktest(market exchange.Market) BacktestConfig {
	b := BacktestConfig{Cash: exchange.AmountOf(10_000), Maker: exchange.RateOne / 5000, Taker: exchange.RateOne / 2000, Fill: "next_open", Path: "worst",
		Resting: "through", Queue: exchange.RateOne / 2}
	if market == exchange.Spot {
		b.Maker, b.Taker = exchange.RateOne/1000, exchange.RateOne/1000
	}
	return b
}

func (b *BacktestConfig) keys() []key {
	part := func(name string, into *exchange.Rate, low, high exchange.Rate, what, example string) key {
		return key{name: name, zero: true, value: share(into, low, high).showing(func() string { return into.String() }),
			what: what, modes: "backtest", example: example}
	}
	const one = exchange.RateOne
	return []key{
		{name: "cash", value: amount(&b.Cash, exchange.MustAmount("0.01")),
			what: "the initial balance", unit: "USDT", modes: "backtest", example: "10000"},
		{name: "fees", keys: []key{
			part("maker", &b.Maker, -one/10, one/10, "maker fee, share of the order value; default on spot 0.001", "0.0002"),
			part("taker", &b.Taker, 0, one/10, "taker fee, share of the order value; default on spot 0.001", "0.0005"),
		}},
		{name: "fill", value: choice(&b.Fill, "next_open"), // no order can fill at a close, since it is decided on that close
			what: "when an order decided on a close fills: at the next open, never in its own candle", modes: "backtest", example: "next_open"},
		part("slippage", &b.Slippage, 0, one/2, "slippage of taker orders, share of the price", "0.0002"),
		part("slippage_volume", &b.Impact, 0, one, "additional slippage: this times the order's share of the candle's volume", "0.1"),
		part("volume_cap", &b.VolumeCap, 0, one, "maximum share of a candle's volume that fills; 0 is unlimited", "10%"),
		{name: "path", value: choice(&b.Path, "worst", "direction", "low_first", "high_first", "best"),
			what: "the order of low and high inside a candle", modes: "backtest", example: "worst"},
		{name: "resting", value: choice(&b.Resting, "through", "touch"),
			what: "when a resting order fills: once the price has traded a tick through it, or on a touch", modes: "backtest", example: "through"},
		part("queue", &b.Queue, 0, one, "over recorded trades, the share of a trade at a resting order's price that reaches it", "50%"),
		part("funding", &b.Funding, -one/100, one/100, "funding rate of each payment, where no rates are recorded", "0.01%"),
		{name: "latency", zero: true, value: duration(&b.LatencyMS, 0, hour),
			what: "time from placement until the order reaches the book", modes: "backtest", example: "500ms"},
		part("risk_free_annual", &b.RiskFree, 0, one, "annual risk-free rate, subtracted from the returns in Sharpe and Sortino", "4%"),
	}
}
