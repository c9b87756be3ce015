package backtest_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/strategy"
)

// runged keeps resting orders below and above the price, which it redraws from time to time, and exits of its
// position. A hash covers everything that it sees.
type runged struct {
	seed     uint64
	side     exchange.Side
	rungs    int  // at most
	calm     int  // candles between two draws, about
	even     bool // all of the same quantity
	bold     bool // some orders are beyond the last price: they fill immediately
	shared   bool // lists that never change
	shuffled bool // not in order of distance
	several  bool // it trades next to another one
	rare     func(r *runged, view *strategy.View, plan *strategy.Plan)

	seen   int
	views  uint64
	orders []strategy.DesiredOrder
	exits  []strategy.DesiredOrder
}

func (*runged) Warmup() int { return 3 }

func (r *runged) note(values ...any) {
	hash := fnv.New64a()
	fmt.Fprint(hash, r.views, values)
	r.views = hash.Sum64()
}

func (r *runged) saw() uint64 { return r.views }

func (r *runged) count() int { r.seen++; return r.seen }

func (r *runged) Candle(v *strategy.View) {
	r.count()
	r.note("candle", v.NowMS, v.Candle(), positionOf(v, r.several), v.Working, v.Fills)
}

func (r *runged) Decide(v *strategy.View, plan *strategy.Plan) {
	r.note("decide", v.NowMS, v.Last, positionOf(v, r.several), v.Equity, v.Working, v.Fills, v.Memory.Entries())
	draw := rand.New(rand.NewPCG(r.seed, uint64(r.seen)))
	if r.orders == nil || draw.IntN(r.calm) == 0 {
		r.orders = r.drawn(v, draw, r.side, "in")
	}
	if draw.IntN(r.calm) < 2 {
		r.exits = nil
		if v.Position.Quantity != 0 {
			r.exits = r.drawn(v, draw, exchange.SideOf(-v.Position.Quantity), "out")
		}
	}
	if plan.OrdersSet, plan.ExitsSet = true, true; r.shared {
		plan.Share(r.orders, r.exits)
	} else {
		plan.Orders, plan.Exits = append(plan.Orders, r.orders...), append(plan.Exits, r.exits...)
	}
	plan.Reason = []string{"", "one", "another"}[r.seen/40%3]
	plan.Remember("held", int64(v.Position.Quantity))
	if r.rare != nil {
		r.rare(r, v, plan)
	}
}

// drawn returns orders of a side on its passive side of the last price, in order of distance, and some beyond
// it.
func (r *runged) drawn(v *strategy.View, draw *rand.Rand, side exchange.Side, key string) []strategy.DesiredOrder {
	orders := []strategy.DesiredOrder{}
	unit, away := 6*v.Symbol.QuantityTick, exchange.Price(0)
	if r.bold && draw.IntN(3) == 0 {
		away = -exchange.Price(draw.Int64N(60)) * v.Symbol.PriceTick
	}
	for i := range draw.IntN(r.rungs + 1) {
		away += exchange.Price(draw.Int64N(80)) * v.Symbol.PriceTick
		quantity := unit
		if !r.even {
			quantity += exchange.Quantity(draw.Int64N(40)) * v.Symbol.QuantityTick / 3
		}
		price := max(v.Symbol.PriceTick, v.Symbol.FloorPrice(v.Last)-away*exchange.Price(side.Sign()))
		orders = append(orders, strategy.DesiredOrder{Key: key + strconv.Itoa(2*i+draw.IntN(2)), Side: side, Price: price, Quantity: quantity})
	}
	draw.Shuffle(len(orders), func(i, k int) {
		if r.shuffled {
			orders[i], orders[k] = orders[k], orders[i]
		}
	})
	return orders
}

// rung is a configuration drawn from a seed; made has every strategy made for it.
func rung(t testing.TB, seed uint64) (config backtest.Config, made *[]*runged) {
	draw := rand.New(rand.NewPCG(seed, 6))
	chance := func(of int) bool { return draw.IntN(of) == 0 }
	w := weather{market: exchange.Futures, rough: exchange.Price(20 + draw.IntN(300)), holes: chance(4)}
	w.costs = backtest.Costs{Path: sim.PathOrder(draw.IntN(5)), Slippage: exchange.Rate(draw.IntN(3) * 40_000), Through: chance(4)}
	if chance(8) {
		w.latencyMS = 1 + draw.Int64N(400_000)
	}
	if chance(5) {
		w.costs.VolumeCap = exchange.RateOne / exchange.Rate(20+draw.IntN(200))
	}
	config = w.config(t, seed)
	leg := &config.Legs[0]
	leg.Strategy.Leverage = 1 + draw.IntN(10)
	if chance(3) {
		config.Cash, leg.Strategy.Leverage = exchange.AmountOf(3+draw.Int64N(100)), 1+draw.IntN(40)
	}
	side := []exchange.Side{exchange.Buy, exchange.Sell}[draw.IntN(2)]
	like := runged{
		seed: seed, side: side, rungs: 1 + draw.IntN(15), calm: 2 + draw.IntN(30), even: chance(2), bold: chance(2), shared: chance(2), shuffled: chance(3),
		rare: rareRung(draw)}
	made = &[]*runged{}
	joined(draw, &config, func() backtest.Config { return w.config(t, seed+1_000_000) })
	for i := range config.Legs {
		wrapped := calmed(draw)
		config.Legs[i].Make = func(*tape.Tape) (strategy.Strategy, error) {
			one := like
			one.seed, one.several = one.seed+uint64(i), len(config.Legs) > 1
			*made = append(*made, &one)
			return wrapped(&one), nil
		}
	}
	return config, made
}

// rareRung returns a rare request that the direct machine leaves to the engine; in most cases nothing.
func rareRung(draw *rand.Rand) func(*runged, *strategy.View, *strategy.Plan) {
	const seldom = 300
	first := 100 + draw.IntN(seldom)
	kinds := []func(r *runged, v *strategy.View, plan *strategy.Plan){
		func(_ *runged, _ *strategy.View, plan *strategy.Plan) {
			*plan = strategy.Plan{}
			plan.Hold(strategy.Flat(), "out")
		},
		func(r *runged, v *strategy.View, plan *strategy.Plan) {
			*plan = strategy.Plan{OrdersSet: true, Orders: []strategy.DesiredOrder{{Key: "x", Side: r.side.Opposite(), Price: v.Symbol.FloorPrice(v.Last),
				Quantity: 9 * v.Symbol.QuantityTick}}}
		},
		func(r *runged, v *strategy.View, plan *strategy.Plan) {
			*plan = strategy.Plan{OrdersSet: true, Orders: []strategy.DesiredOrder{{Key: "x", Side: r.side, Price: v.Symbol.FloorPrice(v.Last),
				Quantity: 9 * v.Symbol.QuantityTick, PostOnly: true}}}
		},
		func(r *runged, v *strategy.View, plan *strategy.Plan) {
			*plan = strategy.Plan{OrdersSet: true, Orders: []strategy.DesiredOrder{{Key: "x", Side: r.side, Price: v.Symbol.FloorPrice(v.Last),
				Quantity: 900_000 * v.Symbol.QuantityTick}}}
		},
		func(_ *runged, _ *strategy.View, plan *strategy.Plan) { *plan = strategy.Plan{ExitsSet: true} },
		func(_ *runged, _ *strategy.View, plan *strategy.Plan) { *plan = strategy.Plan{OrdersSet: true} },
		func(_ *runged, _ *strategy.View, plan *strategy.Plan) { *plan = strategy.Plan{} },
	}
	at := draw.IntN(3 * len(kinds))
	if at >= len(kinds) {
		return nil
	}
	return func(r *runged, v *strategy.View, plan *strategy.Plan) {
		if r.seen%first == first-1 {
			kinds[at](r, v, plan)
		}
	}
}

// TestBothMachinesKeepTheSameOrders draws runs of strategies that rest orders, and compares results and everything that the
// strategies saw. BOTD_TWINS=N draws N of them, BOTD_TWINS_FROM=S from seed S on.
func TestBothMachinesKeepTheSameOrders(t *testing.T) {
	t.Parallel()
	compareMachines(t, rung, 1./4, 20)
}

// TestGridsTradeTheSameByBothMachines covers grids of the library, whose lists of orders are shared, on both sides, with and without
// events that end or move them.
func TestGridsTradeTheSameByBothMachines(t *testing.T) {
	t.Parallel()
	recorded := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 6_000)
	setting := strategy.Setting{Market: exchange.Futures, Symbol: recorded.Symbol, Interval: exchange.Minute1}
	for _, c := range []struct {
		machine string
		values  strategy.Values
	}{
		{"direct", strategy.Values{}},
		{"direct", strategy.Values{"side": "short"}},
		{"direct", strategy.Values{"initial": "true"}},
		{"direct", strategy.Values{"trail": "true", "upper": "50200", "lines": "21"}},
		{"direct", strategy.Values{"reinvest": "1", "quantity": "0", "quote": "80"}},
		{"direct", strategy.Values{"orders": "3"}},
		{"engine: a target and resting orders", strategy.Values{"stop": "49950", "lower": "49960"}},
	} {
		values := strategy.Values{"lower": "49000", "upper": "51000", "lines": "101", "quantity": "0.001", "orders": "100"}
		maps.Copy(values, c.values)
		config := speedConfig(t, recorded, "10", "50")
		leg := &config.Legs[0]
		leg.Kind, leg.Strategy.Size, leg.Strategy.Strategy = "grid", strategy.Size{}, nil
		leg.Make = func(*tape.Tape) (strategy.Strategy, error) { return build(t, "grid", setting, values), nil }
		direct, engine := mustRun(t, config), mustRun(t, backtest.ByEngine(config))
		if direct.Machine != c.machine || direct.Fills < 20 || direct.ResultSHA256 != engine.ResultSHA256 || explained(direct) != explained(engine) {
			t.Errorf("%v: want %d fills by %q and %s, have %d by %q, and %s: %s", c.values, engine.Fills, c.machine, engine.ResultSHA256[:8], direct.Fills,
				direct.Machine, direct.ResultSHA256[:8], difference(direct, engine))
		}
	}
}

// twiceKeyed rests two orders under one key, at different prices.
type twiceKeyed struct{}

func (twiceKeyed) Warmup() int           { return 1 }
func (twiceKeyed) Candle(*strategy.View) {}
func (twiceKeyed) Decide(v *strategy.View, plan *strategy.Plan) {
	for _, below := range []exchange.Price{100, 90} {
		plan.Orders, plan.OrdersSet = append(plan.Orders, strategy.DesiredOrder{Key: "bid", Side: exchange.Buy,
			Price: v.Symbol.FloorPrice(v.Last / 100 * below), Quantity: 100 * v.Symbol.QuantityTick}), true
	}
}

// TestAPlanThatNamesAKeyTwiceIsAMistake expects that both machines stop the strategy with an error that names the key.
func TestAPlanThatNamesAKeyTwiceIsAMistake(t *testing.T) {
	t.Parallel()
	config := speedConfig(t, steps(symbol(t, exchange.Futures, "0.1", "0.001"), 100), "10", "50")
	config.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) { return twiceKeyed{}, nil }
	for _, config := range []backtest.Config{config, backtest.ByEngine(config)} {
		result, err := backtest.Run(t.Context(), config)
		if err != nil || result.EndedBy == nil || !strings.Contains(result.EndedBy.Text, `two orders have the key "bid"`) {
			t.Fatalf("want the strategy stopped for its key, have %v, %+v", err, result)
		}
	}
}
