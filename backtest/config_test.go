package backtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/runtime/engine"
	"botd/strategy"
)

// sound is a valid configuration with a leg of five-minute candles.
func sound() *Config {
	symbol, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, "BTC-USDT")
	return &Config{Cash: exchange.AmountOf(1), Legs: []Leg{{Strategy: engine.StrategyConfig{Name: "trend", Interval: exchange.Minute5},
		Tape: &tape.Tape{Symbol: symbol, Candles: barsAt(exchange.Minute5, 0, 1, 2)}}}}
}

// Each value is accepted at its bounds, and refused beyond them.
func TestTheBoundsOfAConfiguration(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want   string // empty: it is accepted
		change func(c *Config)
	}{
		{"", func(*Config) {}},
		{"cash 0: ", func(c *Config) { c.Cash = exchange.Amount{} }},
		{"needs a strategy", func(c *Config) { c.Legs = nil }},
		{"slippage -", func(c *Config) { c.Costs.Slippage = -1 }},
		{"", func(c *Config) { c.Costs.Slippage = exchange.RateOne / 2 }},
		{"slippage 0.50000001 is outside 0..0.5", func(c *Config) { c.Costs.Slippage = exchange.RateOne/2 + 1 }},
		{"slippage by volume -", func(c *Config) { c.Costs.Impact = -1 }},
		{"", func(c *Config) { c.Costs.Impact = exchange.RateOne }},
		{"slippage by volume 1.00000001 is outside 0..1", func(c *Config) { c.Costs.Impact = exchange.RateOne + 1 }},
		{"volume cap -", func(c *Config) { c.Costs.VolumeCap = -1 }},
		{"", func(c *Config) { c.Costs.VolumeCap = exchange.RateOne }},
		{"volume cap 1.00000001 is outside 0..1", func(c *Config) { c.Costs.VolumeCap = exchange.RateOne + 1 }},
		{"holds no candles", func(c *Config) { c.Legs[0].Tape.Candles = &exchange.Candles{Interval: exchange.Minute5} }},
		{"the candles are of 5m, the strategy decides on 15m", func(c *Config) { c.Legs[0].Strategy.Interval = exchange.Minute15 }},
		{"", func(c *Config) { c.detail(exchange.Minute1, 0) }},
		{"places, the candles'", func(c *Config) {
			c.detail(exchange.Minute1, 0)
			fine := *c.Legs[0].Tape.Symbol
			fine.PriceScale++
			c.Legs[0].Detail.Symbol = &fine
		}},
		{"a detail of 1m does not divide", func(c *Config) { c.detail(exchange.Minute1) }},
		{"a detail of 5m does not divide", func(c *Config) { c.detail(exchange.Minute5, 0) }},
		{"a detail of 15m does not divide", func(c *Config) { c.detail(exchange.Minute15, 0) }},
		{"a detail of 120000ms does not divide", func(c *Config) { c.detail(2*exchange.Minute1, 0) }},
	} {
		config := sound()
		c.change(config)
		if err := config.check(); (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q, have %v", c.want, err)
		}
	}
}

func (c *Config) detail(interval exchange.Interval, at ...int64) {
	c.Legs[0].Detail = &tape.Tape{Symbol: c.Legs[0].Tape.Symbol, Candles: barsAt(interval, at...)}
}

// The time is its latency, or, if it can wait for a price, the longest gap between two prices.
func TestMaximumUnseenTimeOfOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what   string
		want   int64
		change func(c *Config)
	}{
		{"at once", 0, func(*Config) {}},
		{"a latency", 250 + 5*minute, func(c *Config) { c.Costs.LatencyMS = 250 }},
		{"a latency and a delay", 1_250 + 5*minute, func(c *Config) { c.Costs.LatencyMS, c.Costs.LaterMS = 250, 1_000 }},
		{"in parts", 5 * minute, func(c *Config) { c.Costs.VolumeCap = 1 }},
		{"a hole", 20 * minute, func(c *Config) { c.Costs.VolumeCap, c.Legs[0].Tape.Candles = 1, barsAt(exchange.Minute5, 0, 1, 5, 6) }},
		{"two legs", 15 * minute, func(c *Config) {
			c.Legs = append(c.Legs, Leg{Tape: &tape.Tape{Candles: barsAt(exchange.Minute15, 0, 1)}})
		}},
		{"trades", 7 * minute, func(c *Config) {
			c.Legs[0].Trades = &exchange.Trades{TimeMS: []int64{0, minute, 8 * minute, 9 * minute}}
		}},
		{"trades without a gap", 5 * minute, func(c *Config) { c.Legs[0].Trades = &exchange.Trades{TimeMS: []int64{0, minute}} }},
	} {
		config := sound()
		c.change(config)
		if have := config.bounds(); have.WindowMS != c.want {
			t.Errorf("%s: want %d ms, have %d", c.what, c.want, have.WindowMS)
		}
	}
}

// The columns and the study derive their markets from a configuration's costs.
func TestTheOtherMarkets(t *testing.T) {
	t.Parallel()
	given := Costs{Futures: Fees{Maker: -10, Taker: 40}, Spot: Fees{Maker: 90, Taker: 80}, FeeFromQuote: true, Slippage: 30_000, Impact: 7, VolumeCap: 500,
		LatencyMS: 600, Queue: 3, Path: sim.ByDirection, Funding: 5}
	if have, want := given.ideal(), (Costs{FeeFromQuote: true, Path: sim.Best, Queue: exchange.RateOne}); have != want {
		t.Errorf("ideal: want %+v, have %+v", want, have)
	}
	want := given
	want.Futures.Maker, want.Slippage, want.Impact, want.VolumeCap, want.LatencyMS = 40, 60_000, 14, 250, 1_200
	want.Path, want.Through, want.Queue = sim.Worst, true, 0
	if have := given.pessimistic(); have != want {
		t.Errorf("pessimistic: want %+v, have %+v", want, have)
	}
	want.Futures, want.Spot, want.FeeFromQuote, want.Slippage, want.Impact, want.LatencyMS, want.Funding = Fees{}, Fees{}, false, 50_000, 0, 1_000, 0
	want.VolumeCap = exchange.RateOne / 10
	if have := (Costs{}).pessimistic(); have != want {
		t.Errorf("pessimistic, of nothing: want %+v, have %+v", want, have)
	}
	config := sound()
	config.Costs = given
	config.Legs = append(config.Legs, Leg{Tape: &tape.Tape{Candles: barsAt(exchange.Minute15, 0)}})
	variants := config.variants()
	fees, slower, later := given, given, given
	fees.Futures, fees.Spot = Fees{Maker: -10, Taker: 80}, Fees{Maker: 180, Taker: 160}
	slower.Slippage, slower.Impact, later.LaterMS = 60_000, 14, 15*minute
	for i, want := range []variant{{"fees twice", Config{Costs: fees}},
		{"slippage 0.06 %", Config{Costs: slower}}, {"one candle later", Config{Costs: later}}} {
		if variants[i].name != want.name || variants[i].config.Costs != want.config.Costs {
			t.Errorf("want %s: %+v, have %s: %+v", want.name, want.config.Costs, variants[i].name, variants[i].config.Costs)
		}
	}
	config.Costs.Slippage = 0
	if have := config.variants()[1]; have.name != "slippage 0.05 %" || have.config.Costs.Slippage != 50_000 {
		t.Errorf("have %s", have.name)
	}
}

// At least one candle is on either side.
func TestASplitIsAtAShareOfTheCandles(t *testing.T) {
	t.Parallel()
	config := sound()
	config.Legs[0].Tape.Candles = barsAt(exchange.Minute5, 10, 11, 12, 14)
	for share, want := range map[exchange.Rate]string{0: "0 <nil>", exchange.RateOne / 4: fmt.Sprint(55*minute, " <nil>"),
		exchange.RateOne / 2: fmt.Sprint(60*minute, " <nil>"),
		exchange.RateOne - 1: fmt.Sprint(70*minute, " <nil>"), exchange.RateOne/4 - 1: "0 a split", exchange.RateOne: "0 a split"} {
		at, err := config.SplitAt(share)
		if have := fmt.Sprint(at, " ", err); !strings.HasPrefix(have, want) {
			t.Errorf("%s of four candles: want %s, have %s", share, want, have)
		}
	}
}

// A strategy that cannot be made ends a run before its first candle, with the strategy's name.
func TestAStrategyThatCannotBeMadeEndsTheRun(t *testing.T) {
	t.Parallel()
	wrong := errors.New("period 0 is below 1")
	config := sound()
	config.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) { return nil, wrong }
	for name, run := range map[string]func(context.Context, Config) (*Result, error){"one run": Run, "columns": RunColumns} {
		if r, err := run(t.Context(), *config); r != nil || !errors.Is(err, wrong) || err.Error() != "strategy trend: period 0 is below 1" {
			t.Errorf("%s: want the strategy's fault, have %v, %v", name, r, err)
		}
	}
	config.Cash = exchange.Amount{}
	if r, err := Run(t.Context(), *config); r != nil || err == nil || errors.Is(err, wrong) {
		t.Errorf("want the configuration's fault first, have %v, %v", r, err)
	}
}

// The engine reserves the fee of a market order where it is paid from the same balance: spot's as soon as a leg trades there.
func TestTheReservedFeeIsThatOfSpotWhereALegTradesThere(t *testing.T) {
	t.Parallel()
	spot, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Spot, "BTC-USDT")
	for want, markets := range map[exchange.Rate][]exchange.Market{
		40: {exchange.Futures}, 80: {exchange.Spot}, 81: {exchange.Futures, exchange.Spot}, 82: {exchange.Spot, exchange.Futures},
	} {
		config := sound()
		config.Costs = Costs{Futures: Fees{Maker: 10, Taker: 40}, Spot: Fees{Maker: 20, Taker: max(want, 80)}, FeeFromQuote: true}
		futures := config.Legs[0]
		config.Legs = nil
		for _, market := range markets {
			leg := futures
			if market == exchange.Spot {
				leg.Tape = &tape.Tape{Symbol: spot, Candles: futures.Tape.Candles}
			}
			config.Legs = append(config.Legs, leg)
		}
		machine := (&run{config: config}).machineConfig()
		if machine.TakerFee != want || !machine.QuoteFees || len(machine.Strategies) != len(markets) {
			t.Errorf("%v: want %s reserved, have %s of %d strategies", markets, want, machine.TakerFee, len(machine.Strategies))
		}
		for i, s := range machine.Strategies {
			if s.Symbol != config.Legs[i].Tape.Symbol {
				t.Errorf("want the tape's symbol, have %s", s.Symbol.Name)
			}
		}
	}
}
