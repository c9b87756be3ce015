package backtest_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/reconcile/record"
	"botd/risk"
	"botd/runtime/engine"
	"botd/strategy"
	"botd/strategy/library"
	"botd/strategy/overlay"
	"botd/strategy/script"
)

// The harness runs each strategy of the library on each market under each condition, through engine, rules,
// simulated exchange and fees.

// candidate is a strategy with parameters with which it trades often on the candles below.
type candidate struct {
	kind   string
	values strategy.Values
	size   bool // it has a size
	quiet  bool // it trades only by external input, or by another symbol
}

const crossingScript = `
quick, steady = ema(close, 3), ema(close, 9)
def decide(view):
    bought = [e for e in view.events if e.kind == "filled"]
    if cross_above(quick, steady):
        return hold("long", reason = "%d fills" % len(bought))
    if cross_below(quick, steady):
        return hold("flat")
`

func candidates() []candidate {
	return []candidate{
		{"avellaneda", strategy.Values{"quantity": "0.02", "max_position": "0.1", "refresh": "1m", "filled_delay": "0s"}, false, false},
		{"avellaneda", strategy.Values{"quantity": "0.02", "max_position": "0.1", "refresh": "1m", "model": "glft", "target": "0.04",
			"hanging": "1%"}, false, false},
		{"bollinger", strategy.Values{"period": "10", "deviations": "1.2"}, true, false},
		{"buy_and_hold", nil, true, false},
		{"dca", strategy.Values{"amount": "500", "every": "10m", "fall": "0.3%", "step_scale": "1.2", "take_profit": "0.5%"}, false, false},
		{"donchian", strategy.Values{"entry": "6", "exit": "3"}, true, false},
		{"ema_cross", strategy.Values{"fast": "3", "slow": "9"}, true, false},
		{"grid", strategy.Values{"lower": "48500", "upper": "51500", "lines": "21", "quantity": "0.02"}, false, false},
		{"grid", strategy.Values{"lower": "48500", "upper": "51500", "lines": "21", "quote": "1000", "spacing": "geometric", "initial": "true",
			"reinvest": "50%", "stop": "40000", "target": "60000", "restart": "true"}, false, false},
		{"macd", strategy.Values{"fast": "3", "slow": "9", "signal": "3"}, true, false},
		{"market_making", strategy.Values{"quantity": "0.02", "max_position": "0.1", "refresh": "1m", "filled_delay": "0s"}, false, false},
		{"rebalance", strategy.Values{"weight": "50%", "band": "0.1%"}, false, false},
		{"rsi", strategy.Values{"period": "4"}, true, false},
		{"rules", strategy.Values{"entry_long": "close > sma(close, 5)", "exit_long": "close < sma(close, 5)"}, true, false},
		{"script", nil, true, false},
		{"signal", nil, true, true},
		{"sma_cross", strategy.Values{"fast": "3", "slow": "9"}, true, false},
		{"supertrend", strategy.Values{"period": "5", "multiplier": "1"}, true, false},
		{"twap", strategy.Values{"quantity": "0.2", "slices": "20", "every": "2m"}, false, false},
		{"twap", strategy.Values{"quantity": "0.2", "slices": "20", "every": "2m", "jitter": "50%", "price_bound": "50500"}, false, false},
		{"turtle", strategy.Values{"entry": "6", "exit": "3", "failsafe": "0", "period": "5", "max_notional": "50%"}, false, false},
		{"zscore", strategy.Values{"period": "10", "enter": "1.2"}, true, false},
	}
}

// condition is a run's circumstances.
type condition struct {
	name    string
	cash    int64
	minimum string // notional
	trades  bool   // each strategy must trade
	stops   bool
	parts   bool // in parts, of a size that the money does not cover
	change  func(c *backtest.Config, candles *exchange.Candles)
	meets   []meeting // what happens once that many candles have closed
}

// meeting is an event during a run: a halt of that level, or, without one, a restart.
type meeting struct {
	at    int
	event engine.Event
}

// These are the candles between which a pause lasts.
const pauseFrom, pauseTo = 20, 60

func conditions() []condition {
	protect := func(stop exchange.Rate) func(c *backtest.Config, _ *exchange.Candles) {
		return func(c *backtest.Config, _ *exchange.Candles) {
			c.Legs[0].Strategy.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: stop}}
		}
	}
	return []condition{
		{"enough money", 100_000, "5", true, false, false, nil, nil},
		{"too little money", 20, "5", false, false, false, nil, nil},
		{"in parts, of more than the money", 100_000, "5", true, false, true, nil, nil},
		{"an order that a rule refuses", 100_000, "5", false, false, false, func(c *backtest.Config, _ *exchange.Candles) {
			c.Legs[0].Strategy.Limits = risk.Limits{MaxPosition: exchange.MustAmount("0.015")}
		}, nil},
		{"part fills", 100_000, "5", true, false, false, func(c *backtest.Config, candles *exchange.Candles) {
			c.Costs.VolumeCap = exchange.RateOne / 100
			for i := range candles.Volume {
				candles.Volume[i] = 60 // an entry takes two candles
			}
		}, nil},
		{"a stop in the candle of the entry", 100_000, "5", true, true, false, protect(exchange.RateOne / 2_000), nil},
		{"a gap in time and price", 100_000, "5", true, false, false, func(_ *backtest.Config, candles *exchange.Candles) {
			for i := candles.Len() / 2; i < candles.Len(); i++ {
				candles.OpenMS[i] += 600 * int64(candles.Interval)
				for _, column := range [][]exchange.Price{candles.Open, candles.High, candles.Low, candles.Close} {
					column[i] -= column[i] / 10 / 1e7 * 1e7
				}
			}
		}, nil},
		{"a large minimum of the exchange", 100_000, "2000", false, false, false, nil, nil},
		{"a limit of the account that ends entries", 100_000, "5", false, false, false, func(c *backtest.Config, _ *exchange.Candles) {
			c.Limits = risk.Limits{MaxOrdersPerMinute: 1, MaxOpenOrders: 2}
		}, nil},
		{"a pause", 100_000, "5", true, false, false, nil, []meeting{
			{pauseFrom, &engine.EventHalt{Level: record.LevelPause, Reason: "a pause"}}, {pauseTo, &engine.EventHalt{Level: record.LevelNone}}}},
		{"restarts", 100_000, "5", true, false, false, nil, []meeting{{37, nil}, {38, nil}, {201, nil}}},
	}
}

func TestEveryStrategyTradesOrReportsWhyNot(t *testing.T) {
	t.Parallel()
	for _, definition := range library.All() {
		if definition.Name == "funding_carry" {
			continue // it trades two symbols
		}
		if !slices.ContainsFunc(candidates(), func(c candidate) bool { return c.kind == definition.Name }) {
			t.Errorf("strategy %s is not in the harness", definition.Name)
		}
	}
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		for _, c := range candidates() {
			for _, met := range conditions() {
				t.Run(market.String()+"/"+c.kind+"/"+strings.ReplaceAll(met.name, " ", "_"), func(t *testing.T) {
					t.Parallel()
					harness(t, market, &c, &met)
				})
			}
		}
	}
}

// TestALatencyDoesNotStopAStrategy runs each strategy with and without a latency of a second, with which
// every fill has another price and, on spot, another quantity. It keeps trading.
func TestALatencyDoesNotStopAStrategy(t *testing.T) {
	t.Parallel()
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		for _, c := range candidates() {
			t.Run(market.String()+"/"+c.kind, func(t *testing.T) {
				t.Parallel()
				fills := [2]int{}
				for i, latencyMS := range []int64{0, 1_000} {
					s := symbol(t, market, "0.1", "0.00001") // fine steps: an amount buys less after a rise
					config := cellConfig(t, market, &c, s, wave(s, midnight, 1_000))
					config.Costs.LatencyMS = latencyMS
					fills[i] = mustRun(t, config).Fills
				}
				if !c.quiet && (fills[0] == 0 || fills[1] < fills[0]*2/3) {
					t.Errorf("want about the %d fills without a latency, have %d", fills[0], fills[1])
				}
			})
		}
	}
}

// cellConfig is a run of a candidate with enough money.
func cellConfig(t *testing.T, market exchange.Market, c *candidate, s *exchange.Symbol, candles *exchange.Candles) backtest.Config {
	t.Helper()
	setting := strategy.Setting{Market: market, Symbol: s, Interval: exchange.Minute1, TickMS: int64(exchange.Minute1)}
	if c.size {
		setting.Size = strategy.Size{Equity: exchange.RateOne / 2}
	}
	made, err := candidateOf(t, c, setting)
	if err != nil {
		t.Fatal(err)
	}
	config := backtest.Config{Cash: exchange.AmountOf(100_000), Costs: fees(20_000, 50_000), Legs: []backtest.Leg{{
		Strategy: engine.StrategyConfig{Name: "cell", Symbol: s, Interval: exchange.Minute1, Strategy: made, Size: setting.Size},
		Kind:     c.kind, Tape: &tape.Tape{Symbol: s, Candles: candles}}}}
	if market == exchange.Futures {
		config.Legs[0].Strategy.Leverage = 2
	}
	return config
}

// harness runs one cell.
func harness(t *testing.T, market exchange.Market, c *candidate, met *condition) {
	t.Helper()
	s := symbolWith(t, market, met.minimum)
	candles := wave(s, midnight, 400)
	setting := strategy.Setting{Market: market, Symbol: s, Interval: exchange.Minute1, TickMS: int64(exchange.Minute1)}
	if c.size {
		setting.Size = strategy.Size{Equity: exchange.RateOne / 2}
	}
	if c.size && met.parts {
		setting.Size.Equity = 5 * exchange.RateOne
	}
	made, err := candidateOf(t, c, setting)
	var value *strategy.ValueError
	if errors.As(err, &value) && met.minimum != "5" {
		return // check refuses it, and names the parameter
	}
	if err != nil {
		t.Fatal(err)
	}
	if met.parts {
		made = inParts(c, made)
	}
	memory := strategy.Memory{}
	config := backtest.Config{Cash: exchange.AmountOf(met.cash), Costs: fees(20_000, 50_000), Legs: []backtest.Leg{{
		Strategy: engine.StrategyConfig{Name: "cell", Symbol: s, Interval: exchange.Minute1, Strategy: made, Size: setting.Size},
		Kind:     c.kind, Tape: &tape.Tape{Symbol: s, Candles: candles}}},
		Record: func(r *record.Record) {
			if body, is := r.Body.(record.Memory); is {
				memory = strategy.MemoryOf(body.Entries...)
			}
		}}
	if market == exchange.Futures {
		config.Legs[0].Strategy.Leverage = 2
	}
	if met.change != nil {
		if met.stops && market == exchange.Spot && strategy.RestsExits(made) {
			return // check refuses it: a resting sell and a stop cannot both hold the asset
		}
		met.change(&config, candles)
	}
	result := mustMeet(t, config, c, setting, met.meets)
	for _, w := range result.Warnings {
		if w.Code == "strategy_failed" || w.Code == "quarantined" || w.Code == "halted" && met.name != "a pause" {
			t.Errorf("%s: %s", w.Code, w.Text)
		}
	}
	addUp(t, result, s.PriceDecimal(candles.Close[candles.Len()-1]).String())
	if met.trades && !c.quiet && result.Fills == 0 {
		t.Errorf("want it to trade, have no fill; refused %+v, not traded %+v", result.Orders.Refused, result.NotTraded)
	}
	if result.Fills == 0 && result.Orders.Derived > 0 && len(result.NotTraded) == 0 {
		t.Errorf("it derived %d orders and traded none: want a reason", result.Orders.Derived)
	}
	if met.name == "a pause" {
		pausedAndWentOn(t, c, result, candles)
	}
	if c.kind == "dca" {
		heldAsCounted(t, result, memory, s)
	}
}

// mustMeet runs a cell with its events.
func mustMeet(t *testing.T, config backtest.Config, c *candidate, setting strategy.Setting, meets []meeting) *backtest.Result {
	t.Helper()
	var all []backtest.Interruption
	for _, m := range meets {
		again, err := candidateOf(t, c, setting)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, backtest.Interruption{At: m.at, Event: m.event, Again: again})
	}
	result, err := backtest.RunInterrupted(t.Context(), config, all...)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// pausedAndWentOn expects no opening in a pause, and trades after it, but no more in a minute than before.
func pausedAndWentOn(t *testing.T, c *candidate, result *backtest.Result, candles *exchange.Candles) {
	t.Helper()
	beginsMS, endsMS := candles.OpenMS[pauseFrom]+int64(exchange.Minute1), candles.OpenMS[pauseTo]
	after := 0
	for _, e := range result.Executions {
		if e.TimeMS > beginsMS && e.TimeMS < endsMS && e.Purpose == "entry" {
			t.Errorf("want nothing opened in the pause, have %+v", e)
		}
		if e.TimeMS >= endsMS {
			after++
		}
	}
	if !c.quiet && c.kind != "buy_and_hold" && after == 0 {
		t.Errorf("want trades after the pause, have none")
	}
}

// inParts wraps a strategy as its YAML would: on_insufficient: reduce for each, scale_in and targets for one with a size.
func inParts(c *candidate, made strategy.Strategy) strategy.Strategy {
	rules := overlay.TradeSettings{Sizing: overlay.Sizing{Reduce: true}}
	if c.size && c.kind != "buy_and_hold" {
		const half = exchange.RateOne / 2
		rules.Sizing.Steps = []overlay.Step{{Share: half}, {Away: -exchange.RateOne / 1_000, Share: half}}
		rules.Exit.ProfitTargets = []overlay.Step{{Away: exchange.RateOne / 1_000, Share: half}, {Away: exchange.RateOne / 500, Share: half}}
	}
	return overlay.Wrap(made, rules)
}

// heldAsCounted expects the quantity that dca counted from its events to equal its purchases less its sales.
func heldAsCounted(t *testing.T, result *backtest.Result, memory strategy.Memory, s *exchange.Symbol) {
	t.Helper()
	bought := decimal.Zero
	for i, e := range result.Executions {
		if i == len(result.Executions)-1 && e.TimeMS > result.To.UnixMilli()-2*int64(exchange.Minute1) {
			return // no decision has seen it
		}
		quantity := decimal.RequireFromString(e.Quantity)
		if e.Side == "SELL" {
			quantity = quantity.Neg()
		}
		bought = bought.Add(quantity)
	}
	counted, _ := memory.Get("quantity")
	if have := s.QuantityDecimal(exchange.Quantity(counted)); have.Sub(bought).Abs().GreaterThan(decimal.RequireFromString("0.002")) {
		t.Errorf("dca counts %s, and bought %s", have, bought)
	}
}

func candidateOf(t *testing.T, c *candidate, setting strategy.Setting) (strategy.Strategy, error) {
	t.Helper()
	definition := script.Rules()
	switch c.kind {
	case "rules":
	case "script":
		compiled, err := script.Compile("cell.star", []byte(crossingScript))
		if err != nil {
			t.Fatal(err)
		}
		definition = compiled.Definition()
	default:
		definition, _ = strategy.NewRegistry(library.All()...).Find(c.kind)
	}
	return definition.New(setting, c.values)
}

func symbolWith(t *testing.T, market exchange.Market, minimum string) *exchange.Symbol {
	t.Helper()
	spec := exchange.SymbolSpec{Market: market, Name: "BTC-USDT", Base: "BTC", Quote: "USDT",
		PriceTick: decimal.RequireFromString("0.1"), QuantityTick: decimal.RequireFromString("0.001"), PriceScale: 8, QuantityScale: 8,
		MinNotional: decimal.RequireFromString(minimum), MaxNotional: decimal.New(1, 7), Tradable: true, Cancelable: true}
	if market == exchange.Futures {
		spec.Brackets = []exchange.Bracket{{Max: exchange.AmountOf(10_000_000), MaxLeverage: 50}}
	}
	s, err := exchange.NewSymbol(spec)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A strategy's memory and the candles are all that it needs after a restart. Each restart comes between a decision and its
// fill, so one order may fill at another price, or as two.
func TestRestartContinuesFromMemory(t *testing.T) {
	t.Parallel()
	restarts := []meeting{{37, nil}, {38, nil}, {201, nil}}
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		for _, c := range candidates() {
			t.Run(market.String()+"/"+c.kind, func(t *testing.T) {
				t.Parallel()
				var results [2]*backtest.Result
				for i, meets := range [][]meeting{nil, restarts} {
					s := symbolWith(t, market, "5")
					config := cellConfig(t, market, &c, s, wave(s, midnight, 400))
					setting := strategy.Setting{Market: market, Symbol: s, Interval: exchange.Minute1, TickMS: int64(exchange.Minute1),
						Size: config.Legs[0].Strategy.Size}
					results[i] = mustMeet(t, config, &c, setting, meets)
				}
				more := results[1].Fills - results[0].Fills
				if off := equity(results[1])/equity(results[0]) - 1; max(more, -more) > len(restarts) || math.Abs(off) > 0.02 {
					t.Errorf(
						"want about %s after %d fills, have %s after %d",
						results[0].FinalEquity,
						results[0].Fills,
						results[1].FinalEquity,
						results[1].Fills,
					)
				}
			})
		}
	}
}
