package backtest_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/risk"
	"botd/strategy"
)

// erratic decides by everything that it sees, so that any difference in the view has an effect. From time to
// time it makes a rare request.
type erratic struct {
	seed    uint64
	kinds   []strategy.TargetKind
	rare    func(d *erratic, view *strategy.View, plan *strategy.Plan, draw *rand.Rand) // nil for targets only
	warmup  int
	calm    int           // decisions between two changes, about
	redrawn exchange.Rate // share of the equity, requested again at each decision; 0 for drawn targets
	several bool          // it trades next to another one
	seen    int
	views   uint64
	target  strategy.Target
}

func (e *erratic) Warmup() int { return e.warmup }

func (e *erratic) Candle(v *strategy.View) {
	e.count()
	e.note("candle", v.NowMS, v.Candle(), positionOf(v, e.several), v.Closed())
}

func (e *erratic) note(values ...any) {
	hash := fnv.New64a()
	fmt.Fprint(hash, e.views, values)
	e.views = hash.Sum64()
}

func (e *erratic) saw() uint64 { return e.views }

func (e *erratic) count() int { e.seen++; return e.seen }

func (e *erratic) Decide(v *strategy.View, plan *strategy.Plan) {
	e.note("decide", v.NowMS, v.Last, positionOf(v, e.several), v.Equity, v.Memory.Entries(), v.Working, len(v.Fills), len(v.Events), v.Size, v.Leverage)
	draw := rand.New(rand.NewPCG(e.seed, uint64(e.seen)))
	if draw.IntN(e.calm) == 0 {
		e.target = e.draw(v, draw)
	}
	if e.rare != nil {
		e.rare(e, v, plan, draw)
	}
	if plan.OrdersSet {
		return
	}
	if sign := e.target.Sign(); e.redrawn != 0 && sign != 0 {
		e.target = strategy.Target{Kind: strategy.ByQuantity, Quantity: v.Symbol.QuantityFor(v.Equity.MulRate(e.redrawn), v.Last) * exchange.Quantity(sign)}
	}
	plan.Hold(e.target, []string{"", "one", "another"}[e.seen/50%3])
	plan.Remember("seen", positionOf(v, e.several).SinceMS)
}

func (e *erratic) draw(v *strategy.View, draw *rand.Rand) strategy.Target {
	sign := int64(draw.IntN(3)) - 1
	if v.Symbol.Market == exchange.Spot {
		sign = max(0, sign)
	}
	part := 1 + draw.Int64N(100)
	switch e.kinds[draw.IntN(len(e.kinds))] {
	case strategy.ByEquity:
		return strategy.Size{Equity: exchange.RateOne * exchange.Rate(part) / 50}.Target(sign)
	case strategy.ByQuote:
		return strategy.Size{Quote: exchange.AmountOf(part * 100)}.Target(sign)
	case strategy.ByQuantity:
		return strategy.Target{Kind: strategy.ByQuantity, Quantity: exchange.Quantity(sign*part)*v.Symbol.QuantityTick*50 +
			exchange.Quantity(draw.Int64N(max(1, int64(v.Symbol.QuantityTick))))*exchange.Quantity(sign)}
	}
	return strategy.Target{}
}

// twin is a configuration drawn from a seed; made has every strategy made for it.
func twin(t testing.TB, seed uint64) (config backtest.Config, made *[]*erratic) {
	draw := rand.New(rand.NewPCG(seed, 2))
	chance := func(of int) bool { return draw.IntN(of) == 0 }
	w := weather{market: exchange.Futures, rough: exchange.Price(20 + draw.IntN(400)), holes: chance(3)}
	w.costs = backtest.Costs{Path: sim.PathOrder(draw.IntN(5)), Slippage: exchange.Rate(draw.IntN(3) * 40_000), Impact: exchange.Rate(draw.IntN(2) * 100_000)}
	if chance(8) {
		w.market = exchange.Spot
	}
	if chance(3) {
		w.latencyMS = 1 + draw.Int64N([]int64{2_000, 400_000, 1_000_000}[draw.IntN(3)])
	}
	late := rand.New(rand.NewPCG(seed, 19)) // a draw of its own, so that the seeds of named cases stay what they are
	chained := w.latencyMS == 0 && late.IntN(4) == 0
	if chained { // orders that follow one another outlast the candle
		w.latencyMS = 300_000 + late.Int64N(600_001)
	}
	if chance(8) {
		w.stop = exchange.Rate(200_000 + draw.IntN(2_000_000))
	}
	if chance(6) {
		w.costs.VolumeCap = exchange.RateOne / exchange.Rate(1+draw.IntN(20))
	}
	config = w.config(t, seed)
	leg := &config.Legs[0]
	leg.Strategy.Leverage = 1 + draw.IntN(10)
	if chained && late.IntN(2) == 0 {
		leg.Tape.Symbol.MaxNotional = exchange.AmountOf(500 + late.Int64N(10_000))
	}
	if chance(4) {
		config.Cash = exchange.AmountOf(50 + draw.Int64N(500))
	}
	if chance(12) {
		config.Limits = risk.Limits{MaxOrdersPerMinute: 1 + draw.IntN(5), MaxGrossExposure: exchange.RateOne * exchange.Rate(1+draw.IntN(5))}
	}
	kinds := [][]strategy.TargetKind{{strategy.ByQuote}, {strategy.ByEquity}, {strategy.ByQuantity}, {strategy.ByQuote, strategy.ByEquity,
		strategy.ByQuantity, strategy.NoTarget}}[draw.IntN(4)]
	calm, warmup, rare := 1+draw.IntN(20), draw.IntN(3)*20, rareOf(draw)
	var redrawn exchange.Rate
	if chance(4) {
		redrawn = exchange.RateOne * 2 / 5
	}
	if w.latencyMS == 0 && seed%2 == 1 { // one candle later
		config.Costs.LaterMS = int64(leg.Strategy.Interval)
	}
	made = &[]*erratic{}
	joined(draw, &config, func() backtest.Config { return w.config(t, seed+1_000_000) })
	for i := range config.Legs {
		wrapped := calmed(draw)
		config.Legs[i].Make = func(*tape.Tape) (strategy.Strategy, error) {
			one := &erratic{seed: seed + uint64(i), kinds: kinds, calm: calm, warmup: warmup, rare: rare, redrawn: redrawn,
				several: len(config.Legs) > 1}
			*made = append(*made, one)
			return wrapped(one), nil
		}
	}
	return config, made
}

// rareOf returns a strategy's rare request in addition to targets; in most cases nothing.
func rareOf(draw *rand.Rand) func(*erratic, *strategy.View, *strategy.Plan, *rand.Rand) {
	const seldom = 150
	switch draw.IntN(16) {
	case 0:
		return func(_ *erratic, v *strategy.View, plan *strategy.Plan, draw *rand.Rand) {
			if draw.IntN(seldom) == 0 {
				plan.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}
			}
		}
	case 1:
		return func(_ *erratic, v *strategy.View, plan *strategy.Plan, draw *rand.Rand) {
			if draw.IntN(seldom) == 0 {
				plan.Orders, plan.OrdersSet = append(plan.Orders, strategy.DesiredOrder{Key: "one", Side: exchange.Buy,
					Price: v.Symbol.FloorPrice(v.Last * 99 / 100), Quantity: 100 * v.Symbol.QuantityTick}), true
			}
		}
	case 2:
		return func(e *erratic, v *strategy.View, _ *strategy.Plan, _ *rand.Rand) {
			if e.seen == 400 {
				panic("a mistake")
			}
		}
	case 3:
		return func(_ *erratic, _ *strategy.View, plan *strategy.Plan, draw *rand.Rand) {
			if draw.IntN(seldom) == 0 {
				plan.Notify("news")
			}
		}
	case 4:
		return func(_ *erratic, _ *strategy.View, plan *strategy.Plan, draw *rand.Rand) {
			if draw.IntN(seldom) == 0 {
				plan.Leverage = 1 + draw.IntN(5)
			}
		}
	case 5:
		return func(_ *erratic, v *strategy.View, plan *strategy.Plan, draw *rand.Rand) {
			if draw.IntN(seldom) == 0 && v.Position.Quantity != 0 {
				plan.Exits, plan.ExitsSet = append(plan.Exits, strategy.DesiredOrder{Key: "out", Side: exchange.SideOf(-v.Position.Quantity),
					Price: v.Symbol.FloorPrice(v.Last * 101 / 100), Quantity: max(v.Position.Quantity, -v.Position.Quantity)}), true
			}
		}
	}
	return nil
}

// TestBothMachinesDoTheSame draws runs and compares the direct machine's with the engine's: the result to the last
// bit, including executions and refusals, and everything that the strategy saw. BOTD_TWINS=N draws N of them, BOTD_TWINS_FROM=S
// from seed S on.
func TestBothMachinesDoTheSame(t *testing.T) {
	t.Parallel()
	compareMachines(t, twin, 1./6, 15)
}

// TestBothMachinesDidTheSame compares the runs of seeds at which they once differed.
func TestBothMachinesDidTheSame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		seed uint64
		why  string
	}{
		{910_000_037, "a target that changes beside the next of several orders, with a latency of 716,650 ms"},
		{50_001_582, "the same with 709,894 ms"},
		{884_001_817, "a flat position of one of two strategies"},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			compareSeed(t, twin, c.seed)
		})
	}
}

// compareMachines draws runs and executes each with both machines. The direct machine must execute at least that share of them,
// with at least that many fills per run.
func compareMachines[S seer](t *testing.T, draw func(testing.TB, uint64) (backtest.Config, *[]S), share float64, fillsEach int) {
	t.Helper()
	machines, fills, twins, several := map[string]int{}, 0, 60, 0
	if more, err := strconv.Atoi(os.Getenv("BOTD_TWINS")); err == nil {
		twins = more
	}
	from, _ := strconv.ParseUint(os.Getenv("BOTD_TWINS_FROM"), 10, 64)
	for seed := range uint64(twins) {
		direct, legs := compareSeed(t, draw, from+seed)
		several += legs - 1
		why, _, _ := strings.Cut(direct.Machine, ",")
		if machines[why]++; direct.Machine == "direct" {
			fills += direct.Fills
		}
	}
	t.Logf("%d fills by the direct machine; %d runs of two strategies; runs by machine: %v", fills, several, machines)
	if float64(machines["direct"]) < share*float64(twins) || fills < fillsEach*twins {
		t.Errorf("want the direct machine compared often, have %d fills in %d runs", fills, machines["direct"])
	}
}

// compareSeed executes a seed's run with both machines. It returns the direct machine's result and the number of legs.
func compareSeed[S seer](t *testing.T, draw func(testing.TB, uint64) (backtest.Config, *[]S), seed uint64) (direct *backtest.Result, legs int) {
	t.Helper()
	config, made := draw(t, seed)
	run := func(config backtest.Config) (*backtest.Result, []uint64) {
		result, saw := mustRun(t, config), []uint64(nil)
		for _, one := range (*made)[len(*made)-len(config.Legs):] {
			saw = append(saw, one.saw())
		}
		return result, saw
	}
	direct, saw := run(config)
	engine, seen := run(backtest.ByEngine(asked(config)))
	calm, calmSaw := run(backtest.ByEngine(config))
	if calm.ResultSHA256 != engine.ResultSHA256 || !slices.Equal(calmSaw, seen) {
		t.Errorf("seed %d, the engine, asked less often: want %s with %d fills, have %s with %d fills: %v", seed, engine.FinalEquity, engine.Fills,
			calm.FinalEquity, calm.Fills, difference(calm, engine))
	}
	sameFigures(t, seed, config, direct)
	sameDecisions(t, seed, config)
	if explained(direct) != explained(engine) {
		t.Errorf("seed %d: want %s\nhave %s", seed, explained(engine), explained(direct))
	}
	if direct.ResultSHA256 != engine.ResultSHA256 || !slices.Equal(saw, seen) {
		t.Errorf("seed %d, machine %q: want %s with %d fills, %s, have %s with %d fills, %s; views equal: %v\n%v", seed, direct.Machine,
			engine.FinalEquity, engine.Fills, engine.ResultSHA256[:8], direct.FinalEquity, direct.Fills, direct.ResultSHA256[:8],
			slices.Equal(saw, seen), difference(direct, engine))
	}
	return direct, len(config.Legs)
}

// sameFigures compares a result with that of a caller who reads figures alone.
func sameFigures(t *testing.T, seed uint64, config backtest.Config, whole *backtest.Result) {
	t.Helper()
	config.FiguresOnly = true
	have, want := mustRun(t, config), *whole
	want.Executions, want.Trips, want.ResultSHA256 = []backtest.Execution{}, []backtest.TripRow{}, ""
	want.DropCurve()
	if want.Elapsed, want.Speed = have.Elapsed, have.Speed; !reflect.DeepEqual(have, &want) {
		t.Errorf("seed %d, figures only: want %+v\nhave %+v", seed, want, *have)
	}
}

// sameDecisions compares the decisions that the search for lookahead compares.
func sameDecisions(t *testing.T, seed uint64, config backtest.Config) {
	t.Helper()
	have, err := backtest.Decisions(t.Context(), config)
	want, other := backtest.Decisions(t.Context(), backtest.ByEngine(config))
	if err != nil || other != nil || !slices.Equal(want, have) {
		t.Errorf("seed %d: want %d decisions, have %d (%v, %v)\n%s", seed, len(want), len(have), err, other, cmp.Diff(want, have))
	}
}

// explained returns the sentences that explain a result, which its hash does not cover.
func explained(r *backtest.Result) string {
	text, err := json.MarshalIndent([]any{r.Warnings, r.Assumptions, r.NotTraded, r.EndedBy}, "", " ")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// difference returns the first execution that differs.
func difference(one, other *backtest.Result) string {
	for i := range max(len(one.Executions), len(other.Executions)) {
		if i >= len(one.Executions) || i >= len(other.Executions) || one.Executions[i] != other.Executions[i] {
			at := func(r *backtest.Result) any {
				if i < len(r.Executions) {
					return r.Executions[i]
				}
				return "none"
			}
			return fmt.Sprintf("execution %d: %v and %v", i, at(one), at(other))
		}
	}
	return fmt.Sprintf("executions are equal: %+v %+v", one.Orders, other.Orders)
}

// TestBothMachinesRefuseTheSame lets a strategy lose until its entries need more margin than is left.
func TestBothMachinesRefuseTheSame(t *testing.T) {
	t.Parallel()
	recorded := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 12_000)
	config := speedConfig(t, recorded, "10", "50")
	size := strategy.Size{Quote: exchange.AmountOf(28_000)}
	setting := strategy.Setting{Market: exchange.Futures, Symbol: recorded.Symbol, Interval: exchange.Minute1, Size: size}
	leg := &config.Legs[0]
	leg.Strategy.Size, leg.Strategy.Protection = size, strategy.Protection{Set: true}
	leg.Make = func(*tape.Tape) (strategy.Strategy, error) {
		return build(t, "sma_cross", setting, strategy.Values{"fast": "10", "slow": "50", "mode": "long_short"}), nil
	}
	have, want := mustRun(t, config), mustRun(t, backtest.ByEngine(config))
	if have.Machine != "direct" || have.Refusals < 20 || have.Fills < 20 {
		t.Errorf("want fills and refusals by the direct machine, have %d and %d by %q", have.Fills, have.Refusals, have.Machine)
	}
	if have.ResultSHA256 != want.ResultSHA256 || explained(have) != explained(want) || !reflect.DeepEqual(have.Orders, want.Orders) {
		t.Errorf("want %s and %+v, have %s and %+v", explained(want), want.Orders, explained(have), have.Orders)
	}
}

// TestSteadyStrategiesTradeTheSameWhenNotAsked compares strategies of the library that report when a candle changes
// nothing, and are then asked by neither machine, with the same ones asked at every close, without the report. Candles of a
// single strategy pass as stretches, those of several come one by one. A stop that ends positions gives a meaning to decisions
// that change no plan.
func TestSteadyStrategiesTradeTheSameWhenNotAsked(t *testing.T) {
	t.Parallel()
	recorded := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 8_000)
	stop := strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 500}}
	for _, name := range []string{"sma_cross", "ema_cross", "macd", "rsi", "donchian"} {
		for _, c := range []struct {
			what       string
			symbols    []string
			protection strategy.Protection
			reentry    strategy.Reentry
			direct     bool
		}{
			{"alone", []string{"A-USDT"}, strategy.Protection{Set: true}, 0, true},
			{"alone, with a stop", []string{"A-USDT"}, stop, strategy.ReentrySignal, false},
			{"alone, again at once after a stop", []string{"A-USDT"}, stop, strategy.ReentryImmediate, false},
			{"two", []string{"A-USDT", "B-USDT"}, strategy.Protection{Set: true}, 0, false},
			{"two, again at once after a stop", []string{"A-USDT", "B-USDT"}, stop, strategy.ReentryImmediate, false},
		} {
			config, silent := speedConfig(t, recorded, "10", "50"), speedConfig(t, recorded, "10", "50")
			config.Legs, silent.Legs = nil, nil
			for _, symbol := range c.symbols {
				steady, asked := steadyLeg(t, name, recorded, symbol)
				for _, leg := range []*backtest.Leg{&steady, &asked} {
					leg.Strategy.Protection, leg.Strategy.Reentry = c.protection, c.reentry
				}
				config.Legs, silent.Legs = append(config.Legs, steady), append(silent.Legs, asked)
			}
			want, results := mustRun(t, backtest.ByEngine(silent)), []*backtest.Result{mustRun(t, backtest.ByEngine(config))}
			if c.direct {
				results = append(results, mustRun(t, config))
			}
			for _, have := range results {
				if have.Fills < 40*len(c.symbols) || have.ResultSHA256 != want.ResultSHA256 || explained(have) != explained(want) {
					t.Errorf("%s, %s: want %d fills and %s, have %d and %s by %q: %s", name, c.what, want.Fills, want.ResultSHA256[:8], have.Fills,
						have.ResultSHA256[:8], have.Machine, difference(have, want))
				}
			}
			if last := results[len(results)-1]; c.direct && last.Machine != "direct" {
				t.Errorf("%s: want the direct machine, have %q", name, last.Machine)
			}
		}
	}
}

// steadyLeg returns a strategy of the library on a symbol, and the same one without its report that a candle changes
// nothing.
func steadyLeg(t *testing.T, kind string, recorded *tape.Tape, symbol string) (steady, silent backtest.Leg) {
	own := *recorded.Symbol
	own.Name = symbol
	size := strategy.Size{Quote: exchange.AmountOf(500)}
	setting := strategy.Setting{Market: exchange.Futures, Symbol: &own, Interval: exchange.Minute1, Size: size}
	steady = speedConfig(t, &tape.Tape{Symbol: &own, Candles: recorded.Candles}, "10", "50").Legs[0]
	steady.Kind, steady.Strategy.Name, steady.Strategy.Size = kind, symbol, size
	silent = steady
	steady.Make = func(*tape.Tape) (strategy.Strategy, error) { return build(t, kind, setting, strategy.Values{}), nil }
	silent.Make = func(*tape.Tape) (strategy.Strategy, error) {
		return struct{ strategy.Strategy }{build(t, kind, setting, strategy.Values{})}, nil
	}
	return steady, silent
}
